//! The page on which a person plays a seat of one match: its board with the places of the legal moves, and answers.
//!
//! The page gets the position and the events as the seat sees them, and nothing else. Its address has a random token, so that no
//! other site and no other user of the machine can play the seat or read its hand.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, io};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, X_FRAME_OPTIONS};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use referee_engine::client::{OpenTurn, SeatClient};
use referee_engine::runner::{LiveEvent, LiveFeed, LiveReceiver, live_feed};
use referee_game::erased::Table;
use referee_game::{Chain, Meta, Seat, Turn, Viewer, hex, json as text};
use referee_report::page::{prose, split_title};
use referee_report::replay::{BODY, SCRIPT, ShownPlace};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::watch;
use tokio::task::JoinHandle as Task;
use tokio::time::{Instant, sleep, timeout};

use crate::api::refused;
use crate::board::{BoardDelays, BoardEvent, BoardForm, LiveBoard};
use crate::entries::{self, NamesAndRulings};
use crate::guard;
use crate::metrics::OpenCount;
use crate::pages::{self, Page, PageCard, TOP};
use crate::serve::{Connections, serve};
use crate::stream::{self, EventFeed};

/// The maximum size of the body of a request, in bytes. Moves of games that list none have 16 KiB.
pub(super) const MOST_BODY: usize = 64 * 1024;
/// The path from the page of a visitor to the start page.
pub(super) const OF_VISIT: &str = "../../";
/// The placeholder for the rules.
const RULES: &str = "<!--rules-->";
/// The time to wait at the end for the events that are left.
const LAST_EVENTS: Duration = Duration::from_secs(1);
/// The time for which a request waits for its position, which comes another way. Without events that the seat
/// sees, there is none.
const POSITION: Duration = Duration::from_secs(1);

/// A running server for one person.
pub struct PersonServer {
    url: String,
    feed: LiveFeed,
    is_over: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl fmt::Debug for PersonServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL is secret.
        f.debug_struct("PersonServer").finish_non_exhaustive()
    }
}

impl PersonServer {
    /// Starts a server for the person in this seat, whose other side is `client`.
    ///
    /// # Errors
    /// If the address cannot be bound, or the thread cannot be started.
    pub fn open(
        address: SocketAddr,
        game: &'static Meta,
        seat: Seat,
        client: Arc<SeatClient>,
    ) -> io::Result<PersonServer> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let (person, token) = Person::new(game, seat, client)?;
        let url = format!("http://{}/{token}/", listener.local_addr()?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (feed, events) = live_feed(Viewer::Seat(seat), false);
        let (is_over, mut over) = watch::channel(false);
        let work = move || {
            runtime.block_on(async {
                let receiving = person.begin(events);
                let serving = tokio::spawn(serve_person(listener, person.clone()));
                // An error means that the server has been dropped.
                let _ = over.wait_for(|over| *over).await;
                let _ = timeout(LAST_EVENTS, receiving).await;
                person.closes.send_replace(true);
                let _ = serving.await;
            });
            // A picture that a program still draws must not delay the end.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("person".to_owned()).spawn(work)?;
        Ok(PersonServer { url, feed, is_over, thread })
    }

    /// The address of the page, which is secret.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn feed(&self) -> LiveFeed {
        self.feed.clone()
    }

    /// Ends the server. Call it after the run, so that the page gets the result. This takes two seconds at most.
    pub fn close(self) {
        drop(self.feed);
        self.is_over.send_replace(true);
        if self.thread.join().is_err() {
            tracing::error!("the server for a person panicked");
        }
    }
}

/// The hash of a token, so that the time of a comparison tells nothing.
pub(super) type TokenHash = [u8; 32];

pub(super) fn hash_of_token(token: &str) -> TokenHash {
    Sha256::digest(token).into()
}

/// State that the requests share.
pub(super) struct Person {
    pub(super) token: TokenHash,
    game: &'static Meta,
    seat: Seat,
    client: Arc<SeatClient>,
    state: Mutex<PersonState>,
    changed: watch::Sender<()>,
    /// Becomes true when the server closes.
    pub(super) closes: watch::Sender<bool>,
    /// The open streams of the page.
    pub(super) streams: OpenCount,
}

type PersonOf = State<Arc<Person>>;

