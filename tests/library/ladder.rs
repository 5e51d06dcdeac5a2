//! A ladder in virtual time: who meets whom, how long players wait, and how well the ratings know them.

mod intervals;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use proptest::prelude::*;
use referee::game::chance::{RandomStream, Seed};
use referee::game::{Seating, Uniform};
use referee::stats::ladder::{Copies, FirstMatch, Matchmaker, Newcomer, Strength};
use referee::stats::rating::bradley_terry::{Counts, FitConstraints, fit_anchored};
use referee::stats::sample::MatchMoves;
use referee::stats::{Entrant, Lineup, MatchResult};

use crate::simulation::{is_long, normal, runs, unit};

const TWO: Seating = Seating::new(2, 2);
const SECOND: u64 = 1_000_000;

fn stream(name: &str) -> RandomStream {
    Seed([7; 32]).match_key("ladder", name, &["", ""]).stream()
}

/// A ladder whose matches take a random time.
struct Simulation {
    matchmaker: Matchmaker,
    rng: RandomStream,
    now: u64,
    /// The maximum number of matches at once.
    jobs: usize,
    strengths: Vec<f64>,
    known: FitConstraints,
    counts: Counts,
    running: BinaryHeap<Reverse<(u64, u64, Vec<u16>)>>,
    played: u64,
    /// By player: when it became free, and its waits for sets in microseconds.
    free_since: Vec<u64>,
    waits: Vec<Vec<u64>>,
    lineups: Vec<Lineup>,
    /// By match: the number of the first one of its set, if it is the second one.
    firsts: Vec<Option<u32>>,
    results: Vec<Option<FirstMatch>>,
    copies: Copies,
    /// The results of deterministic players by their seats: they play each match like the first one with these seats.
    deterministic: Option<BTreeMap<Vec<u16>, bool>>,
    /// A player, and others that lose all matches against it on purpose.
    collusion: Option<(u16, std::ops::RangeInclusive<u16>)>,
    /// By player: how long its matches take compared to others.
    slowness: Vec<u64>,
    /// The number of matches after which players are rated. Fits take most of the time of these tests.
    rated_every: u64,
}

impl Simulation {
    fn new(name: &str, jobs: usize, strengths: Vec<f64>) -> Simulation {
        let mut matchmaker = Matchmaker::new(TWO, jobs);
        for owner in 0..strengths.len() {
            let player = matchmaker.join(Newcomer { owner: owner as u32, quota: None });
            matchmaker.set_places(player, 1, 0);
        }
        let players = strengths.len();
        let mut counts = Counts::default();
        counts.grow(players);
        Simulation {
            matchmaker,
            rng: stream(name),
            now: 0,
            jobs,
            strengths,
            known: FitConstraints::default(),
            counts,
            running: BinaryHeap::new(),
            played: 0,
            free_since: vec![0; players],
            waits: vec![Vec::new(); players],
            lineups: Vec::new(),
            firsts: Vec::new(),
            results: Vec::new(),
            copies: Copies::default(),
            deterministic: None,
            collusion: None,
            slowness: vec![1; players],
            rated_every: 25,
        }
    }

    fn fill(&mut self) {
        while self.running.len() < self.jobs
            && let Some((lineup, first)) = self.next()
        {
            let seats: Vec<u16> = lineup.seats().iter().map(|player| player.0).collect();
            let slow = seats.iter().map(|&seat| self.slowness[usize::from(seat)]).max().unwrap();
            let takes = slow * (20 * SECOND + self.rng.uniform(40 * SECOND));
            // Return matches follow at once.
            for seat in seats.iter().map(|&seat| usize::from(seat)).filter(|_| first.is_none()) {
                self.waits[seat].push(self.now - self.free_since[seat]);
            }
            self.lineups.push(lineup);
            self.firsts.push(first);
            self.results.push(None);
            self.running.push(Reverse((self.now + takes, self.lineups.len() as u64, seats)));
        }
    }

    /// The next match, and the number of the first one of its set, if it is the second one.
    fn next(&mut self) -> Option<(Lineup, Option<u32>)> {
        let owed = self.matchmaker.next_return(self.now).map(|(lineup, first)| (lineup, Some(first)));
        owed.or_else(|| Some((self.matchmaker.next(self.now, &mut self.rng)?, None)))
    }

