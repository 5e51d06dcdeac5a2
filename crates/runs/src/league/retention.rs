//! The retention of records: their private lines are erased, and they are packed.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use referee_files::{Folder, PackRange, RecordFolder, StoredRecord};
use referee_game::Chain;
use referee_league::{League, LeagueMatch};
use referee_match::record::{PublicRecord, PublishedInfo, digest, private_digests, public};
use referee_store::{StoreError, utc};

/// The number of records that are looked at in one step.
const AT_ONCE: usize = 20;
/// The delay after which private lines in packs are erased at the latest: a pack is written anew as a whole.
const PACK_ERASED: Duration = Duration::from_secs(24 * 60 * 60);

/// The retention of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The age at which private lines are erased.
    pub private_after: Option<Duration>,
    /// The age at which records are packed.
    pub pack_after: Option<Duration>,
    /// Whether the `info` of bots stays.
    pub info: PublishedInfo,
}

/// A ladder with its records.
pub struct RetainedLadder<'a> {
    pub name: &'a str,
    /// The database of the league.
    pub league: &'a mut League,
    pub records: &'a RecordFolder,
    /// Waits between two steps of a longer work. Returns false if the work has to be given up, which leaves everything as it was.
    pub pace: &'a mut dyn FnMut() -> bool,
}

