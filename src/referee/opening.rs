//! Moves that a match begins with: nobody's decisions.

use serde::{Deserialize, Serialize};

use crate::core::chance::{MatchKey, Stream, Uniform};
use crate::core::erased::{Refused, Table};
use crate::core::game::{Misconfigured, Turn};
use crate::core::seat::Seat;
use crate::referee::event::Stamp;
use crate::referee::match_::Match;

/// The longest opening, in plies.
pub const MAX_PLIES: u32 = 100;
/// How many openings are drawn, one after the other, while each ends the match.
pub const TRIES: u32 = 1_000;

/// What a match begins with before its first turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Fields", try_from = "Fields")]
pub enum Opening {
    /// Nothing.
    #[default]
    None,
    /// So many random moves, which follow from the match key.
    Random(u32),
    /// The moves that the set-up gives, in the game's grammar.
    Given(Vec<String>),
}

/// An opening as a record's first line holds it: one of these fields or none.
#[derive(Serialize, Deserialize)]
struct Fields {
    #[serde(default, skip_serializing_if = "is_zero")]
    opening_plies: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    opening: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(plies: &u32) -> bool {
    *plies == 0
}

impl From<Opening> for Fields {
    fn from(opening: Opening) -> Fields {
        match opening {
            Opening::None => Fields { opening_plies: 0, opening: Vec::new() },
            Opening::Random(opening_plies) => Fields { opening_plies, opening: Vec::new() },
            Opening::Given(opening) => Fields { opening_plies: 0, opening },
        }
    }
}

impl TryFrom<Fields> for Opening {
    type Error = &'static str;

    fn try_from(Fields { opening_plies, opening }: Fields) -> Result<Opening, &'static str> {
        match (opening_plies, opening) {
            (0, moves) if moves.is_empty() => Ok(Opening::None),
            (0, moves) => Ok(Opening::Given(moves)),
            (plies, moves) if moves.is_empty() => Ok(Opening::Random(plies)),
            _ => Err("opening_plies and opening exclude each other: an opening is random or given"),
        }
    }
}

/// An opening that a match cannot begin with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", if *.ply > 0 { format!("ply {ply}: ") } else { String::new() })]
pub struct Unplayable {
    /// The ply, counted from 1; 0 where it is the whole.
    pub ply: usize,
    /// What is wrong with it.
    pub what: String,
}

impl From<Unplayable> for Misconfigured {
    fn from(error: Unplayable) -> Self {
        Misconfigured(error.to_string())
    }
}

/// Refuses openings that are not possible: of a game that has none, too long, illegal, or such that the match would end
/// in them. Whether a random one would is tried out with a key of its own, so that the answer tells nothing about a seed.
///
/// # Errors
/// What is wrong with them.
pub fn check(table: &dyn Table, opening: &Opening) -> Result<(), Unplayable> {
    let id = table.meta().id;
    let refuse = |what| Err(Unplayable { ply: 0, what });
    let plies = match opening {
        Opening::None => return Ok(()),
        Opening::Random(plies) => *plies as usize,
        Opening::Given(moves) => moves.len(),
    };
    if table.meta().openings.is_none() {
        return refuse(format!("{id} has no openings: its matches begin with the first turn"));
    }
    if plies > MAX_PLIES as usize {
        return refuse(format!("an opening of {plies} plies is too long: it has at most {MAX_PLIES}"));
    }
    match (find(table, opening, &mut MatchKey([0; 32]).opening()), opening) {
        (Err(error), Opening::Random(_)) => refuse(format!("{id} with these options: {error}")),
        (found, _) => found.map(drop),
    }
}

/// The moves of an opening as indices of prepared moves.
fn find(start: &dyn Table, opening: &Opening, stream: &mut Stream) -> Result<Vec<(Seat, usize)>, Unplayable> {
    match opening {
        Opening::None => Ok(Vec::new()),
        // One that ends the match is drawn again from the start, the stream running on.
        Opening::Random(plies) => {
            (0..TRIES).find_map(|_| draw(start.fork(), *plies, stream)).ok_or_else(|| {
                let what = format!(
                    "no opening of length {plies} in {TRIES} tries, each ended the match; make it shorter"
                );
                Unplayable { ply: 0, what }
            })
        }
        Opening::Given(moves) => read(start.fork(), moves),
    }
}

fn draw(mut table: Box<dyn Table>, plies: u32, stream: &mut Stream) -> Option<Vec<(Seat, usize)>> {
    let mut moves = Vec::new();
    while let Turn::Decide(seats) = table.turn() {
        if moves.len() == plies as usize {
            return Some(moves);
        }
        let seat = seats.iter().next()?;
        table.prepare(seat);
        let index = stream.uniform(table.count(seat) as u64) as usize;
        table.play(seat, index);
        moves.push((seat, index));
    }
    None
}

fn read(mut table: Box<dyn Table>, texts: &[String]) -> Result<Vec<(Seat, usize)>, Unplayable> {
    let mut moves = Vec::new();
    let mut texts = texts.iter();
    loop {
        let seat = match table.turn() {
            Turn::Decide(seats) => seats.iter().next(),
            Turn::Draw(_) | Turn::Over(_) => None,
        };
        let Some(seat) = seat else {
            let what = "the match would be over before its first turn".to_owned();
            return Err(Unplayable { ply: moves.len(), what });
        };
        let Some(text) = texts.next() else { return Ok(moves) };
        table.prepare(seat);
        let index = table.find(seat, text).map_err(|refused| {
            let shown: String = text.chars().take(40).collect();
            let what = match refused {
                Refused::Illegal => format!("`{shown}` is not legal for seat {seat}"),
                Refused::Ambiguous(all) => format!("`{shown}` may be {}", all.join(", ")),
            };
            Unplayable { ply: moves.len() + 1, what }
        })?;
        table.play(seat, index);
        moves.push((seat, index));
    }
}

impl Match {
    /// Plays the opening, if the set-up wants one.
    pub(super) fn play_opening(&mut self, stamp: Stamp, mut stream: Stream) {
        let moves = match find(&*self.table, &self.setup.header.opening, &mut stream) {
            Ok(moves) => moves,
            Err(error) => return self.break_off(stamp, &error.to_string()),
        };
        for (seat, index) in moves {
            self.table.prepare(seat);
            self.table.play_opening(seat, index);
            self.tell_facts(stamp);
        }
    }
}
