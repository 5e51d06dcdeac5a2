//! Owners of bots: signing up, their token, their bots, matches and logs, challenges, leaving.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use referee_protocol::schemas::OWNERS_API;
use serde_json::{Value, json};

use crate::common::browser;
use crate::common::guest::Guest;
use crate::common::http::{Answer, Site};
use crate::common::league::{League, drain, hello, receive_matches};
use crate::common::{Folder, Referee, Signal, TIMEOUT};
use crate::publish::talkative;
use crate::watch::wait_until;
use crate::watch_api::check_description;

/// The pages of owners.
struct Owners(Site);

impl Owners {
    /// Those that a league announces.
    fn of(server: &mut Referee) -> Owners {
        let url = server.receive_type("owners")["url"].as_str().expect("its URL").to_owned();
        Owners(Site(
            url.strip_prefix("http://").and_then(|url| url.strip_suffix('/')).expect("a URL").to_owned(),
        ))
    }

    fn ask(&self, method: &str, path: &str, head: &str, body: &str) -> Answer {
        let length = body.len();
        let head = format!("{head}Content-Length: {length}\r\n");
        let answer = self.0.ask_with_body(method, &format!("/api/v1/{path}"), &head, body);
        let description: Value = serde_json::from_str(OWNERS_API).expect("JSON");
        let path = described(&description, path);
        check_description(&description, (&method.to_lowercase(), &path), &answer);
        answer
    }

    /// A request of a program with this token, or none.
    fn call(&self, method: &str, path: &str, token: &str, body: &Value) -> Answer {
        let by = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.ask(method, path, &format!("{by}Content-Type: application/json\r\n"), &body)
    }

