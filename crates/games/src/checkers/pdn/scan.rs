//! The tokens of a PDN text. Comments, variations, NAGs, annotations and move numbers are skipped here.

use super::super::moves::MAX_SQUARES;
use super::Score;
use crate::collection::{Cursor, excerpt};

/// Reads tokens. After an invalid one, it continues behind it.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    pub(super) cursor: Cursor<'a>,
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
    Word(&'a [u8]),
    /// An invalid token, with the error message.
    Bad(String),
    /// An invalid token where a tag was expected, with the error message.
    BadTag(String),
    End,
}

pub(super) struct WrittenMove<'a> {
    pub(super) text: &'a [u8],
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
        Scanner { cursor: Cursor::new(text), after_number: false, after_empty_line: false }
    }

    pub(super) fn next(&mut self) -> Piece<'a> {
        self.after_empty_line = false;
        loop {
            let last = self.cursor.next_line;
            let Some(byte) = self.cursor.begin_token() else { return Piece::End };
            self.after_empty_line |= self.cursor.line > last + 1;
            let after_number = std::mem::take(&mut self.after_number);
            match (self.cursor.skip_aside(), byte) {
                (Some(Ok(())), _) => {}
                (Some(Err(why)), _) => return Piece::Bad(why.to_string()),
                (None, b'[') => {
                    return match self.cursor.tag() {
                        Ok((name, value)) => Piece::Tag { name, value },
                        Err(what) => Piece::BadTag(what),
                    };
                }
                (None, b'$') => {
                    self.cursor.bump();
                    self.cursor.take_while(|byte| byte.is_ascii_digit());
                }
                (None, b'!' | b'?' | b'.') => {
                    self.cursor.bump();
                }
                (None, b'*') => {
                    self.cursor.bump();
                    return Piece::Result(Score::Open);
                }
                (None, b'0'..=b'9') => {
                    if let Some(piece) = self.number_or_move(after_number) {
                        return piece;
                    }
                }
                (None, _) => return self.word(),
            }
        }
    }

    fn word(&mut self) -> Piece<'a> {
        let start = self.cursor;
        self.cursor.bump();
        self.cursor.take_while(|byte| !byte.is_ascii_whitespace() && !b"{([;".contains(&byte));
        let text = self.cursor.since(start);
        if text.iter().any(u8::is_ascii_digit) {
            Piece::Bad(no_part_of_a_game(text))
        } else {
            Piece::Word(text)
        }
    }

    /// Reads a token that begins with a number: a move, a result, or (`None`) a move number such as `1.`, `1...`,
    /// `1`.
    fn number_or_move(&mut self, after_number: bool) -> Option<Piece<'a>> {
        let start = self.cursor;
        let draw = Score::Draw.text().as_bytes();
        if self.cursor.rest().starts_with(draw) {
            for _ in draw {
                self.cursor.bump();
            }
            return Some(Piece::Result(Score::Draw));
        }
        let mut written = WrittenMove { text: &[], squares: [0; MAX_SQUARES], count: 1, captures: false };
        written.squares[0] = number(&mut self.cursor);
        while let Some((captures, square)) = sign_and_square(&mut self.cursor) {
            written.captures |= captures;
            if let Some(place) = written.squares.get_mut(written.count) {
                *place = square;
            }
            written.count += 1;
        }
        written.text = self.cursor.since(start);
        if written.count > 1 {
            if let Some(score) = written.score() {
                return Some(Piece::Result(score));
            }
            // A star attached to a move marks it as forced; a separate star ends the game.
            self.cursor.take_while(|byte| matches!(byte, b'!' | b'?' | b'*'));
            return Some(Piece::Move(written));
        }
        self.cursor.skip_blanks();
        if self.cursor.peek() != Some(b'.') && after_number {
            let word = excerpt(written.text);
            return Some(Piece::Bad(format!("`{word}` is no move: a move is like 11-15 or 11x18")));
        }
        self.cursor.take_while(|byte| byte == b'.');
        self.after_number = true;
        None
    }
}

fn number(cursor: &mut Cursor<'_>) -> u32 {
    let digits = cursor.take_while(|byte| byte.is_ascii_digit());
    digits
        .iter()
        .fold(0, |number: u32, digit| number.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
}

/// Reads a separator and the next square. Returns whether the separator is that of a capture, and the number.
fn sign_and_square(cursor: &mut Cursor<'_>) -> Option<(bool, u32)> {
    let mut ahead = *cursor;
    ahead.skip_blanks();
    let sign = ahead.bump().filter(|byte| b"-xX:".contains(byte))?;
    ahead.skip_blanks();
    ahead.peek().filter(u8::is_ascii_digit)?;
    let square = number(&mut ahead);
    *cursor = ahead;
    Some((sign != b'-', square))
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
