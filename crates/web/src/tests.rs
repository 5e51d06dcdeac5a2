//! Responses to spectators: it depends on nothing that is hidden from them, and no move is missing if they
//! fall behind.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use referee_protocol::referee::Reveal;
use referee_protocol::words::{EndedBy, FaultCode};
use referee_results::FinishedMatch;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::board::{BoardDelays, BoardEvent, BoardForm, LiveBoard};
use crate::entries::BoardAccess;
use crate::hub::{Hub, MatchAccess};
use referee_engine::runner::{EndedMatch, Fixture, LiveEvent, LiveHeader, LiveStep, Visibility, Wait};
use referee_game::chance::{RandomKey, RandomStream, Uniform};
use referee_game::erased::{Knowledge, Rules, Table};
use referee_game::test_length::long_or;
use referee_game::{Seat, Seating, Turn, Viewer, keys};
use referee_match::record::PublishedInfo;
use referee_match::{Ending, Faults, Leg, Opening};
use referee_stats::Cause;

/// The first line of a record.
const SET_UP: &str = r#"{"type":"record","format":2,"referee":"referee/0.1.0","match":"m1","game":"checkers","rules":1,"options":{"fen":"B:W23:B10","draw_plies":50,"turn_limit":0},"seats":[{"name":"my_bot","team":0,"ready_ms":60000},{"name":"other_bot","team":1,"ready_ms":60000}],"clock":{"delay_ms":5000,"bank_ms":60000,"increment_ms":0},"margin_ms":20,"on_fault":"forfeit","deal":"m1","commitment":"34f6c8da9620584c4fe415e490f518f0b6fd3e796223f766ce959bfeb80dd99a","nonce":true,"auto_ready":false,"limits":{"strays":20,"move_chars":256,"info_bytes":4096,"info_per_match_bytes":1048576,"nonce_bytes":64,"fallback_moves":64,"opening_plies":100,"opening_tries":1000}}"#;

const POSITIONS_PER_GAME: usize = long_or(1_000, 250);

fn header(rules: &dyn Rules, seating: Seating) -> Arc<LiveHeader> {
    let seats = seating.all();
    let seats = seats.iter().map(|seat| (format!("bot {seat}"), seating.side(seat) as u8)).collect();
    Arc::new(LiveHeader {
        id: "m1".to_owned(),
        game: rules.meta(),
        seats,
        clock: None,
        began_at: SystemTime::UNIX_EPOCH,
        visibility: Visibility::Live,
    })
}

/// The events of a position as the public sees them.
fn events(table: &dyn Table) -> Vec<u8> {
    let mut out = Vec::new();
    for index in 0..table.event_count() {
        table.write_event(index, Viewer::Public, &mut out);
        out.push(b'\n');
    }
    out
}

fn step(table: &dyn Table, seating: Seating) -> LiveStep {
    let seats = seating.seats();
    LiveStep {
        table: table.fork(),
        events: events(table),
        infos: Vec::new(),
        faults: vec![Faults::default(); seats],
        banks_ms: vec![Some(1000); seats],
    }
}

fn view(table: &dyn Table, viewer: Viewer) -> String {
    String::from_utf8(table.view(viewer).unwrap()).unwrap()
}

/// A board that shows this position, and everything that spectators get of it.
fn opened(header: &Arc<LiveHeader>, step: &LiveStep) -> (LiveBoard, [Vec<BoardEvent>; 2]) {
    let board = LiveBoard::new(header.clone(), Viewer::Public, BoardDelays::default(), step);
    let sent = [BoardForm::Shapes, BoardForm::Text].map(|form| board.after(None, form));
    (board, sent)
}

/// The events that spectators get of the next position.
fn added(mut board: LiveBoard, step: &LiveStep) -> [Vec<BoardEvent>; 2] {
    board.add(step);
    [BoardForm::Shapes, BoardForm::Text].map(|form| board.after(Some(0), form))
}

