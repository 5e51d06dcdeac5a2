//! How fast the rules are: perft, with and without counting the last ply in bulk, and random playouts.
//!
//! `cargo bench --bench rules`

use divan::Bencher;
use divan::counter::ItemsCount;
use referee::core::chance::{Seed, Stream};
use referee::core::{Game, Seating, Turn, Uniform, perft};
use referee::games::checkers::Checkers;
use referee::games::jeex::Jeex;
use referee::games::saxum::Saxum;

fn main() {
    divan::main();
}

fn start<G: Game>() -> G {
    let seating: Seating = G::META.seatings[0];
    G::start(&G::Options::default(), seating)
        .unwrap_or_else(|error| unreachable!("the defaults fit: {error}"))
}

/// Perft 9 from the start: 3,963,680 leaves.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn perft_9_bulk(bencher: Bencher) {
    let position: Checkers = start();
    bencher.counter(ItemsCount::new(3_963_680u64)).bench(|| perft::perft(&position, 9));
}

/// The same, making every last move too.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn perft_9_with_move_lists(bencher: Bencher) {
    fn count(position: &Checkers, depth: usize, lists: &mut [Vec<<Checkers as Game>::Move>]) -> u64 {
        let Some((list, deeper)) = lists.split_first_mut().filter(|_| depth > 0) else { return 1 };
        let Turn::Decide(seats) = position.turn() else { return 0 };
        let Some(seat) = seats.iter().next() else { return 0 };
        list.clear();
        position.legal_moves(seat, list);
        list.iter()
            .map(|&mv| {
                let mut next = position.clone();
                next.play(seat, mv, &mut |_| {});
                count(&next, depth - 1, deeper)
            })
            .sum()
    }
    let position: Checkers = start();
    let mut lists = vec![Vec::new(); 10];
    bencher.counter(ItemsCount::new(3_963_680u64)).bench_local(|| count(&position, 9, &mut lists));
}

fn playout<G: Game>(rng: &mut Stream, moves: &mut Vec<G::Move>, drawn: &mut Vec<u16>) -> u32 {
    let mut position: G = start();
    let mut decisions = 0;
    loop {
        match position.turn() {
            Turn::Over(_) => return decisions,
            Turn::Draw(draw) => {
                rng.draw(draw, drawn);
                position.settle(drawn, &mut |_| {});
            }
            Turn::Decide(seats) => {
                for seat in seats.iter() {
                    moves.clear();
                    position.legal_moves(seat, moves);
                    let mv = moves[rng.uniform(moves.len() as u64) as usize];
                    position.play(seat, mv, &mut |_| {});
                    decisions += 1;
                }
            }
        }
    }
}

/// A thousand random playouts from the start; the same ones in every sample.
#[divan::bench(types = [Checkers, Jeex, Saxum], sample_count = 10, sample_size = 1)]
fn random_playouts<G: Game>(bencher: Bencher) {
    let (mut moves, mut drawn) = (Vec::new(), Vec::new());
    bencher.counter(ItemsCount::new(1000u64)).bench_local(|| {
        let mut rng = Seed([7; 32]).match_key(G::META.id, "bench", &[""; 0]).stream();
        (0..1000).map(|_| playout::<G>(&mut rng, &mut moves, &mut drawn)).sum::<u32>()
    });
}
