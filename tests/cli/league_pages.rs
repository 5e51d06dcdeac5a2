//! The pages of a ladder: standings, players, how to join.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::common::{browser, sample};
use crate::watch::wait_until;

#[test]
fn the_page_shows_standings_and_matches() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", "anchor = 100"), ("two", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 3);
    // The pages follow within a second.
    wait_until("a match is listed", || {
        let ended = site.get("/api/v1/matches?state=ended").json();
        ended["matches"].as_array().is_some_and(|matches| !matches.is_empty())
    });
    let fixed = json!({"value": 100.0, "low": 100.0, "high": 100.0});
    wait_until("ratings", || {
        let standings = site.get("/api/v1/standings").json();
        let rows = standings["standings"].as_array().expect("rows");
        let rating =
            |name: &str| rows.iter().find(|row| row["name"] == name).map(|row| row["rating"].clone());
        let (one, two) = (rating("one"), rating("two").unwrap_or_default());
        one.as_ref() == Some(&fixed) && two["low"].as_f64() < two["high"].as_f64()
    });
    // The first sentence of the page needs no script.
    let page = site.get("/").body;
    assert!(page.contains("<title>two leads") || page.contains("<title>short: no result yet"), "{page}");
    assert!(page.contains("<span id=\"brand\">short</span>"), "{page}");
    // Visitors play only where the organiser lets them.
    assert_eq!(["GET", "POST"].map(|method| site.ask(method, "/play", "").status), [404, 405]);
    drain(server);
}

#[test]
fn browser_shows_players_and_bot_to_copy_that_plays() {
    let head = "watch = \"127.0.0.1:0\"\nlisten = \"127.0.0.1:0\"";
    let league = League::calm(head, &[("one", "anchor = 100"), ("two", "")]);
    let (mut server, address) = {
        let mut server = league.serve();
        let site = Site::of(&mut server);
        let address = server.receive_type("listening")["address"].as_str().expect("text").to_owned();
        receive_matches(&mut server, 4);
        wait_until("a rating over time", || {
            // It is a player once the ratings have been computed for the first time.
            let found = site.ask("GET", "/api/v1/players/two", "");
            found.status == 200
                && found.json()["history"].as_array().is_some_and(|history| history.len() >= 2)
        });
        let file = league.folder.text("joins.py");
        browser::run("league.mjs", &[&site.url("/"), "two", &file]);
        (server, address)
    };
    // The bot that the page shows, with a name and a token.
    let token = league.add("alice");
    let text = league.folder.read("joins.py").replace("NAME", "alice").replace("TOKEN", &token);
    league.folder.write("joins.py", text);
    let mut bot = Command::new("python3")
        .arg(league.folder.path("joins.py"))
        .stdin(Stdio::null())
        .spawn()
        .expect("python starts");
    while !server.receive_type("match")["players"].as_array().unwrap().contains(&json!("alice@1")) {}
    drain(server);
    // It comes back to the next server.
    let address = address.parse::<std::net::SocketAddr>().expect("an address");
    let text = league.folder.read("league.toml");
    league
        .folder
        .write("league.toml", text.replace("listen = \"127.0.0.1:0\"", &format!("listen = \"{address}\"")));
    let mut server = league.serve();
    while !server.receive_type("match")["players"].as_array().unwrap().contains(&json!("alice@1")) {}
    league.run(&["revoke", "alice"]).done();
    assert_eq!(bot.wait().expect("it ends").code(), Some(1), "it says why it ends");
    drain(server);
    let standings = league.standings(&[]);
    let rows = standings["standings"].as_array().unwrap();
    let faulted = league.run(&["matches", "--limit", "100000", "--json"]).done().all("match");
    let faulted: Vec<&Value> = faulted.iter().filter(|played| played["faulted"] != json!([])).collect();
    assert!(rows.iter().all(|row| row["faulted"] == 0), "{faulted:?}");
}

#[test]
fn matches_of_earlier_runs_have_replays() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 2);
    drain(server);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let found = site.get("/api/v1/matches/m1").json();
    assert_eq!([&found["board"], &found["number"]], [&json!("replay"), &json!(1)]);
    wait_until("the whole history", || {
        let oldest = site.get("/api/v1/matches?state=ended&before=2").json();
        oldest["matches"][0]["id"] == "m1"
    });
    let bots = site.get("/api/v1/bots").json();
    let counts: Vec<u64> = bots["bots"]
        .as_array()
        .expect("bots")
        .iter()
        .map(|bot| bot["matches"].as_u64().expect("a number"))
        .collect();
    assert!(counts.len() == 2 && counts.iter().all(|&count| count >= 2), "{bots}");
    assert!(site.get("/api/v1/matches/m1/record").body.contains("\"type\":\"seal\""));
    let steps = &site.get("/api/v1/matches/m1/events").json()["events"][0]["data"];
    assert!(!steps["steps"].as_array().expect("steps").is_empty());
    for unknown in ["c1", "m99999", "mm"] {
        assert_eq!(site.ask("GET", &format!("/api/v1/matches/{unknown}"), "").status, 404, "{unknown}");
    }
    drain(server);
}

