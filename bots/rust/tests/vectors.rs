//! Views and moves of all games, as the vectors have them that all SDKs share.

use std::fmt::Debug;
use std::str::FromStr;

use referee_bot::games::{checkers, chess, jeex, keezen, saxum, xe_queo};
use referee_bot::serde_json::{self, Value, json};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn vectors(file: &str) -> impl Iterator<Item = Value> {
    let path = format!("{}/../vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let lines = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let vectors: Vec<Value> = lines.lines().map(|line| line.parse().expect("JSON")).collect();
    vectors.into_iter()
}

/// Parses a move into JSON, null if it is none. Written as text it is itself again.
fn read<M: FromStr<Err: Debug> + ToString>(text: &str, to_json: impl Fn(M) -> Value) -> Value {
    let Ok(read) = text.parse::<M>() else { return Value::Null };
    assert_eq!(read.to_string(), text);
    to_json(read)
}

#[test]
fn moves_match_the_vectors() {
    for vector in vectors("moves.jsonl") {
        let text = vector["move"].as_str().expect("text");
        let said = match vector["game"].as_str().expect("text") {
            "checkers" => read(text, |said| match said {
                checkers::Move::Step(path) => json!({ "kind": "step", "path": path }),
                checkers::Move::Capture(path) => json!({ "kind": "capture", "path": path }),
            }),
            "chess" => read(text, |said| match said {
                chess::Move::Move(start, target) => {
                    json!({ "kind": "move", "start": start, "target": target })
                }
                chess::Move::Promote(start, target, piece) => {
                    json!({ "kind": "promote", "start": start, "target": target, "piece": piece })
                }
            }),
            "jeex" => read(text, |said| match said {
                jeex::Move::Place(at, facing) => json!({ "kind": "place", "field": at, "direction": facing }),
                jeex::Move::Rotate(at, facing) => {
                    json!({ "kind": "rotate", "field": at, "direction": facing })
                }
                jeex::Move::Capture(from, to) => json!({ "kind": "capture", "field": from, "target": to }),
                jeex::Move::Claim => json!({ "kind": "claim" }),
            }),
            "saxum" => read(text, |said| {
                let on = |kind, at: saxum::Field| json!({ "kind": kind, "row": at.row, "column": at.column });
                match said {
                    saxum::Move::Reroll(die) => json!({ "kind": "reroll", "die": die }),
                    saxum::Move::Turn(die, face) => json!({ "kind": "turn", "die": die, "face": face }),
                    saxum::Move::Place(at) => on("place", at),
                    saxum::Move::Score(at) => on("score", at),
                    saxum::Move::Pay(at) => on("pay", at),
                    saxum::Move::Insure(at) => on("insure", at),
                }
            }),
            "xe_queo" => read(text, |said| match said {
                xe_queo::Move::Ring(square) => json!({ "kind": "ring", "square": square }),
                xe_queo::Move::Choose(pawn) => json!({ "kind": "choose", "pawn": pawn }),
                xe_queo::Move::Move(pawn, to) => json!({ "kind": "move", "pawn": pawn, "square": to }),
                xe_queo::Move::Accuse(pawn) => json!({ "kind": "accuse", "pawn": pawn }),
            }),
            "keezen" => read(text, |said| match said {
                keezen::Move::Enter(card, None) => json!({ "kind": "enter", "card": card }),
                keezen::Move::Enter(card, Some(seat)) => {
                    json!({ "kind": "enter", "card": card, "seat": seat })
                }
                keezen::Move::Step(card, pawn) => json!({ "kind": "step", "card": card, "pawn": pawn }),
                keezen::Move::Split([(pawn, steps), (other, other_steps)]) => json!({
                    "kind": "split", "pawn": pawn, "steps": steps, "other": other, "other_steps": other_steps
                }),
                keezen::Move::Swap(pawn, other) => json!({ "kind": "swap", "pawn": pawn, "other": other }),
            }),
            other => panic!("the SDK does not know {other}"),
        };
        assert_eq!(said, vector["read"], "{text:?}");
    }
}

/// The view, read and written again.
fn again<V: DeserializeOwned + Serialize>(view: &Value) -> Value {
    let view: V = serde_json::from_value(view.clone()).unwrap_or_else(|error| panic!("{error}: {view}"));
    serde_json::to_value(view).expect("JSON")
}

#[test]
fn views_survive_a_round_trip() {
    for vector in vectors("views.jsonl") {
        let view = &vector["view"];
        let again = match vector["game"].as_str().expect("text") {
            "checkers" => again::<checkers::View>(view),
            "chess" => again::<chess::View>(view),
            "jeex" => again::<jeex::View>(view),
            "saxum" => again::<saxum::View>(view),
            "xe_queo" => again::<xe_queo::View>(view),
            "keezen" => again::<keezen::View>(view),
            other => panic!("the SDK does not know {other}"),
        };
        assert_eq!(&again, vector.get("read").unwrap_or(view));
    }
}
