//! `[[events]]` of a league: deadlines, hidden standings, the end of a season.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::guest::Guest;
use crate::common::http::{Answer, Site};
use crate::common::league::{League, drain, hello, receive_matches};
use crate::common::{Referee, Signal, browser};
use crate::watch::wait_until;

pub(crate) const TABLES: &str = "[owners]\nlisten = \"127.0.0.1:0\"\n[signup]\nmode = \"open\"\n";

/// Replaces the events of a league.
pub(crate) fn schedule(league: &League, before: &str, events: &[(&str, &str)]) {
    let events: String = events
        .iter()
        .map(|(at, what)| format!("[[events]]\nat = \"{at}T00:00:00Z\"\nwhat = {what}\n"))
        .collect();
    league.folder.write("league.toml", format!("{before}{events}"));
}

pub(crate) fn post(owners: &Site, path: &str, token: &str, body: &Value) -> Answer {
    let (body, by) = (body.to_string(), format!("Authorization: Bearer {token}\r\n"));
    let by = if token.is_empty() { "" } else { &by };
    let head = format!("Content-Type: application/json\r\n{by}Content-Length: {}\r\n", body.len());
    owners.ask_with_body("POST", &format!("/api/v1/{path}"), &head, &body)
}

/// A spectator's responses that could tell a result.
pub(crate) fn spied(site: &Site, players: &[&str]) -> String {
    let mut all = String::new();
    for path in ["run", "events", "standings", "bots", "rulings", "matches", "seasons", "boards?ids=m1,m2,m3"]
    {
        let body = site.get(&format!("/api/v1/{path}")).body;
        // The number of an event is no news.
        all += body.split("\"data\"").last().expect("a part");
    }
    for player in players {
        all += &site.ask("GET", &format!("/api/v1/players/{player}"), "").body;
        all += &site.ask("GET", &format!("/players/{player}"), "").body;
    }
    all += &format!("{:?}", site.download("/card.png", ""));
    all + &site.get("/").body + &site.ask("GET", "/seasons", "").body
}

/// The number of log entries with this action.
fn logged(league: &League, action: &str) -> usize {
    league.run(&["log"]).done().stdout.lines().filter(|line| line.trim_end().ends_with(action)).count()
}

pub(crate) fn opened(server: &mut Referee) -> (Site, Site) {
    let url = server.receive_type("owners")["url"].as_str().expect("a URL").to_owned();
    let owners = Site(url.trim_start_matches("http://").trim_end_matches('/').to_owned());
    (Site::of(server), owners)
}

