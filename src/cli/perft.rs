//! `referee perft`: counts the leaves of a game tree.

use std::io::Write;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::find_game;
use crate::cli::json::PerftLine;
use crate::cli::options::GameOptions;
use crate::cli::output::stdout;
use crate::game::{Catalog, json};

/// Count the leaves of a game tree, to compare with other programs
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee perft checkers --depth 9
  referee perft chess --depth 4 --divide
  referee perft checkers --depth 5 --divide --set fen=B:W18,24,27,28,K10,K15:B12,16,20,K22,K25,K29")]
pub(super) struct Args {
    /// The game: see `referee games`; or the directory of a game
    game: String,
    /// The depth, in plies
    #[arg(short, long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=100))]
    depth: u32,
    #[command(flatten)]
    options: GameOptions,
    /// Print the leaves per first move, for the given depth only
    #[arg(long)]
    divide: bool,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let rules = find_game(&args.game, catalog)?.0;
    let options = args.options.to_json()?;
    let mut out = stdout();
    if args.divide {
        let divided = rules.divide(&options, args.depth).map_err(Failure::usage)?;
        for (mv, leaves) in &divided {
            if args.json {
                let line = PerftLine::Perft { depth: None, r#move: Some(mv), leaves: *leaves, took_us: None };
                writeln!(out, "{}", json::text(&line))?;
            } else {
                writeln!(out, "{mv} {leaves}")?;
            }
        }
        let total: u64 = divided.iter().map(|(_, leaves)| leaves).sum();
        if args.json {
            writeln!(out, "{}", json::text(&PerftLine::Summary { depth: args.depth, leaves: total }))?;
        } else {
            writeln!(out, "{total} at depth {}", args.depth)?;
        }
        return Ok(Exit::Done);
    }
    for depth in 1..=args.depth {
        let start = now();
        let leaves = rules.perft(&options, depth).map_err(Failure::usage)?;
        let took = start.elapsed().max(Duration::from_nanos(1));
        if args.json {
            let (depth, took_us) = (Some(depth), Some(took.as_micros() as u64));
            writeln!(out, "{}", json::text(&PerftLine::Perft { depth, r#move: None, leaves, took_us }))?;
        } else {
            let rate = leaves as f64 / took.as_secs_f64() / 1e6;
            writeln!(out, "{depth:3} {leaves:15} {:9.3} s {rate:7.1} M/s", took.as_secs_f64())?;
        }
        out.flush()?;
    }
    Ok(Exit::Done)
}

#[expect(clippy::disallowed_methods, reason = "for display; no result depends on it")]
fn now() -> Instant {
    Instant::now()
}
