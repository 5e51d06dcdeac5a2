//! The coordinator with carriers that repeat, delay and lose messages, and with workers that cheat. The
//! matches are played in this process.

use std::collections::{BTreeMap, VecDeque};
use std::future;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use referee_protocol::Head;
use referee_protocol::referee::Turn;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;

use crate::carrier::{CarrierEvent, CoordinatorEnd, Order, OutcomeVerdict, Returned};
use crate::machine::Machine;
use crate::unit::{Place, UnitBot, UnitId, UnitOutcome, WorkUnit};
use crate::{Coordinator, Job, JobBots, verify};
use referee_bots::Command;
use referee_engine::driver::{MatchPlan, PlannedSeat, Run, Terms};
use referee_engine::runner::{EndedMatch, Openings, PlanScheduler, RunEnd, RunEvent, Scoring};
use referee_engine::sources::{BotSpec, Source};
use referee_game::Wrong;
use referee_game::chance::{RandomStream, Seed, Uniform};
use referee_game::{Catalog, Chain, Seating};
use referee_match::record;
use referee_match::{Event as MatchInput, Match, MatchEvent, Opening, Stamp};
use referee_results::Roster;
use referee_stats::Deals;
use referee_stats::schedule::{Format, Plan, Schedule};
use referee_store::Leases;

const SEATING: Seating = Seating::new(2, 2);

fn command(name: &str) -> Command {
    Command { argv: vec![name.to_owned()], ..Command::default() }
}

pub(super) fn job(catalog: &Catalog) -> Job {
    let rules = catalog.find("checkers").unwrap().meta();
    let sources = ["one", "other"].map(|name| Arc::new(command(name)) as Arc<dyn Source>);
    let specs = BotSpec::of(sources.to_vec()).into_iter();
    let bots = specs.map(|spec| UnitBot::new(&spec, Place::Installed("/nowhere".into())).unwrap());
    Job {
        run: Run { seed: Seed([7; 32]), terms: Terms::default() },
        game: rules.id,
        rules: rules.rules_version,
        game_files: None,
        seating: SEATING,
        bots: JobBots::new(bots.collect()),
        catalog: catalog.clone(),
        records: None,
        unsealed: None,
        live: None,
        drain: None,
        judges_rules: true,
    }
}

pub(super) fn schedule(sets: u32) -> PlanScheduler {
    let plan = Plan::new(Format::Gauntlet { cycles: sets }, SEATING, Deals::Mirrored, 2);
    let roster = Arc::new(Roster::alone(2));
    let scoring = Scoring { seating: SEATING, legs: 2, on_fault: Terms::default().on_fault, roster };
    let options = to_raw_value(&serde_json::json!({ "turn_limit": 30 })).unwrap();
    let openings = Openings::same(options, Opening::Random(4));
    PlanScheduler::new(Schedule::new(plan).unwrap(), scoring, openings)
}

/// Plays a unit: the bots choose random moves.
pub(super) fn play(unit: &WorkUnit, catalog: &Catalog) -> UnitOutcome {
    let records = (0..unit.matches.len()).map(|index| play_match(unit, index, catalog)).collect();
    UnitOutcome { unit: unit.id.clone(), records }
}

fn play_match(unit: &WorkUnit, index: usize, catalog: &Catalog) -> Vec<u8> {
    let of = &unit.matches[index];
    let seats = of.bots.iter().map(|&bot| {
        let bot = &unit.bots[bot];
        let described = serde_json::json!({ "command": bot.argv, "files": bot.files, "name": "" });
        PlannedSeat { bot: to_raw_value(&described).ok(), ..PlannedSeat::new(bot.name.clone(), 1000) }
    });
    let rules = catalog.find(&unit.game).unwrap();
    let plan = MatchPlan {
        id: of.id.clone(),
        deal: unit.deal.clone(),
        seed: Some(of.seed),
        salt: Some(of.salt.0),
        leg: unit.leg(index),
        opening: unit.opening.clone(),
        ..MatchPlan::new(rules, &unit.options, SEATING, seats.collect())
    };
    // The seed of the run is not known to a worker.
    let (setup, table) = Run { seed: Seed([0; 32]), terms: unit.terms }.set_up(&unit.terms, plan).unwrap();
    let mut play = Match::open(setup, table);
    let mut stamp = Stamp::default();
    let mut rng = of.seed.match_key(&unit.game, &of.id, &[""; 0]).stream();
    loop {
        while let Some(event) = play.poll_event() {
            if let MatchEvent::Ended(_) = event {
                let mut record = play.take_log().text();
                record::seal(&mut record, play.reveal());
                return record;
            }
        }
        let mut answers = Vec::new();
        for seat in SEATING.all().iter() {
            if let Some(transmit) = play.poll_transmit(seat, stamp) {
                for line in transmit.bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                    answers.extend(answer(line, &mut rng).map(|answer| (seat, answer)));
                }
                transmit.bytes.clear();
            }
        }
        stamp.at = stamp.at + 1000;
        for (seat, answer) in &answers {
            let seat = *seat;
            play.handle(
                stamp,
                match answer {
                    None => MatchInput::Ready { seat, nonce: None },
                    Some((turn, text)) => {
                        MatchInput::Answer { seat, turn: *turn, text, offer_draw: false, info: None }
                    }
                },
            );
        }
    }
}

