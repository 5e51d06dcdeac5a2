//! The rules for submissions of a league.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use referee_bots::sandbox::{BotLimits, Size};
use referee_league::{IntakeLimits, SubmissionQuota, SubmissionSpace};
use referee_workers::archive::ArchiveLimits;

/// The rules for submissions.
#[derive(Clone, Debug)]
pub struct SubmissionTerms {
    /// The limits of the archive that is handed in.
    pub archive: ArchiveLimits,
    /// The limits of the archive of the build.
    pub result: ArchiveLimits,
    /// The limit of a build's duration.
    pub build_time: Duration,
    /// The limit of the check's duration on each ladder.
    pub check_time: Duration,
    /// The limits of a build in its sandbox.
    pub build: BotLimits,
    pub quota: SubmissionQuota,
    pub space: SubmissionSpace,
    /// The size of the directory that outlives the matches of a version.
    pub keep: Option<Size>,
    /// Whether the organiser has to approve submissions that have passed.
    pub needs_approval: bool,
}

impl SubmissionTerms {
    /// Returns the limits that a new submission has to keep.
    pub fn intake(&self) -> IntakeLimits {
        IntakeLimits { most_bytes: self.archive.most_bytes(), quota: self.quota, space: self.space }
    }
}

/// The rules for submissions, which may change while they are worked on.
#[derive(Clone, Debug)]
pub struct SharedTerms(Arc<Mutex<SubmissionTerms>>);

impl SharedTerms {
    pub fn new(terms: SubmissionTerms) -> SharedTerms {
        SharedTerms(Arc::new(Mutex::new(terms)))
    }

    pub fn get(&self) -> SubmissionTerms {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the terms from the next step on; the limits of builds stay.
    pub fn set(&self, terms: SubmissionTerms) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *current = SubmissionTerms { build: current.build.clone(), ..terms };
    }
}
