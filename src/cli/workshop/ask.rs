//! `referee workshop ask`: the tools of an agent on the command line.

use std::io::Write;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use serde_json::Value;

use crate::cli::exit::{Exit, Failure};
use crate::cli::options::key_value;
use crate::cli::output::stdout;
use crate::runs::workshop::{SOCKET, ToolCall, ToolReply, ask};

/// For agents in a workshop: call a tool, such as play
///
/// The tools are rules, check, play, regress, lost_match, and sit with wait_for_turn, move and resign, as `referee mcp --workshop` has them. The result is text or a JSON
/// object. Exit code 1 if the tool did nothing, which standard error explains.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee workshop ask rules
  referee workshop ask check
  referee workshop ask play opponent=greedy matches=20
  referee workshop ask regress
  referee workshop ask lost_match match=3/m5")]
pub(super) struct Args {
    /// The tool
    tool: String,
    /// Its arguments
    #[arg(value_name = "KEY=VALUE", value_parser = key_value)]
    arguments: Vec<(String, Value)>,
}

/// The socket of the workshop that has started this process.
pub(in crate::cli) fn socket() -> Result<PathBuf, Failure> {
    let found = std::env::var_os(SOCKET).map(PathBuf::from);
    found.ok_or_else(|| {
        Failure::usage(format!("{SOCKET} is not set: only the agents of a workshop can ask it"))
    })
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let call = ToolCall { tool: args.tool.clone(), arguments: args.arguments.iter().cloned().collect() };
    match ask(&socket()?, &call).map_err(Failure::cannot_run)? {
        ToolReply::Result(result) => {
            let mut out = stdout();
            match result {
                Value::String(text) => writeln!(out, "{text}")?,
                result => writeln!(out, "{result}")?,
            }
            out.flush()?;
            Ok(Exit::Done)
        }
        ToolReply::Error(why) => Err(Failure { exit: Exit::No, error: anyhow::anyhow!("{why}") }),
    }
}
