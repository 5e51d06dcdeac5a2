//! The referee protocol, version 1: every message as a type.
//!
//! The specification for bot authors is in `spec/` and in [`spec`]; JSON Schemas generated from these types are in `schemas/`.
//!
//! * [`referee`]: messages from the referee
//! * [`bot`]: messages from a bot
//! * [`imagine`]: the messages of `referee imagine`, for search bots
//! * [`info`]: the score that a bot reports beside a move
//! * [`words`]: enumerations shared by messages, records and the command line: fault codes, error codes, endings,
//!   fault policies
//! * [`schemas`]: JSON Schemas of both message sets
//! * [`limits`]: size limits, rate limits and timeouts
//! * [`text`]: a string that borrows from the line it was read from
//!
//! To read a message, parse [`Head`] first, then the struct named by its `type`. To write one, wrap it in
//! [`FromBot`](bot::FromBot) or [`FromReferee`](referee::FromReferee), which add the `type`. A message is a line; this is a
//! bot that plays the first legal move:
//!
//! ```
//! use referee_protocol::bot::{FromBot, Move};
//! use referee_protocol::referee::Turn;
//! use referee_protocol::Head;
//! use serde_json::Value;
//!
//! fn reply(line: &str) -> serde_json::Result<Option<String>> {
//!     if serde_json::from_str::<Head>(line)?.kind != "turn" {
//!         return Ok(None);
//!     }
//!     let turn: Turn<Value> = serde_json::from_str(line)?;
//!     let first = turn.legal.unwrap_or_default().swap_remove(0);
//!     let mv: FromBot<Value> = FromBot::Move(Move {
//!         r#match: turn.r#match,
//!         seat: Some(turn.seat),
//!         turn: turn.turn.into(),
//!         r#move: first,
//!         offer_draw: false,
//!         info: None,
//!     });
//!     serde_json::to_string(&mv).map(Some)
//! }
//!
//! let line = r#"{"type":"turn","match":"m1","seat":0,"turn":0,"view":{"to_move":[0]},"legal":["10-14","9-13"],"clock":null}"#;
//! let answer = r#"{"type":"move","match":"m1","seat":0,"turn":0,"move":"10-14"}"#;
//! assert_eq!(reply(line)?.as_deref(), Some(answer));
//! # Ok::<(), serde_json::Error>(())
//! ```

pub mod bot;
pub mod imagine;
pub mod info;
pub mod limits;
pub mod referee;
pub mod schemas;
pub mod spec;
pub mod text;
pub mod words;

pub use text::Text;

use serde::Deserialize;

/// The version of the protocol that these types implement.
pub const PROTOCOL: u64 = 1;

/// The largest integer in a message, 2^53 - 1: every JSON parser represents it exactly.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The `type` of a message.
#[derive(Debug, Deserialize)]
pub struct Head<'a> {
    /// The name of the message.
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
}
