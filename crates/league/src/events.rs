//! Deadlines: what the file of a league lets happen at stated times, and what is in force because of it.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use referee_store::{StoreError, damaged, utc};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use super::acts::{ActError, Refusal};
use super::{League, failed};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// No sign-ups, bots, versions and submissions any more, and no challenges but to programs of the organiser.
    Freeze,
    Thaw,
    /// Spectators and owners see no standings, and no match that ends from now on.
    HideStandings,
    ShowStandings,
    /// Ends the season on all ladders, once.
    EndSeason,
    /// Matches begin again.
    Open,
    /// No match begins.
    Close,
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EventKind::Freeze => "freeze",
            EventKind::Thaw => "thaw",
            EventKind::HideStandings => "hide_standings",
            EventKind::ShowStandings => "show_standings",
            EventKind::EndSeason => "end_season",
            EventKind::Open => "open",
            EventKind::Close => "close",
        })
    }
}

/// An event that the file of a league plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedEvent {
    /// In UTC.
    pub at: String,
    pub what: EventKind,
    /// `None`: on all ladders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ladder: Option<String>,
    /// The name of the season that ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub season: Option<String>,
    /// Whether players start the next season from their ratings.
    #[serde(skip)]
    pub keeps_ratings: bool,
}

impl PlannedEvent {
    /// Returns whether it concerns a ladder; `None`: the league as a whole.
    pub fn is_of(&self, ladder: Option<&str>) -> bool {
        self.ladder.is_none() || self.ladder.as_deref() == ladder
    }
}

/// The effects of past events on a ladder, or on the league as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventEffects {
    pub is_frozen: bool,
    /// The time since which no match begins, in UTC.
    pub closed_since: Option<String>,
    /// The time since which the standings are hidden, in UTC.
    pub hidden_since: Option<String>,
}

impl EventEffects {
    /// The effects of events, in their order, at a time in UTC.
    pub fn at(events: &[PlannedEvent], ladder: Option<&str>, now: &str) -> EventEffects {
        let mut found = EventEffects::default();
        for event in events.iter().filter(|event| event.is_of(ladder) && *event.at <= *now) {
            let begin = |since: &mut Option<String>| {
                since.get_or_insert_with(|| event.at.clone());
            };
            match event.what {
                EventKind::Freeze => found.is_frozen = true,
                EventKind::Thaw => found.is_frozen = false,
                EventKind::HideStandings => begin(&mut found.hidden_since),
                EventKind::ShowStandings => found.hidden_since = None,
                EventKind::Open => found.closed_since = None,
                EventKind::Close => begin(&mut found.closed_since),
                EventKind::EndSeason => {}
            }
        }
        found
    }

    /// Transitions from the effects before to these.
    fn changes_from(&self, before: &EventEffects) -> Vec<EventKind> {
        let change = |[was, is]: [bool; 2], [on, off]: [EventKind; 2]| {
            (was != is).then_some(if is { on } else { off })
        };
        let changes = [
            change([before.is_frozen, self.is_frozen], [EventKind::Freeze, EventKind::Thaw]),
            change(
                [before, self].map(|of| of.hidden_since.is_some()),
                [EventKind::HideStandings, EventKind::ShowStandings],
            ),
            change([before, self].map(|of| of.closed_since.is_some()), [EventKind::Close, EventKind::Open]),
        ];
        changes.into_iter().flatten().collect()
    }
}

/// The prefix of the keys of effects in force; the name of the ladder follows, or nothing for the league as a
/// whole.
const IN_FORCE: &str = "events:";

/// The key of whether the season of this name was ended by an event.
pub(super) fn ended_by_event(season: &str) -> String {
    format!("season-event:{season}")
}

/// Replaces the effects in force. Returns the entry for the log.
pub(super) fn set_in_force(
    db: &Connection,
    ladder: Option<&str>,
    new: &EventEffects,
    before: &EventEffects,
) -> rusqlite::Result<String> {
    let sql = "INSERT OR REPLACE INTO league VALUES (?1, ?2)";
    let key = format!("{IN_FORCE}{}", ladder.unwrap_or_default());
    db.execute(sql, [key, referee_game::json::text(new)])?;
    let words: Vec<String> = new.changes_from(before).iter().map(ToString::to_string).collect();
    let of = ladder.map(|ladder| format!(" --ladder {ladder}")).unwrap_or_default();
    Ok(format!("event: {}{of}", words.join(", ")))
}

/// Checks that owners may sign up and add bots: the league as a whole is not frozen.
pub(super) fn check_thawed(db: &Connection) -> Result<(), ActError> {
    refuse_if(db, "key = 'events:'", "the league is frozen")
}

/// Checks that owners may hand in programs, which play on all ladders: none of them is frozen.
pub(super) fn check_all_thawed(db: &Connection) -> Result<(), ActError> {
    refuse_if(db, "substr(key, 1, 7) = 'events:'", "the league, or a ladder of it, is frozen")
}

