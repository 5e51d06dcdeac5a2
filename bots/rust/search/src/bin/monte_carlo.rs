//! Plays any game by Monte-Carlo search.

use std::error::Error;
use std::time::Duration;

use clap::Parser;
use referee_bot::run;
use referee_search::bot::Opponent;
use referee_search::monte_carlo::MonteCarlo;

/// Plays any game by Monte-Carlo search: a bot for `referee play`
///
/// It manages its time and answers within any limits.
#[derive(Debug, Parser)]
#[command(name = "referee-monte-carlo", version)]
struct Args {
    /// Maximum playouts per decision [default: 1000; unlimited with --time-ms]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    playouts: Option<u32>,
    /// Maximum time per decision, in milliseconds
    #[arg(long, value_name = "MS")]
    time_ms: Option<u64>,
    /// Random seed; choices are reproducible without time limits
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { playouts, time_ms, seed } = Args::parse();
    let playouts = playouts.unwrap_or(if time_ms.is_some() { u32::MAX } else { 1000 });
    let search = MonteCarlo::new(playouts, seed.unwrap_or_else(|| fastrand::u64(..)));
    Ok(run(Opponent::new(search, time_ms.map(Duration::from_millis)))?)
}
