//! The check of a bot on the ladders of a league.

use std::collections::BTreeSet;
use std::time::Duration;

use referee_bots::{Command, Launch};
use referee_check::{Check, StepResult, StepVerdict};
use referee_game::erased::Rules;
use referee_game::{Catalog, Chain, Wrong};
use tokio::time::timeout;

use super::SubmissionLog;

/// The number of final lines of a bot's standard error that the log has for each step.
const LINES: usize = 10;

/// A ladder on which a bot is checked: its game and its limits of time.
#[derive(Clone, Debug)]
pub struct CheckedLadder {
    pub name: String,
    pub rules: &'static dyn Rules,
    pub catalog: Catalog,
    /// The limit of a decision: the first one of a match.
    pub move_limit: Duration,
    /// Timeout for `hello`, from the start.
    pub hello_limit: Duration,
    /// Timeout for the first `ready`.
    pub ready_limit: Duration,
    /// Timeout for `ready` in later matches.
    pub later_ready_limit: Duration,
}

/// The verdict on a bot on a ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LadderVerdict {
    Passed,
    /// The bot does not play the game.
    OtherGames,
    /// The bot violates the specification, or does not end.
    Failed,
}

/// Checks a bot on all ladders whose games it plays. Returns their names.
///
/// # Errors
/// If it fails on one, or plays none of the games.
pub async fn check_all(
    command: &Command,
    launch: &Launch,
    ladders: &[CheckedLadder],
    most_time: Duration,
    log: &mut SubmissionLog,
) -> Result<BTreeSet<String>, Wrong> {
    let mut passed = BTreeSet::new();
    for ladder in ladders {
        match check(command, launch, ladder, most_time, log).await {
            LadderVerdict::Passed => drop(passed.insert(ladder.name.clone())),
            LadderVerdict::OtherGames => {}
            LadderVerdict::Failed => return Err("the bot did not pass the check".into()),
        }
    }
    if passed.is_empty() { Err("the bot plays no game of this league".into()) } else { Ok(passed) }
}

/// Checks a bot on a ladder, as `referee check` does, and reports to the log. A game that does not list its moves is not
/// checked.
pub async fn check(
    command: &Command,
    launch: &Launch,
    ladder: &CheckedLadder,
    most_time: Duration,
    log: &mut SubmissionLog,
) -> LadderVerdict {
    let what = format!("check on ladder {} ({})", ladder.name, ladder.rules.meta().id);
    check_as(&what, command, launch, ladder, most_time, log).await
}

/// Checks as [`check`] does, under another heading in the log.
pub(crate) async fn check_as(
    what: &str,
    command: &Command,
    launch: &Launch,
    ladder: &CheckedLadder,
    most_time: Duration,
    log: &mut SubmissionLog,
) -> LadderVerdict {
    let game = ladder.rules.meta();
    if !game.lists_moves {
        log.line(format_args!("{what}: the game does not list its moves, which the check needs"));
        return LadderVerdict::Passed;
    }
    let check = Check {
        command: command.clone(),
        launch: launch.clone(),
        catalog: ladder.catalog.clone(),
        game: Some(ladder.rules),
        move_limit: ladder.move_limit,
        hello_limit: ladder.hello_limit,
        ready_limit: ladder.ready_limit,
        later_ready_limit: ladder.later_ready_limit,
        hide_legal: false,
        reconnects: false,
    };
    let mut last = None;
    let checked = timeout(most_time, check.run(|outcome| last = Some(outcome.step.clone()))).await;
    let outcomes = match checked {
        Ok(Ok(outcomes)) => outcomes,
        Ok(Err(why)) => {
            log.line(format_args!("{what}: {}", Chain(&why)));
            return LadderVerdict::Failed;
        }
        Err(_) => {
            let after =
                last.map_or_else(|| "before its first step".to_owned(), |step| format!("after `{step}`"));
            let limit = humantime::format_duration(most_time);
            log.line(format_args!("{what}: it took longer than {limit}, the limit; it was {after}"));
            return LadderVerdict::Failed;
        }
    };
    if outcomes
        .iter()
        .any(|outcome| outcome.violation.as_ref().is_some_and(|violation| violation.rule.is_about_games()))
    {
        log.line(format_args!("{what}: the bot does not play this game"));
        return LadderVerdict::OtherGames;
    }
    report(what, &outcomes, log);
    let has_failed = outcomes.iter().any(|outcome| outcome.verdict == StepVerdict::Failed);
    if has_failed { LadderVerdict::Failed } else { LadderVerdict::Passed }
}

fn report(what: &str, outcomes: &[StepResult], log: &mut SubmissionLog) {
    for outcome in outcomes {
        if matches!(outcome.verdict, StepVerdict::Passed | StepVerdict::Skipped) {
            continue;
        }
        match &outcome.violation {
            Some(violation) => log.line(format_args!("{}: {violation}", outcome.step)),
            None => log.line(format_args!("{}: {}", outcome.step, outcome.verdict.as_str())),
        }
        outcome.notes.iter().for_each(|note| log.line(format_args!("  {note}")));
        let lines: Vec<&str> = outcome.stderr.lines().collect();
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            log.line(format_args!("  stderr  {line}"));
        }
    }
    let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
    log.line(format_args!(
        "{what}: {} passed, {} with a warning, {} failed, {} skipped",
        count(StepVerdict::Passed),
        count(StepVerdict::Warned),
        count(StepVerdict::Failed),
        count(StepVerdict::Skipped)
    ));
}
