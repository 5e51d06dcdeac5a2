//! The overhead of the referee per decision, compared with a bare ping-pong of lines of the same sizes.
//!
//! Records are written to memory if there is a suitable file system: the figure should not depend on the
//! disk. The whole process tree is pinned to one core, the two alternate, and the result is the median ratio.
//! Instant bots search a line for fields without parsing it; one row has bots of the Rust SDK. Before that,
//! two cores are compared with one. At the end: records on disk beside records in memory, bots in Python and
//! JavaScript with their SDK beside bots of ten lines without it, and, if `fastchess` is installed, checkers
//! here beside as many plies of chess there. `cargo bench --bench decision`; with `-- cores`, `-- sandboxes`,
//! `-- decisions` or `-- alternatives` only that part.
#![expect(clippy::disallowed_methods, reason = "a bench measures")]

mod common;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Limit, Result, TURN, VIEW_AND_LEGAL, answer, each_chunk, instant, lines, pick, pin};
use memchr::memchr_iter;
use referee_bot::{Answer, from_fn, hello, run};
use serde_json::Value;

const ROUNDS: usize = 9;
const MATCHES: u32 = 400;
/// More time than a round takes on a slow machine.
const LIMIT: Duration = Duration::from_secs(300);

const REFEREE: &str = env!("CARGO_BIN_EXE_referee");

/// The optional messages of instant bots that want events.
const EVENTS_TOO: &str = r#""view","legal","event""#;

/// The two events before a typical request, and an answer to it.
const EVENTS: &str = concat!(
    r#"{"type":"event","match":"m100","seat":0,"n":40,"event":{"kind":"move","seat":0,"move":"11-15"}}"#,
    "\n",
    r#"{"type":"event","match":"m100","seat":0,"n":41,"event":{"kind":"move","seat":1,"move":"22-18"}}"#,
    "\n",
);
const ANSWER: &str = "{\"type\":\"move\",\"match\":\"m100\",\"seat\":0,\"turn\":20,\"move\":\"11-15\"}\n";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bot") => {
            let stdout = std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned()?;
            instant(std::io::stdin().lock(), std::fs::File::from(stdout), "instant", &args[2])
        }
        Some("as-sdk-bot") => {
            let bot = from_fn(hello("sdk"), |turn| Answer::legal(pick(turn.turn, turn.legal().len())));
            Ok(run(bot)?)
        }
        Some("as-chess-engine") => chess_engine(),
        Some("as-echo") => Ok(echo(args[2].parse()?)?),
        Some("as-guest") => guest(args[2].parse()?, &args[3]),
        Some("as-tcp-echo") => tcp_echo(args[2].parse()?, args[3].parse()?),
        Some("as-pair") => pair(args[2].parse()?),
        Some("as-lane") => lane(args[2].parse()?),
        _ => bench(),
    }
}

/// Answers every line with a line of `size` bytes.
fn echo(size: usize) -> std::io::Result<()> {
    let mut input = BufReader::with_capacity(256 * 1024, std::io::stdin().lock());
    let mut output = std::fs::File::from(std::os::fd::AsFd::as_fd(&std::io::stdout()).try_clone_to_owned()?);
    let answer: Vec<u8> = std::iter::repeat_n(b'x', size - 1).chain([b'\n']).collect();
    let mut answers = Vec::new();
    loop {
        let there = input.fill_buf()?;
        if there.is_empty() {
            return Ok(());
        }
        // All lines of a read are answered in one write.
        let (lines, used) = (there.iter().filter(|&&byte| byte == b'\n').count(), there.len());
        input.consume(used);
        answers.clear();
        for _ in 0..lines {
            answers.extend_from_slice(&answer);
        }
        output.write_all(&answers)?;
    }
}

