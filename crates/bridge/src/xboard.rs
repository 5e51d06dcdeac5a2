//! CECP, the protocol of xboard, version 2, for chess.

use std::time::Duration;

use referee_bots::EngineCommand;
use referee_protocol::referee::{Clock, Turn};
use serde_json::value::RawValue;

use crate::game::{CHESS, Limit, Match, Time};
use crate::info::Info;
use crate::option::{EngineOption, Kind};
use crate::session::{Answer, EngineProtocol, GREETING, Identity, MatchEnd, STOP};
use crate::trouble::Trouble;
use crate::wire::{Wire, now};

/// The score beyond which scores are mates: 100,000 and the number of moves.
const MATE: i64 = 99_000;
const MATE_BASE: i64 = 100_000;
const SCALE: u32 = 400;

/// The features of an engine, with the defaults of the protocol.
#[derive(Debug, Default)]
struct Features {
    has_ping: bool,
    has_setboard: bool,
    has_usermove: bool,
    refuses_draws: bool,
    refuses_time: bool,
    refuses_reuse: bool,
    has_memory: bool,
    has_cores: bool,
}

/// An engine that speaks CECP.
#[derive(Debug)]
pub(crate) struct Xboard {
    command: EngineCommand,
    features: Features,
    options: Vec<EngineOption>,
    line: Vec<String>,
    /// Whether the engine answers moves with moves.
    plays: bool,
    thinks: bool,
    /// Whether a draw is offered to the engine.
    is_offered: bool,
    /// Whether the engine has offered a draw, which goes out with its next move.
    offers: bool,
    pings: u32,
    has_played: bool,
    /// The last line about its search.
    searched: String,
    seat: u8,
    text: String,
}

impl Xboard {
    pub(crate) fn new(command: &EngineCommand) -> Xboard {
        Xboard {
            command: command.clone(),
            features: Features::default(),
            options: Vec::new(),
            line: Vec::new(),
            plays: false,
            thinks: false,
            is_offered: false,
            offers: false,
            pings: 0,
            has_played: false,
            searched: String::new(),
            seat: 0,
            text: String::new(),
        }
    }

    /// Reads a line of features. Returns what it says of `done`.
    fn read_features(&mut self, wire: &mut Wire, text: &str, identity: &mut Identity) -> Option<bool> {
        let (mut done, mut answers) = (None, String::new());
        for (name, value) in features(text) {
            let is_on = value != "0";
            match name {
                "done" => done = Some(is_on),
                "ping" => self.features.has_ping = is_on,
                "setboard" => self.features.has_setboard = is_on,
                "usermove" => self.features.has_usermove = is_on,
                "draw" => self.features.refuses_draws = !is_on,
                "time" => self.features.refuses_time = !is_on,
                "reuse" => self.features.refuses_reuse = !is_on,
                "memory" => self.features.has_memory = is_on,
                "smp" => self.features.has_cores = is_on,
                "myname" => identity.name = Some(value.to_owned()),
                "option" => self.options.extend(option(value)),
                _ => {}
            }
            let is_refused = name == "san" && is_on;
            answers += if is_refused { "rejected " } else { "accepted " };
            answers += name;
            answers.push('\n');
        }
        wire.tell_engine(&answers);
        done
    }

    /// Waits until the engine has handled all commands. Its output until then is out of date.
    fn settle(&mut self, wire: &mut Wire, most: Option<Duration>) -> Result<(), Trouble> {
        self.pings += 1;
        let pong = format!("pong {}", self.pings);
        wire.tell_engine(&format!("ping {}\n", self.pings));
        let deadline = most.map(|most| now() + most);
        loop {
            if !wire.engine_line(&mut self.text, deadline)? {
                return Err(Trouble::Stuck);
            }
            if self.text.trim() == pong {
                return Ok(());
            }
        }
    }

    /// Stops the engine, so that its board is as before it began to think, or has its move.
    fn stop(&mut self, wire: &mut Wire) -> Result<(), Trouble> {
        let was_thinking = std::mem::take(&mut self.thinks);
        self.plays = false;
        if !was_thinking {
            wire.tell_engine("force\n");
            return Ok(());
        }
        if !self.features.has_ping {
            return Err(Trouble::Stuck);
        }
        // The engine moves at once, and only then reads on.
        wire.tell_engine("?\n");
        let deadline = now() + STOP;
        loop {
            if !wire.engine_line(&mut self.text, Some(deadline))? {
                return Err(Trouble::Stuck);
            }
            if let Some(text) = moved(&self.text) {
                self.line.push(self.spelled(text));
                break;
            }
        }
        wire.tell_engine("force\n");
        self.settle(wire, Some(STOP))
    }