#[derive(Default)]
struct PersonState {
    board: Option<LiveBoard>,
    /// Choices of the person in the position of the board.
    choices: Choices,
    since: Option<Instant>,
    /// Increases when anything but the board changes.
    version: u64,
    /// The path of the record, once the match has ended.
    record: Option<String>,
}

/// The legal moves of a position.
#[derive(Default)]
struct Choices {
    /// The position as the seat sees it.
    view: Value,
    /// The text of each move, with the indices of its places.
    moves: Vec<(String, Vec<usize>)>,
    places: Vec<ShownPlace>,
}

impl Choices {
    /// The choices of a seat that decides in this position; empty if the rules cannot list them.
    fn in_position(table: &dyn Table, seat: Seat) -> Choices {
        let mut table = table.fork();
        let mut choices = Choices::default();
        let Turn::Decide(decision) = table.ask() else { return choices };
        if !decision.seats().contains(seat) || !table.lists(&decision, seat) {
            return choices;
        }
        let viewer = Viewer::Seat(seat);
        let view = table.view(viewer).ok().and_then(|view| serde_json::from_slice(&view).ok());
        choices.view = view.unwrap_or_default();
        let scene = table.scene(viewer);
        let mut known: Vec<String> = Vec::new();
        for index in 0..table.count(&decision, seat) {
            let mut places = Vec::new();
            for id in table.places(&decision, seat, index) {
                let at = known.iter().position(|known| *known == id).or_else(|| {
                    let shape = scene.all().find(|shape| shape.id == id)?;
                    choices.places.push(ShownPlace::of(shape)?);
                    known.push(id);
                    Some(known.len() - 1)
                });
                places.extend(at);
            }
            choices.moves.push((table.text(&decision, seat, index).to_owned(), places));
        }
        choices
    }

    /// Returns whether the board shows the position of a request. The same moves may be legal in many positions.
    fn are_for(&self, request: &Value) -> bool {
        let legal = request["legal"].as_array().into_iter().flatten();
        request["view"] == self.view && legal.eq(self.moves.iter().map(|(text, _)| text))
    }

    /// The choices in a request; without places if the board shows another position. `None` if no moves are listed.
    fn of<'a>(&'a self, request: &'a Value) -> Option<Vec<(&'a str, &'a [usize])>> {
        let legal = request["legal"].as_array()?;
        if self.are_for(request) {
            return Some(self.moves.iter().map(|(text, places)| (&**text, &**places)).collect());
        }
        Some(legal.iter().filter_map(Value::as_str).map(|text| (text, [].as_slice())).collect())
    }
}

impl Person {
    /// A person in this seat, whose other side is `client`, and the token of the page.
    pub(super) fn new(
        game: &'static Meta,
        seat: Seat,
        client: Arc<SeatClient>,
    ) -> io::Result<(Arc<Person>, String)> {
        let mut token = [0; 16];
        getrandom::fill(&mut token)?;
        let token = hex::encode(&token);
        let person = Person {
            token: hash_of_token(&token),
            game,
            seat,
            client,
            state: Mutex::default(),
            changed: watch::Sender::new(()),
            closes: watch::Sender::new(false),
            streams: OpenCount::default(),
        };
        Ok((Arc::new(person), token))
    }

    /// Begins to receive the events of the run, until it has ended.
    pub(super) fn begin(self: &Arc<Person>, events: LiveReceiver) -> Task<()> {
        tokio::spawn(follow(self.clone()));
        tokio::spawn(receive(self.clone(), events))
    }

