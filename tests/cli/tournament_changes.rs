//! `referee tournament add`, `withdraw`, `return` and `change`, on stopped tournaments and on those in progress.

use std::net::SocketAddr;
use std::time::Duration;

use crate::common::guest::Guest;
use crate::common::{Folder, Referee, SEED, referee};
use serde_json::{Value, json};

/// Writes the file of a short tournament: `head`, and an entrant for each name with its additional key.
fn cup(folder: &Folder, head: &str, entrants: &[(&str, String)]) -> String {
    let mut text = format!("game = 'checkers'\nseed = '{SEED}'\noptions = {{ turn_limit = 12 }}\n{head}\n");
    if !head.contains("[format]") {
        text += "\n[format]\nkind = 'round_robin'\n";
    }
    for (name, key) in entrants {
        text += &format!("[[entrants]]\nname = '{name}'\n{key}\n");
    }
    folder.write("cup.toml", text)
}

fn command(bot: &str) -> String {
    format!("command = \"{bot}\"")
}

/// The names of the entrants that have not withdrawn.
fn entrants(dir: &str) -> Vec<String> {
    let status = referee(["tournament", "status", dir, "--json"]).done().one("status");
    let rows = status["entrants"].as_array().expect("a list").iter().filter(|row| row["has_left"] == false);
    rows.map(|row| row["name"].as_str().expect("text").to_owned()).collect()
}

#[test]
fn a_stopped_tournament_resumes_with_changed_settings() {
    let folder = Folder::new();
    let bots = ["one", "two"].map(|name| (name, command(&folder.plain_bot(name))));
    let (config, dir) = (cup(&folder, "", &bots), folder.text("cup"));
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    std::fs::remove_file(folder.path("two.py")).expect("it is there");
    referee(["tournament", "change", &dir, "--command", "three=x"])
        .with_code(2)
        .says(&["unknown bot `three`", "one, two"]);
    referee(["tournament", "change", &dir, "--clock", "5s"]).with_code(2).says(&["--clock"]);
    referee(["tournament", "change", &dir]).with_code(2);
    let repaired = folder.plain_bot("repaired");
    let named = format!("two={repaired}");
    let more = ["--jobs", "2", "--clock", "bank=30s", "--command", &named];
    let said = referee(["tournament", "change", &dir].iter().chain(&more)).done().stdout;
    for what in ["jobs: 2, before 1", "clock of future matches: bank=30s, before delay=5s,bank=60s", "two: `"]
    {
        assert!(said.contains(what), "{what} is not in: {said}");
    }
    let third = folder.plain_bot("third");
    assert_eq!(
        referee(["tournament", "add", &dir, &third]).done().stdout,
        "third joins: 4 more matches, after all others\n"
    );
    let received = ["`third` is an entrant already: `python3", "third.py", "--name"];
    referee(["tournament", "add", &dir, &third]).with_code(2).says(&received);
    referee(["tournament", "add", &dir, &repaired, "--name", "one"])
        .with_code(2)
        .says(&["`one` is an entrant already"]);
    referee(["tournament", "add", &dir, "tcp:carol"]).with_code(2).says(&["--listen 127.0.0.1:4700"]);
    let ended = referee(["tournament", "resume", &dir, "--json"]).done();
    assert_eq!(ended.all("match").len(), 4);
    let clock = |id: &str| folder.record(&format!("cup/records/{id}.jsonl"))[0]["clock"]["bank_ms"].clone();
    assert_eq!([clock("m1"), clock("m3")], [json!(60_000), json!(30_000)]);
    referee(["tournament", "verify", &dir]).done();
}

