//! The shell's polls after each event.

use referee_game::{Seat, Viewer};
use referee_protocol::words::FaultCode;

use super::rig::{Rig, RigSetup};
use crate::{Event, MatchEvent, Stamp};

/// The events that the shell has not taken, in short.
fn polled(rig: &mut Rig) -> Vec<String> {
    std::iter::from_fn(|| rig.play.poll_event())
        .map(|event| match event {
            MatchEvent::Fault { seat, code } => format!("fault {seat} {code}"),
            MatchEvent::Error(error) => format!("error {:?} {}", error.seat, error.code.as_str()),
            MatchEvent::News => "news".to_owned(),
            MatchEvent::Ended(ending) => format!("ended {}", ending.reason),
        })
        .collect()
}

#[test]
fn a_transmit_is_drained_even_if_it_is_dropped() {
    let mut play = RigSetup::checkers().bare();
    let start = play.poll_transmit(Seat(0), Stamp::default()).unwrap();
    assert!(!start.bytes.is_empty() && !start.has_request);
    drop(start);
    assert!(play.poll_transmit(Seat(0), Stamp::default()).is_none());
    for seat in [Seat(0), Seat(1)] {
        play.handle(Stamp::default(), Event::Ready { seat, nonce: None });
    }
    assert!(play.poll_transmit(Seat(0), Stamp::default()).unwrap().has_request);
}

#[test]
fn faults_errors_and_the_end_are_events() {
    let mut rig = RigSetup::checkers().play();
    assert_eq!(polled(&mut rig), [""; 0]);
    rig.moves("11-15");
    assert_eq!(polled(&mut rig), [""; 0]);
    rig.handle(Event::AcceptDraw { seat: Seat(0), turn: 0 });
    assert_eq!(polled(&mut rig), ["error Some(0) stale"]);
    rig.broken(1, None, FaultCode::Malformed);
    assert_eq!(polled(&mut rig), ["fault 1 malformed", "error Some(1) malformed", "ended malformed"]);
    rig.gone(0);
    assert_eq!(polled(&mut rig), [""; 0]);
}

#[test]
fn news_is_an_event_once_until_it_is_read() {
    let mut plan = RigSetup::checkers();
    plan.watched = Some(Viewer::Public);
    let mut rig = plan.play();
    rig.moves("11-15 22-18");
    assert_eq!(polled(&mut rig), ["news"]);
    rig.play.news().clear();
    rig.moves("15x22");
    assert_eq!(polled(&mut rig), ["news"]);
}
