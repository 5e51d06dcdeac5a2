//! A match, move by move, with the board.

use std::io::{self, Write};

use referee_game::Viewer;
use referee_game::erased::BoardText;
use referee_game::printable::printable;
use referee_match::record::Step;
use referee_match::{Header, Match};
use serde_json::Value;

use crate::note::{EventText, Kind};

/// Formats a match as it progresses.
#[derive(Debug)]
pub struct Scoresheet {
    viewer: Viewer,
    /// Whether the output is a terminal.
    is_terminal: bool,
    moves: u32,
}

impl Scoresheet {
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
    /// Errors of `out`.
    pub fn add(&mut self, out: &mut impl Write, play: &Match, news: &[u8]) -> io::Result<()> {
        let names: Vec<&str> = play.setup().header.seats.iter().map(|seat| seat.name.as_str()).collect();
        for event in EventText::events(news) {
            let text = self.event_line(&names, &event);
            writeln!(out, "{}", self.styled("1", &printable(&text)))?;
        }
        writeln!(out, "{}", BoardText(play.table(), self.viewer))
    }

    /// An event as text; empty if it is not visible to the viewer. `names` are those of the seats.
    pub fn line(&mut self, names: &[impl AsRef<str>], event: &Value) -> String {
        self.event_line(names, &EventText::event(event))
    }

    fn event_line(&mut self, names: &[impl AsRef<str>], event: &EventText) -> String {
        let name = event.seat.and_then(|seat| names.get(seat.index())).map_or("", AsRef::as_ref);
        let sentence = event.sentence(name);
        if event.kind == Kind::Move {
            self.moves += 1;
            return format!("{:3}. {sentence}", self.moves);
        }
        format!("     {sentence}")
    }

    /// Returns whether a step of a replay has a fault that the viewer knows of.
    pub fn has_fault(&self, step: &Step<'_, '_>) -> bool {
        EventText::of_step(step, self.viewer).iter().flatten().any(|event| event.kind == Kind::Fault)
    }

    /// Writes a step of a replay: what happened as the viewer saw it, then the board if there is a new one.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn step(&mut self, out: &mut impl Write, header: &Header, step: &Step<'_, '_>) -> io::Result<()> {
        let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
        let events: Vec<EventText> = EventText::of_step(step, self.viewer).into_iter().flatten().collect();
        let count = events.iter().filter(|event| event.kind == Kind::Move).count() as u32;
        self.moves = step.moves - count;
        for event in &events {
            let line = self.event_line(&names, event);
            let line = printable(&line);
            match event.kind {
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
