//! The limits of the server for spectators, with real sockets (protocol/spec/watch.md, "Limits").
#![expect(clippy::disallowed_methods, reason = "limits in time pass while the tests wait")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use crate::common::http::Site;
use crate::common::{Folder, Referee, TIMEOUT, in_rust};
use crate::watch::{go, wait_for_moves, wait_until, watched};

/// A connection from this address of the loopback interface.
fn connected(site: &Site, from: Ipv4Addr) -> TcpStream {
    let to: SocketAddrV4 = site.0.parse().expect("an address");
    let client = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&client, &SocketAddrV4::new(from, 0)).expect("an address of this machine");
    connect(&client, &to).expect("it listens");
    let client = TcpStream::from(client);
    client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    client
}

/// Reads until the server closes the connection.
#[track_caller]
fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        // Bytes sent to a closed connection reset it.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the server leaves the connection open: {error}"),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns whether the server answers on a new connection from this address.
fn is_served(site: &Site, from: Ipv4Addr) -> bool {
    let mut client = connected(site, from);
    match client.write_all(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n") {
        Ok(()) => rest(&mut client).contains("\r\n\r\nok\n"),
        Err(_) => false,
    }
}

/// A match that waits at its first move, and its server.
fn waiting(folder: &Folder) -> (Referee, Site) {
    let (referee, site) = watched(folder, "checkers", (0.0, 0), &["--set", "turn_limit=8"]);
    wait_for_moves(&site, "m1", 0);
    (referee, site)
}

#[test]
fn connections_are_limited_by_address_and_in_total() {
    let folder = Folder::new();
    let (referee, site) = waiting(&folder);
    let [first, second, third] = [1, 2, 3].map(|last| Ipv4Addr::new(127, 0, 0, last));
    let mut of_first: Vec<TcpStream> = (0..256).map(|_| connected(&site, first)).collect();
    assert!(!is_served(&site, first), "256 connections of an address");
    assert!(is_served(&site, second), "another address");
    of_first.pop();
    wait_until("a connection ends and another one is served", || is_served(&site, first));
    of_first.push(connected(&site, first));
    let of_second: Vec<TcpStream> = (0..256).map(|_| connected(&site, second)).collect();
    assert!(!is_served(&site, third), "512 connections in total");
    drop((of_first, of_second));
    wait_until("they end", || is_served(&site, first) && is_served(&site, third));
    let metrics = site.get("/metrics").body;
    let refused = metrics.lines().find_map(|line| line.strip_prefix("referee_watch_refused_total "));
    assert!(refused.and_then(|count| count.parse().ok()) >= Some(2), "{metrics}");
    go(&folder, "m1");
    referee.end().with_code(0);
}

#[test]
fn requests_are_limited_in_size() {
    let folder = Folder::new();
    let (referee, site) = waiting(&folder);
    let status = |request: String| {
        let mut stream = site.send(&request);
        let answer = rest(&mut stream);
        answer.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok())
    };
    let asked = |target: &str, head: &str| {
        status(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{head}\r\n"))
    };
    let target = |length: usize| format!("/healthz?{}", "x".repeat(length - "/healthz?".len()));
    assert_eq!(asked(&target(2048), ""), Some(200));
    assert_eq!(asked(&target(2049), ""), Some(414));
    assert_eq!(asked(&target(70_000), ""), Some(431));
    let field = |length: usize| format!("Cookie: {}\r\n", "x".repeat(length));
    assert_eq!(asked("/healthz", &field(15 * 1024)), Some(200));
    assert_eq!(asked("/healthz", &field(17 * 1024)), Some(431));
    assert_eq!(asked("/healthz", &"A: b\r\n".repeat(62)), Some(200));
    assert_eq!(asked("/healthz", &"A: b\r\n".repeat(63)), Some(431));
    assert_eq!(status("no request\r\n\r\n".to_owned()), Some(400));
    go(&folder, "m1");
    referee.end().with_code(0);
}

#[test]
fn spectators_that_pipeline_requests_do_not_stop_a_run() {
    let folder = Folder::new();
    let bot = in_rust("referee-random").display().to_string();
    let entrants = format!(
        "[[entrants]]\nname = \"a\"\ncommand = \"{bot}\"\n[[entrants]]\nname = \"b\"\ncommand = \"{bot}\"\n"
    );
    let config = format!(
        "game = \"checkers\"\nmirror = \"none\"\n[format]\nkind = \"round_robin\"\ncycles = 400\n[options]\n\
         turn_limit = 10\n{entrants}"
    );
    let config = folder.write("cup.toml", config);
    let dir = folder.text("cup");
    let args =
        ["tournament", "run", &config, "--dir", &dir, "--json", "--no-fsync", "--watch", "127.0.0.1:0"];
    let mut referee = Referee::start(args);
    let site = Site::of(&mut referee);
    let requests = "GET /api/v1/standings HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100);
    let attackers: Vec<_> = (0..12)
        .map(|_| {
            let mut stream = site.send("");
            let requests = requests.clone();
            thread::spawn(move || {
                let mut reader = stream.try_clone().expect("a socket");
                thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
                while stream.write_all(requests.as_bytes()).is_ok() {}
            })
        })
        .collect();
    let ended = referee.end().with_code(0);
    assert_eq!(ended.all("match").len(), 400);
    attackers.into_iter().for_each(|attacker| attacker.join().expect("it ends with the server"));
}

