//! Random playouts, for search bots.

use crate::chance::Uniform;
use crate::erased::{RulesFailed, Table};
use crate::game::{DrawOf, Game, Turn};
use crate::outcome::Outcome;
use crate::seat::{Seat, Seating};

/// Maximum length of a playout, in decisions and draws.
pub const LONGEST: u32 = 20_000;
/// The number of moves that a seat considers before it plays one that loses immediately.
const CANDIDATES: u32 = 4;

/// Plays random moves until the game is over. `None` after [`LONGEST`] decisions and draws, and if a seat has no legal move,
/// which occurs only in positions that no match reaches.
///
/// Without hidden information, a seat draws another move instead of one that loses immediately, up to three times. With
/// hidden information this would use the hidden information.
///
/// ```
/// use referee_game::chance::RandomKey;
/// use referee_game::playout::playout;
/// use referee_game::{Game, Seating};
/// use referee_games::checkers::Checkers;
///
/// let seating = Seating::new(2, 2);
/// // Black has three men, White one.
/// let options = serde_json::from_str(r#"{"fen":"B:W23:B9,10,11"}"#)?;
/// let position = Checkers::start(&options, seating)?;
/// let mut rng = RandomKey([7; 32]).stream();
/// let outcomes = (0..100).filter_map(|_| playout(position.clone(), seating, &mut rng));
/// assert!(outcomes.filter(|outcome| outcome.winner(seating) == Some(0)).count() > 60);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn playout<G: Game>(mut position: G, seating: Seating, rng: &mut impl Uniform) -> Option<Outcome> {
    let (mut moves, mut drawn) = (Vec::new(), Vec::new());
    for _ in 0..LONGEST {
        match position.turn() {
            Turn::Decide(seats) => {
                for seat in seats.iter() {
                    moves.clear();
                    position.legal_moves(seat, &mut moves);
                    if moves.is_empty() {
                        return None;
                    }
                    decide(&mut position, seating, seat, &moves, rng);
                }
            }
            Turn::Draw(draw) => {
                rng.draw(draw.into(), &mut drawn);
                draw.settle(&mut position, &drawn, &mut |_| {});
            }
            Turn::Over(outcome) => return Some(outcome),
        }
    }
    None
}

/// Plays random moves on a table until the game is over. `None` after [`LONGEST`] decisions and draws, and at a decision
/// whose moves are not listed.
///
/// # Errors
/// When the rules fail.
pub(crate) fn playout_table(
    mut table: Box<dyn Table>,
    mut rng: &mut dyn Uniform,
) -> Result<Option<Outcome>, RulesFailed> {
    let mut drawn = Vec::new();
    for _ in 0..LONGEST {
        match table.ask() {
            Turn::Decide(decision) => {
                if decision.seats().iter().any(|seat| !table.lists(&decision, seat)) {
                    break;
                }
                let choose = |seat| rng.uniform(table.count(&decision, seat) as u64) as usize;
                let indices: Vec<usize> = decision.seats().iter().map(choose).collect();
                table.play(decision, &indices)?;
            }
            Turn::Draw(draw) => {
                Uniform::draw(&mut rng, draw, &mut drawn);
                table.settle(&drawn)?;
            }
            Turn::Over(outcome) => return Ok(Some(outcome)),
        }
        table.forget();
    }
    Ok(None)
}

fn decide<G: Game>(
    position: &mut G,
    seating: Seating,
    seat: Seat,
    moves: &[G::Move],
    rng: &mut impl Uniform,
) {
    let mut any = || moves[rng.uniform(moves.len() as u64) as usize];
    if G::META.hidden {
        return position.play_unchecked(seat, any(), &mut |_| {});
    }
    let mut next = position.clone();
    for _ in 0..CANDIDATES {
        next = position.clone();
        next.play_unchecked(seat, any(), &mut |_| {});
        let is_lost = matches!(next.turn(), Turn::Over(outcome) if outcome.standing(seating.side(seat)) > 0);
        if !is_lost {
            break;
        }
    }
    *position = next;
}
