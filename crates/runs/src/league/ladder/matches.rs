//! The matches of a ladder in progress, and the next ones.

use std::collections::{BTreeMap, BTreeSet};

use referee_engine::runner::{Fixture, Wait};
use referee_game::Wrong;
use referee_game::chance::RandomStream;
use referee_league::Challenge;
use referee_match::Leg;
use referee_stats::ladder::Matchmaker;
use referee_stats::{Entrant, Lineup};
use referee_store::{MatchKind, match_id, parse_match_id};

use super::Ladder;
use super::challenges::is_between;
use super::roster::{LadderRoster, Member};

/// The matches in progress, and the pairing of players.
#[derive(Debug)]
pub(super) struct Matches {
    pub(super) matchmaker: Matchmaker,
    pub(super) rng: RandomStream,
    pub(super) running: BTreeMap<u32, MatchInProgress>,
    /// The number of the next match.
    pub(super) next: u32,
}

/// A match in progress, or whose result is not stored yet.
#[derive(Clone, Debug)]
pub(super) struct MatchInProgress {
    pub(super) lineup: Lineup,
    /// The challenge that it fulfils.
    pub(super) challenge: Option<Challenge>,
    /// The number of the first match of its set, if it is the second one.
    pub(super) deal: Option<u32>,
    /// Whether the match has ended, and only its result is not stored yet.
    pub(super) is_ended: bool,
}

impl Ladder {
    /// The number of matches that are played here at the moment.
    pub(super) fn matches_here(&self) -> usize {
        let is_played =
            |number: &u32, of: &MatchInProgress| !of.is_ended && !self.on_workers.contains(*number);
        self.matches.running.iter().filter(|(number, of)| is_played(number, of)).count()
    }

    /// Notes that a match of an earlier run continues: the second one of its set, if it has the number of the first one. If it is a
    /// challenge, it fulfils one of these.
    ///
    /// # Errors
    /// If it does not fit the seats.
    pub(crate) fn resume(
        &mut self,
        id: &str,
        deal: Option<u32>,
        players: &[&str],
        challenges: &[Challenge],
    ) -> Result<(), Wrong> {
        let seated: Vec<Entrant> = players.iter().map(|name| self.player(name)).collect::<Result<_, _>>()?;
        let lineup = Lineup::of_seats(self.seats.seating, &seated);
        let ((number, kind), lineup) = parse_match_id(id).zip(lineup).ok_or_else(|| {
            Wrong::from(format!("{id} does not fit the {} seats of its ladder", self.seats.seating.seats()))
        })?;
        let running = self.running_challenges();
        let mut open = challenges.iter().filter(|challenge| !running.contains(&challenge.id));
        let challenge = open.find(|challenge| kind.is_challenge() && is_between(challenge, players)).cloned();
        let now = self.now();
        match kind.is_challenge() {
            true => self.matches.matchmaker.begin_challenge(&lineup, now),
            false => self.matches.matchmaker.begin(&lineup, now),
        }
        self.matches.running.insert(number, MatchInProgress { lineup, challenge, deal, is_ended: false });
        Ok(())
    }

    /// Queues the return matches of sets that an earlier server did not complete.
    pub(crate) fn queue_returns(&mut self) {
        let now = self.now();
        let running: BTreeSet<u32> =
            self.matches.running.values().filter_map(|running| running.deal).collect();
        for (first, number) in self.results.tally.incomplete_sets() {
            if !running.contains(&number) {
                self.matches.matchmaker.queue_return(&first, number, now);
            }
        }
    }

    /// The next match: on workers, or here. It is between programs if there are workers, and only then.
    pub(super) fn next_match(&mut self, on_workers: bool) -> Option<Fixture> {
        let may_begin = self.rules.may_begin(self.matches.running.len(), self.now());
        if self.is_paused || self.in_force.closed_since.is_some() || self.wait.is_waiting() || !may_begin {
            return None;
        }
        if let Some(fixture) = self.next_challenge(on_workers) {
            return Some(fixture);
        }
        if !on_workers && let Some(fixture) = self.next_return() {
            return Some(fixture);
        }
        let now = self.now();
        let Ladder { matches: Matches { matchmaker, rng, .. }, roster: LadderRoster { members, .. }, .. } =
            self;
        let is_away = |player: Entrant| members[player.index()].program.is_some();
        let lineup = match on_workers {
            true => matchmaker.next_of(is_away, is_away, now, rng),
            false if self.on_workers.is_empty() => matchmaker.next(now, rng),
            false => {
                let is_here = |player: Entrant| members[player.index()].bot.is_some();
                matchmaker.next_of(|player| !is_away(player), is_here, now, rng)
            }
        };
        self.fixture(lineup?, MatchKind::Pairing, on_workers, None, None)
    }

