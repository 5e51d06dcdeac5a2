//! Races between simulated versions: how often they err, and how many sets they take.

use crate::simulation::{TWO, expected, ranks, runs};
use referee::stats::race::{Race, RaceState, RaceTerms};
use referee::stats::schedule::{Format, MatchRuling, Plan, Ruling, Schedule};
use referee::stats::{Deals, Entrant, MatchResult};

const VERSIONS: usize = 16;

/// Splitmix64 (G. L. Steele and others, *OOPSLA* 2014): millions of sets are simulated.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// The score of the first side.
    fn play(&mut self, elo: f64, draws: f64) -> f64 {
        match ranks(expected(elo), draws, self.unit()) {
            [1, 1] => 0.5,
            [first, _] => f64::from(2 - first),
        }
    }
}

/// Simulated versions: their strengths in Elo, and their openings.
struct Field {
    name: &'static str,
    strengths: fn(&mut Dice) -> Vec<f64>,
    draws: f64,
    /// The number of openings of a book, each with an advantage of the first seat; 0: none.
    book: usize,
}

const FIELDS: [Field; 8] = [
    Field { name: "normal, 50 Elo", strengths: |dice| spread(dice, 50.0), draws: 0.4, book: 0 },
    Field { name: "normal, 200 Elo", strengths: |dice| spread(dice, 200.0), draws: 0.4, book: 0 },
    Field { name: "normal, 50 Elo, book", strengths: |dice| spread(dice, 50.0), draws: 0.4, book: 40 },
    Field { name: "normal, 50 Elo, no draws", strengths: |dice| spread(dice, 50.0), draws: 0.0, book: 0 },
    Field { name: "steps of 10 Elo", strengths: |_| steps(10.0), draws: 0.4, book: 0 },
    Field { name: "steps of 25 Elo, book", strengths: |_| steps(25.0), draws: 0.4, book: 40 },
    // One is better than the others by a little more than a pick may be weaker: the hardest field.
    Field { name: "one 25 Elo ahead", strengths: |_| one_ahead(25.0), draws: 0.4, book: 0 },
    Field { name: "tied", strengths: |_| vec![0.0; VERSIONS], draws: 0.4, book: 0 },
];

fn spread(dice: &mut Dice, deviation: f64) -> Vec<f64> {
    (0..VERSIONS).map(|_| deviation * dice.normal()).collect()
}

fn steps(height: f64) -> Vec<f64> {
    (0..VERSIONS).map(|step| -height * step as f64).collect()
}

fn one_ahead(lead: f64) -> Vec<f64> {
    let mut strengths = vec![0.0; VERSIONS];
    strengths[VERSIONS / 2] = lead;
    strengths
}

/// The outcome of a simulated race.
struct Outcome {
    is_right: bool,
    sets: u32,
}

/// Races once. `is_round_robin`: all pairs play in cycles, until the same test decides.
fn race(field: &Field, dice: &mut Dice, is_round_robin: bool) -> Outcome {
    let strengths = (field.strengths)(dice);
    let book: Vec<f64> = (0..field.book).map(|_| 150.0 * dice.normal()).collect();
    let terms = RaceTerms::default();
    let mut race = Race::new(terms, strengths.len());
    let all: Vec<[Entrant; 2]> = (0..strengths.len() as u16)
        .flat_map(|other| (0..other).map(move |one| [Entrant(one), Entrant(other)]))
        .collect();
    loop {
        let mut pairs = race.next_round(|_| true);
        if pairs.is_empty() {
            break;
        }
        if is_round_robin && race.anchor().is_some() {
            pairs.clone_from(&all);
        }
        for pair in pairs {
            let advantage = match book.len() {
                0 => 0.0,
                openings => book[(dice.unit() * openings as f64) as usize],
            };
            let elo = strengths[pair[0].index()] - strengths[pair[1].index()];
            let first = dice.play(elo + advantage, field.draws);
            let second = dice.play(elo - advantage, field.draws);
            race.add(pair, (first + second) / 2.0);
        }
        assert!(race.sets() < 1_000_000, "the race does not end");
    }
    let best = strengths.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let pick = race.pick().expect("a pick");
    Outcome { is_right: strengths[pick.index()] >= best - terms.within, sets: race.sets() }
}

