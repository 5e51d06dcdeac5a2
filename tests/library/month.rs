//! A month of a ladder in virtual time: bots that come and go, learn and break.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use referee::game::chance::RandomStream;
use referee::game::{Seating, Uniform};
use referee::stats::ladder::{FaultExclusion, Matchmaker, Newcomer, Strength};
use referee::stats::rating::bradley_terry::{Counts, FitConstraints, fit_anchored};
use referee::stats::{Entrant, Lineup, MatchResult};

use crate::simulation::{expected, runs, stream, unit};

const SECOND: u64 = 1_000_000;
const HOUR: u64 = 3600 * SECOND;
const DAY: u64 = 24 * HOUR;
/// The ratings of bots with fewer matches are not compared with their strengths.
const KNOWN: u32 = 50;
/// The number of matches for each job after which players are rated: every five hours of a long run, otherwise every
/// twenty, because fits take most of the time.
fn rated_every() -> usize {
    runs(160, 40) as usize
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The match with this index ends.
    Ends(usize),
    /// A bot connects or disconnects.
    Toggles(usize),
    /// A bot has a new version.
    Learns(usize),
    /// A bot crashes in all matches from now on, or not any more.
    Breaks(usize),
    /// The exclusion of a player ends.
    Returns,
}

struct Bot {
    player: Entrant,
    is_online: bool,
    is_broken: bool,
}

struct Player {
    strength: f64,
    exclusion: FaultExclusion,
    is_playing: bool,
    /// Since when it could be paired.
    free_since: u64,
    played: u32,
    meetings: BTreeMap<u16, u32>,
}

struct Month {
    rng: RandomStream,
    now: u64,
    jobs: usize,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    matchmaker: Matchmaker,
    bots: Vec<Bot>,
    players: Vec<Player>,
    known: FitConstraints,
    counts: Counts,
    lineups: Vec<Lineup>,
    /// By match: the number of the first one of its set, if it is the second one.
    firsts: Vec<Option<u32>>,
    /// By match, if it counts.
    results: Vec<Option<MatchResult>>,
    running: usize,
    waits: Vec<u64>,
    broken_matches: u32,
}

impl Month {
    fn new(name: &str, bots: usize, jobs: usize) -> Month {
        let mut month = Month {
            rng: stream(name),
            now: 0,
            jobs,
            events: BinaryHeap::new(),
            number: 0,
            matchmaker: Matchmaker::new(Seating::new(2, 2), jobs),
            bots: Vec::new(),
            players: Vec::new(),
            known: FitConstraints::default(),
            counts: Counts::default(),
            lineups: Vec::new(),
            firsts: Vec::new(),
            results: Vec::new(),
            running: 0,
            waits: Vec::new(),
            broken_matches: 0,
        };
        for bot in 0..bots {
            let strength = 1000.0 * unit(&mut month.rng);
            let player = month.join(bot, strength);
            month.bots.push(Bot { player, is_online: false, is_broken: false });
            // Two anchors stay all the time.
            if bot < 2 {
                month.known.anchors.insert(player, strength);
                month.toggle(bot);
                continue;
            }
            for (event, most) in
                [(Event::Toggles(bot), DAY), (Event::Learns(bot), 10 * DAY), (Event::Breaks(bot), 60 * DAY)]
            {
                month.schedule(event, most);
            }
        }
        month
    }

    /// Schedules an event after a random time, uniform up to `most`.
    fn schedule(&mut self, event: Event, most: u64) {
        let at = self.now + self.rng.uniform(most);
        self.schedule_at(event, at);
    }

    fn schedule_at(&mut self, event: Event, at: u64) {
        self.number += 1;
        self.events.push(Reverse((at, self.number, event)));
    }

    fn join(&mut self, owner: usize, strength: f64) -> Entrant {
        let player = self.matchmaker.join(Newcomer { owner: owner as u32, quota: None });
        self.players.push(Player {
            strength,
            exclusion: FaultExclusion::default(),
            is_playing: false,
            free_since: self.now,
            played: 0,
            meetings: BTreeMap::new(),
        });
        self.counts.grow(self.players.len());
        player
    }

