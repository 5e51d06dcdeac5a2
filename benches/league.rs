//! A league after a year: how long the server takes to start, each page and call takes, and the backup of a day takes, and how
//! large the directory is.
//!
//! 200 owners have 500 versions of bots. The results are made here, with a rating of each player for every 200 matches in which it
//! plays; all records are copies of that of one short match, so that the disk is large enough. The size with records of whole matches
//! is computed from that of one. `cargo bench --bench league -- [MATCHES] [DIR] [FILES]` (100,000, in the directory for temporary files;
//! the last so many matches have records, by default all); the directory is removed at the end.
#![expect(clippy::disallowed_methods, reason = "a bench measures")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use common::league::Ended;
use common::{Limit, Result, VIEW_AND_LEGAL, instant, time};
use referee::files::Folder;
use referee::league::{
    KeptRating, League, LeagueMatch, LeagueOwner, NewBot, OrganiserAct, OwnerState, OwnerToken,
};
use referee::referee::Faults;
use referee::stats::rating::Estimate;
use referee::store::{MatchKind, utc};
use referee_protocol::words::{EndedBy, FaultCode};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

const REFEREE: &str = env!("CARGO_BIN_EXE_referee");

const MATCHES: u32 = 100_000;
const OWNERS: usize = 200;
const PLAYERS: usize = 500;
const VERSIONS: usize = 2;
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The number of rows that are added at once.
const ROWS: u32 = 5000;
/// After this number of matches the ratings of those who played are stored.
const RATED: u32 = 200;
/// The number of requests for each page.
const REQUESTS: usize = 9;
/// The token of each owner is this and its number.
const TOKEN: &str = "token of the owner";
/// A position that is won with a move.
const WON: &str = "fen=B:W18:B14";
/// More than anything here takes on a slow machine.
const LIMIT: Duration = Duration::from_secs(900);

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.first().map(String::as_str) {
        Some("as-bot") => instant(std::io::stdin(), std::io::stdout(), "bot", VIEW_AND_LEGAL),
        matches => {
            let matches = matches.map_or(Ok(MATCHES), str::parse)?;
            let place = args.get(1).map_or_else(std::env::temp_dir, PathBuf::from);
            let files = args.get(2).map_or(Ok(matches), |files| files.parse())?;
            bench(matches, files, &tempfile::tempdir_in(place)?)
        }
    }
}

fn bench(matches: u32, files: u32, place: &tempfile::TempDir) -> Result<()> {
    let [folder, backup, records] = ["league", "backup", "records"].map(|name| place.path().join(name));
    fs::create_dir(&folder)?;
    let config = folder.join("league.toml");
    fs::write(
        &config,
        "name = 'A year'\n[owners]\nlisten = '127.0.0.1:0'\n[[ladders]]\nname = 'bench'\ngame = 'checkers'\n\
         listen = '127.0.0.1:0'\nwatch = '127.0.0.1:0'\n",
    )?;
    let short = record(&records.join("short"), &["--set", WON])?;
    let whole = record(&records.join("whole"), &[])?;
    let day = (matches / 365).max(1000);
    let mut year = LeagueYear::new(&folder, matches + day, short.0)?;
    year.first_file = matches.saturating_sub(files) + 1;
    let began = Instant::now();
    year.play(matches)?;
    println!("{matches} matches of {PLAYERS} players were made in {:.0} s", began.elapsed().as_secs_f64());
    let paths = [&config, &backup].map(|path| path.display().to_string());
    let back_up = || time(&["league", "backup", &paths[1], "--league", &paths[0]]);
    let sizes = |whole: u64| {
        let database = disk_use(&folder.join("league.sqlite"))?;
        Ok::<_, std::io::Error>((database, database + u64::from(matches) * whole))
    };
    let (database, all) = sizes(whole.1)?;
    let gigabytes = |bytes: u64| bytes as f64 / 1e9;
    println!("database {:.2} GB, {} bytes a match", gigabytes(database), database / u64::from(matches));
    println!(
        "directory {:.1} GB with records of whole matches ({} bytes), each a file",
        gigabytes(all),
        whole.0.len()
    );
    println!("first backup {:.1} s", back_up()?.as_secs_f64());
    year.play(day)?;
    println!("backup of a day ({day} matches) {:.1} s", back_up()?.as_secs_f64());
    println!("backup without anything new {:.1} s", back_up()?.as_secs_f64());
    serve(&config, matches)
}