    fn get(&self, path: &str, token: &str) -> Value {
        let answer = self.call("GET", path, token, &Value::Null);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    fn sign_up(&self, id: &str, invitation: Option<&str>) -> Answer {
        let mut body = json!({ "id": id, "contact": format!("{id}@cup.example") });
        if let Some(invitation) = invitation {
            body["invitation"] = json!(invitation);
        }
        self.call("POST", "signup", "", &body)
    }

    /// Signs up, and returns the token.
    fn join(&self, id: &str, invitation: Option<&str>) -> String {
        let answer = self.sign_up(id, invitation);
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["token"].as_str().expect("a token").to_owned()
    }
}

/// The path in the description that this one is an example of.
fn described(description: &Value, path: &str) -> String {
    let path = format!("/api/v1/{}", path.split('?').next().expect("a path"));
    let segments: Vec<&str> = path.split('/').collect();
    let is_of = |known: &&String| {
        let known: Vec<&str> = known.split('/').collect();
        let fits = |(known, own): (&&str, &&str)| known == own || known.starts_with('{');
        known.len() == segments.len() && known.iter().zip(&segments).all(fits)
    };
    let known = description["paths"].as_object().expect("paths").keys().find(is_of);
    known.unwrap_or_else(|| panic!("{path} is not described")).clone()
}

/// A league whose owners sign up in this way.
fn league(ladder: &str, tables: &str, programs: &[(&str, &str)]) -> League {
    let league = League::calm(ladder, programs);
    let text = league.folder.read("league.toml");
    let tables = format!("[owners]\nlisten = \"127.0.0.1:0\"\nurl = \"http://localhost\"\n{tables}\n{text}");
    league.folder.write("league.toml", tables);
    league
}

/// The pages of the owners of a league that is served, and the address for bots.
fn listening(league: &League) -> (Referee, Owners, SocketAddr) {
    let text = league.folder.read("league.toml").replace("url = \"http://localhost\"\n", "");
    league.folder.write("league.toml", text);
    let mut server = league.serve();
    let owners = Owners::of(&mut server);
    let address =
        server.receive_type("listening")["address"].as_str().expect("text").parse().expect("an address");
    (server, owners, address)
}

/// The secret of an invitation.
fn invite(league: &League, args: &[&str]) -> String {
    let invited = league.run(&[&["invite", "--json"], args].concat()).done().one("invitation");
    let url = invited["url"].as_str().expect("a link");
    url.strip_prefix("http://localhost/#").expect("a link with a secret").to_owned()
}

fn error(answer: &Answer) -> String {
    answer.json()["error"].as_str().expect("an error").to_owned()
}

#[test]
fn an_owner_signs_up_with_an_invitation_adds_a_bot_and_sees_its_matches() {
    let league =
        league("listen = \"127.0.0.1:0\"", "[signup]\nmode = \"invite\"", &[("anchor", "anchor = 0")]);
    let once = invite(&league, &[]);
    let (mut server, owners, address) = listening(&league);
    assert_eq!(owners.get("signup", "")["mode"], "invite");
    assert_eq!(
        error(&owners.sign_up("ada", None)),
        "signing up needs an invitation: ask the organiser for one"
    );
    let token = owners.join("ada", Some(&once));
    let again = owners.sign_up("ben", Some(&once));
    assert_eq!(
        (again.status, error(&again)),
        (403, "the invitation has been used: ask the organiser for another one".to_owned())
    );
    assert_eq!(owners.get("owner", &token)["bots"], json!([]));

    // The bot connects with the token of its owner.
    assert_eq!(owners.call("POST", "owner/bots", &token, &json!({ "name": "abacus" })).status, 201);
    wait_until("the bot may connect", || {
        let mut guest = Guest::connect(address);
        guest.receive();
        guest.send(&hello("abacus", Some("1"), &token));
        guest.receive()["type"] != "error"
    });
    let guest = Guest::saying(address, &hello("abacus", Some("2"), &token)).play_along();
    receive_matches(&mut server, 3);
    wait_until("its page shows the version that plays", || {
        let players = owners.get("owner", &token)["bots"][0]["players"].clone();
        players.as_array().is_some_and(|players| players.iter().any(|player| player["name"] == "abacus@2"))
    });
    let matches = owners.get("owner/matches?limit=2", &token)["matches"].clone();
    assert_eq!(matches.as_array().expect("matches").len(), 2);
    assert_eq!(matches[0]["own_seats"].as_array().expect("seats").len(), 1);

    // What the organiser sees.
    let listed = league.run(&["owners", "--json"]).done().one("owner");
    assert_eq!(
        [&listed["id"], &listed["contact"], &listed["bots"], &listed["state"]],
        [&json!("ada"), &json!("ada@cup.example"), &json!(["abacus"]), &json!("active")]
    );
    let log = league.run(&["log"]).done().stdout;
    assert!(log.contains("owner ada") && log.contains("add abacus"), "{log}");
    let listed = league.run(&["invitations"]).done().stdout;
    assert!(listed.contains("1 of 1") && listed.contains("used"), "{listed}");

    // Pausing and retiring.
    assert_eq!(owners.call("POST", "owner/bots/abacus/pause", &token, &Value::Null).status, 204);
    assert_eq!(owners.get("owner", &token)["bots"][0]["paused"], true);
    assert_eq!(owners.call("POST", "owner/bots/abacus/resume", &token, &Value::Null).status, 204);
    assert_eq!(retire(&owners, "abacus", &token).status, 204);
    let farewell = guest.join().expect("it plays").pop().expect("a message");
    assert_eq!(farewell["reason"], "its token does not admit it any more");
    drain(server);
}

#[test]
fn only_its_owner_sees_what_a_bot_says_in_private() {
    let folder = Folder::new();
    let command = talkative(&folder);
    let league = league("", "[signup]\nmode = \"invite\"", &[("two", "")]);
    let text = league.folder.read("league.toml");
    let program = format!("[[programs]]\nname = \"talkative\"\ncommand = {command:?}\nowner = \"ada\"\n");
    league.folder.write("league.toml", format!("{text}{program}"));
    let [of_ada, of_ben] = ["ada", "ben"].map(|id| invite(&league, &["--owner", id]));
    let text = league.folder.read("league.toml").replace("url = \"http://localhost\"\n", "");
    league.folder.write("league.toml", text);
    let mut server = league.serve();
    let owners = Owners::of(&mut server);
    let refused = owners.sign_up("ada", Some(&of_ben));
    assert_eq!((refused.status, error(&refused)), (403, "the invitation is for another id".to_owned()));
    let (ada, ben) = (owners.join("ada", Some(&of_ada)), owners.join("ben", Some(&of_ben)));
    // A set: it has each seat once, and moves in one of them. Its process begins with the first match.
    let played = receive_matches(&mut server, 2);
    let paths = played.iter().map(|played| {
        let id = played["id"].as_str().expect("an id").to_owned();
        (format!("owner/matches/short/{id}/log"), id)
    });
    let paths: Vec<(String, String)> = paths.collect();
    let logs: String = paths
        .iter()
        .map(|(path, _)| {
            let log = owners.call("GET", path, &ada, &Value::Null);
            assert_eq!(log.status, 200, "{}", log.body);
            log.body
        })
        .collect();
    assert!(logs.contains("hush-stderr") && logs.contains("hush-info"), "{logs}");
    let (path, id) = &paths[0];
    let others = owners.call("GET", path, &ben, &Value::Null);
    assert_eq!((others.status, error(&others)), (404, format!("there is no match of yours `{id}`")));
    assert_eq!(owners.call("GET", path, "", &Value::Null).status, 401);
    assert_eq!(owners.get("owner/matches", &ben), json!({ "matches": [] }));
    for (path, why) in [
        ("owner/matches?limit=0", "`limit`: 0 is not from 1 to 200"),
        ("owner/matches?ladder=long", "there is no ladder `long`"),
        ("owner/matches?before=3", "`before`: it needs `ladder`"),
    ] {
        assert_eq!(error(&owners.call("GET", path, &ada, &Value::Null)), why);
    }
    drain(server);
}

#[test]
fn a_browser_signs_in_with_a_cookie_that_other_sites_cannot_use() {
    let league = league("listen = \"127.0.0.1:0\"", "[signup]\nmode = \"open\"\nper_network = 2", &[]);
    let (server, owners, _) = listening(&league);
    let signed = owners.sign_up("ada", None);
    let token = signed.json()["token"].as_str().expect("a token").to_owned();
    for part in ["referee_owner=", "httponly", "samesite=strict", "path=/"] {
        assert!(signed.head.contains(part), "{part}: {}", signed.head);
    }
    let json = "Content-Type: application/json\r\n";
    let cookie = format!("{json}Cookie: a=b; referee_owner={token}\r\n");
    let change =
        |head: &str| owners.ask("PATCH", "owner", &format!("{cookie}{head}"), "{\"affiliation\": \"Lab\"}");
    assert_eq!(owners.ask("GET", "owner", &cookie, "").json()["id"], "ada");
    assert_eq!(change("Origin: http://localhost\r\n").status, 200);
    assert_eq!(change("Sec-Fetch-Site: same-origin\r\n").status, 200);
    for head in [
        "",
        "Origin: http://evil.example\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n",
    ] {
        assert_eq!(change(head).status, 403, "{head}");
    }
    // A form of another site cannot sign a browser in, or anybody up.
    let form =
        owners.ask("POST", "session", "Content-Type: text/plain\r\n", &format!("{{\"token\": \"{token}\"}}"));
    assert_eq!(form.status, 415);
    let elsewhere = format!("{json}Origin: http://evil.example\r\n");
    assert_eq!(owners.ask("POST", "signup", &elsewhere, "{\"id\": \"eve\"}").status, 403);
    let wrong = owners.call("POST", "session", "", &json!({ "token": "guess" }));
    assert_eq!(wrong.status, 401);
    assert_eq!(owners.ask("DELETE", "session", json, "").status, 204);

    // Limits.
    assert_eq!(owners.ask("POST", "signup", json, &"x".repeat(20_000)).status, 413);
    owners.join("ben", None);
    let third = owners.sign_up("cleo", None);
    let why = "2 a day may sign up from one network, and so many have: come back tomorrow";
    assert_eq!((third.status, error(&third)), (429, why.to_owned()));
    let imitation = owners.call("PATCH", "owner", &token, &json!({ "display_name": "8en" }));
    assert_eq!(imitation.status, 200, "{}", imitation.body);
    let imitation = owners.call("PATCH", "owner", &token, &json!({ "display_name": "B.e.n" }));
    assert_eq!(
        (imitation.status, error(&imitation)),
        (409, "`B.e.n` looks like `ben`, which is taken: choose another one".to_owned())
    );
    let add = |name: &str| owners.call("POST", "owner/bots", &token, &json!({ "name": name }));
    for name in ["one", "two", "three", "four", "five"] {
        assert_eq!(add(name).status, 201, "{name}");
    }
    assert_eq!(add("six").status, 429);
    assert_eq!(retire(&owners, "one", &token).status, 204);
    let again = add("one");
    let why = "`one` takes part or took part: choose another name";
    assert_eq!((again.status, error(&again)), (409, why.to_owned()), "the organiser may have revoked it");
    // At the same time: one a second is allowed for long.
    let change = || (0..8).any(|_| owners.call("PATCH", "owner", &token, &json!({})).status == 429);
    let refused = std::thread::scope(|threads| {
        let changes: Vec<_> = (0..10).map(|_| threads.spawn(change)).collect();
        changes.into_iter().map(|thread| thread.join().expect("answers")).filter(|&refused| refused).count()
    });
    assert!(refused > 0, "an owner cannot keep the database busy");
    drain(server);
}

#[test]
fn a_token_that_was_replaced_admits_bots_for_an_hour_and_nothing_else() {
    let league = league("listen = \"127.0.0.1:0\"", "[signup]\nmode = \"open\"", &[]);
    let (server, owners, address) = listening(&league);
    let first = owners.join("ada", None);
    owners.call("POST", "owner/bots", &first, &json!({ "name": "abacus" }));
    let rotated = owners.call("POST", "owner/token", &first, &Value::Null);
    let second = rotated.json()["token"].as_str().expect("a token").to_owned();
    let admits = |token: &str| {
        let mut guest = Guest::connect(address);
        guest.receive();
        guest.send(&hello("abacus", None, token));
        // A bot that is admitted waits for an opponent.
        !guest.hears_within(Duration::from_millis(300))
    };
    wait_until("both admit the bot", || admits(&first) && admits(&second));
    for (method, path, body) in [
        ("GET", "owner", Value::Null),
        ("POST", "session", json!({ "token": first })),
        ("POST", "owner/token", Value::Null),
        ("PATCH", "owner", json!({ "affiliation": "Lab" })),
        ("POST", "owner/bots/abacus/pause", Value::Null),
        ("POST", "owner/leave", json!({ "id": "ada" })),
    ] {
        let answer = owners.call(method, path, &first, &body);
        assert_eq!(answer.status, 401, "{method} {path}: {}", answer.body);
    }
    assert_eq!(owners.get("owner", &second)["id"], "ada");
    league.query("UPDATE owners SET former_until = '2026-01-01T00:00:00Z'");
    wait_until("the first one does no longer", || !admits(&first));
    assert!(admits(&second));
    // The organiser replaces one that has become known.
    let third = league.run(&["owner", "token", "ada", "--at-once", "--json"]).done().one("owner");
    assert_eq!(owners.call("GET", "owner", &second, &Value::Null).status, 401);
    assert_eq!(owners.get("owner", third["token"].as_str().expect("a token"))["id"], "ada");
    drain(server);
}

#[test]
fn a_request_whose_body_comes_after_a_decision_changes_nothing() {
    let league =
        league("listen = \"127.0.0.1:0\"", "[signup]\nmode = \"open\"\nper_network = 100", &[("anchor", "")]);
    let (server, owners, _) = listening(&league);
    let requests = |id: &str| {
        [
            ("PATCH", "owner", json!({ "display_name": "Thief" })),
            ("POST", "owner/bots", json!({ "name": format!("{id}-bot") })),
            ("POST", "owner/challenges", json!({ "ladder": "short", "bots": [id, "anchor"] })),
            ("POST", "owner/leave", json!({ "id": id })),
        ]
    };
    for (number, decision) in ["remove", "token", "leave"].into_iter().enumerate() {
        for request in 0..requests("").len() {
            let id = format!("owner{number}{request}");
            let token = owners.join(&id, None);
            let (method, path, body) = &requests(&id)[request];
            let body = body.to_string();
            let mut withheld = owners.0.send(&format!(
                "{method} /api/v1/{path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            ));
            // The server knows who it is by the head.
            std::thread::sleep(Duration::from_millis(100));
            let renewed = match decision {
                "remove" => {
                    league.run(&["owner", "remove", &id]).done();
                    None
                }
                "token" => {
                    let made =
                        league.run(&["owner", "token", &id, "--at-once", "--json"]).done().one("owner");
                    Some(made["token"].as_str().expect("a token").to_owned())
                }
                _ => {
                    let left = owners.call("POST", "owner/leave", &token, &json!({ "id": id }));
                    assert_eq!(left.status, 204);
                    None
                }
            };
            let row = format!(
                "SELECT json_array(state, display_name, hex(token), left_at, (SELECT group_concat(name) FROM bots WHERE owner = id)) FROM owners WHERE id = '{id}'"
            );
            let decided = league.query(&row);
            withheld.write_all(body.as_bytes()).expect("it reads");
            let mut answer = String::new();
            withheld.read_to_string(&mut answer).expect("an answer");
            assert_eq!(answer.split(' ').nth(1), Some("401"), "{decision}, {method} {path}: {answer}");
            assert_eq!(league.query(&row), decided, "{decision}, {method} {path}");
            assert_eq!(owners.call("GET", "owner", &token, &Value::Null).status, 401);
            if let Some(token) = renewed {
                assert_eq!(owners.get("owner", &token)["id"], id);
            }
        }
    }
    drain(server);
}

#[test]
fn of_new_tokens_that_are_made_at_the_same_time_one_is_given_out() {
    let league = league("", "[signup]\nmode = \"open\"", &[("anchor", "")]);
    let text = league.folder.read("league.toml").replace("url = \"http://localhost\"\n", "");
    league.folder.write("league.toml", text);
    let mut server = league.serve();
    let owners = Owners::of(&mut server);
    let first = owners.join("ada", None);
    let made: Vec<Answer> = std::thread::scope(|scope| {
        let ask = || owners.call("POST", "owner/token", &first, &Value::Null);
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|asked| asked.join().expect("an answer")).collect()
    });
    let (given, refused): (Vec<&Answer>, Vec<&Answer>) = made.iter().partition(|answer| answer.status == 200);
    assert!(refused.iter().all(|answer| answer.status == 401), "{refused:?}");
    let [given] = given[..] else { panic!("{} are given out", given.len()) };
    assert_eq!(owners.get("owner", given.json()["token"].as_str().expect("a token"))["id"], "ada");
    drain(server);
}

#[test]
fn who_waits_for_approval_adds_no_bot_and_who_leaves_is_forgotten() {
    let league = league(
        "listen = \"127.0.0.1:0\"\nwatch = \"127.0.0.1:0\"",
        "[signup]\nmode = \"open\"\napprove = true",
        &[("anchor", "anchor = 0")],
    );
    let text = league.folder.read("league.toml").replace("url = \"http://localhost\"\n", "");
    league.folder.write("league.toml", text);
    let mut server = league.serve();
    let owners = Owners::of(&mut server);
    let site = Site::of(&mut server);
    let address =
        server.receive_type("listening")["address"].as_str().expect("text").parse().expect("an address");
    let token = owners.join("ada", None);
    assert_eq!(owners.get("owner", &token)["state"], "waiting");
    let add = || owners.call("POST", "owner/bots", &token, &json!({ "name": "abacus" }));
    assert_eq!((add().status, error(&add())), (403, "the organiser has not approved you yet".to_owned()));
    assert!(league.run(&["owners"]).done().stdout.contains("waiting"));
    league.run(&["owner", "approve", "ada"]).done();
    assert_eq!(add().status, 201);
    wait_until("the bot may connect", || {
        let mut guest = Guest::connect(address);
        guest.receive();
        guest.send(&hello("abacus", None, &token));
        guest.receive()["type"] != "error"
    });
    let guest = Guest::saying(address, &hello("abacus", None, &token)).play_along();
    receive_matches(&mut server, 4);
    // A challenge, which the log counts.
    let challenge = |bots: Value| {
        owners.call("POST", "owner/challenges", &token, &json!({ "ladder": "short", "bots": bots }))
    };
    assert_eq!(challenge(json!(["abacus", "anchor"])).status, 201);
    assert_eq!(error(&challenge(json!(["anchor"]))), "`bots`: a match of short has 2 bots");
    assert_eq!(error(&challenge(json!(["anchor", "nobody"]))), "there is no bot `nobody`");
    assert_eq!(owners.get("owner", &token)["limits"]["challenges_today"], 1);
    league.query("INSERT INTO log (at, user, action) SELECT at, user, action FROM log, (SELECT 1 UNION SELECT 2 UNION SELECT 3) \
                  WHERE action LIKE 'challenge %'");
    wait_until("it is played", || challenges(&league) == 0);
    assert_eq!(challenge(json!(["abacus", "anchor"])).status, 429);
    let is_challenge = |one: &Value| one["id"].as_str().is_some_and(|id| id.starts_with('c'));
    while !is_challenge(&server.receive_type("match")) {}
    // Others end while it is asked for.
    let matches = owners.get("owner/matches?limit=200", &token)["matches"].clone();
    assert!(matches.as_array().is_some_and(|all| all.iter().any(is_challenge)), "{matches}");
    // Everything as an archive.
    let archive = owners.0.download("/api/v1/owner/export", &format!("Authorization: Bearer {token}\r\n"));
    league.folder.write("ada.tar.gz", archive);
    let names = std::process::Command::new("tar")
        .args(["-tzf", &league.folder.text("ada.tar.gz")])
        .output()
        .expect("tar runs");
    let names = String::from_utf8(names.stdout).expect("text");
    assert!(
        names.contains("owner.json") && names.contains("short/m1.json") && names.contains(".private.jsonl"),
        "{names}"
    );

    let leave = |id: &str| owners.call("POST", "owner/leave", &token, &json!({ "id": id })).status;
    assert_eq!(leave("abacus"), 400);
    assert_eq!(leave("ada"), 204);
    assert_eq!(owners.call("GET", "owner", &token, &Value::Null).status, 401);
    drop(guest);
    wait_until("pages show a number instead of the name", || {
        let shown = site.get("/api/v1/players/abacus").json()["display_name"].clone();
        shown.as_str().is_some_and(|shown| shown.starts_with("Former "))
    });
    let listed = league.run(&["owners", "--json"]).done().one("owner");
    assert_eq!(
        [&listed["state"], &listed["contact"], &listed["bots"]],
        [&json!("left"), &Value::Null, &json!([])]
    );
    drain(server);
    league.verify();
}

#[test]
fn a_trusted_proxy_signs_owners_in_and_nobody_else_does() {
    let tables = "trusted_proxies = [\"127.0.0.1\"]\ntrusted_user_header = \"X-Remote-User\"\n[signup]\nmode = \"open\"\nper_network = 1";
    let league = league("listen = \"127.0.0.1:0\"", tables, &[]);
    let (server, owners, _) = listening(&league);
    let by = |user: &str| {
        format!("X-Remote-User: {user}\r\nContent-Type: application/json\r\nOrigin: http://localhost\r\n")
    };
    assert_eq!(owners.ask("GET", "owner", &by("ada"), "").status, 401);
    let other = owners.ask("POST", "signup", &by("ada"), "{\"id\": \"ben\"}");
    assert_eq!(error(&other), "`id`: your proxy says that you are `ada`");
    // The limit of a network is that of the client, whom the proxy names.
    for (id, address) in [("ada", "192.0.2.7"), ("ben", "192.0.2.8")] {
        let head = format!("{}X-Forwarded-For: 10.0.0.1, {address}\r\n", by(id));
        let signed = owners.ask("POST", "signup", &head, &format!("{{\"id\": \"{id}\"}}"));
        assert_eq!((signed.status, &signed.json()["token"]), (201, &Value::Null), "{}", signed.body);
    }
    assert_eq!(owners.ask("GET", "owner", &by("ada"), "").json()["id"], "ada");
    let twice = format!("{}X-Remote-User: ben\r\n", by("ada"));
    assert_eq!(owners.ask("GET", "owner", &twice, "").status, 401);
    drain(server);
    let text = league.folder.read("league.toml").replace("[\"127.0.0.1\"]", "[\"192.0.2.1\"]");
    league.folder.write("league.toml", text);
    let mut server = league.serve();
    let owners = Owners::of(&mut server);
    assert_eq!(owners.ask("GET", "owner", &by("ada"), "").status, 401);
    drain(server);
}

#[test]
fn a_browser_signs_up_with_an_invitation_and_looks_at_a_log() {
    let league = league(
        "listen = \"127.0.0.1:0\"\nwatch = \"127.0.0.1:0\"",
        "[signup]\nmode = \"invite\"",
        &[("anchor", "")],
    );
    let invitation = invite(&league, &[]);
    let text = league.folder.read("league.toml").replace("url = \"http://localhost\"\n", "");
    league.folder.write("league.toml", text);
    let mut server = league.serve();
    let owners = Owners::of(&mut server);
    Site::of(&mut server);
    let address = server.receive_type("listening")["address"].as_str().expect("text").to_owned();
    browser::run("owners.mjs", &[&owners.0.url("/"), &invitation, &address]);
    drain(server);
}

#[test]
fn a_hangup_changes_pages_limits_and_who_may_sign_up() {
    let tables = "bots = 1\n[pages]\ntitle = \"Spring\"\n";
    let league = league("watch = \"127.0.0.1:0\"", tables, &[("one", ""), ("two", "")]);
    let text = league.folder.read("league.toml").replace("url = \"http://localhost\"\n", "");
    league.folder.write("league.toml", &text);
    let mut server = league.serve();
    let owners = Owners::of(&mut server);
    let site = Site::of(&mut server);
    assert_eq!(
        owners.get("signup", "")["league"],
        "Spring",
        "the title of the pages is the name of the league"
    );
    assert_eq!(error(&owners.sign_up("ada", None)), "nobody signs up here: ask the organiser for a token");
    receive_matches(&mut server, 2);
    league.run(&["pause"]).done();
    let changed = text
        .replace("title = \"Spring\"", "title = \"Summer\"\ndescription = \"Warm.\"")
        .replace("bots = 1", "bots = 2\nchallenges_per_day = 0")
        .replacen("listen = \"127.0.0.1:0\"", "listen = \"127.0.0.1:1\"", 1);
    let tables = "[signup]\nmode = \"open\"\n[retention]\nprivate_after = \"0s\"\n";
    // What is wrong with the file has no effect at all.
    league.folder.write("league.toml", format!("{tables}pack_after = \"soon\"\n{changed}"));
    server.signal(Signal::HUP);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(owners.get("signup", "")["mode"], "closed");
    league.folder.write("league.toml", format!("{tables}{changed}"));
    server.signal(Signal::HUP);
    wait_until("owners may sign up", || owners.get("signup", "")["mode"] == "open");
    assert_eq!(owners.get("signup", "")["league"], "Summer");
    let token = owners.join("ada", None);
    for (name, status) in [("first", 201), ("second", 201), ("third", 429)] {
        let added = owners.call("POST", "owner/bots", &token, &json!({ "name": name }));
        assert_eq!(added.status, status, "{name}: {}", added.body);
    }
    let ladder = site.get("/api/v1/ladder").json();
    assert_eq!([&ladder["league"], &ladder["owners"]["signup"]], ["Summer", "open"]);
    wait_until("the page has the new texts", || {
        let page = site.get("/").body;
        page.contains("Summer: short") && page.contains("Warm.")
    });
    let record = || league.folder.read("ladders/short/records/m1.jsonl");
    wait_until("private lines are erased", || !record().contains(&league.folder.text("bot-one")));
    drain(server).says(&[
        "not reloaded: [retention] pack_after: `soon`",
        "reloaded: [pages]: `description`, `title`\n",
        "reloaded: [retention]: `private_after`\n",
        "reloaded: [signup]: `mode`\n",
        "reloaded: [owners]: `bots`, `challenges_per_day`\n",
        "reloaded: [owners]: `listen` after a restart",
    ]);
}

/// Retires a bot.
fn retire(owners: &Owners, name: &str, token: &str) -> Answer {
    owners.call("POST", &format!("owner/bots/{name}/retire"), token, &json!({ "name": name }))
}

/// How many lines of challenges wait in the database.
fn challenges(league: &League) -> u32 {
    league.query("SELECT count(*) FROM challenges").parse().expect("a number")
}

#[test]
fn requests_whose_bodies_do_not_come_end() {
    let league = league("listen = \"127.0.0.1:0\"", "[signup]\nmode = \"open\"", &[]);
    let (server, owners, _) = listening(&league);
    let token = owners.join("ada", None);
    let withheld = |path: &str, more: &str| {
        let head =
            format!("Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n{more}");
        owners.0.send(&format!("POST /api/v1/{path} HTTP/1.1\r\n{head}\r\n{{"))
    };
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let mut all: Vec<_> = (0..254).map(|_| withheld("signup", "")).collect();
    all.push(withheld("session", ""));
    all.push(withheld("owner/bots", &bearer));
    // A slow body has its time.
    let wait_for = |time| all[0].set_read_timeout(Some(time)).expect("a timeout");
    wait_for(Duration::from_secs(8));
    assert!(std::io::Read::read(&mut &all[0], &mut [0]).is_err(), "no answer yet");
    wait_for(TIMEOUT);
    for mut stream in all {
        let mut answer = Vec::new();
        // What was sent to a closed connection resets it.
        let _ = std::io::Read::read_to_end(&mut stream, &mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let is_late = answer.starts_with("HTTP/1.1 408 ") && answer.contains("all of it within 15 s");
        assert!(is_late, "{answer}");
    }
    assert_eq!(owners.get("owner", &token)["id"], "ada", "the next one is served");
    drain(server);
}

#[test]
fn a_bot_that_was_added_may_connect_at_once() {
    let league = league("listen = \"127.0.0.1:0\"", "bots = 20\n[signup]\nmode = \"open\"", &[]);
    let (server, owners, address) = listening(&league);
    let mut token = owners.join("ada", None);
    let mut guests = Vec::new();
    for number in 0..10 {
        let name = format!("abacus-{number}");
        assert_eq!(owners.call("POST", "owner/bots", &token, &json!({ "name": name })).status, 201);
        guests.push(Guest::saying(address, &hello(&name, None, &token)));
        if number % 3 == 0 {
            // And with a new token.
            let made = owners.call("POST", "owner/token", &token, &Value::Null).json();
            made["token"].as_str().expect("a token").clone_into(&mut token);
            guests.push(Guest::saying(address, &hello(&name, None, &token)));
        }
    }
    drain(server);
    for mut guest in guests {
        // What is refused gets an error at once.
        assert_eq!(guest.receive()["type"], "bye", "{:?}", guest.received);
    }
}

#[test]
fn an_owner_takes_no_name_of_a_waiting_submission_and_has_no_more_bots_than_allowed() {
    let league = league("listen = \"127.0.0.1:0\"", "bots = 2\n[signup]\nmode = \"open\"", &[]);
    let (server, owners, _) = listening(&league);
    let (ada, eve) = (owners.join("ada", None), owners.join("eve", None));
    let add = |token: &str, name: &str| owners.call("POST", "owner/bots", token, &json!({ "name": name }));
    league.query(
        "INSERT INTO submissions (owner, bot, version, archive, size, state, received_at, changed_at) VALUES \
         ('ada', 'mouse', 1, '00', 1, 'waiting', '', ''), ('ada', 'mouse', 2, '00', 1, 'building', '', '')",
    );
    for (token, name) in [(&eve, "mouse"), (&eve, "Rnouse"), (&ada, "mouse")] {
        let refused = add(token, name);
        assert_eq!(refused.status, 400, "{name}: {}", refused.body);
        assert!(error(&refused).contains("looks like `mouse`, which is taken"), "{}", refused.body);
    }
    // The two submissions are one bot.
    assert_eq!([add(&ada, "cat").status, add(&ada, "dog").status], [201, 429]);
    drain(server);
}

#[test]
fn the_organiser_adopts_no_bot_of_an_owner_without_saying_so() {
    let league = league("listen = \"127.0.0.1:0\"", "[signup]\nmode = \"open\"", &[]);
    let (server, owners, _) = listening(&league);
    let eve = owners.join("eve", None);
    assert_eq!(owners.call("POST", "owner/bots", &eve, &json!({ "name": "alice" })).status, 201);
    let is_eves = "`alice` is a bot of the owner `eve`, who has signed up";
    league.run(&["add", "alice"]).with_code(2).says(&[is_eves, "say --owner 'eve'"]);
    league.run(&["add", "alice", "--owner", "Alice"]).with_code(2).says(&[is_eves]);
    assert_eq!(retire(&owners, "alice", &eve).status, 204);
    league.run(&["add", "alice"]).with_code(2).says(&[is_eves]);
    // A new bot with the id of an owner as its name would be hers.
    league.run(&["add", "eve"]).with_code(2).says(&["`eve` is an owner who has signed up"]);
    league.run(&["add", "eve", "--owner", "the organiser"]).done();
    league.run(&["add", "alice", "--owner", "eve"]).done();
    drain(server);
}

#[test]
fn no_name_of_an_owners_bot_keeps_the_server_from_starting() {
    let league = league("listen = \"127.0.0.1:0\"", "[signup]\nmode = \"open\"", &[("one", "")]);
    let (server, owners, _) = listening(&league);
    let eve = owners.join("eve", None);
    for name in ["stockf1sh", "lozza"] {
        assert_eq!(owners.call("POST", "owner/bots", &eve, &json!({ "name": name })).status, 201);
    }
    drain(server);
    let command = league.folder.plain_bot("bot-stockfish");
    let programs: String = ["stockfish", "lozza"]
        .iter()
        .map(|name| format!("[[programs]]\nname = {name:?}\ncommand = {command:?}\n"))
        .collect();
    let text = league.folder.read("league.toml");
    league.folder.write("league.toml", format!("{text}{programs}"));
    let mut server = league.serve();
    let played = receive_matches(&mut server, 4);
    assert!(played.iter().any(|one| one["players"].as_array().expect("names").contains(&json!("stockfish"))));
    drain(server).says(&[
        "program stockfish: its name looks like that of the bot `stockf1sh`",
        "program lozza does not play: another bot has this name",
    ]);
    // As it says.
    league.run(&["revoke", "stockf1sh"]).done();
    league.run(&["revoke", "lozza"]).done();
    let (server, _) = league.listening();
    let ended = drain(server);
    assert!(!ended.stderr.contains("looks like"), "{}", ended.stderr);
}

#[test]
fn only_sign_ups_without_an_invitation_count_for_a_network() {
    let tables = "[signup]\nmode = \"open\"\nper_network = 1\nper_day = 2";
    let league = league("listen = \"127.0.0.1:0\"", tables, &[]);
    let invitation = invite(&league, &["--uses", "3"]);
    let (server, owners, _) = listening(&league);
    for id in ["ada", "ben", "cleo"] {
        owners.join(id, Some(&invitation));
    }
    let token = owners.join("dan", None);
    assert_eq!(owners.sign_up("eve", None).status, 429);
    assert_eq!(owners.call("POST", "owner/leave", &token, &json!({ "id": "dan" })).status, 204);
    owners.join("eve", None);
    let refused = owners.sign_up("fay", None);
    assert!(refused.status == 429 && error(&refused).starts_with("1 a day"), "{}", refused.body);
    drain(server);
}

#[test]
fn challenges_end_with_the_bots_that_they_name_and_with_time() {
    let tables = "challenges_per_day = 9\n[signup]\nmode = \"open\"";
    let league = league("listen = \"127.0.0.1:0\"", tables, &[("one", ""), ("two", "")]);
    let (server, owners, _) = listening(&league);
    let ada = owners.join("ada", None);
    for name in ["first", "second"] {
        assert_eq!(owners.call("POST", "owner/bots", &ada, &json!({ "name": name })).status, 201);
    }
    let ask = |bots: [&str; 2]| {
        owners.call("POST", "owner/challenges", &ada, &json!({ "ladder": "short", "bots": bots }))
    };
    // None of them is connected.
    assert_eq!([ask(["first", "one"]).status, ask(["second", "two"]).status], [201, 201]);
    assert_eq!(error(&ask(["first", "one@7"])).split(':').next(), Some("`one@7` does not play on short"));
    assert_eq!(error(&ask(["one", "two"])), "one of them is yours");
    assert_eq!(challenges(&league), 2);
    let again = ask(["two", "second"]);
    let why = "a challenge between them waits, or is played, already";
    assert_eq!((again.status, error(&again)), (409, why.to_owned()));
    league.run(&["pause", "two"]).done();
    assert_eq!(error(&ask(["first", "two"])), "`two` is paused");
    league.run(&["resume", "two"]).done();
    // One is taken back, and not played when its bots are there.
    let waiting = owners.get("owner", &ada)["ladders"][0]["challenges"].clone();
    assert_eq!([&waiting[1]["players"], &waiting[1]["own"]], [&json!(["second", "two"]), &json!(true)]);
    let taken = owners.call("DELETE", &format!("owner/challenges/{}", waiting[1]["id"]), &ada, &Value::Null);
    assert_eq!((taken.status, challenges(&league)), (204, 1));
    assert_eq!(owners.call("DELETE", "owner/challenges/99", &ada, &Value::Null).status, 404);
    assert_eq!(ask(["second", "two"]).status, 201);
    let unsure = owners.call("POST", "owner/bots/first/retire", &ada, &json!({ "name": "second" }));
    assert_eq!(error(&unsure), "`name`: to retire a bot, send its name");
    assert_eq!(retire(&owners, "first", &ada).status, 204);
    wait_until("the challenge of the bot that retires goes", || challenges(&league) == 1);
    league.query("UPDATE challenges SET asked_at = '2020-01-01T00:00:00Z'");
    drain(server);
    let mut server = league.serve();
    receive_matches(&mut server, 1);
    wait_until("an old one expires", || challenges(&league) == 0);
    drain(server);
}

#[test]
fn an_owner_is_told_of_bots_that_are_away_or_fail() {
    let league = league("listen = \"127.0.0.1:0\"", "[signup]\nmode = \"open\"", &[("one", "")]);
    let (server, owners, address) = listening(&league);
    let ada = owners.join("ada", None);
    for name in ["crab", "eel"] {
        assert_eq!(owners.call("POST", "owner/bots", &ada, &json!({ "name": name })).status, 201);
    }
    let kinds = || -> Vec<(String, String)> {
        let notices = owners.get("owner", &ada)["notices"].clone();
        let text = |one: &Value, key: &str| one[key].as_str().expect("text").to_owned();
        let all = notices.as_array().expect("notices").iter();
        all.map(|one| (text(one, "bot"), text(one, "kind"))).collect()
    };
    assert_eq!(kinds(), []);
    // Neither was there since yesterday; one of them comes, and breaks the rules.
    league.query("UPDATE bots SET added_at = '2026-01-01T00:00:00Z'");
    let told = |bot: &str, kind: &str| (bot.to_owned(), kind.to_owned());
    assert_eq!(kinds(), [told("crab", "offline"), told("eel", "offline")]);
    let guest = Guest::saying(address, &hello("crab", None, &ada));
    wait_until("it is there", || kinds() == [told("eel", "offline")]);
    let online = |bot: &str| {
        let listed = league.run(&["list", "--json"]).done().all("bot");
        listed.iter().find(|one| one["name"] == bot).expect("it is listed")["online"].clone()
    };
    wait_until("the command knows", || [online("crab"), online("eel"), online("one")] == [true, false, true]);
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1001 UNION SELECT i + 1 FROM n WHERE i < 1010) INSERT INTO";
    league.query(&format!(
        "{numbers} matches (ladder, number, players, faults, ended_by, reason, is_challenge, is_rated, decisions, duration_us, \
         ended_at, season) SELECT 'short', i, '[\"crab\",\"one\"]', '[{{\"illegal_move\":1}},{{}}]', 'rules', 'x', 0, 0, 1, 1, \
         strftime('%Y-%m-%dT%H:%M:%SZ'), 1 FROM n"
    ));
    league.query(&format!("{numbers} seats SELECT 'short', 'crab', i, 0, 'crab', 1 FROM n"));
    assert_eq!(kinds(), [told("crab", "failing"), told("eel", "offline")]);
    assert_eq!(retire(&owners, "eel", &ada).status, 204);
    league.run(&["rule", "disqualify", "crab", "--reason", "it cheats"]).done();
    assert_eq!(kinds(), []);
    let ended = |at: usize| owners.get("owner", &ada)["bots"][at]["ended"].clone();
    assert_eq!([ended(0), ended(1)], ["disqualified", "retired"]);
    let listed = league.run(&["list"]).done().stdout;
    let line = |bot: &str| listed.lines().find(|line| line.contains(bot)).expect("it is listed").to_owned();
    assert!(
        line("crab").contains("disqualified") && line("crab").contains("illegal_move in m1010"),
        "{listed}"
    );
    assert!(line("eel").contains("retired") && line("one").contains("yes"), "{listed}");
    drop(guest);
    drain(server);
}

#[test]
fn a_class_list_gives_a_link_to_each() {
    let league = league("listen = \"127.0.0.1:0\"", "[signup]\nmode = \"invite\"", &[]);
    let class = "name,affiliation,contact\nAda Lovelace,\"London, UK\",ada@example.org\n\"Bob\",,\n";
    let file = league.folder.write("class.csv", class);
    let links = league.run(&["invite", "--from", &file]).done().stdout;
    let lines: Vec<&str> = links.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "name,affiliation,contact,id,link,expires"));
    let (ada, bob) = ("Ada Lovelace,\"London, UK\",ada@example.org,ada-lovelace,http", "Bob,,,bob,http");
    assert!(lines[1].starts_with(ada) && lines[2].starts_with(bob), "{links}");
    let secret = |line: usize| lines[line].split(['#', ',']).rev().nth(1).expect("a secret").to_owned();
    for (text, says) in [
        ("name\nAda\nada\n", "line 3: `ada` looks like the id of line 2"),
        ("name\n\u{3a9}\n", "a column `id` names the owner"),
        ("affiliation\nx\n", "line 2: it has no name"),
        ("name,grade\nAda,1\n", "unknown column `grade`"),
        ("name\n", "there is no owner in it"),
    ] {
        let file = league.folder.write("wrong.csv", text);
        league.run(&["invite", "--from", &file]).with_code(2).says(&[says]);
    }
    assert_eq!(league.query("SELECT count(*) FROM invitations"), "2", "all or nothing");
    let (server, owners, _) = listening(&league);
    assert_eq!(owners.sign_up("somebody", Some(&secret(1))).status, 403);
    let token = owners.join("ada-lovelace", Some(&secret(1)));
    let ada = league.run(&["owners", "--json"]).done().one("owner");
    assert_eq!([&ada["display_name"], &ada["affiliation"]], ["Ada Lovelace", "London, UK"]);
    assert_eq!(ada["contact"], "ada-lovelace@cup.example", "what it says itself");
    assert_eq!(owners.call("GET", "owner", &token, &Value::Null).status, 200);
    drain(server);
}

