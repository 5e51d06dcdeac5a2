//! Recomputes database rows from records.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::RunError;
use crate::tournament::stored::StoredTournament;
use referee_engine::runner::{Fixture, Scoring, Wait};
use referee_files::{unsealed, written_at};
use referee_game::SeatSet;
use referee_game::chance::Seed;
use referee_game::{Catalog, Chain};
use referee_match::record::{self, Difference, RecordSummary};
use referee_match::{InfoTotals, Leg};
use referee_results::FinishedMatch;
use referee_stats::sample::MatchMoves;
use referee_stats::schedule::{MatchId, Plan};
use referee_stats::{Cause, Deals, Entrant, Lineup, MatchResult};
use referee_store::{About, MatchRow, VOID};

/// Reasons why a file is not the record of a match of a tournament.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotOfTournament {
    #[error("{}", .0.iter().map(differs).collect::<Vec<_>>().join("; "))]
    Differs(Vec<Difference>),
    #[error("its record has the {what} {is}, not {should}")]
    Other { what: &'static str, is: String, should: String },
    #[error("its record was not played with the seed of the tournament")]
    OtherSeed,
    #[error("its record has {0} seats")]
    Seats(usize),
    #[error("its record names `{0}`, which is not an entrant")]
    NoEntrant(String),
    #[error("its record has the bots of a team in the wrong seats")]
    TeamSeats,
}

fn differs(difference: &Difference) -> String {
    format!("its record differs: {}", Chain(difference))
}

impl NotOfTournament {
    /// The differences, one text each.
    pub(super) fn lines(&self) -> Vec<String> {
        match self {
            NotOfTournament::Differs(differences) => differences.iter().map(differs).collect(),
            other => vec![other.to_string()],
        }
    }
}

/// Recomputes results from records.
pub(super) struct Auditor<'a> {
    about: &'a About,
    catalog: &'a Catalog,
    bots: Vec<String>,
    seed: Seed,
    scoring: Scoring,
    plan: &'a Plan,
    /// Whether matches can have the moves of earlier ones.
    can_repeat: bool,
}

pub(super) struct AuditedMatch {
    pub(super) row: MatchRow,
    /// `None` if it was aborted.
    pub(super) result: Option<MatchResult>,
    pub(super) finished: FinishedMatch,
}

impl<'a> Auditor<'a> {
    pub(super) fn new(stored: &'a StoredTournament) -> Result<Auditor<'a>, RunError> {
        let StoredTournament { about, games, config, schedule, .. } = stored;
        let catalog = games.catalog();
        let plan = schedule.plan();
        Ok(Auditor {
            about,
            catalog,
            bots: config.bots().map(|bot| bot.name.clone().unwrap_or_default()).collect(),
            seed: stored.seed()?,
            scoring: Scoring {
                seating: plan.seating,
                legs: schedule.legs(),
                on_fault: config.terms.on_fault,
                roster: Arc::new(config.roster()),
            },
            plan,
            can_repeat: catalog.find(&about.game).is_ok_and(|rules| !rules.meta().chance),
        })
    }

    pub(super) fn deal(&self, id: MatchId) -> String {
        self.plan.deal(id)
    }

    /// The row of an attempt, from its sealed record.
    pub(super) fn recorded(&self, id: MatchId, record: &[u8]) -> Result<AuditedMatch, NotOfTournament> {
        let summary = record::summarize(record, self.catalog).map_err(NotOfTournament::Differs)?;
        let bots = self.check(id, &summary)?;
        Ok(self.row(id, bots, summary))
    }

    /// Returns whether it is believed what tables of endgames said of the match, which are not here.
    pub(super) fn trusts_tables(&self, record: &[u8]) -> bool {
        record::trusts_tables(record, self.catalog)
    }

    /// The bots by seat, if this is the record of the attempt.
    fn check(&self, id: MatchId, summary: &RecordSummary) -> Result<Vec<usize>, NotOfTournament> {
        let (header, about) = (&summary.play.setup().header, self.about);
        let same = |what: &'static str, is: &dyn ToString, should: &dyn ToString| {
            let (is, should) = (is.to_string(), should.to_string());
            if is == should { Ok(()) } else { Err(NotOfTournament::Other { what, is, should }) }
        };
        same("match", &header.r#match, &id)?;
        same("game", &header.game, &about.game)?;
        same("rules", &header.rules, &about.rules)?;
        same("fault policy", &header.on_fault, &self.scoring.on_fault)?;
        let deal = self.deal(id);
        same("deal", &header.deal, &deal)?;
        if !summary.seal.is_of(&self.seed, &deal, &header.r#match) {
            return Err(NotOfTournament::OtherSeed);
        }
        if header.seats.len() != self.scoring.seating.seats() {
            return Err(NotOfTournament::Seats(header.seats.len()));
        }
        let index = |name: &String| {
            let found = self.bots.iter().position(|bot| bot == name);
            found.ok_or_else(|| NotOfTournament::NoEntrant(name.clone()))
        };
        let bots: Vec<usize> = header.seats.iter().map(|seat| index(&seat.name)).collect::<Result<_, _>>()?;
        let roster = &self.scoring.roster;
        let entrants: Vec<Entrant> = bots.iter().map(|&bot| Entrant(roster.entrant_of(bot) as u16)).collect();
        let lineup = Lineup::of_seats(self.scoring.seating, &entrants);
        if lineup.is_none_or(|lineup| roster.seated(&lineup) != bots) {
            return Err(NotOfTournament::TeamSeats);
        }
        Ok(bots)
    }

    fn row(&self, id: MatchId, bots: Vec<usize>, summary: RecordSummary) -> AuditedMatch {
        let finished = FinishedMatch::of_record(&summary);
        let RecordSummary { play, seal, .. } = summary;
        let header = &play.setup().header;
        let fixture = Fixture {
            id: id.to_string(),
            deal: (self.plan.deals != Deals::Single).then(|| header.deal.clone()),
            leg: Leg::Only,
            options: header.options.clone().into(),
            opening: header.opening.clone().into(),
            bots,
            wait: Wait::Always,
            secret: None,
        };
        let result = self.scoring.result(&fixture, &finished);
        let row = MatchRow {
            record: Some(format!("{id}.jsonl")),
            moves: finished.moves.filter(|_| self.can_repeat).map(MatchMoves::from),
            ..row(id, &self.scoring, &fixture, &finished, result, Some(seal.sha256))
        };
        AuditedMatch { row, result, finished }
    }
}

/// The row of a match with this result.
pub(super) fn row(
    id: MatchId,
    scoring: &Scoring,
    fixture: &Fixture,
    finished: &FinishedMatch,
    result: Option<MatchResult>,
    seal: Option<String>,
) -> MatchRow {
    let cause = finished.cause.filter(|&cause| cause != Cause::Interrupted);
    MatchRow {
        id,
        set: id.set(scoring.legs),
        lineup: scoring.entrants(fixture).into_iter().map(|entrant| entrant.0).collect(),
        ranks: result.map(|result| result.ranks()),
        faulted: result.map(|result| result.faulted).unwrap_or_default(),
        forfeited: result.map(|result| result.forfeited).unwrap_or_default(),
        ended_by: if finished.is_void { VOID.to_owned() } else { finished.ending.ended_by.to_string() },
        reason: cause.map_or_else(|| finished.ending.reason.clone(), |cause| cause.as_str().to_owned()),
        scores: finished.ending.scores.clone(),
        amounts: finished.ending.amounts.clone(),
        faults: finished.faults.clone(),
        totals: finished.totals.clone(),
        decisions: finished.decisions,
        duration_us: finished.duration_us,
        lag_ms: finished.lag_ms,
        cpu_ms: finished.cpu_ms.clone(),
        record: finished
            .record
            .as_ref()
            .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned())),
        seal,
        began_at: None,
        worker: finished.worker.clone(),
        moves: None,
    }
}

