//! The position as shapes: the track as a rectangle with seat 0 at the bottom, in it the homes, for each seat a block
//! with its base and its hand, and the pile in the middle.

use super::Keezen;
use super::board::{Board, PAWNS, Spot};
use super::cards::Rank;
use super::position::Position;
use crate::core::scene::{Layer, Part, Shape, Tone};
use crate::core::{Game, Scene, Seat, Turn, Viewer};

/// The width of the board.
const WIDTH: i16 = 1000;
const TONES: [Tone; 6] = [Tone::Red, Tone::Blue, Tone::Yellow, Tone::Green, Tone::Purple, Tone::Orange];
/// The last cards of the pile that are drawn.
const TOP_OF_PILE: usize = 4;

/// The measures of a board. The track runs clockwise along the edge of a grid of squares.
struct Plan {
    /// The distance of neighbouring squares.
    gap: i16,
    columns: i16,
    rows: i16,
    /// The width of a card.
    card: i16,
}

/// A point of the grid and the inward direction.
type Spoke = ((i16, i16), (i16, i16));

impl Plan {
    const fn of(board: &Board) -> &'static Plan {
        match board.track() {
            96 => &Plan { gap: 47, columns: 20, rows: 28, card: 54 },
            _ => &Plan { gap: 58, columns: 16, rows: 16, card: 60 },
        }
    }

    const fn height(&self) -> i16 {
        self.rows * self.gap + 2 * self.margin()
    }

    const fn margin(&self) -> i16 {
        (WIDTH - self.columns * self.gap) / 2
    }

    const fn block_width(&self) -> i16 {
        5 * self.card + 40
    }

    const fn card_height(&self) -> i16 {
        self.card * 7 / 5
    }

    /// The place of a square of the track. Seat 0 starts in the middle of the lower edge.
    fn spoke(&self, square: u8) -> Spoke {
        let (columns, rows) = (self.columns, self.rows);
        let along = (i16::from(square) + columns / 2) % (2 * (columns + rows));
        if along < columns {
            ((columns - along, rows), (0, -1))
        } else if along < columns + rows {
            ((0, columns + rows - along), (1, 0))
        } else if along < 2 * columns + rows {
            ((along - columns - rows, 0), (0, 1))
        } else {
            ((columns, along - 2 * columns - rows), (-1, 0))
        }
    }

    fn at(&self, (x, y): (i16, i16)) -> (i16, i16) {
        (self.margin() + self.gap * x, self.margin() + self.gap * y)
    }

    fn spot(&self, board: &Board, spot: Spot) -> (i16, i16) {
        match spot {
            Spot::Track(square) => self.at(self.spoke(square).0),
            Spot::Home(seat, square) => {
                let entrance = (board.start_of(seat) + board.track() - 1) % board.track();
                let ((x, y), (dx, dy)) = self.spoke(entrance);
                let depth = i16::from(square) + 1;
                self.at((x + depth * dx, y + depth * dy))
            }
        }
    }

    /// The middle of the block of a seat: beside its home, on the side of its start.
    fn block(&self, board: &Board, seat: Seat) -> (i16, i16) {
        let (start, (dx, dy)) = self.spoke(board.start_of(seat));
        let (x, y) = self.at(start);
        // The track turns left of the inward direction.
        let (along_x, along_y) = (dy, -dx);
        let (along, inward) = if dx == 0 {
            (self.gap * 9 / 2, self.gap * 53 / 20)
        } else {
            (self.gap * 3, self.block_width() / 2 + self.gap * 11 / 20)
        };
        (x + along_x * along + dx * inward, y + along_y * along + dy * inward)
    }

    fn card(&self, rank: Option<Rank>) -> [Part; 2] {
        let (width, height) = (self.card, self.card_height());
        let card = Part::rect(width, height, 8).line(Tone::Faint, 2);
        match rank {
            Some(rank) => {
                [card.fill(Tone::White), Part::text(width * 11 / 20, rank.name()).fill(Tone::Black)]
            }
            None => [card.fill(Tone::Back), Part::rect(width - 14, height - 14, 5).line(Tone::White, 2)],
        }
    }

    fn pawn(&self, seat: Seat, place: &str, at: (i16, i16)) -> Shape {
        let tone = TONES[seat.index()];
        let ink = if tone == Tone::Yellow { Tone::Black } else { Tone::White };
        Shape::new(Layer::Piece, format!("pawn-{seat}-{place}"), at)
            .kind(format!("pawn-{seat}"))
            .with(Part::disc(self.gap * 2 / 5).fill(tone).line(Tone::Ink, 2))
            .with(Part::text(self.gap / 2, seat.to_string()).fill(ink))
    }
}

