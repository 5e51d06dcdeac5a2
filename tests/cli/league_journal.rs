//! Journals of matches in progress, and bots that do not come back.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::guest::Guest;
use crate::common::league::{drain, receive_matches};
use crate::common::returning::{Returning, hello};
use crate::common::{Referee, Signal, compile};
use crate::league_restart::{Setting, answers, kill};
use crate::watch::wait_until;

/// The match m1 between alice and bob, which stops after three moves of each.
struct Interrupted {
    setting: Setting,
    hellos: [Value; 2],
}

impl Interrupted {
    fn new(reconnect: &str, stop: impl FnOnce(Referee)) -> Interrupted {
        let setting = Setting::new(reconnect, "");
        let server = setting.serve();
        let hellos = ["alice", "bob"].map(|name| hello(name, &setting.league.add(name)));
        let interrupted = Interrupted { setting, hellos };
        let bots = [0, 1].map(|which| interrupted.come_back(which, 3));
        wait_until("the match waits", || answers(&interrupted.setting.journal("m1")) == 6);
        stop(server);
        drop(bots);
        interrupted
    }

    fn come_back(&self, which: usize, most: usize) -> Returning {
        Returning::start(self.setting.address, self.hellos[which].clone(), Default::default(), most)
    }

    /// The match ends as if nothing had happened, after a restart.
    fn goes_on(&self) {
        let mut server = self.setting.serve();
        let _bots = [0, 1].map(|which| self.come_back(which, usize::MAX));
        ends_without_a_fault(&mut server);
        kill(server);
        self.setting.league.verify();
    }

    fn path(&self) -> std::path::PathBuf {
        self.setting.league.folder.path("ladders/short/running/m1")
    }
}

fn ends_without_a_fault(server: &mut Referee) {
    let ended = server.receive_type("match");
    assert_eq!([&ended["id"], &ended["ended_by"]], [&json!("m1"), &json!("turn_limit")], "{ended}");
    assert_eq!(ended["faults"], json!([{}, {}]), "{ended}");
}

#[test]
fn only_owner_reads_journal_without_seed_and_token() {
    let interrupted = Interrupted::new("60s", kill);
    let mode = interrupted.path().metadata().expect("a journal").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let journal = interrupted.setting.journal("m1");
    assert!(interrupted.hellos.iter().all(|hello| !journal.contains(hello["token"].as_str().expect("text"))));
    interrupted.goes_on();
    let record = interrupted.setting.record("m1");
    let seed = record.split("\"seed\":\"").nth(1).expect("a revealed seed");
    assert!(!journal.contains(&seed[..64]));
}

#[test]
fn an_incomplete_last_line_is_removed() {
    let interrupted = Interrupted::new("60s", kill);
    let mut file = OpenOptions::new().append(true).open(interrupted.path()).expect("a journal");
    file.write_all(b"{\"type\":\"answer\",\"at_us\":99").expect("room");
    interrupted.goes_on();
}

#[test]
fn damaged_journal_is_kept_and_play_goes_on() {
    for damage in ["another move", "no bot", "another start of the machine", "no text"] {
        let interrupted = Interrupted::new("60s", kill);
        let journal = interrupted.setting.journal("m1");
        let damaged = match damage {
            "another move" => journal.replacen("\"turn\":1,", "\"turn\":2,", 1),
            "no bot" => journal.lines().filter(|line| !line.contains("\"seat\":0,\"bot\"")).collect(),
            "another start of the machine" => journal.replacen("\"boot\":\"", "\"boot\":\"0", 1),
            _ => journal.replacen("{\"type\":\"answer\"", "\u{0}\u{0}\u{0}\u{0}", 1),
        };
        assert_ne!(damaged, journal);
        std::fs::write(interrupted.path(), damaged + "\n").expect("room");
        let mut server = interrupted.setting.serve();
        let bots = [0, 1].map(|which| interrupted.come_back(which, usize::MAX));
        let ended = server.receive_type("match");
        assert_eq!([&ended["id"], &ended["faults"]], [&json!("m2"), &json!([{}, {}])], "{damage}: {ended}");
        drain(server).says(&["m1 is cut off: its journal, kept as ", "/running/m1.damaged: "]);
        drop(bots);
        assert_eq!(interrupted.setting.running(), ["m1.damaged"]);
        interrupted.setting.league.verify();
        // The next server does not mind.
        drain(interrupted.setting.serve());
    }
}

#[test]
fn ladder_with_another_game_does_not_continue_matches() {
    let interrupted = Interrupted::new("60s", kill);
    let folder = &interrupted.setting.league.folder;
    let text = folder.read("league.toml").replace("game = \"checkers\"", "game = \"saxum\"");
    folder.write("league.toml", text.replace("options = { turn_limit = 30 }\n", ""));
    drain(interrupted.setting.serve())
        .says(&["m1 is cut off: its journal, kept as ", "the ladder plays another game now"]);
}

