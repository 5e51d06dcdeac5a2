//! The report on a tournament, computed once from its database, and its output formats.

mod bracket;
mod clocks;
mod conditions;
mod csv;
mod encounters;
mod github;
mod histogram;
mod html;
mod junit;
mod links;
mod markdown;
mod matches;
mod race;
mod recall;
mod standings;
mod story;
mod tables;
mod text;
mod timing;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use referee_match::{Faults, InfoTotals};
use referee_results::Roster;
use serde::Serialize;

pub use self::bracket::{BracketRound, PairReport, live_bracket};
pub use self::clocks::ClockPeriod;
pub(crate) use self::clocks::{clock_in_words, told_clock};
pub use self::conditions::{Conditions, Settings};
pub(super) use self::conditions::{minute, options_in_words};
pub use self::csv::{csv, line as csv_line};
pub use self::encounters::HeadToHead;
pub use self::github::annotations;
pub use self::html::html;
pub(super) use self::html::{
    CROSS, Section, encounters, figures, footer, notes, opening, standings, table, time, wdl,
};
pub use self::junit::junit;
pub(super) use self::links::{Escaped, Links};
pub use self::markdown::markdown;
pub use self::matches::{ListedMatch, MatchList, match_headings, movetext};
pub use self::race::{RaceReport, RacerReport};
pub use self::recall::{NotTwins, RecallGap, RecallReport};
pub use self::standings::{EntrantStanding, StandingsReport};
pub use self::story::live_story;
pub use self::tables::{standings_table, tables};
pub(super) use self::text::{Grid, time_use_of};
pub use self::timing::{Lag, Paused, RulesRestarts, SandboxUse, Timed, Timing};
use referee_game::Meta;
use referee_stats::rating::{Estimate, Rating, weng_lin};
use referee_stats::schedule::Schedule;
use referee_stats::standings::TableRow;
use referee_stats::{Entrant, MatchResult};
use referee_store::{MatchRow, Results, StoreError, VOID, is_void_for};

