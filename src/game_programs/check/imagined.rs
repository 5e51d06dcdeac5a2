//! Whether imagined positions agree with the view that they are imagined from.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::game::chance::RandomStream;
use crate::game::erased::{Knowledge, NotOpened, Rules, RulesFailed, Table};
use crate::game::seat::{Seat, Seating};
use crate::game::{Turn, counted};
use crate::game_programs::check::{StepFailure, Witness, quote};

/// The number of positions that are imagined from a view.
const WORLDS: usize = 3;

/// An imagined position looks different to the seat whose view it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seat {seat} would see {imagined} in the imagined position, not {seen}")]
pub(super) struct Disagrees {
    seat: Seat,
    imagined: String,
    seen: String,
}

/// Imagines positions from the views of those that decide in these.
pub(super) fn check(
    rules: &dyn Rules,
    options: &RawValue,
    positions: &[(Box<dyn Table>, Seating)],
    rng: &mut RandomStream,
    witness: &Witness,
) -> Result<String, StepFailure> {
    let mut compared = 0;
    for (table, seating) in positions {
        let mut table = table.fork();
        let turns_left = table.turns_left();
        let Turn::Decide(decision) = table.ask() else { continue };
        for seat in decision.seats().iter() {
            let (mut view, mut legal) = (Vec::new(), Vec::new());
            table.write_view(&decision, seat, &mut view);
            table.write_legal(&decision, seat, &mut legal);
            let raw: Box<RawValue> = serde_json::from_slice(&view)
                .unwrap_or_else(|error| unreachable!("a view is an object: {error}"));
            let knowledge = Knowledge { options, seating: *seating, seat, view: &raw, turns_left };
            let worlds = rules.imagine(&knowledge, WORLDS, rng).map_err(|error| witness.failure(error))?;
            for world in worlds.into_iter().flatten() {
                compared += 1;
                let seen = sight(world, seat).map_err(|failed| witness.failure(NotOpened::from(failed)))?;
                let expected = [view.clone(), legal.clone()];
                if !are_same(&seen, &expected) {
                    let [imagined, seen] = [seen, expected].map(|sight| quote(&sight.concat()));
                    let disagrees = Disagrees { seat, imagined, seen };
                    return Err(StepFailure::Disagrees { disagrees, request: quote(&witness.kept().latest) });
                }
            }
        }
    }
    Ok(format!("{} that agree with the views", counted(compared, "position", "positions")))
}

/// The view and the legal moves of a seat that decides.
fn sight(mut world: Box<dyn Table>, seat: Seat) -> Result<[Vec<u8>; 2], RulesFailed> {
    let Turn::Decide(decision) = world.ask() else {
        return Err(RulesFailed("nobody decides in an imagined position".into()));
    };
    let (mut view, mut legal) = (Vec::new(), Vec::new());
    world.write_view(&decision, seat, &mut view);
    world.write_legal(&decision, seat, &mut legal);
    Ok([view, legal])
}

/// Whether they are the same values; objects may have another order.
fn are_same(one: &[Vec<u8>; 2], other: &[Vec<u8>; 2]) -> bool {
    let value = |json: &Vec<u8>| serde_json::from_slice::<Value>(json).ok();
    one.each_ref().map(value) == other.each_ref().map(value)
}
