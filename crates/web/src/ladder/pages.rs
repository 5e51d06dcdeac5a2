//! The content of a ladder's pages: players with their history, and how a bot joins.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use referee_game::{Chain, Meta, Seating, counted};
use referee_league::{
    EventKind, FinalStandings, LadderRow, LadderSnapshot, League, LeagueMatch, MatchFilter, PlannedEvent,
    PublishedLadder, RulesVersion, Season, ShownOwner, Standing, WaitingMatch,
};
use referee_match::InfoTotals;
use referee_report::ToldMatch;
use referee_report::page::PublicUrl;
use referee_report::story::Story;
use referee_results::FinishedMatch;
use referee_stats::MatchCounts;
use referee_stats::ladder::Name;
use referee_stats::rating::Estimate;
use referee_store::{StoreError, now, parse_match_id, utc};
use serde::Deserialize;
use tokio::sync::oneshot;

use super::{
    LadderEntry, MatchFacts, OtherLadder, OwnersLink, PlayedMatch, PlayerEntry, PlayerStanding, Presence,
};
use crate::WatchServer;
use crate::entries::{DisplayNames, NextMatch, ShownName, StandingsRow, StandingsView};
use crate::host::beside;
use crate::nav::NavBar;
use crate::notices::Notices;
use crate::seasons::{SeasonEntry, SeasonStandings};
use crate::visitors::VisitorRoom;

/// The maximum number of ratings in the history of a player.
const HISTORY: usize = 1000;
/// The time for which places are compared.
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The maximum number of matches on the page of a player.
const MATCHES: usize = 50;
/// The time without a result after which a ladder that is full counts as stuck.
const NO_RESULT: Duration = Duration::from_secs(60);

/// Reads the notices of the organiser again if they have changed. May block.
type NoticeSource = Arc<dyn Fn() -> Arc<Notices> + Send + Sync>;
/// Lets a ladder take up changes of the database, and tells when they are in force.
type TakeUp = Box<dyn Fn(oneshot::Sender<()>) + Send + Sync>;

/// The state of sending packs of records, for `/healthz` and `/metrics`.
#[derive(Debug, Default)]
pub struct PackSending {
    unsent: AtomicUsize,
    is_failing: AtomicBool,
}

impl PackSending {
    /// Notes the number of packs that wait.
    pub fn wait_for(&self, unsent: usize) {
        self.unsent.store(unsent, Ordering::Relaxed);
    }

    /// Notes that a pack was sent, and the number of packs that are left.
    pub fn succeed(&self, unsent: usize) {
        self.wait_for(unsent);
        self.is_failing.store(false, Ordering::Relaxed);
    }

    pub fn fail(&self) {
        self.is_failing.store(true, Ordering::Relaxed);
    }

    pub fn stop(&self) {
        self.succeed(0);
    }
}

/// A ladder as spectators and owners see it. Reading the database may block.
pub struct LadderPages {
    pub name: String,
    pub game: &'static Meta,
    pub seating: Seating,
    /// The last change of its rules.
    pub rules_changed: Option<RulesVersion>,
    /// The port for bots, once they can connect.
    pub port: OnceLock<u16>,
    /// Present once the ladder is played.
    pub take_up: OnceLock<TakeUp>,
    /// The number of refused logins of bots.
    pub refusals: Arc<AtomicU64>,
    pub has_tls: bool,
    /// The other ladders of the league that have pages, once these are there.
    pub others: OnceLock<Vec<OtherLadder>>,
    pub ladder: PublishedLadder,
    /// The directory of its records.
    pub records: PathBuf,
    /// Lets visitors play its programs, if the organiser does.
    pub visitors: Option<Arc<VisitorRoom>>,
    /// The state of sending packs of them.
    pub sending: Arc<PackSending>,
    pub league: Mutex<League>,
    /// The part that follows the file of the league.
    pub about: Mutex<AboutLeague>,
}

/// The league's description on pages, from its file.
#[derive(Clone)]
pub struct AboutLeague {
    pub name: Option<String>,
    pub owners: Option<OwnersLink>,
    /// Events at stated times, in order.
    pub events: Arc<Vec<PlannedEvent>>,
    pub notices: NoticeSource,
}

