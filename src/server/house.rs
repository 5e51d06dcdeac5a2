//! Playing the matches of a schedule: lanes, the bots that come to them, and what becomes of the results.
//!
//! Each lane has a thread, which does nothing but referee. Starting and ending processes, letting connections in,
//! draining what bots write to standard error and writing records are done here, on a thread of their own, so that no
//! match waits for them.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use referee_protocol::words::FaultCode;
use tokio::sync::mpsc::error::SendError;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::bot::{Command, Process, Warden};
use crate::core::erased::Rules;
use crate::core::seat::Seating;
use crate::server::archive::{Archive, Unsealed};
use crate::server::bots::BotKey;
use crate::server::cpu::Cpu;
use crate::server::entrant::{Entrant, Source};
use crate::server::lobby::{Listen, Lobby};
use crate::server::post::{Come, Ended, OVER, Order, Word};
use crate::server::results::MatchReport;
use crate::server::run::{Common, Run};
use crate::server::schedule::{Fixture, Schedule, Shared};
use crate::server::session::SessionKey;
use crate::server::worker::{Watch, Worker};
use crate::store::Records;

/// Where the matches of a run are played.
pub struct House {
    /// The seed and the terms.
    pub run: Run,
    /// The game.
    pub rules: &'static dyn Rules,
    /// How the seats play together.
    pub seating: Seating,
    /// The bots.
    pub entrants: Vec<Entrant>,
    /// How many pairings play at once; each plays as many matches at once as its bots have slots for.
    pub jobs: usize,
    /// Whether each lane and the processes of its bots keep to a processor.
    pub is_pinned: bool,
    /// How bots connect, where some do.
    pub listen: Option<Listen>,
    /// Where records go.
    pub records: Option<Records>,
    /// Records of matches of sets that are not complete, from before the run was interrupted. None where a run is not
    /// gone on with: what it leaves of a set is sealed at its end.
    pub unsealed: Option<Vec<Unsealed>>,
    /// Who looks on; there is one lane and one job then, whatever `jobs` says.
    pub watch: Option<Watch>,
}

/// Why whoever is told of a run ends it.
#[derive(Debug)]
pub enum Halt {
    /// Nothing more is needed of it.
    Enough,
    /// It cannot go on.
    Because(String),
}

impl From<String> for Halt {
    fn from(why: String) -> Halt {
        Halt::Because(why)
    }
}

/// What happens in a house.
pub enum Happening<'a> {
    /// Bots can connect here.
    Listening(SocketAddr),
    /// A match waits for a bot of this name to connect.
    Waiting(&'a str),
    /// A match has ended.
    Ended {
        /// Which.
        fixture: &'a Fixture,
        /// How.
        report: &'a MatchReport,
        /// Its record, without the seal.
        record: &'a [u8],
        /// Why one of its bots could not play at all.
        never_came: Option<String>,
    },
}

/// How a run ended before its time, if it did.
#[derive(Debug, Default)]
pub struct Stopped {
    /// Somebody asked for it.
    pub is_interrupted: bool,
    /// Who is told of it has enough.
    pub is_enough: bool,
    /// Why it could not go on.
    pub why: Option<String>,
}

impl Stopped {
    fn halt(&mut self, halt: Halt) {
        match halt {
            Halt::Enough => self.is_enough = true,
            Halt::Because(why) => self.why = Some(why),
        }
    }
}

