//! The options of workers over NATS.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::cli::Failure;
use crate::store::Leases;
use crate::workers::Coordinator;
use crate::workers::trial::TrialDesk;

/// The default queue.
pub(super) const QUEUE: &str = "referee";

/// Coordinators, and what lets their workers try programs.
pub(super) type Coordinated = (Vec<Coordinator>, Option<TrialDesk>);

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
    /// A file with the key that signs what workers get; created if it is missing. Workers need a copy of the public key, which is
    /// beside it as FILE.pub [default: workers.sign in the directory of the run]
    #[arg(long = "workers-sign", value_name = "FILE", requires = "workers")]
    pub(super) sign: Option<PathBuf>,
}

/// The file with the key of a coordinator in the directory of a run.
const SIGN: &str = "workers.sign";

/// The file with the public key of the coordinator of the run in this directory.
pub(super) fn public_key(options: &CoordinatorOptions, directory: &Path) -> PathBuf {
    let mut path = sign_file(options, directory).into_os_string();
    path.push(".pub");
    path.into()
}

fn sign_file(options: &CoordinatorOptions, directory: &Path) -> PathBuf {
    options.sign.clone().unwrap_or_else(|| directory.join(SIGN))
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
    use std::io::Write;

    use super::{
        Coordinated, Coordinator, CoordinatorOptions, Duration, Failure, Leases, Path, PathBuf, public_key,
        sign_file,
    };
    use crate::files::{Folder, read_regular, read_secret};
    use crate::workers::machine::Machine;
    use crate::workers::nats::{
        Broker, CarrierTimes, NatsCoordinator, NatsTrials, NatsWorker, SigningKey, TrustedKeys,
    };

    /// The key that signs what the workers of this run get; makes one, with its public key, if there is none.
    fn signing_key(options: &CoordinatorOptions, directory: &Path) -> Result<SigningKey, Failure> {
        let file = sign_file(options, directory);
        let wrong = |what: String| Failure::usage(format!("--workers-sign {}: {what}", file.display()));
        let create = |file: &Path, text: &str| {
            let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let made = Folder::open(parent.unwrap_or(Path::new("."))).and_then(|folder| folder.create(name));
            made.and_then(|mut made| made.write_all(text.as_bytes()))
                .map_err(|error| wrong(error.to_string()))
        };
        if !file.exists() {
            create(&file, &SigningKey::generate().map_err(Failure::cannot_run)?)?;
        }
        let text = read_secret(&file).map_err(|error| wrong(error.to_string()))?;
        let key = SigningKey::parse(&text).map_err(|error| wrong(error.to_string()))?;
        let public = public_key(options, directory);
        if !public.exists() {
            create(&public, &format!("{}\n", key.public()))?;
        }
        Ok(key)
    }

    /// The keys of the coordinators that a worker trusts.
    pub(in crate::cli) fn trusted(file: Option<&Path>) -> Result<TrustedKeys, Failure> {
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

    /// Starts a coordinator for each of these leases whose workers use this NATS server. With `has_trials` they also try
    /// programs.
    pub(in crate::cli) fn coordinators(
        url: &str,
        options: &CoordinatorOptions,
        (directory, archives): (&Path, PathBuf),
        leases: Vec<Leases>,
        (timeout, has_trials): (Duration, bool),
    ) -> Result<Coordinated, Failure> {
        let signing = || signing_key(options, directory);
        let CoordinatorOptions { credentials, ca, cert, key, queue, .. } = options.clone();
        let broker = Broker { url: url.to_owned(), queue, credentials, ca, identity: cert.zip(key) };
        let times = CarrierTimes::default();
        let (desk, trials) = if has_trials {
            let (broker, archives) = (broker.clone(), archives.clone());
            let trials = NatsTrials { broker, archives, key: signing()?, times };
            trials.start().map(|(desk, trials)| (Some(desk), Some(trials))).map_err(Failure::cannot_run)?
        } else {
            (None, None)
        };
        let coordinator = |leases: Leases| {
            let run = leases.run().map_err(Failure::cannot_run)?;
            let (broker, archives, trials) = (broker.clone(), archives.clone(), trials.clone());
            let end = NatsCoordinator { broker, run, archives, key: signing()?, times, trials };
            Coordinator::start(end, leases, timeout).map_err(Failure::cannot_run)
        };
        Ok((leases.into_iter().map(coordinator).collect::<Result<_, _>>()?, desk))
    }

    /// The end of a worker that uses this NATS server.
    pub(in crate::cli) fn worker(broker: Broker, machine: Machine, trusted: TrustedKeys) -> NatsWorker {
        NatsWorker { broker, machine, trusted, times: CarrierTimes::default() }
    }
}

#[cfg(feature = "nats")]
pub(super) use with_nats::{coordinators, trusted, worker};

/// The error of a program without NATS.
#[cfg(not(feature = "nats"))]
pub(super) fn missing(option: &str) -> Failure {
    Failure::usage(format!("{option}: this program was built without NATS: `cargo install --features nats`"))
}

/// Starts no coordinator.
#[cfg(not(feature = "nats"))]
pub(super) fn coordinators(
    _url: &str,
    _options: &CoordinatorOptions,
    _files: (&Path, PathBuf),
    _leases: Vec<Leases>,
    _of: (Duration, bool),
) -> Result<Coordinated, Failure> {
    Err(missing("--workers"))
}
