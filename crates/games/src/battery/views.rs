//! Views that no position has, which a bot may send to `referee imagine`.

use super::*;
use referee_game::chance::RandomStream;
use referee_game::erased::Knowledge;

/// Changed views per seating.
const CHANGED: usize = 400;

fn leaves(value: &Value, out: &mut Vec<Value>) {
    match value {
        Value::Object(fields) => fields.values().for_each(|inner| leaves(inner, out)),
        Value::Array(elements) => elements.iter().for_each(|inner| leaves(inner, out)),
        leaf => out.push(leaf.clone()),
    }
}

fn change(value: &mut Value, leaves: &[Value], rng: &mut RandomStream) {
    let mut any = |count: usize| rng.uniform(count as u64) as usize;
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(any(fields.len())).unwrap().clone();
            match any(12) {
                0 => drop(fields.remove(&name)),
                _ => change(&mut fields[&name], leaves, rng),
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            let at = any(elements.len());
            match any(6) {
                0 => drop(elements.remove(at)),
                1 => elements.insert(at, elements[at].clone()),
                _ => change(&mut elements[at], leaves, rng),
            }
        }
        Value::Number(number) if any(2) == 0 => {
            let number = number.as_u64().unwrap_or_default();
            let others =
                [0, 1, 2, 3, 7, 14, 255, u64::from(u32::MAX), number.wrapping_sub(1), number.wrapping_add(1)];
            *value = others[any(others.len())].into();
        }
        _ => *value = leaves[any(leaves.len())].clone(),
    }
}

pub(crate) fn changed_views_are_rejected_or_can_be_played<G: Imagine>() {
    let rules = &ErasedRules::<G>::RULES as &dyn Rules;
    let options = rules.default_options();
    for &seating in G::META.seatings {
        let mut rng = stream(3);
        let mut positions: Vec<G> = (0..PLAYOUTS).flat_map(|number| playout::<G>(seating, number)).collect();
        positions.retain(|position| is_decision(position.turn()));
        let (mut accepted, mut rejected) = (0, 0);
        while accepted + rejected < CHANGED {
            let position = &positions[rng.uniform(positions.len() as u64) as usize];
            let seat = Seat(rng.uniform(seating.seats() as u64) as u8);
            let mut value: Value = serde_json::from_str(&view(position, Viewer::Seat(seat))).unwrap();
            let mut all = Vec::new();
            leaves(&value, &mut all);
            (0..=rng.uniform(3)).for_each(|_| change(&mut value, &all, &mut rng));
            let (view, turns_left) = (to_raw_value(&value).unwrap(), position.turns_left());
            let knowledge = Knowledge { options: &options, seating, seat, view: &view, turns_left };
            let Ok(worlds) = rules.imagine(&knowledge, 2, &mut rng) else {
                rejected += 1;
                continue;
            };
            accepted += 1;
            for world in &worlds.unwrap() {
                world.playout(seating, &mut rng).unwrap();
            }
        }
        assert!(accepted > 0 && rejected > accepted, "{accepted} accepted, {rejected} rejected");
    }
}
