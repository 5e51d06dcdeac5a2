//! A class: owners by the list of the organiser, whose bots play three ladders through a crash and deadlines to the end of the season
//! and the finals.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use referee::game::test_length::long_or;
use serde_json::{Value, json};

use crate::common::http::Site;
use crate::common::league::{League, drain};
use crate::common::returning::{Returning, hello};
use crate::common::{Ended, Folder, Referee, Signal, WON};
use crate::league_events::{post, schedule};
use crate::league_restart::own_address;
use crate::watch::wait_until;

const OWNERS: usize = long_or(200, 30);
const LADDERS: [&str; 3] = ["red", "green", "blue"];
/// The least number of matches of each bot before the crash, and before the end of the season.
const BEFORE: u64 = 2;
const AT_LEAST: u64 = 4;
/// The greatest difference of the numbers of matches on a ladder: bots that are more than two ahead wait, and sets are completed.
const APART: u64 = 5;

struct Student {
    name: String,
    token: String,
}

struct Class {
    league: League,
    /// The file without events.
    text: String,
    addresses: [SocketAddr; 3],
}

impl Class {
    fn new() -> Class {
        let (folder, fen) = (Folder::new(), WON.strip_prefix("fen=").expect("a position"));
        let addresses = [(); 3].map(|()| own_address());
        let ladder = |(name, address)| {
            format!(
                "[[ladders]]\nname = {name:?}\ngame = \"checkers\"\noptions = {{ fen = {fen:?} }}\nrest = \"200ms\"\neven_out = true\n\
                 listen = \"{address}\"\nwatch = \"127.0.0.1:0\"\nreconnect = \"60s\"\nhello_limit = \"60s\"\nready_limit = \"60s,60s\"\n"
            )
        };
        let ladders: String = LADDERS.into_iter().zip(addresses).map(ladder).collect();
        let text = format!(
            "[owners]\nlisten = \"127.0.0.1:0\"\nurl = \"http://localhost\"\n[signup]\nmode = \"invite\"\n[sandbox]\nmode = \"basic\"\n{ladders}"
        );
        let file = folder.write("league.toml", &text);
        Class {
            league: League { folder, file },
            text: text.replace("url = \"http://localhost\"\n", ""),
            addresses,
        }
    }

    /// The secrets of the links that the organiser sends to the class.
    fn invite(&self) -> Vec<String> {
        let names = (1..=OWNERS).map(|number| format!("Student {number},Class A,{number}@example.org\n"));
        let list = format!("name,affiliation,contact\n{}", names.collect::<String>());
        let file = self.league.folder.write("class.csv", list);
        let links = self.league.run(&["invite", "--from", &file]).done().stdout;
        links
            .lines()
            .skip(1)
            .map(|line| line.split(['#', ',']).rev().nth(1).expect("a secret").to_owned())
            .collect()
    }

    /// The server, its pages by ladder, and those of owners.
    fn serve(&self) -> (Referee, [Site; 3], Site) {
        let mut server = self.league.serve();
        let owners = server.receive_type("owners")["url"].as_str().expect("a URL").to_owned();
        let owners = Site(owners.trim_start_matches("http://").trim_end_matches('/').to_owned());
        let sites = LADDERS.map(|name| {
            let watching = server.receive_type("watch");
            assert_eq!(watching["ladder"], name);
            let url = watching["url"].as_str().expect("a URL");
            Site(url.trim_start_matches("http://").trim_end_matches('/').to_owned())
        });
        (server, sites, owners)
    }

    /// The students of a ladder: they are spread over all of them.
    fn of_ladder<'a>(&self, students: &'a [Student], ladder: usize) -> impl Iterator<Item = &'a Student> {
        students.iter().skip(ladder).step_by(LADDERS.len())
    }

    fn standings(&self, ladder: &str) -> Vec<Value> {
        let args = ["--ladder", ladder, "--season", "autumn"];
        self.league.standings(&args)["standings"].as_array().expect("rows").clone()
    }
}

/// The matches that a server has reported, with their ladders. One that was killed may have written a part of the last line.
fn reported(ended: &Ended) -> BTreeSet<(String, String)> {
    let lines = ended.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let text = |line: &Value, key: &str| line[key].as_str().expect("text").to_owned();
    lines
        .filter(|line| line["type"] == "match")
        .map(|line| (text(&line, "ladder"), text(&line, "id")))
        .collect()
}

/// Waits until each bot has played so many matches.
fn wait_for_matches(sites: &[Site; 3], least: u64) {
    for (ladder, site) in sites.iter().enumerate() {
        let expected = (OWNERS + LADDERS.len() - 1 - ladder) / LADDERS.len();
        wait_until("all have played", || {
            let standings = site.get("/api/v1/standings").json();
            let rows = standings["standings"].as_array().expect("rows");
            rows.len() == expected && rows.iter().all(|row| row["matches"].as_u64() >= Some(least))
        });
    }
}

