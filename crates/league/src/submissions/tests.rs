//! The states of submissions.

use std::io::Write;
use std::time::Duration;

use referee_files::Folder;
use referee_game::Chain;

use super::*;
use crate::{LeagueOwner, OrganiserAct, OwnerState};
use referee_store::{DisqualifiedFrom, RequestedDecision, RequestedRuling};

const QUOTA: SubmissionQuota = SubmissionQuota { waiting: 2, per_day: 3, bots: 2 };

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn league(folder: &Path) -> League {
    League::open(&Folder::open(folder).unwrap()).unwrap()
}

/// An owner, whom a proxy signs in.
fn joined(league: &mut League, owner: &str) -> OwnerCredential {
    if league.owner(owner).unwrap().is_none() {
        let owner = LeagueOwner {
            id: owner.to_owned(),
            display_name: None,
            affiliation: None,
            contact: None,
            state: OwnerState::Active,
            token: None,
            network: None,
            joined_at: utc(at(0)),
            left_at: None,
        };
        league.act("root", OrganiserAct::AddOwner(&owner), at(0)).unwrap();
    }
    OwnerCredential::Proxy(owner.to_owned())
}

fn submit(league: &mut League, owner: &str, now: u64) -> Result<u32, String> {
    let by = joined(league, owner);
    let submitted = league.submit(&by, "00", 1, QUOTA, at(now), |_| Ok(()));
    submitted.map_err(|error| Chain(&error).to_string())
}

fn named(league: &mut League, id: u32, name: &str) -> Result<u32, String> {
    league.begin_submission(id, at(1)).unwrap();
    let bot = SubmittedBot { name, command: "./bot", language: None };
    league.name_submission(id, bot, QUOTA).map_err(|error| Chain(&error).to_string())
}

fn play(league: &mut League, owner: &str, name: &str) -> u32 {
    let id = submit(league, owner, 90_000 * u64::from(league.submissions(None).unwrap().len() as u32 + 1));
    let id = id.unwrap();
    named(league, id, name).unwrap();
    league.check_submission(id, "01", "built\n", at(2)).unwrap();
    league.pass_submission(id, &["short".to_owned()].into(), true, "passed\n", at(3)).unwrap();
    league.install_submission(id, Path::new("submissions/bots/x"), at(4)).unwrap();
    id
}

#[test]
fn an_owner_has_few_pending_submissions_and_few_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let mut league = league(folder.path());
    assert_eq!((submit(&mut league, "ada", 0), submit(&mut league, "ada", 1)), (Ok(1), Ok(2)));
    assert!(submit(&mut league, "ada", 2).unwrap_err().contains("submissions of an owner: 2 at most"));
    assert_eq!(submit(&mut league, "ben", 2), Ok(3));
    league.fail_submission(1, "no\n", at(3)).unwrap();
    league.fail_submission(2, "no\n", at(3)).unwrap();
    assert_eq!(submit(&mut league, "ada", 4), Ok(4));
    assert!(submit(&mut league, "ada", 5).unwrap_err().contains("a day (UTC): 3 at most"));
    assert_eq!(submit(&mut league, "ada", 86_400), Ok(5));
}

#[test]
fn a_new_version_retires_the_one_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut league = league(folder.path());
    let (first, second) = (play(&mut league, "ada", "mouse"), play(&mut league, "ada", "mouse"));
    let state = |league: &League, id| league.submission(id).unwrap().unwrap().state;
    assert_eq!(state(&league, first), SubmissionState::Retired);
    assert_eq!(state(&league, second), SubmissionState::Playing);
    let bot = league.bots().unwrap().remove(0);
    assert_eq!((&*bot.name, bot.version), ("mouse", Some(2)));
    // A bot that is disqualified plays no more, until that is undone.
    let rule = |league: &mut League, decision, now| {
        let (user, reason) = ("root".to_owned(), "it was copied".to_owned());
        league.rule(&RequestedRuling { decision, user, reason, is_public: true }, now).unwrap();
    };
    let from = DisqualifiedFrom::Now;
    rule(&mut league, RequestedDecision::Disqualify { name: bot.name, from }, at(9));
    assert_eq!(state(&league, second), SubmissionState::Retired);
    assert_eq!(league.submissions_with_files(at(9)).unwrap(), [second].into());
    let third = submit(&mut league, "ada", 900_000).unwrap();
    assert!(named(&mut league, third, "mouse").unwrap_err().contains("takes part no longer"));
    rule(&mut league, RequestedDecision::Undo(1), at(10));
    assert_eq!(state(&league, second), SubmissionState::Playing);
    assert_eq!(state(&league, first), SubmissionState::Retired);
}

