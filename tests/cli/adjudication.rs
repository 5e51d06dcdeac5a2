//! Matches that the referee ends by the scores that bots state, after the most moves, or by tables of endgames.

use serde_json::{Value, json};

use crate::common::league::{League, drain, receive_matches};
use crate::common::{Folder, SEED, Signal, referee, the};
use crate::records::{changed, line_of, resealed};
use crate::workers::{Coordinator, wait_until, worker_of};

/// A bot of chess that moves a knight out and back, which is legal in every position of the match, and states the scores of
/// this Python expression of its turn `n`.
fn knights(folder: &Folder, name: &str, score: &str) -> String {
    let script = format!(
        "def turn(t):
    n = t['turn']
    score = {score}
    moves = ['g1f3', 'f3g1'] if t['seat'] == 0 else ['g8f6', 'f6g8']
    info = {{}} if score is None else {{'info': {{'score': score, 'depth': 9, 'text': 'secret'}}}}
    move(t, moves[n % 2], **info)
play(turn=turn)"
    );
    folder.bot(name, &script)
}

/// The record of a match of these bots with these options, and its file.
fn played(folder: &Folder, bots: [&str; 2], options: &[&str]) -> (Vec<Value>, String) {
    let records = folder.text("records");
    let never = ["--set", "repetitions=0", "--seed", SEED, "--record", &records];
    referee([&["play", "chess", bots[0], bots[1]][..], &never, options].concat()).done();
    let file = folder.text("records/m1.jsonl");
    assert_eq!(referee(["verify", &file]).done().stdout, format!("{file}: ok\n"));
    (folder.record("records/m1.jsonl"), file)
}

#[test]
fn both_bots_agree_that_one_has_lost() {
    let folder = Folder::new();
    let loser = knights(&folder, "loser", "-600 if n >= 3 else -599");
    let winner = knights(&folder, "winner", "600");
    let (record, file) = played(&folder, [&loser, &winner], &["--resign", "score=600,moves=3"]);
    let result = the("result", &record);
    assert_eq!([&result["ended_by"], &result["reason"]], ["adjudication", "resign"]);
    assert_eq!([&result["ranks"], &result["decisions"]], [&json!([2, 1]), &json!(11)], "{result}");
    assert_eq!(record[0]["adjudication"], json!({"resign": {"score": 600, "moves": 3}}));

    // It is named wherever the result is shown.
    let pgn = referee(["export", &file, "--format", "pgn"]).done().stdout;
    assert!(pgn.contains("[Result \"0-1\"]") && pgn.contains("[Termination \"adjudication\"]"), "{pgn}");
    let shown = referee(["show", &file]).done().stdout;
    assert!(shown.contains("adjudication"), "{shown}");

    // A record in which the rule did not hold, or held before, does not verify.
    let text = std::fs::read_to_string(&file).expect("a record");
    let weaker = changed(&text, line_of(&text, "answer", "\"turn\":5"), "\"score\": -600", "\"score\": -599");
    let none = changed(&text, 1, ",\"adjudication\":{\"resign\":{\"score\":600,\"moves\":3}}", "");
    let later = changed(&text, 1, "\"moves\":3", "\"moves\":4");
    let earlier = changed(&text, 1, "\"moves\":3", "\"moves\":2");
    for (other, says) in [
        (weaker, "this cannot happen here: `{\"type\":\"result\""),
        (none, "this cannot happen here: `{\"type\":\"result\""),
        (later, "this cannot happen here: `{\"type\":\"result\""),
        (earlier, "but the rules give `{\"type\":\"result\""),
    ] {
        let file = folder.write("other.jsonl", resealed(&other));
        let verified = referee(["verify", &file]).with_code(1).stdout;
        assert!(verified.contains(says), "{says}: {verified}");
    }

    // The public form keeps the scores, on which the result rests, and nothing else that bots said.
    let public = folder.text("public");
    referee(["publish", &file, "--info", "never", "--to", &public]).done();
    let shown = std::fs::read_to_string(folder.path("public/m1.jsonl")).expect("a record");
    assert!(shown.contains("\"info\":{\"score\":-600}") && !shown.contains("secret"), "{shown}");
    referee(["verify", &folder.text("public/m1.jsonl")]).done();
}

