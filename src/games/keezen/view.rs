//! The view of a position for a viewer: JSON and text.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::Keezen;
use super::board::{PAWNS, SIDE, Spot};
use super::cards::Rank;
use crate::core::{Game, Turn, Viewer};

/// The view of a seat or a spectator. Views differ only in the hands.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    game: &'a Keezen,
    viewer: Viewer,
}

impl<'a> View<'a> {
    pub(super) fn of(game: &'a Keezen, viewer: Viewer) -> View<'a> {
        View { game, viewer }
    }
}

/// Serializes an iterator as a list.
struct List<I>(I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for List<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// Serializes an iterator as an object.
struct Object<I>(I);

impl<K: Serialize, V: Serialize, I: Iterator<Item = (K, V)> + Clone> Serialize for Object<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

/// The place of a pawn.
#[derive(Clone, Copy)]
struct Pawn(Option<Spot>);

impl Serialize for Pawn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(spot) => serializer.collect_str(&spot),
            None => serializer.serialize_str("base"),
        }
    }
}

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let View { game: Keezen { position, cycle, .. }, viewer } = *self;
        let board = position.board();
        let hands = position.hands().iter();
        let hand = hands.clone().find(|&(seat, _)| viewer == Viewer::Seat(seat)).map(|(_, hand)| hand);
        let others =
            hands.clone().filter(|&(seat, _)| viewer != Viewer::Seat(seat) && position.shows(seat, viewer));
        let pawns = board.all().map(|seat| List(board.pawns(seat).map(Pawn)));

        let mut view = serializer.serialize_struct("View", 12)?;
        view.serialize_field("to_move", &List(position.to_move.iter()))?;
        view.serialize_field("track", &board.track())?;
        view.serialize_field("starts", &List(board.all().map(|seat| board.start_of(seat))))?;
        view.serialize_field("pawns", &List(pawns))?;
        view.serialize_field("hand", &hand)?;
        view.serialize_field("hands", &Object(others))?;
        view.serialize_field("cards", &List(hands.map(|(_, hand)| hand.len())))?;
        view.serialize_field("dealer", &position.dealer)?;
        view.serialize_field("cycle", cycle)?;
        view.serialize_field("deal", &position.deal)?;
        view.serialize_field("pile", position.pile())?;
        view.serialize_field("playing_for", &position.to_move.map(|seat| board.played_by(seat)))?;
        view.end()
    }
}

/// Writes cards separated by spaces.
fn write_cards(cards: &[Rank], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    cards.iter().try_for_each(|card| write!(f, " {card}"))
}

/// Writes the track, one side of the board per row, with the starts in brackets; below it the state of each seat,
/// the pile, and the seat to move.
pub(super) fn draw(game: &Keezen, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Keezen { position, cycle, .. } = game;
    let board = position.board();
    f.write_str("    ")?;
    (0..SIDE).try_for_each(|column| write!(f, " {column:2}"))?;
    writeln!(f)?;
    for row in (0..board.track()).step_by(SIDE.into()) {
        write!(f, "{row:2} |")?;
        for square in row..row + SIDE {
            let is_start = board.all().any(|seat| board.start_of(seat) == square);
            let [left, right] = if is_start { ['[', ']'] } else { [' ', ' '] };
            match board.on(Spot::Track(square)) {
                Some((seat, _)) => write!(f, "{left}{seat}{right}")?,
                None => write!(f, "{left}.{right}")?,
            }
        }
        writeln!(f, "|")?;
    }
    for (seat, hand) in position.hands().iter() {
        let base = board.pawns(seat).filter(Option::is_none).count();
        write!(f, "seat {seat}: base {base}, home ")?;
        for square in 0..PAWNS as u8 {
            let pawn = board.on(Spot::Home(seat, square));
            f.write_str(if pawn.is_some() { "o" } else { "." })?;
        }
        write!(f, ", cards {}", hand.len())?;
        if position.shows(seat, viewer) && !hand.is_empty() {
            f.write_str(":")?;
            write_cards(hand.cards(), f)?;
        }
        writeln!(f)?;
    }
    f.write_str("pile:")?;
    write_cards(position.pile(), f)?;
    writeln!(f, "\ncycle {cycle}, deal {}, dealer {}", position.deal, position.dealer)?;
    match (game.turn(), position.to_move) {
        (Turn::Over(outcome), _) => writeln!(f, "over: {}", outcome.reason),
        (_, Some(seat)) => {
            write!(f, "seat {seat} to move")?;
            let own = board.played_by(seat);
            if own != seat {
                write!(f, " with the pawns of seat {own}")?;
            }
            writeln!(f)
        }
        (_, None) => writeln!(f, "seat {} to deal", position.dealer),
    }
}