impl fmt::Debug for AboutLeague {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AboutLeague").field("name", &self.name).finish_non_exhaustive()
    }
}

impl AboutLeague {
    pub fn name_of(&self, ladder: &str) -> String {
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

    /// Takes up the current file of the league. The server for owners stays where it is.
    pub fn set_about(&self, about: AboutLeague) {
        let mut current = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        let link = |now: OwnersLink| {
            let port = current.owners.as_ref()?.port;
            Some(OwnersLink { port, ..now })
        };
        let owners = about.owners.map_or_else(|| current.owners.clone(), link);
        *current = AboutLeague { owners, ..about };
    }

    /// Notes where the other pages of the league are: those of its ladders, and the port of those for owners. Only the first call has
    /// an effect.
    pub fn set_neighbours(&self, others: Vec<OtherLadder>, owners: Option<u16>) {
        self.others.get_or_init(|| others);
        let mut about = self.about.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(link), Some(port)) = (&mut about.owners, owners) {
            link.port = port;
        }
    }

    fn others(&self) -> &[OtherLadder] {
        self.others.get().map_or(&[], Vec::as_slice)
    }

    /// A match of an earlier run of the server.
    pub fn finished(&self, row: LeagueMatch) -> FinishedMatch {
        row.finished(self.seating, &self.records)
    }

    /// The final standings of a season; empty for a moment after it has ended.
    fn final_standings(&self, season: Season) -> Result<SeasonStandings, StoreError> {
        let found = self.stored_standings(season.number)?.unwrap_or_default();
        let entry = SeasonEntry {
            name: season.name,
            ended_at: season.ended_at,
            matches: found.matches,
            winner: found.winner().map(|row| ShownName::of(row, None)),
        };
        let shown = self.ladder.get();
        let row = |row: &LadderRow| PlayerStanding::of(row, shown.owner_of(&row.player), None);
        Ok(SeasonStandings { season: entry, standings: found.standings.iter().map(row).collect() })
    }

