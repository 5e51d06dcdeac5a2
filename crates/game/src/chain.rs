//! Writes errors with their sources.

use std::error::Error;
use std::fmt;

/// An error and its sources, joined by `: `.
///
/// The message of an error of this repository does not contain its source. Messages of other crates may: a source with which
/// the message before it ends is not written again.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a>(pub &'a (dyn Error + 'a));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = self.0.to_string();
        f.write_str(&last)?;
        let mut next = self.0.source();
        while let Some(source) = next {
            let text = source.to_string();
            if !last.ends_with(&text) {
                write!(f, ": {text}")?;
                last = text;
            }
            next = source.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wrong;

    /// An error of another crate, whose message contains its source.
    #[derive(Debug)]
    struct Repeating(fmt::Error);

    impl fmt::Display for Repeating {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "not written: {}", self.0)
        }
    }

    impl Error for Repeating {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn an_error_is_written_with_its_sources() {
        let error = Wrong::at("records", Wrong::at("m1.jsonl", fmt::Error));
        let what = "an error occurred when formatting an argument";
        assert_eq!(Chain(&error).to_string(), format!("records: m1.jsonl: {what}"));
    }

    #[test]
    fn a_source_that_the_message_contains_is_written_once() {
        let error = Wrong::at("records", Repeating(fmt::Error));
        let what = "an error occurred when formatting an argument";
        assert_eq!(Chain(&error).to_string(), format!("records: not written: {what}"));
    }
}
