//! `referee human`: lets a person play at the terminal.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::Args as ClapArgs;

use crate::bot::Command;
use crate::cli::options::{GameOptions, MatchOptions, game};
use crate::cli::person::Person;
use crate::cli::screen;
use crate::cli::signals::interrupted;
use crate::cli::{Exit, Failure, launch, with_bots};
use crate::core::counted;
use crate::core::erased::BoardText;
use crate::core::{Seat, Viewer, hex};
use crate::games;
use crate::referee::Opening;
use crate::report::{evidence_lines, result_line};
use crate::server::{BotSpec, Evidence, MatchRunner, Openings, Play, PlayEvent, PlayResult, Source, Watch};

/// How long to wait until the person's side has displayed its last messages, before the result is printed.
const PATIENCE: Duration = Duration::from_millis(500);

/// Play a match yourself at the terminal, against bots
///
/// Before each of your moves you see the board as your seat may see it, and the legal moves with numbers. Type a move, a
/// prefix of one, or its number after `#`, such as #5. Nothing is sent until you confirm it. Type `?` for other actions:
/// offer a draw, accept one, resign.
#[derive(Debug, ClapArgs)]
#[command(mut_arg("clock", |clock| clock.default_value("none")))]
#[command(after_help = "Examples:
  referee human checkers 'python3 bots/python/greedy_bot.py'
  referee human jeex ./bot --seat 1 --record records")]
pub(super) struct Args {
    /// The game: see `referee games`
    game: String,
    /// The bots in the other seats, in order
    #[arg(required = true, value_name = "BOT")]
    bots: Vec<Command>,
    /// Your seat; seat 0 is that of the first bot in `referee play`
    #[arg(long, value_name = "N", default_value_t = 0)]
    seat: u8,
    #[command(flatten)]
    options: GameOptions,
    #[command(flatten)]
    terms: MatchOptions,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let rules = game(&args.game)?;
    let seats = u8::try_from(args.bots.len() + 1).unwrap_or(u8::MAX);
    let seating = games::seating(rules, Some(seats)).map_err(|what| {
        Failure::usage(format!("you and {}: {what}", counted(args.bots.len(), "bot", "bots")))
    })?;
    if args.seat >= seats {
        return Err(Failure::usage(format!("--seat {}: the seats are 0 to {}", args.seat, seats - 1)));
    }
    let options = args.options.to_json()?;
    rules.open(&options, seating).map_err(Failure::usage)?;
    let door = RelaySocket::open().map_err(Failure::cannot_run)?;
    let mut bots: Vec<Source> = args.bots.into_iter().map(Source::Command).collect();
    bots.insert(args.seat.into(), Source::Command(door.command()));
    let viewer = Viewer::Seat(Seat(args.seat));
    let watch: Watch = Box::new(move |play, _| BoardText(play.table(), viewer).to_string());
    let runner = MatchRunner {
        records: args.terms.records()?,
        watch: Some(watch),
        ..MatchRunner::new(args.terms.run()?, rules, seating, BotSpec::of(bots), launch()?)
    };
    let openings = Openings::same(options, Opening::None);
    let play = Play { runner, matches: 1, openings, mirror: None, trust_bots: false };
    let listener = door.listener.try_clone().map_err(Failure::cannot_run)?;
    let (tell, told) = channel();
    // Not joined: it may still wait for the keyboard when the match is over.
    thread::spawn(move || {
        let played = listener.accept().and_then(|(stream, _)| Person::new(stream, seating)?.play());
        let _ = tell.send(played);
    });
    let (mut board, mut result) = (String::new(), None);
    let PlayResult { summary, stopped } = with_bots(|| {
        let tell = |step: PlayEvent<'_>| match step {
            PlayEvent::Moved(text) => text.clone_into(&mut board),
            PlayEvent::Ended(report) => result = Some((result_line(report), report.record.clone())),
            PlayEvent::SetEnded(_) | PlayEvent::Listening(_) | PlayEvent::Waiting(_) => {}
        };
        play.run(interrupted(), tell)
    });
    let _ = told.recv_timeout(PATIENCE);
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

/// The socket of the person's seat. For the referee the person is a bot, whose process relays everything to this
/// socket, in a directory that other users cannot open.
struct RelaySocket {
    folder: PathBuf,
    listener: UnixListener,
}

impl RelaySocket {
    fn open() -> io::Result<RelaySocket> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let folder = std::env::temp_dir().join(format!("referee-{}", hex::encode(&name)));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let opened = UnixListener::bind(folder.join("socket"));
        // The file name of the program becomes the name of the player.
        let linked = std::env::current_exe().and_then(|program| symlink(program, folder.join("human")));
        match (opened, linked) {
            (Ok(listener), Ok(())) => Ok(RelaySocket { folder, listener }),
            (Err(error), _) | (_, Err(error)) => {
                let _ = fs::remove_dir_all(&folder);
                Err(error)
            }
        }
    }

    fn command(&self) -> Command {
        let path = |name| self.folder.join(name).to_string_lossy().into_owned();
        let argv = vec![path("human"), "relay".to_owned(), path("socket")];
        Command { argv, directory: None, env: BTreeMap::new() }
    }
}

impl Drop for RelaySocket {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
