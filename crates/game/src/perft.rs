//! Counts the leaves of a game tree, the usual test of move generation.

use std::collections::BTreeMap;

use crate::Wrong;
use crate::chance::Draw;
use crate::erased::{RulesError, Table};
use crate::game::{DrawOf, Game, Turn};

const NOT_COUNTABLE: Wrong =
    Wrong::new("perft needs a game without simultaneous decisions and without draws of many outcomes");

/// Counts the sequences of `depth` plies. A ply is a move; every outcome of a draw is followed without using depth.
///
/// # Errors
/// If perft is not defined: several seats decide simultaneously, or a draw has too many outcomes.
pub fn perft<G: Game>(position: &G, depth: u32) -> Result<u64, Wrong> {
    count(position, depth, &mut vec![Vec::new(); depth as usize + 1])
}

/// Runs [`perft`] for each first move, sorted by text. If several outcomes of an initial draw allow the same move,
/// its leaves are summed over them.
///
/// # Errors
/// If perft is not defined: several seats decide simultaneously, or a draw has too many outcomes.
pub fn divide<G: Game>(position: &G, depth: u32) -> Result<Vec<(G::Move, u64)>, Wrong> {
    let mut divided = Vec::new();
    divide_into(position, depth, &mut divided)?;
    divided.sort_by_cached_key(|(mv, _)| mv.to_string());
    Ok(divided)
}

fn divide_into<G: Game>(position: &G, depth: u32, divided: &mut Vec<(G::Move, u64)>) -> Result<(), Wrong> {
    match position.turn() {
        Turn::Over(_) => {}
        Turn::Draw(draw) => {
            for drawn in outcomes(draw.into())? {
                let mut next = position.clone();
                draw.settle(&mut next, &drawn, &mut |_| {});
                divide_into(&next, depth, divided)?;
            }
        }
        Turn::Decide(seats) => {
            let Some(seat) = seats.iter().next().filter(|_| seats.len() == 1 && depth > 0) else {
                return Err(NOT_COUNTABLE);
            };
            let mut moves = Vec::new();
            position.legal_moves(seat, &mut moves);
            for mv in moves {
                let mut next = position.clone();
                next.play_unchecked(seat, mv, &mut |_| {});
                let leaves = perft(&next, depth - 1)?;
                match divided.iter_mut().find(|(known, _)| *known == mv) {
                    Some((_, sum)) => *sum += leaves,
                    None => divided.push((mv, leaves)),
                }
            }
        }
    }
    Ok(())
}

fn count<G: Game>(position: &G, depth: u32, lists: &mut [Vec<G::Move>]) -> Result<u64, Wrong> {
    if depth == 0 {
        return Ok(1);
    }
    match position.turn() {
        Turn::Over(_) => Ok(0),
        Turn::Draw(draw) => {
            let mut leaves = 0;
            for drawn in outcomes(draw.into())? {
                let mut next = position.clone();
                draw.settle(&mut next, &drawn, &mut |_| {});
                leaves += count(&next, depth, lists)?;
            }
            Ok(leaves)
        }
        Turn::Decide(seats) => {
            let Some(seat) = seats.iter().next().filter(|_| seats.len() == 1) else {
                return Err(NOT_COUNTABLE);
            };
            let Some((moves, deeper)) = lists.split_first_mut() else { return Err(NOT_COUNTABLE) };
            if depth == 1 {
                return Ok(position.count_legal_moves(seat, moves) as u64);
            }
            moves.clear();
            position.legal_moves(seat, moves);
            let mut leaves = 0;
            for &mv in moves.iter() {
                let mut next = position.clone();
                next.play_unchecked(seat, mv, &mut |_| {});
                leaves += count(&next, depth - 1, deeper)?;
            }
            Ok(leaves)
        }
    }
}

/// Runs [`perft`] on a table.
///
/// # Errors
/// If perft is not defined, and when the rules fail.
pub(crate) fn perft_table(table: &dyn Table, depth: u32) -> Result<u64, RulesError> {
    let mut leaves = 0;
    each_successor(table, depth, &mut |next, _| {
        leaves += next.map_or(Ok(1), |next| perft_table(next, depth - 1))?;
        Ok(())
    })?;
    Ok(leaves)
}

/// Runs [`divide`] on a table.
///
/// # Errors
/// If perft is not defined, and when the rules fail.
pub(crate) fn divide_table(table: &dyn Table, depth: u32) -> Result<Vec<(String, u64)>, RulesError> {
    let mut divided = BTreeMap::new();
    each_successor(table, depth, &mut |next, text| {
        let next = next.ok_or(NOT_COUNTABLE)?;
        *divided.entry(text.to_owned()).or_insert(0) += perft_table(next, depth - 1)?;
        Ok(())
    })?;
    Ok(divided.into_iter().collect())
}

/// Called by [`each_successor`] with a position after a move and the text of the move.
type Visit<'a> = &'a mut dyn FnMut(Option<&dyn Table>, &str) -> Result<(), RulesError>;

/// Calls `visit` for the position after each move, for every outcome of a draw before it. At depth 0, calls it once,
/// without a position.
fn each_successor(table: &dyn Table, depth: u32, visit: Visit<'_>) -> Result<(), RulesError> {
    if depth == 0 {
        return visit(None, "");
    }
    let mut table = table.fork();
    match table.ask() {
        Turn::Over(_) => {}
        Turn::Draw(draw) => {
            for drawn in outcomes(draw)? {
                let mut next = table.fork();
                next.settle(&drawn)?;
                each_successor(&*next, depth, visit)?;
            }
        }
        Turn::Decide(decision) => {
            let seat = decision.seats().iter().next().filter(|_| decision.seats().len() == 1);
            let seat = seat.filter(|&seat| table.lists(&decision, seat)).ok_or(NOT_COUNTABLE)?;
            for index in 0..table.count(&decision, seat) {
                let mut next = table.fork();
                let Turn::Decide(decision_of_copy) = next.ask() else { continue };
                next.play(decision_of_copy, &[index])?;
                visit(Some(&*next), table.text(&decision, seat, index))?;
            }
        }
    }
    Ok(())
}

fn outcomes(draw: Draw) -> Result<Vec<Vec<u32>>, Wrong> {
    match draw {
        Draw::Pick { of } if of <= 1 << 16 => Ok((0..of).map(|number| vec![number]).collect()),
        Draw::Dice { count, sides } if count <= 4 => {
            let faces = || 1..=u32::from(sides);
            Ok((0..count).fold(vec![Vec::new()], |so_far, _| {
                so_far
                    .iter()
                    .flat_map(|dice| faces().map(move |face| dice.iter().copied().chain([face]).collect()))
                    .collect()
            }))
        }
        Draw::Pick { .. } | Draw::Dice { .. } | Draw::Shuffle { .. } => Err(NOT_COUNTABLE),
    }
}