impl House {
    /// Plays. `interrupt` breaks it off; so does an error of `tell`, which is told what happens.
    pub async fn play(
        self,
        schedule: impl Schedule + 'static,
        interrupt: impl Future<Output = ()>,
        tell: impl FnMut(Happening<'_>) -> Result<(), Halt>,
    ) -> Stopped {
        let House { run, rules, seating, entrants, jobs, is_pinned, listen, records, unsealed, watch } = self;
        let mut stopped = Stopped::default();
        let warden = match Warden::open() {
            Ok(warden) => warden,
            Err(error) => {
                stopped.why = Some(format!("the bots cannot be watched: {error}"));
                return stopped;
            }
        };
        let mut host = Host {
            warden,
            schedule: Shared::new(Box::new(schedule)),
            common: Arc::new(Common { run, rules, seating, entrants, records: records.clone() }),
            lobby: None,
            wait: listen.as_ref().map_or(Duration::ZERO, |listen| listen.wait),
            lanes: Vec::new(),
            needs: Vec::new(),
            announced: HashSet::new(),
            ending: JoinSet::new(),
            archive: Archive::new(records, unsealed),
            tell,
        };
        match host.open(listen.as_ref(), jobs, is_pinned, watch).await {
            Ok(words) => host.serve(words, interrupt, &mut stopped).await,
            Err(halt) => {
                stopped.halt(halt);
                host.stop();
            }
        }
        host.close(&mut stopped).await;
        stopped
    }
}

/// A lane's thread.
struct LaneThread {
    orders: mpsc::UnboundedSender<Order>,
    cpu: Option<Cpu>,
    thread: JoinHandle<()>,
}

/// Bots that a lane needs.
struct Need {
    lane: usize,
    bots: Vec<(BotKey, usize)>,
    /// Since when one of them has not as many connections as the match needs of it; none while all have.
    absent: Option<Instant>,
}

type Words = mpsc::UnboundedReceiver<(usize, Word)>;

struct Host<F> {
    warden: Warden,
    schedule: Shared,
    common: Arc<Common>,
    lobby: Option<Lobby>,
    /// How long a match waits for a bot of which there is no connection.
    wait: Duration,
    lanes: Vec<LaneThread>,
    needs: Vec<Need>,
    /// The names that somebody was told to be waiting for.
    announced: HashSet<String>,
    /// Processes that are being ended.
    ending: JoinSet<()>,
    archive: Archive,
    tell: F,
}

impl<F: FnMut(Happening<'_>) -> Result<(), Halt>> Host<F> {
    /// Opens the door and starts the lanes.
    async fn open(
        &mut self,
        listen: Option<&Listen>,
        jobs: usize,
        is_pinned: bool,
        mut watch: Option<Watch>,
    ) -> Result<Words, Halt> {
        if let Some(listen) = listen {
            let names = self.common.entrants.iter().filter_map(|entrant| match &entrant.source {
                Source::Tcp(name) => Some(name.clone()),
                Source::Command(_) => None,
            });
            let hello = Duration::from_millis(self.common.run.terms.hello_ms);
            let lobby = Lobby::open(listen, names, hello).await;
            let lobby = lobby.map_err(|error| format!("--listen {}: {error}", listen.address))?;
            let address = lobby.address().map_err(|error| error.to_string())?;
            self.lobby = Some(lobby);
            (self.tell)(Happening::Listening(address))?;
        }
        let cpus = if is_pinned { Cpu::all() } else { Ok(Vec::new()) };
        let cpus =
            cpus.map_err(|error| format!("--pin: the system does not tell its processors: {error}"))?;
        // Who looks on sees one lane.
        let jobs = if watch.is_some() { 1 } else { jobs };
        let lanes = jobs.min(thread::available_parallelism().map_or(1, usize::from));
        let (house, words) = mpsc::unbounded_channel();
        for number in 0..lanes {
            let cpu = cpus.get(number % cpus.len().max(1)).copied();
            let share = jobs / lanes + usize::from(number < jobs % lanes);
            let (orders, to_lane) = mpsc::unbounded_channel();
            let (common, schedule) = (self.common.clone(), self.schedule.clone());
            let (words, watch) = ((house.clone(), orders.clone()), watch.take());
            let house = house.clone();
            let work = move || {
                let _done = Done(number, house.clone());
                if let Some(cpu) = &cpu
                    && let Err(error) = cpu.keep()
                {
                    tracing::warn!(%error, "the lane is not pinned");
                }
                match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => runtime.block_on(async {
                        Worker::new((number, share), common, schedule, words, watch).work(to_lane).await;
                    }),
                    Err(error) => {
                        // Nobody listens when the run is breaking down.
                        let _ = house.send((number, Word::CannotRun(error.to_string())));
                    }
                }
            };
            let thread = thread::Builder::new().name(format!("lane-{}", number + 1)).spawn(work);
            let thread = thread.map_err(|error| format!("a lane cannot be started: {error}"))?;
            self.lanes.push(LaneThread { orders, cpu, thread });
        }
        Ok(words)
    }

