//! Converts a record for export to other notations.

use referee_game::{Catalog, MatchTags, Sheet};

use crate::record::replay::verify_each;
use crate::record::{Difference, RecordEntry, RecordedEvent};

/// Verifies a record and returns the game's id and the moves.
///
/// # Errors
/// The differences found by [`crate::record::verify`].
pub fn sheet(record: &[u8], catalog: &Catalog) -> Result<(String, Sheet), Vec<Difference>> {
    let mut moves = Vec::new();
    let (replayed, _, differences) = verify_each(record, catalog, |line| {
        if let RecordEntry::Event { event: RecordedEvent::Move(moved), .. } = line.entry {
            moves.push(moved.text.into_owned());
        }
    });
    let Some((replayed, ending)) = replayed
        .as_ref()
        .and_then(|replayed| Some((replayed, replayed.ending()?)))
        .filter(|_| differences.is_empty())
    else {
        return Err(differences);
    };
    let header = &replayed.setup().header;
    let sheet = Sheet {
        match_id: header.r#match.clone(),
        names: header.seats.iter().map(|seat| seat.name.clone()).collect(),
        options: header.options.clone(),
        moves,
        ranks: ending.ranks.clone(),
        ended: format!("{} ({})", ending.ended_by, ending.reason),
        tags: MatchTags::default(),
    };
    Ok((header.game.clone(), sheet))
}
