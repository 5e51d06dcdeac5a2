//! The effect of a ruling on a tournament.

use std::mem;

use referee_game::{Wrong, counted};
use referee_stats::schedule::{MatchId, MatchRuling, Participation, Ruling, Schedule};
use referee_stats::{Deals, Entrant, Lineup};
use referee_store::{
    DisqualifiedFrom, MatchKind, RequestedDecision, RequestedRuling, RuledMatch, RulingAct, RulingRow,
    TournamentChange, UndoneRuling, now, only_opponent,
};

use crate::tournament::change::{ChangeEffect, find, rejoin};
use crate::tournament::stored::{StoredTournament, on_matches};

pub(super) fn decide_ruling(
    stored: &StoredTournament,
    requested: &RequestedRuling,
) -> Result<ChangeEffect, Wrong> {
    let schedule = &stored.schedule;
    // Before what it decides is known.
    let made = |act| RulingRow { since: schedule.next_round(), ..requested.made(act, now()) };
    match &requested.decision {
        RequestedDecision::Void(id) => {
            let matches = vec![ruled(stored, parse(id)?, None)?];
            decide_on_matches(stored, RulingRow { matches, ..made(RulingAct::Void) })
        }
        RequestedDecision::Award { id, winner } => {
            let number = parse(id)?;
            if let Some(winner) = winner {
                let entrant = Entrant(find(stored, winner)? as u16);
                if !lineup(stored, number)?.has(entrant) {
                    return Err(format!("`{winner}` does not play {id}").into());
                }
            }
            let matches = vec![ruled(stored, number, winner.clone())?];
            decide_on_matches(stored, RulingRow { matches, ..made(RulingAct::Award) })
        }
        RequestedDecision::Replay(id) => decide_to_replay(stored, parse(id)?, made(RulingAct::Replay)),
        RequestedDecision::Disqualify { name, from } => {
            let row = RulingRow { name: Some(name.clone()), ..made(RulingAct::Disqualify) };
            decide_to_disqualify(stored, find(stored, name)?, from, row)
        }
        RequestedDecision::Rename { name, display } => {
            let index = find(stored, name)?;
            let mut config = stored.config.clone();
            let before = mem::replace(&mut config.entrants[index].display_name, display.clone());
            config.check_display_names()?;
            let row = RulingRow {
                name: Some(name.clone()),
                display: Some([before, display.clone()]),
                ..made(RulingAct::Rename)
            };
            let message = row.words();
            let changes = TournamentChange {
                config: Some(config.to_toml()?),
                renamed: Some((index, display.clone())),
                ruling: Some(row),
                ..TournamentChange::default()
            };
            Ok(ChangeEffect { changes, message })
        }
        RequestedDecision::Undo(id) => decide_to_undo(stored, *id, requested),
    }
}

/// Parses the id of a match, with or without an attempt.
fn parse(id: &str) -> Result<u32, Wrong> {
    Ok(id.parse::<MatchId>()?.number)
}

fn lineup(stored: &StoredTournament, number: u32) -> Result<Lineup, Wrong> {
    let lineup = stored.schedule.lineup(number);
    lineup.ok_or_else(|| format!("there is no match m{number} in the schedule").into())
}

/// A match with its attempts so far.
fn ruled(stored: &StoredTournament, number: u32, winner: Option<String>) -> Result<RuledMatch, Wrong> {
    lineup(stored, number)?;
    let attempt = stored.attempts.get(&number).copied().unwrap_or(0);
    Ok(RuledMatch { number, attempt, winner, kind: MatchKind::Pairing })
}

/// Checks a ruling on matches.
fn check(stored: &StoredTournament, row: &RulingRow) -> Result<Schedule, Wrong> {
    let rulings: Vec<Ruling> = on_matches(row, &stored.entrants).collect();
    stored.schedule.with_rulings(&rulings)
}

fn decide_on_matches(stored: &StoredTournament, row: RulingRow) -> Result<ChangeEffect, Wrong> {
    check(stored, &row)?;
    let message = row.words();
    let changes = TournamentChange { ruling: Some(row), ..TournamentChange::default() };
    Ok(ChangeEffect { changes, message })
}

/// Decides to replay a match. A mirrored set is replayed as a whole, on a new deal: the dice of the old one are public.
fn decide_to_replay(stored: &StoredTournament, number: u32, row: RulingRow) -> Result<ChangeEffect, Wrong> {
    lineup(stored, number)?;
    let (plan, legs) = (stored.schedule.plan(), stored.schedule.legs());
    let numbers = match plan.deals {
        Deals::Single => number..=number,
        _ => {
            let set = MatchId { number, attempt: 1 }.set(legs);
            (set - 1) * legs + 1..=set * legs
        }
    };
    let matches = numbers.map(|number| ruled(stored, number, None)).collect::<Result<_, _>>()?;
    decide_on_matches(stored, RulingRow { matches, ..row })
}

