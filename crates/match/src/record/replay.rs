//! Replays a record through the state machine of the match.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use referee_game::chance::Seed;
use referee_game::disguise::{DISGUISED, disguise, disguise_of};
use referee_game::endgames::TABLEBASES;
use referee_game::erased::{Rules, RulesError, RulesFailed};
use referee_game::excerpt::excerpt;
use referee_game::hex;
use referee_game::{Catalog, Outcome, Viewer, Wrong};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::record::line::{check_format, not_a_line, read_header, read_seal};
use crate::record::{Difference, RecordEntry, RecordLine, RecordedEvent, Seal, digest};
use crate::setup::check_policy;
use crate::{AbortReason, Header, Leg, Limits, Match, Setup, Wants, opening};

/// Longest line of a record, in bytes.
pub(super) const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of lines of a record.
pub(super) const MOST_LINES: usize = 16 * 1024 * 1024;

/// Replays a record line by line.
#[derive(Debug)]
pub struct Replay<'a> {
    /// The remaining lines before the seal.
    rest: &'a [u8],
    /// The lines before the seal.
    unsealed: &'a [u8],
    seal: Seal,
    /// The number of the line of the seal.
    last: usize,
    /// The number of the next line, counted from 1.
    line: usize,
    replayed: Match,
    /// The text of the next line that the replayed match wrote; empty if there is none.
    written: Vec<u8>,
    /// The position in its log after that line.
    compared: usize,
    turn: Option<u32>,
}

/// A record split into first line, events and seal.
struct Parts<'a> {
    header: &'a [u8],
    /// The lines between header and seal, with line breaks.
    happened: &'a [u8],
    seal: &'a [u8],
    /// The number of the last line, counted from 1.
    last: usize,
}

/// Splits off the first line and returns it without its line break.
fn take_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|&byte| byte == b'\n')?;
    let line = &rest[..end];
    *rest = &rest[end + 1..];
    Some(line)
}

