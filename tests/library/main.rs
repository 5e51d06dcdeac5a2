//! The library without its shell: the direction of its imports, the documented properties of schedules, ratings and
//! strength tests, the JSON Schemas of the games, and chess beside another program. With the shell: corrupted databases.

mod amounts;
mod architecture;
mod books;
mod byes;
mod chess;
#[cfg(feature = "shell")]
mod corrupt;
mod disguise;
mod elo;
mod estimates;
#[cfg(feature = "fuzzing")]
mod fuzz;
mod gate;
mod grade;
mod ladder;
mod luck;
mod month;
mod pairings;
mod race;
mod ratings;
mod rulings;
mod schedule;
mod schedules;
#[cfg(feature = "schema")]
mod schemas;
mod simulation;
mod strength;
#[cfg(feature = "shell")]
mod syzygy;
