//! Keezenspel, a Dutch game of pawns and cards for two, four or six players; four and six play in teams of two.

mod board;
mod cards;
mod fact;
mod hands;
mod imagine;
mod moves;
mod plays;
mod position;
mod scene;
#[cfg(feature = "schema")]
mod schema;
mod seen;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::board::{Board, Square};
pub use self::cards::{Hand, Rank};
pub use self::fact::Fact;
pub use self::hands::Hands;
pub use self::moves::Move;
pub use self::position::Position;
pub use self::seen::Seen;
pub use self::view::View;
#[cfg(feature = "schema")]
use referee_game::Schemas;
use referee_game::disguise::Vocabulary;
use referee_game::{
    Chance, Draw, Game, Imagination, Imagine, Known, Meta, OptionMeta, Outcome, ReasonMeta, Scene, Seat,
    SeatSet, Seating, Turn, Uniform, Viewer, Wrong,
};

/// The options of the game.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The game is drawn after this many plays of all seats together; at least 1 (K10).
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub turn_limit: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { turn_limit: 5000 }
    }
}

/// A game of Keezenspel: a position with its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keezen {
    position: Position,
    /// The number of the deck cycle, counted from 0.
    cycle: u32,
    /// Plays until the limit, including the next one.
    turns_left: u32,
}

impl Keezen {
    /// The position without counters.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The outcome, if the game is over. The turn limit is tested last.
    fn outcome(&self) -> Option<Outcome> {
        let limit = (self.turns_left == 0).then_some(const { Outcome::turn_limit() });
        self.position.board.outcome().or(limit)
    }

    fn advance(&mut self, after: Seat, emit: &mut impl FnMut(Fact)) {
        if self.position.advance(after, emit) {
            self.cycle = self.cycle.saturating_add(1);
        }
    }
}

impl Game for Keezen {
    const META: Meta = Meta {
        id: "keezen",
        title: "Keezenspel",
        rules_version: 1,
        seatings: &[Seating::new(2, 2), Seating::new(4, 2), Seating::new(6, 3)],
        hidden: true,
        chance: true,
        simultaneous: false,
        draws_by_agreement: false,
        lists_moves: true,
        openings: None,
        amounts: None,
        options: &[OptionMeta {
            name: "turn_limit",
            help: "A draw after so many plays of all seats together, at least 1; default: 5000.",
        }],
        reasons: &[ReasonMeta {
            code: "home",
            words: "all pawns home",
            sentence: "All pawns of {winner} are home.",
        }],
        rules: include_str!("rules.md"),
    };
    const IMAGINATION: Option<Imagination<Keezen>> = Some(Imagination::OF);
    #[cfg(feature = "schema")]
    const SCHEMAS: Option<Schemas> = Some(Schemas::of::<View<'static>, fact::Seen, Move, Options>());
    const VOCABULARY: Option<fn() -> Vocabulary> = Some(|| {
        Vocabulary::of(
            "A 2 3 4 5 6 7 8 9 10 J Q K base enter",
            (0..96).map(|square| format!("t{square}")).chain((0..6).map(|seat| format!("h{seat}"))),
        )
    });
    type Options = Options;
    type Move = Move;
    type Fact = Fact;
    type View<'a> = View<'a>;
    type Key = Position;
    type Draw = Draw;

    fn start(options: &Options, seating: Seating) -> Result<Keezen, Wrong> {
        if options.turn_limit == 0 {
            return Err(Wrong::new("turn_limit is 0; it must be at least 1"));
        }
        let position = Position::start(seating.seats() as u8);
        Ok(Keezen { position, cycle: 0, turns_left: options.turn_limit })
    }

    fn turn(&self) -> Turn {
        match (self.outcome(), self.position.to_move) {
            (Some(outcome), _) => Turn::Over(outcome),
            (None, Some(seat)) => Turn::Decide(SeatSet::one(seat)),
            (None, None) => Turn::Draw(Draw::Shuffle { len: self.position.stock.all().into() }),
        }
    }

    fn turns_left(&self) -> Option<u32> {
        Some(self.turns_left)
    }

    fn legal_moves(&self, seat: Seat, out: &mut Vec<Move>) {
        self.position.legal_moves(seat, out);
    }

    fn play_unchecked(&mut self, seat: Seat, mv: Move, emit: &mut impl FnMut(Fact)) {
        self.position.play(seat, mv);
        // K10
        self.turns_left -= 1;
        if self.outcome().is_none() {
            self.advance(seat, emit);
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

    fn write_move(mv: Move, out: &mut String) {
        mv.spell(out).unwrap_or_else(|error| unreachable!("writing to memory: {error}"));
    }

    fn scene(&self, viewer: Viewer) -> Scene {
        scene::scene(self, viewer)
    }

    fn places(&self, seat: Seat, mv: Move) -> Vec<String> {
        scene::places(self, seat, mv)
    }
}

impl Chance for Keezen {
    fn settle(&mut self, drawn: &[u32], emit: &mut impl FnMut(Fact)) {
        self.position.shuffle(drawn, emit);
        self.advance(self.position.dealer, emit);
    }
}

impl Imagine for Keezen {
    type Seen = Seen;

    fn imagine(known: &Known<'_, Options>, seen: &Seen, rng: &mut impl Uniform) -> Keezen {
        let turns_left = known.turns_left.unwrap_or(known.options.turn_limit);
        Keezen { position: imagine::position(known.seat, seen, rng), cycle: seen.cycle, turns_left }
    }
}
