//! The row of an entrant in the database.

use std::collections::BTreeMap;

use crate::tournament::config::EntrantConfig;
use referee_engine::sources::BotSpec;
use referee_store::EntrantRow;

/// The files of the bots of an entrant. The bots of a team may have the same file names.
pub(super) fn fingerprints(bots: &[BotSpec]) -> BTreeMap<String, String> {
    let of_bot = |bot: &BotSpec| {
        let of = if bots.len() > 1 { format!("{}: ", bot.name) } else { String::new() };
        bot.files.iter().map(move |(path, hash)| (format!("{of}{path}"), hash.clone())).collect::<Vec<_>>()
    };
    bots.iter().flat_map(of_bot).collect()
}

/// The sources of an entrant's bots, as text.
pub(super) fn sources(bots: &[BotSpec]) -> String {
    let sources: Vec<String> = bots.iter().map(|bot| bot.source.to_string()).collect();
    sources.join(" + ")
}

/// An entrant with these bots that is paired from round `joins` on.
pub(super) fn row(config: &EntrantConfig, bots: &[BotSpec], joins: u32) -> EntrantRow {
    EntrantRow {
        name: config.name.clone().unwrap_or_default(),
        display_name: config.display_name.clone(),
        source: sources(bots),
        files: fingerprints(bots),
        joins,
        leaves: None,
        missed: Vec::new(),
        interruptions: 0,
    }
}
