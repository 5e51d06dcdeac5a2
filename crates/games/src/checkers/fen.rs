//! PDN's FEN: `B:W18,K27:B1,12` is Black to move, White's man on 18 and king on 27, Black's men on 1 and 12. A
//! colour without pieces is only its letter: `B:W:B1`. The reader is lenient, since programs write FENs in many ways.

use std::fmt;
use std::str::FromStr;

use referee_game::Wrong;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::board::{Board, Colour, bit, place, squares};
use super::text::{Text, spell_square};

/// Maximum length: `B:W` and `:B`, and at most `K32,` for each square.
const LONGEST: usize = 5 + 4 * 32;

impl Colour {
    const fn letter(self) -> u8 {
        match self {
            Colour::Black => b'B',
            Colour::White => b'W',
        }
    }

    fn read(text: &str) -> Option<(Colour, &str)> {
        let colour = match text.as_bytes().first()? {
            b'B' | b'b' => Colour::Black,
            b'W' | b'w' => Colour::White,
            _ => return None,
        };
        Some((colour, &text[1..]))
    }
}

impl Board {
    pub(super) fn fen(&self) -> Text<LONGEST> {
        let mut text = Text::new();
        text.push(self.to_move.letter());
        for colour in [Colour::White, Colour::Black] {
            text.push(b':');
            text.push(colour.letter());
            for (i, square) in squares(self.pieces(colour)).enumerate() {
                if i > 0 {
                    text.push(b',');
                }
                if self.kings & bit(place(square)) != 0 {
                    text.push(b'K');
                }
                spell_square(square, |byte| text.push(byte));
            }
        }
        text
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fen().fmt(f)
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Board {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.fen().as_str())
    }
}

impl<'de> Deserialize<'de> for Board {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

const PARTS: Wrong =
    Wrong::new("a FEN has three parts like B:W31,K32:B1,2: the side to move, then the pieces of each colour");

fn no_colour(part: &str) -> Wrong {
    format!("in the FEN `{}` is no colour: B is Black, W is White", excerpt(part)).into()
}

/// Truncates input for error messages.
fn excerpt(text: &str) -> String {
    text.chars().take(12).collect()
}

impl FromStr for Board {
    type Err = Wrong;

    /// Accepts what programs write: the lists and their squares in any order, ranges, leading zeros, lower-case letters,
    /// blanks, a final dot, counters of moves behind the lists (`:H0:F1`), which it ignores, and an empty list without
    /// its letter. Accepts a side to move without pieces, because a game can end like that; a game cannot start from
    /// such a position.
    fn from_str(text: &str) -> Result<Board, Wrong> {
        let text: String = text.chars().filter(|char| !char.is_ascii_whitespace()).collect();
        let mut parts: Vec<&str> = text.strip_suffix('.').unwrap_or(&text).split(':').collect();
        while parts.len() > 3 && parts.last().is_some_and(|part| is_counter(part)) {
            parts.pop();
        }
        let [to_move, one, other] = parts[..] else { return Err(PARTS) };
        let (to_move, "") = colour(to_move)? else { return Err(no_colour(to_move)) };
        let lists = match (one, other) {
            ("", other) => [(colour(other)?.0.other(), ""), colour(other)?],
            (one, "") => [colour(one)?, (colour(one)?.0.other(), "")],
            (one, other) => [colour(one)?, colour(other)?],
        };
        if lists[0].0 == lists[1].0 {
            let colour = lists[0].0;
            let expected = "one list is of W, one of B, empty if there are none";
            return Err(format!("the FEN lists the pieces of {colour} twice: {expected}").into());
        }
        let mut board = Board::without_pieces(to_move);
        for (colour, list) in lists {
            for piece in list.split(',').filter(|_| !list.is_empty()) {
                board.put(colour, piece)?;
            }
        }
        Ok(board)
    }
}

fn colour(part: &str) -> Result<(Colour, &str), Wrong> {
    Colour::read(part).ok_or_else(|| no_colour(part))
}

/// Returns whether a part of a FEN is a number of half-moves or moves, as in `H0` and `F1`.
fn is_counter(part: &str) -> bool {
    part.strip_prefix(['H', 'F']).is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

impl Board {
    /// Adds a piece, or pieces of a kind on a range of squares: `12`, `K12`, `1-12`.
    fn put(&mut self, colour: Colour, piece: &str) -> Result<(), Wrong> {
        let bad = || {
            let (piece, expected) =
                (excerpt(piece), "a man is the number of its square, 1 to 32, a king has a K before it");
            Wrong::from(format!("in the FEN `{piece}` is no piece: {expected}"))
        };
        let (is_king, numbers) = piece.strip_prefix(['K', 'k']).map_or((false, piece), |rest| (true, rest));
        let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
        let number = |text: &str| text.parse().ok().filter(|_| is_number(text)).ok_or_else(bad);
        let (first, last): (u32, u32) = (number(first)?, number(last)?);
        if first == 0 || first > last {
            return Err(bad());
        } else if last > 32 {
            return Err(format!(
                "the FEN names square {last}, but this board has squares 1 to 32: it seems to be a position on another board, \
                 such as that of 10x10 draughts"
            )
            .into());
        }
        for square in first..=last {
            let set = bit(place(square - 1));
            if self.empty() & set == 0 {
                return Err(format!("the FEN names square {square} twice: a square holds one piece").into());
            }
            if is_king {
                self.kings |= set;
            } else if colour.crowning_row() & set != 0 {
                return Err(format!(
                    "the FEN has {colour}'s man {square} on the row where it is crowned: a king there is K{square}"
                )
                .into());
            }
            self.add(colour, set);
        }
        Ok(())
    }
}
