//! Accepts HTTP connections, within limits.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use crate::limiter::{RequestLimiter, network_of};
use crate::metrics::OpenCount;

/// The maximum number of connections.
const MOST_CONNECTIONS: usize = 512;
/// The maximum number of connections of one address, so that it cannot use up all of them.
const MOST_OF_ADDRESS: usize = 256;
/// The maximum size of the head of a request, in bytes.
const MOST_HEAD: usize = 16 * 1024;
/// The maximum number of header fields of a request.
const MOST_FIELDS: usize = 64;
/// The time for the head of a request, from the end of the previous response.
const HEAD: Duration = Duration::from_secs(15);
/// The time after which a client that reads nothing is disconnected.
const UNREAD: Duration = Duration::from_secs(30);
/// How long to wait at the end for streams to be written.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(900);
/// How long to wait after an error of the operating system, such as a lack of file descriptors.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// The numbers of connections by address.
type ConnectionCounts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// One of the connections of an address.
struct AddressSlot {
    counts: ConnectionCounts,
    address: IpAddr,
}

impl AddressSlot {
    /// A place for a connection, unless this address has too many.
    fn take(counts: &ConnectionCounts, address: IpAddr) -> Option<AddressSlot> {
        let mut by_address = counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = by_address.entry(address).or_default();
        if *count >= MOST_OF_ADDRESS {
            return None;
        }
        *count += 1;
        Some(AddressSlot { counts: counts.clone(), address })
    }
}

impl Drop for AddressSlot {
    fn drop(&mut self) {
        let mut by_address = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&self.address);
            }
        }
    }
}

/// Becomes true when the server closes.
pub(super) type Closes = watch::Receiver<bool>;

/// What the connections of a server have in common.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    pub(super) closes: Closes,
    /// How many there are.
    pub(super) open: OpenCount,
    /// How many were closed because there were too many.
    pub(super) refused: Arc<AtomicU64>,
}

/// The address of the client of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientAddress(pub(super) IpAddr);

/// Serves until the server closes.
pub(super) async fn serve(listener: TcpListener, router: Router, of_server: Connections) {
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let counts = ConnectionCounts::default();
    let mut connections = JoinSet::new();
    let mut closes = of_server.closes.clone();
    let limiter = Arc::new(RequestLimiter::new());
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closed(&mut closes) => break,
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, peer)) => {
                tokio::select! {
                    () = limiter.connection() => {}
                    () = closed(&mut closes) => break,
                }
                let address = network_of(peer.ip());
                let slot = slots.clone().try_acquire_owned().ok();
                let Some(taken) = slot.zip(AddressSlot::take(&counts, address)) else {
                    of_server.refused.fetch_add(1, Ordering::Relaxed);
                    continue;
                };
                let (client, limiter) = (ClientAddress(peer.ip()), limiter.clone());
                let connection =
                    connection(stream, client, router.clone(), of_server.clone(), limiter, address);
                connections.spawn(async move {
                    connection.await;
                    drop(taken);
                });
            }
            Err(error) => {
                tracing::debug!(%error, "a client cannot connect");
                sleep(AFTER_ERROR).await;
            }
        }
    }
    drop(listener);
    let done = async { while connections.join_next().await.is_some() {} };
    // A client that does not read must not delay the end.
    let _ = timeout(SHUTDOWN_TIMEOUT, done).await;
}

/// Resolves when the server closes.
async fn closed(closes: &mut Closes) {
    // An error means that the server has been dropped.
    let _ = closes.wait_for(|closes| *closes).await;
}

/// Serves a connection until it ends or the server closes.
async fn connection(
    stream: TcpStream,
    client: ClientAddress,
    router: Router,
    Connections { mut closes, open, .. }: Connections,
    limiter: Arc<RequestLimiter>,
    address: IpAddr,
) {
    let _gauge = open.enter();
    // Without it, events are delayed; otherwise harmless.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(UNREAD));
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(client);
        let (router, limiter) = (router.clone(), limiter.clone());
        async move {
            limiter.request(address).await;
            router.call(request).await
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HEAD)
        .max_headers(MOST_FIELDS)
        .serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closed(&mut closes) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::trace!(%error, "the connection of a client has ended");
    }
}
