//! What a tournament came to, computed once from its database, and the forms in which it is told.

mod csv;
mod github;
mod html;
mod junit;
mod markdown;
mod matches;
mod plot;
mod standings;
mod tables;
mod text;
mod timing;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use referee_protocol::words::FaultCode;
use serde::Serialize;

pub use self::csv::csv;
pub use self::github::annotations;
pub use self::html::html;
pub use self::junit::junit;
pub use self::markdown::markdown;
pub use self::matches::{MatchReport, match_headings, movetext};
pub use self::standings::{EntrantStanding, StandingsReport};
pub use self::tables::{standings_table, tables};
pub use self::timing::{Lag, Timed, Timing};
use crate::core::chance::Seed;
use crate::store::{MatchRow, Results, VOID};
use crate::tournament::rating::{Estimate, Ratings, bootstrap, glicko2, weng_lin};
use crate::tournament::schedule::Schedule;
use crate::tournament::standings::Row;
use crate::tournament::{Entrant, MatchResult};

/// All that there is to tell about a tournament.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "report")]
pub struct TournamentReport {
    /// What the tournament is, and who is where in it.
    #[serde(flatten)]
    pub standings: StandingsReport,
    /// Attempts at matches that were broken off by the referee or somebody.
    pub aborted: u32,
    /// Attempts at matches that ended with the run.
    pub cut_off: u32,
    /// Matches that were played to their end but do not count: their pair in a knockout was decided meanwhile. Nothing
    /// else here tells of them.
    pub void: u32,
    /// Matches that are known to be missing; a later round may bring more.
    pub unfinished: u32,
    /// More of the entrants, in the order of the standings.
    pub details: Vec<EntrantDetails>,
    /// What computed the ratings.
    pub ratings: Vec<Rater>,
    /// The referee's own lag; none when no record was read.
    pub lag: Option<Lag>,
    /// Records that could not be read.
    pub unread: u32,
}

/// What computed a rating.
#[derive(Clone, Debug, Serialize)]
pub struct Rater {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The library and its version.
    pub version: &'static str,
    /// How many times sets were drawn for the intervals; 0: there are too many matches, and the intervals are 1.96 of
    /// the algorithm's own deviations.
    pub draws: u32,
}

/// More of an entrant.
#[derive(Debug, Serialize)]
pub struct EntrantDetails {
    /// Its name.
    pub name: String,
    /// Its command line, or tcp:NAME.
    pub source: String,
    /// Against each entrant in the order of the standings; none where they never met.
    pub cross: Vec<Option<Met>>,
    /// Glicko-2.
    pub glicko2: Estimate,
    /// Weng-Lin.
    pub weng_lin: Estimate,
    /// Code -> count.
    pub faults: BTreeMap<String, u32>,
    /// The first matches in which it made a fault, at most [`FAULTY`].
    pub faulty: Vec<String>,
    /// Matches of its that were cut off.
    pub interruptions: u32,
    /// Processor time in milliseconds.
    pub cpu_ms: u64,
    /// Its time use; none when no answer of its was read.
    pub time: Option<Timed>,
}

impl EntrantDetails {
    /// How often it did not answer in time.
    pub fn time_outs(&self) -> u32 {
        self.faults.get(FaultCode::Timeout.as_str()).copied().unwrap_or(0)
    }
}

/// How many matches with a fault an entrant's details name.
pub const FAULTY: usize = 10;

/// What one entrant did against another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Met {
    /// Matches; with three sides the part of them that was between these two.
    pub matches: f64,
    /// What it scored.
    pub score: f64,
}

/// What is added up over the matches for an entrant.
#[derive(Clone, Default)]
struct Sum {
    faults: BTreeMap<String, u32>,
    faulty: Vec<String>,
    cpu_ms: u64,
}

/// Bootstrapping rates at most so many matches.
const WORK: u32 = 2_000_000;

/// Draws of sets.
const DRAWS: u32 = 200;

