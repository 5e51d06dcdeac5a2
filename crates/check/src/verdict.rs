//! The results of steps.

use std::fmt;

use referee_game::Wrong;
use serde::{Serialize, Serializer};

use crate::rule::Rule;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepVerdict {
    Passed,
    /// The bot conforms, but something may cause problems.
    Warned,
    /// The bot violates the specification.
    Failed,
    /// The step does not apply, or could not be done.
    Skipped,
}

impl StepVerdict {
    pub fn as_str(self) -> &'static str {
        match self {
            StepVerdict::Passed => "ok",
            StepVerdict::Warned => "warning",
            StepVerdict::Failed => "FAILED",
            StepVerdict::Skipped => "skipped",
        }
    }
}

/// A violation of the specification.
#[derive(Clone, Debug, Serialize)]
pub struct Violation {
    pub wrong: String,
    /// The last lines of the last write to the bot, truncated.
    pub sent: Vec<String>,
    /// The last lines received since then, and how the bot ended, if it did.
    pub came: Vec<String>,
    /// The violated sentence of the specification.
    #[serde(serialize_with = "in_words")]
    pub rule: Rule,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.wrong)?;
        for (head, lines) in [("sent", &self.sent), ("came", &self.came)] {
            for line in lines {
                writeln!(f, "  {head}  {line}")?;
            }
            if lines.is_empty() {
                writeln!(f, "  {head}  nothing")?;
            }
        }
        write!(f, "  {}  {}", self.rule.section, self.rule.says)
    }
}

fn in_words<S: Serializer>(rule: &Rule, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct RuleWords {
        section: &'static str,
        says: &'static str,
    }
    RuleWords { section: rule.section, says: rule.says }.serialize(serializer)
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "step")]
pub struct StepResult {
    pub step: String,
    pub verdict: StepVerdict,
    /// Notes: what was covered, why the step was skipped, warnings.
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violation>,
    pub took_ms: u64,
    /// The end of the bot's standard error during the step, at most 64 KiB.
    pub stderr: String,
}

#[derive(Debug)]
pub(super) enum Stop {
    Failed(Box<Violation>),
    Skipped(String),
    CannotRun(Wrong),
}

pub(super) const NO_BOT: Wrong = Wrong::new("the bot is not there");

impl<E: Into<Wrong>> From<E> for Stop {
    fn from(why: E) -> Stop {
        Stop::CannotRun(why.into())
    }
}

impl From<Violation> for Stop {
    fn from(violation: Violation) -> Stop {
        Stop::Failed(Box::new(violation))
    }
}