/// Plays a move of each deciding seat; the same in all tables. `None` if a move is not legal in all of them.
fn play(tables: &mut [&mut Box<dyn Table>], rng: &mut RandomStream) -> Option<()> {
    let first = tables[0].ask().decide()?;
    let mut choose = |seat| {
        let at = rng.uniform(tables[0].count(&first, seat) as u64) as usize;
        tables[0].text(&first, seat, at).to_owned()
    };
    let texts: Vec<(Seat, String)> = first.seats().iter().map(|seat| (seat, choose(seat))).collect();
    let mut chosen = Vec::new();
    for table in tables.iter_mut() {
        let decision = table.ask().decide()?;
        let mut find = |(seat, text): &(Seat, String)| table.find(&decision, *seat, text).ok();
        let indices: Vec<usize> = texts.iter().map(&mut find).collect::<Option<_>>()?;
        chosen.push((decision, indices));
    }
    for (table, (decision, indices)) in tables.iter_mut().zip(chosen) {
        table.play(decision, &indices).unwrap();
    }
    Some(())
}

/// A position that a seat cannot distinguish from this one.
fn imagined(rules: &dyn Rules, table: &dyn Table, seating: Seating, seat: Seat) -> Box<dyn Table> {
    let view = RawValue::from_string(view(table, Viewer::Seat(seat))).unwrap();
    let (options, turns_left) = (table.options(), table.turns_left());
    let knowledge = Knowledge { options, seating, seat, view: &view, turns_left };
    let imagined = rules.imagine(&knowledge, 1, &mut RandomKey([0; 32]).stream()).unwrap();
    imagined.expect("the game samples positions").remove(0)
}

#[test]
fn the_public_bytes_are_the_same_when_secrets_are_replaced() {
    for rules in referee_games::catalog().games().filter(|rules| rules.meta().hidden) {
        let (mut positions, mut different, mut continued) = (0, 0, 0);
        for number in 0.. {
            let seating = rules.meta().seatings[number % rules.meta().seatings.len()];
            let header = header(rules, seating);
            let mut rng = RandomKey([number as u8; 32]).stream();
            let mut table = rules.open(&rules.default_options(), seating).unwrap();
            while positions < POSITIONS_PER_GAME {
                table.forget();
                match table.turn() {
                    Turn::Over(_) => break,
                    Turn::Draw(draw) => {
                        let mut drawn = Vec::new();
                        rng.draw(draw, &mut drawn);
                        table.settle(&drawn).unwrap();
                        continue;
                    }
                    Turn::Decide(_) => {}
                }
                positions += 1;
                let seat = Seat((positions % seating.seats()) as u8);
                let mut other = imagined(rules, &*table, seating, seat);
                let is_different = view(&*table, Viewer::Omniscient) != view(&*other, Viewer::Omniscient);
                different += usize::from(is_different);
                let (board, sent) = opened(&header, &step(&*table, seating));
                let (other_board, other_sent) = opened(&header, &step(&*other, seating));
                assert_eq!(sent, other_sent, "{} {seat}", rules.meta().id);

                let mut real = table.fork();
                if play(&mut [&mut real, &mut other], &mut rng).is_some()
                    && matches!(real.turn(), Turn::Decide(_))
                    && matches!(other.turn(), Turn::Decide(_))
                    // A move may reveal something to the seat, and so to others.
                    && view(&*real, Viewer::Seat(seat)) == view(&*other, Viewer::Seat(seat))
                {
                    continued += usize::from(is_different);
                    let sent = added(board, &step(&*real, seating));
                    let other_sent = added(other_board, &step(&*other, seating));
                    assert_eq!(sent, other_sent, "{} {seat}", rules.meta().id);
                }
                play(&mut [&mut table], &mut rng).expect("a legal move");
            }
            if positions == POSITIONS_PER_GAME {
                break;
            }
        }
        println!(
            "{}: {different} of {positions} differ in secrets, {continued} a move later",
            rules.meta().id
        );
        assert!(different > POSITIONS_PER_GAME / 2 && continued > POSITIONS_PER_GAME / 20);
    }
}

/// So many random positions of checkers: the first one, then one after each move.
fn steps_of_checkers(count: usize) -> Vec<LiveStep> {
    let rules = referee_games::catalog().find("checkers").expect("a game");
    let seating = rules.meta().seatings[0];
    let mut rng = RandomKey([1; 32]).stream();
    let mut table = rules.open(&rules.default_options(), seating).expect("a position");
    let steps = (0..count).map(|_| {
        let shown = step(&*table, seating);
        table.forget();
        play(&mut [&mut table], &mut rng).expect("a legal move");
        shown
    });
    steps.collect()
}