    /// A move of the engine as the game writes it.
    fn spelled(&self, text: &str) -> String {
        let rank = if self.seat == 0 { '1' } else { '8' };
        match text.trim_end_matches(['+', '#']) {
            "O-O" | "0-0" | "o-o" => format!("e{rank}g{rank}"),
            "O-O-O" | "0-0-0" | "o-o-o" => format!("e{rank}c{rank}"),
            text => text.to_ascii_lowercase(),
        }
    }

    fn user_move(&self, lines: &mut String, text: &str) {
        *lines += if self.features.has_usermove { "usermove " } else { "" };
        *lines += text;
        lines.push('\n');
    }
}

/// The move in a line of the engine; old ones say it in a sentence.
fn moved(line: &str) -> Option<&str> {
    let text = line
        .strip_prefix("move ")
        .or_else(|| line.strip_prefix("My move is")?.trim_start().strip_prefix(':'));
    text?.split_whitespace().next()
}

/// The pairs `name=value` of a line of features; a value may be quoted.
pub(crate) fn features(text: &str) -> Vec<(&str, &str)> {
    let mut rest = text.trim_start();
    let mut found = Vec::new();
    while let Some((name, after)) = rest.split_once('=') {
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        found.push((name.trim(), value));
        rest = after.trim_start();
    }
    found
}

/// The declaration of an option: `NAME -spin 50 0 100`.
pub(crate) fn option(text: &str) -> Option<EngineOption> {
    let (name, rest) = text.split_once(" -")?;
    let (kind, values) = rest.split_once(' ').unwrap_or((rest, ""));
    let mut numbers = values.split_whitespace().skip(1).map(|word| word.parse().ok());
    let kind = match kind {
        "button" | "save" | "reset" => Kind::Button,
        "check" => Kind::Spin { min: Some(0), max: Some(1) },
        "spin" | "slider" => Kind::Spin { min: numbers.next().flatten(), max: numbers.next().flatten() },
        "combo" => {
            let values = values.split("///").map(|value| value.trim().trim_start_matches('*').to_owned());
            Kind::Combo(values.collect())
        }
        _ => Kind::Text,
    };
    Some(EngineOption { name: name.trim().to_owned(), kind })
}

/// The commands that set the clock, or the time of each move.
fn clock(command: &EngineCommand, clock: Option<Clock>) -> String {
    let mut lines = String::new();
    if let Some(depth) = command.budget.depth {
        // The time suffices for every depth.
        lines += &format!("level 0 100 0\nsd {depth}\n");
    }
    let seconds = |ms: u64| {
        if ms.is_multiple_of(1000) { (ms / 1000).to_string() } else { format!("{:.3}", ms as f64 / 1000.0) }
    };
    match (command.budget.movetime, clock) {
        (Some(ms), _) => lines += &format!("st {}\n", seconds(ms)),
        (None, _) if command.budget.depth.is_some() => {}
        (None, None) => lines += "st 1\n",
        (None, Some(Clock { delay_ms, bank_ms: 0, increment_ms: 0 })) if delay_ms >= 1000 => {
            lines += &format!("st {}\n", delay_ms / 1000);
        }
        (None, Some(Clock { delay_ms, bank_ms, increment_ms })) => {
            let whole = (bank_ms + delay_ms).div_ceil(1000);
            let (minutes, rest) = (whole / 60, whole % 60);
            let base = if rest == 0 { minutes.to_string() } else { format!("{minutes}:{rest:02}") };
            // Without a bank, nothing is left over from a move.
            let increment = if bank_ms == 0 && increment_ms == 0 { 0 } else { increment_ms + delay_ms };
            lines += &format!("level 0 {base} {}\n", seconds(increment));
        }
    }
    lines
}

impl EngineProtocol for Xboard {
    fn greet(&mut self, wire: &mut Wire) -> Result<Identity, Trouble> {
        wire.tell_engine("xboard\nprotover 2\n");
        let deadline = now() + GREETING;
        let mut identity = Identity::default();
        let mut line = String::new();
        loop {
            if !wire.engine_line(&mut line, Some(deadline))? {
                return Err(wire.silent("protover 2", "feature done=1", "version 2 of xboard"));
            }
            // Some engines print a prompt before it.
            let text = line.find("feature ").map(|at| line[at + "feature ".len()..].to_owned());
            if let Some(text) = text
                && self.read_features(wire, &text, &mut identity) == Some(true)
            {
                break;
            }
        }
        let number = Kind::Spin { min: Some(1), max: None };
        for (name, is_there) in [("memory", self.features.has_memory), ("cores", self.features.has_cores)] {
            if is_there {
                self.options.push(EngineOption { name: name.to_owned(), kind: number.clone() });
            }
        }
        let mut lines = String::new();
        for (name, value) in &self.command.options {
            let (option, value) = EngineOption::set(&self.options, name, value.as_deref())?;
            let name = &option.name;
            lines += &match value {
                Some(value) if ["memory", "cores"].contains(&&**name) => format!("{name} {value}\n"),
                Some(value) => format!("option {name}={value}\n"),
                None => format!("option {name}\n"),
            };
        }
        wire.tell_engine(&lines);
        Ok(identity)
    }

