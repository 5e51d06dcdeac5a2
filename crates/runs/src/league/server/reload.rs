//! SIGHUP: the file of the league is read again while the league is played.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use referee_files::Folder;
use referee_league::League;
use referee_store::now;
use referee_web::{LadderPages, OwnersOptions, OwnersReload, RunNaming};
use toml::{Table, Value};

use crate::RunError;
use crate::league::config::LeagueConfig;
use crate::submissions::{SharedTerms, SubmissionTerms};

/// Settings that ladders in progress take from the file of the league.
#[derive(Clone)]
pub(super) struct CurrentConfig {
    pub(super) config: LeagueConfig,
    /// The directories of the files of programs, by name.
    pub(super) files: BTreeMap<String, PathBuf>,
}

impl CurrentConfig {
    pub(super) fn of(config: LeagueConfig) -> Result<CurrentConfig, RunError> {
        let files = config.files()?;
        Ok(CurrentConfig { config, files })
    }
}

/// The file of a league that is played, as it was read last.
#[derive(Clone)]
pub(super) struct ConfigFile(Arc<Mutex<CurrentConfig>>);

impl ConfigFile {
    pub(super) fn new(current: CurrentConfig) -> ConfigFile {
        ConfigFile(Arc::new(Mutex::new(current)))
    }

    pub(super) fn current(&self) -> MutexGuard<'_, CurrentConfig> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the file of a league again while the league is played.
pub struct LeagueReload {
    pub(super) folder: Folder,
    pub(super) file: ConfigFile,
    pub(super) following: Following,
}

impl std::fmt::Debug for LeagueReload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeagueReload").field("folder", &self.folder.path()).finish_non_exhaustive()
    }
}

impl LeagueReload {
    /// Reads the file again, on behalf of this user. Its programs are taken up, and so is what follows it;
    /// other settings need a restart. Returns the changes, one line each, as they are noted in the log of the
    /// league.
    ///
    /// # Errors
    /// What is wrong with the file, which has no effect then.
    pub fn reload(&self, user: &str) -> Result<Vec<String>, RunError> {
        let path = self.file.current().config.path.clone();
        let new = LeagueConfig::read(&path)?;
        let files = new.files()?;
        for program in &new.programs {
            new.sandbox(program.name())?;
        }
        new.retention()?;
        let (owners, submissions) = (new.owners()?, new.submissions()?);
        let mut current = self.file.current();
        let changes = changes(current.config.text(), new.text());
        let mut league = League::open(&self.folder)?;
        for notice in new.store_programs(&mut league, now())? {
            tracing::warn!("{notice}");
        }
        self.following.follow(&new, owners, submissions);
        *current = CurrentConfig { config: new, files };
        if !changes.is_empty() {
            league.log(user, &format!("reload: {}", changes.join("; ")), now())?;
        }
        Ok(changes)
    }
}

/// Follows the file of a league in progress, besides its programs and `[retention]`.
pub(super) struct Following {
    /// The pages of the ladders, and their names on those for spectators.
    pub(super) pages: Vec<(Arc<LadderPages>, Option<RunNaming>)>,
    pub(super) owners: Option<OwnersReload>,
    /// The rules for submissions.
    pub(super) terms: Option<SharedTerms>,
}

impl Following {
    fn follow(
        &self,
        config: &LeagueConfig,
        owners: Option<OwnersOptions>,
        submissions: Option<SubmissionTerms>,
    ) {
        let about = config.about();
        for (pages, naming) in &self.pages {
            if let Some(naming) = naming {
                naming.set(&about.name_of(&pages.name));
            }
            pages.set_about(about.clone());
        }
        if let Some((own, options)) = self.owners.as_ref().zip(owners) {
            own.set(options);
        }
        if let Some((own, terms)) = self.terms.as_ref().zip(submissions) {
            own.set(terms);
        }
    }
}

/// The tables that follow the file, their purpose, and their keys that need a restart.
const TABLES: [(&str, Option<&str>, &[&str]); 5] = [
    ("pages", None, &[]),
    ("retention", None, &[]),
    ("signup", None, &[]),
    ("owners", Some("owners are served"), &["listen"]),
    (
        "submissions",
        Some("programs are taken in"),
        &["on", "keep", "build_memory", "build_processes", "build_cpus", "build_space"],
    ),
];

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

/// Changes of a league's file, and those that need a restart.
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
    let mut rest = differing(before, after);
    rest.retain(|key| !["programs", "ladders"].contains(key));
    for key in ["name", "events"] {
        if rest.remove(key) {
            found.push(format!("`{key}`"));
        }
    }
    for (table, what, needing) in TABLES {
        if rest.remove(table) {
            found.extend(changes_of_table(table, [before, after], what, needing));
        }
    }
    if !rest.is_empty() {
        found.push(format!("{} after a restart", listed(rest)));
    }
    found
}

/// Changes of a table that follows the file. One that says `what` is done begins and ends with a restart.
fn changes_of_table(name: &str, files: [&Table; 2], what: Option<&str>, needing: &[&str]) -> Vec<String> {
    let [before, after] = files.map(|file| file.get(name).and_then(Value::as_table));
    match (what, before, after) {
        (Some(what), None, Some(_)) => return vec![format!("[{name}]: {what} after a restart")],
        (Some(what), Some(_), None) => return vec![format!("[{name}]: {what} until a restart")],
        _ => {}
    }
    let none = Table::new();
    let differing = differing(before.unwrap_or(&none), after.unwrap_or(&none)).into_iter();
    let (late, now): (Vec<&str>, Vec<&str>) = differing.partition(|key| needing.contains(key));
    let mut found = Vec::new();
    if !now.is_empty() {
        found.push(format!("[{name}]: {}", listed(now)));
    }
    if !late.is_empty() {
        found.push(format!("[{name}]: {} after a restart", listed(late)));
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
                "`name`",
            ]
        );
        assert_eq!(
            of("name = 'mine'\n[[ladders]]\nname = 'a'\njobs = 1\n"),
            ["program x takes part no longer"]
        );
        let after = "name = 'mine'\nseats = 1\n[owners]\nlisten = '1'\n[pages]\ntitle = 'Mine'\n";
        let others = "name = 'mine'\nseats = 2\n[owners]\nlisten = '2'\nbots = 3\n[pages]\nrules = 'r'\n\
                      [submissions]\napprove = true\n";
        let of = |before: &str, after: &str| changes(&before.parse().unwrap(), &after.parse().unwrap());
        assert_eq!(
            of(after, others),
            [
                "[pages]: `rules`, `title`",
                "[owners]: `bots`",
                "[owners]: `listen` after a restart",
                "[submissions]: programs are taken in after a restart",
                "`seats` after a restart",
            ]
        );
        assert_eq!(
            of("[submissions]\nbuild_cpus = 1", "[submissions]\nbuild_cpus = 2"),
            ["[submissions]: `build_cpus` after a restart"]
        );
        assert_eq!(of("[submissions]\n", ""), ["[submissions]: programs are taken in until a restart"]);
    }
}