#[test]
fn class_plays_three_ladders_through_crash_to_finals() {
    let class = Class::new();
    let secrets = class.invite();
    assert_eq!(secrets.len(), OWNERS);
    class.league.folder.write("league.toml", &class.text);
    let (server, sites, owners) = class.serve();
    let student = |(number, secret): (usize, &String)| {
        let body = json!({ "id": format!("student-{number}"), "invitation": secret });
        let signed = post(&owners, "signup", "", &body);
        assert_eq!(signed.status, 201, "{}", signed.body);
        let token = signed.json()["token"].as_str().expect("a token").to_owned();
        let name = format!("bot-{number}");
        assert_eq!(post(&owners, "owner/bots", &token, &json!({ "name": name })).status, 201);
        Student { name, token }
    };
    let students: Vec<Student> = (1..).zip(&secrets).map(student).collect();
    let start = |student: &Student, address: SocketAddr| {
        Returning::start(address, hello(&student.name, &student.token), Duration::ZERO, usize::MAX)
    };
    let bots: Vec<Returning> = (0..LADDERS.len())
        .flat_map(|ladder| class.of_ladder(&students, ladder).map(move |student| (student, ladder)))
        .map(|(student, ladder)| start(student, class.addresses[ladder]))
        .collect();
    wait_for_matches(&sites, BEFORE);

    // A power cut. All bots come back, and matches go on.
    server.signal(Signal::KILL);
    let mut played = reported(&server.wait());
    let (server, sites, owners) = class.serve();
    wait_for_matches(&sites, AT_LEAST);

    // The deadline: nothing is taken any more, and no match begins.
    let [freeze, close] = [("2026-01-01", "\"freeze\""), ("2026-01-01", "\"close\"")];
    schedule(&class.league, &class.text, &[freeze, close]);
    server.signal(Signal::HUP);
    for site in &sites {
        wait_until("it is frozen", || site.get("/api/v1/ladder").json()["frozen"] == true);
        wait_until("the matches in progress end", || site.get("/api/v1/run").json()["running_count"] == 0);
    }
    let listed = class.league.run(&["list"]).done().stdout;
    assert!(
        listed.contains("red is closed by an event: no match begins until another one opens it"),
        "{listed}"
    );
    let resumed = class.league.run(&["resume"]).done().stdout;
    assert!(
        resumed.contains("\nred is closed by an event") && resumed.contains("\ngreen is closed"),
        "{resumed}"
    );
    let late = post(&owners, "owner/bots", &students[0].token, &json!({ "name": "late" }));
    assert_eq!(late.status, 409, "{}", late.body);
    let ends = ("2026-01-02", "\"end_season\"\nseason = \"autumn\"");
    schedule(&class.league, &class.text, &[freeze, close, ends]);
    server.signal(Signal::HUP);
    for site in &sites {
        wait_until("the season has ended", || site.ask("GET", "/seasons", "").body.contains("autumn"));
    }

    // Places are those of all players, each has played as often as the others, and no bot pays for the crash.
    for (ladder, name) in LADDERS.into_iter().enumerate() {
        let rows = class.standings(name);
        let places: Vec<u64> = rows.iter().filter_map(|row| row["place"].as_u64()).collect();
        assert_eq!(places, (1..=rows.len() as u64).collect::<Vec<_>>(), "{name}");
        let found: BTreeSet<&str> = rows.iter().filter_map(|row| row["player"].as_str()).collect();
        let expected = class.of_ladder(&students, ladder).map(|student| &*student.name).collect();
        assert_eq!(found, expected, "{name}");
        let counts = || rows.iter().map(|row| row["matches"].as_u64().expect("a number"));
        let [fewest, most] = [counts().min(), counts().max()].map(Option::unwrap_or_default);
        assert!(fewest >= AT_LEAST && most - fewest <= APART, "{name}: {fewest} to {most} matches");
        assert!(rows.iter().all(|row| row["faulted"] == 0), "{rows:?}");
        let stored = class.league.query(&format!("SELECT count(*) FROM matches WHERE ladder = '{name}'"));
        assert_eq!(stored.parse(), Ok(counts().sum::<u64>() / 2), "{name}");
    }

    // The first four of a ladder play the finals with their tokens.
    let (dir, address) = (class.league.folder.text("finals"), own_address());
    let listen = address.to_string();
    let command = [
        "league",
        "finals",
        "red",
        "--league",
        &class.league.file,
        "--season",
        "autumn",
        "--top",
        "4",
        "--dir",
        &dir,
    ];
    let format = ["--format", "round-robin", "--cycles", "1", "--listen", &listen, "--json"];
    let mut finals = Referee::start(command.into_iter().chain(format));
    finals.receive_type("listening");
    let first: Vec<String> = class
        .standings("red")
        .iter()
        .take(4)
        .map(|row| row["player"].as_str().expect("a name").to_owned())
        .collect();
    let finalists: Vec<Returning> = students
        .iter()
        .filter(|student| first.contains(&student.name))
        .map(|student| start(student, address))
        .collect();
    let ended = finals.wait().with_code(0);
    drop(finalists);
    let standings = ended.one("standings");
    let entrants: BTreeSet<&str> = standings["entrants"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(entrants, first.iter().map(String::as_str).collect(), "{standings}");

    // Every match that was reported is there, with its record.
    played.append(&mut reported(&drain(server)));
    drop(bots);
    for (ladder, id) in &played {
        let sql = format!("SELECT record FROM matches WHERE ladder = '{ladder}' AND number = {}", &id[1..]);
        assert_eq!(class.league.query(&sql), format!("{id}.jsonl"), "{id} of {ladder}");
    }
    let verified = class.league.run(&["verify", "--json"]).done().one("summary");
    assert_eq!(verified["results"], verified["records"]);
    assert!(verified["results"].as_u64() >= Some(played.len() as u64), "{verified}");
}
