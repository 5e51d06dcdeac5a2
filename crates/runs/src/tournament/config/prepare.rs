//! Validates a tournament file, and converts it to what plays the tournament.

use std::path::Path;
use std::sync::Arc;

use referee_protocol::limits;
use referee_results::Roster;
use serde_json::{Map, Value};

use referee_engine::driver::{Run, check_clock};
use referee_engine::runner::{Openings, deal_leaks_information};
use referee_engine::sources::{BotSpec, Listen};
use referee_game::chance::Seed;
use referee_game::disguise::disguise;
use referee_game::erased::Rules;
use referee_game::{Seating, Wrong, counted, keys};
use referee_report::tournament::Settings;
use referee_stats::Deals;
use referee_stats::grade::{GradeScale, GradeTerms};
use referee_stats::schedule::{ByePoints, Format, Participation, Plan, RankBy};

use crate::RunError;
use crate::config::{KnownGames, OpeningConfig, OpeningOrder, RunNotice, listen};
use crate::play::check_fresh;
use crate::tournament::config::{FormatConfig, MirrorConfig, Restart, TournamentConfig};

/// The default maximum number of bot processes, unless more have to play concurrently.
const PROCESSES: usize = 64;

#[derive(Debug)]
pub struct PreparedTournament {
    pub run: Run,
    pub rules: &'static dyn Rules,
    /// The bots: one or a team per entrant.
    pub entrants: Vec<BotSpec>,
    pub(in crate::tournament) roster: Arc<Roster>,
    pub(crate) openings: Openings,
    pub(crate) jobs: usize,
    pub(crate) processes: usize,
    pub(crate) slots: usize,
    pub(in crate::tournament) is_pinned: bool,
    pub(in crate::tournament) listen: Option<Listen>,
    /// Warnings about its settings.
    pub notices: Vec<RunNotice>,
}

impl PreparedTournament {
    pub fn bots_of(&self, entrant: usize) -> &[BotSpec] {
        &self.entrants[self.roster.bots(entrant)]
    }
}

impl TournamentConfig {
    /// The settings that reports state, with the seed of the run.
    pub fn settings(&self, rules: &dyn Rules, seed: &str, seating: Seating) -> Settings {
        let raw = |options: &Map<String, Value>| serde_json::value::to_raw_value(options).unwrap_or_default();
        let options = raw(&self.options);
        let table = rules.open(&options, seating);
        let openings = match (&self.openings.openings, self.openings.opening_plies.unwrap_or(0)) {
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
            clock: self.terms.clock.to_string(),
            limits: self.terms.clock.0,
            on_fault: self.terms.on_fault.to_string(),
            adjudication: self.adjudication_in_words(),
            options: table.map_or(options, |table| table.options().to_owned()),
            openings,
            seed: seed.to_owned(),
        }
    }

