//! The setup of a regression: what a resumed run and other shards must have in common with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use referee_bots::sandbox::Sandbox;
use referee_engine::runner::Scoring;
use referee_game::erased::Rules;
use referee_game::{Catalog, Seating, SettingNames, Wrong};
use referee_match::Adjudication;
use referee_match::record::{OtherRules, check_program};
use referee_protocol::limits;
use referee_protocol::referee::Clock;
use referee_protocol::words::OnFault;
use referee_report::{RegressionSetting, SetVersions, TestedBot};
use referee_results::Roster;
use referee_stats::Deals;
use referee_stats::regression::{Regression, Shard, StoppingRules};
use referee_stats::schedule::{Format, MatchId, Plan, Schedule};
use referee_stats::sprt::{EloModel, Sprt};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};

use crate::RunError;
use crate::regression::result_line::ResultLine;
use crate::regression::run::RegressionRun;

/// The version of the format.
const FORMAT: u32 = 4;

/// The hypotheses of a sequential test and their error probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hypotheses {
    /// H0: the difference at which the new version fails.
    pub elo0: f64,
    /// H1: the difference at which it passes.
    pub elo1: f64,
    /// The probability that a version at H0 passes.
    pub alpha: f64,
    /// The probability that a version at H1 fails.
    pub beta: f64,
    /// The unit of both differences.
    pub elo_model: EloModel,
}

impl Hypotheses {
    /// The test.
    ///
    /// # Errors
    /// If there is no such test.
    pub fn sprt(&self) -> Result<Sprt, Wrong> {
        let Hypotheses { elo0, elo1, alpha, beta, elo_model } = *self;
        Sprt::new(elo0, elo1, alpha, beta, elo_model)
    }
}

/// The setup of a regression: the first line of its results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "regress")]
pub struct RegressionSetup {
    /// The version of the format of results files.
    pub format: u32,
    pub game: String,
    pub rules_version: u32,
    /// The program that the rules are, as in records; `None` if they are part of the referee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Value>,
    pub seats: usize,
    /// The version to be tested.
    pub new: TestedBot,
    pub base: TestedBot,
    /// Whether `new` and `base` are the same version, so that nothing is played.
    pub same_version: bool,
    /// The options of the game that are given.
    pub options: Map<String, Value>,
    pub openings: String,
    /// Whether each set draws its opening at random.
    pub are_openings_drawn: bool,
    /// Whether bots remember nothing of earlier matches.
    pub trust_bots: bool,
    /// `None` in a run of fixed length.
    pub test: Option<Hypotheses>,
    /// The maximum number of sets.
    pub max_sets: u32,
    /// The maximum share of matches with a fault.
    pub max_fault_rate: f64,
    /// Whether the run goes on when the new version crashes.
    pub recover: bool,
    pub clock: Option<Clock>,
    /// The grace period beyond a limit.
    pub margin_ms: u64,
    pub on_fault: OnFault,
    /// The rules by which the referee ends matches.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// The time limit of `hello`.
    pub hello_ms: u64,
    /// The time limit of the first `ready`.
    pub ready_ms: u64,
    /// The time limit of later ones.
    #[serde(default = "later_ready_ms")]
    pub later_ready_ms: u64,
    /// Whether the list of legal moves is hidden from `new` and from `base`.
    #[serde(default)]
    pub hide_legal: [bool; 2],
    /// The part of the sets that is played; `None` for all.
    pub shard: Option<Shard>,
    /// `None` if the bots connect.
    pub sandbox: Option<Sandbox>,
    pub seed: String,
}

fn later_ready_ms() -> u64 {
    limits::READY_MS
}

impl RegressionSetup {
    /// The version of the format.
    pub const FORMAT: u32 = FORMAT;

