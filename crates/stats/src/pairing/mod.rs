//! Pairings.
//!
//! * [`table`]: round robin by Berger's tables; all groups of three; one against all
//! * [`swiss`]: the next round from the results so far
//! * [`knockout`]: a seeded bracket
//! * [`partners`]: every pair of entrants as partners, in changing teams of two, balanced by a local search (`search`)
//! * `whist`: the same with balanced opponents, if such a design exists
//!
//! All are pure: integer arithmetic, with the same lineups on every machine.

pub mod knockout;
pub(crate) mod matching;
pub mod partners;
mod search;
pub mod swiss;
pub mod table;
mod whist;
