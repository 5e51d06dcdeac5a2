//! The HTTP server for the owners of bots: signing up, their own bots and logs, challenges. It writes, so it is another
//! server than the one for spectators, with another address and its own limits.
//!
//! Everything runs on one thread with a runtime of its own, at a lower priority than the lanes. The page `league` of the
//! protocol describes the interface and its limits.

mod account;
mod bots;
mod error;
mod export;
mod matches;
mod notices;
mod organiser;
mod session;
mod signup;
mod submissions;

pub use submissions::SubmissionIntake;

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, io};

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{HeaderValue, STRICT_TRANSPORT_SECURITY, X_FRAME_OPTIONS};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{delete, get, patch, post};
use futures_util::future::join_all;
use referee_league::{League, LeagueOwner, OwnerAct, OwnerCredential, PlannedEvent};
use referee_protocol::schemas::OWNERS_API;
use referee_report::page::PublicUrl;
use referee_store::now;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::api::{as_json, refused};
use crate::guard;
use crate::host::{OwnAddresses, beside};
use crate::ladder::LadderPages;
use crate::limiter::{Pace, Rate};
use crate::metrics::OpenCount;
use crate::nav::{NavBar, OWNERS};
use crate::pages::{self, BAR, COMMON_SCRIPT, Page, PageCard, SAMPLE_SCRIPT, SIGNED_SCRIPT, TOP};
use crate::serve::{Connections, is_among, serve};
use error::OwnersError;

/// The maximum size of the body of a request, in bytes.
const MOST_BODY: usize = 16 * 1024;
/// The limit on an owner's changes.
const CHANGES: Rate = Rate { interval: Duration::from_secs(1), burst: 30 };
/// The number of owners from which the idle ones are dropped from the list of their paces.
const MOST_PACES: usize = 4096;
/// The time for which a response waits at most for the ladders to take up a change.
const TAKEN_UP: Duration = Duration::from_secs(5);
/// The number of threads that read and write the database.
const BLOCKING_THREADS: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignUpMode {
    /// The organiser adds owners.
    #[default]
    Closed,
    /// Owners with an invitation.
    Invite,
    /// Owners may all sign up.
    Open,
}

#[derive(Clone, Copy, Debug)]
pub struct SignUp {
    pub mode: SignUpMode,
    /// Whether the organiser has to approve those without an invitation.
    pub needs_approval: bool,
    /// The number of sign-ups without an invitation a day.
    pub per_day: u32,
    /// The number of them from one network.
    pub per_network: u32,
}

#[derive(Clone, Debug)]
pub struct OwnersOptions {
    /// The address of the server.
    pub address: SocketAddr,
    /// The URL by which people reach it, with a `/` at its end; without it, that of the address.
    pub url: Option<String>,
    /// The names by which it may be addressed, besides IP addresses, `localhost` and the host of `url`.
    pub hosts: Vec<String>,
    /// The proxies whose header fields count.
    pub trusted_proxies: Vec<IpAddr>,
    /// The header field in which a proxy names the owner.
    pub trusted_user_header: Option<String>,
    pub sign_up: SignUp,
    /// The maximum number of bots of an owner.
    pub bots: u32,
    /// The maximum number of challenges of an owner a day.
    pub challenges: u32,
    /// The name of the league, for display.
    pub league_name: String,
    /// The directory of announcements, if there is one.
    pub announcements: Option<PathBuf>,
}

impl OwnersOptions {
    /// The options of a server that has this address.
    fn at(self, address: SocketAddr) -> OwnersOptions {
        let url = self.url.unwrap_or_else(|| format!("http://{address}/"));
        OwnersOptions { address, url: Some(url), ..self }
    }
}

impl OwnersOptions {
    /// The URL of the start page as the sender of a request sees it.
    fn public_url(&self, headers: &HeaderMap) -> Option<PublicUrl> {
        let of_file = self.url.as_ref().filter(|url| **url != format!("http://{}/", self.address));
        let url = of_file.and_then(|url| url.parse().ok());
        OwnAddresses { hosts: self.hosts.clone(), url }.public_url(headers)
    }
}

/// A ladder, as owners see it.
pub struct OwnersLadder {
    pub name: String,
    /// The number of bots in a match.
    pub seats: usize,
    pub watch_port: Option<u16>,
    /// The URL of its pages, if the league file names one.
    pub watch_url: Option<String>,
    /// The directory of its records.
    pub records: PathBuf,
    pub view: Arc<LadderPages>,
}

impl fmt::Debug for OwnersLadder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnersLadder").field("name", &self.name).finish_non_exhaustive()
    }
}

/// State that the requests share.
struct Owners {
    options: Mutex<Arc<OwnersOptions>>,
    ladders: Vec<OwnersLadder>,
    league: Mutex<League>,
    /// The pace of owners' changes, by their ids.
    paces: Mutex<HashMap<String, Pace>>,
    /// The permit to write an archive of an owner, one at a time.
    export: Arc<tokio::sync::Semaphore>,
    /// The intake of submissions, if there is one.
    intake: Option<Arc<SubmissionIntake>>,
    /// The ids of the owners who are handing one in.
    uploading: Mutex<HashSet<String>>,
}

