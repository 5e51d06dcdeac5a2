//! The content of a ladder's server besides the run: its players, and how a bot joins.

mod pages;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use serde::Serialize;
use tokio::time::Instant;

pub use pages::{AboutLeague, LadderPages, PackSending};

use crate::api::{HubState, as_json, refused};
use crate::entries::{DisplayNames, ShownName, ShownRuling};
use crate::hub::Hub;
use crate::owners::SignUpMode;
use referee_game::Chain;
use referee_league::{FinalsLink, LeagueMatch, PlannedEvent, RatingPoint, RulesVersion, Standing};
use referee_match::InfoTotals;
use referee_report::ReportedTable;
use referee_stats::Wdl;
use referee_store::{MatchKind, StoreError, parse_match_id};

/// The reason why the challenges of a ladder that does not rate them do not count.
const CHALLENGE: &str = "a challenge";

/// A ladder and how a bot joins it.
#[derive(Serialize)]
pub(super) struct LadderEntry {
    /// The name of the league, for display.
    pub(super) league: Option<String>,
    pub(super) name: String,
    pub(super) game: &'static str,
    /// The last change of its rules, if they are a program and have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rules_changed: Option<RulesVersion>,
    /// The port that bots connect to; `None` if only programs play.
    pub(super) port: Option<u16>,
    /// Whether bots connect with TLS.
    pub(super) tls: bool,
    /// The players that are connected, or programs; without those that are excluded for their faults.
    pub(super) online: Vec<String>,
    pub(super) display_names: DisplayNames,
    /// The link to the pages of owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) owners: Option<OwnersLink>,
    /// Whether no match begins because the organiser has paused the ladder.
    pub(super) paused: bool,
    /// Whether the league takes no versions, sign-ups and submissions any more.
    pub(super) frozen: bool,
    /// The time since which an event lets no match begin, in UTC.
    pub(super) closed_since: Option<String>,
    /// The time since which the standings are hidden, in UTC.
    pub(super) hidden_since: Option<String>,
    /// Events at stated times, the next one first.
    pub(super) events: Vec<PlannedEvent>,
    /// The finals of its first players, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) finals: Option<FinalsLink>,
    /// The other ladders of the league that have pages.
    pub(super) others: Vec<OtherLadder>,
}

/// The pages for owners of bots.
#[derive(Clone, Debug, Serialize)]
pub struct OwnersLink {
    pub port: u16,
    /// The URL, if the league file names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    pub signup: SignUpMode,
}

/// A link to another ladder of the same server.
#[derive(Clone, Debug, Serialize)]
pub struct OtherLadder {
    pub name: String,
    pub port: u16,
    /// The URL of its pages, if the league file names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A player of a ladder, in the season in progress or a former one.
#[derive(Serialize)]
pub(super) struct PlayerStanding {
    #[serde(flatten)]
    pub(super) player: ShownName,
    #[serde(flatten)]
    pub(super) standing: Standing,
    /// The state of the player now; omitted in final standings.
    #[serde(flatten)]
    presence: Option<Presence>,
}

#[derive(Serialize)]
struct Presence {
    /// Whether the player is connected, or a program.
    online: bool,
    /// The reason why it is not paired now.
    state: Option<String>,
    /// The end of the last match, in UTC.
    last_seen: Option<String>,
}

/// A player and its history.
#[derive(Serialize)]
pub(super) struct PlayerEntry {
    #[serde(flatten)]
    pub(super) standing: PlayerStanding,
    /// The season of which these figures are, if it has not played in the one in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) season: Option<String>,
    /// The players of the same bot, the oldest first.
    pub(super) versions: Vec<String>,
    /// The ratings over time, the oldest first.
    pub(super) history: Vec<RatingPoint>,
    /// The last matches, the newest first.
    pub(super) last_matches: Vec<PlayedMatch>,
    /// The results against others, the most frequent opponent first; filled in by the server.
    pub(super) opponents: Vec<Opponent>,
    /// The totals of its `info`, over all attempts of the season; filled in by the server, omitted if that is
    /// nothing or not public.
    #[serde(skip_serializing_if = "InfoTotals::is_empty")]
    pub(super) totals: InfoTotals,
    /// The tables of these sums; filled in by the server.
    pub(super) reported: Vec<ReportedTable>,
}

/// The results of a player against another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Opponent {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) display_name: Option<String>,
    /// The matches with a result.
    pub(super) matches: u32,
    #[serde(flatten)]
    pub(super) wdl: Wdl,
    pub(super) points: f64,
    /// The expected score by the ratings of today.
    pub(super) expected: f64,
    pub(super) last_match: String,
}

#[derive(Serialize)]
pub(super) struct PlayedMatch {
    pub(super) id: String,
    /// The names of the players by seat.
    pub(super) seats: Vec<String>,
    /// By seat; `None` without a result.
    pub(super) ranks: Option<Vec<u8>>,
    /// The result in words.
    pub(super) text: String,
    /// In UTC.
    pub(super) ended_at: String,
    /// Whether the match counts for ratings.
    pub(super) rated: bool,
    /// The ruling that replaces its result; filled in by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ruling: Option<ShownRuling>,
}

