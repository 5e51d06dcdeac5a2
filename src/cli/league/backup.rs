//! `referee league backup`: a directory that follows a league.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use crate::bot::Launch;
use crate::cli::bots::launch;
use crate::cli::exit::{Exit, Failure};
use crate::cli::json::LeagueBackup;
use crate::cli::league::which::LeagueSelector;
use crate::cli::{progress, screen};
use crate::files::{Folder, PackRange, RecordFolder, StoredRecord, read_regular};
use crate::game::{Chain, Wrong, counted, json};
use crate::league::{League, LeagueMatch, SUBMISSIONS, SubmissionFiles};
use crate::program;
use crate::runs::league::config::LeagueConfig;
use crate::runs::league::{LadderSeed, ladder_folder};
use crate::store::{StoreError, now, utc};

/// Bring a backup of a league up to date, also while it runs: the database without seeds, and what is new of records and programs
///
/// The directory is a league itself, with league.toml, the texts of its pages, the database, the records of all matches in it,
/// the programs that were handed in, and the games and programs of the file that lie in the directory of the league. The first
/// backup copies everything, later ones only what is new. A backup that is interrupted leaves the one before it as it was. To
/// go on on another machine, copy the directory, give new tokens with `referee league tokens FILE` unless the backup has them,
/// and start `referee serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league backup /backup/mine
  referee league backup /backup/mine --with-tokens
  referee league verify --league /backup/mine/league.toml")]
pub(super) struct Args {
    /// A new or empty directory, or an earlier backup of the league
    dir: PathBuf,
    /// Keep the SHA-256 of all tokens and invitations: bots and owners go on with theirs
    #[arg(long)]
    with_tokens: bool,
    /// One JSON object with the numbers of records
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

/// The file that marks a directory as a backup. It is locked while one is made.
const MARK: &str = "backup.json";
/// The file of the league in a backup.
const CONFIG: &str = "league.toml";
/// The database in a backup.
const DATABASE: &str = "league.sqlite";

#[derive(Debug, Serialize)]
struct BackupMark {
    /// The time at which the backup was last complete, in UTC.
    at: String,
}

#[derive(Debug, Default)]
struct Backed {
    records: usize,
    /// Records that were copied now.
    new: usize,
    /// Records of matches in the database that were not found.
    missing: usize,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let dir = &args.dir;
    let refused = |why: Wrong| Failure::usage(format!("{}: {why}", dir.display()));
    let (config, league) = args.which.open()?;
    let folder = Folder::make(dir).map_err(Failure::cannot_run)?;
    if dir.canonicalize().ok() == config.folder.canonicalize().ok() {
        return Err(refused(Wrong::new("it is the directory of the league itself; name another one")));
    }
    let names = folder.names().map_err(Failure::cannot_run)?;
    let is_backup = names.iter().any(|name| name == MARK);
    if !is_backup && !names.is_empty() {
        return Err(refused(Wrong::new("it has files and is no backup; name a new or an empty directory")));
    }
    let mark = folder.open_file(MARK, true).map_err(Failure::cannot_run)?;
    mark.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => refused(Wrong::new("another process writes this backup")),
        TryLockError::Error(error) => Failure::cannot_run(error),
    })?;
    if folder.has_file(DATABASE).map_err(Failure::cannot_run)? {
        check_former(&folder, &config, &league).map_err(|why| match why {
            CheckFailed::Refused(why) => refused(why),
            CheckFailed::Cannot(failure) => failure,
        })?;
    }
    let backed = back_up(args, &config, &league, &folder, &launch()?)
        .map_err(|error| Failure::cannot_run(format!("{}: {}", folder.path().display(), Chain(&error))))?;
    let mut out = screen::stdout();
    match args.json {
        true => {
            let line =
                LeagueBackup { dir, records: backed.records, new: backed.new, missing: backed.missing };
            writeln!(out, "{}", json::text(&line))?;
        }
        false => {
            let (new, all) = (counted(backed.new, "new record", "new records"), backed.records);
            writeln!(out, "{} is up to date: {new}, {all} in all", dir.display())?;
        }
    }
    if backed.missing > 0 {
        let missing = counted(backed.missing, "record is", "records are");
        screen::stderr_line(format_args!("{missing} missing; `referee league verify` lists them"));
    }
    Ok(Exit::Done)
}

