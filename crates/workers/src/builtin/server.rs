//! The coordinator's end: admits workers, and hands the published units out to those with free slots.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use referee_game::Wrong;
use rustls::ServerConfig;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, interval, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::frame::{self, AdmissionReply, CHUNK_BYTES, FromCoordinator, FromWorker, VERSION, WorkerHello};
use super::hub::{FromConnection, HubMessage, WorkerHub, sleep_until};
use super::{ALIVE, HANDSHAKE, SILENCE};
use crate::archive::ArchiveId;
use crate::carrier::{CarrierEvent, CoordinatorEnd, Order};
use crate::trial::BuiltArchive;
use crate::unit::EncodedOutcome;
use referee_engine::sources::{PendingConnections, TokenHash, Vacancy};

/// The maximum number of connections without a valid token.
const PENDING: usize = 64;
/// The time for which a connection with a wrong token waits for its answer.
const WRONG_TOKEN: Duration = Duration::from_secs(1);
/// The memory for outcomes that are received or wait to be judged, in KiB.
const OUTCOMES_KIB: usize = 256 * 1024;
/// The number of messages of workers that wait for the hub.
const MOST_MESSAGES: usize = 256;

/// SHA-256 of the tokens by name.
pub type WorkerTokens = BTreeMap<String, TokenHash>;

/// The coordinator's end of the built-in carrier.
pub struct BuiltInCoordinator {
    listener: TcpListener,
    tls: Arc<ServerConfig>,
    tokens: WorkerTokens,
    /// The directory of the archives, whose files are named by their SHA-256.
    archives: PathBuf,
}

impl fmt::Debug for BuiltInCoordinator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltInCoordinator").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl BuiltInCoordinator {
    /// Listens on this address; port 0 picks a free port.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn bind(
        address: SocketAddr,
        tls: Arc<ServerConfig>,
        tokens: WorkerTokens,
        archives: PathBuf,
    ) -> io::Result<BuiltInCoordinator> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(BuiltInCoordinator { listener, tls, tokens, archives })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// Errors of `getsockname`.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl CoordinatorEnd for BuiltInCoordinator {
    async fn serve(
        self,
        orders: UnboundedReceiver<Order>,
        events: UnboundedSender<CarrierEvent>,
    ) -> Result<(), Wrong> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let acceptor = TlsAcceptor::from(self.tls);
        let (to_hub, of_connections) = channel(MOST_MESSAGES);
        let context = Arc::new(ServerContext::new(self.tokens, to_hub, self.archives));
        let accept = Acceptance::new(listener, acceptor, context).run();
        let hub = WorkerHub::new(events);
        tokio::select! {
            () = accept => {}
            () = hub.run(orders, of_connections) => {}
        }
        Ok(())
    }
}

/// The number of a connection that is not pending any more, and whether it was admitted.
type Settled = (u64, bool);

/// Accepts connections and admits those with a valid token. If too many are pending, [`PendingConnections`] chooses the one that
/// is closed.
struct Acceptance {
    listener: tokio::net::TcpListener,
    acceptor: TlsAcceptor,
    context: Arc<ServerContext>,
    pending: PendingConnections<u64>,
    /// The tasks of pending connections.
    tasks: BTreeMap<u64, AbortHandle>,
    connections: JoinSet<()>,
    /// Connections that were admitted or have failed.
    settled: (UnboundedSender<Settled>, UnboundedReceiver<Settled>),
    /// The number of the last connection.
    last: u64,
}

impl Acceptance {
    fn new(
        listener: tokio::net::TcpListener,
        acceptor: TlsAcceptor,
        context: Arc<ServerContext>,
    ) -> Acceptance {
        Acceptance {
            listener,
            acceptor,
            context,
            pending: PendingConnections::default(),
            tasks: BTreeMap::new(),
            connections: JoinSet::new(),
            settled: unbounded_channel(),
            last: 0,
        }
    }

