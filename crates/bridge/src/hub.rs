//! Hub 2, of draughts and checkers.

use std::time::Instant;

use referee_bots::EngineCommand;
use referee_protocol::Text;
use referee_protocol::bot::Want;
use referee_protocol::referee::Turn;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::game::{Limit, Match};
use crate::info::Info;
use crate::option::{EngineOption, Kind};
use crate::session::{Answer, EngineProtocol, GREETING, Identity, MatchEnd, STOP};
use crate::trouble::Trouble;
use crate::wire::{Wire, now};

/// The value of a man in the scores of bridges.
const MAN: f64 = 100.0;
const SCALE: u32 = 400;

/// An engine that speaks Hub.
#[derive(Debug)]
pub(crate) struct Hub {
    command: EngineCommand,
    options: Vec<EngineOption>,
    is_initialised: bool,
    thinks: bool,
    /// The position after the last move that cannot be undone, as Hub writes it, and the moves of kings since then.
    base: String,
    since: Vec<String>,
    /// The position at the last turn, and the number of moves until then.
    board: Vec<u8>,
    known: usize,
    legal: Vec<String>,
    searched: String,
    text: String,
}

/// The part of a view that the bridge reads.
#[derive(Deserialize)]
struct View<'a> {
    /// The squares by number: `b`, `w`, kings in upper case, `.` empty.
    #[serde(borrow)]
    board: Text<'a>,
    /// The position; the first letter is the side to move.
    #[serde(borrow)]
    fen: Text<'a>,
}

impl Hub {
    pub(crate) fn new(command: &EngineCommand) -> Hub {
        Hub {
            command: command.clone(),
            options: Vec::new(),
            is_initialised: false,
            thinks: false,
            base: String::new(),
            since: Vec::new(),
            board: Vec::new(),
            known: 0,
            legal: Vec::new(),
            searched: String::new(),
            text: String::new(),
        }
    }

    /// Waits for a line with this command.
    fn wait(&mut self, wire: &mut Wire, command: &str, deadline: Option<Instant>) -> Result<bool, Trouble> {
        while wire.engine_line(&mut self.text, deadline)? {
            if self.text.split_whitespace().next() == Some(command) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn stop(&mut self, wire: &mut Wire) -> Result<(), Trouble> {
        if !std::mem::take(&mut self.thinks) {
            return Ok(());
        }
        wire.tell_engine("stop\n");
        if self.wait(wire, "done", Some(now() + STOP))? { Ok(()) } else { Err(Trouble::Stuck) }
    }

    /// Plays moves on the board of the last turn. Returns whether all of them can be undone: moves of kings without captures.
    fn replay(&mut self, moves: &[(u8, String)]) -> bool {
        moves.iter().all(|(_, text)| {
            let squares: Vec<usize> = text.split('-').filter_map(|square| square.parse().ok()).collect();
            let [from, to] = squares[..] else { return false };
            let (Some(from), Some(to)) = (from.checked_sub(1), to.checked_sub(1)) else { return false };
            if from.max(to) >= self.board.len() || !self.board[from].is_ascii_uppercase() {
                return false;
            }
            self.board.swap(from, to);
            true
        })
    }

    /// The legal move that the engine means: it names the first and the last square, and those that are captured.
    fn meant(&self, text: &str) -> String {
        let said = squares(text);
        let fits = |path: &[usize]| path.first() == said.first() && path.last() == said.get(1);
        let mut captured = said.get(2..).unwrap_or_default().to_vec();
        captured.sort_unstable();
        let found = self.legal.iter().find(|legal| {
            let path = squares(legal);
            fits(&path) && (captured.is_empty() || self.captured(&path) == captured)
        });
        found.map_or_else(|| text.to_owned(), Clone::clone)
    }

    /// The occupied squares between those of a path, sorted.
    fn captured(&self, path: &[usize]) -> Vec<usize> {
        // A row has half as many squares as the board is wide.
        let row = if self.board.len() > 32 { 5 } else { 4 };
        let place = |square: usize| {
            let (y, x) = ((square - 1) / row, (square - 1) % row);
            (y as isize, 2 * x as isize + isize::from(y % 2 == 0))
        };
        let mut found = Vec::new();
        for pair in path.windows(2).filter(|pair| pair.iter().all(|&square| square > 0)) {
            let ((mut y, mut x), (to_y, to_x)) = (place(pair[0]), place(pair[1]));
            let (down, right) = ((to_y - y).signum(), (to_x - x).signum());
            if down == 0 || right == 0 {
                continue;
            }
            loop {
                (y, x) = (y + down, x + right);
                if (y - to_y) * down >= 0 {
                    break;
                }
                let square = y as usize * row + x as usize / 2 + 1;
                if self.board.get(square - 1).is_some_and(|&piece| piece != b'.') {
                    found.push(square);
                }
            }
        }
        found.sort_unstable();
        found
    }
}

fn squares(text: &str) -> Vec<usize> {
    text.split(['-', 'x']).filter_map(|square| square.parse().ok()).collect()
}

/// The pairs `name=value` of a line, after its command; a value may be quoted, or missing.
pub(crate) fn arguments(line: &str) -> Vec<(&str, &str)> {
    let mut rest =
        line.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let (value, after) = match after.trim_start().strip_prefix('=') {
            None => ("", after),
            Some(value) => match value.trim_start().strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => {
                    let value = value.trim_start();
                    value.split_once(char::is_whitespace).unwrap_or((value, ""))
                }
            },
        };
        found.push((name, value));
        rest = after.trim_start();
    }
    found
}

