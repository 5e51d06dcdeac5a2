//! Annotations of a job on GitHub.

use referee_game::counted;

use super::TournamentReport;
use super::text;
use crate::github::annotation;

/// An error for each entrant that lost by a fault, a warning for each other entrant with a fault and for matches
/// without a result.
pub fn annotations(report: &TournamentReport) -> String {
    let mut out = String::new();
    for (standing, details) in report.entrants().filter(|(_, details)| !details.faults.is_empty()) {
        let level = if standing.by_fault.losses > 0 { "error" } else { "warning" };
        let title = format!("Faults of {}", details.name);
        out +=
            &annotation(level, &title, &fault_message(standing.matches, standing.by_fault.losses, details));
    }
    if let Some(message) = text::unfinished(report) {
        out += &annotation("warning", &report.standings.name, &message);
    }
    out
}

/// Describes the faults of an entrant, with the first matches.
pub(super) fn fault_message(matches: u32, losses: u32, details: &super::EntrantDetails) -> String {
    let of_bot = |bot: &super::BotDetails| format!("{} of {}", text::faults(&bot.faults), bot.name);
    let of_team: Vec<String> = details.team.iter().filter(|bot| !bot.faults.is_empty()).map(of_bot).collect();
    let faults = if of_team.is_empty() { text::faults(&details.faults) } else { of_team.join(", ") };
    let faulty = details.faulty.join(", ");
    let more = if details.faulty.len() == super::FAULTY { ", ..." } else { "" };
    let matches = counted(matches, "match", "matches");
    format!("{faults} in {matches}, {losses} lost by fault: {faulty}{more}")
}