#[test]
fn reports_and_pages_name_clock_of_each_match() {
    let folder = Folder::new();
    let bots = ["one", "two"].map(|name| (name, command(&folder.plain_bot(name))));
    let (config, dir) = (cup(&folder, "", &bots), folder.text("cup"));
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    let report = |more: &[&str]| referee(["tournament", "report", &dir].iter().chain(more)).done().stdout;
    let conditions = || {
        let report: Value = serde_json::from_str(&report(&["--format", "json"])).expect("JSON");
        (report["conditions"].clone(), report["attempts"].clone())
    };
    assert_eq!(
        conditions().0["clocks"],
        json!([{ "clock": "delay=5s,bank=60s", "first": "m1", "last": "m2" }])
    );
    assert!(report(&[]).contains("delay 5 s, bank 60 s"));
    // Nothing is left to play: the new clock is that of no match.
    referee(["tournament", "change", &dir, "--clock", "bank=30s"]).done();
    let text = report(&[]);
    assert!(text.contains("delay 5 s, bank 60 s") && !text.contains("30 s"), "{text}");
    referee(["tournament", "add", &dir, &folder.plain_bot("third")]).done();
    let told = "delay 5 s, bank 60 s until match 2, then bank 30 s";
    assert!(report(&[]).contains(told));
    referee(["tournament", "resume", &dir]).done();
    assert!(report(&[]).contains(told) && report(&["--format", "html"]).contains(told));
    let (conditions, attempts) = conditions();
    assert_eq!(conditions["clock"], "bank=30s");
    assert_eq!(conditions["clocks"][1], json!({ "clock": "bank=30s", "first": "m3", "last": "m6" }));
    assert_eq!([&attempts[1]["clock"], &attempts[2]["clock"]], ["delay=5s,bank=60s", "bank=30s"]);
    report(&["--site", &folder.text("site")]);
    assert!(folder.read("site/index.html").contains(told));
    let page = |id: &str| folder.read(&format!("site/matches/{id}.html"));
    assert!(page("m2").contains("delay 5 s, bank 60 s") && !page("m2").contains("bank 30 s"));
    assert!(page("m3").contains("bank 30 s") && !page("m3").contains("bank 60 s"));
}

#[test]
fn a_connecting_bot_joins_a_stopped_tournament_without_listener() {
    let folder = Folder::new();
    let bots = ["one", "two"].map(|name| (name, command(&folder.plain_bot(name))));
    let (config, dir) = (cup(&folder, "", &bots), folder.text("cup"));
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    let tokens = folder.write_secret("tokens", "carol=secret\n");
    let more = ["--listen", "127.0.0.1:0", "--token-file", &tokens, "--name", "rl"];
    referee(["tournament", "add", &dir, "tcp:carol"].iter().chain(&more)).done();
    let mut run = Referee::start(["tournament", "resume", &dir, "--json"]);
    let address =
        run.receive_type("listening")["address"].as_str().expect("text").parse().expect("an address");
    let hello = json!({"type": "hello", "protocol": 1, "name": "carol", "token": "secret"});
    let carol = Guest::saying(address, &hello).play_along();
    assert_eq!(run.wait().with_code(0).all("match").len(), 4);
    carol.join().expect("she plays");
}