/// A game of chess of 60 plies without captures, checks or repetitions.
const CHESS: &str = "h2h4 g7g5 h1h2 e7e6 e2e4 h7h6 d1g4 a7a5 e1d1 a8a6 g2g3 f7f6 f1h3 a6b6 h3g2 e8e7 g4f3 b8c6 b1a3 \
                     c6e5 b2b4 c7c6 a1b1 a5a4 c2c3 e7e8 h2h3 f8e7 g3g4 e8f7 b1a1 e7c5 g1e2 c5e7 f3f5 b6b5 g2f1 e7d6 \
                     a1b1 e5d3 h3f3 b7b6 f1h3 d6e5 h3g2 d7d6 b1b2 h8h7 f3h3 d3f4 e2d4 f4e2 f2f4 d6d5 h4h5 g8e7 d1c2 \
                     f7g7 a3b1 c8d7";
const CHESS_PLIES: u64 = 60;

/// A UCI engine that plays the moves of a fixed game at once.
fn chess_engine() -> Result<()> {
    let moves: Vec<&str> = CHESS.split(' ').collect();
    let (mut output, mut ply) = (std::io::stdout().lock(), 0);
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if let Some(played) = line.strip_prefix("position ") {
            ply = played.split_once(" moves ").map_or(0, |(_, moves)| moves.split(' ').count());
        } else if line.starts_with("go") {
            writeln!(output, "info depth 1 score cp 0\nbestmove {}", moves[ply])?;
        } else if line == "uci" {
            writeln!(output, "id name fixed\nuciok")?;
        } else if line == "isready" {
            writeln!(output, "readyok")?;
        } else if line == "quit" {
            break;
        }
    }
    Ok(())
}

/// This number of games of chess between two such engines, run by fastchess, which also writes them to a file.
fn fastchess(games: u32) -> Result<(f64, u64)> {
    let folder = folder()?;
    let this = std::env::current_exe()?;
    let engine = |name: &str| {
        let command = format!("cmd={}", this.display());
        ["-engine".to_owned(), command, format!("name={name}"), "args=as-chess-engine".to_owned()]
    };
    let start = Instant::now();
    let output = Command::new("fastchess")
        .args(engine("a"))
        .args(engine("b"))
        .args(["-each", "tc=60+1", "-concurrency", "1", "-maxmoves", &(CHESS_PLIES / 2).to_string()])
        .args(["-rounds", &games.to_string(), "-games", "1", "-pgnout", "file=games.pgn"])
        .current_dir(folder.path())
        .output()?;
    let took = start.elapsed().as_secs_f64() * 1e6;
    let played =
        std::fs::read_to_string(folder.path().join("games.pgn"))?.matches("[PlyCount \"60\"]").count();
    if !output.status.success() || played != games as usize {
        return Err(format!("fastchess played {played} of {games} games: {output:?}").into());
    }
    Ok((took, u64::from(games) * CHESS_PLIES))
}

/// An instant bot that connects.
fn guest(address: SocketAddr, name: &str) -> Result<()> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    // The referee may have closed the connection already.
    let _ = instant(stream.try_clone()?, stream, name, VIEW_AND_LEGAL);
    Ok(())
}

/// Connects and answers every line with a line of `size` bytes.
fn tcp_echo(address: SocketAddr, size: usize) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let answer: Vec<u8> = std::iter::repeat_n(b'x', size - 1).chain([b'\n']).collect();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let got = stream.read(&mut buffer)?;
        if got == 0 {
            return Ok(());
        }
        if buffer[got - 1] == b'\n' {
            stream.write_all(&answer)?;
        }
    }
}

/// A bare ping-pong over pipes in its own process tree, on one core. Prints the time of a round trip.
fn pair(core: usize) -> Result<()> {
    pin(core)?;
    println!("{}", bare_pipes(TURN.len(), ANSWER.len(), u64::from(MATCHES) * 60)?);
    Ok(())
}

/// A referee with one lane in its own process tree, on one core: the binary beside this program. Prints the time of a
/// decision.
fn lane(core: usize) -> Result<()> {
    pin(core)?;
    let referee = std::env::current_exe()?.with_file_name("referee");
    println!("{}", pipes(&referee, 1, &format!("as-bot '{VIEW_AND_LEGAL}'"), &[])?.each);
    Ok(())
}

