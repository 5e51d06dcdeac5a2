//! An agent's tools for the bot that it edits: check it, and let it practise.

use std::io;
use std::path::{Path, PathBuf};

use referee_bots::StartError;
use referee_engine::driver::Terms;
use referee_engine::runner::{MatchRunner, RunEvent};
use referee_files::{Folder, Records, StorageWait, read_regular};
use referee_game::erased::Rules;
use referee_game::{Chain, Seat, Wrong, counted};
use referee_match::record::Playback;
use referee_report::RegressionOutcome;
use referee_report::tournament::StandingsReport;
use referee_stats::regression::Verdict;
use referee_stats::schedule::MatchId;
use referee_stats::sprt::EloModel;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::config::{KnownGames, random_seed};
use crate::regression::{
    Hypotheses, PreparedRegression, RegressionEnd, RegressionEvent, RegressionSetup, tested_bot,
};
use crate::submissions::SubmissionLog;
use crate::tournament::{PreparedTournament, Tournament, TournamentConfig};
use crate::workshop::lost_match::explain;
use crate::workshop::seat::TakenSeat;
use crate::workshop::{Stop, Version, Versions, WorkshopConfig, block_on};
use crate::{Placement, RunError};

/// The name of the version that was handed in last, as an opponent.
pub(super) const BASE: &str = "base";
/// The number of lost matches that a result names.
const NAMED: usize = 10;

