//! What a file of results keeps of a comparison: the sets that are complete, and the crash that ended it.

use referee_protocol::words::FaultCode;
use serde::{Deserialize, Serialize};

use crate::core::{MAX_SEATS, Seat, SeatSet, Seating, hex};
use crate::referee::Faults;
use crate::server::trial::TrialMatch;
use crate::tournament::{Entrant, Lineup, MatchResult};

/// A line of a file of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResultLine {
    /// A set that is complete.
    Set {
        /// Its number, from 1.
        set: u32,
        /// All its matches.
        matches: Vec<ResultMatch>,
    },
    /// The new version crashed, which ended the run.
    Crash {
        /// The number of the set.
        set: u32,
        /// In which match, and how.
        what: String,
        /// The match.
        matches: Vec<ResultMatch>,
    },
}

impl ResultLine {
    /// The number of the set.
    pub fn set(&self) -> u32 {
        let (ResultLine::Set { set, .. } | ResultLine::Crash { set, .. }) = self;
        *set
    }

    /// The matches.
    pub fn matches(&self) -> &[ResultMatch] {
        let (ResultLine::Set { matches, .. } | ResultLine::Crash { matches, .. }) = self;
        matches
    }
}

/// A match of a set that is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultMatch {
    id: String,
    /// By seat; 0 is the new version, 1 its base.
    entrants: Vec<Entrant>,
    /// By side.
    places: Vec<u8>,
    /// Seats that made a fault.
    faulted: Vec<u8>,
    /// Seats that lost by a fault.
    forfeited: Vec<u8>,
    void: bool,
    /// The faults of the new version and of the base that count.
    faults: [Vec<(FaultCode, u32)>; 2],
    /// A digest of the moves.
    moves: String,
}

impl ResultMatch {
    pub(super) fn of(played: &TrialMatch) -> ResultMatch {
        let TrialMatch { id, is_void, result, faults, moves } = played;
        let seats = |set: SeatSet| set.iter().map(|seat| seat.0).collect();
        ResultMatch {
            id: id.clone(),
            entrants: result.lineup.seats().to_vec(),
            places: result.places[..result.lineup.seating().sides()].to_vec(),
            faulted: seats(result.faulted),
            forfeited: seats(result.forfeited),
            void: *is_void,
            faults: faults.map(|of| of.iter().collect()),
            moves: hex::encode(moves),
        }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether it is void.
    pub fn is_void(&self) -> bool {
        self.void
    }

    /// Its result in this seating; none where it is not one of such a match.
    pub fn result(&self, set: u32, seating: Seating) -> Option<MatchResult> {
        let lineup = Lineup::of_seats(seating, &self.entrants)?;
        let sides = seating.sides();
        let are_seats = |seats: &[u8]| seats.iter().all(|&seat| usize::from(seat) < seating.seats());
        if self.places.len() != sides || !are_seats(&self.faulted) || !are_seats(&self.forfeited) {
            return None;
        }
        let mut places = [0; MAX_SEATS];
        places[..sides].copy_from_slice(&self.places);
        let seats = |seats: &[u8]| seats.iter().map(|&seat| Seat(seat)).collect();
        let (faulted, forfeited) = (seats(&self.faulted), seats(&self.forfeited));
        Some(MatchResult { set, lineup, places, faulted, forfeited })
    }

    pub(super) fn played(&self, set: u32, seating: Seating) -> Option<TrialMatch> {
        let faults = self.faults.each_ref().map(|of| {
            let mut faults = Faults::default();
            for &(code, count) in of {
                faults.add_many(code, count);
            }
            faults
        });
        Some(TrialMatch {
            id: self.id.clone(),
            is_void: self.void,
            result: self.result(set, seating)?,
            faults,
            moves: hex::decode32(&self.moves)?,
        })
    }
}
