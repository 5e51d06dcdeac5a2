//! The site of a tournament: how long `referee tournament report --site` takes, and how much each match adds to it.
//!
//! `cargo bench --bench site [MATCHES]`
mod common;

use std::fs;
use std::path::Path;

use common::{Result, VIEW_AND_LEGAL, instant, time};

const MATCHES: u32 = 2000;
/// Each pair of them plays once in a cycle.
const ENTRANTS: u32 = 5;
const PAIRS: u32 = ENTRANTS * (ENTRANTS - 1) / 2;

/// A game with the head of its tournament file.
const GAMES: [(&str, &str); 3] = [
    ("checkers", "game = 'checkers'\nopening_plies = 6"),
    ("keezen, 4 seats", "game = 'keezen'\nseats = 4"),
    ("keezen, 6 seats", "game = 'keezen'\nseats = 6"),
];

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bot") => {
            instant(std::io::stdin().lock(), std::io::stdout().lock(), "instant", VIEW_AND_LEGAL)
        }
        matches => bench(matches.and_then(|matches| matches.parse().ok()).unwrap_or(MATCHES)),
    }
}

/// The number and the total size of the files in a directory.
fn size(directory: &Path) -> Result<(u64, u64)> {
    let (mut count, mut bytes) = (0, 0);
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let (more, size) = match entry.file_type()?.is_dir() {
            true => size(&entry.path())?,
            false => (1, entry.metadata()?.len()),
        };
        count += more;
        bytes += size;
    }
    Ok((count, bytes))
}

fn bench(matches: u32) -> Result<()> {
    let cycles = (matches / PAIRS).max(1);
    let matches = u64::from(cycles * PAIRS);
    println!("the site of a tournament of {matches} matches; sizes in bytes per match");
    println!("{:<16} {:>8} {:>8} {:>8} {:>8}", "", "seconds", "page", "others", "total");
    for (name, head) in GAMES {
        let folder = tempfile::tempdir()?;
        let text = |name: &str| folder.path().join(name).display().to_string();
        let bot = format!("'{}' as-bot", std::env::current_exe()?.display());
        let entrants = (1..=ENTRANTS)
            .map(|entrant| format!("[[entrants]]\nname = 'bot {entrant}'\ncommand = \"{bot}\"\n"));
        let format = format!("mirror = 'none'\n[format]\nkind = 'round_robin'\ncycles = {cycles}\n");
        fs::write(text("cup.toml"), format!("{head}\n{format}{}", entrants.collect::<String>()))?;
        time(&["tournament", "run", &text("cup.toml"), "--dir", &text("cup"), "--no-fsync", "--json"])?;
        let took = time(&["tournament", "report", &text("cup"), "--site", &text("site")])?;
        let site = folder.path().join("site");
        let ((pages, page_bytes), (_, total)) = (size(&site.join("matches"))?, size(&site)?);
        if pages != matches {
            return Err(format!("{pages} pages of {matches} matches").into());
        }
        let each = |bytes: u64| bytes / matches;
        println!(
            "{name:<16} {:>8.1} {:>8} {:>8} {:>8}",
            took.as_secs_f64(),
            each(page_bytes),
            each(total - page_bytes),
            each(total)
        );
    }
    Ok(())
}