#[test]
fn one_side_suffices_where_the_rule_says_so() {
    let folder = Folder::new();
    let (loser, silent) = (knights(&folder, "loser", "-900"), knights(&folder, "silent", "None"));
    let (record, _) =
        played(&folder, [&silent, &loser], &["--resign", "score=600,moves=3,one-sided", "--max-moves", "20"]);
    let result = the("result", &record);
    assert_eq!([&result["reason"], &result["ranks"]], [&json!("resign"), &json!([1, 2])], "{result}");
    assert_eq!(result["decisions"], 6);
}

#[test]
fn level_scores_and_the_most_moves_are_draws() {
    let folder = Folder::new();
    let (level, silent) = (knights(&folder, "level", "-10"), knights(&folder, "silent", "None"));
    let rules = ["--draw", "score=10,moves=4,after=6", "--max-moves", "9"];
    for (other, reason, decisions) in [(&level, "draw", 12), (&silent, "max_moves", 18)] {
        let folder = Folder::new();
        let (record, _) = played(&folder, [&level, other], &rules);
        let result = the("result", &record);
        let expected =
            json!({"ended_by": "adjudication", "reason": reason, "ranks": [1, 1], "decisions": decisions});
        for (key, value) in expected.as_object().expect("an object") {
            assert_eq!(&result[key], value, "{result}");
        }
    }
}

#[test]
fn a_tournament_and_a_regression_adjudicate() {
    let folder = Folder::new();
    let bot = knights(&folder, "level", "0");
    let toml = format!(
        "game = \"chess\"\nresign = \"score=600,moves=3\"\ndraw = \"score=10,moves=3\"\nmax_moves = 90\n[format]\nkind = \"round_robin\"\n\
         [[entrants]]\nname = \"a\"\ncommand = \"{bot}\"\n[[entrants]]\nname = \"b\"\ncommand = \"{bot}\"\n"
    );
    let (file, cup) = (folder.write("cup.toml", toml), folder.text("cup"));
    referee(["tournament", "run", &file, "--dir", &cup]).done();
    let report = referee(["tournament", "report", &cup]).done().stdout;
    let rules = "resign score=600,moves=3; draw score=10,moves=3,after=0; max-moves 90";
    assert!(report.contains(rules), "{report}");
    let matches = referee(["tournament", "export", &cup, "--format", "csv"]).done().stdout;
    assert!(matches.contains("adjudication,draw"), "{matches}");
    referee(["verify", &folder.text("cup/records")]).done();

    let regress = ["regress", "chess", "--new", &bot, "--base", &bot, "--opening-plies", "0"];
    let ended = referee([&regress[..], &["--fixed", "1", "--max-moves", "3", "--json"]].concat()).done();
    assert!(ended.all("match").iter().all(|line| line["reason"] == "max_moves"), "{}", ended.stdout);
}

