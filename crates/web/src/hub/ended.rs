//! Matches that have ended, and their records, within limits of memory.

use std::mem;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use referee_match::record;
use referee_protocol::referee::Reveal;

use super::RunState;
use crate::entries::{BoardAccess, MatchEntry};

/// The maximum number of ended matches that are listed.
pub(crate) const MOST_ENDED: usize = 10_000;
/// The maximum size of the records that are kept in memory, in bytes, for runs without records on the disk.
const MOST_KEPT: usize = 64 * 1024 * 1024;

/// The location of an ended match's sealed record.
#[derive(Clone, Debug)]
pub(super) enum RecordLocation {
    File(PathBuf),
    Memory(Arc<Vec<u8>>),
    Nowhere,
}

#[derive(Debug)]
pub(super) struct EndedEntry {
    /// The entry once its deal is complete.
    pub(super) entry: MatchEntry,
    /// The deal, while other matches of it are to be played.
    pub(super) open_deal: Option<OpenDeal>,
    pub(super) record: RecordLocation,
    /// The number of its `end` event.
    pub(super) last: u64,
}

/// A deal of which other matches are to be played.
#[derive(Debug)]
pub(super) struct OpenDeal {
    pub(super) deal: String,
    /// Whether only the results of the deal's matches are shown until it is complete.
    pub(super) is_held: bool,
    /// The file that the record will be in, if the run keeps records.
    pub(super) file: Option<PathBuf>,
}

impl EndedEntry {
    /// The board at this moment.
    pub(super) fn board(&self) -> BoardAccess {
        match (&self.open_deal, &self.record) {
            (Some(OpenDeal { is_held: true, .. }), _) => BoardAccess::Held,
            (_, RecordLocation::Nowhere) => BoardAccess::None,
            _ => BoardAccess::Replay,
        }
    }

    pub(super) fn shown(&self) -> MatchEntry {
        let shown = MatchEntry { board: self.board(), ..self.entry.clone() };
        match shown.board {
            BoardAccess::Held => MatchEntry { moves: None, faults: None, ..shown },
            _ => shown,
        }
    }
}

impl RunState {
    /// Shows no events from now on.
    pub(super) fn hide(&mut self) {
        self.is_hidden = true;
        for running in mem::take(&mut self.running).into_values() {
            if let Some(board) = running.board {
                let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
                board.break_off("What follows is shown later.");
            }
        }
        self.bots.values_mut().for_each(|bot| bot.playing.clear());
    }

    pub(super) fn push(&mut self, ended: EndedEntry) {
        self.numbers.insert(ended.entry.id.clone(), self.count);
        self.ended.push_back(ended);
        self.trim();
    }

    pub(super) fn find(&self, id: &str) -> Option<&EndedEntry> {
        let number = *self.numbers.get(id)?;
        let oldest = self.count + 1 - self.ended.len() as u64;
        self.ended.get(usize::try_from(number.checked_sub(oldest)?).ok()?)
    }

    /// Keeps a record in memory.
    pub(super) fn keep(&mut self, mut record: Vec<u8>, reveal: Reveal) -> RecordLocation {
        record::seal(&mut record, reveal);
        self.kept += record.len();
        RecordLocation::Memory(Arc::new(record))
    }

    /// Shows everything of the matches of a deal that is complete.
    pub(super) fn complete(&mut self, deal: &str) {
        for ended in &mut self.ended {
            if let Some(OpenDeal { file: Some(path), .. }) = ended.open_deal.take_if(|own| own.deal == deal)
                && let RecordLocation::Memory(record) =
                    mem::replace(&mut ended.record, RecordLocation::File(path))
            {
                self.kept -= record.len();
            }
        }
    }

    /// Drops the oldest matches and records beyond the limits.
    fn trim(&mut self) {
        while self.ended.len() > MOST_ENDED
            && let Some(EndedEntry { entry, record, .. }) = self.ended.pop_front()
        {
            // The match may have another attempt that has ended since.
            if self.numbers.get(&entry.id).copied() == entry.number {
                self.numbers.remove(&entry.id);
            }
            if let RecordLocation::Memory(record) = record {
                self.kept -= record.len();
            }
        }
        let mut kept = self.kept;
        for ended in &mut self.ended {
            if kept <= MOST_KEPT {
                break;
            }
            if let RecordLocation::Memory(record) = &ended.record {
                kept -= record.len();
                ended.record = RecordLocation::Nowhere;
            }
        }
        self.kept = kept;
    }
}
