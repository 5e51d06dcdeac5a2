//! Plays a random match of every game in one thread with the library, without processes, streams or a clock.
//!
//! `cargo run --no-default-features --example in_process`

use referee::core::chance::{RandomStream, Seed};
use referee::core::erased::{BoardText, Rules};
use referee::core::{Misconfigured, Seat, Turn, Uniform, Viewer};
use referee::games::GAMES;

fn main() -> Result<(), Misconfigured> {
    for rules in GAMES {
        // The same seed gives the same match on every machine.
        let mut rng = Seed([7; 32]).match_key(rules.meta().id, "example", &[""; 0]).stream();
        let decisions = play(*rules, &mut rng)?;
        println!("{}: {decisions} decisions\n", rules.meta().title);
    }
    Ok(())
}

fn play(rules: &dyn Rules, rng: &mut RandomStream) -> Result<u32, Misconfigured> {
    let seating = rules.meta().seatings[0];
    let mut table = rules.open(&rules.default_options(), seating)?;
    let (mut decisions, mut drawn) = (0, Vec::new());
    loop {
        match table.turn() {
            Turn::Draw(draw) => {
                rng.draw(draw, &mut drawn);
                table.settle(&drawn);
            }
            Turn::Decide(seats) => {
                let seats: Vec<Seat> = seats.iter().collect();
                seats.iter().for_each(|&seat| table.prepare(seat));
                for seat in seats {
                    let choice = rng.uniform(table.count(seat) as u64) as usize;
                    table.play(seat, choice);
                    decisions += 1;
                }
            }
            Turn::Over(outcome) => {
                println!("{}", BoardText(&*table, Viewer::Public));
                match outcome.winner(seating) {
                    Some(side) => println!("side {side} wins: {}", outcome.reason),
                    None => println!("a draw: {}", outcome.reason),
                }
                return Ok(decisions);
            }
        }
        table.forget();
    }
}
