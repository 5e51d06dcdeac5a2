//! Acts of an owner, the organiser and the server on two connections: one begins between any two statements of the other.

mod cases;

use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{env, fs, process};

use cases::{
    ADA, Act, BOB, EVE, ORGANISERS_ACTS, OWNERS_ACTS, Outcome, QUOTA, SERVERS_ACTS, act, at, by,
    disqualified, invitation, m1, organised, own, owner, programs, requested, rules, said, submitted, today,
};
use referee_game::test_length::long_or;
use referee_store::RequestedDecision;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::types::Value;

use super::*;

/// A league with an owner who takes part, one who waits, one who is banned, their bots and submissions, a match and a ruling.
fn begin(league: &mut League) {
    let start = |league: &mut League, act: OrganiserAct<'_>| league.act("root", act, at(0)).unwrap();
    start(league, OrganiserAct::AddOwner(&owner("ada", ADA, OwnerState::Active)));
    start(league, OrganiserAct::AddOwner(&owner("eve", EVE, OwnerState::Waiting)));
    start(league, OrganiserAct::AddOwner(&owner("bob", BOB, OwnerState::Active)));
    start(league, OrganiserAct::NameToken { owner: "bob", name: "pc", hash: [4; 32] });
    start(league, OrganiserAct::AddBot(&NewBot { name: "bison", owner: Some("bob"), ..NewBot::default() }));
    start(league, OrganiserAct::BanOwner { owner: "bob", is_banned: true });
    start(league, OrganiserAct::Invite(&[invitation(1)]));
    start(league, OrganiserAct::AddOrganiser { name: "former", hash: [31; 32] });
    for name in ["abacus", "old"] {
        start(league, OrganiserAct::AddBot(&NewBot { name, owner: Some("ada"), ..NewBot::default() }));
    }
    programs(league, &["cat"]).unwrap();
    for id in 1..=5 {
        league.submit(&by(ADA), "00", 1, QUOTA, at(0), |_| Ok(())).unwrap();
        league.begin_submission(id, at(0)).unwrap();
        if id == 4 {
            continue;
        }
        let name = if id == 3 { "rat" } else { "mouse" };
        league.name_submission(id, submitted(name), QUOTA).unwrap();
        league.check_submission(id, "01", "built\n", at(0)).unwrap();
        if id == 5 {
            continue;
        }
        league.pass_submission(id, &["short".to_owned()].into(), id < 3, "passed\n", at(0)).unwrap();
        if id == 1 {
            league.install_submission(1, Path::new("submissions/bots/1"), at(0)).unwrap();
        }
    }
    let challenge =
        OrganiserAct::Challenge { ladder: "short", players: &["mouse".to_owned(), "cat".to_owned()] };
    start(league, challenge);
    league.db.execute("UPDATE challenges SET asked_by = 'ada'", []).unwrap();
    let sql = "INSERT INTO matches (ladder, number, players, faults, ended_by, reason, is_challenge, is_rated, decisions, \
               duration_us, ended_at, season, worker) VALUES ('short', 1, '[\"abacus\",\"cat\"]', '[{},{}]', 'rules', 'x', 0, 1, 1, 1, '', 1, 'box7')";
    league.db.execute(sql, []).unwrap();
    league.rule(&requested(disqualified("old")), at(0)).unwrap();
}

struct Leagues {
    folder: tempfile::TempDir,
    begun: Vec<u8>,
}

impl Leagues {
    fn new() -> Leagues {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("begun");
        fs::write(&path, "").unwrap();
        let mut league = League::at(&path).unwrap();
        begin(&mut league);
        league.db.pragma_update(None, "journal_mode", "delete").unwrap();
        drop(league);
        Leagues { begun: fs::read(path).unwrap(), folder }
    }

