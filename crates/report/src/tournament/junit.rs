//! JUnit XML: one suite with a test case per entrant.
//!
//! Test cases should show whether a bot works, so an entrant fails if it made a fault and passes otherwise, whatever
//! its score. A case per match would result in thousands of rows; the failure lists the first matches instead. The
//! case `matches` fails if a match has no result yet; its output lists the matches.

use std::time::Duration;

use super::TournamentReport;
use super::github::fault_message;
use crate::junit::{Case, CaseOutcome, xml};

/// The entrants as test cases.
pub fn junit(report: &TournamentReport) -> String {
    let standings = &report.standings;
    let case = |name: &str, took, failure: Option<(&'static str, String)>, output| Case {
        name: name.to_owned(),
        class: standings.game.to_string(),
        took,
        outcome: failure.map_or(CaseOutcome::Passed, |(kind, message)| CaseOutcome::Failed {
            kind: Some(kind),
            message,
            description: String::new(),
        }),
        output,
        stderr: String::new(),
    };
    let entrants = report.entrants().map(|(standing, details)| {
        let losses = standing.by_fault.losses;
        let failure =
            (!details.faults.is_empty()).then(|| ("fault", fault_message(standing.matches, losses, details)));
        let elo = super::text::elo(standing.elo);
        let withdrawn = match super::text::withdrawn(standing.withdrawn) {
            "" => String::new(),
            results => format!(", withdrawn: {results}"),
        };
        let points = standing.points;
        let place = standing.place.map_or("outside the ranking".to_owned(), |place| format!("place {place}"));
        let output = format!("{place}, {points} points, Elo {elo}{withdrawn}");
        case(&standing.name, Duration::from_millis(details.cpu_ms), failure, output)
    });
    let unfinished = super::text::unfinished(report).map(|message| ("unfinished", message));
    let matches = case("matches", Duration::ZERO, unfinished, super::text::match_lines(report));
    let cases: Vec<Case> = entrants.chain([matches]).collect();
    xml(&standings.name, &standings.name, &cases)
}