type OwnersState = State<Arc<Owners>>;

/// Changes how owners are served.
#[derive(Clone)]
pub struct OwnersReload(Arc<Owners>);

impl fmt::Debug for OwnersReload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnersReload").finish_non_exhaustive()
    }
}

impl OwnersReload {
    /// Replaces all options but the address from the next request on.
    pub fn set(&self, options: OwnersOptions) {
        let mut current = self.0.options.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(options.at(current.address));
    }
}

pub struct OwnersServer {
    url: String,
    owners: Arc<Owners>,
    is_over: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl fmt::Debug for OwnersServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnersServer").field("url", &self.url).finish_non_exhaustive()
    }
}

impl OwnersServer {
    /// Starts a server for the owners of the bots of a league. With `intake` they may hand in programs.
    ///
    /// # Errors
    /// If the address cannot be bound, or the thread cannot be started.
    pub fn open(
        options: OwnersOptions,
        league: League,
        ladders: Vec<OwnersLadder>,
        intake: Option<Arc<SubmissionIntake>>,
    ) -> io::Result<OwnersServer> {
        let listener = TcpListener::bind(options.address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let options = options.at(address);
        let url = options.url.clone().unwrap_or_default();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("owners-work")
            .build()?;
        let (is_over, over) = watch::channel(false);
        let owned = Arc::new(Owners {
            options: Mutex::new(Arc::new(options)),
            ladders,
            league: Mutex::new(league),
            paces: Mutex::default(),
            export: Arc::new(tokio::sync::Semaphore::new(1)),
            intake,
            uploading: Mutex::default(),
        });
        let owners = owned.clone();
        let work = move || {
            crate::lower_priority(10);
            let of_proxies = owners.clone();
            let connections = Connections {
                closes: over,
                open: OpenCount::default(),
                refused: Arc::default(),
                proxies: Arc::new(move |peer| is_among(&of_proxies.options().trusted_proxies, peer)),
            };
            runtime.block_on(async move {
                match tokio::net::TcpListener::from_std(listener) {
                    Ok(listener) => serve(listener, router(owners), connections).await,
                    Err(error) => tracing::error!(%error, "the server for owners does not start"),
                }
            });
            // An archive that is still written must not delay the end.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("owners".to_owned()).spawn(work)?;
        Ok(OwnersServer { url, owners: owned, is_over, thread })
    }

    /// The address of the start page.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn port(&self) -> u16 {
        self.owners.options().address.port()
    }

    /// Returns a handle that changes how owners are served.
    pub fn reload(&self) -> OwnersReload {
        OwnersReload(self.owners.clone())
    }

    /// Ends the connections and the server, within a second.
    pub fn close(self) {
        self.is_over.send_replace(true);
        if self.thread.join().is_err() {
            tracing::error!("the server for owners panicked");
        }
    }
}

fn router(owners: Arc<Owners>) -> Router {
    let of_guard = owners.clone();
    Router::new()
        .route("/", get(page))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/api/v1/openapi.json", get(|| async { as_json(StatusCode::OK, OWNERS_API) }))
        .route("/api/v1/signup", get(signup::facts).post(signup::sign_up))
        .route("/api/v1/session", post(session::begin).delete(session::end))
        .route("/api/v1/owner", get(account::show).merge(patch(account::change)))
        .route("/api/v1/owner/token", post(account::rotate))
        .route("/api/v1/owner/leave", post(account::leave))
        .route("/api/v1/owner/export", get(export::export))
        .route("/api/v1/owner/bots", post(bots::add))
        .route("/api/v1/owner/bots/{name}/{change}", post(bots::change))
        .route("/api/v1/owner/bots/{name}/retire", post(bots::retire))
        .route("/api/v1/owner/submissions", get(submissions::list).post(submissions::submit))
        .route("/api/v1/owner/submissions/{id}", get(submissions::show).delete(submissions::withdraw))
        .route("/api/v1/owner/submissions/{id}/archive", get(submissions::archive))
        .route("/api/v1/owner/submissions/{id}/again", post(submissions::again))
        .route("/api/v1/owner/challenges", post(bots::challenge))
        .route("/api/v1/owner/challenges/{id}", delete(bots::take_back))
        .route("/api/v1/owner/matches", get(matches::list))
        .route("/api/v1/owner/matches/{ladder}/{id}/log", get(matches::log))
        .route("/organiser", get(organiser::page))
        .route("/api/v1/organiser", get(organiser::show))
        .route("/api/v1/organiser/session", post(organiser::begin).delete(organiser::end))
        .route("/api/v1/organiser/acts", post(organiser::decide))
        .fallback(pages::missing)
        .method_not_allowed_fallback(|| async {
            refused(StatusCode::METHOD_NOT_ALLOWED, "this path has another method: see the OpenAPI page")
        })
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(middleware::from_fn(move |request, next| guard(of_guard.clone(), request, next)))
        .with_state(owners)
}

/// The page of an owner, or how to become one.
async fn page(State(owners): OwnersState, headers: HeaderMap) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| {
        let (body, script) = (include_str!("../assets/owners.html"), include_str!("../assets/owners.js"));
        Page::about(Some("owner"), TOP, body, &[COMMON_SCRIPT, SIGNED_SCRIPT, SAMPLE_SCRIPT, script])
    });
    let options = owners.options();
    let league = &options.league_name;
    let (title, description) =
        (format!("Your bots in {league}"), "Sign up, and let your bots play.".to_owned());
    respond(&owners, &PAGE, PageCard { title, description, picture: None }, &headers, Some(OWNERS)).await
}

