//! The page of organisers: what goes on in the league, and what they decide. Each act is that of a command.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use referee_game::Wrong;
use referee_league::{
    BotEnd, LadderMatches, League, LeagueChange, LeaguePart, MatchFilter, OrganiserAct, OwnerState,
    PlannedEvent, Submission,
};
use referee_stats::ladder::Name;
use referee_store::{DisqualifiedFrom, Leases, RequestedDecision, RequestedRuling, StoreError, utc};
use serde::{Deserialize, Serialize};

use super::error::OwnersError;
use super::notices::{BotNotice, notices};
use super::session::{Body, SessionBody, hash_in};
use super::{Owners, OwnersLadder, OwnersState, json, now, respond};
use crate::guard;
use crate::notices::announce;
use crate::pages::{COMMON_SCRIPT, Page, PageCard, SIGNED_SCRIPT, TOP};

/// The cookie with the token of an organiser.
const COOKIE_NAME: &str = "referee_organiser";
/// The age up to which faults are shown.
const HOUR: Duration = Duration::from_secs(60 * 60);
/// The number of matches of a ladder that are looked through for them.
const LOOKED_AT: usize = 500;
/// The number of faults and changes that are shown.
const MOST_FAULTS: usize = 50;
const MOST_CHANGES: usize = 30;

/// The organiser who sends a request.
pub(super) struct Organiser {
    name: String,
    hash: [u8; 32],
}

impl FromRequestParts<Arc<Owners>> for Organiser {
    type Rejection = OwnersError;

    async fn from_request_parts(parts: &mut Parts, owners: &Arc<Owners>) -> Result<Organiser, OwnersError> {
        let hash = hash_in(parts, &owners.options(), COOKIE_NAME)?;
        let name = owners.with(move |_, league| Ok(league.organiser_by(&hash)?)).await?;
        if !guard::is_read(&parts.method) {
            owners.count_change(&format!("organiser {name}"))?;
        }
        Ok(Organiser { name, hash })
    }
}

/// The page of organisers, or how to sign in.
pub(super) async fn page(State(owners): OwnersState, headers: HeaderMap) -> Response {
    static PAGE: LazyLock<Page> = LazyLock::new(|| {
        let (body, script) =
            (include_str!("../assets/organiser.html"), include_str!("../assets/organiser.js"));
        Page::about(None, TOP, body, &[COMMON_SCRIPT, SIGNED_SCRIPT, script])
    });
    let title = format!("Organise {}", owners.options().league_name);
    let card = PageCard { title, description: "For organisers.".to_owned(), picture: None };
    respond(&owners, &PAGE, card, &headers, None).await
}

pub(super) async fn begin(
    State(owners): OwnersState,
    Body(body): Body<SessionBody>,
) -> Result<Response, OwnersError> {
    let check = |league: &League, hash| Ok(league.organiser_by(&hash).map(drop)?);
    owners.sign_in(COOKIE_NAME, body, check).await
}

pub(super) async fn end(State(owners): OwnersState) -> Response {
    owners.sign_out(COOKIE_NAME)
}

/// The state of a league for its organiser.
#[derive(Serialize)]
struct LeagueFacts<'a> {
    league: &'a str,
    organiser: &'a str,
    paused: bool,
    /// Whether announcements have a directory.
    announces: bool,
    /// Events at stated times, the next one first.
    events: Vec<PlannedEvent>,
    ladders: Vec<LadderFacts>,
    bots: Vec<BotFacts>,
    /// Bots that are offline, excluded or failing.
    notices: Vec<BotNotice>,
    owners: Vec<OwnerFacts>,
    /// Submissions that are not decided.
    submissions: Vec<PendingSubmission>,
    /// Faults of the last hour, the newest first.
    faults: Vec<FaultFacts>,
    disk: Option<DiskFacts>,
    /// Changes, the latest one first.
    log: Vec<LeagueChange>,
}

#[derive(Serialize)]
struct LadderFacts {
    name: String,
    game: &'static str,
    /// Whether no match begins until the ladder is resumed.
    paused: bool,
    /// The time since which an event lets no match begin, in UTC.
    closed_since: Option<String>,
    /// Whether no match begins because results cannot be written.
    waits_for_storage: bool,
    /// Whether no match begins because the rules fail.
    rules_fail: bool,
    online: usize,
    /// Matches in progress on the server, and how many there may be.
    running: usize,
    jobs: usize,
    last_result: Option<String>,
    next: Vec<NextMatch>,
    /// Sets that wait for a worker.
    queued: usize,
    workers: Vec<WorkerFacts>,
    watch_port: Option<u16>,
    url: Option<String>,
}

