//! `Batch`: the matches of a game, and the steps of them as NumPy arrays.

use std::sync::Arc;

use numpy::{Element, IxDyn, PyArrayDyn, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use referee_game::chance::Seed;
use referee_game::{Seating, hex};
use serde_json::value::RawValue;

use crate::encodings::{
    CheckersEncoding, ChessEncoding, Encoding, JeexEncoding, KeezenEncoding, SaxumEncoding, XeQueoEncoding,
};
use crate::matches::{Arrays, End, Matches, MatchesOf, Refusal, Snapshot};

/// The most matches of a batch.
const MOST: usize = 1 << 16;

/// `size` matches of a game that step together. They play the matches of `referee stdio` for the same seeds.
#[pyclass(module = "referee_bot_native")]
pub(crate) struct Batch {
    matches: Box<dyn Matches>,
    size: usize,
    is_reset: bool,
}

/// Arrays of the observations, the action masks, the seats that are asked, the rewards, the terminations and
/// truncations, and the views of the seats.
type Step<'py> = (
    Bound<'py, PyArrayDyn<f32>>,
    Bound<'py, PyArrayDyn<i8>>,
    Bound<'py, PyArrayDyn<i64>>,
    Bound<'py, PyArrayDyn<f32>>,
    Bound<'py, PyArrayDyn<bool>>,
    Bound<'py, PyArrayDyn<bool>>,
    Infos,
);

/// A match that ended: its index, the ranks and scores of the seats, whether by the turn limit, the reason.
type Ended = (usize, Vec<u32>, Vec<f64>, bool, &'static str);

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Creates the matches of the game of an encoding. The options have been checked.
fn of<E: Encoding>(options: &str, seating: Seating, size: usize) -> PyResult<Box<dyn Matches>> {
    let options = serde_json::from_str(options).map_err(wrong)?;
    Ok(Box::new(MatchesOf::<E>::new(&options, seating, size).map_err(wrong)?))
}

#[pymethods]
impl Batch {
    /// Raises ValueError if there is no such game, it is not for so many seats, its options are wrong, or `size` is not 1 to
    /// 65536.
    #[new]
    fn new(game: &str, seats: u64, options: &str, size: usize) -> PyResult<Batch> {
        if !(1..=MOST).contains(&size) {
            return Err(wrong(format_args!("a batch has 1 to {MOST} matches, not {size}")));
        }
        let rules = referee_games::catalog().find(game).map_err(wrong)?;
        let seating = rules.meta().seating(Some(seats)).map_err(wrong)?;
        let given: Box<RawValue> = serde_json::from_str(options).map_err(wrong)?;
        rules.open(&given, seating).map_err(wrong)?;
        let matches = match game {
            "checkers" => of::<CheckersEncoding>(options, seating, size)?,
            "chess" => of::<ChessEncoding>(options, seating, size)?,
            "jeex" => of::<JeexEncoding>(options, seating, size)?,
            "keezen" => of::<KeezenEncoding>(options, seating, size)?,
            "saxum" => of::<SaxumEncoding>(options, seating, size)?,
            "xe_queo" => of::<XeQueoEncoding>(options, seating, size)?,
            _ => return Err(wrong(format_args!("{game} has no encoding"))),
        };
        Ok(Batch { matches, size, is_reset: false })
    }

    /// Begins all matches. `seeds` are match seeds, 64 hex digits each; without them every match has the next deal of
    /// its seed.
    #[pyo3(signature = (seeds=None))]
    fn reset<'py>(&mut self, py: Python<'py>, seeds: Option<Vec<String>>) -> PyResult<Step<'py>> {
        let seeds: Option<Vec<Seed>> = match seeds {
            Some(seeds) if seeds.len() == self.size => Some(
                seeds
                    .iter()
                    .map(|seed| hex::decode32(seed).map(Seed).ok_or("a seed is 64 lower-case hex digits"))
                    .collect::<Result<_, _>>()
                    .map_err(wrong)?,
            ),
            Some(seeds) => {
                return Err(wrong(format_args!("{} seeds for {} matches", seeds.len(), self.size)));
            }
            None if self.is_reset => None,
            None => return Err(wrong("the first reset needs seeds")),
        };
        self.is_reset = false;
        let matches = &mut self.matches;
        py.detach(|| matches.reset(seeds.as_deref())).map_err(|refusal| refused(refusal, &[]))?;
        self.is_reset = true;
        let step = self.show(py, |matches, arrays| {
            matches.look(arrays);
            Ok(Vec::new())
        })?;
        step.map_err(|refusal| refused(refusal, &[]))
    }

    /// Takes an action in every match. Raises ValueError, with nothing done, if one of them is not possible.
    fn step<'py>(&mut self, py: Python<'py>, actions: PyReadonlyArray1<'py, i64>) -> PyResult<Step<'py>> {
        if !self.is_reset {
            return Err(wrong("reset the batch before its first step"));
        }
        let actions = actions.as_slice()?;
        if actions.len() != self.size {
            return Err(wrong(format_args!("{} actions for {} matches", actions.len(), self.size)));
        }
        let step = self.show(py, |matches, arrays| matches.step(actions, arrays))?;
        step.map_err(|refusal| refused(refusal, actions))
    }
}

