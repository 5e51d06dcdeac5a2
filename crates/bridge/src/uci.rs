//! UCI, of chess and games like it, and USI, of shogi.

use std::fmt::Write as _;
use std::time::Instant;

use referee_bots::{Budget, Dialect, EngineCommand};
use referee_protocol::referee::Turn;
use serde_json::value::RawValue;

use crate::game::{CHESS, Limit, Match, Time};
use crate::info::Info;
use crate::option::{EngineOption, Kind};
use crate::session::{Answer, EngineProtocol, GREETING, Identity, MatchEnd, STOP};
use crate::trouble::Trouble;
use crate::wire::{Wire, now};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Thinking,
    Pondering,
}

/// An engine that speaks UCI or USI.
#[derive(Debug)]
pub(crate) struct Uci {
    command: EngineCommand,
    options: Vec<EngineOption>,
    state: State,
    /// The last line about the search that has a score.
    searched: String,
    /// The start position and the moves so far, as a command; the number of moves in it.
    position: String,
    known: usize,
    /// The moves that the engine expects: its own and the answer to it.
    expected: Option<(String, String)>,
    asked: Instant,
    limit: Limit,
    is_chess960: bool,
    line: String,
}

impl Uci {
    pub(crate) fn new(command: &EngineCommand) -> Uci {
        Uci {
            command: command.clone(),
            options: Vec::new(),
            state: State::Idle,
            searched: String::new(),
            position: String::new(),
            known: 0,
            expected: None,
            asked: now(),
            limit: Limit::Move(1),
            is_chess960: false,
            line: String::new(),
        }
    }

    fn is_usi(&self) -> bool {
        self.command.dialect == Dialect::Usi
    }

    /// Returns whether the user sets this option.
    fn sets(&self, name: &str) -> bool {
        self.command.options.iter().any(|(set, _)| set.eq_ignore_ascii_case(name))
    }

    /// Sets an option, if it is none of those that the user sets.
    fn adapt(&self, wire: &mut Wire, name: &str, value: &str) -> Result<(), Trouble> {
        if self.sets(name) {
            return Ok(());
        }
        let (option, value) = EngineOption::set(&self.options, name, Some(value))?;
        wire.tell_engine(&set_option(&option.name, value.as_deref()));
        Ok(())
    }

    /// Sets the variant of chess.
    fn set_variant(&mut self, wire: &mut Wire, game: &Match) -> Result<(), Trouble> {
        let variant = game.options["variant"].as_str().unwrap_or_default();
        let is_chess960 = variant == "chess960" || game.game == "chess960";
        if is_chess960 != self.is_chess960 {
            if EngineOption::find(&self.options, "UCI_Chess960").is_none() {
                let why = "it has no option UCI_Chess960";
                return Err(Trouble::cannot_play(why));
            }
            self.adapt(wire, "UCI_Chess960", if is_chess960 { "true" } else { "false" })?;
            self.is_chess960 = is_chess960;
        }
        let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
        let variants = EngineOption::find(&self.options, "UCI_Variant");
        let Some(EngineOption { kind: Kind::Combo(variants), .. }) = variants else { return Ok(()) };
        // The directories that `referee_game.pyffish` writes.
        let of_fairy = game.game.strip_prefix("fairy_");
        let named = [variant, of_fairy.unwrap_or(&game.game)]
            .into_iter()
            .find_map(|name| variants.iter().find(|variant| plain(variant) == plain(name)));
        match (named, of_fairy) {
            (Some(named), _) => self.adapt(wire, "UCI_Variant", named),
            (None, Some(variant)) if !self.sets("UCI_Variant") => {
                Err(Trouble::cannot_play(&format!("its option UCI_Variant has no `{variant}`")))
            }
            (None, _) => Ok(()),
        }
    }

    /// Waits until the engine has stopped.
    fn stop(&mut self, wire: &mut Wire) -> Result<(), Trouble> {
        if self.state == State::Idle {
            return Ok(());
        }
        wire.tell_engine("stop\n");
        let deadline = now() + STOP;
        loop {
            if !wire.engine_line(&mut self.line, Some(deadline))? {
                return Err(Trouble::Stuck);
            }
            if is_command(&self.line, "bestmove") {
                self.state = State::Idle;
                return Ok(());
            }
        }
    }

