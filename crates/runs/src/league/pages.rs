//! What the pages of a ladder show: players with their history, and how a bot joins.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::league::config::LeagueConfig;
use crate::league::notices::NoticeFiles;
use crate::league::server::ControlRequest;
use crate::league::{LadderSnapshot, PlayerState, SharedLadder};
use referee_game::{Meta, Seating};
use referee_league::{FinalStandings, LadderRow, League, LeagueMatch, MatchFilter, RulesVersion, Season};
use referee_report::ToldMatch;
use referee_results::FinishedMatch;
use referee_stats::ladder::Name;
use referee_store::{StoreError, now, parse_match_id, utc};
use referee_web::{
    DisplayNames, LadderEntry, LadderHealth, LadderView, Notices, OtherLadder, OwnersLink, PlayedMatch,
    PlayerEntry, PlayerStanding, SeasonEntry, SeasonPlayer, SeasonRow, SeasonStandings,
};

use tokio::sync::oneshot;

/// The maximum number of ratings in the history of a player.
const HISTORY: usize = 1000;
/// The time for which places are compared.
const WEEK: std::time::Duration = std::time::Duration::from_secs(7 * 24 * 60 * 60);
/// The maximum number of matches on the page of a player.
const MATCHES: usize = 50;

/// How packs of records are sent, for `/healthz` and `/metrics`.
#[derive(Debug, Default)]
pub(super) struct PackSending {
    unsent: AtomicUsize,
    is_failing: AtomicBool,
}

impl PackSending {
    /// So many packs are waiting.
    pub(super) fn wait_for(&self, unsent: usize) {
        self.unsent.store(unsent, Ordering::Relaxed);
    }

    /// A pack was sent, and so many are left.
    pub(super) fn succeed(&self, unsent: usize) {
        self.wait_for(unsent);
        self.is_failing.store(false, Ordering::Relaxed);
    }

    /// A pack was not sent.
    pub(super) fn fail(&self) {
        self.is_failing.store(true, Ordering::Relaxed);
    }

    /// Packs stay here.
    pub(super) fn stop(&self) {
        self.succeed(0);
    }
}

pub(super) struct LadderPages {
    pub(super) name: String,
    pub(super) game: &'static Meta,
    pub(super) seating: Seating,
    /// The last change of its rules.
    pub(super) rules_changed: Option<RulesVersion>,
    /// The port for bots, once they can connect.
    pub(super) port: OnceLock<u16>,
    /// What takes up changes, once the ladder is played.
    pub(super) control: OnceLock<Sender<ControlRequest>>,
    /// The number of refused logins of bots.
    pub(super) refusals: Arc<AtomicU64>,
    pub(super) has_tls: bool,
    pub(super) others: Vec<OtherLadder>,
    pub(super) ladder: SharedLadder,
    /// The directory of its records.
    pub(super) records: PathBuf,
    /// How packs of them are sent.
    pub(super) sending: Arc<PackSending>,
    pub(super) league: Mutex<League>,
    /// What follows the file of the league.
    pub(super) about: Mutex<AboutLeague>,
}

/// What pages say of the league, from its file.
#[derive(Clone)]
pub(super) struct AboutLeague {
    pub(super) name: Option<String>,
    pub(super) owners: Option<OwnersLink>,
    pub(super) notices: Arc<NoticeFiles>,
}

impl AboutLeague {
    pub(super) fn of(config: &LeagueConfig) -> AboutLeague {
        AboutLeague {
            name: config.shown_name().map(str::to_owned),
            owners: config.owners_link(),
            notices: Arc::new(config.notices()),
        }
    }

    /// The name of the pages of a ladder.
    pub(super) fn name_of(&self, ladder: &str) -> String {
        self.name.as_ref().map_or_else(|| ladder.to_owned(), |league| format!("{league}: {ladder}"))
    }
}

impl fmt::Debug for LadderPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LadderPages").field("name", &self.name).finish_non_exhaustive()
    }
}

