//! The lines of a results file of `regress`: complete sets, and the crash that ended a run.

use referee_game::{MAX_SEATS, Seat, SeatSet, Seating, hex};
use referee_match::Faults;
use referee_protocol::words::FaultCode;
use referee_results::Crash;
use referee_stats::sample::SetMoves;
use referee_stats::{Entrant, Lineup, MatchResult};
use serde::{Deserialize, Serialize};

/// A line of a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResultLine {
    /// A complete set.
    Set {
        /// The number, counted from 1.
        set: u32,
        matches: Vec<ResultMatch>,
    },
    /// The new version crashed, which ended the run.
    Crash {
        set: u32,
        #[serde(flatten)]
        crash: Crash,
        matches: Vec<ResultMatch>,
    },
}

impl ResultLine {
    pub fn set(&self) -> u32 {
        let (ResultLine::Set { set, .. } | ResultLine::Crash { set, .. }) = self;
        *set
    }

    pub fn matches(&self) -> &[ResultMatch] {
        let (ResultLine::Set { matches, .. } | ResultLine::Crash { matches, .. }) = self;
        matches
    }
}

#[derive(Debug)]
pub(super) struct RegressionMatch {
    pub(super) id: String,
    /// Whether the match is void; then only the faults of `result` count.
    pub(super) is_void: bool,
    pub(super) result: MatchResult,
    /// The faults of `new` and of `base`.
    pub(super) faults: [Faults; 2],
    pub(super) moves: SetMoves,
}

/// A match of a set in a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultMatch {
    id: String,
    /// By seat: 0 for the new version, 1 for the base.
    entrants: Vec<Entrant>,
    /// By side.
    places: Vec<u8>,
    faulted: Vec<u8>,
    /// Seats that lost by a fault.
    forfeited: Vec<u8>,
    void: bool,
    /// The counted faults of the new version and of the base.
    faults: [Vec<(FaultCode, u32)>; 2],
    /// A digest of the opening.
    opening: String,
    /// A digest of the moves.
    moves: String,
}

impl ResultMatch {
    pub(super) fn of(played: &RegressionMatch) -> ResultMatch {
        let RegressionMatch { id, is_void, result, faults, moves } = played;
        let seats = |set: SeatSet| set.iter().map(|seat| seat.0).collect();
        ResultMatch {
            id: id.clone(),
            entrants: result.lineup.seats().to_vec(),
            places: result.places[..result.lineup.seating().sides()].to_vec(),
            faulted: seats(result.faulted),
            forfeited: seats(result.forfeited),
            void: *is_void,
            faults: faults.map(|of| of.iter().collect()),
            opening: hex::encode(&moves.opening),
            moves: hex::encode(&moves.all),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn is_void(&self) -> bool {
        self.void
    }

    /// The result of the match; `None` if it does not fit this seating.
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
        Some(MatchResult { set, lineup, places, amounts: None, faulted, forfeited })
    }

    pub(super) fn played(&self, set: u32, seating: Seating) -> Option<RegressionMatch> {
        let faults = self.faults.each_ref().map(|of| {
            let mut faults = Faults::default();
            for &(code, count) in of {
                faults.add_many(code, count);
            }
            faults
        });
        let opening = hex::decode32(&self.opening)?;
        Some(RegressionMatch {
            id: self.id.clone(),
            is_void: self.void,
            result: self.result(set, seating)?,
            faults,
            moves: SetMoves { opening, start: opening, all: hex::decode32(&self.moves)? },
        })
    }
}
