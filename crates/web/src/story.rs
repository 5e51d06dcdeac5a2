//! The story of a run that has no tables of its own: who leads and why, told from the rows of the standings.

use referee_game::counted;
use referee_report::story::{Story, several};

use crate::entries::StandingsRow;

/// The story of a run with these standings.
pub(super) fn told(name: &str, rows: &[StandingsRow]) -> Story {
    let mut story = Story::default();
    let ranked: Vec<&StandingsRow> =
        rows.iter().filter(|row| row.place.is_some() && row.counts.matches > 0).collect();
    let first: Vec<&str> =
        ranked.iter().filter(|row| row.place == Some(1)).map(|row| row.player.shown()).collect();
    let [leader] = first[..] else {
        story.heading = match first.len() {
            0 => format!("{name}: no result yet"),
            _ => format!("{} lead together", several(&first, "bots")),
        };
        return story;
    };
    let (row, second) = (ranked[0], ranked.get(1));
    story.leader = Some(row.player.name.clone());
    story.second = second.map(|second| second.player.name.clone());
    match (row.rating, second.and_then(|second| second.rating)) {
        (Some(own), Some(other)) => {
            let lead = own.value - other.value;
            story.lead = Some(lead);
            // A player without a match can be in between.
            let is_next = second.is_some_and(|second| second.place == Some(2));
            story.superiority = row.stronger_than_next.filter(|_| is_next);
        }
        _ => story.lead = second.map(|second| row.points - second.points).filter(|lead| *lead > 0.0),
    }
    story.heading = match (story.lead.map(f64::round), second.map(|second| second.player.shown()), row.rating)
    {
        (Some(lead), Some(second), Some(_)) if lead >= 1.0 => {
            format!("{leader} leads, {lead} Elo ahead of {second}")
        }
        _ => format!("{leader} leads"),
    };
    let (recent, matches) = (row.recent, counted(row.counts.matches, "match", "matches"));
    if recent.matches < row.counts.matches && recent.matches > 0 {
        story.say(format!("{leader} won {} of its last {} matches.", recent.wdl.wins, recent.matches));
    } else {
        story.say(format!(
            "{leader} won {} of {matches} and lost {}.",
            row.counts.wdl.wins, row.counts.wdl.losses
        ));
    }
    if let Some(second) = second {
        story.say_superiority(leader, second.player.shown());
    }
    story
}

#[cfg(test)]
mod tests {
    use referee_stats::rating::Estimate;
    use referee_stats::{MatchCounts, Wdl};

    use super::*;
    use crate::entries::ShownName;

    fn row(place: usize, name: &str, rating: f64) -> StandingsRow {
        let rating = Some(Estimate { value: rating, low: rating - 30.0, high: rating + 30.0 });
        StandingsRow {
            place: Some(place),
            player: ShownName::new(name),
            counts: MatchCounts { matches: 80, wdl: Wdl { wins: 50, draws: 10, losses: 20 }, faulted: 0 },
            rating,
            ..StandingsRow::default()
        }
    }

    #[test]
    fn anchor_and_player_without_match_do_not_lead() {
        let anchor = StandingsRow { place: None, ..row(0, "anchor", 2000.0) };
        let new = StandingsRow { counts: MatchCounts::default(), ..row(1, "new", 1500.0) };
        let ann = StandingsRow { stronger_than_next: Some(0.888), ..row(1, "ann", 1031.0) };
        let story = told("Ladder", &[anchor, ann, row(2, "bob", 1000.0), new]);
        assert_eq!(story.heading, "ann leads, 31 Elo ahead of bob");
        assert_eq!(story.leader.as_deref(), Some("ann"));
        assert_eq!(story.superiority, Some(0.888));
        assert_eq!(
            story.text(),
            "ann won 50 of 80 matches and lost 20. Too close to call: ann is stronger than bob with a \
             probability of 89%."
        );
    }

    #[test]
    fn nobody_leads_before_the_first_result() {
        let story = told("Ladder", &[StandingsRow { counts: MatchCounts::default(), ..row(1, "ann", 0.0) }]);
        assert_eq!((story.heading.as_str(), story.leader), ("Ladder: no result yet", None));
    }
}
