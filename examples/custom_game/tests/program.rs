//! The program with its game.

use std::process::Command;

#[test]
fn perft_counts_the_matches_of_nine_moves() {
    let args = ["perft", "tic_tac_toe", "--depth", "9", "--json"];
    let output = Command::new(env!("CARGO_BIN_EXE_tic-tac-toe")).args(args).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("JSON");
    let last = text.lines().nth(8).expect("nine depths");
    assert!(last.contains("\"leaves\":127872"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}
