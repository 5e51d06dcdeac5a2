//! `referee init`: writes the files of a new project.

mod bot;
mod competition;
mod game;
mod project;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::exit::{Exit, Failure};
use crate::game::Catalog;

/// Write a new bot, game, tournament or league, ready to play
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee init bot --language python mybot
  referee init game --language python mygame
  referee init tournament cup
  referee init league mine")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bot(bot::Args),
    Game(game::Args),
    /// Write a tournament between three bots in Python, to be replaced by yours
    #[command(after_help = "Examples:
  referee init tournament cup
  referee init tournament cup --game saxum")]
    Tournament(competition::Args),
    /// Write a league: a file with comments, and two bots in Python, to be replaced by yours
    #[command(after_help = "Examples:
  referee init league mine
  referee init league mine --game saxum")]
    League(competition::Args),
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    match &args.command {
        Command::Bot(args) => bot::run(args),
        Command::Game(args) => game::run(args, catalog),
        Command::Tournament(args) => competition::tournament(args, catalog),
        Command::League(args) => competition::league(args, catalog),
    }
}
