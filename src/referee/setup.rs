//! Everything that is fixed before a match begins.

use referee_protocol::bot::{Hello, Want};
use referee_protocol::referee::Clock;
use referee_protocol::words::OnFault;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::core::chance::Seed;
use crate::core::seat::{Seat, Seating, Viewer};
use crate::referee::opening::Opening;

/// The set-up of a match as its record begins with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The version of the record format.
    pub format: u32,
    /// Name and version of the referee.
    pub referee: String,
    /// The match's id. Ids and deals consist of ASCII letters, digits, `.`, `_` and `-`.
    pub r#match: String,
    /// The game's id.
    pub game: String,
    /// The version of the game's rules.
    pub rules: u32,
    /// The game's options, complete.
    pub options: Box<RawValue>,
    /// The seats in order.
    pub seats: Vec<SeatHeader>,
    /// The clock of every seat that has none of its own.
    pub clock: Option<Clock>,
    /// Forgiven beyond a limit.
    pub margin_ms: u64,
    /// What faults lead to.
    pub on_fault: OnFault,
    /// The deal's id.
    pub deal: String,
    /// SHA-256 of salt and seed.
    pub commitment: String,
    /// Whether nonces are mixed in.
    pub nonce: bool,
    /// Whether no `ready` is asked.
    pub auto_ready: bool,
    /// What the match begins with; no field where that is nothing.
    #[serde(flatten)]
    pub opening: Opening,
}

/// A seat in the set-up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeatHeader {
    /// The set-up's label.
    pub name: String,
    /// The number of its side.
    pub team: u8,
    /// From `start` to `ready`.
    pub ready_ms: u64,
    /// Its clock, where that is not the one of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// What is known of the bot, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot: Option<Box<RawValue>>,
}

impl Header {
    /// The version of the record format that is written.
    pub const FORMAT: u32 = 1;

    /// The clock of a seat; none: no limit.
    pub fn clock_of(&self, seat: Seat) -> Option<Clock> {
        self.seats[seat.index()].clock.or(self.clock)
    }

    /// The seating that the seats' teams describe; none if it is not a possible one.
    pub fn seating(&self) -> Option<Seating> {
        let seats = u8::try_from(self.seats.len())
            .ok()
            .filter(|&n| (1..=crate::core::MAX_SEATS as u8).contains(&n))?;
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

/// What a bot wants to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// `view` in `turn`.
    pub view: bool,
    /// `legal` in `turn`.
    pub legal: bool,
    /// `event` messages.
    pub event: bool,
    /// `event` messages at once instead of with the next `turn`.
    pub push: bool,
}

impl Default for Wants {
    fn default() -> Self {
        Wants { view: true, legal: true, event: true, push: false }
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
        }
    }
}

/// Which match of its deal this is. What a deal was made from is told when no match on it is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leg {
    /// The only one.
    #[default]
    Only,
    /// One of a mirrored set, and others follow.
    Earlier,
    /// The last one of a mirrored set.
    Last,
}

/// The set-up of a match with what only the referee and the streams know.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What the record begins with.
    pub header: Header,
    /// How the seats play together; the same as in the header.
    pub seating: Seating,
    /// Where the chance of the match comes from.
    pub seed: Seed,
    /// What hides the seed in the commitment.
    pub salt: [u8; 32],
    /// Which match of its deal it is.
    pub leg: Leg,
    /// The id of the `open` that asked for the match.
    pub open_id: Option<String>,
    /// Per seat.
    pub wants: Vec<Wants>,
    /// Who looks on: their events are kept.
    pub watched: Option<Viewer>,
}
