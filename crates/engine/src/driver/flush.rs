//! Writes the output of matches and sessions at the end of a round.

use referee_game::seat::Seat;
use referee_transport::ByteStream;

use crate::driver::buffered_stream::{SpareBuffers, Traffic};
use crate::driver::keys::{MatchKey, SessionKey};
use crate::driver::lane::{Lane, Timer};
use crate::driver::notice::Notice;

/// The maximum number of matches whose requests get the same timestamp.
const BATCH: usize = 64;

/// Output of the next flush.
#[derive(Debug, Default)]
pub(super) struct Unflushed {
    /// Matches that have handled an event.
    pub(super) touched: Vec<MatchKey>,
    /// Sessions with output.
    pub(super) dirty: Vec<SessionKey>,
    /// Sessions whose `end` is held for one flush: the receiver often opens the next match at once, whose `start` then
    /// goes out with it.
    ends: Vec<SessionKey>,
    spare_buffers: SpareBuffers,
}

impl<S: ByteStream> Lane<S> {
    /// Writes the output of the matches: one write per session. The clocks of requests start when they are written, so many
    /// matches are written in batches.
    pub(super) fn flush(&mut self, stamp: u64) {
        let mut ends = std::mem::take(&mut self.unflushed.ends);
        let mut touched = std::mem::take(&mut self.unflushed.touched);
        let mut batches = touched.chunks(BATCH).peekable();
        while let Some(batch) = batches.next() {
            let at = self.now();
            for &key in batch {
                self.flush_match(key, at);
            }
            if batches.peek().is_none() {
                self.unflushed.dirty.append(&mut ends);
            }
            self.write_dirty(stamp);
            let writing = self.clock.written - at;
            for &key in batch {
                if let Some(running) = self.matches.get_mut(key)
                    && std::mem::take(&mut running.is_asking)
                {
                    running.clock.note_writing(writing);
                }
            }
        }
        self.unflushed.dirty.append(&mut ends);
        if touched.is_empty() || !self.unflushed.dirty.is_empty() {
            self.write_dirty(stamp);
        }
        touched.clear();
        // Matches of sessions that were checked again.
        touched.append(&mut self.unflushed.touched);
        self.unflushed.touched = touched;
    }

    /// Writes the sessions with output.
    fn write_dirty(&mut self, stamp: u64) {
        let mut dirty = std::mem::take(&mut self.unflushed.dirty);
        for key in dirty.drain(..) {
            if let Some(session) = self.sessions.get_mut(key) {
                if let Some(stream) = session.stream_mut() {
                    stream.write(stamp);
                    stream.return_buffer(&mut self.unflushed.spare_buffers);
                }
                if session.deadline().is_some() {
                    // Rare: a stream that is blocked, closed or new.
                    self.settle_session(key, stamp);
                }
            }
        }
        // Sessions that were checked again; the allocation is reused.
        dirty.append(&mut self.unflushed.dirty);
        self.unflushed.dirty = dirty;
        self.clock.written = self.now();
    }

    /// Queues the output of a match. Its journal is written before the output.
    fn flush_match(&mut self, key: MatchKey, at: u64) {
        let Some(running) = self.matches.get_mut(key) else { return };
        running.is_touched = false;
        let stamp = running.clock.stamp(at, 0);
        let receivers =
            if running.ending.is_some() { &mut self.unflushed.ends } else { &mut self.unflushed.dirty };
        for (seat, place) in (0..).map(Seat).zip(&running.places) {
            let Some(transmit) = running.play.poll_transmit(seat, stamp) else { continue };
            if let Some(session) = place.and_then(|key| self.sessions.get_mut(key)) {
                if running.ending.is_some() && session.may_reconnect() {
                    session.unacknowledged.extend_from_slice(transmit.bytes);
                }
                let Some(stream) = session.stream_mut() else { continue };
                if transmit.has_request {
                    running.is_asking = true;
                    stream.since_request = Traffic::default();
                    self.spin.asked = *place;
                }
                stream.queue(transmit.bytes, &mut self.unflushed.spare_buffers);
                receivers.extend(*place);
            }
        }
        running.write_journal();
        if let Some(ending) = running.ending.take() {
            return self.finish(key, ending, stamp);
        }
        if std::mem::take(&mut running.has_news) {
            self.notices.push_back(Notice::Moved(key));
        }
        if let Some(deadline) = running.play.next_deadline() {
            let due = running.clock.due(deadline);
            self.timers.set(&mut running.alarm, due, Timer::Match(key));
        }
    }
}
