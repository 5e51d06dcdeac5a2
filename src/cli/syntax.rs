//! How options are written where they were given, for error messages.

use std::fmt::Display;

/// An option that the command line and the tournament file have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionName {
    pub(super) flag: &'static str,
    pub(super) key: &'static str,
}

/// Where options were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// On the command line.
    Flags,
    /// In a tournament file.
    Keys,
}

impl Syntax {
    /// The option as it is named there.
    pub(super) fn name(self, option: OptionName) -> &'static str {
        match self {
            Syntax::Flags => option.flag,
            Syntax::Keys => option.key,
        }
    }

    /// The option with a value as it is written there.
    pub(super) fn with_value(self, option: OptionName, value: impl Display) -> String {
        match self {
            Syntax::Flags => format!("{} {value}", option.flag),
            Syntax::Keys => format!("{} = {value}", option.key),
        }
    }
}

/// Adds the most similar name to an error such as "unknown field `fromat`, expected one of `name`, `format`".
pub(super) fn suggest(error: &str) -> String {
    let error = error.trim_end();
    let quoted =
        |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let Some((unknown, valid)) = error
        .find("unknown ")
        .and_then(|at| error[at..].split_once("expected"))
        .and_then(|(unknown, valid)| Some((quoted(unknown).pop()?, quoted(valid))))
    else {
        return error.to_owned();
    };
    match valid.iter().min_by_key(|name| strsim::damerau_levenshtein(&unknown, name)) {
        Some(nearest) => format!("{error}\ndid you mean `{nearest}`?"),
        None => error.to_owned(),
    }
}