/// A page with the links to those of the league, among which it may be itself.
async fn respond(
    owners: &Arc<Owners>,
    page: &Page,
    card: PageCard,
    headers: &HeaderMap,
    own_link: Option<&'static str>,
) -> Response {
    let options = owners.options();
    let of_bar = owners.clone();
    let seen = options.public_url(headers);
    let bar = tokio::task::spawn_blocking(move || of_bar.nav_bar(seen.as_ref(), own_link));
    let bar = bar.await.unwrap_or_default();
    page.respond(true, &card, &options.league_name, &[(BAR, &bar)])
}

/// Rejects requests for other hosts and from pages of other sites, and adds the headers of all responses.
async fn guard(owners: Arc<Owners>, request: Request, next: Next) -> Response {
    let options = owners.options();
    let mut response =
        if let Some(rejected) = guard::rejected(&request, &options.hosts, "`hosts` of `[owners]`") {
            rejected
        } else if !guard::is_read(request.method())
            && guard::is_cross_site(request.headers(), options.url.as_deref())
        {
            refused(StatusCode::FORBIDDEN, "the request comes from a page of another site")
        } else {
            next.run(request).await
        };
    guard::protect(&mut response);
    let headers = response.headers_mut();
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    if owners.is_https() {
        headers.insert(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    response
}

impl Owners {
    /// The current options of the server for owners.
    fn options(&self) -> Arc<OwnersOptions> {
        self.options.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Events of the league at stated times, the next one first.
    fn events(&self) -> Vec<PlannedEvent> {
        self.ladders.first().map(|ladder| ladder.view.events(None)).unwrap_or_default()
    }

    /// Returns whether people reach the server through HTTPS.
    fn is_https(&self) -> bool {
        self.options().url.as_ref().is_some_and(|url| url.starts_with("https://"))
    }

    /// The bar at the top of the page: that of the first ladder with pages. May block.
    fn nav_bar(&self, seen: Option<&PublicUrl>, own_link: Option<&str>) -> String {
        let with_pages = self.ladders.iter().find_map(|ladder| {
            let of_port = || Some(beside(seen?, ladder.watch_port?));
            Some((ladder, ladder.watch_url.clone().or_else(of_port)?))
        });
        let Some((ladder, root)) = with_pages else { return String::new() };
        let bar = ladder.view.nav_bar(&ladder.view.notices(), seen);
        NavBar { owners: Some(TOP.to_owned()), ..bar }.markup(&root, own_link)
    }

    /// Works with the database on another thread.
    async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Owners, &mut League) -> Result<T, OwnersError> + Send + 'static,
    ) -> Result<T, OwnersError> {
        let own = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let mut league = own.league.lock().unwrap_or_else(PoisonError::into_inner);
            work(&own, &mut league)
        });
        done.await.unwrap_or(Err(OwnersError::Panicked))
    }

    /// Waits until the ladders have taken up the changes, so that a bot may connect at once.
    async fn taken_up(&self) {
        let taken_up = self.ladders.iter().filter_map(|ladder| ladder.view.take_up());
        // A ladder that is busy takes it up later.
        let _ = timeout(TAKEN_UP, join_all(taken_up)).await;
    }

    /// Applies an act of an owner.
    async fn act(
        self: &Arc<Self>,
        credential: OwnerCredential,
        act: OwnerAct<'static>,
    ) -> Result<LeagueOwner, OwnersError> {
        self.with(move |_, league| Ok(league.act_as_owner(&credential, act, now())?)).await
    }

    fn count_change(&self, owner: &str) -> Result<(), OwnersError> {
        let now = Instant::now();
        let mut paces = self.paces.lock().unwrap_or_else(PoisonError::into_inner);
        if paces.len() >= MOST_PACES {
            paces.retain(|_, pace| pace.next(CHANGES, now) <= now);
        }
        let pace = paces.entry(owner.to_owned()).or_insert(Pace::begin(now));
        let mut next = *pace;
        if next.next(CHANGES, now) > now {
            return Err(OwnersError::TooManyChanges);
        }
        *pace = next;
        Ok(())
    }

    fn ladder(&self, name: &str) -> Result<&OwnersLadder, OwnersError> {
        let found = self.ladders.iter().find(|ladder| ladder.name == name);
        found.ok_or_else(|| OwnersError::NoSuch { what: "ladder", name: name.to_owned() })
    }
}

/// A response of this object as JSON.
fn json(status: StatusCode, value: &impl Serialize) -> Response {
    as_json(status, referee_game::json::text(value))
}
