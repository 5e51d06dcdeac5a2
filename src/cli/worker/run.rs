//! Runs a worker.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args as ClapArgs;

use crate::bot::sandbox::{BotLimits, Layer, Mode, Sandbox, Size};
use crate::cli::bots::{block_on, launch, with_bots};
use crate::cli::exit::{Exit, Failure};
use crate::cli::json::WorkerLine;
use crate::cli::options::option_names;
use crate::cli::output::TolerantStdout;
use crate::cli::screen;
use crate::cli::signals::interrupted;
#[cfg(feature = "nats")]
use crate::cli::worker::nats;
use crate::files::read_secret;
use crate::game::{Catalog, Chain, counted, json};
use crate::runs::config::{add_syzygy, read_tokens};
use crate::runs::submissions::{WorkerTrials, untested_layers};
use crate::runs::workers::{NatsUrl, QueueName};
use crate::transport::trust;
use crate::workers::archive::Cache;
use crate::workers::builtin::BuiltInWorker;
use crate::workers::calibration::Calibration;
use crate::workers::carrier::OutcomeVerdict;
use crate::workers::machine::{Machine, MachineState, is_name};
#[cfg(feature = "nats")]
use crate::workers::nats::Broker;
use crate::workers::trial::{TrialMachine, TrialVerdict};
use crate::workers::{Worker, WorkerEvent, WorkerExit};

/// The time for which round trips are measured.
const MEASURE: Duration = Duration::from_millis(500);

#[derive(Debug, ClapArgs)]
pub(super) struct RunArgs {
    /// Where the coordinator listens: HOST:PORT; or the NATS server that has the sets: nats://HOST[:PORT], tls:// to require TLS
    #[arg(long, value_name = "ADDRESS")]
    connect: String,
    /// A file with a line NAME=TOKEN, which other users cannot read, and the certificate of the coordinator in PEM unless the
    /// system trusts that: workers.token in the directory of the run is such a file
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A file with the credentials for the NATS server: one of NATS (.creds), or a line USER:PASSWORD or with a token
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// A PEM file with certificates that the NATS server may have, in addition to those that the system trusts
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// A PEM file with the certificate of this worker, for a NATS server that verifies its clients
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// A PEM file with the private key of this certificate
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// The queue at the NATS server
    #[arg(long, value_name = "NAME", default_value_t = QueueName::default())]
    queue: QueueName,
    /// With a NATS server: a file with the public keys of the coordinators whose sets this worker plays, one a line. It is
    /// workers.sign.pub in the directory of the run
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// The least sandbox in which this worker starts bots; sets that ask for less are not played [default: none; with a NATS
    /// server strict, or basic if this machine lacks a layer of strict]
    #[arg(long, value_name = "MODE")]
    sandbox: Option<Mode>,
    /// Do without this layer of --sandbox if the machine lacks it; may be repeated
    #[arg(long = "sandbox-allow-missing", value_name = "LAYER", requires = "sandbox")]
    allow_missing: Vec<Layer>,
    /// The directory of Syzygy tables, for matches that are adjudicated by them: the same as those of the coordinator
    #[arg(long, value_name = "DIR")]
    syzygy: Option<PathBuf>,
    /// The number of sets that are played concurrently [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    slots: Option<u32>,
    /// The name of this machine: letters, digits, `.`, `_` and `-` [default: that of the host]
    #[arg(long, value_parser = name)]
    name: Option<String>,
    /// Whether other programs disturb the clocks of bots on this machine, so that it plays no matches with a clock [default:
    /// measured at the start, as `referee worker check` does]
    #[arg(long, value_name = "BOOL")]
    noisy: Option<bool>,
    /// The directory of the archives of bots [default: ~/.cache/referee/bots]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// The size of all archives that are kept
    #[arg(long, value_name = "SIZE", default_value = "10GiB")]
    cache_size: Size,
    /// End when the run is over, or when there has been nothing to play for a minute
    #[arg(long)]
    until_empty: bool,
    /// One JSON object per line for everything that happens
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &RunArgs, catalog: &Catalog) -> Result<Exit, Failure> {
    let slots = match args.slots {
        Some(slots) => slots,
        None => thread::available_parallelism().map_or(1, |cores| cores.get().min(1024) as u32),
    };
    let mut machine = Machine::here(args.name.clone(), slots);
    machine.noisy = match args.noisy {
        Some(noisy) => noisy,
        None => {
            let calibration = block_on(Calibration::measure(launch()?, MEASURE))?.map_err(|error| {
                Failure::cannot_run(format!("round trips cannot be measured: {}", Chain(&error)))
            })?;
            machine.round_trip_us = Some(calibration.median_us);
            calibration.is_noisy()
        }
    };
    if machine.noisy && args.noisy.is_none() {
        screen::stderr_line(format_args!(
            "note: other programs disturb the clocks of bots on this machine: it plays no matches with a clock \
             (`referee worker check` measures it, --noisy false overrides it)"
        ));
    }
    let mut catalog = catalog.clone();
    if let Some(directory) = &args.syzygy {
        add_syzygy(&mut catalog, directory, option_names).map_err(Failure::usage)?;
    }
    let cache = args.cache.clone().map_or_else(Cache::usual_folder, Ok).map_err(Failure::usage)?;
    let cache = Cache::open(&cache, args.cache_size.bytes())
        .map_err(|error| Failure::cannot_run(format!("{}: {error}", cache.display())))?;
    let trials = trials()?;
    machine.builds = trials.is_some();
    let worker = Worker {
        catalog,
        launch: launch()?,
        slots: slots as usize,
        until_empty: args.until_empty,
        cache,
        least: least_sandbox(args)?,
        trials,
    };
    let mut printer = WorkerPrinter { is_json: args.json, out: TolerantStdout::new(), is_connected: None };
    let exit = if NatsUrl::matches(&args.connect) {
        #[cfg(not(feature = "nats"))]
        return Err(Failure::usage(format!("--connect: {}", crate::runs::workers::WITHOUT_NATS)));
        #[cfg(feature = "nats")]
        {
            let end = nats::worker(broker(args), machine, nats::trusted(args.trust.as_deref())?);
            with_bots(|| worker.work(end, interrupted(), |event| printer.event(&event)))
        }
    } else {
        let end = built_in(args, machine)?;
        with_bots(|| worker.work(end, interrupted(), |event| printer.event(&event)))
    };
    let exit = exit.map_err(Failure::cannot_run)?;
    printer.out.end(match exit {
        WorkerExit::Empty | WorkerExit::Drained => Exit::Done,
        WorkerExit::Interrupted => Exit::Interrupted,
    })
}

