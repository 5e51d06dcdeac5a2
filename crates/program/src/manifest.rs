//! `game.toml`: the description of a game.

use std::collections::BTreeMap;

use referee_game::Wrong;
use referee_game::disguise::Vocabulary;
use referee_game::seat::{MAX_SEATS, Seating};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::position::is_plain;
use crate::{MOST_UNLISTED_MOVE, PROTOCOL};

/// The longest limit, in milliseconds.
const LONGEST_MS: u64 = 60_000;
/// The longest id and other word, in characters.
const LONGEST_NAME: usize = 40;
/// The longest unit of amounts, in characters.
const LONGEST_UNIT: usize = 20;
/// The longest title, in characters.
const LONGEST_TITLE: usize = 80;

/// The description of a game, from `game.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the messages between referee and program.
    pub protocol: u32,
    /// The id in messages, records and on the command line: lower-case letters, digits and `_`, beginning with a letter.
    pub id: String,
    pub title: String,
    /// The version of the rules. It changes when the same moves could lead to a different position.
    pub version: u32,
    command: Option<String>,
    wasm: Option<String>,
    /// The numbers of seats; the first is the default.
    seats: SeatCounts,
    /// Whether the game has hidden information.
    #[serde(default)]
    pub hidden: bool,
    #[serde(default)]
    pub chance: bool,
    /// Whether several seats may have to decide simultaneously.
    #[serde(default)]
    pub simultaneous: bool,
    /// Whether the sides may agree on a draw.
    #[serde(default)]
    pub draws_by_agreement: bool,
    /// The unit of the amounts that sides get; `None` if results are ranks alone.
    pub amounts: Option<String>,
    /// Whether the program imagines positions that agree with a view.
    #[serde(default)]
    pub imagine: bool,
    /// Whether the program checks moves: a decision may come without the list of its legal moves.
    #[serde(default)]
    pub check: bool,
    /// The notations in which the program writes matches.
    #[serde(default)]
    pub export: Vec<String>,
    /// Moves of which one is legal in every decision without a list, for checks: the game is played with them.
    #[serde(default)]
    pub sample_moves: Vec<String>,
    /// The default number of random opening plies; `None` if matches cannot begin with an opening.
    pub openings: Option<u32>,
    /// The words that a disguise replaces.
    pub disguise: Option<Vocabulary>,
    /// The identifiers of the rules that end a match.
    pub reasons: Vec<String>,
    #[serde(default)]
    pub options: BTreeMap<String, OptionManifest>,
    /// The file with the rules page, in Markdown.
    pub rules: Option<String>,
    /// The file with the JSON Schemas of views, moves and events.
    pub schema: Option<String>,
    /// The files and directories that a record identifies beside those of the program; `None` for all.
    pub files: Option<Vec<String>>,
    /// The time limit of the first answer of a process, in milliseconds. The instructions of a module are limited
    /// accordingly.
    #[serde(default = "start_limit_ms")]
    pub start_limit_ms: u64,
    /// The time limit of the other answers, in milliseconds.
    #[serde(default = "limit_ms")]
    pub limit_ms: u64,
}

