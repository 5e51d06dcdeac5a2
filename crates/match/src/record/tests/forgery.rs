//! Records that were changed and resealed.

use serde_json::Value;

use super::*;

use referee_game::Chain;

/// The forgery is found in the line that was changed, or so many lines after it.
fn assert_found(record: &[u8], kind: &str, says: &str, instead: &str, after: usize) -> String {
    let (forged, number) = forged(record, kind, says, instead);
    let found = difference(&forged);
    assert_eq!(found.line, number + after, "{}", Chain(&found));
    assert_eq!(found.match_id.as_deref(), Some("m1"));
    Chain(&found.what).to_string()
}

#[test]
fn a_changed_move_is_detected_in_the_next_line() {
    let record = eventful();
    let what = assert_found(&record, "answer", "11-15", "11-16", 1);
    assert!(what.contains("11-15") && what.contains("11-16"), "{what}");
    let what = assert_found(&record, "answer", "15x22", "15x23", 1);
    assert!(what.contains("illegal_move"), "{what}");
    let what = assert_found(&record, "answer", "\"1-1\"", "\"21-17\"", 1);
    assert!(what.starts_with("recorded `{\"type\":\"fault\""), "{what}");
}

#[test]
fn a_difference_names_match_turn_and_line() {
    let (forged, number) = forged(&eventful(), "answer", "25x18", "25x17");
    let found = difference(&forged);
    assert_eq!(found.turn, Some(2));
    assert!(
        Chain(&found).to_string().starts_with(&format!("line {}, match m1, turn 2: recorded `", number + 1))
    );
}

#[test]
fn a_changed_fallback_move_is_detected() {
    let record = played_on();
    let line = &lines(&record)[line_of(&record, "fallback", "") - 1];
    let line: Value = serde_json::from_str(line).unwrap();
    let other = if line["move"] == "21-17" { "22-17" } else { "21-17" };
    assert_found(&record, "fallback", line["move"].as_str().unwrap(), other, 0);
}

#[test]
fn a_changed_time_is_detected() {
    let record = eventful();
    assert_found(&record, "answer", "\"took_us\":10000", "\"took_us\":9999", 0);
    assert_found(&record, "answer", "\"at_us\":30000", "\"at_us\":31000", 0);
    assert_found(&record, "request", "\"at_us\":20000", "\"at_us\":21000", 1);
    assert_found(&record, "request", "\"at_us\":20000", "\"at_us\":19000", 0);
    // The result tells the longest lag.
    let after = line_of(&record, "result", "") - line_of(&record, "answer", "");
    assert_found(&record, "answer", "\"lag_us\":1000", "\"lag_us\":9000", after);
}

#[test]
fn answer_that_was_made_late_should_have_been_timeout() {
    let record = eventful();
    let (late, number) = forged(
        &record,
        "answer",
        "\"at_us\":30000,\"seat\":0,\"turn\":0,\"move\":\"11-15\",\"took_us\":10000",
        "\"at_us\":1141001,\"seat\":0,\"turn\":0,\"move\":\"11-15\",\"took_us\":1121001",
    );
    let found = difference(&late);
    assert_eq!(found.line, number + 1);
    assert!(
        Chain(&found.what).to_string().contains("but the rules give `{\"type\":\"fault\"")
            && Chain(&found.what).to_string().contains("timeout")
    );
}

#[test]
fn an_early_timeout_is_detected() {
    let record = timed_out();
    let what = assert_found(&record, "fault", "\"at_us\":1440000", "\"at_us\":1150000", 0);
    assert!(what.starts_with("this cannot happen here"), "{what}");
}

#[test]
fn a_removed_line_is_detected() {
    let record = eventful();
    for kind in ["record", "ready", "request", "answer", "event", "fault", "result", "seal"] {
        let mut lines = lines(&record);
        let number = line_of(&record, kind, "");
        lines.remove(number - 1);
        let text = lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
        assert!(!verify(text.as_bytes()).is_empty(), "{kind}");
        if kind != "seal" {
            assert!(!verify(&resealed(lines)).is_empty(), "{kind}");
        }
    }
}

