//! The pages of a tournament, kept up to date while it is played.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use referee_game::Chain;
use referee_report::site::SiteWriter;
use referee_report::tournament::TournamentReport;
use referee_store::Results;
use tokio::time::Instant;

use crate::RunError;
use crate::config::KnownGames;
use crate::tournament::{StoredTournament, open_results};

/// The minimum time between two versions of the pages. It is also at least nine times as long as one takes, so that large
/// tournaments do not spend more than a tenth of a processor on pages.
const VERSIONS_APART: Duration = Duration::from_secs(3);

/// A site that follows the results of a tournament, on a thread of its own with the lowest priority. The matches never wait
/// for it: it reads what they have stored.
#[derive(Debug)]
pub struct KeptSite {
    /// The sender, which is dropped at the end of the matches.
    playing: SyncSender<()>,
    thread: JoinHandle<Result<(), RunError>>,
}

impl KeptSite {
    /// Begins to write the pages of the tournament in `dir`. `warn` gets a line when they cannot be written.
    ///
    /// # Errors
    /// If the results cannot be read, or there is no thread for it.
    pub fn begin(
        writer: SiteWriter,
        dir: &Path,
        games: &KnownGames,
        warn: fn(String),
    ) -> Result<KeptSite, RunError> {
        let (playing, ended) = sync_channel(0);
        let pages =
            Pages { writer, dir: dir.to_owned(), results: open_results(dir)?, games: games.clone(), warn };
        let work = move || {
            lower_priority();
            pages.keep(&ended)
        };
        let thread = thread::Builder::new().name("site".to_owned()).spawn(work)?;
        Ok(KeptSite { playing, thread })
    }

    /// Writes the last version.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(self) -> Result<(), RunError> {
        drop(self.playing);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The threads that the report starts inherit it.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(19) {
        tracing::debug!(%error, "cannot lower the priority of the pages");
    }
}

struct Pages {
    writer: SiteWriter,
    dir: PathBuf,
    results: Results,
    games: KnownGames,
    warn: fn(String),
}

impl Pages {
    /// Writes the pages at once, after results, and when the tournament has ended.
    fn keep(mut self, ended: &Receiver<()>) -> Result<(), RunError> {
        let mut written = None;
        let mut reported = None;
        loop {
            let began = Instant::now();
            // A version that has not been written completely is due again.
            match self.write_if_changed(&mut written) {
                Ok(()) => reported = None,
                Err(error) => {
                    let what = Chain(&error).to_string();
                    if reported.as_ref() != Some(&what) {
                        (self.warn)(format!("the pages are not up to date: {what}"));
                    }
                    reported = Some(what);
                }
            }
            let apart = VERSIONS_APART.max(9 * began.elapsed());
            if ended.recv_timeout(apart) != Err(RecvTimeoutError::Timeout) {
                // A record that was sealed last leaves no trace in the database.
                return self.write_if_changed(&mut None);
            }
        }
    }

    /// Writes the pages, unless those of this version of the database are written already.
    fn write_if_changed(&mut self, written: &mut Option<i64>) -> Result<(), RunError> {
        let version = self.results.data_version()?;
        if *written == Some(version) {
            return Ok(());
        }
        let stored = StoredTournament::read(&self.dir, &self.results, &self.games)?;
        let report =
            TournamentReport::of(&self.dir, &self.results, &stored.schedule, &stored.settings(), |_, _| ());
        let report = report.map_err(|why| RunError::at(&self.dir, why))?;
        self.writer.write(&self.dir, &report, self.games.catalog(), 1, || ())?;
        *written = Some(version);
        Ok(())
    }
}