    /// Ends the match that is over next.
    fn step(&mut self) {
        self.fill();
        let Reverse((at, number, seats)) = self.running.pop().expect("a match is running");
        self.now = at;
        let lineup = self.lineups[number as usize - 1];
        let [one, other] = [0, 1].map(|seat: usize| self.strengths[usize::from(seats[seat])]);
        let wins = unit(&mut self.rng) < 1.0 / (1.0 + 10f64.powf((other - one) / 400.0));
        let is_given = |of: u16, by: u16| {
            self.collusion.as_ref().is_some_and(|(lifted, losers)| *lifted == of && losers.contains(&by))
        };
        let wins = (wins || is_given(seats[0], seats[1])) && !is_given(seats[1], seats[0]);
        let wins = match &mut self.deterministic {
            Some(played) => *played.entry(seats.clone()).or_insert(wins),
            None => wins,
        };
        let ranks = if wins { [1, 2] } else { [2, 1] };
        let result = MatchResult::played(number as u32, lineup, &ranks);
        self.matchmaker.ended(&lineup, true, self.now);
        let first = self.firsts[number as usize - 1];
        let first = first.map(|first| self.results[first as usize - 1].expect("it has ended"));
        if first.is_none() {
            self.matchmaker.queue_return(&lineup, number as u32, self.now);
        }
        let moves = self.deterministic.as_ref().map(|_| MatchMoves { opening: 0, all: 0 });
        let counted = self.copies.add(first, result, moves);
        self.results[number as usize - 1] = Some(FirstMatch { result, is_copy: counted.is_empty() });
        for (first, result) in counted {
            match first {
                None => self.counts.add(&result),
                Some(first) => self.counts.complete(&first, &result),
            }
        }
        let slowness = |seat: usize| self.slowness[usize::from(seats[seat])];
        for seat in [0, 1] {
            let longer = slowness(seat).saturating_sub(slowness(1 - seat)) * 40 * SECOND;
            self.matchmaker.add_think_time(Entrant(seats[seat]), longer, self.now);
        }
        seats.iter().for_each(|&seat| self.free_since[usize::from(seat)] = self.now);
        self.played += 1;
        // The server rates at intervals too.
        if self.played.is_multiple_of(self.rated_every) {
            self.rate();
        }
    }

    fn rate(&mut self) {
        let fit = fit_anchored(&self.counts, &self.known);
        for (player, strength) in Strength::all(&fit).into_iter().enumerate() {
            self.matchmaker.rate(Entrant(player as u16), strength);
        }
    }

    /// By player: the number of matches against each other one.
    fn meetings(&self) -> Vec<BTreeMap<u16, u32>> {
        let mut meetings = vec![BTreeMap::new(); self.strengths.len()];
        for lineup in &self.lineups {
            let [one, other] = *lineup.seats() else { panic!("two seats") };
            *meetings[one.index()].entry(other.0).or_default() += 1;
            *meetings[other.index()].entry(one.0).or_default() += 1;
        }
        meetings
    }

    /// The greatest difference between the numbers of times that two players had each seat against each other.
    fn imbalance(&self) -> i32 {
        let mut leads: BTreeMap<(u16, u16), i32> = BTreeMap::new();
        for lineup in &self.lineups {
            let [one, other] = *lineup.seats() else { panic!("two seats") };
            let by = if one < other { 1 } else { -1 };
            *leads.entry((one.0.min(other.0), one.0.max(other.0))).or_default() += by;
        }
        leads.values().map(|lead| lead.abs()).max().unwrap_or(0)
    }
}

/// Spearman's rank correlation.
fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        let rank = |value: &f64| values.iter().filter(|other| *other < value).count() as f64;
        values.iter().map(rank).collect()
    };
    let n = one.len() as f64;
    let squares: f64 = ranks(one).iter().zip(ranks(other)).map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

/// 50 bots spread evenly over 1,000 Elo, in an order that does not depend on it.
fn field(name: &str) -> Vec<f64> {
    let mut strengths: Vec<f64> = (0..50).map(|bot| 1000.0 * f64::from(bot) / 49.0).collect();
    stream(name).shuffle(&mut strengths);
    strengths
}

