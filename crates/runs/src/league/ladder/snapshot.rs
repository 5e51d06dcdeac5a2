//! The public state of a ladder.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::Ladder;
use referee_league::{LadderSnapshot, WaitingMatch};
use referee_stats::Entrant;
use referee_store::{MatchKind, match_id};

/// The number of challenges that are shown.
const CHALLENGES: usize = 16;

impl Ladder {
    /// The public state, without the last change of the lead.
    pub(super) fn snapshot(&self, at: SystemTime) -> LadderSnapshot {
        let connected = self.roster.members.iter().filter(|member| !member.is_program);
        LadderSnapshot {
            rows: self.standings(),
            copies: self.results.tally.copies(),
            fit: self.results.fit.clone(),
            online: self.online().into_iter().map(str::to_owned).collect(),
            away: self.away(),
            states: self.states(at),
            display_names: self.roster.display_names.clone(),
            owners: self.roster.shown_owners.clone(),
            season: self.results.season.number,
            rulings: self.results.shown_rulings.clone(),
            next: self.queue(),
            lead_taken: None,
            is_paused: self.is_paused,
            in_force: self.in_force.clone(),
            finals: self.finals.clone(),
            is_waiting_for_storage: self.wait.is_waiting(),
            are_rules_failing: self.rules.are_failing(),
            connections: connected.map(|member| member.connections).sum(),
            waiting: self.matches.matchmaker.waiting(self.now()),
            jobs: self.limits.jobs,
            running: self.matches_here(),
            last_result: self.results.last_result.clone(),
        }
    }

    /// The matches that are waiting, the next first.
    fn queue(&self) -> Vec<WaitingMatch> {
        let challenges = self.challenges.waiting().take(CHALLENGES).map(|challenge| WaitingMatch {
            sides: challenge.players.iter().map(|player| vec![player.clone()]).collect(),
            why: "challenge".to_owned(),
        });
        let name = |player: &Entrant| self.results.tally.name(*player).to_owned();
        let returns = self.matches.matchmaker.returns().map(|(lineup, first)| WaitingMatch {
            sides: (0..self.seats.seating.sides())
                .map(|side| lineup.side(side).map(|player| name(&player)).collect())
                .collect(),
            why: format!("return match of {}", match_id(first, MatchKind::Pairing)),
        });
        challenges.chain(returns).collect()
    }

    /// Computes the display names of players.
    pub(super) fn set_display_names(&mut self) {
        let players = (0..self.results.tally.len() as u16).map(|at| self.results.tally.name(Entrant(at)));
        let shown =
            players.filter_map(|player| Some((player.to_owned(), self.roster.names.of_player(player)?)));
        let names: BTreeMap<String, String> = shown.collect();
        if names != *self.roster.display_names {
            self.roster.display_names = Arc::new(names);
        }
    }
}
