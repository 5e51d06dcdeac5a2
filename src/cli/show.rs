//! `referee show`: recorded matches as text, as a picture, and as a page that plays them.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::files::{OutputOptions, expand, read};
use crate::cli::find_game::{ReplayOptions, check_rules, of_changed_files};
#[cfg(feature = "http")]
use crate::cli::follow;
use crate::cli::output::{has_colours, stdout};
use crate::cli::screen::stderr_line;
use crate::game::printable::printable;
use crate::game::{Catalog, Chain, Seat, Viewer};
use crate::record::{BotLine, Difference, Playback, changed_files};
use crate::report::replay::{MatchReplay, marked, page, svg};
use crate::report::{Scoresheet, ending_in_words};

/// Print recorded matches with boards, or write a page that plays them
///
/// Without --html and --svg, it prints the moves, faults and boards of each match, and what its bots wrote to standard
/// error. The page of --html is one file without references to others. It plays, steps and jumps; shows clocks, faults
/// and what bots said about their search; and shows the match as each seat saw it.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee show records/m1.jsonl
  referee show records/m1.jsonl --view 0 | less
  referee show records/m1.jsonl --step --turn 20
  referee show records --html -o matches.html
  referee show records/m1.jsonl --game examples/games/connect_four
  referee show records/m1.jsonl --svg --turn 12 -o m1-12.svg
  referee show --follow http://127.0.0.1:8080/matches/m1

A page takes addresses such as matches.html#t=57 (after 57 moves), matches.html#m=2&t=57 (of the second match) and
matches.html?embed (only the board and the controls).")]
pub(super) struct Args {
    /// Records, or folders of them
    #[arg(required_unless_present = "follow", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    replay: ReplayOptions,
    /// The viewer: `all` (everything), `public` (a spectator) or the number of a seat; on a page, the initial view
    #[arg(long, value_name = "VIEWER", default_value = "all", value_parser = viewer)]
    view: Viewer,
    /// Begin after this many moves; with --svg, draw this position instead of the last one
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// Wait for Enter after each position; a number jumps to that turn, `b` goes back, `f` to the next fault, `q` quits
    #[arg(long, conflicts_with_all = ["html", "svg"])]
    step: bool,
    /// Write a page that plays the matches
    #[arg(long, conflicts_with = "svg")]
    html: bool,
    /// Write a picture of one position
    #[arg(long)]
    svg: bool,
    /// Print a match in progress instead, from the server of --watch: the URL of its page, or of the start page for the
    /// first match
    #[arg(long, value_name = "URL", conflicts_with_all = ["files", "html", "svg", "step", "turn", "view"])]
    follow: Option<String>,
    #[command(flatten)]
    output: OutputOptions,
}

fn viewer(text: &str) -> anyhow::Result<Viewer> {
    match text {
        "all" => Ok(Viewer::Omniscient),
        "public" => Ok(Viewer::Public),
        _ => text.parse().map(|seat| Viewer::Seat(Seat(seat))).map_err(|_| {
            anyhow::anyhow!("invalid viewer `{text}`; expected `all`, `public` or the number of a seat")
        }),
    }
}

/// The failure of a record that is not valid.
fn invalid(path: &Path) -> impl Fn(Difference) -> Failure {
    move |difference| Failure {
        exit: Exit::No,
        error: anyhow::anyhow!("{}: {}", path.display(), Chain(&difference)),
    }
}

/// Opens a record, checked against the catalog, for a viewer.
fn open<'a>(path: &Path, record: &'a [u8], view: Viewer, catalog: &Catalog) -> Result<Playback<'a>, Failure> {
    check_rules(path, record, catalog)?;
    if let Some(changed) = of_changed_files(&changed_files(record, catalog)) {
        stderr_line(format_args!("{}: {changed}", path.display()));
    }
    let mut playback = Playback::open(record, catalog).map_err(invalid(path))?;
    let seats = playback.setup().header.seats.len();
    match view {
        Viewer::Seat(seat) if seat.index() >= seats => {
            Err(Failure::usage(format!("--view {seat}: the seats are 0 to {}", seats - 1)))
        }
        _ => Ok(playback),
    }
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    if args.output.is_file() && !args.html && !args.svg {
        return Err(Failure::usage("--output needs --html or --svg"));
    }
    if let Some(url) = &args.follow {
        #[cfg(feature = "http")]
        return follow::follow(url);
        #[cfg(not(feature = "http"))]
        return Err(Failure::usage(format!(
            "--follow {url}: this program was built without HTTP: `cargo install --features http`"
        )));
    }
    let catalog = &args.replay.catalog(catalog)?;
    let files = expand(&args.files, &["jsonl", "html"])?;
    if args.html {
        let mut replays = Vec::new();
        for file in &files {
            let record = read(file)?;
            open(file, &record, args.view, catalog)?;
            replays.push(Playback::open(&record, catalog).and_then(MatchReplay::of).map_err(invalid(file))?);
        }
        args.output.write(page(&replays, args.view, args.turn).as_bytes())?;
    } else if args.svg {
        let [file] = &files[..] else {
            return Err(Failure::usage(format!("--svg draws one record, not {}", files.len())));
        };
        args.output.write(picture(file, args, catalog)?.as_bytes())?;
    } else {
        for (n, file) in files.iter().enumerate() {
            if n > 0 {
                writeln!(stdout())?;
            }
            print(file, args, catalog)?;
        }
    }
    Ok(Exit::Done)
}

