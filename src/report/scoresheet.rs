//! A match, move by move, with the board.

use std::io::{self, Write};

use serde_json::Value;

use crate::core::Viewer;
use crate::core::erased::BoardText;
use crate::core::printable::printable;
use crate::referee::Match;

/// Formats a match as it progresses.
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

    fn bold(&self, text: &str) -> String {
        if self.is_terminal { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Writes the header of the match and the initial position.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn begin(&self, out: &mut impl Write, play: &Match) -> io::Result<()> {
        let header = &play.setup().header;
        let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
        let title = format!("{} {}: {}", header.r#match, header.game, names.join(" - "));
        writeln!(out, "{}", printable(&title))?;
        writeln!(out, "{}", BoardText(play.table(), self.viewer))
    }

    /// Writes the news, then the board.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn add(&mut self, out: &mut impl Write, play: &Match, news: &[u8]) -> io::Result<()> {
        let names: Vec<&str> = play.setup().header.seats.iter().map(|seat| seat.name.as_str()).collect();
        for line in news.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let Ok(event) = serde_json::from_slice::<Value>(line) else { continue };
            let text = self.line(&names, &event);
            writeln!(out, "{}", self.bold(&printable(&text)))?;
        }
        writeln!(out, "{}", BoardText(play.table(), self.viewer))
    }

    /// An event as text; empty if it is not visible to the viewer. `names` are those of the seats.
    pub fn line(&mut self, names: &[impl AsRef<str>], event: &Value) -> String {
        let seat = event["seat"].as_u64().and_then(|seat| names.get(seat as usize));
        let name = seat.map_or("", AsRef::as_ref);
        match event["kind"].as_str() {
            Some("move") => {
                self.moves += 1;
                let text = event["move"].as_str().unwrap_or("(secret)");
                let opening = if event["opening"] == true { " (opening)" } else { "" };
                format!("{:3}. {name}: {text}{opening}", self.moves)
            }
            Some("draw_offered") => format!("     {name} offers a draw"),
            Some("out") => {
                format!("     {name} is out: {}", event["reason"].as_str().unwrap_or_default())
            }
            kind => {
                let others = event.as_object().into_iter().flatten();
                let others = others
                    .filter(|(key, value)| !["kind", "seat"].contains(&key.as_str()) && !value.is_null());
                let fields: String = others.map(|(key, value)| format!(", {key} {value}")).collect();
                format!("     {name} {}{fields}", kind.unwrap_or_default())
            }
        }
    }
}
