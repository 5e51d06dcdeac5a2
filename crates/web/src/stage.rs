//! Delays events for spectators: after a delay, or once the operator of a projector reveals it.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use axum::extract::State;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use referee_engine::runner::{LiveEvent, Unsealed};
use referee_game::{hex, json};
use referee_results::FinishedMatch;
use referee_stats::schedule::MatchId;
use serde::Serialize;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::api::{HubState, as_json, refused};
use crate::hub::Hub;
use crate::pages::{COMMON_SCRIPT, Page, PageCard, TOP};

/// The interval of looks for matches that are due.
pub(super) const LOOKS_APART: Duration = Duration::from_millis(100);
/// The maximum number of events of a match that wait. Later positions are merged into the last one.
const MOST_EVENTS: usize = 4_000;
const OPERATOR: &str = include_str!("assets/operator.html");
const OPERATOR_SCRIPT: &str = include_str!("assets/operator.js");

/// Reasons for which matches wait before spectators see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageHold {
    /// Events are shown later by this time.
    Delay(Duration),
    /// The operator reveals each match.
    Reveal,
}

/// A match that was played before this run.
#[derive(Debug)]
pub(super) struct EarlierMatch {
    pub(super) finished: FinishedMatch,
    pub(super) began_at: Option<SystemTime>,
    /// The record, while its deal is incomplete.
    pub(super) unsealed: Option<Unsealed>,
}

/// A match that spectators have not seen to its end.
#[derive(Debug)]
struct HeldMatch {
    id: String,
    seats: Vec<String>,
    /// The time of the first event, or the start of this run.
    began: Instant,
    /// The amount by which its events are shown later than they came; `None` until it is revealed.
    shift: Option<Duration>,
    events: VecDeque<(Instant, LiveEvent)>,
    /// Without events, if it was played before this run.
    earlier: Option<Box<EarlierMatch>>,
    has_ended: bool,
}

/// A match on the page of the operator.
#[derive(Serialize)]
struct OperatorEntry {
    id: String,
    seats: Vec<String>,
    revealed: bool,
    /// Whether the match has ended already, whatever spectators see.
    ended: bool,
}

#[derive(Debug, Default)]
struct StageState {
    /// In the order in which they began.
    held: Vec<HeldMatch>,
    /// Matches that were shown to their ends.
    seen: BTreeSet<MatchId>,
}

/// Matches and events that wait before spectators see them.
#[derive(Debug)]
pub struct Stage {
    hold: StageHold,
    /// Authenticates the operator.
    secret: String,
    state: Mutex<StageState>,
}

impl Stage {
    pub(super) fn new(hold: StageHold) -> io::Result<Stage> {
        let mut secret = [0; 16];
        getrandom::fill(&mut secret)?;
        Ok(Stage { hold, secret: hex::encode(&secret), state: Mutex::default() })
    }

    /// The path of the page of the operator with its secret, if matches are revealed.
    pub fn operator_path(&self) -> Option<String> {
        (self.hold == StageHold::Reveal).then(|| format!("operator#{}", self.secret))
    }

    fn state(&self) -> MutexGuard<'_, StageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The further delay of waiting matches.
    fn shift(&self) -> Option<Duration> {
        match self.hold {
            StageHold::Delay(delay) => Some(delay),
            StageHold::Reveal => None,
        }
    }

    /// Keeps a match that was played before this run.
    pub(super) fn hold_earlier(&self, earlier: EarlierMatch, now: Instant) {
        let FinishedMatch { id, seats, .. } = &earlier.finished;
        self.state().held.push(HeldMatch {
            id: id.clone(),
            seats: seats.clone(),
            began: now,
            shift: self.shift(),
            events: VecDeque::new(),
            earlier: Some(Box::new(earlier)),
            has_ended: true,
        });
    }

    /// Keeps an event that comes at this time.
    pub(super) fn hold(&self, event: LiveEvent, now: Instant) {
        let mut state = self.state();
        let (id, seats) = match &event {
            LiveEvent::Moved(header, _) => {
                (header.id.clone(), header.seats.iter().map(|(name, _)| name.clone()).collect())
            }
            LiveEvent::Ended(end) => (end.finished.id.clone(), end.finished.seats.clone()),
        };
        let at = state.held.iter().position(|held| held.id == id && !held.has_ended);
        let at = at.unwrap_or_else(|| {
            let (shift, events) = (self.shift(), VecDeque::new());
            let held = HeldMatch { id, seats, began: now, shift, events, earlier: None, has_ended: false };
            state.held.push(held);
            state.held.len() - 1
        });
        let held = &mut state.held[at];
        held.has_ended = matches!(event, LiveEvent::Ended(_));
        let event = match (event, held.events.len() < MOST_EVENTS) {
            (LiveEvent::Moved(header, Some(step)), false) => match held.events.pop_back() {
                Some((_, LiveEvent::Moved(_, Some(earlier)))) => {
                    LiveEvent::Moved(header, Some(step.after(earlier)))
                }
                _ => LiveEvent::Moved(header, Some(step)),
            },
            (event, _) => event,
        };
        held.events.push_back((now, event));
    }

