//! Opening files: PGN collections, and lists of positions.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Fen, pgn};
use referee_game::openings::{ReadOpenings, lines};
use referee_game::{Flaw, GivenOpening, OpeningFile};

/// All formats include the start position.
pub(super) const FILES: &[OpeningFile] = &[
    OpeningFile { ending: "pgn", read: pgn::openings },
    OpeningFile { ending: "epd", read: epd },
    OpeningFile { ending: "fen", read: |file, _| positions(file, |line| line) },
];

/// The option that sets the start position.
pub(super) fn start(fen: &Fen) -> Map<String, Value> {
    Map::from_iter([("fen".to_owned(), Value::String(fen.to_string()))])
}

/// Reads the positions of EPD, whose operations follow four fields. Some files have the counts of FEN before them.
fn epd(file: &[u8], _: Option<usize>) -> ReadOpenings {
    positions(file, |line| {
        let is_count = |field: &str| field.bytes().all(|byte| byte.is_ascii_digit());
        let fields = line.split_ascii_whitespace().enumerate();
        let last = fields.take_while(|(index, field)| *index < 4 || *index < 6 && is_count(field)).last();
        // A field is a part of the line.
        last.map_or("", |(_, field)| &line[..field.as_ptr().addr() - line.as_ptr().addr() + field.len()])
    })
}

/// Reads one position per line.
fn positions(file: &[u8], fen: impl Fn(&str) -> &str) -> ReadOpenings {
    let read = |(line, text): (usize, Cow<'_, str>)| match fen(&text).parse::<Fen>() {
        Ok(fen) => Ok(GivenOpening { game: 0, line, options: start(&fen), moves: Vec::new() }),
        Err(error) => Err(Flaw { game: 0, ply: 0, line, what: error.to_string() }),
    };
    lines(file).map(read).collect()
}
