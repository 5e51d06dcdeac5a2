//! The tournament file.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use referee_protocol::limits;
use referee_protocol::words::OnFault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bot::Command;
use crate::cli::Failure;
use crate::cli::openings::{OpeningOptions, Order};
use crate::cli::options::{ListenOptions, SLOTS, clock, game, milliseconds, seed, seed_of_file};
use crate::core::chance::Seed;
use crate::core::erased::Rules;
use crate::core::{Seating, counted};
use crate::games;
use crate::server::{
    BotSpec, Listen, Openings, Roster, Run, Source, Terms, check_clock, check_fresh, check_name,
    deal_leaks_information,
};
use crate::store::read_regular;
use crate::tournament::Deals;
use crate::tournament::schedule::{Entry, Format, Plan};

/// The default maximum number of bot processes, unless more have to play concurrently.
const PROCESSES: usize = 64;

/// The contents of the file; `examples/tournament.toml` shows and explains all keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Config {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) game: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    seats: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirror: Option<MirrorConfig>,
    #[serde(default)]
    trust_bots: bool,
    #[serde(default)]
    opening_plies: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) openings: Option<PathBuf>,
    #[serde(default)]
    order: Order,
    #[serde(default = "default_clock")]
    pub(super) clock: String,
    #[serde(default = "default_margin")]
    margin: String,
    #[serde(default)]
    pub(super) on_fault: OnFault,
    #[serde(default = "default_hello_limit")]
    hello_limit: String,
    #[serde(default = "default_ready_limit")]
    ready_limit: String,
    #[serde(default = "one")]
    pub(super) jobs: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    processes: Option<u32>,
    #[serde(default = "slots")]
    slots: u32,
    #[serde(default)]
    pin: bool,
    #[serde(default)]
    restart: Restart,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed_file: Option<PathBuf>,
    format: FormatConfig,
    #[serde(default)]
    options: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) listen: Option<ListenConfig>,
    pub(super) entrants: Vec<EntrantConfig>,
    /// The base of relative paths: the directory of the file or of the tournament.
    #[serde(skip)]
    folder: PathBuf,
}

fn default_clock() -> String {
    "delay=5s,bank=60s".to_owned()
}
fn default_margin() -> String {
    format!("{}ms", limits::MARGIN_MS)
}
fn default_hello_limit() -> String {
    format!("{}ms", limits::HELLO_MS)
}
fn default_ready_limit() -> String {
    format!("{}ms", limits::FIRST_READY_MS)
}
fn default_wait() -> String {
    "5m".to_owned()
}
fn one() -> u32 {
    1
}
fn slots() -> u32 {
    SLOTS
}
fn full() -> f64 {
    1.0
}
fn connections() -> u32 {
    limits::CONNECTIONS as u32
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MirrorConfig {
    None,
    Rotations,
    All,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Restart {
    /// After a crash.
    #[default]
    Died,
    /// For every match.
    Always,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum FormatConfig {
    RoundRobin {
        #[serde(default = "one")]
        cycles: u32,
    },
    Gauntlet {
        #[serde(default = "one")]
        cycles: u32,
    },
    Swiss {
        rounds: u32,
        #[serde(default = "one")]
        sets: u32,
    },
    Knockout {
        #[serde(default = "one")]
        best_of: u32,
        #[serde(default = "three")]
        tie_breaks: u32,
    },
    Partners {
        #[serde(default = "one")]
        cycles: u32,
    },
}

fn three() -> u32 {
    3
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListenConfig {
    pub(super) address: std::net::SocketAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_file: Option<PathBuf>,
    #[serde(default = "connections")]
    connections: u32,
    #[serde(default = "default_wait")]
    wait: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_key: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntrantConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tcp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) directory: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default = "full")]
    pub(super) clock_factor: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    restart: Option<Restart>,
    /// The bots of the seats of its side, in order, if they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    team: Vec<EntrantConfig>,
}

impl ListenConfig {
    pub(super) fn new(address: std::net::SocketAddr) -> ListenConfig {
        let (connections, wait) = (connections(), default_wait());
        ListenConfig { address, token_file: None, connections, wait, tls_cert: None, tls_key: None }
    }
}

impl EntrantConfig {
    /// Its bots: itself, or its team.
    pub(super) fn bots(&self) -> &[EntrantConfig] {
        if self.team.is_empty() { std::slice::from_ref(self) } else { &self.team }
    }

    pub(super) fn bots_mut(&mut self) -> &mut [EntrantConfig] {
        if self.team.is_empty() { std::slice::from_mut(self) } else { &mut self.team }
    }

    /// Validates a team.
    fn check_team(&self, game: &str, plan: &Plan) -> Result<(), String> {
        if self.team.is_empty() {
            return Ok(());
        }
        let (seats, sides) = (plan.seating.seats(), plan.seating.sides());
        let own = EntrantConfig { name: None, team: Vec::new(), ..self.clone() };
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
            return Err("only `name` is allowed beside `team`: other keys belong to its bots".to_owned());
        }
        Ok(())
    }

    /// Whether it has no key of a bot.
    fn is_blank(&self) -> bool {
        let EntrantConfig { name: _, command, tcp, directory, env, clock_factor, restart, team: _ } = self;
        command.is_none()
            && tcp.is_none()
            && directory.is_none()
            && env.is_empty()
            && *clock_factor == full()
            && restart.is_none()
    }

    /// An entrant with this bot, or with these as its team, all in one folder.
    pub(super) fn new(name: Option<String>, sources: Vec<Source>, directory: &Path) -> EntrantConfig {
        let bot = |source| {
            let (command, tcp) = match source {
                Source::Command(command) => (Some(command.to_string()), None),
                Source::Tcp(name) => (None, Some(name)),
            };
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
            command: None,
            tcp: None,
            directory: None,
            env: BTreeMap::new(),
            clock_factor: full(),
            restart: None,
            team: Vec::new(),
        }
    }
}

