//! Positions of Shogi, and the legal moves.

use crate::sfen::LETTERS;

pub(crate) const SIZE: usize = 9;
/// A square is a number; the rim is as wide as a knight jumps.
const ROW: usize = SIZE + 2;
const SQUARES: usize = ROW * (SIZE + 4);

/// A piece is its type, with the bits of its promotion and of its colour.
pub(crate) const EMPTY: u8 = 0;
pub(crate) const PAWN: u8 = 1;
pub(crate) const LANCE: u8 = 2;
pub(crate) const KNIGHT: u8 = 3;
pub(crate) const GOLD: u8 = 5;
const BISHOP: u8 = 6;
pub(crate) const ROOK: u8 = 7;
pub(crate) const KING: u8 = 8;
pub(crate) const PROMOTED: u8 = 8;
const TYPE: u8 = 15;
const BLACK: u8 = 16;
pub(crate) const WHITE: u8 = 32;
const RIM: u8 = 64;

/// The eight directions; the opposite of one is 7 less it.
const DIRECTIONS: [isize; 8] = {
    const UP: isize = -(ROW as isize);
    [UP - 1, UP, UP + 1, -1, 1, -UP - 1, -UP, -UP + 1]
};
/// Those in which a black piece steps and slides, by its type, as bits.
const STEPS: [u8; 16] = [
    0,
    AHEAD,
    0,
    0,
    DIAGONAL | AHEAD,
    LIKE_GOLD,
    0,
    0,
    DIAGONAL | STRAIGHT,
    LIKE_GOLD,
    LIKE_GOLD,
    LIKE_GOLD,
    LIKE_GOLD,
    0,
    STRAIGHT,
    DIAGONAL,
];
const SLIDES: [u8; 16] = [0, 0, AHEAD, 0, 0, 0, DIAGONAL, STRAIGHT, 0, 0, 0, 0, 0, 0, DIAGONAL, STRAIGHT];
const AHEAD: u8 = 1 << 1;
const DIAGONAL: u8 = 1 << 0 | 1 << 2 | 1 << 5 | 1 << 7;
const STRAIGHT: u8 = AHEAD | 1 << 3 | 1 << 4 | 1 << 6;
const LIKE_GOLD: u8 = STRAIGHT | 1 << 0 | 1 << 2;

pub(crate) fn type_of(piece: u8) -> u8 {
    piece & TYPE
}

/// The type of a piece in hand.
pub(crate) fn unpromoted(piece: u8) -> u8 {
    piece & (PROMOTED - 1)
}

pub(crate) fn is_promoted(piece: u8) -> bool {
    type_of(piece) > KING
}

pub(crate) fn colour_of(seat: usize) -> u8 {
    if seat == 0 { BLACK } else { WHITE }
}

/// How many ranks from the far end a piece can still go.
pub(crate) fn reach(kind: u8) -> usize {
    match kind {
        KNIGHT => 2,
        PAWN | LANCE => 1,
        _ => 0,
    }
}

pub(crate) fn square(column: usize, row: usize) -> usize {
    (row + 2) * ROW + column + 1
}

pub(crate) fn column_of(at: usize) -> usize {
    at % ROW - 1
}

pub(crate) fn row_of(at: usize) -> usize {
    at / ROW - 2
}

/// The squares of the board in the order of ranks, with some of the rim.
pub(crate) fn squares() -> impl Iterator<Item = usize> {
    square(0, 0)..=square(SIZE - 1, SIZE - 1)
}

/// The row from the side that a seat plays towards.
pub(crate) fn depth(seat: usize, at: usize) -> usize {
    if seat == 0 { row_of(at) } else { SIZE - 1 - row_of(at) }
}

/// The number of a piece on a square, or of pieces in a hand (Steele's splitmix).
fn mixed(of: usize) -> u64 {
    let z = (of as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A move of a piece; a drop has no square `from`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) from: Option<u8>,
    pub(crate) to: u8,
    /// The type of a piece that is dropped.
    pub(crate) dropped: u8,
    pub(crate) promotes: bool,
}

