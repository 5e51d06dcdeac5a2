//! The seeded bracket.
//!
//! The field is filled up to a power of two. Seeds 1 and 2 can meet only in the final, 1 to 4 only in the semifinals,
//! and so on; in the first round seed s meets seed `size + 1 - s`. Empty positions give byes to the highest seeds.

/// The bracket of the first round: the seed at each position, counted from 0; `None` for an empty position. Positions
/// 2k and 2k + 1 meet; then the winners of neighbouring pairs do.
pub fn bracket(entrants: usize) -> Vec<Option<usize>> {
    let size = entrants.next_power_of_two();
    let mut places = vec![0];
    while places.len() < size {
        let doubled = 2 * places.len();
        places = places.into_iter().flat_map(|seed| [seed, doubled - 1 - seed]).collect();
    }
    places.into_iter().map(|seed| Some(seed).filter(|&seed| seed < entrants)).collect()
}

pub fn rounds(entrants: usize) -> u32 {
    entrants.next_power_of_two().trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bracket_of_eight_is_standard_and_byes_favour_seeds() {
        let one_based = |n| -> Vec<usize> {
            bracket(n).into_iter().map(|seed| seed.map_or(0, |seed| seed + 1)).collect()
        };
        assert_eq!(one_based(8), [1, 8, 4, 5, 2, 7, 3, 6]);
        assert_eq!(one_based(5), [1, 0, 4, 5, 2, 0, 3, 0]);
        assert_eq!(one_based(1), [1]);
        assert_eq!([1, 2, 3, 8, 9].map(rounds), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_better_seeds_meet_as_late_as_possible() {
        for entrants in 1..=64 {
            let mut left: Vec<Option<usize>> = bracket(entrants);
            while left.len() > 1 {
                left = left.chunks(2).map(|pair| pair.iter().flatten().copied().min()).collect();
                // The best seeds have won all matches.
                let mut there: Vec<usize> = left.iter().flatten().copied().collect();
                there.sort_unstable();
                assert!(there.iter().enumerate().all(|(rank, &seed)| rank == seed));
            }
        }
    }
}
