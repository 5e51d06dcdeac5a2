//! Takes up changes while a ladder is played.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::LeagueEvent;
use super::reload::{ConfigFile, CurrentConfig};
use super::visitors::StartedPrograms;
use crate::league::config::ProgramPlace;
use crate::league::server::kept::keep;
use crate::league::{LadderMemory, RatingHistory, SharedLadder};
use referee_bots::Command;
use referee_bots::sandbox::{Size, separate};
use referee_engine::runner::RunChange;
use referee_engine::sources::{BotSpec, BotTokens, Source};
use referee_game::hex;
use referee_game::{Chain, Wrong};
use referee_league::{
    LadderRulings, LadderSeason, League, LeagueBot, LeagueOwner, OwnerState, SubmissionFiles,
};
use referee_stats::ladder::Name;
use referee_store::{StoreError, now};
use referee_workers::JobBots;
use referee_workers::archive::{ArchiveError, ArchiveLimits, pack_folder};
use referee_workers::packing::pack_bots;

/// The interval of looks for changes of the database, and of ratings.
const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// The number of hexadecimal digits in the version of a program whose files have changed.
const VERSION_DIGITS: usize = 8;

/// The tokens of the bots that may connect at this time: their own, and those of their owners.
pub(in crate::league) fn tokens(bots: &[LeagueBot], owners: &[LeagueOwner], now: SystemTime) -> BotTokens {
    let of_owners: BTreeMap<&str, Vec<_>> =
        owners.iter().map(|owner| (&*owner.id, owner.tokens(now))).collect();
    let connect = bots.iter().filter(|bot| bot.revoked_at.is_none() && bot.command.is_none());
    let tokens = connect.map(|bot| {
        let of_owner = of_owners.get(&*bot.owner).into_iter().flatten().copied();
        (bot.name.clone(), bot.token.into_iter().chain(of_owner).collect())
    });
    tokens.filter(|(_, tokens): &(String, Vec<_>)| !tokens.is_empty()).collect()
}

/// Takes up changes of the database while a ladder is played, and rates its players.
pub(super) struct Control<'a> {
    pub(super) name: &'a str,
    pub(super) on_event: &'a (dyn Fn(LeagueEvent<'_>) + Sync),
    pub(super) ladder: SharedLadder,
    pub(super) league: League,
    pub(super) changes: mpsc::UnboundedSender<RunChange>,
    /// The file of the league, with the sandboxes of programs.
    pub(super) file: ConfigFile,
    /// The bots that workers start, and the directory for what workers need; `None` without workers.
    pub(super) job_bots: Option<(JobBots, PathBuf)>,
    /// Programs that the server starts, for visitors.
    pub(super) programs: StartedPrograms,
    /// The size of the directory that outlives the matches of a program that was handed in, and where it is stored.
    pub(super) keep: Option<(Size, Arc<SubmissionFiles>)>,
}

/// A request to the thread of [`Control`].
#[derive(Debug)]
pub(super) enum ControlRequest {
    /// A request to take up changes now, and to say when they are in force.
    TakeUp(oneshot::Sender<()>),
    End,
}

/// The state last read from the database.
#[derive(Default)]
struct SeenLeague {
    /// The count of [`League::data_version`]; `None` before the first read.
    version: Option<i64>,
    /// The count of [`League::changes`]; `None` before the first read.
    changes: Option<Option<String>>,
    /// The bots that take part, and others that are shown.
    bots: Vec<LeagueBot>,
    /// The owners who take part.
    owners: Vec<LeagueOwner>,
    tokens: BotTokens,
}

