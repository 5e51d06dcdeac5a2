//! The openings and moves of matches and sets as digests, by which copies are found.

use referee_match::record::{Difference, RecordEntry, RecordedEvent, lines};
use referee_stats::sample::{MatchMoves, MovesDigest, SetMoves};
use sha2::{Digest, Sha256};

use crate::FinishedMatch;

/// Digests of a match: of its opening, and of this and all moves after it. The opening is the position to which it leads, since
/// several moves may lead to the same one; in games without openings, the options of the game.
///
/// # Errors
/// The first invalid line of the record.
pub fn moves_of_match(finished: &FinishedMatch, record: &[u8]) -> Result<SetMoves, Difference> {
    let seats = finished.seating.seats();
    let (mut opening, mut all) = (Sha256::new(), Sha256::new());
    // The order between seats does not matter: simultaneous answers arrive in any order.
    let mut moves = vec![String::new(); seats];
    for line in lines(record) {
        match line?.entry {
            RecordEntry::Record(header) if finished.opened_at.is_none() => {
                opening.update(header.options.get());
            }
            RecordEntry::Event { event: RecordedEvent::Move(moved), .. }
                if moved.seat.index() < seats && !moved.opening =>
            {
                let moves = &mut moves[moved.seat.index()];
                moves.push('\n');
                moves.push_str(&moved.text);
            }
            _ => {}
        }
    }
    opening.update(finished.opened_at.unwrap_or_default());
    let opening: MovesDigest = opening.finalize().into();
    all.update(opening);
    for (seat, moves) in moves.iter().enumerate() {
        all.update(format!("\n{seat}{moves}"));
    }
    Ok(SetMoves { opening, start: opening, all: all.finalize().into() })
}

/// The same in few bytes.
///
/// # Errors
/// The first invalid line of the record.
pub fn short_moves_of_match(finished: &FinishedMatch, record: &[u8]) -> Result<MatchMoves, Difference> {
    let SetMoves { opening, all, .. } = moves_of_match(finished, record)?;
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
