//! Plays checkers by alpha-beta search.

use std::error::Error;
use std::time::Duration;

use clap::Parser;
use referee_bot::run;
use referee_search::alpha_beta::AlphaBeta;
use referee_search::bot::Opponent;

/// Plays checkers by alpha-beta search: a bot for `referee play`
///
/// It answers in time whatever the limits: it takes no more of its clock than is prudent.
#[derive(Debug, Parser)]
#[command(name = "referee-alpha-beta", version)]
struct Args {
    /// The most plies that it looks ahead, captures not counted [default: 8; with --time-ms as many as it allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    depth: Option<u8>,
    /// The most milliseconds for a decision
    #[arg(long, value_name = "MS")]
    time_ms: Option<u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { depth, time_ms } = Args::parse();
    let depth = depth.unwrap_or(if time_ms.is_some() { u8::MAX } else { 8 });
    Ok(run(Opponent::new(AlphaBeta::new(depth), time_ms.map(Duration::from_millis)))?)
}