struct Peer {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
    /// Reused: clearing a new one would cost a bare round trip a microsecond.
    chunk: Vec<u8>,
}

impl Peer {
    fn start(command: &mut Command) -> Result<Peer> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (to, from) = (child.stdin.take().ok_or("stdin")?, child.stdout.take().ok_or("stdout")?);
        Ok(Peer { child, to, from, chunk: vec![0; 64 * 1024] })
    }

    fn echo(size: usize) -> Result<Peer> {
        Peer::start(Command::new(std::env::current_exe()?).args(["as-echo", &size.to_string()]))
    }

    /// Reads until this number of line breaks has arrived.
    fn lines(&mut self, mut count: usize) -> Result<()> {
        while count > 0 {
            let got = self.from.read(&mut self.chunk)?;
            if got == 0 {
                return Err("the other end closed its output".into());
            }
            count = count.saturating_sub(memchr_iter(b'\n', &self.chunk[..got]).count());
        }
        Ok(())
    }

    fn end(self) -> Result<()> {
        let Peer { mut child, to, from, .. } = self;
        drop((to, from));
        child.wait()?;
        Ok(())
    }
}

fn folder() -> Result<tempfile::TempDir> {
    Ok(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?)
}

/// A folder on the disk of this program.
fn folder_on_disk() -> Result<tempfile::TempDir> {
    Ok(tempfile::tempdir_in(std::env::current_exe()?.parent().ok_or("no folder")?)?)
}

/// A new folder in another one.
fn folder_in(parent: &Path) -> Result<PathBuf> {
    Ok(tempfile::tempdir_in(parent)?.keep())
}

/// The time of one decision, in microseconds, and the number of decisions.
struct Figure {
    each: f64,
    decisions: u64,
}

/// `referee play` between two of a bot, records written to a folder.
fn play(
    referee: impl AsRef<OsStr>,
    matches: u32,
    bot: &str,
    options: &[&str],
    folder: &Path,
) -> Result<(f64, u64)> {
    let start = Instant::now();
    let output = Command::new(referee)
        .args(["play", "checkers", bot, bot, "--json", "-n", &matches.to_string(), "--record"])
        .arg(folder)
        .args(options)
        .output()?;
    let took = start.elapsed().as_secs_f64() * 1e6;
    let mut decisions = 0;
    for line in output.stdout.lines() {
        let line: Value = serde_json::from_str(&line?)?;
        decisions += line["decisions"].as_u64().unwrap_or(0);
    }
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok((took, decisions))
}

/// The same between instant bots, without starting processes: the difference between many matches on each lane and one.
fn pipes(referee: impl AsRef<OsStr>, lanes: u32, bot: &str, options: &[&str]) -> Result<Figure> {
    let bot = format!("'{}' {bot}", std::env::current_exe()?.display());
    let of = |matches| play(&referee, matches, &bot, options, folder()?.path());
    difference(of(lanes)?, of(lanes * MATCHES)?)
}

/// Cost per match of a long run, less that of a short one.
fn difference(short: (f64, u64), long: (f64, u64)) -> Result<Figure> {
    let decisions = long.1.checked_sub(short.1).filter(|&more| more > 0).ok_or("no decisions")?;
    Ok(Figure { each: (long.0 - short.0) / decisions as f64, decisions })
}

