//! Scenes in answers.

use std::collections::{BTreeMap, HashSet};

use referee_game::Wrong;
use referee_game::printable::printable;
use referee_game::scene::{Depth, Form, Part, Scene, Shape, TEXT_SEATS, Tone};
use serde::Deserialize;

use crate::MOST_SCENE_TEXT;

/// The maximum number of shapes of a scene.
pub(crate) const MOST_SHAPES: usize = 2000;
/// The maximum number of parts of a scene.
pub(crate) const MOST_PARTS: usize = 10_000;

/// A position as shapes: the field `scene` of the answer to `show`.
#[derive(Debug, Deserialize)]
struct SceneAnswer {
    width: i16,
    height: i16,
    #[serde(default)]
    seats: Vec<String>,
    shapes: Vec<ShapeAnswer>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    places: MovePlaces,
}

/// The ids of the shapes of moves, by their texts.
pub(crate) type MovePlaces = BTreeMap<String, Vec<String>>;

#[derive(Debug, Deserialize)]
struct ShapeAnswer {
    id: String,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    layer: DepthName,
    at: [f64; 2],
    #[serde(default)]
    turn: Option<f64>,
    parts: Vec<PartAnswer>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DepthName {
    Board,
    Mark,
    #[default]
    Piece,
    Label,
}

#[derive(Debug, Deserialize)]
struct PartAnswer {
    #[serde(flatten)]
    form: FormAnswer,
    #[serde(default)]
    fill: Option<String>,
    #[serde(default)]
    outline: Option<OutlineAnswer>,
}

/// A form with fractional numbers, which are rounded.
#[derive(Debug, Deserialize)]
#[serde(tag = "form", rename_all = "snake_case")]
enum FormAnswer {
    Rect {
        at: [f64; 2],
        width: f64,
        height: f64,
        #[serde(default)]
        radius: f64,
    },
    Circle {
        at: [f64; 2],
        radius: f64,
    },
    Polygon {
        points: Vec<[f64; 2]>,
    },
    Text {
        at: [f64; 2],
        size: f64,
        text: String,
    },
}

#[derive(Debug, Deserialize)]
struct OutlineAnswer {
    colour: String,
    width: f64,
}

fn tone(name: &str) -> Result<Tone, Wrong> {
    let unknown = || {
        let all = Tone::ALL.map(Tone::name).join(", ");
        format!("there is no colour `{}`; available: {all}", printable(name))
    };
    Ok(Tone::named(name).ok_or_else(unknown)?)
}

/// A coordinate, rounded.
fn units(units: f64) -> Result<i16, Wrong> {
    let most = Scene::MOST_UNITS;
    if units.abs() <= f64::from(most) {
        Ok(units.round() as i16)
    } else {
        Err(format!("the number {units}; expected {} to {most}", -most).into())
    }
}

/// A length, rounded.
fn length(units: f64) -> Result<i16, Wrong> {
    if units < 0.0 {
        return Err(format!("the length {units}; expected 0 to {}", Scene::MOST_UNITS).into());
    }
    self::units(units)
}

/// Reads and checks a scene.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read(scene: &str) -> Result<(Scene, MovePlaces), Wrong> {
    let SceneAnswer { width, height, seats, shapes, words, places } =
        serde_json::from_str(scene).map_err(|error| error.to_string())?;
    if [width, height].iter().any(|side| !(1..=Scene::MOST_UNITS).contains(side)) {
        return Err(format!("{width} by {height}; each from 1 to {}", Scene::MOST_UNITS).into());
    }
    if shapes.len() > MOST_SHAPES || shapes.iter().map(|shape| shape.parts.len()).sum::<usize>() > MOST_PARTS
    {
        return Err(format!("at most {MOST_SHAPES} shapes with {MOST_PARTS} parts").into());
    }
    let mut scene = Scene { seats: TEXT_SEATS.to_vec(), ..Scene::new(width, height) };
    for (seat, name) in scene.seats.iter_mut().zip(&seats) {
        *seat = tone(name)?;
    }
    let mut ids = HashSet::new();
    for shape in shapes {
        let id = printable(&shape.id).into_owned();
        if !ids.insert(shape.id.clone()) {
            return Err(format!("two shapes have the id `{id}`").into());
        }
        scene.add(read_shape(shape).map_err(|what| Wrong::at(format!("shape `{id}`"), what))?);
    }
    let texts = scene.shapes.iter().flat_map(|shape| &shape.parts).map(|part| match &part.form {
        Form::Text(.., text) => text.len(),
        _ => 0,
    });
    let bytes: usize = texts.sum();
    if bytes > MOST_SCENE_TEXT {
        return Err(format!("its texts have {bytes} bytes; they have at most {MOST_SCENE_TEXT}").into());
    }
    for line in words {
        scene.say(printable(&line));
    }
    for (text, places) in &places {
        if let Some(id) = places.iter().find(|id| !ids.contains(*id)) {
            let [text, id] = [text, id].map(|text| printable(text).into_owned());
            return Err(format!("`places` of the move `{text}`: there is no shape `{id}`").into());
        }
    }
    Ok((scene, places))
}

