//! Plays a league: a server that stays, to which bots connect when they like.

mod control;
mod events;
mod kept;
mod notice;
mod open;
mod play;
mod reload;
mod results;
mod retention;
mod stop;
mod submissions;
mod visitors;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use referee_bots::Launch;
use referee_files::Folder;
use referee_game::Wrong;
use referee_league::{League, LeagueMatch};
use referee_store::now;
use referee_web::{OtherLadder, OwnersLadder, OwnersServer, SubmissionIntake, WatchServer};
use tokio::sync::oneshot;

pub use notice::LeagueNotice;
pub use reload::LeagueReload;
pub use stop::LeagueStop;

pub(super) use self::control::tokens;
use self::open::{LadderOpening, OpenedLadder};
use self::play::LeagueRun;
use self::reload::{ConfigFile, CurrentConfig, Following};
use crate::Placement;
use crate::RunError;
use crate::config::KnownGames;
use crate::league::config::{LeagueConfig, WORKERS};
use crate::submissions::{SharedTerms, SubmissionQueue};
use crate::workers::{OpenedWorkers, SetSource, WorkersConfig};

/// An event of a league in progress.
#[derive(Debug)]
pub enum LeagueEvent<'a> {
    /// Spectators can watch a ladder.
    Watching {
        ladder: &'a str,
        /// The URL of its pages.
        url: &'a str,
    },
    /// Bots can connect to a ladder.
    Listening { ladder: &'a str, address: SocketAddr },
    /// The matches of this ladder begin.
    Ready(&'a str),
    /// The ladder with this name follows changes. Comes several times a second.
    Alive(&'a str),
    /// Matches have ended, and their results are stored.
    Ended { ladder: &'a str, rows: &'a [LeagueMatch] },
}

/// A league that has been opened: its results are complete, and its addresses are taken.
pub struct LeagueServer {
    folder: Folder,
    file: ConfigFile,
    launch: Launch,
    ladders: Vec<OpenedLadder>,
    set_source: Option<SetSource>,
    owners: Option<OwnersServer>,
    queue: Option<SubmissionQueue>,
    /// The rules for programs that are handed in.
    terms: Option<SharedTerms>,
    notices: Vec<LeagueNotice>,
    stop: LeagueStop,
}

impl std::fmt::Debug for LeagueServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeagueServer").field("folder", &self.folder.path()).finish_non_exhaustive()
    }
}

impl LeagueServer {
    /// Opens the league of a file, as it was left by an earlier server, with these workers.
    ///
    /// # Errors
    /// If it cannot be played.
    pub fn open(
        config: &LeagueConfig,
        games: &KnownGames,
        workers: &WorkersConfig,
    ) -> Result<LeagueServer, RunError> {
        let prepared = config.ladders.iter().map(|ladder| ladder.prepare(games, &config.folder));
        let mut prepared = prepared.collect::<Result<Vec<_>, _>>()?;
        config.retention()?;
        let file = ConfigFile::new(CurrentConfig::of(config.clone())?);
        let folder = Folder::open(&config.folder)?;
        let mut league = League::open(&folder)?;
        let of_programs = config.store_programs(&mut league, now())?;
        config.check_sandboxes(&league.bots()?)?;
        events::put_into_force(&mut league, config, now())?;
        let has_workers = workers.is_given();
        let keep = config.keep(has_workers)?;
        prepared.iter_mut().for_each(|ladder| ladder.limits.keep = keep);
        let launch = games.launch().clone();
        let mut opening =
            LadderOpening { config, folder: &folder, league: &mut league, has_workers, launch: &launch };
        let ladders = config.ladders.iter().zip(prepared);
        let ladders = ladders.map(|(ladder, prepared)| opening.open(ladder, prepared));
        let mut ladders = ladders.collect::<Result<Vec<_>, _>>()?;
        let leases = ladders.iter_mut().filter_map(|ladder| ladder.leases.take()).collect();
        let of_workers = folder.path().join(WORKERS);
        if has_workers {
            folder.make_within(WORKERS)?;
        }
        let opened = workers.open(&of_workers, leases, config.lets_workers_build())?;
        let (trials, set_source) = match opened {
            Some(OpenedWorkers { coordinators, trials, source }) => {
                for (ladder, coordinator) in ladders.iter_mut().zip(coordinators) {
                    ladder.placement = Placement::Workers {
                        coordinator: Box::new(coordinator),
                        directory: of_workers.clone(),
                    };
                }
                (trials, Some(source))
            }
            None => (None, None),
        };
        let mut notices: Vec<LeagueNotice> = of_programs.into_iter().map(LeagueNotice::from).collect();
        let submissions =
            submissions::open(config, &ladders, &folder, of_workers, trials, &launch, &mut notices)?;
        let terms = submissions.as_ref().map(|opened| opened.terms.clone());
        let (intake, queue) = submissions.map(|opened| (opened.intake, opened.queue)).unzip();
        let owners = open_owners(config, &ladders, &folder, intake)?;
        link_pages(&ladders, owners.as_ref());
        Ok(LeagueServer {
            folder,
            file,
            launch,
            ladders,
            set_source,
            owners,
            queue: queue.flatten(),
            terms,
            notices,
            stop: LeagueStop::default(),
        })
    }

