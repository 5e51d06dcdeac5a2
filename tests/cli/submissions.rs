//! Programs that owners hand in to a league: built, checked, played.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::Duration;

use ::referee::game::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::common::browser;
use crate::common::http::Site;
use crate::common::league::{League, drain, receive_matches};
use crate::common::{Ended, Folder, Referee, Signal, compile, referee};
use crate::sandbox::missing;
use crate::watch::wait_until;
use ::referee::bot::sandbox::Layer;

/// The referee, which does without the layers that this machine lacks.
pub(crate) fn spared() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    let missing: Vec<&str> = missing().into_iter().map(Layer::as_str).collect();
    command.env("REFEREE_UNTESTED_LAYERS", missing.join(","));
    command
}

/// A league with the program `plain`, to which the owner `ada` can hand in programs. `more` are lines of `[submissions]`.
pub(crate) fn league(more: &str) -> League {
    with_submissions(League::calm("", &[("plain", "")]), more)
}

/// The same with another league.
pub(crate) fn with_submissions(league: League, more: &str) -> League {
    let text = league.folder.read("league.toml");
    league.folder.write(
        "league.toml",
        format!("{text}\n[owners]\nlisten = '127.0.0.1:0'\nbots = 100\n[submissions]\n{more}\n"),
    );
    league
}

/// Adds an owner. Returns the path of a file with the token.
pub(crate) fn owner(league: &League, id: &str) -> String {
    let added = league.run(&["owner", "add", id, "--json"]).done().one("owner");
    league.folder.write_secret(&format!("{id}.token"), added["token"].as_str().expect("a token"))
}

/// Serves a league. Returns the URL for owners.
pub(crate) fn serve(league: &League) -> (Referee, String) {
    let mut server = Referee::start_as(spared().args(["serve", &league.file, "--json"]));
    let url = server.receive_type("owners")["url"].as_str().expect("a URL").to_owned();
    (server, url)
}

/// Writes a bot that imports `book.py`, which its build writes. Returns its directory.
pub(crate) fn bot(folder: &Folder, directory: &str, name: &str, build: &str) -> String {
    fs::create_dir_all(folder.path(directory)).expect("a directory");
    let write = |file: &str, text: &str| drop(folder.write(&format!("{directory}/{file}"), text));
    fs::copy(folder.path("testbot.py"), folder.path(&format!("{directory}/testbot.py"))).expect("a copy");
    write("bot.py", "from testbot import *\nimport book\nplay()\n");
    write("build.py", build);
    write(
        "bot.toml",
        &format!(
            "name = '{name}'\ncommand = 'python3 bot.py'\nbuild = 'python3 build.py'\nlanguage = 'Python'\n"
        ),
    );
    folder.text(directory)
}

/// A build that writes `book.py`.
pub(crate) const BUILD: &str = "open('book.py', 'w').write('')\nprint('the book is written')\n";

/// A bot that makes a fault in each match against `plain`.
const FAULTS: &str = r#"from testbot import *
import book
against_plain = set()


def start(message):
    if any(seat["name"] == "plain" for seat in message["seats"]):
        against_plain.add(message["match"])
    ready(message)


def turn(message):
    if message["match"] in against_plain:
        against_plain.remove(message["match"])
        move(message, "a bad move")
    else:
        first(message)


play(start=start, turn=turn)
"#;

pub(crate) fn submit(url: &str, directory: &str, token: &str) -> Ended {
    let args = ["submit", "--to", url, directory, "--token-file", token, "--json"];
    Referee::start_as(spared().args(args)).wait()
}

/// Checks that standard output has these texts.
#[track_caller]
fn prints(ended: &Ended, texts: &[&str]) {
    for text in texts {
        assert!(ended.stdout.contains(text), "`{text}` is not in: {ended:#?}");
    }
}

/// The server for owners at this URL.
pub(crate) fn site(url: &str) -> Site {
    Site(url.trim_start_matches("http://").trim_end_matches('/').to_owned())
}

