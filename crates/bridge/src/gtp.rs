//! GTP 2, of go.

use std::fmt::Write as _;
use std::time::Instant;

use referee_bots::EngineCommand;
use referee_protocol::referee::{Clock, Turn};
use serde_json::value::RawValue;

use crate::game::{Limit, Match};
use crate::option::unknown;
use crate::session::{Answer, EngineProtocol, GREETING, Identity, MatchEnd};
use crate::trouble::Trouble;
use crate::wire::{Wire, now};

/// Like `genmove`, but the engine passes only when no dead stones of its opponent are left, which count as alive in the end.
const CLEANUP: &str = "kgs-genmove_cleanup";

/// An engine that speaks GTP.
#[derive(Debug)]
pub(crate) struct Gtp {
    command: EngineCommand,
    commands: Vec<String>,
    /// The number of the last command, and the command of each that is not answered yet.
    last: u32,
    open: std::collections::VecDeque<(u32, String)>,
    /// The number of the open `genmove`.
    asked: Option<u32>,
    /// Whether the engine is asked for a move that removes dead stones.
    is_cleanup: bool,
    line: Vec<(u8, String)>,
    seat: u8,
    /// The commands that set up the board.
    board: Vec<String>,
    text: String,
}

/// The colour of a seat; the first one is Black.
fn colour(seat: u8) -> char {
    if seat == 0 { 'B' } else { 'W' }
}

impl Gtp {
    pub(crate) fn new(command: &EngineCommand) -> Gtp {
        Gtp {
            command: command.clone(),
            commands: Vec::new(),
            last: 0,
            open: Default::default(),
            asked: None,
            is_cleanup: false,
            line: Vec::new(),
            seat: 0,
            board: Vec::new(),
            text: String::new(),
        }
    }

    fn knows(&self, command: &str) -> bool {
        self.commands.iter().any(|known| known == command)
    }

    /// Adds a command to those that are sent.
    fn add(&mut self, lines: &mut String, command: &str) {
        self.last += 1;
        self.open.push_back((self.last, command.to_owned()));
        // A string accepts everything.
        let _ = writeln!(lines, "{} {command}", self.last);
    }

    /// Adds the question for a move.
    fn add_genmove(&mut self, lines: &mut String, is_cleanup: bool) {
        let command = if is_cleanup { CLEANUP } else { "genmove" };
        self.add(lines, &format!("{command} {}", colour(self.seat)));
        (self.asked, self.is_cleanup) = (Some(self.last), is_cleanup);
    }

    /// Reads the first line of an answer: whether it is one to the oldest open command, and its text.
    fn answer(&mut self, line: &str) -> Option<(u32, String, Result<String, String>)> {
        let (is_good, rest) = match line.strip_prefix('=') {
            Some(rest) => (true, rest),
            None => (false, line.strip_prefix('?')?),
        };
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: Option<u32> = rest[..digits].parse().ok();
        let at = self.open.iter().position(|(open, _)| Some(*open) == number)?;
        let (number, command) = self.open.drain(..=at).next_back()?;
        let text = rest[digits..].trim().to_owned();
        Some((number, command, if is_good { Ok(text) } else { Err(text) }))
    }

    /// Sends a command and waits for its answer.
    fn call(
        &mut self,
        wire: &mut Wire,
        command: &str,
        deadline: Option<Instant>,
    ) -> Result<Result<String, String>, Trouble> {
        let mut lines = String::new();
        self.add(&mut lines, command);
        let number = self.last;
        wire.tell_engine(&lines);
        loop {
            if !wire.engine_line(&mut self.text, deadline)? {
                return Err(wire.silent("name", "=", "GTP"));
            }
            let line = std::mem::take(&mut self.text);
            let answer = self.answer(line.trim_end());
            self.text = line;
            let Some((answered, _, result)) = answer else { continue };
            if answered != number {
                continue;
            }
            let Ok(mut text) = result else { return Ok(result) };
            // The answer ends with an empty line.
            while wire.engine_line(&mut self.text, deadline)? && !self.text.trim().is_empty() {
                text.push('\n');
                text += self.text.trim_end();
            }
            return Ok(Ok(text));
        }
    }

    /// Sends a command that the engine has to accept.
    fn must(&mut self, wire: &mut Wire, command: &str) -> Result<String, Trouble> {
        let answer = self.call(wire, command, None)?;
        answer.map_err(|answer| Trouble::refused(command, &format!("? {answer}")))
    }
}

/// The clock, in seconds: main time, time and number of stones of a period.
fn clock(movetime: Option<u64>, clock: Option<Clock>) -> String {
    let seconds = |ms: u64| ms.div_ceil(1000);
    match (movetime, clock) {
        (Some(ms), _) => format!("time_settings 0 {} 1", seconds(ms)),
        (None, None) => "time_settings 0 1 1".to_owned(),
        (None, Some(Clock { delay_ms, bank_ms, increment_ms: 0 })) if delay_ms > 0 => {
            // Rounded down: with the rest an engine would exceed its time.
            format!("time_settings {} {} 1", bank_ms / 1000, (delay_ms / 1000).max(1))
        }
        (None, Some(Clock { bank_ms, delay_ms, .. })) => {
            format!("time_settings {} 0 0", ((bank_ms + delay_ms) / 1000).max(1))
        }
    }
}

