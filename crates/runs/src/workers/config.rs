//! The table `[workers]` of a file.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::config::{Milliseconds, PemFiles, Setting, pem_files};
use referee_game::{Wrong, keys};

/// The least `timeout`, in milliseconds: workers report progress every 10 s.
const LEAST_TIMEOUT: u64 = 15_000;

/// The workers of a run, and the way in which they get sets.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WorkersConfig {
    /// The address for workers; port 0 picks a free port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    /// The file with their tokens; by default in the directory of the run, which is written with a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// The certificate chain of the listener; by default a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
    /// The NATS server from which they pull sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nats: Option<NatsUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<PathBuf>,
    /// Certificates that it may have, in addition to those that the system trusts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// The certificate of the coordinator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cert: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// The stream, and the first word of all subjects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueName>,
    /// The file with the key that signs messages to workers; by default in the directory of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign: Option<PathBuf>,
    /// The time after which a set without results and progress is given to another worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Setting<WorkersTimeout>>,
}

const UNPAIRED: &str = "a certificate and its key belong together";

impl WorkersConfig {
    pub fn is_given(&self) -> bool {
        self.listen.is_some() || self.nats.is_some()
    }

    /// The paths, which are relative to the file.
    pub fn paths(&mut self) -> [&mut Option<PathBuf>; 8] {
        let WorkersConfig { token_file, tls_cert, tls_key, credentials, ca, cert, key, sign, .. } = self;
        [token_file, tls_cert, tls_key, credentials, ca, cert, key, sign]
    }

    /// Makes the paths of the settings absolute with `resolve`.
    ///
    /// # Errors
    /// If the settings do not go together.
    pub fn resolved(&self, resolve: impl Fn(&Path) -> PathBuf) -> Result<WorkersConfig, Wrong> {
        match (&self.listen, &self.nats) {
            (Some(_), None) | (None, Some(_)) => {}
            (Some(_), Some(_)) => return Err("either `listen` or `nats`, not both".into()),
            (None, None) => return Err("it needs `listen` (an address) or `nats` (a URL)".into()),
        }
        self.certificate()?;
        self.identity()?;
        let mut config = self.clone();
        for path in config.paths().into_iter().flatten() {
            *path = resolve(path);
        }
        Ok(config)
    }

    pub fn default_timeout() -> Setting<WorkersTimeout> {
        Setting::written("5m", WorkersTimeout(Milliseconds(5 * 60 * 1000)))
    }

    /// The certificate of the listener, if it is given.
    pub(super) fn certificate(&self) -> Result<Option<PemFiles>, Wrong> {
        pem_files(self.tls_cert.clone(), self.tls_key.clone(), keys).map_err(|_| UNPAIRED.into())
    }

    /// The certificate of the coordinator and its key, if they are given.
    pub(super) fn identity(&self) -> Result<Option<(PathBuf, PathBuf)>, Wrong> {
        match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Ok(Some((cert.clone(), key.clone()))),
            (None, None) => Ok(None),
            _ => Err(UNPAIRED.into()),
        }
    }
}

/// The URL of a NATS server: `nats://HOST[:PORT]`, or `tls://HOST[:PORT]` to require TLS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NatsUrl(String);

impl NatsUrl {
    /// Returns whether this is such a URL.
    pub fn matches(text: &str) -> bool {
        ["nats://", "tls://"].iter().any(|scheme| text.starts_with(scheme))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NatsUrl {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<NatsUrl, Wrong> {
        NatsUrl::try_from(text.to_owned())
    }
}

impl TryFrom<String> for NatsUrl {
    type Error = Wrong;

    fn try_from(text: String) -> Result<NatsUrl, Wrong> {
        if NatsUrl::matches(&text) {
            Ok(NatsUrl(text))
        } else {
            Err("expected nats://HOST[:PORT] or tls://HOST[:PORT]".into())
        }
    }
}

impl From<NatsUrl> for String {
    fn from(url: NatsUrl) -> String {
        url.0
    }
}

/// The name of a queue at a NATS server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct QueueName(String);

impl QueueName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Default for QueueName {
    fn default() -> Self {
        QueueName("referee".to_owned())
    }
}

impl FromStr for QueueName {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<QueueName, Wrong> {
        QueueName::try_from(text.to_owned())
    }
}

impl TryFrom<String> for QueueName {
    type Error = Wrong;

    fn try_from(text: String) -> Result<QueueName, Wrong> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_valid = (1..=32).contains(&text.len()) && text.chars().all(is_plain);
        if is_valid {
            Ok(QueueName(text))
        } else {
            Err("expected 1 to 32 letters, digits, `-` and `_`".into())
        }
    }
}

impl From<QueueName> for String {
    fn from(name: QueueName) -> String {
        name.0
    }
}

/// The time after which a set without results and progress is given to another worker, 15 s or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkersTimeout(pub Milliseconds);

impl FromStr for WorkersTimeout {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<WorkersTimeout, Wrong> {
        match text.parse()? {
            timeout @ Milliseconds(LEAST_TIMEOUT..) => Ok(WorkersTimeout(timeout)),
            _ => Err(format!("`{text}` is less than 15s: workers report progress every 10 s").into()),
        }
    }
}

impl fmt::Display for WorkersTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
