//! Accepts HTTP connections, within limits.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use futures_util::StreamExt;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use crate::api::refused;
use crate::guard;
use crate::limiter::{RequestLimiter, network_of};
use crate::metrics::OpenCount;

/// The maximum number of connections.
const MOST_CONNECTIONS: usize = 512;
/// The maximum number of connections of one address, so that it cannot use up all of them. Behind a trusted proxy: of requests
/// in progress, including streams.
const MOST_OF_ADDRESS: usize = 256;
/// The maximum size of the head of a request, in bytes.
const MOST_HEAD: usize = 16 * 1024;
/// The maximum number of header fields of a request.
const MOST_FIELDS: usize = 64;
/// The time for the head of a request, from the end of the previous response.
const HEAD: Duration = Duration::from_secs(15);
/// The time after which a client that reads nothing is disconnected.
const UNREAD: Duration = Duration::from_secs(30);
/// The time for which a client may go on sending after its last response, and the longest time between two parts: closing a
/// connection with unread input would discard the response.
const LINGER: Duration = Duration::from_secs(30);
const LINGER_SILENCE: Duration = Duration::from_secs(2);
/// The time to wait at the end for streams to be written.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(900);
/// The time to wait after an error of the operating system, such as a lack of file descriptors.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// The numbers of connections, and of requests of proxies, by the address of the client.
type ConnectionCounts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// A connection that counts for its address, or a request that does behind a proxy.
struct AddressSlot {
    counts: ConnectionCounts,
    address: IpAddr,
}

impl AddressSlot {
    /// A place for another one, unless this address has too many.
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

/// Tells whether an address is that of a proxy whose header fields count.
pub(super) type TrustedProxies = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// Returns whether an address is one of these proxies.
pub(super) fn is_among(proxies: &[IpAddr], address: IpAddr) -> bool {
    proxies.iter().any(|proxy| proxy.to_canonical() == address.to_canonical())
}

/// State that the connections of a server share.
#[derive(Clone)]
pub(super) struct Connections {
    pub(super) closes: Closes,
    pub(super) open: OpenCount,
    /// The number of connections closed, and of requests of proxies refused, because there were too many.
    pub(super) refused: Arc<AtomicU64>,
    pub(super) proxies: TrustedProxies,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    /// Behind a trusted proxy the address that it names last, otherwise the other end of the connection.
    pub(super) address: IpAddr,
    /// Whether a trusted proxy sends the request.
    pub(super) is_proxied: bool,
}

impl Client {
    fn of(peer: IpAddr, is_proxied: bool, headers: &HeaderMap) -> Client {
        let field = headers.get_all("x-forwarded-for").iter().next_back().filter(|_| is_proxied);
        let named = field.and_then(|field| field.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
        Client { address: named.unwrap_or(peer), is_proxied }
    }
}

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
                let peer = peer.ip();
                let slot = slots.clone().try_acquire_owned().ok();
                // The connections of a proxy are those of all its clients.
                let of_client = match (of_server.proxies)(peer) {
                    true => Some(None),
                    false => AddressSlot::take(&counts, network_of(peer)).map(Some),
                };
                let Some(taken) = slot.zip(of_client) else {
                    of_server.refused.fetch_add(1, Ordering::Relaxed);
                    continue;
                };
                let requests = Requests {
                    peer,
                    is_counted: taken.1.is_some(),
                    router: TowerToHyperService::new(router.clone()),
                    of_server: of_server.clone(),
                    limiter: limiter.clone(),
                    counts: counts.clone(),
                };
                connections.spawn(async move {
                    connection(stream, requests).await;
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

/// State that the requests of a connection share.
#[derive(Clone)]
struct Requests {
    peer: IpAddr,
    /// Whether the connection counts for its address; otherwise each request does.
    is_counted: bool,
    router: TowerToHyperService<Router>,
    of_server: Connections,
    limiter: Arc<RequestLimiter>,
    counts: ConnectionCounts,
}

impl Requests {
    /// Answers a request within the limits of its client.
    async fn answer(self, mut request: Request<Incoming>) -> Result<Response, Infallible> {
        let client = Client::of(self.peer, (self.of_server.proxies)(self.peer), request.headers());
        request.extensions_mut().insert(client);
        let network = network_of(client.address);
        if self.is_counted {
            self.limiter.request(network).await;
            return self.router.call(request).await;
        }
        let Some(slot) = AddressSlot::take(&self.counts, network) else {
            self.of_server.refused.fetch_add(1, Ordering::Relaxed);
            let what = format!("your address has {MOST_OF_ADDRESS} requests in progress, the limit");
            let mut response = refused(StatusCode::TOO_MANY_REQUESTS, &what);
            guard::protect(&mut response);
            return Ok(response);
        };
        self.limiter.request(network).await;
        let (head, body) = self.router.call(request).await?.into_parts();
        // A stream lasts until its body is dropped.
        let body = body.into_data_stream().map(move |part| {
            let _ = &slot;
            part
        });
        Ok(Response::from_parts(head, Body::from_stream(body)))
    }
}

/// Serves a connection until it ends or the server closes.
async fn connection(stream: TcpStream, requests: Requests) {
    let Connections { mut closes, open, .. } = requests.of_server.clone();
    let _gauge = open.enter();
    // Without it, events are delayed; otherwise harmless.
    let _ = stream.set_nodelay(true);
    let mut stream = Box::pin(TimeoutStream::new(stream));
    stream.as_mut().set_write_timeout_pinned(Some(UNREAD));
    let service = service_fn(|request| requests.clone().answer(request));
    let ended = {
        let mut connection = std::pin::pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .max_buf_size(MOST_HEAD)
                .max_headers(MOST_FIELDS)
                .serve_connection(TokioIo::new(&mut stream), service)
        );
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = closed(&mut closes) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    };
    if let Err(error) = ended {
        tracing::trace!(%error, "the connection of a client has ended");
    }
    let rest = async {
        stream.shutdown().await?;
        let mut part = vec![0; 8192];
        while timeout(LINGER_SILENCE, stream.read(&mut part)).await?? > 0 {}
        Ok::<_, io::Error>(())
    };
    tokio::select! {
        _ = timeout(LINGER, rest) => {}
        () = closed(&mut closes) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn slow_reader_whose_request_is_unread_gets_whole_response() {
        const SIZE: usize = 64 << 20;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_keep, closes) = watch::channel(false);
        let connections = Connections {
            closes,
            open: OpenCount::default(),
            refused: Arc::default(),
            proxies: Arc::new(|_| false),
        };
        let router = Router::new().fallback(|| async { vec![b'x'; SIZE] });
        tokio::spawn(serve(listener, router, connections));
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nunread").await.unwrap();
        sleep(Duration::from_millis(200)).await;
        let mut response = Vec::new();
        client.read_to_end(&mut response).await.unwrap();
        let head = response.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
        assert_eq!(response.len() - head - 4, SIZE);
    }
}