    /// Does what the lanes need until all of them are done.
    async fn serve(&mut self, mut words: Words, interrupt: impl Future<Output = ()>, stopped: &mut Stopped) {
        let mut interrupt = std::pin::pin!(interrupt);
        let mut left = self.lanes.len();
        while left > 0 {
            let is_stopping = stopped.is_interrupted || stopped.is_enough || stopped.why.is_some();
            let patience = self.patience();
            let result = tokio::select! {
                biased;
                () = &mut interrupt, if !is_stopping => {
                    stopped.is_interrupted = true;
                    self.stop();
                    Ok(())
                }
                word = words.recv() => match word {
                    Some((_, Word::Done)) => {
                        left -= 1;
                        Ok(())
                    }
                    Some((lane, word)) => self.hear(lane, word, is_stopping),
                    None => return,
                },
                () = arrival(&mut self.lobby) => self.supply(),
                () = tokio::time::sleep_until(patience.unwrap_or_else(Instant::now)), if patience.is_some() => self.supply(),
                _ = self.ending.join_next(), if !self.ending.is_empty() => Ok(()),
            };
            if let Err(halt) = result
                && !is_stopping
            {
                stopped.halt(halt);
                self.stop();
            }
        }
    }

    fn stop(&mut self) {
        self.needs.clear();
        for lane in &self.lanes {
            // A lane that is done needs no orders.
            let _ = lane.orders.send(Order::Stop);
        }
    }

    fn hear(&mut self, lane: usize, word: Word, is_stopping: bool) -> Result<(), Halt> {
        match word {
            Word::Needs(_) if is_stopping => {}
            Word::Needs(bots) => {
                self.needs.push(Need { lane, bots, absent: None });
                self.supply()?;
            }
            Word::Leaves(process) => {
                self.ending.spawn(process.end());
            }
            Word::Returns(moving) => {
                if let Some(lobby) = &mut self.lobby {
                    lobby.put_back(*moving);
                }
                self.supply()?;
            }
            Word::Lost(entrant) => {
                if let (Some(lobby), Source::Tcp(name)) =
                    (&mut self.lobby, &self.common.entrants[entrant].source)
                {
                    lobby.left(name);
                }
                self.supply()?;
            }
            Word::Ended(ended) => return self.report(*ended),
            Word::CannotRun(why) => return Err(Halt::Because(why)),
            Word::Done => {}
        }
        Ok(())
    }

    /// When the next need is given up.
    fn patience(&self) -> Option<Instant> {
        self.needs.iter().filter_map(|need| need.absent).map(|since| since + self.wait).min()
    }

    /// Gives the lanes the bots that they need: to the lane that has waited longest first, and all at once, so that no
    /// two lanes wait for what the other one holds.
    fn supply(&mut self) -> Result<(), Halt> {
        for mut need in std::mem::take(&mut self.needs) {
            let absent = self.short(&need.bots, Lobby::connections);
            need.absent = absent.first().map(|_| need.absent.unwrap_or_else(Instant::now));
            let is_given_up = need.absent.is_some_and(|since| since.elapsed() >= self.wait);
            if !is_given_up {
                for name in &absent {
                    if self.announced.insert(name.clone()) {
                        (self.tell)(Happening::Waiting(name))?;
                    }
                }
                if !self.short(&need.bots, Lobby::waiting).is_empty() {
                    self.needs.push(need);
                    continue;
                }
            }
            let mut busy = Vec::new();
            for (key, entrant) in need.bots {
                let come = match self.common.clone().entrants[entrant].source {
                    Source::Command(ref command) => Ok(self.start(need.lane, entrant, command)?),
                    Source::Tcp(ref name) => match self.lobby.as_mut().and_then(|lobby| lobby.take(name)) {
                        Some(moving) => {
                            self.announced.remove(name);
                            Ok(Come::Guest(Box::new(moving)))
                        }
                        None if !absent.contains(name) => {
                            busy.push((key, entrant));
                            continue;
                        }
                        None => Err((FaultCode::NoStart, self.nobody(name))),
                    },
                };
                self.send(need.lane, Order::Come(key, come));
            }
            if !busy.is_empty() {
                self.needs.push(Need { lane: need.lane, bots: busy, absent: None });
            }
        }
        Ok(())
    }

