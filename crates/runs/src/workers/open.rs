//! Opens the coordinators of runs.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use referee_files::{Folder, StorageWait, read_secret};
use referee_game::{Wrong, hex};
use referee_store::{Leases, StoreError};
use referee_transport::Certificate;
use referee_workers::Coordinator;
use referee_workers::builtin::BuiltInCoordinator;
use referee_workers::packing::ARCHIVES;
use referee_workers::shared::share;
use referee_workers::trial::TrialQueue;
use sha2::{Digest, Sha256};

use crate::Placement;
use crate::RunError;
use crate::config::{PemFiles, read_tokens};
use crate::workers::{NatsUrl, WorkersConfig};

/// The file in the directory of a run with which workers are admitted: a token, and the certificate of the coordinator.
const TOKEN_FILE: &str = "workers.token";
/// The private key of the certificate.
const KEY_FILE: &str = "workers.key";
/// The name of the token in that file.
const TOKEN_NAME: &str = "worker";

/// The coordinators of some runs, and the files of their workers.
#[derive(Debug)]
pub struct OpenedWorkers {
    /// The coordinators, one for each of the leases, in order.
    pub coordinators: Vec<Coordinator>,
    /// Lets workers try programs.
    pub trials: Option<TrialQueue>,
    pub source: SetSource,
}

#[derive(Clone, Debug)]
pub enum SetSource {
    /// Workers connect to the coordinator.
    Address {
        address: SocketAddr,
        /// The file to give to them.
        token_file: PathBuf,
    },
    /// Workers and the coordinator use a NATS server.
    Queue {
        url: NatsUrl,
        queue: String,
        /// The file with the public key to give to them.
        trust: PathBuf,
    },
}

#[cfg(not(feature = "nats"))]
pub const WITHOUT_NATS: &str = "this program was built without NATS: `cargo install --features nats`";

pub(super) fn of_section(why: Wrong) -> RunError {
    Wrong::at("[workers]", why).into()
}

/// The leases of the run in this directory. Without workers there are only those of an earlier process.
///
/// # Errors
/// Errors of the database.
pub fn leases(directory: &Path, has_workers: bool) -> Result<Option<Leases>, StoreError> {
    if has_workers {
        return Leases::open(&Folder::open(directory)?, &run_id()?).map(Some);
    }
    Leases::of_run(directory)
}

fn run_id() -> io::Result<[u8; 16]> {
    let mut id = [0; 16];
    getrandom::fill(&mut id)?;
    Ok(id)
}

impl OpenedWorkers {
    /// Returns the placement of the only run: on its workers, if it has any, with this directory.
    pub fn placement(opened: Option<OpenedWorkers>, directory: &Path) -> Placement {
        match opened.and_then(|mut opened| opened.coordinators.pop()) {
            None => Placement::Here,
            Some(coordinator) => {
                Placement::Workers { coordinator: Box::new(coordinator), directory: directory.to_owned() }
            }
        }
    }
}

impl WorkersConfig {
    /// Starts a coordinator for the run in this directory; `None` if the run is played here. With `stored`, the run can be
    /// resumed: what workers have is stored there, and waits in this way while the disk is full.
    ///
    /// # Errors
    /// If workers cannot play.
    pub fn open_run(
        &self,
        directory: &Path,
        stored: Option<&StorageWait>,
    ) -> Result<Option<OpenedWorkers>, RunError> {
        if !self.is_given() {
            return Ok(None);
        }
        let leases = match stored {
            Some(wait) => leases(directory, true).map(|of| of.map(|of| of.waiting(wait.clone()))),
            None => run_id().map_err(StoreError::from).and_then(|run| Leases::in_memory(&run)).map(Some),
        };
        self.open(directory, leases.map_err(|why| RunError::at(directory, why))?.into_iter().collect(), false)
    }

    /// Starts a coordinator for each of these leases. `directory` has tokens of workers, and archives. With
    /// `has_trials` workers also try programs.
    ///
    /// # Errors
    /// If workers cannot play.
    pub fn open(
        &self,
        directory: &Path,
        leases: Vec<Leases>,
        has_trials: bool,
    ) -> Result<Option<OpenedWorkers>, RunError> {
        let timeout = self.timeout.clone().unwrap_or_else(WorkersConfig::default_timeout).0.duration();
        if let Some(address) = self.listen {
            return self.listen(address, directory, leases, timeout).map(Some);
        }
        let Some(url) = &self.nats else { return Ok(None) };
        self.pull(url, directory, leases, timeout, has_trials).map(Some)
    }

    #[cfg(not(feature = "nats"))]
    fn pull(
        &self,
        _: &NatsUrl,
        _: &Path,
        _: Vec<Leases>,
        _: Duration,
        _: bool,
    ) -> Result<OpenedWorkers, RunError> {
        Err(RunError::from(Wrong::from(WITHOUT_NATS)))
    }

    /// Starts coordinators to which workers connect.
    fn listen(
        &self,
        address: SocketAddr,
        directory: &Path,
        leases: Vec<Leases>,
        timeout: Duration,
    ) -> Result<OpenedWorkers, RunError> {
        let wrong = |why: io::Error| RunError::at(directory, why);
        let folder = Folder::open(directory).map_err(wrong)?;
        let (own, key) = (directory.join(TOKEN_FILE), directory.join(KEY_FILE));
        let certificate = match self.certificate().map_err(of_section)? {
            Some(PemFiles { chain, key }) => Certificate::read(&chain, &key)
                .map_err(|why| RunError::from(Wrong::at("the certificate for workers", why)))?,
            None => {
                Certificate::kept(address.ip(), &own, &key).map_err(|why| RunError::at(directory, why))?
            }
        };
        if !own.exists() {
            folder.create(TOKEN_FILE).map_err(wrong)?;
        }
        let mut text = read_secret(&own).map_err(wrong)?;
        if !text.lines().any(|line| line.starts_with(TOKEN_NAME)) {
            let mut token = [0; 32];
            getrandom::fill(&mut token).map_err(io::Error::from)?;
            text = format!("{TOKEN_NAME}={}\n{text}", hex::encode(&token));
            folder.replace(TOKEN_FILE, text.as_bytes()).map_err(wrong)?;
        }
        let token_file = self.token_file.clone().unwrap_or(own);
        let tokens = read_tokens(&token_file).map_err(|why| {
            RunError::from(Wrong::at(format!("the tokens of workers, {}", token_file.display()), why))
        })?;
        if tokens.is_empty() {
            return Err(RunError::from(format!(
                "the tokens of workers, {}: it has no line NAME=TOKEN",
                token_file.display()
            )));
        }
        let tokens = tokens.into_iter().map(|(name, token)| (name, Sha256::digest(token).into()));
        let tokens: BTreeMap<_, _> = tokens.collect();
        let end = BuiltInCoordinator::bind(address, certificate.config(), tokens, directory.join(ARCHIVES))
            .map_err(|why| {
            RunError::machine(Wrong::at(format!("workers cannot connect to {address}"), why))
        })?;
        let address = end.address()?;
        let (coordinators, desk) = share(end, leases, timeout)?;
        Ok(OpenedWorkers {
            coordinators,
            trials: Some(desk),
            source: SetSource::Address { address, token_file },
        })
    }
}
