//! PDN, the format that draughts has for collections of games: reading it as it is found, and writing it.
//!
//! Of the game types of PDN this is 21, English draughts. Results name the first mover first: `1-0` means that Black
//! won, `0-1` that White did, also where a FEN lets White move first.

mod read;
mod scan;
mod write;

use std::fmt;

use self::read::Games;
pub(super) use self::read::openings;
use super::board::Colour;
use crate::core::{Checked, Notation, Sheet};

/// PDN of English draughts.
#[derive(Debug)]
pub(super) struct Pdn;

impl Notation for Pdn {
    fn name(&self) -> &'static str {
        "PDN"
    }

    fn write(&self, sheet: &Sheet, out: &mut String) -> Result<(), String> {
        write::game(sheet, out)
    }

    fn check<'a>(&self, collection: &'a [u8]) -> Box<dyn Iterator<Item = Checked> + 'a> {
        Box::new(Games::new(collection))
    }
}

/// The number of English draughts among the game types, and how one writes it in full: the side that begins, the
/// columns and rows, numeric squares from the corner 1, not inverted.
const ENGLISH: &str = "21";
const GAME_TYPE: &str = "21,B,8,8,N1,0";

/// What a result says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Score {
    Won(Colour),
    Draw,
    /// Neither has a point.
    Neither,
    /// Nothing: it ends the text of a game, whatever came of it.
    Open,
}

impl Score {
    /// Reads the value of a Result tag: one for a win, or two as in matches.
    fn read(text: &[u8]) -> Option<Score> {
        Some(match text {
            b"1-0" | b"2-0" => Score::Won(Colour::Black),
            b"0-1" | b"0-2" => Score::Won(Colour::White),
            b"1/2-1/2" | b"1-1" => Score::Draw,
            b"0-0" => Score::Neither,
            b"*" | b"?" | b"" => Score::Open,
            _ => return None,
        })
    }

    const fn text(self) -> &'static str {
        match self {
            Score::Won(Colour::Black) => "1-0",
            Score::Won(Colour::White) => "0-1",
            Score::Draw => "1/2-1/2",
            Score::Neither => "0-0",
            Score::Open => "*",
        }
    }
}

impl fmt::Display for Score {
    /// With its meaning, which is not that of chess.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        match self {
            Score::Won(colour) => write!(f, "{text} ({colour} won)"),
            Score::Draw | Score::Neither | Score::Open => f.write_str(text),
        }
    }
}