impl<'a> Replay<'a> {
    /// Reads the set-up and the seal, and opens the match of a game of the catalog for replay, with events for
    /// `watched`.
    ///
    /// # Errors
    /// When the file is not a record, is truncated, or has an invalid set-up.
    pub fn open(
        record: &'a [u8],
        catalog: &Catalog,
        watched: Option<Viewer>,
    ) -> Result<Replay<'a>, Difference> {
        let (header, parts) = take_apart(record)?;
        let match_id = header.r#match.clone();
        let at_line =
            |line, what| Difference { match_id: Some(match_id.clone()), ..Difference::at(line, what) };
        let at_seal = |what| at_line(parts.last, what);
        let seal: Seal = read_seal(parts.seal).map_err(|_| at_seal(CUT_OFF))?;
        let mut written = Vec::new();
        seal.write(&mut written);
        if written.strip_suffix(b"\n") != Some(parts.seal) {
            return Err(at_seal(Wrong::from(format!(
                "the seal has other fields than {}",
                shorten(&written)
            ))));
        }
        let reveal = seal.reveal.as_ref();
        let reveal = reveal.ok_or_else(|| at_seal(Wrong::new("the seed is not revealed")))?;
        let secrets = hex::decode32(&reveal.seed).zip(hex::decode32(&reveal.salt));
        let (seed, salt) =
            secrets.ok_or_else(|| at_seal(Wrong::new("seed and salt are 64 lower-case hex digits each")))?;
        let seats = header.seats.len();
        let wants =
            vec![
                Wants { view: false, legal: false, event: false, push: false, repeat: false, scenes: false };
                seats
            ];
        let abort = abort_reason(parts.happened);
        let is_outage = matches!(abort, Some(AbortReason::Unavailable { .. }));
        let failure = abort.filter(|reason| reason.rules_calls().is_some());
        let mut replayed = open_match(header, Seed(seed), salt, wants, watched, failure, catalog)
            .map_err(|why| Difference { match_id: Some(match_id.clone()), ..Difference::at(1, why) })?;
        // Without trust, the answer that reports the outage would be a fault.
        replayed.trust_outages(is_outage);
        replayed.trust_tables(tables_verdict(parts.happened));
        let (rest, last) = (parts.happened, parts.last);
        let unsealed = &record[..record.len() - parts.seal.len() - 1];
        let mut replay = Replay {
            rest,
            unsealed,
            seal,
            last,
            line: 1,
            replayed,
            written: Vec::new(),
            compared: 0,
            turn: None,
        };
        replay.read_written();
        if replay.written != parts.header {
            return Err(replay.difference(Wrong::from(format!(
                "line 1 has other fields than a set-up: {}",
                shorten(parts.header)
            ))));
        }
        replay.advance();
        Ok(replay)
    }

    /// The match as far as it has been replayed.
    pub fn match_(&mut self) -> &mut Match {
        &mut self.replayed
    }

    pub(super) fn difference(&self, what: impl Into<RulesError>) -> Difference {
        Difference { match_id: self.match_id(), turn: self.turn, ..Difference::at(self.line, what) }
    }

    fn difference_of_seal(&self, what: Wrong) -> Difference {
        Difference { match_id: self.match_id(), ..Difference::at(self.last, what) }
    }

    fn match_id(&self) -> Option<String> {
        Some(self.replayed.setup().header.r#match.clone())
    }

    /// Compares the seal with the text of the record, and the seed with the commitment.
    pub(super) fn check_seal(&self) -> Vec<Difference> {
        let mut differences = Vec::new();
        if self.seal.sha256 != digest(self.unsealed) {
            differences.push(self.difference_of_seal(CHANGED));
        }
        let Setup { seed, salt, header, .. } = self.replayed.setup();
        if hex::encode(&seed.commitment(salt)) != header.commitment {
            differences.push(self.difference_of_seal(Wrong::new(
                "the revealed seed and salt do not give the commitment of line 1",
            )));
        }
        differences
    }

    /// Compares the seal with the match, after its last line.
    pub(super) fn check_reveal(&self) -> Option<Difference> {
        let reveal = self.seal.reveal.as_ref()?;
        (*reveal != self.replayed.reveal()).then(|| {
            self.difference_of_seal(Wrong::new("deal or nonces in the seal are not those of the match"))
        })
    }

    /// Reads the next line that the replayed match wrote.
    fn read_written(&mut self) {
        self.written.clear();
        match self.replayed.log().line_at(self.compared, &mut self.written) {
            Some(next) => self.compared = next,
            None => {
                // Frees the compared lines.
                self.replayed.clear_log();
                self.compared = 0;
            }
        }
    }

    /// Advances to the next line after a match.
    fn advance(&mut self) {
        self.read_written();
        self.line += 1;
    }

    /// Returns whether this line equals the output of the match; `None` if it wrote nothing. A program may
    /// write the keys of its events in another order each time.
    fn is_written(&self, text: &[u8], line: &RecordLine<'_>) -> Option<bool> {
        if self.written.is_empty() {
            return None;
        }
        let is_of_game = matches!(line.entry, RecordEntry::Event { event: RecordedEvent::OfGame, .. });
        // A key that is there twice would change the length.
        let may_be_permuted = is_of_game && self.written.len() == text.len();
        let value = |json: &[u8]| serde_json::from_slice::<Value>(json).ok();
        Some(self.written == text || (may_be_permuted && value(&self.written) == value(text)))
    }

    /// Replays one line. `None` at the end.
    ///
    /// # Errors
    /// When the replayed match writes something else.
    pub fn step(&mut self) -> Result<Option<RecordLine<'a>>, Difference> {
        let mut rest = self.rest;
        let Some(text) = take_line(&mut rest) else {
            return match self.replayed.ending() {
                _ if !self.written.is_empty() => {
                    Err(self.difference(Wrong::from(format!("missing: {}", shorten(&self.written)))))
                }
                None => Err(self.difference(Wrong::new("the record has no result"))),
                Some(_) => Ok(None),
            };
        };
        if text.len() > MOST_BYTES {
            return Err(
                self.difference(Wrong::from(format!("a line of a record has at most {MOST_BYTES} bytes")))
            );
        }
        let line = RecordLine::read(text).map_err(|error| self.difference(not_a_line(error)))?;
        self.turn = line.turn().or(self.turn);
        self.rest = rest;
        if let RecordEntry::Bots(bots) = &line.entry
            && rest.is_empty()
            && self.written.is_empty()
            && self.replayed.ending().is_some()
        {
            // The `bots` line is added by the shell and cannot be replayed; the seal covers it. It occurs once.
            let seats = 0..self.replayed.setup().header.seats.len();
            if !bots.bots.iter().map(|bot| bot.seat.index()).eq(seats) {
                return Err(self.difference(Wrong::new("`bots` has other seats than the match")));
            }
            self.line += 1;
            return Ok(Some(line));
        }
        if self.written.is_empty() {
            line.repeat(&mut self.replayed);
            self.read_written();
        }
        if let Some(AbortReason::RulesFailed(failure)) = self.replayed.broken_off()
            && self.replayed.setup().rules_failure.is_none()
        {
            return Err(self.difference(RulesFailed::Because(failure.why.as_str().into())));
        }
        match self.is_written(text, &line) {
            Some(true) => {
                self.advance();
                Ok(Some(line))
            }
            Some(false) => Err(self.difference(other_line(text, &self.written))),
            None => Err(self.difference(Wrong::from(format!("this cannot happen here: {}", shorten(text))))),
        }
    }
}

