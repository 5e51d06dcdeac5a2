//! Standard file formats of games, such as PDN, which exist besides the referee's own records.

use std::fmt::{self, Debug};

use referee_protocol::referee::Clock;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::erased::RulesError;
use crate::seat::Seat;

/// A game-specific file format. A file is a collection: a sequence of games.
pub trait Notation: Debug + Sync {
    /// The name; in lower case also the file extension.
    fn name(&self) -> &'static str;

    /// Appends a match to a collection.
    ///
    /// # Errors
    /// When options or moves are invalid for the game, or the rules fail.
    fn write(&self, sheet: &Sheet, out: &mut String) -> Result<(), RulesError>;

    /// Checks the games of a collection in order, one per call of `next`. A flaw ends only the check of its own game.
    /// Accepts arbitrary bytes; takes linear time. `None` if the notation is only written.
    fn check<'a>(&self, collection: &'a [u8]) -> Option<Box<dyn Iterator<Item = CheckedGame> + 'a>>;
}

/// A match to be written in a notation.
#[derive(Clone, Debug)]
pub struct Sheet {
    pub match_id: String,
    pub names: Vec<String>,
    /// The options, with defaults filled in.
    pub options: Box<RawValue>,
    pub moves: Vec<String>,
    /// The seats that made them.
    pub seats: Vec<Seat>,
    pub draws: Vec<SheetDraw>,
    /// Further facts about the moves, in order; empty if there are none.
    pub notes: Vec<MoveNote>,
    /// The clock of each seat, `None` without a limit; empty if they are not known.
    pub clocks: Vec<Option<Clock>>,
    /// The ranks of the seats; `None` when aborted.
    pub ranks: Option<Vec<u8>>,
    /// The end of the match, as text.
    pub ended: String,
    pub tags: MatchTags,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SheetDraw {
    /// The number of moves before it.
    pub after: usize,
    pub drawn: Vec<u32>,
}

/// Facts about a move besides its text. Openings and moves of the referee have nothing.
#[derive(Clone, Debug, Default)]
pub struct MoveNote {
    /// The time that the bot took, in microseconds.
    pub took_us: Option<u64>,
    /// The bot's report on its search.
    pub info: Option<Box<RawValue>>,
}

/// The place and the time of a match, if known. A record does not contain it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MatchTags {
    /// The name of the tournament.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The page with more about the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The day in UTC on which it began, such as 2026.11.22.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The round, with the number of the match in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
}

/// Appends a tag, `[Name "value"]`, and the end of its line. Control characters and line separators in the value become
/// spaces, so that it stays on one line.
pub fn tag(out: &mut String, name: &str, value: &str) {
    let breaks = |char: char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}');
    let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace(breaks, " ");
    out.extend(["[", name, " \"", &value, "\"]\n"]);
}

/// The result of checking one game of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedGame {
    /// The number of legal plies.
    pub plies: usize,
    /// Unambiguous deviations from the notation, in order.
    pub remarks: Vec<Flaw>,
    pub verdict: Validity,
}

/// The validity of a game of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validity {
    Sound,
    /// The game was not checked, for this reason.
    Skipped(Flaw),
    Wrong(Flaw),
}

/// An error in a game of a collection, with its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flaw {
    /// The game, counted from 1; 0 if the error is outside any game.
    pub game: usize,
    /// The ply, counted from 1; 0 before the first move.
    pub ply: usize,
    /// The line of the file, counted from 1.
    pub line: usize,
    /// The defect, and the expected value.
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
