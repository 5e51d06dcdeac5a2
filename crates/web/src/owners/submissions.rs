//! Programs that owners hand in.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use referee_game::Wrong;
use referee_league::{
    ActError, ArrivingArchive, IntakeLimits, KeptOnLadder, League, LeagueOwner, OwnerAct, OwnerCredential,
    Refusal, Submission, SubmissionFiles,
};
use referee_store::utc;
use serde::Serialize;
use tokio::time::{Instant, timeout, timeout_at};

use super::error::OwnersError;
use super::session::{ActiveOwner, SignedIn};
use super::{Owners, OwnersState, json, now};

/// The time that the next part of an archive may take.
const SILENCE: Duration = Duration::from_secs(30);
/// The time that a whole archive may take.
const WHOLE: Duration = Duration::from_secs(15 * 60);
/// The size of the parts in which an archive is read.
const PART: usize = 64 << 10;

/// The current limits of submissions.
type CurrentLimits = Box<dyn Fn() -> IntakeLimits + Send + Sync>;

/// Takes in the archives of programs.
pub struct SubmissionIntake {
    files: SubmissionFiles,
    league: Mutex<League>,
    limits: CurrentLimits,
    why: Option<String>,
    /// By owner: the day, as in times of UTC, and the number of uploads on it that have failed.
    failed: Mutex<HashMap<String, (String, u32)>>,
}

impl fmt::Debug for SubmissionIntake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubmissionIntake").field("why", &self.why).finish_non_exhaustive()
    }
}

impl SubmissionIntake {
    /// Takes archives with these limits; none if `why` has a reason.
    pub fn new(
        files: SubmissionFiles,
        league: League,
        limits: CurrentLimits,
        why: Option<String>,
    ) -> SubmissionIntake {
        SubmissionIntake { files, league: Mutex::new(league), limits, why, failed: Mutex::default() }
    }

    fn league(&self) -> MutexGuard<'_, League> {
        self.league.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to take in an archive of an owner.
    fn begin(self: Arc<Self>, owner: &str) -> Result<ArrivingSubmission, ActError> {
        if let Some(why) = &self.why {
            return Err(Refusal::Unavailable.because(why));
        }
        let limits = (self.limits)();
        let most = limits.quota.per_day;
        if self.count_failed(owner, 0) >= most {
            return Err(Refusal::TooMany.because(format_args!(
                "uploads of an owner that fail a day (UTC): {most} at most; try again tomorrow"
            )));
        }
        let arriving = self.files.begin(&self.league(), owner, limits, now())?;
        let failures = UploadFailures { owner: owner.to_owned(), intake: self, counts: true };
        Ok(ArrivingSubmission { arriving, failures })
    }

    /// Adds to the number of uploads of an owner that have failed today, and returns it.
    fn count_failed(&self, owner: &str, more: u32) -> u32 {
        let today = utc(now())[..10].to_owned();
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.retain(|_, (day, _)| *day == today);
        if more == 0 {
            return failed.get(owner).map_or(0, |(_, count)| *count);
        }
        let (_, count) = failed.entry(owner.to_owned()).or_insert((today, 0));
        *count += more;
        *count
    }
}

/// An archive that is arriving. Dropping it removes it.
struct ArrivingSubmission {
    arriving: ArrivingArchive,
    failures: UploadFailures,
}

/// The uploads of an owner that fail before they are in the queue. Dropping it counts one more, if it counts.
struct UploadFailures {
    owner: String,
    intake: Arc<SubmissionIntake>,
    counts: bool,
}

impl Drop for UploadFailures {
    fn drop(&mut self) {
        if self.counts {
            self.intake.count_failed(&self.owner, 1);
        }
    }
}

impl ArrivingSubmission {
    fn write(&mut self, bytes: &[u8]) -> Result<(), ActError> {
        let written = self.arriving.write(bytes);
        // The disk of the server is full.
        self.failures.counts = !matches!(written, Err(ActError::Store(_)));
        written
    }

