//! The page of a match: its facts and its replay.

use maud::{Markup, PreEscaped, html};

use super::{LabelledValue, Links, ListedMatch, MatchReplay, Site, SitePage, facts, footer, minute};
use crate::replay::{DATA, data};
use crate::tournament::{Escaped, faults, options_in_words, time};

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
    pub(super) fn replay(&self, index: usize, replay: Result<&MatchReplay, Unshown>) -> String {
        let listed = &self.report.attempts[index];
        let links = Links::from("../", self.report);
        let page =
            SitePage { title: format!("{}, {}", listed.id, self.name()), links, plays: replay.is_ok() };
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
                Ok(replay) => {
                    div id="player" { noscript { p { "The board needs JavaScript." } } }
                    (PreEscaped(DATA)) (PreEscaped(data(&[replay], 0, 0))) (PreEscaped("</script>"))
                }
                Err(why) => {
                    header {
                        h1 { (Escaped(&listed.id)) }
                        p { (why.text()) }
                    }
                }
            }
            (about(listed, &page.links, replay.ok()))
            (footer())
        };
        page.text(&body)
    }
}

/// The facts about a match.
fn about(listed: &ListedMatch, links: &Links<'_>, replay: Option<&MatchReplay>) -> Markup {
    let mut rows = vec![
        LabelledValue::text("result", &listed.result_in_words()),
        LabelledValue::text("ended by", &listed.how()),
        LabelledValue::text("set", &listed.set),
        LabelledValue::text("round", &listed.round.map_or(String::new(), |round| round.to_string())),
        LabelledValue::text("began (UTC)", &listed.began_at.as_deref().map(minute).unwrap_or_default()),
        LabelledValue::text("duration", &time(listed.duration_us)),
        LabelledValue::text("moves", &listed.decisions.to_string()),
    ];
    if let Some(replay) = replay {
        rows.extend([
            LabelledValue::text("clock", &replay.clock()),
            LabelledValue::text("options", &options_in_words(replay.options())),
            LabelledValue::code("seed", replay.seed()),
        ]);
    }
    html! {
        section class="about" {
            h2 { "About " (Escaped(&listed.id)) }
            (seats(listed, links))
            (facts(&rows))
            @if replay.is_some() {
                p {
                    // The player fills it.
                    a id="record" href="#" download={ (Escaped(&listed.id)) ".jsonl" } { "Download the record" }
                    " and verify it: "
                    code { "referee verify " (Escaped(&listed.id)) ".jsonl" }
                    ". This page contains it, too: "
                    code { "referee verify " (Escaped(&listed.id)) ".html" }
                }
            }
        }
    }
}

/// The entrants of the seats, and their results.
fn seats(listed: &ListedMatch, links: &Links<'_>) -> Markup {
    let has_bots = listed.bots != listed.seats && listed.bots.len() == listed.seats.len();
    let rank = |seat: usize| listed.ranks.as_ref().and_then(|ranks| ranks.get(seat));
    let score = |seat: usize| listed.scores.as_ref().and_then(|scores| scores.get(seat));
    let of_seat = |seat: usize| listed.faults.get(seat).map(faults).unwrap_or_default();
    let cpu = |seat: usize| listed.cpu_ms.get(seat).copied().flatten();
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
                    @for (seat, name) in listed.seats.iter().enumerate() {
                        tr {
                            td { (seat) }
                            td class="text" { (links.entrant(name)) }
                            @if has_bots { td class="text" { (Escaped(&listed.bots[seat])) } }
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
