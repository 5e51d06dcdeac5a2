//! The challenges of a ladder.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::SystemTime;

use super::Ladder;
use referee_engine::runner::Fixture;
use referee_league::Challenge;
use referee_stats::ladder::Name;
use referee_stats::{Entrant, Lineup};
use referee_store::MatchKind;

/// The number of other matches after which one challenge may be played, so that challenges take at most a tenth of the
/// matches.
const CHALLENGE_AFTER: u64 = 9;
/// The number of challenges examined for a match, however many wait.
const LOOKED_AT: usize = 32;

/// The challenges that wait. Their owners take turns.
#[derive(Debug, Default)]
pub(super) struct Challenges {
    waiting: BTreeMap<i64, Challenge>,
    /// The numbers of those of each owner, and of the organiser, in turn. One that cannot be played goes to the end.
    queues: BTreeMap<Option<String>, VecDeque<i64>>,
    /// Owners with a queue, the next one first.
    turns: VecDeque<Option<String>>,
    /// Challenges that have ended and are to be removed from the database.
    pub(super) ended: BTreeSet<i64>,
    /// The number of the last one that was read from the database.
    last: i64,
    /// The number of other matches at the last one that was played.
    played_at: Option<u64>,
}

impl Challenges {
    /// Lets a challenge wait, as the next one of its owner or the last one.
    fn add(&mut self, challenge: Challenge, is_next: bool) {
        let (id, owner) = (challenge.id, challenge.asked_by.clone());
        self.waiting.insert(id, challenge);
        let queue = self.queues.entry(owner.clone()).or_insert_with(|| {
            self.turns.push_back(owner);
            VecDeque::new()
        });
        if is_next { queue.push_front(id) } else { queue.push_back(id) }
    }

    /// Takes the next challenge of the owner whose turn it is.
    fn take(&mut self) -> Option<Challenge> {
        loop {
            let owner = self.turns.pop_front()?;
            let Some(queue) = self.queues.get_mut(&owner) else { continue };
            let found = std::iter::from_fn(|| queue.pop_front()).find_map(|id| self.waiting.remove(&id));
            if queue.is_empty() {
                self.queues.remove(&owner);
            } else {
                self.turns.push_back(owner);
            }
            if found.is_some() {
                return found;
            }
        }
    }

    /// Ends the challenges that do not stay.
    fn retain(&mut self, stays: impl Fn(&Challenge) -> bool) {
        let Challenges { waiting, ended, .. } = self;
        ended.extend(waiting.values().filter(|challenge| !stays(challenge)).map(|challenge| challenge.id));
        waiting.retain(|id, _| !ended.contains(id));
    }

    /// Waiting challenges, the oldest first.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Challenge> {
        self.waiting.values()
    }

    /// Puts back a challenge whose match has not begun.
    pub(super) fn put_back(&mut self, challenge: Challenge) {
        self.add(challenge, true);
    }
}

impl Ladder {
    /// Takes up the challenges of the database: adds later ones than the last one, and ends those that were taken back.
    pub(crate) fn set_challenges(&mut self, challenges: Vec<Challenge>) {
        let stored: BTreeSet<i64> = challenges.iter().map(|challenge| challenge.id).collect();
        self.challenges.retain(|challenge| stored.contains(&challenge.id));
        let (running, last) = (self.running_challenges(), self.challenges.last);
        for challenge in challenges.into_iter().filter(|challenge| challenge.id > last) {
            self.challenges.last = challenge.id;
            if !running.contains(&challenge.id) {
                self.challenges.add(challenge, false);
            }
        }
        self.end_challenges_of_others();
    }

    /// The numbers of the challenges whose matches are in progress.
    pub(super) fn running_challenges(&self) -> BTreeSet<i64> {
        self.matches.running.values().filter_map(|running| Some(running.challenge.as_ref()?.id)).collect()
    }

    /// Ends the challenges of bots that do not take part any more.
    pub(super) fn end_challenges_of_others(&mut self) {
        let plays = |player: &String| self.roster.bots.contains_key(&Name::parse(player).bot);
        self.challenges.retain(|challenge| challenge.players.iter().all(plays));
    }

    /// The numbers of the challenges that have ended at this time: played, expired, or of bots that do not take part any more.
    pub(crate) fn ended_challenges(&mut self, at: SystemTime) -> BTreeSet<i64> {
        let expired = Challenge::expired_before(at);
        self.challenges.retain(|challenge| challenge.asked_at >= expired);
        self.challenges.ended.clone()
    }

