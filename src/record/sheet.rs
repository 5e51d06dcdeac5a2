//! What another notation tells of a match.

use serde::Deserialize;

use crate::core::Sheet;
use crate::record::format::read_as;
use crate::record::{Difference, Line, verify};
use crate::referee::{Ending, Header};

#[derive(Deserialize)]
struct Moved {
    kind: String,
    r#move: Option<String>,
}

/// Checks a record and returns the game's id and what happened.
///
/// # Errors
/// Where the record is not what it should be, as [`verify`] tells.
pub fn sheet(record: &[u8]) -> Result<(String, Sheet), Vec<Difference>> {
    let differences = verify(record);
    if !differences.is_empty() {
        return Err(differences);
    }
    // The rules gave all of these lines again: they can be read.
    let mut lines = record.split(|&byte| byte == b'\n');
    let header: Header = read_verified("record", lines.next().unwrap_or_default());
    let mut sheet = Sheet {
        match_id: header.r#match,
        names: header.seats.into_iter().map(|seat| seat.name).collect(),
        options: header.options,
        moves: Vec::new(),
        ranks: None,
        ended: String::new(),
    };
    for text in lines.filter(|text| !text.is_empty()) {
        let Ok(line) = Line::read(text) else { continue };
        match line.kind.as_str() {
            "event" => {
                let moved: Option<Moved> =
                    line.event.and_then(|event| serde_json::from_str(event.get()).ok());
                sheet.moves.extend(moved.filter(|moved| moved.kind == "move").and_then(|moved| moved.r#move));
            }
            "result" => {
                let ending: Ending = read_verified("result", text);
                sheet.ended = format!("{} ({})", ending.ended_by, ending.reason);
                sheet.ranks = ending.ranks;
            }
            _ => {}
        }
    }
    Ok((header.game, sheet))
}

fn read_verified<'a, T: Deserialize<'a>>(kind: &str, text: &'a [u8]) -> T {
    read_as(kind, text).unwrap_or_else(|error| unreachable!("a verified line can be read: {error}"))
}
