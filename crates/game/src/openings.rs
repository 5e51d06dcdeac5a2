//! Opening files: moves or positions from which matches begin.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::notation::Flaw;

/// A format of opening files.
#[derive(Debug)]
pub struct OpeningFile {
    /// The file extension, in lower case, without the dot.
    pub ending: &'static str,
    /// Reads the openings in order, each cut after this number of plies if it is given. Accepts arbitrary bytes.
    pub read: fn(&[u8], Option<usize>) -> ReadOpenings,
}

/// The openings of a file, and the errors of those that cannot be read.
pub type ReadOpenings = Vec<Result<GivenOpening, Flaw>>;

/// An opening read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenOpening {
    /// The game in the file, counted from 1; 0 in formats with one opening per line.
    pub game: usize,
    /// The line on which it begins, counted from 1.
    pub line: usize,
    /// The options that set up its start position; empty if it starts from the position of the set-up.
    pub options: Map<String, Value>,
    /// The moves; not yet checked for legality.
    pub moves: Vec<String>,
}

/// Openings on one line each: moves in the game's grammar, separated by commas.
pub const LINES: OpeningFile = OpeningFile { ending: "txt", read: read_lines };

fn read_lines(file: &[u8], plies: Option<usize>) -> ReadOpenings {
    let read = |(line, text): (usize, Cow<'_, str>)| {
        let moves = text.split(',').map(|text| text.trim().to_owned());
        let moves = moves.take(plies.unwrap_or(usize::MAX)).collect();
        Ok(GivenOpening { game: 0, line, options: Map::new(), moves })
    };
    lines(file).map(read).collect()
}

/// Returns the trimmed lines of a file with their numbers, without empty lines and comments (`#`). A line ends with LF,
/// CR LF or CR alone.
pub fn lines(file: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let mut number = 0;
    let lines =
        file.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')).scan(false, move |after_cr, line| {
            // The LF of a CR LF ends no line of its own.
            number += usize::from(!(*after_cr && line == b"\n"));
            *after_cr = line.ends_with(b"\r");
            Some((number, line.trim_ascii()))
        });
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
    lines.map(|(number, line)| (number, String::from_utf8_lossy(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: impl AsRef<[u8]>) -> Vec<(usize, Vec<String>)> {
        let read = (LINES.read)(file.as_ref(), None).into_iter();
        read.map(|opening| opening.map(|given| (given.line, given.moves)).unwrap()).collect()
    }

    #[test]
    fn an_opening_is_a_line_of_moves_separated_by_commas() {
        let moves = ["place b3 E", "place b2 NW"].map(str::to_owned).to_vec();
        let file = "\u{feff}# the first\n\n  place b3 E, place b2 NW  \r\nplace b3 E,place b2 NW";
        assert_eq!(read(file), [(3, moves.clone()), (4, moves)]);
        assert_eq!(read("# nothing\n\n"), []);
    }

    #[test]
    fn a_line_may_end_with_cr_alone() {
        let file = "# a comment\rplace b3 E\r\rplace b2 NW\r\nplace a1 N\n";
        let lines: Vec<usize> = read(file).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [2, 4, 5]);
    }

    #[test]
    fn any_bytes_can_be_read() {
        assert_eq!(read(b"\xff,\0\n"), [(1, vec!["\u{fffd}".to_owned(), "\0".to_owned()])]);
    }
}
