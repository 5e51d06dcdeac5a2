//! `referee worker`: plays matches for a coordinator on another machine.

mod check;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::{Exit, Failure};

/// Play matches for a coordinator on another machine
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee worker check")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Check(check::Args),
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    match args.command {
        Action::Check(args) => check::run(&args),
    }
}
