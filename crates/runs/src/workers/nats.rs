//! Workers that pull sets from a NATS server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use referee_game::Wrong;
use referee_store::Leases;
use referee_workers::Coordinator;
use referee_workers::nats::{Broker, CarrierTimes, NatsCoordinator, NatsTrials, SigningKey};
use referee_workers::packing::ARCHIVES;

use crate::RunError;
use crate::workers::open::of_section;
use crate::workers::{NatsUrl, OpenedWorkers, SetSource, WorkersConfig};

/// The file with the key of a coordinator in the directory of a run.
const SIGN: &str = "workers.sign";

impl WorkersConfig {
    /// Starts a coordinator for each of these leases. With `has_trials` workers also try programs.
    pub(super) fn pull(
        &self,
        url: &NatsUrl,
        directory: &Path,
        leases: Vec<Leases>,
        timeout: Duration,
        has_trials: bool,
    ) -> Result<OpenedWorkers, RunError> {
        let (file, trust) = self.keys(directory);
        let key = || {
            let kept = SigningKey::kept(&file, &trust);
            kept.map_err(|why| {
                RunError::from(Wrong::at(
                    format!("the key that signs what workers get, {}", file.display()),
                    why,
                ))
            })
        };
        let archives = directory.join(ARCHIVES);
        let queue = self.queue.clone().unwrap_or_default().as_str().to_owned();
        let broker = Broker {
            url: url.as_str().to_owned(),
            queue: queue.clone(),
            credentials: self.credentials.clone(),
            ca: self.ca.clone(),
            identity: self.identity().map_err(of_section)?,
        };
        let times = CarrierTimes::default();
        let (desk, trials) = if has_trials {
            let (broker, archives) = (broker.clone(), archives.clone());
            let (desk, trials) = NatsTrials { broker, archives, key: key()?, times }.start()?;
            (Some(desk), Some(trials))
        } else {
            (None, None)
        };
        let coordinator = |leases: Leases| {
            let run = leases.run()?;
            let (broker, archives, trials) = (broker.clone(), archives.clone(), trials.clone());
            let end = NatsCoordinator { broker, run, archives, key: key()?, times, trials };
            Ok(Coordinator::start(end, leases, timeout)?)
        };
        let coordinators = leases.into_iter().map(coordinator).collect::<Result<_, RunError>>()?;
        let source = SetSource::Queue { url: url.clone(), queue, trust };
        Ok(OpenedWorkers { coordinators, trials: desk, source })
    }

    /// The file with the key that signs messages to the workers of the run in this directory, if they use
    /// NATS, and that with its public key.
    fn keys(&self, directory: &Path) -> (PathBuf, PathBuf) {
        let file = self.sign.clone().unwrap_or_else(|| directory.join(SIGN));
        let mut public = file.clone().into_os_string();
        public.push(".pub");
        (file, public.into())
    }
}
