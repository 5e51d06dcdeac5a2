//! Shared by the benchmarks: an instant bot, a league, CPU pinning, and a time limit.

#![allow(dead_code, reason = "each bench uses a part of this")]

pub(crate) mod league;

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use memchr::{memchr, memchr_iter, memmem, memrchr};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The optional messages of an instant bot, as in its `hello`.
pub(crate) const VIEW_AND_LEGAL: &str = r#""view","legal""#;

/// A typical request to an instant bot in a match of checkers.
pub(crate) const TURN: &str = concat!(
    r#"{"type":"turn","match":"m100","seat":0,"turn":20,"view":{"to_move":[0],"board":"bbbb.bbb..b...b...w.w.w.w.wwwwww","#,
    r#""fen":"B:W19,21,23,25,27,28,29,30,31,32:B1,2,3,4,6,7,8,11,15","quiet_plies":0},"#,
    r#""legal":["11-16","15-18","6-10","7-10","8-12"],"clock":{"bank_ms":60000,"limit_ms":65000},"banks_ms":[60000,60000]}"#,
    "\n"
);

/// Plays as fast as possible: searches each line for fields without parsing it.
pub(crate) fn instant(mut input: impl Read, mut output: impl Write, name: &str, wants: &str) -> Result<()> {
    writeln!(output, r#"{{"type":"hello","protocol":1,"name":"{name}","wants":[{wants}]}}"#)?;
    let mut answers = Vec::new();
    each_chunk(&mut input, |chunk| {
        answers.clear();
        for line in lines(chunk) {
            answer(line, &mut answers)?;
        }
        Ok(output.write_all(&answers)?)
    })
}

/// Passes on the complete lines of the input, chunk by chunk, until it ends.
pub(crate) fn each_chunk(input: &mut impl Read, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let (mut chunk, mut len) = (vec![0; 256 * 1024], 0);
    loop {
        let got = input.read(&mut chunk[len..])?;
        if got == 0 {
            return Ok(());
        }
        len += got;
        let end = memrchr(b'\n', &chunk[..len]).map_or(0, |at| at + 1);
        take(&chunk[..end])?;
        chunk.copy_within(end..len, 0);
        len -= end;
    }
}

/// Complete lines, with their line breaks.
pub(crate) fn lines(mut chunk: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (line, rest) = chunk.split_at(memchr(b'\n', chunk)? + 1);
        chunk = rest;
        Some(line)
    })
}

/// Answers a line if it needs an answer. Returns whether it was a request for a move.
pub(crate) fn answer(line: &[u8], answers: &mut Vec<u8>) -> Result<bool> {
    if let Some(turn) = line.strip_prefix(b"{\"type\":\"turn\",") {
        // Match, seat and turn come first, as in the answer.
        let address = &turn[..memchr_iter(b',', turn).nth(2).ok_or("no turn")? + 1];
        let number = &address[memrchr(b':', address).ok_or("no turn")? + 1..address.len() - 1];
        let legal = &turn[memmem::find(turn, br#""legal":["#).ok_or("no legal")? + 9..];
        let legal = &legal[..memchr(b']', legal).ok_or("no end")?];
        let commas = || memchr_iter(b',', legal);
        let choice = pick(std::str::from_utf8(number)?.parse()?, commas().count() + 1);
        let start = if choice == 0 { 0 } else { commas().nth(choice - 1).ok_or("no move")? + 1 };
        let end = memchr(b',', &legal[start..]).map_or(legal.len(), |len| start + len);
        answers.extend_from_slice(b"{\"type\":\"move\",");
        answers.extend_from_slice(address);
        answers.extend_from_slice(b"\"move\":");
        answers.extend_from_slice(&legal[start..end]);
        answers.extend_from_slice(b"}\n");
        return Ok(true);
    }
    if line.starts_with(b"{\"type\":\"start\"") {
        let id = &line[memmem::find(line, b"\"match\":\"").ok_or("no match")? + 9..];
        let id = std::str::from_utf8(&id[..memchr(b'"', id).ok_or("no end")?])?;
        let seat = memmem::rfind(line, b"\"seat\":").ok_or("no seat")?;
        writeln!(answers, r#"{{"type":"ready","match":"{id}","seat":{}}}"#, char::from(line[seat + 7]))?;
    }
    Ok(false)
}

/// The move of an instant bot: not always the first, which would make matches short and unusual.
pub(crate) fn pick(turn: u32, legal: usize) -> usize {
    turn as usize * 7 % legal
}

/// A time limit for a part of a benchmark, from creation to drop. When it is reached, the benchmark ends with an
/// error.
pub(crate) struct Limit(Sender<()>);

impl Limit {
    pub(crate) fn new(limit: Duration, what: impl Into<String>) -> Limit {
        let (end, ended) = channel();
        let what = what.into();
        thread::spawn(move || {
            if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                eprintln!("error: after {} s the bench still waits for {what}", limit.as_secs());
                // The processes that it started end at the end of their streams.
                std::process::exit(1);
            }
        });
        Limit(end)
    }
}

/// Longer than a command of a benchmark takes on a slow machine.
const COMMAND: Duration = Duration::from_secs(600);

/// Runs a referee command and returns its duration.
#[expect(clippy::disallowed_methods, reason = "a bench measures")]
pub(crate) fn time(args: &[&str]) -> Result<Duration> {
    let _limit = Limit::new(COMMAND, format!("`referee {}`", args.join(" ")));
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_referee")).args(args).stdout(Stdio::null()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(start.elapsed())
}

/// Pins this process to the allowed core with this index.
pub(crate) fn pin(core: usize) -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    let cpu = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).nth(core).ok_or("no such core")?;
    let mut one = CpuSet::new();
    one.set(cpu);
    Ok(sched_setaffinity(None, &one)?)
}
