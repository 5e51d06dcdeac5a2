//! Openings: moves played before the first decision.

use std::sync::Arc;

use referee_game::chance::{RandomKey, RandomStream, Uniform};
use referee_game::erased::{MoveError, RulesError, RulesFailed, Table};
use referee_game::{Turn, Wrong};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::common::Common;
use crate::detail::AbortReason;
use crate::event::Stamp;
use crate::limits::Limits;
use crate::match_::PhaseFlow;

/// The longest opening, in plies.
pub const MAX_PLIES: u32 = 100;
/// Attempts to draw a random opening that does not end the match.
pub const TRIES: u32 = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "OpeningFields", try_from = "OpeningFields")]
pub enum Opening {
    #[default]
    None,
    /// The number of random moves, which are derived from the match key.
    Random(u32),
    /// Moves given by the set-up, in the game's grammar.
    Given(Vec<String>),
}

/// An opening in the first line of a record: at most one of these fields is present.
#[derive(Serialize, Deserialize)]
struct OpeningFields {
    #[serde(default, skip_serializing_if = "is_zero")]
    opening_plies: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    opening: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(plies: &u32) -> bool {
    *plies == 0
}

impl From<Opening> for OpeningFields {
    fn from(opening: Opening) -> OpeningFields {
        match opening {
            Opening::None => OpeningFields { opening_plies: 0, opening: Vec::new() },
            Opening::Random(opening_plies) => OpeningFields { opening_plies, opening: Vec::new() },
            Opening::Given(opening) => OpeningFields { opening_plies: 0, opening },
        }
    }
}

impl TryFrom<OpeningFields> for Opening {
    type Error = &'static str;

    fn try_from(OpeningFields { opening_plies, opening }: OpeningFields) -> Result<Opening, &'static str> {
        match (opening_plies, opening) {
            (0, moves) if moves.is_empty() => Ok(Opening::None),
            (0, moves) => Ok(Opening::Given(moves)),
            (plies, moves) if moves.is_empty() => Ok(Opening::Random(plies)),
            _ => Err("opening_plies and opening exclude each other: an opening is random or given"),
        }
    }
}

/// Reasons why a match has no opening.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoOpening {
    #[error("{}{what}", if *.ply > 0 { format!("ply {ply}: ") } else { String::new() })]
    Unplayable {
        /// The invalid ply, counted from 1; 0 for the opening as a whole.
        ply: usize,
        what: String,
    },
    #[error(transparent)]
    RulesFailed(#[from] RulesFailed),
}

impl From<NoOpening> for RulesError {
    fn from(error: NoOpening) -> Self {
        match error {
            NoOpening::RulesFailed(failed) => failed.into(),
            unplayable => Wrong::from(unplayable.to_string()).into(),
        }
    }
}

/// Validates an opening: the game must have openings, and the opening must be legal, not too long and not end the
/// match. Random openings are tested with a fixed key, so that the result leaks nothing about a seed.
///
/// # Errors
/// What is wrong with the opening, or that the rules failed.
pub fn check(table: &dyn Table, opening: &Opening, limits: &Limits) -> Result<(), NoOpening> {
    let id = table.meta().id;
    let refuse = |what| Err(NoOpening::Unplayable { ply: 0, what });
    let plies = match opening {
        Opening::None => return Ok(()),
        Opening::Random(plies) => *plies as usize,
        Opening::Given(moves) => moves.len(),
    };
    if table.meta().openings.is_none() {
        return refuse(format!("{id} has no openings"));
    }
    let most = limits.opening_plies;
    if plies as u64 > most {
        return refuse(format!("an opening of {plies} plies is too long: it has at most {most}"));
    }
    match (find(table, opening, &mut RandomKey([0; 32]).opening(), limits), opening) {
        (Err(error @ NoOpening::Unplayable { .. }), Opening::Random(_)) => {
            refuse(format!("{id} with these options: {error}"))
        }
        (found, _) => found.map(drop),
    }
}

