//! What a ruling does to a tournament.

use serde::{Deserialize, Serialize};

use crate::cli::Failure;
use crate::cli::league::which::now;
use crate::cli::tournament::reading::{Reading, on_matches};
use crate::cli::tournament::requested_change::{Decided, find, rejoin};
use crate::game::counted;
use crate::report::ruling_words;
use crate::stats::schedule::{Format, MatchId, MatchRuling, Participation, Ruling, Schedule};
use crate::stats::{Deals, Entrant, Lineup};
use crate::store::{MatchKind, RuledMatch, RulingAct, RulingRow, TournamentChange, UndoneRuling};

/// A ruling, as requested from the process that plays the tournament.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RequestedRuling {
    pub(super) decision: RequestedDecision,
    pub(super) user: String,
    pub(super) reason: String,
    pub(super) is_public: bool,
}

/// What is to be decided. Entrants are named as in the list of entrants.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RequestedDecision {
    Void(String),
    Award { id: String, winner: Option<String> },
    Replay(String),
    Disqualify { name: String, from: DisqualifiedFrom },
    Rename { name: String, display: Option<String> },
    Undo(u32),
}

/// What an entrant is disqualified from.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum DisqualifiedFrom {
    Match(String),
    Now,
    Start,
}

/// A ruling that is made now, before what it decides is known.
fn made(requested: &RequestedRuling, act: RulingAct, schedule: &Schedule) -> RulingRow {
    RulingRow {
        since: schedule.next_round(),
        ..RulingRow::made(now(), act, &requested.user, &requested.reason, requested.is_public)
    }
}

pub(super) fn decide_ruling(reading: &Reading, requested: &RequestedRuling) -> Result<Decided, Failure> {
    let schedule = &reading.schedule;
    let made = |act| made(requested, act, schedule);
    match &requested.decision {
        RequestedDecision::Void(id) => {
            let matches = vec![ruled(reading, parse(id)?, None)?];
            decide_on_matches(reading, RulingRow { matches, ..made(RulingAct::Void) })
        }
        RequestedDecision::Award { id, winner } => {
            let number = parse(id)?;
            if let Some(winner) = winner {
                let entrant = Entrant(find(reading, winner)? as u16);
                if !lineup(reading, number)?.has(entrant) {
                    return Err(Failure::usage(format!("`{winner}` does not play {id}")));
                }
            }
            let matches = vec![ruled(reading, number, winner.clone())?];
            decide_on_matches(reading, RulingRow { matches, ..made(RulingAct::Award) })
        }
        RequestedDecision::Replay(id) => decide_to_replay(reading, parse(id)?, made(RulingAct::Replay)),
        RequestedDecision::Disqualify { name, from } => {
            let row = RulingRow { name: Some(name.clone()), ..made(RulingAct::Disqualify) };
            decide_to_disqualify(reading, find(reading, name)?, from, row)
        }
        RequestedDecision::Rename { name, display } => {
            let index = find(reading, name)?;
            let mut config = reading.config.clone();
            let before = std::mem::replace(&mut config.entrants[index].display_name, display.clone());
            config.check_display_names().map_err(Failure::usage)?;
            let row = RulingRow {
                name: Some(name.clone()),
                display: Some([before, display.clone()]),
                ..made(RulingAct::Rename)
            };
            let message = ruling_words(&row);
            let changes = TournamentChange {
                config: Some(config.to_toml()?),
                renamed: Some((index, display.clone())),
                ruling: Some(row),
                ..TournamentChange::default()
            };
            Ok(Decided { changes, message })
        }
        RequestedDecision::Undo(id) => decide_to_undo(reading, *id, requested),
    }
}

/// Parses the id of a match, with or without an attempt.
fn parse(id: &str) -> Result<u32, Failure> {
    id.parse().map(|MatchId { number, .. }| number).map_err(Failure::usage)
}

fn lineup(reading: &Reading, number: u32) -> Result<Lineup, Failure> {
    let lineup = reading.schedule.lineup(number);
    lineup.ok_or_else(|| Failure::usage(format!("there is no match m{number} in the schedule")))
}

