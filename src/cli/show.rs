//! `referee show`: prints a record for people.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args as ClapArgs;

use crate::cli::files::read;
use crate::cli::output::{is_terminal, stdout};
use crate::cli::{Exit, Failure};
use crate::core::printable::printable;
use crate::core::{Seat, Viewer};
use crate::record::{BotLine, Replay};
use crate::report::Scoresheet;

/// Print a recorded match with boards, and the standard error of its bots
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee show records/m1.jsonl
  referee show records/m1.jsonl --view 0 | less")]
pub(super) struct Args {
    /// The record
    file: PathBuf,
    /// The viewer: `all` (everything), `public` (a spectator) or the number of a seat
    #[arg(long, value_name = "VIEWER", default_value = "all", value_parser = viewer)]
    view: Viewer,
}

fn viewer(text: &str) -> Result<Viewer, String> {
    match text {
        "all" => Ok(Viewer::Omniscient),
        "public" => Ok(Viewer::Public),
        _ => text.parse().map(|seat| Viewer::Seat(Seat(seat))).map_err(|_| {
            format!("invalid viewer `{text}`; expected `all`, `public` or the number of a seat")
        }),
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let record = read(&args.file)?;
    let differs = |difference| Failure {
        exit: Exit::No,
        error: anyhow::anyhow!("{}: {difference}", args.file.display()),
    };
    let mut replay = Replay::open(&record, Some(args.view)).map_err(differs)?;
    let seats = replay.match_().setup().header.seats.len();
    if let Viewer::Seat(seat) = args.view
        && seat.index() >= seats
    {
        return Err(Failure::usage(format!("--view {seat}: the seats are 0 to {}", seats - 1)));
    }
    let mut out = stdout();
    let mut scoresheet = Scoresheet::new(args.view, is_terminal());
    scoresheet.begin(&mut out, replay.match_())?;
    let mut said = Vec::new();
    while let Some(line) = replay.step().map_err(differs)? {
        let play = replay.match_();
        let news = std::mem::take(play.news());
        if !news.is_empty() {
            scoresheet.add(&mut out, play, &news)?;
        }
        let seat = line.seat.and_then(|seat| play.setup().header.seats.get(seat.index()));
        let name = printable(seat.map_or("", |seat| &seat.name));
        match line.kind.as_str() {
            "fault" => {
                let code = line.code.unwrap_or_default();
                let detail = line.detail.map(|detail| format!(", {detail}")).unwrap_or_default();
                writeln!(out, "     fault of {name}: {}{}", printable(&code), printable(&detail))?;
            }
            "fallback" => writeln!(out, "     the referee plays for {name}")?,
            "resign" => writeln!(out, "     {name} resigns")?,
            "accept_draw" => writeln!(out, "     {name} accepts the draw")?,
            "pause" => {
                let paused = Duration::from_micros(line.paused_us.unwrap_or(0));
                writeln!(out, "     the referee was suspended for {:.1} s", paused.as_secs_f64())?;
            }
            "abort" => {
                let reason = line.reason.map(|reason| reason.to_string()).unwrap_or_default();
                writeln!(out, "     broken off: {}", printable(&reason))?;
            }
            "bots" => said = line.bots,
            _ => {}
        }
    }
    if let Some(ending) = replay.match_().ending() {
        let ranks = ending.ranks.as_ref().map(|ranks| format!(", ranks {ranks:?}")).unwrap_or_default();
        let ended_by = ending.ended_by.to_string();
        let reason = if ending.reason == ended_by { String::new() } else { format!(" ({})", ending.reason) };
        writeln!(out, "ended by {ended_by}{reason}{ranks}")?;
    }
    // A bot's standard error may reveal what only its seat may see.
    let is_shown = |seat| args.view == Viewer::Omniscient || args.view == Viewer::Seat(seat);
    for BotLine { seat, stderr } in
        said.into_iter().filter(|bot| is_shown(bot.seat) && !bot.stderr.is_empty())
    {
        let name = replay.match_().setup().header.seats.get(seat.index()).map_or("", |seat| &seat.name);
        writeln!(out, "\nstandard error of {}:", printable(name))?;
        for line in stderr.lines() {
            writeln!(out, "  {}", printable(line))?;
        }
    }
    Ok(Exit::Done)
}
