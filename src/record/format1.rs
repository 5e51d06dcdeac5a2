//! Records of format 1, which is read but no longer written. It contains sentences where later formats have
//! identifiers with parameters.
//!
//! The code beside a sentence determines its meaning, except for four sentences that are frozen here: `ready` did not
//! arrive, too many messages in the wrong state, the referee was paused, and there was no opening. A replay compares every byte except the sentences.

use referee_protocol::Text;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::game::json;
use crate::referee::{AbortReason, Detail, Limits};

/// The number of this format.
pub(super) const FORMAT: u32 = 1;

/// The beginning of the sentence for a missing `ready`, in `no_start`.
const NOT_READY: &str = "no `ready` within ";

/// The beginnings of the sentences of two reasons for `abort`.
const PAUSED: &str = "the referee was paused for more than ";
const NO_OPENING: &str = "no opening of length ";

/// The sentence for too many messages in the wrong state, in `protocol`.
const STRAYS: &str = "more than 20 messages out of their state";

/// A value that can be parsed from a sentence.
pub(super) trait FromWords {
    /// Parses a sentence of format 1.
    fn from_words(text: String) -> Self;
}

impl FromWords for Detail {
    fn from_words(text: String) -> Detail {
        if text == STRAYS {
            return Detail::Strays { most: Limits::FORMAT_1.strays };
        }
        let limit = text.strip_prefix(NOT_READY).and_then(|rest| rest.strip_suffix(" ms")?.parse().ok());
        limit.map_or(Detail::Other { text }, |limit_ms| Detail::NotReady { limit_ms, received: None })
    }
}

impl FromWords for AbortReason {
    fn from_words(text: String) -> AbortReason {
        let paused = || {
            let seconds: u64 = text.strip_prefix(PAUSED)?.strip_suffix(" s")?.parse().ok()?;
            Some(AbortReason::Paused { most_ms: seconds.checked_mul(1000)? })
        };
        let no_opening = || {
            let (plies, tries) = text.strip_prefix(NO_OPENING)?.split_once(" in ")?;
            let tries = tries.split_once(' ')?.0;
            Some(AbortReason::NoOpening { plies: plies.parse().ok()?, tries: tries.parse().ok()? })
        };
        paused().or_else(no_opening).unwrap_or(AbortReason::Other { text })
    }
}

/// Parses a value, or a sentence of format 1.
pub(super) fn read_or_words<T: DeserializeOwned + FromWords>(json: &RawValue) -> Result<T, String> {
    let read = match json.get().starts_with('"') {
        true => serde_json::from_str(json.get()).map(T::from_words),
        false => serde_json::from_str(json.get()),
    };
    read.map_err(|error| error.to_string())
}

/// The fields of a line that may contain a sentence.
#[derive(Deserialize)]
struct SentenceFields<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    detail: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
    #[serde(borrow)]
    fault: Option<WordedFault<'a>>,
}

#[derive(Deserialize)]
struct WordedFault<'a> {
    #[serde(borrow)]
    detail: Option<&'a RawValue>,
}

/// Whether a recorded line equals the written one, ignoring the sentence in it.
pub(super) fn is_same(recorded: &[u8], written: &[u8]) -> bool {
    // Format 1 escaped fewer characters.
    let escaped = |line| std::str::from_utf8(line).map(json::escaped);
    let (Ok(recorded), Ok(written)) = (escaped(recorded), escaped(written)) else { return false };
    let (recorded, written) = (recorded.as_bytes(), written.as_bytes());
    recorded == written
        || around_the_sentence(recorded)
            .zip(around_the_sentence(written))
            .is_some_and(|(recorded, written)| recorded == written)
}

/// Returns the parts of a line before and after its sentence; `None` without a sentence.
fn around_the_sentence(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let worded: SentenceFields<'_> = serde_json::from_slice(line).ok()?;
    let sentence = match &*worded.kind {
        "fault" => worded.detail,
        "abort" => worded.reason,
        "result" => worded.fault?.detail,
        _ => None,
    }?;
    let begin = sentence.get().as_ptr().addr() - line.as_ptr().addr();
    Some((&line[..begin], &line[begin + sentence.get().len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_old_aborts_are_read_from_their_sentences() {
        let paused = AbortReason::Paused { most_ms: 60_000 };
        assert_eq!(AbortReason::from_words("the referee was paused for more than 60 s".to_owned()), paused);
        let text = "no opening of length 8 in 1000 tries, each ended the match; make it shorter".to_owned();
        assert_eq!(AbortReason::from_words(text), AbortReason::NoOpening { plies: 8, tries: 1000 });
        let text = "no opening at all".to_owned();
        assert_eq!(AbortReason::from_words(text.clone()), AbortReason::Other { text });
    }
}