fn merged(steps: impl IntoIterator<Item = LiveStep>) -> LiveStep {
    steps.into_iter().reduce(|earlier, step| step.after(earlier)).expect("a step")
}

/// The moves that events of a board contain, in order.
fn moves_of(events: &[BoardEvent]) -> Vec<Value> {
    let mut moves = Vec::new();
    for BoardEvent { data, .. } in events {
        let data: Value = serde_json::from_str(data).expect("JSON");
        let steps = data["steps"].as_array().cloned().unwrap_or_else(|| vec![data["step"].clone()]);
        for note in steps.iter().flat_map(|step| step["s"].as_array().cloned().unwrap_or_default()) {
            if note[1] == "move" {
                moves.push(note[3].clone());
            }
        }
    }
    moves
}

/// The final drawing of a board's snapshot, without the marks of the latest move.
fn drawn(board: &LiveBoard) -> Vec<String> {
    const MARK: u64 = 1;
    let snapshot: Value = serde_json::from_str(&board.after(None, BoardForm::Shapes)[0].data).expect("JSON");
    let mut things = BTreeMap::new();
    for step in snapshot["steps"].as_array().expect("steps") {
        for change in step["c"].as_array().expect("changes") {
            let thing = change[1].as_u64().expect("a thing");
            match change[4].as_u64() {
                Some(look) if change[5] != MARK => {
                    let look = &snapshot["looks"][look as usize];
                    things.insert(thing, format!("{} {} {} {look}", change[2], change[3], change[6]));
                }
                _ => _ = things.remove(&thing),
            }
        }
    }
    let mut drawn: Vec<String> = things.into_values().collect();
    drawn.sort();
    drawn
}

#[test]
fn step_of_several_positions_tells_all_moves_and_draws_last() {
    let header = header(referee_games::catalog().find("checkers").expect("a game"), Seating::new(2, 2));
    let board = |delay: u32, groups: &[usize]| {
        let mut steps = steps_of_checkers(1 + groups.iter().sum::<usize>()).into_iter();
        let mut board = LiveBoard::new(
            header.clone(),
            Viewer::Public,
            BoardDelays { moves: delay, info: None },
            &steps.next().expect("the first"),
        );
        groups.iter().for_each(|&size| board.add(&merged(steps.by_ref().take(size))));
        board
    };
    let (single, late) = (board(0, &[1; 9]), board(0, &[1, 4, 3, 1]));
    let events = single.after(Some(0), BoardForm::Shapes);
    let late_events = late.after(Some(0), BoardForm::Shapes);
    assert_eq!((events.len(), late_events.len()), (9, 4));
    assert_eq!(moves_of(&events).len(), 9);
    assert_eq!(moves_of(&late_events), moves_of(&events));
    let numbers: Vec<u64> = late_events.iter().map(|event| event.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4], "the numbers of events remain consecutive");
    assert_eq!(drawn(&late), drawn(&single));
    let texts = |board: &LiveBoard| -> Vec<Value> {
        let events = board.after(Some(0), BoardForm::Text);
        events.iter().map(|event| serde_json::from_str(&event.data).expect("JSON")).collect()
    };
    let lines = |texts: &[Value]| -> Vec<Value> {
        texts.iter().flat_map(|text| text["lines"].as_array().cloned().expect("lines")).collect()
    };
    assert_eq!(lines(&texts(&late)), lines(&texts(&single)), "their numbers continue");
    assert_eq!(texts(&late)[3], texts(&single)[8]);
    // A board that is 3 moves behind shows a step only if all of its moves are old enough.
    assert_eq!([&[1, 4][..], &[1, 4, 2], &[1, 4, 3]].map(|groups| board(3, groups).moves()), [1, 1, 5]);
}

