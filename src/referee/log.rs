//! Writes the lines of a record.

use crate::core::clock::Tick;
use crate::core::json::{Object, key};

/// The record of a match so far.
#[derive(Debug, Default)]
pub(super) struct Log(pub(super) Vec<u8>);

impl Log {
    /// Begins a line of this kind. The caller adds fields and ends the line.
    #[inline(always)]
    pub(super) fn line(&mut self, kind: &str, at: Tick) -> Object<'_> {
        let mut line = Object::open(&mut self.0, kind);
        line.number(key!("at_us"), at.0);
        line
    }
}
