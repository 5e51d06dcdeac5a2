//! Scenes: positions as shapes, for pictures and replays.
//!
//! A scene lists shapes at points of a plane. Its unit is a thousandth of the width of a typical board; x grows to the
//! right, y downwards. A viewer program draws the shapes and needs no knowledge of the rules.

use std::sync::Arc;

use crate::seat::MAX_SEATS;

/// A position as one viewer may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// The width in units, at most [`Scene::MOST_UNITS`]. All scenes of a match have the same size.
    pub width: i16,
    /// The height in units, at most [`Scene::MOST_UNITS`].
    pub height: i16,
    /// The colour that stands for each seat.
    pub seats: Vec<Tone>,
    /// Shapes that are the same in all scenes of a match, for all viewers, below the others of their layers. Scenes
    /// share them, which saves time where there are many.
    pub ground: Option<Arc<[Shape]>>,
    /// The other shapes. Shapes of one layer do not hide each other.
    pub shapes: Vec<Shape>,
    /// The position in words, one statement per line. The first line states what comes next or how the match ended.
    pub words: Vec<String>,
}

impl Scene {
    /// The maximum width and height.
    pub const MOST_UNITS: i16 = 2000;

    /// An empty scene of this size.
    pub const fn new(width: i16, height: i16) -> Scene {
        Scene { width, height, seats: Vec::new(), ground: None, shapes: Vec::new(), words: Vec::new() }
    }

    /// The scene of a board drawn as text: its characters in columns.
    pub fn of_text(text: &str) -> Scene {
        const SIDE: i16 = 1000;
        let mut scene = Scene { seats: TEXT_SEATS.to_vec(), ..Scene::new(SIDE, SIDE) };
        let most = text.lines().map(|line| line.chars().count()).chain([text.lines().count(), 10]).max();
        let cell = (SIDE / most.unwrap_or(1) as i16).max(1);
        for (row, line) in (0..).zip(text.lines().take((SIDE / cell) as usize)) {
            let letters = (0..SIDE / cell).zip(line.chars()).filter(|(_, letter)| *letter != ' ');
            let part = |(column, letter): (i16, char)| {
                Part::text(cell, letter).at(column * cell + cell / 2, 0).fill(Tone::Ink)
            };
            let shape = Shape::new(Depth::Piece, format!("line{row}"), (0, row * cell + cell / 2));
            scene.add(shape.with_all(letters.map(part)));
            scene.say(line);
        }
        scene.words.retain(|line| !line.trim().is_empty());
        scene
    }

    /// The ground and the other shapes.
    pub fn all(&self) -> impl Iterator<Item = &Shape> {
        self.ground.iter().flat_map(|ground| ground.iter()).chain(&self.shapes)
    }

    pub fn add(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }

    /// Adds a line of words.
    pub fn say(&mut self, line: impl Into<String>) {
        self.words.push(line.into());
    }
}

/// The colours of seats in scenes of text.
pub const TEXT_SEATS: [Tone; MAX_SEATS] =
    [Tone::Red, Tone::Blue, Tone::Green, Tone::Orange, Tone::Purple, Tone::Yellow];

/// Drawing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The board, below everything.
    Board,
    Mark,
    /// Moving shapes: pieces, cards, dice.
    Piece,
    Label,
}

impl Depth {
    /// The depths, the lowest first.
    pub const ALL: [Depth; 4] = [Depth::Board, Depth::Mark, Depth::Piece, Depth::Label];
}

/// A group of parts that moves as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Names the shape; unique in its scene. Shapes of consecutive scenes with the same id are the same thing.
    pub id: String,
    /// The kind. Shapes of one kind are interchangeable: when one disappears and another one appears, it has moved.
    pub kind: Option<String>,
    pub layer: Depth,
    /// The horizontal position of its origin.
    pub x: i16,
    /// The vertical position of its origin.
    pub y: i16,
    /// Rotation in degrees clockwise; `None` for a shape that stays upright when the board is turned around.
    pub turn: Option<i16>,
    /// The parts, the lowest one first.
    pub parts: Vec<Part>,
}

impl Shape {
    /// Returns a shape without parts.
    pub fn new(layer: Depth, id: impl Into<String>, (x, y): (i16, i16)) -> Shape {
        Shape { id: id.into(), kind: None, layer, x, y, turn: None, parts: Vec::new() }
    }

    #[must_use]
    pub fn kind(mut self, kind: impl Into<String>) -> Shape {
        self.kind = Some(kind.into());
        self
    }

    #[must_use]
    pub fn turned(mut self, degrees: i16) -> Shape {
        self.turn = Some(degrees);
        self
    }

    #[must_use]
    pub fn with(mut self, part: Part) -> Shape {
        self.parts.push(part);
        self
    }

    #[must_use]
    pub fn with_all(mut self, parts: impl IntoIterator<Item = Part>) -> Shape {
        self.parts.extend(parts);
        self
    }
}