    fn state(&self) -> MutexGuard<'_, PersonState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut PersonState)) {
        let mut state = self.state();
        change(&mut state);
        state.version += 1;
        drop(state);
        self.changed.send_replace(());
    }

    /// Takes in the events of the run. Blocks while rules that are a program draw the position.
    fn handle(&self, event: LiveEvent) {
        match event {
            LiveEvent::Moved(header, Some(step)) => {
                // A program keeps the picture, so that it is not asked again below.
                step.table.scene(Viewer::Seat(self.seat));
                let choices = Choices::in_position(&*step.table, self.seat);
                self.change(|state| {
                    match &mut state.board {
                        Some(board) if !board.is_over() => board.add(&step),
                        // A match without a result is played again.
                        ended => {
                            let viewer = Viewer::Seat(self.seat);
                            *ended = Some(LiveBoard::new(header, viewer, BoardDelays::default(), &step));
                        }
                    }
                    state.choices = choices;
                    state.since = Some(Instant::now());
                });
            }
            LiveEvent::Moved(_, None) => {}
            LiveEvent::Ended(end) => {
                let entry = entries::ended(&end.finished, None, self.game, &NamesAndRulings::default());
                self.change(|state| {
                    state.record = end.finished.record.as_ref().map(|path| path.display().to_string());
                    if let Some(board) = &mut state.board {
                        board.conclude(&entry.result.map(|result| result.text).unwrap_or_default());
                    }
                });
            }
        }
    }

    /// The open request, and whether its position has yet to come.
    fn turn(&self, state: &PersonState) -> Option<(OpenTurn, bool)> {
        let turn = self.client.turn()?;
        let is_ahead = turn.message["legal"].is_array() && !state.choices.are_for(&turn.message);
        Some((turn, is_ahead))
    }

    /// The state of the seat, which the page needs beside the board.
    fn seat_state(&self, state: &PersonState) -> String {
        let turn = self.turn(state).and_then(|(OpenTurn { message, at }, is_ahead)| {
            if is_ahead && at.elapsed() < POSITION {
                return None;
            }
            let past = at.elapsed().as_millis() as u64;
            let limit = message["clock"]["limit_ms"].as_u64().map(|limit| limit.saturating_sub(past));
            Some(json!({
                "number": message["turn"],
                "moves": state.choices.of(&message),
                "limit_ms": limit,
                "draw_offered": message["draw_offered"] == true,
                "refused": message["retry"]["message"],
            }))
        });
        text::text(&json!({
            "seat": self.seat,
            "may_offer_draw": self.game.draws_by_agreement,
            "turn": turn,
            "places": state.choices.places,
            "since_ms": state.since.map(|since| since.elapsed().as_millis() as u64),
            "record": state.record,
        }))
    }
}

/// Receives the events of the run.
async fn receive(person: Arc<Person>, mut events: LiveReceiver) {
    while let Some(events) = events.next().await {
        let person = person.clone();
        let handled = tokio::task::spawn_blocking(move || {
            events.into_iter().for_each(|event| person.handle(event));
        });
        if handled.await.is_err() {
            tracing::error!("a position cannot be shown to the person");
        }
    }
}

/// Passes on the referee's messages to the seat.
async fn follow(person: Arc<Person>) {
    let mut changes = person.client.changes();
    while changes.next().await.is_some() {
        person.change(|_| {});
        let person = person.clone();
        tokio::spawn(async move {
            sleep(POSITION).await;
            // A page that draws its places again loses a click that has begun.
            if person.turn(&person.state()).is_some_and(|(_, is_ahead)| is_ahead) {
                person.change(|_| {});
            }
        });
    }
}

async fn serve_person(listener: TcpListener, person: Arc<Person>) {
    let connections = Connections {
        closes: person.closes.subscribe(),
        open: OpenCount::default(),
        refused: Arc::default(),
        proxies: Arc::new(|_| false),
    };
    match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => serve(listener, router(person), connections).await,
        Err(error) => tracing::error!(%error, "the server for a person does not start"),
    }
}

fn router(person: Arc<Person>) -> Router {
    let of_guard = person.clone();
    Router::new()
        .route("/{token}/", get(|State(person): PersonOf| async move { page(&person, TOP) }))
        .route("/{token}/events", get(|State(person): PersonOf| async move { events(person) }))
        .route("/{token}/answer", post(|State(person): PersonOf, body| async move { answer(&person, &body) }))
        .fallback(pages::missing)
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(middleware::from_fn(move |request, next| guard(of_guard.clone(), request, next)))
        .with_state(person)
}

