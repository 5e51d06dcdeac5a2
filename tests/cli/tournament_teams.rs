//! `referee tournament`: fixed teams of different bots.

use std::collections::BTreeSet;

use crate::common::{Folder, SEED, referee};
use serde_json::Value;

/// Two fixed teams and a bot that plays both seats of its side; `bad` of the second team makes a fault whenever it
/// has a move, which with this seed it has in each match.
const TEAMS: &str = "seed = 'SEED'
game = 'keezen'
seats = 4
options = { turn_limit = 30 }
[format]
kind = 'round_robin'
[[entrants]]
name = 'pair'
team = [{ name = 'north', command = \"GOOD\" }, { command = \"OTHER\", clock_factor = 2.0 }]
[[entrants]]
name = 'alone'
command = \"GOOD\"
[[entrants]]
name = 'duo'
[[entrants.team]]
name = 'bad'
command = \"BAD\"
[[entrants.team]]
name = 'fine'
command = \"GOOD\"
";

/// The file of [`TEAMS`].
fn teams(folder: &Folder) -> String {
    let good = folder.bot("good", "play()");
    let bad = folder.bot("bad", "play(turn=lambda t: move(t, 'nonsense'))");
    let other = folder.bot("other", "play()");
    folder.write(
        "cup.toml",
        TEAMS.replace("SEED", SEED).replace("GOOD", &good).replace("BAD", &bad).replace("OTHER", &other),
    )
}

#[test]
fn a_team_of_different_bots_is_one_entrant() {
    let folder = Folder::new();
    let (config, dir) = (teams(&folder), folder.text("cup"));
    let checked = referee(["tournament", "check", &config]).done().stdout;
    assert!(checked.starts_with("keezen: 3 entrants, 3 matches\n"), "{checked}");
    assert!(["north: ", "other: ", "alone: "].into_iter().all(|bot| checked.contains(bot)), "{checked}");
    let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
    let standings = ended.one("standings");
    let names: BTreeSet<&str> =
        standings["entrants"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["alone", "duo", "pair"]));
    let mut seated = BTreeSet::new();
    for played in ended.all("match") {
        let record = folder.record(&format!("cup/records/{}.jsonl", played["id"].as_str().unwrap()));
        let seats = record[0]["seats"].as_array().unwrap();
        for side in [0, 1] {
            let names = [side, side + 2].map(|seat| seats[seat]["name"].as_str().unwrap().to_owned());
            let clocks = [side, side + 2].map(|seat| seats[seat]["clock"]["bank_ms"].as_u64());
            assert_eq!(clocks[1].is_some(), names[1] == "other", "its clock is its own");
            seated.insert(names.join(" + "));
        }
    }
    let sides = ["alone + alone", "bad + fine", "north + other"].map(str::to_owned);
    assert_eq!(seated, BTreeSet::from(sides), "the bots of a team keep their seats");
    assert_eq!(
        referee(["tournament", "verify", &dir, "--json"]).done().one("standings")["entrants"],
        standings["entrants"]
    );
    let report = referee(["tournament", "report", &dir, "--format", "json"]).done().one("report");
    let details = report["details"].as_array().unwrap();
    let duo = details.iter().find(|details| details["name"] == "duo").unwrap();
    assert_eq!((&duo["team"][0]["name"], &duo["team"][1]["name"]), (&"bad".into(), &"fine".into()));
    assert_eq!(
        (&duo["team"][0]["faults"], &duo["faults"]),
        (&duo["faults"], &serde_json::json!({ "illegal_move": 2 }))
    );
    assert_eq!(duo["team"][1]["faults"], serde_json::json!({}));
    let played =
        report["attempts"].as_array().unwrap().iter().find(|played| played["seats"][0] == "pair").unwrap();
    assert_eq!((&played["bots"][0], &played["bots"][2]), (&"north".into(), &"other".into()));
    let table = referee(["tournament", "report", &dir]).done().stdout;
    assert!(table.contains("duo: bad") && table.contains("2 illegal_move"), "{table}");
    let xml = referee(["tournament", "report", &dir, "--format", "junit"]).done().stdout;
    assert!(xml.contains("2 illegal_move of bad in 2 matches"), "{xml}");
    assert!(referee(["tournament", "resume", &dir, "--json"]).done().all("match").is_empty());
}

#[test]
fn killed_match_of_teams_is_cut_off_for_teams() {
    let folder = Folder::new();
    let (config, dir) = (teams(&folder), folder.path("cup"));
    let text = folder.text("cup");
    referee(["tournament", "run", &config, "--dir", &text]).done();
    // As if the referee had been killed in a fourth match of the last team, whose bots have the indices 3 and 4.
    let before = referee(["tournament", "status", &text, "--json"]).done().one("status");
    std::fs::write(dir.join("begun"), "m9 3,0,4,1\n").unwrap();
    referee(["tournament", "resume", &text]).done();
    let after = referee(["tournament", "status", &text, "--json"]).done().one("status");
    let counts = |status: &Value| {
        let rows = status["entrants"].as_array().unwrap().iter();
        rows.map(|row| row["interruptions"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((counts(&before), counts(&after)), (vec![0, 0, 0], vec![1, 0, 1]));
}

#[test]
fn an_invalid_team_is_rejected_with_the_reason() {
    let folder = Folder::new();
    let good = teams(&folder);
    let good = std::fs::read_to_string(good).unwrap();
    let north = good.split("{ name = 'north', ").nth(1).unwrap().split(" }").next().unwrap();
    for (from, to, what) in [
        (
            "game = 'keezen'\nseats = 4",
            "game = 'checkers'",
            "entrant pair: `team`: checkers with 2 seats has no partners",
        ),
        (
            "kind = 'round_robin'",
            &format!("kind = 'partners'\n[[entrants]]\nname = 'fourth'\n{north}"),
            "entrant pair: a `team` is fixed",
        ),
        (
            "team = [{",
            &format!("team = [{{ {north} }}, {{"),
            "entrant pair: its team has 3 bots, but a side of keezen has 2 seats",
        ),
        ("name = 'pair'\n", "", "entrant number 1: a team needs a `name`"),
        (
            "name = 'pair'\n",
            "name = 'pair'\ntcp = 'x'\n",
            "entrant pair: only `name`, `display_name` and `absent` are allowed beside `team`",
        ),
        ("name = 'north', ", "name = 'alone', ", "entrant alone: the name is not unique"),
        (
            "name = 'north', ",
            "name = 'north', tcp = 'x', ",
            "entrant pair: bot north: it needs either a `command`",
        ),
    ] {
        assert!(good.contains(from), "{from}");
        let bad = folder.write("bad.toml", good.replacen(from, to, 1));
        referee(["tournament", "check", &bad]).with_code(2).says(&[what]);
    }
}

#[test]
fn a_team_joins_and_its_bots_commands_can_be_changed() {
    let folder = Folder::new();
    let (config, dir) = (teams(&folder), folder.text("cup"));
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    let [one, two] = ["one", "two"].map(|name| folder.plain_bot(name));
    referee(["tournament", "add", &dir, &one, &two])
        .with_code(2)
        .says(&["--name: a team of several bots needs a name"]);
    referee(["tournament", "add", &dir, &one, &two, &one, "--name", "late"])
        .with_code(2)
        .says(&["entrant late: its team has 3 bots, but a side of keezen has 2 seats"]);
    referee(["tournament", "add", &dir, "tcp:alice", &two, "--name", "late"])
        .with_code(2)
        .says(&["--listen"]);
    // A bot whose script has the name of its team gets another one.
    let said = referee(["tournament", "add", &dir, &one, &two, "--name", "two"]).done().stdout;
    assert_eq!(said, "two joins: 3 more matches, after all others\n");
    referee(["tournament", "add", &dir, &one, &two, "--name", "two"])
        .with_code(2)
        .says(&["`two` is an entrant already"]);

    let repaired = folder.plain_bot("repaired");
    let change =
        |name: &str| referee(["tournament", "change", &dir, "--command", &format!("{name}={repaired}")]);
    let said = change("bad").done().stdout;
    assert!(said.starts_with("bad: `python3 ") && said.contains("bad.py'`"), "{said}");
    change("duo").with_code(2).says(&["`duo` is a team: name one of its bots, bad, fine"]);
    change("nobody")
        .with_code(2)
        .says(&["unknown bot `nobody`; bots: north, other, alone, bad, fine, one, two-2"]);
    let ended = referee(["tournament", "resume", &dir, "--json"]).done();
    let matches = ended.all("match");
    assert_eq!(matches.len(), 3);
    let seats: BTreeSet<&str> = matches
        .iter()
        .flat_map(|played| played["seats"].as_array().unwrap())
        .map(|name| name.as_str().unwrap())
        .collect();
    assert_eq!(seats, BTreeSet::from(["alone", "bad", "fine", "north", "one", "other", "two-2"]));
    assert!(matches.iter().all(|played| played.get("evidence").is_none()), "{matches:?}");
    referee(["tournament", "verify", &dir]).done();
}

#[test]
fn a_check_shows_how_evenly_partners_are_mixed() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let mut config = "game = 'keezen'\nseats = 4\n[format]\nkind = 'partners'\ncycles = 2\n".to_owned();
    for number in 1..=7 {
        config += &format!("[[entrants]]\nname = 'bot{number}'\ncommand = \"{bot}\"\n");
    }
    let config = folder.write("partners.toml", config);
    let said = referee(["tournament", "check", &config, "--no-start"]).done().stdout;
    for line in [
        "7 entrants, 21 matches",
        "  two entrants are partners 2 times\n",
        "  two entrants are opponents 4 times\n",
        "  an entrant has each side 6 times\n",
        "  an entrant has each seat of its side 6 times\n",
        "  an entrant has each other one in the next seat 1 to 3 times\n",
    ] {
        assert!(said.contains(line), "{line} is not in: {said}");
    }
    let checked = referee(["tournament", "check", &config, "--no-start", "--json"]).done().one("check");
    assert_eq!(checked["balance"]["opponents"], serde_json::json!({"least": 4, "most": 4}));
}
