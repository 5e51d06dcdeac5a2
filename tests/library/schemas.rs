//! The published JSON Schemas of the games are generated from the types, and the typed views of the SDKs have exactly
//! their fields.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn the_published_schemas_of_games_are_up_to_date() {
    let folder = format!("{ROOT}/protocol/schemas/games");
    for rules in referee::games::catalog().games() {
        let (id, schema) = (rules.meta().id, rules.schema());
        let path = format!("{folder}/{id}.json");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, format!("{schema:#}\n")).expect("the schemas can be written");
        }
        let published = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(
            published.parse::<Value>().expect("JSON") == schema,
            "protocol/schemas/games/{id}.json is not what the types say; renew it with\n    \
             UPDATE=1 cargo test --test library schemas"
        );
    }
    let files = std::fs::read_dir(folder).expect("the schemas");
    assert_eq!(files.count(), referee::games::catalog().games().count(), "a schema of no game");
}

fn validator(schema: &Value, part: &str) -> Validator {
    let mut schema = schema.clone();
    schema["$ref"] = format!("#/$defs/{part}").into();
    jsonschema::draft202012::new(&schema).expect("a schema")
}

/// The vectors of one game, which the tests of every SDK read.
fn vectors(file: &str, game: &str) -> Vec<Value> {
    let path = format!("{ROOT}/bots/vectors/{file}");
    let lines = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let all = lines.lines().map(|line| line.parse::<Value>().expect("JSON"));
    all.filter(|vector| vector["game"] == game).collect()
}

/// The definitions that a schema uses.
fn used(schema: &Value, definitions: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Value::as_str) {
                let name = name.strip_prefix("#/$defs/").expect("a definition").to_owned();
                if found.insert(name.clone()) {
                    used(&definitions[&name], definitions, found);
                }
            }
            members.values().for_each(|schema| used(schema, definitions, found));
        }
        Value::Array(schemas) => schemas.iter().for_each(|schema| used(schema, definitions, found)),
        _ => {}
    }
}

/// The schemas that lack one required field, one word of an enumeration or one alternative, with the name of
/// the missing part.
fn lacking_one(schema: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    match schema {
        Value::Object(members) => {
            let required = members.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            for (name, member) in members {
                for (what, changed) in lacking_one(member) {
                    // Optional fields are in records alone.
                    let field = what.split('/').next().unwrap_or_default();
                    if name == "properties" && !required.iter().any(|name| name == field) {
                        continue;
                    }
                    let mut schema = schema.clone();
                    schema[name] = changed;
                    all.push((format!("{name}/{what}"), schema));
                }
            }
            for name in &required {
                let name = name.as_str().expect("a name");
                let mut schema = schema.clone();
                schema["properties"].as_object_mut().expect("properties").remove(name);
                all.push((name.to_owned(), schema));
            }
            for list in ["enum", "oneOf", "anyOf", "type"] {
                let alternatives = members.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
                for (index, alternative) in alternatives.iter().enumerate() {
                    let mut schema = schema.clone();
                    schema[list].as_array_mut().expect("a list").remove(index);
                    all.push((alternative.to_string(), schema));
                }
            }
        }
        Value::Array(schemas) => {
            for (index, member) in schemas.iter().enumerate() {
                for (what, changed) in lacking_one(member) {
                    let mut schema = schema.clone();
                    schema[index] = changed;
                    all.push((what, schema));
                }
            }
        }
        _ => {}
    }
    all
}

/// The tests of each SDK require that its typed view of each vector is written as the same JSON. So a view type that
/// lacks a field of the schema, or has another one, fails them.
#[test]
fn the_vectors_for_typed_views_cover_the_schemas() {
    for rules in referee::games::catalog().games() {
        let (id, schema) = (rules.meta().id, rules.schema());
        let vectors = vectors("views.jsonl", id);
        let views: Vec<&Value> = vectors.iter().map(|v| v.get("read").unwrap_or(&v["view"])).collect();
        let whole = validator(&schema, "View");
        for view in &views {
            let errors: Vec<String> = whole.iter_errors(view).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{id}: {view}: {errors:?}");
        }
        let definitions = &schema["$defs"];
        let mut names = BTreeSet::from(["View".to_owned()]);
        used(&definitions["View"], definitions, &mut names);
        let mut missing = Vec::new();
        for name in names {
            for (what, changed) in lacking_one(&definitions[&name]) {
                let mut schema = schema.clone();
                schema["$defs"][&name] = changed;
                let schema = validator(&schema, "View");
                if views.iter().all(|view| schema.is_valid(view)) {
                    missing.push(format!("{name}/{what}"));
                }
            }
        }
        // No request has it: the pawns are set up before the first decision.
        missing.retain(|what| !(id == "xe_queo" && what == "View/properties/pawns/{\"type\":\"null\"}"));
        assert!(missing.is_empty(), "no view of {id} in bots/vectors/views.jsonl has {missing:?}");
    }
}

#[test]
fn the_vectors_for_moves_agree_with_the_schemas() {
    for rules in referee::games::catalog().games() {
        let schema = validator(&rules.schema(), "Move");
        for vector in vectors("moves.jsonl", rules.meta().id) {
            assert_eq!(schema.is_valid(&vector["move"]), !vector["read"].is_null(), "{vector}");
        }
    }
}
