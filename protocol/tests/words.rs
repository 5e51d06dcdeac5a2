//! The spelling of every word that the protocol fixes.

use std::fmt::Debug;

use referee_protocol::words::{EndedBy, ErrorCode, FaultCode, OnFault};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Checks that `all` are spelled as in `words`, in this order, wherever they appear.
fn check<T: DeserializeOwned + Serialize + Copy + Debug + PartialEq + ToString>(
    all: &[T],
    as_str: fn(T) -> &'static str,
    words: &[&str],
) {
    assert_eq!(all.iter().copied().map(as_str).collect::<Vec<_>>(), words);
    for (&value, &word) in all.iter().zip(words) {
        assert_eq!(value.to_string(), word);
        let json = format!("\"{word}\"");
        assert_eq!(serde_json::to_string(&value).expect("JSON"), json);
        assert_eq!(serde_json::from_str::<T>(&json).expect("a word"), value);
    }
    assert!(serde_json::from_str::<T>("\"unheard_of\"").is_err());
}

#[test]
fn faults_are_spelled_as_specified() {
    check(
        FaultCode::ALL,
        FaultCode::as_str,
        &[
            "illegal_move",
            "malformed",
            "line_too_long",
            "timeout",
            "no_start",
            "disconnected",
            "exited",
            "stalled",
            "protocol",
            "no_legal_move",
            "unavailable",
        ],
    );
}

#[test]
fn only_illegal_and_malformed_answers_are_asked_for_again() {
    let retried: Vec<_> = FaultCode::ALL.iter().filter(|code| code.is_retried()).collect();
    assert_eq!(retried, [&FaultCode::IllegalMove, &FaultCode::Malformed]);
}

#[test]
fn endings_are_spelled_as_specified() {
    check(
        EndedBy::ALL,
        EndedBy::as_str,
        &["rules", "agreement", "resignation", "fault", "turn_limit", "adjudication", "aborted"],
    );
}

#[test]
fn errors_are_spelled_as_specified() {
    check(
        ErrorCode::ALL,
        ErrorCode::as_str,
        &[
            "illegal_move",
            "malformed",
            "line_too_long",
            "timeout",
            "protocol",
            "unsupported_protocol",
            "unknown_type",
            "unknown_match",
            "unknown_seat",
            "stale",
            "out_of_state",
            "no_offer",
            "info_dropped",
            "not_allowed",
            "no_slot",
            "bad_setup",
            "no_start",
            "unknown_name",
            "wrong_token",
            "too_many_connections",
        ],
    );
}

#[test]
fn words_can_be_padded() {
    assert_eq!(format!("{:>8}|{:<6}|", FaultCode::Timeout, EndedBy::Rules), " timeout|rules |");
}

#[test]
fn fault_policies_are_read_as_they_are_written() {
    for (policy, word) in [
        (OnFault::Forfeit, "forfeit"),
        (OnFault::Random, "random"),
        (OnFault::Retry(1), "retry=1"),
        (OnFault::Retry(1000), "retry=1000"),
    ] {
        assert_eq!(policy.to_string(), word);
        assert_eq!(word.parse(), Ok(policy));
        let json = format!("\"{word}\"");
        assert_eq!(serde_json::to_string(&policy).expect("JSON"), json);
        assert_eq!(serde_json::from_str::<OnFault>(&json).expect("a policy"), policy);
    }
    assert_eq!(OnFault::default(), OnFault::Forfeit);
}

#[test]
fn anything_else_is_no_fault_policy() {
    for text in [
        "",
        "Forfeit",
        " random",
        "retry",
        "retry=",
        "retry=0",
        "retry=1001",
        "retry=-1",
        "retry=+1",
        "retry=01",
        "retry=1x",
        "retry 3",
    ] {
        let error = text.parse::<OnFault>().expect_err(text).to_string();
        assert!(error.contains(&format!("`{text}`")) && error.contains("retry=N"), "{error}");
        assert!(serde_json::from_str::<OnFault>(&format!("\"{text}\"")).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<OnFault>("3").is_err());
}
