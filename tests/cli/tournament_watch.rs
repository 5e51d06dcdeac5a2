//! `referee tournament watch`: the pages of a tournament that was played, or that another process plays.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::http::Site;
use crate::common::{Folder, Referee, SEED, Signal, WON, browser, files, in_rust, referee};
use crate::watch::{PATIENT, bots, go, wait_until};

/// Serves the pages of the tournament in `cup`.
fn pages(folder: &Folder) -> (Referee, Site) {
    let cup = folder.text("cup");
    let mut referee = Referee::start(["tournament", "watch", &cup, "--watch", "127.0.0.1:0", "--json"]);
    let site = Site::of(&mut referee);
    (referee, site)
}

/// The ids of the matches that have ended, the newest first.
fn listed(site: &Site) -> Vec<Value> {
    let listed = site.get("/api/v1/matches?state=ended").json();
    listed["matches"].as_array().expect("a list").iter().map(|one| one["id"].clone()).collect()
}

fn board(site: &Site, id: &str) -> Value {
    site.ask("GET", &format!("/api/v1/matches/{id}"), "").json()["board"].clone()
}

/// A file of a tournament of these bots that wait for [`go`], and its directory.
fn cup_of_two(folder: &Folder, game: &str, head: &str) -> [String; 2] {
    let entrants = bots(folder, &["ann", "bob"], 0.0, 1);
    let entrants: Vec<String> =
        entrants.iter().map(|bot| format!("[[entrants]]\ncommand = \"{bot}\"\n")).collect();
    let config = format!(
        "name = 'Spring cup'\ngame = '{game}'\nseed = '{SEED}'\njobs = 1\nclock = '{PATIENT}'\n{head}\n[format]\nkind = 'round_robin'\n\
         cycles = 2\n[options]\nturn_limit = 10\n{}",
        entrants.concat()
    );
    [folder.write("cup.toml", config), folder.text("cup")]
}

#[test]
fn pages_of_tournament_are_served_after_it_was_played() {
    let folder = Folder::new();
    let bot = in_rust("referee-random");
    let mut config = format!("name = 'Spring cup'\ngame = 'checkers'\nseed = '{SEED}'\nmirror = 'none'\n");
    config += "[format]\nkind = 'round_robin'\n";
    for (seed, name) in ["ada", "bob", "cy"].into_iter().enumerate() {
        config += &format!("[[entrants]]\nname = '{name}'\ncommand = '{} --seed {seed}'\n", bot.display());
    }
    let (file, cup) = (folder.write("cup.toml", config), folder.text("cup"));
    let played = referee(["tournament", "run", &file, "--dir", &cup, "--json"]).done();
    let contents = || {
        // SQLite adds files of its own beside the database, and removes them.
        let names =
            files(&folder.path("cup")).into_iter().filter(|name| !name.starts_with("results.sqlite-"));
        names.collect::<BTreeSet<String>>()
    };
    let before = contents();
    let (server, site) = pages(&folder);
    let run = site.get("/api/v1/run").json();
    assert_eq!((&run["name"], &run["ended_count"]), (&json!("Spring cup"), &json!(3)), "{run}");
    let points = |rows: &Value, place: &str| -> Vec<(Value, Value)> {
        let rows = rows.as_array().expect("rows").iter();
        rows.map(|row| (row[place].clone(), row["points"].clone())).collect()
    };
    let table = played.one("standings");
    assert_eq!(points(&run["standings"], "name"), points(&table["entrants"], "name"), "{table}");
    folder.published("cup/records");
    for id in ["m1", "m2", "m3"] {
        assert_eq!(board(&site, id), "replay");
        let record = site.get(&format!("/api/v1/matches/{id}/record")).body;
        assert_eq!(record, folder.read(&format!("published/{id}.jsonl")));
    }
    browser::run("watch.mjs", &[&site.url("/"), &folder.text("go-none"), "afterwards"]);
    server.signal(Signal::TERM);
    server.end().with_code(0);
    assert_eq!(contents(), before, "nothing is added");
    referee(["tournament", "verify", &cup]).done();
}