/// The same between two bots that connect.
fn tcp(matches: u32) -> Result<(f64, u64)> {
    let folder = folder()?;
    let start = Instant::now();
    let mut referee = Command::new(REFEREE)
        .args(["play", "checkers", "tcp:a", "tcp:b", "--json", "--listen", "127.0.0.1:0"])
        .args(["-n", &matches.to_string(), "--record"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut lines = BufReader::new(referee.stdout.take().ok_or("no output")?).lines();
    let listening: Value = serde_json::from_str(&lines.next().ok_or("it does not listen")??)?;
    let address = listening["address"].as_str().ok_or("no address")?;
    let guest = |name| Command::new(std::env::current_exe()?).args(["as-guest", address, name]).spawn();
    let guests = [guest("a")?, guest("b")?];
    let mut decisions = 0;
    for line in lines {
        let line: Value = serde_json::from_str(&line?)?;
        decisions += line["decisions"].as_u64().unwrap_or(0);
    }
    let took = start.elapsed().as_secs_f64() * 1e6;
    referee.wait()?;
    for mut guest in guests {
        guest.wait()?;
    }
    Ok((took, decisions))
}

fn connections() -> Result<Figure> {
    difference(tcp(1)?, tcp(MATCHES)?)
}

/// Bare round trips with two echoing processes that connect, one after the other.
fn bare_connections(request: usize, answer: usize, decisions: u64) -> Result<f64> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let echo = || {
        Command::new(std::env::current_exe()?).args(["as-tcp-echo", &address, &answer.to_string()]).spawn()
    };
    let mut echoes = [echo()?, echo()?];
    let mut streams = [listener.accept()?.0, listener.accept()?.0];
    let line: Vec<u8> = std::iter::repeat_n(b'x', request - 1).chain([b'\n']).collect();
    let mut buffer = vec![0; 64 * 1024];
    for stream in &streams {
        stream.set_nodelay(true)?;
    }
    let start = Instant::now();
    for _ in 0..decisions / 2 {
        for stream in &mut streams {
            stream.write_all(&line)?;
            let mut got = 0;
            while got < answer {
                got += stream.read(&mut buffer)?;
            }
        }
    }
    let took = start.elapsed().as_secs_f64() * 1e6 / decisions as f64;
    drop(streams);
    for echo in &mut echoes {
        echo.wait()?;
    }
    Ok(took)
}

/// The throughput of two cores relative to the mean of both: decisions with two lanes of one referee; with two
/// referees of one lane, each with its bots from copies of the programs, so that they share nothing; bare round
/// trips; and memory reads. If shared memory scales worse than separate memory, the caches of the machine slow down
/// any code that runs on both cores.
fn cores() -> Result<()> {
    let copies = [copies()?, copies()?];
    let this = std::env::current_exe()?;
    let (own, shared) = ([memory(), memory()], memory());
    let instant = format!("as-bot '{VIEW_AND_LEGAL}'");
    let mut ratios = [const { Vec::new() }; 5];
    for _ in 0..2 * ROUNDS {
        let _limit = Limit::new(LIMIT, "two cores beside one: a round");
        let (one, two) = rates(|core| rate_of(&copies[core].path().join("bench"), "as-lane", core))?;
        let lanes = 1.0 / pipes(REFEREE, 2, &instant, &["--jobs", "2", "--pin"])?.each;
        let others = [
            rates(|core| rate_of(&this, "as-pair", core))?,
            rates(|core| reads(core, &shared))?,
            rates(|core| reads(core, &own[core]))?,
        ];
        let round = [lanes / one, two / one].into_iter().chain(others.map(|(one, two)| two / one));
        ratios.iter_mut().zip(round).for_each(|(ratios, ratio)| ratios.push(ratio));
    }
    println!("two cores beside one");
    let rows = ["two lanes", "two referees", "two bare ones", "memory that both read", "memory of their own"];
    for (name, ratios) in rows.into_iter().zip(ratios) {
        println!("{name:<28} {:8.2}", median(ratios));
    }
    println!();
    Ok(())
}

/// The programs, copied to separate files.
fn copies() -> Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::copy(std::env::current_exe()?, folder.path().join("bench"))?;
    std::fs::copy(REFEREE, folder.path().join("referee"))?;
    Ok(folder)
}

/// The throughput of a single core, on average, and of both concurrently.
fn rates(work: impl Fn(usize) -> Result<f64> + Sync) -> Result<(f64, f64)> {
    let alone = work(0)? + work(1)?;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| work(1));
        let both = work(0)? + other.join().map_err(|_| "it panicked")??;
        Ok((alone / 2.0, both))
    })
}

