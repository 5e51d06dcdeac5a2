//! `referee tournament watch`: serves the pages of a tournament, also while another process plays it.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use clap::Args as ClapArgs;
use tokio::signal::unix::SignalKind;
use tokio::time::Instant;

use crate::cli::exit::{Exit, Failure};
use crate::cli::options::option_names;
use crate::cli::screen::stderr_line;
use crate::cli::signals::on_each;
use crate::cli::watch::announce;
use crate::game::Chain;
use crate::runs::config::KnownGames;
use crate::runs::tournament::FollowedTournament;
use crate::web::{WatchOptions, WatchServer};

/// Serve the pages of a tournament, after it was played or while another process plays it
///
/// The pages are those of `run --watch`: who leads and why, the standings, and all matches that have ended with their replays.
/// The directory is only read; new results appear a second after they were stored. Live boards are served by the process that
/// plays. It runs until a signal stops it.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee tournament watch cup
  referee tournament watch cup --watch 0.0.0.0:8080 --watch-host cup.example.org")]
pub(super) struct Args {
    /// Its directory
    dir: PathBuf,
    /// The address of the server; port 0 picks a free port. The URL is printed
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    watch: SocketAddr,
    /// A host name by which browsers may address the server, besides IP addresses and localhost; may be repeated
    #[arg(long, value_name = "NAME")]
    watch_host: Vec<String>,
    /// A reverse proxy whose X-Forwarded-For names the client, to whose address limits apply; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    watch_proxy: Vec<IpAddr>,
    /// The URL as a JSON object
    #[arg(long)]
    json: bool,
}

/// The minimum time between two looks at the database.
const LOOKS_APART: Duration = Duration::from_millis(500);

pub(super) fn run(args: &Args, games: &KnownGames) -> Result<Exit, Failure> {
    let (mut followed, stored) = FollowedTournament::open(&args.dir, games)?;
    let (sender, stopped) = channel();
    // A signal that arrives while nothing is received any more has no effect.
    on_each([SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()], move |_| {
        let _ = sender.send(());
    });
    let (address, hosts) = (args.watch, args.watch_host.clone());
    let (proxies, info) = (args.watch_proxy.clone(), stored.config.publish.info);
    let options =
        WatchOptions { address, hosts, proxies, url: None, delay: 0, info, stage: None, names: option_names };
    let server = WatchServer::open(options, stored.rules.meta(), stored.games.catalog())
        .map_err(|error| Failure::cannot_run(format!("--watch {}: {error}", args.watch)))?;
    let began = Instant::now();
    followed.show(stored, &server)?;
    let mut apart = LOOKS_APART.max(9 * began.elapsed());
    announce(&server, args.json)?;
    let mut reported = None;
    while stopped.recv_timeout(apart) == Err(RecvTimeoutError::Timeout) {
        let began = Instant::now();
        match followed.show_changes(&server) {
            Ok(()) => reported = None,
            Err(error) => {
                let what = Chain(&error).to_string();
                if reported.as_ref() != Some(&what) {
                    stderr_line(format_args!("the pages are not up to date: {what}"));
                }
                reported = Some(what);
            }
        }
        apart = LOOKS_APART.max(9 * began.elapsed());
    }
    server.close();
    Ok(Exit::Done)
}
