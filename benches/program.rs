//! Cost of rules that are a program: the time of a decision in a game of this process, and in the same game
//! as a program in C and in Python, and as a WebAssembly module; then chess of this process and as a module.
//!
//! Instant bots, records in a directory of their own, no clock; the process tree is pinned to one core. They alternate. The
//! time of a decision is that of many matches without that of few, so that starts of processes do not count.
//! `cargo bench --bench program --features wasm`; needs a C compiler (`cc`), `clang` with `lld`, and `python3`. Chess needs
//! `rustup target add wasm32-unknown-unknown`.
#![expect(clippy::disallowed_methods, reason = "a bench measures")]

mod common;

use std::fmt;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

use common::{Limit, Result, VIEW_AND_LEGAL, instant, pin};
use referee::game::{Chance, Draw, Game, Meta, NoFact, Outcome, Seat, SeatSet, Seating, Turn, Viewer, Wrong};
use serde::{Deserialize, Serialize};

const ROUNDS: usize = 7;
const MATCHES: u32 = 400;
/// The time of one match in so many is subtracted.
const MANY_TO_FEW: u32 = 10;
const PLIES: u8 = 60;
/// The same of chess. Without openings, all matches would be one.
const CHESS_MATCHES: u32 = 60;
const CHESS: [&str; 4] = ["--opening-plies", "6", "--set", "turn_limit=66"];
const LIMIT: Duration = Duration::from_secs(600);

/// A game of 60 plies in which every move is always legal. It begins with a random number, so that no match has the positions
/// of another one.
#[derive(Clone, Copy, Debug)]
struct Line {
    salt: Option<u32>,
    moves: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Letter(u8);

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(b'a' + self.0))
    }
}

impl FromStr for Letter {
    type Err = fmt::Error;

    fn from_str(text: &str) -> std::result::Result<Letter, fmt::Error> {
        match *text.as_bytes() {
            [letter @ b'a'..=b'g'] => Ok(Letter(letter - b'a')),
            _ => Err(fmt::Error),
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct NoOptions {}

#[derive(Serialize)]
struct View {
    moves: u8,
}

impl Game for Line {
    const META: Meta = Meta {
        id: "line",
        title: "Line",
        rules_version: 1,
        seatings: &[Seating::new(2, 2)],
        hidden: false,
        chance: true,
        simultaneous: false,
        draws_by_agreement: false,
        lists_moves: true,
        openings: None,
        amounts: None,
        options: &[],
        reasons: &[],
        rules: "# Line\n",
    };
    type Options = NoOptions;
    type Move = Letter;
    type Fact = NoFact;
    type View<'a> = View;
    type Key = (Option<u32>, u8);
    type Draw = Draw;

    fn start(_: &NoOptions, _: Seating) -> std::result::Result<Line, Wrong> {
        Ok(Line { salt: None, moves: 0 })
    }

    fn turn(&self) -> Turn<Draw> {
        match (self.salt, self.moves) {
            (None, _) => Turn::Draw(Draw::Pick { of: u32::MAX }),
            (_, PLIES) => Turn::Over(Outcome::draw("length")),
            (_, ply) => Turn::Decide(SeatSet::one(Seat(ply % 2))),
        }
    }

    fn turns_left(&self) -> Option<u32> {
        None
    }

    fn legal_moves(&self, _: Seat, out: &mut Vec<Letter>) {
        out.extend((0..7).map(Letter));
    }

    fn play_unchecked(&mut self, _: Seat, _: Letter, _: &mut impl FnMut(NoFact)) {
        self.moves += 1;
    }

    fn view(&self, _: Viewer) -> View {
        View { moves: self.moves }
    }

    fn key(&self) -> (Option<u32>, u8) {
        (self.salt, self.moves)
    }

    fn draw_board(&self, _: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.moves)
    }
}

impl Chance for Line {
    fn settle(&mut self, drawn: &[u32], _: &mut impl FnMut(NoFact)) {
        self.salt = drawn.first().copied();
    }
}

fn main() -> Result<std::process::ExitCode> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bot") => {
            let stdout = std::io::stdout().as_fd().try_clone_to_owned()?;
            instant(std::io::stdin().lock(), std::fs::File::from(stdout), "instant", VIEW_AND_LEGAL)?;
        }
        None | Some("--bench") => bench()?,
        // It is the referee with one more game.
        Some(_) => return Ok(referee::cli::main(referee::games::catalog().with::<Line>())),
    }
    Ok(std::process::ExitCode::SUCCESS)
}

/// Of the game of lines.
const CHANCE: &str = "chance = true\nreasons = [\"length\"]\n";
/// Of chess, whose module has the length of a match as an option.
const OF_CHESS: &str = "reasons = [\"checkmate\", \"stalemate\", \"insufficient_material\", \"repetition\", \"quiet_plies\"]\n\
    openings = 6\n[options.turn_limit]\ndefault = 0\nhelp = \"A draw after so many plies.\"\n";

