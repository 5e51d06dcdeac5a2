//! JSON Schemas of pawns, squares and moves.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use super::{Move, Pawn, Pawns, Square};
use referee_game::schema::string_schema;

const SQUARE: &str = "[a-g][1-7]";

string_schema!(Square, "Square", "A square: a file `a` to `g` and a rank 1 to 7.", format!("^{SQUARE}$"));

string_schema!(
    Move,
    "Move",
    "`ring d4` (a square), `choose red` (a pawn), `move red d4` (a pawn and its final square) or `accuse blue` (the pawn \
     that the opponent has chosen).",
    {
        let pawn = format!("({})", Pawn::ALL.map(Pawn::name).join("|"));
        format!("^(ring {SQUARE}|(choose|accuse) {pawn}|move {pawn} {SQUARE})$")
    }
);

impl JsonSchema for Pawn {
    fn schema_name() -> Cow<'static, str> {
        "Pawn".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "A pawn, by its colour.", "type": "string", "enum": Pawn::ALL.map(Pawn::name) })
    }
}

impl JsonSchema for Pawns {
    fn schema_name() -> Cow<'static, str> {
        "Pawns".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let square = generator.subschema_for::<Square>();
        let squares: Map<String, Value> =
            Pawn::ALL.iter().map(|pawn| (pawn.name().to_owned(), square.clone().into())).collect();
        json_schema!({
            "description": "The squares of the pawns, all different.",
            "type": "object",
            "properties": squares,
            "required": Pawn::ALL.map(Pawn::name),
        })
    }
}
