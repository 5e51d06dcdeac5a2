#![doc = include_str!("../README.md")]

mod answer;
mod bot;
mod connection;
mod error;
mod event;
pub mod games;
mod message;
mod reconnect;
mod run;
mod session;
mod tls;
mod turn;

pub use answer::{Answer, Move, Pick};
pub use bot::{Bot, FromFn, Start, from_fn, hello};
pub use connection::Connection;
pub use error::Error;
pub use event::Event;
pub use run::{run, run_on};
pub use turn::Turn;

pub use referee_protocol::bot::{Hello, Inability, Want};
pub use referee_protocol::referee::{Clock, End, Fault, Retry, Reveal, SeatInfo, TurnClock};
pub use referee_protocol::words::{EndedBy, FaultCode};
pub use referee_protocol::{PROTOCOL, Text};
pub use serde_json;
