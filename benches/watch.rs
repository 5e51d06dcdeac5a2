//! Cost of spectators for the bots: the time of decisions without a server, with one, and with 200 spectators
//! beside one that never reads.
//!
//! The time is that from the request to the answer, as it is billed, from the records. The bots think for 2 ms, with a
//! clock of 10 ms for a move; a decision over 30 ms would be a time-out. They are ready late, so that the spectators are
//! there from the first move. The spectators run on an idle processor only (`chrt`), because they usually run on other
//! machines.
//! `cargo bench --bench watch [SPECTATORS]`
//!
//! It fails if the referee fails or if fewer spectators than that have watched at once.
//!
//! Then: the matches per second of bots that move at once, without spectators and with as many hostile ones, each with an
//! address of its own. They pipeline requests whose answers they do not read, ask for lists and replays that differ each
//! time on new connections, and open streams that they do not read. They run at the priority of the bots.
//! `cargo bench --bench watch hostile [SPECTATORS]` measures only this.
#![expect(clippy::disallowed_methods, reason = "a bench measures")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{Limit, Result, VIEW_AND_LEGAL, answer, each_chunk};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const ROUNDS: usize = 7;
const SPECTATORS: usize = 200;
const THINKS: Duration = Duration::from_millis(2);
/// The time from the start of a match until the bots are ready.
const PREPARES: Duration = Duration::from_secs(1);
/// More time than a round takes on a slow machine.
const LIMIT: Duration = Duration::from_secs(300);

const REFEREE: &str = env!("CARGO_BIN_EXE_referee");

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bot") => bot(),
        Some("as-spectators") => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(spectators(&args[2], args[3].parse()?))
        }
        Some("as-hostile") => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(hostile_spectators(&args[2], args[3].parse()?))
        }
        Some("hostile") => {
            bench_hostile(args.get(2).and_then(|count| count.parse().ok()).unwrap_or(SPECTATORS))
        }
        count => {
            let count = count.and_then(|count| count.parse().ok()).unwrap_or(SPECTATORS);
            bench(count)?;
            bench_hostile(count)
        }
    }
}

/// So many spectators that only want to cost the referee time. They end when they are killed.
async fn hostile_spectators(address: &str, count: usize) -> Result<()> {
    let address: SocketAddr = address.parse()?;
    let mut attacks = tokio::task::JoinSet::new();
    for number in 0..count {
        attacks.spawn(async move {
            for round in 0.. {
                if attack(address, number, round).await.is_err() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        });
    }
    attacks.join_all().await;
    Ok(())
}

/// One connection of a hostile spectator.
async fn attack(address: SocketAddr, number: usize, round: usize) -> Result<()> {
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::new(127, 1, (number / 250) as u8, (number % 250) as u8 + 1), 0).into())?;
    let mut stream = socket.connect(address).await?;
    let mut answer = [0; 16 * 1024];
    match number % 4 {
        0 => {
            let requests = get("/api/v1/standings").repeat(100);
            loop {
                stream.write_all(requests.as_bytes()).await?;
            }
        }
        1 => {
            let request = get(&format!("/api/v1/matches?before={}", 100 + round));
            stream.write_all(request.as_bytes()).await?;
            let _read = stream.read(&mut answer).await?;
        }
        2 => {
            let request = get(&format!("/api/v1/matches/m{}/events", 1 + (round * 50 + number) % 1000));
            stream.write_all(request.as_bytes()).await?;
            let _read = stream.read(&mut answer).await?;
        }
        _ => {
            let request =
                "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n";
            stream.write_all(request.as_bytes()).await?;
            tokio::time::sleep(Duration::from_secs(5)).await;
        }
    }
    Ok(())
}

