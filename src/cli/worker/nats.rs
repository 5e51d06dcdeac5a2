//! A worker that uses a NATS server.

use std::path::Path;

use crate::cli::exit::Failure;
use crate::files::read_regular;
use crate::workers::machine::Machine;
use crate::workers::nats::{Broker, CarrierTimes, NatsWorker, TrustedKeys};

/// The keys of the coordinators that a worker trusts.
pub(super) fn trusted(file: Option<&Path>) -> Result<TrustedKeys, Failure> {
    let Some(file) = file else {
        return Err(Failure::usage(
            "--trust FILE is required with a NATS server: the public key of the coordinator, which is workers.sign.pub in \
             the directory of the run",
        ));
    };
    let wrong = |what: String| Failure::usage(format!("--trust {}: {what}", file.display()));
    let text = read_regular(file).map_err(|error| wrong(error.to_string()))?;
    TrustedKeys::parse(&String::from_utf8_lossy(&text)).map_err(|error| wrong(error.to_string()))
}

/// The end of a worker that uses this NATS server.
pub(super) fn worker(broker: Broker, machine: Machine, trusted: TrustedKeys) -> NatsWorker {
    NatsWorker { broker, machine, trusted, times: CarrierTimes::default() }
}
