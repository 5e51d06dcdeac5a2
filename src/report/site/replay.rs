//! The page of a match: its facts and its replay.

use maud::{Markup, PreEscaped, html};

use super::{LabelledValue, Links, ListedMatch, Reel, Site, SitePage, facts, footer, minute};
use crate::report::replay::{DATA, data};
use crate::report::tournament::{Escaped, faults, options_in_words, time};

/// Why a match has no replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unshown {
    /// It left no record.
    None,
    /// Its record is published when all matches on its deal have been played.
    Unsealed,
    /// Its record is invalid.
    Invalid,
}

impl Unshown {
    fn text(self) -> &'static str {
        match self {
            Unshown::None => "This match has no record.",
            Unshown::Unsealed => {
                "The record is published when all matches on the same deal have been played."
            }
            Unshown::Invalid => "The record of this match is damaged.",
        }
    }
}

impl Site<'_> {
    pub(super) fn replay(&self, index: usize, replay: Result<&Reel, Unshown>) -> String {
        let told = &self.report.attempts[index];
        let links = Links::from("../", self.report);
        let page = SitePage { title: format!("{}, {}", told.id, self.name()), links, plays: replay.is_ok() };
        let neighbour = |at: Option<usize>| at.and_then(|at| self.report.attempts.get(at));
        let here = html! {
            span {
                @if let Some(ListedMatch { id, .. }) = neighbour(index.checked_sub(1)) {
                    a rel="prev" href={ (Escaped(id)) ".html" } { "‹ " (Escaped(id)) }
                }
                " "
                @if let Some(ListedMatch { id, .. }) = neighbour(Some(index + 1)) {
                    a rel="next" href={ (Escaped(id)) ".html" } { (Escaped(id)) " ›" }
                }
            }
        };
        let body = html! {
            (self.way("../", &here))
            @match replay {
                Ok(reel) => {
                    div id="player" { noscript { p { "The board needs JavaScript." } } }
                    (PreEscaped(DATA)) (PreEscaped(data(&[reel], 0, 0))) (PreEscaped("</script>"))
                }
                Err(why) => {
                    header {
                        h1 { (Escaped(&told.id)) }
                        p { (why.text()) }
                    }
                }
            }
            (about(told, &page.links, replay.ok()))
            (footer())
        };
        page.text(&body)
    }
}

/// The facts about a match.
fn about(told: &ListedMatch, links: &Links<'_>, reel: Option<&Reel>) -> Markup {
    let mut rows = vec![
        LabelledValue::text("result", &told.result_in_words()),
        LabelledValue::text("ended by", &told.how()),
        LabelledValue::text("set", &told.set),
        LabelledValue::text("round", &told.round.map_or(String::new(), |round| round.to_string())),
        LabelledValue::text("began (UTC)", &told.began_at.as_deref().map(minute).unwrap_or_default()),
        LabelledValue::text("duration", &time(told.duration_us)),
        LabelledValue::text("moves", &told.decisions.to_string()),
    ];
    if let Some(reel) = reel {
        rows.extend([
            LabelledValue::text("clock", &reel.clock()),
            LabelledValue::text("options", &options_in_words(reel.options())),
            LabelledValue::code("seed", reel.seed()),
        ]);
    }
    html! {
        section class="about" {
            h2 { "About " (Escaped(&told.id)) }
            (seats(told, links))
            (facts(&rows))
            @if reel.is_some() {
                p {
                    // The player fills it.
                    a id="record" href="#" download={ (Escaped(&told.id)) ".jsonl" } { "Download the record" }
                    " and verify it: "
                    code { "referee verify " (Escaped(&told.id)) ".jsonl" }
                    ". This page contains it, too: "
                    code { "referee verify " (Escaped(&told.id)) ".html" }
                }
            }
        }
    }
}

/// The entrants of the seats, and their results.
fn seats(told: &ListedMatch, links: &Links<'_>) -> Markup {
    let has_bots = told.bots != told.seats && told.bots.len() == told.seats.len();
    let rank = |seat: usize| told.ranks.as_ref().and_then(|ranks| ranks.get(seat));
    let score = |seat: usize| told.scores.as_ref().and_then(|scores| scores.get(seat));
    let of_seat = |seat: usize| told.faults.get(seat).map(faults).unwrap_or_default();
    let cpu = |seat: usize| told.cpu_ms.get(seat).copied().flatten();
    html! {
        div class="wide" {
            table {
                thead {
                    tr {
                        th { "seat" }
                        th class="text" { "entrant" }
                        @if has_bots { th class="text" { "bot" } }
                        th { "rank" }
                        th { "score" }
                        th class="text" { "faults" }
                        th { "cpu" }
                    }
                }
                tbody {
                    @for (seat, name) in told.seats.iter().enumerate() {
                        tr {
                            td { (seat) }
                            td class="text" { (links.entrant(name)) }
                            @if has_bots { td class="text" { (Escaped(&told.bots[seat])) } }
                            td { @if let Some(rank) = rank(seat) { (rank) } }
                            td { @if let Some(score) = score(seat) { (score.to_string()) } }
                            td class="text" { (Escaped(&of_seat(seat))) }
                            td { @if let Some(ms) = cpu(seat) { (time(ms * 1000)) } }
                        }
                    }
                }
            }
        }
    }
}
