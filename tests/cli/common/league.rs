//! A league of short matches in a temporary directory, and its server.

use std::net::SocketAddr;
use std::process::Command;

use serde_json::{Value, json};

use super::{Ended, Folder, Referee, Signal, WON, referee};

/// A league in a temporary directory.
pub(crate) struct League {
    pub(crate) folder: Folder,
    pub(crate) file: String,
}

impl League {
    /// A league with a ladder of short matches of checkers, and these lines in its file.
    pub(crate) fn new(ladder: &str, programs: &[(&str, &str)]) -> League {
        let folder = Folder::new();
        let fen = WON.strip_prefix("fen=").expect("a position");
        let programs: String = programs
            .iter()
            .map(|(name, rest)| {
                let command = folder.plain_bot(&format!("bot-{name}"));
                format!("[[programs]]\nname = {name:?}\ncommand = {command:?}\n{rest}\n")
            })
            .collect();
        // On a busy machine, bots wait for the processor.
        let text = format!(
            "[sandbox]\nmode = \"basic\"\n[[ladders]]\nname = \"short\"\ngame = \"checkers\"\noptions = {{ fen = {fen:?} }}\nrest = \"0s\"\n\
             hello_limit = \"60s\"\nready_limit = \"60s,60s\"\n{ladder}\n{programs}"
        );
        let file = folder.write("league.toml", text);
        League { folder, file }
    }

    /// The same with a pause after each match of a player. Back to back, matches take a processor as long as a test lasts.
    pub(crate) fn calm(ladder: &str, programs: &[(&str, &str)]) -> League {
        let league = League::new(ladder, programs);
        let text = league.folder.read("league.toml").replacen("rest = \"0s\"", "rest = \"100ms\"", 1);
        league.folder.write("league.toml", text);
        league
    }

    pub(crate) fn serve(&self) -> Referee {
        Referee::start(["serve", &self.file, "--json"])
    }

    /// Serves, and returns the address for bots.
    pub(crate) fn listening(&self) -> (Referee, SocketAddr) {
        let mut server = self.serve();
        let address = server.receive_type("listening")["address"].as_str().expect("text").to_owned();
        (server, address.parse().expect("an address"))
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        referee(["league"].iter().chain(args).chain(&["--league", &self.file]))
    }

    /// Adds a bot that connects. Returns its token.
    pub(crate) fn add(&self, name: &str) -> String {
        let added = self.run(&["add", name, "--json"]).done().one("added");
        added["token"].as_str().expect("a token").to_owned()
    }

    pub(crate) fn standings(&self, args: &[&str]) -> Value {
        self.run(&[&["standings", "--json"], args].concat()).done().one("standings")
    }

    /// Executes a statement in the database. Returns the first value of its result.
    pub(crate) fn query(&self, sql: &str) -> String {
        let script = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None)\nrow = db.execute(sys.argv[2]).fetchone()\n\
                      print(row[0] if row else '')";
        let file = self.folder.text("league.sqlite");
        let output = Command::new("python3").args(["-c", script, &file, sql]).output().expect("python runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    /// Checks that every result has a record that verifies, and that the standings follow from the records.
    pub(crate) fn verify(&self) -> usize {
        let summary = self.run(&["verify", "--json"]).done().one("summary");
        assert_eq!(summary["results"], summary["records"]);
        let rows = |value: Value| -> Vec<Value> {
            let rows = value["standings"].as_array().expect("rows").iter();
            rows.map(|row| json!([row["player"], row["rating"], row["wins"], row["losses"]])).collect()
        };
        assert_eq!(rows(self.standings(&[])), rows(self.standings(&["--from-records"])));
        summary["results"].as_u64().expect("a number") as usize
    }
}

pub(crate) fn hello(name: &str, version: Option<&str>, token: &str) -> Value {
    let mut hello = json!({"type": "hello", "protocol": 1, "name": name, "token": token});
    if let Some(version) = version {
        hello["version"] = version.into();
    }
    hello
}

/// Waits for so many matches.
pub(crate) fn receive_matches(server: &mut Referee, count: usize) -> Vec<Value> {
    (0..count).map(|_| server.receive_type("match")).collect()
}

/// Stops a server with a signal, which it exits from with code 0.
#[track_caller]
pub(crate) fn drain(server: Referee) -> Ended {
    server.signal(Signal::TERM);
    server.wait().with_code(0).says(&["stopping: the matches in progress end first"])
}