/// The throughput of a program on a core, per microsecond; it prints the time of a unit of work.
fn rate_of(program: &Path, what: &str, core: usize) -> Result<f64> {
    let output = Command::new(program).args([what, &core.to_string()]).stderr(Stdio::inherit()).output()?;
    Ok(1.0 / String::from_utf8(output.stdout)?.trim().parse::<f64>()?)
}

/// The size of a cache line.
#[repr(align(64))]
struct Line(usize);

/// 256 KiB of cache lines, each with the index of another one, in a random cycle.
fn memory() -> Vec<Line> {
    let next = |at: usize| (at * 1_664_525 + 1_013_904_223) % 4_096;
    (0..4_096).map(|at| Line(next(at))).collect()
}

/// The number of dependent reads per microsecond on a core.
fn reads(core: usize, memory: &[Line]) -> Result<f64> {
    const READS: u32 = 2_000_000;
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            pin(core)?;
            let start = Instant::now();
            let mut at = 0;
            for _ in 0..READS {
                at = std::hint::black_box(&memory[at]).0;
            }
            Ok(f64::from(READS) / (start.elapsed().as_secs_f64() * 1e6))
        });
        reader.join().map_err(|_| "it panicked")?
    })
}

/// Bare round trips with two echo children, one after the other.
fn bare_pipes(request: usize, answer: usize, decisions: u64) -> Result<f64> {
    let mut peers = [Peer::echo(answer)?, Peer::echo(answer)?];
    let line: Vec<u8> = std::iter::repeat_n(b'x', request - 1).chain([b'\n']).collect();
    let start = Instant::now();
    for _ in 0..decisions / 2 {
        for peer in &mut peers {
            peer.to.write_all(&line)?;
            peer.lines(1)?;
        }
    }
    let took = start.elapsed().as_secs_f64() * 1e6 / decisions as f64;
    peers.into_iter().try_for_each(Peer::end)?;
    Ok(took)
}

