//! Wins, draws and losses.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Add;

use referee_game::{Seat, Seating};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideResult {
    /// Ahead of all others.
    Win,
    /// Level with the best of the others.
    Draw,
    /// Behind another.
    Loss,
}

impl SideResult {
    /// The result in a match with these ranks by seat; `None` if the seat or all other sides have none.
    pub fn of_seat(seat: Seat, ranks: &[u8], seating: Seating) -> Option<SideResult> {
        let own = seating.side(seat);
        let others = (0..).map(Seat).zip(ranks).filter(|&(other, _)| seating.side(other) != own);
        let best = others.map(|(_, rank)| rank).min()?;
        Some(ranks.get(seat.index())?.cmp(best).into())
    }

    /// `W`, `D` or `L`.
    pub const fn letter(self) -> char {
        match self {
            SideResult::Win => 'W',
            SideResult::Draw => 'D',
            SideResult::Loss => 'L',
        }
    }
}

/// The order of the side and the best of the others, the better first: ranks compare so, scores in reverse.
impl From<Ordering> for SideResult {
    fn from(order: Ordering) -> SideResult {
        match order {
            Ordering::Less => SideResult::Win,
            Ordering::Equal => SideResult::Draw,
            Ordering::Greater => SideResult::Loss,
        }
    }
}

/// The numbers of wins, draws and losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wdl {
    /// Ranked first alone.
    pub wins: u32,
    /// Equal first.
    pub draws: u32,
    pub losses: u32,
}

impl Wdl {
    /// Counts a result that occurred `times` times.
    pub fn count(&mut self, result: SideResult, times: u32) {
        *match result {
            SideResult::Win => &mut self.wins,
            SideResult::Draw => &mut self.draws,
            SideResult::Loss => &mut self.losses,
        } += times;
    }

    pub const fn total(self) -> u32 {
        self.wins + self.draws + self.losses
    }
}

impl Add for Wdl {
    type Output = Wdl;

    fn add(self, other: Wdl) -> Wdl {
        Wdl {
            wins: self.wins + other.wins,
            draws: self.draws + other.draws,
            losses: self.losses + other.losses,
        }
    }
}

/// `12 won, 2 drawn, 0 lost`.
impl fmt::Display for Wdl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wdl { wins, draws, losses } = self;
        write!(f, "{wins} won, {draws} drawn, {losses} lost")
    }
}

impl FromIterator<SideResult> for Wdl {
    fn from_iter<I: IntoIterator<Item = SideResult>>(results: I) -> Wdl {
        let mut wdl = Wdl::default();
        results.into_iter().for_each(|result| wdl.count(result, 1));
        wdl
    }
}

/// The numbers of matches of an entrant or a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchCounts {
    /// Matches with a result; on a ladder the rated ones.
    pub matches: u32,
    #[serde(flatten)]
    pub wdl: Wdl,
    /// Matches in which it made a fault.
    pub faulted: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_share_win_and_better_of_others_decides() {
        let of_all = |ranks: &[u8], seating: Seating| -> String {
            let seats = seating.all().iter();
            seats
                .filter_map(|seat| SideResult::of_seat(seat, ranks, seating))
                .map(SideResult::letter)
                .collect()
        };
        assert_eq!(of_all(&[1, 2, 1, 2], Seating::new(4, 2)), "WLWL");
        assert_eq!(of_all(&[1, 3, 1], Seating::new(3, 3)), "DLD");
        assert_eq!(of_all(&[2, 1, 2], Seating::new(3, 3)), "LWL");
    }
}