    /// Writes the position with all moves of the match.
    fn follow(&mut self, game: &Match) {
        if self.known == 0 {
            let (names, word) =
                if self.is_usi() { (["sfen", "fen"], "sfen") } else { (["fen", "sfen"], "fen") };
            self.position = match game.position(&names).filter(|position| *position != CHESS) {
                None => "position startpos".to_owned(),
                Some("startpos") => "position startpos".to_owned(),
                Some(position) => format!("position {word} {position}"),
            };
        }
        for (_, text) in &game.moves[self.known..] {
            self.position += if self.known == 0 { " moves " } else { " " };
            self.position += text;
            self.known += 1;
        }
    }

    /// Writes the limits of a search at the end of `go`.
    fn write_limit(&self, game: &Match, go: &mut String) {
        let Limit::Clock(Time { own, other, increment, delay, moves_to_go }) = self.limit else {
            let budget = match self.limit {
                Limit::Budget(budget) => budget,
                Limit::Move(ms) => Budget { movetime: Some(ms), ..Budget::default() },
                Limit::Clock(_) => return,
            };
            if self.is_usi() && budget == (Budget { movetime: budget.movetime, ..Budget::default() }) {
                let ms = budget.movetime.unwrap_or_default();
                write_to(go, format_args!(" btime 0 wtime 0 byoyomi {ms}"));
                return;
            }
            let parts = [("nodes", budget.nodes), ("depth", budget.depth), ("movetime", budget.movetime)];
            for (name, value) in parts.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                write_to(go, format_args!(" {name} {value}"));
            }
            return;
        };
        let is_first = game.seat == 0;
        // In shogi, the first side is Black.
        let (first, second) = if self.is_usi() { ('b', 'w') } else { ('w', 'b') };
        let by_side = |own: u64, other: u64| if is_first { (own, other) } else { (other, own) };
        if self.is_usi() && increment == delay {
            let (one, two) = by_side(own - delay.min(own), other - delay.min(other));
            write_to(go, format_args!(" btime {one} wtime {two} byoyomi {delay}"));
            return;
        }
        let (one, two) = by_side(own, other);
        write_to(go, format_args!(" {first}time {one} {second}time {two}"));
        if increment > 0 {
            write_to(go, format_args!(" {first}inc {increment} {second}inc {increment}"));
        }
        if let Some(left) = moves_to_go {
            write_to(go, format_args!(" movestogo {left}"));
        }
    }
}

/// A string accepts everything.
fn write_to(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
}

fn set_option(name: &str, value: Option<&str>) -> String {
    match value {
        None => format!("setoption name {name}\n"),
        Some(value) => format!("setoption name {name} value {value}\n"),
    }
}

