//! The board: places of pawns, and obstacles.

use std::fmt;
use std::str::FromStr;

use referee_game::{MAX_SEATS, Outcome, Seat, Wrong};

/// Number of pawns of a seat, and of squares of its home.
pub(super) const PAWNS: usize = 4;
/// Track squares per seat (K1).
pub(super) const SIDE: u8 = 16;
/// Number of track squares on the largest board.
const LONGEST: u8 = SIDE * MAX_SEATS as u8;

/// A square in absolute coordinates. Its text form is `t17` for the track, `h0.1` for a home.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Square {
    /// A square of the track: 0 to 63, with six seats 0 to 95.
    Track(u8),
    /// A square of a seat's home, 0 to 3.
    Home(Seat, u8),
}

pub(super) fn spell_number(number: u8, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_str(itoa::Buffer::new().format(number))
}

impl Square {
    /// Writes the text form, much faster than through a formatter.
    pub(super) fn spell(self, out: &mut impl fmt::Write) -> fmt::Result {
        match self {
            Square::Track(square) => {
                out.write_char('t')?;
                spell_number(square, out)
            }
            Square::Home(Seat(seat), square) => {
                out.write_char('h')?;
                spell_number(seat, out)?;
                out.write_char('.')?;
                spell_number(square, out)
            }
        }
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spell(f)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Parses a number from 0 to `below - 1`, without sign or leading zero.
pub(super) fn number(text: &str, below: u8) -> Option<u8> {
    let is_plain = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|&number| is_plain && number < below)
}

impl FromStr for Square {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Square, Wrong> {
        let read = || {
            if let Some(square) = text.strip_prefix('t') {
                return number(square, LONGEST).map(Square::Track);
            }
            let (seat, square) = text.strip_prefix('h')?.split_once('.')?;
            Some(Square::Home(Seat(number(seat, MAX_SEATS as u8)?), number(square, PAWNS as u8)?))
        };
        read()
            .ok_or_else(|| Wrong::from("a square is `t17` (on the track) or `h0.1` (in the home of seat 0)"))
    }
}

/// The place of a pawn relative to its seat: in the base, or a distance along its way. Ordered base, track, home.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place(u8);

impl Place {
    pub(super) const BASE: Place = Place(0);
    /// The pawn's start, the only place on the track where it is safe.
    pub(super) const START: Place = Place::on_way(0);

    /// The distance of a place: 0 at the start; the home follows the last track square.
    pub(super) const fn on_way(way: u8) -> Place {
        Place(way + 1)
    }

    /// The distance along the way; `None` in the base.
    pub(super) const fn way(self) -> Option<u8> {
        self.0.checked_sub(1)
    }
}

/// `number` modulo `length`, for numbers below twice the length: much faster than a division.
const fn wrapped(number: u8, length: u8) -> u8 {
    if number < length { number } else { number - length }
}

/// The way of a seat, and where it is blocked.
///
/// Only some squares of a way can be closed: those of the starts, which are 16 or 32 apart, and the home. They and the
/// edge of the board beyond the home are its *stops*, numbered in the order of the way: one each 16 squares, then the
/// squares of the home, then the edge.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Route {
    /// The stops that pawns may neither pass nor enter, as a set.
    closed: u16,
    track: u8,
}

impl Route {
    /// The number of the stop on this square, or of the last one before it.
    const fn stop(self, way: u8) -> u8 {
        if way < self.track { way / SIDE } else { self.track / SIDE + (way - self.track) }
    }

    /// The maximum number of squares that a pawn here can move forward. All smaller numbers are possible too.
    pub(super) const fn room(self, way: u8) -> u8 {
        let after = self.stop(way) + 1;
        let next = after + (self.closed >> after).trailing_zeros() as u8;
        let home = self.track / SIDE;
        let end = if next < home { next * SIDE } else { self.track + (next - home) };
        end - way - 1
    }

    /// Returns whether a pawn on this track square can move this many squares backward, at most 16.
    pub(super) const fn is_open_behind(self, way: u8, steps: u8) -> bool {
        let behind = if way == 0 { self.track - 1 } else { way - 1 };
        // The last stop is among the squares if it is near enough.
        behind % SIDE >= steps || self.closed >> (behind / SIDE) & 1 == 0
    }

