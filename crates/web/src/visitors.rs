//! Visitors of the page of a ladder, who play its programs if the organiser lets them. Their matches are unrated, and nothing of
//! them is kept.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, X_FRAME_OPTIONS};
use axum::response::Response;
use referee_engine::client::SeatClient;
use referee_engine::runner::{LiveFeed, live_feed};
use referee_game::{Meta, Seat, Seating, Viewer, counted, json as text};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::api::{HubState, as_json, refused};
use crate::hub::Hub;
use crate::limiter::network_of;
use crate::lower_priority;
use crate::person::{self, OF_VISIT, Person, TokenHash, hash_of_token};
use crate::serve::Client;

/// The time for which the page of a match may be closed before the match ends.
const MOST_ABSENCE: Duration = Duration::from_secs(60);
/// The maximum time of a match.
const MOST_TIME: Duration = Duration::from_secs(2 * 60 * 60);
/// The time for which the page of a match stays after its end.
const SHOWN: Duration = Duration::from_secs(5 * 60);
/// The maximum number of pages, so that matches that end at once do not fill the memory.
const MOST_PAGES: usize = 256;
/// The interval of looks for absent visitors.
const LOOK: Duration = Duration::from_secs(1);
/// The priority of visitors' bots below that of the server for spectators: the lowest one.
const LOWER: i32 = 9;

/// A match that a visitor asks for.
pub struct VisitorMatch {
    /// The player that takes the other seats.
    pub bot: String,
    /// The seat of the visitor, and its side of the protocol.
    pub seat: Seat,
    pub client: Arc<SeatClient>,
    pub feed: LiveFeed,
    /// Resolves when the match is to end.
    pub interrupt: oneshot::Receiver<()>,
}

impl fmt::Debug for VisitorMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VisitorMatch")
            .field("bot", &self.bot)
            .field("seat", &self.seat)
            .finish_non_exhaustive()
    }
}

/// The status and the text of the answer to a visitor for whom no match has begun.
type NotBegun = (StatusCode, String);
/// Plays a match of a visitor, on a thread of its own.
type PlayVisit = Arc<dyn Fn(VisitorMatch) + Send + Sync>;

/// Lets visitors play the programs of a ladder.
pub struct VisitorRoom {
    /// The maximum number of matches at once, and of those of one address.
    matches: usize,
    per_address: usize,
    /// The check that a player is a program that can be started here.
    can_start: Box<dyn Fn(&str) -> bool + Send + Sync>,
    play: PlayVisit,
    visits: Mutex<HashMap<TokenHash, Visit>>,
    /// Set when no match begins any more.
    closed: OnceLock<()>,
}

struct Visit {
    person: Arc<Person>,
    address: IpAddr,
    is_over: bool,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for VisitorRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VisitorRoom").field("matches", &self.matches).finish_non_exhaustive()
    }
}

impl VisitorRoom {
    /// Creates a room with these maximum numbers of matches at once, in all and of one address. `play` returns when a match
    /// has ended.
    pub fn new(
        matches: usize,
        per_address: usize,
        can_start: impl Fn(&str) -> bool + Send + Sync + 'static,
        play: impl Fn(VisitorMatch) + Send + Sync + 'static,
    ) -> VisitorRoom {
        let (can_start, play) = (Box::new(can_start), Arc::new(play));
        VisitorRoom {
            matches,
            per_address,
            can_start,
            play,
            visits: Mutex::default(),
            closed: OnceLock::new(),
        }
    }

    pub(super) fn has(&self, player: &str) -> bool {
        (self.can_start)(player)
    }

    fn visits(&self) -> MutexGuard<'_, HashMap<TokenHash, Visit>> {
        self.visits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn person(&self, token: &str) -> Option<Arc<Person>> {
        self.visits().get(&hash_of_token(token)).map(|visit| visit.person.clone())
    }

    /// Begins a match. Returns the token of its page.
    fn begin(
        self: &Arc<Self>,
        game: &'static Meta,
        bot: String,
        seat: Seat,
        address: IpAddr,
    ) -> Result<String, NotBegun> {
        let failed = |error| {
            tracing::error!(%error, "a visitor cannot play");
            (StatusCode::INTERNAL_SERVER_ERROR, "the match cannot be started".to_owned())
        };
        let mut visits = self.visits();
        let open = || visits.values().filter(|visit| !visit.is_over);
        let of_address = open().filter(|visit| visit.address == address).count();
        if of_address >= self.per_address {
            let own = counted(of_address, "match", "matches");
            let what = format!("your address has {own} in progress, the limit");
            return Err((StatusCode::TOO_MANY_REQUESTS, what));
        }
        if open().count() >= self.matches || visits.len() >= MOST_PAGES || self.closed.get().is_some() {
            let what = "all places for visitors are taken: try again in some minutes";
            return Err((StatusCode::SERVICE_UNAVAILABLE, what.to_owned()));
        }
        let client = Arc::new(SeatClient::new("visitor"));
        let (person, token) = Person::new(game, seat, client.clone()).map_err(failed)?;
        let (feed, events) = live_feed(Viewer::Seat(seat), false);
        let (stop, interrupt) = oneshot::channel();
        let (room, play, visit) = (self.clone(), self.play.clone(), person.token);
        let order = VisitorMatch { bot, seat, client, feed, interrupt };
        let work = move || {
            let _place = Place { room, visit };
            lower_priority(LOWER);
            play(order);
        };
        let thread = thread::Builder::new().name("visitor".to_owned()).spawn(work).map_err(failed)?;
        person.begin(events);
        let visit =
            Visit { person: person.clone(), address, is_over: false, stop: Some(stop), thread: Some(thread) };
        visits.insert(person.token, visit);
        tokio::spawn(attend(self.clone(), person));
        Ok(token)
    }