/// The header field of the owner whose token is in this file.
pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {}\r\n", fs::read_to_string(token).expect("a token").trim())
}

pub(crate) fn states(ended: &Ended) -> Vec<String> {
    let lines = ended.all("submission");
    lines.iter().map(|line| line["state"].as_str().expect("a state").to_owned()).collect()
}

pub(crate) fn log(ended: &Ended) -> String {
    let lines = ended.all("submission");
    lines.last().and_then(|line| line["log"].as_str()).expect("a log").to_owned()
}

/// Waits for a match of this player.
pub(crate) fn receive_match_of(server: &mut Referee, player: &str) -> Value {
    loop {
        let played = receive_matches(server, 1).remove(0);
        if played["players"].as_array().expect("players").iter().any(|name| name == player) {
            return played;
        }
    }
}

#[test]
fn submitted_program_is_built_checked_and_rated() {
    let league = league("");
    let token = owner(&league, "ada");
    let (mut server, url) = serve(&league);
    let build = format!("import os\nprint('nice', os.nice(0))\n{BUILD}");
    let ended = submit(&url, &bot(&league.folder, "mouse", "mouse", &build), &token).with_code(0);
    let (seen, last) = (states(&ended), ended.all("submission").pop().expect("a line"));
    assert_eq!(seen.last().map(String::as_str), Some("playing"), "{seen:?}");
    assert_eq!(
        (&last["bot"], &last["version"], &last["language"]),
        (&json!("mouse"), &json!(1), &json!("Python"))
    );
    assert_ne!(last["archive"], last["built"]);
    let log = log(&ended);
    assert!(
        log.contains("nice 10\nthe book is written") && log.contains("check on ladder short (checkers): "),
        "{log}"
    );
    let played = receive_match_of(&mut server, "mouse@1");
    assert_eq!((&played["rated"], &played["faults"]), (&json!(true), &json!([{}, {}])));
    let listed = league.run(&["submissions", "--json"]).done().one("submission");
    assert_eq!(
        (&listed["owner"], &listed["state"], &listed["ladders"]),
        (&json!("ada"), &json!("playing"), &json!(["short"]))
    );
    prints(&league.run(&["submissions"]).done(), &["mouse@1", "playing", "Python"]);
    let shown = league.run(&["submission", "show", "1"]).done();
    prints(&shown, &["mouse@1 of ada, playing", "the book is written"]);
    // Its program is confined, and sees nothing of the league but itself.
    let id = played["id"].as_str().expect("an id");
    let record = league.folder.record(&format!("ladders/short/records/{id}.jsonl"));
    assert!(record[0]["seats"].to_string().contains("\"strict\""), "{}", record[0]);
    for name in ["submissions", "submissions/bots/1", "submissions/archives"] {
        let mode =
            std::os::unix::fs::MetadataExt::mode(&fs::metadata(league.folder.path(name)).expect("it exists"));
        assert!(name.ends_with('1') || mode & 0o777 == 0o700, "{name}: {mode:o}");
    }
    // It goes on playing with the next server.
    drain(server);
    let (mut server, _) = serve(&league);
    receive_match_of(&mut server, "mouse@1");
    drain(server);
    let before = league.verify();
    // It goes on elsewhere, from a backup.
    let (there, own) = (Folder::new(), league.folder.text("backup"));
    let back_up = |args: &[&str]| league.run(&[&["backup", &own], args].concat()).done();
    back_up(&["--with-tokens"]);
    let tokens = |league: &League| league.query("SELECT count(*) FROM owners WHERE token IS NOT NULL");
    let backup = League { file: format!("{own}/league.toml"), folder: Folder::new() };
    let database = format!("{own}/league.sqlite");
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&database).expect("it exists"));
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(backup.verify(), before);
    back_up(&[]);
    let copied = Command::new("cp").args(["-a", &format!("{own}/."), &there.text("")]).status();
    assert!(copied.expect("cp runs").success());
    fs::remove_dir_all(&own).expect("the backup is removed");
    let restored = League { file: there.text("league.toml"), folder: there };
    assert_eq!((tokens(&league), tokens(&restored)), ("1".to_owned(), "0".to_owned()));
    assert_eq!(restored.verify(), before);
    let file = restored.folder.text("tokens.csv");
    prints(&restored.run(&["tokens", &file]).done(), &["has the new tokens of 1 owners and 0 bots"]);
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&file).expect("it exists"));
    assert_eq!(mode & 0o777, 0o600);
    let token = restored.folder.read("tokens.csv").lines().nth(1).expect("a line").to_owned();
    let token =
        token.strip_prefix("owner,ada,").and_then(|rest| rest.strip_suffix(',')).expect("a token").to_owned();
    let token = restored.folder.write_secret("ada.token", &token);
    restored.run(&["tokens", &file]).with_code(5);
    let (mut server, url) = serve(&restored);
    receive_match_of(&mut server, "mouse@1");
    submit(&url, &bot(&restored.folder, "mouse", "mouse", BUILD), &token).with_code(0);
    receive_match_of(&mut server, "mouse@2");
    drain(server);
    assert!(restored.verify() > before);
}

