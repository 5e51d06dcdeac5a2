//! Packs: files with the records of a thousand matches each, so that a directory of a million records has few files.
//!
//! A pack is a zip file with deflate: readers find a record by the directory at its end, and every system has a program that
//! unpacks it. Its name says which matches it is for, so that no other file has to. A record that is also a file of its own
//! is read from there: records are packed before their files are removed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ExtraField, ZipArchive, ZipWriter};

use crate::Folder;
use crate::regular::{MOST_READ, at, read_limited};

/// The number of matches whose records are in one pack.
const MATCHES: u32 = 1000;
/// The ending of records' names.
const RECORD: &str = ".jsonl";

/// The matches of a pack, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PackRange {
    first: u32,
}

impl PackRange {
    /// Returns the range of the match with this number.
    pub fn of(number: u32) -> PackRange {
        PackRange { first: number.saturating_sub(1) / MATCHES * MATCHES + 1 }
    }

    /// Returns the range of a record: `m17.jsonl` belongs to 1 to 1000.
    pub fn of_record(name: &str) -> Option<PackRange> {
        number_of(name).map(PackRange::of)
    }

    pub fn of_pack(name: &str) -> Option<PackRange> {
        let (first, _) = name.strip_prefix("matches-")?.strip_suffix(".zip")?.split_once('-')?;
        let range = PackRange::of(first.parse().ok()?);
        (range.name() == name).then_some(range)
    }

    /// The numbers of its matches.
    pub fn numbers(self) -> RangeInclusive<u32> {
        self.first..=self.first.saturating_add(MATCHES - 1)
    }

    /// The name of the pack: `matches-1-1000.zip`.
    pub fn name(self) -> String {
        let numbers = self.numbers();
        format!("matches-{}-{}.zip", numbers.start(), numbers.end())
    }
}

/// The number in the name of a record: 17 in `m17.jsonl`.
fn number_of(name: &str) -> Option<u32> {
    let id = name.strip_suffix(RECORD)?;
    let digits = id.strip_prefix(|letter: char| letter.is_ascii_lowercase())?;
    digits.parse().ok().filter(|number: &u32| *number > 0 && number.to_string() == digits)
}

/// A record and when it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    pub bytes: Vec<u8>,
    /// The time of its last change: results are dated by it.
    pub written_at: SystemTime,
}

#[derive(Debug)]
struct OpenPack {
    range: PackRange,
    /// The device and its inode: another pack may have replaced it.
    identity: (u64, u64),
    archive: ZipArchive<BufReader<File>>,
}

/// The records of a directory: those in files of their own, and those in packs.
#[derive(Debug)]
pub struct RecordFolder {
    folder: Folder,
    /// The pack that was read last.
    last: Mutex<Option<OpenPack>>,
}

impl RecordFolder {
    /// The records of this directory.
    pub fn new(folder: Folder) -> RecordFolder {
        RecordFolder { folder, last: Mutex::default() }
    }

    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The packs, in order.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn packs(&self) -> io::Result<BTreeSet<PackRange>> {
        Ok(self.folder.names()?.iter().filter_map(|name| PackRange::of_pack(name)).collect())
    }

    /// Returns whether there is a pack for these matches.
    ///
    /// # Errors
    /// If its name belongs to something else than a file.
    pub fn has_pack(&self, range: PackRange) -> io::Result<bool> {
        self.folder.has_file(&range.name())
    }