    fn toggle(&mut self, bot: usize) {
        let Bot { player, is_online, .. } = &mut self.bots[bot];
        *is_online = !*is_online;
        self.matchmaker.set_places(*player, usize::from(*is_online), self.now);
        let player = &mut self.players[player.index()];
        player.free_since = player.free_since.max(self.now);
    }

    fn learn(&mut self, bot: usize) {
        let Bot { player: before, is_online, .. } = self.bots[bot];
        let strength = self.players[before.index()].strength + 80.0 * unit(&mut self.rng) - 20.0;
        let player = self.join(bot, strength);
        self.known.predecessors.insert(player, before);
        self.matchmaker.set_places(before, 0, self.now);
        self.matchmaker.set_places(player, usize::from(is_online), self.now);
        self.bots[bot].player = player;
    }

    fn fill(&mut self) {
        while self.running < self.jobs
            && let Some((lineup, first)) = self.next()
        {
            for &player in lineup.seats() {
                let player = &mut self.players[player.index()];
                assert!(!player.is_playing, "one match at a time");
                player.is_playing = true;
                // Return matches follow at once.
                if first.is_none() {
                    self.waits.push(self.now.saturating_sub(player.free_since.max(player.exclusion.until())));
                }
            }
            let is_broken = lineup.seats().iter().any(|&player| self.is_broken(player));
            let takes = if is_broken { SECOND } else { 300 * SECOND + self.rng.uniform(300 * SECOND) };
            self.broken_matches += u32::from(is_broken);
            self.lineups.push(lineup);
            self.firsts.push(first);
            self.results.push(None);
            self.running += 1;
            self.schedule_at(Event::Ends(self.lineups.len() - 1), self.now + takes);
        }
    }

    /// The next match, and the number of the first one of its set, if it is the second one.
    fn next(&mut self) -> Option<(Lineup, Option<u32>)> {
        let owed = self.matchmaker.next_return(self.now).map(|(lineup, first)| (lineup, Some(first)));
        owed.or_else(|| Some((self.matchmaker.next(self.now, &mut self.rng)?, None)))
    }

    fn is_broken(&self, player: Entrant) -> bool {
        self.bots.iter().any(|bot| bot.player == player && bot.is_broken)
    }

    fn end(&mut self, index: usize) {
        let lineup = self.lineups[index];
        let seats = [lineup.seats()[0], lineup.seats()[1]];
        let [one, other] = seats.map(|player| self.players[player.index()].strength);
        let crash = seats.map(|player| self.is_broken(player));
        let is_won = match crash {
            [true, _] => false,
            [false, true] => true,
            [false, false] => unit(&mut self.rng) < expected(one - other),
        };
        self.running -= 1;
        self.matchmaker.ended(&lineup, true, self.now);
        // A match that a crash decided tells nothing of the strengths: the simulation leaves it out of its error.
        if crash == [false, false] {
            let ranks = if is_won { [1, 2] } else { [2, 1] };
            let result = MatchResult::played(index as u32, lineup, &ranks);
            self.results[index] = Some(result);
            match self.firsts[index].and_then(|first| self.results[first as usize]) {
                Some(first) => self.counts.complete(&first, &result),
                None => self.counts.add(&result),
            }
        }
        if self.firsts[index].is_none() {
            self.matchmaker.queue_return(&lineup, index as u32, self.now);
        }
        for (seat, player) in seats.into_iter().enumerate() {
            let now = self.now;
            let entry = &mut self.players[player.index()];
            entry.is_playing = false;
            entry.free_since = now;
            entry.played += u32::from(crash == [false, false]);
            *entry.meetings.entry(seats[1 - seat].0).or_default() += 1;
            if let Some(until) = entry.exclusion.ended(crash[seat], now) {
                self.matchmaker.exclude(player, until);
                self.schedule_at(Event::Returns, until);
            }
        }
        if index.is_multiple_of(rated_every() * self.jobs) {
            self.rate();
        }
    }

    fn rate(&mut self) {
        let fit = fit_anchored(&self.counts, &self.known);
        for (player, strength) in Strength::all(&fit).into_iter().enumerate() {
            self.matchmaker.rate(Entrant(player as u16), strength);
        }
    }

