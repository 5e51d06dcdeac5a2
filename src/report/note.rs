//! The events of a match as text.

use std::time::Duration;

use referee_protocol::words::{EndedBy, FaultCode};
use serde_json::Value;

use crate::core::erased::Table;
use crate::core::{Seat, Viewer};
use crate::record::{Line, Note, Step};
use crate::referee::{Ending, Header};

/// The kind of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A move.
    Move,
    /// A fault.
    Fault,
    /// A move by the referee for a faulty seat.
    Fallback,
    /// Any other event.
    Event,
}

/// An event as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The kind.
    pub kind: Kind,
    /// The seat concerned.
    pub seat: Option<Seat>,
    /// The text, without the name of the seat.
    pub text: String,
}

impl Told {
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

/// A JSON value in words.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(" "),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| format!("{key} {}", words(value))).collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    }
}

impl Told {
    fn other(seat: Option<Seat>, text: impl Into<String>) -> Told {
        Told { kind: Kind::Event, seat, text: text.into() }
    }

    /// An event as the viewer saw it; what the viewer did not see is left out.
    pub fn event(event: &Value) -> Told {
        let seat = event["seat"].as_u64().and_then(|seat| seat.try_into().ok()).map(Seat);
        match event["kind"].as_str() {
            Some("move") => {
                let text = event["move"].as_str().unwrap_or("(secret)");
                let opening = if event["opening"] == true { " (opening)" } else { "" };
                Told { kind: Kind::Move, seat, text: format!("{text}{opening}") }
            }
            Some("draw_offered") => Told::other(seat, "offers a draw"),
            Some("out") => {
                Told::other(seat, format!("is out: {}", event["reason"].as_str().unwrap_or_default()))
            }
            kind => {
                let others = event.as_object().into_iter().flatten();
                let others =
                    others.filter(|(key, value)| !["kind", "seat"].contains(&&***key) && !value.is_null());
                let fields: String = others.map(|(key, value)| format!(", {key} {}", words(value))).collect();
                Told::other(seat, format!("{}{fields}", kind.unwrap_or_default()))
            }
        }
    }

    /// A line of a record other than an answer.
    fn line(line: &Line<'_>) -> Option<Told> {
        let seat = line.seat;
        Some(match line.kind.as_str() {
            "event" => Told::event(&serde_json::from_str(line.event?.get()).ok()?),
            "fault" => {
                let detail = line.detail.as_ref().map(|detail| format!(", {detail}")).unwrap_or_default();
                let code = line.code.as_deref().unwrap_or_default();
                Told { kind: Kind::Fault, seat, text: format!("{code}{detail}") }
            }
            "fallback" => Told { kind: Kind::Fallback, seat, text: String::new() },
            "resign" => Told::other(seat, "resigns"),
            "accept_draw" => Told::other(seat, "accepts the draw"),
            "pause" => {
                let paused = Duration::from_micros(line.paused_us.unwrap_or(0));
                Told::other(None, format!("the referee was suspended for {:.1} s", paused.as_secs_f64()))
            }
            "abort" => {
                let reason = line.reason.as_ref().map(ToString::to_string).unwrap_or_default();
                Told::other(None, format!("broken off: {reason}"))
            }
            _ => return None,
        })
    }

    /// The notes of a step as a viewer may know them; `None` for a note that tells nothing or that the viewer may not
    /// know.
    pub fn of_step(step: &Step<'_, '_>, viewer: Viewer) -> Vec<Option<Told>> {
        let mut answer = None;
        let told = step.notes.iter().map(|note| {
            if let Note::Line(line) = note
                && line.kind == "answer"
            {
                answer = line.r#move.as_deref();
            }
            let mut told = Told::note(note, step.table, viewer)?;
            // The fault itself does not name the move.
            if told.kind == Kind::Fault && told.text == FaultCode::IllegalMove.as_str() {
                told.text.extend([": ", answer.unwrap_or_default()]);
            }
            Some(told)
        });
        told.collect()
    }

    /// A note of a step as a viewer may know it. Faults are known to their seat, because they may tell about its
    /// secrets; in games without hidden information to everyone.
    fn note(note: &Note<'_>, table: &dyn Table, viewer: Viewer) -> Option<Told> {
        match note {
            Note::Line(line) => {
                let is_private = matches!(&*line.kind, "fault" | "fallback") && table.meta().hidden;
                let is_known = !is_private || line.seat.is_none_or(|seat| viewer.shares(seat));
                Told::line(line).filter(|_| is_known)
            }
            &Note::Told(index) => {
                let mut event = Vec::new();
                table.write_event(index, viewer, &mut event);
                Some(Told::event(&serde_json::from_slice(&event).ok()?))
            }
        }
    }
}

/// The result of a match in words.
pub(crate) fn result(ending: &Ending, header: &Header) -> String {
    let ended_by = ending.ended_by.to_string();
    let why = match ending.ended_by {
        EndedBy::Rules => ending.reason.clone(),
        _ if ending.reason == ended_by => ended_by,
        _ => format!("{ended_by}, {}", ending.reason),
    };
    let Some(ranks) = &ending.ranks else { return why };
    let names = header.seats.iter().zip(ranks).filter(|&(_, &rank)| rank == 1);
    let names: Vec<&str> = names.map(|(seat, _)| seat.name.as_str()).collect();
    match names.len() {
        winners if winners == ranks.len() => format!("draw ({why})"),
        1 => format!("{} wins ({why})", names[0]),
        _ => format!("{} win ({why})", names.join(" and ")),
    }
}
