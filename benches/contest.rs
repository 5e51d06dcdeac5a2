//! The overhead of scheduling, storing and rating per match: `referee tournament run` and `referee play` with the
//! same bots and numbers of matches, with records written to memory if there is a suitable file system. Then the cost
//! of synchronizing records and results: the same tournament on a disk with and without `--no-fsync`.
//!
//! The whole process tree is pinned to one core, the two alternate, and the result is the median ratio.
//! `cargo bench --bench contest [MATCHES]`
#![expect(clippy::disallowed_methods, reason = "a bench measures")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Limit, Result, VIEW_AND_LEGAL, instant, pin};

const ROUNDS: usize = 7;
const MATCHES: u32 = 20_000;
/// More time than this number of matches takes on a slow machine.
const LIMIT: Duration = Duration::from_secs(600);

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bot") => {
            instant(std::io::stdin().lock(), std::io::stdout().lock(), "instant", VIEW_AND_LEGAL)
        }
        matches => bench(matches.and_then(|matches| matches.parse().ok()).unwrap_or(MATCHES)),
    }
}

/// The duration of a referee command, in seconds.
fn time(args: &[&str]) -> Result<f64> {
    let _limit = Limit::new(LIMIT, format!("`referee {}`", args.join(" ")));
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_referee")).args(args).stdout(Stdio::null()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(start.elapsed().as_secs_f64())
}

fn bench(matches: u32) -> Result<()> {
    pin(0)?;
    let bot = format!("'{}' as-bot", std::env::current_exe()?.display());
    println!("{matches} matches of checkers between instant bots, one core, records written");
    println!("{:>14} {:>14} {:>8}", "play", "tournament", "ratio");
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())?;
        let text = |name: &str| folder.path().join(name).display().to_string();
        let played = time(&[
            "play",
            "checkers",
            &bot,
            &bot,
            "--json",
            "-n",
            &matches.to_string(),
            "--record",
            &text("play"),
        ])?;
        write_config(&folder.path().join("cup.toml"), &bot, matches)?;
        let contested = time(&["tournament", "run", &text("cup.toml"), "--dir", &text("cup"), "--json"])?;
        let each = |seconds: f64| format!("{:.1} us", seconds * 1e6 / f64::from(matches));
        println!("{:>14} {:>14} {:>8.3}", each(played), each(contested), contested / played);
        ratios.push(contested / played);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3}", ratios[ratios.len() / 2]);
    bench_disk(matches, &bot)
}

/// The same tournament in the directory for temporary files, which should be on a disk.
fn bench_disk(matches: u32, bot: &str) -> Result<()> {
    println!(
        "\n{matches} matches of a tournament, records and results in {}",
        std::env::temp_dir().display()
    );
    println!("{:>14} {:>14} {:>8}", "--no-fsync", "fsync", "ratio");
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir()?;
        let text = |name: &str| folder.path().join(name).display().to_string();
        write_config(&folder.path().join("cup.toml"), bot, matches)?;
        let args = ["tournament", "run", &text("cup.toml"), "--json", "--dir"];
        let volatile = time(&[&args[..], &[&text("volatile"), "--no-fsync"]].concat())?;
        let durable = time(&[&args[..], &[&text("durable")]].concat())?;
        let each = |seconds: f64| format!("{:.1} us", seconds * 1e6 / f64::from(matches));
        println!("{:>14} {:>14} {:>8.3}", each(volatile), each(durable), durable / volatile);
        ratios.push(durable / volatile);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3}", ratios[ratios.len() / 2]);
    Ok(())
}

fn write_config(path: &Path, bot: &str, matches: u32) -> Result<()> {
    let entrant = |name| format!("[[entrants]]\nname = '{name}'\ncommand = \"{bot}\"\n");
    let head = "game = 'checkers'\nmirror = 'none'\n[format]\nkind = 'gauntlet'\n";
    Ok(std::fs::write(path, format!("{head}cycles = {matches}\n{}{}", entrant("a"), entrant("b")))?)
}
