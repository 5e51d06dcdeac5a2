//! The seasons of a league that have ended: final standings and matches, as JSON and as pages.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use referee_game::json;
use referee_league::ShownOwner;
use referee_report::page::{Scale, interval_bar, whole};
use referee_stats::rating::Estimate;
use referee_store::StoreError;
use serde::{Deserialize, Serialize};

use crate::api::{Bounded, HubState, LIST, MOST_MATCHES, Parameters, refused};
use crate::entries::ShownName;
use crate::host::SeenUrl;
use crate::hub::Hub;
use crate::ladder::{LadderPages, PlayedMatch, PlayerName, PlayerStanding, answered};
use crate::nav;
use crate::pages::{BELOW, PageCard, TOP, text_page};

#[derive(Serialize)]
pub(super) struct SeasonEntry {
    pub(super) name: String,
    /// In UTC.
    pub(super) ended_at: String,
    pub(super) matches: u32,
    /// `None` without a rated match.
    pub(super) winner: Option<ShownName>,
}

/// The final standings of a season.
#[derive(Serialize)]
pub(super) struct SeasonStandings {
    #[serde(flatten)]
    pub(super) season: SeasonEntry,
    /// The best first; anchors and earlier versions come last, without a place.
    pub(super) standings: Vec<PlayerStanding>,
}

/// The seasons, the newest first.
#[derive(Serialize)]
struct Seasons {
    seasons: Vec<SeasonEntry>,
}

/// Matches of a season, the newest first.
#[derive(Serialize)]
struct SeasonMatches {
    matches: Vec<PlayedMatch>,
}

/// Parameters of a request for matches of a season.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct MatchesQuery {
    /// The number that is larger than those of the matches.
    before: Option<Bounded<0, MOST_MATCHES>>,
    limit: Option<Bounded<1, { LIST as u64 }>>,
}

impl MatchesQuery {
    /// The number below which matches are wanted, if any, and how many.
    fn of(&self) -> (Option<u32>, usize) {
        let before = self.before.map(|Bounded(before)| u32::try_from(before).unwrap_or(u32::MAX));
        (before, self.limit.map_or(LIST, |Bounded(limit)| limit as usize))
    }
}

fn no_season(name: &str) -> String {
    format!("no season `{name}` has ended")
}

/// Answers with the seasons.
pub(super) async fn of_league(State(hub): HubState) -> Response {
    let read = |ladder: &LadderPages, _: &Hub| Ok(Some(json::text(&Seasons { seasons: ladder.seasons()? })));
    answered(&hub, "seasons".to_owned(), String::new(), read).await
}

/// Answers with a season.
pub(super) async fn of_season(State(hub): HubState, PlayerName(name): PlayerName) -> Response {
    let (key, missing) = (format!("season {name}"), no_season(&name));
    let read =
        move |ladder: &LadderPages, _: &Hub| Ok(ladder.season(&name)?.map(|season| json::text(&season)));
    answered(&hub, key, missing, read).await
}

/// Matches of a season as JSON.
pub(super) async fn matches_of_season(
    State(hub): HubState,
    PlayerName(name): PlayerName,
    Parameters(query): Parameters<MatchesQuery>,
) -> Response {
    let (before, limit) = query.of();
    let (key, missing) = (format!("season {name} {before:?} {limit}"), no_season(&name));
    let read = move |ladder: &LadderPages, hub: &Hub| {
        let found = ladder.season_matches(&name, before, limit)?;
        Ok(found.map(|mut matches| {
            hub.note_rulings(&mut matches);
            json::text(&SeasonMatches { matches })
        }))
    };
    answered(&hub, key, missing, read).await
}

/// Reads something of the ladder for a page; an answer with the defect otherwise.
async fn read<T: Send + 'static>(
    hub: &Hub,
    read: impl FnOnce(&LadderPages) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, Response> {
    let Some(ladder) = hub.ladder().map(Arc::clone) else {
        return Err(refused(StatusCode::NOT_FOUND, "this is not a ladder of a league"));
    };
    let failed = || refused(StatusCode::INTERNAL_SERVER_ERROR, "the seasons cannot be read");
    let _turn = hub.answers.computing.lock().await;
    tokio::task::spawn_blocking(move || read(&ladder)).await.ok().and_then(Result::ok).ok_or_else(failed)
}

pub(super) async fn list(State(hub): HubState, Extension(seen): Extension<SeenUrl>) -> Response {
    let seasons = match read(&hub, |ladder| ladder.seasons()).await {
        Ok(seasons) => seasons,
        Err(response) => return response,
    };
    let text = html! {
        h1 { "Seasons" }
        @if seasons.is_empty() { p { "No season has ended." } }
        ul class="lines" {
            @for season in &seasons {
                li class="row" {
                    span class="grow" {
                        a href={ "seasons/" (season.name) } { (season.name) }
                        @if let Some(winner) = &season.winner { ", won by " (winner.shown()) }
                    }
                    span class="small muted" { (season.matches) " matches, ended " (day(&season.ended_at)) }
                }
            }
        }
    };
    let (title, description) =
        (format!("Seasons of {}", hub.name()), "The seasons that have ended.".to_owned());
    let card = PageCard { title, description, picture: None };
    let here = Some(nav::SEASONS.0);
    text_page(TOP).of_run(&hub, &seen, here, !seasons.is_empty(), &card, &text.into_string()).await
}

