//! The file of a league.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use referee_protocol::limits;
use referee_protocol::referee::Clock;
use referee_protocol::words::OnFault;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::bot::Command;
use crate::bot::sandbox::{BotLimits, Sandbox, Unavailable};
use crate::cli::Failure;
use crate::cli::find_game::known_games;
use crate::cli::league::notices::{NoticeFiles, PagesConfig};
use crate::cli::league::owners_config::{OwnersConfig, SignUpConfig};
use crate::cli::league::retention_config::RetentionConfig;
use crate::cli::workers::WorkersOptions;
use crate::driver::Terms;
use crate::files::read_regular;
use crate::game::chance::Seed;
use crate::game::erased::Rules;
use crate::game::name::NameSet;
use crate::game::{Catalog, Seating};
use crate::referee::check_policy;
use crate::report::page::PublicUrl;
use crate::runner::Openings;
use crate::runs::config::{
    ClockLimits, Milliseconds, OpeningSource, PemFiles, PublishConfig, ReadyLimits, SandboxConfig, Setting,
    WithSuggestion, check_files, defaults, pem_files,
};
use crate::runs::league::{LadderLimits, LadderSeats, Retention, SendCommand, plays_sets};
use crate::runs::submissions::{
    BuildsOn, SUBMISSIONS, SubmissionTerms, SubmissionsConfig, submitted_sandbox, submitted_sandbox_elsewhere,
};
use crate::runs::workers::WorkersConfig;
use crate::store::{League, LeagueBot, utc};
use crate::transport::Certificate;
use crate::web::{OwnersLink, OwnersOptions};
use anyhow::{anyhow, bail};

/// What the league stores in its directory and no bot must see.
pub(in crate::cli) const OWN_FILES: [&str; 5] =
    ["ladders", "league.sqlite", "league.sqlite-wal", SUBMISSIONS, WORKERS];
/// The directory of what workers need.
pub(in crate::cli) const WORKERS: &str = "workers";

/// Which machines start a program of the league.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum ProgramPlace {
    /// The server, and workers if there are any.
    Anywhere,
    /// Only workers: the server lacks a layer of its sandbox.
    Workers,
}

/// The default maximum number of new versions of a bot a day.
const VERSIONS: u32 = 20;

/// The contents of the file, which `referee league init` writes with comments.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli) struct LeagueConfig {
    /// For display.
    #[serde(default)]
    pub(in crate::cli) name: Option<String>,
    pub(in crate::cli) ladders: Vec<LadderConfig>,
    #[serde(default)]
    pub(in crate::cli) programs: Vec<ProgramConfig>,
    #[serde(default)]
    pub(in crate::cli) workers: Option<WorkersConfig>,
    /// Of the programs; `strict` if it is missing.
    #[serde(default = "SandboxConfig::strict")]
    sandbox: SandboxConfig,
    #[serde(default)]
    pub(in crate::cli) publish: PublishConfig,
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
    /// The directory of the file, which is the base of relative paths.
    #[serde(skip)]
    pub(in crate::cli) folder: PathBuf,
    /// The file as it was written.
    #[serde(skip)]
    text: toml::Table,
}

/// A ladder.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli) struct LadderConfig {
    pub(in crate::cli) name: String,
    pub(in crate::cli) game: String,
    #[serde(default)]
    seats: Option<u8>,
    #[serde(default)]
    options: Map<String, Value>,
    #[serde(default)]
    opening_plies: u32,
    #[serde(default = "default_clock")]
    clock: Setting<ClockLimits>,
    #[serde(default = "defaults::margin")]
    margin: Setting<Milliseconds>,
    #[serde(default)]
    on_fault: OnFault,
    #[serde(default = "defaults::hello_limit")]
    hello_limit: Setting<Milliseconds>,
    #[serde(default = "defaults::ready_limit")]
    ready_limit: Setting<ReadyLimits>,
    #[serde(default = "defaults::one")]
    jobs: u32,
    #[serde(default = "default_rest")]
    rest: Setting<Milliseconds>,
    #[serde(default)]
    quota: Option<u32>,
    #[serde(default = "versions")]
    versions_per_day: u32,
    #[serde(default)]
    rated_challenges: bool,
    #[serde(default)]
    listen: Option<SocketAddr>,
    #[serde(default = "defaults::connections")]
    connections: u32,
    #[serde(default = "defaults::reconnect")]
    reconnect: Setting<Milliseconds>,
    #[serde(default)]
    tls_cert: Option<PathBuf>,
    #[serde(default)]
    tls_key: Option<PathBuf>,
    #[serde(default)]
    pub(in crate::cli) watch: Option<SocketAddr>,
    #[serde(default)]
    pub(in crate::cli) watch_delay: u32,
    #[serde(default)]
    pub(in crate::cli) watch_hosts: Vec<String>,
    #[serde(default, deserialize_with = "public_url")]
    pub(in crate::cli) watch_url: Option<PublicUrl>,
}

