//! A bot and its stream, in memory.

use std::io::{self, Write};

use referee_bot::serde_json::{self, json};
use referee_bot::{
    Answer, Bot, End, Error, Event, FaultCode, Hello, Inability, Move, Start, Text, Turn, Want, from_fn,
    hello, run_on,
};
use serde::Deserialize;

/// Returns the answers of `bot` to `lines`.
fn talk(bot: impl Bot, lines: &[&str]) -> Result<Vec<String>, Error> {
    let mut out = Vec::new();
    run_on(lines.join("\n").as_bytes(), &mut out, bot)?;
    let out = String::from_utf8(out).expect("UTF-8");
    assert!(out.is_empty() || out.ends_with('\n'), "an unfinished line: {out}");
    Ok(out.lines().map(str::to_owned).collect())
}

/// Returns the answers to `lines` of a bot that decides by `choose`, in the middle of match m1, where it has
/// seat 0.
fn replies(choose: impl FnMut(&Turn<'_>) -> Answer, lines: &[&str]) -> Vec<String> {
    let start = start("m1", 0, false);
    let lines: Vec<&str> = [&*start].into_iter().chain(lines.iter().copied()).collect();
    let mut said = talk(from_fn(hello("test"), choose), &lines).expect("a quiet end");
    assert_eq!(said.remove(0), r#"{"type":"ready","match":"m1","seat":0}"#);
    said
}

fn first(_: &Turn<'_>) -> Answer {
    Answer::legal(0)
}

const HELLO: &str = r#"{"type":"hello","protocol":1,"server":"referee/0.1.0","auth":"none"}"#;
const TURN: &str =
    r#"{"type":"turn","match":"m1","seat":0,"turn":3,"view":{"dice":[2,5]},"legal":["a","b"],"clock":null}"#;
const BYE: &str = r#"{"type":"bye","reason":"done"}"#;

fn start(r#match: &str, seat: u8, nonce: bool) -> String {
    json!({
        "type": "start", "match": r#match, "game": "saxum", "rules": 1, "options": { "rows": 3 }, "seat": seat,
        "seats": [{ "name": "a", "team": 0 }, { "name": "b", "team": 1 }],
        "clock": { "delay_ms": 5000, "bank_ms": 60000, "increment_ms": 0 },
        "deal": "m1", "commitment": "00", "nonce": nonce,
    })
    .to_string()
}

#[test]
fn a_match_from_hello_to_bye() {
    /// Notes its messages.
    struct Diary<'a>(&'a mut Vec<String>);

    impl Bot for Diary<'_> {
        fn hello(&self) -> Hello {
            Hello { slots: Some(2), wants: Some(vec![Want::View]), ..hello("diary") }
        }
        fn start(&mut self, start: &Start<'_>) {
            #[derive(Deserialize)]
            struct Options {
                rows: u8,
            }
            let options = Options::deserialize(start.options).expect("options");
            self.0.push(format!("start {} with {} rows", start.r#match, options.rows));
        }
        fn event(&mut self, event: &Event<'_>) {
            #[derive(Deserialize)]
            struct Kind<'a> {
                #[serde(borrow)]
                kind: Text<'a>,
            }
            let event = event.read::<Kind<'_>>().expect("an event");
            self.0.push(format!("event {} is {}", event.n, event.event.kind));
        }
        fn choose(&mut self, turn: &Turn<'_>) -> Answer {
            self.0.push(format!("turn {}, {} legal", turn.turn, turn.legal().len()));
            Answer::text("5*")
        }
        fn end(&mut self, end: &End) {
            self.0.push(format!("end by {}", end.ended_by));
        }
    }

    let mut diary = Vec::new();
    let said = talk(
        Diary(&mut diary),
        &[
            HELLO,
            &start("m1", 1, false),
            r#"{"type":"event","match":"m1","seat":1,"n":0,"event":{"kind":"roll","seat":1,"dice":[2,5]}}"#,
            r#"{"type":"turn","match":"m1","seat":1,"turn":0,"view":{},"clock":{"bank_ms":60000,"limit_ms":65000}}"#,
            r#"{"type":"end","match":"m1","seat":1,"ranks":[1,2],"scores":[1.0,0.0],"ended_by":"rules","reason":"rows"}"#,
            BYE,
            TURN,
        ],
    );
    assert_eq!(diary, ["start m1 with 3 rows", "event 0 is roll", "turn 0, 0 legal", "end by rules"]);
    assert_eq!(
        said.expect("a quiet end"),
        [
            r#"{"type":"hello","protocol":1,"name":"diary","slots":2,"wants":["view"]}"#,
            r#"{"type":"ready","match":"m1","seat":1}"#,
            r#"{"type":"move","match":"m1","seat":1,"turn":0,"move":"5*"}"#,
        ]
    );
}

#[test]
fn hello_has_defaults() {
    struct Resigner;
    impl Bot for Resigner {
        fn choose(&mut self, _: &Turn<'_>) -> Answer {
            Answer::Resign
        }
    }
    assert_eq!(
        talk(Resigner, &[HELLO]).expect("a quiet end"),
        [r#"{"type":"hello","protocol":1,"name":"bot"}"#]
    );
}

#[test]
fn every_kind_of_answer() {
    let answers = [
        (Answer::legal(1), r#"{"type":"move","match":"m1","seat":0,"turn":3,"move":"b"}"#),
        (Answer::text("c"), r#"{"type":"move","match":"m1","seat":0,"turn":3,"move":"c"}"#),
        (
            Move::legal(0).offering_draw().with_info(json!({ "score": 12 })).into(),
            r#"{"type":"move","match":"m1","seat":0,"turn":3,"move":"a","offer_draw":true,"info":{"score":12}}"#,
        ),
        (Answer::AcceptDraw, r#"{"type":"accept_draw","match":"m1","seat":0,"turn":3}"#),
        (Answer::Resign, r#"{"type":"resign","match":"m1","seat":0}"#),
        (
            Answer::Unable { because: Inability::NoLegalMove, info: Some(json!({ "text": "z9" })) },
            r#"{"type":"unable","match":"m1","seat":0,"turn":3,"because":"no_legal_move","info":{"text":"z9"}}"#,
        ),
        (
            Answer::Unable { because: Inability::Unavailable, info: None },
            r#"{"type":"unable","match":"m1","seat":0,"turn":3,"because":"unavailable"}"#,
        ),
    ];
    for (answer, line) in answers {
        assert_eq!(replies(|_| answer.clone(), &[TURN]), [line]);
    }
}

#[test]
fn a_turn_has_all_fields_of_the_message() {
    let line = r#"{"type":"turn","match":"m1","seat":0,"turn":4,"view":{"dice":[2,5],"hand":"\u00e4"},"legal":["a"],"clock":{"bank_ms":1,"limit_ms":2},"turns_left":9,"draw_offered":true,"retry":{"of":3,"code":"illegal_move","message":"no"}}"#;
    #[derive(Deserialize)]
    struct View<'a> {
        dice: [u8; 2],
        #[serde(borrow)]
        hand: Text<'a>,
    }
    let choose = |turn: &Turn<'_>| {
        let view: View<'_> = turn.view().expect("a view");
        assert_eq!((view.dice, &*view.hand), ([2, 5], "ä"));
        assert_eq!(turn.clock.map(|clock| clock.limit_ms), Some(2));
        assert_eq!(turn.turns_left, Some(9));
        assert!(turn.draw_offered);
        assert_eq!(turn.retry.as_ref().map(|retry| retry.code), Some(FaultCode::IllegalMove));
        Answer::legal(0)
    };
    assert_eq!(replies(choose, &[line]).len(), 1);
}

#[test]
fn reading_an_unwanted_view_is_an_error() {
    let choose = |turn: &Turn<'_>| {
        let error = turn.view::<serde_json::Value>().expect_err("there is no view");
        assert!(error.to_string().contains("`view`"), "{error}");
        Answer::legal(0)
    };
    replies(choose, &[r#"{"type":"turn","match":"m1","seat":0,"turn":3,"legal":["a"],"clock":null}"#]);
}

#[test]
fn the_nonce_is_requested_only_if_it_is_used() {
    struct Nonce;
    impl Bot for Nonce {
        fn nonce(&mut self, _: &Start<'_>) -> Option<String> {
            Some("00ff".to_owned())
        }
        fn choose(&mut self, _: &Turn<'_>) -> Answer {
            Answer::Resign
        }
    }
    assert_eq!(
        talk(Nonce, &[&start("m1", 1, true), &start("m2", 1, false)]).expect("a quiet end"),
        [
            r#"{"type":"ready","match":"m1","seat":1,"nonce":"00ff"}"#,
            r#"{"type":"ready","match":"m2","seat":1}"#
        ]
    );
}

#[test]
fn matches_may_overlap() {
    let turn = |r#match, seat, turn| {
        json!({ "type": "turn", "match": r#match, "seat": seat, "turn": turn, "legal": [r#match], "clock": null })
            .to_string()
    };
    let said = replies(
        first,
        &[
            &turn("m1", 0, 0),
            &start("m2", 1, false),
            &turn("m2", 1, 7),
            &start("m1", 1, false),
            &turn("m1", 1, 0),
        ],
    );
    assert_eq!(
        said,
        [
            r#"{"type":"move","match":"m1","seat":0,"turn":0,"move":"m1"}"#,
            r#"{"type":"ready","match":"m2","seat":1}"#,
            r#"{"type":"move","match":"m2","seat":1,"turn":7,"move":"m2"}"#,
            r#"{"type":"ready","match":"m1","seat":1}"#,
            r#"{"type":"move","match":"m1","seat":1,"turn":0,"move":"m1"}"#,
        ]
    );
}

#[test]
fn turns_of_unknown_or_ended_matches_are_ignored() {
    let end = r#"{"type":"end","match":"m1","seat":0,"ended_by":"aborted","reason":"aborted"}"#;
    assert_eq!(talk(from_fn(hello("test"), first), &[TURN]).expect("a quiet end"), [""; 0]);
    assert_eq!(replies(first, &[TURN, end, TURN, end]).len(), 1);
    let other_seat = r#"{"type":"end","match":"m1","seat":1,"ended_by":"aborted","reason":"aborted"}"#;
    assert_eq!(replies(first, &[&start("m1", 1, false), other_seat, TURN]).len(), 2);
}

#[test]
fn a_ping_is_answered_and_an_error_is_not() {
    let error = r#"{"type":"error","code":"from_the_future","message":"oh"}"#;
    assert_eq!(replies(first, &[error, r#"{"type":"ping","id":7}"#]), [r#"{"type":"pong","id":7}"#]);
}

#[test]
fn unknown_messages_and_fields_are_ignored() {
    let said = replies(
        first,
        &[
            "",
            " \r",
            r#"{"type":"weather","match":"m1"}"#,
            "{\"type\":\"ping\",\"id\":1,\"new\":{\"x\":[]}}\r",
            r#"{"type":"turn","match":"m1","seat":0,"turn":0,"legal":["a"],"clock":{"bank_ms":1,"limit_ms":2,"new":3},"new":4}"#,
        ],
    );
    assert_eq!(
        said,
        [r#"{"type":"pong","id":1}"#, r#"{"type":"move","match":"m1","seat":0,"turn":0,"move":"a"}"#]
    );
}

#[test]
fn the_type_may_be_at_any_position_and_contain_escapes() {
    let pong = [r#"{"type":"pong","id":7}"#];
    assert_eq!(replies(first, &[r#"{"id":7,"type":"ping"}"#]), pong);
    assert_eq!(replies(first, &[r#" { "type" : "ping", "id" : 7 }"#]), pong);
    assert_eq!(replies(first, &[r#"{"type":"p\u0069ng","id":7}"#]), pong);
}

#[test]
fn moves_survive_json_escaping() {
    let line = r#"{"type":"turn","match":"m\"1","seat":0,"turn":0,"legal":["\"\\\u00e4\n"],"clock":null}"#;
    let said = replies(first, &[&start("m\"1", 0, false), line]);
    let said: serde_json::Value = serde_json::from_str(&said[1]).expect("JSON");
    assert_eq!((&said["match"], &said["move"]), (&json!("m\"1"), &json!("\"\\ä\n")));
}

#[test]
fn a_last_line_without_a_line_break_is_handled() {
    assert_eq!(replies(first, &[r#"{"type":"ping","id":1}"#]).len(), 1);
    assert_eq!(replies(first, &["{\"type\":\"ping\",\"id\":1}\n"]).len(), 1);
    assert!(replies(first, &[]).is_empty());
}

#[test]
fn an_index_beyond_the_legal_moves_is_an_error() {
    let bot = from_fn(hello("test"), |_| Answer::legal(2));
    let error = talk(bot, &[&start("m1", 0, false), TURN]).expect_err("there are two");
    assert!(matches!(error, Error::NoSuchMove { index: 2, legal: 2 }), "{error:?}");
    assert_eq!(error.to_string(), "the bot chose legal[2], but the turn has 2 legal moves, counted from 0");
}

#[test]
fn unreadable_lines_are_ignored() {
    for line in [
        "?",
        "[]",
        r#"["ping"]"#,
        r#""ping""#,
        "{}",
        r#"{"type":[1]}"#,
        r#"{"type":"turn","match":"m1"}"#,
        r#"{"type":"ping""#,
    ] {
        assert_eq!(
            replies(first, &[line, r#"{"type":"ping","id":1}"#]),
            [r#"{"type":"pong","id":1}"#],
            "{line}"
        );
    }
}

#[test]
fn a_byte_order_mark_is_ignored() {
    assert_eq!(replies(first, &["\u{feff}{\"type\":\"ping\",\"id\":1}\r"]), [r#"{"type":"pong","id":1}"#]);
}

#[test]
fn invalid_utf8_is_an_error() {
    let mut out = Vec::new();
    let line = &b"{\"type\":\"ping\",\"id\":1,\"x\":\"\xff\"}\n"[..];
    let error = run_on(line, &mut out, from_fn(hello("test"), first));
    assert!(matches!(error, Err(Error::Io(error)) if error.kind() == io::ErrorKind::InvalidData));
    assert!(out.is_empty());
}

/// Keeps every piece that it is given apart.
#[derive(Default)]
struct Pieces(Vec<String>);

impl Write for Pieces {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.0.push(String::from_utf8_lossy(piece).into_owned());
        Ok(piece.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.push("flush".to_owned());
        Ok(())
    }
}

#[test]
fn every_answer_is_one_flushed_write() {
    let mut pieces = Pieces::default();
    let input = [r#"{"type":"ping","id":1}"#, &start("m1", 0, false), TURN, BYE].join("\n");
    run_on(input.as_bytes(), &mut pieces, from_fn(hello("test"), first)).expect("a quiet end");
    assert_eq!(
        pieces.0,
        [
            "{\"type\":\"pong\",\"id\":1}\n",
            "flush",
            "{\"type\":\"ready\",\"match\":\"m1\",\"seat\":0}\n",
            "flush",
            "{\"type\":\"move\",\"match\":\"m1\",\"seat\":0,\"turn\":3,\"move\":\"a\"}\n",
            "flush",
        ]
    );
}

#[test]
fn a_closed_output_is_not_an_error() {
    struct Gone(io::ErrorKind);
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let run = |kind| run_on(HELLO.as_bytes(), Gone(kind), from_fn(hello("test"), first));
    assert!(run(io::ErrorKind::BrokenPipe).is_ok());
    assert!(matches!(run(io::ErrorKind::StorageFull), Err(Error::Io(_))));
}
