//! Language models as bots: through llama.cpp, and through a server in Python that speaks the documented chat API.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

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

#[test]
fn a_wrong_model_name_is_shown_with_the_result() {
    let server = ModelServer::start();
    let bots = [server.bot("gpt-9", ""), sample("python/random_bot.py")];
    let ended = referee(["play", "checkers", &bots[0], &bots[1]]).with_code(0);
    let shown = ended.stdout + &ended.stderr;
    assert!(shown.contains("status 404: The model `gpt-9` does not exist"), "{shown}");
    assert!(shown.contains("random wins ("), "{shown}");
}
