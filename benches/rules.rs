//! The speed of the rules: perft, with and without bulk counting of the last ply, random playouts, imagined positions,
//! and verification of PDN.
//!
//! `cargo bench --bench rules`

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use referee::game::chance::Seed;
use referee::game::{
    DrawOf, Game, Imagine, Known, Notation, Seating, Sheet, Turn, Uniform, Validity, Viewer, perft,
};
use referee::games::checkers::Checkers;
use referee::games::chess::Chess;
use referee::games::jeex::Jeex;
use referee::games::keezen::Keezen;
use referee::games::saxum::Saxum;
use referee::games::xe_queo::XeQueo;

fn main() {
    divan::main();
}

fn start<G: Game>(seating: Seating) -> G {
    G::start(&G::Options::default(), seating)
        .unwrap_or_else(|error| unreachable!("the defaults fit: {error}"))
}

/// Perft 9 from the start: 3,963,680 leaves.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn perft_9_bulk(bencher: Bencher) {
    let position: Checkers = start(Checkers::META.seatings[0]);
    bencher.counter(ItemsCount::new(3_963_680u64)).bench(|| perft::perft(&position, 9));
}

/// The same, playing every last move as well.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn perft_9_with_move_lists(bencher: Bencher) {
    fn count(position: &Checkers, depth: usize, lists: &mut [Vec<<Checkers as Game>::Move>]) -> u64 {
        let Some((list, deeper)) = lists.split_first_mut() else { return 1 };
        let Turn::Decide(seats) = position.turn() else { return 0 };
        let Some(seat) = seats.iter().next() else { return 0 };
        list.clear();
        position.legal_moves(seat, list);
        list.iter()
            .map(|&mv| {
                let mut next = position.clone();
                next.play_unchecked(seat, mv, &mut |_| {});
                if depth == 1 {
                    std::hint::black_box(&next);
                    return 1;
                }
                count(&next, depth - 1, deeper)
            })
            .sum()
    }
    let position: Checkers = start(Checkers::META.seatings[0]);
    let mut lists = vec![Vec::new(); 10];
    bencher.counter(ItemsCount::new(3_963_680u64)).bench_local(|| count(&position, 9, &mut lists));
}

/// Perft 5 of chess from the start: 4,865,609 leaves.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn perft_5_of_chess_bulk(bencher: Bencher) {
    let position: Chess = start(Chess::META.seatings[0]);
    bencher.counter(ItemsCount::new(4_865_609u64)).bench(|| perft::perft(&position, 5));
}

/// A linear congruential generator: the random numbers of a match, which are HMACs, take longer than the rules.
struct Fast(u64);

impl Uniform for Fast {
    fn uniform(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 32) * n) >> 32
    }
}

fn playout<G: Game>(seating: Seating, rng: &mut Fast, moves: &mut Vec<G::Move>, drawn: &mut Vec<u32>) -> u32 {
    let mut position: G = start(seating);
    let mut decisions = 0;
    loop {
        match position.turn() {
            Turn::Over(_) => return decisions,
            Turn::Draw(draw) => {
                rng.draw(draw.into(), drawn);
                draw.settle(&mut position, drawn, &mut |_| {});
            }
            Turn::Decide(seats) => {
                for seat in seats.iter() {
                    moves.clear();
                    position.legal_moves(seat, moves);
                    let mv = moves[rng.uniform(moves.len() as u64) as usize];
                    position.play_unchecked(seat, mv, &mut |_| {});
                    decisions += 1;
                }
            }
        }
    }
}

/// A thousand random playouts from the start, equal in every sample.
fn a_thousand_playouts<G: Game>(bencher: Bencher, seating: Seating) {
    let (mut moves, mut drawn) = (Vec::new(), Vec::new());
    bencher.counter(ItemsCount::new(1000u64)).bench_local(|| {
        let mut rng = Fast(7);
        (0..1000).map(|_| playout::<G>(seating, &mut rng, &mut moves, &mut drawn)).sum::<u32>()
    });
}

#[divan::bench(types = [Checkers, Chess, Jeex, Saxum, XeQueo], sample_count = 10, sample_size = 1)]
fn random_playouts<G: Game>(bencher: Bencher) {
    a_thousand_playouts::<G>(bencher, G::META.seatings[0]);
}

