//! Server-sent events, and the same events by polling.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::board::{BoardEvent, BoardForm, LiveBoard};
use crate::hub::Hub;
use crate::metrics::{Gauge, OpenCount};
use crate::serve::Closes;

/// The interval of heartbeats on an idle stream, so that proxies keep it open.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The minimum time between two writes of a stream: events in between go out together.
const PACE: Duration = Duration::from_millis(50);
/// The time between two writes for each stream if there are many, so that all of them together cost the bots little.
const SHARE: Duration = Duration::from_millis(1);

/// An event of a stream. Its id names the run, so that a client does not continue in another one.
fn write_event(out: &mut String, run: &str, event: &BoardEvent) {
    let BoardEvent { number, kind, data } = event;
    // JSON has no line breaks.
    *out += &format!("id: {run}-{number}\nevent: {kind}\ndata: {data}\n\n");
}

/// Events as a JSON object, for polling.
pub(super) fn as_json(run: &str, events: &[BoardEvent]) -> String {
    let events: Vec<String> = events
        .iter()
        .map(|BoardEvent { number, kind, data }| {
            format!("{{\"id\":\"{run}-{number}\",\"event\":\"{kind}\",\"data\":{data}}}")
        })
        .collect();
    format!("{{\"events\":[{}]}}", events.join(","))
}

/// The source of a stream's events.
pub(super) trait EventFeed: Send + 'static {
    /// The events after the one of this number, and whether they are the last ones.
    fn after(&mut self, number: Option<u64>) -> (Vec<BoardEvent>, bool);
    /// Returns a channel that changes when there are new events.
    fn changes(&mut self) -> &mut watch::Receiver<()>;
}

pub(super) struct BoardFeed {
    board: Arc<Mutex<LiveBoard>>,
    form: BoardForm,
    changes: watch::Receiver<()>,
}

impl BoardFeed {
    pub(super) fn new(board: Arc<Mutex<LiveBoard>>, form: BoardForm) -> BoardFeed {
        let changes = board.lock().unwrap_or_else(PoisonError::into_inner).changes();
        BoardFeed { board, form, changes }
    }
}

impl EventFeed for BoardFeed {
    fn after(&mut self, number: Option<u64>) -> (Vec<BoardEvent>, bool) {
        let board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        (board.after(number, self.form), board.is_over())
    }

    fn changes(&mut self) -> &mut watch::Receiver<()> {
        &mut self.changes
    }
}

/// The events of the run: each is its whole state.
pub(super) struct RunFeed {
    hub: Arc<Hub>,
    changes: watch::Receiver<()>,
}

impl RunFeed {
    pub(super) fn new(hub: Arc<Hub>) -> RunFeed {
        let changes = hub.changes();
        RunFeed { hub, changes }
    }
}

impl EventFeed for RunFeed {
    fn after(&mut self, number: Option<u64>) -> (Vec<BoardEvent>, bool) {
        let (version, data) = self.hub.overview();
        let is_new = number != Some(version);
        let event = is_new.then(|| BoardEvent {
            number: version,
            kind: "snapshot",
            data: String::from_utf8_lossy(&data).into_owned(),
        });
        (event.into_iter().collect(), false)
    }

    fn changes(&mut self) -> &mut watch::Receiver<()> {
        &mut self.changes
    }
}

/// The events of a match that has ended.
pub(super) struct EndedFeed {
    events: Vec<BoardEvent>,
    /// A channel that never changes.
    changes: watch::Receiver<()>,
}

impl EndedFeed {
    pub(super) fn new(events: Vec<BoardEvent>) -> EndedFeed {
        EndedFeed { events, changes: watch::channel(()).1 }
    }
}

impl EventFeed for EndedFeed {
    fn after(&mut self, _: Option<u64>) -> (Vec<BoardEvent>, bool) {
        (std::mem::take(&mut self.events), true)
    }

    fn changes(&mut self) -> &mut watch::Receiver<()> {
        &mut self.changes
    }
}

/// The minimum time between two writes of a stream, given the number of streams.
fn pace(streams: u64) -> Duration {
    PACE.max(SHARE * u32::try_from(streams).unwrap_or(u32::MAX))
}

struct Streaming<S> {
    source: S,
    run: String,
    after: Option<u64>,
    is_first: bool,
    is_over: bool,
    closes: Closes,
    streams: OpenCount,
    _gauge: Gauge,
}

impl<S: EventFeed> Streaming<S> {
    /// The next events as text; `None` at the end. A client that reads slowly delays only itself: nothing is queued
    /// for it.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Streaming<S>)> {
        if self.is_over {
            return None;
        }
        let mut is_closing = *self.closes.borrow();
        if !std::mem::replace(&mut self.is_first, false) && !is_closing {
            tokio::select! {
                () = sleep(pace(self.streams.get())) => {}
                _ = self.closes.changed() => is_closing = true,
            }
        }
        loop {
            self.source.changes().mark_unchanged();
            let (events, is_over) = self.source.after(self.after);
            self.is_over = is_over || is_closing;
            if !events.is_empty() || self.is_over {
                let mut text = String::new();
                events.iter().for_each(|event| write_event(&mut text, &self.run, event));
                self.after = events.last().map(|event| event.number).or(self.after);
                return Some((Ok(text.into()), self));
            }
            tokio::select! {
                changed = timeout(HEARTBEAT, self.source.changes().changed()) => match changed {
                    Ok(Ok(())) => {}
                    // The match has been given up.
                    Ok(Err(_)) => self.is_over = true,
                    Err(_) => return Some((Ok(Bytes::from_static(b":\n\n")), self)),
                },
                _ = self.closes.changed() => is_closing = true,
            }
        }
    }
}

/// The response that streams the events of a run after the one of this number.
pub(super) fn respond(hub: &Hub, source: impl EventFeed, after: Option<u64>) -> Response {
    respond_until(hub.closes(), hub.run(), &hub.metrics.streams, source, after)
}

/// The response that streams events after the one of this number until the server closes.
pub(super) fn respond_until(
    closes: Closes,
    run: &str,
    streams: &OpenCount,
    source: impl EventFeed,
    after: Option<u64>,
) -> Response {
    let streaming = Streaming {
        source,
        run: run.to_owned(),
        after,
        is_first: true,
        is_over: false,
        closes,
        streams: streams.clone(),
        _gauge: streams.enter(),
    };
    let body = Body::from_stream(stream::unfold(streaming, Streaming::next));
    // nginx would hold the events back until its buffer is full.
    let unbuffered = (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    let [kind, caching] = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")]
        .map(|(name, value)| (name, HeaderValue::from_static(value)));
    ([kind, caching, unbuffered], body).into_response()
}
