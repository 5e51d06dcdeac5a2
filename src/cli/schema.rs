//! `referee schema`: prints the JSON Schemas of the messages.

use std::io::Write;

use clap::{Args as ClapArgs, ValueEnum};
use referee_protocol::schemas;

use crate::cli::output::stdout;
use crate::cli::{Exit, Failure};

/// Print the JSON Schemas of the messages (draft 2020-12)
///
/// Without a sender: both, as the members `from_referee` and `from_bot` of one object.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee schema
  referee schema from_referee > from_referee.json")]
pub(super) struct Args {
    /// The sender of the messages
    #[arg(value_enum)]
    speaker: Option<Speaker>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Speaker {
    FromReferee,
    FromBot,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (referee, bot) = (schemas::FROM_REFEREE.trim_end(), schemas::FROM_BOT.trim_end());
    let mut out = stdout();
    match args.speaker {
        Some(Speaker::FromReferee) => writeln!(out, "{referee}")?,
        Some(Speaker::FromBot) => writeln!(out, "{bot}")?,
        None => writeln!(out, "{{\"from_referee\":{referee},\"from_bot\":{bot}}}")?,
    }
    Ok(Exit::Done)
}
