//! FEN: `rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1`.
//!
//! Castling rights are written as in X-FEN: `KQkq` with the outermost rook, which is the same as FEN in chess, and otherwise
//! the file of the rook, `Bb`. An en passant square is written if a pawn can be captured there by a legal move.

use std::fmt;
use std::str::FromStr;

use cozy_chess::{
    Board, BoardBuilder, BoardBuilderError, Color, File, Piece, Rank, Square, get_king_moves,
    get_pawn_attacks,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::moves::letter;
use referee_game::{Wrong, json};

/// The number of start positions of Chess960.
const START_POSITIONS: u64 = 960;

/// A position as FEN describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fen {
    /// The pieces, the side to move, castling rights, en passant and the number of the move.
    pub board: Board,
    /// Consecutive plies without capture and without a move of a pawn. The count of the board ends at 100.
    pub quiet_plies: u32,
}

impl Default for Fen {
    /// Returns the initial position.
    fn default() -> Fen {
        Fen { board: Board::startpos(), quiet_plies: 0 }
    }
}

/// The square behind a pawn that can be captured en passant by a legal move.
pub(super) fn en_passant(board: &Board) -> Option<Square> {
    let mover = board.side_to_move();
    let square = Square::new(board.en_passant()?, Rank::Sixth.relative_to(mover));
    let capturers = board.colored_pieces(mover, Piece::Pawn) & get_pawn_attacks(square, !mover);
    board.generate_moves_for(capturers, |moves| moves.to.has(square)).then_some(square)
}

/// Identifies a position for the rule of repetition: two positions are the same if the pieces, the side to move and the
/// possible moves are.
pub(super) fn key(board: &Board) -> u64 {
    if en_passant(board).is_some() { board.hash() } else { board.hash_without_ep() }
}

/// The rook's file in a castling right, and its letter.
fn rights(board: &Board, color: Color) -> impl Iterator<Item = (File, u8)> {
    let rank = Rank::First.relative_to(color);
    let rooks = board.colored_pieces(color, Piece::Rook) & rank.bitboard();
    let rights = board.castle_rights(color);
    let letter = move |file: File, is_short: bool| {
        let is_outermost =
            rooks.into_iter().all(|rook| if is_short { rook.file() <= file } else { rook.file() >= file });
        let letter = match (is_outermost, is_short) {
            (true, true) => b'k',
            (true, false) => b'q',
            (false, _) => b'a' + file as u8,
        };
        if color == Color::White { letter.to_ascii_uppercase() } else { letter }
    };
    let short = rights.short.map(|file| (file, letter(file, true)));
    let long = rights.long.map(|file| (file, letter(file, false)));
    short.into_iter().chain(long)
}

impl Fen {
    /// A start position of Chess960, by its number in the scheme of Scharnagl.
    fn numbered(number: u64) -> Result<Fen, Wrong> {
        let valid = u32::try_from(number).ok().filter(|_| number < START_POSITIONS);
        let number = valid.ok_or_else(|| {
            format!("{number} is no start position of Chess960: they have the numbers 0 to 959")
        })?;
        Ok(Fen { board: Board::chess960_startpos(number), quiet_plies: 0 })
    }

    /// Returns whether a castling right is one of Chess960 only.
    pub(super) fn needs_chess960(&self) -> bool {
        Color::ALL.into_iter().any(|color| {
            let rights = self.board.castle_rights(color);
            let is_usual = rights.short.is_none_or(|file| file == File::H)
                && rights.long.is_none_or(|file| file == File::A);
            let castles = rights.short.is_some() || rights.long.is_some();
            castles && !(is_usual && self.board.king(color).file() == File::E)
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let board = &self.board;
        let mut empty = 0;
        for (place, letter) in letters(board).into_iter().enumerate() {
            if place % 8 == 0 && place > 0 {
                flush(&mut empty, out);
                out.push(b'/');
            }
            if letter == b'.' {
                empty += 1;
            } else {
                flush(&mut empty, out);
                out.push(letter);
            }
        }
        flush(&mut empty, out);
        out.extend_from_slice(if board.side_to_move() == Color::White { b" w " } else { b" b " });
        let start = out.len();
        out.extend(Color::ALL.into_iter().flat_map(|color| rights(board, color)).map(|(_, letter)| letter));
        if out.len() == start {
            out.push(b'-');
        }
        out.push(b' ');
        match en_passant(board) {
            Some(square) => out.extend([b'a' + square.file() as u8, b'1' + square.rank() as u8]),
            None => out.push(b'-'),
        }
        out.push(b' ');
        json::decimal(out, self.quiet_plies.into());
        out.push(b' ');
        json::decimal(out, board.fullmove_number().into());
    }
}

fn flush(empty: &mut u8, out: &mut Vec<u8>) {
    if *empty > 0 {
        out.push(b'0' + *empty);
        *empty = 0;
    }
}

/// Returns one letter for each square, from a8 to h8, then a7 to h7, to h1: upper case is White, `.` is empty.
pub(super) fn letters(board: &Board) -> [u8; 64] {
    let mut letters = [b'.'; 64];
    for piece in Piece::ALL {
        for square in board.pieces(piece) {
            let small = letter(piece);
            let is_white = board.colors(Color::White).has(square);
            letters[square as usize ^ 56] = if is_white { small.to_ascii_uppercase() } else { small };
        }
    }
    letters
}

impl fmt::Display for Fen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(80);
        self.write(&mut text);
        f.pad(std::str::from_utf8(&text).unwrap_or_else(|_| unreachable!("a FEN is ASCII")))
    }
}