    /// The rules of the game.
    ///
    /// # Errors
    /// If the catalog does not have it.
    pub fn rules(&self, catalog: &Catalog) -> Result<&'static dyn Rules, OtherRules> {
        catalog.find(&self.game).map_err(|unknown| match self.program {
            Some(_) => OtherRules::NoProgram { game: self.game.clone() },
            None => unknown.into(),
        })
    }

    /// Checks that a game has the same rules.
    ///
    /// # Errors
    /// How they differ.
    pub fn check_program(&self, rules: &dyn Rules) -> Result<(), OtherRules> {
        let recorded = self.program.as_ref().and_then(|program| to_raw_value(program).ok());
        check_program(rules, recorded.as_deref())
    }

    fn seating(&self, rules: &dyn Rules) -> Result<Seating, RunError> {
        Ok(rules.meta().seating(u8::try_from(self.seats).ok())?)
    }

    /// The first option in which another run differs. The options in `but` may differ, and so may the program of the rules,
    /// and the directories, files and commits of the bots.
    pub fn difference(&self, other: &RegressionSetup, but: &[&str]) -> Option<Wrong> {
        let bare = |bot: &TestedBot| TestedBot {
            command: bot.plain_command(),
            directory: None,
            commit: None,
            changes: None,
            files: BTreeMap::new(),
        };
        let value = |setup: &RegressionSetup| {
            let bots = (bare(&setup.new), bare(&setup.base));
            // Whether openings are drawn follows from `openings`.
            let bare = RegressionSetup {
                program: None,
                new: bots.0,
                base: bots.1,
                are_openings_drawn: false,
                ..setup.clone()
            };
            serde_json::to_value(bare).unwrap_or_default()
        };
        let (one, other) = (value(self), value(other));
        let names = one.as_object()?.keys().filter(|name| !but.contains(&name.as_str()));
        let mut differing = names.filter(|name| one[name.as_str()] != other[name.as_str()]);
        differing.next().map(|name| match name.as_str() {
            "seed" => Wrong::new("another seed"),
            name => format!("{name} {}, not {}", one[name], other[name]).into(),
        })
    }

    /// The difference of the first bot that is another version than that of another run.
    pub fn changed_bot(&self, earlier: &RegressionSetup) -> Option<String> {
        let bots = [("new", &self.new, &earlier.new), ("base", &self.base, &earlier.base)];
        bots.into_iter().find_map(|(name, bot, earlier)| {
            bot.change(earlier).map(|what| format!("`{name}` has changed: {what}"))
        })
    }

    /// Goes on from the sets of another run, with its seed. The seed may differ, unless it is given (`has_seed`); the maximum
    /// number of sets of a test may be larger; and programs may have changed if that `is_accepted`.
    ///
    /// # Errors
    /// What else differs.
    pub fn resume(
        &mut self,
        earlier: &RegressionSetup,
        rules: &dyn Rules,
        has_seed: bool,
        is_accepted: bool,
    ) -> Result<(), RunError> {
        let grows = self.test.is_some() && self.max_sets > earlier.max_sets;
        let may_differ = [(!has_seed, "seed"), (grows, "max_sets")];
        let but: Vec<&str> = may_differ.into_iter().filter(|&(may, _)| may).map(|(_, name)| name).collect();
        if let Some(other) = self.difference(earlier, &but) {
            return Err(format!("this run has {other}").into());
        }
        earlier.check_program(rules)?;
        if let Some(what) = self.changed_bot(earlier).filter(|_| !is_accepted) {
            return Err(RunError::Changed(what.into()));
        }
        self.seed.clone_from(&earlier.seed);
        Ok(())
    }

    /// Identifies the versions that play.
    pub fn played_by(&self) -> [String; 2] {
        [self.new.version(), self.base.version()]
    }

    /// The report's description of it.
    pub fn setting(self, names: SettingNames) -> RegressionSetting {
        let RegressionSetup { game, new, base, clock, sandbox, seed, .. } = self;
        RegressionSetting {
            game,
            new,
            base,
            clock,
            sandbox,
            seed,
            totals: Default::default(),
            changed: Vec::new(),
            versions: SetVersions::default(),
            duration: Duration::ZERO,
            names,
        }
    }

    /// Restores the schedule and the statistics from the lines of a file. `whole`: those of all shards together.
    ///
    /// # Errors
    /// If the lines do not fit the setup, or it is not valid.
    pub fn begin(
        &self,
        catalog: &Catalog,
        kept: &[ResultLine],
        whole: bool,
    ) -> Result<(Schedule, RegressionRun), RunError> {
        let (rules, deals) = (self.rules(catalog)?, Deals::Mirrored);
        let seating = self.seating(rules)?;
        let shard = self.shard.filter(|_| !whole);
        let sprt = self.test.as_ref().filter(|_| shard.is_none()).map(Hypotheses::sprt).transpose()?;
        let sets = shard.map_or(self.max_sets, |shard| shard.count(self.max_sets));
        let terms = StoppingRules { max_fault_rate: self.max_fault_rate, ..StoppingRules::new(sprt, sets) };
        let regression = Regression::new(terms, seating, deals)?.with_drawn_openings(self.are_openings_drawn);
        let plan = Plan::new(Format::Duel { sets: self.max_sets }, seating, deals, 2);
        let legs = deals.legs(seating) as u32;

        let (mut results, mut voids) = (Vec::new(), Vec::new());
        let nonsense = |set: u32| RunError::from(format!("the results of set {set} do not fit the run"));
        for kept in kept {
            let ResultLine::Set { set, matches } = kept else { continue };
            if matches.len() != legs as usize || shard.is_some_and(|shard| !shard.has(*set)) {
                return Err(nonsense(*set));
            }
            for played in matches {
                let id: Option<MatchId> = played.id().parse().ok();
                let (Some(id), Some(result)) = (id, played.result(*set, seating)) else {
                    return Err(nonsense(*set));
                };
                if played.is_void() {
                    voids.push((id.number, result.lineup));
                } else {
                    results.push((id.number, result));
                }
            }
        }
        if let Some(shard) = shard {
            // Sets of other shards are not played here.
            let all = Schedule::new(plan.clone())?;
            for (set, number) in all.sets().iter().zip(1..).filter(|&(_, number)| !shard.has(number)) {
                let matches =
                    (0..legs).map(|leg| (legs * (number - 1) + leg + 1, deals.leg(set.first, leg as usize)));
                voids.extend(matches);
            }
        }
        let (schedule, refused) = Schedule::resume(plan, results, voids)?;
        if let Some(refused) = refused.first() {
            return Err((*refused).into());
        }

        let roster = Arc::new(Roster::alone(2));
        let scoring = Scoring { seating, legs, on_fault: self.on_fault, roster };
        let can_repeat = !rules.meta().chance;
        let mut running = RegressionRun::new(regression, scoring, can_repeat, self.recover, shard);
        let mut in_order: Vec<&ResultLine> = kept.iter().collect();
        // A crash after the set that decides changes nothing: a run without shards would not have played on.
        in_order.sort_by_key(|kept| kept.set());
        for kept in in_order {
            running.restore(kept).ok_or_else(|| nonsense(kept.set()))?;
        }
        Ok((schedule, running))
    }
}

/// The names of the bots whose versions are not the same in all of these.
pub fn changed_bots<'a>(setups: impl Iterator<Item = &'a RegressionSetup> + Clone) -> Vec<&'static str> {
    type Bot = fn(&RegressionSetup) -> &TestedBot;
    let bots: [(&str, Bot); 2] = [("new", |setup| &setup.new), ("base", |setup| &setup.base)];
    let has_changed = |bot: Bot| {
        let mut bots = setups.clone().map(bot);
        bots.next().is_some_and(|first| bots.any(|other| other.change(first).is_some()))
    };
    bots.into_iter().filter(|&(_, bot)| has_changed(bot)).map(|(name, _)| name).collect()
}
