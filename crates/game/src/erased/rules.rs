//! The rules of a game, type-erased.

use std::fmt::Debug;

use serde_json::value::RawValue;

use crate::Wrong;
use crate::chance::Uniform;
use crate::disguise::Vocabulary;
use crate::endgames::TableFiles;
use crate::erased::Table;
use crate::game::Meta;
use crate::notation::Notation;
use crate::openings::OpeningFile;
use crate::perft;
use crate::seat::{Seat, Seating};

/// The rules of a game gave no position, which happens only to those of a program outside this one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesFailed {
    #[error("the rules failed: {0}")]
    Because(Box<str>),
    #[error("the wait for the rules was interrupted")]
    Interrupted,
}

/// The duration of a table's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RulesWait {
    /// The calls return at once.
    None,
    /// The calls wait for another process, or compute in short parts. A thread that waits reads nothing that bots send, but
    /// learns when it has arrived.
    Watching,
    /// The calls compute for some time, in which the thread does nothing else.
    Computing,
}

/// Reasons why rules do not do what they are asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RulesError {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error(transparent)]
    RulesFailed(#[from] RulesFailed),
}

/// The rules of a game, type-erased.
pub trait Rules: Debug + Sync {
    /// The static description of the game.
    fn meta(&self) -> &'static Meta;

    /// The standard file formats for collections of this game.
    fn notations(&self) -> Vec<&dyn Notation>;

    /// Finds a notation by name, case-insensitively.
    fn notation(&self, name: &str) -> Option<&dyn Notation> {
        self.notations().into_iter().find(|notation| notation.name().eq_ignore_ascii_case(name))
    }

    /// The formats of opening files; empty if the game has no openings.
    fn opening_files(&self) -> &'static [OpeningFile];

    /// The default options, complete.
    fn default_options(&self) -> Box<RawValue>;

    /// The JSON Schema of views, events, moves and options: one document with a definition for each.
    #[cfg(feature = "schema")]
    fn schema(&self) -> serde_json::Value;

    /// Creates the initial position. `options` is a JSON object; missing keys have their defaults.
    ///
    /// # Errors
    /// When an option is unknown or invalid, or the options contradict each other or the seating; when the rules fail.
    fn open(&self, options: &RawValue, seating: Seating) -> Result<Box<dyn Table>, RulesError>;

    /// The program that the rules are, as a record describes it; `None` if they are part of this program.
    fn program(&self) -> Option<&RawValue> {
        None
    }

    /// The words that a disguise replaces; `None` if the game does not say them.
    fn vocabulary(&self) -> Option<Vocabulary> {
        None
    }

    /// The game that this one is under other names: see [`disguise`](crate::disguise::disguise).
    fn disguised(&self) -> Option<&'static dyn Rules> {
        None
    }

    /// The same rules with tables of endgames, which [`Table::endgame`] then reads. `None` if the game has no such tables.
    ///
    /// # Errors
    /// As [`OpenEndgames`](crate::endgames::OpenEndgames).
    fn with_endgames(&self, files: Box<dyn TableFiles>) -> Option<Result<&'static dyn Rules, Wrong>> {
        let _ = files;
        None
    }

    /// The largest number of pieces in its tables of endgames; `None` without tables.
    fn endgame_pieces(&self) -> Option<u32> {
        None
    }

    /// Work that a thread cannot do during a call of a table.
    fn wait(&self) -> RulesWait {
        RulesWait::None
    }

    /// Samples positions that are consistent with a seat's knowledge: `count` of them, or one if the game has
    /// no hidden information. `None` if the game does not implement [`Imagine`](crate::Imagine).
    ///
    /// # Errors
    /// When the options or the view cannot be read, or the view contradicts itself; when the rules fail.
    fn imagine(
        &self,
        knowledge: &Knowledge<'_>,
        count: usize,
        rng: &mut dyn Uniform,
    ) -> Result<Option<Vec<Box<dyn Table>>>, RulesError>;

    /// Counts the leaves at `depth` from the initial position, per first move.
    ///
    /// # Errors
    /// As [`Rules::open`], and when perft is not defined for the game.
    fn divide(&self, options: &RawValue, depth: u32) -> Result<Vec<(String, u64)>, RulesError> {
        perft::divide_table(&*self.open(options, self.meta().seatings[0])?, depth)
    }

    /// Counts the leaves at `depth` from the initial position.
    ///
    /// # Errors
    /// As [`Rules::divide`].
    fn perft(&self, options: &RawValue, depth: u32) -> Result<u64, RulesError> {
        perft::perft_table(&*self.open(options, self.meta().seatings[0])?, depth)
    }
}

/// A seat's knowledge of a position.
#[derive(Clone, Copy, Debug)]
pub struct Knowledge<'a> {
    /// The options of the match, a JSON object.
    pub options: &'a RawValue,
    pub seating: Seating,
    pub seat: Seat,
    pub view: &'a RawValue,
    /// `turns_left` of the request.
    pub turns_left: Option<u32>,
}