/// The reason why a match was aborted, by the lines of its record.
fn abort_reason(happened: &[u8]) -> Option<AbortReason> {
    // `result` and `bots` follow it.
    let last = happened.trim_ascii_end().rsplit(|&byte| byte == b'\n').take(3);
    last.filter_map(|text| RecordLine::read(text).ok()).find_map(|line| match line.entry {
        RecordEntry::Abort { reason } => Some(reason),
        _ => None,
    })
}

/// The end of a match by tables of endgames, by the lines of its record: after how many decisions, and the outcome.
fn tables_verdict(happened: &[u8]) -> Option<(u32, Outcome)> {
    #[derive(serde::Deserialize)]
    struct RecordedResult<'a> {
        reason: &'a str,
        ranks: [u8; 2],
        decisions: u32,
    }
    // `bots` follows it.
    let last = happened.trim_ascii_end().rsplit(|&byte| byte == b'\n').take(2);
    let result = last.filter_map(|text| serde_json::from_slice::<RecordedResult<'_>>(text).ok()).next()?;
    let RecordedResult { reason: TABLEBASES, ranks, decisions } = result else { return None };
    Some((decisions, Outcome::places(&ranks, TABLEBASES)))
}

/// Returns whether a record is of a match that tables of endgames could end, and the catalog has none: then its end is
/// replayed as it is recorded.
pub fn trusts_tables(record: &[u8], catalog: &Catalog) -> bool {
    let first = record.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let rules =
        |header: Header| find_rules(&header, catalog).ok().filter(|_| header.adjudication.syzygy.is_some());
    read_header(first).ok().and_then(rules).is_some_and(|rules| rules.endgame_pieces().is_none())
}

/// Opens the match of a game of the catalog for replay, with its seed and salt, the wanted parts of messages by seat,
/// events for `watched` and the failure of the rules that ended it.
pub(super) fn open_match(
    header: Header,
    seed: Seed,
    salt: [u8; 32],
    wants: Vec<Wants>,
    watched: Option<Viewer>,
    rules_failure: Option<AbortReason>,
    catalog: &Catalog,
) -> Result<Match, RulesError> {
    let clocks = header.seats.iter().flat_map(|seat| &seat.clock).chain(&header.clock);
    let of_clock = clocks.flat_map(|c| [c.delay_ms, c.bank_ms, c.increment_ms]);
    let to_start = header.seats.iter().map(|seat| seat.ready_ms);
    if of_clock.chain(to_start).chain([header.margin_ms]).any(|ms| ms >= 1 << 53) {
        // Larger values would overflow 64 bits in microseconds.
        return Err(Wrong::new("times stay below 2^53 ms").into());
    }
    if !header.limits.are_within(&Limits::MOST) {
        return Err(Wrong::new("a limit is larger than any that this program replays").into());
    }
    let rules = find_rules(&header, catalog)?;
    if rules.meta().rules_version != header.rules {
        let (recorded, known) = (header.rules, rules.meta().rules_version);
        let game = header.game;
        return Err(
            Wrong::from(format!("rules version {recorded} of {game}; this program knows {known}")).into()
        );
    }
    let seating = header
        .seating()
        .filter(|seating| rules.meta().seatings.contains(seating))
        .ok_or_else(|| Wrong::from(format!("the seats are not a seating of {}", header.game)))?;
    check_policy(rules.meta(), header.on_fault)?;
    header.adjudication.check(rules.meta(), seating)?;
    let table = rules.open(&header.options, seating)?;
    if table.options().get() != header.options.get() {
        return Err(Wrong::from(format!("the options are not complete: {}", table.options())).into());
    }
    opening::check(&*table, &header.opening, &header.limits)?;
    let seats = header.seats.len();
    let setup = Setup {
        header: Arc::new(header),
        seating,
        seed,
        salt,
        leg: Leg::Only,
        open_id: None,
        wants,
        trust_outages: false,
        watched: watched.filter(|viewer| !matches!(viewer, Viewer::Seat(seat) if seat.index() >= seats)),
        rules_failure,
    };
    Ok(Match::open(setup, table))
}

