//! The referee protocol, version 1: every message as a type.
//!
//! The specification for bot authors is in `spec/`; JSON Schemas generated from these types are in `schemas/`.
//!
//! * [`referee`]: what the referee says
//! * [`bot`]: what a bot says
//! * [`words`]: the words that both use: fault codes, error codes, what ended a match, fault policies
//! * [`schemas`]: both message sets as JSON Schemas
//! * [`limits`]: every number that bounds what a stream may do
//! * [`text`]: a string that borrows from the line it was read from
//!
//! A message is read in two steps: [`Head`] first, then the struct that its `type` names.

pub mod bot;
pub mod limits;
pub mod referee;
pub mod schemas;
pub mod text;
pub mod words;

pub use text::Text;

use serde::Deserialize;

/// The version of the protocol that these types speak.
pub const PROTOCOL: u64 = 1;

/// The largest integer in a message: every JSON reader keeps it exactly.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The part of a message that says which one it is.
#[derive(Debug, Deserialize)]
pub struct Head<'a> {
    /// The name of the message.
    #[serde(rename = "type", borrow)]
    pub kind: Text<'a>,
}