    /// The route after one of the seat's pawns has moved forward.
    pub(super) const fn after(mut self, from: u8, to: u8) -> Route {
        if from >= self.track || from.is_multiple_of(SIDE) {
            self.closed &= !(1 << self.stop(from));
        }
        if to >= self.track {
            self.closed |= 1 << self.stop(to);
        }
        self
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Board {
    seats: u8,
    /// The pawns of each seat, sorted.
    pawns: [[Place; PAWNS]; MAX_SEATS],
}

impl Board {
    /// Returns the board with all pawns in their bases. `seats` is 2, 4 or 6.
    pub(super) const fn new(seats: u8) -> Board {
        Board { seats, pawns: [[Place::BASE; PAWNS]; MAX_SEATS] }
    }

    pub const fn seats(&self) -> u8 {
        self.seats
    }

    /// The number of sides: two seats play against each other, more play in teams of two.
    const fn sides(&self) -> u8 {
        if self.seats == 2 { 2 } else { self.seats / 2 }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Seat> + Clone + use<> {
        (0..self.seats).map(Seat)
    }

    /// The seat this many places to the left.
    /// `places` is at most the number of seats.
    pub(super) const fn left_of(&self, seat: Seat, places: u8) -> Seat {
        Seat(wrapped(seat.0 + places, self.seats))
    }

    /// The partner of a seat; `None` with two seats.
    pub fn partner(&self, seat: Seat) -> Option<Seat> {
        (self.sides() < self.seats).then(|| self.left_of(seat, self.sides()))
    }

    /// The number of track squares: 64, or 96 with six seats.
    pub const fn track(&self) -> u8 {
        if self.seats == 6 { 6 * SIDE } else { 4 * SIDE }
    }

    /// The start square of a seat, on the track.
    pub const fn start_of(&self, seat: Seat) -> u8 {
        self.apart() * seat.0
    }

    /// The distance between two starts.
    const fn apart(&self) -> u8 {
        if self.seats == 2 { 2 * SIDE } else { SIDE }
    }

    /// The distance of a track square along a seat's way.
    pub(super) const fn way_to(&self, seat: Seat, square: u8) -> u8 {
        wrapped(square + self.track() - self.start_of(seat), self.track())
    }

    /// The square at this distance along a seat's way.
    pub(super) fn square(&self, seat: Seat, way: u8) -> Square {
        match way.checked_sub(self.track()) {
            None => Square::Track(wrapped(self.start_of(seat) + way, self.track())),
            Some(square) => Square::Home(seat, square),
        }
    }

    /// The distance of a square along a seat's way; `None` for another seat's home or a square off this board.
    fn way(&self, seat: Seat, square: Square) -> Option<u8> {
        match square {
            Square::Track(square) => (square < self.track()).then(|| self.way_to(seat, square)),
            Square::Home(owner, square) => (owner == seat).then(|| self.track() + square),
        }
    }

    pub(super) const fn places(&self, seat: Seat) -> &[Place; PAWNS] {
        &self.pawns[seat.index()]
    }

    /// The squares of a seat's pawns, sorted: `None` for the base first, then the track by distance, then the home.
    pub fn pawns(&self, seat: Seat) -> impl Iterator<Item = Option<Square>> + Clone {
        self.places(seat).iter().map(move |place| place.way().map(|way| self.square(seat, way)))
    }

    /// The distances of a seat's pawns outside the base, smallest first.
    pub(super) fn ways(&self, seat: Seat) -> impl Iterator<Item = u8> {
        self.places(seat).iter().filter_map(|place| place.way())
    }

    /// The distances of a seat's pawns on the track that are not safe on their start, smallest first.
    pub(super) fn exposed(&self, seat: Seat) -> impl Iterator<Item = u8> {
        self.ways(seat).filter(|way| (1..self.track()).contains(way))
    }

    pub(super) const fn has_base_pawn(&self, seat: Seat) -> bool {
        self.places(seat)[0].way().is_none()
    }

    /// Returns whether a pawn of the seat is at this place. Compares all four, which is faster than to stop
    /// at the first.
    fn has_on(&self, seat: Seat, place: Place) -> bool {
        self.places(seat).iter().fold(false, |found, &pawn| found | (pawn == place))
    }

    /// Returns whether a pawn of the seat stands on its own start.
    pub(super) fn holds_start(&self, seat: Seat) -> bool {
        self.has_on(seat, Place::START)
    }

    /// The number of the seat's pawns in its home, 0 to 4.
    pub fn home(&self, seat: Seat) -> usize {
        self.ways(seat).filter(|&way| way >= self.track()).count()
    }

    /// Returns whether all pawns of the seat are in its home.
    pub fn is_home(&self, seat: Seat) -> bool {
        self.places(seat)[0] > Place::on_way(self.track() - 1)
    }

    /// The seat whose pawns a seat plays: itself, or its partner when all own pawns are home.
    pub fn played_by(&self, seat: Seat) -> Seat {
        self.partner(seat).filter(|_| self.is_home(seat)).unwrap_or(seat)
    }

    /// The side whose pawns are all home, which wins.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        let is_home =
            |side: Seat| self.is_home(side) && self.partner(side).is_none_or(|partner| self.is_home(partner));
        let Seat(side) = self.all().take(self.sides().into()).find(|&side| is_home(side))?;
        Some(Outcome::win(side.into(), "home"))
    }

    /// The squares that block a seat's pawns: pawns on their own start on the track, its own pawns in the home.
    pub(super) fn route(&self, seat: Seat) -> Route {
        let track = self.track();
        let beyond = track / SIDE + PAWNS as u8;
        let mut route = Route { closed: 1 << beyond, track };
        // The starts follow each other in the order of the seats. All seats of the largest board, as a constant number is
        // faster: the others have no pawns outside the base.
        let apart = self.apart() / SIDE;
        let held = (0..MAX_SEATS as u8)
            .fold(0u16, |held, seat| held | u16::from(self.holds_start(Seat(seat))) << (seat * apart));
        let (own, all) = (seat.0 * apart, self.seats * apart);
        route.closed |= held >> own | (held << (all - own)) & ((1 << all) - 1);
        for way in self.ways(seat).filter(|&way| way >= track) {
            route.closed |= 1 << route.stop(way);
        }
        route
    }

    /// The owner of the pawn on a square, and its distance along the owner's way.
    pub(super) fn on(&self, square: Square) -> Option<(Seat, u8)> {
        self.all().find_map(|seat| self.owns(seat, square))
    }

    /// The seat and the distance along its way, if the seat has a pawn on the square.
    pub(super) fn owns(&self, seat: Seat, square: Square) -> Option<(Seat, u8)> {
        let way = self.way(seat, square)?;
        self.has_on(seat, Place::on_way(way)).then_some((seat, way))
    }

    /// Moves one of a seat's pawns, without captures.
    pub(super) fn put(&mut self, seat: Seat, from: Place, to: Place) {
        let pawns = &mut self.pawns[seat.index()];
        if let Some(mut at) = pawns.iter().position(|&place| place == from) {
            pawns[at] = to;
            // Only this pawn is out of order.
            while at + 1 < PAWNS && pawns[at] > pawns[at + 1] {
                pawns.swap(at, at + 1);
                at += 1;
            }
            while at > 0 && pawns[at - 1] > pawns[at] {
                pawns.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    /// Moves a pawn of the seat from its base to this square.
    ///
    /// Returns false if the base is empty, or the square is occupied or unreachable for the seat's pawns.
    pub(super) fn set_up(&mut self, seat: Seat, square: Square) -> bool {
        let way = self.way(seat, square).filter(|_| self.on(square).is_none() && self.has_base_pawn(seat));
        if let Some(way) = way {
            self.put(seat, Place::BASE, Place::on_way(way));
        }
        way.is_some()
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all().map(|seat| self.pawns(seat).collect::<Vec<_>>())).finish()
    }
}
