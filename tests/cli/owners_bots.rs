//! The bots of owners: names, challenges, logs, notices.

use serde_json::{Value, json};

use crate::common::Folder;
use crate::common::guest::Guest;
use crate::common::league::{drain, hello, receive_matches};
use crate::common::owners::{challenges, error, invite, league, listening, retire, served};
use crate::publish::talkative;
use crate::watch::wait_until;

#[test]
fn only_its_owner_sees_what_a_bot_says_in_private() {
    let folder = Folder::new();
    let command = talkative(&folder);
    let league = league("", "[signup]\nmode = \"invite\"", &[("two", "")]);
    let text = league.folder.read("league.toml");
    let program = format!("[[programs]]\nname = \"talkative\"\ncommand = {command:?}\nowner = \"ada\"\n");
    league.folder.write("league.toml", format!("{text}{program}"));
    let [of_ada, of_ben] = ["ada", "ben"].map(|id| invite(&league, &["--owner", id]));
    let (mut server, owners) = served(&league);
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
        // A rejected `hello` gets an error at once.
        assert_eq!(guest.receive()["type"], "bye", "{:?}", guest.received);
    }
}

#[test]
fn owner_takes_no_waiting_name_and_keeps_bot_limit() {
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
fn no_name_of_owners_bot_keeps_server_from_starting() {
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
fn challenges_end_with_bots_that_they_name_and_with_time() {
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
fn owner_is_told_of_bots_that_are_away_or_fail() {
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
fn owner_is_told_of_bot_that_is_excluded() {
    let league = league("", "[signup]\nmode = \"invite\"", &[("one", ""), ("two", "owner = \"ada\"")]);
    league.folder.bot("bot-two", "os._exit(3)");
    let invitation = invite(&league, &["--owner", "ada"]);
    let (server, owners) = served(&league);
    let ada = owners.join("ada", Some(&invitation));
    wait_until("it is excluded", || {
        let notice = owners.get("owner", &ada)["notices"][0].clone();
        [&notice["bot"], &notice["kind"], &notice["ladder"]] == ["two", "excluded", "short"]
    });
    drain(server);
}
