//! Bots that search, in any game of the list or in one.
//!
//! * [`bot`]: a search as a bot: matches, positions from views, answers
//! * [`deadline`]: how long a search may take
//! * [`dice`]: where its chance comes from
//! * [`monte_carlo`]: for every game, hidden information, chance and simultaneous choices included
//! * [`alpha_beta`]: for checkers
//!
//! The rules are those of the referee, without its shell.

pub mod alpha_beta;
pub mod bot;
pub mod deadline;
pub mod dice;
pub mod monte_carlo;
