//! The paths of the server. `protocol/api/openapi.json` describes those for programs.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path, Query, Request, State};
use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use referee_protocol::schemas::WATCH_API;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::board::{BoardEvent, BoardForm};
use crate::entries::{BoardAccess, MatchEntry, StandingsOrder};
use crate::guard;
use crate::host::{OwnAddresses, SeenUrl};
use crate::hub::{EndedBoard, Hub, MatchAccess, SealedRecord};
use crate::ladder::MatchFacts;
use crate::person::MOST_BODY;
use crate::stream::{self, BoardFeed, RunFeed};
use crate::{ladder, notices, pages, previews, seasons, stage, visitors};
use referee_game::erased::BoardText;
use referee_game::{Catalog, Chain, Viewer, Wrong, json as text};
use referee_match::record::{Difference, Playback};
use referee_report::replay::{FrameText, MatchReplay};

/// The default and the maximum number of matches in a list.
pub(super) const LIST: usize = 100;
/// The path at which the operator of a projector changes the display, with a secret.
const OF_OPERATOR: &str = "/api/v1/stage/";
/// The default and the maximum number of rows of the standings.
const ROWS: usize = 1000;
/// The maximum number of boards in an answer.
const BOARDS: usize = 8;
/// The maximum length of a text that is searched, in bytes.
const MOST_SEARCH: usize = 100;
/// More matches than a run has: the largest integer of JavaScript.
pub(super) const MOST_MATCHES: u64 = (1 << 53) - 1;

pub(super) type HubState = State<Arc<Hub>>;

pub(super) fn router(hub: Arc<Hub>, addresses: OwnAddresses) -> Router {
    let (addresses, of_guard) = (Arc::new(addresses), hub.clone());
    Router::new()
        .route("/", get(pages::run))
        .route("/card.png", get(previews::of_run))
        .route("/standings", get(pages::standings))
        .route("/matches", get(pages::matches))
        .route("/live", get(pages::live))
        .route("/matches/{id}", get(pages::of_match))
        .route("/matches/{id}/card.png", get(previews::of_match))
        .route("/players/{name}", get(pages::of_player))
        .route("/join", get(pages::join))
        .route("/play", get(pages::play).post(visitors::begin))
        .route("/play/{token}/", get(visitors::page))
        .route("/play/{token}/events", get(visitors::events))
        .route("/play/{token}/answer", post(visitors::answer))
        .route("/rules/game", get(pages::game_rules))
        .route("/protocol/{page}", get(pages::protocol))
        .route("/announcements", get(pages::announcements))
        .route("/rules", get(pages::rules))
        .route("/seasons", get(seasons::list))
        .route("/seasons/{name}", get(seasons::page))
        .route("/healthz", get(health))
        .route("/metrics", get(metrics))
        .route("/api/v1/openapi.json", get(|| async { as_json(StatusCode::OK, WATCH_API) }))
        .route("/api/v1/run", get(run))
        .route("/api/v1/events", get(run_events))
        .route("/api/v1/standings", get(standings))
        .route("/api/v1/bots", get(bots))
        .route("/api/v1/rulings", get(rulings))
        .route("/api/v1/announcements", get(notices::of_league))
        .route("/api/v1/ladder", get(ladder::of_ladder))
        .route("/api/v1/players/{name}", get(ladder::of_player))
        .route("/api/v1/seasons", get(seasons::of_league))
        .route("/api/v1/seasons/{name}", get(seasons::of_season))
        .route("/api/v1/seasons/{name}/matches", get(seasons::matches_of_season))
        .route("/api/v1/boards", get(boards))
        .route("/api/v1/matches", get(matches))
        .route("/api/v1/matches/{id}", get(one_match))
        .route("/api/v1/matches/{id}/events", get(match_events))
        .route("/api/v1/matches/{id}/record", get(match_record))
        .route("/operator", get(stage::operator))
        .route("/api/v1/stage", get(stage::waiting))
        .route("/api/v1/stage/reveal", post(stage::reveal))
        .route("/api/v1/stage/skip", post(stage::skip))
        .fallback(pages::missing_of_run)
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(middleware::from_fn(move |request, next| {
            guard(of_guard.clone(), addresses.clone(), request, next)
        }))
        .with_state(hub)
}

