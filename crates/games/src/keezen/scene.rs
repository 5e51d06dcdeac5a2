//! The position as shapes: the track as a rectangle with seat 0 at the bottom, in it the homes, for each seat a block
//! with its base and its hand, and the pile in the middle.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxBuildHasher;

use super::Keezen;
use super::board::{Board, PAWNS, Place, Square};
use super::cards::{HAND, Hand, Rank};
use super::position::Position;
use referee_game::scene::{Depth, Layout, List, Names, Part, Row, Shape, Tone};
use referee_game::scenes::{Group, SeenShape, all};
use referee_game::{Game, MAX_SEATS, Scene, Scenes, Seat, Turn, Viewer};

/// The width of the board.
const WIDTH: i16 = 1000;
const TONES: [Tone; 6] = [Tone::Red, Tone::Blue, Tone::Yellow, Tone::Green, Tone::Purple, Tone::Orange];
/// The last cards of the pile that are drawn.
const TOP_OF_PILE: usize = 4;

/// What a shape shows. Equal ones look the same in all matches with the same number of seats.
#[derive(Clone, Copy)]
enum Item {
    /// The mark of the seat to move.
    ToMove(Seat),
    /// A pawn at the place of this number in its base.
    InBase(Seat, u8),
    Pawn(Seat, Square),
    /// A card of a hand: seat, place, and unless it is hidden its rank and how many equal ones precede it.
    Card(Seat, usize, Option<(Rank, usize)>),
    /// A card of the pile, and whether it is the last one.
    OnPile(usize, Rank, bool),
    LastCard(usize),
    PileLabel(usize),
    DeckLabel(usize),
    Deck,
}

impl Item {
    /// A number that no other item has. Seats, places and counts of cards are below 256.
    fn key(self, seats: usize) -> u64 {
        let [kind, a, b, c, d] = match self {
            Item::ToMove(seat) => [0, seat.0, 0, 0, 0],
            Item::InBase(seat, n) => [1, seat.0, n, 0, 0],
            Item::Pawn(seat, Square::Track(square)) => [2, seat.0, square, 0, 0],
            Item::Pawn(seat, Square::Home(owner, square)) => [3, seat.0, owner.0, square, 0],
            Item::Card(seat, n, None) => [4, seat.0, n as u8, 0, 0],
            Item::Card(seat, n, Some((rank, copy))) => [5, seat.0, n as u8, rank as u8, copy as u8],
            Item::OnPile(at, rank, is_last) => [6, at as u8, rank as u8, is_last.into(), 0],
            Item::LastCard(slot) => [7, slot as u8, 0, 0, 0],
            Item::PileLabel(count) => [8, count as u8, 0, 0, 0],
            Item::DeckLabel(count) => [9, count as u8, 0, 0, 0],
            Item::Deck => [10, 0, 0, 0, 0],
        };
        u64::from_be_bytes([0, 0, seats as u8, kind, a, b, c, d])
    }
}

thread_local! {
    /// By key. Scenes are made by the thousand, from few different shapes.
    static SHAPES: RefCell<HashMap<u64, Arc<Shape>, FxBuildHasher>> = const {
        RefCell::new(HashMap::with_hasher(FxBuildHasher))
    };
}

thread_local! {
    /// Consecutive positions share most shapes.
    static LATEST: RefCell<LatestShapes> = const { RefCell::new(LatestShapes { viewers: Vec::new(), seats: Vec::new() }) };
}

