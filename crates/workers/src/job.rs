//! Sets that a coordinator has played, and the units of its sets.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tokio::sync::oneshot;

use crate::archive::ArchiveId;
use crate::unit::{Salt, UNIT_BYTES, UnitBot, UnitId, UnitMatch, WorkUnit};
use referee_bots::Command;
use referee_engine::driver::Run;
use referee_engine::runner::{DueSet, LiveFeed, MatchRunner, Unsealed};
use referee_files::Records;
use referee_game::seat::Seating;
use referee_game::{Catalog, Wrong};

/// The bots of a job, as they are in units. Further ones may be added while it is played; none is removed.
#[derive(Clone, Debug, Default)]
pub struct JobBots(Arc<RwLock<Vec<UnitBot>>>);

impl JobBots {
    pub fn new(bots: Vec<UnitBot>) -> JobBots {
        JobBots(Arc::new(RwLock::new(bots)))
    }

    /// Adds a bot. Returns its index.
    pub fn add(&self, bot: UnitBot) -> usize {
        let mut bots = self.0.write().unwrap_or_else(PoisonError::into_inner);
        bots.push(bot);
        bots.len() - 1
    }

    fn all(&self) -> RwLockReadGuard<'_, Vec<UnitBot>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The command line of a bot.
    pub(super) fn command(&self, index: usize) -> String {
        Command { argv: self.all()[index].argv.clone(), ..Command::default() }.to_string()
    }
}

/// The work of a run: the sets of a scheduler.
#[derive(Debug)]
pub struct Job {
    pub run: Run,
    pub game: &'static str,
    /// The version of its rules.
    pub rules: u32,
    /// The archive of its directory, if its rules are a program.
    pub game_files: Option<ArchiveId>,
    pub seating: Seating,
    /// The bots, which are started with a command.
    pub bots: JobBots,
    pub catalog: Catalog,
    pub records: Option<Records>,
    /// The unsealed records of an earlier part of the run. `None` if the run cannot be resumed.
    pub unsealed: Option<Vec<Unsealed>>,
    /// The feed of ended matches for spectators.
    pub live: Option<LiveFeed>,
    /// The drain of the run: when this resolves, the sets that are out stay with their workers, and the run ends.
    pub drain: Option<oneshot::Receiver<()>>,
    /// Whether the run ends when the rules fail in match after match.
    pub judges_rules: bool,
}

impl Job {
    /// The job of this runner's schedule on this machine, as if nothing of it had been played.
    pub fn of_runner(
        runner: &MatchRunner,
        bots: JobBots,
        game_files: Option<ArchiveId>,
        catalog: &Catalog,
    ) -> Job {
        let meta = runner.rules.meta();
        Job {
            run: runner.run.clone(),
            game: meta.id,
            rules: meta.rules_version,
            game_files,
            seating: runner.seating,
            bots,
            catalog: catalog.clone(),
            records: runner.records.clone(),
            unsealed: None,
            live: runner.live.clone(),
            drain: None,
            judges_rules: runner.judges_rules,
        }
    }

    /// The work unit of a set.
    ///
    /// # Errors
    /// If the set has no matches or the unit is too large.
    pub(super) fn unit(&self, id: UnitId, due: &DueSet) -> Result<(WorkUnit, String), Wrong> {
        let mut used: Vec<usize> = due.fixtures.iter().flat_map(|fixture| fixture.bots.clone()).collect();
        used.sort_unstable();
        used.dedup();
        let bots = used.iter().map(|&index| self.bots.all()[index].clone()).collect();
        let place = |bot: &usize| used.binary_search(bot).unwrap_or_default();
        let matches = due.fixtures.iter().map(|fixture| UnitMatch {
            id: fixture.id.clone(),
            bots: fixture.bots.iter().map(place).collect(),
            seed: self.run.seed.of_deal(fixture.deal.as_ref().unwrap_or(&fixture.id)),
            salt: Salt(self.run.seed.salt(&fixture.id)),
        });
        let first = due.fixtures.first().ok_or_else(|| format!("{id}: the set has no matches"))?;
        let unit = WorkUnit {
            id,
            game: self.game.to_owned(),
            rules: self.rules,
            game_files: self.game_files,
            seats: self.seating.seats() as u8,
            sides: self.seating.sides() as u8,
            terms: self.run.terms,
            options: (*first.options).to_owned(),
            opening: (*first.opening).clone(),
            deal: first.deal.clone(),
            bots,
            avoid: Vec::new(),
            matches: matches.collect(),
        };
        let text = serde_json::to_string(&unit).map_err(|error| error.to_string())?;
        if text.len() > UNIT_BYTES {
            let (id, bytes) = (unit.id, text.len());
            return Err(format!("{id}: the unit has {bytes} bytes; the maximum is {UNIT_BYTES}").into());
        }
        Ok((unit, text))
    }
}
