//! The files that a user copies.

mod common;

use std::process::Command;

use common::{Folder, ROOT, referee};

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

/// What stands between backticks in the line of `text` after `from`.
fn quoted<'a>(text: &'a str, from: &str) -> Vec<&'a str> {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("`{from}` is not in {text}"));
    rest.lines().next().unwrap_or_default().split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_example_of_a_tournament_shows_every_key() {
    let example = std::fs::read_to_string(format!("{ROOT}/examples/tournament.toml")).expect("the example");
    let folder = Folder::new();
    // An unknown key is answered with all that there are.
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
fn the_queries_of_the_page_on_tournaments_run_on_the_results_of_one() {
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
