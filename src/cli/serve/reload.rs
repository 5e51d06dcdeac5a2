//! SIGHUP: the file of the league is read again while the league is played.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toml::{Table, Value};

use crate::cli::Failure;
use crate::cli::league::config::LeagueConfig;
use crate::cli::league::log;
use crate::cli::league::which::now;
use crate::files::Folder;
use crate::store::League;

/// What ladders in progress take from the file of the league.
#[derive(Clone)]
pub(super) struct CurrentConfig {
    pub(super) config: LeagueConfig,
    /// The directories of the files of programs, by name.
    pub(super) files: BTreeMap<String, PathBuf>,
}

impl CurrentConfig {
    pub(super) fn of(config: LeagueConfig) -> Result<CurrentConfig, Failure> {
        let files = config.files()?;
        Ok(CurrentConfig { config, files })
    }
}

/// The file of a league that is played.
#[derive(Clone)]
pub(super) struct ConfigFile {
    path: PathBuf,
    current: Arc<Mutex<CurrentConfig>>,
    /// Whether the server was started in a terminal.
    has_terminal: bool,
}

impl ConfigFile {
    pub(super) fn new(path: PathBuf, current: CurrentConfig) -> ConfigFile {
        let has_terminal = std::io::stderr().is_terminal();
        ConfigFile { path, current: Arc::new(Mutex::new(current)), has_terminal }
    }

    /// What was read last.
    pub(super) fn current(&self) -> MutexGuard<'_, CurrentConfig> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether SIGHUP came because the terminal of the server was closed.
    pub(super) fn has_lost_terminal(&self) -> bool {
        self.has_terminal && !std::io::stderr().is_terminal()
    }

    /// Reads the file again. Its programs are taken up; other settings need a restart. Returns what has changed, one line each.
    ///
    /// # Errors
    /// What is wrong with the file, which has no effect then.
    pub(super) fn reload(&self, folder: &Folder) -> Result<Vec<String>, Failure> {
        let new = LeagueConfig::read(&self.path)?;
        let files = new.files()?;
        for program in &new.programs {
            new.sandbox(program.name())?;
        }
        let mut current = self.current();
        let changes = changes(current.config.text(), new.text());
        let mut league = League::open(folder).map_err(Failure::cannot_run)?;
        *current = CurrentConfig { config: new, files };
        current.config.store_programs(&mut league, now())?;
        if !changes.is_empty() {
            log::note(&mut league, &format!("reload: {}", changes.join("; ")))?;
        }
        Ok(changes)
    }
}

/// The items of a list of tables, by their names.
fn by_name<'a>(file: &'a Table, key: &str) -> BTreeMap<&'a str, &'a Table> {
    let items = file.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table);
    items.filter_map(|item| Some((item.get("name")?.as_str()?, item))).collect()
}

/// The keys with other values.
fn differing<'a>(before: &'a Table, after: &'a Table) -> BTreeSet<&'a str> {
    let keys = before.keys().chain(after.keys()).map(String::as_str);
    keys.filter(|&key| before.get(key) != after.get(key)).collect()
}

fn listed<'a>(keys: impl IntoIterator<Item = &'a str>) -> String {
    keys.into_iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// What has changed in the file of a league, and what needs a restart.
fn changes(before: &Table, after: &Table) -> Vec<String> {
    let mut found = Vec::new();
    let [programs, others] = [before, after].map(|file| by_name(file, "programs"));
    for (name, program) in &others {
        match programs.get(name) {
            None => found.push(format!("program {name} takes part")),
            Some(earlier) if earlier != program => {
                found.push(format!("program {name}: {}", listed(differing(earlier, program))));
            }
            Some(_) => {}
        }
    }
    let left = programs.keys().filter(|name| !others.contains_key(*name));
    found.extend(left.map(|name| format!("program {name} takes part no longer")));
    let [ladders, others] = [before, after].map(|file| by_name(file, "ladders"));
    for (name, ladder) in &others {
        match ladders.get(name) {
            None => found.push(format!("ladder {name}: it is played after a restart")),
            Some(earlier) if earlier != ladder => {
                let keys = listed(differing(earlier, ladder));
                found.push(format!("ladder {name}: {keys} after a restart"));
            }
            Some(_) => {}
        }
    }
    let left = ladders.keys().filter(|name| !others.contains_key(*name));
    found.extend(left.map(|name| format!("ladder {name}: it ends with a restart")));
    let rest: Vec<&str> =
        differing(before, after).into_iter().filter(|key| !["programs", "ladders"].contains(key)).collect();
    if !rest.is_empty() {
        found.push(format!("{} after a restart", listed(rest)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_name_what_needs_a_restart() {
        let before =
            "name = 'mine'\n[[ladders]]\nname = 'a'\njobs = 1\n[[programs]]\nname = 'x'\ncommand = '1'\n";
        let of = |text: &str| changes(&before.parse().unwrap(), &text.parse().unwrap());
        assert_eq!(of(before), [""; 0]);
        let after = "name = 'ours'\n[[ladders]]\nname = 'a'\njobs = 2\nrest = '1s'\n[[ladders]]\nname = 'b'\n\
                     [[programs]]\nname = 'x'\ncommand = '2'\n[[programs]]\nname = 'y'\n";
        assert_eq!(
            of(after),
            [
                "program x: `command`",
                "program y takes part",
                "ladder a: `jobs`, `rest` after a restart",
                "ladder b: it is played after a restart",
                "`name` after a restart",
            ]
        );
        assert_eq!(
            of("name = 'mine'\n[[ladders]]\nname = 'a'\njobs = 1\n"),
            ["program x takes part no longer"]
        );
    }
}