impl Serialize for Fen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fen {
    /// Accepts the number of a start position of Chess960 as well.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected a FEN, or the number of a start position of Chess960, 0 to 959"
        )]
        enum Given {
            Number(u64),
            Text(String),
        }
        match Given::deserialize(deserializer)? {
            Given::Number(number) => Fen::numbered(number),
            Given::Text(text) => text.parse(),
        }
        .map_err(serde::de::Error::custom)
    }
}

const FIELDS: Wrong = Wrong::new(
    "a FEN has four to six fields, like rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1: pieces, side to move, \
     castling rights, en passant square, plies without progress, number of the move",
);
const PIECES: Wrong = Wrong::new(
    "the FEN is no position of chess: each side has one king, at most 16 pieces and 8 pawns, none of them on the first or \
     last rank, and only the side to move may be in check, by at most two pieces",
);

fn bad(what: &str, part: &str, expected: &str) -> Wrong {
    format!("in the FEN {what}`{}` {expected}", excerpt(part)).into()
}

fn no_rank(text: &str) -> Wrong {
    bad("", text, "is no rank: it has 8 squares, letters of pieces (pnbrqk) and counts of empty squares")
}

impl FromStr for Fen {
    type Err = Wrong;

    /// Accepts FEN, X-FEN and Shredder-FEN, and a FEN without its last one or two fields.
    fn from_str(text: &str) -> Result<Fen, Wrong> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [pieces, side, castling, en_passant, counts @ ..] = &fields[..] else {
            return Err(FIELDS);
        };
        if counts.len() > 2 {
            return Err(FIELDS);
        }
        let mut builder = BoardBuilder::empty();
        place(pieces, &mut builder)?;
        builder.side_to_move = match *side {
            "w" | "W" => Color::White,
            "b" | "B" => Color::Black,
            _ => return Err(bad("", side, "is no side: w is White, b is Black")),
        };
        let bad_castling = || {
            let expected = "do not fit: each needs its king on the first rank of its side and a rook on that side of it; they are KQkq, \
                            or the files of the rooks, or -";
            bad("the castling rights ", castling, expected)
        };
        if *castling != "-" {
            castle(castling, &mut builder).ok_or_else(bad_castling)?;
        }
        let bad_square = || {
            let expected = "does not fit: it is the one that a pawn of the other side has just passed, or -";
            bad("the en passant square ", en_passant, expected)
        };
        if *en_passant != "-" {
            builder.en_passant = Some(en_passant.parse().map_err(|_| bad_square())?);
        }
        let count = |at: usize, default: u32| match counts.get(at) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| bad("", text, "is no number of plies or moves")),
        };
        let quiet_plies = count(0, 0)?;
        builder.halfmove_clock = quiet_plies.min(100) as u8;
        builder.fullmove_number = count(1, 1)?.clamp(1, u16::MAX.into()) as u16;
        let board = builder.build().map_err(|error| match error {
            BoardBuilderError::InvalidCastlingRights => bad_castling(),
            BoardBuilderError::InvalidEnPassant => bad_square(),
            _ => PIECES,
        })?;
        // The library does not count a king among the pieces that give check.
        let [white, black] = Color::ALL.map(|color| board.king(color));
        let is_wrong = board.checkers().len() > 2 || get_king_moves(white).has(black);
        if is_wrong { Err(PIECES) } else { Ok(Fen { board, quiet_plies }) }
    }
}

/// Truncates input for error messages.
fn excerpt(text: &str) -> String {
    text.chars().take(20).collect()
}

fn place(pieces: &str, builder: &mut BoardBuilder) -> Result<(), Wrong> {
    let ranks: Vec<&str> = pieces.split('/').collect();
    if ranks.len() != 8 {
        let ranks = ranks.len();
        return Err(format!(
            "the FEN has {ranks} ranks: it describes 8, from the eighth to the first, separated by /"
        )
        .into());
    }
    for (rank, text) in Rank::ALL.into_iter().rev().zip(ranks) {
        let mut file = 0;
        for char in text.chars() {
            match char {
                '1'..='8' => file += char as usize - '0' as usize,
                _ => {
                    let piece = Piece::try_from(char.to_ascii_lowercase()).ok();
                    let (Some(piece), Some(at)) = (piece, File::try_index(file)) else {
                        return Err(no_rank(text));
                    };
                    let color = if char.is_ascii_uppercase() { Color::White } else { Color::Black };
                    *builder.square_mut(Square::new(at, rank)) = Some((piece, color));
                    file += 1;
                }
            }
        }
        if file != File::NUM {
            return Err(no_rank(text));
        }
    }
    Ok(())
}

/// Adds the castling rights; `None` if they fit no pieces or are given twice.
fn castle(rights: &str, builder: &mut BoardBuilder) -> Option<()> {
    for char in rights.chars() {
        let color = if char.is_ascii_uppercase() { Color::White } else { Color::Black };
        let rank = Rank::First.relative_to(color);
        let has = |piece, file: &File| builder.square(Square::new(*file, rank)) == Some((piece, color));
        let king = File::ALL.into_iter().find(|file| has(Piece::King, file))?;
        let mut rooks = File::ALL.into_iter().filter(|file| has(Piece::Rook, file));
        let rook = match char.to_ascii_lowercase() {
            'k' => rooks.next_back(),
            'q' => rooks.next(),
            file => rooks.find(|rook| char::from(*rook) == file),
        }?;
        let is_short = rook > king;
        // `K` and `Q` name the side.
        if matches!((char.to_ascii_lowercase(), is_short), ('k', false) | ('q', true)) {
            return None;
        }
        let rights = builder.castle_rights_mut(color);
        let right = if is_short { &mut rights.short } else { &mut rights.long };
        if right.replace(rook).is_some() {
            return None;
        }
    }
    Some(())
}
