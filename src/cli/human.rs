//! `referee human`: lets a person play at the terminal.

use std::io::Write;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::Args as ClapArgs;

use crate::cli::bots::with_bots;
use crate::cli::person::Person;
use crate::cli::screen;
use crate::cli::seat::{SeatMatch, SeatOptions};
use crate::cli::signals::interrupted;
use crate::cli::{Exit, Failure};
use crate::game::erased::BoardText;
use crate::game::{Catalog, Viewer};
use crate::report::{evidence_lines, result_line};
use crate::results::Evidence;
use crate::runner::Watch;
use crate::runs::play::{PlayEvent, PlayResult};

/// How long to wait until the person's side has displayed its last messages, before the result is printed.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Play a match yourself at the terminal, against bots
///
/// Before each of your moves you see the board as your seat may see it, and the legal moves with numbers. Type a move, a
/// prefix of one, or its number after `#`, such as #5. Nothing is sent until you confirm it. Type `?` for other actions:
/// offer a draw, accept one, resign.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee human checkers 'python3 bots/python/greedy_bot.py'
  referee human jeex ./bot --seat 1 --record records")]
pub(super) struct Args {
    #[command(flatten)]
    seat: SeatOptions,
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let SeatMatch { rules, seating, seat, socket, mut play } = args.seat.open(catalog, "human", "you")?;
    let viewer = Viewer::Seat(seat);
    let watch: Watch = Box::new(move |play, _| BoardText(play.table(), viewer).to_string());
    play.runner.watch = Some(watch);
    let listener = socket.listener().map_err(Failure::cannot_run)?;
    let (sender, ended) = channel();
    // Not joined: it may still wait for the keyboard when the match is over.
    thread::spawn(move || {
        let played = listener.accept().and_then(|(stream, _)| Person::new(stream, rules, seating)?.play());
        let _ = sender.send(played);
    });
    let (mut board, mut result) = (String::new(), None);
    let PlayResult { summary, stopped } = with_bots(|| {
        let on_event = |step: PlayEvent<'_>| match step {
            PlayEvent::Moved(text) => text.clone_into(&mut board),
            PlayEvent::Ended(finished) => {
                result = Some((result_line(finished, rules.meta()), finished.record.clone()));
            }
            PlayEvent::SetEnded(_) | PlayEvent::Listening(_) | PlayEvent::Waiting(_) => {}
        };
        play.run(interrupted(), on_event)
    });
    let _ = ended.recv_timeout(TIMEOUT);
    if let Some((line, record)) = result {
        let mut out = screen::stdout();
        write!(out, "\n{board}\n{line}\n")?;
        if let Some(path) = record {
            writeln!(out, "record: {}", path.display())?;
        }
        for line in evidence_lines(&summary.first_faults, Evidence::is_quote) {
            writeln!(out, "{line}")?;
        }
    }
    match stopped {
        _ if summary.interrupted => Ok(Exit::Interrupted),
        Some(why) => Err(Failure::cannot_run(why)),
        None => Ok(Exit::Done),
    }
}