/// The answer to a line: `ready`, or a random legal move for a request.
fn answer(line: &[u8], rng: &mut RandomStream) -> Option<Option<(u64, String)>> {
    match &*serde_json::from_slice::<Head>(line).unwrap().kind {
        "start" => Some(None),
        "turn" => {
            let turn: Turn<&RawValue> = serde_json::from_slice(line).unwrap();
            let legal = turn.legal.unwrap_or_default();
            let choice = &legal[rng.uniform(legal.len() as u64) as usize];
            Some(Some((turn.turn.into(), choice.to_string())))
        }
        _ => None,
    }
}

/// A carrier with workers in this process. `behave` decides on each unit that is published.
struct TestCarrier<F> {
    workers: u32,
    catalog: Catalog,
    behave: F,
}

impl<F: FnMut(&WorkUnit, &str, &Catalog) -> Vec<CarrierEvent>> CoordinatorEnd for TestCarrier<F> {
    async fn serve(
        mut self,
        mut orders: UnboundedReceiver<Order>,
        events: UnboundedSender<CarrierEvent>,
    ) -> Result<(), Wrong> {
        let machine = |number| Machine { name: format!("box{number}"), slots: 2, ..Machine::default() };
        for number in 0..self.workers {
            let _ = events.send(CarrierEvent::Joined(machine(number), Vec::new()));
        }
        let mut next = 0;
        while let Some(order) = orders.recv().await {
            let Order::Publish(unit) = order else { continue };
            next = (next + 1) % self.workers;
            let worker = format!("box{next}");
            let _ = events.send(CarrierEvent::Taken(unit.id.clone(), worker.clone()));
            for event in (self.behave)(&unit, &worker, &self.catalog) {
                let _ = events.send(event);
            }
        }
        Ok(())
    }
}

/// Plays this number of sets with a carrier. Returns the ranks by match, how the run ended, and the workers.
fn run(
    sets: u32,
    timeout: Duration,
    behave: impl FnMut(&WorkUnit, &str, &Catalog) -> Vec<CarrierEvent> + Send + 'static,
) -> (BTreeMap<String, Vec<u8>>, RunEnd, BTreeMap<String, referee_store::WorkerRow>) {
    let catalog = referee_games::catalog();
    let folder = tempfile::tempdir().unwrap();
    let leases = || Leases::open(&referee_files::Folder::open(folder.path()).unwrap(), &[1; 16]).unwrap();
    let end = TestCarrier { workers: 3, catalog: catalog.clone(), behave };
    let mut coordinator = Coordinator::start(end, leases(), timeout).unwrap();
    let mut ranks = BTreeMap::new();
    let on_event = |event: RunEvent<'_>| {
        if let RunEvent::Ended(EndedMatch { finished, .. }) = event {
            let before = ranks.insert(finished.id.clone(), finished.ending.ranks.clone().unwrap());
            assert_eq!(before, None, "{} counts twice", finished.id);
        }
        Ok(())
    };
    let mut job = job(&catalog);
    if timeout < LONG {
        // A bot may think about a move for as long as its clock allows.
        job.run.terms.clock = None;
    }
    let end = coordinator.play(job, schedule(sets), future::pending(), on_event);
    coordinator.end(true).unwrap();
    let workers = leases().workers().unwrap();
    (ranks, end, workers.into_iter().map(|row| (row.name.clone(), row)).collect())
}

