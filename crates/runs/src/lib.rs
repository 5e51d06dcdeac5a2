//! Runs from their beginning to their end: what opens, recovers and plays them.
//!
//! * [`league`]: ladders that a server plays without an end

pub mod league;