    pub fn notices(&self) -> &[LeagueNotice] {
        &self.notices
    }

    /// The source of sets for workers, if there are workers.
    pub fn set_source(&self) -> Option<&SetSource> {
        self.set_source.as_ref()
    }

    /// The URL of the pages of owners, if there are any.
    pub fn owners_url(&self) -> Option<&str> {
        self.owners.as_ref().map(OwnersServer::url)
    }

    /// The number of its ladders.
    pub fn ladder_count(&self) -> usize {
        self.ladders.len()
    }

    pub fn stop(&self) -> LeagueStop {
        self.stop.clone()
    }

    /// Returns a handle that reloads the file of the league while it is played.
    ///
    /// # Errors
    /// Those of opening its directory.
    pub fn reload(&self) -> Result<LeagueReload, RunError> {
        let pages = self
            .ladders
            .iter()
            .map(|ladder| (ladder.pages.clone(), ladder.watch.as_ref().map(WatchServer::naming)));
        let following = Following {
            pages: pages.collect(),
            owners: self.owners.as_ref().map(OwnersServer::reload),
            terms: self.terms.clone(),
        };
        Ok(LeagueReload { folder: Folder::open(self.folder.path())?, file: self.file.clone(), following })
    }

    /// Plays until the league is stopped. Events come from several threads.
    ///
    /// # Errors
    /// If a ladder cannot be played on; the others are played until they are stopped.
    pub fn play(self, on_event: &(dyn Fn(LeagueEvent<'_>) + Sync)) -> Result<(), RunError> {
        for OpenedLadder { config, watch, .. } in &self.ladders {
            if let Some(server) = watch {
                on_event(LeagueEvent::Watching { ladder: &config.name, url: &server.url() });
            }
        }
        let LeagueServer { folder, file, launch, ladders, owners, queue, stop, .. } = self;
        let run = LeagueRun { folder: &folder, stop: &stop, file: &file, launch: &launch, on_event };
        let of_events = League::open(&folder)?;
        let result = thread::scope(|scope| {
            let (end_events, events_end) = channel::<()>();
            let file = run.file;
            let waiting = scope.spawn(move || events::work(of_events, file, &events_end));
            let playing: Vec<_> =
                ladders.into_iter().map(|ladder| scope.spawn(move || run.play(ladder))).collect();
            let (end, ended) = oneshot::channel::<()>();
            let working = queue.map(|queue| scope.spawn(move || submissions::work(queue, run.stop, ended)));
            let mut result = Ok(());
            for ladder in playing {
                result = result.and(ladder.join().unwrap_or(Err(panicked())));
            }
            drop(end_events);
            result = result.and(waiting.join().map_err(|_| panicked()));
            // The queue may be missing.
            let _ = end.send(());
            let worked = working.map_or(Ok(()), |queue| queue.join().unwrap_or(Err(panicked())));
            result.and(worked)
        });
        if let Some(owners) = owners {
            owners.close();
        }
        result
    }
}

fn panicked() -> RunError {
    RunError::machine("a thread panicked")
}

/// Tells the pages of each ladder where those of the others and those of owners are.
fn link_pages(ladders: &[OpenedLadder], owners: Option<&OwnersServer>) {
    let link = |OpenedLadder { config, watch, .. }: &OpenedLadder| {
        let (name, url) = (config.name.clone(), config.watch_url.as_ref().map(ToString::to_string));
        Some(OtherLadder { name, port: watch.as_ref()?.port(), url })
    };
    for own in ladders {
        let others = ladders.iter().filter(|other| other.config.name != own.config.name);
        own.pages.set_neighbours(others.filter_map(link).collect(), owners.map(OwnersServer::port));
    }
}

/// Starts the server for the owners of bots, if the league has one.
fn open_owners(
    config: &LeagueConfig,
    ladders: &[OpenedLadder],
    folder: &Folder,
    intake: Option<Arc<SubmissionIntake>>,
) -> Result<Option<OwnersServer>, RunError> {
    let Some(options) = config.owners()? else { return Ok(None) };
    let ladders = ladders.iter().map(|OpenedLadder { config, prepared, pages, watch, .. }| OwnersLadder {
        name: config.name.clone(),
        seats: prepared.game.seating.seats(),
        watch_port: watch.as_ref().map(WatchServer::port),
        watch_url: config.watch_url.as_ref().map(ToString::to_string),
        records: pages.records.clone(),
        view: pages.clone(),
    });
    let address = options.address;
    let server = OwnersServer::open(options, League::open(folder)?, ladders.collect(), intake);
    server.map(Some).map_err(|why| RunError::machine(Wrong::at(format!("owners: listen {address}"), why)))
}
