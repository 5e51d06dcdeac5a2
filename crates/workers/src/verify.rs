//! Verifies the outcomes of workers before they count.

use std::collections::BTreeMap;
use std::sync::Arc;

use referee_protocol::referee::Reveal;
use referee_protocol::words::FaultCode;
use serde::Deserialize;
use serde_json::Value;

use crate::unit::{UnitBot, UnitMatch, UnitOutcome, WorkUnit};
use referee_bots::sandbox::Sandbox;
use referee_engine::driver::{MatchPlan, PlannedSeat, Run};
use referee_game::chance::Seed;
use referee_game::{Catalog, SeatSet, Seating, Wrong, hex};
use referee_match::record::{self, Difference, RecordEntry, RecordSummary, RecordedAnswer, RecordedFault};
use referee_match::{Faults, Header, SeatHeader};
use referee_results::FinishedMatch;

/// A match of a verified outcome.
#[derive(Debug)]
pub struct VerifiedMatch {
    pub finished: FinishedMatch,
    /// The record without the seal.
    pub record: Vec<u8>,
    pub reveal: Reveal,
    /// The bot that did not start, if one did not.
    pub unstarted: Option<Unstarted>,
}

/// A bot that did not start, or whose process or connection ended before its first move. The machine may be the cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unstarted {
    pub bot: String,
    pub why: String,
    /// Whether another bot of the match has started.
    pub did_others: bool,
}

/// Reasons why an outcome is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum NotVerified {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error("it cannot be verified: {0}")]
    RulesFailed(String, #[source] Difference),
}

/// Verifies an outcome: every record replays without a difference, is that of its match in the unit, with its seed,
/// bots, terms and opening, and the set is complete or ends with a match that has to be replayed.
///
/// # Errors
/// The first difference.
pub fn verify(
    unit: &WorkUnit,
    outcome: &UnitOutcome,
    catalog: &Catalog,
) -> Result<Vec<VerifiedMatch>, NotVerified> {
    let (got, asked) = (outcome.records.len(), unit.matches.len());
    if got == 0 || got > asked {
        return Err(NotVerified::Wrong(format!("{got} records of {asked} matches").into()));
    }
    let mut verified = Vec::with_capacity(got);
    for (index, (of, record)) in unit.matches.iter().zip(&outcome.records).enumerate() {
        let of_match = |what| NotVerified::Wrong(Wrong::at(of.id.to_string(), what));
        let summary = record::summarize(record, catalog).map_err(|differences| {
            let rules_failed = differences.iter().any(|difference| difference.rules_failed);
            match differences.into_iter().next() {
                Some(first) if rules_failed => NotVerified::RulesFailed(of.id.clone(), first),
                Some(first) => of_match(Wrong::of(&first)),
                None => NotVerified::Wrong(format!("{} was not played", of.id).into()),
            }
        })?;
        let found = verify_match(unit, index, record, summary, catalog).map_err(of_match)?;
        let is_last = index + 1 == got;
        if found.finished.is_cut_off() {
            return Err(of_match(Wrong::new("it was interrupted")));
        }
        if found.finished.is_to_be_replayed() && !is_last {
            return Err(of_match(Wrong::new("it has to be replayed before those after it")));
        }
        if is_last && !found.finished.is_to_be_replayed() && got < asked {
            return Err(NotVerified::Wrong(format!("{} was not played", unit.matches[got].id).into()));
        }
        verified.push(found);
    }
    Ok(verified)
}

fn verify_match(
    unit: &WorkUnit,
    index: usize,
    record: &[u8],
    summary: RecordSummary,
    catalog: &Catalog,
) -> Result<VerifiedMatch, Wrong> {
    let of = &unit.matches[index];
    let expected = header(unit, index, catalog)?;
    let header = summary.play.setup().header.clone();
    compare(&header, &expected)?;
    for (seat, &bot) in header.seats.iter().zip(&of.bots) {
        let of_bot = |what| Wrong::at(format!("the bot of `{}`", seat.name), what);
        compare_bot(seat, &unit.bots[bot]).map_err(of_bot)?;
    }
    let is_own = |reveal: &&Reveal| {
        reveal.seed == of.seed.to_hex()
            && reveal.salt == hex::encode(&of.salt.0)
            && reveal.deal == expected.deal
    };
    let RecordSummary { seal: record::Seal { reveal, .. }, stderr, .. } = &summary;
    let reveal = reveal.as_ref().filter(is_own).cloned().ok_or(Wrong::new("another seed"))?;
    let mut finished = FinishedMatch::of_record(&summary);
    // The seal is the last line.
    let end = record[..record.len().saturating_sub(1)].iter().rposition(|&byte| byte == b'\n');
    let record = record[..end.map_or(0, |end| end + 1)].to_vec();
    let stderr: Vec<&str> = stderr.iter().map(String::as_str).collect();
    finished.add_evidence(&record, &BTreeMap::new(), &stderr).map_err(|error| Wrong::of(&error))?;
    let unstarted = unstarted(&header, &finished, &record).map_err(|error| Wrong::of(&error))?;
    Ok(VerifiedMatch { finished, record, reveal, unstarted })
}