fn refused(refusal: Refusal, actions: &[i64]) -> PyErr {
    match refusal {
        Refusal::Impossible { at } => wrong(format_args!(
            "action {} is not possible in match {at}: the action mask shows those that are",
            actions[at]
        )),
        Refusal::NoDecision => wrong("the match is over before its first decision"),
    }
}

fn zeros<'py, T: Element>(py: Python<'py>, shape: &[usize]) -> Bound<'py, PyArrayDyn<T>> {
    PyArrayDyn::zeros(py, IxDyn(shape), false)
}

impl Batch {
    /// Lets `fill` fill the arrays of a step, while other threads may run Python.
    fn show<'py>(
        &mut self,
        py: Python<'py>,
        fill: impl Send + FnOnce(&mut dyn Matches, &mut Arrays<'_>) -> Result<Vec<End>, Refusal>,
    ) -> PyResult<Result<Step<'py>, Refusal>> {
        let (matches, size) = (&mut *self.matches, self.size);
        let observation = zeros(py, &[&[size], &*matches.shape()].concat());
        let action_mask = zeros(py, &[size, matches.actions()]);
        let reward = zeros(py, &[size, matches.seats()]);
        let (seat, terminated, truncated) = (zeros(py, &[size]), zeros(py, &[size]), zeros(py, &[size]));
        let mut writable = (
            observation.readwrite(),
            action_mask.readwrite(),
            seat.readwrite(),
            reward.readwrite(),
            terminated.readwrite(),
            truncated.readwrite(),
        );
        let mut arrays = Arrays {
            observation: writable.0.as_slice_mut()?,
            action_mask: writable.1.as_slice_mut()?,
            seat: writable.2.as_slice_mut()?,
            reward: writable.3.as_slice_mut()?,
            terminated: writable.4.as_slice_mut()?,
            truncated: writable.5.as_slice_mut()?,
        };
        let ends = match py.detach(|| fill(matches, &mut arrays)) {
            Ok(ends) => ends,
            Err(refusal) => return Ok(Err(refusal)),
        };
        drop(writable);
        let infos = Infos { asked: self.matches.snapshot(), ends };
        Ok(Ok((observation, action_mask, seat, reward, terminated, truncated, infos)))
    }
}

/// The information for the seats to decide, and how matches ended, at one step.
#[pyclass(module = "referee_bot_native", frozen)]
pub(crate) struct Infos {
    asked: Arc<dyn Snapshot>,
    ends: Vec<End>,
}

#[pymethods]
impl Infos {
    /// Returns the view of the seat that is asked in match `at` as JSON, its legal moves, and the turns left.
    fn request(&self, at: usize) -> PyResult<(Vec<u8>, Vec<String>, Option<u32>)> {
        if at >= self.asked.size() {
            return Err(PyIndexError::new_err(format!("match {at} of {}", self.asked.size())));
        }
        Ok((self.asked.view(at), self.asked.legal(at), self.asked.turns_left(at)))
    }

    /// Returns the matches that ended.
    fn ends(&self) -> Vec<Ended> {
        let end = |end: &End| {
            let ranks = end.ranks.iter().map(|&rank| rank.into()).collect();
            (end.at, ranks, end.scores.clone(), end.outcome.turn_limit, end.outcome.reason)
        };
        self.ends.iter().map(end).collect()
    }
}
