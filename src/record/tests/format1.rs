//! Records of format 1, as written by earlier versions: they remain valid.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::record::sheet;

/// The records by name: the files of `tests/fixtures/records/format1`.
macro_rules! records {
    ($($name:literal,)*) => {
        const RECORDS: &[(&str, &[u8])] = &[$((
            $name,
            include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/records/format1/", $name, ".jsonl")),
        )),*];
    };
}

// The last version that wrote format 1 wrote them.
records! {
    "agreement",
    "bad_nonce",
    "both_exit_random",
    "checkers_no_clock",
    "checkers_random",
    "disconnected_bye",
    "disconnected_input",
    "disconnected_output",
    "exited_at_start",
    "exited_before_ready",
    "exited_signal_forfeit",
    "exited_signal_random",
    "exited_signal_retry_2",
    "exited_status_forfeit",
    "exited_status_random",
    "exited_status_retry_2",
    "illegal_forfeit",
    "illegal_random",
    "illegal_retry_2",
    "info",
    "interrupted",
    "jeex",
    "keezen_2",
    "keezen_4",
    "keezen_6_three_sides",
    "lib_disconnected_input",
    "lib_eventful",
    "lib_exited_held_pipe",
    "lib_exited_unseen",
    "lib_no_stream",
    "lib_not_here",
    "lib_opened",
    "lib_restarted",
    "lib_stalled",
    "lib_stalled_output",
    "lib_timed_out",
    "line_too_long_forfeit",
    "line_too_long_random",
    "line_too_long_retry_2",
    "malformed_0",
    "malformed_1",
    "malformed_2",
    "malformed_3",
    "malformed_4",
    "malformed_forfeit",
    "malformed_random",
    "malformed_retry_9",
    "mirrored_m1",
    "mirrored_m2",
    "mirrored_openings_m1",
    "mirrored_openings_m2",
    "no_hello",
    "no_hello_random",
    "not_ready_both",
    "not_ready_both_random",
    "not_ready_forfeit",
    "not_ready_random",
    "opening_fen",
    "opening_given",
    "opening_random",
    "other_games",
    "other_protocol",
    "protocol_endless_line",
    "protocol_flood_forfeit",
    "protocol_flood_random",
    "protocol_strays_forfeit",
    "protocol_strays_random",
    "resignation",
    "restarts_m1",
    "restarts_m2",
    "restarts_m3",
    "saxum",
    "saxum_exited_random",
    "slow_bank",
    "stdio_m1",
    "stdio_m2",
    "stdio_m3",
    "tcp",
    "tcp_absent",
    "tcp_left",
    "three_sides_fault",
    "three_sides_illegal_random",
    "three_sides_resign",
    "timeout_forfeit",
    "timeout_random",
    "timeout_retry_2",
    "xe_queo",
    "xe_queo_fault_random",
    "xe_queo_retry",
}

fn record(name: &str) -> Vec<u8> {
    RECORDS.iter().find(|(other, _)| *other == name).unwrap().1.to_vec()
}

