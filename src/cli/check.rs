//! `referee check`: tests whether a bot conforms to the protocol.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args as ClapArgs;

use crate::bot::{Command, Dialect, EngineCommand};
use crate::check::{Check, StepResult, StepVerdict, Violation};
use crate::cli::bots::{block_on, launch};
use crate::cli::exit::{Exit, Failure};
use crate::cli::files::OutFile;
use crate::cli::find_game::find_game;
use crate::cli::json::CheckSummary;
use crate::cli::output::TolerantStdout;
use crate::cli::sandbox::SandboxOptions;
use crate::cli::screen::{Screen, stderr_line};
use crate::cli::signals::interrupted;
use crate::cli::submitted::Submission;
use crate::game::{Catalog, counted, json};
use crate::report::{JunitStep, StepStatus, junit, table};
use crate::runs::config::{Milliseconds, ReadyLimits};
use crate::runs::submissions::BOT_FILE;

/// The number of final lines of a bot's standard error that are shown per step.
const LINES: usize = 10;
/// The number of first lines of it that are shown before.
const FIRST_LINES: usize = 5;

/// Test whether a bot conforms to the protocol, step by step
///
/// Starts the bot and exercises it: start-up, whole matches and every kind of decision of each game that it plays,
/// unknown fields and messages, split, joined and slow writes, requests of maximum length, errors and retries, draw
/// offers, concurrent matches, and termination. A failed step is shown with what was sent, what came back, and the
/// violated sentence of the specification. Exit code 1 if a step failed, 5 if the bot cannot be started.
///
/// A directory with a `bot.toml` is tested as a league does it to which it is handed in: packed, unpacked elsewhere, built and
/// started from there, in the sandbox `strict`; standard error names the layers of it that this machine lacks. A build that fails
/// is exit code 1, too.
#[derive(Debug, ClapArgs)]
#[command(
    override_usage = "referee check [OPTIONS] [GAME] <BOT | DIR>",
    after_help = "Examples:
  referee check 'python3 mybot.py'
  referee check checkers ./bot --move-limit 500ms
  referee check ./mybot/
  referee check ./bot --reconnect
  referee check ./bot --json
  referee check ./bot --junit report.xml"
)]
pub(super) struct Args {
    /// The only game to test [default: every game that the bot plays], and the bot: a command line in one argument,
    /// split as a shell would and run without a shell, or a directory with a `bot.toml`
    #[arg(required = true, num_args = 1..=2, value_name = "[GAME] BOT")]
    bot: Vec<String>,
    /// The time limit of a decision; more than half of it is a warning
    #[arg(long, value_name = "TIME", default_value = "5s")]
    move_limit: Milliseconds,
    /// The time limit from start to `hello`
    #[arg(long, value_name = "TIME", default_value = "10s")]
    hello_limit: Milliseconds,
    /// The time limits of the first `ready` and of later ones [default of LATER: 5s, but at most FIRST]
    #[arg(long, visible_alias = "ready", value_name = "FIRST[,LATER]", default_value = "60s")]
    ready_limit: ReadyLimits,
    /// Send requests without the list of legal moves: the bot has to know the rules
    #[arg(long)]
    hide_legal: bool,
    /// Also start the bot with the arguments `--connect HOST:PORT` and a token in REFEREE_TOKEN, cut its connection in a
    /// match, and expect it to connect again and play on
    #[arg(long)]
    reconnect: bool,
    /// One JSON object per line: each step, then the summary
    #[arg(long)]
    json: bool,
    /// Write the steps to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    #[command(flatten)]
    sandbox: SandboxOptions,
}

fn junit_step(outcome: &StepResult) -> JunitStep<'_> {
    let StepResult { step, verdict, notes, violation, took_ms, stderr } = outcome;
    let status = match (verdict, violation) {
        (StepVerdict::Passed | StepVerdict::Warned, _) => StepStatus::Passed,
        (StepVerdict::Skipped, _) => StepStatus::Skipped(notes.join("; ")),
        (StepVerdict::Failed, violation) => {
            let message = violation.as_ref().map(|violation| violation.wrong.clone());
            let description = violation.as_ref().map(ToString::to_string);
            StepStatus::Failed {
                message: message.unwrap_or_default(),
                description: description.unwrap_or_default(),
            }
        }
    };
    let (took, notes) = (Duration::from_millis(*took_ms), notes.join("\n"));
    JunitStep { name: step, status, took, notes, stderr }
}