/// A match with its attempts so far.
fn ruled(reading: &Reading, number: u32, winner: Option<String>) -> Result<RuledMatch, Failure> {
    lineup(reading, number)?;
    let attempt = reading.attempts.get(&number).copied().unwrap_or(0);
    Ok(RuledMatch { number, attempt, winner, kind: MatchKind::Pairing })
}

/// Checks a ruling on matches.
fn check(reading: &Reading, row: &RulingRow) -> Result<Schedule, Failure> {
    let rulings: Vec<Ruling> = on_matches(row, &reading.entrants).collect();
    reading.schedule.with_rulings(&rulings).map_err(Failure::usage)
}

fn decide_on_matches(reading: &Reading, row: RulingRow) -> Result<Decided, Failure> {
    check(reading, &row)?;
    let message = ruling_words(&row);
    let changes = TournamentChange { ruling: Some(row), ..TournamentChange::default() };
    Ok(Decided { changes, message })
}

/// A mirrored set is replayed as a whole, on a new deal: the dice of the old one are public.
fn decide_to_replay(reading: &Reading, number: u32, row: RulingRow) -> Result<Decided, Failure> {
    lineup(reading, number)?;
    let (plan, legs) = (reading.schedule.plan(), reading.schedule.legs());
    let numbers = match plan.deals {
        Deals::Single => number..=number,
        _ => {
            let set = MatchId { number, attempt: 1 }.set(legs);
            (set - 1) * legs + 1..=set * legs
        }
    };
    let matches = numbers.map(|number| ruled(reading, number, None)).collect::<Result<_, _>>()?;
    decide_on_matches(reading, RulingRow { matches, ..row })
}

fn decide_to_disqualify(
    reading: &Reading,
    index: usize,
    from: &DisqualifiedFrom,
    mut row: RulingRow,
) -> Result<Decided, Failure> {
    let (schedule, own) = (&reading.schedule, Entrant(index as u16));
    let name = reading.entrants[index].name.clone();
    // The points go to the opponent, if there is one.
    let lost = |number: u32| -> Result<RuledMatch, Failure> {
        let lineup = lineup(reading, number)?;
        if !lineup.has(own) {
            return Err(Failure::usage(format!("`{name}` does not play m{number}")));
        }
        let mut others: Vec<Entrant> =
            lineup.seats().iter().copied().filter(|&entrant| entrant != own).collect();
        others.dedup();
        let winner = match others.as_slice() {
            [only] => Some(reading.entrants[only.index()].name.clone()),
            _ => None,
        };
        ruled(reading, number, winner)
    };
    if let DisqualifiedFrom::Match(id) = from {
        row.matches = vec![lost(parse(id)?)?];
        return decide_on_matches(reading, row);
    }
    if reading.entrants[index].leaves.is_some() {
        return Err(Failure::usage(format!(
            "`{name}` has withdrawn: bring it back first, or disqualify it from matches"
        )));
    }
    let (leaves, format) = (schedule.next_round(), schedule.plan().format);
    row.is_from_start = matches!(from, DisqualifiedFrom::Start);
    if row.is_from_start && matches!(format, Format::Knockout { .. }) {
        return Err(Failure::usage(
            "--from-start: those whom it has beaten cannot return to a knockout; it can be disqualified from now on",
        ));
    }
    if row.is_from_start && !format.is_known() {
        // Its opponents win: without these matches they would have played fewer than others.
        let played = schedule.numbered_results().filter(|(_, result)| result.lineup.has(own));
        row.matches = played.map(|(number, _)| lost(number)).collect::<Result<_, _>>()?;
    }
    check(reading, &row)?;
    schedule.without(own).map_err(Failure::usage)?;
    let what = match (row.is_from_start, row.matches.len()) {
        (false, _) => "it plays no more".to_owned(),
        (true, 0) => "its results are annulled".to_owned(),
        (true, matches) => {
            format!(
                "its opponents win {}",
                counted(matches, "match that was played", "matches that were played")
            )
        }
    };
    let changes =
        TournamentChange { leaves: Some((index, leaves)), ruling: Some(row), ..TournamentChange::default() };
    Ok(Decided { changes, message: format!("{name} is disqualified: {what}") })
}

