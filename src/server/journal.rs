//! Noting which matches begin, on a thread of its own: a lane does not wait for the disk.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc::UnboundedSender;

use crate::server::lane_messages::{LaneEvent, LaneOrder};
use crate::server::scheduler::Fixture;
use crate::store::Journal;

/// A match that is about to begin.
pub(super) struct Beginning {
    /// The lane that waits for the note.
    pub(super) lane: UnboundedSender<LaneOrder>,
    /// The pairing that plays it.
    pub(super) pairing: usize,
    pub(super) fixture: Fixture,
}

/// Notes matches until no lane can ask for it any more. Those that come together are noted with one write.
///
/// # Errors
/// When the system has no thread for it.
pub(super) fn start(
    mut journal: Journal,
    runner: UnboundedSender<(usize, LaneEvent)>,
) -> io::Result<(Sender<Beginning>, JoinHandle<()>)> {
    let (ask, asked) = channel::<Beginning>();
    let work = move || {
        while let Some(beginnings) = take(&asked) {
            let entries =
                beginnings.iter().map(|Beginning { fixture, .. }| (&*fixture.id, &*fixture.entrants));
            let noted = journal.begin(entries);
            if let Err(error) = &noted {
                let ids: Vec<&str> = beginnings.iter().map(|beginning| &*beginning.fixture.id).collect();
                let why = format!("that {} begins cannot be noted: {error}", ids.join(", "));
                // Nobody listens when the run is breaking down.
                let _ = runner.send((0, LaneEvent::Failed(why)));
            }
            for Beginning { lane, pairing, fixture } in beginnings {
                let noted = noted.is_ok().then_some(fixture);
                // A lane that broke down needs no answer.
                let _ = lane.send(LaneOrder::Journaled(pairing, noted));
            }
        }
    };
    let thread = thread::Builder::new().name("journal".to_owned()).spawn(work)?;
    Ok((ask, thread))
}

/// Waits for a match, and takes all that are there.
fn take(asked: &Receiver<Beginning>) -> Option<Vec<Beginning>> {
    let mut beginnings = vec![asked.recv().ok()?];
    beginnings.extend(asked.try_iter());
    Some(beginnings)
}
