//! The example files.

use std::process::Command;

use crate::common::{Folder, ROOT, in_rust, referee, sample};

#[test]
fn the_host_in_python_plays_its_own_matches_over_stdio() {
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
fn the_bots_without_an_sdk_play_every_game() {
    let bots = [
        format!("ruby '{ROOT}/examples/bots/capture.rb'"),
        format!("lua5.4 '{ROOT}/examples/bots/random.lua'"),
    ];
    for game in referee(["games", "--json"]).json() {
        for seats in game["seats"].as_array().expect("a list") {
            let seats = seats.as_u64().expect("a number") as usize;
            let args = ["play", game["id"].as_str().expect("an id"), "--strict"].map(str::to_owned);
            let seated =
                bots.iter().cycle().take(seats).enumerate().map(|(seed, bot)| format!("{bot} --seed {seed}"));
            referee(args.into_iter().chain(seated)).with_code(0);
        }
    }
    for bot in &bots {
        let output = referee(["check", bot]).with_code(0).stdout;
        assert!(output.contains("0 with a warning, 0 failed"), "{output}");
    }
}

#[test]
fn the_embedding_plays_every_game_and_matches_between_programs() {
    let bots = [sample("python/random_bot.py"), sample("python/greedy_bot.py")];
    let output = Command::new(in_rust("examples/embed")).args(bots).output().expect("the example starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let games = referee(["games", "--json"]).json().len();
    assert_eq!(text.matches(" decisions, ").count(), games, "{text}");
    // A match without faults ends by a rule of the game.
    let rules = ["no_pieces", "no_moves", "quiet_plies"];
    let ended =
        text.lines().filter(|line| line.starts_with('m') && rules.iter().any(|rule| line.ends_with(rule)));
    assert_eq!(ended.count(), 10, "{text}");
    assert_eq!(text.lines().filter(|line| line.ends_with(" losses")).count(), 2, "{text}");
}

#[test]
fn embedding_plays_tournament_that_command_goes_on_with() {
    let folder = Folder::new();
    let bots = [sample("python/random_bot.py"), sample("python/greedy_bot.py")];
    let entrants = bots.map(|bot| format!("[[entrants]]\ncommand = {bot:?}\n")).concat();
    let head = "game = 'checkers'\nopening_plies = 4\noptions = { turn_limit = 30 }\nformat = { kind = 'gauntlet' }\n";
    let file = folder.write("cup.toml", format!("{head}{entrants}"));
    let play = || Command::new(in_rust("examples/embed")).arg(&file).output().expect("the example starts");
    let output = play();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("greedy_bot") && text.ends_with("2 records, 0 differ\n"), "{text}");
    // The directory is that of the command, and there is nothing left to play.
    let cup = folder.text("cup");
    assert_eq!(referee(["tournament", "resume", &cup, "--json"]).with_code(0).json().len(), 1);
    assert_eq!(play().stdout, output.stdout);
}

/// The texts between backticks in the line of `text` after `from`.
fn quoted<'a>(text: &'a str, from: &str) -> Vec<&'a str> {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("`{from}` is not in {text}"));
    rest.lines().next().unwrap_or_default().split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_tournament_example_shows_every_key() {
    let example = std::fs::read_to_string(format!("{ROOT}/examples/tournament.toml")).expect("the example");
    let folder = Folder::new();
    // The error for an unknown key lists all keys.
    let keys = |from: &str, to: &str| -> Vec<String> {
        assert!(example.contains(from), "{from}");
        let config = folder.write("cup.toml", example.replacen(from, to, 1));
        let ended = referee(["tournament", "check", &config]).with_code(2);
        let expected = if ended.stderr.contains("expected one of") { "expected one of" } else { "expected" };
        quoted(&ended.stderr, expected).into_iter().map(str::to_owned).collect()
    };
    let mut all = keys("name =", "unknown = 1\nname =");
    all.extend(keys("# [listen]", "[listen]\nunknown = 1\n#"));
    all.extend(keys("[[entrants]]", "[[entrants]]\nunknown = 1"));
    assert!(all.len() > 30, "{all:?}");
    let format = "kind = \"round_robin\"";
    for kind in keys(format, "kind = \"unknown\"") {
        assert!(example.contains(&format!("kind = \"{kind}\"")), "{kind}");
        all.extend(keys(format, &format!("kind = \"{kind}\"\nunknown = 1")));
    }
    for key in all {
        let shown = [format!("{key} = "), format!("[{key}]"), format!("; {key}")];
        assert!(shown.iter().any(|shown| example.contains(shown)), "`{key}`");
    }
}

#[test]
fn the_documented_queries_run_on_the_results_of_a_tournament() {
    let page = std::fs::read_to_string(format!("{ROOT}/examples/tournament.md")).expect("the page");
    let folder = Folder::new();
    let example = format!("{ROOT}/examples/tournament.toml");
    referee(["tournament", "run", &example, "--dir", &folder.text("cup")]).done();
    let db = rusqlite::Connection::open(folder.path("cup/results.sqlite")).expect("the results");
    let rows = |query: &str| -> Vec<String> {
        let mut query = db.prepare(query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let rows = query.query_map([], |row| Ok(format!("{:?} {:?}", row.get_ref(0)?, row.get_ref(1)?)));
        rows.expect("rows").map(|row| row.expect("a row")).collect()
    };
    let queries: Vec<&str> =
        page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().expect("its end")).collect();
    assert_eq!(queries.iter().map(|query| rows(query).len()).collect::<Vec<_>>(), [3, 6]);
    let tables = "SELECT name, sql FROM sqlite_schema WHERE type = 'table'";
    let mut tables = db.prepare(tables).expect("the schema");
    let tables = tables.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)));
    for (name, schema) in tables.expect("rows").map(|row| row.expect("a row")) {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
        assert!(schema.lines().nth(1).is_some_and(|line| line.trim().starts_with("-- ")), "{schema}");
    }
}
