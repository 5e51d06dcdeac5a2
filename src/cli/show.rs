//! `referee show`: a record as a person reads it.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::files::read;
use crate::cli::{Exit, Failure};
use crate::core::{Seat, Viewer};
use crate::record::Replay;
use crate::report::Scoresheet;

/// Print a recorded match with boards
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee show records/m1.jsonl
  referee show records/m1.jsonl --view 0 | less")]
pub(super) struct Args {
    /// The record
    file: PathBuf,
    /// Who looks: `all` (everything), `public` (a spectator) or the number of a seat
    #[arg(long, value_name = "VIEWER", default_value = "all", value_parser = viewer)]
    view: Viewer,
}

fn viewer(text: &str) -> Result<Viewer, String> {
    match text {
        "all" => Ok(Viewer::Omniscient),
        "public" => Ok(Viewer::Public),
        _ => text.parse().map(|seat| Viewer::Seat(Seat(seat))).map_err(|_| {
            format!("`{text}` is nobody who looks: say `all`, `public` or the number of a seat")
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
        return Err(Failure::usage(format!("--view {seat}: the match has the seats 0 to {}", seats - 1)));
    }
    let mut out = io::stdout().lock();
    let mut scoresheet = Scoresheet::new(args.view, out.is_terminal());
    scoresheet.begin(&mut out, replay.match_())?;
    while let Some(line) = replay.step().map_err(differs)? {
        let play = replay.match_();
        let news = std::mem::take(play.news());
        if !news.is_empty() {
            scoresheet.add(&mut out, play, &news)?;
        }
        let seat = line.seat.and_then(|seat| play.setup().header.seats.get(seat.index()));
        let name = seat.map_or("", |seat| &seat.name);
        match line.kind.as_str() {
            "fault" => {
                let (code, detail) = (line.code.unwrap_or_default(), line.detail.unwrap_or_default());
                writeln!(out, "     fault of {name}: {code} {detail}")?;
            }
            "fallback" => writeln!(out, "     the referee plays for {name}")?,
            "resign" => writeln!(out, "     {name} resigns")?,
            "accept_draw" => writeln!(out, "     {name} accepts the draw")?,
            "abort" => writeln!(out, "     broken off: {}", line.reason.unwrap_or_default())?,
            _ => {}
        }
    }
    if let Some(ending) = replay.match_().ending() {
        let ranks = ending.ranks.as_ref().map(|ranks| format!(", ranks {ranks:?}")).unwrap_or_default();
        writeln!(out, "ended by {} ({}){ranks}", ending.ended_by, ending.reason)?;
    }
    Ok(Exit::Done)
}
