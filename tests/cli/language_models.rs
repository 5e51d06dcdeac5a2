//! Language models as bots: through llama.cpp, and through a server in Python that speaks the documented chat API.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::common::{Folder, ROOT, referee, sample};

/// A server for a model. It ends with its standard input.
struct ModelServer {
    process: Child,
    url: String,
}

impl ModelServer {
    /// A model that chooses at random.
    fn start() -> ModelServer {
        let mut python = Command::new("python3");
        ModelServer::of(python.args(["-m", "tests.model_server"]).current_dir(format!("{ROOT}/bots/python")))
    }

    /// A small model with random weights, through llama.cpp.
    fn llama(folder: &Folder) -> ModelServer {
        let (python, file) = (format!("{ROOT}/target/python/bin/python"), folder.text("tiny.gguf"));
        let mut writer = Command::new(python);
        writer.arg(format!("{ROOT}/tests/models/tiny_model.py")).arg(&file);
        assert!(writer.status().expect("tests/run installs it").success());
        ModelServer::of(Command::new("node").arg(format!("{ROOT}/tests/models/server.mjs")).arg(&file))
    }

    fn of(command: &mut Command) -> ModelServer {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut url = String::new();
        let stdout = process.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut url).expect("its address");
        ModelServer { process, url: url.trim().to_owned() }
    }

    /// The command line of a bot that asks a model of this server.
    fn bot(&self, model: &str, options: &str) -> String {
        let referee = env!("CARGO_BIN_EXE_referee");
        format!(
            "env PYTHONPATH='{ROOT}/bots/python' python3 -m referee_bot.llm --base-url {} --model {model} \
             --referee '{referee}' {options}",
            self.url
        )
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.process.stdin = None;
        let _ = self.process.wait();
    }
}

#[test]
fn a_language_model_plays_a_match_of_every_game() {
    let server = ModelServer::start();
    for game in referee(["games", "--json"]).json() {
        let [id, seats] = [&game["id"], &game["seats"][0]].map(ToString::to_string);
        let folder = Folder::new();
        let mut args =
            vec!["play".to_owned(), id.trim_matches('"').to_owned(), server.bot("tiny-random", "")];
        let others = seats.parse::<usize>().expect("a number") - 1;
        args.extend(vec![sample("python/random_bot.py"); others]);
        args.extend(["--strict", "--record"].map(str::to_owned));
        args.push(folder.text("records"));
        referee(args).with_code(0);
        let record = folder.record("records/m1.jsonl");
        let infos: Vec<_> = record.iter().filter_map(|line| line.get("info")).collect();
        assert!(!infos.is_empty(), "{record:?}");
        for info in infos {
            assert!(info["tokens_in"].as_u64() > Some(100) && info.get("problem").is_none(), "{info}");
        }
    }
}

/// Whatever the weights are, the schema of the request leaves only legal moves.
#[test]
#[ignore = "a real model computes for minutes"]
fn a_model_of_llama_cpp_gives_only_legal_moves() {
    let folder = Folder::new();
    let server = ModelServer::llama(&folder);
    let (bot, random) = (server.bot("tiny", ""), sample("python/random_bot.py"));
    // With this seed, the model can move in Keezenspel. It would be asked nothing if it had to hand in its cards.
    let seed = format!("{:064}", 2);
    for game in ["checkers", "jeex", "keezen", "saxum"] {
        let records = folder.text(game);
        let mut args = vec!["play", game, &bot, &random, "--set", "turn_limit=6", "--strict"];
        args.extend(["--seed", &seed, "--record", &records]);
        referee(args).with_code(0);
        let record = folder.record(&format!("{game}/m1.jsonl"));
        let infos: Vec<_> = record.iter().filter_map(|line| line.get("info")).collect();
        assert!(!infos.is_empty(), "{record:?}");
        for info in infos {
            assert!(info["tokens_in"].as_u64() > Some(1_000) && info.get("problem").is_none(), "{info}");
            assert_eq!(info["requests"], 1, "{info}");
        }
    }
}

/// The command line of the null model.
fn null() -> String {
    let referee = env!("CARGO_BIN_EXE_referee");
    format!(
        "env PYTHONPATH='{ROOT}/bots/python' python3 -m referee_bot.llm --model null --referee '{referee}'"
    )
}

