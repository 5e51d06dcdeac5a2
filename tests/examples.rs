//! The files that a user copies.

mod common;

use std::process::Command;

use common::ROOT;

#[test]
fn the_host_in_python_plays_matches_of_its_own_over_stdio() {
    for game in ["checkers", "saxum"] {
        let output = Command::new("python3")
            .arg(format!("{ROOT}/examples/host.py"))
            .args([env!("CARGO_BIN_EXE_referee"), game, "40"])
            .output()
            .expect("python3 starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.starts_with(&format!("40 matches of {game}; score of seat 0: {{")), "{text}");
    }
}

#[test]
fn the_example_of_the_library_plays_every_game() {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--example", "in_process"])
        .current_dir(ROOT)
        .output()
        .expect("cargo starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.matches(" decisions").count() >= 3, "{text}");
}
