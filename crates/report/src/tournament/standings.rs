//! The standings, which take little time however many matches there are.

use std::collections::BTreeMap;
use std::ops::Deref;

use referee_stats::rating::Estimate;
use referee_stats::rating::bradley_terry::{self, Counts, Origin, Strengths};
use referee_stats::schedule::{Format, MatchId, RankBy, Schedule};
use referee_stats::standings::{Standings, TableRow, TieBreak};
use referee_stats::{MatchResult, Wdl};
use referee_store::{EntrantRow, Results, StoreError};
use serde::Serialize;

use super::race::RaceReport;
use super::story::StoryInputs;
use crate::interval::Population;
use crate::ruling::PublicRuling;
use crate::story::Story;

/// The description and the standings of a tournament.
#[derive(Debug, Serialize)]
pub struct StandingsReport {
    pub name: String,
    pub game: String,
    pub rules: u32,
    /// The number of seats per match.
    pub seats: usize,
    pub sides: usize,
    /// Matches with a result.
    pub matches: usize,
    /// Sets with a result.
    pub sets: usize,
    /// Copies of other sets, which do not count for Elo.
    pub copies: u64,
    /// Sets with different entrants in the seats, moves or results.
    pub distinct_sets: u64,
    /// Different openings or deals.
    pub openings: u64,
    /// The openings of which Elo speaks.
    pub population: Population,
    /// The number of void matches by cause: they have no result and are not replayed.
    pub void_for: BTreeMap<String, u32>,
    /// The rulings of the organiser, in the order in which they were made.
    pub rulings: Vec<PublicRuling>,
    /// The measure that orders the entrants before tie-breaks.
    pub rank_by: RankBy,
    /// The tie-breaks, in order of precedence.
    pub tie_breaks: Vec<TieBreak>,
    #[serde(skip)]
    pub(super) is_knockout: bool,
    /// The winner of a knockout or the pick of a race, once known.
    pub champion: Option<String>,
    /// The state of a race; omitted in other formats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceReport>,
    /// The leader or winner, and the reason.
    pub story: Story,
    /// The best first.
    pub entrants: Vec<EntrantStanding>,
    /// By side except the last: in Elo, the advantage of its seats over those of the last side.
    pub advantage: Vec<Estimate>,
}

#[derive(Debug, Serialize)]
pub struct EntrantStanding {
    pub name: String,
    /// The display name, which people see instead of it.
    pub display_name: Option<String>,
    #[serde(flatten)]
    row: TableRow,
    /// Elo relative to the mean of the field, with its 95% interval.
    pub elo: Estimate,
    /// Elo from the matches that no fault has decided; omitted if a fault has decided none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elo_without_forfeits: Option<Estimate>,
}

impl Deref for EntrantStanding {
    type Target = TableRow;

    fn deref(&self) -> &TableRow {
        &self.row
    }
}

impl EntrantStanding {
    /// The place, if it has one.
    pub(crate) fn place_shown(&self) -> String {
        self.place.map(|place| place.to_string()).unwrap_or_default()
    }

    /// The results, however they came about.
    pub(crate) fn wdl(&self) -> Wdl {
        self.by_play + self.by_fault
    }

    /// The name that people see.
    pub fn shown(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.name)
    }
}

/// The standings with their sources.
pub(super) struct StandingsData {
    pub(super) entrants: Vec<EntrantRow>,
    pub(super) table: Standings,
    pub(super) strengths: Strengths,
    /// The attempts with a result, by the number of the match.
    pub(super) attempts: BTreeMap<u32, MatchId>,
    pub(super) report: StandingsReport,
}

impl StandingsData {
    pub(super) fn of(db: &Results, schedule: &Schedule) -> Result<StandingsData, StoreError> {
        let (about, entrants) = (db.about()?, db.entrants()?);
        let table = schedule.standings();
        let moves = db.moves()?;
        let results =
            || schedule.numbered_results().map(|(number, result)| (result, moves.get(&number).copied()));
        let counts = Counts::with_moves(entrants.len(), results());
        let is_played = |result: &MatchResult| result.forfeited.is_empty();
        let played = results().any(|(result, _)| !is_played(result)).then(|| {
            let played = results().filter(|(result, _)| is_played(result));
            bradley_terry::fit(&Counts::with_moves(entrants.len(), played))
        });
        let Origin { copies, distinct_sets, openings, .. } = counts.origin();
        let strengths = bradley_terry::fit(&counts);
        let rows = table.rows.iter().map(|row| EntrantStanding {
            name: entrants[row.entrant.index()].name.clone(),
            display_name: entrants[row.entrant.index()].display_name.clone(),
            row: *row,
            elo: strengths.elo[row.entrant.index()],
            elo_without_forfeits: played.as_ref().map(|played| played.elo[row.entrant.index()]),
        });
        let attempts = db.counted_attempts()?;
        let story = StoryInputs {
            name: &about.name,
            ids: &entrants.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(),
            names: &entrants
                .iter()
                .map(|row| row.display_name.as_deref().unwrap_or(&row.name))
                .collect::<Vec<_>>(),
            schedule,
            table: &table,
            strengths: Some(&strengths),
            attempts: Some(&attempts),
        };
        let story = story.told();
        let report = StandingsReport {
            name: about.name,
            game: about.game,
            rules: about.rules,
            seats: about.seating.seats(),
            sides: about.seating.sides(),
            matches: schedule.results().count(),
            // The results of a set are adjacent.
            sets: schedule
                .results()
                .scan(0, |last, result| Some(std::mem::replace(last, result.set) != result.set))
                .filter(|&is_new| is_new)
                .count(),
            copies,
            distinct_sets,
            openings,
            population: Population::new(strengths.is_of_played_openings),
            void_for: db.void_for()?,
            rulings: db.rulings()?.iter().map(PublicRuling::of).collect(),
            rank_by: schedule.plan().ranked_by(),
            tie_breaks: schedule.plan().format.tie_breaks().to_vec(),
            is_knockout: matches!(schedule.plan().format, Format::Knockout { .. }),
            champion: schedule.champion().map(|champion| entrants[champion.index()].name.clone()),
            race: RaceReport::of(schedule, entrants.iter().map(|row| row.name.clone())),
            story,
            entrants: rows.collect(),
            advantage: strengths.advantage.clone(),
        };
        Ok(StandingsData { entrants, table, strengths, attempts, report })
    }
}

impl StandingsReport {
    /// The standings of the tournament in a database.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(db: &Results, schedule: &Schedule) -> Result<StandingsReport, StoreError> {
        Ok(StandingsData::of(db, schedule)?.report)
    }
}
