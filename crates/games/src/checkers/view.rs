//! The view of a position, which is the same for all viewers: JSON and text.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use super::Checkers;
use super::board::{Board, Colour, bit, place, squares};
use referee_game::{Seat, json};

/// The position, as every seat and spectator sees it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct View {
    /// The seat to move; empty when the game is over.
    #[serde(serialize_with = "as_list")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Seat>", length(max = 1)))]
    to_move: Option<Seat>,
    board: Letters,
    fen: Board,
    /// Consecutive plies without capture or crowning.
    quiet_plies: u32,
}

impl View {
    pub(super) fn of(position: &Checkers) -> View {
        let board = position.board;
        View {
            to_move: position.outcome().is_none().then(|| board.to_move.seat()),
            board: Letters(board),
            fen: board,
            quiet_plies: position.quiet_plies,
        }
    }

    /// Appends the same JSON as `Serialize`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"to_move\":[");
        out.extend(self.to_move.map(|seat| b'0' + seat.0));
        out.extend_from_slice(b"],\"board\":\"");
        out.extend_from_slice(&self.board.0.letters());
        out.extend_from_slice(b"\",\"fen\":\"");
        out.extend_from_slice(self.fen.fen().as_bytes());
        out.extend_from_slice(b"\",\"quiet_plies\":");
        json::decimal(out, self.quiet_plies.into());
        out.push(b'}');
    }
}

fn as_list<S: Serializer>(seat: &Option<Seat>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(seat)
}

/// A deserialized view. Its FEN contains everything except the count of quiet plies.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Seen {
    /// The pieces and the side to move.
    #[serde(rename = "fen")]
    pub board: Board,
    /// Consecutive plies without capture or crowning.
    pub quiet_plies: u32,
}

/// The board with one character per square: `b` `w` men, `B` `W` kings, `.` empty.
#[derive(Debug)]
pub(super) struct Letters(Board);

impl Board {
    fn letters(&self) -> [u8; 32] {
        let mut letters = [b'.'; 32];
        for (colour, man, king) in [(Colour::Black, b'b', b'B'), (Colour::White, b'w', b'W')] {
            for square in squares(self.pieces(colour)) {
                letters[square as usize] = if self.kings & bit(place(square)) == 0 { man } else { king };
            }
        }
        letters
    }
}

impl Serialize for Letters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(
            std::str::from_utf8(&self.0.letters()).unwrap_or_else(|_| unreachable!("letters are ASCII")),
        )
    }
}

/// Writes the board with White at the bottom. Empty squares show their numbers, the edges the first and the last
/// number of each row.
pub(super) fn draw(position: &Checkers, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let board = position.board;
    let letters = board.letters();
    for row in 0..8 {
        let first = 4 * row;
        write!(f, "{:>2} |", first + 1)?;
        for square in first..first + 4 {
            let piece = match letters[square as usize] {
                b'.' => (square + 1).to_string(),
                letter => char::from(letter).to_string(),
            };
            if row % 2 == 0 {
                write!(f, "   {piece:>3}")?;
            } else {
                write!(f, "{piece:>3}   ")?;
            }
        }
        writeln!(f, " | {}", first + 4)?;
    }
    match position.outcome() {
        None => write!(f, "{} to move", board.to_move)?,
        Some(outcome) => write!(f, "over: {}", outcome.reason)?,
    }
    if position.quiet_plies > 0 {
        write!(f, ", quiet plies: {}", position.quiet_plies)?;
    }
    writeln!(f)
}
