//! Data that submitted programs keep between matches.

use std::fs;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use ::referee::game::hex;

use crate::common::http::Site;
use crate::common::league::{League, drain};
use crate::common::{Referee, referee};
use crate::sandbox::missing;
use crate::submissions::{league, owner, receive_match_of, serve, submit};
use crate::watch::wait_until;
use ::referee::bot::sandbox::Layer;

/// A bot that counts its matches in the directory that outlives them, and reports the count.
const COUNTER: &str = "place = os.environ.get('KEEP')
count = 0
if place:
    found = sorted(os.listdir(place))
    count = int(open(place + '/count').read()) if found else 0
    with open(place + '/new', 'w') as out:
        out.write(str(count + 1))
    os.rename(place + '/new', place + '/count')
say_error('count', count, 'in', place, os.path.exists('/keep'))
";

/// Writes a bot that runs this before it plays. Returns its directory.
fn bot(league: &League, name: &str, script: &str) -> String {
    fs::create_dir_all(league.folder.path(name)).expect("a directory");
    let write = |file: &str, text: &str| drop(league.folder.write(&format!("{name}/{file}"), text));
    fs::copy(league.folder.path("testbot.py"), league.folder.path(&format!("{name}/testbot.py")))
        .expect("a copy");
    let start =
        "from testbot import *\ndef say_error(*words):\n    print(*words, file=sys.stderr, flush=True)\n";
    write("bot.py", &format!("{start}{script}play()\n"));
    write("bot.toml", &format!("name = '{name}'\ncommand = 'python3 bot.py'\n"));
    league.folder.text(name)
}

/// The entry of the bot of a player in the last lines of the record of a match.
fn entry(league: &League, played: &Value, player: &str) -> Value {
    let seat = played["players"].as_array().expect("players").iter().position(|name| name == player);
    let id = played["id"].as_str().expect("an id");
    let record = league.folder.record(&format!("ladders/short/records/{id}.jsonl"));
    let line = record.iter().find(|line| line["type"] == "bots").expect("a line");
    line["bots"][seat.expect("a seat")].clone()
}

/// A player's report in its next match, and the data that it had kept before.
fn next(league: &League, server: &mut Referee, player: &str) -> (String, Value) {
    let played = receive_match_of(server, player);
    assert_eq!(played["faults"], json!([{}, {}]), "{played}");
    let entry = entry(league, &played, player);
    (entry["stderr"].as_str().expect("a text").trim().to_owned(), entry["kept"].clone())
}

/// The API's answer about a submission to the owner with the token in this file.
fn shown(url: &str, token: &str, id: u32) -> Value {
    let site = Site(url.trim_start_matches("http://").trim_end_matches('/').to_owned());
    let by = format!("Authorization: Bearer {}\r\n", fs::read_to_string(token).expect("a token").trim());
    site.ask("GET", &format!("/api/v1/owner/submissions/{id}"), &by).json()["kept_data"].clone()
}

/// Returns whether this machine can give programs such a directory.
fn is_possible() -> bool {
    !missing().contains(&Layer::Bubblewrap)
}

#[test]
fn program_finds_what_its_version_kept_and_nothing_of_others() {
    if !is_possible() {
        return;
    }
    let league = league("keep = '1MiB'");
    let (ada, ben) = (owner(&league, "ada"), owner(&league, "ben"));
    let (mut server, url) = serve(&league);
    submit(&url, &bot(&league, "mouse", COUNTER), &ada).with_code(0);
    let says = |count: usize| format!("count {count} in /keep True");
    let mut kept = Vec::new();
    for count in 0..4 {
        let (said, before) = next(&league, &mut server, "mouse@1");
        assert_eq!(said, says(count));
        kept.push(before);
    }
    assert_eq!(kept[0], json!({"bytes": 0}), "nothing yet");
    assert!(kept[1]["sha256"].as_str().is_some_and(|id| id.len() == 64) && kept[1] != kept[2], "{kept:?}");
    submit(&url, &bot(&league, "cat", COUNTER), &ben).with_code(0);
    assert_eq!(next(&league, &mut server, "cat@1").0, says(0));
    assert_eq!(shown(&url, &ada, 1)[0]["ladder"], "short");
    assert!(shown(&url, &ada, 1)[0]["bytes"].as_u64().is_some_and(|bytes| bytes > 1024));
    drain(server);
    let show = |more: &[&str]| league.run(&[&["submission", "show", "1"], more].concat()).done();
    let told = show(&["--json"]).one("submission")["kept_data"].clone();
    let stored = fs::metadata(league.folder.path("submissions/kept/1/short.tar")).expect("it exists").len();
    assert_eq!(told, json!([{"ladder": "short", "bytes": stored}]));
    assert!(show(&[]).stdout.contains(&format!("\nkeeps   {stored} bytes on short\n")));
    // The next match begins with the stored data.
    let archive = league.folder.path("submissions/kept/1/short.tar");
    let bytes = fs::read(&archive).expect("an archive");
    let mode = std::os::unix::fs::MetadataExt::mode(&fs::metadata(&archive).expect("it exists"));
    assert_eq!(mode & 0o777, 0o600);
    let at = bytes.iter().skip(512).take_while(|byte| byte.is_ascii_digit()).map(|&byte| char::from(byte));
    let count: usize = at.collect::<String>().parse().expect("a number");
    let records = fs::read_dir(league.folder.path("ladders/short/records")).expect("records").flatten();
    let played =
        records.filter(|record| fs::read_to_string(record.path()).is_ok_and(|text| text.contains("mouse@1")));
    assert_eq!(count, played.count(), "each match has counted");
    let backup = league.folder.text("backup");
    league.run(&["backup", &backup]).done();
    assert_eq!(fs::read(format!("{backup}/submissions/kept/1/short.tar")).expect("a copy"), bytes);
    let (mut server, url) = serve(&league);
    let (said, before) = next(&league, &mut server, "mouse@1");
    assert_eq!(said, says(count), "after a restart");
    assert_eq!(before, json!({"bytes": bytes.len(), "sha256": hex::encode(&Sha256::digest(&bytes))}));
    // A new version begins anew.
    submit(&url, &bot(&league, "mouse", &format!("{COUNTER}# again\n")), &ada).with_code(0);
    assert_eq!(next(&league, &mut server, "mouse@2"), (says(0), json!({"bytes": 0})));
    assert_eq!(next(&league, &mut server, "mouse@2").0, says(1));
    assert_eq!(shown(&url, &ada, 2)[0]["refused"], Value::Null);
    drain(server);
    assert!(league.verify() > 8);
}