#[derive(Serialize)]
struct NextMatch {
    sides: Vec<Vec<String>>,
    why: String,
}

#[derive(Serialize)]
struct WorkerFacts {
    name: String,
    state: String,
    connected: bool,
    reason: Option<String>,
    matches: u32,
    faults: u32,
    lost: u32,
}

#[derive(Serialize)]
struct BotFacts {
    name: String,
    display_name: Option<String>,
    owner: String,
    connects: bool,
    paused: bool,
    /// The reason why it takes part no longer.
    ended: Option<BotEnd>,
    online: bool,
    /// Whether the bot could play, but no match of it has ended for an hour.
    stuck: bool,
    /// The end of the last match; `None` before the first one.
    last_match: Option<String>,
}

#[derive(Serialize)]
struct OwnerFacts {
    id: String,
    display_name: Option<String>,
    affiliation: Option<String>,
    contact: Option<String>,
    state: OwnerState,
    /// The number of its bots that take part.
    bots: usize,
    /// Whether a bot of the owner takes part, or the owner has a submission that has not failed.
    handed_in: bool,
}

#[derive(Serialize)]
struct PendingSubmission {
    owner: String,
    #[serde(flatten)]
    submission: Submission,
}

#[derive(Serialize)]
struct FaultFacts {
    ladder: String,
    id: String,
    player: String,
    /// The code of the last fault in the match.
    fault: &'static str,
    ended_at: String,
}

/// The file system of the league, in bytes.
#[derive(Serialize)]
struct DiskFacts {
    free: u64,
    size: u64,
}

pub(super) async fn show(
    State(owners): OwnersState,
    Organiser { name, .. }: Organiser,
) -> Result<Response, OwnersError> {
    owners.with(move |owners, league| Ok(facts(owners, league, &name)?)).await
}

fn facts(owners: &Owners, league: &League, organiser: &str) -> Result<Response, StoreError> {
    let at = now();
    let hour_ago = utc(at.checked_sub(HOUR).unwrap_or(SystemTime::UNIX_EPOCH));
    let bots = league.bots()?;
    let ended = league.ended_bots(None)?;
    let is_paused = league.is_paused()?;
    let mut ladders = Vec::new();
    let mut faults = Vec::new();
    let mut of_bots: Vec<BotFacts> = bots
        .iter()
        .map(|bot| BotFacts {
            name: bot.name.clone(),
            display_name: bot.display_name.clone(),
            owner: bot.owner.clone(),
            connects: bot.command.is_none(),
            paused: bot.is_paused,
            ended: ended.get(&bot.name).copied(),
            online: false,
            stuck: false,
            last_match: None,
        })
        .collect();
    for ladder in &owners.ladders {
        let shown = ladder.view.shown();
        let is_ladder_paused = league.is_ladder_paused(&ladder.name)?;
        let begins = !is_paused && !is_ladder_paused && shown.in_force.closed_since.is_none();
        for player in league.players(&ladder.name)? {
            let name = Name::parse(&player.name).bot;
            if let Some(of) = of_bots.iter_mut().find(|of| of.name == name) {
                of.last_match = of.last_match.take().max(Some(player.last_seen));
            }
        }
        for of in &mut of_bots {
            let here = shown.online.iter().filter(|player| Name::parse(player).bot == of.name);
            let (here, kept): (Vec<_>, Vec<_>) = here.partition(|player| !shown.states.contains_key(*player));
            of.online |= !here.is_empty() || !kept.is_empty();
            of.stuck |= !here.is_empty() && begins && shown.online.len() > 1;
        }
        faults.extend(faults_of(league, ladder, &hour_ago)?);
        ladders.push(ladder_facts(ladder, is_ladder_paused)?);
    }
    for of in &mut of_bots {
        let is_idle = of.last_match.as_ref().is_none_or(|last| *last < hour_ago);
        let is_new = bots.iter().any(|bot| bot.name == of.name && bot.added_at >= hour_ago);
        of.stuck &= is_idle && !is_new;
    }
    faults.sort_by(|one: &FaultFacts, other| other.ended_at.cmp(&one.ended_at));
    faults.truncate(MOST_FAULTS);
    let submissions = league.submissions(None)?;
    let of_owner = |owner: referee_league::LeagueOwner| {
        let bots = bots.iter().filter(|bot| bot.owner == owner.id && bot.revoked_at.is_none()).count();
        let has_submitted = submissions.iter().any(|row| row.owner == owner.id && row.state.is_pending());
        OwnerFacts {
            bots,
            handed_in: bots > 0 || has_submitted,
            id: owner.id,
            display_name: owner.display_name,
            affiliation: owner.affiliation,
            contact: owner.contact,
            state: owner.state,
        }
    };
    let of_owners = league.owners()?.into_iter().map(of_owner).collect();
    let options = owners.options();
    let mut log = league.log_entries(MOST_CHANGES)?;
    log.reverse();
    let facts = LeagueFacts {
        league: &options.league_name,
        organiser,
        paused: is_paused,
        announces: options.announcements.is_some(),
        events: owners.events(),
        ladders,
        notices: notices(&owners.ladders, league, &bots, at)?,
        bots: of_bots,
        owners: of_owners,
        submissions: submissions
            .iter()
            .filter(|row| row.state.is_pending())
            .map(|row| PendingSubmission { owner: row.owner.clone(), submission: row.clone() })
            .collect(),
        faults,
        disk: owners.ladders.first().and_then(disk_of),
        log,
    };
    Ok(json(StatusCode::OK, &facts))
}

