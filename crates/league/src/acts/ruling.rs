//! Rulings of the organiser on matches and bots.

use std::time::SystemTime;

use referee_game::name::NameSet;
use referee_stats::ladder::Name;
use referee_store::{
    DisqualifiedFrom, RequestedDecision, RequestedRuling, RuledMatch, RulingAct, RulingRow, UndoneRuling,
    insert_ruling, only_opponent, parse_match_id, read_rulings, undo_ruling,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::{ActError, Refusal, end_participation};
use crate::League;
use crate::bots::{follow_bot, read_bots};
use crate::challenges::{check_players, insert_challenge};
use crate::log::note;
use crate::matches::{LeagueMatch, find_match};
use crate::seasons::CURRENT;

/// The matches of one ruling. An award, or a loss by disqualification, concerns one match alone.
#[derive(Clone, Debug)]
pub struct LadderMatches {
    pub ladder: String,
    /// The ids: m17.
    pub ids: Vec<String>,
}

impl League {
    /// Rules on a match or a bot, or undoes a ruling. Returns the decision in words.
    ///
    /// # Errors
    /// If the state of the league does not allow it, or those of the database. Then nothing changes.
    pub fn rule(
        &mut self,
        requested: &RequestedRuling<LadderMatches>,
        at: SystemTime,
    ) -> Result<String, ActError> {
        self.try_change(|db| {
            let (words, action) = rule(db, requested, at)?;
            note(db, &requested.user, &format!("rule: {action}"), at)?;
            Ok(words)
        })
    }
}

/// Returns the decision in words, and as in the log.
fn rule(
    db: &Connection,
    requested: &RequestedRuling<LadderMatches>,
    at: SystemTime,
) -> Result<(String, String), ActError> {
    let made = |act| requested.made(act, at);
    let row = match &requested.decision {
        RequestedDecision::Void(on) => ruling_on(db, on, &find(db, on)?, None, made(RulingAct::Void))?,
        RequestedDecision::Award { id: on, winner } => {
            let found = find_one(db, on)?;
            let winner = winner.as_deref().map(|name| player(&found, name)).transpose()?;
            ruling_on(db, on, &[found], winner, made(RulingAct::Award))?
        }
        RequestedDecision::Replay(on) => {
            let found = find(db, on)?;
            let row = ruling_on(db, on, &found, None, made(RulingAct::Replay))?;
            for LeagueMatch { players, .. } in &found {
                check_players(db, &on.ladder, players)?;
                insert_challenge(db, &on.ladder, players, None, at)?;
            }
            row
        }
        RequestedDecision::Disqualify { name, from: DisqualifiedFrom::Match(on) } => {
            let found = find_one(db, on)?;
            let loser = player(&found, name)?;
            let winner = only_opponent(&found.players, &&loser).cloned();
            let row = RulingRow { name: Some(name.clone()), ..made(RulingAct::Disqualify) };
            ruling_on(db, on, &[found], winner, row)?
        }
        RequestedDecision::Disqualify { name, from } => {
            let bot = Name::parse(name).bot;
            // Undoing the ruling finds its effects by its time.
            end_participation(db, &bot, at)?;
            let is_from_start = matches!(from, DisqualifiedFrom::Start);
            RulingRow { name: Some(bot), is_from_start, ..made(RulingAct::Disqualify) }
        }
        RequestedDecision::Rename { name, display } => {
            let bot = Name::parse(name).bot;
            let sql = "SELECT 1 FROM bots WHERE name = ?1 AND revoked_at IS NULL";
            if db.query_row(sql, [&bot], |_| Ok(())).optional()?.is_none() {
                return Err(ActError::no_bot(&bot));
            }
            let display = Some([rename(db, &bot, display.as_deref())?, display.clone()]);
            RulingRow { name: Some(bot), display, ..made(RulingAct::Rename) }
        }
        &RequestedDecision::Undo(id) => {
            undo(db, &UndoneRuling::made(at, id, 0, &requested.user, &requested.reason))?;
            return Ok((format!("ruling {id} is undone"), format!("undo {id}")));
        }
    };
    insert_ruling(db, &row)?;
    Ok((row.words(), row.words()))
}

fn find(db: &Connection, on: &LadderMatches) -> Result<Vec<LeagueMatch>, ActError> {
    let LadderMatches { ladder, ids } = on;
    let find = |id: &String| {
        let number = parse_match_id(id).map(|(number, _)| number);
        let found = number.map(|number| find_match(db, ladder, number)).transpose()?.flatten();
        let none = || Refusal::Conflict.because(format_args!("there is no match {id} on {ladder}"));
        found.filter(|row| row.id() == *id).ok_or_else(none)
    };
    ids.iter().map(find).collect()
}

fn find_one(db: &Connection, on: &LadderMatches) -> Result<LeagueMatch, ActError> {
    let [found] = <[LeagueMatch; 1]>::try_from(find(db, on)?)
        .map_err(|_| Refusal::Conflict.because("one match is awarded at a time"))?;
    Ok(found)
}

/// The player that a name stands for: with a version, or any version of a bot.
fn player(row: &LeagueMatch, name: &str) -> Result<String, ActError> {
    let is_it = |player: &&String| *player == name || Name::parse(player).bot == name;
    let not_of_match = || {
        let (id, players) = (row.id(), row.players.join(" and "));
        Refusal::Conflict.because(format_args!("`{name}` does not play {id}: its players are {players}"))
    };
    row.players.iter().find(is_it).cloned().ok_or_else(not_of_match)
}

/// A ruling on matches, which must belong to the season in progress.
fn ruling_on(
    db: &Connection,
    on: &LadderMatches,
    found: &[LeagueMatch],
    winner: Option<String>,
    row: RulingRow,
) -> Result<RulingRow, ActError> {
    let sql = format!(
        "SELECT (SELECT name FROM seasons WHERE number = season), season = {CURRENT} FROM matches WHERE ladder = ?1 AND \
         number = ?2"
    );
    let mut matches = Vec::new();
    for of in found {
        let (season, is_current): (Option<String>, bool) =
            db.query_row(&sql, params![on.ladder, of.number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if !is_current {
            let (id, season) = (of.id(), season.unwrap_or_default());
            return Err(Refusal::Conflict.because(format_args!(
                "{id} belongs to season {season}, which has ended: its standings stay as they are"
            )));
        }
        matches.push(RuledMatch { number: of.number, attempt: 1, winner: winner.clone(), kind: of.kind });
    }
    Ok(RulingRow { ladder: Some(on.ladder.clone()), matches, ..row })
}

/// Changes the display name of a bot. It must not look like another one. Returns the name that people saw before.
fn rename(db: &Connection, bot: &str, display: Option<&str>) -> Result<Option<String>, ActError> {
    let bots = read_bots(db)?;
    let own = bots.iter().find(|own| own.name == bot);
    let own = own.ok_or_else(|| ActError::no_bot(bot))?;
    if let Some(display) = display {
        let mut names = NameSet::default();
        for other in &bots {
            // Names of restored backups may look alike.
            let _ = names.add(&other.name);
        }
        for other in bots.iter().filter(|other| other.name != bot) {
            other.display_name.iter().for_each(|display| _ = names.add_display(&other.name, display));
        }
        let wrong = |why| Refusal::Conflict.because(format_args!("`{display}`: {why}"));
        names.add_display(bot, display).map_err(wrong)?;
    }
    db.execute("UPDATE bots SET display_name = ?2 WHERE name = ?1", params![bot, display])?;
    Ok(own.display_name.clone())
}

fn undo(db: &Connection, undone: &UndoneRuling) -> Result<(), ActError> {
    let id = undone.id;
    let rulings = read_rulings(db)?;
    let row = RulingRow::find(&rulings, id, "league")?;
    match (row.act, &row.name) {
        (RulingAct::Disqualify, Some(bot)) if row.matches.is_empty() => {
            // A bot that was revoked later, or whose owner has left, does not come back.
            let sql = "UPDATE bots SET revoked_at = NULL WHERE name = ?1 AND revoked_at = ?2 AND owner NOT IN \
                       (SELECT id FROM owners WHERE state = 'left')";
            db.execute(sql, [bot, &row.at])?;
            follow_bot(db, bot)?;
        }
        (RulingAct::Rename, Some(bot)) => {
            let [before, after] = row.display.clone().unwrap_or_default();
            let sql = "SELECT 1 FROM bots WHERE name = ?1 AND display_name IS ?2";
            if db.query_row(sql, params![bot, after], |_| Ok(())).optional()?.is_none() {
                let why = format_args!("ruling {id}: the bot has been renamed again since");
                return Err(Refusal::Conflict.because(why));
            }
            rename(db, bot, before.as_deref())?;
        }
        _ => {}
    }
    Ok(undo_ruling(db, undone)?)
}
