//! The file of a league.

mod events;
mod ladder;
mod owners;
mod program;
mod retention;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use referee_bots::Command;
use referee_bots::sandbox::{BotLimits, Sandbox, Size, Unavailable};
use referee_files::read_regular;
use referee_game::name::NameSet;
use referee_game::{Wrong, keys};
use referee_league::{LeagueBot, PlannedEvent, SUBMISSIONS};
use referee_protocol::limits;
use referee_report::page::PublicUrl;
use referee_web::{AboutLeague, OwnersLink, OwnersOptions};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

pub use ladder::{LadderConfig, LadderGame, LadderVisitors, PreparedLadder};
pub use program::{ProgramConfig, ProgramPlace};
pub use retention::RecordRetention;

use events::EventConfig;
use owners::{OwnersConfig, SignUpConfig};
use retention::RetentionConfig;

use crate::RunError;
use crate::config::{PublishConfig, SandboxConfig, TermsConfig, check_files, from_toml, with_suggestion};
use crate::league::notices::{NoticeFiles, PagesConfig};
use crate::submissions::{
    BuildsOn, SubmissionTerms, SubmissionsConfig, submitted_sandbox, submitted_sandbox_elsewhere,
};
use crate::workers::WorkersConfig;

/// Files in a league's directory that no bot may read.
pub const OWN_FILES: [&str; 5] = ["ladders", "league.sqlite", "league.sqlite-wal", SUBMISSIONS, WORKERS];
/// The directory of workers' files.
pub const WORKERS: &str = "workers";

/// The contents of the file, which `referee init league` writes with comments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeagueConfig {
    /// For display.
    #[serde(default)]
    pub name: Option<String>,
    pub ladders: Vec<LadderConfig>,
    /// The programs that the server starts.
    #[serde(default)]
    pub programs: Vec<ProgramConfig>,
    #[serde(default)]
    workers: Option<WorkersConfig>,
    /// The sandbox of programs; `strict` if it is missing.
    #[serde(default = "SandboxConfig::strict")]
    sandbox: SandboxConfig,
    /// The public part of records.
    #[serde(default)]
    pub publish: PublishConfig,
    #[serde(default)]
    owners: Option<OwnersConfig>,
    #[serde(default)]
    signup: SignUpConfig,
    #[serde(default)]
    retention: RetentionConfig,
    #[serde(default)]
    pages: PagesConfig,
    #[serde(default)]
    submissions: Option<SubmissionsConfig>,
    #[serde(default, rename = "events")]
    event_tables: Vec<EventConfig>,
    /// Events at stated times, in order.
    #[serde(skip)]
    pub events: Vec<PlannedEvent>,
    #[serde(skip)]
    pub path: PathBuf,
    /// The directory of the file, which is the base of relative paths.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The file as it was written.
    #[serde(skip)]
    text: toml::Table,
}

/// The URL of pages.
fn public_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PublicUrl>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

