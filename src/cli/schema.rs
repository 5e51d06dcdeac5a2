//! `referee schema`: JSON Schemas of the messages.

use std::io::{self, Write};

use clap::{Args as ClapArgs, ValueEnum};
use referee_protocol::schemas;

use crate::cli::{Exit, Failure};

/// Print the JSON Schemas of the messages (draft 2020-12)
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee schema from_referee > from_referee.json
  referee schema from_bot")]
pub(super) struct Args {
    /// Who speaks
    #[arg(value_enum)]
    speaker: Speaker,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum Speaker {
    FromReferee,
    FromBot,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let schema = match args.speaker {
        Speaker::FromReferee => schemas::FROM_REFEREE,
        Speaker::FromBot => schemas::FROM_BOT,
    };
    io::stdout().lock().write_all(schema.as_bytes())?;
    Ok(Exit::Done)
}
