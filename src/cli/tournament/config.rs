//! The file that describes a tournament.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use referee_protocol::limits;
use referee_protocol::words::OnFault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bot::Command;
use crate::cli::Failure;
use crate::cli::openings::{OpeningOptions, Order};
use crate::cli::options::{ListenOptions, clock, game, milliseconds, seed, seed_of_file};
use crate::core::Seating;
use crate::core::chance::Seed;
use crate::core::erased::Rules;
use crate::games;
use crate::server::{
    Entrant, Listen, Openings, Run, Source, Terms, check_clock, check_fresh, check_name, is_told_by_a_deal,
};
use crate::tournament::Deals;
use crate::tournament::schedule::{Entry, Format, Plan};

/// What a file may say; `examples/tournament.toml` shows and explains all of it.
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
    clock: String,
    #[serde(default = "default_margin")]
    margin: String,
    #[serde(default)]
    on_fault: OnFault,
    #[serde(default = "default_hello_limit")]
    hello_limit: String,
    #[serde(default = "default_ready_limit")]
    ready_limit: String,
    #[serde(default = "one")]
    jobs: u32,
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
    listen: Option<ListenConfig>,
    pub(super) entrants: Vec<EntrantConfig>,
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
    /// When it has died.
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
struct ListenConfig {
    address: std::net::SocketAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_file: Option<PathBuf>,
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
}

impl EntrantConfig {
    pub(super) fn new(name: Option<String>, source: Source, directory: Option<PathBuf>) -> EntrantConfig {
        let (command, tcp) = match source {
            Source::Command(command) => (Some(command.to_string()), None),
            Source::Tcp(name) => (None, Some(name)),
        };
        EntrantConfig {
            name,
            command,
            tcp,
            directory,
            env: BTreeMap::new(),
            clock_factor: 1.0,
            restart: None,
        }
    }
}

/// What a tournament is played with.
pub(super) struct Prepared {
    pub(super) run: Run,
    pub(super) rules: &'static dyn Rules,
    pub(super) entrants: Vec<Entrant>,
    pub(super) openings: Openings,
    pub(super) jobs: usize,
    pub(super) is_pinned: bool,
    pub(super) listen: Option<Listen>,
}

