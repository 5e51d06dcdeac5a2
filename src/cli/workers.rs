//! Workers that play the sets of a run: the options of the coordinator, and their status.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgGroup, Args};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::bot::Command;
use crate::cli::json::{AssignedSet, WorkerStatus, WorkersListening, WorkersQueue, WorkersStatus};
use crate::cli::listen::read_tokens;
use crate::cli::options::{TimeError, milliseconds};
use crate::cli::{Failure, nats, screen};
use crate::files::{Folder, StorageWait, read_secret};
use crate::game::erased::Rules;
use crate::game::{counted, hex, json};
use crate::program;
use crate::report::table;
use crate::sources::BotSpec;
use crate::store::{Leases, WorkerRow};
use crate::transport::Certificate;
use crate::workers::Coordinator;
use crate::workers::archive::{
    ArchiveError, ArchiveId, ArchiveLimits, PackedArchive, pack_files, pack_folder,
};
use crate::workers::builtin::BuiltInCoordinator;
use crate::workers::machine::MachineState;
use crate::workers::shared::share;
use crate::workers::trial::TrialDesk;
use crate::workers::unit::{Place, UnitBot};

/// The file in the directory of a run with which workers are admitted: a token, and the certificate of the coordinator.
const TOKEN_FILE: &str = "workers.token";
/// The private key of the certificate.
const KEY_FILE: &str = "workers.key";
/// The directory of the archives of bots.
pub(super) const ARCHIVES: &str = "bots";
/// The default of `--workers-timeout`.
const TIMEOUT: &str = "5m";
/// The name of the token in that file.
const TOKEN_NAME: &str = "worker";

/// Which workers play the sets.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Workers on other machines")]
#[command(group = ArgGroup::new("carrier").args(["workers_listen", "workers"]))]
pub(super) struct WorkersOptions {
    /// Let workers (`referee worker`) play, which connect to this address over TLS. Port 0 picks a free port, which is printed
    #[arg(long, value_name = "ADDRESS:PORT")]
    workers_listen: Option<SocketAddr>,
    /// A file with a line NAME=TOKEN for each token of workers [default: workers.token in the directory of the run, which is
    /// written with a new token and the certificate; give workers a copy]
    #[arg(long, value_name = "FILE", requires = "workers_listen")]
    workers_token_file: Option<PathBuf>,
    /// A PEM file with the certificate chain [default: a new certificate, which is in workers.token]
    #[arg(long, value_name = "FILE", requires_all = ["workers_listen", "workers_tls_key"])]
    workers_tls_cert: Option<PathBuf>,
    /// A PEM file with the private key of the certificate
    #[arg(long, value_name = "FILE", requires = "workers_tls_cert")]
    workers_tls_key: Option<PathBuf>,
    /// Let workers play that pull sets from this NATS server with JetStream (2.9.10 or later): nats://HOST[:PORT], tls:// to
    /// require TLS
    #[arg(long, value_name = "URL", value_parser = nats::url)]
    workers: Option<String>,
    #[command(flatten)]
    nats: nats::CoordinatorOptions,
    /// A set that has had neither a result nor progress for this time is given to another worker: 15s or more. A decision
    /// within its limit is progress
    #[arg(long, value_name = "TIME", default_value = TIMEOUT, value_parser = workers_timeout, requires = "carrier")]
    workers_timeout: u64,
}

/// The least `--workers-timeout`, in milliseconds: workers report progress every 10 s.
const LEAST_TIMEOUT: u64 = 15_000;

/// Why a text is no `--workers-timeout`.
#[derive(Debug, thiserror::Error)]
enum WorkersTimeoutError {
    #[error(transparent)]
    Time(#[from] TimeError),
    #[error("`{0}` is less than 15s: workers report progress every 10 s")]
    Short(String),
}

/// Parses `--workers-timeout`.
fn workers_timeout(text: &str) -> Result<u64, WorkersTimeoutError> {
    match milliseconds(text)? {
        timeout if timeout >= LEAST_TIMEOUT => Ok(timeout),
        _ => Err(WorkersTimeoutError::Short(text.to_owned())),
    }
}

/// `[workers]` in a file: the options without the prefix.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkersConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_key: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nats: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sign: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<String>,
}

