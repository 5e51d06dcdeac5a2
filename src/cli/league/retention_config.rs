//! The table `[retention]` of the file of a league.

use std::time::Duration;

use serde::Deserialize;

use crate::cli::Failure;
use crate::record::PublishedInfo;
use crate::runs::league::{Retention, SendCommand};

/// What becomes of records as they get older.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetentionConfig {
    /// When private lines of records are erased.
    #[serde(default)]
    private_after: Option<String>,
    /// When records are packed.
    #[serde(default)]
    pack_after: Option<String>,
    /// The command line that sends packs.
    #[serde(default)]
    send: Option<Vec<String>>,
}

impl RetentionConfig {
    /// Validates the table. Returns what becomes of records, and the command that sends packs.
    pub(super) fn terms(&self, info: PublishedInfo) -> Result<(Retention, Option<SendCommand>), Failure> {
        let time = |key: &str, text: &Option<String>| -> Result<Option<Duration>, Failure> {
            let Some(text) = text else { return Ok(None) };
            humantime::parse_duration(text).map(Some).map_err(|error| {
                Failure::usage(format!("[retention] {key}: `{text}`: {error}; expected a time such as `90d`"))
            })
        };
        let private_after = time("private_after", &self.private_after)?;
        let pack_after = time("pack_after", &self.pack_after)?;
        let wrong = |what: &dyn std::fmt::Display| Failure::usage(format!("[retention] send: {what}"));
        if self.send.is_some() && pack_after.is_none() {
            return Err(wrong(&"it sends packs, and needs `pack_after`"));
        }
        let send = self.send.clone().map(SendCommand::new).transpose().map_err(|what| wrong(&what))?;
        Ok((Retention { private_after, pack_after, info }, send))
    }
}
