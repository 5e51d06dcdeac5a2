//! A game in progress, type-erased.

use std::fmt::{self, Debug};

use serde_json::value::RawValue;

use crate::chance::{Draw, Uniform};
use crate::erased::{MoveError, OpenDecision, RulesFailed};
use crate::game::{Meta, Turn};
use crate::outcome::{AmountRange, Outcome};
use crate::playout::playout_table;
use crate::scene::Scene;
use crate::seat::{Seat, Seating, Viewer};

/// A game in progress, type-erased.
///
/// # Panics
/// The methods that take a [`OpenDecision`] panic if it belongs to another position or another table, if the seat does not
/// decide in it, or if the index is not that of a legal move.
pub trait Table: Debug + Send {
    /// The static description of the game.
    fn meta(&self) -> &'static Meta;

    /// The options, with defaults filled in.
    fn options(&self) -> &RawValue;

    fn turn(&self) -> Turn;

    /// Turns until the turn limit, including this one; `None` without a limit.
    fn turns_left(&self) -> Option<u32>;

    /// The range of a side's amount; `None` in a game without amounts.
    fn amount_range(&self) -> Option<AmountRange> {
        None
    }

    /// The next thing that has to happen. If seats decide, generates their legal moves.
    fn ask(&mut self) -> Turn<Draw, OpenDecision>;

    /// Returns whether the legal moves of a seat are listed. If not, those that [`Table::find`] has found are
    /// its list.
    fn lists(&self, decision: &OpenDecision, seat: Seat) -> bool {
        let _ = (decision, seat);
        true
    }

    /// The number of legal moves of a seat.
    fn count(&self, decision: &OpenDecision, seat: Seat) -> usize;

    /// Writes the legal moves of a seat as a JSON array, sorted bytewise.
    fn write_legal(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>);

    /// Finds the legal move that a text denotes, as an index in the list. If legal moves are not listed, asks the rules, and
    /// adds it to the list.
    ///
    /// # Errors
    /// [`MoveError`]
    fn find(&mut self, decision: &OpenDecision, seat: Seat, text: &str) -> Result<usize, MoveError>;

    /// The text of a legal move.
    fn text(&self, decision: &OpenDecision, seat: Seat, index: usize) -> &str;

    /// Plays a legal move of each seat that decides, in seat order.
    ///
    /// # Errors
    /// When the rules fail. The position is then unchanged, and has no open decision.
    fn play(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed>;

    /// Plays moves as part of the opening: their events are marked `"opening":true`.
    ///
    /// # Errors
    /// As [`Table::play`].
    fn play_opening(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed>;

    /// Applies the numbers drawn, if [`Table::turn`] is a draw.
    ///
    /// # Errors
    /// When the rules fail. The position is then unchanged.
    fn settle(&mut self, drawn: &[u32]) -> Result<(), RulesFailed>;

    /// Copies the position to a new table, without events.
    fn fork(&self) -> Box<dyn Table>;

    /// Plays random moves in a copy until the game is over: see [`playout`](crate::playout::playout). By default, no move is avoided.
    ///
    /// # Errors
    /// When the rules fail.
    fn playout(&self, seating: Seating, rng: &mut dyn Uniform) -> Result<Option<Outcome>, RulesFailed> {
        let _ = seating;
        playout_table(self.fork(), rng)
    }

    /// The number of events since the last [`Table::forget`].
    fn event_count(&self) -> usize;

    /// Returns the event with this index if it is a move.
    fn move_made(&self, index: usize) -> Option<MoveMade<'_>>;

    /// Writes one of these events as a viewer may see it; nothing if the viewer does not see it.
    fn write_event(&self, index: usize, viewer: Viewer, out: &mut Vec<u8>);

    fn forget(&mut self);

    /// Writes the position as a seat that decides may see it.
    fn write_view(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>);

    /// Returns the position as a viewer may see it, as JSON.
    ///
    /// # Errors
    /// When the rules fail.
    fn view(&self, viewer: Viewer) -> Result<Vec<u8>, RulesFailed>;

    /// Writes the position as plain text for people. If the rules fail, the text says so.
    ///
    /// # Errors
    /// Only errors of the formatter.
    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Returns the position as shapes for pictures and replays, as a viewer may see it. If the rules fail, the scene says
    /// so.
    fn scene(&self, viewer: Viewer) -> Scene;

    /// Returns the places of a legal move: the ids of shapes of the seat's scene, in the order in which a person points at
    /// them. Empty if the move has none, or if the rules fail.
    fn places(&self, decision: &OpenDecision, seat: Seat, index: usize) -> Vec<String>;

    /// Returns the number of pieces, if tables of endgames may end a match in this position.
    fn endgame_pieces(&self) -> Option<u32> {
        None
    }

    /// Returns the outcome by the tables of endgames of the rules; the outer `None`: they have no tables.
    fn endgame(&self) -> Option<Option<Outcome>> {
        None
    }

    /// Returns whether its answers may wait for another process.
    fn waits(&self) -> bool {
        false
    }

    /// The number of times that its rules had to be asked again, which happens only to those of a program: a
    /// process failed, and another one answered.
    fn restarts(&self) -> u32 {
        0
    }
}

/// A move among the events of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveMade<'a> {
    pub seat: Seat,
    pub text: &'a str,
    /// Whether all viewers may see the move.
    pub is_open: bool,
    /// Whether the move belongs to the opening.
    pub is_opening: bool,
}

/// Displays a position as text for people.
#[derive(Debug)]
pub struct BoardText<'a>(pub &'a dyn Table, pub Viewer);

impl fmt::Display for BoardText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.draw_board(self.1, f)
    }
}

/// Writes the event of a move; without its text if the viewer may not see it. The text needs no escapes.
#[inline]
pub fn write_move_event(out: &mut Vec<u8>, seat: Seat, text: Option<&str>, is_opening: bool) {
    out.extend_from_slice(b"{\"kind\":\"move\",\"seat\":");
    out.push(b'0' + seat.0);
    match text {
        None => out.extend_from_slice(b",\"move\":null"),
        Some(text) => {
            out.extend_from_slice(b",\"move\":\"");
            out.extend_from_slice(text.as_bytes());
            out.push(b'"');
        }
    }
    out.extend_from_slice(if is_opening { b",\"opening\":true}" } else { b"}" });
}