impl WorkersConfig {
    /// Its paths, which are relative to the file.
    pub(super) fn paths(&mut self) -> [&mut Option<PathBuf>; 8] {
        let WorkersConfig { token_file, tls_cert, tls_key, credentials, ca, cert, key, sign, .. } = self;
        [token_file, tls_cert, tls_key, credentials, ca, cert, key, sign]
    }

    /// The same settings as options. `resolve` makes paths absolute.
    pub(super) fn options(&self, resolve: impl Fn(&Path) -> PathBuf) -> Result<WorkersOptions, String> {
        let resolve = |path: &Option<PathBuf>| path.as_deref().map(&resolve);
        match (&self.listen, &self.nats) {
            (Some(_), None) | (None, Some(_)) => {}
            (Some(_), Some(_)) => return Err("either `listen` or `nats`, not both".to_owned()),
            (None, None) => return Err("it needs `listen` (an address) or `nats` (a URL)".to_owned()),
        }
        if self.tls_cert.is_some() != self.tls_key.is_some() || self.cert.is_some() != self.key.is_some() {
            return Err("a certificate and its key belong together".to_owned());
        }
        let queue = self.queue.as_deref().unwrap_or(nats::QUEUE);
        let timeout = self.timeout.as_deref().unwrap_or(TIMEOUT);
        Ok(WorkersOptions {
            workers_listen: self.listen,
            workers_token_file: resolve(&self.token_file),
            workers_tls_cert: resolve(&self.tls_cert),
            workers_tls_key: resolve(&self.tls_key),
            workers: self
                .nats
                .as_deref()
                .map(nats::url)
                .transpose()
                .map_err(|what| format!("nats: {what}"))?,
            nats: nats::CoordinatorOptions {
                credentials: resolve(&self.credentials),
                ca: resolve(&self.ca),
                cert: resolve(&self.cert),
                key: resolve(&self.key),
                queue: nats::queue(queue).map_err(|what| format!("queue: {what}"))?,
                sign: resolve(&self.sign),
            },
            workers_timeout: workers_timeout(timeout).map_err(|what| format!("timeout: {what}"))?,
        })
    }
}

/// The coordinators of some runs, and what their workers need.
pub(super) struct Opened {
    /// One for each of the leases, in order.
    pub(super) coordinators: Vec<Coordinator>,
    /// Lets workers try programs.
    pub(super) trials: Option<TrialDesk>,
    reached: SetSource,
}

/// The leases of the run in this directory. Without workers there are only those of an earlier process.
pub(super) fn leases(directory: &Path, has_workers: bool) -> std::io::Result<Option<Leases>> {
    if has_workers {
        return Leases::open(&Folder::open(directory)?, &run_id()?).map(Some);
    }
    Leases::of_run(directory)
}

fn run_id() -> std::io::Result<[u8; 16]> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(std::io::Error::other)?;
    Ok(id)
}

/// Where workers get sets.
enum SetSource {
    /// They connect.
    Address {
        address: SocketAddr,
        /// The file to give to them.
        token_file: PathBuf,
    },
    /// They use a NATS server.
    Queue {
        url: String,
        queue: String,
        /// The file with the public key to give to them.
        trust: PathBuf,
    },
}

impl WorkersOptions {
    /// These options, or if no workers are given, those of the section `[workers]` of a file.
    pub(super) fn or(
        &self,
        section: Option<&WorkersConfig>,
        resolve: impl Fn(&Path) -> PathBuf,
    ) -> Result<WorkersOptions, Failure> {
        match section.filter(|_| !self.is_given()) {
            Some(section) => {
                section.options(resolve).map_err(|what| Failure::usage(format!("[workers]: {what}")))
            }
            None => Ok(self.clone()),
        }
    }

    /// Whether workers play.
    pub(super) fn is_given(&self) -> bool {
        self.workers_listen.is_some() || self.workers.is_some()
    }

