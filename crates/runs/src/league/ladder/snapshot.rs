//! What is shown of a ladder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use super::{Ladder, LeadTaken, PlayerState};
use referee_league::{LadderRow, ranking};
use referee_stats::Entrant;
use referee_stats::rating::bradley_terry::Anchored;
use referee_store::{MatchKind, RulingRow, match_id};

/// The number of challenges that are shown.
const CHALLENGES: usize = 16;

/// What is shown of a ladder.
#[derive(Debug, Default)]
pub(crate) struct LadderSnapshot {
    /// The standings, the best first.
    pub rows: Vec<LadderRow>,
    /// The number of matches that are copies of earlier ones and do not count for ratings.
    pub copies: u64,
    /// What they come from.
    pub fit: Arc<Anchored>,
    /// The players that are there now: connected, or programs.
    pub online: BTreeSet<String>,
    /// The players that are not paired now.
    pub states: BTreeMap<String, PlayerState>,
    /// What people see instead of the names of players, by name; the version of a player follows.
    pub display_names: Arc<BTreeMap<String, String>>,
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
    /// When the last match ended, in UTC.
    pub last_result: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingMatch {
    /// Who plays, by side.
    pub sides: Vec<Vec<String>>,
    /// Why it is played.
    pub why: WaitingReason,
}

/// Why a match is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WaitingReason {
    /// Somebody asked for it. Its seats are not drawn yet: each player is a side.
    Challenge,
    /// It is the return match of this one.
    Return(String),
}

impl LadderSnapshot {
    /// The standings as pages show them: the newest versions that are there, or have played in this season and within a month
    /// of this time, without bots that were disqualified from the start.
    pub(crate) fn ranking(&self, at: SystemTime) -> Vec<LadderRow> {
        ranking(self.rows.clone(), &self.fit, |row| {
            row.is_newest && (self.online.contains(&row.player) || !row.is_inactive(at))
        })
    }
}

impl Ladder {
    /// What is shown of it, without the last change of the lead.
    pub(super) fn snapshot(&self, at: SystemTime) -> LadderSnapshot {
        let connected = self.members.iter().filter(|member| !member.is_program);
        LadderSnapshot {
            rows: self.standings(),
            copies: self.book.copies(),
            fit: self.fit.clone(),
            online: self.online().into_iter().map(str::to_owned).collect(),
            states: self.states(at),
            display_names: self.display_names.clone(),
            season: self.season.number,
            rulings: self.shown_rulings.clone(),
            next: self.queue(),
            lead_taken: None,
            is_paused: self.is_paused,
            is_waiting_for_storage: self.wait.is_waiting(),
            are_rules_failing: self.rules.are_failing(),
            connections: connected.map(|member| member.connections).sum(),
            waiting: self.matchmaker.waiting(self.now()),
            jobs: self.limits.jobs,
            running: self.running.len().saturating_sub(self.on_workers.len()),
            last_result: self.last_result.clone(),
        }
    }

    /// The matches that are waiting, the next first.
    fn queue(&self) -> Vec<WaitingMatch> {
        let challenges = self.challenges.waiting().take(CHALLENGES).map(|challenge| WaitingMatch {
            sides: challenge.players.iter().map(|player| vec![player.clone()]).collect(),
            why: WaitingReason::Challenge,
        });
        let name = |player: &Entrant| self.book.name(*player).to_owned();
        let returns = self.matchmaker.returns().map(|(lineup, first)| WaitingMatch {
            sides: (0..self.seating.sides())
                .map(|side| lineup.side(side).map(|player| name(&player)).collect())
                .collect(),
            why: WaitingReason::Return(match_id(first, MatchKind::Pairing)),
        });
        challenges.chain(returns).collect()
    }

    /// Computes what people see instead of the names of players.
    pub(super) fn set_display_names(&mut self) {
        let players = (0..self.book.len() as u16).map(|at| self.book.name(Entrant(at)));
        let shown =
            players.filter_map(|player| Some((player.to_owned(), self.bot_display_names.of_player(player)?)));
        let names: BTreeMap<String, String> = shown.collect();
        if names != *self.display_names {
            self.display_names = Arc::new(names);
        }
    }
}