    async fn run(mut self) {
        loop {
            while self.connections.try_join_next().is_some() {}
            let full_until = self.full_until();
            tokio::select! {
                Some((number, is_admitted)) = self.settled.1.recv() => self.remove(number, is_admitted),
                () = sleep_until(full_until), if full_until.is_some() => {}
                accepted = self.listener.accept(), if full_until.is_none() => match accepted {
                    Ok((stream, address)) => self.add(stream, address),
                    Err(error) => {
                        tracing::warn!(%error, "a worker cannot connect");
                        sleep(WRONG_TOKEN).await;
                    }
                },
            }
        }
    }

    /// Returns the time until which no connection can be accepted; `None` if one can. Further connections wait in the backlog.
    fn full_until(&mut self) -> Option<Instant> {
        while self.pending.count() >= PENDING {
            match self.pending.vacancy(Instant::now())? {
                Vacancy::Eviction(number) => {
                    if let Some(task) = self.tasks.get(&number) {
                        task.abort();
                    }
                    self.remove(number, false);
                }
                Vacancy::From(at) => return Some(at),
            }
        }
        None
    }

    fn remove(&mut self, number: u64, is_admitted: bool) {
        self.tasks.remove(&number);
        self.pending.remove(number, is_admitted, Instant::now());
    }

    fn add(&mut self, stream: tokio::net::TcpStream, address: SocketAddr) {
        self.last += 1;
        let number = self.last;
        let (acceptor, context, settled) =
            (self.acceptor.clone(), Arc::clone(&self.context), self.settled.0.clone());
        let task = self.connections.spawn(async move {
            let admitted = timeout(HANDSHAKE, async {
                stream.set_nodelay(true)?;
                let mut stream = acceptor.accept(stream).await?;
                let hello = context.admit(&mut stream).await?;
                Ok::<_, io::Error>((stream, hello))
            });
            let admitted = admitted.await;
            // The channel is open as long as connections are accepted.
            let _ = settled.send((number, matches!(admitted, Ok(Ok(_)))));
            match admitted {
                Ok(Ok((stream, hello))) => context.serve(stream, hello).await,
                Ok(Err(error)) => tracing::warn!(%address, %error, "a worker is not admitted"),
                Err(_) => tracing::warn!(%address, "a worker is not admitted: no message in time"),
            }
        });
        self.tasks.insert(number, task);
        self.pending.add(number, address.ip(), Instant::now());
    }
}

/// The state that all connections share.
pub(super) struct ServerContext {
    tokens: WorkerTokens,
    to_hub: Sender<FromConnection>,
    archives: PathBuf,
    /// Memory for outcomes, in KiB.
    outcomes: Arc<Semaphore>,
}

impl ServerContext {
    pub(super) fn new(
        tokens: WorkerTokens,
        to_hub: Sender<FromConnection>,
        archives: PathBuf,
    ) -> ServerContext {
        ServerContext { tokens, to_hub, archives, outcomes: Arc::new(Semaphore::new(OUTCOMES_KIB)) }
    }

