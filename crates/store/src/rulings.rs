//! Rulings: decisions of the organiser of a tournament or a league. `rulings.sql` documents the table.

use std::collections::BTreeMap;
use std::time::SystemTime;

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use crate::match_kind::{MatchKind, match_id};
use crate::read_row;
use crate::rows::{json, parsed_column, result};
use crate::stored_words;
use crate::time::utc;
use referee_game::Wrong;

/// The number of matches up to which words name each. Rulings on more of them make them void or replay them.
const MOST_NAMED: usize = 6;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RulingAct {
    /// A match does not count.
    Void,
    /// The points of a match go to a side, or half of them to each.
    Award,
    /// A match is played again.
    Replay,
    /// An entrant or bot loses a match, or takes part no longer.
    Disqualify,
    /// An entrant or bot has another display name.
    Rename,
}

stored_words!(RulingAct {
    Void => "void",
    Award => "award",
    Replay => "replay",
    Disqualify => "disqualify",
    Rename => "rename",
});

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuledMatch {
    /// The number in the id: 17 for m17.
    pub number: u32,
    /// The last attempt before the ruling; 0 if there is none.
    pub attempt: u32,
    /// The player who gets the points; `None` for a draw, and for a match that does not count.
    pub winner: Option<String>,
    /// The reason why the match was played, on a ladder.
    #[serde(default)]
    pub kind: MatchKind,
}

impl RuledMatch {
    /// The match id without its attempt.
    pub fn id(&self) -> String {
        match_id(self.number, self.kind)
    }

