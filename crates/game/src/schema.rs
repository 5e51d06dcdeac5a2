//! JSON Schemas (draft 2020-12) of the JSON of a game: views, events, moves and options.

use referee_protocol::words::FaultCode;
use schemars::generate::SchemaSettings;
use schemars::transform::{RestrictFormats, transform_subschemas};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::erased::{ErasedRules, Rules};
use crate::{Game, Meta, NoFact, OptionMeta, Seat};

/// Generates the schemas of a game: [`Game::SCHEMAS`].
#[derive(Clone, Copy, Debug)]
pub struct Schemas {
    view: fn(&mut SchemaGenerator) -> Schema,
    /// The game-specific events.
    facts: fn(&mut SchemaGenerator) -> Schema,
    mv: fn(&mut SchemaGenerator) -> Schema,
    options: fn(&mut SchemaGenerator) -> Schema,
}

impl Schemas {
    /// The schemas of these types: [`Game::View`], what [`Fact::as_seen_by`](crate::Fact) returns ([`NoFact`] if
    /// the game has none; otherwise an enum whose tag is `kind`), [`Game::Move`] as a string, and [`Game::Options`].
    pub const fn of<View, Facts, Move, Options>() -> Schemas
    where
        View: JsonSchema,
        Facts: JsonSchema,
        Move: JsonSchema,
        Options: JsonSchema,
    {
        Schemas {
            view: |generator| generator.subschema_for::<View>(),
            facts: Facts::json_schema,
            mv: |generator| generator.subschema_for::<Move>(),
            options: |generator| generator.subschema_for::<Options>(),
        }
    }
}

/// The parts of the schema of a game.
struct SchemaParts {
    view: Schema,
    facts: Schema,
    mv: Schema,
    options: Schema,
}

/// Games without events of their own.
impl JsonSchema for NoFact {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NoFact".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        false.into()
    }
}

/// Implements `JsonSchema` for a type that is a string in JSON: its name, description and pattern.
#[macro_export]
macro_rules! string_schema {
    ($type:ty, $name:literal, $description:literal, $pattern:expr) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "description": $description, "type": "string", "pattern": $pattern })
            }
        }
    };
}

#[doc(inline)]
pub use crate::string_schema;

/// Returns the schema of a game: a document with the definitions `View`, `Event`, `Move`, `Options` and the types that they
/// use.
pub fn document<G: Game>() -> Value {
    match G::SCHEMAS {
        None => untyped(&G::META, &ErasedRules::<G>::RULES.default_options(), &Map::new()),
        Some(schemas) => describe(&G::META, |written, read| SchemaParts {
            view: (schemas.view)(written),
            mv: (schemas.mv)(written),
            facts: (schemas.facts)(written),
            options: (schemas.options)(read),
        }),
    }
}

/// Returns the schema of every game: objects and strings, and the options of its description with these
/// defaults. Of `known`, `View`, `Move` and `Event` (an event of the game's own) take the place of what holds
/// for every game, and the others are definitions that they use.
pub fn untyped(meta: &Meta, defaults: &RawValue, known: &Map<String, Value>) -> Value {
    let defaults: Value = serde_json::from_str(defaults.get()).unwrap_or_default();
    let property = |option: &OptionMeta| {
        let default = &defaults[option.name];
        let mut property = json!({ "description": option.help, "default": default });
        let of = match default {
            Value::Null => None,
            Value::Bool(_) => Some("boolean"),
            Value::Number(number) if number.is_f64() => Some("number"),
            Value::Number(_) => Some("integer"),
            Value::String(_) => Some("string"),
            Value::Array(_) => Some("array"),
            Value::Object(_) => Some("object"),
        };
        if let Some(of) = of {
            property["type"] = of.into();
        }
        (option.name.to_owned(), property)
    };
    let properties: Map<String, Value> = meta.options.iter().map(property).collect();
    let part = |name: &str, otherwise: Schema| {
        let known = known.get(name).and_then(|known| Schema::try_from(known.clone()).ok());
        known.unwrap_or(otherwise)
    };
    let mut document = describe(meta, |_, _| SchemaParts {
        view: part("View", json_schema!({ "type": "object" })),
        facts: part(
            "Event",
            json_schema!({
                "type": "object",
                "properties": {
                    "kind": { "type": "string", "not": { "enum": ["move", "draw_offered", "out"] } },
                },
                "required": ["kind"],
                "additionalProperties": true,
            }),
        ),
        mv: part("Move", json_schema!({ "type": "string" })),
        options: json_schema!({ "type": "object", "properties": properties }),
    });
    for (name, schema) in known {
        if let Value::Object(definitions) = &mut document["$defs"] {
            definitions.entry(name).or_insert(schema.clone());
        }
    }
    document
}