/// Reasons why an earlier backup cannot be brought up to date, or cannot be read.
enum CheckFailed {
    Refused(Wrong),
    Cannot(Failure),
}

impl From<StoreError> for CheckFailed {
    fn from(error: StoreError) -> CheckFailed {
        CheckFailed::Cannot(Failure::cannot_run(error))
    }
}

/// Checks that an earlier backup is one of this league, and was not played since.
fn check_former(folder: &Folder, config: &LeagueConfig, league: &League) -> Result<(), CheckFailed> {
    let former = League::open(folder)?;
    let played = former.ladders()?;
    for name in played.iter().chain(config.ladders.iter().map(|ladder| &ladder.name)) {
        if LadderSeed::read(&former, name)
            .map_err(|error| CheckFailed::Cannot(Failure::cannot_run(error)))?
            .is_some()
        {
            return Err(CheckFailed::Refused(Wrong::from(format!(
                "this backup has been played: ladder {name} has a seed; name another directory"
            ))));
        }
        // Matches are never removed.
        let last = former.last_number(name)?;
        let [there, here] = [&former, league].map(|league| league.find_match(name, last));
        let (there, here) = (there?, here?);
        // The seal changes when private lines are erased.
        let played = |row: Option<LeagueMatch>| {
            row.map(|row| (row.players, row.ended_at, row.duration_us, row.decisions))
        };
        if there.is_some() && played(there) != played(here) {
            return Err(CheckFailed::Refused(Wrong::new(
                "it is a backup of matches that the league does not have; name another directory",
            )));
        }
    }
    Ok(())
}

/// Brings a backup up to date. Until the last step, it is the one before.
fn back_up(
    args: &Args,
    config: &LeagueConfig,
    league: &League,
    backup: &Folder,
    launch: &Launch,
) -> Result<Backed, StoreError> {
    let source = Folder::open(&config.folder)?;
    // Until the last step, its database is the one before.
    let erased_before: BTreeMap<String, u32> = match backup.has_file(DATABASE)? {
        true => {
            let former = League::open(backup)?;
            let of = |ladder: String| Ok((ladder.clone(), erased_to(&former, &ladder)?));
            former.ladders().and_then(|all| all.into_iter().map(of).collect())?
        }
        false => BTreeMap::new(),
    };
    // Records packed from now on are copied as the database has them.
    let packed = packs(&source, league)?;
    // The database before the records: all those of the matches in it are on the disk.
    let work = backup.make_within("new")?;
    work.remove(DATABASE)?;
    league.export(&work.path().join(DATABASE), args.with_tokens)?;
    let copy = League::open(&work)?;
    let bar = progress::bar(copy.match_count()?, "{bar:30} {pos}/{len} records, {eta} left");
    let mut backed = Backed::default();
    for ladder in copy.ladders()? {
        for rules in program::kept(ladder_folder(&source, &ladder)?.path(), launch)? {
            program::keep(rules, ladder_folder(backup, &ladder)?.path())?;
        }
        let records = |of: &Folder| ladder_folder(of, &ladder)?.make_within("records");
        let copies = RecordCopies {
            from: RecordFolder::new(records(&source)?),
            to: RecordFolder::new(records(backup)?),
            packed: packed.get(&ladder).cloned().unwrap_or_default(),
            erased: erased_before.get(&ladder).map_or(1, |last| last + 1)..=erased_to(&copy, &ladder)?,
        };
        let counted = copies.bring_up_to_date(&copy, &ladder, || bar.inc(1))?;
        backed.records += counted.records;
        backed.new += counted.new;
        backed.missing += counted.missing;
    }
    bar.finish_and_clear();
    copy_programs(config, &copy, &source, backup)?;
    backup.replace(CONFIG, &read_regular(&args.which.league)?)?;
    config.notices().copy_to(backup)?;
    drop(copy);
    // Files that SQLite left beside the earlier database belong to that one.
    for name in ["-wal", "-shm", "-journal"] {
        backup.remove(&format!("{DATABASE}{name}"))?;
    }
    work.sync_files(&[DATABASE])?;
    fs::rename(work.path().join(DATABASE), backup.path().join(DATABASE))?;
    for name in work.names()? {
        work.remove(&name)?;
    }
    fs::remove_dir(work.path())?;
    backup.sync()?;
    let mark = json::text(&BackupMark { at: utc(now()) }) + "\n";
    let written = File::options().write(true).truncate(true).open(backup.path().join(MARK));
    written.and_then(|mut file| file.write_all(mark.as_bytes()))?;
    Ok(backed)
}

