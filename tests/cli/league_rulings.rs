//! `referee league rule` and `rulings`, while the league is played and when it is not.

use serde_json::{Value, json};

use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::watch::wait_until;

/// The row of a player in the standings of the command.
fn row(league: &League, player: &str, more: &[&str]) -> Value {
    let standings = league.run(&[&["standings", "--json"], more].concat()).done().one("standings");
    let rows = standings["standings"].as_array().expect("rows");
    rows.iter().find(|row| row["player"] == player).cloned().expect("the player")
}

fn tally(row: &Value) -> [u64; 3] {
    ["wins", "draws", "losses"].map(|key| row[key].as_u64().expect("a number"))
}

/// Both ways to the standings agree, and nothing differs.
fn verified(league: &League, rulings: u64) {
    let summary = league.run(&["verify", "--json"]).done().one("summary");
    assert_eq!((&summary["differing"], &summary["rulings"]), (&json!(0), &json!(rulings)));
    let of = |more: &[&str]| tally(&row(league, "one", more));
    assert_eq!(of(&[]), of(&["--from-records"]));
}

#[test]
fn a_running_league_takes_rulings_and_goes_on() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let first = receive_matches(&mut server, 4)[0]["id"].as_str().expect("an id").to_owned();
    league.run(&["pause"]).done();
    // Pages follow matches within a second.
    let total = || {
        let standings = site.get("/api/v1/standings").json();
        let row = standings["standings"].as_array().expect("rows").iter().find(|row| row["name"] == "one");
        row.map_or(0, |row| tally(row).iter().sum::<u64>())
    };
    // Each of them plays all matches. Some may still be in progress.
    let stored = || -> u64 { league.query("SELECT count(*) FROM matches").parse().expect("a number") };
    wait_until("all results are shown", || total() == stored());
    let rule = |args: &[&str]| league.run(&[&["rule"], args].concat());
    rule(&["award", "m99999", "one", "--reason", "x"]).with_code(2).says(&["there is no match m99999"]);
    rule(&["award", &first, "nobody", "--reason", "x"]).with_code(2).says(&["`nobody` does not play"]);
    let said = rule(&["award", &first, "one", "--reason", "a power cut"]).done().stdout;
    assert_eq!(said, format!("{first} is awarded to one\n"));
    rule(&["undo", "1", "--reason", "wrong match"]).done();
    rule(&["void", &first, "--reason", "a power cut"]).done();
    wait_until("the standings follow", || total() == stored() - 1);
    verified(&league, 1);
    league.run(&["resume"]).done();
    receive_matches(&mut server, 2);
    rule(&["undo", "2", "--reason", "it was played"]).done();
    drain(server);
    verified(&league, 0);
    let rulings = league.run(&["rulings", "--json"]).done().all("ruling");
    assert_eq!(rulings[0]["undone"]["reason"], "wrong match");
    let log = league.run(&["log", "--json"]).done().all("log");
    let actions: Vec<&str> = log.iter().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert!(actions.contains(&&*format!("rule: {first} is void")), "{actions:?}");
    assert!(actions.contains(&"rule: undo 2"), "{actions:?}");
}

#[test]
fn rulings_last_and_a_disqualified_bot_comes_back() {
    let league = League::calm("", &[("one", ""), ("two", "")]);
    league.add("alice");
    let mut server = league.serve();
    let matches = receive_matches(&mut server, 3);
    drain(server);
    let rule = |args: &[&str]| league.run(&[&["rule"], args].concat());
    let id = matches[0]["id"].as_str().expect("an id");
    let before = tally(&row(&league, "one", &[]));
    rule(&["disqualify", "one", "--from-match", id, "--reason", "help from outside"]).done();
    let after = tally(&row(&league, "one", &[]));
    assert!(after[2] >= before[2] && after[0] <= before[0] && after != before || before[2] > 0, "{after:?}");
    verified(&league, 1);
    rule(&["disqualify", "one", "--reason", "x"]).with_code(2).says(&["is a program in"]);
    rule(&["disqualify", "alice", "--reason", "does not answer"]).done();
    let listed = || {
        let bots = league.run(&["list", "--json"]).done().all("bot");
        bots.into_iter().find(|bot| bot["name"] == "alice").expect("she is listed")
    };
    assert!(listed()["revoked_at"].is_string());
    rule(&["undo", "2", "--reason", "she answers"]).done();
    assert_eq!(listed()["revoked_at"], Value::Null);
    rule(&["rename", "alice", "two", "--reason", "x"]).with_code(2).says(&["looks like `two`"]);
    rule(&["rename", "alice", "Alice Liddell", "--reason", "asked for it"]).done();
    assert_eq!(listed()["display_name"], "Alice Liddell");
    rule(&["replay", id, "--reason", "the network was down"]).done();
    assert_eq!(league.query("SELECT count(*) FROM challenges"), "1");
    verified(&league, 3);
    let mut server = league.serve();
    receive_matches(&mut server, 2);
    drain(server);
    verified(&league, 3);
}

