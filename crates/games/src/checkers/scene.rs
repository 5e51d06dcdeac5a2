//! The position as shapes: the board with White at the bottom and its dark squares numbered.

use super::Checkers;
use super::board::{Colour, bit, place, squares};
use referee_game::scene::{Depth, Part, Shape, Tone};
use referee_game::{Game, Scene};

const CELL: i16 = 100;
const FRAME: i16 = 30;

/// The centre of the square in this row and column, each 0 to 7.
const fn cell(row: i16, column: i16) -> (i16, i16) {
    (FRAME + CELL * column + CELL / 2, FRAME + CELL * row + CELL / 2)
}

/// The centre of a dark square, by its index.
const fn centre(square: u32) -> (i16, i16) {
    let row = (square / 4) as i16;
    cell(row, 2 * (square % 4) as i16 + 1 - row % 2)
}

const fn tone(colour: Colour) -> Tone {
    match colour {
        Colour::Black => Tone::Black,
        Colour::White => Tone::White,
    }
}

/// A piece: two rings, and a crown for a king.
fn piece(square: u32, colour: Colour, is_king: bool) -> Shape {
    const CROWN: [(i16, i16); 7] = [(-24, 16), (-28, -14), (-12, 0), (0, -22), (12, 0), (28, -14), (24, 16)];
    let name = if colour == Colour::Black { "black" } else { "white" };
    let shape = Shape::new(Depth::Piece, format!("{name}-{}", square + 1), centre(square))
        .kind(name)
        .with(Part::disc(38).fill(tone(colour)).line(Tone::Faint, 3));
    if is_king {
        shape.with(Part::polygon(&CROWN).fill(Tone::Gold).line(Tone::Faint, 2))
    } else {
        shape.with(Part::disc(28).line(Tone::Faint, 2))
    }
}

pub(super) fn scene(position: &Checkers) -> Scene {
    let board = position.board;
    let side = 8 * CELL + 2 * FRAME;
    let mut scene = Scene::new(side, side);
    scene.seats = vec![tone(Colour::Black), tone(Colour::White)];
    let middle = (side / 2, side / 2);
    scene.add(Shape::new(Depth::Board, "board", middle).with(Part::rect(side, side, 16).fill(Tone::Board)));
    for (row, column) in (0..8).flat_map(|row| (0..8).map(move |column| (row, column))) {
        if (row + column) % 2 == 0 {
            let light = Part::rect(CELL, CELL, 0).fill(Tone::Light);
            scene.add(
                Shape::new(Depth::Board, format!("light-{row}-{column}"), cell(row, column)).with(light),
            );
        }
    }
    for square in 0..32 {
        // In the corner, clear of the piece.
        let x = if square < 9 { -41 } else { -36 };
        let number = Part::text(17, (square + 1).to_string()).at(x, -40).fill(Tone::OnDark);
        scene.add(
            Shape::new(Depth::Board, format!("square-{}", square + 1), centre(square))
                .with(Part::rect(CELL, CELL, 0).fill(Tone::Dark))
                .with(number),
        );
    }
    scene.say(match position.outcome() {
        None => format!("{} to move", board.to_move),
        Some(outcome) => format!("over: {}", Checkers::META.reason_in_words(outcome.reason)),
    });
    for colour in [Colour::Black, Colour::White] {
        let pieces = board.pieces(colour);
        for square in squares(pieces) {
            scene.add(piece(square, colour, board.kings & bit(place(square)) != 0));
        }
        let list = |set| squares(set).map(|square| format!(" {}", square + 1)).collect::<String>();
        let (men, kings) = (pieces & !board.kings, pieces & board.kings);
        let kings = if kings == 0 { String::new() } else { format!(", kings on{}", list(kings)) };
        let men = if men == 0 { "no men".to_owned() } else { format!("men on{}", list(men)) };
        scene.say(format!("{colour}: {men}{kings}"));
    }
    if position.quiet_plies > 0 {
        scene.say(format!("{} quiet plies", position.quiet_plies));
    }
    scene
}
