//! Bots and matches that go on after a restart of their server.

use std::collections::BTreeSet;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::league::{League, drain};
use crate::common::returning::{Returning, hello};
use crate::common::{ROOT, Referee, Signal, sample, the};
use crate::watch::wait_until;

/// An address of its own, so that nothing else takes the port before a server and between two servers.
pub(crate) fn own_address() -> SocketAddr {
    static COUNT: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let host = Ipv4Addr::new(127, COUNT.fetch_add(1, Ordering::Relaxed), high, low.clamp(1, 254));
    let port = TcpListener::bind((host, 0)).and_then(|listener| listener.local_addr());
    port.expect("a free port")
}

/// A league with a fixed address, and no programs.
pub(crate) struct Setting {
    pub(crate) league: League,
    pub(crate) address: SocketAddr,
}

impl Setting {
    /// Bots can reconnect for this time after a restart. A match has 30 moves.
    pub(crate) fn new(reconnect: &str, ladder: &str) -> Setting {
        let address = own_address();
        let ladder = format!(
            "listen = \"{address}\"\nclock = \"delay=20s\"\nreconnect = \"{reconnect}\"\nrest = \"50ms\"\n{ladder}"
        );
        let mut league = League::new("", &[]);
        let text = league.folder.read("league.toml");
        let fen = text.lines().find(|line| line.starts_with("options")).expect("an option");
        let rest = format!("options = {{ turn_limit = 30 }}\n{ladder}");
        let text = text.replace(fen, &rest).replace("rest = \"0s\"\n", "");
        league.file = league.folder.write("league.toml", text);
        Setting { league, address }
    }

    pub(crate) fn serve(&self) -> Referee {
        let (server, address) = self.league.listening();
        assert_eq!(address, self.address);
        server
    }

    /// A new bot of the league that plays `most` moves.
    pub(crate) fn bot(&self, name: &str, thinking_ms: u64, most: usize) -> Returning {
        let hello = hello(name, &self.league.add(name));
        Returning::start(self.address, hello, Duration::from_millis(thinking_ms), most)
    }

    /// The matches with a journal.
    pub(crate) fn running(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.league.folder.path("ladders/short/running"));
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    /// The journal of a match; empty if there is none.
    pub(crate) fn journal(&self, id: &str) -> String {
        let path = self.league.folder.path(&format!("ladders/short/running/{id}"));
        std::fs::read_to_string(path).unwrap_or_default()
    }

    pub(crate) fn record(&self, id: &str) -> String {
        self.league.folder.read(&format!("ladders/short/records/{id}.jsonl"))
    }
}

pub(crate) fn kill(server: Referee) {
    server.signal(Signal::KILL);
    server.wait();
}

pub(crate) fn answers(journal: &str) -> usize {
    journal.matches("\"type\":\"answer\"").count()
}

#[test]
fn a_match_goes_on_after_the_server_was_killed() {
    let setting = Setting::new("60s", "");
    let server = setting.serve();
    let bots = ["alice", "bob"].map(|name| setting.bot(name, 0, 4));
    wait_until("moves are made", || answers(&setting.journal("m1")) == 8);
    kill(server);
    bots.iter().for_each(Returning::play_on);
    let before = setting.journal("m1");
    let mut server = setting.serve();
    let ended = server.receive_type("match");
    assert_eq!([&ended["id"], &ended["ended_by"]], [&json!("m1"), &json!("turn_limit")], "{ended}");
    assert_eq!(ended["faults"], json!([{}, {}]), "{ended}");
    drain(server);
    let record = setting.record("m1");
    let lines: Vec<&str> = before.lines().filter(|line| line.contains("\"at_us\"")).collect();
    assert!(lines.iter().all(|line| record.contains(line)), "the record has all that happened before");
    assert_eq!(record.matches("\"type\":\"pause\"").count(), 1, "{record}");
    assert_eq!(setting.running(), Vec::<String>::new());
    setting.league.verify();
}