/// The program that answers the requests of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestProgram<'a> {
    /// A process: its command line, seen from the directory.
    Command(&'a str),
    /// A WebAssembly module: its file.
    Wasm(&'a str),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionManifest {
    /// The value if none is given.
    pub default: Value,
    /// The effect and range.
    pub help: String,
}

fn start_limit_ms() -> u64 {
    10_000
}

fn limit_ms() -> u64 {
    1_000
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a number, or a list such as [{ seats = 4, sides = 2 }]")]
enum SeatCounts {
    /// Seats on a side of their own each.
    Count(u8),
    Several(Vec<SeatCount>),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
enum SeatCount {
    /// Seats on a side of their own each.
    Count(u8),
    Teams {
        seats: u8,
        sides: u8,
    },
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Names the key, the defect and the expected value.
    pub fn read(text: &str) -> Result<Manifest, Wrong> {
        let manifest: Manifest =
            toml::from_str(text).map_err(|why| Wrong::from(why.to_string().trim_end().to_owned()))?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), Wrong> {
        if self.protocol != PROTOCOL {
            return Err(format!("protocol: {} is not known here, only {PROTOCOL}", self.protocol).into());
        }
        self.try_program()?;
        let is_text = |text: &str, longest| {
            (1..=longest).contains(&text.chars().count()) && !text.contains(char::is_control)
        };
        if !is_text(&self.title, LONGEST_TITLE) {
            return Err(format!("title: expected 1 to {LONGEST_TITLE} characters").into());
        }
        if self.amounts.as_ref().is_some_and(|unit| !is_text(unit, LONGEST_UNIT)) {
            return Err(format!(
                "amounts: expected the unit, such as \"chips\", with 1 to {LONGEST_UNIT} characters"
            )
            .into());
        }
        if self.amounts.is_some() && self.draws_by_agreement {
            return Err("amounts: a game with `draws_by_agreement` has none".into());
        }
        if self.command.is_some() && self.files.as_ref().is_some_and(Vec::is_empty) {
            return Err(
                "files: expected at least one, such as the program; without the key all files of the \
                 directory count"
                    .into(),
            );
        }
        self.try_seatings()?;
        if self.reasons.is_empty() {
            return Err("reasons: expected at least one word, such as \"won\"".into());
        }
        let reasons = self.reasons.iter().map(|word| ("reasons", word));
        let options = self.options.keys().map(|word| ("options", word));
        let forms = self.export.iter().map(|word| ("export", word));
        for (key, word) in [("id", &self.id)].into_iter().chain(reasons).chain(options).chain(forms) {
            if !is_name(word) {
                return Err(format!(
                    "{key}: `{}`; expected lower-case letters, digits and `_`, beginning with a letter, at \
                     most {LONGEST_NAME}",
                    word.escape_debug()
                )
                .into());
            }
        }
        if let Some((name, _)) = self.options.iter().find(|(_, option)| !is_json(&option.default)) {
            return Err(format!(
                "options.{name}: `default` has a date or a number that is not finite; expected a text, a \
                 number, true, false, a list or a table"
            )
            .into());
        }
        if self.openings.is_some() && (self.hidden || self.chance || self.simultaneous || self.check) {
            return Err(
                "openings: only games without `hidden`, `chance`, `simultaneous` and `check` have them"
                    .into(),
            );
        }
        if self.check && self.seatings().iter().any(|seating| seating.sides() > 2) {
            return Err("check: only games with two sides have it".into());
        }
        let is_move = |text: &String| is_plain(text) && text.len() <= MOST_UNLISTED_MOVE;
        if self.sample_moves.iter().any(|text| !self.check || !is_move(text)) {
            return Err(format!(
                "sample_moves: only games with `check` have them, as printable ASCII without quote and \
                 backslash, 1 to {MOST_UNLISTED_MOVE} bytes each"
            )
            .into());
        }
        for (key, ms) in [("limit_ms", self.limit_ms), ("start_limit_ms", self.start_limit_ms)] {
            if !(1..=LONGEST_MS).contains(&ms) {
                return Err(format!("{key}: {ms}; expected 1 to {LONGEST_MS}").into());
            }
        }
        Ok(())
    }

    fn try_program(&self) -> Result<ManifestProgram<'_>, Wrong> {
        match (&self.command, &self.wasm) {
            (Some(command), None) => Ok(ManifestProgram::Command(command)),
            (None, Some(wasm)) => Ok(ManifestProgram::Wasm(wasm)),
            (Some(_), Some(_)) | (None, None) => Err("expected either `command` or `wasm`".into()),
        }
    }

    /// The program that answers the requests.
    pub fn program(&self) -> ManifestProgram<'_> {
        self.try_program().unwrap_or_else(|what| unreachable!("it was checked: {what}"))
    }

    fn try_seatings(&self) -> Result<Vec<Seating>, Wrong> {
        let counts = match &self.seats {
            &SeatCounts::Count(count) => &[SeatCount::Count(count)][..],
            SeatCounts::Several(counts) => counts,
        };
        let mut seatings: Vec<Seating> = Vec::new();
        for &count in counts {
            let (seats, sides) = match count {
                SeatCount::Count(count) => (count, count),
                SeatCount::Teams { seats, sides } => (seats, sides),
            };
            if !(2..=MAX_SEATS as u8).contains(&seats) || sides < 2 || !seats.is_multiple_of(sides) {
                return Err(format!(
                    "seats: {seats} in {sides} sides; expected 2 to {MAX_SEATS} in 2 or more sides of equal \
                     size"
                )
                .into());
            }
            if seatings.iter().any(|seating| seating.seats() == usize::from(seats)) {
                return Err(format!("seats: {seats} is there twice").into());
            }
            seatings.push(Seating::new(seats, sides));
        }
        if seatings.is_empty() { Err("seats: expected at least one number".into()) } else { Ok(seatings) }
    }

    /// The supported numbers of seats and sides.
    pub fn seatings(&self) -> Vec<Seating> {
        self.try_seatings().unwrap_or_else(|what| unreachable!("it was checked: {what}"))
    }

    /// The options with their defaults.
    pub fn defaults(&self) -> Map<String, Value> {
        self.options.iter().map(|(name, option)| (name.clone(), option.default.clone())).collect()
    }
}

/// Returns whether a value of TOML is the same in JSON. Dates become tables with a key of the parser's own,
/// and numbers that are not finite null.
fn is_json(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(values) => values.iter().all(is_json),
        Value::Object(fields) => {
            fields.iter().all(|(key, value)| key != "$__toml_private_datetime" && is_json(value))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.len() <= LONGEST_NAME
        && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "protocol = 1\nid = \"toy\"\ntitle = \"Toy\"\nversion = 1\ncommand = \"./toy\"\nreasons = [\"won\"]\n";

    fn read(more: &str) -> Result<Manifest, Wrong> {
        Manifest::read(&format!("{PLAIN}{more}"))
    }

    fn refusal(more: &str) -> String {
        read(more).unwrap_err().to_string()
    }

    #[test]
    fn seats_are_a_number_several_or_teams() {
        assert_eq!(read("seats = 3").unwrap().seatings(), [Seating::new(3, 3)]);
        let several = read("seats = [2, { seats = 4, sides = 2 }]").unwrap();
        assert_eq!(several.seatings(), [Seating::new(2, 2), Seating::new(4, 2)]);
    }

    #[test]
    fn options_have_defaults_of_any_type() {
        let manifest = read("seats = 2\n[options.size]\ndefault = 7\nhelp = \"The size\"").unwrap();
        assert_eq!(Value::from(manifest.defaults()), serde_json::json!({ "size": 7 }));
        assert_eq!([manifest.start_limit_ms, manifest.limit_ms], [10_000, 1000]);
    }

    #[test]
    fn errors_name_the_key() {
        assert!(refusal("").contains("`seats`"));
        assert!(refusal("seats = 2\nfiles = []").contains("files: expected at least one"));
        assert!(refusal("seats = 7").contains("seats: 7 in 7 sides; expected 2 to 6"));
        assert!(refusal("seats = []").contains("at least one"));
        let table = refusal("seats = { seats = 4, sides = 2 }");
        assert!(
            table.contains("seats") && table.contains("a list such as [{ seats = 4, sides = 2 }]"),
            "{table}"
        );
        for default in ["2026-01-02", "12:30:00", "nan", "inf", "[1, -inf]", "{ at = 2026-01-02T03:04:05Z }"]
        {
            let refusal = refusal(&format!("seats = 2\n[options.size]\ndefault = {default}\nhelp = \"\""));
            assert!(
                refusal.contains("options.size: `default` has a date or a number that is not finite"),
                "{refusal}"
            );
        }
        assert!(refusal("seats = [2, 2]").contains("twice"));
        assert!(refusal("seats = 2\namounts = \"\"").contains("amounts: expected the unit"));
        assert!(refusal("seats = 2\namounts = \"a\\nb\"").contains("amounts: expected the unit"));
        assert!(
            refusal("seats = 2\namounts = \"chips\"\ndraws_by_agreement = true")
                .contains("amounts: a game with `draws_by_agreement`")
        );
        assert!(refusal("seats = 2\nhiden = true").contains("`hiden`"));
        assert!(refusal("seats = 2\nexport = [\"SGF\"]").contains("export: `SGF`; expected lower-case"));
        assert!(refusal("seats = 2\nlimit_ms = 0").contains("limit_ms: 0; expected 1 to 60000"));
        assert!(refusal("seats = 2\nchance = true\nopenings = 2").contains("openings"));
        assert!(refusal("seats = 2\ncheck = true\nopenings = 2").contains("openings"));
        assert!(refusal("seats = [2, 3]\ncheck = true").contains("check: only games with two sides"));
        assert!(
            refusal("seats = 2\nsample_moves = [\"a\"]").contains("sample_moves: only games with `check`")
        );
        assert!(refusal("seats = 2\ncheck = true\nsample_moves = [\"\"]").contains("sample_moves"));
        let other = |from: &str, to: &str| {
            Manifest::read(&format!("{PLAIN}seats = 2").replace(from, to)).unwrap_err().to_string()
        };
        assert!(other("protocol = 1", "protocol = 2").contains("only 1"));
        assert!(other("command = \"./toy\"", "").contains("either `command` or `wasm`"));
        assert!(refusal("seats = 2\nwasm = \"toy.wasm\"").contains("either `command` or `wasm`"));
        assert!(other("\"toy\"", "\"To/y\"").contains("id: `To/y`"));
        assert!(other("[\"won\"]", "[]").contains("reasons"));
        assert!(other("[\"won\"]", "[\"A\\u001b\"]").contains("reasons: `A\\u{1b}`"));
    }
}