#[test]
fn places_a_week_ago_are_those_of_the_standings_then() {
    let programs = ["newcomer", "second", "first"].map(|name| (name, ""));
    let league = League::calm("watch = \"127.0.0.1:0\"", &programs);
    let mut server = league.serve();
    receive_matches(&mut server, 4);
    drain(server);
    // Three matches gave the newcomer the highest rating, with which it came after the others.
    for (player, value, matches, is_provisional) in
        [("first", 60, 200, 0), ("second", 20, 200, 0), ("newcomer", 400, 3, 1)]
    {
        league.query(&format!(
            "INSERT INTO ratings VALUES ('short', '{player}', strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-8 days'), \
             {value}, -500, 500, {matches}, {is_provisional})"
        ));
    }
    let mut server = league.serve();
    let site = Site::of(&mut server);
    wait_until("places a week ago", || {
        let standings = site.get("/api/v1/standings").json();
        let row = |name: &str| {
            let rows = standings["standings"].as_array().expect("rows");
            rows.iter().find(|row| row["name"] == name).map(|row| row["place_a_week_ago"].clone())
        };
        ["first", "second", "newcomer"].map(row) == [1, 2, 3].map(|place| Some(json!(place)))
    });
    drain(server);
}

#[test]
fn several_ladders_have_pages_and_ratings_of_their_own() {
    let second =
        "[[ladders]]\nname = \"other\"\ngame = \"xe_queo\"\nrest = \"0s\"\nwatch = \"127.0.0.1:0\"\n";
    let bot = sample("python/random_bot.py");
    let programs = ["three", "four"]
        .map(|name| format!("[[programs]]\nname = {name:?}\ncommand = {bot:?}\nladders = [\"other\"]\n"));
    let head = format!("watch = \"127.0.0.1:0\"\n{second}{}", programs.concat());
    let league = League::calm(&head, &[("one", "ladders = [\"short\"]"), ("two", "ladders = [\"short\"]")]);
    let text = league.folder.read("league.toml");
    league.folder.write("league.toml", format!("[owners]\nlisten = \"127.0.0.1:0\"\n{text}"));
    let mut server = league.serve();
    let owners = server.receive_type("owners")["url"].as_str().expect("a URL").to_owned();
    let sites = [Site::of(&mut server), Site::of(&mut server)];
    // Links have the ports that the servers were given.
    let port = |url: &str| url.trim_end_matches('/').rsplit(':').next().expect("a port").to_owned();
    for (site, other) in [(&sites[0], &sites[1]), (&sites[1], &sites[0])] {
        let (ladder, page) = (site.get("/api/v1/ladder").json(), site.get("/standings").body);
        for (link, url) in
            [(&ladder["others"][0]["port"], &other.url("/")), (&ladder["owners"]["port"], &owners)]
        {
            assert_eq!(link.to_string(), port(url));
            assert!(page.contains(&format!("href=\"http://localhost:{link}/")), "{page}");
        }
    }
    for (site, name, other, players) in
        [(&sites[0], "short", "other", ["one", "two"]), (&sites[1], "other", "short", ["three", "four"])]
    {
        let ladder = site.get("/api/v1/ladder").json();
        assert_eq!([&ladder["name"], &ladder["others"][0]["name"]], [name, other]);
        wait_until("standings", || {
            let standings = site.get("/api/v1/standings").json();
            let mut names: Vec<String> = standings["standings"]
                .as_array()
                .expect("rows")
                .iter()
                .map(|row| row["name"].as_str().expect("text").to_owned())
                .collect();
            names.sort();
            let mut expected = players.map(str::to_owned).to_vec();
            expected.sort();
            names == expected
        });
        assert_eq!(site.ask("GET", "/api/v1/players/nobody", "").status, 404);
    }
    // Each is one click away from the same page of the other, also from pages without a script.
    for (path, other) in [("/standings", "/standings"), ("/rules/game", "/")] {
        let page = sites[0].get(path).body;
        let ladders = page.split("id=\"ladders\">").nth(1).and_then(|rest| rest.split("</ul>").next());
        let ladders = ladders.unwrap_or_else(|| panic!("{page}"));
        assert!(ladders.contains(&format!("{other}\">other</a>")), "{ladders}");
        assert!(ladders.contains("aria-current=\"page\">short</a>"), "{ladders}");
    }
    drain(server);
    let both = league.run(&["standings", "--json"]).done().all("standings");
    let names: Vec<&str> = both.iter().map(|ladder| ladder["ladder"].as_str().expect("text")).collect();
    assert_eq!(names, ["short", "other"]);
    let standings = league.standings(&["--ladder", "other"]);
    assert_eq!(standings["standings"].as_array().map(Vec::len), Some(2));
    league
        .run(&["challenge", "one", "two"])
        .with_code(2)
        .says(&["--ladder: the league has several: short, other"]);
}
