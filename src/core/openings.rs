//! Files of openings: moves, or positions, that matches begin with.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::core::notation::Flaw;

/// A format of such files.
#[derive(Debug)]
pub struct OpeningFile {
    /// How the names of its files end, in lower case, without the dot.
    pub ending: &'static str,
    /// Reads the openings in their order. Any bytes will do.
    pub read: fn(&[u8]) -> Vec<Result<GivenOpening, Flaw>>,
}

/// An opening as a file gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenOpening {
    /// The game of the file, counted from 1; 0 where an opening is a line.
    pub game: usize,
    /// The line that it begins in, counted from 1.
    pub line: usize,
    /// The options that make its start position; none where it starts from the position of the set-up.
    pub options: Map<String, Value>,
    /// Its moves. They need not be legal.
    pub moves: Vec<String>,
}

/// An opening a line: its moves as the game writes them, joined by commas.
pub const LINES: OpeningFile = OpeningFile { ending: "txt", read: read_lines };

fn read_lines(file: &[u8]) -> Vec<Result<GivenOpening, Flaw>> {
    let read = |(line, text): (usize, Cow<'_, str>)| {
        let moves = text.split(',').map(|text| text.trim().to_owned()).collect();
        Ok(GivenOpening { game: 0, line, options: Map::new(), moves })
    };
    lines(file).map(read).collect()
}

/// The lines of a file with their numbers and without blanks around them. Empty ones and those that begin with `#` are
/// left out.
pub fn lines(file: &[u8]) -> impl Iterator<Item = (usize, Cow<'_, str>)> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let trimmed = file.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let numbered = trimmed.enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
    numbered.map(|(i, line)| (i + 1, String::from_utf8_lossy(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: impl AsRef<[u8]>) -> Vec<(usize, Vec<String>)> {
        let read = (LINES.read)(file.as_ref()).into_iter();
        read.map(|opening| opening.map(|given| (given.line, given.moves)).unwrap()).collect()
    }

    #[test]
    fn an_opening_is_a_line_with_commas() {
        let moves = ["place b3 E", "place b2 NW"].map(str::to_owned).to_vec();
        let file = "\u{feff}# the first\n\n  place b3 E, place b2 NW  \r\nplace b3 E,place b2 NW";
        assert_eq!(read(file), [(3, moves.clone()), (4, moves)]);
        assert_eq!(read("# nothing\n\n"), []);
    }

    #[test]
    fn any_bytes_can_be_read() {
        assert_eq!(read(b"\xff,\0\n"), [(1, vec!["\u{fffd}".to_owned(), "\0".to_owned()])]);
    }
}
