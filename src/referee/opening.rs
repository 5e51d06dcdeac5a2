//! Random moves that a match begins with.

use crate::core::chance::{MatchKey, Stream, Uniform};
use crate::core::erased::Table;
use crate::core::game::{Misconfigured, Turn};
use crate::core::seat::Seat;
use crate::referee::event::Stamp;
use crate::referee::match_::Match;

/// The longest opening, in plies.
pub const MAX_PLIES: u32 = 100;
/// How many openings are drawn, one after the other, while each ends the match.
pub const TRIES: u32 = 1_000;

/// Refuses openings that are not possible: of a game that has none, too long, or so long that the match would end in them.
/// Whether it would is tried out with a key of its own, so that the answer tells nothing about a seed.
///
/// # Errors
/// What is wrong with them.
pub fn check(table: &dyn Table, plies: u32) -> Result<(), Misconfigured> {
    let id = table.meta().id;
    if plies == 0 {
        Ok(())
    } else if !table.meta().openings {
        Err(Misconfigured(format!("{id} has no openings: its matches begin with the first turn")))
    } else if plies > MAX_PLIES {
        Err(Misconfigured(format!("an opening of {plies} plies is too long: it has at most {MAX_PLIES}")))
    } else if draw(table, plies, &mut MatchKey([0; 32]).opening()).is_none() {
        Err(Misconfigured(format!("{id} with these options: {}", none_found(plies))))
    } else {
        Ok(())
    }
}

fn none_found(plies: u32) -> String {
    format!("no opening of length {plies} in {TRIES} tries, each ended the match; make it shorter")
}

/// An opening as indices of prepared moves. One that ends the match is drawn again from the start, the stream running on.
fn draw(start: &dyn Table, plies: u32, stream: &mut Stream) -> Option<Vec<(Seat, usize)>> {
    (0..TRIES).find_map(|_| draw_once(start.fork(), plies, stream))
}

fn draw_once(mut table: Box<dyn Table>, plies: u32, stream: &mut Stream) -> Option<Vec<(Seat, usize)>> {
    let mut moves = Vec::new();
    while let Turn::Decide(seats) = table.turn() {
        if moves.len() == plies as usize {
            return Some(moves);
        }
        let seat = seats.iter().next()?;
        table.prepare(seat);
        let index = stream.uniform(table.count(seat) as u64) as usize;
        table.play(seat, index);
        moves.push((seat, index));
    }
    None
}

impl Match {
    /// Plays the opening, if the set-up wants one. Its moves are nobody's decisions.
    pub(super) fn play_opening(&mut self, stamp: Stamp, mut stream: Stream) {
        let plies = self.setup.header.opening_plies;
        if plies == 0 {
            return;
        }
        let Some(moves) = draw(&*self.table, plies, &mut stream) else {
            return self.break_off(stamp, &none_found(plies));
        };
        for (seat, index) in moves {
            self.table.prepare(seat);
            self.table.play_opening(seat, index);
            self.tell_facts(stamp);
        }
    }
}
