//! Matches of connected bots that go on after their server was killed.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::common::league::{League, drain};
use crate::common::{Referee, Signal};
use crate::watch::wait_until;

/// A league with a fixed address, and no programs.
struct Setting {
    league: League,
    address: SocketAddr,
}

impl Setting {
    /// Bots have `patience` to come back after a restart.
    fn new(patience: &str) -> Setting {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = port.expect("a free port");
        let ladder = format!(
            "listen = \"{address}\"\nclock = \"delay=20s\"\nreconnect = \"{patience}\"\nrest = \"50ms\""
        );
        let mut league = League::new("", &[]);
        let text = league.folder.read("league.toml");
        let fen = text.lines().find(|line| line.starts_with("options")).expect("an option");
        let rest = format!("options = {{ turn_limit = 30 }}\n{ladder}");
        let text = text.replace(fen, &rest).replace("rest = \"0s\"\n", "");
        league.file = league.folder.write("league.toml", text);
        Setting { league, address }
    }

    fn serve(&self) -> Referee {
        let (server, address) = self.league.listening();
        assert_eq!(address, self.address);
        server
    }

    /// A bot of the Python SDK that takes 50 ms for a move.
    fn bot(&self, name: &str) -> Bot {
        let token = self.league.add(name);
        let script = "import sys, time, random\nsys.path.insert(0, 'bots/python')\n\
                      from referee_bot import run\n\
                      def choose(turn):\n    time.sleep(0.05)\n    return random.choice(turn.legal)\n\
                      run(choose, name='slow')\n";
        let path = self.league.folder.write(&format!("{name}.py"), script);
        let address = self.address.to_string();
        let mut command = Command::new("python3");
        command.args([&path, "--connect", &address, "--name", name]).current_dir(crate::common::ROOT);
        command.env("REFEREE_TOKEN", token).stdin(Stdio::null()).stdout(Stdio::null());
        let log = std::fs::File::create(self.league.folder.path(&format!("{name}.log"))).expect("a file");
        Bot(command.stderr(log).spawn().expect("python runs"))
    }

    fn running(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.league.folder.path("ladders/short/running"));
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// The journal of the match in progress.
    fn journal(&self) -> String {
        let [id] = &self.running()[..] else { return String::new() };
        std::fs::read_to_string(self.league.folder.path(&format!("ladders/short/running/{id}")))
            .unwrap_or_default()
    }
}

struct Bot(Child);

impl Drop for Bot {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kill(server: Referee) {
    server.signal(Signal::KILL);
    server.wait();
}

fn answers(journal: &str) -> usize {
    journal.matches("\"type\":\"answer\"").count()
}

#[test]
fn a_match_goes_on_after_the_server_was_killed() {
    let setting = Setting::new("60s");
    let server = setting.serve();
    let _bots = ["alice", "bob"].map(|name| setting.bot(name));
    wait_until("moves are made", || answers(&setting.journal()) >= 4);
    kill(server);
    let before = setting.journal();
    let mut server = setting.serve();
    let ended = server.hear_of("match");
    assert_eq!([&ended["id"], &ended["ended_by"]], [&json!("m1"), &json!("turn_limit")], "{ended}");
    assert_eq!(ended["faults"], json!([{}, {}]), "{ended}");
    drain(server);
    let record = setting.league.folder.read("ladders/short/records/m1.jsonl");
    let lines: Vec<&str> = before.lines().filter(|line| line.contains("\"at_us\"")).collect();
    assert!(lines.iter().all(|line| record.contains(line)), "the record has all that happened before");
    assert_eq!(record.matches("\"type\":\"pause\"").count(), 1, "{record}");
    setting.league.verify();
}
