//! Scenes as messages: parts at their places, in the order in which they are drawn.

use referee_game::erased::{BoardText, Table};
use referee_game::scene::{Depth, Form, Part, Shape, Tone};
use referee_game::seat::{Seat, Viewer};
use referee_protocol::referee as message;

/// The scene of a position as a seat may see it.
pub(super) fn scene(table: &dyn Table, seat: Seat) -> message::Scene {
    let viewer = Viewer::Seat(seat);
    let scene = table.scene(viewer);
    let layer = |depth| scene.all().filter(move |shape| shape.layer == depth);
    let shapes = Depth::ALL.into_iter().flat_map(layer);
    message::Scene {
        width: length(scene.width),
        height: length(scene.height),
        background: colour(Tone::Paper),
        parts: shapes.flat_map(|shape| shape.parts.iter().map(|part| placed(shape, part))).collect(),
        text: BoardText(table, viewer).to_string(),
    }
}

/// A length; no scene has a negative one.
fn length(units: i16) -> u16 {
    units.unsigned_abs()
}

fn colour(tone: Tone) -> message::Colour {
    message::Colour(tone.light().to_owned())
}

/// The colour of the inside of a part. Marks let the cell below show through.
fn fill(tone: Tone) -> message::Colour {
    let opacity = if tone == Tone::Mark { "80" } else { "" };
    message::Colour(format!("{}{opacity}", tone.light()))
}

/// Converts a part of a shape to a part of the scene.
fn placed(shape: &Shape, part: &Part) -> message::ScenePart {
    let turn = f64::from(shape.turn.unwrap_or(0)).to_radians();
    let at = |(x, y): (i16, i16)| {
        let (x, y) = (f64::from(x), f64::from(y));
        let turned = [x * turn.cos() - y * turn.sin(), x * turn.sin() + y * turn.cos()];
        [shape.x + turned[0].round() as i16, shape.y + turned[1].round() as i16]
    };
    let form = match &part.form {
        // A rectangle that is turned has sharp corners.
        &Form::Rect(x, y, width, height, _) if turn != 0.0 => {
            let corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)];
            message::SceneForm::Polygon { points: corners.map(at).to_vec() }
        }
        &Form::Rect(x, y, width, height, radius) => message::SceneForm::Rect {
            at: at((x, y)),
            width: length(width),
            height: length(height),
            radius: length(radius),
        },
        &Form::Disc(x, y, radius) => message::SceneForm::Circle { at: at((x, y)), radius: length(radius) },
        Form::Polygon(points) => {
            message::SceneForm::Polygon { points: points.iter().copied().map(at).collect() }
        }
        // Text stays upright.
        Form::Text(x, y, size, text) => {
            message::SceneForm::Text { at: at((*x, *y)), size: length(*size), text: text.clone() }
        }
    };
    message::ScenePart {
        form,
        fill: part.fill.map(fill),
        outline: part
            .line
            .map(|(tone, width)| message::Outline { colour: colour(tone), width: length(width) }),
    }
}
