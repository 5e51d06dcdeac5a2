//! A reference implementation of the rules, simple and slow: stones have coordinates around the centre, and every
//! move in the grammar is tested for legality.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::*;
use referee_game::chance::{RandomKey, RandomStream};
use referee_game::perft::perft;
use referee_game::test_length::long_or;

/// East and north of the centre, in cells.
type Place = (i32, i32);

const COMPASS: [(&str, Place); 8] = [
    ("N", (0, 1)),
    ("NE", (1, 1)),
    ("E", (1, 0)),
    ("SE", (1, -1)),
    ("S", (0, -1)),
    ("SW", (-1, -1)),
    ("W", (-1, 0)),
    ("NW", (-1, 1)),
];

fn vector(name: &str) -> Place {
    COMPASS.iter().find(|(known, _)| *known == name).unwrap().1
}

fn compass(vector: Place) -> &'static str {
    COMPASS.iter().find(|(_, known)| *known == vector).unwrap().0
}

fn all_places() -> impl Iterator<Item = Place> {
    (-2..=2).flat_map(|x| (-1..=1).map(move |y| (x, y))).filter(|&place| place != (0, 0))
}

fn name((x, y): Place) -> String {
    format!("{}{}", char::from(b"abcde"[(x + 2) as usize]), y + 2)
}

fn place(name: &str) -> Place {
    let [file, rank] = *name.as_bytes() else { panic!("{name} is no field") };
    (i32::from(file) - i32::from(b'c'), i32::from(rank) - i32::from(b'2'))
}

/// The field at the point of a stone; for the tail turn the vector round.
fn pointed_at((x, y): Place, (dx, dy): Place) -> Option<Place> {
    let next = if (x + dx, y + dy) == (0, 0) { (x + 2 * dx, y + 2 * dy) } else { (x + dx, y + dy) };
    all_places().find(|&place| place == next)
}

fn attacks_centre((x, y): Place, (dx, dy): Place) -> bool {
    (x + dx, y + dy) == (0, 0)
}

/// Every move in the grammar, with its words.
static GRAMMAR: LazyLock<Vec<(&'static str, Vec<&'static str>)>> = LazyLock::new(|| {
    let mut texts = vec!["claim".to_owned()];
    for at in all_places().map(name) {
        for (facing, _) in COMPASS {
            texts.push(format!("place {at} {facing}"));
            texts.push(format!("rotate {at} {facing}"));
        }
        texts.extend(all_places().map(|to| format!("capture {at} {}", name(to))));
    }
    texts.sort();
    let with_words = |text: String| -> (&'static str, Vec<&'static str>) {
        let text: &'static str = text.leak();
        (text, text.split(' ').collect())
    };
    texts.into_iter().map(with_words).collect()
});

#[derive(Clone)]
struct Model {
    stones: BTreeMap<Place, (usize, Place)>,
    supply: [usize; 2],
    removed: usize,
    plies: usize,
    quiet: usize,
    claimed_by: Option<usize>,
}

impl Model {
    fn new() -> Model {
        Model { stones: BTreeMap::new(), supply: [7, 7], removed: 0, plies: 0, quiet: 0, claimed_by: None }
    }

    fn mover(&self) -> usize {
        self.plies % 2
    }

    fn of(&self, seat: usize) -> impl Iterator<Item = (Place, Place)> {
        self.stones
            .iter()
            .filter(move |(_, (owner, _))| *owner == seat)
            .map(|(&at, &(_, facing))| (at, facing))
    }

    fn owner(&self, at: Place) -> Option<usize> {
        self.stones.get(&at).map(|(owner, _)| *owner)
    }

    fn is_legal(&self, words: &[&str]) -> bool {
        let mover = self.mover();
        match *words {
            ["place", at, facing] if self.plies < 2 => {
                let (at, facing) = (place(at), vector(facing));
                !attacks_centre(at, facing)
                    && self.stones.iter().all(|(&first, &(_, first_facing))| {
                        at != first
                            && pointed_at(at, facing) != Some(first)
                            && pointed_at(first, first_facing) != Some(at)
                    })
            }
            _ if self.plies < 2 => false,
            ["place", at, _] => {
                let at = place(at);
                let joins = |(own, (dx, dy))| {
                    pointed_at(own, (dx, dy)) == Some(at) || pointed_at(own, (-dx, -dy)) == Some(at)
                };
                self.supply[mover] > 0 && self.owner(at).is_none() && self.of(mover).any(joins)
            }
            ["rotate", at, facing] => {
                let (at, facing) = (place(at), vector(facing));
                self.of(mover).any(|(own, old)| own == at && old != facing)
            }
            ["capture", from, to] => {
                let (from, to) = (place(from), place(to));
                self.owner(to) == Some(1 - mover)
                    && self.of(mover).any(|(own, facing)| own == from && pointed_at(own, facing) == Some(to))
            }
            ["claim"] => true,
            _ => false,
        }
    }