    /// The effect of a ruling on it: `awarded to alice`.
    pub fn outcome(&self, act: RulingAct) -> String {
        match (act, &self.winner) {
            (RulingAct::Replay, _) => "replayed".to_owned(),
            (_, Some(winner)) => format!("awarded to {winner}"),
            (RulingAct::Award, None) => "awarded as a draw".to_owned(),
            (_, None) => "void".to_owned(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulingRow {
    /// From 1; ignored when it is added.
    pub id: u32,
    /// In UTC.
    pub at: String,
    /// The user of the operating system who made it.
    pub user: String,
    pub act: RulingAct,
    /// The ladder of a league; `None` for all of them.
    pub ladder: Option<String>,
    /// The matches on which it decides.
    pub matches: Vec<RuledMatch>,
    /// The entrant or bot that is disqualified or renamed.
    pub name: Option<String>,
    /// Whether all results of a disqualified entrant or bot are annulled.
    pub is_from_start: bool,
    /// The display names before and after.
    #[serde(skip)]
    pub display: Option<[Option<String>; 2]>,
    /// The round of a tournament that was paired next when it was made.
    #[serde(skip)]
    pub since: u32,
    /// The round that was paired next when the ruling was undone.
    #[serde(skip)]
    pub until: Option<u32>,
    pub reason: String,
    /// Whether the reason is public.
    pub is_public: bool,
    /// The undoing, if the ruling was undone.
    pub undone: Option<UndoneRuling>,
}

impl RulingRow {
    pub fn made(at: SystemTime, act: RulingAct, user: &str, reason: &str, is_public: bool) -> RulingRow {
        RulingRow {
            id: 0,
            at: utc(at),
            user: user.to_owned(),
            act,
            ladder: None,
            matches: Vec::new(),
            name: None,
            is_from_start: false,
            display: None,
            since: 0,
            until: None,
            reason: reason.to_owned(),
            is_public,
            undone: None,
        }
    }

    /// Returns whether it was not undone.
    pub fn is_in_force(&self) -> bool {
        self.undone.is_none()
    }

    /// The ruling with this number among those of a `tournament` or a `league`, if it is in force.
    ///
    /// # Errors
    /// If there is none, or it was undone.
    pub fn find<'a>(rulings: &'a [RulingRow], id: u32, of: &'static str) -> Result<&'a RulingRow, Wrong> {
        let found = rulings
            .iter()
            .find(|row| row.id == id)
            .ok_or(Wrong::from(format!("there is no ruling {id}: `referee {of} rulings` lists them")))?;
        match &found.undone {
            None => Ok(found),
            Some(UndoneRuling { at, user, .. }) => {
                Err(format!("ruling {id} was undone by {user} at {at}").into())
            }
        }
    }

    /// The decision in words: `m17 is awarded to alice`.
    pub fn words(&self) -> String {
        let ids: Vec<String> = self.matches.iter().map(RuledMatch::id).collect();
        let (ids, name) = (ids.join(" and "), self.name.as_deref().unwrap_or_default());
        let outcomes = self.matches.iter().map(|ruled| ruled.outcome(self.act));
        if let [first, .., last] = &self.matches[..]
            && self.matches.len() > MOST_NAMED
        {
            let what = if self.act == RulingAct::Replay { "played again" } else { "void" };
            return format!("{} matches from {} to {} are {what}", self.matches.len(), first.id(), last.id());
        }
        match self.act {
            RulingAct::Void | RulingAct::Award => {
                let of_match =
                    |(ruled, outcome): (&RuledMatch, String)| format!("{} is {outcome}", ruled.id());
                self.matches.iter().zip(outcomes).map(of_match).collect::<Vec<_>>().join(", ")
            }
            RulingAct::Replay if self.matches.len() > 1 => {
                format!("{ids} are played again, on another deal")
            }
            RulingAct::Replay => format!("{ids} is played again"),
            RulingAct::Disqualify if self.is_from_start => format!("{name} is disqualified from the start"),
            RulingAct::Disqualify if self.matches.is_empty() => format!("{name} is disqualified"),
            RulingAct::Disqualify => {
                let outcomes = outcomes.collect::<Vec<_>>().join(", ");
                format!("{name} is disqualified from {ids}: it is {outcomes}")
            }
            RulingAct::Rename => {
                let after = self.display.as_ref().and_then(|[_, after]| after.as_deref());
                format!("{name} is shown as {}", after.unwrap_or(name))
            }
        }
    }
}

/// A ruling, as it is asked for. `M` names a match.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RequestedRuling<M = String> {
    pub decision: RequestedDecision<M>,
    /// The user of the operating system who decides.
    pub user: String,
    pub reason: String,
    /// Whether the reason is public.
    pub is_public: bool,
}

impl<M> RequestedRuling<M> {
    /// The ruling, before what it decides is known.
    pub fn made(&self, act: RulingAct, at: SystemTime) -> RulingRow {
        RulingRow::made(at, act, &self.user, &self.reason, self.is_public)
    }
}

/// A decision to be made, on a match or on an entrant or bot with this name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestedDecision<M = String> {
    /// A match does not count.
    Void(M),
    /// A match gives the points of a win, or without a winner of a draw.
    Award { id: M, winner: Option<String> },
    /// A match is played again.
    Replay(M),
    /// An entrant or bot plays no more, or loses a match.
    Disqualify { name: String, from: DisqualifiedFrom<M> },
    /// People see another name; its name without one.
    Rename { name: String, display: Option<String> },
    /// The ruling with this number holds no longer.
    Undo(u32),
}

/// The matches that a disqualification covers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisqualifiedFrom<M = String> {
    /// The entrant or bot loses this match.
    Match(M),
    /// The entrant or bot plays no more.
    Now,
    /// The results are annulled, too.
    Start,
}

impl<M> DisqualifiedFrom<M> {
    /// Chooses the matches as options say: from a match, or from the start; otherwise from now on.
    pub fn of(from_match: Option<M>, from_start: bool) -> DisqualifiedFrom<M> {
        match (from_match, from_start) {
            (Some(id), _) => DisqualifiedFrom::Match(id),
            (None, true) => DisqualifiedFrom::Start,
            (None, false) => DisqualifiedFrom::Now,
        }
    }
}

/// The winner of a match that one of its players, given by seat, loses: the only opponent. With several of
/// them none does.
pub fn only_opponent<P: PartialEq>(players: impl IntoIterator<Item = P>, loser: &P) -> Option<P> {
    let mut others = players.into_iter().filter(|player| player != loser);
    let only = others.next()?;
    others.all(|other| other == only).then_some(only)
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UndoneRuling {
    #[serde(skip)]
    pub id: u32,
    /// The value of [`RulingRow::until`].
    #[serde(skip)]
    pub until: u32,
    /// In UTC.
    pub at: String,
    /// The user of the operating system.
    pub user: String,
    pub reason: String,
}

impl UndoneRuling {
    pub fn made(at: SystemTime, id: u32, until: u32, user: &str, reason: &str) -> UndoneRuling {
        UndoneRuling { id, until, at: utc(at), user: user.to_owned(), reason: reason.to_owned() }
    }
}

/// The table, for the schema of a database.
pub const RULINGS: &str = include_str!("rulings.sql");

pub fn insert_ruling(db: &Connection, row: &RulingRow) -> rusqlite::Result<()> {
    let sql = "INSERT INTO rulings (at, user, act, ladder, matches, name, is_from_start, display, since, reason, is_public) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let RulingRow { at, user, act, ladder, matches, name, is_from_start, display, since, reason, .. } = row;
    let (matches, display) = (json(matches), display.as_ref().map(json));
    let values =
        params![at, user, act, ladder, matches, name, is_from_start, display, since, reason, row.is_public];
    db.execute(sql, values).map(drop)
}

/// Notes that a ruling was undone, unless it was undone before.
pub fn undo_ruling(db: &Connection, undone: &UndoneRuling) -> rusqlite::Result<()> {
    let sql = "UPDATE rulings SET until = ?2, undone_at = ?3, undone_by = ?4, undone_for = ?5 \
               WHERE id = ?1 AND undone_at IS NULL";
    let UndoneRuling { id, until, at, user, reason } = undone;
    db.execute(sql, params![id, until, at, user, reason]).map(drop)
}

/// Reads all rulings, in the order in which they were made.
///
/// # Errors
/// If a row is damaged; errors of the database.
pub fn read_rulings(db: &Connection) -> rusqlite::Result<Vec<RulingRow>> {
    let mut query = db.prepare("SELECT * FROM rulings ORDER BY id")?;
    let rows = query.query_map([], |row| {
        let (id, until): (u32, Option<u32>) = (row.get("id")?, row.get("until")?);
        let undone_at: Option<String> = row.get("undone_at")?;
        let undone = undone_at.map(|at| -> rusqlite::Result<UndoneRuling> {
            let until = until.unwrap_or_default();
            Ok(UndoneRuling { id, until, at, user: row.get("undone_by")?, reason: row.get("undone_for")? })
        });
        Ok(read_row!(row as RulingRow {
            at, user, act, ladder, name, is_from_start, since, reason, is_public
        } with {
            id,
            matches: parsed_column(row, "matches")?,
            display: parsed_column(row, "display")?,
            until,
            undone: undone.transpose()?,
        }))
    })?;
    rows.collect()
}

/// By match: the last attempt that does not count, because a ruling had it replayed.
pub(crate) fn replayed(db: &Connection) -> rusqlite::Result<BTreeMap<u32, u32>> {
    let mut replayed = BTreeMap::new();
    for row in read_rulings(db)? {
        if row.act == RulingAct::Replay && row.is_in_force() {
            replayed.extend(row.matches.iter().map(|ruled| (ruled.number, ruled.attempt)));
        }
    }
    Ok(replayed)
}

/// Returns whether a row, by number and attempt, was replaced by a replay.
pub(crate) fn is_replayed(replayed: &BTreeMap<u32, u32>, row: &Row<'_>) -> rusqlite::Result<bool> {
    let (number, attempt): (u32, u32) = (row.get(result::number)?, row.get(result::attempt)?);
    Ok(replayed.get(&number).is_some_and(|&last| attempt <= last))
}
