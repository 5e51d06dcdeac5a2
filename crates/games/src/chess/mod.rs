//! Chess and Chess960. Seat 0 is White, seat 1 is Black.

mod fen;
mod moves;
mod openings;
mod pgn;
mod scene;
#[cfg(feature = "schema")]
mod schema;
mod syzygy;
#[cfg(test)]
mod tests;
mod view;

use std::fmt;

/// The library from which the board of [`Chess::board`] is.
pub use cozy_chess;
use cozy_chess::{Board, Color, File, Piece, Square};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub use self::fen::Fen;
pub use self::moves::Move;
pub use self::view::{Seen, View};
#[cfg(feature = "schema")]
use referee_game::Schemas;
use referee_game::disguise::{Vocabulary, squares};
use referee_game::endgames::OpenEndgames;
use referee_game::{
    Game, Imagination, Imagine, Known, Meta, NoDraw, NoFact, Notation, OpeningFile, OptionMeta, Outcome,
    ReasonMeta, Scene, Seat, SeatSet, Seating, Turn, Uniform, Viewer, Wrong,
};

/// The kind of chess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    #[default]
    Standard,
    /// Fischer random chess: castling with king and rooks on other files.
    Chess960,
}

/// The options of the game.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// `chess960` castles from any files, and writes castling as the king's move to its rook.
    pub variant: Variant,
    /// The start position as a FEN, or the number of a start position of Chess960, 0 to 959.
    pub fen: Fen,
    /// The game is drawn when a position has occurred this many times; 0 means never.
    pub repetitions: u32,
    /// The game is drawn after this many consecutive plies without capture and without a move of a pawn; 0 means never.
    pub draw_plies: u32,
    /// The game is drawn after this many plies; 0 means never.
    pub turn_limit: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            variant: Variant::default(),
            fen: Fen::default(),
            repetitions: 3,
            draw_plies: 100,
            turn_limit: 0,
        }
    }
}

/// The seat that plays a colour.
const fn seat(color: Color) -> Seat {
    Seat(color as u8)
}

const fn name(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}

/// The positions since the last irreversible move: a capture, a move of a pawn, or the loss of a castling
/// right. No earlier position can occur again.
#[derive(Clone, Debug)]
struct Since {
    /// The position after that move, or the start position.
    fen: Fen,
    /// The moves from there, each with the key of its position: as many as the default of `draw_plies` without an
    /// allocation.
    line: SmallVec<[(Move, u64); 100]>,
}

#[derive(Clone, Debug)]
pub struct Chess {
    now: Fen,
    since: Since,
    /// The number of times that the position has occurred, including now.
    occurrences: u32,
    variant: Variant,
    repetitions: u32,
    draw_plies: u32,
    turns_left: Option<u32>,
}

impl Chess {
    /// The position without its history.
    pub const fn board(&self) -> &Board {
        &self.now.board
    }

    /// The square behind a pawn that can be captured en passant by a legal move.
    pub fn en_passant(&self) -> Option<Square> {
        fen::en_passant(self.board())
    }

    /// Consecutive plies without capture and without a move of a pawn.
    pub const fn quiet_plies(&self) -> u32 {
        self.now.quiet_plies
    }

    /// The number of occurrences of the position, including now.
    pub const fn occurrences(&self) -> u32 {
        self.occurrences
    }

    fn at(fen: Fen, options: &Options, turns_left: Option<u32>) -> Chess {
        let Options { variant, repetitions, draw_plies, .. } = *options;
        let since = Since { fen: fen.clone(), line: SmallVec::new() };
        Chess { now: fen, since, occurrences: 1, variant, repetitions, draw_plies, turns_left }
    }

    /// The outcome, if the game is over. Mate and stalemate precede the draws, and all of them the turn limit.
    fn outcome(&self) -> Option<Outcome> {
        let board = self.board();
        if !board.generate_moves(|_| true) {
            Some(if board.checkers().is_empty() {
                Outcome::draw("stalemate")
            } else {
                Outcome::win(seat(!board.side_to_move()).index(), "checkmate")
            })
        } else if has_insufficient_material(board) {
            Some(Outcome::draw("insufficient_material"))
        } else if self.repetitions > 0 && self.occurrences >= self.repetitions {
            Some(Outcome::draw("repetition"))
        } else if self.draw_plies > 0 && self.now.quiet_plies >= self.draw_plies {
            Some(Outcome::draw("quiet_plies"))
        } else if self.turns_left == Some(0) {
            Some(Outcome::turn_limit())
        } else {
            None
        }
    }

