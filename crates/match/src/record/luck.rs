//! The luck of the sides in a recorded match: what the draws of the referee were worth.
//!
//! The value of a position for one side against another is its mean score in random playouts
//! ([`playout`](referee_game::playout::playout)). The luck of a draw is the value of the position after the numbers that came, less the
//! mean value over all numbers that could have come. The numbers are uniform whatever happened before, since the seed is
//! committed to before the match, so the luck of each draw has the mean 0 given everything before it, and so has the luck of
//! a match. Its score less its luck has the mean of the score, whatever the playouts are worth; the better they predict the
//! result, the smaller is its variance. This is DIVAT (D. Billings, M. Kan, *ICGA Journal* 29, 2006, 169-178) and the part of AIVAT
//! (N. Burch, M. Schmid, M. Moravčík, M. Bowling, *AAAI* 2018) that concerns chance, as control variates of M. White, M.
//! Bowling, *IJCAI* 2009.
//!
//! The values are estimated: that of the numbers that came with a number of playouts, and the mean with as many, or a few more,
//! that begin with numbers of their own. If there are at most as many different numbers as playouts, each of these has the same
//! number of playouts. Both estimates are unbiased, and their random numbers come from the commitment of the match and the
//! number of the draw ([`Seed::luck_stream`]), not from its seed, so the noise adds variance and no bias.
//!
//! The values can come from something else ([`PositionValues`]), such as a bot. It is asked about all results of a draw, or about what came at a
//! random place among others that were drawn, and cannot tell which of them came. So the mean luck of a draw is 0 whatever it
//! answers, even if it remembers or is random: its answers depend on the past and not on the result.

use std::fmt::Debug;

use referee_game::chance::{Draw, Seed, Uniform};
use referee_game::erased::{RulesFailed, Table};
use referee_game::{Catalog, Seating, Turn, hex};

use crate::Header;
use crate::record::{Difference, Playback};

/// The luck in a recorded match.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchLuck {
    pub match_id: String,
    pub game: String,
    pub seating: Seating,
    /// The names of the bots by seat.
    pub seats: Vec<String>,
    /// The match seed, which the matches of a mirrored set share.
    pub seed: Seed,
    pub draws: u32,
    /// The luck of each two sides, in order; `None` if the match was aborted.
    pub pairs: Option<Vec<PairLuck>>,
}

/// The luck of a side against another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLuck {
    pub sides: [usize; 2],
    /// The score of the first: 1 if it is ahead of the second, 1/2 if they are equal.
    pub score: f64,
    /// The luck, in the same unit.
    pub luck: f64,
}

impl MatchLuck {
    /// The score and the luck of a side: the means against all others.
    pub fn of_side(&self, side: usize) -> Option<(f64, f64)> {
        let own = self.pairs.as_ref()?.iter().filter_map(|pair| match pair.sides {
            [first, _] if first == side => Some((pair.score, pair.luck)),
            [_, second] if second == side => Some((1.0 - pair.score, -pair.luck)),
            _ => None,
        });
        let (count, score, luck) =
            own.fold((0.0, 0.0, 0.0), |(n, score, luck), of| (n + 1.0, score + of.0, luck + of.1));
        (count > 0.0).then(|| (score / count, luck / count))
    }
}

