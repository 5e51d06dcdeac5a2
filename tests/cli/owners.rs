//! Owners: signing up, their tokens and cookies, leaving.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::TIMEOUT;
use crate::common::browser;
use crate::common::guest::Guest;
use crate::common::http::{Answer, Site};
use crate::common::league::{drain, hello, receive_matches};
use crate::common::owners::{Owners, challenges, error, invite, league, listening, retire, served};
use crate::watch::wait_until;

#[test]
fn owner_with_invitation_adds_bot_and_sees_its_matches() {
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

    // The organiser's list.
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
fn browser_signs_in_with_cookie_that_other_sites_cannot_use() {
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
fn replaced_token_admits_bots_for_an_hour_only() {
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
fn concurrent_new_tokens_give_out_one() {
    let league = league("", "[signup]\nmode = \"open\"", &[("anchor", "")]);
    let (server, owners) = served(&league);
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
fn waiting_owner_adds_no_bot_and_leaver_is_forgotten() {
    let league = league(
        "listen = \"127.0.0.1:0\"\nwatch = \"127.0.0.1:0\"",
        "[signup]\nmode = \"open\"\napprove = true",
        &[("anchor", "anchor = 0")],
    );
    let (mut server, owners) = served(&league);
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
fn browser_signs_up_with_invitation_and_looks_at_log() {
    let league = league(
        "listen = \"127.0.0.1:0\"\nwatch = \"127.0.0.1:0\"",
        "[signup]\nmode = \"invite\"",
        &[("anchor", "")],
    );
    let invitation = invite(&league, &[]);
    let (mut server, owners) = served(&league);
    Site::of(&mut server);
    let address = server.receive_type("listening")["address"].as_str().expect("text").to_owned();
    browser::run("owners.mjs", &[&owners.0.url("/"), &invitation, &address]);
    drain(server);
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
        // Bytes sent to a closed connection reset it.
        let _ = std::io::Read::read_to_end(&mut stream, &mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let is_late = answer.starts_with("HTTP/1.1 408 ") && answer.contains("all of it within 15 s");
        assert!(is_late, "{answer}");
    }
    assert_eq!(owners.get("owner", &token)["id"], "ada", "the next one is served");
    drain(server);
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
