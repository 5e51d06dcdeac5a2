//! Acts of an owner, the organiser and the server on two connections: one begins between any two statements of the other.

use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{env, fs, process};

use referee_game::test_length::long_or;
use referee_store::{DisqualifiedFrom, RequestedDecision, RequestedRuling};
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::types::Value;

use super::*;
use crate::{Admission, OwnerToken, SubmissionQuota, SubmittedBot};

const QUOTA: SubmissionQuota = SubmissionQuota { waiting: 5, per_day: 9, bots: 9 };
/// The tokens of ada, eve and bob at first.
const ADA: u8 = 1;
const EVE: u8 = 2;
const BOB: u8 = 3;

type Outcome = Result<(), String>;

/// An act, and what holds from then on, whatever owners do: SQL with the result 1.
struct Act {
    name: &'static str,
    run: fn(&mut League) -> Outcome,
    holds: &'static str,
}

const fn act(name: &'static str, run: fn(&mut League) -> Outcome, holds: &'static str) -> Act {
    Act { name, run, holds }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Later than what the league has begun with.
fn today() -> SystemTime {
    at(1_000_000)
}

fn by(token: u8) -> OwnerCredential {
    OwnerCredential::Token([token; 32])
}

fn said<T, E: ToString>(result: Result<T, E>) -> Outcome {
    result.map(drop).map_err(|error| error.to_string())
}

fn own(league: &mut League, act: OwnerAct<'_>) -> Outcome {
    said(league.act_as_owner(&by(ADA), act, today()))
}

fn organised(league: &mut League, act: OrganiserAct<'_>) -> Outcome {
    said(league.act("root", act, today()))
}

fn rules(league: &mut League, decision: RequestedDecision<LadderMatches>) -> Outcome {
    said(league.rule(&requested(decision), today()))
}

fn requested(decision: RequestedDecision<LadderMatches>) -> RequestedRuling<LadderMatches> {
    RequestedRuling { decision, user: "root".to_owned(), reason: "a reason".to_owned(), is_public: true }
}

fn disqualified(name: &str) -> RequestedDecision<LadderMatches> {
    RequestedDecision::Disqualify { name: name.to_owned(), from: DisqualifiedFrom::Now }
}

fn renamed() -> RequestedDecision<LadderMatches> {
    RequestedDecision::Rename { name: "abacus".to_owned(), display: Some("Abacus II".to_owned()) }
}

fn m1() -> LadderMatches {
    LadderMatches { ladder: "short".to_owned(), ids: vec!["m1".to_owned()] }
}

fn owner(id: &str, token: u8, state: OwnerState) -> LeagueOwner {
    LeagueOwner {
        id: id.to_owned(),
        display_name: None,
        affiliation: None,
        contact: None,
        state,
        token: Some(OwnerToken::new([token; 32], at(0))),
        network: None,
        joined_at: utc(at(0)),
        left_at: None,
    }
}

fn invitation(secret: u8) -> Invitation {
    Invitation {
        id: 0,
        secret: [secret; 32],
        owner: None,
        display_name: None,
        affiliation: None,
        contact: None,
        uses: 1,
        used: 0,
        expires_at: utc(at(2_000_000)),
        made_at: utc(at(0)),
        made_by: "root".to_owned(),
    }
}

fn submitted(name: &str) -> SubmittedBot<'_> {
    SubmittedBot { name, command: "./mouse", language: None }
}

fn players() -> Vec<String> {
    ["abacus", "cat"].map(str::to_owned).to_vec()
}

fn programs(league: &mut League, names: &[&str]) -> Outcome {
    let programs = names.iter().map(|&name| NewBot {
        name,
        command: Some("./cat"),
        is_of_file: true,
        ..NewBot::default()
    });
    said(league.set_programs(&programs.collect::<Vec<_>>(), today()))
}

