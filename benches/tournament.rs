//! The speed of evaluating results, and of scheduling a large tournament.
//!
//! `cargo bench --bench tournament`

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;

use divan::Bencher;
use divan::counter::ItemsCount;
use referee::game::chance::Seed;
use referee::game::{Seating, Uniform};
use referee::stats::rating::bradley_terry::{self, Counts};
use referee::stats::schedule::{Format, Plan, Schedule};
use referee::stats::standings::{Standings, TieBreak};
use referee::stats::{Deals, Entrant, Lineup, MatchResult};
use referee::store::{About, EntrantRow, Results};

fn main() {
    divan::main();
}

const MATCHES: u32 = 1_000_000;
const ENTRANTS: u16 = 40;

/// A million matches in mirrored sets.
fn results() -> Vec<MatchResult> {
    let mut stream = Seed([7; 32]).match_key("bench", "tournament", &["", ""]).stream();
    let mut results = Vec::with_capacity(MATCHES as usize);
    for set in 1..=MATCHES / 2 {
        let one = stream.uniform(ENTRANTS.into()) as u16;
        let other = (one + 1 + stream.uniform(u64::from(ENTRANTS) - 1) as u16) % ENTRANTS;
        let Some(first) = Lineup::of_sides(Seating::new(2, 2), &[Entrant(one), Entrant(other)]) else {
            break;
        };
        for leg in 0..2 {
            let ranks = [[1, 2], [1, 1], [2, 1]][stream.uniform(3) as usize];
            results.push(MatchResult::played(set, Deals::Mirrored.leg(first, leg), &ranks));
        }
    }
    results
}

/// Standings, cross table and Elo with intervals over a million stored matches.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn standings_and_elo_of_a_million(bencher: Bencher) {
    let results = results();
    bencher.counter(ItemsCount::new(MATCHES)).bench_local(|| {
        let standings = Standings::of(ENTRANTS.into(), &results, &[], &[TieBreak::SonnebornBerger]);
        let strengths = bradley_terry::fit(&Counts::of(ENTRANTS.into(), &results));
        (standings, strengths)
    });
}

/// The command, on the directory of a round robin with a million stored matches: at most a second.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn command_standings_of_a_million(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap_or_else(|error| unreachable!("{error}"));
    let stored = store(folder.path()).unwrap_or_else(|error| unreachable!("{error}"));
    bencher.counter(ItemsCount::new(stored)).bench_local(|| {
        let output = Command::new(env!("CARGO_BIN_EXE_referee"))
            .args(["tournament", "standings"])
            .arg(folder.path())
            .output()
            .unwrap_or_else(|error| unreachable!("{error}"));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&format!("{stored} matches")) && output.stderr.is_empty(), "{output:?}");
    });
}

/// Stores all results of a round robin of about a million matches in a new directory. Returns their number.
fn store(folder: &Path) -> Result<usize, Box<dyn Error>> {
    let sets = u32::from(ENTRANTS) * u32::from(ENTRANTS - 1) / 2;
    let cycles = (MATCHES / 2).div_ceil(sets);
    let mut config = format!("game = 'checkers'\n[format]\nkind = 'round_robin'\ncycles = {cycles}\n");
    for index in 0..ENTRANTS {
        config += &format!("[[entrants]]\nname = 'bot{index}'\ncommand = 'bot'\n");
    }
    let about = About {
        name: "bench".to_owned(),
        game: "checkers".to_owned(),
        rules: 1,
        program: None,
        seating: Seating::new(2, 2),
        config,
        openings: None,
        seed: String::new(),
    };
    let entrant = |index| EntrantRow {
        display_name: None,
        missed: Default::default(),
        name: format!("bot{index}"),
        source: "bot".to_owned(),
        files: BTreeMap::new(),
        joins: 1,
        leaves: None,
        interruptions: 0,
    };
    let path = folder.join("results.sqlite");
    drop(Results::create(&path, &about, &(0..ENTRANTS).map(entrant).collect::<Vec<_>>())?);
    let plan = Plan::new(Format::RoundRobin { cycles }, about.seating, Deals::Mirrored, ENTRANTS.into());
    let schedule = Schedule::new(plan)?;
    let mut stream = Seed([7; 32]).match_key("bench", "tournament", &["", ""]).stream();
    let mut db = rusqlite::Connection::open(path)?;
    let transaction = db.transaction()?;
    let sql = "INSERT INTO matches VALUES (?1, 1, ?2, ?3, ?4, 0, 0, 'rules', 'no_pieces', NULL, NULL, NULL)";
    let mut insert = transaction.prepare(sql)?;
    let mut stored = 0;
    for due in schedule.due() {
        let [one, other] = [0, 1].map(|seat| due.lineup.seats()[seat].0);
        let ranks = ["[1,2]", "[1,1]", "[2,1]"][stream.uniform(3) as usize];
        insert.execute((due.id.number, due.set, format!("[{one},{other}]"), ranks))?;
        stored += 1;
    }
    drop(insert);
    transaction.commit()?;
    Ok(stored)
}

/// Handing out 20,000 matches and recording their results.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn schedule_of_twenty_thousand(bencher: Bencher) {
    let format = Format::Duel { sets: 10_000 };
    bencher.counter(ItemsCount::new(20_000u32)).bench_local(|| {
        let plan = Plan::new(format, Seating::new(2, 2), Deals::Mirrored, 2);
        let mut schedule = Schedule::new(plan).unwrap_or_else(|error| unreachable!("{error}"));
        loop {
            let Some(due) = schedule.due().next() else { break };
            let result = MatchResult::played(due.set, due.lineup, &[1, 2]);
            schedule.record(due.id.number, result).unwrap_or_else(|error| unreachable!("{error}"));
        }
        schedule
    });
}