#[test]
fn failed_build_has_log_and_next_version_replaces_it() {
    let league = league("");
    let token = owner(&league, "ada");
    let (mut server, url) = serve(&league);
    let directory =
        bot(&league.folder, "mouse", "mouse", "import os\nprint(os.getcwd())\nraise SystemExit('no book')\n");
    let failed = submit(&url, &directory, &token).with_code(1);
    let said = log(&failed);
    assert!(said.contains("no book") && said.contains("exited with status 1"), "{said}");
    assert!(!said.contains(league.folder.path("").to_str().expect("UTF-8")), "{said}");
    // For people.
    let args = ["submit", "--to", &url, &directory, "--token-file", &token];
    prints(&referee(args).with_code(1), &["no book", "submission 2: mouse@2, failed"]);
    league.folder.write("mouse/build.py", BUILD);
    league
        .folder
        .write("mouse/bot.py", "from testbot import *\nimport book\nplay(turn=lambda t: move(t, 'x'))\n");
    let failed = submit(&url, &directory, &token).with_code(1);
    assert!(log(&failed).contains("the bot did not pass the check"), "{}", log(&failed));
    league.folder.write("mouse/bot.py", "from testbot import *\nimport book\nplay()\n");
    submit(&url, &directory, &token).with_code(0);
    receive_match_of(&mut server, "mouse@4");
    league.folder.write("mouse/build.py", format!("{BUILD}print('again')\n"));
    submit(&url, &directory, &token).with_code(0);
    receive_match_of(&mut server, "mouse@5");
    let listed = league.run(&["submissions", "--json"]).done().all("submission");
    let states: Vec<&str> = listed.iter().map(|line| line["state"].as_str().expect("a state")).collect();
    assert_eq!(states, ["failed", "failed", "failed", "retired", "playing"]);
    // The version before plays no more.
    for played in receive_matches(&mut server, 6) {
        assert!(!played["players"].to_string().contains("mouse@4"), "{played}");
    }
    // Its archive is there, and goes back into the queue as it was.
    let (site, by) = (site(&url), bearer(&token));
    let [fourth, fifth] =
        [4, 5].map(|id| site.download(&format!("/api/v1/owner/submissions/{id}/archive"), &by));
    assert_eq!(hex::encode(&Sha256::digest(&fourth)), listed[3]["archive"].as_str().expect("a digest"));
    assert_ne!(fourth, fifth);
    let again = |id| site.ask_with_body("POST", &format!("/api/v1/owner/submissions/{id}/again"), &by, "");
    assert_eq!([again(1).status, again(9).status], [404, 404], "what has failed has no files");
    let handed_in = again(4);
    assert_eq!(
        (handed_in.status, &handed_in.json()["archive"]),
        (201, &listed[3]["archive"]),
        "{}",
        handed_in.body
    );
    receive_match_of(&mut server, "mouse@6");
    drain(server);
    league.verify();
}