/// The shape of an item, which is made once.
fn shared(board: &Board, item: Item, make: impl FnOnce() -> Shape) -> Arc<Shape> {
    let key = item.key(board.all().count());
    SHAPES.with_borrow_mut(|shapes| shapes.entry(key).or_insert_with(|| make().into()).clone())
}

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
            (self.gap * 9 / 2, self.gap * 53 / 20)
        } else {
            (self.gap * 3, self.block_width() / 2 + self.gap * 11 / 20)
        };
        (x + along_x * along + dx * inward, y + along_y * along + dy * inward)
    }

    const fn block_size(&self) -> (i16, i16) {
        (self.block_width(), self.card_height() + self.gap + 30)
    }

    /// The place of a card of a seat.
    fn hand(&self, board: &Board, seat: Seat, n: usize) -> (i16, i16) {
        let ((x, y), (_, height)) = (self.block(board, seat), self.block_size());
        let spread = self.card + 6;
        (x - 2 * spread + spread * n as i16, y + height / 2 - 10 - self.card_height() / 2)
    }

    /// A place of the base of a seat.
    fn base(&self, board: &Board, seat: Seat, n: i16) -> (i16, i16) {
        let ((x, y), (width, height)) = (self.block(board, seat), self.block_size());
        let from_right = 30 + self.gap * 17 / 20 * (PAWNS as i16 - 1 - n);
        (x + width / 2 - from_right, y - height / 2 + 10 + self.gap / 2)
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

/// What never changes: the track, the homes and the blocks, which scenes of the same number of seats share.
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
                .with(Part::text(plan.gap / 3, number.to_string()).fill(Tone::Faint)),
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
        let label = Part::text(plan.gap * 7 / 20, format!("seat {seat}{partner}")).fill(Tone::Ink);
        let label_at = (x - width / 4 - 10, plan.base(board, seat, 0).1);
        ground.push(Shape::new(Depth::Label, format!("seat-{seat}"), label_at).with(label));
        for n in 0..PAWNS as i16 {
            let hole = Part::disc(plan.gap * 2 / 5).fill(Tone::Light).line(Tone::Faint, 2);
            ground.push(
                Shape::new(Depth::Mark, format!("base-{seat}-{n}"), plan.base(board, seat, n)).with(hole),
            );
        }
    }
    ground
}

/// The track, and for each seat the places of its base, its home and its hand; the lists of its pawns in the order of
/// its way, and of its cards.
fn layout(plan: &Plan, board: &Board) -> Arc<Layout> {
    static BY_SEATS: [OnceLock<Arc<Layout>>; MAX_SEATS + 1] = [const { OnceLock::new() }; MAX_SEATS + 1];
    let new = || {
        let track = (0..board.track()).map(|square| plan.square(board, Square::Track(square))).collect();
        let mut layout = Layout::default();
        layout.rows.push(Row { names: Names::Numbered("t".to_owned()), places: track });
        for (index, seat) in board.all().enumerate() {
            let base = (0..PAWNS as i16).map(|n| plan.base(board, seat, n)).collect();
            let home =
                (0..PAWNS as u8).map(|square| plan.square(board, Square::Home(seat, square))).collect();
            let hand = (0..HAND).map(|n| plan.hand(board, seat, n)).collect();
            let first = layout.rows.len();
            layout.rows.extend([
                Row { names: Names::Same("base".to_owned()), places: base },
                Row { names: Names::Numbered(format!("h{seat}.")), places: home },
                Row { names: Names::Hand(seat), places: hand },
            ]);
            let list = |line, what: &str, text, rows| List {
                line,
                of: format!("seat {seat}:"),
                what: what.to_owned(),
                text,
                rows,
            };
            let way = vec![(first, 0), (0, board.start_of(seat).into()), (first + 1, 0)];
            layout.lists.extend([
                list(1 + 2 * index, "pawns", Some(seat.to_string()), way),
                list(2 + 2 * index, "cards", None, vec![(first + 2, 0)]),
            ]);
        }
        layout.into()
    };
    BY_SEATS[board.all().count()].get_or_init(new).clone()
}

/// The mark of the seat to move: on its block, below the base.
fn to_move(plan: &Plan, board: &Board, seat: Seat) -> Arc<Shape> {
    shared(board, Item::ToMove(seat), || {
        let (width, height) = plan.block_size();
        let mark = Part::rect(width, height, 14).fill(Tone::Mark).line(Tone::Gold, 7);
        Shape::new(Depth::Board, "to-move", plan.block(board, seat)).with(mark)
    })
}