/// Rejects requests for other hosts and other methods, and adds the headers of all responses.
async fn guard(hub: Arc<Hub>, addresses: Arc<OwnAddresses>, mut request: Request, next: Next) -> Response {
    let setting = format!("`{}`", hub.named("watch_hosts"));
    let mut response = if let Some(rejected) = guard::rejected(&request, &addresses.hosts, &setting) {
        rejected
    } else if !guard::is_read(request.method())
        && !visitors::takes_changes(&hub, request.uri().path())
        && !request.uri().path().starts_with(OF_OPERATOR)
    {
        let response = refused(StatusCode::METHOD_NOT_ALLOWED, "the server is read-only: use GET");
        ([(ALLOW, "GET, HEAD")], response).into_response()
    } else {
        let url = addresses.public_url(request.headers());
        let seen = url.as_ref().map(ToString::to_string);
        if !guard::is_read(request.method()) && guard::is_cross_site(request.headers(), seen.as_deref()) {
            refused(StatusCode::FORBIDDEN, "the request comes from a page of another site")
        } else {
            request.extensions_mut().insert(SeenUrl(url));
            next.run(request).await
        }
    };
    guard::protect(&mut response);
    response
}

pub(super) fn as_json(status: StatusCode, text: impl Into<Body>) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], text.into()).into_response()
}

/// Returns an error as JSON.
pub(super) fn refused(status: StatusCode, message: &str) -> Response {
    as_json(status, text::text(&json!({ "error": message })))
}

pub(super) fn unknown(id: &str) -> Response {
    refused(StatusCode::NOT_FOUND, &format!("there is no match `{id}`, or it is not listed any more"))
}

/// The parameters of a query.
pub(super) struct Parameters<T>(pub(super) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Response> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(given)) => Ok(Parameters(given)),
            Err(error) => Err(refused(StatusCode::BAD_REQUEST, &error.body_text())),
        }
    }
}

pub(super) struct PathMatchId(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PathMatchId {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(id)) => Ok(PathMatchId(id)),
            Err(_) => {
                Err(refused(StatusCode::NOT_FOUND, "there is no match with this id, which is not UTF-8"))
            }
        }
    }
}

/// The reason why a match has no board.
fn not_shown(hub: &Hub, why: BoardAccess) -> Response {
    let message = match why {
        BoardAccess::Held => "nothing is shown until the other matches of its deal have ended",
        BoardAccess::Live => "the match has not begun",
        BoardAccess::Replay | BoardAccess::None => {
            // A ladder keeps all records, as long as its league says.
            let remedy = match hub.ladder() {
                Some(_) => String::new(),
                None => format!(": {} keeps all records", hub.named("record")),
            };
            let what = format!("too many matches are in progress, or the record has not been kept{remedy}");
            return refused(StatusCode::CONFLICT, &what);
        }
    };
    refused(StatusCode::CONFLICT, message)
}

/// `ok`, or what does not work on a ladder. A server that cannot store results is not healthy.
async fn health(State(hub): HubState) -> Response {
    let Some(ladder) = hub.ladder() else { return "ok\n".into_response() };
    let status = if ladder.is_storage_writable() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let problems = ladder.problems();
    (status, if problems.is_empty() { "ok\n".to_owned() } else { problems }).into_response()
}

async fn metrics(State(hub): HubState) -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], hub.metrics_text()).into_response()
}

async fn run(State(hub): HubState) -> Response {
    as_json(StatusCode::OK, hub.overview().1)
}

/// Parameters of a request for standings.
#[derive(Debug, Deserialize)]
struct StandingsQuery {
    search: Option<String>,
    #[serde(default)]
    order: StandingsOrder,
    offset: Option<Bounded<0, MOST_MATCHES>>,
    limit: Option<Bounded<1, { ROWS as u64 }>>,
}