#[test]
fn fifty_bots_are_ranked_after_sixty_matches_each() {
    let mut correlations = Vec::new();
    for run in 0..runs(1, 5) {
        let name = format!("fifty {run}");
        let mut ladder = Simulation::new(&name, 10, field(&name));
        while ladder.played < 60 * 50 / 2 {
            ladder.step();
        }
        let fit = fit_anchored(&ladder.counts, &ladder.known);
        let rated: Vec<f64> = fit.elo.iter().map(|elo| elo.value).collect();
        correlations.push(rank_correlation(&ladder.strengths, &rated));
        let mut waits: Vec<u64> = ladder.waits.concat();
        waits.sort_unstable();
        let (median, longest) = (waits[waits.len() / 2], waits[waits.len() - 1]);
        let meetings = ladder.meetings();
        let share = |of: &BTreeMap<u16, u32>| {
            f64::from(*of.values().max().unwrap()) / f64::from(of.values().sum::<u32>())
        };
        let worst_pair = meetings.iter().map(share).fold(0.0, f64::max);
        let played: Vec<u32> = meetings.iter().map(|of| of.values().sum()).collect();
        println!(
            "run {run}: correlation {:.4}, median wait {} s, longest {} s, worst pair {:.0}%, matches {} to {}",
            correlations[run as usize],
            median / SECOND,
            longest / SECOND,
            100.0 * worst_pair,
            played.iter().min().unwrap(),
            played.iter().max().unwrap()
        );
        assert!(longest <= 3 * median, "the longest wait is {longest} us, the median {median}");
        assert!(worst_pair <= 0.2, "two bots meet in {worst_pair} of their matches");
        assert!(ladder.imbalance() <= 1, "seats differ by {}", ladder.imbalance());
    }
    let mean = correlations.iter().sum::<f64>() / correlations.len() as f64;
    assert!(mean >= 0.98, "{correlations:?}");
}

#[test]
fn new_bot_is_paired_soon_and_known_after_hundred_matches() {
    let (mut margins, mut covered) = (0.0, 0);
    let (rated_every, runs) = (runs(50, 25), runs(1, 8));
    for run in 0..runs {
        let name = format!("new {run}");
        let mut ladder = Simulation::new(&name, 10, field(&name));
        ladder.rated_every = u64::from(rated_every);
        while ladder.played < 60 * 50 / 2 {
            ladder.step();
        }
        let player = ladder.matchmaker.join(Newcomer { owner: 99, quota: None });
        ladder.strengths.push(700.0);
        ladder.free_since.push(ladder.now);
        ladder.waits.push(Vec::new());
        ladder.slowness.push(1);
        ladder.counts.grow(51);
        ladder.matchmaker.set_places(player, 1, ladder.now);
        let begun = ladder.lineups.len();
        while ladder.lineups.iter().filter(|lineup| lineup.has(player)).count() <= 100 {
            ladder.step();
        }
        let elo = fit_anchored(&ladder.counts, &ladder.known).elo[player.index()];
        let first = ladder.waits[player.index()][0];
        println!("first match after {:.1} s", first as f64 / SECOND as f64);
        // Return matches are owed before.
        let next = (begun..).find(|&at| ladder.firsts[at].is_none()).map(|at| ladder.lineups[at]);
        assert!(next.is_some_and(|lineup| lineup.has(player)), "the next set is its first one: {next:?}");
        println!("after 100 matches: {:.0} [{:.0}, {:.0}]", elo.value, elo.low, elo.high);
        margins += elo.high - elo.value;
        let mean: f64 = ladder.strengths.iter().sum::<f64>() / 51.0;
        covered += u32::from((elo.low..=elo.high).contains(&(700.0 - mean)));
    }
    let mean = margins / f64::from(runs);
    println!("mean distance to the ends of the interval: {mean:.1} Elo");
    assert!(mean <= 84.0, "{mean}");
    assert!(covered + 1 >= runs, "{covered} of {runs} intervals cover");
}

