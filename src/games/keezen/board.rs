//! The board: places of pawns, and what blocks them.

use std::fmt;
use std::str::FromStr;

use crate::core::{MAX_SEATS, Outcome, Seat};

/// Number of pawns of a seat, and of squares of its home.
pub(super) const PAWNS: usize = 4;
/// Track squares per seat (K1).
pub(super) const SIDE: u8 = 16;
/// Number of track squares on the largest board.
const LONGEST: u8 = SIDE * MAX_SEATS as u8;

/// A square in absolute coordinates. Its text form is `t17` for the track, `h0.1` for a home.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spot {
    /// A square of the track, 0 to 63 or 95.
    Track(u8),
    /// A square of a seat's home, 0 to 3.
    Home(Seat, u8),
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spot::Track(square) => write!(f, "t{square}"),
            Spot::Home(seat, square) => write!(f, "h{seat}.{square}"),
        }
    }
}

impl fmt::Debug for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text is not a square of any board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a square is `t17` (on the track) or `h0.1` (in the home of seat 0)")]
pub struct BadSpot;

/// Parses a number from 0 to `below - 1`, without sign or leading zero.
pub(super) fn number(text: &str, below: u8) -> Option<u8> {
    let is_plain = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|&number| is_plain && number < below)
}

impl FromStr for Spot {
    type Err = BadSpot;

    fn from_str(text: &str) -> Result<Spot, BadSpot> {
        let read = || {
            if let Some(square) = text.strip_prefix('t') {
                return number(square, LONGEST).map(Spot::Track);
            }
            let (seat, square) = text.strip_prefix('h')?.split_once('.')?;
            Some(Spot::Home(Seat(number(seat, MAX_SEATS as u8)?), number(square, PAWNS as u8)?))
        };
        read().ok_or(BadSpot)
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

/// The way of a seat: one bit per square that its pawns may neither pass nor enter, and one beyond the last square.
#[derive(Clone, Copy)]
pub(super) struct Route {
    closed: u128,
    track: u8,
}

impl Route {
    /// The maximum number of squares that a pawn here can move forward. All smaller numbers are possible too.
    pub(super) const fn room(self, way: u8) -> u8 {
        (self.closed >> (way + 1)).trailing_zeros() as u8
    }

    /// Whether a pawn on this track square can move this many squares backward.
    pub(super) fn is_open_behind(self, way: u8, steps: u8) -> bool {
        (1..=steps).all(|step| self.closed >> ((way + self.track - step) % self.track) & 1 == 0)
    }

    /// The lane after one of the seat's pawns has moved forward.
    pub(super) const fn after(self, from: u8, to: u8) -> Route {
        let closed = self.closed & !(1 << from) | ((to >= self.track) as u128) << to;
        Route { closed, ..self }
    }
}

/// The pawns of all seats.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Board {
    seats: u8,
    /// The pawns of each seat, sorted.
    pawns: [[Place; PAWNS]; MAX_SEATS],
}

impl Board {
    /// All pawns in their bases. `seats` is 2, 4 or 6.
    pub(super) const fn new(seats: u8) -> Board {
        Board { seats, pawns: [[Place::BASE; PAWNS]; MAX_SEATS] }
    }

    /// The number of seats.
    pub const fn seats(&self) -> u8 {
        self.seats
    }

    /// The number of sides: two seats play against each other, more play in teams of two.
    const fn sides(&self) -> u8 {
        if self.seats == 2 { 2 } else { self.seats / 2 }
    }

    /// All seats in order.
    pub(super) fn all(&self) -> impl Iterator<Item = Seat> + Clone + use<> {
        (0..self.seats).map(Seat)
    }

    /// The seat this many places to the left.
    pub(super) const fn left_of(&self, seat: Seat, places: u8) -> Seat {
        Seat((seat.0 + places) % self.seats)
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
        self.track() / self.seats * seat.0
    }

    /// The distance of a track square along a seat's way.
    pub(super) fn way_to(&self, seat: Seat, square: u8) -> u8 {
        (square + self.track() - self.start_of(seat)) % self.track()
    }

