//! `referee league challenge`: asks for a match.

use std::io::Write;

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::cli::league::log;
use crate::cli::league::which::{LeagueSelector, find_ladder};
use crate::cli::screen;
use crate::game::Catalog;
use crate::league::OrganiserAct;
use crate::runs::league::config::LadderGame;

/// Ask for a match between these bots
///
/// It is played as soon as all of them are free, and is not rated unless the file of the league says so
/// (`rated_challenges`). Challenges take at most a tenth of the matches, in turns of those who ask, and count for no quota. One
/// that is not played within a day is dropped.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league challenge alice bob
  referee league challenge alice@1.2 alice@1.3 --ladder checkers")]
pub(super) struct Args {
    /// The bots, one for each seat; NAME@VERSION for a version
    #[arg(required = true, num_args = 2..)]
    bots: Vec<String>,
    /// The ladder, if the league has several
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (config, mut league) = args.which.open()?;
    let ladder = find_ladder(&config, args.ladder.as_deref())?;
    let LadderGame { rules, seating, .. } = ladder.game(&known_games(catalog)?, &config.folder)?;
    if args.bots.len() != seating.seats() {
        let (game, seats) = (rules.meta().id, seating.seats());
        return Err(Failure::usage(format!("{game} has {seats} seats: name {seats} bots")));
    }
    log::act(&mut league, OrganiserAct::Challenge { ladder: &ladder.name, players: &args.bots })?;
    writeln!(screen::stdout(), "{} meet on {} when all are free", args.bots.join(" and "), ladder.name)?;
    Ok(Exit::Done)
}