    /// The legal moves, sorted.
    fn legal(&self) -> Vec<&'static str> {
        GRAMMAR.iter().filter(|(_, words)| self.is_legal(words)).map(|(text, _)| *text).collect()
    }

    fn play(&mut self, text: &str) {
        let words: Vec<&str> = text.split(' ').collect();
        let mover = self.mover();
        self.quiet = if words[0] == "rotate" { self.quiet + 1 } else { 0 };
        match words[..] {
            ["place", at, facing] => {
                self.supply[mover] -= 1;
                self.stones.insert(place(at), (mover, vector(facing)));
            }
            ["rotate", at, facing] => {
                self.stones.insert(place(at), (mover, vector(facing)));
            }
            ["capture", from, to] => {
                let captor = self.stones.remove(&place(from)).unwrap();
                self.stones.insert(place(to), captor);
                if to == "b2" || to == "d2" {
                    self.removed += 1;
                } else {
                    self.supply[mover] += 1;
                }
            }
            _ => self.claimed_by = Some(mover),
        }
        self.plies += 1;
    }

    /// The winner, if there is one, and the reason.
    fn end(&self) -> Option<(Option<usize>, &'static str)> {
        let attacks = |seat| self.of(seat).any(|(at, facing)| attacks_centre(at, facing));
        if let Some(claimant) = self.claimed_by {
            return Some(if attacks(claimant) && !attacks(1 - claimant) {
                (Some(claimant), "claim")
            } else {
                (Some(1 - claimant), "wrong_claim")
            });
        }
        if self.plies >= 2 && (self.of(0).count() == 0 || self.of(1).count() == 0) {
            return Some((None, "no_stones"));
        }
        if self.quiet >= 50 {
            return Some((None, "quiet_plies"));
        }
        (self.plies >= 400).then_some((None, "turn_limit"))
    }

    /// The view, but for the quiet plies after a claim.
    fn view(&self) -> Value {
        let to_move = if self.end().is_none() { vec![self.mover()] } else { vec![] };
        let stones: Map<String, Value> = self
            .stones
            .iter()
            .map(|(&at, &(owner, facing))| (name(at), json!([owner, compass(facing)])))
            .collect();
        json!({
            "to_move": to_move,
            "phase": if self.plies < 2 { "opening" } else { "play" },
            "stones": stones,
            "supply": self.supply,
            "removed": self.removed,
            "quiet_plies": self.quiet,
        })
    }

    fn perft(&self, depth: u32) -> u64 {
        if self.end().is_some() {
            return 0;
        }
        let legal = self.legal();
        if depth == 1 {
            return legal.len() as u64;
        }
        let leaves = legal.iter().map(|text| {
            let mut next = self.clone();
            next.play(text);
            next.perft(depth - 1)
        });
        leaves.sum()
    }
}

/// Asserts that both implementations are in the same position. Returns the legal moves, empty at the end.
fn compare(position: &Jeex, model: &Model) -> Vec<String> {
    let end = match position.turn() {
        Turn::Over(outcome) => Some((outcome.winner(Jeex::META.seatings[0]), outcome.reason)),
        Turn::Decide(_) | Turn::Draw(_) => None,
    };
    assert_eq!(end, model.end(), "{position:?}");
    if model.claimed_by.is_none() {
        let view: Value = serde_json::to_value(position.view(Viewer::Public)).unwrap();
        assert_eq!(view, model.view());
    }
    if end.is_some() {
        return Vec::new();
    }
    let (fast, slow) = (moves(position, ""), model.legal());
    assert!(fast.iter().eq(&slow), "{position:?}\nfast: {fast:?}\nslow: {slow:?}");
    assert_eq!(typed_moves(position).len(), fast.len(), "a move is listed twice: {position:?}");
    fast
}

