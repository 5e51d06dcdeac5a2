//! What the server of a ladder shows besides the run: its players, and how a bot joins.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::api::{HubState, as_json, refused};
use crate::entries::{DisplayNames, ShownRuling};
use crate::hub::Hub;
use crate::notices::Notices;
use crate::owners::SignUpMode;
use crate::seasons::{SeasonEntry, SeasonStandings};
use referee_game::counted;
use referee_league::{RatingPoint, RulesVersion};
use referee_results::FinishedMatch;
use referee_stats::Wdl;
use referee_stats::rating::Estimate;
use referee_store::StoreError;

/// A ladder, as spectators see it.
pub trait LadderView: Send + Sync {
    /// How a bot joins.
    fn ladder(&self) -> LadderEntry;

    /// Lets the ladder take up what was changed in the database, and tells when that is in force. `None` while it is not played.
    fn take_up(&self) -> Option<oneshot::Receiver<()>>;

    /// What works and what does not.
    fn health(&self) -> LadderHealth;

    /// Whether there is a player with this name, or was in an earlier season. May block.
    fn has_player(&self, name: &str) -> bool;

    /// The newest versions of these bots. Does not block.
    fn newest(&self, bots: &[String]) -> Vec<PlayerStanding>;

    /// A player with its history; `None` if there is no such player. May block.
    ///
    /// # Errors
    /// Those of the database.
    fn player(&self, name: &str) -> Result<Option<PlayerEntry>, StoreError>;

    /// The players that were rated a week ago, in the order of the standings then. May block.
    ///
    /// # Errors
    /// Those of the database.
    fn order_a_week_ago(&self) -> Result<Vec<String>, StoreError>;

    /// What the organiser has to say; what changes is read again. May block.
    fn notices(&self) -> Arc<Notices>;

    /// Whether a season has ended.
    fn has_seasons(&self) -> bool;

    /// The seasons that have ended, the newest first. May block.
    ///
    /// # Errors
    /// Those of the database.
    fn seasons(&self) -> Result<Vec<SeasonEntry>, StoreError>;

    /// The final standings of a season; `None` if none with this name has ended. May block.
    ///
    /// # Errors
    /// Those of the database.
    fn season(&self, name: &str) -> Result<Option<SeasonStandings>, StoreError>;

    /// The last matches of a season with a number below `before`, the newest first; `None` if no season with this name has
    /// ended. May block.
    ///
    /// # Errors
    /// Those of the database.
    fn season_matches(
        &self,
        name: &str,
        before: Option<u32>,
        limit: usize,
    ) -> Result<Option<Vec<PlayedMatch>>, StoreError>;

    /// Whether a match is stored in a season that has ended. May block.
    fn is_of_ended_season(&self, match_id: &str) -> bool;

    /// A match of an earlier run of the server; `None` if there is no such match. May block.
    fn earlier(&self, match_id: &str) -> Option<FinishedMatch>;
}

/// A ladder and how a bot joins it.
#[derive(Clone, Debug, Serialize)]
pub struct LadderEntry {
    /// The name of the league, for display.
    pub league: Option<String>,
    /// The name of the ladder.
    pub name: String,
    pub game: &'static str,
    /// The last change of its rules, if they are a program and have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules_changed: Option<RulesVersion>,
    /// The port that bots connect to; `None` if only programs play.
    pub port: Option<u16>,
    /// Whether bots connect with TLS.
    pub tls: bool,
    /// The players that are connected, or programs; without those that are excluded for their faults.
    pub online: Vec<String>,
    /// What people see instead of their names, by name.
    pub display_names: DisplayNames,
    /// Where owners of bots sign up and look after them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owners: Option<OwnersLink>,
    /// The other ladders of the league that have pages.
    pub others: Vec<OtherLadder>,
}

/// The pages for owners of bots.
#[derive(Clone, Debug, Serialize)]
pub struct OwnersLink {
    /// Their port.
    pub port: u16,
    /// Their URL, if the league file names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Who may sign up.
    pub signup: SignUpMode,
}

/// The time without a result after which a ladder that is full counts as stuck.
const NO_RESULT: Duration = Duration::from_secs(60);

