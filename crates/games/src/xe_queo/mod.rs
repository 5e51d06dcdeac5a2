//! Xe Queo!, a game for two players who secretly choose one of seven pawns to bring to a ring.

mod log;
mod moves;
mod pawn;
mod position;
mod round;
mod scene;
#[cfg(feature = "schema")]
mod schema;
mod square;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::log::Log;
pub use self::moves::Move;
pub use self::pawn::{Pawn, Pawns};
use self::position::GOAL;
pub use self::position::{Phase, Position};
pub use self::round::{Fact, Reason, Round};
use self::square::SQUARES;
pub use self::square::Square;
pub use self::view::{Seen, View};
#[cfg(feature = "schema")]
use referee_game::Schemas;
use referee_game::disguise::{Vocabulary, squares};
use referee_game::{
    Chance, Draw, Game, Imagination, Imagine, Known, Meta, Outcome, ReasonMeta, Scene, Seat, SeatSet,
    Seating, Turn, Uniform, Viewer, Wrong,
};

/// The options of the game; there are none.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Options {}

/// A game of Xe Queo!: a position with the public history of the round.
#[derive(Clone, Debug)]
pub struct XeQueo {
    position: Position,
    /// The moves of this round.
    log: Log,
    last_round: Option<Round>,
}

impl XeQueo {
    /// The position without its history.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Returns the moves of this round: seat, pawn and destination.
    pub fn moves(&self) -> impl Iterator<Item = (Seat, Pawn, Square)> {
        self.log.by_seat(self.position.to_move)
    }

    /// The number of the round, counted from 1; in a finished game that of the last round.
    fn round(&self) -> u8 {
        let over: u8 = self.position.rings.iter().sum();
        over + u8::from(self.position.phase() != Phase::Over)
    }

    /// The seats that decide; empty when the game is over.
    fn deciders(&self) -> SeatSet {
        match self.position.phase() {
            Phase::Ring | Phase::Play => SeatSet::one(self.position.to_move),
            Phase::Choose => SeatSet::first(2),
            Phase::Over => SeatSet::EMPTY,
        }
    }
}

impl Game for XeQueo {
    const META: Meta = Meta {
        id: "xe_queo",
        title: "Xe Queo!",
        rules_version: 1,
        seatings: &[Seating::new(2, 2)],
        hidden: true,
        chance: true,
        simultaneous: true,
        draws_by_agreement: false,
        lists_moves: true,
        openings: None,
        amounts: None,
        options: &[],
        reasons: &[ReasonMeta {
            code: "rings",
            words: "four rings",
            sentence: "{winner} won the fourth ring.",
        }],
        rules: include_str!("rules.md"),
    };
    const IMAGINATION: Option<Imagination<XeQueo>> = Some(Imagination::OF);
    #[cfg(feature = "schema")]
    const SCHEMAS: Option<Schemas> = Some(Schemas::of::<View<'static>, Fact, Move, Options>());
    const VOCABULARY: Option<fn() -> Vocabulary> = Some(|| {
        Vocabulary::of(
            "choose move accuse red orange yellow green blue purple black",
            squares("abcdefg", 1..=7),
        )
    });
    type Options = Options;
    type Move = Move;
    type Fact = Fact;
    type View<'a> = View<'a>;
    type Key = Position;
    type Draw = Draw;

    fn start(_: &Options, _: Seating) -> Result<XeQueo, Wrong> {
        Ok(XeQueo { position: Position::default(), log: Log::EMPTY, last_round: None })
    }

    fn turn(&self) -> Turn {
        if self.position.pawns.is_none() {
            return Turn::Draw(Draw::Shuffle { len: SQUARES });
        }
        match self.position.rings.iter().position(|&rings| rings == GOAL) {
            Some(winner) => Turn::Over(Outcome::win(winner, "rings")),
            None => Turn::Decide(self.deciders()),
        }
    }

    fn turns_left(&self) -> Option<u32> {
        None
    }

    fn legal_moves(&self, seat: Seat, out: &mut Vec<Move>) {
        self.position.legal_moves(seat, out);
    }

    fn play_unchecked(&mut self, seat: Seat, mv: Move, emit: &mut impl FnMut(Fact)) {
        if let Move::Move(pawn, to) = mv {
            self.log.push(pawn, to);
        }
        if let Some(round) = self.position.play(seat, mv) {
            self.log.clear();
            self.last_round = Some(round);
            emit(Fact::Round(round));
        }
    }

    fn view(&self, viewer: Viewer) -> View<'_> {
        View::of(self, viewer)
    }

    fn key(&self) -> Position {
        self.position
    }

    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        view::draw(self, viewer, f)
    }

    fn scene(&self, viewer: Viewer) -> Scene {
        scene::scene(self, viewer)
    }

    fn places(&self, _: Seat, mv: Move) -> Vec<String> {
        let (pawn, square) = match mv {
            Move::Ring(square) => (None, Some(square)),
            Move::Choose(pawn) | Move::Accuse(pawn) => (Some(pawn), None),
            Move::Move(pawn, to) => (Some(pawn), Some(to)),
        };
        let pawns = || self.position.pawns.iter().flat_map(|pawns| pawns.iter());
        let of_pawn =
            pawn.and_then(|pawn| pawns().find(|&(other, _)| other == pawn)).map(|(_, square)| square);
        of_pawn.into_iter().chain(square).map(|square| format!("square-{square}")).collect()
    }

    fn is_secret(&self, _: Seat, mv: Move) -> bool {
        matches!(mv, Move::Choose(_))
    }
}

impl Chance for XeQueo {
    fn settle(&mut self, drawn: &[u32], emit: &mut impl FnMut(Fact)) {
        let pawns = Pawns::on(std::array::from_fn(|pawn| Square::numbered(drawn[pawn] as u16)));
        self.position.pawns = Some(pawns);
        emit(Fact::Setup { pawns });
    }
}

impl Imagine for XeQueo {
    type Seen = Seen;

    fn imagine(known: &Known<'_, Options>, seen: &Seen, rng: &mut impl Uniform) -> XeQueo {
        seen.imagine(known.seat, rng)
    }
}
