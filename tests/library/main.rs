//! The library without its shell: the direction of its imports, and the documented properties of schedules,
//! ratings and strength tests.

mod architecture;
mod gate;
mod pairings;
mod ratings;
mod schedule;
mod schedules;
mod strength;
