//! `referee human --web`: a person plays in a browser.

use ::referee::game::test_length::long_or;
use serde_json::{Value, json};

use crate::common::http::{Site, Stream};
use crate::common::{Folder, Referee, SEED, Signal, browser, referee, the};

/// A browser takes half a second of CPU for a move.
const SHORT: &str = long_or("turn_limit=40", "turn_limit=16");

/// Starts a match. Returns the command and the URL of the page.
fn opened(args: &[&str]) -> (Referee, String) {
    let mut referee = Referee::start([&["human"], args, &["--web", "--json"]].concat());
    let url = referee.receive_type("watch")["url"].as_str().expect("a URL").to_owned();
    (referee, url)
}

/// The server and the secret path of a URL.
fn site(url: &str) -> (Site, String) {
    let (origin, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a path");
    (Site(origin.to_owned()), format!("/{path}"))
}

/// The events of the page, from the first turn of the person on.
fn begun(site: &Site, path: &str) -> Stream {
    let mut events = site.stream(&format!("{path}events"), None);
    assert!(
        events.any(|event| event.kind == "seat" && event.data["turn"]["number"] == 0),
        "the match begins"
    );
    events
}

#[test]
fn a_person_plays_a_whole_match_of_checkers_by_clicks() {
    let folder = Folder::new();
    let (bot, records) = (folder.plain_bot("bot"), folder.text("records"));
    let (mut playing, url) = opened(&["checkers", &bot, "--record", &records, "--set", SHORT]);
    browser::run("person.mjs", &[&url, "clicks"]);
    let ended = playing.receive_type("match");
    assert_eq!(ended["seats"], json!(["human", "test bot"]), "{ended}");
    playing.wait().with_code(0);
    referee(["verify", &records]).done();
    let record = folder.record("records/m1.jsonl");
    assert_eq!(record[0]["clock"], Value::Null, "a person has all the time there is");
    assert!(record.iter().all(|line| line["type"] != "fault"));
}

#[test]
fn a_person_plays_chess_by_the_keyboard_and_resigns() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let fen = "fen=7k/1P6/8/8/8/8/8/K7 w - - 0 1";
    let (referee, url) = opened(&["chess", &bot, "--set", fen]);
    browser::run("person.mjs", &[&url, "keyboard"]);
    let ended = referee.wait().with_code(0);
    assert_eq!(ended.one("match")["ended_by"], "resignation", "{ended:?}");
}

#[test]
fn draws_are_offered_and_accepted_in_a_browser() {
    let folder = Folder::new();
    let accepts = folder
        .bot("accepts", "play(turn=lambda t: say(type='accept_draw', match=t['match'], turn=t['turn']))");
    let (referee, url) = opened(&["checkers", &accepts]);
    browser::run("person.mjs", &[&url, "draw"]);
    assert_eq!(referee.wait().with_code(0).one("match")["ended_by"], "agreement");

    let offers = "play(turn=lambda t: say(type='move', match=t['match'], turn=t['turn'], move=t['legal'][0], offer_draw=True))";
    let offers = folder.bot("offers", offers);
    let (referee, url) = opened(&["checkers", &offers, "--seat", "1", "--clock", "bank=5m"]);
    browser::run("person.mjs", &[&url, "accept"]);
    assert_eq!(referee.wait().with_code(0).one("match")["ended_by"], "agreement");
}

#[test]
fn hidden_hands_stay_hidden_from_a_person_in_a_browser() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let (referee, url) = opened(&["keezen", &bot, &bot, &bot, "--set", "turn_limit=40", "--seed", SEED]);
    browser::run("person.mjs", &[&url, "secrets"]);
    referee.wait().with_code(0);
}

#[test]
fn every_kind_of_game_can_be_played_in_a_browser() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let games: [&[&str]; 8] = [
        &["jeex", "--set", SHORT],
        &["saxum", "--set", SHORT, "--seed", SEED],
        &["xe_queo"],
        &["examples/games/connect_four"],
        &["examples/games/hex", "--set", "size=5"],
        &["examples/games/kuhn_poker"],
        &["examples/games/goofspiel"],
        &["examples/games/rock_paper_scissors"],
    ];
    for args in &games[..long_or(8, 4)] {
        let (referee, url) = opened(&[&args[..1], &[&bot], &args[1..]].concat());
        browser::run("person.mjs", &[&url, "any"]);
        let ended = referee.wait().with_code(0);
        assert_ne!(ended.one("match")["ended_by"], "aborted", "{args:?}: {ended:?}");
    }
}

