//! Checkers (English draughts). Seat 0 is Black and moves first; seat 1 is White.

mod board;
mod fen;
mod moves;
mod openings;
mod pdn;
mod scene;
#[cfg(feature = "schema")]
mod schema;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod view;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::board::{Board, Colour};
pub use self::moves::Move;
pub use self::view::{Seen, View};
#[cfg(feature = "schema")]
use referee_game::Schemas;
use referee_game::disguise::Vocabulary;
use referee_game::{
    Game, Imagination, Imagine, Known, Meta, NoDraw, NoFact, Notation, OpeningFile, OptionMeta, Outcome,
    ReasonMeta, Scene, Seat, SeatSet, Seating, Turn, Uniform, Viewer, Wrong,
};

/// The options of the game.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The start position as a PDN FEN, whose lists may be in any order.
    pub fen: Board,
    /// The game is drawn after this many consecutive plies without capture or crowning; 0 means never.
    pub draw_plies: u32,
    /// The game is drawn after this many plies; 0 means never.
    pub turn_limit: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { fen: Board::default(), draw_plies: 50, turn_limit: 0 }
    }
}

#[derive(Clone, Debug)]
pub struct Checkers {
    board: Board,
    /// Consecutive plies without capture or crowning.
    quiet_plies: u32,
    draw_plies: u32,
    turns_left: Option<u32>,
}

impl Checkers {
    /// The position without counters.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Consecutive plies without capture or crowning.
    pub const fn quiet_plies(&self) -> u32 {
        self.quiet_plies
    }

    /// The outcome, if the game is over. The rules' own endings precede the turn limit, and a loss precedes the draw.
    #[inline]
    fn outcome(&self) -> Option<Outcome> {
        if !self.board.can_move() {
            Some(self.lost())
        } else if self.draw_plies > 0 && self.quiet_plies >= self.draw_plies {
            Some(Outcome::draw("quiet_plies"))
        } else if self.turns_left == Some(0) {
            Some(Outcome::turn_limit())
        } else {
            None
        }
    }

    #[cold]
    fn lost(&self) -> Outcome {
        let winner = self.board.to_move().other().seat().index();
        Outcome::win(winner, if self.board.is_bare() { "no_pieces" } else { "no_moves" })
    }
}

impl Game for Checkers {
    const META: Meta = Meta {
        id: "checkers",
        title: "Checkers",
        rules_version: 1,
        seatings: &[Seating::new(2, 2)],
        hidden: false,
        chance: false,
        simultaneous: false,
        draws_by_agreement: true,
        lists_moves: true,
        openings: Some(6),
        amounts: None,
        options: &[
            OptionMeta {
                name: "fen",
                help: "The start position as PDN's FEN; default: the initial position.",
            },
            OptionMeta {
                name: "draw_plies",
                help: "A draw after so many plies in a row without capture or crowning; 0: never, which requires a \
                       turn_limit; default: 50.",
            },
            OptionMeta { name: "turn_limit", help: "A draw after so many plies; 0: never; default: 0." },
        ],
        reasons: &[
            ReasonMeta {
                code: "no_pieces",
                words: "no pieces left",
                sentence: "{winner} captured the last piece of {loser}.",
            },
            ReasonMeta {
                code: "no_moves",
                words: "no moves left",
                sentence: "{loser} had no legal move left.",
            },
            ReasonMeta {
                code: "quiet_plies",
                words: "no progress",
                sentence: "Too many moves in a row neither captured nor crowned a piece.",
            },
        ],
        rules: include_str!("rules.md"),
    };
    const NOTATION: Option<&'static dyn Notation> = Some(&pdn::Pdn);
    const OPENING_FILES: &'static [OpeningFile] = openings::FILES;
    const IMAGINATION: Option<Imagination<Checkers>> = Some(Imagination::OF);
    #[cfg(feature = "schema")]
    const SCHEMAS: Option<Schemas> = Some(Schemas::of::<View, NoFact, Move, Options>());
    const VOCABULARY: Option<fn() -> Vocabulary> = Some(|| {
        Vocabulary::of("x b w B W", [])
            .with_places("board", (1..=32).map(|square| square.to_string()).collect())
            .without("fen")
    });
    type Options = Options;
    type Move = Move;
    type Fact = NoFact;
    type View<'a> = View;
    type Key = Board;
    type Draw = NoDraw;

    fn start(options: &Options, _: Seating) -> Result<Checkers, Wrong> {
        let Options { fen: board, draw_plies, turn_limit } = *options;
        if board.is_bare() {
            let side = board.to_move();
            return Err(Wrong::from(format!("invalid FEN {board}: {side} is to move but has no piece")));
        }
        if draw_plies == 0 && turn_limit == 0 {
            return Err(Wrong::new(
                "draw_plies 0 needs a turn_limit above 0, otherwise the game might not end",
            ));
        }
        Ok(Checkers { board, quiet_plies: 0, draw_plies, turns_left: (turn_limit > 0).then_some(turn_limit) })
    }

    #[inline(always)]
    fn turn(&self) -> Turn<NoDraw> {
        self.outcome().map_or_else(|| Turn::Decide(SeatSet::one(self.board.to_move().seat())), Turn::Over)
    }

    fn turns_left(&self) -> Option<u32> {
        self.turns_left
    }

    #[inline(always)]
    fn legal_moves(&self, _: Seat, out: &mut Vec<Move>) {
        self.board.legal_moves(out);
    }

    fn count_legal_moves(&self, _: Seat, _: &mut Vec<Move>) -> usize {
        self.board.count_legal_moves()
    }

    fn play_unchecked(&mut self, _: Seat, mv: Move, _: &mut impl FnMut(NoFact)) {
        let starts_anew = self.board.play(mv);
        self.quiet_plies = if starts_anew { 0 } else { self.quiet_plies.saturating_add(1) };
        self.turns_left = self.turns_left.map(|turns| turns.saturating_sub(1));
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
        mv.squares().map(|square| format!("square-{square}")).collect()
    }

    fn write_move(mv: Move, out: &mut String) {
        mv.spell(|byte| out.push(char::from(byte)));
    }

    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        self.view(viewer).write(out);
    }

    fn is_short_form(text: &str, mv: Move) -> bool {
        mv.is_shortened_to(text)
    }
}

impl Imagine for Checkers {
    type Seen = Seen;

    fn imagine(known: &Known<'_, Options>, seen: &Seen, _: &mut impl Uniform) -> Checkers {
        let Seen { board, quiet_plies } = *seen;
        Checkers { board, quiet_plies, draw_plies: known.options.draw_plies, turns_left: known.turns_left }
    }
}