async fn standings(State(hub): HubState, Parameters(query): Parameters<StandingsQuery>) -> Response {
    let search = query.search.unwrap_or_default();
    if search.len() > MOST_SEARCH {
        return refused(StatusCode::BAD_REQUEST, &format!("search: more than {MOST_SEARCH} bytes"));
    }
    let offset = query.offset.map_or(0, |Bounded(offset)| usize::try_from(offset).unwrap_or(usize::MAX));
    let limit = query.limit.map_or(ROWS, |Bounded(limit)| limit as usize);
    // The rows are those of the overview: a search computes no standings.
    let (rows, count) = hub.standings(&search, query.order, offset, limit);
    as_json(StatusCode::OK, text::text(&json!({ "standings": rows, "count": count })))
}

async fn bots(State(hub): HubState) -> Response {
    as_json(StatusCode::OK, hub.answers.get("bots", || hub.bots()))
}

async fn rulings(State(hub): HubState) -> Response {
    as_json(StatusCode::OK, hub.answers.get("rulings", || hub.rulings()))
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ProgressFilter {
    Running,
    Ended,
}

#[derive(Debug, Deserialize)]
struct Listed {
    state: Option<ProgressFilter>,
    limit: Option<Bounded<1, { LIST as u64 }>>,
    before: Option<Bounded<0, MOST_MATCHES>>,
}

/// A parameter from `LEAST` to `MOST`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u64")]
pub(super) struct Bounded<const LEAST: u64, const MOST: u64>(pub(super) u64);

impl<const LEAST: u64, const MOST: u64> TryFrom<u64> for Bounded<LEAST, MOST> {
    type Error = Wrong;

    fn try_from(value: u64) -> Result<Self, Wrong> {
        if (LEAST..=MOST).contains(&value) {
            Ok(Bounded(value))
        } else {
            Err(format!("{value} is not from {LEAST} to {MOST}").into())
        }
    }
}

async fn matches(State(hub): HubState, Parameters(listed): Parameters<Listed>) -> Response {
    let Listed { state, limit, before } = listed;
    let key = format!("matches {state:?} {limit:?} {before:?}");
    as_json(StatusCode::OK, hub.answers.get(&key, || list_of_matches(&hub, &listed)))
}

/// Writes matches as JSON.
fn list_of_matches(hub: &Hub, listed: &Listed) -> String {
    let limit = listed.limit.map_or(LIST, |Bounded(limit)| limit as usize);
    let mut found = Vec::new();
    if !matches!(listed.state, Some(ProgressFilter::Ended)) && listed.before.is_none() {
        found.extend(hub.running());
    }
    let mut next = None;
    if !matches!(listed.state, Some(ProgressFilter::Running)) {
        let ended = hub.ended(listed.before.map_or(u64::MAX, |Bounded(before)| before), limit);
        next = ended.last().filter(|_| ended.len() == limit).and_then(|last| last.number);
        found.extend(ended);
    }
    text::text(&json!({ "matches": found, "next": next }))
}

/// A match, with the facts that its ladder stores.
#[derive(Serialize)]
struct OneMatch {
    #[serde(flatten)]
    entry: MatchEntry,
    #[serde(flatten)]
    facts: MatchFacts,
}

async fn one_match(State(hub): HubState, PathMatchId(id): PathMatchId) -> Response {
    let Some(mut entry) = hub.entry(&id) else { return unknown(&id) };
    let facts = match hub.ladder().map(Arc::clone) {
        None => MatchFacts::default(),
        Some(_) if entry.result.is_none() => MatchFacts::of_running(&id),
        Some(ladder) => match tokio::task::spawn_blocking(move || ladder.facts(&id)).await {
            Ok(Ok(facts)) => facts,
            Ok(Err(error)) => {
                tracing::warn!("{}: {}", entry.id, Chain(&error));
                MatchFacts::default()
            }
            Err(_) => MatchFacts::default(),
        },
    };
    entry.began_at = entry.began_at.or_else(|| facts.began_at.clone());
    as_json(StatusCode::OK, text::text(&OneMatch { entry, facts }))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BoardView {
    Shapes,
    Text,
}

#[derive(Debug, Deserialize)]
struct EventQuery {
    after: Option<String>,
    view: Option<BoardView>,
}

/// The number of the last event that a client has, if it is of this run.
fn after(hub: &Hub, headers: &HeaderMap, query: &EventQuery) -> Option<u64> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).or(query.after.as_deref())?;
    number_of(hub, last)
}

