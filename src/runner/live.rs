//! What the lanes and the reporter pass on for spectators of a run.
//!
//! A lane never waits for the receiver. If the queue is full, the events of a match are kept and go out with its next
//! position.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use referee_protocol::referee::Reveal;
use tokio::sync::mpsc;

use crate::core::erased::{Rules, Table};
use crate::core::game::Meta;
use crate::referee::{Faults, Leg, Match};
use crate::runner::fixture::Fixture;
use crate::runner::fixture::deal_leaks_information;
use crate::runner::results::MatchReport;

/// The maximum number of matches in progress whose positions are passed on.
pub const MOST_BOARDS: usize = 64;
/// The maximum number of events in the queue.
const QUEUE: usize = 256;

/// The part of a match that is public from its beginning.
#[derive(Debug)]
pub struct LiveHeader {
    /// The match id.
    pub id: String,
    /// The game.
    pub game: &'static Meta,
    /// The name and the number of the side, by seat.
    pub seats: Vec<(String, u8)>,
    /// The deal that it shares with other matches.
    pub deal: Option<String>,
    /// What spectators see of it.
    pub visibility: Visibility,
}

/// What spectators see of a match in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Its public positions.
    Live,
    /// Nothing before the set is complete: other matches of the deal would reveal its chance or secrets.
    Held,
    /// Nothing before its end: [`MOST_BOARDS`] others are shown.
    Crowded,
}

/// A public position and what led to it.
#[derive(Debug)]
pub struct LiveStep {
    /// The position. Spectators get its public view.
    pub table: Box<dyn Table>,
    /// The events as the public sees them, one JSON object per line.
    pub events: Vec<u8>,
    /// By seat: the faults so far.
    pub faults: Vec<Faults>,
    /// By seat: the time in the bank, in milliseconds; `None` without a clock.
    pub banks_ms: Vec<Option<u64>>,
}

impl LiveStep {
    /// This step together with the one before it.
    #[must_use]
    pub fn after(self, earlier: LiveStep) -> LiveStep {
        let mut events = earlier.events;
        events.extend_from_slice(&self.events);
        LiveStep { events, ..self }
    }
}

/// A position that the queue had no room for when its match ended.
pub(super) type LastStep = (Arc<LiveHeader>, LiveStep);

/// A match that has ended. Its record is on the disk if the run keeps records.
#[derive(Debug)]
pub struct LiveEnd {
    /// The match.
    pub fixture: Fixture,
    /// The result.
    pub report: MatchReport,
    /// The record without its seal.
    pub record: Vec<u8>,
    /// The content of the seal.
    pub reveal: Reveal,
}

impl LiveEnd {
    /// Whether no other match of its deal is left to play.
    pub fn completes_its_deal(&self) -> bool {
        match self.fixture.leg {
            Leg::Open => true,
            Leg::Earlier => false,
            Leg::Only | Leg::Last => !self.report.is_to_be_replayed(),
        }
    }
}

/// An event of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum LiveEvent {
    /// A match has begun, or has a new position.
    Moved(Arc<LiveHeader>, Option<LiveStep>),
    /// A match has ended.
    Ended(Box<LiveEnd>),
}

/// Where the events of a run go.
#[derive(Clone, Debug)]
pub struct LiveFeed {
    events: mpsc::Sender<LiveEvent>,
    /// The number of matches in progress whose positions are passed on.
    boards: Arc<AtomicUsize>,
}

/// A feed and its receiver.
pub fn live_feed() -> (LiveFeed, mpsc::Receiver<LiveEvent>) {
    let (events, receiver) = mpsc::channel(QUEUE);
    (LiveFeed { events, boards: Arc::default() }, receiver)
}

impl LiveFeed {
    /// What spectators will see of a match.
    pub(super) fn visibility(&self, rules: &dyn Rules, fixture: &Fixture) -> Visibility {
        if fixture.deal.is_some() && deal_leaks_information(rules) {
            Visibility::Held
        } else if self.boards.load(Ordering::Relaxed) >= MOST_BOARDS {
            Visibility::Crowded
        } else {
            Visibility::Live
        }
    }

    /// Passes on the beginning of a match.
    pub(super) fn open(&self, play: &Match, fixture: &Fixture, visibility: Visibility) -> LiveMatch {
        let header = &play.setup().header;
        let header = LiveHeader {
            id: header.r#match.clone(),
            game: play.table().meta(),
            seats: header.seats.iter().map(|seat| (seat.name.clone(), seat.team)).collect(),
            deal: fixture.deal.clone(),
            visibility,
        };
        if visibility == Visibility::Live {
            self.boards.fetch_add(1, Ordering::Relaxed);
        }
        let mut opened = LiveMatch { feed: self.clone(), header: Arc::new(header), unsent: Vec::new() };
        opened.show(play, &[]);
        opened
    }

    /// Passes on the end of a match. Waits while the queue is full.
    pub(super) fn end(&self, last: Option<LastStep>, end: LiveEnd) {
        let last = last.map(|(header, step)| LiveEvent::Moved(header, Some(step)));
        for event in last.into_iter().chain([LiveEvent::Ended(Box::new(end))]) {
            // The channel is closed if the server has failed; the run continues.
            let _ = self.events.blocking_send(event);
        }
    }
}

/// A match in progress that has spectators.
#[derive(Debug)]
pub(super) struct LiveMatch {
    feed: LiveFeed,
    header: Arc<LiveHeader>,
    /// Events that the queue had no room for.
    unsent: Vec<u8>,
}

