//! Saxum, a game by Sid Sackson for two players with two dice. Seat 0 moves first.

mod board;
mod dice;
mod fact;
mod moves;
mod position;
mod scene;
#[cfg(feature = "schema")]
mod schema;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::board::{Board, Field};
pub use self::dice::{Dice, Die};
pub use self::fact::Fact;
pub use self::moves::Move;
pub use self::position::Position;
pub use self::view::{Seen, View};
#[cfg(feature = "schema")]
use referee_game::Schemas;
use referee_game::disguise::Vocabulary;
use referee_game::{
    Chance, Draw, Game, Imagination, Imagine, Known, Meta, OptionMeta, Outcome, ReasonMeta, Scene, Seat,
    SeatSet, Seating, Turn, Uniform, Viewer, Wrong,
};

/// The options of the game. Each is at least 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The game is drawn after this many turns of both seats together (S8).
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub turn_limit: u32,
    /// Points needed to win.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub points_to_win: u32,
    /// Rows needed to win.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rows_to_win: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { turn_limit: 2000, points_to_win: 177, rows_to_win: 7 }
    }
}

/// A game of Saxum: a position with its turn limit and goals.
#[derive(Clone, Debug)]
pub struct Saxum {
    position: Position,
    /// Turns until the limit, including this one.
    turns_left: u32,
    points_to_win: u32,
    rows_to_win: u32,
}

impl Saxum {
    /// The position without its turn limit and goals.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The outcome, if the game is over. The turn limit is tested last.
    fn outcome(&self) -> Option<Outcome> {
        let Position { points, rows, insurance, .. } = &self.position;
        for seat in 0..2 {
            if insurance[seat] == 0 {
                return Some(Outcome::win(1 - seat, "insurance"));
            }
            if points[seat] >= self.points_to_win {
                return Some(Outcome::win(seat, "points"));
            }
            if rows[seat] >= self.rows_to_win {
                return Some(Outcome::win(seat, "rows"));
            }
        }
        (self.turns_left == 0).then_some(const { Outcome::turn_limit() })
    }

    fn end_turn(&mut self) {
        self.position.end_turn();
        // S8
        self.turns_left -= 1;
    }

    /// Ends the turn of a player without a possible action (S6).
    fn pass_if_stuck(&mut self, emit: &mut impl FnMut(Fact)) {
        if self.position.is_stuck() {
            emit(Fact::Pass { seat: self.position.to_move });
            self.end_turn();
        }
    }
}

impl Game for Saxum {
    const META: Meta = Meta {
        id: "saxum",
        title: "Saxum",
        rules_version: 1,
        seatings: &[Seating::new(2, 2)],
        hidden: false,
        chance: true,
        simultaneous: false,
        draws_by_agreement: false,
        lists_moves: true,
        openings: None,
        amounts: None,
        options: &[
            OptionMeta {
                name: "turn_limit",
                help: "A draw after so many turns of both seats together, at least 1; default: 2000.",
            },
            OptionMeta {
                name: "points_to_win",
                help: "Who has so many points wins, at least 1; default: 177.",
            },
            OptionMeta { name: "rows_to_win", help: "Who has so many rows wins, at least 1; default: 7." },
        ],
        reasons: &[
            ReasonMeta {
                code: "points",
                words: "enough points",
                sentence: "{winner} reached the points that win.",
            },
            ReasonMeta {
                code: "rows",
                words: "enough rows",
                sentence: "{winner} completed the rows that win.",
            },
            ReasonMeta {
                code: "insurance",
                words: "insurance used up",
                sentence: "{loser} handed in the last insurance stone.",
            },
        ],
        rules: include_str!("rules.md"),
    };
    const IMAGINATION: Option<Imagination<Saxum>> = Some(Imagination::OF);
    #[cfg(feature = "schema")]
    const SCHEMAS: Option<Schemas> = Some(Schemas::of::<View, Fact, Move, Options>());
    const VOCABULARY: Option<fn() -> Vocabulary> =
        Some(|| Vocabulary::of("place score pay insure reroll turn pass six field", []));
    type Options = Options;
    type Move = Move;
    type Fact = Fact;
    type View<'a> = View;
    type Key = Position;
    type Draw = Draw;

    fn start(options: &Options, _: Seating) -> Result<Saxum, Wrong> {
        let Options { turn_limit, points_to_win, rows_to_win } = *options;
        for (name, value) in
            [("turn_limit", turn_limit), ("points_to_win", points_to_win), ("rows_to_win", rows_to_win)]
        {
            if value == 0 {
                return Err(Wrong::from(format!("{name} is 0; it must be at least 1")));
            }
        }
        Ok(Saxum { position: Position::default(), turns_left: turn_limit, points_to_win, rows_to_win })
    }

    fn turn(&self) -> Turn {
        let Position { dice, to_move, .. } = self.position;
        match (self.outcome(), dice.missing()) {
            (Some(outcome), _) => Turn::Over(outcome),
            (None, 0) => Turn::Decide(SeatSet::one(to_move)),
            (None, count) => Turn::Draw(Draw::Dice { count, sides: 6 }),
        }
    }

    fn turns_left(&self) -> Option<u32> {
        Some(self.turns_left)
    }

    fn legal_moves(&self, _: Seat, out: &mut Vec<Move>) {
        self.position.legal_moves(out);
    }

    fn play_unchecked(&mut self, _: Seat, mv: Move, emit: &mut impl FnMut(Fact)) {
        if self.position.play(mv) {
            self.end_turn();
        } else {
            self.pass_if_stuck(emit);
        }
    }

    fn view(&self, _: Viewer) -> View {
        View::of(self)
    }

    fn key(&self) -> Position {
        self.position
    }

    fn draw_board(&self, _: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        view::draw(self, f)
    }

    fn scene(&self, _: Viewer) -> Scene {
        scene::scene(self)
    }

    fn places(&self, _: Seat, mv: Move) -> Vec<String> {
        vec![scene::place(mv)]
    }
}

impl Chance for Saxum {
    fn settle(&mut self, drawn: &[u32], emit: &mut impl FnMut(Fact)) {
        self.position.dice.set_rolled(drawn);
        emit(Fact::Roll { seat: self.position.to_move, dice: self.position.dice.faces() });
        self.pass_if_stuck(emit);
    }
}

impl Imagine for Saxum {
    type Seen = Seen;

    fn imagine(known: &Known<'_, Options>, seen: &Seen, _: &mut impl Uniform) -> Saxum {
        let Options { points_to_win, rows_to_win, turn_limit } = *known.options;
        let turns_left = known.turns_left.unwrap_or(turn_limit);
        Saxum { position: seen.position(), turns_left, points_to_win, rows_to_win }
    }
}