/// A part of a shape. Its coordinates are relative to the origin of the shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    pub form: Form,
    /// The colour of its inside, if it is filled.
    pub fill: Option<Tone>,
    /// The colour and the width of its outline, if it has one.
    pub line: Option<(Tone, i16)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A rectangle by its upper left corner, width, height and the radius of its corners.
    Rect(i16, i16, i16, i16, i16),
    /// A circle by its centre and radius.
    Disc(i16, i16, i16),
    Polygon(Vec<(i16, i16)>),
    /// A line of text by its centre and size.
    Text(i16, i16, i16, String),
}

impl Part {
    const fn of(form: Form) -> Part {
        Part { form, fill: None, line: None }
    }

    /// A rectangle around the origin.
    pub const fn rect(width: i16, height: i16, radius: i16) -> Part {
        Part::of(Form::Rect(-width / 2, -height / 2, width, height, radius))
    }

    /// A circle around the origin.
    pub const fn disc(radius: i16) -> Part {
        Part::of(Form::Disc(0, 0, radius))
    }

    pub fn polygon(points: &[(i16, i16)]) -> Part {
        Part::of(Form::Polygon(points.to_vec()))
    }

    /// A text centred on the origin.
    pub fn text(size: i16, text: impl Into<String>) -> Part {
        Part::of(Form::Text(0, 0, size, text.into()))
    }

    #[must_use]
    pub fn at(mut self, dx: i16, dy: i16) -> Part {
        match &mut self.form {
            Form::Rect(x, y, ..) | Form::Disc(x, y, _) | Form::Text(x, y, ..) => {
                *x += dx;
                *y += dy;
            }
            Form::Polygon(points) => points.iter_mut().for_each(|(x, y)| {
                *x += dx;
                *y += dy;
            }),
        }
        self
    }

    #[must_use]
    pub const fn fill(mut self, tone: Tone) -> Part {
        self.fill = Some(tone);
        self
    }

    /// Outlines the part with a line of this width.
    #[must_use]
    pub const fn line(mut self, tone: Tone, width: i16) -> Part {
        self.line = Some((tone, width));
        self
    }
}

/// A colour by its purpose. Style sheets define it for dark pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tone {
    /// Text.
    Ink,
    /// Secondary text and thin lines.
    Faint,
    /// The background of the page.
    Paper,
    /// The frame and the ground of a board.
    Board,
    Light,
    Dark,
    OnDark,
    Special,
    Mark,
    /// Gold: crowns, rings.
    Gold,
    /// White pieces, and cards.
    White,
    /// Black pieces, and text on cards.
    Black,
    Red,
    Orange,
    Yellow,
    Green,
    Blue,
    Purple,
    /// The back of a card.
    Back,
}

impl Tone {
    pub const ALL: [Tone; 19] = [
        Tone::Ink,
        Tone::Faint,
        Tone::Paper,
        Tone::Board,
        Tone::Light,
        Tone::Dark,
        Tone::OnDark,
        Tone::Special,
        Tone::Mark,
        Tone::Gold,
        Tone::White,
        Tone::Black,
        Tone::Red,
        Tone::Orange,
        Tone::Yellow,
        Tone::Green,
        Tone::Blue,
        Tone::Purple,
        Tone::Back,
    ];

    /// The colour with this name.
    pub fn named(name: &str) -> Option<Tone> {
        Tone::ALL.into_iter().find(|tone| tone.name() == name)
    }

    /// The name of the colour in style sheets.
    pub const fn name(self) -> &'static str {
        match self {
            Tone::Ink => "ink",
            Tone::Faint => "faint",
            Tone::Paper => "paper",
            Tone::Board => "board",
            Tone::Light => "light",
            Tone::Dark => "dark",
            Tone::OnDark => "on-dark",
            Tone::Special => "special",
            Tone::Mark => "mark",
            Tone::Gold => "gold",
            Tone::White => "white",
            Tone::Black => "black",
            Tone::Red => "red",
            Tone::Orange => "orange",
            Tone::Yellow => "yellow",
            Tone::Green => "green",
            Tone::Blue => "blue",
            Tone::Purple => "purple",
            Tone::Back => "back",
        }
    }

    /// The colour on a light page, as `#rrggbb`.
    pub const fn light(self) -> &'static str {
        match self {
            Tone::Ink => "#1c2024",
            Tone::Faint => "#5f6871",
            Tone::Paper => "#ffffff",
            Tone::Board => "#e2ded5",
            Tone::Light => "#f1ecdf",
            Tone::Dark => "#7a9470",
            Tone::OnDark => "#f4f7f2",
            Tone::Special => "#ddd3ba",
            Tone::Mark => "#f7d038",
            Tone::Gold => "#d99a00",
            Tone::White => "#fdfbf5",
            Tone::Black => "#26292d",
            Tone::Red => "#d03b3b",
            Tone::Orange => "#e07b00",
            Tone::Yellow => "#f2c80f",
            Tone::Green => "#2e8b57",
            Tone::Blue => "#2f6fc4",
            Tone::Purple => "#8a4fbf",
            Tone::Back => "#5b6f8f",
        }
    }
}