    /// Returns this match, on workers or here; one of a kind other than `Pairing` fulfils a challenge.
    pub(super) fn fixture(
        &mut self,
        lineup: Lineup,
        kind: MatchKind,
        on_workers: bool,
        challenge: Option<Challenge>,
        deal: Option<u32>,
    ) -> Option<Fixture> {
        let bot = |player: &Entrant| {
            let Member { bot, program, .. } = self.roster.members[player.index()];
            if on_workers { program } else { bot }
        };
        let bots: Option<Vec<usize>> = lineup.seats().iter().map(bot).collect();
        let number = self.matches.next;
        let (options, opening) = self.openings.of(deal.unwrap_or(number));
        let is_in_set = self.seats.is_mirrored && kind == MatchKind::Pairing && !on_workers;
        let fixture = Fixture {
            id: match_id(number, kind),
            deal: deal.map(|first| match_id(first, kind)),
            // The seed of a set determines the opening, and nothing that is secret.
            leg: if is_in_set { Leg::Open } else { Leg::Only },
            options,
            opening,
            bots: bots?,
            wait: Wait::Never,
            secret: None,
        };
        self.matches.next += 1;
        for player in lineup.seats().iter().filter(|&&player| self.matches.matchmaker.has_used_up(player)) {
            let (name, player) = (&self.name, self.results.tally.name(*player));
            let quota = self.limits.quota.unwrap_or(0);
            tracing::info!("{name}: the owner of {player} has used up the quota of {quota} matches today");
        }
        self.matches.running.insert(number, MatchInProgress { lineup, challenge, deal, is_ended: false });
        if on_workers {
            self.on_workers.add(number);
        }
        Some(fixture)
    }

    /// The second match of a set that is due, if there is one.
    fn next_return(&mut self) -> Option<Fixture> {
        let now = self.now();
        let (lineup, first) = self.matches.matchmaker.next_return(now)?;
        self.fixture(lineup, MatchKind::Pairing, false, None, Some(first))
    }
}

#[cfg(test)]
mod tests {
    use referee_engine::runner::{Openings, Scheduler};
    use referee_files::StorageWait;
    use referee_game::Seating;
    use referee_game::chance::RandomKey;
    use referee_league::LadderSeats;
    use referee_match::{Ending, Opening};
    use referee_protocol::words::EndedBy;
    use referee_results::FinishedMatch;
    use serde_json::value::RawValue;

    use super::super::scheduler::LadderScheduler;
    use super::super::{LadderLimits, SharedLadder};
    use super::*;

    #[test]
    fn ended_match_is_not_in_progress_before_it_is_stored() {
        let seats = LadderSeats { seating: Seating::new(2, 2), is_mirrored: false };
        let limits = LadderLimits {
            jobs: 1,
            quota: None,
            versions: 1,
            rest_ms: 0,
            rated_challenges: false,
            evens_out: false,
            keep: None,
        };
        let options: Box<RawValue> = RawValue::from_string("{}".to_owned()).unwrap();
        let openings = Openings::same(options, Opening::default());
        let (options, opening) = openings.of(1);
        let rng = RandomKey([0; 32]).stream();
        let mut ladder = Ladder::new("a", seats, openings, limits, rng, StorageWait::new());
        ladder.resume("m1", None, &["one", "two"], &[]).unwrap();
        ladder.resume("m2", None, &["three", "four"], &[]).unwrap();
        ladder.on_workers.add(2);
        assert_eq!(ladder.matches_here(), 1);
        let ladder = SharedLadder::new(ladder);
        let fixture = Fixture {
            id: "m1".to_owned(),
            deal: None,
            leg: Leg::Only,
            options,
            opening,
            bots: vec![0, 1],
            wait: Wait::Never,
            secret: None,
        };
        let ending = Ending {
            ended_by: EndedBy::Rules,
            reason: String::new(),
            ranks: Some(vec![1, 2]),
            scores: None,
            amounts: None,
            fault: None,
        };
        let players = ["one", "two"].map(str::to_owned).to_vec();
        let finished = FinishedMatch::new("m1".to_owned(), seats.seating, players, ending);
        assert!(LadderScheduler(ladder.clone()).ended(&fixture, &finished));
        let ladder = ladder.lock();
        assert_eq!((ladder.matches_here(), ladder.matches.running.len()), (0, 2));
    }
}
