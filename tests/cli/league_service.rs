//! A league as a service of systemd: notifications, and the unit file.

use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::league::{League, drain, receive_matches};
use crate::common::{ROOT, Referee, Signal, TIMEOUT};
use crate::watch::wait_until;

fn notification(socket: &UnixDatagram) -> String {
    let mut bytes = [0; 4096];
    let length = socket.recv(&mut bytes).expect("a notification in time");
    String::from_utf8(bytes[..length].to_vec()).expect("UTF-8")
}

#[test]
fn the_service_manager_is_notified() {
    let league = League::new("listen = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let path = league.folder.text("notify");
    assert_notified(&league, &path, UnixDatagram::bind(&path).expect("a socket"));
}

/// As by systemd in a container.
#[cfg(target_os = "linux")]
#[test]
fn the_service_manager_is_notified_over_an_abstract_socket() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;
    let league = League::new("listen = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    let name = format!("referee-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).expect("a name");
    assert_notified(&league, &format!("@{name}"), UnixDatagram::bind_addr(&address).expect("a socket"));
}

fn assert_notified(league: &League, address: &str, socket: UnixDatagram) {
    socket.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    // A watchdog is meant for the process whose id is in WATCHDOG_PID, if it is set.
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["serve", &league.file, "--json"]);
    let mut server =
        Referee::start_as(command.env("NOTIFY_SOCKET", address).env("WATCHDOG_USEC", "60000000"));
    let mut received = vec![notification(&socket), notification(&socket), notification(&socket)];
    received.sort();
    assert_eq!(received, ["READY=1\nSTATUS=playing\n", "WATCHDOG=1\n", "WATCHDOG=1\n"]);
    receive_matches(&mut server, 1);
    drain(server);
    socket.set_nonblocking(true).expect("a socket");
    let mut bytes = [0; 4096];
    let mut last = Vec::new();
    while let Ok(length) = socket.recv(&mut bytes) {
        last.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
    }
    assert!(
        last.iter().any(|text| text == "STOPPING=1\nSTATUS=the matches in progress end first\n"),
        "{last:?}"
    );
}

#[test]
fn the_unit_file_lets_matches_end() {
    let unit =
        std::fs::read_to_string(format!("{ROOT}/examples/systemd/referee.service")).expect("the unit file");
    // SIGTERM goes to the server alone: bots that get it could not end their matches.
    for line in ["Type=notify", "KillMode=mixed", "Restart=on-failure", "WatchdogSec=60"] {
        assert!(unit.lines().any(|text| text == line), "{line}");
    }
    // The sandbox of programs needs namespaces and a /proc in which nothing is mounted.
    for key in [
        "ProtectKernelTunables",
        "ProtectKernelLogs",
        "ProcSubset",
        "RestrictNamespaces",
        "ProtectControlGroups",
    ] {
        assert!(!unit.lines().any(|text| text.starts_with(key)), "{key}");
    }
}

#[test]
fn the_exposure_of_the_service_is_below_3() {
    let unit = format!("{ROOT}/examples/systemd/referee.service");
    let rated = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--no-pager", "--threshold=29", &unit])
        .output()
        .expect("systemd-analyze, which tests/run installs");
    assert!(rated.status.success(), "{}", String::from_utf8_lossy(&rated.stdout));
}

#[test]
fn a_signal_during_the_start_is_not_lost() {
    let league = League::new("watch = \"127.0.0.1:0\"", &[("one", ""), ("two", "")]);
    for _ in 0..20 {
        let mut server = league.serve();
        // The ladder is not being played yet.
        server.receive_type("watch");
        drain(server);
    }
}

#[test]
fn hangup_takes_up_programs_and_says_what_needs_restart() {
    let league = League::new("", &[("one", ""), ("two", "")]);
    let mut server = league.serve();
    receive_matches(&mut server, 1);
    let before = league.folder.read("league.toml");
    let bot = league.folder.plain_bot("third");
    let third = format!("\n[[programs]]\nname = \"third\"\ncommand = \"{bot}\"\n");
    let changed = before.replacen("rest = \"0s\"", "rest = \"7s\"", 1);
    league.folder.write("league.toml", "nonsense");
    server.signal(Signal::HUP);
    std::thread::sleep(Duration::from_millis(500));
    league.folder.write("league.toml", changed + &third);
    server.signal(Signal::HUP);
    let seats_third =
        |message: &Value| message["players"].as_array().is_some_and(|all| all.contains(&json!("third")));
    while !seats_third(&server.receive_type("match")) {}
    league.folder.write("league.toml", before);
    server.signal(Signal::HUP);
    let is_listed = || {
        let bots = league.run(&["list", "--json"]).done().all("bot");
        bots.iter().any(|bot| bot["name"] == "third" && bot["revoked_at"] == Value::Null)
    };
    wait_until("it takes part no longer", || !is_listed());
    let log = league.run(&["log", "--json"]).done().all("log");
    assert!(
        log.iter().any(|entry| entry["action"]
            == "reload: program third takes part no longer; ladder short: `rest` after a restart"),
        "{log:?}"
    );
    drain(server).says(&[
        "not reloaded: ",
        "reloaded: program third takes part\n",
        "reloaded: ladder short: `rest` after a restart",
        "reloaded: program third takes part no longer",
    ]);
}
