//! Verifies the results of a ladder against its records.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::thread;
use std::time::Duration;

use referee_files::{Folder, RecordFolder, StoredRecord};
use referee_game::Wrong;
use referee_league::{BotDisplayNames, FinalStandings, LadderRulings, LadderTally, League, LeagueMatch};
use referee_match::InfoTotals;
use referee_match::record::{OtherRules, PublishedInfo, check_rules, private_digests, public, trusts_tables};
use referee_stats::Wdl;
use referee_stats::rating::bradley_terry::Anchored;
use referee_store::{RulingRow, StoreError, parse_match_id};
use serde_json::Value;
use tokio::time::Instant;

use crate::RunError;
use crate::league::config::{LadderConfig, LadderGame, LeagueConfig};
use crate::league::{LadderSeed, ladder_folder, recorded, seal_of};

/// The time to wait for the results of records that a server has just written.
const RESULTS_FOLLOW: Duration = Duration::from_secs(2);
/// The time between two looks at the database.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The findings of a ladder's audit.
#[derive(Debug, Default)]
pub struct LadderAudit {
    /// The number of results in the database.
    pub results: usize,
    /// The number of valid records.
    pub records: usize,
    /// The number of records whose private lines were erased.
    pub erased: usize,
    /// The number of records whose tables of endgames are not here, which are believed.
    pub tables_trusted: usize,
    /// The matches whose records cannot be replayed, because no rules are here with which they were played, and how those
    /// that are here differ.
    pub unplayable: Vec<(String, OtherRules)>,
    pub differences: Vec<LadderDifference>,
}

/// A difference between the records of a ladder, its results and its standings.
#[derive(Debug)]
pub struct LadderDifference {
    /// The id of a match, or the name of a player.
    pub of: String,
    pub what: Wrong,
}

/// Reasons why a file is not a record of a ladder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    #[error(transparent)]
    Wrong(#[from] Wrong),
    #[error(transparent)]
    Rules(#[from] OtherRules),
}

/// The content of a record's file.
#[derive(Debug)]
pub struct ReadRecord {
    /// The id of its match, by its name.
    pub id: String,
    pub found: Result<RecordedMatch, RecordError>,
}

#[derive(Debug)]
pub struct RecordedMatch {
    pub row: LeagueMatch,
    /// Whether the private lines of the record were erased.
    pub is_erased: bool,
    /// Whether it is believed what tables of endgames said, which are not here.
    pub trusts_tables: bool,
}

#[derive(Debug)]
pub struct LadderRecords<'a> {
    ladder: &'a LadderConfig,
    game: &'a LadderGame,
    records: RecordFolder,
    seed: Option<LadderSeed>,
    /// The numbers of matches that were taken back.
    voided: BTreeSet<u32>,
    /// The public part of `info`.
    info: PublishedInfo,
}

/// A look at the progress: the number of records, before the first one and after each.
pub type OnRecord<'a> = &'a mut dyn FnMut(usize);