pub(super) async fn page(
    State(hub): HubState,
    Extension(seen): Extension<SeenUrl>,
    PlayerName(name): PlayerName,
    Parameters(query): Parameters<MatchesQuery>,
) -> Response {
    let (asked, (before, limit)) = (name.clone(), query.of());
    let found = read(&hub, move |ladder| {
        let matches = ladder.season_matches(&asked, before, limit)?.unwrap_or_default();
        Ok(ladder.season(&asked)?.map(|season| (season, matches)))
    });
    let (title, text, is_there) = match found.await {
        Err(response) => return response,
        Ok(None) => ("Season".to_owned(), html! { h1 { "Season" } p { (no_season(&name)) } }, false),
        Ok(Some((season, mut matches))) => {
            hub.note_rulings(&mut matches);
            (format!("{name} of {}", hub.name()), told(&season, &matches, limit), true)
        }
    };
    let card = PageCard { title, description: "Final standings and matches.".to_owned(), picture: None };
    text_page(BELOW).of_run(&hub, &seen, None, is_there, &card, &text.into_string()).await
}

fn day(at: &str) -> &str {
    at.get(..10).unwrap_or(at)
}

/// A season with these of its matches.
fn told(
    SeasonStandings { season, standings }: &SeasonStandings,
    matches: &[PlayedMatch],
    limit: usize,
) -> Markup {
    let earlier = matches.last().filter(|_| matches.len() == limit);
    html! {
        ol class="crumbs" { li { a href="../seasons" { "Seasons" } } li { (season.name) } }
        p class="eyebrow" { "Ended " (day(&season.ended_at)) " · " (season.matches) " matches" }
        h1 { (season.name) }
        @if let Some(first) = standings.first().filter(|_| season.winner.is_some()) {
            p class="lede" {
                @let margin = (first.standing.rating.high - first.standing.rating.value).round();
                (first.player.shown()) " came first: rated " (whole(first.standing.rating.value)) " "
                span class="muted small" { "± " (margin) } " after " (first.standing.counts.matches) " rated matches."
            }
        }
        section aria-labelledby="standings-title" {
            div class="head" { h2 id="standings-title" { "Final standings" } }
            (table(standings))
            p class="note" {
                "Ratings are Elo with their 95% intervals. Those with a question mark are still uncertain; those of anchors are fixed."
            }
        }
        section aria-labelledby="matches-title" {
            div class="head" { h2 id="matches-title" { "Matches" } }
            ul class="lines" {
                @for played in matches {
                    li class="row" {
                        span class="grow" { (played.text) }
                        span class="small muted" {
                            @if !played.rated { "not rated, " }
                            (minute(&played.ended_at))
                        }
                        a href={ "../matches/" (played.id) } { (played.id) }
                    }
                }
            }
            @if let Some(number) = earlier.and_then(|played| played.id.get(1..)) {
                nav class="pager" aria-label="Earlier matches" {
                    a class="btn" href={ (season.name) "?before=" (number) "#matches-title" } { "Earlier matches" }
                }
            }
        }
    }
}

fn minute(at: &str) -> String {
    at.get(..16).unwrap_or(at).replace('T', " ")
}

fn table(standings: &[PlayerStanding]) -> Markup {
    let rows = || standings.iter().filter(|row| row.standing.is_newest);
    let scale = Scale::of(rows().map(|row| row.standing.rating));
    html! {
        table class="cards" {
            thead {
                tr {
                    th { "#" }
                    th class="t" { "Name" }
                    th { "Rating" }
                    th class="t" { "95% interval" }
                    th { "W / D / L" }
                    th { "Faults" }
                    th { "Matches" }
                }
            }
            tbody {
                @for row in rows() {
                    tr {
                        td class="num" { @if let Some(place) = row.standing.place { (place) } }
                        td class="name" {
                            a href={ "../players/" (row.player.name) } { (row.player.shown()) }
                            @if let Some(ShownOwner { name, affiliation }) = &row.player.owner {
                                small { (name) @if let Some(affiliation) = affiliation { " · " (affiliation) } }
                            }
                        }
                        td class="lead num" {
                            @let Estimate { value, high, .. } = row.standing.rating;
                            (whole(value)) " "
                            span class="muted small" {
                                @if row.standing.is_anchor { "fixed" } @else { "± " ((high - value).round()) }
                                @if row.standing.is_provisional { " ?" }
                            }
                        }
                        td class="bar" { (interval_bar(row.standing.rating, scale)) }
                        td class="num beside" { (row.standing.counts.wdl.wins) " / " (row.standing.counts.wdl.draws) " / " (row.standing.counts.wdl.losses) }
                        td class="num" data-l="Faults" { @if row.standing.counts.faulted > 0 { (row.standing.counts.faulted) } }
                        td class="num" data-l="Matches" { (row.standing.counts.matches) }
                    }
                }
            }
        }
    }
}
