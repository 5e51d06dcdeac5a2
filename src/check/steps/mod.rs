//! The steps and their order.

mod delivery;
mod ending;
mod games;
mod greeting;
mod offers;
mod reconnect;
mod refusals;
mod succession;

use std::time::Duration;

use tokio::time::Instant;

use crate::bot::{Command, Launch};
use crate::check::context::Context;
use crate::check::delivery::Delivery;
use crate::check::verdict::{StepResult, StepVerdict, Stop};
use crate::core::Catalog;
use crate::core::erased::Rules;

/// The configuration of a check.
#[derive(Debug)]
pub struct Check {
    /// The bot.
    pub command: Command,
    /// How to start it.
    pub launch: Launch,
    /// The known games.
    pub catalog: Catalog,
    /// The only game to check; `None`: all games that the bot plays.
    pub game: Option<&'static dyn Rules>,
    /// The time limit for a decision.
    pub move_limit: Duration,
    /// Timeout from its start to `hello`.
    pub hello_limit: Duration,
    /// Timeout for its first `ready`.
    pub ready_limit: Duration,
    /// Whether to check that the bot continues a match after its connection is lost.
    pub reconnects: bool,
}

/// A step of the check.
#[derive(Clone, Copy)]
enum Step {
    StartUp,
    Hello,
    FirstMatch,
    Match(&'static dyn Rules),
    Decisions(&'static dyn Rules),
    Delivery(&'static str, Delivery),
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
    Reconnect,
}

/// The steps that a bot must pass before the others make sense.
const FIRST: [Step; 3] = [Step::StartUp, Step::Hello, Step::FirstMatch];

/// The steps that do not depend on the game.
const GENERAL: [Step; 18] = [
    Step::Delivery("unknown fields", Delivery::UnknownFields),
    Step::Delivery("unknown messages", Delivery::UnknownMessages),
    Step::Delivery("ping", Delivery::Pings),
    Step::Delivery("joined writes", Delivery::Joined),
    Step::Delivery("split writes", Delivery::Split),
    Step::Delivery("slow delivery", Delivery::Slow),
    Step::Delivery("CRLF", Delivery::Crlf),
    Step::Delivery("large views", Delivery::Large),
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
            Step::Reconnect => "reconnect".to_owned(),
        }
    }

    async fn take(self, context: &mut Context<'_>) -> Result<(), Stop> {
        match self {
            Step::StartUp => greeting::start_up(context).await,
            Step::Hello => greeting::hello(context),
            Step::FirstMatch => games::first_match(context).await,
            Step::Match(rules) => games::whole_matches(context, rules).await,
            Step::Decisions(rules) => games::decisions(context, rules).await,
            Step::Delivery(_, delivery) => delivery::with_delivery(context, delivery).await,
            Step::Errors => refusals::errors(context).await,
            Step::Retry => refusals::retry(context).await,
            Step::DrawOffers => offers::draw_offers(context).await,
            Step::SecondMatch => succession::second_match(context).await,
            Step::BrokenOff => succession::broken_off(context).await,
            Step::Slots => succession::slots(context).await,
            Step::Time => {
                context.judge_time();
                Ok(())
            }
            Step::EndOfInput => ending::end_of_input(context).await,
            Step::Bye => ending::bye(context).await,
            Step::Sigterm => ending::sigterm(context).await,
            Step::Reconnect => reconnect::reconnect(context).await,
        }
    }
}

impl Check {
    /// Runs all steps, and reports each outcome to `tell`.
    ///
    /// # Errors
    /// When the bot cannot be started at all.
    pub async fn run(&self, mut tell: impl FnMut(&StepResult)) -> Result<Vec<StepResult>, String> {
        let mut context = Context::new(self);
        let mut outcomes = Vec::new();
        for step in FIRST {
            let outcome = take(&mut context, step).await?;
            tell(&outcome);
            let has_failed = outcome.verdict == StepVerdict::Failed;
            outcomes.push(outcome);
            if has_failed {
                return Ok(outcomes);
            }
        }
        let of_games =
            context.games().into_iter().flat_map(|rules| [Step::Match(rules), Step::Decisions(rules)]);
        for step in of_games.chain(GENERAL).chain(self.reconnects.then_some(Step::Reconnect)) {
            let outcome = take(&mut context, step).await?;
            tell(&outcome);
            outcomes.push(outcome);
        }
        if let Some(talk) = context.talk.take() {
            talk.finish().await;
        }
        Ok(outcomes)
    }
}

async fn take(context: &mut Context<'_>, step: Step) -> Result<StepResult, String> {
    let began = Instant::now();
    let mut result = step.take(context).await;
    if result.is_ok() {
        result = context.quiet().await;
    }
    let mut notes = std::mem::take(&mut context.notes);
    let warnings = std::mem::take(&mut context.warnings);
    let verdict = if warnings.is_empty() { StepVerdict::Passed } else { StepVerdict::Warned };
    notes.extend(warnings);
    let (verdict, complaint) = match result {
        Ok(()) => (verdict, None),
        Err(Stop::Failed(complaint)) => (StepVerdict::Failed, Some(*complaint)),
        Err(Stop::Skipped(why)) => {
            notes.push(why);
            (StepVerdict::Skipped, None)
        }
        Err(Stop::CannotRun(why)) => return Err(why),
    };
    let stderr = context.take_stderr();
    if verdict == StepVerdict::Failed {
        // The state of the bot is unknown after a failure: the next step starts a new process.
        context.talk = None;
    }
    let took_ms = began.elapsed().as_millis() as u64;
    Ok(StepResult { step: step.name(), verdict, notes, complaint, took_ms, stderr })
}
