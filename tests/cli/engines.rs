//! Existing engines: those that speak a dialect of their field play through a bridge, and the bots of OpenSpiel compare their
//! rules with the referee's in every position.

use ::referee::game::test_length::long_or;
use serde_json::Value;

use crate::common::{Ended, Folder, ROOT, Referee, SEED, referee, sample};

/// The Python of the tests, in which tests/run installs the engines.
fn python() -> String {
    let python = format!("{ROOT}/target/python/bin/python");
    assert!(std::fs::exists(&python).unwrap_or(false), "tests/run installs {python}");
    python
}

/// A command with the SDK for Python.
fn with_sdk(args: &str) -> String {
    format!("env PYTHONPATH='{ROOT}/bots/python' '{}' {args}", python())
}

/// Matches against the random bot after random openings, without a fault.
fn assert_plays(bot: &str, matches: &str) -> Vec<Value> {
    let other = sample("python/random_bot.py") + " --seed 1";
    let args = ["play", "checkers", bot, &other, "-n", matches, "--opening-plies", "4"];
    let ended = referee(args.into_iter().chain(["--json", "--strict", "--seed", SEED])).with_code(0);
    let played = ended.all("match");
    assert!(played.iter().all(|played| played["scores"].is_array()), "{ended:#?}");
    played
}

/// A bot of OpenSpiel that compares the legal moves of every position.
const COMPARES: &str = "
import random, pyspiel
from referee_bot import run
from referee_bot.openspiel import Seated, __main__ as openspiel, legal_moves
MAKE = {
    'mcts': lambda game, player: pyspiel.MCTSBot(
        game, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, 10, 100, True, 1, False),
    'minimax': lambda game, player: openspiel.Minimax(player, 2, random.Random(1)),
}
class Compares(Seated):
    def choose(self, turn):
        reply = super().choose(turn)
        state = self.state(turn.match, turn.seat)
        if not state.is_terminal() and legal_moves(state) != turn.legal:
            raise ValueError(f'{legal_moves(state)}, not {turn.legal} in\\n{state}')
        return reply
";

#[test]
fn bots_of_openspiel_play_by_the_same_rules() {
    for bot in ["mcts", "minimax"] {
        let folder = Folder::new();
        let script =
            folder.write("bot.py", format!("{COMPARES}run(Compares(MAKE['{bot}']), name='{bot}')\n"));
        let count = long_or(20, 4);
        let played = assert_plays(&with_sdk(&format!("'{script}'")), &count.to_string());
        let won = played.iter().filter(|played| {
            let seat = played["seats"].as_array().expect("names").iter().position(|name| name != "random");
            played["scores"][seat.expect("its seat")] == 1.0
        });
        assert!(won.count() >= count * 3 / 4, "{played:?}");
    }
}

#[test]
#[ignore = "20 matches between bots that import OpenSpiel"]
fn openspiel_agrees_to_draw_where_its_rules_end_game_earlier() {
    let bots = [1, 2].map(|seed| with_sdk(&format!("-m referee_bot.openspiel random --seed {seed}")));
    let args = ["play", "checkers", &bots[0], &bots[1], "-n", "20", "--json", "--strict", "--seed", SEED];
    let ended = referee(args).with_code(0);
    let reasons: Vec<Value> =
        ended.all("match").into_iter().map(|played| played["ended_by"].clone()).collect();
    assert!(reasons.iter().any(|reason| reason == "agreement"), "{reasons:?}");
}

#[test]
fn openspiel_explains_what_it_cannot_play() {
    let bot = with_sdk("-m referee_bot.openspiel mcts");
    let first = sample("python/random_bot.py");
    let stderr = |ended: Ended| ended.all("match")[0].to_string();
    for (args, why) in [
        (&["jeex"][..], "it plays checkers"),
        (&["checkers", "--set", "fen=B:W18:B14"], "omit the option `fen`"),
    ] {
        let args = [&["play"], args, &[&bot, &first, "--json"]].concat();
        let text = stderr(Referee::start(args).end());
        assert!(text.contains(why), "{text}");
    }
    let help = std::process::Command::new("env")
        .args([&format!("PYTHONPATH={ROOT}/bots/python"), &python(), "-m", "referee_bot.openspiel", "--help"])
        .output()
        .expect("python starts");
    assert!(String::from_utf8_lossy(&help.stdout).contains("examples:"), "{help:?}");
}