#[test]
fn an_added_line_is_detected() {
    let record = eventful();
    let count = lines(&record).len();
    for added in [
        r#"{"type":"event","at_us":30000,"event":{"kind":"draw_offered","seat":0}}"#,
        r#"{"type":"draw","at_us":30000,"drawn":[1]}"#,
        r#"{"type":"resign","at_us":30000,"seat":0}"#,
        r#"{"type":"abort","at_us":30000,"reason":""}"#,
        r#"{"type":"fallback","at_us":30000,"seat":0,"move":"11-15"}"#,
        r#"{"type":"what","at_us":30000}"#,
        r#"{"type":"what"}"#,
        "{}",
        "[]",
        "",
        " ",
    ] {
        for index in 0..count {
            let mut lines = lines(&record);
            lines.insert(index, added.to_owned());
            assert!(!verify(&resealed(lines)).is_empty(), "{added} as line {}", index + 1);
        }
        let mut longer = record.clone();
        longer.extend_from_slice(added.as_bytes());
        longer.push(b'\n');
        assert!(!verify(&longer).is_empty(), "{added} after the seal");
    }
}

#[test]
fn a_changed_result_is_detected() {
    let record = eventful();
    for (says, instead) in [
        ("[1,1]", "[1,2]"),
        ("[0.5,0.5]", "[1.0,0.0]"),
        ("\"ended_by\":\"turn_limit\"", "\"ended_by\":\"rules\""),
        ("\"reason\":\"turn_limit\"", "\"reason\":\"no_moves\""),
        ("\"malformed\":1", "\"malformed\":2"),
        ("\"decisions\":6", "\"decisions\":7"),
        ("\"lag_ms\":", "\"lag_ms\":1"),
    ] {
        assert_found(&record, "result", says, instead, 0);
    }
    assert_found(&timed_out(), "result", "\"fault\":{\"seat\":1", "\"fault\":{\"seat\":0", 0);
}

#[test]
fn seed_salt_and_commitment_belong_together() {
    let record = eventful();
    let text = String::from_utf8(record.clone()).unwrap();
    for (seed, other) in [("01".repeat(32), "11".repeat(32)), ("02".repeat(32), "12".repeat(32))] {
        let found = difference(text.replace(&seed, &other).as_bytes());
        assert!(Chain(&found.what).to_string().contains("do not give the commitment"), "{}", Chain(&found));
        assert_eq!(found.line, lines(&record).len());
    }
    let commitment = hex::encode(&Seed([1; 32]).commitment(&[2; 32]));
    let (forged, _) = forged(&record, "record", &commitment, &"00".repeat(32));
    assert!(Chain(&difference(&forged).what).to_string().contains("do not give the commitment"));
}

#[test]
fn another_seed_changes_the_fallback_moves() {
    let record = played_on();
    let [old, new] = [1, 7].map(|byte| Seed([byte; 32]));
    let mut text = String::from_utf8(record).unwrap().replace(&old.to_hex(), &new.to_hex());
    let [old, new] = [old, new].map(|seed| hex::encode(&seed.commitment(&[2; 32])));
    text = text.replace(&old, &new);
    let found = difference(&resealed(text.lines().map(str::to_owned).collect()));
    assert!(Chain(&found.what).to_string().contains("fallback"), "{}", Chain(&found));
}

#[test]
fn nonces_and_deal_are_those_of_the_match() {
    let record = eventful();
    let count = lines(&record).len();
    assert_found(&record, "ready", "00ff", "00fe", count - line_of(&record, "ready", "00ff"));
    assert_found(&record, "ready", "00ff", "00FF", 0);
    let text = String::from_utf8(record).unwrap();
    for (says, instead) in
        [("[\"00ff\",\"\"]", "[\"00ff\"]"), ("\"deal\":\"d1\",\"nonces\"", "\"deal\":\"d2\",\"nonces\"")]
    {
        let found = difference(text.replace(says, instead).as_bytes());
        assert_eq!(found.line, count);
        assert!(Chain(&found.what).to_string().contains("deal or nonces"), "{}", Chain(&found));
    }
    // The moves of the referee are in the record.
    let record = played_on();
    let after = line_of(&record, "fallback", "") - line_of(&record, "ready", "00ff");
    assert_found(&record, "ready", "00ff", "00fe", after);
}

