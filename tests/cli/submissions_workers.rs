//! Programs that owners hand in, built, checked and played on workers.

use std::process::Command;

use serde_json::json;

use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::common::{Folder, Referee, Signal};
use crate::league_state::standing;
use crate::submissions::{
    BUILD, bot, league, log, owner, receive_match_of, spared, states, submit, with_submissions,
};
use crate::watch::wait_until;
#[cfg(feature = "nats")]
use crate::workers_nats::Server;

/// The carrier of workers' units.
enum Carrier {
    /// They connect to this address of the server.
    BuiltIn(String),
    /// They use this NATS server.
    #[cfg(feature = "nats")]
    Nats(Server),
}

/// Serves a league with workers that connect. Returns the URL for owners, too.
fn serve(league: &League) -> (Referee, String, Carrier) {
    serve_as(league, spared())
}

/// The same with this command.
fn serve_as(league: &League, mut command: Command) -> (Referee, String, Carrier) {
    let args = ["serve", &league.file, "--json", "--workers-listen", "127.0.0.1:0"];
    let mut server = Referee::start_as(command.args(args));
    let workers = server.receive_type("workers_listening")["address"].as_str().expect("text").to_owned();
    let url = server.receive_type("owners")["url"].as_str().expect("a URL").to_owned();
    (server, url, Carrier::BuiltIn(workers))
}

#[cfg(feature = "nats")]
fn serve_over_nats(league: &League) -> (Referee, String, Carrier) {
    let broker = Server::start();
    let (queue, credentials) = (broker.url(), broker.credentials());
    let args = ["serve", &league.file, "--json", "--workers", &queue, "--workers-credentials", &credentials];
    let mut server = Referee::start_as(spared().args(args));
    server.receive_type("workers_queue");
    let url = server.receive_type("owners")["url"].as_str().expect("a URL").to_owned();
    (server, url, Carrier::Nats(broker))
}

/// A worker on a machine of this name.
fn worker(league: &League, mut command: Command, carrier: &Carrier, name: &str) -> Referee {
    match carrier {
        Carrier::BuiltIn(address) => {
            let token_file = league.folder.text("workers/workers.token");
            command.args(["worker", "--connect", address, "--token-file", &token_file]);
        }
        #[cfg(feature = "nats")]
        Carrier::Nats(broker) => {
            let (url, trust) = (broker.url(), league.folder.text("workers/workers.sign.pub"));
            command.args(["worker", "--connect", &url, "--credentials", &broker.credentials()]);
            command.args(["--trust", &trust, "--sandbox", "none"]);
        }
    }
    let cache = league.folder.text(&format!("cache-{name}"));
    command.args(["--name", name, "--json", "--slots", "2", "--noisy", "false", "--cache", &cache]);
    let mut worker = Referee::start_as(&mut command);
    worker.receive_type("connected");
    worker
}

#[test]
fn a_worker_builds_checks_and_plays_what_is_handed_in() {
    builds_checks_and_plays(serve);
}

#[cfg(feature = "nats")]
#[test]
fn worker_over_nats_builds_checks_and_plays_submission() {
    builds_checks_and_plays(serve_over_nats);
}

fn builds_checks_and_plays(serve: fn(&League) -> (Referee, String, Carrier)) {
    let league = league("on = 'workers'\n");
    let token = owner(&league, "ada");
    let (mut server, url, carrier) = serve(&league);
    // Without the programs of the sandbox `strict`.
    let mut without = spared();
    without.env("PATH", league.folder.text("nothing"));
    let weak = worker(&league, without, &carrier, "weak");
    let strong = worker(&league, spared(), &carrier, "strong");
    let directory = bot(&league.folder, "mouse", "mouse", BUILD);
    let ended = submit(&url, &directory, &token).with_code(0);
    assert_eq!(states(&ended).last().map(String::as_str), Some("playing"));
    let said = log(&ended);
    for text in ["on worker strong\n", "the book is written", "built: ", "check on ladder short (checkers): "]
    {
        assert!(said.contains(text), "`{text}` is not in {said}");
    }
    assert!(!said.contains("weak"), "{said}");
    drop(weak);
    let played = receive_match_of(&mut server, "mouse@1");
    assert_eq!(played["faults"], json!([{}, {}]));
    // It was unpacked here as well, from the archive that the worker has sent.
    assert!(league.folder.path("submissions/bots/1/book.py").exists());
    // It plays on the worker, too.
    let is_away = || {
        let listed = league.run(&["matches", "--json", "--limit", "1000"]).done().all("match");
        listed.iter().any(|of| of["worker"] == "strong" && of["players"].to_string().contains("mouse@1"))
    };
    while !is_away() {
        receive_matches(&mut server, 1);
    }
    // A program without a build, and one that fails.
    let plain = Folder::new();
    let directory = bot(&plain, "cat", "cat", BUILD);
    plain.write("cat/book.py", "");
    plain.write("cat/bot.toml", "name = 'cat'\ncommand = 'python3 bot.py'\n");
    submit(&url, &directory, &token).with_code(0);
    let broken = submit(&url, &bot(&plain, "dog", "dog", "raise SystemExit('no bones')"), &token);
    assert_eq!(states(&broken).last().map(String::as_str), Some("failed"));
    assert!(log(&broken).contains("no bones"), "{broken:#?}");
    // One that reaches for the program of the worker.
    let reach = "import os\npath = f'/proc/{os.getppid()}/exe'\nos.chmod(path, os.stat(path).st_mode)";
    let reaching = submit(&url, &bot(&plain, "eel", "eel", reach), &token);
    assert!(log(&reaching).contains("Permission denied"), "{reaching:#?}");
    drain(server);
    strong.signal(Signal::TERM);
    strong.end();
}

