//! Converts a record for export to other notations.

use referee_game::{Catalog, MAX_SEATS, MatchTags, MoveNote, Sheet, SheetDraw};
use serde_json::value::RawValue;

use crate::record::replay::verify_each;
use crate::record::{Difference, RecordEntry, RecordedAnswer, RecordedEvent};

/// Verifies a record and returns the game's id and the moves.
///
/// # Errors
/// The differences found by [`crate::record::verify`].
pub fn sheet(record: &[u8], catalog: &Catalog) -> Result<(String, Sheet), Vec<Difference>> {
    let (mut moves, mut seats, mut notes, mut draws) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut answers: [Option<(String, MoveNote)>; MAX_SEATS] = Default::default();
    let (replayed, _, differences) = verify_each(record, catalog, |line| match line.entry {
        RecordEntry::Answer(RecordedAnswer { seat, text, took_us, info, .. }) => {
            let note = MoveNote { took_us: Some(took_us), info: info.map(RawValue::to_owned) };
            answers[seat.index()] = Some((text.into_owned(), note));
        }
        RecordEntry::Event { event: RecordedEvent::Move(moved), .. } => {
            // After a fault, the move may be another one than that of the answer.
            let answer = answers[moved.seat.index()].take().filter(|(text, _)| **text == *moved.text);
            notes.push(answer.map(|(_, note)| note).unwrap_or_default());
            seats.push(moved.seat);
            moves.push(moved.text.into_owned());
        }
        RecordEntry::Draw { drawn } => draws.push(SheetDraw { after: moves.len(), drawn }),
        _ => {}
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
        seats,
        draws,
        notes,
        clocks: header.seats.iter().map(|seat| seat.clock.or(header.clock)).collect(),
        ranks: ending.ranks.clone(),
        ended: format!("{} ({})", ending.ended_by, ending.reason),
        tags: MatchTags::default(),
    };
    Ok((header.game.clone(), sheet))
}
