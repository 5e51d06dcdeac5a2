//! `referee stdio`: serves a host on standard input and output.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::bots::block_on;
use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::{find_game, with_games};
use crate::cli::options::{GameOptions, MatchOptions};
use crate::cli::signals::interrupted;
use crate::game::Catalog;
use crate::runner::{HostMatches, HostPlayed, HostRun, serve_host};

/// Speak the protocol on standard input and output, with a host that holds all seats
///
/// Without GAME the host opens and aborts matches itself, with `open` and `abort`, as many concurrently as the
/// `slots` of its `hello`. With GAME the referee opens them. A game whose rules are a program is given by its directory:
/// with GAME, or with --game for a host that opens its matches by the id.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee stdio
  referee stdio checkers --matches 100 --record records
  referee stdio --game ./connect_four")]
pub(super) struct Args {
    /// The game of the matches that the referee opens: an id, or the directory of a game
    #[arg(requires = "matches")]
    game: Option<String>,
    /// The number of matches that the referee opens
    #[arg(short = 'n', long, value_name = "N", requires = "game", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    matches: Option<u32>,
    /// The number of seats per match [default: the game's smallest number]
    #[arg(long, value_name = "N", requires = "game")]
    seats: Option<u8>,
    /// The directory of a game whose rules are a program, for matches that the host opens; may be repeated
    #[arg(long = "game", value_name = "DIR", conflicts_with = "game")]
    games: Vec<PathBuf>,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    terms: MatchOptions,
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let options = args.options.to_json()?;
    let mut catalog = with_games(&args.games, catalog)?;
    let mut run = args.terms.run()?;
    let matches = match args.game.as_deref().zip(args.matches) {
        None if options.get() != "{}" => {
            return Err(Failure::usage(
                "--set needs GAME on the command line; an `open` message has its own `options`",
            ));
        }
        None => None,
        Some((id, matches)) => {
            let rules;
            (rules, catalog) = find_game(id, &catalog)?;
            let seating = rules.meta().seating(args.seats).map_err(Failure::usage)?;
            rules.open(&options, seating).map_err(Failure::usage)?;
            let (rules, of_game) = args.terms.run_of(rules, seating, &mut catalog)?;
            run = of_game;
            Some(HostMatches { rules, options, seating, matches })
        }
    };
    let asked = matches.as_ref().map(|matches| matches.matches);
    let host = HostRun { run, catalog, records: args.terms.records()?, matches };
    let played = block_on(async { serve_host(host, interrupted()).await })?;
    let HostPlayed { matches, aborted, interrupted } = played.map_err(Failure::cannot_run)?;
    tracing::info!(matches, aborted, "played");
    if interrupted {
        return Ok(Exit::Interrupted);
    }
    // A host that opens matches itself may leave at any time.
    Ok(if asked.is_some_and(|asked| matches < asked) { Exit::No } else { Exit::Done })
}