    /// The names of all records, in unspecified order.
    ///
    /// # Errors
    /// Errors of the disk, or if a pack cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = BTreeSet::new();
        for name in self.folder.names()? {
            match PackRange::of_pack(&name) {
                Some(range) => names.extend(self.packed(range)?),
                None if name.ends_with(RECORD) => _ = names.insert(name),
                None => {}
            }
        }
        Ok(names.into_iter().collect())
    }

    /// The names of the records in a pack, in its order; none if there is no pack.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn packed(&self, range: PackRange) -> io::Result<Vec<String>> {
        self.with_pack(range, |archive| {
            let names = archive.file_names().map(|name| Ok(name?.into_owned()));
            names.collect::<io::Result<Vec<String>>>()
        })
        .map(Option::unwrap_or_default)
    }

    /// Returns whether a record is a file of its own.
    ///
    /// # Errors
    /// If its name belongs to something else.
    pub fn is_file(&self, name: &str) -> io::Result<bool> {
        self.folder.has_file(name)
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if there is none, and those of the disk.
    pub fn read(&self, name: &str) -> io::Result<StoredRecord> {
        let missing = match self.folder.open_file(name, false) {
            Ok(file) => {
                let written_at = file.metadata()?.modified()?;
                let bytes = read_limited(file, MOST_READ);
                let bytes = bytes.map_err(|error| at(&self.folder.path().join(name), error))?;
                return Ok(StoredRecord { bytes, written_at });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => error,
            Err(error) => return Err(error),
        };
        let Some(range) = PackRange::of_record(name) else { return Err(missing) };
        let read = self.with_pack(range, |archive| read_entry(archive, name));
        read?.flatten().ok_or(missing)
    }

    /// Works with a pack; `None` if there is none.
    fn with_pack<T>(
        &self,
        range: PackRange,
        work: impl FnOnce(&mut ZipArchive<BufReader<File>>) -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        let name = range.name();
        let wrong = |error: io::Error| at(&self.folder.path().join(&name), error);
        let file = match self.folder.open_file(&name, false) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let found = file.metadata().map_err(wrong)?;
        let identity = (found.dev(), found.ino());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |open: &OpenPack| open.range == range && open.identity == identity;
        if !last.as_ref().is_some_and(is_open) {
            let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| wrong(error.into()))?;
            *last = Some(OpenPack { range, identity, archive });
        }
        last.as_mut().map(|open| work(&mut open.archive).map_err(wrong)).transpose()
    }

    /// Begins a pack, which replaces the one for the same matches when it is finished.
    ///
    /// # Errors
    /// If its name belongs to something else than a file, and I/O errors.
    pub fn begin_pack(&self, range: PackRange) -> io::Result<PackWriter<'_>> {
        let file = self.folder.create_unfinished(&range.name())?;
        Ok(PackWriter { records: self, range, zip: ZipWriter::new(BufWriter::new(file)) })
    }
}

/// A pack that is being written. It has a temporary name until it is finished.
#[derive(Debug)]
pub struct PackWriter<'a> {
    records: &'a RecordFolder,
    range: PackRange,
    zip: ZipWriter<BufWriter<File>>,
}

impl PackWriter<'_> {
    /// Adds a record.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn add(&mut self, name: &str, record: &StoredRecord) -> io::Result<()> {
        let since = record.written_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = u32::try_from(since.as_secs()).unwrap_or(u32::MAX);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .unix_permissions(0o600)
            .with_extended_timestamp(Some(seconds), None, None)?;
        self.zip.start_file(name, options)?;
        self.zip.write_all(&record.bytes)
    }

    /// Adds a record as the present pack has it. Returns whether it has it.
    ///
    /// # Errors
    /// If that one cannot be read, and those of the disk.
    pub fn copy(&mut self, name: &str) -> io::Result<bool> {
        let PackWriter { records, range, zip } = self;
        let copied = records.with_pack(*range, |archive| {
            let Some(index) = archive.index_for_name(name) else { return Ok(false) };
            zip.raw_copy_file(archive.by_index_raw(index)?)?;
            Ok(true)
        });
        Ok(copied?.unwrap_or_default())
    }

    /// Lets the pack appear with its name, once it is on the disk. From then on it is there after a power failure too.
    ///
    /// # Errors
    /// Errors of the disk.
    pub fn finish(self) -> io::Result<()> {
        let PackWriter { records: RecordFolder { folder, .. }, range, zip } = self;
        let name = range.name();
        let wrong = |error: io::Error| at(&folder.path().join(&name), error);
        let file = zip.finish().map_err(|error| wrong(error.into()))?;
        let file = file.into_inner().map_err(|error| wrong(error.into_error()))?;
        file.sync_all().map_err(wrong)?;
        folder.finish(&name)?;
        folder.sync()
    }
}