#[test]
fn an_engine_that_speaks_hub_plays_checkers() {
    let engine = format!("hub:{}?greed=true '{ROOT}/examples/engines/sample_engine.py'", python());
    let played = assert_plays(&engine, "4");
    assert!(played[0].to_string().contains("sample engine 1"), "{played:?}");
    let ended = referee(["check", &engine]);
    assert!(ended.stdout.contains(" 0 failed"), "{ended:#?}");
}

/// Two matches of a game of a directory between an engine of Debian and itself.
fn plays_itself(game: &str, engine: &str, options: [&str; 4]) {
    let args = ["play", game, engine, engine, "-n", "2", "--json", "--strict", "--seed", SEED];
    let ended = referee(args.into_iter().chain(options)).with_code(0);
    let played = ended.all("match");
    assert!(played.len() == 2 && played.iter().all(|played| played["scores"].is_array()), "{ended:#?}");
}

#[test]
#[ignore = "an engine of Debian that only long runs install"]
fn gnugo_plays_go() {
    let gnugo = "gtp:/usr/games/gnugo --mode gtp --chinese-rules --level 1";
    plays_itself("examples/games/go", gnugo, ["--set", "size=9", "--clock", "bank=60s,increment=100ms"]);
}

/// Debian has no package of Pachi: `pachi` is another game.
#[test]
#[ignore = "an engine that no package has"]
fn pachi_plays_go_against_gnugo() {
    let Ok(pachi) = std::env::var("PACHI") else {
        eprintln!("skipped: PACHI names no program of Pachi, the engine of Go");
        return;
    };
    let pachi = format!("gtp:{pachi} -d 0 -t =500 --nodcnn threads=1");
    let gnugo = "gtp:/usr/games/gnugo --mode gtp --chinese-rules --level 1";
    let play = |options: &[&str]| {
        let args = ["play", "examples/games/go", &pachi, gnugo, "-n", "2", "--mirror", "--json", "--strict"];
        let ended = referee([&args[..], options].concat()).with_code(0);
        let played = ended.all("match");
        assert!(played.len() == 2 && played.iter().all(|played| played["scores"].is_array()), "{ended:#?}");
    };
    play(&["--set", "size=9"]);
    play(&[
        "--set",
        "size=9",
        "--set",
        "handicap=2",
        "--set",
        "komi=0.5",
        "--clock",
        "bank=60s,increment=1s",
    ]);
    play(&["--set", "size=19", "--set", "moves=40", "--clock", "delay=2s,bank=60s"]);
}

#[test]
#[ignore = "an engine of Debian that only long runs install"]
fn gpsshogi_plays_shogi() {
    let gpsshogi = "usi:/usr/games/gpsusi?LimitDepth=4&Thread=1";
    plays_itself("examples/games/shogi", gpsshogi, ["--set", "moves=60", "--clock", "delay=2s,bank=20s"]);
}

/// A command line of the scripted engine with these arguments after its dialect.
fn fake(dialect: &str, query: &str, args: &str) -> String {
    format!("{dialect}:python3{query} '{ROOT}/tests/fixtures/fake_engine.py' {dialect} {args}")
}

/// Plays chess between these bots. The scripted engine plays a fool's mate.
fn chess(first: &str, second: &str, args: &[&str]) -> Ended {
    referee([&["play", "chess", first, second, "--json", "--sandbox", "none", "--seed", SEED], args].concat())
}

/// The moves of the only record in a directory.
fn recorded_moves(folder: &Folder, records: &str) -> Vec<Value> {
    let text = folder.read(&format!("{records}/m1.jsonl"));
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| line["type"] == "answer").collect()
}

