//! The leader of a ladder, and the match since which it leads.

use serde::{Deserialize, Serialize};

use super::Ladder;
use referee_league::{LadderRow, LeadTaken};

/// The leader, which a later server remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Leader {
    /// The player in the first place; `None` before the first result.
    leader: Option<String>,
    /// The match that brought it there; `None` if no match did, but a ruling, for example.
    pub(super) taken: Option<LeadTaken>,
}

impl Leader {
    /// Notes who leads after this match; `None`: after something else.
    fn note(&mut self, first: &str, by: Option<&str>) {
        if self.leader.as_deref() != Some(first) {
            let before = self.leader.replace(first.to_owned());
            self.taken = by.zip(before).map(|(id, from)| LeadTaken { id: id.to_owned(), from });
        }
    }
}

impl Ladder {
    pub(super) fn note_lead(&mut self, ranking: &[LadderRow]) {
        if let Some(first) =
            ranking.iter().find(|row| row.standing.place.is_some() && row.standing.counts.matches > 0)
        {
            let by =
                self.results.rated_to.as_deref().filter(|_| self.results.led_to != self.results.rated_to);
            self.leader.note(&first.player, by);
            self.results.led_to.clone_from(&self.results.rated_to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_match_that_changes_first_place_takes_lead() {
        let mut leader = Leader::default();
        let mut after = |first, by| {
            leader.note(first, by);
            leader.taken.clone().map(|taken| (taken.id, taken.from))
        };
        let taken = |id: &str, from: &str| Some((id.to_owned(), from.to_owned()));
        assert_eq!(after("ann", Some("m1")), None, "nobody led before");
        assert_eq!(after("bob", Some("m2")), taken("m2", "ann"));
        assert_eq!(after("bob", Some("m3")), taken("m2", "ann"));
        assert_eq!(after("ann", None), None, "by a ruling");
        assert_eq!(after("bob", Some("m4")), taken("m4", "ann"));
    }
}