#[test]
fn deadlines_hold_once_and_hidden_standings_give_nothing_away() {
    let league =
        League::calm("listen = \"127.0.0.1:0\"\nwatch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let text = format!("{TABLES}{}", league.folder.read("league.toml"));
    let later = [("2999-01-01", "\"freeze\""), ("2999-01-02", "\"end_season\"\nseason = \"autumn\"")];
    schedule(&league, &text, &later);
    let checked = league.run(&["check"]).done().stdout;
    assert!(checked.contains("2999-01-02T00:00:00Z: end_season autumn"), "{checked}");
    let token = league.add("late");
    let mut server = league.serve();
    let (site, owners) = opened(&mut server);
    let bots =
        server.receive_type("listening")["address"].as_str().expect("text").parse().expect("an address");
    let ladder = |site: &Site| site.get("/api/v1/ladder").json();
    assert_eq!(ladder(&site)["events"][0], json!({"at": "2999-01-01T00:00:00Z", "what": "freeze"}));
    browser::run("events.mjs", &[&site.url("/"), &owners.url("/")]);
    receive_matches(&mut server, 4);
    wait_until("the standings have results", || {
        site.get("/api/v1/run").json()["standings"][0]["matches"].as_u64() >= Some(2)
    });
    let ada = post(&owners, "signup", "", &json!({"id": "ada"})).json()["token"]
        .as_str()
        .expect("a token")
        .to_owned();
    assert_eq!(post(&owners, "owner/bots", &ada, &json!({"name": "early"})).status, 201);

    // The file says that the deadline has passed.
    let passed = [("2026-01-01", "\"freeze\""), ("2026-01-01", "\"hide_standings\"")];
    schedule(&league, &text, &passed);
    server.signal(Signal::HUP);
    wait_until("it is frozen", || ladder(&site)["frozen"] == true);
    let refused = |answer: Answer| {
        assert_eq!(answer.status, 409, "{}", answer.body);
        answer.json()["error"].as_str().expect("an error").to_owned()
    };
    for (path, token, body) in
        [("signup", "", json!({"id": "ben"})), ("owner/bots", &*ada, json!({"name": "quick"}))]
    {
        assert_eq!(
            refused(post(&owners, path, token, &body)),
            "the league is frozen: the deadline has passed"
        );
    }
    // Those who test what they handed in meet programs of the organiser.
    let ask = |opponent: &str| {
        let body = json!({"ladder": "short", "bots": ["early", opponent]});
        post(&owners, "owner/challenges", &ada, &body)
    };
    assert_eq!(ask("one").status, 201);
    assert_eq!(
        refused(ask("late")),
        "short is frozen: until it ends, challenges are for programs of the organiser, and `late` is none"
    );
    let late = Guest::saying(bots, &hello("late", None, &token)).receive_type("bye");
    assert_eq!(late["reason"], "`late` is new, and the ladder is frozen: the deadline has passed");
    wait_until("the last event says that they are hidden", || {
        let events = site.get("/api/v1/events").body;
        events.split("\"data\"").last().expect("a part").contains("The standings are hidden")
    });
    // Matches go on, and nothing of them is seen.
    let names = ["one", "two"];
    let before = spied(&site, &names);
    let run = site.get("/api/v1/run").json();
    let is_listed = |id: &str| run["ended"].as_array().expect("matches").iter().any(|row| row["id"] == id);
    let mut unseen = 0;
    while unseen < 4 {
        let id = receive_matches(&mut server, 1)[0]["id"].as_str().expect("an id").to_owned();
        // Some may have ended before.
        if !is_listed(&id) {
            unseen += 1;
            let page = site.ask("GET", &format!("/matches/{id}"), "Accept: text/html\r\n");
            let entry = site.ask("GET", &format!("/api/v1/matches/{id}"), "");
            assert_eq!([entry.status, page.status], [404; 2], "{id}");
        }
    }
    thread::sleep(Duration::from_millis(1500));
    let run = site.get("/api/v1/run").json();
    assert_eq!([&run["standings"], &run["running"], &run["next"]], [&json!([]); 3]);
    assert_eq!(run["story"]["heading"], "The standings are hidden");
    assert_eq!(spied(&site, &names), before, "a spectator learns something");
    assert!(
        !site.get("/api/v1/standings").body.contains("rating")
            && !site.get("/metrics").body.contains("rating")
    );
    // The organiser sees them.
    assert!(league.standings(&[])["standings"][0]["rating"].is_object());
    drain(server);

    // It holds for the next server, which ends the season and shows everything.
    let mut server = league.serve();
    let (site, _) = opened(&mut server);
    assert_eq!(site.get("/api/v1/run").json()["standings"], json!([]));
    assert_eq!(logged(&league, "event: freeze, hide_standings"), 1);
    server.signal(Signal::TERM);
    server.wait().with_code(0);
    let ends = "\"end_season\"\nseason = \"autumn\"";
    let events = [passed[0], passed[1], ("2026-01-02", ends), ("2026-01-03", "\"show_standings\"")];
    schedule(&league, &text, &events);
    for _ in 0..2 {
        let mut server = league.serve();
        let (site, _) = opened(&mut server);
        wait_until("the season has ended", || site.ask("GET", "/seasons", "").body.contains("autumn"));
        receive_matches(&mut server, 2);
        wait_until("the new season is shown", || {
            site.get("/api/v1/run").json()["standings"][0]["matches"].as_u64() >= Some(1)
        });
        drain(server);
    }
    assert_eq!(
        (logged(&league, "event: season end autumn"), logged(&league, "event: show_standings")),
        (1, 1)
    );
    // A running server that shows standings again has all matches.
    schedule(&league, &text, &[events[2], ("2026-01-04", "\"hide_standings\"")]);
    let mut server = league.serve();
    let (site, _) = opened(&mut server);
    receive_matches(&mut server, 3);
    schedule(&league, &text, &[events[2]]);
    server.signal(Signal::HUP);
    league.run(&["pause"]).done();
    let stored = || league.query("SELECT count(*) FROM matches WHERE season = 2");
    wait_until("all matches are listed", || {
        site.get("/api/v1/run").json()["ended_count"].as_u64() == stored().parse().ok()
    });
    drain(server);
    league.verify();
}