#[test]
fn a_changed_set_up_is_detected() {
    let record = eventful();
    let text = String::from_utf8(record).unwrap();
    for (says, instead, in_words) in [
        ("\"format\":2", "\"format\":3", "record format 3"),
        ("\"game\":\"checkers\"", "\"game\":\"ludo\"", "unknown game `ludo`"),
        ("\"rules\":1", "\"rules\":2", "rules version 2"),
        ("\"draw_plies\":50,", "", "not complete"),
        ("\"draw_plies\":50", "\"draw_plies\":0,\"more\":1", "more"),
        ("\"draw_plies\":50,\"turn_limit\":6", "\"turn_limit\":6,\"draw_plies\":50", "not complete"),
        ("\"turn_limit\":6", "\"turn_limit\":5", "the rules give `{\"type\":\"result\""),
        ("29,30,31,32:B1", "30,31,32:B1", "rules give"),
        ("\"fen\":\"B:W", "\"fen\":\"B:X", "options of checkers"),
        ("\"team\":1", "\"team\":0", "not a seating"),
        ("\"team\":1", "\"team\":255", "not a seating"),
        ("\"delay_ms\":100", "\"delay_ms\":0,\"x\":0", "other fields than a set-up"),
        ("\"retry=2\"", "\"forfeit\"", "the rules give `{\"type\":\"result\""),
        ("\"auto_ready\":false", "\"auto_ready\":true", "rules give"),
        ("\"nonce\":true", "\"nonce\":false", "rules give"),
    ] {
        let forged = resealed(text.replacen(says, instead, 1).lines().map(str::to_owned).collect());
        assert!(!verify(&forged).is_empty(), "{instead}");
        let found = difference(&forged);
        assert!(Chain(&found.what).to_string().contains(in_words), "{instead}: {}", Chain(&found));
    }
}

#[test]
fn a_changed_clock_is_detected_at_its_first_effect() {
    let record = eventful();
    let (forged, _) =
        forged(&record, "record", "\"delay_ms\":100,\"bank_ms\":1000", "\"delay_ms\":0,\"bank_ms\":0");
    let found = difference(&forged);
    // Nothing is left but the increment: the second answer of a seat that took longer is too late.
    assert!(
        Chain(&found.what).to_string().contains("but the rules give `{\"type\":\"fault\""),
        "{}",
        Chain(&found)
    );
    let (longer, _) = super::forged(&timed_out(), "record", "\"bank_ms\":1000", "\"bank_ms\":5000");
    assert!(Chain(&difference(&longer).what).to_string().starts_with("this cannot happen here"));
}

#[test]
fn a_changed_opening_move_is_detected() {
    let record = opened(Opening::Random(3));
    assert!(verify(&record).is_empty());
    let line = &lines(&record)[line_of(&record, "event", "opening") - 1];
    let line: Value = serde_json::from_str(line).unwrap();
    let says = line["event"]["move"].as_str().unwrap();
    let other = if says == "11-15" { "11-16" } else { "11-15" };
    let what = assert_found(&record, "event", says, other, 0);
    assert!(what.contains(says) && what.contains(other), "{what}");
    assert_found(&record, "event", ",\"opening\":true", "", 0);
}

#[test]
fn another_opening_length_is_detected() {
    let record = opened(Opening::Random(3));
    // The first three moves are the same; then a fourth is missing.
    assert_found(
        &record,
        "record",
        "\"opening_plies\":3",
        "\"opening_plies\":4",
        line_of(&record, "event", "") + 2,
    );
    let (forged, _) = forged(&record, "record", "\"opening_plies\":3", "\"opening_plies\":101");
    assert_eq!(
        Chain(&difference(&forged).what).to_string(),
        "an opening of 101 plies is too long: it has at most 100"
    );
}

#[test]
fn a_given_opening_is_checked_move_by_move() {
    let given = Opening::Given(["11-15", "23-18", "15-19"].map(str::to_owned).into());
    let record = opened(given);
    assert!(verify(&record).is_empty());
    assert_found(&record, "event", "23-18", "23-19", 0);
    let (forged, _) = forged(&record, "record", "\"23-18\"", "\"23-19\"");
    assert_eq!(Chain(&difference(&forged).what).to_string(), "ply 3: `15-19` is not legal for seat 0");
    let (forged, _) = super::forged(&record, "record", "\"15-19\"", "\"15-18\"");
    assert!(Chain(&difference(&forged).what).to_string().starts_with("ply 3: `15-18` is not legal"));
    // Given opening moves are not random, and the other way round.
    let instead = "\"opening_plies\":3";
    let (forged, _) =
        super::forged(&record, "record", "\"opening\":[\"11-15\",\"23-18\",\"15-19\"]", instead);
    assert!(
        Chain(&difference(&forged).what).to_string().contains("but the rules give"),
        "{}",
        difference(&forged)
    );
    let (forged, _) = super::forged(&record, "record", "\"opening\":[", "\"opening_plies\":3,\"opening\":[");
    assert!(
        Chain(&difference(&forged).what).to_string().contains("exclude each other"),
        "{}",
        difference(&forged)
    );
}