fn ladder_facts(ladder: &OwnersLadder, is_paused: bool) -> Result<LadderFacts, StoreError> {
    let shown = ladder.view.shown();
    let leases = ladder.records.parent().map(Leases::of_run).transpose()?.flatten();
    let (mut workers, mut queued) = (Vec::new(), 0);
    if let Some(leases) = leases {
        queued = leases.open_sets()?.iter().filter(|lease| lease.worker.is_none()).count();
        workers = leases.workers()?;
    }
    let worker = |row: referee_store::WorkerRow| WorkerFacts {
        name: row.name,
        state: row.state,
        connected: row.is_connected,
        reason: row.reason,
        matches: row.matches,
        faults: row.faults,
        lost: row.lost,
    };
    let next = shown.next.iter().map(|next| NextMatch { sides: next.sides.clone(), why: next.why.clone() });
    Ok(LadderFacts {
        name: ladder.name.clone(),
        game: ladder.view.ladder().game,
        paused: is_paused,
        closed_since: shown.in_force.closed_since.clone(),
        waits_for_storage: shown.is_waiting_for_storage,
        rules_fail: shown.are_rules_failing,
        online: shown.online.len(),
        running: shown.running,
        jobs: shown.jobs,
        last_result: shown.last_result.clone(),
        next: next.collect(),
        queued,
        workers: workers.into_iter().map(worker).collect(),
        watch_port: ladder.watch_port,
        url: ladder.watch_url.clone(),
    })
}

fn faults_of(league: &League, ladder: &OwnersLadder, since: &str) -> Result<Vec<FaultFacts>, StoreError> {
    let rows = league.last_matches(&ladder.name, MatchFilter::default(), LOOKED_AT)?;
    let mut found = Vec::new();
    for row in rows.iter().take_while(|row| *row.ended_at >= *since) {
        for (player, faults) in row.players.iter().zip(&row.faults) {
            if let Some((code, _)) = faults.iter().last() {
                let (ladder, id) = (ladder.name.clone(), row.id());
                let (player, ended_at) = (player.clone(), row.ended_at.clone());
                found.push(FaultFacts { ladder, id, player, fault: code.as_str(), ended_at });
            }
        }
    }
    Ok(found)
}

fn disk_of(ladder: &OwnersLadder) -> Option<DiskFacts> {
    let of = rustix::fs::statvfs(&ladder.records).ok()?;
    Some(DiskFacts { free: of.f_bavail * of.f_frsize, size: of.f_blocks * of.f_frsize })
}

#[derive(Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Decision {
    /// Pauses a ladder or a bot; the league without either.
    Pause {
        ladder: Option<String>,
        bot: Option<String>,
    },
    Resume {
        ladder: Option<String>,
        bot: Option<String>,
    },
    /// The bot takes part no longer.
    Revoke {
        bot: String,
    },
    ApproveOwner {
        owner: String,
    },
    RemoveOwner {
        owner: String,
    },
    BanOwner {
        owner: String,
    },
    UnbanOwner {
        owner: String,
    },
    ApproveSubmission {
        submission: u32,
    },
    RejectSubmission {
        submission: u32,
        reason: String,
    },
    Void {
        ladder: String,
        r#match: String,
        reason: String,
    },
    Replay {
        ladder: String,
        r#match: String,
        reason: String,
    },
    /// The match is drawn without a winner.
    Award {
        ladder: String,
        r#match: String,
        winner: Option<String>,
        reason: String,
    },
    Disqualify {
        bot: String,
        reason: String,
    },
    Undo {
        ruling: u32,
        reason: String,
    },
    Announce {
        title: String,
        text: String,
    },
}

