//! Games whose rules are programs in everything that takes a game: tournaments, regression tests, leagues, hosts, people.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::http::Site;
use crate::common::league::{drain, receive_matches};
use crate::common::{Ended, Folder, ROOT, Referee, referee, sample};
use crate::game_program_failures::failing_at;
use crate::game_programs::{GAME, changed};
use crate::watch::wait_until;
use crate::workers::Coordinator;
#[cfg(feature = "nats")]
use crate::workers_nats::Server;

fn four() -> String {
    format!("python3 '{ROOT}/{GAME}/bot.py'")
}

/// A tournament of four bots in a game beside its file.
fn tournament(folder: &Folder) -> String {
    changed(folder, &[]);
    tournament_file(folder)
}

fn tournament_file(folder: &Folder) -> String {
    let (four, random) = (four(), sample("python/random_bot.py"));
    let entrant =
        |name: &str, command: &str| format!("[[entrants]]\nname = {name:?}\ncommand = {command:?}\n");
    let entrants = [("four", &four), ("same", &four), ("random", &random), ("other", &random)];
    let entrants: String = entrants.map(|(name, command)| entrant(name, command)).concat();
    let head = "game = \"game\"\nclock = \"none\"\njobs = 2\nopening_plies = 2\noptions = { columns = 6 }\n";
    folder.write("cup.toml", format!("{head}[format]\nkind = \"round_robin\"\n{entrants}"))
}

/// Answers take long on a busy machine.
const PATIENT: [(&str, &str); 1] = [("openings = 2", "openings = 2\nlimit_ms = 30000")];

#[test]
fn tournament_of_game_in_python_is_played_verified_and_published() {
    let folder = Folder::new();
    let (file, dir) = (tournament(&folder), folder.text("cup"));
    let check = referee(["tournament", "check", &file]).done().stdout;
    assert!(check.contains("connect_four: 4 entrants, 12 matches"), "{check}");
    let ended = referee(["tournament", "run", &file, "--dir", &dir, "--json"]).done();
    let matches = ended.all("match");
    assert_eq!(matches.len(), 12);
    assert!(matches.iter().all(|report| report["faults"] == json!([{}, {}])), "{matches:?}");
    // Both directories can be moved together.
    let moved = Folder::new();
    for name in ["game", "cup"] {
        fs::rename(folder.path(name), moved.path(name)).unwrap();
    }
    let dir = moved.text("cup");
    let verified = referee(["tournament", "verify", &dir]).done().stdout;
    assert!(verified.contains("12 results, 12 records, 0 differ"), "{verified}");
    let standings = referee(["tournament", "standings", &dir, "--json"]).done().one("standings");
    assert_eq!(standings["entrants"].as_array().map(Vec::len), Some(4), "{standings}");
    let status = referee(["tournament", "status", &dir]).done().stdout;
    assert!(status.starts_with("connect_four (connect_four): over, 12 matches played"), "{status}");
    let site = moved.text("site");
    referee(["tournament", "report", &dir, "--site", &site]).done();
    let page = fs::read_to_string(moved.path("site/matches/m1.html")).expect("a page");
    assert!(page.contains("Connect Four") || page.contains("connect_four"), "{page}");
    referee(["verify", &moved.text("site/matches/m1.html"), "--game", &moved.text("game")]).done();
    let text = referee(["tournament", "export", &dir, "--format", "text"]).done().stdout;
    assert!(text.contains("1. a") || text.contains("1. b") || text.contains("1. c"), "{text}");
}