    /// The names that these bots need more often than the lobby has them.
    fn short(&self, bots: &[(BotKey, usize)], has: impl Fn(&Lobby, &str) -> usize) -> Vec<String> {
        let Some(lobby) = &self.lobby else { return Vec::new() };
        let names: Vec<&String> = bots
            .iter()
            .filter_map(|&(_, entrant)| match &self.common.entrants[entrant].source {
                Source::Tcp(name) => Some(name),
                Source::Command(_) => None,
            })
            .collect();
        let wanted = |name: &String| names.iter().filter(|other| **other == name).count();
        names.iter().filter(|name| wanted(name) > has(lobby, name)).map(|name| (*name).clone()).collect()
    }

    fn nobody(&self, name: &str) -> String {
        let others = self.lobby.as_ref().map_or(0, |lobby| lobby.connections(name));
        let nobody = if others == 0 { "nobody" } else { "nobody else" };
        format!("{nobody} connected as `{name}` within {} s", self.wait.as_secs_f64())
    }

    /// A lane that is done needs no orders: a process that was started for it ends with the order, a guest comes back.
    fn send(&mut self, lane: usize, order: Order) {
        if let Err(SendError(Order::Come(_, Ok(Come::Guest(moving))))) = self.lanes[lane].orders.send(order)
            && let Some(lobby) = &mut self.lobby
        {
            lobby.put_back(*moving);
        }
    }

    fn start(&self, lane: usize, entrant: usize, command: &Command) -> Result<Come, String> {
        let lane = &self.lanes[lane];
        let (tell, told) = oneshot::channel::<SessionKey>();
        let orders = lane.orders.clone();
        // The process may end before its session has a key.
        let on_exit = move |how: String| {
            tokio::spawn(async move {
                if let Ok(session) = told.await {
                    // A lane that is done needs no news.
                    let _ = orders.send(Order::Exited(session, how));
                }
            });
        };
        let started = Cpu::run(lane.cpu.as_ref(), || Process::start(command, &self.warden, on_exit));
        let (process, wire) = started.map_err(|error| {
            let name = &self.common.entrants[entrant].name;
            format!("the bot `{name}` cannot be started: {error}")
        })?;
        Ok(Come::Process(process, wire, tell))
    }

    fn report(&mut self, ended: Ended) -> Result<(), Halt> {
        let Ended { fixture, report, mut record, reveal, never_came } = ended;
        self.schedule.reported();
        let unsealed = record.len();
        self.archive.keep(&fixture, &report, &mut record, reveal)?;
        let record = &record[..unsealed];
        (self.tell)(Happening::Ended { fixture: &fixture, report: &report, record, never_came })
    }

    /// Ends all bots. None is left when it returns.
    async fn close(mut self, stopped: &mut Stopped) {
        let is_complete = !stopped.is_interrupted && !stopped.is_enough && stopped.why.is_none();
        let mut fail = |result: Result<(), String>| {
            if let Err(why) = result {
                stopped.why.get_or_insert(why);
            }
        };
        if let Some(lobby) = self.lobby.take() {
            lobby.close(OVER);
        }
        // What a run leaves of a set when it has come to its end is not played any more.
        fail(self.archive.close(is_complete));
        while self.ending.join_next().await.is_some() {}
        for lane in self.lanes {
            fail(lane.thread.join().map_err(|_| BROKE_DOWN.to_owned()));
        }
    }
}

/// Resolves when a bot has connected.
async fn arrival(lobby: &mut Option<Lobby>) {
    match lobby {
        Some(lobby) => lobby.next().await,
        None => std::future::pending().await,
    }
}

/// Why a run ends with a lane of which nothing else is known.
const BROKE_DOWN: &str = "a lane broke down";

/// Tells the house that a lane is done, whatever has happened to it.
struct Done(usize, mpsc::UnboundedSender<(usize, Word)>);

impl Drop for Done {
    fn drop(&mut self) {
        // The house waits for every lane, unless it is gone.
        if thread::panicking() {
            // What ran on this one will not end, and others may wait for it.
            let _ = self.1.send((self.0, Word::CannotRun(BROKE_DOWN.to_owned())));
        }
        let _ = self.1.send((self.0, Word::Done));
    }
}