/// A validated tournament.
pub(super) struct Prepared {
    pub(super) run: Run,
    pub(super) rules: &'static dyn Rules,
    /// The bots: one or a team per entrant.
    pub(super) entrants: Vec<BotSpec>,
    pub(super) roster: Arc<Roster>,
    pub(super) openings: Openings,
    pub(super) jobs: usize,
    pub(super) processes: usize,
    pub(super) slots: usize,
    pub(super) is_pinned: bool,
    pub(super) listen: Option<Listen>,
}

impl Prepared {
    /// The bots of an entrant.
    pub(super) fn bots_of(&self, entrant: usize) -> &[BotSpec] {
        &self.entrants[self.roster.bots(entrant)]
    }
}

impl Config {
    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Config, Failure> {
        let wrong = |what: String| Failure::usage(format!("{}: {what}", path.display()));
        let text = read_regular(path).map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8(text).map_err(|error| wrong(error.to_string()))?;
        let config = Config::parse(&text).map_err(wrong)?;
        let file = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
        Ok(config.seen_from(file.parent().unwrap_or(Path::new("/"))))
    }

    /// Parses the text of a file.
    pub(super) fn parse(text: &str) -> Result<Config, String> {
        toml::from_str(text).map_err(|error| in_words(&error.to_string()))
    }

    /// The configuration as TOML.
    pub(super) fn to_toml(&self) -> Result<String, Failure> {
        toml::to_string(self).map_err(Failure::cannot_run)
    }

    /// Resolves relative paths against this directory.
    pub(super) fn seen_from(self, folder: &Path) -> Config {
        Config { folder: folder.to_owned(), ..self }
    }

    /// The configuration for a file in another directory. Relative paths stay relative, so that both directories can
    /// be moved together.
    pub(super) fn moved_to(&self, folder: &Path) -> io::Result<Config> {
        let mut config = self.clone().seen_from(folder);
        let way = way(folder, &self.folder)?;
        let listen = config.listen.iter_mut();
        let of_listen = listen.flat_map(|l| [&mut l.token_file, &mut l.tls_cert, &mut l.tls_key]);
        for path in of_listen.chain([&mut config.openings, &mut config.seed_file]).flatten() {
            *path = way.join(&path);
        }
        for entrant in config.entrants.iter_mut().flat_map(EntrantConfig::bots_mut) {
            entrant.directory = Some(way.join(entrant.directory.take().unwrap_or_default()));
        }
        Ok(config)
    }

    /// The base of its relative paths.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Resolves one of its paths.
    pub(super) fn resolve(&self, path: &Path) -> PathBuf {
        let (mut folder, mut rest) = (self.folder.as_path(), path);
        // The directory of a tournament is not a symbolic link, so this only shortens the displayed path.
        while let (Ok(after), Some(parent)) = (rest.strip_prefix(".."), folder.parent()) {
            (folder, rest) = (parent, after);
        }
        folder.join(rest)
    }

