//! Opening files: PDN collections, and lists of positions.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::board::Board;
use super::pdn;
use referee_game::openings::{ReadOpenings, lines};
use referee_game::{Flaw, GivenOpening, OpeningFile};

/// Both formats include the start position.
pub(super) const FILES: &[OpeningFile] = &[
    OpeningFile { ending: "pdn", read: |file, plies| pdn::openings(file, plies).collect() },
    OpeningFile { ending: "fen", read: positions },
];

/// The option that sets the start position.
pub(super) fn start(board: &Board) -> Map<String, Value> {
    Map::from_iter([("fen".to_owned(), Value::String(board.to_string()))])
}

/// Reads one position per line.
fn positions(file: &[u8], _: Option<usize>) -> ReadOpenings {
    let read = |(line, fen): (usize, Cow<'_, str>)| match fen.parse::<Board>() {
        Ok(board) => Ok(GivenOpening { game: 0, line, options: start(&board), moves: Vec::new() }),
        Err(error) => Err(Flaw { game: 0, ply: 0, line, what: format!("{error}") }),
    };
    lines(file).map(read).collect()
}
