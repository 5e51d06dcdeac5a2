//! JSON Schemas of cards, pawns and moves.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::cards::HAND;
use super::view::Pawn;
use super::{Hand, Hands, Move, Rank};
use referee_game::schema::string_schema;

const TRACK: &str = "t([0-9]|[1-8][0-9]|9[0-5])";
const HOME: &str = "h[0-5]\\.[0-3]";

string_schema!(
    Pawn,
    "Pawn",
    "The place of a pawn: `base`, `t17` (a square of the track, 0 to 95) or `h0.1` (in the home of seat 0, 0 to 3).",
    format!("^(base|{TRACK}|{HOME})$")
);

string_schema!(
    Move,
    "Move",
    "A card and its effect: `K enter`, `A enter 2` (a pawn of seat 2), `5 t17` or `2 h0.1` (the pawn there), \
     `7 t17 4 t30 3` (two pawns and their steps), `J t17 t40` (the own pawn and the other).",
    {
        let square = format!("({TRACK}|{HOME})");
        let splits: Vec<String> = (1..7).map(|steps| format!("{steps} {square} {}", 7 - steps)).collect();
        let splits = splits.join("|");
        format!("^([KA] enter( [0-5])?|([2-9]|10|Q|A) {square}|7 {square} ({splits})|J {TRACK} {TRACK})$")
    }
);

impl JsonSchema for Rank {
    fn schema_name() -> Cow<'static, str> {
        "Card".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A card. Suits have no effect.",
            "type": "string",
            "enum": Rank::ALL.map(Rank::name),
        })
    }
}

impl JsonSchema for Hand {
    fn schema_name() -> Cow<'static, str> {
        "Hand".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Cards, sorted 2 to 10, J, Q, K, A.",
            "type": "array",
            "items": generator.subschema_for::<Rank>(),
            "maxItems": HAND,
        })
    }
}

impl JsonSchema for Hands {
    fn schema_name() -> Cow<'static, str> {
        "Hands".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Hands, by seat.",
            "type": "object",
            "patternProperties": { "^[0-5]$": generator.subschema_for::<Hand>() },
            "additionalProperties": false,
        })
    }
}
