//! PDN, the standard format for collections of draughts games: a lenient reader and a writer.
//!
//! The PDN game type is 21, English draughts. Results list Black first: `1-0` means that Black won, `0-1` that White
//! won, even if a FEN lets White move first.

mod read;
mod scan;
mod write;

use std::fmt;

use self::read::Games;
pub(super) use self::read::openings;
use super::board::Colour;
use referee_game::erased::RulesError;
use referee_game::{CheckedGame, Notation, Sheet};

#[derive(Debug)]
pub(super) struct Pdn;

impl Notation for Pdn {
    fn name(&self) -> &'static str {
        "PDN"
    }

    fn write(&self, sheet: &Sheet, out: &mut String) -> Result<(), RulesError> {
        Ok(write::game(sheet, out)?)
    }

    fn check<'a>(&self, collection: &'a [u8]) -> Option<Box<dyn Iterator<Item = CheckedGame> + 'a>> {
        Some(Box::new(Games::new(collection)))
    }
}

/// The game type of English draughts, short and in full: the side that begins, columns and rows, numeric squares
/// from corner 1, not inverted.
const ENGLISH: &str = "21";
const GAME_TYPE: &str = "21,B,8,8,N1,0";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Score {
    Won(Colour),
    Draw,
    /// No point for either side.
    Neither,
    /// No result: `*` only ends the text of a game.
    Open,
}

impl Score {
    /// Parses the value of a Result tag; a win counts one point, or two as in matches.
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
    /// The result with its meaning, which differs from chess.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text();
        match self {
            Score::Won(colour) => write!(f, "{text} ({colour} won)"),
            Score::Draw | Score::Neither | Score::Open => f.write_str(text),
        }
    }
}
