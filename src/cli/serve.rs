//! `referee serve`: plays a league.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args as ClapArgs;
use tokio::signal::unix::SignalKind;

use crate::cli::bots::with_bots;
use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::cli::json::{LadderListening, LadderWatching, LeagueMatchLine, OwnersAt};
use crate::cli::screen::stderr_line;
use crate::cli::service::Service;
use crate::cli::user::user;
use crate::cli::workers::{self, WorkersOptions};
use crate::cli::{screen, signals};
use crate::game::{Catalog, Chain, json};
use crate::runs::league::config::LeagueConfig;
use crate::runs::league::{LeagueEvent, LeagueReload, LeagueServer, LeagueStop};

/// Play a league: a server that stays, to which bots connect when they like
///
/// Bots that connect with a token, and programs that the server starts, are paired for as long as they stay. SIGTERM and
/// Ctrl-C drain: no match begins, those in progress end, and the exit code is 0; a second signal stops at once. After that,
/// or a crash, no result is lost or counted twice, and matches whose bots connect again continue. `referee league` manages the
/// league meanwhile. SIGHUP reads the file again and says what has changed, and what of it needs a restart.
///
/// With workers (`referee worker`), which connect to the league or pull from a NATS server, matches between programs are played
/// on other machines. They are played here while no worker is active, and so are those of bots that connect.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee init league mine
  cd mine
  referee serve league.toml
  referee serve league.toml --json --log-format json
  referee serve league.toml --workers-listen 0.0.0.0:4711

`referee spec league` explains pairings, ratings and the files of a league.")]
pub(super) struct Args {
    /// The file of the league; its directory holds everything
    #[arg(default_value = "league.toml")]
    config: PathBuf,
    /// One JSON object per line: addresses, and each match that ends
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    workers: WorkersOptions,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let config = LeagueConfig::read(&args.config)?;
    let workers = match args.workers.is_given() {
        true => args.workers.config(),
        false => config.workers()?.unwrap_or_else(|| args.workers.config()),
    };
    let league = LeagueServer::open(&config, &known_games(catalog)?, &workers)?;
    if let Some(source) = league.set_source() {
        workers::announce(source, args.json)?;
    }
    league.notices().iter().for_each(|notice| stderr_line(Chain(notice)));
    if let Some(url) = league.owners_url() {
        announce(args.json.then(|| json::text(&OwnersAt { url })), format_args!("owners: {url}"));
    }
    let service = Arc::new(Service::new(league.ladder_count()));
    let stop = league.stop();
    let on_signal = on_signal(league.reload()?, stop.clone(), service.clone());
    with_bots(|| {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        signals::on_each(kinds, on_signal);
        league.play(&|event| show(&event, args.json, &service))
    })?;
    Ok(if stop.is_aborted() { Exit::Interrupted } else { Exit::Done })
}

/// The effect of each signal: SIGHUP reads the file of the league again, unless it says that the terminal was
/// closed; others stop the league.
fn on_signal(reload: LeagueReload, stop: LeagueStop, service: Arc<Service>) -> impl FnMut(SignalKind) + Send {
    let has_terminal = std::io::stderr().is_terminal();
    let mut is_draining = false;
    move |kind| {
        let is_terminal_lost = has_terminal && !std::io::stderr().is_terminal();
        if kind == SignalKind::hangup() && !is_terminal_lost {
            return match reload.reload(&user()) {
                Ok(changes) if changes.is_empty() => stderr_line("reloaded: nothing has changed"),
                Ok(changes) => {
                    for change in changes {
                        stderr_line(format_args!("reloaded: {change}"));
                    }
                }
                Err(error) => stderr_line(format_args!("not reloaded: {}", Chain(&error))),
            };
        }
        if is_draining {
            return stop.abort();
        }
        is_draining = true;
        service.stopping();
        stderr_line("stopping: the matches in progress end first; a second signal stops at once");
        stop.drain();
    }
}

/// Shows events, and tells the service manager.
fn show(event: &LeagueEvent<'_>, is_json: bool, service: &Service) {
    match *event {
        LeagueEvent::Watching { ladder, url } => {
            let line = is_json.then(|| json::text(&LadderWatching { ladder, url }));
            announce(line, format_args!("{ladder}: watch at {url}"));
        }
        LeagueEvent::Listening { ladder, address } => {
            let line = is_json.then(|| json::text(&LadderListening { ladder, address }));
            announce(line, format_args!("{ladder}: bots connect to {address}"));
        }
        LeagueEvent::Ready(ladder) => service.ready(ladder),
        LeagueEvent::Alive(ladder) => service.alive(ladder),
        LeagueEvent::Ended { ladder, rows } if is_json => {
            let mut out = screen::stdout();
            // A closed standard output does not stop the league.
            for row in rows {
                let _ = writeln!(out, "{}", json::text(&LeagueMatchLine { ladder, id: row.id(), row }));
            }
            let _ = out.flush();
        }
        LeagueEvent::Ended { .. } => {}
    }
}

/// Prints a line of JSON, or a line for people. A closed standard output does not stop the league.
fn announce(line: Option<String>, text: impl std::fmt::Display) {
    match line {
        Some(line) => {
            let mut out = screen::stdout();
            let _ = writeln!(out, "{line}").and_then(|()| out.flush());
        }
        None => stderr_line(text),
    }
}
