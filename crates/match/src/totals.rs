//! Work that bots report in `info`, summed over the answers of a seat.

use std::collections::BTreeMap;

use referee_protocol::Text;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The names of the sums. A field of `info` with the name of one of the first [`NUMBERS`] adds its number. Of the others,
/// `resolved_case` counts answers whose field `resolved` is the word `case`, or a list with it. The last one is counted by
/// the match.
const NAMES: [&str; 19] = [
    "requests",
    "cached",
    "tokens_in",
    "tokens_cached",
    "tokens_out",
    "cost_usd",
    "latency_ms",
    "resolved_exact",
    "resolved_case",
    "resolved_decoration",
    "resolved_notation",
    "resolved_last_named",
    "resolved_unlisted",
    "rejected_no_move",
    "rejected_refused",
    "rejected_truncated",
    "rejected_empty",
    "fallback_random",
    "outages",
];
const NUMBERS: usize = 7;
const OUTAGES: usize = NAMES.len() - 1;

/// The largest number that counts: a larger one, one below 0 and one that is not finite do not.
const MOST: f64 = 1e9;

/// The sums by name, in no particular unit: each has the unit of its field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InfoTotals([f64; NAMES.len()]);

impl InfoTotals {
    /// Adds the numbers of an `info`.
    pub(crate) fn add(&mut self, info: &str) {
        let Ok(fields) = serde_json::from_str::<BTreeMap<Text<'_>, &RawValue>>(info) else { return };
        for (name, value) in fields {
            let value = value.get();
            if let Some(index) = NAMES[..NUMBERS].iter().position(|known| *known == &*name) {
                let number = value.parse().ok().filter(|number| (0.0..=MOST).contains(number));
                self.0[index] += number.unwrap_or(0.0);
            } else if let Ok(word) = serde_json::from_str::<Text<'_>>(value) {
                self.count(&name, &word);
            } else if let Ok(words) = serde_json::from_str::<Vec<Text<'_>>>(value) {
                words.iter().for_each(|word| self.count(&name, word));
            }
        }
    }

    fn count(&mut self, field: &str, word: &str) {
        let fits =
            |name: &str| name.strip_prefix(field).and_then(|rest| rest.strip_prefix('_')) == Some(word);
        if let Some(index) = NAMES[NUMBERS..OUTAGES].iter().position(|name| fits(name)) {
            self.0[NUMBERS + index] += 1.0;
        }
    }

    /// Counts an answer that says that the chooser of the moves cannot be reached.
    pub(crate) fn add_outage(&mut self) {
        self.0[OUTAGES] += 1.0;
    }

    /// Adds the sums of another.
    pub fn merge(&mut self, other: &InfoTotals) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }

    /// Returns whether nothing was reported for any seat.
    pub fn are_empty(all: &[InfoTotals]) -> bool {
        all.iter().all(InfoTotals::is_empty)
    }

    /// Returns whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&sum| sum == 0.0)
    }

    /// The sum with this name; 0 for another name.
    pub fn of(&self, name: &str) -> f64 {
        NAMES.iter().position(|known| *known == name).map_or(0.0, |index| self.0[index])
    }
}

impl Serialize for InfoTotals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, sum) in NAMES.iter().zip(self.0).filter(|&(_, sum)| sum != 0.0) {
            if sum.fract() == 0.0 && sum < 1e15 {
                map.serialize_entry(name, &(sum as u64))?;
            } else {
                map.serialize_entry(name, &sum)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for InfoTotals {
    /// Ignores names that are not known.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<InfoTotals, D::Error> {
        let sums = BTreeMap::<String, f64>::deserialize(deserializer)?;
        Ok(InfoTotals(NAMES.map(|name| sums.get(name).copied().unwrap_or(0.0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_summed_and_words_are_counted() {
        let mut totals = InfoTotals::default();
        totals.add(r#"{"requests":2,"tokens_in":900,"cost_usd":0.25,"resolved":"case","rejected":["refused","no_move","no_move"]}"#);
        totals.add(r#"{"requests":1,"tokens_in":8,"model":"m","depth":[1,{"a":2}],"resolved":"\u0063ase","fallback":"random"}"#);
        totals.add_outage();
        let json = serde_json::to_string(&totals).unwrap();
        let expected = r#"{"requests":3,"tokens_in":908,"cost_usd":0.25,"resolved_case":2,"rejected_no_move":2,"rejected_refused":1,"fallback_random":1,"outages":1}"#;
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<InfoTotals>(&json).unwrap(), totals);
        assert_eq!((totals.of("cost_usd"), totals.of("model")), (0.25, 0.0));
    }

    #[test]
    fn hostile_values_do_not_count() {
        let mut totals = InfoTotals::default();
        for info in [
            r#"{"requests":1e999,"tokens_in":-1,"tokens_out":1000000001,"cost_usd":"7","latency_ms":null}"#,
            r#"{"outages":5,"resolved":"","resolved_exact":3,"resolved":7,"rejected":[["refused"]],"rejected":{"refused":1}}"#,
            r#"{"":"","resolved":"exact_","rejected":[1,"refused"],"cached":NaN}"#,
            "[1]",
        ] {
            totals.add(info);
        }
        assert!(totals.is_empty(), "{totals:?}");
    }
}
