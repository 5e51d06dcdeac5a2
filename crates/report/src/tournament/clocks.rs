//! The clocks of a tournament, which may change while it is played.

use referee_protocol::referee::Clock;
use serde::Serialize;

use super::ListedMatch;

/// Consecutive matches with the same clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClockPeriod {
    /// The clock, as the option `--clock` gives it.
    pub clock: String,
    pub first: String,
    pub last: String,
}

/// A clock as the option `--clock` gives it: `delay=5s,bank=60s`.
pub(super) fn clock_option(clock: Option<Clock>) -> String {
    let Some(Clock { delay_ms, bank_ms, increment_ms }) = clock else { return "none".to_owned() };
    let parts = [("delay", delay_ms), ("bank", bank_ms), ("increment", increment_ms)];
    let parts = parts.into_iter().filter(|&(_, ms)| ms > 0).map(|(name, ms)| match ms % 1000 {
        0 => format!("{name}={}s", ms / 1000),
        _ => format!("{name}={ms}ms"),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// A clock for people: `delay 5 s, bank 60 s`.
pub(crate) fn told_clock(clock: Clock) -> String {
    clock_in_words(&clock_option(Some(clock)))
}

/// A clock for people: `delay 5 s, bank 60 s` for `delay=5s,bank=60s`.
pub(crate) fn clock_in_words(clock: &str) -> String {
    let part = |part: &str| match part.split_once('=') {
        Some((name, time)) => {
            let unit = time.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(time.len());
            format!("{name} {} {}", &time[..unit], &time[unit..])
        }
        None => part.to_owned(),
    };
    clock.split(',').map(part).collect::<Vec<_>>().join(", ")
}

/// The clocks of matches with a record, in the order of their numbers.
pub(super) fn periods(attempts: &[ListedMatch]) -> Vec<ClockPeriod> {
    let mut periods: Vec<ClockPeriod> = Vec::new();
    for ListedMatch { id, clock, .. } in attempts {
        let Some(clock) = clock else { continue };
        match periods.last_mut().filter(|period| period.clock == *clock) {
            Some(period) => period.last.clone_from(id),
            None => {
                periods.push(ClockPeriod { clock: clock.clone(), first: id.clone(), last: id.clone() });
            }
        }
    }
    periods
}

/// The clocks in words: `delay 5 s until match 12, then bank 30 s`. `next` is the clock of matches to come, if there may be
/// any. `None` if no clock is known.
pub(super) fn told(periods: &[ClockPeriod], next: Option<&str>) -> Option<String> {
    let mut clocks: Vec<&str> = periods.iter().map(|period| &*period.clock).collect();
    clocks.extend(next.filter(|next| clocks.last() != Some(next)));
    let (last, ended) = clocks.split_last()?;
    if ended.is_empty() {
        return Some(clock_in_words(last));
    }
    let number = |id: &str| id.trim_start_matches('m').to_owned();
    let ended = ended.iter().zip(periods);
    let ended = ended
        .map(|(clock, period)| format!("{} until match {}", clock_in_words(clock), number(&period.last)));
    Some(format!("{}, then {}", ended.collect::<Vec<_>>().join(", then "), clock_in_words(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(clock: &str, first: &str, last: &str) -> ClockPeriod {
        let [clock, first, last] = [clock, first, last].map(str::to_owned);
        ClockPeriod { clock, first, last }
    }

    #[test]
    fn clocks_are_told_with_the_last_match_of_each() {
        let clock = |delay_ms, bank_ms| Some(Clock { delay_ms, bank_ms, increment_ms: 0 });
        assert_eq!(clock_option(clock(500, 90_000)), "delay=500ms,bank=90s");
        assert_eq!(clock_option(None), "none");
        let periods = [period("delay=5s,bank=60s", "m1", "m12"), period("bank=500ms", "m13", "m20.2")];
        let text = "delay 5 s, bank 60 s until match 12, then bank 500 ms";
        assert_eq!(told(&periods, None).as_deref(), Some(text));
        assert_eq!(told(&periods, Some("bank=500ms")).as_deref(), Some(text));
        assert_eq!(
            told(&periods, Some("none")).as_deref(),
            Some("delay 5 s, bank 60 s until match 12, then bank 500 ms until match 20.2, then none")
        );
        assert_eq!(told(&periods[1..], Some("bank=500ms")).as_deref(), Some("bank 500 ms"));
        assert_eq!(told(&[], Some("none")).as_deref(), Some("none"));
        assert_eq!(told(&[], None), None);
    }
}