#[test]
fn chess_engine_hears_whole_game_and_both_clocks() {
    let folder = Folder::new();
    let log = |name: &str| format!("--log '{}'", folder.text(name));
    // Text before `uciok` and lines that end as on Windows do not matter.
    let uci =
        fake("uci", "?Hash=32&Clear%20Hash&style=very%20risky", &format!("--end '\\r\\n' {}", log("uci")));
    let xboard = fake("xboard", "?Contempt=-3&Wipe", &log("xboard"));
    let records = folder.text("records");
    let clock = ["--clock", "bank=60s,increment=500ms", "--record", &records];
    let ended = chess(&uci, &xboard, &clock).with_code(0);
    let played = &ended.all("match")[0];
    assert_eq!(
        (&played["reason"], &played["ranks"]),
        (&"checkmate".into(), &serde_json::json!([2, 1])),
        "{ended:#?}"
    );
    assert_eq!(played["seats"], serde_json::json!(["Fake _1.0_", "Fake 2.0"]));

    let heard = folder.read("uci");
    let heard: Vec<&str> = heard.lines().collect();
    assert_eq!(
        heard[..4],
        [
            "uci",
            "setoption name Hash value 32",
            "setoption name Clear Hash",
            "setoption name Style value Very Risky"
        ]
    );
    assert_eq!(heard[4..7], ["ucinewgame", "isready", "position startpos"]);
    let go: Vec<&str> = heard[7].split(' ').collect();
    assert_eq!(
        (go[0], go[1], go[3], &go[5..]),
        ("go", "wtime", "btime", &["winc", "500", "binc", "500"][..]),
        "{heard:?}"
    );
    assert_eq!((go[2], go[4]), ("60000", "60000"));
    assert_eq!(heard[8], "position startpos moves f2f3 e7e5");
    let go: Vec<&str> = heard[9].split(' ').collect();
    // The opponent has its increment as well.
    assert!(go[4].parse::<u32>().is_ok_and(|ms| (50_000..=60_500).contains(&ms)), "{go:?}");

    let heard = folder.read("xboard");
    let heard: Vec<&str> = heard.lines().filter(|line| !line.starts_with("accepted")).collect();
    let after = |text: &str| {
        heard.iter().position(|line| line.starts_with(text)).unwrap_or_else(|| panic!("{text}: {heard:?}"))
    };
    assert_eq!(heard[..2], ["xboard", "protover 2"]);
    assert!(
        heard.contains(&"rejected san")
            && heard.contains(&"option Contempt=-3")
            && heard.contains(&"option Wipe")
    );
    assert_eq!(heard[after("new")..][..4], ["new", "force", "level 0 1 0.500", "post"]);
    assert_eq!(heard[after("usermove")], "usermove f2f3");
    assert!(after("time 6") < after("go") && after("otim 6") < after("go"), "{heard:?}");
    assert!(heard[after("go")..].contains(&"usermove g2g4"), "{heard:?}");
    assert!(heard.iter().any(|line| line.starts_with("result 0-1")), "{heard:?}");

    let infos: Vec<Value> =
        recorded_moves(&folder, "records").into_iter().map(|answer| answer["info"].clone()).collect();
    assert_eq!(
        infos[0],
        serde_json::json!({"score": -15, "score_scale": 400, "depth": 7, "nodes": 420, "time_ms": 12, "pv": ["f2f3"]})
    );
    assert_eq!(infos[1]["score"], -5);
    assert_eq!(infos[1]["time_ms"], 120);
    // The record verifies, as that of any bot.
    referee(["verify", &records]).with_code(0);
}

#[test]
fn budgets_replace_the_clock_and_positions_are_set_up() {
    let folder = Folder::new();
    let fen = "rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - 0 1";
    let moves = "--moves 'e7e5 g2g4 d8h4'";
    for (query, expected) in [
        ("?nodes=500&depth=9", "go nodes 500 depth 9"),
        ("?movetime=40", "go movetime 40"),
        ("", "go movetime 1000"),
    ] {
        let log = format!("{moves} --log '{}'", folder.text("log"));
        let ended = chess(
            &fake("uci", "?depth=1", moves),
            &fake("uci", query, &log),
            &["--clock", "none", "--set", &format!("fen={fen}")],
        );
        assert_eq!(ended.with_code(0).all("match")[0]["reason"], "checkmate");
        let heard = folder.read("log");
        assert!(heard.contains(&format!("position fen {fen}\n{expected}\n")), "{heard}");
        assert!(heard.contains(&format!("position fen {fen} moves e7e5 g2g4\n")), "{heard}");
        std::fs::remove_file(folder.path("log")).expect("the log");
    }
    // The long form is the same bot.
    let long = format!(
        "'{}' engine uci --option Hash=8 --budget nodes=7 -- python3 '{ROOT}/tests/fixtures/fake_engine.py' uci --log '{}'",
        env!("CARGO_BIN_EXE_referee"),
        folder.text("log")
    );
    chess(&long, &fake("uci", "", ""), &[]).with_code(0);
    let heard = folder.read("log");
    assert!(heard.contains("setoption name Hash value 8\n") && heard.contains("\ngo nodes 7\n"), "{heard}");
}

