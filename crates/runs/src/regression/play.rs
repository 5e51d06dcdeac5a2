//! Plays a regression to its verdict, on this machine or on workers.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use referee_engine::runner::{
    EndedMatch, Halt, MatchRunner, Openings, PlanScheduler, RunEnd, RunEvent, RunFailure,
};
use referee_engine::sources::check_programs;
use referee_game::{Catalog, Chain, SettingNames, counted, keys};
use referee_match::InfoTotals;
use referee_report::{RegressionOutcome, RegressionReport, RegressionSetting};
use referee_results::FirstFaults;
use referee_stats::schedule::Schedule;
use tokio::time::Instant;

use crate::Placement;
use crate::RunError;
use crate::budget::Budget;
use crate::config::Dollars;
use crate::regression::run::{AddedMatch, RegressionRun, RegressionSet};
use crate::regression::{RegressionSetup, ResultLine, ResultsContents, ResultsFile, changed_bots};

/// A regression that can be played.
#[derive(Debug)]
pub struct PreparedRegression {
    setup: RegressionSetup,
    earlier: Option<ResultsContents>,
    catalog: Catalog,
    schedule: Schedule,
    running: RegressionRun,
    /// The time after which the run ends undecided.
    pub max_time: Option<Duration>,
    /// The cost of matches at which the run ends undecided, as the bots report it.
    pub max_cost: Option<Dollars>,
    /// The names of these limits, as keys of a file or as options.
    pub names: SettingNames,
    results: Option<ResultsFile>,
}

/// An event of a regression in progress.
#[derive(Debug)]
pub enum RegressionEvent<'a> {
    /// An event of the matches.
    Run(&'a RunEvent<'a>),
    /// A set has been judged.
    Set(&'a RegressionSet),
}

#[derive(Debug)]
pub struct RegressionEnd {
    /// The verdict, or why there is none.
    pub outcome: RegressionOutcome,
    pub report: RegressionReport,
}

impl PreparedRegression {
    /// Prepares a run with this setup; with `earlier` it goes on from the sets of a results file.
    ///
    /// # Errors
    /// If the setup is not valid, or the sets do not fit it.
    pub fn new(
        setup: RegressionSetup,
        earlier: Option<ResultsContents>,
        catalog: &Catalog,
    ) -> Result<PreparedRegression, RunError> {
        let kept = earlier.as_ref().map_or(&[][..], |earlier| &earlier.kept);
        let (schedule, running) = setup.begin(catalog, kept, false)?;
        Ok(PreparedRegression {
            setup,
            earlier,
            catalog: catalog.clone(),
            schedule,
            running,
            max_time: None,
            max_cost: None,
            names: keys,
            results: None,
        })
    }

    /// The number of sets that have been judged.
    pub fn judged(&self) -> u32 {
        self.running.regression.tally().sets
    }

    /// The maximum number of sets that are judged.
    pub fn most_sets(&self) -> u32 {
        self.running.regression.terms().max_sets
    }

    /// Writes complete sets to a file: a new one, or that of the earlier sets.
    ///
    /// # Errors
    /// If it cannot be written, or another process writes to it.
    pub fn keep_in(&mut self, path: &Path) -> Result<(), RunError> {
        self.results = Some(match &self.earlier {
            None => ResultsFile::create(path, &self.setup)?,
            Some(earlier) => ResultsFile::append(path, earlier, &self.setup)?,
        });
        Ok(())
    }