    /// The path of its opening file.
    pub(super) fn openings_file(&self) -> Option<PathBuf> {
        self.openings.as_deref().map(|path| self.resolve(path))
    }

    /// The label of the tournament.
    pub(super) fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.game)
    }

    /// The run seed, if it has one.
    pub(super) fn seed(&self) -> Result<Option<Seed>, Failure> {
        let named = |what: &str| {
            let what = what.to_owned();
            move |error: String| Failure::usage(format!("{what}: {error}"))
        };
        match (&self.seed, &self.seed_file) {
            (Some(_), Some(_)) => Err(Failure::usage("`seed` and `seed_file` are mutually exclusive")),
            (Some(text), None) => seed(text).map(Some).map_err(named("seed")),
            (None, Some(path)) => {
                let path = self.resolve(path);
                let wrong = named(&format!("seed_file {}", path.display()));
                seed_of_file(&path).map(Some).map_err(wrong)
            }
            (None, None) => Ok(None),
        }
    }

    /// All bots, in the order of the entrants.
    pub(super) fn bots(&self) -> impl Iterator<Item = &EntrantConfig> {
        self.entrants.iter().flat_map(EntrantConfig::bots)
    }

    /// The bots of each entrant.
    pub(super) fn roster(&self) -> Roster {
        Roster::of(self.entrants.iter().map(|entrant| entrant.bots().len()))
    }

    /// The names of the entrants, after [`Config::keep_names`].
    pub(super) fn names(&self) -> Vec<String> {
        self.entrants.iter().map(|entrant| entrant.name.clone().unwrap_or_default()).collect()
    }

    /// The names of each entrant's bots, after [`Config::keep_names`].
    pub(super) fn bot_names(&self) -> Vec<Vec<String>> {
        let name = |bot: &EntrantConfig| bot.name.clone().unwrap_or_default();
        self.entrants.iter().map(|entrant| entrant.bots().iter().map(name).collect()).collect()
    }

    /// Stores the name of every bot, which may have been derived from a script that can disappear.
    pub(super) fn keep_names(&mut self, bots: &[BotSpec]) {
        let configs = self.entrants.iter_mut().flat_map(EntrantConfig::bots_mut);
        for (config, entrant) in configs.zip(bots) {
            config.name = Some(entrant.name.clone());
        }
    }

    fn terms(&self) -> Result<Terms, Failure> {
        let time = |key: &str, text: &str| {
            milliseconds(text).map_err(|what| Failure::usage(format!("{key}: {what}")))
        };
        Ok(Terms {
            clock: clock(&self.clock).map_err(|what| Failure::usage(format!("clock: {what}")))?.0,
            margin_ms: time("margin", &self.margin)?,
            on_fault: self.on_fault,
            hello_ms: time("hello_limit", &self.hello_limit)?,
            first_ready_ms: time("ready_limit", &self.ready_limit)?,
        })
    }

    fn sources(&self, plan: &Plan) -> Result<Vec<Source>, Failure> {
        let mut names = HashSet::new();
        let mut sources = Vec::new();
        for (index, entrant) in self.entrants.iter().enumerate() {
            let which = entrant.name.clone().unwrap_or_else(|| format!("number {}", index + 1));
            let wrong = |what: String| Failure::usage(format!("entrant {which}: {what}"));
            entrant.check_team(&self.game, plan).map_err(wrong)?;
            // The bot of a withdrawn entrant may be missing.
            let is_there = plan.entrants[index].leaves.is_none();
            if entrant.team.is_empty() {
                sources.push(self.source(entrant, &mut names, is_there).map_err(wrong)?);
                continue;
            }
            check_new_name(&entrant.name, &mut names).map_err(wrong)?;
            for (at, bot) in entrant.team.iter().enumerate() {
                let which = bot.name.clone().unwrap_or_else(|| (at + 1).to_string());
                let wrong = |what| wrong(format!("bot {which}: {what}"));
                sources.push(self.source(bot, &mut names, is_there).map_err(wrong)?);
            }
        }
        Ok(sources)
    }

    fn source(
        &self,
        bot: &EntrantConfig,
        names: &mut HashSet<String>,
        is_there: bool,
    ) -> Result<Source, String> {
        check_new_name(&bot.name, names)?;
        if !(0.01..=100.0).contains(&bot.clock_factor) {
            return Err(format!("clock_factor {} is not from 0.01 to 100", bot.clock_factor));
        }
        match (&bot.command, &bot.tcp) {
            (Some(command), None) => {
                let command: Command = command.parse()?;
                let directory = self.resolve(bot.directory.as_deref().unwrap_or(Path::new("")));
                let command = Command { directory: Some(directory), env: bot.env.clone(), ..command };
                if is_there {
                    command.check()?;
                }
                Ok(Source::Command(command))
            }
            (None, Some(name)) => {
                check_name(name)?;
                Ok(Source::Tcp(name.clone()))
            }
            _ => Err("it needs either a `command` or a `tcp` name".to_owned()),
        }
    }

    /// The input of the schedule, which requires neither the bots nor other files. `entries`: when entrants join and
    /// withdraw, if not all take part from start to end.
    pub(super) fn plan(&self, entries: Option<Vec<Entry>>) -> Result<Plan, Failure> {
        let rules = game(&self.game)?;
        let seating =
            games::seating(rules, self.seats).map_err(|what| Failure::usage(format!("seats: {what}")))?;
        let deals = match self.mirror {
            Some(MirrorConfig::None) => Deals::Single,
            Some(MirrorConfig::Rotations) => Deals::Mirrored,
            Some(MirrorConfig::All) => Deals::AllOrders,
            None if deal_leaks_information(rules) => Deals::Single,
            None => Deals::Mirrored,
        };
        let format = match self.format {
            FormatConfig::RoundRobin { cycles } => Format::RoundRobin { cycles },
            FormatConfig::Gauntlet { cycles } => Format::Gauntlet { cycles },
            FormatConfig::Swiss { rounds, sets } => Format::Swiss { rounds, sets },
            FormatConfig::Knockout { best_of, tie_breaks } => Format::Knockout { best_of, tie_breaks },
            FormatConfig::Partners { cycles } => Format::Partners { cycles },
        };
        let mut plan = Plan::new(format, seating, deals, self.entrants.len());
        plan.entrants = entries.unwrap_or(plan.entrants);
        plan.check().map_err(|what| Failure::usage(format!("format: {what}")))?;
        Ok(plan)
    }

    /// Validates everything else.
    pub(super) fn prepare(&self, seed: Seed, plan: &Plan) -> Result<Prepared, Failure> {
        let rules = game(&self.game)?;
        let sources = self.sources(plan)?;
        let needs_fresh = plan.deals != Deals::Single && deal_leaks_information(rules) && !self.trust_bots;
        if needs_fresh {
            check_fresh(rules, &sources).map_err(|what| {
                Failure::usage(format!("mirror: {what}; `trust_bots = true` overrides this check"))
            })?;
        }
        let terms = self.terms()?;
        let listen = self.listen_options(&sources)?;
        let openings = self.openings(rules, plan.seating, &seed)?;
        let names = self.bots().map(|bot| bot.name.clone());
        let of_teams = self.entrants.iter().filter(|entrant| !entrant.team.is_empty());
        let of_teams = of_teams.filter_map(|entrant| entrant.name.clone()).collect();
        let mut entrants = BotSpec::named(sources.into_iter().zip(names).collect(), of_teams);
        for (entrant, config) in entrants.iter_mut().zip(self.bots()) {
            entrant.clock_factor = config.clock_factor;
            if let Some(clock) = terms.clock.and_then(|clock| entrant.clock(clock)) {
                check_clock(clock).map_err(|what| {
                    let factor = config.clock_factor;
                    Failure::usage(format!("entrant {}: clock_factor {factor}: {what}", entrant.name))
                })?;
            }
            entrant.is_fresh = needs_fresh || config.restart.unwrap_or(self.restart) == Restart::Always;
        }
        if !(1..=10_000).contains(&self.jobs) {
            return Err(Failure::usage(format!("jobs: {} is not from 1 to 10000", self.jobs)));
        }
        if !(1..=limits::SLOTS).contains(&self.slots.into()) {
            return Err(Failure::usage(format!("slots: {} is not from 1 to {}", self.slots, limits::SLOTS)));
        }
        let (jobs, seats) = (self.jobs as usize, plan.seating.seats());
        let processes = self.processes.map_or(PROCESSES.max(jobs * seats), |processes| processes as usize);
        if processes < jobs * seats {
            return Err(Failure::usage(format!(
                "processes: {processes} is less than the {} needed for `jobs` = {jobs} with {seats} seats",
                jobs * seats
            )));
        }
        Ok(Prepared {
            run: Run { seed, terms },
            rules,
            entrants,
            roster: Arc::new(self.roster()),
            openings,
            jobs,
            processes,
            slots: self.slots as usize,
            is_pinned: self.pin,
            listen,
        })
    }

    fn listen_options(&self, sources: &[Source]) -> Result<Option<Listen>, Failure> {
        let tcp = sources.iter().find(|source| matches!(source, Source::Tcp(_)));
        match (&self.listen, tcp) {
            (None, Some(bot)) => {
                let what =
                    "connects by itself: add an address, e.g. [listen] with address = \"127.0.0.1:4700\"";
                return Err(Failure::usage(format!("`{bot}` {what}")));
            }
            (Some(_), None) => return Err(Failure::usage("listen: no entrant has a `tcp` name")),
            _ => {}
        }
        let options = match &self.listen {
            None => ListenOptions::none(),
            Some(listen) => ListenOptions {
                listen: Some(listen.address),
                token_file: listen.token_file.as_deref().map(|path| self.resolve(path)),
                wait: milliseconds(&listen.wait)
                    .map_err(|what| Failure::usage(format!("listen.wait: {what}")))?,
                connections: listen.connections,
                tls_cert: listen.tls_cert.as_deref().map(|path| self.resolve(path)),
                tls_key: listen.tls_key.as_deref().map(|path| self.resolve(path)),
                ..ListenOptions::none()
            },
        };
        options.listen(sources).map_err(in_keys)
    }

    fn openings(&self, rules: &dyn Rules, seating: Seating, seed: &Seed) -> Result<Openings, Failure> {
        if self.opening_plies > 0 && self.openings.is_some() {
            return Err(Failure::usage("`opening_plies` and `openings` are mutually exclusive"));
        }
        let options = OpeningOptions {
            opening_plies: Some(self.opening_plies),
            openings: self.openings_file(),
            order: self.order,
        };
        options.openings(rules, seating, self.options.clone(), seed, 0).map_err(in_keys)
    }
}