fn picture(path: &Path, args: &Args, catalog: &Catalog) -> Result<String, Failure> {
    let record = read(path)?;
    let mut playback = open(path, &record, args.view, catalog)?;
    let header = playback.setup().header.clone();
    let (mut before, mut scene, mut moves) = (None, None, 0);
    while let Some(step) = playback.step().map_err(invalid(path))? {
        if args.turn.is_none_or(|turn| moves < turn || scene.is_none())
            && (scene.is_none() || moves < step.moves)
        {
            before = scene.replace(step.table.scene(args.view));
            moves = step.moves;
        }
    }
    let scene = scene.unwrap_or_else(|| unreachable!("a match has a first position"));
    let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
    let changed = of_changed_files(&changed_files(&record, catalog)).map(|changed| format!(" ({changed})"));
    let title = format!(
        "{} {}: {}, after move {moves}{}",
        header.r#match,
        header.game,
        names.join(" - "),
        changed.unwrap_or_default()
    );
    Ok(svg(&marked(before.as_ref(), scene), &title))
}

struct ShownStep {
    moves: u32,
    has_fault: bool,
    text: Vec<u8>,
}

fn print(path: &Path, args: &Args, catalog: &Catalog) -> Result<(), Failure> {
    let record = read(path)?;
    let mut playback = open(path, &record, args.view, catalog)?;
    let header = playback.setup().header.clone();
    let mut scoresheet = Scoresheet::new(args.view, has_colours());
    let first = args.turn.unwrap_or(0);
    let mut out = stdout();
    let names: Vec<&str> = header.seats.iter().map(|seat| seat.name.as_str()).collect();
    let title = format!("{} {}: {}", header.r#match, header.game, names.join(" - "));
    writeln!(out, "{}", printable(&title))?;
    if let Some(changed) = of_changed_files(&changed_files(&record, catalog)) {
        writeln!(out, "{}", printable(&changed))?;
    }
    let mut kept = Vec::new();
    while let Some(step) = playback.step().map_err(invalid(path))? {
        let mut text = Vec::new();
        scoresheet.step(&mut text, &header, &step)?;
        if args.step {
            let has_fault = scoresheet.has_fault(&step);
            kept.push(ShownStep { moves: step.moves, has_fault, text });
        } else if step.moves >= first {
            out.write_all(&text)?;
        }
    }
    if args.step && !step_through(&mut out, &kept, first)? {
        return Ok(());
    }
    if let Some(ending) = playback.ending() {
        let ranks = ending.ranks.as_ref().map(|ranks| format!(", ranks {ranks:?}")).unwrap_or_default();
        let amounts = ending.amounts.as_ref().map(|of| format!(", amounts {of:?}")).unwrap_or_default();
        let game = catalog.find(&header.game).ok().map(|rules| rules.meta());
        let how = ending_in_words(game, ending.ended_by.as_str(), &ending.reason);
        writeln!(out, "ended: {}{ranks}{amounts}", printable(&how))?;
    }
    // A bot's standard error may reveal secrets of its seat.
    let is_shown = |seat| args.view == Viewer::Omniscient || args.view == Viewer::Seat(seat);
    for BotLine { seat, stderr, .. } in
        playback.bots().bots.iter().filter(|bot| is_shown(bot.seat) && !bot.stderr.is_empty())
    {
        let name = header.seats.get(seat.index()).map_or("", |seat| &seat.name);
        writeln!(out, "\nstandard error of {}:", printable(name))?;
        for line in stderr.lines() {
            writeln!(out, "  {}", printable(line))?;
        }
    }
    Ok(())
}

/// Prints steps as the lines of standard input ask for them. Returns whether the end was reached.
fn step_through(out: &mut impl Write, steps: &[ShownStep], first: u32) -> Result<bool, Failure> {
    let after = |moves: u32| steps.iter().position(|step| step.moves >= moves).unwrap_or(steps.len() - 1);
    let mut at = after(first);
    let mut input = std::io::stdin().lock();
    loop {
        out.write_all(&steps[at].text)?;
        write!(out, "{} of {} > ", steps[at].moves, steps.last().map_or(0, |last| last.moves))?;
        out.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(out)?;
            return Ok(false);
        }
        match line.trim() {
            "" if at + 1 == steps.len() => return Ok(true),
            "" => at += 1,
            "b" => at = at.saturating_sub(1),
            "f" => match steps[at + 1..].iter().position(|step| step.has_fault) {
                Some(ahead) => at += 1 + ahead,
                None => writeln!(out, "there is no later fault")?,
            },
            "q" => return Ok(false),
            turn => match turn.parse() {
                Ok(moves) => at = after(moves),
                Err(_) => writeln!(out, "Enter: next, a number: that turn, b: back, f: next fault, q: quit")?,
            },
        }
    }
}