/// Stored facts about a match of a ladder besides its result.
#[derive(Debug, Default, Serialize)]
pub(super) struct MatchFacts {
    /// Whether the match counts for ratings, as far as that is known before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_rated: Option<&'static str>,
    /// The match with exchanged seats on the same deal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) return_match: Option<String>,
    /// The time from opening to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration_ms: Option<u64>,
    /// In UTC; for a match whose entry does not know it.
    #[serde(skip)]
    pub(super) began_at: Option<String>,
    /// In UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ended_at: Option<String>,
}

impl MatchFacts {
    /// The facts about a match in progress: its id says whether it is to count for ratings.
    pub(super) fn of_running(id: &str) -> MatchFacts {
        let kind = parse_match_id(id).map(|(_, kind)| kind);
        let not_rated = kind.filter(|kind| !kind.is_rated()).map(|_| CHALLENGE);
        MatchFacts { rated: kind.map(MatchKind::is_rated), not_rated, ..MatchFacts::default() }
    }

    /// The facts about a match that has ended.
    pub(super) fn of_ended(
        row: LeagueMatch,
        return_match: Option<String>,
        began_at: Option<String>,
    ) -> MatchFacts {
        let not_rated = match (row.kind.is_rated(), row.is_void) {
            _ if row.counts() => None,
            (false, _) => Some(CHALLENGE),
            (true, true) => Some("taken back"),
            (true, false) => Some("a bot did not start"),
        };
        MatchFacts {
            rated: Some(row.counts()),
            not_rated,
            return_match,
            duration_ms: Some(row.duration_us / 1000),
            began_at,
            ended_at: Some(row.ended_at),
        }
    }
}

/// The name of a player in a path.
pub(super) struct PlayerName(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PlayerName {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(name)) => Ok(PlayerName(name)),
            Err(_) => {
                Err(refused(StatusCode::NOT_FOUND, "there is no player with this name, which is not UTF-8"))
            }
        }
    }
}

fn no_ladder() -> Response {
    refused(StatusCode::NOT_FOUND, "this is not a ladder of a league")
}

/// Answers with the ladder.
pub(super) async fn of_ladder(State(hub): HubState) -> Response {
    let Some(ladder) = hub.ladder() else { return no_ladder() };
    let compute = || referee_game::json::text(&ladder.ladder());
    as_json(StatusCode::OK, hub.answers.get("ladder", compute))
}

/// Answers with JSON that is read from the ladder, or with status 404 and the message `missing`. An answer is kept for a while, and
/// one is computed at a time.
pub(super) async fn answered(
    hub: &Arc<Hub>,
    key: String,
    missing: String,
    read: impl FnOnce(&LadderPages, &Hub) -> Result<Option<String>, StoreError> + Send + 'static,
) -> Response {
    let Some(ladder) = hub.ladder().map(Arc::clone) else { return no_ladder() };
    if let Some(kept) = hub.answers.kept(&key) {
        return as_json(StatusCode::OK, kept);
    }
    let _turn = hub.answers.computing.lock().await;
    // A request for the same may have been answered meanwhile.
    if let Some(kept) = hub.answers.kept(&key) {
        return as_json(StatusCode::OK, kept);
    }
    let (began, own) = (Instant::now(), hub.clone());
    match tokio::task::spawn_blocking(move || read(&ladder, &own)).await {
        Ok(Ok(Some(answer))) => {
            let answer = Bytes::from(answer);
            hub.answers.keep(&key, answer.clone(), began);
            as_json(StatusCode::OK, answer)
        }
        Ok(Ok(None)) => refused(StatusCode::NOT_FOUND, &missing),
        Ok(Err(error)) => refused(
            StatusCode::INTERNAL_SERVER_ERROR,
            &format!("the league cannot be read: {}", Chain(&error)),
        ),
        Err(_) => refused(StatusCode::INTERNAL_SERVER_ERROR, "the league cannot be read"),
    }
}

/// Answers with a player.
pub(super) async fn of_player(State(hub): HubState, PlayerName(name): PlayerName) -> Response {
    if let Some(why) = hub.ladder().and_then(|ladder| ladder.why_hidden()) {
        return refused(StatusCode::NOT_FOUND, &why);
    }
    let (key, missing) = (format!("player {name}"), format!("there is no player `{name}`"));
    let read = move |ladder: &LadderPages, hub: &Hub| {
        let Some(mut player) = ladder.player(&name)? else { return Ok(None) };
        let opponents = hub.opponents(&player.standing.player.name);
        let (totals, reported) = hub.reported(&player.standing.player.name);
        hub.note_rulings(&mut player.last_matches);
        Ok(Some(referee_game::json::text(&PlayerEntry { opponents, totals, reported, ..player })))
    };
    answered(&hub, key, missing, read).await
}
