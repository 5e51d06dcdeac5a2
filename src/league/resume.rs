//! Matches that go on after their server was killed.

use std::io;

use crate::core::chance::Seed;
use crate::core::erased::Rules;
use crate::core::{Catalog, Seating, Viewer};
use crate::runner::ResumedMatch;
use crate::store::{League, RunningMatches, parse_match_id};

/// Reads the journals of the matches of a ladder that had no result. A match whose journal is damaged is cut off.
///
/// # Errors
/// I/O errors of the directory or the database.
pub fn resume(
    running: &RunningMatches,
    (league, ladder): (&League, &str),
    (rules, seating): (&dyn Rules, Seating),
    seed: &Seed,
    watched: Option<Viewer>,
    catalog: &Catalog,
) -> io::Result<Vec<ResumedMatch>> {
    let mut resumed = Vec::new();
    for id in running.ids()? {
        let number = parse_match_id(&id).map(|(number, _)| number);
        if let Some(number) = number
            && league.has_match(ladder, number)?
        {
            running.remove(&id)?;
            continue;
        }
        let read = running.resume(&id).map_err(|error| error.to_string());
        let read = read.and_then(|(journal, lines, paused_us)| {
            let secrets = (seed.of_deal(&id), seed.salt(&id));
            ResumedMatch::read((&id, journal, &lines, paused_us), secrets, watched, catalog)
        });
        let read = read.and_then(|found| match &found {
            Some(found) if !found.is_of(rules, seating) => {
                Err("the ladder plays another game now".to_owned())
            }
            _ => Ok(found),
        });
        match read {
            Ok(Some(found)) => resumed.push(found),
            Ok(None) => running.remove(&id)?,
            Err(why) => {
                let kept = running.set_aside(&id)?;
                tracing::warn!("{ladder}: {id} is cut off: its journal, kept as {kept}: {why}");
            }
        }
    }
    Ok(resumed)
}