/// `referee stdio` with this number of concurrent matches, and a host that answers at once.
fn stdio(slots: usize, matches: usize) -> Result<Figure> {
    let folder = folder()?;
    let mut peer = Peer::start(
        Command::new(REFEREE)
            .args(["stdio", "checkers", "--matches", &matches.to_string(), "--record"])
            .arg(folder.path()),
    )?;
    peer.lines(1)?;
    writeln!(peer.to, r#"{{"type":"hello","protocol":1,"name":"host","slots":{slots}}}"#)?;
    let start = Instant::now();
    let (mut decisions, mut answers) = (0, Vec::new());
    let Peer { to, from, .. } = &mut peer;
    each_chunk(from, |chunk| {
        answers.clear();
        for line in lines(chunk) {
            decisions += u64::from(answer(line, &mut answers)?);
        }
        Ok(to.write_all(&answers)?)
    })?;
    let took = start.elapsed().as_secs_f64() * 1e6;
    peer.end()?;
    Ok(Figure { each: took / decisions as f64, decisions })
}

/// One echo process that answers this number of lines at once.
fn bare_stdio(slots: usize, request: usize, answer: usize, decisions: u64) -> Result<f64> {
    let mut peer = Peer::echo(request)?;
    let line: Vec<u8> = std::iter::repeat_n(b'x', answer - 1).chain([b'\n']).collect();
    let lines = line.repeat(slots);
    let start = Instant::now();
    for _ in 0..decisions / slots as u64 {
        peer.to.write_all(&lines)?;
        peer.lines(slots)?;
    }
    let took = start.elapsed().as_secs_f64() * 1e6 / decisions as f64;
    peer.end()?;
    Ok(took)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn compare(
    name: &str,
    referee: impl Fn() -> Result<Figure>,
    bare: impl Fn(u64) -> Result<f64>,
) -> Result<()> {
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let limit = Limit::new(LIMIT, format!("{name}: a round with the referee"));
        let figure = referee()?;
        drop(limit);
        let _limit = Limit::new(LIMIT, format!("{name}: a round of {} bare round trips", figure.decisions));
        let bare = bare(figure.decisions)?;
        ours.push(figure.each);
        theirs.push(bare);
        ratios.push(figure.each / bare);
    }
    println!("{name:<28} {:8.2} us {:8.2} us {:8.2}", median(ours), median(theirs), median(ratios));
    Ok(())
}

/// Cost of sandboxes: a decision, and the start of a program. The modes alternate, each round in another
/// order, and the ratios are those to `none` in the same round. Layers that the machine lacks are left out.
fn sandboxes() -> Result<()> {
    pin(0)?;
    const MODES: [&str; 3] = ["none", "basic", "strict"];
    let bot = format!("as-bot '{VIEW_AND_LEGAL}'");
    let allowed = ["landlock_scope", "cgroup"].map(|layer| ["--sandbox-allow-missing", layer]);
    let mut rows = [const { [const { Vec::new() }; 3] }; MODES.len()];
    for round in 0..ROUNDS {
        let _limit = Limit::new(LIMIT, "sandboxes: a round");
        let mut decisions = [0.0; MODES.len()];
        for at in (0..MODES.len()).map(|at| (at + round) % MODES.len()) {
            let options = [&["--sandbox", MODES[at]], allowed.as_flattened()].concat();
            decisions[at] = pipes(REFEREE, 1, &bot, &options)?.each;
        }
        let output = Command::new(REFEREE).args(["sandbox", "check", "--json"]).output()?;
        let checked: Value = serde_json::from_slice(&output.stdout)?;
        let starts = checked["modes"].as_array().ok_or("no modes")?;
        for (at, mode) in MODES.into_iter().enumerate() {
            let start = starts.iter().find(|start| start["mode"] == mode);
            let start = start.and_then(|start| start["start_ms"].as_f64()).ok_or("it does not start")?;
            rows[at]
                .iter_mut()
                .zip([decisions[at], decisions[at] / decisions[0], start])
                .for_each(|(values, value)| values.push(value));
        }
    }
    println!("{:<28} {:>11} {:>8} {:>11}", "sandboxes", "a decision", "ratio", "a start");
    for (mode, [each, ratio, start]) in MODES.into_iter().zip(rows) {
        println!("{mode:<28} {:8.2} us {:8.3} {:8.1} ms", median(each), median(ratio), median(start));
    }
    println!();
    Ok(())
}

/// Bots that play the first legal move, each in its language without and with the SDK.
const SCRIPTS: [(&str, &str, &str, &str); 2] = [
    (
        "Python",
        "python3",
        r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "turn":
        where = {name: message[name] for name in ("match", "seat", "turn")}
        print(json.dumps({"type": "move", **where, "move": message["legal"][0]}), flush=True)
    elif kind == "hello":
        print(json.dumps({"type": "hello", "protocol": 1, "name": "lines"}), flush=True)
    elif kind == "start":
        print(json.dumps({"type": "ready", "match": message["match"], "seat": message["seat"]}), flush=True)
"#,
        "import sys\nsys.path.insert(0, 'ROOT/bots/python')\nfrom referee_bot import run\n\
         run(lambda turn: turn.legal[0], name='sdk')\n",
    ),
    (
        "JavaScript",
        "node",
        r#"
import { createInterface } from "node:readline";
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { type, match, seat, turn, legal } = JSON.parse(line);
  if (type === "turn") say({ type: "move", match, seat, turn, move: legal[0] });
  else if (type === "hello") say({ type: "hello", protocol: 1, name: "lines" });
  else if (type === "start") say({ type: "ready", match, seat });
});
"#,
        "import { run } from 'ROOT/bots/javascript/src/index.js';\nawait run((turn) => turn.legal[0], { name: 'sdk' });\n",
    ),
];

