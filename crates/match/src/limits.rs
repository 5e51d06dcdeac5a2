//! Limits that affect the course of a match. Each record contains the limits that its match was played with.

use referee_game::Meta;
use referee_protocol::limits;
use serde::{Deserialize, Serialize};

use crate::opening;

/// Limits that affect the course of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Messages in the wrong state that a seat may send.
    pub strays: u64,
    /// Characters of a `move` that the record keeps.
    pub move_chars: u64,
    /// Longest `info` that is kept, in bytes.
    pub info_bytes: u64,
    /// Total `info` of a seat that is kept, in bytes.
    pub info_per_match_bytes: u64,
    /// Longest `nonce`, in bytes.
    pub nonce_bytes: u64,
    /// Consecutive moves that the referee makes for faulty seats before it yields to the shell.
    pub fallback_moves: u64,
    pub opening_plies: u64,
    /// Attempts to draw a random opening that does not end the match.
    pub opening_tries: u64,
}

impl Limits {
    /// The limits of new matches.
    pub const TODAY: Limits = Limits {
        strays: limits::STRAYS as u64,
        move_chars: limits::MOVE as u64,
        info_bytes: limits::INFO as u64,
        info_per_match_bytes: limits::INFO_PER_MATCH as u64,
        nonce_bytes: limits::NONCE as u64,
        fallback_moves: limits::FALLBACK_MOVES as u64,
        opening_plies: opening::MAX_PLIES as u64,
        opening_tries: opening::TRIES as u64,
    };

    /// The limits of new matches of a game.
    pub fn of(meta: &Meta) -> Limits {
        let move_chars = if meta.lists_moves { limits::MOVE } else { limits::UNLISTED_MOVE };
        Limits { move_chars: move_chars as u64, ..Limits::TODAY }
    }

    /// The largest limits with which a record is replayed. They bound the work that a record can cause.
    pub const MOST: Limits = Limits {
        strays: 1_000,
        move_chars: 65_536,
        info_bytes: 65_536,
        info_per_match_bytes: 67_108_864,
        nonce_bytes: 4_096,
        fallback_moves: 10_000,
        opening_plies: 1_000,
        opening_tries: 10_000,
    };

    /// Returns whether no limit is larger than in `most`.
    pub fn are_within(&self, most: &Limits) -> bool {
        let all = |of: &Limits| {
            [
                of.strays,
                of.move_chars,
                of.info_bytes,
                of.info_per_match_bytes,
                of.nonce_bytes,
                of.fallback_moves,
                of.opening_plies,
                of.opening_tries,
            ]
        };
        all(self).iter().zip(all(most)).all(|(&limit, most)| limit <= most)
    }
}
