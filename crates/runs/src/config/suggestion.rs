//! The name that was meant.

use std::fmt::Display;

use referee_game::Wrong;

/// Returns the words in backticks.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// An error such as "unknown field `fromat`, expected one of `name`, `format`", with the most similar name.
pub fn with_suggestion(error: &impl Display) -> Wrong {
    let error = error.to_string();
    let error = error.trim_end();
    let nearest = || {
        let (unknown, valid) = error[error.find("unknown ")?..].split_once("expected")?;
        let unknown = quoted(unknown).last()?;
        quoted(valid).min_by_key(|name| strsim::damerau_levenshtein(unknown, name))
    };
    match nearest() {
        // TOML itself has no key twice.
        None if error.contains("duplicate field `command`") => {
            format!("{error}\n`engine` stands in place of `command`: give one of them").into()
        }
        Some(nearest) => format!("{error}\ndid you mean `{nearest}`?").into(),
        None => error.to_owned().into(),
    }
}
