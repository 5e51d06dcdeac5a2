//! The look of all pages: one stylesheet, and the parts that pages share.
//!
//! A page has a status line, one sentence as its heading, a paragraph that says why, and then the evidence.

mod prose;
mod public_url;

use maud::{Markup, PreEscaped, html};
use referee_stats::Wdl;
use referee_stats::rating::Estimate;

use crate::preview::{HEIGHT, WIDTH};
use crate::replay::colours;
use crate::story::Story;
use crate::tournament::Escaped;

pub use prose::{prose, split_title};
pub use public_url::PublicUrl;

/// The stylesheet of all pages, with the colours of scenes.
pub fn style() -> String {
    format!("{}{}", colours(), include_str!("page.css"))
}

pub const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 26 26'%3E%3Ccircle \
    cx='17' cy='13' r='8.5' fill='%23fdfbf5' stroke='%234d545a'/%3E%3Ccircle cx='9.5' cy='13' r='8.5' fill='%2324292e' \
    stroke='%234d545a'/%3E%3C/svg%3E";

/// The sign before the name at the top of a page.
pub const SIGN: &str = "<svg width=\"26\" height=\"20\" viewBox=\"0 0 26 20\" aria-hidden=\"true\"><circle cx=\"16.5\" \
    cy=\"10\" r=\"8.5\" fill=\"var(--piece-light)\" stroke=\"var(--piece-edge)\"/><circle cx=\"9.5\" cy=\"10\" r=\"8.5\" \
    fill=\"var(--piece-dark)\" stroke=\"var(--piece-edge)\"/></svg>";

/// The mark that tells pages of this program from others.
const GENERATOR: &str = "<meta name=\"generator\" content=\"referee\">";

/// Returns whether a page has been written by this program.
pub fn is_own(page: &[u8]) -> bool {
    memchr::memmem::find(page, GENERATOR.as_bytes()).is_some()
}

/// The head of every page: how it fits a screen, its icon, its title, and what other sites show of it. `picture` is
/// the absolute URL of its [preview](crate::preview::Preview).
pub fn head(title: &str, description: &str, picture: Option<&str>) -> Markup {
    html! {
        (PreEscaped(GENERATOR))
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (Escaped(title)) }
        meta name="description" content=(Escaped(description));
        meta property="og:title" content=(Escaped(title));
        meta property="og:description" content=(Escaped(description));
        meta property="og:type" content="website";
        @if let Some(picture) = picture {
            meta property="og:image" content=(Escaped(picture));
            meta property="og:image:type" content="image/png";
            meta property="og:image:width" content=(WIDTH);
            meta property="og:image:height" content=(HEIGHT);
            meta name="twitter:card" content="summary_large_image";
        }
        link rel="icon" href=(PreEscaped(ICON));
    }
}

/// Text that is escaped for HTML elements and attributes.
pub fn escaped(text: &str) -> String {
    Escaped(text).to_string()
}

/// A page to which the top of another one links.
pub(crate) struct NavLink<'a> {
    pub(crate) href: String,
    pub(crate) name: &'a str,
    pub(crate) is_current: bool,
}

