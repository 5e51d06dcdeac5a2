//! The decisive moment of a match.

use std::collections::BTreeMap;

use referee_game::Seat;
use referee_game::scene::Depth;
use serde::Serialize;

use super::match_replay::ReplayStep;

/// The least fall of what a bot expects that decides a match, in thousandths of a point.
const LEAST_FALL: u16 = 150;

/// The step that decided a match, to which pages lead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// The index of the step.
    pub step: usize,
    /// Why it is taken for decisive.
    pub kind: MomentKind,
    /// This in a sentence.
    pub text: String,
}

/// Why a moment is taken for decisive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MomentKind {
    /// The move before the largest fall of what its bot expected.
    Score,
    /// The last fault.
    Fault,
    /// The last time that a piece left the board, before the last step.
    Capture,
}

impl Moment {
    /// The decisive moment of a match: by the scores of the bots, otherwise the last fault, otherwise the last capture.
    pub(super) fn of(steps: &[ReplayStep], names: &[&str]) -> Option<Moment> {
        let name = |seat: Seat| names.get(seat.index()).copied().unwrap_or_default();
        by_score(steps, name).or_else(|| by_fault(steps, name)).or_else(|| by_capture(steps))
    }
}

fn by_score<'a>(steps: &[ReplayStep], name: impl Fn(Seat) -> &'a str) -> Option<Moment> {
    let mut last: BTreeMap<Seat, (usize, u16)> = BTreeMap::new();
    let mut found: Option<(u16, Seat, usize, u16, u16)> = None;
    for (at, step) in steps.iter().enumerate() {
        for &(seat, expected) in &step.e {
            if let Some((before, was)) = last.insert(seat, (at, expected)) {
                let fall = was.saturating_sub(expected);
                if found.is_none_or(|(largest, ..)| fall > largest) {
                    found = Some((fall, seat, before, was, expected));
                }
            }
        }
    }
    let (_, seat, step, was, is) = found.filter(|&(fall, ..)| fall >= LEAST_FALL)?;
    let [was, is] = [was, is].map(|points| f64::from(points) / 1000.0);
    let name = name(seat);
    let text = format!(
        "{name} expected {was:.2} points when it played this, and {is:.2} at its next move: the largest fall of the match."
    );
    Some(Moment { step, kind: MomentKind::Score, text })
}

fn by_fault<'a>(steps: &[ReplayStep], name: impl Fn(Seat) -> &'a str) -> Option<Moment> {
    let fault = |step: &ReplayStep| step.s.iter().rev().find(|(_, kind, ..)| *kind == "fault").cloned();
    let (step, (_, _, seat, text)) =
        steps.iter().enumerate().rev().find_map(|(at, step)| Some((at, fault(step)?)))?;
    let text = format!("The last fault of the match, by {}: {text}.", seat.map_or("", name));
    Some(Moment { step, kind: MomentKind::Fault, text })
}

fn by_capture(steps: &[ReplayStep]) -> Option<Moment> {
    let is_piece = |layer: u8| Depth::ALL.get(usize::from(layer)) == Some(&Depth::Piece);
    let (mut pieces, mut last) = (BTreeMap::new(), None);
    for (at, step) in steps.iter().enumerate() {
        let mut count = 0_i32;
        for change in &step.c {
            let was = pieces.contains_key(&change.thing);
            match change.state.filter(|state| is_piece(state.layer)) {
                Some(_) => drop(pieces.insert(change.thing, ())),
                None => drop(pieces.remove(&change.thing)),
            }
            count += i32::from(pieces.contains_key(&change.thing)) - i32::from(was);
        }
        // The end speaks for itself.
        if at > 0 && at + 1 < steps.len() && count < 0 {
            last = Some(at);
        }
    }
    let text = "The last time that a piece left the board before the end.".to_owned();
    last.map(|step| Moment { step, kind: MomentKind::Capture, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(e: &[(u8, u16)], fault: Option<&str>) -> ReplayStep {
        ReplayStep {
            n: 0,
            t: None,
            c: Vec::new(),
            w: Vec::new(),
            s: fault.map(|text| (1, "fault", Some(Seat(1)), text.to_owned())).into_iter().collect(),
            k: Vec::new(),
            e: e.iter().map(|&(seat, expected)| (Seat(seat), expected)).collect(),
            b: Vec::new(),
        }
    }

    #[test]
    fn the_move_before_the_largest_fall_is_decisive() {
        let steps = [
            step(&[], None),
            step(&[(0, 500)], None),
            step(&[(1, 600)], None),
            step(&[(0, 440)], None),
            step(&[(1, 700)], Some("timed out")),
            step(&[(0, 0)], None),
        ];
        let moment = Moment::of(&steps, &["ann", "bob"]).expect("a moment");
        assert_eq!((moment.step, moment.kind), (3, MomentKind::Score));
        assert!(moment.text.starts_with("ann expected 0.44 points"), "{}", moment.text);
        // A small change decides nothing: there is a fault.
        let moment = Moment::of(&steps[..5], &["ann", "bob"]).expect("a moment");
        assert_eq!((moment.step, moment.kind), (4, MomentKind::Fault));
        assert_eq!(Moment::of(&steps[..4], &["ann", "bob"]), None);
    }
}
