//! The entrants of a tournament file.

use referee_game::{Wrong, counted};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::config::Dollars;
use crate::tournament::config::Restart;
use referee_bots::sandbox::BotLimits;
use referee_engine::sources::Source;
use referee_stats::schedule::{Format, Plan};

fn full() -> f64 {
    1.0
}

/// An entrant: a bot, or a team of bots.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntrantConfig {
    /// The label; by default that of its script or program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The command line of a bot that the referee starts; in the file also the table `engine`.
    #[serde(
        default,
        alias = "engine",
        deserialize_with = "referee_bots::optional_command_line",
        skip_serializing_if = "Option::is_none"
    )]
    pub command: Option<String>,
    /// The name with which a bot connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<String>,
    /// The working directory; by default `files`, or the directory of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// The directory with all of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<PathBuf>,
    /// Variables of its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The share of the common clock that it has.
    #[serde(default = "full")]
    pub clock_factor: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) restart: Option<Restart>,
    /// Whether requests to the entrant come without the list of legal moves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) hide_legal: bool,
    /// The cost of its matches at which the tournament is interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::tournament) max_cost: Option<Dollars>,
    /// Limits of its sandbox that differ from the common ones.
    #[serde(default, skip_serializing_if = "BotLimits::is_empty")]
    pub(super) limits: BotLimits,
    /// The rounds of a Swiss tournament in which it takes a bye.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub absent: BTreeSet<u32>,
    /// The known strength, in Elo, for the format `grade`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) elo: Option<f64>,
    /// The bots of the seats of its side, in order, if they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) team: Vec<EntrantConfig>,
}

impl EntrantConfig {
    /// The bots: itself, or its team.
    pub fn bots(&self) -> &[EntrantConfig] {
        if self.team.is_empty() { std::slice::from_ref(self) } else { &self.team }
    }

    /// Returns the bots for changes.
    pub(in crate::tournament) fn bots_mut(&mut self) -> &mut [EntrantConfig] {
        if self.team.is_empty() { std::slice::from_mut(self) } else { &mut self.team }
    }

    pub(super) fn check_team(&self, game: &str, plan: &Plan) -> Result<(), Wrong> {
        if self.team.is_empty() {
            return Ok(());
        }
        let (seats, sides) = (plan.seating.seats(), plan.seating.sides());
        let own = EntrantConfig { team: Vec::new(), ..self.clone() };
        if self.name.is_none() {
            return Err("a team needs a `name`".into());
        }
        if seats == sides {
            return Err(format!("`team`: {game} with {seats} seats has no partners").into());
        }
        if matches!(plan.format, Format::Partners { .. }) {
            return Err(
                "a `team` is fixed, but the format `partners` pairs all entrants with each other".into()
            );
        }
        let bots = self.team.len();
        if bots != seats / sides {
            return Err(format!(
                "its team has {}, but a side of {game} has {seats} seats",
                counted(bots, "bot", "bots"),
                seats = seats / sides
            )
            .into());
        }
        if self.team.iter().any(|bot| !bot.team.is_empty()) {
            return Err("a bot of a team cannot have a `team` itself".into());
        }
        if !own.is_blank() {
            return Err(
                "only `name`, `display_name` and `absent` are allowed beside `team`: other keys belong \
                 to its bots"
                    .into(),
            );
        }
        if self
            .team
            .iter()
            .any(|bot| !bot.absent.is_empty() || bot.elo.is_some() || bot.display_name.is_some())
        {
            return Err("`absent` and `display_name` belong to the team, not to one of its bots".into());
        }
        Ok(())
    }

    /// Returns whether it has no key of a bot.
    fn is_blank(&self) -> bool {
        let EntrantConfig {
            name: _,
            display_name: _,
            command,
            tcp,
            directory,
            files,
            env,
            clock_factor,
            restart,
            hide_legal,
            max_cost,
            limits,
            absent: _,
            elo: _,
            team: _,
        } = self;
        command.is_none()
            && tcp.is_none()
            && directory.is_none()
            && files.is_none()
            && env.is_empty()
            && *clock_factor == full()
            && restart.is_none()
            && !hide_legal
            && max_cost.is_none()
            && limits.is_empty()
    }

    /// An entrant with this bot, or with these as its team, all in one folder.
    pub fn new(name: Option<String>, sources: Vec<Arc<dyn Source>>, directory: &Path) -> EntrantConfig {
        let bot = |source: Arc<dyn Source>| {
            let tcp = source.connects_as().map(str::to_owned);
            let command = tcp.is_none().then(|| source.to_string());
            EntrantConfig { command, tcp, directory: Some(directory.to_owned()), ..EntrantConfig::blank() }
        };
        let mut bots: Vec<EntrantConfig> = sources.into_iter().map(bot).collect();
        match bots.pop() {
            Some(only) if bots.is_empty() => EntrantConfig { name, ..only },
            last => {
                bots.extend(last);
                EntrantConfig { name, team: bots, ..EntrantConfig::blank() }
            }
        }
    }

    pub(super) fn blank() -> EntrantConfig {
        EntrantConfig {
            name: None,
            display_name: None,
            command: None,
            tcp: None,
            directory: None,
            files: None,
            env: BTreeMap::new(),
            clock_factor: full(),
            restart: None,
            hide_legal: false,
            max_cost: None,
            limits: BotLimits::default(),
            absent: BTreeSet::new(),
            elo: None,
            team: Vec::new(),
        }
    }
}
