//! A scripted bot that connects.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustix::net::{AddressFamily, SocketType};
use serde_json::{Value, json};

use super::{Referee, TIMEOUT};

/// A connection to a referee.
pub(crate) struct Guest {
    lines: BufReader<TcpStream>,
    /// The messages received so far.
    pub(crate) received: Vec<Value>,
}

impl Guest {
    /// Connects without sending anything.
    pub(crate) fn connect(address: SocketAddr) -> Guest {
        Guest::over(TcpStream::connect(address).expect("the referee listens"))
    }

    /// The same from another loopback address.
    pub(crate) fn connect_from(source: Ipv4Addr, address: SocketAddr) -> Guest {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        rustix::net::bind(&socket, &SocketAddrV4::new(source, 0)).expect("an address of this machine");
        rustix::net::connect(&socket, &address).expect("the referee listens");
        Guest::over(socket.into())
    }

    fn over(stream: TcpStream) -> Guest {
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a socket");
        Guest { lines: BufReader::new(stream), received: Vec::new() }
    }

    /// Connects and sends `hello`.
    pub(crate) fn named(address: SocketAddr, name: &str) -> Guest {
        Guest::saying(address, &json!({"type": "hello", "protocol": 1, "name": name}))
    }

    /// Connects and sends this after the referee's `hello`.
    pub(crate) fn saying(address: SocketAddr, hello: &Value) -> Guest {
        let mut guest = Guest::connect(address);
        assert_eq!(guest.receive()["type"], "hello");
        guest.send(hello);
        guest
    }

    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.lines.get_mut().write_all(bytes.as_ref()).expect("the referee reads");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.write(format!("{message}\n"));
    }

    /// The next message; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        // A reset connection has ended as well.
        if self.lines.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.received.push(message.clone());
        Some(message)
    }

    /// Returns whether a message comes in this time.
    pub(crate) fn hears_within(&self, time: Duration) -> bool {
        let stream = self.lines.get_ref();
        stream.set_read_timeout(Some(time)).expect("a socket");
        let is_there = !self.lines.buffer().is_empty() || stream.peek(&mut [0]).is_ok();
        stream.set_read_timeout(Some(TIMEOUT)).expect("a socket");
        is_there
    }

    pub(crate) fn receive(&mut self) -> Value {
        self.next().unwrap_or_else(|| panic!("the connection ended after {:?}", self.received.last()))
    }

    /// The next message of this type; earlier ones are skipped.
    pub(crate) fn receive_type(&mut self, kind: &str) -> Value {
        loop {
            let message = self.receive();
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// All messages until the end of the stream.
    pub(crate) fn rest(mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// Answers a `start` or a `turn` correctly.
    pub(crate) fn answer(&mut self, message: &Value) {
        if let Some(answer) = answer(message) {
            self.send(&answer);
        }
    }

    /// Answers all messages before the first one of this type, which it returns.
    pub(crate) fn play_up_to(&mut self, kind: &str) -> Value {
        loop {
            let message = self.receive();
            if message["type"] == kind {
                return message;
            }
            self.answer(&message);
        }
    }

    /// Plays until the connection ends. Returns all messages.
    pub(crate) fn play(mut self) -> Vec<Value> {
        while let Some(message) = self.next() {
            self.answer(&message);
        }
        self.received
    }

    /// Plays on a thread of its own.
    pub(crate) fn play_along(self) -> JoinHandle<Vec<Value>> {
        std::thread::spawn(|| self.play())
    }

    /// Shuts down its sending side and continues to read.
    pub(crate) fn half_close(&mut self) {
        self.lines.get_mut().shutdown(Shutdown::Write).expect("a socket");
    }

    pub(crate) fn reset(self) {
        set_socket_linger(self.lines.get_ref(), Some(Duration::ZERO)).expect("a socket");
    }
}

/// The correct answer to a message, if it needs one.
pub(crate) fn answer(message: &Value) -> Option<Value> {
    let place = |kind| json!({"type": kind, "match": message["match"], "seat": message["seat"]});
    let mut answer = match message["type"].as_str() {
        Some("start") => place("ready"),
        Some("turn") => place("move"),
        _ => return None,
    };
    if message["type"] == "turn" {
        answer["turn"] = message["turn"].clone();
        answer["move"] = message["legal"][0].clone();
    }
    Some(answer)
}

/// Starts a referee that listens on a free port, and waits until it does. `args` exclude `--json --listen`.
pub(crate) fn listening(args: &[&str]) -> (Referee, SocketAddr) {
    let mut referee = Referee::start(args.iter().chain(&["--json", "--listen", "127.0.0.1:0"]));
    let address = referee.receive_type("listening")["address"].as_str().expect("text").to_owned();
    (referee, address.parse().expect("an address"))
}