#[test]
fn members_of_a_team_have_tokens_of_their_own_and_an_owner_who_is_banned_comes_back() {
    let league = league("listen = \"127.0.0.1:0\"", "", &[]);
    league.run(&["owner", "add", "team"]).done();
    let (server, owners, address) = listening(&league);
    let named = |name: &str| -> String {
        let line = league.run(&["owner", "token", "team", "--name", name, "--json"]).done().one("owner");
        line["token"].as_str().expect("a token").to_owned()
    };
    let (ann, bob) = (named("ann"), named("bob"));
    let status = |token: &str| owners.call("GET", "owner", token, &Value::Null).status;
    assert_eq!([status(&ann), status(&bob)], [200, 200]);
    assert_eq!(owners.call("POST", "owner/bots", &ann, &json!({ "name": "crab" })).status, 201);
    let admits = |token: &str| {
        let guest = Guest::saying(address, &hello("crab", None, token));
        // A bot that is admitted waits for an opponent.
        !guest.hears_within(Duration::from_millis(300))
    };
    wait_until("both admit the bot", || admits(&ann) && admits(&bob));
    let line = league.run(&["owner", "token", "team", "--revoke", "bob", "--json"]).done().one("owner");
    assert_eq!(line["tokens"], json!(["ann"]));
    assert_eq!([status(&ann), status(&bob)], [200, 401]);
    wait_until("the bot is not admitted with it", || admits(&ann) && !admits(&bob));
    league
        .run(&["owner", "token", "team", "--revoke", "bob"])
        .with_code(2)
        .says(&["`team` has no token `bob`"]);
    league.run(&["owner", "ban", "team"]).done();
    assert_eq!(status(&ann), 403);
    let paused = || league.query("SELECT is_paused FROM bots WHERE name = 'crab'");
    assert_eq!(paused(), "4");
    wait_until("the bot is kept away", || !admits(&ann));
    league.run(&["owner", "ban", "team"]).with_code(2);
    league.run(&["owner", "unban", "team"]).done();
    assert_eq!((status(&ann), paused()), (200, "0".to_owned()));
    wait_until("the bot comes back", || admits(&ann));
    let log = league.run(&["log", "--json"]).done().stdout;
    assert!(log.contains("owner ban team") && log.contains("owner token team --revoke bob"), "{log}");
    drain(server);
}