impl Config {
    /// Reads a file. Paths in it are seen from its folder, and are absolute from here on.
    pub(super) fn read(path: &Path) -> Result<Config, Failure> {
        let wrong = |what: String| Failure::usage(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let mut config = Config::parse(&text).map_err(wrong)?;
        let file = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
        config.resolve(file.parent().unwrap_or(Path::new("/")));
        Ok(config)
    }

    /// Reads what a file says.
    pub(super) fn parse(text: &str) -> Result<Config, String> {
        toml::from_str(text).map_err(|error| in_words(&error.to_string()))
    }

    /// The same as a file would say it.
    pub(super) fn to_toml(&self) -> Result<String, Failure> {
        toml::to_string(self).map_err(Failure::cannot_run)
    }

    fn resolve(&mut self, folder: &Path) {
        let listen = self.listen.iter_mut();
        let of_listen = listen.flat_map(|l| [&mut l.token_file, &mut l.tls_cert, &mut l.tls_key]);
        for path in of_listen.chain([&mut self.openings, &mut self.seed_file]).flatten() {
            *path = folder.join(&path);
        }
        for entrant in &mut self.entrants {
            entrant.directory = Some(folder.join(entrant.directory.take().unwrap_or_default()));
        }
    }

    /// The label of the tournament.
    pub(super) fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.game)
    }

    /// The run seed that it names, if it does.
    pub(super) fn seed(&self) -> Result<Option<Seed>, Failure> {
        let named = |what: &str| {
            let what = what.to_owned();
            move |error: String| Failure::usage(format!("{what}: {error}"))
        };
        match (&self.seed, &self.seed_file) {
            (Some(_), Some(_)) => Err(Failure::usage("`seed` and `seed_file` exclude each other")),
            (Some(text), None) => seed(text).map(Some).map_err(named("seed")),
            (None, Some(path)) => {
                let wrong = named(&format!("seed_file {}", path.display()));
                seed_of_file(path).map(Some).map_err(wrong)
            }
            (None, None) => Ok(None),
        }
    }

    /// Names every entrant as it is called from here on, also when its script, whose name it may have, is no more.
    pub(super) fn keep_names(&mut self, entrants: &[Entrant]) {
        for (config, entrant) in self.entrants.iter_mut().zip(entrants) {
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
            if let Some(name) = &entrant.name {
                check_name(name).map_err(wrong)?;
                if !names.insert(name) {
                    return Err(wrong("there are two of this name".to_owned()));
                }
            }
            if !(0.01..=100.0).contains(&entrant.clock_factor) {
                return Err(wrong(format!("clock_factor {} is not from 0.01 to 100", entrant.clock_factor)));
            }
            sources.push(match (&entrant.command, &entrant.tcp) {
                (Some(command), None) => {
                    let command: Command = command.parse().map_err(wrong)?;
                    let (directory, env) = (entrant.directory.clone(), entrant.env.clone());
                    let command = Command { directory, env, ..command };
                    // Who has left may be gone.
                    if plan.entrants[index].leaves.is_none() {
                        command.check().map_err(wrong)?;
                    }
                    Source::Command(command)
                }
                (None, Some(name)) => {
                    check_name(name).map_err(wrong)?;
                    Source::Tcp(name.clone())
                }
                _ => return Err(wrong("it has either a `command` or a `tcp` name".to_owned())),
            });
        }
        Ok(sources)
    }

    /// What its schedule follows from; that needs neither the bots nor any other file. `entries` are when each entrant
    /// takes part, where that is not from the beginning to the end.
    pub(super) fn plan(&self, entries: Option<Vec<Entry>>) -> Result<Plan, Failure> {
        let rules = game(&self.game)?;
        let seating =
            games::seating(rules, self.seats).map_err(|what| Failure::usage(format!("seats: {what}")))?;
        let deals = match self.mirror {
            Some(MirrorConfig::None) => Deals::Single,
            Some(MirrorConfig::Rotations) => Deals::Mirrored,
            Some(MirrorConfig::All) => Deals::AllOrders,
            None if is_told_by_a_deal(rules) => Deals::Single,
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

    /// Checks everything else, and makes what it is played with.
    pub(super) fn prepare(&self, seed: Seed, plan: &Plan) -> Result<Prepared, Failure> {
        let rules = game(&self.game)?;
        let sources = self.sources(plan)?;
        let needs_fresh = plan.deals != Deals::Single && is_told_by_a_deal(rules) && !self.trust_bots;
        if needs_fresh {
            check_fresh(rules, &sources).map_err(|what| {
                Failure::usage(format!("mirror: {what}; `trust_bots = true` plays nevertheless"))
            })?;
        }
        let terms = self.terms()?;
        let listen = self.listen_options(&sources)?;
        let openings = self.openings(rules, plan.seating, &seed)?;
        let names = self.entrants.iter().map(|entrant| entrant.name.clone());
        let mut entrants = Entrant::named(sources.into_iter().zip(names).collect());
        for (entrant, config) in entrants.iter_mut().zip(&self.entrants) {
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
        Ok(Prepared {
            run: Run { seed, terms },
            rules,
            entrants,
            openings,
            jobs: self.jobs as usize,
            is_pinned: self.pin,
            listen,
        })
    }

    fn listen_options(&self, sources: &[Source]) -> Result<Option<Listen>, Failure> {
        let tcp = sources.iter().find(|source| matches!(source, Source::Tcp(_)));
        match (&self.listen, tcp) {
            (None, Some(bot)) => {
                let what =
                    "connects by itself: say where, such as [listen] with address = \"127.0.0.1:4700\"";
                return Err(Failure::usage(format!("`{bot}` {what}")));
            }
            (Some(_), None) => return Err(Failure::usage("listen: no entrant has a `tcp` name")),
            _ => {}
        }
        let options = match &self.listen {
            None => ListenOptions::none(),
            Some(listen) => ListenOptions {
                listen: Some(listen.address),
                token_file: listen.token_file.clone(),
                wait: milliseconds(&listen.wait)
                    .map_err(|what| Failure::usage(format!("listen.wait: {what}")))?,
                connections: listen.connections,
                tls_cert: listen.tls_cert.clone(),
                tls_key: listen.tls_key.clone(),
                ..ListenOptions::none()
            },
        };
        options.listen(sources).map_err(in_keys)
    }

    fn openings(&self, rules: &dyn Rules, seating: Seating, seed: &Seed) -> Result<Openings, Failure> {
        if self.opening_plies > 0 && self.openings.is_some() {
            return Err(Failure::usage("`opening_plies` and `openings` exclude each other"));
        }
        let options = OpeningOptions {
            opening_plies: Some(self.opening_plies),
            openings: self.openings.clone(),
            order: self.order,
        };
        options.openings(rules, seating, self.options.clone(), seed, 0).map_err(in_keys)
    }
}

/// The options of the command line that the keys of the file stand for, and these.
const KEYS: [(&str, &str); 6] = [
    ("--opening-plies ", "opening_plies = "),
    ("--openings", "openings"),
    ("--token-file", "listen.token_file"),
    ("--tls-cert", "listen.tls_cert"),
    ("--tls-key", "listen.tls_key"),
    ("--set", "the option"),
];

/// What is wrong, in the words of the file.
fn in_keys(failure: Failure) -> Failure {
    let said = format!("{:#}", failure.error);
    let said = KEYS.iter().fold(said, |said, (option, key)| said.replace(option, key));
    Failure { exit: failure.exit, error: anyhow::anyhow!("{}", in_words(&said)) }
}

/// The error with the key that was probably meant: "unknown field `fromat`, expected one of `name`, `format`".
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