    /// Returns whether the match of a visit goes on.
    fn is_open(&self, token: &TokenHash) -> bool {
        self.visits().get(token).is_some_and(|visit| !visit.is_over)
    }

    fn stop(&self, token: &TokenHash) {
        // The match may end at this moment.
        let stop = self.visits().get_mut(token).and_then(|visit| visit.stop.take());
        _ = stop.map(|stop| stop.send(()));
    }

    /// Ends all matches, and waits until their bots have ended.
    pub(super) fn close(&self) {
        let mut visits = self.visits();
        self.closed.get_or_init(|| ());
        let threads: Vec<_> = visits
            .values_mut()
            .filter_map(|visit| {
                _ = visit.stop.take().map(|stop| stop.send(()));
                visit.thread.take()
            })
            .collect();
        drop(visits);
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("the match of a visitor panicked");
            }
        }
    }
}

/// The place of a match, which is free once this is dropped: also if the match panics.
struct Place {
    room: Arc<VisitorRoom>,
    visit: TokenHash,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(visit) = self.room.visits().get_mut(&self.visit) {
            visit.is_over = true;
        }
    }
}

/// Ends a match whose page has been closed for too long, and removes its page some time after its end.
async fn attend(room: Arc<VisitorRoom>, person: Arc<Person>) {
    let (begun, mut seen) = (Instant::now(), Instant::now());
    while room.is_open(&person.token) {
        sleep(LOOK).await;
        if person.streams.get() > 0 {
            seen = Instant::now();
        }
        if seen.elapsed() > MOST_ABSENCE || begun.elapsed() > MOST_TIME {
            room.stop(&person.token);
        }
    }
    sleep(SHOWN).await;
    person.closes.send_replace(true);
    room.visits().remove(&person.token);
}

/// Returns whether requests to this path may change something.
pub(super) fn takes_changes(hub: &Hub, path: &str) -> bool {
    hub.visitors().is_some() && (path == "/play" || path.starts_with("/play/"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VisitRequest {
    bot: String,
    /// The seat to play; `None`: any.
    #[serde(default)]
    seat: Option<u8>,
}

/// Chooses a seat at random.
fn any_seat(seating: Seating) -> Option<Seat> {
    let mut random = [0];
    getrandom::fill(&mut random).ok()?;
    Some(Seat(random[0] % seating.seats() as u8))
}

/// Begins a match of a visitor, and says where its page is.
pub(super) async fn begin(
    State(hub): HubState,
    Extension(client): Extension<Client>,
    body: Bytes,
) -> Response {
    let Some((ladder, room)) = hub.visitors() else {
        return refused(StatusCode::NOT_FOUND, "visitors do not play here");
    };
    let VisitRequest { bot, seat } = match serde_json::from_slice(&body) {
        Ok(asked) => asked,
        Err(error) => return refused(StatusCode::BAD_REQUEST, &format!("the body: {error}")),
    };
    if !ladder.programs().iter().any(|(name, _)| *name == bot) {
        return refused(StatusCode::NOT_FOUND, "there is no such program on this ladder now");
    }
    let seat = seat
        .map(Seat)
        .or_else(|| any_seat(ladder.seating))
        .filter(|&seat| ladder.seating.all().contains(seat));
    let Some(seat) = seat else {
        let last = ladder.seating.seats() - 1;
        return refused(StatusCode::BAD_REQUEST, &format!("the seats are 0 to {last}"));
    };
    match room.begin(hub.game, bot, seat, network_of(client.address)) {
        Ok(token) => as_json(StatusCode::CREATED, text::text(&json!({ "path": format!("play/{token}/") }))),
        Err((status, why)) => refused(status, &why),
    }
}

/// Answers with the match of the page with this token. No other site may frame it.
fn of_visit(hub: &Hub, token: &str, answer: impl FnOnce(Arc<Person>) -> Response) -> Response {
    let person = hub.visitors().and_then(|(_, room)| room.person(token));
    let missing =
        || refused(StatusCode::NOT_FOUND, "this match has ended some time ago, or the address is wrong");
    let mut response = person.map_or_else(missing, answer);
    response.headers_mut().insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

pub(super) async fn page(State(hub): HubState, Path(token): Path<String>) -> Response {
    of_visit(&hub, &token, |person| person::page(&person, OF_VISIT))
}

pub(super) async fn events(State(hub): HubState, Path(token): Path<String>) -> Response {
    of_visit(&hub, &token, person::events)
}

pub(super) async fn answer(State(hub): HubState, Path(token): Path<String>, body: Bytes) -> Response {
    of_visit(&hub, &token, |person| person::answer(&person, &body))
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_match_that_panics_gives_its_place_back() {
        let room = Arc::new(VisitorRoom::new(1, 1, |_| true, |_| panic!("a defect")));
        let game = referee_games::catalog().find("checkers").unwrap().meta();
        let begin = || room.begin(game, "one".to_owned(), Seat(0), IpAddr::from([127, 0, 0, 1]));
        begin().unwrap();
        let again = async {
            while begin().is_err() {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(60), again).await.expect("the place is free again");
    }
}
