//! `referee game`: tools for authors of games whose rules are programs.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::bots::{launch, with_bots};
use crate::cli::exit::{Exit, Failure};
use crate::cli::options::GameOptions;
use crate::cli::output::TolerantStdout;
use crate::cli::screen::{Screen, stderr_line};
use crate::game::json;
use crate::program::{GameFigures, GameStep, check};

/// Check a game whose rules are a program
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:
  referee game check examples/games/connect_four")]
pub(super) struct Args {
    #[command(subcommand)]
    command: GameCommand,
}

#[derive(Debug, Subcommand)]
enum GameCommand {
    Check(CheckArgs),
}

/// Check a game step by step
///
/// manifest: game.toml is valid. start: every seating opens. matches: random matches run to their end, and every answer is
/// valid; decisions without `legal` get one of the manifest's `sample_moves`. schema (with the feature `validate`): views, moves and events are as the
/// game's schemas say. moves: every legal move of some positions can be played. check, if moves are not listed: odd and altered moves
/// have an answer. show: positions are shown to every viewer. export, if the game has notations: matches are written in each. secrets, if the game has hidden information: positions that a seat or
/// the public cannot tell apart by its events look the same to it, by view, text, scene, turns left and legal moves. imagine, if the game imagines positions: they agree with the views. purity: the same requests, in another order and in another process,
/// get the same answers. A failed step shows the request and the answer, and ends the check with exit code 1.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee game check examples/games/connect_four
  referee game check ./mygame -n 1000 --json
  referee game check ./mygame --set size=11")]
struct CheckArgs {
    /// The directory of the game
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    #[command(flatten)]
    options: GameOptions,
    /// The number of random matches with each number of seats
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    matches: u32,
    /// One JSON object per line: each step, then the figures
    #[arg(long)]
    json: bool,
}

pub(super) fn run(Args { command: GameCommand::Check(args) }: &Args) -> Result<Exit, Failure> {
    let (launch, options) = (launch()?, args.options.to_json()?);
    let mut out = Screen(TolerantStdout::new());
    // `TolerantStdout` keeps the error until the end.
    let mut line = |line: &dyn Display| drop(writeln!(out, "{line}"));
    if cfg!(not(feature = "validate")) {
        stderr_line("note: nothing is compared with the schemas of the game: build with --features validate");
    }
    let figures = with_bots(|| {
        check(&args.directory, &launch, &options, args.matches, |step| match args.json {
            true => line(&json::text(step)),
            false => line(&sentence(step)),
        })
    });
    if let Some(figures) = &figures {
        match args.json {
            true => line(&json::text(figures)),
            false => line(&summary(figures)),
        }
    }
    out.0.end(if figures.is_some() { Exit::Done } else { Exit::No })
}

fn sentence(GameStep { name, ok, what, section }: &GameStep) -> String {
    match ok {
        true => format!("ok      {name:<10}{what}"),
        false => format!("FAILED  {name:<10}{what}\n        see `referee spec games#{section}`"),
    }
}

fn summary(figures: &GameFigures) -> String {
    let GameFigures { length, branching, scores, matches_per_second, .. } = figures;
    let GameFigures { answer_us, slowest_answer_ms, answer_bytes, most_answer_bytes, .. } = figures;
    let scores: Vec<String> = scores.iter().map(|score| format!("{score:.2}")).collect();
    format!(
        "{length:.1} decisions and draws per match, {branching:.1} legal moves, scores by seat {}\n\
         {matches_per_second:.0} random matches per second; an answer takes {answer_us:.0} us, at most \
         {slowest_answer_ms:.0} ms, and has {answer_bytes:.0} bytes, at most {most_answer_bytes}",
        scores.join(" ")
    )
}