fn decide_to_undo(reading: &Reading, id: u32, requested: &RequestedRuling) -> Result<Decided, Failure> {
    let row = reading.rulings.iter().find(|row| row.id == id);
    let row = row.ok_or_else(|| {
        Failure::usage(format!("there is no ruling {id}: `referee tournament rulings` lists them"))
    })?;
    if let Some(UndoneRuling { at, user, .. }) = &row.undone {
        return Err(Failure::usage(format!("ruling {id} was undone by {user} at {at}")));
    }
    let schedule = &reading.schedule;
    let undone = UndoneRuling::made(now(), id, schedule.next_round(), &requested.user, &requested.reason);
    let mut changes = TournamentChange { undone: Some(undone), ..TournamentChange::default() };
    let message = format!("ruling {id} is undone");
    match row.act {
        RulingAct::Replay => {
            let again = row.matches.iter().find(|ruled| {
                reading.attempts.get(&ruled.number).is_some_and(|&attempts| attempts > ruled.attempt)
            });
            if let Some(ruled) = again {
                return Err(Failure::usage(format!(
                    "ruling {id}: m{} has been played again; rule on it instead",
                    ruled.number
                )));
            }
        }
        RulingAct::Rename => {
            let index = find(reading, row.name.as_deref().unwrap_or_default())?;
            let mut config = reading.config.clone();
            let [before, after] = row.display.clone().unwrap_or_default();
            if config.entrants[index].display_name != after {
                return Err(Failure::usage(format!("ruling {id}: a later ruling has renamed it again")));
            }
            config.entrants[index].display_name.clone_from(&before);
            changes.renamed = Some((index, before));
            config.check_display_names().map_err(Failure::usage)?;
            changes.config = Some(config.to_toml()?);
        }
        RulingAct::Void | RulingAct::Award | RulingAct::Disqualify => {
            let before: usize = reading
                .rulings
                .iter()
                .take_while(|other| other.id != id)
                .map(|other| on_matches(other, &reading.entrants).count())
                .sum();
            let indices: Vec<usize> = (before..).take(on_matches(row, &reading.entrants).count()).collect();
            schedule.without_rulings(&indices).map_err(Failure::usage)?;
            let left = row.act == RulingAct::Disqualify && (row.matches.is_empty() || row.is_from_start);
            if left {
                let index = find(reading, row.name.as_deref().unwrap_or_default())?;
                let Decided { changes: back, message: returns } = rejoin(reading, index)?;
                changes.returns = back.returns;
                changes.sources = back.sources;
                return Ok(Decided { changes, message: format!("{message}: {returns}") });
            }
        }
    }
    Ok(Decided { changes, message })
}

/// The participation of an entrant with the rulings on it.
pub(super) fn disqualified(entry: Participation, name: &str, rulings: &[RulingRow]) -> Participation {
    let is_disqualified = rulings.iter().any(|row| {
        row.act == RulingAct::Disqualify
            && row.is_from_start
            && row.is_in_force()
            && row.name.as_deref() == Some(name)
    });
    Participation { is_disqualified, ..entry }
}

/// What a ruling decides on a match.
pub(super) fn of_match(act: RulingAct, winner: Option<Entrant>) -> Option<MatchRuling> {
    match act {
        RulingAct::Void => Some(MatchRuling::Void),
        RulingAct::Award => Some(MatchRuling::Award { winner }),
        RulingAct::Replay => Some(MatchRuling::Replay),
        RulingAct::Disqualify => match winner {
            Some(_) => Some(MatchRuling::Award { winner }),
            None => Some(MatchRuling::Void),
        },
        RulingAct::Rename => None,
    }
}