#[test]
fn an_organiser_approves_or_rejects_what_has_passed() {
    let league = league("approve = true\nwaiting = 1");
    let (ada, ben) = (owner(&league, "ada"), owner(&league, "ben"));
    let (mut server, url) = serve(&league);
    let mouse = bot(&league.folder, "mouse", "mouse", BUILD);
    let ended = submit(&url, &mouse, &ada).with_code(3);
    assert_eq!(states(&ended).last().map(String::as_str), Some("waiting"));
    submit(&url, &mouse, &ada)
        .with_code(5)
        .says(&["status 429", "undecided submissions of an owner: 1 at most"]);
    submit(&url, &bot(&league.folder, "cat", "cat", BUILD), &ben).with_code(3);
    league.run(&["submission", "reject", "2", "--reason", "it is a copy"]).done();
    league
        .run(&["submission", "reject", "2", "--reason", "again"])
        .with_code(2)
        .says(&["submission 2 is failed"]);
    prints(&league.run(&["submission", "show", "2"]).done(), &["rejected by the organiser: it is a copy"]);
    league.run(&["submission", "approve", "9"]).with_code(2).says(&["there is no submission 9"]);
    prints(&league.run(&["submission", "approve", "1"]).done(), &["mouse@1 of ada is approved"]);
    receive_match_of(&mut server, "mouse@1");
    prints(&league.run(&["log"]).done(), &["submission approve 1", "submission reject 2"]);
    // An owner withdraws one that waits, and nothing that plays.
    submit(&url, &mouse, &ada).with_code(3);
    let (site, by) = (site(&url), bearer(&ada));
    let withdraw =
        |id| site.ask_with_body("DELETE", &format!("/api/v1/owner/submissions/{id}"), &by, "").status;
    assert_eq!([withdraw(3), withdraw(3), withdraw(1)], [204, 409, 409]);
    league.run(&["submission", "approve", "3"]).with_code(2).says(&["submission 3 is failed"]);
    prints(&league.run(&["submission", "show", "3"]).done(), &["withdrawn by its owner"]);
    drain(server);
}

#[test]
fn a_server_that_is_killed_while_it_builds_begins_again() {
    let league = league("");
    let token = owner(&league, "ada");
    let (server, url) = serve(&league);
    let slow = format!("import time\nprint('begun', flush=True)\ntime.sleep(4)\n{BUILD}");
    let directory = bot(&league.folder, "mouse", "mouse", &slow);
    let args = ["submit", "--to", &url, &directory, "--token-file", &token, "--json"];
    let mut submitting = Referee::start_as(spared().args(args));
    loop {
        let line = submitting.receive_type("submission");
        if line["state"] == "building" {
            break;
        }
    }
    server.signal(Signal::KILL);
    server.wait();
    submitting.signal(Signal::KILL);
    submitting.wait();
    assert_eq!(league.query("SELECT state FROM submissions"), "building");
    // A half-received archive there is of no use.
    fs::write(league.folder.path("submissions/incoming/half"), "x").expect("a file");
    let (mut server, _) = serve(&league);
    receive_match_of(&mut server, "mouse@1");
    assert_eq!(league.query("SELECT attempts FROM submissions"), "2");
    assert!(!league.folder.path("submissions/incoming/half").exists());
    assert_eq!(fs::read_dir(league.folder.path("submissions/work")).expect("a directory").count(), 0);
    drain(server);
}

#[test]
fn machine_without_layers_takes_no_programs_and_says_why() {
    if missing().is_empty() {
        eprintln!("not tested here: this machine has all layers");
        return;
    }
    let league = league("");
    let token = owner(&league, "ada");
    let mut server = league.serve();
    let url = server.receive_type("owners")["url"].as_str().expect("a URL").to_owned();
    let directory = bot(&league.folder, "mouse", "mouse", BUILD);
    let lacks = format!("its machine lacks {}", missing()[0]);
    submit(&url, &directory, &token).with_code(5).says(&["status 503", &lacks, "referee sandbox check"]);
    let checked = league.run(&["check"]).done();
    prints(&checked, &["programs cannot be handed in", "the sandbox `strict` is not available"]);
    drain(server).says(&["no programs are taken in until the machine has all layers"]);
    // It is tested at home without them, which is said.
    let lacks = format!("tested without `{}`, which a league has", missing()[0]);
    referee(["check", "checkers", &directory]).with_code(0).says(&[&lacks]);
}