/// A program that the server starts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::cli) struct ProgramConfig {
    name: String,
    /// What people see instead of the name, at first.
    #[serde(default)]
    display_name: Option<String>,
    command: String,
    #[serde(default)]
    files: Option<PathBuf>,
    #[serde(default)]
    directory: Option<PathBuf>,
    #[serde(default)]
    owner: Option<String>,
    #[serde(default)]
    anchor: Option<f64>,
    #[serde(default)]
    ladders: Option<BTreeSet<String>>,
    /// Instead of that of the league.
    #[serde(default)]
    sandbox: Option<SandboxConfig>,
}

/// The URL of pages.
pub(super) fn public_url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PublicUrl>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

fn default_clock() -> Setting<ClockLimits> {
    let clock = Clock { delay_ms: 1_000, bank_ms: 30_000, increment_ms: 0 };
    Setting::written("delay=1s,bank=30s", ClockLimits(Some(clock)))
}
fn default_rest() -> Setting<Milliseconds> {
    Setting::written("1s", Milliseconds(1_000))
}
fn versions() -> u32 {
    VERSIONS
}

/// The game of a ladder.
#[derive(Clone, Debug)]
pub(in crate::cli) struct LadderGame {
    pub(in crate::cli) rules: &'static dyn Rules,
    pub(in crate::cli) seating: Seating,
    /// With the game.
    pub(in crate::cli) catalog: Catalog,
}

impl LadderGame {
    /// Which seats play together, and whether the ladder is played in mirrored sets.
    pub(in crate::cli) fn seats(&self) -> LadderSeats {
        LadderSeats { seating: self.seating, is_mirrored: plays_sets(self.rules, self.seating) }
    }
}

/// A validated ladder.
#[derive(Debug)]
pub(in crate::cli) struct PreparedLadder {
    pub(in crate::cli) game: LadderGame,
    pub(in crate::cli) terms: Terms,
    pub(in crate::cli) limits: LadderLimits,
    pub(in crate::cli) listen: Option<(SocketAddr, Option<Certificate>, usize)>,
    /// How long the matches of a lost connection wait for another one.
    pub(in crate::cli) reconnect: Duration,
}

