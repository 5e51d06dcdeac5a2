//! Compares a new version of a bot with its base, match by match.

use std::collections::BTreeMap;

use referee_engine::runner::{Fixture, Scoring};
use referee_game::Seat;
use referee_match::Faults;
use referee_protocol::words::FaultCode;
use referee_report::{RegressionFindings, SetVersions};
use referee_results::{Crash, FinishedMatch, moves_of_set};
use referee_stats::MatchResult;
use referee_stats::rating::Estimate;
use referee_stats::regression::{Fate, JudgedSet, NEW, Regression, Shard};
use referee_stats::sample::SetMoves;
use serde::Serialize;

use crate::regression::result_line::{RegressionMatch, ResultLine, ResultMatch};

/// Collects matches into sets, and judges the sets.
#[derive(Debug)]
pub struct RegressionRun {
    pub regression: Regression,
    scoring: Scoring,
    /// Whether sets can repeat the moves of earlier ones.
    can_repeat: bool,
    /// Whether a crash of `new` is treated as any other fault, instead of ending the run.
    recover: bool,
    /// The shard of the sets; `None`: all.
    shard: Option<Shard>,
    /// The crash of `new` that ended the run.
    crash: Option<Crash>,
    /// Sets that have not been judged.
    open: BTreeMap<u32, Vec<RegressionMatch>>,
    faults: [Faults; 2],
}

/// The effect of a match.
#[derive(Debug, Default)]
pub struct AddedMatch {
    /// The line for the results file: its set, if that is complete.
    pub kept: Option<ResultLine>,
    /// The sets that have been judged since.
    pub judged: Vec<RegressionSet>,
}

/// A judged set, in the format of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "set")]
pub struct RegressionSet {
    /// The id: s1, s2, ...
    pub id: String,
    pub matches: Vec<String>,
    pub fate: Fate,
    /// The score of `new`, from 0 to 1.
    pub score: f64,
    /// The log-likelihood ratio after it; `None` in a run of fixed length.
    pub llr: Option<f64>,
    /// The bounds that accept H0 and H1.
    pub bounds: Option<(f64, f64)>,
    /// In Elo, as if the number of sets had been fixed in advance; infinite bounds are `null`.
    pub elo: Option<Estimate>,
    /// The sets with different moves up to it.
    pub distinct_sets: u32,
    /// The openings or deals.
    pub openings: u32,
}

impl RegressionRun {
    /// Begins without any sets; see the fields of [`RegressionRun`].
    pub fn new(
        regression: Regression,
        scoring: Scoring,
        can_repeat: bool,
        recover: bool,
        shard: Option<Shard>,
    ) -> RegressionRun {
        let (open, faults) = (BTreeMap::new(), <[Faults; 2]>::default());
        RegressionRun { regression, scoring, can_repeat, recover, shard, crash: None, open, faults }
    }

    pub fn scoring(&self) -> &Scoring {
        &self.scoring
    }