fn read_entry(archive: &mut ZipArchive<BufReader<File>>, name: &str) -> io::Result<Option<StoredRecord>> {
    let Some(index) = archive.index_for_name(name) else { return Ok(None) };
    let entry = archive.by_index(index)?;
    let stamps = entry.extra_data_fields().filter_map(|field| match field {
        ExtraField::ExtendedTimestamp(times) => times.mod_time(),
        _ => None,
    });
    let seconds = stamps.last().unwrap_or_default();
    let written_at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.into());
    Ok(Some(StoredRecord { bytes: read_limited(entry, MOST_READ)?, written_at }))
}

/// Reads a record, from its file or from the pack beside it.
///
/// # Errors
/// [`io::ErrorKind::NotFound`] if there is none, and those of the disk.
pub fn read_record(path: &Path) -> io::Result<Vec<u8>> {
    let (folder, name) = Folder::of_file(path)?;
    Ok(RecordFolder::new(folder).read(&name)?.bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn record(text: &str) -> StoredRecord {
        let written_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_001);
        StoredRecord { bytes: text.as_bytes().to_vec(), written_at }
    }

    #[test]
    fn a_pack_is_named_by_the_numbers_of_its_matches() {
        let name = |record: &str| PackRange::of_record(record).map(PackRange::name);
        assert_eq!(name("m1.jsonl").as_deref(), Some("matches-1-1000.zip"));
        assert_eq!(name("r1000.jsonl").as_deref(), Some("matches-1-1000.zip"));
        assert_eq!(name("c1001.jsonl").as_deref(), Some("matches-1001-2000.zip"));
        for other in ["m0.jsonl", "m01.jsonl", "m+1.jsonl", "m.jsonl", "1.jsonl", "m1", "m1.jsonl.part"] {
            assert_eq!(name(other), None, "{other}");
        }
        assert_eq!(PackRange::of_pack("matches-1001-2000.zip"), Some(PackRange::of(2000)));
        for other in
            ["matches-1-1001.zip", "matches-2-1001.zip", "matches-01-1000.zip", "matches-1-1000.zip.part"]
        {
            assert_eq!(PackRange::of_pack(other), None, "{other}");
        }
    }

    #[test]
    fn records_are_read_from_files_and_from_packs() {
        let place = tempfile::tempdir().unwrap();
        let records = RecordFolder::new(Folder::open(place.path()).unwrap());
        let range = PackRange::of(1);
        let mut pack = records.begin_pack(range).unwrap();
        pack.add("m1.jsonl", &record("one")).unwrap();
        pack.add("m2.jsonl", &record("two")).unwrap();
        let path = |name: &str| place.path().join(name);
        // A pack that was not finished is left out.
        assert_eq!(records.read("m1.jsonl").unwrap_err().kind(), io::ErrorKind::NotFound);
        pack.finish().unwrap();
        fs::write(path("m2.jsonl"), "its file").unwrap();
        fs::write(path("m3.jsonl"), "three").unwrap();
        assert_eq!(records.read("m1.jsonl").unwrap(), record("one"));
        assert_eq!(read_record(&path("m1.jsonl")).unwrap(), b"one");
        assert_eq!(records.read("m2.jsonl").unwrap().bytes, b"its file");
        assert_eq!(records.names().unwrap(), ["m1.jsonl", "m2.jsonl", "m3.jsonl"]);
        assert_eq!(records.read("m4.jsonl").unwrap_err().kind(), io::ErrorKind::NotFound);
        // A second pack takes the place of the first, also for readers that have opened it.
        let mut pack = records.begin_pack(range).unwrap();
        assert!(pack.copy("m1.jsonl").unwrap() && !pack.copy("m7.jsonl").unwrap());
        pack.add("m2.jsonl", &record("later")).unwrap();
        pack.finish().unwrap();
        fs::remove_file(path("m2.jsonl")).unwrap();
        assert_eq!(records.read("m1.jsonl").unwrap(), record("one"));
        assert_eq!(records.read("m2.jsonl").unwrap(), record("later"));
    }

    #[test]
    fn pack_that_is_damaged_is_error_that_names_it() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("matches-1-1000.zip"), "nothing of the kind").unwrap();
        let records = RecordFolder::new(Folder::open(place.path()).unwrap());
        for error in [records.read("m1.jsonl").unwrap_err(), records.names().unwrap_err()] {
            assert!(error.to_string().contains("matches-1-1000.zip"), "{error}");
            assert_ne!(error.kind(), io::ErrorKind::NotFound);
        }
    }
}
