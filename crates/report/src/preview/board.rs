//! The board of a match on a picture.

use referee_game::Scene;
use referee_game::scene::{Depth, Form, Part, Shape, Tone};

use super::{Canvas, Rgb, shortened, width};

/// The opacity of marks, as on pages.
const MARK: f32 = 0.5;
/// The width of the label of a seat without a plate, in widths of an em, as on pages.
const LABEL: f32 = 5.0;

/// A point in pixels, or in units of a scene.
type Point = (f32, f32);

/// The place of a shape on the canvas.
struct Placed {
    /// The origin in pixels.
    origin: Point,
    /// Pixels for a unit.
    scale: f32,
    /// The sine and the cosine of its rotation.
    turn: Point,
}

impl Placed {
    fn of(shape: &Shape, (left, top): Point, scale: f32) -> Placed {
        let turn = f32::from(shape.turn.unwrap_or_default()).to_radians().sin_cos();
        Placed { origin: (left + scale * f32::from(shape.x), top + scale * f32::from(shape.y)), scale, turn }
    }

    fn to_canvas(&self, (x, y): Point) -> Point {
        let (sin, cos) = self.turn;
        let (x, y) = (self.scale * x, self.scale * y);
        (self.origin.0 + x * cos - y * sin, self.origin.1 + x * sin + y * cos)
    }

    fn to_shape(&self, (x, y): Point) -> Point {
        let (sin, cos) = self.turn;
        let (x, y) = ((x - self.origin.0) / self.scale, (y - self.origin.1) / self.scale);
        (x * cos + y * sin, y * cos - x * sin)
    }
}

impl Canvas {
    /// Draws a scene into a square with this corner and side, with these names of seats.
    pub(super) fn scene(&mut self, scene: &Scene, seats: &[String], (left, top): Point, side: f32) {
        let (wide, high) = (f32::from(scene.width.max(1)), f32::from(scene.height.max(1)));
        let scale = side / wide.max(high);
        let corner = (left + (side - scale * wide) / 2.0, top + (side - scale * high) / 2.0);
        for layer in Depth::ALL {
            for shape in scene.all().filter(|shape| shape.layer == layer) {
                let placed = Placed::of(shape, corner, scale);
                let mut before = None;
                for part in &shape.parts {
                    self.part(part, before.replace(part), seats, &placed);
                }
            }
        }
    }

    /// Draws a part. A rectangle directly before a text is its plate.
    fn part(&mut self, part: &Part, before: Option<&Part>, seats: &[String], placed: &Placed) {
        let opacity = |tone| if tone == Tone::Mark { MARK } else { 1.0 };
        if let Form::Text(x, y, size, text) = &part.form {
            if let Some(tone) = part.fill {
                let size = f32::from(*size) * placed.scale;
                let (x, y) = placed.to_canvas((f32::from(*x), f32::from(*y)));
                let plate = match before.map(|before| &before.form) {
                    Some(Form::Rect(_, _, wide, ..)) => Some(f32::from(*wide) * placed.scale - size),
                    _ => None,
                };
                let text = labelled(text, size, seats, plate);
                self.line(&text, size, (x - width(&text, size) / 2.0, y + 0.35 * size), rgb(tone));
            }
            return;
        }
        let Some((from, to)) = bounds(&part.form) else { return };
        let line = part.line.map(|(tone, wide)| (rgb(tone), f32::from(wide) * placed.scale));
        let around = line.map_or(1.0, |(_, wide)| 1.0 + wide);
        let corners = [from, (to.0, from.1), to, (from.0, to.1)].map(|corner| placed.to_canvas(corner));
        let least = |of: fn(&Point) -> f32| corners.iter().map(of).fold(f32::INFINITY, f32::min) - around;
        let most = |of: fn(&Point) -> f32| corners.iter().map(of).fold(f32::NEG_INFINITY, f32::max) + around;
        let inside = |from: f32, to: f32, end: u32| (from.max(0.0) as i64, to.min(end as f32) as i64);
        let (left, right) = inside(least(|at| at.0), most(|at| at.0), super::WIDTH);
        let (top, bottom) = inside(least(|at| at.1), most(|at| at.1), super::HEIGHT);
        for row in top..bottom {
            for column in left..right {
                let at = placed.to_shape((column as f32 + 0.5, row as f32 + 0.5));
                let distance = distance(&part.form, at) * placed.scale;
                if let Some(tone) = part.fill {
                    self.dot((column, row), opacity(tone) * (0.5 - distance).clamp(0.0, 1.0), rgb(tone));
                }
                if let Some((colour, wide)) = line {
                    self.dot((column, row), (0.5 + wide / 2.0 - distance.abs()).clamp(0.0, 1.0), colour);
                }
            }
        }
    }
}