/// Plays a match. Returns its record, and how much of the disk it takes.
fn record(folder: &Path, args: &[&str]) -> Result<(Vec<u8>, u64)> {
    let bot = format!("{} as-bot", std::env::current_exe()?.display());
    let folder_text = folder.display().to_string();
    let play = ["play", "checkers", &bot, &bot, "--record", &folder_text, "--seed", &"17".repeat(32)];
    time(&[&play, args].concat())?;
    let path = folder.join("m1.jsonl");
    Ok((fs::read(&path)?, disk_use(&path)?))
}

fn disk_use(path: &Path) -> std::io::Result<u64> {
    Ok(fs::metadata(path)?.blocks() * 512)
}

/// A league to which matches of a year are added.
struct LeagueYear {
    league: League,
    records: PathBuf,
    record: Vec<u8>,
    players: Vec<String>,
    /// So far, by player.
    played: Vec<u32>,
    begin: SystemTime,
    /// The time from the end of a match to that of the next one.
    pace: Duration,
    /// The number of the first match whose record is written.
    first_file: u32,
    last: u32,
    random: u64,
}

impl LeagueYear {
    /// A league that ends now, after so many matches.
    fn new(folder: &Path, matches: u32, record: Vec<u8>) -> Result<LeagueYear> {
        let mut league = League::open(&Folder::open(folder)?)?;
        let begin = SystemTime::now() - YEAR;
        for owner in 0..OWNERS {
            let hash = Sha256::digest(format!("{TOKEN} {owner}")).into();
            let owner = LeagueOwner {
                id: format!("owner-{owner}"),
                display_name: Some(format!("The team of number {owner}")),
                affiliation: None,
                contact: None,
                state: OwnerState::Active,
                token: Some(OwnerToken::new(hash, begin)),
                network: None,
                joined_at: utc(begin),
                left_at: None,
            };
            league.act("bench", OrganiserAct::AddOwner(&owner), begin)?;
        }
        let mut players = Vec::new();
        for bot in 0..PLAYERS / VERSIONS {
            let new = NewBot {
                name: &format!("bot-{bot}"),
                owner: Some(&format!("owner-{}", bot % OWNERS)),
                display_name: Some(&format!("The bot of number {bot}")),
                ..NewBot::default()
            };
            league.act("bench", OrganiserAct::AddBot(&new), begin)?;
            players.extend((1..=VERSIONS).map(|version| format!("bot-{bot}@{version}.0")));
        }
        let records = folder.join("ladders/bench/records");
        fs::create_dir_all(&records)?;
        let played = vec![0; players.len()];
        let pace = YEAR / matches;
        Ok(LeagueYear {
            league,
            records,
            record,
            players,
            played,
            begin,
            pace,
            first_file: 1,
            last: 0,
            random: 1,
        })
    }

    fn draw(&mut self, below: usize) -> usize {
        // Marsaglia's xorshift.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % below as u64) as usize
    }

    fn play(&mut self, matches: u32) -> Result<()> {
        let _limit = Limit::new(LIMIT, "the matches of the league");
        let end = self.last + matches;
        let mut rows = Vec::new();
        let mut rated = BTreeMap::new();
        while self.last < end {
            self.last += 1;
            let row = self.row(&mut rated);
            if let Some(name) = &row.record {
                fs::write(self.records.join(name), &self.record)?;
            }
            rows.push(row);
            if self.last.is_multiple_of(RATED) {
                let at = self.begin + self.pace * self.last;
                let points = std::mem::take(&mut rated).into_iter().map(|(player, matches): (usize, u32)| {
                    let value = player as f64;
                    let rating = Estimate { value, low: value - 20.0, high: value + 20.0 };
                    KeptRating {
                        player: self.players[player].clone(),
                        rating,
                        matches,
                        is_provisional: false,
                    }
                });
                self.league.add_ratings("bench", at, &points.collect::<Vec<_>>())?;
            }
            if self.last.is_multiple_of(ROWS) || self.last == end {
                self.league.add_matches("bench", &std::mem::take(&mut rows))?;
            }
        }
        Ok(())
    }

    fn row(&mut self, rated: &mut BTreeMap<usize, u32>) -> LeagueMatch {
        let first = self.draw(PLAYERS);
        // Of another bot, and not much weaker or stronger.
        let second = (first + VERSIONS + self.draw(60)) % PLAYERS;
        for player in [first, second] {
            self.played[player] += 1;
            rated.insert(player, self.played[player]);
        }
        let ranks = [vec![1, 2], vec![2, 1], vec![1, 1]][self.draw(3)].clone();
        let mut faults = [Faults::default(); 2];
        if self.draw(50) == 0 {
            faults[1].add(FaultCode::Timeout);
        }
        let number = self.last;
        LeagueMatch {
            number,
            players: [first, second].map(|player| self.players[player].clone()).to_vec(),
            scores: Some(ranks.iter().map(|&rank| f64::from(2 - rank)).collect()),
            ranks: Some(ranks),
            amounts: None,
            moves: None,
            faults: faults.to_vec(),
            totals: Vec::new(),
            ended_by: EndedBy::Rules,
            reason: "no_pieces".to_owned(),
            is_rated: true,
            kind: MatchKind::Pairing,
            deal: number.is_multiple_of(2).then_some(number - 1),
            decisions: 60,
            duration_us: 2_000_000,
            record: (number >= self.first_file).then(|| format!("m{number}.jsonl")),
            seal: Some("5".repeat(64)),
            ended_at: utc(self.begin + self.pace * number),
            worker: None,
            is_void: false,
        }
    }
}