#[test]
fn a_ladder_adjudicates_and_its_finals_do() {
    let folder = Folder::new();
    let (loser, winner) = (knights(&folder, "loser", "-600"), knights(&folder, "winner", "600"));
    let rules = "resign = \"score=600,moves=2\"\ndraw = \"score=10,moves=8,after=40\"\nmax_moves = 30\n";
    let tables = format!("syzygy = \"{TABLES}\"\n");
    let toml = format!(
        "[sandbox]\nmode = \"basic\"\n[[ladders]]\nname = \"knights\"\ngame = \"chess\"\noptions = {{ repetitions = 0 }}\n\
         rest = \"0s\"\nhello_limit = \"60s\"\n{rules}{tables}\
         [[programs]]\nname = \"loser\"\ncommand = \"{loser}\"\n[[programs]]\nname = \"winner\"\ncommand = \"{winner}\"\n"
    );
    let league = League { file: folder.write("league.toml", toml), folder };
    let mut server = league.serve();
    for played in receive_matches(&mut server, 4) {
        assert_eq!([&played["ended_by"], &played["reason"]], ["adjudication", "resign"], "{played}");
    }
    drain(server);
    assert!(league.verify() >= 4);
    let standings = league.standings(&[])["standings"].clone();
    assert_eq!(
        [&standings[0]["player"], &standings[1]["wins"]],
        [&json!("winner"), &json!(0)],
        "{standings}"
    );

    let trusted = || league.run(&["verify", "--json"]).with_code(0).one("summary")["tables_trusted"].clone();
    assert_eq!(trusted(), 0, "the tables that the ladder names are there");
    let text = league.folder.read("league.toml");
    league.folder.write("league.toml", text.replace(&tables, "syzygy = \"nowhere\"\n"));
    assert!(trusted().as_u64() >= Some(4), "{}", trusted());
    league.folder.write("league.toml", &text);

    let finals = league.folder.text("finals");
    let ended = league.run(&["finals", "--top", "2", "--dir", &finals, "--json"]).done();
    assert!(ended.all("match").iter().all(|played| played["reason"] == "resign"), "{}", ended.stdout);
    let written = league.folder.read("finals/tournament.toml");
    assert!(rules.lines().all(|rule| written.contains(rule)) && written.contains(&tables), "{written}");

    let three = league.folder.read("league.toml").replace(&tables, "");
    let three = three.replace("game = \"chess\"", "game = \"keezen\"\nseats = 6");
    let three = league.folder.write("three.toml", three.replace("options = { repetitions = 0 }\n", ""));
    referee(["league", "check", "--league", &three]).with_code(2).says(&["adjudication needs two sides"]);
}

/// The Syzygy tables of three pieces.
const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/syzygy");

/// A bot of chess that promotes its pawn, or moves it to a king that captures it; else it moves its king.
fn pawn_mover(folder: &Folder, name: &str) -> String {
    let script = "def turn(t):
    pawn = [m for m in t['legal'] if m in ('a7a8q', 'e2e3')]
    move(t, (pawn or t['legal'])[0])
play(turn=turn)";
    folder.bot(name, script)
}

#[test]
fn tables_end_a_match_after_a_move_of_a_pawn() {
    let folder = Folder::new();
    let bot = pawn_mover(&folder, "bot");
    let won = "8/P7/8/4k3/8/8/8/K7 w - - 0 1";
    for (fen, ranks) in [
        (won, [1, 2]),
        ("8/8/8/8/4k3/8/4P3/K7 w - - 0 1", [1, 1]),
        // The position of a match of Chess960 without castling rights is the same.
        ("8/P7/8/4k3/8/8/8/4K2R w - - 0 1", [0, 0]),
    ] {
        let folder = Folder::new();
        let records = folder.text("records");
        let fen = format!("fen={fen}");
        let args =
            ["play", "chess", &bot, &bot, "--set", &fen, "--set", "variant=chess960", "--syzygy", TABLES];
        referee([&args[..], &["--max-moves", "2", "--record", &records]].concat()).done();
        let record = folder.record("records/m1.jsonl");
        let result = the("result", &record);
        if ranks == [0, 0] {
            // More pieces than tables.
            assert_eq!(result["reason"], "max_moves", "{result}");
            continue;
        }
        assert_eq!([&result["ended_by"], &result["reason"]], ["adjudication", "tablebases"], "{result}");
        assert_eq!([&result["ranks"], &result["decisions"]], [&json!(ranks), &json!(1)], "{result}");
        assert_eq!(record[0]["adjudication"], json!({"max_moves": 2, "syzygy": {"pieces": 3}}));
        assert!(!record[0].to_string().contains("fixtures"), "the directory is not public");
        let shown = referee(["show", &folder.text("records/m1.jsonl")]).done().stdout;
        assert!(shown.contains("tablebases"), "{shown}");
    }
}

