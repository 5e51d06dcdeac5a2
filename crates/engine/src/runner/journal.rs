//! Journals which matches start, on a thread of its own: lanes do not wait for the disk.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use referee_files::Journal;
use tokio::sync::mpsc::UnboundedSender;

use crate::runner::bots::PairingKey;
use crate::runner::fixture::Fixture;
use crate::runner::lane_messages::{LaneEvent, LaneHandle, LaneOrder};
use referee_game::Wrong;

/// A match that is about to start.
pub(super) struct Beginning {
    /// The lane that waits for the journal entry.
    pub(super) lane: LaneHandle,
    /// The pairing that plays it.
    pub(super) pairing: PairingKey,
    pub(super) fixture: Fixture,
}

/// Journals matches until all senders are dropped. Matches that arrive together are written at once.
///
/// # Errors
/// If the thread cannot be started.
pub(super) fn start(
    mut journal: Journal,
    runner: UnboundedSender<(usize, LaneEvent)>,
) -> io::Result<(Sender<Beginning>, JoinHandle<()>)> {
    let (ask, asked) = channel::<Beginning>();
    let work = move || {
        while let Some(beginnings) = take(&asked) {
            let entries = beginnings.iter().map(|Beginning { fixture, .. }| (&*fixture.id, &*fixture.bots));
            let noted = journal.begin(entries);
            let is_noted = noted.is_ok();
            if let Err(error) = noted {
                let matches: Vec<&str> = beginnings.iter().map(|beginning| &*beginning.fixture.id).collect();
                let place = format!("cannot journal the start of {}", matches.join(", "));
                let why = Wrong::at(place, error).into();
                // The channel is closed if the run is failing.
                let _ = runner.send((0, LaneEvent::Failed(why)));
            }
            for Beginning { lane, pairing, fixture } in beginnings {
                let noted = is_noted.then_some(fixture);
                // The lane may have panicked.
                let _ = lane.orders.send(LaneOrder::Journaled(pairing, noted));
            }
        }
    };
    let thread = thread::Builder::new().name("journal".to_owned()).spawn(work)?;
    Ok((ask, thread))
}

/// Waits for a match, and takes all that are available.
fn take(asked: &Receiver<Beginning>) -> Option<Vec<Beginning>> {
    let mut beginnings = vec![asked.recv().ok()?];
    beginnings.extend(asked.try_iter());
    Some(beginnings)
}