#[test]
fn an_engine_that_ponders_hears_whether_the_expected_move_came() {
    let folder = Folder::new();
    // White expects e7e5, which comes; Black expects d2d4, which does not come.
    let white = fake("uci", "?ponder", &format!("--ponder 'e7e5 d7d5' --log '{}'", folder.text("white")));
    let black = fake("uci", "?ponder=true", &format!("--ponder 'd2d4 -' --log '{}'", folder.text("black")));
    let records = folder.text("records");
    let ended = chess(&white, &black, &["--clock", "bank=9s", "--record", &records]);
    assert_eq!(ended.with_code(0).all("match")[0]["reason"], "checkmate");
    let heard = folder.read("white");
    assert!(heard.contains("setoption name Ponder value true"), "{heard}");
    assert!(heard.contains("position startpos moves f2f3 e7e5\ngo ponder wtime "), "{heard}");
    assert_eq!(heard.matches("ponderhit").count(), 1, "{heard}");
    // The mate that it found while pondering is that of its move.
    assert_eq!(recorded_moves(&folder, "records")[2]["info"]["mate"], 1);
    let heard = folder.read("black");
    let stopped = heard.find("stop\n").expect("a stop");
    assert!(heard[stopped..].contains("position startpos moves f2f3 e7e5 g2g4\ngo wtime"), "{heard}");
    assert!(!heard.contains("ponderhit"), "{heard}");
}

#[test]
fn xboard_engines_are_told_whether_to_ponder() {
    let folder = Folder::new();
    for (query, expected) in [("?ponder", "post\nhard\n"), ("", "post\neasy\n")] {
        let engine = fake("xboard", query, &format!("--log '{}'", folder.text("log")));
        chess(&engine, &fake("uci", "", ""), &["--clock", "bank=9s"]).with_code(0);
        assert!(folder.read("log").contains(expected), "{query}");
        std::fs::remove_file(folder.path("log")).expect("the log");
    }
}

#[test]
fn engines_are_told_the_moves_until_a_near_turn_limit() {
    let folder = Folder::new();
    let white = fake("uci", "", &format!("--log '{}'", folder.text("log")));
    for (limit, expected) in [("20", [Some("10"), Some("9")]), ("100", [None; 2])] {
        let turns = format!("turn_limit={limit}");
        let more = ["--clock", "bank=60s,increment=1s", "--set", &turns];
        chess(&white, &fake("uci", "", ""), &more).with_code(0);
        let heard = folder.read("log");
        let go = heard.lines().filter(|line| line.starts_with("go "));
        let told: Vec<Option<&str>> =
            go.map(|line| Some(line.split_once(" winc 1000 binc 1000 movestogo ")?.1)).collect();
        assert_eq!(told, expected, "{heard}");
        std::fs::remove_file(folder.path("log")).expect("the log");
    }
}

#[test]
fn what_an_engine_does_wrong_is_named() {
    let other = fake("uci", "", "");
    for (bot, code, what) in [
        (fake("uci", "", "--moves e2e5"), "illegal_move", "\"move\":\"e2e5\""),
        (fake("uci", "", "--moves (none)"), "no_legal_move", ""),
        (fake("uci", "", "--crash go"), "exited", "the engine was killed by signal 11"),
        (fake("uci", "", "--crash go"), "exited", "the engine is about to crash"),
        (fake("uci", "", "--exit isready"), "exited", "the engine has ended with status 3"),
        (fake("uci", "", "--mute go"), "timeout", ""),
        (
            fake("uci", "?Hahs=1", ""),
            "exited",
            "the engine has no option `Hahs`: it has Hash, Clear Hash, Ponder",
        ),
        (fake("uci", "?Hash=65", ""), "exited", "an integer from 1 to 64, not `65`"),
        (fake("xboard", "", "--moves resign"), "illegal_move", "\"move\":\"resign\""),
        (fake("xboard", "?nodes=4", ""), "exited", "xboard engines have no limit of nodes"),
        (fake("xboard", "", "--before 'Illegal move: x'"), "exited", "with `Illegal move: x`"),
    ] {
        let ended = chess(&bot, &other, &["--clock", "bank=400ms"]);
        let played = ended.all("match").into_iter().next().unwrap_or_default();
        assert_eq!(
            (&played["fault"]["code"], &played["fault"]["seat"]),
            (&code.into(), &0.into()),
            "{bot}: {ended:#?}"
        );
        let text = ended.stdout + &ended.stderr;
        assert!(text.contains(what), "{bot}: {text}");
    }
}

#[test]
fn an_engine_of_another_game_is_named() {
    let (uci, usi) = (fake("uci", "", ""), fake("usi", "", ""));
    for (game, engine, needed) in [
        ("checkers", &uci, "checkers needs an engine of the dialect hub, not uci"),
        ("chess", &usi, "chess needs an engine of the dialect uci or xboard, not usi"),
    ] {
        let ended = referee(["play", game, engine, engine, "--json", "--sandbox", "none"]);
        let text = ended.stdout + &ended.stderr;
        assert!(text.contains(&format!("the engine cannot play this match: {needed}")), "{text}");
    }
}

