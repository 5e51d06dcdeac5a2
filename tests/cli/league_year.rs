//! A year of a league in short: it is killed and started again, its disk is full, and what an organiser does falls between. Nothing
//! that was reported may be lost.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;

use crate::common::league::{League, drain, receive_matches};
use crate::common::{Referee, Signal};
use crate::league_storage::{fill, serve_on_a_small_disk};

/// The number of months; a longer time is `REFEREE_TEST_MONTHS=1000`.
fn months() -> usize {
    std::env::var("REFEREE_TEST_MONTHS").ok().and_then(|text| text.parse().ok()).unwrap_or(8)
}

/// The acts of the organiser and the world in a month.
fn event(league: &League, server: &mut Referee, month: usize, last: &str) {
    match month % 8 {
        0 => {
            fill(league);
            std::thread::sleep(Duration::from_millis(300));
            std::fs::remove_file(league.folder.path("ladders.full")).expect("it exists");
        }
        1 => drop(league.run(&["rule", "award", last, "--draw", "--reason", "a power cut"]).done()),
        2 => drop(league.run(&["owner", "token", "ada", "--json"]).done().one("owner")),
        3 => drop(league.run(&["season", "end", &format!("season-{month}"), "--json"]).done()),
        4 => drop(league.run(&["backup", &league.folder.text("copy"), "--json"]).done().one("backup")),
        5 => {
            league.add(&format!("guest-{month}"));
            server.signal(Signal::HUP);
        }
        6 => drop(league.run(&["challenge", "one", "two"]).done()),
        _ => {
            let ratings = if month % 16 == 7 { "anew" } else { "keep" };
            league.run(&["season", "end", &format!("season-{month}"), "--ratings", ratings]).done();
        }
    }
}

#[test]
fn year_with_crashes_full_disks_rulings_and_seasons_loses_nothing() {
    let league = League::new("rest = \"5ms\"", &[("one", "anchor = 0"), ("two", ""), ("three", "")]);
    let text = league.folder.read("league.toml").replacen("rest = \"0s\"\n", "", 1);
    let tables = "[owners]\nlisten = '127.0.0.1:0'\n[retention]\nprivate_after = '1s'\npack_after = '2s'";
    league.folder.write("league.toml", format!("{text}\n{tables}\n"));
    league.run(&["owner", "add", "ada"]).done();
    let (months, mut reported) = (months(), BTreeSet::new());
    for month in 0..months {
        let mut server = serve_on_a_small_disk(&league);
        let mut last = String::new();
        for played in receive_matches(&mut server, 5) {
            last = played["id"].as_str().expect("an id").to_owned();
            reported.insert(last.clone());
        }
        event(&league, &mut server, month, &last);
        for played in receive_matches(&mut server, 5) {
            reported.insert(played["id"].as_str().expect("an id").to_owned());
        }
        // Killed in two of three months, in the middle of everything.
        if month % 3 == 2 {
            drain(server);
        } else {
            server.signal(Signal::KILL);
            server.wait();
        }
    }
    let matches = league.run(&["matches", "--limit", "1000000", "--json"]).done().all("match");
    let stored: BTreeSet<String> =
        matches.iter().map(|played| played["id"].as_str().expect("an id").to_owned()).collect();
    assert!(reported.is_subset(&stored), "{:?}", reported.difference(&stored).collect::<Vec<_>>());
    let summary = league.run(&["verify", "--json"]).done().one("summary");
    assert_eq!((&summary["results"], &summary["differing"]), (&json!(stored.len()), &json!(0)));
    let seasons = league.run(&["seasons", "--json"]).done().all("season");
    assert_eq!(seasons.len(), (0..months).filter(|month| month % 4 == 3).count());
    let mut all = league.standings(&[])["matches"].as_u64().expect("a number");
    for season in &seasons {
        let name = season["name"].as_str().expect("a name");
        all += league.standings(&["--season", name])["matches"].as_u64().expect("a number");
    }
    assert_eq!(all, stored.len() as u64, "each match belongs to one season");
}
