//! Tables of endgames, which have the outcome of every position with few pieces.

use std::fmt::Debug;
use std::io::{self, Read, Seek};

use crate::Wrong;
use crate::outcome::Outcome;

/// The reason of an outcome that tables gave.
pub const TABLEBASES: &str = "tablebases";

/// Files of tables, by name.
pub trait TableFiles: Debug + Send + Sync {
    /// The names of all files, in any order.
    fn names(&self) -> Vec<String>;

    /// Opens a file.
    ///
    /// # Errors
    /// I/O errors.
    fn open(&self, name: &str) -> io::Result<Box<dyn TableFile>>;
}

/// An open file of endgame positions.
pub trait TableFile: Read + Seek {}

impl<F: Read + Seek> TableFile for F {}

/// Tables of the game `G`.
pub trait Endgames<G>: Debug + Send + Sync {
    /// The largest number of pieces of a position in them.
    fn pieces(&self) -> u32;

    /// The outcome of a position with the best moves of both sides, for the reason [`TABLEBASES`]; `None` if the position is not in
    /// them, or if they do not say what it is under the options of the match.
    fn outcome(&self, position: &G) -> Option<Outcome>;
}

/// Opens the tables in these files. Like rules, they live as long as the process.
///
/// # Errors
/// If there are none, or which file is damaged.
pub type OpenEndgames<G> = fn(Box<dyn TableFiles>) -> Result<&'static dyn Endgames<G>, Wrong>;
