//! A reference implementation that follows the text of the rules: a map of squares, explicit paths, and texts. The
//! fast implementation must agree with it.

use std::collections::BTreeMap;

use super::*;
use crate::battery;
use referee_game::chance::{RandomKey, RandomStream};
use referee_game::test_length::long_or;

const COLOURS: [&str; 7] = ["red", "orange", "yellow", "green", "blue", "purple", "black"];

type Place = (i32, i32);

fn name((file, rank): Place) -> String {
    format!("{}{rank}", char::from_u32('a' as u32 + file as u32 - 1).unwrap())
}

fn all() -> impl Iterator<Item = Place> {
    (1..=7).flat_map(|rank| (1..=7).map(move |file| (file, rank)))
}

fn around((file, rank): Place) -> impl Iterator<Item = Place> {
    let ways = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (x, y)));
    ways.filter(|&way| way != (0, 0)).map(move |(x, y)| (file + x, rank + y))
}

fn is_on_board((file, rank): Place) -> bool {
    (1..=7).contains(&file) && (1..=7).contains(&rank)
}

/// The reference implementation of a game. Files and ranks are counted from 1.
#[derive(Clone)]
struct Slow {
    pawns: BTreeMap<usize, Place>,
    ring: Option<Place>,
    chosen: [Option<usize>; 2],
    rings: [i32; 2],
    /// The winner of the previous round; in round one the seat that begins.
    beginner: usize,
    moved: Vec<(usize, usize, Place)>,
    last: String,
    events: Vec<String>,
}

impl Slow {
    fn new(places: &[Place]) -> Slow {
        Slow {
            pawns: places.iter().copied().enumerate().collect(),
            ring: None,
            chosen: [None, None],
            rings: [0, 0],
            beginner: 0,
            moved: Vec::new(),
            last: "null".to_owned(),
            events: Vec::new(),
        }
    }

