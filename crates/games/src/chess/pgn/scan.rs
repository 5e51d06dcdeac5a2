//! The tokens of a PGN text. Comments, variations, NAGs and move numbers are skipped here.

use super::Score;
use crate::collection::Cursor;

/// Reads tokens. After an invalid one, it continues behind it.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a>(pub(super) Cursor<'a>);

pub(super) enum Token<'a> {
    Tag {
        name: &'a [u8],
        value: Vec<u8>,
    },
    /// A move, or a word in its place.
    Word(&'a [u8]),
    Result(Score),
    /// An invalid token, with the error message.
    Bad(String),
    End,
}

impl<'a> Scanner<'a> {
    pub(super) fn next(&mut self) -> Token<'a> {
        let cursor = &mut self.0;
        loop {
            let Some(byte) = cursor.begin_token() else { return Token::End };
            match (cursor.skip_aside(), byte) {
                (Some(Ok(())), _) => {}
                (Some(Err(why)), _) => return Token::Bad(why.to_string()),
                (None, b'$' | b'!' | b'?' | b'.') => {
                    cursor.bump();
                    cursor.take_while(|byte| byte.is_ascii_digit());
                }
                (None, b'[') => {
                    return match cursor.tag() {
                        Ok((name, value)) => Token::Tag { name, value },
                        Err(what) => Token::Bad(what),
                    };
                }
                (None, _) => {
                    if let Some(token) = word(cursor) {
                        return token;
                    }
                }
            }
        }
    }
}

/// Reads a move or a result; `None` for the number of a move, such as `1.` or `1...`, from which a move need not be
/// separated.
fn word<'a>(cursor: &mut Cursor<'a>) -> Option<Token<'a>> {
    let start = *cursor;
    // At least one byte, so that scanning always advances.
    cursor.bump();
    cursor.take_while(|byte| !byte.is_ascii_whitespace() && !b"{}()[];$".contains(&byte));
    let word = cursor.since(start);
    if let Some(score) = Score::read(word) {
        return Some(Token::Result(score));
    }
    if word[0].is_ascii_digit() && !word.starts_with(b"0-0") {
        *cursor = start;
        cursor.take_while(|byte| byte.is_ascii_digit() || byte == b'.');
        return None;
    }
    Some(Token::Word(word))
}