const OWNERS_ACTS: [Act; 17] = [
    act(
        "profile",
        |on| {
            own(
                on,
                OwnerAct::ChangeProfile {
                    display_name: Some("Ada L."),
                    affiliation: None,
                    contact: Some(""),
                },
            )
        },
        "",
    ),
    act("token", |on| own(on, OwnerAct::ReplaceToken { hash: [11; 32] }), ""),
    act("token on another device", |on| own(on, OwnerAct::ReplaceToken { hash: [12; 32] }), ""),
    act("leave", |on| own(on, OwnerAct::Leave), ""),
    act("add", |on| own(on, OwnerAct::AddBot { name: "quick", limit: 5, per_day: 5 }), ""),
    act("pause", |on| own(on, OwnerAct::Pause { bot: "abacus" }), ""),
    act("resume", |on| own(on, OwnerAct::Resume { bot: "abacus" }), ""),
    act("retire", |on| own(on, OwnerAct::Retire { bot: "abacus" }), ""),
    act("pause what is handed in", |on| own(on, OwnerAct::Pause { bot: "mouse" }), ""),
    act("retire what is handed in", |on| own(on, OwnerAct::Retire { bot: "mouse" }), ""),
    act(
        "challenge",
        |on| own(on, OwnerAct::Challenge { ladder: "short", players: &players(), per_day: 9 }),
        "",
    ),
    act(
        "challenge again",
        |on| {
            let players: Vec<String> = players().into_iter().rev().collect();
            own(on, OwnerAct::Challenge { ladder: "short", players: &players, per_day: 9 })
        },
        "",
    ),
    act("take back", |on| own(on, OwnerAct::TakeBackChallenge(1)), ""),
    act("withdraw", |on| own(on, OwnerAct::WithdrawSubmission(2)), ""),
    act("submit", |on| said(on.submit(&by(ADA), "00", 1, QUOTA, today(), |_| Ok(()))), ""),
    act(
        "sign up",
        |on| {
            said(on.sign_up(&owner("zoe", 13, OwnerState::Active), Admission::Invitation(&[1; 32]), today()))
        },
        "",
    ),
    act(
        "token of one who waits",
        |on| said(on.act_as_owner(&by(EVE), OwnerAct::ReplaceToken { hash: [14; 32] }, today())),
        "",
    ),
];

const SERVERS_ACTS: [Act; 10] = [
    act("begin", |on| said(on.begin_submission(2, today())), ""),
    act("put back", |on| said(on.put_back_submission(4, true, today())), ""),
    act("name", |on| said(on.name_submission(4, submitted("dog"), QUOTA)), ""),
    act("build", |on| said(on.check_submission(4, "01", "built\n", today())), ""),
    act(
        "pass",
        |on| said(on.pass_submission(5, &["short".to_owned()].into(), true, "passed\n", today())),
        "",
    ),
    act("install", |on| said(on.install_submission(2, Path::new("submissions/bots/2"), today())), ""),
    act("fail", |on| said(on.fail_submission(2, "failed\n", today())), ""),
    act("refuse", |on| said(on.set_refused("mouse", "./mouse", Some("no sandbox"))), ""),
    act("the file", |on| programs(on, &["cat", "dog"]), ""),
    act("the file without a program", |on| programs(on, &[]), ""),
];