/// The number of an event, if it is of this run.
fn number_of(hub: &Hub, id: &str) -> Option<u64> {
    id.strip_prefix(hub.run())?.strip_prefix('-')?.parse().ok()
}

/// The client's preference for this type, from 0 to 1, if it names it.
fn weight_of(headers: &HeaderMap, kind: &str) -> Option<f32> {
    let fields = headers.get_all(ACCEPT).iter().filter_map(|field| field.to_str().ok());
    let weights = fields.flat_map(|field| field.split(',')).filter_map(|accepted| {
        let mut parts = accepted.split(';').map(str::trim);
        parts.next().filter(|own| own.eq_ignore_ascii_case(kind))?;
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        Some(weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
    });
    weights.reduce(f32::max)
}

/// Returns whether a client asks for a stream.
fn wants_stream(headers: &HeaderMap) -> bool {
    let stream = weight_of(headers, "text/event-stream").unwrap_or(0.0);
    stream > 0.0 && stream >= weight_of(headers, "application/json").unwrap_or(0.0)
}

async fn run_events(
    State(hub): HubState,
    headers: HeaderMap,
    Parameters(query): Parameters<EventQuery>,
) -> Response {
    let after = after(&hub, &headers, &query);
    let mut source = RunFeed::new(hub.clone());
    if wants_stream(&headers) {
        return stream::respond(&hub, source, after);
    }
    let (events, _) = stream::EventFeed::after(&mut source, after);
    as_json(StatusCode::OK, stream::as_json(hub.run(), &events))
}

/// Parameters of a request for live boards.
#[derive(Debug, Deserialize)]
struct BoardsQuery {
    /// The ids of their matches, with commas in between.
    #[serde(default)]
    ids: String,
    /// The ids of the last events that the client has, in the same order.
    #[serde(default)]
    after: String,
}

/// Changes of several live boards, so that a page asks once for all of them.
async fn boards(State(hub): HubState, Parameters(query): Parameters<BoardsQuery>) -> Response {
    let ids: Vec<&str> = query.ids.split(',').filter(|id| !id.is_empty()).collect();
    if ids.len() > BOARDS {
        return refused(StatusCode::BAD_REQUEST, &format!("ids: more than {BOARDS} matches"));
    }
    let mut after = query.after.split(',');
    let mut boards = Vec::new();
    for id in ids {
        let after = after.next().and_then(|last| number_of(&hub, last));
        // A match that has ended has no live board any more.
        let Some(MatchAccess::Board(board)) = hub.access(id) else { continue };
        let (events, _) = stream::EventFeed::after(&mut BoardFeed::new(board, BoardForm::Shapes), after);
        boards.push(format!("{}:{}", text::text(&id), stream::as_json(hub.run(), &events)));
    }
    as_json(StatusCode::OK, format!("{{\"boards\":{{{}}}}}", boards.join(",")))
}

async fn match_events(
    State(hub): HubState,
    PathMatchId(id): PathMatchId,
    headers: HeaderMap,
    Parameters(query): Parameters<EventQuery>,
) -> Response {
    let after = after(&hub, &headers, &query);
    let form = if matches!(query.view, Some(BoardView::Text)) { BoardForm::Text } else { BoardForm::Shapes };
    let board = match hub.access(&id) {
        None => return unknown(&id),
        Some(MatchAccess::Nothing(why)) => return not_shown(&hub, why),
        Some(MatchAccess::Board(board)) => board,
        Some(MatchAccess::Replay(found)) => return replay(hub, id, found, &headers, form, after).await,
    };
    let mut source = BoardFeed::new(board, form);
    if wants_stream(&headers) {
        return stream::respond(&hub, source, after);
    }
    let (events, _) = stream::EventFeed::after(&mut source, after);
    as_json(StatusCode::OK, stream::as_json(hub.run(), &events))
}

/// The events of a match that has ended: a snapshot with all its steps, and the end.
async fn replay(
    hub: Arc<Hub>,
    id: String,
    replay: EndedBoard,
    headers: &HeaderMap,
    form: BoardForm,
    after: Option<u64>,
) -> Response {
    let EndedBoard { record, last, result, names } = replay;
    let mut events = Vec::new();
    if after.is_none_or(|after| after + 1 < last) {
        match kept_snapshot(&hub, (id, form), record, names).await {
            Ok(data) => {
                let data = String::from_utf8_lossy(&data).into_owned();
                events.push(BoardEvent { number: last - 1, kind: "snapshot", data });
            }
            Err(why) => return refused(StatusCode::INTERNAL_SERVER_ERROR, &Chain(&why).to_string()),
        }
    }
    if after != Some(last) {
        let data = text::text(&json!({ "result": result, "replay": true }));
        events.push(BoardEvent { number: last, kind: "end", data });
    }
    if !wants_stream(headers) {
        return as_json(StatusCode::OK, stream::as_json(hub.run(), &events));
    }
    if events.is_empty() {
        // Tells a browser not to connect again.
        return StatusCode::NO_CONTENT.into_response();
    }
    stream::respond(&hub, stream::EndedFeed::new(events), after)
}

/// The snapshot of a match that has ended, which is computed unless it is kept.
async fn kept_snapshot(
    hub: &Arc<Hub>,
    key: (String, BoardForm),
    record: SealedRecord,
    names: Vec<Option<String>>,
) -> Result<Bytes, Wrong> {
    if let Some(kept) = hub.replays.get(&key) {
        return Ok(kept);
    }
    let _turn = hub.replays.computing.lock().await;
    // A request for the same may have been answered meanwhile.
    if let Some(kept) = hub.replays.get(&key) {
        return Ok(kept);
    }
    let (of, form) = (hub.clone(), key.1);
    let computed = tokio::task::spawn_blocking(move || snapshot(record, &of.catalog, form, &names)).await;
    let replay = Bytes::from(computed.map_err(|_| Wrong::new("the replay cannot be computed"))??);
    hub.replays.add(key, replay.clone());
    Ok(replay)
}

/// The steps of a record with the names that people see, or its last position as text. Blocks.
fn snapshot(
    record: SealedRecord,
    catalog: &Catalog,
    form: BoardForm,
    names: &[Option<String>],
) -> Result<String, Wrong> {
    let record = record.read().map_err(|why| Wrong::at("the record cannot be read", why))?;
    match form {
        BoardForm::Shapes => Playback::open(&record, catalog)
            .and_then(|playback| MatchReplay::shown_as(playback, names))
            .map(|replay| text::text(&replay))
            .map_err(|why| Wrong::at("the record is not valid", why)),
        BoardForm::Text => {
            last_position(&record, catalog).map_err(|why| Wrong::at("the record is not valid", why))
        }
    }
}

fn last_position(record: &[u8], catalog: &Catalog) -> Result<String, Difference> {
    let mut playback = Playback::open(record, catalog)?;
    let header = playback.setup().header.clone();
    let (mut last, mut game) = (None, "");
    while let Some(step) = playback.step()? {
        game = step.table.meta().title;
        let board = BoardText(step.table, Viewer::Public).to_string();
        last = Some(FrameText { moves: step.moves, lines: Vec::new(), board });
    }
    let seats: Vec<_> =
        header.seats.iter().map(|seat| json!({ "name": seat.name, "team": seat.team })).collect();
    Ok(text::text(&json!({ "match": header.r#match, "game": game, "seats": seats, "step": last })))
}

async fn match_record(State(hub): HubState, PathMatchId(id): PathMatchId) -> Response {
    let recorded = match hub.access(&id) {
        None => return unknown(&id),
        Some(MatchAccess::Nothing(why)) => return not_shown(&hub, why),
        Some(MatchAccess::Board(_)) => return refused(StatusCode::CONFLICT, "the match has not ended"),
        Some(MatchAccess::Replay(replay)) => replay.record,
    };
    match tokio::task::spawn_blocking(move || recorded.read()).await {
        Ok(Ok(record)) => ([(CONTENT_TYPE, "application/jsonl")], record).into_response(),
        Ok(Err(error)) => {
            refused(StatusCode::INTERNAL_SERVER_ERROR, &format!("the record cannot be read: {error}"))
        }
        Err(_) => refused(StatusCode::INTERNAL_SERVER_ERROR, "the record cannot be read"),
    }
}