#[test]
fn verdict_of_tables_is_recomputed_where_they_are() {
    let folder = Folder::new();
    let bot = pawn_mover(&folder, "bot");
    let records = folder.text("records");
    let fen = "fen=8/P7/8/4k3/8/8/8/K7 w - - 0 1";
    referee(["play", "chess", &bot, &bot, "--set", fen, "--syzygy", TABLES, "--record", &records]).done();
    let file = folder.text("records/m1.jsonl");
    let without = referee(["verify", &file]).done().stdout;
    assert_eq!(without, format!("{file}: ok; what tables say was not recomputed (--syzygy DIR)\n"));
    let line = referee(["verify", &file, "--json"]).done().one("record");
    assert_eq!([&line["ok"], &line["tables_trusted"]], [&json!(true), &json!(true)], "{line}");
    assert_eq!(referee(["verify", &file, "--syzygy", TABLES]).done().stdout, format!("{file}: ok\n"));

    // Another verdict is one that only tables can refuse.
    let text = std::fs::read_to_string(&file).expect("a record");
    let result = line_of(&text, "result", "");
    let lost = changed(
        &text,
        result,
        "\"ranks\":[1,2],\"scores\":[1.0,0.0]",
        "\"ranks\":[2,1],\"scores\":[0.0,1.0]",
    );
    let lost = folder.write("lost.jsonl", resealed(&lost));
    referee(["verify", &lost]).done();
    let verified = referee(["verify", &lost, "--syzygy", TABLES]).with_code(1).stdout;
    assert!(verified.contains("but the rules give `{\"type\":\"result\""), "{verified}");
    // Tables end no match after a quiet move, with more pieces, or if the set-up does not say so.
    let fewer = changed(&text, 1, "\"pieces\":3", "\"pieces\":2");
    let none = changed(&text, 1, ",\"adjudication\":{\"syzygy\":{\"pieces\":3}}", "");
    for other in [fewer, none] {
        let other = folder.write("other.jsonl", resealed(&other));
        let verified = referee(["verify", &other]).with_code(1).stdout;
        assert!(verified.contains("this cannot happen here: `{\"type\":\"result\""), "{verified}");
    }
}

#[test]
fn quiet_moves_are_not_adjudicated_by_tables() {
    let folder = Folder::new();
    let bot = folder.bot(
        "bot",
        "def turn(t):\n    move(t, [m for m in t['legal'] if not m.startswith('b1')][0])\nplay(turn=turn)",
    );
    let args =
        ["play", "chess", &bot, &bot, "--set", "fen=8/8/8/4k3/8/8/8/KQ6 w - - 0 1", "--syzygy", TABLES];
    let ended = referee([&args[..], &["--max-moves", "1", "--json"]].concat()).done();
    assert_eq!(ended.one("match")["reason"], "max_moves");
}

#[test]
fn tables_that_cannot_adjudicate_are_named() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let (missing, empty) = (folder.text("missing"), folder.text("empty"));
    std::fs::create_dir(&empty).expect("a directory");
    let play = |game: &'static str, tables: &str| {
        referee(["play", game, &bot, &bot, "--syzygy", tables]).with_code(2)
    };
    play("chess", &missing).says(&["--syzygy ", "missing: ", "No such file or directory"]);
    for args in [vec!["human", "chess", &bot], vec!["stdio", "chess", "-n", "1"]] {
        let refused = referee([&args[..], &["--syzygy", &missing]].concat()).with_code(2);
        refused.says(&["--syzygy ", "missing: "]);
    }
    play("chess", &empty).says(&["empty: there are no Syzygy tables of chess"]);
    play("checkers", TABLES).says(&["checkers has no Syzygy tables; only chess has"]);
    let whole = std::fs::read(format!("{TABLES}/KPvK.rtbw")).expect("a table");
    folder.write("empty/KPvK.rtbw", &whole[..2064]);
    play("chess", &empty).says(&["KPvK.rtbw: the file is damaged"]);
}

