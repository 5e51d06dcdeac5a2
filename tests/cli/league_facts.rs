//! Facts on the pages of a ladder and in their API besides results: display names, rulings, what is next, who
//! took the lead.

use serde_json::{Value, json};

use crate::common::browser;
use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::watch::wait_until;

/// The row of a player in the standings.
fn row(site: &Site, name: &str) -> Option<Value> {
    let standings = site.get("/api/v1/standings").json();
    standings["standings"].as_array().expect("rows").iter().find(|row| row["name"] == name).cloned()
}

/// Pauses a league, and waits until its matches have ended.
fn pause(league: &League, site: &Site) {
    league.run(&["pause"]).done();
    wait_until("the matches in progress end", || {
        let health = site.ask("GET", "/healthz", "").body;
        health.contains("paused") && site.get("/api/v1/run").json()["running_count"] == 0
    });
}

#[test]
fn pages_and_api_show_display_names_and_follow_rename() {
    let league =
        League::calm("watch = \"127.0.0.1:0\"", &[("one", "display_name = \"Number One\""), ("two", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let id = receive_matches(&mut server, 4)[0]["id"].as_str().expect("an id").to_owned();
    pause(&league, &site);
    let display = |value: &Value| value["display_name"].clone();
    let check = |name: &str| {
        wait_until("the standings have the name", || {
            row(&site, "one").is_some_and(|row| display(&row) == name && row["name"] == "one")
        });
        let found = site.get(&format!("/api/v1/standings?search={}", name.replace(' ', "%20"))).json();
        assert_eq!(found["count"], 1, "{found}");
        let entry = site.get(&format!("/api/v1/matches/{id}")).json();
        let seats = entry["seats"].as_array().expect("seats");
        let own = seats.iter().find(|seat| seat["name"] == "one").expect("its seat");
        assert_eq!(display(own), name);
        assert!(seats.iter().any(|seat| seat["display_name"].is_null()), "the other one has none: {entry}");
        let text = entry["result"]["text"].as_str().expect("text");
        assert!(text.contains(name) && !text.contains('_'), "{text}");
        let replay = site.get(&format!("/api/v1/matches/{id}/events")).json();
        let heading = replay["events"][0]["data"]["heading"].as_str().expect("text").to_owned();
        assert!(heading.contains(name), "{heading}");
        let player = site.get("/api/v1/players/one").json();
        assert_eq!(display(&player), name);
        let last = player["last_matches"][0]["text"].as_str().expect("text");
        assert!(last.contains(name) && !last.contains('_'), "{last}");
        let other = site.get("/api/v1/players/two").json();
        assert_eq!([&display(&other), &display(&other["opponents"][0])], [&Value::Null, &json!(name)]);
        assert_eq!(site.get("/api/v1/ladder").json()["display_names"], json!({ "one": name }));
        let bots = site.get("/api/v1/bots").json();
        assert_eq!(display(&bots["bots"][0]), name);
        let heading = site.get("/api/v1/run").json()["story"]["heading"].as_str().expect("text").to_owned();
        assert!(heading.contains(name), "{heading}");
    };
    check("Number One");
    browser::run("names.mjs", &[&site.url("/"), "one", "Number One", &id]);
    league.run(&["rule", "rename", "one", "Primo", "--reason", "asked for it"]).done();
    wait_until("a player's page follows", || display(&site.get("/api/v1/players/one").json()) == "Primo");
    wait_until("lists of bots follow", || display(&site.get("/api/v1/bots").json()["bots"][0]) == "Primo");
    wait_until("the ladder follows", || {
        site.get("/api/v1/ladder").json()["display_names"] == json!({ "one": "Primo" })
    });
    wait_until("the last matches follow", || {
        let player = site.get("/api/v1/players/two").json();
        player["last_matches"][0]["text"].as_str().is_some_and(|text| text.contains("Primo"))
    });
    check("Primo");
    drain(server);
}

#[test]
fn rulings_are_on_pages_with_reasons_that_are_public() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 4);
    pause(&league, &site);
    let played = site.get("/api/v1/run").json()["ended"].clone();
    let [first, second] = [0, 1].map(|at: usize| played[at]["id"].as_str().expect("an id").to_owned());
    assert_eq!(site.get("/api/v1/rulings").json(), json!({ "rulings": [] }));
    let rule = |args: &[&str]| league.run(&[&["rule"], args].concat()).done();
    rule(&["void", &first, "--reason", "a power cut"]);
    rule(&["award", &second, "one", "--reason", "help from outside", "--private"]);
    let ruling = |id: &str| site.get(&format!("/api/v1/matches/{id}")).json()["ruling"].clone();
    wait_until("the matches show them", || ruling(&first).is_object() && ruling(&second).is_object());
    let (void, awarded) = (ruling(&first), ruling(&second));
    assert_eq!(
        [&void["id"], &void["outcome"], &void["reason"]],
        [&json!(1), &json!("void"), &json!("a power cut")]
    );
    assert_eq!([&awarded["outcome"], &awarded["reason"]], [&json!("awarded to one"), &Value::Null]);
    wait_until("the overview has both", || {
        let run = site.get("/api/v1/run").json();
        run["rulings_count"] == 2 && run["rulings"][1]["decision"] == format!("{first} is void")
    });
    // The overview follows within a second.
    wait_until("lists have them, too", || {
        let run = site.get("/api/v1/run").json();
        let ended = run["ended"].as_array().expect("matches").iter();
        ended.filter(|entry| entry["ruling"].is_object()).count() == 2
    });
    let all = || site.get("/api/v1/rulings").body;
    // The list from before the rulings is kept for a second.
    wait_until("all rulings are listed", || all().contains("a power cut"));
    let all = all();
    assert!(all.contains("a power cut") && !all.contains("help from outside"), "{all}");
    wait_until("a player's matches have them", || {
        let player = site.get("/api/v1/players/one").json();
        let matches = player["last_matches"].as_array().expect("matches").iter();
        matches.filter(|played| played["ruling"].is_object()).count() == 2
    });
    browser::run("rulings.mjs", &[&site.url("/"), &first, "a power cut", &second]);
    rule(&["undo", "1", "--reason", "it was played"]);
    wait_until("it holds no longer", || ruling(&first).is_null());
    wait_until("and is listed as undone", || {
        let rulings = site.get("/api/v1/rulings").json();
        rulings["rulings"][1]["undone_at"].is_string() && rulings["rulings"][0]["undone_at"].is_null()
    });
    drain(server);
}

#[test]
fn return_matches_and_challenges_are_announced() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", ""), ("three", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let next = || site.get("/api/v1/run").json()["next"].as_array().expect("matches").clone();
    let is_return =
        |entry: &Value| entry["why"].as_str().is_some_and(|why| why.starts_with("return match of m"));
    // Whether the last match is the first one of its set is left to chance.
    loop {
        receive_matches(&mut server, 1);
        pause(&league, &site);
        // The overview follows within a second.
        std::thread::sleep(std::time::Duration::from_millis(1500));
        if next().iter().any(is_return) {
            break;
        }
        league.run(&["resume"]).done();
    }
    let owed = next().into_iter().find(is_return).expect("a match");
    let first = owed["why"].as_str().expect("text").trim_start_matches("return match of ").to_owned();
    let seats = site.get(&format!("/api/v1/matches/{first}")).json()["seats"].clone();
    let names: Vec<&Value> =
        seats.as_array().expect("seats").iter().rev().map(|seat| &seat["name"]).collect();
    assert_eq!(json!(names), owed["sides"], "with exchanged sides");
    league.run(&["challenge", "one", "three"]).done();
    wait_until("the challenge is announced", || {
        next().iter().any(|entry| entry["why"] == "challenge" && entry["sides"] == json!(["one", "three"]))
    });
    league.run(&["resume"]).done();
    wait_until("it is played", || !next().iter().any(|entry| entry["why"] == "challenge"));
    drain(server);
}