#[test]
fn every_old_record_verifies_and_exports() {
    for (name, record) in RECORDS {
        assert!(record.starts_with(br#"{"type":"record","format":1,"#), "{name}");
        assert_eq!(verify(record), [], "{name}");
        let (game, sheet) = sheet(record, &crate::games::catalog()).unwrap();
        let last: Value = lines(record)
            .iter()
            .find(|line| line.starts_with(r#"{"type":"result""#))
            .map(|line| serde_json::from_str(line).unwrap())
            .unwrap();
        assert_eq!(serde_json::to_value(&sheet.ranks).unwrap(), last["ranks"], "{name}");
        assert!(crate::games::catalog().find(&game).is_ok());
    }
}

#[test]
fn old_records_cover_every_game_fault_and_kind_of_line() {
    let (mut games, mut faults, mut kinds) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (_, record) in RECORDS {
        for line in lines(record) {
            let line: Value = serde_json::from_str(&line).unwrap();
            let kind = line["type"].as_str().unwrap().to_owned();
            match &*kind {
                "record" => drop(games.insert(line["game"].as_str().unwrap().to_owned())),
                "fault" => drop(faults.insert(line["code"].as_str().unwrap().to_owned())),
                _ => {}
            }
            kinds.insert(kind);
        }
    }
    assert!(["checkers", "jeex", "keezen", "saxum", "xe_queo"].iter().all(|game| games.contains(*game)));
    assert!(FaultCode::ALL.iter().all(|code| faults.contains(code.as_str())), "{faults:?}");
    let all = [
        "abort",
        "accept_draw",
        "answer",
        "bots",
        "draw",
        "event",
        "fallback",
        "fault",
        "ready",
        "record",
        "request",
        "resign",
        "restart",
        "result",
        "seal",
        "start",
        "stray",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

#[test]
fn the_wording_of_an_old_record_is_not_compared() {
    for (name, kind, says, instead) in [
        ("timeout_forfeit", "fault", "; is stdout flushed?", "; flush, please"),
        ("timeout_forfeit", "result", "; is stdout flushed?", "\\u0021"),
        ("protocol_strays_random", "fault", "messages out of their state", "strays"),
        ("not_ready_forfeit", "result", "no `ready` within", "not ready within"),
        ("interrupted", "abort", "interrupted", "somebody pulled the plug"),
    ] {
        let (reworded, _) = forged(&record(name), kind, says, instead);
        assert_eq!(verify(&reworded), [], "{name}");
    }
}

#[test]
fn everything_but_the_wording_of_an_old_record_is_compared() {
    for (name, kind, says, instead) in [
        ("timeout_forfeit", "fault", "\"timeout\"", "\"stalled\""),
        ("timeout_forfeit", "fault", ",\"took_us\":", ",\"took_us\":1"),
        ("timeout_forfeit", "fault", ",\"detail\":\"", ",\"details\":\""),
        ("timeout_forfeit", "result", "\"timeout\":1", "\"timeout\":2"),
        ("timeout_forfeit", "result", "\"reason\":\"timeout\"", "\"reason\":\"exited\""),
        ("timeout_forfeit", "result", "\"detail\":\"", "\"detail\":\"x\",\"detail\":\""),
        ("illegal_forfeit", "fault", "\"code\"", "\"detail\":\"wrong\",\"code\""),
        ("interrupted", "result", "\"decisions\":0", "\"decisions\":1"),
        ("info", "answer", "\"score\"", "\"scora\""),
    ] {
        let (forged, number) = forged(&record(name), kind, says, instead);
        if (kind, says) != ("answer", "\"score\"") {
            let found = difference(&forged);
            assert_eq!(found.line, number, "{name}: {found}");
        }
    }
}

#[test]
fn old_and_new_set_ups_are_not_mixed() {
    let limits = serde_json::to_string(&Limits::TODAY).unwrap();
    let (more, _) = forged(
        &record("tcp"),
        "record",
        "\"auto_ready\":false",
        &format!("\"auto_ready\":false,\"limits\":{limits}"),
    );
    assert!(difference(&more).what.contains("limits"), "{}", difference(&more));
    let (newer, _) = forged(&record("tcp"), "record", "\"format\":1", "\"format\":2");
    assert!(difference(&newer).what.contains("limits"), "{}", difference(&newer));
    let (less, _) = forged(&eventful(), "record", &format!(",\"limits\":{limits}"), "");
    assert!(difference(&less).what.contains("limits"), "{}", difference(&less));
}

#[test]
fn sentences_are_rejected_in_new_records() {
    let record = timed_out();
    let kind = r#"{"kind":"no_answer","limit_ms":1100}"#;
    let (forged, number) = forged(&record, "fault", kind, "\"no complete line\"");
    assert_eq!(difference(&forged).line, number);
    let (longer, number) = super::forged(&record, "fault", "1100}", "1101}");
    assert_eq!(difference(&longer).line, number);
}

#[test]
fn a_replay_uses_the_limits_of_the_record() {
    // With room for 21 strays the 21st is no fault.
    let mut recorder = MatchRecorder::play("forfeit");
    for _ in 0..21 {
        recorder.handle(Event::Stray { seat: Seat(0), code: ErrorCode::OutOfState, message: "" });
    }
    let record = recorder.sealed();
    assert_eq!(verify(&record), []);
    let (forged, _) = forged(&record, "record", "\"strays\":20", "\"strays\":21");
    assert!(
        difference(&forged).what.contains("strays") || difference(&forged).what.contains("cannot happen")
    );
    for (limit, most) in [("strays", Limits::MOST.strays), ("opening_tries", Limits::MOST.opening_tries)] {
        let today = serde_json::to_value(Limits::TODAY).unwrap()[limit].clone();
        let (huge, _) = super::forged(
            &record,
            "record",
            &format!("\"{limit}\":{today}"),
            &format!("\"{limit}\":{}", most + 1),
        );
        assert!(difference(&huge).what.contains("larger than any"), "{}", difference(&huge));
    }
}