#[test]
fn no_match_is_lost_or_doubled_across_repeated_kills() {
    let (kills, pairs) = if std::env::var_os("LONG_TESTS").is_some() { (200, 50) } else { (10, 3) };
    let setting = Setting::new("60s", &format!("jobs = {pairs}"));
    let bots: Vec<Returning> =
        (0..2 * pairs).map(|number| setting.bot(&format!("bot {number}"), 4, usize::MAX)).collect();
    let started = || -> BTreeSet<String> { bots.iter().flat_map(Returning::started).collect() };
    for number in 0..kills {
        let (server, before) = (setting.serve(), started().len());
        // Every other time also between two matches.
        let more = if number % 2 == 0 { 1 } else { pairs };
        wait_until("matches start", || started().len() >= before + more);
        // At any point of a match, which takes about 150 ms.
        std::thread::sleep(Duration::from_millis(number as u64 * 37 % 150));
        kill(server);
    }
    drain(setting.serve());
    let results = setting.league.verify();
    let started = started();
    assert_eq!(results, started.len(), "a result for each match that began");
    let mut played = BTreeSet::new();
    for id in &started {
        let record = setting.league.folder.record(&format!("ladders/short/records/{id}.jsonl"));
        let result = the("result", &record);
        assert_eq!(result["ended_by"], "turn_limit", "{id}: {record:#?}");
        assert!(record.iter().all(|line| line["type"] != "fault"), "{id} has no fault");
        let answers = record.iter().filter(|line| line["type"] == "answer");
        played.insert(answers.map(|line| format!("{} {}", line["seat"], line["move"])).collect::<Vec<_>>());
    }
    assert_eq!(played.len(), 1, "all matches are the same, as without a restart");
    let incomplete = "SELECT count(*) FROM matches a WHERE deal IS NULL AND NOT EXISTS \
                      (SELECT 1 FROM matches b WHERE b.deal = a.number)";
    let incomplete: usize = setting.league.query(incomplete).parse().expect("a number");
    assert!(
        incomplete <= pairs,
        "{incomplete} sets without a return match, but only the last ones have none"
    );
}

struct Bot(Child);

impl Drop for Bot {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a bot that connects.
fn connect(setting: &Setting, command: &str, (name, token): (&str, &str), log: &Path) -> Bot {
    let mut shell = Command::new("bash");
    let command = format!("exec {command} --connect {} --name {name}", setting.address);
    shell.args(["-c", &command]).current_dir(ROOT).env("REFEREE_TOKEN", token);
    shell.stdin(Stdio::null()).stdout(Stdio::null());
    Bot(shell.stderr(File::create(log).expect("a file")).spawn().expect("bash runs"))
}

#[test]
fn bots_of_two_sdks_play_over_tls_through_restart() {
    let setting = Setting::new("60s", "tls_cert = \"chain.pem\"\ntls_key = \"key.pem\"");
    let (league, address) = (&setting.league, setting.address.ip().to_string());
    let made = rcgen::generate_simple_self_signed([address]).expect("a certificate");
    let chain = league.folder.write("chain.pem", made.cert.pem());
    league.folder.write_secret("key.pem", made.signing_key.serialize_pem());
    let commands = [sample("python/random_bot.py"), format!("node '{ROOT}/bots/javascript/bots/random.js'")];
    let names = ["python", "javascript"];
    let tokens = names.map(|name| league.add(name));
    let mut server = setting.serve();
    let _bots = [0, 1].map(|which| {
        let command = format!("{} --tls --ca '{chain}'", commands[which]);
        connect(&setting, &command, (names[which], &tokens[which]), &league.folder.path(names[which]))
    });
    server.receive_type("match");
    kill(server);
    server = setting.serve();
    server.receive_type("match");
    drain(server);
    for name in names {
        let log = league.folder.read(name);
        assert!(log.contains("connected again after"), "{name}: {log}");
    }
    assert_eq!(league.query("SELECT count(*) FROM matches WHERE faults LIKE '%:%'"), "0");
    league.verify();
}

/// A bot with this command plays before and after a kill and a restart of the server, without a fault.
pub(crate) fn stay(command: &str) {
    let setting = Setting::new("60s", "");
    // A server learns of a new token within a second, and a bot of an SDK connects once.
    let token = setting.league.add("sdk");
    let mut server = setting.serve();
    let log = setting.league.folder.path("log");
    let mut sdk = connect(&setting, command, ("sdk", &token), &log);
    let other = setting.bot("other", 0, 4);
    let mut hear = |server: &mut Referee| {
        let ended = server.receive_type("match");
        assert_eq!(ended["faults"], json!([{}, {}]), "{ended}");
        // Random moves can end a match within its 30 moves.
        assert!(["turn_limit", "rules"].map(Value::from).contains(&ended["ended_by"]), "{ended}");
        assert!(sdk.0.try_wait().expect("a child").is_none(), "it runs");
        ended["id"].clone()
    };
    wait_until("moves are made", || answers(&setting.journal("m1")) >= 8);
    kill(server);
    other.play_on();
    server = setting.serve();
    assert_eq!(hear(&mut server), "m1");
    drain(server);
    server = setting.serve();
    hear(&mut server);
    kill(server);
    let log = std::fs::read_to_string(log).expect("a file");
    assert!(log.matches("connected again after").count() >= 2, "{log}");
    drop(sdk);
    let faulted = setting.league.query("SELECT count(*) FROM matches WHERE faults LIKE '%:%'");
    assert_eq!(faulted, "0");
}
