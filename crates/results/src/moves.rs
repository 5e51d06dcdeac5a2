//! The moves of matches and sets as digests, by which copies are found.

use referee_match::record::{Difference, RecordEntry, RecordedEvent, lines};
use referee_stats::sample::{MatchMoves, MovesDigest, SetMoves};
use sha2::{Digest, Sha256};

/// The moves of a match by seat. The order between seats does not matter: simultaneous answers arrive in any order.
struct MovesBySeat {
    /// The options of the game as the record has them.
    options: String,
    openings: Vec<String>,
    all: Vec<String>,
}

impl MovesBySeat {
    fn of(seats: usize, record: &[u8]) -> Result<MovesBySeat, Difference> {
        let none = vec![String::new(); seats];
        let mut found = MovesBySeat { options: String::new(), openings: none.clone(), all: none };
        for line in lines(record) {
            match line?.entry {
                RecordEntry::Record(header) => header.options.get().clone_into(&mut found.options),
                RecordEntry::Event { event: RecordedEvent::Move(moved), .. }
                    if moved.seat.index() < seats =>
                {
                    let of_opening = moved.opening.then_some(&mut found.openings);
                    for moves in of_opening.into_iter().chain([&mut found.all]) {
                        let moves = &mut moves[moved.seat.index()];
                        moves.push('\n');
                        moves.push_str(&moved.text);
                    }
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn digests(&self, options: &str) -> SetMoves {
        let digest = |of_seats: &[String]| {
            let mut hash = Sha256::new();
            hash.update(options);
            for (seat, moves) in of_seats.iter().enumerate() {
                hash.update(format!("\n{seat}{moves}"));
            }
            hash.finalize().into()
        };
        let opening = digest(&self.openings);
        SetMoves { opening, start: opening, all: digest(&self.all) }
    }
}

/// Digests of a match with this number of seats: of its options and opening, and of these and all moves.
///
/// # Errors
/// The first invalid line of the record.
pub fn moves_of_match(seats: usize, options: &str, record: &[u8]) -> Result<SetMoves, Difference> {
    Ok(MovesBySeat::of(seats, record)?.digests(options))
}

/// The moves of a match with this number of seats in few bytes, from its record alone.
///
/// # Errors
/// The first invalid line of the record.
pub fn short_moves_of_match(seats: usize, record: &[u8]) -> Result<MatchMoves, Difference> {
    let moves = MovesBySeat::of(seats, record)?;
    let SetMoves { opening, all, .. } = moves.digests(&moves.options);
    let [opening, all] = [opening, all].map(|digest| {
        let [first, ..] = digest.as_chunks().0 else { unreachable!("a digest has 32 bytes") };
        u64::from_le_bytes(*first)
    });
    Ok(MatchMoves { opening, all })
}

/// Digests of a set, of those of its matches with the entrants by seat, in any order.
pub fn moves_of_set<Seats: Ord + AsRef<[u8]>>(mut matches: Vec<(Seats, SetMoves)>) -> SetMoves {
    matches.sort_by(|(one, _), (other, _)| one.cmp(other));
    let digest = |has_seats: bool, of: fn(&SetMoves) -> MovesDigest| {
        let mut hash = Sha256::new();
        for (seats, moves) in &matches {
            if has_seats {
                hash.update(seats);
            }
            hash.update(of(moves));
        }
        hash.finalize().into()
    };
    let opening = digest(false, |moves| moves.opening);
    SetMoves { opening, start: digest(true, |moves| moves.opening), all: digest(true, |moves| moves.all) }
}
