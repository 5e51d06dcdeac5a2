//! Grades of simulated bots: how much two gradings of one bot differ, whether intervals hold the strength, and how many
//! matches they take.

use crate::simulation::{TWO, expected, mirrored_set, normal, runs, stream};
use referee::game::chance::RandomStream;
use referee::stats::grade::{GradeScale, GradeStep, Grading};
use referee::stats::schedule::{Format, Plan, Schedule};
use referee::stats::{Deals, Entrant, MatchResult};

/// The strengths of the anchors.
const ANCHORS: [f64; 8] = [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0, 1200.0, 1400.0];

/// 100 points over the whole range of the anchors, of which the part in the middle is steeper.
fn scale() -> GradeScale {
    let steps = [("F", 0.0, 0.0), ("D", 400.0, 25.0), ("B", 1000.0, 75.0), ("A", 1400.0, 100.0)];
    let step = |(grade, elo, points): (&str, f64, f64)| GradeStep { grade: grade.to_owned(), elo, points };
    steps.map(step).to_vec().try_into().expect("a scale")
}

struct Bot {
    elo: f64,
    /// The surplus of its score against each anchor over its strength.
    against: [f64; ANCHORS.len()],
    /// The share of draws between equals.
    draws: f64,
}

fn graded(bot: &Bot, max_sets: u32, dice: &mut RandomStream) -> (Grading, Schedule) {
    let terms = scale().terms(2.0, max_sets);
    let mut plan = Plan::new(Format::Grade(terms), TWO, Deals::Mirrored, ANCHORS.len() + 1);
    plan.entrants.iter_mut().skip(1).zip(ANCHORS).for_each(|(entry, elo)| entry.elo = Some(elo));
    let mut schedule = Schedule::new(plan).expect("a schedule");
    loop {
        let Some(due) = schedule.due().next() else { break };
        let first = due.lineup.seats()[0];
        let anchor = due.lineup.seats()[1 - usize::from(first != Entrant(0))].index() - 1;
        let p = expected(bot.elo + bot.against[anchor] - ANCHORS[anchor]);
        let p = if first == Entrant(0) { [p, 1.0 - p] } else { [1.0 - p, p] };
        for (result, number) in
            mirrored_set(due.set, due.lineup, p, bot.draws, dice).into_iter().zip(due.id.number..)
        {
            schedule.record(number, result).expect("a due match");
        }
    }
    (schedule.grading().expect("a grading"), schedule)
}

#[test]
fn two_gradings_differ_by_at_most_two_points_mostly() {
    let runs = runs(12, 2000);
    let scale = scale();
    for (name, deviation, draws) in [
        ("as anchors expect", 0.0, 0.0),
        ("as anchors expect, 40% draws", 0.0, 0.4),
        ("60 Elo off against each anchor", 60.0, 0.4),
    ] {
        let dice = &mut stream(name);
        let (mut apart, mut missed, mut matches) = (0, 0, 0);
        for run in 0..runs {
            let elo = -100.0 + 1600.0 * f64::from(run) / f64::from(runs);
            let bot = Bot { elo, against: ANCHORS.map(|_| deviation * normal(dice)), draws };
            let both = [(); 2].map(|()| graded(&bot, 10_000, dice).0);
            assert!(both.iter().all(|grading| grading.is_graded));
            let [one, other] = both.map(|grading| scale.points(grading.elo.value));
            apart += u32::from((one - other).abs() > 2.0);
            let scaled = scale.points_of(&both[0].elo);
            missed += u32::from(!(scaled.low..=scaled.high).contains(&scale.points(elo)));
            matches += 2 * (both[0].sets + both[1].sets);
        }
        let share = |count: u32| f64::from(count) / f64::from(runs);
        println!(
            "{name}: {:.1}% more than 2 points apart, {:.1}% of intervals miss, {:.0} matches",
            100.0 * share(apart),
            100.0 * share(missed),
            share(matches) / 2.0
        );
        // Three standard errors above 5%.
        let most = 0.05 + 3.0 * (0.05 * 0.95 / f64::from(runs)).sqrt();
        assert!(share(apart) <= most, "{name}: {}", share(apart));
        // The strength of a bot that is not as anchors expect depends on the anchor.
        assert!(deviation > 0.0 || share(missed) <= most, "{name}: {}", share(missed));
    }
}

/// The strength with the expected score of all results, found by bisection.
fn slow_fit(results: &[MatchResult]) -> f64 {
    let surplus = |elo: f64| -> f64 {
        let of = |result: &MatchResult| {
            let anchor =
                result.lineup.seats().iter().find(|&&entrant| entrant != Entrant(0)).expect("an anchor");
            result.score(Entrant(0)).expect("a score") - expected(elo - ANCHORS[anchor.index() - 1])
        };
        results.iter().map(of).sum()
    };
    let (mut low, mut high) = (-4000.0, 5000.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if surplus(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

#[test]
fn the_strength_of_a_grade_is_that_of_its_score() {
    let dice = &mut stream("slow fit");
    for elo in [150.0, 700.0, 1330.0] {
        let bot = Bot { elo, against: [0.0; ANCHORS.len()], draws: 0.3 };
        let (grading, schedule) = graded(&bot, 10_000, dice);
        let results: Vec<MatchResult> = schedule.results().copied().collect();
        let slow = slow_fit(&results);
        let margin = grading.elo.high - grading.elo.value;
        assert!((grading.elo.value - slow).abs() < margin / 10.0, "{grading:?} {slow}");
    }
}

#[test]
fn grade_ends_undecided_at_limit_without_faults_of_anchors() {
    let dice = &mut stream("limits");
    let bot = Bot { elo: 700.0, against: [0.0; ANCHORS.len()], draws: 0.3 };
    let (grading, schedule) = graded(&bot, 20, dice);
    assert!(schedule.is_over() && !grading.is_graded && grading.sets == 20);
    // The anchors have a fault in every match of the last sets.
    let results = schedule.numbered_results().map(|(number, result)| {
        let mut result = *result;
        if number > 30 {
            result.faulted = result
                .lineup
                .seats_of(Entrant(0))
                .iter()
                .map(|seat| referee::game::Seat(1 - seat.0))
                .collect();
        }
        (number, result)
    });
    let (again, _) = Schedule::resume(schedule.plan().clone(), results, []).expect("a schedule");
    assert!(again.grading().expect("a grading").sets <= 15);
}