impl LeagueConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not valid.
    pub fn read(path: &Path) -> Result<LeagueConfig, RunError> {
        LeagueConfig::of_file(path).map_err(|why| RunError::from(Wrong::at(path.display().to_string(), why)))
    }

    fn of_file(path: &Path) -> Result<LeagueConfig, Wrong> {
        let text = read_regular(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Wrong::new("there is no such file; `referee init league DIR` writes one")
            }
            _ => error.into(),
        })?;
        let text = String::from_utf8(text).map_err(|error| error.to_string())?;
        let [adjudication, terms] = TermsConfig::keys();
        // A bot of an owner is not trusted to say that a match does not count.
        let shared = [adjudication, terms.without("trust_outages")];
        let mut config: LeagueConfig = from_toml(&text, &shared, ladder::tables)?;
        config.path = path.to_owned();
        config.folder = std::path::absolute(path)?.parent().unwrap_or(Path::new("/")).to_owned();
        config.text = text.parse().map_err(|error: toml::de::Error| with_suggestion(&error))?;
        config.check_names()?;
        let ladders: Vec<&str> = config.ladders.iter().map(|ladder| &*ladder.name).collect();
        config.events = events::planned(&config.event_tables, &ladders)?;
        config.pages.check()?;
        Ok(config)
    }

    /// The retention of records.
    ///
    /// # Errors
    /// If `[retention]` is not valid.
    pub fn retention(&self) -> Result<RecordRetention, RunError> {
        Ok(self.retention.terms(self.publish.info)?)
    }

    /// The name of the league on pages.
    pub fn shown_name(&self) -> Option<&str> {
        self.pages.title.as_deref().or(self.name.as_deref())
    }

    /// The league on the pages of its ladders.
    pub(super) fn about(&self) -> AboutLeague {
        let notices = self.notices();
        AboutLeague {
            name: self.shown_name().map(str::to_owned),
            owners: self.owners_link(),
            events: Arc::new(self.events.clone()),
            notices: Arc::new(move || notices.current()),
        }
    }

    /// The announcements and the rules.
    pub fn notices(&self) -> NoticeFiles {
        NoticeFiles::new(self.pages.clone(), self.folder.clone())
    }

    /// The file as it was written.
    pub fn text(&self) -> &toml::Table {
        &self.text
    }

    fn check_names(&self) -> Result<(), Wrong> {
        if self.ladders.is_empty() {
            return Err("`ladders`: there is none; add [[ladders]] with a `name` and a `game`".into());
        }
        let mut names = BTreeSet::new();
        for LadderConfig { name, .. } in &self.ladders {
            if !is_ladder_name(name) {
                return Err(format!(
                    "ladder {name}: the name of a ladder has 1 to 64 characters: ASCII letters, digits, `.`, \
                     `_` and `-`, and does not begin with `.`"
                )
                .into());
            }
            if !names.insert(name) {
                return Err(format!("ladder {name}: the name is not unique").into());
            }
        }
        let mut of_programs = NameSet::default();
        for program in &self.programs {
            let wrong = |why| Wrong::at(format!("program {}", program.name()), why);
            of_programs.add(program.name()).map_err(&wrong)?;
            program.check(&names).map_err(wrong)?;
        }
        Ok(())
    }

    /// The directories with all files of a program, by the names of those that have one.
    ///
    /// # Errors
    /// If a bot must not see such a directory as a whole.
    pub fn files(&self) -> Result<BTreeMap<String, PathBuf>, RunError> {
        let mut found = BTreeMap::new();
        let own = OWN_FILES.map(|name| self.folder.join(name));
        for program in &self.programs {
            let Some(files) = program.files.as_ref().map(|files| self.folder.join(files)) else { continue };
            let name = program.name().to_owned();
            // The command line was parsed when the file was read.
            let Ok(command) = program.command.parse::<Command>() else { continue };
            let directory = Some(self.directory(program));
            let command = Command { directory, files: Some(files.clone()), ..command };
            check_files(&command, &own)
                .map_err(|why| RunError::from(Wrong::at(format!("program {name}"), why)))?;
            found.insert(name, files);
        }
        Ok(found)
    }

    /// The paths in its directory, relative to it, of games and of programs with their files and the files that their
    /// arguments name.
    pub fn own_files(&self) -> BTreeSet<PathBuf> {
        let mut found: BTreeSet<PathBuf> =
            self.ladders.iter().map(|ladder| PathBuf::from(&ladder.game)).collect();
        for program in &self.programs {
            found.extend(program.files.clone());
            let directory = self.directory(program);
            let directory = directory.strip_prefix(&self.folder).unwrap_or(&directory);
            // The command line was parsed when the file was read.
            let words = program.command.parse::<Command>().map(|command| command.argv).unwrap_or_default();
            found.extend(
                words.iter().map(|word| directory.join(word)).filter(|path| self.folder.join(path).is_file()),
            );
        }
        let is_name = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        found.retain(|path| path.components().all(is_name) && self.folder.join(path).exists());
        found.retain(|path| path.components().any(|part| matches!(part, Component::Normal(_))));
        found
    }

    /// The sandbox of the program with this name.
    ///
    /// # Errors
    /// If this machine lacks a layer: no program runs with less than its sandbox.
    pub fn sandbox(&self, name: &str) -> Result<Sandbox, RunError> {
        let own = self.programs.iter().find(|program| program.name() == name);
        let config = own.and_then(|program| program.sandbox.as_ref()).unwrap_or(&self.sandbox);
        let sandbox = config.sandbox(|path| self.folder.join(path), keys);
        sandbox.map_err(|why| why.within(format!("program {name}")))
    }

    /// The limits of programs, from `[sandbox]`.
    pub fn limits_of_programs(&self) -> BotLimits {
        let mut limits = self.sandbox.limits.clone();
        limits.read.iter_mut().for_each(|path| *path = self.folder.join(&*path));
        limits
    }

    /// The sandbox of a program, and which machines start it.
    ///
    /// # Errors
    /// If this machine lacks a layer, and there are no workers that may have it.
    pub fn sandbox_of(
        &self,
        bot: &LeagueBot,
        has_workers: bool,
    ) -> Result<(Sandbox, ProgramPlace), RunError> {
        if bot.version.is_none() {
            return Ok((self.sandbox(&bot.name)?, ProgramPlace::Anywhere));
        }
        match submitted_sandbox(self.limits_of_programs()) {
            Err(Unavailable::Layers(..)) if has_workers => {
                let sandbox = submitted_sandbox_elsewhere(self.limits_of_programs())?;
                Ok((sandbox, ProgramPlace::Workers))
            }
            here => Ok((here?, ProgramPlace::Anywhere)),
        }
    }

    /// Checks that these programs of the league can be confined. Submitted programs do not play on such
    /// machines.
    ///
    /// # Errors
    /// If this machine lacks a layer of one of them.
    pub fn check_sandboxes(&self, bots: &[LeagueBot]) -> Result<(), RunError> {
        let is_own = |bot: &&LeagueBot| bot.command.is_some() && bot.version.is_none();
        let programs = bots.iter().filter(|bot| is_own(bot) && bot.revoked_at.is_none());
        programs.map(|program| &program.name).try_for_each(|name| self.sandbox(name).map(drop))
    }

    /// The section `[workers]`, with its paths resolved.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn workers(&self) -> Result<Option<WorkersConfig>, RunError> {
        let workers = self.workers.as_ref();
        Ok(workers
            .map(|workers| workers.resolved(|path| self.folder.join(path)))
            .transpose()
            .map_err(|why| Wrong::at("[workers]", why))?)
    }

    /// The server for owners, if there is one.
    ///
    /// # Errors
    /// If `[owners]` is not valid.
    pub fn owners(&self) -> Result<Option<OwnersOptions>, RunError> {
        let options =
            |owners: &OwnersConfig| owners.options(&self.signup, self.shown_name(), self.announcements());
        Ok(self.owners.as_ref().map(options).transpose()?)
    }

    /// The directory of announcements, if the file names one.
    pub fn announcements(&self) -> Option<PathBuf> {
        self.pages.announcements.as_ref().map(|folder| self.folder.join(folder))
    }

    /// The link to the pages of owners.
    pub fn owners_link(&self) -> Option<OwnersLink> {
        self.owners.as_ref().map(|owners| owners.link(&self.signup))
    }

    /// The rules for programs that owners hand in, if they may.
    ///
    /// # Errors
    /// If `[submissions]` is not valid, or there is no `[owners]`.
    pub fn submissions(&self) -> Result<Option<SubmissionTerms>, RunError> {
        let Some(submissions) = &self.submissions else { return Ok(None) };
        let owners = self.owners()?.ok_or(RunError::from(Wrong::new(
            "[submissions] needs [owners]: owners hand in programs on the server that it configures",
        )))?;
        Ok(Some(submissions.terms(owners.bots)?))
    }

    /// The size of the directory that outlives the matches of a program that was handed in, if there is one.
    ///
    /// # Errors
    /// If `[submissions]` is not valid, or workers play the matches.
    pub fn keep(&self, has_workers: bool) -> Result<Option<Size>, RunError> {
        let keep = self.submissions()?.and_then(|terms| terms.keep);
        if keep.is_some() && has_workers {
            let why =
                "[submissions] keep: programs keep nothing on workers; remove `keep`, or do without workers";
            return Err(Wrong::new(why).into());
        }
        Ok(keep)
    }

    /// The place where submissions are built and checked, if the file says it.
    pub fn builds_on(&self) -> Option<BuildsOn> {
        self.submissions.as_ref().and_then(SubmissionsConfig::builds_on)
    }

    /// Returns whether workers, if there are any, build and check submissions: if the file says so, or leaves
    /// it open and this machine lacks a layer.
    pub fn lets_workers_build(&self) -> bool {
        self.submissions.as_ref().is_some_and(|submissions| match submissions.builds_on() {
            Some(place) => place == BuildsOn::Workers,
            None => submitted_sandbox(self.limits_of_programs()).is_err(),
        })
    }
}

/// Names of ladders are names of directories, too.
fn is_ladder_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=limits::NAME).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with('.')
}