    /// Two connections to a new copy.
    fn open(&self) -> [League; 2] {
        let path = self.path();
        for ending in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{ending}", path.display()));
        }
        fs::write(&path, &self.begun).unwrap();
        [(); 2].map(|()| {
            let league = League::at(&path).unwrap();
            // An act that has to wait for the other one waits until that one has ended.
            league.db.busy_timeout(Duration::ZERO).unwrap();
            league.db.pragma_update(None, "synchronous", "off").unwrap();
            league
        })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("copy")
    }

    /// The final league if one act follows the other.
    fn in_order(&self, first: &Act, second: &Act) -> (Outcome, Outcome, String) {
        let [mut one, mut other] = self.open();
        let outcomes = ((first.run)(&mut one), (second.run)(&mut other));
        (outcomes.0, outcomes.1, contents(&one))
    }

    /// The final league if `second` begins before statement `from` of `first`, or before the next one at
    /// which it need not wait for `first`. Returns this statement, too; `None`: after the last one.
    fn interleaved(
        &self,
        first: &Act,
        second: &Act,
        from: usize,
    ) -> (Option<usize>, (Outcome, Outcome, String)) {
        let [mut one, mut other] = self.open();
        let begun = Arc::new(Mutex::new(None));
        let (of_hook, run, mut place) = (begun.clone(), second.run, 0);
        let hook = move |event: TraceEvent<'_>| {
            let mut begun = of_hook.lock().unwrap();
            if !matches!(event, TraceEvent::Stmt(..)) || begun.is_some() {
                return;
            }
            if place >= from {
                *begun = Some((place, run(&mut other))).filter(|(_, outcome)| !is_locked(outcome));
            }
            place += 1;
        };
        one.db.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(hook)).unwrap();
        let of_first = (first.run)(&mut one);
        one.db.trace_v2(TraceEventCodes::empty(), None::<fn(TraceEvent<'_>)>).unwrap();
        let begun = begun.lock().unwrap().take();
        let place = begun.as_ref().map(|(place, _)| *place);
        let of_second = begun.map_or_else(|| (second.run)(&mut one), |(_, outcome)| outcome);
        (place, (of_first, of_second, contents(&one)))
    }

    /// Interleavings whose result differs from both orders, whichever of two acts begins first, and wherever
    /// the other one begins.
    fn compare(&self, [one, other]: [&Act; 2]) -> Vec<String> {
        let in_order = self.in_order(one, other);
        let (of_other, of_one, after) = self.in_order(other, one);
        let serial = [in_order, (of_one, of_other, after)];
        let mut found = Vec::new();
        for (first, second, is_swapped) in [(one, other, false), (other, one, true)] {
            let mut from = 0;
            loop {
                let (place, (of_first, of_second, after)) = self.interleaved(first, second, from);
                let outcomes = if is_swapped { (of_second, of_first) } else { (of_first, of_second) };
                let result = (outcomes.0, outcomes.1, after);
                if is_locked(&result.0) || is_locked(&result.1) || !serial.contains(&result) {
                    let (first, second) = (first.name, second.name);
                    found.push(format!("{second} begins before statement {place:?} of {first}: {result:?}"));
                }
                match place {
                    Some(place) => from = place + 1,
                    None => break,
                }
            }
        }
        found
    }
}

/// Returns whether an act has found the database locked by another one.
fn is_locked(outcome: &Outcome) -> bool {
    outcome.as_ref().is_err_and(|error| error.contains("locked"))
}

fn contents(league: &League) -> String {
    let tables =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut tables = league.db.prepare(tables).unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut text = String::new();
    for table in tables {
        let mut query = league.db.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = query.column_count();
        let rows = query.query_map([], |row| (0..columns).map(|column| row.get(column)).collect());
        for row in rows.unwrap() {
            let row: Vec<Value> = row.unwrap();
            writeln!(text, "{table}: {row:?}").unwrap();
        }
    }
    text
}

fn holds(league: &League, sql: &str) -> bool {
    league
        .db
        .query_row(sql, [], |row| row.get::<_, Value>(0))
        .is_ok_and(|value| value == Value::Integer(1) || value == Value::Text("1".to_owned()))
}

