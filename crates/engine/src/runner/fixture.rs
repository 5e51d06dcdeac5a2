//! A match to be played.

use std::fmt;
use std::sync::Arc;

use referee_game::Meta;
use referee_game::chance::Seed;
use referee_match::{Leg, Opening};
use serde_json::value::RawValue;

/// Behaviour of a match while one of its bots is not connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// The match waits; the bot loses by a fault when it has been absent for too long.
    Always,
    /// The match waits as with [`Wait::Always`], unless another bot connects, so that other matches may be possible.
    AsLastResort,
    /// The match goes back to the schedule.
    Never,
}

/// A match that is to be played.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The id: m1, m2, ...
    pub id: String,
    /// The deal of a mirrored set; `None` if the match has its own.
    pub deal: Option<String>,
    /// The position in its mirrored set.
    pub leg: Leg,
    pub options: Arc<RawValue>,
    pub opening: Arc<Opening>,
    /// The bots by seat. A bot with several seats gets a process or connection for each.
    pub bots: Vec<usize>,
    /// Behaviour while one of them is not connected.
    pub wait: Wait,
    /// The secret, if that is not derived from the run seed.
    pub secret: Option<MatchSecret>,
}

/// Secrets of a match until its deal is played.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MatchSecret {
    /// The seed of its deal.
    pub seed: Seed,
    /// The salt of its commitment.
    pub salt: [u8; 32],
}

impl fmt::Debug for MatchSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MatchSecret")
    }
}

/// Returns whether a bot that remembers the first match of a deal can foresee the second.
pub fn deal_leaks_information(game: &Meta) -> bool {
    game.chance || game.hidden
}

impl Fixture {
    /// Returns whether spectators see only its result until its deal is complete: other matches of the deal
    /// would reveal its chance or its secrets.
    pub fn is_held(&self, game: &Meta) -> bool {
        self.deal.is_some() && deal_leaks_information(game)
    }
}