fn write_game(folder: &Path, name: &str, program: &str, rest: &str) -> Result<String> {
    let directory = folder.join(name);
    std::fs::create_dir(&directory)?;
    let manifest = format!(
        "protocol = 1\nid = \"of_{name}\"\ntitle = \"Bench\"\nversion = 1\n{program}\nseats = 2\n{rest}"
    );
    std::fs::write(directory.join("game.toml"), manifest)?;
    Ok(directory.display().to_string())
}

fn compile(compiler: &str, options: &[&str], source: &Path, program: &Path) -> Result<()> {
    let built = Command::new(compiler).args(options).arg("-o").args([program, source]).status()?;
    if built.success() { Ok(()) } else { Err(format!("{} does not compile", source.display()).into()) }
}

/// Plays this number of matches.
fn play(folder: &Path, game: &str, options: &[&str], matches: u32) -> Result<f64> {
    let this = std::env::current_exe()?.display().to_string();
    let (bot, records) = (format!("'{this}' as-bot"), folder.join("records"));
    let _limit = Limit::new(LIMIT, format!("matches of {game}"));
    let start = Instant::now();
    let output = Command::new(&this)
        .args([
            "play",
            game,
            &bot,
            &bot,
            "--clock",
            "none",
            "--no-fsync",
            "-n",
            &matches.to_string(),
            "--record",
        ])
        .arg(&records)
        .args(options)
        .stdout(Stdio::null())
        .output()?;
    let took = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    std::fs::remove_dir_all(records)?;
    Ok(took)
}

/// Microseconds per decision.
fn decision(folder: &Path, game: &str, options: &[&str], matches: u32) -> Result<f64> {
    let few = matches / MANY_TO_FEW;
    let (less, more) = (play(folder, game, options, few)?, play(folder, game, options, few + matches)?);
    Ok((more - less) * 1e6 / f64::from(matches * u32::from(PLIES)))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn bench() -> Result<()> {
    pin(0)?;
    let folder = tempfile::tempdir()?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/program");
    let in_c = write_game(folder.path(), "c", "command = \"./line\"", CHANCE)?;
    compile("cc", &["-O2"], &sources.join("line.c"), &Path::new(&in_c).join("line"))?;
    let wasm = write_game(folder.path(), "wasm", "wasm = \"line.wasm\"", CHANCE)?;
    let bare = ["--target=wasm32", "-nostdlib", "-O2", "-Wl,--no-entry,-z,stack-size=8192"];
    compile("clang", &bare, &sources.join("wasm.c"), &Path::new(&wasm).join("line.wasm"))?;
    let in_python = write_game(folder.path(), "python", "command = \"python3 line.py\"", CHANCE)?;
    std::fs::copy(sources.join("line.py"), Path::new(&in_python).join("line.py"))?;
    println!("microseconds per decision");
    println!(
        "{:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12}",
        "built in", "wasm", "ratio", "C", "ratio", "Python", "difference"
    );
    let (mut of_wasm, mut of_c, mut differences) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let line = |game| decision(folder.path(), game, &[], MATCHES);
        let built_in = line("line")?;
        let [wasm, c, python] = [&wasm, &in_c, &in_python].map(|game| line(game));
        let (wasm, c, python) = (wasm?, c?, python?);
        println!(
            "{built_in:>10.1} {wasm:>10.1} {:>10.2} {c:>10.1} {:>10.2} {python:>10.1} {:>12.1}",
            wasm / built_in,
            c / built_in,
            python - built_in
        );
        of_wasm.push(wasm / built_in);
        of_c.push(c / built_in);
        differences.push(python - built_in);
    }
    println!("wasm: median ratio {:.2}", median(of_wasm));
    println!("C: median ratio {:.2}", median(of_c));
    println!("Python: median difference {:.1} us", median(differences));
    chess(folder.path())
}

/// Chess of this process, and of a module with the same code.
fn chess(folder: &Path) -> Result<()> {
    const TARGET: &str = "wasm32-unknown-unknown";
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/chess_module");
    let built = Command::new("cargo")
        .args([
            "build",
            "--quiet",
            "--release",
            "--package",
            "referee-chess-module",
            "--target",
            TARGET,
            "--target-dir",
        ])
        .arg(&target)
        .env("RUSTFLAGS", "-Clink-arg=-zstack-size=65536")
        .status()?;
    if !built.success() {
        println!("without chess as a module: `rustup target add {TARGET}`");
        return Ok(());
    }
    let wasm = write_game(folder, "chess", "wasm = \"chess.wasm\"", OF_CHESS)?;
    let module = target.join(TARGET).join("release/referee_chess_module.wasm");
    std::fs::copy(module, Path::new(&wasm).join("chess.wasm"))?;
    println!("{:>10} {:>10} {:>10}", "chess", "wasm", "ratio");
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let built_in = decision(folder, "chess", &CHESS, CHESS_MATCHES)?;
        let wasm = decision(folder, &wasm, &CHESS, CHESS_MATCHES)?;
        println!("{built_in:>10.1} {wasm:>10.1} {:>10.2}", wasm / built_in);
        ratios.push(wasm / built_in);
    }
    println!("chess: median ratio {:.1}", median(ratios));
    Ok(())
}
