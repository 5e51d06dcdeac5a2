//! Checks views, moves and events against the schemas of the game.

use jsonschema::Validator;
use serde_json::Value;

use crate::check::quote;
use referee_game::erased::Table;
use referee_game::seat::{Seating, Viewer};
use referee_game::{Turn, Wrong};

/// The parts of the schema of a game.
const PARTS: [&str; 3] = ["View", "Move", "Event"];

pub(super) struct GameSchemas {
    /// In the order of [`PARTS`].
    validators: [Validator; 3],
    /// The number of values that were compared.
    pub(super) compared: u32,
    /// The first value that differs.
    pub(super) differs: Option<String>,
}

impl GameSchemas {
    /// Reads the schemas of a document with definitions.
    pub(super) fn new(document: &Value) -> Result<GameSchemas, Wrong> {
        let validator = |part: &'static str| {
            let mut schema = document.clone();
            schema["$ref"] = format!("#/$defs/{part}").into();
            jsonschema::draft202012::new(&schema)
                .map_err(|error| Wrong::at(format!("the schema of `{part}`"), error))
        };
        let [view, mv, event] = PARTS.map(validator);
        Ok(GameSchemas { validators: [view?, mv?, event?], compared: 0, differs: None })
    }

    /// Compares what a position shows: views and moves of those that decide, and events in every form.
    pub(super) fn compare(&mut self, table: &mut dyn Table, seating: Seating) {
        let viewers = || seating.all().iter().map(Viewer::Seat).chain([Viewer::Public, Viewer::Omniscient]);
        for index in 0..table.event_count() {
            for viewer in viewers() {
                self.json(2, |out| table.write_event(index, viewer, out));
            }
        }
        let Turn::Decide(decision) = table.ask() else { return };
        for seat in decision.seats().iter() {
            self.json(0, |out| table.write_view(&decision, seat, out));
            for index in 0..table.count(&decision, seat) {
                self.value(1, &table.text(&decision, seat, index).into());
            }
        }
    }

    fn json(&mut self, part: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let mut json = Vec::new();
        write(&mut json);
        if json.is_empty() {
            // The viewer does not see the event.
            return;
        }
        self.value(
            part,
            &serde_json::from_slice(&json).unwrap_or_else(|error| unreachable!("it is JSON: {error}")),
        );
    }

    fn value(&mut self, part: usize, value: &Value) {
        if self.differs.is_some() {
            return;
        }
        self.compared += 1;
        if let Err(error) = self.validators[part].validate(value) {
            let place = error.instance_path().to_string();
            let what = if place.is_empty() { error.to_string() } else { format!("{place}: {error}") };
            let (value, what) = (quote(value.to_string().as_bytes()), quote(what.as_bytes()));
            let part = PARTS[part];
            self.differs = Some(format!("{value} is not as the schema of `{part}` says: {what}"));
        }
    }
}