#[test]
fn engine_that_cannot_be_started_is_named_with_reason() {
    referee(["engine", "uci", "--", "./no-engine"])
        .with_code(5)
        .says(&["the engine `./no-engine` cannot be started: No such file"]);
}

#[test]
fn an_engine_that_never_answers_is_named() {
    let ended = chess("uci:cat", &fake("uci", "", ""), &[]);
    let text = ended.stdout + &ended.stderr;
    assert!(text.contains("does not answer `uci` with `uciok` within 8 s"), "{text}");
}

#[test]
fn an_engine_that_does_not_stop_is_started_again() {
    let folder = Folder::new();
    let script = "#!/bin/sh
while read line; do case \"$line\" in uci) echo uciok;; isready) echo readyok;; go*) sleep 100;; esac; done
";
    let path = folder.write("deaf", script);
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .expect("its own file");
    let ended = chess(&format!("uci:{path}"), &fake("uci", "", ""), &["--clock", "bank=300ms", "-n", "2"]);
    let codes: Vec<Value> = ended.all("match").iter().map(|played| played["fault"]["code"].clone()).collect();
    assert_eq!(codes, ["timeout", "timeout"], "{ended:#?}");
}

/// The rules of a game in which each move is the next of a line, or loses.
const LINE: &str = "
import json, sys
LINE = ['7g7f', '3c3d', '8h2b+']
def position(n):
    turn = {'decide': [{'seat': n % 2, 'legal': sorted([LINE[n], 'P*5e']), 'view': {}}]} if n < len(LINE) else {
        'over': {'ranks': [1, 2], 'reason': 'mate'}}
    return {'state': n, 'turn': turn}
for line in sys.stdin:
    request = json.loads(line)
    n = request.get('state', 0)
    if request['type'] == 'play':
        n = n + 1 if request['moves'][0]['move'] == LINE[n] else len(LINE)
    answer = {'view': {}, 'text': 'a line'} if request['type'] == 'show' else position(n)
    print(json.dumps(answer), flush=True)
";

/// The directory of these rules, under this id.
fn line(folder: &Folder, id: &str) -> String {
    std::fs::create_dir(folder.path(id)).expect("a directory");
    folder.write(&format!("{id}/game.py"), LINE);
    folder.write(
        &format!("{id}/game.toml"),
        format!(
            "protocol = 1\nid = '{id}'\ntitle = 'Line'\nversion = 1\ncommand = 'python3 game.py'\nseats = 2\n\
             reasons = ['mate']\nfiles = ['game.py']\n"
        ),
    );
    folder.text(id)
}

#[test]
fn engine_plays_the_variant_of_a_directory_of_fairy_stockfish() {
    let folder = Folder::new();
    let play = |game: &str, query: &str, variants: &str| {
        let args =
            format!("--moves '7g7f 3c3d 8h2b+' --variants '{variants}' --log '{}'", folder.text("log"));
        let engine = fake("uci", query, &args);
        referee(["play", &line(&folder, game), &engine, &engine, "--json", "--sandbox", "none"])
    };
    for (game, query, variant) in [
        ("fairy_ai_wok", "", "ai-wok"),
        ("ai_wok", "", "ai-wok"),
        ("fairy_other", "?UCI_Variant=chess", "chess"),
    ] {
        let ended = play(game, query, "chess ai-wok").with_code(0);
        assert_eq!(ended.all("match")[0]["reason"], "mate", "{ended:#?}");
        let heard = folder.read("log");
        assert!(heard.contains(&format!("setoption name UCI_Variant value {variant}\n")), "{heard}");
        std::fs::remove_file(folder.path("log")).expect("the log");
    }
    let ended = play("fairy_atomic", "", "chess ai-wok");
    let text = ended.stdout + &ended.stderr;
    let why = "the engine cannot play this match: its option UCI_Variant has no `atomic`";
    assert!(text.contains(why), "{text}");
}

#[test]
#[ignore = "an engine of Debian that only long runs install"]
fn fairy_stockfish_plays_variants_that_pyffish_writes() {
    let folder = Folder::new();
    for variant in
        ["3check", "antichess", "crazyhouse", "janggi", "kingofthehill", "makruk", "shogi", "xiangqi"]
    {
        let game = folder.text(variant);
        let written = std::process::Command::new(python())
            .env("PYTHONPATH", format!("{ROOT}/bots/python"))
            .args(["-m", "referee_game.pyffish", variant, &game])
            .output()
            .expect("python starts");
        assert!(written.status.success(), "{written:?}");
        let engine = "uci:/usr/games/fairy-stockfish?nodes=300";
        plays_itself(&game, engine, ["--set", "moves=60", "--opening-plies", "2"]);
    }
}

