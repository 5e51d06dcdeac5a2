//! Receives the events of a run.

use std::sync::Arc;

use super::Hub;
use crate::stage;
use referee_engine::runner::{LiveEvent, LiveReceiver};
use referee_game::seat::Viewer;

/// The number of events that are handled between two turns of the requests.
const EVENTS_AT_ONCE: usize = 4;

/// Receives the events of the run until it is over. Requests are served in between: a run whose events take all of the time
/// of this thread must not lock spectators out.
pub(crate) async fn receive(hub: Arc<Hub>, mut events: LiveReceiver) {
    loop {
        let came = tokio::select! {
            came = events.next() => came,
            () = tokio::time::sleep(stage::LOOKS_APART), if hub.stage().is_some() => Some(Vec::new()),
        };
        let Some(came) = came else { return };
        let shown = match hub.stage() {
            None => came,
            Some(stage) => {
                let now = tokio::time::Instant::now();
                came.into_iter().for_each(|event| stage.hold(event, now));
                stage.due_earlier(now).into_iter().for_each(|earlier| hub.show_earlier(earlier));
                stage.due(now)
            }
        };
        let events = prepared(shown).await;
        for (at, event) in events.into_iter().enumerate() {
            hub.handle(event);
            if at % EVENTS_AT_ONCE == EVENTS_AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
        }
        tokio::task::yield_now().await;
    }
}

/// Lets the programs of games draw the positions, each on a thread that may wait for it. They keep their
/// drawings.
async fn prepared(events: Vec<LiveEvent>) -> Vec<LiveEvent> {
    let waits = |event: &LiveEvent| matches!(event, LiveEvent::Moved(_, Some(step)) if step.table.waits());
    let mut prepared = Vec::with_capacity(events.len());
    for event in events {
        prepared.push(match waits(&event) {
            false => Ok(event),
            true => Err(tokio::task::spawn_blocking(move || {
                if let LiveEvent::Moved(_, Some(step)) = &event {
                    step.table.scene(Viewer::Public);
                }
                event
            })),
        });
    }
    let mut events = Vec::with_capacity(prepared.len());
    for event in prepared {
        match event {
            Ok(event) => events.push(event),
            Err(waiting) => events.extend(waiting.await),
        }
    }
    events
}
