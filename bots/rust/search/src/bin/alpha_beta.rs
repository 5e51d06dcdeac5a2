//! Plays checkers by alpha-beta search.

use std::error::Error;
use std::time::Duration;

use clap::Parser;
use referee_bot::run;
use referee_search::alpha_beta::AlphaBeta;
use referee_search::bot::Opponent;

/// Plays checkers by alpha-beta search: a bot for `referee play`
///
/// It manages its time and answers within any limits.
#[derive(Debug, Parser)]
#[command(name = "referee-alpha-beta", version)]
struct Args {
    /// Maximum search depth in plies, not counting captures [default: 8; unlimited with --time-ms]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    depth: Option<u8>,
    /// Maximum time per decision, in milliseconds
    #[arg(long, value_name = "MS")]
    time_ms: Option<u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { depth, time_ms } = Args::parse();
    let depth = depth.unwrap_or(if time_ms.is_some() { u8::MAX } else { 8 });
    Ok(run(Opponent::new(AlphaBeta::new(depth), time_ms.map(Duration::from_millis)))?)
}