impl<'a> LadderRecords<'a> {
    /// The records of a ladder of this league.
    ///
    /// # Errors
    /// If its directory or the database cannot be read.
    pub fn open(
        config: &LeagueConfig,
        league: &League,
        ladder: &'a LadderConfig,
        game: &'a LadderGame,
    ) -> Result<LadderRecords<'a>, RunError> {
        let folder = ladder_folder(&Folder::open(&config.folder)?, &ladder.name)?;
        let failed = |error: StoreError| RunError::of_ladder(&ladder.name, error);
        let seed = LadderSeed::read(league, &ladder.name);
        Ok(LadderRecords {
            ladder,
            game,
            records: RecordFolder::new(folder.make_within("records")?),
            seed: seed.map_err(|why| RunError::of_ladder(&ladder.name, why))?,
            voided: league.voided(&ladder.name).map_err(failed)?.into_iter().collect(),
            info: config.publish.info,
        })
    }

    /// The content of all records, by number.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn read_all(&self, on_record: OnRecord<'_>) -> io::Result<Vec<ReadRecord>> {
        let names = self.records.names()?;
        let mut ids: Vec<(Option<u32>, &str)> = names
            .iter()
            .filter_map(|name| name.strip_suffix(".jsonl"))
            .map(|id| (parse_match_id(id).map(|(number, _)| number), id))
            .collect();
        ids.sort_unstable();
        on_record(ids.len());
        let read = ids.iter().map(|&(_, id)| {
            let found = self.read(id);
            on_record(ids.len());
            ReadRecord { id: id.to_owned(), found }
        });
        Ok(read.collect())
    }

    /// The content of a match's record.
    fn read(&self, id: &str) -> Result<RecordedMatch, RecordError> {
        let name = format!("{id}.jsonl");
        let Some((number, _)) = parse_match_id(id) else {
            return Err(RecordError::Wrong(format!("{name} is the record of no match").into()));
        };
        let StoredRecord { bytes, written_at } = self.records.read(&name).map_err(Wrong::from)?;
        let seed = self.seed.as_ref().and_then(|seed| seed.of(number));
        check_rules(&bytes, &self.game.catalog)?;
        let row = recorded(id, &bytes, seed, written_at, &self.game.catalog)?;
        // The database alone knows that it was taken back.
        let row = LeagueMatch { is_void: self.voided.contains(&number), ..row };
        Ok(RecordedMatch {
            row,
            is_erased: private_digests(&bytes).is_some(),
            trusts_tables: trusts_tables(&bytes, &self.game.catalog),
        })
    }

    /// The seal of a record after its private lines have been erased, which is in the database before that.
    fn seal_to_come(&self, id: &str) -> Option<String> {
        let whole = self.records.read(&format!("{id}.jsonl")).ok()?;
        public(&whole.bytes, self.info).ok().map(|public| seal_of(&public.record))
    }

    /// The row of a match and its record as they are now, once both have the same seal: a server may erase private lines
    /// meanwhile, or was killed when it had begun to, and goes on when it starts again.
    fn again(&self, league: &League, id: &str) -> Option<(LeagueMatch, RecordedMatch)> {
        let (number, _) = parse_match_id(id)?;
        let until = Instant::now() + RESULTS_FOLLOW;
        loop {
            let row = league.find_match(&self.ladder.name, number).ok().flatten()?;
            let mut recorded = self.read(id).ok()?;
            if row.seal.is_some() && row.seal == self.seal_to_come(id) {
                recorded.row.seal.clone_from(&row.seal);
            }
            if row.seal == recorded.row.seal || Instant::now() > until {
                return Some((row, recorded));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Verifies the results of a ladder against its records, with these rulings of the league.
///
/// # Errors
/// If its files or the database cannot be read.
pub fn audit_ladder(
    config: &LeagueConfig,
    league: &mut League,
    ladder: &LadderConfig,
    game: &LadderGame,
    rulings: &[RulingRow],
    on_record: OnRecord<'_>,
) -> Result<LadderAudit, RunError> {
    let failed = |why: RunError| RunError::of_ladder(&ladder.name, why);
    // A record is written before its result is stored: those of all results that are read now are there. The results of
    // further records are read afterwards.
    let results = StoredResults::read(league, &ladder.name).map_err(|error| failed(error.into()))?;
    let records = LadderRecords::open(config, league, ladder, game)?;
    let read = records.read_all(on_record).map_err(|error| failed(error.into()))?;
    compare(league, records, read, results, rulings).map_err(failed)
}

fn compare(
    league: &mut League,
    records: LadderRecords<'_>,
    read: Vec<ReadRecord>,
    mut results: StoredResults,
    rulings: &[RulingRow],
) -> Result<LadderAudit, RunError> {
    results.add_new(league, &records.ladder.name, &read)?;
    let tallies = SeasonTallies { records: &records, rulings, results: &results };
    let of_players = tallies.compare(league, &read)?;
    let StoredResults { mut rows, .. } = results;
    let mut audit = LadderAudit { results: rows.len(), ..LadderAudit::default() };
    let mut unplayable = Vec::new();
    let mut differ =
        |of: &str, what: Wrong| audit.differences.push(LadderDifference { of: of.to_owned(), what });
    let without: BTreeSet<String> = {
        let seen: BTreeSet<&str> = read.iter().map(|record| &*record.id).collect();
        rows.keys().filter(|id| !seen.contains(&***id)).cloned().collect()
    };
    for ReadRecord { id, found } in read {
        let mut recorded = match found {
            Ok(recorded) => recorded,
            Err(RecordError::Rules(why)) => {
                unplayable.push((id, why));
                continue;
            }
            Err(wrong) => {
                differ(&id, Wrong::of(&wrong));
                continue;
            }
        };
        if rows.get(&id).is_some_and(|ours| ours.seal != recorded.row.seal)
            && let Some((row, again)) = records.again(league, &id)
        {
            rows.insert(id.clone(), row);
            recorded = again;
        }
        audit.records += 1;
        audit.erased += usize::from(recorded.is_erased);
        audit.tables_trusted += usize::from(recorded.trusts_tables);
        let Some(ours) = rows.get(&id).map(determined_by_record) else {
            differ(&id, Wrong::new("the database has no result for its record"));
            continue;
        };
        let mut theirs = determined_by_record(&recorded.row);
        if recorded.is_erased {
            // With its private lines it may have lost the `info` of bots.
            theirs["totals"] = ours["totals"].clone();
        }
        for (key, stored) in ours.as_object().into_iter().flatten() {
            if *stored != theirs[key] {
                let (stored, recorded) = (stored.clone(), theirs[key].clone());
                differ(
                    &id,
                    Wrong::from(format!("{key}: {stored} in the database, {recorded} by its record")),
                );
            }
        }
    }
    without.iter().for_each(|id| differ(id, Wrong::new("it has no record")));
    of_players.into_iter().for_each(|difference| differ(&difference.of, difference.what));
    let numbers: BTreeSet<u32> = rows.values().map(|row| row.number).collect();
    for row in rulings.iter().filter(|row| row.ladder.as_ref() == Some(&records.ladder.name)) {
        for ruled in row.matches.iter().filter(|ruled| !numbers.contains(&ruled.number)) {
            differ(&ruled.id(), Wrong::from(format!("ruling {} is on a match without a result", row.id)));
        }
    }
    audit.unplayable = unplayable;
    Ok(audit)
}

/// The results of a ladder in the database.
struct StoredResults {
    /// By the ids of matches.
    rows: BTreeMap<String, LeagueMatch>,
    /// The numbers of the seasons of matches.
    seasons: BTreeMap<u32, u32>,
    current: u32,
}

impl StoredResults {
    fn read(league: &League, ladder: &str) -> Result<StoredResults, StoreError> {
        let current = league.current_season()?;
        let mut results = StoredResults { rows: BTreeMap::new(), seasons: BTreeMap::new(), current };
        for season in 1..=current {
            league.for_each_match(ladder, Some(season), |row| {
                results.seasons.insert(row.number, season);
                results.rows.insert(row.id(), row);
                Ok::<_, StoreError>(())
            })?;
        }
        Ok(results)
    }

    /// Adds those of these records that are not there, because their matches have ended since.
    fn add_new(&mut self, league: &League, ladder: &str, read: &[ReadRecord]) -> Result<(), StoreError> {
        let is_awaited = |id: &&str| !self.rows.contains_key(*id) && parse_match_id(id).is_some();
        let mut missing: Vec<&str> = read.iter().map(|record| &*record.id).filter(is_awaited).collect();
        let until = Instant::now() + RESULTS_FOLLOW;
        loop {
            let mut left = Vec::new();
            for id in missing {
                let Some((number, _)) = parse_match_id(id) else { continue };
                match league.find_match(ladder, number)?.filter(|row| row.id() == id) {
                    Some(row) => _ = self.rows.insert(row.id(), row),
                    None => left.push(id),
                }
            }
            missing = left;
            if missing.is_empty() || Instant::now() > until {
                return Ok(());
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Compares the winnings of a ladder's players in each season.
struct SeasonTallies<'a> {
    records: &'a LadderRecords<'a>,
    rulings: &'a [RulingRow],
    results: &'a StoredResults,
}

impl SeasonTallies<'_> {
    /// Compares records, results and final standings.
    fn compare(&self, league: &mut League, read: &[ReadRecord]) -> Result<Vec<LadderDifference>, RunError> {
        let LadderRecords { ladder, game, .. } = self.records;
        let recorded = || read.iter().filter_map(|record| record.found.as_ref().ok()).map(|found| &found.row);
        let mut differences = Vec::new();
        for season in &league.seasons()? {
            let rulings = season.rulings(self.rulings.to_vec());
            let found = FinalStandings::of(league, &ladder.name, season.number, game.seats())?;
            let standings =
                found.standings.into_iter().map(|row| (row.player, row.standing.counts.wdl)).collect();
            let by_records = self.tally(season.number, &rulings, recorded());
            differences.extend(differing(&by_records, &standings, |recorded, stored| {
                Wrong::from(format!(
                    "{recorded} by the records and rulings, {stored} by the final standings of season {}",
                    season.name
                ))
            }));
        }
        let current = self.results.current;
        let by_records = self.tally(current, self.rulings, recorded());
        let by_results = self.tally(current, self.rulings, self.results.rows.values());
        differences.extend(differing(&by_records, &by_results, |recorded, stored| {
            Wrong::from(format!("{recorded} by the records and rulings, {stored} by the database"))
        }));
        Ok(differences)
    }

    /// The results of all players in a season, with the rulings replayed.
    fn tally<'r>(
        &self,
        season: u32,
        rulings: &[RulingRow],
        rows: impl Iterator<Item = &'r LeagueMatch>,
    ) -> BTreeMap<String, Wdl> {
        let LadderRecords { ladder, game, .. } = self.records;
        let StoredResults { seasons, current, .. } = self.results;
        let rulings = LadderRulings::of(rulings, &ladder.name);
        let seats = game.seats();
        let mut book = LadderTally::new(seats, BTreeMap::new());
        for row in rows.filter(|row| seasons.get(&row.number).unwrap_or(current) == &season) {
            // A match that does not fit the seats is a difference of its own.
            let _ = book.add(&rulings.apply(row, seats.seating));
        }
        book.standings(&Anchored::default(), &LadderRulings::default(), &BotDisplayNames::default())
            .into_iter()
            .map(|row| (row.player, row.standing.counts.wdl))
            .collect()
    }
}

/// The players whose results by the records are not those of something else.
fn differing(
    by_records: &BTreeMap<String, Wdl>,
    others: &BTreeMap<String, Wdl>,
    what: impl Fn(Wdl, Wdl) -> Wrong,
) -> Vec<LadderDifference> {
    let players: BTreeSet<&String> = by_records.keys().chain(others.keys()).collect();
    let found = players.into_iter().filter_map(|player| {
        let [records, other] = [by_records, others].map(|all| all.get(player).copied().unwrap_or_default());
        (records != other).then(|| LadderDifference { of: player.clone(), what: what(records, other) })
    });
    found.collect()
}

/// The columns that a record determines.
fn determined_by_record(row: &LeagueMatch) -> Value {
    serde_json::json!({
        "players": row.players, "ranks": row.ranks, "scores": row.scores, "amounts": row.amounts, "faults": row.faults,
        "totals": Some(&row.totals).filter(|totals| !InfoTotals::are_empty(totals)),
        "ended_by": row.ended_by, "reason": row.reason, "rated": row.is_rated, "decisions": row.decisions,
        "seal": row.seal, "deal": row.deal,
    })
}
