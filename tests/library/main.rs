//! The library without its shell: the direction of its imports, and what schedules, ratings and tests of strength promise.

mod architecture;
mod gate;
mod pairings;
mod ratings;
mod schedule;
mod schedules;
mod strength;
