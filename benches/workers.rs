//! The time to hand out one of 100,000 queued sets. Then what it costs to hand sets out to a worker: the same tournament, with
//! sets of about a second, played by `referee tournament run` and by one worker on the same machine over each carrier: the
//! built-in one, and with `--features nats` NATS. They alternate, and the results are the median ratios.
//!
//! `cargo bench --bench workers`
#![expect(clippy::disallowed_methods, reason = "a bench measures")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Result, VIEW_AND_LEGAL, instant, time};
use referee::files::Folder;
use referee::store::Leases;

const ROUNDS: usize = 4;
const SETS: u32 = 8;
/// The turns of a set: two matches of this number of turns.
const TURNS: u32 = 20;
const THINKS: Duration = Duration::from_millis(25);
const QUEUED: u32 = 100_000;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bot") => {
            instant(std::io::stdin().lock(), Slow(std::io::stdout().lock()), "slow", VIEW_AND_LEGAL)
        }
        _ => queue().and_then(|()| hand_out()),
    }
}

/// Thinks before each move.
struct Slow<W>(W);

impl<W: Write> Write for Slow<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if bytes.windows(13).any(|part| part == b"\"type\":\"move\"") {
            std::thread::sleep(THINKS);
        }
        self.0.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

fn hand_out() -> Result<()> {
    let bot = format!("'{}' as-bot", std::env::current_exe()?.display());
    println!("{SETS} sets of checkers of about a second, in seconds");
    println!("{:>10} {:>10} {:>8} {:>10} {:>8}", "here", "built in", "ratio", "nats", "ratio");
    let (mut ratios, mut over_nats) = (Vec::new(), Vec::new());
    let nats = cfg!(feature = "nats").then(Nats::start).transpose()?;
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir()?;
        let text = |name: &str| folder.path().join(name).display().to_string();
        let entrant = |name| format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n");
        let head = format!("game = 'checkers'\nmirror = 'rotations'\noptions = {{ turn_limit = {TURNS} }}\n");
        let format = format!("[format]\nkind = 'gauntlet'\ncycles = {SETS}\n");
        std::fs::write(text("cup.toml"), [head, format, entrant("a"), entrant("b")].concat())?;
        let here = time(&["tournament", "run", &text("cup.toml"), "--dir", &text("here"), "--json"])?;
        let there = by_a_worker(&text("cup.toml"), &text("there"), None)?;
        let [here, there] = [here, there].map(|time| time.as_secs_f64());
        print!("{here:>10.3} {there:>10.3} {:>8.4}", there / here);
        ratios.push(there / here);
        if let Some(nats) = &nats {
            let there = by_a_worker(&text("cup.toml"), &text("nats"), Some(nats))?.as_secs_f64();
            print!(" {there:>10.3} {:>8.4}", there / here);
            over_nats.push(there / here);
        }
        println!();
    }
    for (name, ratios) in [("built in", &mut ratios), ("nats", &mut over_nats)] {
        ratios.sort_by(f64::total_cmp);
        if let Some(median) = ratios.get(ratios.len() / 2) {
            println!("{name}: median ratio {median:.4}");
        }
    }
    Ok(())
}

struct Nats {
    url: String,
    server: Child,
    _store: tempfile::TempDir,
}

impl Nats {
    fn start() -> Result<Nats> {
        let store = tempfile::tempdir()?;
        let mut server = Command::new("nats-server");
        server.args(["-js", "-a", "127.0.0.1", "-p", "-1", "-sd"]).arg(store.path());
        server.arg("--ports_file_dir").arg(store.path());
        let mut server = server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let ports = store.path().join(format!("nats-server_{}.ports", server.id()));
        let deadline = Instant::now() + Duration::from_secs(30);
        let port = loop {
            let ports = std::fs::read_to_string(&ports).unwrap_or_default();
            if let Some(port) = ports.strip_suffix("\"]}").and_then(|ports| ports.rsplit(':').next()) {
                break port.to_owned();
            }
            if let Some(status) = server.try_wait()? {
                return Err(format!("nats-server: {status}").into());
            }
            if Instant::now() > deadline {
                server.kill()?;
                return Err("nats-server does not listen".into());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        Ok(Nats { url: format!("nats://127.0.0.1:{port}"), server, _store: store })
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The duration of a tournament that a worker plays, with the start of the worker.
fn by_a_worker(config: &str, dir: &str, nats: Option<&Nats>) -> Result<Duration> {
    let begun = Instant::now();
    let carrier = match nats {
        Some(nats) => ["--workers", &nats.url],
        None => ["--workers-listen", "127.0.0.1:0"],
    };
    let args = ["tournament", "run", config, "--dir", dir, "--json"];
    let mut coordinator = start(&[&args[..], &carrier].concat())?;
    let mut lines = BufReader::new(coordinator.stdout.take().ok_or("no output")?).lines();
    let first = lines.next().ok_or("no address")??;
    let output: serde_json::Value = serde_json::from_str(&first)?;
    let text = |key: &str| output[key].as_str().unwrap_or_default().to_owned();
    let (address, token_file, trust) = (text("address"), text("token_file"), text("trust"));
    let connect = match nats {
        Some(nats) => vec!["--connect", &nats.url, "--trust", &trust],
        None => vec!["--connect", &address, "--token-file", &token_file],
    };
    let args = ["--slots", "1", "--until-empty", "--noisy", "false"];
    let mut worker = start(&[&["worker"], &connect[..], &args].concat())?;
    lines.try_for_each(|line| line.map(drop))?;
    let took = begun.elapsed();
    let statuses = [coordinator.wait()?, worker.wait()?];
    assert!(statuses.iter().all(std::process::ExitStatus::success), "{statuses:?}");
    Ok(took)
}

fn start(args: &[&str]) -> Result<Child> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_referee"));
    Ok(command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?)
}

/// Queues sets, then hands each out and closes it.
fn queue() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let leases = Leases::open(&Folder::open(folder.path())?, &[1; 16])?;
    // As large as the unit of two bots.
    let unit = "x".repeat(2000);
    for set in 1..=QUEUED {
        leases.queue(set, 1, 0, &unit)?;
    }
    let mut times: Vec<Duration> = Vec::new();
    for set in 1..=QUEUED {
        let begun = Instant::now();
        leases.take(set, 1, "box", 1)?;
        leases.close(set)?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{QUEUED} queued sets: median {:?}, 99% {:?}, longest {:?} per set", at(0.5), at(0.99), at(1.0));
    Ok(())
}
