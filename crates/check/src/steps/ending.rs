//! The end of the bot's process.

use std::collections::HashSet;
use std::time::Duration;

use referee_game::seat::Seat;
use referee_match::Detail;
use referee_protocol::limits;
use rustix::process::{Pid, Signal, WaitOptions, waitpid};
use tokio::time::Instant;

use crate::context::Context;
use crate::rule::Rule;
use crate::verdict::Stop;

const END: Duration = Duration::from_millis(limits::END_OF_INPUT_MS);
const SIGTERM: Duration = Duration::from_millis(limits::SIGTERM_MS);
/// The time in which the system reparents orphaned processes.
const REPARENTING: Duration = Duration::from_millis(50);
/// The time that the bot and the processes it started have to end, which is enough on a busy machine too.
const LONGEST: Duration = Duration::from_secs(10);

/// Closes the input after a match.
pub(super) async fn end_of_input(context: &mut Context<'_>) -> Result<(), Stop> {
    after_a_match(context).await?;
    end(context, "").await
}

/// Sends `bye`, then closes the input.
pub(super) async fn bye(context: &mut Context<'_>) -> Result<(), Stop> {
    after_a_match(context).await?;
    end(context, "{\"type\":\"bye\",\"reason\":\"the check is over\"}\n").await
}

/// Sends SIGTERM between two matches.
pub(super) async fn sigterm(context: &mut Context<'_>) -> Result<(), Stop> {
    after_a_match(context).await?;
    let Some(mut talk) = context.talk.take() else { return Ok(()) };
    talk.signal(Signal::TERM);
    let how = talk.exited(SIGTERM).await;
    context.stderr = talk.stderr();
    match how {
        Some(how) => context.notes.push(how.to_string()),
        None => context.warnings.push(format!(
            "it goes on after SIGTERM: it would be killed {} ms later ({})",
            limits::SIGTERM_MS,
            Rule::SIGNALS.section
        )),
    }
    Ok(())
}

/// Plays part of a match: some bots start child processes only then.
async fn after_a_match(context: &mut Context<'_>) -> Result<(), Stop> {
    let rules = context.any_game()?;
    let encounter = context.open(rules, rules.meta().seatings[0], Seat(0))?;
    context.play(encounter, Seat(0), 1).await
}

async fn end(context: &mut Context<'_>, last_words: &str) -> Result<(), Stop> {
    let limit = context.check.move_limit;
    let before: HashSet<Pid> = referee_bots::children().collect();
    let Some(mut talk) = context.talk.take() else { return Ok(()) };
    if !last_words.is_empty() {
        talk.send(last_words.as_bytes(), limit).await;
    }
    talk.close();
    let closed = Instant::now();
    let how = talk.exited(LONGEST).await;
    let took = closed.elapsed();
    context.stderr = talk.stderr();
    let Some(how) = how else {
        let wrong = format!("it was still there {} ms after the end of its input", limits::END_OF_INPUT_MS);
        return Err(talk.violation(wrong, Rule::END).into());
    };
    let deadline = Instant::now() + LONGEST;
    let left = loop {
        tokio::time::sleep(REPARENTING).await;
        // A child that has ended remains until it is waited for.
        let has_ended = |child| !matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None));
        let left = referee_bots::children().filter(|child| !before.contains(child) && !has_ended(*child));
        let left = left.count();
        if left == 0 || Instant::now() >= deadline {
            break left;
        }
    };
    if left > 0 {
        let wrong = format!("it ended and left {left} of its processes behind");
        return Err(talk.violation(wrong, Rule::LEFT).into());
    }
    if took > END {
        context.warnings.push(format!(
            "it ended {} ms after the end of its input: after {} ms it would be sent SIGTERM ({})",
            took.as_millis(),
            limits::END_OF_INPUT_MS,
            Rule::END.section
        ));
    }
    if how == Detail::LEFT {
        context.notes.push(how.to_string());
    } else {
        context.warnings.push(format!("it ended with {how} instead of status 0"));
    }
    Ok(())
}
