//! The search in standings that have several pages.

use maud::{Markup, html};
use referee_game::json;
use serde_json::json;

use crate::tournament::TournamentReport;

/// The script that finds entrants.
const SCRIPT: &str = include_str!("search.js");

/// The form, which needs the script; above a list of the places from `first` to `last`.
pub(super) fn form(first: usize, last: usize, entrants: usize) -> Markup {
    html! {
        section aria-label="Search" {
            form class="fields" id="search" role="search" hidden {
                div class="grow" {
                    label for="q" { "Entrant" }
                    input id="q" type="search" autocomplete="off";
                }
                button type="submit" { "Search" }
            }
            p class="note" id="count" role="status" { "Places " (first) " to " (last) " of " (entrants) }
            noscript { p class="note" { "Search needs JavaScript." } }
        }
    }
}

/// The script with the entrants, the best first.
pub(super) fn script(report: &TournamentReport) -> String {
    let row =
        |(standing, details): (&crate::tournament::EntrantStanding, &crate::tournament::EntrantDetails)| {
            let of = standing.wdl();
            let elo = standing
                .elo
                .is_known()
                .then(|| [standing.elo.value, standing.elo.low, standing.elo.high].map(f64::round));
            let results = [of.wins, of.draws, of.losses];
            json!([
                standing.place,
                standing.shown(),
                details.number,
                standing.points,
                standing.possible,
                results,
                elo,
                standing.faulted
            ])
        };
    let rows: Vec<_> = report.entrants().map(row).collect();
    format!("\"use strict\";\nconst ENTRANTS = {};\n{SCRIPT}", json::text(&rows))
}
