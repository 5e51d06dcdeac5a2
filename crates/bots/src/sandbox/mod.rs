//! Sandboxes for bots: which layers confine a bot, its limits, and the files and networks that it may reach.
//!
//! [`Sandbox`] is the configuration of one bot. The launcher applies it in the bot's process, right before the bot's
//! program runs; see `confine` and `bubblewrap`.

mod bubblewrap;
mod cgroup;
#[cfg(target_os = "linux")]
mod confine;
mod confinement;
mod layer;
#[cfg(target_os = "linux")]
mod seccomp;
mod size;
mod threat;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use referee_game::{Chain, Wrong};
use serde::{Deserialize, Serialize};

use crate::Command;

pub(super) use bubblewrap::arguments;
#[cfg(target_os = "linux")]
pub(super) use bubblewrap::protect_devices;
pub(super) use cgroup::Cgroup;
#[cfg(target_os = "linux")]
pub(super) use confine::confine;
pub(super) use confinement::{Confinement, ConfinementGuard};
pub use layer::Layer;
pub use size::Size;
pub use threat::{Threat, threats};
pub(super) use view::View;

/// The part of the system that a bot reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    None,
    /// Files and the network, but neither other processes nor unusual parts of the kernel.
    Basic,
    /// The bot itself alone: its own files, processes, network and limits.
    Strict,
}

impl Mode {
    pub fn layers(self) -> BTreeSet<Layer> {
        match self {
            Mode::None => BTreeSet::new(),
            Mode::Basic => {
                [Layer::NoNewPrivs, Layer::Rlimits, Layer::Seccomp, Layer::Landlock, Layer::LandlockScope]
                    .into()
            }
            Mode::Strict => Layer::ALL.into(),
        }
    }

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::None => "none",
            Mode::Basic => "basic",
            Mode::Strict => "strict",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = Wrong;
    fn from_str(text: &str) -> Result<Mode, Wrong> {
        [Mode::None, Mode::Basic, Mode::Strict]
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| format!("unknown sandbox `{text}`; available: strict, basic, none").into())
    }
}

/// The limits of a bot, and the files and networks that it may reach. Missing values have the defaults of the
/// mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BotLimits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Size>,
    /// The number of its processes and threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
    /// Processors: 1.5 for three seconds of CPU time in two seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// The size of its temporary directory, and of the largest file that it may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch: Option<Size>,
    /// Whether the bot may use the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Further files and directories that it may read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PathBuf>,
}

impl BotLimits {
    /// Takes missing limits from `common`. Readable paths add up.
    pub fn or(self, common: &BotLimits) -> BotLimits {
        BotLimits {
            memory: self.memory.or(common.memory),
            processes: self.processes.or(common.processes),
            cpus: self.cpus.or(common.cpus),
            scratch: self.scratch.or(common.scratch),
            network: self.network.or(common.network),
            read: common.read.iter().cloned().chain(self.read).collect(),
        }
    }

    /// Completes the limits with the defaults of a mode.
    fn of(self, mode: Mode) -> BotLimits {
        let defaults = match mode {
            Mode::None | Mode::Basic => BotLimits { network: Some(true), ..BotLimits::default() },
            Mode::Strict => BotLimits {
                memory: Some(Size::mebibytes(2048)),
                processes: Some(256),
                cpus: Some(1.0),
                scratch: Some(Size::mebibytes(256)),
                network: Some(false),
                read: Vec::new(),
            },
        };
        self.or(&defaults)
    }

