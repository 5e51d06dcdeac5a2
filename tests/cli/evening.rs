//! The evening of the finals: a deadline, hidden standings, finals that an operator reveals on a projector, the ceremony. Meanwhile
//! a spectator asks for everything.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::common::{Referee, Signal, browser};
use crate::league_events::{self, opened, schedule};
use crate::stage;
use crate::watch::wait_until;

/// The players, the strongest first.
const PLAYERS: [&str; 4] = ["ada", "bo", "cy", "di"];
/// A bot that resigns against a stronger one. Nothing else decides: who moves first could win. In the finals it takes its time, so
/// that also a busy projector shows each board.
const BOT: &str = "import os, time

order = ['ada', 'bo', 'cy', 'di']
weaker = {}

def begin(start):
    own, other = (order.index(start['seats'][seat]['name']) for seat in (start['seat'], 1 - start['seat']))
    weaker[start['match']] = own > other
    ready(start)

def turn(turn):
    if os.path.exists(os.path.dirname(os.path.abspath(__file__)) + '/evening'):
        time.sleep(4)
    if weaker[turn['match']]:
        say(type='resign', match=turn['match'], seat=turn['seat'], turn=turn['turn'])
    else:
        first(turn)

play(start=begin, turn=turn)";
/// The matches of a knockout of four: each pairing is a mirrored set.
const MATCHES: [&str; 6] = ["m1", "m2", "m3", "m4", "m5", "m6"];

/// The evening is over once this is dropped, also if it has failed.
struct Evening<'a>(&'a AtomicBool);

impl Drop for Evening<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The number of rows of a list in the overview of the finals.
fn count(run: &Value, of: &str) -> usize {
    run[of].as_array().map_or(0, Vec::len)
}