const ORGANISERS_ACTS: [Act; 36] = [
    act(
        "add",
        |on| {
            organised(
                on,
                OrganiserAct::AddBot(&NewBot { name: "quick", token: Some([20; 32]), ..NewBot::default() }),
            )
        },
        "SELECT revoked_at IS NULL AND token IS NOT NULL FROM bots WHERE name = 'quick'",
    ),
    act(
        "revoke",
        |on| organised(on, OrganiserAct::Revoke { bot: "abacus" }),
        "SELECT revoked_at IS NOT NULL AND token IS NULL FROM bots WHERE name = 'abacus'",
    ),
    act(
        "revoke what is handed in",
        |on| organised(on, OrganiserAct::Revoke { bot: "mouse" }),
        "SELECT revoked_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM submissions WHERE state = 'playing') FROM bots \
         WHERE name = 'mouse'",
    ),
    act(
        "pause",
        |on| organised(on, OrganiserAct::Pause { part: LeaguePart::Bot("abacus"), is_paused: true }),
        "SELECT is_paused = 2 FROM bots WHERE name = 'abacus'",
    ),
    act(
        "resume",
        |on| organised(on, OrganiserAct::Pause { part: LeaguePart::Bot("abacus"), is_paused: false }),
        "SELECT is_paused < 2 FROM bots WHERE name = 'abacus'",
    ),
    act(
        "pause what is handed in",
        |on| organised(on, OrganiserAct::Pause { part: LeaguePart::Bot("mouse"), is_paused: true }),
        "SELECT is_paused = 2 FROM bots WHERE name = 'mouse'",
    ),
    act(
        "pause the league",
        |on| organised(on, OrganiserAct::Pause { part: LeaguePart::League, is_paused: true }),
        "SELECT value FROM league WHERE key = 'paused'",
    ),
    act(
        "disqualify",
        |on| rules(on, disqualified("abacus")),
        "SELECT revoked_at IS NOT NULL FROM bots WHERE name = 'abacus'",
    ),
    act(
        "disqualify what is handed in",
        |on| rules(on, disqualified("mouse")),
        "SELECT revoked_at IS NOT NULL FROM bots WHERE name = 'mouse'",
    ),
    act(
        "rename",
        |on| rules(on, renamed()),
        "SELECT display_name = 'Abacus II' OR display_name LIKE 'Former %' FROM bots WHERE name = 'abacus'",
    ),
    act(
        "undo",
        |on| rules(on, RequestedDecision::Undo(1)),
        "SELECT undone_at IS NOT NULL FROM rulings WHERE id = 1",
    ),
    act(
        "void",
        |on| rules(on, RequestedDecision::Void(m1())),
        "SELECT count(*) FROM rulings WHERE act = 'void' AND undone_at IS NULL",
    ),
    act(
        "award",
        |on| rules(on, RequestedDecision::Award { id: m1(), winner: Some("cat".to_owned()) }),
        "SELECT count(*) FROM rulings WHERE act = 'award' AND undone_at IS NULL",
    ),
    act(
        "disqualify from a match",
        |on| {
            let from = DisqualifiedFrom::Match(m1());
            rules(on, RequestedDecision::Disqualify { name: "abacus".to_owned(), from })
        },
        "SELECT count(*) FROM rulings WHERE act = 'disqualify' AND undone_at IS NULL AND matches LIKE '%cat%'",
    ),
    act(
        "take back the matches of a worker",
        |on| said(on.void_matches_of("box7", "root", today())),
        "SELECT is_void FROM matches WHERE number = 1",
    ),
    act(
        "replay",
        |on| rules(on, RequestedDecision::Replay(m1())),
        "SELECT count(*) FROM rulings WHERE act = 'replay' AND undone_at IS NULL",
    ),
    act(
        "owner add",
        |on| organised(on, OrganiserAct::AddOwner(&owner("zoe", 21, OwnerState::Active))),
        "SELECT token = x'1515151515151515151515151515151515151515151515151515151515151515' FROM owners WHERE id = 'zoe'",
    ),
    act(
        "organiser add",
        |on| organised(on, OrganiserAct::AddOrganiser { name: "jury", hash: [30; 32] }),
        "SELECT count(*) FROM league WHERE key = 'organiser:jury'",
    ),
    act(
        "organiser remove",
        |on| organised(on, OrganiserAct::RemoveOrganiser { name: "former" }),
        "SELECT count(*) = 0 FROM league WHERE key = 'organiser:former'",
    ),
    act(
        "owner approve",
        |on| organised(on, OrganiserAct::ApproveOwner { owner: "eve" }),
        "SELECT state = 'active' FROM owners WHERE id = 'eve'",
    ),
    act(
        "owner remove",
        |on| organised(on, OrganiserAct::RemoveOwner { owner: "ada" }),
        "SELECT state = 'left' AND token IS NULL AND former_token IS NULL AND NOT EXISTS (SELECT 1 FROM bots WHERE owner = 'ada' \
         AND revoked_at IS NULL) FROM owners WHERE id = 'ada'",
    ),
    act(
        "owner token",
        |on| organised(on, OrganiserAct::ReplaceToken { owner: "ada", hash: [22; 32], is_at_once: false }),
        "SELECT token = x'1616161616161616161616161616161616161616161616161616161616161616' OR state = 'left' FROM owners WHERE id = 'ada'",
    ),
    act(
        "owner token --at-once",
        |on| organised(on, OrganiserAct::ReplaceToken { owner: "ada", hash: [23; 32], is_at_once: true }),
        "SELECT token = x'1717171717171717171717171717171717171717171717171717171717171717' AND former_token IS NULL FROM owners \
         WHERE id = 'ada'",
    ),
    act(
        "owner ban",
        |on| organised(on, OrganiserAct::BanOwner { owner: "ada", is_banned: true }),
        "SELECT state = 'banned' AND NOT EXISTS (SELECT 1 FROM bots WHERE owner = 'ada' AND is_paused < 4) FROM owners \
         WHERE id = 'ada'",
    ),
    act(
        "owner unban",
        |on| organised(on, OrganiserAct::BanOwner { owner: "bob", is_banned: false }),
        "SELECT state = 'active' AND EXISTS (SELECT 1 FROM bots WHERE owner = 'bob' AND is_paused < 4) FROM owners \
         WHERE id = 'bob'",
    ),
    act(
        "owner token --revoke",
        |on| organised(on, OrganiserAct::RevokeToken { owner: "bob", name: "pc" }),
        "SELECT NOT EXISTS (SELECT 1 FROM owner_tokens WHERE owner = 'bob')",
    ),
    act(
        "owner token --name",
        |on| organised(on, OrganiserAct::NameToken { owner: "ada", name: "ann", hash: [24; 32] }),
        "SELECT state = 'left' OR EXISTS (SELECT 1 FROM owner_tokens WHERE owner = 'ada') FROM owners WHERE id = 'ada'",
    ),
    act(
        "challenge",
        |on| organised(on, OrganiserAct::Challenge { ladder: "short", players: &players() }),
        "SELECT 1",
    ),
    act(
        "invite",
        |on| organised(on, OrganiserAct::Invite(&[invitation(2)])),
        "SELECT count(*) FROM invitations WHERE id = 2",
    ),
    act(
        "invitations --revoke",
        |on| organised(on, OrganiserAct::RevokeInvitation(1)),
        "SELECT count(*) = 0 FROM invitations WHERE id = 1",
    ),
    act(
        "submission approve",
        |on| organised(on, OrganiserAct::ApproveSubmission(3)),
        "SELECT is_approved FROM submissions WHERE id = 3",
    ),
    act(
        "submission reject",
        |on| organised(on, OrganiserAct::RejectSubmission { id: 2, reason: "it was copied" }),
        "SELECT state = 'failed' AND log LIKE '%it was copied%' FROM submissions WHERE id = 2",
    ),
    act(
        "season end",
        |on| organised(on, OrganiserAct::EndSeason { name: "autumn", keeps_ratings: true }),
        "SELECT count(*) FROM seasons WHERE name = 'autumn'",
    ),
    act(
        "tokens",
        |on| {
            let owners = [("ada".to_owned(), [25; 32])];
            organised(on, OrganiserAct::ReplaceTokens { owners: &owners, bots: &[] })
        },
        "SELECT state = 'left' OR former_token IS NULL FROM owners WHERE id = 'ada'",
    ),
    act(
        "season end at an event",
        |on| organised(on, OrganiserAct::EndSeasonAtEvent { name: "winter", keeps_ratings: true }),
        "SELECT count(*) FROM league WHERE key = 'season-event:winter'",
    ),
    act(
        "freeze",
        |on| {
            let new = EventEffects { is_frozen: true, ..EventEffects::default() };
            organised(
                on,
                OrganiserAct::PutIntoForce { ladder: None, new: &new, before: &EventEffects::default() },
            )
        },
        "SELECT json_extract(value, '$.is_frozen') FROM league WHERE key = 'events:'",
    ),
];

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
