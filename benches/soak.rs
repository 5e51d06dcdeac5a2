//! A league with 200 connections over a long time: whether its memory grows, and whether bots get faults that are not
//! theirs.
//!
//! Each bot thinks for 0.2 s, and cuts its connection and connects again now and then. The growth is that of the median
//! anonymous resident memory, so without the program itself, from the second tenth of the time to the last one. `cargo bench --bench soak -- MINUTES` (10)
#![expect(clippy::disallowed_methods, reason = "a bench measures")]

mod common;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::league::{Ended, League};
use common::{Limit, Result, VIEW_AND_LEGAL, answer};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

const BOTS: usize = 200;
const MINUTES: u64 = 10;
const THINKS: Duration = Duration::from_millis(200);
/// After this number of moves a bot cuts its connection.
const CUT_EVERY: usize = 150;
/// The pause before it connects again.
const AWAY: Duration = Duration::from_millis(500);
const POLL_INTERVAL: Duration = Duration::from_secs(2);

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bots") => bots(&args[2], &args[3..]),
        minutes => soak(minutes.and_then(|minutes| minutes.parse().ok()).unwrap_or(MINUTES)),
    }
}

/// Bots with these tokens, until the process is killed.
fn bots(address: &str, tokens: &[String]) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let bots = tokens.iter().enumerate().map(|(number, token)| {
            let (address, token) = (address.to_owned(), token.clone());
            async move {
                // Not all cut their connections at the same time.
                let mut moves = number * 7 % CUT_EVERY;
                loop {
                    // A connection that fails is tried again.
                    let _ = connection(&address, number, &token, &mut moves).await;
                    tokio::time::sleep(AWAY).await;
                }
            }
        });
        let bots: tokio::task::JoinSet<()> = bots.collect();
        bots.join_all().await;
    });
    Ok(())
}

/// Plays on a connection until it is cut.
async fn connection(address: &str, number: usize, token: &str, moves: &mut usize) -> Result<()> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let hello = format!(
        "{{\"type\":\"hello\",\"protocol\":1,\"name\":\"bot {number}\",\"token\":\"{token}\",\"reconnect\":\"soak\",\
         \"wants\":[{VIEW_AND_LEGAL}]}}\n"
    );
    stream.write_all(hello.as_bytes()).await?;
    let (mut line, mut answers) = (Vec::new(), Vec::new());
    while stream.read_until(b'\n', &mut line).await? > 0 {
        answers.clear();
        if answer(&line, &mut answers)? {
            tokio::time::sleep(THINKS).await;
            *moves += 1;
            if (*moves).is_multiple_of(CUT_EVERY) {
                return Ok(());
            }
        }
        stream.write_all(&answers).await?;
        line.clear();
    }
    Ok(())
}

fn soak(minutes: u64) -> Result<()> {
    let time = Duration::from_secs(60 * minutes);
    let _limit = Limit::new(2 * time + Duration::from_secs(120), "the server");
    let league = League::new(&format!("jobs = {}\nrest = '100ms'\nclock = 'delay=10s'", BOTS / 2))?;
    let tokens: Result<Vec<String>> = (0..BOTS).map(|number| league.add(&format!("bot {number}"))).collect();
    let mut server = league.serve()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["as-bots", &server.address]).args(tokens?).stdin(Stdio::null());
    let _bots = Ended(command.spawn()?);
    let id = server.process.0.id();
    println!("{BOTS} connections, {minutes} min, connections are cut every {CUT_EVERY} moves");
    println!(
        "{:>8} {:>9} {:>9} {:>11} {:>7} {:>6}",
        "min", "matches", "moves", "memory KiB", "files", "faults"
    );
    let (began, is_over) = (Instant::now(), AtomicBool::new(false));
    let (mut matches, mut moves, mut faults) = (0, 0, 0);
    let looks = thread::scope(|scope| {
        let looks = scope.spawn(|| {
            let mut looks = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(POLL_INTERVAL);
                looks.push(Look::at(id)?);
            }
            Ok::<_, std::io::Error>(looks)
        });
        let mut shown = 0;
        let mut play = || {
            while began.elapsed() < time {
                let line = server.ended()?;
                matches += 1;
                moves += line["decisions"].as_u64().ok_or("no decisions")?;
                let by_seat = line["faults"].as_array().ok_or("no faults")?;
                faults +=
                    by_seat.iter().filter(|seat| seat.as_object().is_some_and(|of| !of.is_empty())).count();
                let minute = began.elapsed().as_secs() / 60;
                if minute > shown {
                    shown = minute;
                    let Look { memory, files } = Look::at(id)?;
                    println!("{minute:>8} {matches:>9} {moves:>9} {memory:>11} {files:>7} {faults:>6}");
                    std::io::stdout().flush()?;
                }
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        };
        let played = play();
        is_over.store(true, Ordering::Relaxed);
        let looks = looks.join().map_err(|_| "a thread panicked")??;
        played.map(|()| looks)
    })?;
    let tenth = looks.len() / 10;
    let median = |part: &[Look]| {
        let mut memory: Vec<u64> = part.iter().map(|look| look.memory).collect();
        memory.sort_unstable();
        memory.get(memory.len() / 2).copied().ok_or("too short a time")
    };
    let [early, late] = [median(&looks[tenth..2 * tenth])?, median(&looks[looks.len() - tenth..])?];
    let growth = 100.0 * (late as f64 / early as f64 - 1.0);
    println!("{matches} matches, {moves} moves, {faults} faults");
    println!("memory {early} KiB, in the end {late} KiB: {growth:+.1}%");
    Ok(())
}

/// Resources that the server uses at a moment.
struct Look {
    /// In KiB.
    memory: u64,
    /// Open file descriptors.
    files: usize,
}

impl Look {
    fn at(id: u32) -> std::io::Result<Look> {
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let memory = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        Ok(Look { memory, files: std::fs::read_dir(format!("/proc/{id}/fd"))?.count() })
    }
}