fn decide_to_disqualify(
    stored: &StoredTournament,
    index: usize,
    from: &DisqualifiedFrom,
    mut row: RulingRow,
) -> Result<ChangeEffect, Wrong> {
    let (schedule, own) = (&stored.schedule, Entrant(index as u16));
    let name = stored.entrants[index].name.clone();
    // The points go to the opponent, if there is one.
    let lost = |number: u32| -> Result<RuledMatch, Wrong> {
        let lineup = lineup(stored, number)?;
        if !lineup.has(own) {
            return Err(format!("`{name}` does not play m{number}").into());
        }
        let winner = only_opponent(lineup.seats().iter().copied(), &own);
        let winner = winner.map(|winner| stored.entrants[winner.index()].name.clone());
        ruled(stored, number, winner)
    };
    if let DisqualifiedFrom::Match(id) = from {
        row.matches = vec![lost(parse(id)?)?];
        return decide_on_matches(stored, row);
    }
    if stored.entrants[index].leaves.is_some() {
        return Err(
            format!("`{name}` has withdrawn: bring it back first, or disqualify it from matches").into()
        );
    }
    let (leaves, format) = (schedule.next_round(), schedule.plan().format);
    row.is_from_start = matches!(from, DisqualifiedFrom::Start);
    if row.is_from_start && format.is_final() {
        return Err("those whom it has beaten cannot return to a knockout or a race; it can be \
             disqualified from now on"
            .into());
    }
    if row.is_from_start && !format.is_known() {
        // The opponents win: without these matches they would have played fewer than others.
        let played = schedule.numbered_results().filter(|(_, result)| result.lineup.has(own));
        row.matches = played.map(|(number, _)| lost(number)).collect::<Result<_, _>>()?;
    }
    check(stored, &row)?;
    schedule.without(own)?;
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
    Ok(ChangeEffect { changes, message: format!("{name} is disqualified: {what}") })
}

fn decide_to_undo(
    stored: &StoredTournament,
    id: u32,
    requested: &RequestedRuling,
) -> Result<ChangeEffect, Wrong> {
    let row = RulingRow::find(&stored.rulings, id, "tournament")?;
    let schedule = &stored.schedule;
    let undone = UndoneRuling::made(now(), id, schedule.next_round(), &requested.user, &requested.reason);
    let mut changes = TournamentChange { undone: Some(undone), ..TournamentChange::default() };
    let message = format!("ruling {id} is undone");
    match row.act {
        RulingAct::Replay => {
            let again = row.matches.iter().find(|ruled| {
                stored.attempts.get(&ruled.number).is_some_and(|&attempts| attempts > ruled.attempt)
            });
            if let Some(ruled) = again {
                return Err(format!(
                    "ruling {id}: m{} has been played again; rule on it instead",
                    ruled.number
                )
                .into());
            }
        }
        RulingAct::Rename => {
            let index = find(stored, row.name.as_deref().unwrap_or_default())?;
            let mut config = stored.config.clone();
            let [before, after] = row.display.clone().unwrap_or_default();
            if config.entrants[index].display_name != after {
                return Err(format!("ruling {id}: a later ruling has renamed it again").into());
            }
            config.entrants[index].display_name.clone_from(&before);
            changes.renamed = Some((index, before));
            config.check_display_names()?;
            changes.config = Some(config.to_toml()?);
        }
        RulingAct::Void | RulingAct::Award | RulingAct::Disqualify => {
            let before: usize = stored
                .rulings
                .iter()
                .take_while(|other| other.id != id)
                .map(|other| on_matches(other, &stored.entrants).count())
                .sum();
            let indices: Vec<usize> = (before..).take(on_matches(row, &stored.entrants).count()).collect();
            schedule.without_rulings(&indices)?;
            let left = row.act == RulingAct::Disqualify && (row.matches.is_empty() || row.is_from_start);
            if left {
                let index = find(stored, row.name.as_deref().unwrap_or_default())?;
                let ChangeEffect { changes: back, message: returns } = rejoin(stored, index)?;
                changes.returns = back.returns;
                changes.sources = back.sources;
                return Ok(ChangeEffect { changes, message: format!("{message}: {returns}") });
            }
        }
    }
    Ok(ChangeEffect { changes, message })
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

/// The decision of a ruling on a match.
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
