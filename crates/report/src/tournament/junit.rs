//! JUnit XML: one suite with a test case per entrant.
//!
//! Test cases should show whether a bot works, so an entrant fails if it made a fault and passes otherwise, whatever
//! its score. A case per match would result in thousands of rows; the failure lists the first matches instead. The
//! case `matches` fails if a match has no result yet; its output lists the matches.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::TournamentReport;
use super::github::fault_message;
use crate::junit::xml;

/// The entrants as test cases.
pub fn junit(report: &TournamentReport) -> String {
    let standings = &report.standings;
    let mut suite = TestSuite::new(standings.name.as_str());
    let case = |name: &str, failure: Option<(&str, String)>| {
        let status = match failure {
            None => TestCaseStatus::success(),
            Some((kind, message)) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(kind).set_message(message);
                status
            }
        };
        let mut case = TestCase::new(name, status);
        case.set_classname(standings.game.as_str());
        case.set_time(Duration::ZERO);
        case
    };
    for (standing, details) in report.entrants() {
        let losses = standing.by_fault.losses;
        let failure =
            (!details.faults.is_empty()).then(|| ("fault", fault_message(standing.matches, losses, details)));
        let mut case = case(&standing.name, failure);
        case.set_time(Duration::from_millis(details.cpu_ms));
        let elo = super::text::elo(standing.elo);
        let withdrawn = match super::text::withdrawn(standing.withdrawn) {
            "" => String::new(),
            results => format!(", withdrawn: {results}"),
        };
        let points = standing.points;
        let place = standing.place.map_or("outside the ranking".to_owned(), |place| format!("place {place}"));
        case.set_system_out(format!("{place}, {points} points, Elo {elo}{withdrawn}"));
        suite.add_test_case(case);
    }
    let unfinished = super::text::unfinished(report);
    let mut matches = case("matches", unfinished.map(|message| ("unfinished", message)));
    matches.set_system_out(super::text::match_lines(report));
    suite.add_test_case(matches);
    let mut out = Report::new(standings.name.as_str());
    out.add_test_suite(suite);
    xml(&out)
}