#[test]
fn an_engine_of_usi_plays_a_game_of_a_directory() {
    let folder = Folder::new();
    let game = line(&folder, "line");
    let play = |first: &str, second: &str, clock: &str| {
        referee(["play", &game, first, second, "--json", "--sandbox", "none", "--clock", clock]).with_code(0)
    };
    let moves = "--moves '7g7f 3c3d 8h2b+'";
    let first = fake("usi", "?USI_Hash=16", &format!("{moves} --log '{}'", folder.text("first")));
    let second = fake("usi", "", &format!("{moves} --log '{}'", folder.text("second")));
    let ended = play(&first, &second, "delay=2s,bank=60s");
    assert_eq!(ended.all("match")[0]["reason"], "mate", "{ended:#?}");
    let heard = folder.read("first");
    let heard: Vec<&str> = heard.lines().collect();
    assert_eq!(heard[..4], ["usi", "setoption name USI_Hash value 16", "isready", "usinewgame"]);
    assert_eq!(heard[4..6], ["position startpos", "go btime 60000 wtime 60000 byoyomi 2000"]);
    assert_eq!(heard[6], "position startpos moves 7g7f 3c3d");
    assert!(heard.contains(&"gameover win"), "{heard:?}");
    assert!(folder.read("second").contains("gameover lose"));
    let ponders =
        fake("usi", "?ponder", &format!("{moves} --ponder '3c3d -' --log '{}'", folder.text("ponders")));
    play(&ponders, &second, "delay=2s,bank=60s");
    let heard = folder.read("ponders");
    assert!(heard.contains("setoption name USI_Ponder value true\n"), "{heard}");
    let expected = "position startpos moves 7g7f 3c3d\ngo ponder btime 6";
    assert!(heard.contains(expected) && heard.matches("\nponderhit\n").count() == 1, "{heard}");
    let ended = play(&fake("usi", "", "--moves resign"), &second, "bank=60s,increment=1s");
    assert_eq!(ended.all("match")[0]["ended_by"], "resignation", "{ended:#?}");
}

#[test]
fn an_engine_of_gtp_plays_go() {
    let folder = Folder::new();
    let moves = "--moves 'd4 E5 PASS pass'";
    let first = fake("gtp", "", &format!("{moves} --log '{}'", folder.text("first")));
    let second = fake("gtp", "", &format!("{moves} --log '{}'", folder.text("second")));
    let args = ["--set", "size=9", "--clock", "bank=60s", "--json", "--sandbox", "none", "--seed", SEED];
    let ended = referee(["play", "examples/games/go", &first, &second].into_iter().chain(args)).with_code(0);
    assert_eq!(ended.all("match")[0]["reason"], "two_passes", "{ended:#?}");
    let heard = |name: &str| -> Vec<String> {
        let text = folder.read(name);
        text.lines().map(|line| line.split_once(' ').map_or("", |(_, line)| line).to_owned()).collect()
    };
    let second = heard("second");
    assert_eq!(second[..3], ["name", "version", "list_commands"]);
    assert_eq!(second[3..7], ["boardsize 9", "clear_board", "komi 7.5", "time_settings 60 0 0"]);
    assert_eq!(second[7], "play B D4");
    assert!(second[8].starts_with("time_left W 60 0") && second[9].starts_with("time_left B "), "{second:?}");
    assert_eq!(second[10..12], ["genmove W", "play B pass"]);
    assert_eq!(heard("first").iter().filter(|line| *line == "genmove B").count(), 2);
    let refuses = fake("gtp", "?Level=3", "");
    let ended = referee(["play", "examples/games/go", &refuses, &first, "--set", "size=9", "--json"]);
    assert!((ended.stdout + &ended.stderr).contains("no option `Level`: it has none"));
}

#[test]
fn an_engine_of_gtp_removes_dead_stones_before_it_passes() {
    let folder = Folder::new();
    let moves = "--moves 'D4 E5 PASS pass pass'";
    let first = fake("gtp", "", &format!("{moves} --cleanup 'C3 PASS' --log '{}'", folder.text("first")));
    let second = fake("gtp", "", moves);
    let records = folder.text("records");
    let args = ["--set", "size=9", "--record", &records, "--json", "--sandbox", "none"];
    let ended = referee(["play", "examples/games/go", &first, &second].into_iter().chain(args)).with_code(0);
    assert_eq!(ended.all("match")[0]["reason"], "two_passes", "{ended:#?}");
    let answers = recorded_moves(&folder, "records");
    let moves: Vec<&str> = answers.iter().map(|answer| answer["move"].as_str().expect("a move")).collect();
    assert_eq!(moves, ["D4", "E5", "C3", "pass", "pass"]);
    let heard = folder.read("first");
    let heard = heard.lines().filter_map(|line| line.split_once(' ')).map(|(_, line)| line);
    let asked: Vec<&str> = heard.filter(|line| line.contains("genmove") || *line == "undo").collect();
    let passes = ["genmove B", "undo", "kgs-genmove_cleanup B"];
    assert_eq!(asked, [&["genmove B"][..], &passes, &passes].concat());
}