/// Reasons why the luck of a match is unknown.
#[derive(Debug, thiserror::Error)]
pub enum NoLuck {
    #[error(transparent)]
    Difference(#[from] Difference),
    #[error("{0} has no chance: there is no luck to take out of its results")]
    NoChance(&'static str),
    #[error("random playouts of {0} have no result: its moves are not listed, or it does not end")]
    NoPlayouts(&'static str),
    #[error("{0}")]
    NoValue(String),
}

pub trait PositionValues: Debug {
    fn begin(&mut self, header: &Header, seating: Seating) -> Result<(), NoLuck>;

    /// The expected score of the first of two sides, from 0 to 1, in a position in which seats decide.
    ///
    /// # Errors
    /// [`NoLuck::NoValue`]
    fn value(&mut self, position: &mut dyn Table) -> Result<f64, NoLuck>;
}

/// The source of positions' values.
#[derive(Debug)]
pub enum Valuation<'a> {
    /// The mean score of this number of random playouts, at least 1.
    Playouts(u32),
    /// In matches of two sides. Of a draw with more than this number of results, as many are drawn.
    Values(&'a mut dyn PositionValues, u32),
}

/// Verifies a record and computes its luck.
///
/// # Errors
/// [`NoLuck`]
pub fn luck(record: &[u8], catalog: &Catalog, mut valuation: Valuation<'_>) -> Result<MatchLuck, NoLuck> {
    let mut playback = Playback::verified(record, catalog)?;
    let setup = playback.setup();
    let (header, seating, seed) = (setup.header.clone(), setup.seating, setup.seed);
    let commitment = Seed(hex::decode32(&header.commitment).unwrap_or_default());
    if let Valuation::Values(values, _) = &mut valuation {
        values.begin(&header, seating)?;
    }
    let mut draws = 0;
    let mut sums = vec![0.0; pairs(seating).count()];
    let mut failed = None;
    loop {
        let step = playback.step_with(&mut |before, drawn| {
            draws += 1;
            if !before.meta().chance || failed.is_some() {
                return Ok(());
            }
            let mut stream = commitment.luck_stream(draws);
            let found = match &mut valuation {
                Valuation::Playouts(playouts) => by_playouts(before, drawn, seating, *playouts, &mut stream),
                Valuation::Values(values, most) => by_values(before, drawn, *values, *most, &mut stream),
            };
            match found {
                Ok(lucks) => sums.iter_mut().zip(lucks).for_each(|(sum, luck)| *sum += luck),
                Err(Failed::Rules(rules)) => return Err(rules),
                Err(Failed::Values(why)) => failed = Some(why),
            }
            Ok(())
        })?;
        match step {
            Some(step) if !step.table.meta().chance => return Err(NoLuck::NoChance(step.table.meta().id)),
            Some(_) => {}
            None => break,
        }
        if let Some(failed) = failed.take() {
            return Err(failed);
        }
    }
    let scores = playback.ending().and_then(|ending| ending.ranks.clone());
    let first = |side: usize| seating.members(side).iter().next().map_or(0, |seat| seat.index());
    let pairs = scores.map(|ranks| {
        let of = |(sides, luck): ([usize; 2], f64)| {
            let [own, other] = sides.map(|side| ranks[first(side)]);
            PairLuck { sides, score: compared(own, other), luck }
        };
        pairs(seating).zip(sums).map(of).collect()
    });
    Ok(MatchLuck {
        match_id: header.r#match.clone(),
        game: header.game.clone(),
        seating,
        seats: header.seats.iter().map(|seat| seat.name.clone()).collect(),
        seed,
        draws,
        pairs,
    })
}

/// Returns each two sides, in order.
fn pairs(seating: Seating) -> impl Iterator<Item = [usize; 2]> {
    let sides = seating.sides();
    (0..sides).flat_map(move |side| (side + 1..sides).map(move |other| [side, other]))
}

/// The score against another, of which smaller ranks are better.
fn compared(own: u8, other: u8) -> f64 {
    match own.cmp(&other) {
        std::cmp::Ordering::Less => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Greater => 0.0,
    }
}

/// Reasons why the luck of a draw is unknown.
enum Failed {
    Rules(RulesFailed),
    Values(NoLuck),
}

impl From<RulesFailed> for Failed {
    fn from(failed: RulesFailed) -> Failed {
        Failed::Rules(failed)
    }
}

/// The luck of each two sides in a draw.
fn by_playouts(
    before: &dyn Table,
    drawn: &[u32],
    seating: Seating,
    playouts: u32,
    stream: &mut dyn Uniform,
) -> Result<Vec<f64>, Failed> {
    let mut lucks = vec![0.0; pairs(seating).count()];
    let Turn::Draw(draw) = before.turn() else { return Ok(lucks) };
    let playouts = u64::from(playouts.max(1));
    let possible = possible(draw).filter(|&count| count <= playouts);
    if possible == Some(1) {
        return Ok(lucks);
    }
    let mut add = |after: &dyn Table, weight: f64, stream: &mut dyn Uniform| {
        let outcome = after.playout(seating, stream)?;
        let outcome = outcome.ok_or_else(|| Failed::Values(NoLuck::NoPlayouts(before.meta().id)))?;
        for (luck, [side, other]) in lucks.iter_mut().zip(pairs(seating)) {
            *luck += weight * compared(outcome.standing(side), outcome.standing(other));
        }
        Ok::<(), Failed>(())
    };
    let mut came = before.fork();
    came.settle(drawn)?;
    for _ in 0..playouts {
        add(&*came, 1.0 / playouts as f64, stream)?;
    }
    let mut numbers = Vec::new();
    let all = possible.map_or(playouts, |count| playouts.next_multiple_of(count));
    for number in 0..all {
        match possible {
            Some(count) => nth(draw, number % count, &mut numbers),
            None => Uniform::draw(&mut &mut *stream, draw, &mut numbers),
        }
        let mut could_come = before.fork();
        could_come.settle(&numbers)?;
        add(&*could_come, -1.0 / all as f64, stream)?;
    }
    Ok(lucks)
}

/// The luck of the first of two sides in a draw. At most `most` results are compared with the one that came, unless all are.
fn by_values(
    before: &dyn Table,
    drawn: &[u32],
    values: &mut dyn PositionValues,
    most: u32,
    stream: &mut dyn Uniform,
) -> Result<Vec<f64>, Failed> {
    let Turn::Draw(draw) = before.turn() else { return Ok(vec![0.0]) };
    let most = u64::from(most.max(1));
    let (mut results, is_complete) = results(draw, most, stream);
    let came = match results.iter().position(|numbers| is_complete && numbers == drawn) {
        Some(came) => came,
        None => {
            let place = stream.uniform(results.len() as u64 + 1) as usize;
            results.insert(place, drawn.to_vec());
            place
        }
    };
    let mut value_of = Vec::new();
    for numbers in &results {
        value_of.push(after(before, numbers, values, most / results.len() as u64, stream)?);
    }
    let sum: f64 = value_of.iter().sum();
    let mean = if is_complete {
        sum / results.len() as f64
    } else {
        (sum - value_of[came]) / (results.len() - 1) as f64
    };
    Ok(vec![value_of[came] - mean])
}

/// The expected score of the first of two sides after these numbers: what follows at once is averaged over, if it has at most
/// `most` results, and drawn otherwise.
fn after(
    before: &dyn Table,
    numbers: &[u32],
    values: &mut dyn PositionValues,
    most: u64,
    stream: &mut dyn Uniform,
) -> Result<f64, Failed> {
    let mut table = before.fork();
    table.settle(numbers)?;
    match table.turn() {
        Turn::Over(outcome) => Ok(compared(outcome.standing(0), outcome.standing(1))),
        Turn::Decide(_) => values.value(&mut *table).map_err(Failed::Values),
        Turn::Draw(draw) => {
            let (mut results, is_complete) = results(draw, most, stream);
            if !is_complete {
                results.truncate(1);
            }
            let mut sum = 0.0;
            for numbers in &results {
                sum += after(&*table, numbers, values, most / results.len() as u64, stream)?;
            }
            Ok(sum / results.len() as f64)
        }
    }
}

/// Returns all results of a draw, if there are at most `most`; otherwise as many that are drawn, at least one.
fn results(draw: Draw, most: u64, stream: &mut dyn Uniform) -> (Vec<Vec<u32>>, bool) {
    let possible = possible(draw).filter(|&count| count <= most);
    let result = |number| {
        let mut numbers = Vec::new();
        match possible {
            Some(_) => nth(draw, number, &mut numbers),
            None => Uniform::draw(&mut &mut *stream, draw, &mut numbers),
        }
        numbers
    };
    ((0..possible.unwrap_or(most.max(1))).map(result).collect(), possible.is_some())
}

/// The number of results that a draw can have, all with the same probability; `None` if they are not counted.
fn possible(draw: Draw) -> Option<u64> {
    match draw {
        Draw::Dice { count, sides } => u64::from(sides).checked_pow(count.into()),
        Draw::Pick { of } => Some(of.into()),
        Draw::Shuffle { .. } => None,
    }
}

/// Writes the result with this number among the [`possible`] results of a draw.
fn nth(draw: Draw, number: u64, out: &mut Vec<u32>) {
    out.clear();
    match draw {
        Draw::Dice { count, sides } => {
            let mut rest = number;
            out.extend((0..count).map(|_| {
                let face = rest % u64::from(sides);
                rest /= u64::from(sides);
                1 + face as u32
            }));
        }
        Draw::Pick { .. } | Draw::Shuffle { .. } => out.push(number as u32),
    }
}
