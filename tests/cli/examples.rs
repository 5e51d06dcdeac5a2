//! The example files.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

use crate::common::{Folder, ROOT, referee};
use saphyr::{LoadableYamlNode, Yaml};

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
fn the_library_example_plays_every_game() {
    // With the same features as the whole test run, so that nothing is compiled again.
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--workspace", "--all-features", "--example", "in_process"])
        .current_dir(ROOT)
        .status();
    assert!(built.expect("cargo starts").success());
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_referee")).parent().expect("a folder");
    let output = Command::new(folder.join("examples/in_process")).output().expect("the example starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.matches(" decisions").count() >= 3, "{text}");
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

/// Runs the referee steps of a job of a workflow in a directory, with values for the expressions. Returns the last output.
fn run_job((workflow, job): (&str, &str), folder: &Folder, values: &[(&str, &str)]) -> Output {
    let text = std::fs::read_to_string(format!("{ROOT}/examples/ci/{workflow}.yml")).expect("the file");
    let workflow = Yaml::load_from_str(&text).expect("YAML").remove(0);
    let steps = workflow["jobs"][job]["steps"].as_sequence().expect("steps");
    let runs = || steps.iter().filter_map(|step| step.as_mapping_get("run")?.as_str());
    // Cargo needs the package name to install from a repository with several packages.
    assert!(
        runs()
            .any(|run| run.starts_with("cargo install --locked --git ") && run.ends_with("/referee referee"))
    );
    let lines = runs().filter_map(|run| run.trim().strip_prefix("referee "));
    let outputs = lines.map(|line| {
        let put =
            |line: String, (name, value): &(&str, &str)| line.replace(&format!("${{{{ {name} }}}}"), value);
        let line = values.iter().fold(line.to_owned(), put);
        assert!(!line.contains("${{"), "{line}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
        command.args(shlex::split(&line).expect("words")).current_dir(folder.path(""));
        command.env("GITHUB_STEP_SUMMARY", folder.path("summary.md")).output().expect("it starts")
    });
    // All steps run.
    let mut outputs: Vec<Output> = outputs.collect();
    outputs.pop().expect("a step that runs the referee")
}

/// The same for the only job of a workflow.
fn run_workflow(name: &str, folder: &Folder) -> Output {
    run_job((name, name), folder, &[])
}

/// Runs the workflow that splits the test over jobs. Returns the exit codes of the shards and the output of the last job.
fn run_shards(folder: &Folder) -> (Vec<Option<i32>>, Output) {
    let text = std::fs::read_to_string(format!("{ROOT}/examples/ci/regress_shards.yml")).expect("the file");
    let workflow = Yaml::load_from_str(&text).expect("YAML").remove(0);
    let make_seed = workflow["jobs"]["seed"]["steps"][0]["run"].as_str().expect("a command");
    let output = folder.path("output");
    let made = Command::new("sh").args(["-c", make_seed]).env("GITHUB_OUTPUT", &output).status();
    assert!(made.expect("sh starts").success());
    let seed = folder.read("output").trim().strip_prefix("seed=").expect("its name").to_owned();
    let shards = workflow["jobs"]["play"]["strategy"]["matrix"]["shard"].as_sequence().expect("a list");
    let codes = shards.iter().map(|shard| {
        let shard = shard.as_integer().expect("a number").to_string();
        let values = [("matrix.shard", &*shard), ("needs.seed.outputs.seed", &*seed)];
        run_job(("regress_shards", "play"), folder, &values).status.code()
    });
    let codes = codes.collect();
    (codes, run_job(("regress_shards", "merge"), folder, &[]))
}

#[test]
fn the_workflow_that_splits_the_test_over_jobs_tells_the_verdict_of_all() {
    let folder = Folder::new();
    for version in ["new", "base"] {
        std::fs::create_dir(folder.path(version)).expect("a folder");
        let script = "play(turn=lambda t: say(type='resign', match=t['match']))";
        program(&folder, &format!("{version}/bot"), &folder.bot(version, script));
    }
    let (codes, output) = run_shards(&folder);
    assert_eq!((codes, output.status.code()), (vec![Some(0); 4], Some(0)), "{output:?}");
    assert!(folder.read("summary.md").starts_with("### ✅ passed: plays move for move the same as the base"));
    assert!(folder.path("regress.xml").is_file());
}

#[test]
fn the_workflow_that_splits_the_test_over_jobs_fails_when_the_new_version_crashes() {
    let folder = Folder::new();
    for (version, script) in [("new", "play(turn=lambda _: os._exit(7))"), ("base", "play()")] {
        std::fs::create_dir(folder.path(version)).expect("a folder");
        program(&folder, &format!("{version}/bot"), &folder.bot(version, script));
    }
    let (codes, output) = run_shards(&folder);
    assert_eq!((codes, output.status.code()), (vec![Some(1); 4], Some(1)), "{output:?}");
    assert!(folder.read("summary.md").starts_with("### ❌ failed: the new version crashed in m"));
}

#[test]
fn the_tournament_workflow_adds_its_report_to_the_summary() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    let entrants = ["one", "two"].map(|name| format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n"));
    let head = "game = 'checkers'\noptions = { turn_limit = 20 }\n[format]\nkind = 'round_robin'\n";
    folder.write("cup.toml", format!("{head}{}", entrants.concat()));
    let output = run_workflow("tournament", &folder);
    assert!(output.status.success(), "{output:?}");
    assert!(folder.read("summary.md").contains("Standings"));
    assert!(folder.read("junit.xml").contains("<testcase name=\"one\""));
    assert!(folder.path("cup/records/m1.jsonl").is_file());
}

/// A bot as the workflows expect it: a program without arguments.
fn program(folder: &Folder, name: &str, command: &str) {
    let bot = folder.write(name, format!("#!/bin/sh\nexec {command}\n"));
    std::fs::set_permissions(bot, std::fs::Permissions::from_mode(0o755)).expect("a file");
}

#[test]
fn the_regress_workflow_reports_its_verdict() {
    let folder = Folder::new();
    for (version, script) in [("new", "play()"), ("base", "play(turn=lambda _: os._exit(7))")] {
        std::fs::create_dir(folder.path(version)).expect("a folder");
        program(&folder, &format!("{version}/bot"), &folder.bot(version, script));
    }
    let output = run_workflow("regress", &folder);
    assert_eq!(output.status.code(), Some(4), "invalid, for the faults of the base: {output:?}");
    assert!(folder.read("summary.md").starts_with("### ❌ invalid"));
    assert!(folder.path("regress.xml").is_file() && folder.path("records/m1.jsonl").is_file());
}

#[test]
fn the_regress_workflow_passes_an_unchanged_version() {
    let folder = Folder::new();
    for version in ["new", "base"] {
        std::fs::create_dir(folder.path(version)).expect("a folder");
        program(&folder, &format!("{version}/bot"), &folder.plain_bot(version));
    }
    let output = run_workflow("regress", &folder);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(folder.read("summary.md").starts_with("### ✅ passed: plays move for move the same as the base"));
}

#[test]
fn the_check_workflow_fails_for_a_failing_bot() {
    for (script, code) in [("play()", 0), ("play(turn=lambda _: os._exit(7))", 1)] {
        let folder = Folder::new();
        program(&folder, "bot", &folder.bot("script", script));
        let output = run_workflow("check", &folder);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert_eq!(folder.read("check.xml").contains("<failure"), code == 1);
    }
}
