//! The referee protocol, version 1: every message as a type.
//!
//! The specification for bot authors is in `spec/` and in [`spec`]; JSON Schemas generated from these types are in `schemas/`.
//!
//! * [`referee`]: messages from the referee
//! * [`bot`]: messages from a bot
//! * [`words`]: enumerations shared by messages, records and the command line: fault codes, error codes, endings,
//!   fault policies
//! * [`schemas`]: JSON Schemas of both message sets
//! * [`limits`]: size limits, rate limits and timeouts
//! * [`text`]: a string that borrows from the line it was read from
//!
//! To read a message, parse [`Head`] first, then the struct named by its `type`.

pub mod bot;
pub mod limits;
pub mod referee;
pub mod schemas;
pub mod spec;
pub mod text;
pub mod words;

pub use text::Text;

use serde::Deserialize;

/// The version of the protocol that these types speak.
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
