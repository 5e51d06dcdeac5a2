//! The position as shapes: the board with the rolled fields marked, the dice beside it, seat 1 above, seat 0 below.

use super::Saxum;
use super::board::{Field, SIDE, STONES};
use super::moves::Move;
use super::position::{INSURANCE, Position};
use referee_game::scene::{Depth, Part, Shape, Tone};
use referee_game::{Game, Scene, Seat, Turn};

const CELL: i16 = 110;
/// The height of the state of a player.
const PANEL: i16 = 150;
/// The space for the numbers of rows and columns.
const EDGE: i16 = 50;
const DICE: i16 = 190;
const WIDTH: i16 = SIDE as i16 * CELL + EDGE + DICE;
const HEIGHT: i16 = SIDE as i16 * CELL + 2 * PANEL + EDGE;

const SEATS: [Seat; 2] = [Seat(0), Seat(1)];
const TONES: [Tone; 2] = [Tone::Orange, Tone::Blue];

/// The centre of the field in this row and column, each 1 to 5.
fn centre(row: u8, column: u8) -> (i16, i16) {
    let along = |number: u8| CELL * (i16::from(number) - 1) + CELL / 2;
    (EDGE + along(column), PANEL + EDGE + along(row))
}

/// The pips of a face in a square of three by three.
fn pips(face: u8) -> impl Iterator<Item = Part> {
    let on: &[(i16, i16)] = match face {
        1 => &[(0, 0)],
        2 => &[(-1, -1), (1, 1)],
        3 => &[(-1, -1), (0, 0), (1, 1)],
        4 => &[(-1, -1), (1, -1), (-1, 1), (1, 1)],
        5 => &[(-1, -1), (1, -1), (0, 0), (-1, 1), (1, 1)],
        6 => &[(-1, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (1, 1)],
        _ => &[],
    };
    on.iter().map(|&(x, y)| Part::disc(11).at(28 * x, 28 * y).fill(Tone::Black))
}

/// The points, rows, insurance stones and supply of a player.
fn panel(scene: &mut Scene, game: &Saxum, seat: Seat) {
    let Position { board, points, rows, insurance, .. } = &game.position;
    let top = if seat == Seat(0) { HEIGHT - PANEL + 20 } else { 0 };
    let s = seat.index();
    let tone = TONES[s];
    let (points, rows) = (points[s], rows[s]);
    let badge = Part::rect(WIDTH, PANEL - 20, 16).fill(Tone::Board);
    scene.add(
        Shape::new(Depth::Board, format!("panel-{seat}"), (WIDTH / 2, top + (PANEL - 20) / 2)).with(badge),
    );
    let name = format!("seat {seat}");
    let points = format!("{points} of {} points", game.points_to_win);
    let rows = format!("{rows} of {} rows", game.rows_to_win);
    scene.add(
        Shape::new(Depth::Board, format!("score-{seat}"), (0, top + 34))
            // The plate says how wide a name may be.
            .with(Part::rect(292, 40, 0).at(192, 0).fill(Tone::Board))
            .with(Part::text(32, name).at(192, 0).fill(Tone::Ink))
            .with(Part::disc(16).at(36, 0).fill(tone).line(Tone::Faint, 3))
            .with(Part::text(32, points).at(600, 0).fill(Tone::Ink))
            .with(Part::text(32, rows).at(600, 72).fill(Tone::Ink)),
    );
    // The labels are placed by their middles, so that they begin below each other.
    for (label, x, y) in [("supply", 71, 70), ("insurance", 94, 106)] {
        let text = Part::text(26, label).fill(Tone::Faint);
        scene.add(Shape::new(Depth::Board, format!("{label}-{seat}"), (x, top + y)).with(text));
    }
    for n in 0..i16::from(board.supply(seat)) {
        scene.add(
            Shape::new(Depth::Piece, format!("supply-{seat}-{n}"), (190 + 38 * n, top + 70))
                .kind(format!("stone-{seat}"))
                .with(Part::disc(15).fill(tone).line(Tone::Faint, 3)),
        );
    }
    for n in 0..i16::from(INSURANCE) {
        let token = Part::rect(26, 26, 6).line(Tone::Faint, 3);
        let token = if n < i16::from(insurance[s]) { token.fill(Tone::Gold) } else { token };
        scene.add(
            Shape::new(Depth::Board, format!("insurance-{seat}-{n}"), (190 + 38 * n, top + 106)).with(token),
        );
    }
}

/// The die or the field of a move.
pub(super) fn place(mv: Move) -> String {
    match mv {
        Move::Reroll(die) | Move::Turn(die, _) => format!("die-{}", die.number()),
        Move::Place(field) | Move::Score(field) | Move::Pay(field) | Move::Insure(field) => {
            format!("field-{}-{}", field.row(), field.column())
        }
    }
}

pub(super) fn scene(game: &Saxum) -> Scene {
    const { assert!(190 + 38 * (STONES as i16 - 1) + 20 <= WIDTH, "all stones fit in one row") };
    let Position { board, dice, to_move, points, rows, insurance } = game.position;
    let mut scene = Scene::new(WIDTH, HEIGHT);
    scene.seats = TONES.to_vec();
    let span = i16::from(SIDE) * CELL;
    let middle = (EDGE + span / 2, PANEL + EDGE + span / 2);
    let frame = Part::rect(span + 16, span + 16, 14).fill(Tone::Board);
    scene.add(Shape::new(Depth::Board, "board", middle).with(frame));
    for number in 1..=SIDE {
        let (x, y) = centre(number, number);
        for (id, at) in [("row", (EDGE / 2 - 4, y)), ("column", (x, PANEL + EDGE / 2 - 2))] {
            let text = Part::text(30, number.to_string()).fill(Tone::Faint);
            scene.add(Shape::new(Depth::Board, format!("{id}-{number}"), at).with(text));
        }
    }
    for (row, column) in (1..=SIDE).flat_map(|row| (1..=SIDE).map(move |column| (row, column))) {
        let Some(field) = Field::at(row, column) else { continue };
        let at = centre(row, column);
        let cell = Part::rect(CELL - 8, CELL - 8, 8).fill(Tone::Light);
        scene.add(Shape::new(Depth::Board, format!("field-{row}-{column}"), at).with(cell));
        if dice.fields() & field.bit() != 0 {
            let mark = Part::rect(CELL - 8, CELL - 8, 8).fill(Tone::Mark).line(Tone::Gold, 8);
            scene.add(Shape::new(Depth::Mark, format!("rolled-{row}-{column}"), at).with(mark));
        }
        if let Some(owner) = board.owner(field) {
            // A player sees at once how many points the group is worth.
            let size = Part::text(34, board.group(field).to_string()).fill(Tone::White);
            scene.add(
                Shape::new(Depth::Piece, format!("stone-{owner}-{row}-{column}"), at)
                    .kind(format!("stone-{owner}"))
                    .with(Part::disc(42).fill(TONES[owner.index()]).line(Tone::Faint, 3))
                    .with(size),
            );
        }
    }
    for (n, face) in (0..).zip(dice.faces()) {
        let at = (WIDTH - DICE / 2 + 16, middle.1 - 70 + 140 * n);
        let die = Part::rect(104, 104, 20).line(Tone::Faint, 4);
        let die = if face == 0 { die } else { die.fill(Tone::White) };
        let die = if face == 6 { die.line(Tone::Gold, 8) } else { die };
        scene.add(Shape::new(Depth::Piece, format!("die-{}", n + 1), at).with(die).with_all(pips(face)));
    }
    scene.say(match game.turn() {
        Turn::Over(outcome) => format!("over: {}", Saxum::META.reason_in_words(outcome.reason)),
        Turn::Draw(_) => format!("seat {to_move} to roll"),
        Turn::Decide(_) => {
            let [one, other] = dice.faces();
            format!("seat {to_move} to move, dice {one} and {other}")
        }
    });
    for seat in SEATS {
        panel(&mut scene, game, seat);
        let s = seat.index();
        let stones: String = (1..=SIDE)
            .flat_map(|row| (1..=SIDE).filter_map(move |column| Field::at(row, column)))
            .filter(|&field| board.owner(field) == Some(seat))
            .map(|field| format!(" ({field})"))
            .collect();
        let stones = if stones.is_empty() { " no stones".to_owned() } else { format!(" stones on{stones}") };
        let (points, rows, insurance) = (points[s], rows[s], insurance[s]);
        scene.say(format!("seat {seat}:{stones}; points {points}, rows {rows}, insurance {insurance}"));
    }
    scene
}