    fn start(&mut self, wire: &mut Wire, game: &Match) -> Result<(), Trouble> {
        if self.has_played && self.features.refuses_reuse {
            return Err(Trouble::Stuck);
        }
        let is_chess =
            game.game == "chess" && game.options["variant"].as_str().is_none_or(|name| name == "standard");
        if !is_chess {
            let why = "xboard engines play chess, and no variants of it, through this bridge";
            return Err(Trouble::cannot_play(why));
        }
        (self.line, self.plays, self.thinks, self.offers) = (Vec::new(), false, false, false);
        (self.seat, self.has_played) = (game.seat, true);
        self.searched.clear();
        let mut lines = "new\nforce\n".to_owned();
        lines += &clock(&self.command, game.clock);
        lines += if self.command.ponder { "post\nhard\n" } else { "post\neasy\n" };
        if let Some(fen) = game.position(&["fen"]).filter(|fen| *fen != CHESS) {
            if !self.features.has_setboard {
                let why = "it has no feature `setboard`, which sets up the start position";
                return Err(Trouble::cannot_play(why));
            }
            lines += &format!("setboard {fen}\n");
        }
        wire.tell_engine(&lines);
        if self.features.has_ping { self.settle(wire, None) } else { Ok(()) }
    }

    fn ask(
        &mut self,
        wire: &mut Wire,
        game: &Match,
        turn: &Turn<'_, &RawValue>,
        limit: Limit,
    ) -> Result<(), Trouble> {
        if self.thinks {
            self.stop(wire)?;
        }
        let moves = || game.moves.iter().map(|(_, text)| text);
        let common = self.line.iter().zip(moves()).take_while(|(known, played)| known == played).count();
        let mut lines = String::new();
        let follows = self.plays && common == self.line.len() && common + 1 == game.moves.len();
        if !follows {
            lines += if self.plays { "force\n" } else { "" };
            lines += &"undo\n".repeat(self.line.len() - common);
            let last = game.moves.len();
            for text in moves().take(last).skip(common) {
                self.user_move(&mut lines, text);
            }
        }
        match limit {
            Limit::Clock(Time { own, other, .. }) if !self.features.refuses_time => {
                lines += &format!("time {}\notim {}\n", own / 10, other / 10);
            }
            // A limit below a second, which `st` does not know.
            Limit::Move(ms) if ms < 1000 && game.clock.is_some() && !self.features.refuses_time => {
                lines += &format!("time {}\notim {}\n", ms / 10, ms / 10);
            }
            _ => {}
        }
        self.is_offered = turn.draw_offered;
        if turn.draw_offered && !self.features.refuses_draws {
            lines += "draw\n";
        }
        match moves().next_back().filter(|_| follows) {
            Some(text) => self.user_move(&mut lines, text),
            None => lines += "go\n",
        }
        self.line.truncate(common);
        self.line.extend(moves().skip(common).cloned());
        self.searched.clear();
        (self.plays, self.thinks) = (true, true);
        wire.tell_engine(&lines);
        Ok(())
    }

    fn hear(&mut self, _: &mut Wire, line: &str) -> Result<Option<Answer>, Trouble> {
        let line = line.trim();
        if line.starts_with(|c: char| c.is_ascii_digit()) && thinking(line).is_some() {
            if self.thinks {
                self.searched.clear();
                self.searched.push_str(line);
            }
            return Ok(None);
        }
        if let Some(text) = moved(line) {
            if !std::mem::take(&mut self.thinks) {
                return Ok(None);
            }
            let text = self.spelled(text);
            self.line.push(text.clone());
            let offers_draw = std::mem::take(&mut self.offers);
            return Ok(Some(Answer::Move { text, offers_draw }));
        }
        let is_resignation = line == "resign" || {
            let lost = if self.seat == 0 { "0-1" } else { "1-0" };
            line.starts_with(lost) && line.to_ascii_lowercase().contains("resign")
        };
        if is_resignation {
            self.thinks = false;
            self.plays = false;
            return Ok(Some(Answer::Resign));
        }
        if line == "offer draw" {
            if self.is_offered && self.thinks {
                self.thinks = false;
                self.plays = false;
                return Ok(Some(Answer::AcceptDraw));
            }
            self.offers = true;
        } else if line.starts_with("Illegal move") && self.thinks {
            let asked = self.line.last().cloned().unwrap_or_else(|| "go".to_owned());
            return Err(Trouble::refused(&asked, line));
        }
        Ok(None)
    }

