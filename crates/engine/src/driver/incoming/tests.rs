//! The strict parser, and the fast one for moves.

use super::*;

const MOVES: [&str; 8] = [
    r#"{"type":"move","match":"m1","turn":3,"move":"11-15"}"#,
    r#"{"type":"move","match":"m1","seat":1,"turn":3,"move":"11-15","offer_draw":true}"#,
    r#"{"info": {"score":-3,"pv":["a","b"],"a":{"text":"\u00e9"},"b":{"text":1.5}} ,"type":"move","match":"m1","turn":3,"move":"11-15"}"#,
    r#"{"type":"move","match":"m1","turn":3,"move":"11-15","offer_draw":false,"info":[{}]}"#,
    r#"{"type":"move","match":"m1","seat":null,"turn":3,"move":"11-15","offer_draw":null,"info":null}"#,
    r#"{"type":"move","match":"\u006d1","turn":9007199254740991,"move":"\"","in\u0066o":"text"}"#,
    r#"{"type":"move","match":"m1","turn":3,"move":"11-15","id":7,"nonce":[],"mood":{"a":"good"}}"#,
    r#"{"type":"move","match":"m1","turn":3,"move":"11-15","id":"mine"}"#,
];

fn shown(answer: &bot::Move<'_, &RawValue>) -> String {
    serde_json::to_string(answer).unwrap()
}

fn malformed(line: &str) -> String {
    match read(line.as_bytes(), true).1 {
        Err(Unreadable::Malformed(what)) => what.to_string(),
        other => panic!("{line}: {other:?}"),
    }
}

/// Nested lists with this many levels.
fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

#[test]
fn a_plain_move_parses_as_serde_reads_it() {
    for line in MOVES {
        let expected = serde_json::from_str(line).unwrap();
        let message = read(line.as_bytes(), false).1;
        assert!(
            matches!(message, Ok(Incoming::Move(answer)) if shown(&answer) == shown(&expected)),
            "{line}"
        );
    }
}

/// The line with each ASCII character removed, replaced by, and preceded by each ASCII character.
fn misspelt(line: &str) -> impl Iterator<Item = String> {
    let places = line.char_indices().filter(|(_, there)| there.is_ascii());
    places.flat_map(move |(at, _)| {
        let other =
            move |left_out: usize, there: &str| format!("{}{there}{}", &line[..at], &line[at + left_out..]);
        let others =
            ('\0'..='\x7f').flat_map(move |byte| [0, 1].map(|left_out| other(left_out, &byte.to_string())));
        others.chain([other(1, "")])
    })
}

#[test]
fn the_fast_parser_agrees_with_the_strict_parser() {
    let strictly = |line: &str| {
        let mut address = Address::default();
        let message = read_strictly(line.as_bytes(), false, &mut address);
        (message.ok().map(|message| serde_json::to_string(&message).unwrap()), format!("{address:?}"))
    };
    for line in [
        r#"{"type":"move","match":"m1","seat":255,"turn":3,"move":"11-15"}"#,
        r#"{"type": "move", "turn": 0, "match": "m1", "move": "11-15"}"#,
        r#"{"match":"é","move":"","turn":9007199254740991,"type":"move"}"#,
        r#"{"type":"move","turn":3,"info": {"a":[-1.5e3,"\u00e9\""], "b":{"b":{}},"c":null},"match":"m1","move":"11-15"}"#,
    ] {
        assert!(plain_move(line.as_bytes()).is_some(), "{line}");
        for line in misspelt(line).chain([line.to_owned()]) {
            if let Some(answer) = plain_move(line.as_bytes()) {
                let (message, address) = strictly(&line);
                assert_eq!(message, serde_json::to_string(&Incoming::Move(answer)).ok(), "{line}");
                let addressed = format!("{:?}", read(line.as_bytes(), false).0);
                assert_eq!(address, addressed, "{line}");
            }
        }
    }
    for field in [
        r#""type":"move""#,
        r#""match":"m1""#,
        r#""seat":1"#,
        r#""turn":3"#,
        r#""move":"11-15""#,
        r#""info":{}"#,
    ] {
        let line = r#"{"type":"move","match":"m1","seat":1,"turn":3,"move":"11-15","info":{}"#;
        let line = format!("{line},{field}}}");
        assert!(plain_move(line.as_bytes()).is_none(), "{line}");
    }
}