#[test]
fn moves_that_nobody_can_list_are_typed_in_a_browser() {
    let folder = Folder::new();
    let bot = folder.bot("bot", "play(turn=lambda t: move(t, '0 5 5'))");
    let small = ["--set", "coins=10", "--set", "fields=3", "--set", "battles=2"];
    let (referee, url) =
        opened(&[&["examples/games/blotto", &*bot, "--on-fault", "retry=1"], &small[..]].concat());
    browser::run("person.mjs", &[&url, "typed"]);
    let ended = referee.wait().with_code(0);
    assert_eq!(ended.one("match")["reason"], "battles_fought", "{ended:?}");
}

#[test]
fn a_person_plays_an_engine_in_a_browser() {
    let (referee, url) =
        opened(&["chess", "uci:/usr/games/stockfish?Hash=1&nodes=200", "--set", "turn_limit=10"]);
    browser::run("person.mjs", &[&url, "any"]);
    let ended = referee.wait().with_code(0).one("match");
    assert!(ended["seats"][1].as_str().is_some_and(|name| name.starts_with("Stockfish")), "{ended}");
    assert_ne!(ended["ended_by"], "aborted", "{ended}");
}

#[test]
fn go_and_shogi_are_played_by_clicks() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let sfen = "sfen=lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPP1P/1B5R1/LNSGKGSNL b P 1";
    let go: &[&str] = &["--set", "size=5", "--set", "moves=6"];
    let shogi: &[&str] = &["--set", sfen, "--set", "moves=6"];
    for (game, check, options) in [("go", "stones", go), ("shogi", "pieces", shogi)] {
        let game = format!("examples/games/{game}");
        let (referee, url) = opened(&[&[&*game, &bot], options].concat());
        browser::run("person.mjs", &[&url, check]);
        let ended = referee.wait().with_code(0);
        assert_ne!(ended.one("match")["ended_by"], "aborted", "{game}: {ended:?}");
    }
}

#[test]
fn only_who_has_the_url_may_play() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let (referee, url) = opened(&["checkers", &bot]);
    let (site, path) = site(&url);
    assert_eq!(path.len(), 34, "{path} has 128 random bits");
    let page = site.get(&path);
    assert!(page.status == 200 && page.head.contains("x-frame-options: deny"), "{}", page.head);
    let other = path.replace(|c: char| c.is_ascii_digit(), "a");
    for wrong in ["/", "//events", &other, &format!("{other}events")] {
        assert_eq!(site.ask("GET", wrong, "").status, 404, "{wrong}");
    }
    assert_eq!(site.ask("GET", &path, "Host: evil.example\r\n").status, 421);
    drop(begun(&site, &path));
    let act = format!("{path}answer");
    let post = |head: &str, body: &str| {
        site.ask_with_body("POST", &act, &format!("{head}Content-Length: {}\r\n", body.len()), body)
    };
    let resign = |head: &str| post(head, "\"resign\"").status;
    assert_eq!(resign("Origin: http://evil.example\r\n"), 403);
    assert_eq!(resign("Sec-Fetch-Site: cross-site\r\n"), 403);
    let answer = |body: &str| post("", body);
    assert_eq!(answer("{\"move\":{}}").status, 400);
    assert_eq!(answer("{\"move\":{\"turn\":99,\"text\":\"11-15\"}}").status, 409);
    assert_eq!(resign("Sec-Fetch-Site: same-origin\r\n"), 204);
    assert_eq!(referee.wait().with_code(0).one("match")["ended_by"], "resignation");
}

#[test]
fn ctrl_c_ends_a_match_in_a_browser() {
    let folder = Folder::new();
    let (bot, records) = (folder.plain_bot("bot"), folder.text("records"));
    let (referee, url) = opened(&["checkers", &bot, "--record", &records]);
    let (site, path) = site(&url);
    let events = begun(&site, &path);
    referee.signal(Signal::INT);
    let end = events.last().expect("an event");
    assert!(
        end.kind == "end" && end.data["result"].as_str().is_some_and(|text| text.contains("aborted")),
        "{end:?}"
    );
    let ended = referee.wait().with_code(130);
    assert_eq!(ended.one("match")["ended_by"], "aborted");
    assert_eq!(the("result", &folder.record("records/m1.jsonl"))["ended_by"], "aborted");
}
