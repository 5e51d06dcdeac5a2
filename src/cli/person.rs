//! A person at a terminal as a bot: displays messages of the referee and sends the person's input.

use std::fmt;
use std::io::{self, BufRead, BufReader, Stdin, Write};
use std::os::unix::net::UnixStream;

use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::cli::output::Stdout;
use crate::cli::screen;
use crate::game::chance::RandomKey;
use crate::game::erased::{BoardText, Knowledge, Rules};
use crate::game::{Seat, Seating, Viewer};
use crate::report::Scoresheet;
use anyhow::{Context as _, bail};

const HELP: &str = "  #1, #2, ... or a move  choose it; the beginning of a move will do
  draw MOVE              choose it, and offer a draw
  accept                 accept the draw that was offered
  resign, quit           give up
  moves                  list the legal moves again
Nothing is sent before you confirm it, with Enter on an empty line or y.";

/// The maximum width of a line of moves, in characters.
const WIDTH: usize = 78;

pub(super) struct Person {
    referee: UnixStream,
    rules: &'static dyn Rules,
    seating: Seating,
    input: Stdin,
    out: screen::Screen<Stdout>,
    scoresheet: Scoresheet,
    /// The `start` of the match.
    start: Value,
    names: Vec<String>,
}

enum Choice {
    Move { text: String, offers_draw: bool },
    Accept,
    Resign,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Move { text, offers_draw: false } => write!(f, "play {text}"),
            Choice::Move { text, offers_draw: true } => write!(f, "play {text} and offer a draw"),
            Choice::Accept => f.write_str("accept the draw"),
            Choice::Resign => f.write_str("resign"),
        }
    }
}

impl Person {
    pub(super) fn new(
        referee: UnixStream,
        rules: &'static dyn Rules,
        seating: Seating,
    ) -> io::Result<Person> {
        Ok(Person {
            referee,
            rules,
            seating,
            input: io::stdin(),
            out: screen::stdout(),
            scoresheet: Scoresheet::new(Viewer::Public, false),
            start: Value::Null,
            names: Vec::new(),
        })
    }

    /// Plays until the referee closes the stream.
    pub(super) fn play(mut self) -> io::Result<()> {
        for line in BufReader::new(self.referee.try_clone()?).lines() {
            let message: Value = serde_json::from_str(&line?)?;
            match message["type"].as_str() {
                Some("hello") => {
                    self.send(
                        &json!({"type": "hello", "protocol": referee_protocol::PROTOCOL, "name": "human"}),
                    )?;
                }
                Some("start") => self.begin(message)?,
                Some("event") => {
                    let line = self.scoresheet.line(&self.names, &message["event"]);
                    writeln!(self.out, "{line}")?;
                }
                Some("turn") => self.decide(&message)?,
                Some("error") => writeln!(self.out, "{}", message["message"].as_str().unwrap_or_default())?,
                Some("bye") => break,
                _ => {}
            }
        }
        Ok(())
    }

    fn send(&self, message: &Value) -> io::Result<()> {
        (&self.referee).write_all(format!("{message}\n").as_bytes())
    }

    fn begin(&mut self, start: Value) -> io::Result<()> {
        let seats = start["seats"].as_array().into_iter().flatten();
        self.names = seats.map(|seat| seat["name"].as_str().unwrap_or_default().to_owned()).collect();
        let game = start["game"].as_str().unwrap_or_default();
        writeln!(self.out, "{game}: {}; you have seat {}", self.names.join(" - "), start["seat"])?;
        let own = &start["seats"][start["seat"].as_u64().unwrap_or_default() as usize]["team"];
        let mates = (0..).zip(start["seats"].as_array().into_iter().flatten());
        for (seat, mate) in mates.filter(|(seat, mate)| start["seat"] != *seat && mate["team"] == *own) {
            let name = mate["name"].as_str().unwrap_or_default();
            writeln!(self.out, "Your partner is {name}, in seat {seat}.")?;
        }
        self.send(&json!({"type": "ready", "match": start["match"], "seat": start["seat"]}))?;
        self.start = start;
        Ok(())
    }

    /// Draws the board of a request. The person sees no more than a bot in the seat.
    fn board(&self, turn: &Value) -> io::Result<String> {
        let seat = Seat(self.start["seat"].as_u64().unwrap_or_default() as u8);
        let turns_left = turn["turns_left"].as_u64().and_then(|turns| turns.try_into().ok());
        let (options, view) = (to_raw_value(&self.start["options"])?, to_raw_value(&turn["view"])?);
        // Only visible parts are drawn, so any position that agrees with the view is suitable.
        let knowledge = Knowledge { options: &options, seating: self.seating, seat, view: &view, turns_left };
        let tables = self.rules.imagine(&knowledge, 1, &mut RandomKey([0; 32]).stream());
        let tables = tables.map_err(io::Error::other)?.unwrap_or_default();
        Ok(tables.iter().map(|table| BoardText(&**table, Viewer::Seat(seat)).to_string()).collect())
    }

