//! The search in random positions of every game.

use referee_game::{DrawOf, Game, Imagine, Known, Seat, Seating, Turn, Uniform, Viewer};
use referee_games::Visitor;
use serde_json::json;

use super::MonteCarlo;
use crate::bot::{Question, Search};
use crate::deadline::Deadline;
use crate::dice::Dice;

/// Options for short matches.
fn options<G: Game>() -> G::Options {
    let options = match G::META.id {
        "saxum" => json!({ "points_to_win": 6 }),
        _ => json!({}),
    };
    serde_json::from_value(options).expect("options of the game")
}

/// Calls `look` for every decision of a random match.
fn random_match<G: Game>(seating: Seating, rng: &mut Dice, mut look: impl FnMut(&G, Seat, &mut Dice)) {
    let mut position = G::start(&options::<G>(), seating).expect("a start");
    let (mut moves, mut drawn) = (Vec::new(), Vec::new());
    loop {
        match position.turn() {
            Turn::Draw(draw) => {
                rng.draw(draw.into(), &mut drawn);
                draw.settle(&mut position, &drawn, &mut |_| {});
            }
            Turn::Decide(seats) => {
                seats.iter().for_each(|seat| look(&position, seat, rng));
                for seat in seats.iter() {
                    moves.clear();
                    position.legal_moves(seat, &mut moves);
                    position.play_unchecked(
                        seat,
                        moves[rng.uniform(moves.len() as u64) as usize],
                        &mut |_| {},
                    );
                }
            }
            Turn::Over(_) => return,
        }
    }
}

/// The view of this seat after a round-trip through JSON.
fn seen<G: Imagine>(position: &G, seat: Seat) -> G::Seen {
    let view = serde_json::to_string(&position.view(Viewer::Seat(seat))).expect("JSON");
    serde_json::from_str(&view).expect("a view can be read back")
}

fn found<G: Imagine>(position: &G, seating: Seating, seat: Seat, playouts: u32) -> G::Move {
    let options = options::<G>();
    let known = Known { options: &options, seating, seat, turns_left: position.turns_left() };
    let question = Question { known, seen: seen(position, seat), deadline: Deadline::new(None, None) };
    let found = Search::<G>::search(&mut MonteCarlo::new(playouts, 1), &question);
    found.best.expect("a deciding seat has a move")
}

fn legal<G: Game>(position: &G, seat: Seat) -> Vec<G::Move> {
    let mut moves = Vec::new();
    position.legal_moves(seat, &mut moves);
    moves
}

struct IsLegal;

impl Visitor for IsLegal {
    fn game<G: Imagine>(&mut self) {
        for &seating in G::META.seatings {
            let mut rng = Dice::new(7);
            random_match::<G>(seating, &mut rng, |position, seat, rng| {
                if rng.uniform(8) == 0 {
                    let mv = found(position, seating, seat, 3);
                    assert!(legal(position, seat).contains(&mv), "{}: {mv} in {position:?}", G::META.id);
                }
            });
        }
    }
}

#[test]
fn what_it_finds_is_legal_in_every_game_and_seating() {
    referee_games::visit(&mut IsLegal);
}

/// Checks that the search finds moves that win immediately in every sampled world.
struct TakesTheWin;

const WORLDS: usize = 20;

impl TakesTheWin {
    /// Returns whether a move wins immediately in every world.
    fn wins<G: Game>(worlds: &[G], seating: Seating, seat: Seat, mv: G::Move) -> bool {
        worlds.iter().all(|world| {
            let mut next = world.clone();
            next.play_unchecked(seat, mv, &mut |_| {});
            matches!(next.turn(), Turn::Over(outcome) if outcome.winner(seating) == Some(seating.side(seat)))
        })
    }
}

impl Visitor for TakesTheWin {
    fn game<G: Imagine>(&mut self) {
        let (id, seating, mut rng, mut chances) = (G::META.id, G::META.seatings[0], Dice::new(7), 0);
        for _ in 0..200 {
            random_match::<G>(seating, &mut rng, |position, seat, rng| {
                if position.turn() != Turn::Decide(referee_game::SeatSet::one(seat)) || chances == 5 {
                    return;
                }
                let options = options::<G>();
                let known = Known { options: &options, seating, seat, turns_left: position.turns_left() };
                let seen = seen(position, seat);
                let worlds: Vec<G> = (0..WORLDS).map(|_| G::imagine(&known, &seen, rng)).collect();
                let is_win = |mv: &G::Move| Self::wins(&worlds, seating, seat, *mv);
                let moves = legal(position, seat);
                if moves.iter().any(is_win) && !moves.iter().all(is_win) {
                    let mv = found(position, seating, seat, 1000);
                    assert!(is_win(&mv), "{id}: {mv} in {position:?}");
                    chances += 1;
                }
            });
        }
        // With simultaneous decisions, whether a move wins depends on the other seat's choice.
        assert!(chances == 5 || G::META.simultaneous, "{id}: too few positions in which one move wins");
    }
}

#[test]
fn it_takes_a_win_in_one_in_every_game() {
    referee_games::visit(&mut TakesTheWin);
}

/// A search that ends only by its deadline.
struct Answers;

impl Visitor for Answers {
    fn game<G: Imagine>(&mut self) {
        let seating = G::META.seatings[0];
        let options = options::<G>();
        let (mut rng, mut left) = (Dice::new(7), 2);
        random_match::<G>(seating, &mut rng, |position, seat, _| {
            if left > 0 && legal(position, seat).len() > 1 {
                left -= 1;
                let known = Known { options: &options, seating, seat, turns_left: position.turns_left() };
                let deadline = Deadline::new(Some(std::time::Duration::from_millis(20)), None);
                let question = Question { known, seen: seen(position, seat), deadline };
                let found = Search::<G>::search(&mut MonteCarlo::new(u32::MAX, 1), &question);
                let mv = found.best.expect("a deciding seat has a move");
                assert!(legal(position, seat).contains(&mv) && deadline.is_over(), "{}", G::META.id);
            }
        });
    }
}

#[test]
fn a_deadline_ends_a_search_without_any_other_limit() {
    referee_games::visit(&mut Answers);
}
