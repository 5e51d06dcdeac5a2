//! `referee league season` and `seasons`, while the league is played and when it is not.

use serde_json::{Value, json};

use crate::common::browser;
use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::watch::wait_until;

/// The rows of standings by player.
fn row(standings: &Value, player: &str) -> Option<Value> {
    let rows = standings["standings"].as_array().expect("rows");
    rows.iter().find(|row| row["player"] == player || row["name"] == player).cloned()
}

fn played(row: &Value) -> u64 {
    ["wins", "draws", "losses"].map(|key| row[key].as_u64().expect("a number")).iter().sum()
}

fn rating(row: &Value) -> f64 {
    row["rating"]["value"].as_f64().expect("a number")
}

/// Records, results, final standings and rulings agree, and both ways to the standings do.
fn verified(league: &League) {
    let summary = league.run(&["verify", "--json"]).done().one("summary");
    assert_eq!(summary["differing"], 0);
    let rows = |more: &[&str]| -> Vec<(Value, Value)> {
        let standings = league.standings(more);
        let rows = standings["standings"].as_array().expect("rows").clone();
        rows.into_iter().map(|row| (row["player"].clone(), row["rating"]["value"].clone())).collect()
    };
    assert_eq!(rows(&[]), rows(&["--from-records"]));
}

#[test]
fn season_ends_while_league_is_played_and_its_standings_stay() {
    let league = League::calm(
        "watch = \"127.0.0.1:0\"",
        &[("one", "display_name = \"Number One\"\nowner = \"club\""), ("two", "")],
    );
    league.run(&["season", "end", "autumn"]).with_code(2).says(&["no match has been played"]);
    let earliest = referee::store::utc(referee::store::now());
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 40);
    league.run(&["season", "end", "../etc"]).with_code(2).says(&["season ../etc"]);
    let help = league.run(&["season", "end", "--help"]).done().stdout;
    assert!(
        help.contains("up to 64 ASCII letters, digits, `.`, `_`, `-` and spaces")
            && help.contains("'WS 2026'"),
        "{help}"
    );
    let ended = league.run(&["season", "end", "autumn", "--json"]).done().one("season");
    assert_eq!((&ended["number"], &ended["keeps_ratings"]), (&json!(1), &json!(true)));
    league.run(&["season", "end", "autumn"]).with_code(2).says(&["season autumn has ended before"]);
    let last = || -> Value { site.get("/api/v1/seasons/autumn").json() };
    let autumn = last();
    assert!(autumn["matches"].as_u64().expect("a number") >= 40, "{autumn}");
    let one = row(&autumn, "one").expect("a player");
    assert_eq!((&one["display_name"], &one["owner"]), (&json!("Number One"), &json!("club")));
    assert_eq!(played(&one), autumn["matches"], "both play all matches");
    // The next one goes on without its results.
    league.run(&["pause"]).done();
    let of_season = |number: u32| -> u64 {
        let count = league.query(&format!("SELECT count(*) FROM matches WHERE season = {number}"));
        count.parse().expect("a number")
    };
    let live = || row(&site.get("/api/v1/standings").json(), "one");
    wait_until("the new season is shown", || live().is_some_and(|row| played(&row) == of_season(2)));
    assert_eq!(of_season(1), autumn["matches"]);
    league.run(&["resume"]).done();
    receive_matches(&mut server, 4);
    wait_until("it is played", || live().is_some_and(|row| played(&row) > 0));
    assert_eq!(last(), autumn, "it stays");
    // A match of a season that has ended is not ruled on, but it is shown.
    let matches = site.get("/api/v1/seasons/autumn/matches?limit=3").json();
    let of_autumn = matches["matches"][2]["id"].as_str().expect("an id").to_owned();
    assert_eq!(matches["matches"].as_array().map(Vec::len), Some(3));
    let before = of_autumn.trim_start_matches('m');
    let earlier = site.get(&format!("/api/v1/seasons/autumn/matches?before={before}")).json();
    assert!(earlier["matches"].as_array().is_some_and(|rows| rows.len() >= 37), "{earlier}");
    let void = league.run(&["rule", "void", &of_autumn, "--reason", "a power cut"]);
    void.with_code(2).says(&["belongs to season autumn, which has ended"]);
    wait_until("the page of the match", || {
        site.ask("GET", &format!("/api/v1/matches/{of_autumn}"), "").status == 200
    });
    let shown = site.get(&format!("/api/v1/matches/{of_autumn}")).json();
    let [began, over] =
        [&shown["began_at"], &shown["ended_at"]].map(|at| at.as_str().expect("a time").to_owned());
    assert!(earliest <= began && began <= over, "{shown}");
    let winner = autumn["winner"]["display_name"].as_str().or(autumn["winner"]["name"].as_str());
    browser::run("seasons.mjs", &[&site.url("/"), "autumn", winner.expect("a winner")]);
    drain(server);
    verified(&league);
    // The next server completes the work of a killed command.
    let stored = || league.query("SELECT standings FROM final_standings WHERE season = 1");
    let before = stored();
    league.query("DELETE FROM final_standings");
    let mut server = league.serve();
    let site = Site::of(&mut server);
    assert_eq!(stored(), before);
    assert_eq!(site.get("/api/v1/seasons/autumn").json(), autumn);
    let again = row(&site.get("/api/v1/standings").json(), "one").expect("a row");
    let all: u64 = league.query("SELECT count(*) FROM matches").parse().expect("a number");
    assert!(played(&again) > 0 && played(&again) + played(&one) <= all, "{again}");
    drain(server);
}