/// Asks the servers of a league and of its finals for everything, until told to stop. `hidden` is what the pages of the league show all the
/// time, `is_waiting` which matches of the finals the operator has not revealed. It asks three times at least, also on a busy machine.
fn spy(
    (league, hidden): (&Site, &str),
    finals: &Site,
    is_waiting: impl Fn() -> Vec<String>,
    stops: &AtomicBool,
) {
    for asked in 1.. {
        assert_eq!(
            league_events::spied(league, &PLAYERS),
            hidden,
            "a spectator of the league learns something"
        );
        let seen = stage::spied(finals, &MATCHES);
        let run = finals.get("/api/v1/run").json();
        // A match that waits now has waited before.
        let waiting = is_waiting();
        let shown = MATCHES.len() - waiting.len();
        let listed = count(&run, "ended") + count(&run, "running");
        assert!(listed <= shown, "{listed} matches are listed, {shown} are revealed: {run}");
        let played: u64 =
            run["standings"].as_array().expect("rows").iter().filter_map(|row| row["matches"].as_u64()).sum();
        assert!(played <= 2 * shown as u64, "{run}");
        let rounds = run["bracket"].as_array().expect("rounds").iter();
        let pairs = rounds.flat_map(|round| round["pairs"].as_array().expect("pairs").clone());
        let won = pairs.filter(|pair| !pair["winner"].is_null()).count();
        assert!(won <= shown / 2, "{won} pairings are won, {shown} matches are revealed: {run}");
        for (path, status, body) in seen {
            let of = waiting.iter().find(|id| path.split('/').any(|part| part == **id));
            assert!(of.is_none() || status == 404, "{path} of a match that waits: {status} {body}");
        }
        if asked >= 3 && stops.load(Ordering::Relaxed) {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn finals_of_ladder_with_hidden_standings_reveal_no_winner() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &PLAYERS.map(|name| (name, "")));
    PLAYERS.iter().for_each(|name| drop(league.folder.bot(&format!("bot-{name}"), BOT)));
    let text = format!("{}{}", league_events::TABLES, league.folder.read("league.toml"));
    league.folder.write("league.toml", &text);
    let mut server = league.serve();
    let (site, _) = opened(&mut server);
    receive_matches(&mut server, 16);
    wait_until("the standings have results", || {
        let run = site.get("/api/v1/run").json();
        count(&run, "standings") == 4 && run["standings"][3]["matches"].as_u64() >= Some(2)
    });

    // The deadline has passed, and matches go on in secret.
    let passed = ["freeze", "hide_standings"].map(|what| ("2026-01-01", format!("{what:?}")));
    let [freeze, hide] = passed.each_ref().map(|(at, what)| (*at, &**what));
    schedule(&league, &text, &[freeze, hide]);
    server.signal(Signal::HUP);
    wait_until("the standings are hidden", || {
        let events = site.get("/api/v1/events").body;
        events.split("\"data\"").last().expect("a part").contains("The standings are hidden")
    });
    let hidden = league_events::spied(&site, &PLAYERS);
    receive_matches(&mut server, 6);
    thread::sleep(Duration::from_millis(1500));
    assert_eq!(league_events::spied(&site, &PLAYERS), hidden, "a spectator learns something");

    league.folder.write("evening", "");
    let dir = league.folder.text("finals");
    let command =
        ["league", "finals", "--league", &league.file, "--top", "4", "--dir", &dir, "--json", "--pause"];
    let live = ["--url", "https://cup.example/", "--watch", "127.0.0.1:0", "--stage", "hold=reveal"];
    let mut finals = Referee::start(command.into_iter().chain(live));
    let of_finals = Site::of(&mut finals);
    let operator = finals.receive_type("operator")["url"].as_str().expect("a URL").to_owned();
    let secret = operator.split('#').nth(1).expect("a secret").to_owned();
    let waiting = || {
        let head = format!("Authorization: Bearer {secret}\r\n");
        let held = of_finals.ask("GET", "/api/v1/stage", &head).json()["matches"]
            .as_array()
            .expect("matches")
            .clone();
        held.into_iter().filter(|held| held["revealed"] == false)
    };
    wait_until("the bracket is drawn", || of_finals.get("/api/v1/run").json()["bracket"].is_array());
    let before = stage::spied(&of_finals, &MATCHES);
    let played: Vec<Value> = MATCHES.map(|_| finals.receive_type("match")).into();
    finals.receive_type("standings");
    wait_until("all wait", || waiting().filter(|held| held["ended"] == true).count() == MATCHES.len());
    let wins = played.iter().filter(|row| row.to_string().contains("ada")).count();
    assert_eq!(wins, 4, "the strongest one plays two sets: {played:?}");
    for (now, then) in stage::spied(&of_finals, &MATCHES).into_iter().zip(before) {
        assert_eq!(now, then, "a spectator learns something");
    }
    // The pages of the ladder lead to its finals, and say no more than before.
    wait_until("the ladder links to its finals", || {
        let ladder = site.get("/api/v1/ladder").json();
        ladder["finals"]["url"] == "https://cup.example/" && ladder["paused"] == true
    });
    wait_until("the ladder rests", || site.ask("GET", "/healthz", "").body.contains("paused"));
    thread::sleep(Duration::from_millis(1500));
    let resting = league_events::spied(&site, &PLAYERS);
    let standings = site.get("/api/v1/standings").json();
    assert_eq!(standings, json!({ "standings": [], "count": 0 }));

    // The operator reveals one match after the other, for people before a projector.
    let stops = AtomicBool::new(false);
    thread::scope(|scope| {
        let ids = || waiting().map(|held| held["id"].as_str().expect("an id").to_owned()).collect();
        let (league, finals, stops) = ((&site, &*resting), &of_finals, &stops);
        let spying = scope.spawn(move || spy(league, finals, ids, stops));
        let evening = Evening(stops);
        browser::run("evening.mjs", &[&operator, &of_finals.url("/?stage"), "ada", &league.0.url("/")]);
        drop(evening);
        spying.join().expect("nothing was told early");
    });
    wait_until("all of it is told", || of_finals.get("/api/v1/run").json()["ended_count"] == MATCHES.len());
    finals.signal(Signal::INT);
    finals.wait().with_code(0);

    // The ceremony.
    schedule(&league, &text, &[freeze, hide, ("2026-01-02", "\"show_standings\"")]);
    server.signal(Signal::HUP);
    let stored: u64 = league.query("SELECT count(*) FROM matches").parse().expect("a number");
    wait_until("all is shown", || {
        let run = site.get("/api/v1/run").json();
        run["ended_count"] == stored && run["standings"][0]["name"] == "ada"
    });
    let ladder = site.get("/api/v1/ladder").json();
    assert_eq!((&ladder["frozen"], &ladder["hidden_since"]), (&json!(true), &Value::Null));
    drain(server);
    league.verify();
}
