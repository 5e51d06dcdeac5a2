//! The options of workers over NATS.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::Failure;
use crate::store::Leases;
use crate::workers::Coordinator;

/// The default queue.
pub(super) const QUEUE: &str = "referee";

/// How a coordinator uses the NATS server.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct CoordinatorOptions {
    /// A file with the credentials for the NATS server: one of NATS (.creds), or a line USER:PASSWORD or with a token
    #[arg(long = "workers-credentials", value_name = "FILE", requires = "workers")]
    pub(super) credentials: Option<PathBuf>,
    /// A PEM file with certificates that the NATS server may have, in addition to those that the system trusts
    #[arg(long = "workers-ca", value_name = "FILE", requires = "workers")]
    pub(super) ca: Option<PathBuf>,
    /// A PEM file with the certificate of the coordinator, for a NATS server that verifies its clients
    #[arg(long = "workers-cert", value_name = "FILE", requires_all = ["workers", "key"])]
    pub(super) cert: Option<PathBuf>,
    /// A PEM file with the private key of this certificate
    #[arg(long = "workers-key", value_name = "FILE", requires = "cert")]
    pub(super) key: Option<PathBuf>,
    /// The queue at the NATS server: its stream, and the first word of all subjects
    #[arg(long = "workers-queue", value_name = "NAME", default_value = QUEUE, value_parser = queue, requires = "workers")]
    pub(super) queue: String,
}

/// Whether this is the URL of a NATS server.
pub(super) fn is_url(text: &str) -> bool {
    ["nats://", "tls://"].iter().any(|scheme| text.starts_with(scheme))
}

/// Parses the URL of a NATS server.
pub(super) fn url(text: &str) -> Result<String, String> {
    if is_url(text) {
        Ok(text.to_owned())
    } else {
        Err("expected nats://HOST[:PORT] or tls://HOST[:PORT]".to_owned())
    }
}

/// Parses the name of a queue.
pub(super) fn queue(text: &str) -> Result<String, String> {
    let is_valid = (1..=32).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_valid {
        Ok(text.to_owned())
    } else {
        Err("expected 1 to 32 letters, digits, `-` and `_`".to_owned())
    }
}

#[cfg(feature = "nats")]
mod with_nats {
    use super::{Coordinator, CoordinatorOptions, Duration, Failure, Leases, PathBuf};
    use crate::workers::machine::Machine;
    use crate::workers::nats::{Broker, CarrierTimes, NatsCoordinator, NatsWorker};

    /// Starts a coordinator whose workers use this NATS server.
    pub(in crate::cli) fn coordinator(
        url: &str,
        options: &CoordinatorOptions,
        archives: PathBuf,
        leases: Leases,
        timeout: Duration,
    ) -> Result<Coordinator, Failure> {
        let CoordinatorOptions { credentials, ca, cert, key, queue } = options.clone();
        let broker = Broker { url: url.to_owned(), queue, credentials, ca, identity: cert.zip(key) };
        let run = leases.run().map_err(Failure::cannot_run)?;
        let end = NatsCoordinator { broker, run, archives, times: CarrierTimes::default() };
        Coordinator::start(end, leases, timeout).map_err(Failure::cannot_run)
    }

    /// The end of a worker that uses this NATS server.
    pub(in crate::cli) fn worker(broker: Broker, machine: Machine) -> NatsWorker {
        NatsWorker { broker, machine, times: CarrierTimes::default() }
    }
}

#[cfg(feature = "nats")]
pub(super) use with_nats::{coordinator, worker};

/// The error of a program without NATS.
#[cfg(not(feature = "nats"))]
pub(super) fn missing(option: &str) -> Failure {
    Failure::usage(format!("{option}: this program was built without NATS: `cargo install --features nats`"))
}

/// Starts no coordinator.
#[cfg(not(feature = "nats"))]
pub(super) fn coordinator(
    _url: &str,
    _options: &CoordinatorOptions,
    _archives: PathBuf,
    _leases: Leases,
    _timeout: Duration,
) -> Result<Coordinator, Failure> {
    Err(missing("--workers"))
}
