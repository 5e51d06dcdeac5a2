//! Whist tournaments: teams of two, two teams per match, every two entrants partners once and opponents twice.
//!
//! They exist for 4k and 4k + 1 entrants. These are developed from one round, the starter: every further round adds
//! an element of a group to each entrant (I. Anderson, *Combinatorial Designs and Tournaments*, 1997, chapter 11). In
//! the starter the differences between partners are all elements except 0 once each, up to sign, and those between
//! opponents twice. The starters were found by a computer search.

use super::partners::Partners;

/// The starter for a number of entrants.
struct WhistStarter {
    entrants: usize,
    /// The group: pairs of numbers below these two, with componentwise addition. With 4k entrants the last one is
    /// fixed.
    group: [usize; 2],
    /// The first team of each match, then the second.
    matches: &'static [[usize; 4]],
}

#[rustfmt::skip]
const STARTERS: &[WhistStarter] = &[
    starter(4, [1, 3], &[[3, 0, 2, 1]]),
    starter(5, [1, 5], &[[4, 1, 3, 2]]),
    starter(8, [1, 7], &[[7, 0, 6, 2], [5, 4, 3, 1]]),
    starter(9, [3, 3], &[[8, 0, 7, 1], [6, 2, 5, 3]]),
    starter(12, [1, 11], &[[11, 2, 4, 7], [10, 0, 9, 3], [8, 6, 5, 1]]),
    starter(13, [1, 13], &[[12, 8, 2, 7], [11, 9, 1, 0], [10, 4, 3, 6]]),
    starter(16, [1, 15], &[[15, 0, 9, 2], [14, 8, 12, 13], [11, 1, 7, 4], [10, 6, 3, 5]]),
    starter(17, [1, 17], &[[16, 11, 4, 8], [15, 13, 9, 10], [14, 6, 5, 12], [7, 1, 3, 0]]),
    starter(20, [1, 19], &[[19, 7, 3, 17], [18, 12, 6, 4], [16, 9, 0, 8], [15, 11, 10, 13], [14, 5, 2, 1]]),
    starter(21, [1, 21], &[[20, 6, 15, 4], [19, 1, 8, 0], [18, 3, 12, 14], [17, 16, 13, 9],
        [11, 2, 5, 10]]),
    starter(24, [1, 23], &[[23, 18, 15, 8], [22, 3, 13, 14], [21, 6, 9, 4], [20, 10, 11, 2],
        [19, 16, 0, 17], [12, 1, 7, 5]]),
    starter(25, [5, 5], &[[24, 10, 12, 4], [23, 20, 6, 16], [22, 3, 19, 21], [18, 7, 17, 13],
        [15, 8, 2, 5], [14, 9, 1, 0]]),
    starter(28, [1, 27], &[[27, 13, 8, 7], [26, 19, 12, 23], [25, 20, 18, 15], [24, 6, 5, 9],
        [22, 14, 4, 10], [21, 11, 0, 2], [17, 3, 16, 1]]),
    starter(29, [1, 29], &[[28, 21, 18, 27], [26, 9, 8, 22], [25, 17, 15, 12], [24, 20, 6, 0],
        [23, 10, 2, 3], [19, 1, 5, 7], [16, 11, 14, 4]]),
    starter(32, [1, 31], &[[31, 28, 27, 8], [30, 29, 21, 1], [26, 13, 15, 22], [25, 11, 18, 12],
        [24, 19, 7, 3], [23, 14, 9, 17], [20, 10, 2, 5], [16, 0, 6, 4]]),
    starter(33, [1, 33], &[[32, 15, 9, 17], [31, 0, 5, 25], [30, 19, 22, 26], [29, 11, 10, 16],
        [28, 21, 24, 12], [27, 18, 8, 3], [23, 13, 1, 2], [20, 6, 7, 4]]),
];

const fn starter(entrants: usize, group: [usize; 2], matches: &'static [[usize; 4]]) -> WhistStarter {
    WhistStarter { entrants, group, matches }
}

/// The matches of a whist tournament, in rounds; `None` if there is no starter for this number of entrants.
pub(super) fn tournament(entrants: usize) -> Option<Vec<[Partners; 2]>> {
    let WhistStarter { group: [high, low], matches, .. } =
        STARTERS.iter().find(|starter| starter.entrants == entrants)?;
    let add = |player: usize, shift: usize| match player {
        fixed if fixed == high * low => fixed,
        _ => (player / low + shift / low) % high * low + (player % low + shift % low) % low,
    };
    let rounds = (0..high * low).flat_map(|shift| {
        matches.iter().map(move |teams| {
            let [a, b, c, d] = teams.map(|player| add(player, shift));
            [[a, b], [c, d]]
        })
    });
    Some(rounds.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_two_are_partners_once_and_opponents_twice() {
        for WhistStarter { entrants, .. } in STARTERS {
            let matches = tournament(*entrants).unwrap();
            assert_eq!(matches.len(), entrants * (entrants - 1) / 4);
            let together = |a: usize, b: usize, is_partner: bool| {
                let of = |team: &Partners| team.contains(&a) as usize + 2 * team.contains(&b) as usize;
                let kinds = matches.iter().map(|[one, other]| [of(one), of(other)]);
                let fits = |kinds: &[usize; 2]| {
                    if is_partner { kinds.contains(&3) } else { kinds.contains(&1) && kinds.contains(&2) }
                };
                kinds.filter(fits).count()
            };
            for a in 0..*entrants {
                for b in 0..a {
                    assert_eq!(
                        (together(a, b, true), together(a, b, false)),
                        (1, 2),
                        "{a}, {b} of {entrants}"
                    );
                }
            }
        }
    }

    #[test]
    fn each_entrant_plays_at_most_once_per_round() {
        for WhistStarter { entrants, matches, .. } in STARTERS {
            for round in tournament(*entrants).unwrap().chunks(matches.len()) {
                let mut players: Vec<usize> = round.iter().flatten().flatten().copied().collect();
                players.sort_unstable();
                players.dedup();
                assert_eq!(players.len(), 4 * matches.len());
            }
        }
    }
}