/// A value, quoted if it needs that.
fn quoted(value: &str) -> String {
    if value.is_empty() || value.contains([' ', '=']) { format!("\"{value}\"") } else { value.to_owned() }
}

impl EngineProtocol for Hub {
    fn greet(&mut self, wire: &mut Wire) -> Result<Identity, Trouble> {
        wire.tell_engine("hub\n");
        let deadline = now() + GREETING;
        let mut identity = Identity::default();
        loop {
            if !wire.engine_line(&mut self.text, Some(deadline))? {
                return Err(wire.silent("hub", "wait", "Hub"));
            }
            let given = arguments(&self.text);
            let value = |name: &str| given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
            match self.text.split_whitespace().next() {
                Some("wait") => break,
                Some("id") => {
                    let version = value("version").unwrap_or_default();
                    identity.name = value("name").map(|name| format!("{name} {version}"));
                    identity.author = value("author").map(str::to_owned);
                }
                Some("param") => {
                    let bound = |name: &str| value(name).and_then(|value| value.parse().ok());
                    let real = |name: &str| value(name).and_then(|value| value.parse().ok());
                    let kind = match value("type") {
                        Some("bool") => Kind::Check,
                        Some("int") => Kind::Spin { min: bound("min"), max: bound("max") },
                        Some("real") => Kind::Real { min: real("min"), max: real("max") },
                        Some("enum") => {
                            let values = value("values").unwrap_or_default();
                            Kind::Combo(values.split_whitespace().map(str::to_owned).collect())
                        }
                        _ => Kind::Text,
                    };
                    let name = value("name").unwrap_or_default().to_owned();
                    self.options.push(EngineOption { name, kind });
                }
                _ => {}
            }
        }
        let mut lines = String::new();
        for (name, value) in &self.command.options {
            let (option, value) = EngineOption::set(&self.options, name, value.as_deref())?;
            let value = quoted(&value.unwrap_or_default());
            lines += &format!("set-param name={} value={value}\n", quoted(&option.name));
        }
        wire.tell_engine(&lines);
        Ok(identity)
    }

    fn start(&mut self, wire: &mut Wire, _: &Match) -> Result<(), Trouble> {
        self.base.clear();
        (self.since, self.known) = (Vec::new(), 0);
        if !std::mem::replace(&mut self.is_initialised, true) {
            wire.tell_engine("init\n");
            self.wait(wire, "ready", None)?;
        }
        wire.tell_engine("new-game\nping\n");
        self.wait(wire, "pong", None)?;
        Ok(())
    }

