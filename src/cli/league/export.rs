//! `referee league export`: a backup of a league.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, Header};
use tempfile::{NamedTempFile, TempDir};

use crate::cli::league::which::LeagueSelector;
use crate::cli::{Exit, Failure, progress, screen};
use crate::files::{Folder, PackRange, RecordFolder, StoredRecord};
use crate::game::counted;
use crate::league::League;
use crate::runs::league::ladder_folder;
use crate::store::StoreError;

/// Write a backup of a league to one file, also while it runs: everything but tokens and seeds
///
/// The file is a compressed tar archive with league.toml, the database, and the records of all matches in it. To go on on
/// another machine, unpack it into an empty directory, copy the files of the programs, give the bots that connect new tokens
/// with `referee league add NAME`, and start `referee serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league export backup.tar.gz
  mkdir mine && tar -xzf backup.tar.gz -C mine")]
pub(super) struct Args {
    /// A new file
    file: PathBuf,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let file = &args.file;
    if file.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("{} exists: name a new file", file.display())));
    }
    let (config, league) = args.which.open()?;
    let archived = archive(&args.which.league, &config.folder, &league, file)
        .map_err(|error| Failure::cannot_run(format!("{}: {error}", file.display())))?;
    let records = counted(archived.records, "record", "records");
    writeln!(screen::stdout(), "{} has everything but tokens and seeds, with {records}", file.display())?;
    if archived.missing > 0 {
        let missing = counted(archived.missing, "record is", "records are");
        screen::stderr_line(format_args!("{missing} missing; `referee league verify` lists them"));
    }
    Ok(Exit::Done)
}

/// What an archive contains.
#[derive(Debug, Default)]
struct Archived {
    records: usize,
    /// Records of matches in the database that were not found.
    missing: usize,
}

/// Writes the archive. The file appears as a whole or not at all.
fn archive(config: &Path, folder: &Path, league: &League, file: &Path) -> Result<Archived, StoreError> {
    let beside = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let work = TempDir::new_in(beside)?;
    let source = Folder::open(folder)?;
    // What is packed from now on is added as it is in the database.
    let packed = packs(&source, league)?;
    // The database before the records: all those of the matches in it are on the disk.
    let database = work.path().join("league.sqlite");
    league.export(&database)?;
    let copy = League::open(&Folder::open(work.path())?)?;
    let target = NamedTempFile::new_in(beside)?;
    let mut tar = Builder::new(GzEncoder::new(BufWriter::new(target), Compression::default()));
    tar.append_path_with_name(config, "league.toml")?;
    tar.append_path_with_name(&database, "league.sqlite")?;
    let mut archived = Archived::default();
    let bar = progress::bar(copy.match_count()?, "{bar:30} {pos}/{len} records, {eta} left");
    for ladder in copy.ladders()? {
        let own = ladder_folder(&source, &ladder)?;
        let games = own.path().join("games");
        if games.is_dir() {
            tar.append_dir_all(format!("ladders/{ladder}/games"), games)?;
        }
        let records = own.make_within("records")?;
        let records = RecordFolder::new(records);
        let of_ladder = packed.get(&ladder);
        for pack in of_ladder.into_iter().flatten() {
            let mut file = records.folder().open_file(&pack.name(), false)?;
            let path = format!("ladders/{ladder}/records/{}", pack.name());
            tar.append_file(path, &mut file)?;
        }
        let add = |name: &str| -> io::Result<()> {
            let is_packed =
                of_ladder.zip(PackRange::of_record(name)).is_some_and(|(all, of)| all.contains(&of));
            if is_packed && !records.is_file(name)? {
                return if records.is_packed(name)? { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) };
            }
            let StoredRecord { bytes, written_at } = records.read(name)?;
            let mut header = Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o600);
            let since = written_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            header.set_mtime(since.as_secs());
            tar.append_data(&mut header, format!("ladders/{ladder}/records/{name}"), &*bytes)
        };
        let counted = add_records(&copy, &ladder, add, || bar.inc(1))?;
        archived.records += counted.records;
        archived.missing += counted.missing;
    }
    bar.finish_and_clear();
    let target = tar.into_inner().and_then(GzEncoder::finish)?;
    let target = target.into_inner().map_err(|error| error.into_error())?;
    target.as_file().sync_all()?;
    target.persist_noclobber(file).map_err(|error| error.error)?;
    File::open(beside).and_then(|folder| folder.sync_all())?;
    Ok(archived)
}

/// The packs of each ladder.
pub(super) fn packs(
    folder: &Folder,
    league: &League,
) -> Result<BTreeMap<String, BTreeSet<PackRange>>, StoreError> {
    let of = |ladder: String| {
        let records = folder.make_within("ladders")?.make_within(&ladder)?.make_within("records")?;
        Ok((ladder, RecordFolder::new(records).packs()?))
    };
    league.ladders()?.into_iter().map(of).collect()
}

/// Adds the records of a ladder.
fn add_records(
    league: &League,
    ladder: &str,
    mut add: impl FnMut(&str) -> io::Result<()>,
    mut step: impl FnMut(),
) -> Result<Archived, StoreError> {
    let mut archived = Archived::default();
    league.for_each_record(ladder, |_, record| {
        step();
        match add(record) {
            Ok(()) => archived.records += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => archived.missing += 1,
            Err(error) => return Err(StoreError::from(error)),
        }
        Ok(())
    })?;
    Ok(archived)
}