/// By the number of seats.
#[divan::bench(args = [2, 4, 6], sample_count = 10, sample_size = 1)]
fn random_playouts_of_keezen(bencher: Bencher, seats: u8) {
    a_thousand_playouts::<Keezen>(bencher, Seating::new(seats, (seats / 2).max(2)));
}

/// A thousand positions that agree with a view after 50 random plays, by the number of seats.
#[divan::bench(args = [2, 4, 6], sample_count = 10, sample_size = 1)]
fn imagined_positions_of_keezen(bencher: Bencher, seats: u8) {
    let seating = Seating::new(seats, (seats / 2).max(2));
    let (mut position, mut moves, mut drawn) = (start::<Keezen>(seating), Vec::new(), Vec::new());
    let mut rng = Fast(7);
    let mut plays = 0;
    let (seat, view) = loop {
        match position.turn() {
            Turn::Over(_) => unreachable!("50 plays do not bring all pawns home"),
            Turn::Draw(draw) => {
                rng.draw(draw, &mut drawn);
                draw.settle(&mut position, &drawn, &mut |_| {});
            }
            Turn::Decide(seats) => {
                let Some(seat) = seats.iter().next() else { unreachable!("a seat decides") };
                if plays == 50 {
                    break (seat, position.view(Viewer::Seat(seat)));
                }
                moves.clear();
                position.legal_moves(seat, &mut moves);
                let mv = moves[rng.uniform(moves.len() as u64) as usize];
                position.play_unchecked(seat, mv, &mut |_| {});
                plays += 1;
            }
        }
    };
    let seen = serde_json::to_string(&view).and_then(|view| serde_json::from_str(&view));
    let seen = seen.unwrap_or_else(|error| unreachable!("a view can be read back: {error}"));
    let options = Default::default();
    let known = Known { options: &options, seating, seat, turns_left: position.turns_left() };
    bencher.counter(ItemsCount::new(1000u64)).bench_local(|| {
        let mut rng = Fast(7);
        (0..1000).map(|_| Keezen::imagine(&known, &seen, &mut rng).position().undealt().len()).sum::<usize>()
    });
}

/// Random matches in the format of the export.
fn collection(notation: &dyn Notation, games: usize) -> String {
    let mut rng = Seed([7; 32]).match_key(Checkers::META.id, "pdn", &[""; 0]).stream();
    let (mut text, mut moves) = (String::new(), Vec::new());
    for game in 0..games {
        let mut position: Checkers = start(Checkers::META.seatings[0]);
        let options = serde_json::value::RawValue::from_string("{}".to_owned());
        let mut sheet = Sheet {
            match_id: format!("m{game}"),
            names: vec!["a".to_owned(), "b".to_owned()],
            options: options.unwrap_or_else(|error| unreachable!("that is JSON: {error}")),
            moves: Vec::new(),
            seats: Vec::new(),
            draws: Vec::new(),
            notes: Vec::new(),
            clocks: Vec::new(),
            ranks: None,
            ended: String::new(),
            tags: Default::default(),
        };
        while let Turn::Decide(seats) = position.turn() {
            for seat in seats.iter() {
                moves.clear();
                position.legal_moves(seat, &mut moves);
                let mv = moves[rng.uniform(moves.len() as u64) as usize];
                sheet.moves.push(mv.to_string());
                position.play_unchecked(seat, mv, &mut |_| {});
            }
        }
        notation.write(&sheet, &mut text).unwrap_or_else(|what| unreachable!("it was played: {what}"));
    }
    text
}

/// A collection of 20,000 random games, checked.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn check_20_000_games_of_pdn(bencher: Bencher) {
    let Some(notation) = Checkers::NOTATION else { return };
    let text = collection(notation, 20_000);
    bencher.counter(ItemsCount::new(20_000u64)).counter(BytesCount::new(text.len())).bench(|| {
        let sound = notation
            .check(text.as_bytes())
            .into_iter()
            .flatten()
            .filter(|game| game.verdict == Validity::Sound)
            .count();
        assert_eq!(sound, 20_000);
    });
}
