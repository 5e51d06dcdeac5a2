//! Runs from their beginning to their end: what opens, recovers and plays them.
//!
//! * [`league`]: ladders that a server plays without an end
//! * [`submissions`]: programs that owners hand in, until they play

pub mod league;
pub mod submissions;