/// Hands a directory in, and does not wait for the verdict. Returns once it is in the queue.
fn post(url: &str, directory: &str, token: &str) -> Referee {
    let args = ["submit", "--to", url, directory, "--token-file", token, "--json"];
    let mut submitting = Referee::start_as(spared().args(args));
    submitting.receive_type("submission");
    submitting
}

#[test]
fn unworkable_submission_fails_alone_and_owners_take_turns() {
    let league = league("waiting = 9");
    let (ada, ben) = (owner(&league, "ada"), owner(&league, "ben"));
    let (server, url) = serve(&league);
    let slow = format!("import time\ntime.sleep(6)\n{BUILD}");
    // While the first one is built, the archive of the second one becomes unreadable.
    let first = post(&url, &bot(&league.folder, "slow", "slow", &slow), &ada);
    let second = post(&url, &bot(&league.folder, "two", "two", BUILD), &ada);
    let third = post(&url, &bot(&league.folder, "three", "three", BUILD), &ada);
    let archive = league.folder.path("submissions/archives/2.tar");
    fs::remove_file(&archive).expect("a file");
    fs::create_dir(&archive).expect("a directory");
    submit(&url, &bot(&league.folder, "cat", "cat", BUILD), &ben).with_code(0);
    first.wait().with_code(0);
    third.wait().with_code(0);
    let in_order = "SELECT group_concat(name) FROM (SELECT name FROM bots WHERE version = 1 ORDER BY id)";
    assert_eq!(league.query(in_order), "slow,cat,three");
    assert_eq!(league.query("SELECT state FROM submissions WHERE id = 2"), "received");
    let failed = second.wait().with_code(1);
    let said = log(&failed);
    assert!(said.contains("the server could not work on it in 5 attempts:\n"), "{said}");
    assert!(said.contains("Is a directory"), "{said}");
    assert_eq!(league.query("SELECT attempts FROM submissions WHERE id = 2"), "5");
    drain(server);
}

#[test]
fn a_full_disk_delays_submissions_and_fails_none() {
    let league = league("");
    let token = owner(&league, "ada");
    let shim = compile(&league.folder, "disk", &["-shared", "-fPIC", "-ldl"]);
    let mut command = spared();
    command.args(["serve", &league.file, "--json"]);
    command.env("LD_PRELOAD", shim).env("FULL_DISK", league.folder.text("submissions/work"));
    let mut server = Referee::start_as(&mut command);
    let url = server.receive_type("owners")["url"].as_str().expect("a URL").to_owned();
    let full = league.folder.write("submissions/work.full", "");
    let submitting = post(&url, &bot(&league.folder, "mouse", "mouse", BUILD), &token);
    // It is tried at once.
    thread::sleep(Duration::from_secs(3));
    assert_eq!(league.query("SELECT state || attempts FROM submissions"), "received0");
    assert!(league.folder.path("submissions/archives/1.tar").exists());
    fs::remove_file(full).expect("a file");
    submitting.wait().with_code(0);
    drain(server)
        .says(&["submissions wait, because the server cannot work on them: ", "No space left on device"]);
}

