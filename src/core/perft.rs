//! Counting the leaves of a game's tree: the usual proof that move generation is right.

use crate::core::game::{Draw, Game, Turn};

/// A game whose tree cannot be counted: several seats decide at once, or a shuffle has too many outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("perft is defined for games in which one seat decides at a time and draws have few outcomes")]
pub struct NotCountable;

/// The number of sequences of `depth` plies. A ply is a move; each outcome of a draw is followed, and costs no depth.
///
/// # Errors
/// [`NotCountable`]
pub fn perft<G: Game>(position: &G, depth: u32) -> Result<u64, NotCountable> {
    count(position, depth, &mut vec![Vec::new(); depth as usize + 1])
}

/// [`perft`] for each first move.
///
/// # Errors
/// [`NotCountable`]
pub fn divide<G: Game>(position: &G, depth: u32) -> Result<Vec<(G::Move, u64)>, NotCountable> {
    let Turn::Decide(seats) = position.turn() else { return Err(NotCountable) };
    let Some(seat) = seats.iter().next().filter(|_| seats.len() == 1 && depth > 0) else {
        return Err(NotCountable);
    };
    let mut moves = Vec::new();
    position.legal_moves(seat, &mut moves);
    moves.sort_by_cached_key(ToString::to_string);
    moves
        .into_iter()
        .map(|mv| {
            let mut next = position.clone();
            next.play(seat, mv, &mut |_| {});
            perft(&next, depth - 1).map(|leaves| (mv, leaves))
        })
        .collect()
}

fn count<G: Game>(position: &G, depth: u32, lists: &mut [Vec<G::Move>]) -> Result<u64, NotCountable> {
    if depth == 0 {
        return Ok(1);
    }
    match position.turn() {
        Turn::Over(_) => Ok(0),
        Turn::Draw(draw) => {
            let mut leaves = 0;
            for drawn in outcomes(draw)? {
                let mut next = position.clone();
                next.settle(&drawn, &mut |_| {});
                leaves += count(&next, depth, lists)?;
            }
            Ok(leaves)
        }
        Turn::Decide(seats) => {
            let Some(seat) = seats.iter().next().filter(|_| seats.len() == 1) else {
                return Err(NotCountable);
            };
            let Some((moves, deeper)) = lists.split_first_mut() else { return Err(NotCountable) };
            moves.clear();
            position.legal_moves(seat, moves);
            if depth == 1 {
                return Ok(moves.len() as u64);
            }
            let mut leaves = 0;
            for &mv in moves.iter() {
                let mut next = position.clone();
                next.play(seat, mv, &mut |_| {});
                leaves += count(&next, depth - 1, deeper)?;
            }
            Ok(leaves)
        }
    }
}

fn outcomes(draw: Draw) -> Result<Vec<Vec<u16>>, NotCountable> {
    match draw {
        Draw::Pick { of } => Ok((0..of).map(|number| vec![number]).collect()),
        Draw::Dice { count, sides } if count <= 4 => {
            let faces = || 1..=u16::from(sides);
            Ok((0..count).fold(vec![Vec::new()], |so_far, _| {
                so_far
                    .iter()
                    .flat_map(|dice| faces().map(move |face| dice.iter().copied().chain([face]).collect()))
                    .collect()
            }))
        }
        Draw::Dice { .. } | Draw::Shuffle { .. } => Err(NotCountable),
    }
}