impl Move {
    /// Reads a move as USI writes it.
    pub(crate) fn read(text: &str) -> Option<Move> {
        let at = |file: u8, rank: u8| {
            let is_on_board = (b'1'..=b'9').contains(&file) && (b'a'..=b'i').contains(&rank);
            is_on_board.then(|| square(usize::from(b'9' - file), usize::from(rank - b'a')) as u8)
        };
        match *text.as_bytes() {
            [letter, b'*', file, rank] => {
                let dropped = LETTERS.iter().position(|&known| known == letter).filter(|&kind| kind > 0)?;
                Some(Move { from: None, to: at(file, rank)?, dropped: dropped as u8, promotes: false })
            }
            [from_file, from_rank, file, rank, ref promotion @ ..] if matches!(promotion, [] | [b'+']) => {
                let from = Some(at(from_file, from_rank)?);
                Some(Move { from, to: at(file, rank)?, dropped: EMPTY, promotes: !promotion.is_empty() })
            }
            _ => None,
        }
    }

    /// Adds the move as USI writes it.
    pub(crate) fn push(self, text: &mut String) {
        match self.from {
            Some(from) => push_square(text, usize::from(from)),
            None => text.extend([char::from(LETTERS[usize::from(self.dropped)]), '*']),
        }
        push_square(text, usize::from(self.to));
        if self.promotes {
            text.push('+');
        }
    }
}

pub(crate) fn push_square(text: &mut String, at: usize) {
    text.push(char::from(b'9' - column_of(at) as u8));
    text.push(char::from(b'a' + row_of(at) as u8));
}

#[derive(Clone)]
pub(crate) struct Position {
    pub(crate) board: [u8; SQUARES],
    /// By seat and type.
    pub(crate) hands: [[u16; KING as usize]; 2],
    pub(crate) to_move: usize,
    /// The square of each king, 0 before it is known.
    pub(crate) kings: [usize; 2],
}

impl Position {
    pub(crate) fn empty() -> Position {
        let mut board = [RIM; SQUARES];
        for row in 0..SIZE {
            board[square(0, row)..square(SIZE, row)].fill(EMPTY);
        }
        Position { board, hands: Default::default(), to_move: 0, kings: [0; 2] }
    }

