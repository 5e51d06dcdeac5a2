//! The layout of the scenes of a match as the player reads it.

use referee_game::Seat;
use referee_game::scene::{Layout, List, Names, Row};
use serde::Serialize;
use serde_json::{Value, json};

/// The rows and lists. `places` writes the places of a row.
pub(super) fn layout<T: Serialize>(layout: &Layout, places: impl Fn(&Row) -> T) -> Value {
    let row = |row: &Row| match &row.names {
        Names::Same(name) => json!(["same", name, places(row)]),
        Names::Numbered(name) => json!(["numbered", name, places(row)]),
        Names::Hand(Seat(seat)) => json!(["hand", seat, places(row)]),
    };
    let list = |List { line, of, what, text, rows }: &List| json!([line, of, what, text, rows]);
    json!({
        "rows": layout.rows.iter().map(row).collect::<Vec<_>>(),
        "lists": layout.lists.iter().map(list).collect::<Vec<_>>(),
    })
}
