//! The position as shapes: the board with White at the bottom.

use std::sync::{Arc, LazyLock};

use cozy_chess::{Color, Piece, Square};

use super::{Chess, name};
use referee_game::scene::{Depth, Part, Shape, Tone};
use referee_game::{Game, Scene};

const CELL: i16 = 100;
const FRAME: i16 = 30;
const SIDE: i16 = 8 * CELL + 2 * FRAME;

const fn centre(square: Square) -> (i16, i16) {
    let [column, row] = [square.file() as i16, 7 - square.rank() as i16];
    (FRAME + CELL * column + CELL / 2, FRAME + CELL * row + CELL / 2)
}

const fn tone(color: Color) -> Tone {
    match color {
        Color::White => Tone::White,
        Color::Black => Tone::Black,
    }
}

const fn word(piece: Piece) -> &'static str {
    ["pawn", "knight", "bishop", "rook", "queen", "king"][piece as usize]
}

/// The outline of a piece, without parts that are discs.
const fn outline(piece: Piece) -> &'static [(i16, i16)] {
    match piece {
        Piece::Pawn => &[(-7, -8), (7, -8), (10, 12), (22, 24), (22, 32), (-22, 32), (-22, 24), (-10, 12)],
        #[rustfmt::skip]
        Piece::Knight => &[
            (-24, 32), (26, 32), (24, 8), (18, -12), (6, -26), (2, -36), (-6, -26), (-14, -20), (-28, -2), (-24, 8),
            (-14, 7), (-3, 1), (-12, 16),
        ],
        #[rustfmt::skip]
        Piece::Bishop => &[
            (0, -28), (13, -14), (14, -2), (8, 8), (11, 20), (24, 26), (24, 32), (-24, 32), (-24, 26), (-11, 20), (-8, 8),
            (-14, -2), (-13, -14),
        ],
        #[rustfmt::skip]
        Piece::Rook => &[
            (-25, -30), (-14, -30), (-14, -22), (-6, -22), (-6, -30), (6, -30), (6, -22), (14, -22), (14, -30), (25, -30),
            (25, -14), (16, -8), (16, 18), (26, 24), (26, 32), (-26, 32), (-26, 24), (-16, 18), (-16, -8), (-25, -14),
        ],
        #[rustfmt::skip]
        Piece::Queen => &[
            (-32, -20), (-18, 0), (-16, -28), (-6, -4), (0, -32), (6, -4), (16, -28), (18, 0), (32, -20), (22, 18),
            (25, 26), (25, 32), (-25, 32), (-25, 26), (-22, 18),
        ],
        #[rustfmt::skip]
        Piece::King => &[
            (-4, -40), (4, -40), (4, -34), (10, -34), (10, -26), (4, -26), (4, -18), (20, -16), (30, -4), (20, 18),
            (25, 26), (25, 32), (-25, 32), (-25, 26), (-20, 18), (-30, -4), (-20, -16), (-4, -18), (-4, -26), (-10, -26),
            (-10, -34), (-4, -34),
        ],
    }
}

/// The discs of a piece: the centre and the radius of each.
const fn discs(piece: Piece) -> &'static [(i16, i16, i16)] {
    match piece {
        Piece::Pawn => &[(0, -18, 13)],
        Piece::Bishop => &[(0, -32, 6)],
        Piece::Queen => &[(-32, -22, 5), (-16, -30, 5), (0, -34, 5), (16, -30, 5), (32, -22, 5)],
        Piece::Knight | Piece::Rook | Piece::King => &[],
    }
}

fn shape(square: Square, color: Color, piece: Piece) -> Shape {
    let kind = format!("{}-{}", name(color).to_ascii_lowercase(), word(piece));
    let paint = |part: Part| part.fill(tone(color)).line(Tone::Faint, 3);
    let discs = discs(piece).iter().map(|&(x, y, radius)| paint(Part::disc(radius).at(x, y)));
    Shape::new(Depth::Piece, format!("{kind}-{square}"), centre(square))
        .kind(kind)
        .with(paint(Part::polygon(outline(piece))))
        .with_all(discs)
}

/// The board, its squares and their names.
static GROUND: LazyLock<Arc<[Shape]>> = LazyLock::new(|| {
    let board = Part::rect(SIDE, SIDE, 16).fill(Tone::Board);
    let mut ground = vec![Shape::new(Depth::Board, "board", (SIDE / 2, SIDE / 2)).with(board)];
    for square in Square::ALL {
        let is_light = (square.file() as u8 + square.rank() as u8) % 2 == 1;
        let cell = Part::rect(CELL, CELL, 0).fill(if is_light { Tone::Light } else { Tone::Dark });
        ground.push(Shape::new(Depth::Board, format!("square-{square}"), centre(square)).with(cell));
    }
    for at in 0..8u8 {
        let along = FRAME + CELL * i16::from(at) + CELL / 2;
        let label = |text: u8| Part::text(22, char::from(text)).fill(Tone::Ink);
        let file = Shape::new(Depth::Board, format!("file-{at}"), (along, SIDE - FRAME / 2));
        let rank = Shape::new(Depth::Board, format!("rank-{at}"), (FRAME / 2, along));
        ground.extend([file.with(label(b'a' + at)), rank.with(label(b'8' - at))]);
    }
    ground.into()
});

pub(super) fn scene(position: &Chess) -> Scene {
    let board = position.board();
    let mut scene = Scene::new(SIDE, SIDE);
    scene.seats = Color::ALL.map(tone).to_vec();
    scene.ground = Some(GROUND.clone());
    let mover = board.side_to_move();
    scene.say(match position.outcome() {
        None => format!("{} to move", name(mover)),
        Some(outcome) => format!("over: {}", Chess::META.reason_in_words(outcome.reason)),
    });
    if !board.checkers().is_empty() {
        let mark = Part::rect(CELL, CELL, 0).fill(Tone::Mark);
        scene.add(Shape::new(Depth::Mark, "check", centre(board.king(mover))).with(mark));
        scene.say(format!("{} is in check", name(mover)));
    }
    for color in Color::ALL {
        let mut words = Vec::new();
        for piece in Piece::ALL.into_iter().rev() {
            let squares = board.colored_pieces(color, piece);
            squares.into_iter().for_each(|square| scene.add(shape(square, color, piece)));
            let list: String = squares.into_iter().map(|square| format!(" {square}")).collect();
            match squares.len() {
                0 => {}
                1 => words.push(format!("{}{list}", word(piece))),
                _ => words.push(format!("{}s{list}", word(piece))),
            }
        }
        scene.say(format!("{}: {}", name(color), words.join(", ")));
    }
    if position.quiet_plies() > 0 {
        scene.say(format!("{} quiet plies", position.quiet_plies()));
    }
    if position.occurrences() > 1 {
        scene.say(format!("occurrence {} of the position", position.occurrences()));
    }
    scene
}
