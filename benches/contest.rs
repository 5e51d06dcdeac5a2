//! The overhead of scheduling, storing and rating per match: `referee tournament run` and `referee play` with the
//! same bots and numbers of matches, with records written to memory if there is a suitable file system. Then the cost
//! of synchronizing records and results: the same tournament on a disk with and without `--no-fsync`.
//!
//! The whole process tree is pinned to one core, the two alternate, and the result is the median ratio.
//! `cargo bench --bench contest [MATCHES]`
mod common;

use std::path::Path;

use common::{Result, VIEW_AND_LEGAL, instant, pin, time};

const ROUNDS: usize = 7;
const MATCHES: u32 = 20_000;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bot") => {
            instant(std::io::stdin().lock(), std::io::stdout().lock(), "instant", VIEW_AND_LEGAL)
        }
        matches => bench(matches.and_then(|matches| matches.parse().ok()).unwrap_or(MATCHES)),
    }
}

/// The duration of a referee command.
fn seconds(args: &[&str]) -> Result<f64> {
    Ok(time(args)?.as_secs_f64())
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
        let played = seconds(&[
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
        let contested = seconds(&["tournament", "run", &text("cup.toml"), "--dir", &text("cup"), "--json"])?;
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
        let volatile = seconds(&[&args[..], &[&text("volatile"), "--no-fsync"]].concat())?;
        let durable = seconds(&[&args[..], &[&text("durable")]].concat())?;
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
