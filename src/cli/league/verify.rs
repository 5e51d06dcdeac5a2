//! `referee league verify`: verifies results against records.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::thread;
use std::time::Duration;

use tokio::time::Instant;

use crate::cli::json::{LeagueAuditLine, LeagueAuditSummary};
use crate::cli::league::config::{LadderConfig, LadderGame, LeagueConfig};
use crate::cli::league::which::LeagueSelector;
use crate::cli::options::random_seed;
use crate::cli::{Exit, Failure, progress, screen};
use crate::files::{Folder, RecordFolder, StoredRecord};
use crate::game::chance::Seed;
use crate::game::{Catalog, counted, hex, json};
use crate::record::{PublishedInfo, private_digests, public};
use crate::runs::league::ladder_folder;
use crate::runs::league::{Book, FinalStandings, LadderRulings, recorded, seal_of};
use crate::stats::Wdl;
use crate::store::{League, LeagueMatch, RulingRow, parse_match_id};
use anyhow::Context as _;

/// Verify the results of a league against its records
///
/// Every record is verified as by `referee verify`, and must derive from the seed of its ladder. The result computed from
/// it must equal the one in the database, and so must the wins, draws and losses of each player when the rulings are replayed, also
/// those in the final standings of seasons. The exit code is 1 if one differs or is missing, or a file has the name of a record
/// but not that of a match.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league verify
  referee league verify --json | jq 'select(.type == \"difference\")'")]
pub(super) struct Args {
    /// One JSON object per line: each difference, then the summary
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

/// The seed of a ladder.
pub(in crate::cli) struct LadderSeed {
    pub(in crate::cli) seed: Seed,
    /// The number of the first match with this seed: a restored backup continues with another one.
    from: u32,
}

impl LadderSeed {
    /// The seed of a ladder, once it has one.
    pub(in crate::cli) fn read(league: &League, ladder: &str) -> Result<Option<LadderSeed>, Failure> {
        let value = |key: &str| league.value(&format!("{key}:{ladder}")).map_err(Failure::cannot_run);
        let Some(text) = value("seed")? else { return Ok(None) };
        let seed = hex::decode32(&text).map(Seed);
        let seed =
            seed.ok_or_else(|| Failure::cannot_run(format!("league: the seed of {ladder} cannot be read")))?;
        let from = league.number(&format!("seed-from:{ladder}")).map_err(Failure::cannot_run)?.unwrap_or(1);
        Ok(Some(LadderSeed { seed, from }))
    }

    /// Draws and stores the seed of a ladder.
    pub(in crate::cli) fn draw(league: &mut League, ladder: &str) -> Result<LadderSeed, Failure> {
        let (seed, last) = (random_seed()?, league.last_number(ladder).map_err(Failure::cannot_run)?);
        let mut store = |key: &str, value: &str| league.set_value(&format!("{key}:{ladder}"), value);
        let stored = store("seed-from", &(last + 1).to_string()).and_then(|()| store("seed", &seed.to_hex()));
        stored.map_err(Failure::cannot_run)?;
        Ok(LadderSeed { seed, from: last + 1 })
    }

    /// The seed, if the match with this number was played with it.
    fn of(&self, number: u32) -> Option<&Seed> {
        (number >= self.from).then_some(&self.seed)
    }
}

/// The row of a record, or the id of its match and what is wrong.
type Recorded = Result<RecordedMatch, (String, String)>;

/// What a record says.
pub(super) struct RecordedMatch {
    pub(super) row: LeagueMatch,
    /// Whether its private lines were erased.
    is_erased: bool,
}

/// Reads the records of a ladder.
struct RecordReader<'a> {
    records: RecordFolder,
    seed: Option<LadderSeed>,
    /// The numbers of matches that were taken back.
    voided: BTreeSet<u32>,
    /// What stays public of what bots say of their searches.
    info: PublishedInfo,
    catalog: &'a Catalog,
}

