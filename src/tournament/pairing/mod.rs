//! Who meets whom.
//!
//! * [`table`]: everyone against everyone, by Berger's tables; all threes; one against all
//! * [`swiss`]: the next round from the results so far
//! * [`knockout`]: a seeded bracket
//! * [`partners`]: each as partner of each, for teams that are drawn anew
//! * `whist`: the same with even opponents, where such a design exists
//!
//! All are pure: integers in, the same line-ups out on every machine.

pub mod knockout;
pub(crate) mod matching;
pub mod partners;
pub mod swiss;
pub mod table;
mod whist;