/// The preference of the random players among the legal moves.
#[derive(Clone, Copy)]
enum Preference {
    Any,
    /// They claim only when they must.
    NoClaims,
    /// They rotate only when they must, so that the board fills.
    Busy,
    /// White captures when it can, Black when it must, so that White's supply grows.
    Hunt,
}

impl Preference {
    const ALL: [Preference; 4] = [Preference::Any, Preference::NoClaims, Preference::Busy, Preference::Hunt];

    fn likes(self, seat: usize, text: &str) -> bool {
        let kind = text.split(' ').next().unwrap();
        match self {
            Preference::Any => true,
            Preference::NoClaims => kind != "claim",
            Preference::Busy => kind == "place" || kind == "capture",
            Preference::Hunt if seat == 0 => kind == "capture",
            Preference::Hunt => kind == "place",
        }
    }
}

/// Plays both implementations in parallel at random, and counts events.
fn play_both(preference: Preference, rng: &mut RandomStream, seen: &mut BTreeMap<&'static str, u32>) {
    let (mut position, mut model) = (started(&Options::default()), Model::new());
    let mut count = |what, happened: bool| *seen.entry(what).or_default() += u32::from(happened);
    loop {
        let legal = compare(&position, &model);
        count("position", true);
        count("supply above seven", model.supply.iter().any(|&supply| supply > 7));
        count("no supply", model.supply.contains(&0));
        if let Some((_, reason)) = model.end() {
            return count(reason, true);
        }
        let liked: Vec<&String> = legal.iter().filter(|text| preference.likes(model.mover(), text)).collect();
        let without_claims = || legal.iter().filter(|text| Preference::NoClaims.likes(0, text)).collect();
        let choice: Vec<&String> = if liked.is_empty() { without_claims() } else { liked };
        let text = choice[rng.uniform(choice.len() as u64) as usize];
        let removed = model.removed;
        model.play(text);
        play(&mut position, &[text]);
        count("captured battlefield stone", model.removed > removed);
    }
}

#[test]
fn the_model_agrees_in_thousands_of_random_positions() {
    let mut rng = RandomKey([1; 32]).stream();
    let mut seen = BTreeMap::new();
    for preference in Preference::ALL.into_iter().cycle().take(80) {
        play_both(preference, &mut rng, &mut seen);
    }
    assert!(seen["position"] > 5000, "{seen:?}");
    for what in [
        "captured battlefield stone",
        "supply above seven",
        "no supply",
        "claim",
        "wrong_claim",
        "no_stones",
        "quiet_plies",
        "turn_limit",
    ] {
        assert!(seen.get(what).is_some_and(|&times| times > 0), "{what} did not happen: {seen:?}");
    }
}

#[test]
fn the_model_agrees_in_the_example_game() {
    let (mut position, mut model) = (started(&Options::default()), Model::new());
    for text in EXAMPLE {
        compare(&position, &model);
        model.play(text);
        play(&mut position, &[text]);
    }
    compare(&position, &model);
}

/// The number of plies of the example game up to the position, and its perft from depth 1.
const KNOWN: [(usize, &[u64]); 3] = [
    (0, &[104, 9_216, 158_480, 2_500_896, 51_249_976]),
    (7, &[32, 699, 23_553, 597_213]),
    (10, &[25, 553, 14_777, 348_812]),
];

#[test]
fn perft_has_the_known_values() {
    for (plies, values) in KNOWN {
        let position = after(&EXAMPLE[..plies]);
        let most = long_or(u64::MAX, 3_000_000);
        for (depth, leaves) in (1..).zip(values.iter().take_while(|&&leaves| leaves <= most)) {
            assert_eq!(perft(&position, depth).unwrap(), *leaves, "depth {depth} after {plies} plies");
        }
    }
}

#[test]
fn the_model_counts_the_same_leaves() {
    for (plies, values) in KNOWN {
        let mut model = Model::new();
        EXAMPLE[..plies].iter().for_each(|text| model.play(text));
        for (depth, leaves) in (1..=long_or(3, 2)).zip(values) {
            assert_eq!(model.perft(depth), *leaves, "depth {depth} after {plies} plies");
        }
    }
}
