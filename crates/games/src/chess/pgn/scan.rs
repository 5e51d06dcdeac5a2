//! The tokens of a PGN text. Comments, variations, NAGs and move numbers are skipped here.
//!
//! Comments, variations and tags end at a line that begins with a tag; if they are not closed by then, they are
//! unterminated. So a missing brace affects only one game, and scanning takes linear time.

use super::Score;

/// A position in a text, from which the next token is read.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// The line of the last token, counted from 1.
    pub(super) line: usize,
    /// The line of the next byte.
    next_line: usize,
}

pub(super) enum Token<'a> {
    Tag {
        name: &'a [u8],
        value: Vec<u8>,
    },
    /// A move, or what stands in its place.
    Word(&'a [u8]),
    Result(Score),
    /// An invalid token, with the error message.
    Bad(String),
    End,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8]) -> Scanner<'a> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Scanner { text, at: 0, line: 1, next_line: 1 }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        // A line ends with LF, CR LF or CR alone.
        self.next_line += usize::from(byte == b'\n' || byte == b'\r' && self.peek() != Some(b'\n'));
        Some(byte)
    }

    fn take_while(&mut self, is_taken: impl Fn(u8) -> bool) -> &'a [u8] {
        let start = self.at;
        while self.peek().is_some_and(&is_taken) {
            self.bump();
        }
        &self.text[start..self.at]
    }

    fn begins_line(&self) -> bool {
        self.at == 0 || ends_line(self.text[self.at - 1])
    }

    /// Returns whether a line that begins with a tag starts here.
    fn is_at_tag_line(&self) -> bool {
        self.peek() == Some(b'[') && self.begins_line() && { *self }.tag_name().is_some()
    }

    /// Reads `[Name "`.
    fn tag_name(&mut self) -> Option<&'a [u8]> {
        let is_blank = |byte| matches!(byte, b' ' | b'\t');
        self.bump();
        self.take_while(is_blank);
        let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        self.take_while(is_blank);
        (!name.is_empty() && self.bump() == Some(b'"')).then_some(name)
    }

    /// Returns the next token. After an invalid one, scanning continues behind it.
    pub(super) fn next(&mut self) -> Token<'a> {
        loop {
            self.take_while(|byte| byte.is_ascii_whitespace());
            self.line = self.next_line;
            let Some(byte) = self.peek() else { return Token::End };
            let is_closed = match byte {
                b';' => self.skip_line(),
                b'%' if self.begins_line() => self.skip_line(),
                b'{' => self.skip_comment(),
                b'(' => self.skip_variation(),
                b'$' | b'!' | b'?' | b'.' => {
                    self.bump();
                    self.take_while(|byte| byte.is_ascii_digit());
                    true
                }
                b'[' => return self.tag(),
                _ => match self.word() {
                    Some(token) => return token,
                    None => true,
                },
            };
            if !is_closed {
                let what = if byte == b'{' { "comment: missing `}`" } else { "variation: missing `)`" };
                return Token::Bad(format!("unterminated {what}"));
            }
        }
    }

    fn skip_line(&mut self) -> bool {
        self.take_while(|byte| !ends_line(byte));
        true
    }

    /// Skips `{...}`. Returns whether it is closed.
    fn skip_comment(&mut self) -> bool {
        while !self.is_at_tag_line() {
            match self.bump() {
                Some(b'}') => return true,
                Some(_) => {}
                None => return false,
            }
        }
        false
    }

    /// Skips `(...)`, with comments and variations within. Returns whether it is closed.
    fn skip_variation(&mut self) -> bool {
        let mut depth = 0usize;
        while let Some(byte) = self.peek().filter(|_| !self.is_at_tag_line()) {
            match byte {
                b'{' if !self.skip_comment() => return false,
                b'{' => continue,
                b';' => {
                    self.skip_line();
                    continue;
                }
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return true;
            }
        }
        false
    }

    /// Reads `[Name "value"]`. An inner quote, as in `"Robert "Bobby" Fischer"`, belongs to the value.
    fn tag(&mut self) -> Token<'a> {
        let start = self.at;
        if let Some(name) = self.tag_name() {
            let mut value = Vec::new();
            while let Some(byte) = self.peek().filter(|&byte| !ends_line(byte)) {
                self.bump();
                match byte {
                    b'\\' if matches!(self.peek(), Some(b'"' | b'\\')) => value.extend(self.bump()),
                    b'"' if self.closes_tag() => return Token::Tag { name, value },
                    _ => value.push(byte),
                }
            }
        } else {
            self.skip_line();
        }
        let tag = excerpt(self.text[start..self.at].trim_ascii_end());
        Token::Bad(format!("`{tag}` is no tag: one is like [Event \"a match\"], in one line"))
    }

    /// Skips blanks and `]`, if present.
    fn closes_tag(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let closes = rest.get(blanks) == Some(&b']');
        if closes {
            self.at += blanks + 1;
        }
        closes
    }

    /// Reads a move or a result; `None` for the number of a move, such as `1.` or `1...`, from which a move need not be
    /// separated.
    fn word(&mut self) -> Option<Token<'a>> {
        let start = *self;
        // At least one byte, so that scanning always advances.
        self.bump();
        self.take_while(|byte| !byte.is_ascii_whitespace() && !b"{}()[];$".contains(&byte));
        let word = &self.text[start.at..self.at];
        if let Some(score) = Score::read(word) {
            return Some(Token::Result(score));
        }
        if word[0].is_ascii_digit() && !word.starts_with(b"0-0") {
            *self = start;
            self.take_while(|byte| byte.is_ascii_digit() || byte == b'.');
            return None;
        }
        Some(Token::Word(word))
    }

    /// Skips to the next line that begins with a tag.
    pub(super) fn skip_to_tag(&mut self) {
        while !self.is_at_tag_line() && self.bump().is_some() {}
    }
}

const fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Truncates input for error messages.
pub(super) fn excerpt(text: &[u8]) -> String {
    let shown = text.len().min(40);
    format!("{}{}", text[..shown].escape_ascii(), if shown < text.len() { "..." } else { "" })
}
