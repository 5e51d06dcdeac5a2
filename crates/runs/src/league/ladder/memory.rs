//! The memory of a ladder across restarts besides its results, and players that are not paired.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::Ladder;
use super::leader::Leader;
use referee_game::json;
use referee_league::{League, PlayerState};
use referee_stats::Entrant;
use referee_stats::ladder::{FaultExclusion, Name};
use referee_store::{StoreError, utc};

/// The memory of a ladder across restarts besides its results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LadderMemory {
    /// The number of days since 1970.
    day: u64,
    /// The number of new versions on this day, by bot.
    versions: BTreeMap<String, u32>,
    /// By player.
    exclusions: BTreeMap<String, RememberedExclusion>,
    /// The players that are there: connected, or programs.
    #[serde(default)]
    pub here: BTreeSet<String>,
    /// The time since which bots that connect are not there, in UTC, by player.
    #[serde(default)]
    away: BTreeMap<String, String>,
    /// The players whose owners have used up the quota of this day. It is counted anew from the results.
    used_up: BTreeSet<String>,
    #[serde(default)]
    lead: Leader,
    /// The number of the season in which it is the lead.
    #[serde(default)]
    season: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RememberedExclusion {
    /// Matches in a row that ended by its fault.
    strikes: u32,
    /// The number of exclusions in a row.
    times: u32,
    /// The end of the last one, in milliseconds since 1970.
    until_ms: u64,
}

fn since_1970(at: SystemTime) -> Duration {
    at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

fn key(ladder: &str) -> String {
    format!("memory:{ladder}")
}

impl LadderMemory {
    /// Reads the memory of a ladder; empty if there is none.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn read(league: &League, ladder: &str) -> Result<LadderMemory, StoreError> {
        let text = league.value(&key(ladder))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Stores that of a ladder. `waits`: for another process that writes, for a while.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn write(&self, league: &mut League, ladder: &str, waits: bool) -> Result<(), StoreError> {
        let (key, value) = (key(ladder), json::text(self));
        if waits { league.set_value(&key, &value) } else { league.set_value_at_once(&key, &value) }
    }

    /// The players that are not paired at this time.
    pub fn states(&self, at: SystemTime) -> BTreeMap<String, PlayerState> {
        let now = since_1970(at);
        let mut states = BTreeMap::new();
        if now.as_secs() / super::DAY == self.day {
            states.extend(self.used_up.iter().map(|player| (player.clone(), PlayerState::OutOfQuota)));
        }
        for (player, exclusion) in &self.exclusions {
            let until = Duration::from_millis(exclusion.until_ms);
            if until > now {
                let until = utc(SystemTime::UNIX_EPOCH + until);
                states.insert(player.clone(), PlayerState::Excluded(until));
            }
        }
        states
    }
}

impl Ladder {
    pub(crate) fn memory(&self) -> LadderMemory {
        let now = self.now();
        let exclusions = self.roster.members.iter().enumerate().filter_map(|(at, member)| {
            let (strikes, times, until) = member.exclusion.state();
            let until_ms = self.clock.opened_ms + until / 1000;
            let is_needed = strikes > 0 || times > 0 || until > now;
            let player = self.results.tally.name(Entrant(at as u16)).to_owned();
            is_needed.then_some((player, RememberedExclusion { strikes, times, until_ms }))
        });
        let players = (0..self.results.tally.len() as u16).map(Entrant);
        let used_up = players.filter(|&player| self.matches.matchmaker.has_used_up(player));
        LadderMemory {
            day: self.matches.matchmaker.day(),
            versions: self.roster.new_versions.clone(),
            exclusions: exclusions.collect(),
            here: self.online().into_iter().map(str::to_owned).collect(),
            away: self.away(),
            used_up: used_up.map(|player| self.results.tally.name(player).to_owned()).collect(),
            lead: self.leader.clone(),
            season: self.results.season.number,
        }
    }

    /// Continues with the memory of an earlier server. The players are known, and the day has begun.
    pub(crate) fn remember(&mut self, memory: LadderMemory, at: SystemTime) {
        let now = self.now();
        self.clock.opened_ms = (since_1970(at).as_millis() as u64).saturating_sub(now / 1000);
        if memory.day == self.matches.matchmaker.day() {
            self.roster.new_versions = memory.versions;
        }
        if memory.season == self.results.season.number {
            self.leader = memory.lead;
        }
        // Players that were there have left with the earlier server.
        let gone = memory.here.into_iter().map(|player| (player, utc(at)));
        for (player, since) in gone.chain(memory.away) {
            if let Some(player) = self.results.tally.find(&player) {
                self.roster.members[player.index()].away_since.get_or_insert(since);
            }
        }
        self.results.led_to.clone_from(&self.results.last_match);
        for (name, RememberedExclusion { strikes, times, until_ms }) in memory.exclusions {
            let Some(player) = self.results.tally.find(&name) else { continue };
            let until = until_ms.saturating_sub(self.clock.opened_ms).saturating_mul(1000);
            self.roster.members[player.index()].exclusion = FaultExclusion::resumed(strikes, times, until);
            if until > now {
                self.matches.matchmaker.exclude(player, until);
            }
        }
    }

    /// The players that are not paired at this time.
    pub(super) fn states(&self, at: SystemTime) -> BTreeMap<String, PlayerState> {
        let mut states = self.memory().states(at);
        let members = self.roster.members.iter().enumerate();
        let waiting = members.filter(|(_, member)| member.is_on_workers_only() && self.on_workers.is_empty());
        let name = |at| self.results.tally.name(Entrant(at as u16)).to_owned();
        states.extend(waiting.map(|(at, _)| (name(at), PlayerState::NoWorker)));
        let players = (0..self.results.tally.len() as u16).map(|at| self.results.tally.name(Entrant(at)));
        let is_paused =
            |name: &&str| self.roster.bots.get(&Name::parse(name).bot).is_some_and(|bot| bot.is_paused);
        states.extend(players.filter(is_paused).map(|name| (name.to_owned(), PlayerState::Paused)));
        states
    }
}
