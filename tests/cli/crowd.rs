//! Many concurrent connections: bursts of honest bots, and floods. All traffic stays on the loopback
//! interface; the clients are separate processes, so that they do not share the limit of open files.
#![expect(clippy::disallowed_methods, reason = "these tests measure")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::common::guest::{Guest, listening};
use crate::common::{Folder, Referee, Signal, WON};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, sockopt};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;

/// Returns whether tests run at full length.
fn is_long() -> bool {
    std::env::var_os("LONG_TESTS").is_some()
}

fn hello(name: &str, token: Option<&str>) -> String {
    let mut hello = json!({"type": "hello", "protocol": 1, "name": name});
    if let Some(token) = token {
        hello["token"] = token.into();
    }
    format!("{hello}\n")
}

// ---- client processes ----

/// A client process. It prints its results as JSON lines.
struct Client {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(task: &Value) -> Client {
        let mut this = Command::new(std::env::current_exe().expect("this program"));
        let this = this.args(["crowd::client", "--exact", "--nocapture"]).env("CLIENT", task.to_string());
        let mut child = this.stdout(Stdio::piped()).spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Client { child, output }
    }

    /// This number of bots called `alice`, from one address, concurrently. Each sends `hello` as soon as it is
    /// connected or, with a round trip, this long after the referee's `hello`.
    fn honest(address: SocketAddr, count: usize, round_trip: Duration) -> Client {
        let round_trip_ms = round_trip.as_millis() as u64;
        Client::start(
            &json!({"do": "honest", "address": address, "count": count, "round_trip_ms": round_trip_ms}),
        )
    }

    /// Opens this number of connections per second, or fewer if it cannot, from 250 addresses, and sends `hello`, or
    /// nothing, on each.
    fn flood(address: SocketAddr, first: [u8; 4], rate: u32, says: Option<&str>) -> Client {
        let first = Ipv4Addr::from(first);
        Client::start(&json!({"do": "flood", "address": address, "first": first, "rate": rate, "says": says}))
    }