fn played(unit: &WorkUnit, worker: &str, catalog: &Catalog) -> Vec<CarrierEvent> {
    vec![CarrierEvent::Played(play(unit, catalog).encoded(), worker.to_owned())]
}

const LONG: Duration = Duration::from_secs(600);

#[test]
fn messages_that_arrive_twice_count_once() {
    let (once, end, _) = run(10, LONG, played);
    assert_eq!((once.len(), end.why.is_none(), end.given_up.len()), (20, true, 0));
    let (twice, _, workers) = run(10, LONG, |unit, worker, catalog| {
        let [event] = <[CarrierEvent; 1]>::try_from(played(unit, worker, catalog)).unwrap();
        let moved = CarrierEvent::Moved(unit.id.clone(), worker.to_owned());
        vec![moved.clone(), moved, event.clone(), event]
    });
    assert_eq!(twice, once);
    let sets: u32 = workers.values().map(|row| row.sets).sum();
    assert_eq!(sets, 10);
}

#[test]
fn outcomes_of_other_workers_and_of_earlier_attempts_are_duplicates() {
    let (once, ..) = run(4, LONG, played);
    let (with, _, workers) = run(4, LONG, |unit, worker, catalog| {
        // Another worker brings another set of moves, later.
        let other = UnitOutcome { records: play(unit, catalog).records, unit: unit.id.clone() };
        let mut events = played(unit, worker, catalog);
        events.push(CarrierEvent::Played(other.encoded(), "late".to_owned()));
        events
    });
    assert_eq!(with, once);
    // The outcome of the last set may come after the end.
    let late = &workers["late"];
    assert!(late.sets == 0 && (3..=4).contains(&late.duplicates), "{late:?}");
}

#[test]
fn lost_units_are_handed_out_again() {
    let (once, ..) = run(6, LONG, played);
    let mut losses = VecDeque::from([true, true, false, true]);
    let (with, end, workers) = run(6, LONG, move |unit, worker, catalog| match losses.pop_front() {
        Some(true) => vec![CarrierEvent::Returned(unit.id.clone(), worker.to_owned(), Returned::Lost)],
        _ => played(unit, worker, catalog),
    });
    assert_eq!((with, end.given_up.len()), (once, 0));
    assert_eq!(workers.values().map(|row| row.lost).sum::<u32>(), 3);
}

#[test]
fn units_that_vanish_are_replaced_by_a_new_attempt() {
    let (once, ..) = run(3, LONG, played);
    let (with, ..) = run(3, Duration::from_secs(1), |unit, worker, catalog| {
        // The first attempt vanishes.
        if unit.id.attempt == 1 { Vec::new() } else { played(unit, worker, catalog) }
    });
    assert_eq!(with, once);
}

#[test]
fn a_set_is_delivered_four_times_at_most() {
    let mut deliveries = 0;
    let (ranks, end, _) = run(3, LONG, move |unit, worker, catalog| {
        if unit.id.set != 2 {
            return played(unit, worker, catalog);
        }
        deliveries += 1;
        assert!(deliveries <= 4);
        vec![CarrierEvent::Returned(unit.id.clone(), worker.to_owned(), Returned::Lost)]
    });
    assert_eq!(ranks.len(), 4, "the other sets are played");
    assert_eq!(end.given_up, ["s2 (m3, m4): delivered 4 times without a result"]);
}

/// The unit of the first set.
pub(super) fn first_unit(catalog: &Catalog) -> WorkUnit {
    let (found, unit) = std::sync::mpsc::channel();
    run(1, LONG, move |unit, worker, catalog| {
        found.send(unit.clone()).unwrap();
        played(unit, worker, catalog)
    });
    let unit = unit.recv().unwrap();
    assert_eq!(verify(&unit, &play(&unit, catalog), catalog).unwrap().len(), 2);
    unit
}

#[test]
fn a_unit_contains_the_seed_of_its_set_only() {
    let unit = first_unit(&referee_games::catalog());
    let text = serde_json::to_string(&unit).unwrap();
    let run = Seed([7; 32]);
    assert!(text.contains(&run.of_deal("s1").to_hex()) && !text.contains(&run.to_hex()));
    assert!(!text.contains(&run.of_deal("s2").to_hex()));
    assert!(!format!("{unit:?}").contains(&run.of_deal("s1").to_hex()), "not in logs");
}

