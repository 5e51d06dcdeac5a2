//! What rulings on tournaments and leagues have in common.

use clap::Args as ClapArgs;

use crate::cli::Failure;
use crate::report::{ruling_words, table};
use crate::store::RulingRow;

/// Why a ruling is made or undone.
#[derive(Debug, ClapArgs)]
pub(super) struct Why {
    /// The reason, which reports and pages show
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Only the list of rulings shows the reason
    #[arg(long)]
    pub(super) private: bool,
}

impl Why {
    /// The reason, which is not empty.
    pub(super) fn reason(&self) -> Result<&str, Failure> {
        let reason = self.reason.trim();
        match reason.is_empty() {
            true => Err(Failure::usage("--reason: a ruling needs a reason")),
            false => Ok(reason),
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
            Some(ladder) => format!("{ladder}: {}", ruling_words(row)),
            None => ruling_words(row),
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
