//! The other side of the protocol, for a player in the process of the referee: what the referee has sent to its seat, and what
//! may be answered.

use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use referee_game::Wrong;

/// The answer that accepts a draw, beside the legal moves.
pub const ACCEPT_DRAW: &str = "accept draw";

/// A seat in one match, shared by the thread that reads from the referee and those that answer.
#[derive(Debug)]
pub struct SeatClient {
    /// The name in `hello`.
    name: &'static str,
    state: watch::Sender<SeatState>,
}

#[derive(Clone, Debug)]
pub struct OpenTurn {
    /// The whole `turn` message as JSON.
    pub message: Value,
    pub at: Instant,
}

#[derive(Debug, Default)]
struct SeatState {
    referee: Option<UnixStream>,
    start: Value,
    /// The events that have not been read.
    events: Vec<Value>,
    turn: Option<OpenTurn>,
    /// The last `error` since the previous request.
    error: Option<Value>,
    /// The `end` of the match, or why there is none.
    end: Option<Value>,
    has_left: bool,
}

impl SeatClient {
    /// A seat whose player has this name.
    pub fn new(name: &'static str) -> SeatClient {
        SeatClient { name, state: watch::Sender::new(SeatState::default()) }
    }

    /// Resolves when the referee has sent something, or an answer was sent.
    pub fn changes(&self) -> SeatChanges {
        SeatChanges(self.state.subscribe())
    }

    pub fn turn(&self) -> Option<OpenTurn> {
        self.state.borrow().turn.clone()
    }

    /// The referee's error for the last answer that was wrong or late.
    pub fn error(&self) -> Option<String> {
        self.state.borrow().error.as_ref().and_then(|error| error["message"].as_str()).map(str::to_owned)
    }

    /// Reads the referee's messages, until it closes the stream.
    pub fn play(&self, stream: UnixStream) -> io::Result<()> {
        let lines = BufReader::new(stream.try_clone()?).lines();
        self.state.send_modify(|state| {
            if state.has_left {
                // Fails only if the referee has closed it.
                let _ = stream.shutdown(Shutdown::Both);
            }
            state.referee = Some(stream);
        });
        for line in lines {
            let message: Value = serde_json::from_str(&line?)?;
            let mut taken = Ok(());
            self.state.send_modify(|state| taken = state.take(message, self.name));
            taken?;
        }
        Ok(())
    }

    /// Ends the seat without an `end` of the match, if none has come.
    pub fn lose(&self, error: Option<io::Error>) {
        let reason = error.map_or("the referee has closed the stream".to_owned(), |error| error.to_string());
        self.state.send_modify(|state| {
            state.turn = None;
            state.end.get_or_insert(json!({ "ended_by": "aborted", "reason": reason }));
        });
    }

    /// Leaves the match. If it runs, the seat has the fault `disconnected`.
    pub fn leave(&self) {
        self.state.send_modify(|state| {
            state.has_left = true;
            if let Some(referee) = &state.referee {
                let _ = referee.shutdown(Shutdown::Both);
            }
        });
    }

    /// Waits for a request or the end of the match, and describes it with the events since the last call.
    pub async fn wait(&self, time: Duration) -> Value {
        let mut changes = self.state.subscribe();
        let settled = changes.wait_for(|state| state.turn.is_some() || state.end.is_some());
        let _ = tokio::time::timeout(time, settled).await;
        let mut seen = Value::Null;
        self.state.send_if_modified(|state| {
            seen = state.describe();
            false
        });
        seen
    }