/// Finds the moves of an opening, as indices of legal moves.
fn find(
    start: &dyn Table,
    opening: &Opening,
    stream: &mut RandomStream,
    limits: &Limits,
) -> Result<Vec<usize>, NoOpening> {
    match opening {
        Opening::None => Ok(Vec::new()),
        // If the opening ends the match, start again; the random stream continues.
        &Opening::Random(plies) => {
            let tries = limits.opening_tries;
            for _ in 0..tries {
                if let Some(moves) = draw(start.fork(), plies, stream)? {
                    return Ok(moves);
                }
            }
            let what = AbortReason::NoOpening { plies, tries }.to_string();
            Err(NoOpening::Unplayable { ply: 0, what })
        }
        Opening::Given(moves) => read(start.fork(), moves),
    }
}

fn draw(
    mut table: Box<dyn Table>,
    plies: u32,
    stream: &mut RandomStream,
) -> Result<Option<Vec<usize>>, RulesFailed> {
    let mut moves = Vec::new();
    while let Turn::Decide(decision) = table.ask() {
        if moves.len() == plies as usize {
            return Ok(Some(moves));
        }
        let seat = decision.seats().iter().next().filter(|&seat| table.lists(&decision, seat));
        let Some(seat) = seat else { break };
        let index = stream.uniform(table.count(&decision, seat) as u64) as usize;
        table.play(decision, &[index])?;
        moves.push(index);
    }
    Ok(None)
}

fn read(mut table: Box<dyn Table>, texts: &[String]) -> Result<Vec<usize>, NoOpening> {
    let mut moves = Vec::new();
    let mut texts = texts.iter();
    loop {
        let decision = table.ask().decide();
        let seat = decision.as_ref().and_then(|decision| decision.seats().iter().next());
        let Some((decision, seat)) = decision.zip(seat) else {
            let what = "the match would be over before its first turn".to_owned();
            return Err(NoOpening::Unplayable { ply: moves.len(), what });
        };
        let Some(text) = texts.next() else { return Ok(moves) };
        let index = table.find(&decision, seat, text).map_err(|refused| {
            let shown: String = text.chars().take(40).collect();
            let what = match refused {
                MoveError::Illegal => format!("`{shown}` is not legal for seat {seat}"),
                MoveError::Refused(why) => format!("`{shown}` is not legal for seat {seat}: {why}"),
                MoveError::Ambiguous(all) => format!("`{shown}` may be {}", all.join(", ")),
                MoveError::RulesFailed(failed) => return NoOpening::RulesFailed(failed),
            };
            NoOpening::Unplayable { ply: moves.len() + 1, what }
        })?;
        table.play(decision, &[index])?;
        moves.push(index);
    }
}

/// The position as a digest of the view of the seat to move; `None` in games without openings. Games with
/// openings hide nothing, so the digest is that of the position, by whatever moves it came about.
fn digest(table: &mut dyn Table) -> Option<[u8; 32]> {
    table.meta().openings?;
    let decision = table.ask().decide()?;
    let mut view = Vec::new();
    table.write_view(&decision, decision.seats().iter().next()?, &mut view);
    Some(Sha256::digest(view).into())
}

impl Common {
    /// Plays the opening, if the set-up has one.
    pub(super) fn play_opening(&mut self, stamp: Stamp, mut stream: RandomStream) -> PhaseFlow {
        let header = Arc::clone(&self.setup.header);
        let (opening, tries) = (&header.opening, self.limits.opening_tries);
        if *opening == Opening::None {
            self.opened_at = digest(&mut *self.table);
            return PhaseFlow::Continue(());
        }
        let find = |common: &mut Common| match find(&*common.table, opening, &mut stream, &common.limits) {
            Ok(moves) => Ok(Ok(moves)),
            Err(NoOpening::RulesFailed(failed)) => Err(failed),
            Err(unplayable) => Ok(Err(unplayable)),
        };
        let moves = match (self.call_rules(stamp, find)?, opening) {
            (Ok(moves), _) => moves,
            (Err(_), &Opening::Random(plies)) => {
                return PhaseFlow::Break(self.break_off(stamp, &AbortReason::NoOpening { plies, tries }));
            }
            (Err(error), _) => {
                return PhaseFlow::Break(
                    self.break_off(stamp, &AbortReason::Other { text: error.to_string() }),
                );
            }
        };
        for index in moves {
            if let Turn::Decide(decision) = self.table.ask() {
                self.call_rules(stamp, |common| common.table.play_opening(decision, &[index]))?;
                self.broadcast_facts(stamp);
            }
        }
        self.opened_at = digest(&mut *self.table);
        PhaseFlow::Continue(())
    }
}
