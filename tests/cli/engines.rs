//! Bots around existing engines for checkers. They compare their rules with the referee's in every position, and crash
//! if they differ.

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
fn openspiel_agrees_to_a_draw_where_its_rules_end_the_game_earlier() {
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
#[ignore = "an engine in Python thinks for minutes"]
fn pydraughts_plays_by_the_same_rules() {
    assert_plays(&with_sdk(&format!("'{ROOT}/examples/engines/pydraughts_bot.py' --seed 1")), "20");
}

#[test]
#[ignore = "an engine in JavaScript thinks for minutes"]
fn rapid_draughts_plays_by_the_same_rules() {
    let played = assert_plays(&format!("node '{ROOT}/examples/engines/rapid_draughts.mjs' --depth 3"), "20");
    let losses = played.iter().filter(|played| {
        let seat = played["seats"].as_array().expect("names").iter().position(|name| name != "random");
        played["scores"][seat.expect("its seat")] == 0.0
    });
    assert_eq!(losses.count(), 0, "{played:?}");
}

#[test]
fn an_engine_that_speaks_like_uci_gtp_or_hub_plays_without_a_fault() {
    for dialect in ["uci", "gtp", "hub"] {
        let engine = format!("'{}' '{ROOT}/examples/engines/sample_engine.py'", python());
        let adapter = format!("'{ROOT}/examples/engines/engine_bot.py' --dialect {dialect} {engine}");
        assert_plays(&with_sdk(&adapter), "6");
    }
}

#[test]
fn an_engine_that_ends_or_reports_an_error_is_named() {
    for (engine, why) in [
        ("exit 1", "the engine ends with status 1 instead of answering 'name'"),
        ("echo '= sample'; echo '? no such command'", "the engine answers '? no such command' to"),
    ] {
        let adapter =
            format!("'{ROOT}/examples/engines/engine_bot.py' --dialect gtp sh -c \"{engine}; cat\"");
        let bots = [with_sdk(&adapter), sample("python/random_bot.py")];
        let ended = referee(["play", "checkers", &bots[0], &bots[1]]);
        let text = ended.stdout + &ended.stderr;
        assert!(text.contains(why), "{text}");
    }
}