    /// The pieces of the board in the order of ranks, with their squares.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (usize, u8)> {
        squares().map(|at| (at, self.board[at])).filter(|(_, piece)| piece & (BLACK | WHITE) != 0)
    }

    /// The key of the position: of the board, the hands and the side to move, in 60 bits.
    pub(crate) fn key(&self) -> u64 {
        let mut key = self.to_move as u64;
        for (at, piece) in self.pieces() {
            key ^= mixed(at << 8 | usize::from(piece));
        }
        for kind in usize::from(PAWN)..usize::from(KING) {
            for (seat, hand) in self.hands.iter().enumerate().filter(|(_, hand)| hand[kind] > 0) {
                key ^= mixed(1 << 20 | (2 * kind + seat) << 8 | usize::from(hand[kind]));
            }
        }
        key & ((1 << 60) - 1)
    }

    fn is_attacked(&self, at: usize, by: usize) -> bool {
        let colour = colour_of(by);
        for (to, &step) in DIRECTIONS.iter().enumerate() {
            let mut near = at.wrapping_add_signed(step);
            let is_next = self.board[near] != EMPTY;
            while self.board[near] == EMPTY {
                near = near.wrapping_add_signed(step);
            }
            let piece = self.board[near];
            if piece & colour != 0 {
                let kind = usize::from(type_of(piece));
                let direction = if by == 0 { 7 - to } else { to };
                if (SLIDES[kind] | if is_next { STEPS[kind] } else { 0 }) >> direction & 1 != 0 {
                    return true;
                }
            }
        }
        let behind = if by == 0 { at + 2 * ROW } else { at - 2 * ROW };
        [behind - 1, behind + 1].into_iter().any(|from| self.board[from] == colour | KNIGHT)
    }

    pub(crate) fn is_in_check(&self, seat: usize) -> bool {
        self.is_attacked(self.kings[seat], 1 - seat)
    }

    /// Makes a move on the board. Returns what was on its square.
    pub(crate) fn make(&mut self, made: Move) -> u8 {
        let (seat, to) = (self.to_move, usize::from(made.to));
        let captured = self.board[to];
        if let Some(from) = made.from.map(usize::from) {
            let piece = self.board[from] | if made.promotes { PROMOTED } else { 0 };
            self.board[from] = EMPTY;
            self.board[to] = piece;
            if type_of(piece) == KING {
                self.kings[seat] = to;
            }
            if captured != EMPTY {
                self.hands[seat][usize::from(unpromoted(captured))] += 1;
            }
        } else {
            self.board[to] = colour_of(seat) | made.dropped;
            self.hands[seat][usize::from(made.dropped)] -= 1;
        }
        self.to_move = 1 - seat;
        captured
    }

    fn unmake(&mut self, made: Move, captured: u8) {
        let (seat, to) = (1 - self.to_move, usize::from(made.to));
        self.to_move = seat;
        if let Some(from) = made.from.map(usize::from) {
            let piece = self.board[to] & !if made.promotes { PROMOTED } else { 0 };
            self.board[from] = piece;
            if type_of(piece) == KING {
                self.kings[seat] = from;
            }
            if captured != EMPTY {
                self.hands[seat][usize::from(unpromoted(captured))] -= 1;
            }
        } else {
            self.hands[seat][usize::from(made.dropped)] += 1;
        }
        self.board[to] = captured;
    }

    /// The legal moves: of pieces in the order of their squares, then drops.
    pub(crate) fn legal(&mut self) -> Vec<Move> {
        self.moves(false)
    }

    /// With mates, a pawn may be dropped to mate.
    fn moves(&mut self, with_mates: bool) -> Vec<Move> {
        let seat = self.to_move;
        let mut found =
            Found { moves: Vec::with_capacity(128), is_checked: self.is_in_check(seat), with_mates };
        let barred = colour_of(seat) | RIM;
        let mut has_pawn = [false; SIZE];
        for at in squares() {
            if self.board[at] & colour_of(seat) == 0 {
                continue;
            }
            let kind = type_of(self.board[at]);
            if kind == PAWN {
                has_pawn[column_of(at)] = true;
            }
            if kind == KNIGHT {
                let ahead = if seat == 0 { at - 2 * ROW } else { at + 2 * ROW };
                for to in [ahead - 1, ahead + 1] {
                    if self.board[to] & barred == 0 {
                        self.add_moves(&mut found, at, to);
                    }
                }
            }
            let (steps, slides) = (STEPS[usize::from(kind)], SLIDES[usize::from(kind)]);
            for (direction, &step) in DIRECTIONS.iter().enumerate() {
                let of = if seat == 0 { direction } else { 7 - direction };
                let is_sliding = slides >> of & 1 != 0;
                if !is_sliding && steps >> of & 1 == 0 {
                    continue;
                }
                let mut to = at;
                loop {
                    to = to.wrapping_add_signed(step);
                    if self.board[to] & barred != 0 {
                        break;
                    }
                    self.add_moves(&mut found, at, to);
                    if !is_sliding || self.board[to] != EMPTY {
                        break;
                    }
                }
            }
        }
        if self.hands[seat].iter().any(|&amount| amount > 0) {
            for at in squares() {
                if self.board[at] != EMPTY {
                    continue;
                }
                for dropped in PAWN..KING {
                    let is_held = self.hands[seat][usize::from(dropped)] > 0;
                    if is_held
                        && depth(seat, at) >= reach(dropped)
                        && !(dropped == PAWN && has_pawn[column_of(at)])
                    {
                        self.add(&mut found, Move { from: None, to: at as u8, dropped, promotes: false });
                    }
                }
            }
        }
        found.moves
    }

    /// Adds the moves of a piece to a square, promoting or not.
    fn add_moves(&mut self, found: &mut Found, from: usize, to: usize) {
        let (kind, seat) = (type_of(self.board[from]), self.to_move);
        let made = Move { from: Some(from as u8), to: to as u8, dropped: EMPTY, promotes: false };
        if kind < KING && kind != GOLD && (depth(seat, from) < 3 || depth(seat, to) < 3) {
            self.add(found, Move { promotes: true, ..made });
        }
        if depth(seat, to) >= reach(kind) {
            self.add(found, made);
        }
    }

    /// Adds a move if it leaves no king in check.
    fn add(&mut self, found: &mut Found, made: Move) {
        let seat = self.to_move;
        let to = usize::from(made.to);
        let (may_expose, may_mate) = match made.from.map(usize::from) {
            Some(from) => (from == self.kings[seat] || is_on_line(from, self.kings[seat]), false),
            None => {
                let next = if seat == 0 { to - ROW } else { to + ROW };
                (false, made.dropped == PAWN && !found.with_mates && next == self.kings[1 - seat])
            }
        };
        if found.is_checked || may_expose || may_mate {
            let captured = self.make(made);
            let is_illegal = self.is_in_check(seat) || (may_mate && self.moves(true).is_empty());
            self.unmake(made, captured);
            if is_illegal {
                return;
            }
        }
        found.moves.push(made);
    }

    /// Whether the side to move may declare a win by the 27 points of the CSA.
    pub(crate) fn may_declare(&self) -> bool {
        let seat = self.to_move;
        if depth(seat, self.kings[seat]) >= 3 || self.is_in_check(seat) {
            return false;
        }
        let worth = |kind: u8| if kind == BISHOP || kind == ROOK { 5 } else { 1 };
        let is_entered = |&(at, piece): &(usize, u8)| {
            piece & colour_of(seat) != 0 && at != self.kings[seat] && depth(seat, at) < 3
        };
        let entered = || self.pieces().filter(is_entered).map(|(_, piece)| worth(unpromoted(piece)));
        let held = (PAWN..KING).map(|kind| worth(kind) * self.hands[seat][usize::from(kind)]);
        let points = entered().chain(held).sum::<u16>();
        entered().count() >= 10 && points >= if seat == 0 { 28 } else { 27 }
    }
}

