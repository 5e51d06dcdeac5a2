//! Players that are not paired: paused, excluded or out of quota; and who changed the league.

use serde_json::{Value, json};

use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::watch::wait_until;

/// A league whose program `bad` fails at once.
fn with_a_bad_program() -> League {
    let league = League::new("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", ""), ("bad", "")]);
    let text = league.folder.read("league.toml");
    let bad = text.lines().find(|line| line.contains("bot-bad")).expect("its command");
    league.folder.write("league.toml", text.replace(bad, "command = \"false\""));
    league
}

pub(crate) fn standing(site: &Site, name: &str) -> Value {
    let standings = site.get("/api/v1/standings").json();
    let rows = standings["standings"].as_array().expect("rows");
    rows.iter().find(|row| row["name"] == name).cloned().unwrap_or_default()
}

#[test]
fn an_exclusion_lasts_through_a_restart_and_is_shown() {
    let league = with_a_bad_program();
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let is_excluded = |site: &Site| {
        standing(site, "bad")["state"].as_str().is_some_and(|state| state.starts_with("excluded until "))
    };
    wait_until("it is excluded", || is_excluded(&site));
    assert!(site.get("/metrics").body.contains("\nreferee_league_excluded 1\n"));
    let state = site.get("/api/v1/players/bad").json()["state"].clone();
    let listed = league.run(&["list", "--json"]).done().all("bot");
    let bad = listed.iter().find(|bot| bot["name"] == "bad").expect("it is listed");
    assert_eq!(bad["players"][0]["state"], state, "{bad}");
    drain(server).says(&["bad is excluded for 1m"]);
    let faulted = || league.query("SELECT count(*) FROM matches WHERE faults LIKE '%:%'");
    let before = faulted();
    let mut server = league.serve();
    let site = Site::of(&mut server);
    // The others would not play each other all the time.
    receive_matches(&mut server, 12);
    wait_until("it is still excluded", || is_excluded(&site));
    assert_eq!(site.get("/api/v1/players/bad").json()["state"], state, "until the same time");
    drain(server);
    assert_eq!(faulted(), before, "it played no match");
}

#[test]
fn paused_league_and_its_paused_bots_are_shown_and_logged() {
    let league = League::new("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", ""), ("three", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 3);
    assert_eq!(site.get("/healthz").body, "ok\n");
    league.run(&["pause", "one"]).done();
    wait_until("it is shown as paused", || standing(&site, "one")["state"] == "paused");
    league.run(&["pause"]).done();
    wait_until("the league is shown as paused", || site.get("/healthz").body.starts_with("paused: "));
    assert!(site.get("/metrics").body.contains("\nreferee_league_paused 1\n"));
    let text = league.run(&["list"]).done().stdout;
    assert!(text.starts_with("the league is paused"), "{text}");
    league.add("alice");
    league.run(&["challenge", "two", "three"]).done();
    league.run(&["revoke", "alice"]).done();
    league.run(&["resume"]).done();
    let log = league.run(&["log", "--json"]).done().all("log");
    let actions: Vec<&Value> = log.iter().map(|entry| &entry["action"]).collect();
    let expected = [
        "pause one",
        "pause",
        "add alice --owner alice",
        "challenge two three --ladder short",
        "revoke alice",
        "resume",
    ];
    assert_eq!(actions, expected.map(|action| json!(action)).iter().collect::<Vec<_>>());
    assert!(log.iter().all(|entry| entry["user"].as_str().is_some_and(|user| !user.is_empty())), "{log:?}");
    assert!(league.run(&["log", "--limit", "1"]).done().stdout.contains("resume"));
    drain(server);
}

#[test]
fn players_without_quota_are_shown() {
    let head = "watch = \"127.0.0.1:0\"\nquota = 3";
    let league = League::new(head, &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 3);
    wait_until("they are shown as out of quota", || standing(&site, "one")["state"] == "out of quota");
    drain(server);
}

#[test]
fn a_database_of_another_version_is_refused() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    league.run(&["list"]).done();
    league.query("PRAGMA user_version = 99");
    league.run(&["pause"]).with_code(5).says(&["league.sqlite: version 99, but this program supports"]);
}