/// Builds and checks programs that were handed in to a league, if this machine has all layers of `strict`.
fn trials() -> Result<Option<Arc<dyn TrialMachine>>, Failure> {
    let trials = WorkerTrials::open(launch()?, untested_layers());
    Ok(trials.ok().map(|trials| Arc::new(trials) as Arc<dyn TrialMachine>))
}

/// The least sandbox of bots on this machine.
fn least_sandbox(args: &RunArgs) -> Result<Sandbox, Failure> {
    let allowed = args.allow_missing.iter().copied().collect();
    match args.sandbox {
        Some(mode) => Sandbox::new(mode, &allowed, BotLimits::default())
            .map_err(|why| Failure::cannot_run(format!("--sandbox {mode}: {why}"))),
        None if NatsUrl::matches(&args.connect) => {
            let held = [Mode::Strict, Mode::Basic].into_iter();
            let mut held = held.filter_map(|mode| Sandbox::new(mode, &allowed, BotLimits::default()).ok());
            Ok(held.next().unwrap_or_default())
        }
        None => Ok(Sandbox::default()),
    }
}

/// Parses the name of a machine.
fn name(text: &str) -> anyhow::Result<String> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => anyhow::bail!("expected 1 to 64 letters, digits, `.`, `_` and `-`"),
    }
}

/// The NATS server of the worker.
#[cfg(feature = "nats")]
fn broker(args: &RunArgs) -> Broker {
    let RunArgs { connect, credentials, ca, cert, key, queue, .. } = args;
    Broker {
        url: connect.clone(),
        queue: queue.as_str().to_owned(),
        credentials: credentials.clone(),
        ca: ca.clone(),
        identity: cert.clone().zip(key.clone()),
    }
}