#[test]
fn xboard_engines_resign_and_agree_to_draws() {
    let xboard = |before: &str| fake("xboard", "", &format!("--before '{before}'"));
    let other = fake("uci", "", "");
    let ended = chess(&xboard("0-1 {White resigns}"), &other, &[]).with_code(0);
    assert_eq!(ended.all("match")[0]["ended_by"], "resignation", "{ended:#?}");
    let ended = chess(&xboard("offer draw"), &xboard("offer draw"), &[]).with_code(0);
    assert_eq!(ended.all("match")[0]["ended_by"], "agreement", "{ended:#?}");
    // An opponent that knows of no draws declines.
    let ended = chess(&xboard("offer draw"), &other, &[]).with_code(0);
    assert_eq!(ended.all("match")[0]["reason"], "checkmate", "{ended:#?}");
}

#[test]
fn engines_play_in_tournaments_and_pass_the_check() {
    let folder = Folder::new();
    let script = format!("python3 '{ROOT}/tests/fixtures/fake_engine.py' uci");
    let config = format!(
        "game = 'chess'\nmirror = 'none'\n[format]\nkind = 'round_robin'\n\
         [[entrants]]\nname = 'table'\n[entrants.engine]\ndialect = 'uci'\ncommand = \"{script}\"\n\
         options = {{ Hash = 2, \"Clear Hash\" = '', Style = 'Very Risky' }}\nbudget = {{ depth = 3 }}\n\
         [[entrants]]\nname = 'line'\ncommand = \"{}\"\n",
        fake("uci", "?Hash=2", "")
    );
    let config = folder.write("cup.toml", config);
    let cup = folder.text("cup");
    let ended = referee(["tournament", "run", &config, "--dir", &cup, "--json"]).with_code(0);
    assert_eq!(ended.all("match")[0]["reason"], "checkmate", "{ended:#?}");
    let config =
        folder.write("bad.toml", folder.read("cup.toml").replace("'uci'\ncommand", "'uic'\ncommand"));
    let ended = referee(["tournament", "run", &config, "--dir", &folder.text("bad")]).with_code(2);
    assert!(ended.stderr.contains("unknown variant `uic`"), "{ended:#?}");
    let both = folder.read("cup.toml").replace("name = 'table'\n", "name = 'table'\ncommand = 'x'\n");
    let config = folder.write("both.toml", both);
    referee(["tournament", "check", &config])
        .with_code(2)
        .says(&["`engine` stands in place of `command`: give one of them"]);
}

/// An engine of Debian, wherever PATH leads.
fn debian(name: &str) -> String {
    let path = format!("/usr/games/{name}");
    assert!(std::fs::exists(&path).unwrap_or(false), "tests/run installs {path}");
    path
}

#[test]
fn the_tournament_of_engines_among_the_examples_can_be_played() {
    let mut check = std::process::Command::new(env!("CARGO_BIN_EXE_referee"));
    check.env("PATH", std::env::var("PATH").expect("a path") + ":/usr/games");
    check.args(["tournament", "check", "examples/engines/tournament.toml"]);
    let ended = Referee::start_as(&mut check).end().with_code(0);
    assert!(ended.stdout.contains("stockfish-3"), "{ended:#?}");
}

#[test]
fn the_recorded_tournament_of_engines_verifies_and_has_a_site() {
    let (folder, recorded) = (Folder::new(), "examples/engines/recorded");
    let verified = referee(["tournament", "verify", recorded]).done();
    assert!(verified.stdout.ends_with("12 results, 12 records, 0 differ\n"), "{}", verified.stdout);
    referee(["tournament", "report", recorded, "--site", &folder.text("site")]).done();
    let pages = std::fs::read_dir(folder.path("site/matches")).expect("pages").count();
    assert_eq!((pages, folder.read("site/index.html").contains("Stockfish at level 3")), (12, true));
    let pgn = folder.text("games.pgn");
    referee(["tournament", "export", recorded, "--format", "pgn", "-o", &pgn]).done();
    let read =
        std::process::Command::new(python()).args(["-c", READS, &pgn]).output().expect("python starts");
    assert!(read.status.success(), "{read:?}");
    assert_eq!(String::from_utf8_lossy(&read.stdout).lines().count(), 12);
}

