//! Matches that continue from a part of their record.

use referee_game::chance::RandomKey;
use referee_game::erased::Rules;
use referee_game::{Chain, Uniform, Viewer};

use super::*;
use crate::record::Resume;
use crate::record::replay::open_match;

const SECRETS: (Seed, [u8; 32]) = (Seed([1; 32]), [2; 32]);
/// Longer matches are cut.
const STEPS: usize = 120;

/// An input of a match, 10 ms after the step before.
#[derive(Clone, Debug)]
enum Step {
    Ready(Seat),
    Move(Seat, String),
    Stray(Seat),
    Resign(Seat),
    Gone(Seat),
    Wait,
    Flush(Seat),
}

fn header(rules: &dyn Rules, seating: Seating) -> Header {
    let options = rules.default_options();
    let table = rules.open(&options, seating).unwrap();
    let seat = |seat| SeatHeader {
        name: format!("bot{seat}"),
        team: seating.side(seat) as u8,
        ready_ms: 5000,
        clock: None,
        hide_legal: false,
        bot: None,
    };
    Header {
        format: Header::FORMAT,
        referee: crate::SERVER.to_owned(),
        r#match: "m1".to_owned(),
        game: rules.meta().id.to_owned(),
        rules: rules.meta().rules_version,
        options: table.options().to_owned(),
        seats: seating.all().iter().map(seat).collect(),
        clock: Some(Clock { delay_ms: 100, bank_ms: 1000, increment_ms: 10 }),
        margin_ms: 20,
        on_fault: "retry=1".parse().unwrap(),
        deal: "m1".to_owned(),
        commitment: hex::encode(&SECRETS.0.commitment(&SECRETS.1)),
        nonce: true,
        auto_ready: false,
        limits: Limits::TODAY,
        program: None,
        adjudication: Adjudication::default(),
        opening: Opening::None,
    }
}

/// Different bots want different messages.
fn wants(seats: usize) -> Vec<Wants> {
    let wants = |seat| Wants { push: seat == 1, event: seat != 2, repeat: true, ..Wants::default() };
    (0..seats).map(wants).collect()
}

fn open(rules: &dyn Rules, seating: Seating) -> Match {
    let ((seed, salt), wants) = (SECRETS, wants(seating.seats()));
    open_match(header(rules, seating), seed, salt, wants, None, None, &referee_games::catalog()).unwrap()
}

fn apply(play: &mut Match, step: &Step, index: usize) {
    let stamp = Stamp { at: Tick(10_000 * index as u64), lag: 0 };
    let event = match step {
        Step::Flush(seat) => {
            play.poll_transmit(*seat, stamp);
            return;
        }
        Step::Ready(seat) => Event::Ready { seat: *seat, nonce: Some("0a") },
        Step::Move(seat, text) => {
            let Some(turn) = play.open_request(*seat) else { return };
            Event::Answer { seat: *seat, turn: turn.into(), text, offer_draw: seat.0 == 0, info: None }
        }
        Step::Stray(seat) => Event::Stray { seat: *seat, code: ErrorCode::UnknownType, message: "no" },
        Step::Resign(seat) => Event::Resign(*seat),
        Step::Gone(seat) => {
            Event::Gone { seat: *seat, code: FaultCode::Disconnected, detail: &Detail::OutputEnded }
        }
        Step::Wait => Event::Tick,
    };
    play.handle(stamp, event);
    while play.poll_event().is_some() {}
}

/// Plays at random. Returns the steps, and the length of the record after each.
fn played(rules: &dyn Rules, seating: Seating, rng: &mut impl Uniform) -> (Vec<Step>, Vec<usize>) {
    let mut play = open(rules, seating);
    let (mut steps, mut lengths): (Vec<Step>, Vec<usize>) = (Vec::new(), Vec::new());
    let seats: Vec<Seat> = seating.all().iter().collect();
    while play.ending().is_none() && steps.len() < STEPS {
        let any = seats[rng.uniform(seats.len() as u64) as usize];
        let asked = seats.iter().copied().find(|&seat| play.open_request(seat).is_some());
        let awaited = seats.iter().copied().find(|&seat| play.awaits_ready(seat));
        let next = match (rng.uniform(60), awaited, asked, play.decision()) {
            (0, ..) => Step::Stray(any),
            (1, ..) => Step::Wait,
            (2, _, Some(seat), _) => Step::Move(seat, "no move".to_owned()),
            (3, ..) if steps.len() > 60 => Step::Resign(any),
            (4, ..) if steps.len() > 60 => Step::Gone(any),
            (_, Some(seat), ..) => Step::Ready(seat),
            (_, _, Some(seat), Some(decision)) => {
                let index = rng.uniform(play.table().count(decision, seat) as u64) as usize;
                Step::Move(seat, play.table().text(decision, seat, index).to_owned())
            }
            _ => Step::Wait,
        };
        for step in [next].into_iter().chain(seats.iter().copied().map(Step::Flush)) {
            apply(&mut play, &step, steps.len());
            steps.push(step);
            lengths.push(play.log().text().len());
        }
    }
    (steps, lengths)
}

