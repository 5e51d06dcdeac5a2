//! JSON Schemas of values that are strings in JSON.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::Fen;
use super::moves::Move;
use super::view::{Checks, Letters};
use referee_game::schema::string_schema;

/// A square: a1 to h8.
const SQUARE: &str = "[a-h][1-8]";

string_schema!(
    Letters<'_>,
    "Letters",
    "The squares from a8 to h8, a7 to h7, and so on to h1: the letters of FEN, upper case for White, `.` empty.",
    "^[pnbrqkPNBRQK.]{64}$"
);

string_schema!(
    Move,
    "Move",
    "A move in the notation of UCI, such as `e2e4` or `e7e8q`; castling is `e1g1`, in Chess960 `e1h1`.",
    format!("^({SQUARE}){{2}}[nbrq]?$")
);

impl JsonSchema for Checks {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Checks".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The squares of the pieces that give check to the side to move.",
            "type": "array",
            "items": { "type": "string", "pattern": format!("^{SQUARE}$") },
            "maxItems": 2
        })
    }
}

/// The position as a FEN. As an option it may be a number as well.
impl JsonSchema for Fen {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fen".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let pieces = "[1-8pnbrqkPNBRQK]{1,8}(/[1-8pnbrqkPNBRQK]{1,8}){7}";
        if generator.contract().is_serialize() {
            let pattern =
                format!("^{pieces} [wb] (-|[A-HKQ]{{0,2}}[a-hkq]{{0,2}}) (-|[a-h][36]) [0-9]+ [1-9][0-9]*$");
            json_schema!({ "description": "The position as a FEN.", "type": "string", "pattern": pattern })
        } else {
            let pattern =
                format!("^\\s*{pieces}\\s+[wWbB]\\s+[-A-HKQa-hkq]+\\s+(-|[a-h][36])(\\s+[0-9]+){{0,2}}\\s*$");
            json_schema!({
                "description": "The start position as a FEN, or the number of a start position of Chess960.",
                "anyOf": [
                    { "type": "string", "pattern": pattern },
                    { "type": "integer", "minimum": 0, "maximum": 959 }
                ]
            })
        }
    }
}
