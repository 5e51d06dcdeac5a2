//! JSON Schemas of values that are strings in JSON.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::Board;
use super::moves::{MAX_SQUARES, Move};
use super::view::Letters;
use referee_game::schema::string_schema;

/// A square: 1 to 32.
const SQUARE: &str = "([1-9]|[12][0-9]|3[0-2])";

string_schema!(
    Letters,
    "Letters",
    "The squares from 1 to 32: `b` and `w` men, `B` and `W` kings, `.` empty.",
    "^[bwBW.]{32}$"
);

string_schema!(
    Move,
    "Move",
    "A step, such as `11-15`, or a capture with every square that it visits, such as `15x24x31`; squares are 1 to 32.",
    format!("^({SQUARE}-{SQUARE}|{SQUARE}(x{SQUARE}){{1,{}}})$", MAX_SQUARES - 1)
);

/// The position as a FEN. As an option, its lists may be in any order.
impl JsonSchema for Board {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fen".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let [white, black] = ["W", "B"].map(|colour| format!("{colour}(K?{SQUARE}(,K?{SQUARE})*)?"));
        let (description, pattern) = if generator.contract().is_serialize() {
            (
                "The position as a PDN FEN: the side to move, White's squares, Black's squares, ascending, kings as `K10`.",
                format!("^[BW]:{white}:{black}$"),
            )
        } else {
            ("The start position as a PDN FEN.", format!("^[BW]:({white}:{black}|{black}:{white})\\.?$"))
        };
        json_schema!({ "description": description, "type": "string", "pattern": pattern })
    }
}