impl LeagueConfig {
    /// Reads a file.
    pub(in crate::cli) fn read(path: &Path) -> Result<LeagueConfig, Failure> {
        let wrong = |what: String| Failure::usage(format!("{}: {what}", path.display()));
        let text = read_regular(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                wrong("there is no such file; `referee league init DIR` writes one".to_owned())
            }
            _ => wrong(error.to_string()),
        })?;
        let text = String::from_utf8(text).map_err(|error| wrong(error.to_string()))?;
        let mut config: LeagueConfig =
            toml::from_str(&text).map_err(|error| wrong(WithSuggestion::of(&error).to_string()))?;
        let file = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
        config.folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        config.text = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
        config.check_names().map_err(|what| wrong(what.to_string()))?;
        config.pages.check().map_err(|what| wrong(what.to_string()))?;
        Ok(config)
    }

    /// What becomes of records as they get older, and the command that sends packs.
    pub(in crate::cli) fn retention(&self) -> Result<(Retention, Option<SendCommand>), Failure> {
        self.retention.terms(self.publish.info)
    }

    /// The name of the league on pages.
    pub(in crate::cli) fn shown_name(&self) -> Option<&str> {
        self.pages.title.as_deref().or(self.name.as_deref())
    }

    /// The announcements and the rules.
    pub(in crate::cli) fn notices(&self) -> NoticeFiles {
        NoticeFiles::new(self.pages.clone(), self.folder.clone())
    }

    /// The file as it was written.
    pub(in crate::cli) fn text(&self) -> &toml::Table {
        &self.text
    }

    fn check_names(&self) -> anyhow::Result<()> {
        if self.ladders.is_empty() {
            bail!("`ladders`: there is none; add [[ladders]] with a `name` and a `game`");
        }
        let mut names = BTreeSet::new();
        for ladder in &self.ladders {
            check_ladder_name(&ladder.name)?;
            if !names.insert(&ladder.name) {
                bail!("ladder {}: the name is not unique", ladder.name);
            }
        }
        let mut program_names = NameSet::default();
        for ProgramConfig { name, command, anchor, ladders, .. } in &self.programs {
            program_names.add(name).map_err(|what| anyhow!("program {name}: {what}"))?;
            command.parse::<Command>().map_err(|what| anyhow!("program {name}: {what}"))?;
            if anchor.is_some_and(|elo| !elo.is_finite() || elo.abs() > 100_000.0) {
                bail!("program {name}: anchor is not a rating from -100000 to 100000");
            }
            if let Some(ladder) = ladders.iter().flatten().find(|ladder| !names.contains(ladder)) {
                bail!("program {name}: there is no ladder `{ladder}`");
            }
        }
        Ok(())
    }

    /// The working directory of a program.
    fn directory(&self, program: &ProgramConfig) -> PathBuf {
        let directory = program.directory.as_ref().or(program.files.as_ref());
        self.folder.join(directory.map_or(Path::new(""), PathBuf::as_path))
    }

    /// The directories with all files of a program, by the names of those that have one.
    ///
    /// # Errors
    /// If a bot must not see such a directory as a whole.
    pub(in crate::cli) fn files(&self) -> Result<BTreeMap<String, PathBuf>, Failure> {
        let mut found = BTreeMap::new();
        let own = OWN_FILES.map(|name| self.folder.join(name));
        for program in &self.programs {
            let Some(files) = program.files.as_ref().map(|files| self.folder.join(files)) else { continue };
            let command = program.command.parse::<Command>();
            let wrong = |what: &dyn Display| Failure::usage(format!("program {}: {what}", program.name));
            let command = command.map_err(|error| wrong(&error))?;
            let directory = Some(self.directory(program));
            let command = Command { directory, files: Some(files.clone()), ..command };
            check_files(&command, &own).map_err(|error| wrong(&error))?;
            found.insert(program.name.clone(), files);
        }
        Ok(found)
    }

    /// The sandbox of the program with this name.
    ///
    /// # Errors
    /// If this machine lacks a layer: no program runs with less than its sandbox.
    pub(in crate::cli) fn sandbox(&self, name: &str) -> Result<Sandbox, Failure> {
        let own = self.programs.iter().find(|program| program.name == name);
        let config = own.and_then(|program| program.sandbox.as_ref()).unwrap_or(&self.sandbox);
        let sandbox = config.sandbox(|path| self.folder.join(path));
        sandbox.map_err(|error| Failure::of(error.is_usage(), format!("program {name}: {error}")))
    }

    /// The limits of programs, from `[sandbox]`.
    pub(in crate::cli) fn limits_of_programs(&self) -> BotLimits {
        let mut limits = self.sandbox.limits.clone();
        limits.read.iter_mut().for_each(|path| *path = self.folder.join(&*path));
        limits
    }

    /// The sandbox of a program, and which machines start it.
    ///
    /// # Errors
    /// If this machine lacks a layer, and there are no workers that may have it.
    pub(in crate::cli) fn sandbox_of(
        &self,
        bot: &LeagueBot,
        has_workers: bool,
    ) -> Result<(Sandbox, ProgramPlace), Failure> {
        let limits = || self.limits_of_programs();
        let here = match bot.version {
            None => return Ok((self.sandbox(&bot.name)?, ProgramPlace::Anywhere)),
            Some(_) => submitted_sandbox(limits()),
        };
        match here {
            Ok(sandbox) => Ok((sandbox, ProgramPlace::Anywhere)),
            Err(Unavailable::Layers(..)) if has_workers => submitted_sandbox_elsewhere(limits())
                .map(|sandbox| (sandbox, ProgramPlace::Workers))
                .map_err(Failure::cannot_run),
            Err(why) => Err(Failure::cannot_run(why)),
        }
    }

    /// Checks that all programs of the league can be confined. Those that were handed in do not play where they cannot.
    pub(in crate::cli) fn check_sandboxes(&self, league: &League) -> Result<(), Failure> {
        let bots = league.bots().map_err(Failure::cannot_run)?;
        let is_own = |bot: &&LeagueBot| bot.command.is_some() && bot.version.is_none();
        let programs = bots.iter().filter(|bot| is_own(bot) && bot.revoked_at.is_none());
        programs.map(|program| &program.name).try_for_each(|name| self.sandbox(name).map(drop))
    }

    /// The options of workers, or if none are given those of the file.
    pub(in crate::cli) fn workers(&self, options: &WorkersOptions) -> Result<WorkersConfig, Failure> {
        options.or(self.workers.as_ref(), |path| self.folder.join(path))
    }

    /// Checks the settings of workers.
    pub(in crate::cli) fn check_workers(&self) -> Result<(), Failure> {
        let checked =
            self.workers.as_ref().map_or(Ok(()), |workers| workers.resolved(Path::to_owned).map(drop));
        checked.map_err(|what| Failure::usage(format!("[workers]: {what}")))
    }

    /// How owners are served, if they are.
    pub(in crate::cli) fn owners(&self) -> Result<Option<OwnersOptions>, Failure> {
        let options = self.owners.as_ref().map(|owners| owners.options(&self.signup, self.shown_name()));
        options.transpose()
    }

    /// Where owners find their pages.
    pub(in crate::cli) fn owners_link(&self) -> Option<OwnersLink> {
        self.owners.as_ref().map(|owners| owners.link(&self.signup))
    }

    /// The rules for programs that owners hand in, if they may.
    pub(in crate::cli) fn submissions(&self) -> Result<Option<SubmissionTerms>, Failure> {
        let Some(submissions) = &self.submissions else { return Ok(None) };
        let needs = || {
            Failure::usage(
                "[submissions] needs [owners]: owners hand in programs on the server that it configures",
            )
        };
        let bots = self.owners()?.ok_or_else(needs)?.bots;
        submissions.terms(bots).map(Some).map_err(Failure::usage)
    }

    /// Where programs that are handed in are built and checked, if the file says it.
    pub(in crate::cli) fn builds_on(&self) -> Option<BuildsOn> {
        self.submissions.as_ref().and_then(SubmissionsConfig::builds_on)
    }

    /// Whether workers, if there are any, build and check what is handed in: if the file says so, or leaves it open and this
    /// machine lacks a layer.
    pub(in crate::cli) fn lets_workers_build(&self) -> bool {
        self.submissions.as_ref().is_some_and(|submissions| match submissions.builds_on() {
            Some(place) => place == BuildsOn::Workers,
            None => submitted_sandbox(self.limits_of_programs()).is_err(),
        })
    }

    /// The ladder with this name; without a name the only one.
    pub(in crate::cli) fn ladder(&self, name: Option<&str>) -> Result<&LadderConfig, Failure> {
        let names: Vec<&str> = self.ladders.iter().map(|ladder| &*ladder.name).collect();
        let names = names.join(", ");
        match name {
            None if self.ladders.len() == 1 => Ok(&self.ladders[0]),
            None => Err(Failure::usage(format!("--ladder: the league has several: {names}"))),
            Some(name) => {
                self.ladders.iter().find(|ladder| ladder.name == name).ok_or_else(|| {
                    Failure::usage(format!("--ladder: there is no `{name}`; ladders: {names}"))
                })
            }
        }
    }

    /// Stores the programs of the file in the database. Those that are not listed any more are revoked.
    pub(in crate::cli) fn store_programs(&self, league: &mut League, now: SystemTime) -> Result<(), Failure> {
        let known = league.bots().map_err(Failure::cannot_run)?;
        for program in &self.programs {
            let before = known.iter().find(|bot| bot.name == program.name);
            if before.is_some_and(|bot| !bot.is_of_file && bot.revoked_at.is_none()) {
                let name = &program.name;
                return Err(Failure::usage(format!(
                    "program {name}: `referee league add` added another bot with this name; rename one, or `referee \
                     league revoke {name}`"
                )));
            }
            let directory = self.directory(program);
            let bot = LeagueBot {
                name: program.name.clone(),
                owner: program.owner.clone().unwrap_or_else(|| program.name.clone()),
                token: None,
                command: Some(program.command.clone()),
                directory: Some(directory),
                anchor: program.anchor,
                ladders: program.ladders.clone(),
                is_of_file: true,
                is_paused: before.is_some_and(|bot| bot.is_paused),
                added_at: before.map_or_else(|| utc(now), |bot| bot.added_at.clone()),
                revoked_at: None,
                refused: None,
                version: None,
                display_name: match before {
                    Some(bot) => bot.display_name.clone(),
                    None => program.display_name.clone(),
                },
            };
            if before != Some(&bot) {
                put_bot(league, &bot)?;
            }
        }
        let is_listed = |bot: &LeagueBot| self.programs.iter().any(|program| program.name == bot.name);
        for bot in known.into_iter().filter(|bot| bot.is_of_file && bot.revoked_at.is_none()) {
            if !is_listed(&bot) {
                put_bot(league, &LeagueBot { revoked_at: Some(utc(now)), ..bot })?;
            }
        }
        Ok(())
    }
}