/// The same model under two names shows how large differences are that mean nothing.
#[test]
fn null_pair_names_itself_and_how_its_answers_were_read() {
    let folder = Folder::new();
    let entrants: String = ["one", "two"]
        .map(|name| format!("[[entrants]]\nname = '{name}'\ncommand = \"{} --seed 1\"\n", null()))
        .concat();
    let config = format!(
        "game = 'checkers'\nopening_plies = 2\noptions = {{ turn_limit = 12 }}\n[format]\nkind = 'round_robin'\n{entrants}"
    );
    let (file, cup) = (folder.write("cup.toml", config), folder.text("cup"));
    referee(["tournament", "run", &file, "--dir", &cup]).with_code(0);
    let report = referee(["tournament", "report", &cup, "--format", "json"]).done().one("report");
    for details in report["details"].as_array().expect("a list") {
        let said = &details["said"][0];
        assert_eq!((&said["model"], &said["attempts"]), (&json!("null"), &json!("3")), "{details}");
        assert_eq!(said["package_sha256"].as_str().map(str::len), Some(64), "{details}");
        let named: u64 = ["exact", "decoration", "last_named"]
            .map(|rule| details["totals"][format!("resolved_{rule}")].as_u64().unwrap_or(0))
            .iter()
            .sum();
        assert_eq!(details["totals"]["requests"], named, "{details}");
        assert!(named >= 10, "{details}");
    }
    let page = referee(["tournament", "report", &cup, "--format", "html"]).done().stdout;
    assert!(page.contains("package_sha256: ") && page.contains("What it says of itself"), "{page}");
    let header = &folder.record("cup/records/m1.jsonl")[0];
    assert_eq!(header["seats"][0]["bot"]["details"]["model"], "null", "{header}");
}

#[test]
fn details_beyond_their_limits_are_refused() {
    let folder = Folder::new();
    for details in
        ["{str(n): '' for n in range(33)}", "{'model': 'x' * 257}", "{'': 'x'}", "{'model': 7}", "['model']"]
    {
        let hello = format!("say(type='hello', protocol=1, name='x', details={details})");
        let bot = folder.bot("bot", &format!("play(hello=lambda _: {hello})"));
        let play = ["play", "checkers", &bot, &folder.plain_bot("plain"), "--hello-limit", "500ms"];
        let ended = referee(play);
        let shown = ended.stdout + &ended.stderr;
        assert!(
            shown.contains("`details` are at most 32 strings of at most 256 characters"),
            "{details}: {shown}"
        );
    }
}

#[test]
fn list_of_legal_moves_can_be_hidden_from_bot() {
    let folder = Folder::new();
    let script = "import os
TOLD = []
def start(s):
    TOLD.append(s.get('unlisted'))
    ready(s)
def turn(t):
    if 'legal' in t or TOLD != [True]:
        os._exit(3)
    move(t, '9-14' if 'retry' in t else '1-32')
def error(e):
    if 'legal`' in e['message'] or 'legal_forms' in e:
        os._exit(4)
play(start=start, turn=turn, error=error)";
    let (blind, plain, records) =
        (folder.bot("blind", script), folder.plain_bot("plain"), folder.text("records"));
    let play = ["play", "checkers", &blind, &plain, "--hide-legal=1", "--on-fault", "retry=1", "--json"];
    let ended = referee([&play[..], &["--set", "turn_limit=2", "--record", &records]].concat()).with_code(0);
    let played = ended.one("match");
    assert_eq!(
        (&played["reason"], &played["faults"]),
        (&json!("turn_limit"), &json!([{"illegal_move": 1}, {}]))
    );
    let header = &folder.record("records/m1.jsonl")[0];
    assert_eq!(
        (&header["seats"][0]["hide_legal"], &header["seats"][1]["hide_legal"]),
        (&json!(true), &Value::Null)
    );
    referee(["verify", &records]).done();
    referee(["play", "checkers", &blind, &plain, "--hide-legal=3"])
        .with_code(2)
        .says(&["a number from 1 to 2"]);
    // In the file of a tournament, for an entrant or for all.
    for (all, own) in [("hide_legal = true\n", ""), ("", "hide_legal = true\n")] {
        let entrant =
            |name: &str, more: &str| format!("[[entrants]]\nname = '{name}'\ncommand = \"{blind}\"\n{more}");
        let config = format!(
            "game = 'checkers'\non_fault = 'retry=1'\nmirror = 'none'\n{all}options = {{ turn_limit = 1 }}\n[format]\n\
             kind = 'round_robin'\n{}{}",
            entrant("one", own),
            entrant("two", "")
        );
        let (file, cup) = (folder.write("cup.toml", config), folder.text(&format!("cup{}", all.len())));
        let ended = referee(["tournament", "run", &file, "--dir", &cup, "--json"]).with_code(0);
        assert_eq!(ended.one("match")["reason"], "turn_limit", "{ended:?}");
        referee(["tournament", "verify", &cup]).done();
    }
}

#[test]
fn a_wrong_model_name_is_shown_with_the_result() {
    let server = ModelServer::start();
    let bots = [server.bot("gpt-9", ""), sample("python/random_bot.py")];
    let ended = referee(["play", "checkers", &bots[0], &bots[1]]).with_code(0);
    let shown = ended.stdout + &ended.stderr;
    assert!(shown.contains("status 404: The model `gpt-9` does not exist"), "{shown}");
    assert!(shown.contains("random wins ("), "{shown}");
}