/// A field of 20 with normally distributed strengths of mean 0.
fn field_of_twenty(name: &str) -> Vec<f64> {
    let mut stream = stream(name);
    let mut strengths: Vec<f64> = (0..20).map(|_| 150.0 * normal(&mut stream)).collect();
    let mean = strengths.iter().sum::<f64>() / 20.0;
    strengths.iter_mut().for_each(|x| *x -= mean);
    strengths
}

#[test]
fn accomplices_that_lose_on_purpose_lift_a_bot_by_little() {
    let runs = runs(2, 12);
    for each in [400, 100, 1600].into_iter().take(if is_long() { 3 } else { 1 }) {
        let mut lifted = 0.0;
        for run in 0..runs {
            let name = format!("collusion {each} {run}");
            let mut strengths = field_of_twenty(&name);
            strengths[..4].fill(0.0);
            let mut ladder = Simulation::new(&name, 5, strengths);
            ladder.collusion = Some((0, 1..=3));
            ladder.rated_every = 200;
            while ladder.played < each * 20 / 2 {
                ladder.step();
            }
            let elo = fit_anchored(&ladder.counts, &ladder.known).elo[0];
            let mean = ladder.strengths.iter().sum::<f64>() / 20.0;
            lifted += (elo.value + mean) / f64::from(runs);
        }
        println!("{each} matches each: three of 19 that lose on purpose lift a bot by {lifted:.0} Elo");
        // Without the limit 60 to 70 Elo.
        let most = if each == 100 { 75.0 } else { 55.0 };
        assert!(lifted < if is_long() { most } else { 70.0 }, "{lifted}");
    }
}

/// A bot with versions of these strengths plays a hundred matches with each, and the others a hundred before. Returns the
/// differences of the ratings of all versions and their strengths, at the end. With one name, all matches count for one.
fn off_by(name: &str, versions: &[f64], has_one_name: bool) -> Vec<f64> {
    let mut ladder = Simulation::new(name, 5, field_of_twenty(name));
    ladder.rated_every = 200;
    while ladder.played < 100 * 20 / 2 {
        ladder.step();
    }
    let mut before: Option<Entrant> = None;
    for &strength in versions {
        let player = match before.filter(|_| has_one_name) {
            Some(player) => player,
            None => {
                let player = ladder.matchmaker.join(Newcomer { owner: 99, quota: None });
                ladder.strengths.push(0.0);
                ladder.free_since.push(ladder.now);
                ladder.waits.push(Vec::new());
                ladder.slowness.push(1);
                ladder.counts.grow(ladder.strengths.len());
                if let Some(before) = before {
                    ladder.matchmaker.set_places(before, 0, ladder.now);
                    ladder.known.predecessors.insert(player, before);
                }
                ladder.matchmaker.set_places(player, 1, ladder.now);
                player
            }
        };
        ladder.strengths[player.index()] = strength;
        let until = ladder.lineups.len();
        let played =
            |ladder: &Simulation| ladder.lineups[until..].iter().filter(|lineup| lineup.has(player)).count();
        while played(&ladder) < 100 {
            ladder.step();
        }
        before = Some(player);
    }
    let elo = fit_anchored(&ladder.counts, &ladder.known).elo;
    // Relative to the others, whose strengths have the mean 0.
    let field = elo[..20].iter().map(|elo| elo.value).sum::<f64>() / 20.0;
    elo[20..].iter().zip(&ladder.strengths[20..]).map(|(elo, truth)| elo.value - field - truth).collect()
}

#[test]
fn newest_version_is_not_overrated_and_improvement_shows() {
    let runs = runs(2, 12);
    let (mut newest, mut best, mut improved, mut with_one_name) = (0.0, 0.0, 0.0, 0.0);
    for run in 0..runs {
        let parts = f64::from(runs);
        let versions = if is_long() { 20 } else { 8 };
        let identical = off_by(&format!("identical {run}"), &vec![0.0; versions], false);
        newest += identical[versions - 1] / parts;
        best += identical.iter().copied().fold(f64::MIN, f64::max) / parts;
        let name = format!("improved {run}");
        improved += off_by(&name, &[0.0, 200.0], false)[1] / parts;
        with_one_name += off_by(&name, &[0.0, 200.0], true)[0] / parts;
    }
    println!(
        "identical versions after 100 matches each: the newest is {newest:.0} Elo too high, the best {best:.0}; improved by \
         200 Elo: {improved:.0} too high as a new version, {with_one_name:.0} under one name"
    );
    // An interval after a hundred matches reaches 80 Elo to both sides.
    let error = 80.0 / 1.96 / f64::from(runs).sqrt();
    assert!(newest.abs() < 3.0 * error && improved.abs() < 3.0 * error, "{newest} {improved}");
    assert!(best > newest && with_one_name < improved - 30.0, "{best} {with_one_name}");
}