/// Reasons why a catalog does not have the rules of a record.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OtherRules {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error("the rules of {game} are a program, whose directory is not given")]
    NoProgram { game: String },
    #[error("the rules of {game} have other files than those of the record: {}", .files.join(", "))]
    OtherFiles {
        game: String,
        /// The names of files that differ, or that only one of them has.
        files: Vec<String>,
    },
}

impl From<OtherRules> for Wrong {
    fn from(error: OtherRules) -> Wrong {
        match error {
            OtherRules::Wrong(wrong) => wrong,
            other => Wrong::of(&other),
        }
    }
}

impl From<OtherRules> for RulesError {
    fn from(error: OtherRules) -> RulesError {
        Wrong::from(error).into()
    }
}

/// Finds the rules of a match. If they are a program, it must have the same files, unless the catalog accepts others.
pub(super) fn find_rules(header: &Header, catalog: &Catalog) -> Result<&'static dyn Rules, OtherRules> {
    let recorded = header.program.as_deref();
    if header.game == DISGUISED
        && let Some((text, game, program)) = recorded.and_then(disguise_of)
    {
        let plain = Header { game, program, ..header.clone() };
        return Ok(disguise(find_rules(&plain, catalog)?, &text)?);
    }
    let mut versions = catalog.versions(&header.game);
    if let Some(same) = versions.find(|rules| check_program(*rules, recorded).is_ok()) {
        return Ok(same);
    }
    let found = catalog.find(&header.game);
    let rules = match recorded {
        None => found?,
        Some(_) => found.map_err(|_| OtherRules::NoProgram { game: header.game.clone() })?,
    };
    match check_program(rules, recorded) {
        Err(OtherRules::OtherFiles { .. }) if catalog.accepts_changed() => Ok(rules),
        checked => checked.map(|()| rules),
    }
}

/// The files of a program that differ between a record and the rules with which a catalog replays it: none unless the
/// catalog accepts others.
pub fn changed_files(record: &[u8], catalog: &Catalog) -> Vec<String> {
    let first = record.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let Ok(header) = read_header(first) else { return Vec::new() };
    let found = find_rules(&header, catalog);
    match found.map(|rules| check_program(rules, header.program.as_deref())) {
        Ok(Err(OtherRules::OtherFiles { files, .. })) => files,
        _ => Vec::new(),
    }
}

/// Checks that rules are the same as those of a record, whose header has this program.
///
/// # Errors
/// Which files differ, or that only one of them is a program.
pub fn check_program(rules: &dyn Rules, recorded: Option<&RawValue>) -> Result<(), OtherRules> {
    let game = rules.meta().id;
    match (recorded, rules.program()) {
        (None, None) => Ok(()),
        (None, Some(_)) => {
            Err(Wrong::from(format!("the record is of another game `{game}`, which is part of a referee"))
                .into())
        }
        (Some(_), None) => Err(OtherRules::NoProgram { game: game.to_owned() }),
        (Some(recorded), Some(known)) if recorded.get() == known.get() => Ok(()),
        (Some(recorded), Some(known)) => {
            Err(OtherRules::OtherFiles { game: game.to_owned(), files: differing_files(recorded, known) })
        }
    }
}