    /// Finds the game, which `games` knows then.
    ///
    /// # Errors
    /// If there is no such game.
    pub fn find_game(&self, games: &mut KnownGames) -> Result<&'static dyn Rules, RunError> {
        let rules = games.find(self.folder(), &self.game)?;
        match &self.disguise {
            None => Ok(rules),
            Some(text) => {
                let rules =
                    disguise(rules, text).map_err(|why| RunError::from(Wrong::at("disguise", why)))?;
                games.add_kept(rules);
                Ok(rules)
            }
        }
    }

    /// The input of the schedule, which requires neither the bots nor other files. `entries`: when entrants join and
    /// withdraw, if not all take part from start to end.
    ///
    /// # Errors
    /// If the seats or the format do not fit the game and the entrants.
    pub fn plan(&self, rules: &dyn Rules, entries: Option<Vec<Participation>>) -> Result<Plan, RunError> {
        let seating =
            rules.meta().seating(self.seats).map_err(|why| RunError::from(Wrong::at("seats", why)))?;
        let deals = match self.mirror {
            Some(MirrorConfig::None) => Deals::Single,
            Some(MirrorConfig::Rotations) => Deals::Mirrored,
            Some(MirrorConfig::All) => Deals::AllOrders,
            None if deal_leaks_information(rules.meta()) && !self.draws_openings() => Deals::Single,
            None => Deals::Mirrored,
        };
        let format = match self.format {
            FormatConfig::RoundRobin { cycles } => Format::RoundRobin { cycles },
            FormatConfig::Gauntlet { cycles } => Format::Gauntlet { cycles },
            FormatConfig::Swiss { rounds, sets, .. } => Format::Swiss { rounds, sets },
            FormatConfig::Knockout { best_of, tie_breaks } => Format::Knockout { best_of, tie_breaks },
            FormatConfig::Partners { cycles } => Format::Partners { cycles },
            FormatConfig::Race(terms) => Format::Race(terms),
            FormatConfig::Grade { .. } => Format::Grade(self.scale()?.1),
        };
        let mut plan = Plan::new(format, seating, deals, self.entrants.len());
        if self.rank_by == RankBy::Amounts && rules.meta().amounts.is_none() {
            return Err(RunError::from(format!(
                "rank_by: `{}` has no amounts; expected \"points\"",
                rules.meta().id
            )));
        }
        plan.rank_by = self.rank_by;
        plan.entrants = entries.unwrap_or(plan.entrants);
        for (entry, entrant) in plan.entrants.iter_mut().zip(&self.entrants) {
            entry.absent.clone_from(&entrant.absent);
            entry.elo = entrant.elo;
        }
        if let FormatConfig::Swiss { bye, requested_bye, .. } = self.format {
            plan.byes = ByePoints { allocated: bye.half_points, requested: requested_bye.half_points };
        }
        plan.check().map_err(|why| RunError::from(Wrong::at("format", why)))?;
        Ok(plan)
    }

    /// Validates everything else.
    ///
    /// # Errors
    /// What cannot be played.
    pub fn prepare(
        &self,
        rules: &'static dyn Rules,
        seed: Seed,
        plan: &Plan,
    ) -> Result<PreparedTournament, RunError> {
        let mut notices = Vec::new();
        let sources = self.sources(rules.meta().id, plan, &mut notices)?;
        let needs_fresh =
            plan.deals != Deals::Single && deal_leaks_information(rules.meta()) && !self.trust_bots;
        if needs_fresh {
            check_fresh(rules, &sources).map_err(|why| {
                RunError::from(Wrong::from(format!(
                    "mirror: {why}; `trust_bots = true` overrides this check"
                )))
            })?;
        }
        let resolve = |path: &Path| self.resolve(path);
        let (rules, terms) = self.terms.of_game(rules, plan.seating, resolve, keys)?;
        let listen = listen(self.listen.as_ref(), resolve, &sources, keys, &mut notices)?;
        if let Some(workers) = &self.workers {
            workers.resolved(|path| self.resolve(path)).map_err(|why| Wrong::at("[workers]", why))?;
        }
        let openings = self.openings(rules, plan.seating, &seed, &mut notices)?;
        let names = self.bots().map(|bot| bot.name.clone());
        let of_teams = self.entrants.iter().filter(|entrant| !entrant.team.is_empty());
        let of_teams = of_teams.filter_map(|entrant| entrant.name.clone()).collect();
        let mut entrants = BotSpec::named(sources.into_iter().zip(names).collect(), of_teams);
        for (entrant, config) in entrants.iter_mut().zip(self.bots()) {
            entrant.clock_factor = config.clock_factor;
            if let Some(clock) = terms.clock.and_then(|clock| entrant.clock(clock)) {
                check_clock(clock).map_err(|why| {
                    RunError::from(Wrong::at(
                        format!("entrant {}", entrant.name),
                        Wrong::at(format!("clock_factor {}", config.clock_factor), why),
                    ))
                })?;
            }
            entrant.hide_legal = self.hide_legal || config.hide_legal;
            entrant.is_fresh = needs_fresh || config.restart.unwrap_or(self.restart) == Restart::Always;
        }
        for (key, value, most) in [("jobs", self.jobs, 10_000), ("slots", self.slots, limits::SLOTS as u32)] {
            if !(1..=most).contains(&value) {
                return Err(RunError::from(format!("{key}: {value} is not from 1 to {most}")));
            }
        }
        let (jobs, seats) = (self.jobs as usize, plan.seating.seats());
        let processes = self.processes.map_or(PROCESSES.max(jobs * seats), |processes| processes as usize);
        if processes < jobs * seats {
            return Err(RunError::from(format!(
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
            notices,
        })
    }

    /// The rules of adjudication, for readers, who have no use for the directory of tables.
    fn adjudication_in_words(&self) -> String {
        let rules = self.terms.terms().adjudication.to_string();
        let tables = self.terms.adjudication.syzygy.as_ref().map(|_| "syzygy".to_owned());
        [(!rules.is_empty()).then_some(rules), tables].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn draws_openings(&self) -> bool {
        matches!(self.format, FormatConfig::Race(_) | FormatConfig::Grade { .. })
    }

    /// The scale of the format `grade`, and when a bot is graded by it.
    ///
    /// # Errors
    /// If the file has another format, or no scale.
    pub fn scale(&self) -> Result<(&GradeScale, GradeTerms), RunError> {
        let wrong = |what: &str| RunError::from(Wrong::at("format", what));
        let FormatConfig::Grade { within, max_sets } = self.format else {
            return Err(wrong("expected `kind = \"grade\"`"));
        };
        let scale = self.grades.as_ref().ok_or_else(|| wrong("`grade` needs [[grades]]"))?;
        Ok((scale, scale.terms(within, max_sets)))
    }

    fn openings(
        &self,
        rules: &dyn Rules,
        seating: Seating,
        seed: &Seed,
        notices: &mut Vec<RunNotice>,
    ) -> Result<Openings, RunError> {
        let OpeningConfig { opening_plies, openings, opening_start, order } = &self.openings;
        if *opening_start == 0 {
            return Err(RunError::from(Wrong::new("opening_start: 0 is no opening: the first is 1")));
        }
        let meta = rules.meta();
        // Deterministic bots would play the same match again and again.
        if matches!(self.format, FormatConfig::Grade { .. })
            && openings.is_none()
            && opening_plies.unwrap_or(0) == 0
            && meta.openings.is_some()
            && !deal_leaks_information(meta)
        {
            let what = format!("a grade of {} needs `opening_plies` or `openings`", meta.id);
            return Err(RunError::from(Wrong::at("format", what)));
        }
        if self.draws_openings() && (*opening_start > 1 || *order != OpeningOrder::File) {
            return Err(RunError::from(Wrong::new(
                "a race or a grade draws an opening for each set: omit `order` and `opening_start`",
            )));
        }
        if *opening_start > 1 && openings.is_none() {
            return Err(RunError::from(Wrong::new("opening_start needs `openings`")));
        }
        let source = self.openings.source(0, |path| self.resolve(path));
        let (mut openings, left_out) = source.openings(rules, seating, self.options.clone(), seed, keys)?;
        if self.draws_openings() {
            openings.draw(seed);
        }
        notices.extend(left_out.map(RunNotice::OmittedOpenings));
        Ok(openings)
    }
}

/// The last component of a path.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
