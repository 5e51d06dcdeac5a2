//! A read-only HTTP server for spectators of a run: pages, their JSON, and live streams.
//!
//! Everything runs on one thread with a runtime of its own, at a lower priority than the lanes. The lanes pass on
//! positions without waiting (see [`LiveFeed`]); what a spectator gets is generated here from the public view.
//! The page `watch` of the protocol describes the interface and its limits.
//!
//! ```no_run
//! use referee_web::{WatchOptions, WatchServer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let catalog = referee_games::catalog();
//! let game = catalog.find("checkers")?.meta();
//! let options = WatchOptions { address: "127.0.0.1:8080".parse()?, hosts: Vec::new(), proxies: Vec::new(), url: None, delay: 0, info: Default::default(), stage: None, names: referee_game::keys };
//! let server = WatchServer::open(options, game, &catalog)?;
//! println!("{}", server.url());
//! // `referee_engine::runner::MatchRunner` gets this feed, and passes on what it plays.
//! let feed = server.feed();
//! # drop(feed);
//! server.close();
//! # Ok(())
//! # }
//! ```

mod answers;
mod api;
mod board;
mod entries;
mod guard;
mod host;
mod hub;
mod ladder;
mod limiter;
mod metrics;
mod nav;
mod notices;
mod owners;
mod pages;
mod person;
mod previews;
mod seasons;
mod serve;
mod stage;
mod story;
mod stream;
#[cfg(test)]
mod tests;
mod visitors;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};
use std::{fmt, io};

use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle as Task;
use tokio::time::timeout;

use crate::board::BoardDelays;
use crate::host::OwnAddresses;
use crate::hub::Hub;
use crate::serve::{TrustedProxies, is_among};
use crate::stage::EarlierMatch;
use referee_engine::runner::{LiveFeed, LiveReceiver, Unsealed, live_feed};
use referee_game::{Catalog, Meta, SettingNames, Viewer};
use referee_match::record::PublishedInfo;
use referee_report::page::PublicUrl;
use referee_results::FinishedMatch;

pub use entries::{DisplayNames, NextMatch, RecentResults, ShownName, StandingsRow, StandingsView};
pub use ladder::{AboutLeague, LadderPages, OtherLadder, OwnersLink, PackSending};
pub use notices::{Announcement, Notices, announce};
pub use owners::{
    OwnersLadder, OwnersOptions, OwnersReload, OwnersServer, SignUp, SignUpMode, SubmissionIntake,
};
pub use person::PersonServer;
pub use stage::{Stage, StageHold};
pub use visitors::{VisitorMatch, VisitorRoom};

#[derive(Clone, Debug)]
pub struct WatchOptions {
    /// The address of the server.
    pub address: SocketAddr,
    /// The names by which it may be addressed, besides IP addresses and `localhost`.
    pub hosts: Vec<String>,
    /// The proxies that name the address of the client, to which limits apply.
    pub proxies: Vec<IpAddr>,
    /// The URL at which a proxy publishes the pages; `None`: as requests say.
    pub url: Option<PublicUrl>,
    /// The number of moves by which the boards are behind.
    pub delay: u32,
    /// Whether and when the `info` of bots is public.
    pub info: PublishedInfo,
    /// Holds matches back before spectators see them.
    pub stage: Option<StageHold>,
    pub names: SettingNames,
}

/// The standings, computed when they are needed.
pub type StandingsSource = Box<dyn FnMut() -> StandingsView + Send>;

pub struct WatchServer {
    address: SocketAddr,
    feed: LiveFeed,
    hub: Arc<Hub>,
    /// Becomes true when the run is over.
    is_over: watch::Sender<bool>,
    thread: JoinHandle<ServerTasks>,
}

/// Results of the server's thread when the run is over.
struct ServerTasks {
    runtime: Runtime,
    receiving: Task<()>,
    publishing: Task<()>,
    serving: Task<()>,
}

impl fmt::Debug for WatchServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchServer").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Changes the name of a run on its pages.
#[derive(Clone)]
pub struct RunNaming(Arc<Hub>);

impl fmt::Debug for RunNaming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RunNaming").finish_non_exhaustive()
    }
}

impl RunNaming {
    /// Names the run from now on.
    pub fn set(&self, name: &str) {
        self.0.set_name(name.to_owned());
    }
}

impl WatchServer {
    /// The maximum number of matches that are listed.
    pub const MOST_LISTED: usize = hub::MOST_ENDED;

