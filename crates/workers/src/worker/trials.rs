//! The programs that a worker builds and checks.

use std::error::Error;
use std::fs::File;
use std::io;
use std::thread;

use tempfile::NamedTempFile;

use super::{Incapable, TriedProgram, Work, WorkerEvent, WorkerTrial, of_archive};
use crate::archive::ArchiveId;
use crate::carrier::Request;
use crate::trial::{TrialJob, TrialReply, TrialVerdict};
use referee_game::Chain;
use referee_game::Wrong;
use referee_game::erased::Rules;

impl WorkerTrial {
    /// Returns whether it waits for this archive, that of the program.
    pub(super) fn wants(&self, id: ArchiveId) -> bool {
        !self.is_begun && self.archive.is_none() && self.job.archive == id
    }
}

impl<F: FnMut(WorkerEvent<'_>)> Work<F> {
    /// Adds a program, and asks for its archive. One that is tried already goes on.
    pub(super) fn add_trial(&mut self, job: Box<TrialJob>) {
        let (id, archive) = (job.id, job.archive);
        if self.trials.contains_key(&id) {
            return;
        }
        (self.on_event)(WorkerEvent::Tries(&job));
        self.trials.insert(id, WorkerTrial { job, archive: None, is_begun: false });
        if self.incoming.contains_key(&archive) {
            return;
        }
        match self.worker.cache.incoming() {
            Ok(file) => {
                self.request(Request::Fetch(archive, file.path().to_owned()));
                self.incoming.insert(archive, file);
            }
            Err(error) => self.give_up_trials(archive, &error),
        }
    }

    /// Takes the archive of a program, or the reason why it is not available.
    pub(super) fn fetched_for_trial(
        &mut self,
        id: ArchiveId,
        file: NamedTempFile,
        result: Result<(), Wrong>,
    ) {
        match result {
            Ok(()) => {
                let wanting = self.trials.values_mut().find(|trial| trial.wants(id));
                if let Some(trial) = wanting {
                    trial.archive = Some(file);
                }
                self.begin_trials();
            }
            Err(why) => self.give_up_trials(id, &*of_archive(id, why)),
        }
        // Units that wait for the same archive ask for it again.
        let needs = |unit: &crate::unit::WorkUnit| unit.archives().any(|of| of == id);
        let (waiting, others) = std::mem::take(&mut self.waiting).into_iter().partition(needs);
        let waiting: Vec<crate::unit::WorkUnit> = waiting;
        self.waiting = others;
        waiting.into_iter().for_each(|unit| self.play(Box::new(unit)));
    }

    /// Gives up the programs that need an archive that is not available.
    pub(super) fn give_up_trials(&mut self, archive: ArchiveId, why: &(dyn Error + 'static)) {
        let needing = self.trials.values().filter(|trial| !trial.is_begun);
        let needing = needing.filter(|trial| trial.job.archives().any(|of| of == archive));
        let ids: Vec<u64> = needing.map(|trial| trial.job.id).collect();
        for id in ids {
            self.report(unable(id, why));
        }
    }

    /// Begins to try the programs whose archives are all here.
    pub(super) fn begin_trials(&mut self) {
        let ready = self.trials.iter().filter(|(_, trial)| trial.archive.is_some());
        for id in ready.map(|(&id, _)| id).collect::<Vec<u64>>() {
            if let Err(why) = self.begin_trial(id) {
                self.report(unable(id, &*why));
            }
        }
    }

    /// Begins to try a program, on a thread of its own, unless the rules of a game are still to arrive.
    fn begin_trial(&mut self, id: u64) -> Result<(), Incapable> {
        let Some(trials) = self.worker.trials.clone() else {
            return Err("this worker builds no programs".into());
        };
        let Some(trial) = self.trials.get(&id) else { return Ok(()) };
        let job = trial.job.clone();
        let mut rules: Vec<&'static dyn Rules> = Vec::new();
        for ladder in &job.ladders {
            let Some(found) = self.rules(&ladder.game, ladder.game_files)? else { return Ok(()) };
            let version = found.meta().rules_version;
            if version != ladder.rules {
                let (game, there) = (ladder.game.clone(), ladder.rules);
                return Err(format!(
                    "its rules of {game} have version {version}, those of the league {there}"
                )
                .into());
            }
            rules.push(found);
        }
        let Some(trial) = self.trials.get_mut(&id) else { return Ok(()) };
        let Some(archive) = trial.archive.take() else { return Ok(()) };
        trial.is_begun = true;
        let (catalog, tried) = (self.worker.catalog.clone(), self.tried.0.clone());
        let work = move || {
            let file: io::Result<File> = archive.reopen();
            let done = match file {
                Ok(file) => {
                    let (report, built) = trials.run(&job, file, &rules, &catalog);
                    (id, report, built)
                }
                Err(error) => unable(id, &error),
            };
            // The worker may have ended.
            let _ = tried.send(done);
        };
        let begun = thread::Builder::new().name("trial".to_owned()).spawn(work);
        begun?;
        Ok(())
    }

    /// Reports the verdict on a program.
    pub(super) fn report(&mut self, (id, report, built): TriedProgram) {
        if self.trials.remove(&id).is_some() {
            (self.on_event)(WorkerEvent::Tried(&report));
            self.idle_since = tokio::time::Instant::now();
            self.request(Request::Tried(id, report, built));
        }
    }
}

/// The verdict if this machine could not do it.
fn unable(id: u64, why: &dyn Error) -> TriedProgram {
    (id, TrialReply { log: String::new(), verdict: TrialVerdict::Unable(Chain(why).to_string()) }, Vec::new())
}