    fn info(&mut self) -> Option<Info> {
        thinking(&self.searched).and_then(Info::unless_empty)
    }

    fn end(&mut self, wire: &mut Wire, outcome: MatchEnd) -> Result<(), Trouble> {
        let (first, second) = ("1-0", "0-1");
        let (won, lost) = if self.seat == 0 { (first, second) } else { (second, first) };
        if self.thinks && !self.features.has_ping {
            return Err(Trouble::Stuck);
        }
        self.stop(wire)?;
        wire.tell_engine(&format!(
            "result {} {{the match has ended}}\n",
            match outcome {
                MatchEnd::Won => won,
                MatchEnd::Lost => lost,
                MatchEnd::Drawn => "1/2-1/2",
                MatchEnd::Aborted => "*",
            }
        ));
        if self.features.refuses_reuse { Err(Trouble::Stuck) } else { Ok(()) }
    }
}

/// Reads a line about a search: `ply score time nodes line`, with the time in hundredths of a second.
pub(crate) fn thinking(line: &str) -> Option<Info> {
    let mut words = line.split_whitespace();
    let depth = words.next()?;
    let depth = depth.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    let [score, time, nodes] =
        std::array::from_fn(|_| words.next().and_then(|word| word.parse::<i64>().ok()));
    let score = score?;
    let unsigned = |number: Option<i64>| u64::try_from(number?).ok();
    let mut info = Info { depth: Some(depth), nodes: unsigned(nodes), ..Info::default() };
    info.time_ms = unsigned(time).map(|hundredths| hundredths.saturating_mul(10));
    match score.saturating_abs() {
        far @ MATE.. => info.mates((far - MATE_BASE).max(0) * score.signum(), score < 0, SCALE),
        _ => info.scored(score, SCALE),
    }
    unsigned(time).and(unsigned(nodes))?;
    info.with_line(words.filter(|word| !word.ends_with('.') && !word.starts_with(['(', '<', '{'])));
    Some(info)
}

#[cfg(test)]
mod tests {
    use referee_bots::Dialect;

    use super::*;

    #[test]
    fn features_and_options_are_read() {
        let read =
            features(r#"myname="Phalanx XXV" setboard=1 option="Level -combo Random /// *Normal" done=1"#);
        assert_eq!(read[0], ("myname", "Phalanx XXV"));
        assert_eq!(read.len(), 4);
        let read = |text| option(text).map(|option| option.kind).unwrap();
        assert_eq!(
            read("Level -combo Random /// *Normal"),
            Kind::Combo(vec!["Random".into(), "Normal".into()])
        );
        assert_eq!(read("Randomizer (0-50) -slider 0 0 50"), Kind::Spin { min: Some(0), max: Some(50) });
        assert_eq!(read("Clear -button"), Kind::Button);
    }

    #[test]
    fn thinking_is_read_with_mates() {
        let read = thinking("9. 156 1084 48000 Nf3 Nc6 (12)").unwrap();
        assert_eq!(
            (read.score, read.depth, read.time_ms, read.nodes),
            (Some(156), Some(9), Some(10_840), Some(48_000))
        );
        assert_eq!(read.pv, ["Nf3", "Nc6"]);
        assert_eq!(thinking("5 -100002 10 99 Ke2").unwrap().mate, Some(-2));
        assert_eq!(thinking("1-0 {White mates}"), None);
    }

    #[test]
    fn clocks_are_said_as_the_protocol_has_them() {
        let command = EngineCommand {
            dialect: Dialect::Xboard,
            argv: vec!["e".to_owned()],
            options: Vec::new(),
            budget: Default::default(),
            ponder: false,
        };
        let said = |delay_ms, bank_ms, increment_ms| {
            clock(&command, Some(Clock { delay_ms, bank_ms, increment_ms }))
        };
        assert_eq!(said(0, 120_000, 1000), "level 0 2 1\n");
        assert_eq!(said(0, 90_000, 100), "level 0 1:30 0.100\n");
        assert_eq!(said(2500, 0, 0), "st 2\n");
        assert_eq!(said(200, 0, 0), "level 0 0:01 0\n");
        assert_eq!(clock(&command, None), "st 1\n");
    }
}