#[test]
fn name_of_season_may_have_spaces_as_its_help_says() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 2);
    league.run(&["season", "end", "WS 2026"]).done();
    let long = "x".repeat(64);
    receive_matches(&mut server, 2);
    league.run(&["season", "end", &long]).done();
    assert!(site.get("/api/v1/seasons/WS%202026").json()["matches"].as_u64() >= Some(1));
    assert!(site.get("/seasons/WS%202026").body.contains("WS 2026"));
    let standings = league.run(&["standings", "--season", "WS 2026", "--json"]).done();
    assert_eq!(standings.one("standings")["standings"].as_array().map(Vec::len), Some(2));
    drain(server);
}

#[test]
fn matches_that_end_while_season_begins_are_on_its_pages() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", ""), ("three", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 20);
    let paged = || -> Vec<String> {
        let (mut ids, mut before) = (Vec::new(), String::new());
        loop {
            let listed = site.get(&format!("/api/v1/matches?state=ended&limit=100{before}")).json();
            let rows = listed["matches"].as_array().expect("rows").clone();
            ids.extend(rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()));
            let Some(next) = listed["next"].as_u64() else { break };
            before = format!("&before={next}");
        }
        ids.sort();
        ids
    };
    let first = paged();
    for name in ["first", "second", "third"] {
        league.run(&["season", "end", name]).done();
        let count = "SELECT count(*) > 5 FROM matches WHERE season = (SELECT count(*) + 1 FROM seasons)";
        wait_until("it is played", || league.query(count) == "1");
    }
    league.run(&["pause"]).done();
    let stored = || -> Vec<String> {
        let of_season = league.query("SELECT group_concat('m' || number) FROM matches WHERE season = 4");
        let mut ids: Vec<String> = of_season.split(',').map(str::to_owned).collect();
        ids.sort();
        ids
    };
    let counted = || -> u64 {
        let standings = site.get("/api/v1/standings").json();
        standings["standings"].as_array().expect("rows").iter().map(played).sum::<u64>() / 2
    };
    wait_until("the matches of the season are counted and listed", || {
        counted() == stored().len() as u64 && paged() == stored()
    });
    wait_until("their number is that of the run", || {
        site.get("/api/v1/run").json()["ended_count"] == stored().len()
    });
    assert!(!paged().contains(&first[0]), "it belongs to an earlier season");
    drain(server);
}

