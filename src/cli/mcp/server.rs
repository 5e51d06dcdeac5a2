//! The tools of the agent, over standard input and output.

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServiceExt};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use thiserror::Error;

use crate::client::{SeatClient, SeatError};
use crate::game::Chain;
use crate::runs::workshop::{Bench, Stop, TOOLS, ToolCall, ToolReply, ask};

/// How long `wait_for_turn` waits by default, and at most, in seconds. Many clients give up on a tool after 60 s.
const WAIT: u64 = 30;
const LONGEST_WAIT: u64 = 3600;

const SEAT: &str = "You play one match of a board game. Call `rules` once. Then repeat: call \
    `wait_for_turn`, and when its `state` is `your_turn`, call `move` with one of its `legal` moves. The match has ended \
    when the `state` is `over`.";

const BOT: &str = "You write a bot that plays a board game: the program in a directory that you edit. Call `rules` once, `check` \
    after each change, `play` to meet an opponent, `lost_match` to see why a match was lost, and `regress` to find out whether \
    the bot has become weaker. AGENTS.md in the directory says more, if `referee init bot` wrote it.";

/// What the tools act on.
enum Place {
    /// A seat in a match, and the bench of a bot.
    Here {
        rules: &'static str,
        seat: Arc<SeatClient>,
        begin: Option<Sender<()>>,
        bench: Option<Arc<Mutex<Bench>>>,
    },
    /// The socket of a workshop.
    Workshop(PathBuf),
}

/// Serves the tools.
pub(super) struct ToolServer(Place);

impl ToolServer {
    /// The tools of a seat, and of a bench if there is one. `begin` starts the match.
    pub(super) fn new(
        rules: &'static str,
        seat: Arc<SeatClient>,
        begin: Option<Sender<()>>,
        bench: Option<Bench>,
    ) -> ToolServer {
        ToolServer(Place::Here { rules, seat, begin, bench: bench.map(|bench| Arc::new(Mutex::new(bench))) })
    }

    /// The tools of the workshop that listens on this socket.
    pub(super) fn of_workshop(socket: PathBuf) -> ToolServer {
        ToolServer(Place::Workshop(socket))
    }

    fn has_seat(&self) -> bool {
        matches!(self.0, Place::Here { .. })
    }

    fn has_bench(&self) -> bool {
        !matches!(self.0, Place::Here { bench: None, .. })
    }

    /// Calls a tool of the bench, on a thread that it may block.
    async fn of_bench(&self, call: ToolCall) -> Result<CallToolResult, ToolError> {
        let work: Box<dyn FnOnce() -> ToolReply + Send> = match &self.0 {
            Place::Here { bench: None, .. } => return Err(ToolError::Unknown(call.tool, self.names())),
            Place::Here { bench: Some(bench), .. } => {
                let bench = bench.clone();
                Box::new(move || {
                    let mut bench = bench.lock().unwrap_or_else(PoisonError::into_inner);
                    match bench.call(call, &Stop::never(), |_| Ok(())) {
                        Ok(result) => ToolReply::Result(result),
                        Err(why) => ToolReply::Error(Chain(&why).to_string()),
                    }
                })
            }
            Place::Workshop(socket) => {
                let socket = socket.clone();
                Box::new(move || ask(&socket, &call).unwrap_or_else(|why| ToolReply::Error(why.to_string())))
            }
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(ToolReply::Result(Value::String(text))) => {
                Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
            }
            Ok(ToolReply::Result(result)) => Ok(CallToolResult::structured(result)),
            Ok(ToolReply::Error(why)) => Err(ToolError::Bench(why)),
            Err(why) => Err(ToolError::Bench(why.to_string())),
        }
    }

