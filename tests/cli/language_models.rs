//! Language models as bots, through a server in Python that speaks the documented chat API.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::common::{Folder, ROOT, referee, sample};

/// A server with a model that chooses at random. It ends with its standard input.
struct ModelServer {
    process: Child,
    url: String,
}

impl ModelServer {
    fn start() -> ModelServer {
        let mut python = Command::new("python3");
        python.args(["-m", "tests.model_server"]).current_dir(format!("{ROOT}/bots/python"));
        let mut process =
            python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python3 starts");
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

#[test]
fn a_wrong_model_name_is_shown_with_the_result() {
    let server = ModelServer::start();
    let bots = [server.bot("gpt-9", ""), sample("python/random_bot.py")];
    let ended = referee(["play", "checkers", &bots[0], &bots[1]]).with_code(0);
    let shown = ended.stdout + &ended.stderr;
    assert!(shown.contains("status 404: The model `gpt-9` does not exist"), "{shown}");
    assert!(shown.contains("random_bot wins (fault: "), "{shown}");
}
