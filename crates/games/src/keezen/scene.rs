//! The position as shapes: the track as a rectangle with seat 0 at the bottom, in it the homes, for each seat a block
//! with its name, its base and its hand, and the pile in the middle.

use std::sync::{Arc, OnceLock};

use super::Keezen;
use super::board::{Board, PAWNS, Square};
use super::cards::Rank;
use super::moves::Move;
use super::position::Position;
use referee_game::scene::{Depth, Part, Shape, Tone};
use referee_game::{Game, MAX_SEATS, Scene, Seat, Turn, Viewer};

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

    fn square(&self, board: &Board, square: Square) -> (i16, i16) {
        match square {
            Square::Track(square) => self.at(self.spoke(square).0),
            Square::Home(seat, square) => {
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
            (self.gap * 9 / 2, self.gap * 51 / 20)
        } else {
            (self.gap * 16 / 5, self.block_width() / 2 + self.gap * 11 / 20)
        };
        (x + along_x * along + dx * inward, y + along_y * along + dy * inward)
    }

    const fn block_size(&self) -> (i16, i16) {
        (self.block_width(), self.card_height() + self.gap + self.plate_height() + 26)
    }

    /// The height of the plate with the name of a seat, at the top of its block.
    const fn plate_height(&self) -> i16 {
        self.gap / 2
    }

    /// The place of a card of a seat.
    fn hand(&self, board: &Board, seat: Seat, n: usize) -> (i16, i16) {
        let ((x, y), (_, height)) = (self.block(board, seat), self.block_size());
        let spread = self.card + 6;
        (x - 2 * spread + spread * n as i16, y + height / 2 - 8 - self.card_height() / 2)
    }

    /// A place of the base of a seat.
    fn base(&self, board: &Board, seat: Seat, n: i16) -> (i16, i16) {
        let ((x, y), (width, height)) = (self.block(board, seat), self.block_size());
        let from_left = self.gap * 3 / 5 + self.gap * 19 / 20 * n;
        (x - width / 2 + from_left, y - height / 2 + self.plate_height() + 10 + self.gap / 2)
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
        Shape::new(Depth::Piece, format!("pawn-{seat}-{place}"), at)
            .kind(format!("pawn-{seat}"))
            .with(Part::disc(self.gap * 2 / 5).fill(tone).line(Tone::Ink, 2))
            .with(Part::text(self.gap / 2, seat.to_string()).fill(ink))
    }
}

/// The shapes that never change: the track, the homes and the blocks, which scenes of the same number of seats share.
fn ground(plan: &Plan, board: &Board) -> Arc<[Shape]> {
    static BY_SEATS: [OnceLock<Arc<[Shape]>>; MAX_SEATS + 1] = [const { OnceLock::new() }; MAX_SEATS + 1];
    BY_SEATS[board.all().count()].get_or_init(|| drawn_ground(plan, board).into()).clone()
}

fn drawn_ground(plan: &Plan, board: &Board) -> Vec<Shape> {
    let height = plan.height();
    let table = Part::rect(WIDTH, height, 30).fill(Tone::Board);
    let mut ground = vec![Shape::new(Depth::Board, "board", (WIDTH / 2, height / 2)).with(table)];
    let radius = plan.gap * 9 / 20;
    for number in 0..board.track() {
        let square = Square::Track(number);
        let owner = board.all().find(|&seat| board.start_of(seat) == number);
        let line = owner.map_or((Tone::Faint, 2), |seat| (TONES[seat.index()], 8));
        ground.push(
            Shape::new(Depth::Board, square.to_string(), plan.square(board, square))
                .with(Part::disc(radius).fill(Tone::Light).line(line.0, line.1))
                .with(Part::text(plan.gap / 3, number.to_string()).fill(Tone::Black)),
        );
    }
    for (seat, number) in board.all().flat_map(|seat| (0..PAWNS as u8).map(move |number| (seat, number))) {
        let square = Square::Home(seat, number);
        ground.push(
            Shape::new(Depth::Board, square.to_string(), plan.square(board, square))
                .with(Part::disc(radius).fill(Tone::Paper).line(TONES[seat.index()], 4))
                .with(Part::text(plan.gap / 3, format!("h{number}")).fill(Tone::Faint)),
        );
    }
    for seat in board.all() {
        let (x, y) = plan.block(board, seat);
        let (width, height) = plan.block_size();
        let block = Part::rect(width, height, 14).fill(Tone::Paper).line(TONES[seat.index()], 3);
        ground.push(Shape::new(Depth::Board, format!("block-{seat}"), (x, y)).with(block));
        let partner = board.partner(seat).map_or(String::new(), |partner| format!(" + {partner}"));
        let plate = Part::rect(width - 14, plan.plate_height(), 8).fill(Tone::Board);
        let label = Part::text(plan.gap * 2 / 5, format!("seat {seat}{partner}")).fill(Tone::Ink);
        let label_at = (x, y - height / 2 + 7 + plan.plate_height() / 2);
        ground.push(Shape::new(Depth::Label, format!("seat-{seat}"), label_at).with_all([plate, label]));
        for n in 0..PAWNS as i16 {
            let hole = Part::disc(plan.gap * 2 / 5).fill(Tone::Light).line(Tone::Faint, 2);
            ground.push(
                Shape::new(Depth::Mark, format!("base-{seat}-{n}"), plan.base(board, seat, n)).with(hole),
            );
        }
    }
    ground
}

/// The mark of the seat to move: on its block, below the base.
fn to_move(plan: &Plan, board: &Board, seat: Seat) -> Shape {
    let (width, height) = plan.block_size();
    let mark = Part::rect(width, height, 14).fill(Tone::Mark).line(Tone::Gold, 7);
    Shape::new(Depth::Board, "to-move", plan.block(board, seat)).with(mark)
}