    fn tells(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let got = self.output.read_line(&mut line).expect("UTF-8");
            assert_ne!(got, 0, "the client ended");
            if let Some(at) = line.find('{') {
                return serde_json::from_str(&line[at..]).expect("JSON");
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Both fail only if it has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process that other tests start: this test binary with `CLIENT` set. Without it, the test does nothing.
#[test]
fn client() {
    let Ok(task) = std::env::var("CLIENT") else { return };
    let task: Value = serde_json::from_str(&task).expect("JSON");
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).expect("the limit can be raised");
    let number = |key: &str| task[key].as_u64().expect("a number");
    let address = task["address"].as_str().expect("text").parse().expect("an address");
    match task["do"].as_str() {
        Some("honest") => {
            let round_trip = Duration::from_millis(number("round_trip_ms"));
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(honest(address, number("count") as usize, round_trip));
        }
        Some("flood") => {
            let first = task["first"].as_str().expect("text").parse().expect("an address");
            flood(address, first, number("rate") as u32, task["says"].as_str());
        }
        _ => panic!("{task}"),
    }
}

/// Prints how many have sent `hello`, and when all have ended, how many ended before the run was over.
async fn honest(address: SocketAddr, count: usize, round_trip: Duration) {
    let mut saying = tokio::task::JoinSet::new();
    // Assigning ports takes the kernel long: if all connected at once, the first would wait for the last.
    let connecting = Arc::new(Semaphore::new(256));
    for _ in 0..count {
        let connecting = connecting.clone();
        saying.spawn(async move {
            let permit = connecting.acquire().await;
            let mut stream = tokio::io::BufReader::new(tokio::net::TcpStream::connect(address).await?);
            if !round_trip.is_zero() {
                drop(permit);
                stream.read_line(&mut String::new()).await?;
                tokio::time::sleep(round_trip).await;
            }
            stream.get_mut().write_all(hello("alice", None).as_bytes()).await?;
            Ok::<_, std::io::Error>(stream)
        });
    }
    let mut staying = tokio::task::JoinSet::new();
    let mut lost = 0;
    while let Some(said) = saying.join_next().await {
        match said.expect("no panic") {
            Err(_) => lost += 1,
            Ok(mut stream) => {
                staying.spawn(async move {
                    let mut line = String::new();
                    let mut last = String::new();
                    while stream.read_line(&mut line).await.unwrap_or(0) > 0 {
                        last = std::mem::take(&mut line);
                    }
                    last
                });
            }
        }
    }
    println!("\n{}", json!({"said": staying.len()}));
    while let Some(last) = staying.join_next().await {
        lost += usize::from(!last.expect("no panic").contains("the run is over"));
    }
    println!("\n{}", json!({"lost": lost}));
}

/// Prints the number of opened connections each second, until it is killed or ten minutes are over.
fn flood(address: SocketAddr, first: Ipv4Addr, rate: u32, says: Option<&str>) {
    const HELD: usize = 6_000;
    let (start, mut reported, mut tried, mut opened) = (Instant::now(), 0, 0_u32, 0_u32);
    let mut held = VecDeque::new();
    while reported < 600 {
        let elapsed = start.elapsed().as_secs_f64();
        if elapsed > f64::from(reported + 1) {
            reported += 1;
            println!("\n{}", json!({"opened": opened}));
        }
        if f64::from(tried) > elapsed * f64::from(rate) {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        tried += 1;
        let source = SocketAddrV4::new(Ipv4Addr::from_bits(first.to_bits() + tried % 250), 0);
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None);
        let socket = socket.expect("a descriptor");
        // If the backlog is full, the connection is not established yet; the kernel may also run out of ports for a
        // moment.
        if rustix::net::bind(&socket, &source).is_ok()
            && matches!(rustix::net::connect(&socket, &address), Ok(()) | Err(Errno::INPROGRESS))
        {
            opened += u32::from(rustix::net::getpeername(&socket).is_ok());
            if let Some(says) = says {
                let _ = rustix::net::send(&socket, says.as_bytes(), SendFlags::NOSIGNAL);
            }
        }
        // So that no port stays in use.
        sockopt::set_socket_linger(&socket, Some(Duration::ZERO)).expect("a socket");
        held.push_back(socket);
        if held.len() > HELD {
            held.pop_front();
        }
    }
}

// ---- bursts ----

/// Checks that exactly this number of connections of `alice` are admitted: the maximum for a name.
#[track_caller]
fn assert_all_in(address: SocketAddr) {
    let rest = Guest::named(address, "alice").rest();
    let codes: Vec<&Value> = rest.iter().map(|message| &message["code"]).collect();
    assert_eq!(codes, [&json!("too_many_connections"), &Value::Null], "not all are in: {rest:?}");
}

fn burst(count: usize, round_trip: Duration) {
    let processes = 2;
    let connections = (count / processes * processes).to_string();
    let args = ["play", "checkers", "tcp:alice", "tcp:bob", "--connections", &connections];
    let (referee, address) = listening(&args);
    let start = Instant::now();
    let clients = (0..processes).map(|_| Client::honest(address, count / processes, round_trip));
    let mut clients: Vec<Client> = clients.collect();
    for client in &mut clients {
        assert_eq!(client.tells(), json!({"said": count / processes}));
    }
    let took = start.elapsed();
    // The last message may still be on its way.
    std::thread::sleep(Duration::from_millis(300 + count as u64 / 2));
    assert_all_in(address);
    println!("{connections} connections at once with a round trip of {round_trip:?}: all in within {took:?}");
    referee.signal(Signal::INT);
    referee.wait().with_code(130);
    for client in &mut clients {
        assert_eq!(client.tells(), json!({"lost": 0}));
    }
}

/// The number of concurrent honest connections: at full length the maximum of a process.
fn crowd() -> usize {
    let most = getrlimit(Resource::Nofile).maximum.map_or(20_000, |most| most.min(20_000) as usize);
    if is_long() { most - 300 } else { 2_000 }
}

#[test]
fn a_burst_of_immediate_hellos_loses_no_bot() {
    burst(crowd(), Duration::ZERO);
}

#[test]
fn a_burst_with_a_long_round_trip_loses_no_bot() {
    burst(crowd(), Duration::from_millis(100));
}

// ---- floods ----

#[test]
fn a_bot_with_a_token_is_admitted_during_a_flood() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let tries = if is_long() { 50 } else { 5 };
    let count = tries.to_string();
    let args = ["play", "checkers", "tcp:alice", &plain, "--set", WON, "-n", &count];
    let (referee, address) =
        listening(&[&args[..], &["--token", "alice=open sesame", "--wait", "20s"]].concat());
    let rate = if is_long() { 50_000 } else { 2_000 };
    let mut silent = Client::flood(address, [127, 0, 1, 0], rate, None);
    let guess = hello("alice", Some("open barley"));
    let mut guessing = Client::flood(address, [127, 0, 2, 0], rate, Some(&guess));
    let opened =
        [silent.tells(), guessing.tells()].map(|counts| counts["opened"].as_u64().expect("a number"));
    let mut took = Vec::new();
    for _ in 0..tries {
        let start = Instant::now();
        let mut alice = slow_guest(address);
        alice.receive_type("start");
        took.push(start.elapsed());
        alice.send(&json!({"type": "ready", "match": alice.received.last().expect("start")["match"]}));
        alice.play_up_to("end");
    }
    drop((silent, guessing));
    took.sort_unstable();
    println!(
        "{tries} tries while {} connections a second come: median {:?}, longest {:?}",
        opened.iter().sum::<u64>(),
        took[tries / 2],
        took[tries - 1]
    );
    let ended = referee.wait().with_code(0);
    let faults: Vec<Value> = ended.all("match").into_iter().map(|line| line["faults"].clone()).collect();
    assert_eq!(faults, vec![json!([{}, {}]); tries]);
}

/// Starts a referee with this limit of open files, and waits until it listens.
fn with_files(files: u32, args: &[&str]) -> (Referee, SocketAddr) {
    let mut shell = Command::new("sh");
    let script = format!("ulimit -n {files}; exec \"$0\" \"$@\"");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_referee")]).args(args);
    let mut referee = Referee::start_as(shell.args(["--json", "--listen", "127.0.0.1:0"]));
    let address = referee.receive_type("listening")["address"].as_str().expect("text").to_owned();
    (referee, address.parse().expect("an address"))
}

#[test]
fn an_address_with_many_pending_connections_does_not_displace_others() {
    let (referee, address) = with_files(100, &["play", "checkers", "tcp:alice", "tcp:bob", "--set", WON]);
    let mut early = Guest::connect(address);
    early.receive();
    let other = Ipv4Addr::new(127, 0, 1, 1);
    let strangers: Vec<Guest> = (0..300).map(|_| Guest::connect_from(other, address)).collect();
    // She connects last, behind all of them.
    let late = Guest::named(address, "alice").play_along();
    early.write(hello("bob", None));
    early.play();
    late.join().expect("alice plays");
    referee.wait().with_code(0).says(&["closed to make room for others", "127.0.1.1"]);
    drop(strangers);
}

#[cfg(target_os = "linux")]
#[test]
fn a_referee_out_of_descriptors_waits_without_spinning() {
    let (referee, address) = with_files(40, &["play", "checkers", "tcp:alice", "tcp:bob", "--set", WON]);
    let strangers: Vec<Guest> = (0..100).map(|_| Guest::connect(address)).collect();
    let used = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", referee.pid())).expect("it runs");
        // User and system time, in hundredths of a second.
        let fields = stat.rsplit(')').next().expect("fields").split_whitespace();
        fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum::<u64>()
    };
    let before = used();
    std::thread::sleep(Duration::from_millis(800));
    assert!(used() - before < 40, "{} of 80 hundredths of a second", used() - before);
    drop(strangers);
    let [alice, bob] = ["alice", "bob"].map(|name| Guest::named(address, name).play_along());
    referee.wait().with_code(0);
    for guest in [alice, bob] {
        guest.join().expect("it plays");
    }
}