#[test]
fn bot_that_stays_away_after_restart_has_one_fault() {
    let interrupted = Interrupted::new("1s", kill);
    let mut server = interrupted.setting.serve();
    let _alice = interrupted.come_back(0, usize::MAX);
    let ended = server.receive_type("match");
    let seat = |name| ended["players"].as_array().expect("names").iter().position(|player| player == name);
    let [alice, bob] = ["alice", "bob"].map(|name| seat(name).expect("she plays"));
    assert_eq!(ended["faults"][alice], json!({}), "{ended}");
    assert_eq!(ended["faults"][bob], json!({"disconnected": 1}), "{ended}");
    assert_eq!([&ended["ranks"][alice], &ended["ranks"][bob]], [1, 2], "{ended}");
    drain(server);
    interrupted.setting.league.verify();
}

#[test]
fn match_without_its_bots_after_restart_has_no_result() {
    let interrupted = Interrupted::new("1s", kill);
    let mut server = interrupted.setting.serve();
    let ended = server.receive_type("match");
    assert_eq!([&ended["id"], &ended["ranks"]], [&json!("m1"), &Value::Null], "{ended}");
    assert_eq!(ended["faults"], json!([{}, {}]), "{ended}");
    drain(server);
    interrupted.setting.league.verify();
}

#[test]
fn another_bot_cannot_continue_a_match_after_a_restart() {
    let interrupted = Interrupted::new("60s", kill);
    let token = interrupted.setting.league.add("eve");
    let mut server = interrupted.setting.serve();
    let _alice = interrupted.come_back(0, usize::MAX);
    let mut as_bob = interrupted.hellos[1].clone();
    as_bob["token"] = json!(token);
    let mut eve = Guest::saying(interrupted.setting.address, &as_bob);
    assert_eq!(eve.receive_type("error")["code"], "wrong_token");
    as_bob["name"] = json!("eve");
    let eve = Guest::saying(interrupted.setting.address, &as_bob).play_along();
    let _bob = interrupted.come_back(1, usize::MAX);
    ends_without_a_fault(&mut server);
    kill(server);
    let received = eve.join().expect("she listens");
    assert!(received.iter().all(|message| message["match"] != "m1"), "{received:?}");
}

fn stop(server: Referee) {
    server.signal(Signal::TERM);
    std::thread::sleep(std::time::Duration::from_millis(300));
    server.signal(Signal::TERM);
    server.wait().with_code(130).says(&["a second signal stops at once"]);
}

#[test]
fn a_second_signal_leaves_the_match_to_the_next_server() {
    let interrupted = Interrupted::new("60s", stop);
    interrupted.goes_on();
    assert_eq!(interrupted.setting.record("m1").matches("\"type\":\"pause\"").count(), 1);
}

#[test]
fn match_of_stopped_server_goes_on_after_reboot() {
    let interrupted = Interrupted::new("60s", stop);
    let restart_machine = || {
        let journal = interrupted.setting.journal("m1").replace("\"boot\":\"", "\"boot\":\"0");
        std::fs::write(interrupted.path(), journal).expect("room");
    };
    restart_machine();
    // Without its bots it waits, and is left again.
    stop(interrupted.setting.serve());
    restart_machine();
    kill(interrupted.setting.serve());
    assert_eq!(interrupted.setting.running(), ["m1"]);
    interrupted.goes_on();
}

#[test]
fn losses_of_a_connection_before_a_restart_count() {
    let setting = Setting::new("60s", "");
    let alice = hello("alice", &setting.league.add("alice"));
    let _bob = setting.bot("bob", 0, usize::MAX);
    let connect = || {
        let mut guest = Guest::saying(setting.address, &alice);
        assert_eq!(guest.receive_type("start")["match"], "m1");
        guest
    };
    let server = setting.serve();
    (0..3).for_each(|_| drop(connect()));
    let guest = connect();
    kill(server);
    drop(guest);
    let mut server = setting.serve();
    (0..3).for_each(|_| drop(connect()));
    let ended = server.receive_type("match");
    let faults = ended["faults"].as_array().expect("a list");
    assert!(faults.contains(&json!({"disconnected": 1})), "{ended}");
    drain(server);
    let record = setting.record("m1");
    assert_eq!(record.matches("\"lost_us\"").count(), 5, "{record}");
    setting.league.verify();
}

#[test]
fn a_challenge_in_progress_is_fulfilled_once_after_a_restart() {
    let setting = Setting::new("60s", "");
    let server = setting.serve();
    let hellos = ["alice", "bob"].map(|name| hello(name, &setting.league.add(name)));
    setting.league.run(&["challenge", "alice", "bob"]).done();
    let bots = hellos.map(|hello| Returning::start(setting.address, hello, Default::default(), 3));
    let is_challenge = |id: &String| id.starts_with('c');
    wait_until("the challenge is played", || setting.running().iter().any(is_challenge));
    kill(server);
    let _carol = setting.bot("carol", 0, usize::MAX);
    bots.iter().for_each(Returning::play_on);
    let mut server = setting.serve();
    let first = server.receive_type("match");
    assert_eq!([&first["challenge"], &first["rated"]], [&json!(true), &json!(false)], "{first}");
    assert_eq!(first["faults"], json!([{}, {}]), "{first}");
    // Another one would be played after nine matches.
    let others = receive_matches(&mut server, 12);
    assert!(others.iter().all(|ended| ended["challenge"] == false), "{others:?}");
    drain(server);
    assert_eq!(setting.league.query("SELECT count(*) FROM challenges"), "0");
    setting.league.verify();
}