impl Control<'_> {
    /// Works until it is asked to end.
    pub(super) fn work(mut self, requests: &Receiver<ControlRequest>) -> io::Result<()> {
        let mut seen = SeenLeague::default();
        let mut rates_at = Instant::now();
        let mut history = RatingHistory::default();
        let mut memory = LadderMemory::default();
        let (mut failure, mut asked) = (None, None);
        loop {
            // A database that is locked for long is tried again.
            let looked = self.look(&mut seen).and_then(|()| Ok(self.end_challenges()?));
            let failed = looked.err().map(|error| Chain(&error).to_string());
            if let Some(error) = failed.as_ref().filter(|_| failed != failure) {
                tracing::warn!("{}: changes are not taken up: {error}", self.name);
            }
            failure = failed;
            let began = Instant::now();
            if began >= rates_at {
                self.ladder.rate();
                // Ratings take at most a tenth of the time.
                rates_at = Instant::now() + 9 * began.elapsed();
            }
            self.keep_history(&mut history);
            self.ladder.lock().begin_day(now(), &BTreeMap::new());
            // The thread must not wait for the database: players are paired only when it wakes the run.
            self.keep_memory(&mut memory, false);
            (self.on_event)(LeagueEvent::Alive(self.name));
            // Players whose pause is over can be paired again. The run may have ended.
            let _ = self.changes.send(RunChange::Wake);
            if let Some(done) = asked.take() {
                let _ = self.changes.send(RunChange::Confirm(done));
            }
            match requests.recv_timeout(POLL_INTERVAL) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(ControlRequest::TakeUp(done)) => asked = Some(done),
                Ok(ControlRequest::End) | Err(RecvTimeoutError::Disconnected) => {
                    if let Err(error) = self.end_challenges() {
                        tracing::warn!("{}: challenges that were played stay: {}", self.name, Chain(&error));
                    }
                    self.keep_memory(&mut memory, true);
                    return Ok(());
                }
            }
        }
    }

    /// Stores the memory for the next server, if it has changed. `waits`: for another process that writes.
    fn keep_memory(&mut self, stored: &mut LadderMemory, waits: bool) {
        let memory = self.ladder.lock().memory();
        if memory == *stored {
            return;
        }
        match memory.write(&mut self.league, self.name, waits) {
            Ok(()) => *stored = memory,
            Err(error) => tracing::debug!("{}: exclusions are not stored: {}", self.name, Chain(&error)),
        }
    }

    /// Publishes the state of the ladder, and stores ratings that have changed.
    fn keep_history(&mut self, history: &mut RatingHistory) {
        let due = history.due(&self.ladder.publish(now()).rows);
        if !due.is_empty()
            && let Err(error) = self.league.add_ratings(self.name, now(), &due)
        {
            tracing::debug!("{}: the history of ratings lacks a point: {}", self.name, Chain(&error));
        }
    }

    fn look(&mut self, seen: &mut SeenLeague) -> Result<(), Wrong> {
        let version = self.league.data_version()?;
        if seen.version == Some(version) {
            // The former token of an owner may have expired.
            self.set_tokens(seen);
            return Ok(());
        }
        self.recount()?;
        let is_paused = self.league.is_paused()? || self.league.is_ladder_paused(self.name)?;
        let finals = self.league.finals(self.name)?;
        let in_force = self.league.in_force(Some(self.name))?;
        {
            let mut ladder = self.ladder.lock();
            ladder.set_paused(is_paused);
            ladder.set_finals(finals);
            ladder.set_in_force(in_force);
        }
        let changes = self.league.changes()?;
        if seen.changes.as_ref() != Some(&changes) {
            self.look_at_bots(seen)?;
            seen.changes = Some(changes);
        }
        let challenges = self.league.challenges(self.name)?;
        self.ladder.lock().set_challenges(challenges);
        seen.version = Some(version);
        Ok(())
    }

    /// Removes the challenges that have ended.
    fn end_challenges(&mut self) -> Result<(), StoreError> {
        let ended = self.ladder.lock().ended_challenges(now());
        if !ended.is_empty() {
            self.league.remove_challenges(ended.iter().copied())?;
            self.ladder.lock().forget_challenges(&ended);
        }
        Ok(())
    }

    /// Takes up changes of bots and owners.
    fn look_at_bots(&mut self, seen: &mut SeenLeague) -> Result<(), Wrong> {
        let (bots, mut owners) = (self.league.current_bots()?, self.league.owners()?);
        let new = {
            let mut ladder = self.ladder.lock();
            ladder.show_owners(&bots, &owners);
            ladder.set_bots(&bots)
        };
        owners.retain(|owner| owner.state == OwnerState::Active);
        (seen.bots, seen.owners) = (bots, owners);
        self.set_tokens(seen);
        // The rest may take a while: it reads the files of programs.
        for (spec, place) in self.programs(&new, &seen.bots)? {
            self.add_for_workers(&spec, place).unwrap_or_else(|why| {
                tracing::warn!("{}: {} plays on no worker: {}", self.name, spec.name, Chain(&*why));
            });
            if place == ProgramPlace::Anywhere {
                let _ = self.changes.send(RunChange::Bot(spec));
            }
        }
        Ok(())
    }

    /// Passes on the tokens that are valid now, if others were valid before.
    fn set_tokens(&self, seen: &mut SeenLeague) {
        let tokens = tokens(&seen.bots, &seen.owners, now());
        if tokens != seen.tokens {
            seen.tokens.clone_from(&tokens);
            // The run may have ended.
            let _ = self.changes.send(RunChange::Tokens(tokens));
        }
    }

    /// Counts the results again if rulings were made or undone, or a season has begun. The ladder is played meanwhile.
    fn recount(&mut self) -> Result<(), Wrong> {
        let all = self.league.rulings()?;
        let rulings = LadderRulings::of(&all, self.name);
        let (counted, seats) = {
            let mut ladder = self.ladder.lock();
            ladder.show_rulings(&all);
            (ladder.season(), ladder.seats())
        };
        let begun = match self.league.current_season()? {
            current if current == counted => None,
            _ => Some(LadderSeason::current(&mut self.league, self.name, seats)?),
        };
        let began = self.ladder.lock().begin_recount(begun, rulings)?;
        let Some(mut recount) = began else { return Ok(()) };
        self.league.for_each_match(self.name, Some(recount.season()), |row| recount.add(row))?;
        self.ladder.lock().end_recount(recount)
    }

    /// Lets workers play the matches of a program, if there are workers.
    fn add_for_workers(&self, spec: &BotSpec, place: ProgramPlace) -> Result<(), Box<dyn Error>> {
        let Some((bots, folder)) = &self.job_bots else { return Ok(()) };
        let units = pack_bots(std::slice::from_ref(spec), folder)?;
        let mut ladder = self.ladder.lock();
        let is_started_here = place == ProgramPlace::Anywhere;
        for unit in units {
            ladder.set_program(&spec.name, bots.add(unit), is_started_here)?;
        }
        Ok(())
    }

    /// The programs that are new in the run, kept apart from the files of the league and of the others. A program whose
    /// command cannot be parsed, or that cannot be confined, is marked as refused.
    fn programs(
        &mut self,
        new: &[LeagueBot],
        all: &[LeagueBot],
    ) -> Result<Vec<(BotSpec, ProgramPlace)>, StoreError> {
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let CurrentConfig { config, files } = self.file.current().clone();
        let mut commands: Vec<(&LeagueBot, Command, ProgramPlace)> = Vec::new();
        for bot in all.iter().filter(|bot| bot.revoked_at.is_none()) {
            let Some(text) = &bot.command else { continue };
            let sandbox = config.sandbox_of(bot, self.job_bots.is_some());
            let parsed = sandbox.map_err(|why| Chain(&why).to_string()).and_then(|(sandbox, place)| {
                let command = text.parse::<Command>().map_err(|error| error.to_string())?;
                Ok((Command { sandbox, ..command }, place))
            });
            let refused = parsed.as_ref().err();
            if refused != bot.refused.as_ref() {
                if let Some(why) = refused {
                    tracing::error!("{}: the command of {} is refused: {why}", self.name, bot.name);
                }
                self.league.set_refused(&bot.name, text, refused.map(String::as_str))?;
            }
            let Ok((command, place)) = parsed else { continue };
            let directory = bot.directory.as_ref().map(|directory| config.folder.join(directory));
            let files = match bot.version {
                Some(_) => directory.clone(),
                None => files.get(&bot.name).cloned(),
            };
            commands.push((bot, Command { directory, files, ..command }, place));
        }
        separate(&mut commands.iter_mut().map(|(_, command, _)| command).collect::<Vec<_>>());
        commands.retain(|(bot, ..)| new.iter().any(|new| new.name == bot.name));
        let mut specs = Vec::new();
        for (bot, command, place) in commands {
            let player = self.player(bot, &command)?;
            if place == ProgramPlace::Anywhere {
                self.programs.add(&player, &command);
            }
            let stored = bot.submission().zip(self.keep.as_ref());
            let keep = stored.map(|(id, (size, files))| keep(files.clone(), id, self.name, *size));
            // The directory of the bot is stored when its process ends.
            let is_fresh = keep.is_some();
            let source: Arc<dyn Source> = Arc::new(Command { keep, ..command });
            let named = BotSpec::named(vec![(source, Some(player))], Default::default());
            specs.extend(named.into_iter().map(|spec| (BotSpec { is_fresh, ..spec }, place)));
        }
        Ok(specs)
    }

    /// The player that a program is. One that was handed in has the version of its submission. Another one with other files or
    /// arguments than at first is a version of its own: a rating says what the program is that has it.
    fn player(&mut self, bot: &LeagueBot, command: &Command) -> Result<String, StoreError> {
        if let Some(version) = bot.version {
            return Ok(Name::of(&bot.name, Some(&version.to_string())).to_string());
        }
        let digest = match digest(command) {
            Ok(digest) => digest,
            Err(why) => {
                tracing::warn!(
                    "{}: the files of {} are not compared with earlier ones: {}",
                    self.name,
                    bot.name,
                    Chain(&why)
                );
                return Ok(bot.name.clone());
            }
        };
        let key = format!("program/{}", bot.name);
        let first = self.league.value(&key)?;
        if first.is_none() {
            self.league.set_value(&key, &digest)?;
        }
        let is_first = first.is_none_or(|first| first == digest);
        let version = Some(&digest[..VERSION_DIGITS]).filter(|_| !is_first);
        Ok(Name::of(&bot.name, version).to_string())
    }
}

/// SHA-256 of the arguments of a program and of the files among them, in hex, and of all its files if they have a
/// directory. A program that is looked up in `PATH`, such as an interpreter, counts by its name: it is part of the system.
fn digest(command: &Command) -> Result<String, ArchiveError> {
    let files: BTreeMap<String, String> = command.fingerprints().into_iter().collect();
    let mut hash = Sha256::new();
    if command.is_engine() {
        hash.update(&command.argv[0]);
        hash.update([0]);
    }
    for (at, word) in command.words().enumerate() {
        let is_own = at > 0 || word.contains('/');
        hash.update(files.get(&*word).filter(|_| is_own).map_or(&*word, String::as_str));
        hash.update([0]);
    }
    if let Some(folder) = &command.files {
        hash.update(pack_folder(folder, ArchiveLimits::BOT, io::sink())?.id.to_string());
    }
    Ok(hex::encode(&hash.finalize()))
}
