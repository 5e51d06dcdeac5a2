//! Serves a host on standard input and output.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use referee_files::Records;
use referee_game::catalog::Catalog;
use referee_game::chance::Seed;
use referee_game::erased::Rules;
use referee_game::seat::Seating;
use referee_game::{Chain, Wrong, hex};
use referee_match::{AbortReason, Leg, Log, Opening, Wants};
use referee_protocol::bot::Open;
use referee_protocol::referee::Reveal;
use referee_protocol::words::{ErrorCode, FaultCode};
use referee_transport::{Stream, Wire};
use rustix::fs::OFlags;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::driver::{
    Finished, Lane, MatchPlan, Notice, PlannedSeat, Role, Run, SessionKey, Terms, check_clock,
};
use crate::runner::archive;
use crate::runner::scheduler::Backlog;

/// The configuration of `referee stdio`.
#[derive(Debug)]
pub struct HostRun {
    /// The seed and the terms; an `open` may override the clock and the fault policy.
    pub run: Run,
    /// The games that an `open` may name.
    pub catalog: Catalog,
    pub records: Option<Records>,
    /// The matches that the referee opens; `None`: the host opens matches.
    pub matches: Option<HostMatches>,
}

/// Matches that the referee opens.
#[derive(Debug)]
pub struct HostMatches {
    pub rules: &'static dyn Rules,
    pub options: Box<RawValue>,
    pub seating: Seating,
    pub matches: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPlayed {
    /// Matches that ended with a result.
    pub matches: u32,
    /// Matches that were aborted.
    pub aborted: u32,
    /// Whether the run was interrupted.
    pub interrupted: bool,
}

const SEED: Wrong = Wrong::new("`seed` must be 64 lower-case hex digits");

/// Restores the flags of a descriptor on drop: other processes may share it, such as the terminal's shell.
struct Restore(OwnedFd, OFlags);

impl Drop for Restore {
    fn drop(&mut self) {
        let _ = rustix::fs::fcntl_setfl(&self.0, self.1);
    }
}

fn take(fd: impl AsFd) -> io::Result<(OwnedFd, Restore)> {
    let flags = rustix::fs::fcntl_getfl(&fd)?;
    let fd = fd.as_fd();
    Ok((fd.try_clone_to_owned()?, Restore(fd.try_clone_to_owned()?, flags)))
}

/// Serves the host until it leaves or all matches have been played.
///
/// # Errors
/// If the descriptors cannot be used, a record cannot be written, or the host cannot be served.
pub async fn serve_host(host: HostRun, interrupt: impl Future<Output = ()>) -> Result<HostPlayed, Wrong> {
    let (input, _restore_input) = take(io::stdin())?;
    let (output, _restore_output) = take(io::stdout())?;
    let mut lane = Lane::new();
    let role = Role::Host { may_open: host.matches.is_none() };
    let hello = Duration::from_millis(host.run.terms.hello_ms);
    let session = lane.add(role, Stream::watch(Wire::pipes(input, output, None))?, hello);
    let played = HostPlayed { matches: 0, aborted: 0, interrupted: false };
    let record_writer = host.records.clone().map(RecordWriter::start).transpose()?;
    let mut server =
        HostServer { host, lane, session, opened: 0, asked: VecDeque::new(), played, record_writer };
    let mut interrupt = std::pin::pin!(interrupt);
    let mut served = Ok(());
    while served.is_ok() && !server.is_over() {
        tokio::select! {
            biased;
            () = &mut interrupt, if !server.played.interrupted => {
                server.played.interrupted = true;
                server.asked.clear();
                for key in server.lane.running() {
                    server.lane.abort(key, &AbortReason::Interrupted);
                }
            }
            Some(kept) = kept(&mut server.record_writer) => served = server.note_kept(kept),
            notice = server.lane.next() => served = server.handle_notice(notice),
        }
    }
    // The host may not have read the end of the last match yet.
    server.lane.dismiss(session, "the run is over");
    server.lane.drained(session, Duration::from_secs(1)).await;
    if let Some(record_writer) = server.record_writer {
        served = served.and(record_writer.finish().await);
    }
    let synced = server.host.records.as_ref().map_or(Ok(()), Records::sync);
    served.and(synced.map_err(Wrong::from)).map(|()| server.played)
}

/// Writes records on a thread of its own.
struct RecordWriter {
    /// Match ids, records without seals, and contents of the seals.
    records: Sender<(String, Log, Reveal)>,
    /// Receives a message whenever the backlog has room again, or the reason why a record could not be written.
    kept: UnboundedReceiver<Result<(), Wrong>>,
    backlog: Arc<Mutex<Backlog>>,
}

impl RecordWriter {
    fn start(folder: Records) -> io::Result<RecordWriter> {
        let (records, to_keep) = channel::<(String, Log, Reveal)>();
        let (sender, kept) = unbounded_channel();
        let backlog = Arc::<Mutex<Backlog>>::default();
        let of_thread = Arc::clone(&backlog);
        let work = move || {
            for (id, record, reveal) in to_keep {
                let bytes = record.len();
                let kept = archive::seal(&folder, &id, &mut record.text(), reveal);
                let has_room_again = locked(&of_thread).remove(bytes);
                if has_room_again || kept.is_err() {
                    // The channel is closed after an error.
                    let _ = sender.send(kept.map(drop));
                }
            }
        };
        thread::Builder::new().name("records".to_owned()).spawn(work)?;
        Ok(RecordWriter { records, kept, backlog })
    }

