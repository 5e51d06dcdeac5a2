//! Games allocate nothing per move: neither generating moves into a list with sufficient capacity, nor playing a
//! move, nor copying a position.
//!
//! The counter is global, so there is only one test in this file.

use std::alloc::System;
use std::hint::black_box;

use referee::game::chance::{RandomKey, Uniform};
use referee::game::{DrawOf, Game, Imagine, Seating, Turn};
use referee::games::{Visitor, visit};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Random playouts in each seating.
const PLAYOUTS: u8 = 20;
/// The thread of the test harness allocates a little when the test begins. Allocations of a game occur in every
/// attempt.
const ATTEMPTS: usize = 5;

/// Plays at random; counts decisions and allocations.
fn playout<G: Game>(
    seating: Seating,
    number: u8,
    moves: &mut Vec<G::Move>,
    drawn: &mut Vec<u32>,
) -> (u32, Stats) {
    let mut rng = RandomKey([number; 32]).stream();
    let mut position = G::start(&G::Options::default(), seating).unwrap();
    let mut decisions = 0;
    // The first number of a stream stores its hashed key.
    rng.uniform(1);
    let region = Region::new(ALLOCATOR);
    loop {
        match position.turn() {
            Turn::Over(_) => return (decisions, region.change()),
            Turn::Draw(draw) => {
                rng.draw(draw.into(), drawn);
                draw.settle(&mut position, drawn, &mut |_| {});
            }
            Turn::Decide(seats) => {
                let mut next = position.clone();
                for seat in seats.iter() {
                    moves.clear();
                    position.legal_moves(seat, moves);
                    next.play_unchecked(seat, moves[rng.uniform(moves.len() as u64) as usize], &mut |_| {});
                    decisions += 1;
                }
                position = next;
            }
        }
    }
}

struct NoAllocations(u32);

impl Visitor for NoAllocations {
    fn game<G: Imagine>(&mut self) {
        for &seating in G::META.seatings {
            for number in 0..PLAYOUTS {
                let (mut moves, mut drawn) = (Vec::new(), Vec::new());
                let mut again = || playout::<G>(seating, number, &mut moves, &mut drawn);
                // The lists get their capacity when the same moves are played a second time.
                let (decisions, _) = again();
                let takes_nothing = (0..ATTEMPTS).any(|_| again().1 == Stats::default());
                assert!(takes_nothing, "{} in {decisions} decisions: {:?}", G::META.id, again().1);
                self.0 += decisions;
            }
        }
    }
}

#[test]
fn moves_do_not_allocate() {
    let region = Region::new(ALLOCATOR);
    drop(black_box(Box::new(1)));
    assert_ne!(region.change().allocations, 0, "the counter does not count");

    let mut visitor = NoAllocations(0);
    visit(&mut visitor);
    assert!(visitor.0 > 1000, "{} decisions are few", visitor.0);
}
