//! The options of an engine, as it declares them.

use crate::trouble::Trouble;

/// The values that an option accepts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Button,
    Check,
    /// An integer; each bound may be missing.
    Spin {
        min: Option<i64>,
        max: Option<i64>,
    },
    Real {
        min: Option<f64>,
        max: Option<f64>,
    },
    /// A choice among these values.
    Combo(Vec<String>),
    Text,
}

#[derive(Clone, Debug)]
pub(crate) struct EngineOption {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// Reports that an engine has no option of this name.
pub(crate) fn unknown(name: &str, known: &[&str]) -> Trouble {
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Trouble::option(format!("the engine has no option `{name}`: it has {known}"))
}

impl EngineOption {
    /// The option of this name; names differ in more than the case of letters.
    pub(crate) fn find<'a>(options: &'a [EngineOption], name: &str) -> Option<&'a EngineOption> {
        let exact = options.iter().find(|option| option.name == name);
        exact.or_else(|| options.iter().find(|option| option.name.eq_ignore_ascii_case(name)))
    }

    /// The option and the value that it gets, as the engine writes them; no value for a button.
    pub(crate) fn set<'a>(
        options: &'a [EngineOption],
        name: &str,
        value: Option<&str>,
    ) -> Result<(&'a EngineOption, Option<String>), Trouble> {
        let known = || options.iter().map(|option| &*option.name).collect::<Vec<_>>();
        let option = EngineOption::find(options, name).ok_or_else(|| unknown(name, &known()))?;
        let Some(value) = value.filter(|_| option.kind != Kind::Button) else {
            return match (&option.kind, value) {
                (Kind::Button, None | Some("")) => Ok((option, None)),
                (Kind::Button, Some(_)) => Err(Trouble::option(format!(
                    "the option `{}` of the engine is a button, which has no value",
                    option.name
                ))),
                // An empty text is a value.
                (Kind::Text, _) => Ok((option, Some(String::new()))),
                _ => Err(option.wrong("")),
            };
        };
        let is_within = |number: i64, min: &Option<i64>, max: &Option<i64>| {
            min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
        };
        let written = match &option.kind {
            Kind::Check => ["true", "false"].into_iter().find(|word| word.eq_ignore_ascii_case(value)),
            Kind::Spin { min, max } => {
                value.parse().is_ok_and(|number| is_within(number, min, max)).then_some(value)
            }
            Kind::Real { min, max } => {
                let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
                let is_within =
                    |number: f64| min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
                number.is_some_and(is_within).then_some(value)
            }
            Kind::Combo(words) => {
                words.iter().map(String::as_str).find(|word| word.eq_ignore_ascii_case(value))
            }
            Kind::Text | Kind::Button => Some(value),
        };
        // A line break would begin another command.
        let written = written.filter(|written| !written.contains(['\n', '\r']));
        let written = written.ok_or_else(|| option.wrong(value))?;
        Ok((option, Some(written.to_owned())))
    }

    fn wrong(&self, value: &str) -> Trouble {
        let range = |min: Option<String>, max: Option<String>| match (min, max) {
            (Some(min), Some(max)) => format!(" from {min} to {max}"),
            (Some(min), None) => format!(" from {min}"),
            (None, Some(max)) => format!(" up to {max}"),
            (None, None) => String::new(),
        };
        let expected = match &self.kind {
            Kind::Check => "`true` or `false`".to_owned(),
            Kind::Spin { min, max } => {
                format!("an integer{}", range(min.map(|n| n.to_string()), max.map(|n| n.to_string())))
            }
            Kind::Real { min, max } => {
                format!("a number{}", range(min.map(|n| n.to_string()), max.map(|n| n.to_string())))
            }
            Kind::Combo(words) => format!("one of `{}`", words.join("`, `")),
            Kind::Text | Kind::Button => "one line of text".to_owned(),
        };
        Trouble::option(format!("the option `{}` of the engine is {expected}, not `{value}`", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_as_the_engine_declares_them() {
        let options = [
            ("Clear Hash", Kind::Button),
            ("Hash", Kind::Spin { min: Some(1), max: Some(64) }),
            ("Ponder", Kind::Check),
            ("Style", Kind::Combo(vec!["Solid".to_owned(), "Risky one".to_owned()])),
            ("Book", Kind::Text),
        ];
        let options = options.map(|(name, kind)| EngineOption { name: name.to_owned(), kind });
        let set = |name, value| match EngineOption::set(&options, name, value) {
            Ok((option, value)) => Ok((option.name.clone(), value)),
            Err(error) => Err(error.to_string()),
        };
        let ok = |name: &str, value: Option<&str>| Ok((name.to_owned(), value.map(str::to_owned)));
        assert_eq!(set("clear hash", None), ok("Clear Hash", None));
        assert_eq!(set("hash", Some("64")), ok("Hash", Some("64")));
        assert_eq!(set("Style", Some("risky ONE")), ok("Style", Some("Risky one")));
        assert_eq!(set("Book", None), ok("Book", Some("")));
        for (name, value, what) in [
            ("Hahs", Some("1"), "no option `Hahs`: it has Clear Hash, Hash"),
            ("Hash", Some("65"), "an integer from 1 to 64, not `65`"),
            ("Hash", None, "an integer from 1 to 64"),
            ("Ponder", Some("yes"), "`true` or `false`"),
            ("Style", Some("Wild"), "one of `Solid`, `Risky one`"),
            ("Clear Hash", Some("1"), "a button"),
            ("Book", Some("a\nquit"), "one line"),
        ] {
            let error = set(name, value).unwrap_err();
            assert!(error.contains(what), "{error}");
        }
    }
}
