//! The tokens of a PDN text. Comments, variations, NAGs, annotations and move numbers are skipped here.
//!
//! Comments, variations and tags end at a line that begins with a tag; if they are not closed by then, they are
//! unterminated. So a missing brace affects only one game, and scanning takes linear time.

use super::super::moves::MAX_SQUARES;
use super::Score;
use referee_game::Wrong;

/// A position in a text, from which the next token is read.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// The line, counted from 1.
    pub(super) line: usize,
    /// Whether the last token was a move number.
    after_number: bool,
    /// Whether there is an empty line before the last token.
    pub(super) after_empty_line: bool,
}

pub(super) enum Piece<'a> {
    Tag {
        name: &'a [u8],
        value: Vec<u8>,
    },
    Move(WrittenMove<'a>),
    Result(Score),
    /// A word without digits, which cannot be a move: text outside a comment.
    Word {
        text: &'a [u8],
        line: usize,
    },
    /// An invalid token, with the error message.
    Bad {
        what: String,
        line: usize,
    },
    /// The same where a tag was expected.
    BadTag {
        what: String,
        line: usize,
    },
    End,
}

pub(super) struct WrittenMove<'a> {
    pub(super) text: &'a [u8],
    /// The line on which it begins.
    pub(super) line: usize,
    squares: [u32; MAX_SQUARES],
    /// The number of squares; those that do not fit are only counted.
    count: usize,
    /// Whether a separator is that of a capture.
    pub(super) captures: bool,
}

