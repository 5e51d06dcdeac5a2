//! Times and clocks, as text.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use referee_engine::driver::{InvalidClock, Terms, check_clock};
use referee_match::Adjudication;
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

/// The clock of each bot: `none`, or a list of `delay=TIME`, `bank=TIME` and `increment=TIME`. `tc=10+0.1`, as other programs for matches
/// write it, is `bank=10s,increment=100ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockLimits(pub Option<Clock>);

/// Why a text is not a clock.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    #[error(
        "`{0}` is not KEY=TIME or `none`; expected e.g. delay=5s,bank=60s, or tc=10+0.1 for bank=10s,increment=100ms"
    )]
    Form(String),
    #[error("`tc={0}` is not a number of seconds, or SECONDS+SECONDS such as tc=10+0.1")]
    Control(String),
    #[error(
        "`tc={given}`: a bank is for all moves of a match, not for {moves} of them; expected e.g. tc={bank}, or delay=TIME for each move"
    )]
    MovesPerBank { given: String, moves: String, bank: String },
    #[error("unknown part `{0}` of a clock; available: delay, bank, increment, tc, or `none`")]
    Unknown(String),
    #[error("`{0}` is given twice")]
    Twice(String),
    #[error(transparent)]
    Time(#[from] TimeError),
    #[error(transparent)]
    Invalid(#[from] InvalidClock),
}

/// Bank and increment of `10+0.1` in milliseconds.
fn time_control(text: &str) -> Result<(u64, u64), ClockError> {
    if let Some((moves, bank)) = text.split_once('/') {
        let (given, moves, bank) = (text.to_owned(), moves.to_owned(), bank.to_owned());
        return Err(ClockError::MovesPerBank { given, moves, bank });
    }
    let (bank, increment) = text.split_once('+').unwrap_or((text, "0"));
    let ms = |seconds: &str| {
        let is_plain = seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let seconds: Option<f64> = seconds.parse().ok().filter(|_| is_plain);
        seconds.map(|seconds| (seconds * 1000.0).round() as u64)
    };
    ms(bank).zip(ms(increment)).ok_or_else(|| ClockError::Control(text.to_owned()))
}

impl FromStr for ClockLimits {
    type Err = ClockError;

    fn from_str(text: &str) -> Result<ClockLimits, ClockError> {
        if text == "none" {
            return Ok(ClockLimits(None));
        }
        let (mut delay, mut bank, mut increment) = (None, None, None);
        let replace = |field: &mut Option<u64>, ms| field.replace(ms).is_some();
        for part in text.split(',') {
            let (key, value) = part.split_once('=').ok_or_else(|| ClockError::Form(part.to_owned()))?;
            let time = || value.parse::<Milliseconds>().map(|time| time.0);
            let is_twice = match key {
                "delay" => replace(&mut delay, time()?),
                "bank" => replace(&mut bank, time()?),
                "increment" => replace(&mut increment, time()?),
                "tc" => {
                    let (of_bank, of_increment) = time_control(value)?;
                    replace(&mut bank, of_bank) | replace(&mut increment, of_increment)
                }
                _ => return Err(ClockError::Unknown(key.to_owned())),
            };
            if is_twice {
                return Err(ClockError::Twice(key.to_owned()));
            }
        }
        let [delay_ms, bank_ms, increment_ms] = [delay, bank, increment].map(Option::unwrap_or_default);
        let clock = Clock { delay_ms, bank_ms, increment_ms };
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
            adjudication: Adjudication::default(),
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
        assert_eq!(read("tc=10+0.1"), Ok(Some((0, 10_000, 100))));
        assert_eq!(read("tc=0.5,delay=1s"), Ok(Some((1_000, 500, 0))));
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
            ("10+0.1", "tc=10+0.1 for bank=10s,increment=100ms"),
            ("tc=40/60+0.5", "not for 40 of them; expected e.g. tc=60+0.5"),
            ("tc=1e3", "SECONDS+SECONDS"),
            ("tc=10,increment=1s", "`increment` is given twice"),
            ("tc=10s", "SECONDS+SECONDS"),
        ] {
            let error = text.parse::<ClockLimits>().expect_err(text).to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
