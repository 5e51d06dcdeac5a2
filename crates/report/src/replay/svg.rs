//! A scene as an SVG picture, and the colours of scenes.

use std::fmt::Write;

use referee_game::Scene;
use referee_game::scene::{Depth, Form, Part, Tone};

use crate::tournament::Escaped;

/// The colours on dark pages. Cells and pieces keep those of light pages, a little darker.
const DARK: [(Tone, &str); 19] = [
    (Tone::Ink, "#e6e9ec"),
    (Tone::Faint, "#9aa4ae"),
    (Tone::Paper, "#14171a"),
    (Tone::Board, "#2b3138"),
    (Tone::Light, "#cfc7b8"),
    (Tone::Dark, "#5f7656"),
    (Tone::OnDark, "#f4f7f2"),
    (Tone::Special, "#b9ad8d"),
    (Tone::Mark, "#f5c518"),
    (Tone::Gold, "#f0b429"),
    (Tone::White, "#f2efe6"),
    (Tone::Black, "#121417"),
    (Tone::Red, "#d84a4a"),
    (Tone::Orange, "#e8871e"),
    (Tone::Yellow, "#f2c80f"),
    (Tone::Green, "#35a066"),
    (Tone::Blue, "#3d82dc"),
    (Tone::Purple, "#9b62d0"),
    (Tone::Back, "#52698c"),
];

/// The style sheet of scenes: a variable and three classes for each colour, for insides, lines and HTML.
pub(crate) fn colours() -> String {
    let variables = |pick: fn(&(Tone, &'static str)) -> &'static str| -> String {
        DARK.iter().map(|entry| format!("--{}:{};", entry.0.name(), pick(entry))).collect()
    };
    let mut css = format!(
        ":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n",
        variables(|entry| entry.0.light()),
        variables(|entry| entry.1)
    );
    for (tone, _) in DARK {
        let (name, light) = (tone.name(), tone.light());
        // Programs without support for variables show the colours of light pages.
        css += &format!(
            ".f-{name}{{fill:{light};fill:var(--{name})}}.l-{name}{{stroke:{light};stroke:var(--{name})}}\
             .b-{name}{{background:var(--{name})}}\n"
        );
    }
    css + ".f-mark{fill-opacity:.5}.scene text{font-family:system-ui,sans-serif;font-weight:600;text-anchor:middle;dominant-baseline:central}\n"
}

/// The classes of a part: its colours.
pub(super) fn classes(part: &Part) -> String {
    let fill = part.fill.map(|tone| format!("f-{}", tone.name()));
    let line = part.line.map(|(tone, _)| format!("l-{}", tone.name()));
    fill.into_iter().chain(line).collect::<Vec<_>>().join(" ")
}

fn write_part(out: &mut String, part: &Part) {
    let attributes = format!("class=\"{}\"", classes(part));
    let width = part.line.map_or(String::new(), |(_, width)| format!(" stroke-width=\"{width}\""));
    let _ = match &part.form {
        Form::Rect(x, y, w, h, r) => {
            write!(
                out,
                "<rect {attributes}{width} x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"{r}\"/>"
            )
        }
        Form::Disc(x, y, r) => write!(out, "<circle {attributes}{width} cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>"),
        Form::Polygon(points) => {
            write!(out, "<polygon {attributes}{width} points=\"{}\"/>", polygon(points))
        }
        Form::Text(x, y, size, text) => {
            write!(
                out,
                "<text {attributes} x=\"{x}\" y=\"{y}\" font-size=\"{size}\">{}</text>",
                Escaped(text)
            )
        }
    };
}

/// The corners of a polygon as SVG writes them.
pub(super) fn polygon(points: &[(i16, i16)]) -> String {
    points.iter().map(|(x, y)| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
}

/// A scene as an SVG document.
pub fn svg(scene: &Scene, title: &str) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"scene\" fill=\"none\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n<desc>{}</desc>\n<style>\n{}</style>\n\
         <rect class=\"f-paper\" width=\"{width}\" height=\"{height}\"/>\n",
        Escaped(title),
        Escaped(&scene.words.join(". ")),
        colours(),
    );
    for layer in Depth::ALL {
        for shape in scene.all().filter(|shape| shape.layer == layer) {
            let turn = shape.turn.map_or(String::new(), |turn| format!(" rotate({turn})"));
            let _ = write!(out, "<g transform=\"translate({} {}){turn}\">", shape.x, shape.y);
            shape.parts.iter().for_each(|part| write_part(&mut out, part));
            out += "</g>\n";
        }
    }
    out + "</svg>\n"
}
