//! Workers that play the sets of a run: the options of the coordinator, and their status.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};

use crate::cli::exit::Failure;
use crate::cli::json::{AssignedSet, WorkerStatus, WorkersListening, WorkersQueue, WorkersStatus};
use crate::cli::screen;
use crate::game::{counted, json};
use crate::report::table;
use crate::runs::config::Setting;
use crate::runs::workers::{NatsUrl, QueueName, SetSource, WorkersConfig, WorkersTimeout};
use crate::store::{Leases, WorkerRow};
use crate::workers::machine::MachineState;

/// Workers that play the sets.
#[derive(Clone, Debug, Args)]
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
    #[arg(long, value_name = "URL")]
    workers: Option<NatsUrl>,
    #[command(flatten)]
    nats: CoordinatorOptions,
    /// A set that has had neither a result nor progress for this time is given to another worker: 15s or more. A decision
    /// within its limit is progress
    #[arg(long, value_name = "TIME", default_value_t = WorkersConfig::default_timeout(), requires = "carrier")]
    workers_timeout: Setting<WorkersTimeout>,
}

/// The options of a coordinator that uses the NATS server.
#[derive(Clone, Debug, Args)]
struct CoordinatorOptions {
    /// A file with the credentials for the NATS server: one of NATS (.creds), or a line USER:PASSWORD or with a token
    #[arg(long = "workers-credentials", value_name = "FILE", requires = "workers")]
    credentials: Option<PathBuf>,
    /// A PEM file with certificates that the NATS server may have, in addition to those that the system trusts
    #[arg(long = "workers-ca", value_name = "FILE", requires = "workers")]
    ca: Option<PathBuf>,
    /// A PEM file with the certificate of the coordinator, for a NATS server that verifies its clients
    #[arg(long = "workers-cert", value_name = "FILE", requires_all = ["workers", "key"])]
    cert: Option<PathBuf>,
    /// A PEM file with the private key of this certificate
    #[arg(long = "workers-key", value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// The queue at the NATS server: its stream, and the first word of all subjects
    #[arg(long = "workers-queue", value_name = "NAME", default_value_t = QueueName::default(), requires = "workers")]
    queue: QueueName,
    /// A file with the key that signs what workers get; created if it is missing. Workers need a copy of the public key, which is
    /// beside it as FILE.pub [default: workers.sign in the directory of the run]
    #[arg(long = "workers-sign", value_name = "FILE", requires = "workers")]
    sign: Option<PathBuf>,
}

impl WorkersOptions {
    /// Prefers these options to the section `[workers]` of a file, if workers are given.
    pub(super) fn or(
        &self,
        section: Option<&WorkersConfig>,
        resolve: impl Fn(&Path) -> PathBuf,
    ) -> Result<WorkersConfig, Failure> {
        match section.filter(|_| !self.is_given()) {
            Some(section) => {
                section.resolved(resolve).map_err(|what| Failure::usage(format!("[workers]: {what}")))
            }
            None => Ok(self.config()),
        }
    }

    pub(super) fn is_given(&self) -> bool {
        self.workers_listen.is_some() || self.workers.is_some()
    }

    /// Converts the options into the form of a file.
    pub(super) fn config(&self) -> WorkersConfig {
        let CoordinatorOptions { credentials, ca, cert, key, queue, sign } = self.nats.clone();
        WorkersConfig {
            listen: self.workers_listen,
            token_file: self.workers_token_file.clone(),
            tls_cert: self.workers_tls_cert.clone(),
            tls_key: self.workers_tls_key.clone(),
            nats: self.workers.clone(),
            credentials,
            ca,
            cert,
            key,
            queue: Some(queue),
            sign,
            timeout: Some(self.workers_timeout.clone()),
        }
    }
}

/// Says where workers get sets.
pub(super) fn announce(source: &SetSource, is_json: bool) -> Result<(), Failure> {
    let (line, text) = match source {
        SetSource::Address { address, token_file } => {
            let line = json::text(&WorkersListening { address: *address, token_file });
            let token_file = token_file.display();
            let start = format!("referee worker --connect {address} --token-file {token_file}");
            (line, format!("workers connect to {address}: {start}"))
        }
        SetSource::Queue { url, queue, trust } => {
            let url = url.as_str();
            let start = format!("referee worker --connect {url} --queue {queue} --trust {}", trust.display());
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

/// The workers of the run in this directory; `None` if there have never been any.
pub(super) fn status(directory: &Path) -> Result<Option<WorkersStatus>, Failure> {
    let Some(leases) = Leases::of_run(directory).map_err(Failure::cannot_run)? else { return Ok(None) };
    let now = Leases::now();
    let worker = |row: WorkerRow| {
        let hours = now.saturating_sub(row.joined_at).max(1) as f64 / 3600.0;
        let machine = serde_json::from_str(&row.machine).unwrap_or_default();
        WorkerStatus { sets_per_hour: f64::from(row.sets) / hours, machine, row }
    };
    let workers: Vec<WorkerStatus> =
        leases.workers().map_err(Failure::cannot_run)?.into_iter().map(worker).collect();
    let is_active = |of: &WorkerStatus| of.row.is_connected && of.row.state == MachineState::Active.as_str();
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

pub(super) fn status_text(status: &WorkersStatus) -> String {
    let row = |WorkerStatus { row: worker, machine, sets_per_hour }: &WorkerStatus| {
        let gone = if worker.is_connected { "" } else { ", not connected" };
        let WorkerRow { matches, faults, lost, duplicates, refused, .. } = worker;
        let mut cells = vec![worker.name.clone(), format!("{}{gone}", worker.state)];
        cells.extend([machine.slots.to_string(), worker.sets.to_string(), format!("{sets_per_hour:.0}")]);
        cells.extend([matches, faults, lost, duplicates, refused].map(u32::to_string));
        cells
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
    for WorkerStatus { row, .. } in &status.workers {
        if let Some(reason) = &row.reason {
            text += &format!("{}: {reason}\n", row.name);
        }
    }
    text += &format!(
        "{} queued, {} with workers or being verified\n",
        counted(status.queued, "set is", "sets are"),
        status.out.len()
    );
    if status.is_stuck {
        text += match status.workers.iter().filter(|worker| worker.row.is_connected).count() {
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
