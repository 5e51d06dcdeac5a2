//! Reads the lines of a record. The match (`referee`) writes them, the shell adds `bots`, and the seal is the last.

use referee_protocol::Head;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::clock::Tick;
use crate::core::seat::Seat;
use crate::record::format1;
use crate::referee::{Abort, Detail, Event, Received, Stamp, Wants};

/// What the line `bots` says of the bot of a seat, as far as it is shown.
#[derive(Debug, Deserialize)]
pub struct BotLine {
    /// The seat.
    pub seat: Seat,
    /// The end of what it wrote to standard error.
    #[serde(default)]
    pub stderr: String,
}

/// Any line of a record, with the fields needed to replay or show it.
#[derive(Debug, Deserialize)]
pub struct Line<'a> {
    /// The kind of line.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it happened.
    #[serde(default)]
    pub at_us: Tick,
    /// The seat.
    pub seat: Option<Seat>,
    /// The request.
    pub turn: Option<u32>,
    /// In `restart`.
    pub ready_ms: Option<u64>,
    /// In `ready`.
    pub nonce: Option<String>,
    /// In `answer` and `fallback`.
    pub r#move: Option<String>,
    /// In `draw`.
    #[serde(default)]
    pub drawn: Vec<u16>,
    /// In `answer`, in microseconds.
    pub took_us: Option<u64>,
    /// In `answer`.
    #[serde(default)]
    pub offer_draw: bool,
    /// In `answer`.
    #[serde(borrow)]
    pub info: Option<&'a RawValue>,
    /// The referee's lag, in microseconds.
    #[serde(default)]
    pub lag_us: u64,
    /// In `pause`.
    pub paused_us: Option<u64>,
    /// In `fault` and `stray`.
    pub code: Option<String>,
    /// In `fault`.
    #[serde(default, deserialize_with = "format1::or_words")]
    pub detail: Option<Detail>,
    /// In `abort`.
    #[serde(default, deserialize_with = "format1::or_words")]
    pub reason: Option<Abort>,
    /// In `bots`.
    #[serde(default)]
    pub bots: Vec<BotLine>,
    /// In `event`.
    #[serde(borrow)]
    pub event: Option<&'a RawValue>,
}

/// Parses a line that must be of this kind.
pub(super) fn read_as<'a, T: Deserialize<'a>>(kind: &str, text: &'a [u8]) -> Result<T, String> {
    if text.first() != Some(&b'{') {
        return Err("not a JSON object".to_owned());
    }
    let head: Head<'_> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if head.kind != kind {
        return Err(format!("it is of type `{}`", head.kind));
    }
    serde_json::from_slice(text).map_err(|error| error.to_string())
}

impl<'a> Line<'a> {
    /// Parses a line.
    /// # Errors
    /// When it is not a line of a record.
    pub fn read(text: &'a [u8]) -> Result<Line<'a>, String> {
        if text.first() != Some(&b'{') {
            return Err("not a JSON object".to_owned());
        }
        serde_json::from_slice(text).map_err(|error| error.to_string())
    }

    /// The timestamp of the event.
    pub fn stamp(&self) -> Stamp {
        Stamp { at: self.at_us, lag: self.lag_us }
    }

    /// What came from which seat in place of what was awaited, in the fault of a seat whose time was up.
    pub(super) fn received(&self, among: usize) -> Option<(Seat, Option<Received>)> {
        let seat = self.seat.filter(|seat| seat.index() < among && self.kind == "fault")?;
        match self.detail {
            Some(Detail::NoAnswer { received, .. } | Detail::NotReady { received, .. }) => {
                Some((seat, received))
            }
            _ => None,
        }
    }

    fn fault_code(&self) -> Option<FaultCode> {
        FaultCode::ALL.iter().copied().find(|code| Some(code.as_str()) == self.code.as_deref())
    }

    /// Reconstructs the event that caused this line; `None` if the line is a consequence of other lines, or names a
    /// seat not below `among`.
    pub fn event_told(&self, among: usize) -> Option<Event<'_>> {
        if self.kind == "abort" {
            return Some(Event::Abort(self.reason.as_ref()?));
        }
        if self.kind == "pause" {
            return Some(Event::Paused { us: self.paused_us? });
        }
        let seat = self.seat.filter(|seat| seat.index() < among)?;
        Some(match self.kind.as_str() {
            "start" | "request" => Event::Sent(seat),
            "restart" => Event::Restart { seat, ready_ms: self.ready_ms?, wants: Wants::default() },
            "ready" => Event::Ready { seat, nonce: self.nonce.as_deref() },
            "answer" => Event::Answer {
                seat,
                turn: self.turn?.into(),
                text: self.r#move.as_deref()?,
                offer_draw: self.offer_draw,
                info: self.info.map(RawValue::get),
            },
            "accept_draw" => Event::AcceptDraw { seat, turn: self.turn?.into() },
            "resign" => Event::Resign(seat),
            "stray" => {
                let code = ErrorCode::ALL
                    .iter()
                    .copied()
                    .find(|code| Some(code.as_str()) == self.code.as_deref())?;
                Event::Stray { seat, code, message: "" }
            }
            "fault" => match self.fault_code()? {
                FaultCode::IllegalMove => return None,
                FaultCode::Timeout => Event::Expire(seat),
                code @ (FaultCode::Malformed | FaultCode::LineTooLong) => {
                    let (turn, detail) = (self.turn.map(u64::from), self.detail.as_ref()?);
                    Event::Broken { seat, turn, code, detail }
                }
                code => match self.detail.as_ref()? {
                    Detail::NotReady { .. } => Event::Expire(seat),
                    // A consequence of the `stray` lines before it.
                    Detail::Strays { .. } => return None,
                    detail => Event::Gone { seat, code, detail },
                },
            },
            _ => return None,
        })
    }
}
