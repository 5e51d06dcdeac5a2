//! The board or the replay of a match, as far as spectators see it.

use std::io;
use std::sync::{Arc, Mutex};

use super::{Hub, RecordLocation};
use crate::board::LiveBoard;
use crate::entries::{self, BoardAccess, MatchEntry, SeatEntry};
use referee_files::read_record;
use referee_game::Chain;
use referee_match::record::{Difference, PublishedInfo, public};

/// The forms in which spectators see a match.
pub(crate) enum MatchAccess {
    Board(Arc<Mutex<LiveBoard>>),
    Replay(EndedBoard),
    /// The match is not shown, for this reason.
    Nothing(BoardAccess),
}

pub(crate) struct EndedBoard {
    pub(crate) record: SealedRecord,
    /// The number of its `end` event.
    pub(crate) last: u64,
    /// The result in words.
    pub(crate) result: String,
    /// By seat: the display name of the bot.
    pub(crate) names: Vec<Option<String>>,
}

impl EndedBoard {
    fn of(entry: &MatchEntry, record: SealedRecord, last: u64) -> EndedBoard {
        EndedBoard {
            record,
            last,
            result: entry.result.as_ref().map(|result| result.text.clone()).unwrap_or_default(),
            names: entry.seats.iter().map(SeatEntry::display_name_of_bot).collect(),
        }
    }
}

/// A sealed record, of which spectators get the public form.
pub(crate) struct SealedRecord(RecordLocation, PublishedInfo);

impl SealedRecord {
    /// Reads the public form of the record. Blocks.
    pub(crate) fn read(self) -> io::Result<Vec<u8>> {
        let record = match self.0 {
            RecordLocation::File(path) => read_record(&path)?,
            RecordLocation::Memory(record) => Arc::unwrap_or_clone(record),
            RecordLocation::Nowhere => return Err(io::ErrorKind::NotFound.into()),
        };
        let invalid = |difference: Difference| {
            io::Error::new(io::ErrorKind::InvalidData, Chain(&difference).to_string())
        };
        Ok(public(&record, self.1).map_err(invalid)?.record)
    }
}

impl Hub {
    /// The form in which a match is shown; `None` if it is not known.
    pub(crate) fn access(&self, id: &str) -> Option<MatchAccess> {
        let state = self.state();
        if let Some(running) = state.running.get(id) {
            return Some(match &running.board {
                Some(board) => MatchAccess::Board(board.clone()),
                None => MatchAccess::Nothing(running.entry(&state.about).board),
            });
        }
        let Some(ended) = state.find(id) else {
            drop(state);
            return self.earlier(id);
        };
        Some(match ended.board() {
            BoardAccess::Replay => {
                let record = SealedRecord(ended.record.clone(), self.info);
                MatchAccess::Replay(EndedBoard::of(&ended.entry, record, ended.last))
            }
            other => MatchAccess::Nothing(other),
        })
    }

    /// The replay of a match of an earlier run of the same ladder.
    fn earlier(&self, id: &str) -> Option<MatchAccess> {
        let finished = self.ladder()?.earlier(id)?;
        let entry = entries::ended(&finished, None, self.game, &self.state().about);
        let record = finished.record.map_or(RecordLocation::Nowhere, RecordLocation::File);
        Some(MatchAccess::Replay(EndedBoard::of(&entry, SealedRecord(record, self.info), 1)))
    }
}