    fn names(&self) -> String {
        self.tools().iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Serves until the agent closes standard input.
    pub(super) fn serve(self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served = runtime.block_on(async {
            let service = ServiceExt::serve(self, stdio_pipes()).await?;
            service.waiting().await?;
            Ok(())
        });
        // A read of standard input cannot be cancelled.
        runtime.shutdown_background();
        served
    }

    async fn call(&self, name: &str, arguments: JsonObject) -> Result<CallToolResult, ToolError> {
        let Place::Here { rules, seat, begin, .. } = &self.0 else {
            return self.of_bench(ToolCall { tool: name.to_owned(), arguments }).await;
        };
        match name {
            "rules" => {
                let NoArguments {} = read(arguments, NO_ARGUMENTS)?;
                return Ok(CallToolResult::success(vec![ContentBlock::text(*rules)]));
            }
            "wait_for_turn" => {
                let WaitArguments { timeout_s } = read(arguments, WAIT_ARGUMENTS)?;
                if timeout_s > LONGEST_WAIT {
                    return Err(ToolError::TooLong(timeout_s));
                }
                // The match may have begun, or be over.
                let _ = begin.as_ref().map(|begin| begin.send(()));
                return Ok(CallToolResult::structured(seat.wait(Duration::from_secs(timeout_s)).await));
            }
            "move" => {
                let MoveArguments { text, offer_draw } = read(arguments, MOVE_ARGUMENTS)?;
                seat.answer(text.trim(), offer_draw)?;
            }
            "resign" => {
                let NoArguments {} = read(arguments, NO_ARGUMENTS)?;
                seat.resign()?;
            }
            _ => return self.of_bench(ToolCall { tool: name.to_owned(), arguments }).await,
        }
        Ok(CallToolResult::success(vec![ContentBlock::text("sent; now call `wait_for_turn`")]))
    }
}

const NO_ARGUMENTS: &str = "there are no arguments";
const WAIT_ARGUMENTS: &str = "`timeout_s`, optional, is a whole number of seconds from 0 to 3600";
const MOVE_ARGUMENTS: &str = "`move` is a string, one of `legal`; `offer_draw`, optional, is true or false";

/// Why a tool did nothing.
#[derive(Debug, Error)]
enum ToolError {
    #[error("unknown tool `{0}`; available: {1}")]
    Unknown(String, String),
    #[error("{error}; {usage}")]
    Arguments { error: serde_json::Error, usage: &'static str },
    #[error("`timeout_s` is {0}; {WAIT_ARGUMENTS}")]
    TooLong(u64),
    #[error(transparent)]
    Seat(#[from] SeatError),
    #[error("{0}")]
    Bench(String),
}

/// The arguments of `rules` and `resign`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

/// The arguments of `wait_for_turn`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitArguments {
    #[serde(default = "default_wait")]
    timeout_s: u64,
}

fn default_wait() -> u64 {
    WAIT
}

/// The arguments of `move`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveArguments {
    #[serde(rename = "move")]
    text: String,
    #[serde(default)]
    offer_draw: bool,
}

fn read<T: DeserializeOwned>(arguments: JsonObject, usage: &'static str) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| ToolError::Arguments { error, usage })
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("referee", env!("CARGO_PKG_VERSION")))
            .with_instructions(match (self.has_seat(), self.has_bench()) {
                (true, false) => SEAT.to_owned(),
                (false, _) => BOT.to_owned(),
                (true, true) => {
                    format!("{BOT} To get to know the game you can play a match yourself. {SEAT}")
                }
            })
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = match self.call(&request.name, request.arguments.unwrap_or_default()).await {
            Ok(result) => result,
            Err(error @ ToolError::Unknown(..)) => {
                return Err(ErrorData::invalid_params(Chain(&error).to_string(), None));
            }
            // The model reads the result of a tool, but no error of the protocol (MCP 2025-11-25, Tools, Error Handling).
            Err(error) => CallToolResult::error(vec![ContentBlock::text(Chain(&error).to_string())]),
        };
        Ok(result.into())
    }
}

fn tool(name: &'static str, description: &'static str, properties: Value, required: Value) -> Tool {
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false
    });
    let Value::Object(schema) = schema else { unreachable!("an object was written above") };
    Tool::new(name, description, schema)
}

impl ToolServer {
    fn tools(&self) -> Vec<Tool> {
        let mut tools = if self.has_seat() { of_seat() } else { Vec::new() };
        if self.has_bench() {
            let known: Vec<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
            let more = TOOLS.iter().filter(|tool| !known.iter().any(|name| name == tool.name));
            tools.extend(more.map(|of| tool(of.name, of.description, (of.properties)(), json!(of.required))));
        }
        tools
    }
}

fn of_seat() -> Vec<Tool> {
    vec![
        tool("rules", "The rules of the game, as Markdown.", json!({}), json!([])),
        tool(
            "wait_for_turn",
            "Waits until it is your turn or the match is over. Returns JSON: `state` (`your_turn`, `waiting` or `over`), \
             `seat` (yours), `seats`, `events` (what has happened since the last call); at your turn `view` (the position \
             as you may see it), `legal` (the legal moves), `clock` in milliseconds, `draw_offered`, `retry`; at the end \
             `ranks`, `scores` and, in some games, `amounts` by seat, `ended_by`, `reason`.",
            json!({ "timeout_s": {
                "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT, "default": WAIT,
                "description": "seconds after which it returns the state `waiting`"
            }}),
            json!([]),
        ),
        tool(
            "move",
            "Plays a move at your turn. A move that is not legal is not sent, and the error lists the legal moves.",
            json!({
                "move": {
                    "type": "string",
                    "description": "one of `legal`, character for character, or `accept draw` if a draw is offered"
                },
                "offer_draw": { "type": "boolean", "default": false, "description": "offers a draw with the move" },
            }),
            json!(["move"]),
        ),
        tool("resign", "Resigns the match.", json!({}), json!([])),
    ]
}