    /// Starts a coordinator for the run in this directory; `None` if the run is played here. With `stored`, the run can be
    /// resumed: what workers have is stored there, and waits in this way while the disk is full.
    pub(super) fn open_run(
        &self,
        directory: &Path,
        stored: Option<&StorageWait>,
    ) -> Result<Option<Opened>, Failure> {
        if !self.is_given() {
            return Ok(None);
        }
        let leases = match stored {
            Some(wait) => leases(directory, true).map(|of| of.map(|of| of.waiting(wait.clone()))),
            None => run_id().and_then(|run| Leases::in_memory(&run)).map(Some),
        };
        let leases =
            leases.map_err(|error| Failure::cannot_run(format!("{}: {error}", directory.display())))?;
        self.open(directory, leases.into_iter().collect(), false)
    }

    /// Starts a coordinator for each of these leases. `directory` has what workers need to get in, and archives. With
    /// `has_trials` workers also try programs.
    pub(super) fn open(
        &self,
        directory: &Path,
        leases: Vec<Leases>,
        has_trials: bool,
    ) -> Result<Option<Opened>, Failure> {
        let timeout = Duration::from_millis(self.workers_timeout);
        if let Some(address) = self.workers_listen {
            return self.listen(address, directory, leases, timeout).map(Some);
        }
        let Some(url) = &self.workers else { return Ok(None) };
        let places = (directory, directory.join(ARCHIVES));
        let (coordinators, trials) =
            nats::coordinators(url, &self.nats, places, leases, (timeout, has_trials))?;
        let trust = nats::public_key(&self.nats, directory);
        let reached = SetSource::Queue { url: url.clone(), queue: self.nats.queue.clone(), trust };
        Ok(Some(Opened { coordinators, trials, reached }))
    }

    /// Starts coordinators to which workers connect.
    fn listen(
        &self,
        address: SocketAddr,
        directory: &Path,
        leases: Vec<Leases>,
        timeout: Duration,
    ) -> Result<Opened, Failure> {
        let wrong = |error: std::io::Error| Failure::cannot_run(format!("{}: {error}", directory.display()));
        let folder = Folder::open(directory).map_err(wrong)?;
        let (own, key) = (directory.join(TOKEN_FILE), directory.join(KEY_FILE));
        let certificate = match (&self.workers_tls_cert, &self.workers_tls_key) {
            (Some(chain), Some(key)) => Certificate::read(chain, key)
                .map_err(|error| Failure::usage(format!("--workers-tls-cert, --workers-tls-key: {error}")))?,
            _ => Certificate::kept(address.ip(), &own, &key)
                .map_err(|error| Failure::cannot_run(format!("{}: {error}", directory.display())))?,
        };
        if !own.exists() {
            folder.create(TOKEN_FILE).map_err(wrong)?;
        }
        let mut text = read_secret(&own).map_err(wrong)?;
        if !text.lines().any(|line| line.starts_with(TOKEN_NAME)) {
            let mut token = [0; 32];
            getrandom::fill(&mut token).map_err(Failure::cannot_run)?;
            text = format!("{TOKEN_NAME}={}\n{text}", hex::encode(&token));
            folder.replace(TOKEN_FILE, text.as_bytes()).map_err(wrong)?;
        }
        let token_file = self.workers_token_file.clone().unwrap_or(own);
        let tokens = read_tokens(&token_file).map_err(|what| {
            Failure::usage(format!("--workers-token-file {}: {what}", token_file.display()))
        })?;
        if tokens.is_empty() {
            let path = token_file.display();
            return Err(Failure::usage(format!("--workers-token-file {path}: it has no line NAME=TOKEN")));
        }
        let tokens = tokens.into_iter().map(|(name, token)| (name, Sha256::digest(token).into()));
        let tokens: BTreeMap<_, _> = tokens.collect();
        let end = BuiltInCoordinator::bind(address, certificate.config(), tokens, directory.join(ARCHIVES))
            .map_err(|error| Failure::cannot_run(format!("--workers-listen {address}: {error}")))?;
        let address = end.address().map_err(Failure::cannot_run)?;
        let runs: Vec<String> = leases.iter().map(Leases::run).collect::<Result<_, _>>().map_err(wrong)?;
        let (ends, desk) = share(end, &runs).map_err(Failure::cannot_run)?;
        let coordinators =
            ends.into_iter().zip(leases).map(|(end, leases)| Coordinator::start(end, leases, timeout));
        let coordinators = coordinators.collect::<Result<_, _>>().map_err(Failure::cannot_run)?;
        let reached = SetSource::Address { address, token_file };
        Ok(Opened { coordinators, trials: Some(desk), reached })
    }
}