/// The time until the server closes a connection.
fn time_until_closed(mut stream: TcpStream) -> Duration {
    let begun = Instant::now();
    rest(&mut stream);
    begun.elapsed()
}

/// The time until the server closes a connection to which a byte is written every now and then.
fn time_until_unwritable(mut stream: TcpStream) -> Duration {
    let begun = Instant::now();
    while stream.write_all(b"x").is_ok() {
        assert!(begun.elapsed() < TIMEOUT, "the server leaves the connection open");
        thread::sleep(Duration::from_millis(200));
    }
    begun.elapsed()
}

#[test]
fn connections_that_send_or_read_nothing_are_closed() {
    let folder = Folder::new();
    let (referee, site) = waiting(&folder);
    let (head, unread) = (Duration::from_secs(15), Duration::from_secs(30));
    let site = &site;
    thread::scope(|scope| {
        let silent = scope.spawn(|| time_until_closed(site.send("")));
        let idle =
            scope.spawn(|| time_until_closed(site.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")));
        let slow = scope
            .spawn(|| time_until_unwritable(site.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ")));
        // The answers are larger than the buffers of the kernel.
        let request = "GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(400);
        let unreading = scope.spawn(move || time_until_unwritable(site.send(&request)));
        let times = [silent, idle, slow, unreading].map(|client| client.join().expect("it is closed"));
        println!("closed after {times:?}");
        assert!(times[..3].iter().all(|time| *time >= head) && times[3] >= unread, "{times:?}");
    });
    go(&folder, "m1");
    referee.end().with_code(0);
}

#[test]
fn a_stream_without_events_gets_comments() {
    let folder = Folder::new();
    let (referee, site) = waiting(&folder);
    let mut stream = site.send(
        "GET /api/v1/matches/m1/events HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
    );
    let mut text = String::new();
    let mut part = [0; 4096];
    while !text.ends_with("\n\n:\n\n") {
        let count = stream.read(&mut part).expect("a comment in time");
        assert_ne!(count, 0, "{text}");
        text += std::str::from_utf8(&part[..count]).expect("ASCII");
    }
    assert_eq!(text.matches("event: ").count(), 1, "only the snapshot: {text}");
    go(&folder, "m1");
    referee.end().with_code(0);
}

/// The status of a request that a proxy sends for this client. The response is read as far as its head.
fn by_proxy(site: &Site, client: &str, path: &str) -> (u16, TcpStream) {
    let accept = "Accept: text/event-stream\r\n";
    let head = format!("Host: localhost\r\nX-Forwarded-For: 10.0.0.1, {client}\r\n{accept}");
    let mut stream = site.send(&format!("GET {path} HTTP/1.1\r\n{head}\r\n"));
    let mut status = [0; 12];
    stream.read_exact(&mut status).expect("a status");
    let status = std::str::from_utf8(&status[9..]).ok().and_then(|status| status.parse().ok());
    (status.expect("a number"), stream)
}

#[test]
fn trusted_proxy_keeps_streams_of_clients_apart() {
    let folder = Folder::new();
    let more = ["--set", "turn_limit=8", "--watch-proxy", "127.0.0.1"];
    let (referee, site) = watched(&folder, "checkers", (0.0, 0), &more);
    wait_for_moves(&site, "m1", 0);
    let ask = |client: &str, path: &str| by_proxy(&site, client, path);
    let mut streams: Vec<TcpStream> = (0..256)
        .map(|number| {
            let (status, stream) = ask("192.0.2.1", "/api/v1/events");
            assert_eq!(status, 200, "stream {number}");
            stream
        })
        .collect();
    assert_eq!(ask("192.0.2.1", "/healthz").0, 429, "256 requests of a client are in progress");
    let (refused, mut answer) = ask("192.0.2.1", "/api/v1/run");
    let mut text = [0; 4096];
    let length = answer.read(&mut text).expect("the rest");
    let text = String::from_utf8_lossy(&text[..length]);
    assert!(refused == 429 && text.contains("your address has 256 requests in progress"), "{text}");
    assert_eq!(ask("192.0.2.2", "/healthz").0, 200, "another client of the proxy");
    streams.pop();
    wait_until("a stream ends and another one is served", || ask("192.0.2.1", "/healthz").0 == 200);
    drop(streams);
    go(&folder, "m1");
    referee.end().with_code(0);
}

#[test]
fn whoever_is_no_trusted_proxy_names_no_other_client() {
    let folder = Folder::new();
    let (referee, site) = waiting(&folder);
    let named = |number: usize| by_proxy(&site, &format!("192.0.2.{number}"), "/api/v1/events").1;
    let streams: Vec<TcpStream> = (0..255).map(named).collect();
    let last = site.send("");
    assert!(!is_served(&site, Ipv4Addr::LOCALHOST), "256 connections of an address");
    assert!(is_served(&site, Ipv4Addr::new(127, 0, 0, 2)));
    drop((streams, last));
    go(&folder, "m1");
    referee.end().with_code(0);
}