#[test]
fn ratings_begin_anew_or_are_kept_with_wider_intervals() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", "anchor = 1500"), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 60);
    drain(server);
    let first = row(&league.standings(&[]), "two").expect("a row");
    league.run(&["season", "end", "first"]).done();
    assert!(row(&league.standings(&[]), "two").is_none(), "nobody has played");
    let found = league.standings(&["--season", "first"]);
    assert_eq!(
        (&found["season"], &row(&found, "two").expect("a row")["rating"]),
        (&json!("first"), &first["rating"])
    );
    league.run(&["standings", "--season", "spring"]).with_code(2).says(&["those that have: first"]);
    // Players start from their ratings: as if that of this one had been high.
    let sql = "UPDATE final_standings SET standings = json_set(standings, '$.standings[0].rating.value', 2500, \
               '$.standings[0].margin_in_field', 20)";
    league.query(sql);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 2);
    let live = || row(&site.get("/api/v1/standings").json(), "two");
    wait_until("the player is shown", || live().is_some());
    let online = live().expect("a row");
    assert!(rating(&online) > 2200.0, "{online}");
    drain(server);
    assert!(rating(&row(&league.standings(&[]), "two").expect("a row")) > 2200.0);
    league.run(&["season", "end", "second", "--ratings", "anew"]).done();
    let mut server = league.serve();
    receive_matches(&mut server, 2);
    drain(server);
    let third = row(&league.standings(&[]), "two").expect("a row");
    assert!((1300.0..1700.0).contains(&rating(&third)), "near the anchor: {third}");
    verified(&league);
    let listed = league.run(&["seasons", "--json"]).done().all("season");
    let names: Vec<(&Value, &Value)> =
        listed.iter().map(|season| (&season["name"], &season["keeps_ratings"])).collect();
    assert_eq!(names, [(&json!("first"), &json!(true)), (&json!("second"), &json!(false))]);
    assert_eq!(listed[0]["winners"]["short"], "two", "an anchor does not win");
    // A changed result of an earlier season is found.
    league.query("UPDATE final_standings SET standings = replace(standings, '\"wins\":', '\"wins\":1') WHERE season = 1");
    let found = league.run(&["verify"]).with_code(1);
    assert!(found.stdout.contains("by the final standings of season first"), "{}", found.stdout);
}

#[test]
fn bot_that_was_disqualified_from_start_has_no_place() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let command = league.folder.plain_bot("bot-copied");
    league.run(&["add", "copied", "--command", &command]).done();
    let mut server = league.serve();
    let site = Site::of(&mut server);
    while league.standings(&[])["standings"].as_array().is_none_or(|rows| rows.len() != 3) {
        server.receive_type("match");
    }
    let shown = || row(&site.get("/api/v1/standings").json(), "copied");
    wait_until("it is listed", || shown().is_some());
    league.run(&["rule", "disqualify", "copied", "--from-start", "--reason", "copied program"]).done();
    wait_until("it is listed no longer", || shown().is_none());
    let player = site.get("/api/v1/players/copied").json();
    assert_eq!((&player["place"], &player["matches"]), (&Value::Null, &json!(0)), "its page stays");
    assert_eq!(row(&league.standings(&["--all"]), "copied"), None);
    league.run(&["season", "end", "autumn"]).done();
    wait_until("the season has ended", || site.ask("GET", "/api/v1/seasons/autumn", "").status == 200);
    let autumn = site.get("/api/v1/seasons/autumn").json();
    assert_eq!(row(&autumn, "copied"), None, "{autumn}");
    let places: Vec<&Value> =
        autumn["standings"].as_array().expect("rows").iter().map(|row| &row["place"]).collect();
    assert_eq!(places, [&json!(1), &json!(2)]);
    drain(server);
    verified(&league);
}
