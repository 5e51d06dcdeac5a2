//! The search in random positions of every game.

use referee::core::{Game, Known, Seat, Seating, Turn, Uniform, Viewer};
use referee::games::{self, Visitor};
use serde_json::json;

use super::MonteCarlo;
use crate::bot::{Question, Search};
use crate::deadline::Deadline;
use crate::dice::Dice;

/// Matches that end in time for a test.
fn options<G: Game>() -> G::Options {
    let options = match G::META.id {
        "saxum" => json!({ "points_to_win": 6 }),
        _ => json!({}),
    };
    serde_json::from_value(options).expect("options of the game")
}

/// Shows every decision of a random match to `look` until it has seen enough.
fn random_match<G: Game>(seating: Seating, rng: &mut Dice, mut look: impl FnMut(&G, Seat, &mut Dice)) {
    let mut position = G::start(&options::<G>(), seating).expect("a start");
    let (mut moves, mut drawn) = (Vec::new(), Vec::new());
    loop {
        match position.turn() {
            Turn::Draw(draw) => {
                rng.draw(draw, &mut drawn);
                position.settle(&drawn, &mut |_| {});
            }
            Turn::Decide(seats) => {
                seats.iter().for_each(|seat| look(&position, seat, rng));
                for seat in seats.iter() {
                    moves.clear();
                    position.legal_moves(seat, &mut moves);
                    position.play(seat, moves[rng.uniform(moves.len() as u64) as usize], &mut |_| {});
                }
            }
            Turn::Over(_) => return,
        }
    }
}

/// What a bot in this seat gets to know, as it gets to know it.
fn seen<G: Game>(position: &G, seat: Seat) -> G::Seen {
    let view = serde_json::to_string(&position.view(Viewer::Seat(seat))).expect("JSON");
    serde_json::from_str(&view).expect("a view can be read back")
}

fn found<G: Game>(position: &G, seating: Seating, seat: Seat, playouts: u32) -> G::Move {
    let options = options::<G>();
    let known = Known { options: &options, seating, seat, turns_left: position.turns_left() };
    let question = Question { known, seen: seen(position, seat), deadline: Deadline::new(None, None) };
    let found = Search::<G>::search(&mut MonteCarlo::new(playouts, 1), &question);
    found.best.expect("who decides has a move")
}

fn legal<G: Game>(position: &G, seat: Seat) -> Vec<G::Move> {
    let mut moves = Vec::new();
    position.legal_moves(seat, &mut moves);
    moves
}

struct IsLegal;

impl Visitor for IsLegal {
    fn game<G: Game>(&mut self) {
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
    games::visit(&mut IsLegal);
}

/// Takes a win where a move wins at once in all that the seat may imagine.
struct TakesTheWin;

const WORLDS: usize = 20;

impl TakesTheWin {
    /// Whether a move wins at once in every world.
    fn wins<G: Game>(worlds: &[G], seating: Seating, seat: Seat, mv: G::Move) -> bool {
        worlds.iter().all(|world| {
            let mut next = world.clone();
            next.play(seat, mv, &mut |_| {});
            matches!(next.turn(), Turn::Over(outcome) if outcome.winner(seating) == Some(seating.side(seat)))
        })
    }
}

impl Visitor for TakesTheWin {
    fn game<G: Game>(&mut self) {
        let (id, seating, mut rng, mut chances) = (G::META.id, G::META.seatings[0], Dice::new(7), 0);
        for _ in 0..200 {
            random_match::<G>(seating, &mut rng, |position, seat, rng| {
                if position.turn() != Turn::Decide(referee::core::SeatSet::one(seat)) || chances == 5 {
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
        // Where seats choose in secret, what wins may be what the other has chosen.
        assert!(chances == 5 || G::META.simultaneous, "{id}: too few positions in which one move wins");
    }
}

#[test]
fn it_takes_a_win_in_one_in_every_game() {
    games::visit(&mut TakesTheWin);
}

/// Thinks for ever, were it not for the deadline.
struct Answers;

impl Visitor for Answers {
    fn game<G: Game>(&mut self) {
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
                let mv = found.best.expect("who decides has a move");
                assert!(legal(position, seat).contains(&mv) && deadline.is_over(), "{}", G::META.id);
            }
        });
    }
}

#[test]
fn a_deadline_ends_a_search_without_any_other_limit() {
    games::visit(&mut Answers);
}