/// The legal moves so far.
struct Found {
    moves: Vec<Move>,
    is_checked: bool,
    with_mates: bool,
}

/// Whether a square is on a line with a king, so that what leaves it may leave the king in check.
fn is_on_line(at: usize, with: usize) -> bool {
    let columns = column_of(at).abs_diff(column_of(with));
    let rows = row_of(at).abs_diff(row_of(with));
    columns == 0 || rows == 0 || columns == rows
}

#[cfg(test)]
mod tests {
    use super::Position;
    use crate::sfen;

    const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    /// From a match.
    const MIDDLE: &str = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1";
    /// The position with the most legal moves.
    const MOST: &str = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";

    fn leaves(position: &mut Position, depth: usize) -> usize {
        let moves = position.legal();
        if depth == 1 {
            return moves.len();
        }
        let mut count = 0;
        for made in moves {
            let captured = position.make(made);
            count += leaves(position, depth - 1);
            position.unmake(made, captured);
        }
        count
    }

    fn assert_perft(text: &str, expected: &[usize]) {
        let (mut position, _) = sfen::read(text).expect("a position");
        let counts: Vec<usize> = (1..=expected.len()).map(|depth| leaves(&mut position, depth)).collect();
        assert_eq!(counts, expected);
    }

    #[test]
    fn perft_agrees_with_published_numbers() {
        assert_perft(START, &[30, 900, 25_470, 719_731]);
        assert_perft(MIDDLE, &[207, 28_684]);
        assert_perft(MOST, &[593]);
    }

    #[test]
    #[ignore = "25 million positions"]
    fn perft_of_more_plies_agrees_with_published_numbers() {
        assert_perft(START, &[30, 900, 25_470, 719_731, 19_861_490]);
        assert_perft(MIDDLE, &[207, 28_684, 4_809_015]);
    }
}
