//! Tournaments to report on: results written without playing, and records of matches that were played.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use super::{Folder, SEED, referee, sample};
use referee::game::{Seat, SeatSet, Seating};
use referee::referee::Faults;
use referee::stats::schedule::MatchId;
use referee::store::{About, EntrantRow, MatchRow, Results};
use referee_protocol::words::FaultCode;

/// A name with special characters of all formats.
pub(crate) const EVIL: &str = "<b>\"evil\" & 'co', | ::error::";

/// A tournament, a round robin unless `head` says otherwise, of bots that do not exist.
pub(crate) fn create(folder: &Folder, seating: Seating, head: &str, names: &[&str]) -> Results {
    let format = if head.contains("[format]") { "" } else { "[format]\nkind = 'round_robin'\ncycles = 4" };
    let mut config = format!("{head}\n{format}\n");
    for name in names {
        let name = name.replace('\u{1b}', "\\u001b").replace('\u{7}', "\\u0007").replace('"', "\\\"");
        config += &format!("[[entrants]]\nname = \"{name}\"\ncommand = 'nowhere'\ndirectory = '/nowhere'\n");
    }
    let about = About {
        name: "Cup of <2026>".to_owned(),
        game: head.split('\'').nth(1).unwrap().to_owned(),
        rules: 1,
        program: None,
        seating,
        config,
        openings: None,
        seed: SEED.to_owned(),
    };
    let entrant = |name: &&str| EntrantRow {
        display_name: None,
        name: (*name).to_owned(),
        source: format!("./{name}"),
        files: BTreeMap::new(),
        joins: 1,
        leaves: None,
        missed: Vec::new(),
        interruptions: 0,
    };
    std::fs::create_dir_all(folder.path("cup")).unwrap();
    let entrants: Vec<EntrantRow> = names.iter().map(entrant).collect();
    Results::create(&folder.path("cup/results.sqlite"), &about, &entrants).unwrap()
}

pub(crate) fn row(number: u32, lineup: [u16; 2], ranks: [u8; 2]) -> MatchRow {
    MatchRow {
        id: MatchId { number, attempt: 1 },
        set: number.div_ceil(2),
        lineup: lineup.to_vec(),
        ranks: Some(ranks.to_vec()),
        faulted: SeatSet::EMPTY,
        forfeited: SeatSet::EMPTY,
        ended_by: "rules".to_owned(),
        reason: "no_pieces".to_owned(),
        scores: Some(ranks.map(|rank| f64::from(2 - rank)).to_vec()),
        faults: vec![Faults::default(); 2],
        totals: Vec::new(),
        decisions: 40,
        duration_us: 1_500_000,
        lag_ms: 0,
        cpu_ms: vec![Some(120), None],
        record: Some(format!("m{number}.jsonl")),
        seal: None,
        // From 2026-11-22T18:30:00Z on, one per minute.
        began_at: Some(UNIX_EPOCH + Duration::from_secs(1_795_372_200 + 60 * u64::from(number - 1))),
        worker: None,
        moves: None,
        amounts: None,
    }
}

/// The second seat lost by this fault.
pub(crate) fn forfeited(row: MatchRow, code: &str) -> MatchRow {
    let mut faults = [Faults::default(); 2];
    faults[1].add(FaultCode::find(code).unwrap());
    MatchRow {
        faulted: SeatSet::one(Seat(1)),
        forfeited: SeatSet::one(Seat(1)),
        ended_by: "fault".to_owned(),
        reason: code.to_owned(),
        faults: faults.to_vec(),
        ..row
    }
}

pub(crate) const WIN: [u8; 2] = [1, 2];

pub(crate) const LOSS: [u8; 2] = [2, 1];

/// Ada beats Bob and both beat the third, once by a timeout. A match was cut off and replayed, one aborted.
pub(crate) fn cup() -> Folder {
    let folder = Folder::new();
    let head = "game = 'checkers'\n[format]\nkind = 'round_robin'";
    let mut db = create(&folder, Seating::new(2, 2), head, &[EVIL, "ada", "bob"]);
    db.add_matches(&[row(1, [1, 2], WIN)]).unwrap();
    db.add_matches(&[row(2, [2, 1], LOSS)]).unwrap();
    db.add_matches(&[row(3, [0, 1], LOSS)]).unwrap();
    db.cut_off(MatchId { number: 4, attempt: 1 }, 2, &[1, 0]).unwrap();
    db.add_matches(&[MatchRow {
        id: MatchId { number: 4, attempt: 2 },
        record: Some("m4.2.jsonl".to_owned()),
        ..row(4, [1, 0], WIN)
    }])
    .unwrap();
    db.add_matches(&[forfeited(row(5, [2, 0], WIN), "timeout")]).unwrap();
    let aborted = MatchRow {
        ranks: None,
        scores: None,
        record: None,
        ended_by: "aborted".to_owned(),
        ..row(6, [0, 2], WIN)
    };
    db.add_matches(&[aborted]).unwrap();
    folder
}

/// A tournament of two real bots, with records.
pub(crate) fn played(second: &str, matches: &str) -> Folder {
    let folder = Folder::new();
    let head = "game = 'checkers'\nmirror = 'none'";
    let mut db = create(&folder, Seating::new(2, 2), head, &["greedy", "other"]);
    let (first, second) = (sample("python/greedy_bot.py"), sample(second));
    let records = folder.text("cup/records");
    let args = ["play", "checkers", &first, &second, "-n", matches, "--seed", SEED, "--json", "--record"];
    let ended = referee(args.into_iter().chain([records.as_str()])).with_code(0);
    for played in ended.all("match") {
        let list = |key: &str| -> Vec<u64> {
            played[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as u64).collect()
        };
        let number = played["id"].as_str().unwrap()[1..].parse().unwrap();
        let lineup = played["seats"].as_array().unwrap().iter();
        let fault = played["fault"]["seat"].as_u64().map(|seat| SeatSet::one(Seat(seat as u8)));
        db.add_matches(&[MatchRow {
            id: MatchId { number, attempt: 1 },
            set: number,
            lineup: lineup.map(|name| u16::from(name != "greedy")).collect(),
            ranks: Some(list("ranks").into_iter().map(|rank| rank as u8).collect()),
            faulted: fault.unwrap_or_default(),
            forfeited: fault.unwrap_or_default(),
            ended_by: played["ended_by"].as_str().unwrap().to_owned(),
            faults: serde_json::from_value(played["faults"].clone()).unwrap(),
            record: Some(format!("m{number}.jsonl")),
            ..row(number, [0, 1], WIN)
        }])
        .unwrap();
    }
    folder
}

pub(crate) fn output(folder: &Folder, what: &[&str]) -> String {
    let cup = folder.text("cup");
    referee(["tournament", what[0], &cup].into_iter().chain(what[1..].iter().copied())).done().stdout
}

/// The cells of the table row that contains this name.
pub(crate) fn cells<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let row = text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name} in {text}"));
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}
