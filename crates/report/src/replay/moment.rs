//! The decisive moment of a match.

use std::collections::BTreeMap;

use referee_game::{Seat, Seating};
use referee_match::Ending;
use serde::Serialize;

use super::match_replay::ReplayStep;

/// The least fall of a bot's expectation that decides a match, in thousandths of a point.
const LEAST_FALL: u16 = 150;
/// The number of moves between the moments at which different bots notice the decisive one.
const APART: usize = 3;

/// The step that decided a match, to which pages lead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    pub step: usize,
    /// The reason why it is taken for decisive.
    pub kind: MomentKind,
    pub text: String,
}

/// Reasons why a moment is taken for decisive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MomentKind {
    /// The move before the largest fall of a loser's expectation.
    Score,
    /// The fault that ended the match.
    Fault,
}

/// The score that a bot expected, or got at the end, in thousandths of a point.
#[derive(Clone, Copy)]
struct Figure {
    step: usize,
    points: u16,
    is_end: bool,
}

impl Moment {
    /// The moment that decided a match with a winner and a loser: the fault that ended it, or else a fall of
    /// the bots' expectations. Draws, matches that end before the first move and matches without figures have
    /// none.
    pub(super) fn of(
        steps: &[ReplayStep],
        ending: &Ending,
        seating: Seating,
        names: &[&str],
    ) -> Option<Moment> {
        let ranks = ending.ranks.as_ref()?;
        if ranks.iter().all(|rank| rank == &ranks[0]) {
            return None;
        }
        let name = |seat: Seat| names.get(seat.index()).copied().unwrap_or_default();
        let moment = match &ending.fault {
            Some(fault) => by_fault(steps, fault.seat, name),
            None => by_score(steps, ending.scores.as_ref()?, seating, name),
        };
        moment.filter(|moment| steps[moment.step].n > 0)
    }
}

/// The move before the largest fall of a loser's expectation, up to the points that it got, if all opponents
/// with figures expected more at about the same time.
fn by_score<'a>(
    steps: &[ReplayStep],
    scores: &[f64],
    seating: Seating,
    name: impl Fn(Seat) -> &'a str,
) -> Option<Moment> {
    let mut figures: BTreeMap<Seat, Vec<Figure>> = BTreeMap::new();
    for (step, of_step) in steps.iter().enumerate() {
        for &(seat, points) in &of_step.e {
            figures.entry(seat).or_default().push(Figure { step, points, is_end: false });
        }
    }
    for (seat, of_seat) in &mut figures {
        let points = (1000.0 * scores[seat.index()]).round() as u16;
        of_seat.push(Figure { step: steps.len() - 1, points, is_end: true });
    }
    let best = scores.iter().copied().fold(0.0, f64::max);
    let is_loser = |seat: Seat| scores[seat.index()] < best;
    // The least that a bot expected with its last figures before the end of a fall, and the most with the next ones after
    // its beginning: forced moves have no figures.
    let around = |seat: &Seat, [from, to]: [Figure; 2]| {
        let of_seat = &figures[seat];
        let points = |figure: &Figure| figure.points;
        let before = &of_seat[..of_seat.partition_point(|figure| !figure.is_end && figure.step < to.step)];
        let after = &of_seat[of_seat.partition_point(|figure| !figure.is_end && figure.step <= from.step)..];
        Some((
            before.iter().rev().take(APART).map(points).min()?,
            after.iter().take(APART).map(points).max()?,
        ))
    };
    let agrees = |seat: Seat, fall: [Figure; 2]| {
        let mut opponents = figures.keys().filter(|&&of| seating.side(of) != seating.side(seat));
        opponents.all(|opponent| {
            around(opponent, fall).is_some_and(|(was, is)| is.saturating_sub(was) >= LEAST_FALL)
        })
    };
    let mut largest: Option<(u16, Seat, Figure, Figure)> = None;
    for (&seat, of_seat) in figures.iter().filter(|&(&seat, _)| is_loser(seat)) {
        for pair in of_seat.windows(2) {
            let [was, is] = [pair[0], pair[1]];
            let fall = was.points.saturating_sub(is.points);
            let is_larger = largest.as_ref().is_none_or(|&(largest, ..)| fall > largest);
            if fall >= LEAST_FALL && is_larger && agrees(seat, [was, is]) {
                largest = Some((fall, seat, was, is));
            }
        }
    }
    let (_, seat, was, is) = largest?;
    let points = |figure: Figure| f64::from(figure.points) / 1000.0;
    let then = if is.is_end { "got" } else { "expected" };
    let when = if is.is_end { "in the end" } else { "at its next move" };
    let text = format!(
        "{} expected {:.2} points when it played this, and {then} {:.2} {when}: the largest fall of the match.",
        name(seat),
        points(was),
        points(is),
    );
    Some(Moment { step: was.step, kind: MomentKind::Score, text })
}