    /// Answers the open request with a move.
    ///
    /// # Errors
    /// Nothing was sent, for this reason.
    pub fn answer(&self, text: &str, offers_draw: bool) -> Result<(), Wrong> {
        self.change(|state| {
            let turn = &state.open_turn()?.message;
            let legal = turn["legal"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let legal: Vec<&str> = legal.collect();
            let (of, seat, id) = (&turn["match"], &turn["seat"], &turn["turn"]);
            let is_listed = turn["legal"].is_array();
            let answer = if legal.contains(&text) || (!is_listed && text != ACCEPT_DRAW) {
                json!({
                    "type": "move", "match": of, "seat": seat, "turn": id, "move": text, "offer_draw": offers_draw
                })
            } else if text == ACCEPT_DRAW && turn["draw_offered"] == true {
                json!({"type": "accept_draw", "match": of, "seat": seat, "turn": id})
            } else if text == ACCEPT_DRAW {
                return Err("no draw is offered".into());
            } else {
                return Err(format!("`{text}` is not a legal move; the legal moves are: {}", legal.join(", ")).into());
            };
            state.turn = None;
            state.send(&answer).map_err(not_sent)
        })
    }

    /// Resigns the match.
    ///
    /// # Errors
    /// Nothing was sent, for this reason.
    pub fn resign(&self) -> Result<(), Wrong> {
        self.change(|state| {
            if state.start.is_null() || state.end.is_some() {
                return Err("no match is running".into());
            }
            state.turn = None;
            let resign =
                json!({"type": "resign", "match": state.start["match"], "seat": state.start["seat"]});
            state.send(&resign).map_err(not_sent)
        })
    }

    fn change(&self, change: impl FnOnce(&mut SeatState) -> Result<(), Wrong>) -> Result<(), Wrong> {
        let mut changed = Ok(());
        self.state.send_modify(|state| changed = change(state));
        changed
    }
}

fn not_sent(error: io::Error) -> Wrong {
    Wrong::at("cannot write to the referee", error)
}

impl SeatState {
    /// Takes in a message of the referee.
    fn take(&mut self, mut message: Value, name: &str) -> io::Result<()> {
        match message["type"].as_str() {
            Some("hello") => {
                self.send(&json!({"type": "hello", "protocol": referee_protocol::PROTOCOL, "name": name}))?;
            }
            Some("start") => {
                self.send(&json!({"type": "ready", "match": message["match"], "seat": message["seat"]}))?;
                self.start = message;
            }
            Some("event") => self.events.push(message["event"].take()),
            Some("turn") => self.turn = Some(OpenTurn { message, at: Instant::now() }),
            Some("error") => {
                // A request that has run out of time is closed.
                self.turn = None;
                self.error = Some(json!({ "code": message["code"], "message": message["message"] }));
            }
            Some("end") => {
                self.turn = None;
                self.end = Some(message);
            }
            _ => {}
        }
        Ok(())
    }

    fn send(&self, message: &Value) -> io::Result<()> {
        let mut referee = self.referee.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        referee.write_all(format!("{message}\n").as_bytes())
    }

    fn open_turn(&self) -> Result<&OpenTurn, Wrong> {
        let why = if self.end.is_some() {
            Wrong::new("the match is over; `wait_for_turn` returns the result")
        } else {
            Wrong::new("it is not your turn; `wait_for_turn` returns when it is")
        };
        self.turn.as_ref().ok_or(why)
    }

    /// The state for the agent. Each event and the error are returned once.
    fn describe(&mut self) -> Value {
        let mut seen =
            json!({ "state": "waiting", "seat": self.start["seat"], "seats": self.start["seats"] });
        let mut put = |name: &str, value: &Value| {
            if !value.is_null() {
                seen[name] = value.clone();
            }
        };
        put("events", &Value::Array(std::mem::take(&mut self.events)));
        put("error", &self.error.take().unwrap_or_default());
        if let Some(end) = &self.end {
            put("state", &"over".into());
            for name in ["ranks", "scores", "amounts", "ended_by", "reason", "fault"] {
                put(name, &end[name]);
            }
        } else if let Some(OpenTurn { message: turn, .. }) = &self.turn {
            put("state", &"your_turn".into());
            for name in ["view", "legal", "clock", "turns_left", "draw_offered", "retry"] {
                put(name, &turn[name]);
            }
        }
        seen
    }
}

#[derive(Debug)]
pub struct SeatChanges(watch::Receiver<SeatState>);

impl SeatChanges {
    /// Resolves at the next change; `None` when the seat is no more.
    pub async fn next(&mut self) -> Option<()> {
        self.0.changed().await.ok()
    }
}
