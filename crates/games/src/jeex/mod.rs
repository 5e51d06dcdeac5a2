//! Jeex. Seat 0 is White and moves first; seat 1 is Black.

mod board;
mod grid;
mod moves;
mod scene;
#[cfg(feature = "schema")]
mod schema;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::board::{Board, Colour, Phase};
pub use self::grid::{Direction, Field};
pub use self::moves::Move;
pub use self::view::{Seen, View};
#[cfg(feature = "schema")]
use referee_game::Schemas;
use referee_game::disguise::{Vocabulary, squares};
use referee_game::{
    Game, Imagination, Imagine, Known, Meta, NoDraw, NoFact, OptionMeta, Outcome, ReasonMeta, Scene, Seat,
    SeatSet, Seating, Turn, Uniform, Viewer, Wrong,
};

/// The options of the game.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The game is drawn after this many plies, including the opening; at least 2.
    #[cfg_attr(feature = "schema", schemars(range(min = 2)))]
    pub turn_limit: u32,
    /// The game is drawn after this many consecutive rotations; 0 means never.
    pub draw_plies: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { turn_limit: 400, draw_plies: 50 }
    }
}

#[derive(Clone, Debug)]
pub struct Jeex {
    board: Board,
    /// Consecutive rotations.
    quiet_plies: u32,
    draw_plies: u32,
    turns_left: u32,
}

impl Jeex {
    /// The position without counters.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Consecutive rotations.
    pub const fn quiet_plies(&self) -> u32 {
        self.quiet_plies
    }

    /// The outcome, if the game is over. The rules' own endings precede the limits (J4).
    fn outcome(&self) -> Option<Outcome> {
        let claimant = self.board.to_move();
        if self.board.claimed {
            Some(if self.board.is_jeex_for(claimant) {
                Outcome::win(claimant.seat().index(), "claim")
            } else {
                Outcome::win(claimant.other().seat().index(), "wrong_claim")
            })
        } else if self.board.is_deserted() {
            Some(Outcome::draw("no_stones"))
        } else if self.draw_plies > 0 && self.quiet_plies >= self.draw_plies {
            Some(Outcome::draw("quiet_plies"))
        } else if self.turns_left == 0 {
            Some(Outcome::turn_limit())
        } else {
            None
        }
    }
}

impl Game for Jeex {
    const META: Meta = Meta {
        id: "jeex",
        title: "Jeex",
        rules_version: 1,
        seatings: &[Seating::new(2, 2)],
        hidden: false,
        chance: false,
        simultaneous: false,
        draws_by_agreement: false,
        lists_moves: true,
        openings: Some(4),
        amounts: None,
        options: &[
            OptionMeta {
                name: "turn_limit",
                help: "A draw after so many plies, those of the opening included; at least 2; default: 400.",
            },
            OptionMeta {
                name: "draw_plies",
                help: "A draw after so many rotations in a row; 0: never; default: 50.",
            },
        ],
        reasons: &[
            ReasonMeta {
                code: "claim",
                words: "correct claim",
                sentence: "{winner} claimed Jeex, and attacked the centre alone.",
            },
            ReasonMeta {
                code: "wrong_claim",
                words: "wrong claim",
                sentence: "{loser} claimed Jeex without attacking the centre alone.",
            },
            ReasonMeta {
                code: "no_stones",
                words: "no stones left",
                sentence: "One side had no stone left on the board.",
            },
            ReasonMeta {
                code: "quiet_plies",
                words: "no progress",
                sentence: "Too many moves in a row were rotations.",
            },
        ],
        rules: include_str!("rules.md"),
    };
    const IMAGINATION: Option<Imagination<Jeex>> = Some(Imagination::OF);
    #[cfg(feature = "schema")]
    const SCHEMAS: Option<Schemas> = Some(Schemas::of::<View, NoFact, Move, Options>());
    const VOCABULARY: Option<fn() -> Vocabulary> =
        Some(|| Vocabulary::of("place rotate capture claim N NE E SE S SW W NW", squares("abcdefgh", 1..=8)));
    type Options = Options;
    type Move = Move;
    type Fact = NoFact;
    type View<'a> = View;
    type Key = Board;
    type Draw = NoDraw;

    fn start(options: &Options, _: Seating) -> Result<Jeex, Wrong> {
        let Options { turn_limit, draw_plies } = *options;
        if turn_limit < 2 {
            return Err(Wrong::from(format!(
                "turn_limit {turn_limit} is too low: the opening alone takes 2 turns"
            )));
        }
        Ok(Jeex { board: Board::default(), quiet_plies: 0, draw_plies, turns_left: turn_limit })
    }

    fn turn(&self) -> Turn<NoDraw> {
        self.outcome().map_or_else(|| Turn::Decide(SeatSet::one(self.board.to_move().seat())), Turn::Over)
    }

    fn turns_left(&self) -> Option<u32> {
        Some(self.turns_left)
    }

    fn legal_moves(&self, _: Seat, out: &mut Vec<Move>) {
        self.board.legal_moves(out);
    }

    fn play_unchecked(&mut self, _: Seat, mv: Move, _: &mut impl FnMut(NoFact)) {
        self.board.play(mv);
        match mv {
            Move::Place { .. } | Move::Capture { .. } => self.quiet_plies = 0,
            Move::Rotate { .. } => self.quiet_plies = self.quiet_plies.saturating_add(1),
            Move::Claim => {}
        }
        self.turns_left = self.turns_left.saturating_sub(1);
    }

    fn view(&self, _: Viewer) -> View {
        View::of(self)
    }

    fn key(&self) -> Board {
        self.board
    }

    fn draw_board(&self, _: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        view::draw(self, f)
    }

    fn scene(&self, _: Viewer) -> Scene {
        scene::scene(self)
    }

    fn places(&self, _: Seat, mv: Move) -> Vec<String> {
        let fields = match mv {
            Move::Place { at, .. } | Move::Rotate { at, .. } => vec![at],
            Move::Capture { from, to } => vec![from, to],
            Move::Claim => Vec::new(),
        };
        fields.iter().map(|field| format!("field-{field}")).collect()
    }
}

impl Imagine for Jeex {
    type Seen = Seen;

    fn imagine(known: &Known<'_, Options>, seen: &Seen, _: &mut impl Uniform) -> Jeex {
        seen.position(known)
    }
}
