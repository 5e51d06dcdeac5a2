//! A ladder as it is shown while it is played.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use referee_stats::ladder::Name;
use referee_stats::rating::bradley_terry::Anchored;
use referee_store::RulingRow;
use serde::{Deserialize, Serialize};

use crate::bots::LeagueBot;
use crate::owners::{LeagueOwner, OwnerState};
use crate::tally::{LadderRow, ranking};
use crate::{EventEffects, FinalsLink};

/// The public view of a ladder.
#[derive(Debug, Default)]
pub struct LadderSnapshot {
    /// The standings, the best first.
    pub rows: Vec<LadderRow>,
    /// The number of matches that are copies of earlier ones and do not count for ratings.
    pub copies: u64,
    /// The fit from which the ratings come.
    pub fit: Arc<Anchored>,
    /// The players that are there now: connected, or programs.
    pub online: BTreeSet<String>,
    /// The time since which players that are not there have been away, in UTC.
    pub away: BTreeMap<String, String>,
    /// The players that are not paired now.
    pub states: BTreeMap<String, PlayerState>,
    /// Display names of players by name; the version of a player follows.
    pub display_names: Arc<BTreeMap<String, String>>,
    /// The owners of bots whose owner has another name, by bot.
    pub owners: Arc<BTreeMap<String, ShownOwner>>,
    /// The number of the season in progress.
    pub season: u32,
    /// The rulings on the ladder, in the order in which they were made.
    pub rulings: Arc<Vec<RulingRow>>,
    /// The matches that are waiting, the next first.
    pub next: Vec<WaitingMatch>,
    /// The last time that a match changed the lead.
    pub lead_taken: Option<LeadTaken>,
    /// Whether no match begins because the league is paused.
    pub is_paused: bool,
    /// The state that events have put into force.
    pub in_force: EventEffects,
    /// The finals to which its pages lead.
    pub finals: Option<FinalsLink>,
    /// Whether no match begins because results or journals cannot be written.
    pub is_waiting_for_storage: bool,
    /// Whether a match begins only now and then because the rules, which are a program, fail.
    pub are_rules_failing: bool,
    /// The number of connections of bots.
    pub connections: usize,
    /// The number of players that could be paired now.
    pub waiting: usize,
    /// The number of matches that are played concurrently, at most.
    pub jobs: usize,
    /// The number of matches in progress here.
    pub running: usize,
    /// The end of the last match, in UTC.
    pub last_result: Option<String>,
}

/// The owner of a bot, as pages show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShownOwner {
    /// The display name, or its id.
    #[serde(rename = "owner")]
    pub name: String,
    /// A school or a company.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affiliation: Option<String>,
}

impl ShownOwner {
    /// The owners of these bots, by bot. Former owners are not shown, nor are owners with the name of their
    /// bot.
    pub fn of(bots: &[LeagueBot], owners: &[LeagueOwner]) -> BTreeMap<String, ShownOwner> {
        let by_id: BTreeMap<&str, &LeagueOwner> =
            owners.iter().map(|owner| (owner.id.as_str(), owner)).collect();
        let owner_of = |bot: &LeagueBot| {
            let known = by_id.get(bot.owner.as_str());
            if known.is_some_and(|owner| owner.state == OwnerState::Left) {
                return None;
            }
            let affiliation = known.and_then(|owner| owner.affiliation.clone());
            let name = known.and_then(|owner| owner.display_name.as_ref()).unwrap_or(&bot.owner).clone();
            let is_new = name != bot.name && Some(&name) != bot.display_name.as_ref();
            (is_new || affiliation.is_some()).then(|| (bot.name.clone(), ShownOwner { name, affiliation }))
        };
        bots.iter().filter_map(owner_of).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingMatch {
    /// The players by side. The seats of a challenge are not drawn yet: each player is a side.
    pub sides: Vec<Vec<String>>,
    /// The reason why it is played, in a few words.
    pub why: String,
}

/// A match after which the first place changed hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeadTaken {
    pub id: String,
    /// The leader before.
    pub from: String,
}

/// Reasons why a player is not paired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlayerState {
    Paused,
    /// The player is excluded until this time, in UTC, because of its faults.
    Excluded(String),
    /// The owner has used up the matches of the day.
    OutOfQuota,
    /// The player plays on workers only, and none is active.
    NoWorker,
}

impl fmt::Display for PlayerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerState::Paused => f.write_str("paused"),
            PlayerState::Excluded(until) => write!(f, "excluded until {until}"),
            PlayerState::OutOfQuota => f.write_str("out of quota"),
            PlayerState::NoWorker => f.write_str("waits for a worker"),
        }
    }
}

impl LadderSnapshot {
    /// The standings as pages show them: the newest versions that are there, or have played in this season and within a month
    /// of this time, without bots that were disqualified from the start.
    pub fn ranking(&self, at: SystemTime) -> Vec<LadderRow> {
        ranking(self.rows.clone(), &self.fit, |row| {
            row.standing.is_newest && (self.online.contains(&row.player) || !row.is_inactive(at))
        })
    }

    /// The owner of a player, as pages show it.
    pub fn owner_of(&self, player: &str) -> Option<&ShownOwner> {
        self.owners.get(&Name::parse(player).bot)
    }

    /// Returns whether a player is excluded for its faults.
    pub fn is_excluded(&self, player: &str) -> bool {
        matches!(self.states.get(player), Some(PlayerState::Excluded(_)))
    }

    /// The time since the last match ended.
    pub fn result_age(&self, now: SystemTime) -> Option<Duration> {
        let last = humantime::parse_rfc3339(self.last_result.as_deref()?).ok()?;
        Some(now.duration_since(last).unwrap_or_default())
    }
}

/// The latest public view of a ladder. Spectators get this, so that the ladder never waits for them.
#[derive(Clone, Debug, Default)]
pub struct PublishedLadder(Arc<Mutex<Arc<LadderSnapshot>>>);

impl PublishedLadder {
    pub fn get(&self) -> Arc<LadderSnapshot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set(&self, snapshot: Arc<LadderSnapshot>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }
}
