//! The public form of a record, and private lines.

use super::*;
use crate::record::{PublicRecord, PublishedInfo, digest, private_digests, private_seat, public};
use referee_game::Chain;

/// A record that ends with these bots, and in which seat 0 has written invalid JSON.
fn talkative() -> Vec<u8> {
    let mut recorder = MatchRecorder::play("retry=2");
    recorder.answer(0, "11-15");
    recorder.answer(1, "22-18");
    let turn = recorder.play.open_request(Seat(0)).map(Into::into);
    let detail = Detail::Unreadable { error: "expected value at `hunter2`".to_owned() };
    recorder.handle(Event::Broken { seat: Seat(0), turn, code: FaultCode::Malformed, detail: &detail });
    recorder.answer(0, "15x22");
    let detail = Detail::other("cannot open /home/one/weights");
    recorder.handle(Event::Gone { seat: Seat(1), code: FaultCode::Exited, detail: &detail });
    let text = String::from_utf8(recorder.play.log().text()).unwrap();
    let bot = r#","bot":{"command":["/home/one/bot","--secret"],"files":{"/home/one/bot":"00"},"name":"One","version":"7"}}"#;
    let mut record = text.replacen("\"ready_ms\":5000}", &format!("\"ready_ms\":5000{bot}"), 1).into_bytes();
    add_bots(
        &mut record,
        &json!([
            { "seat": 0, "cpu_ms": 5, "stderr": "", "stderr_dropped": 0 },
            { "seat": 1, "cpu_ms": 60, "stderr": "no weights\n", "stderr_dropped": 0, "outages": [{ "lost_us": 5, "back_us": null }], "kept": { "bytes": 7, "sha256": "11" } },
        ]),
        2,
    );
    seal(&mut record, recorder.play.reveal());
    record
}

#[test]
fn the_public_form_verifies_and_shows_nothing_private() {
    let record = talkative();
    assert!(verify(&record).is_empty());
    let PublicRecord { record: shown, private } = public(&record, PublishedInfo::Never).unwrap();
    assert!(verify(&shown).is_empty());
    let text = String::from_utf8(shown.clone()).unwrap();
    for secret in ["command", "/home", "--secret", "hunter2", "weights", "cpu_ms\":5", "\"info\""] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    for open in [
        "\"bot\":{\"name\":\"One\",\"version\":\"7\"}",
        "\"kind\":\"unreadable\",\"error\":\"\"",
        "\"lost_us\":5",
        "\"kept\":{\"bytes\":7,\"sha256\":\"11\"}",
    ] {
        assert!(text.contains(open), "{open}: {text}");
    }
    for (seat, private) in private.iter().enumerate() {
        assert!(text.contains(&digest(private)), "seat {seat}");
    }
    let (of, digests) = private_digests(&shown).unwrap();
    assert_eq!((&*of, digests), ("m1", private.iter().map(|private| digest(private)).collect()));
    assert_eq!(private_digests(&record), None);
    // The public form of the public form is itself.
    let again = public(&shown, PublishedInfo::Never).unwrap();
    assert_eq!((again.record, again.private), (shown, vec![Vec::new(), Vec::new()]));
}

#[test]
fn private_lines_are_those_of_one_seat() {
    let record = talkative();
    let [one, two] = &public(&record, PublishedInfo::Never).unwrap().private[..] else { panic!("two seats") };
    let whole = lines(&record);
    for (private, own, other) in [(one, "hunter2", "no weights"), (two, "no weights", "hunter2")] {
        let text = String::from_utf8(private.clone()).unwrap();
        assert!(text.contains(own) && !text.contains(other), "{text}");
        // All but the first and the last are lines of the record.
        let lines = lines(private);
        assert!(lines[1..lines.len() - 1].iter().all(|line| whole.contains(line)), "{text}");
    }
    assert_eq!(private_seat(two).unwrap(), ("m1".to_owned(), Seat(1)));
    assert!(private_seat(&record).is_err());
    assert!(lines(one)[0].contains("\"command\":[\"/home/one/bot\""));
    assert_eq!(lines(one).iter().filter(|line| line.contains("\"info\"")).count(), 2);
}

#[test]
fn info_is_public_if_it_may_be() {
    let record = eventful();
    let shown = public(&record, PublishedInfo::After).unwrap();
    assert!(verify(&shown.record).is_empty());
    let without_bots: Vec<String> =
        lines(&shown.record).into_iter().filter(|line| !line.starts_with("{\"type\":\"bots\"")).collect();
    let whole = lines(&record);
    assert_eq!(without_bots[..without_bots.len() - 1], whole[..whole.len() - 1]);
    for record in [eventful(), timed_out(), played_on(), restarted()] {
        assert!(verify(&public(&record, PublishedInfo::Never).unwrap().record).is_empty());
    }
}

#[test]
fn what_is_no_record_has_no_public_form() {
    let record = eventful();
    let cut = &record[..record.len() - 5];
    assert!(Chain(&public(cut, PublishedInfo::After).unwrap_err().what).to_string().contains("cut off"));
    assert_eq!(public(b"", PublishedInfo::After).unwrap_err().line, 1);
    let changed = String::from_utf8(record.clone()).unwrap().replacen("11-15", "11-16", 1);
    assert!(
        Chain(&public(changed.as_bytes(), PublishedInfo::After).unwrap_err().what)
            .to_string()
            .contains("after it was sealed")
    );
    let (odd, number) = forged(&record, "answer", "\"turn\":0", "\"turn\":zero");
    assert_eq!(public(&odd, PublishedInfo::After).unwrap_err().line, number);
}
