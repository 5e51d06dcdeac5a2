//! `referee serve`: plays a league.

mod control;
mod open;
mod stop;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use clap::Args as ClapArgs;
use tokio::sync::mpsc;

use crate::cli::json::{LadderListening, LadderWatching, LeagueMatchLine};
use crate::cli::league::config::{Config, PreparedLadder};
use crate::cli::league::now;
use crate::cli::screen::complain;
use crate::cli::service::Service;
use crate::cli::{Exit, Failure, launch, screen, signals, with_bots};
use crate::core::{Catalog, json};
use crate::driver::Run;
use crate::league::{LadderScheduler, row_of};
use crate::runner::{Halt, MatchRunner, RunEnd, RunEvent};
use crate::sources::Listen;
use crate::store::{Folder, League, LeagueMatch};

use control::{Control, tokens};
use open::{Opened, open};
use stop::{LadderStop, Stops};

/// The maximum number of idle processes of programs that are kept.
const PROCESSES: usize = 64;
/// The reason in `bye` when the server stops.
const CLOSED: &str = "the league is closed for now: connect again later";

/// Play a league: a server that stays, to which bots connect when they like
///
/// Bots that connect with a token, and programs that the server starts, are paired for as long as they stay. SIGTERM and
/// Ctrl-C drain: no match begins, those in progress end, and the exit code is 0; a second signal stops at once. After that,
/// or a crash, no result is lost or counted twice, and matches whose bots connect again continue. `referee league` manages the
/// league meanwhile.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league init mine
  cd mine
  referee serve league.toml
  referee serve league.toml --json --log-format json

`referee spec league` explains pairings, ratings and the files of a league.")]
pub(super) struct Args {
    /// The file of the league; its directory holds everything
    #[arg(default_value = "league.toml")]
    config: PathBuf,
    /// One JSON object per line: addresses, and each match that ends
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let config = Config::read(&args.config)?;
    let mut prepared = Vec::new();
    for ladder in &config.ladders {
        prepared.push((ladder, ladder.prepare(catalog, &config.folder)?));
    }
    let folder = Folder::open(&config.folder).map_err(Failure::cannot_run)?;
    let mut league = League::open(&folder).map_err(Failure::cannot_run)?;
    config.store_programs(&mut league, now())?;
    let mut opened = Vec::new();
    for (ladder, prepared) in prepared {
        opened.push(open((&config, ladder), prepared, &folder, &mut league, catalog)?);
    }
    let service = Arc::new(Service::new(opened.len()));
    let stops = Stops::new(service.clone());
    let of_signals = stops.clone();
    let result = with_bots(|| {
        signals::on_each(move |number| of_signals.signal(number));
        for Opened { config, watch, .. } in &opened {
            if let Some((server, _)) = watch {
                let (ladder, url) = (&config.name, &server.url());
                let line = args.json.then(|| json::text(&LadderWatching { ladder, url }));
                announce(line, format_args!("{ladder}: watch at {url}"));
            }
        }
        thread::scope(|scope| {
            let (folder, stops, service) = (&folder, &stops, &service);
            let is_json = args.json;
            let playing: Vec<_> = opened
                .into_iter()
                .map(|ladder| scope.spawn(move || play(ladder, folder, stops, service, is_json)))
                .collect();
            let mut result = Ok(());
            for ladder in playing {
                let ended = ladder.join().unwrap_or_else(|_| Err(Failure::cannot_run("a thread panicked")));
                result = result.and(ended);
            }
            result
        })
    });
    result?;
    Ok(if stops.is_aborted() { Exit::Interrupted } else { Exit::Done })
}

/// Prints a line of JSON, or a line for people. A reader that is gone does not stop the league.
fn announce(line: Option<String>, text: impl std::fmt::Display) {
    match line {
        Some(line) => {
            let mut out = screen::stdout();
            let _ = writeln!(out, "{line}").and_then(|()| out.flush());
        }
        None => complain(text),
    }
}