#[test]
fn bot_that_uses_up_every_clock_does_not_delay_others() {
    // The number of matches among the others.
    let hours = u64::from(runs(2, 4));
    let played = |bots: usize, jobs: usize, slowness: u64| {
        let mut ladder = Simulation::new("slow", jobs, (0..bots).map(|bot| 20.0 * bot as f64).collect());
        ladder.slowness[3] = slowness;
        ladder.rated_every = u64::from(runs(400, 25));
        while ladder.now < hours * 3600 * SECOND {
            ladder.step();
        }
        let meetings = ladder.meetings();
        let of_others = (0..bots).filter(|&bot| bot != 3).map(|bot| {
            let of_slow = meetings[bot].get(&3).copied().unwrap_or(0);
            meetings[bot].values().sum::<u32>() - of_slow
        });
        f64::from(of_others.sum::<u32>())
    };
    for (bots, jobs) in [(50, 25), (12, 4), (12, 2), (30, 4)] {
        let kept = played(bots, jobs, 30) / played(bots, jobs, 1);
        println!("{bots} bots, {jobs} matches at once: the others keep {:.1}%", 100.0 * kept);
        assert!(kept >= 0.95, "{kept} with {jobs} matches at once");
    }
}

#[test]
fn numbers_of_matches_are_evened_out_if_asked() {
    // The difference between the most and the fewest matches of 20 bots, of which one is slow and two come an hour late, and
    // the longest wait for a set in seconds.
    let play = |evens_out: bool| {
        let mut ladder = Simulation::new("even", 6, (0..20).map(|bot| 20.0 * f64::from(bot)).collect());
        ladder.matchmaker = ladder.matchmaker.evening_out(evens_out);
        ladder.slowness[3] = 3;
        ladder.rated_every = 100;
        for late in [7, 8] {
            ladder.matchmaker.set_places(Entrant(late), 0, 0);
        }
        while ladder.now < 3600 * SECOND {
            ladder.step();
        }
        for late in [7, 8] {
            ladder.matchmaker.set_places(Entrant(late), 1, ladder.now);
            ladder.free_since[usize::from(late)] = ladder.now;
        }
        while ladder.now < 4 * 3600 * SECOND {
            ladder.step();
        }
        let played: Vec<u32> = ladder.meetings().iter().map(|of| of.values().sum()).collect();
        let longest = ladder.waits.concat().into_iter().max().unwrap() / SECOND;
        (played.iter().max().unwrap() - played.iter().min().unwrap(), longest, ladder.played)
    };
    let (by_waits, evened_out) = (play(false), play(true));
    println!("(most - fewest matches, longest wait in s, matches): {by_waits:?}, evened out {evened_out:?}");
    assert!(3 * evened_out.0 <= by_waits.0, "{by_waits:?} {evened_out:?}");
    // Two minutes, and a match of the slow one until there is room.
    assert!(evened_out.1 <= 120 + 180, "{evened_out:?}");
}

