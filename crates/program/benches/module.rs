//! Cost of a decision of a game that is a program, without bots and matches: random playouts. Given
//! directories, of their games, otherwise of the example games that are WebAssembly modules: `cargo bench -p
//! referee-program --features wasm [-- DIRECTORY...]`.
#![expect(clippy::disallowed_methods, reason = "a bench measures")]

use std::path::{Path, PathBuf};
use std::time::Instant;

use referee_bots::Launch;
use referee_game::Turn;
use referee_game::chance::{RandomKey, RandomStream, Uniform};
use referee_game::erased::Rules;
use referee_program::load;

const EXAMPLES: [&str; 3] = ["rock_paper_scissors", "go", "shogi"];
const ROUNDS: usize = 7;
const DECISIONS: u32 = 5_000;

/// Microseconds per decision of random playouts.
fn round(rules: &dyn Rules, random: &mut RandomStream) -> f64 {
    let (start, mut decisions, mut drawn) = (Instant::now(), 0, Vec::new());
    let seating = rules.meta().seating(None::<u8>).expect("the default seats");
    while decisions < DECISIONS {
        let mut table = rules.open(&rules.default_options(), seating).expect("an initial position");
        loop {
            match table.ask() {
                Turn::Decide(decision) => {
                    let seats = decision.seats().iter();
                    let choose = |seat| random.uniform(table.count(&decision, seat) as u64) as usize;
                    let indices: Vec<usize> = seats.map(choose).collect();
                    table.play(decision, &indices).expect("a position");
                    decisions += 1;
                }
                Turn::Draw(draw) => {
                    random.draw(draw, &mut drawn);
                    table.settle(&drawn).expect("a position");
                }
                Turn::Over(_) => break,
            }
            table.forget();
        }
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(decisions)
}

fn main() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/games");
    let mut given: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| arg != "--bench").map(PathBuf::from).collect();
    if given.is_empty() {
        given = EXAMPLES.map(|name| examples.join(name)).into();
    }
    for directory in given {
        let rules = load(&directory, &Launch::Directly).expect("a game");
        let mut random = RandomKey([1; 32]).stream();
        let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| round(rules, &mut random)).collect();
        rounds.sort_by(f64::total_cmp);
        let (least, median) = (rounds[0], rounds[ROUNDS / 2]);
        println!("{}: {median:.1} us per decision, at least {least:.1}", rules.meta().id);
    }
    referee_program::remove_copies();
}
