//! The table `[submissions]` of the file of a league.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::bot::sandbox::{BotLimits, Layer, Mode, Sandbox, Size, Unavailable};
use crate::cli::Failure;
use crate::runs::config::{Milliseconds, Setting};
use crate::runs::submissions::SubmissionTerms;
use crate::store::SubmissionQuota;
use crate::workers::archive::ArchiveLimits;

/// Programs that owners hand in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(in crate::cli) struct SubmissionsConfig {
    approve: bool,
    /// Where they are built and checked; the server if it can, otherwise workers, unless it is given.
    on: Option<BuildsOn>,
    /// The size of the files in an archive.
    archive: Size,
    /// The number of files in it.
    files: u32,
    build_time: Setting<Milliseconds>,
    build_memory: Size,
    build_processes: u32,
    build_cpus: f64,
    /// The size of the directory in which a build runs.
    build_space: Size,
    /// The size of the files that are there after a build.
    result: Size,
    /// The number of files after a build.
    result_files: u32,
    check_time: Setting<Milliseconds>,
    waiting: u32,
    per_day: u32,
}

/// Where programs are built and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum BuildsOn {
    Server,
    Workers,
}

impl Default for SubmissionsConfig {
    fn default() -> SubmissionsConfig {
        SubmissionsConfig {
            approve: false,
            on: None,
            archive: Size::mebibytes(64),
            files: 10_000,
            build_time: Setting::written("120s", Milliseconds(120_000)),
            build_memory: Size::mebibytes(2048),
            build_processes: 256,
            build_cpus: 1.0,
            build_space: Size::mebibytes(1024),
            result: Size::mebibytes(256),
            result_files: 20_000,
            check_time: Setting::written("5m", Milliseconds(300_000)),
            waiting: 2,
            per_day: 10,
        }
    }
}

impl SubmissionsConfig {
    /// Where they are built and checked, if the file says it.
    pub(in crate::cli) fn builds_on(&self) -> Option<BuildsOn> {
        self.on
    }

    /// Validates the table. `bots` is the maximum number of bots of an owner.
    pub(in crate::cli) fn terms(&self, bots: u32) -> Result<SubmissionTerms, Failure> {
        let wrong = |key: &str, what: String| Failure::usage(format!("[submissions] {key}: {what}"));
        let time = |key: &str, text: &Setting<Milliseconds>| {
            let range = || wrong(key, format!("`{text}` is not from 1ms to 24h"));
            Some(text.duration()).filter(|time| !time.is_zero()).ok_or_else(range)
        };
        let most = ArchiveLimits::BOT;
        let archive = |keys: [&str; 2], size: Size, files: u32| {
            if !(1..=most.bytes).contains(&size.bytes()) {
                return Err(wrong(keys[0], format!("{size} is not from 1 byte to {} GiB", most.bytes >> 30)));
            }
            if !(1..=most.entries).contains(&(files as usize)) {
                return Err(wrong(keys[1], format!("{files} is not from 1 to {}", most.entries)));
            }
            Ok(ArchiveLimits { bytes: size.bytes(), entries: files as usize })
        };
        let build = BotLimits {
            memory: Some(self.build_memory),
            processes: Some(self.build_processes),
            cpus: Some(self.build_cpus),
            scratch: Some(self.build_space),
            network: Some(false),
            read: Vec::new(),
        };
        build.check().map_err(|what| wrong("build", what.to_string()))?;
        for (key, value) in [("waiting", self.waiting), ("per_day", self.per_day)] {
            if !(1..=10_000).contains(&value) {
                return Err(wrong(key, format!("{value} is not from 1 to 10000")));
            }
        }
        Ok(SubmissionTerms {
            archive: archive(["archive", "files"], self.archive, self.files)?,
            result: archive(["result", "result_files"], self.result, self.result_files)?,
            build_time: time("build_time", &self.build_time)?,
            check_time: time("check_time", &self.check_time)?,
            build,
            quota: SubmissionQuota { waiting: self.waiting, per_day: self.per_day, bots },
            needs_approval: self.approve,
        })
    }
}

/// The sandbox of a program that was handed in: `strict` with all of its layers and without network, whatever the league
/// allows its own programs.
pub(in crate::cli) fn submitted_sandbox(limits: BotLimits) -> Result<Sandbox, Unavailable> {
    let limits = BotLimits { network: Some(false), ..limits };
    Sandbox::new(Mode::Strict, &untested_layers(), limits)
}

/// The same on workers, which have the layers that this machine lacks.
pub(in crate::cli) fn submitted_sandbox_elsewhere(limits: BotLimits) -> Result<Sandbox, Unavailable> {
    let limits = BotLimits { network: Some(false), ..limits };
    Sandbox::elsewhere(Mode::Strict, &untested_layers(), limits)
}

/// The layers that a machine for tests of this program may lack. Only a build for tests has such an exception.
#[cfg(debug_assertions)]
pub(in crate::cli) fn untested_layers() -> BTreeSet<Layer> {
    let names = std::env::var("REFEREE_UNTESTED_LAYERS").unwrap_or_default();
    names.split(',').filter_map(|name| name.parse().ok()).collect()
}

#[cfg(not(debug_assertions))]
pub(in crate::cli) fn untested_layers() -> BTreeSet<Layer> {
    BTreeSet::new()
}
