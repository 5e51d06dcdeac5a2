//! What a step finds.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::check::rule::Rule;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All was as it should be.
    Passed,
    /// It passed, but something may cause trouble.
    Warned,
    /// Something was wrong.
    Failed,
    /// It does not apply, or could not be done.
    Skipped,
}

impl Verdict {
    /// The word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Passed => "ok",
            Verdict::Warned => "warning",
            Verdict::Failed => "FAILED",
            Verdict::Skipped => "skipped",
        }
    }
}

/// What was wrong, and what would have been right.
#[derive(Clone, Debug, Serialize)]
pub struct Complaint {
    /// What was wrong.
    pub wrong: String,
    /// What the bot was sent in the last write: the last lines, long ones shortened.
    pub sent: Vec<String>,
    /// What came since: the last lines, and how it ended if it did.
    pub came: Vec<String>,
    /// What the specification says.
    #[serde(serialize_with = "in_words")]
    pub rule: Rule,
}

impl fmt::Display for Complaint {
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
    struct Words {
        section: &'static str,
        says: &'static str,
    }
    Words { section: rule.section, says: rule.says }.serialize(serializer)
}

/// A step that was done.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename = "step")]
pub struct Outcome {
    /// Its name.
    pub step: String,
    /// How it ended.
    pub verdict: Verdict,
    /// What is to be said beside: what was covered, why it was skipped, warnings.
    pub notes: Vec<String>,
    /// What was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complaint: Option<Complaint>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// What the bot wrote to its standard error meanwhile: the end of it, at most 64 KiB.
    pub stderr: String,
}

/// Why a step does not go on.
#[derive(Debug)]
pub(super) enum Stop {
    Failed(Box<Complaint>),
    /// It does not apply.
    Skipped(String),
    /// The referee's own trouble, or the program cannot be started.
    CannotRun(String),
}

impl From<Complaint> for Stop {
    fn from(complaint: Complaint) -> Stop {
        Stop::Failed(Box::new(complaint))
    }
}