/// The database of a league, locked by another process.
struct Locked(Child);

impl Locked {
    fn new(setting: &Setting) -> Locked {
        let script = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)\n\
                      db.execute('BEGIN EXCLUSIVE')\nprint('locked', flush=True)\nsys.stdin.read()";
        let mut command = Command::new("python3");
        command.args(["-c", script, &setting.league.folder.text("league.sqlite")]);
        let mut python = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python runs");
        let mut said = std::io::BufReader::new(python.stdout.take().expect("piped"));
        std::io::BufRead::read_line(&mut said, &mut String::new()).expect("it is locked");
        Locked(python)
    }

    fn release(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().expect("a child").success());
    }
}

#[test]
fn bot_returns_to_its_match_and_no_ended_one() {
    let setting = Setting::new("600s", "");
    let server = setting.serve();
    let hellos = ["alice", "bob"].map(|name| hello(name, &setting.league.add(name)));
    let lock = Locked::new(&setting);
    let bots = hellos.map(|hello| Returning::start(setting.address, hello, Duration::ZERO, 33));
    // Each bot makes 15 moves in a match. The result of m1 waits for the database, the record of m2 for that.
    wait_until("the third match is played", || answers(&setting.journal("m3")) == 6);
    kill(server);
    lock.release();
    assert_eq!(setting.running().len(), 3);
    bots.iter().for_each(Returning::play_on);
    let server = setting.serve();
    let stored = "SELECT count(*) FROM matches WHERE number IN (2, 3)";
    wait_until("no match waits for a bot that plays another one", || setting.league.query(stored) == "2");
    // The record of m2 may have been complete.
    let matches = setting.league.run(&["matches", "--limit", "1000", "--json"]).done().all("match");
    for id in ["m2", "m3"] {
        let ended = matches.iter().find(|ended| ended["id"] == id).expect("a result");
        assert_eq!(
            (&ended["ended_by"], &ended["faults"]),
            (&json!("turn_limit"), &json!([{}, {}])),
            "{ended}"
        );
    }
    drain(server);
    setting.league.verify();
}

#[test]
fn result_that_database_did_not_take_is_there_after_restart() {
    let interrupted = Interrupted::new("60s", kill);
    let server = interrupted.setting.serve();
    let lock = Locked::new(&interrupted.setting);
    let bots = [0, 1].map(|which| interrupted.come_back(which, usize::MAX));
    let record = interrupted.setting.league.folder.path("ladders/short/records/m1.jsonl");
    wait_until("the match has ended", || {
        std::fs::read_to_string(&record).is_ok_and(|text| text.contains("\"type\":\"seal\""))
    });
    kill(server);
    lock.release();
    drop(bots);
    drain(interrupted.setting.serve());
    assert_eq!(interrupted.setting.league.query("SELECT count(*) FROM matches WHERE number = 1"), "1");
    assert!(!interrupted.setting.running().contains(&"m1".to_owned()));
    interrupted.setting.league.verify();
}

#[test]
fn match_goes_on_without_its_journal_while_disk_is_full() {
    let setting = Setting::new("60s", "");
    let shim = compile(&setting.league.folder, "disk", &["-shared", "-fPIC", "-ldl"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["serve", &setting.league.file, "--json"]);
    let full = setting.league.folder.text("ladders");
    let mut server = Referee::start_as(command.env("LD_PRELOAD", shim).env("FULL_DISK", full));
    server.receive_type("listening");
    let bots = ["alice", "bob"].map(|name| setting.bot(name, 0, 4));
    wait_until("moves are made", || answers(&setting.journal("m1")) == 8);
    setting.league.folder.write("ladders.full", "");
    bots.iter().for_each(Returning::play_on);
    wait_until("the journal is removed", || setting.running().is_empty());
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(setting.running(), Vec::<String>::new(), "no match begins");
    std::fs::remove_file(setting.league.folder.path("ladders.full")).expect("it exists");
    let ended = receive_matches(&mut server, 2);
    let faults: BTreeSet<String> = ended.iter().map(|ended| ended["faults"].to_string()).collect();
    assert_eq!(faults, BTreeSet::from(["[{},{}]".to_owned()]), "{ended:?}");
    assert_eq!([&ended[0]["id"], &ended[0]["ended_by"]], [&json!("m1"), &json!("turn_limit")]);
    drain(server).says(&[
        "m1: its journal cannot be written: No space left on device",
        "it will not continue after a restart",
        "no match begins until this succeeds",
        "matches go on",
    ]);
    setting.league.verify();
}
