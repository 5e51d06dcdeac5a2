//! A thousand concurrent matches over TCP, each bot with its own connection, compared with a bare server that sends the
//! same request to as many pairs of the same bots in turn, with as many threads as the referee has lanes.
//!
//! The time of a decision is measured from the request to the answer, as it is billed. All bots are in one process,
//! whose work is the same in both figures. They connect as fast as they are accepted. `cargo bench --bench crowd [MATCHES]`; ten
//! thousand matches need 20,300 descriptors (`ulimit -Hn`), and with fewer as many matches as possible are played.
#![expect(clippy::disallowed_methods, reason = "a bench measures")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{Limit, Result, TURN, answer};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::runtime::Runtime;
use tokio::sync::{Barrier, Semaphore};

const ROUNDS: usize = 3;
const MATCHES: usize = 1000;
/// The number of decisions per match, so that all have the same length.
const PLIES: usize = 60;
/// The `start` of a bare server.
const START: &str = "{\"type\":\"start\",\"match\":\"m100\",\"seat\":0}\n";

/// The maximum number of connections that wait to be accepted. With more than the backlog of the kernel, some would be
/// lost.
const UNACCEPTED: usize = 1000;

/// The number of bots with the same address. With more, the kernel searches long for a free port.
const SAME_ADDRESS: usize = 5000;

type Connection = tokio::io::BufReader<tokio::net::TcpStream>;
/// The time limit for a match of each pair.
const LIMIT: Duration = Duration::from_secs(120);

/// The numbers of bots in each state.
#[derive(Default)]
struct ReadProgress {
    introduced: AtomicUsize,
    started: AtomicUsize,
    ended: AtomicUsize,
}

fn main() -> Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit)?;
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bots") => {
            let runtime = runtime()?;
            runtime.block_on(bots(args[2].parse()?, args[3].parse()?))
        }
        matches => bench(matches.and_then(|matches| matches.parse().ok()).unwrap_or(MATCHES)),
    }
}

fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

/// This number of pairs of bots, called `a` and `b`, which answer at once, except that they answer `start` only when
/// all have received it. Prints how long they played from then on, in microseconds.
async fn bots(address: SocketAddr, pairs: usize) -> Result<()> {
    let progress = Arc::new(ReadProgress::default());
    let done = tokio::time::timeout(LIMIT, all_bots(address, pairs, progress.clone())).await;
    done.map_err(|_| {
        let [introduced, started, ended] = [&progress.introduced, &progress.started, &progress.ended]
            .map(|count| count.load(Ordering::Relaxed));
        format!(
            "after {} s, {introduced} of {} bots have said `hello`, {started} have got `start`, {ended} are done",
            LIMIT.as_secs(),
            2 * pairs
        )
    })?
}

async fn all_bots(address: SocketAddr, pairs: usize, progress: Arc<ReadProgress>) -> Result<()> {
    let all_started = Arc::new(Barrier::new(2 * pairs));
    let unaccepted = Arc::new(Semaphore::new(UNACCEPTED));
    let mut bots = tokio::task::JoinSet::new();
    for number in 0..2 * pairs {
        let name = if number < pairs { "a" } else { "b" };
        let own = Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + (number / SAME_ADDRESS) as u32);
        let waits = (unaccepted.clone(), all_started.clone());
        bots.spawn(bot((own, address), name, waits, progress.clone()));
    }
    let mut first = None;
    while let Some(bot) = bots.join_next().await {
        let started = bot??;
        first = first.max(started);
    }
    println!("{}", first.map_or(0, |first| first.elapsed().as_micros()));
    Ok(())
}

