//! `referee human`: lets a person play at the terminal or in a browser.

use std::io::Write;
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::Args as ClapArgs;

use crate::cli::bots::with_bots;
use crate::cli::exit::{Exit, Failure};
use crate::cli::person::Person;
use crate::cli::screen;
use crate::cli::seat::{SeatMatch, SeatOptions};
use crate::cli::signals::interrupted;
use crate::game::erased::BoardText;
use crate::game::{Catalog, Viewer};
use crate::report::{evidence_lines, result_line};
use crate::results::Evidence;
use crate::runner::Watch;
use crate::runs::play::{PlayEvent, PlayResult};

/// The time to wait until the person's side has displayed its last messages, before the result is printed.
const TIMEOUT: Duration = Duration::from_millis(500);

/// Play a match yourself at the terminal or in a browser, against bots
///
/// At the terminal, before each of your moves you see the board as your seat may see it, and the legal moves with numbers. Type a
/// move, a prefix of one, or its number after `#`, such as #5. Nothing is sent until you confirm it. Type `?` for other actions:
/// offer a draw, accept one, resign.
///
/// With --web a page shows the board, and a move is a click on its places, such as a piece and then a square, or a button. The page
/// works with the keyboard, and may be loaded again at any time. The command ends with the match.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee human checkers 'python3 bots/python/greedy_bot.py'
  referee human checkers 'python3 bots/python/greedy_bot.py' --web
  referee human jeex ./bot --seat 1 --record records")]
pub(super) struct Args {
    #[command(flatten)]
    seat: SeatOptions,
    /// Play in a browser: serve a page for you alone, whose URL is printed, on this address [default: 127.0.0.1 and a free port].
    /// Who knows the URL can play; on another address than 127.0.0.1, others can read it on its way
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:0")]
    web: Option<SocketAddr>,
    /// With --web: print the URL, then the match, one JSON object per line
    #[arg(long, requires = "web")]
    json: bool,
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let opened = args.seat.open(catalog, "human", "you")?;
    match args.web {
        Some(address) => in_browser(opened, address, args.json),
        None => at_terminal(opened),
    }
}

fn at_terminal(opened: SeatMatch) -> Result<Exit, Failure> {
    let SeatMatch { rules, seating, seat, socket, mut play } = opened;
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
    let played = with_bots(|| {
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
        for line in evidence_lines(&played.summary.first_faults, Evidence::is_quote) {
            writeln!(out, "{line}")?;
        }
    }
    exit(played)
}

fn exit(played: PlayResult) -> Result<Exit, Failure> {
    match played.stopped {
        _ if played.summary.interrupted => Ok(Exit::Interrupted),
        Some(why) => Err(Failure::cannot_run(why)),
        None => Ok(Exit::Done),
    }
}

#[cfg(feature = "http")]
fn in_browser(opened: SeatMatch, address: SocketAddr, json: bool) -> Result<Exit, Failure> {
    use std::sync::Arc;

    use crate::cli::json::{MatchLine, Watching};
    use crate::cli::output::stdout;
    use crate::cli::screen::stderr_line;
    use crate::client::SeatClient;
    use crate::game::json::text;
    use crate::web::PersonServer;

    let SeatMatch { rules, seat, socket, mut play, .. } = opened;
    let listener = socket.listener().map_err(Failure::cannot_run)?;
    let client = Arc::new(SeatClient::new("human"));
    let server = PersonServer::open(address, rules.meta(), seat, client.clone())
        .map_err(|error| Failure::cannot_run(format!("--web {address}: {error}")))?;
    play.runner.live = Some(server.feed());
    thread::spawn(move || {
        let played = listener.accept().and_then(|(stream, _)| client.play(stream));
        client.lose(played.err());
    });
    let url = server.url();
    if json {
        writeln!(stdout(), "{}", text(&Watching { url }))?;
    } else {
        stderr_line(format_args!("play at {url}"));
    }
    let mut lines = Vec::new();
    let played = with_bots(|| {
        let on_event = |step: PlayEvent<'_>| match step {
            PlayEvent::Ended(finished) if json => {
                lines.push(text(&MatchLine::of(finished, rules.meta().id)));
            }
            PlayEvent::Ended(finished) => {
                lines.push(result_line(finished, rules.meta()));
                lines.extend(finished.record.as_ref().map(|path| format!("record: {}", path.display())));
            }
            PlayEvent::Moved(_)
            | PlayEvent::SetEnded(_)
            | PlayEvent::Listening(_)
            | PlayEvent::Waiting(_) => {}
        };
        play.run(interrupted(), on_event)
    });
    server.close();
    if json {
        lines.iter().try_for_each(|line| writeln!(stdout(), "{line}"))?;
    } else {
        lines.extend(evidence_lines(&played.summary.first_faults, Evidence::is_quote));
        lines.iter().try_for_each(|line| writeln!(screen::stdout(), "{line}"))?;
    }
    exit(played)
}

/// The error of a program without HTTP.
#[cfg(not(feature = "http"))]
fn in_browser(_: SeatMatch, _: SocketAddr, _: bool) -> Result<Exit, Failure> {
    Err(Failure::usage("--web: this program was built without HTTP: `cargo install --features http`"))
}