fn read_shape(shape: ShapeAnswer) -> Result<Shape, Wrong> {
    let ShapeAnswer { id, kind, layer, at: [x, y], turn, parts } = shape;
    let layer = match layer {
        DepthName::Board => Depth::Board,
        DepthName::Mark => Depth::Mark,
        DepthName::Piece => Depth::Piece,
        DepthName::Label => Depth::Label,
    };
    let parts = parts.into_iter().map(read_part).collect::<Result<_, _>>()?;
    let turn = turn.map(|degrees| degrees.round().rem_euclid(360.0) as i16);
    Ok(Shape { id, kind, layer, x: units(x)?, y: units(y)?, turn, parts })
}

fn read_part(part: PartAnswer) -> Result<Part, Wrong> {
    let form = match part.form {
        FormAnswer::Rect { at: [x, y], width, height, radius } => {
            Form::Rect(units(x)?, units(y)?, length(width)?, length(height)?, length(radius)?)
        }
        FormAnswer::Circle { at: [x, y], radius } => Form::Disc(units(x)?, units(y)?, length(radius)?),
        FormAnswer::Polygon { points } => {
            let points = points.into_iter().map(|[x, y]| Ok((units(x)?, units(y)?)));
            Form::Polygon(points.collect::<Result<_, Wrong>>()?)
        }
        FormAnswer::Text { at: [x, y], size, text } => {
            Form::Text(units(x)?, units(y)?, length(size)?, printable(&text).into_owned())
        }
    };
    // A text without a colour would be invisible.
    let default = matches!(form, Form::Text(..)).then_some(Tone::Ink);
    let fill = part.fill.as_deref().map(tone).transpose()?.or(default);
    let line = part.outline.map(|outline| Ok::<_, Wrong>((tone(&outline.colour)?, length(outline.width)?)));
    Ok(Part { form, fill, line: line.transpose()? })
}

#[cfg(test)]
mod tests {
    use referee_game::Chain;

    use super::*;

    fn scene(shapes: &str) -> Result<Scene, Wrong> {
        Ok(read_scene(shapes)?.0)
    }

    fn read_scene(shapes: &str) -> Result<(Scene, MovePlaces), Wrong> {
        read(&format!(
            r#"{{"width":100,"height":50,"seats":["red","yellow"],"shapes":[{shapes}],"words":["red to move"]}}"#
        ))
    }

    #[test]
    fn shapes_keep_their_ids_layers_and_colours() {
        let disc = r#"{"id":"a1","kind":"red","at":[10,20],"parts":[{"form":"circle","at":[0,0],"radius":5,"fill":"red","outline":{"colour":"ink","width":1}}]}"#;
        let scene = scene(disc).unwrap();
        let expected = Shape::new(Depth::Piece, "a1", (10, 20)).kind("red");
        let expected = expected.with(Part::disc(5).fill(Tone::Red).line(Tone::Ink, 1));
        assert_eq!(scene.shapes[0], expected);
        assert_eq!((scene.width, scene.height, scene.seats[1]), (100, 50, Tone::Yellow));
        assert_eq!(scene.words[0], "red to move");
    }

    #[test]
    fn a_text_without_a_colour_is_drawn_in_ink() {
        let of = |part: &str| {
            let scene = scene(&format!(r#"{{"id":"x","at":[0,0],"parts":[{part}]}}"#)).unwrap();
            scene.shapes[0].parts[0].fill
        };
        assert_eq!(of(r#"{"form":"text","at":[0,0],"size":9,"text":"a"}"#), Some(Tone::Ink));
        assert_eq!(of(r#"{"form":"text","at":[0,0],"size":9,"text":"a","fill":"red"}"#), Some(Tone::Red));
        assert_eq!(of(r#"{"form":"circle","at":[0,0],"radius":9}"#), None);
    }

    #[test]
    fn fractional_numbers_are_rounded_and_a_radius_may_be_absent() {
        let rect = r#"{"form":"rect","at":[0.5,-1.25],"width":10.2,"height":9.9}"#;
        let scene = scene(&format!(r#"{{"id":"x","at":[3.7,2],"turn":359.9,"parts":[{rect}]}}"#)).unwrap();
        let shape = &scene.shapes[0];
        assert_eq!((shape.x, shape.y, shape.turn), (4, 2, Some(0)));
        assert_eq!(shape.parts[0].form, Form::Rect(1, -1, 10, 10, 0));
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let of = |parts: &str| {
            Chain(&scene(&format!(r#"{{"id":"x","at":[0,0],"parts":[{parts}]}}"#)).unwrap_err()).to_string()
        };
        assert!(of(r#"{"form":"circle","at":[0,0],"radius":5,"fill":"pink"}"#).contains("no colour `pink`"));
        assert!(of(r#"{"form":"circle","at":[0,0],"radius":60000}"#).contains("the number 60000"));
        assert!(of(r#"{"form":"circle","at":[0,0],"radius":-5}"#).contains("the length -5"));
        let twice = r#"{"id":"x","at":[0,0],"parts":[]},{"id":"x","at":[0,0],"parts":[]}"#;
        assert!(Chain(&scene(twice).unwrap_err()).to_string().contains("two shapes"));
        assert!(
            Chain(&read(r#"{"width":0,"height":5,"shapes":[]}"#).unwrap_err()).to_string().contains("0 by 5")
        );
    }
}
