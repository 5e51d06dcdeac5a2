//! The challenges of a ladder.

use std::collections::BTreeSet;

use super::Ladder;
use referee_engine::runner::Fixture;
use referee_stats::Entrant;
use referee_stats::ladder::Name;
use referee_store::{Challenge, MatchKind};

/// After this number of other matches one challenge may be played, so that challenges take at most a tenth of the matches.
const CHALLENGE_AFTER: u64 = 9;

impl Ladder {
    /// Changes the challenges. Returns those that were played since the last time.
    pub(crate) fn set_challenges(&mut self, challenges: Vec<Challenge>) -> Vec<i64> {
        let fulfilled = std::mem::take(&mut self.fulfilled);
        let is_running = |id: i64| self.running.values().any(|running| running.challenge == Some(id));
        let mut challenges = challenges;
        challenges.retain(|challenge| !fulfilled.contains(&challenge.id) && !is_running(challenge.id));
        self.challenges = challenges;
        fulfilled
    }

    /// The kind of a challenge between these players.
    fn kind_of_challenge(&self, players: &[Entrant]) -> MatchKind {
        let owner = |player: &Entrant| {
            let bot = Name::parse(self.book.name(*player)).bot;
            self.bots.get(&bot).map(|bot| &bot.owner)
        };
        let owners: BTreeSet<_> = players.iter().map(owner).collect();
        if self.limits.rated_challenges && owners.len() == players.len() {
            MatchKind::RatedChallenge
        } else {
            MatchKind::Challenge
        }
    }

    /// The challenge that is due, if there is one: on workers, or here.
    pub(super) fn next_challenge(&mut self, on_workers: bool) -> Option<Fixture> {
        let matches = self.matchmaker.matches();
        if self.challenged_at.is_some_and(|at| matches < at + CHALLENGE_AFTER) {
            return None;
        }
        let now = self.now();
        for at in 0..self.challenges.len() {
            let Challenge { id, players } = &self.challenges[at];
            let id = *id;
            let group: Option<Vec<Entrant>> = players.iter().map(|name| self.newest(name)).collect();
            let is_away = |player: &Entrant| self.members[player.index()].program.is_some();
            let is_here = |player: &Entrant| self.members[player.index()].bot.is_some();
            let is_meant = |group: &Vec<Entrant>| {
                let have_workers = !self.on_workers.is_empty();
                match have_workers && group.iter().all(is_away) {
                    true => on_workers,
                    false => !on_workers && group.iter().all(is_here),
                }
            };
            let Some(lineup) = group
                .filter(is_meant)
                .and_then(|group| self.matchmaker.challenge(&group, now, &mut self.rng))
            else {
                continue;
            };
            self.challenges.remove(at);
            self.challenged_at = Some(matches);
            let kind = self.kind_of_challenge(lineup.seats());
            return self.fixture(lineup, kind, on_workers, Some(id), None);
        }
        None
    }
}

/// Whether the players of a match are those of a challenge, in any order, or versions of them.
pub(super) fn is_between(challenge: &Challenge, players: &[&str]) -> bool {
    let mut left = players.to_vec();
    let mut take = |name: &String| {
        let is_meant = |player: &&str| *player == name || Name::parse(player).bot == *name;
        left.iter().position(is_meant).map(|at| left.remove(at)).is_some()
    };
    challenge.players.iter().all(&mut take) && left.is_empty()
}
