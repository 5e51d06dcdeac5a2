//! The entrants of a tournament file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bot::sandbox::BotLimits;
use crate::cli::tournament::config::Restart;
use crate::game::counted;
use crate::sources::Source;
use crate::stats::schedule::{Format, Plan};

fn full() -> f64 {
    1.0
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli::tournament) struct EntrantConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli::tournament) name: Option<String>,
    /// What people see instead of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli::tournament) display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli::tournament) command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli::tournament) tcp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli::tournament) directory: Option<PathBuf>,
    /// The directory with all of its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli::tournament) files: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(in crate::cli::tournament) env: BTreeMap<String, String>,
    #[serde(default = "full")]
    pub(in crate::cli::tournament) clock_factor: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) restart: Option<Restart>,
    /// Limits of its sandbox that differ from the common ones.
    #[serde(default, skip_serializing_if = "BotLimits::is_empty")]
    pub(super) limits: BotLimits,
    /// The rounds of a Swiss tournament in which it takes a bye.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(in crate::cli::tournament) absent: BTreeSet<u32>,
    /// The bots of the seats of its side, in order, if they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) team: Vec<EntrantConfig>,
}

impl EntrantConfig {
    /// Its bots: itself, or its team.
    pub(in crate::cli::tournament) fn bots(&self) -> &[EntrantConfig] {
        if self.team.is_empty() { std::slice::from_ref(self) } else { &self.team }
    }

    pub(in crate::cli::tournament) fn bots_mut(&mut self) -> &mut [EntrantConfig] {
        if self.team.is_empty() { std::slice::from_mut(self) } else { &mut self.team }
    }

    /// Validates a team.
    pub(super) fn check_team(&self, game: &str, plan: &Plan) -> Result<(), String> {
        if self.team.is_empty() {
            return Ok(());
        }
        let (seats, sides) = (plan.seating.seats(), plan.seating.sides());
        let own = EntrantConfig { team: Vec::new(), ..self.clone() };
        if self.name.is_none() {
            return Err("a team needs a `name`".to_owned());
        }
        if seats == sides {
            return Err(format!("`team`: {game} with {seats} seats has no partners"));
        }
        if matches!(plan.format, Format::Partners { .. }) {
            return Err(
                "a `team` is fixed, but the format `partners` pairs all entrants with each other".to_owned()
            );
        }
        if self.team.len() != seats / sides {
            let (bots, seats) = (counted(self.team.len(), "bot", "bots"), seats / sides);
            return Err(format!("its team has {bots}, but a side of {game} has {seats} seats"));
        }
        if self.team.iter().any(|bot| !bot.team.is_empty()) {
            return Err("a bot of a team cannot have a `team` itself".to_owned());
        }
        if !own.is_blank() {
            return Err("only `name`, `display_name` and `absent` are allowed beside `team`: other keys belong to its bots"
                .to_owned());
        }
        if self.team.iter().any(|bot| !bot.absent.is_empty() || bot.display_name.is_some()) {
            return Err("`absent` and `display_name` belong to the team, not to one of its bots".to_owned());
        }
        Ok(())
    }

    /// Whether it has no key of a bot.
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
            limits,
            absent: _,
            team: _,
        } = self;
        command.is_none()
            && tcp.is_none()
            && directory.is_none()
            && files.is_none()
            && env.is_empty()
            && *clock_factor == full()
            && restart.is_none()
            && limits.is_empty()
    }

    /// An entrant with this bot, or with these as its team, all in one folder.
    pub(in crate::cli::tournament) fn new(
        name: Option<String>,
        sources: Vec<Arc<dyn Source>>,
        directory: &Path,
    ) -> EntrantConfig {
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

    fn blank() -> EntrantConfig {
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
            limits: BotLimits::default(),
            absent: BTreeSet::new(),
            team: Vec::new(),
        }
    }
}