    fn run(&mut self, end: u64) {
        self.fill();
        while let Some(Reverse((at, _, event))) = self.events.pop()
            && at < end
        {
            self.now = at;
            match event {
                Event::Ends(index) => self.end(index),
                Event::Toggles(bot) => {
                    self.toggle(bot);
                    self.schedule(event, DAY);
                }
                Event::Learns(bot) => {
                    self.learn(bot);
                    self.schedule(event, 20 * DAY);
                }
                Event::Breaks(bot) => {
                    let is_broken = &mut self.bots[bot].is_broken;
                    *is_broken = !*is_broken;
                    let most = if *is_broken { DAY } else { 60 * DAY };
                    self.schedule(event, most);
                }
                Event::Returns => {}
            }
            self.fill();
        }
    }
}

#[derive(Debug)]
struct Report {
    median_wait_s: u64,
    longest_wait_s: u64,
    /// The largest share of one opponent in the matches of a player with enough of them.
    worst_pair: f64,
    /// The root mean square of the differences between ratings and strengths, in Elo.
    error: f64,
    /// The number of intervals that contain the strength.
    covered: f64,
    /// The share of matches with a broken bot.
    broken: f64,
    matches: usize,
}

fn report(month: &mut Month) -> Report {
    let fit = fit_anchored(&month.counts, &month.known);
    let rated: Vec<(f64, bool)> = month
        .players
        .iter()
        .zip(&fit.elo)
        .filter(|(player, _)| player.played >= KNOWN)
        .map(|(player, elo)| (elo.value - player.strength, (elo.low..=elo.high).contains(&player.strength)))
        .collect();
    let share = |player: &Player| {
        let most = player.meetings.values().max().copied().unwrap_or(0);
        f64::from(most) / f64::from(player.meetings.values().sum::<u32>().max(1))
    };
    let known = month.players.iter().filter(|player| player.played >= KNOWN);
    let worst_pair = known.map(share).fold(0.0, f64::max);
    month.waits.sort_unstable();
    let count = rated.len() as f64;
    println!("{} players, {} of them with {KNOWN} matches or more", month.players.len(), rated.len());
    Report {
        median_wait_s: month.waits[month.waits.len() / 2] / SECOND,
        longest_wait_s: month.waits[month.waits.len() - 1] / SECOND,
        worst_pair,
        error: (rated.iter().map(|(error, _)| error * error).sum::<f64>() / count).sqrt(),
        covered: rated.iter().filter(|(_, is_covered)| *is_covered).count() as f64 / count,
        broken: f64::from(month.broken_matches) / month.lineups.len() as f64,
        matches: month.lineups.len(),
    }
}

/// A month of 200 bots in a long run of the tests, otherwise ten days of 40.
#[test]
fn bots_that_come_and_go_are_paired_and_rated() {
    let (days, bots, jobs, runs) =
        if std::env::var_os("LONG_TESTS").is_some() { (30, 200, 50, 1) } else { (10, 40, 6, 1) };
    let mut covered = 0.0;
    for run in 0..runs {
        let mut month = Month::new(&format!("month {run}"), bots, jobs);
        month.run(days * DAY);
        let report = report(&mut month);
        println!("{days} days, {bots} bots, {jobs} matches at once: {} matches", report.matches);
        println!("waits: median {} s, longest {} s", report.median_wait_s, report.longest_wait_s);
        println!("largest share of one opponent: {:.0}%", 100.0 * report.worst_pair);
        let (error, within) = (report.error, 100.0 * report.covered);
        println!("ratings: error {error:.0} Elo, {within:.0}% of the intervals cover");
        println!("matches with a broken bot: {:.1}%", 100.0 * report.broken);
        assert!(report.longest_wait_s < 3600, "{report:?}");
        assert!(report.worst_pair <= 0.2, "{report:?}");
        assert!(report.broken < 0.05, "{report:?}");
        covered += report.covered / f64::from(runs);
    }
    // The anchors shift all ratings of a run by the same error, so that one run alone may cover less.
    assert!(covered >= 0.9, "{covered}");
}
