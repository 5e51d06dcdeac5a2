//! The public part of matches, and the private part of the owners of bots.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::common::http::Site;
use crate::common::league::{drain, receive_matches};
use crate::common::{Folder, Referee, referee, sample};
use crate::watch::wait_until;

/// Plays its first legal move, says so in `info`, and writes to standard error.
const TALKATIVE: &str = r#"import json, sys
print("hush-stderr", file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    answer = {key: message[key] for key in ("match", "seat", "turn") if key in message}
    if message["type"] == "hello":
        answer = dict(type="hello", protocol=1, name="talkative")
    elif message["type"] == "start":
        answer["type"] = "ready"
    elif message["type"] == "turn":
        answer.update(type="move", move=message["legal"][0], info={"note": "hush-info"})
    else:
        continue
    print(json.dumps(answer), flush=True)
"#;

/// A command of the bot in this folder.
pub(crate) fn talkative(folder: &Folder) -> String {
    format!("python3 '{}' --key hush-key", folder.write("talkative.py", TALKATIVE))
}

#[test]
fn public_records_verify_alone_and_together_with_private_lines() {
    let folder = Folder::new();
    let (bot, records) = (talkative(&folder), folder.text("records"));
    referee(["play", "xe_queo", &bot, &sample("python/random_bot.py"), "--record", &records]).done();
    let (to, owners) = (folder.text("public"), folder.text("owners"));
    let args = ["publish", &records, "--to", &to, "--private", &owners, "--info", "never", "--json"];
    let published = referee(args).done().one("published");
    assert_eq!(published["public"], folder.text("public/m1.jsonl"));
    assert_eq!(
        published["private"],
        json!([0, 1].map(|seat| folder.text(&format!("owners/m1.seat{seat}.jsonl"))))
    );
    let public = folder.read("public/m1.jsonl");
    assert!(!public.contains("hush") && !public.contains(".py"), "{public}");
    let [mine, others] = [0, 1].map(|seat| folder.read(&format!("owners/m1.seat{seat}.jsonl")));
    for private in ["hush-stderr", "hush-info", "hush-key"] {
        assert!(mine.contains(private) && !others.contains(private), "{private}");
    }
    let mode = std::fs::metadata(folder.text("owners/m1.seat0.jsonl")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let (record, private) = (folder.text("public/m1.jsonl"), folder.text("owners/m1.seat0.jsonl"));
    referee(["verify", &record]).done();
    let together = referee(["verify", &record, "--private", &private]).done().stdout;
    assert_eq!(together, format!("{record}: ok\n{private}: ok\n"));
    folder.write("owners/m1.seat0.jsonl", mine.replace("hush-stderr", "all is well"));
    let changed = referee(["verify", &record, "--private", &private, "--json"]).with_code(1);
    assert!(changed.one("private")["what"].as_str().expect("text").contains("the lines were changed"));
    let whole = folder.text("records/m1.jsonl");
    for (record, private, what) in [
        (&whole, &private, "no public record of match m1 is among the files"),
        (&record, &record, "begin with one of type `private`"),
    ] {
        let differs = referee(["verify", record, "--private", private]).with_code(1).stdout;
        assert!(differs.contains(what), "{differs}");
    }

    // `info` is public by default.
    referee(["publish", &records, "--to", &to]).done();
    let public = folder.read("public/m1.jsonl");
    assert!(public.contains("hush-info") && !public.contains("hush-stderr"), "{public}");
    referee(["publish", &records, "--to", &records])
        .with_code(2)
        .says(&["which would be lost; expected another one"]);
    let damaged = folder.read("records/m1.jsonl").replacen("\"took_us\":", "\"took_us\":1", 1);
    folder.write("records/m1.jsonl", damaged);
    referee(["publish", &records, "--to", &to]).with_code(2).says(&["it was changed after it was sealed"]);
}

#[test]
fn the_pages_of_a_league_show_nothing_private() {
    let folder = Folder::new();
    let bot = talkative(&folder);
    let programs = ["one", "two"].map(|name| format!("[[programs]]\nname = {name:?}\ncommand = {bot:?}\n"));
    let ladder = "[[ladders]]\nname = \"main\"\ngame = \"xe_queo\"\nrest = \"0s\"\nwatch = \"127.0.0.1:0\"\n";
    let league = |publish: &str| {
        folder.write(
            "league.toml",
            format!("{publish}[sandbox]\nmode = \"basic\"\n{ladder}{}", programs.concat()),
        )
    };
    let mut server = Referee::start(["serve", &league("[publish]\ninfo = \"never\"\n"), "--json"]);
    let site = Site::of(&mut server);
    let id = receive_matches(&mut server, 2)[0]["id"].as_str().expect("an id").to_owned();
    let of = |path: &str| format!("/api/v1/matches/{id}{path}");
    wait_until("the match is shown", || site.ask("GET", &of("/record"), "").status == 200);
    for path in [
        "/",
        "/api/v1/run",
        "/api/v1/matches?state=ended",
        "/api/v1/bots",
        "/api/v1/players/one",
        "/api/v1/ladder",
        &of(""),
        &of("/record"),
        &of("/events"),
        &of("/board"),
        &format!("/matches/{id}"),
        "/players/one",
        "/join",
    ] {
        let body = site.ask("GET", path, "").body;
        for private in ["hush", "talkative.py", &folder.text("")] {
            assert!(!body.contains(private), "{path} shows {private}: {body}");
        }
    }
    let record = folder.write("shown.jsonl", site.get(&of("/record")).body);
    referee(["verify", &record]).done();
    drain(server);
    let mut server = Referee::start(["serve", &league(""), "--json"]);
    let site = Site::of(&mut server);
    wait_until("the match is shown", || site.ask("GET", &of("/record"), "").status == 200);
    let shown = site.get(&of("/record")).body;
    assert!(shown.contains("hush-info") && !shown.contains("hush-stderr"), "{shown}");
    drain(server);
}
