//! The bots of a tournament file: where they come from, and their sandboxes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bot::Command;
use crate::bot::sandbox::{BotLimits, Sandbox, separate};
use crate::cli::Failure;
use crate::cli::sandbox::{change_commands, default_sandbox};
use crate::cli::tournament::config::{Config, EntrantConfig};
use crate::cli::workers::check_files;
use crate::game::name::{NameError, NameSet};
use crate::sources::{Connection, Source};
use crate::stats::schedule::Plan;

impl Config {
    /// The sandbox of a bot without limits of its own.
    fn sandbox(&self) -> Result<Sandbox, Failure> {
        match &self.sandbox {
            None => Ok(default_sandbox()),
            Some(config) => config.sandbox(|path| self.resolve(path)),
        }
    }

    /// Limits with absolute paths.
    fn seen(&self, limits: &BotLimits) -> BotLimits {
        BotLimits { read: limits.read.iter().map(|path| self.resolve(path)).collect(), ..limits.clone() }
    }

    pub(super) fn sources(&self, game: &str, plan: &Plan) -> Result<Vec<Arc<dyn Source>>, Failure> {
        let sandbox = self.sandbox()?;
        let mut names = NameSet::default();
        let mut sources = Vec::new();
        for (index, entrant) in self.entrants.iter().enumerate() {
            let which = entrant.name.clone().unwrap_or_else(|| format!("number {}", index + 1));
            let wrong = |what: String| Failure::usage(format!("entrant {which}: {what}"));
            entrant.check_team(game, plan).map_err(wrong)?;
            // The bot of a withdrawn entrant may be missing.
            let is_there = plan.entrants[index].leaves.is_none();
            if entrant.team.is_empty() {
                sources.push(self.source(entrant, &sandbox, &mut names, is_there).map_err(wrong)?);
                continue;
            }
            check_new_name(&entrant.name, &mut names).map_err(|what| wrong(what.to_string()))?;
            for (at, bot) in entrant.team.iter().enumerate() {
                let which = bot.name.clone().unwrap_or_else(|| (at + 1).to_string());
                let wrong = |what| wrong(format!("bot {which}: {what}"));
                sources.push(self.source(bot, &sandbox, &mut names, is_there).map_err(wrong)?);
            }
        }
        self.check_display_names().map_err(Failure::usage)?;
        change_commands(&mut sources, |mut commands| separate(&mut commands));
        Ok(sources)
    }

    /// Checks what people see instead of names: it must not look like the name of another entrant.
    pub(in crate::cli::tournament) fn check_display_names(&self) -> Result<(), String> {
        let mut names = NameSet::default();
        for name in self.entrants.iter().filter_map(|entrant| entrant.name.as_deref()) {
            names.add(name).map_err(|error| format!("entrant {name}: {error}"))?;
        }
        for entrant in &self.entrants {
            let Some(display) = &entrant.display_name else { continue };
            let Some(name) = &entrant.name else {
                return Err(format!("display_name `{display}`: the entrant needs a `name`, too"));
            };
            names
                .add_display(name, display)
                .map_err(|error| format!("entrant {name}: display_name: {error}"))?;
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
    ) -> Result<Arc<dyn Source>, String> {
        check_new_name(&bot.name, names).map_err(|what| what.to_string())?;
        if !(0.01..=100.0).contains(&bot.clock_factor) {
            return Err(format!("clock_factor {} is not from 0.01 to 100", bot.clock_factor));
        }
        match (&bot.command, &bot.tcp) {
            (Some(command), None) => {
                let command = command.parse::<Command>().map_err(|error| error.to_string())?;
                let files = bot.files.as_deref().map(|files| self.resolve(files));
                let directory = match (&bot.directory, &files) {
                    (Some(directory), _) => self.resolve(directory),
                    (None, Some(files)) => files.clone(),
                    (None, None) => self.resolve(Path::new("")),
                };
                let sandbox =
                    sandbox.with(self.seen(&bot.limits)).map_err(|what| format!("limits: {what}"))?;
                let env = bot.env.clone();
                let command = Command { directory: Some(directory), files, env, sandbox, ..command };
                if is_there {
                    command.check().map_err(|defect| defect.to_string())?;
                    check_files(&command, &self.own_paths())?;
                }
                Ok(Arc::new(command))
            }
            (None, Some(_)) if bot.files.is_some() => Err("`files` are those of a `command`".to_owned()),
            (None, Some(name)) => Ok(Arc::new(Connection::new(name).map_err(|error| error.to_string())?)),
            _ => Err("it needs either a `command` or a `tcp` name".to_owned()),
        }
    }
}

/// Checks that a name is valid, and looks like no other one.
fn check_new_name(name: &Option<String>, names: &mut NameSet) -> Result<(), NameError> {
    name.as_ref().map_or(Ok(()), |name| names.add(name))
}
