//! A bot that connects again after each loss of its connection.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::guest::answer;

/// A bot that makes the first legal move, on a thread of its own. It stops when it is dropped.
pub(crate) struct Returning {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    address: SocketAddr,
    hello: Value,
    thinking: Duration,
    /// The number of moves that it makes.
    most: AtomicUsize,
    /// The matches whose `start` it got.
    started: Mutex<BTreeSet<String>>,
    is_over: AtomicBool,
}

/// `hello` of a bot that can connect again.
pub(crate) fn hello(name: &str, token: &str) -> Value {
    json!({"type": "hello", "protocol": 1, "name": name, "token": token, "reconnect": format!("process of {name}")})
}

impl Returning {
    /// A bot that makes at most so many moves, and then only listens.
    pub(crate) fn start(address: SocketAddr, hello: Value, thinking: Duration, most: usize) -> Returning {
        let (started, is_over) = (Mutex::default(), AtomicBool::new(false));
        let most = AtomicUsize::new(most);
        let shared = Arc::new(Shared { address, hello, thinking, most, started, is_over });
        let work = shared.clone();
        Returning { shared, thread: Some(thread::spawn(move || work.work())) }
    }

    /// It makes all further moves, beginning with the one that it is asked for.
    pub(crate) fn play_on(&self) {
        self.shared.most.store(usize::MAX, Ordering::Relaxed);
    }

    /// The matches whose `start` it got.
    pub(crate) fn started(&self) -> BTreeSet<String> {
        self.shared.started.lock().expect("no panic").clone()
    }
}

impl Shared {
    fn work(&self) {
        let mut moves = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            if let Ok(stream) = TcpStream::connect(self.address) {
                self.play(stream, &mut moves);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Plays until the connection ends.
    fn play(&self, stream: TcpStream, moves: &mut usize) {
        let every = Some(Duration::from_millis(50));
        stream.set_read_timeout(every).and_then(|()| stream.set_nodelay(true)).expect("a socket");
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        // The turn that it leaves unanswered.
        let mut held = None;
        while !self.is_over.load(Ordering::Relaxed) {
            match lines.read_line(&mut line) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
            let message = if line.ends_with('\n') {
                // The last line of a server that is killed may be incomplete.
                let Ok(message) = serde_json::from_str::<Value>(&line) else { return };
                line.clear();
                message
            } else if let Some(turn) = held.take() {
                turn
            } else {
                continue;
            };
            if message["type"] == "turn" && *moves >= self.most.load(Ordering::Relaxed) {
                held = Some(message);
                continue;
            }
            let Some(reply) = self.reply(&message, moves) else { continue };
            if lines.get_mut().write_all(format!("{reply}\n").as_bytes()).is_err() {
                return;
            }
        }
    }

    fn reply(&self, message: &Value, moves: &mut usize) -> Option<Value> {
        match message["type"].as_str() {
            Some("hello") => return Some(self.hello.clone()),
            Some("start") => {
                let id = message["match"].as_str().expect("an id").to_owned();
                self.started.lock().expect("no panic").insert(id);
            }
            Some("turn") => {
                *moves += 1;
                thread::sleep(self.thinking);
            }
            _ => {}
        }
        answer(message)
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic shows up as a match that does not end.
            let _ = thread.join();
        }
    }
}
