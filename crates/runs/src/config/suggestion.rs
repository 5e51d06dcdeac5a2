//! The name that was meant.

/// An error such as "unknown field `fromat`, expected one of `name`, `format`", with the most similar name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WithSuggestion(String);

impl WithSuggestion {
    /// Adds the name.
    pub fn of(error: &impl std::error::Error) -> WithSuggestion {
        let error = error.to_string();
        let error = error.trim_end();
        let quoted =
            |text: &str| -> Vec<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
        let nearest = || {
            let (unknown, valid) = error[error.find("unknown ")?..].split_once("expected")?;
            let (unknown, valid) = (quoted(unknown).pop()?, quoted(valid));
            valid.into_iter().min_by_key(|name| strsim::damerau_levenshtein(&unknown, name))
        };
        WithSuggestion(match nearest() {
            Some(nearest) => format!("{error}\ndid you mean `{nearest}`?"),
            None => error.to_owned(),
        })
    }
}
