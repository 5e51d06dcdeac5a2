//! The events of a match as text.

use std::ops::Range;
use std::time::Duration;

use referee_game::erased::{MoveMade, Table};
use referee_game::excerpt::excerpt;
use referee_game::printable::printable;
use referee_game::{Seat, Viewer};
use referee_match::record::{Moved, Note, RecordEntry, RecordLine, RecordedAnswer, RecordedFault, Step};
use referee_protocol::words::{EndedBy, FaultCode};
use serde_json::Value;

/// The characters shown of an event that cannot be read.
const QUOTED: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Move,
    Fault,
    /// A move by the referee for a faulty seat.
    Fallback,
    Event,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventText {
    pub kind: Kind,
    pub seat: Option<Seat>,
    /// The text, without the name of the seat.
    pub text: String,
}

impl EventText {
    /// A sentence, given the name of the seat.
    pub fn sentence(&self, name: &str) -> String {
        let text = &self.text;
        match self.kind {
            Kind::Move => format!("{name}: {text}"),
            Kind::Fault => format!("fault of {name}: {text}"),
            Kind::Fallback => format!("the referee plays for {name}"),
            Kind::Event if self.seat.is_none() => text.clone(),
            Kind::Event => format!("{name} {text}"),
        }
    }
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::Object(of_seats) if of_seats.keys().all(|key| key.parse::<u8>().is_ok()) => {
            let of_seat = |(seat, value)| format!("seat {seat}: {}", words(value));
            of_seats.iter().map(of_seat).collect::<Vec<_>>().join("; ")
        }
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| format!("{key} {}", words(value))).collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    }
}

impl EventText {
    fn other(seat: Option<Seat>, text: impl Into<String>) -> EventText {
        EventText { kind: Kind::Event, seat, text: text.into() }
    }

    /// An event as the viewer saw it; what the viewer did not see is left out.
    pub fn event(event: &Value) -> EventText {
        let seat = event["seat"].as_u64().and_then(|seat| seat.try_into().ok()).map(Seat);
        match event["kind"].as_str() {
            Some("move") => EventText::moved(seat, event["move"].as_str(), event["opening"] == true),
            Some("draw_offered") => EventText::other(seat, "offers a draw"),
            Some("out") => {
                EventText::other(seat, format!("is out: {}", event["reason"].as_str().unwrap_or_default()))
            }
            kind => {
                let others = event.as_object().into_iter().flatten();
                let others =
                    others.filter(|(key, value)| !["kind", "seat"].contains(&&***key) && !value.is_null());
                let fields: String = others.map(|(key, value)| format!(", {key} {}", words(value))).collect();
                EventText::other(seat, format!("{}{fields}", kind.unwrap_or_default()))
            }
        }
    }

    /// The events of a match in progress, one JSON object per line.
    pub fn events(lines: &[u8]) -> impl Iterator<Item = EventText> {
        lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(EventText::written)
    }

    /// A move. `None`: it is secret.
    fn moved(seat: Option<Seat>, text: Option<&str>, is_opening: bool) -> EventText {
        let (text, opening) = (text.unwrap_or("(secret)"), if is_opening { " (opening)" } else { "" });
        EventText { kind: Kind::Move, seat, text: [text, opening].concat() }
    }

