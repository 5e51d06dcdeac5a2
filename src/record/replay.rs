//! Replaying a record through the rules.

use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::core::Viewer;
use crate::core::chance::Seed;
use crate::core::excerpt::excerpt;
use crate::core::hex;
use crate::games;
use crate::record::format::read_as;
use crate::record::{Line, Seal};
use crate::referee::{Event, Header, Leg, Match, Setup, Stamp, Wants, opening};

/// A place where a record is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The match, as far as it is known.
    #[serde(rename = "match")]
    pub match_id: Option<String>,
    /// The latest request up to there.
    pub turn: Option<u32>,
    /// The line, counted from 1.
    pub line: usize,
    /// What differs.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        if let Some(id) = &self.match_id {
            write!(f, ", match {id}")?;
        }
        if let Some(turn) = self.turn {
            write!(f, ", turn {turn}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// A record that is being replayed, line by line.
pub struct Replay<'a> {
    lines: Vec<&'a [u8]>,
    next: usize,
    replayed: Match,
    /// How much of the match's own log has been compared.
    compared: usize,
    turn: Option<u32>,
}

impl<'a> Replay<'a> {
    /// Reads the set-up and the seal, and opens the match again, for somebody to look on.
    ///
    /// # Errors
    /// When the file is no record, is cut off, or its set-up is not possible.
    pub fn open(record: &'a [u8], watched: Option<Viewer>) -> Result<Replay<'a>, Difference> {
        let at_line = |line, what: String| Difference { match_id: None, turn: None, line, what };
        let mut lines: Vec<&[u8]> = record.split(|&byte| byte == b'\n').collect();
        // What follows the last line break is no line; a record ends with a break.
        let rest = lines.pop().unwrap_or_default();
        let header = lines.first().copied().unwrap_or(rest);
        let header: Header = read_as("record", header)
            .map_err(|error| at_line(1, format!("a record begins with a line of type `record`: {error}")))?;
        let at_line = |line, what: String| Difference {
            match_id: Some(header.r#match.clone()),
            turn: None,
            line,
            what,
        };
        if header.format != Header::FORMAT {
            let what = format!("record format {}; this program reads {}", header.format, Header::FORMAT);
            return Err(at_line(1, what));
        }
        let count = lines.len() + usize::from(!rest.is_empty());
        let cut_off = || at_line(count, "the record is cut off: it does not end with a seal".to_owned());
        let last = lines.pop().filter(|_| rest.is_empty()).ok_or_else(cut_off)?;
        let seal_line = lines.len() + 1;
        let seal: Seal = read_as("seal", last).map_err(|_| cut_off())?;
        let reveal = seal.reveal.as_ref();
        let reveal = reveal.ok_or_else(|| at_line(seal_line, "the seed is not revealed".to_owned()))?;
        let (seed, salt) = hex::decode32(&reveal.seed).zip(hex::decode32(&reveal.salt)).ok_or_else(|| {
            at_line(seal_line, "seed and salt are 64 lower-case hex digits each".to_owned())
        })?;
        let setup = |what: String| at_line(1, what);
        let clocks = header.seats.iter().flat_map(|seat| &seat.clock).chain(&header.clock);
        let of_clock = clocks.flat_map(|c| [c.delay_ms, c.bank_ms, c.increment_ms]);
        let to_start = header.seats.iter().map(|seat| seat.ready_ms);
        if of_clock.chain(to_start).chain([header.margin_ms]).any(|ms| ms >= 1 << 53) {
            // Beyond that, microseconds would not fit into 64 bits.
            return Err(setup("times stay below 2^53 ms".to_owned()));
        }
        let rules =
            games::find(&header.game).ok_or_else(|| setup(format!("there is no game `{}`", header.game)))?;
        if rules.meta().rules_version != header.rules {
            let known = rules.meta().rules_version;
            return Err(setup(format!(
                "rules version {} of {}; this program knows {known}",
                header.rules, header.game
            )));
        }
        let seating = header
            .seating()
            .filter(|seating| rules.meta().seatings.contains(seating))
            .ok_or_else(|| setup(format!("the seats are not a seating of {}", header.game)))?;
        let table = rules.open(&header.options, seating).map_err(|error| setup(error.to_string()))?;
        if table.options().get() != header.options.get() {
            return Err(setup(format!("the options are not complete: {}", table.options())));
        }
        opening::check(&*table, &header.opening).map_err(|error| setup(error.to_string()))?;
        let seats = header.seats.len();
        let setup = Setup {
            header,
            seating,
            seed: Seed(seed),
            salt,
            leg: Leg::Only,
            open_id: None,
            wants: vec![Wants { view: false, legal: false, event: false, push: false }; seats],
            watched,
        };
        let mut replay =
            Replay { lines, next: 0, replayed: Match::open(setup, table), compared: 0, turn: None };
        let header = replay.lines[0];
        if replay.written() != Some(header) {
            return Err(
                replay.difference(format!("line 1 has other fields than a set-up: {}", shorten(header)))
            );
        }
        (replay.next, replay.compared) = (1, header.len() + 1);
        Ok(replay)
    }

    /// The match as far as it has been replayed.
    pub fn match_(&mut self) -> &mut Match {
        &mut self.replayed
    }

    fn difference(&self, what: String) -> Difference {
        let id = &self.replayed.setup().header.r#match;
        Difference { match_id: Some(id.clone()), turn: self.turn, line: self.next + 1, what }
    }

    /// What the match wrote next, if it wrote more.
    fn written(&self) -> Option<&[u8]> {
        let rest = &self.replayed.log()[self.compared..];
        Some(&rest[..rest.iter().position(|&byte| byte == b'\n')?])
    }

    /// Replays one line. None at the end.
    ///
    /// # Errors
    /// When the match, told the same, writes something else.
    pub fn step(&mut self) -> Result<Option<Line<'a>>, Difference> {
        let Some(&text) = self.lines.get(self.next) else {
            return match (self.written(), self.replayed.ending()) {
                (Some(line), _) => Err(self.difference(format!("missing: {}", shorten(line)))),
                (None, None) => Err(self.difference("the record has no result".to_owned())),
                (None, Some(_)) => Ok(None),
            };
        };
        let line =
            Line::read(text).map_err(|error| self.difference(format!("no line of a record: {error}")))?;
        self.turn = line.turn.or(self.turn);
        let is_last = self.next + 1 == self.lines.len();
        if line.kind == "bots" && is_last && self.written().is_none() && self.replayed.ending().is_some() {
            // What the shell adds cannot be replayed; the seal covers it. It comes once.
            self.next += 1;
            return Ok(Some(line));
        }
        if self.written().is_none() {
            let told = line.event_told(self.replayed.setup().seating.seats()).unwrap_or(Event::Tick);
            // Replayed requests are sent with no lag, so that the lag of an answer is its own.
            let lag = if matches!(told, Event::Sent(_)) { 0 } else { line.lag_us };
            self.replayed.handle(Stamp { at: line.at_us, lag }, told);
        }
        match self.written() {
            Some(written) if written == text => {
                self.compared += text.len() + 1;
                self.next += 1;
                Ok(Some(line))
            }
            Some(written) => {
                let what = format!("recorded {}, but the rules give {}", shorten(text), shorten(written));
                Err(self.difference(what))
            }
            None => Err(self.difference(format!("this cannot happen here: {}", shorten(text)))),
        }
    }
}

fn shorten(line: &[u8]) -> String {
    format!("`{}`", excerpt(&String::from_utf8_lossy(line), 300))
}

/// Checks a record: seal, commitment, draws, legality, clocks, faults, result. Returns what differs, at most one
/// difference of each kind: what follows from a wrong line says nothing more.
pub fn verify(record: &[u8]) -> Vec<Difference> {
    let mut replay = match Replay::open(record, None) {
        Ok(replay) => replay,
        Err(difference) => return vec![difference],
    };
    let mut differences = Vec::new();
    let seal_line = replay.lines.len() + 1;
    let sealed: usize = replay.lines.iter().map(|line| line.len() + 1).sum();
    let setup = replay.replayed.setup();
    let (header, seed, salt) = (&setup.header, setup.seed, setup.salt);
    let mut at_seal = |what: &str| {
        let match_id = Some(header.r#match.clone());
        differences.push(Difference { match_id, turn: None, line: seal_line, what: what.to_owned() });
    };
    let seal: Option<Seal> = serde_json::from_slice(record[sealed..].trim_ascii_end()).ok();
    if seal.as_ref().is_none_or(|seal| seal.sha256 != hex::encode(&Sha256::digest(&record[..sealed]))) {
        at_seal("the SHA-256 in the seal is not that of the record: it was changed after it was sealed");
    }
    if hex::encode(&seed.commitment(&salt)) != header.commitment {
        at_seal("the revealed seed and salt do not give the commitment of line 1");
    }
    loop {
        match replay.step() {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(difference) => {
                differences.push(difference);
                return differences;
            }
        }
    }
    let reveal = seal.and_then(|seal| seal.reveal);
    if reveal.is_some_and(|reveal| reveal != replay.replayed.reveal()) {
        let what = "deal or nonces in the seal are not those of the match".to_owned();
        let match_id = Some(replay.replayed.setup().header.r#match.clone());
        differences.push(Difference { match_id, turn: None, line: seal_line, what });
    }
    differences
}
