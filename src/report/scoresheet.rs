//! A match, move by move, with the board.

use std::io::{self, Write};

use serde_json::Value;

use crate::core::Viewer;
use crate::core::erased::BoardText;
use crate::core::printable::printable;
use crate::record::Step;
use crate::referee::{Header, Match};
use crate::report::note::{Kind, Told};

/// Formats a match as it progresses.
#[derive(Debug)]
pub struct Scoresheet {
    viewer: Viewer,
    /// Whether the output is a terminal.
    is_terminal: bool,
    moves: u32,
}

impl Scoresheet {
    /// A scoresheet for this viewer.
    pub fn new(viewer: Viewer, is_terminal: bool) -> Scoresheet {
        Scoresheet { viewer, is_terminal, moves: 0 }
    }

    /// The text with this style of ECMA-48 on a terminal: 1 is bold, 31 is red.
    fn styled(&self, style: &str, text: &str) -> String {
        if self.is_terminal { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Writes the news, then the board.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn add(&mut self, out: &mut impl Write, play: &Match, news: &[u8]) -> io::Result<()> {
        let names: Vec<&str> = play.setup().header.seats.iter().map(|seat| seat.name.as_str()).collect();
        for told in Told::events(news) {
            let text = self.told(&names, &told);
            writeln!(out, "{}", self.styled("1", &printable(&text)))?;
        }
        writeln!(out, "{}", BoardText(play.table(), self.viewer))
    }

    /// An event as text; empty if it is not visible to the viewer. `names` are those of the seats.
    pub fn line(&mut self, names: &[impl AsRef<str>], event: &Value) -> String {
        self.told(names, &Told::event(event))
    }

    fn told(&mut self, names: &[impl AsRef<str>], told: &Told) -> String {
        let name = told.seat.and_then(|seat| names.get(seat.index())).map_or("", AsRef::as_ref);
        let sentence = told.sentence(name);
        if told.kind == Kind::Move {
            self.moves += 1;
            return format!("{:3}. {sentence}", self.moves);
        }
        format!("     {sentence}")
    }

    /// Whether a step of a replay has a fault that the viewer knows of.
    pub fn has_fault(&self, step: &Step<'_, '_>) -> bool {
        Told::of_step(step, self.viewer).iter().flatten().any(|told| told.kind == Kind::Fault)
    }

    /// Writes a step of a replay: what happened as the viewer saw it, then the board if there is a new one.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn step(&mut self, out: &mut impl Write, header: &Header, step: &Step<'_, '_>) -> io::Result<()> {
        let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
        let told: Vec<Told> = Told::of_step(step, self.viewer).into_iter().flatten().collect();
        let count = told.iter().filter(|told| told.kind == Kind::Move).count() as u32;
        self.moves = step.moves - count;
        for told in &told {
            let line = self.told(&names, told);
            let line = printable(&line);
            match told.kind {
                Kind::Fault => writeln!(out, "{}", self.styled("31", &line))?,
                Kind::Move => writeln!(out, "{}", self.styled("1", &line))?,
                Kind::Fallback | Kind::Event => writeln!(out, "{line}")?,
            }
        }
        if count > 0 || step.moves == 0 {
            writeln!(out, "{}", BoardText(step.table, self.viewer))?;
        }
        Ok(())
    }
}
