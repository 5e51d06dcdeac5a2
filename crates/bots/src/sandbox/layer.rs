//! The layers of a sandbox, and whether this machine has them.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use referee_game::Wrong;
use serde::{Deserialize, Serialize};

/// A mechanism of the kernel that confines a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// `PR_SET_NO_NEW_PRIVS`: setuid programs gain nothing.
    NoNewPrivs,
    /// Resource limits of each process.
    Rlimits,
    /// A filter of system calls.
    Seccomp,
    /// Namespaces for processes, files, network, IPC and users, by bubblewrap.
    Bubblewrap,
    /// Access control for files, and for memory and descriptors of other processes.
    Landlock,
    /// Landlock for signals and abstract Unix sockets.
    LandlockScope,
    /// A control group that limits memory, processes and CPU time.
    Cgroup,
}

impl Layer {
    /// The layers, each after those that it depends on.
    pub const ALL: [Layer; 7] = [
        Layer::NoNewPrivs,
        Layer::Rlimits,
        Layer::Seccomp,
        Layer::Bubblewrap,
        Layer::Landlock,
        Layer::LandlockScope,
        Layer::Cgroup,
    ];

    /// The name in records and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Layer::NoNewPrivs => "no_new_privs",
            Layer::Rlimits => "rlimits",
            Layer::Seccomp => "seccomp",
            Layer::Bubblewrap => "bubblewrap",
            Layer::Landlock => "landlock",
            Layer::LandlockScope => "landlock_scope",
            Layer::Cgroup => "cgroup",
        }
    }

    /// Tries whether this machine has the layer. Later calls return the first result.
    ///
    /// # Errors
    /// What is wrong, and what to install or to allow.
    pub fn probe(self) -> Result<(), Wrong> {
        static RESULTS: [OnceLock<Result<(), Wrong>>; 7] = [const { OnceLock::new() }; 7];
        RESULTS[self as usize].get_or_init(|| self.try_it()).clone()
    }

    #[cfg(target_os = "linux")]
    fn try_it(self) -> Result<(), Wrong> {
        use super::confine::{has_landlock, has_landlock_scope};
        match self {
            Layer::NoNewPrivs | Layer::Rlimits => Ok(()),
            Layer::Seccomp => {
                let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
                if status.lines().any(|line| line.starts_with("Seccomp:")) {
                    Ok(())
                } else {
                    Err(Wrong::new("the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)"))
                }
            }
            Layer::Bubblewrap => super::bubblewrap::probe(),
            Layer::Landlock => has_landlock(),
            Layer::LandlockScope => has_landlock_scope(),
            Layer::Cgroup => super::cgroup::subtree().map(drop),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn try_it(self) -> Result<(), Wrong> {
        Err(Wrong::new("needs Linux"))
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Layer {
    type Err = Wrong;
    fn from_str(text: &str) -> Result<Layer, Wrong> {
        let found = Layer::ALL.into_iter().find(|layer| layer.as_str() == text);
        found.ok_or_else(|| {
            let all = Layer::ALL.map(Layer::as_str).join(", ");
            format!("unknown layer `{text}`; available: {all}").into()
        })
    }
}