proptest! {
    #[test]
    fn players_meet_as_promised(
        owners in prop::collection::vec(0u32..6, 2..12),
        jobs in 1usize..6,
        seats in prop::sample::select(vec![(2u8, 2u8), (3, 3), (4, 2), (6, 3)]),
        seed in any::<[u8; 32]>(),
        quota in prop::option::of(1u32..20),
    ) {
        let seating = Seating::new(seats.0, seats.1);
        let mut rng = Seed(seed).match_key("ladder", "promises", &["", ""]).stream();
        let mut ladder = Matchmaker::new(seating, jobs);
        for &owner in &owners {
            let player = ladder.join(Newcomer { owner, quota });
            ladder.set_places(player, 1, 0);
        }
        let mut now = 0;
        let mut running: Vec<Lineup> = Vec::new();
        let mut last: BTreeMap<Entrant, Vec<Entrant>> = BTreeMap::new();
        let mut began = vec![0; owners.len()];
        for _ in 0..200 {
            now += rng.uniform(5 * SECOND);
            let mut next = || {
                let owed = ladder.next_return(now).map(|(lineup, _)| lineup);
                owed.or_else(|| ladder.next(now, &mut rng))
            };
            if running.len() < jobs && let Some(lineup) = next() {
                for (seat, player) in lineup.seats().iter().enumerate() {
                    began[player.index()] += 1;
                    let is_playing = running.iter().any(|other| other.has(*player));
                    prop_assert!(!is_playing, "one match at a time");
                    for other in &lineup.seats()[seat + 1..] {
                        prop_assert_ne!(owners[player.index()], owners[other.index()]);
                    }
                }
                running.push(lineup);
            } else if !running.is_empty() {
                let ended = running.swap_remove(rng.uniform(running.len() as u64) as usize);
                match rng.uniform(8) {
                    0 => ladder.put_back(&ended),
                    1 => ladder.ended(&ended, false, now),
                    _ => {
                        ladder.ended(&ended, true, now);
                        for &player in ended.seats() {
                            last.insert(player, ended.seats().to_vec());
                        }
                        if seating == TWO && rng.uniform(2) == 0 {
                            ladder.queue_return(&ended, 0, now);
                        }
                    }
                }
                if ladder.has_used_up(ended.seats()[0]) {
                    let owner = owners[ended.seats()[0].index()];
                    let own = (0..owners.len()).filter(|&player| owners[player] == owner);
                    prop_assert!(own.map(|player| began[player]).sum::<u32>() >= quota.unwrap());
                }
            }
        }
    }

    #[test]
    fn of_three_that_wait_no_two_meet_twice_in_row(seed in any::<[u8; 32]>()) {
        let mut rng = Seed(seed).match_key("ladder", "three", &["", ""]).stream();
        let mut ladder = Matchmaker::new(TWO, 10);
        for owner in 0..3 {
            let player = ladder.join(Newcomer { owner, quota: None });
            ladder.set_places(player, 1, 0);
        }
        let mut last = None;
        let mut first_seats: BTreeMap<(Entrant, Entrant), i32> = BTreeMap::new();
        for at in 0..60 {
            let lineup = ladder.next(at * SECOND, &mut rng).expect("three are free");
            let [one, other] = *lineup.seats() else { panic!("two seats") };
            let pair = (one.min(other), one.max(other));
            *first_seats.entry(pair).or_default() += if one < other { 1 } else { -1 };
            prop_assert_ne!(last.replace(pair), Some(pair));
            ladder.ended(&lineup, true, at * SECOND);
        }
        prop_assert!(first_seats.values().all(|lead| lead.abs() <= 1), "{first_seats:?}");
    }

    #[test]
    fn matches_of_three_to_six_follow_each_other_without_pause(
        seats in 3u8..7,
        more in 0usize..5,
        seed in any::<[u8; 32]>(),
    ) {
        let mut rng = Seed(seed).match_key("ladder", "groups", &["", ""]).stream();
        let players = usize::from(seats) + more;
        let mut ladder = Matchmaker::new(Seating::new(seats, seats), 1);
        for owner in 0..players as u32 {
            let player = ladder.join(Newcomer { owner, quota: None });
            ladder.set_places(player, 1, 0);
        }
        let mut last = BTreeSet::new();
        let (mut played, mut meetings) = (vec![0; players], BTreeSet::new());
        for at in 0..60 {
            let lineup = ladder.next(at * SECOND, &mut rng);
            prop_assert!(lineup.is_some(), "nobody plays after {at} matches");
            let lineup = lineup.unwrap();
            let group: BTreeSet<Entrant> = lineup.seats().iter().copied().collect();
            prop_assert!(more == 0 || group != last, "another group is possible");
            for &player in &group {
                played[player.index()] += 1;
                meetings.extend(group.iter().map(|&other| (player, other)));
            }
            last = group;
            ladder.ended(&lineup, true, at * SECOND + 1);
        }
        prop_assert_eq!(meetings.len(), players * players, "all meet");
        let mean = 60.0 * f64::from(seats) / players as f64;
        prop_assert!(played.iter().all(|&own| (f64::from(own) / mean - 1.0).abs() < 0.4), "{played:?}");
    }
}