impl ProgramConfig {
    /// Its name.
    pub(in crate::cli) fn name(&self) -> &str {
        &self.name
    }
}

/// Stores a bot.
pub(in crate::cli) fn put_bot(league: &mut League, bot: &LeagueBot) -> Result<(), Failure> {
    league.put_bot(bot).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::usage(format!(
            "`{}` looks like `{error}`, which is taken; choose a name that cannot be confused with it",
            bot.name
        )),
        _ => Failure::cannot_run(error),
    })
}

/// Names of ladders are names of directories too.
fn check_ladder_name(name: &str) -> anyhow::Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if (1..=limits::NAME).contains(&name.len()) && name.chars().all(is_plain) && !name.starts_with('.') {
        return Ok(());
    }
    let what = "has 1 to 64 characters: ASCII letters, digits, `.`, `_` and `-`, and does not begin with `.`";
    bail!("ladder {name}: the name of a ladder {what}")
}

impl LadderConfig {
    fn wrong(&self, what: impl std::fmt::Display) -> Failure {
        Failure::usage(format!("ladder {}: {what}", self.name))
    }

    /// Finds the game. `folder`: the base of its path, if its rules are a program.
    pub(in crate::cli) fn game(&self, catalog: &Catalog, folder: &Path) -> Result<LadderGame, Failure> {
        let mut games = known_games(catalog)?;
        let rules = games.find(folder, &self.game).map_err(|error| self.wrong(error))?;
        let catalog = games.catalog().clone();
        let seating =
            rules.meta().seating(self.seats).map_err(|what| self.wrong(format!("seats: {what}")))?;
        Ok(LadderGame { rules, seating, catalog })
    }

