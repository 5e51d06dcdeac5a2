//! The openings of a run.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::core::chance::{Seed, Uniform};
use crate::core::erased::Rules;
use crate::core::openings::GivenOpening;
use crate::core::{Flaw, Seating};
use crate::referee::Limits;
use crate::referee::opening::{Opening, Unplayable, check};

/// The openings of the matches of a run: the options of the game and the opening. There is at least one; after the
/// last, they start again from the first.
#[derive(Debug)]
pub struct Openings(Vec<(Arc<RawValue>, Arc<Opening>)>);

impl Openings {
    /// The same opening for every match.
    pub fn same(options: Box<RawValue>, opening: Opening) -> Openings {
        Openings(vec![(options.into(), Arc::new(opening))])
    }

    /// Validates the openings of a file. A start position of the file overrides `options`, those of the setup.
    ///
    /// # Errors
    /// All errors of the file, in order.
    pub fn given(
        rules: &dyn Rules,
        seating: Seating,
        options: &Map<String, Value>,
        read: Vec<Result<GivenOpening, Flaw>>,
    ) -> Result<Openings, Vec<Flaw>> {
        let (mut openings, mut flaws) = (Vec::new(), Vec::new());
        for opening in read {
            match opening.and_then(|given| try_out(rules, seating, options.clone(), given)) {
                Ok(opening) => openings.push(opening),
                Err(flaw) => flaws.push(flaw),
            }
        }
        if openings.is_empty() && flaws.is_empty() {
            flaws.push(Flaw { game: 0, ply: 0, line: 1, what: "the file contains no openings".to_owned() });
        }
        if flaws.is_empty() { Ok(Openings(openings)) } else { Err(flaws) }
    }

    /// Shuffles the openings; the order is derived from the run seed.
    pub fn shuffle(&mut self, run: &Seed) {
        run.opening_order().shuffle(&mut self.0);
    }

    /// The opening of a match or set, by its number counted from 1.
    pub fn of(&self, number: u32) -> (Arc<RawValue>, Arc<Opening>) {
        self.0[(number as usize).saturating_sub(1) % self.0.len()].clone()
    }
}

fn try_out(
    rules: &dyn Rules,
    seating: Seating,
    mut options: Map<String, Value>,
    given: GivenOpening,
) -> Result<(Arc<RawValue>, Arc<Opening>), Flaw> {
    let GivenOpening { game, line, options: start, moves } = given;
    let flaw = |ply, what| Flaw { game, ply, line, what };
    options.extend(start);
    let options = serde_json::value::to_raw_value(&options).map_err(|error| flaw(0, error.to_string()))?;
    let table = rules.open(&options, seating).map_err(|error| flaw(0, error.to_string()))?;
    let opening = Opening::Given(moves);
    check(&*table, &opening, &Limits::TODAY).map_err(|Unplayable { ply, what }| flaw(ply, what))?;
    Ok((options.into(), Arc::new(opening)))
}