/// Copies the games and programs of the file that lie in the directory of the league, and what owners have handed in.
fn copy_programs(
    config: &LeagueConfig,
    league: &League,
    source: &Folder,
    backup: &Folder,
) -> Result<(), StoreError> {
    for path in config.own_files() {
        mirror(&source.path().join(&path), &backup.path().join(&path))?;
    }
    if !source.path().join(SUBMISSIONS).is_dir() {
        return Ok(());
    }
    let [from, to] = [SubmissionFiles::open(source)?, SubmissionFiles::open(backup)?];
    let needed = league.submissions_with_files(SystemTime::UNIX_EPOCH)?;
    for id in &needed {
        use SubmissionFiles as Files;
        for of in [Files::archive, Files::built, Files::bot, Files::kept] {
            mirror(&of(&from, *id), &of(&to, *id))?;
        }
    }
    Ok(())
}

/// Copies a file, a link, or a directory with its content from `from` to `to`. Files of the same size and
/// time stay.
fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    let there = fs::symlink_metadata(to).ok();
    let found = match fs::symlink_metadata(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return SubmissionFiles::remove(to),
        found => found?,
    };
    if there.as_ref().is_some_and(|there| there.file_type() != found.file_type()) {
        SubmissionFiles::remove(to)?;
    }
    if found.is_dir() {
        fs::create_dir_all(to)?;
        let names = |of: &Path| {
            fs::read_dir(of)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<HashSet<_>>>()
        };
        let all = names(from)?;
        all.iter().try_for_each(|name| mirror(&from.join(name), &to.join(name)))?;
        names(to)?.difference(&all).try_for_each(|name| SubmissionFiles::remove(&to.join(name)))?;
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    if found.is_symlink() {
        SubmissionFiles::remove(to)?;
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    let is_same = |there: &fs::Metadata| {
        there.len() == found.len()
            && there.modified().ok() == found.modified().ok()
            && there.mode() == found.mode()
    };
    // A socket or a pipe is no part of a program.
    if !found.is_file() || there.as_ref().is_some_and(is_same) {
        return Ok(());
    }
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".unfinished");
    let unfinished = to.with_file_name(name);
    fs::copy(from, &unfinished)?;
    File::options().write(true).open(&unfinished)?.set_modified(found.modified()?)?;
    fs::rename(unfinished, to)
}

/// The number of the match up to which private lines were erased.
fn erased_to(league: &League, ladder: &str) -> Result<u32, StoreError> {
    Ok(league.number(&format!("erased:{ladder}"))?.unwrap_or(0))
}

/// The records of a ladder, and their copies.
struct RecordCopies {
    from: RecordFolder,
    to: RecordFolder,
    /// The packs that are copied as they are.
    packed: BTreeSet<PackRange>,
    /// The numbers of the matches whose private lines were erased since the last backup.
    erased: RangeInclusive<u32>,
}

/// A pack while it is copied.
struct CopiedPack {
    range: PackRange,
    names: HashSet<String>,
    /// Records that its copy had before.
    had: HashSet<String>,
}

