//! Whether views, legal moves and events keep secrets.
//!
//! Two positions that follow from the same one by draws or secret moves which a seat cannot tell apart, by its events, must
//! look the same to it (noninterference).

use crate::check::moves::{accepted, any_text};
use crate::check::{StepFailure, Witness, quote};
use referee_game::chance::{RandomStream, Uniform};
use referee_game::erased::{RulesFailed, Table};
use referee_game::seat::{Seat, Seating, Viewer};
use referee_game::{Turn, counted};

/// How often something else is drawn or played in one position.
const ALTERNATIVES: usize = 4;

/// A viewer sees a difference that it must not see.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{viewer} sees {one} after {} and {other} after {}, although its events are the same", after[0], after[1])]
pub(super) struct Leaks {
    viewer: String,
    one: String,
    other: String,
    /// What was drawn or played.
    after: [String; 2],
}

/// A position, and what led to it from another one.
struct Successor {
    table: Box<dyn Table>,
    after: String,
    /// The seat that has chosen it; `None` after a draw.
    chooser: Option<Seat>,
}

/// Checks what follows from these positions.
pub(super) fn check(
    positions: &[(Box<dyn Table>, Seating)],
    samples: &[String],
    rng: &mut RandomStream,
    witness: &Witness,
) -> Result<String, StepFailure> {
    let mut compared = 0;
    for (table, seating) in positions {
        let successors = successors(&**table, samples, rng).map_err(|failed| witness.failure(failed))?;
        let Some((first, others)) = successors.split_first() else { continue };
        for other in others {
            compared += 1;
            let leak = leak(first, other, *seating).map_err(|failed| witness.failure(failed))?;
            if let Some(leaks) = leak {
                return Err(StepFailure::Leaks {
                    leaks: Box::new(leaks),
                    request: quote(&witness.kept().latest),
                });
            }
        }
    }
    let pairs = counted(compared, "pair", "pairs");
    Ok(format!("{pairs} of positions that differ in what a seat must not know look the same to it"))
}

/// Positions that follow from one by different draws, or by different moves of one seat.
fn successors(
    table: &dyn Table,
    samples: &[String],
    rng: &mut RandomStream,
) -> Result<Vec<Successor>, RulesFailed> {
    let mut found = Vec::new();
    match table.turn() {
        Turn::Over(_) => {}
        Turn::Draw(draw) => {
            for _ in 0..ALTERNATIVES {
                let (mut table, mut drawn) = (table.fork(), Vec::new());
                rng.draw(draw, &mut drawn);
                table.settle(&drawn)?;
                let after = format!("the draw {drawn:?}");
                found.push(Successor { table, after, chooser: None });
            }
        }
        Turn::Decide(seats) => {
            let all: Vec<Seat> = seats.iter().collect();
            let rank = rng.uniform(all.len() as u64) as usize;
            let mut others: Option<Vec<String>> = None;
            for _ in 0..ALTERNATIVES {
                let mut table = table.fork();
                let Turn::Decide(decision) = table.ask() else { unreachable!("its seats decide") };
                let mut any = |seat: Seat| any_text(&mut *table, &decision, seat, samples, rng);
                if others.is_none() {
                    others = all.iter().map(|&seat| any(seat)).collect::<Result<Option<Vec<_>>, _>>()?;
                }
                // The others play the same moves each time.
                let (Some(mut texts), Some(own)) = (others.clone(), any(all[rank])?) else { break };
                let after = format!("the move `{own}`");
                texts[rank] = own;
                let indices =
                    all.iter().zip(&texts).map(|(&seat, text)| accepted(&mut *table, &decision, seat, text));
                let Some(indices) = indices.collect::<Result<Option<Vec<_>>, _>>()? else { break };
                table.play(decision, &indices)?;
                found.push(Successor { table, after, chooser: Some(all[rank]) });
            }
        }
    }
    Ok(found)
}

/// What tells two positions apart for a viewer that its events do not tell apart.
fn leak(one: &Successor, other: &Successor, seating: Seating) -> Result<Option<Leaks>, RulesFailed> {
    let is_over = |of: &Successor| matches!(of.table.turn(), Turn::Over(_));
    if is_over(one) || is_over(other) {
        // The result is public.
        return Ok(None);
    }
    for viewer in seating.all().iter().map(Viewer::Seat).chain([Viewer::Public]) {
        let knows = one.chooser.is_some_and(|seat| viewer.shares(seat));
        if knows || events(&*one.table, viewer) != events(&*other.table, viewer) {
            continue;
        }
        let (is, was) = (sight(&*one.table, viewer)?, sight(&*other.table, viewer)?);
        if is != was {
            let viewer = match viewer {
                Viewer::Seat(seat) => format!("seat {seat}"),
                Viewer::Public | Viewer::Omniscient => "the public".to_owned(),
            };
            let [shown, other_shown] = [&is, &was].map(|sight| quote(sight));
            let after = [one.after.clone(), other.after.clone()];
            return Ok(Some(Leaks { viewer, one: shown, other: other_shown, after }));
        }
    }
    Ok(None)
}

/// The events since the position before, as a viewer sees them.
fn events(table: &dyn Table, viewer: Viewer) -> Vec<u8> {
    let mut events = Vec::new();
    (0..table.event_count()).for_each(|index| table.write_event(index, viewer, &mut events));
    events
}

/// What a viewer sees of a position: its view, and what it has to decide.
fn sight(table: &dyn Table, viewer: Viewer) -> Result<Vec<u8>, RulesFailed> {
    let mut sight = table.view(viewer)?;
    let mut table = table.fork();
    if let (Viewer::Seat(seat), Turn::Decide(decision)) = (viewer, table.ask())
        && decision.seats().contains(seat)
    {
        table.write_view(&decision, seat, &mut sight);
        table.write_legal(&decision, seat, &mut sight);
    }
    Ok(sight)
}