    /// Plays sets between the two bots of this runner until there is a verdict, and reports it. `stop` resolves when play
    /// should be interrupted.
    ///
    /// # Errors
    /// If workers cannot get the bots. A run that cannot go on has a report.
    pub fn play(
        self,
        runner: MatchRunner,
        openings: Openings,
        mut placement: Placement,
        stop: impl Future<Output = ()>,
        on_event: &mut (dyn FnMut(RegressionEvent<'_>) + Send),
    ) -> Result<RegressionEnd, RunError> {
        let PreparedRegression {
            setup,
            earlier,
            catalog,
            schedule,
            mut running,
            max_time,
            names,
            max_cost,
            mut results,
        } = self;
        let begun = Instant::now();
        let played = earlier.as_ref().map_or(Duration::ZERO, |earlier| earlier.played);
        let mut first_faults = FirstFaults::default();
        if let Some(crash) = running.crash() {
            crash.add_to(&mut first_faults);
        }
        let is_judged = setup.same_version || running.regression.verdict().is_some();
        let mut played_by = earlier.as_ref().map(|earlier| earlier.played_by.clone()).unwrap_or_default();
        let versions = setup.played_by();
        let scheduler = PlanScheduler::new(schedule, running.scoring().clone(), openings);
        let is_out_of_time = Cell::new(false);
        let stop = stop_within(max_time, stop, &is_out_of_time);
        let mut has_played = false;
        let mut budget = Budget::new(max_cost, Vec::new());
        let before = earlier.as_ref().map(|earlier| earlier.totals).unwrap_or_default();
        budget.charge(&[0, 1], &before);
        let is_over = is_judged || budget.exceeded().is_some();
        // The reports since the last line of the results file.
        let (mut totals, mut unkept) = (before, <[InfoTotals; 2]>::default());
        let on_match = |event: RunEvent<'_>| {
            on_event(RegressionEvent::Run(&event));
            let RunEvent::Ended(EndedMatch { fixture, finished, no_show, .. }) = event else {
                return Ok(());
            };
            budget.charge(&fixture.bots, &finished.totals);
            for (&bot, of_seat) in fixture.bots.iter().zip(&finished.totals) {
                [&mut totals, &mut unkept].into_iter().for_each(|sums| sums[bot].merge(of_seat));
            }
            let AddedMatch { kept, judged } = running.add(fixture, finished);
            if let (Some(results), Some(kept), None) = (&mut results, &kept, no_show) {
                let unkept = std::mem::take(&mut unkept);
                results.keep(kept, unkept, played + begun.elapsed()).map_err(RunFailure::other)?;
            }
            if let (Some(ResultLine::Set { set, .. }), None) = (&kept, no_show) {
                played_by.insert(*set, versions.clone());
            }
            judged.iter().for_each(|set| on_event(RegressionEvent::Set(set)));
            // If the bot has played before, a failed start is a fault like any other.
            let ends = no_show.as_ref().filter(|_| !has_played);
            first_faults.add(finished, ends.map(|no_show| no_show.seat));
            if let Some(no_show) = ends {
                return Err(no_show.clone().into());
            }
            has_played = true;
            let has_verdict = running.regression.verdict().is_some();
            if has_verdict || budget.exceeded().is_some() { Err(Halt::Done) } else { Ok(()) }
        };
        let end = if is_over {
            RunEnd::default()
        } else if let Err(why) = check_programs(&runner.bots) {
            RunEnd { why: Some(why.into()), ..RunEnd::default() }
        } else {
            let mut end = placement.play(runner, scheduler, &catalog, stop, on_match)?;
            if let Err(error) = placement.end(!end.is_interrupted) {
                end.why.get_or_insert(RunFailure::other(error));
            }
            if !end.given_up.is_empty() {
                let sets = std::mem::take(&mut end.given_up);
                end.why
                    .get_or_insert(format!("workers were lost with these sets: {}", sets.join("; ")).into());
            }
            end
        };
        if let Some(results) = &mut results {
            results.keep_rest(unkept)?;
        }
        let outcome = match (running.regression.verdict(), end, max_time) {
            _ if setup.same_version => RegressionOutcome::SameVersion,
            // An error after the verdict does not change it.
            (Some(verdict), RunEnd { why: None, .. }, _) => RegressionOutcome::Judged(verdict),
            (_, RunEnd { why: Some(why), .. }, _) => RegressionOutcome::CouldNotRun(Chain(&why).to_string()),
            (None, _, Some(time)) if is_out_of_time.get() => RegressionOutcome::Undecided(format!(
                "the time is over ({}, {})",
                names("max_time", Some(&humantime::format_duration(time).to_string())),
                counted(running.regression.tally().sets, "set", "sets"),
            )),
            (None, ..) => match budget.exceeded() {
                Some(why) => RegressionOutcome::Undecided(format!("{why} ({})", names("max_cost", None))),
                None => RegressionOutcome::Interrupted,
            },
        };
        let setups = earlier.iter().flat_map(|earlier| &earlier.setups).chain([&setup]);
        let changed = changed_bots(setups);
        let duration = played + begun.elapsed();
        let versions = running.versions(&played_by);
        let setting = RegressionSetting { changed, versions, duration, totals, ..setup.setting(names) };
        let report = RegressionReport::new(outcome.clone(), setting, running.findings(), &first_faults);
        Ok(RegressionEnd { outcome, report })
    }
}

/// Resolves when the run should be interrupted or the time is over; `is_over` says which.
async fn stop_within(max_time: Option<Duration>, stop: impl Future<Output = ()>, is_over: &Cell<bool>) {
    match max_time {
        None => stop.await,
        Some(time) => tokio::select! {
            () = stop => {}
            () = tokio::time::sleep(time) => is_over.set(true),
        },
    }
}