#[test]
fn running_match_states_its_begin_and_rating() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let go = league.folder.text("go");
    let wait = format!(
        "import os, time\n\ndef late(turn):\n    while not os.path.exists({go:?} + turn['match'][:1]):\n        \
         time.sleep(0.02)\n    first(turn)\n\nplay(turn=late)"
    );
    ["bot-one", "bot-two"].iter().for_each(|name| drop(league.folder.bot(name, &wait)));
    league.run(&["challenge", "one", "two"]).done();
    let earliest = referee::store::utc(referee::store::now());
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let asked = |id: &str| site.ask("GET", &format!("/api/v1/matches/{id}"), "");
    let check = |id: &str, rated: bool, not_rated: Value, said: &str| {
        let running = asked(id).json();
        assert_eq!((&running["result"], &running["rated"]), (&Value::Null, &json!(rated)), "{running}");
        assert_eq!(running["not_rated"], not_rated, "{running}");
        browser::run("facts.mjs", &[&site.url(&format!("/matches/{id}")), said]);
        league.folder.write(&format!("go{}", &id[..1]), "");
        wait_until("it ends", || asked(id).json()["ended_at"].is_string());
        let ended = asked(id).json();
        let [began, over] =
            [&ended["began_at"], &ended["ended_at"]].map(|at| at.as_str().expect("a time").to_owned());
        assert!(earliest <= began && began <= over, "{ended}");
        for fact in ["began_at", "rated", "not_rated"] {
            assert_eq!(ended[fact], running[fact], "{fact} after its end");
        }
    };
    // The challenge waited before the server began.
    let mut id = String::new();
    for (kind, rated, not_rated, said) in
        [("c", false, json!("a challenge"), "no: a challenge"), ("m", true, Value::Null, "yes")]
    {
        let before = id.clone();
        wait_until("it begins", || {
            id = site.get("/api/v1/run").json()["running"][0]["id"].as_str().unwrap_or_default().to_owned();
            !id.is_empty() && id != before
        });
        assert!(id.starts_with(kind), "{id}");
        check(&id, rated, not_rated, said);
    }
    drain(server);
}