impl Opened {
    /// Says where workers connect.
    pub(super) fn announce(&self, is_json: bool) -> Result<(), Failure> {
        let (line, text) = match &self.reached {
            SetSource::Address { address, token_file } => {
                let line = json::text(&WorkersListening { address: *address, token_file });
                let token_file = token_file.display();
                let start = format!("referee worker --connect {address} --token-file {token_file}");
                (line, format!("workers connect to {address}: {start}"))
            }
            SetSource::Queue { url, queue, trust } => {
                let start =
                    format!("referee worker --connect {url} --queue {queue} --trust {}", trust.display());
                (
                    json::text(&WorkersQueue { url, queue, trust }),
                    format!("workers pull sets from {url}: {start}"),
                )
            }
        };
        if is_json {
            let mut out = screen::stdout();
            writeln!(out, "{line}")?;
            return Ok(out.flush()?);
        }
        screen::stderr_line(text);
        Ok(())
    }
}

/// These bots as workers start them. Those with a directory of their own are packed for the run in this directory.
pub(super) fn unit_bots(bots: &[BotSpec], directory: &Path) -> Result<Vec<UnitBot>, Failure> {
    let mut packed = BTreeMap::new();
    let bot = |bot: &BotSpec| {
        let connects = || {
            let name = &bot.name;
            Failure::usage(format!("`{name}` connects by itself: workers only play bots that have a command"))
        };
        let command = bot.source.command().ok_or_else(connects)?;
        let wrong = |what: String| Failure::usage(format!("the files of `{}`: {what}", bot.name));
        let within = command.directory_in_files().map_err(|error| wrong(error.to_string()))?;
        let place = match (&command.files, within) {
            (Some(files), Some(within)) => {
                let id = match packed.get(files) {
                    Some(&id) => id,
                    None => {
                        let id = pack(&directory.join(ARCHIVES), |out| {
                            pack_folder(files, ArchiveLimits::BOT, out)
                        })
                        .map_err(|error| wrong(error.to_string()))?;
                        packed.insert(files.clone(), id);
                        id
                    }
                };
                Place::Archive(id, within)
            }
            _ => {
                let here = Path::new(".").canonicalize().map_err(|error| wrong(error.to_string()))?;
                Place::Installed(command.directory.as_ref().map_or(here.clone(), |of| here.join(of)))
            }
        };
        UnitBot::new(bot, place).ok_or_else(connects)
    };
    bots.iter().map(bot).collect()
}

/// Packs the directory of a game whose rules are a program, for the run in this directory: the files that records identify.
pub(super) fn pack_game(rules: &dyn Rules, directory: &Path) -> Result<Option<ArchiveId>, Failure> {
    let Some((game, files)) = program::files(rules) else { return Ok(None) };
    let packed = pack(&directory.join(ARCHIVES), |out| pack_files(&game, &files, ArchiveLimits::BOT, out));
    packed.map(Some).map_err(|error| Failure::usage(format!("the files of {}: {error}", rules.meta().id)))
}

/// Checks the directory of a bot's files, which the bot sees as a whole: not with these.
pub(super) fn check_files(command: &Command, own: &[PathBuf]) -> Result<(), String> {
    let Some(files) = &command.files else { return Ok(()) };
    let canonical = |path: &Path| {
        // An empty path is the current directory.
        let canonical = Path::new(".").join(path).canonicalize();
        canonical.map_err(|what| format!("{}: {what}", path.display()))
    };
    let whole = canonical(files)?;
    for own in own.iter().filter(|own| own.exists()) {
        if canonical(own)?.starts_with(&whole) {
            let (files, own) = (files.display(), own.display());
            return Err(format!("files: {files} contains {own}: give the bot a directory of its own"));
        }
    }
    if let Some(word) =
        command.argv.iter().find(|word| Path::new(word).is_absolute() && Path::new(word).starts_with(&whole))
    {
        return Err(format!(
            "command: `{word}` is in `files`: give its path relative to the working directory"
        ));
    }
    match &command.directory {
        Some(directory) if !canonical(directory)?.starts_with(&whole) => {
            Err(format!("directory: {} is not in `files`, {}", directory.display(), files.display()))
        }
        _ => Ok(()),
    }
}

