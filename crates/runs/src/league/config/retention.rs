//! The table `[retention]` of the file of a league.

use std::time::Duration;

use referee_game::Wrong;
use referee_match::record::PublishedInfo;
use serde::Deserialize;

use crate::league::{Retention, SendCommand};

/// The retention of records.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetentionConfig {
    /// The age at which private lines of records are erased.
    #[serde(default)]
    private_after: Option<String>,
    #[serde(default)]
    pack_after: Option<String>,
    /// The command line that sends packs.
    #[serde(default)]
    send: Option<Vec<String>>,
}

/// The retention of a league's records.
#[derive(Clone, Debug)]
pub struct RecordRetention {
    /// The times at which records are erased and packed.
    pub retention: Retention,
    /// The command that sends packs.
    pub send: Option<SendCommand>,
}

impl RetentionConfig {
    pub(super) fn terms(&self, info: PublishedInfo) -> Result<RecordRetention, Wrong> {
        let time = |key: &'static str, text: &Option<String>| -> Result<Option<Duration>, Wrong> {
            let Some(text) = text else { return Ok(None) };
            let wrong = |why| {
                Wrong::from(format!("[retention] {key}: `{text}`: {why}; expected a time such as `90d`"))
            };
            humantime::parse_duration(text).map(Some).map_err(wrong)
        };
        let private_after = time("private_after", &self.private_after)?;
        let pack_after = time("pack_after", &self.pack_after)?;
        if self.send.is_some() && pack_after.is_none() {
            return Err("[retention] send: it sends packs, and needs `pack_after`".into());
        }
        let send = self.send.clone().map(SendCommand::new).transpose();
        let send = send.map_err(|why| Wrong::at("[retention] send", why))?;
        Ok(RecordRetention { retention: Retention { private_after, pack_after, info }, send })
    }
}
