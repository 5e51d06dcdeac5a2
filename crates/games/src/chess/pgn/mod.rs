//! PGN, the standard format for collections of chess games: a lenient reader and a writer.

mod read;
mod scan;
mod write;

use cozy_chess::Color;

use self::read::Games;
pub(super) use self::read::openings;
use referee_game::erased::RulesError;
use referee_game::{CheckedGame, Notation, Sheet};

/// PGN of chess and Chess960.
#[derive(Debug)]
pub(super) struct Pgn;

impl Notation for Pgn {
    fn name(&self) -> &'static str {
        "PGN"
    }

    fn write(&self, sheet: &Sheet, out: &mut String) -> Result<(), RulesError> {
        Ok(write::game(sheet, out)?)
    }

    fn check<'a>(&self, collection: &'a [u8]) -> Option<Box<dyn Iterator<Item = CheckedGame> + 'a>> {
        Some(Box::new(Games::new(collection).map(read::Game::judged)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Score {
    Won(Color),
    Draw,
    /// No result: `*` only ends the text of a game.
    Open,
}

impl Score {
    fn read(text: &[u8]) -> Option<Score> {
        Some(match text {
            b"1-0" => Score::Won(Color::White),
            b"0-1" => Score::Won(Color::Black),
            b"1/2-1/2" | b"1/2" => Score::Draw,
            b"*" => Score::Open,
            _ => return None,
        })
    }

    const fn text(self) -> &'static str {
        match self {
            Score::Won(Color::White) => "1-0",
            Score::Won(Color::Black) => "0-1",
            Score::Draw => "1/2-1/2",
            Score::Open => "*",
        }
    }
}
