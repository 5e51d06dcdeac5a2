//! Code that rulings on tournaments and leagues share.

use clap::Args as ClapArgs;

use crate::cli::exit::Failure;
use crate::cli::user::user;
use crate::report::table;
use crate::store::{RequestedDecision, RequestedRuling, RulingRow};

/// The reason why a ruling is made or undone.
#[derive(Debug, ClapArgs)]
pub(super) struct Why {
    /// The reason, which reports and pages show
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Only the list of rulings shows the reason
    #[arg(long)]
    private: bool,
}

impl Why {
    /// The ruling of the user of this process for this reason, which must not be empty.
    pub(super) fn ruling<M>(&self, decision: RequestedDecision<M>) -> Result<RequestedRuling<M>, Failure> {
        let (reason, is_public) = (self.reason.trim().to_owned(), !self.private);
        match reason.is_empty() {
            true => Err(Failure::usage("--reason: a ruling needs a reason")),
            false => Ok(RequestedRuling { decision, user: user(), reason, is_public }),
        }
    }
}

/// The rulings with who made them and why.
pub(super) fn rulings_table(rulings: &[RulingRow]) -> String {
    let rows = rulings.iter().map(|row| {
        let private = if row.is_public { "" } else { " (private)" };
        let undone = row.undone.as_ref();
        let undone =
            undone.map(|undone| format!("undone by {} at {}: {}", undone.user, undone.at, undone.reason));
        let decision = match &row.ladder {
            Some(ladder) => format!("{ladder}: {}", row.words()),
            None => row.words(),
        };
        vec![
            row.id.to_string(),
            row.at.clone(),
            row.user.clone(),
            decision,
            format!("{}{private}", row.reason),
            undone.unwrap_or_default(),
        ]
    });
    let headings = ["ruling", "when (UTC)", "user", "decision", "reason", "undone"];
    table(&headings, rows.collect(), 0..1).to_string()
}
