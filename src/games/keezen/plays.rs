//! Generates and makes the plays of a card on the board.

use std::ops::ControlFlow;

use super::board::{Board, PAWNS, Place, Spot};
use super::cards::Rank;
use super::moves::Move;
use crate::core::Seat;

/// Steps of a seven, forward.
pub(super) const SEVEN: u8 = 7;
/// Steps of a four, backward.
const FOUR: u8 = 4;

/// Called for each play until it breaks.
trait See: FnMut(Move) -> ControlFlow<()> {}

impl<F: FnMut(Move) -> ControlFlow<()>> See for F {}

impl Board {
    /// Whether a seat could play a card of this rank.
    pub(super) fn can_play(&self, seat: Seat, card: Rank) -> bool {
        self.each_play(seat, card, &mut |_| ControlFlow::Break(())).is_break()
    }

    /// Appends all plays of a seat with a card of this rank, each once.
    pub(super) fn plays(&self, seat: Seat, card: Rank, out: &mut Vec<Move>) {
        let _ = self.each_play(seat, card, &mut |mv| {
            out.push(mv);
            ControlFlow::Continue(())
        });
    }

    fn each_play(&self, seat: Seat, card: Rank, see: &mut impl See) -> ControlFlow<()> {
        let own = self.played_by(seat);
        match card {
            Rank::Jack => return self.swaps(own, see),
            Rank::Four => return self.backward(own, see),
            // K6
            Rank::King if !self.has_base_pawn(seat) => {
                return self
                    .partner(seat)
                    .map_or(ControlFlow::Continue(()), |partner| self.entry(seat, partner, card, see));
            }
            Rank::King | Rank::Ace => self.entry(seat, own, card, see)?,
            Rank::Seven => self.splits(seat, own, see)?,
            _ => {}
        }
        card.forward().map_or(ControlFlow::Continue(()), |steps| self.forward(own, card, steps, see))
    }

    /// Moves a pawn to its start, unless a pawn of the same seat is there (K2).
    fn entry(&self, seat: Seat, owner: Seat, card: Rank, see: &mut impl See) -> ControlFlow<()> {
        if self.has_base_pawn(owner) && !self.holds_start(owner) {
            see(Move::Enter { card, partner: Some(owner).filter(|&owner| owner != seat) })?;
        }
        ControlFlow::Continue(())
    }

    fn forward(&self, own: Seat, card: Rank, steps: u8, see: &mut impl See) -> ControlFlow<()> {
        let lane = self.lane(own);
        self.ways(own)
            .filter(|&way| lane.room(way) >= steps)
            .try_for_each(|way| see(Move::Go { card, pawn: self.spot(own, way) }))
    }

    fn backward(&self, own: Seat, see: &mut impl See) -> ControlFlow<()> {
        let lane = self.lane(own);
        self.ways(own)
            .filter(|&way| way < self.track() && lane.is_open_behind(way, FOUR))
            .try_for_each(|way| see(Move::Go { card: Rank::Four, pawn: self.spot(own, way) }))
    }

    /// K5. Generates splits without making the first leg: a pawn's range is a number, and the first leg only frees
    /// the square that it leaves and blocks a home square that it enters.
    fn splits(&self, seat: Seat, own: Seat, see: &mut impl See) -> ControlFlow<()> {
        let lane = self.lane(own);
        let lacks_one = own == seat && self.home(own) == PAWNS - 1;
        let partner = self.partner(seat).filter(|_| lacks_one);
        for from in self.ways(own) {
            let first = self.spot(own, from);
            for steps in 1..=lane.room(from).min(SEVEN - 1) {
                let (to, rest) = (from + steps, SEVEN - steps);
                let after = lane.after(from, to);
                // The first leg captures a pawn on its destination.
                let others = self.ways(own).filter(|&way| way != from && way != to);
                others
                    .filter(|&way| after.room(way) >= rest)
                    .try_for_each(|way| see(Move::Split { first, steps, second: self.spot(own, way) }))?;
                if let Some(partner) = partner.filter(|_| from < self.track() && to >= self.track()) {
                    let lane = self.lane(partner);
                    self.ways(partner).filter(|&way| lane.room(way) >= rest).try_for_each(|way| {
                        see(Move::Split { first, steps, second: self.spot(partner, way) })
                    })?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// K4
    fn swaps(&self, own: Seat, see: &mut impl See) -> ControlFlow<()> {
        let square = |seat, way| match self.spot(seat, way) {
            Spot::Track(square) | Spot::Home(_, square) => square,
        };
        for way in self.exposed(own) {
            for other in self.all().filter(|&other| other != own) {
                self.exposed(other).try_for_each(|theirs| {
                    see(Move::Swap { own: square(own, way), other: square(other, theirs) })
                })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Makes a legal play.
    pub(super) fn play(&mut self, seat: Seat, mv: Move) {
        match mv {
            Move::Enter { partner, .. } => {
                self.go(partner.unwrap_or(seat), Place::BASE, 0);
            }
            Move::Go { card, pawn } => self.step(pawn, |way, track| match card.forward() {
                Some(steps) => way + steps,
                None => (way + track - FOUR) % track,
            }),
            Move::Split { first, steps, second } => {
                self.step(first, |way, _| way + steps);
                self.step(second, |way, _| way + SEVEN - steps);
            }
            Move::Swap { own, other } => {
                let squares = [own, other].map(Spot::Track);
                if let [Some((one, way)), Some((two, their_way))] = squares.map(|spot| self.on(spot)) {
                    self.put(one, Place::on_way(way), Place::on_way(self.way_to(one, other)));
                    self.put(two, Place::on_way(their_way), Place::on_way(self.way_to(two, own)));
                }
            }
        }
    }

    /// Moves the pawn on this square to another square of its way.
    fn step(&mut self, pawn: Spot, to: impl FnOnce(u8, u8) -> u8) {
        if let Some((owner, way)) = self.on(pawn) {
            self.go(owner, Place::on_way(way), to(way, self.track()));
        }
    }

    /// Moves a pawn. A pawn on its destination returns to its base.
    fn go(&mut self, owner: Seat, from: Place, to: u8) {
        if let Some((other, way)) = self.on(self.spot(owner, to)) {
            self.put(other, Place::on_way(way), Place::BASE);
        }
        self.put(owner, from, Place::on_way(to));
    }
}