#[test]
fn tables_adjudicate_a_tournament_a_regression_and_a_race() {
    let folder = Folder::new();
    let bot = pawn_mover(&folder, "bot");
    let fen = "8/P7/8/4k3/8/8/8/K7 w - - 0 1";
    let tables = folder.text("tables");
    std::os::unix::fs::symlink(TABLES, &tables).expect("a link");
    let toml = format!(
        "game = \"chess\"\nsyzygy = \"tables\"\noptions = {{ fen = \"{fen}\" }}\n[format]\nkind = \"round_robin\"\n\
         [[entrants]]\nname = \"a\"\ncommand = \"{bot}\"\n[[entrants]]\nname = \"b\"\ncommand = \"{bot}\"\n"
    );
    let (file, cup) = (folder.write("cup.toml", toml), folder.text("cup"));
    referee(["tournament", "run", &file, "--dir", &cup]).done();
    let report = referee(["tournament", "report", &cup]).done().stdout;
    assert!(report.contains("syzygy") && !report.contains("tables"), "{report}");
    let matches = referee(["tournament", "export", &cup, "--format", "csv"]).done().stdout;
    assert!(matches.contains("adjudication,tablebases"), "{matches}");
    referee(["verify", &folder.text("cup/records"), "--syzygy", &tables]).done();
    let verified = || {
        referee(["tournament", "verify", &cup, "--json"]).with_code(0).one("summary")["tables_trusted"]
            .clone()
    };
    assert_eq!(verified(), 0, "those that its file names are there");
    std::fs::rename(&tables, folder.text("elsewhere")).expect("a link");
    assert_eq!(verified(), 2);
    let said = referee(["tournament", "verify", &cup]).with_code(0).stdout;
    assert!(said.contains("\nwhat tables say was not recomputed in 2 records"), "{said}");
    std::fs::rename(folder.text("elsewhere"), &tables).expect("a link");

    let fen = format!("fen={fen}");
    let regress = ["regress", "chess", "--new", &bot, "--base", &bot, "--opening-plies", "0", "--set", &fen];
    let ended = referee([&regress[..], &["--fixed", "1", "--syzygy", &tables, "--json"]].concat()).done();
    assert!(ended.all("match").iter().all(|line| line["reason"] == "tablebases"), "{}", ended.stdout);

    let best = folder.text("best");
    let other = pawn_mover(&folder, "other");
    let args = ["best", "chess", &bot, &other, "--opening-plies", "0", "--set", &fen, "--max-sets", "2"];
    let ended = referee([&args[..], &["--syzygy", &tables, "--dir", &best, "--json"]].concat());
    assert!(ended.all("match").iter().all(|line| line["reason"] == "tablebases"), "{}", ended.stdout);
}

#[test]
fn worker_without_tables_is_put_aside_and_says_why() {
    let folder = Folder::new();
    let bot = pawn_mover(&folder, "bot");
    let toml = format!(
        "game = \"chess\"\nsyzygy = \"{TABLES}\"\nclock = \"none\"\noptions = {{ fen = \"8/P7/8/4k3/8/8/8/K7 w - - 0 1\" }}\n\
         [format]\nkind = \"round_robin\"\n\
         [[entrants]]\nname = \"a\"\ncommand = \"{bot}\"\n[[entrants]]\nname = \"b\"\ncommand = \"{bot}\"\n"
    );
    let (file, cup) = (folder.write("cup.toml", toml), folder.text("cup"));
    let coordinator = Coordinator::start(&["run", &file, "--dir", &cup]);
    let without = coordinator.worker("without", &["--slots", "1"]);
    let row = wait_until(&cup, "put aside", |status| status["workers"]["workers"][0]["state"] == "aside");
    let reason = worker_of(&row, "without")["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("up to 3 pieces, and here are none: the setting `syzygy` names their directory"),
        "{reason}"
    );
    let with = coordinator.worker("with", &["--slots", "1", "--until-empty", "--syzygy", TABLES]);
    coordinator.process.end().with_code(0);
    with.end().with_code(0);
    without.signal(Signal::TERM);
    without.end();
    let matches = referee(["tournament", "export", &cup, "--format", "csv"]).done().stdout;
    assert!(matches.contains("adjudication,tablebases"), "{matches}");
}