/// Plays a ladder until it is stopped.
fn play(
    opened: Opened<'_>,
    folder: &Folder,
    stops: &Stops,
    service: &Arc<Service>,
    is_json: bool,
) -> Result<(), Failure> {
    let Opened { config, prepared, seed, ladder, records, journal, running, resumed, wait, watch } = opened;
    let PreparedLadder { rules, seating, terms, limits, listen, reconnect } = prepared;
    let name = &config.name;
    let wrong = |error: io::Error| Failure::cannot_run(format!("ladder {name}: {error}"));
    let mut league = League::open(folder).map_err(wrong)?;
    let bots = league.bots().map_err(wrong)?;
    let listen = listen.map(|(address, certificate, connections)| Listen {
        address,
        certificate,
        tokens: Some(tokens(&bots)),
        is_open: true,
        connections,
        wait: Duration::ZERO,
        reconnect,
    });
    let (stop, drained, interrupted) = LadderStop::new(wait.clone());
    stops.add(stop);
    let (changes, changed) = mpsc::unbounded_channel();
    let runner = MatchRunner {
        jobs: limits.jobs,
        processes: PROCESSES.max(limits.jobs * seating.seats()),
        listen,
        drain: Some(drained),
        records: Some(records),
        journal: Some(journal),
        running: Some(running.clone()),
        resumed,
        changes: Some(changed),
        live: watch.as_ref().map(|(server, _)| server.feed()),
        ..MatchRunner::new(Run { seed, terms }, rules, seating, Vec::new(), launch()?)
    };
    let is_open = runner.listen.is_some();
    let (end_control, control_ends) = channel::<()>();
    let control = Control {
        name: name.clone(),
        service: service.clone(),
        ladder: ladder.clone(),
        league: League::open(folder).map_err(wrong)?,
        changes,
    };
    let mut unstored: Vec<LeagueMatch> = Vec::new();
    let mut out = screen::stdout();
    let mut tell = |event: RunEvent<'_>| -> Result<(), Halt> {
        match event {
            RunEvent::Listening(address) => {
                let line = is_json.then(|| json::text(&LadderListening { ladder: name, address }));
                announce(line, format_args!("{name}: bots connect to {address}"));
                service.ready(name);
                if let Some((_, pages)) = &watch {
                    pages.port.get_or_init(|| address.port());
                }
            }
            RunEvent::Ended { report, record, seal, no_show, .. } => {
                if let Some(no_show) = no_show {
                    tracing::warn!("{name} {}: {}", report.id, no_show.why);
                }
                if report.ranks.is_some() {
                    ladder.lock().recorded(&report.seats, record);
                }
                unstored.extend(row_of(report, record, seal, now()));
            }
            RunEvent::Settled => {
                wait.retry("the database of the league", || league.add_matches(name, &unstored))
                    .map_err(|error| error.to_string())?;
                ladder.lock().stored(&unstored)?;
                for row in unstored.drain(..) {
                    if let Err(error) = running.remove(&row.id()) {
                        tracing::warn!("{name} {}: its journal cannot be removed: {error}", row.id());
                    }
                    if is_json {
                        let line = LeagueMatchLine { ladder: name, id: row.id(), row: &row };
                        // A reader that is gone does not stop the league.
                        let _ = writeln!(out, "{}", json::text(&line));
                    }
                }
                let _ = out.flush();
            }
            RunEvent::Waiting(_) | RunEvent::Connected(_) | RunEvent::Moved(_) => {}
        }
        Ok(())
    };
    let interrupt = async {
        if interrupted.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let control =
        thread::Builder::new().name("control".to_owned()).spawn(move || control.work(&control_ends));
    let control = control.map_err(Failure::cannot_run)?;
    if !is_open {
        service.ready(name);
    }
    let scheduler = LadderScheduler(ladder.clone());
    let RunEnd { why, lobby, .. } = runner.play(scheduler, interrupt, &mut tell);
    drop(end_control);
    let controlled = control.join();
    if let Some(lobby) = lobby {
        lobby.close(CLOSED).map_err(wrong)?;
    }
    if let Some((server, _)) = watch {
        server.close();
    }
    match (why, controlled) {
        (Some(why), _) => Err(Failure::cannot_run(format!("ladder {name}: {why}"))),
        (None, Ok(Ok(()))) => Ok(()),
        (None, Ok(Err(error))) => Err(wrong(error)),
        (None, Err(_)) => Err(Failure::cannot_run("a thread panicked")),
    }
}
