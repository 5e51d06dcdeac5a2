//! `[pages]` of a league: announcements and rules, which are read again when their files change.

use std::fs::{self, DirEntry, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use referee_game::{Chain, Wrong};
use referee_protocol::limits;
use serde::Deserialize;

use referee_files::{Folder, open_regular, read_limited, read_regular};
use referee_report::page::split_title;
use referee_web::{Announcement, Notices};

/// The maximum length of `title` and `contact`, in bytes.
const TITLE: usize = 200;
/// The maximum length of `description`, in bytes.
const DESCRIPTION: usize = 2000;
/// The maximum size of a Markdown file, in bytes.
const TEXT: u64 = 64 * 1024;
/// The maximum number of announcements that are shown.
const ANNOUNCEMENTS: usize = 100;

/// The table `[pages]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagesConfig {
    /// The name of the league on its pages, instead of `name`.
    #[serde(default)]
    pub(super) title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    contact: Option<String>,
    /// A directory of Markdown files.
    #[serde(default)]
    pub(super) announcements: Option<PathBuf>,
    /// A Markdown file.
    #[serde(default)]
    rules: Option<PathBuf>,
}

impl PagesConfig {
    /// Checks the lengths of its texts.
    pub fn check(&self) -> Result<(), Wrong> {
        for (key, text, most) in [
            ("title", &self.title, TITLE),
            ("description", &self.description, DESCRIPTION),
            ("contact", &self.contact, TITLE),
        ] {
            if text.as_ref().is_some_and(|text| text.is_empty() || text.len() > most) {
                return Err(format!("[pages] {key}: it has 1 to {most} bytes").into());
            }
        }
        Ok(())
    }
}

/// The state of a file by which changes are noticed.
type Seen = (PathBuf, u64, Option<SystemTime>);

#[derive(Debug)]
pub struct NoticeFiles {
    config: PagesConfig,
    /// The directory of the league.
    folder: PathBuf,
    read: Mutex<(Vec<Seen>, Arc<Notices>)>,
}

impl NoticeFiles {
    /// The files that this table names. `folder`: the directory of the league.
    pub fn new(config: PagesConfig, folder: PathBuf) -> NoticeFiles {
        NoticeFiles { config, folder, read: Mutex::default() }
    }

