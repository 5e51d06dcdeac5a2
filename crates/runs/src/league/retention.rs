//! What becomes of records as they get older.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use referee_files::Folder;
use referee_match::record::{PublicRecord, PublishedInfo, digest, private_digests, public};
use referee_store::{League, LeagueMatch};

/// The number of records that are looked at in one step.
const AT_ONCE: usize = 20;

/// What becomes of records as they get older.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// After which time private lines are erased.
    pub private_after: Duration,
    /// Whether what bots say of their search stays.
    pub info: PublishedInfo,
}

impl Retention {
    /// Replaces the next records of a ladder that are old enough by their public forms. Returns how many were replaced.
    ///
    /// The database has the SHA-256 of the public form before the file is replaced: what was begun can be told from what was
    /// changed, and goes on with the next step.
    ///
    /// # Errors
    /// Those of the disk and the database.
    pub fn erase(
        &self,
        league: &mut League,
        ladder: &str,
        records: &Folder,
        now: SystemTime,
    ) -> io::Result<usize> {
        let key = format!("erased:{ladder}");
        let erased = league.number(&key)?.unwrap_or(0);
        let Some(before) = now.checked_sub(self.private_after) else { return Ok(0) };
        let due = league.ended_before(ladder, erased, before, AT_ONCE)?;
        let Some(last) = due.last().map(|row| row.number) else { return Ok(0) };
        let mut replaced = Vec::new();
        for LeagueMatch { number, record, .. } in due {
            let Some(name) = record else { continue };
            if let Some(shown) = self.shown(records, &name)? {
                league.set_seal(ladder, number, &seal_of(&shown))?;
                replace(records, &name, &shown)?;
                replaced.push(name);
            }
        }
        records.sync_files(&replaced.iter().map(String::as_str).collect::<Vec<_>>())?;
        league.set_value(&key, &last.to_string())?;
        Ok(replaced.len())
    }

    /// The public form of a record; `None` if it is one, is missing or is invalid.
    fn shown(&self, records: &Folder, name: &str) -> io::Result<Option<Vec<u8>>> {
        let whole = match records.read(name) {
            Ok(whole) => whole,
            // `referee league verify` lists it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if private_digests(&whole).is_some() {
            return Ok(None);
        }
        match public(&whole, self.info) {
            Ok(PublicRecord { record, .. }) => Ok(Some(record)),
            Err(difference) => {
                tracing::warn!("{name}: its private lines are not erased: {difference}");
                Ok(None)
            }
        }
    }
}

/// The SHA-256 in the seal of a record: that of all lines before it.
fn seal_of(record: &[u8]) -> String {
    let body = record.strip_suffix(b"\n").unwrap_or(record);
    let end = body.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    digest(&record[..end])
}

/// Replaces a record as a whole, with the time of its last change: results are dated by it.
fn replace(records: &Folder, name: &str, bytes: &[u8]) -> io::Result<()> {
    let at = records.open_file(name, false)?.metadata()?.modified()?;
    let mut file = records.create_unfinished(name)?;
    file.write_all(bytes)?;
    file.set_modified(at)?;
    records.finish(name)
}