impl TournamentReport {
    /// Of the tournament in `folder`, which stands so, with its records. `tick` is told how many records have been read, of how many.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn of(
        folder: &Path,
        db: &Results,
        schedule: &Schedule,
        tick: impl Fn(u64, u64) + Sync,
    ) -> io::Result<TournamentReport> {
        let standing = standings::Standing::of(db, schedule)?;
        let results: Vec<MatchResult> = schedule.results().copied().collect();
        let entrants = standing.entrants.len();
        let mut sums = vec![Sum::default(); entrants];
        let (mut aborted, mut cut_off, mut void) = (0, 0, 0);
        let mut records = Vec::new();
        db.for_each_match(|row| {
            if row.ended_by == VOID {
                void += 1;
                return Ok(());
            }
            if row.ranks.is_none() {
                *(if row.ended_by == "cut_off" { &mut cut_off } else { &mut aborted }) += 1;
            }
            add(&mut sums, &row);
            if let Some(record) = row.record {
                records.push(timing::Recorded { file: record, lineup: row.lineup });
            }
            Ok(())
        })?;
        let timing = Timing::of(&folder.join("records"), &records, entrants, tick);
        let (glicko2, draws) = rated(&results, |results| glicko2::rate(entrants, results));
        let (weng_lin, _) = rated(&results, |results| weng_lin::rate(entrants, results));
        let order: Vec<Entrant> = standing.table.rows.iter().map(|row| row.entrant).collect();
        let details = standing.table.rows.iter().map(|&Row { entrant, matches, .. }| {
            let (index, row) = (entrant.index(), &standing.entrants[entrant.index()]);
            // What no draw of sets changes is not certain for that.
            let known = |rating: Estimate| {
                if matches > 0 { rating } else { Estimate::normal(rating.value, f64::INFINITY) }
            };
            let sum = std::mem::take(&mut sums[index]);
            let met = |&other: &Entrant| {
                let cross = standing.table.between(entrant, other);
                (cross.matches > 0.0).then_some(Met { matches: cross.matches, score: cross.score })
            };
            EntrantDetails {
                name: row.name.clone(),
                source: row.source.clone(),
                cross: order.iter().map(met).collect(),
                glicko2: known(glicko2.1[index]),
                weng_lin: known(weng_lin.1[index]),
                faults: sum.faults,
                faulty: sum.faulty,
                interruptions: row.interruptions,
                cpu_ms: sum.cpu_ms,
                time: timing.entrants[index].clone(),
            }
        });
        Ok(TournamentReport {
            aborted,
            cut_off,
            void,
            unfinished: schedule.due().count() as u32,
            details: details.collect(),
            ratings: [&glicko2.0, &weng_lin.0]
                .map(|ratings| Rater { algorithm: ratings.algorithm, version: ratings.version, draws })
                .into(),
            lag: timing.lag,
            unread: timing.unread,
            standings: standing.report,
        })
    }

    /// Standing and details of each entrant, the best first.
    pub fn entrants(&self) -> impl Iterator<Item = (&EntrantStanding, &EntrantDetails)> {
        self.standings.entrants.iter().zip(&self.details)
    }
}

fn add(sums: &mut [Sum], row: &MatchRow) {
    for (seat, &entrant) in row.lineup.iter().enumerate() {
        let Some(sum) = sums.get_mut(usize::from(entrant)) else { continue };
        let faults = row.faults.get(seat).into_iter().flatten();
        let before = sum.faults.values().sum::<u32>();
        for (code, count) in faults {
            *sum.faults.entry(code.clone()).or_default() += count;
        }
        let id = row.id.to_string();
        let is_faulty = sum.faults.values().sum::<u32>() > before;
        if is_faulty && sum.faulty.len() < FAULTY && sum.faulty.last() != Some(&id) {
            sum.faulty.push(id);
        }
        sum.cpu_ms += row.cpu_ms.get(seat).copied().flatten().unwrap_or(0);
    }
}

/// Ratings, and the same with intervals from the bootstrap, and how many draws these took. The draws are the same every
/// time, so that a report is.
fn rated(
    results: &[MatchResult],
    rate: impl Fn(&[MatchResult]) -> Ratings,
) -> ((Ratings, Vec<Estimate>), u32) {
    let ratings = rate(results);
    if results.len() as u64 * u64::from(DRAWS) > u64::from(WORK) {
        let own = ratings.rows.iter().map(|row| Estimate::normal(row.rating, row.deviation));
        let own = own.collect();
        return ((ratings, own), 0);
    }
    let mut stream = Seed([0; 32]).match_key("report", "bootstrap", &[""]).stream();
    let estimates = bootstrap::intervals(results, DRAWS, &mut stream, |drawn| rate(drawn).values());
    ((ratings, estimates), DRAWS)
}
