//! The steps of a check as JUnit XML.

use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use referee_game::printable::printable_lines;

/// A step of a check, as a test case.
#[derive(Clone, Debug)]
pub struct JunitStep<'a> {
    pub name: &'a str,
    /// How it ended.
    pub status: StepStatus,
    /// How long it took.
    pub took: Duration,
    /// Notes on the result.
    pub notes: String,
    /// The standard error of the bot.
    pub stderr: &'a str,
}

/// How a step ended.
#[derive(Clone, Debug)]
pub enum StepStatus {
    Passed,
    /// It was skipped, for this reason.
    Skipped(String),
    Failed {
        /// The defect, in short.
        message: String,
        /// The defect, and the expected behaviour.
        description: String,
    },
}

/// Writes a report with a test case for each step of a check of this bot.
///
/// # Errors
/// Errors of `out`.
pub fn junit<'a>(
    bot: &str,
    steps: impl IntoIterator<Item = JunitStep<'a>>,
    mut out: impl Write,
) -> io::Result<()> {
    let mut suite = TestSuite::new(bot);
    for JunitStep { name, status, took, notes, stderr } in steps {
        let mut of_case = match status {
            StepStatus::Passed => TestCaseStatus::success(),
            StepStatus::Skipped(_) => TestCaseStatus::skipped(),
            StepStatus::Failed { .. } => TestCaseStatus::non_success(NonSuccessKind::Failure),
        };
        match status {
            StepStatus::Passed => {}
            StepStatus::Skipped(why) => _ = of_case.set_message(&*printable_lines(&why)),
            StepStatus::Failed { message, description } => {
                of_case.set_message(&*printable_lines(&message));
                of_case.set_description(&*printable_lines(&description));
            }
        }
        let mut case = TestCase::new(name, of_case);
        case.set_classname("referee check").set_time(took);
        case.set_system_out(&*printable_lines(&notes));
        if !stderr.is_empty() {
            case.set_system_err(&*printable_lines(stderr));
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