fn by_fault<'a>(steps: &[ReplayStep], by: Seat, name: impl Fn(Seat) -> &'a str) -> Option<Moment> {
    let fault = |step: &ReplayStep| {
        let mut notes = step.s.iter().rev();
        notes.find(|(_, kind, seat, _)| *kind == "fault" && *seat == Some(by)).map(|(.., text)| text.clone())
    };
    let (step, text) = steps.iter().enumerate().rev().find_map(|(at, step)| Some((at, fault(step)?)))?;
    let text = format!("The fault that ended the match, by {}: {text}.", name(by));
    Some(Moment { step, kind: MomentKind::Fault, text })
}

#[cfg(test)]
mod tests {
    use referee_match::Fault;
    use referee_protocol::words::{EndedBy, FaultCode};

    use super::*;

    fn step(n: u32, e: &[(u8, u16)], fault: Option<&str>) -> ReplayStep {
        ReplayStep {
            n,
            s: fault.map(|text| (1, "fault", Some(Seat(1)), text.to_owned())).into_iter().collect(),
            e: e.iter().map(|&(seat, expected)| (Seat(seat), expected)).collect(),
            ..ReplayStep::default()
        }
    }

    /// A match with the bots' expectations, in turns.
    fn figures(points: &[Option<u16>]) -> Vec<ReplayStep> {
        let figure = |(at, points): (usize, &Option<u16>)| {
            let e: Vec<(u8, u16)> = points.iter().map(|&points| (at as u8 % 2, points)).collect();
            step(at as u32 + 1, &e, None)
        };
        std::iter::once(step(0, &[], None)).chain(points.iter().enumerate().map(figure)).collect()
    }

    fn moment(steps: &[ReplayStep], ranks: [u8; 2], fault: Option<Fault>) -> Option<Moment> {
        let scores = if ranks[0] == ranks[1] { [0.5, 0.5] } else { ranks.map(|rank| f64::from(2 - rank)) };
        let ended_by = if fault.is_some() { EndedBy::Fault } else { EndedBy::Rules };
        let ending = Ending {
            ended_by,
            reason: ended_by.to_string(),
            ranks: Some(ranks.to_vec()),
            scores: Some(scores.to_vec()),
            amounts: None,
            fault,
        };
        Moment::of(steps, &ending, Seating::new(2, 2), &["ann", "bob"])
    }

    #[test]
    fn fall_that_both_bots_saw_in_decided_match_is_decisive() {
        let both = figures(&[500, 500, 480, 520, 100, 900, 50, 960].map(Some));
        let found = moment(&both, [2, 1], None).expect("a moment");
        assert_eq!((found.step, found.kind), (3, MomentKind::Score));
        assert!(found.text.starts_with("ann expected 0.48 points when it played this, and expected 0.10"));
        assert_eq!(moment(&both, [1, 1], None), None, "a draw");
        assert_eq!(moment(&both, [1, 2], None).map(|found| found.step), Some(8), "the winner's fall is none");
        // The opponent has expected the same all the time.
        let one = figures(&[500, 900, 480, 900, 100, 900, 50, 960].map(Some));
        assert_eq!(moment(&one, [2, 1], None), None);
        // The opponent sends no figures.
        let alone = figures(&[Some(500), None, Some(480), None, Some(100), None]);
        assert_eq!(moment(&alone, [2, 1], None).map(|found| found.step), Some(3));
    }

    #[test]
    fn a_fall_to_the_loss_at_the_end_is_decisive() {
        let found = moment(&figures(&[500, 500, 900, 100].map(Some)), [2, 1], None).expect("a moment");
        assert_eq!(found.step, 3);
        assert!(found.text.contains("expected 0.90 points when it played this, and got 0.00 in the end"));
    }

    #[test]
    fn without_figures_or_deciding_fault_there_is_no_moment() {
        let mut steps = figures(&[None, None, None]);
        assert_eq!(moment(&steps, [2, 1], None), None);
        steps[2] = step(2, &[], Some("illegal move"));
        assert_eq!(moment(&steps, [1, 2], None), None, "it did not end the match");
        let fault = Fault { seat: Seat(1), code: FaultCode::IllegalMove, detail: None };
        let found = moment(&steps, [1, 2], Some(fault.clone())).expect("a moment");
        assert_eq!((found.step, found.kind), (2, MomentKind::Fault));
        assert_eq!(found.text, "The fault that ended the match, by bob: illegal move.");
        let at_once = [step(0, &[], Some("program ended"))];
        assert_eq!(moment(&at_once, [1, 2], Some(fault)), None, "before the first move");
    }
}
