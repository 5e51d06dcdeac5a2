//! The live board of a match: its numbered events.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::watch;

use referee_engine::runner::{LiveHeader, LiveStep};
use referee_game::json;
use referee_game::{Scene, Viewer};
use referee_report::replay::{LateInfo, LiveFrame, LiveReplay, ReplayHead};

/// The maximum size of the steps of a board in bytes. Beyond it the board starts over at the current position.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// The form in which a spectator gets a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoardForm {
    /// The shapes that the player draws.
    Shapes,
    Text,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BoardEvent {
    /// The number; a snapshot has the number of the last event that it includes.
    pub(super) number: u64,
    /// `snapshot`, `step` or `end`.
    pub(super) kind: &'static str,
    /// The data as JSON.
    pub(super) data: String,
}

/// A step that spectators get.
#[derive(Debug)]
struct BoardStep {
    moves: u32,
    /// The looks as JSON.
    looks: Vec<String>,
    step: String,
    text: String,
    /// The position, until a later one is shown.
    scene: Option<Scene>,
}

impl BoardStep {
    fn bytes(&self) -> usize {
        self.looks.iter().map(String::len).sum::<usize>() + self.step.len() + self.text.len()
    }
}

/// Returns whether these events contain a move that is not part of the opening.
fn has_move(events: &[u8]) -> bool {
    moves(events).any(|line| !line.ends_with(OPENING))
}

/// The end of the event of a move of the opening.
const OPENING: &[u8] = b",\"opening\":true}";

fn moves(events: &[u8]) -> impl Iterator<Item = &[u8]> {
    events.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"{\"kind\":\"move\""))
}

/// The amount by which spectators are behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BoardDelays {
    /// The number of moves by which the board is.
    pub(super) moves: u32,
    /// The number of further moves by which `info` is delayed; `None`: it is not shown.
    pub(super) info: Option<u32>,
}

/// The live board of a match.
#[derive(Debug)]
pub(super) struct LiveBoard {
    header: Arc<LiveHeader>,
    head: ReplayHead,
    viewer: Viewer,
    replay: LiveReplay,
    /// The number of moves of the opening, which the replay counts.
    opening: u32,
    /// The last steps, of which the first has the number `first`.
    steps: VecDeque<BoardStep>,
    first: u64,
    /// The number of steps shown; the others are held back by the delay.
    shown: usize,
    /// The number of moves by which it is behind.
    delay: u32,
    /// `info` of bots, if it is shown.
    late: Option<LateInfo>,
    bytes: usize,
    /// The `end` event, once the match has ended.
    end: Option<String>,
    changed: watch::Sender<()>,
}

impl LiveBoard {
    /// A board with the first position, as this viewer sees it.
    pub(super) fn new(
        header: Arc<LiveHeader>,
        viewer: Viewer,
        delays: BoardDelays,
        step: &LiveStep,
    ) -> LiveBoard {
        let first = step.table.scene(viewer);
        let head = ReplayHead::live(&header.id, header.game.title, &header.seats, header.clock, &first);
        let mut board = LiveBoard {
            header,
            head,
            viewer,
            replay: LiveReplay::new(viewer, 0, step.faults.clone()),
            opening: 0,
            steps: VecDeque::new(),
            first: 0,
            shown: 0,
            delay: delays.moves,
            late: delays.info.map(LateInfo::new),
            bytes: 0,
            end: None,
            changed: watch::Sender::new(()),
        };
        board.add(step);
        board
    }

    /// Adds a step, unless nothing has happened.
    pub(super) fn add(&mut self, step: &LiveStep) {
        if !self.steps.is_empty() && !self.replay.is_news(&step.events, &step.faults) {
            if let Some(late) = &mut self.late {
                late.add(self.replay.moves(), &step.infos);
            }
            return;
        }
        self.opening += moves(&step.events).filter(|line| line.ends_with(OPENING)).count() as u32;
        let is_begun = self.replay.moves() > 0 || has_move(&step.events);
        if self.bytes > MOST_BYTES || (!is_begun && !self.steps.is_empty()) {
            // The board begins with the position after the deal and the opening.
            self.first += self.steps.len() as u64;
            self.steps.clear();
            (self.bytes, self.shown) = (0, 0);
            self.replay = LiveReplay::new(self.viewer, self.replay.moves(), step.faults.clone());
        }
        let mut frame =
            self.replay.step(&self.header.seats, &*step.table, &step.events, &step.faults, &step.banks_ms);
        if let Some(late) = &mut self.late {
            late.add(frame.moves, &step.infos);
            frame.tell(&late.due(frame.moves), &self.header.seats);
        }
        let LiveFrame { moves, looks, step, text, scene } = frame;
        let step = BoardStep {
            moves,
            looks: looks.iter().map(json::text).collect(),
            step: json::text(&step),
            text: json::text(&text),
            scene: Some(scene),
        };
        self.bytes += step.bytes();
        self.steps.push_back(step);
        // The first position is public before the match begins.
        let due = |step: &BoardStep| step.moves == 0 || step.moves + self.delay <= moves;
        let shown = self.steps.iter().take_while(|step| due(step)).count().max(self.shown);
        self.show(shown);
        self.changed.send_replace(());
    }

