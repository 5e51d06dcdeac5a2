//! Engines that speak a dialect of their field instead of the protocol: `uci:stockfish?Hash=16` in place of a program.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use referee_game::Wrong;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Universal Chess Interface.
    Uci,
    /// Chess Engine Communication Protocol, version 2.
    Xboard,
    /// Universal Shogi Interface.
    Usi,
    /// Go Text Protocol, version 2.
    Gtp,
    /// Hub 2, of draughts.
    Hub,
}

impl Dialect {
    pub const ALL: [Dialect; 5] = [Dialect::Uci, Dialect::Xboard, Dialect::Usi, Dialect::Gtp, Dialect::Hub];

    /// The word for it on a command line.
    pub const fn word(self) -> &'static str {
        match self {
            Dialect::Uci => "uci",
            Dialect::Xboard => "xboard",
            Dialect::Usi => "usi",
            Dialect::Gtp => "gtp",
            Dialect::Hub => "hub",
        }
    }

    /// The dialect of a program such as `uci:stockfish`, and what follows.
    fn prefix(program: &str) -> Option<(Dialect, &str)> {
        let (word, rest) = program.split_once(':')?;
        Some((Dialect::ALL.into_iter().find(|dialect| dialect.word().eq_ignore_ascii_case(word))?, rest))
    }
}

/// Limits of an engine's search for a move, instead of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The number of positions to search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    /// The time for each move, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movetime: Option<u64>,
}

impl Budget {
    /// Sets the part of this name: `nodes`, `depth` or `movetime`; `None` if there is no such part.
    fn part(&mut self, name: &str) -> Option<&mut Option<u64>> {
        match name {
            "nodes" => Some(&mut self.nodes),
            "depth" => Some(&mut self.depth),
            "movetime" => Some(&mut self.movetime),
            _ => None,
        }
    }

    /// Sets a part from its text, `nodes=1000`.
    ///
    /// # Errors
    /// If there is no such part, or its value is no number from 1.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Wrong> {
        let invalid = || {
            let expected = "it is nodes=N, depth=N or movetime=MS, with a number from 1";
            Wrong::from(format!("`{name}={value}` is no budget: {expected}"))
        };
        let part = self.part(name).ok_or_else(invalid)?;
        *part = Some(value.parse().ok().filter(|&number| number > 0).ok_or_else(invalid)?);
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineCommand {
    pub dialect: Dialect,
    /// The program of the engine and its arguments.
    pub argv: Vec<String>,
    /// The options that it gets, in order; without a value, a button.
    pub options: Vec<(String, Option<String>)>,
    pub budget: Budget,
    /// Whether the engine thinks while the opponent does.
    pub ponder: bool,
}

impl EngineCommand {
    /// The engine that a command line names, `uci:PROGRAM?NAME=VALUE&BUTTON ARGUMENTS...`; `None` if it names a bot. Program,
    /// names and values may be percent-encoded. The names `nodes`, `depth`, `movetime` and `ponder` are those of the bridge,
    /// unless a letter of them is encoded.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn of(argv: &[String]) -> Result<Option<EngineCommand>, Wrong> {
        let Some((dialect, rest)) = argv.first().and_then(|program| Dialect::prefix(program)) else {
            return Ok(None);
        };
        let (program, query) = rest.split_once('?').unwrap_or((rest, ""));
        if program.is_empty() {
            let word = dialect.word();
            return Err(
                format!("`{word}:` names no engine: its program follows, as in `{word}:./engine`").into()
            );
        }
        let argv = std::iter::once(decode(program)).chain(argv[1..].iter().cloned().map(Ok));
        let argv = argv.collect::<Result<_, _>>()?;
        let mut engine =
            EngineCommand { dialect, argv, options: Vec::new(), budget: Budget::default(), ponder: false };
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) =
                part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)));
            let value = value.map(decode).transpose()?;
            match (name, value) {
                ("", _) => return Err(Wrong::new("an option of an engine has no name")),
                ("ponder", None) => engine.ponder = true,
                ("ponder", Some(value)) => {
                    engine.ponder =
                        value.parse().map_err(|_| format!("`ponder={value}`: it is `true` or `false`"))?;
                }
                (name, value) if Budget::default().part(name).is_some() => {
                    engine.budget.set(name, &value.unwrap_or_default())?;
                }
                (name, value) => engine.options.push((decode(name)?, value)),
            }
        }
        Ok(Some(engine))
    }

    /// The command line that [`EngineCommand::of`] reads.
    pub fn to_argv(&self) -> Vec<String> {
        let [program, arguments @ ..] = &self.argv[..] else { return Vec::new() };
        let mut first = format!("{}:{}", self.dialect.word(), encode(program, "?"));
        let Budget { nodes, depth, movetime } = self.budget;
        let budget = [("nodes", nodes), ("depth", depth), ("movetime", movetime)];
        let budget = budget.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        let options = self.options.iter().map(|(name, value)| {
            let is_ours = name == "ponder" || Budget::default().part(name).is_some();
            let name = match name.split_at_checked(1) {
                Some((letter, rest)) if is_ours => format!("%{:02X}{rest}", letter.as_bytes()[0]),
                _ => encode(name, "&="),
            };
            value.as_ref().map_or(name.clone(), |value| format!("{name}={}", encode(value, "&")))
        });
        let ponder = self.ponder.then(|| "ponder".to_owned());
        for (index, part) in budget.chain(ponder).chain(options).enumerate() {
            first.push(if index == 0 { '?' } else { '&' });
            first += &part;
        }
        std::iter::once(first).chain(arguments.iter().cloned()).collect()
    }
}