#[test]
fn submissions_have_limits_of_space() {
    let league = league("waiting = 9\nspace = '3MiB'\nowner_space = '2MiB'\nper_day = 4");
    let (ada, ben) = (owner(&league, "ada"), owner(&league, "ben"));
    let (server, url) = serve(&league);
    let book = |size: u32| format!("{BUILD}open('book', 'wb').write(bytes({size}))\n");
    let built = |name: &str, size| bot(&league.folder, name, name, &book(size));
    // The archive of the build, and its files.
    submit(&url, &built("mouse", 900_000), &ada).with_code(0);
    let failed = submit(&url, &built("cat", 300_000), &ada).with_code(1);
    assert!(log(&failed).contains("with it your programs need more than 2 MiB: retire a bot"), "{failed:#?}");
    let failed = submit(&url, &built("dog", 700_000), &ben).with_code(1);
    assert!(log(&failed).contains("the programs of this league need more than 3 MiB"), "{failed:#?}");
    // A failed submission needs no space.
    submit(&url, &built("rat", 1000), &ben).with_code(0);
    let large = built("cow", 1000);
    league.folder.write("cow/zeros", vec![0; 500_000]);
    for _ in 0..4 {
        submit(&url, &large, &ada).with_code(5).says(&["status 507", "your programs need more than 2 MiB"]);
    }
    // Uploads that fail count on their own.
    assert_eq!(league.query("SELECT count(*) FROM submissions WHERE owner = 'ada'"), "2");
    submit(&url, &large, &ada)
        .with_code(5)
        .says(&["status 429", "uploads of an owner that fail a day (UTC): 4 at most"]);
    submit(&url, &built("owl", 1000), &ben).with_code(0);
    drain(server);
}

