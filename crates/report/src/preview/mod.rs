//! Pictures that chats and other sites show of a page (`og:image`).
//!
//! A picture has the size that most of them expect. Its font has the letters of Latin, Greek and Cyrillic: [`drawable`] tells
//! whether a name can be drawn, and [`drawn`] chooses the id of what cannot.

mod board;

use std::collections::HashMap;
use std::io::Write;
use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};
use referee_game::Scene;

/// The width of a picture in pixels.
pub const WIDTH: u32 = 1200;
/// The height of a picture in pixels.
pub const HEIGHT: u32 = 630;

/// The distance of the content from the edges.
const MARGIN: f32 = 72.0;
/// The sizes of a title, the preferred one first.
const TITLE: [f32; 4] = [76.0, 64.0, 54.0, 46.0];
/// The size of the other texts.
const TEXT: f32 = 36.0;
/// The size of the parts above and below.
const SMALL: f32 = 30.0;
/// The distance between the baselines of lines, as a share of the size.
const LEADING: f32 = 1.18;

/// Red, green and blue.
type Rgb = [u8; 3];

const PAPER: Rgb = [0xfa, 0xf9, 0xf6];
const INK: Rgb = [0x1b, 0x1e, 0x21];
const MUTED: Rgb = [0x59, 0x5f, 0x65];
const ACCENT: Rgb = [0x1d, 0x4f, 0x91];
/// The number of shades between a colour and its background.
const SHADES: f32 = 32.0;
/// The most colours of a palette.
const PALETTE: usize = 256;
/// The side of the square of a board.
const BOARD: f32 = 400.0;

static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("font.ttf"))
        .unwrap_or_else(|error| unreachable!("the font is part of the program: {error}"))
});

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// The line above: the competition.
    pub over: String,
    /// The title: the result of a match, the name of a competition.
    pub title: String,
    /// A sentence below the title; may be empty.
    pub text: String,
    /// The first places, in order.
    pub rows: Vec<PreviewRow>,
    /// The line below: the game, and what the picture is of.
    pub under: String,
    pub board: Option<Scene>,
    /// The names on the board, by seat.
    pub seats: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewRow {
    /// The place; empty if it has none.
    pub place: String,
    pub name: String,
    /// The points or its rating.
    pub figure: String,
}

/// Returns whether the font has all characters of a text.
pub fn drawable(text: &str) -> bool {
    text.chars().all(|c| FONT.glyph_id(c).0 != 0)
}

/// The text if it can be drawn, otherwise the other one.
pub fn drawn<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if drawable(text) { text } else { otherwise }
}

impl Preview {
    /// The picture as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let mut canvas = Canvas::new();
        canvas.block(0.0, 0.0, WIDTH as f32, 14.0, ACCENT);
        let (whole, mut wide) = (WIDTH as f32 - 2.0 * MARGIN, WIDTH as f32 - 2.0 * MARGIN);
        if let Some(board) = &self.board {
            wide -= BOARD + MARGIN / 2.0;
            canvas.scene(board, &self.seats, (WIDTH as f32 - MARGIN - BOARD, MARGIN), BOARD);
        }
        let over = shortened(&self.over, SMALL, wide);
        canvas.line(&over, SMALL, (MARGIN, 104.0), MUTED);
        let room = if self.rows.is_empty() { 3 } else { 2 };
        let (size, lines) = fitted(&self.title, wide, room);
        let mut y = 116.0;
        for line in &lines {
            y += size * LEADING;
            canvas.line(line, size, (MARGIN, y), INK);
        }
        y += 22.0;
        for line in wrapped(&self.text, TEXT, wide, 3) {
            y += TEXT * LEADING;
            canvas.line(&line, TEXT, (MARGIN, y), MUTED);
        }
        for row in &self.rows {
            y += TEXT * 1.5;
            if y > HEIGHT as f32 - 110.0 {
                break;
            }
            let figure = width(&row.figure, TEXT);
            canvas.line(&row.place, TEXT, (MARGIN, y), MUTED);
            let name = shortened(&row.name, TEXT, wide - 72.0 - figure - 24.0);
            canvas.line(&name, TEXT, (MARGIN + 72.0, y), INK);
            canvas.line(&row.figure, TEXT, (MARGIN + wide - figure, y), ACCENT);
        }
        canvas.block(MARGIN, HEIGHT as f32 - 96.0, whole, 2.0, MUTED);
        let under = shortened(&self.under, SMALL, whole);
        canvas.line(&under, SMALL, (MARGIN, HEIGHT as f32 - 44.0), MUTED);
        canvas.png()
    }
}

/// The width of a line in pixels.
fn width(text: &str, size: f32) -> f32 {
    let font = FONT.as_scaled(PxScale::from(size));
    text.chars().map(|c| font.h_advance(font.glyph_id(c))).sum()
}

/// A line that is cut to a width.
fn shortened(text: &str, size: f32, most: f32) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut kept: String = text.to_owned();
    while kept.pop().is_some() && width(&kept, size) + width("…", size) > most {}
    format!("{}…", kept.trim_end())
}

