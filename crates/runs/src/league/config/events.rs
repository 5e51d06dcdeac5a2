//! The tables `[[events]]` of the file of a league.

use referee_game::name::{NameError, check_name};
use referee_league::{EventKind, PlannedEvent};
use referee_store::utc;
use serde::Deserialize;

/// What happens at a stated time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventConfig {
    /// RFC 3339.
    at: String,
    what: EventKind,
    /// All of them without it.
    #[serde(default)]
    ladder: Option<String>,
    /// The name of the season that ends.
    #[serde(default)]
    season: Option<String>,
    /// What players start the next season from.
    #[serde(default)]
    ratings: NextRatings,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NextRatings {
    #[default]
    Keep,
    Anew,
}

/// An event that cannot take place.
#[derive(Debug, thiserror::Error)]
#[error("[[events]] {what} at {at}: {why}")]
pub struct BadEvent {
    at: String,
    what: EventKind,
    why: WrongEvent,
}

#[derive(Debug, thiserror::Error)]
enum WrongEvent {
    #[error("the time is {0}; expected one such as `2026-12-01T18:00:00Z`")]
    Time(humantime::TimestampError),
    #[error("there is no ladder `{0}`")]
    NoLadder(String),
    #[error("a season ends on all ladders: leave `ladder` out")]
    OfLadder,
    #[error("`season` is missing, the name of the season that ends")]
    NoSeason,
    #[error("season {0}: {1}")]
    Season(String, NameError),
    #[error("another event ends the season {0}")]
    SeasonTwice(String),
    #[error("`season` and `ratings` are for end_season")]
    NotSeason,
}

/// Validates events, and sorts them by their times; those of one time stay in the order of the file.
pub(super) fn planned(events: &[EventConfig], ladders: &[&str]) -> Result<Vec<PlannedEvent>, BadEvent> {
    let mut planned: Vec<PlannedEvent> = Vec::new();
    for event in events {
        let one = event.planned(ladders, &planned);
        planned.push(one.map_err(|why| BadEvent { at: event.at.clone(), what: event.what, why })?);
    }
    planned.sort_by(|one, other| one.at.cmp(&other.at));
    Ok(planned)
}

impl EventConfig {
    fn planned(&self, ladders: &[&str], others: &[PlannedEvent]) -> Result<PlannedEvent, WrongEvent> {
        let EventConfig { at, what, ladder, season, ratings } = self.clone();
        let at = utc(humantime::parse_rfc3339(&at).map_err(WrongEvent::Time)?);
        if let Some(other) = ladder.as_ref().filter(|ladder| !ladders.contains(&ladder.as_str())) {
            return Err(WrongEvent::NoLadder(other.clone()));
        }
        match (&season, what == EventKind::EndSeason) {
            (_, true) if ladder.is_some() => return Err(WrongEvent::OfLadder),
            (None, true) => return Err(WrongEvent::NoSeason),
            (Some(season), true) => {
                check_name(season).map_err(|why| WrongEvent::Season(season.clone(), why))?;
                if others.iter().any(|other| other.season.as_ref() == Some(season)) {
                    return Err(WrongEvent::SeasonTwice(season.clone()));
                }
            }
            (None, false) if ratings == NextRatings::Keep => {}
            (_, false) => return Err(WrongEvent::NotSeason),
        }
        Ok(PlannedEvent { at, what, ladder, season, keeps_ratings: ratings == NextRatings::Keep })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<Vec<String>, String> {
        #[derive(Deserialize)]
        struct File {
            events: Vec<EventConfig>,
        }
        let File { events } = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let planned = planned(&events, &["a", "b"]).map_err(|error| error.to_string())?;
        Ok(planned.iter().map(|event| format!("{} {}", event.at, event.what)).collect())
    }

    #[test]
    fn events_are_checked_and_sorted() {
        let two = "[[events]]\nat = '2026-12-02T00:00:00.5Z'\nwhat = 'thaw'\n[[events]]\nat = '2026-12-01T00:00:00Z'\n\
                   what = 'freeze'\nladder = 'a'";
        let sorted = ["2026-12-01T00:00:00Z freeze", "2026-12-02T00:00:00Z thaw"].map(str::to_owned);
        assert_eq!(check(two), Ok(sorted.to_vec()));
        for (rest, why) in [
            ("what = 'melt'", "unknown variant `melt`"),
            ("what = 'freeze'\nladder = 'c'", "there is no ladder `c`"),
            ("what = 'end_season'", "`season` is missing"),
            ("what = 'end_season'\nseason = '/'", "season /:"),
            ("what = 'end_season'\nseason = 's'\nladder = 'a'", "a season ends on all ladders"),
            ("what = 'open'\nratings = 'anew'", "are for end_season"),
        ] {
            let refused = check(&format!("[[events]]\nat = '2026-12-01T00:00:00Z'\n{rest}")).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
        let refused = check("[[events]]\nat = 'tomorrow'\nwhat = 'open'").unwrap_err();
        assert!(refused.contains("expected one such as"), "{refused}");
    }
}
