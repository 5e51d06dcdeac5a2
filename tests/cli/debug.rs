//! `referee debug`: every line of a match.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::common::{Folder, Referee, WON, referee, sample};

#[test]
fn debug_shows_every_line_in_both_directions_with_times() {
    let bot = sample("python/random_bot.py");
    let ended = referee(["debug", "checkers", &bot, "--set", "fen=B:W23:B10"]).with_code(0);
    let marks: Vec<(&str, String)> = ended
        .stdout
        .lines()
        .map(|line| {
            let mut parts = line.trim_start().splitn(3, ' ');
            let time: f64 = parts.next().and_then(|time| time.parse().ok()).expect("a time");
            assert!(time < 60.0, "{line}");
            let mark = parts.next().expect("a mark");
            let message: Value = serde_json::from_str(parts.next().expect("a line")).expect("JSON");
            (mark, message["type"].as_str().expect("a type").to_owned())
        })
        .collect();
    let expected =
        [(">", "hello"), ("<", "hello"), (">", "start"), ("<", "ready"), (">", "turn"), ("<", "move")];
    let first: Vec<(&str, &str)> = marks.iter().map(|(mark, kind)| (*mark, kind.as_str())).take(6).collect();
    assert_eq!(first, expected);
    assert_eq!(marks.last(), Some(&(">", "bye".to_owned())));
}

#[test]
fn debug_continues_after_a_fault_as_a_match_does() {
    let (bad, good) = (sample("hostile/illegal_move.py"), sample("hostile/honest.py"));
    let ended = referee(["debug", "checkers", &bad, "--against", &good]).with_code(1);
    for part in ["> {\"type\":\"error\",\"code\":\"illegal_move\"", "\"ended_by\":\"fault\""] {
        assert!(ended.stdout.contains(part), "{part} is missing in:\n{}", ended.stdout);
    }
    referee(["debug", "checkers", &good, "--against", &bad, "--seat", "1"]).with_code(0);
    // With three sides the match continues without the faulty one; it is long enough for its third request.
    referee(["debug", "keezen", &bad, "--seats", "6", "--set", "turn_limit=300"]).with_code(1);
    referee(["debug", "checkers", &good, "--seat", "2"]).with_code(2);
}

#[test]
fn debug_checks_hello_as_a_match_does() {
    let folder = Folder::new();
    let bot = |name: &str, hello: &str| folder.bot(name, &format!("play(hello=lambda _: {hello})"));
    // A rejected `hello` is answered, and the bot may try again.
    let again = bot(
        "again",
        "(print('ready to play', flush=True), say(type='hello', protocol=1, name='a!'), say(type='hello', protocol=1, name='a'))",
    );
    let ended = referee(["debug", "checkers", &again, "--set", WON]).with_code(0);
    assert_eq!(ended.stdout.matches("> {\"type\":\"error\",\"code\":\"malformed\"").count(), 2, "{ended:#?}");
    for (name, hello, why) in [
        (
            "newer",
            "say(type='hello', protocol=2, name='newer')",
            "no_start: protocol 2 is not spoken here, only 1",
        ),
        (
            "chess",
            "say(type='hello', protocol=1, name='chess', games=['chess'])",
            "no_start: it does not play checkers: it plays chess",
        ),
        ("leaver", "(say(type='hello', protocol='1', name='leaver'), sys.exit(3))", "exited: status 3"),
    ] {
        let ended = referee(["debug", "checkers", &bot(name, hello)]).with_code(5);
        ended.says(&["does not start (", why]);
    }
}

fn shown(referee: &mut Referee) -> String {
    referee.line().expect("a line")
}

#[test]
fn debug_asks_before_each_line_with_step() {
    let bot = sample("python/random_bot.py");
    let mut referee = Referee::start(["debug", "checkers", &bot, "--set", "fen=B:W23:B10", "--step"]);
    assert!(shown(&mut referee).contains("> {\"type\":\"hello\""));
    referee.write("\n");
    assert!(shown(&mut referee).contains("< {\"type\":\"hello\""), "it was sent");
    assert!(shown(&mut referee).contains("> {\"type\":\"start\""));
    // At the end of input there are no more answers.
    let ended = referee.end().with_code(0);
    assert!(ended.stderr.contains("send? [Enter]"), "{}", ended.stderr);
    assert!(ended.stdout.contains("\"type\":\"bye\""), "{}", ended.stdout);
}

#[test]
fn debug_hears_every_line_as_a_match_does() {
    for (line, output) in [
        // A malformed line for another match or seat does not replace the answer.
        (r#"{"type":"move","match":"m9","turn":"0"}"#, "malformed"),
        (r#"{"type":"move","match":"m1","seat":1,"turn":"0"}"#, "malformed"),
        (r#"{"type":"move","match":"m9","turn":0,"move":"14x23"}"#, "unknown_match"),
        (r#"{"type":"resign","match":"m1","seat":1}"#, "unknown_seat"),
        (r#"{"type":"move","match":"m1","turn":7,"move":"14x23"}"#, "out_of_state"),
        (r#"{"type":"hello","protocol":1,"name":"a"}"#, "out_of_state"),
        (r#"{"type":"shout"}"#, "unknown_type"),
        ("", ""),
    ] {
        let folder = Folder::new();
        let received = folder.text("received");
        let script = format!(
            "play(turn=lambda t: (print({line:?}, flush=True), first(t)), \
             error=lambda e: print(json.dumps(e), file=open({received:?}, 'a')))"
        );
        let bot = folder.bot("bot", &script);
        let plain = folder.plain_bot("plain");
        let played = referee(["play", "checkers", &bot, &plain, "--set", WON, "--json"]).done();
        assert_eq!(played.one("match")["ended_by"], "rules", "{line}");
        let in_match = std::fs::read_to_string(&received).unwrap_or_default();
        let debugged = referee(["debug", "checkers", &bot, "--set", WON]).with_code(0);
        let in_both = std::fs::read_to_string(&received).unwrap_or_default();
        assert_eq!(in_both, in_match.repeat(2), "{line}: {}", debugged.stdout);
        let code = in_match.lines().map(|error| serde_json::from_str::<Value>(error).expect("JSON"));
        let codes: Vec<String> = code.map(|error| error["code"].as_str().expect("text").to_owned()).collect();
        assert_eq!(codes, Vec::from_iter(Some(output).filter(|output| !output.is_empty())), "{line}");
    }
}

#[test]
fn debug_names_what_arrived_in_place_of_an_answer() {
    let folder = Folder::new();
    let silent = folder.bot("silent", "play(turn=lambda t: None)");
    let ended = referee(["debug", "checkers", &silent, "--clock", "delay=1s"]).with_code(1);
    assert!(ended.stdout.contains("no answer within 1000 ms; is stdout flushed?"), "{}", ended.stdout);
}
