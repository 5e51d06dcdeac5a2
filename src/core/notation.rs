//! File formats that the world has for the games of one kind, beside the referee's own records.

use std::fmt::{self, Debug};

use serde::Serialize;
use serde_json::value::RawValue;

/// A game's own file format. A file of it is a collection: games one after another.
pub trait Notation: Debug + Sync {
    /// What it is called; in lower case also the ending of its files.
    fn name(&self) -> &'static str;

    /// Adds a match to a collection.
    ///
    /// # Errors
    /// When options or moves are not the game's.
    fn write(&self, sheet: &Sheet, out: &mut String) -> Result<(), String>;

    /// Checks the games of a collection in their order, one for each call of `next`. A flaw ends the check of its game
    /// alone. Any bytes will do; the time is proportional to how many they are.
    fn check<'a>(&self, collection: &'a [u8]) -> Box<dyn Iterator<Item = Checked> + 'a>;
}

/// A match to be written down.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The id of the match.
    pub match_id: String,
    /// The names of the seats.
    pub names: Vec<String>,
    /// The options, complete.
    pub options: Box<RawValue>,
    /// The moves in their order.
    pub moves: Vec<String>,
    /// The ranks of the seats; none when aborted.
    pub ranks: Option<Vec<u8>>,
    /// What ended it, for people.
    pub ended: String,
}

/// What the check of a game of a collection found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The plies that were found legal.
    pub plies: usize,
    /// Whether it is what it should be.
    pub verdict: Verdict,
}

/// Whether a game of a collection is what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Sound,
    /// It was not looked at, for this reason.
    Skipped(Flaw),
    /// It is not.
    Wrong(Flaw),
}

/// What is wrong with a game of a collection, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flaw {
    /// The game, counted from 1; 0 when there is none.
    pub game: usize,
    /// The ply, counted from 1; 0 before the first.
    pub ply: usize,
    /// The line of the file, counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flaw { game, ply, line, what } = self;
        if *game > 0 {
            write!(f, "game {game}, ")?;
        }
        if *ply > 0 {
            write!(f, "ply {ply}, ")?;
        }
        write!(f, "line {line}: {what}")
    }
}