/// Plays as this name once it is an entrant.
fn connect(address: SocketAddr, name: &str) -> Vec<Value> {
    for _ in 0..200 {
        let received = Guest::named(address, name).play();
        if received.iter().any(|message| message["type"] == "start") {
            return received;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("`{name}` does not get in")
}

#[test]
fn a_running_tournament_accepts_changes_and_keeps_connections() {
    let folder = Folder::new();
    let slow = folder.bot("slow", "import time\nplay(turn=lambda t: (time.sleep(0.04), first(t)))");
    let entrants_before = [
        ("one", command(&slow)),
        ("two", command(&slow)),
        ("three", command(&slow)),
        ("alice", "tcp = 'alice'".to_owned()),
    ];
    let (config, dir) =
        (cup(&folder, "listen = { address = '127.0.0.1:0' }", &entrants_before), folder.text("cup"));
    let mut run = Referee::start(["tournament", "run", &config, "--dir", &dir, "--json"]);
    let address =
        run.receive_type("listening")["address"].as_str().expect("text").parse().expect("an address");
    let alice = Guest::named(address, "alice").play_along();
    run.receive_type("match");
    let said = referee(["tournament", "add", &dir, "tcp:carol"]).done().stdout;
    assert!(said.starts_with("carol joins: 8 more matches") && said.contains("have ended"), "{said}");
    referee(["tournament", "withdraw", &dir, "three"]).done();
    referee(["tournament", "change", &dir, "--jobs", "2", "--clock", "bank=30s"]).done();
    let carol = connect(address, "carol");
    let ended = run.wait().with_code(0).says(&[
        "changed: carol joins",
        "changed: three has withdrawn",
        "changed: jobs: 2, before 1\nclock of future matches: bank=30s",
    ]);
    assert_eq!(entrants(&dir), ["one", "two", "alice", "carol"]);
    let faults = ended.all("match").into_iter().filter(|played| played["faults"] != json!([{}, {}]));
    assert_eq!(faults.count(), 0, "{ended:#?}");
    let alice = alice.join().expect("she plays");
    for received in [&alice, &carol] {
        let count = |kind: &str| received.iter().filter(|message| message["type"] == kind).count();
        assert!(count("end") >= 6 && count("bye") == 1, "{}", count("end"));
    }
    referee(["tournament", "verify", &dir]).done();
}

/// Removes the matches from this number on, as if they had not been played.
fn cut_back(folder: &Folder, first: u32) {
    let db = rusqlite::Connection::open(folder.path("cup/results.sqlite")).expect("a database");
    let rest = format!("WHERE number >= {first}");
    db.execute_batch(&format!("DELETE FROM matches {rest}; DELETE FROM details {rest}"))
        .expect("it can be changed");
    for number in first.. {
        let record = folder.path(&format!("cup/records/m{number}.jsonl"));
        if std::fs::remove_file(record).is_err() {
            return;
        }
    }
}

#[test]
fn an_entrant_of_a_swiss_tournament_requests_byes_and_returns() {
    let folder = Folder::new();
    let keys = ["", "", "", "\nabsent = [2]"];
    let mut bots: Vec<(&str, String)> = Vec::new();
    for (name, key) in ["one", "two", "three", "four"].into_iter().zip(keys) {
        bots.push((name, command(&folder.plain_bot(name)) + key));
    }
    let format = "[format]\nkind = 'swiss'\nrounds = 4\nbye = 0.5";
    let (config, dir) = (cup(&folder, format, &bots), folder.text("cup"));
    let wrong = cup(&folder, &format.replace("0.5", "0.7"), &bots);
    referee(["tournament", "check", &wrong, "--no-start"])
        .with_code(2)
        .says(&["a bye of 0.7 points; expected 1, 0.5 or 0"]);
    let config = {
        cup(&folder, format, &bots);
        config
    };
    let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
    assert_eq!(ended.all("match").len(), 4 + 2 + 4 + 4, "three are left in the second round");
    let report = referee(["tournament", "report", &dir, "--format", "json"]).done().stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let pairs = report["rounds"][1]["pairs"].as_array().expect("a list");
    let byes: Vec<&Value> = pairs.iter().filter(|pair| pair["is_bye"] == true).collect();
    assert_eq!(byes.len(), 2, "{pairs:?}");
    assert!(byes.iter().all(|bye| bye["points"] == json!([1.0, 0.0])), "{byes:?}");
    assert!(byes.iter().any(|bye| bye["entrants"] == json!(["four", null])), "{byes:?}");

    referee(["tournament", "return", &dir, "four"]).with_code(2).says(&["`four` has not withdrawn"]);
    referee(["tournament", "withdraw", &dir, "four"]).done();
    referee(["tournament", "return", &dir, "four"])
        .with_code(2)
        .says(&["no entrant can return any more: round 4, the last one, is paired"]);
    cut_back(&folder, 7);
    let said = referee(["tournament", "return", &dir, "four"]).done().stdout;
    assert_eq!(said, "four returns before it has missed a round\n");
    referee(["tournament", "change", &dir, "--absent", "one=3"])
        .with_code(2)
        .says(&["--absent: round 3 is paired already; the next one is 4"]);
    let said = referee(["tournament", "change", &dir, "--absent", "one=4"]).done().stdout;
    assert_eq!(said, "one: byes on request in the rounds 4\n");
    let ended = referee(["tournament", "resume", &dir, "--json"]).done();
    assert_eq!(ended.all("match").len(), 4 + 2);
    assert_eq!(entrants(&dir).len(), 4);
    referee(["tournament", "verify", &dir]).done();
}
