//! The number of a position in its table. Squares are numbers from 0 (a1) over 1 (b1) to 63 (h8).

/// The squares a1 to d4 on and below the diagonal, in the order in which the first piece of a position is numbered on them.
const TRIANGLE: [usize; 10] = [1, 2, 3, 10, 11, 19, 0, 9, 18, 27];
/// The largest number of positions of three different pieces, and of two kings.
const THREE_PIECES: u64 = 31_332;
const TWO_KINGS: u64 = 462;

fn file(square: usize) -> usize {
    square % 8
}

fn rank(square: usize) -> usize {
    square / 8
}

/// The number of ways to choose `few` of `many`.
pub(super) fn choose(few: usize, many: usize) -> u64 {
    (0..few as u64).fold(1, |product, at| product * (many as u64).saturating_sub(at) / (at + 1))
}

/// Numbers the squares below a diagonal row by row, of which the first has `width`.
fn below_diagonal(width: usize, square: usize) -> usize {
    let (file, rank) = (file(square), rank(square));
    rank * (2 * width + 1 - rank) / 2 + file - rank - 1
}

/// The order of pawns: first the files at the edge, on each file the ranks near White. The leading pawn has the highest number, which is that of
/// the squares on which the others may then be.
pub(super) fn pawn_order(square: usize) -> usize {
    let from_edge = edge(square);
    47 - 12 * from_edge - 2 * (rank(square) - 1) - usize::from(file(square) > 3)
}

/// The number of files between a square and the nearer edge.
pub(super) fn edge(square: usize) -> usize {
    file(square).min(7 - file(square))
}

/// Counts the positions that this many pawns of one side have with the leading one on this file, below this rank.
fn pawns_below(count: usize, file: usize, rank: usize) -> u64 {
    (1..rank).map(|rank| choose(count - 1, pawn_order(8 * rank + file))).sum()
}

/// The pieces at the beginning of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstPieces {
    /// This many pawns of one side, with the leading one on this file.
    Pawns(usize, usize),
    /// Three pieces of which there is one each.
    Three,
    Kings,
}

impl FirstPieces {
    pub(super) fn len(self) -> usize {
        match self {
            FirstPieces::Pawns(count, _) => count,
            FirstPieces::Three => 3,
            FirstPieces::Kings => 2,
        }
    }

    /// The number of their positions.
    pub(super) fn size(self) -> u64 {
        match self {
            FirstPieces::Pawns(count, file) => pawns_below(count, file, 7),
            FirstPieces::Three => THREE_PIECES,
            FirstPieces::Kings => TWO_KINGS,
        }
    }

    /// Mirrors the squares of all pieces so that the first one is on the files a to d, and without pawns in the triangle. Then numbers
    /// the position of the pieces at the beginning.
    pub(super) fn number(self, squares: &mut [usize]) -> u64 {
        let mirror = |squares: &mut [usize], by: usize| squares.iter_mut().for_each(|square| *square ^= by);
        if file(squares[0]) > 3 {
            mirror(squares, 7);
        }
        if let FirstPieces::Pawns(count, of) = self {
            squares[1..count].sort_unstable_by_key(|&square| pawn_order(square));
            let others = squares[1..count].iter().zip(1..);
            return pawns_below(count, of, rank(squares[0]))
                + others.map(|(&square, at)| choose(at, pawn_order(square))).sum::<u64>();
        }
        if rank(squares[0]) > 3 {
            mirror(squares, 56);
        }
        let first_off = squares[..self.len()].iter().find(|&&square| rank(square) != file(square));
        if first_off.is_some_and(|&square| rank(square) > file(square)) {
            squares.iter_mut().for_each(|square| *square = 8 * file(*square) + rank(*square));
        }
        if self == FirstPieces::Kings {
            kings(squares[0], squares[1])
        } else {
            three([squares[0], squares[1], squares[2]])
        }
    }
}

/// The number of the position of three pieces.
fn three([first, second, third]: [usize; 3]) -> u64 {
    let is_on = |square| rank(square) == file(square);
    // The pieces before are passed over.
    let of_second = usize::from(second > first);
    let of_third = usize::from(third > first) + usize::from(third > second);
    let number = if !is_on(first) {
        (below_diagonal(3, first) * 63 + second - of_second) * 62 + third - of_third
    } else if !is_on(second) {
        (6 * 63 + rank(first) * 28 + below_diagonal(7, second)) * 62 + third - of_third
    } else {
        let before = 6 * 63 * 62 + 4 * 28 * 62;
        let second = rank(second) - of_second;
        if is_on(third) {
            before + 4 * 7 * 28 + (rank(first) * 7 + second) * 6 + rank(third) - of_third
        } else {
            before + (rank(first) * 7 + second) * 28 + below_diagonal(7, third)
        }
    };
    number as u64
}

/// The number of the position of two kings, of which the second is not above the diagonal if the first is on it. Positions with both on it
/// come last.
fn kings(first: usize, second: usize) -> u64 {
    let are_apart = |one, other| file(one).abs_diff(file(other)).max(rank(one).abs_diff(rank(other))) > 1;
    let is_on = |square| rank(square) == file(square);
    let pairs = TRIANGLE.into_iter().flat_map(|one| (0..64).map(move |other| (one, other)));
    let is_pair =
        |&(one, other): &(usize, usize)| are_apart(one, other) && !(is_on(one) && rank(other) > file(other));
    let are_on = |&(one, other): &(usize, usize)| is_on(one) && is_on(other);
    let (last, rest): (Vec<_>, Vec<_>) = pairs.filter(is_pair).partition(are_on);
    let mut all = rest.into_iter().chain(last);
    all.position(|pair| pair == (first, second)).unwrap_or_default() as u64
}

/// The number of the squares of equal pieces among those that pieces before them leave; the first `skipped` squares are not counted.
pub(super) fn equal_pieces(before: &[usize], squares: &mut [usize], skipped: usize) -> u64 {
    squares.sort_unstable();
    let of = |(&square, at): (&usize, usize)| {
        let passed = before.iter().filter(|&&other| other < square).count();
        choose(at, square - passed - skipped)
    };
    squares.iter().zip(1..).map(of).sum()
}
