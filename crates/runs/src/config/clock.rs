//! Times and clocks, as text.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use referee_engine::driver::{InvalidClock, Terms, check_clock};
use referee_protocol::limits;
use referee_protocol::referee::Clock;
use referee_protocol::words::OnFault;

/// A time such as `500ms`, `5s` or `2m`: at most a day, a whole number of milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Milliseconds(pub u64);

/// Why a text is not a time that can be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeError {
    #[error("invalid duration `{0}`; expected e.g. 500ms, 5s or 2m: {1}")]
    Form(String, humantime::DurationError),
    #[error("`{0}` is more than a day")]
    Long(String),
    #[error("`{0}` is not a whole number of milliseconds")]
    Fraction(String),
}

impl Milliseconds {
    /// As a duration.
    pub fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl FromStr for Milliseconds {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Milliseconds, TimeError> {
        let parsed = humantime::parse_duration(text);
        let time = parsed.map_err(|error| TimeError::Form(text.to_owned(), error))?;
        if time > Duration::from_secs(24 * 60 * 60) {
            return Err(TimeError::Long(text.to_owned()));
        }
        if !time.subsec_nanos().is_multiple_of(1_000_000) {
            return Err(TimeError::Fraction(text.to_owned()));
        }
        Ok(Milliseconds(time.as_millis() as u64))
    }
}

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

/// The time limits of `ready`: `60s`, or `60s,5s` with another one for later matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyLimits {
    /// In the first match of a process or connection, in milliseconds.
    pub first_ms: u64,
    /// In later ones, in milliseconds.
    pub later_ms: u64,
}

impl FromStr for ReadyLimits {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<ReadyLimits, TimeError> {
        let (first, later) = text.split_once(',').map_or((text, None), |(first, later)| (first, Some(later)));
        let first_ms = first.parse::<Milliseconds>()?.0;
        let later_ms = match later {
            Some(later) => later.parse::<Milliseconds>()?.0,
            None => limits::READY_MS.min(first_ms),
        };
        Ok(ReadyLimits { first_ms, later_ms })
    }
}

impl fmt::Display for ReadyLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms,{}ms", self.first_ms, self.later_ms)
    }
}

/// The clock of each bot: `none`, or a list of `delay=TIME`, `bank=TIME` and `increment=TIME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockLimits(pub Option<Clock>);

/// Why a text is not a clock.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    #[error("`{0}` is not KEY=TIME or `none`")]
    Form(String),
    #[error("unknown part `{0}` of a clock; available: delay, bank, increment, or `none`")]
    Unknown(String),
    #[error("`{0}` is given twice")]
    Twice(String),
    /// A part is no time.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// No match can have it.
    #[error(transparent)]
    Invalid(#[from] InvalidClock),
}

impl FromStr for ClockLimits {
    type Err = ClockError;

    fn from_str(text: &str) -> Result<ClockLimits, ClockError> {
        if text == "none" {
            return Ok(ClockLimits(None));
        }
        let mut clock = Clock { delay_ms: 0, bank_ms: 0, increment_ms: 0 };
        let mut seen = Vec::new();
        for part in text.split(',') {
            let (key, value) = part.split_once('=').ok_or_else(|| ClockError::Form(part.to_owned()))?;
            let field = match key {
                "delay" => &mut clock.delay_ms,
                "bank" => &mut clock.bank_ms,
                "increment" => &mut clock.increment_ms,
                _ => return Err(ClockError::Unknown(key.to_owned())),
            };
            if seen.contains(&key) {
                return Err(ClockError::Twice(key.to_owned()));
            }
            seen.push(key);
            *field = value.parse::<Milliseconds>()?.0;
        }
        check_clock(clock)?;
        Ok(ClockLimits(Some(clock)))
    }
}

impl ClockLimits {
    /// The terms of matches with this clock.
    pub fn terms(
        self,
        margin: Milliseconds,
        on_fault: OnFault,
        hello_limit: Milliseconds,
        ready_limit: ReadyLimits,
    ) -> Terms {
        Terms {
            clock: self.0,
            margin_ms: margin.0,
            on_fault,
            hello_ms: hello_limit.0,
            first_ready_ms: ready_limit.first_ms,
            later_ready_ms: ready_limit.later_ms,
            trust_outages: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_parsed_from_its_parts() {
        let read = |text: &str| {
            text.parse::<ClockLimits>().map(|clock| clock.0.map(|c| (c.delay_ms, c.bank_ms, c.increment_ms)))
        };
        assert_eq!(read("delay=5s,bank=60s"), Ok(Some((5_000, 60_000, 0))));
        assert_eq!(read("bank=1m,increment=500ms"), Ok(Some((0, 60_000, 500))));
        assert_eq!(read("delay=100ms,increment=0"), Ok(Some((100, 0, 0))));
        assert_eq!(read("none"), Ok(None));
    }

    #[test]
    fn an_invalid_clock_is_rejected_with_the_reason() {
        for (text, what) in [
            ("", "KEY=TIME"),
            ("5s", "KEY=TIME"),
            ("dealy=5s", "`dealy`"),
            ("delay=5", "invalid duration"),
            ("delay=5s,delay=6s", "twice"),
            ("increment=1s", "no time for an answer"),
            ("delay=90000s", "more than a day"),
            ("delay=1us", "whole number"),
        ] {
            let error = text.parse::<ClockLimits>().expect_err(text).to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