    fn phase(&self) -> &'static str {
        match (self.rings.contains(&4), self.ring, self.chosen.contains(&None)) {
            (true, ..) => "over",
            (_, None, _) => "ring",
            (_, _, true) => "choose",
            _ => "play",
        }
    }

    fn movers(&self) -> Vec<usize> {
        match self.phase() {
            "over" => vec![],
            "ring" => vec![1 - self.beginner],
            "choose" => vec![0, 1],
            _ => vec![(self.beginner + self.moved.len()) % 2],
        }
    }

    fn is_free(&self, place: Place) -> bool {
        is_on_board(place) && self.pawns.values().all(|&pawn| pawn != place)
    }

    fn distance(&self, (file, rank): Place) -> i32 {
        let (x, y) = self.ring.unwrap();
        (x - file).pow(2) + (y - rank).pow(2)
    }

    /// Follows every path of jumps that visits no square twice, with the pawn removed from the board.
    fn jump(&self, path: &mut Vec<Place>, ends: &mut BTreeSet<Place>) {
        let from = path[path.len() - 1];
        if Some(from) == self.ring {
            return;
        }
        for over in around(from) {
            let to = (2 * over.0 - from.0, 2 * over.1 - from.1);
            if self.pawns.values().any(|&pawn| pawn == over) && self.is_free(to) && !path.contains(&to) {
                ends.insert(to);
                path.push(to);
                self.jump(path, ends);
                path.pop();
            }
        }
    }

    fn legal(&self, seat: usize) -> BTreeSet<String> {
        let each = |verb: &str| COLOURS.map(|colour| format!("{verb} {colour}"));
        match self.phase() {
            "ring" => {
                let fits = |&place: &Place| {
                    self.is_free(place)
                        && around(place).all(|next| !self.pawns.values().any(|&pawn| pawn == next))
                };
                return all().filter(fits).map(|place| format!("ring {}", name(place))).collect();
            }
            "choose" => return each("choose").into(),
            _ => {}
        }
        let mut moves = BTreeSet::from(each("accuse"));
        for (&pawn, &from) in &self.pawns {
            let mut without = self.clone();
            without.pawns.remove(&pawn);
            let mut ends: BTreeSet<Place> = around(from).filter(|&to| self.is_free(to)).collect();
            without.jump(&mut vec![from], &mut ends);
            for to in ends {
                let may_enter = self.chosen[seat] == Some(pawn) || Some(to) != self.ring;
                if may_enter && self.distance(to) < self.distance(from) {
                    moves.insert(format!("move {} {}", COLOURS[pawn], name(to)));
                }
            }
        }
        moves
    }

    fn win(&mut self, winner: usize, reason: &str) {
        let chosen = self.chosen.map(|pawn| COLOURS[pawn.unwrap()]);
        let fields =
            format!(r#""winner":{winner},"choices":{chosen:?},"reason":"{reason}"}}"#).replace(", ", ",");
        self.events.push(format!(r#"{{"kind":"round",{fields}"#));
        self.last = format!("{{{fields}");
        self.rings[winner] += 1;
        self.beginner = winner;
        self.ring = None;
        self.chosen = [None, None];
        self.moved.clear();
    }

    fn play(&mut self, seat: usize, text: &str) {
        let words: Vec<&str> = text.split(' ').collect();
        let place = |word: &str| all().find(|&place| name(place) == word).unwrap();
        let pawn = COLOURS.iter().position(|&colour| colour == words[1]);
        let rival = 1 - seat;
        match words[0] {
            "ring" => self.ring = Some(place(words[1])),
            "choose" => self.chosen[seat] = pawn,
            "accuse" if self.chosen[rival] == pawn => self.win(seat, "accused"),
            "accuse" => self.win(rival, "accused_wrongly"),
            _ => {
                let to = place(words[2]);
                self.pawns.insert(pawn.unwrap(), to);
                self.moved.push((seat, pawn.unwrap(), to));
                if self.ring == Some(to) {
                    if self.chosen[rival] == pawn {
                        self.win(rival, "entered_rival");
                    } else {
                        self.win(seat, "entered");
                    }
                }
            }
        }
    }

    fn view(&self, seat: Option<usize>) -> String {
        let rounds: i32 = self.rings.iter().sum();
        let round = if self.phase() == "over" { rounds } else { rounds + 1 };
        let pawns: Vec<String> =
            self.pawns.iter().map(|(&pawn, &at)| format!(r#""{}":"{}""#, COLOURS[pawn], name(at))).collect();
        let ring = self.ring.map_or("null".to_owned(), |ring| format!("\"{}\"", name(ring)));
        let choice = seat
            .and_then(|seat| self.chosen[seat])
            .map_or("null".to_owned(), |pawn| format!("{:?}", COLOURS[pawn]));
        let moved: Vec<String> = self
            .moved
            .iter()
            .map(|&(seat, pawn, to)| format!(r#"[{seat},"{}","{}"]"#, COLOURS[pawn], name(to)))
            .collect();
        format!(
            r#"{{"round":{round},"phase":"{}","to_move":{:?},"rings":{:?},"pawns":{{{}}},"ring":{ring},"choice":{choice},"moves":[{}],"last_round":{}}}"#,
            self.phase(),
            self.movers(),
            self.rings,
            pawns.join(","),
            moved.join(","),
            self.last
        )
        .replace(", ", ",")
    }

    /// The sequences of this many turns of this round.
    fn count(&self, depth: u32) -> u64 {
        match (depth, self.phase()) {
            (0, _) => 1,
            (_, "play") => {
                let seat = self.movers()[0];
                let after = |text: &String| {
                    let mut next = self.clone();
                    next.play(seat, text);
                    next.count(depth - 1)
                };
                self.legal(seat).iter().map(after).sum()
            }
            _ => 0,
        }
    }
}

fn pick(rng: &mut RandomStream, count: usize) -> usize {
    rng.uniform(count as u64) as usize
}

/// Statistics of the comparison, to assert its coverage.
#[derive(Debug, Default)]
struct Tally {
    ended: BTreeMap<String, u32>,
    longest_round: usize,
    won: [u32; 2],
}

/// Plays both implementations at random to the end, and compares them after each decision. Accusations are rare, so
/// that rounds can be long.
fn walk(mut fast: XeQueo, mut slow: Slow, rng: &mut RandomStream, tally: &mut Tally) {
    loop {
        let movers = slow.movers();
        assert_eq!(battery::view(&fast, Viewer::Seat(ZERO)), slow.view(Some(0)));
        assert_eq!(battery::view(&fast, Viewer::Seat(ONE)), slow.view(Some(1)));
        assert_eq!(battery::view(&fast, Viewer::Public), slow.view(None));
        tally.longest_round = tally.longest_round.max(slow.moved.len());
        let deciders = match fast.turn() {
            Turn::Over(outcome) => {
                let winner = slow.rings.iter().position(|&rings| rings == 4).unwrap();
                assert_eq!(outcome, Outcome::win(winner, "rings"));
                tally.won[winner] += 1;
                return;
            }
            Turn::Decide(seats) => seats.iter().map(Seat::index).collect::<Vec<_>>(),
            Turn::Draw(draw) => panic!("{draw:?}"),
        };
        assert_eq!(deciders, movers);
        let mut events = Vec::new();
        for seat in movers {
            let mut legal: Vec<String> = slow.legal(seat).into_iter().collect();
            assert_eq!(self::legal(&fast, Seat(seat as u8)), legal, "{}", slow.view(Some(seat)));
            if legal.iter().any(|text| text.starts_with("move")) && pick(rng, 40) > 0 {
                legal.retain(|text| !text.starts_with("accuse"));
            }
            let text = &legal[pick(rng, legal.len())];
            fast.play_unchecked(Seat(seat as u8), text.parse().unwrap(), &mut |fact: Fact| {
                events.push(serde_json::to_string(&fact).unwrap());
            });
            slow.play(seat, text);
        }
        assert_eq!(events, slow.events);
        for event in slow.events.drain(..) {
            *tally.ended.entry(event.split('"').rev().nth(1).unwrap().to_owned()).or_default() += 1;
        }
    }
}

/// A set-up by chance, both ways.
fn dealt(rng: &mut RandomStream) -> (XeQueo, Slow) {
    let mut places: Vec<Place> = all().collect();
    rng.shuffle(&mut places);
    let squares: Vec<String> = places[..7].iter().copied().map(name).collect();
    (set_up(&squares.join(" ")), Slow::new(&places[..7]))
}

#[test]
fn the_reference_rules_agree_in_random_games() {
    let rng = &mut RandomKey([1; 32]).stream();
    let mut tally = Tally::default();
    for _ in 0..long_or(150, 50) {
        let (fast, slow) = dealt(rng);
        walk(fast, slow, rng, &mut tally);
    }
    let Tally { ended, longest_round, won } = &tally;
    assert_eq!(ended.len(), 4, "{tally:?}");
    assert!(ended.values().all(|&times| times >= long_or(20, 5)) && *longest_round >= 30, "{tally:?}");
    assert!(won.iter().all(|&times| times >= long_or(50, 15)), "{tally:?}");
}

#[test]
fn the_reference_rules_agree_in_crowded_positions() {
    let rng = &mut RandomKey([2; 32]).stream();
    let (mut jumps, mut stuck) = (0, 0);
    for _ in 0..5000 {
        // On part of the board there are more jumps, and pawns that are in each other's way.
        let [files, ranks] = [(); 2].map(|()| 3 + pick(rng, 4) as i32);
        let mut places: Vec<Place> = all().filter(|&(file, rank)| file <= files && rank <= ranks).collect();
        rng.shuffle(&mut places);
        let mut slow = Slow::new(&places[..7]);
        let ring = places[7];
        slow.ring = Some(ring);
        slow.chosen = [(); 2].map(|()| Some(pick(rng, 7)));
        let squares: Vec<String> = places[..7].iter().copied().map(name).collect();
        let fast = playing(&squares.join(" "), &name(ring), slow.chosen.map(|pawn| COLOURS[pawn.unwrap()]));
        let legal: Vec<String> = slow.legal(0).into_iter().collect();
        assert_eq!(self::legal(&fast, ZERO), legal, "{}", slow.view(Some(0)));
        jumps += usize::from(legal.len() > 35);
        stuck += usize::from(legal.len() == 7);
    }
    assert!(jumps > 20 && stuck > 3, "{jumps} {stuck}");
}

/// The sequences of this many turns of a round.
fn count(game: &XeQueo, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    if game.position.phase() != Phase::Play {
        return 0;
    }
    let mut moves = Vec::new();
    game.legal_moves(mover(game), &mut moves);
    let after = |&mv: &Move| {
        let mut next = game.clone();
        next.play_unchecked(mover(game), mv, &mut |_| {});
        count(&next, depth - 1)
    };
    moves.iter().map(after).sum()
}

#[test]
fn number_of_turns_of_round_matches_rules_page() {
    let game = formats::of_the_page();
    let numbers: Vec<String> = (1..=4).map(|depth| count(&game, depth).to_string()).collect();
    let line = format!("\n{}.\n", numbers.join(", "));
    assert!(XeQueo::META.rules.ends_with(&line), "the rules page ends otherwise than {line}");

    let places = ["c4", "b2", "g7", "f6", "b6", "f2", "a3"];
    let place = |text: &str| all().find(|&place| name(place) == text).unwrap();
    let mut slow = Slow::new(&places.map(place));
    slow.ring = Some(place("d4"));
    slow.chosen = [Some(0), Some(3)];
    let slowly: Vec<String> = (1..=3).map(|depth| slow.count(depth).to_string()).collect();
    assert_eq!(slowly, numbers[..3]);
}