    /// Waits until all records have been written.
    async fn finish(self) -> Result<(), Wrong> {
        let RecordWriter { records, mut kept, .. } = self;
        drop(records);
        let mut all = Ok(());
        while let Some(kept) = kept.recv().await {
            all = all.and(kept);
        }
        all
    }
}

fn locked(backlog: &Mutex<Backlog>) -> MutexGuard<'_, Backlog> {
    backlog.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next message of the thread; `None` if there will be no more.
async fn kept(record_writer: &mut Option<RecordWriter>) -> Option<Result<(), Wrong>> {
    record_writer.as_mut()?.kept.recv().await
}

struct HostServer {
    host: HostRun,
    lane: Lane,
    session: SessionKey,
    /// The number of matches opened so far.
    opened: u32,
    /// Matches requested by the host that wait for the record backlog.
    asked: VecDeque<Open<Box<RawValue>>>,
    played: HostPlayed,
    record_writer: Option<RecordWriter>,
}

impl HostServer {
    fn is_over(&self) -> bool {
        let all_played = self.host.matches.as_ref().is_some_and(|matches| self.opened == matches.matches);
        let has_left = !self.lane.is_live(self.session);
        let has_more = !self.asked.is_empty() && !has_left && !self.played.interrupted;
        self.running() == 0 && !has_more && (all_played || has_left || self.played.interrupted)
    }

    /// Returns whether the record backlog is full, so that no new match starts.
    fn is_behind(&self) -> bool {
        self.record_writer.as_ref().is_some_and(|record_writer| locked(&record_writer.backlog).is_full())
    }

    /// Notes that the record backlog has room again, or that a record could not be written.
    fn note_kept(&mut self, kept: Result<(), Wrong>) -> Result<(), Wrong> {
        kept?;
        while !self.is_behind()
            && let Some(open) = self.asked.pop_front()
        {
            self.open_or_refuse(open);
        }
        self.open_more()
    }

    fn open_or_refuse(&mut self, open: Open<Box<RawValue>>) {
        if !self.lane.is_live(self.session) {
            // A match that waited for the record backlog, of a host that has left.
            return;
        }
        let id = open.id.clone();
        let slots = self.slots();
        let opened = if self.running() + self.asked.len() >= slots {
            let why = format!("all {slots} slots are in use: send more `slots` in `hello`, or wait");
            Err((ErrorCode::NoSlot, why))
        } else {
            self.open_asked(open).map_err(|why| (ErrorCode::BadSetup, Chain(&why).to_string()))
        };
        if let Err((code, why)) = opened {
            self.lane.refuse(self.session, code, why, id);
        }
    }