/// The matches per second of a run, with so many hostile spectators.
fn matches_per_second(spectators: usize) -> Result<f64> {
    const MATCHES: usize = 1500;
    let _limit = Limit::new(LIMIT, "the matches");
    let bot = format!("'{}' as-bot at-once", std::env::current_exe()?.display());
    let count = MATCHES.to_string();
    let mut referee = Command::new(REFEREE);
    referee.args(["play", "checkers", &*bot, &*bot, "-n", &*count, "--jobs", "2", "--set", "turn_limit=40"]);
    referee.args(["--json", "--watch", "127.0.0.1:0"]);
    let mut referee = Program(referee.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
    let mut output = BufReader::new(referee.0.stdout.take().ok_or("no output")?).lines();
    let line: Value = serde_json::from_str(&output.next().ok_or("no address")??)?;
    let url = line["url"].as_str().ok_or("no URL")?;
    let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let attackers = Command::new(std::env::current_exe()?)
        .args(["as-hostile", &*address, &*spectators.to_string()])
        .spawn()
        .map(Program)?;
    // The first matches pass while the spectators connect.
    let mut lines = output.skip(MATCHES / 3);
    lines.next().ok_or("no matches")??;
    let begun = Instant::now();
    let mut matches = 0;
    for line in lines.by_ref().take(MATCHES / 2) {
        line?;
        matches += 1;
    }
    let seconds = begun.elapsed().as_secs_f64();
    drop(attackers);
    lines.try_for_each(|line| line.map(drop))?;
    let status = referee.0.wait()?;
    if !status.success() {
        return Err(format!("the referee ended with {status}").into());
    }
    Ok(f64::from(matches) / seconds)
}

fn bench_hostile(spectators: usize) -> Result<()> {
    let mut ratios = Vec::new();
    println!("{:<24} {:>12} {:>12} {:>9}", "matches per second", "no readers", "hostile", "ratio");
    for round in 1..=ROUNDS {
        let (alone, attacked) = (matches_per_second(0)?, matches_per_second(spectators)?);
        println!("round {round:<18} {alone:>12.1} {attacked:>12.1} {:>9.3}", attacked / alone);
        ratios.push(attacked / alone);
    }
    ratios.sort_by(f64::total_cmp);
    println!("{spectators} hostile readers: the median ratio is {:.3}", ratios[ROUNDS / 2]);
    Ok(())
}

/// Thinks for a while before each move, unless it is to answer at once.
fn bot() -> Result<()> {
    let is_slow = std::env::args().nth(2).is_none();
    let mut output = std::io::stdout().lock();
    writeln!(output, r#"{{"type":"hello","protocol":1,"name":"bench","wants":[{VIEW_AND_LEGAL}]}}"#)?;
    let mut answers = Vec::new();
    each_chunk(&mut std::io::stdin().lock(), |chunk| {
        answers.clear();
        for line in common::lines(chunk) {
            let is_turn = answer(line, &mut answers)?;
            if is_turn && is_slow {
                thread::sleep(THINKS);
            } else if is_slow && line.starts_with(b"{\"type\":\"start\"") {
                thread::sleep(PREPARES);
            }
        }
        output.write_all(&answers)?;
        Ok(output.flush()?)
    })
}

/// So many spectators who watch one match after another, and one who never reads. They end with the server.
async fn spectators(address: &str, count: usize) -> Result<()> {
    let id = running(address).await?;
    let mut idle = tokio::net::TcpStream::connect(address).await?;
    idle.write_all(&request(&format!("/api/v1/matches/{id}/events"))).await?;
    let mut watching = tokio::task::JoinSet::new();
    for _ in 0..count {
        let address = address.to_owned();
        watching.spawn(async move { while watch(&address).await.is_ok() {} });
    }
    watching.join_all().await;
    Ok(())
}

fn request(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n").into_bytes()
}

/// The id of the match in progress.
async fn running(address: &str) -> Result<String> {
    loop {
        let mut stream = tokio::net::TcpStream::connect(address).await?;
        stream.write_all(b"GET /api/v1/matches?state=running HTTP/1.0\r\nHost: localhost\r\n\r\n").await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let body = text.split_once("\r\n\r\n").ok_or("no body")?.1;
        let list: Value = serde_json::from_str(body)?;
        if let Some(id) = list["matches"][0]["id"].as_str() {
            return Ok(id.to_owned());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Watches the match in progress to its end.
async fn watch(address: &str) -> Result<()> {
    let id = running(address).await?;
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    stream.write_all(&request(&format!("/api/v1/matches/{id}/events"))).await?;
    let mut read = vec![0; 64 * 1024];
    while stream.read(&mut read).await? > 0 {}
    Ok(())
}

/// A program that ends with its owner.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The maximum number of streams at once, until the server ends.
fn most_streams(address: &str) -> u64 {
    let ask = || -> Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")?;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stream, &mut text)?;
        Ok(text)
    };
    let mut most = 0;
    while let Ok(text) = ask() {
        let count = text.lines().find_map(|line| line.strip_prefix("referee_watch_streams ")?.parse().ok());
        most = most.max(count.unwrap_or(0));
        thread::sleep(Duration::from_millis(200));
    }
    most
}

/// The times of the decisions of some matches in microseconds, and the number of time-outs.
fn times(spectators: Option<usize>) -> Result<(Vec<u64>, usize)> {
    let _limit = Limit::new(LIMIT, "the matches");
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    let bot = format!("'{}' as-bot", std::env::current_exe()?.display());
    let records = folder.path().join("records");
    let mut referee = Command::new(REFEREE);
    let bots = [&*bot; 4];
    referee.args(["play", "keezen"]).args(bots).args(["-n", "4", "--jobs", "1", "--json", "--no-fsync"]);
    referee.args(["--clock", "delay=10ms", "--on-fault", "random", "--record"]).arg(&records);
    if spectators.is_some() {
        referee.args(["--watch", "127.0.0.1:0"]);
    }
    let mut referee = Program(referee.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
    let mut output = BufReader::new(referee.0.stdout.take().ok_or("no output")?).lines();
    let mut watching = None;
    if let Some(count) = spectators {
        let line: Value = serde_json::from_str(&output.next().ok_or("no address")??)?;
        let url = line["url"].as_str().ok_or("no URL")?;
        let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let program = start_spectators(&address, count)?;
        watching = Some((program, count as u64, thread::spawn(move || most_streams(&address))));
    }
    let mut timeouts = 0;
    for line in output {
        let line: Value = serde_json::from_str(&line?)?;
        let faults = line["faults"].as_array().into_iter().flatten();
        timeouts += faults.filter_map(|faults| faults["timeout"].as_u64()).sum::<u64>() as usize;
    }
    let status = referee.0.wait()?;
    if !status.success() {
        return Err(format!("the referee ended with {status}").into());
    }
    if let Some((program, count, streams)) = watching {
        drop(program);
        let most = streams.join().map_err(|_| "the thread that counts streams panicked")?;
        if most < count {
            return Err(format!("only {most} of {count} spectators watched at once").into());
        }
    }
    let mut times = Vec::new();
    for entry in std::fs::read_dir(&records)? {
        for line in std::fs::read_to_string(entry?.path())?.lines() {
            let line: Value = serde_json::from_str(line)?;
            times.extend(line["took_us"].as_u64());
        }
    }
    Ok((times, timeouts))
}

fn start_spectators(address: &str, count: usize) -> Result<Program> {
    // The first connection shows that the server accepts.
    TcpStream::connect(address)?;
    // Processes of the idle scheduling class do not delay the bots.
    let mut command = Command::new("chrt");
    command.args(["--idle", "0"]).arg(std::env::current_exe()?);
    Ok(Program(command.args(["as-spectators", address, &count.to_string()]).spawn()?))
}

fn bench(spectators: usize) -> Result<()> {
    let cases = [("no server", None), ("no spectators", Some(0)), ("spectators", Some(spectators))];
    let mut all: [(Vec<u64>, usize); 3] = Default::default();
    // By case: the ratio of each round. Other load of the machine changes more slowly than a round lasts.
    let mut ratios: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let mut base = None;
        for (((_, spectators), (all, timeouts)), ratios) in cases.iter().zip(&mut all).zip(&mut ratios) {
            let (mut times, more) = times(*spectators)?;
            times.sort_unstable();
            let p99 = share(&times, 0.99) as f64;
            ratios.push(p99 / *base.get_or_insert(p99));
            all.extend(times);
            *timeouts += more;
        }
    }
    println!("thinking {} us, {spectators} spectators and one that never reads", THINKS.as_micros());
    println!("99% ratio: to that without a server in the same round, the median of {ROUNDS} rounds");
    println!(
        "{:<14} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "", "decisions", "50% us", "99% us", "max us", "time-outs", "99% ratio"
    );
    for (((name, _), (times, timeouts)), ratios) in cases.iter().zip(&mut all).zip(&mut ratios) {
        times.sort_unstable();
        ratios.sort_by(f64::total_cmp);
        println!(
            "{name:<14} {:>9} {:>9} {:>9} {:>9} {timeouts:>9} {:>9.3}",
            times.len(),
            share(times, 0.5),
            share(times, 0.99),
            share(times, 1.0),
            ratios[ROUNDS / 2]
        );
    }
    Ok(())
}

/// The value below which this share of the sorted times lies.
fn share(times: &[u64], share: f64) -> u64 {
    times[((times.len() - 1) as f64 * share) as usize]
}