/// Adds the pawns of a seat.
fn pawns(scene: &mut Scene, plan: &Plan, board: &Board, seat: Seat) {
    let mut words = format!("seat {seat}: pawns");
    for (n, square) in (0..).zip(board.pawns(seat)) {
        let (name, place, at) = match square {
            None => ("base".to_owned(), format!("base-{n}"), plan.base(board, seat, n)),
            Some(square) => (square.to_string(), square.to_string(), plan.square(board, square)),
        };
        words.extend([" ", &name]);
        scene.add(plan.pawn(seat, &place, at));
    }
    scene.say(words);
}

/// Adds the cards of a seat.
fn hand(scene: &mut Scene, plan: &Plan, position: &Position, seat: Seat, is_shown: bool) {
    let hand = position.hands().of(seat);
    let cards = hand.cards();
    for (n, &rank) in cards.iter().enumerate() {
        let copy = cards[..n].iter().filter(|&&other| other == rank).count();
        let id =
            if is_shown { format!("card-{seat}-{rank}-{copy}") } else { format!("card-{seat}-back-{n}") };
        let card = plan.card(is_shown.then_some(rank));
        let at = plan.hand(position.board(), seat, n);
        scene.add(Shape::new(Depth::Piece, id, at).kind("card").with_all(card));
    }
    let names = || cards.iter().map(|rank| format!(" {rank}")).collect::<String>();
    scene.say(if is_shown && !cards.is_empty() {
        format!("seat {seat}: cards{}", names())
    } else {
        format!("seat {seat}: {} cards", cards.len())
    });
}

/// Adds the undealt cards and the pile.
fn middle(scene: &mut Scene, plan: &Plan, position: &Position) {
    let (x, y) = (WIDTH / 2, plan.height() / 2);
    let (pile, undealt) = (position.pile(), position.undealt().len());
    let spread = plan.card + 6;
    let deck_x = x - spread * 9 / 4;
    let label = |id: &str, count: usize, x: i16| {
        let label = Part::text(plan.gap * 2 / 5, format!("{id} {count}")).fill(Tone::Ink);
        let below = y + plan.card_height() / 2 + 26;
        Shape::new(Depth::Board, format!("{id}-label"), (x, below)).with(label)
    };
    scene.add(label("pile", pile.len(), x + spread / 2));
    scene.add(label("deck", undealt, deck_x));
    if undealt > 0 {
        scene.add(Shape::new(Depth::Board, "deck", (deck_x, y)).with_all(plan.card(None)));
    }
    // A card stays at its place until another one takes it.
    let place = |slot: usize| (x - spread + slot as i16 * spread, y);
    let slots = pile.len().min(TOP_OF_PILE);
    for slot in 0..slots {
        // The last card of those that this place has had.
        let at = slot + (pile.len() - 1 - slot) / TOP_OF_PILE * TOP_OF_PILE;
        let card = plan.card(Some(pile[at]));
        let card = Shape::new(Depth::Piece, format!("pile-{at}"), place(slot)).with_all(card);
        // Only the last card can have come from a hand.
        scene.add(if at + 1 == pile.len() { card.kind("card") } else { card });
    }
    if let Some(last) = pile.len().checked_sub(1) {
        let outline = Part::rect(plan.card + 8, plan.card_height() + 8, 11).line(Tone::Gold, 6);
        scene.add(Shape::new(Depth::Mark, "last-card", place(last % TOP_OF_PILE)).with(outline));
    }
}

/// The card of a move, and its pawns.
pub(super) fn places(game: &Keezen, seat: Seat, mv: Move) -> Vec<String> {
    let board = game.position.board();
    let pawns = match mv {
        Move::Enter { partner, .. } => {
            let owner = partner.unwrap_or(seat);
            let in_base = board.pawns(owner).filter(Option::is_none).count();
            vec![format!("base-{owner}-{}", in_base.saturating_sub(1))]
        }
        Move::Go { pawn, .. } => vec![pawn.to_string()],
        Move::Split { first, second, .. } => vec![first.to_string(), second.to_string()],
        Move::Swap { own, other } => [own, other].map(|square| Square::Track(square).to_string()).into(),
    };
    let mut places = vec![format!("card-{seat}-{}-0", mv.card())];
    places.extend(pawns);
    places
}

pub(super) fn scene(game: &Keezen, viewer: Viewer) -> Scene {
    let Keezen { position, cycle, .. } = game;
    let board = position.board();
    let plan = Plan::of(board);
    let mut scene = Scene::new(WIDTH, plan.height());
    scene.seats = board.all().map(|seat| TONES[seat.index()]).collect();
    scene.ground = Some(ground(plan, board));
    scene.say(match (game.turn(), position.to_move) {
        (Turn::Over(outcome), _) => format!("over: {}", Keezen::META.reason_in_words(outcome.reason)),
        (_, Some(seat)) => {
            let own = board.played_by(seat);
            let whose = if own == seat { String::new() } else { format!(" with the pawns of seat {own}") };
            format!("seat {seat} to move{whose}")
        }
        (_, None) => format!("seat {} to deal", position.dealer),
    });
    scene.shapes.extend(position.to_move.map(|seat| to_move(plan, board, seat)));
    middle(&mut scene, plan, position);
    for seat in board.all() {
        pawns(&mut scene, plan, board, seat);
        hand(&mut scene, plan, position, seat, position.shows(seat, viewer));
    }
    let last = position.pile().last().map_or(String::new(), |card| format!(", last card {card}"));
    scene.say(format!("cycle {cycle}, deal {}, dealer {}{last}", position.deal, position.dealer));
    scene
}