impl RecordCopies {
    /// Copies new and changed files: packs, and records that are not in them.
    fn bring_up_to_date(
        &self,
        league: &League,
        ladder: &str,
        mut step: impl FnMut(),
    ) -> Result<Backed, StoreError> {
        let (from, to) = (self.from.folder(), self.to.folder());
        let known: HashSet<String> = to.names()?.into_iter().collect();
        let mut backed = Backed::default();
        let (mut new, mut obsolete) = (Vec::new(), Vec::new());
        let mut pack: Option<CopiedPack> = None;
        league.for_each_record(ladder, |number, name| {
            step();
            let range = PackRange::of(number);
            if self.packed.contains(&range) && pack.as_ref().is_none_or(|pack| pack.range != range) {
                pack = Some(self.copy_pack(range, &mut new)?);
            }
            if let Some(pack) = pack.as_ref().filter(|pack| pack.names.contains(name)) {
                backed.records += 1;
                match known.contains(name) {
                    true => obsolete.push(name.to_owned()),
                    false => backed.new += usize::from(!pack.had.contains(name)),
                }
                return Ok(());
            }
            if known.contains(name) && (!self.erased.contains(&number) || has_same_size(from, to, name)?) {
                backed.records += 1;
                return Ok(());
            }
            match self.from.read(name) {
                Ok(record) => {
                    write_record(to, name, &record)?;
                    new.push(name.to_owned());
                    (backed.records, backed.new) = (backed.records + 1, backed.new + 1);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => backed.missing += 1,
                Err(error) => return Err(error.into()),
            }
            Ok::<_, StoreError>(())
        })?;
        to.sync_files(&new.iter().map(String::as_str).collect::<Vec<_>>())?;
        // The records are in packs now, which are on the disk.
        obsolete.iter().try_for_each(|name| to.remove(name))?;
        Ok(backed)
    }

    /// Copies a pack, if its copy is missing or is of an earlier one.
    fn copy_pack(&self, range: PackRange, new: &mut Vec<String>) -> io::Result<CopiedPack> {
        let (from, to, name) = (self.from.folder(), self.to.folder(), range.name());
        let names: HashSet<String> = self.from.packed(range)?.into_iter().collect();
        let stamp = |folder: &Folder| {
            let found = folder.open_file(&name, false)?.metadata()?;
            Ok::<_, io::Error>((found.len(), found.modified()?))
        };
        if to.has_file(&name)? && stamp(from)? == stamp(to)? {
            return Ok(CopiedPack { range, had: names.clone(), names });
        }
        let had = self.to.packed(range)?.into_iter().collect();
        copy_file(from, to, &name)?;
        new.push(name);
        Ok(CopiedPack { range, names, had })
    }
}

/// Returns whether the copy of a record is up to date: it gets shorter when private lines are erased. A
/// record that is missing now has its copy.
fn has_same_size(from: &Folder, to: &Folder, name: &str) -> io::Result<bool> {
    let size = |folder: &Folder| Ok::<u64, io::Error>(folder.open_file(name, false)?.metadata()?.len());
    match size(from) {
        Ok(now) => Ok(now == size(to)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Writes the copy of a record, which appears as a whole, with the time of its last change: results are dated by their records.
fn write_record(to: &Folder, name: &str, record: &StoredRecord) -> io::Result<()> {
    let mut target = to.create_unfinished(name)?;
    target.write_all(&record.bytes)?;
    target.set_modified(record.written_at)?;
    to.finish(name)
}

/// Copies a file, which appears as a whole, with the time of its last change.
fn copy_file(from: &Folder, to: &Folder, name: &str) -> io::Result<()> {
    let mut source = from.open_file(name, false)?;
    let mut target = to.create_unfinished(name)?;
    io::copy(&mut source, &mut target)?;
    target.set_modified(source.metadata()?.modified()?)?;
    to.finish(name)
}

/// The packs of each ladder.
fn packs(folder: &Folder, league: &League) -> Result<BTreeMap<String, BTreeSet<PackRange>>, StoreError> {
    let of = |ladder: String| {
        let records = folder.make_within("ladders")?.make_within(&ladder)?.make_within("records")?;
        Ok((ladder, RecordFolder::new(records).packs()?))
    };
    league.ladders()?.into_iter().map(of).collect()
}
