//! The findings of the checks of a machine.

use std::path::PathBuf;

use serde::Serialize;

use crate::bot::sandbox::{Layer, Mode};
use crate::workers::calibration::Calibration;

/// The output of `referee sandbox check --json`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "sandbox_check")]
pub(in crate::cli) struct SandboxCheck {
    pub(in crate::cli) layers: Vec<LayerRow>,
    pub(in crate::cli) modes: Vec<ModeRow>,
    pub(in crate::cli) threats: Vec<ThreatRow>,
}

/// A layer, and whether this machine has it.
#[derive(Serialize)]
pub(in crate::cli) struct LayerRow {
    pub(in crate::cli) layer: Layer,
    pub(in crate::cli) holds: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) problem: Option<String>,
}

/// A mode, with the layers that the machine lacks left out.
#[derive(Serialize)]
pub(in crate::cli) struct ModeRow {
    pub(in crate::cli) mode: Mode,
    pub(in crate::cli) is_complete: bool,
    /// The time to start a program, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) start_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) problem: Option<String>,
}

/// The layers of this machine that stop a threat.
#[derive(Serialize)]
pub(in crate::cli) struct ThreatRow {
    pub(in crate::cli) threat: &'static str,
    pub(in crate::cli) strict: Vec<Layer>,
    pub(in crate::cli) basic: Vec<Layer>,
}

/// The output of `referee worker check --json`.
#[derive(Serialize)]
#[serde(tag = "type", rename = "worker_check")]
pub(in crate::cli) struct WorkerCheck {
    /// The processors that a worker may use.
    pub(in crate::cli) cores: usize,
    /// The model of the processors.
    pub(in crate::cli) processor: Option<String>,
    /// Available memory.
    pub(in crate::cli) memory_bytes: Option<u64>,
    pub(in crate::cli) calibration: Calibration,
    pub(in crate::cli) clock: ClockCheck,
    pub(in crate::cli) sandboxes: Vec<SandboxVerdict>,
    pub(in crate::cli) space: SpaceCheck,
    pub(in crate::cli) verdict: MachineVerdict,
}

#[derive(Serialize)]
pub(in crate::cli) struct ClockCheck {
    /// The name on Linux.
    pub(in crate::cli) source: Option<String>,
    /// The time to read it, in nanoseconds.
    pub(in crate::cli) read_ns: f64,
    /// The delay of a timer of 1 ms, the median and the maximum, in microseconds.
    pub(in crate::cli) timer_late_us: f64,
    pub(in crate::cli) timer_latest_us: f64,
}

/// A sandbox, and the layers of it that the machine lacks.
#[derive(Serialize)]
pub(in crate::cli) struct SandboxVerdict {
    pub(in crate::cli) mode: Mode,
    pub(in crate::cli) complete: bool,
    pub(in crate::cli) missing: Vec<Layer>,
}

/// The space for the archives of bots.
#[derive(Serialize)]
pub(in crate::cli) struct SpaceCheck {
    pub(in crate::cli) directory: PathBuf,
    pub(in crate::cli) free_bytes: u64,
}

/// The share of a machine in a run.
#[derive(Serialize)]
pub(in crate::cli) struct MachineVerdict {
    /// The default number of concurrent sets.
    pub(in crate::cli) sets: usize,
    /// Whether the machine gets matches with a clock.
    pub(in crate::cli) timed: bool,
    /// Whether the machine has space for the largest archive.
    pub(in crate::cli) archives: bool,
    /// The limits of its share, each with the reason.
    pub(in crate::cli) limits: Vec<String>,
}
