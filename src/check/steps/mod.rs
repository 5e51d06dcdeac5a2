//! The steps, one file a noun, and their order.

mod delivery;
mod ending;
mod games;
mod greeting;
mod offers;
mod refusals;
mod succession;

use std::time::Duration;

use tokio::time::Instant;

use crate::bot::Command;
use crate::check::desk::Desk;
use crate::check::manner::Manner;
use crate::check::verdict::{Outcome, Stop, Verdict};
use crate::core::erased::Rules;

/// What is checked.
pub struct Check {
    /// The bot.
    pub command: Command,
    /// The one game to check it in; none: all that it plays.
    pub game: Option<&'static dyn Rules>,
    /// How long it has for a decision.
    pub move_limit: Duration,
    /// From its start to `hello`.
    pub hello_limit: Duration,
    /// For its first `ready`.
    pub ready_limit: Duration,
}

/// Something to find out.
#[derive(Clone, Copy)]
enum Step {
    StartUp,
    Hello,
    FirstMatch,
    Match(&'static dyn Rules),
    Decisions(&'static dyn Rules),
    Delivery(&'static str, Manner),
    Errors,
    Retry,
    DrawOffers,
    SecondMatch,
    BrokenOff,
    Slots,
    Time,
    EndOfInput,
    Bye,
    Sigterm,
}

/// What a bot has to manage before anything else makes sense.
const FIRST: [Step; 3] = [Step::StartUp, Step::Hello, Step::FirstMatch];

/// What does not depend on the game.
const GENERAL: [Step; 18] = [
    Step::Delivery("unknown fields", Manner::UnknownFields),
    Step::Delivery("unknown messages", Manner::UnknownMessages),
    Step::Delivery("ping", Manner::Pings),
    Step::Delivery("joined writes", Manner::Joined),
    Step::Delivery("split writes", Manner::Split),
    Step::Delivery("slow delivery", Manner::Slow),
    Step::Delivery("CRLF", Manner::Crlf),
    Step::Delivery("large views", Manner::Large),
    Step::Errors,
    Step::Retry,
    Step::DrawOffers,
    Step::SecondMatch,
    Step::BrokenOff,
    Step::Slots,
    Step::Time,
    Step::EndOfInput,
    Step::Bye,
    Step::Sigterm,
];

impl Step {
    fn name(self) -> String {
        match self {
            Step::StartUp => "start-up".to_owned(),
            Step::Hello => "hello".to_owned(),
            Step::FirstMatch => "first match".to_owned(),
            Step::Match(rules) => format!("{}: whole matches", rules.meta().id),
            Step::Decisions(rules) => format!("{}: kinds of decisions", rules.meta().id),
            Step::Delivery(name, _) => name.to_owned(),
            Step::Errors => "errors".to_owned(),
            Step::Retry => "retry".to_owned(),
            Step::DrawOffers => "draw offers".to_owned(),
            Step::SecondMatch => "second match".to_owned(),
            Step::BrokenOff => "match broken off".to_owned(),
            Step::Slots => "slots".to_owned(),
            Step::Time => "time".to_owned(),
            Step::EndOfInput => "end of input".to_owned(),
            Step::Bye => "bye".to_owned(),
            Step::Sigterm => "SIGTERM".to_owned(),
        }
    }

    async fn take(self, desk: &mut Desk<'_>) -> Result<(), Stop> {
        match self {
            Step::StartUp => greeting::start_up(desk).await,
            Step::Hello => greeting::hello(desk),
            Step::FirstMatch => games::first_match(desk).await,
            Step::Match(rules) => games::whole_matches(desk, rules).await,
            Step::Decisions(rules) => games::decisions(desk, rules).await,
            Step::Delivery(_, manner) => delivery::in_manner(desk, manner).await,
            Step::Errors => refusals::errors(desk).await,
            Step::Retry => refusals::retry(desk).await,
            Step::DrawOffers => offers::draw_offers(desk).await,
            Step::SecondMatch => succession::second_match(desk).await,
            Step::BrokenOff => succession::broken_off(desk).await,
            Step::Slots => succession::slots(desk).await,
            Step::Time => {
                desk.judge_time();
                Ok(())
            }
            Step::EndOfInput => ending::end_of_input(desk).await,
            Step::Bye => ending::bye(desk).await,
            Step::Sigterm => ending::sigterm(desk).await,
        }
    }
}

impl Check {
    /// Takes all steps, and tells each when it is done.
    ///
    /// # Errors
    /// When the bot cannot be started at all.
    pub async fn run(&self, mut tell: impl FnMut(&Outcome)) -> Result<Vec<Outcome>, String> {
        let mut desk = Desk::new(self);
        let mut outcomes = Vec::new();
        for step in FIRST {
            let outcome = take(&mut desk, step).await?;
            tell(&outcome);
            let has_failed = outcome.verdict == Verdict::Failed;
            outcomes.push(outcome);
            if has_failed {
                return Ok(outcomes);
            }
        }
        let of_games =
            desk.games().into_iter().flat_map(|rules| [Step::Match(rules), Step::Decisions(rules)]);
        for step in of_games.chain(GENERAL) {
            let outcome = take(&mut desk, step).await?;
            tell(&outcome);
            outcomes.push(outcome);
        }
        if let Some(talk) = desk.talk.take() {
            talk.finish().await;
        }
        Ok(outcomes)
    }
}

async fn take(desk: &mut Desk<'_>, step: Step) -> Result<Outcome, String> {
    let began = Instant::now();
    let mut result = step.take(desk).await;
    if result.is_ok() {
        result = desk.quiet().await;
    }
    let mut notes = std::mem::take(&mut desk.notes);
    let warnings = std::mem::take(&mut desk.warnings);
    let verdict = if warnings.is_empty() { Verdict::Passed } else { Verdict::Warned };
    notes.extend(warnings);
    let (verdict, complaint) = match result {
        Ok(()) => (verdict, None),
        Err(Stop::Failed(complaint)) => (Verdict::Failed, Some(*complaint)),
        Err(Stop::Skipped(why)) => {
            notes.push(why);
            (Verdict::Skipped, None)
        }
        Err(Stop::CannotRun(why)) => return Err(why),
    };
    let stderr = desk.take_stderr();
    if verdict == Verdict::Failed {
        // What it does next tells nothing: the next step gets a new process.
        desk.talk = None;
    }
    let took_ms = began.elapsed().as_millis() as u64;
    Ok(Outcome { step: step.name(), verdict, notes, complaint, took_ms, stderr })
}