    /// Plays a legal move on the board.
    fn advance(&mut self, mv: Move) {
        let rights = |board: &Board| Color::ALL.map(|color| *board.castle_rights(color));
        let before = rights(self.board());
        let board = &mut self.now.board;
        board.play_unchecked(on_board(board, mv));
        let is_quiet = board.halfmove_clock() > 0;
        self.now.quiet_plies = if is_quiet { self.now.quiet_plies.saturating_add(1) } else { 0 };
        if !is_quiet || rights(self.board()) != before {
            self.since = Since { fen: self.now.clone(), line: SmallVec::new() };
            self.occurrences = 1;
            return;
        }
        let key = fen::key(self.board());
        let line = &mut self.since.line;
        let earlier = line.iter().filter(|(_, earlier)| *earlier == key).count();
        line.push((mv, key));
        self.occurrences = 1 + earlier as u32 + u32::from(fen::key(&self.since.fen.board) == key);
    }
}

/// Returns whether neither side can mate by any sequence of moves, as far as the pieces alone tell: two
/// kings, a knight or bishops on squares of one colour.
fn has_insufficient_material(board: &Board) -> bool {
    let of = |piece| board.pieces(piece);
    if !(of(Piece::Pawn) | of(Piece::Rook) | of(Piece::Queen)).is_empty() {
        return false;
    }
    let (knights, bishops) = (of(Piece::Knight), of(Piece::Bishop));
    let bishops_on = |squares| !bishops.is_disjoint(squares);
    let is_one_colour =
        !(bishops_on(cozy_chess::BitBoard::LIGHT_SQUARES) && bishops_on(cozy_chess::BitBoard::DARK_SQUARES));
    match knights.len() {
        0 => is_one_colour,
        1 => bishops.is_empty(),
        _ => false,
    }
}

/// The move as the library plays it, which castles by moving the king to its rook, as in Chess960.
fn on_board(board: &Board, Move(mut mv): Move) -> cozy_chess::Move {
    let mover = board.side_to_move();
    let is_step = (mv.from.file() as i8 - mv.to.file() as i8).abs() < 2;
    if !is_step && mv.from == board.king(mover) && !board.colors(mover).has(mv.to) {
        let rights = board.castle_rights(mover);
        let rook = if mv.to.file() > mv.from.file() { rights.short } else { rights.long };
        if let Some(rook) = rook {
            mv.to = Square::new(rook, mv.to.rank());
        }
    }
    mv
}

/// A move of the library as the variant writes it.
fn spelled(board: &Board, mut mv: cozy_chess::Move, variant: Variant) -> Move {
    if variant == Variant::Standard && board.colors(board.side_to_move()).has(mv.to) {
        let file = if mv.to.file() > mv.from.file() { File::G } else { File::C };
        mv.to = Square::new(file, mv.to.rank());
    }
    Move(mv)
}

impl Game for Chess {
    const META: Meta = Meta {
        id: "chess",
        title: "Chess",
        rules_version: 1,
        seatings: &[Seating::new(2, 2)],
        hidden: false,
        chance: false,
        simultaneous: false,
        draws_by_agreement: true,
        lists_moves: true,
        openings: Some(8),
        amounts: None,
        options: &[
            OptionMeta { name: "variant", help: "standard or chess960; default: standard." },
            OptionMeta {
                name: "fen",
                help: "The start position as a FEN, or the number of a start position of Chess960, 0 to 959; default: the \
                       initial position.",
            },
            OptionMeta {
                name: "repetitions",
                help: "A draw when a position has occurred so many times, 2 or more; 0: never; default: 3.",
            },
            OptionMeta {
                name: "draw_plies",
                help: "A draw after so many plies in a row without capture and without a move of a pawn; 0: never, which \
                       requires a turn_limit; default: 100.",
            },
            OptionMeta { name: "turn_limit", help: "A draw after so many plies; 0: never; default: 0." },
        ],
        reasons: &[
            ReasonMeta { code: "checkmate", words: "checkmate", sentence: "{winner} checkmated {loser}." },
            ReasonMeta {
                code: "stalemate",
                words: "stalemate",
                sentence: "The side to move had no legal move and was not in check.",
            },
            ReasonMeta {
                code: "insufficient_material",
                words: "insufficient material",
                sentence: "Neither side had the pieces to mate.",
            },
            ReasonMeta {
                code: "repetition",
                words: "repetition",
                sentence: "A position occurred too many times.",
            },
            ReasonMeta {
                code: "quiet_plies",
                words: "no progress",
                sentence: "Too many moves in a row neither captured nor moved a pawn.",
            },
        ],
        rules: include_str!("rules.md"),
    };
    const NOTATION: Option<&'static dyn Notation> = Some(&pgn::Pgn);
    const OPENING_FILES: &'static [OpeningFile] = openings::FILES;
    const IMAGINATION: Option<Imagination<Chess>> = Some(Imagination::OF);
    const ENDGAMES: Option<OpenEndgames<Chess>> = Some(syzygy::open);
    #[cfg(feature = "schema")]
    const SCHEMAS: Option<Schemas> = Some(Schemas::of::<View, NoFact, Move, Options>());
    const VOCABULARY: Option<fn() -> Vocabulary> = Some(|| {
        Vocabulary::of("p n b r q k P N B R Q K", [])
            .with_places("board", squares("abcdefgh", (1..=8).rev()))
            .without("fen since")
    });
    type Options = Options;
    type Move = Move;
    type Fact = NoFact;
    type View<'a> = View<'a>;
    type Key = u64;
    type Draw = NoDraw;