/// Checks that a catalog has the rules of a record, if they are a program. An invalid record has none.
///
/// # Errors
/// Names the files that differ or are missing.
pub fn check_rules(record: &[u8], catalog: &Catalog) -> Result<(), OtherRules> {
    let first = record.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match read_header(first) {
        Ok(header) if header.program.is_some() => find_rules(&header, catalog).map(drop),
        _ => Ok(()),
    }
}

/// The names of the files that two descriptions of a program do not have in common.
pub fn differing_files(one: &RawValue, other: &RawValue) -> Vec<String> {
    #[derive(Default, serde::Deserialize)]
    struct DescribedFiles {
        files: BTreeMap<String, String>,
    }
    let [one, other] =
        [one, other].map(|raw| serde_json::from_str::<DescribedFiles>(raw.get()).unwrap_or_default().files);
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).cloned().collect()
}

/// Parses the first line and finds the last one.
fn take_apart(record: &[u8]) -> Result<(Header, Parts<'_>), Difference> {
    let mut rest = record;
    let first = take_line(&mut rest);
    let has_break = first.is_some();
    let text = first.unwrap_or(record);
    if text.len() > MOST_BYTES {
        return Err(Difference::at(
            1,
            Wrong::from(format!("a line of a record has at most {MOST_BYTES} bytes")),
        ));
    }
    let header = read_header(text).map_err(|error| Difference::at(1, error))?;
    let match_id = || Some(header.r#match.clone());
    let at_line = |line, what| Difference { match_id: match_id(), ..Difference::at(line, what) };
    check_format(&header).map_err(|error| at_line(1, error))?;
    // A record ends with a line break; bytes after the last one are not a line.
    let breaks = record.iter().filter(|&&byte| byte == b'\n').count();
    let last = breaks + usize::from(!record.ends_with(b"\n"));
    if last > MOST_LINES {
        return Err(at_line(MOST_LINES + 1, Wrong::from(format!("a record has at most {MOST_LINES} lines"))));
    }
    let body = rest.strip_suffix(b"\n").filter(|_| has_break);
    let body = body.ok_or_else(|| at_line(last, CUT_OFF))?;
    let seal_at = body.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let (happened, seal) = body.split_at(seal_at);
    if seal.len() > MOST_BYTES {
        return Err(at_line(last, Wrong::from(format!("a line of a record has at most {MOST_BYTES} bytes"))));
    }
    Ok((header, Parts { header: text, happened, seal, last }))
}

/// A record that is not complete.
pub const CUT_OFF: Wrong = Wrong::new("the record is cut off: it does not end with a seal");
pub(super) const CHANGED: Wrong =
    Wrong::new("the SHA-256 in the seal is not that of the record: it was changed after it was sealed");

/// Reports a line that differs from the one that the rules give.
pub(super) fn other_line(recorded: &[u8], given: &[u8]) -> Wrong {
    format!("recorded {}, but the rules give {}", shorten(recorded), shorten(given)).into()
}

pub(super) fn shorten(line: &[u8]) -> String {
    format!("`{}`", excerpt(&String::from_utf8_lossy(line), 300))
}

/// Verifies a record: seal, commitment, draws, legality, clocks, faults, result. Returns the differences. Replay
/// stops at the first wrong line, because everything after it would differ.
pub fn verify(record: &[u8], catalog: &Catalog) -> Vec<Difference> {
    verify_each(record, catalog, |_| ()).2
}

/// Verifies a record and calls `each` for its lines between the first and the seal. Returns the match as far as it
/// could be replayed, the seal, and the differences.
pub(super) fn verify_each<'a>(
    record: &'a [u8],
    catalog: &Catalog,
    mut each: impl FnMut(RecordLine<'a>),
) -> (Option<Match>, Option<Seal>, Vec<Difference>) {
    let mut replay = match Replay::open(record, catalog, None) {
        Ok(replay) => replay,
        Err(difference) => return (None, None, vec![difference]),
    };
    let mut differences = replay.check_seal();
    loop {
        match replay.step() {
            Ok(Some(line)) => each(line),
            Ok(None) => break,
            Err(difference) => {
                differences.push(difference);
                return (Some(replay.replayed), Some(replay.seal), differences);
            }
        }
    }
    differences.extend(replay.check_reveal());
    (Some(replay.replayed), Some(replay.seal), differences)
}
