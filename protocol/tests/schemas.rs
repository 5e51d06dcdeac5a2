//! The files in `schemas/` say what the types say.

use referee_protocol::bot::FromBot;
use referee_protocol::imagine::{Answer, Request};
use referee_protocol::referee::FromReferee;
use referee_protocol::schemas::{FROM_BOT, FROM_REFEREE, IMAGINE_ANSWER, IMAGINE_REQUEST};
use schemars::generate::SchemaSettings;
use schemars::transform::{RestrictFormats, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The optional field where null says something that absence does not: no clock at all, not the run's.
const NULLABLE: (&str, &str) = ("Open", "clock");

#[test]
fn the_schema_of_the_referees_messages_is_up_to_date() {
    // What the referee writes.
    let schema = generate::<FromReferee<'static, Value>>(
        SchemaSettings::draft2020_12().for_serialize(),
        "Message from the referee",
        "One line from the referee. New fields may come: ignore those that you do not know.",
    );
    check("from_referee.json", FROM_REFEREE, &schema);
}

#[test]
fn the_schema_of_the_bots_messages_is_up_to_date() {
    // What the referee reads: it has defaults for what is left out.
    let schema = generate::<FromBot<'static, Value>>(
        SchemaSettings::draft2020_12().for_deserialize(),
        "Message from a bot",
        "One line from a bot. The referee ignores fields that it does not know.",
    );
    check("from_bot.json", FROM_BOT, &schema);
}

#[test]
fn the_schemas_of_referee_imagine_are_up_to_date() {
    let request = generate::<Request<'static, Value>>(
        SchemaSettings::draft2020_12().for_deserialize(),
        "Request to `referee imagine`",
        "One line from a bot to the program that imagines for it. Unknown fields are ignored.",
    );
    check("imagine_request.json", IMAGINE_REQUEST, &request);
    let answer = generate::<Answer<'static, Value>>(
        SchemaSettings::draft2020_12().for_serialize(),
        "Answer of `referee imagine`",
        "One line to a bot. New fields may come: ignore those that you do not know.",
    );
    check("imagine_answer.json", IMAGINE_ANSWER, &answer);
}

fn generate<T: JsonSchema>(settings: SchemaSettings, title: &str, description: &str) -> Schema {
    let settings = settings
        .with_transform(bound_integers)
        // Last: the formats that it takes out name the types of the integers.
        .with_transform(RestrictFormats::default());
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.insert("description".to_owned(), description.into());
    let definitions = schema.get_mut("$defs").and_then(Value::as_object_mut).expect("definitions");
    for (name, definition) in definitions {
        null_only_where_it_says_something(name, definition);
    }
    schema
}

/// Gives integers the bounds of their types, the widest those of a number that every JSON reader keeps exactly.
fn bound_integers(schema: &mut Schema) {
    let most = match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => Some(u64::from(u32::MAX)),
        Some("uint64") => Some((1 << 53) - 1),
        _ => None,
    };
    if let Some(most) = most
        && schema.get("maximum").is_none()
    {
        schema.insert("maximum".to_owned(), most.into());
    }
    transform_subschemas(&mut bound_integers, schema);
}

/// The types read null as absent. The protocol does not say so: an optional field is left out.
fn null_only_where_it_says_something(name: &str, definition: &mut Value) {
    let required = definition["required"].as_array().cloned().unwrap_or_default();
    let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (field, property) in properties {
        if !required.contains(&json!(field)) && (name, field.as_str()) != NULLABLE {
            remove_null(property.as_object_mut().expect("a schema"));
        }
    }
}

fn remove_null(schema: &mut Map<String, Value>) {
    if let Some(types) = schema.get("type").and_then(Value::as_array)
        && let [kind, null] = &types[..]
        && null == "null"
    {
        let kind = kind.clone();
        schema.insert("type".to_owned(), kind);
    }
    if let Some(schemas) = schema.get("anyOf").and_then(Value::as_array)
        && let [Value::Object(other), null] = &schemas[..]
        && *null == json!({ "type": "null" })
    {
        let other = other.clone();
        schema.remove("anyOf");
        schema.extend(other);
    }
}

fn check(file: &str, committed: &str, generated: &Schema) {
    if std::env::var_os("UPDATE").is_some() {
        let path = format!("{}/schemas/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = serde_json::to_string_pretty(generated).expect("a schema is JSON");
        std::fs::write(path, text + "\n").expect("the schemas can be written");
    } else {
        let committed: Value = serde_json::from_str(committed).expect("the schema is JSON");
        // Values, not texts: the order of the keys depends on how serde_json was built.
        assert!(
            committed == *generated.as_value(),
            "protocol/schemas/{file} is not what the types say; renew it with\n    \
             UPDATE=1 cargo test -p referee-protocol --features schema --test schemas"
        );
    }
}