fn track(scene: &mut Scene, plan: &Plan, board: &Board) {
    let height = plan.height();
    let ground = Part::rect(WIDTH, height, 30).fill(Tone::Board);
    scene.add(Shape::new(Layer::Board, "board", (WIDTH / 2, height / 2)).with(ground));
    let radius = plan.gap * 9 / 20;
    for square in 0..board.track() {
        let spot = Spot::Track(square);
        let owner = board.all().find(|&seat| board.start_of(seat) == square);
        let line = owner.map_or((Tone::Faint, 2), |seat| (TONES[seat.index()], 8));
        scene.add(
            Shape::new(Layer::Board, spot.to_string(), plan.spot(board, spot))
                .with(Part::disc(radius).fill(Tone::Light).line(line.0, line.1))
                .with(Part::text(plan.gap / 3, square.to_string()).fill(Tone::Faint)),
        );
    }
    for (seat, square) in board.all().flat_map(|seat| (0..PAWNS as u8).map(move |square| (seat, square))) {
        let spot = Spot::Home(seat, square);
        scene.add(
            Shape::new(Layer::Board, spot.to_string(), plan.spot(board, spot))
                .with(Part::disc(radius).fill(Tone::Paper).line(TONES[seat.index()], 4))
                .with(Part::text(plan.gap / 3, format!("h{square}")).fill(Tone::Faint)),
        );
    }
}

/// The base and the hand of a seat.
fn block(scene: &mut Scene, plan: &Plan, position: &Position, seat: Seat, viewer: Viewer) {
    let board = position.board();
    let (x, y) = plan.block(board, seat);
    let (width, height) = (plan.block_width(), plan.card_height() + plan.gap + 30);
    let ground = Part::rect(width, height, 14).fill(Tone::Paper).line(TONES[seat.index()], 3);
    scene.add(Shape::new(Layer::Board, format!("block-{seat}"), (x, y)).with(ground));
    if position.to_move == Some(seat) {
        let mark = Part::rect(width, height, 14).fill(Tone::Mark).line(Tone::Gold, 7);
        scene.add(Shape::new(Layer::Mark, "to-move", (x, y)).with(mark));
    }
    let upper = y - height / 2 + 10 + plan.gap / 2;
    let partner = board.partner(seat).map_or(String::new(), |partner| format!(" + {partner}"));
    let label = Part::text(plan.gap * 7 / 20, format!("seat {seat}{partner}")).fill(Tone::Ink);
    let label_at = (x - width / 4 - 10, upper);
    scene.add(Shape::new(Layer::Label, format!("seat-{seat}"), label_at).with(label));
    for n in 0..PAWNS as i16 {
        let at = (x + width / 2 - 30 - plan.gap * 17 / 20 * (PAWNS as i16 - 1 - n), upper);
        let hole = Part::disc(plan.gap * 2 / 5).fill(Tone::Light).line(Tone::Faint, 2);
        scene.add(Shape::new(Layer::Mark, format!("base-{seat}-{n}"), at).with(hole));
        if position.board().pawns(seat).nth(n as usize) == Some(None) {
            scene.add(plan.pawn(seat, &format!("base-{n}"), at));
        }
    }
    let hand = position.hands().of(seat);
    let is_shown = position.shows(seat, viewer);
    let lower = y + height / 2 - 10 - plan.card_height() / 2;
    let spread = plan.card + 6;
    for (n, &rank) in hand.cards().iter().enumerate() {
        let at = (x - 2 * spread + spread * n as i16, lower);
        let copy = hand.cards()[..n].iter().filter(|&&other| other == rank).count();
        let id =
            if is_shown { format!("card-{seat}-{rank}-{copy}") } else { format!("card-{seat}-back-{n}") };
        let card = plan.card(is_shown.then_some(rank));
        scene.add(Shape::new(Layer::Piece, id, at).kind("card").with_all(card));
    }
}

