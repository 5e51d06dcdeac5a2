//! The table `[publish]` of the files of leagues and tournaments.

use serde::{Deserialize, Serialize};

use referee_game::Wrong;
use referee_match::record::PublishedInfo;

/// The number of moves by which `info = "delayed"` is late, unless the file says so.
const DELAY: u32 = 10;
const MOST_DELAY: u32 = 10_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "PublishTable", into = "PublishTable")]
pub struct PublishConfig {
    /// Whether and when the `info` of bots is public.
    pub info: PublishedInfo,
}

/// The table as it is written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishTable {
    #[serde(default)]
    info: InfoWord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InfoWord {
    Never,
    #[default]
    After,
    Delayed,
}

impl TryFrom<PublishTable> for PublishConfig {
    type Error = Wrong;

    fn try_from(PublishTable { info, delay }: PublishTable) -> Result<PublishConfig, Wrong> {
        let info = match (info, delay) {
            (InfoWord::Never, None) => PublishedInfo::Never,
            (InfoWord::After, None) => PublishedInfo::After,
            (InfoWord::Never | InfoWord::After, Some(_)) => {
                return Err("publish: `delay` needs info = \"delayed\"".into());
            }
            (InfoWord::Delayed, delay) => match delay.unwrap_or(DELAY) {
                moves @ 1..=MOST_DELAY => PublishedInfo::Delayed { moves },
                moves => {
                    return Err(
                        format!("publish: delay = {moves} is not from 1 to {MOST_DELAY} moves").into()
                    );
                }
            },
        };
        Ok(PublishConfig { info })
    }
}

impl From<PublishConfig> for PublishTable {
    fn from(config: PublishConfig) -> PublishTable {
        match config.info {
            PublishedInfo::Never => PublishTable { info: InfoWord::Never, delay: None },
            PublishedInfo::After => PublishTable { info: InfoWord::After, delay: None },
            PublishedInfo::Delayed { moves } => PublishTable { info: InfoWord::Delayed, delay: Some(moves) },
        }
    }
}

impl PublishConfig {
    /// Returns whether it is that of a file without the table.
    pub fn is_default(&self) -> bool {
        *self == PublishConfig::default()
    }
}