    /// Prompts until an action is confirmed, and sends it. At the end of input the person resigns.
    fn decide(&mut self, turn: &Value) -> io::Result<()> {
        let board = self.board(turn)?;
        write!(self.out, "\n{board}")?;
        let legal = turn["legal"].as_array().into_iter().flatten();
        let legal: Vec<&str> = legal.filter_map(Value::as_str).collect();
        let is_listed = turn["legal"].is_array();
        list(&mut self.out, &legal)?;
        if turn["draw_offered"] == true {
            writeln!(self.out, "You are offered a draw: `accept` it, or move.")?;
        }
        if let Some(ms) = turn["clock"]["limit_ms"].as_u64() {
            writeln!(self.out, "You have {}.{} s.", ms / 1000, ms % 1000 / 100)?;
        }
        let mut chosen = None;
        let choice = loop {
            match &chosen {
                None => write!(self.out, "your move (? for help): ")?,
                Some(choice) => write!(self.out, "{choice}? Enter: yes; else say another: ")?,
            }
            self.out.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                writeln!(self.out)?;
                break Choice::Resign;
            }
            match (line.trim(), chosen.take()) {
                ("", Some(choice)) => break choice,
                ("", None) => {}
                ("?" | "help", _) => writeln!(self.out, "{HELP}")?,
                ("moves", _) if !is_listed => {
                    writeln!(
                        self.out,
                        "Nobody can list the moves: `rules` of the game says how they are written."
                    )?;
                }
                ("moves", _) => list(&mut self.out, &legal)?,
                ("y" | "yes", Some(choice)) => break choice,
                ("resign" | "quit", _) => chosen = Some(Choice::Resign),
                ("accept", _) if turn["draw_offered"] == true => chosen = Some(Choice::Accept),
                ("accept", _) => writeln!(self.out, "No draw is offered.")?,
                (said, _) => {
                    let (said, offers_draw) =
                        said.strip_prefix("draw ").map_or((said, false), |said| (said.trim(), true));
                    match if is_listed { find(&legal, said) } else { Ok(said) } {
                        Ok(text) => chosen = Some(Choice::Move { text: text.to_owned(), offers_draw }),
                        Err(what) => writeln!(self.out, "{what}")?,
                    }
                }
            }
        };
        let (of, seat) = (&turn["match"], &turn["seat"]);
        self.send(&match choice {
            Choice::Resign => json!({"type": "resign", "match": of, "seat": seat}),
            Choice::Accept => json!({"type": "accept_draw", "match": of, "seat": seat, "turn": turn["turn"]}),
            Choice::Move { text, offers_draw } => json!({
                "type": "move", "match": of, "seat": seat, "turn": turn["turn"], "move": text, "offer_draw": offers_draw
            }),
        })
    }
}

/// Lists moves in columns, each with its number.
fn list(out: &mut impl Write, legal: &[&str]) -> io::Result<()> {
    let longest = legal.iter().map(|text| text.len()).max().unwrap_or(0);
    let columns = (WIDTH / (longest + 7)).max(1);
    for (row, texts) in legal.chunks(columns).enumerate() {
        for (column, text) in texts.iter().enumerate() {
            let number = format!("#{}", row * columns + column + 1);
            write!(out, "{number:>5} {text:longest$} ")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Finds a move by its text, by `#` and its number, or by an unambiguous prefix. Without `#` a number would be ambiguous,
/// because moves start with squares and ranks of cards.
fn find<'a>(legal: &[&'a str], said: &str) -> anyhow::Result<&'a str> {
    if let Some(text) = legal.iter().find(|text| text.eq_ignore_ascii_case(said)) {
        return Ok(text);
    }
    if let Some(number) = said.strip_prefix('#') {
        let index = number.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let text = index.and_then(|index| legal.get(index)).copied();
        return text.with_context(|| format!("The moves have the numbers #1 to #{}.", legal.len()));
    }
    let begins = |text: &&&str| text.get(..said.len()).is_some_and(|head| head.eq_ignore_ascii_case(said));
    let mut fitting = legal.iter().filter(begins);
    match (fitting.next(), fitting.next()) {
        (Some(text), None) => Ok(text),
        (Some(one), Some(other)) => bail!("`{said}` may be {one} or {other}."),
        (None, _) => {
            bail!("`{said}` is no legal move; `moves` lists them, with the numbers #1 to #{}.", legal.len())
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn rank_of_card_is_no_number_of_move() {
        let legal = ["10 t3", "2 t3", "5 t3", "5 t7", "K enter"];
        let find =
            |legal: &[&'static str], said: &str| super::find(legal, said).map_err(|why| why.to_string());
        assert_eq!(find(&legal, "2"), Ok("2 t3"));
        assert_eq!(find(&legal, "#2"), Ok("2 t3"));
        assert_eq!(find(&legal, "#1"), Ok("10 t3"));
        assert_eq!(find(&legal, "1"), Ok("10 t3"));
        assert_eq!(find(&legal, "#3"), Ok("5 t3"));
        assert_eq!(find(&legal, "5"), Err("`5` may be 5 t3 or 5 t7.".to_owned()));
        assert_eq!(find(&legal, "k"), Ok("K enter"));
        assert_eq!(find(&legal, "#0"), Err("The moves have the numbers #1 to #5.".to_owned()));
    }
}