#[test]
fn the_last_change_of_the_lead_outlasts_a_restart() {
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    receive_matches(&mut server, 8);
    pause(&league, &site);
    // Both are equally strong, which rulings change.
    for played in site.get("/api/v1/run").json()["ended"].as_array().expect("matches").iter().take(6) {
        let id = played["id"].as_str().expect("an id");
        league.run(&["rule", "award", id, "one", "--reason", "a trial"]).done();
    }
    let stored =
        || league.query("SELECT json_extract(value, '$.lead.leader') FROM league WHERE key = 'memory:short'");
    wait_until("one leads", || {
        site.get("/api/v1/run").json()["story"]["leader"] == "one" && stored() == "one"
    });
    drain(server);
    league.query(
        "UPDATE league SET value = json_set(value, '$.lead.taken', json('{\"id\": \"m1\", \"from\": \"two\"}')) \
         WHERE key = 'memory:short'",
    );
    let mut server = league.serve();
    let site = Site::of(&mut server);
    wait_until("the story knows it", || {
        let story = site.get("/api/v1/run").json()["story"].clone();
        story["leader"] == "one" && story["last_change_of_lead"] == json!({ "match": "m1", "from": "two" })
    });
    let story = site.get("/api/v1/run").json()["story"].clone();
    let told: String =
        story["why"].as_array().expect("parts").iter().filter_map(|part| part["text"].as_str()).collect();
    assert!(told.contains("It overtook two with match 1."), "{told}");
    drain(server);
}

#[test]
fn program_is_ready_before_first_match_unless_it_fails() {
    let broken = "[[programs]]\nname = \"broken\"\ncommand = \"/bin/false\"\n";
    let league = League::calm(&format!("watch = \"127.0.0.1:0\"\n{broken}"), &[("one", ""), ("two", "")]);
    league.run(&["pause"]).done();
    let mut server = league.serve();
    let site = Site::of(&mut server);
    for name in ["one", "two", "broken"] {
        wait_until("the programs are listed", || {
            row(&site, name).is_some_and(|row| row["online"] == true && row["matches"] == 0)
        });
    }
    browser::run("ready.mjs", &[&site.url("/"), "one", "ready, no match yet"]);
    league.run(&["resume"]).done();
    wait_until("it is excluded", || {
        row(&site, "broken").is_some_and(|row| {
            row["state"].as_str().is_some_and(|state| state.starts_with("excluded until "))
        })
    });
    wait_until("it is not there", || {
        let online = site.get("/api/v1/ladder").json()["online"].clone();
        online == json!(["one", "two"])
    });
    browser::run("ready.mjs", &[&site.url("/"), "broken", "excluded for its faults until"]);
    drain(server);
}
