//! The end of a match, with ranks and scores.

use referee_protocol::words::EndedBy;
use serde::Serialize;

use crate::detail::{AbortReason, Fault};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ending {
    pub ended_by: EndedBy,
    /// The rule that ended the game, the fault code, or the same word as `ended_by`.
    pub reason: String,
    /// Per seat; `None` when aborted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Vec<u8>>,
    /// Per seat; `None` when aborted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<Vec<f64>>,
    /// Per seat; `None` when aborted, and in a game without amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amounts: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// The state of a match after `end`.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) ending: Ending,
    /// The reason why it was aborted, unless because no bot was left.
    pub(super) abort: Option<AbortReason>,
}

/// The final standing of a side. Smaller is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SideStanding {
    /// By the rules of the game.
    In(u8),
    /// Eliminated at this time: a later elimination ranks ahead of an earlier one.
    Out(std::cmp::Reverse<u32>),
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use referee_game::outcome::ranks_and_scores;
    use referee_game::seat::{MAX_SEATS, Seating};

    use super::*;

    fn judged(seating: Seating, sides: &[SideStanding]) -> (Vec<u8>, Vec<f64>) {
        let mut standing = [SideStanding::In(0); MAX_SEATS];
        standing[..sides.len()].copy_from_slice(sides);
        ranks_and_scores(seating, &standing)
    }

    #[test]
    fn two_sides_score_one_and_zero_or_half_each() {
        let two = Seating::new(2, 2);
        assert_eq!(judged(two, &[SideStanding::In(0), SideStanding::In(1)]), (vec![1, 2], vec![1.0, 0.0]));
        assert_eq!(judged(two, &[SideStanding::In(0), SideStanding::In(0)]), (vec![1, 1], vec![0.5, 0.5]));
    }

    #[test]
    fn win_among_three_scores_one_and_quarter_each() {
        let (ranks, scores) =
            judged(Seating::new(6, 3), &[SideStanding::In(1), SideStanding::In(0), SideStanding::In(1)]);
        assert_eq!(ranks, [2, 1, 2, 2, 1, 2]);
        assert_eq!(scores, [0.25, 1.0, 0.25, 0.25, 1.0, 0.25]);
    }

    #[test]
    fn a_later_elimination_ranks_ahead_of_an_earlier_one() {
        let out = |moment| SideStanding::Out(Reverse(moment));
        assert_eq!(judged(Seating::new(3, 3), &[out(4), SideStanding::In(1), out(9)]).0, [3, 1, 2]);
        assert_eq!(judged(Seating::new(3, 3), &[out(4), SideStanding::In(0), out(4)]).0, [2, 1, 2]);
    }
}
