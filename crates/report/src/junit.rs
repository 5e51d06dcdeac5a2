//! The steps of a check as JUnit XML.

use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use referee_check::{StepResult, StepVerdict};
use referee_game::printable::printable_lines;

/// Writes a report with a test case per step.
///
/// # Errors
/// Those of `out`.
pub fn junit(bot: &str, outcomes: &[StepResult], mut out: impl Write) -> io::Result<()> {
    let mut suite = TestSuite::new(bot);
    for outcome in outcomes {
        let mut status = match outcome.verdict {
            StepVerdict::Passed | StepVerdict::Warned => TestCaseStatus::success(),
            StepVerdict::Skipped => TestCaseStatus::skipped(),
            StepVerdict::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        };
        if let Some(violation) = &outcome.violation {
            status.set_message(&*printable_lines(&violation.wrong));
            status.set_description(&*printable_lines(&violation.to_string()));
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
    out.write_all(xml(&report).as_bytes())
}

/// The text of a report, valid by the schema `junit-10.xsd` of Jenkins: only a `testsuite` has the attribute `skipped`, which
/// the library also gives to `testsuites`.
pub(super) fn xml(report: &Report) -> String {
    let skipped = format!(" skipped=\"{}\"", report.skipped);
    let text = report.to_string().unwrap_or_else(|error| unreachable!("memory takes all bytes: {error}"));
    // The first one: quotes in names are escaped.
    text.replacen(&skipped, "", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_suite_counts_its_skipped_tests() {
        let mut suite = TestSuite::new("suite");
        suite.add_test_case(TestCase::new("case", TestCaseStatus::skipped()));
        let mut report = Report::new("a \" skipped=\"1\"");
        report.add_test_suite(suite);
        let text = xml(&report);
        let tag = |name: &str| {
            let from = text.find(&format!("<{name} ")).unwrap();
            text[from..].split_once('>').unwrap().0.to_owned()
        };
        assert!(!tag("testsuites").contains(" skipped=\""), "{text}");
        assert!(tag("testsuite").contains(" skipped=\"1\""), "{text}");
    }
}
