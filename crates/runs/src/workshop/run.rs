//! A workshop from its beginning to its end.

use std::fs;
use std::io::{Seek, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use referee_bots::OrphanReaper;
use referee_engine::runner::RunEvent;
use referee_files::{Folder, Journal, StorageWait, keep_private};
use referee_game::Chain;
use referee_game::erased::Rules;
use referee_game::hex;
use referee_report::tournament::StandingsReport;
use referee_workers::archive::{ArchiveLimits, pack_folder, unpack};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use crate::Placement;
use crate::RunError;
use crate::config::{KnownGames, random_seed};
use crate::tournament::{Tournament, TournamentConfig, TournamentEvent, relative_path};
use crate::workshop::agent::{EditOrder, EditResult, edit, log_of};
use crate::workshop::journal::WorkshopJournal;
use crate::workshop::outside::ProtectedFiles;
use crate::workshop::{
    AgentConfig, Bench, BenchError, EditOutcome, EditReport, HandIn, Practice, RoundReport, Version,
    Versions, WorkshopConfig, WorkshopLine, block_on,
};

/// The version of the journal.
const FORMAT: u32 = 1;
/// The copy of its file in the directory of a workshop.
const FILE: &str = "workshop.toml";

/// The directory of a workshop.
#[derive(Debug)]
pub struct Workshop {
    pub folder: PathBuf,
    pub config: WorkshopConfig,
    rules: &'static dyn Rules,
    games: KnownGames,
    pub lines: Vec<WorkshopLine>,
}

#[derive(Debug)]
pub enum WorkshopEvent<'a> {
    Edits {
        round: u32,
        agent: &'a str,
    },
    /// A line was added to the journal.
    Line(&'a WorkshopLine),
    /// The tournament of a round begins, with at least this number of matches.
    Tournament {
        round: u32,
        matches: u64,
    },
    Match,
}

#[derive(Debug)]
pub struct WorkshopEnd {
    /// Whether the workshop was interrupted; it can be resumed.
    pub is_interrupted: bool,
    pub lines: Vec<WorkshopLine>,
}

impl Workshop {
    /// Creates the directory of a workshop.
    ///
    /// # Errors
    /// If the file is not valid, or the directory has a workshop already.
    pub fn create(file: &Path, folder: &Path, games: &KnownGames) -> Result<Workshop, RunError> {
        let text = WorkshopConfig::text(file)?;
        let file = std::path::absolute(file).map_err(|why| RunError::at(file, why))?;
        let parent = file.parent().unwrap_or(Path::new("/"));
        WorkshopConfig::parse(&text, parent)?.check_here()?;
        let place = Folder::make(folder)?;
        if WorkshopJournal::is_in(&place)? {
            let folder = folder.display();
            return Err(format!(
                "{folder} contains a workshop: `referee workshop resume {folder}` continues it"
            )
            .into());
        }
        place.replace(FILE, text.as_bytes())?;
        for name in ["work", "versions", "practice", "rounds", "logs"] {
            place.make_within(name)?;
        }
        let base = relative_path(folder, parent).map_err(|why| RunError::at(folder, why))?;
        let digest = hex::encode(&Sha256::digest(&text));
        WorkshopJournal::open(&place)?.add(&WorkshopLine::Workshop { format: FORMAT, file: digest, base })?;
        Workshop::open(folder, games)
    }

    /// Opens the directory of a workshop, also while another process runs it.
    ///
    /// # Errors
    /// If it cannot be read, or was written by another program.
    pub fn open(folder: &Path, games: &KnownGames) -> Result<Workshop, RunError> {
        let folder = folder.canonicalize().map_err(|why| RunError::at(folder, why))?;
        let lines = WorkshopJournal::read(&folder)?;
        let Some(WorkshopLine::Workshop { format: FORMAT, file, base }) = lines.first() else {
            let what = format!("{}: its journal is not of format {FORMAT}", folder.display());
            return Err(RunError::from(what));
        };
        let path = folder.join(FILE);
        let text = WorkshopConfig::text(&path)?;
        if hex::encode(&Sha256::digest(&text)) != *file {
            let what = format!(
                "{}: changed since the workshop began; budgets are equal only if it stays",
                path.display()
            );
            return Err(RunError::from(what));
        }
        let base = folder.join(base);
        // The directory need not be on a machine that verifies.
        let config = WorkshopConfig::parse(&text, &base.canonicalize().unwrap_or(base))?;
        let mut games = games.clone();
        let rules = config.find_game(&mut games)?;
        Ok(Workshop { folder, config, rules, games, lines })
    }

    pub(super) fn round_folder(&self, round: u32) -> PathBuf {
        self.folder.join("rounds").join(round.to_string())
    }

    pub(super) fn games(&self) -> &KnownGames {
        &self.games
    }

    /// The version with which an agent plays now.
    fn current(&self, name: &str) -> Option<&str> {
        self.lines.iter().rev().find_map(|line| match line {
            WorkshopLine::Start { agent, version } if agent == name => Some(version.as_str()),
            WorkshopLine::Edit(EditReport { agent, version, .. }) if agent == name => Some(version),
            _ => None,
        })
    }

    fn has_edited(&self, number: u32, name: &str) -> bool {
        self.lines.iter().any(
            |line| matches!(line, WorkshopLine::Edit(EditReport { round, agent, .. }) if *round == number && agent == name),
        )
    }

    /// The practice matches that an agent has used in a round.
    fn used(&self, number: u32, name: &str) -> u32 {
        let used = self.lines.iter().map(|line| match line {
            WorkshopLine::Practice { round, agent, matches, .. } if *round == number && agent == name => {
                *matches
            }
            _ => 0,
        });
        used.sum()
    }

    fn spent(&self, name: &str) -> f64 {
        let spent = self.lines.iter().map(|line| match line {
            WorkshopLine::Edit(EditReport { agent, cost, .. }) if agent == name => *cost,
            _ => 0.0,
        });
        spent.sum()
    }

    fn versions(&self) -> Result<Versions, RunError> {
        let terms = WorkshopConfig::terms()?;
        let build_sandbox = self.config.build_sandbox(&terms).ok();
        let launch = self.games.launch().clone();
        Ok(Versions { folder: self.folder.join("versions"), launch, terms, build_sandbox })
    }

    /// Runs the missing rounds. `stop` makes futures that resolve when it should be interrupted.
    ///
    /// # Errors
    /// If it cannot go on.
    pub fn run<S: Future<Output = ()>>(
        mut self,
        stop: impl Fn() -> S,
        on_event: &mut (dyn FnMut(WorkshopEvent<'_>) + Send),
    ) -> Result<WorkshopEnd, RunError> {
        let place = Folder::make(&self.folder)?;
        let _lock = Journal::open(&place).map_err(|why| match why.kind() {
            std::io::ErrorKind::WouldBlock => {
                RunError::machine(format!("{}: another process runs this workshop", self.folder.display()))
            }
            _ => why.into(),
        })?;
        // The scripts of agents may lie beside it.
        keep_private(&self.folder);
        // The workshop may have gone on since the journal was read.
        self.lines = WorkshopJournal::read(&self.folder)?;
        let journal = Arc::new(WorkshopJournal::open(&place)?);
        let versions = self.versions()?;
        let agents = self.config.agents.clone();
        for agent in &agents {
            if self.current(&agent.name).is_none() {
                self.begin(agent, &versions, &journal, on_event)?;
            }
        }
        for round in 1..=self.config.rounds {
            for agent in &agents {
                if self.has_edited(round, &agent.name) {
                    continue;
                }
                on_event(WorkshopEvent::Edits { round, agent: &agent.name });
                if !self.edit(round, agent, &versions, &journal, stop(), on_event)? {
                    return Ok(WorkshopEnd { is_interrupted: true, lines: self.lines });
                }
            }
            let is_over =
                |line: &WorkshopLine| matches!(line, WorkshopLine::Round(report) if report.round == round);
            if !self.lines.iter().any(is_over) && !self.play(round, &versions, &journal, &stop, on_event)? {
                return Ok(WorkshopEnd { is_interrupted: true, lines: self.lines });
            }
        }
        Ok(WorkshopEnd { is_interrupted: false, lines: self.lines })
    }

    fn add(
        &mut self,
        journal: &WorkshopJournal,
        line: WorkshopLine,
        on_event: &mut (dyn FnMut(WorkshopEvent<'_>) + Send),
    ) -> Result<(), RunError> {
        journal.add(&line)?;
        on_event(WorkshopEvent::Line(&line));
        self.lines.push(line);
        Ok(())
    }

    fn bench(&self, name: &str, versions: &Versions, base: Option<Version>, left: u32) -> Bench {
        Bench {
            config: self.config.clone(),
            rules: self.rules,
            games: self.games.clone(),
            versions: versions.clone(),
            name: name.to_owned(),
            directory: self.folder.join("work").join(name),
            base,
            folder: self.folder.join("practice").join(name),
            left,
            seat: None,
        }
    }

    /// Copies the directory with which an agent begins, and checks its bot.
    fn begin(
        &mut self,
        agent: &AgentConfig,
        versions: &Versions,
        journal: &WorkshopJournal,
        on_event: &mut (dyn FnMut(WorkshopEvent<'_>) + Send),
    ) -> Result<(), RunError> {
        let bench = self.bench(&agent.name, versions, None, 0);
        let work = bench.directory.clone();
        if work.exists() {
            fs::remove_dir_all(&work).map_err(|why| RunError::at(&work, why))?;
        }
        fs::create_dir(&work).map_err(|why| RunError::at(&work, why))?;
        let mut archive = tempfile::tempfile()?;
        let packed = pack_folder(&self.config.start(agent)?, ArchiveLimits::BOT, &mut archive);
        let packed = packed.map_err(|why| RunError::Wrong(why.into()))?;
        archive.flush()?;
        archive.rewind()?;
        unpack(&archive, &packed.id, &work, ArchiveLimits::BOT).map_err(|why| RunError::Wrong(why.into()))?;
        let failed = |log: String| {
            let agent = &agent.name;
            RunError::from(format!("the bot with which `{agent}` starts does not pass:\n{log}"))
        };
        let passed = self.lines.iter().find_map(|line| match line {
            WorkshopLine::Start { version, .. } => Some(version.clone()),
            _ => None,
        });
        match bench.check_unless(&passed.unwrap_or_default()) {
            Ok((version, true, _)) => {
                let line = WorkshopLine::Start { agent: agent.name.clone(), version: version.id };
                self.add(journal, line, on_event)
            }
            Ok((_, false, log)) => Err(failed(log)),
            Err(BenchError::Workshop(why)) => Err(why),
            Err(why) => Err(failed(Chain(&why).to_string())),
        }
    }

    /// Lets an agent edit its bot, and takes the bot in. Returns false if it was interrupted.
    fn edit(
        &mut self,
        round: u32,
        agent: &AgentConfig,
        versions: &Versions,
        journal: &Arc<WorkshopJournal>,
        stop: impl Future<Output = ()>,
        on_event: &mut (dyn FnMut(WorkshopEvent<'_>) + Send),
    ) -> Result<bool, RunError> {
        let name = &agent.name;
        let before = versions.find(self.current(name).unwrap_or_default())?;
        let (used, spent) = (self.used(round, name), self.spent(name));
        let left = self.config.practice.saturating_sub(used);
        let bench = Arc::new(Mutex::new(self.bench(name, versions, Some(before.clone()), left)));
        let work = self.folder.join("work").join(name);
        let cost = self.config.max_cost.map(|most| most - spent);
        let log = log_of(&self.folder, round, name);
        let has_budget = cost.is_none_or(|cost| cost > 0.0);
        let mut edited =
            EditResult { outcome: Some(EditOutcome::NoBudget), took: Default::default(), cost: 0.0 };
        if has_budget {
            let mut command = self.config.command(agent)?;
            command.directory = Some(work.clone());
            command.workspace = Some(work.clone());
            command.env.insert("REFEREE_ROUND".to_owned(), round.to_string());
            command.env.insert("REFEREE_AGENT".to_owned(), name.clone());
            let (practised, lines) = mpsc::unbounded_channel();
            let on_practice = {
                let (journal, agent) = (journal.clone(), name.clone());
                move |practice: &Practice| {
                    let Practice { tool, folder, version, matches } = practice;
                    let line = WorkshopLine::Practice {
                        round,
                        agent: agent.clone(),
                        tool: (*tool).to_owned(),
                        folder: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                        version: version.clone(),
                        matches: *matches,
                    };
                    journal.add(&line)?;
                    // The edit is over if nothing receives it; then the journal has it.
                    let _ = practised.send(line);
                    Ok(())
                }
            };
            let order = EditOrder {
                command,
                time: self.config.edit_time.duration(),
                cost,
                log,
                launch: self.games.launch().clone(),
                bench: bench.clone(),
                on_practice: Arc::new(on_practice),
                practised: lines,
            };
            let untouched = ProtectedFiles::of(&self.folder, &work)?;
            let reaper = OrphanReaper::open();
            let mut told = |line: WorkshopLine| {
                on_event(WorkshopEvent::Line(&line));
                self.lines.push(line);
            };
            let done = block_on(edit(order, stop, &mut told))?;
            bench.lock().unwrap_or_else(PoisonError::into_inner).leave_seat();
            // Processes that the agent has left must not edit any more.
            reaper.close();
            edited = done?;
            let paths = untouched.changed()?;
            if !paths.is_empty() && edited.outcome.is_some() {
                edited.outcome = Some(EditOutcome::WroteOutside { paths });
            }
        }
        let EditResult { outcome: Some(outcome), took, cost } = edited else { return Ok(false) };
        let is_accepted =
            matches!(outcome, EditOutcome::Done | EditOutcome::Failed { .. } | EditOutcome::TimedOut);
        let bench = bench.lock().unwrap_or_else(PoisonError::into_inner);
        let (hand_in, version) = match is_accepted {
            false => (
                HandIn::Refused { log: "the agent did not keep to its budget or its directory".to_owned() },
                before.id,
            ),
            true => self.take_in(&bench, before)?,
        };
        drop(bench);
        let matches = self.used(round, name);
        let (took_ms, agent) = (took.as_millis() as u64, name.clone());
        let report = EditReport { round, agent, outcome, took_ms, matches, cost, hand_in, version };
        self.add(journal, WorkshopLine::Edit(report), on_event)?;
        Ok(true)
    }

    /// Takes in what is in the directory of an agent now.
    fn take_in(&self, bench: &Bench, before: Version) -> Result<(HandIn, String), RunError> {
        // A version that was checked before need not be checked again.
        match bench.check_unless(&before.id) {
            Ok((version, ..)) if version.id == before.id => Ok((HandIn::Unchanged, before.id)),
            Ok((version, true, _)) => Ok((HandIn::New, version.id)),
            Ok((_, false, log)) => Ok((HandIn::Refused { log }, before.id)),
            Err(BenchError::Workshop(why)) => Err(why),
            Err(why) => Ok((HandIn::Refused { log: Chain(&why).to_string() }, before.id)),
        }
    }

    /// The tournament of the versions that the agents have now, and the opponents.
    fn tournament(&self, round: u32, versions: &Versions) -> Result<TournamentConfig, RunError> {
        let mut entrants = Vec::new();
        for AgentConfig { name, .. } in &self.config.agents {
            let version = versions.find(self.current(name).unwrap_or_default())?;
            entrants.push(self.config.entrant(name, &version)?);
        }
        for opponent in &self.config.opponents {
            let found = self.config.opponent(&opponent.name);
            entrants.push(found.map_err(|why| RunError::from(why.to_string()))?);
        }
        self.config.tournament(&format!("round {round}"), self.rules, entrants, None)
    }

    /// Plays the tournament of a round. Returns false if it was interrupted.
    fn play<S: Future<Output = ()>>(
        &mut self,
        round: u32,
        versions: &Versions,
        journal: &WorkshopJournal,
        stop: &impl Fn() -> S,
        on_event: &mut (dyn FnMut(WorkshopEvent<'_>) + Send),
    ) -> Result<bool, RunError> {
        let folder = self.round_folder(round);
        let tournament = match crate::tournament::open_results(&folder).is_ok() {
            true => {
                let tournament = Tournament::open(&folder, &self.games, true)?;
                tournament.check_files(false)?;
                tournament
            }
            false => {
                let config = self.tournament(round, versions)?;
                let seed = match config.seed()? {
                    Some(seed) => seed,
                    None => random_seed()?,
                };
                Tournament::create(&folder, config, seed, &self.games, true)?
            }
        };
        let end = {
            let mut told = |event: TournamentEvent<'_>| match event {
                TournamentEvent::Begins { scheduler, .. } => {
                    let matches = scheduler.live_schedule().look().missing().least;
                    on_event(WorkshopEvent::Tournament { round, matches });
                }
                TournamentEvent::Run(RunEvent::Ended(_)) => on_event(WorkshopEvent::Match),
                _ => {}
            };
            tournament.play(Placement::Here, &StorageWait::new(), || None, stop, &mut told)?
        };
        if end.is_interrupted {
            return Ok(false);
        }
        let standings = StandingsReport::of(&end.results, &end.schedule.look())?;
        let standings = serde_json::to_value(&standings).map_err(std::io::Error::from)?;
        self.add(journal, WorkshopLine::Round(RoundReport { round, standings }), on_event)?;
        Ok(true)
    }
}