/// Checks that a name is valid and unique.
fn check_new_name(name: &Option<String>, names: &mut HashSet<String>) -> Result<(), String> {
    let Some(name) = name else { return Ok(()) };
    check_name(name)?;
    if names.insert(name.clone()) { Ok(()) } else { Err("the name is not unique".to_owned()) }
}

/// The relative path from one directory to another.
pub(super) fn way(from: &Path, to: &Path) -> io::Result<PathBuf> {
    let (from, to) = (from.canonicalize()?, to.canonicalize()?);
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    Ok(up.chain(to.components().skip(common)).collect())
}

/// Options of the command line, and the corresponding keys of the file.
const KEYS: [(&str, &str); 6] = [
    ("--opening-plies ", "opening_plies = "),
    ("--openings", "openings"),
    ("--token-file", "listen.token_file"),
    ("--tls-cert", "listen.tls_cert"),
    ("--tls-key", "listen.tls_key"),
    ("--set", "the option"),
];

/// Rewrites an error message to name keys of the file.
fn in_keys(failure: Failure) -> Failure {
    let said = format!("{:#}", failure.error);
    let said = KEYS.iter().fold(said, |said, (option, key)| said.replace(option, key));
    Failure { exit: failure.exit, error: anyhow::anyhow!("{}", in_words(&said)) }
}

/// Adds the most similar key to an error such as "unknown field `fromat`, expected one of `name`, `format`".
fn in_words(error: &str) -> String {
    let error = error.trim_end();
    let quoted =
        |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let Some((unknown, valid)) = error
        .find("unknown ")
        .and_then(|at| error[at..].split_once("expected"))
        .and_then(|(unknown, valid)| Some((quoted(unknown).pop()?, quoted(valid))))
    else {
        return error.to_owned();
    };
    match valid.iter().min_by_key(|key| strsim::damerau_levenshtein(&unknown, key)) {
        Some(nearest) => format!("{error}\ndid you mean `{nearest}`?"),
        None => error.to_owned(),
    }
}
