//! `referee init`: writes the files of a new project.

mod bot;
mod project;
mod tournament;

pub(super) use bot::quoted;
pub(super) use project::{Project, name_of};

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::{Exit, Failure};
use crate::core::Catalog;

/// Write a new bot or a new tournament, ready to play
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee init bot --language python mybot
  referee init tournament cup")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bot(bot::Args),
    Tournament(tournament::Args),
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    match &args.command {
        Command::Bot(args) => bot::run(args),
        Command::Tournament(args) => tournament::run(args, catalog),
    }
}