impl fmt::Debug for RetainedLadder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetainedLadder").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Retention {
    /// Replaces the next records of a ladder that are old enough by their public forms. Returns how many were replaced.
    ///
    /// The database has the SHA-256 of the public form before the file is replaced: what was begun can be told from what was
    /// changed, and goes on with the next step.
    ///
    /// # Errors
    /// Those of the disk and the database.
    pub fn erase(&self, of: &mut RetainedLadder<'_>, now: SystemTime) -> Result<usize, StoreError> {
        let key = format!("erased:{}", of.name);
        let erased = of.league.number(&key)?.unwrap_or(0);
        let before = self.private_after.and_then(|after| now.checked_sub(after));
        let Some(before) = before else { return Ok(0) };
        let due = of.league.ended_before(of.name, erased, before, AT_ONCE)?;
        let Some(first) = due.first() else { return Ok(0) };
        let range = PackRange::of(first.number);
        if of.records.has_pack(range)? {
            return self.erase_in_pack(of, range, first, before, &key);
        }
        let due: Vec<LeagueMatch> =
            due.into_iter().filter(|row| range.numbers().contains(&row.number)).collect();
        let last = due.iter().map(|row| row.number).max().unwrap_or(erased);
        let mut replaced = Vec::new();
        for LeagueMatch { number, record, .. } in due {
            let Some(name) = record else { continue };
            let whole = match of.records.read(&name) {
                Ok(whole) => whole,
                // `referee league verify` lists it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            };
            if let Some(shown) = self.shown(&whole, &name) {
                of.league.set_seal(of.name, number, &seal_of(&shown.bytes))?;
                replace(of.records.folder(), &name, &shown)?;
                replaced.push(name);
            }
        }
        of.records.folder().sync_files(&replaced.iter().map(String::as_str).collect::<Vec<_>>())?;
        of.league.set_value(&key, &last.to_string())?;
        Ok(replaced.len())
    }

    /// Replaces the records in a pack that are old enough, once all of them are, or the first one has been for a day.
    fn erase_in_pack(
        &self,
        of: &mut RetainedLadder<'_>,
        range: PackRange,
        first: &LeagueMatch,
        before: SystemTime,
        key: &str,
    ) -> Result<usize, StoreError> {
        let rows = of.league.matches_numbered(of.name, first.number..=*range.numbers().end())?;
        let limit = utc(before);
        let due = rows.iter().take_while(|row| row.ended_at < limit).count();
        let is_overdue = before.checked_sub(PACK_ERASED).is_some_and(|overdue| first.ended_at < utc(overdue));
        let Some(last) = due.checked_sub(1).filter(|_| due == rows.len() || is_overdue) else { return Ok(0) };
        let last = rows[last].number;
        let Some(erased) = self.write_pack(of, range, Some(last))? else { return Ok(0) };
        of.league.set_value(key, &last.to_string())?;
        Ok(erased)
    }

    /// Packs the records of the next thousand matches of a ladder if all of them are old enough. Returns their range if they
    /// were packed.
    ///
    /// The pack is on the disk before the files in it are removed: what was begun is done again by the next step, from the
    /// files that are there and from the pack.
    ///
    /// # Errors
    /// Those of the disk and the database.
    pub fn pack(
        &self,
        of: &mut RetainedLadder<'_>,
        now: SystemTime,
    ) -> Result<Option<PackRange>, StoreError> {
        let before = self.pack_after.and_then(|after| now.checked_sub(after));
        let Some(before) = before else { return Ok(None) };
        let key = format!("packed:{}", of.name);
        let packed = of.league.number(&key)?.unwrap_or(0);
        let range = PackRange::of(packed.saturating_add(1));
        let last = *range.numbers().end();
        // A later match that ended before that time shows that no match of the range begins any more.
        if of.league.ended_before(of.name, last, before, 1)?.is_empty() {
            return Ok(None);
        }
        let limit = utc(before);
        if of.league.matches_numbered(of.name, range.numbers())?.iter().any(|row| row.ended_at >= limit) {
            return Ok(None);
        }
        if self.write_pack(of, range, None)?.is_none() {
            return Ok(None);
        }
        of.league.set_value(&key, &last.to_string())?;
        Ok(Some(range))
    }

    /// Writes a pack with all records of these matches that are in files or in the present pack, those up to `erased_to` in their
    /// public forms, and removes the files. Returns how many records were replaced by their public forms; `None` if the work was
    /// given up.
    fn write_pack(
        &self,
        of: &mut RetainedLadder<'_>,
        range: PackRange,
        erased_to: Option<u32>,
    ) -> Result<Option<usize>, StoreError> {
        let RetainedLadder { name: ladder, league, records, pace } = of;
        let rows = league.matches_numbered(ladder, range.numbers())?;
        let erased = rows.iter().filter(|row| erased_to.is_some_and(|last| row.number <= last));
        let erased: BTreeMap<&str, u32> =
            erased.filter_map(|row| Some((row.record.as_deref()?, row.number))).collect();
        let mut names = records.packed(range)?;
        let added = rows.iter().filter_map(|row| row.record.clone());
        names.extend(added.filter(|name| !names.contains(name)).collect::<Vec<_>>());
        let mut pack = records.begin_pack(range)?;
        let (mut files, mut seals) = (Vec::new(), Vec::new());
        for (index, name) in names.iter().enumerate() {
            if index % AT_ONCE == AT_ONCE - 1 && !pace() {
                return Ok(None);
            }
            let is_file = records.is_file(name)?;
            let number = erased.get(name.as_str());
            if !is_file && number.is_none() {
                pack.copy(name)?;
                continue;
            }
            let whole = match records.read(name) {
                Ok(whole) => whole,
                // `referee league verify` lists it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            };
            let shown = number.and_then(|number| Some((*number, self.shown(&whole, name)?)));
            match shown {
                Some((number, shown)) => {
                    seals.push((number, seal_of(&shown.bytes)));
                    pack.add(name, &shown)?;
                }
                None => pack.add(name, &whole)?,
            }
            if is_file {
                files.push(name);
            }
        }
        league.put_pack(ladder, *range.numbers().start(), &seals)?;
        pack.finish()?;
        for name in files {
            records.folder().remove(name)?;
        }
        Ok(Some(seals.len()))
    }

    /// The public form of a record; `None` if it is one, or is invalid.
    fn shown(&self, whole: &StoredRecord, name: &str) -> Option<StoredRecord> {
        if private_digests(&whole.bytes).is_some() {
            return None;
        }
        match public(&whole.bytes, self.info) {
            Ok(PublicRecord { record, .. }) => {
                Some(StoredRecord { bytes: record, written_at: whole.written_at })
            }
            Err(difference) => {
                tracing::warn!("{name}: its private lines are not erased: {}", Chain(&difference));
                None
            }
        }
    }
}

/// The SHA-256 in the seal of a record: that of all lines before it.
pub(super) fn seal_of(record: &[u8]) -> String {
    let body = record.strip_suffix(b"\n").unwrap_or(record);
    let end = body.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    digest(&record[..end])
}

/// Replaces a record as a whole, with the time of its last change: results are dated by it.
fn replace(records: &Folder, name: &str, record: &StoredRecord) -> io::Result<()> {
    let mut file = records.create_unfinished(name)?;
    file.write_all(&record.bytes)?;
    file.set_modified(record.written_at)?;
    records.finish(name)
}