/// Breaks a text into lines of at most this width, and cuts it after this number of lines. Words that are too long are broken.
fn wrapped(text: &str, size: f32, most: f32, lines: usize) -> Vec<String> {
    let (mut all, is_whole) = broken(text, size, most, lines);
    if !is_whole && let Some(last) = all.last_mut() {
        *last = shortened(&format!("{last}…"), size, most);
    }
    all
}

/// The first lines of a text, and whether these are all.
fn broken(text: &str, size: f32, most: f32, lines: usize) -> (Vec<String>, bool) {
    let mut all = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word.to_owned();
        loop {
            let last = all.last_mut().unwrap_or_else(|| unreachable!("there is a first line"));
            let longer = if last.is_empty() { word.clone() } else { format!("{last} {word}") };
            if width(&longer, size) <= most {
                *last = longer;
                break;
            }
            let is_new = last.is_empty();
            if is_new {
                // The word alone is too long.
                let fits = |end: &usize| width(&word[..*end], size) <= most;
                let ends = word.char_indices().map(|(at, c)| at + c.len_utf8());
                let end = ends
                    .take_while(fits)
                    .last()
                    .unwrap_or_else(|| word.chars().next().map_or(0, char::len_utf8));
                *last = word[..end].to_owned();
                word.drain(..end);
            }
            if all.len() == lines {
                return (all, is_new && word.is_empty());
            }
            all.push(String::new());
            if word.is_empty() {
                break;
            }
        }
    }
    all.retain(|line| !line.is_empty());
    (all, true)
}

/// Returns the largest size in which a title takes at most this number of lines, and these lines.
fn fitted(title: &str, most: f32, lines: usize) -> (f32, Vec<String>) {
    for size in TITLE {
        if let (all, true) = broken(title, size, most, lines) {
            return (size, all);
        }
    }
    let size = TITLE[TITLE.len() - 1];
    (size, wrapped(title, size, most, lines))
}

/// A picture that is drawn, by pixel.
struct Canvas(Vec<Rgb>);

impl Canvas {
    fn new() -> Canvas {
        Canvas(vec![PAPER; (WIDTH * HEIGHT) as usize])
    }

    /// Draws a colour over a pixel; what lies beyond the edges is left out.
    fn dot(&mut self, (x, y): (i64, i64), coverage: f32, colour: Rgb) {
        let is_inside = (0..i64::from(WIDTH)).contains(&x) && (0..i64::from(HEIGHT)).contains(&y);
        // Few shades make small files.
        let coverage = (coverage.clamp(0.0, 1.0) * SHADES).round() / SHADES;
        if is_inside && coverage > 0.0 {
            let pixel = &mut self.0[(y * i64::from(WIDTH) + x) as usize];
            for (below, above) in pixel.iter_mut().zip(colour) {
                let mixed = f32::from(*below) + coverage * (f32::from(above) - f32::from(*below));
                *below = mixed.round() as u8;
            }
        }
    }

    fn block(&mut self, x: f32, y: f32, width: f32, height: f32, colour: Rgb) {
        for row in y as i64..(y + height) as i64 {
            for column in x as i64..(x + width) as i64 {
                self.dot((column, row), 1.0, colour);
            }
        }
    }

    /// Writes a line that begins here on its baseline. A character that the font lacks is a question mark.
    fn line(&mut self, text: &str, size: f32, (mut x, y): (f32, f32), colour: Rgb) {
        let font = FONT.as_scaled(PxScale::from(size));
        for c in text.chars() {
            let id = Some(font.glyph_id(c)).filter(|id| id.0 != 0).unwrap_or_else(|| font.glyph_id('?'));
            let glyph: Glyph = id.with_scale_and_position(PxScale::from(size), point(x, y));
            x += font.h_advance(id);
            let Some(outlined) = font.outline_glyph(glyph) else { continue };
            let corner = outlined.px_bounds().min;
            outlined.draw(|column, row, coverage| {
                let at = (corner.x as i64 + i64::from(column), corner.y as i64 + i64::from(row));
                self.dot(at, coverage, colour);
            });
        }
    }

    /// The colours with their numbers; `None` if there are too many.
    fn palette(&self) -> Option<HashMap<Rgb, u8>> {
        let (mut colours, mut last) = (HashMap::new(), None);
        for &pixel in &self.0 {
            if last == Some(pixel) || colours.contains_key(&pixel) {
                last = Some(pixel);
                continue;
            }
            if colours.len() == PALETTE {
                return None;
            }
            colours.insert(pixel, colours.len() as u8);
        }
        Some(colours)
    }

