//! The names of bots and entrants.

use std::collections::HashMap;

use referee_protocol::limits;

/// Why a name is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It has other characters, or too many.
    #[error("a name has 1 to 64 characters: ASCII letters, digits, `.`, `_`, `-` and space")]
    Form,
    /// It could be taken for an option or a directory.
    #[error("a name begins with a letter, a digit or `_`")]
    Beginning,
    /// It is not unique.
    #[error("the name is not unique")]
    Taken,
    /// A reader could take it for another one.
    #[error("the name looks like `{0}`, which is another one")]
    LooksLike(String),
}

/// Checks the name of a bot in its `hello`.
///
/// # Errors
/// If it has other characters, or too many.
pub fn check_hello_name(name: &str) -> Result<(), NameError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._- ".contains(c);
    match (1..=limits::NAME).contains(&name.len()) && name.chars().all(is_plain) {
        true => Ok(()),
        false => Err(NameError::Form),
    }
}

/// Checks the name of a bot or an entrant. It must also serve as an argument on a command line and as a part of a URL.
///
/// # Errors
/// If it is not that of a `hello`, or begins with punctuation, as `-x`, `.` and `..` do.
pub fn check_name(name: &str) -> Result<(), NameError> {
    check_hello_name(name)?;
    match name.starts_with(['.', '-', ' ']) {
        true => Err(NameError::Beginning),
        false => Ok(()),
    }
}

/// What is left of a name when everything is removed that a reader may overlook: case, separators, and the difference
/// between characters that look alike (Unicode Technical Standard 39, and a few pairs of ASCII). Two names must not have the
/// same.
pub fn skeleton(name: &str) -> String {
    let seen = |c: char| match c.to_ascii_lowercase() {
        '.' | '_' | '-' | ' ' => None,
        '0' => Some('o'),
        '1' | 'i' => Some('l'),
        '5' => Some('s'),
        other => Some(other),
    };
    let seen: String = name.chars().filter_map(seen).collect();
    // The standard has `rn` for `m`, but no pair for `w`.
    unicode_security::skeleton(&seen).collect::<String>().replace('w', "vv")
}

/// The names of a tournament or a league: they are valid, and no two look alike.
#[derive(Debug, Default)]
pub struct NameSet(HashMap<String, String>);

impl NameSet {
    /// Adds a name.
    ///
    /// # Errors
    /// If it is invalid, or looks like another one.
    pub fn add(&mut self, name: &str) -> Result<(), NameError> {
        check_name(name)?;
        match self.0.insert(skeleton(name), name.to_owned()) {
            None => Ok(()),
            Some(other) if other == name => Err(NameError::Taken),
            Some(other) => Err(NameError::LooksLike(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_command_line_and_parts_of_addresses() {
        for name in ["alice", "A b_c.d-e", "_x", "7", &"x".repeat(64)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["", "é", "a/b", "a\n", &"x".repeat(65)] {
            assert_eq!(check_name(name), Err(NameError::Form), "{name}");
        }
        for name in [".", "..", "-", "--help", "-x", ".hidden", " ", " x"] {
            assert_eq!(check_name(name), Err(NameError::Beginning), "{name}");
            assert_eq!(check_hello_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_look_alike_are_refused() {
        for (one, other) in [
            ("alice", "Alice"),
            ("two", "TWO"),
            ("alice", "alice."),
            ("alice", "a l i c e"),
            ("alice", "a1ice"),
            ("bot-10", "bot_lO"),
            ("aIice", "alice"),
            ("us", "u5"),
            ("modern", "rnodern"),
            ("modern", "modem"),
            ("MODERN", "modem"),
            ("wave", "vvave"),
            ("Wave", "VVAVE"),
            ("vw", "vvv"),
        ] {
            let mut names = NameSet::default();
            names.add(one).unwrap();
            assert_eq!(names.add(other), Err(NameError::LooksLike(one.to_owned())), "{one} {other}");
        }
        let mut names = NameSet::default();
        for name in ["alice", "alice2", "bob", "n", "m", "v", "w"] {
            names.add(name).unwrap();
        }
        assert_eq!(names.add("bob"), Err(NameError::Taken));
    }
}