/// The program that a first word names: of an engine, that of the engine.
pub(crate) fn program(first: &str) -> Cow<'_, str> {
    let Some((_, rest)) = Dialect::prefix(first) else { return first.into() };
    let program = rest.split_once('?').map_or(rest, |(program, _)| program);
    decode(program).map_or(program.into(), Cow::Owned)
}

/// Returns whether a first word names an engine.
pub(crate) fn is_engine(first: &str) -> bool {
    Dialect::prefix(first).is_some()
}

fn decode(text: &str) -> Result<String, Wrong> {
    let invalid = || Wrong::from(format!("`{text}` is not percent-encoded: write % as %25"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = digit().zip(digit()).ok_or_else(invalid)?;
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| invalid())
}

/// Encodes % and these characters.
fn encode(text: &str, special: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '%' || special.contains(c) {
            // A string accepts everything.
            let _ = write!(encoded, "%{:02X}", u32::from(c));
        } else {
            encoded.push(c);
        }
    }
    encoded
}

/// An engine in a TOML file: `engine = { dialect = "uci", command = "stockfish", options = { Hash = 16 } }`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineConfig {
    dialect: Dialect,
    /// The command line of the engine.
    command: String,
    /// Text, numbers and booleans; `""` for a button.
    #[serde(default)]
    options: serde_json::Map<String, serde_json::Value>,
    #[serde(default)]
    budget: Budget,
    #[serde(default)]
    ponder: bool,
}

/// Deserializes the command line of a bot: a string, or the table of an engine.
///
/// # Errors
/// If it is neither, or a field of the table is wrong.
pub fn command_line<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    struct Line;

    impl<'de> Visitor<'de> for Line {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a command line, or the table of an engine with `dialect` and `command`")
        }

        fn visit_str<E>(self, line: &str) -> Result<String, E> {
            Ok(line.to_owned())
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<String, A::Error> {
            let engine = EngineConfig::deserialize(MapAccessDeserializer::new(map))?;
            Ok(engine.command_line())
        }
    }

    deserializer.deserialize_any(Line)
}

/// Deserializes a field as [`command_line`] does, or leaves it out if it is missing.
///
/// # Errors
/// As [`command_line`].
pub fn optional_command_line<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    command_line(deserializer).map(Some)
}

impl EngineConfig {
    /// The command line that names the engine; one that cannot be split into words stays as it is, and is reported later.
    fn command_line(&self) -> String {
        let Some(argv) = shlex::split(&self.command).filter(|argv| !argv.is_empty()) else {
            return format!("{}:{}", self.dialect.word(), self.command);
        };
        let options = self.options.iter().map(|(name, value)| {
            let value = match value {
                serde_json::Value::String(text) if text.is_empty() => None,
                serde_json::Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            (name.clone(), value)
        });
        let Self { dialect, budget, ponder, .. } = *self;
        let argv = EngineCommand { dialect, argv, options: options.collect(), budget, ponder }.to_argv();
        shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(line: &str) -> Result<Option<EngineCommand>, Wrong> {
        EngineCommand::of(&shlex::split(line).unwrap())
    }

    #[test]
    fn an_engine_has_a_dialect_options_and_arguments() {
        let read =
            engine("'uci:./my%20engine?Clear%20Hash&Hash=16&nodes=500&ponder' --quiet").unwrap().unwrap();
        assert_eq!(read.argv, ["./my engine", "--quiet"]);
        assert_eq!(read.options, [("Clear Hash".into(), None), ("Hash".into(), Some("16".into()))]);
        assert_eq!((read.budget.nodes, read.ponder), (Some(500), true));
        assert_eq!(EngineCommand::of(&read.to_argv()), Ok(Some(read)));
        assert_eq!(engine("python3 uci:bot.py"), Ok(None));
        assert_eq!(engine("UCI:e"), engine("uci:e"));
        assert_eq!(program("uci:./my%20engine?Hash=1"), "./my engine");
    }

    #[test]
    fn option_named_like_one_of_bridge_is_encoded() {
        let config = r#"{"dialect":"hub","command":"scan hub","options":{"depth":9,"new-game":""}}"#;
        let line = serde_json::from_str::<EngineConfig>(config).unwrap().command_line();
        assert!(line.contains("%64epth=9&new-game"), "{line}");
        let read = engine(&line).unwrap().unwrap();
        assert_eq!(read.options, [("depth".into(), Some("9".into())), ("new-game".into(), None)]);
        assert_eq!(read.budget, Budget::default());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, what) in [
            ("uci:", "names no engine"),
            ("'uci:e?Hash=%zz'", "%25"),
            ("'uci:e?depth=0'", "depth=0"),
            ("'uci:e?nodes'", "nodes="),
            ("'uci:e?ponder=maybe'", "maybe"),
            ("'uci:e?=3'", "no name"),
        ] {
            let error = engine(line).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
