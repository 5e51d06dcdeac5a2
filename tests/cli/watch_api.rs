//! The API for spectators: every response and every parameter is as described.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::Folder;
use crate::common::http::{Answer, Site};
use crate::common::league::{League, drain};
use crate::watch::{go, wait_for_moves, wait_until, watched};

#[track_caller]
fn check_schema(description: &Value, schema: &Value, value: &Value, what: &str) {
    let mut schema = schema.clone();
    schema["components"] = description["components"].clone();
    let validator = jsonschema::draft202012::new(&schema).expect("the description is valid");
    validator.validate(value).unwrap_or_else(|error| panic!("{what}: {error} at {}", error.instance_path()));
}

/// Checks a response against its description.
#[track_caller]
pub(crate) fn check_description(description: &Value, (method, path): (&str, &str), answer: &Answer) {
    let responses = &description["paths"][path][method]["responses"];
    let described = responses.get(answer.status.to_string());
    let described = described.unwrap_or_else(|| panic!("{path}: status {} is not described", answer.status));
    let Some(content) = described["content"].as_object() else {
        assert!(answer.body.is_empty(), "{path}: a body is not described: {}", answer.body);
        return;
    };
    let kind = content.keys().find(|kind| answer.head.contains(&format!("content-type: {kind}")));
    let kind = kind.unwrap_or_else(|| panic!("{path}: another type than described: {}", answer.head));
    let value = if kind == "application/json" { answer.json() } else { json!(answer.body) };
    check_schema(description, &content[kind]["schema"], &value, path);
}

/// The paths of the description with their statuses.
fn described_statuses(description: &Value) -> BTreeSet<(String, u16)> {
    let paths = description["paths"].as_object().expect("paths").iter();
    let statuses = paths.flat_map(|(path, item)| {
        let statuses = item["get"]["responses"].as_object().expect("responses").keys();
        statuses.map(|status| (path.clone(), status.parse().expect("a status")))
    });
    statuses.collect()
}