/// The top of a page: a way past it, the name, and the pages.
pub(crate) fn top(name: &str, home: &str, links: &[NavLink<'_>]) -> Markup {
    html! {
        a class="skip" href="#main" { "Skip to content" }
        header class="top" {
            div class="wrap" {
                a class="brand" href=(home) { (PreEscaped(SIGN)) (Escaped(name)) }
                nav aria-label="Pages" {
                    ul {
                        @for NavLink { href, name, is_current } in links {
                            li { a href=(href) aria-current=[is_current.then_some("page")] { (name) } }
                        }
                    }
                }
            }
        }
    }
}

/// Points with halves as a fraction: `8½`.
pub fn halves(points: f64) -> String {
    let whole = points.trunc();
    if (points - whole - 0.5).abs() < 1e-9 && points > 0.0 {
        return if whole == 0.0 { "½".to_owned() } else { format!("{whole}½") };
    }
    let text = format!("{points:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Wins, draws and losses as a bar.
pub(crate) fn results_bar(wdl: Wdl) -> Markup {
    let (Wdl { wins, draws, .. }, all) = (wdl, f64::from(wdl.total()));
    let share = |count: u32| {
        if all > 0.0 { format!("{:.1}%", 100.0 * f64::from(count) / all) } else { "0".to_owned() }
    };
    html! {
        svg class="wdl" role="img" aria-label=(wdl) {
            @if all == 0.0 { rect class="none" width="100%" height="8" {} }
            rect class="d" width=(share(wins + draws)) height="8" {}
            rect class="w" width=(share(wins)) height="8" {}
        }
    }
}

/// The scale on which the intervals of a table are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// A scale for these figures. Figures without data and fixed figures do not count.
    pub fn of(estimates: impl Iterator<Item = Estimate> + Clone) -> Scale {
        let finite = |end: f64| end.is_finite().then_some(end);
        let ends = || estimates.clone().filter(|estimate| estimate.low < estimate.high);
        let low = ends().filter_map(|estimate| finite(estimate.low)).fold(f64::INFINITY, f64::min);
        let high = ends().filter_map(|estimate| finite(estimate.high)).fold(f64::NEG_INFINITY, f64::max);
        if low < high { Scale { low, high } } else { Scale { low: -100.0, high: 100.0 } }
    }

    /// A place on the scale, in percent of the width. Beyond the ends it stays at the edge.
    fn at(self, value: f64) -> String {
        let share = (value - self.low) / (self.high - self.low);
        format!("{:.1}%", (2.0 + 96.0 * share).clamp(2.0, 98.0))
    }
}

/// An interval on a scale, with its figure as a dot.
pub fn interval_bar(estimate: Estimate, scale: Scale) -> Markup {
    if !estimate.is_known() {
        return html! { span class="muted small" { "no data" } };
    }
    let Estimate { value, low, high } = estimate;
    html! {
        svg class="iv" role="img" aria-label={ (rounded(low)) " to " (rounded(high)) } {
            line class="rail" x1="0" x2="100%" y1="8" y2="8" {}
            line class="span" x1=(scale.at(low)) x2=(scale.at(high)) y1="8" y2="8" {}
            circle cx=(scale.at(value)) cy="8" r="4" {}
        }
    }
}

/// A whole number with the sign for minus that people read: `338`, `−84`.
pub fn whole(value: f64) -> String {
    let rounded = value.round();
    if rounded < 0.0 { format!("−{}", -rounded) } else { format!("{}", rounded.abs()) }
}

/// A whole number with a sign for plus as well: `+338`, `−84`.
pub(crate) fn signed(value: f64) -> String {
    let sign = if value.round() > 0.0 { "+" } else { "" };
    format!("{sign}{}", whole(value))
}

fn rounded(value: f64) -> String {
    if value.is_finite() { signed(value) } else { "unbounded".to_owned() }
}

/// A figure with half of the width of its interval: `+338 ± 118`.
pub(crate) fn plus_minus(estimate: Estimate) -> Markup {
    let Estimate { value, low, high } = estimate;
    html! {
        @if estimate.is_known() {
            (signed(value)) " " span class="muted small" { "± " (((high - low) / 2.0).round()) }
        } @else {
            "–"
        }
    }
}

/// The sentences of a story; `link` makes a link to a match.
pub(crate) fn lede(story: &Story, link: impl Fn(&str, &str) -> Markup) -> Markup {
    html! {
        @if !story.why.is_empty() {
            p class="lede" {
                @for part in &story.why {
                    @match &part.r#match {
                        Some(id) => { (link(id, &part.text)) }
                        None => { (Escaped(&part.text)) }
                    }
                }
            }
        }
    }
}

/// The length in bytes from which a value is set as text, not as a figure.
const LONG: usize = 24;

/// A row of labels and values for people; those without a value are left out.
pub(crate) fn facts(facts: &[(&str, Markup)]) -> Markup {
    html! {
        dl class="facts" {
            @for (label, value) in facts.iter().filter(|(_, value)| !value.0.is_empty()) {
                div { dt { (label) } dd class=[(value.0.len() > LONG && !value.0.contains('<')).then_some("long")] { (value) } }
            }
        }
    }
}

/// An ordinal number: `2nd`.
pub(crate) fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_shown_with_halves() {
        let texts = [0.0, 0.5, 1.0, 8.5, 1.25, 13.0].map(halves);
        assert_eq!(texts, ["0", "½", "1", "8½", "1.25", "13"]);
    }

    #[test]
    fn fixed_figures_do_not_set_the_scale_of_a_table() {
        let estimate = |value, low, high| Estimate { value, low, high };
        let of_field = [estimate(1200.0, 1100.0, 1300.0), estimate(1000.0, 900.0, 1100.0)];
        let scale = Scale::of(of_field.into_iter().chain([estimate(0.0, 0.0, 0.0)]));
        assert_eq!([scale.at(900.0), scale.at(1300.0), scale.at(0.0)], ["2.0%", "98.0%", "2.0%"]);
    }

    #[test]
    fn ordinals_have_their_endings() {
        assert_eq!([1, 2, 3, 4, 11, 22].map(ordinal), ["1st", "2nd", "3rd", "4th", "11th", "22nd"]);
    }
}
