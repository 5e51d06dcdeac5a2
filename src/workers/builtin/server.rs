//! The coordinator's end: admits workers, and hands the published units out to those with free slots.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::frame::{self, Admission, CHUNK_BYTES, FromCoordinator, FromWorker, Hello, VERSION};
use super::hub::{FromConnection, HubMessage, WorkerHub};
use super::{ALIVE, HANDSHAKE, SILENCE};
use crate::sources::TokenHash;
use crate::workers::archive::ArchiveId;
use crate::workers::carrier::{CarrierEvent, CoordinatorEnd, Order};
use crate::workers::unit::UnitOutcome;

/// The maximum number of connections without a valid token.
const PENDING: usize = 64;
/// How long a connection with a wrong token waits for its answer.
const WRONG_TOKEN: Duration = Duration::from_secs(1);

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
    /// Those of `getsockname`.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl CoordinatorEnd for BuiltInCoordinator {
    async fn serve(
        self,
        orders: UnboundedReceiver<Order>,
        events: UnboundedSender<CarrierEvent>,
    ) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let acceptor = TlsAcceptor::from(self.tls);
        let (to_hub, of_connections) = unbounded_channel();
        let context = Arc::new(ServerContext { tokens: self.tokens, to_hub, archives: self.archives });
        let accept = async {
            let pending = Arc::new(Semaphore::new(PENDING));
            let mut connections = JoinSet::new();
            loop {
                while connections.try_join_next().is_some() {}
                // Further connections wait in the backlog.
                let Ok(place) = Arc::clone(&pending).acquire_owned().await else { return };
                let (stream, address) = match listener.accept().await {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        tracing::warn!(%error, "a worker cannot connect");
                        sleep(WRONG_TOKEN).await;
                        continue;
                    }
                };
                let (acceptor, context) = (acceptor.clone(), Arc::clone(&context));
                connections.spawn(async move {
                    let admitted = timeout(HANDSHAKE, async {
                        stream.set_nodelay(true)?;
                        let mut stream = acceptor.accept(stream).await?;
                        let hello = context.admit(&mut stream).await?;
                        Ok::<_, io::Error>((stream, hello))
                    });
                    match admitted.await {
                        Ok(Ok((stream, hello))) => {
                            drop(place);
                            context.serve(stream, hello).await;
                        }
                        Ok(Err(error)) => tracing::warn!(%address, %error, "a worker is not admitted"),
                        Err(_) => tracing::warn!(%address, "a worker is not admitted: no message in time"),
                    }
                });
            }
        };
        let hub = WorkerHub::new(events);
        tokio::select! {
            () = accept => {}
            () = hub.run(orders, of_connections) => {}
        }
        Ok(())
    }
}

/// What all connections share.
pub(super) struct ServerContext {
    pub(super) tokens: WorkerTokens,
    pub(super) to_hub: UnboundedSender<FromConnection>,
    pub(super) archives: PathBuf,
}

impl ServerContext {
    /// Reads the first message, and checks its token and version.
    pub(super) async fn admit(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin + Send),
    ) -> io::Result<Hello> {
        let hello: Hello = frame::read_first(stream).await?;
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
        frame::write(stream, &Admission::Rejected(why.clone()), &[]).await?;
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }

    /// Passes messages on until the connection is lost.
    pub(super) async fn serve(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin + Send, hello: Hello) {
        let (to_worker, mut of_hub) = unbounded_channel();
        // The hub runs as long as the carrier.
        let _ = self.to_hub.send(FromConnection::Joined(hello, to_worker.clone()));
        let (name, number) = match of_hub.recv().await {
            Some(HubMessage::Admitted(name, number)) => (name, number),
            Some(HubMessage::Rejected(why)) => {
                // It will try again.
                let _ = frame::write(&mut stream, &Admission::Rejected(why), &[]).await;
                return;
            }
            Some(HubMessage::Message(..)) | None => return,
        };
        if frame::write(&mut stream, &Admission::Welcome(name.clone()), &[]).await.is_ok() {
            let (mut reader, mut writer) = split(stream);
            let read = async {
                loop {
                    let read = timeout(SILENCE, frame::read::<FromWorker>(&mut reader)).await;
                    let (message, bytes) = match read {
                        Ok(Ok(read)) => read,
                        Ok(Err(error)) => break error.to_string(),
                        Err(_) => break format!("nothing heard for {} s", SILENCE.as_secs()),
                    };
                    let outcome = match &message {
                        FromWorker::Fetch(id, from) => {
                            let part = self.part(id, *from);
                            let (message, bytes) = part.unwrap_or_else(|error| {
                                (FromCoordinator::NoArchive(*id, error.to_string()), Vec::new())
                            });
                            // The writer runs as long as this connection.
                            let _ = to_worker.send(HubMessage::Message(message, bytes));
                            continue;
                        }
                        FromWorker::Played(id) => match UnitOutcome::decode(&bytes) {
                            Ok(outcome) if outcome.unit == *id => Some(outcome),
                            Ok(_) => break "an outcome of another unit".to_owned(),
                            Err(why) => break format!("an outcome cannot be read: {why}"),
                        },
                        _ => None,
                    };
                    let message = FromConnection::Message(name.clone(), number, message, outcome);
                    let _ = self.to_hub.send(message);
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
        let _ = self.to_hub.send(FromConnection::Left(name, number));
    }

    /// A part of an archive.
    fn part(&self, id: &ArchiveId, from: u64) -> io::Result<(FromCoordinator, Vec<u8>)> {
        let mut file = File::open(self.archives.join(format!("{id}.tar")))?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
        Ok((FromCoordinator::Archive(*id, size), bytes))
    }
}