#[test]
fn names_that_look_like_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut league = league(folder.path());
    play(&mut league, "ada", "mouse");
    let waiting = submit(&mut league, "ada", 500_000).unwrap();
    named(&mut league, waiting, "cat").unwrap();
    let id = submit(&mut league, "eve", 500_000).unwrap();
    for name in ["mouse", "M-ouse", "rnouse", "cat", "CAT"] {
        let refused = named(&mut league, id, name).unwrap_err();
        assert!(refused.contains("is taken"), "{name}: {refused}");
    }
    assert_eq!(named(&mut league, id, "dog"), Ok(1));
}

#[test]
fn only_what_waits_is_approved_or_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let mut league = league(folder.path());
    let id = submit(&mut league, "ada", 0).unwrap();
    let approve = |league: &mut League, id| league.act("root", OrganiserAct::ApproveSubmission(id), at(4));
    let error = Chain(&approve(&mut league, id).unwrap_err()).to_string();
    assert_eq!(error, "submission 1 is received; only one that waits for approval can be decided");
    assert!(Chain(&approve(&mut league, 7).unwrap_err()).to_string().contains("no submission 7"));
    named(&mut league, id, "mouse").unwrap();
    league.check_submission(id, "01", "built\n", at(2)).unwrap();
    league.pass_submission(id, &BTreeSet::new(), false, "passed\n", at(3)).unwrap();
    assert_eq!(league.submissions_due().unwrap(), [0; 0]);
    approve(&mut league, id).unwrap();
    assert_eq!(league.submissions_due().unwrap(), [id]);
    let reject = OrganiserAct::RejectSubmission { id, reason: "too slow" };
    league.act("root", reject, at(4)).unwrap();
    // The server notes a failure that it found meanwhile.
    league.fail_submission(id, "the archive is gone\n", at(5)).unwrap();
    let log = league.submission(id).unwrap().unwrap().log;
    assert_eq!(log, "passed\nrejected by the organiser: too slow\n");
}

#[test]
fn name_of_waiting_submission_is_taken_and_counts_as_bot() {
    let folder = tempfile::tempdir().unwrap();
    let mut league = league(folder.path());
    let quota = SubmissionQuota { waiting: 9, per_day: 9, bots: 1 };
    let submitted = |league: &mut League, name: &str| {
        let by = joined(league, "ada");
        let id = league.submit(&by, "00", 1, quota, at(0), |_| Ok(())).unwrap();
        league.begin_submission(id, at(1)).unwrap();
        let bot = SubmittedBot { name, command: "./bot", language: None };
        league
            .name_submission(id, bot, quota)
            .map(|version| (id, version))
            .map_err(|error| Chain(&error).to_string())
    };
    let (id, _) = submitted(&mut league, "mouse").unwrap();
    assert_eq!(league.own_names("ada").unwrap(), ["mouse".to_owned()].into());
    // Nobody else has it, and neither has a bot of its owner that connects.
    for (name, owner) in [("mouse", "eve"), ("M-ouse", "eve"), ("mouse", "ada")] {
        let bot = NewBot { name, owner: Some(owner), token: Some([1; 32]), ..NewBot::default() };
        let refused = league.act("root", OrganiserAct::AddBot(&bot), at(1));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("looks like `mouse`, which is taken"), "{name}: {refused}");
    }
    // One bot is allowed: further versions of it are, other names are not.
    assert!(
        submitted(&mut league, "cat")
            .unwrap_err()
            .contains("would be another bot of yours, and 1 are allowed")
    );
    assert_eq!(submitted(&mut league, "mouse").unwrap().1, 2);
    league.check_submission(id, "01", "built\n", at(2)).unwrap();
    league.pass_submission(id, &BTreeSet::new(), true, "passed\n", at(3)).unwrap();
    league.install_submission(id, Path::new("submissions/bots/x"), at(4)).unwrap();
    assert_eq!(league.own_names("ada").unwrap().len(), 1);
}