    fn ask(
        &mut self,
        wire: &mut Wire,
        game: &Match,
        turn: &Turn<'_, &RawValue>,
        limit: Limit,
    ) -> Result<(), Trouble> {
        self.stop(wire)?;
        let cannot = |why: &str| Trouble::cannot_play(&format!("{why}, which Hub needs"));
        let view = turn.view.ok_or_else(|| cannot("the turn has no view"))?;
        let view: View<'_> =
            serde_json::from_str(view.get()).map_err(|_| cannot("the view has no `board` and no `fen`"))?;
        let side = view.fen.chars().next().filter(|side| ['B', 'W'].contains(side));
        let side = side.ok_or_else(|| cannot("the `fen` of the view does not begin with W or B"))?;
        self.legal = turn.legal.iter().flatten().map(ToString::to_string).collect();
        let news = &game.moves[self.known.min(game.moves.len())..];
        if !self.base.is_empty() && self.replay(news) && self.board == view.board.as_bytes() {
            self.since.extend(news.iter().map(|(_, text)| text.clone()));
        } else {
            self.base = format!("{side}{}", view.board.replace('.', "e"));
            self.since.clear();
        }
        self.board = view.board.as_bytes().to_vec();
        self.known = game.moves.len();
        let mut lines = format!("pos pos={}", self.base);
        if !self.since.is_empty() {
            lines += &format!(" moves=\"{}\"", self.since.join(" "));
        }
        let seconds = |ms: u64| ms as f64 / 1000.0;
        match limit {
            Limit::Move(ms) => lines += &format!("\nlevel move-time={}\n", seconds(ms)),
            Limit::Clock(time) => {
                lines += "\nlevel";
                if let Some(left) = time.moves_to_go {
                    lines += &format!(" moves={left}");
                }
                lines += &format!(" time={}", seconds(time.own));
                if time.increment > 0 && time.moves_to_go.is_none() {
                    lines += &format!(" inc={}", seconds(time.increment));
                }
                lines.push('\n');
            }
            Limit::Budget(budget) => {
                let movetime = budget.movetime.map(|ms| seconds(ms).to_string());
                let parts = [
                    ("depth", budget.depth.map(|depth| depth.to_string())),
                    ("nodes", budget.nodes.map(|nodes| nodes.to_string())),
                    ("move-time", movetime),
                ];
                lines.push('\n');
                for (name, value) in parts.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                    lines += &format!("level {name}={value}\n");
                }
            }
        }
        lines += "go think\n";
        self.searched.clear();
        self.thinks = true;
        wire.tell_engine(&lines);
        Ok(())
    }

    fn hear(&mut self, _: &mut Wire, line: &str) -> Result<Option<Answer>, Trouble> {
        match line.split_whitespace().next() {
            Some("info") if self.thinks => {
                self.searched.clear();
                self.searched.push_str(line);
            }
            Some("error") => {
                return Err(Trouble::refused("go think", line.trim()));
            }
            Some("done") if std::mem::take(&mut self.thinks) => {
                let said = arguments(line).into_iter().find(|(name, _)| *name == "move");
                return Ok(Some(match said.filter(|(_, text)| !text.is_empty()) {
                    None => Answer::Nothing,
                    Some((_, text)) => Answer::Move { text: self.meant(text), offers_draw: false },
                }));
            }
            _ => {}
        }
        Ok(None)
    }

    fn info(&mut self) -> Option<Info> {
        let mut info = Info::default();
        for (name, value) in arguments(&self.searched) {
            let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
            let whole = number.filter(|number| *number >= 0.0).map(|number| number as u64);
            match name {
                "depth" => info.depth = whole,
                "nodes" => info.nodes = whole,
                "time" => info.time_ms = number.map(|seconds| (seconds.max(0.0) * 1000.0) as u64),
                "score" => {
                    if let Some(score) = number {
                        info.scored((score * MAN).round() as i64, SCALE);
                    }
                }
                "pv" => info.with_line(value.split_whitespace()),
                _ => {}
            }
        }
        info.unless_empty()
    }

    fn end(&mut self, wire: &mut Wire, _: MatchEnd) -> Result<(), Trouble> {
        self.stop(wire)
    }

    fn wants(&self) -> Vec<Want> {
        vec![Want::View, Want::Legal, Want::Event]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub(board: &str, legal: &[&str]) -> Hub {
        let command = EngineCommand::of(&["hub:scan".to_owned()]).unwrap().unwrap();
        let legal = legal.iter().map(ToString::to_string).collect();
        Hub { board: board.as_bytes().to_vec(), legal, ..Hub::new(&command) }
    }

    #[test]
    fn arguments_may_be_quoted_or_flags() {
        assert_eq!(
            arguments(r#"id name=Scan version=3.1 author="Fabien L" flag"#),
            [("name", "Scan"), ("version", "3.1"), ("author", "Fabien L"), ("flag", "")]
        );
    }

    #[test]
    fn a_capture_is_found_by_the_squares_that_it_takes() {
        let mut board = ".".repeat(32).into_bytes();
        // Two ways from 15 to 31.
        for square in [18, 19, 26, 27] {
            board[square - 1] = b'w';
        }
        board[14] = b'b';
        let hub = hub(std::str::from_utf8(&board).unwrap(), &["15x22x31", "15x24x31"]);
        assert_eq!(hub.captured(&[15, 22, 31]), [18, 26]);
        assert_eq!(hub.captured(&[15, 24, 31]), [19, 27]);
        assert_eq!(hub.meant("15x31x27x19"), "15x24x31");
        assert_eq!(hub.meant("15x31x18x26"), "15x22x31");
        assert_eq!(hub.meant("1-5"), "1-5");
    }
}
