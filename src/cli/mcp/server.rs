//! The tools of the agent, over standard input and output.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServiceExt};
use serde_json::{Value, json};
use thiserror::Error;

use crate::client::SeatClient;
use crate::game::Chain;
use crate::runs::workshop::{self, Bench, Stop, ToolCall, ToolReply, ask, call_seat, tools, tools_of_seat};

const SEAT: &str = "You play one match of a board game. Call `rules` once. Then repeat: call \
    `wait_for_turn`, and when its `state` is `your_turn`, call `move` with one of its `legal` moves. The match has ended \
    when the `state` is `over`.";

const BOT: &str = "You write a bot that plays a board game: the program in a directory that you edit. Call `rules` once, `check` \
    after each change, `play` to meet an opponent, `lost_match` to see why a match was lost, and `regress` to find out whether \
    the bot has become weaker. AGENTS.md in the directory says more, if `referee init bot` wrote it.";

const SIT: &str = "To get to know the game you can play a match yourself: `sit` takes a seat; then repeat: call `wait_for_turn`, \
    and when its `state` is `your_turn`, call `move`, until it is `over`.";

enum Place {
    /// A seat in the only match.
    Seat {
        rules: &'static str,
        seat: Arc<SeatClient>,
    },
    Bench(Arc<Mutex<Bench>>),
    /// The socket of a workshop, which has a bench.
    Workshop(PathBuf),
}

pub(super) struct ToolServer(Place);

impl ToolServer {
    /// The tools of a seat in the only match.
    pub(super) fn of_seat(rules: &'static str, seat: Arc<SeatClient>) -> ToolServer {
        ToolServer(Place::Seat { rules, seat })
    }

    pub(super) fn of_bench(bench: Bench) -> ToolServer {
        ToolServer(Place::Bench(Arc::new(Mutex::new(bench))))
    }

    /// The tools of the workshop that listens on this socket.
    pub(super) fn of_workshop(socket: PathBuf) -> ToolServer {
        ToolServer(Place::Workshop(socket))
    }

    fn tools(&self) -> Vec<Tool> {
        let tools: Vec<&workshop::Tool> = match &self.0 {
            Place::Seat { .. } => tools_of_seat().collect(),
            Place::Bench(_) | Place::Workshop(_) => tools().collect(),
        };
        tools.into_iter().map(described).collect()
    }

    async fn call(&self, call: ToolCall) -> Result<Value, ToolError> {
        if self.tools().iter().all(|tool| tool.name != call.tool) {
            let names: Vec<_> = self.tools().into_iter().map(|tool| tool.name).collect();
            return Err(ToolError::Unknown(call.tool, names.join(", ")));
        }
        // A bench is called on a thread that it may block.
        let work: Box<dyn FnOnce() -> ToolReply + Send> = match &self.0 {
            Place::Seat { rules, .. } if call.tool == "rules" => {
                return match call.arguments.is_empty() {
                    true => Ok(Value::from(*rules)),
                    false => Err(ToolError::Failed("`rules` has no arguments".to_owned())),
                };
            }
            Place::Seat { seat, .. } => {
                return call_seat(seat, call).await.map_err(|why| ToolError::Failed(Chain(&why).to_string()));
            }
            Place::Bench(bench) => {
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
                Box::new(move || {
                    ask(&socket, &call).unwrap_or_else(|why| ToolReply::Error(Chain(&why).to_string()))
                })
            }
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(ToolReply::Result(result)) => Ok(result),
            Ok(ToolReply::Error(why)) => Err(ToolError::Failed(why)),
            Err(why) => Err(ToolError::Failed(why.to_string())),
        }
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
}

#[derive(Debug, Error)]
enum ToolError {
    #[error("unknown tool `{0}`; available: {1}")]
    Unknown(String, String),
    #[error("{0}")]
    Failed(String),
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("referee", env!("CARGO_PKG_VERSION")))
            .with_instructions(match &self.0 {
                Place::Seat { .. } => SEAT.to_owned(),
                Place::Bench(_) | Place::Workshop(_) => format!("{BOT} {SIT}"),
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
        let arguments: JsonObject = request.arguments.unwrap_or_default();
        let result = match self.call(ToolCall { tool: request.name.to_string(), arguments }).await {
            Ok(Value::String(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Ok(result) => CallToolResult::structured(result),
            Err(error @ ToolError::Unknown(..)) => {
                return Err(ErrorData::invalid_params(Chain(&error).to_string(), None));
            }
            // The model reads the result of a tool, but no error of the protocol (MCP 2025-11-25, Tools, Error Handling).
            Err(error) => CallToolResult::error(vec![ContentBlock::text(Chain(&error).to_string())]),
        };
        Ok(result.into())
    }
}

/// A tool as the protocol describes it.
fn described(of: &workshop::Tool) -> Tool {
    let schema = json!({
        "type": "object", "properties": (of.properties)(), "required": of.required, "additionalProperties": false
    });
    let Value::Object(schema) = schema else { unreachable!("an object was written above") };
    Tool::new(of.name, of.description, schema)
}
