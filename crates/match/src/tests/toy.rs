//! A small game with all features that a match supports: two and three sides, teams, secret choices at once, dice, a
//! shuffle, facts that differ by viewer, a turn limit, and no draws by agreement.
//!
//! Seats collect points. The option `plan` is a round: `a` all bid secretly at once, `p` all but the last seat do,
//! `o` the seats step one after another, `d` two dice are rolled, `s` a card is dealt to each seat. A side with `goal` points
//! wins.

use std::fmt;
use std::str::FromStr;

use referee_game::erased::{ErasedRules, Rules};
use referee_game::{
    Chance, Draw, Fact, Game, MAX_SEATS, Meta, Outcome, Seat, SeatSet, Seating, Turn, Viewer, Wrong,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) static RULES: &dyn Rules = &ErasedRules::<Toy>::RULES;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Options {
    plan: String,
    goal: u8,
    turn_limit: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { plan: "sado".to_owned(), goal: 30, turn_limit: 100 }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Toy {
    seating: Seating,
    plan: Vec<u8>,
    phase: usize,
    /// In the phase `o`.
    to_step: u8,
    points: [u8; MAX_SEATS],
    bids: [u8; MAX_SEATS],
    cards: [u32; MAX_SEATS],
    goal: u8,
    turns_left: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Bid(u8),
    Step(u8),
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Bid(points) => write!(f, "bid{points}"),
            Move::Step(points) => write!(f, "step{points}"),
        }
    }
}

impl FromStr for Move {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Move, Self::Err> {
        match text.strip_prefix("bid") {
            Some(points) => points.parse().map(Move::Bid),
            None => text.trim_start_matches("step").parse().map(Move::Step),
        }
    }
}

#[derive(Debug)]
pub(super) enum ToyFact {
    Dealt([u32; MAX_SEATS]),
    Rolled(Vec<u32>),
    Bids([u8; MAX_SEATS]),
}

impl Fact for ToyFact {
    fn as_seen_by(&self, viewer: Viewer) -> impl Serialize {
        let own = |values: Vec<u32>| match viewer {
            Viewer::Seat(seat) => json!(values[seat.index()]),
            Viewer::Omniscient => json!(values),
            Viewer::Public => Value::Null,
        };
        match self {
            ToyFact::Dealt(cards) => json!({ "kind": "dealt", "card": own(cards.to_vec()) }),
            ToyFact::Rolled(dice) => json!({ "kind": "roll", "dice": dice }),
            ToyFact::Bids(bids) => {
                json!({ "kind": "bids", "own": own(bids.iter().map(|&bid| bid.into()).collect()) })
            }
        }
    }
}

#[derive(Serialize)]
pub(super) struct View {
    card: Option<u32>,
    points: Vec<u8>,
}

impl Toy {
    fn deciding(&self) -> SeatSet {
        let all = self.seating.all();
        match self.plan[self.phase] {
            b'a' => all,
            b'p' => all.iter().take(all.len() - 1).collect(),
            _ => SeatSet::one(Seat(self.to_step)),
        }
    }

    fn next_phase(&mut self) {
        self.phase = (self.phase + 1) % self.plan.len();
    }

    fn outcome(&self) -> Option<Outcome> {
        let of_side = |side| self.seating.members(side).iter().map(|seat| self.points[seat.index()]).sum();
        let sides: Vec<u8> = (0..self.seating.sides()).map(of_side).collect();
        let best = sides.iter().copied().max().filter(|&best| best >= self.goal)?;
        let mut first = (0..sides.len()).filter(|&side| sides[side] == best);
        match (first.next(), first.next()) {
            (Some(side), None) => Some(Outcome::win(side, "goal")),
            _ => Some(Outcome::draw("goal")),
        }
    }
}

impl Game for Toy {
    const META: Meta = Meta {
        id: "toy",
        title: "Toy",
        rules_version: 7,
        seatings: &[Seating::new(2, 2), Seating::new(3, 3), Seating::new(4, 2), Seating::new(6, 3)],
        hidden: true,
        chance: true,
        simultaneous: true,
        draws_by_agreement: false,
        lists_moves: true,
        openings: None,
        amounts: None,
        options: &[],
        reasons: &[],
        rules: "",
    };
    type Options = Options;
    type Move = Move;
    type Fact = ToyFact;
    type View<'a> = View;
    type Key = [u8; MAX_SEATS];
    type Draw = Draw;

    fn start(options: &Options, seating: Seating) -> Result<Toy, Wrong> {
        let Options { plan, goal, turn_limit } = options.clone();
        Ok(Toy {
            seating,
            plan: plan.into_bytes(),
            phase: 0,
            to_step: 0,
            points: [0; MAX_SEATS],
            bids: [0; MAX_SEATS],
            cards: [0; MAX_SEATS],
            goal,
            turns_left: turn_limit,
        })
    }

    fn turn(&self) -> Turn {
        match (self.outcome(), self.plan[self.phase]) {
            (Some(outcome), _) => Turn::Over(outcome),
            (None, _) if self.turns_left == 0 => Turn::Over(Outcome::turn_limit()),
            (None, b's') => Turn::Draw(Draw::Shuffle { len: 52 }),
            (None, b'd') => Turn::Draw(Draw::Dice { count: 2, sides: 6 }),
            (None, _) => Turn::Decide(self.deciding()),
        }
    }

    fn turns_left(&self) -> Option<u32> {
        Some(self.turns_left)
    }

    fn legal_moves(&self, _: Seat, out: &mut Vec<Move>) {
        let make = if self.deciding().len() > 1 { Move::Bid } else { Move::Step };
        out.extend([3, 1, 2].map(make));
    }

    fn play_unchecked(&mut self, seat: Seat, mv: Move, emit: &mut impl FnMut(ToyFact)) {
        let deciding = self.deciding();
        match mv {
            Move::Bid(points) => {
                self.bids[seat.index()] = points;
                if deciding.iter().last() == Some(seat) {
                    for seat in deciding.iter() {
                        self.points[seat.index()] += self.bids[seat.index()];
                    }
                    emit(ToyFact::Bids(std::mem::take(&mut self.bids)));
                    self.turns_left -= 1;
                    self.next_phase();
                }
            }
            Move::Step(points) => {
                self.points[seat.index()] += points;
                self.turns_left -= 1;
                self.to_step = (self.to_step + 1) % self.seating.seats() as u8;
                if self.to_step == 0 {
                    self.next_phase();
                }
            }
        }
    }

    fn view(&self, viewer: Viewer) -> View {
        let card = match viewer {
            Viewer::Seat(seat) => Some(self.cards[seat.index()]),
            Viewer::Public | Viewer::Omniscient => None,
        };
        View { card, points: self.points[..self.seating.seats()].to_vec() }
    }

    fn key(&self) -> [u8; MAX_SEATS] {
        self.points
    }

    fn draw_board(&self, _: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.points)
    }

    fn is_secret(&self, _: Seat, mv: Move) -> bool {
        matches!(mv, Move::Bid(_))
    }
}

impl Chance for Toy {
    fn settle(&mut self, drawn: &[u32], emit: &mut impl FnMut(ToyFact)) {
        match self.plan[self.phase] {
            b's' => {
                self.cards.copy_from_slice(&drawn[..MAX_SEATS]);
                emit(ToyFact::Dealt(self.cards));
            }
            _ => emit(ToyFact::Rolled(drawn.to_vec())),
        }
        self.next_phase();
    }
}
