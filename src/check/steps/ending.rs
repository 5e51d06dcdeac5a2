//! How the bot ends.

use std::collections::HashSet;
use std::time::Duration;

use referee_protocol::limits;
use rustix::process::{Pid, Signal};

use crate::bot;
use crate::check::desk::Desk;
use crate::check::rule::Rule;
use crate::check::verdict::Stop;
use crate::core::seat::Seat;

const END: Duration = Duration::from_millis(limits::END_OF_INPUT_MS);
const SIGTERM: Duration = Duration::from_millis(limits::SIGTERM_MS);
/// How long the system may take to hand over what a process left behind.
const MOMENT: Duration = Duration::from_millis(50);

/// Its input ends after a match.
pub(super) async fn end_of_input(desk: &mut Desk<'_>) -> Result<(), Stop> {
    after_a_match(desk).await?;
    end(desk, "").await
}

/// `bye`, then the end of its input.
pub(super) async fn bye(desk: &mut Desk<'_>) -> Result<(), Stop> {
    after_a_match(desk).await?;
    end(desk, "{\"type\":\"bye\",\"reason\":\"the check is over\"}\n").await
}

/// SIGTERM between two matches.
pub(super) async fn sigterm(desk: &mut Desk<'_>) -> Result<(), Stop> {
    after_a_match(desk).await?;
    let Some(mut talk) = desk.talk.take() else { return Ok(()) };
    talk.signal(Signal::TERM);
    let how = talk.exited(SIGTERM).await;
    desk.stderr = talk.stderr();
    match how {
        Some(how) => desk.notes.push(how),
        None => desk.warnings.push(format!(
            "it goes on after SIGTERM: it would be killed {} ms later ({})",
            limits::SIGTERM_MS,
            Rule::SIGNALS.section
        )),
    }
    Ok(())
}

/// A process that has played: some leave something behind only then.
async fn after_a_match(desk: &mut Desk<'_>) -> Result<(), Stop> {
    let rules = desk.any_game()?;
    let encounter = desk.open(rules, rules.meta().seatings[0], Seat(0))?;
    desk.play(encounter, Seat(0), 1).await
}

async fn end(desk: &mut Desk<'_>, last_words: &str) -> Result<(), Stop> {
    let limit = desk.check.move_limit;
    let before: HashSet<Pid> = bot::children().collect();
    let Some(mut talk) = desk.talk.take() else { return Ok(()) };
    if !last_words.is_empty() {
        talk.say(last_words.as_bytes(), limit).await;
    }
    talk.close();
    let how = talk.exited(END).await;
    desk.stderr = talk.stderr();
    let Some(how) = how else {
        let wrong = format!("it was still there {} ms after the end of its input", limits::END_OF_INPUT_MS);
        return Err(talk.complain(wrong, Rule::END).into());
    };
    tokio::time::sleep(MOMENT).await;
    let left = bot::children().filter(|child| !before.contains(child)).count();
    if left > 0 {
        let wrong = format!("it ended and left {left} of its processes behind");
        return Err(talk.complain(wrong, Rule::LEFT).into());
    }
    if how == "status 0" {
        desk.notes.push(how);
    } else {
        desk.warnings.push(format!("it ended with {how} instead of status 0"));
    }
    Ok(())
}
