//! The format of records, and the limits in them.

use super::*;

use referee_game::Chain;

#[test]
fn records_of_another_format_are_refused() {
    let (newer, _) = forged(&eventful(), "record", "\"format\":2", "\"format\":3");
    assert_eq!(Chain(&difference(&newer).what).to_string(), "record format 3; this program reads 2");
    let limits = serde_json::to_string(&Limits::TODAY).unwrap();
    let (less, _) = forged(&eventful(), "record", &format!(",\"limits\":{limits}"), "");
    assert!(Chain(&difference(&less).what).to_string().contains("limits"), "{}", difference(&less));
}

#[test]
fn details_are_no_sentences() {
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
    assert!(verify(&record).is_empty());
    let (forged, _) = forged(&record, "record", "\"strays\":20", "\"strays\":21");
    assert!(
        Chain(&difference(&forged).what).to_string().contains("strays")
            || Chain(&difference(&forged).what).to_string().contains("cannot happen")
    );
    for (limit, most) in [("strays", Limits::MOST.strays), ("opening_tries", Limits::MOST.opening_tries)] {
        let today = serde_json::to_value(Limits::TODAY).unwrap()[limit].clone();
        let (huge, _) = super::forged(
            &record,
            "record",
            &format!("\"{limit}\":{today}"),
            &format!("\"{limit}\":{}", most + 1),
        );
        assert!(
            Chain(&difference(&huge).what).to_string().contains("larger than any"),
            "{}",
            difference(&huge)
        );
    }
}
