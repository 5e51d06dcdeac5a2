//! The position as shapes: the board with rank 7 at the top, seat 1 with its rings and its choice above, seat 0 below.

use super::XeQueo;
use super::pawn::Pawn;
use super::position::{GOAL, Phase};
use super::round::{Reason, Round};
use super::square::{SIDE, Square};
use referee_game::scene::{Depth, Part, Shape, Tone};
use referee_game::{Scene, Seat, Viewer};

const CELL: i16 = 110;
/// The space for the coordinates.
const EDGE: i16 = 50;
/// The height of the state of a player.
const PANEL: i16 = 120;
const WIDTH: i16 = SIDE as i16 * CELL + 2 * EDGE;
const HEIGHT: i16 = SIDE as i16 * CELL + 2 * EDGE + 2 * PANEL;

const SEATS: [Seat; 2] = [Seat(0), Seat(1)];
const TONES: [Tone; 2] = [Tone::White, Tone::Black];

fn centre(square: Square) -> (i16, i16) {
    let along = |number: u8| CELL * i16::from(number) + CELL / 2;
    (EDGE + along(square.file()), PANEL + EDGE + along(SIDE - 1 - square.rank()))
}

const fn tone(pawn: Pawn) -> Tone {
    match pawn {
        Pawn::Red => Tone::Red,
        Pawn::Orange => Tone::Orange,
        Pawn::Yellow => Tone::Yellow,
        Pawn::Green => Tone::Green,
        Pawn::Blue => Tone::Blue,
        Pawn::Purple => Tone::Purple,
        Pawn::Black => Tone::Black,
    }
}

/// A pawn of this radius, with its letter.
fn body(pawn: Pawn, radius: i16) -> [Part; 2] {
    let ink = if pawn == Pawn::Yellow { Tone::Black } else { Tone::White };
    [
        Part::disc(radius).fill(tone(pawn)).line(Tone::Faint, 3),
        Part::text(radius, pawn.letter().to_string()).fill(ink),
    ]
}

/// The end of the previous round in words.
fn end_of_round(round: &Round) -> String {
    let (winner, loser) = (round.winner, 1 - round.winner.0);
    let [zero, one] = round.choices;
    let how = match round.reason {
        Reason::Entered => format!("seat {winner} entered the ring"),
        Reason::EnteredRival => format!("seat {loser} entered the ring with the pawn of seat {winner}"),
        Reason::Accused => format!("seat {winner} accused correctly"),
        Reason::AccusedWrongly => format!("seat {loser} accused wrongly"),
    };
    format!("last round: {how}; choices {zero} and {one}")
}

/// The rings that a seat has won, and its choice.
fn panel(scene: &mut Scene, game: &XeQueo, seat: Seat, viewer: Viewer) {
    let position = &game.position;
    let y = if seat == Seat(0) { HEIGHT - PANEL / 2 + 6 } else { PANEL / 2 - 6 };
    let ground = Part::rect(WIDTH, PANEL - 12, 16).fill(Tone::Board);
    let ground = Shape::new(Depth::Board, format!("panel-{seat}"), (WIDTH / 2, y)).with(ground);
    scene.add(
        ground
            // The plate says how wide a name may be.
            .with(Part::rect(260, 44, 0).at(180 - WIDTH / 2, 0).fill(Tone::Board))
            .with(Part::text(34, format!("seat {seat}")).at(180 - WIDTH / 2, 0).fill(Tone::Ink))
            .with(Part::disc(16).at(40 - WIDTH / 2, 0).fill(TONES[seat.index()]).line(Tone::Faint, 3)),
    );
    for n in 0..i16::from(GOAL) {
        let is_won = n < i16::from(position.rings[seat.index()]);
        let ring = Part::disc(24);
        let ring = if is_won { ring.line(Tone::Gold, 12) } else { ring.line(Tone::Faint, 2) };
        scene.add(Shape::new(Depth::Board, format!("won-{seat}-{n}"), (338 + 60 * n, y)).with(ring));
    }
    let choice = Shape::new(Depth::Piece, format!("choice-{seat}"), (WIDTH - 60, y));
    let (word, choice) = match position.choices[seat.index()] {
        Some(pawn) if viewer.shares(seat) => ("has chosen", choice.with_all(body(pawn, 38))),
        // Both seats have chosen.
        _ if position.phase() == Phase::Play => {
            let hidden =
                [Part::disc(38).fill(Tone::Back).line(Tone::Faint, 3), Part::text(38, "?").fill(Tone::White)];
            ("has chosen", choice.with_all(hidden))
        }
        _ if position.phase() == Phase::Choose => {
            ("chooses", choice.with(Part::disc(38).line(Tone::Faint, 2)))
        }
        // The choices of the last round are public.
        _ => match &game.last_round {
            Some(round) => ("had chosen", choice.with_all(body(round.choices[seat.index()], 38))),
            None => return,
        },
    };
    scene.add(choice);
    let word = Part::text(32, word).fill(Tone::Faint);
    scene.add(Shape::new(Depth::Board, format!("chosen-{seat}"), (WIDTH - 216, y)).with(word));
}

