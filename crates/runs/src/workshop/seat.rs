//! A seat that an agent takes itself, in a practice match.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use referee_engine::client::SeatClient;
use referee_engine::runner::MatchRunner;
use referee_engine::sources::{BotSpec, Source};
use referee_files::{Folder, Records};
use referee_game::{Chain, Wrong};
use serde::Deserialize;
use serde_json::{Value, json};

use super::bench::{Bench, BenchError, Practice};
use super::tools::{NoArguments, Tool, ToolCall, find_tool, read};
use crate::RelaySocket;
use crate::play::{Play, PlayResult};
use crate::workshop::Stop;

/// The name of the agent in the record of its match.
const PLAYER: &str = "agent";
/// The default and the maximum of the wait of `wait_for_turn`, in seconds. Many clients give up on a tool
/// after 60 s.
const WAIT: u64 = 30;
const LONGEST_WAIT: u64 = 3600;
const SENT: &str = "sent; now call `wait_for_turn`";

/// The tools of a seat that is taken.
pub(super) static SEAT_TOOLS: [Tool; 3] = [
    Tool {
        name: "wait_for_turn",
        description: "Waits until it is your turn or the match is over. Returns JSON: `state` (`your_turn`, `waiting` or `over`), \
             `seat` (yours), `seats`, `events` (what has happened since the last call); at your turn `view` (the position \
             as you may see it), `legal` (the legal moves), `clock` in milliseconds, `draw_offered`, `retry`; at the end \
             `ranks`, `scores` and, in some games, `amounts` by seat, `ended_by`, `reason`.",
        properties: || {
            json!({ "timeout_s": {
                "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT, "default": WAIT,
                "description": "seconds after which it returns the state `waiting`"
            }})
        },
        required: &[],
        usage: "`timeout_s`, optional, is a whole number of seconds from 0 to 3600",
    },
    Tool {
        name: "move",
        description: "Plays a move at your turn. A move that is not legal is not sent, and the error lists the legal moves.",
        properties: || {
            json!({
                "move": {
                    "type": "string",
                    "description": "one of `legal`, character for character, or `accept draw` if a draw is offered"
                },
                "offer_draw": { "type": "boolean", "default": false, "description": "offers a draw with the move" },
            })
        },
        required: &["move"],
        usage: "`move` is a string, one of `legal`; `offer_draw`, optional, is true or false",
    },
    Tool {
        name: "resign",
        description: "Resigns the match.",
        properties: || json!({}),
        required: &[],
        usage: "there are no arguments",
    },
];

/// The arguments of `wait_for_turn`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitArguments {
    #[serde(default = "wait")]
    timeout_s: u64,
}

