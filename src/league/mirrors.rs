//! Openings that two players play twice, with exchanged seats.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::record::{RecordEntry, RecordedEvent, lines};
use crate::referee::Opening;
use crate::tournament::Lineup;

/// The random openings that were played once. If the same players meet with exchanged seats, they repeat it.
#[derive(Debug, Default)]
pub(super) struct Mirrors {
    /// By the players in the order of their seats.
    due: BTreeMap<Vec<u16>, Arc<Opening>>,
}

impl Mirrors {
    /// Takes the opening that a match with these seats repeats.
    pub(super) fn take(&mut self, lineup: &Lineup) -> Option<Arc<Opening>> {
        self.due.remove(&players(lineup).rev().collect::<Vec<u16>>())
    }

    /// A match with these seats has this record.
    pub(super) fn played(&mut self, lineup: &Lineup, record: &[u8]) {
        if let Some(opening) = random_opening(record) {
            self.due.insert(players(lineup).collect(), Arc::new(opening));
        }
    }

    /// A match that was to repeat this opening has not begun.
    pub(super) fn put_back(&mut self, lineup: &Lineup, opening: Arc<Opening>) {
        self.due.insert(players(lineup).rev().collect(), opening);
    }
}

fn players(lineup: &Lineup) -> impl DoubleEndedIterator<Item = u16> {
    lineup.seats().iter().map(|player| player.0)
}

/// The moves of the opening, if it was random.
fn random_opening(record: &[u8]) -> Option<Opening> {
    let mut lines = lines(record).map_while(Result::ok).map(|line| line.entry);
    let Some(RecordEntry::Record(header)) = lines.next() else { return None };
    let Opening::Random(plies) = header.opening else { return None };
    let moves = lines.filter_map(|entry| match entry {
        RecordEntry::Event { event: RecordedEvent::Move(moved), .. } if moved.opening => {
            Some(moved.text.into_owned())
        }
        _ => None,
    });
    let moves: Vec<String> = moves.take(plies as usize).collect();
    (moves.len() == plies as usize).then_some(Opening::Given(moves))
}