impl WrittenMove<'_> {
    /// A square that this board does not have.
    pub(super) fn foreign_square(&self) -> Option<u32> {
        self.squares.iter().take(self.count).copied().find(|&square| square > 32)
    }

    /// The numbers of the squares; `None` if there are more than a move can visit.
    pub(super) fn squares(&self) -> Option<&[u32]> {
        self.squares.get(..self.count)
    }

    fn score(&self) -> Option<Score> {
        let squares = self.squares().filter(|squares| squares.len() == 2 && !self.captures)?;
        Score::read(format!("{}-{}", squares[0], squares[1]).as_bytes())
    }
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8]) -> Scanner<'a> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Scanner { text, at: 0, line: 1, after_number: false, after_empty_line: false }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn bump(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        // A line ends with LF, CR LF or CR alone.
        self.line += usize::from(byte == b'\n' || byte == b'\r' && self.peek() != Some(b'\n'));
        Some(byte)
    }

    fn skip_while(&mut self, is_skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&is_skipped) {
            self.bump();
        }
    }

    fn skip_blanks(&mut self) {
        self.skip_while(|byte| byte.is_ascii_whitespace());
    }

    fn skip_line(&mut self) {
        self.skip_while(|byte| !ends_line(byte));
    }

    fn begins_line(&self) -> bool {
        self.at == 0 || ends_line(self.text[self.at - 1])
    }

    /// Returns whether a line that begins with a tag starts here.
    fn is_at_tag_line(&self) -> bool {
        let mut tag = *self;
        self.peek() == Some(b'[') && self.begins_line() && tag.tag_name().is_some()
    }

    /// Reads `[Name "`.
    fn tag_name(&mut self) -> Option<&'a [u8]> {
        let is_blank = |byte| matches!(byte, b' ' | b'\t');
        self.bump().filter(|&byte| byte == b'[')?;
        self.skip_while(is_blank);
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let name = &self.text[start..self.at];
        self.skip_while(is_blank);
        (!name.is_empty() && self.peek() == Some(b'"')).then(|| self.bump()).map(|_| name)
    }

    /// Returns the next token. After an invalid one, scanning continues behind it.
    pub(super) fn next(&mut self) -> Piece<'a> {
        self.after_empty_line = false;
        loop {
            let last = self.line;
            self.skip_blanks();
            self.after_empty_line |= self.line > last + 1;
            let Some(byte) = self.peek() else { return Piece::End };
            let line = self.line;
            let after_number = std::mem::take(&mut self.after_number);
            let passed = match byte {
                b'%' if self.begins_line() => {
                    self.skip_line();
                    Ok(())
                }
                b';' => {
                    self.skip_line();
                    Ok(())
                }
                b'{' => self.skip_comment(),
                b'(' => self.skip_variation(),
                b'$' => {
                    self.bump();
                    self.skip_while(|byte| byte.is_ascii_digit());
                    Ok(())
                }
                b'!' | b'?' | b'.' => {
                    self.bump();
                    Ok(())
                }
                b'[' => return self.tag(),
                b'*' => {
                    self.bump();
                    return Piece::Result(Score::Open);
                }
                b'0'..=b'9' => match self.number_or_move(after_number) {
                    Some(piece) => return piece,
                    None => Ok(()),
                },
                _ => return self.word(),
            };
            if let Err(what) = passed {
                return Piece::Bad { what: what.to_string(), line };
            }
        }
    }

    fn word(&mut self) -> Piece<'a> {
        let (start, line) = (self.at, self.line);
        self.bump();
        self.skip_while(|byte| !byte.is_ascii_whitespace() && !b"{([;".contains(&byte));
        let text = &self.text[start..self.at];
        if text.iter().any(u8::is_ascii_digit) {
            Piece::Bad { what: no_part_of_a_game(text), line }
        } else {
            Piece::Word { text, line }
        }
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

    fn skip_variation(&mut self) -> Result<(), Wrong> {
        let mut depth = 0usize;
        while !self.is_at_tag_line() {
            match self.peek() {
                Some(b'{') => {
                    self.skip_comment().map_err(|_| {
                        Wrong::new("a variation begins here with a comment that no `}` closes")
                    })?;
                    continue;
                }
                Some(b';') => {
                    self.skip_line();
                    continue;
                }
                Some(b'(') => depth += 1,
                Some(b')') => depth -= 1,
                Some(_) => {}
                None => break,
            }
            self.bump();
            if depth == 0 {
                return Ok(());
            }
        }
        Err("unterminated variation: missing `)`".into())
    }

    /// Reads `[Name "value"]`. An inner quote, as in `"Bobby "The Boy" Martin"`, belongs to the value.
    fn tag(&mut self) -> Piece<'a> {
        let start = self.at;
        if let Some(name) = self.tag_name() {
            let mut value = Vec::new();
            while let Some(byte) = self.peek().filter(|&byte| !ends_line(byte)) {
                self.bump();
                match byte {
                    b'\\' if matches!(self.peek(), Some(b'"' | b'\\')) => value.extend(self.bump()),
                    b'"' if self.closes_tag() => return Piece::Tag { name, value },
                    _ => value.push(byte),
                }
            }
        } else {
            self.skip_line();
        }
        let tag = excerpt(self.text[start..self.at].trim_ascii_end());
        let what = format!("`{tag}` is no tag: one is like [Event \"a match\"], in one line");
        Piece::BadTag { what, line: self.line }
    }

    /// Skips blanks and `]`, if present.
    fn closes_tag(&mut self) -> bool {
        let blanks = self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let closes = self.rest().get(blanks) == Some(&b']');
        if closes {
            self.at += blanks + 1;
        }
        closes
    }

    fn number(&mut self) -> u32 {
        let mut number = 0u32;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            number = number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.bump();
        }
        number
    }

    /// Reads a token that begins with a number: a move, a result, or (`None`) a move number such as `1.`, `1...`,
    /// `1`.
    fn number_or_move(&mut self, after_number: bool) -> Option<Piece<'a>> {
        let start = self.at;
        let draw = Score::Draw.text().as_bytes();
        if self.rest().starts_with(draw) {
            self.at += draw.len();
            return Some(Piece::Result(Score::Draw));
        }
        let mut written =
            WrittenMove { text: &[], line: self.line, squares: [0; MAX_SQUARES], count: 1, captures: false };
        written.squares[0] = self.number();
        while let Some((captures, square)) = self.sign_and_square() {
            written.captures |= captures;
            if let Some(place) = written.squares.get_mut(written.count) {
                *place = square;
            }
            written.count += 1;
        }
        written.text = &self.text[start..self.at];
        if written.count > 1 {
            if let Some(score) = written.score() {
                return Some(Piece::Result(score));
            }
            // A star attached to a move marks it as forced; a separate star ends the game.
            self.skip_while(|byte| matches!(byte, b'!' | b'?' | b'*'));
            return Some(Piece::Move(written));
        }
        self.skip_blanks();
        if self.peek() != Some(b'.') && after_number {
            let word = excerpt(written.text);
            let what = format!("`{word}` is no move: a move is like 11-15 or 11x18");
            return Some(Piece::Bad { what, line: written.line });
        }
        self.skip_while(|byte| byte == b'.');
        self.after_number = true;
        None
    }

    /// Reads a separator and the next square. Returns whether the separator is that of a capture, and the number.
    fn sign_and_square(&mut self) -> Option<(bool, u32)> {
        let mut ahead = *self;
        ahead.skip_blanks();
        let sign = ahead.bump().filter(|byte| b"-xX:".contains(byte))?;
        ahead.skip_blanks();
        ahead.peek().filter(u8::is_ascii_digit)?;
        let square = ahead.number();
        *self = ahead;
        Some((sign != b'-', square))
    }

    /// Skips to the next line that begins with a tag.
    pub(super) fn skip_to_tag(&mut self) {
        while !self.is_at_tag_line() && self.bump().is_some() {}
    }
}

const fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The error message for an invalid word in the text of a game.
pub(super) fn no_part_of_a_game(word: &[u8]) -> String {
    let word = excerpt(word);
    if is_algebraic(&word) {
        format!(
            "`{word}` is no move of English draughts, which is like 11-15: it names squares as Russian and Brazilian \
             draughts do"
        )
    } else {
        format!("`{word}` is no move, result, tag or comment: a move is like 11-15 or 11x18")
    }
}

/// Returns whether a word is a move between squares such as `c3`.
fn is_algebraic(word: &str) -> bool {
    let is_square = |text: &str| matches!(text.as_bytes(), [b'a'..=b'h', b'1'..=b'8']);
    let word = word.trim_end_matches(['!', '?', '*']);
    word.contains(['-', 'x', ':']) && word.split(['-', 'x', ':']).all(is_square)
}

/// Truncates input for error messages.
pub(super) fn excerpt(text: &[u8]) -> String {
    let shown = text.len().min(40);
    let dots = if shown < text.len() { "..." } else { "" };
    let printable = |byte: &u8| match byte {
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => byte.escape_ascii().to_string(),
    };
    text[..shown].iter().map(printable).collect::<String>() + dots
}