#[test]
fn a_ruling_names_a_challenge_by_its_id() {
    let league = League::calm("", &[("one", ""), ("two", "")]);
    league.run(&["challenge", "one", "two"]).done();
    let mut server = league.serve();
    let id = loop {
        let id = server.receive_type("match")["id"].as_str().expect("an id").to_owned();
        if id.starts_with('c') {
            break id;
        }
    };
    drain(server);
    let said = league.run(&["rule", "void", &id, "--reason", "a power cut"]).done().stdout;
    assert_eq!(said, format!("{id} is void\n"));
    let listed = league.run(&["rulings", "--json"]).done().one("ruling");
    assert_eq!(listed["decision"], format!("{id} is void"));
    verified(&league, 1);
}

#[test]
fn range_of_matches_is_shown_ruled_on_and_undone() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 8);
    drain(server);
    let rule = |args: &[&str]| league.run(&[&["rule"], args, &["--reason", "the network was down"]].concat());
    let rated = || tally(&row(&league, "one", &[])).iter().sum::<u64>();
    let all = rated();
    let shown = rule(&["void", "--from", "m1", "--to", "m7"]).with_code(2);
    let shown = shown.says(&["nothing was changed; --yes rules without asking"]);
    assert!(
        shown.stdout.contains("short: 7 matches would not be rated:\n  m1  ") && rated() == all,
        "{shown:?}"
    );
    let said = rule(&["void", "--from", "m1", "--to", "m7", "--yes"]).done().stdout;
    assert!(said.ends_with("7 matches from m1 to m7 are void\n"), "{said}");
    assert_eq!(rated(), all - 7);
    verified(&league, 1);
    // Matches with a ruling are left out.
    rule(&["void", "--from", "m1", "--to", "m7", "--yes"])
        .with_code(2)
        .says(&["no rated match without a ruling"]);
    league.run(&["rule", "undo", "1", "--reason", "it was up"]).done();
    assert_eq!(rated(), all);
    let again = ["replay", "--from", "2020-01-01 00:00:00", "--to", "2100-01-01T00:00:00Z", "--yes"];
    rule(&again).done();
    assert_eq!(rated(), 0);
    assert_eq!(league.query("SELECT count(*) FROM challenges"), all.to_string());
    rule(&["void", "--from", "m1", "--to", "2100-01-01T00:00:00Z"])
        .with_code(2)
        .says(&["both are matches, or both are times"]);
    rule(&["void", "--from", "noon", "--to", "m1"])
        .with_code(2)
        .says(&["`noon` is neither a match, such as m17, nor a time"]);
    rule(&["void"]).with_code(2);
}

#[test]
fn standings_name_owners_and_reach_them_only_if_asked() {
    let league = League::new("", &[("one", "owner = \"ada\""), ("two", "")]);
    let about = ["--display-name", "Ada L", "--affiliation", "=1+1", "--contact", "ada@example.org"];
    league.run(&[&["owner", "add", "ada"], &about[..]].concat()).done();
    let mut server = league.serve();
    receive_matches(&mut server, 2);
    drain(server);
    let owner = |more: &[&str]| row(&league, "one", more)["owner"].clone();
    let expected = json!({"id": "ada", "display_name": "Ada L", "affiliation": "=1+1"});
    assert_eq!(owner(&[]), expected);
    assert_eq!(owner(&["--contacts"])["contact"], "ada@example.org");
    assert_eq!(
        (&row(&league, "two", &[])["owner"]["id"], &row(&league, "two", &[])["versions"]),
        (&json!("two"), &json!(1))
    );
    let lines = |more: &[&str]| -> Vec<Vec<String>> {
        let text = league.run(&[&["standings", "--csv"], more].concat()).done().stdout;
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let (plain, reached) = (lines(&[]), lines(&["--contacts"]));
    assert_eq!(
        (plain.len(), &plain[0][..4]),
        (3, &["ladder", "place", "player", "display_name"].map(str::to_owned)[..])
    );
    let of =
        |lines: &[Vec<String>]| lines.iter().find(|line| line[2] == "one").expect("a line")[4..8].to_vec();
    assert_eq!(of(&plain), ["ada", "Ada L", "'=1+1", ""]);
    assert_eq!(of(&reached)[3], "ada@example.org");
    league.run(&["standings", "--contacts"]).with_code(2).says(&["add --csv or --json"]);
}
