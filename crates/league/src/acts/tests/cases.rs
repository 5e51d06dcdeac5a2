//! The acts that the tests combine.

use std::error::Error;

use referee_game::Chain;
use referee_store::{DisqualifiedFrom, RequestedDecision, RequestedRuling};

use super::*;
use crate::{Admission, OwnerToken, SubmissionQuota, SubmittedBot};

pub(super) const QUOTA: SubmissionQuota = SubmissionQuota { waiting: 5, per_day: 9, bots: 9 };
/// The tokens of ada, eve and bob at first.
pub(super) const ADA: u8 = 1;
pub(super) const EVE: u8 = 2;
pub(super) const BOB: u8 = 3;

pub(super) type Outcome = Result<(), String>;

/// An act, and its lasting effect, whatever owners do: SQL with the result 1.
pub(super) struct Act {
    pub(super) name: &'static str,
    pub(super) run: fn(&mut League) -> Outcome,
    pub(super) holds: &'static str,
}

pub(super) const fn act(name: &'static str, run: fn(&mut League) -> Outcome, holds: &'static str) -> Act {
    Act { name, run, holds }
}

pub(super) fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// Later than what the league has begun with.
pub(super) fn today() -> SystemTime {
    at(1_000_000)
}

pub(super) fn by(token: u8) -> OwnerCredential {
    OwnerCredential::Token([token; 32])
}

pub(super) fn said<T, E: Error>(result: Result<T, E>) -> Outcome {
    result.map(drop).map_err(|error| Chain(&error).to_string())
}

pub(super) fn own(league: &mut League, act: OwnerAct<'_>) -> Outcome {
    said(league.act_as_owner(&by(ADA), act, today()))
}

pub(super) fn organised(league: &mut League, act: OrganiserAct<'_>) -> Outcome {
    said(league.act("root", act, today()))
}

pub(super) fn rules(league: &mut League, decision: RequestedDecision<LadderMatches>) -> Outcome {
    said(league.rule(&requested(decision), today()))
}

pub(super) fn requested(decision: RequestedDecision<LadderMatches>) -> RequestedRuling<LadderMatches> {
    RequestedRuling { decision, user: "root".to_owned(), reason: "a reason".to_owned(), is_public: true }
}

pub(super) fn disqualified(name: &str) -> RequestedDecision<LadderMatches> {
    RequestedDecision::Disqualify { name: name.to_owned(), from: DisqualifiedFrom::Now }
}

fn renamed() -> RequestedDecision<LadderMatches> {
    RequestedDecision::Rename { name: "abacus".to_owned(), display: Some("Abacus II".to_owned()) }
}

pub(super) fn m1() -> LadderMatches {
    LadderMatches { ladder: "short".to_owned(), ids: vec!["m1".to_owned()] }
}

pub(super) fn owner(id: &str, token: u8, state: OwnerState) -> LeagueOwner {
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

pub(super) fn invitation(secret: u8) -> Invitation {
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

pub(super) fn submitted(name: &str) -> SubmittedBot<'_> {
    SubmittedBot { name, command: "./mouse", language: None }
}

fn players() -> Vec<String> {
    ["abacus", "cat"].map(str::to_owned).to_vec()
}

pub(super) fn programs(league: &mut League, names: &[&str]) -> Outcome {
    let programs = names.iter().map(|&name| NewBot {
        name,
        command: Some("./cat"),
        is_of_file: true,
        ..NewBot::default()
    });
    said(league.set_programs(&programs.collect::<Vec<_>>(), today()))
}

pub(super) const OWNERS_ACTS: [Act; 17] = [
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

pub(super) const SERVERS_ACTS: [Act; 10] = [
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

pub(super) const ORGANISERS_ACTS: [Act; 36] = [
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