    /// Validates the ladder.
    pub(in crate::cli) fn prepare(
        &self,
        catalog: &Catalog,
        folder: &Path,
    ) -> Result<PreparedLadder, Failure> {
        let game = self.game(catalog, folder)?;
        let terms = self.clock.terms(*self.margin, self.on_fault, *self.hello_limit, *self.ready_limit);
        for (key, value, most) in [
            ("jobs", self.jobs, 10_000),
            ("connections", self.connections, 100_000),
            ("quota", self.quota.unwrap_or(1), u32::MAX),
        ] {
            if !(1..=most).contains(&value) {
                return Err(self.wrong(format!("{key}: {value} is not from 1 to {most}")));
            }
        }
        check_policy(game.rules.meta(), self.on_fault).map_err(|what| self.wrong(what.to_string()))?;
        // Any seed will do to validate the openings.
        self.openings(&game, &Seed([0; 32]))?;
        let path = |path: &Option<PathBuf>| path.as_deref().map(|path| folder.join(path));
        let files =
            pem_files(path(&self.tls_cert), path(&self.tls_key)).map_err(|error| self.wrong(error))?;
        let certificate = files.map(|PemFiles { chain, key }| Certificate::read(&chain, &key)).transpose();
        let certificate = certificate.map_err(|error| self.wrong(format!("tls_cert, tls_key: {error}")))?;
        if certificate.is_some() && self.listen.is_none() {
            return Err(self.wrong("tls_cert needs `listen`"));
        }
        let limits = LadderLimits {
            jobs: self.jobs as usize,
            quota: self.quota,
            versions: self.versions_per_day,
            rest_ms: self.rest.0,
            rated_challenges: self.rated_challenges,
        };
        let reconnect = self.reconnect.duration();
        let listen = self.listen.map(|address| (address, certificate, self.connections as usize));
        Ok(PreparedLadder { game, terms, limits, listen, reconnect })
    }

    /// The openings of its matches.
    pub(in crate::cli) fn openings(&self, game: &LadderGame, seed: &Seed) -> Result<Openings, Failure> {
        let source = OpeningSource::Random { plies: self.opening_plies };
        // Only files have openings that are left out.
        let openings = source.openings(game.rules, game.seating, self.options.clone(), seed);
        openings.map(|(openings, _)| openings).map_err(|error| self.wrong(error))
    }
}
