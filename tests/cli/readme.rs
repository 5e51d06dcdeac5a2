//! The claims of the README.

use std::fs;
use std::process::Command;

use crate::common::{Folder, ROOT, SEED, referee, sample};

fn readme() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap()
}

/// The fenced blocks of a language.
fn fences(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
}

/// The arguments of the command lines in the README that run the referee.
fn commands() -> Vec<Vec<String>> {
    let shell = fences(&readme(), "sh").concat();
    let ours = shell.lines().filter_map(|line| line.strip_prefix("referee "));
    ours.map(|line| shlex::split(line).unwrap()).collect()
}

#[test]
fn the_bot_in_ten_lines_plays_ten_matches_without_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let bot = &fences(&readme(), "python")[0];
    assert!(bot.lines().count() <= 12, "no longer a bot in ten lines:\n{bot}");
    fs::write(folder.path().join("mybot.py"), bot).unwrap();
    let command =
        commands().into_iter().find(|words| words.iter().any(|word| word.contains("mybot.py"))).unwrap();
    std::os::unix::fs::symlink(concat!(env!("CARGO_MANIFEST_DIR"), "/bots"), folder.path().join("bots"))
        .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_referee"))
        .args(&command)
        .args(["--json", "--strict"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.lines().last().unwrap().contains(r#""matches":10"#), "{text}");
}

#[test]
fn the_first_command_shows_a_match_and_writes_a_valid_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut commands = commands();
    let show = commands.remove(1);
    let mut command = commands.remove(0);
    let records = command.last_mut().unwrap();
    *records = folder.path().join(&records).to_string_lossy().into_owned();
    for _ in 0..2 {
        let output = Command::new(env!("CARGO_BIN_EXE_referee"))
            .args(&command)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        for part in ["  1. random_bot: ", "Black to move", "m1: ", " wins (rules: ", "m1.jsonl"] {
            assert!(text.contains(part), "{part} is missing in:\n{text}");
        }
        assert!(!text.contains('\x1b'), "colours in a pipe");
        let record = text.lines().last().unwrap().strip_prefix("record: ").unwrap();
        let verified = Command::new(env!("CARGO_BIN_EXE_referee")).args(["verify", record]).output().unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    }
    let shown = Command::new(env!("CARGO_BIN_EXE_referee")).args(&show).current_dir(folder.path()).output();
    assert!(shown.expect("it starts").status.success(), "{show:?}");
    assert!(fs::read_to_string(folder.path().join("match.html")).unwrap().contains("</html>"));
}

#[test]
fn the_picture_of_the_readme_is_current() {
    let folder = Folder::new();
    let bots = ["--seed 1", "--seed 2"].map(|seed| format!("{} {seed}", sample("python/random_bot.py")));
    let records = folder.text("records");
    referee(["play", "checkers", &bots[0], &bots[1], "--seed", SEED, "--record", &records]).with_code(0);
    let drawn = referee(["show", &folder.text("records/m1.jsonl"), "--svg", "--turn", "14"]).done().stdout;
    let path = format!("{ROOT}/examples/replay.svg");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &drawn).unwrap();
    }
    assert!(readme().contains(r#"<img src="examples/replay.svg""#));
    let hint = "UPDATE=1 cargo test --test cli readme:: draws it anew";
    assert!(fs::read_to_string(&path).unwrap() == drawn, "{path} is not current: {hint}");
}

#[test]
fn links_of_the_readme_and_contributing_are_valid() {
    for page in ["README.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(format!("{}/{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        for target in
            text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
        {
            let path = format!("{}/{target}", env!("CARGO_MANIFEST_DIR"));
            assert!(target.starts_with("http") || fs::exists(&path).unwrap(), "{page} links to {target}");
        }
    }
}