impl EngineProtocol for Gtp {
    fn greet(&mut self, wire: &mut Wire) -> Result<Identity, Trouble> {
        let deadline = Some(now() + GREETING);
        if let Some((name, _)) = self.command.options.first() {
            return Err(unknown(name, &[]));
        }
        let name = self.call(wire, "name", deadline)?.ok();
        let version = self.call(wire, "version", deadline)?.ok().filter(|version| !version.is_empty());
        let commands = self.call(wire, "list_commands", deadline)?.unwrap_or_default();
        self.commands = commands.split_whitespace().map(str::to_owned).collect();
        let name = name.map(|name| format!("{name} {}", version.unwrap_or_default()));
        Ok(Identity { name, author: None })
    }

    fn start(&mut self, wire: &mut Wire, game: &Match) -> Result<(), Trouble> {
        let size = game.number(&["size", "boardsize", "board_size"]).unwrap_or(19.0);
        let komi = game.number(&["komi"]);
        self.board = vec![format!("boardsize {size}"), "clear_board".to_owned()];
        self.board.extend(komi.map(|komi| format!("komi {komi}")));
        let handicap = game.number(&["handicap"]).filter(|&stones| stones > 0.0);
        self.board.extend(handicap.map(|stones| format!("fixed_handicap {stones}")));
        (self.line, self.seat) = (Vec::new(), game.seat);
        for command in self.board.clone() {
            self.must(wire, &command)?;
        }
        if self.knows("time_settings") {
            self.must(wire, &clock(self.command.budget.movetime, game.clock))?;
        }
        Ok(())
    }

    fn ask(
        &mut self,
        wire: &mut Wire,
        game: &Match,
        _: &Turn<'_, &RawValue>,
        limit: Limit,
    ) -> Result<(), Trouble> {
        let mut lines = String::new();
        let common = self.line.iter().zip(&game.moves).take_while(|(known, played)| known == played).count();
        let mut from = common;
        if common < self.line.len() {
            from = 0;
            for command in self.board.clone() {
                self.add(&mut lines, &command);
            }
        }
        for (seat, text) in &game.moves[from..] {
            self.add(&mut lines, &format!("play {} {text}", colour(*seat)));
        }
        self.line.clone_from(&game.moves);
        if let Limit::Clock(time) = limit
            && self.knows("time_left")
        {
            let other = colour(1 - self.seat.min(1));
            let own = colour(self.seat);
            let left = |ms: u64, delay: u64| match (ms - delay.min(ms)) / 1000 {
                // Main time is over: one stone in the period.
                0 if delay >= 1000 => format!("{} 1", delay / 1000),
                main if delay == time.increment && delay > 0 => format!("{main} 0"),
                _ => format!("{} 0", ms / 1000),
            };
            let (one, two) = (left(time.own, time.delay), left(time.other, time.delay));
            self.add(&mut lines, &format!("time_left {own} {one}"));
            self.add(&mut lines, &format!("time_left {other} {two}"));
        }
        self.add_genmove(&mut lines, false);
        wire.tell_engine(&lines);
        Ok(())
    }

    fn hear(&mut self, wire: &mut Wire, line: &str) -> Result<Option<Answer>, Trouble> {
        let Some((number, asked, result)) = self.answer(line.trim_end()) else { return Ok(None) };
        let text = match result {
            Ok(text) => text,
            // Engines may ignore the clock.
            Err(_) if asked.starts_with("time_left") => return Ok(None),
            Err(answer) => return Err(Trouble::refused(&asked, &format!("? {answer}"))),
        };
        if self.asked != Some(number) {
            return Ok(None);
        }
        self.asked = None;
        let text = text.to_ascii_uppercase();
        if text == "PASS" && !self.is_cleanup && self.knows("undo") && self.knows(CLEANUP) {
            let mut lines = String::new();
            self.add(&mut lines, "undo");
            self.add_genmove(&mut lines, true);
            wire.tell_engine(&lines);
            return Ok(None);
        }
        Ok(Some(match &*text {
            "RESIGN" => Answer::Resign,
            "" => Answer::Nothing,
            text => {
                let text = if text == "PASS" { "pass" } else { text };
                self.line.push((self.seat, text.to_owned()));
                Answer::Move { text: text.to_owned(), offers_draw: false }
            }
        }))
    }

    fn end(&mut self, _: &mut Wire, _: MatchEnd) -> Result<(), Trouble> {
        // `genmove` cannot be interrupted.
        if self.asked.is_some() { Err(Trouble::Stuck) } else { Ok(()) }
    }
}
