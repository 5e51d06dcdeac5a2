//! The steps of a check as JUnit XML.

use std::io::{self, Write};
use std::time::Duration;

use maud::{PreEscaped, html};
use referee_game::printable::printable_lines;

/// A step of a check, as a test case.
#[derive(Clone, Debug)]
pub struct JunitStep<'a> {
    pub name: &'a str,
    pub status: StepStatus,
    pub took: Duration,
    pub notes: String,
    /// The standard error of the bot.
    pub stderr: &'a str,
}

#[derive(Clone, Debug)]
pub enum StepStatus {
    Passed,
    /// The step was skipped, for this reason.
    Skipped(String),
    Failed {
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
    let cases: Vec<Case> = steps
        .into_iter()
        .map(|JunitStep { name, status, took, notes, stderr }| Case {
            name: name.to_owned(),
            class: "referee check".to_owned(),
            took,
            outcome: match status {
                StepStatus::Passed => CaseOutcome::Passed,
                StepStatus::Skipped(why) => CaseOutcome::Skipped(why),
                StepStatus::Failed { message, description } => {
                    CaseOutcome::Failed { kind: None, message, description }
                }
            },
            output: notes,
            stderr: stderr.to_owned(),
        })
        .collect();
    out.write_all(xml("referee check", bot, &cases).as_bytes())
}

pub(super) struct Case {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) took: Duration,
    pub(super) outcome: CaseOutcome,
    pub(super) output: String,
    /// The standard error; nothing is written if it is empty.
    pub(super) stderr: String,
}

pub(super) enum CaseOutcome {
    Passed,
    Skipped(String),
    Failed {
        kind: Option<&'static str>,
        message: String,
        description: String,
    },
    /// The test could neither pass nor fail.
    Error {
        kind: &'static str,
        message: String,
    },
}

/// A report with one suite, valid by the schema `junit-10.xsd` of Jenkins. Control characters are escaped: XML has none.
pub(super) fn xml(report: &str, suite: &str, cases: &[Case]) -> String {
    let count = |is: fn(&CaseOutcome) -> bool| cases.iter().filter(|case| is(&case.outcome)).count();
    let failures = count(|outcome| matches!(outcome, CaseOutcome::Failed { .. }));
    let errors = count(|outcome| matches!(outcome, CaseOutcome::Error { .. }));
    let skipped = count(|outcome| matches!(outcome, CaseOutcome::Skipped(_)));
    let text = |text: &str| printable_lines(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    let markup = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"))
        testsuites name=(text(report)) tests=(cases.len()) failures=(failures) errors=(errors) {
            testsuite name=(text(suite)) tests=(cases.len()) failures=(failures) errors=(errors) skipped=(skipped) {
                @for Case { name, class, took, outcome, output, stderr } in cases {
                    testcase name=(text(name)) classname=(text(class)) time=(format!("{:.3}", took.as_secs_f64())) {
                        @match outcome {
                            CaseOutcome::Passed => {}
                            CaseOutcome::Skipped(why) => { skipped message=(text(why)) {} }
                            CaseOutcome::Failed { kind, message, description } => {
                                failure message=(text(message)) type=[*kind] { (text(description)) }
                            }
                            CaseOutcome::Error { kind, message } => { error message=(text(message)) type=(kind) {} }
                        }
                        system-out { (text(output)) }
                        @if !stderr.is_empty() { system-err { (text(stderr)) } }
                    }
                }
            }
        }
    };
    markup.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_suite_counts_its_skipped_tests() {
        let case = Case {
            name: "a case".to_owned(),
            class: "class".to_owned(),
            took: Duration::from_millis(1500),
            outcome: CaseOutcome::Skipped("<\u{1b}\u{ffff}>".to_owned()),
            output: String::new(),
            stderr: String::new(),
        };
        assert_eq!(
            xml("a \" skipped=\"1\"", "suite", &[case]),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"a &quot; skipped=&quot;1&quot;\" tests=\"1\" failures=\"0\" errors=\"0\">\
             <testsuite name=\"suite\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\">\
             <testcase name=\"a case\" classname=\"class\" time=\"1.500\">\
             <skipped message=\"&lt;\\u{1b}\u{fffd}&gt;\"></skipped><system-out></system-out>\
             </testcase></testsuite></testsuites>"
        );
    }
}