/// The pawns of a seat.
fn pawns(plan: &Plan, board: &Board, seat: Seat, all: u32) -> Group {
    let in_base = (0..).zip(board.pawns(seat)).filter(|(_, square)| square.is_none()).map(|(n, _)| {
        shared(board, Item::InBase(seat, n), || {
            plan.pawn(seat, &format!("base-{n}"), plan.base(board, seat, n.into()))
        })
    });
    let others = board.pawns(seat).flatten().map(|square| {
        let pawn = || plan.pawn(seat, &square.to_string(), plan.square(board, square));
        shared(board, Item::Pawn(seat, square), pawn)
    });
    in_base.chain(others).map(|pawn| SeenShape::by(all, pawn)).collect()
}

/// A card of a seat, `None` for its back, at this place of the hand.
fn card(plan: &Plan, board: &Board, seat: Seat, n: usize, face: Option<(Rank, usize)>) -> Arc<Shape> {
    shared(board, Item::Card(seat, n, face), || {
        let id = match face {
            Some((rank, copy)) => format!("card-{seat}-{rank}-{copy}"),
            None => format!("card-{seat}-back-{n}"),
        };
        let card = plan.card(face.map(|(rank, _)| rank));
        Shape::new(Depth::Piece, id, plan.hand(board, seat, n)).kind("card").with_all(card)
    })
}

/// The cards of a seat. The views of the mask show their faces.
fn hand(plan: &Plan, position: &Position, seat: Seat, shown: u32, all: u32) -> Group {
    let board = position.board();
    let hand = position.hands().of(seat);
    let cards = hand.cards().iter().enumerate().map(|(n, &rank)| {
        let copy = hand.cards()[..n].iter().filter(|&&other| other == rank).count();
        let face = card(plan, board, seat, n, Some((rank, copy)));
        if shown == all {
            return SeenShape::by(all, face);
        }
        let back = card(plan, board, seat, n, None);
        let (mask, shape, other) =
            if shown & 1 == 1 { (shown, face, back) } else { (all & !shown, back, face) };
        let others = all & !mask;
        SeenShape { shape, mask, others, other: (others != 0).then_some(other) }
    });
    cards.collect()
}

/// The undealt cards and the pile.
fn middle(plan: &Plan, position: &Position) -> Vec<Arc<Shape>> {
    let mut shapes = Vec::with_capacity(3 + TOP_OF_PILE + 1);
    let (x, y) = (WIDTH / 2, plan.height() / 2);
    let (board, pile, undealt) = (position.board(), position.pile(), position.undealt().len());
    let spread = plan.card + 6;
    let deck_x = x - spread * 9 / 4;
    let label = |id: &str, count: usize, x: i16| {
        let label = Part::text(plan.gap * 2 / 5, format!("{id} {count}")).fill(Tone::Ink);
        let below = y + plan.card_height() / 2 + 26;
        Shape::new(Depth::Board, format!("{id}-label"), (x, below)).with(label)
    };
    shapes.push(shared(board, Item::PileLabel(pile.len()), || label("pile", pile.len(), x + spread / 2)));
    shapes.push(shared(board, Item::DeckLabel(undealt), || label("deck", undealt, deck_x)));
    if undealt > 0 {
        let deck = || Shape::new(Depth::Board, "deck", (deck_x, y)).with_all(plan.card(None));
        shapes.push(shared(board, Item::Deck, deck));
    }
    // Each card stays at its place until another one takes it.
    let place = |slot: usize| (x - spread + slot as i16 * spread, y);
    let slots = pile.len().min(TOP_OF_PILE);
    for slot in 0..slots {
        // The last card of those that this place has had.
        let at = slot + (pile.len() - 1 - slot) / TOP_OF_PILE * TOP_OF_PILE;
        let (rank, is_last) = (pile[at], at + 1 == pile.len());
        shapes.push(shared(board, Item::OnPile(at, rank, is_last), || {
            let card =
                Shape::new(Depth::Piece, format!("pile-{at}"), place(slot)).with_all(plan.card(Some(rank)));
            // Only the last card can have come from a hand.
            if is_last { card.kind("card") } else { card }
        }));
    }
    if let Some(last) = pile.len().checked_sub(1) {
        let slot = last % TOP_OF_PILE;
        shapes.push(shared(board, Item::LastCard(slot), || {
            let outline = Part::rect(plan.card + 8, plan.card_height() + 8, 11).line(Tone::Gold, 6);
            Shape::new(Depth::Mark, "last-card", place(slot)).with(outline)
        }));
    }
    shapes
}

