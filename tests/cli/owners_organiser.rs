//! Decisions of the organiser on owners: limits, class lists, teams, bans.

use std::time::Duration;

use serde_json::{Value, json};

use crate::common::Signal;
use crate::common::browser;
use crate::common::guest::Guest;
use crate::common::http::Site;
use crate::common::league::{drain, hello, receive_matches};
use crate::common::owners::{Owners, error, league, listening, retire, served};
use crate::watch::wait_until;

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
    // An invalid file has no effect at all.
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

#[test]
fn organiser_adopts_no_bot_of_owner_without_saying_so() {
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
        ("name\n\u{3a9}\n", "line 2: ``: "),
        ("name\n\u{3a9}\n", "a column `id` names the owner"),
        ("affiliation\nx\n", "line 2: it has no name"),
        ("name,grade\nAda,1\n", "unknown column `grade`"),
        ("name\n", "there is no owner in it"),
    ] {
        let file = league.folder.write("wrong.csv", text);
        league.run(&["invite", "--from", &file]).with_code(2).says(&[says]);
    }
    assert_eq!(league.query("SELECT count(*) FROM invitations"), "2", "all or nothing");
    let file = league.folder.write("letters.csv", "name\nZo\u{eb} \u{3a9}\nRen\u{e9}\n");
    let ended = league.run(&["invite", "--from", &file]).with_code(0);
    assert_eq!(
        ended.stderr,
        "line 2: the id of `Zo\u{eb} \u{3a9}` is `zoe`, without `\u{3a9}`; a column `id` names another\n"
    );
    assert!(
        ended.stdout.contains("\u{3a9},,,zoe,http") && ended.stdout.contains(",,,rene,http"),
        "{}",
        ended.stdout
    );
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
fn members_have_own_tokens_and_banned_owner_comes_back() {
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
fn organiser_sees_and_decides_in_browser_what_command_does() {
    let tables = "[signup]\nmode = \"open\"\napprove = true\n[pages]\nannouncements = \"news\"\n\
                  [[events]]\nat = \"2099-12-03T20:00:00Z\"\nwhat = \"freeze\"\nladder = \"short\"\n\
                  [[events]]\nat = \"2026-01-02T09:00:00Z\"\nwhat = \"close\"\nladder = \"other\"\n\
                  [[events]]\nat = \"2099-12-04T09:00:00Z\"\nwhat = \"open\"\nladder = \"other\"";
    let league = league(
        "listen = \"127.0.0.1:0\"\nwatch = \"127.0.0.1:0\"\n[[ladders]]\nname = \"other\"\ngame = \"checkers\"\nwatch = \"127.0.0.1:0\"",
        tables,
        &["one", "two", "three"].map(|name| (name, "ladders = [\"short\"]")),
    );
    let (mut server, owners) = served(&league);
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
    let freeze = json!({ "at": "2099-12-03T20:00:00Z", "what": "freeze", "ladder": "short" });
    let open = json!({ "at": "2099-12-04T09:00:00Z", "what": "open", "ladder": "other" });
    assert_eq!(facts()["events"], json!([freeze, open]));
    assert_eq!(of("ladders", "name", "other", "paused"), false, "nobody can resume what an event has closed");
    assert_eq!(of("ladders", "name", "other", "closed_since"), "2026-01-02T09:00:00Z");
    assert_eq!(decide(json!({ "act": "pause" })).status, 204);
    assert_eq!(of("ladders", "name", "short", "paused"), false, "what is paused is the league");
    assert_eq!(decide(json!({ "act": "resume" })).status, 204);
    assert_eq!(of("owners", "id", "ada", "state"), "waiting");
    assert_eq!(decide(json!({ "act": "approve_owner", "owner": "ada" })).status, 204);
    assert_eq!(owners.call("POST", "owner/bots", &ada, &json!({ "name": "crab" })).status, 201);
    assert_eq!(of("bots", "name", "crab", "last_match"), Value::Null);
    assert_eq!(of("owners", "id", "ada", "handed_in"), true);
    assert!(facts()["disk"]["free"].as_u64() > Some(0) && facts()["faults"] == json!([]), "{}", facts());
    league.query(
        "INSERT INTO matches (ladder, number, players, faults, ended_by, reason, is_challenge, is_rated, decisions, \
         duration_us, ended_at, season) SELECT 'short', 1001, '[\"one\",\"two\"]', '[{\"illegal_move\":1},{}]', 'rules', \
         'x', 0, 0, 1, 1, strftime('%Y-%m-%dT%H:%M:%SZ'), 1",
    );
    let fault = facts()["faults"][0].clone();
    let said = ["ladder", "id", "player", "fault"].map(|key| fault[key].clone());
    assert_eq!(said, ["short", "m1001", "one", "illegal_move"]);
    // It is there, and has not played for long.
    let is_stuck = || of("bots", "name", "three", "stuck") == true;
    wait_until("it is stuck", || {
        let then = "'2026-01-01T00:00:00Z'";
        league.query(&format!("UPDATE bots SET added_at = {then}"));
        league.query(&format!("UPDATE players SET last_seen = {then} WHERE name = 'three'"));
        is_stuck()
    });
    wait_until("it plays again", || !is_stuck());
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