impl<'a> RecordReader<'a> {
    fn open(
        config: &LeagueConfig,
        league: &League,
        ladder: &LadderConfig,
        catalog: &'a Catalog,
    ) -> Result<RecordReader<'a>, Failure> {
        let folder = Folder::open(&config.folder).map_err(Failure::cannot_run)?;
        let records =
            ladder_folder(&folder, &ladder.name).map_err(Failure::cannot_run)?.make_within("records");
        Ok(RecordReader {
            records: RecordFolder::new(records.map_err(Failure::cannot_run)?),
            seed: LadderSeed::read(league, &ladder.name)?,
            voided: league.voided(&ladder.name).map_err(Failure::cannot_run)?.into_iter().collect(),
            info: config.publish.info,
            catalog,
        })
    }

    /// What the record of a match says.
    fn read(&self, id: &str) -> Recorded {
        let name = format!("{id}.jsonl");
        let read = || -> anyhow::Result<RecordedMatch> {
            let (number, _) =
                parse_match_id(id).with_context(|| format!("{name} is the record of no match"))?;
            let StoredRecord { bytes, written_at } = self.records.read(&name)?;
            let seed = self.seed.as_ref().and_then(|seed| seed.of(number));
            let row = recorded(id, &bytes, seed, written_at, self.catalog)?;
            // That it was taken back is in the database only.
            let row = LeagueMatch { is_void: self.voided.contains(&number), ..row };
            Ok(RecordedMatch { row, is_erased: private_digests(&bytes).is_some() })
        };
        read().map_err(|what| (id.to_owned(), what.to_string()))
    }

    /// The seal of a record after its private lines have been erased, which is in the database before that.
    fn seal_to_come(&self, id: &str) -> Option<String> {
        let whole = self.records.read(&format!("{id}.jsonl")).ok()?;
        public(&whole.bytes, self.info).ok().map(|public| seal_of(&public.record))
    }

    /// The row of a match and its record as they are now, once both have the same seal: a server may erase private lines
    /// meanwhile, or was killed when it had begun to, and goes on when it starts again.
    fn again(&self, league: &League, ladder: &str, id: &str) -> Option<(LeagueMatch, RecordedMatch)> {
        let (number, _) = parse_match_id(id)?;
        let until = Instant::now() + RESULTS_FOLLOW;
        loop {
            let row = league.find_match(ladder, number).ok().flatten()?;
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

/// The rows of all records of a ladder by number.
pub(super) fn recorded_rows(
    config: &LeagueConfig,
    league: &League,
    ladder: &LadderConfig,
    catalog: &Catalog,
) -> Result<Vec<Recorded>, Failure> {
    let reader = RecordReader::open(config, league, ladder, catalog)?;
    let names = reader.records.names().map_err(Failure::cannot_run)?;
    let mut ids: Vec<(Option<u32>, String)> = names
        .iter()
        .filter_map(|name| name.strip_suffix(".jsonl"))
        .map(|id| (parse_match_id(id).map(|(number, _)| number), id.to_owned()))
        .collect();
    ids.sort_unstable();
    let bar = progress::bar(ids.len() as u64, "{bar:30} {pos}/{len} records, {eta} left");
    let row = |(_, id): (Option<u32>, String)| {
        bar.inc(1);
        reader.read(&id)
    };
    let rows = ids.into_iter().map(row).collect();
    bar.finish_and_clear();
    Ok(rows)
}

/// How long to wait for the results of records that a server has just written.
const RESULTS_FOLLOW: Duration = Duration::from_secs(2);
/// The time between two looks at the database.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Adds the results of these records that are not among the rows, because their matches have ended since.
fn add_new_results(
    league: &League,
    ladder: &str,
    recorded: &[Recorded],
    rows: &mut BTreeMap<String, LeagueMatch>,
) -> Result<(), Failure> {
    let is_awaited = |id: &String| !rows.contains_key(id) && parse_match_id(id).is_some();
    let mut missing: Vec<String> = recorded.iter().map(id_of).filter(is_awaited).collect();
    let until = Instant::now() + RESULTS_FOLLOW;
    loop {
        let mut left = Vec::new();
        for id in missing {
            let number = parse_match_id(&id).map(|(number, _)| number);
            let found = number.map(|number| league.find_match(ladder, number)).transpose();
            match found.map_err(Failure::cannot_run)?.flatten().filter(|row| row.id() == id) {
                Some(row) => _ = rows.insert(row.id(), row),
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

/// The results of all players, with the rulings replayed.
fn tally(
    rulings: &[RulingRow],
    ladder: &LadderConfig,
    game: &LadderGame,
    rows: impl Iterator<Item = LeagueMatch>,
) -> BTreeMap<String, Wdl> {
    let rulings = LadderRulings::of(rulings, &ladder.name);
    let seats = game.seats();
    let mut book = Book::new(seats, BTreeMap::new());
    for row in rows {
        // One that does not fit the seats is a difference of its own.
        let _ = book.add(&rulings.apply(&row, seats.seating));
    }
    let rows = book.standings(&[]).into_iter();
    rows.map(|row| (row.player, row.wdl)).collect()
}

/// Compares what the players of a ladder have won in each season.
struct SeasonTallies<'a> {
    ladder: &'a LadderConfig,
    game: &'a LadderGame,
    /// All rulings.
    rulings: &'a [RulingRow],
    /// The numbers of the seasons of matches.
    of: &'a BTreeMap<u32, u32>,
    current: u32,
}

impl SeasonTallies<'_> {
    /// What differs between records, results and final standings: players, and in which way.
    fn compare(
        &self,
        league: &mut League,
        results: &BTreeMap<String, LeagueMatch>,
        recorded: &[Recorded],
    ) -> Result<Vec<(String, String)>, Failure> {
        let recorded = || recorded.iter().flatten().map(|recorded| &recorded.row);
        let mut differences = Vec::new();
        let ended = league.seasons().map_err(Failure::cannot_run)?;
        for season in &ended {
            let rulings = season.rulings(self.rulings.to_vec());
            let found = FinalStandings::of(league, &self.ladder.name, season.number, self.game.seats());
            let found = found.map_err(Failure::cannot_run)?.standings.into_iter().map(|row| row.row);
            let stored = found.map(|row| (row.player, row.wdl)).collect();
            let by_records = self.tally(season.number, &rulings, recorded());
            let of = format!("the final standings of season {}", season.name);
            differences.extend(differing(&by_records, &stored, &of));
        }
        let by_records = self.tally(self.current, self.rulings, recorded());
        let by_results = self.tally(self.current, self.rulings, results.values());
        differences.extend(differing(&by_records, &by_results, "the database"));
        Ok(differences)
    }

    fn tally<'r>(
        &self,
        season: u32,
        rulings: &[RulingRow],
        rows: impl Iterator<Item = &'r LeagueMatch>,
    ) -> BTreeMap<String, Wdl> {
        let is_in_it = |row: &&LeagueMatch| self.of.get(&row.number).unwrap_or(&self.current) == &season;
        tally(rulings, self.ladder, self.game, rows.filter(is_in_it).cloned())
    }
}

/// The players whose results by the records are not those of something else.
fn differing(
    by_records: &BTreeMap<String, Wdl>,
    others: &BTreeMap<String, Wdl>,
    name: &str,
) -> Vec<(String, String)> {
    let players: BTreeSet<&String> = by_records.keys().chain(others.keys()).collect();
    let found = players.into_iter().filter_map(|player| {
        let [records, other] = [by_records, others].map(|all| all.get(player).copied().unwrap_or_default());
        let what = || format!("{records} by the records and rulings, {other} by {name}");
        (records != other).then(|| (player.clone(), what()))
    });
    found.collect()
}

/// The id of the match of a record.
fn id_of(recorded: &Recorded) -> String {
    recorded.as_ref().map_or_else(|(id, _)| id.clone(), |recorded| recorded.row.id())
}

/// What a record determines.
fn determined_by_record(row: &LeagueMatch) -> serde_json::Value {
    serde_json::json!({
        "players": row.players, "ranks": row.ranks, "scores": row.scores, "faults": row.faults,
        "ended_by": row.ended_by, "reason": row.reason, "rated": row.is_rated, "decisions": row.decisions,
        "seal": row.seal, "deal": row.deal,
    })
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (config, mut league) = args.which.open()?;
    let mut out = screen::stdout();
    let mut summary = LeagueAuditSummary::default();
    let rulings = league.rulings().map_err(Failure::cannot_run)?;
    summary.rulings = rulings.iter().filter(|row| row.is_in_force()).count();
    for ladder in &config.ladders {
        // A record is written before its result is stored: those of all rows that are read now are there. The results of
        // further records are read afterwards.
        let mut rows = BTreeMap::new();
        let mut seasons = BTreeMap::new();
        let current = league.current_season().map_err(Failure::cannot_run)?;
        for season in 1..=current {
            let read = league.for_each_match(&ladder.name, Some(season), |row| {
                seasons.insert(row.number, season);
                rows.insert(row.id(), row);
                Ok::<_, std::io::Error>(())
            });
            read.map_err(Failure::cannot_run)?;
        }
        let catalog = &ladder.game(catalog, &config.folder)?.catalog;
        let recorded = recorded_rows(&config, &league, ladder, catalog)?;
        let reader = RecordReader::open(&config, &league, ladder, catalog)?;
        add_new_results(&league, &ladder.name, &recorded, &mut rows)?;
        let seen: BTreeSet<String> = recorded.iter().map(id_of).collect();
        let game = ladder.game(catalog, &config.folder)?;
        let tallies = SeasonTallies { ladder, game: &game, rulings: &rulings, of: &seasons, current };
        let of_players = tallies.compare(&mut league, &rows, &recorded)?;
        let mut differences = Vec::new();
        summary.results += rows.len();
        for recorded in recorded {
            let mut recorded = match recorded {
                Ok(recorded) => recorded,
                Err(wrong) => {
                    differences.push(wrong);
                    continue;
                }
            };
            let id = recorded.row.id();
            if rows.get(&id).is_some_and(|ours| ours.seal != recorded.row.seal)
                && let Some((row, again)) = reader.again(&league, &ladder.name, &id)
            {
                rows.insert(id, row);
                recorded = again;
            }
            let RecordedMatch { row, is_erased } = recorded;
            summary.records += 1;
            summary.erased += usize::from(is_erased);
            match rows.get(&row.id()).map(determined_by_record) {
                None => differences.push((row.id(), "the database has no result for its record".to_owned())),
                Some(ours) => {
                    let theirs = determined_by_record(&row);
                    for (key, value) in ours.as_object().into_iter().flatten() {
                        if *value != theirs[key] {
                            let what =
                                format!("{key}: {value} in the database, {} by its record", theirs[key]);
                            differences.push((row.id(), what));
                        }
                    }
                }
            }
        }
        for id in rows.keys().filter(|id| !seen.contains(*id)) {
            differences.push((id.clone(), "it has no record".to_owned()));
        }
        differences.extend(of_players);
        for row in rulings.iter().filter(|row| row.ladder.as_ref() == Some(&ladder.name)) {
            let ids: BTreeSet<u32> = rows.values().map(|row| row.number).collect();
            for ruled in row.matches.iter().filter(|ruled| !ids.contains(&ruled.number)) {
                differences.push((ruled.id(), format!("ruling {} is on a match without a result", row.id)));
            }
        }
        let differing: BTreeSet<&String> = differences.iter().map(|(id, _)| id).collect();
        summary.differing += differing.len();
        for (id, what) in &differences {
            if args.json {
                let line = LeagueAuditLine::Difference { ladder: &ladder.name, r#match: id, what };
                writeln!(out, "{}", json::text(&line))?;
            } else {
                writeln!(out, "{} {id}: {what}", ladder.name)?;
            }
        }
    }
    let LeagueAuditSummary { results, records, erased, rulings, differing } = summary;
    if args.json {
        writeln!(out, "{}", json::text(&LeagueAuditLine::Summary(&summary)))?;
    } else {
        let with_rulings = match rulings {
            0 => String::new(),
            _ => format!(", with {}", counted(rulings, "ruling", "rulings")),
        };
        writeln!(out, "{results} results, {records} records, {differing} differ{with_rulings}")?;
        if erased > 0 {
            let of = counted(erased, "record", "records");
            writeln!(out, "private lines of {of} were erased by `private_after`, or published without them")?;
        }
    }
    out.flush()?;
    Ok(if differing == 0 { Exit::Done } else { Exit::No })
}
