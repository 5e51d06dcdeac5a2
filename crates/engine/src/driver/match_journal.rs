//! Journals of matches in progress, from which they continue after the process was killed.

use std::fmt;

use referee_game::json::{Object, opening};
use referee_game::seat::Seat;
use referee_match::{AbortReason, Event, Log, Match, Outage, Wants};
use referee_transport::ByteStream;
use serde::{Deserialize, Serialize};

use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::lane::Lane;
use crate::driver::match_clock::MatchClock;
use crate::driver::matches::{Running, SeatOccupant};
use crate::driver::session::Session;
use crate::driver::unacknowledged::BotInstance;

/// The writer of a match's journal.
pub trait JournalWriter: fmt::Debug + Send {
    /// Appends complete lines. It handles its own errors: the match continues without a journal.
    fn append(&mut self, lines: &[u8]);

    /// Waits until the journal is on the disk. Nothing is appended afterwards.
    fn close(&mut self);

    /// Removes the journal: from now on the match cannot be continued.
    fn discard(&mut self);
}

/// The journal of a match. It has the lines of the record, and a line for each [`JournaledSeat`].
#[derive(Debug)]
pub struct MatchJournal {
    writer: Box<dyn JournalWriter>,
    /// The length of the written part of the record, as a position in the log.
    written: usize,
}

/// The bot of a seat. The journal has it whenever its connection is new or lost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JournaledSeat {
    pub seat: Seat,
    pub bot: BotInstance,
    /// The optional messages that it wants.
    pub wants: Wants,
    /// The times without a connection so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
}

impl MatchJournal {
    /// The journal of a match that has begun.
    pub fn new(writer: Box<dyn JournalWriter>) -> MatchJournal {
        MatchJournal::of(writer, 0)
    }

    /// A journal that has the record up to this position of the log.
    pub fn of(writer: Box<dyn JournalWriter>, written: usize) -> MatchJournal {
        MatchJournal { writer, written }
    }

    /// Leaves the journal to another process.
    pub fn close(mut self) {
        self.writer.close();
    }

    /// Appends the new part of the record.
    fn follow(&mut self, record: &Log) {
        if record.len() <= self.written {
            return;
        }
        let mut new = Vec::new();
        record.write_text(self.written, &mut new);
        self.writer.append(&new);
        self.written = record.len();
    }
}

impl Running {
    pub(super) fn write_journal(&mut self) {
        let Running { play, journal, .. } = self;
        if let Some(journal) = journal {
            journal.follow(play.log());
        }
    }

    /// Gives up the journal: the match cannot be continued any more.
    pub(super) fn discard_journal(&mut self) {
        if let Some(mut journal) = self.journal.take() {
            journal.writer.discard();
        }
    }

    /// Writes which bot plays a seat.
    fn journal_seat(&mut self, seat: &JournaledSeat) {
        if let Some(journal) = &mut self.journal {
            let mut line = Vec::new();
            Object::open(&mut line, opening!("seat")).fields(seat).end_line();
            journal.writer.append(&line);
        }
    }
}

impl<S: ByteStream> Lane<S> {
    /// Journals a match that has just been opened. All its bots can connect again.
    pub fn journal(&mut self, key: MatchKey, journal: MatchJournal) {
        let Some(running) = self.matches.get_mut(key) else { return };
        running.journal = Some(journal);
        for seat in running.play.setup().seating.all().iter() {
            if let Some(session) = self.matches[key].places[seat.index()] {
                self.write_seat(key, seat, session);
            }
        }
    }

    /// Journals the bot of a seat, and the times without a connection.
    pub(super) fn journal_seat(&mut self, key: MatchKey, seat: Seat, session: SessionKey) {
        if let Some(running) = self.matches.get_mut(key) {
            running.write_journal();
            self.write_seat(key, seat, session);
        }
    }

    fn write_seat(&mut self, key: MatchKey, seat: Seat, session: SessionKey) {
        let Some(running) = self.matches.get_mut(key).filter(|running| running.journal.is_some()) else {
            return;
        };
        let hello = self.sessions.get(session).and_then(Session::hello);
        match hello.and_then(|hello| Some((hello.instance()?, hello.wants))) {
            Some((bot, wants)) => {
                let outages = running.outages[seat.index()].clone();
                running.journal_seat(&JournaledSeat { seat, bot, wants, outages });
            }
            None => running.discard_journal(),
        }
    }

    /// Continues a match of an earlier process, from its last event, with the times without a connection by seat. The
    /// seats without a bot are lost; if all are, the match is aborted.
    pub fn restore(
        &mut self,
        play: Match,
        outages: Vec<Vec<Outage>>,
        paused_us: u64,
        journal: MatchJournal,
        places: Vec<SeatOccupant>,
    ) -> MatchKey {
        let now = self.now();
        let clock = MatchClock::new(now, play.now());
        let ending = play.ending().cloned();
        let key = self.enter(play, clock, &places);
        let running = &mut self.matches[key];
        (running.journal, running.ending, running.outages) = (Some(journal), ending, outages);
        self.notify_match(key, now, Event::Paused { us: paused_us });
        // A restart does not use up the pauses that the clock allows.
        let running = &mut self.matches[key];
        running.forgiven = running.play.paused();
        for (seat, place) in (0..).map(Seat).zip(&places) {
            if let Ok(session) = place {
                let running = &mut self.matches[key];
                // The connection was lost before the process ended.
                if let Some(outage) = running.outages[seat.index()].last_mut() {
                    outage.back_us.get_or_insert(running.clock.at(now).0);
                }
                let wants = self.hello(*session).map(|hello| hello.wants).unwrap_or_default();
                self.notify_match(key, now, Event::Resumed { seat, wants });
                self.journal_seat(key, seat, *session);
            }
        }
        if places.iter().all(Result::is_err) {
            // No bot is to blame.
            self.notify_match(key, now, Event::Abort(&AbortReason::Interrupted));
        }
        self.seat_all(key, &places, now);
        key
    }

    /// Returns whether a match would continue after the process was killed.
    pub fn is_journaled(&self, key: MatchKey) -> bool {
        self.matches.get(key).is_some_and(|running| running.journal.is_some())
    }

    /// Leaves a match as it is: its journal keeps it for another process.
    pub fn leave(&mut self, key: MatchKey) {
        let Some(mut running) = self.take(key) else { return };
        running.write_journal();
        if let Some(journal) = running.journal {
            journal.close();
        }
    }
}
