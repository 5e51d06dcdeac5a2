//! The tables `[[events]]` of the file of a league.

use referee_game::Wrong;
use referee_game::name::check_name;
use referee_league::{EventKind, PlannedEvent};
use referee_store::utc;
use serde::Deserialize;

/// An event at a stated time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventConfig {
    /// RFC 3339.
    at: String,
    what: EventKind,
    /// The ladder that it is about; `None`: all ladders.
    #[serde(default)]
    ladder: Option<String>,
    /// The name of the season that ends.
    #[serde(default)]
    season: Option<String>,
    /// The ratings with which players start the next season.
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

/// Validates events, and sorts them by their times; those of one time stay in the order of the file.
pub(super) fn planned(events: &[EventConfig], ladders: &[&str]) -> Result<Vec<PlannedEvent>, Wrong> {
    let mut planned: Vec<PlannedEvent> = Vec::new();
    for event in events {
        let one = event.planned(ladders, &planned);
        planned
            .push(one.map_err(|why| Wrong::at(format!("[[events]] {} at {}", event.what, event.at), why))?);
    }
    planned.sort_by(|one, other| one.at.cmp(&other.at));
    Ok(planned)
}

impl EventConfig {
    fn planned(&self, ladders: &[&str], others: &[PlannedEvent]) -> Result<PlannedEvent, Wrong> {
        let EventConfig { at, what, ladder, season, ratings } = self.clone();
        let at = utc(humantime::parse_rfc3339(&at).map_err(|why| {
            Wrong::from(format!("the time is {why}; expected one such as `2026-12-01T18:00:00Z`"))
        })?);
        if let Some(other) = ladder.as_ref().filter(|ladder| !ladders.contains(&ladder.as_str())) {
            return Err(format!("there is no ladder `{other}`").into());
        }
        match (&season, what == EventKind::EndSeason) {
            (_, true) if ladder.is_some() => {
                return Err("a season ends on all ladders: leave `ladder` out".into());
            }
            (None, true) => return Err("`season` is missing, the name of the season that ends".into()),
            (Some(season), true) => {
                check_name(season).map_err(|why| Wrong::at(format!("season {season}"), why))?;
                if others.iter().any(|other| other.season.as_ref() == Some(season)) {
                    return Err(format!("another event ends the season {season}").into());
                }
            }
            (None, false) if ratings == NextRatings::Keep => {}
            (_, false) => return Err("`season` and `ratings` are for end_season".into()),
        }
        Ok(PlannedEvent { at, what, ladder, season, keeps_ratings: ratings == NextRatings::Keep })
    }
}

#[cfg(test)]
mod tests {
    use referee_game::Chain;

    use super::*;

    fn check(text: &str) -> Result<Vec<String>, String> {
        #[derive(Deserialize)]
        struct File {
            events: Vec<EventConfig>,
        }
        let File { events } = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        let planned = planned(&events, &["a", "b"]).map_err(|error| Chain(&error).to_string())?;
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