/// The share of wrong picks and the mean number of matches.
fn simulate(field: &Field, runs: u32, is_round_robin: bool) -> (f64, f64) {
    let mut dice = Dice(7);
    let (mut wrong, mut sets) = (0, 0.0);
    for _ in 0..runs {
        let outcome = race(field, &mut dice, is_round_robin);
        wrong += u32::from(!outcome.is_right);
        sets += f64::from(outcome.sets);
    }
    (f64::from(wrong) / f64::from(runs), 2.0 * sets / f64::from(runs))
}

#[test]
fn races_err_at_most_as_often_as_promised() {
    let runs = runs(40, 10_000);
    for field in &FIELDS {
        let (wrong, matches) = simulate(field, runs, false);
        println!("{}: wrong in {:.2}% of {runs} races, {matches:.0} matches", field.name, 100.0 * wrong);
        assert!(wrong <= 0.05, "{}: wrong in {wrong}", field.name);
    }
}

#[test]
fn race_takes_at_most_half_of_matches_of_round_robin() {
    let runs = runs(3, 200);
    for field in &FIELDS {
        let ((_, race), (_, all)) = (simulate(field, runs, false), simulate(field, runs, true));
        println!("{}: {race:.0} matches, a round robin {all:.0}", field.name);
        assert!(race <= 0.5 * all, "{}: {race} of {all}", field.name);
    }
}

#[test]
fn best_version_is_rarely_eliminated_by_equals_and_never_last() {
    let runs = runs(200, 5000);
    let (mut dice, mut eliminated) = (Dice(3), 0);
    for _ in 0..runs {
        let mut race = Race::new(RaceTerms::default(), 3);
        for set in 0..600 {
            // All are equal, and the second and third play as if they knew the first.
            let pair = [Entrant(0), Entrant(1 + set % 2)];
            race.add(pair, (dice.play(0.0, 0.2) + dice.play(0.0, 0.2)) / 2.0);
            if set % 10 == 0 {
                race.next_round(|_| true);
            }
        }
        eliminated += u32::from(race.state(Entrant(0)) == RaceState::Eliminated);
        let left = (0..3).filter(|&at| race.state(Entrant(at)) != RaceState::Eliminated).count();
        assert!(left > 0);
    }
    // A fifth of the capital is bet on it.
    assert!(f64::from(eliminated) / f64::from(runs) <= 0.01, "{eliminated} of {runs}");
}

/// The mean evidence against the last version over all outcomes of so many sets. It beats each other one as often as
/// `score`; the others are equal.
fn mean_evidence(mut race: Race, mut pairs: Vec<[Entrant; 2]>, best: Entrant, score: f64, sets: u32) -> f64 {
    if sets == 0 {
        return race.evidence(best);
    }
    if pairs.is_empty() {
        pairs = race.next_round(|_| true);
        pairs.reverse();
    }
    let Some(pair) = pairs.pop() else { return race.evidence(best) };
    let wins = match pair.iter().position(|&at| at == best) {
        Some(0) => score,
        Some(_) => 1.0 - score,
        None => 0.5,
    };
    let after = |result: f64| {
        let mut race = race.clone();
        race.add(pair, result);
        mean_evidence(race, pairs.clone(), best, score, sets - 1)
    };
    wins * after(1.0) + (1.0 - wins) * after(0.0)
}

#[test]
fn the_mean_evidence_against_the_best_does_not_grow() {
    let terms = RaceTerms { within: 150.0, ..RaceTerms::default() };
    for (versions, sets) in [(2, 14), (3, 14), (4, 14)] {
        let best = Entrant(versions as u16 - 1);
        let mean = |score| mean_evidence(Race::new(terms, versions), Vec::new(), best, score, sets);
        // Better than each anchor by `within`, so no bet gains on average: the evidence begins with the first
        // bet.
        let at_limit = mean(expected(150.0));
        assert!(at_limit <= 0.2 + 0.8 * 2.0 / 3.0, "{versions} versions: {at_limit}");
        // A version that is much weaker is found out.
        assert!(mean(0.1) > 2.0 * at_limit, "{versions} versions: {}", mean(0.1));
    }
}

fn plan(versions: usize) -> Plan {
    Plan::new(Format::Race(RaceTerms::default()), TWO, Deals::Mirrored, versions)
}

