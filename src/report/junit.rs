//! The steps of a check as JUnit XML.

use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::check::{StepResult, StepVerdict};
use crate::core::printable::printable_lines;

/// Writes a report with a test case per step.
///
/// # Errors
/// Those of `out`.
pub fn junit(bot: &str, outcomes: &[StepResult], out: impl Write) -> io::Result<()> {
    let mut suite = TestSuite::new(bot);
    for outcome in outcomes {
        let mut status = match outcome.verdict {
            StepVerdict::Passed | StepVerdict::Warned => TestCaseStatus::success(),
            StepVerdict::Skipped => TestCaseStatus::skipped(),
            StepVerdict::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        };
        if let Some(complaint) = &outcome.complaint {
            status.set_message(&*printable_lines(&complaint.wrong));
            status.set_description(&*printable_lines(&complaint.to_string()));
        } else if outcome.verdict == StepVerdict::Skipped {
            status.set_message(&*printable_lines(&outcome.notes.join("; ")));
        }
        let mut case = TestCase::new(&*outcome.step, status);
        case.set_classname("referee check").set_time(Duration::from_millis(outcome.took_ms));
        case.set_system_out(&*printable_lines(&outcome.notes.join("\n")));
        if !outcome.stderr.is_empty() {
            case.set_system_err(&*printable_lines(&outcome.stderr));
        }
        suite.add_test_case(case);
    }
    let mut report = Report::new("referee check");
    report.add_test_suite(suite);
    report.serialize(out).map_err(io::Error::other)
}
