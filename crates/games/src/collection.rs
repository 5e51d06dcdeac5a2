//! Reads and writes the parts that PGN and PDN share: tags, comments, variations, and lines of moves.
//!
//! Comments, variations and tags end at a line that begins with a tag; if they are not closed by then, they are
//! unterminated. So a missing brace affects only one game, and scanning takes linear time.

use referee_game::notation::tag;
use referee_game::{Sheet, Wrong};

/// A position in a text, from which the next token is read.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    /// The line of the last token, counted from 1.
    pub(crate) line: usize,
    /// The line of the next byte.
    pub(crate) next_line: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Cursor<'a> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Cursor { text, at: 0, line: 1, next_line: 1 }
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// The text from an earlier position up to this one.
    pub(crate) fn since(&self, start: Cursor<'a>) -> &'a [u8] {
        &self.text[start.at..self.at]
    }

    pub(crate) fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        // A line ends with LF, CR LF or CR alone.
        self.next_line += usize::from(byte == b'\n' || byte == b'\r' && self.peek() != Some(b'\n'));
        Some(byte)
    }

    pub(crate) fn take_while(&mut self, is_taken: impl Fn(u8) -> bool) -> &'a [u8] {
        let start = *self;
        while self.peek().is_some_and(&is_taken) {
            self.bump();
        }
        self.since(start)
    }

    pub(crate) fn skip_blanks(&mut self) {
        self.take_while(|byte| byte.is_ascii_whitespace());
    }

    /// Skips blanks. Returns the first byte of the next token.
    pub(crate) fn begin_token(&mut self) -> Option<u8> {
        self.skip_blanks();
        self.line = self.next_line;
        self.peek()
    }

    /// Skips a comment, a variation or an escaped line; `None` if none begins here.
    pub(crate) fn skip_aside(&mut self) -> Option<Result<(), Wrong>> {
        match self.peek()? {
            b'{' => Some(self.skip_comment()),
            b'(' => Some(self.skip_variation()),
            b';' => {
                self.skip_line();
                Some(Ok(()))
            }
            b'%' if self.begins_line() => {
                self.skip_line();
                Some(Ok(()))
            }
            _ => None,
        }
    }

    fn skip_line(&mut self) {
        self.take_while(|byte| !ends_line(byte));
    }

    fn begins_line(&self) -> bool {
        self.at == 0 || ends_line(self.text[self.at - 1])
    }

    /// Returns whether a line that begins with a tag starts here.
    fn is_at_tag_line(&self) -> bool {
        self.peek() == Some(b'[') && self.begins_line() && { *self }.tag_name().is_some()
    }

    /// Skips to the next line that begins with a tag.
    pub(crate) fn skip_to_tag(&mut self) {
        while !self.is_at_tag_line() && self.bump().is_some() {}
    }

    fn skip_comment(&mut self) -> Result<(), Wrong> {
        while !self.is_at_tag_line() {
            match self.bump() {
                Some(b'}') => return Ok(()),
                Some(_) => {}
                None => break,
            }
        }
        Err("unterminated comment: missing `}`".into())
    }

    /// Skips `(...)`, with comments and variations within.
    fn skip_variation(&mut self) -> Result<(), Wrong> {
        let mut depth = 0usize;
        while let Some(byte) = self.peek().filter(|_| !self.is_at_tag_line()) {
            match byte {
                b'{' => {
                    self.skip_comment().map_err(|_| {
                        Wrong::new("a variation begins here with a comment that no `}` closes")
                    })?;
                    continue;
                }
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
                return Ok(());
            }
        }
        Err("unterminated variation: missing `)`".into())
    }

    /// Reads `[Name "value"]`. An inner quote, as in `"Robert "Bobby" Fischer"`, belongs to the value.
    pub(crate) fn tag(&mut self) -> Result<(&'a [u8], Vec<u8>), String> {
        let start = *self;
        if let Some(name) = self.tag_name() {
            let mut value = Vec::new();
            while let Some(byte) = self.peek().filter(|&byte| !ends_line(byte)) {
                self.bump();
                match byte {
                    b'\\' if matches!(self.peek(), Some(b'"' | b'\\')) => value.extend(self.bump()),
                    b'"' if self.closes_tag() => return Ok((name, value)),
                    _ => value.push(byte),
                }
            }
        } else {
            self.skip_line();
        }
        let tag = excerpt(self.since(start).trim_ascii_end());
        Err(format!("`{tag}` is no tag: one is like [Event \"a match\"], in one line"))
    }

    /// Reads `[Name "`.
    fn tag_name(&mut self) -> Option<&'a [u8]> {
        self.bump();
        self.take_while(is_space);
        let name = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        self.take_while(is_space);
        (!name.is_empty() && self.peek() == Some(b'"')).then(|| self.bump()).map(|_| name)
    }

    /// Skips blanks and `]`, if present.
    fn closes_tag(&mut self) -> bool {
        let blanks = self.rest().iter().take_while(|byte| is_space(**byte)).count();
        let closes = self.rest().get(blanks) == Some(&b']');
        if closes {
            self.at += blanks + 1;
        }
        closes
    }
}

const fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Truncates input for error messages.
pub(crate) fn excerpt(text: &[u8]) -> String {
    let shown = text.len().min(40);
    let dots = if shown < text.len() { "..." } else { "" };
    let printable = |byte: &u8| match byte {
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => byte.escape_ascii().to_string(),
    };
    text[..shown].iter().map(printable).collect::<String>() + dots
}

/// Appends the tags for the place and the time of a match.
pub(crate) fn write_place(sheet: &Sheet, out: &mut String) {
    let tags = &sheet.tags;
    tag(out, "Event", tags.event.as_deref().unwrap_or("?"));
    tag(out, "Site", tags.site.as_deref().unwrap_or("?"));
    tag(out, "Date", tags.date.as_deref().unwrap_or("????.??.??"));
    tag(out, "Round", tags.round.as_deref().unwrap_or(&sheet.match_id));
}

/// Writes words in lines of at most 80 characters.
pub(crate) struct MoveLines<'a> {
    out: &'a mut String,
    column: usize,
}

impl MoveLines<'_> {
    pub(crate) fn new(out: &mut String) -> MoveLines<'_> {
        MoveLines { out, column: 0 }
    }

    pub(crate) fn add(&mut self, word: &str) {
        if self.column > 0 {
            let breaks = self.column + 1 + word.len() > 80;
            self.out.push(if breaks { '\n' } else { ' ' });
            self.column = if breaks { 0 } else { self.column + 1 };
        }
        self.out.push_str(word);
        self.column += word.len();
    }
}