    fn handle_notice(&mut self, notice: Notice) -> Result<(), Wrong> {
        match notice {
            Notice::Greeted(_) => self.open_more(),
            Notice::OpenAsked(_, open) => {
                if self.is_behind() && self.running() + self.asked.len() < self.slots() {
                    self.asked.push_back(*open);
                } else {
                    self.open_or_refuse(*open);
                }
                Ok(())
            }
            Notice::Ended(finished) => {
                self.keep(*finished);
                self.open_more()
            }
            Notice::Gone { code: FaultCode::NoStart, detail, .. } => {
                Err(format!("the host sent no valid `hello`: {detail}").into())
            }
            Notice::Moved(_) | Notice::LongLine(_) | Notice::Lost { .. } | Notice::Gone { .. } => Ok(()),
        }
    }

    /// The number of matches in progress.
    fn running(&self) -> usize {
        (self.opened - self.played.matches - self.played.aborted) as usize
    }

    fn slots(&self) -> usize {
        self.lane.hello(self.session).map_or(1, |hello| hello.slots)
    }

    /// Opens the referee's own matches while there are free slots.
    fn open_more(&mut self) -> Result<(), Wrong> {
        while let Some(own) = &self.host.matches
            && self.opened < own.matches
            && self.running() < self.slots()
            && self.lane.is_live(self.session)
            && !self.played.interrupted
            && !self.is_behind()
        {
            let (rules, seating) = (own.rules, own.seating);
            let options = own.options.clone();
            let open = Open {
                id: None,
                game: rules.meta().id.to_owned(),
                seats: Some(seating.seats() as u64),
                options: Some(options),
                seed: None,
                deal: None,
                clock: None,
                on_fault: None,
                auto_ready: false,
                scenes: false,
            };
            self.open_asked(open)?;
        }
        Ok(())
    }

    fn open_asked(&mut self, open: Open<Box<RawValue>>) -> Result<(), Wrong> {
        let rules = self.host.catalog.find(&open.game)?;
        let seating = rules.meta().seating(open.seats)?;
        let seed = open.seed.as_deref();
        let seed = seed.map(|seed| hex::decode32(seed).map(Seed).ok_or(SEED));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if open
            .deal
            .as_ref()
            .is_some_and(|deal| !(1..=64).contains(&deal.len()) || !deal.chars().all(is_plain))
        {
            return Err(Wrong::new(
                "`deal` must have 1 to 64 characters: ASCII letters, digits, `.`, `_`, `-`",
            ));
        }
        let terms = Terms {
            clock: open.clock.unwrap_or(self.host.run.terms.clock),
            on_fault: open.on_fault.unwrap_or(self.host.run.terms.on_fault),
            ..self.host.run.terms
        };
        if let Some(clock) = terms.clock {
            check_clock(clock)?;
        }
        let hello = self.lane.hello(self.session);
        let name = hello.map_or("host", |hello| &hello.name);
        let wants = hello.map(|hello| hello.wants).unwrap_or_default();
        let wants = Wants { scenes: open.scenes, ..wants };
        let seats = (0..seating.seats()).map(|seat| PlannedSeat {
            name: if seating.seats() == 1 { name.to_owned() } else { format!("{name}-{}", seat + 1) },
            ready_ms: terms.ready_ms(!self.lane.has_played(self.session)),
            clock: None,
            hide_legal: false,
            bot: None,
            wants,
        });
        let none = rules.default_options();
        let plan = MatchPlan {
            id: format!("m{}", self.opened + 1),
            deal: open.deal,
            seed: seed.transpose()?,
            salt: None,
            rules,
            options: open.options.as_deref().unwrap_or(&none),
            seating,
            seats: seats.collect(),
            opening: Opening::None,
            leg: Leg::Only,
            open_id: open.id,
            auto_ready: open.auto_ready,
            watched: None,
        };
        let (setup, table) = self.host.run.set_up(&terms, plan)?;
        self.lane.open(setup, table, vec![Ok(self.session); seating.seats()]);
        self.opened += 1;
        Ok(())
    }

    fn keep(&mut self, Finished { mut play, ending, .. }: Finished) {
        match ending.ranks {
            Some(_) => self.played.matches += 1,
            None => self.played.aborted += 1,
        }
        if let Some(record_writer) = &mut self.record_writer {
            let (record, reveal) = (play.take_log(), play.reveal());
            locked(&record_writer.backlog).add(record.len());
            // The channel is closed after an error.
            let _ = record_writer.records.send((play.setup().header.r#match.clone(), record, reveal));
        }
    }
}
