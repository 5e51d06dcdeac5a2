//! The names of bots and entrants: ids in ASCII, and what people see instead.

use std::collections::HashMap;
use std::fmt;

use crate::Wrong;
use referee_protocol::limits;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{UnicodeNormalization, is_nfc};
use unicode_security::GeneralSecurityProfile;

const FORM: Wrong =
    Wrong::new("a name has 1 to 64 characters: ASCII letters, digits, `.`, `_`, `-` and space");
const BEGINNING: Wrong = Wrong::new("a name begins with a letter, a digit or `_`");
const DISPLAY_FORM: Wrong = Wrong::new(
    "a display name has 1 to 64 characters in NFC: letters and digits that Unicode recommends for names, single spaces, and \
     any of .,'\u{2019}&()+-_!?",
);
const TAKEN: Wrong = Wrong::new("the name is not unique");

fn looks_like(other: &str) -> Wrong {
    format!("the name looks like `{other}`, which is another one").into()
}

/// Checks the name of a bot in its `hello`.
///
/// # Errors
/// If it has other characters, or too many.
pub fn check_hello_name(name: &str) -> Result<(), Wrong> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._- ".contains(c);
    match (1..=limits::NAME).contains(&name.len()) && name.chars().all(is_plain) {
        true => Ok(()),
        false => Err(FORM),
    }
}

/// Checks the name of a bot or an entrant. It must also serve as an argument on a command line and as a part of a URL.
///
/// # Errors
/// If it is not that of a `hello`, or begins with punctuation, as `-x`, `.` and `..` do.
pub fn check_name(name: &str) -> Result<(), Wrong> {
    check_hello_name(name)?;
    match name.starts_with(['.', '-', ' ']) {
        true => Err(BEGINNING),
        false => Ok(()),
    }
}

/// Checks a display name: what people see instead of a name. Letters are those that Unicode Technical Standard 39 allows in
/// identifiers, so nothing is invisible, changes the direction of text or piles up marks.
///
/// # Errors
/// If it has other characters or too many, or begins with punctuation.
pub fn check_display_name(name: &str) -> Result<(), Wrong> {
    let is_allowed = |c: char| c.identifier_allowed() || " .,'\u{2019}&()+-_!?".contains(c);
    let is_long = name.chars().count() > limits::NAME;
    let mut marks = 0;
    let is_piled = name.chars().any(|c| {
        marks = if is_combining_mark(c) { marks + 1 } else { 0 };
        marks > MOST_MARKS
    });
    let is_spaced = name.contains("  ") || name.ends_with(' ');
    if name.is_empty() || is_long || is_piled || is_spaced || !is_nfc(name) || !name.chars().all(is_allowed) {
        return Err(DISPLAY_FORM);
    }
    match name.starts_with(char::is_alphanumeric) {
        true => Ok(()),
        false => Err(BEGINNING),
    }
}

/// The maximum number of combining marks in a row (Unicode Technical Standard 39, section 5.4).
const MOST_MARKS: u32 = 4;

/// Reduces a name to its visible letters: case, separators, and the difference between characters that look
/// alike (Unicode Technical Standard 39, and a few pairs of ASCII). Two names must not have the same.
pub fn skeleton(name: &str) -> String {
    let seen = |c: char| match c {
        '.' | '_' | '-' | ' ' => None,
        '0' => Some('o'),
        '1' | 'i' => Some('l'),
        '5' => Some('s'),
        other => Some(other),
    };
    // Capitals of other scripts look like capitals of Latin, and small letters that look alike may come of them.
    let folded = |text: &str| -> String {
        let alike = unicode_security::skeleton(text).collect::<String>().to_lowercase();
        alike.chars().filter_map(seen).collect()
    };
    // The standard has `rn` for `m`, but no pair for `w`.
    folded(&folded(name)).replace('w', "vv")
}

/// Derives an id from a name: its letters and digits in lower case, without accents, and `-` between words. Returns the letters
/// and digits that the id lacks, too, because they have no form in ASCII.
pub fn derived_id(name: &str) -> (String, String) {
    let plain: String = name.nfkd().filter(|&c| !is_combining_mark(c)).collect();
    let words: Vec<&str> =
        plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let lost = plain.chars().filter(|c| c.is_alphanumeric() && !c.is_ascii()).collect();
    (words.join("-").to_ascii_lowercase(), lost)
}

/// Says that a name is taken, or how it differs from one that is.
#[derive(Clone, Copy, Debug)]
pub struct Likeness<'a> {
    given: &'a str,
    taken: &'a str,
}

impl<'a> Likeness<'a> {
    /// Compares a name with one that is taken.
    pub fn of(given: &'a str, taken: &'a str) -> Likeness<'a> {
        Likeness { given, taken }
    }
}