/// Plays due matches, `concurrent` matches at a time in a random order: lower entrants win more.
fn played(schedule: &mut Schedule, dice: &mut Dice, matches: u32) {
    for _ in 0..matches {
        let due: Vec<_> = schedule.due().take(12).collect();
        let Some(due) = due.get((dice.unit() * due.len() as f64) as usize) else { return };
        let [one, other] = [0, 1].map(|seat| f64::from(due.lineup.seats()[seat].0));
        let ranks = ranks(expected(60.0 * (other - one)), 0.3, dice.unit());
        schedule.record(due.id.number, MatchResult::played(due.set, due.lineup, &ranks)).unwrap();
    }
}

#[test]
fn interrupted_race_goes_on_as_if_it_had_not_been() {
    for seed in 0..10 {
        let mut dice = Dice(seed);
        let mut schedule = Schedule::new(plan(5)).unwrap();
        while !schedule.is_over() {
            played(&mut schedule, &mut dice, 97);
            let results = schedule.numbered_results().map(|(number, result)| (number, *result));
            let (resumed, refused) = Schedule::resume(plan(5), results.collect::<Vec<_>>(), []).unwrap();
            assert_eq!((refused.len(), resumed.sets()), (0, schedule.sets()));
            let race = |schedule: &Schedule| format!("{:?}", schedule.race());
            assert_eq!(race(&resumed), race(&schedule));
        }
        assert_eq!(schedule.champion(), Some(Entrant(0)));
    }
}

#[test]
fn a_version_that_withdraws_is_not_picked() {
    let mut dice = Dice(1);
    let mut schedule = Schedule::new(plan(4)).unwrap();
    played(&mut schedule, &mut dice, 60);
    let mut schedule = schedule.without(Entrant(0)).unwrap();
    while !schedule.is_over() {
        played(&mut schedule, &mut dice, 100);
    }
    assert_eq!(schedule.champion(), Some(Entrant(1)));
    assert_eq!(schedule.race().unwrap().state(Entrant(0)), RaceState::Withdrawn);
}

#[test]
fn a_race_without_enough_sets_has_no_pick() {
    let terms = RaceTerms { max_sets: 9, ..RaceTerms::default() };
    let mut schedule = Schedule::new(Plan { format: Format::Race(terms), ..plan(4) }).unwrap();
    played(&mut schedule, &mut Dice(1), 1000);
    assert_eq!((schedule.is_over(), schedule.champion(), schedule.sets().len()), (true, None, 9));
}

#[test]
fn rulings_on_earlier_rounds_of_a_race_are_refused() {
    let mut schedule = Schedule::new(plan(4)).unwrap();
    played(&mut schedule, &mut Dice(1), 60);
    let id = "m1".parse().unwrap();
    let ruling = Ruling { id, decides: MatchRuling::Void, since: schedule.next_round(), until: None };
    let refused = schedule.with_rulings(&[ruling]).unwrap_err().to_string();
    assert!(refused.starts_with("m1 is of round 1, and round "), "{refused}");
}

#[test]
fn versions_beating_each_other_in_circle_yield_one_pick() {
    let mut dice = Dice(5);
    for _ in 0..20 {
        let mut race = Race::new(RaceTerms::default(), 3);
        loop {
            let pairs = race.next_round(|_| true);
            if pairs.is_empty() {
                break;
            }
            for pair in pairs {
                let wins = (pair[1].0 + 3 - pair[0].0) % 3 == 1;
                let elo = if wins { 200.0 } else { -200.0 };
                race.add(pair, (dice.play(elo, 0.3) + dice.play(elo, 0.3)) / 2.0);
            }
        }
        let pick = race.pick().expect("a pick");
        assert_ne!(race.state(pick), RaceState::Eliminated);
    }
}

#[test]
fn impossible_terms_are_refused() {
    for (terms, what) in [
        (RaceTerms { within: 0.0, ..RaceTerms::default() }, "within = 0: expected Elo above 0, at most 800"),
        (RaceTerms { alpha: f64::NAN, ..RaceTerms::default() }, "alpha = NaN: expected a probability"),
        (RaceTerms { max_sets: 0, ..RaceTerms::default() }, "a race needs at least one"),
    ] {
        let refused = Schedule::new(Plan { format: Format::Race(terms), ..plan(3) }).unwrap_err().to_string();
        assert!(refused.starts_with(what), "{refused}");
    }
    let single = Plan::new(Format::Race(RaceTerms::default()), TWO, Deals::Single, 3);
    assert_eq!(Schedule::new(single).unwrap_err().to_string(), "a race needs mirrored sets");
}