#[test]
fn altered_outcomes_are_refused() {
    let catalog = referee_games::catalog();
    let unit = first_unit(&catalog);
    let refused = |outcome: &UnitOutcome| Chain(&verify(&unit, outcome, &catalog).unwrap_err()).to_string();
    let outcome = play(&unit, &catalog);
    let mut altered = outcome.clone();
    let at = altered.records[0].len() / 2;
    altered.records[0][at] ^= 1;
    refused(&altered);
    let mut short = outcome.clone();
    short.records.pop();
    assert_eq!(refused(&short), "m2 was not played");
    let mut swapped = outcome;
    swapped.records.swap(0, 1);
    assert!(refused(&swapped).contains("`match` is \"m2\", not \"m1\""));
    short.records.clear();
    assert_eq!(refused(&short), "0 records of 2 matches");
    // Played with something else than the unit asks for; the records themselves are valid.
    let with = |change: &dyn Fn(&mut WorkUnit)| {
        let mut other = unit.clone();
        change(&mut other);
        refused(&play(&other, &catalog))
    };
    assert!(
        with(&|unit| unit.matches.iter_mut().for_each(|of| of.seed = Seed([1; 32]))).contains("`commitment`")
    );
    assert!(with(&|unit| unit.terms.margin_ms = 500).contains("`margin_ms` is 500, not 20"));
    assert!(with(&|unit| unit.terms.clock = None).contains("`clock`"));
    assert!(with(&|unit| unit.opening = Opening::None).contains("`opening_plies`"));
    assert!(
        with(&|unit| unit.options = RawValue::from_string("{}".to_owned()).unwrap()).contains("`options`")
    );
    assert!(with(&|unit| unit.bots[0].argv.push("--strong".to_owned())).contains("another command line"));
    let unit = WorkUnit {
        bots: unit
            .bots
            .iter()
            .cloned()
            .map(|mut bot| {
                bot.argv.push("bot.py".to_owned());
                bot.files.insert("bot.py".to_owned(), "ab".to_owned());
                bot
            })
            .collect(),
        ..unit.clone()
    };
    let mut other = unit.clone();
    other.bots[1].files.insert("bot.py".to_owned(), "cd".to_owned());
    let refused = Chain(&verify(&unit, &play(&other, &catalog), &catalog).unwrap_err()).to_string();
    assert!(refused.contains("bot.py differs: its SHA-256 is cd, not ab"), "{refused}");
}

#[test]
fn a_worker_with_a_refused_outcome_is_put_aside() {
    let (once, ..) = run(6, LONG, played);
    let (with, _, workers) = run(6, LONG, |unit, worker, catalog| {
        let mut outcome = play(unit, catalog);
        if worker == "box1" {
            outcome.records[0].truncate(100);
        }
        vec![CarrierEvent::Played(outcome.encoded(), worker.to_owned())]
    });
    assert_eq!(with, once);
    let cheat = &workers["box1"];
    assert_eq!((cheat.sets, &*cheat.state), (0, "aside"));
    assert!(
        cheat.refused > 0 && cheat.reason.as_ref().is_some_and(|why| why.contains("sent another outcome"))
    );
}

/// A carrier whose workers send each outcome again when they have its verdict. The outcome of the first
/// worker is refused. The last one, with which the run ends, waits for the second verdicts of the six others.
struct RepeatingCarrier {
    catalog: Catalog,
    verdicts: Sender<((UnitId, String), OutcomeVerdict)>,
}