    /// The texts, which are read again if a file has changed. Unreadable texts are left out, and logged.
    pub fn current(&self) -> Arc<Notices> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (seen, mut problems) = self.look();
        if read.0 != seen || seen.is_empty() {
            let (notices, of_files) = self.read(&seen);
            if read.0 != seen {
                problems.extend(of_files);
                problems.iter().for_each(|problem| tracing::warn!("{}", Chain(problem)));
            }
            *read = (seen, Arc::new(notices));
        }
        read.1.clone()
    }

    /// Reads everything once.
    ///
    /// # Errors
    /// What cannot be shown.
    pub fn check(&self) -> Result<Notices, Wrong> {
        let (seen, mut problems) = self.look();
        let (notices, of_files) = self.read(&seen);
        problems.extend(of_files);
        match problems.is_empty() {
            true => Ok(notices),
            false => {
                let problems: Vec<String> =
                    problems.iter().map(|problem| Chain(problem).to_string()).collect();
                Err(problems.join("; ").into())
            }
        }
    }

    /// Copies the files to the directory of another league. Files outside of this one stay where they are.
    pub fn copy_to(&self, league: &Folder) -> io::Result<()> {
        let PagesConfig { rules, announcements, .. } = &self.config;
        let is_within = |path: &&PathBuf| path.components().count() == 1 && path.is_relative();
        let name_of = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let copy = |file: &Path, to: &Folder| -> io::Result<()> {
            let Some(name) = name_of(file) else { return Ok(()) };
            match read_regular(file) {
                Ok(bytes) => to.replace(&name, &bytes),
                // The file may have been removed since.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            }
        };
        if let Some(rules) = rules.as_ref().filter(is_within) {
            copy(&self.folder.join(rules), league)?;
        }
        if let Some(announcements) = announcements.as_ref().filter(is_within)
            && let (Some(name), Ok(files)) =
                (name_of(announcements), announcement_files(&self.folder.join(announcements)))
        {
            let to = league.make_within(&name)?;
            files.iter().try_for_each(|file| copy(file, &to))?;
        }
        Ok(())
    }

    fn rules(&self) -> Option<PathBuf> {
        self.config.rules.as_ref().map(|rules| self.folder.join(rules))
    }

    /// The files as they are now: the rules first, then the announcements, the newest first.
    fn look(&self) -> (Vec<Seen>, Vec<Wrong>) {
        let mut problems = Vec::new();
        let mut files: Vec<PathBuf> = Vec::new();
        if let Some(folder) = self.config.announcements.as_ref().map(|folder| self.folder.join(folder)) {
            match announcement_files(&folder) {
                Ok(found) => files = found,
                Err(why) => {
                    problems.push(Wrong::at(format!("[pages] announcements: {}", folder.display()), why));
                }
            }
        }
        if files.len() > ANNOUNCEMENTS {
            problems.push(Wrong::from(format!(
                "[pages] announcements: there are {}, and the newest {ANNOUNCEMENTS} are shown",
                files.len()
            )));
            files.truncate(ANNOUNCEMENTS);
        }
        let all = self.rules().into_iter().chain(files);
        let seen = all.map(|path| {
            let state = fs::metadata(&path).ok();
            let modified = state.as_ref().and_then(|state| state.modified().ok());
            (path, state.map_or(0, |state| state.len()), modified)
        });
        (seen.collect(), problems)
    }

    fn read(&self, seen: &[Seen]) -> (Notices, Vec<Wrong>) {
        let rules = self.rules();
        let PagesConfig { description, contact, .. } = self.config.clone();
        let mut notices = Notices { description, contact, ..Notices::default() };
        let mut problems = Vec::new();
        for (path, ..) in seen {
            let text = match read_text(path) {
                Ok(text) => text,
                Err(why) => {
                    problems.push(Wrong::at(format!("[pages] {}", path.display()), why));
                    continue;
                }
            };
            if Some(path) == rules.as_ref() {
                notices.rules = Some(text);
            } else if let Some(id) = id_of(path) {
                let (title, rest) = split_title(&text);
                let date = id.get(..10).filter(|day| is_day(day)).map(str::to_owned);
                notices.announcements.push(Announcement {
                    title: title.map_or_else(|| id.clone(), str::to_owned),
                    text: rest.to_owned(),
                    id,
                    date,
                });
            }
        }
        (notices, problems)
    }
}

/// The files of a directory that are announcements, the last name first.
fn announcement_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<DirEntry>>>()?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "md") && id_of(path).is_some());
    files.sort_by(|one, other| other.cmp(one));
    Ok(files)
}

/// The name of a file without its ending, if it can be part of an address.
fn id_of(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_id =
        (1..=limits::NAME).contains(&stem.len()) && stem.chars().all(is_plain) && !stem.starts_with('.');
    is_id.then(|| stem.to_owned())
}

/// Returns whether this is a day: 2026-11-28.
fn is_day(text: &str) -> bool {
    let digit = |at: usize, c: u8| if [4, 7].contains(&at) { c == b'-' } else { c.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(|(at, c)| digit(at, c))
}

fn read_text(path: &Path) -> Result<String, Wrong> {
    let file = open_regular(path, OpenOptions::new().read(true))?;
    let bytes = read_limited(file, TEXT).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => Wrong::from(format!("it has more than {} KiB", TEXT >> 10)),
        _ => error.into(),
    })?;
    String::from_utf8(bytes).map_err(|_| Wrong::new("it is not UTF-8"))
}