// ---- wrong tokens ----

#[test]
fn an_unknown_name_is_answered_like_a_wrong_token() {
    let args = ["play", "checkers", "tcp:alice", "tcp:bob", "--token", "alice=one", "--token", "bob=two"];
    let (referee, address) = listening(&args);
    let answer = |name: &str| {
        let mut stranger = Guest::connect(address);
        stranger.receive();
        stranger.write(hello(name, Some("three")));
        Value::from(stranger.rest()).to_string().replace(name, "NAME")
    };
    let start = Instant::now();
    let rejection = answer("alice");
    assert!(rejection.contains("wrong_token"), "{rejection}");
    for (answered, name) in [(2, "alice"), (3, "carol"), (4, "alice")] {
        assert_eq!(rejection, answer(name));
        // The delay counts from the answer before, which this process may have read late.
        assert!(start.elapsed() >= answered * Duration::from_millis(250), "{name}: {:?}", start.elapsed());
    }
    referee.signal(Signal::INT);
    referee.wait().with_code(130);
}

#[test]
fn wrong_tokens_do_not_lock_out_the_right_one() {
    let args = ["play", "checkers", "tcp:alice", "tcp:bob", "--set", WON];
    let (referee, address) =
        listening(&[&args[..], &["--token", "alice=open sesame", "--token", "bob=two"]].concat());
    let guess = |source: [u8; 4], token: &str| {
        let mut guest = Guest::connect_from(source.into(), address);
        guest.receive();
        guest.write(hello("alice", Some(token)));
        guest
    };
    let start = Instant::now();
    let guesses: Vec<Guest> = (0..30).map(|number| guess([127, 0, 1, 1], &number.to_string())).collect();
    let alice = guess([127, 0, 1, 1], "open sesame").play_along();
    let elsewhere = guess([127, 0, 1, 2], "0").rest();
    let elsewhere = (elsewhere, start.elapsed());
    let mut bob = Guest::connect(address);
    bob.write(hello("bob", Some("two")));
    bob.play();
    alice.join().expect("she plays");
    let took = start.elapsed();
    assert_eq!(elsewhere.0[0]["code"], "wrong_token");
    assert!(elsewhere.1 < took, "an address does not wait for another: {elsewhere:?}, {took:?}");
    let codes: Vec<Value> = guesses.into_iter().map(|guess| guess.rest()[0]["code"].clone()).collect();
    assert!(codes.iter().all(|code| code == "wrong_token"), "{codes:?}");
    // The eighth answer has the maximum delay.
    assert!(took >= Duration::from_millis(1_900), "{took:?}");
    referee.wait().with_code(0);
}

/// A bot called `alice` with her token, with a latency of 100 ms.
fn slow_guest(address: SocketAddr) -> Guest {
    let mut alice = Guest::connect(address);
    std::thread::sleep(Duration::from_millis(100));
    alice.receive();
    std::thread::sleep(Duration::from_millis(100));
    alice.write(hello("alice", Some("open sesame")));
    alice
}
