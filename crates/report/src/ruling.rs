//! Rulings in words.

use std::collections::BTreeMap;

use referee_stats::ladder::Name;
use referee_stats::schedule::MatchId;
use referee_store::{RuledMatch, RulingAct, RulingRow};
use serde::Serialize;

/// The public form of a ruling: without its author, and with its reason only if that is public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PublicRuling {
    /// From 1.
    pub id: u32,
    /// In UTC.
    pub at: String,
    pub act: RulingAct,
    /// The decision in words: `m17 is awarded to alice`.
    pub decision: String,
    /// The ids of the matches: m17.
    pub matches: Vec<String>,
    /// The entrant or bot that is disqualified or renamed.
    pub name: Option<String>,
    /// The reason why it was made; `None` if the reason is private.
    pub reason: Option<String>,
    /// In UTC.
    pub undone_at: Option<String>,
}

impl PublicRuling {
    /// The public part of a ruling.
    pub fn of(row: &RulingRow) -> PublicRuling {
        PublicRuling {
            id: row.id,
            at: row.at.clone(),
            act: row.act,
            decision: row.words(),
            matches: row.matches.iter().map(RuledMatch::id).collect(),
            name: row.name.clone(),
            reason: row.is_public.then(|| row.reason.clone()),
            undone_at: row.undone.as_ref().map(|undone| undone.at.clone()),
        }
    }
}

/// The ruling in force on an attempt at a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulingOnMatch {
    pub id: u32,
    /// `void`, `awarded to alice`, `awarded as a draw` or `replayed`.
    pub outcome: String,
}

/// The rulings in force, by match.
#[derive(Clone, Debug, Default)]
pub struct RulingsByMatch {
    decided: BTreeMap<u32, RulingOnMatch>,
    /// With the last attempt that does not count.
    replayed: BTreeMap<u32, Vec<(u32, RulingOnMatch)>>,
    /// By bot: the ruling that annuls all of its matches.
    annulled: BTreeMap<String, RulingOnMatch>,
}

impl RulingsByMatch {
    /// The rulings of a tournament, or of a ladder.
    pub fn of<'a>(rulings: impl IntoIterator<Item = &'a RulingRow>) -> RulingsByMatch {
        let mut found = RulingsByMatch::default();
        for row in rulings.into_iter().filter(|row| row.is_in_force()) {
            if let Some(bot) = row.name.clone().filter(|_| row.is_from_start) {
                found.annulled.insert(bot, RulingOnMatch { id: row.id, outcome: "void".to_owned() });
            }
            for ruled in &row.matches {
                let ruling = RulingOnMatch { id: row.id, outcome: ruled.outcome(row.act) };
                if row.act == RulingAct::Replay {
                    found.replayed.entry(ruled.number).or_default().push((ruled.attempt, ruling));
                } else {
                    found.decided.insert(ruled.number, ruling);
                }
            }
        }
        found
    }

    /// The ruling on an attempt.
    pub fn on(&self, id: MatchId) -> Option<&RulingOnMatch> {
        let replayed = self.replayed.get(&id.number);
        let of_attempt = replayed.and_then(|rulings| rulings.iter().find(|(last, _)| id.attempt <= *last));
        of_attempt.map(|(_, ruling)| ruling).or_else(|| self.decided.get(&id.number))
    }

    /// The ruling on a match of a ladder between these players: that on one of their bots annuls all matches of all its
    /// versions.
    pub fn on_played<'a>(
        &self,
        id: MatchId,
        players: impl IntoIterator<Item = &'a str>,
    ) -> Option<&RulingOnMatch> {
        let annuls = |player: &str| self.annulled.get(&Name::parse(player).bot);
        players.into_iter().find_map(annuls).or_else(|| self.on(id))
    }
}