impl LiveMatch {
    /// Passes on the position after these events, if there is room. Never blocks.
    pub(super) fn show(&mut self, play: &Match, events: &[u8]) {
        self.unsent.extend_from_slice(events);
        if let Ok(room) = self.feed.events.try_reserve() {
            let step =
                (self.header.visibility == Visibility::Live).then(|| step(play, mem::take(&mut self.unsent)));
            room.send(LiveEvent::Moved(self.header.clone(), step));
        }
    }

    /// The last position, if there was no room for it.
    pub(super) fn end(mut self, play: &Match, events: &[u8]) -> Option<LastStep> {
        if self.header.visibility != Visibility::Live {
            return None;
        }
        self.show(play, events);
        let unsent = mem::take(&mut self.unsent);
        (!unsent.is_empty()).then(|| (self.header.clone(), step(play, unsent)))
    }
}

impl Drop for LiveMatch {
    fn drop(&mut self) {
        if self.header.visibility == Visibility::Live {
            self.feed.boards.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn step(play: &Match, events: Vec<u8>) -> LiveStep {
    let seats = play.setup().seating.all();
    LiveStep {
        table: play.table().fork(),
        events,
        faults: seats.iter().map(|seat| play.faults(seat)).collect(),
        banks_ms: seats.iter().map(|seat| play.bank_ms(seat)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use referee_protocol::referee::Clock;
    use serde_json::{Value, json};

    use super::*;
    use crate::core::clock::Tick;
    use crate::core::{Seat, Turn, Viewer};
    use crate::driver::match_of_checkers;
    use crate::referee::{Event, Opening, Stamp};
    use crate::runner::fixture::Wait;

    const SEATS: [Seat; 2] = [Seat(0), Seat(1)];

    /// A match of checkers in which both are ready.
    fn checkers() -> Match {
        let clock = Clock { delay_ms: 100, bank_ms: 1000, increment_ms: 10 };
        let (setup, table) = match_of_checkers(Some(clock), true);
        let mut play = Match::open(setup, table);
        for seat in SEATS {
            play.poll_transmit(seat, Stamp { at: Tick(0), lag: 0 });
        }
        play
    }

    fn handle(play: &mut Match, event: Event<'_>) {
        let now = Stamp { at: Tick(0), lag: 0 };
        play.handle(now, event);
        for seat in SEATS {
            play.poll_transmit(seat, now);
        }
    }

    fn fixture() -> Fixture {
        Fixture {
            id: "m1".to_owned(),
            deal: None,
            leg: Leg::Only,
            options: Arc::from(serde_json::value::to_raw_value(&json!({})).expect("JSON")),
            opening: Arc::new(Opening::None),
            bots: vec![0, 1],
            wait: Wait::Always,
            secret: None,
        }
    }

    /// Plays the first legal move. Returns it and the events.
    fn moved(play: &mut Match) -> (String, Vec<u8>) {
        let mut table = play.table().fork();
        let Turn::Decide(decision) = table.ask() else { panic!("the match is over") };
        let seat = decision.seats().iter().next().expect("a seat");
        let text = table.text(&decision, seat, 0).to_owned();
        let turn = play.open_request(seat).expect("an open request");
        handle(play, Event::Answer { seat, turn: turn.into(), text: &text, offer_draw: false, info: None });
        (text, mem::take(play.news()))
    }

    /// The moves in the events of a step.
    fn moves(step: &LiveStep) -> Vec<String> {
        let lines = step.events.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let events = lines.map(|line| serde_json::from_slice::<Value>(line).expect("JSON"));
        let moves = events.filter(|event| event["kind"] == "move");
        moves.map(|event| event["move"].as_str().expect("a move").to_owned()).collect()
    }

    fn received(queue: &mut mpsc::Receiver<LiveEvent>) -> Vec<LiveStep> {
        let mut steps = Vec::new();
        while let Ok(LiveEvent::Moved(_, Some(step))) = queue.try_recv() {
            steps.push(step);
        }
        steps
    }

    #[test]
    fn positions_without_room_in_the_queue_are_merged_into_the_next() {
        let (feed, mut queue) = live_feed();
        let (mut play, mut played) = (checkers(), Vec::new());
        let mut live = feed.open(&play, &fixture(), Visibility::Live);
        let mut go = |live: &mut LiveMatch, played: &mut Vec<String>| {
            let (text, events) = moved(&mut play);
            played.push(text);
            live.show(&play, &events);
        };
        go(&mut live, &mut played);
        // The receiver has stopped, and the queue is full.
        while feed.events.capacity() > 0 {
            live.show(&checkers(), b"");
        }
        (0..3).for_each(|_| go(&mut live, &mut played));
        let before = received(&mut queue);
        assert_eq!((before.len(), before.iter().flat_map(moves).count()), (QUEUE, 1));
        go(&mut live, &mut played);
        let after = received(&mut queue);
        assert_eq!(after.len(), 1, "one step with everything since");
        assert_eq!(moves(&after[0]), played[1..]);
        let mut expected = Vec::new();
        play.table().write_view(Viewer::Public, &mut expected);
        let mut shown = Vec::new();
        after[0].table.write_view(Viewer::Public, &mut shown);
        assert_eq!(shown, expected, "the step shows the latest position");
    }

    #[test]
    fn the_last_position_is_kept_if_the_queue_has_no_room_for_it() {
        let (feed, mut queue) = live_feed();
        let mut play = checkers();
        let mut live = feed.open(&play, &fixture(), Visibility::Live);
        while feed.events.capacity() > 0 {
            live.show(&play, b"");
        }
        let (first, events) = moved(&mut play);
        live.show(&play, &events);
        let (second, events) = moved(&mut play);
        let (_, last) = live.end(&play, &events).expect("the last position");
        assert_eq!(moves(&last), [first, second]);
        assert!(received(&mut queue).iter().all(|step| moves(step).is_empty()), "no move is sent twice");
    }
}
