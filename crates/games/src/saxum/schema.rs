//! JSON Schemas of the dice, the board and moves.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::board::SIDE;
use super::dice::SIX;
use super::{Board, Dice, Move};
use referee_game::schema::string_schema;

string_schema!(
    Move,
    "Move",
    "`reroll 1` (a die), `turn 1 4` (a die and its new face), or `place`, `score`, `pay` or `insure` with the row and the \
     column of a field, such as `place 4 3`.",
    "^(reroll [12]|turn [12] [1-5]|(place|score|pay|insure) [1-5] [1-5])$"
);

impl JsonSchema for Dice {
    fn schema_name() -> Cow<'static, str> {
        "Dice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The faces of die 1 and die 2; 0 means a die that is being rerolled. `null` without a roll: before \
                a turn's roll and after the end. Requests contain neither.",
            "type": ["array", "null"],
            "items": { "type": "integer", "minimum": 0, "maximum": SIX },
            "minItems": 2,
            "maxItems": 2,
        })
    }
}

impl JsonSchema for Board {
    fn schema_name() -> Cow<'static, str> {
        "Board".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The rows from 1 to 5, each with columns from 1 to 5: `0` and `1` are stones of the seats, `.` is \
                free.",
            "type": "array",
            "items": { "type": "string", "pattern": format!("^[01.]{{{SIDE}}}$") },
            "minItems": SIDE,
            "maxItems": SIDE,
        })
    }
}