/// A label as pages show it: that of a seat, or of a seat and its partners, is a name, cut to its width. More words may follow.
pub(super) fn labelled(text: &str, size: f32, seats: &[String], plate: Option<f32>) -> String {
    let Some((seat, more)) = seat_of(text) else { return text.to_owned() };
    let Some(name) = seats.get(seat) else { return text.to_owned() };
    let room = plate.map_or(LABEL * size, |plate| plate - width(more, size));
    shortened(name, size, room) + more
}

/// The seat of a label such as `seat 0 + 2`, and the words after it.
fn seat_of(text: &str) -> Option<(usize, &str)> {
    let number = |text: &str| -> Option<(usize, usize)> {
        let end = text.find(' ').unwrap_or(text.len());
        Some((text[..end].parse().ok()?, end))
    };
    let rest = text.strip_prefix("seat ")?;
    let (seat, end) = number(rest)?;
    let mut more = &rest[end..];
    while let Some(partner) = more.strip_prefix(" + ")
        && let Some((_, end)) = number(partner)
    {
        more = &partner[end..];
    }
    Some((seat, more))
}

/// The colour of a tone on light pages.
fn rgb(tone: Tone) -> Rgb {
    let digits = u32::from_str_radix(&tone.light()[1..], 16);
    let [_, red, green, blue] = digits.unwrap_or_default().to_be_bytes();
    [red, green, blue]
}

/// The corners of the rectangle around a form.
fn bounds(form: &Form) -> Option<(Point, Point)> {
    let of = |(x, y): (i16, i16)| (f32::from(x), f32::from(y));
    match form {
        Form::Rect(x, y, wide, high, _) => {
            let (x, y) = of((*x, *y));
            Some(((x, y), (x + f32::from(*wide), y + f32::from(*high))))
        }
        Form::Disc(x, y, radius) => {
            let ((x, y), radius) = (of((*x, *y)), f32::from(*radius));
            Some(((x - radius, y - radius), (x + radius, y + radius)))
        }
        Form::Polygon(points) => {
            let first = of(*points.first()?);
            Some(points.iter().map(|&point| of(point)).fold((first, first), |(from, to), at| {
                ((from.0.min(at.0), from.1.min(at.1)), (to.0.max(at.0), to.1.max(at.1)))
            }))
        }
        Form::Text(..) => None,
    }
}

/// The distance of a point to the edge of a form, negative inside.
fn distance(form: &Form, at: Point) -> f32 {
    match form {
        Form::Rect(x, y, wide, high, radius) => {
            let (half, radius) = ((f32::from(*wide) / 2.0, f32::from(*high) / 2.0), f32::from(*radius));
            let beyond = (
                (at.0 - f32::from(*x) - half.0).abs() - half.0 + radius,
                (at.1 - f32::from(*y) - half.1).abs() - half.1 + radius,
            );
            let outside = beyond.0.max(0.0).hypot(beyond.1.max(0.0));
            outside + beyond.0.max(beyond.1).min(0.0) - radius
        }
        Form::Disc(x, y, radius) => (at.0 - f32::from(*x)).hypot(at.1 - f32::from(*y)) - f32::from(*radius),
        Form::Polygon(points) => {
            let (mut nearest, mut is_inside) = (f32::INFINITY, false);
            let ends = points.iter().zip(points.iter().cycle().skip(1));
            for (&(x1, y1), &(x2, y2)) in ends {
                let (from, to) = ((f32::from(x1), f32::from(y1)), (f32::from(x2), f32::from(y2)));
                let (along, own) = ((to.0 - from.0, to.1 - from.1), (at.0 - from.0, at.1 - from.1));
                let length = along.0 * along.0 + along.1 * along.1;
                let share = ((own.0 * along.0 + own.1 * along.1) / length.max(f32::EPSILON)).clamp(0.0, 1.0);
                nearest = nearest.min((own.0 - share * along.0).hypot(own.1 - share * along.1));
                let crosses =
                    (from.1 > at.1) != (to.1 > at.1) && at.0 < from.0 + (at.1 - from.1) * along.0 / along.1;
                is_inside ^= crosses;
            }
            if is_inside { -nearest } else { nearest }
        }
        Form::Text(..) => f32::INFINITY,
    }
}