/// Measures the start of a server, its pages and its memory.
fn serve(config: &Path, matches: u32) -> Result<()> {
    let _limit = Limit::new(LIMIT, "the server of the league");
    let began = Instant::now();
    let mut command = Command::new(REFEREE);
    command.arg("serve").arg(config).args(["--json", "--log-level", "error"]);
    let mut server = Ended(command.stdout(Stdio::piped()).spawn()?);
    let mut lines = BufReader::new(server.0.stdout.take().ok_or("no output")?).lines();
    let (mut owners, mut watch) = (None, None);
    let listens = loop {
        let line: Value = serde_json::from_str(&lines.next().ok_or("the server ended")??)?;
        let url = || address(line["url"].as_str().ok_or("no URL")?);
        match line["type"].as_str() {
            Some("owners") => owners = Some(url()?),
            Some("watch") => watch = Some(url()?),
            Some("listening") => break began.elapsed(),
            _ => {}
        }
    };
    println!("start {:.1} s", listens.as_secs_f64());
    let (owners, watch) = (owners.ok_or("no pages for owners")?, watch.ok_or("no pages")?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (middle, kept) = (matches / 2, matches - 1);
    let ask = |site: SocketAddr, path: String| -> Result<()> {
        let mut times = Vec::new();
        let mut size = 0;
        for _ in 0..REQUESTS {
            let began = Instant::now();
            size = runtime.block_on(get(site, &path))?;
            times.push(began.elapsed());
        }
        let first = times[0];
        times.sort_unstable();
        let [first, median, most] =
            [first, times[REQUESTS / 2], times[REQUESTS - 1]].map(|time| time.as_secs_f64() * 1e3);
        println!(
            "{path:48} first {first:6.1} ms, median {median:6.1} ms, at most {most:6.1} ms, {size:8} bytes"
        );
        Ok(())
    };
    for path in [
        "/",
        "/players/bot-7@1.0",
        "/join",
        "/healthz",
        "/metrics",
        "/api/v1/run",
        "/api/v1/ladder",
        "/api/v1/standings",
        "/api/v1/bots",
        "/api/v1/matches",
        "/api/v1/matches?limit=100",
        "/api/v1/players/bot-7@1.0",
        "/card.png",
    ] {
        ask(watch, path.to_owned())?;
    }
    for path in [
        format!("/matches/m{middle}"),
        format!("/api/v1/matches/m{middle}"),
        format!("/api/v1/matches/m{kept}/record"),
        format!("/api/v1/matches/m{kept}/events"),
        format!("/matches/m{matches}"),
    ] {
        ask(watch, path)?;
    }
    for path in [
        "/",
        "/api/v1/signup",
        "/api/v1/owner",
        "/api/v1/owner/matches",
        "/api/v1/owner/matches?faulted=true&limit=200",
        &format!("/api/v1/owner/matches?ladder=bench&before={middle}"),
        "/api/v1/owner/submissions",
    ] {
        ask(owners, path.to_owned())?;
    }
    let mut status = String::new();
    fs::File::open(format!("/proc/{}/status", server.0.id()))?.read_to_string(&mut status)?;
    let memory = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    println!("memory of the server: {memory}");
    std::io::stdout().flush()?;
    Ok(())
}

fn address(url: &str) -> Result<SocketAddr> {
    Ok(url.trim_start_matches("http://").trim_end_matches('/').parse()?)
}

/// Asks for a page as the first owner, from another address each time: each has its own limits. Returns its size.
async fn get(site: SocketAddr, path: &str) -> Result<usize> {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
    let own = Ipv4Addr::LOCALHOST.to_bits() + NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::from_bits(own), 0).into())?;
    let mut stream = socket.connect(site).await?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {site}\r\nConnection: close\r\nAuthorization: Bearer {TOKEN} 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    if !answer.starts_with(b"HTTP/1.1 200") {
        let head = String::from_utf8_lossy(&answer[..answer.len().min(200)]).into_owned();
        return Err(format!("{path}: {head}").into());
    }
    Ok(answer.len())
}