    /// Puts it into the queue, for the owner with this credential. Returns the number of the submission.
    fn finish(self, by: &OwnerCredential) -> Result<u32, ActError> {
        let ArrivingSubmission { arriving, mut failures } = self;
        let finished = arriving.finish(&mut failures.intake.league(), by, now());
        failures.counts = matches!(finished, Err(ActError::Refused { kind: Refusal::Invalid, .. }));
        finished
    }
}

/// A submission, as its owner sees it.
#[derive(Serialize)]
struct SubmissionView {
    #[serde(flatten)]
    submission: Submission,
    /// Whether the archive of the submission is still there.
    kept: bool,
    /// Data that its program keeps between matches.
    kept_data: Vec<KeptOnLadder>,
    /// The log; only of a single submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<String>,
}

/// The submissions of an owner.
#[derive(Serialize)]
struct SubmissionList {
    submissions: Vec<SubmissionView>,
}

/// Notes that an owner is uploading, for as long as it exists.
struct Upload {
    owners: Arc<Owners>,
    owner: String,
}

impl Upload {
    fn begin(owners: &Arc<Owners>, owner: &str) -> Result<Upload, OwnersError> {
        let mut uploading = owners.uploading.lock().unwrap_or_else(PoisonError::into_inner);
        if !uploading.insert(owner.to_owned()) {
            return Err(OwnersError::Uploading);
        }
        Ok(Upload { owners: owners.clone(), owner: owner.to_owned() })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.owners.uploading.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.owner);
    }
}

/// Takes in the archive of a program: the body of the request, as it arrives.
pub(super) async fn submit(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { owner, credential }): ActiveOwner,
    body: Body,
) -> Result<Response, OwnersError> {
    let intake = owners.intake()?;
    let _upload = Upload::begin(&owners, &owner.id)?;
    let id = owner.id.clone();
    let begun = tokio::task::spawn_blocking(move || intake.begin(&id)).await;
    let mut arriving = begun.map_err(|_| OwnersError::Panicked)?.map_err(OwnersError::Intake)?;
    let mut parts = body.into_data_stream();
    let end = Instant::now() + WHOLE;
    let arrived = timeout_at(end, async {
        while let Some(part) = timeout(SILENCE, parts.next()).await.map_err(|_| OwnersError::Slow)? {
            let part = part.map_err(|error| OwnersError::Body(Wrong::at("the body", error)))?;
            arriving.write(&part).map_err(OwnersError::Intake)?;
        }
        Ok::<_, OwnersError>(arriving)
    });
    let arrived = arrived.await.unwrap_or(Err(OwnersError::Slow))?;
    let id = tokio::task::spawn_blocking(move || arrived.finish(&credential)).await;
    let id = id.map_err(|_| OwnersError::Panicked)?.map_err(OwnersError::Intake)?;
    Ok(json(StatusCode::CREATED, &find(&owners, owner, id).await?))
}

impl Owners {
    fn intake(&self) -> Result<Arc<SubmissionIntake>, OwnersError> {
        self.intake.clone().ok_or(OwnersError::NoSubmissions)
    }

    fn view(&self, submission: Submission, log: Option<String>) -> SubmissionView {
        let files = self.intake.as_ref().map(|intake| &intake.files);
        let kept = files.is_some_and(|files| files.archive(submission.id).is_file());
        let kept_data = files.map_or(Vec::new(), |files| files.kept_data(submission.id));
        SubmissionView { submission, kept, kept_data, log }
    }
}

async fn find(owners: &Arc<Owners>, owner: LeagueOwner, id: u32) -> Result<SubmissionView, OwnersError> {
    owners
        .with(move |owners, league| {
            let found = league.submission(id)?.filter(|row| row.owner == owner.id);
            let name = id.to_string();
            let row = found.ok_or(OwnersError::NoSuch { what: "submission of yours", name })?;
            let log = row.log.clone();
            Ok(owners.view(row, Some(log)))
        })
        .await
}

fn number(id: String) -> Result<u32, OwnersError> {
    id.parse().map_err(|_| OwnersError::NoSuch { what: "submission of yours", name: id })
}