    /// The picture as a PNG file.
    fn png(&self) -> Vec<u8> {
        let palette = self.palette();
        let index =
            |pixel: &Rgb| palette.as_ref().and_then(|colours| colours.get(pixel)).copied().unwrap_or(0);
        // A row begins with its filter, here none.
        let row = |row: &[Rgb]| match &palette {
            Some(_) => [0].into_iter().chain(row.iter().map(index)).collect::<Vec<u8>>(),
            None => [&[0], row.as_flattened()].concat(),
        };
        let rows: Vec<u8> = self.0.chunks(WIDTH as usize).flat_map(row).collect();
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        let pixels = encoder.write_all(&rows).and_then(|()| encoder.finish());
        let pixels =
            pixels.unwrap_or_else(|error| unreachable!("memory takes a picture of this size: {error}"));
        // Eight bits: indices into the palette, or each of the three colours.
        let kind = if palette.is_some() { 3 } else { 2 };
        let header = [&WIDTH.to_be_bytes()[..], &HEIGHT.to_be_bytes(), &[8, kind, 0, 0, 0]].concat();
        let colours = palette.map(|colours| {
            let mut colours: Vec<(u8, Rgb)> = colours.into_iter().map(|(colour, at)| (at, colour)).collect();
            colours.sort_unstable();
            (b"PLTE", colours.into_iter().flat_map(|(_, colour)| colour).collect())
        });
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        let chunks = [(b"IHDR", header)].into_iter().chain(colours);
        for (kind, data) in chunks.chain([(b"IDAT", pixels), (b"IEND", Vec::new())]) {
            let mut sum = Crc::new();
            sum.update(kind);
            sum.update(&data);
            file.extend((data.len() as u32).to_be_bytes());
            file.extend(kind);
            file.extend(data);
            file.extend(sum.sum().to_be_bytes());
        }
        file
    }
}

#[cfg(test)]
mod tests {
    use referee_game::scene::{Depth, Part, Shape, Tone};

    use super::*;

    #[test]
    fn names_in_european_letters_can_be_drawn() {
        for name in ["Ann", "Čapek", "Ærø-Łódź", "Άννα", "Жанна ½"] {
            assert!(drawable(name), "{name}");
        }
        for name in ["将棋", "عنب", "🦀", "e\u{301}", "a\u{7}"] {
            assert_eq!(drawn(name, "id"), "id", "{name}");
        }
    }

    #[test]
    fn long_titles_get_smaller_and_are_cut() {
        let (size, lines) = fitted("Ann beat Bob", 1056.0, 3);
        assert_eq!((size, lines), (TITLE[0], vec!["Ann beat Bob".to_owned()]));
        let (size, lines) = fitted(&"x".repeat(500), 1056.0, 3);
        assert_eq!((size, lines.len()), (TITLE[3], 3));
        assert!(lines[2].ends_with('…') && width(&lines[2], size) <= 1056.0, "{lines:?}");
        assert!(wrapped("", TEXT, 1056.0, 3).is_empty());
    }

    #[test]
    fn a_picture_is_a_png_of_the_stated_size() {
        let rows = (1..=9).map(|place| PreviewRow {
            place: place.to_string(),
            name: "W".repeat(64),
            figure: "1031 ± 30".into(),
        });
        let preview = Preview {
            over: "Cup".repeat(99),
            title: "ann ".repeat(99),
            text: "why ".repeat(99),
            rows: rows.collect(),
            under: "Checkers".repeat(99),
            board: None,
            seats: Vec::new(),
        };
        let file = preview.png();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().expect("a picture");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let frame = reader.next_frame(&mut pixels).expect("a frame");
        assert_eq!((frame.width, frame.height), (WIDTH, HEIGHT));
        assert!(file.len() < 100_000, "{}", file.len());
    }

    #[test]
    fn boards_name_seats_as_pages_do() {
        let seats = ["Ann".to_owned(), "W".repeat(20), "Bob".to_owned()];
        let shown = |text, plate| board::labelled(text, 30.0, &seats, plate);
        assert_eq!(
            ["seat 0", "seat 0 + 2", "seat 2 plays"].map(|text| shown(text, None)),
            ["Ann", "Ann", "Bob plays"]
        );
        assert_eq!(["h0", "seat 9", "seats"].map(|text| shown(text, None)), ["h0", "seat 9", "seats"]);
        let (cut, long) = (shown("seat 1", None), shown("seat 1 + 0 leads", Some(400.0)));
        assert!(cut.ends_with("W…") && width(&cut, 30.0) <= 150.0, "{cut}");
        assert!(long.ends_with("W… leads") && (300.0..=400.0).contains(&width(&long, 30.0)), "{long}");
    }

    #[test]
    fn a_picture_of_a_match_has_its_board() {
        let mut scene = Scene::new(200, 100);
        let mut shape = Shape::new(Depth::Board, "board", (100, 50));
        shape.parts = vec![
            Part::rect(200, 100, 0).fill(Tone::Dark),
            Part::disc(25).fill(Tone::White),
            Part::polygon(&[(-90, -40), (-50, -40), (-90, 40)]).line(Tone::Red, 4),
        ];
        scene.add(shape);
        let mut canvas = Canvas::new();
        canvas.scene(&scene, &[], (0.0, 0.0), 400.0);
        let at = |x: u32, y: u32| canvas.0[(y * WIDTH + x) as usize];
        assert_eq!(at(20, 50), PAPER, "it is centred");
        assert_eq!(
            [at(390, 290), at(200, 200), at(20, 180)],
            [[0x7a, 0x94, 0x70], [0xfd, 0xfb, 0xf5], [0xd0, 0x3b, 0x3b]]
        );
        assert_eq!(at(30, 180), at(390, 290), "only its outline is drawn");
    }
}