/// Writes an archive to this directory.
fn pack(
    archives: &Path,
    write: impl FnOnce(BufWriter<&mut File>) -> Result<PackedArchive, ArchiveError>,
) -> Result<ArchiveId, ArchiveError> {
    Folder::make(archives)?;
    let mut file = tempfile::NamedTempFile::new_in(archives)?;
    let id = write(BufWriter::new(file.as_file_mut()))?.id;
    file.persist(archives.join(format!("{id}.tar"))).map_err(|error| error.error)?;
    Ok(id)
}

/// The workers of the run in this directory; `None` if there have never been any.
pub(super) fn status(directory: &Path) -> Result<Option<WorkersStatus>, Failure> {
    let Some(leases) = Leases::of_run(directory).map_err(Failure::cannot_run)? else { return Ok(None) };
    let now = Leases::now();
    let worker = |row: WorkerRow| {
        let hours = now.saturating_sub(row.joined_at).max(1) as f64 / 3600.0;
        WorkerStatus {
            name: row.name,
            state: row.state,
            reason: row.reason,
            is_connected: row.is_connected,
            machine: serde_json::from_str(&row.machine).unwrap_or_default(),
            sets: row.sets,
            sets_per_hour: f64::from(row.sets) / hours,
            matches: row.matches,
            faults: row.faults,
            lost: row.lost,
            duplicates: row.duplicates,
            refused: row.refused,
        }
    };
    let workers: Vec<WorkerStatus> =
        leases.workers().map_err(Failure::cannot_run)?.into_iter().map(worker).collect();
    let is_active = |of: &WorkerStatus| of.is_connected && of.state == MachineState::Active.as_str();
    let open = leases.open_sets().map_err(Failure::cannot_run)?;
    let queued = open.iter().filter(|lease| lease.worker.is_none()).count();
    let out = open.into_iter().filter_map(|lease| {
        Some(AssignedSet {
            set: format!("s{}", lease.set),
            worker: lease.worker?,
            deliveries: lease.deliveries,
            idle_s: now.saturating_sub(lease.moved_at),
        })
    });
    let is_stuck = queued > 0 && !workers.iter().any(is_active);
    Ok(Some(WorkersStatus { workers, queued, is_stuck, out: out.collect() }))
}

/// The status for people.
pub(super) fn status_text(status: &WorkersStatus) -> String {
    let row = |worker: &WorkerStatus| {
        let gone = if worker.is_connected { "" } else { ", not connected" };
        vec![
            worker.name.clone(),
            format!("{}{gone}", worker.state),
            worker.machine.slots.to_string(),
            worker.sets.to_string(),
            format!("{:.0}", worker.sets_per_hour),
            worker.matches.to_string(),
            worker.faults.to_string(),
            worker.lost.to_string(),
            worker.duplicates.to_string(),
            worker.refused.to_string(),
        ]
    };
    let rows = status.workers.iter().map(row).collect();
    let headings = [
        "worker",
        "state",
        "slots",
        "sets",
        "per hour",
        "matches",
        "faults",
        "lost",
        "duplicates",
        "refused",
    ];
    let workers = table(&headings, rows, 2..10);
    let mut text = format!("\n{workers}\n");
    for worker in &status.workers {
        if let Some(reason) = &worker.reason {
            text += &format!("{}: {reason}\n", worker.name);
        }
    }
    text += &format!(
        "{} queued, {} with workers or being verified\n",
        counted(status.queued, "set is", "sets are"),
        status.out.len()
    );
    if status.is_stuck {
        text += match status.workers.iter().filter(|worker| worker.is_connected).count() {
            0 => {
                "no worker is connected: start one with `referee worker`; one that was put aside gets sets again after \
                 `referee worker activate`\n"
            }
            _ => {
                "no worker is active: all that are connected are aside. Mend the reasons, then `referee worker activate`, or \
                 start another one with `referee worker`\n"
            }
        };
    }
    for AssignedSet { set, worker, deliveries, idle_s } in &status.out {
        let times = counted(*deliveries, "delivery", "deliveries");
        text += &format!("  {set}: {worker}, {times}, no progress for {idle_s} s\n");
    }
    text
}
