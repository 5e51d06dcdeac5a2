//! A finished match: what the referee reports, stores, prints and serves are views of it.
//!
//! * [`FinishedMatch`] is how a match ended, its faults, and what was measured
//! * [`Evidence`] is what led to a fault; [`SharedFault`] one fault that several matches list; [`FirstFaults`] sums up the
//!   faults of a run
//! * [`moves_of_set`] are the moves of a set as digests, by which copies are found
//! * [`Roster`]: which bots play for an entrant
//!
//! ```
//! use std::sync::Arc;
//!
//! use referee_game::chance::Seed;
//! use referee_game::{Seat, hex};
//! use referee_match::{Adjudication, Event, Header, Leg, Limits, Match, Opening, SeatHeader, Setup, Stamp, Wants};
//! use referee_protocol::words::OnFault;
//! use referee_results::FinishedMatch;
//! use referee_stats::{SideResult, Wdl};
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
//! play.poll_transmit(Seat(0), Stamp::default());
//! play.handle(Stamp::default(), Event::Resign(Seat(0)));
//! let ending = play.ending().unwrap().clone();
//! let finished = FinishedMatch::of(&play, ending, 0);
//! assert_eq!((&*finished.id, finished.seats.join(" - ")), ("m1", "bot0 - bot1".to_owned()));
//! assert_eq!(finished.result_of(Seat(0)), Some(SideResult::Loss));
//! let wdl: Wdl = finished.result_of(Seat(1)).into_iter().collect();
//! assert_eq!(wdl.to_string(), "1 won, 0 drawn, 0 lost");
//! ```

mod crash;
mod evidence;
mod finished;
mod moves;
mod roster;

pub use crash::Crash;
pub use evidence::{Evidence, FirstFaults, last_lines};
pub use finished::{FinishedMatch, SharedFault};
pub use moves::moves_of_set;
pub use roster::Roster;
