//! Lets events of the file happen when their times have come.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use referee_game::Chain;
use referee_league::{ActError, EventEffects, League, OrganiserAct};
use referee_store::{now, utc};

use super::reload::ConfigFile;
use crate::league::config::LeagueConfig;

const POLL_INTERVAL: Duration = Duration::from_millis(200);
const USER: &str = "server";

/// Puts the effects of events at this time into force, if others are in force.
pub(super) fn put_into_force(
    league: &mut League,
    config: &LeagueConfig,
    at: SystemTime,
) -> Result<(), ActError> {
    let stored = league.all_in_force()?;
    let none = EventEffects::default();
    let ladders = config.ladders.iter().map(|ladder| Some(&*ladder.name));
    // The effects of events on a ladder that is gone must not hold for the league.
    let gone = stored.keys().filter(|name| !config.ladders.iter().any(|ladder| ladder.name == **name));
    let gone = gone.filter(|name| !name.is_empty()).map(|name| Some(&**name));
    for ladder in std::iter::once(None).chain(ladders).chain(gone.collect::<Vec<_>>()) {
        let before = stored.get(ladder.unwrap_or_default()).unwrap_or(&none);
        let is_here = ladder.is_none_or(|name| config.ladders.iter().any(|ladder| ladder.name == name));
        let new = if is_here { EventEffects::at(&config.events, ladder, &utc(at)) } else { none.clone() };
        if new != *before {
            league.act(USER, OrganiserAct::PutIntoForce { ladder, new: &new, before }, at)?;
        }
    }
    Ok(())
}

/// Ends the seasons whose time has come.
fn end_seasons(league: &mut League, config: &LeagueConfig, at: SystemTime) -> Result<(), ActError> {
    for event in &config.events {
        if let Some(name) = event.season.as_ref().filter(|_| event.at <= utc(at))
            && !league.is_season_event_done(event, at)?
        {
            let keeps_ratings = event.keeps_ratings;
            league.act(USER, OrganiserAct::EndSeasonAtEvent { name, keeps_ratings }, at)?;
        }
    }
    Ok(())
}

/// Works until it is asked to end.
pub(super) fn work(mut league: League, file: &ConfigFile, ends: &Receiver<()>) {
    let mut failure = None;
    loop {
        let config = file.current().config.clone();
        let at = now();
        let done =
            put_into_force(&mut league, &config, at).and_then(|()| end_seasons(&mut league, &config, at));
        let failed = done.err().map(|error| Chain(&error).to_string());
        if let Some(error) = failed.as_ref().filter(|_| failed != failure) {
            tracing::warn!("events are late: {error}");
        }
        failure = failed;
        if ends.recv_timeout(POLL_INTERVAL) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}
