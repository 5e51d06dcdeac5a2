//! Checks that imagined positions agree with the view that they are imagined from.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::check::{Witness, quote};
use referee_game::chance::RandomStream;
use referee_game::erased::{Knowledge, OpenDecision, Rules, Table};
use referee_game::seat::{Seat, Seating};
use referee_game::{Turn, Wrong, counted};

/// The number of positions that are imagined from a view.
const WORLDS: usize = 3;

/// Imagines positions from the views of those that decide in these.
pub(super) fn check(
    rules: &dyn Rules,
    options: &RawValue,
    positions: &[(Box<dyn Table>, Seating)],
    rng: &mut RandomStream,
    witness: &Witness,
) -> Result<String, Wrong> {
    let mut compared = 0;
    for (table, seating) in positions {
        let mut table = table.fork();
        let turns_left = table.turns_left();
        let Turn::Decide(decision) = table.ask() else { continue };
        for seat in decision.seats().iter() {
            let expected = sight(&*table, &decision, seat);
            let raw: Box<RawValue> = serde_json::from_slice(&expected[0])
                .unwrap_or_else(|error| unreachable!("a view is an object: {error}"));
            let knowledge = Knowledge { options, seating: *seating, seat, view: &raw, turns_left };
            let worlds = rules.imagine(&knowledge, WORLDS, rng).map_err(|error| witness.failure(error))?;
            for mut world in worlds.into_iter().flatten() {
                compared += 1;
                let Turn::Decide(decision) = world.ask() else {
                    unreachable!("a position in which the seat does not decide is refused")
                };
                let seen = sight(&*world, &decision, seat);
                if !are_same(&seen, &expected) {
                    let [imagined, seen] = [seen, expected].map(|sight| quote(&sight.concat()));
                    return Err(witness.failure(format!(
                        "seat {seat} would see {imagined} in the imagined position, not {seen}"
                    )));
                }
            }
        }
    }
    Ok(format!("{} that agree with the views", counted(compared, "position", "positions")))
}

/// The view and the legal moves of a seat that decides.
fn sight(table: &dyn Table, decision: &OpenDecision, seat: Seat) -> [Vec<u8>; 2] {
    let (mut view, mut legal) = (Vec::new(), Vec::new());
    table.write_view(decision, seat, &mut view);
    table.write_legal(decision, seat, &mut legal);
    [view, legal]
}

/// Returns whether they are the same values; objects may have another order.
fn are_same(one: &[Vec<u8>; 2], other: &[Vec<u8>; 2]) -> bool {
    let value = |json: &Vec<u8>| serde_json::from_slice::<Value>(json).ok();
    one.each_ref().map(value) == other.each_ref().map(value)
}
