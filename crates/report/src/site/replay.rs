//! The page of a match: its facts and its replay.

use maud::{Markup, PreEscaped, html};
use referee_match::Faults;

use super::{Escaped, Links, ListedMatch, MatchReplay, Section, Site, SitePage, crumbs, facts, minute};
use crate::replay::{DATA, data};
use crate::tournament::{EntrantStanding, clock_in_words, options_in_words, time};
use crate::words::{ToldMatch, amount, fault_in_words};

/// Reasons why a match has no replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unshown {
    None,
    /// The record is published when all matches on its deal have been played.
    Unsealed,
    Invalid,
    /// The match cannot be drawn, although its record may be valid.
    Undrawn,
}

impl Unshown {
    fn text(self) -> &'static str {
        match self {
            Unshown::None => "This match has no record.",
            Unshown::Unsealed => {
                "The record is published when all matches on the same deal have been played."
            }
            Unshown::Invalid => "The record of this match is damaged.",
            Unshown::Undrawn => "The replay of this match cannot be drawn.",
        }
    }
}

impl Site<'_> {
    /// The shown names of the entrants of a match, by seat.
    pub(super) fn shown_names<'a>(&'a self, listed: &'a ListedMatch) -> Vec<&'a str> {
        let shown = |name: &'a String| {
            let of_name = self.report.standings.entrants.iter().find(|standing| standing.name == *name);
            of_name.map_or(name.as_str(), EntrantStanding::shown)
        };
        listed.seats.iter().map(shown).collect()
    }

    /// A match of which sentences are made, with these names of its seats.
    pub(super) fn told_match<'a>(
        &self,
        listed: &'a ListedMatch,
        names: &'a [&'a str],
        moves: u32,
    ) -> ToldMatch<'a> {
        ToldMatch {
            game: Some(self.report.game),
            names,
            ranks: listed.ranks.as_deref(),
            ended_by: &listed.ended_by,
            reason: &listed.reason,
            forfeited: &listed.forfeited,
            moves,
        }
    }

    pub(super) fn replay(&self, index: usize, replay: Result<&MatchReplay, Unshown>) -> String {
        let listed = &self.report.attempts[index];
        let names = self.shown_names(listed);
        let ended = self.told_match(listed, &names, replay.map_or(listed.decisions, MatchReplay::moves));
        let (heading, why) = (ended.heading(), ended.why());
        let description = format!("{}, match {}: {why}", self.name(), listed.id);
        let page = SitePage {
            section: "matches.html",
            scripts: if replay.is_ok() { &["player.js"] } else { &[] },
            picture: self.picture_url(&Self::path_of_picture(listed)),
            ..self.page(heading.clone(), description, "../")
        };
        let neighbour = |at: Option<usize>| at.and_then(|at| self.report.attempts.get(at));
        let link = |rel: &str, at: Option<usize>, before: &str, after: &str| {
            html! {
                @if let Some(ListedMatch { id, .. }) = neighbour(at) {
                    a rel=(rel) href={ (Escaped(id)) ".html" } { (before) (Escaped(id)) (after) }
                }
            }
        };
        let content = html! {
            (crumbs(&[
                html! { a href="../index.html" { (Escaped(self.name())) } },
                html! { a href="../matches.html" { "Matches" } },
                html! { (Escaped(&listed.id)) },
            ]))
            h1 id="title" { (Escaped(&heading)) }
            p class="lede" id="result" { (Escaped(&why)) }
            @match replay {
                Ok(replay) => {
                    div id="player" { noscript { p class="note" { "The board needs JavaScript." } } }
                    (PreEscaped(DATA)) (PreEscaped(data(&[replay], 0, None))) (PreEscaped("</script>"))
                }
                Err(why) => { p class="notice warn" { (why.text()) } }
            }
            (self.about(listed, &page.links, replay.ok()))
            nav class="pager about" aria-label="Other matches" {
                (link("prev", index.checked_sub(1), "‹ ", ""))
                (link("next", Some(index + 1), "", " ›"))
            }
        };
        page.text(self.name(), &content)
    }

    fn about(&self, listed: &ListedMatch, links: &Links<'_>, replay: Option<&MatchReplay>) -> Section {
        let mut rows = vec![
            ("Ended by", html! { (Escaped(&listed.ending(self.report.game))) }),
            ("Result", html! { (Escaped(&listed.result_on_page())) }),
            ("Round", html! { @if let Some(round) = listed.round { (round) } }),
            ("Began", html! { (listed.began_at.as_deref().map(minute).unwrap_or_default()) }),
            ("Duration", html! { (time(listed.duration_us)) }),
            ("Set", html! { (Escaped(&listed.set)) }),
        ];
        if let Some(clock) = &listed.clock {
            rows.push(("Clock", html! { (Escaped(&clock_in_words(clock))) }));
        }
        if let Some(replay) = replay {
            rows.push(("Options", html! { small { (Escaped(&options_in_words(replay.options()))) } }));
            rows.push(("Seed", html! { small { code { (replay.seed()) } } }));
        }
        let content = html! {
            (seats(listed, self.report.game.amounts, links))
            (facts(&rows))
            @if replay.is_some() {
                p class="note" {
                    // The script of the replay fills the link.
                    a id="record" href="#" download={ (Escaped(&listed.id)) ".jsonl" } { "Download the record" }
                    " and verify it: " code { "referee verify " (Escaped(&listed.id)) ".jsonl" }
                    ". This page contains it, too: " code { "referee verify " (Escaped(&listed.id)) ".html" }
                }
            }
        };
        Section::new("This match", "", content).with_id("about")
    }
}

/// The entrants of the seats, and their results. `unit` is that of amounts.
fn seats(listed: &ListedMatch, unit: Option<&str>, links: &Links<'_>) -> Markup {
    let has_bots = listed.bots != listed.seats && listed.bots.len() == listed.seats.len();
    let score = |seat: usize| listed.scores.as_ref().and_then(|scores| scores.get(seat));
    let amount_of = |seat: usize| {
        let amounts = listed.amounts.as_ref();
        amounts.and_then(|of| of.get(seat)).map_or_else(|| "–".to_owned(), |&of| amount(of))
    };
    let faults = |seat: usize| -> String {
        let of_seat = listed.faults.get(seat).into_iter().flat_map(Faults::iter);
        let each: Vec<String> =
            of_seat.map(|(code, count)| format!("{count} {}", fault_in_words(code))).collect();
        each.join(", ")
    };
    let cpu = |seat: usize| listed.cpu_ms.get(seat).copied().flatten();
    html! {
        table class="cards no" {
            thead { tr { th class="t" { "Entrant" } th { "Score" } @if let Some(unit) = unit { th { (Escaped(unit)) } } th class="t" { "Faults" } th { "Processor time" } } }
            tbody {
                @for (seat, name) in listed.seats.iter().enumerate() {
                    tr {
                        td class="name" {
                            (links.entrant(name))
                            @if has_bots { small { (Escaped(&listed.bots[seat])) } }
                        }
                        td class="lead num" { @if let Some(score) = score(seat) { (score.to_string()) } @else { "–" } }
                        @if let Some(unit) = unit {
                            td class="num" data-l=(Escaped(unit)) { (amount_of(seat)) }
                        }
                        td class="t" data-l="Faults" { (Escaped(&faults(seat))) }
                        td class="num" data-l="Processor time" {
                            @match cpu(seat) {
                                None => "–",
                                // The resolution of the kernel.
                                Some(0) => "under 10 ms",
                                Some(ms) => (time(ms * 1000)),
                            }
                        }
                    }
                }
            }
        }
    }
}
