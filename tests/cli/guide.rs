//! The claims of bots/README.md: its steps from an empty directory to a result, and its list of common mistakes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Folder, QUICK_BUILD, ROOT, referee};

fn guide() -> String {
    fs::read_to_string(format!("{ROOT}/bots/README.md")).unwrap()
}

/// The text under a heading, up to the next one of its level or above.
fn section(heading: &str) -> String {
    let level = heading.split(' ').next().unwrap();
    let text = guide();
    let lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let is_inside = |line: &&str| {
        !line.starts_with('#') || line.split(' ').next().is_some_and(|hashes| hashes.len() > level.len())
    };
    let inside: Vec<&str> = lines.take_while(is_inside).collect();
    assert!(!inside.is_empty(), "no section `{heading}`");
    inside.join("\n")
}

/// The steps of a section as one shell script: its commands, and its files, if their names precede them.
fn script(section: &str) -> String {
    let mut script = "set -eux\n".to_owned();
    let mut parts = section.split("```");
    while let (Some(before), Some(fence)) = (parts.next(), parts.next()) {
        let (language, content) = fence.split_once('\n').unwrap();
        let name =
            before.trim_end().lines().last().and_then(|line| line.strip_prefix('`')?.strip_suffix("`:"));
        match name {
            Some(name) => script += &format!("cat > {name} <<'END OF {name}'\n{content}END OF {name}\n"),
            None => {
                assert_eq!(language, "sh", "what is it for? {content}");
                script += content;
            }
        }
    }
    script
}

/// A copy of the repository, so that the build results of the steps do not interfere.
fn clone(into: &Path) {
    let copy = "tar -c --exclude=./.git --exclude=./target --exclude=./bots/*/target --exclude=node_modules . | \
                tar -x -C \"$0\"";
    let status = Command::new("sh").args(["-c", copy]).arg(into).current_dir(ROOT).status().unwrap();
    assert!(status.success());
}

#[track_caller]
fn steps_lead_to_a_result(language: &str) {
    let (repository, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    clone(repository.path());
    let home = folder.path().join("mybot");
    fs::create_dir(&home).unwrap();
    let built = Path::new(env!("CARGO_BIN_EXE_referee")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(built.to_owned()).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = Command::new("sh")
        .args(["-c", &script(&section(&format!("### {language}")))])
        .current_dir(&home)
        .env("REFEREE_SOURCE", repository.path())
        .env("PATH", path.unwrap())
        .envs(QUICK_BUILD)
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    let has = |text: &str| stdout.lines().any(|line| line.contains(text));
    assert!(has("wins  draws  losses") && has("my bot") && has("0 with a warning, 0 failed"), "{stdout}");
}

macro_rules! languages {
    ($($(#[$attribute:meta])* $test:ident: $language:literal)*) => {$(
        #[test]
        $(#[$attribute])*
        fn $test() {
            steps_lead_to_a_result($language);
        }
    )*};
}

// New bots in all of them are built and play in `init`.
languages! {
    a_bot_in_python: "Python"
    #[ignore = "installs the SDK with npm"]
    a_bot_in_javascript: "JavaScript"
    #[ignore = "builds the SDK"]
    a_bot_in_rust: "Rust"
    #[ignore = "builds the SDK"]
    a_bot_in_go: "Go"
    #[ignore = "builds the SDK"]
    a_bot_in_java: "Java"
    #[ignore = "builds the SDK"]
    a_bot_in_c: "C"
    a_bot_in_shell: "Shell"
}

#[test]
fn each_language_of_the_guide_has_a_test() {
    let guide = section("## Write a bot");
    let sections: Vec<&str> = guide.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert_eq!(sections, ["Python", "JavaScript", "Rust", "Go", "Java", "C", "Shell"]);
}

/// Checks that a bot with this mistake has the fault that the page lists.
fn is_told(mistake: &str, bot: &str) {
    let table = section("## Common mistakes");
    let row = table.lines().find(|line| line.starts_with(&format!("| {mistake}"))).expect(mistake);
    let said = row.split(" | ").nth(1).unwrap().trim_matches('`').trim();
    let folder = Folder::new();
    let bot = format!("sh '{}'", folder.write("bot.sh", bot));
    let shell = format!("sh '{ROOT}/bots/shell/random_bot.sh'");
    let ended = referee(["play", "checkers", &bot, &shell, "--clock", "delay=2s"]);
    assert!(
        (ended.stdout.clone() + &ended.stderr).replace(" of bot in m1: ", ": ").contains(said),
        "{said}: {ended:#?}"
    );
}

/// A bot in jq, with this action at a turn.
fn at_a_turn(what: &str) -> String {
    format!(
        r#"exec jq -c --unbuffered '
          if .type == "hello" then {{type, protocol, name: "my bot"}}
          elif .type == "start" then {{type: "ready", match, seat}}
          elif .type == "turn" then {what}
          else empty end'"#
    )
}

#[test]
fn unflushed_output_has_the_listed_fault() {
    is_told("Output is not flushed", &at_a_turn("empty").replace("--unbuffered", ""));
}

#[test]
fn reading_until_the_end_has_the_listed_fault() {
    is_told(
        "The bot reads until",
        "cat >/dev/null; echo '{\"type\":\"hello\",\"protocol\":1,\"name\":\"late\"}'",
    );
}

#[test]
fn slow_initialization_has_the_listed_fault() {
    is_told("The bot initializes for too long", "sleep 15; exec sh bots/shell/random_bot.sh");
}

#[test]
fn an_answer_without_its_request_has_the_listed_fault() {
    is_told("An answer lacks", &at_a_turn(r#"{type: "move", match, move: .legal[0]}"#));
}

#[test]
fn printing_to_standard_output_has_the_listed_fault() {
    is_told(
        "Diagnostics are printed",
        &at_a_turn("\"thinking\", {type: \"move\", match, turn, move: .legal[0]}"),
    );
}

#[test]
fn a_different_notation_has_the_listed_fault() {
    is_told("A move is in a different notation", &at_a_turn(r#"{type: "move", match, turn, move: "e2-e4"}"#));
}

#[test]
fn thinking_for_too_long_has_the_listed_fault() {
    let thinks = r#"if .turn < 3 then {type: "move", match, turn, move: .legal[0]} else empty end"#;
    is_told("The bot thinks longer", &at_a_turn(thinks));
}
