//! Notices for an owner: a bot that is away, excluded or failing.

use std::time::{Duration, SystemTime};

use referee_league::{League, LeagueBot, MatchFilter, PlayerState};
use referee_stats::ladder::Name;
use referee_store::{StoreError, utc};
use serde::Serialize;

use super::OwnersLadder;

/// How long a bot may be absent before its owner is told. Its failures are counted over the same time.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of matches with faults of a bot within a day from which its owner is told.
const FAILURES: usize = 10;

/// Reasons why a bot needs its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum NoticeKind {
    /// No version of it has been there for a day.
    Offline,
    Excluded,
    /// Ten of its matches within a day had faults of it.
    Failing,
}

/// A notice for an owner about a bot.
#[derive(Serialize)]
pub(super) struct BotNotice {
    bot: String,
    /// The ladder; `None`: on all ladders.
    ladder: Option<String>,
    kind: NoticeKind,
    /// In UTC: since when it is offline, until when it is excluded, or when its last match with a fault ended.
    at: String,
    text: String,
}

/// A time in UTC for people.
fn minute(at: &str) -> String {
    format!("{} UTC", at.get(..16).unwrap_or(at).replace('T', " "))
}

/// Problems of these bots at this time.
pub(super) fn notices(
    ladders: &[OwnersLadder],
    league: &League,
    bots: &[LeagueBot],
    now: SystemTime,
) -> Result<Vec<BotNotice>, StoreError> {
    let yesterday = utc(now.checked_sub(DAY).unwrap_or(SystemTime::UNIX_EPOCH));
    let mut found = Vec::new();
    for bot in bots.iter().filter(|bot| bot.revoked_at.is_none()) {
        let name = &bot.name;
        let is_of_bot = |player: &str| Name::parse(player).bot == *name;
        let mut is_online = false;
        let mut last_here = bot.added_at.clone();
        for ladder in ladders {
            let on = &ladder.name;
            let mut add = |kind, at: &str, text| {
                let (bot, ladder) = (name.clone(), Some(on.clone()));
                found.push(BotNotice { bot, ladder, kind, at: at.to_owned(), text });
            };
            let shown = ladder.view.shown();
            is_online |= shown.online.iter().any(|player| is_of_bot(player));
            let left = shown.away.iter().filter(|(player, _)| is_of_bot(player)).map(|(_, since)| since);
            let played = shown.rows.iter().filter(|row| is_of_bot(&row.player));
            let seen = left.chain(played.filter_map(|row| row.last_seen.as_ref())).max();
            last_here = seen.cloned().into_iter().fold(last_here, String::max);
            for (player, state) in shown.states.iter().filter(|(player, _)| is_of_bot(player)) {
                if let PlayerState::Excluded(until) = state {
                    let text = format!("{player} is excluded on {on} until {} for its faults", minute(until));
                    add(NoticeKind::Excluded, until, text);
                }
            }
            let players = std::slice::from_ref(name);
            let filter = MatchFilter { players: Some(players), is_faulted: true, ..MatchFilter::default() };
            let faulted = league.last_matches(on, filter, FAILURES)?;
            if let (Some(last), Some(tenth)) = (faulted.first(), faulted.get(FAILURES - 1))
                && tenth.ended_at > yesterday
            {
                let text = format!("{name} made faults in {FAILURES} matches on {on} within a day");
                add(NoticeKind::Failing, &last.ended_at, text);
            }
        }
        if bot.command.is_none() && !bot.is_paused && !is_online && last_here < yesterday {
            let text = format!("{name} has been offline since {}", minute(&last_here));
            let (bot, kind) = (name.clone(), NoticeKind::Offline);
            found.push(BotNotice { bot, ladder: None, kind, at: last_here, text });
        }
    }
    Ok(found)
}