#[test]
fn matches_that_cannot_be_adjudicated_are_refused() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let three = ["play", "keezen", &bot, &bot, &bot, "--max-moves", "3"];
    referee(three).with_code(2).says(&["adjudication needs two sides"]);
    let rule = ["play", "chess", &bot, &bot, "--resign", "score=600"];
    referee(rule).with_code(2).says(&["`moves` is missing; expected score=N,moves=N"]);
}

/// The moves of each match of a regression of these bots with this seed.
fn moves_of_regression(folder: &Folder, new: &str, base: &str, name: &str) -> Vec<Vec<Value>> {
    let records = folder.text(name);
    let args =
        ["regress", "chess", "--new", new, "--base", base, "--fixed", "2", "--seed", SEED, "--jobs", "2"];
    let limits = ["--max-moves", "12", "--clock", "none", "--record", &records];
    referee([&args[..], &limits].concat()).with_code(0);
    let moves = |number: u32| {
        let record = folder.record(&format!("{name}/m{number}.jsonl"));
        let events = record.iter().filter(|line| line["type"] == "event").map(|line| &line["event"]["move"]);
        events.cloned().collect::<Vec<_>>()
    };
    (1..=4).map(moves).collect()
}

#[test]
fn regression_with_budget_in_nodes_repeats_move_for_move() {
    // A search that looks at so many moves, whatever time that takes.
    let script = "import hashlib
def turn(t):
    seen = [hashlib.sha256((t['view']['fen'] + m).encode()).digest() + m.encode() for m in t['legal'][:NODES]]
    move(t, max(seen)[32:].decode())
play(turn=turn)";
    let folder = Folder::new();
    let bot = |name: &str, nodes: u32| folder.bot(name, &script.replace("NODES", &nodes.to_string()));
    let (new, base) = (bot("new", 20), bot("base", 5));
    let once = moves_of_regression(&folder, &new, &base, "once");
    assert_eq!(moves_of_regression(&folder, &new, &base, "again"), once);
    assert_eq!(once[0].len(), 8 + 24, "an opening and twelve moves a side");
    assert_ne!(once[0], once[2]);
}

#[test]
fn regression_of_engine_with_node_budget_repeats_exactly() {
    let folder = Folder::new();
    let engine = |nodes: u32| format!("uci:/usr/games/stockfish?Hash=1&nodes={nodes}");
    let once = moves_of_regression(&folder, &engine(400), &engine(100), "once");
    assert_eq!(moves_of_regression(&folder, &engine(400), &engine(100), "again"), once);
    assert!(once.iter().all(|moves| moves.len() > 8), "{once:?}");
}

#[test]
fn scores_of_an_engine_end_its_matches() {
    let folder = Folder::new();
    let (strong, weak) =
        ("uci:/usr/games/stockfish?Hash=1&nodes=2000", "uci:/usr/games/stockfish?Hash=1&nodes=1");
    let records = folder.text("records");
    let rules =
        ["--resign", "score=400,moves=2", "--max-moves", "150", "--clock", "none", "--record", &records];
    let ended =
        referee([&["play", "chess", strong, weak, "--seed", SEED, "--json"][..], &rules].concat()).done();
    let result = ended.one("match");
    assert_eq!([&result["ended_by"], &result["reason"]], ["adjudication", "resign"], "{result}");
    assert_eq!(result["ranks"], json!([1, 2]), "{result}");
    referee(["verify", &records]).done();
}
