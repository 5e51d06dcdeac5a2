//! The steps and their order.

mod delivery;
mod ending;
mod games;
mod greeting;
mod offers;
mod reconnect;
mod refusals;
mod succession;

use referee_game::Wrong;
use referee_game::erased::Rules;
use tokio::time::Instant;

use crate::context::Context;
use crate::delivery::Variation;
use crate::setup::Check;
use crate::verdict::{StepResult, StepVerdict, Stop};

#[derive(Clone, Copy)]
enum CheckStep {
    StartUp,
    Hello,
    FirstMatch,
    Match(&'static dyn Rules),
    Decisions(&'static dyn Rules),
    Variation(&'static str, Variation),
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
const FIRST: [CheckStep; 3] = [CheckStep::StartUp, CheckStep::Hello, CheckStep::FirstMatch];

/// The steps that do not depend on the game.
const GENERAL: [CheckStep; 18] = [
    CheckStep::Variation("unknown fields", Variation::UnknownFields),
    CheckStep::Variation("unknown messages", Variation::UnknownMessages),
    CheckStep::Variation("ping", Variation::Pings),
    CheckStep::Variation("joined writes", Variation::Joined),
    CheckStep::Variation("split writes", Variation::Split),
    CheckStep::Variation("slow delivery", Variation::Slow),
    CheckStep::Variation("CRLF", Variation::Crlf),
    CheckStep::Variation("large views", Variation::Large),
    CheckStep::Errors,
    CheckStep::Retry,
    CheckStep::DrawOffers,
    CheckStep::SecondMatch,
    CheckStep::BrokenOff,
    CheckStep::Slots,
    CheckStep::Time,
    CheckStep::EndOfInput,
    CheckStep::Bye,
    CheckStep::Sigterm,
];

impl CheckStep {
    fn name(self) -> String {
        match self {
            CheckStep::StartUp => "start-up".to_owned(),
            CheckStep::Hello => "hello".to_owned(),
            CheckStep::FirstMatch => "first match".to_owned(),
            CheckStep::Match(rules) => format!("{}: whole matches", rules.meta().id),
            CheckStep::Decisions(rules) => format!("{}: kinds of decisions", rules.meta().id),
            CheckStep::Variation(name, _) => name.to_owned(),
            CheckStep::Errors => "errors".to_owned(),
            CheckStep::Retry => "retry".to_owned(),
            CheckStep::DrawOffers => "draw offers".to_owned(),
            CheckStep::SecondMatch => "second match".to_owned(),
            CheckStep::BrokenOff => "match broken off".to_owned(),
            CheckStep::Slots => "slots".to_owned(),
            CheckStep::Time => "time".to_owned(),
            CheckStep::EndOfInput => "end of input".to_owned(),
            CheckStep::Bye => "bye".to_owned(),
            CheckStep::Sigterm => "SIGTERM".to_owned(),
            CheckStep::Reconnect => "reconnect".to_owned(),
        }
    }

    async fn take(self, context: &mut Context<'_>) -> Result<(), Stop> {
        match self {
            CheckStep::StartUp => greeting::start_up(context).await,
            CheckStep::Hello => greeting::hello(context),
            CheckStep::FirstMatch => games::first_match(context).await,
            CheckStep::Match(rules) => games::whole_matches(context, rules).await,
            CheckStep::Decisions(rules) => games::decisions(context, rules).await,
            CheckStep::Variation(_, delivery) => delivery::with_delivery(context, delivery).await,
            CheckStep::Errors => refusals::errors(context).await,
            CheckStep::Retry => refusals::retry(context).await,
            CheckStep::DrawOffers => offers::draw_offers(context).await,
            CheckStep::SecondMatch => succession::second_match(context).await,
            CheckStep::BrokenOff => succession::broken_off(context).await,
            CheckStep::Slots => succession::slots(context).await,
            CheckStep::Time => {
                context.judge_time();
                Ok(())
            }
            CheckStep::EndOfInput => ending::end_of_input(context).await,
            CheckStep::Bye => ending::bye(context).await,
            CheckStep::Sigterm => ending::sigterm(context).await,
            CheckStep::Reconnect => reconnect::reconnect(context).await,
        }
    }
}

impl Check {
    /// Runs all steps, and reports each outcome to `on_outcome`.
    ///
    /// # Errors
    /// When the bot cannot be started at all.
    pub async fn run(&self, mut on_outcome: impl FnMut(&StepResult)) -> Result<Vec<StepResult>, Wrong> {
        let mut context = Context::new(self);
        let mut outcomes = Vec::new();
        for step in FIRST {
            let outcome = take(&mut context, step).await?;
            on_outcome(&outcome);
            let has_failed = outcome.verdict == StepVerdict::Failed;
            outcomes.push(outcome);
            // Text before a `hello` hinders no other step.
            let is_greeted = matches!(step, CheckStep::Hello) && context.has_only_a_banner();
            if has_failed && !is_greeted {
                return Ok(outcomes);
            }
        }
        let of_games = context
            .games()
            .into_iter()
            .flat_map(|rules| [CheckStep::Match(rules), CheckStep::Decisions(rules)]);
        for step in of_games.chain(GENERAL).chain(self.reconnects.then_some(CheckStep::Reconnect)) {
            let outcome = take(&mut context, step).await?;
            on_outcome(&outcome);
            outcomes.push(outcome);
        }
        if let Some(talk) = context.talk.take() {
            talk.finish().await;
        }
        Ok(outcomes)
    }
}

async fn take(context: &mut Context<'_>, step: CheckStep) -> Result<StepResult, Wrong> {
    let began = Instant::now();
    let mut result = step.take(context).await;
    if result.is_ok() {
        result = context.quiet().await;
    }
    let mut notes = std::mem::take(&mut context.notes);
    let warnings = std::mem::take(&mut context.warnings);
    let verdict = if warnings.is_empty() { StepVerdict::Passed } else { StepVerdict::Warned };
    notes.extend(warnings);
    let (verdict, violation) = match result {
        Ok(()) => (verdict, None),
        Err(Stop::Failed(violation)) => (StepVerdict::Failed, Some(*violation)),
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
    Ok(StepResult { step: step.name(), verdict, notes, violation, took_ms, stderr })
}