#[test]
fn tournament_goes_on_with_rules_that_it_began_with() {
    let folder = Folder::new();
    let (file, dir) = (tournament(&folder), folder.text("cup"));
    let mut run = Referee::start(["tournament", "run", &file, "--dir", &dir, "--json"]);
    run.receive_type("match");
    run.signal(crate::common::Signal::INT);
    run.wait().with_code(130);
    let rules = folder.read("game/game.py");
    folder.write("game/game.py", format!("{rules}# changed\n"));
    let changed =
        ["changed since the tournament began: game.py", "with the copy in the directory of the tournament"];
    referee(["tournament", "resume", &dir]).with_code(0).says(&changed);
    let verified = referee(["tournament", "verify", &dir]).with_code(0).says(&changed).stdout;
    assert!(verified.contains(" 0 differ"), "{verified}");
    // Without that copy, one line says what is missing.
    let kept = folder.path("cup/games");
    fs::rename(&kept, folder.path("kept")).unwrap();
    let what = "the rules of connect_four have other files than those of the record: game.py";
    for command in ["verify", "resume", "standings"] {
        let refused = referee(["tournament", command, &dir]).with_code(2).says(&[what, "restore them"]);
        assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
    }
    fs::rename(folder.path("kept"), &kept).unwrap();
    // The directory of the game is not needed any more.
    fs::remove_dir_all(folder.path("game")).unwrap();
    let standings = referee(["tournament", "standings", &dir, "--json"]).done().one("standings");
    assert_eq!(standings["entrants"].as_array().map(Vec::len), Some(4), "{standings}");
    assert!(referee(["tournament", "verify", &dir]).with_code(0).stdout.contains(" 0 differ"));
    // A copy that was changed is not taken for the rules.
    let copies = fs::read_dir(&kept).unwrap().map(|entry| entry.unwrap().path());
    let copy = { copies }.find(|path| path.is_dir()).expect("a copy");
    fs::write(copy.join("game.py"), rules + "# forged\n").unwrap();
    referee(["tournament", "verify", &dir])
        .with_code(2)
        .says(&["its files have changed since they were kept"]);
}

/// Plays a shard of a regression test of the game in this folder.
fn shard(folder: &Folder, number: u32) -> Ended {
    let (game, bot) = (folder.text("game"), four());
    let (shard, results) = (format!("{number}/2"), folder.text(&format!("{number}.jsonl")));
    let seed = crate::common::SEED;
    let args = ["--clock", "none", "--max-sets", "8", "--seed", seed, "--opening-plies", "4"];
    let own = ["regress", &game, "--new", &bot, "--base", &bot, "--shard", &shard, "--results", &results];
    referee(own.iter().chain(&args).chain(&["--resume"]))
}

#[test]
fn regression_of_python_game_is_sharded_resumed_and_merged() {
    let folder = Folder::new();
    let game = changed(&folder, &PATIENT);
    for number in [1, 2] {
        shard(&folder, number).done();
    }
    let files = ["1.jsonl", "2.jsonl"].map(|name| folder.text(name));
    let merge =
        |more: &[&str]| referee(["regress", "merge", &files[0], &files[1], "--json"].iter().chain(more));
    let verdict = merge(&["--game", &game]).with_code(3).one("verdict");
    assert_eq!([&verdict["game"], &verdict["sets"]], [&json!("connect_four"), &json!(8)], "{verdict}");
    merge(&[])
        .with_code(2)
        .says(&["the rules of connect_four are a program: its directory is given with --game DIR"]);
    folder.write("game/rules.md", "# Other words\n");
    merge(&["--game", &game]).with_code(3);
    folder.write("game/game.py", folder.read("game/game.py") + "# changed\n");
    let what = "the rules of connect_four have other files than those of the record: game.py";
    merge(&["--game", &game]).with_code(2).says(&[what]);
    shard(&folder, 1).with_code(2).says(&["--resume: ", what]);
}

