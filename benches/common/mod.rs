//! What benches share: a bot that is instant, keeping to a core, and a limit of time.

#![allow(dead_code, reason = "each bench uses a part of this")]

use std::io::{Read, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use memchr::{memchr, memchr_iter, memmem, memrchr};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What an instant bot wants, as in its `hello`.
pub(crate) const VIEW_AND_LEGAL: &str = r#""view","legal""#;

/// Plays as fast as can be: it looks for what it needs in a line and does not read the rest.
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

/// Hands on the complete lines of what comes, chunk by chunk, until it ends.
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

/// Complete lines, with their breaks.
pub(crate) fn lines(mut chunk: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (line, rest) = chunk.split_at(memchr(b'\n', chunk)? + 1);
        chunk = rest;
        Some(line)
    })
}

/// Answers a line if it asks for something. Whether it was for a move.
pub(crate) fn answer(line: &[u8], answers: &mut Vec<u8>) -> Result<bool> {
    if let Some(turn) = line.strip_prefix(b"{\"type\":\"turn\",") {
        // Match, seat and turn come first, as in the answer; the last list is that of the legal moves.
        let address = &turn[..memchr_iter(b',', turn).nth(2).ok_or("no turn")? + 1];
        let number = &address[memrchr(b':', address).ok_or("no turn")? + 1..address.len() - 1];
        let legal = &turn[memrchr(b'[', turn).ok_or("no legal")? + 1..];
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

/// Which legal move an instant bot plays: not always the first, which makes for short and odd matches.
pub(crate) fn pick(turn: u32, legal: usize) -> usize {
    turn as usize * 7 % legal
}

/// A limit of time for a part of a bench. While it lives its time runs; what reaches it ends the bench, which says what it
/// waited for.
pub(crate) struct Limit(Sender<()>);

impl Limit {
    pub(crate) fn new(limit: Duration, what: impl Into<String>) -> Limit {
        let (end, ended) = channel();
        let what = what.into();
        thread::spawn(move || {
            if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                eprintln!("error: after {} s the bench still waits for {what}", limit.as_secs());
                // The processes that it started meet the end of their streams.
                std::process::exit(1);
            }
        });
        Limit(end)
    }
}

/// Keeps to the first core that is allowed, the second, ...
pub(crate) fn pin(core: usize) -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    let cpu = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).nth(core).ok_or("no such core")?;
    let mut one = CpuSet::new();
    one.set(cpu);
    Ok(sched_setaffinity(None, &one)?)
}