impl CheckSummary {
    fn of(bot: &Command, outcomes: &[StepResult]) -> CheckSummary {
        let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
        CheckSummary {
            bot: bot.to_string(),
            passed: count(StepVerdict::Passed),
            warned: count(StepVerdict::Warned),
            failed: count(StepVerdict::Failed),
            skipped: count(StepVerdict::Skipped),
        }
    }
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (game, catalog, command) = match &args.bot[..] {
        [game, command] => {
            let (rules, catalog) = find_game(game, catalog)?;
            if !rules.meta().lists_moves {
                let id = rules.meta().id;
                return Err(Failure::usage(format!(
                    "{id} does not list its moves, which the check needs: play a match"
                )));
            }
            (Some(rules), catalog, command)
        }
        words => (None, catalog.clone(), &words[0]),
    };
    let place = tempfile::tempdir().map_err(Failure::cannot_run)?;
    let command = match Path::new(command).join(BOT_FILE).is_file() {
        true => {
            let sandbox = args.sandbox.strict()?;
            let submission = Submission::open(Path::new(command))?;
            match submission.build(place.path(), &place.path().join("bot"), &sandbox) {
                Err(refused) if refused.exit == Exit::No => {
                    stderr_line(refused);
                    return Ok(Exit::No);
                }
                built => built?.command,
            }
        }
        false => {
            let mut command: Command = command.parse().map_err(Failure::usage)?;
            args.sandbox.apply([&mut command])?;
            command
        }
    };
    let (game, catalog) = match (game, EngineCommand::of(&command.argv).ok().flatten()) {
        // An engine plays the games of its dialect, which it does not name.
        (None, Some(EngineCommand { dialect, .. })) => {
            let id = match dialect {
                Dialect::Uci | Dialect::Xboard => "chess",
                Dialect::Hub => "checkers",
                Dialect::Usi | Dialect::Gtp => {
                    let word = dialect.word();
                    let what = format!(
                        "name the game: `referee check GAME {word}:...`, such as the directory of one"
                    );
                    return Err(Failure::usage(what));
                }
            };
            let (rules, catalog) = find_game(id, &catalog)?;
            (Some(rules), catalog)
        }
        (game, _) => (game, catalog),
    };
    if args.move_limit == Milliseconds(0) {
        return Err(Failure::usage("--move-limit 0 leaves no time for an answer"));
    }
    // A file that cannot be written is reported before the bot runs for minutes.
    let junit_file = args.junit.as_deref().map(|path| OutFile::create("--junit", path)).transpose()?;
    let check = Check {
        command,
        launch: launch()?,
        catalog,
        game,
        move_limit: args.move_limit.duration(),
        hello_limit: args.hello_limit.duration(),
        ready_limit: Duration::from_millis(args.ready_limit.first_ms),
        later_ready_limit: Duration::from_millis(args.ready_limit.later_ms),
        hide_legal: args.hide_legal,
        reconnects: args.reconnect,
    };
    let mut out = Screen(TolerantStdout::new());
    let is_live = !args.json && io::stderr().is_terminal();
    let on_outcome = |outcome: &StepResult| {
        if args.json {
            // `TolerantStdout` keeps the error until the end.
            let _ = writeln!(out, "{}", json::text(outcome));
        } else if is_live {
            stderr_line(format_args!("{} {}", outcome.step, outcome.verdict.as_str()));
        }
    };
    let done = block_on(async {
        tokio::select! {
            outcomes = check.run(on_outcome) => Some(outcomes),
            () = interrupted() => None,
        }
    })?;
    let Some(outcomes) = done else { return Ok(Exit::Interrupted) };
    let outcomes = outcomes.map_err(Failure::cannot_run)?;
    if let Some(file) = junit_file {
        let bot = check.command.to_string();
        file.write(|file| junit(&bot, outcomes.iter().map(junit_step), file))?;
    }
    let summary = CheckSummary::of(&check.command, &outcomes);
    if args.json {
        writeln!(out, "{}", json::text(&summary))?;
    } else {
        show(&mut out, &outcomes, &summary)?;
    }
    out.0.end(if summary.failed > 0 { Exit::No } else { Exit::Done })
}

/// Prints a table of the steps, then the violations.
fn show(out: &mut impl Write, outcomes: &[StepResult], summary: &CheckSummary) -> io::Result<()> {
    let row = |outcome: &StepResult| {
        let wrong = outcome.violation.iter().map(|violation| violation.wrong.clone());
        let what: Vec<String> = wrong.chain(outcome.notes.iter().cloned()).collect();
        let time = format!("{:.2} s", Duration::from_millis(outcome.took_ms).as_secs_f64());
        vec![outcome.step.clone(), outcome.verdict.as_str().to_owned(), time, what.join("; ")]
    };
    writeln!(
        out,
        "{}",
        table(&["step", "", "time", ""], outcomes.iter().map(row).collect(), 2..3).trim_fmt()
    )?;
    // The output of a bot in steps that it passes is in the other reports.
    for outcome in outcomes.iter().filter(|outcome| outcome.verdict != StepVerdict::Passed) {
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        if outcome.violation.is_none() && lines.is_empty() {
            continue;
        }
        writeln!(out)?;
        match &outcome.violation {
            Some(violation) => writeln!(out, "{}: {violation}", outcome.step)?,
            None => writeln!(out, "{}: {}", outcome.step, outcome.verdict.as_str())?,
        }
        // The first lines or the last ones say what went wrong, depending on the language.
        let (first, last) = lines.split_at(FIRST_LINES.min(lines.len()));
        let (left_out, last) = last.split_at(last.len().saturating_sub(LINES));
        let lines_left_out = (!left_out.is_empty())
            .then(|| format!("... {} left out", counted(left_out.len() as u64, "line", "lines")));
        let shown = first.iter().copied().chain(lines_left_out.as_deref()).chain(last.iter().copied());
        for line in shown {
            writeln!(out, "  stderr  {line}")?;
        }
    }
    if let Some(Violation { rule, .. }) = outcomes.iter().find_map(|outcome| outcome.violation.as_ref()) {
        writeln!(out, "\nPrint a cited section with e.g. `referee spec {}`", rule.section)?;
    }
    let CheckSummary { passed, warned, failed, skipped, .. } = summary;
    writeln!(out, "\n{passed} passed, {warned} with a warning, {failed} failed, {skipped} skipped")
}
