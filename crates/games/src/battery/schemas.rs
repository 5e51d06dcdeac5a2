//! Invariants of the JSON Schema of every game.

use jsonschema::Validator;
use serde_json::json;

use super::*;

/// One in this number of positions is tested in detail.
const EVERY: usize = 8;
/// Events that are mutated per seating.
const EVENTS: usize = 10;

/// Validates a part of a game: `View`, `Event`, `Move` or `Options`.
fn validator<G: Game>(part: &str) -> Validator {
    let mut schema = ErasedRules::<G>::RULES.schema();
    schema["$ref"] = json!(format!("#/$defs/{part}"));
    jsonschema::draft202012::new(&schema).unwrap()
}

fn parsed(write: impl FnOnce(&mut Vec<u8>)) -> Value {
    serde_json::from_str(&written(write)).unwrap()
}

fn assert_valid(schema: &Validator, value: &Value) {
    let errors: Vec<String> = schema.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{value}: {errors:?}");
}

/// Returns all values that differ from this one in one place: a leaf of another type or out of range, an additional field or
/// element.
fn corrupted(value: &Value) -> Vec<Value> {
    let within = |place: &dyn Fn(Value) -> Value, inner: &Value| -> Vec<Value> {
        corrupted(inner).into_iter().map(place).collect()
    };
    match value {
        Value::Object(fields) => {
            let mut more = fields.clone();
            more.insert("no_such_field".to_owned(), json!(0));
            let mut all = vec![Value::Object(more), json!([])];
            for (name, inner) in fields {
                all.extend(within(
                    &|inner| {
                        let mut fields = fields.clone();
                        fields[name] = inner;
                        Value::Object(fields)
                    },
                    inner,
                ));
            }
            all
        }
        Value::Array(elements) => {
            let mut all = vec![json!([elements.as_slice(), &[json!({})][..]].concat()), json!("?")];
            for (index, inner) in elements.iter().enumerate() {
                all.extend(within(
                    &|inner| {
                        let mut elements = elements.clone();
                        elements[index] = inner;
                        Value::Array(elements)
                    },
                    inner,
                ));
            }
            all
        }
        _ => vec![json!("?"), json!(-1), json!(0.5), json!(1u64 << 32), json!(false), json!({})],
    }
}

/// The objects without one of these fields.
fn without(value: &Value, is_optional: fn(&str) -> bool) -> Vec<Value> {
    let fields = value.as_object().unwrap();
    let required = fields.keys().filter(|name| !is_optional(name));
    let left = required.map(|name| {
        let mut fields = fields.clone();
        fields.remove(name);
        Value::Object(fields)
    });
    left.collect()
}

pub(crate) fn the_schema_accepts_what_a_match_shows<G: Game>() {
    let [view, event, mv, options] = ["View", "Event", "Move", "Options"].map(validator::<G>);
    let defaults: Value = serde_json::from_str(ErasedRules::<G>::RULES.default_options().get()).unwrap();
    assert_valid(&options, &defaults);
    assert_valid(&options, &json!({}));
    let mut positions = 0;
    for &seating in G::META.seatings {
        for number in 0..PLAYOUTS {
            table_playout::<G>(seating, number, |table, decision| {
                positions += 1;
                for viewer in viewers(seating) {
                    if positions % EVERY == 0 {
                        assert_valid(&view, &parsed(|out| out.extend(table.view(viewer).unwrap())));
                    }
                    for index in 0..table.event_count() {
                        assert_valid(&event, &parsed(|out| table.write_event(index, viewer, out)));
                    }
                }
                for (_, legal) in all_listed(table, decision) {
                    legal.into_iter().for_each(|text| assert_valid(&mv, &text.into()));
                }
                true
            });
        }
    }
}

pub(crate) fn the_schema_rejects_views_with_one_change<G: Game>() {
    let schema = validator::<G>("View");
    let mut sampled = 0;
    sample::<G>(
        |_| true,
        |_, position| {
            sampled += 1;
            if sampled % EVERY != 0 {
                return;
            }
            for viewer in [Viewer::Seat(Seat(0)), Viewer::Public, Viewer::Omniscient] {
                let value: Value = serde_json::from_str(&view(position, viewer)).unwrap();
                // Only records have both choices of Xe Queo!.
                let all = corrupted(&value).into_iter().chain(without(&value, |name| name == "choices"));
                all.for_each(|value| assert!(!schema.is_valid(&value), "{value}"));
            }
        },
    );
}

pub(crate) fn the_schema_rejects_events_with_one_change<G: Game>() {
    let schema = validator::<G>("Event");
    for &seating in G::META.seatings {
        let mut left = EVENTS;
        table_playout::<G>(seating, 0, |table, _| {
            for viewer in viewers(seating) {
                for index in 0..table.event_count() {
                    left = left.saturating_sub(1);
                    let value = parsed(|out| table.write_event(index, viewer, out));
                    // Only records have the hands of Keezen.
                    let all = corrupted(&value).into_iter().chain(without(&value, |name| name == "hands"));
                    all.for_each(|value| assert!(!schema.is_valid(&value), "{value}"));
                }
            }
            left > 0
        });
    }
}

pub(crate) fn the_schema_rejects_moves_that_no_board_has<G: Game>() {
    let schema = validator::<G>("Move");
    let mut rng = stream(u8::MAX);
    let mut refused = 0;
    sample::<G>(is_decision, |_, position| {
        for seat in deciders(position.turn()).iter() {
            for text in texts(position, seat) {
                let text = mutated(&text, &[' ', '-', 'x', '0', '1', '9', 'a', 'z', 'K', '\u{e9}'], &mut rng);
                if text.parse::<G::Move>().is_ok() {
                    assert_valid(&schema, &text.into());
                } else {
                    refused += usize::from(!schema.is_valid(&text.into()));
                }
            }
        }
    });
    assert!(refused > SAMPLE, "only {refused} moves were rejected");
}

pub(crate) fn options_that_the_schema_rejects_are_rejected<G: Game>() {
    let schema = validator::<G>("Options");
    let defaults: Value = serde_json::from_str(ErasedRules::<G>::RULES.default_options().get()).unwrap();
    for value in corrupted(&defaults) {
        assert!(!schema.is_valid(&value), "{value}");
        assert!(open::<G>(value.clone()).is_err(), "{value}");
    }
}