fn board(scene: &mut Scene) {
    let span = i16::from(SIDE) * CELL;
    let frame = Part::rect(span + 16, span + 16, 14).fill(Tone::Board);
    scene.add(Shape::new(Depth::Board, "board", (WIDTH / 2, HEIGHT / 2)).with(frame));
    for square in (0..SIDE).flat_map(|rank| (0..SIDE).map(move |file| Square::at(file, rank))) {
        let is_odd = (square.file() + square.rank()) % 2 == 1;
        let cell = Part::rect(CELL - 4, CELL - 4, 6).fill(if is_odd { Tone::Special } else { Tone::Light });
        scene.add(Shape::new(Depth::Board, format!("square-{square}"), centre(square)).with(cell));
    }
    for number in 0..SIDE {
        let (x, y) = centre(Square::at(number, number));
        let (file, rank) = (char::from(b'a' + number).to_string(), (number + 1).to_string());
        let (near, far) = (EDGE / 2 - 4, WIDTH - EDGE / 2 + 4);
        let (top, bottom) = (PANEL + EDGE / 2 - 4, HEIGHT - PANEL - EDGE / 2 + 4);
        for (edge, label, at) in [
            ("n", &file, (x, top)),
            ("s", &file, (x, bottom)),
            ("w", &rank, (near, y)),
            ("e", &rank, (far, y)),
        ] {
            let text = Part::text(30, label).fill(Tone::Faint);
            scene.add(Shape::new(Depth::Board, format!("label-{label}-{edge}"), at).with(text));
        }
    }
}

pub(super) fn scene(game: &XeQueo, viewer: Viewer) -> Scene {
    let position = &game.position;
    let mut scene = Scene::new(WIDTH, HEIGHT);
    scene.seats = TONES.to_vec();
    board(&mut scene);
    let round = game.round();
    let next = match position.phase() {
        _ if position.pawns.is_none() => "the pawns are being set up".to_owned(),
        Phase::Ring => format!("seat {} places the ring", position.to_move),
        Phase::Choose => "both seats choose a pawn".to_owned(),
        Phase::Play => format!("seat {} to move", position.to_move),
        Phase::Over => "over: rings".to_owned(),
    };
    scene.say(format!("round {round}: {next}"));
    scene.say(format!("rings {} : {}", position.rings[0], position.rings[1]));
    if let Some(ring) = position.ring {
        let part = Part::disc(47).line(Tone::Gold, 11);
        scene.add(Shape::new(Depth::Mark, "ring", centre(ring)).kind("ring").with(part));
        scene.say(format!("ring on {ring}"));
    }
    if let Some(pawns) = position.pawns {
        for (pawn, square) in pawns.iter() {
            scene.add(
                Shape::new(Depth::Piece, format!("{pawn}-{square}"), centre(square))
                    .kind(pawn.name())
                    .with_all(body(pawn, 36)),
            );
        }
        let pawns: Vec<String> = pawns.iter().map(|(pawn, square)| format!("{pawn} {square}")).collect();
        scene.say(pawns.join(", "));
    }
    for seat in SEATS {
        panel(&mut scene, game, seat, viewer);
        if let Some(pawn) = position.choices[seat.index()].filter(|_| viewer.shares(seat)) {
            scene.say(format!("seat {seat} has chosen {pawn}"));
        }
    }
    if let Some(round) = &game.last_round {
        scene.say(end_of_round(round));
    }
    scene
}
