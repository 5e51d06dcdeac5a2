//! Seating in games with several numbers of seats, and mirrored sets of more than two bots.

use crate::common::{Folder, referee};
use serde_json::{Value, json};

const SHORT: [&str; 3] = ["--set", "turn_limit=20", "--json"];

fn seats(line: &Value) -> Vec<&str> {
    line["seats"].as_array().expect("seats").iter().map(|name| name.as_str().expect("a name")).collect()
}

#[test]
fn two_bots_fill_the_seats_of_two_teams() {
    let folder = Folder::new();
    let script = "with open(__file__ + '.pids', 'a') as pids:
    print(os.getpid(), file=pids)
play()";
    let (a, b) = (folder.bot("a", script), folder.bot("b", script));
    let records = folder.text("records");
    let args = ["play", "keezen", &a, &b, "--seats", "4", "-n", "2", "--record", &records];
    let ended = referee(args.into_iter().chain(SHORT)).done();
    let matches = ended.all("match");
    assert_eq!(seats(&matches[0]), ["a", "b", "a", "b"]);
    assert_eq!(seats(&matches[1]), ["b", "a", "b", "a"]);
    assert_eq!(folder.pids("a.py.pids").len(), 2, "a process for each seat, used again");
    let summary = ended.one("summary");
    assert_eq!([&summary["bots"][0]["matches"], &summary["matches"]], [2, 2], "a team counts once");
    referee(["verify", &records]).done();
}

#[test]
fn the_seating_follows_from_the_number_of_bots() {
    let folder = Folder::new();
    let bots: Vec<String> = (0..4).map(|n| folder.plain_bot(&format!("bot{n}"))).collect();
    let play = |bots: &[String]| {
        let args = ["play", "keezen"].into_iter().chain(bots.iter().map(String::as_str)).chain(SHORT);
        referee(args).done().one("match")
    };
    assert_eq!(seats(&play(&bots[..2])), ["bot0", "bot1"]);
    assert_eq!(seats(&play(&bots[..3])), ["bot0", "bot1", "bot2", "bot0", "bot1", "bot2"]);
    assert_eq!(seats(&play(&bots)), ["bot0", "bot1", "bot2", "bot3"]);
    let refused = |args: &[&str], what: &[&str]| {
        referee(["play", "keezen"].iter().chain(args)).with_code(2).says(what);
    };
    refused(&[&bots[0]], &["1 bot: keezen needs 2 or 3 or 4 or 6 bots"]);
    refused(&[&bots[0], &bots[1], "--seats", "6"], &["--seats 6: 6 seats in 3 sides need 3 or 6 bots"]);
    refused(&[&bots[0], "--seats", "2"], &["--seats 2: 2 seats in 2 sides need 2 bots"]);
    refused(&[&bots[0], &bots[1], "--seats", "5"], &["--seats 5", "2 or 4 or 6 seats, not 5"]);
}

#[test]
fn set_of_three_teams_has_three_rotations_or_six_orders() {
    let folder = Folder::new();
    let bots: Vec<String> = ["a", "b", "c"].map(|name| folder.plain_bot(name)).into();
    for (mirror, orders) in [
        ("--mirror", vec!["abc", "bca", "cab"]),
        ("--mirror=all", vec!["abc", "acb", "bac", "bca", "cab", "cba"]),
    ] {
        let records = folder.text(mirror);
        let args = ["play", "keezen", &bots[0], &bots[1], &bots[2], mirror, "--record", &records];
        let ended = referee(args.into_iter().chain(SHORT)).done();
        let played: Vec<String> = ended.all("match").iter().map(|line| seats(line)[..3].concat()).collect();
        assert_eq!(played, orders);
        let set = ended.one("set");
        assert_eq!(set["matches"].as_array().map(Vec::len), Some(orders.len()));
        let sum: f64 = set["scores"].as_array().expect("scores").iter().filter_map(Value::as_f64).sum();
        assert!((sum - orders.len() as f64 * 1.5).abs() < 1e-9, "{set}");
        let deal = |id: usize| {
            let record = folder.record(&format!("{mirror}/m{id}.jsonl"));
            let deal = record.iter().find(|line| line["event"]["kind"] == "deal").expect("a deal").clone();
            (record[0]["commitment"].clone(), deal["event"]["hands"].clone())
        };
        let ((first, cards), (second, same_cards)) = (deal(1), deal(2));
        assert_ne!(first, second, "each match has a commitment of its own");
        assert_eq!(cards, same_cards);
        referee(["verify", &records]).done();
    }
    let odd = ["play", "keezen", &bots[0], &bots[1], &bots[2], "--mirror", "-n", "4"];
    referee(odd).with_code(2).says(&["-n 4: --mirror needs a multiple of 3"]);
}

#[test]
fn set_of_xe_queo_has_one_setup_and_new_processes() {
    let folder = Folder::new();
    let (a, b) = (folder.plain_bot("a"), folder.plain_bot("b"));
    let records = folder.text("records");
    let ended = referee(["play", "xe_queo", &a, &b, "--mirror", "--json", "--record", &records]).done();
    assert_eq!(ended.one("set")["scores"], json!([1.0, 1.0]), "the same bots in both places");
    let set_up = |id: &str| {
        let record = folder.record(&format!("records/{id}.jsonl"));
        record.iter().find(|line| line["event"]["kind"] == "setup").expect("a set-up")["event"].clone()
    };
    assert_eq!(set_up("m1"), set_up("m2"));
    referee(["verify", &records]).done();
}