    fn written(event: &[u8]) -> EventText {
        // Most events are moves, which are read faster than others.
        if event.starts_with(br#"{"kind":"move""#)
            && let Ok(Moved { seat, text, opening }) = serde_json::from_slice(event)
        {
            return EventText::moved(Some(seat), Some(&text), opening);
        }
        match serde_json::from_slice(event) {
            Ok(event) => EventText::event(&event),
            // Older records may have events of rules that this parser does not read, such as a number beyond a double.
            Err(_) => EventText::other(None, printable(&excerpt(&String::from_utf8_lossy(event), QUOTED))),
        }
    }

    /// The note on a line of a record, if it has one.
    fn line(line: &RecordLine<'_>) -> Option<EventText> {
        let seat = line.seat();
        Some(match &line.entry {
            RecordEntry::Event { json, .. } => EventText::written(json.get().as_bytes()),
            RecordEntry::Fault(RecordedFault { code, detail, .. }) => {
                let detail = detail.as_ref().map(|detail| format!(", {detail}")).unwrap_or_default();
                // Public records have details without their free texts.
                let text = format!("{code}{detail}").trim_end_matches([' ', ',', ':']).to_owned();
                EventText { kind: Kind::Fault, seat, text }
            }
            RecordEntry::Fallback { .. } => EventText { kind: Kind::Fallback, seat, text: String::new() },
            RecordEntry::Resign { .. } => EventText::other(seat, "resigns"),
            RecordEntry::AcceptDraw(_) => EventText::other(seat, "accepts the draw"),
            &RecordEntry::Pause { paused_us } => {
                let paused = Duration::from_micros(paused_us);
                EventText::other(None, format!("the referee was suspended for {:.1} s", paused.as_secs_f64()))
            }
            RecordEntry::Abort { reason } => EventText::other(None, format!("broken off: {reason}")),
            RecordEntry::Record(_)
            | RecordEntry::Start { .. }
            | RecordEntry::Restart { .. }
            | RecordEntry::Ready { .. }
            | RecordEntry::Draw { .. }
            | RecordEntry::Request { .. }
            | RecordEntry::Answer(_)
            | RecordEntry::Stray { .. }
            | RecordEntry::Result
            | RecordEntry::Bots(_)
            | RecordEntry::Seal(_) => return None,
        })
    }

    /// The notes of a step as a viewer may know them; `None` for a note without a text, or that the viewer may not
    /// know.
    pub fn of_step(step: &Step<'_, '_>, viewer: Viewer) -> Vec<Option<EventText>> {
        let notes = EventText::of_views(step, &[viewer]).into_iter();
        notes.map(|mut known| known.pop().map(|(_, text)| text)).collect()
    }

    /// The notes of a step as these viewers may know them: by note, its texts, each with the set of the viewers who see
    /// this, as bits.
    pub fn of_views(step: &Step<'_, '_>, viewers: &[Viewer]) -> Vec<Vec<(u32, EventText)>> {
        let (mut answer, mut events) = ("", Vec::new());
        let known = step.notes.iter().map(|note| match note {
            Note::Line(line) => {
                let mut text = EventText::line(line);
                match (&line.entry, &mut text) {
                    (RecordEntry::Answer(RecordedAnswer { text, .. }), _) => answer = text,
                    // The fault itself does not name the move.
                    (RecordEntry::Fault(RecordedFault { code: FaultCode::IllegalMove, .. }), Some(text)) => {
                        text.text.extend([": ", answer]);
                    }
                    _ => {}
                }
                let mask = set(viewers, |viewer| EventText::knows(viewer, line, step.table));
                text.filter(|_| mask != 0).map(|text| (mask, text)).into_iter().collect()
            }
            &Note::Event(index) => EventText::event_of_views(index, step.table, viewers, &mut events),
        });
        known.collect()
    }

    /// Returns whether a viewer may know a line. Faults are known to their seat, because they may reveal its
    /// secrets; in games without hidden information to everyone.
    fn knows(viewer: Viewer, line: &RecordLine<'_>, table: &dyn Table) -> bool {
        let is_private = matches!(line.entry, RecordEntry::Fault(_) | RecordEntry::Fallback { .. });
        !(is_private && table.meta().hidden) || line.seat().is_none_or(|seat| viewer.shares(seat))
    }

    /// An event of the game as these viewers see it. `buffer` is reused.
    fn event_of_views(
        index: usize,
        table: &dyn Table,
        viewers: &[Viewer],
        buffer: &mut Vec<u8>,
    ) -> Vec<(u32, EventText)> {
        if let Some(MoveMade { seat, text, is_open: true, is_opening }) = table.move_made(index) {
            return vec![(set(viewers, |_| true), EventText::moved(Some(seat), Some(text), is_opening))];
        }
        let mut events: Vec<(u32, Range<usize>)> = Vec::new();
        buffer.clear();
        for (view, &viewer) in viewers.iter().enumerate() {
            let start = buffer.len();
            table.write_event(index, viewer, buffer);
            if buffer.len() == start {
                continue;
            }
            let is_same = |(_, event): &&mut (u32, Range<usize>)| buffer[event.clone()] == buffer[start..];
            match events.iter_mut().find(is_same) {
                Some((mask, _)) => {
                    *mask |= 1 << view;
                    buffer.truncate(start);
                }
                None => events.push((1 << view, start..buffer.len())),
            }
        }
        events.into_iter().map(|(mask, event)| (mask, EventText::written(&buffer[event]))).collect()
    }
}

/// The set of the viewers for whom this holds, as bits.
fn set(viewers: &[Viewer], holds: impl Fn(Viewer) -> bool) -> u32 {
    (0..).zip(viewers).filter(|&(_, &viewer)| holds(viewer)).fold(0, |mask, (view, _)| mask | 1 << view)
}

/// The result of a match in words, given the names and the ranks of its seats.
pub fn result_words(names: &[&str], ranks: Option<&[u8]>, by: EndedBy, reason: &str) -> String {
    let ended_by = by.to_string();
    let why = match by {
        EndedBy::Rules => reason.to_owned(),
        _ if reason == ended_by => ended_by,
        _ => format!("{ended_by}, {reason}"),
    };
    let Some(ranks) = ranks else { return why };
    let mut winners: Vec<&str> =
        names.iter().zip(ranks).filter(|&(_, &rank)| rank == 1).map(|(&name, _)| name).collect();
    if winners.len() == ranks.len() {
        return format!("draw ({why})");
    }
    // An entrant may have all seats of a side.
    winners.dedup();
    match winners[..] {
        [name] => format!("{name} wins ({why})"),
        _ => format!("{} win ({why})", winners.join(" and ")),
    }
}