#[test]
fn acts_at_same_time_are_acts_one_after_other() {
    let leagues = Leagues::new();
    let mut pairs = Vec::new();
    for own in OWNERS_ACTS.iter().chain(&SERVERS_ACTS) {
        let others = ORGANISERS_ACTS.iter().chain(&OWNERS_ACTS).chain(&SERVERS_ACTS);
        pairs.extend(others.map(|other| [own, other]));
    }
    // All pairs take a minute of CPU; some of them, with each act, a few seconds.
    let step = long_or(1, 17);
    let found: Vec<String> = pairs.into_iter().step_by(step).flat_map(|pair| leagues.compare(pair)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_act_of_owner_or_server_undoes_decision_of_organiser() {
    let leagues = Leagues::new();
    let mut found = Vec::new();
    for decision in &ORGANISERS_ACTS {
        for own in OWNERS_ACTS.iter().chain(&SERVERS_ACTS) {
            for is_first in [true, false] {
                let [mut league, _] = leagues.open();
                let _ = is_first.then(|| (own.run)(&mut league));
                let decided = (decision.run)(&mut league);
                let _ = (!is_first).then(|| (own.run)(&mut league));
                if decided.is_ok() && !holds(&league, decision.holds) {
                    found.push(format!("{} undoes {}", own.name, decision.name));
                }
            }
        }
        let [mut league, _] = leagues.open();
        assert_eq!((decision.run)(&mut league), Ok(()), "{}", decision.name);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn act_that_writes_what_it_has_read_before_is_found() {
    let pause = act(
        "pause",
        |on| {
            let read = "SELECT revoked_at FROM bots WHERE name = 'abacus'";
            let before: Option<String> = on.db.query_row(read, [], |row| row.get(0)).unwrap();
            let write = "UPDATE bots SET is_paused = 1, revoked_at = ?1 WHERE name = 'abacus'";
            said(on.change(|db| db.execute(write, [before])).map(drop))
        },
        "",
    );
    let revoke = ORGANISERS_ACTS.iter().find(|act| act.name == "revoke").unwrap();
    let found = Leagues::new().compare([&pause, revoke]);
    assert!(
        found.iter().any(|found| found.starts_with("revoke begins before statement Some(1) of pause")),
        "{found:?}"
    );
}

#[test]
fn bot_revoked_after_disqualification_stays_away_when_it_is_undone() {
    let [mut league, _] = Leagues::new().open();
    let is_back = |league: &League| holds(league, "SELECT revoked_at IS NULL FROM bots WHERE name = 'old'");
    let undo = |league: &mut League| rules(league, RequestedDecision::Undo(1));
    organised(
        &mut league,
        OrganiserAct::AddBot(&NewBot {
            name: "old",
            owner: Some("ada"),
            token: Some([9; 32]),
            ..NewBot::default()
        }),
    )
    .unwrap();
    organised(&mut league, OrganiserAct::Revoke { bot: "old" }).unwrap();
    undo(&mut league).unwrap();
    assert!(!is_back(&league));
    let [mut league, _] = Leagues::new().open();
    undo(&mut league).unwrap();
    assert!(is_back(&league));
    assert_eq!(undo(&mut league), Err(format!("ruling 1 was undone by root at {}", utc(today()))));
    // An owner who has left has no bots.
    let [mut league, _] = Leagues::new().open();
    own(&mut league, OwnerAct::Leave).unwrap();
    undo(&mut league).unwrap();
    assert!(!is_back(&league));
}

#[test]
fn a_ruling_on_a_season_that_ends_meanwhile_is_refused() {
    let [mut league, _] = Leagues::new().open();
    organised(&mut league, OrganiserAct::EndSeason { name: "autumn", keeps_ratings: true }).unwrap();
    let refused = rules(&mut league, RequestedDecision::Void(m1())).unwrap_err();
    assert_eq!(refused, "m1 belongs to season autumn, which has ended: its standings stay as they are");
}

#[test]
fn an_owner_does_not_resume_what_the_organiser_has_paused() {
    let [mut league, _] = Leagues::new().open();
    let pause = |is_paused| OrganiserAct::Pause { part: LeaguePart::Bot("abacus"), is_paused };
    organised(&mut league, pause(true)).unwrap();
    own(&mut league, OwnerAct::Pause { bot: "abacus" }).unwrap();
    let refused = own(&mut league, OwnerAct::Resume { bot: "abacus" }).unwrap_err();
    assert_eq!(refused, "the organiser has paused `abacus`: ask the organiser to resume it");
    organised(&mut league, pause(false)).unwrap();
    own(&mut league, OwnerAct::Pause { bot: "abacus" }).unwrap();
    own(&mut league, OwnerAct::Resume { bot: "abacus" }).unwrap();
}

/// In the process that is killed: the database, the act, and the number of statements before the end.
const KILLED: &str = "REFEREE_KILLED_ACT";

#[test]
fn act_is_whole_or_absent_when_process_dies() {
    let acts: Vec<&Act> = OWNERS_ACTS.iter().chain(&SERVERS_ACTS).chain(&ORGANISERS_ACTS).collect();
    if let Ok(killed) = env::var(KILLED) {
        let [path, act, statements] = killed.split(' ').collect::<Vec<_>>()[..] else { panic!("{killed}") };
        let (act, last): (usize, usize) = (act.parse().unwrap(), statements.parse().unwrap());
        let mut league = League::at(Path::new(path)).unwrap();
        let mut statements = 0;
        let die = move |_: TraceEvent<'_>| {
            statements += 1;
            if statements == last {
                process::abort();
            }
        };
        league.db.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(die)).unwrap();
        return (acts[act].run)(&mut league).unwrap();
    }
    let leagues = Leagues::new();
    for (at, act) in acts.iter().enumerate() {
        let [mut league, _] = leagues.open();
        let before = contents(&league);
        (act.run)(&mut league).unwrap();
        let after = contents(&league);
        assert_ne!(before, after, "{}", act.name);
        drop(league);
        let mut is_done = false;
        for statements in 1.. {
            drop(leagues.open());
            let mut process = Command::new(env::current_exe().unwrap());
            let name = "acts::tests::act_is_whole_or_absent_when_process_dies";
            process.args([name, "--exact"]);
            process.env(KILLED, format!("{} {at} {statements}", leagues.path().display()));
            let output = process.output().unwrap();
            let found = contents(&League::at(&leagues.path()).unwrap());
            let place = format!("{}, after statement {statements}", act.name);
            assert!(found == after || (found == before && !is_done), "{place}: {found}");
            is_done = found == after;
            if output.status.signal().is_none() {
                assert!(output.status.success() && is_done && statements > 3, "{place}: {output:?}");
                break;
            }
        }
    }
}
