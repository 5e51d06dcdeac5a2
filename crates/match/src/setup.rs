//! The set-up of a match.

use std::sync::Arc;

use referee_game::chance::Seed;
use referee_game::seat::{Seat, Seating, Viewer};
use referee_game::{Meta, Wrong};
use referee_protocol::bot::{Hello, Want};
use referee_protocol::referee::Clock;
use referee_protocol::words::OnFault;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::adjudication::Adjudication;
use crate::detail::AbortReason;
use crate::limits::Limits;
use crate::opening::Opening;

/// The set-up of a match as written in the first line of its record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of the record format.
    pub format: u32,
    /// Name and version of the referee.
    pub referee: String,
    /// The match's id. Ids and deals consist of ASCII letters, digits, `.`, `_` and `-`.
    pub r#match: String,
    pub game: String,
    /// The version of the game's rules.
    pub rules: u32,
    /// The game's options, with defaults filled in.
    pub options: Box<RawValue>,
    pub seats: Vec<SeatHeader>,
    /// The clock of seats without their own clock.
    pub clock: Option<Clock>,
    /// Grace period beyond the time limit, in milliseconds; still deducted from the bank.
    pub margin_ms: u64,
    pub on_fault: OnFault,
    pub deal: String,
    /// SHA-256 of salt and seed.
    pub commitment: String,
    /// Whether nonces of bots are mixed into the chance.
    pub nonce: bool,
    /// Whether the match starts without waiting for `ready`.
    pub auto_ready: bool,
    /// The program that the rules are; `None` if they are part of the referee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Box<RawValue>>,
    pub limits: Limits,
    /// The rules by which the referee may end the match.
    #[serde(default, skip_serializing_if = "Adjudication::is_none")]
    pub adjudication: Adjudication,
    /// The opening; no field without one.
    #[serde(flatten)]
    pub opening: Opening,
}

/// Checks that a fault policy is possible in a game.
///
/// # Errors
/// If the referee would have to choose a move, and no list has them.
pub fn check_policy(meta: &Meta, on_fault: OnFault) -> Result<(), Wrong> {
    match on_fault {
        OnFault::Random if !meta.lists_moves => Err(Wrong::from(format!(
            "the fault policy `random` needs lists of legal moves, which {} does not have; expected `forfeit` or `retry=N`",
            meta.id
        ))),
        _ => Ok(()),
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeatHeader {
    /// The label from the set-up.
    pub name: String,
    pub team: u8,
    /// Timeout from `start` to `ready`, in milliseconds.
    pub ready_ms: u64,
    /// The own clock, if different from the clock of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Whether requests to the seat come without the list of legal moves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hide_legal: bool,
    /// Information about the bot, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<Box<RawValue>>,
}

impl Header {
    /// The current version of the record format.
    pub const FORMAT: u32 = 2;

    /// The clock of a seat; `None`: no time limit.
    pub fn clock_of(&self, seat: Seat) -> Option<Clock> {
        self.seats[seat.index()].clock.or(self.clock)
    }

    /// Returns whether the list of legal moves is hidden from a seat.
    pub(crate) fn hides_legal(&self, seat: Seat) -> bool {
        self.seats[seat.index()].hide_legal
    }

    /// The seating described by the seats' teams; `None` if they form no valid seating.
    pub fn seating(&self) -> Option<Seating> {
        let seats = u8::try_from(self.seats.len())
            .ok()
            .filter(|&n| (1..=referee_game::MAX_SEATS as u8).contains(&n))?;
        let sides = self.seats.iter().map(|seat| seat.team).max()?.checked_add(1)?;
        if sides > seats || !seats.is_multiple_of(sides) {
            return None;
        }
        let seating = Seating::new(seats, sides);
        let fits =
            seating.all().iter().all(|seat| seating.side(seat) == self.seats[seat.index()].team as usize);
        fits.then_some(seating)
    }
}

/// The parts of messages that a bot wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wants {
    /// Whether `turn` has `view`.
    pub view: bool,
    /// Whether `turn` has `legal`.
    pub legal: bool,
    /// Whether the bot gets `event` messages.
    pub event: bool,
    /// Whether `event` messages are sent at once instead of with the next `turn`.
    pub push: bool,
    /// Whether a later connection of the bot may continue the match: it gets the events again that the bot may not have
    /// received.
    pub repeat: bool,
    /// Whether `turn` and `end` have `scene`. Only a host's matches have it, which are not journaled.
    #[serde(skip)]
    pub scenes: bool,
}

impl Default for Wants {
    fn default() -> Self {
        Wants { view: true, legal: true, event: true, push: false, repeat: false, scenes: false }
    }
}

impl From<&Hello> for Wants {
    fn from(hello: &Hello) -> Wants {
        let wants = |want| hello.wants.as_ref().is_none_or(|wants| wants.contains(&want));
        Wants {
            view: wants(Want::View),
            legal: wants(Want::Legal),
            event: wants(Want::Event),
            push: hello.push,
            repeat: hello.reconnect.is_some(),
            scenes: false,
        }
    }
}

/// The position of a match among the matches of its deal. The seed is revealed after the last of them, unless they are
/// [`Leg::Open`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leg {
    #[default]
    Only,
    /// A match of a mirrored set that is not the last.
    Earlier,
    /// The last match of a mirrored set.
    Last,
    /// A match of a mirrored set whose deal has no secrets: the seed is revealed after each of its matches.
    Open,
}

/// The full set-up of a match, including secrets and settings of the streams.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The first line of the record.
    pub header: Arc<Header>,
    /// The seating, the same as in the header.
    pub seating: Seating,
    /// The seed of the match's random numbers.
    pub seed: Seed,
    /// The salt of the commitment.
    pub salt: [u8; 32],
    /// The position among the matches of the deal.
    pub leg: Leg,
    /// The id of the `open` that requested the match.
    pub open_id: Option<String>,
    /// The wanted parts of messages, per seat.
    pub wants: Vec<Wants>,
    /// Whether the referee believes bots that they cannot play through no fault of theirs.
    pub trust_outages: bool,
    /// The viewer for whom events are kept, for spectators.
    pub watched: Option<Viewer>,
    /// In a replay: how the rules, which gave no position, ended the match.
    pub rules_failure: Option<AbortReason>,
}