/// The full report on a tournament.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "report")]
pub struct TournamentReport {
    #[serde(skip)]
    pub(super) game: &'static Meta,
    /// The description of the tournament and its standings.
    #[serde(flatten)]
    pub standings: StandingsReport,
    /// The game and the settings.
    pub conditions: Conditions,
    /// Attempts at matches that were aborted.
    pub aborted: u32,
    /// Attempts at matches that were cut off.
    pub cut_off: u32,
    /// Matches that do not count: those of `void_for`, and those that depended on results that were lost. They are
    /// not part of any other figure.
    pub void: u32,
    /// The minimum number of matches without a result, including those of rounds that are not paired yet.
    pub unfinished: u64,
    /// The maximum number; in a knockout, results may require more matches.
    pub unfinished_at_most: u64,
    /// Details of the entrants, in the order of the standings.
    pub details: Vec<EntrantDetails>,
    pub ratings: Vec<Rater>,
    /// The points that entrants lose with the names of the game; omitted unless the same tournament in
    /// disguise is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<RecallReport>,
    /// The referee's own lag; `None` if no record was read.
    pub lag: Option<Lag>,
    /// Suspensions of the referee; `None` if there were none.
    pub paused: Option<Paused>,
    /// Restarts of the rules; omitted if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules_restarts: Option<RulesRestarts>,
    /// Records without a readable file.
    pub unread: u32,
    /// The sandboxes of the bots that the referee started, the strictest first; empty if no record was read.
    pub sandboxes: Vec<SandboxUse>,
    /// The rounds of a Swiss tournament that are paired, or the bracket of a knockout; otherwise empty.
    pub rounds: Vec<BracketRound>,
    /// Every attempt at a match, in the order of their numbers.
    pub attempts: Vec<ListedMatch>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Rater {
    pub algorithm: &'static str,
    /// The library and its version.
    pub version: &'static str,
}

#[derive(Debug, Serialize)]
pub struct EntrantDetails {
    /// The number in the order of the tournament file, from 1.
    pub number: usize,
    pub name: String,
    /// The command line, or tcp:NAME.
    pub source: String,
    /// The results against each entrant in the order of the standings; `None` if they never met.
    pub cross: Vec<Option<HeadToHead>>,
    /// The results together with each entrant as a partner, in the order of the standings; omitted if partners are
    /// not drawn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partners: Vec<Option<HeadToHead>>,
    pub weng_lin: Estimate,
    /// Code -> count.
    pub faults: Faults,
    /// The first matches in which it made a fault, at most [`FAULTY`].
    pub faulty: Vec<String>,
    /// The number of its matches that were cut off.
    pub interruptions: u32,
    /// The totals of its `info`, over all attempts; omitted if that is nothing.
    #[serde(skip_serializing_if = "InfoTotals::is_empty")]
    pub totals: InfoTotals,
    /// Processor time in milliseconds.
    pub cpu_ms: u64,
    /// The time use; `None` if none of its answers was read.
    pub time: Option<Timed>,
    /// The details in its bots' `hello`, each different form once; omitted if empty.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub said: BTreeSet<BTreeMap<String, String>>,
    /// The bots of a team by seat of its side; omitted for a single bot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub team: Vec<BotDetails>,
}

#[derive(Debug, Serialize)]
pub struct BotDetails {
    pub name: String,
    /// Code -> count.
    pub faults: Faults,
    /// The first matches in which it made a fault, at most [`FAULTY`].
    pub faulty: Vec<String>,
    /// The totals of the bot's `info`, as in [`EntrantDetails`].
    #[serde(skip_serializing_if = "InfoTotals::is_empty")]
    pub totals: InfoTotals,
    /// Processor time in milliseconds.
    pub cpu_ms: u64,
    /// The time use; `None` if none of its answers was read.
    pub time: Option<Timed>,
}

/// The maximum number of matches with a fault that an entrant's details list.
pub const FAULTY: usize = 10;

/// The sums over the matches of an entrant.
#[derive(Clone, Default)]
struct EntrantSums {
    faults: Faults,
    faulty: Vec<String>,
    totals: InfoTotals,
    cpu_ms: u64,
}

impl TournamentReport {
    /// The report on the tournament in `folder`, with its schedule and records. `tick` receives the number of records that have been read, and the total.
    ///
    /// # Errors
    /// If the database cannot be read, or a record is not valid.
    pub fn of(
        folder: &Path,
        db: &Results,
        schedule: &Schedule,
        settings: &Settings,
        tick: impl Fn(u64, u64) + Sync,
    ) -> Result<TournamentReport, StoreError> {
        let bots = &settings.bots[..];
        let standing = standings::StandingsData::of(db, schedule)?;
        let results: Vec<MatchResult> = schedule.results().copied().collect();
        let entrants = standing.entrants.len();
        let roster = Roster::of(bots.iter().map(Vec::len));
        let mut sums = vec![EntrantSums::default(); entrants];
        let mut bot_sums = vec![EntrantSums::default(); roster.len()];
        let seating = schedule.plan().seating;
        let (mut aborted, mut cut_off, mut void) = (0, 0, 0);
        let (mut records, mut matches, mut span) =
            (Vec::new(), Vec::new(), conditions::PlayedSpan::default());
        let names = standing.entrants.iter().map(|row| row.name.clone()).collect();
        let listed = MatchList::of(schedule, names, bots, &db.rulings()?);
        db.for_each_match(|row| {
            matches.push(listed.report(&row));
            span.add(&row);
            if row.ended_by == VOID {
                void += 1;
                if !is_void_for(&row.reason) {
                    return Ok(());
                }
            } else if row.ranks.is_none() {
                *(if row.ended_by == "cut_off" { &mut cut_off } else { &mut aborted }) += 1;
            }
            let seated = roster.seated_at(seating, &row.lineup);
            let entrants: Vec<usize> = row.lineup.iter().map(|&entrant| entrant.into()).collect();
            add(&mut sums, &row, &entrants);
            add(&mut bot_sums, &row, &seated);
            if let Some(record) = row.record {
                let lineup = seated.into_iter().map(|bot| bot as u16).collect();
                let attempt = matches.len() - 1;
                records.push(timing::RecordFile { file: record, attempt, lineup });
            }
            Ok(())
        })?;
        let timing = Timing::of(&folder.join("records"), &records, &roster, tick)?;
        for (attempt, clock) in &timing.clocks {
            if let Some(listed) = matches.get_mut(*attempt) {
                listed.clock = Some(clock.clone());
            }
        }
        let weng_lin = weng_lin::rate(entrants, &results);
        let partners = encounters::partners(schedule, &standing.attempts);
        let opponents = encounters::opponents(schedule, &standing);
        let order: Vec<Entrant> = standing.table.rows.iter().map(|row| row.entrant).collect();
        let details = standing.table.rows.iter().map(|&TableRow { entrant, matches, .. }| {
            let (index, row) = (entrant.index(), &standing.entrants[entrant.index()]);
            // Before its first match, an entrant has no rating.
            let known = |rating: Rating| {
                let deviation = if matches > 0 { rating.deviation } else { f64::INFINITY };
                Rating { deviation, ..rating }.estimate()
            };
            let sum = std::mem::take(&mut sums[index]);
            let of_team = |bot: usize| {
                let EntrantSums { faults, faulty, totals, cpu_ms } = std::mem::take(&mut bot_sums[bot]);
                let name = bots[index][bot - roster.bots(index).start].clone();
                BotDetails { name, faults, faulty, totals, cpu_ms, time: timing.bots[bot].clone() }
            };
            let team = roster.bots(index).filter(|_| bots[index].len() > 1).map(of_team).collect();
            EntrantDetails {
                number: index + 1,
                name: row.name.clone(),
                source: row.source.clone(),
                cross: order.iter().map(|&other| opponents.get(&(entrant, other)).cloned()).collect(),
                partners: match &partners {
                    Some(partners) => {
                        order.iter().map(|&other| partners.get(&(entrant, other)).cloned()).collect()
                    }
                    None => Vec::new(),
                },
                weng_lin: known(weng_lin.rows[index]),
                faults: sum.faults,
                faulty: sum.faulty,
                interruptions: row.interruptions,
                totals: sum.totals,
                cpu_ms: sum.cpu_ms,
                time: timing.entrants[index].clone(),
                said: roster.bots(index).flat_map(|bot| timing.said[bot].clone()).collect(),
                team,
            }
        });
        let missing = schedule.missing();
        let is_complete = missing.most == 0 && schedule.is_over();
        Ok(TournamentReport {
            game: settings.game,
            conditions: Conditions::of(
                schedule.plan(),
                settings,
                span,
                clocks::periods(&matches),
                is_complete,
            ),
            aborted,
            cut_off,
            void,
            unfinished: missing.least,
            unfinished_at_most: missing.most,
            details: details.collect(),
            ratings: vec![Rater { algorithm: weng_lin.algorithm, version: weng_lin.version }],
            recall: None,
            lag: timing.lag,
            paused: timing.paused,
            rules_restarts: timing.rules_restarts,
            unread: timing.unread,
            sandboxes: timing.sandboxes,
            rounds: bracket::rounds(schedule, &standing.entrants, &matches),
            attempts: matches,
            standings: standing.report,
        })
    }

