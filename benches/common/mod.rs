//! What benches share: a bot that is instant, and keeping to a core.

use std::io::{Read, Write};

use memchr::{memchr, memmem};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What an instant bot wants, as in its `hello`.
pub(crate) const VIEW_AND_LEGAL: &str = r#""view","legal""#;

/// Plays as fast as can be: it looks for what it needs in a line and does not read the rest.
pub(crate) fn instant(mut input: impl Read, mut output: impl Write, name: &str, wants: &str) -> Result<()> {
    writeln!(output, r#"{{"type":"hello","protocol":1,"name":"{name}","wants":[{wants}]}}"#)?;
    each_chunk(&mut input, |lines| {
        let mut answers = Vec::new();
        for line in lines.split(|&byte| byte == b'\n') {
            answer(line, &mut answers)?;
        }
        Ok(output.write_all(&answers)?)
    })
}

/// Hands on the complete lines of what comes, chunk by chunk, until it ends.
pub(crate) fn each_chunk(input: &mut impl Read, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let (mut chunk, mut rest) = (vec![0; 256 * 1024], Vec::new());
    loop {
        let got = input.read(&mut chunk)?;
        if got == 0 {
            return Ok(());
        }
        rest.extend_from_slice(&chunk[..got]);
        let end = rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        take(&rest[..end])?;
        rest.drain(..end);
    }
}

/// Answers a line if it asks for something. Whether it was for a move.
pub(crate) fn answer(line: &[u8], answers: &mut Vec<u8>) -> Result<bool> {
    let id = || between(line, b"\"match\":\"", b'"').ok_or("no match");
    if line.starts_with(b"{\"type\":\"turn\"") {
        let seat = between(line, b"\"seat\":", b',').ok_or("no seat")?;
        let turn = between(line, b"\"turn\":", b',').ok_or("no turn")?;
        let legal = between(line, b"\"legal\":[", b']').ok_or("no legal")?;
        let choice = legal.split(',').nth(pick(turn.parse()?, legal.split(',').count())).ok_or("no move")?;
        let id = id()?;
        writeln!(answers, r#"{{"type":"move","match":"{id}","seat":{seat},"turn":{turn},"move":{choice}}}"#)?;
        return Ok(true);
    }
    if line.starts_with(b"{\"type\":\"start\"") {
        let id = id()?;
        let seat = memmem::rfind(line, b"\"seat\":").ok_or("no seat")?;
        writeln!(answers, r#"{{"type":"ready","match":"{id}","seat":{}}}"#, char::from(line[seat + 7]))?;
    }
    Ok(false)
}

/// Which legal move an instant bot plays: not always the first, which makes for short and odd matches.
pub(crate) fn pick(turn: u32, legal: usize) -> usize {
    turn as usize * 7 % legal
}

fn between<'a>(line: &'a [u8], before: &[u8], after: u8) -> Option<&'a str> {
    let start = memmem::find(line, before)? + before.len();
    let len = memchr(after, &line[start..])?;
    std::str::from_utf8(&line[start..start + len]).ok()
}

/// Keeps to the first core that is allowed, the second, ...
pub(crate) fn pin(core: usize) -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    let cpu = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).nth(core).ok_or("no such core")?;
    let mut one = CpuSet::new();
    one.set(cpu);
    Ok(sched_setaffinity(None, &one)?)
}
