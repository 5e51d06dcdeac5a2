//! An engine's report on its search, as `info` of its move.

use serde::Serialize;

/// The score of a mate now; a mate in N moves is N less.
const MATE: i64 = 30_000;
/// The number of moves of a line that is passed on.
const LINE: usize = 12;

/// The `info` of a move. The score is that of the mover, in hundredths of a pawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Info {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score_scale: Option<u32>,
    /// `lower` or `upper`: the score is only a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<&'static str>,
    /// Moves until mate; negative if the engine is mated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mate: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pv: Vec<String>,
}

impl Info {
    pub(crate) fn scored(&mut self, score: i64, scale: u32) {
        (self.score, self.score_scale) = (Some(score), Some(scale));
    }

    /// Sets a mate in this number of moves; negative if the engine is mated. `is_lost`: it is mated, even if the number is 0.
    pub(crate) fn mates(&mut self, moves: i64, is_lost: bool, scale: u32) {
        let score = MATE.saturating_sub(moves.saturating_abs().min(MATE));
        self.scored(if is_lost { -score } else { score }, scale);
        self.mate = Some(moves);
    }

    /// Sets the first moves of this line.
    pub(crate) fn with_line<'a>(&mut self, moves: impl Iterator<Item = &'a str>) {
        self.pv = moves.take(LINE).map(str::to_owned).collect();
    }

    /// Returns this info, unless it says nothing.
    pub(crate) fn unless_empty(self) -> Option<Info> {
        (self != Info::default()).then_some(self)
    }
}
