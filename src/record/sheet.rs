//! Converts a record for export to other notations.

use serde::Deserialize;

use crate::core::{Occasion, Sheet};
use crate::record::Difference;
use crate::record::replay::verify_each;

#[derive(Deserialize)]
struct Moved {
    kind: String,
    r#move: Option<String>,
}

/// Verifies a record and returns the game's id and the moves.
///
/// # Errors
/// The differences found by [`crate::record::verify`].
pub fn sheet(record: &[u8]) -> Result<(String, Sheet), Vec<Difference>> {
    let mut moves = Vec::new();
    let (replayed, differences) = verify_each(record, |line| {
        let event = line.event.filter(|_| line.kind == "event");
        let moved: Option<Moved> = event.and_then(|event| serde_json::from_str(event.get()).ok());
        moves.extend(moved.filter(|moved| moved.kind == "move").and_then(|moved| moved.r#move));
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
        occasion: Occasion::default(),
    };
    Ok((header.game.clone(), sheet))
}