impl LadderPages {
    fn league(&self) -> MutexGuard<'_, League> {
        self.league.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn about(&self) -> AboutLeague {
        self.about.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes up what the file of the league says now. The server for owners stays where it is.
    pub(super) fn set_about(&self, about: AboutLeague) {
        let mut current = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        let link = |now: OwnersLink| {
            let port = current.owners.as_ref()?.port;
            Some(OwnersLink { port, ..now })
        };
        let owners = about.owners.map_or_else(|| current.owners.clone(), link);
        *current = AboutLeague { owners, ..about };
    }

    /// A match of an earlier run of the server.
    pub(super) fn finished(&self, row: LeagueMatch) -> FinishedMatch {
        row.finished(self.seating, &self.records)
    }

    /// The final standings of a season; empty for a moment after it has ended.
    fn final_standings(&self, season: Season) -> Result<SeasonStandings, StoreError> {
        let found = self.stored_standings(season.number)?.unwrap_or_default();
        let player = |row: &LadderRow| SeasonPlayer {
            name: row.player.clone(),
            display_name: row.display_name.clone(),
        };
        let entry = SeasonEntry {
            name: season.name,
            ended_at: season.ended_at,
            matches: found.matches,
            winner: found.winner().map(player),
        };
        let row = |row: LadderRow| SeasonRow {
            player: player(&row),
            place: row.place,
            rating: row.rating,
            margin_in_field: row.margin_in_field,
            anchor: row.is_anchor,
            provisional: row.is_provisional,
            newest: row.is_newest,
            matches: row.matches,
            wdl: row.wdl,
            faulted: row.faulted,
        };
        Ok(SeasonStandings { season: entry, standings: found.standings.into_iter().map(row).collect() })
    }

    fn stored_standings(&self, season: u32) -> Result<Option<FinalStandings>, StoreError> {
        let text = self.league().final_standings(season, &self.name)?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// What a player was in the last season in which it played, if it has not come in this one; and that season.
    fn former(&self, name: &str) -> Result<Option<(PlayerStanding, String)>, StoreError> {
        let seasons = self.league().seasons()?;
        for season in seasons.into_iter().rev() {
            let rows = self.stored_standings(season.number)?.unwrap_or_default().standings;
            if let Some(row) = rows.into_iter().find(|row| row.player == name) {
                let before = standing(&LadderSnapshot::default(), &row);
                return Ok(Some((PlayerStanding { place: None, ..before }, season.name)));
            }
        }
        Ok(None)
    }

    fn played(&self, row: LeagueMatch, display_names: &DisplayNames) -> PlayedMatch {
        let (id, rated) = (row.id(), row.counts());
        let names: Vec<&str> =
            row.players.iter().map(|name| display_names.get(name).unwrap_or(name).as_str()).collect();
        let told = ToldMatch {
            game: Some(self.game),
            names: &names,
            ranks: row.ranks.as_deref(),
            ended_by: row.ended_by.as_str(),
            reason: &row.reason,
            forfeited: &[],
            moves: row.decisions,
        };
        let text = told.outcome();
        PlayedMatch { id, seats: row.players, text, ended_at: row.ended_at, rated, ruling: None }
    }
}

impl LadderView for LadderPages {
    fn order_a_week_ago(&self) -> Result<Vec<String>, StoreError> {
        let week_ago = now().checked_sub(WEEK).unwrap_or(std::time::SystemTime::UNIX_EPOCH);
        let league = self.league();
        // Places of a season are not compared with those of the one before.
        let began = league.seasons()?.pop().map(|season| season.ended_at);
        if began.is_some_and(|began| began > utc(week_ago)) {
            return Ok(Vec::new());
        }
        league.order_at(&self.name, week_ago)
    }

    fn notices(&self) -> Arc<Notices> {
        let notices = self.about().notices;
        notices.current()
    }

    fn ladder(&self) -> LadderEntry {
        let LadderSnapshot { online, states, display_names, .. } = &*self.ladder.shown();
        // A program that fails is not there.
        let about = self.about();
        let is_excluded = |name: &String| matches!(states.get(name), Some(PlayerState::Excluded(_)));
        let online: BTreeSet<&String> = online.iter().filter(|name| !is_excluded(name)).collect();
        let shown = display_names.iter().filter(|(name, _)| online.contains(name));
        LadderEntry {
            league: about.name,
            name: self.name.clone(),
            game: self.game.id,
            rules_changed: self.rules_changed.clone(),
            port: self.port.get().copied(),
            tls: self.has_tls,
            online: online.iter().map(|&name| name.clone()).collect(),
            display_names: shown.map(|(name, shown)| (name.clone(), shown.clone())).collect(),
            owners: about.owners,
            others: self.others.clone(),
        }
    }

    fn take_up(&self) -> Option<oneshot::Receiver<()>> {
        let (done, taken_up) = oneshot::channel();
        self.control.get()?.send(ControlRequest::TakeUp(done)).ok()?;
        Some(taken_up)
    }

    fn health(&self) -> LadderHealth {
        let shown = self.ladder.shown();
        let last = shown.last_result.as_deref().and_then(|text| humantime::parse_rfc3339(text).ok());
        let excluded = shown.states.values().filter(|state| matches!(state, PlayerState::Excluded(_)));
        LadderHealth {
            is_storage_writable: !shown.is_waiting_for_storage,
            is_paused: shown.is_paused,
            are_rules_failing: shown.are_rules_failing,
            jobs: shown.jobs,
            running: shown.running,
            connections: shown.connections,
            waiting: shown.waiting,
            excluded: excluded.count(),
            refused_logins: self.refusals.load(Ordering::Relaxed),
            unsent_packs: self.sending.unsent.load(Ordering::Relaxed),
            is_sending_failing: self.sending.is_failing.load(Ordering::Relaxed),
            result_age: last.map(|last| now().duration_since(last).unwrap_or_default()),
        }
    }

    fn has_player(&self, name: &str) -> bool {
        let is_here = self.ladder.shown().rows.iter().any(|row| row.player == name);
        is_here || self.league().has_player(&self.name, name).unwrap_or_default()
    }

    fn newest(&self, bots: &[String]) -> Vec<PlayerStanding> {
        let shown = self.ladder.shown();
        let is_wanted = |row: &&LadderRow| row.is_newest && bots.contains(&Name::parse(&row.player).bot);
        shown.rows.iter().filter(is_wanted).map(|row| standing(&shown, row)).collect()
    }

    fn player(&self, name: &str) -> Result<Option<PlayerEntry>, StoreError> {
        let shown = self.ladder.shown();
        let found = match shown.rows.iter().find(|row| row.player == name) {
            Some(row) => Some((standing(&shown, row), None)),
            None => self.former(name)?.map(|(standing, season)| (standing, Some(season))),
        };
        let Some((standing, season)) = found else { return Ok(None) };
        let players = &[name.to_owned()];
        let filter = MatchFilter { players: Some(players), is_exact: true, ..MatchFilter::default() };
        let (players, history, rows) = {
            let league = self.league();
            (
                league.players(&self.name)?,
                league.ratings(&self.name, name, HISTORY)?,
                league.last_matches(&self.name, filter, MATCHES)?,
            )
        };
        let bot = Name::parse(name).bot;
        let is_version = |player: &String| Name::parse(player).bot == bot;
        Ok(Some(PlayerEntry {
            standing,
            season,
            versions: players.into_iter().map(|player| player.name).filter(is_version).collect(),
            history,
            last_matches: rows.into_iter().map(|row| self.played(row, &shown.display_names)).collect(),
            opponents: Vec::new(),
        }))
    }

    fn has_seasons(&self) -> bool {
        self.ladder.shown().season > 1
    }

    fn seasons(&self) -> Result<Vec<SeasonEntry>, StoreError> {
        let seasons = self.league().seasons()?.into_iter().rev();
        seasons.map(|season| Ok(self.final_standings(season)?.season)).collect()
    }

    fn season(&self, name: &str) -> Result<Option<SeasonStandings>, StoreError> {
        let season = self.league().seasons()?.into_iter().find(|season| season.name == name);
        season.map(|season| self.final_standings(season)).transpose()
    }

    fn season_matches(
        &self,
        name: &str,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Option<Vec<PlayedMatch>>, StoreError> {
        let league = self.league();
        let found = league.seasons()?.into_iter().find(|season| season.name == name);
        let Some(season) = found else { return Ok(None) };
        let rows = league.matches_of_season(season.number, &self.name, before, limit)?;
        drop(league);
        let names = self.ladder.shown().display_names.clone();
        Ok(Some(rows.into_iter().map(|row| self.played(row, &names)).collect()))
    }

    fn is_of_ended_season(&self, match_id: &str) -> bool {
        let Some((number, _)) = parse_match_id(match_id) else { return false };
        let league = self.league();
        let read = league.current_season().and_then(|now| Ok((now, league.season_of(&self.name, number)?)));
        // If the database cannot be read, nothing more of it is listed.
        read.is_ok_and(|(now, season)| season.is_some_and(|season| season < now))
    }

    fn earlier(&self, match_id: &str) -> Option<FinishedMatch> {
        let (number, _) = parse_match_id(match_id)?;
        let found = self.league().find_match(&self.name, number);
        // A database that cannot be read has no matches to show.
        let row = found.inspect_err(|error| tracing::warn!("{match_id}: {error}")).ok().flatten()?;
        if row.id() != match_id {
            return None;
        }
        Some(self.finished(row))
    }
}

/// What a player is now.
fn standing(shown: &LadderSnapshot, row: &LadderRow) -> PlayerStanding {
    PlayerStanding {
        name: row.player.clone(),
        display_name: row.display_name.clone(),
        place: row.place,
        rating: row.rating,
        margin_in_field: row.margin_in_field,
        anchor: row.is_anchor,
        provisional: row.is_provisional,
        newest: row.is_newest,
        online: shown.online.contains(&row.player),
        state: shown.states.get(&row.player).map(ToString::to_string),
        matches: row.matches,
        wdl: row.wdl,
        faulted: row.faulted,
        last_seen: row.last_seen.clone(),
    }
}
