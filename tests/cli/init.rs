//! `referee init`: what it writes plays at once, in every language.

use std::path::Path;
use std::process::Command;

use saphyr::{LoadableYamlNode, Yaml};

use crate::common::{Folder, QUICK_BUILD, referee};

/// Runs a shell script with the referee on the PATH, and returns its output.
fn shell(script: &str, directory: &Path) -> String {
    let built = Path::new(env!("CARGO_BIN_EXE_referee")).parent().expect("a folder");
    let path = format!("{}:{}", built.display(), std::env::var("PATH").expect("PATH"));
    let mut sh = Command::new("sh");
    sh.args(["-euc", script]).current_dir(directory).env("PATH", path).env_remove("CARGO_TARGET_DIR");
    let output = sh.envs(QUICK_BUILD).output().expect("sh starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script}\n{stdout}{stderr}");
    stdout.into_owned()
}

/// The steps that a command proposes, after an empty line.
fn steps(output: &str) -> &str {
    output.split_once("\n\n").expect("steps").1
}

fn plays_every_game(language: &str) {
    let folder = Folder::new();
    let output = shell(&format!("referee init bot --language {language} 'my first bot'"), &folder.path(""));
    let played = shell(steps(&output), &folder.path(""));
    assert!(played.contains("0 with a warning, 0 failed"), "{played}");
    assert!(!played.contains("fault"), "{played}");
    let readme = folder.read("my first bot/README.md");
    assert!(readme.starts_with("# my_first_bot\n") && !readme.contains('@'), "{readme}");
    // It contains the steps, except the change of the directory.
    assert!(readme.contains(steps(&output).split_once('\n').expect("lines").1), "{readme}");
    let agents = folder.read("my first bot/AGENTS.md");
    assert!(
        agents.contains("referee check .") && agents.contains("workshop ask") && !agents.contains('@'),
        "{agents}"
    );
    let file = folder.read("my first bot/bot.toml");
    assert!(file.contains("name = \"my_first_bot\"\n") && !file.contains('@'), "{file}");
    let workflow = folder.read("my first bot/.github/workflows/test.yml");
    let workflow = Yaml::load_from_str(&workflow).expect("YAML").remove(0);
    let last = &workflow["jobs"]["test"]["steps"].as_sequence().expect("steps")[2];
    assert_eq!(last["run"].as_str(), Some("./test.sh"));
}

macro_rules! languages {
    ($($language:ident)*) => {
        const LANGUAGES: &[&str] = &[$(stringify!($language)),*];

        mod a_new_bot_plays_every_game_in {$(
            #[test]
            fn $language() {
                super::plays_every_game(stringify!($language));
            }
        )*}
    };
}

languages! { python javascript rust go java c shell ruby }

#[test]
fn each_language_of_new_bots_has_a_test() {
    let ended = referee(["init", "bot", "x", "--language", "cobol"]).with_code(2);
    let offered = ended.stderr.split_once("[possible values: ").expect("values").1;
    let offered: Vec<&str> = offered.split_once(']').expect("its end").0.split(", ").collect();
    assert_eq!(offered, LANGUAGES);
}

fn is_a_game(language: &str) {
    let folder = Folder::new();
    let output = shell(&format!("referee init game --language {language} 'My 2nd game'"), &folder.path(""));
    let played = shell(steps(&output), &folder.path(""));
    assert!(played.contains("ok      imagine") && played.contains("ok      purity"), "{played}");
    assert!(played.contains("wins (last stick)"), "{played}");
    assert!(folder.read("My 2nd game/match.html").contains("</html>"));
    let checked = shell("'My 2nd game/test.sh'", &folder.path(""));
    assert!(checked.contains("ok      purity"), "{checked}");
    let options = "cd 'My 2nd game' && ! referee play . a b --set sticks=0";
    shell(&format!("{options} 2>error && grep 'sticks: 0; expected 1 to 100' error"), &folder.path(""));
    for file in ["README.md", "game.toml", "rules.md"] {
        let text = folder.read(&format!("My 2nd game/{file}"));
        assert!(text.contains("My_2nd_game") && !text.contains('@'), "{text}");
    }
    assert!(folder.read("My 2nd game/game.toml").contains("id = \"my_2nd_game\""));
    assert!(folder.read("My 2nd game/README.md").contains(steps(&output).split_once('\n').expect("lines").1));
    assert!(folder.read("My 2nd game/.github/workflows/test.yml").contains("name: Test the game\n"));
}

macro_rules! languages_of_games {
    ($($language:ident)*) => {
        const LANGUAGES_OF_GAMES: &[&str] = &[$(stringify!($language)),*];

        mod a_new_game_is_checked_played_and_shown {$(
            #[test]
            fn $language() {
                super::is_a_game(stringify!($language));
            }
        )*}
    };
}

languages_of_games! { python javascript c rust }

#[test]
fn each_language_of_new_games_has_a_test() {
    let ended = referee(["init", "game", "x", "--language", "cobol"]).with_code(2);
    let offered = ended.stderr.split_once("[possible values: ").expect("values").1;
    let offered: Vec<&str> = offered.split_once(']').expect("its end").0.split(", ").collect();
    assert_eq!(offered, LANGUAGES_OF_GAMES);
}

#[test]
fn a_new_game_does_not_take_the_id_of_another() {
    let folder = Folder::new();
    let refused = referee(["init", "game", "-l", "c", &folder.text("Checkers")]).with_code(2);
    refused.says(&["checkers is a game of the referee: name another directory"]);
}

#[test]
fn a_new_tournament_is_played_at_once() {
    let folder = Folder::new();
    let output = shell("referee init tournament cup --game saxum", &folder.path(""));
    let played =
        shell(&format!("echo\necho\n{}", steps(&format!("\n\n{}", steps(&output)))), &folder.path(""));
    assert!(played.contains("three"), "{played}");
    assert!(folder.read("cup/tournament.toml").contains("name = \"cup\"\ngame = \"saxum\""));
}

#[test]
fn new_files_never_replace_others() {
    let folder = Folder::new();
    folder.write("file", "kept");
    let here = folder.text("");
    for what in [vec!["bot", "--language", "c"], vec!["game", "--language", "c"], vec!["tournament"]] {
        let args = ["init"].into_iter().chain(what).chain([&*here]);
        referee(args).with_code(2).says(&[&here, "is not empty: name a new directory"]);
    }
    assert_eq!(folder.read("file"), "kept");
    referee(["init", "bot", "-l", "c", &folder.text("file")]).with_code(5).says(&["file: "]);
    referee(["init", "tournament", &folder.text("new"), "--game", "ludo"]).with_code(2).says(&["ludo"]);
    assert!(!folder.path("new").exists());
}