/// What works on a ladder and what does not.
#[derive(Clone, Debug)]
pub struct LadderHealth {
    /// Whether results and journals can be written. Otherwise no match begins.
    pub is_storage_writable: bool,
    /// Whether no match begins because the league is paused.
    pub is_paused: bool,
    /// Whether a match begins only now and then because the rules, which are a program, fail.
    pub are_rules_failing: bool,
    /// The maximum number of matches in progress.
    pub jobs: usize,
    /// The number of matches in progress.
    pub running: usize,
    /// The number of connections of bots.
    pub connections: usize,
    /// The number of players that could be paired now.
    pub waiting: usize,
    /// The number of players that are not paired because of their faults.
    pub excluded: usize,
    /// The number of connections whose `hello` was not accepted.
    pub refused_logins: u64,
    /// The number of packs of records that wait to be sent.
    pub unsent_packs: usize,
    /// Whether the last one could not be sent.
    pub is_sending_failing: bool,
    /// The time since the last match ended.
    pub result_age: Option<Duration>,
}

impl LadderHealth {
    /// What does not work, a line each; empty if everything does.
    pub(super) fn problems(&self) -> String {
        let mut problems = String::new();
        if !self.is_storage_writable {
            problems += "storage: results or journals cannot be written, and no match begins\n";
        }
        if self.is_paused {
            problems += "paused: no match begins until `referee league resume`\n";
        }
        if self.are_rules_failing {
            problems +=
                "rules: they failed in match after match, and one match a minute is tried until they work\n";
        }
        if self.is_sending_failing {
            let unsent = counted(self.unsent_packs, "pack of records waits", "packs of records wait");
            problems += &format!("packs: `[retention] send` has failed and is tried again; {unsent}\n");
        }
        if let Some(age) = self.result_age.filter(|age| *age >= NO_RESULT)
            && self.running >= self.jobs
            && self.waiting > 0
        {
            let LadderHealth { jobs, waiting, .. } = self;
            problems += &format!(
                "no free slot: {jobs} of {jobs} matches are in progress, {waiting} players wait, and no match has ended \
                 for {} s\n",
                age.as_secs()
            );
        }
        problems
    }

    /// The figures for Prometheus.
    pub(super) fn metrics(&self) -> String {
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
            flag(self.is_storage_writable),
        );
        figure("unsent_packs", "gauge", "Packs of records that wait to be sent.", self.unsent_packs as f64);
        let is_failing = flag(self.is_sending_failing);
        figure("send_failing", "gauge", "1 if the last pack of records could not be sent.", is_failing);
        figure("paused", "gauge", "1 if the league is paused.", flag(self.is_paused));
        let is_failing = flag(self.are_rules_failing);
        figure(
            "rules_failing",
            "gauge",
            "1 if the rules, which are a program, failed in match after match.",
            is_failing,
        );
        figure("jobs", "gauge", "The maximum number of matches in progress.", self.jobs as f64);
        figure("connections", "gauge", "Connections of bots.", self.connections as f64);
        figure("waiting", "gauge", "Players that could be paired now.", self.waiting as f64);
        figure("excluded", "gauge", "Players that are excluded for their faults.", self.excluded as f64);
        let refused = self.refused_logins as f64;
        figure("refused_logins_total", "counter", "Connections whose hello was not accepted.", refused);
        if let Some(age) = self.result_age {
            figure("result_age_seconds", "gauge", "Time since the last match ended.", age.as_secs_f64());
        }
        out
    }
}

/// Another ladder of the same server.
#[derive(Clone, Debug, Serialize)]
pub struct OtherLadder {
    pub name: String,
    /// The port of its pages.
    pub port: u16,
    /// The URL of its pages, if the league file names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// What a player is now.
#[derive(Clone, Debug, Serialize)]
pub struct PlayerStanding {
    /// `NAME` or `NAME@VERSION`.
    pub name: String,
    /// What people see instead of its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Its place, from 1; `None` for anchors and earlier versions.
    pub place: Option<usize>,
    /// Elo with its 95% interval.
    pub rating: Estimate,
    /// The distance to the ends of the 95% interval of its difference to the field, in Elo.
    pub margin_in_field: f64,
    /// Whether the rating is fixed.
    pub anchor: bool,
    /// Whether its difference to the field is uncertain by more than 80 Elo, or comes from fewer than 30 matches.
    pub provisional: bool,
    /// Whether no later version of the bot has played.
    pub newest: bool,
    /// Whether it is connected, or a program.
    pub online: bool,
    /// Why it is not paired now.
    pub state: Option<String>,
    /// Rated matches with a result.
    pub matches: u32,
    /// Their results.
    #[serde(flatten)]
    pub wdl: Wdl,
    /// Matches in which it made a fault.
    pub faulted: u32,
    /// When its last match ended, in UTC.
    pub last_seen: Option<String>,
}

/// A player and its history.
#[derive(Clone, Debug, Serialize)]
pub struct PlayerEntry {
    /// What it is now.
    #[serde(flatten)]
    pub standing: PlayerStanding,
    /// The season of which these figures are, if it has not played in the one in progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub season: Option<String>,
    /// The players of the same bot, the oldest first.
    pub versions: Vec<String>,
    /// Its ratings over time, the oldest first.
    pub history: Vec<RatingPoint>,
    /// Its last matches, the newest first.
    pub last_matches: Vec<PlayedMatch>,
    /// Its results against others, the most frequent opponent first; filled in by the server.
    pub opponents: Vec<Opponent>,
}

/// The results of a player against another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Opponent {
    /// The other player.
    pub name: String,
    /// What people see instead of its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The matches with a result.
    pub matches: u32,
    /// Their results.
    #[serde(flatten)]
    pub wdl: Wdl,
    /// What it scored.
    pub points: f64,
    /// What it was expected to score by the ratings of today.
    pub expected: f64,
    pub last_match: String,
}

