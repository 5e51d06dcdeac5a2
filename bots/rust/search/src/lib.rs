//! Sample bots with tree search, for all games or for one.
//!
//! * [`bot`]: adapts a search to the bot interface: matches, positions from views, answers
//! * [`deadline`]: time management
//! * [`dice`]: the random number generator
//! * [`monte_carlo`]: Monte-Carlo tree search for every game, with hidden information, chance and simultaneous
//!   decisions
//! * [`alpha_beta`]: alpha-beta search for checkers
//!
//! The rules come from the `referee` crate without its default features.

pub mod alpha_beta;
pub mod bot;
pub mod deadline;
pub mod dice;
pub mod monte_carlo;
