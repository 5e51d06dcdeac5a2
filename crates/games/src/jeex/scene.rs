//! The position as shapes: the fields around the centre, Black's supply above, White's below.

use super::Jeex;
use super::board::{Board, Colour};
use super::grid::{BATTLEFIELDS, CENTRE, Direction, FIELDS, Field, fields};
use referee_game::scene::{Depth, Part, Shape, Tone};
use referee_game::{Game, Scene};

const CELL: i16 = 180;
/// The space beside the fields for the coordinates.
const EDGE: i16 = 50;
/// The height of a row of stones in supply.
const SUPPLY: i16 = 120;
const WIDTH: i16 = 5 * CELL + 2 * EDGE;
const HEIGHT: i16 = 3 * CELL + 2 * EDGE + 2 * SUPPLY;
/// The number of stones of the game.
const STONES: i16 = 14;

/// The centre of a cell of the grid, 0 to 14.
const fn centre(cell: u32) -> (i16, i16) {
    let (file, rank) = ((cell / 3) as i16, (cell % 3) as i16);
    (EDGE + CELL * file + CELL / 2, SUPPLY + EDGE + CELL * (2 - rank) + CELL / 2)
}

fn place(field: Field) -> (i16, i16) {
    centre(u32::from(field.bit()).trailing_zeros())
}

/// The colours of a stone and of the arrow on it.
const fn tones(colour: Colour) -> [Tone; 2] {
    match colour {
        Colour::White => [Tone::White, Tone::Black],
        Colour::Black => [Tone::Black, Tone::White],
    }
}

const fn name(colour: Colour) -> &'static str {
    match colour {
        Colour::White => "white",
        Colour::Black => "black",
    }
}

/// A stone on the board. The tip of the arrow is its point, the notch its tail.
fn stone(field: Field, colour: Colour, facing: Direction) -> Shape {
    const ARROW: [(i16, i16); 9] =
        [(0, -58), (36, -8), (14, -8), (14, 50), (0, 38), (-14, 50), (-14, -8), (-36, -8), (0, -58)];
    let [body, arrow] = tones(colour);
    Shape::new(Depth::Piece, format!("{}-{field}", name(colour)), place(field))
        .kind(name(colour))
        .turned(45 * facing as i16)
        .with(Part::disc(68).fill(body).line(Tone::Faint, 4))
        .with(Part::polygon(&ARROW).fill(arrow))
}

/// The stones in supply of a side, in a row.
fn supply(scene: &mut Scene, board: &Board, colour: Colour) {
    let (y, label_y) = match colour {
        Colour::White => (HEIGHT - 34, HEIGHT - 88),
        Colour::Black => (34, 88),
    };
    let count = board.supply(colour);
    let label = format!("{colour}: {count} in supply");
    let label = Part::text(30, label).fill(Tone::Faint);
    scene.add(Shape::new(Depth::Board, format!("supply-{}", name(colour)), (WIDTH / 2, label_y)).with(label));
    for n in 0..i16::from(count) {
        let x = WIDTH / 2 + 68 * n - 34 * (i16::from(count) - 1);
        let [body, inner] = tones(colour);
        scene.add(
            Shape::new(Depth::Piece, format!("supply-{}-{n}", name(colour)), (x, y))
                .kind(name(colour))
                .with(Part::disc(28).fill(body).line(Tone::Faint, 3))
                .with(Part::disc(6).fill(inner)),
        );
    }
}

fn board_of(scene: &mut Scene) {
    let middle = (WIDTH / 2, HEIGHT / 2);
    let (width, height) = (5 * CELL + 24, 3 * CELL + 24);
    let frame = Part::rect(width, height, 20).fill(Tone::Board);
    scene.add(Shape::new(Depth::Board, "board", middle).with(frame));
    for field in fields(FIELDS) {
        let is_battlefield = field.bit() & BATTLEFIELDS != 0;
        let tone = if is_battlefield { Tone::Special } else { Tone::Light };
        let cell = Part::rect(CELL - 8, CELL - 8, 10).fill(tone);
        scene.add(Shape::new(Depth::Board, format!("field-{field}"), place(field)).with(cell));
    }
    let centre_at = centre(u32::from(CENTRE).trailing_zeros());
    let mut hole = Shape::new(Depth::Board, "centre", centre_at)
        .with(Part::rect(CELL - 8, CELL - 8, 10).fill(Tone::Dark));
    for radius in [66, 44, 22] {
        hole = hole.with(Part::disc(radius).line(Tone::OnDark, 5));
    }
    scene.add(hole);
    for (file, letter) in (0..5).zip(["a", "b", "c", "d", "e"]) {
        for (edge, y) in [("n", SUPPLY + EDGE / 2 - 4), ("s", HEIGHT - SUPPLY - EDGE / 2 + 4)] {
            let at = (EDGE + CELL * file + CELL / 2, y);
            let text = Part::text(30, letter).fill(Tone::Faint);
            scene.add(Shape::new(Depth::Board, format!("file-{letter}-{edge}"), at).with(text));
        }
    }
    for rank in 0..3 {
        let y = SUPPLY + EDGE + CELL * (2 - rank) + CELL / 2;
        for (edge, x) in [("w", EDGE / 2 - 8), ("e", WIDTH - EDGE / 2 + 8)] {
            let text = Part::text(30, (rank + 1).to_string()).fill(Tone::Faint);
            scene.add(Shape::new(Depth::Board, format!("rank-{rank}-{edge}"), (x, y)).with(text));
        }
    }
}

pub(super) fn scene(position: &Jeex) -> Scene {
    let board = &position.board;
    const { assert!(68 * STONES < WIDTH, "all stones fit in one row") };
    let mut scene = Scene::new(WIDTH, HEIGHT);
    scene.seats = Colour::ALL.map(|colour| tones(colour)[0]).to_vec();
    board_of(&mut scene);
    let mut first = match position.outcome() {
        None => format!("{}: {} to move", board.phase, board.to_move),
        Some(outcome) => {
            let winner = outcome.winner(Jeex::META.seatings[0]);
            let winner = winner.map_or(String::new(), |winner| format!(", {} wins", Colour::ALL[winner]));
            format!("over: {}{winner}", Jeex::META.reason_in_words(outcome.reason))
        }
    };
    if board.removed > 0 {
        first += &format!(", removed stones: {}", board.removed);
    }
    scene.say(first);
    for colour in Colour::ALL {
        supply(&mut scene, board, colour);
        let attackers = board.attackers(colour);
        for field in fields(attackers) {
            let glow = Part::rect(CELL - 8, CELL - 8, 10).fill(Tone::Mark);
            scene.add(Shape::new(Depth::Mark, format!("attack-{field}"), place(field)).with(glow));
        }
        let of_colour = board.stones().filter(|&(_, (owner, _))| owner == colour);
        let stones: Vec<String> = of_colour.map(|(at, (_, facing))| format!("{at} {facing}")).collect();
        let stones = if stones.is_empty() { "no stones".to_owned() } else { stones.join(", ") };
        let attacks: String = fields(attackers).map(|at| format!(" {at}")).collect();
        let attacks =
            if attackers == 0 { String::new() } else { format!("; attacks the centre from{attacks}") };
        scene.say(format!("{colour}: {stones}; supply {}{attacks}", board.supply(colour)));
    }
    for (at, (colour, facing)) in board.stones() {
        scene.add(stone(at, colour, facing));
    }
    if position.quiet_plies > 0 {
        scene.say(format!("{} quiet plies", position.quiet_plies));
    }
    scene
}