/// The worker's end of the built-in carrier.
fn built_in(args: &RunArgs, machine: Machine) -> Result<BuiltInWorker, Failure> {
    let Some(token_file) = &args.token_file else {
        return Err(Failure::usage("--token-file is required to connect to a coordinator"));
    };
    let wrong = |what: String| Failure::usage(format!("--token-file {}: {what}", token_file.display()));
    let tokens = read_tokens(token_file).map_err(|error| wrong(Chain(&error).to_string()))?;
    let [(name, token)] = &tokens[..] else {
        return Err(wrong(format!(
            "it has {}, not one line NAME=TOKEN",
            counted(tokens.len(), "line", "lines")
        )));
    };
    let text = read_secret(token_file).map_err(|error| wrong(error.to_string()))?;
    let tls = trust(text.as_bytes()).map_err(|error| wrong(error.to_string()))?;
    let mut instance = [0; 8];
    getrandom::fill(&mut instance).map_err(Failure::cannot_run)?;
    Ok(BuiltInWorker {
        address: args.connect.clone(),
        tls,
        name: name.clone(),
        token: token.clone(),
        machine,
        instance: u64::from_ne_bytes(instance),
    })
}

/// Prints events for a person or a program.
struct WorkerPrinter {
    is_json: bool,
    out: TolerantStdout,
    /// Whether the worker was connected at the last news of the connection.
    is_connected: Option<bool>,
}

impl WorkerPrinter {
    fn event(&mut self, event: &WorkerEvent<'_>) {
        let is_connected = match event {
            WorkerEvent::Connected => Some(true),
            WorkerEvent::Disconnected(_) => Some(false),
            _ => self.is_connected,
        };
        let is_of_connection = matches!(event, WorkerEvent::Connected | WorkerEvent::Disconnected(_));
        // Only the first of several failures is printed.
        let is_news = !is_of_connection || self.is_connected != is_connected;
        self.is_connected = is_connected;
        if self.is_json {
            use std::io::Write;
            // `TolerantStdout` keeps the error until the end.
            let _ = writeln!(self.out, "{}", json::text(&WorkerLine::of(event)));
        } else if let Some(text) = text(event).filter(|_| is_news) {
            screen::stderr_line(text);
        }
    }
}

/// The text of an event for people.
fn text(event: &WorkerEvent<'_>) -> Option<String> {
    Some(match event {
        WorkerEvent::Connected => "connected".to_owned(),
        WorkerEvent::Disconnected(why) => format!("not connected: {why}; the worker tries again"),
        WorkerEvent::Took(unit) => {
            let names: Vec<&str> = unit.bots.iter().map(|bot| &*bot.name).collect();
            let matches = counted(unit.matches.len(), "match", "matches");
            format!("{}: {matches} of {} between {}", unit.id, unit.game, names.join(", "))
        }
        WorkerEvent::Tries(job) => format!("builds and checks the program {}", job.archive),
        WorkerEvent::Tried(report) => match &report.verdict {
            TrialVerdict::Passed { .. } => "the program has passed".to_owned(),
            TrialVerdict::Failed(why) => format!("the program has not passed: {why}"),
            TrialVerdict::Unable(why) | TrialVerdict::Full(why) => {
                format!("the program cannot be built and checked here: {why}")
            }
        },
        WorkerEvent::Unable(id, why) => format!("{id} cannot be played here: {why}"),
        WorkerEvent::Played(_) | WorkerEvent::Verdict(_, OutcomeVerdict::Counted) => return None,
        WorkerEvent::Verdict(id, OutcomeVerdict::Duplicate) => format!("{id}: another result came first"),
        WorkerEvent::Verdict(id, OutcomeVerdict::Refused(why)) => {
            format!("{id}: the coordinator refuses it: {why}")
        }
        WorkerEvent::Verdict(id, OutcomeVerdict::Retried(why)) => format!("{id}: tried again: {why}"),
        WorkerEvent::State(_, state) => match state {
            MachineState::Active => "the coordinator gives this worker sets again".to_owned(),
            MachineState::Drained => "the coordinator drains this worker".to_owned(),
            MachineState::Aside => {
                "the coordinator has put this worker aside: `referee tournament status` says why".to_owned()
            }
            MachineState::Noisy => {
                "this worker gets no sets: other programs disturb its clocks, and the matches have clocks \
                                    (--noisy false overrides it)"
                    .to_owned()
            }
            MachineState::Incompatible => {
                "this worker gets no sets: it speaks another version of the messages".to_owned()
            }
        },
        WorkerEvent::Incompatible(why) => (*why).to_owned(),
        WorkerEvent::Over => {
            "the run is over; with --until-empty the worker ends, otherwise it waits for the next one"
                .to_owned()
        }
    })
}
