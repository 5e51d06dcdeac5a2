//! A worker's end: connects to the coordinator, and again when the connection is lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{interval, sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::frame::{self, AdmissionReply, FromCoordinator, FromWorker, VERSION, WorkerHello};
use super::{ALIVE, HANDSHAKE, SILENCE};
use crate::archive::{ArchiveId, MOST_BYTES};
use crate::carrier::{Assignment, RECONNECT_WINDOW, Request, Returned, WorkerEnd};
use crate::machine::Machine;
use crate::unit::{UnitId, UnitOutcome};
use referee_game::Chain;
use referee_game::Wrong;

/// The time for which the worker waits before it connects again, at first and at most.
const AGAIN: Duration = Duration::from_millis(250);
const AGAIN_MOST: Duration = Duration::from_secs(8);
/// The coordinator waits until a live worker has tried again, and for its handshake.
const _: () = assert!(AGAIN_MOST.as_secs() + HANDSHAKE.as_secs() < RECONNECT_WINDOW.as_secs());
/// The time for which a worker that ends waits until the coordinator has read everything.
const CLOSING: Duration = Duration::from_secs(5);

/// A worker's end of the built-in carrier.
pub struct BuiltInWorker {
    /// Host and port of the coordinator.
    pub address: String,
    /// Verifies the certificate of the coordinator.
    pub tls: Arc<ClientConfig>,
    pub name: String,
    pub token: String,
    /// The description of the worker's machine.
    pub machine: Machine,
    /// A random number that distinguishes the worker from another one on a machine of the same name.
    pub instance: u64,
}

impl fmt::Debug for BuiltInWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltInWorker").field("address", &self.address).finish_non_exhaustive()
    }
}

impl WorkerEnd for BuiltInWorker {
    async fn serve(
        self,
        requests: UnboundedReceiver<Request>,
        assignments: UnboundedSender<Assignment>,
    ) -> Result<(), Wrong> {
        Ok(serve(async |holding| self.connect(holding).await, requests, assignments).await?)
    }
}