    pub fn findings(&self) -> RegressionFindings<'_> {
        let RegressionRun { regression, shard, faults, crash, .. } = self;
        RegressionFindings { regression, shard: *shard, faults, crash: crash.as_ref() }
    }

    /// The number of judged sets that each version has played. `played_by`: what identifies those of each
    /// set.
    pub fn versions(&self, played_by: &BTreeMap<u32, [String; 2]>) -> SetVersions {
        let judged = self.regression.tally().sets;
        let place = |set: u32| self.shard.map_or(set, |shard| shard.place(set));
        let mut versions = SetVersions::default();
        played_by.iter().filter(|&(&set, _)| place(set) <= judged).for_each(|(_, by)| versions.add(by));
        versions
    }

    /// The crash of `new`, if that ended the run.
    pub fn crash(&self) -> Option<&Crash> {
        self.crash.as_ref()
    }

    /// Adds a match that has ended.
    pub fn add(&mut self, fixture: &Fixture, finished: &FinishedMatch) -> AddedMatch {
        let result = self.scoring.result(fixture, finished).or_else(|| self.scoring.void(fixture, finished));
        let Some((result, moves)) = result.zip(finished.moves) else { return AddedMatch::default() };
        let mut faults = <[Faults; 2]>::default();
        for (seat, &entrant) in fixture.bots.iter().enumerate() {
            faults[entrant].merge(&finished.counted_faults(Seat(seat as u8)));
        }
        let played =
            RegressionMatch { id: finished.id.clone(), is_void: finished.is_void, result, faults, moves };
        let set = result.set;
        if self.regression.verdict().is_none()
            && !self.recover
            && let Some(crash) = crash_of_new(fixture, finished)
        {
            let matches = vec![ResultMatch::of(&played)];
            let kept = ResultLine::Crash { set, crash: crash.clone(), matches };
            self.crashed(crash, &[played]);
            return AddedMatch { kept: Some(kept), judged: Vec::new() };
        }
        let matches = self.open.entry(set).or_default();
        matches.push(played);
        if matches.len() < self.scoring.legs as usize {
            return AddedMatch::default();
        }
        let kept = ResultLine::Set { set, matches: matches.iter().map(ResultMatch::of).collect() };
        AddedMatch { kept: Some(kept), judged: self.complete(set) }
    }

    /// Adds a line of the results file of an earlier run. Returns the sets that are judged now; `None` if the line
    /// does not fit this run.
    pub fn restore(&mut self, kept: &ResultLine) -> Option<Vec<RegressionSet>> {
        let set = kept.set();
        let matches = kept.matches().iter().map(|played| played.played(set, self.scoring.seating));
        let matches: Vec<RegressionMatch> = matches.collect::<Option<_>>()?;
        match kept {
            ResultLine::Crash { crash, .. } => {
                self.crashed(crash.clone(), &matches);
                Some(Vec::new())
            }
            ResultLine::Set { .. } => {
                self.open.insert(set, matches);
                Some(self.complete(set))
            }
        }
    }

    fn crashed(&mut self, crash: Crash, matches: &[RegressionMatch]) {
        if self.regression.verdict().is_some() {
            return;
        }
        self.crash = Some(crash);
        let results: Vec<MatchResult> = matches.iter().map(|played| played.result).collect();
        self.regression.add_crash(&results);
        self.count_faults(matches);
    }

    /// Judges a complete set. Returns the sets that are judged now.
    fn complete(&mut self, number: u32) -> Vec<RegressionSet> {
        let Some(set) = self.open.get(&number) else { return Vec::new() };
        let moves = self.can_repeat.then(|| moves_of(set));
        let results = set.iter().map(|played| played.result).collect();
        let place = self.shard.map_or(number, |shard| shard.place(number));
        let judged = if set.iter().any(|played| played.is_void) {
            self.regression.add_void(place, results)
        } else if is_alike(set) {
            self.regression.add_alike(place, results, moves)
        } else {
            self.regression.add(place, results, moves)
        };
        judged.into_iter().map(|judged| self.close_set(&judged)).collect()
    }

    fn count_faults(&mut self, matches: &[RegressionMatch]) {
        for played in matches {
            for (all, of_match) in self.faults.iter_mut().zip(&played.faults) {
                all.merge(of_match);
            }
        }
    }

    fn close_set(&mut self, judged: &JudgedSet) -> RegressionSet {
        let set = self.shard.map_or(judged.set, |shard| shard.set(judged.set));
        let played = self.open.remove(&set).unwrap_or_default();
        self.count_faults(&played);
        RegressionSet {
            id: format!("s{set}"),
            matches: played.into_iter().map(|played| played.id).collect(),
            fate: judged.fate,
            score: judged.score,
            llr: judged.llr,
            bounds: self.regression.terms().sprt.map(|sprt| sprt.bounds()),
            elo: judged.difference.map(|difference| difference.elo),
            distinct_sets: judged.distinct_sets,
            openings: judged.openings,
        }
    }
}

/// The crash of `new` in a match, if there was one.
fn crash_of_new(fixture: &Fixture, finished: &FinishedMatch) -> Option<Crash> {
    let is_crash =
        |code: FaultCode| matches!(code, FaultCode::Exited | FaultCode::Disconnected | FaultCode::NoStart);
    let of_new = (0..fixture.bots.len()).filter(|&seat| fixture.bots[seat] == NEW.index());
    let crashes = of_new.filter_map(|seat| {
        let (code, _) = finished.faults[seat].iter().find(|&(code, _)| is_crash(code))?;
        let ended =
            finished.ending.fault.as_ref().filter(|fault| fault.seat.index() == seat && fault.code == code);
        let detail = ended.and_then(|fault| fault.detail.as_ref());
        let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
        let evidence =
            finished.evidence.iter().find(|found| found.seat.index() == seat && found.code == code).cloned();
        let what = format!("{code}{detail}");
        Some(Crash { id: finished.id.clone(), what, record: finished.record.clone(), evidence })
    });
    { crashes }.next()
}

/// Returns whether all matches of a set have the same moves and places and no fault: in each seat, both bots
/// played alike.
fn is_alike(set: &[RegressionMatch]) -> bool {
    let [first, ..] = set else { return false };
    set.iter().all(|RegressionMatch { moves, result, .. }| {
        moves.all == first.moves.all && result.places == first.result.places && result.faulted.is_empty()
    })
}

fn moves_of(set: &[RegressionMatch]) -> SetMoves {
    let seats = |played: &RegressionMatch| -> Vec<u8> {
        played.result.lineup.seats().iter().map(|entrant| entrant.index() as u8).collect()
    };
    moves_of_set(set.iter().map(|played| (seats(played), played.moves)).collect())
}