#[test]
fn the_report_of_a_tournament_counts_restarts_of_the_rules() {
    let folder = Folder::new();
    failing_at(&folder, 60, "os.kill(os.getpid(), 9)");
    let (file, dir) = (tournament_file(&folder), folder.text("cup"));
    let ended = referee(["tournament", "run", &file, "--dir", &dir, "--json"]).with_code(0);
    let restarts = ended.all("match").into_iter().filter_map(|report| report["rules_restarts"].as_u64());
    let restarts: Vec<u64> = restarts.filter(|&restarts| restarts > 0).collect();
    assert!(!restarts.is_empty(), "{ended:?}");
    let counted =
        |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let (matches, sum) = (restarts.len(), restarts.iter().sum::<u64>());
    let times = counted(sum as usize, "time", "times");
    let line = format!(
        "the rules failed and were asked again {times} in {}\n",
        counted(matches, "match", "matches")
    );
    let text = referee(["tournament", "report", &dir]).with_code(0).stdout;
    assert!(text.contains(&line), "{line}: {text}");
    let report = referee(["tournament", "report", &dir, "--format", "json"]).with_code(0).stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["rules_restarts"], json!({"matches": matches, "restarts": sum}), "{report}");
    referee(["tournament", "verify", &dir]).with_code(0);
}

#[test]
fn undrawable_page_says_so_and_costs_no_other() {
    let folder = Folder::new();
    // Rules that fail while pages are drawn: in the position of which they are told.
    let fails = "    request = json.loads(line)\n    \
                 if request['type'] == 'play' and ','.join(request['state']['columns']) == os.environ.get('PYTHON_UNDRAWN'):\n        \
                 sys.exit('undrawn')\n";
    changed(&folder, &[("    request = json.loads(line)\n", fails), ("import sys", "import os\nimport sys")]);
    let (file, dir, site) = (tournament_file(&folder), folder.text("cup"), folder.text("site"));
    referee(["tournament", "run", &file, "--dir", &dir]).done();
    // The position after the first moves of a match, at which no other one comes by.
    let positions: Vec<Vec<String>> = (1..=12)
        .map(|number| {
            let mut columns = vec![String::new(); 6];
            let record = folder.record(&format!("cup/records/m{number}.jsonl"));
            let moves = record.iter().filter_map(|line| line["event"]["move"].as_str());
            let after = moves.zip("ry".chars().cycle()).map(|(played, disc)| {
                columns[usize::from(played.as_bytes()[0] - b'a')].push(disc);
                columns.join(",")
            });
            let mut after: Vec<String> = after.collect();
            // From the last one nothing is played.
            after.pop();
            after
        })
        .collect();
    let (undrawn, position) = positions
        .iter()
        .enumerate()
        .find_map(|(at, of_match)| {
            let alone = |position: &&String| positions.iter().filter(|of| of.contains(position)).count() == 1;
            Some((at + 1, of_match.iter().find(alone)?))
        })
        .expect("matches differ");
    let mut report = Command::new(env!("CARGO_BIN_EXE_referee"));
    report.args(["tournament", "report", &dir, "--site", &site]).env("PYTHON_UNDRAWN", position);
    let ended = Referee::start_as(&mut report).end().with_code(0);
    assert!(ended.stderr.contains(&format!("m{undrawn}.jsonl: ")), "{ended:?}");
    let page = |number: usize| folder.read(&format!("site/matches/m{number}.html"));
    assert!(page(undrawn).contains("The replay of this match cannot be drawn."), "{}", page(undrawn));
    assert!((1..=12).all(|number| page(number).contains("id=\"player\"") == (number != undrawn)));
}

