//! Programs that owners hand in to a league: built, checked, played.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::browser;
use crate::common::http::{Answer, Site};
use crate::common::league::{League, drain, receive_matches};
use crate::common::{Ended, Folder, Referee, Signal, referee};
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
    with_submissions(League::new("", &[("plain", "")]), more)
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
fn serve(league: &League) -> (Referee, String) {
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

/// Hands a directory in.
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
fn a_program_that_is_handed_in_is_built_checked_and_plays_rated_matches() {
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
    league.verify();
}

#[test]
fn a_build_that_fails_has_a_log_and_the_next_version_replaces_the_one_before() {
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
    // What the server has left there is of no use.
    fs::write(league.folder.path("submissions/incoming/half"), "x").expect("a file");
    let (mut server, _) = serve(&league);
    receive_match_of(&mut server, "mouse@1");
    assert_eq!(league.query("SELECT attempts FROM submissions"), "2");
    assert!(!league.folder.path("submissions/incoming/half").exists());
    assert_eq!(fs::read_dir(league.folder.path("submissions/work")).expect("a directory").count(), 0);
    drain(server);
}

#[test]
fn a_machine_without_all_layers_takes_no_programs_and_says_what_is_missing() {
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
    // Nor is it tested at home.
    referee(["check", &directory]).with_code(5).says(&["the sandbox `strict` is not available"]);
}

#[test]
fn a_directory_is_tested_at_home_as_a_league_does() {
    let folder = Folder::new();
    let directory = bot(&folder, "mouse", "mouse", BUILD);
    let mut options = vec!["--sandbox".to_owned(), "strict".to_owned()];
    for layer in missing() {
        options.extend(["--sandbox-allow-missing".to_owned(), layer.to_string()]);
    }
    let check = |more: &[&str]| {
        let args = ["check", "checkers", &directory].into_iter().chain(more.iter().copied());
        referee(args.map(str::to_owned).chain(options.clone()))
    };
    let summary = check(&["--json"]).with_code(0).one("summary");
    assert_eq!((&summary["failed"], &summary["bot"]), (&json!(0), &json!("python3 bot.py")));
    // Nothing was built in the directory itself.
    assert!(!folder.path("mouse/book.py").exists());
    folder.write("mouse/build.py", "raise SystemExit('no book')");
    check(&[]).with_code(1).says(&["no book", "the build failed"]);
    folder.write("mouse/build.py", BUILD);
    folder.write("mouse/bot.toml", "name = 'mouse'\ncommand = 'python3 bot.py'\nbuild = 'cd src && make'\n");
    check(&[]).with_code(2).says(&["bot.toml: build: `&&` needs a shell"]);
    folder
        .write("mouse/bot.toml", "name = 'mouse'\ncommand = 'python3 bot.py'\nfiles = ['*.py', 'weights']\n");
    check(&[]).with_code(2).says(&["bot.toml: files: `weights` matches no file"]);
    referee(["check", &directory, "--sandbox", "basic"]).with_code(2).says(&["is tested in `strict`"]);
}

/// Sends bytes as an archive. The server may answer before it has read all of them.
fn post(url: &str, token: &str, length: u64, bytes: &[u8]) -> Answer {
    use std::io::{Read, Write};
    let site =
        Site(url.strip_prefix("http://").and_then(|url| url.strip_suffix('/')).expect("a URL").to_owned());
    let mut stream = site.send(&format!(
        "POST /api/v1/owner/submissions HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Length: \
         {length}\r\n\r\n",
        token.trim()
    ));
    // It is refused in the middle.
    let _ = stream.write_all(bytes);
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text}"));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// A header in normal form, of a file or of a link to this target.
fn normal_header(path: &str, target: Option<&str>, size: u64) -> [u8; 512] {
    let mut header = tar::Header::new_ustar();
    header.set_path(path).expect("a path");
    header.set_mode(0o644);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_entry_type(tar::EntryType::Regular);
    if let Some(target) = target {
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_link_name_literal(target).expect("a target");
    }
    header.set_cksum();
    *header.as_bytes()
}

/// The path of a file; of a link also what it leads to.
type Entry<'a> = (&'a str, Option<&'a str>);

/// An archive in normal form.
fn normal_archive(entries: &[Entry<'_>]) -> Vec<u8> {
    let headers = entries.iter().flat_map(|(path, target)| normal_header(path, *target, 0));
    headers.chain([0; 1024]).collect()
}

/// Writes archives that no league takes, and returns their names.
fn hostile_archives(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let script = r#"
import io, sys, tarfile, gzip
def tar(name, *members):
    with tarfile.open(sys.argv[1] + '/' + name + '.tar', 'w', format=tarfile.USTAR_FORMAT) as out:
        for (path, kind, target) in members:
            info = tarfile.TarInfo(path)
            info.type, info.linkname, info.mode = kind, target, 0o644
            out.addfile(info, io.BytesIO(b''))
F, L, H, C, P, D = (tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE)
tar('parent', ('../x', F, ''))
tar('absolute', ('/tmp/x', F, ''))
tar('absolute link', ('a', L, '/etc/passwd'))
tar('hard link', ('b', H, 'a'))
tar('device', ('a', C, ''))
tar('FIFO', ('a', P, ''))
tar('sparse', ('a', tarfile.GNUTYPE_SPARSE, ''))
def raw(name, data):
    open(sys.argv[1] + '/' + name + '.tar', 'wb').write(data)
raw('gzip', gzip.compress(bytes(50 << 20)))
raw('garbage', b'x' * 5000)
"#;
    let place = folder.path("archives");
    fs::create_dir(&place).expect("a directory");
    let output = Command::new("python3").args(["-c", script]).arg(&place).output().expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = fs::read_dir(&place).expect("a directory").map(|file| file.expect("a file").path());
    let named = |path: &Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    let written = files.map(|path| (named(&path), fs::read(&path).expect("a file")));
    let normal: [(&str, &[Entry<'_>]); 5] = [
        ("link out", &[("a", Some("../../league.sqlite"))]),
        ("through a link", &[("a", Some("b")), ("a/x", None), ("b", None)]),
        ("case", &[("A", None), ("a", None)]),
        ("no bot.toml", &[("a", None)]),
        ("bot.toml elsewhere", &[("a/bot.toml", None)]),
    ];
    let file = b"name = 'x'\ncommand = 'cat ../../../league.sqlite'\n";
    let leads_out =
        [&normal_header("bot.toml", None, file.len() as u64)[..], file, &vec![0; 512 - file.len() + 1024]];
    let broken = [
        ("command that leads out".to_owned(), leads_out.concat()),
        ("8 GiB in a header".to_owned(), normal_header("zeros", None, (8 << 30) - 1).to_vec()),
        ("cut off".to_owned(), normal_header("a", None, 0).to_vec()),
    ];
    let normal = normal.map(|(name, entries)| (name.to_owned(), normal_archive(entries)));
    written.chain(normal).chain(broken).collect()
}

/// The archives that are refused, and what their owner is told.
const REFUSED: [(&str, &str); 17] = [
    ("parent", "the path contains `..`"),
    ("absolute", "the path is absolute"),
    ("link out", "outside the archive"),
    ("absolute link", "it links to the absolute path"),
    ("hard link", "it is a hard link"),
    ("device", "it is a device"),
    ("FIFO", "it is a FIFO"),
    ("sparse", "it is a sparse file"),
    ("through a link", "`a` is not a directory in the archive"),
    ("case", "differs only in case"),
    ("no bot.toml", "there is no bot.toml"),
    ("bot.toml elsewhere", "there is no bot.toml"),
    ("command that leads out", "`../../../league.sqlite` is not in the directory of the bot"),
    ("gzip", "the archive is damaged"),
    ("8 GiB in a header", "are allowed"),
    ("garbage", "the archive is damaged"),
    ("cut off", "the archive is cut off"),
];

/// A build that starts processes that do not end. Without control groups, root is not limited.
const STORM: &str = "import os
for at in range(300):
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '98765'])
raise SystemExit('not enforced here')";

/// A build that leaves a process behind which keeps its streams.
const DAEMON: &str = "import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp('sleep', ['sleep', '98765'])
    os._exit(0)
raise SystemExit(7)";

/// Whether a process of [`STORM`] or [`DAEMON`] runs.
fn has_survivors() -> bool {
    let processes = fs::read_dir("/proc").expect("processes").filter_map(|entry| Some(entry.ok()?.path()));
    processes.filter_map(|path| fs::read(path.join("cmdline")).ok()).any(|line| line == b"sleep\x0098765\0")
}

/// Builds that do what they must not, and what is in their logs.
const BUILDS: [(&str, &str, &str); 14] = [
    ("endless", "import time\nwhile True: time.sleep(1)", "it took longer than 10s"),
    ("network", "import socket\nsocket.create_connection(('127.0.0.1', PORT), 3)", "exited with status 1"),
    ("fork storm", STORM, "Resource temporarily unavailable|not enforced here"),
    ("daemon", DAEMON, "exited with status 7"),
    ("database", "print(open('LEAGUE/league.sqlite', 'rb').read(9))", "No such file or directory"),
    ("archives", "import os\nprint(os.listdir('LEAGUE/submissions/archives'))", "No such file or directory"),
    ("file of the league", "print(open('LEAGUE/league.toml').read())", "No such file or directory"),
    (
        "disk",
        "for at in range(40):\n    with open(str(at), 'wb') as out:\n        out.write(bytes(4 << 20))",
        "No space left on device",
    ),
    ("large result", "open('zeros', 'wb').write(bytes(20 << 20))", "are allowed"),
    ("link", "import os\nos.symlink('/etc/passwd', 'a')", "which is outside the directory"),
    ("FIFO", "import os\nos.mkfifo('a')", "it is not a regular file"),
    ("other command", "open('bot.toml', 'w').write('no')\nraise SystemExit(3)", "exited with status 3"),
    ("much memory", "a = b'x' * (3 << 30)", "MemoryError|killed by its memory limit"),
    ("another result", "import os\nopen(f'/proc/{os.getppid()}/fd/1', 'wb', 0).write(b'x' * 2048)", ""),
];

#[test]
fn hostile_programs_have_the_listed_outcomes_and_the_league_plays_on() {
    let league = league(
        "waiting = 100\nper_day = 1000\nbuild_time = '10s'\nbuild_space = '64MiB'\nresult = '16MiB'\narchive = '1MiB'\nbuild_processes = 64",
    );
    let file = owner(&league, "eve");
    let token = league.folder.read("eve.token");
    let (mut server, url) = serve(&league);
    let port = url.trim_end_matches('/').rsplit(':').next().expect("a port").to_owned();
    // More than the limit is not even read.
    let flood = post(&url, &token, 10 << 30, &vec![0; 40 << 20]);
    assert_eq!(flood.status, 413, "{}", flood.body);
    assert_eq!(post(&url, &token, 0, b"").status, 400);
    assert_eq!(post(&url, "wrong", 4, b"abcd").status, 401);
    let archives = hostile_archives(&league.folder);
    let mut expected = Vec::new();
    for (name, says) in REFUSED {
        let bytes = &archives[name];
        let answer = post(&url, &token, bytes.len() as u64, bytes);
        assert_eq!(answer.status, 201, "{name}: {}", answer.body);
        expected.push((name, answer.json()["id"].as_u64().expect("a number"), says));
    }
    for (at, (name, build, says)) in BUILDS.into_iter().enumerate() {
        let place = league.folder.text("");
        let build = build.replace("LEAGUE", place.trim_end_matches('/')).replace("PORT", &port);
        let directory = bot(&league.folder, &format!("hostile-{at}"), &format!("hostile {at}"), &build);
        let ended = submit(&url, &directory, &file).with_code(1);
        let id = ended.all("submission")[0]["id"].as_u64().expect("a number");
        expected.push((name, id, says));
    }
    for (at, (name, says)) in
        [("PLAIN", "which is taken"), ("p1ain", "which is taken"), ("-x", "name: ")].into_iter().enumerate()
    {
        let directory = bot(&league.folder, &format!("name-{at}"), name, BUILD);
        let args = ["submit", "--to", &url, &directory, "--token-file", &file, "--json"];
        let ended = Referee::start_as(spared().args(args)).wait();
        match ended.code {
            // Found before it is sent.
            Some(2) => drop(ended.says(&[says])),
            _ => {
                let ended = ended.with_code(1);
                assert!(log(&ended).contains(says), "{name}: {}", log(&ended));
            }
        }
    }
    for (name, id, says) in expected {
        let shown = league.run(&["submission", "show", &id.to_string(), "--json"]).done().one("submission");
        let log = shown["log"].as_str().expect("a log");
        assert!(
            shown["state"] == "failed" && says.split('|').any(|says| log.contains(says)),
            "{name}: {shown}"
        );
        assert!(log.len() <= 64 << 10);
        // With all layers everything is enforced.
        assert!(!log.contains("not enforced here") || !missing().is_empty(), "{name}: {shown}");
    }
    assert!(!has_survivors());
    // Nothing of them is left, and the league plays on.
    for name in ["incoming", "archives", "work", "bots"] {
        let left = fs::read_dir(league.folder.path("submissions").join(name)).expect("a directory");
        assert_eq!(left.count(), 0, "{name}");
    }
    let good = bot(&league.folder, "mouse", "mouse", BUILD);
    submit(&url, &good, &file).with_code(0);
    receive_match_of(&mut server, "mouse@1");
    drain(server);
    league.verify();
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
fn a_browser_goes_the_whole_way_from_an_invitation_to_the_end_of_a_season() {
    let league = league("[signup]\nmode = 'invite'");
    let text = league.folder.read("league.toml");
    league.folder.write("league.toml", text.replace("bots = 100", "url = 'http://localhost'"));
    let invited = league.run(&["invite", "--json"]).done().one("invitation");
    let (_, invitation) = invited["url"].as_str().and_then(|url| url.split_once('#')).expect("a secret");
    // Its match is among the last ones that the page lists.
    let ladder = "rest = \"500ms\"\nwatch = \"127.0.0.1:0\"\non_fault = \"retry=3\"";
    league.folder.write("league.toml", text.replace("rest = \"0s\"", ladder));
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
fn a_server_with_a_certificate_of_a_private_ca_needs_tls_ca() {
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
