//! The openings of a run.

use std::sync::Arc;

use referee_game::chance::{Seed, Uniform};
use referee_game::erased::Rules;
use referee_game::openings::{GivenOpening, ReadOpenings};
use referee_game::{Flaw, Seating, counted};
use referee_match::Limits;
use referee_match::opening::{NoOpening, Opening, check};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The openings of the matches of a run: the options of the game and the opening. There is at least one; after the
/// last, they start again from the first, unless they are drawn.
#[derive(Debug)]
pub struct Openings {
    list: Vec<(Arc<RawValue>, Arc<Opening>)>,
    /// The run seed, if every match or set draws one.
    drawn: Option<Seed>,
}

impl Openings {
    /// Uses this opening for every match.
    pub fn same(options: Box<RawValue>, opening: Opening) -> Openings {
        Openings { list: vec![(options.into(), Arc::new(opening))], drawn: None }
    }

    /// Validates the openings of a file. A start position of the file overrides `options`, those of the setup. If the
    /// openings were cut to this number of plies, those that are shorter or invalid are left out, and returned besides.
    ///
    /// # Errors
    /// All errors of the file, in order.
    pub fn given(
        rules: &dyn Rules,
        seating: Seating,
        options: &Map<String, Value>,
        read: ReadOpenings,
        plies: Option<usize>,
    ) -> Result<(Openings, Vec<Flaw>), Vec<Flaw>> {
        let (mut openings, mut flaws) = (Vec::new(), Vec::new());
        for opening in read {
            let opening = opening.and_then(|given| long_enough(given, plies));
            match opening.and_then(|given| try_out(rules, seating, options.clone(), given)) {
                Ok(opening) => openings.push(opening),
                Err(flaw) => flaws.push(flaw),
            }
        }
        if openings.is_empty() && flaws.is_empty() {
            flaws.push(Flaw { game: 0, ply: 0, line: 1, what: "the file contains no openings".to_owned() });
        }
        let is_usable = flaws.is_empty() || plies.is_some() && !openings.is_empty();
        if is_usable { Ok((Openings { list: openings, drawn: None }, flaws)) } else { Err(flaws) }
    }

    #[expect(clippy::len_without_is_empty, reason = "there is at least one")]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether each match or set draws its opening, independently of others.
    pub fn are_drawn(&self) -> bool {
        self.drawn.is_some() || self.list.iter().all(|(_, opening)| matches!(**opening, Opening::Random(_)))
    }

    /// Begins with another opening of the order, counted from 1, and continues with the first after the last.
    pub fn begin_at(&mut self, number: u32) {
        let first = (number as usize).saturating_sub(1) % self.list.len();
        self.list.rotate_left(first);
    }

    /// Shuffles the openings; the order is derived from the run seed.
    pub fn shuffle(&mut self, run: &Seed) {
        run.opening_order().shuffle(&mut self.list);
    }

    /// Lets every match or set draw its opening, independently of others; the draws are derived from the run seed.
    pub fn draw(&mut self, run: &Seed) {
        self.drawn = Some(*run);
    }

    /// The opening of a match or set, by its number counted from 1.
    pub fn of(&self, number: u32) -> (Arc<RawValue>, Arc<Opening>) {
        let openings = self.list.len();
        let at = match &self.drawn {
            Some(run) => run.opening_of(number).uniform(openings as u64) as usize,
            None => (number as usize).saturating_sub(1) % openings,
        };
        self.list[at].clone()
    }
}

fn long_enough(given: GivenOpening, plies: Option<usize>) -> Result<GivenOpening, Flaw> {
    let has = given.moves.len();
    match plies {
        Some(plies) if has < plies => {
            let what = format!("it has {}, not {plies}", counted(has as u64, "ply", "plies"));
            Err(Flaw { game: given.game, ply: 0, line: given.line, what })
        }
        _ => Ok(given),
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
    check(&*table, &opening, &Limits::TODAY).map_err(|error| match error {
        NoOpening::Unplayable { ply, what } => flaw(ply, what),
        NoOpening::RulesFailed(failed) => flaw(0, failed.to_string()),
    })?;
    Ok((options.into(), Arc::new(opening)))
}
