//! Validates a tournament file, and converts it to what plays the tournament.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use referee_protocol::limits;
use serde_json::{Map, Value};

use crate::cli::Failure;
use crate::cli::find_game::find_game_from;
use crate::cli::listen::{self, CertificateFile, ListenSettings};
use crate::cli::openings::{OpeningBook, OpeningSource};
use crate::cli::options::{clock, milliseconds, ready_limits};
use crate::cli::syntax::Syntax;
use crate::cli::tournament::config::{Config, FormatConfig, ListenConfig, MirrorConfig, Restart};
use crate::driver::{Run, Terms, check_clock};
use crate::game::chance::Seed;
use crate::game::erased::Rules;
use crate::game::{Catalog, Seating, counted};
use crate::referee::check_policy;
use crate::report::tournament::Settings;
use crate::runner::{Openings, Roster, check_fresh, deal_leaks_information};
use crate::sources::{BotSpec, Listen, Source};
use crate::stats::Deals;
use crate::stats::schedule::{ByePoints, Format, Participation, Plan};

/// The default maximum number of bot processes, unless more have to play concurrently.
const PROCESSES: usize = 64;

/// A validated tournament.
pub(in crate::cli::tournament) struct PreparedTournament {
    pub(in crate::cli::tournament) run: Run,
    pub(in crate::cli::tournament) rules: &'static dyn Rules,
    /// The bots: one or a team per entrant.
    pub(in crate::cli::tournament) entrants: Vec<BotSpec>,
    pub(in crate::cli::tournament) roster: Arc<Roster>,
    pub(in crate::cli::tournament) openings: Openings,
    pub(in crate::cli::tournament) jobs: usize,
    pub(in crate::cli::tournament) processes: usize,
    pub(in crate::cli::tournament) slots: usize,
    pub(in crate::cli::tournament) is_pinned: bool,
    pub(in crate::cli::tournament) listen: Option<Listen>,
}

impl PreparedTournament {
    /// The bots of an entrant.
    pub(in crate::cli::tournament) fn bots_of(&self, entrant: usize) -> &[BotSpec] {
        &self.entrants[self.roster.bots(entrant)]
    }
}

impl Config {
    /// The settings that reports state, with the seed of the run.
    pub(in crate::cli::tournament) fn settings(
        &self,
        rules: &dyn Rules,
        seed: &str,
        seating: Seating,
    ) -> Settings {
        let raw = |options: &Map<String, Value>| serde_json::value::to_raw_value(options).unwrap_or_default();
        let options = raw(&self.options);
        let table = rules.open(&options, seating);
        let openings = match (&self.openings, self.opening_plies) {
            (Some(path), 0) => format!("from {}", file_name(path)),
            (Some(path), plies) => {
                format!("{} of each game of {}", counted(plies, "ply", "plies"), file_name(path))
            }
            (None, 0) => "none".to_owned(),
            (None, plies) => format!("{} at random", counted(plies, "ply", "plies")),
        };
        Settings {
            game: rules.meta(),
            bots: self.bot_names(),
            clock: self.clock.clone(),
            // It was checked when the tournament began or changed.
            limits: clock(&self.clock).ok().and_then(|clock| clock.0),
            on_fault: self.on_fault.to_string(),
            options: table.map_or(options, |table| table.options().to_owned()),
            openings,
            seed: seed.to_owned(),
        }
    }

    /// The game, and the catalog with it.
    pub(in crate::cli::tournament) fn find_game(
        &self,
        catalog: &Catalog,
    ) -> Result<(&'static dyn Rules, Catalog), Failure> {
        find_game_from(self.folder(), &self.game, catalog)
    }

    fn terms(&self) -> Result<Terms, Failure> {
        let time = |key: &str, text: &str| {
            milliseconds(text).map_err(|what| Failure::usage(format!("{key}: {what}")))
        };
        let ready = ready_limits(&self.ready_limit);
        let ready = ready.map_err(|what| Failure::usage(format!("ready_limit: {what}")))?;
        Ok(Terms {
            clock: clock(&self.clock).map_err(|what| Failure::usage(format!("clock: {what}")))?.0,
            margin_ms: time("margin", &self.margin)?,
            on_fault: self.on_fault,
            hello_ms: time("hello_limit", &self.hello_limit)?,
            first_ready_ms: ready.first_ms,
            later_ready_ms: ready.later_ms,
        })
    }

    /// The input of the schedule, which requires neither the bots nor other files. `entries`: when entrants join and
    /// withdraw, if not all take part from start to end.
    pub(in crate::cli::tournament) fn plan(
        &self,
        rules: &dyn Rules,
        entries: Option<Vec<Participation>>,
    ) -> Result<Plan, Failure> {
        let seating =
            rules.meta().seating(self.seats).map_err(|what| Failure::usage(format!("seats: {what}")))?;
        let deals = match self.mirror {
            Some(MirrorConfig::None) => Deals::Single,
            Some(MirrorConfig::Rotations) => Deals::Mirrored,
            Some(MirrorConfig::All) => Deals::AllOrders,
            None if deal_leaks_information(rules) => Deals::Single,
            None => Deals::Mirrored,
        };
        let format = match self.format {
            FormatConfig::RoundRobin { cycles } => Format::RoundRobin { cycles },
            FormatConfig::Gauntlet { cycles } => Format::Gauntlet { cycles },
            FormatConfig::Swiss { rounds, sets, .. } => Format::Swiss { rounds, sets },
            FormatConfig::Knockout { best_of, tie_breaks } => Format::Knockout { best_of, tie_breaks },
            FormatConfig::Partners { cycles } => Format::Partners { cycles },
        };
        let mut plan = Plan::new(format, seating, deals, self.entrants.len());
        plan.entrants = entries.unwrap_or(plan.entrants);
        for (entry, entrant) in plan.entrants.iter_mut().zip(&self.entrants) {
            entry.absent.clone_from(&entrant.absent);
        }
        if let FormatConfig::Swiss { bye, requested_bye, .. } = self.format {
            plan.byes = ByePoints { allocated: bye.half_points, requested: requested_bye.half_points };
        }
        plan.check().map_err(|what| Failure::usage(format!("format: {what}")))?;
        Ok(plan)
    }