#[test]
fn an_organiser_sees_and_decides_in_a_browser_what_the_command_does() {
    let tables = "[signup]\nmode = \"open\"\napprove = true\n[pages]\nannouncements = \"news\"";
    let league = league(
        "listen = \"127.0.0.1:0\"\nwatch = \"127.0.0.1:0\"",
        tables,
        &[("one", ""), ("two", ""), ("three", "")],
    );
    let text = league.folder.read("league.toml").replace("url = \"http://localhost\"\n", "");
    league.folder.write("league.toml", text);
    let mut server = league.serve();
    let owners = Owners::of(&mut server);
    let site = Site::of(&mut server);
    let ada = owners.join("ada", None);
    let added = league.run(&["organiser", "add", "jury", "--json"]).done().one("organiser");
    let jury = added["token"].as_str().expect("a token").to_owned();
    let decide = |decision: Value| owners.call("POST", "organiser/acts", &jury, &decision);
    let facts = || owners.get("organiser", &jury);
    // Neither tokens of owners nor those of organisers are taken for the other.
    assert_eq!(owners.call("GET", "organiser", &ada, &Value::Null).status, 401);
    assert_eq!(owners.call("GET", "owner", &jury, &Value::Null).status, 401);
    let played = receive_matches(&mut server, 1)[0]["id"].as_str().expect("an id").to_owned();
    wait_until("programs are online", || facts()["ladders"][0]["online"] == 3);
    let of = |list: &str, key: &str, name: &str, value: &str| {
        let facts = facts();
        let found = facts[list].as_array().expect("a list").iter().find(|one| one[key] == name).cloned();
        found.unwrap_or_else(|| panic!("{name} is not in {facts}"))[value].clone()
    };
    assert_eq!(of("owners", "id", "ada", "state"), "waiting");
    assert_eq!(decide(json!({ "act": "approve_owner", "owner": "ada" })).status, 204);
    assert_eq!(owners.call("POST", "owner/bots", &ada, &json!({ "name": "crab" })).status, 201);
    assert_eq!(of("bots", "name", "crab", "last_match"), Value::Null);
    assert_eq!(of("owners", "id", "ada", "handed_in"), true);
    let refused = decide(json!({ "act": "void", "ladder": "short", "match": &played, "reason": " " }));
    assert_eq!((refused.status, error(&refused)), (400, "`reason`: a ruling needs a reason".to_owned()));
    let reason = "a power cut";
    assert_eq!(
        decide(json!({ "act": "void", "ladder": "short", "match": &played, "reason": reason })).status,
        204
    );
    assert_eq!(
        decide(json!({ "act": "void", "ladder": "short", "match": "m999", "reason": reason })).status,
        409
    );
    assert_eq!(decide(json!({ "act": "disqualify", "bot": "nobody", "reason": reason })).status, 409);
    // A page of another site cannot act for an organiser.
    let cookie = format!("Content-Type: application/json\r\nCookie: referee_organiser={jury}\r\n");
    let by_cookie = |head: &str| {
        owners.ask("POST", "organiser/acts", &format!("{cookie}{head}"), "{\"act\": \"pause\"}").status
    };
    assert_eq!([by_cookie(""), by_cookie("Origin: http://evil.example\r\n")], [403, 403]);
    assert_eq!(facts()["paused"], false);
    browser::run("organiser.mjs", &[&owners.0.url("/organiser"), &jury]);
    assert_eq!(of("owners", "id", "ada", "state"), "banned");
    assert_eq!(of("bots", "name", "crab", "paused"), true);
    assert_eq!(of("ladders", "name", "short", "paused"), true);
    wait_until("it is announced", || site.get("/announcements").body.contains("Finals on Friday"));
    let log = league.run(&["log"]).done().stdout;
    let acts = [
        "owner approve ada",
        "rule: m",
        "pause --ladder short",
        "owner ban ada",
        "announce Finals on Friday",
    ];
    for act in acts {
        let line = log.lines().find(|line| line.contains(act)).unwrap_or_else(|| panic!("{act}: {log}"));
        assert!(line.contains("organiser jury"), "{line}");
    }
    league.run(&["organiser", "remove", "jury"]).done();
    assert_eq!(owners.call("GET", "organiser", &jury, &Value::Null).status, 401);
    drain(server);
}