    fn start(options: &Options, _: Seating) -> Result<Chess, Wrong> {
        let Options { variant, fen, repetitions, draw_plies, turn_limit } = options;
        if *variant == Variant::Standard && fen.needs_chess960() {
            return Err(Wrong::from(format!(
                "the castling rights of the FEN {fen} exist in Chess960 only: set variant to chess960"
            )));
        }
        if *repetitions == 1 {
            return Err(Wrong::from(
                "repetitions 1 would end every game at its start: set 2 or more, or 0 for no limit"
                    .to_owned(),
            ));
        }
        if *draw_plies == 0 && *turn_limit == 0 {
            return Err(Wrong::new(
                "draw_plies 0 needs a turn_limit above 0, otherwise the game might not end",
            ));
        }
        Ok(Chess::at(fen.clone(), options, (*turn_limit > 0).then_some(*turn_limit)))
    }

    fn turn(&self) -> Turn<NoDraw> {
        self.outcome()
            .map_or_else(|| Turn::Decide(SeatSet::one(seat(self.board().side_to_move()))), Turn::Over)
    }

    fn endgame_pieces(&self) -> Option<u32> {
        let board = self.board();
        let castles = |color| {
            let rights = board.castle_rights(color);
            rights.short.is_some() || rights.long.is_some()
        };
        // The values of tables are those after a capture or a move of a pawn, and without castling.
        (self.quiet_plies() == 0 && !Color::ALL.into_iter().any(castles)).then(|| board.occupied().len())
    }

    fn turns_left(&self) -> Option<u32> {
        self.turns_left
    }

    fn legal_moves(&self, _: Seat, out: &mut Vec<Move>) {
        let board = self.board();
        board.generate_moves(|moves| {
            if moves.piece == Piece::King {
                out.extend(moves.into_iter().map(|mv| spelled(board, mv, self.variant)));
            } else {
                out.extend(moves.into_iter().map(Move));
            }
            false
        });
    }

    fn count_legal_moves(&self, _: Seat, _: &mut Vec<Move>) -> usize {
        let mut count = 0;
        self.board().generate_moves(|moves| {
            count += moves.len();
            false
        });
        count
    }

    fn play_unchecked(&mut self, _: Seat, mv: Move, _: &mut impl FnMut(NoFact)) {
        self.advance(mv);
        self.turns_left = self.turns_left.map(|turns| turns.saturating_sub(1));
    }

    fn view(&self, _: Viewer) -> View<'_> {
        View::of(self)
    }

    fn key(&self) -> u64 {
        fen::key(self.board())
    }

    fn draw_board(&self, _: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        view::draw(self, f)
    }

    fn scene(&self, _: Viewer) -> Scene {
        scene::scene(self)
    }

    fn places(&self, _: Seat, mv: Move) -> Vec<String> {
        mv.squares().map(|square| format!("square-{square}")).into()
    }

    fn write_move(mv: Move, out: &mut String) {
        mv.spell(|byte| out.push(char::from(byte)));
    }

    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        self.view(viewer).write(out);
    }
}

impl Imagine for Chess {
    type Seen = Seen;

    fn imagine(known: &Known<'_, Options>, Seen(position): &Seen, _: &mut impl Uniform) -> Chess {
        let Options { variant, repetitions, draw_plies, .. } = *known.options;
        Chess { variant, repetitions, draw_plies, turns_left: known.turns_left, ..position.clone() }
    }
}
