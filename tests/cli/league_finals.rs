//! `referee league finals`: a tournament of the first players of a ladder.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::guest::Guest;
use crate::common::http::Site;
use crate::common::league::{League, drain, hello, receive_matches};
use crate::common::{Referee, referee};
use crate::watch::wait_until;

/// A league whose first three programs have the display names Ada, Bo and Cy, after some matches.
fn played(ladder: &str, matches: usize) -> League {
    let names = [("one", "Ada"), ("two", "Bo"), ("three", "Cy"), ("four", "Di")];
    let lines: Vec<(&str, String)> =
        names.iter().map(|(name, shown)| (*name, format!("display_name = {shown:?}"))).collect();
    let programs: Vec<(&str, &str)> = lines.iter().map(|(name, line)| (*name, &**line)).collect();
    let league = League::new(ladder, &programs);
    let mut server = league.serve();
    receive_matches(&mut server, matches);
    drain(server);
    league
}

/// The players of the standings, the best first.
fn order(league: &League) -> Vec<String> {
    let rows = league.standings(&[])["standings"].as_array().expect("rows").clone();
    rows.iter().map(|row| row["player"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn first_players_of_ladder_play_knockout_in_order() {
    let league = played("", 24);
    let order = order(&league);
    let dir = league.folder.text("finals");
    let played = league.run(&["finals", "--top", "3", "--dir", &dir, "--json", "--name", "Big Night"]).done();
    let finals = played.one("finals");
    let players: Vec<&Value> =
        finals["players"].as_array().expect("players").iter().map(|row| &row["player"]).collect();
    assert_eq!(players, order[..3].iter().collect::<Vec<_>>(), "{finals}");
    assert_eq!(finals["absent"], json!([]));
    let matches = played.all("match");
    // The first one has a bye, and meets the winner of the others.
    let first: Vec<&Value> = matches[0]["seats"].as_array().expect("seats").iter().collect();
    assert!(!first.contains(&&json!(order[0])), "{matches:?}");
    let shown = referee(["tournament", "standings", &format!("{dir}/results")]).done();
    for display in ["Ada", "Bo", "Cy", "Di"] {
        let is_in =
            finals["players"].as_array().expect("players").iter().any(|row| row["display_name"] == display);
        assert_eq!(shown.stdout.contains(display), is_in, "{}", shown.stdout);
    }
    referee(["tournament", "verify", &format!("{dir}/results")]).done();
    let again = league.run(&["finals", "--dir", &dir]).with_code(5);
    again.says(&["tournament.toml", "exists already"]);
}

#[test]
fn finals_are_played_in_the_directory_of_the_league() {
    let league = played("", 12);
    let mut finals = Command::new(env!("CARGO_BIN_EXE_referee"));
    finals.args(["league", "finals", "short", "--top", "3", "--format", "swiss", "--rounds", "1"]);
    let ended = finals.current_dir(league.folder.path("")).output().expect("it runs");
    assert!(ended.status.success(), "{ended:?}");
    referee(["tournament", "verify", &league.folder.text("finals-short/results")]).done();
}

#[test]
fn players_who_cannot_play_are_named_and_replaced() {
    let league = played("", 24);
    let order = order(&league);
    league.run(&["pause", &order[1]]).done();
    let dir = league.folder.text("finals");
    let args = ["finals", "--top", "2", "--format", "round-robin", "--cycles", "3", "--dir", &dir, "--write"];
    let written = league.run(&args).done();
    let why = format!("({}) in place 2 is paused: the next one moves up", order[1]);
    assert!(
        written.stdout.contains(&why) && written.stdout.contains("stronger than the next one"),
        "{}",
        written.stdout
    );
    let file: toml::Table =
        fs::read_to_string(format!("{dir}/tournament.toml")).expect("a file").parse().expect("TOML");
    assert_eq!(file["clock"].as_str(), Some("delay=1s,bank=30s"), "that of the ladder, by default");
    let entrants = file["entrants"].as_array().expect("entrants");
    assert_eq!(
        [&entrants[0]["name"], &entrants[1]["name"]].map(|name| name.as_str().expect("a name")),
        [&*order[0], &*order[2]]
    );
    referee(["tournament", "check", &format!("{dir}/tournament.toml")]).done();
    league
        .run(&["finals", "--best-of", "3", "--format", "swiss", "--dir", &dir])
        .with_code(2)
        .says(&["--best-of: not with --format swiss"]);
    league.run(&["finals", "--top", "1"]).with_code(2).says(&["--top: finals have 2 players or more"]);
}

#[test]
fn bot_that_connects_plays_finals_with_its_token_of_league() {
    let league = played("listen = \"127.0.0.1:0\"", 12);
    let token = league.add("guest");
    let (server, address) = league.listening();
    let guest = Guest::saying(address, &hello("guest", None, &token)).play_along();
    wait_until("it has played", || order(&league).iter().any(|player| player == "guest"));
    drain(server);
    guest.join().expect("it plays");
    let dir = league.folder.text("finals");
    league.run(&["finals", "--top", "5", "--dir", &dir]).with_code(2).says(&["guest connects by itself"]);
    let args = ["finals", "--top", "5", "--dir", &dir, "--listen", "127.0.0.1:0", "--write"];
    league.run(&args).done();
    let tokens = fs::read_to_string(format!("{dir}/tokens")).expect("tokens");
    assert!(tokens.contains("guest=sha256:") && !tokens.contains(&token), "{tokens}");
    let mut finals = Referee::start([
        "tournament",
        "run",
        &format!("{dir}/tournament.toml"),
        "--dir",
        &format!("{dir}/results"),
        "--json",
    ]);
    let address = finals.receive_type("listening")["address"].as_str().expect("text").to_owned();
    let address = address.parse().expect("an address");
    let other = Guest::saying(address, &hello("guest", None, "another token")).rest();
    assert_eq!(other[0]["code"], "wrong_token", "{other:?}");
    let guest = Guest::saying(address, &hello("guest", None, &token)).play_along();
    let ended = finals.wait().with_code(0);
    assert!(ended.stdout.contains("guest"), "{}", ended.stdout);
    guest.join().expect("it plays");
}

/// The league has no table `[sandbox]` any more.
fn forget_sandbox(league: &League) {
    let text = league.folder.read("league.toml").replacen("[sandbox]\nmode = \"basic\"\n", "", 1);
    league.folder.write("league.toml", text);
}

#[test]
fn finals_of_bots_that_connect_need_no_sandbox() {
    let league = played("listen = \"127.0.0.1:0\"", 12);
    let names = ["ann", "bob"];
    let tokens = names.map(|name| (name, league.add(name)));
    let (server, address) = league.listening();
    let guests = tokens.map(|(name, token)| Guest::saying(address, &hello(name, None, &token)).play_along());
    wait_until("both have played", || {
        let order = order(&league);
        names.iter().all(|name| order.iter().any(|player| player == name))
    });
    drain(server);
    guests.into_iter().for_each(|guest| drop(guest.join().expect("it plays")));
    forget_sandbox(&league);
    ["one", "two", "three", "four"].iter().for_each(|name| drop(league.run(&["pause", name]).done()));
    let dir = league.folder.text("finals");
    league.run(&["finals", "--top", "2", "--dir", &dir, "--listen", "127.0.0.1:0", "--write"]).done();
    // This machine has no layer of a sandbox that is a program.
    let mut check = Command::new(env!("CARGO_BIN_EXE_referee"));
    let check =
        check.args(["tournament", "check", &format!("{dir}/tournament.toml")]).env("PATH", "/nowhere");
    Referee::start_as(check).end().done();
}

#[test]
fn programs_have_the_sandbox_of_the_league_in_its_finals() {
    let league =
        League::new("", &["one", "two", "three"].map(|name| (name, "sandbox = { mode = \"basic\" }")));
    let mut server = league.serve();
    receive_matches(&mut server, 24);
    drain(server);
    let mode = |dir: &str| {
        let dir = league.folder.text(dir);
        league.run(&["finals", "--top", "3", "--dir", &dir, "--write"]).done();
        let file = fs::read_to_string(format!("{dir}/tournament.toml")).expect("a file");
        let file: toml::Table = file.parse().expect("TOML");
        file["sandbox"]["mode"].as_str().expect("a mode").to_owned()
    };
    forget_sandbox(&league);
    assert_eq!(mode("same"), "basic");
    let text = league.folder.read("league.toml").replacen("sandbox = { mode = \"basic\" }", "", 1);
    league.folder.write("league.toml", text);
    assert_eq!(mode("different"), "strict", "one of them has the sandbox of the league");
}

#[test]
fn a_ladder_links_to_its_finals_and_waits_if_asked() {
    let league = played("watch = \"127.0.0.1:0\"", 12);
    let dir = league.folder.text("finals");
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let ladder = || site.get("/api/v1/ladder").json();
    assert_eq!((ladder().get("finals"), &ladder()["paused"]), (None, &json!(false)));
    let args =
        ["finals", "short", "--dir", &dir, "--write", "--pause", "--url", "https://cup.example/finals/"];
    league.run(&args).done();
    wait_until("the link is shown", || ladder().get("finals").is_some());
    assert_eq!(ladder()["finals"], json!({"name": "Finals of short", "url": "https://cup.example/finals/"}));
    assert_eq!(ladder()["paused"], true);
    let listed = league.run(&["list"]).done().stdout;
    assert!(
        listed.contains("short is paused: `referee league resume --ladder short` resumes it"),
        "{listed}"
    );
    league.run(&["resume", "--ladder", "short"]).done();
    receive_matches(&mut server, 2);
    drain(server);
    // Both are kept over a restart.
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let ladder = || site.get("/api/v1/ladder").json();
    assert!(ladder().get("finals").is_some() && ladder()["paused"] == false);
    league.run(&["finals", "--unlink"]).done();
    wait_until("the link is gone", || ladder().get("finals").is_none());
    let log = league.run(&["log"]).done().stdout;
    for action in [
        "finals short --url https://cup.example/finals/",
        "pause --ladder short",
        "resume --ladder short",
        "finals short --unlink",
    ] {
        assert!(log.contains(action), "{log}");
    }
    drain(server);
}

#[cfg(target_os = "linux")]
#[test]
fn program_that_was_handed_in_plays_finals_as_it_was() {
    use crate::submissions::{bot, league, owner, serve, submit};

    let league = league("");
    let token = owner(&league, "ada");
    let (mut server, url) = serve(&league);
    let build = "open('book.py', 'w').write('')\n";
    let directory = bot(&league.folder, "mouse", "mouse", build);
    submit(&url, &directory, &token).done();
    wait_until("it has played", || order(&league).iter().any(|player| player == "mouse@1"));
    let dir = league.folder.text("finals");
    league.run(&["finals", "--top", "2", "--dir", &dir, "--write"]).done();
    league.folder.write("mouse/build.py", "open('book.py', 'w').write('is_new = True')\n");
    submit(&url, &directory, &token).done();
    receive_matches(&mut server, 1);
    drain(server);
    assert_eq!(league.folder.read("finals/bots/mouse/book.py"), "");
    let file: toml::Table = league.folder.read("finals/tournament.toml").parse().expect("TOML");
    assert_eq!(file["sandbox"]["mode"].as_str(), Some("strict"));
    assert_eq!(file["sandbox"]["limits"]["network"].as_bool(), Some(false));
    if crate::sandbox::missing().is_empty() {
        let run = [
            "tournament",
            "run",
            &format!("{dir}/tournament.toml"),
            "--dir",
            &format!("{dir}/results"),
            "--strict",
        ];
        referee(run).done();
    }
}