    /// Validates everything else.
    pub(in crate::cli::tournament) fn prepare(
        &self,
        rules: &'static dyn Rules,
        seed: Seed,
        plan: &Plan,
    ) -> Result<PreparedTournament, Failure> {
        let sources = self.sources(rules.meta().id, plan)?;
        let needs_fresh = plan.deals != Deals::Single && deal_leaks_information(rules) && !self.trust_bots;
        if needs_fresh {
            check_fresh(rules, &sources).map_err(|what| {
                Failure::usage(format!("mirror: {what}; `trust_bots = true` overrides this check"))
            })?;
        }
        let terms = self.terms()?;
        let listen = self.listen(&sources)?;
        if let Some(workers) = &self.workers {
            let checked = workers.options(|path| self.resolve(path));
            checked.map_err(|what| Failure::usage(format!("[workers]: {what}")))?;
        }
        check_policy(rules.meta(), self.on_fault).map_err(Failure::usage)?;
        let openings = self.openings(rules, plan.seating, &seed)?;
        let names = self.bots().map(|bot| bot.name.clone());
        let of_teams = self.entrants.iter().filter(|entrant| !entrant.team.is_empty());
        let of_teams = of_teams.filter_map(|entrant| entrant.name.clone()).collect();
        let mut entrants = BotSpec::named(sources.into_iter().zip(names).collect(), of_teams);
        for (entrant, config) in entrants.iter_mut().zip(self.bots()) {
            entrant.clock_factor = config.clock_factor;
            if let Some(clock) = terms.clock.and_then(|clock| entrant.clock(clock)) {
                check_clock(clock).map_err(|what| {
                    let factor = config.clock_factor;
                    Failure::usage(format!("entrant {}: clock_factor {factor}: {what}", entrant.name))
                })?;
            }
            entrant.is_fresh = needs_fresh || config.restart.unwrap_or(self.restart) == Restart::Always;
        }
        if !(1..=10_000).contains(&self.jobs) {
            return Err(Failure::usage(format!("jobs: {} is not from 1 to 10000", self.jobs)));
        }
        if !(1..=limits::SLOTS).contains(&self.slots.into()) {
            return Err(Failure::usage(format!("slots: {} is not from 1 to {}", self.slots, limits::SLOTS)));
        }
        let (jobs, seats) = (self.jobs as usize, plan.seating.seats());
        let processes = self.processes.map_or(PROCESSES.max(jobs * seats), |processes| processes as usize);
        if processes < jobs * seats {
            return Err(Failure::usage(format!(
                "processes: {processes} is less than the {} needed for `jobs` = {jobs} with {seats} seats",
                jobs * seats
            )));
        }
        Ok(PreparedTournament {
            run: Run { seed, terms },
            rules,
            entrants,
            roster: Arc::new(self.roster()),
            openings,
            jobs,
            processes,
            slots: self.slots as usize,
            is_pinned: self.pin,
            listen,
        })
    }

    fn listen(&self, sources: &[Arc<dyn Source>]) -> Result<Option<Listen>, Failure> {
        let settings = |listen: &ListenConfig| {
            let time = |key: &str, text: &str| {
                let time =
                    milliseconds(text).map_err(|what| Failure::usage(format!("listen.{key}: {what}")))?;
                Ok::<_, Failure>(Duration::from_millis(time))
            };
            let path = |path: &Option<PathBuf>| path.as_deref().map(|path| self.resolve(path));
            Ok(ListenSettings {
                address: listen.address,
                token_file: path(&listen.token_file),
                tokens: Vec::new(),
                wait: time("wait", &listen.wait)?,
                reconnect: time("reconnect", &listen.reconnect)?,
                connections: listen.connections,
                certificate: match (path(&listen.tls_cert), path(&listen.tls_key)) {
                    (Some(chain), Some(key)) => Some(CertificateFile::Pem { chain, key }),
                    (None, None) => None,
                    (Some(_), None) => return Err(Failure::usage("listen.tls_cert needs listen.tls_key")),
                    (None, Some(_)) => return Err(Failure::usage("listen.tls_key needs listen.tls_cert")),
                },
            })
        };
        let settings = self.listen.as_ref().map(settings).transpose()?;
        listen::listen(settings, sources, Syntax::Keys)
    }

    fn openings(&self, rules: &dyn Rules, seating: Seating, seed: &Seed) -> Result<Openings, Failure> {
        if self.opening_start == 0 {
            return Err(Failure::usage("opening_start: 0 is no opening: the first is 1"));
        }
        if self.opening_start > 1 && self.openings.is_none() {
            return Err(Failure::usage("opening_start needs `openings`"));
        }
        let source = match (self.openings_file(), self.opening_plies) {
            (Some(path), plies) => {
                OpeningSource::File(OpeningBook { path, order: self.order, plies, start: self.opening_start })
            }
            (None, plies) => OpeningSource::Random { plies },
        };
        source.openings(rules, seating, self.options.clone(), seed, Syntax::Keys)
    }
}

/// The last component of a path.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
