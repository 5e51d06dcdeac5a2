//! A reference implementation that follows the text of the rules: pawns walk square by square, and legality is
//! tested by making moves. The fast implementation must agree with it.

use std::collections::BTreeMap;

use super::*;
use crate::battery;
use referee_game::Fact as _;
use referee_game::chance::{RandomKey, RandomStream};
use referee_game::test_length::long_or;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Base,
    Track(usize),
    Home(usize),
}

type Pawns = Vec<[At; 4]>;

/// An event, with all hidden information.
#[derive(Debug, Clone)]
enum FullEvent {
    Deal(Vec<Vec<&'static str>>),
    HandIn(usize, Vec<&'static str>),
}

/// The reference implementation of a game.
#[derive(Clone)]
struct Slow {
    seats: usize,
    pawns: Pawns,
    hands: Vec<Vec<&'static str>>,
    deck: Vec<&'static str>,
    pile: Vec<&'static str>,
    dealer: usize,
    cycle: usize,
    deal: usize,
    mover: Option<usize>,
    turns_left: u32,
    events: Vec<FullEvent>,
}

const SORTED: [&str; 13] = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];

fn sorted(hand: &[&'static str]) -> Vec<&'static str> {
    SORTED.into_iter().flat_map(|rank| hand.iter().copied().filter(move |&card| card == rank)).collect()
}

fn list(cards: &[&str]) -> String {
    format!("[{}]", cards.iter().map(|card| format!("\"{card}\"")).collect::<Vec<_>>().join(","))
}

fn numbers_of(numbers: impl Iterator<Item = usize>) -> String {
    format!("[{}]", numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(","))
}

impl Slow {
    fn new(seats: usize, turn_limit: u32) -> Slow {
        Slow {
            seats,
            pawns: vec![[At::Base; 4]; seats],
            hands: vec![Vec::new(); seats],
            deck: Vec::new(),
            pile: Vec::new(),
            dealer: seats - 1,
            cycle: 0,
            deal: 0,
            mover: None,
            turns_left: turn_limit,
            events: Vec::new(),
        }
    }

    fn track(&self) -> usize {
        if self.seats == 6 { 96 } else { 64 }
    }

    fn start(&self, seat: usize) -> usize {
        if self.seats == 2 { 32 * seat } else { 16 * seat }
    }

    fn partner(&self, seat: usize) -> Option<usize> {
        match self.seats {
            2 => None,
            4 => Some([2, 3, 0, 1][seat]),
            _ => Some([3, 4, 5, 0, 1, 2][seat]),
        }
    }

    fn is_home(&self, pawns: &Pawns, seat: usize) -> bool {
        pawns[seat].iter().all(|at| matches!(at, At::Home(_)))
    }

    fn winner(&self) -> Option<usize> {
        let teams: Vec<Vec<usize>> = match self.seats {
            2 => vec![vec![0], vec![1]],
            4 => vec![vec![0, 2], vec![1, 3]],
            _ => vec![vec![0, 3], vec![1, 4], vec![2, 5]],
        };
        teams.iter().position(|team| team.iter().all(|&seat| self.is_home(&self.pawns, seat)))
    }

    /// The next square of a seat's way.
    fn next(&self, seat: usize, at: At) -> Option<At> {
        match at {
            At::Base | At::Home(3) => None,
            At::Home(square) => Some(At::Home(square + 1)),
            At::Track(square) => {
                let next = (square + 1) % self.track();
                Some(if next == self.start(seat) { At::Home(0) } else { At::Track(next) })
            }
        }
    }

    fn on(&self, pawns: &Pawns, square: usize) -> Option<(usize, usize)> {
        pawns.iter().enumerate().find_map(|(seat, pawns)| {
            let pawn = pawns.iter().position(|&at| at == At::Track(square))?;
            Some((seat, pawn))
        })
    }

    /// Returns whether a pawn of the seat may be on this square at least in passing.
    fn is_open(&self, pawns: &Pawns, seat: usize, at: At) -> bool {
        match at {
            At::Base => false,
            At::Home(_) => !pawns[seat].contains(&at),
            At::Track(square) => self.on(pawns, square).is_none_or(|(owner, _)| self.start(owner) != square),
        }
    }

    /// Puts a pawn down; who stands there goes back.
    fn land(&self, pawns: &Pawns, seat: usize, pawn: usize, at: At) -> Pawns {
        let mut pawns = pawns.clone();
        if let At::Track(square) = at
            && let Some((owner, captured)) = self.on(&pawns, square)
        {
            pawns[owner][captured] = At::Base;
        }
        pawns[seat][pawn] = at;
        pawns
    }

    fn forward(&self, pawns: &Pawns, seat: usize, pawn: usize, steps: usize) -> Option<Pawns> {
        let mut at = pawns[seat][pawn];
        for _ in 0..steps {
            at = self.next(seat, at).filter(|&at| self.is_open(pawns, seat, at))?;
        }
        Some(self.land(pawns, seat, pawn, at))
    }

    fn backward(&self, pawns: &Pawns, seat: usize, pawn: usize) -> Option<Pawns> {
        let At::Track(mut square) = pawns[seat][pawn] else { return None };
        for _ in 0..4 {
            square = if square == 0 { self.track() - 1 } else { square - 1 };
            if !self.is_open(pawns, seat, At::Track(square)) {
                return None;
            }
        }
        Some(self.land(pawns, seat, pawn, At::Track(square)))
    }

    fn enter(&self, pawns: &Pawns, seat: usize) -> Option<Pawns> {
        let pawn = pawns[seat].iter().position(|&at| at == At::Base)?;
        let start = At::Track(self.start(seat));
        (!pawns[seat].contains(&start)).then(|| self.land(pawns, seat, pawn, start))
    }

    fn name(seat: usize, at: At) -> String {
        match at {
            At::Base => "base".to_owned(),
            At::Track(square) => format!("t{square}"),
            At::Home(square) => format!("h{seat}.{square}"),
        }
    }

    /// The plays of a card and the pawns after them.
    fn plays(&self, seat: usize, card: &str) -> BTreeMap<String, Pawns> {
        let mut plays = BTreeMap::new();
        let before = &self.pawns;
        let helps = self.is_home(before, seat) && self.partner(seat).is_some();
        let own = if helps { self.partner(seat).unwrap() } else { seat };
        let named = |pawn: usize| Slow::name(own, before[own][pawn]);
        let mut add = |text: String, after: Option<Pawns>| {
            if let Some(after) = after {
                plays.insert(text, after);
            }
        };
        let entered = |owner: usize| {
            if owner == seat { format!("{card} enter") } else { format!("{card} enter {owner}") }
        };
        match card {
            "J" => {
                let is_loose = |seat: usize, at: At| match at {
                    At::Track(square) => square != self.start(seat),
                    _ => false,
                };
                for pawn in 0..4 {
                    for other in (0..self.seats).filter(|&other| other != own) {
                        for theirs in 0..4 {
                            let squares = (before[own][pawn], before[other][theirs]);
                            if is_loose(own, squares.0) && is_loose(other, squares.1) {
                                let mut after = before.clone();
                                after[own][pawn] = squares.1;
                                after[other][theirs] = squares.0;
                                let [one, two] = [squares.0, squares.1].map(|at| Slow::name(own, at));
                                add(format!("J {one} {two}"), Some(after));
                            }
                        }
                    }
                }
            }
            "K" => {
                add(entered(own), self.enter(before, own));
                if let Some(partner) = self.partner(seat)
                    && !before[seat].contains(&At::Base)
                {
                    add(entered(partner), self.enter(before, partner));
                }
            }
            "4" => {
                (0..4).for_each(|pawn| add(format!("4 {}", named(pawn)), self.backward(before, own, pawn)));
            }
            _ => {
                let steps = match card {
                    "A" => 1,
                    "Q" => 12,
                    number => number.parse().unwrap(),
                };
                if card == "A" {
                    add(entered(own), self.enter(before, own));
                }
                for pawn in 0..4 {
                    add(format!("{card} {}", named(pawn)), self.forward(before, own, pawn, steps));
                }
            }
        }
        if card == "7" {
            for pawn in 0..4 {
                for steps in 1..7 {
                    let Some(between) = self.forward(before, own, pawn, steps) else { continue };
                    let comes_home = !self.is_home(before, seat) && self.is_home(&between, seat);
                    let partner = self.partner(seat).filter(|_| comes_home);
                    for owner in [Some(own), partner].into_iter().flatten() {
                        for (second, &at) in before[owner].iter().enumerate() {
                            if (owner, second) != (own, pawn) {
                                let name = Slow::name(owner, at);
                                let text = format!("7 {} {steps} {name} {}", named(pawn), 7 - steps);
                                add(text, self.forward(&between, owner, second, 7 - steps));
                            }
                        }
                    }
                }
            }
        }
        plays
    }

    fn all_plays(&self, seat: usize) -> BTreeMap<String, Pawns> {
        self.hands[seat].iter().flat_map(|card| self.plays(seat, card)).collect()
    }

    fn play(&mut self, text: &str) {
        let seat = self.mover.unwrap();
        self.pawns = self.all_plays(seat).remove(text).unwrap();
        let card = text.split(' ').next().unwrap();
        let at = self.hands[seat].iter().position(|&held| held == card).unwrap();
        self.pile.push(self.hands[seat].remove(at));
        self.turns_left -= 1;
        self.mover = None;
        if self.winner().is_none() && self.turns_left > 0 {
            self.find_mover(seat);
        }
    }

    fn shuffled(&mut self, drawn: &[u32]) {
        let ordered = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]
            .map(|rank| vec![rank; self.seats])
            .concat();
        self.deck = drawn.iter().map(|&number| ordered[number as usize]).collect();
        self.deal();
        self.find_mover(self.dealer);
    }

    fn deal(&mut self) {
        for _ in 0..[5, 4, 4][self.deal] {
            for seat in (self.dealer + 1..).take(self.seats) {
                self.hands[seat % self.seats].push(self.deck.remove(0));
            }
        }
        self.events.push(FullEvent::Deal(self.hands.clone()));
    }

    fn find_mover(&mut self, last: usize) {
        if self.hands.iter().all(Vec::is_empty) {
            if self.deal == 2 {
                self.deal = 0;
                self.cycle += 1;
                self.dealer = (self.dealer + 1) % self.seats;
                self.pile.clear();
                return;
            }
            self.deal += 1;
            self.deal();
            return self.find_mover(self.dealer);
        }
        let seat = (last + 1) % self.seats;
        if self.hands[seat].is_empty() {
            return self.find_mover(seat);
        }
        if self.all_plays(seat).is_empty() {
            let hand = sorted(&std::mem::take(&mut self.hands[seat]));
            self.pile.extend(&hand);
            self.events.push(FullEvent::HandIn(seat, hand));
            return self.find_mover(seat);
        }
        self.mover = Some(seat);
    }

    fn sees(&self, viewer: Viewer, seat: usize) -> bool {
        match viewer {
            Viewer::Omniscient => true,
            Viewer::Public => false,
            Viewer::Seat(viewer) => {
                let is_open = self.is_home(&self.pawns, viewer.index()) || self.is_home(&self.pawns, seat);
                viewer.index() == seat || is_open && self.partner(seat) == Some(viewer.index())
            }
        }
    }

    fn view(&self, viewer: Viewer) -> String {
        let own = (0..self.seats).find(|&seat| viewer == Viewer::Seat(Seat(seat as u8)));
        let order = |seat: usize, at: &At| match *at {
            At::Base => 0,
            At::Track(square) => 1 + (square + self.track() - self.start(seat)) % self.track(),
            At::Home(square) => 1000 + square,
        };
        let pawns = (0..self.seats).map(|seat| {
            let mut pawns = self.pawns[seat];
            pawns.sort_by_key(|at| order(seat, at));
            let names = pawns.map(|at| Slow::name(seat, at));
            list(&names.each_ref().map(String::as_str))
        });
        let others = (0..self.seats).filter(|&seat| Some(seat) != own && self.sees(viewer, seat));
        let others = others.map(|seat| format!("\"{seat}\":{}", list(&sorted(&self.hands[seat]))));
        let plays_for = self.mover.map(|seat| {
            self.partner(seat).filter(|_| self.is_home(&self.pawns, seat)).unwrap_or(seat).to_string()
        });
        format!(
            r#"{{"to_move":{},"track":{},"starts":{},"pawns":[{}],"hand":{},"hands":{{{}}},"cards":{},"dealer":{},"cycle":{},"deal":{},"pile":{},"playing_for":{}}}"#,
            numbers_of(self.mover.into_iter()),
            self.track(),
            numbers_of((0..self.seats).map(|seat| self.start(seat))),
            pawns.collect::<Vec<_>>().join(","),
            own.map_or("null".to_owned(), |seat| list(&sorted(&self.hands[seat]))),
            others.collect::<Vec<_>>().join(","),
            numbers_of(self.hands.iter().map(Vec::len)),
            self.dealer,
            self.cycle,
            self.deal,
            list(&self.pile),
            plays_for.unwrap_or("null".to_owned()),
        )
    }

    fn seen_by(&self, event: &FullEvent, viewer: Viewer) -> String {
        match event {
            FullEvent::HandIn(seat, cards) => {
                format!(r#"{{"kind":"hand_in","seat":{seat},"cards":{}}}"#, list(cards))
            }
            FullEvent::Deal(hands) => {
                let all = || {
                    let of = |(seat, hand): (usize, &Vec<&'static str>)| {
                        format!("\"{seat}\":{}", list(&sorted(hand)))
                    };
                    hands.iter().enumerate().map(of).collect::<Vec<_>>().join(",")
                };
                match viewer {
                    Viewer::Public => r#"{"kind":"deal","hand":null}"#.to_owned(),
                    Viewer::Omniscient => format!(r#"{{"kind":"deal","hand":null,"hands":{{{}}}}}"#, all()),
                    Viewer::Seat(seat) => {
                        format!(r#"{{"kind":"deal","hand":{}}}"#, list(&sorted(&hands[seat.index()])))
                    }
                }
            }
        }
    }

    fn turn(&self) -> Turn {
        match (self.winner(), self.mover) {
            (Some(side), _) => Turn::Over(Outcome::win(side, "home")),
            _ if self.turns_left == 0 => Turn::Over(Outcome::turn_limit()),
            (None, Some(seat)) => Turn::Decide(SeatSet::one(Seat(seat as u8))),
            (None, None) => Turn::Draw(Draw::Shuffle { len: 13 * self.seats as u16 }),
        }
    }
}

/// Statistics of the comparison, to assert its coverage.
#[derive(Debug, Default)]
struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    fn count(&mut self, what: &'static str, times: usize) {
        *self.0.entry(what).or_default() += times;
    }

    fn note_move(&mut self, before: &Slow, text: &str, after: &Slow) {
        let seat = before.mover.unwrap();
        let words: Vec<&str> = text.split(' ').collect();
        let in_base =
            |slow: &Slow, seat: usize| slow.pawns[seat].iter().filter(|&&at| at == At::Base).count();
        let partner = before.partner(seat);
        let is_home = before.is_home(&before.pawns, seat);
        let lost = |other: usize| usize::from(in_base(after, other) > in_base(before, other));
        self.count("captures", (0..before.seats).map(lost).sum());
        self.count("own captures", lost(seat));
        self.count("partners captured", partner.map_or(0, lost));
        self.count("swaps", usize::from(words[0] == "J"));
        self.count("fours", usize::from(words[0] == "4"));
        self.count("splits", usize::from(words.len() == 5));
        self.count("help", usize::from(is_home));
        if let Some(partner) = partner {
            let moved = before.pawns[partner] != after.pawns[partner];
            self.count("kings for the partner", usize::from(words.len() == 3 && words[0] == "K" && !is_home));
            self.count("splits with the partner", usize::from(words.len() == 5 && moved && !is_home));
        }
    }
}

/// Plays both implementations at random for this many decisions and shuffles, and compares them after each.
fn walk(mut fast: Keezen, mut slow: Slow, steps: usize, rng: &mut RandomStream, tally: &mut Tally) {
    let viewers: Vec<Viewer> = (0..slow.seats as u8)
        .map(|seat| Viewer::Seat(Seat(seat)))
        .chain([Viewer::Public, Viewer::Omniscient])
        .collect();
    for _ in 0..steps {
        for &viewer in &viewers {
            assert_eq!(battery::view(&fast, viewer), slow.view(viewer));
        }
        let turn = slow.turn();
        assert_eq!(fast.turn(), turn, "{}", slow.view(Viewer::Omniscient));
        assert_eq!(fast.turns_left(), Some(slow.turns_left));
        tally.count("positions", 1);
        let mut facts = Vec::new();
        match turn {
            Turn::Over(outcome) => {
                tally.count(outcome.reason, 1);
                return;
            }
            Turn::Draw(draw) => {
                let mut drawn = Vec::new();
                rng.draw(draw, &mut drawn);
                fast.settle(&drawn, &mut |fact| facts.push(fact));
                slow.shuffled(&drawn);
                tally.count("cycles", 1);
            }
            Turn::Decide(_) => {
                let seat = slow.mover.unwrap();
                let plays: Vec<String> = slow.all_plays(seat).into_keys().collect();
                assert_eq!(legal(&fast), plays.join(", "), "{}", slow.view(Viewer::Omniscient));
                let text = &plays[rng.uniform(plays.len() as u64) as usize];
                fast.play_unchecked(Seat(seat as u8), text.parse().unwrap(), &mut |fact| facts.push(fact));
                let before = slow.clone();
                slow.play(text);
                tally.note_move(&before, text, &slow);
            }
        }
        for &viewer in &viewers {
            let events: Vec<String> = slow.events.iter().map(|event| slow.seen_by(event, viewer)).collect();
            let heard: Vec<String> =
                facts.iter().map(|fact| serde_json::to_string(&fact.as_seen_by(viewer)).unwrap()).collect();
            assert_eq!(heard, events);
        }
        let is_hand_in = |event: &&FullEvent| matches!(event, FullEvent::HandIn(..));
        tally.count("hands handed in", slow.events.iter().filter(is_hand_in).count());
        slow.events.clear();
    }
}

/// A random position in the last round of a cycle, with many pawns near and in their homes and on starts.
fn random_position(seats: usize, rng: &mut RandomStream) -> Slow {
    let mut number = |below: usize| rng.uniform(below as u64) as usize;
    let mut slow = Slow::new(seats, 5000);
    let mut deck: Vec<&'static str> = SORTED.map(|rank| vec![rank; seats]).concat();
    let is_late = number(2) == 0;
    for seat in 0..seats {
        for pawn in 0..4 {
            let near = (slow.start(seat) + slow.track() - 1 - number(14)) % slow.track();
            let after_a_start = (slow.start(number(seats)) + number(14)) % slow.track();
            let at = match number(if is_late { 14 } else { 8 }) {
                0 => At::Base,
                1 => At::Track(number(slow.track())),
                2 => At::Track(slow.start(seat)),
                3 => At::Track(after_a_start),
                4 | 5 => At::Track(near),
                _ => At::Home(number(4)),
            };
            let is_free = match at {
                At::Base => true,
                At::Track(square) => slow.on(&slow.pawns, square).is_none(),
                At::Home(_) => !slow.pawns[seat].contains(&at),
            };
            if is_free {
                slow.pawns[seat][pawn] = at;
            }
        }
    }
    slow.deal = 2;
    slow.dealer = number(seats);
    for seat in 0..seats {
        for _ in 0..number(5) {
            let card = deck.remove(number(deck.len()));
            slow.hands[seat].push(card);
        }
    }
    // The rest has been played.
    slow.pile = deck;
    slow
}

#[test]
fn the_reference_rules_agree_in_random_positions() {
    let rng = &mut RandomKey([1; 32]).stream();
    let mut tally = Tally::default();
    for seats in [2, 4, 6] {
        for _ in 0..long_or(800, 200) {
            let mut slow = random_position(seats, rng);
            let Some(mover) = (0..seats).find(|&seat| !slow.all_plays(seat).is_empty()) else { continue };
            slow.mover = slow.winner().is_none().then_some(mover);
            if slow.mover.is_some() {
                walk(formats::imagined(&slow.view(Viewer::Omniscient)), slow, 15, rng, &mut tally);
            }
        }
    }
    for what in [
        "captures",
        "own captures",
        "partners captured",
        "swaps",
        "fours",
        "splits",
        "help",
        "kings for the partner",
        "splits with the partner",
        "hands handed in",
        "cycles",
        "home",
    ] {
        let least = long_or(10, 3);
        assert!(tally.0.get(what).is_some_and(|&times| times >= least), "too few {what}: {tally:?}");
    }
}

#[test]
fn the_reference_rules_agree_in_random_games() {
    let rng = &mut RandomKey([2; 32]).stream();
    let mut tally = Tally::default();
    for seats in [2, 4, 6] {
        for turn_limit in [5000, 5000, 20, 300] {
            let options = Options { turn_limit };
            let fast = Keezen::start(&options, seating(seats)).unwrap();
            walk(fast, Slow::new(seats.into(), turn_limit), usize::MAX, rng, &mut tally);
        }
    }
    for (what, times) in [("home", 1), ("turn_limit", 3), ("cycles", 50), ("hands handed in", 100)] {
        assert!(tally.0.get(what).is_some_and(|&count| count >= times), "too few {what}: {tally:?}");
    }
}