#[test]
fn turns_go_round_by_owner_and_returned_ones_come_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut league = league(folder.path());
    let quota = SubmissionQuota { waiting: 9, per_day: 9, bots: 9 };
    let mut submit = |owner| {
        let by = joined(&mut league, owner);
        league.submit(&by, "00", 1, quota, at(0), |_| Ok(())).unwrap()
    };
    let [a1, a2, a3, b1, b2] = ["ada", "ada", "ada", "ben", "ben"].map(&mut submit);
    assert_eq!(league.submissions_due().unwrap(), [a1, a2, a3, b1, b2]);
    assert_eq!(league.begin_submission(a1, at(10)).unwrap(), Some(1));
    assert_eq!(league.put_back_submission(a1, true, at(11)).unwrap(), Some(1));
    assert_eq!(league.submissions_due().unwrap(), [b1, b2, a2, a3, a1]);
    league.begin_submission(b1, at(12)).unwrap();
    league.fail_submission(b1, "no\n", at(13)).unwrap();
    assert_eq!(league.submissions_due().unwrap(), [a2, a3, a1, b2]);
    // A full disk is no attempt.
    assert_eq!(league.begin_submission(a2, at(14)).unwrap(), Some(1));
    assert_eq!(league.put_back_submission(a2, false, at(15)).unwrap(), Some(0));
    assert_eq!(league.submissions_due().unwrap(), [a2, a3, a1, b2]);
    assert_eq!(league.begin_submission(b1, at(16)).unwrap(), None, "it has failed");
    assert_eq!(league.submissions_of("ben").unwrap(), [b1, b2]);
}

#[test]
fn kept_data_are_deleted_day_after_version_retires() {
    let folder = tempfile::tempdir().unwrap();
    let mut league = league(folder.path());
    let files = SubmissionFiles::open(&Folder::open(folder.path()).unwrap()).unwrap();
    let (first, second) = (play(&mut league, "ada", "mouse"), play(&mut league, "ada", "mouse"));
    let keep = |id, text: &str| files.keep(id, "short", |mut file| file.write_all(text.as_bytes()));
    for id in [first, second] {
        keep(id, "data").unwrap();
    }
    let refused = files.keep(second, "short", |_| Err(std::io::Error::other("too much")));
    assert!(refused.is_err());
    let kept = |bytes, refused: Option<&str>| {
        vec![KeptOnLadder { ladder: "short".to_owned(), bytes, refused: refused.map(str::to_owned) }]
    };
    assert_eq!(files.kept_data(second), kept(4, Some("too much")));
    keep(second, "more data").unwrap();
    files.tidy(&mut league, at(100)).unwrap();
    assert_eq!((files.kept_data(first), files.kept_data(second)), (kept(4, None), kept(9, None)));
    files.tidy(&mut league, at(90_000)).unwrap();
    assert_eq!((files.kept_data(first), files.kept_data(second)), (vec![], kept(9, None)));
}

#[test]
fn archive_of_submission_that_is_being_stored_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (mut owners, mut queue) = (league(folder.path()), league(folder.path()));
    let by = joined(&mut owners, "ada");
    let files = SubmissionFiles::open(&Folder::open(folder.path()).unwrap()).unwrap();
    let archive = files.archive(1);
    let (store, stored) = std::sync::mpsc::channel();
    let path = archive.clone();
    let submitting = std::thread::spawn(move || {
        let submitted = owners.submit(&by, "00", 1, QUOTA, at(1), |_| {
            std::fs::write(path, "files")?;
            store.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(200));
            Ok(())
        });
        submitted.unwrap()
    });
    stored.recv().unwrap();
    files.tidy(&mut queue, at(2)).unwrap();
    assert_eq!(submitting.join().unwrap(), 1);
    assert!(archive.exists());
}

#[test]
fn old_logs_of_what_does_not_play_are_erased() {
    let folder = tempfile::tempdir().unwrap();
    let mut league = league(folder.path());
    let playing = play(&mut league, "ada", "mouse");
    let [old, new] = [600_000, 600_001].map(|now| submit(&mut league, "ben", now).unwrap());
    league.fail_submission(old, "no\n", at(100)).unwrap();
    league.fail_submission(new, "no\n", at(200)).unwrap();
    league.erase_submission_logs(at(150)).unwrap();
    let log = |id| league.submission(id).unwrap().unwrap().log;
    assert_eq!((log(playing), log(new)), ("passed\n".to_owned(), "no\n".to_owned()));
    assert!(log(old).contains("was erased"));
}