/// The first bot of a match that did not start, or was lost before its first answer.
fn unstarted(
    header: &Header,
    finished: &FinishedMatch,
    record: &[u8],
) -> Result<Option<Unstarted>, Difference> {
    let is_lost =
        |code: FaultCode| matches!(code, FaultCode::NoStart | FaultCode::Exited | FaultCode::Disconnected);
    let mut counts = finished.faults.iter().flat_map(Faults::iter);
    if !counts.any(|(code, count)| is_lost(code) && count > 0) {
        return Ok(None);
    }
    let mut answered = SeatSet::default();
    for line in record::lines(record) {
        match line?.entry {
            RecordEntry::Answer(RecordedAnswer { seat, .. }) => answered.insert(seat),
            RecordEntry::Fault(RecordedFault { seat, code, detail, .. })
                if is_lost(code) && !answered.contains(seat) =>
            {
                let bot = finished.seats.get(seat.index()).cloned().unwrap_or_default();
                let why = match detail {
                    Some(detail) => format!("{}: {detail}", code.as_str()),
                    None => code.as_str().to_owned(),
                };
                let others = header.seats.iter().enumerate().filter(|(other, _)| *other != seat.index());
                let did_others =
                    others.filter_map(|(_, other)| described(other).ok()).any(|of| !of.name.is_empty());
                return Ok(Some(Unstarted { bot, why, did_others }));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The first line that the record of a match of the unit must have, except for descriptions of the bots and for the
/// time for `ready`, which depends on what the process played before.
fn header(unit: &WorkUnit, index: usize, catalog: &Catalog) -> Result<Arc<Header>, Wrong> {
    let UnitMatch { id, bots, seed, salt } = &unit.matches[index];
    let rules = catalog.find(&unit.game)?;
    let seating = Seating::new(unit.seats, unit.sides);
    let seats = bots.iter().map(|&bot| {
        let bot = &unit.bots[bot];
        let clock = unit.terms.clock.and_then(|clock| bot.clock(clock));
        let hide_legal = bot.hide_legal;
        PlannedSeat { clock, hide_legal, ..PlannedSeat::new(bot.name.clone(), unit.terms.first_ready_ms) }
    });
    let plan = MatchPlan {
        id: id.clone(),
        deal: unit.deal.clone(),
        seed: Some(*seed),
        salt: Some(salt.0),
        leg: unit.leg(index),
        opening: unit.opening.clone(),
        ..MatchPlan::new(rules, &unit.options, seating, seats.collect())
    };
    // The seed and the salt of the match are given.
    let run = Run { seed: Seed([0; 32]), terms: unit.terms };
    let (setup, _) = run.set_up(&unit.terms, plan)?;
    Ok(setup.header)
}

fn compare(found: &Header, expected: &Header) -> Result<(), Wrong> {
    let text = |header: &Header, drop: &[&str]| {
        let mut header = serde_json::to_value(header).unwrap_or_default();
        if let Some(fields) = header.as_object_mut() {
            drop.iter().for_each(|&field| drop_field(fields, field));
        }
        header
    };
    // A different version of the program may write the same record.
    let (found, expected) = (text(found, &["referee"]), text(expected, &["referee"]));
    let fields = expected.as_object().into_iter().chain(found.as_object()).flat_map(|fields| fields.keys());
    for field in std::iter::once("match").chain(fields.map(String::as_str)) {
        if found[field] != expected[field] {
            let (found, expected) = (found[field].clone(), expected[field].clone());
            return Err(format!("`{field}` is {found}, not {expected}").into());
        }
    }
    Ok(())
}

fn drop_field(fields: &mut serde_json::Map<String, Value>, field: &str) {
    fields.remove(field);
    for seat in fields.get_mut("seats").and_then(|seats| seats.as_array_mut()).into_iter().flatten() {
        if let Some(seat) = seat.as_object_mut() {
            seat.remove("bot");
            seat.remove("ready_ms");
        }
    }
}

/// The description of a bot in the first line of a record.
#[derive(Deserialize)]
struct DescribedBot {
    /// The name in the `hello` of the bot; empty without one.
    #[serde(default)]
    name: String,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    sandbox: Sandbox,
}

fn described(seat: &SeatHeader) -> Result<DescribedBot, Wrong> {
    let described = seat.bot.as_deref().ok_or(Wrong::new("the record does not describe it"))?;
    serde_json::from_str(described.get()).map_err(|error| error.to_string().into())
}

/// Compares the files and the sandbox of a bot with those of the unit.
fn compare_bot(seat: &SeatHeader, bot: &UnitBot) -> Result<(), Wrong> {
    let described = described(seat)?;
    if described.command != bot.argv {
        return Err(format!("another command line, `{}`", described.command.join(" ")).into());
    }
    bot.compare_files(&described.files)?;
    bot.compare_sandbox(&described.sandbox)
}