/// Applies an act of an organiser.
pub(super) async fn decide(
    State(owners): OwnersState,
    Organiser { hash, .. }: Organiser,
    Body(decision): Body<Decision>,
) -> Result<Response, OwnersError> {
    owners
        .with(move |owners, league| {
            // Since the head of the request came, it may have been removed.
            let user = format!("organiser {}", league.organiser_by(&hash)?);
            decided(owners, league, user, decision)
        })
        .await?;
    owners.taken_up().await;
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn decided(
    owners: &Owners,
    league: &mut League,
    user: String,
    decision: Decision,
) -> Result<(), OwnersError> {
    let pause = |ladder: Option<String>, bot: Option<String>| match (&ladder, &bot) {
        (Some(_), Some(_)) => Err(OwnersError::field("bot", "either it, or `ladder`")),
        (Some(name), None) => owners.ladder(name).map(|_| (ladder, bot)),
        _ => Ok((ladder, bot)),
    };
    let matches =
        |ladder: String, id: String| owners.ladder(&ladder).map(|_| LadderMatches { ladder, ids: vec![id] });
    let (ruling, reason) = match decision {
        Decision::Void { ladder, r#match, reason } => {
            (RequestedDecision::Void(matches(ladder, r#match)?), reason)
        }
        Decision::Replay { ladder, r#match, reason } => {
            (RequestedDecision::Replay(matches(ladder, r#match)?), reason)
        }
        Decision::Award { ladder, r#match, winner, reason } => {
            (RequestedDecision::Award { id: matches(ladder, r#match)?, winner }, reason)
        }
        Decision::Disqualify { bot, reason } => {
            (RequestedDecision::Disqualify { name: bot, from: DisqualifiedFrom::Now }, reason)
        }
        Decision::Undo { ruling, reason } => (RequestedDecision::Undo(ruling), reason),
        Decision::Announce { title, text } => {
            let folder: PathBuf = owners.options().announcements.clone().ok_or_else(|| {
                OwnersError::field("act", "the file of the league has no `announcements` in `[pages]`")
            })?;
            announce(&folder, &title, &text, now()).map_err(|why| OwnersError::Body(Wrong::of(&why)))?;
            return Ok(league.log(&user, &format!("announce {title}"), now())?);
        }
        other => {
            let (ladder, bot);
            let act = match &other {
                Decision::Pause { ladder: on, bot: of } | Decision::Resume { ladder: on, bot: of } => {
                    (ladder, bot) = pause(on.clone(), of.clone())?;
                    let part = match (&ladder, &bot) {
                        (Some(ladder), _) => LeaguePart::Ladder(ladder),
                        (None, Some(bot)) => LeaguePart::Bot(bot),
                        (None, None) => LeaguePart::League,
                    };
                    OrganiserAct::Pause { part, is_paused: matches!(other, Decision::Pause { .. }) }
                }
                Decision::Revoke { bot } => OrganiserAct::Revoke { bot },
                Decision::ApproveOwner { owner } => OrganiserAct::ApproveOwner { owner },
                Decision::RemoveOwner { owner } => OrganiserAct::RemoveOwner { owner },
                Decision::BanOwner { owner } => OrganiserAct::BanOwner { owner, is_banned: true },
                Decision::UnbanOwner { owner } => OrganiserAct::BanOwner { owner, is_banned: false },
                Decision::RejectSubmission { submission, reason } => {
                    OrganiserAct::RejectSubmission { id: *submission, reason }
                }
                Decision::ApproveSubmission { submission } => OrganiserAct::ApproveSubmission(*submission),
                _ => return Ok(()),
            };
            return Ok(league.act(&user, act, now())?);
        }
    };
    if reason.trim().is_empty() {
        return Err(OwnersError::field("reason", "a ruling needs a reason"));
    }
    league.rule(&RequestedRuling { decision: ruling, user, reason, is_public: true }, now())?;
    Ok(())
}