    /// Takes the earlier matches that are to be shown at this time.
    pub(super) fn due_earlier(&self, now: Instant) -> Vec<EarlierMatch> {
        let mut state = self.state();
        let StageState { held, seen } = &mut *state;
        let is_due = |held: &&mut HeldMatch| held.shift.is_some_and(|shift| held.began + shift <= now);
        let due = held.iter_mut().filter(is_due).filter_map(|held| held.earlier.take());
        let due: Vec<EarlierMatch> = due.map(|earlier| *earlier).collect();
        seen.extend(due.iter().filter_map(|earlier| earlier.finished.id.parse::<MatchId>().ok()));
        due
    }

    /// Takes the events that are to be shown at this time.
    pub(super) fn due(&self, now: Instant) -> Vec<LiveEvent> {
        let mut state = self.state();
        let mut due: Vec<(Instant, LiveEvent)> = Vec::new();
        for held in &mut state.held {
            let Some(shift) = held.shift else { continue };
            let is_due = |(came, _): &(Instant, LiveEvent)| *came + shift <= now;
            let count = held.events.iter().take_while(|event| is_due(event)).count();
            due.extend(held.events.drain(..count).map(|(came, event)| (came + shift, event)));
        }
        state.held.retain(|held| !held.has_ended || !held.events.is_empty() || held.earlier.is_some());
        // Stable: the events of a match stay in order.
        due.sort_by_key(|(at, _)| *at);
        for (_, event) in &due {
            if let LiveEvent::Ended(end) = event
                && let Ok(id) = end.finished.id.parse()
            {
                state.seen.insert(id);
            }
        }
        due.into_iter().map(|(_, event)| event).collect()
    }

    /// Returns whether a match was shown to its end.
    pub fn has_shown(&self, id: &MatchId) -> bool {
        self.state().seen.contains(id)
    }

    /// Returns whether a match is in progress or has ended, and was not shown to its end.
    pub fn is_waiting(&self, id: &MatchId) -> bool {
        let id = id.to_string();
        self.state().held.iter().any(|held| held.id == id)
    }

    /// The number of matches that were shown to their ends.
    pub fn count_shown(&self) -> usize {
        self.state().seen.len()
    }

    /// Shows the next match, from its beginning.
    fn reveal(&self, now: Instant) {
        if let Some(next) = self.state().held.iter_mut().find(|held| held.shift.is_none()) {
            next.shift = Some(now - next.began);
        }
    }

    /// Shows the rest of revealed matches at once.
    fn skip(&self) {
        for held in &mut self.state().held {
            held.shift = held.shift.map(|_| Duration::ZERO);
        }
    }

    fn entries(&self) -> Vec<OperatorEntry> {
        let entry = |held: &HeldMatch| OperatorEntry {
            id: held.id.clone(),
            seats: held.seats.clone(),
            revealed: held.shift.is_some(),
            ended: held.has_ended,
        };
        self.state().held.iter().map(entry).collect()
    }

    fn is_operator(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        // The digests tell nothing of how much of the secret is right.
        self.hold == StageHold::Reveal && Sha256::digest(given) == Sha256::digest(&self.secret)
    }
}

/// Lets the operator do something, and answers with the waiting matches.
fn operate(hub: &Hub, headers: &HeaderMap, act: impl FnOnce(&Stage)) -> Response {
    let Some(stage) = hub.stage() else { return refused(StatusCode::NOT_FOUND, "there is no such path") };
    if !stage.is_operator(headers) {
        return refused(StatusCode::UNAUTHORIZED, "the secret of the operator is wrong");
    }
    act(stage);
    as_json(StatusCode::OK, json::text(&serde_json::json!({ "matches": stage.entries() })))
}

/// Lists waiting matches, for the operator.
pub(super) async fn waiting(State(hub): HubState, headers: HeaderMap) -> Response {
    operate(&hub, &headers, |_| {})
}

pub(super) async fn reveal(State(hub): HubState, headers: HeaderMap) -> Response {
    operate(&hub, &headers, |stage| stage.reveal(Instant::now()))
}

/// Shows revealed matches to their ends at once.
pub(super) async fn skip(State(hub): HubState, headers: HeaderMap) -> Response {
    operate(&hub, &headers, Stage::skip)
}

/// The page of the operator, which asks for everything with the secret behind `#`.
pub(super) async fn operator(State(hub): HubState) -> Response {
    static PAGE: LazyLock<Page> =
        LazyLock::new(|| Page::about(None, TOP, OPERATOR, &[COMMON_SCRIPT, OPERATOR_SCRIPT]));
    let card = PageCard { title: "Operator".to_owned(), description: String::new(), picture: None };
    PAGE.respond(hub.stage().is_some(), &card, &hub.name(), &[])
}