#[test]
fn every_response_fits_the_description_of_its_path() {
    let (mut tested, mut described) = (BTreeSet::new(), BTreeSet::new());
    for (game, more) in
        [("checkers", &["--on-fault", "random"][..]), ("xe_queo", &[]), ("saxum", &["--mirror"])]
    {
        let folder = Folder::new();
        go(&folder, "m1");
        let records = folder.text("records");
        let limit = if game == "xe_queo" { &[][..] } else { &["--set", "turn_limit=40"] };
        let count = if game == "checkers" { "3" } else { "2" };
        let more = [&["-n", count, "--record", &records], limit, more].concat();
        let (referee, site) = watched(&folder, game, (0.0, 3), &more);
        let state = |id: &str| site.ask("GET", &format!("/api/v1/matches/{id}"), "");
        wait_until("m1 ends and m2 begins", || {
            state("m2").status == 200 && state("m1").json()["result"].is_object()
        });
        // The overview follows within a second.
        wait_until("the overview", || site.get("/api/v1/run").json()["ended"][0]["id"] == "m1");
        let description = site.get("/api/v1/openapi.json").json();
        described = described_statuses(&description);
        let mut check = |path: &str, id: &str, query: &str, head: &str| {
            let address = path.replace("{id}", id).replace("{name}", id);
            let answer = site.ask("GET", &(address + query), head);
            check_description(&description, ("get", path), &answer);
            tested.insert((path.to_owned(), answer.status));
            answer
        };
        let long = format!("?{}", "x".repeat(2048));
        let paths = description["paths"].as_object().expect("paths");
        for path in paths.keys() {
            for id in ["m1", "m2", "m99", "%ff"] {
                for query in ["", "?view=text", "?limit=1", "?state=ended", "?view=x", "?limit=x", &long] {
                    check(path, id, query, "");
                }
            }
            check(path, "m1", "", "Host: evil.example\r\n");
            check(path, "m1", "", "Host: [::1\r\n");
        }
        for id in ["m1", "m2"] {
            let path = format!("/api/v1/matches/{id}/events");
            if site.ask("GET", &path, "").status == 200 {
                let event = site.stream(&path, None).next().expect("an event");
                let event = json!({ "id": event.id, "event": event.kind, "data": event.data });
                check_schema(
                    &description,
                    &json!({"$ref": "#/components/schemas/BoardEvent"}),
                    &event,
                    &path,
                );
            }
        }
        if game == "checkers" {
            // Several boards at once equal each alone.
            let boards = check("/api/v1/boards", "", "?ids=m1,m2,m99", "").json()["boards"].clone();
            let alone = site.get("/api/v1/matches/m2/events").json();
            assert_eq!(boards, json!({ "m2": alone }), "m1 has ended, and there is no m99");
            let last = alone["events"][0]["id"].as_str().expect("an id");
            let later = site.get(&format!("/api/v1/boards?ids=m1,m2&after=,{last}")).json();
            assert_eq!(later["boards"]["m2"]["events"], json!([]), "the client has it");
            let many = "m1,".repeat(9);
            assert_eq!(check("/api/v1/boards", "", &format!("?ids={many}"), "").status, 400);
            let events = "/api/v1/matches/{id}/events";
            let last = site.stream(&events.replace("{id}", "m1"), None).last().expect("the end").id;
            let head = format!("Accept: text/event-stream\r\nLast-Event-ID: {last}\r\n");
            assert_eq!(check(events, "m1", "", &head).status, 204);
            // Its replay has not been requested before.
            go(&folder, "m2");
            wait_until("m2 ends", || state("m2").json()["result"].is_object());
            std::fs::remove_file(folder.path("records/m2.jsonl")).expect("a record");
            assert_eq!(check(events, "m2", "", "").status, 500);
            assert_eq!(check("/api/v1/matches/{id}/record", "m2", "", "").status, 500);
        }
        ["m2", "m3"].iter().for_each(|id| go(&folder, id));
        referee.end().with_code(0);
    }
    // A ladder of a league has more paths.
    let league = League::calm("watch = \"127.0.0.1:0\"", &[("one", "anchor = 0"), ("two", "")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    server.receive_type("match");
    let description = site.get("/api/v1/openapi.json").json();
    let mut check = |path: &str| {
        let name = if path.contains("season") { "autumn" } else { "two" };
        let answer = site.ask("GET", &path.replace("{name}", name), "");
        check_description(&description, ("get", path), &answer);
        tested.insert((path.to_owned(), answer.status));
        answer.status
    };
    league.run(&["season", "end", "autumn"]).done();
    let seasons = ["/api/v1/seasons", "/api/v1/seasons/{name}", "/api/v1/seasons/{name}/matches"];
    for path in seasons {
        wait_until("an answer", || check(path) == 200);
    }
    let player = "/api/v1/players/{name}";
    for path in ["/api/v1/ladder", "/api/v1/announcements", "/api/v1/run", "/api/v1/standings", player] {
        wait_until("an answer", || check(path) == 200);
    }
    league.query("DROP TABLE ratings");
    // An answer is kept for a second.
    wait_until("the database is read again", || check(player) == 500);
    league.query("DROP TABLE final_standings");
    league.query("UPDATE matches SET players = '' WHERE season = 1");
    for path in seasons {
        wait_until("the database is read again", || check(path) == 500);
    }
    drain(server);
    // With a full disk: league_storage.rs.
    tested.insert(("/healthz".to_owned(), 503));
    assert_eq!(tested, described, "the server sends each status that is described, and no other");
}

#[test]
fn requests_with_invalid_parameters_are_rejected_with_the_valid_ones() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "checkers", (0.0, 0), &["--set", "turn_limit=8"]);
    wait_for_moves(&site, "m1", 0);
    // The bounds are those of the description.
    let description = site.get("/api/v1/openapi.json").json();
    for parameter in description["paths"]["/api/v1/matches"]["get"]["parameters"].as_array().expect("a list")
    {
        let (name, schema) = (parameter["name"].as_str().expect("a name"), &parameter["schema"]);
        for (bound, beyond) in
            [("minimum", -1), ("maximum", 1)].iter().filter(|_| schema["type"] == "integer")
        {
            let value = schema[bound].as_i64().expect("a bound");
            let status = |value: i64| site.ask("GET", &format!("/api/v1/matches?{name}={value}"), "").status;
            assert_eq!((status(value), status(value + beyond)), (200, 400), "{name}: {bound}");
        }
    }
    for (query, what) in [
        ("matches?state=over", "state: unknown variant `over`, expected `running` or `ended`"),
        ("matches?limit=many", "limit: invalid digit found in string"),
        ("matches?limit=0", "limit: 0 is not from 1 to 100"),
        ("matches?limit=101", "limit: 101 is not from 1 to 100"),
        ("matches?before=9007199254740992", "before: 9007199254740992 is not from 0 to 9007199254740991"),
        ("matches/m1/events?view=svg", "view: unknown variant `svg`, expected `shapes` or `text`"),
    ] {
        let answer = site.ask("GET", &format!("/api/v1/{query}"), "");
        let error = answer.json()["error"].as_str().expect("an error").to_owned();
        assert!(answer.status == 400 && error.ends_with(what), "{query}: {} {error}", answer.status);
    }
    go(&folder, "m1");
    referee.end().with_code(0);
}
