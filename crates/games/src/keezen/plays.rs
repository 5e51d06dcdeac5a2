//! Generates and makes the plays of a card on the board.

use std::ops::ControlFlow;

use super::board::{Board, PAWNS, Place, Route, Square};
use super::cards::Rank;
use super::moves::{Move, SEVEN};
use referee_game::Seat;

/// Steps of a four, backward.
const FOUR: u8 = 4;

/// A function that is called for each play until it breaks.
trait PlayVisitor: FnMut(Move) -> ControlFlow<()> {}

impl<F: FnMut(Move) -> ControlFlow<()>> PlayVisitor for F {}

/// The plays of a seat in a position of the pawns, by card.
pub(super) struct Plays<'a> {
    board: &'a Board,
    seat: Seat,
    /// The seat whose pawns it plays.
    own: Seat,
    route: Route,
}

impl Plays<'_> {
    pub(super) fn of(board: &Board, seat: Seat) -> Plays<'_> {
        let own = board.played_by(seat);
        Plays { board, seat, own, route: board.route(own) }
    }

    /// Returns whether the seat could play a card of this rank.
    pub(super) fn include(&self, card: Rank) -> bool {
        self.each(card, &mut |_| ControlFlow::Break(())).is_break()
    }

    /// Appends all plays with a card of this rank, each once.
    pub(super) fn append(&self, card: Rank, out: &mut Vec<Move>) {
        let _ = self.each(card, &mut |mv| {
            out.push(mv);
            ControlFlow::Continue(())
        });
    }

    fn each(&self, card: Rank, see: &mut impl PlayVisitor) -> ControlFlow<()> {
        match card {
            Rank::Jack => return self.swaps(see),
            Rank::Four => return self.backward(see),
            // K6
            Rank::King if !self.board.has_base_pawn(self.seat) => {
                return self
                    .board
                    .partner(self.seat)
                    .map_or(ControlFlow::Continue(()), |partner| self.entry(partner, card, see));
            }
            Rank::King | Rank::Ace => self.entry(self.own, card, see)?,
            Rank::Seven => self.splits(see)?,
            _ => {}
        }
        card.forward().map_or(ControlFlow::Continue(()), |steps| self.forward(card, steps, see))
    }

    /// Moves a pawn to its start, unless a pawn of the same seat is there (K2).
    fn entry(&self, owner: Seat, card: Rank, see: &mut impl PlayVisitor) -> ControlFlow<()> {
        if self.board.has_base_pawn(owner) && !self.board.holds_start(owner) {
            see(Move::Enter { card, partner: Some(owner).filter(|&owner| owner != self.seat) })?;
        }
        ControlFlow::Continue(())
    }

    fn forward(&self, card: Rank, steps: u8, see: &mut impl PlayVisitor) -> ControlFlow<()> {
        let Plays { board, own, route, .. } = *self;
        board
            .ways(own)
            .filter(|&way| route.room(way) >= steps)
            .try_for_each(|way| see(Move::Go { card, pawn: board.square(own, way) }))
    }

    fn backward(&self, see: &mut impl PlayVisitor) -> ControlFlow<()> {
        let Plays { board, own, route, .. } = *self;
        board
            .ways(own)
            .filter(|&way| way < board.track() && route.is_open_behind(way, FOUR))
            .try_for_each(|way| see(Move::Go { card: Rank::Four, pawn: board.square(own, way) }))
    }

    /// K5. Generates splits without making the first leg: a pawn's range is a number, and the first leg only frees
    /// the square that it leaves and blocks a home square that it enters.
    fn splits(&self, see: &mut impl PlayVisitor) -> ControlFlow<()> {
        let Plays { board, seat, own, route } = *self;
        let lacks_one = own == seat && board.home(own) == PAWNS - 1;
        let partner = board.partner(seat).filter(|_| lacks_one);
        let partner = partner.map(|partner| (partner, board.route(partner)));
        for from in board.ways(own) {
            let first = board.square(own, from);
            for steps in 1..=route.room(from).min(SEVEN - 1) {
                let (to, rest) = (from + steps, SEVEN - steps);
                let after = route.after(from, to);
                // The first leg captures a pawn on its destination.
                let others = board.ways(own).filter(|&way| way != from && way != to);
                others
                    .filter(|&way| after.room(way) >= rest)
                    .try_for_each(|way| see(Move::Split { first, steps, second: board.square(own, way) }))?;
                if let Some((partner, route)) =
                    partner.filter(|_| from < board.track() && to >= board.track())
                {
                    board.ways(partner).filter(|&way| route.room(way) >= rest).try_for_each(|way| {
                        see(Move::Split { first, steps, second: board.square(partner, way) })
                    })?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// K4
    fn swaps(&self, see: &mut impl PlayVisitor) -> ControlFlow<()> {
        let Plays { board, own, .. } = *self;
        let square = |seat, way| match board.square(seat, way) {
            Square::Track(square) | Square::Home(_, square) => square,
        };
        for way in board.exposed(own) {
            for other in board.all().filter(|&other| other != own) {
                board.exposed(other).try_for_each(|theirs| {
                    see(Move::Swap { own: square(own, way), other: square(other, theirs) })
                })?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Board {
    pub(super) fn play(&mut self, seat: Seat, mv: Move) {
        match mv {
            Move::Enter { partner, .. } => {
                self.go(partner.unwrap_or(seat), Place::BASE, 0);
            }
            Move::Go { card, pawn } => self.step(seat, pawn, |way, track| match card.forward() {
                Some(steps) => way + steps,
                None if way < FOUR => way + track - FOUR,
                None => way - FOUR,
            }),
            Move::Split { first, steps, second } => {
                self.step(seat, first, |way, _| way + steps);
                self.step(seat, second, |way, _| way + SEVEN - steps);
            }
            Move::Swap { own, other } => {
                let squares = [own, other].map(Square::Track);
                if let [Some((one, way)), Some((two, their_way))] = squares.map(|square| self.on(square)) {
                    self.put(one, Place::on_way(way), Place::on_way(self.way_to(one, other)));
                    self.put(two, Place::on_way(their_way), Place::on_way(self.way_to(two, own)));
                }
            }
        }
    }

    /// Moves the pawn on this square, which belongs to the seat or its partner, to another square of its way.
    fn step(&mut self, seat: Seat, pawn: Square, to: impl FnOnce(u8, u8) -> u8) {
        let team = [Some(seat), self.partner(seat)];
        if let Some((owner, way)) = team.into_iter().flatten().find_map(|owner| self.owns(owner, pawn)) {
            self.go(owner, Place::on_way(way), to(way, self.track()));
        }
    }

    /// Moves a pawn. A pawn on its destination returns to its base.
    fn go(&mut self, owner: Seat, from: Place, to: u8) {
        if let Some((other, way)) = self.on(self.square(owner, to)) {
            self.put(other, Place::on_way(way), Place::BASE);
        }
        self.put(owner, from, Place::on_way(to));
    }
}
