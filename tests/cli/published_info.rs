//! `[publish]`: when the world sees what bots say of their searches.

use std::collections::BTreeSet;

use referee::report::replay::record_of_page;
use serde_json::Value;

use crate::common::http::Site;
use crate::common::league::drain;
use crate::common::{Folder, Referee, SEED, Signal, browser, referee};
use crate::watch::{go, wait_for_moves, wait_until};

/// Two bots that say in `info` at which turn they are, and play no turn from `hold` on before the test calls [`go`].
fn tellers(folder: &Folder, hold: u32) -> [String; 2] {
    let script = format!(
        "import pathlib, time\n\
         def tell(t):\n    go = pathlib.Path(__file__).with_name('go-' + t['match'])\n    \
         while t['turn'] >= {hold} and not go.exists():\n        time.sleep(0.02)\n    \
         move(t, t['legal'][0], info={{'text': 'thought-%d-%d' % (t['seat'], t['turn'])}})\nplay(turn=tell)"
    );
    ["ann", "bob"].map(|name| folder.bot(name, &script))
}

/// A file of a tournament of them with this table `[publish]`.
fn cup(folder: &Folder, game: &str, publish: &str) -> String {
    let entrants = tellers(folder, 6).map(|bot| format!("[[entrants]]\ncommand = \"{bot}\"\n"));
    let options = if game == "checkers" { "turn_limit = 20" } else { "" };
    let config = format!(
        "game = '{game}'\nseed = '{SEED}'\nmirror = 'none'\n[format]\nkind = 'round_robin'\n[publish]\n{publish}\n\
         [options]\n{options}\n{}",
        entrants.concat()
    );
    folder.write("cup.toml", config)
}

/// The `info` on the board of a match: seat and turn.
fn told(site: &Site, view: &str) -> BTreeSet<(u32, u32)> {
    let body = site.get(&format!("/api/v1/matches/m1/events{view}")).body;
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    body.split("thought-").skip(1).map(|text| numbers(text).expect("numbers")).collect()
}

#[test]
fn delayed_info_of_a_tournament_appears_some_moves_later() {
    let folder = Folder::new();
    let (file, dir) = (cup(&folder, "checkers", "info = 'delayed'\ndelay = 3"), folder.text("cup"));
    let mut run =
        Referee::start(["tournament", "run", &file, "--dir", &dir, "--watch", "127.0.0.1:0", "--json"]);
    let site = Site::of(&mut run);
    // Both bots play 6 turns, then wait.
    wait_for_moves(&site, "m1", 12);
    assert_eq!(site.get("/api/v1/run").json()["info_delay"], 3);
    let due: BTreeSet<(u32, u32)> = (0..9).map(|n| (n % 2, n / 2)).collect();
    assert_eq!(told(&site, ""), due, "those of the last three moves are held back");
    let last = site.get("/api/v1/matches/m1/events?view=text").json();
    let lines = last["events"][0]["data"]["step"]["lines"].to_string();
    assert!(lines.contains("ann at move 9: thought-0-4"), "{lines}");
    browser::run("watch.mjs", &[&site.url("/"), &folder.text("go-m1"), "late"]);
    run.end().with_code(0);
    let record = folder.published("cup/records");
    assert!(folder.read("published/m1.jsonl").contains("thought-1-9"), "{record}");
}

#[test]
fn delayed_info_of_game_with_secrets_appears_after_match() {
    let folder = Folder::new();
    let (file, dir) = (cup(&folder, "xe_queo", "info = 'delayed'\ndelay = 1"), folder.text("cup"));
    let mut run =
        Referee::start(["tournament", "run", &file, "--dir", &dir, "--watch", "127.0.0.1:0", "--json"]);
    let site = Site::of(&mut run);
    wait_for_moves(&site, "m1", 5);
    assert_eq!(site.get("/api/v1/run").json()["info_delay"], Value::Null);
    assert_eq!(told(&site, ""), BTreeSet::new());
    go(&folder, "m1");
    run.end().with_code(0);
}

#[test]
fn a_tournament_that_never_publishes_info_shows_it_nowhere() {
    let folder = Folder::new();
    let (file, dir, kept) =
        (cup(&folder, "checkers", "info = 'never'"), folder.text("cup"), folder.text("kept"));
    go(&folder, "m1");
    referee(["tournament", "run", &file, "--dir", &dir, "--site", &kept]).done();
    referee(["tournament", "report", &dir, "--site", &folder.text("site")]).done();
    assert!(folder.read("cup/records/m1.jsonl").contains("thought-"), "the organiser has it");
    for site in ["kept", "site"] {
        let page = folder.read(&format!("{site}/matches/m1.html"));
        let record = record_of_page(&page, 1 << 20).expect("a record");
        let record = String::from_utf8(record).expect("UTF-8");
        assert!(record.contains("\"move\"") && !record.contains("thought-"), "{record}");
    }
    let mut server = Referee::start(["tournament", "watch", &dir, "--watch", "127.0.0.1:0", "--json"]);
    let site = Site::of(&mut server);
    for path in ["record", "events"] {
        let body = site.get(&format!("/api/v1/matches/m1/{path}")).body;
        assert!(!body.contains("thought-"), "{path}: {body}");
    }
    server.signal(Signal::TERM);
    server.end().with_code(0);
}

#[test]
fn delayed_info_of_a_league_appears_some_moves_later() {
    let folder = Folder::new();
    let programs = ["ann", "bob"].iter().zip(tellers(&folder, 6));
    let programs: String =
        programs.map(|(name, bot)| format!("[[programs]]\nname = '{name}'\ncommand = \"{bot}\"\n")).collect();
    let league = format!(
        "[sandbox]\nmode = 'none'\n[publish]\ninfo = 'delayed'\ndelay = 2\n[[ladders]]\nname = 'main'\n\
         game = 'checkers'\nwatch = '127.0.0.1:0'\nwatch_delay = 4\n{programs}"
    );
    let mut server = Referee::start(["serve", &folder.write("league.toml", league), "--json"]);
    let site = Site::of(&mut server);
    // The boards are 4 moves behind, and what was said is 2 moves behind the boards.
    wait_for_moves(&site, "m1", 8);
    assert_eq!(told(&site, "").len(), 6);
    assert_eq!(told(&site, "?view=text").len(), 1, "the latest step alone");
    go(&folder, "m1");
    wait_until("the match ends", || site.ask("GET", "/api/v1/matches/m1/record", "").status == 200);
    drain(server);
}

#[test]
fn a_table_of_publishing_that_means_nothing_is_refused() {
    let folder = Folder::new();
    for (table, says) in [
        ("info = 'later'", "unknown variant `later`, expected one of `never`, `after`, `delayed`"),
        ("delay = 3", "`delay` needs info = \"delayed\""),
        ("info = 'delayed'\ndelay = 0", "delay = 0 is not from 1 to 10000 moves"),
    ] {
        let file = cup(&folder, "checkers", table);
        referee(["tournament", "check", &file]).with_code(2).says(&[says]);
    }
}