/// A match of a player.
#[derive(Clone, Debug, Serialize)]
pub struct PlayedMatch {
    /// The match id.
    pub id: String,
    /// The names of the players by seat.
    pub seats: Vec<String>,
    /// The result in words.
    pub text: String,
    /// When it ended, in UTC.
    pub ended_at: String,
    /// Whether it counts for ratings.
    pub rated: bool,
    /// The ruling that replaces its result; filled in by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<ShownRuling>,
}

/// The name of a player in a path.
pub(super) struct PlayerName(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for PlayerName {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(name)) => Ok(PlayerName(name)),
            Err(_) => {
                Err(refused(StatusCode::NOT_FOUND, "there is no player with this name, which is not UTF-8"))
            }
        }
    }
}

fn no_ladder() -> Response {
    refused(StatusCode::NOT_FOUND, "this is not a ladder of a league")
}

/// The ladder as JSON.
pub(super) async fn of_ladder(State(hub): HubState) -> Response {
    let Some(ladder) = hub.ladder() else { return no_ladder() };
    let compute = || referee_game::json::text(&ladder.ladder());
    as_json(StatusCode::OK, hub.answers().get("ladder", compute))
}

/// Answers with JSON that is read from the ladder, or with status 404 and the message `missing`. An answer is kept for a while, and
/// one is computed at a time.
pub(super) async fn answered(
    hub: &Arc<Hub>,
    key: String,
    missing: String,
    read: impl FnOnce(&dyn LadderView, &Hub) -> Result<Option<String>, StoreError> + Send + 'static,
) -> Response {
    let Some(ladder) = hub.ladder().map(Arc::clone) else { return no_ladder() };
    if let Some(kept) = hub.answers().kept(&key) {
        return as_json(StatusCode::OK, kept);
    }
    let _turn = hub.answers().computing.lock().await;
    // Another spectator may have asked for the same.
    if let Some(kept) = hub.answers().kept(&key) {
        return as_json(StatusCode::OK, kept);
    }
    let (began, own) = (Instant::now(), hub.clone());
    match tokio::task::spawn_blocking(move || read(&*ladder, &own)).await {
        Ok(Ok(Some(answer))) => {
            let answer = Bytes::from(answer);
            hub.answers().keep(&key, answer.clone(), began);
            as_json(StatusCode::OK, answer)
        }
        Ok(Ok(None)) => refused(StatusCode::NOT_FOUND, &missing),
        Ok(Err(error)) => {
            refused(StatusCode::INTERNAL_SERVER_ERROR, &format!("the league cannot be read: {error}"))
        }
        Err(_) => refused(StatusCode::INTERNAL_SERVER_ERROR, "the league cannot be read"),
    }
}

/// A player as JSON.
pub(super) async fn of_player(State(hub): HubState, PlayerName(name): PlayerName) -> Response {
    let (key, missing) = (format!("player {name}"), format!("there is no player `{name}`"));
    let read = move |ladder: &dyn LadderView, hub: &Hub| {
        let Some(mut player) = ladder.player(&name)? else { return Ok(None) };
        let opponents = hub.opponents(&player.standing.name);
        hub.note_rulings(&mut player.last_matches);
        Ok(Some(referee_game::json::text(&PlayerEntry { opponents, ..player })))
    };
    answered(&hub, key, missing, read).await
}
