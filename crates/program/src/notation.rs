//! Notations that a program writes.

use std::sync::Arc;

use referee_game::erased::RulesError;
use referee_game::notation::{CheckedGame, MoveNote, Notation, Sheet};
use referee_game::printable::printable_lines;

use crate::request::{ExportedMove, RulesRequest, SeatMove};
use crate::rules::SharedProgram;

/// A notation in which a program writes matches of its game.
#[derive(Debug)]
pub(crate) struct ProgramNotation {
    pub(crate) program: Arc<SharedProgram>,
    pub(crate) form: &'static str,
}

impl Notation for ProgramNotation {
    fn name(&self) -> &'static str {
        self.form
    }

    fn write(&self, sheet: &Sheet, out: &mut String) -> Result<(), RulesError> {
        let seats = sheet.names.len();
        let seating = self.program.meta.seatings.iter().find(|seating| seating.seats() == seats);
        let unknown = MoveNote::default();
        let notes = sheet.notes.iter().chain(std::iter::repeat(&unknown));
        let made = sheet.seats.iter().zip(&sheet.moves).zip(notes);
        let moves: Vec<ExportedMove<'_>> = made
            .map(|((seat, text), note)| ExportedMove {
                made: SeatMove { seat: seat.0, r#move: text },
                took_us: note.took_us,
                info: note.info.as_deref(),
            })
            .collect();
        let request = RulesRequest::Export {
            form: self.form,
            r#match: &sheet.match_id,
            options: &sheet.options,
            seats,
            sides: seating.map_or(seats, |seating| seating.sides()),
            names: &sheet.names,
            moves: &moves,
            draws: &sheet.draws,
            ranks: sheet.ranks.as_deref(),
            ended: &sheet.ended,
            tags: &sheet.tags,
        };
        out.push_str(&printable_lines(&self.program.exported(&request)?));
        Ok(())
    }

    fn check<'a>(&self, _: &'a [u8]) -> Option<Box<dyn Iterator<Item = CheckedGame> + 'a>> {
        None
    }
}
