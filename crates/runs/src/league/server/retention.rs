//! Erases, packs and sends records while a ladder is played, on a thread of its own at a low priority.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tokio::time::Instant;

use super::reload::ConfigFile;
use crate::league::config::RecordRetention;
use crate::league::{RetainedLadder, Retention, SendCommand, SendError};
use referee_files::{PackRange, RecordFolder};
use referee_game::Chain;
use referee_league::League;
use referee_match::record::PublishedInfo;
use referee_store::{StoreError, now};
use referee_web::PackSending;

/// The time between two steps of a work, and between two looks whether there is some.
const STEP: Duration = Duration::from_millis(300);
/// The amount by which the priority is below that of matches: see nice(2).
const NICE: i32 = 10;
/// The pause after a pack could not be sent: at first, and at most. The time doubles with each failure.
const RETRY: Duration = Duration::from_secs(2);
const LATEST_RETRY: Duration = Duration::from_secs(60 * 60);

/// Applies the retention of records to a ladder in progress.
pub(super) struct RetentionWork {
    pub(super) name: String,
    /// The directory of the league.
    pub(super) folder: PathBuf,
    pub(super) file: ConfigFile,
    pub(super) league: League,
    pub(super) records: RecordFolder,
    pub(super) sending: Arc<PackSending>,
    /// Whether the `info` of bots stays.
    pub(super) info: PublishedInfo,
}

/// The time at which a pack is sent next.
#[derive(Default)]
struct Retry {
    at: Option<Instant>,
    delay: Duration,
}

impl RetentionWork {
    /// Works until the other end of the channel is dropped.
    pub(super) fn work(mut self, ends: &Receiver<()>) {
        // The priority is that of this thread, and of its children.
        if let Err(error) = rustix::process::nice(NICE) {
            tracing::debug!(%error, "records are packed at the priority of matches");
        }
        let (mut failure, mut retry) = (None, Retry::default());
        loop {
            let failed = self.step(ends, &mut retry).err().map(|error| Chain(&error).to_string());
            if let Some(error) = failed.as_ref().filter(|_| failed != failure) {
                tracing::warn!("{}: older records stay as they are: {error}", self.name);
            }
            failure = failed;
            if !waits(ends, STEP) {
                return;
            }
        }
    }

    /// Does the due work, a little at a time.
    fn step(&mut self, ends: &Receiver<()>, retry: &mut Retry) -> Result<(), StoreError> {
        let terms = self.file.current().config.retention();
        // The configuration was validated when it was read.
        let Ok(RecordRetention { retention, send }) = terms else { return Ok(()) };
        // The pages show by what was read at the start, too.
        let retention = Retention { info: self.info, ..retention };
        let RetentionWork { name, league, records, .. } = self;
        let mut pace = || waits(ends, STEP);
        let mut of = RetainedLadder { name, league, records, pace: &mut pace };
        let erased = retention.erase(&mut of, now())?;
        if erased > 0 {
            tracing::info!("{name}: private lines of {erased} records were erased");
        }
        if let Some(range) = retention.pack(&mut of, now())? {
            let numbers = range.numbers();
            tracing::info!(
                "{name}: the records of matches {} to {} were packed",
                numbers.start(),
                numbers.end()
            );
        }
        match send {
            Some(send) => self.send(&send, ends, retry),
            None => {
                self.sending.stop();
                Ok(())
            }
        }
    }

    /// Sends the next pack that has not been sent.
    fn send(&mut self, send: &SendCommand, ends: &Receiver<()>, retry: &mut Retry) -> Result<(), StoreError> {
        let unsent = self.league.unsent_packs(&self.name)?;
        self.sending.wait_for(unsent.len());
        if retry.at.is_some_and(|at| Instant::now() < at) {
            return Ok(());
        }
        // A pack that was begun and has not been written is missing.
        let is_there = |&first: &u32| self.records.has_pack(PackRange::of(first)).unwrap_or_default();
        let Some(first) = unsent.iter().copied().find(is_there) else { return Ok(()) };
        let pack = PackRange::of(first).name();
        let (path, name) = (self.records.folder().path().join(&pack), format!("{}-{pack}", self.name));
        match send.run(&path, &name, &self.folder, &mut |time| waits(ends, time)) {
            Ok(()) => {
                self.league.pack_sent(&self.name, first, now())?;
                *retry = Retry::default();
                self.sending.succeed(unsent.len() - 1);
                tracing::info!("{}: {pack} was sent", self.name);
            }
            Err(SendError::Stopped) => {}
            Err(error) => {
                let delay = (2 * retry.delay).clamp(RETRY, LATEST_RETRY);
                *retry = Retry { at: Some(Instant::now() + delay), delay };
                self.sending.fail();
                tracing::error!(
                    "{}: {pack} was not sent, and is tried again in {} s: {}",
                    self.name,
                    delay.as_secs(),
                    Chain(&error)
                );
            }
        }
        Ok(())
    }
}

/// Waits. Returns false if the other end of the channel is dropped.
fn waits(ends: &Receiver<()>, time: Duration) -> bool {
    ends.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}