/// The end of a match between the bots `one` and `two`, who made a fault.
fn ended(rules: &'static dyn Rules, id: &str, deal: Option<&str>, leg: Leg) -> LiveEvent {
    let fixture = Fixture {
        id: id.to_owned(),
        deal: deal.map(str::to_owned),
        leg,
        options: Arc::from(rules.default_options()),
        opening: Arc::new(Opening::None),
        bots: vec![0, 1],
        wait: Wait::Always,
        secret: None,
    };
    let reveal =
        Reveal { seed: "5eed".to_owned(), salt: String::new(), deal: "m1".to_owned(), nonces: Vec::new() };
    let mut faults = Faults::default();
    faults.add(FaultCode::IllegalMove);
    let names = ["one", "two"].map(str::to_owned).to_vec();
    let ending = Ending {
        ended_by: EndedBy::Aborted,
        reason: "aborted".to_owned(),
        ranks: Some(vec![1, 2]),
        scores: Some(vec![1.0, 0.0]),
        amounts: None,
        fault: None,
    };
    let finished = FinishedMatch {
        faults: vec![Faults::default(), faults],
        decisions: 7,
        cause: Some(Cause::Interrupted),
        ..FinishedMatch::new(id.to_owned(), Seating::new(2, 2), names, ending)
    };
    let record = format!("{SET_UP}\n").into_bytes();
    LiveEvent::Ended(Box::new(EndedMatch { fixture, finished, record, seal: None, reveal, no_show: None }))
}

#[test]
fn match_with_missed_beginning_is_held_until_set_completes() {
    let rules = referee_games::catalog().find("saxum").expect("a game");
    let hub = Hub::new(
        1,
        rules.meta(),
        referee_games::catalog(),
        BoardDelays::default(),
        PublishedInfo::After,
        None,
        keys,
    );
    let figure = |name: &str| {
        let text = hub.metrics_text();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        value.unwrap_or_else(|| panic!("{name}: {text}"))
    };
    let faults = || {
        let bots: Value = serde_json::from_str(&hub.bots()).expect("JSON");
        bots["bots"][1]["faults"].clone()
    };
    hub.handle(ended(rules, "m1", Some("m1"), Leg::Earlier));
    assert!(matches!(hub.access("m1"), Some(MatchAccess::Nothing(BoardAccess::Held))));
    assert!(!json_of(&hub.entry("m1")).to_string().contains("5eed"));
    assert_eq!(json_of(&hub.entry("m1"))["faults"], Value::Null);
    assert_eq!(faults(), json!({}));
    assert_eq!(figure("referee_matches_total{result=\"yes\"}"), 1);
    assert_eq!(figure("referee_faults_total{code=\"illegal_move\"}"), 0);
    assert_eq!(figure("referee_decisions_total"), 0);
    assert_eq!(figure("referee_lag_seconds_count"), 0);
    hub.handle(ended(rules, "m2", Some("m1"), Leg::Last));
    for id in ["m1", "m2"] {
        let Some(MatchAccess::Replay(replay)) = hub.access(id) else { panic!("{id} has no replay") };
        let record = String::from_utf8(replay.record.read().expect("a record")).expect("text");
        assert!(record.contains("5eed"), "{record}");
    }
    assert_eq!(faults(), json!({ "illegal_move": 2 }));
    assert_eq!(figure("referee_faults_total{code=\"illegal_move\"}"), 2);
    assert_eq!(figure("referee_decisions_total"), 14);
    assert_eq!(figure("referee_lag_seconds_count"), 2);
}

fn json_of(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("JSON")
}

#[test]
fn everything_that_waits_at_end_of_run_is_shown() {
    let rules = referee_games::catalog().find("checkers").expect("a game");
    let hub = Hub::new(
        1,
        rules.meta(),
        referee_games::catalog(),
        BoardDelays::default(),
        PublishedInfo::After,
        None,
        keys,
    );
    let header = header(rules, Seating::new(2, 2));
    let mut steps = steps_of_checkers(10).into_iter();
    hub.handle(LiveEvent::Moved(header.clone(), steps.next()));
    let Some(MatchAccess::Board(board)) = hub.access("m1") else { panic!("no board") };
    hub.handle(LiveEvent::Moved(header, Some(merged(steps))));
    hub.handle(ended(rules, "m1", None, Leg::Only));
    let events = board.lock().expect("a board").after(Some(0), BoardForm::Shapes);
    let kinds: Vec<&str> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, ["step", "end"], "one step with everything that was left");
    assert_eq!(moves_of(&events[..1]).len(), 9);
    let last: Value = serde_json::from_str(&events[0].data).expect("JSON");
    assert_eq!(last["step"]["n"], json!(9));
}
