//! `referee tournament check`: validates a tournament file.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use crate::cli::bots::{block_on, launch};
use crate::cli::exit::{Exit, Failure};
use crate::cli::json::{EntrantCheck, StartStatus, TournamentCheck};
use crate::cli::output::TolerantStdout;
use crate::cli::screen::{Screen, stderr_line};
use crate::cli::signals::interrupted;
use crate::game::chance::Seed;
use crate::game::counted;
use crate::game::json;
use crate::runner::{StartCheck, check_starts};
use crate::runs::config::KnownGames;
use crate::runs::tournament::TournamentConfig;
use crate::sources::BotSpec;
use crate::stats::schedule::{Balance, CountRange, Schedule};

/// The number of final lines of a bot's standard error that are shown.
const LINES: usize = 5;

/// Check a tournament file without playing
///
/// Checks every key, the game and its options, the openings, and the bots' programs and directories. Then it starts
/// each bot and waits for its `hello`. It does not wait for bots that connect. Exit code 1 if a bot does not start or
/// does not play the game. For rotating partners it shows how evenly entrants, sides and seats are mixed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee tournament check cup.toml
  referee tournament check cup.toml --no-start --json")]
pub(super) struct Args {
    /// The file
    config: PathBuf,
    /// Do not start bots
    #[arg(long)]
    no_start: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl EntrantCheck<'_> {
    fn of(entrant: &BotSpec, start: Option<StartCheck>) -> EntrantCheck<'_> {
        let (verdict, what, stderr) = match (entrant.source.connects_as(), start) {
            (Some(name), _) => (StartStatus::Awaited, Some(format!("connects as `{name}`")), String::new()),
            (_, None) => (StartStatus::NotStarted, None, String::new()),
            (_, Some(StartCheck { hello: Err(why), stderr, .. })) => {
                (StartStatus::Fails, Some(why.to_string()), stderr)
            }
            (_, Some(StartCheck { hello: Ok(hello), .. })) => {
                let version = hello.version.map(|version| format!(" {version}"));
                (StartStatus::Starts, Some(hello.name + &version.unwrap_or_default()), String::new())
            }
        };
        EntrantCheck { name: &entrant.name, source: entrant.source.to_string(), verdict, what, stderr }
    }

    fn show(&self, out: &mut impl Write) -> std::io::Result<()> {
        let (name, what) = (self.name, self.what.as_deref().unwrap_or_default());
        match self.verdict {
            StartStatus::Starts => writeln!(out, "  {name}: starts ({what})"),
            StartStatus::Awaited => writeln!(out, "  {name}: awaited, {what}"),
            StartStatus::NotStarted => Ok(()),
            StartStatus::Fails => {
                writeln!(out, "  {name}: does not start: {what}: `{}`", self.source)?;
                let lines: Vec<&str> = self.stderr.lines().collect();
                let last = &lines[lines.len().saturating_sub(LINES)..];
                last.iter().try_for_each(|line| writeln!(out, "    stderr  {line}"))
            }
        }
    }
}

fn show_balance(balance: &Balance, out: &mut impl Write) -> std::io::Result<()> {
    let times = |CountRange { least, most }: CountRange| match least == most {
        true => counted(least, "time", "times"),
        false => format!("{least} to {}", counted(most, "time", "times")),
    };
    let Balance { partners, opponents, sides, seats_of_side, left_neighbours } = *balance;
    for (what, range) in [
        ("two entrants are partners", partners),
        ("two entrants are opponents", opponents),
        ("an entrant has each side", sides),
        ("an entrant has each seat of its side", seats_of_side),
        ("an entrant has each other one in the next seat", left_neighbours),
    ] {
        writeln!(out, "  {what} {}", times(range))?;
    }
    Ok(())
}

pub(super) fn run(args: &Args, games: &KnownGames) -> Result<Exit, Failure> {
    let config = TournamentConfig::read(&args.config)?;
    // The validation does not depend on the seed.
    let seed = config.seed()?.unwrap_or(Seed([0; 32]));
    let rules = config.find_game(&mut games.clone())?;
    let plan = config.plan(rules, None)?;
    let prepared = config.prepare(rules, seed, &plan)?;
    prepared.notices.iter().for_each(stderr_line);
    let schedule = Schedule::new(plan).map_err(Failure::usage)?;
    let mut starts = Vec::new();
    if !args.no_start {
        let hello_limit = Duration::from_millis(prepared.run.terms.hello_ms);
        let checking = check_starts(&prepared.entrants, prepared.rules, launch()?, hello_limit);
        let checked = block_on(async {
            tokio::select! {
                starts = checking => Some(starts),
                () = interrupted() => None,
            }
        })?;
        let Some(checked) = checked else { return Ok(Exit::Interrupted) };
        starts = checked.map_err(Failure::cannot_run)?;
    }
    let mut check = |(index, entrant)| {
        let start = starts.iter().position(|start| start.entrant == index).map(|at| starts.swap_remove(at));
        EntrantCheck::of(entrant, start)
    };
    let checked = TournamentCheck {
        name: config.title(rules.meta().id),
        game: rules.meta().id,
        matches: schedule.most_matches(),
        balance: schedule.balance(),
        entrants: prepared.entrants.iter().enumerate().map(&mut check).collect(),
    };
    let fails = checked.entrants.iter().any(|entrant| entrant.verdict == StartStatus::Fails);
    let mut out = Screen(TolerantStdout::new());
    if args.json {
        writeln!(out, "{}", json::text(&checked))?;
    } else {
        let most = if schedule.plan().format.is_final() { "at most " } else { "" };
        let (title, matches) = (checked.name, checked.matches);
        let entrants = schedule.plan().entrants.len();
        writeln!(out, "{title}: {entrants} entrants, {most}{}", counted(matches, "match", "matches"))?;
        checked.balance.iter().try_for_each(|balance| show_balance(balance, &mut out))?;
        checked.entrants.iter().try_for_each(|entrant| entrant.show(&mut out))?;
    }
    out.0.end(if fails { Exit::No } else { Exit::Done })
}