    /// Returns whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == BotLimits::default()
    }

    /// Validates the values.
    ///
    /// # Errors
    /// The first limit that is out of its range.
    pub fn check(&self) -> Result<(), InvalidLimit> {
        let wrong = |limit, why: Wrong| Err(InvalidLimit { limit, why });
        if self.memory.is_some_and(|memory| memory < Size::mebibytes(16)) {
            return wrong("memory", "at least 16MiB".into());
        }
        if self.processes == Some(0) {
            return wrong("processes", "at least 1".into());
        }
        if self.cpus.is_some_and(|cpus| !(0.01..=1024.0).contains(&cpus)) {
            return wrong("cpus", "from 0.01 to 1024".into());
        }
        if let Some(missing) = self.read.iter().find(|path| !path.exists()) {
            return wrong("read", format!("{} does not exist", missing.display()).into());
        }
        Ok(())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sandbox {
    mode: Mode,
    layers: BTreeSet<Layer>,
    limits: BotLimits,
    /// The files of other bots, which the bot must not see unless its limits name them.
    #[serde(skip)]
    others: Vec<PathBuf>,
}

/// Returns whether other layers replace this one: a PID namespace hides more than signals.
fn is_replaced(layer: Layer, layers: &BTreeSet<Layer>) -> bool {
    layer == Layer::LandlockScope && layers.contains(&Layer::Bubblewrap)
}

/// The layers of a mode that this machine lacks, each with what is wrong and what would help.
pub type MissingLayers = BTreeMap<Layer, Wrong>;

impl Sandbox {
    /// A sandbox with the layers of `mode`.
    ///
    /// # Errors
    /// The missing layers that are not in `allowed`, or an invalid limit.
    pub fn new(mode: Mode, allowed: &BTreeSet<Layer>, limits: BotLimits) -> Result<Sandbox, Unavailable> {
        limits.check()?;
        let (mut layers, mut missing) = (BTreeSet::new(), MissingLayers::new());
        for layer in mode.layers() {
            match layer.probe() {
                Ok(()) => drop(layers.insert(layer)),
                Err(_) if allowed.contains(&layer) => {}
                Err(_) if is_replaced(layer, &layers) => {}
                Err(why) => drop(missing.insert(layer, why)),
            }
        }
        // Alone it has to protect the contents of files, too.
        #[cfg(target_os = "linux")]
        if mode == Mode::Strict
            && !layers.contains(&Layer::Bubblewrap)
            && layers.contains(&Layer::Landlock)
            && let Err(why) = confine::has_landlock_truncate()
        {
            layers.remove(&Layer::Landlock);
            if !allowed.contains(&Layer::Landlock) {
                missing.insert(Layer::Landlock, why);
            }
        }
        if missing.is_empty() {
            Ok(Sandbox { mode, layers, limits: limits.of(mode), others: Vec::new() })
        } else {
            Err(Unavailable::Layers(mode, missing))
        }
    }

    /// A sandbox on another machine, which needs all layers of `mode` but these. It is not known whether it has them.
    ///
    /// # Errors
    /// An invalid limit.
    pub fn elsewhere(
        mode: Mode,
        left_out: &BTreeSet<Layer>,
        limits: BotLimits,
    ) -> Result<Sandbox, Unavailable> {
        limits.check()?;
        let layers = mode.layers().difference(left_out).copied().collect();
        Ok(Sandbox { mode, layers, limits: limits.of(mode), others: Vec::new() })
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    pub fn layers(&self) -> &BTreeSet<Layer> {
        &self.layers
    }

    /// The layers of its mode that were left out because the machine lacks them.
    pub fn left_out(&self) -> BTreeSet<Layer> {
        let is_missing = |layer: &Layer| !self.layers.contains(layer) && !is_replaced(*layer, &self.layers);
        self.mode.layers().into_iter().filter(is_missing).collect()
    }

    /// The first layer of another sandbox that this one lacks.
    pub fn lacks(&self, other: &Sandbox) -> Option<Layer> {
        let is_missing = |layer: &&Layer| !self.has(**layer) && !is_replaced(**layer, &self.layers);
        other.layers.iter().find(is_missing).copied()
    }

    /// Returns whether it is the default of bots: `basic` with all its layers.
    pub fn is_default(&self) -> bool {
        self.mode == Mode::Basic && self.left_out().is_empty()
    }

    /// The limits, with the defaults of the mode.
    pub fn limits(&self) -> &BotLimits {
        &self.limits
    }

    /// Returns this sandbox with the limits of one bot.
    ///
    /// # Errors
    /// An invalid limit.
    pub fn with(&self, limits: BotLimits) -> Result<Sandbox, InvalidLimit> {
        limits.check()?;
        Ok(Sandbox { limits: limits.or(&self.limits), ..self.clone() })
    }

    fn others(&self) -> &[PathBuf] {
        &self.others
    }

    pub(super) fn has(&self, layer: Layer) -> bool {
        self.layers.contains(&layer)
    }

    /// Returns whether the bot reaches only some files.
    pub(super) fn confines_files(&self) -> bool {
        self.mode == Mode::Strict && (self.has(Layer::Landlock) || self.has(Layer::Bubblewrap))
    }

    /// Returns whether the bot may use the network.
    pub(super) fn has_network(&self) -> bool {
        self.limits.network != Some(false)
    }
}

/// The mode and its layers: `strict (no_new_privs, rlimits, ...; without cgroup)`.
impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |layers: &BTreeSet<Layer>| {
            layers.iter().map(|layer| layer.as_str()).collect::<Vec<_>>().join(", ")
        };
        self.mode.fmt(f)?;
        match (&self.layers, &self.left_out()) {
            _ if self.mode == Mode::None => Ok(()),
            (layers, left_out) if left_out.is_empty() => write!(f, " ({})", names(layers)),
            (layers, left_out) => write!(f, " ({}; without {})", names(layers), names(left_out)),
        }
    }
}

/// Keeps the files of the other bots out of the view of each bot.
pub fn separate(bots: &mut [&mut Command]) {
    let files: Vec<Vec<PathBuf>> =
        bots.iter().map(|bot| view::named_files(bot).map(|file| view::resolved(&file)).collect()).collect();
    for (bot, own) in bots.iter_mut().zip(&files) {
        bot.sandbox.others = files.iter().flatten().filter(|file| !own.contains(file)).cloned().collect();
    }
}

/// A limit of a bot that is out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{limit}")]
pub struct InvalidLimit {
    /// The key of the limit.
    pub limit: &'static str,
    #[source]
    pub why: Wrong,
}

/// Reasons why a sandbox cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unavailable {
    #[error(transparent)]
    Limit(#[from] InvalidLimit),
    #[error("the sandbox `{0}` is not available:{lines}", lines = lines(.1))]
    Layers(Mode, MissingLayers),
}

fn lines(missing: &MissingLayers) -> String {
    missing.iter().map(|(layer, why)| format!("\n  {layer}: {}", Chain(why))).collect()
}