#[test]
fn without_keep_nothing_outlives_a_match() {
    let league = league("");
    let token = owner(&league, "ada");
    let (mut server, url) = serve(&league);
    submit(&url, &bot(&league, "mouse", COUNTER), &token).with_code(0);
    assert_eq!(next(&league, &mut server, "mouse@1"), ("count 0 in None False".to_owned(), Value::Null));
    assert_eq!(shown(&url, &token, 1), json!([]));
    drain(server);
    for (line, says) in [
        ("keep = '2GiB'", "[submissions] keep: 2GiB is not from 1 byte to 1 GiB"),
        (
            "keep = '1MiB'\n[workers]\nlisten = '127.0.0.1:0'",
            "[submissions] keep: programs keep nothing on workers",
        ),
    ] {
        let text = league.folder.read("league.toml").replacen(
            "[submissions]\n",
            &format!("[submissions]\n{line}\n"),
            1,
        );
        let file = league.folder.write("other.toml", text);
        referee(["league", "check", "--league", &file]).with_code(2).says(&[says]);
        referee(["serve", &file]).with_code(2).says(&[says]);
    }
}

/// A hostile program's acts in its directory before each match, its report, and the reason why nothing of it
/// is kept; empty if that is harmless.
const HOSTILE: [(&str, &str, &str, &str); 5] = [
    ("large", "open('x', 'wb').write(bytes(9 << 20))", "No space left on device", ""),
    ("many", "[os.mkdir(str(at)) for at in range(5000)]", "done", "more than 1000 files and directories"),
    ("link", "os.symlink('/etc/passwd', 'x')", "done", "`x`: it is neither a regular file nor a directory"),
    (
        "daemon",
        "
if os.fork() == 0:
    os.setsid()
    [os.close(fd) for fd in range(3)]
    while True: open('x', 'wb').write(bytes(1 << 19))",
        "done",
        "",
    ),
    (
        "stays",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nimport atexit\natexit.register(signal.pause)",
        "done",
        "",
    ),
];

#[test]
fn hostile_program_keeps_limited_data_and_harms_no_other() {
    if !is_possible() {
        return;
    }
    let league = league("keep = '1MiB'\nwaiting = 99\nper_day = 99");
    let (ada, ben) = (owner(&league, "ada"), owner(&league, "ben"));
    let (mut server, url) = serve(&league);
    submit(&url, &bot(&league, "mouse", COUNTER), &ben).with_code(0);
    for (id, (name, acts, says, why)) in (2..).zip(HOSTILE) {
        let acts =
            format!("os.chdir(os.environ['KEEP'])\n{acts}\nsay_error('done')").replace('\n', "\n        ");
        let script = format!(
            "if 'KEEP' in os.environ:\n    try:\n        {acts}\n    except OSError as error:\n        say_error(error)\n"
        );
        submit(&url, &bot(&league, name, &script), &ada).with_code(0);
        let (said, _) = next(&league, &mut server, &format!("{name}@1"));
        assert!(said.contains(says), "{name}: {said}");
        wait_until("it is stored or refused", || shown(&url, &ada, id)[0].is_object());
        let refused = shown(&url, &ada, id)[0]["refused"].as_str().unwrap_or_default().to_owned();
        assert!(refused.contains(why) && refused.is_empty() == why.is_empty(), "{name}: {refused}");
        let told = league.run(&["submission", "show", &id.to_string()]).done().stdout;
        assert_eq!(
            told.contains(&format!("on short; what it left last was not kept: {refused}")),
            !why.is_empty()
        );
        let kept = fs::metadata(league.folder.path(&format!("submissions/kept/{id}/short.tar")));
        assert!(kept.map_or(0, |kept| kept.len()) <= (1 << 20) + 1536, "{name}");
        league.run(&["revoke", name]).done();
    }
    next(&league, &mut server, "mouse@1");
    drain(server);
    league.verify();
}