/// The archive of a submission of this owner, and its name.
async fn kept_archive(
    owners: &Arc<Owners>,
    owner: LeagueOwner,
    id: u32,
) -> Result<(File, String), OwnersError> {
    let intake = owners.intake()?;
    let SubmissionView { submission, .. } = find(owners, owner, id).await?;
    let name = submission.player().unwrap_or_else(|| format!("submission-{id}"));
    let missing = |_| OwnersError::NoSuch { what: "archive any more of", name: name.clone() };
    let opened = tokio::task::spawn_blocking(move || {
        let mut file = File::open(intake.files.archive(id))?;
        let mut magic = [0; 2];
        file.read_exact(&mut magic)?;
        file.rewind()?;
        Ok::<_, io::Error>((file, magic))
    });
    let (file, magic) = opened.await.map_err(|_| OwnersError::Panicked)?.map_err(missing)?;
    let ending = match &magic {
        b"PK" => "zip",
        [0x1f, 0x8b] => "tar.gz",
        _ => "tar",
    };
    Ok((file, format!("{name}.{ending}")))
}

/// The archive that was handed in.
pub(super) async fn archive(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { owner, .. }): ActiveOwner,
    Path(id): Path<String>,
) -> Result<Response, OwnersError> {
    let (file, name) = kept_archive(&owners, owner, number(id)?).await?;
    let parts = futures_util::stream::try_unfold(file, |mut file| async move {
        let read = tokio::task::spawn_blocking(move || {
            let mut part = vec![0; PART];
            let size = file.read(&mut part)?;
            part.truncate(size);
            Ok::<_, io::Error>((size > 0).then_some((part, file)))
        });
        read.await?
    });
    let named = format!("attachment; filename=\"{name}\"");
    let head = [(CONTENT_TYPE, "application/octet-stream".to_owned()), (CONTENT_DISPOSITION, named)];
    Ok((head, Body::from_stream(parts)).into_response())
}

/// Hands in the archive of an earlier submission again, as a new version.
pub(super) async fn again(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { owner, credential }): ActiveOwner,
    Path(id): Path<String>,
) -> Result<Response, OwnersError> {
    let intake = owners.intake()?;
    let _upload = Upload::begin(&owners, &owner.id)?;
    let (mut file, _) = kept_archive(&owners, owner.clone(), number(id)?).await?;
    let by = owner.id.clone();
    let copied = tokio::task::spawn_blocking(move || {
        let mut arriving = intake.begin(&by)?;
        let mut part = vec![0; PART];
        loop {
            match file.read(&mut part)? {
                0 => return arriving.finish(&credential),
                size => arriving.write(&part[..size])?,
            }
        }
    });
    let id = copied.await.map_err(|_| OwnersError::Panicked)?.map_err(OwnersError::Intake)?;
    Ok(json(StatusCode::CREATED, &find(&owners, owner, id).await?))
}

/// Takes back a submission that does not play yet.
pub(super) async fn withdraw(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { credential, .. }): ActiveOwner,
    Path(id): Path<String>,
) -> Result<Response, OwnersError> {
    owners.act(credential, OwnerAct::WithdrawSubmission(number(id)?)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// The submissions of an owner, without their logs.
pub(super) async fn list(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { owner, .. }): ActiveOwner,
) -> Result<Response, OwnersError> {
    let submissions = owners.with(move |owners, league| {
        let rows = league.submissions(Some(&owner.id))?;
        Ok(rows.into_iter().map(|row| owners.view(row, None)).collect())
    });
    let submissions = submissions.await?;
    Ok(json(StatusCode::OK, &SubmissionList { submissions }))
}

/// A submission of an owner, with its log.
pub(super) async fn show(
    State(owners): OwnersState,
    ActiveOwner(SignedIn { owner, .. }): ActiveOwner,
    Path(id): Path<String>,
) -> Result<Response, OwnersError> {
    Ok(json(StatusCode::OK, &find(&owners, owner, number(id)?).await?))
}
