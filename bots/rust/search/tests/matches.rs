//! The bots as programs, in matches of the referee.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");
const MONTE_CARLO: &str = env!("CARGO_BIN_EXE_referee-monte-carlo");
const ALPHA_BETA: &str = env!("CARGO_BIN_EXE_referee-alpha-beta");

/// The referee. Cargo builds it beside the bots when the whole workspace is tested.
fn referee() -> PathBuf {
    let referee = PathBuf::from(MONTE_CARLO).with_file_name("referee");
    if !referee.exists() {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--package", "referee", "--bin", "referee"])
            .current_dir(ROOT)
            .status()
            .expect("cargo starts");
        assert!(built.success());
    }
    referee
}

/// Runs a referee command, which must succeed. Returns the JSON lines that it prints.
fn run(args: &[&str]) -> Vec<Value> {
    let output = Command::new(referee()).args(args).current_dir(ROOT).output().expect("the referee starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The ids of the games, with each supported number of seats.
fn games() -> Vec<(String, u64)> {
    let listed = run(&["games", "--json"]);
    let ids = listed.iter().flat_map(|game| {
        let id = game["id"].as_str().expect("an id").to_owned();
        let seats = game["seats"].as_array().expect("a list").iter().map(|n| n.as_u64().expect("a number"));
        seats.map(move |seats| (id.clone(), seats)).collect::<Vec<_>>()
    });
    ids.collect()
}

/// Plays matches, which must have no faults. Returns the score of the first bot.
#[track_caller]
fn play(game: &str, bots: &[&str], more: &[&str]) -> f64 {
    let args = [&["play", game], bots, &["--strict", "--json"], more].concat();
    run(&args).pop().expect("a summary")["bots"][0]["score"].as_f64().expect("a score")
}

#[test]
fn table_of_gauntlet_has_row_of_every_game() {
    let page = std::fs::read_to_string(format!("{ROOT}/bots/README.md")).expect("the page");
    let (_, table) = page.split_once("| game | bot |").expect("the table");
    let rows: Vec<&str> = table.lines().skip(1).take_while(|line| line.starts_with('|')).collect();
    for (game, _) in games() {
        let row = format!("| {game} | `referee-monte-carlo");
        assert!(rows.iter().any(|found| found.starts_with(&row)), "`{row}` is not in {rows:#?}");
    }
}

const RANDOM: &str = "python3 bots/python/random_bot.py --seed 1";

#[test]
fn monte_carlo_beats_the_random_bot_in_every_game() {
    for (game, seats) in games() {
        // A playout of Keezenspel takes ten times as long as one of another game.
        let is_short = game == "keezen" && std::env::var_os("LONG_TESTS").is_none();
        let playouts = if is_short { 30 } else { 200 };
        let bot = format!("'{MONTE_CARLO}' --playouts {playouts} --seed 1");
        if seats == 2 {
            let score =
                play(&game, &[&bot, RANDOM], &["-n", "4", "--clock", "none", "--seed", &"7".repeat(64)]);
            assert!(score >= 3.0, "{game}: {score} of 4");
        }
    }
}

#[test]
fn alpha_beta_beats_the_random_bot_at_checkers() {
    let bot = format!("'{ALPHA_BETA}' --depth 5");
    assert_eq!(play("checkers", &[&bot, RANDOM], &["-n", "4", "--clock", "none"]), 4.0);
}

#[test]
fn bots_without_any_limit_of_their_own_live_with_clock() {
    // The large margin allows for load on the machine. Without time management no answer would ever arrive.
    let clocks = ["delay=10ms", "bank=200ms,increment=5ms"];
    let monte_carlo = format!("'{MONTE_CARLO}' --playouts 4000000000");
    for (game, seats) in games() {
        let bots = vec![RANDOM; seats as usize - 1];
        for clock in clocks {
            let bots = [&[monte_carlo.as_str()], &bots[..]].concat();
            play(&game, &bots, &["--clock", clock, "--margin", "2s"]);
        }
    }
    for clock in clocks {
        let alpha_beta = format!("'{ALPHA_BETA}' --depth 255");
        play("checkers", &[&alpha_beta, &monte_carlo], &["--clock", clock, "--margin", "2s"]);
    }
}

#[test]
fn alpha_beta_says_what_it_plays() {
    let output = Command::new(referee())
        .args(["play", "jeex", ALPHA_BETA, RANDOM])
        .current_dir(ROOT)
        .output()
        .expect("the referee starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("it plays checkers"), "{errors}");
}