    /// Starts a server for a run of this game, which is in the catalog.
    ///
    /// # Errors
    /// If the address cannot be bound, or the thread cannot be started.
    pub fn open(options: WatchOptions, game: &'static Meta, catalog: &Catalog) -> io::Result<WatchServer> {
        let listener = TcpListener::bind(options.address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let info_delay = match options.info {
            PublishedInfo::Delayed { moves } => Some(moves),
            PublishedInfo::Never | PublishedInfo::After => None,
        };
        let (feed, events) = live_feed(Viewer::Public, info_delay.is_some());
        let (is_over, over) = watch::channel(false);
        let mut run = [0; 4];
        getrandom::fill(&mut run)?;
        let delays = BoardDelays { moves: options.delay, info: info_delay.filter(|_| !game.hidden) };
        let stage = options.stage.map(Stage::new).transpose()?.map(Arc::new);
        let hub = Hub::new(
            u32::from_ne_bytes(run),
            game,
            catalog.clone(),
            delays,
            options.info,
            stage,
            options.names,
        );
        let hub = Arc::new(hub);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("watch-replay")
            .build()?;
        let of_thread = hub.clone();
        let work = move || {
            lower_priority(10);
            let addresses = OwnAddresses { hosts: options.hosts, url: options.url };
            let proxies = Arc::new(move |peer| is_among(&options.proxies, peer));
            serve_during_run(runtime, listener, addresses, proxies, of_thread, events, over)
        };
        let thread = thread::Builder::new().name("watch".to_owned()).spawn(work)?;
        Ok(WatchServer { address, feed, hub, is_over, thread })
    }

    /// The address of the start page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Returns the stage that holds matches back before spectators see them.
    pub fn stage(&self) -> Option<&Arc<Stage>> {
        self.hub.stage()
    }

    /// Returns a handle that changes the name of the run.
    pub fn naming(&self) -> RunNaming {
        RunNaming(self.hub.clone())
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn feed(&self) -> LiveFeed {
        self.feed.clone()
    }

    /// Computes the standings in this way. Otherwise the bots are ranked by their mean score.
    pub fn set_standings(&self, standings: StandingsSource) {
        self.hub.set_standings(standings);
    }

    /// Names the run. Otherwise it has the name of its game.
    pub fn set_name(&self, name: &str) {
        self.hub.set_name(name.to_owned());
    }

    /// Names the entrants to which bots belong, by the names of the bots: teams are shown by their names.
    pub fn set_entrants(&self, names: BTreeMap<String, String>) {
        self.hub.set_entrants(names);
    }

    /// Shows a ladder: its standings and players, and how a bot joins. Call it once.
    pub fn set_ladder(&self, ladder: Arc<LadderPages>) {
        self.hub.set_ladder(ladder.clone());
        self.set_standings(Box::new(move || ladder.standings()));
    }

    /// Counts a match that was played before the server started, without listing it.
    pub fn count_earlier(&self, earlier: &FinishedMatch) {
        self.hub.count_earlier(earlier);
    }

    /// Lists a match that was played before, with its beginning if that is known, and its record if another match of its deal is still to be played. Matches are
    /// listed in the order in which they are added.
    pub fn add_earlier(
        &self,
        finished: FinishedMatch,
        began_at: Option<SystemTime>,
        unsealed: Option<Unsealed>,
    ) {
        self.hub.add_earlier(EarlierMatch { finished, began_at, unsealed });
    }

    /// Drops all matches that have ended from the lists, and the results that were counted for them.
    pub fn forget_matches(&self) {
        self.hub.forget_matches();
    }

    /// Shows everything of the matches of a deal that were added while it was incomplete.
    pub fn complete_deal(&self, deal: &str) {
        self.hub.complete_deal(deal);
    }

    /// Ends the streams and the server. Call it after the run, so that spectators get the last events. This takes as
    /// long as spectators need to receive them, two seconds at most.
    ///
    /// The thread that calls this does the remaining work: it has its normal priority, so that a busy machine does not
    /// cut off the last events. Nothing else of the run is left that it could delay.
    pub fn close(self) {
        let WatchServer { feed, hub, is_over, thread, .. } = self;
        if let Some((_, room)) = hub.visitors() {
            room.close();
        }
        drop(feed);
        is_over.send_replace(true);
        match thread.join() {
            Ok(ServerTasks { runtime, receiving, publishing, serving }) => {
                runtime.block_on(finish(&hub, receiving, serving));
                publishing.abort();
                // A replay that is still computed must not delay the end.
                runtime.shutdown_background();
            }
            Err(_) => tracing::error!("the server for spectators panicked"),
        }
    }
}

/// The time to wait at the end for the events that are left.
const LAST_EVENTS: Duration = Duration::from_secs(1);
/// The number of threads that read records and databases and compute replays.
const BLOCKING_THREADS: usize = 2;

/// Lowers the priority of this thread further below that of the lanes and the bots. Threads that it starts inherit it.
fn lower_priority(by: i32) {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(by) {
        tracing::debug!(%error, "cannot lower the priority of the server for spectators");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = by;
}

/// Serves until the run is over.
fn serve_during_run(
    runtime: Runtime,
    listener: TcpListener,
    addresses: OwnAddresses,
    proxies: TrustedProxies,
    hub: Arc<Hub>,
    events: LiveReceiver,
    mut over: watch::Receiver<bool>,
) -> ServerTasks {
    let receiving = runtime.spawn(hub::receive(hub.clone(), events));
    let publishing = runtime.spawn(hub::publish(hub.clone()));
    let serving = runtime.spawn(async move {
        match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => {
                serve::serve(listener, api::router(hub.clone(), addresses), hub.connections(proxies)).await;
            }
            Err(error) => tracing::error!(%error, "the server for spectators does not start"),
        }
    });
    // An error means that the server has been dropped.
    let _ = runtime.block_on(over.wait_for(|over| *over));
    ServerTasks { runtime, receiving, publishing, serving }
}

/// Passes on the last events, then ends the streams and the connections.
async fn finish(hub: &Hub, receiving: Task<()>, serving: Task<()>) {
    // The channel ends when nothing of the run is left.
    let _ = timeout(LAST_EVENTS, receiving).await;
    hub.close();
    if serving.await.is_err() {
        tracing::error!("the server for spectators panicked");
    }
}
