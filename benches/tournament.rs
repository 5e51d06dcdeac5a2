//! How fast results are evaluated, and how fast a large tournament is scheduled.
//!
//! `cargo bench --bench tournament`

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use divan::Bencher;
use divan::counter::ItemsCount;
use referee::core::chance::Seed;
use referee::core::{Seating, Uniform};
use referee::store::{About, EntrantRow, Results};
use referee::tournament::rating::bradley_terry::{self, Counts};
use referee::tournament::schedule::{Format, Plan, Schedule};
use referee::tournament::standings::{Standings, TieBreak};
use referee::tournament::{Deals, Entrant, Lineup, MatchResult};

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

/// The same from the database of a tournament, read included.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn stored_standings_and_elo_of_a_million(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap_or_else(|error| unreachable!("{error}"));
    let path = folder.path().join("results.sqlite");
    store(&path, &results()).unwrap_or_else(|error| unreachable!("{error}"));
    bencher.counter(ItemsCount::new(MATCHES)).bench_local(|| {
        let stored = Results::open(&path).and_then(|db| db.results(Seating::new(2, 2)));
        let results: Vec<MatchResult> = stored.into_iter().flatten().map(|(_, result)| result).collect();
        assert_eq!(results.len(), MATCHES as usize);
        let standings = Standings::of(ENTRANTS.into(), &results, &[], &[TieBreak::SonnebornBerger]);
        let strengths = bradley_terry::fit(&Counts::of(ENTRANTS.into(), &results));
        (standings, strengths)
    });
}

/// Puts all results into a new database in one transaction.
fn store(path: &Path, results: &[MatchResult]) -> Result<(), Box<dyn Error>> {
    let about = About {
        name: "bench".to_owned(),
        game: "checkers".to_owned(),
        rules: 1,
        seating: Seating::new(2, 2),
        config: String::new(),
        seed: String::new(),
    };
    let entrant = |index| EntrantRow {
        name: format!("bot{index}"),
        source: String::new(),
        files: BTreeMap::new(),
        joins: 1,
        leaves: None,
        interruptions: 0,
    };
    drop(Results::create(path, &about, &(0..ENTRANTS).map(entrant).collect::<Vec<_>>())?);
    let mut db = rusqlite::Connection::open(path)?;
    let transaction = db.transaction()?;
    let sql = "INSERT INTO matches VALUES (?1, 1, ?2, ?3, ?4, 0, 0, 'rules', 'no_pieces')";
    let mut insert = transaction.prepare(sql)?;
    for (number, result) in (1..).zip(results) {
        let (seats, places) = (result.lineup.seats(), result.places);
        let (one, other) = (seats[0].0, seats[1].0);
        let ranks = format!("[{},{}]", places[0], places[1]);
        insert.execute((number, result.set, format!("[{one},{other}]"), ranks))?;
    }
    drop(insert);
    Ok(transaction.commit()?)
}

/// Handing 20,000 matches out and taking their results in.
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
