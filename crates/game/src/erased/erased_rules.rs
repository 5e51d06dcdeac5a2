//! The rules of a game of this program.

use std::fmt;
use std::marker::PhantomData;

use serde_json::value::RawValue;

use crate::chance::Uniform;
use crate::disguise::Vocabulary;
use crate::endgames::{Endgames, TableFiles};
use crate::erased::seated::SeatedTable;
use crate::erased::{Knowledge, Rules, RulesError, Table};
use crate::game::{Game, Known, Meta, Turn};
use crate::notation::Notation;
use crate::openings::OpeningFile;
use crate::seat::{Seat, Seating, Viewer};
use crate::{Wrong, perft};

/// The first field of a view that differs from that of the position created from it, with its value there.
fn differing<G: Game>(given: &RawValue, position: &G, seat: Seat) -> Option<(String, serde_json::Value)> {
    let mut view = Vec::new();
    position.write_view(Viewer::Seat(seat), &mut view);
    if view == given.get().as_bytes() {
        return None;
    }
    // The options may still be equal in another form.
    let given: serde_json::Value = serde_json::from_str(given.get()).ok()?;
    let serde_json::Value::Object(fields) = serde_json::from_slice(&view).ok()? else { return None };
    fields.into_iter().find(|(name, value)| given[name.as_str()] != *value)
}

/// Implements [`Rules`] for the game `G`.
#[derive(Debug)]
pub struct ErasedRules<G: 'static> {
    game: PhantomData<fn() -> G>,
    endgames: Option<&'static dyn Endgames<G>>,
}

impl<G: Game> ErasedRules<G> {
    pub const RULES: ErasedRules<G> = ErasedRules { game: PhantomData, endgames: None };

    fn options(options: &RawValue) -> Result<G::Options, Wrong> {
        if !options.get().starts_with('{') {
            return Err(Wrong::from(format!("options of {}: expected a JSON object", G::META.id)));
        }
        serde_json::from_str(options.get())
            .map_err(|error| Wrong::from(format!("options of {}: {}", G::META.id, without_place(&error))))
    }

    fn start(options: &RawValue, seating: Seating) -> Result<(G, G::Options), Wrong> {
        let options = Self::options(options)?;
        Ok((G::start(&options, seating)?, options))
    }

    /// Creates a table with this position and the default options.
    pub fn at(position: G) -> Box<dyn Table> {
        Box::new(SeatedTable::new(position, raw(&G::Options::default()), None))
    }
}

/// Strips "at line 1 column 8" from the error: options come from the command line or a field, where a position
/// misleads.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value)
        .unwrap_or_else(|error| unreachable!("options have string keys and no hand-made JSON: {error}"))
}

impl<G: Game> Rules for ErasedRules<G> {
    fn meta(&self) -> &'static Meta {
        const { &G::META }
    }

    fn notations(&self) -> Vec<&dyn Notation> {
        G::NOTATION.into_iter().collect()
    }

    fn opening_files(&self) -> &'static [OpeningFile] {
        if G::META.openings.is_some() { G::OPENING_FILES } else { &[] }
    }

    fn vocabulary(&self) -> Option<Vocabulary> {
        G::VOCABULARY.map(|words| words())
    }

    fn with_endgames(&self, files: Box<dyn TableFiles>) -> Option<Result<&'static dyn Rules, Wrong>> {
        let of_endgames = |endgames| {
            let rules = ErasedRules { endgames: Some(endgames), ..Self::RULES };
            Box::leak(Box::new(rules)) as &'static dyn Rules
        };
        Some(G::ENDGAMES?(files).map(of_endgames))
    }

    fn endgame_pieces(&self) -> Option<u32> {
        self.endgames.map(Endgames::pieces)
    }

    fn default_options(&self) -> Box<RawValue> {
        raw(&G::Options::default())
    }

    #[cfg(feature = "schema")]
    fn schema(&self) -> serde_json::Value {
        crate::schema::document::<G>()
    }

    fn open(&self, options: &RawValue, seating: Seating) -> Result<Box<dyn Table>, RulesError> {
        let (position, options) = Self::start(options, seating)?;
        Ok(Box::new(SeatedTable::new(position, raw(&options), self.endgames)))
    }

    fn imagine(
        &self,
        knowledge: &Knowledge<'_>,
        count: usize,
        rng: &mut dyn Uniform,
    ) -> Result<Option<Vec<Box<dyn Table>>>, RulesError> {
        let Some(imagination) = G::IMAGINATION else { return Ok(None) };
        let &Knowledge { options, seating, seat, view, turns_left } = knowledge;
        let options = Self::options(options)?;
        let known = Known { options: &options, seating, seat, turns_left };
        let wrong = |what: &dyn fmt::Display| Wrong::from(format!("view of {}: {what}", G::META.id));
        let count = if G::META.hidden { count } else { 1 };
        let positions =
            imagination.positions(&known, view.get(), count, rng).map_err(|error| wrong(&error))?;
        if let Some(position) = positions.first()
            && let Some((field, expected)) = differing(view, position, seat)
        {
            return Err(wrong(&format_args!("`{field}` contradicts the rest, which gives {expected}")).into());
        }
        let mut moves = Vec::new();
        for position in &positions {
            let decides = |seat| {
                moves.clear();
                position.legal_moves(seat, &mut moves);
                !moves.is_empty()
            };
            match position.turn() {
                Turn::Decide(seats) if seats.iter().all(decides) => {}
                Turn::Decide(_) => return Err(wrong(&"the seat to move has no legal move").into()),
                Turn::Draw(_) => return Err(wrong(&"no seat is to move, yet the game is not over").into()),
                Turn::Over(_) => {}
            }
        }
        let options = raw(&options);
        let seated = |position| Box::new(SeatedTable::new(position, options.clone(), None)) as Box<dyn Table>;
        Ok(Some(positions.into_iter().map(seated).collect()))
    }

    fn divide(&self, options: &RawValue, depth: u32) -> Result<Vec<(String, u64)>, RulesError> {
        let (position, _) = Self::start(options, G::META.seatings[0])?;
        Ok(perft::divide(&position, depth)?
            .into_iter()
            .map(|(mv, leaves)| (mv.to_string(), leaves))
            .collect())
    }

    fn perft(&self, options: &RawValue, depth: u32) -> Result<u64, RulesError> {
        let (position, _) = Self::start(options, G::META.seatings[0])?;
        Ok(perft::perft(&position, depth)?)
    }
}
