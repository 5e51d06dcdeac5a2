//! The view of a position for a viewer: JSON and text.

use std::fmt;

use serde::{Serialize, Serializer};

use super::Keezen;
use super::board::{Board, PAWNS, SIDE, Square};
use super::cards::{Hand, Rank};
use super::hands::Hands;
use super::position::Position;
use referee_game::{Game, Seat, Turn, Viewer};

/// The position as a seat or a spectator may see it. Views differ only in the hands.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct View<'a> {
    /// The seat to move; empty before the deck is shuffled and when the game is over.
    #[serde(serialize_with = "write_seat")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Seat>", length(max = 1)))]
    to_move: Option<Seat>,
    /// The number of squares of the track: 64, or 96 with 6 seats.
    #[cfg_attr(feature = "schema", schemars(range(min = 64, max = 96)))]
    track: u8,
    /// The start of each seat, a square of the track.
    #[serde(serialize_with = "write_starts")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<u8>", length(min = 2, max = 6), inner(range(max = 80)))
    )]
    starts: &'a Board,
    /// The pawns of each seat: first those in the base, then those on the track in order of progress, then those in the
    /// home.
    #[serde(serialize_with = "write_pawns")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<[Pawn; PAWNS]>", length(min = 2, max = 6)))]
    pawns: &'a Board,
    /// The viewer's own cards; `null` for spectators.
    hand: Option<Hand>,
    /// The cards of other seats that the viewer may see, by seat (K8).
    #[cfg_attr(feature = "schema", schemars(with = "Hands"))]
    hands: OtherHands<'a>,
    /// The number of cards in each hand.
    #[serde(serialize_with = "write_counts")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<u8>", length(min = 2, max = 6), inner(range(max = 5)))
    )]
    cards: &'a Hands,
    /// The dealer of this cycle.
    dealer: Seat,
    /// The number of the deck cycle, from 0.
    cycle: u32,
    /// The round within the cycle.
    #[cfg_attr(feature = "schema", schemars(range(max = 2)))]
    deal: u8,
    /// The cards played and handed in during this cycle, in order.
    #[cfg_attr(feature = "schema", schemars(length(max = 78)))]
    pile: &'a [Rank],
    /// The seat whose pawns the seat to move plays; `null` when no seat is to move.
    playing_for: Option<Seat>,
}

impl<'a> View<'a> {
    pub(super) fn of(game: &'a Keezen, viewer: Viewer) -> View<'a> {
        let Keezen { position, cycle, .. } = game;
        let board = position.board();
        let own = position.hands().iter().find(|&(seat, _)| viewer == Viewer::Seat(seat));
        View {
            to_move: position.to_move,
            track: board.track(),
            starts: board,
            pawns: board,
            hand: own.map(|(_, hand)| hand),
            hands: OtherHands { position, viewer },
            cards: position.hands(),
            dealer: position.dealer,
            cycle: *cycle,
            deal: position.deal,
            pile: position.pile(),
            playing_for: position.to_move.map(|seat| board.played_by(seat)),
        }
    }
}

fn write_seat<S: Serializer>(seat: &Option<Seat>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(seat)
}

fn write_starts<S: Serializer>(board: &Board, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(board.all().map(|seat| board.start_of(seat)))
}

fn write_pawns<S: Serializer>(board: &Board, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(board.all().map(|seat| List(board.pawns(seat).map(Pawn))))
}

fn write_counts<S: Serializer>(hands: &Hands, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(hands.iter().map(|(_, hand)| hand.len()))
}

/// The hands of others that a viewer may see, as an object.
#[derive(Clone, Copy, Debug)]
struct OtherHands<'a> {
    position: &'a Position,
    viewer: Viewer,
}

impl Serialize for OtherHands<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OtherHands { position, viewer } = *self;
        let shown = |&(seat, _): &(Seat, Hand)| viewer != Viewer::Seat(seat) && position.shows(seat, viewer);
        serializer.collect_map(position.hands().iter().filter(shown))
    }
}

/// Serializes an iterator as a list.
struct List<I>(I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for List<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// The place of a pawn.
#[derive(Clone, Copy)]
pub(super) struct Pawn(Option<Square>);

impl Serialize for Pawn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(square) => serializer.collect_str(&square),
            None => serializer.serialize_str("base"),
        }
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
            match board.on(Square::Track(square)) {
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
            let pawn = board.on(Square::Home(seat, square));
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