/// Rejects requests without the token, for other hosts and from pages of other sites, and adds the headers of all responses.
async fn guard(person: Arc<Person>, request: Request, next: Next) -> Response {
    let given = request.uri().path().split('/').nth(1).unwrap_or_default();
    let has_token = hash_of_token(given) == person.token;
    let mut response = if let Some(rejected) = guard::rejected(&request, &[], "its IP address") {
        rejected
    } else if !has_token {
        refused(StatusCode::NOT_FOUND, "use the whole URL that the command has printed: its path is secret")
    } else if !guard::is_read(request.method()) && guard::is_cross_site(request.headers(), None) {
        refused(StatusCode::FORBIDDEN, "the request comes from a page of another site")
    } else {
        next.run(request).await
    };
    guard::protect(&mut response);
    response.headers_mut().insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

/// The page. `root`: the path from it to a start page.
pub(super) fn page(person: &Person, root: &'static str) -> Response {
    static PAGES: LazyLock<[Page; 2]> = LazyLock::new(|| {
        let body = |note| {
            format!(
                "<h1 id=\"title\"></h1>\n<p id=\"result\" class=\"lede\"></p>\n<p id=\"state\" class=\"row\"></p>\n{note}\
             <div id=\"match\" class=\"person\" hidden>\n{BODY}</div>\n{}\
             <section><details><summary>Rules of the game</summary>\n<div class=\"prose\">{RULES}</div></details></section>\n",
                include_str!("assets/person.html")
            )
        };
        let unrated = "<p class=\"note\">This match is not rated, and nothing of it is kept.</p>\n";
        [(TOP, ""), (OF_VISIT, unrated)].map(|(root, note)| {
            Page::about(None, root, &body(note), &[SCRIPT, include_str!("assets/person.js")])
        })
    });
    let title = format!("Play {}", person.game.title);
    let description = "A match against bots.".to_owned();
    let rules = prose(split_title(person.game.rules).1, 2);
    let shown = PageCard { title, description, picture: None };
    let [alone, visit] = &*PAGES;
    let page = if root == OF_VISIT { visit } else { alone };
    page.respond(true, &shown, person.game.title, &[(RULES, &*rules)])
}

pub(super) fn events(person: Arc<Person>) -> Response {
    let changes = person.changed.subscribe();
    let (closes, streams) = (person.closes.subscribe(), person.streams.clone());
    // A page that connects again gets everything again.
    stream::respond_until(closes, "seat", &streams, PersonFeed { person, sent: None, changes }, None)
}

/// The events of the board, and the state of the seat whenever it has changed.
struct PersonFeed {
    person: Arc<Person>,
    /// The version of the state that was sent last.
    sent: Option<u64>,
    changes: watch::Receiver<()>,
}

impl EventFeed for PersonFeed {
    fn after(&mut self, number: Option<u64>) -> (Vec<BoardEvent>, bool) {
        let state = self.person.state();
        let Some(board) = &state.board else { return (Vec::new(), false) };
        let mut events = board.after(number, BoardForm::Shapes);
        if self.sent.replace(state.version) != Some(state.version) {
            let is_end = events.last().is_some_and(|event| event.kind == "end");
            let at = events.len() - usize::from(is_end);
            let number = events[..at].last().map(|event| event.number).or(number).unwrap_or_default();
            let data = self.person.seat_state(&state);
            events.insert(at, BoardEvent { number, kind: "seat", data });
        }
        (events, board.is_over())
    }

    fn changes(&mut self) -> &mut watch::Receiver<()> {
        &mut self.changes
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum PersonAct {
    /// Plays a move, or accepts a draw, in the turn of this number.
    Move {
        turn: u64,
        text: String,
        #[serde(default)]
        offer_draw: bool,
    },
    Resign,
}

pub(super) fn answer(person: &Person, body: &Bytes) -> Response {
    let act = match serde_json::from_slice(body) {
        Ok(act) => act,
        Err(error) => return refused(StatusCode::BAD_REQUEST, &format!("the body: {error}")),
    };
    let done = match act {
        PersonAct::Resign => person.client.resign(),
        PersonAct::Move { turn, text, offer_draw } => match person.client.turn() {
            Some(open) if open.message["turn"] == turn => person.client.answer(&text, offer_draw),
            _ => return refused(StatusCode::CONFLICT, "this turn is over"),
        },
    };
    match done {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => refused(StatusCode::CONFLICT, &Chain(&error).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_moves_in_another_position_are_other_choices() {
        let view = json!({ "round": 1 });
        let choices = Choices { view, moves: vec![("a".to_owned(), vec![0])], places: Vec::new() };
        assert!(choices.are_for(&json!({ "view": { "round": 1 }, "legal": ["a"] })));
        let later = json!({ "view": { "round": 2 }, "legal": ["a"] });
        assert!(!choices.are_for(&later));
        assert_eq!(choices.of(&later), Some(vec![("a", [].as_slice())]));
        assert_eq!(choices.of(&json!({ "view": {} })), None, "no moves are listed");
    }
}
