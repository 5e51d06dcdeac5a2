//! The tools of an agent, for the Model Context Protocol and for the command line.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::workshop::seat::SEAT_TOOLS;
use crate::workshop::{Bench, BenchError, Practice, Stop};
use referee_game::Wrong;

/// The matches of `play` by default.
const MATCHES: u32 = 10;
/// The matches of `regress` at most, by default.
const MOST_MATCHES: u32 = 100;

/// A tool, with the JSON Schema of its arguments.
#[derive(Debug)]
pub struct Tool {
    pub name: &'static str,
    pub description: &'static str,
    /// The properties of its arguments.
    pub properties: fn() -> Value,
    pub required: &'static [&'static str],
    /// The arguments in a sentence, for errors.
    pub(super) usage: &'static str,
}

/// The tools of a bench, besides those of a seat.
static TOOLS: [Tool; 6] = [
    Tool {
        name: "rules",
        description: "The rules of the game, as Markdown.",
        properties: || json!({}),
        required: &[],
        usage: "there are no arguments",
    },
    Tool {
        name: "check",
        description: "Packs, builds and tests the bot in its directory as when it is handed in. Returns JSON: `passed`, `version` \
             (the SHA-256 of its archive) and `log`, which cites the violated sentences of the protocol. Costs no matches.",
        properties: || json!({}),
        required: &[],
        usage: "there are no arguments",
    },
    Tool {
        name: "play",
        description: "Plays practice matches of the bot against an opponent, each opening from every side. Returns JSON: `points` of \
             `matches`, wins, draws and losses `by_play` and `by_fault`, `elo_difference` with its 95% interval, the ids of `lost` \
             matches for `lost_match`, and `matches_left` of the budget.",
        properties: || {
            json!({
                "opponent": { "type": "string", "description": "the name of an opponent, or `base`: your version that was handed in last" },
                "matches": { "type": "integer", "minimum": 1, "default": MATCHES, "description": "a multiple of the number of sides" },
            })
        },
        required: &["opponent"],
        usage: "`opponent` is the name of an opponent, or `base`; `matches`, optional, is a number",
    },
    Tool {
        name: "regress",
        description: "Tests whether the bot is weaker than its version that was handed in last, sequentially: it ends as soon as that is \
             decided. Returns JSON: `passed`, `report`, `matches` (used), `lost`, `matches_left`.",
        properties: || {
            json!({
                "opponent": { "type": "string", "default": "base", "description": "what to compare with" },
                "matches": { "type": "integer", "minimum": 1, "default": MOST_MATCHES, "description": "at most" },
            })
        },
        required: &[],
        usage: "`opponent`, optional, is the name of an opponent, or `base`; `matches`, optional, is a number",
    },
    Tool {
        name: "lost_match",
        description: "Shows a practice match as your bot saw it: how it ended, the board before the mistake and the moves after it, and what \
             your bot wrote to standard error.",
        properties: || json!({ "match": { "type": "string", "description": "an id of `lost`, such as 3/m5; by default the latest lost match" } }),
        required: &[],
        usage: "`match`, optional, is an id such as 3/m5",
    },
    Tool {
        name: "sit",
        description: "Takes a seat in a practice match: you play it yourself against an opponent, with `wait_for_turn`, `move` and \
             `resign`. Costs one match of the budget.",
        properties: || {
            json!({
                "opponent": { "type": "string", "description": "the name of an opponent, or `base`" },
                "seat": { "type": "integer", "minimum": 0, "default": 0, "description": "yours" },
            })
        },
        required: &["opponent"],
        usage: "`opponent` is the name of an opponent, or `base`; `seat`, optional, is a number",
    },
];

/// The tools of a bench, among them those of a seat that the agent takes.
pub fn tools() -> impl Iterator<Item = &'static Tool> {
    TOOLS.iter().chain(&SEAT_TOOLS)
}

/// The tools of a seat in a match without a bench.
pub fn tools_of_seat() -> impl Iterator<Item = &'static Tool> {
    TOOLS[..1].iter().chain(&SEAT_TOOLS)
}

/// Finds the tool that a call names.
pub(super) fn find_tool(among: &'static [Tool], call: &ToolCall) -> Result<&'static Tool, Wrong> {
    among.iter().find(|tool| tool.name == call.tool).ok_or_else(|| {
        let names = tools().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
        format!("unknown tool `{}`; available: {names}", call.tool).into()
    })
}

pub(super) fn read<T: DeserializeOwned>(arguments: Map<String, Value>, tool: &Tool) -> Result<T, Wrong> {
    let read = serde_json::from_value(Value::Object(arguments));
    read.map_err(|why| format!("{why}; {}", tool.usage).into())
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// The answer to it: text or a JSON object, or why nothing was done.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolReply {
    Result(Value),
    Error(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoArguments {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SitArguments {
    opponent: String,
    #[serde(default)]
    seat: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayArguments {
    opponent: String,
    #[serde(default = "matches")]
    matches: u32,
}

fn matches() -> u32 {
    MATCHES
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RegressArguments {
    #[serde(default = "base")]
    opponent: String,
    #[serde(default = "most_matches")]
    matches: u32,
}

fn base() -> String {
    "base".to_owned()
}

fn most_matches() -> u32 {
    MOST_MATCHES
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LostArguments {
    r#match: Option<String>,
}

impl Bench {
    /// Calls a tool. `on_practice` gets what was played, before the result is known to the agent.
    ///
    /// # Errors
    /// Why it did nothing.
    pub fn call(
        &mut self,
        call: ToolCall,
        stop: &Stop,
        on_practice: impl FnOnce(&Practice) -> Result<(), BenchError>,
    ) -> Result<Value, BenchError> {
        if SEAT_TOOLS.iter().any(|tool| tool.name == call.tool) {
            return self.of_seat(call, stop);
        }
        let tool = find_tool(&TOOLS, &call)?;
        let (of_edit, stop) = (stop, || stop.clone());
        let (result, practice) = match tool.name {
            "rules" => {
                let NoArguments {} = read(call.arguments, tool)?;
                return Ok(Value::from(self.rules()));
            }
            "check" => {
                let NoArguments {} = read(call.arguments, tool)?;
                let (version, passed, log) = self.check()?;
                return Ok(json!({ "passed": passed, "version": version.id, "log": log }));
            }
            "play" => {
                let PlayArguments { opponent, matches } = read(call.arguments, tool)?;
                self.play(&opponent, matches, stop)?
            }
            "regress" => {
                let RegressArguments { opponent, matches } = read(call.arguments, tool)?;
                let most = self.matches_left().map_or(matches, |left| matches.min(left));
                self.regress(&opponent, most, stop)?
            }
            "sit" => {
                let SitArguments { opponent, seat } = read(call.arguments, tool)?;
                self.sit(&opponent, seat, of_edit)?
            }
            _ => {
                let LostArguments { r#match } = read(call.arguments, tool)?;
                return Ok(self.lost_match(r#match.as_deref())?.into());
            }
        };
        on_practice(&practice)?;
        Ok(result)
    }
}

/// Calls a tool of the workshop that listens on this socket.
///
/// # Errors
/// I/O errors; the workshop may have ended the edit.
pub fn ask(socket: &Path, call: &ToolCall) -> io::Result<ToolReply> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all((serde_json::to_string(call)? + "\n").as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the workshop has ended this edit"));
    }
    Ok(serde_json::from_str(&line)?)
}
