//! Copies of matches, which say nothing new.

use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::sample::MatchMoves;
use crate::{Entrant, MatchResult};

/// A result that is counted: with that of the first match of its set, if it is the second one.
pub type CountedResult = (Option<MatchResult>, MatchResult);

/// The first match of a set.
#[derive(Clone, Copy, Debug)]
pub struct FirstMatch {
    pub result: MatchResult,
    pub is_copy: bool,
}

/// Tells which matches of a ladder are copies: those with the players, seats, opening, moves and result of an earlier match.
///
/// Copies do not count until the same players have played one opening with the same seats in two different ways: then they
/// are not deterministic, and all their matches count, also the earlier copies. Leaving out copies then would leave out the
/// results of some kinds of matches: a quick loss has the same moves each time, a long match has not.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// By a digest of lineup and opening: a digest of the moves and the result of the first match. A ladder has many.
    first: FxHashMap<u64, u64>,
    by_players: FxHashMap<SmallVec<[Entrant; 4]>, PlayedAlike>,
    copies: u64,
}

/// Matches between the same players.
#[derive(Clone, Debug, Default)]
struct PlayedAlike {
    is_varied: bool,
    /// Copies that do not count, and how often they were played.
    copies: Vec<(CountedResult, u32)>,
}

impl PlayedAlike {
    fn keep(&mut self, copy: CountedResult) {
        match self.copies.iter_mut().find(|(kept, _)| *kept == copy) {
            Some((_, times)) => *times += 1,
            None => self.copies.push((copy, 1)),
        }
    }

    /// The copies, first matches of sets before second ones.
    fn take(&mut self) -> Vec<CountedResult> {
        let mut copies = std::mem::take(&mut self.copies);
        copies.sort_by_key(|((first, _), _)| first.is_some());
        copies.into_iter().flat_map(|(copy, times)| (0..times).map(move |_| copy)).collect()
    }
}

impl Copies {
    /// Adds a result, with that of the first match of its set; `moves` only if matches can share openings. Returns what
    /// counts now: nothing if it is a copy.
    pub fn add(
        &mut self,
        first: Option<FirstMatch>,
        result: MatchResult,
        moves: Option<MatchMoves>,
    ) -> Vec<CountedResult> {
        let counted = (first.filter(|first| !first.is_copy).map(|first| first.result), result);
        let Some(moves) = moves else { return vec![counted] };
        let mut players = SmallVec::from_slice(result.lineup.seats());
        players.sort_unstable();
        let alike = self.by_players.entry(players).or_default();
        if alike.is_varied {
            return vec![(first.map(|first| first.result), result)];
        }
        let played = digest((moves.all, result.places));
        match self.first.entry(digest((result.lineup, moves.opening))) {
            Entry::Vacant(entry) => {
                entry.insert(played);
                vec![counted]
            }
            Entry::Occupied(entry) if *entry.get() == played => {
                // The numbers of sets do not matter, so that copies are alike.
                let unnumbered = |result| MatchResult { set: 0, ..result };
                alike.keep((first.map(|first| unnumbered(first.result)), unnumbered(result)));
                self.copies += 1;
                vec![]
            }
            Entry::Occupied(_) => {
                alike.is_varied = true;
                let mut counted_now = alike.take();
                self.copies -= counted_now.len() as u64;
                counted_now.push(counted);
                counted_now
            }
        }
    }

    /// The number of copies that do not count.
    pub fn copies(&self) -> u64 {
        self.copies
    }
}

fn digest(of: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use referee_game::Seating;

    use super::*;
    use crate::Lineup;

    /// The number of results that count after each match of two players. A match has the result and moves given, and the
    /// first player wins unless the moves are 9.
    fn counted(matches: &[(u64, u64)]) -> (Vec<usize>, u64) {
        let mut copies = Copies::default();
        let lineup = Lineup::of_sides(Seating::new(2, 2), &[0, 1].map(Entrant)).unwrap();
        let add = |(number, &(opening, all)): (usize, &(u64, u64))| {
            let ranks = if all == 9 { [2, 1] } else { [1, 2] };
            let result = MatchResult::played(number as u32 + 1, lineup, &ranks);
            copies.add(None, result, Some(MatchMoves { opening, all })).len()
        };
        (matches.iter().enumerate().map(add).collect(), copies.copies())
    }

    #[test]
    fn copies_count_once_until_the_players_vary() {
        assert_eq!(counted(&[(1, 5), (1, 5), (2, 6), (1, 5), (2, 6)]), (vec![1, 0, 1, 0, 0], 3));
        // The third one shows that they are not deterministic: the copy before it counts as well.
        assert_eq!(counted(&[(1, 5), (1, 5), (1, 9), (1, 5), (2, 6), (2, 6)]), (vec![1, 0, 2, 1, 1, 1], 0));
    }

    #[test]
    fn matches_without_moves_are_no_copies() {
        let mut copies = Copies::default();
        let lineup = Lineup::of_sides(Seating::new(2, 2), &[0, 1].map(Entrant)).unwrap();
        for number in 1..=5 {
            let result = MatchResult::played(number, lineup, &[1, 2]);
            assert_eq!(copies.add(None, result, None), [(None, result)]);
        }
        assert_eq!(copies.copies(), 0);
    }

    #[test]
    fn a_return_match_of_a_copy_counts_by_itself() {
        let mut copies = Copies::default();
        let lineup = Lineup::of_sides(Seating::new(2, 2), &[0, 1].map(Entrant)).unwrap();
        let back = Lineup::of_sides(Seating::new(2, 2), &[1, 0].map(Entrant)).unwrap();
        let (result, returned) =
            (MatchResult::played(1, lineup, &[1, 2]), MatchResult::played(2, back, &[1, 2]));
        let moves = Some(MatchMoves { opening: 1, all: 5 });
        assert_eq!(copies.add(None, result, moves).len(), 1);
        assert_eq!(copies.add(None, result, moves).len(), 0);
        let first = Some(FirstMatch { result, is_copy: true });
        assert_eq!(copies.add(first, returned, moves), [(None, returned)]);
        assert_eq!(copies.add(first, returned, moves), []);
        assert_eq!(copies.copies(), 2);
    }
}