/// Python that reads a collection of games with python-chess, and prints results and final comments.
const READS: &str = "
import sys, chess.pgn
with open(sys.argv[1]) as file:
    while game := chess.pgn.read_game(file):
        assert not game.errors, game.errors
        board = game.end().board()
        evals = sum(1 for node in game.mainline() if '/' in node.comment)
        print(game.headers['White'], game.headers['Result'], board.ply(), evals, sep='\t')
";

#[test]
fn engines_of_debian_play_each_other() {
    let folder = Folder::new();
    let stockfish = format!("uci:{}?Hash=1&nodes=2000", debian("stockfish"));
    let others = [("uci", "gnuchess", " --uci"), ("xboard", "hoichess", "")];
    for (dialect, name, argument) in others {
        let other = format!("{dialect}:{}?depth=2{argument}", debian(name));
        let records = folder.text(name);
        let args = ["-n", "2", "--mirror", "--opening-plies", "4", "--strict", "--json", "--seed", SEED];
        let args = ["play", "chess", &stockfish, &other, "--record", &records].into_iter().chain(args);
        let ended = referee(args).with_code(0);
        let played = ended.all("match");
        assert_eq!(played.len(), 2, "{ended:#?}");
        for played in &played {
            let mut seats = played["seats"].as_array().expect("names").iter();
            let at = seats.position(|name| name.as_str().is_some_and(|name| name.starts_with("Stockfish")));
            assert_eq!(played["scores"][at.expect("its name")], 1.0, "{played}");
        }
    }
    let pgn = folder.text("games.pgn");
    referee(["export", &folder.text("gnuchess"), &folder.text("hoichess"), "--format", "pgn", "-o", &pgn])
        .with_code(0);
    let read =
        std::process::Command::new(python()).args(["-c", READS, &pgn]).output().expect("python starts");
    let text = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(read.status.success(), "{read:?}");
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        assert!(["1-0", "0-1"].contains(&cells[1]), "{text}");
        // Nearly all moves after the opening have a score.
        let (plies, scores) = (cells[2].parse::<u32>().unwrap_or(0), cells[3].parse::<u32>().unwrap_or(0));
        assert!(plies > 10 && scores * 10 >= (plies - 4) * 8, "{text}");
    }
}

#[test]
fn stockfish_plays_chess960_and_passes_the_check() {
    let stockfish = format!("uci:{}?nodes=500", debian("stockfish"));
    let args = ["--set", "variant=chess960", "--set", "fen=7", "--strict", "--json", "--seed", SEED];
    referee(["play", "chess", &stockfish, &stockfish, "--set", "turn_limit=60"].into_iter().chain(args))
        .with_code(0);
    let ended = referee(["check", &stockfish]).with_code(0);
    assert!(ended.stdout.contains(" 0 failed"), "{ended:#?}");
}

#[test]
#[ignore = "engines of Debian that only long runs install"]
fn engines_of_debian_play_a_round_robin() {
    let engines = [
        "uci:/usr/games/stockfish?nodes=2000",
        "uci:/usr/games/fairy-stockfish?nodes=2000",
        "uci:/usr/games/ethereal-chess?depth=4",
        "uci:/usr/games/toga2?depth=4",
        "uci:/usr/games/gnuchess?depth=4 --uci",
        "xboard:/usr/games/phalanx",
        "xboard:/usr/games/hoichess",
        "xboard:/usr/games/sjaakii",
    ];
    let folder = Folder::new();
    let entrants = engines
        .iter()
        .enumerate()
        .map(|(number, command)| format!("[[entrants]]\nname = 'engine {number}'\ncommand = '{command}'\n"));
    let head = "game = 'chess'\nclock = 'bank=2s,increment=50ms'\nmirror = 'none'\nopening_plies = 4\njobs = 2\n[format]\nkind = 'round_robin'\n";
    let config = folder.write("cup.toml", head.to_owned() + &entrants.collect::<String>());
    let ended = referee(["tournament", "run", &config, "--dir", &folder.text("cup"), "--json"]).with_code(0);
    let played = ended.all("match");
    assert_eq!(played.len(), engines.len() * (engines.len() - 1) / 2);
    let faults: Vec<&Value> = played.iter().filter(|played| !played["fault"].is_null()).collect();
    assert!(faults.is_empty(), "{faults:?}");
}
