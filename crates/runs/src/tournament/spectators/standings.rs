//! The standings of a tournament in progress, for spectators.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use referee_report::tournament::{live_bracket, live_story};
use referee_stats::MatchCounts;
use referee_stats::rating::bradley_terry::{self, Counts, Strengths};
use referee_stats::schedule::{DueMatch, Schedule};
use referee_stats::standings::TableRow;
use referee_store::{Results, RulingRow};
use referee_web::{DisplayNames, NextMatch, ShownName, StandingsRow, StandingsView};
use tokio::time::Instant;

use crate::RunError;
use crate::tournament::{TournamentConfig, open_results};

/// The number of matches of which spectators may be told in advance; those in progress are among them.
const NEXT: usize = 100;
/// The number of entrants whose bracket fits a page.
const DRAWN: usize = 64;
/// The time between two computations of the strengths at least. They take at most a tenth of the time.
const STRENGTHS_APART: Duration = Duration::from_secs(1);

/// The standings of a tournament in progress.
pub(super) struct LiveStandings {
    name: String,
    entrants: Vec<String>,
    display_names: Arc<DisplayNames>,
    rulings: Arc<Vec<RulingRow>>,
    /// The results, for the moves of matches: copies of a match do not count for strengths.
    results: Results,
    fitted: Option<FittedStrengths>,
}

/// Strengths after a number of results.
struct FittedStrengths {
    strengths: Strengths,
    results: usize,
    until: Instant,
}

impl LiveStandings {
    /// Opens the database of the tournament in this directory.
    pub(super) fn open(directory: &Path, config: &TournamentConfig) -> Result<LiveStandings, RunError> {
        let results = open_results(directory)?;
        let name = results.about()?.name;
        let entrants = config.names();
        let shown = entrants.iter().zip(&config.entrants);
        let shown = shown.filter_map(|(name, entrant)| Some((name.clone(), entrant.display_name.clone()?)));
        let display_names = Arc::new(shown.collect());
        let rulings = Arc::new(results.rulings()?);
        Ok(LiveStandings { name, entrants, display_names, rulings, results, fitted: None })
    }

    /// Returns the page's data for this state of the schedule.
    pub(super) fn view(&mut self, schedule: &Schedule) -> StandingsView {
        self.fit(schedule);
        let LiveStandings { name, entrants, display_names, rulings, fitted, .. } = self;
        let standings = schedule.standings();
        let standing = |row: &TableRow| StandingsRow {
            place: row.place.map(|place| place as usize),
            player: ShownName::new(&entrants[row.entrant.index()]),
            counts: MatchCounts {
                matches: row.matches,
                wdl: row.by_play + row.by_fault,
                faulted: row.faulted,
            },
            points: row.points,
            possible: Some(row.possible),
            amount: row.amount,
            ..StandingsRow::default()
        };
        let side = |due: &DueMatch, side: usize| {
            due.lineup.side(side).map(|entrant| entrants[entrant.index()].clone()).collect()
        };
        let next = schedule.due().take(NEXT).map(|due| NextMatch {
            id: Some(due.id.to_string()),
            sides: (0..due.lineup.seating().sides()).map(|at| side(&due, at)).collect(),
            why: format!("match {}", due.id.number),
        });
        let ids: Vec<&str> = entrants.iter().map(String::as_str).collect();
        let shown: Vec<&str> =
            entrants.iter().map(|name| display_names.get(name).unwrap_or(name).as_str()).collect();
        let strengths = fitted.as_ref().map(|fitted| &fitted.strengths);
        StandingsView {
            rows: standings.rows.iter().map(standing).collect(),
            story: Some(live_story(name, &ids, &shown, schedule, &standings, strengths)),
            bracket: live_bracket(schedule, &shown).filter(|_| entrants.len() <= DRAWN),
            next: next.collect(),
            names: display_names.clone(),
            rulings: rulings.clone(),
            ..StandingsView::default()
        }
    }

    /// Computes the strengths, if results have come and it is time.
    fn fit(&mut self, schedule: &Schedule) {
        let (began, results) = (Instant::now(), schedule.results().count());
        let is_due = |fitted: &FittedStrengths| fitted.results != results && began >= fitted.until;
        if results == 0 || !self.fitted.as_ref().is_none_or(is_due) {
            return;
        }
        // Without the moves copies would count: the strengths stay as they are.
        let Ok(moves) = self.results.moves() else { return };
        let numbered = schedule.numbered_results();
        let with_moves = numbered.map(|(number, result)| (result, moves.get(&number).copied()));
        let strengths = bradley_terry::fit(&Counts::with_moves(self.entrants.len(), with_moves));
        let until = Instant::now() + STRENGTHS_APART.max(9 * began.elapsed());
        self.fitted = Some(FittedStrengths { strengths, results, until });
    }
}