/// Returns when all have started.
async fn bot(
    (own, address): (Ipv4Addr, SocketAddr),
    name: &str,
    (unaccepted, all_started): (Arc<Semaphore>, Arc<Barrier>),
    progress: Arc<ReadProgress>,
) -> Result<Option<Instant>> {
    let permit = unaccepted.acquire().await?;
    let socket = TcpSocket::new_v4()?;
    socket.bind((own, 0).into())?;
    let stream = socket.connect(address).await?;
    stream.set_nodelay(true)?;
    let mut stream = Connection::new(stream);
    stream.read_line(&mut String::new()).await?;
    drop(permit);
    let hello = format!(r#"{{"type":"hello","protocol":1,"name":"{name}","wants":["view","legal"]}}"#);
    stream.get_mut().write_all(format!("{hello}\n").as_bytes()).await?;
    progress.introduced.fetch_add(1, Ordering::Relaxed);
    let (mut line, mut last, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    let mut started = None;
    loop {
        std::mem::swap(&mut line, &mut last);
        line.clear();
        if stream.read_until(b'\n', &mut line).await? == 0 {
            progress.ended.fetch_add(1, Ordering::Relaxed);
            if started.is_none() {
                let last = String::from_utf8_lossy(&last);
                return Err(format!("`{name}` was sent away before its match began: {}", last.trim()).into());
            }
            return Ok(started);
        }
        answers.clear();
        answer(&line, &mut answers)?;
        if line.starts_with(b"{\"type\":\"start\"") {
            progress.started.fetch_add(1, Ordering::Relaxed);
            all_started.wait().await;
            started = Some(Instant::now());
        }
        if !answers.is_empty() {
            stream.get_mut().write_all(&answers).await?;
        }
    }
}

fn start_bots(address: SocketAddr, pairs: usize) -> Result<Child> {
    let mut bots = Command::new(std::env::current_exe()?);
    Ok(bots.args(["as-bots", &address.to_string(), &pairs.to_string()]).stdout(Stdio::piped()).spawn()?)
}

/// The measurements: the time of each decision, in microseconds, sorted, and the total time.
struct Figures {
    each: Vec<u64>,
    all: Duration,
    /// The peak memory use, in bytes.
    memory: u64,
}

impl Figures {
    fn at(&self, share: f64) -> u64 {
        self.each[((self.each.len() - 1) as f64 * share) as usize]
    }
}

fn referee(matches: usize) -> Result<Figures> {
    let _limit = Limit::new(2 * LIMIT, format!("a referee with {matches} matches at once to end"));
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
    let count = matches.to_string();
    let mut referee = Command::new(env!("CARGO_BIN_EXE_referee"))
        .args(["play", "checkers", "tcp:a", "tcp:b", "--json", "--listen", "127.0.0.1:0"])
        .args(["-n", &count, "--jobs", &count, "--connections", &count, "--wait", "60s"])
        .args(["--set", &format!("turn_limit={PLIES}"), "--record"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut output = BufReader::new(referee.stdout.take().ok_or("no output")?);
    let mut line = String::new();
    output.read_line(&mut line)?;
    let listening: Value = serde_json::from_str(&line)?;
    let bots = start_bots(listening["address"].as_str().ok_or("no address")?.parse()?, matches)?;
    let bots = thread::spawn(|| bots.wait_with_output());
    let status = format!("/proc/{}/status", referee.id());
    let memory = thread::spawn(move || {
        let mut memory = 0;
        while let Some(now) =
            std::fs::read_to_string(&status).ok().and_then(|status| high_water_mark(&status))
        {
            memory = now.max(memory);
            thread::sleep(Duration::from_millis(20));
        }
        memory
    });
    let output = thread::spawn(move || {
        let mut rest = String::new();
        output.read_to_string(&mut rest).map(|_| rest)
    });
    // Without its bots the referee would wait for others.
    let bots = bots.join().map_err(|_| "a thread panicked")??;
    if !bots.status.success() {
        referee.kill()?;
        return Err("the bots panicked".into());
    }
    let rest = output.join().map_err(|_| "a thread panicked")??;
    referee.wait()?;
    let all = played(&bots)?;
    let mut each = Vec::new();
    for line in rest.lines() {
        let line: Value = serde_json::from_str(line)?;
        if line["type"] == "match" {
            for line in std::fs::read_to_string(line["record"].as_str().ok_or("no record")?)?.lines() {
                let line: Value = serde_json::from_str(line)?;
                if line["type"] == "answer" {
                    each.push(line["took_us"].as_u64().ok_or("no time")?);
                }
            }
        }
    }
    if each.is_empty() {
        return Err(format!("nothing was played: {rest}").into());
    }
    each.sort_unstable();
    let memory = memory.join().map_err(|_| "the memory was not seen")?;
    Ok(Figures { each, all, memory })
}

/// The time for which the bots played.
fn played(bots: &Output) -> Result<Duration> {
    Ok(Duration::from_micros(String::from_utf8(bots.stdout.clone())?.trim().parse()?))
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn bare(pairs: usize) -> Result<Figures> {
    let _limit = Limit::new(2 * LIMIT, format!("{pairs} pairs of bots at a bare server to end"));
    let listener = TcpListener::bind("127.0.0.1:0")?;
    // The standard library's backlog is shorter.
    rustix::net::listen(&listener, 2 * UNACCEPTED as i32)?;
    let bots = start_bots(listener.local_addr()?, pairs)?;
    let mut streams: Vec<TcpStream> = Vec::new();
    while streams.len() < 2 * pairs {
        let (mut stream, _) = listener.accept()?;
        stream.write_all(b"hello\n")?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        streams.push(stream);
    }
    let threads = thread::available_parallelism()?.get();
    let mut shares: Vec<Vec<[TcpStream; 2]>> = (0..threads).map(|_| Vec::new()).collect();
    let second = streams.split_off(pairs);
    for (index, pair) in streams.into_iter().zip(second).enumerate() {
        shares[index % threads].push([pair.0, pair.1]);
    }
    let lanes: Vec<_> = shares.into_iter().map(|share| thread::spawn(|| bounce(share))).collect();
    let mut each = Vec::new();
    for lane in lanes {
        each.extend(lane.join().map_err(|_| "a thread panicked")??);
    }
    each.sort_unstable();
    Ok(Figures { each, all: played(&bots.wait_with_output()?)?, memory: 0 })
}

/// Sends a line to each of a pair in turn and waits for its answer. Returns the time of each.
fn bounce(pairs: Vec<[TcpStream; 2]>) -> Result<Vec<u64>> {
    runtime()?.block_on(async {
        let mut running = tokio::task::JoinSet::new();
        for pair in pairs {
            running.spawn(async move {
                let [a, b] = pair.map(tokio::net::TcpStream::from_std);
                let mut ends = [tokio::io::BufReader::new(a?), tokio::io::BufReader::new(b?)];
                let (mut line, mut each) = (String::new(), Vec::with_capacity(PLIES));
                // The `hello` and the `ready` of both.
                for end in &mut ends {
                    end.read_line(&mut line).await?;
                    end.get_mut().write_all(START.as_bytes()).await?;
                }
                for end in &mut ends {
                    end.read_line(&mut line).await?;
                }
                for ply in 0..PLIES {
                    let end = &mut ends[ply % 2];
                    let start = Instant::now();
                    end.get_mut().write_all(TURN.as_bytes()).await?;
                    line.clear();
                    end.read_line(&mut line).await?;
                    each.push(start.elapsed().as_micros() as u64);
                }
                Ok::<_, std::io::Error>(each)
            });
        }
        let mut each = Vec::new();
        while let Some(pair) = running.join_next().await {
            each.extend(pair??);
        }
        Ok(each)
    })
}

/// The descriptors that a process needs apart from its connections: a referee reserves 256.
const OTHER_DESCRIPTORS: usize = 300;

fn bench(matches: usize) -> Result<()> {
    let (needed, allowed) = (2 * matches + OTHER_DESCRIPTORS, getrlimit(Resource::Nofile).current);
    let mut matches = matches;
    if let Some(allowed) = allowed.filter(|&allowed| allowed < needed as u64) {
        let fits = (allowed as usize).saturating_sub(OTHER_DESCRIPTORS) / 2;
        println!(
            "{matches} matches need {needed} descriptors, `ulimit -Hn` is {allowed}: {fits} matches instead"
        );
        matches = fits;
    }
    println!("{matches} matches of checkers at once over TCP, {PLIES} decisions each, records written");
    println!("{:<10} {:>11} {:>11} {:>15} {:>9}", "", "p50", "p99", "decisions/s", "memory");
    let alone = referee(1)?.memory;
    for _ in 0..ROUNDS {
        let (ours, theirs) = (referee(matches)?, bare(matches)?);
        for (name, figures) in [("referee", &ours), ("bare", &theirs)] {
            println!(
                "{name:<10} {:>8} us {:>8} us {:>15.0} {:>6} MB",
                figures.at(0.5),
                figures.at(0.99),
                figures.each.len() as f64 / figures.all.as_secs_f64(),
                figures.memory >> 20,
            );
        }
        let each = ours.memory.saturating_sub(alone) / matches as u64;
        println!("{:<10} {} bytes of memory for each match", "", each);
    }
    Ok(())
}
