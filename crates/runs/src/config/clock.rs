//! Times and clocks, as text.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use referee_engine::driver::check_clock;
use referee_game::Wrong;
use referee_protocol::limits;
use referee_protocol::referee::Clock;

/// A time such as `500ms`, `5s` or `2m`: at most a day, a whole number of milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Milliseconds(pub u64);

impl Milliseconds {
    pub fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl FromStr for Milliseconds {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<Milliseconds, Wrong> {
        let parsed = humantime::parse_duration(text);
        let time = parsed.map_err(|error| {
            Wrong::from(format!("invalid duration `{text}`; expected e.g. 500ms, 5s or 2m: {error}"))
        })?;
        if time > Duration::from_secs(24 * 60 * 60) {
            return Err(format!("`{text}` is more than a day").into());
        }
        if !time.subsec_nanos().is_multiple_of(1_000_000) {
            return Err(format!("`{text}` is not a whole number of milliseconds").into());
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
    /// The limit in the first match of a process or connection, in milliseconds.
    pub first_ms: u64,
    /// The limit in later matches, in milliseconds.
    pub later_ms: u64,
}

impl FromStr for ReadyLimits {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<ReadyLimits, Wrong> {
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

/// Bank and increment of `10+0.1` in milliseconds.
fn time_control(text: &str) -> Result<(u64, u64), Wrong> {
    if let Some((moves, bank)) = text.split_once('/') {
        let (given, moves, bank) = (text.to_owned(), moves.to_owned(), bank.to_owned());
        return Err(format!(
            "`tc={given}`: a bank is for all moves of a match, not for {moves} of them; expected \
             e.g. tc={bank}, or delay=TIME for each move"
        )
        .into());
    }
    let (bank, increment) = text.split_once('+').unwrap_or((text, "0"));
    let ms = |seconds: &str| {
        let is_plain = seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let seconds: Option<f64> = seconds.parse().ok().filter(|_| is_plain);
        seconds.map(|seconds| (seconds * 1000.0).round() as u64)
    };
    ms(bank).zip(ms(increment)).ok_or_else(|| {
        Wrong::from(format!("`tc={text}` is not a number of seconds, or SECONDS+SECONDS such as tc=10+0.1"))
    })
}

impl FromStr for ClockLimits {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<ClockLimits, Wrong> {
        if text == "none" {
            return Ok(ClockLimits(None));
        }
        let (mut delay, mut bank, mut increment) = (None, None, None);
        let replace = |field: &mut Option<u64>, ms| field.replace(ms).is_some();
        for part in text.split(',') {
            let (key, value) = part.split_once('=').ok_or_else(|| {
                Wrong::from(format!(
                    "`{part}` is not KEY=TIME or `none`; expected e.g. delay=5s,bank=60s, or tc=10+0.1 for \
                     bank=10s,increment=100ms"
                ))
            })?;
            let time = || value.parse::<Milliseconds>().map(|time| time.0);
            let is_twice =
                match key {
                    "delay" => replace(&mut delay, time()?),
                    "bank" => replace(&mut bank, time()?),
                    "increment" => replace(&mut increment, time()?),
                    "tc" => {
                        let (of_bank, of_increment) = time_control(value)?;
                        replace(&mut bank, of_bank) | replace(&mut increment, of_increment)
                    }
                    _ => return Err(format!(
                        "unknown part `{key}` of a clock; available: delay, bank, increment, tc, or `none`"
                    )
                    .into()),
                };
            if is_twice {
                return Err(format!("`{key}` is given twice").into());
            }
        }
        let [delay_ms, bank_ms, increment_ms] = [delay, bank, increment].map(Option::unwrap_or_default);
        let clock = Clock { delay_ms, bank_ms, increment_ms };
        check_clock(clock)?;
        Ok(ClockLimits(Some(clock)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_parsed_from_its_parts() {
        let read = |text: &str| {
            let clock = text.parse::<ClockLimits>().unwrap();
            clock.0.map(|c| (c.delay_ms, c.bank_ms, c.increment_ms))
        };
        assert_eq!(read("delay=5s,bank=60s"), Some((5_000, 60_000, 0)));
        assert_eq!(read("bank=1m,increment=500ms"), Some((0, 60_000, 500)));
        assert_eq!(read("delay=100ms,increment=0"), Some((100, 0, 0)));
        assert_eq!(read("tc=10+0.1"), Some((0, 10_000, 100)));
        assert_eq!(read("tc=0.5,delay=1s"), Some((1_000, 500, 0)));
        assert_eq!(read("none"), None);
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