    /// Reads the first message, and checks its token and version.
    pub(super) async fn admit(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin + Send),
    ) -> io::Result<WorkerHello> {
        let hello: WorkerHello = frame::read_first(stream).await?;
        let given: TokenHash = Sha256::digest(&hello.token).into();
        let expected = self.tokens.get(&hello.name).copied().unwrap_or_default();
        let why = if !bool::from(expected.ct_eq(&given)) {
            sleep(WRONG_TOKEN).await;
            format!("the token `{}` is unknown or wrong", hello.name)
        } else if hello.version != VERSION {
            format!("the worker speaks version {} of the messages, the coordinator {VERSION}", hello.version)
        } else {
            match hello.machine.check() {
                Ok(()) => return Ok(hello),
                Err(what) => what.to_string(),
            }
        };
        frame::write(stream, &AdmissionReply::Rejected(why.clone()), &[]).await?;
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }

    /// Passes messages on until the connection is lost.
    pub(super) async fn serve(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin + Send,
        hello: WorkerHello,
    ) {
        let (to_worker, mut of_hub) = unbounded_channel();
        // A worker that does not read gets one part of an archive, and no further message of it is read.
        let (to_writer, mut parts): (Sender<(FromCoordinator, Vec<u8>)>, Receiver<_>) = channel(1);
        // The hub runs as long as the carrier.
        let _ = self.to_hub.send(FromConnection::Joined(hello, to_worker.clone())).await;
        let (name, number) = match of_hub.recv().await {
            Some(HubMessage::Admitted(name, number)) => (name, number),
            Some(HubMessage::Rejected(why)) => {
                // The worker will try again.
                let _ = frame::write(&mut stream, &AdmissionReply::Rejected(why), &[]).await;
                return;
            }
            Some(HubMessage::Message(..)) | None => return,
        };
        if frame::write(&mut stream, &AdmissionReply::Welcome(name.clone()), &[]).await.is_ok() {
            let (mut reader, mut writer) = split(stream);
            let read = async {
                loop {
                    let reserve = async |bytes: usize| self.reserve(bytes).await;
                    let read = frame::read_reserved::<FromWorker, _>(&mut reader, reserve);
                    let (message, bytes, place) = match timeout(SILENCE, read).await {
                        Ok(Ok(read)) => read,
                        Ok(Err(error)) => break error.to_string(),
                        Err(_) => break format!("nothing heard for {} s", SILENCE.as_secs()),
                    };
                    let (message, bytes, place) = match message {
                        FromWorker::Tried(id, report) => {
                            let built = BuiltArchive { bytes, place };
                            let message = FromConnection::Tried(name.clone(), number, id, report, built);
                            let _ = self.to_hub.send(message).await;
                            continue;
                        }
                        message => (message, bytes, place),
                    };
                    let outcome = match &message {
                        FromWorker::Fetch(id, from) => {
                            let part = self.part(id, *from);
                            let part = part.unwrap_or_else(|error| {
                                (FromCoordinator::NoArchive(*id, error.to_string()), Vec::new())
                            });
                            // The writer runs as long as this connection.
                            let _ = to_writer.send(part).await;
                            continue;
                        }
                        FromWorker::Played(unit) => Some(EncodedOutcome { unit: unit.clone(), bytes, place }),
                        _ => None,
                    };
                    let message = FromConnection::Message(name.clone(), number, message, outcome);
                    let _ = self.to_hub.send(message).await;
                }
            };
            let write = async {
                let mut ticks = interval(ALIVE);
                loop {
                    let (message, bytes) = tokio::select! {
                        message = of_hub.recv() => match message {
                            Some(HubMessage::Message(message, bytes)) => (message, bytes),
                            Some(HubMessage::Admitted(..) | HubMessage::Rejected(_)) => continue,
                            None => break,
                        },
                        Some(part) = parts.recv() => part,
                        _ = ticks.tick() => (FromCoordinator::Alive, Vec::new()),
                    };
                    let written = timeout(SILENCE, frame::write(&mut writer, &message, &bytes)).await;
                    if !matches!(written, Ok(Ok(()))) {
                        break;
                    }
                }
            };
            tokio::select! {
                why = read => tracing::debug!(name, why, "a worker is gone"),
                () = write => {}
            }
            // TLS tells an end from a loss.
            let _ = timeout(ALIVE, writer.shutdown()).await;
        }
        let _ = self.to_hub.send(FromConnection::Left(name, number)).await;
    }

    /// Waits until there is memory for this number of bytes.
    async fn reserve(&self, bytes: usize) -> Option<Arc<OwnedSemaphorePermit>> {
        let kib = u32::try_from(bytes.div_ceil(1024)).ok().filter(|&kib| kib > 0)?;
        // The semaphore is never closed.
        Arc::clone(&self.outcomes).acquire_many_owned(kib).await.ok().map(Arc::new)
    }

    fn part(&self, id: &ArchiveId, from: u64) -> io::Result<(FromCoordinator, Vec<u8>)> {
        let mut file = File::open(self.archives.join(format!("{id}.tar")))?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
        Ok((FromCoordinator::Archive(*id, size), bytes))
    }
}