    /// Forgets challenges that have ended, once they are removed from the database.
    pub(crate) fn forget_challenges(&mut self, ended: &BTreeSet<i64>) {
        self.challenges.ended.retain(|id| !ended.contains(id));
    }

    /// The kind of a challenge between these players.
    fn kind_of_challenge(&self, players: &[Entrant]) -> MatchKind {
        let owner = |player: &Entrant| {
            let bot = Name::parse(self.results.tally.name(*player)).bot;
            self.roster.bots.get(&bot).map(|bot| &bot.owner)
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
        let matches = self.matches.matchmaker.matches();
        if self.challenges.played_at.is_some_and(|at| matches < at + CHALLENGE_AFTER) {
            return None;
        }
        for _ in 0..self.challenges.waiting.len().min(LOOKED_AT) {
            let challenge = self.challenges.take()?;
            let Some(lineup) = self.lineup_of(&challenge, on_workers) else {
                self.challenges.add(challenge, false);
                continue;
            };
            self.challenges.played_at = Some(matches);
            let kind = self.kind_of_challenge(lineup.seats());
            return self.fixture(lineup, kind, on_workers, Some(challenge), None);
        }
        None
    }

    /// Pairs the players of a challenge, if all of them are free: on workers, or here.
    fn lineup_of(&mut self, challenge: &Challenge, on_workers: bool) -> Option<Lineup> {
        let group: Option<Vec<Entrant>> = challenge.players.iter().map(|name| self.newest(name)).collect();
        // A bot without a version may stand for another one of them now.
        let group = group.filter(|group| group.iter().collect::<BTreeSet<_>>().len() == group.len())?;
        let is_away = |player: &Entrant| self.roster.members[player.index()].program.is_some();
        let is_here = |player: &Entrant| self.roster.members[player.index()].bot.is_some();
        let are_away = !self.on_workers.is_empty() && group.iter().all(is_away);
        let can_play = if are_away { on_workers } else { !on_workers && group.iter().all(is_here) };
        let now = self.now();
        if can_play { self.matches.matchmaker.challenge(&group, now, &mut self.matches.rng) } else { None }
    }
}

/// Returns whether the players of a match are those of a challenge, in any order, or versions of them.
pub(super) fn is_between(challenge: &Challenge, players: &[&str]) -> bool {
    let mut left = players.to_vec();
    let mut take = |name: &String| {
        let is_meant = |player: &&str| *player == name || Name::parse(player).bot == *name;
        left.iter().position(is_meant).map(|at| left.remove(at)).is_some()
    };
    challenge.players.iter().all(&mut take) && left.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(id: i64, owner: &str) -> Challenge {
        Challenge {
            id,
            players: vec!["one".to_owned(), "two".to_owned()],
            asked_by: Some(owner.to_owned()),
            asked_at: String::new(),
        }
    }

    #[test]
    fn owners_take_turns_however_many_challenges_one_of_them_has() {
        let mut challenges = Challenges::default();
        (1..=100).for_each(|id| challenges.add(challenge(id, "ada"), false));
        challenges.add(challenge(101, "ben"), false);
        challenges.add(challenge(102, "cleo"), false);
        challenges.add(challenge(103, "ben"), false);
        let mut taken = || challenges.take().map(|challenge| challenge.id);
        let ids: Vec<i64> = (0..6).filter_map(|_| taken()).collect();
        assert_eq!(ids, [1, 101, 102, 2, 103, 3]);
    }

    #[test]
    fn challenge_that_cannot_be_played_holds_up_no_other_one() {
        let mut challenges = Challenges::default();
        (1..=3).for_each(|id| challenges.add(challenge(id, "ada"), false));
        let first = challenges.take().unwrap();
        challenges.add(first, false);
        assert_eq!(challenges.take().unwrap().id, 2);
        // A challenge whose match has not begun is the next one.
        challenges.put_back(challenge(2, "ada"));
        assert_eq!(challenges.take().unwrap().id, 2);
        challenges.retain(|challenge| challenge.id != 3);
        assert_eq!((challenges.take().unwrap().id, challenges.take()), (1, None));
        assert_eq!(challenges.ended, [3].into());
    }
}