    /// Shows this number of steps. Pictures have the last one of them.
    fn show(&mut self, shown: usize) {
        let earlier = self.shown.saturating_sub(1)..shown.saturating_sub(1);
        self.steps.range_mut(earlier).for_each(|step| step.scene = None);
        self.shown = shown;
    }

    /// Ends the match. All steps are shown.
    pub(super) fn conclude(&mut self, result: &str) {
        self.show(self.steps.len());
        self.end = Some(json::text(&json!({ "result": result, "replay": true })));
        self.changed.send_replace(());
    }

    /// Ends the board without showing more of it.
    pub(super) fn break_off(&mut self, why: &str) {
        self.end = Some(json::text(&json!({ "result": why, "replay": false })));
        self.changed.send_replace(());
    }

    /// The number of moves that are shown, without those of the opening, as records count them.
    pub(super) fn moves(&self) -> u32 {
        let shown = self.shown.checked_sub(1).map_or(0, |last| self.steps[last].moves);
        shown.saturating_sub(self.opening)
    }

    /// The position that is shown, if one is.
    pub(super) fn scene(&self) -> Option<Scene> {
        self.steps[self.shown.checked_sub(1)?].scene.clone()
    }

    /// Returns a channel that changes when there are new events.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Returns whether the match has ended.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// The number of the `end` event, once the match has ended.
    pub(super) fn last(&self) -> u64 {
        self.first + self.steps.len() as u64
    }

    /// The events after the one of this number. Begins with a snapshot if they are not known, or not all of them.
    pub(super) fn after(&self, number: Option<u64>, form: BoardForm) -> Vec<BoardEvent> {
        let next = self.first + self.shown as u64;
        let known = number.filter(|&number| {
            (self.first..next).contains(&number) || (self.is_over() && number == self.last())
        });
        let mut events = Vec::new();
        match known {
            // A delay holds back even the beginning of a board that has started over.
            None if self.shown == 0 => {}
            None => events.push(BoardEvent { number: next - 1, kind: "snapshot", data: self.snapshot(form) }),
            Some(number) => {
                for number in number + 1..next {
                    let step = &self.steps[(number - self.first) as usize];
                    let data = match form {
                        BoardForm::Text => step.text.clone(),
                        BoardForm::Shapes => {
                            format!("{{\"looks\":[{}],\"step\":{}}}", step.looks.join(","), step.step)
                        }
                    };
                    events.push(BoardEvent { number, kind: "step", data });
                }
            }
        }
        if let Some(end) = &self.end
            && known != Some(self.last())
        {
            events.push(BoardEvent { number: self.last(), kind: "end", data: end.clone() });
        }
        events
    }

    fn snapshot(&self, form: BoardForm) -> String {
        let shown = || self.steps.iter().take(self.shown);
        if form == BoardForm::Text {
            let last = shown().next_back().map_or("null", |step| &step.text);
            let seats = self.head.seats();
            let (id, game) = (json::text(&self.header.id), json::text(&self.header.game.title));
            return format!("{{\"match\":{id},\"game\":{game},\"seats\":{seats},\"step\":{last}}}");
        }
        let looks: Vec<&str> = shown().flat_map(|step| &step.looks).map(String::as_str).collect();
        let steps: Vec<&str> = shown().map(|step| &*step.step).collect();
        let head = json::text(&self.head);
        let head = head.strip_suffix('}').unwrap_or(&head);
        format!("{head},\"looks\":[{}],\"steps\":[{}]}}", looks.join(","), steps.join(","))
    }
}
