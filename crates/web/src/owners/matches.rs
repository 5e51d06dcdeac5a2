//! The matches of an owner's bots, with their private lines.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use referee_files::read_record;
use referee_league::{League, LeagueBot, LeagueMatch, MatchFilter};
use referee_match::Faults;
use referee_match::record::{PublishedInfo, public};
use referee_protocol::words::{EndedBy, FaultCode};
use referee_report::{ending_in_words, fault_in_words};
use referee_store::parse_match_id;
use serde::{Deserialize, Serialize};

use crate::api::Parameters;

use super::account::{is_of, own_bots};
use super::error::OwnersError;
use super::session::SignedIn;
use super::{OwnersLadder, OwnersState, json};

/// The default and the maximum number of matches in a list.
const LIST: u32 = 50;
const MOST_LISTED: u32 = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchQuery {
    ladder: Option<String>,
    /// Whether a bot of the owner must have made a fault.
    #[serde(default)]
    faulted: bool,
    /// The number that is larger than those of the matches; needs a ladder.
    before: Option<u32>,
    limit: Option<u32>,
}

/// A match of an owner's bots.
#[derive(Serialize)]
struct OwnMatch {
    ladder: String,
    id: String,
    /// The players by seat.
    players: Vec<String>,
    /// The seats of the owner's bots.
    own_seats: Vec<usize>,
    /// By seat; `None` without a result.
    ranks: Option<Vec<u8>>,
    /// The faults of the owner's bots.
    faults: Vec<OwnFaults>,
    /// The ending in words.
    ending: String,
    ended_by: EndedBy,
    reason: String,
    rated: bool,
    ended_at: String,
}

#[derive(Serialize)]
struct OwnFaults {
    code: FaultCode,
    words: &'static str,
    count: u32,
}

fn own_seats(row: &LeagueMatch, bots: &[LeagueBot]) -> Vec<usize> {
    let seats = row.players.iter().enumerate().filter(|(_, player)| is_of(player, bots));
    seats.map(|(seat, _)| seat).collect()
}

fn own_match(ladder: &str, row: LeagueMatch, bots: &[LeagueBot]) -> OwnMatch {
    let own_seats = own_seats(&row, bots);
    let mut faults = Faults::default();
    own_seats.iter().filter_map(|&seat| row.faults.get(seat)).for_each(|of_seat| faults.merge(of_seat));
    let of_kind = |(code, count)| OwnFaults { code, words: fault_in_words(code), count };
    let mut faults: Vec<OwnFaults> = faults.iter().map(of_kind).collect();
    faults.sort_by_key(|own| own.code.as_str());
    OwnMatch {
        ladder: ladder.to_owned(),
        id: row.id(),
        rated: row.counts(),
        players: row.players,
        own_seats,
        ranks: row.ranks,
        faults,
        ending: ending_in_words(None, row.ended_by.as_str(), &row.reason),
        ended_by: row.ended_by,
        reason: row.reason,
        ended_at: row.ended_at,
    }
}

/// The last matches of an owner's bots, the newest first.
pub(super) async fn list(
    State(owners): OwnersState,
    SignedIn { owner, .. }: SignedIn,
    Parameters(query): Parameters<MatchQuery>,
) -> Result<Response, OwnersError> {
    let limit = query.limit.unwrap_or(LIST);
    if !(1..=MOST_LISTED).contains(&limit) {
        return Err(OwnersError::field("limit", format!("{limit} is not from 1 to {MOST_LISTED}")));
    }
    if query.before.is_some() && query.ladder.is_none() {
        return Err(OwnersError::field("before", "it needs `ladder`"));
    }
    let found = owners.with(move |owners, league| {
        let bots = own_bots(league, &owner.id)?;
        let names: Vec<String> = bots.iter().map(|bot| bot.name.clone()).collect();
        let ladders: Vec<&OwnersLadder> = match &query.ladder {
            Some(name) => vec![owners.ladder(name)?],
            None => owners.ladders.iter().collect(),
        };
        let filter = MatchFilter {
            players: Some(&names),
            is_faulted: query.faulted,
            before: query.before,
            ..MatchFilter::default()
        };
        let mut found = Vec::new();
        for ladder in ladders {
            let rows = league.last_matches(&ladder.name, filter, limit as usize)?;
            found.extend(rows.into_iter().map(|row| own_match(&ladder.name, row, &bots)));
        }
        found.sort_by(|a, b| b.ended_at.cmp(&a.ended_at));
        found.truncate(limit as usize);
        Ok(found)
    });
    Ok(json(StatusCode::OK, &serde_json::json!({ "matches": found.await? })))
}

/// The lines of a match that only the owner of these bots may read: the private lines of its seats.
pub(super) fn private_lines(
    ladder: &OwnersLadder,
    row: &LeagueMatch,
    bots: &[LeagueBot],
) -> Result<Vec<u8>, OwnersError> {
    let id = row.id();
    let missing = || OwnersError::NoSuch { what: "record of the match", name: id.clone() };
    let name = row.record.as_ref().ok_or_else(missing)?;
    let record = read_record(&ladder.records.join(name)).map_err(|_| missing())?;
    let parts = public(&record, PublishedInfo::Never).map_err(|_| missing())?;
    let own = own_seats(row, bots);
    let lines = parts.private.into_iter().enumerate().filter(|(seat, _)| own.contains(seat));
    Ok(lines.flat_map(|(_, lines)| lines).collect())
}

/// A match of an owner's bots.
pub(super) fn find(
    league: &League,
    ladder: &OwnersLadder,
    id: &str,
    bots: &[LeagueBot],
) -> Result<LeagueMatch, OwnersError> {
    let missing = || OwnersError::NoSuch { what: "match of yours", name: id.to_owned() };
    let (number, _) = parse_match_id(id).ok_or_else(missing)?;
    let row = league.find_match(&ladder.name, number)?.filter(|row| row.id() == id);
    row.filter(|row| !own_seats(row, bots).is_empty()).ok_or_else(missing)
}

/// The private lines of the owner's seats in a match.
pub(super) async fn log(
    State(owners): OwnersState,
    SignedIn { owner, .. }: SignedIn,
    Path((ladder, id)): Path<(String, String)>,
) -> Result<Response, OwnersError> {
    let lines = owners.with(move |owners, league| {
        let ladder = owners.ladder(&ladder)?;
        let bots = own_bots(league, &owner.id)?;
        private_lines(ladder, &find(league, ladder, &id, &bots)?, &bots)
    });
    Ok(([(CONTENT_TYPE, "application/jsonl")], lines.await?).into_response())
}
