//! The state of a ladder while it is played.

mod challenges;
mod leader;
mod matches;
mod memory;
mod on_workers;
mod recount;
mod results;
mod roster;
mod rules_state;
mod scheduler;
mod snapshot;

pub use memory::LadderMemory;

pub(super) use scheduler::LadderScheduler;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use challenges::Challenges;
use leader::Leader;
use matches::Matches;
use on_workers::WorkerMatches;
use referee_bots::sandbox::Size;
use referee_engine::runner::Openings;
use referee_files::StorageWait;
use referee_game::chance::RandomStream;
use referee_league::{EventEffects, FinalsLink, LadderSeats, LadderSnapshot, PublishedLadder};
use referee_match::record::Times;
use referee_stats::Entrant;
use referee_stats::ladder::{Matchmaker, Strength};
use results::CountedResults;
use roster::LadderRoster;
use rules_state::RulesState;

/// The seconds of a day.
const DAY: u64 = 24 * 60 * 60;

#[derive(Clone, Copy, Debug)]
pub struct LadderLimits {
    /// The number of matches that are played concurrently.
    pub jobs: usize,
    /// The maximum number of matches of all bots of an owner a day; `None`: any.
    pub quota: Option<u32>,
    /// The maximum number of new versions of a bot a day.
    pub versions: u32,
    /// The rest of a player after a match, in milliseconds.
    pub rest_ms: u64,
    /// Whether challenges between players of different owners are rated.
    pub rated_challenges: bool,
    /// Whether the players that have played the fewest matches are paired first.
    pub evens_out: bool,
    /// The size of the directory that outlives the matches of a program that was handed in. With one, it plays one at a time.
    pub keep: Option<Size>,
}

#[derive(Debug)]
pub(super) struct Ladder {
    name: String,
    limits: LadderLimits,
    seats: LadderSeats,
    openings: Openings,
    results: CountedResults,
    roster: LadderRoster,
    matches: Matches,
    challenges: Challenges,
    on_workers: WorkerMatches,
    rules: RulesState,
    leader: Leader,
    is_paused: bool,
    in_force: EventEffects,
    finals: Option<FinalsLink>,
    /// The wait for storage: no match begins while a result or the journal cannot be written.
    wait: StorageWait,
    clock: LadderClock,
}

/// The time at which the ladder was opened.
#[derive(Clone, Copy, Debug)]
struct LadderClock {
    began: Instant,
    /// The opening, in milliseconds since 1970.
    opened_ms: u64,
}

/// A ladder that the scheduler and the server share.
#[derive(Clone, Debug)]
pub(super) struct SharedLadder {
    ladder: Arc<Mutex<Ladder>>,
    pub(super) shown: PublishedLadder,
}

impl SharedLadder {
    pub(super) fn new(ladder: Ladder) -> SharedLadder {
        SharedLadder { ladder: Arc::new(Mutex::new(ladder)), shown: PublishedLadder::default() }
    }

    pub(super) fn publish(&self, at: SystemTime) -> Arc<LadderSnapshot> {
        let snapshot = {
            let mut ladder = self.lock();
            let mut snapshot = ladder.snapshot(at);
            ladder.note_lead(&snapshot.ranking(at));
            snapshot.lead_taken = ladder.leader.taken.clone();
            Arc::new(snapshot)
        };
        self.shown.set(snapshot.clone());
        snapshot
    }

    /// Locks it. Nothing that takes long is done meanwhile.
    pub(super) fn lock(&self) -> MutexGuard<'_, Ladder> {
        self.ladder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rates all players, if results have come since the last time. The ladder is played meanwhile.
    pub(super) fn rate(&self) {
        let (inputs, last_match) = {
            let mut ladder = self.lock();
            if !std::mem::take(&mut ladder.results.is_unrated) {
                return;
            }
            (ladder.results.tally.rating_inputs(), ladder.results.last_match.clone())
        };
        let fit = inputs.fit();
        drop(inputs);
        let mut ladder = self.lock();
        for (at, strength) in Strength::all(&fit).into_iter().enumerate() {
            ladder.matches.matchmaker.rate(Entrant(at as u16), strength);
        }
        (ladder.results.fit, ladder.results.rated_to) = (Arc::new(fit), last_match);
    }
}

impl Ladder {
    /// A ladder without players.
    pub(super) fn new(
        name: &str,
        seats: LadderSeats,
        openings: Openings,
        limits: LadderLimits,
        rng: RandomStream,
        wait: StorageWait,
    ) -> Ladder {
        let matchmaker = Matchmaker::new(seats.seating, limits.jobs).evening_out(limits.evens_out);
        Ladder {
            name: name.to_owned(),
            limits,
            seats,
            openings,
            results: CountedResults::new(seats),
            roster: LadderRoster::default(),
            matches: Matches { matchmaker, rng, running: BTreeMap::new(), next: 1 },
            challenges: Challenges::default(),
            on_workers: WorkerMatches::default(),
            rules: RulesState::default(),
            leader: Leader::default(),
            is_paused: false,
            in_force: EventEffects::default(),
            finals: None,
            wait,
            clock: LadderClock { began: Instant::now(), opened_ms: 0 },
        }
    }

    /// Notes the think time of the players of a match, from its report and record.
    pub(super) fn timed(&mut self, players: &[String], times: &Times) {
        let players: Option<Vec<Entrant>> =
            players.iter().map(|name| self.results.tally.find(name)).collect();
        let Some(players) = players.filter(|players| players.len() > 1) else { return };
        let mut think_time = vec![0; players.len()];
        for answer in &times.answers {
            if let Some(sum) = think_time.get_mut(answer.seat.index()) {
                *sum += answer.took_us;
            }
        }
        let all: u64 = think_time.iter().sum();
        let now = self.now();
        for (player, own) in players.iter().zip(think_time) {
            let of_others = (all - own) / (players.len() as u64 - 1);
            self.matches.matchmaker.add_think_time(*player, own.saturating_sub(of_others), now);
        }
    }

    /// The teams, and whether it is played in mirrored sets.
    pub(super) fn seats(&self) -> LadderSeats {
        self.seats
    }

    /// The number of the next match.
    pub(super) fn set_next(&mut self, next: u32) {
        self.matches.next = next;
    }

    /// Returns the microseconds since the ladder was opened.
    fn now(&self) -> u64 {
        self.clock.began.elapsed().as_micros() as u64
    }

    fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.clock.opened_ms + self.now() / 1000)
    }

    /// Begins the day of this time. `played` has the number of matches of each player on this day so far.
    pub(super) fn begin_day(&mut self, at: SystemTime, played: &BTreeMap<String, u32>) {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let day = since.as_secs() / DAY;
        if day != self.matches.matchmaker.day() {
            let known =
                played.iter().filter_map(|(name, &count)| Some((self.results.tally.find(name)?, count)));
            let known: Vec<(Entrant, u32)> = known.collect();
            self.matches.matchmaker.begin_day(day, known);
            self.roster.new_versions.clear();
        }
    }

    /// Pauses or resumes pairing: no match begins while the league is paused.
    pub(super) fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    pub(super) fn set_in_force(&mut self, in_force: EventEffects) {
        self.in_force = in_force;
    }

    pub(super) fn set_finals(&mut self, finals: Option<FinalsLink>) {
        self.finals = finals;
    }
}