    /// Returns whether the rounds are those of a knockout.
    fn is_knockout(&self) -> bool {
        !self.rounds.is_empty() && self.standings.is_knockout
    }

    /// The bracket as text, if it is a knockout that is not too large.
    fn bracket(&self) -> Option<String> {
        bracket::drawn(&self.rounds, self.is_knockout())
    }

    /// Standing and details of each entrant, the best first.
    pub fn entrants(&self) -> impl Iterator<Item = (&EntrantStanding, &EntrantDetails)> {
        self.standings.entrants.iter().zip(&self.details)
    }

    /// The display names that people see instead of the names in the record of a match, by seat. The bots of a team have names of their own.
    pub fn display_names(&self, listed: &ListedMatch) -> Vec<Option<String>> {
        let of_name = |name: &String| {
            let standing = self.standings.entrants.iter().find(|standing| standing.name == *name)?;
            standing.display_name.clone()
        };
        listed.bots.iter().map(of_name).collect()
    }
}

/// Adds a match to the sums of its entrants.
fn add(sums: &mut [EntrantSums], row: &MatchRow, seated: &[usize]) {
    for (seat, &of) in seated.iter().enumerate() {
        let Some(sum) = sums.get_mut(of) else { continue };
        let faults = row.faults.get(seat).copied().unwrap_or_default();
        sum.faults.merge(&faults);
        let (id, is_faulty) = (row.id.to_string(), !faults.is_empty());
        if is_faulty && sum.faulty.len() < FAULTY && sum.faulty.last() != Some(&id) {
            sum.faulty.push(id);
        }
        row.totals.get(seat).into_iter().for_each(|totals| sum.totals.merge(totals));
        sum.cpu_ms += row.cpu_ms.get(seat).copied().flatten().unwrap_or(0);
    }
}
