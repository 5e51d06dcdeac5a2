//! Ratings with their intervals, as SVG.

use referee_stats::rating::Estimate;

use super::text;
use super::{Escaped, StandingsReport};

/// The height of a row and the range of the scale, in pixels.
const ROW: usize = 28;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 700.0;

/// The step of 1, 2 or 5 times a power of ten that divides a span into about six parts.
fn step(span: f64) -> f64 {
    let power = 10f64.powf((span / 6.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|&s| span / s <= 7.0).unwrap_or(power)
}

/// Elo with error bars, the best on top.
pub(super) fn plot(report: &StandingsReport) -> String {
    let elo = || report.entrants.iter().map(|entrant| entrant.elo).filter(Estimate::is_known);
    let low = elo().map(|elo| elo.low).fold(-10.0, f64::min);
    let high = elo().map(|elo| elo.high).fold(10.0, f64::max);
    let x = |value: f64| LEFT + (value - low) / (high - low) * (RIGHT - LEFT);
    let bottom = ROW * report.entrants.len() + 8;
    let height = bottom + 40;
    let mut out = format!(
        "<svg class=\"plot\" viewBox=\"0 0 720 {height}\" role=\"img\" aria-label=\"Elo with 95% intervals\">\n"
    );
    let step = step(high - low);
    let mut tick = (low / step).ceil() * step;
    while tick <= high {
        let is_zero = tick.abs() < step / 2.0;
        let (at, class) = (x(tick), if is_zero { "zero" } else { "grid" });
        let name = if is_zero { "0".to_owned() } else { format!("{tick:+.0}") };
        out += &format!("<line class=\"{class}\" x1=\"{at:.1}\" y1=\"4\" x2=\"{at:.1}\" y2=\"{bottom}\"/>");
        let label = bottom + 18;
        out += &format!("<text class=\"tick\" x=\"{at:.1}\" y=\"{label}\">{name}</text>\n");
        tick += step;
    }
    let (middle, axis) = ((LEFT + RIGHT) / 2.0, bottom + 35);
    out += &format!("<text class=\"tick\" x=\"{middle}\" y=\"{axis}\">Elo</text>\n");
    for (at, entrant) in report.entrants.iter().enumerate() {
        let y = ROW * at + ROW / 2 + 4;
        let (from, to, value) = (x(entrant.elo.low), x(entrant.elo.high), x(entrant.elo.value));
        let name: String = match entrant.name.chars().count() {
            0..=24 => entrant.name.clone(),
            _ => entrant.name.chars().take(23).chain(['…']).collect(),
        };
        out += &format!(
            "<g><title>{}: {}</title><text class=\"name\" x=\"{}\" y=\"{}\">{}</text>",
            Escaped(&entrant.name),
            text::elo(entrant.elo),
            LEFT - 12.0,
            y + 5,
            Escaped(&name)
        );
        if entrant.elo.is_known() {
            out += &format!("<path class=\"bar\" d=\"M{from:.1} {y}H{to:.1}");
            out += &format!("M{from:.1} {}v10M{to:.1} {}v10\"/>", y - 5, y - 5);
            out += &format!("<circle class=\"dot\" cx=\"{value:.1}\" cy=\"{y}\" r=\"5\"/>");
        }
        out += "</g>\n";
    }
    out + "</svg>\n"
}