fn refuse_if(db: &Connection, which: &str, why: &str) -> Result<(), ActError> {
    let sql = format!("SELECT 1 FROM league WHERE {which} AND json_extract(value, '$.is_frozen')");
    match db.query_row(&sql, [], |_| Ok(())).optional()? {
        Some(()) => Err(Refusal::Conflict.because(format_args!("{why}: the deadline has passed"))),
        None => Ok(()),
    }
}

/// Checks that an owner may ask for a match with these bots: on a ladder that is frozen only with programs of the organiser.
pub(super) fn check_opponents(
    db: &Connection,
    ladder: &str,
    owner: &str,
    bots: &[String],
) -> Result<(), ActError> {
    let sql = "SELECT 1 FROM league WHERE key = 'events:' || ?1 AND json_extract(value, '$.is_frozen')";
    if db.query_row(sql, [ladder], |_| Ok(())).optional()?.is_none() {
        return Ok(());
    }
    for bot in bots {
        let sql = "SELECT 1 FROM bots WHERE name = ?1 AND (owner = ?2 OR (command IS NOT NULL AND version IS NULL))";
        if db.query_row(sql, [bot.as_str(), owner], |_| Ok(())).optional()?.is_none() {
            return Err(Refusal::Conflict.because(format_args!(
                "{ladder} is frozen: until it ends, challenges are for programs of the organiser, and `{bot}` is none"
            )));
        }
    }
    Ok(())
}

impl League {
    /// The effects of events on a ladder; `None`: in the league as a whole.
    ///
    /// # Errors
    /// Errors of the database, or if the value is damaged.
    pub fn in_force(&self, ladder: Option<&str>) -> Result<EventEffects, StoreError> {
        let text = self.value(&format!("{IN_FORCE}{}", ladder.unwrap_or_default()))?;
        let Some(text) = text else { return Ok(EventEffects::default()) };
        serde_json::from_str(&text).map_err(|error| damaged("league", format!("{error}: {text:?}")))
    }

    /// The effects of events, by ladder; those on the league as a whole under an empty name.
    ///
    /// # Errors
    /// Errors of the database, or if a value is damaged.
    pub fn all_in_force(&self) -> Result<BTreeMap<String, EventEffects>, StoreError> {
        let keys: Vec<String> = {
            let sql = "SELECT substr(key, 8) FROM league WHERE substr(key, 1, 7) = 'events:'";
            let mut query = self.db.prepare_cached(sql).map_err(failed)?;
            let rows = query.query_map([], |row| row.get(0));
            rows.and_then(Iterator::collect).map_err(failed)?
        };
        keys.into_iter().map(|key| Ok((key.clone(), self.in_force(Some(&key))?))).collect()
    }

    /// Returns whether the season of an event that has passed at this time was ended, or could not be.
    ///
    /// # Errors
    /// Errors of the database.
    pub fn is_season_event_done(&self, event: &PlannedEvent, now: SystemTime) -> Result<bool, StoreError> {
        let Some(season) = event.season.as_ref().filter(|_| event.at <= utc(now)) else { return Ok(true) };
        Ok(self.value(&ended_by_event(season))?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: &str, what: EventKind, ladder: Option<&str>) -> PlannedEvent {
        PlannedEvent {
            at: at.to_owned(),
            what,
            ladder: ladder.map(str::to_owned),
            season: None,
            keeps_ratings: true,
        }
    }

    #[test]
    fn the_last_event_before_a_time_is_in_force() {
        let events = [
            event("2026-01-01T00:00:00Z", EventKind::Freeze, None),
            event("2026-01-02T00:00:00Z", EventKind::HideStandings, Some("a")),
            event("2026-01-03T00:00:00Z", EventKind::Thaw, Some("a")),
            event("2026-01-04T00:00:00Z", EventKind::HideStandings, None),
            event("2026-01-05T00:00:00Z", EventKind::ShowStandings, None),
        ];
        let at = |ladder, day| EventEffects::at(&events, ladder, &format!("2026-01-0{day}T00:00:00Z"));
        assert!(at(None, 3).is_frozen && at(Some("b"), 3).is_frozen && !at(Some("a"), 3).is_frozen);
        // Hidden standings stay those of the first event.
        assert_eq!(at(Some("a"), 4).hidden_since.as_deref(), Some("2026-01-02T00:00:00Z"));
        assert_eq!(at(Some("b"), 4).hidden_since.as_deref(), Some("2026-01-04T00:00:00Z"));
        assert_eq!(at(Some("a"), 5).changes_from(&at(Some("a"), 4)), [EventKind::ShowStandings]);
        assert_eq!(at(Some("a"), 1).changes_from(&EventEffects::default()), [EventKind::Freeze]);
    }
}
