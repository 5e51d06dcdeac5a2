//! `referee tournament`: what its file may say of an entrant, and what a report says of it.

mod common;

use common::{Folder, SEED, referee};

/// Writes the file of a short tournament: `head`, and an entrant for each name with its further keys.
fn cup(folder: &Folder, head: &str, entrants: &[(&str, String)]) -> String {
    let mut text = format!(
        "game = 'checkers'\nseed = '{SEED}'\noptions = {{ turn_limit = 20 }}\n{head}\n\n[format]\nkind = 'round_robin'\n"
    );
    for (name, keys) in entrants {
        text += &format!("[[entrants]]\nname = '{name}'\n{keys}\n");
    }
    folder.write("cup.toml", text)
}

/// The key that says how a bot is started.
fn command(bot: &str) -> String {
    format!("command = \"{bot}\"")
}

#[test]
fn who_has_not_played_yet_has_no_elo() {
    let folder = Folder::new();
    let dir = folder.text("cup");
    let plain = command(&folder.plain_bot("plain"));
    let config = cup(&folder, "", &[("one", plain.clone()), ("two", plain)]);
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    referee(["tournament", "add", &dir, &folder.plain_bot("late")]).done();
    let standings = referee(["tournament", "standings", &dir, "--json"]).done().one("standings");
    for row in standings["entrants"].as_array().expect("a list") {
        let is_known = row["name"] != "late";
        assert_eq!([row["elo"]["low"].is_number(), row["elo"]["high"].is_number()], [is_known; 2], "{row}");
    }
    let table = referee(["tournament", "standings", &dir]).done().stdout;
    let late = table.lines().find(|line| line.contains("late")).expect("its row");
    assert!(late.trim_end().ends_with(" -"), "{table}");
    let page = referee(["tournament", "report", &dir, "--format", "html"]).done().stdout;
    assert!(page.contains("<title>late: -</title>") && !page.contains("inf"), "{page}");
    let csv = referee(["tournament", "report", &dir, "--format", "csv"]).done().stdout;
    assert!(csv.contains("late") && !csv.contains("inf"), "{csv}");
}
