//! The example of an arena of language models: what a mock server does to its clients changes no result.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::common::{Folder, ROOT, referee};

const EXAMPLE: &str = "examples/llm_arena";

/// The server of the example. It ends with its standard input.
struct MockServer {
    process: Child,
    url: String,
}

impl MockServer {
    fn start(options: &[&str]) -> MockServer {
        let mut python = Command::new("python3");
        let command = python.arg(format!("{ROOT}/{EXAMPLE}/server.py")).args(["--port", "0"]).args(options);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut url = String::new();
        let stdout = process.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut url).expect("its address");
        MockServer { process, url: url.trim().to_owned() }
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.process.stdin = None;
        let _ = self.process.wait();
    }
}

/// Plays a round robin with these commands of models, in this directory.
fn played(
    folder: &Folder,
    dir: &str,
    (seed, cycles): (u32, u32),
    models: &[&str],
    command: impl Fn(&str) -> String,
) -> Vec<Value> {
    played_with(folder, dir, "", (seed, cycles), models, command)
}

/// The same with these lines in the file.
fn played_with(
    folder: &Folder,
    dir: &str,
    lines: &str,
    (seed, cycles): (u32, u32),
    models: &[&str],
    command: impl Fn(&str) -> String,
) -> Vec<Value> {
    let entrant =
        |model: &&str| format!("[[entrants]]\nname = '{model}'\ncommand = \"{}\"\n", command(model));
    let entrants: String = models.iter().map(entrant).collect();
    let config = format!(
        "game = 'checkers'\n{lines}opening_plies = 4\nclock = 'delay=60s'\ntrust_outages = true\njobs = 2\nseed = '{seed:064}'\n\
         [format]\nkind = 'round_robin'\ncycles = {cycles}\n{entrants}"
    );
    let (file, cup) = (folder.write(&format!("{dir}.toml"), config), folder.text(dir));
    referee(["tournament", "run", &file, "--dir", &cup, "--strict"]).with_code(0);
    let exported = referee(["tournament", "export", &cup, "--format", "json"]).done().all("match");
    exported.into_iter().filter(|of| of["ranks"].is_array()).collect()
}

fn direct(model: &str) -> String {
    format!("env PYTHONPATH={ROOT}/bots/python python3 {ROOT}/{EXAMPLE}/direct.py {model}")
}

/// A model behind this server, which gives up a move after two seconds.
fn served(server: &MockServer, model: &str) -> String {
    let (url, referee) = (&server.url, env!("CARGO_BIN_EXE_referee"));
    format!(
        "env PYTHONPATH={ROOT}/bots/python python3 -m referee_bot.llm --base-url {url} --model {model} --attempts 10 \
         --time-limit 2 --prices {ROOT}/{EXAMPLE}/prices.toml --referee {referee}"
    )
}

fn courses(matches: &[Value]) -> Vec<(String, &Value, &Value, &Value)> {
    let number =
        |of: &Value| of["id"].as_str().expect("an id").split('.').next().unwrap_or_default().to_owned();
    matches.iter().map(|of| (number(of), &of["ranks"], &of["reason"], &of["decisions"])).collect()
}

/// The total of this name over all entrants of a tournament.
fn total(folder: &Folder, dir: &str, name: &str) -> f64 {
    let report =
        referee(["tournament", "report", &folder.text(dir), "--format", "json"]).done().one("report");
    let details = report["details"].as_array().expect("a list");
    details.iter().filter_map(|of| of["totals"][name].as_f64()).sum()
}

#[test]
fn neither_spoiled_replies_nor_an_outage_change_a_result() {
    let folder = Folder::new();
    let models = ["search-00", "search-99"];
    let known = played(&folder, "direct", (1, 1), &models, direct);
    let server = MockServer::start(&["--outage-after", "40", "--outage", "14"]);
    let found = played(&folder, "arena", (1, 1), &models, |model| served(&server, model));
    assert_eq!(courses(&found), courses(&known));
    assert!(total(&folder, "arena", "outages") >= 1.0);
    assert!(total(&folder, "arena", "rejected_refused") >= 1.0);
    assert!(total(&folder, "arena", "cost_usd") > 0.0);
}

#[test]
fn the_report_of_the_arena_has_the_recall_gap() {
    let folder = Folder::new();
    let models = ["search-00", "search-99"];
    let server = MockServer::start(&["--spoil", "0"]);
    let command = |model: &str| served(&server, model);
    played(&folder, "arena", (1, 2), &models, command);
    let disguise = "disguise = 'a text that no model knows'\n";
    played_with(&folder, "disguised", disguise, (1, 2), &models, command);
    let [arena, disguised] = ["arena", "disguised"].map(|dir| folder.text(dir));
    let report = referee(["tournament", "report", &arena, "--recall", &disguised, "--format", "json"]);
    let recall = report.done().one("report")["recall"].clone();
    assert_eq!(recall["entrants"][0]["name"], "search-99", "{recall}");
    assert!(recall["entrants"][0]["gap"]["value"].as_f64() > Some(0.0), "{recall}");
}

#[test]
fn file_of_example_has_models_of_its_server() {
    let check =
        referee(["tournament", "check", &format!("{ROOT}/{EXAMPLE}/arena.toml"), "--no-start", "--json"]);
    let check = check.done().one("check");
    let names: Vec<&str> =
        check["entrants"].as_array().expect("a list").iter().filter_map(|of| of["name"].as_str()).collect();
    let mut python = Command::new("python3");
    let script = "import tomllib; from players import MODELS; from referee_bot.llm.prices import read_prices\n\
                  for model in MODELS: read_prices('prices.toml', model); print(model)";
    let path = format!("{ROOT}/bots/python");
    let said =
        python.args(["-c", script]).env("PYTHONPATH", path).current_dir(format!("{ROOT}/{EXAMPLE}")).output();
    let models = String::from_utf8(said.expect("it runs").stdout).expect("text");
    assert_eq!(models.lines().collect::<Vec<_>>(), names);
    assert_eq!(names.len(), 10);
}

/// The strengths that the direct players show in other matches lie in the intervals of the arena.
#[test]
#[ignore = "ten models play for minutes"]
fn the_arena_finds_known_strengths() {
    let folder = Folder::new();
    let names: Vec<String> = (0..100).step_by(11).map(|share| format!("search-{share:02}")).collect();
    let models: Vec<&str> = names.iter().map(String::as_str).collect();
    let known = played(&folder, "direct", (1, 1), &models, direct);
    played(&folder, "others", (2, 8), &models, direct);
    let server = MockServer::start(&[]);
    let found = played(&folder, "arena", (1, 1), &models, |model| served(&server, model));
    assert_eq!(courses(&found), courses(&known));
    let elo = |dir: &str| -> Vec<(String, [f64; 3])> {
        let standings =
            referee(["tournament", "standings", &folder.text(dir), "--json"]).done().one("standings");
        let mut all: Vec<_> = standings["entrants"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|of| {
                (of["name"].to_string(), ["low", "value", "high"].map(|key| of["elo"][key].as_f64().unwrap()))
            })
            .collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    };
    let (arena, others) = (elo("arena"), elo("others"));
    let inside = arena.iter().zip(&others).filter(|((_, arena), (_, other))| {
        let spread = (arena[2] - arena[0]).hypot(other[2] - other[0]) / 2.0;
        (arena[1] - other[1]).abs() <= spread
    });
    assert!(inside.count() >= 9, "{arena:?} {others:?}");
}