#[test]
fn an_upload_shows_the_refusal_that_comes_before_its_end() {
    let league = league("");
    let ada = owner(&league, "ada");
    let large = bot(&league.folder, "cow", "cow", BUILD);
    league.folder.write("cow/zeros", vec![0; 20_000_000]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let refusing = thread::spawn(move || {
        let mut stream = listener.accept().expect("a connection").0;
        let head = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
        assert!(head.count() > 1);
        let body = r#"{"error":"one upload at a time"}"#;
        let (status, length) = ("HTTP/1.1 429 Too Many Requests", body.len());
        write!(stream, "{status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
            .expect("sent");
    });
    submit(&url, &large, &ada).with_code(5).says(&["status 429", "one upload at a time"]);
    refusing.join().expect("a refusal");
}

#[test]
fn a_refusal_reaches_a_client_that_goes_on_sending() {
    let league = league("");
    let (server, url) = serve(&league);
    let site = Site(url.trim_start_matches("http://").trim_end_matches('/').to_owned());
    let mut stream = site.send(
        "POST /api/v1/owner/submissions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n\
         Content-Length: 4000000\r\n\r\n",
    );
    for _ in 0..40 {
        stream.write_all(&[0; 100_000]).expect("it reads");
        thread::sleep(Duration::from_millis(10));
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    drain(server);
}

#[test]
fn an_owner_sees_only_its_own_submissions() {
    let league = league("per_day = 1");
    let (ada, ben) = (owner(&league, "ada"), owner(&league, "ben"));
    let (server, url) = serve(&league);
    let directory = bot(&league.folder, "mouse", "mouse", "raise SystemExit('no book')");
    submit(&url, &directory, &ada).with_code(1);
    submit(&url, &directory, &ada)
        .with_code(5)
        .says(&["status 429", "submissions of an owner a day (UTC): 1 at most"]);
    let text = league.folder.read("league.toml").replace("per_day = 1", "per_day = 2");
    league.folder.write("league.toml", text);
    server.signal(Signal::HUP);
    wait_until("the limit is another one", || submit(&url, &directory, &ada).code == Some(1));
    let site =
        Site(url.strip_prefix("http://").and_then(|url| url.strip_suffix('/')).expect("a URL").to_owned());
    let get = |token: &str, path: &str| {
        let token = fs::read_to_string(token).expect("a token");
        site.ask("GET", path, &format!("Authorization: Bearer {}\r\n", token.trim()))
    };
    let own = get(&ada, "/api/v1/owner/submissions").json();
    assert_eq!(own["submissions"][0]["state"], "failed");
    assert!(own["submissions"][0].get("log").is_none());
    assert_eq!(own["submissions"].as_array().map(Vec::len), Some(2));
    let own = get(&ada, "/api/v1/owner/submissions/1").json();
    assert!(own["log"].as_str().expect("a log").contains("no book"), "{own}");
    assert_eq!(get(&ben, "/api/v1/owner/submissions").json(), json!({"submissions": []}));
    assert_eq!(get(&ben, "/api/v1/owner/submissions/1").status, 404);
    assert_eq!(get(&ben, "/api/v1/owner/submissions/x").status, 404);
    assert_eq!(site.ask("GET", "/api/v1/owner/submissions", "").status, 401);
    drain(server);
}

#[test]
fn browser_goes_whole_way_from_invitation_to_end_of_season() {
    let league = league("[signup]\nmode = 'invite'");
    let text = league.folder.read("league.toml");
    league.folder.write("league.toml", text.replace("bots = 100", "url = 'http://localhost'"));
    let invited = league.run(&["invite", "--json"]).done().one("invitation");
    let (_, invitation) = invited["url"].as_str().and_then(|url| url.split_once('#')).expect("a secret");
    // Its match is among the last ones that the page lists.
    let ladder = "rest = \"500ms\"\nwatch = \"127.0.0.1:0\"\non_fault = \"retry=3\"";
    league.folder.write("league.toml", text.replace("rest = \"100ms\"", ladder));
    let (mut server, url) = serve(&league);
    let save = |directory: &str| {
        let file = league.folder.text(&format!("{directory}.tar"));
        let args = ["submit", "--save", &file, &league.folder.text(directory)];
        prints(&referee(args).done(), &["mouse: ", ".tar"]);
        referee(args).with_code(5).says(&["File exists"]);
        file
    };
    bot(&league.folder, "bad", "mouse", "raise SystemExit('no such book')\n");
    bot(&league.folder, "good", "mouse", BUILD);
    league.folder.write("good/bot.py", FAULTS);
    let (bad, good) = (save("bad"), save("good"));
    let referee = env!("CARGO_BIN_EXE_referee");
    browser::run("submit.mjs", &[&url, invitation, &bad, &good, referee, &league.file]);
    receive_match_of(&mut server, "mouse@2");
    drain(server);
    league.verify();
}

/// Forwards connections over TLS to a port, and prints its own port.
const TLS_PROXY: &str = r#"import socket, ssl, sys, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    try:
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
def serve(plain):
    try:
        client = context.wrap_socket(plain, server_side=True)
    except OSError:
        return
    behind = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    threading.Thread(target=copy, args=(behind, client), daemon=True).start()
    copy(client, behind)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
"#;

#[test]
fn server_with_certificate_of_private_ca_needs_tls_ca() {
    let league = league("");
    let token = owner(&league, "ada");
    let (server, url) = serve(&league);
    let (ca, key) = (league.folder.text("ca.pem"), league.folder.text("ca.key"));
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
        ])
        .args(["-subj", "/CN=cup", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", &key, "-out", &ca])
        .output()
        .expect("openssl");
    assert!(made.status.success(), "{made:?}");
    let port = url.trim_end_matches('/').rsplit(':').next().expect("a port");
    let mut proxy = Command::new("python3")
        .args([&league.folder.write("proxy.py", TLS_PROXY), port, &ca, &key])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut said = std::io::BufReader::new(proxy.stdout.take().expect("a pipe"));
    std::io::BufRead::read_line(&mut said, &mut line).expect("a line");
    let secure = format!("https://localhost:{}/", line.trim());
    let directory = bot(&league.folder, "mouse", "mouse", BUILD);
    let submit = |more: &[&str]| {
        let args = ["submit", "--to", &secure, &directory, "--token-file", &token, "--json"];
        Referee::start_as(spared().args(args).args(more)).wait()
    };
    submit(&[]).with_code(5).says(&["certificate"]);
    let ended = submit(&["--tls-ca", &ca]).with_code(0);
    assert_eq!(states(&ended).last().map(String::as_str), Some("playing"));
    let nothing = league.folder.write("nothing.pem", "");
    submit(&["--tls-ca", &nothing]).with_code(2).says(&["--tls-ca: "]);
    proxy.kill().expect("it runs");
    proxy.wait().expect("an end");
    drain(server);
}