/// The undealt cards and the pile.
fn middle(scene: &mut Scene, plan: &Plan, position: &Position) {
    let (x, y) = (WIDTH / 2, plan.height() / 2);
    let (pile, undealt) = (position.pile(), position.undealt().len());
    let spread = plan.card + 6;
    let deck_x = x - spread * 9 / 4;
    let below = y + plan.card_height() / 2 + 26;
    for (id, label, at) in [
        ("pile", format!("pile {}", pile.len()), (x + spread / 2, below)),
        ("deck", format!("deck {undealt}"), (deck_x, below)),
    ] {
        let label = Part::text(plan.gap * 2 / 5, label).fill(Tone::Ink);
        scene.add(Shape::new(Layer::Board, format!("{id}-label"), at).with(label));
    }
    if undealt > 0 {
        scene.add(Shape::new(Layer::Board, "deck", (deck_x, y)).with_all(plan.card(None)));
    }
    let top = pile.len().saturating_sub(TOP_OF_PILE);
    for (n, (at, &rank)) in pile.iter().enumerate().skip(top).enumerate() {
        let at_x = x - spread + n as i16 * spread;
        let shape = Shape::new(Layer::Piece, format!("pile-{at}"), (at_x, y));
        scene.add(shape.kind("card").with_all(plan.card(Some(rank))));
    }
}

pub(super) fn scene(game: &Keezen, viewer: Viewer) -> Scene {
    let Keezen { position, cycle, .. } = game;
    let board = position.board();
    let plan = Plan::of(board);
    let mut scene = Scene::new(WIDTH, plan.height());
    scene.seats = board.all().map(|seat| TONES[seat.index()]).collect();
    track(&mut scene, plan, board);
    scene.say(match (game.turn(), position.to_move) {
        (Turn::Over(outcome), _) => format!("over: {}", outcome.reason),
        (_, Some(seat)) => {
            let own = board.played_by(seat);
            let whose = if own == seat { String::new() } else { format!(" with the pawns of seat {own}") };
            format!("seat {seat} to move{whose}")
        }
        (_, None) => format!("seat {} to deal", position.dealer),
    });
    for seat in board.all() {
        block(&mut scene, plan, position, seat, viewer);
        let places = board.pawns(seat).map(|spot| spot.map_or("base".to_owned(), |spot| spot.to_string()));
        let places: Vec<String> = places.collect();
        let hand = position.hands().of(seat);
        let cards: String = hand.cards().iter().map(|card| format!(" {card}")).collect();
        let cards = if position.shows(seat, viewer) && !hand.is_empty() {
            format!("cards{cards}")
        } else {
            format!("{} cards", hand.len())
        };
        scene.say(format!("seat {seat}: pawns {}; {cards}", places.join(" ")));
        for spot in board.pawns(seat).flatten() {
            scene.add(plan.pawn(seat, &spot.to_string(), plan.spot(board, spot)));
        }
    }
    middle(&mut scene, plan, position);
    let last = position.pile().last().map_or(String::new(), |card| format!(", last card {card}"));
    scene.say(format!("cycle {cycle}, deal {}, dealer {}{last}", position.deal, position.dealer));
    scene
}