/// Cost of a choice of the user relative to its alternative.
fn alternatives() -> Result<()> {
    pin(0)?;
    let instant = format!("as-bot '{VIEW_AND_LEGAL}'");
    let instant = format!("'{}' {instant}", std::env::current_exe()?.display());
    println!("{:<28} {:>11} {:>11} {:>8}", "", "a decision", "beside", "ratio");
    // Bots that play the first legal move need openings for matches that differ.
    // Nothing is deleted before the end: some file systems create files slowly after others were deleted.
    let (disk, memory) = (folder_on_disk()?, folder()?);
    let of = |bot: &str, matches: u32, folder: &Path| {
        let of = |matches| play(REFEREE, matches, bot, &["--opening-plies", "4"], &folder_in(folder)?);
        difference(of(1)?, of(matches)?)
    };
    // Many matches: a run ends when its last records are on the disk, which takes some milliseconds.
    compare(
        "records on disk, in memory",
        || of(&instant, 10 * MATCHES, disk.path()),
        |_| Ok(of(&instant, 10 * MATCHES, memory.path())?.each),
    )?;
    let scripts = tempfile::tempdir()?;
    for (language, program, lines, sdk) in SCRIPTS {
        let command = |name: &str, text: &str| {
            let script = scripts.path().join(format!("{language}_{name}.mjs"));
            std::fs::write(&script, text.replace("ROOT", env!("CARGO_MANIFEST_DIR")))?;
            Result::Ok(format!("{program} '{}'", script.display()))
        };
        let (lines, sdk) = (command("lines", lines)?, command("sdk", sdk)?);
        compare(
            &format!("{language}: SDK, ten lines"),
            || of(&sdk, MATCHES / 4, memory.path()),
            |_| Ok(of(&lines, MATCHES / 4, memory.path())?.each),
        )?;
    }
    if Command::new("fastchess").arg("-version").output().is_err() {
        println!("fastchess is not installed");
        return Ok(());
    }
    compare(
        "checkers, chess by fastchess",
        || of(&instant, MATCHES, memory.path()),
        |_| Ok(difference(fastchess(1)?, fastchess(MATCHES / 4)?)?.each),
    )
}

type Part = fn() -> Result<()>;

fn bench() -> Result<()> {
    const PARTS: [(&str, Part); 4] = [
        ("cores", cores),
        ("sandboxes", sandboxes),
        ("decisions", decisions),
        ("alternatives", alternatives),
    ];
    let only = std::env::args().find(|arg| PARTS.iter().any(|(name, _)| name == arg));
    for (name, part) in PARTS {
        if only.as_ref().is_none_or(|only| only == name) {
            part()?;
        }
    }
    Ok(())
}

/// Cost of a decision relative to a bare round trip.
fn decisions() -> Result<()> {
    pin(0)?;
    let (turn, events, answer) = (TURN.len(), EVENTS.len(), ANSWER.len());
    let request = turn + events;
    println!("checkers between instant bots, one core, records written");
    println!("{turn} bytes to a bot, {events} more with events, {answer} back");
    println!("{:<28} {:>11} {:>11} {:>8}", "", "a decision", "bare", "ratio");
    for (name, bot, request) in [
        ("pipes, two bots", format!("as-bot '{VIEW_AND_LEGAL}'"), turn),
        ("pipes, and they want events", format!("as-bot '{EVENTS_TOO}'"), request),
        ("pipes, two of the Rust SDK", "as-sdk-bot".to_owned(), turn),
    ] {
        compare(name, || pipes(REFEREE, 1, &bot, &[]), |decisions| bare_pipes(request, answer, decisions))?;
    }
    compare("TCP, two bots", connections, |decisions| bare_connections(turn, answer, decisions))?;
    for slots in [1, 64] {
        compare(
            &format!("stdio, {slots} open"),
            || stdio(slots, MATCHES as usize),
            |decisions| bare_stdio(slots, request, answer, decisions),
        )?;
    }
    println!();
    Ok(())
}
