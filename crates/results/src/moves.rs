//! The openings and moves of matches and sets as digests, by which copies are found.

use referee_match::Match;
use referee_stats::sample::{MovesDigest, SetMoves};
use sha2::{Digest, Sha256};

/// Digests of a match: of its opening, and of this and all moves after it. The opening is the position to which it leads, since
/// several moves may lead to the same one; in games without openings, the options of the game.
pub(crate) fn moves_of_match(play: &Match) -> SetMoves {
    let (mut opening, mut all) = (Sha256::new(), Sha256::new());
    if play.opened_at().is_none() {
        opening.update(play.setup().header.options.get());
    }
    opening.update(play.opened_at().unwrap_or_default());
    let opening: MovesDigest = opening.finalize().into();
    all.update(opening);
    // The order between seats does not matter: simultaneous answers arrive in any order.
    for (seat, moves) in play.moves().iter().enumerate() {
        all.update(format!("\n{seat}"));
        all.update(moves);
    }
    SetMoves { opening, start: opening, all: all.finalize().into() }
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