impl fmt::Display for Likeness<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Likeness { given, taken } = *self;
        if given == taken {
            return write!(f, "`{given}` is taken");
        }
        // Letters that other alphabets share with ASCII look the same.
        let others = |name: &str| -> String {
            let others: Vec<String> = name.chars().filter(|c| !c.is_ascii()).map(in_code).collect();
            if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) }
        };
        write!(f, "`{given}`{} looks like `{taken}`{}, which is taken", others(given), others(taken))
    }
}

fn in_code(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// The names of a tournament or a league: they are valid, and no two look alike.
#[derive(Debug, Default)]
pub struct NameSet(HashMap<String, String>);

impl NameSet {
    /// Adds a name.
    ///
    /// # Errors
    /// If it is invalid, or looks like another one.
    pub fn add(&mut self, name: &str) -> Result<(), Wrong> {
        check_name(name)?;
        match self.0.insert(skeleton(name), name.to_owned()) {
            None => Ok(()),
            Some(other) if other == name => Err(TAKEN),
            Some(other) => Err(looks_like(&other)),
        }
    }

    /// Adds the display name of a name that was added.
    ///
    /// # Errors
    /// If it is invalid, or looks like the name or the display name of another one.
    pub fn add_display(&mut self, name: &str, display: &str) -> Result<(), Wrong> {
        check_display_name(display)?;
        match self.0.get(&skeleton(display)) {
            Some(other) if other != name => Err(looks_like(other)),
            _ => {
                self.0.insert(skeleton(display), name.to_owned());
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_command_line_and_parts_of_addresses() {
        for name in ["alice", "A b_c.d-e", "_x", "7", &"x".repeat(64)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["", "é", "a/b", "a\n", &"x".repeat(65)] {
            assert_eq!(check_name(name), Err(FORM), "{name}");
        }
        for name in [".", "..", "-", "--help", "-x", ".hidden", " ", " x"] {
            assert_eq!(check_name(name), Err(BEGINNING), "{name}");
            assert_eq!(check_hello_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn what_makes_a_name_look_like_another_one_is_named() {
        let says = |given, taken| Likeness::of(given, taken).to_string();
        assert_eq!(says("mia", "mia"), "`mia` is taken");
        assert_eq!(says("Mia", "mia"), "`Mia` looks like `mia`, which is taken");
        let cyrillic = "m\u{456}a";
        assert_eq!(says(cyrillic, "mia"), format!("`{cyrillic}` (U+0456) looks like `mia`, which is taken"));
        assert_eq!(says("mia", cyrillic), format!("`mia` looks like `{cyrillic}` (U+0456), which is taken"));
    }

    #[test]
    fn display_names_are_words_in_any_script_without_tricks() {
        for name in ["Alice Liddell", "Zo\u{eb}", "\u{5f20}\u{4f1f}", "O\u{2019}Neill & Co. (B)"] {
            assert_eq!(check_display_name(name), Ok(()), "{name}");
        }
        let hostile = [
            "",
            " a",
            "a ",
            "a  b",
            "a\u{202e}b",
            "a\u{200b}b",
            "a\nb",
            "Zoe\u{308}",
            &"x".repeat(65),
            "<b>",
            &format!("a{}", "\u{323}".repeat(5)),
            "\u{1f600}",
        ];
        for name in hostile {
            assert!(check_display_name(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_display_name_imitates_no_other_entrant() {
        let mut names = NameSet::default();
        names.add("alice").unwrap();
        names.add("bob").unwrap();
        assert_eq!(names.add_display("alice", "Alice"), Ok(()), "its own");
        assert_eq!(names.add_display("bob", "\u{430}lice"), Err(looks_like("alice")), "in Cyrillic");
        for capital in ["\u{410}lice", "\u{391}LICE", "AL\u{406}CE"] {
            assert_eq!(
                names.add_display("bob", capital),
                Err(looks_like("alice")),
                "{capital}: a capital of Cyrillic or Greek"
            );
        }
        assert_eq!(names.add_display("alice", "Ms. Liddell"), Ok(()));
        assert_eq!(names.add_display("bob", "MsLiddell"), Err(looks_like("alice")));
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
            ("MlDDLE", "middIe"),
        ] {
            let mut names = NameSet::default();
            names.add(one).unwrap();
            assert_eq!(names.add(other), Err(looks_like(one)), "{one} {other}");
        }
        let mut names = NameSet::default();
        for name in ["alice", "alice2", "bob", "n", "m", "v", "w"] {
            names.add(name).unwrap();
        }
        assert_eq!(names.add("bob"), Err(TAKEN));
    }
}