#[test]
fn a_build_whose_worker_is_killed_goes_to_another_one() {
    builds_elsewhere(serve);
}

#[cfg(feature = "nats")]
#[test]
fn build_of_killed_nats_worker_goes_to_another() {
    builds_elsewhere(serve_over_nats);
}

fn builds_elsewhere(serve: fn(&League) -> (Referee, String, Carrier)) {
    let league = league("on = 'workers'\n");
    let token = owner(&league, "ada");
    let (server, url, carrier) = serve(&league);
    let mut first = worker(&league, spared(), &carrier, "first");
    let directory = bot(&league.folder, "mouse", "mouse", &format!("import time\ntime.sleep(1)\n{BUILD}"));
    let args = ["submit", "--to", &url, &directory, "--token-file", &token, "--json"];
    let submission = Referee::start_as(spared().args(args));
    first.receive_type("tries");
    first.signal(Signal::KILL);
    first.wait();
    let second = worker(&league, spared(), &carrier, "second");
    let ended = submission.wait().with_code(0);
    let said = log(&ended);
    assert!(said.contains("worker first was lost: another one is tried\non worker second\n"), "{said}");
    drain(server);
    second.signal(Signal::TERM);
    second.end();
}

#[test]
fn server_without_sandbox_leaves_what_is_handed_in_to_workers() {
    let league = League::calm("watch = '127.0.0.1:0'", &[("one", ""), ("two", "")]);
    let league = with_submissions(league, "");
    let token = owner(&league, "ada");
    // Python is there, and no bubblewrap.
    let python =
        Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("python3");
    let python = String::from_utf8(python.stdout).expect("a path");
    std::fs::create_dir(league.folder.path("bin")).expect("a directory");
    std::os::unix::fs::symlink(python.trim(), league.folder.path("bin/python3")).expect("a link");
    let mut without = spared();
    without.env("PATH", league.folder.text("bin"));
    let (mut server, url, address) = serve_as(&league, without);
    let site = Site::of(&mut server);
    // It waits for a worker.
    let directory = bot(&league.folder, "mouse", "mouse", BUILD);
    let args = ["submit", "--to", &url, &directory, "--token-file", &token, "--json"];
    let submission = Referee::start_as(spared().args(args));
    let first = worker(&league, spared(), &address, "first");
    let ended = submission.wait().with_code(0);
    assert!(log(&ended).contains("on worker first\n"), "{ended:#?}");
    let played = receive_match_of(&mut server, "mouse@1");
    assert_eq!(played["faults"], json!([{}, {}]), "{played}");
    let listed = league.run(&["matches", "--json", "--limit", "1000"]).done().all("match");
    let own = listed.iter().filter(|of| of["players"].to_string().contains("mouse@1"));
    assert!(own.clone().count() > 0 && own.clone().all(|of| of["worker"] == "first"), "{listed:?}");
    league.run(&["verify"]).done();
    // Without a worker it is not paired, and the others go on.
    first.signal(Signal::TERM);
    first.end();
    wait_until("it waits", || standing(&site, "mouse@1")["state"] == "waits for a worker");
    receive_matches(&mut server, 3);
    drain(server);
}

#[test]
fn a_league_whose_workers_shall_build_needs_workers() {
    let league = league("on = 'workers'\n");
    let refused = Referee::start_as(spared().args(["serve", &league.file])).end();
    refused.with_code(2).says(&["[submissions] on = \"workers\" needs workers, such as those of [workers]"]);
}
