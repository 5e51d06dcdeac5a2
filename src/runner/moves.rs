//! The moves of matches and sets as digests, by which copies are found.

use sha2::{Digest, Sha256};

use crate::record::{Difference, RecordEntry, RecordedEvent, lines};
use crate::runner::fixture::Fixture;
use crate::stats::sample::{MovesDigest, SetMoves};

/// Digests of a match: of its options and opening, and of these and all moves, by seat. The order between seats does not
/// matter: simultaneous answers arrive in any order.
///
/// # Errors
/// The first invalid line of the record.
pub(super) fn moves_of_match(fixture: &Fixture, record: &[u8]) -> Result<SetMoves, Difference> {
    let seats = fixture.bots.len();
    let (mut openings, mut all) = (vec![String::new(); seats], vec![String::new(); seats]);
    for line in lines(record) {
        if let RecordEntry::Event { event: RecordedEvent::Move(moved), .. } = line?.entry
            && moved.seat.index() < seats
        {
            let of_opening = moved.opening.then_some(&mut openings);
            for moves in of_opening.into_iter().chain([&mut all]) {
                let moves = &mut moves[moved.seat.index()];
                moves.push('\n');
                moves.push_str(&moved.text);
            }
        }
    }
    let digest = |of_seats: &[String]| {
        let mut hash = Sha256::new();
        hash.update(fixture.options.get());
        for (seat, moves) in of_seats.iter().enumerate() {
            hash.update(format!("\n{seat}{moves}"));
        }
        hash.finalize().into()
    };
    Ok(SetMoves { opening: digest(&openings), all: digest(&all) })
}

/// Digests of a set, of those of its matches with the entrants by seat, in any order.
pub(super) fn moves_of_set<Seats: Ord + AsRef<[u8]>>(mut matches: Vec<(Seats, SetMoves)>) -> SetMoves {
    matches.sort_by(|(one, _), (other, _)| one.cmp(other));
    let digest = |of: &dyn Fn(&SetMoves) -> MovesDigest| {
        let mut hash = Sha256::new();
        for (seats, moves) in &matches {
            hash.update(seats);
            hash.update(of(moves));
        }
        hash.finalize().into()
    };
    SetMoves { opening: digest(&|moves| moves.opening), all: digest(&|moves| moves.all) }
}