#[test]
fn running_knockout_shows_bracket_and_finalists() {
    let folder = Folder::new();
    let entrants = bots(&folder, &["ann", "bob", "cy", "di"], 0.0, 0);
    let names = ["ann", "bob", "cy", "di"].into_iter().zip(["Ann Lee", "Bob Ray", "Cy Doe", "Di Fox"]);
    let entrants: String = entrants
        .iter()
        .zip(names)
        .map(|(bot, (name, shown))| {
            format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\ndisplay_name = '{shown}'\n")
        })
        .collect();
    // The player that moves first wins: no pairing is drawn.
    let fen = WON.strip_prefix("fen=").expect("a position");
    let head =
        format!("game = 'checkers'\nmirror = 'none'\n[format]\nkind = 'knockout'\n[options]\nfen = '{fen}'");
    let config = format!("name = 'Spring cup'\nseed = '{SEED}'\nclock = '{PATIENT}'\n{head}\n{entrants}");
    let (file, cup) = (folder.write("cup.toml", config), folder.text("cup"));
    let run = Referee::start(["tournament", "run", &file, "--dir", &cup, "--json"]);
    let mut server = None;
    let mut overview = |winners: usize| {
        let (_, site) = server.get_or_insert_with(|| pages(&folder));
        let shown = || site.get("/api/v1/run").json();
        let known = |run: &Value| {
            let rounds = run["bracket"].as_array().expect("rounds").iter();
            let pairs = rounds.flat_map(|round| round["pairs"].as_array().expect("pairs").clone());
            pairs.filter(|pair| !pair["winner"].is_null()).count()
        };
        wait_until("the winner is shown", || known(&shown()) == winners);
        shown()
    };
    let heading = |run: &Value| run["story"]["heading"].as_str().expect("text").to_owned();
    let winner = |run: &Value, round: usize, pair: usize| {
        run["bracket"][round]["pairs"][pair]["winner"].as_str().expect("a name").to_owned()
    };
    go(&folder, "m1");
    wait_until("m1 is recorded", || folder.path("cup/records/m1.jsonl").exists());
    let first = overview(1);
    assert_eq!([&first["bracket"][0]["title"], &first["bracket"][1]["title"]], ["Semi-finals", "Final"]);
    let ann_or_di = winner(&first, 0, 0);
    assert_eq!(heading(&first), format!("{ann_or_di} is in the final"));
    assert_eq!(first["bracket"][0]["pairs"][0]["matches"], json!(["m1"]));
    let why = first["story"]["why"].to_string();
    assert!(
        why.contains("1 of 2 pairings of the semi-finals is decided") && !why.contains("probability"),
        "{why}"
    );
    go(&folder, "m2");
    let second = overview(2);
    let other = winner(&second, 0, 1);
    assert_eq!(heading(&second), format!("{ann_or_di} and {other} are in the final"));
    assert_eq!(second["bracket"][1]["pairs"][0]["entrants"], json!([ann_or_di, other]));
    go(&folder, "m3");
    let last = overview(3);
    assert_eq!(heading(&last), format!("{} won Spring cup", winner(&last, 1, 0)));
    let (server, site) = server.expect("a server");
    browser::run("bracket.mjs", &[&site.url("/"), &winner(&last, 1, 0)]);
    server.signal(Signal::TERM);
    server.end().with_code(0);
    run.wait().done();
}

#[test]
fn results_of_a_tournament_that_another_process_plays_appear() {
    let folder = Folder::new();
    let [file, cup] = cup_of_two(&folder, "checkers", "mirror = 'none'");
    let run = Referee::start(["tournament", "run", &file, "--dir", &cup, "--json"]);
    go(&folder, "m1");
    wait_until("m1 is recorded", || folder.path("cup/records/m1.jsonl").exists());
    let (server, site) = pages(&folder);
    wait_until("m1 is listed", || listed(&site) == ["m1"]);
    wait_until("m2 is next", || site.get("/api/v1/run").json()["next"][0]["id"] == "m2");
    let matches_of_first =
        || site.get("/api/v1/standings").json()["standings"][0]["matches"].as_u64().expect("a number");
    wait_until("the standings count m1", || matches_of_first() == 1);
    go(&folder, "m2");
    wait_until("m2 is listed", || listed(&site) == ["m2", "m1"]);
    assert_eq!(board(&site, "m2"), "replay");
    wait_until("the standings count m2", || matches_of_first() == 2);
    // The tournament is over; its pages stay.
    let ended = run.end().with_code(0);
    assert_eq!(ended.all("match").len(), 2);
    assert_eq!(listed(&site), ["m2", "m1"]);
    server.signal(Signal::INT);
    server.end().with_code(0);
    referee(["tournament", "verify", &cup]).done();
}

#[test]
fn matches_of_deal_are_shown_when_it_is_complete() {
    let folder = Folder::new();
    let [file, cup] = cup_of_two(&folder, "saxum", "mirror = 'rotations'");
    let run = Referee::start(["tournament", "run", &file, "--dir", &cup, "--json"]);
    go(&folder, "m1");
    wait_until("m1 is recorded", || folder.path("cup/records/m1.unsealed").exists());
    let (server, site) = pages(&folder);
    wait_until("m1 is listed", || listed(&site) == ["m1"]);
    assert_eq!(board(&site, "m1"), "held", "its dice are those of m2");
    for what in ["events", "record"] {
        assert_eq!(site.ask("GET", &format!("/api/v1/matches/m1/{what}"), "").status, 409, "{what}");
    }
    go(&folder, "m2");
    wait_until("the deal is complete", || board(&site, "m1") == "replay" && board(&site, "m2") == "replay");
    let record = site.get("/api/v1/matches/m1/record").body;
    folder.published("cup/records");
    assert_eq!(record, folder.read("published/m1.jsonl"));
    ["m3", "m4"].iter().for_each(|id| go(&folder, id));
    run.end().with_code(0);
    server.signal(Signal::TERM);
    server.end().with_code(0);
}

#[test]
fn a_directory_without_a_tournament_is_not_served() {
    let folder = Folder::new();
    referee(["tournament", "watch", &folder.text("")])
        .with_code(2)
        .says(&["is not the directory of a tournament"]);
}