/// The shapes of a seat in the latest scenes, and what they depend on.
#[derive(Default)]
struct SeatShapes {
    places: Option<[Place; PAWNS]>,
    pawns: Group,
    /// The cards, and the views that show their faces.
    cards: Option<(Hand, u32)>,
    hand: Group,
}

impl SeatShapes {
    /// Draws again what has changed.
    fn update(&mut self, plan: &Plan, position: &Position, seat: Seat, viewers: &[Viewer]) {
        let (board, all) = (position.board(), all(viewers.len()));
        let places = Some(*board.places(seat));
        if self.places != places {
            (self.places, self.pawns) = (places, pawns(plan, board, seat, all));
        }
        let shown = shown_to(position, seat, viewers);
        let cards = Some((position.hands().of(seat), shown));
        if self.cards != cards {
            (self.cards, self.hand) = (cards, hand(plan, position, seat, shown, all));
        }
    }
}

/// The viewers that see the cards of a seat, as a set.
fn shown_to(position: &Position, seat: Seat, viewers: &[Viewer]) -> u32 {
    let shown = viewers.iter().enumerate().filter(|&(_, &viewer)| position.shows(seat, viewer));
    shown.fold(0, |mask, (view, _)| mask | 1 << view)
}

/// The scene without its shapes.
fn frame(game: &Keezen, plan: &Plan) -> Scene {
    let Keezen { position, cycle, .. } = game;
    let board = position.board();
    let mut scene = Scene::new(WIDTH, plan.height());
    scene.seats = board.all().map(|seat| TONES[seat.index()]).collect();
    scene.ground = Some(ground(plan, board));
    scene.layout = Some(layout(plan, board));
    scene.say(match (game.turn(), position.to_move) {
        (Turn::Over(outcome), _) => format!("over: {}", Keezen::META.reason_in_words(outcome.reason)),
        (_, Some(seat)) => {
            let own = board.played_by(seat);
            let whose = if own == seat { String::new() } else { format!(" with the pawns of seat {own}") };
            format!("seat {seat} to move{whose}")
        }
        (_, None) => format!("seat {} to deal", position.dealer),
    });
    let last = position.pile().last().map_or(String::new(), |card| format!(", last card {card}"));
    scene.say(format!("cycle {cycle}, deal {}, dealer {}{last}", position.deal, position.dealer));
    scene
}

/// The shapes of the seats in the latest scenes of these viewers.
struct LatestShapes {
    viewers: Vec<Viewer>,
    seats: Vec<SeatShapes>,
}

pub(super) fn scenes(game: &Keezen, viewers: &[Viewer]) -> Scenes {
    let position = &game.position;
    let board = position.board();
    let (plan, all) = (Plan::of(board), all(viewers.len()));
    let of_all = |shapes: Vec<Arc<Shape>>| -> Group {
        shapes.into_iter().map(|shape| SeenShape::by(all, shape)).collect()
    };
    let mark = position.to_move.map(|seat| to_move(plan, board, seat));
    let mut groups = Vec::with_capacity(2 + 2 * MAX_SEATS);
    groups.push(of_all(mark.into_iter().collect()));
    groups.push(of_all(middle(plan, position)));
    LATEST.with_borrow_mut(|latest| {
        let seats = board.all().count();
        if latest.viewers != viewers || latest.seats.len() != seats {
            latest.viewers = viewers.to_vec();
            latest.seats = (0..seats).map(|_| SeatShapes::default()).collect();
        }
        for (seat, shapes) in board.all().zip(&mut latest.seats) {
            shapes.update(plan, position, seat, viewers);
            groups.extend([shapes.pawns.clone(), shapes.hand.clone()]);
        }
    });
    Scenes::shared(frame(game, plan), viewers.len(), groups)
}