#[test]
fn a_league_has_a_ladder_of_a_game_in_python() {
    let folder = Folder::new();
    changed(&folder, &PATIENT);
    let programs = [("four", four()), ("random", sample("python/random_bot.py"))];
    let programs =
        programs.map(|(name, command)| format!("[[programs]]\nname = {name:?}\ncommand = {command:?}\n"));
    let ladder = "[[ladders]]\nname = \"four\"\ngame = \"./game\"\nrest = \"0s\"\n";
    let file =
        folder.write("league.toml", format!("[sandbox]\nmode = \"basic\"\n{ladder}{}", programs.concat()));
    let league = |args: &[&str]| referee(["league"].iter().chain(args).chain(&["--league", &file]));
    assert!(league(&["check"]).done().stdout.contains("four: connect_four, programs only"));
    let mut server = Referee::start(["serve", &file, "--json"]);
    receive_matches(&mut server, 3);
    drain(server);
    let summary = league(&["verify", "--json"]).done().one("summary");
    assert!(summary["results"].as_u64() >= Some(3) && summary["differing"] == 0, "{summary}");
    let standings = league(&["standings", "--json", "--from-records"]).done().one("standings");
    assert_eq!(standings["standings"].as_array().map(Vec::len), Some(2), "{standings}");
    // A match goes on after a restart.
    let mut server = Referee::start(["serve", &file, "--json"]);
    receive_matches(&mut server, 1);
    server.signal(crate::common::Signal::KILL);
    let mut server = Referee::start(["serve", &file, "--json"]);
    receive_matches(&mut server, 2);
    drain(server);
    league(&["verify"]).done();
}

#[test]
fn a_ladder_whose_rules_have_changed_keeps_its_history() {
    let folder = Folder::new();
    changed(&folder, &PATIENT);
    let bot = sample("python/random_bot.py");
    let programs = ["one", "two"].map(|name| format!("[[programs]]\nname = {name:?}\ncommand = {bot:?}\n"));
    let ladder = "[[ladders]]\nname = \"four\"\ngame = \"./game\"\nrest = \"0s\"\nwatch = \"127.0.0.1:0\"\n";
    let file =
        folder.write("league.toml", format!("[sandbox]\nmode = \"basic\"\n{ladder}{}", programs.concat()));
    let league = |args: &[&str]| referee(["league"].iter().chain(args).chain(&["--league", &file]));
    let play = || {
        let mut server = Referee::start(["serve", &file, "--json"]);
        let site = Site::of(&mut server);
        receive_matches(&mut server, 2);
        // The first match is replayed for its page.
        site.get("/matches/m1");
        site.get("/api/v1/matches/m1");
        let about = site.get("/api/v1/ladder").json();
        drain(server);
        about
    };
    assert_eq!(play()["rules_changed"], Value::Null);
    // Prose is no rule.
    folder.write("game/rules.md", "# Connect Four.\n");
    assert_eq!(play()["rules_changed"], Value::Null);
    assert!(!league(&["verify"]).done().stdout.contains("rules: "));
    folder.write("game/game.py", folder.read("game/game.py") + "# changed\n");
    let pending = "four: rules: game.py: changed; played after a restart of the server\n";
    let verified = league(&["verify"]).done().stdout;
    assert!(verified.contains(pending) && verified.contains(" 0 differ"), "{verified}");
    let changed = &play()["rules_changed"];
    assert_eq!(changed["changed"], json!(["game.py"]), "{changed}");
    let since = changed["since"].as_u64().expect("a number");
    assert!(since > 2, "{changed}");
    let line = format!("rules: game.py: changed; played since match {since} (");
    for command in ["verify", "standings"] {
        let text = league(&[command]).done().stdout;
        assert!(text.contains(&line), "{text}");
    }
    assert!(league(&["verify"]).done().stdout.contains(" 0 differ"));
    // A backup has them all.
    let backup = folder.text("backup");
    league(&["backup", &backup]).done();
    assert_eq!(fs::read_dir(folder.path("backup/ladders/four/games")).unwrap().count(), 4);
    let restored = referee(["league", "verify", "--league", &format!("{backup}/league.toml")]).done();
    assert!(restored.stdout.contains(" 0 differ"), "{}", restored.stdout);
    // Without the earlier files, one line says what is missing.
    let kept = folder.path("ladders/four/games");
    for entry in fs::read_dir(&kept).unwrap() {
        let program = entry.unwrap().path();
        if program.is_dir() && !fs::read_to_string(program.join("game.py")).unwrap().ends_with("# changed\n")
        {
            fs::remove_dir_all(program).unwrap();
        }
    }
    let refused = league(&["verify"]).with_code(2);
    assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
    refused.says(&["four: ", "the first of m1: ", "game.py", "restore it"]);
}

