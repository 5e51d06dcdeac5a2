//! Checks that views, legal moves and events keep secrets.
//!
//! Two positions that follow from the same one by draws or secret moves which a seat cannot tell apart, by its events, must
//! look the same to it (noninterference): by all that the program shows and that the seat has to decide, then and after the
//! same further steps.

use crate::check::moves::{accepted, any_move, any_text};
use crate::check::{Witness, quote};
use referee_game::chance::{RandomStream, Uniform};
use referee_game::erased::{BoardText, RulesFailed, Table};
use referee_game::seat::{Seat, Seating, Viewer};
use referee_game::{Turn, Wrong, counted};

/// The number of alternative draws or moves in one position.
const ALTERNATIVES: usize = 4;
/// The number of further steps that are the same in both positions.
const FOLLOWED: usize = 3;

/// A position, and the steps to it from another one.
struct Successor {
    table: Box<dyn Table>,
    after: String,
    /// The seat that has chosen it; `None` after a draw.
    chooser: Option<Seat>,
}

/// Checks the successors of these positions.
pub(super) fn check(
    positions: &[(Box<dyn Table>, Seating)],
    samples: &[String],
    rng: &mut RandomStream,
    witness: &Witness,
) -> Result<String, Wrong> {
    let mut compared = 0;
    for (table, seating) in positions {
        let successors = successors(&**table, samples, rng).map_err(|failed| witness.failure(failed))?;
        let Some((first, others)) = successors.split_first() else { continue };
        for other in others {
            compared += 1;
            let leak = leak(first, other, *seating, samples, rng);
            let leak = leak.map_err(|failed| witness.failure(failed))?;
            if let Some(leak) = leak {
                return Err(witness.failure(leak));
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

/// The difference of two positions, or of their successors by the same steps, for a viewer whose events are
/// the same in both.
fn leak(
    first: &Successor,
    other: &Successor,
    seating: Seating,
    samples: &[String],
    rng: &mut RandomStream,
) -> Result<Option<String>, RulesFailed> {
    let mut viewers: Vec<Viewer> = seating.all().iter().map(Viewer::Seat).chain([Viewer::Public]).collect();
    viewers.retain(|&viewer| {
        let knows = first.chooser.is_some_and(|seat| viewer.shares(seat));
        !knows && events(&*first.table, viewer) == events(&*other.table, viewer)
    });
    let mut tables = [first, other].map(|successor| successor.table.fork());
    let mut after = [first, other].map(|successor| successor.after.clone());
    for followed in 0..=FOLLOWED {
        // The end of the game is public.
        if viewers.is_empty() || tables.iter().any(|table| matches!(table.turn(), Turn::Over(_))) {
            break;
        }
        for &viewer in &viewers {
            let [one, other] = [sight(&*tables[0], viewer)?, sight(&*tables[1], viewer)?];
            let differs = one.iter().zip(&other).find(|(one, other)| one != other);
            if let Some(((part, one), (_, other))) = differs {
                let viewer = match viewer {
                    Viewer::Seat(seat) => format!("seat {seat}"),
                    Viewer::Public | Viewer::Omniscient => "the public".to_owned(),
                };
                let [one, other] = [one, other].map(|seen| quote(seen.as_bytes()));
                let [first, second] = after;
                return Ok(Some(format!(
                    "{viewer} sees {part} {one} after {first} and {other} after {second}, although its \
                     events are the same"
                )));
            }
        }
        if followed == FOLLOWED {
            break;
        }
        let Some(step) = follow(&mut tables, samples, rng)? else { break };
        after.iter_mut().for_each(|steps| steps.push_str(&step));
        viewers.retain(|&viewer| events(&*tables[0], viewer) == events(&*tables[1], viewer));
    }
    Ok(None)
}

/// Takes the same step from both positions, and returns it in words; `None` if that is not possible.
fn follow(
    tables: &mut [Box<dyn Table>; 2],
    samples: &[String],
    rng: &mut RandomStream,
) -> Result<Option<String>, RulesFailed> {
    let [one, other] = tables.each_mut().map(|table| &mut **table);
    one.forget();
    other.forget();
    match (one.ask(), other.ask()) {
        (Turn::Draw(draw), Turn::Draw(same)) if draw == same => {
            let mut drawn = Vec::new();
            rng.draw(draw, &mut drawn);
            one.settle(&drawn)?;
            other.settle(&drawn)?;
            Ok(Some(format!(", the draw {drawn:?}")))
        }
        (Turn::Decide(decision), Turn::Decide(same)) if decision.seats() == same.seats() => {
            let (mut step, mut indices, mut others) = (String::new(), Vec::new(), Vec::new());
            for seat in decision.seats().iter() {
                let Some(index) = any_move(one, &decision, seat, samples, rng)? else { return Ok(None) };
                let text = one.text(&decision, seat, index).to_owned();
                let Some(index_of_other) = accepted(other, &same, seat, &text)? else { return Ok(None) };
                indices.push(index);
                others.push(index_of_other);
                step.push_str(&format!(", the move `{text}`"));
            }
            one.play(decision, &indices)?;
            other.play(same, &others)?;
            Ok(Some(step))
        }
        _ => Ok(None),
    }
}

/// The events since the position before, as a viewer sees them.
fn events(table: &dyn Table, viewer: Viewer) -> Vec<u8> {
    let mut events = Vec::new();
    (0..table.event_count()).for_each(|index| table.write_event(index, viewer, &mut events));
    events
}

/// A viewer's view of a position: what `show` answers, the turns left, and what the viewer has to decide.
fn sight(table: &dyn Table, viewer: Viewer) -> Result<Vec<(&'static str, String)>, RulesFailed> {
    let text = |json: Vec<u8>| String::from_utf8_lossy(&json).into_owned();
    let scene = table.scene(viewer);
    let mut sight = vec![
        ("the `view`", text(table.view(viewer)?)),
        ("the `text`", BoardText(table, viewer).to_string()),
        ("the `turns_left`", format!("{:?}", table.turns_left())),
        ("a `scene` with the `seats`", format!("{:?}", scene.seats)),
    ];
    let mut table = table.fork();
    let decides = match (viewer, table.ask()) {
        (Viewer::Seat(seat), Turn::Decide(decision)) => {
            decision.seats().contains(seat).then_some((seat, decision))
        }
        _ => None,
    };
    let (mut view, mut legal) = (Vec::new(), Vec::new());
    if let Some((seat, decision)) = decides {
        table.write_view(&decision, seat, &mut view);
        table.write_legal(&decision, seat, &mut legal);
        let listed = if table.lists(&decision, seat) { table.count(&decision, seat) } else { 0 };
        let places = (0..listed).map(|index| table.places(&decision, seat, index).join(" "));
        sight.extend(places.map(|places| ("a `scene` with the places", places)));
    }
    sight.extend([("the `view` of its decision", text(view)), ("the `legal` moves", text(legal))]);
    sight.extend(scene.words.iter().map(|line| ("a `scene` with the words", line.clone())));
    sight.extend(scene.shapes.iter().map(|shape| ("a `scene` with the shape", format!("{shape:?}"))));
    sight.push(("a `scene` with", format!("{} words and {} shapes", scene.words.len(), scene.shapes.len())));
    Ok(sight)
}
