//! Names of players.

use std::fmt;

/// The maximum length of a version in a name, in characters.
const VERSION: usize = 32;

/// A player: a bot, or a version of it. As text `NAME` or `NAME@VERSION`; a name of a bot contains no `@`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    pub bot: String,
    /// The version, from its `hello`.
    pub version: Option<String>,
}

impl Name {
    /// The player for a bot that states this version. Characters other than ASCII letters, digits, `.`, `_`, `-` and
    /// `+` become `-`, and at most 32 are kept; an empty version is none.
    pub fn of(bot: &str, version: Option<&str>) -> Name {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-+".contains(c) { c } else { '-' };
        let version = version.map(|text| text.trim().chars().take(VERSION).map(plain).collect());
        Name { bot: bot.to_owned(), version: version.filter(|text: &String| !text.is_empty()) }
    }

    pub fn parse(text: &str) -> Name {
        match text.split_once('@') {
            Some((bot, version)) => Name::of(bot, Some(version)),
            None => Name::of(text, None),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{}@{version}", self.bot),
            None => f.write_str(&self.bot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_part_of_the_name_of_a_player() {
        let texts = [
            (Some("1.2"), "alice@1.2"),
            (Some("v1 (beta)"), "alice@v1--beta-"),
            (Some("a@b\u{7}\u{e9}"), "alice@a-b--"),
            (Some("  "), "alice"),
            (None, "alice"),
        ];
        for (version, text) in texts {
            let name = Name::of("alice", version);
            assert_eq!(name.to_string(), text);
            assert_eq!(Name::parse(text), name);
        }
        assert_eq!(Name::of("alice", Some(&"9".repeat(99))).to_string().len(), "alice@".len() + VERSION);
    }
}
