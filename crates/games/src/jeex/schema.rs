//! JSON Schemas of values that are strings in JSON.

use super::{Field, Move};
use referee_game::schema::string_schema;

const FIELD: &str = "([abde][1-3]|c[13])";
const DIRECTION: &str = "(N|NE|E|SE|S|SW|W|NW)";

string_schema!(
    Field,
    "Field",
    "A field: a file `a` to `e` and a rank 1 to 3, but not the centre `c2`.",
    format!("^{FIELD}$")
);

string_schema!(
    Move,
    "Move",
    "`place b3 E`, `rotate b3 SE`, `capture c3 b3` (the own stone, then the captured one) or `claim`.",
    format!("^((place|rotate) {FIELD} {DIRECTION}|capture {FIELD} {FIELD}|claim)$")
);