fn wait() -> u64 {
    WAIT
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveArguments {
    #[serde(rename = "move")]
    text: String,
    #[serde(default)]
    offer_draw: bool,
}

/// Calls a tool of a seat.
///
/// # Errors
/// Why it did nothing.
pub async fn call_seat(seat: &SeatClient, call: ToolCall) -> Result<Value, Wrong> {
    let tool = find_tool(&SEAT_TOOLS, &call)?;
    match tool.name {
        "wait_for_turn" => {
            let WaitArguments { timeout_s } = read(call.arguments, tool)?;
            if timeout_s > LONGEST_WAIT {
                return Err(format!("`timeout_s` is {timeout_s}; {}", tool.usage).into());
            }
            return Ok(seat.wait(Duration::from_secs(timeout_s)).await);
        }
        "move" => {
            let MoveArguments { text, offer_draw } = read(call.arguments, tool)?;
            seat.answer(text.trim(), offer_draw)?;
        }
        _ => {
            let NoArguments {} = read(call.arguments, tool)?;
            seat.resign()?;
        }
    }
    Ok(SENT.into())
}

/// A seat in a match that is played on a thread of its own.
#[derive(Debug)]
pub(super) struct TakenSeat {
    client: Arc<SeatClient>,
    thread: JoinHandle<()>,
}

impl Bench {
    /// Takes a seat in a match against an opponent, in all other seats. It counts towards the budget.
    ///
    /// # Errors
    /// If the last one is in progress, there is no such opponent or seat, or the budget does not have a match.
    pub(super) fn sit(
        &mut self,
        opponent: &str,
        seat: u8,
        stop: &Stop,
    ) -> Result<(Value, Practice), BenchError> {
        if self.seat.as_ref().is_some_and(|taken| !taken.thread.is_finished()) {
            return Err(Wrong::new("you have a seat: call `wait_for_turn`, or `resign` to leave it").into());
        }
        let seating = self.rules.meta().seating(None::<u8>)?;
        let seats = seating.seats();
        if usize::from(seat) >= seats {
            return Err(Wrong::from(format!("seat: {seat} is not from 0 to {}", seats - 1)).into());
        }
        self.check_budget(1)?;
        let other = self.other(opponent)?;
        let mut twin = other.clone();
        twin.insert("name".to_owned(), PLAYER.into());
        let config = self.config.tournament("practice", self.rules, vec![twin, other], Some(1))?;
        let prepared = self.prepare(&config)?;
        let socket = RelaySocket::open(PLAYER)?;
        let listener = socket.listener()?;
        let source = &prepared.entrants[1].source;
        let named = (1..seats).map(|n| if n == 1 { opponent.to_owned() } else { format!("{opponent} {n}") });
        let mut bots: Vec<_> = named.map(|name| (Arc::clone(source), Some(name))).collect();
        bots.insert(seat.into(), (Arc::new(socket.command()) as Arc<dyn Source>, Some(PLAYER.to_owned())));
        let folder = self.next_folder()?;
        let within = Folder::make(&folder)?;
        let mut run = prepared.run;
        // The time of the edit limits it.
        run.terms.clock = None;
        let runner = MatchRunner {
            records: Some(Records::reopen(&within, false)?),
            ..MatchRunner::new(
                run,
                self.rules,
                seating,
                BotSpec::named_by_hello(bots),
                self.games.launch().clone(),
            )
        };
        let play = Play {
            runner,
            matches: 1,
            openings: prepared.openings,
            mirror: None,
            trust_bots: false,
            max_cost: None,
        };
        let client = Arc::new(SeatClient::new(PLAYER));
        let player = Arc::clone(&client);
        thread::spawn(move || {
            let played = listener.accept().and_then(|(stream, _)| player.play(stream));
            player.lose(played.err());
        });
        let (stop, player) = (stop.clone(), Arc::clone(&client));
        let thread = thread::spawn(move || {
            let PlayResult { stopped, .. } = play.run(stop.wait(), |_| ());
            player.lose(stopped.map(|why| io::Error::other(Chain(&why).to_string())));
            drop(socket);
        });
        self.seat = Some(TakenSeat { client, thread });
        let practice = self.charge("sit", folder, None, 1);
        let result = json!({
            "opponent": opponent, "seat": seat, "matches_left": self.matches_left(), "next": "call `wait_for_turn`"
        });
        Ok((result, practice))
    }

    /// Leaves the seat, and waits for the end of its match.
    pub(super) fn leave_seat(&mut self) {
        if let Some(TakenSeat { client, thread }) = self.seat.take() {
            client.leave();
            // The result of the thread is in the record.
            let _ = thread.join();
        }
    }

    /// Calls a tool of the seat that was taken last.
    pub(super) fn of_seat(&self, call: ToolCall, stop: &Stop) -> Result<Value, BenchError> {
        let taken = self.seat.as_ref().ok_or(Wrong::new("no match is running"))?;
        let called = super::block_on(async {
            tokio::select! {
                result = call_seat(&taken.client, call) => result,
                () = stop.clone().wait() => Ok(json!({ "state": "waiting" })),
            }
        });
        Ok(called??)
    }
}