#[test]
fn two_that_are_alone_play_on() {
    let mut rng = stream("two");
    let mut ladder = Matchmaker::new(TWO, 10);
    for owner in 0..2 {
        let player = ladder.join(Newcomer { owner, quota: None });
        ladder.set_places(player, 1, 0);
    }
    for at in 0..10 {
        let lineup = ladder.next(at, &mut rng).expect("only two are available");
        ladder.ended(&lineup, true, at);
    }
}

#[test]
fn player_with_one_possible_opponent_does_not_wait_for_another() {
    let mut rng = stream("owner");
    let mut ladder = Matchmaker::new(TWO, 10);
    for owner in [0, 0, 1] {
        let player = ladder.join(Newcomer { owner, quota: None });
        ladder.set_places(player, 1, 0);
    }
    let mut meetings: BTreeMap<Entrant, u32> = BTreeMap::new();
    for at in 0..10 {
        let lineup = ladder.next(at * SECOND, &mut rng).expect("each meets the third in turns");
        lineup.seats().iter().for_each(|&player| *meetings.entry(player).or_default() += 1);
        ladder.ended(&lineup, true, at * SECOND);
    }
    assert_eq!(meetings.into_values().collect::<Vec<_>>(), [5, 5, 10]);
}

#[test]
fn two_that_just_met_wait_ten_seconds_for_third() {
    let mut rng = stream("third");
    let mut ladder = Matchmaker::new(TWO, 10);
    let players: Vec<Entrant> = (0..4).map(|owner| ladder.join(Newcomer { owner, quota: None })).collect();
    players.iter().for_each(|&player| ladder.set_places(player, 1, 0));
    let first = ladder.next(0, &mut rng).unwrap();
    // The other two play for long.
    ladder.next(0, &mut rng).unwrap();
    ladder.ended(&first, true, 0);
    assert_eq!(ladder.next(9 * SECOND, &mut rng), None);
    let again = ladder.next(10 * SECOND, &mut rng).expect("the same again");
    assert!(again.seats().iter().all(|&player| first.has(player)) && again != first, "with seats exchanged");
}

/// A ladder of three, of whom two have just ended the first match of a set at 0; they, and the third one.
fn owing(rng: &mut RandomStream) -> (Matchmaker, Lineup, Entrant) {
    let mut ladder = Matchmaker::new(TWO, 10);
    let players: Vec<Entrant> = (0..3).map(|owner| ladder.join(Newcomer { owner, quota: None })).collect();
    players.iter().for_each(|&player| ladder.set_places(player, 1, 0));
    let first = ladder.next(0, rng).unwrap();
    ladder.ended(&first, true, 0);
    ladder.queue_return(&first, 7, 0);
    let third = *players.iter().find(|&&player| !first.has(player)).unwrap();
    (ladder, first, third)
}

#[test]
fn two_players_keep_their_places_for_the_return_match() {
    let mut rng = stream("return");
    let (mut ladder, first, _) = owing(&mut rng);
    first.seats().iter().for_each(|&player| ladder.rest(player, SECOND));
    assert_eq!(ladder.next_return(0), None, "they rest");
    assert_eq!(ladder.next(0, &mut rng), None, "the third one does not get their places");
    let (lineup, number) = ladder.next_return(SECOND).expect("it is due");
    assert_eq!((lineup.seats()[0], lineup.seats()[1], number), (first.seats()[1], first.seats()[0], 7));
    ladder.ended(&lineup, true, SECOND);
    assert_eq!(ladder.next_return(2 * SECOND), None);
    assert!(ladder.next(2 * SECOND, &mut rng).is_some());
}