/// The start time of a match: when its record was written, less what it took.
pub(super) fn began_at(record: &Path, finished: &FinishedMatch) -> Option<SystemTime> {
    let took = Duration::from_micros(finished.duration_us) + Duration::from_millis(finished.paused_ms);
    // Sealing writes a record again, after the last match of its deal.
    let written = written_at(&unsealed(record)).or_else(|_| written_at(record));
    written.ok()?.checked_sub(took)
}

/// The differences between a row and the one computed from its record: each column with both values.
pub(super) fn differences(row: &MatchRow, recorded: &MatchRow) -> Vec<String> {
    let (ours, theirs) = (columns(row), columns(recorded));
    let differing = ours.into_iter().filter(|(name, value)| theirs[name] != *value);
    let mut found: Vec<String> = differing
        .map(|(name, value)| format!("{name}: {value} in the results, {} by its record", theirs[name]))
        .collect();
    if row.moves != recorded.moves {
        found.push("`opening` or `moves` in the results are not those of its record".to_owned());
    }
    if row.seal != recorded.seal {
        let [by_record, in_results] = [recorded, row].map(|row| row.seal.as_deref().unwrap_or("missing"));
        found.push(format!("the seal of its record is {by_record}, not {in_results} as in the results"));
    }
    found
}

/// The columns that a record determines. The duration is known to the shell only.
fn columns(row: &MatchRow) -> BTreeMap<&'static str, Value> {
    let seats = |seats: SeatSet| seats.iter().map(|seat| seat.0).collect::<Vec<u8>>();
    BTreeMap::from([
        ("set", row.set.into()),
        ("lineup", row.lineup.clone().into()),
        ("ranks", row.ranks.clone().into()),
        ("faulted", seats(row.faulted).into()),
        ("forfeited", seats(row.forfeited).into()),
        ("ended_by", row.ended_by.clone().into()),
        ("reason", row.reason.clone().into()),
        ("scores", row.scores.clone().into()),
        ("amounts", row.amounts.clone().into()),
        ("faults", serde_json::json!(row.faults)),
        ("totals", serde_json::json!(Some(&row.totals).filter(|totals| !InfoTotals::are_empty(totals)))),
        ("decisions", row.decisions.into()),
        ("lag_ms", row.lag_ms.into()),
        ("cpu_ms", serde_json::json!(row.cpu_ms)),
    ])
}
