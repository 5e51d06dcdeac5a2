//! Reading the lines of a record. The match writes them (`referee`), the shell adds `bots`, then comes the seal.

use referee_protocol::Head;
use referee_protocol::words::{ErrorCode, FaultCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::clock::Tick;
use crate::core::seat::Seat;
use crate::referee::{Event, Stamp, Wants};

/// Any line of a record, with the fields that a reader needs to replay or show it.
#[derive(Debug, Deserialize)]
pub struct Line<'a> {
    /// What kind of line it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it happened.
    #[serde(default)]
    pub at_us: Tick,
    /// Whose it is.
    pub seat: Option<Seat>,
    /// The request.
    pub turn: Option<u32>,
    /// In `restart`.
    pub ready_ms: Option<u64>,
    /// In `ready`.
    pub nonce: Option<String>,
    /// In `answer` and `fallback`.
    pub r#move: Option<String>,
    /// In `answer`.
    #[serde(default)]
    pub offer_draw: bool,
    /// In `answer`.
    #[serde(borrow)]
    pub info: Option<&'a RawValue>,
    /// How long of that the referee could not look at its streams.
    #[serde(default)]
    pub lag_us: u64,
    /// In `fault` and `stray`.
    pub code: Option<String>,
    /// In `fault`.
    pub detail: Option<String>,
    /// In `abort`.
    pub reason: Option<String>,
    /// In `event`.
    #[serde(borrow)]
    pub event: Option<&'a RawValue>,
}

/// Reads a line that must be of this kind.
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
    /// Reads a line.
    ///
    /// # Errors
    /// When it is not one of a record.
    pub fn read(text: &'a [u8]) -> Result<Line<'a>, String> {
        if text.first() != Some(&b'{') {
            return Err("not a JSON object".to_owned());
        }
        serde_json::from_slice(text).map_err(|error| error.to_string())
    }

    /// When it happened, as the match was told.
    pub fn stamp(&self) -> Stamp {
        Stamp { at: self.at_us, lag: self.lag_us }
    }

    fn fault_code(&self) -> Option<FaultCode> {
        FaultCode::ALL.iter().copied().find(|code| Some(code.as_str()) == self.code.as_deref())
    }

    /// What the match was told when it wrote this line; none where the line followed from others.
    /// A seat that is not `among` the seats is none either.
    pub fn event_told(&self, among: usize) -> Option<Event<'_>> {
        if self.kind == "abort" {
            return Some(Event::Abort(self.reason.as_deref()?));
        }
        let seat = self.seat.filter(|seat| seat.index() < among)?;
        let detail = self.detail.as_deref().unwrap_or_default();
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
                code @ (FaultCode::Malformed | FaultCode::LineTooLong) => {
                    Event::Broken { seat, turn: self.turn.map(u64::from), code, detail }
                }
                FaultCode::Timeout => Event::Expire(seat),
                FaultCode::NoStart if detail.starts_with(crate::referee::NOT_READY) => Event::Expire(seat),
                FaultCode::IllegalMove => return None,
                code => Event::Gone { seat, code, detail },
            },
            _ => return None,
        })
    }
}
