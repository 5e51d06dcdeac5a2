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
use serde_json::{Value, json};

use crate::cli::mcp::seat::AgentSeat;

/// How long `wait_for_turn` waits by default, and at most, in seconds. Many clients give up on a tool after 60 s.
const WAIT: u64 = 30;
const LONGEST_WAIT: u64 = 3600;

const INSTRUCTIONS: &str = "You play one match of a board game. Call `rules` once. Then repeat: call \
    `wait_for_turn`, and when its `state` is `your_turn`, call `move` with one of its `legal` moves. The match has ended \
    when the `state` is `over`.";

/// Serves the tools.
pub(super) struct SeatServer {
    rules: &'static str,
    seat: Arc<AgentSeat>,
}

impl SeatServer {
    pub(super) fn new(rules: &'static str, seat: Arc<AgentSeat>) -> SeatServer {
        SeatServer { rules, seat }
    }

    /// Serves until the agent closes standard input.
    pub(super) fn serve(self) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let served = runtime.block_on(async {
            let service = ServiceExt::serve(self, stdio_pipes()).await.map_err(|error| error.to_string())?;
            service.waiting().await.map_err(|error| error.to_string())?;
            Ok(())
        });
        // A read of standard input cannot be cancelled.
        runtime.shutdown_background();
        served
    }

    async fn call(&self, name: &str, arguments: &JsonObject) -> Result<CallToolResult, ErrorData> {
        let done = match name {
            "rules" => return Ok(CallToolResult::success(vec![ContentBlock::text(self.rules)])),
            "wait_for_turn" => {
                let seconds = match arguments.get("timeout_s") {
                    None => WAIT,
                    Some(value) => {
                        value.as_u64().filter(|&seconds| seconds <= LONGEST_WAIT).ok_or_else(|| {
                            invalid(format!("`timeout_s` is a whole number from 0 to {LONGEST_WAIT}"))
                        })?
                    }
                };
                return Ok(CallToolResult::structured(self.seat.wait(Duration::from_secs(seconds)).await));
            }
            "move" => {
                let text = arguments.get("move").and_then(Value::as_str);
                let text = text.ok_or_else(|| invalid("`move` is a string, one of `legal`"))?;
                let offers_draw = match arguments.get("offer_draw") {
                    None => false,
                    Some(value) => value.as_bool().ok_or_else(|| invalid("`offer_draw` is true or false"))?,
                };
                self.seat.answer(text.trim(), offers_draw)
            }
            "resign" => self.seat.resign(),
            _ => {
                return Err(invalid(format!(
                    "unknown tool `{name}`; available: rules, wait_for_turn, move, resign"
                )));
            }
        };
        // The agent reads the result of a tool, but rarely an error of the protocol.
        Ok(match done {
            Ok(()) => CallToolResult::success(vec![ContentBlock::text("sent; now call `wait_for_turn`")]),
            Err(why) => CallToolResult::error(vec![ContentBlock::text(why)]),
        })
    }
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
        self.call(&request.name, &request.arguments.unwrap_or_default()).await.map(Into::into)
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
             `ranks` and `scores` by seat, `ended_by`, `reason`.",
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

fn invalid(what: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(what.into(), None)
}
