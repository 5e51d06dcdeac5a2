//! The tools of the agent, over standard input and output.

use std::sync::Arc;
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

/// How long `wait_for_turn` waits by default, and at most, in seconds. Many clients give up on a tool after 60 s.
const WAIT: u64 = 30;
const LONGEST_WAIT: u64 = 3600;

const INSTRUCTIONS: &str = "You play one match of a board game. Call `rules` once. Then repeat: call \
    `wait_for_turn`, and when its `state` is `your_turn`, call `move` with one of its `legal` moves. The match has ended \
    when the `state` is `over`.";

/// Serves the tools.
pub(super) struct SeatServer {
    rules: &'static str,
    seat: Arc<SeatClient>,
}

impl SeatServer {
    pub(super) fn new(rules: &'static str, seat: Arc<SeatClient>) -> SeatServer {
        SeatServer { rules, seat }
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
        match name {
            "rules" => {
                let NoArguments {} = read(arguments, NO_ARGUMENTS)?;
                return Ok(CallToolResult::success(vec![ContentBlock::text(self.rules)]));
            }
            "wait_for_turn" => {
                let WaitArguments { timeout_s } = read(arguments, WAIT_ARGUMENTS)?;
                if timeout_s > LONGEST_WAIT {
                    return Err(ToolError::TooLong(timeout_s));
                }
                return Ok(CallToolResult::structured(self.seat.wait(Duration::from_secs(timeout_s)).await));
            }
            "move" => {
                let MoveArguments { text, offer_draw } = read(arguments, MOVE_ARGUMENTS)?;
                self.seat.answer(text.trim(), offer_draw)?;
            }
            "resign" => {
                let NoArguments {} = read(arguments, NO_ARGUMENTS)?;
                self.seat.resign()?;
            }
            _ => return Err(ToolError::Unknown(name.to_owned())),
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
    #[error("unknown tool `{0}`; available: rules, wait_for_turn, move, resign")]
    Unknown(String),
    #[error("{error}; {usage}")]
    Arguments { error: serde_json::Error, usage: &'static str },
    #[error("`timeout_s` is {0}; {WAIT_ARGUMENTS}")]
    TooLong(u64),
    #[error(transparent)]
    Seat(#[from] SeatError),
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

impl ServerHandler for SeatServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("referee", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = match self.call(&request.name, request.arguments.unwrap_or_default()).await {
            Ok(result) => result,
            Err(error @ ToolError::Unknown(_)) => {
                return Err(ErrorData::invalid_params(error.to_string(), None));
            }
            // The model reads the result of a tool, but no error of the protocol (MCP 2025-11-25, Tools, Error Handling).
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        };
        Ok(result.into())
    }
}

fn tools() -> Vec<Tool> {
    let tool = |name: &'static str, description: &'static str, properties: Value, required: Value| {
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        });
        let Value::Object(schema) = schema else { unreachable!("an object was written above") };
        Tool::new(name, description, schema)
    };
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