#[test]
fn a_ladder_whose_rules_fail_waits_while_others_are_played() {
    let folder = Folder::new();
    let broken = "    if request['type'] == 'play':\n        raise SystemExit('the rules are broken')\n";
    changed(
        &folder,
        &[("    request = json.loads(line)\n", &format!("    request = json.loads(line)\n{broken}"))],
    );
    let bot = sample("python/random_bot.py");
    let programs = ["one", "two"].map(|name| format!("[[programs]]\nname = {name:?}\ncommand = {bot:?}\n"));
    let ladder = |name: &str, game: &str| {
        format!("[[ladders]]\nname = {name:?}\ngame = {game:?}\nrest = \"0s\"\nwatch = \"127.0.0.1:0\"\n")
    };
    let ladders = ladder("broken", "./game") + &ladder("works", "xe_queo");
    let text = format!("[sandbox]\nmode = \"basic\"\n{ladders}{}", programs.concat());
    let file = folder.write("league.toml", text);
    let mut server = Referee::start(["serve", &file, "--json"]);
    let sites = [Site::of(&mut server), Site::of(&mut server)];
    let health = |of: usize| sites[of].ask("GET", "/healthz", "").body;
    wait_until("the failure is shown", || health(0).contains("rules: they failed in match after match"));
    assert!(sites[0].get("/metrics").body.contains("\nreferee_league_rules_failing 1\n"));
    assert_eq!(health(1), "ok\n");
    receive_matches(&mut server, 2);
    let bots = sites[0].get("/api/v1/standings").json();
    let rows = bots["standings"].as_array().expect("rows");
    assert!(rows.iter().all(|row| row["faulted"] == 0 && row["matches"] == 0), "{bots}");
    drain(server);
}

#[test]
fn a_host_opens_matches_of_a_game_in_python() {
    let mut host = Referee::start(["stdio", "--game", GAME, "--clock", "none"]);
    host.receive_type("hello");
    host.send(json!({"type": "hello", "protocol": 1, "name": "host", "slots": 1}));
    host.send(json!({"type": "open", "game": "connect_four", "options": {"columns": 4, "rows": 4}, "auto_ready": true}));
    let mut moves = 0;
    let end = loop {
        let message = host.receive();
        match message["type"].as_str() {
            Some("turn") => {
                let first: &Value = &message["legal"][0];
                let seat = &message["seat"];
                host.send(json!({"type": "move", "match": message["match"], "seat": seat, "turn": message["turn"], "move": first}));
                moves += 1;
            }
            Some("end") => break message,
            _ => {}
        }
    };
    // Four discs in the first columns, bottom to top, make no line of four before the diagonal.
    assert!(moves >= 7 && end["ended_by"] == "rules", "{moves}: {end}");
    host.receive_type("end");
    host.end().done();
    let random = ["stdio", GAME, "-n", "1"];
    let mut host = Referee::start(random);
    host.receive_type("hello");
    host.send(json!({"type": "hello", "protocol": 1, "name": "host"}));
    assert_eq!(host.receive_type("start")["game"], "connect_four");
}

#[test]
fn a_person_and_an_agent_play_a_game_in_python() {
    let bot = four();
    let mut person = Referee::start(["human", GAME, &bot]);
    person.write("d\n\nresign\n\n");
    let text = person.end().done().stdout;
    assert!(
        text.contains("connect_four: human - four") && text.contains("four wins (resignation)"),
        "{text}"
    );
    assert!(text.contains(". . . r . . .\na b c d e f g\n"), "{text}");
    let mut agent = Referee::start(["mcp", GAME, &bot]);
    agent.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}));
    assert_eq!(agent.receive()["id"], 1);
    agent.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    agent.send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "rules", "arguments": {}}}));
    assert!(agent.receive().to_string().contains("# Connect Four"));
}

