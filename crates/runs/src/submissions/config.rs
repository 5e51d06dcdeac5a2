//! The table `[submissions]` of the file of a league.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::config::{Milliseconds, Setting};
use crate::submissions::SubmissionTerms;
use referee_bots::sandbox::{BotLimits, Layer, Mode, Sandbox, Size, Unavailable};
use referee_game::Wrong;
use referee_league::{SubmissionQuota, SubmissionSpace};
use referee_workers::archive::ArchiveLimits;

/// The largest space for submissions, in bytes.
const MOST_SPACE: u64 = 1 << 50;
/// The largest directory that outlives the matches of a version, in bytes.
const MOST_KEPT: u64 = 1 << 30;

/// Programs that owners hand in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SubmissionsConfig {
    approve: bool,
    /// The place where they are built and checked; the server if it can, otherwise workers, unless it is
    /// given.
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
    /// The size of the files of all of them.
    space: Size,
    /// The size of the files of those of an owner.
    owner_space: Size,
    /// The size of the directory that outlives the matches of a version; `None`: there is none.
    keep: Option<Size>,
}

/// The place where programs are built and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuildsOn {
    /// The machine of the server.
    Server,
    /// The machines of workers.
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
            space: Size::mebibytes(20 << 10),
            owner_space: Size::mebibytes(2 << 10),
            keep: None,
        }
    }
}

impl SubmissionsConfig {
    /// The place where they are built and checked, if the file says it.
    pub fn builds_on(&self) -> Option<BuildsOn> {
        self.on
    }

    /// Validates the table. `bots` is the maximum number of bots of an owner.
    ///
    /// # Errors
    /// If a value is out of its range.
    pub fn terms(&self, bots: u32) -> Result<SubmissionTerms, Wrong> {
        let time = |key: &'static str, time: &Setting<Milliseconds>| match time.0 {
            0 => Err(Wrong::from(format!("[submissions] {key}: `{time}` is not from 1ms to 24h"))),
            _ => Ok(time.duration()),
        };
        let range = |key: &'static str, value: u32, most: u64| match (1..=most).contains(&value.into()) {
            true => Ok(value),
            false => Err(Wrong::from(format!("[submissions] {key}: {value} is not from 1 to {most}"))),
        };
        let most = ArchiveLimits::BOT;
        let sized = |key: &'static str, size: Size, most: u64| match (1..=most).contains(&size.bytes()) {
            true => Ok(size.bytes()),
            false => {
                let most = most >> 30;
                Err(Wrong::from(format!("[submissions] {key}: {size} is not from 1 byte to {most} GiB")))
            }
        };
        let archive = |keys: [&'static str; 2], size: Size, files: u32| {
            let bytes = sized(keys[0], size, most.bytes)?;
            let entries = range(keys[1], files, most.entries as u64)? as usize;
            Ok::<_, Wrong>(ArchiveLimits { bytes, entries })
        };
        let space = |key: &'static str, size: Size| sized(key, size, MOST_SPACE);
        let keep = |size: Size| sized("keep", size, MOST_KEPT).map(|_| size);
        let build = BotLimits {
            memory: Some(self.build_memory),
            processes: Some(self.build_processes),
            cpus: Some(self.build_cpus),
            scratch: Some(self.build_space),
            network: Some(false),
            read: Vec::new(),
        };
        build.check().map_err(|why| Wrong::at("[submissions] build", why))?;
        let waiting = range("waiting", self.waiting, 10_000)?;
        let per_day = range("per_day", self.per_day, 10_000)?;
        Ok(SubmissionTerms {
            archive: archive(["archive", "files"], self.archive, self.files)?,
            result: archive(["result", "result_files"], self.result, self.result_files)?,
            build_time: time("build_time", &self.build_time)?,
            check_time: time("check_time", &self.check_time)?,
            build,
            quota: SubmissionQuota { waiting, per_day, bots },
            space: SubmissionSpace {
                all: space("space", self.space)?,
                owner: space("owner_space", self.owner_space)?,
            },
            keep: self.keep.map(keep).transpose()?,
            needs_approval: self.approve,
        })
    }
}

/// The sandbox of a program that was handed in: `strict` with all of its layers and without network, whatever the league
/// allows its own programs.
///
/// # Errors
/// If a limit is not valid, or this machine lacks a layer.
pub fn submitted_sandbox(limits: BotLimits) -> Result<Sandbox, Unavailable> {
    let limits = BotLimits { network: Some(false), ..limits };
    Sandbox::new(Mode::Strict, &untested_layers(), limits)
}

/// The sandbox of a program that was handed in, on workers, which have the layers that this machine lacks.
///
/// # Errors
/// If a limit is not valid.
pub fn submitted_sandbox_elsewhere(limits: BotLimits) -> Result<Sandbox, Unavailable> {
    let limits = BotLimits { network: Some(false), ..limits };
    Sandbox::elsewhere(Mode::Strict, &untested_layers(), limits)
}

/// The layers that a machine for tests of this program may lack. Only a build for tests has such an exception.
#[cfg(debug_assertions)]
pub fn untested_layers() -> BTreeSet<Layer> {
    let names = std::env::var("REFEREE_UNTESTED_LAYERS").unwrap_or_default();
    names.split(',').filter_map(|name| name.parse().ok()).collect()
}

/// Returns no layers: only a build for tests has such an exception.
#[cfg(not(debug_assertions))]
pub fn untested_layers() -> BTreeSet<Layer> {
    BTreeSet::new()
}
