//! The match between programs as a sans-I/O state machine, which makes all decisions of a referee, and its record.
//!
//! * The shell passes timestamped [`Event`]s to a [`Match`] and polls it for output: what to send to each seat, the next
//!   deadline, what has happened. The match is deterministic: the same events produce the same bytes
//! * [`Setup`] and [`Opening`] say what is played; [`Ending`], [`Fault`] and [`AbortReason`] how it ended
//! * [`Log`] has all that happened, line by line; [`record`] seals, verifies and replays it
//!
//! ```
//! use std::sync::Arc;
//!
//! use referee_game::chance::Seed;
//! use referee_game::{Seat, Seating, hex};
//! use referee_match::{
//!     Adjudication, Event, Header, Leg, Limits, Match, MatchEvent, Opening, SeatHeader, Setup, Stamp, Wants, record,
//! };
//! use referee_protocol::words::OnFault;
//!
//! let catalog = referee_games::catalog();
//! let rules = catalog.find("checkers").unwrap();
//! let seating = rules.meta().seatings[0];
//! let table = rules.open(&rules.default_options(), seating).unwrap();
//! let (seed, salt) = (Seed([1; 32]), [2; 32]);
//! let seat = |team| SeatHeader { name: format!("bot{team}"), team, ready_ms: 5000, clock: None, hide_legal: false, bot: None };
//! let header = Header {
//!     format: Header::FORMAT,
//!     referee: "example".to_owned(),
//!     r#match: "m1".to_owned(),
//!     game: "checkers".to_owned(),
//!     rules: rules.meta().rules_version,
//!     options: table.options().to_owned(),
//!     seats: vec![seat(0), seat(1)],
//!     clock: None,
//!     margin_ms: 0,
//!     on_fault: OnFault::Forfeit,
//!     deal: "d1".to_owned(),
//!     commitment: hex::encode(&seed.commitment(&salt)),
//!     nonce: false,
//!     auto_ready: true,
//!     program: None,
//!     limits: Limits::TODAY,
//!     adjudication: Adjudication::default(),
//!     opening: Opening::None,
//! };
//! let setup = Setup {
//!     header: Arc::new(header),
//!     seating,
//!     seed,
//!     salt,
//!     leg: Leg::Only,
//!     open_id: None,
//!     wants: vec![Wants::default(); 2],
//!     trust_outages: false,
//!     watched: None,
//!     rules_failure: None,
//! };
//! let mut play = Match::open(setup, table);
//! // The shell sends the messages for a seat: here `start` and the first `turn`.
//! let mut stamp = Stamp::default();
//! let sent = play.poll_transmit(Seat(0), stamp).unwrap().bytes.to_vec();
//! assert!(String::from_utf8(sent).unwrap().contains(r#"{"type":"turn""#));
//! // A millisecond later, it reads what the bot answers.
//! stamp.at = stamp.at + 1000;
//! play.handle(stamp, Event::Resign(Seat(0)));
//! let ending = std::iter::from_fn(|| play.poll_event())
//!     .find_map(|event| match event {
//!         MatchEvent::Ended(ending) => Some(ending),
//!         _ => None,
//!     })
//!     .unwrap();
//! assert_eq!(ending.ranks.as_deref(), Some(&[2, 1][..]));
//! let mut text = play.log().text();
//! record::seal(&mut text, play.reveal());
//! assert!(record::verify(&text, &catalog).is_empty());
//! ```

mod adjudication;
mod answers;
mod broadcast;
mod common;
mod detail;
mod ending;
mod event;
mod limits;
mod log;
mod match_;
pub mod opening;
mod outage;
mod player;
mod playing;
mod received;
pub mod record;
mod scene;
mod setup;
mod starting;
mod totals;

pub use adjudication::{Adjudication, DrawRule, ResignRule, SyzygyRule, stated_score};
pub use detail::{AbortReason, Detail, Fault, RulesFailure};
pub use ending::Ending;
pub use event::{Event, GivenInfo, MatchEvent, Stamp};
pub use limits::Limits;
pub use log::Log;
pub use match_::{Match, Transmit};
pub use opening::Opening;
pub use outage::Outage;
pub use player::Faults;
pub use received::{BUFFERS, Field, Lost, Received, RefusedLine};
pub use setup::{Header, Leg, SeatHeader, Setup, Wants, check_policy};
pub use totals::InfoTotals;

#[cfg(test)]
mod tests;

/// Name and version of the referee, as written in messages and records.
pub const SERVER: &str = concat!("referee/", env!("CARGO_PKG_VERSION"));