    /// The square at this distance along a seat's way.
    pub(super) fn spot(&self, seat: Seat, way: u8) -> Spot {
        match way.checked_sub(self.track()) {
            None => Spot::Track((self.start_of(seat) + way) % self.track()),
            Some(square) => Spot::Home(seat, square),
        }
    }

    /// The distance of a square along a seat's way; `None` for another seat's home or a square off this board.
    fn way(&self, seat: Seat, spot: Spot) -> Option<u8> {
        match spot {
            Spot::Track(square) => (square < self.track()).then(|| self.way_to(seat, square)),
            Spot::Home(owner, square) => (owner == seat).then(|| self.track() + square),
        }
    }

    pub(super) const fn places(&self, seat: Seat) -> &[Place; PAWNS] {
        &self.pawns[seat.index()]
    }

    /// The squares of a seat's pawns, sorted: `None` for the base first, then the track by distance, then the home.
    pub fn pawns(&self, seat: Seat) -> impl Iterator<Item = Option<Spot>> + Clone {
        self.places(seat).iter().map(move |place| place.way().map(|way| self.spot(seat, way)))
    }

    /// The distances of a seat's pawns outside the base, smallest first.
    pub(super) fn ways(&self, seat: Seat) -> impl Iterator<Item = u8> {
        self.places(seat).iter().filter_map(|place| place.way())
    }

    /// The same for pawns on the track that are not safe on their start.
    pub(super) fn exposed(&self, seat: Seat) -> impl Iterator<Item = u8> {
        self.ways(seat).filter(|way| (1..self.track()).contains(way))
    }

    pub(super) const fn has_base_pawn(&self, seat: Seat) -> bool {
        self.places(seat)[0].way().is_none()
    }

    /// Whether a pawn of the seat stands on its own start.
    pub(super) fn holds_start(&self, seat: Seat) -> bool {
        self.places(seat).contains(&Place::START)
    }

    /// The number of the seat's pawns in its home, 0 to 4.
    pub fn home(&self, seat: Seat) -> usize {
        self.ways(seat).filter(|&way| way >= self.track()).count()
    }

    /// Whether all pawns of the seat are in its home.
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
            |side: u8| self.all().filter(|seat| seat.0 % self.sides() == side).all(|seat| self.is_home(seat));
        let side = (0..self.sides()).find(|&side| is_home(side))?;
        Some(Outcome::win(side.into(), "home"))
    }

    /// The squares that block a seat's pawns: pawns on their own start on the track, its own pawns in the home.
    pub(super) fn lane(&self, seat: Seat) -> Route {
        let track = self.track();
        let safe = self.all().filter(|&other| self.holds_start(other));
        let safe = safe.map(|other| self.way_to(seat, self.start_of(other)));
        let home = self.ways(seat).filter(|&way| way >= track);
        let beyond = track + PAWNS as u8;
        let closed = safe.chain(home).chain([beyond]).fold(0, |closed, way| closed | 1 << way);
        Route { closed, track }
    }

    /// The owner of the pawn on a square, and its distance along the owner's way.
    pub(super) fn on(&self, spot: Spot) -> Option<(Seat, u8)> {
        self.all().find_map(|seat| {
            let way = self.way(seat, spot)?;
            self.places(seat).contains(&Place::on_way(way)).then_some((seat, way))
        })
    }

    /// Moves one of a seat's pawns, without captures.
    pub(super) fn put(&mut self, seat: Seat, from: Place, to: Place) {
        let pawns = &mut self.pawns[seat.index()];
        if let Some(pawn) = pawns.iter_mut().find(|place| **place == from) {
            *pawn = to;
            pawns.sort_unstable();
        }
    }

    /// Moves a pawn of the seat from its base to this square.
    ///
    /// Returns false if the base is empty, or the square is occupied or unreachable for the seat's pawns.
    pub(super) fn set_up(&mut self, seat: Seat, spot: Spot) -> bool {
        let way = self.way(seat, spot).filter(|_| self.on(spot).is_none() && self.has_base_pawn(seat));
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