impl CoordinatorEnd for RepeatingCarrier {
    async fn serve(
        self,
        mut orders: UnboundedReceiver<Order>,
        events: UnboundedSender<CarrierEvent>,
    ) -> Result<(), Wrong> {
        let mut outcomes = BTreeMap::new();
        let (mut judged, mut last) = (0, None);
        for name in ["cheat", "box"] {
            let machine = Machine { name: name.to_owned(), slots: 2, ..Machine::default() };
            let _ = events.send(CarrierEvent::Joined(machine, Vec::new()));
        }
        while let Some(order) = orders.recv().await {
            match order {
                Order::Publish(unit) => {
                    let worker = if outcomes.is_empty() { "cheat" } else { "box" }.to_owned();
                    let mut outcome = play(&unit, &self.catalog);
                    if worker == "cheat" {
                        outcome.records[0].truncate(100);
                    }
                    let outcome = outcome.encoded();
                    outcomes.insert((unit.id.clone(), worker.clone()), Some(outcome.clone()));
                    let _ = events.send(CarrierEvent::Taken(unit.id.clone(), worker.clone()));
                    if outcomes.len() == 7 && judged < 12 {
                        last = Some(CarrierEvent::Played(outcome, worker));
                    } else {
                        let _ = events.send(CarrierEvent::Played(outcome, worker));
                    }
                }
                Order::Verdict { unit, worker, verdict } => {
                    judged += 1;
                    if judged == 12
                        && let Some(last) = last.take()
                    {
                        let _ = events.send(last);
                    }
                    let key = (unit, worker);
                    if let Some(outcome) = outcomes.get_mut(&key).and_then(Option::take) {
                        let _ = events.send(CarrierEvent::Played(outcome, key.1.clone()));
                    }
                    let _ = self.verdicts.send((key, verdict));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[test]
fn an_outcome_that_is_sent_again_has_the_same_verdict() {
    let catalog = referee_games::catalog();
    let (verdicts, received) = channel();
    let leases = Leases::in_memory(&[1; 16]).unwrap();
    let end = RepeatingCarrier { catalog: catalog.clone(), verdicts };
    let mut coordinator = Coordinator::start(end, leases, LONG).unwrap();
    let end = coordinator.play(job(&catalog), schedule(6), future::pending(), |_| Ok(()));
    assert!(end.why.is_none() && end.given_up.is_empty());
    let rows = coordinator.leases.workers().unwrap();
    assert!(rows.iter().all(|row| row.duplicates == 0), "{rows:?}");
    assert!(rows.iter().any(|row| (&*row.name, row.refused) == ("cheat", 1)), "{rows:?}");
    coordinator.end(true).unwrap();
    let mut seen = BTreeMap::<_, Vec<OutcomeVerdict>>::new();
    for (outcome, verdict) in received {
        seen.entry(outcome).or_default().push(verdict);
    }
    assert!(seen.len() == 7 && seen.values().filter(|verdicts| verdicts.len() == 2).count() >= 6, "{seen:?}");
    assert!(seen.values().all(|verdicts| verdicts.iter().all(|verdict| *verdict == verdicts[0])), "{seen:?}");
}

/// A carrier whose first worker cheats. When the set is queued again, a change of the run is requested.
struct ChangingCarrier {
    catalog: Catalog,
    drain: Option<oneshot::Sender<()>>,
}

impl CoordinatorEnd for ChangingCarrier {
    async fn serve(
        mut self,
        mut orders: UnboundedReceiver<Order>,
        events: UnboundedSender<CarrierEvent>,
    ) -> Result<(), Wrong> {
        for name in ["cheat", "box"] {
            let machine = Machine { name: name.to_owned(), slots: 2, ..Machine::default() };
            let _ = events.send(CarrierEvent::Joined(machine, Vec::new()));
        }
        let mut workers = [Some("cheat"), None, Some("box")].into_iter();
        while let Some(order) = orders.recv().await {
            let Order::Publish(unit) = order else { continue };
            let Some(worker) = workers.next().flatten() else {
                let _ = self.drain.take().unwrap().send(());
                continue;
            };
            let mut outcome = play(&unit, &self.catalog);
            if worker == "cheat" {
                outcome.records[0].truncate(100);
            }
            let _ = events.send(CarrierEvent::Taken(unit.id.clone(), worker.to_owned()));
            let _ = events.send(CarrierEvent::Played(outcome.encoded(), worker.to_owned()));
        }
        Ok(())
    }
}

#[test]
fn requeued_set_of_changed_run_is_handed_out_immediately() {
    let catalog = referee_games::catalog();
    let (drain, drained) = oneshot::channel();
    let end = ChangingCarrier { catalog: catalog.clone(), drain: Some(drain) };
    let mut coordinator = Coordinator::start(end, Leases::in_memory(&[1; 16]).unwrap(), LONG).unwrap();
    let first = Job { drain: Some(drained), ..job(&catalog) };
    let end = coordinator.play(first, schedule(1), future::pending(), |_| Ok(()));
    assert!(end.is_drained && end.why.is_none());
    let too_late = async { tokio::time::sleep(Duration::from_secs(30)).await };
    let end = coordinator.play(job(&catalog), schedule(1), too_late, |_| Ok(()));
    assert!(!end.is_interrupted && end.why.is_none(), "it waits for the worker that was put aside");
    coordinator.end(true).unwrap();
}