/// The bots' messages after they reconnect, and the state of the match.
fn shown(mut play: Match) -> String {
    let stamp = Stamp { at: Tick(1_000_000_000), lag: 0 };
    let seats = play.setup().seating.all();
    let wants = play.setup().wants.clone();
    let mut shown = String::new();
    if play.ending().is_some() {
        return format!("{:?}", play.ending());
    }
    for seat in seats.iter() {
        play.handle(stamp, Event::Resumed { seat, wants: wants[seat.index()] });
        if let Some(transmit) = play.poll_transmit(seat, stamp) {
            shown += &String::from_utf8_lossy(transmit.bytes);
        }
    }
    while play.poll_event().is_some() {}
    shown += &String::from_utf8(play.table().view(Viewer::Omniscient).unwrap()).unwrap();
    play.clear_log();
    // Tables have numbers of their own.
    let state = format!("{play:?}");
    let number = |part: &str| part.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
    shown + &state.split("PositionId { table: ").map(number).collect::<String>()
}

fn resumed(record: &[u8], seats: usize) -> Match {
    let mut lines = record.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let first = lines.next().unwrap();
    let mut resume = Resume::open(first, |_| SECRETS, wants(seats), None, &referee_games::catalog()).unwrap();
    lines.for_each(|line| resume.line(line).unwrap());
    let (play, compared) = resume.into_match();
    let log = play.log();
    assert!(log.text().starts_with(record));
    let mut rest = Vec::new();
    log.write_text(compared, &mut rest);
    assert_eq!(rest, log.text()[record.len()..]);
    play
}

#[test]
fn a_match_of_any_game_continues_from_any_line() {
    let mut rng = RandomKey([7; 32]).stream();
    for rules in referee_games::catalog().games() {
        for &seating in rules.meta().seatings {
            let (steps, lengths) = played(rules, seating, &mut rng);
            let (mut original, mut done) = (open(rules, seating), 0);
            steps.iter().enumerate().for_each(|(index, step)| apply(&mut original, step, index));
            let record = original.take_log().text();
            let ends = record.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
            for end in ends.map(|(at, _)| at + 1) {
                // The rest of the lines of a step are its consequences.
                let until = lengths.iter().position(|&length| length >= end).unwrap();
                let mut original = open(rules, seating);
                let is_first = original.log().text().len() >= end;
                let steps = if is_first { &[] } else { &steps[..=until] };
                steps.iter().enumerate().for_each(|(index, step)| apply(&mut original, step, index));
                let found = shown(resumed(&record[..end], seating.seats()));
                let what = String::from_utf8_lossy(&record[..end]);
                assert!(found == shown(original), "{} after {what}: {found}", rules.meta().id);
                done += 1;
            }
            assert!(done > 20, "{}: {done} lines", rules.meta().id);
        }
    }
}

#[test]
fn a_record_that_was_changed_is_not_continued() {
    let mut rng = RandomKey([8; 32]).stream();
    let catalog = referee_games::catalog();
    let rules = catalog.find("checkers").unwrap();
    let mut play = open(rules, Seating::new(2, 2));
    let (steps, _) = played(rules, Seating::new(2, 2), &mut rng);
    steps.iter().enumerate().for_each(|(index, step)| apply(&mut play, step, index));
    let record = play.take_log().text();
    let lines: Vec<&[u8]> = record.split_inclusive(|&byte| byte == b'\n').collect();
    let repeat = |record: &[u8]| {
        let mut lines = record.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        let resume = Resume::open(first, |_| SECRETS, wants(2), None, &catalog);
        resume.and_then(|mut resume| lines.try_for_each(|line| resume.line(line)))
    };
    assert!(repeat(&record).is_ok());
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with(b"{\"type\":\"answer"))
    {
        let mut without = lines.clone();
        without.remove(index);
        let what = String::from_utf8_lossy(line);
        assert!(repeat(&without.concat()).is_err(), "line {index} is missing: {what}");
    }
    for _ in 0..2000 {
        // Some changes are valid; none panics.
        let mut changed = record.clone();
        let index = rng.uniform(record.len() as u64) as usize;
        changed[index] = b"0123456789{}[]\",:xe-\n"[rng.uniform(21) as usize];
        let _ = repeat(&changed);
    }
    let first = record.split(|&byte| byte == b'\n').next().unwrap();
    let other = Resume::open(first, |_| (Seed([3; 32]), [2; 32]), wants(2), None, &catalog);
    assert_eq!(Chain(&other.unwrap_err()).to_string(), "the match has another seed");
}