/// Reasons why a tool did nothing.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The error goes to the agent.
    #[error(transparent)]
    Refused(#[from] Wrong),
    /// The error ends the workshop.
    #[error(transparent)]
    Workshop(#[from] RunError),
}

impl From<io::Error> for BenchError {
    fn from(error: io::Error) -> BenchError {
        BenchError::Workshop(error.into())
    }
}

/// Practice that was played.
#[derive(Clone, Debug, Serialize)]
pub struct Practice {
    /// `play`, `regress` or `sit`.
    pub tool: &'static str,
    /// The directory with its records.
    pub folder: PathBuf,
    /// The version that practised; `None` if the agent played itself.
    pub version: Option<String>,
    /// The matches that count towards the budget.
    pub matches: u32,
}

#[derive(Debug)]
pub struct Bench {
    pub(super) config: WorkshopConfig,
    pub(super) rules: &'static dyn Rules,
    pub(super) games: KnownGames,
    pub(super) versions: Versions,
    pub(super) name: String,
    /// The directory that is edited.
    pub(super) directory: PathBuf,
    /// The version that was handed in last.
    pub(super) base: Option<Version>,
    /// The directories of practice records, one for each practice.
    pub(super) folder: PathBuf,
    /// The matches that are left.
    pub(super) left: u32,
    /// The seat that the agent took last.
    pub(super) seat: Option<TakenSeat>,
}

impl Bench {
    /// A bench of its own, outside of a workshop: of the bot in a directory, which meets these opponents.
    ///
    /// # Errors
    /// If the place cannot be prepared.
    pub fn open(
        config: WorkshopConfig,
        rules: &'static dyn Rules,
        games: KnownGames,
        directory: PathBuf,
        place: &Path,
    ) -> Result<Bench, RunError> {
        let terms = WorkshopConfig::terms()?;
        let folder = place.join("versions");
        std::fs::create_dir_all(&folder).map_err(|why| RunError::at(&folder, why))?;
        let (launch, build_sandbox) = (games.launch().clone(), config.build_sandbox(&terms).ok());
        let versions = Versions { folder, launch, terms, build_sandbox };
        let (name, folder, left) = ("mine".to_owned(), place.join("practice"), config.practice);
        Ok(Bench { config, rules, games, versions, name, directory, base: None, folder, left, seat: None })
    }

    pub fn rules(&self) -> &'static str {
        self.rules.meta().rules
    }

    /// Packs and builds the current content of the directory.
    fn make(&self, log: &mut SubmissionLog) -> Result<Version, BenchError> {
        block_on(self.versions.make(&self.directory, log))?.map_err(|why| match why {
            // A start error is a defect of the bot.
            RunError::Machine(why) if !why.get_ref().is_some_and(|why| why.is::<StartError>()) => why.into(),
            why => {
                let log = log.text();
                let log = if log.is_empty() { log } else { format!("\n{log}") };
                Wrong::from(format!("the bot cannot be handed in: {}{log}", Chain(&why))).into()
            }
        })
    }

    /// Packs, builds and checks the bot, as for handing it in. Returns the version, whether it has passed, and the log.
    ///
    /// # Errors
    /// If it cannot be packed or built, or the machine fails.
    pub fn check(&self) -> Result<(Version, bool, String), BenchError> {
        self.check_unless("")
    }

    /// Checks as [`Bench::check`] does, but does not test the version with this id, which has passed before.
    pub(super) fn check_unless(&self, passed: &str) -> Result<(Version, bool, String), BenchError> {
        let mut log = SubmissionLog::new(&self.versions.folder);
        let version = self.make(&mut log)?;
        if version.id == passed {
            return Ok((version, true, log.text()));
        }
        let (sandbox, terms) = (self.config.bot_sandbox()?, self.terms(&version)?);
        let checked =
            self.versions.check(&version, &sandbox, (self.rules, self.games.catalog()), &terms, &mut log);
        let has_passed = block_on(checked)?;
        Ok((version, has_passed, log.text()))
    }

    /// The terms of the matches of the workshop.
    fn terms(&self, version: &Version) -> Result<Terms, RunError> {
        let bot = self.config.entrant(&self.name, version)?;
        let other = self.config.entrant(BASE, version)?;
        Ok(self.prepare(&self.config.tournament("check", self.rules, vec![bot, other], Some(1))?)?.run.terms)
    }

    pub(super) fn prepare(&self, config: &TournamentConfig) -> Result<PreparedTournament, RunError> {
        let plan = config.plan(self.rules, None)?;
        config.prepare(self.rules, random_seed()?, &plan)
    }

    /// Converts a number of matches to mirrored sets, if the budget has them.
    fn sets(&self, matches: u32) -> Result<u32, BenchError> {
        let size = self.rules.meta().seating(None::<u8>)?.sides() as u32;
        if matches == 0 || !matches.is_multiple_of(size) {
            let what = format!(
                "matches: {matches} is not a multiple of {size}: each opening is played from every side"
            );
            return Err(Wrong::from(what).into());
        }
        self.check_budget(matches)?;
        Ok(matches / size)
    }

    /// Checks that the budget has this number of matches.
    pub(super) fn check_budget(&self, asked: u32) -> Result<(), BenchError> {
        if asked <= self.left {
            return Ok(());
        }
        let matches = |of: u32| counted(of, "match", "matches");
        let (asked, left) = (matches(asked), matches(self.left));
        Err(Wrong::from(format!("{asked} asked for, and {left} left of the budget of this round")).into())
    }

    /// A directory for the next practice.
    pub(super) fn next_folder(&self) -> Result<PathBuf, RunError> {
        std::fs::create_dir_all(&self.folder).map_err(|why| RunError::at(&self.folder, why))?;
        let number =
            (1_u32..).find(|number| !self.folder.join(number.to_string()).exists()).unwrap_or_default();
        Ok(self.folder.join(number.to_string()))
    }

    pub(super) fn other(&self, name: &str) -> Result<toml::Table, BenchError> {
        match (&self.base, name) {
            (Some(base), BASE) => Ok(self.config.entrant(BASE, base)?),
            _ => Ok(self.config.opponent(name)?),
        }
    }

    /// Plays matches against an opponent, each opening from every side.
    ///
    /// # Errors
    /// If the bot cannot be built, there is no such opponent, or the budget does not have so many.
    pub fn play(
        &mut self,
        opponent: &str,
        matches: u32,
        stop: impl Fn() -> Stop,
    ) -> Result<(Value, Practice), BenchError> {
        let sets = self.sets(matches)?;
        let other = self.other(opponent)?;
        let version = self.make(&mut SubmissionLog::new(&self.versions.folder))?;
        let entrants = vec![self.config.entrant(&self.name, &version)?, other];
        let config = self.config.tournament("practice", self.rules, entrants, Some(sets))?;
        let folder = self.next_folder()?;
        let seed = random_seed()?;
        let tournament = Tournament::create(&folder, config, seed, &self.games, false);
        let tournament = tournament?;
        let end =
            tournament.play(Placement::Here, &StorageWait::new(), || None, || stop().wait(), &mut |_| ());
        let end = end?;
        let standings = StandingsReport::of(&end.results, &end.schedule.look()).map_err(RunError::from)?;
        let practice = self.charge("play", folder, Some(&version), standings.matches as u32);
        let own = standings.entrants.iter().find(|row| row.name == self.name);
        let lost = self.lost(&practice.folder)?;
        let result = json!({
            "version": version.id,
            "opponent": opponent,
            "matches": standings.matches,
            "points": own.map(|row| row.points),
            "by_play": own.map(|row| &row.by_play),
            "by_fault": own.map(|row| &row.by_fault),
            // The strengths are symmetric about their mean.
            "elo_difference": own.map(|row| row.elo).map(|elo| json!({
                "value": 2.0 * elo.value, "low": 2.0 * elo.low, "high": 2.0 * elo.high
            })),
            "lost": lost,
            "interrupted": end.is_interrupted,
            "matches_left": self.matches_left(),
        });
        Ok((result, practice))
    }

    /// Tests whether the bot is weaker than the version that was handed in last, as `referee regress` does, with at most so many
    /// matches.
    ///
    /// # Errors
    /// As [`Bench::play`].
    pub fn regress(
        &mut self,
        opponent: &str,
        matches: u32,
        stop: impl Fn() -> Stop,
    ) -> Result<(Value, Practice), BenchError> {
        let max_sets = self.sets(matches)?;
        let other = self.other(opponent)?;
        let version = self.make(&mut SubmissionLog::new(&self.versions.folder))?;
        let entrants = vec![self.config.entrant(&self.name, &version)?, other];
        let config = self.config.tournament("practice", self.rules, entrants, Some(1))?;
        let prepared = self.prepare(&config)?;
        let (run, rules) = (prepared.run, self.rules);
        let seating = rules.meta().seating(None::<u8>)?;
        let tested = |bot: usize| {
            let tested = tested_bot(&*prepared.entrants[bot].source, &[]);
            tested.map_err(BenchError::Refused)
        };
        let settings = config.settings(rules, &run.seed.to_hex(), seating);
        let setup = RegressionSetup {
            hide_legal: [false; 2],
            format: RegressionSetup::FORMAT,
            game: rules.meta().id.to_owned(),
            rules_version: rules.meta().rules_version,
            program: rules.program().map(|program| serde_json::to_value(program).unwrap_or_default()),
            seats: seating.seats(),
            new: tested(0)?,
            base: tested(1)?,
            same_version: self.base.as_ref().is_some_and(|base| opponent == BASE && base.id == version.id),
            options: Map::new(),
            openings: settings.openings,
            are_openings_drawn: false,
            trust_bots: false,
            test: Some(Hypotheses {
                elo0: -50.0,
                elo1: 0.0,
                alpha: 0.05,
                beta: 0.05,
                elo_model: EloModel::Normalized,
            }),
            max_sets,
            max_fault_rate: 1.0,
            recover: true,
            clock: run.terms.clock,
            margin_ms: run.terms.margin_ms,
            adjudication: run.terms.adjudication,
            on_fault: run.terms.on_fault,
            hello_ms: run.terms.hello_ms,
            ready_ms: run.terms.first_ready_ms,
            later_ready_ms: run.terms.later_ready_ms,
            shard: None,
            sandbox: prepared.entrants[0].source.command().map(|command| command.sandbox.clone()),
            seed: run.seed.to_hex(),
        };
        let folder = self.next_folder()?;
        let within = Folder::make(&folder)?;
        let records = Records::reopen(&within, false)?;
        let runner = MatchRunner {
            jobs: prepared.jobs,
            processes: prepared.processes,
            slots: prepared.slots,
            records: Some(records),
            ..MatchRunner::new(run, rules, seating, prepared.entrants, self.games.launch().clone())
        };
        let regression = PreparedRegression::new(setup, None, self.games.catalog())?;
        let mut played = 0;
        let mut count = |event: RegressionEvent<'_>| {
            if let RegressionEvent::Run(RunEvent::Ended(_)) = event {
                played += 1;
            }
        };
        let end = regression.play(runner, prepared.openings, Placement::Here, stop().wait(), &mut count);
        let RegressionEnd { report, outcome } = end?;
        let practice = self.charge("regress", folder, Some(&version), played);
        let lost = self.lost(&practice.folder)?;
        let result = json!({
            "version": version.id,
            "opponent": opponent,
            "report": report.text(),
            "passed": matches!(outcome, RegressionOutcome::Judged(Verdict::Passed | Verdict::PassedAlike) | RegressionOutcome::SameVersion),
            "matches": played,
            "lost": lost,
            "matches_left": self.matches_left(),
        });
        Ok((result, practice))
    }

    pub(super) fn charge(
        &mut self,
        tool: &'static str,
        folder: PathBuf,
        version: Option<&Version>,
        matches: u32,
    ) -> Practice {
        if self.left != u32::MAX {
            self.left = self.left.saturating_sub(matches);
        }
        Practice { tool, folder, version: version.map(|version| version.id.clone()), matches }
    }

    /// The matches that are left; `None` without a budget.
    pub fn matches_left(&self) -> Option<u32> {
        (self.left != u32::MAX).then_some(self.left)
    }

    /// The records of a practice by number, as `3/m5`, in which the bot did worst.
    fn lost(&self, practice: &Path) -> Result<Vec<String>, BenchError> {
        let number = practice.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut lost = Vec::new();
        for (id, path) in records(practice)? {
            let record = read_regular(&path)?;
            if self.own_seat(&record).is_some_and(|(_, is_lost)| is_lost) {
                lost.push(format!("{number}/{id}"));
            }
            if lost.len() == NAMED {
                break;
            }
        }
        Ok(lost)
    }

    /// The first seat of the bot in a record, and whether it lost.
    fn own_seat(&self, record: &[u8]) -> Option<(Seat, bool)> {
        let mut playback = Playback::open(record, self.games.catalog()).ok()?;
        while playback.step().ok()?.is_some() {}
        let names = &playback.setup().header.seats;
        let seat = names.iter().position(|seat| seat.name == self.name)?;
        let ranks = playback.ending()?.ranks.as_ref()?;
        let is_lost = ranks.iter().any(|rank| *rank < ranks[seat]);
        Some((Seat(seat as u8), is_lost))
    }

    /// Shows a match, by default the latest that was lost: how it ended, the board before the mistake and what followed, and
    /// what the bot wrote to standard error.
    ///
    /// # Errors
    /// If there is no such match.
    pub fn lost_match(&self, which: Option<&str>) -> Result<String, BenchError> {
        let which = match which {
            Some(which) => which.to_owned(),
            None => self.latest_lost()?.ok_or(Wrong::new("no match has been lost in practice"))?,
        };
        let no_match = || {
            Wrong::from(format!(
                "there is no match `{which}`; `play` and `regress` name those that were lost"
            ))
        };
        let (number, id) = which.split_once('/').ok_or_else(no_match)?;
        let number: u32 = number.parse().map_err(|_| no_match())?;
        let found = records(&self.folder.join(number.to_string()))?;
        let (_, path) = found.into_iter().find(|(found, _)| found == id).ok_or_else(no_match)?;
        let record = read_regular(&path)?;
        let (seat, _) = self.own_seat(&record).ok_or_else(no_match)?;
        explain(&record, seat, self.games.catalog()).map_err(|_| no_match().into())
    }

    fn latest_lost(&self) -> Result<Option<String>, BenchError> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        for number in numbers.into_iter().rev() {
            if let Some(first) = self.lost(&self.folder.join(number.to_string()))?.into_iter().next() {
                return Ok(Some(first));
            }
        }
        Ok(None)
    }
}

/// The paths of the records of a practice, by the order of the matches.
fn records(practice: &Path) -> Result<Vec<(String, PathBuf)>, BenchError> {
    let folder = practice.join("records");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(RunError::at(&folder, why).into()),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let named = |path: PathBuf| {
        let id = path.file_name()?.to_str()?.strip_suffix(".jsonl")?.to_owned();
        Some((id, path))
    };
    let mut found: Vec<(String, PathBuf)> = paths.filter_map(named).collect();
    found.sort_by_key(|(id, _)| id.parse::<MatchId>().ok());
    Ok(found)
}
