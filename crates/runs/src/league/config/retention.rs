//! The table `[retention]` of the file of a league.

use std::time::Duration;

use referee_match::record::PublishedInfo;
use serde::Deserialize;

use crate::league::{Retention, SendCommand, SendCommandError};

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

/// A table `[retention]` that is not valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadRetention {
    #[error("[retention] {key}: `{text}`: {why}; expected a time such as `90d`")]
    Time { key: &'static str, text: String, why: humantime::DurationError },
    #[error("[retention] send: it sends packs, and needs `pack_after`")]
    NoPacks,
    #[error("[retention] send")]
    Send(#[from] SendCommandError),
}

/// What becomes of the records of a league as they get older.
#[derive(Clone, Debug)]
pub struct RecordRetention {
    /// What is erased and packed, and when.
    pub retention: Retention,
    /// The command that sends packs.
    pub send: Option<SendCommand>,
}

impl RetentionConfig {
    /// Validates the table.
    pub(super) fn terms(&self, info: PublishedInfo) -> Result<RecordRetention, BadRetention> {
        let time = |key: &'static str, text: &Option<String>| -> Result<Option<Duration>, BadRetention> {
            let Some(text) = text else { return Ok(None) };
            let wrong = |why| BadRetention::Time { key, text: text.clone(), why };
            humantime::parse_duration(text).map(Some).map_err(wrong)
        };
        let private_after = time("private_after", &self.private_after)?;
        let pack_after = time("pack_after", &self.pack_after)?;
        if self.send.is_some() && pack_after.is_none() {
            return Err(BadRetention::NoPacks);
        }
        let send = self.send.clone().map(SendCommand::new).transpose()?;
        Ok(RecordRetention { retention: Retention { private_after, pack_after, info }, send })
    }
}