#[test]
fn return_match_stays_owed_when_player_leaves() {
    let mut rng = stream("owed");
    let (mut ladder, first, third) = owing(&mut rng);
    ladder.set_places(first.seats()[1], 0, 0);
    assert_eq!((ladder.next_return(9 * SECOND), ladder.next(9 * SECOND, &mut rng)), (None, None));
    assert_eq!(ladder.next_return(10 * SECOND), None);
    let other = ladder.next(10 * SECOND, &mut rng).expect("the other one is free again");
    assert!(other.has(first.seats()[0]) && other.has(third));
    ladder.set_places(first.seats()[1], 1, 12 * SECOND);
    assert_eq!(ladder.next_return(12 * SECOND), None, "the other one plays");
    assert_eq!(ladder.next(12 * SECOND, &mut rng), None);
    ladder.ended(&other, true, 13 * SECOND);
    let (lineup, number) = ladder.next_return(13 * SECOND).expect("both are there");
    assert_eq!((lineup.seats()[0], lineup.seats()[1], number), (first.seats()[1], first.seats()[0], 7));
    assert_eq!(ladder.next_return(13 * SECOND), None);
}

#[test]
fn two_do_not_wait_for_a_third_that_is_excluded() {
    let mut rng = stream("out");
    let mut ladder = Matchmaker::new(TWO, 10);
    let players: Vec<Entrant> = (0..3).map(|owner| ladder.join(Newcomer { owner, quota: None })).collect();
    players.iter().for_each(|&player| ladder.set_places(player, 1, 0));
    let first = ladder.next(0, &mut rng).unwrap();
    ladder.ended(&first, true, 0);
    let third = *players.iter().find(|&&player| !first.has(player)).unwrap();
    ladder.exclude(third, 60 * SECOND);
    assert!(ladder.next(SECOND, &mut rng).is_some());
}

#[test]
fn a_quota_is_that_of_the_owner() {
    let mut rng = stream("owner");
    let mut ladder = Matchmaker::new(TWO, 10);
    // Two versions of a bot, and three others.
    for owner in [0, 0, 1, 2, 3] {
        let player = ladder.join(Newcomer { owner, quota: Some(2) });
        ladder.set_places(player, 1, 0);
    }
    let mut played = 0;
    for at in 0..50 {
        let Some(lineup) = ladder.next(at * 20 * SECOND, &mut rng) else { break };
        played += lineup.seats().iter().filter(|player| player.0 < 2).count();
        ladder.ended(&lineup, true, at * 20 * SECOND);
    }
    assert_eq!(played, 2, "both versions together");
}

#[test]
fn a_challenge_counts_for_the_quota_of_nobody() {
    let mut rng = stream("challenge");
    let mut ladder = Matchmaker::new(TWO, 10);
    let players: Vec<Entrant> = (0..2).map(|owner| ladder.join(Newcomer { owner, quota: Some(1) })).collect();
    players.iter().for_each(|&player| ladder.set_places(player, 1, 0));
    for number in 0..3 {
        let lineup = ladder.challenge(&players, 0, &mut rng).expect("both are free");
        if number == 1 { ladder.put_back_challenge(&lineup) } else { ladder.ended(&lineup, true, 0) }
    }
    let lineup = ladder.next(20 * SECOND, &mut rng).expect("the quota is left");
    ladder.ended(&lineup, true, 20 * SECOND);
    assert_eq!(ladder.next(40 * SECOND, &mut rng), None);
    assert!(ladder.challenge(&players, 40 * SECOND, &mut rng).is_some(), "also when it is used up");
}

#[test]
fn a_quota_ends_with_the_day() {
    let mut rng = stream("quota");
    let mut ladder = Matchmaker::new(TWO, 10);
    for owner in 0..2 {
        let player = ladder.join(Newcomer { owner, quota: Some(2) });
        ladder.set_places(player, 1, 0);
    }
    let play = |ladder: &mut Matchmaker, rng: &mut RandomStream| {
        let lineup = ladder.next(0, rng)?;
        ladder.ended(&lineup, true, 0);
        Some(lineup)
    };
    assert_eq!((0..5).filter_map(|_| play(&mut ladder, &mut rng)).count(), 2);
    ladder.begin_day(1, [(Entrant(0), 1)]);
    assert_eq!((0..5).filter_map(|_| play(&mut ladder, &mut rng)).count(), 1);
}
