//! Every game with every number of seats, played by sample bots in two languages, verified and shown.

use crate::common::{Folder, in_rust, referee, sample};
use serde_json::Value;

fn games() -> Vec<Value> {
    let listed = referee(["games", "--json"]).stdout;
    listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn sample_bots_of_two_languages_play_every_game_without_fault() {
    let games = games();
    assert!(games.len() >= 4, "{games:?}");
    let rust = format!("'{}' --seed 1", in_rust("referee-random").display());
    for game in &games {
        let id = game["id"].as_str().expect("an id");
        for seats in game["seats"].as_array().expect("a list") {
            let seats = seats.as_u64().expect("a number") as usize;
            let folder = Folder::new();
            let records = folder.text("records");
            let python = format!("{} --seed 2", sample("python/random_bot.py"));
            let mut args = vec!["play", id, "-n", "6", "--record", &records, "--strict"];
            args.extend([python.as_str(), &rust].into_iter().cycle().take(seats));
            let played = referee(args);
            assert_eq!(played.code, Some(0), "{id}: {played:?}");
            let verified = referee(["verify", &records]);
            assert_eq!(verified.code, Some(0), "{id}: {}", verified.stdout);
            assert!(verified.stdout.ends_with("6 records, 0 differ\n"), "{id}: {}", verified.stdout);
            let views = (0..seats).map(|seat| seat.to_string());
            for view in views.chain(["all".to_owned(), "public".to_owned()]) {
                let shown = referee(["show", &format!("{records}/m1.jsonl"), "--view", &view]);
                assert_eq!(shown.code, Some(0), "{id}: {}", shown.stderr);
                assert!(shown.stdout.contains("\nended: "), "{id}: {}", shown.stdout);
                assert!(!shown.stdout.contains('\x1b'), "{id}: colours in a pipe");
            }
        }
        let rules = referee(["rules", id]).stdout;
        for option in game["options"].as_array().expect("a list") {
            let name = option["name"].as_str().expect("a name");
            assert!(rules.contains(&format!("`{name}`")), "the rules of {id} are silent about {name}");
        }
    }
}