/// Serves a worker with connections that `connect` establishes, given the units that the worker has.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    connect: impl AsyncFn(Vec<UnitId>) -> io::Result<S>,
    mut requests: UnboundedReceiver<Request>,
    assignments: UnboundedSender<Assignment>,
) -> io::Result<()> {
    let mut state = ClientState::new(assignments);
    let mut again = AGAIN;
    loop {
        let holding = state.holding.iter().cloned().collect();
        let connected = tokio::select! {
            connected = timeout(HANDSHAKE, connect(holding)) => connected,
            // Requests of the worker meanwhile are kept.
            () = state.collect(&mut requests) => return Ok(()),
        };
        let lost = match connected {
            Ok(Ok(stream)) => {
                again = AGAIN;
                state.emit(Assignment::Connected);
                match state.talk(stream, &mut requests).await {
                    Ok(()) => return Ok(()),
                    Err(error) => error,
                }
            }
            Ok(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
            Ok(Err(error)) => error,
            Err(_) => io::ErrorKind::TimedOut.into(),
        };
        let why = match lost.kind() {
            io::ErrorKind::UnexpectedEof => "the coordinator has closed the connection".to_owned(),
            _ => lost.to_string(),
        };
        state.emit(Assignment::Disconnected(why));
        tokio::select! {
            () = sleep(again) => {}
            () = state.collect(&mut requests) => return Ok(()),
        }
        again = AGAIN_MOST.min(again * 2);
    }
}

impl BuiltInWorker {
    /// Connects and shows the token.
    async fn connect(&self, holding: Vec<UnitId>) -> io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let host = self.address.rsplit_once(':').map_or(&*self.address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name =
            ServerName::try_from(host).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let mut stream = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await?;
        let hello = WorkerHello {
            version: VERSION,
            name: self.name.clone(),
            token: self.token.clone(),
            machine: self.machine.clone(),
            instance: self.instance,
            holding,
        };
        greet(&mut stream, &hello).await?;
        Ok(stream)
    }
}

/// Sends the first message, and reads the answer.
pub(super) async fn greet(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    hello: &WorkerHello,
) -> io::Result<()> {
    frame::write(stream, hello, &[]).await?;
    match frame::read_first(stream).await? {
        AdmissionReply::Welcome(_) => Ok(()),
        AdmissionReply::Rejected(why) => Err(io::Error::new(io::ErrorKind::PermissionDenied, why)),
    }
}

/// A download of an archive.
struct Download {
    file: File,
    size: u64,
}

/// The state that survives a lost connection.
struct ClientState {
    assignments: UnboundedSender<Assignment>,
    /// The number of units that the worker can take.
    free: usize,
    /// The units that it has, including those whose outcome has no verdict.
    holding: BTreeSet<UnitId>,
    /// Outcomes without a verdict.
    played: BTreeMap<UnitId, UnitOutcome>,
    /// Archives that are wanted; the first one is being downloaded.
    wanted: VecDeque<(ArchiveId, PathBuf)>,
    download: Option<Download>,
}

impl ClientState {
    fn new(assignments: UnboundedSender<Assignment>) -> ClientState {
        ClientState {
            assignments,
            free: 0,
            holding: BTreeSet::new(),
            played: BTreeMap::new(),
            wanted: VecDeque::new(),
            download: None,
        }
    }

    fn emit(&self, assignment: Assignment) {
        // The channel is closed if the worker is ending.
        let _ = self.assignments.send(assignment);
    }

    /// Notes requests until there are no more.
    async fn collect(&mut self, requests: &mut UnboundedReceiver<Request>) {
        while let Some(request) = requests.recv().await {
            self.note(&request);
        }
    }

    /// Notes a request. Returns the message that carries it, with its bytes.
    fn note(&mut self, request: &Request) -> Option<(FromWorker, Vec<u8>)> {
        match request {
            Request::Free(more) => {
                self.free += more;
                Some((FromWorker::Free(*more), Vec::new()))
            }
            Request::Moved(id) => Some((FromWorker::Moved(id.clone()), Vec::new())),
            Request::Played(outcome) => {
                self.played.insert(outcome.unit.clone(), outcome.clone());
                Some(self.message(outcome))
            }
            Request::Return(id, reason) => {
                self.holding.remove(id);
                Some((FromWorker::Returned(id.clone(), reason.clone()), Vec::new()))
            }
            Request::Tried(id, report, bytes) => {
                Some((FromWorker::Tried(*id, report.clone()), bytes.clone()))
            }
            Request::Fetch(id, path) => {
                self.wanted.push_back((*id, path.clone()));
                (self.wanted.len() == 1).then_some((FromWorker::Fetch(*id, 0), Vec::new()))
            }
        }
    }

    /// The message that carries an outcome. If that is too large, the unit is returned.
    fn message(&mut self, outcome: &UnitOutcome) -> (FromWorker, Vec<u8>) {
        match outcome.encode() {
            Ok(bytes) => (FromWorker::Played(outcome.unit.clone()), bytes),
            Err(why) => {
                self.holding.remove(&outcome.unit);
                self.played.remove(&outcome.unit);
                let returned = Returned::Unable(Chain(&why).to_string());
                (FromWorker::Returned(outcome.unit.clone(), returned), Vec::new())
            }
        }
    }

    /// Talks to the coordinator. Returns when the worker has no more requests.
    async fn talk(
        &mut self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        requests: &mut UnboundedReceiver<Request>,
    ) -> io::Result<()> {
        let (mut reader, mut writer) = split(stream);
        let (to_writer, mut of_state) = unbounded_channel::<(FromWorker, Vec<u8>)>();
        let send = |message, bytes| {
            // The writer runs as long as this connection.
            let _ = to_writer.send((message, bytes));
        };
        send(FromWorker::Free(self.free), Vec::new());
        for outcome in self.played.values().cloned().collect::<Vec<_>>() {
            let (message, bytes) = self.message(&outcome);
            send(message, bytes);
        }
        self.download = None;
        if let Some((id, _)) = self.wanted.front() {
            send(FromWorker::Fetch(*id, 0), Vec::new());
        }
        let (to_state, mut of_reader) = unbounded_channel();
        let read = async {
            loop {
                match timeout(SILENCE, frame::read::<FromCoordinator>(&mut reader)).await {
                    Ok(Ok(read)) => drop(to_state.send(read)),
                    Ok(Err(error)) => return error,
                    Err(_) => return io::ErrorKind::TimedOut.into(),
                }
            }
        };
        let write = async {
            let mut ticks = interval(ALIVE);
            loop {
                let (message, bytes) = tokio::select! {
                    biased;
                    message = of_state.recv() => match message {
                        Some(message) => message,
                        None => {
                            let _ = writer.shutdown().await;
                            return None;
                        }
                    },
                    _ = ticks.tick() => (FromWorker::Alive, Vec::new()),
                };
                match timeout(SILENCE, frame::write(&mut writer, &message, &bytes)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => return Some(error),
                    Err(_) => return Some(io::ErrorKind::TimedOut.into()),
                }
            }
        };
        let (mut read, mut write) = (std::pin::pin!(read), std::pin::pin!(write));
        loop {
            tokio::select! {
                error = &mut read => return Err(error),
                error = &mut write => return Err(error.unwrap_or_else(|| io::ErrorKind::BrokenPipe.into())),
                request = requests.recv() => match request {
                    Some(request) => {
                        if let Some((message, bytes)) = self.note(&request) {
                            send(message, bytes);
                        }
                    }
                    None => break,
                },
                Some((message, bytes)) = of_reader.recv() => {
                    if let Some((message, bytes)) = self.take(message, &bytes) {
                        send(message, bytes);
                    }
                }
            }
        }
        // Writes the remaining bytes, and reads until the coordinator closes the connection: the kernel
        // resets one that is closed with unread data, and the coordinator would lose unread bytes.
        send(FromWorker::Bye, Vec::new());
        drop(to_writer);
        let _ = timeout(SILENCE, write).await;
        let _ = timeout(CLOSING, read).await;
        Ok(())
    }

    /// Handles a message of the coordinator. Returns an answer.
    fn take(&mut self, message: FromCoordinator, bytes: &[u8]) -> Option<(FromWorker, Vec<u8>)> {
        match message {
            FromCoordinator::Alive => {}
            FromCoordinator::Play(unit) => {
                self.free = self.free.saturating_sub(1);
                self.holding.insert(unit.id.clone());
                self.emit(Assignment::Play(unit));
            }
            FromCoordinator::Try(job) => {
                self.free = self.free.saturating_sub(1);
                self.emit(Assignment::Try(job));
            }
            FromCoordinator::Verdict(id, verdict) => {
                self.holding.remove(&id);
                self.played.remove(&id);
                self.emit(Assignment::Verdict(id, verdict));
            }
            FromCoordinator::Withdrawn(id) => {
                self.holding.remove(&id);
                self.emit(Assignment::Withdrawn(id));
            }
            FromCoordinator::State(run, state) => self.emit(Assignment::State(run, state)),
            FromCoordinator::Over(run) => {
                self.holding.retain(|unit| unit.run != run);
                self.played.retain(|unit, _| unit.run != run);
                self.emit(Assignment::Over(run));
            }
            FromCoordinator::NoArchive(id, why) => return self.fetched(id, Err(why.into())),
            FromCoordinator::Archive(id, size) => {
                return match self.append(id, size, bytes) {
                    Ok(Some(from)) => Some((FromWorker::Fetch(id, from), Vec::new())),
                    Ok(None) => self.fetched(id, Ok(())),
                    Err(error) => self.fetched(id, Err(error)),
                };
            }
        }
        None
    }

    /// Appends a part of an archive to its file. Returns where the next part begins.
    fn append(&mut self, id: ArchiveId, size: u64, bytes: &[u8]) -> Result<Option<u64>, Wrong> {
        let Some((_, path)) = self.wanted.front().filter(|(wanted, _)| *wanted == id) else {
            return Err(Wrong::new("it was not asked for"));
        };
        if size > MOST_BYTES || bytes.is_empty() {
            let part = bytes.len();
            return Err(format!("{size} bytes, of which {part} are in this part").into());
        }
        let download = match &mut self.download {
            Some(download) => download,
            None => self.download.insert(Download { file: File::create(path)?, size: 0 }),
        };
        download.file.write_all(bytes)?;
        download.size += bytes.len() as u64;
        Ok((download.size < size).then_some(download.size))
    }

    /// Passes on an archive that is here, or the reason why it is not available. Asks for the next one.
    fn fetched(&mut self, id: ArchiveId, result: Result<(), Wrong>) -> Option<(FromWorker, Vec<u8>)> {
        self.download = None;
        self.wanted.pop_front();
        self.emit(Assignment::Fetched(id, result));
        let (next, _) = self.wanted.front()?;
        Some((FromWorker::Fetch(*next, 0), Vec::new()))
    }
}