#[test]
fn field_of_wrong_type_is_malformed_and_keeps_address() {
    for field in [
        r#""seat":256"#,
        r#""seat":"0""#,
        r#""turn":9007199254740992"#,
        r#""turn":-1"#,
        r#""turn":3.0"#,
        r#""turn":null"#,
        r#""move":null"#,
        r#""match":1"#,
        r#""offer_draw":1"#,
    ] {
        let name = field.split(':').next().unwrap();
        let others = [r#""match":"m1""#, r#""turn":3"#, r#""move":"11-15""#];
        let others = others.iter().filter(|other| !other.starts_with(name));
        let fields: Vec<&str> = others.copied().chain([field]).collect();
        let line = format!(r#"{{"type":"move",{}}}"#, fields.join(","));
        assert!(malformed(&line).starts_with("the line cannot be read: invalid "), "{line}");
        let address = read(line.as_bytes(), false).0;
        assert_eq!(address.match_id.as_deref(), Some("m1").filter(|_| name != r#""match""#));
        assert_eq!(address.turn, Some(3).filter(|_| name != r#""turn""#));
    }
}

#[test]
fn duplicate_keys_are_rejected_at_any_depth() {
    for field in [
        r#""info":{"a":1,"a":2}"#,
        r#""info":{"pv":[[{"b":{}},{"\u0061":1,"b":2,"a":3}]]}"#,
        r#""info":{},"in\u0066o":{}"#,
        r#""offer_draw":true,"offer_draw":true"#,
        r#""mood":{"a":{"a":1,"a":2}}"#,
        r#""mood":1,"mood":1"#,
    ] {
        let line = format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15",{field}}}"#);
        let what = malformed(&line);
        assert!(what.contains("duplicate key `") && what.contains("` at "), "{what}");
    }
}

#[test]
fn nesting_is_limited_at_any_position() {
    for field in ["info", "mood"] {
        let line = |value: String| {
            format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15","{field}":{value}}}"#)
        };
        let list = |levels: usize| line(nested(levels - 1));
        let object = |levels: usize| line(format!(r#"{{"a":{}}}"#, nested(levels - 2)));
        for (deep, too_deep) in [(list(127), list(128)), (object(127), object(128))] {
            assert!(matches!(read(deep.as_bytes(), false).1, Ok(Incoming::Move(_))), "{field}");
            assert!(malformed(&too_deep).contains("recursion limit exceeded"), "{field}");
        }
    }
}

#[test]
fn invalid_json_in_info_is_malformed() {
    for info in [
        r#""\ud800""#,
        r#"{"a":"\ud800"}"#,
        "{\"a\":1e}",
        "-",
        "1.",
        "{]",
        "{\"a\":01}",
        "\"\u{1}\"",
        "nul",
        "",
    ] {
        malformed(&format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15","info":{info}}}"#));
    }
}

#[test]
fn numbers_of_any_size_are_accepted() {
    let digits = "9".repeat(400);
    for number in ["1e999", "-1e999", "1E+400", "-0", "0.5e-999", "18446744073709551616", &digits] {
        for field in [
            format!(r#""info":{number}"#),
            format!(r#""info":{{"score":{number}}}"#),
            format!(r#""info":{{"pv":[[{number}],{{"a":{number}}}]}}"#),
            format!(r#""mood":{number}"#),
            format!(r#""mood":[{number}]"#),
        ] {
            let line = format!(r#"{{"type":"move","match":"m1","turn":3,"move":"11-15",{field}}}"#);
            let message = read(line.as_bytes(), false).1;
            assert!(matches!(message, Ok(Incoming::Move(_))), "{line}: {message:?}");
        }
        let line = format!(r#"{{"type":"move","match":"m1","turn":{number},"move":"11-15"}}"#);
        if number != "-0" {
            assert!(malformed(&line).starts_with("the line cannot be read: "), "{line}");
        }
        let line = format!(r#"{{"type":"hello","protocol":1,"name":"bot","mood":{number}}}"#);
        assert!(matches!(read(line.as_bytes(), false).1, Ok(Incoming::Hello(_))), "{line}");
    }
}

#[test]
fn scanner_agrees_with_serde_except_on_numbers_and_duplicate_keys() {
    let sound = r#"{"a":[1,-2.5e3,true,false,null,"x\u00e9\n"],"b":{"c":{}, "d" : [ ]},"e":0}"#;
    for line in misspelt(sound).chain([sound.to_owned()]) {
        let scanned = JsonScanner::within(0, &line).object(|_, _| ());
        let by_serde = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&line);
        match (&scanned, &by_serde) {
            (Ok(()), Ok(_)) | (Err(_), Err(_)) => {}
            (Err(what), Ok(_)) => assert!(what.to_string().contains("duplicate key"), "{line}: {what}"),
            (Ok(()), Err(error)) => {
                assert!(error.to_string().contains("out of range"), "{line}: {error}");
            }
        }
    }
}