#[test]
fn a_game_in_python_has_a_schema() {
    let schema: Value = serde_json::from_str(&referee(["schema", GAME]).done().stdout).expect("JSON");
    assert_eq!(schema["$defs"]["Options"]["properties"]["columns"]["default"], 7, "{schema}");
    assert_eq!(schema["$defs"]["View"]["properties"]["rows"]["maximum"], 9, "{schema}");
    assert_eq!(schema["$defs"]["Move"]["pattern"], "^[a-i]$", "{schema}");
    let folder = Folder::new();
    let game = changed(&folder, &[("\"Event\": false", "\"Event\": 1")]);
    let refused = referee(["schema", &game]).with_code(2);
    assert!(refused.stderr.contains("schema.json: `Event` is no schema; expected an object"), "{refused:?}");
}

#[test]
fn workers_get_the_rules_of_a_game_in_python() {
    let folder = Folder::new();
    let (file, dir) = (tournament(&folder), folder.text("cup"));
    let coordinator = Coordinator::start(&["run", &file, "--dir", &dir]);
    let cache = folder.text("cache");
    let worker = coordinator.worker("box", &["--slots", "2", "--until-empty", "--json", "--cache", &cache]);
    let matches = coordinator.process.end().done().all("match");
    assert_eq!(worker.end().done().all("verdict").len(), 6);
    assert_eq!(matches.len(), 12);
    assert!(matches.iter().all(|report| report["faults"] == json!([{}, {}])), "{matches:?}");
    assert!(matches.iter().all(|report| report["worker"] == "box"), "{matches:?}");
    let verified = referee(["tournament", "verify", &dir]).done().stdout;
    assert!(verified.contains("12 results, 12 records, 0 differ"), "{verified}");
}

#[cfg(feature = "nats")]
#[test]
fn workers_over_nats_get_rules_of_game_in_python() {
    let folder = Folder::new();
    let (file, dir) = (tournament(&folder), folder.text("cup"));
    let server = Server::start();
    let coordinator = server.coordinator(&["run", &file, "--dir", &dir]);
    let worker = server.worker("other", &["--until-empty"]);
    assert_eq!(coordinator.end().done().all("match").len(), 12);
    worker.end().with_code(0);
    referee(["tournament", "verify", &dir]).done();
}

#[test]
fn a_tournament_whose_rules_fail_stops_and_blames_nobody() {
    let folder = Folder::new();
    let file = tournament(&folder);
    let rules = folder.read("game/game.py");
    let broken = rules.replace(
        "    state[\"columns\"][column] +=",
        "    if sum(map(len, state[\"columns\"])) > 5: sys.exit(3)\n    state[\"columns\"][column] +=",
    );
    assert_ne!(rules, broken);
    folder.write("game/game.py", broken);
    let dir = folder.text("cup");
    let run = ["tournament", "run", &file, "--dir", &dir];
    referee(run).with_code(5).says(&["the rules failed in 10 matches in a row"]);
    let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
    assert!(status["void_for"]["rules_failed"].as_u64() >= Some(4), "{status}");
    let standings = referee(["tournament", "standings", &dir, "--json"]).done().one("standings");
    let entrants = standings["entrants"].as_array().expect("entrants");
    assert!(
        entrants.iter().all(|entrant| entrant["faulted"] == 0 && entrant["points"] == 0.0),
        "{standings}"
    );
    referee(["tournament", "verify", &dir]).done();
    let dir = folder.text("workers");
    let coordinator = Coordinator::start(&["run", &file, "--dir", &dir]);
    let worker = coordinator.worker("box", &["--cache", &folder.text("cache"), "--until-empty"]);
    coordinator.process.end().with_code(5).says(&["the rules failed in 10 matches in a row"]);
    worker.signal(crate::common::Signal::INT);
    worker.wait();
    let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
    assert_eq!(status["workers"]["workers"][0]["refused"], 0, "{status}");
}