    fn stored_standings(&self, season: u32) -> Result<Option<FinalStandings>, StoreError> {
        let text = self.league().final_standings(season, &self.name)?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// The standing of a player in the last season in which it played, if it has not come in this one; and
    /// that season.
    fn former(&self, name: &str) -> Result<Option<(PlayerStanding, String)>, StoreError> {
        let seasons = self.league().seasons()?;
        for season in seasons.into_iter().rev() {
            let rows = self.stored_standings(season.number)?.unwrap_or_default().standings;
            if let Some(row) = rows.into_iter().find(|row| row.player == name) {
                let shown = self.ladder.get();
                let mut before =
                    PlayerStanding::of(&row, shown.owner_of(name), Some(&LadderSnapshot::default()));
                before.standing.place = None;
                return Ok(Some((before, season.name)));
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
        let LeagueMatch { players: seats, ranks, ended_at, .. } = row;
        PlayedMatch { id, seats, ranks, text, ended_at, rated, ruling: None }
    }

    /// The players that were rated a week ago, in the order of the standings then.
    pub(crate) fn order_a_week_ago(&self) -> Result<Vec<String>, StoreError> {
        let week_ago = now().checked_sub(WEEK).unwrap_or(SystemTime::UNIX_EPOCH);
        let league = self.league();
        // Places of a season are not compared with those of the one before.
        let began = league.seasons()?.pop().map(|season| season.ended_at);
        if began.is_some_and(|began| began > utc(week_ago)) {
            return Ok(Vec::new());
        }
        league.order_at(&self.name, week_ago)
    }

    /// The notices of the organiser; what changes is read again. May block.
    pub(crate) fn notices(&self) -> Arc<Notices> {
        (self.about().notices)()
    }

    /// The programs that visitors can play now, each with its display name.
    pub(crate) fn programs(&self) -> Vec<(String, String)> {
        let Some(room) = &self.visitors else { return Vec::new() };
        let LadderEntry { online, display_names, .. } = self.ladder();
        let named = |name: String| (name.clone(), display_names.get(&name).cloned().unwrap_or(name));
        online.into_iter().filter(|name| room.has(name)).map(named).collect()
    }

    /// Returns the time since which the standings are hidden, in UTC.
    pub(crate) fn hidden_since(&self) -> Option<String> {
        self.ladder.get().in_force.hidden_since.clone()
    }

    /// A sentence if the standings are hidden.
    pub(crate) fn why_hidden(&self) -> Option<String> {
        self.hidden_since()?;
        let shown = |event: &PlannedEvent| event.what == EventKind::ShowStandings;
        let until = self.events(Some(&self.name)).into_iter().find(shown);
        let until =
            until.map(|event| format!(" until {} UTC", event.at.trim_end_matches('Z').replace('T', " ")));
        Some(format!("The standings are hidden{}.", until.unwrap_or_default()))
    }

    /// Coming events of a ladder, or of the whole league, the next one first.
    pub(crate) fn events(&self, ladder: Option<&str>) -> Vec<PlannedEvent> {
        let (now, all) = (utc(now()), self.about().events);
        let is_next = |event: &&PlannedEvent| event.at > now && (ladder.is_none() || event.is_of(ladder));
        all.iter().filter(is_next).cloned().collect()
    }

    /// Reads all matches of the season, each with whether it is one of the last, in order. Blocks.
    pub(crate) fn for_each_of_season(
        &self,
        mut each: impl FnMut(FinishedMatch, bool),
    ) -> Result<(), StoreError> {
        let league = self.league();
        let (last, season) = (league.last_number(&self.name)?, league.current_season()?);
        league.for_each_match(&self.name, Some(season), |row| {
            let is_listed = last.saturating_sub(row.number) as usize <= WatchServer::MOST_LISTED;
            each(self.finished(row), is_listed);
            Ok::<_, StoreError>(())
        })
    }

    pub(crate) fn ladder(&self) -> LadderEntry {
        let snapshot = self.ladder.get();
        // A program that fails is not there.
        let about = self.about();
        let is_hidden = snapshot.in_force.hidden_since.is_some();
        let online: BTreeSet<&String> =
            snapshot.online.iter().filter(|name| is_hidden || !snapshot.is_excluded(name)).collect();
        let shown = snapshot.display_names.iter().filter(|(name, _)| online.contains(name));
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
            paused: snapshot.is_paused,
            frozen: snapshot.in_force.is_frozen,
            closed_since: snapshot.in_force.closed_since.clone(),
            hidden_since: snapshot.in_force.hidden_since.clone(),
            events: self.events(Some(&self.name)),
            finals: snapshot.finals.clone(),
            others: self.others().to_vec(),
        }
    }

    /// Stored facts about a match besides its result; empty before its end.
    pub(crate) fn facts(&self, match_id: &str) -> Result<MatchFacts, StoreError> {
        let Some((number, _)) = parse_match_id(match_id) else { return Ok(MatchFacts::default()) };
        let is_hidden = self.hidden_since().is_some();
        let league = self.league();
        let Some(row) = league.find_match(&self.name, number)?.filter(|row| row.id() == match_id) else {
            return Ok(MatchFacts::default());
        };
        // The return match may have ended since the standings were hidden.
        let return_match = league.return_match(&self.name, &row)?.filter(|_| !is_hidden);
        drop(league);
        let began_at = self.began_at(&row);
        Ok(MatchFacts::of_ended(row, return_match, began_at))
    }

    /// Returns the time at which a match began, in UTC; `None` without its record, which alone says for how long it was
    /// paused.
    fn began_at(&self, row: &LeagueMatch) -> Option<String> {
        #[derive(Deserialize)]
        struct Pauses {
            #[serde(default)]
            paused_ms: u64,
        }
        let record = fs::read(self.records.join(row.record.as_ref()?)).ok()?;
        let mut lines = record.rsplit(|&byte| byte == b'\n');
        let result = lines.find(|line| line.starts_with(b"{\"type\":\"result\""))?;
        let Pauses { paused_ms } = serde_json::from_slice(result).ok()?;
        row.began_at(Duration::from_millis(paused_ms)).map(utc)
    }

    /// Lets the ladder take up changes of the database, and tells when they are in force. `None` while it is
    /// not played.
    pub(crate) fn take_up(&self) -> Option<oneshot::Receiver<()>> {
        let (done, taken_up) = oneshot::channel();
        (self.take_up.get()?)(done);
        Some(taken_up)
    }

    /// The standings for spectators. Does not block.
    pub(crate) fn standings(&self) -> StandingsView {
        let shown = self.ladder.get();
        if let (Some(why), Some(since)) = (self.why_hidden(), &shown.in_force.hidden_since) {
            let mut story = Story { heading: "The standings are hidden".to_owned(), ..Story::default() };
            if why.trim_end_matches('.') != story.heading {
                story.say(why);
            }
            let rulings = shown.rulings.iter().filter(|ruling| ruling.at < *since);
            return StandingsView {
                story: Some(story),
                names: shown.display_names.clone(),
                rulings: Arc::new(rulings.cloned().collect()),
                season: Some(shown.season),
                ..StandingsView::default()
            };
        }
        let row = |row: LadderRow| {
            let Standing { place, counts, rating, is_provisional, .. } = row.standing;
            StandingsRow {
                place,
                player: ShownName::of(&row, shown.owner_of(&row.player)),
                counts,
                points: rating.value.round(),
                rating: Some(rating),
                stronger_than_next: row.stronger_than_next,
                online: Some(shown.online.contains(&row.player)),
                state: shown.states.get(&row.player).map(ToString::to_string),
                is_provisional: Some(is_provisional),
                ..StandingsRow::default()
            }
        };
        let next = |WaitingMatch { sides, why }: &WaitingMatch| NextMatch {
            id: None,
            sides: sides.clone(),
            why: why.clone(),
        };
        StandingsView {
            rows: shown.ranking(now()).into_iter().map(row).collect(),
            next: shown.next.iter().map(next).collect(),
            last_change_of_lead: shown.lead_taken.clone(),
            names: shown.display_names.clone(),
            rulings: shown.rulings.clone(),
            copies: shown.copies,
            season: Some(shown.season),
            ..StandingsView::default()
        }
    }

    /// Returns whether results and journals can be written. Otherwise no match begins.
    pub(crate) fn is_storage_writable(&self) -> bool {
        !self.ladder.get().is_waiting_for_storage
    }

    /// Problems, a line each; empty if there are none.
    pub(crate) fn problems(&self) -> String {
        let shown = self.ladder.get();
        let mut problems = String::new();
        if shown.is_waiting_for_storage {
            problems += "storage: results or journals cannot be written, and no match begins\n";
        }
        if shown.is_paused {
            problems += "paused: no match begins until `referee league resume`\n";
        }
        if shown.in_force.closed_since.is_some() {
            problems +=
                "closed: an event has closed the ladder, and no match begins until another one opens it\n";
        }
        if shown.are_rules_failing {
            problems +=
                "rules: they failed in match after match, and one match a minute is tried until they work\n";
        }
        if self.sending.is_failing.load(Ordering::Relaxed) {
            let unsent = self.sending.unsent.load(Ordering::Relaxed);
            let unsent = counted(unsent, "pack of records waits", "packs of records wait");
            problems += &format!("packs: `[retention] send` has failed and is tried again; {unsent}\n");
        }
        let LadderSnapshot { jobs, waiting, running, .. } = *shown;
        if let Some(age) = shown.result_age(now()).filter(|age| *age >= NO_RESULT)
            && running >= jobs
            && waiting > 0
        {
            problems += &format!(
                "no free slot: {jobs} of {jobs} matches are in progress, {waiting} players wait, and no match has ended \
                 for {} s\n",
                age.as_secs()
            );
        }
        problems
    }

    /// The figures for Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let shown = self.ladder.get();
        let mut out = String::new();
        let mut figure = |name: &str, kind: &str, help: &str, value: f64| {
            let name = format!("referee_league_{name}");
            out += &format!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
        };
        let flag = |is_set: bool| f64::from(u8::from(is_set));
        figure(
            "storage_writable",
            "gauge",
            "1 if results and journals can be written.",
            flag(!shown.is_waiting_for_storage),
        );
        let unsent = self.sending.unsent.load(Ordering::Relaxed) as f64;
        figure("unsent_packs", "gauge", "Packs of records that wait to be sent.", unsent);
        let is_failing = flag(self.sending.is_failing.load(Ordering::Relaxed));
        figure("send_failing", "gauge", "1 if the last pack of records could not be sent.", is_failing);
        figure("paused", "gauge", "1 if the league is paused.", flag(shown.is_paused));
        let is_closed = flag(shown.in_force.closed_since.is_some());
        figure("closed", "gauge", "1 if an event has closed the ladder.", is_closed);
        let is_failing = flag(shown.are_rules_failing);
        figure(
            "rules_failing",
            "gauge",
            "1 if the rules, which are a program, failed in match after match.",
            is_failing,
        );
        figure("jobs", "gauge", "The maximum number of matches in progress.", shown.jobs as f64);
        figure("connections", "gauge", "Connections of bots.", shown.connections as f64);
        figure("waiting", "gauge", "Players that could be paired now.", shown.waiting as f64);
        let excluded = shown.states.keys().filter(|player| shown.is_excluded(player)).count();
        figure("excluded", "gauge", "Players that are excluded for their faults.", excluded as f64);
        let refused = self.refusals.load(Ordering::Relaxed) as f64;
        figure("refused_logins_total", "counter", "Connections whose hello was not accepted.", refused);
        if let Some(age) = shown.result_age(now()) {
            figure("result_age_seconds", "gauge", "Time since the last match ended.", age.as_secs_f64());
        }
        out
    }

    /// Returns whether there is a player with this name, or was in an earlier season.
    pub(crate) fn has_player(&self, name: &str) -> bool {
        let is_here = self.ladder.get().rows.iter().any(|row| row.player == name);
        is_here || self.league().has_player(&self.name, name).unwrap_or_default()
    }

    /// The snapshot published last. Does not block.
    pub(crate) fn shown(&self) -> Arc<LadderSnapshot> {
        self.ladder.get()
    }

    /// The newest versions of these bots. Does not block.
    pub(crate) fn newest(&self, bots: &[String]) -> Vec<PlayerStanding> {
        let shown = self.ladder.get();
        let is_wanted =
            |row: &&LadderRow| row.standing.is_newest && bots.contains(&Name::parse(&row.player).bot);
        let is_hidden = shown.in_force.hidden_since.is_some();
        let standing = |row| {
            let own = PlayerStanding::of(row, None, Some(&shown));
            if is_hidden { own.without_figures() } else { own }
        };
        shown.rows.iter().filter(is_wanted).map(standing).collect()
    }

    /// A player with its history; `None` if there is no such player.
    pub(crate) fn player(&self, name: &str) -> Result<Option<PlayerEntry>, StoreError> {
        let shown = self.ladder.get();
        let found = match shown.rows.iter().find(|row| row.player == name) {
            Some(row) => Some((PlayerStanding::of(row, shown.owner_of(name), Some(&shown)), None)),
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
            totals: InfoTotals::default(),
            reported: Vec::new(),
        }))
    }

    /// The bar of links at the top of its pages, as seen at this URL.
    pub(crate) fn nav_bar(&self, notices: &Notices, seen: Option<&PublicUrl>) -> NavBar {
        let mut bar = NavBar::of(Some(notices));
        bar.has_seasons = self.has_seasons();
        bar.has_visitors = self.visitors.is_some();
        let beside =
            |url: Option<&String>, port| url.cloned().or_else(|| seen.map(|seen| beside(seen, port)));
        let others = self.others().iter();
        bar.others = others
            .filter_map(|other| Some((other.name.clone(), beside(other.url.as_ref(), other.port)?)))
            .collect();
        bar.ladder = Some(self.name.clone());
        bar.owners = self.about().owners.and_then(|owners| beside(owners.url.as_ref(), owners.port));
        bar
    }

    /// The name of the league, if it has other ladders with pages: the bar has their names.
    pub(crate) fn league_of_several(&self) -> Option<String> {
        self.about().name.filter(|_| !self.others().is_empty())
    }

    /// Returns whether a season has ended.
    pub(crate) fn has_seasons(&self) -> bool {
        self.ladder.get().season > 1
    }

    /// The seasons that have ended, in order, without those whose standings are hidden.
    fn shown_seasons(&self) -> Result<Vec<Season>, StoreError> {
        let since = self.hidden_since();
        let mut seasons = self.league().seasons()?;
        seasons.retain(|season| since.as_ref().is_none_or(|since| season.ended_at < *since));
        Ok(seasons)
    }

    /// The seasons that have ended, the newest first.
    pub(crate) fn seasons(&self) -> Result<Vec<SeasonEntry>, StoreError> {
        let seasons = self.shown_seasons()?.into_iter().rev();
        seasons.map(|season| Ok(self.final_standings(season)?.season)).collect()
    }

    /// The final standings of a season; `None` if none with this name has ended.
    pub(crate) fn season(&self, name: &str) -> Result<Option<SeasonStandings>, StoreError> {
        let season = self.shown_seasons()?.into_iter().find(|season| season.name == name);
        season.map(|season| self.final_standings(season)).transpose()
    }

    /// The last matches of a season with a number below `before`, the newest first; `None` if no season with this name has
    /// ended.
    pub(crate) fn season_matches(
        &self,
        name: &str,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Option<Vec<PlayedMatch>>, StoreError> {
        let found = self.shown_seasons()?.into_iter().find(|season| season.name == name);
        let Some(season) = found else { return Ok(None) };
        let league = self.league();
        let rows = league.matches_of_season(season.number, &self.name, before, limit)?;
        drop(league);
        let names = self.ladder.get().display_names.clone();
        Ok(Some(rows.into_iter().map(|row| self.played(row, &names)).collect()))
    }

    /// Returns whether a match is stored in a season that has ended.
    pub(crate) fn is_of_ended_season(&self, match_id: &str) -> bool {
        let Some((number, _)) = parse_match_id(match_id) else { return false };
        let league = self.league();
        let read = league.current_season().and_then(|now| Ok((now, league.season_of(&self.name, number)?)));
        // If the database cannot be read, nothing more of it is listed.
        read.is_ok_and(|(now, season)| season.is_some_and(|season| season < now))
    }

    /// A match of an earlier run of the server; `None` if there is no such match.
    pub(crate) fn earlier(&self, match_id: &str) -> Option<FinishedMatch> {
        let (number, _) = parse_match_id(match_id)?;
        let found = self.league().find_match(&self.name, number);
        // A database that cannot be read has no matches to show.
        let row = found.inspect_err(|error| tracing::warn!("{match_id}: {}", Chain(error))).ok().flatten()?;
        if row.id() != match_id || self.hidden_since().is_some_and(|since| row.ended_at >= since) {
            return None;
        }
        Some(self.finished(row))
    }
}

impl PlayerStanding {
    /// The standing as it is shown while standings are hidden.
    fn without_figures(self) -> PlayerStanding {
        let standing = Standing {
            place: None,
            rating: Estimate { value: 0.0, low: 0.0, high: 0.0 },
            margin_in_field: 0.0,
            is_provisional: true,
            counts: MatchCounts::default(),
            ..self.standing
        };
        PlayerStanding { standing, ..self }
    }

    /// A row of standings, with whether the player is there now by this snapshot.
    fn of(row: &LadderRow, owner: Option<&ShownOwner>, now: Option<&LadderSnapshot>) -> PlayerStanding {
        let presence = |now: &LadderSnapshot| Presence {
            online: now.online.contains(&row.player),
            state: now.states.get(&row.player).map(ToString::to_string),
            last_seen: row.last_seen.clone(),
        };
        PlayerStanding {
            player: ShownName::of(row, owner),
            standing: row.standing,
            presence: now.map(presence),
        }
    }
}