fn describe(
    meta: &Meta,
    parts: impl FnOnce(&mut SchemaGenerator, &mut SchemaGenerator) -> SchemaParts,
) -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with_transform(close)
        .with_transform(bound)
        // Last: the formats that it removes are the types of the integers.
        .with_transform(RestrictFormats::default());
    let (mut written, mut read) = (
        settings.clone().for_serialize().into_generator(),
        // Missing options have defaults.
        settings.for_deserialize().into_generator(),
    );
    let SchemaParts { view, facts, mv, options } = parts(&mut written, &mut read);
    let event = event(meta, facts, &mut written);
    for (name, schema) in [("View", view), ("Move", mv), ("Event", event)] {
        written.definitions_mut().entry(name).or_insert(schema.into());
    }
    read.definitions_mut().entry("Options").or_insert(options.into());
    let mut definitions = read.take_definitions(true);
    definitions.extend(written.take_definitions(true));
    let seats = meta.seatings.iter().map(|seating| seating.seats()).max();
    if let (Some(seat), Some(seats)) = (definitions.get_mut("Seat"), seats) {
        seat["maximum"] = (seats - 1).into();
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{}, rules version {}", meta.title, meta.rules_version),
        "description": "`View` is `view` of requests and records, `Event` is `event` of events, `Move` is an element of \
            `legal`, `Options` is `options`. Objects have exactly the fields of this version. A bot ignores fields and \
            kinds of events that it does not know, because later versions may add some.",
        "$defs": definitions,
    })
}

/// The events of the game: those of all games that are possible in this one, and its own.
fn event(meta: &Meta, facts: Schema, generator: &mut SchemaGenerator) -> Schema {
    let seat = generator.subschema_for::<Seat>();
    let kind = |name: &str, description: &str| {
        json!({
            "description": description,
            "type": "object",
            "properties": { "kind": { "type": "string", "const": name }, "seat": seat },
            "required": ["kind", "seat"],
        })
    };
    let mv = json!({ "$ref": "#/$defs/Move" });
    let mut moved = kind("move", "A seat has moved.");
    moved["properties"]["move"] = match meta.hidden {
        true => {
            json!({ "description": "`null` if it is hidden from the viewer.", "anyOf": [mv, { "type": "null" }] })
        }
        false => mv,
    };
    moved["required"] = json!(["kind", "seat", "move"]);
    if meta.openings.is_some() {
        moved["properties"]["opening"] = json!({ "description": "The move belongs to the opening, which no bot chose.", "type": "boolean", "const": true });
    }
    let mut kinds = vec![moved];
    if meta.draws_by_agreement {
        kinds.push(kind("draw_offered", "The seat offered a draw with its preceding move."));
    }
    if meta.seatings.iter().any(|seating| seating.sides() > 2) {
        let mut out = kind("out", "The seat's side has lost, and the match continues for the others.");
        let codes = FaultCode::ALL.iter().map(|code| code.as_str());
        let reasons: Vec<&str> = codes.chain(["resignation"]).collect();
        out["properties"]["reason"] =
            json!({ "description": "A fault code or `resignation`.", "type": "string", "enum": reasons });
        out["required"] = json!(["kind", "seat", "reason"]);
        kinds.push(out);
    }
    // `false`: there are none.
    if let Value::Object(mut facts) = facts.to_value() {
        match facts.remove("oneOf") {
            Some(Value::Array(own)) => kinds.extend(own),
            _ => kinds.push(facts.into()),
        }
    }
    json_schema!({ "description": "What happened, as a viewer may see it.", "oneOf": kinds })
}

/// Forbids other than the listed fields.
fn close(schema: &mut Schema) {
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    transform_subschemas(&mut close, schema);
}

/// Gives integers the upper bound of their type.
fn bound(schema: &mut Schema) {
    if schema.get("format").and_then(Value::as_str) == Some("uint32") && schema.get("maximum").is_none() {
        schema.insert("maximum".to_owned(), u32::MAX.into());
    }
    transform_subschemas(&mut bound, schema);
}
