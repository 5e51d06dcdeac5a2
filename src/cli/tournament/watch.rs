//! `referee tournament watch`: serves the pages of a tournament, also while another process plays it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use clap::Args as ClapArgs;
use tokio::signal::unix::SignalKind;
use tokio::time::Instant;

use crate::cli::exit::{Exit, Failure};
use crate::cli::screen::stderr_line;
use crate::cli::signals::on_each;
use crate::cli::tournament::live_standings::LiveStandings;
use crate::cli::tournament::spectators::{SeatedBots, entrants_of_bots, was_cut_off};
use crate::cli::watch::announce;
use crate::files::{read_regular, unsealed};
use crate::game::chance::Seed;
use crate::runner::Unsealed;
use crate::runs::config::KnownGames;
use crate::runs::tournament::{StoredTournament, open_results, reveal};
use crate::stats::schedule::{MatchId, Plan};
use crate::store::{MatchRow, Results};
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
    let results = open_results(&args.dir)?;
    let mut version = results.data_version().map_err(Failure::cannot_run)?;
    let stored = StoredTournament::read(&args.dir, &results, games)?;
    let (sender, stopped) = channel();
    // A signal that arrives while nothing is received any more has no effect.
    on_each([SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()], move |_| {
        let _ = sender.send(());
    });
    let (address, hosts) = (args.watch, args.watch_host.clone());
    let (proxies, info) = (args.watch_proxy.clone(), stored.config.publish.info);
    let options = WatchOptions { address, hosts, proxies, url: None, delay: 0, info, stage: None };
    let server = WatchServer::open(options, stored.rules.meta(), stored.games.catalog())
        .map_err(|error| Failure::cannot_run(format!("--watch {}: {error}", args.watch)))?;
    let mut shown = ShownMatches::default();
    let began = Instant::now();
    shown.update(&args.dir, &results, stored, &server)?;
    let mut apart = LOOKS_APART.max(9 * began.elapsed());
    announce(&server.url(), args.json)?;
    let mut reported = None;
    while stopped.recv_timeout(apart) == Err(RecvTimeoutError::Timeout) {
        let began = Instant::now();
        // The process that plays may write in between. The next look tries again.
        match shown.look(&args.dir, &results, games, &mut version, &server) {
            Ok(()) => reported = None,
            Err(failure) => {
                let what = failure.to_string();
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

/// The matches that the server lists.
#[derive(Default)]
struct ShownMatches {
    /// With a hash of the row of each.
    rows: BTreeMap<MatchId, u64>,
    /// The matches whose deals are incomplete: the path of the record of each, and its deal.
    unsealed: Vec<(PathBuf, String)>,
}

impl ShownMatches {
    /// Shows what has changed in the database since this version.
    fn look(
        &mut self,
        dir: &Path,
        results: &Results,
        games: &KnownGames,
        version: &mut i64,
        server: &WatchServer,
    ) -> Result<(), Failure> {
        results.check_in_place().map_err(Failure::cannot_run)?;
        let found = results.data_version().map_err(Failure::cannot_run)?;
        if found != *version {
            self.update(dir, results, StoredTournament::read(dir, results, games)?, server)?;
            *version = found;
        }
        self.complete(server);
        Ok(())
    }

    /// Shows the matches that are new, and the standings. When a row has changed that is listed, such as that of a match that was
    /// taken back with its worker, all are listed anew.
    fn update(
        &mut self,
        dir: &Path,
        results: &Results,
        stored: StoredTournament,
        server: &WatchServer,
    ) -> Result<(), Failure> {
        let seed = stored.seed().map_err(Failure::cannot_run)?;
        let StoredTournament { about, config, schedule, .. } = stored;
        server.set_name(&about.name);
        server.set_entrants(entrants_of_bots(&config));
        let bots = SeatedBots::of(&config, about.seating);
        let records = dir.join("records");
        let mut has_changed = false;
        let compared = results.for_each_match(|row| {
            has_changed |= self.rows.get(&row.id).is_some_and(|listed| *listed != hash_of(&row));
            Ok(())
        });
        compared.map_err(Failure::cannot_run)?;
        if has_changed {
            (self.rows, self.unsealed) = Default::default();
            server.forget_matches();
        }
        let read = results.for_each_match(|row| {
            if !was_cut_off(&row) && self.rows.insert(row.id, hash_of(&row)).is_none() {
                let record = row.record.as_ref().map(|name| records.join(name));
                let unsealed =
                    record.as_deref().and_then(|path| set_aside(path, &row, &seed, schedule.plan()));
                if let (Some(path), Some(Unsealed { deal, .. })) = (&record, &unsealed) {
                    self.unsealed.push((path.clone(), deal.clone()));
                }
                server.add_earlier(bots.earlier(row, record), unsealed);
            }
            Ok(())
        });
        read.map_err(Failure::cannot_run)?;
        let mut standings = LiveStandings::open(dir, &config)?;
        server.set_standings(Box::new(move || standings.view(&schedule)));
        Ok(())
    }

    /// Shows everything of the matches whose records are sealed by now: their deals are complete.
    fn complete(&mut self, server: &WatchServer) {
        for (_, deal) in self.unsealed.extract_if(.., |(path, _)| path.exists()) {
            server.complete_deal(&deal);
        }
    }
}

/// A hash of what a row says.
fn hash_of(row: &MatchRow) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{row:?}").hash(&mut hasher);
    hasher.finish()
}

/// The record of a match whose deal is incomplete.
fn set_aside(sealed: &Path, row: &MatchRow, seed: &Seed, plan: &Plan) -> Option<Unsealed> {
    if sealed.exists() {
        return None;
    }
    // If there is none, it has been sealed in between, or it is missing.
    let record = read_regular(&unsealed(sealed)).ok()?;
    let (match_id, deal) = (row.id.to_string(), plan.deal(row.id));
    let reveal = reveal(seed, &match_id, &deal, plan.seating.seats());
    Some(Unsealed { deal, match_id, record, reveal })
}
