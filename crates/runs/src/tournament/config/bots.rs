//! The bots of a tournament file: where they come from, and their sandboxes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::RunError;
use crate::config::{RunNotice, change_commands, check_files, default_sandbox};
use crate::tournament::config::{EntrantConfig, TournamentConfig};
use referee_bots::Command;
use referee_bots::sandbox::{BotLimits, Sandbox, separate};
use referee_engine::sources::{Connection, Source};
use referee_game::name::NameSet;
use referee_game::{Wrong, keys};
use referee_stats::schedule::Plan;

impl TournamentConfig {
    /// The sandbox of a bot without limits of its own.
    fn sandbox(&self, notices: &mut Vec<RunNotice>) -> Result<Sandbox, RunError> {
        match &self.sandbox {
            None => Ok(default_sandbox(keys, notices)),
            Some(config) => Ok(config.sandbox(|path| self.resolve(path), keys)?),
        }
    }

    /// Limits with absolute paths.
    fn resolved_limits(&self, limits: &BotLimits) -> BotLimits {
        BotLimits { read: limits.read.iter().map(|path| self.resolve(path)).collect(), ..limits.clone() }
    }

    pub(super) fn sources(
        &self,
        game: &str,
        plan: &Plan,
        notices: &mut Vec<RunNotice>,
    ) -> Result<Vec<Arc<dyn Source>>, RunError> {
        let mut bots = self.entrants.iter().flat_map(|entrant| entrant.team.iter().chain([entrant]));
        let sandbox = match bots.any(|bot| bot.command.is_some()) {
            true => self.sandbox(notices)?,
            // Entrants that only connect need nothing that this machine may lack.
            false => Sandbox::default(),
        };
        let mut names = NameSet::default();
        let mut sources = Vec::new();
        for (index, entrant) in self.entrants.iter().enumerate() {
            let wrong = |why: Wrong| {
                let which = entrant.name.clone().unwrap_or_else(|| format!("number {}", index + 1));
                RunError::from(Wrong::at(format!("entrant {which}"), why))
            };
            entrant.check_team(game, plan).map_err(wrong)?;
            // The bot of a withdrawn entrant may be missing.
            let is_there = plan.entrants[index].leaves.is_none();
            if entrant.team.is_empty() {
                sources.push(self.source(entrant, &sandbox, &mut names, is_there).map_err(wrong)?);
                continue;
            }
            check_new_name(&entrant.name, &mut names).map_err(&wrong)?;
            for (at, bot) in entrant.team.iter().enumerate() {
                let source = self.source(bot, &sandbox, &mut names, is_there).map_err(|why| {
                    let bot = bot.name.clone().unwrap_or_else(|| (at + 1).to_string());
                    wrong(Wrong::at(format!("bot {bot}"), why))
                });
                sources.push(source?);
            }
        }
        self.check_display_names()?;
        change_commands(&mut sources, |mut commands| separate(&mut commands));
        Ok(sources)
    }

    /// Checks what people see instead of names: it must not look like the name of another entrant.
    pub(in crate::tournament) fn check_display_names(&self) -> Result<(), RunError> {
        let mut names = NameSet::default();
        let wrong = |name: &str, why: Wrong| RunError::from(Wrong::at(format!("entrant {name}"), why));
        for name in self.entrants.iter().filter_map(|entrant| entrant.name.as_deref()) {
            names.add(name).map_err(|error| wrong(name, error))?;
        }
        for entrant in &self.entrants {
            let Some(display) = &entrant.display_name else { continue };
            let Some(name) = &entrant.name else {
                return Err(RunError::from(format!(
                    "display_name `{display}`: the entrant needs a `name`, too"
                )));
            };
            let added = names.add_display(name, display);
            added.map_err(|error| wrong(name, Wrong::at("display_name", error)))?;
        }
        Ok(())
    }

    /// The paths that no bot may see: of the tournament and of its seed.
    fn own_paths(&self) -> Vec<PathBuf> {
        let own = [Some(&self.folder), self.seed_file.as_ref()].into_iter().flatten();
        own.map(|path| self.resolve(path)).collect()
    }

    fn source(
        &self,
        bot: &EntrantConfig,
        sandbox: &Sandbox,
        names: &mut NameSet,
        is_there: bool,
    ) -> Result<Arc<dyn Source>, Wrong> {
        check_new_name(&bot.name, names)?;
        if !(0.01..=100.0).contains(&bot.clock_factor) {
            return Err(format!("clock_factor {} is not from 0.01 to 100", bot.clock_factor).into());
        }
        match (&bot.command, &bot.tcp) {
            (Some(command), None) => {
                let command = command.parse::<Command>()?;
                let files = bot.files.as_deref().map(|files| self.resolve(files));
                let directory = match (&bot.directory, &files) {
                    (Some(directory), _) => self.resolve(directory),
                    (None, Some(files)) => files.clone(),
                    (None, None) => self.resolve(Path::new("")),
                };
                let sandbox = sandbox
                    .with(self.resolved_limits(&bot.limits))
                    .map_err(|why| Wrong::at("limits", why))?;
                let env = bot.env.clone();
                let command = Command { directory: Some(directory), files, env, sandbox, ..command };
                if is_there {
                    command.check()?;
                    check_files(&command, &self.own_paths())?;
                }
                Ok(Arc::new(command))
            }
            (None, Some(_)) if bot.files.is_some() => Err("`files` are those of a `command`".into()),
            (None, Some(name)) => Ok(Arc::new(Connection::new(name)?)),
            _ => Err("it needs either a `command` or a `tcp` name".into()),
        }
    }
}

/// Checks that a name is valid, and looks like no other one.
fn check_new_name(name: &Option<String>, names: &mut NameSet) -> Result<(), Wrong> {
    name.as_ref().map_or(Ok(()), |name| names.add(name))
}