fn is_command(line: &str, command: &str) -> bool {
    line.trim_start()
        .strip_prefix(command)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Reads the declaration of an option, after `option name`.
pub(crate) fn option(text: &str) -> Option<EngineOption> {
    let (name, rest) = text.split_once(" type ")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let after = |keyword: &str| {
        let at = words.iter().position(|word| *word == keyword)?;
        words.get(at + 1)?.parse().ok()
    };
    let kind = match *words.first()? {
        "button" => Kind::Button,
        "check" => Kind::Check,
        "spin" => Kind::Spin { min: after("min"), max: after("max") },
        "combo" => {
            let values = rest.split(" var ").skip(1).map(|value| value.trim().to_owned());
            Kind::Combo(values.collect())
        }
        _ => Kind::Text,
    };
    Some(EngineOption { name: name.trim().to_owned(), kind })
}

impl EngineProtocol for Uci {
    fn greet(&mut self, wire: &mut Wire) -> Result<Identity, Trouble> {
        let (asked, expected, dialect) =
            if self.is_usi() { ("usi", "usiok", "USI") } else { ("uci", "uciok", "UCI") };
        wire.tell_engine(&format!("{asked}\n"));
        let deadline = now() + GREETING;
        let mut identity = Identity::default();
        loop {
            if !wire.engine_line(&mut self.line, Some(deadline))? {
                return Err(wire.silent(asked, expected, dialect));
            }
            let line = self.line.trim();
            if line == expected {
                break;
            } else if let Some(name) = line.strip_prefix("id name ") {
                identity.name = Some(name.trim().to_owned());
            } else if let Some(author) = line.strip_prefix("id author ") {
                identity.author = Some(author.trim().to_owned());
            } else if let Some(option) = line.strip_prefix("option name ").and_then(option) {
                self.options.push(option);
            }
        }
        if self.is_usi() {
            // Every engine has these two, without a declaration.
            let hash = Kind::Spin { min: Some(1), max: None };
            for (name, kind) in [("USI_Hash", hash), ("USI_Ponder", Kind::Check)] {
                if EngineOption::find(&self.options, name).is_none() {
                    self.options.push(EngineOption { name: name.to_owned(), kind });
                }
            }
        }
        let mut lines = String::new();
        for (name, value) in &self.command.options {
            let (option, value) = EngineOption::set(&self.options, name, value.as_deref())?;
            lines += &set_option(&option.name, value.as_deref());
        }
        wire.tell_engine(&lines);
        let ponder = if self.is_usi() { "USI_Ponder" } else { "Ponder" };
        if self.command.ponder && EngineOption::find(&self.options, ponder).is_some() {
            self.adapt(wire, ponder, "true")?;
        }
        Ok(identity)
    }

    fn start(&mut self, wire: &mut Wire, game: &Match) -> Result<(), Trouble> {
        (self.known, self.expected) = (0, None);
        if !self.is_usi() {
            self.set_variant(wire, game)?;
        }
        wire.tell_engine(if self.is_usi() { "isready\n" } else { "ucinewgame\nisready\n" });
        while self.line != "readyok" {
            // The referee limits the time.
            wire.engine_line(&mut self.line, None)?;
            self.line.truncate(self.line.trim_end().len());
        }
        self.line.clear();
        if self.is_usi() {
            wire.tell_engine("usinewgame\n");
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
        let expected = self.expected.take();
        let known = self.known;
        self.follow(game);
        (self.limit, self.asked) = (limit, now());
        if self.state == State::Pondering
            && let [(_, own), (_, other)] = &game.moves[known..]
            && expected.is_some_and(|expected| (own, other) == (&expected.0, &expected.1))
        {
            self.state = State::Thinking;
            wire.tell_engine("ponderhit\n");
            return Ok(());
        }
        self.stop(wire)?;
        self.searched.clear();
        let mut lines = std::mem::take(&mut self.line);
        lines.clear();
        lines.push_str(&self.position);
        lines.push_str("\ngo");
        self.write_limit(game, &mut lines);
        lines.push('\n');
        wire.tell_engine(&lines);
        self.line = lines;
        self.state = State::Thinking;
        Ok(())
    }

    fn hear(&mut self, _: &mut Wire, line: &str) -> Result<Option<Answer>, Trouble> {
        if line.starts_with("info ") {
            let is_other_line = line.contains(" multipv ") && !line.contains(" multipv 1 ");
            if line.contains(" score ") && !is_other_line {
                self.searched.clear();
                self.searched.push_str(line);
            }
            return Ok(None);
        }
        if !is_command(line, "bestmove") {
            return Ok(None);
        }
        let was = std::mem::replace(&mut self.state, State::Idle);
        if was != State::Thinking {
            return Ok(None);
        }
        let mut words = line.split_whitespace().skip(1);
        let text = words.next().unwrap_or_default();
        let reply = words.next().filter(|word| *word == "ponder").and(words.next());
        self.expected =
            reply.filter(|_| self.command.ponder).map(|reply| (text.to_owned(), reply.to_owned()));
        Ok(Some(match text {
            "resign" if self.is_usi() => Answer::Resign,
            "" | "(none)" | "0000" | "null" => Answer::Nothing,
            text => Answer::Move { text: text.to_owned(), offers_draw: false },
        }))
    }

    fn info(&mut self) -> Option<Info> {
        let line = std::mem::take(&mut self.searched);
        let info = read_info(&line, self.is_usi());
        self.searched = line;
        info.unless_empty()
    }

    fn answered(&mut self, wire: &mut Wire, game: &Match) {
        let Some((own, reply)) = &self.expected else { return };
        let spent = u64::try_from(self.asked.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Limit::Clock(time) = &mut self.limit {
            time.own = time.own.saturating_sub(spent).saturating_add(time.increment).max(1);
            time.moves_to_go = time.moves_to_go.map(|left| left.saturating_sub(1).max(1));
        }
        let mut lines = self.position.clone();
        lines += if self.known == 0 { " moves" } else { "" };
        write_to(&mut lines, format_args!(" {own} {reply}\ngo ponder"));
        self.write_limit(game, &mut lines);
        lines.push('\n');
        wire.tell_engine(&lines);
        self.searched.clear();
        self.state = State::Pondering;
    }

    fn end(&mut self, wire: &mut Wire, outcome: MatchEnd) -> Result<(), Trouble> {
        self.stop(wire)?;
        if self.is_usi() {
            wire.tell_engine(match outcome {
                MatchEnd::Won => "gameover win\n",
                MatchEnd::Lost => "gameover lose\n",
                MatchEnd::Drawn | MatchEnd::Aborted => "gameover draw\n",
            });
        }
        Ok(())
    }
}

/// Reads a line about a search.
pub(crate) fn read_info(line: &str, is_usi: bool) -> Info {
    // Shogi engines call 100 a pawn as well, but a pawn is worth less there.
    let scale = if is_usi { 600 } else { 400 };
    let mut info = Info::default();
    let mut words = line.split_whitespace().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        match word {
            "depth" => info.depth = number(),
            "nodes" => info.nodes = number(),
            "time" => info.time_ms = number(),
            "score" => match (words.next(), words.next()) {
                (Some("cp"), Some(score)) => {
                    if let Ok(score) = score.parse() {
                        info.scored(score, scale);
                    }
                }
                (Some("mate"), Some(text)) => {
                    let said: i64 = text.parse().unwrap_or_default();
                    // USI counts plies.
                    let moves = if is_usi {
                        said.saturating_abs().saturating_add(1) / 2 * said.signum()
                    } else {
                        said
                    };
                    info.mates(moves, text.starts_with('-') || (!is_usi && moves == 0), scale);
                }
                _ => {}
            },
            "lowerbound" => info.bound = Some("lower"),
            "upperbound" => info.bound = Some("upper"),
            "pv" => {
                info.with_line(words.by_ref());
                break;
            }
            "string" => break,
            _ => {}
        }
    }
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_blanks_in_names_and_values() {
        let read = |text| option(text).map(|option| (option.name, option.kind)).unwrap();
        assert_eq!(read("Clear Hash type button"), ("Clear Hash".into(), Kind::Button));
        assert_eq!(
            read("Skill Level type spin default 20 min -20 max 20"),
            ("Skill Level".into(), Kind::Spin { min: Some(-20), max: Some(20) })
        );
        assert_eq!(
            read("NullMove Pruning type combo default Always var Always var Fail High var Never"),
            (
                "NullMove Pruning".into(),
                Kind::Combo(["Always", "Fail High", "Never"].map(str::to_owned).into())
            )
        );
        assert_eq!(read("Debug Log File type string default "), ("Debug Log File".into(), Kind::Text));
    }

    #[test]
    fn score_is_for_mover_and_bounds_and_mates_are_marked() {
        let json = |line: &str, is_usi| serde_json::to_value(read_info(line, is_usi)).unwrap();
        assert_eq!(
            json(
                "info depth 18 seldepth 24 multipv 1 score cp -34 nodes 5000 nps 9 time 120 pv e7e5 g1f3",
                false
            ),
            serde_json::json!({"score": -34, "score_scale": 400, "depth": 18, "nodes": 5000, "time_ms": 120, "pv": ["e7e5", "g1f3"]})
        );
        let bound = json("info depth 3 score cp 20 lowerbound nodes 1", false);
        assert_eq!((&bound["score"], &bound["bound"]), (&20.into(), &"lower".into()));
        for (text, is_usi, score, mate) in [
            ("3", false, 29_997, 3),
            ("-2", false, -29_998, -2),
            ("0", false, -30_000, 0),
            ("5", true, 29_997, 3),
            ("-", true, -30_000, 0),
        ] {
            let read = json(&format!("info score mate {text} depth 1"), is_usi);
            assert_eq!((&read["score"], &read["mate"]), (&score.into(), &mate.into()), "{text}");
        }
    }
}
