//! A match as the data of the player: the first scene, and what changes from step to step.
//!
//! A `mask` is a set of views, as bits. Content that several views share is written once.

use std::sync::Arc;

use referee_game::{Scene, Seat, Seating, Viewer};
use referee_match::Header;
use referee_match::record::{Difference, Note, Playback, RecordEntry, RecordedAnswer, Step};
use referee_protocol::info::DeclaredScore;
use referee_protocol::referee::Clock;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::moment::Moment;
use super::record::PackedRecord;
use super::shown::{Change, ChangedLine, Changes, ShownScenes};
use crate::note::{EventText, Kind};
use crate::tournament::told_clock;
use crate::words::{ToldMatch, amounts_in_words, ending_in_words, note_in_words};

/// The maximum length of the text of an `info` on a page, in characters.
const INFO: usize = 200;

/// The match as the player knows it without its positions.
#[derive(Debug, Serialize)]
pub struct ReplayHead {
    r#match: String,
    game: &'static str,
    seats: Vec<ReplaySeat>,
    /// The names of the views; the first sees everything.
    views: Vec<String>,
    /// Width and height.
    size: [i16; 2],
    /// The result in words; empty without one.
    result: String,
    /// The clock in words; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<String>,
}

impl ReplayHead {
    /// A match in progress between these bots, each with its team, which begins with this scene.
    pub fn live(
        id: &str,
        game: &'static str,
        bots: &[(String, u8)],
        clock: Option<Clock>,
        first: &Scene,
    ) -> ReplayHead {
        let seats = bots.iter().zip(&first.seats).map(|((name, team), tone)| ReplaySeat {
            name: name.clone(),
            display_name: None,
            team: *team,
            tone: tone.name(),
        });
        ReplayHead {
            r#match: id.to_owned(),
            game,
            seats: seats.collect(),
            views: vec!["Spectator".to_owned()],
            size: [first.width, first.height],
            result: String::new(),
            clock: clock.map(told_clock),
        }
    }

    /// The seats as JSON.
    pub fn seats(&self) -> String {
        referee_game::json::text(&self.seats)
    }
}

#[derive(Debug, Serialize)]
pub struct MatchReplay {
    #[serde(skip)]
    header: Arc<Header>,
    #[serde(skip)]
    seed: String,
    #[serde(flatten)]
    head: ReplayHead,
    /// The result as a sentence without its full stop.
    pub(super) heading: String,
    /// The reason why it ended like this, as a sentence.
    pub(super) why: String,
    /// By seat; `None` without a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<Vec<f64>>,
    /// By seat, with the unit; `None` without a result, and in games without amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    amounts: Option<Vec<String>>,
    /// The move that decided the match, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    moment: Option<Moment>,
    /// The looks of shapes, as lists of parts.
    looks: Vec<Vec<Value>>,
    steps: Vec<ReplayStep>,
    /// The last position, as spectators saw it.
    #[serde(skip)]
    last: Scene,
    /// The record, if the page contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<PackedRecord>,
}

/// A position and the steps to it.
#[derive(Debug, Default, Serialize)]
pub(super) struct ReplayStep {
    /// The number of moves so far.
    pub(super) n: u32,
    /// Milliseconds since the match was opened; only in replays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) t: Option<u64>,
    /// Changes of things, sorted by thing.
    pub(super) c: Vec<Change>,
    /// The things that moved and are marked: mask, number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) m: Vec<(u32, u32)>,
    /// Changed lines of words.
    pub(super) w: Vec<ChangedLine>,
    /// The events: mask, kind, seat, text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) s: Vec<(u32, &'static str, Option<Seat>, String)>,
    /// The time that answers took: seat, milliseconds, and the lag of the referee in tenths of a millisecond; only in
    /// replays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) k: Vec<(Seat, u64, u64)>,
    /// The scores that bots expected after their moves, as far as they declare a scale: seat and thousandths of a point; only in
    /// replays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) e: Vec<(Seat, u16)>,
    /// By seat: milliseconds in the bank; empty without a clock.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) b: Vec<Option<u64>>,
}

#[derive(Debug, Serialize)]
struct ReplaySeat {
    name: String,
    /// The display name, which people see instead of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<String>,
    team: u8,
    tone: &'static str,
}

/// The kind of a note as the player reads it.
pub(super) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Move => "move",
        Kind::Fault => "fault",
        Kind::Fallback => "fallback",
        Kind::Event => "event",
    }
}

/// The text of an event on a page, without codes.
pub(super) fn shown_text(event: &EventText) -> String {
    match event.kind {
        Kind::Fault => note_in_words(&event.text, ""),
        Kind::Event => note_in_words(&event.text, "is out: "),
        Kind::Move | Kind::Fallback => event.text.clone(),
    }
}

/// The `info` of an answer in words: what is conventional in it.
pub(super) fn info_words(info: &str) -> Option<String> {
    // A number that is out of range is valid JSON.
    let info: Value = serde_json::from_str(info).ok()?;
    let words = ["score", "depth", "nodes", "text"].into_iter().filter_map(|key| match &info[key] {
        Value::String(text) => Some(text.clone()),
        value @ (Value::Number(_) | Value::Bool(_)) => Some(format!("{key} {value}")),
        _ => None,
    });
    let words: String = words.collect::<Vec<_>>().join(", ").chars().take(INFO).collect();
    Some(words).filter(|words| !words.is_empty())
}

/// The events of a step: kind, seat and text, with the views that know them.
fn notes(step: &Step<'_, '_>, viewers: &[Viewer]) -> Vec<(u32, &'static str, Option<Seat>, String)> {
    let mut notes = Vec::new();
    for (note, known) in step.notes.iter().zip(EventText::of_views(step, viewers)) {
        if let Note::Line(line) = note
            && let RecordEntry::Answer(RecordedAnswer { seat, info: Some(given), .. }) = &line.entry
            && let Some(info) = info_words(given.get())
        {
            let knows = |viewer: &Viewer| viewer.shares(*seat);
            let knowing = viewers.iter().zip(0..).filter(|(viewer, _)| knows(viewer));
            let mask = knowing.fold(0, |mask, (_, view)| mask | 1_u32 << view);
            notes.push((mask, "info", Some(*seat), info));
        }
        notes.extend(known.into_iter().map(|(mask, event)| {
            let text = shown_text(&event);
            (mask, kind_name(event.kind), event.seat, text)
        }));
    }
    notes
}

fn answers<'a, 'b>(step: &'b Step<'a, 'b>) -> impl Iterator<Item = &'b RecordedAnswer<'a>> {
    step.notes.iter().filter_map(|note| match note {
        Note::Line(line) => match &line.entry {
            RecordEntry::Answer(answer) => Some(answer),
            _ => None,
        },
        Note::Event(_) => None,
    })
}

/// The time that the answers of a step took: seat, milliseconds, and the lag in tenths of a millisecond.
fn took(step: &Step<'_, '_>) -> Vec<(Seat, u64, u64)> {
    answers(step).map(|answer| (answer.seat, answer.took_us / 1000, answer.lag_us / 100)).collect()
}

/// The scores that the bots expected after the moves of a step, in thousandths of a point for their own sides.
fn expectations(step: &Step<'_, '_>, seating: Seating) -> Vec<(Seat, u16)> {
    let expected = answers(step).filter_map(|answer| {
        let declared: DeclaredScore = serde_json::from_str(answer.info?.get()).ok()?;
        let (own, expected) = (seating.side(answer.seat), declared.expected()?);
        let side = declared.score_side.map_or(own, usize::from);
        let expected = match side {
            _ if side == own => expected,
            _ if side < seating.sides() && seating.sides() == 2 => 1.0 - expected,
            _ => return None,
        };
        Some((answer.seat, (1000.0 * expected).round() as u16))
    });
    expected.collect()
}

/// The banks, unless there is no clock.
pub(super) fn banks(banks_ms: &[Option<u64>]) -> Vec<Option<u64>> {
    if banks_ms.iter().any(Option::is_some) { banks_ms.to_vec() } else { Vec::new() }
}

impl MatchReplay {
    /// The result as a sentence without its full stop.
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// The reason why it ended like this, as a sentence.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The moment that decided it: the number of moves before it, and a sentence.
    pub fn moment(&self) -> Option<(u32, &str)> {
        let moment = self.moment.as_ref()?;
        Some((self.steps.get(moment.step)?.n, &moment.text))
    }

    /// Replays a record.
    ///
    /// # Errors
    /// When the record is not valid.
    pub fn of(playback: Playback<'_>) -> Result<MatchReplay, Difference> {
        MatchReplay::shown_as(playback, &[])
    }

    /// Replays a record. People see these names by seat, where there is one.
    ///
    /// # Errors
    /// When the record is not valid.
    pub fn shown_as(
        mut playback: Playback<'_>,
        display_names: &[Option<String>],
    ) -> Result<MatchReplay, Difference> {
        let (header, seating) = (playback.setup().header.clone(), playback.setup().seating);
        let mut shown = ShownScenes::default();
        let mut steps = Vec::new();
        let (mut viewers, mut meta, mut first, mut last) = (Vec::new(), None, None, Scene::new(0, 0));
        while let Some(step) = playback.step()? {
            if viewers.is_empty() {
                let all = [Viewer::Omniscient, Viewer::Public];
                let all = all.into_iter().chain(seating.all().iter().map(Viewer::Seat));
                // Without hidden information, everyone sees the same.
                let count = if step.table.meta().hidden { usize::MAX } else { 1 };
                viewers.extend(all.take(count));
                meta = Some(step.table.meta());
            }
            let scenes: Vec<Scene> = viewers.iter().map(|&viewer| step.table.scene(viewer)).collect();
            first.get_or_insert_with(|| (scenes[0].seats.clone(), [scenes[0].width, scenes[0].height]));
            last.clone_from(&scenes[usize::from(scenes.len() > 1)]);
            let Changes { things, moved, words } = shown.show(scenes);
            steps.push(ReplayStep {
                n: step.moves,
                t: Some(step.at_us / 1000),
                c: things,
                m: moved,
                w: words,
                s: notes(&step, &viewers),
                k: took(&step),
                e: expectations(&step, seating),
                b: banks(step.banks_ms),
            });
        }
        let (meta, (tones, size)) =
            meta.zip(first).unwrap_or_else(|| unreachable!("a match has a first position"));
        let seats = header.seats.iter().zip(&tones).enumerate();
        let display_name = |seat: usize| display_names.get(seat).and_then(Option::as_deref);
        let names: Vec<&str> =
            (0..).zip(&header.seats).map(|(at, seat)| display_name(at).unwrap_or(&seat.name)).collect();
        let of_seats = names.iter().map(|name| format!("As {name} saw it"));
        let all = ["Everything".to_owned(), "Spectator".to_owned()].into_iter().chain(of_seats);
        let seed = playback.setup().seed.to_hex();
        let ending = playback.ending();
        let ended = ending.map(|ending| ToldMatch {
            game: Some(meta),
            names: &names,
            ranks: ending.ranks.as_deref(),
            ended_by: ending.ended_by.as_str(),
            reason: &ending.reason,
            forfeited: &[],
            moves: steps.last().map_or(0, |step: &ReplayStep| step.n),
        });
        let by_fault = ending.and_then(|ending| ending.fault.as_ref()).map(|fault| [fault.seat.0]);
        let ended = ended.map(|ended| ToldMatch {
            forfeited: by_fault.as_ref().map_or(&[], |seats| seats.as_slice()),
            ..ended
        });
        let result_in_words = |ended: &ToldMatch<'_>| {
            format!("{} ({})", ended.heading(), ending_in_words(Some(meta), ended.ended_by, ended.reason))
        };
        Ok(MatchReplay {
            head: ReplayHead {
                r#match: header.r#match.clone(),
                game: meta.title,
                seats: seats
                    .map(|(at, (seat, tone))| ReplaySeat {
                        name: seat.name.clone(),
                        display_name: display_name(at).map(str::to_owned),
                        team: seat.team,
                        tone: tone.name(),
                    })
                    .collect(),
                views: all.take(viewers.len()).collect(),
                size,
                result: ended.as_ref().map(result_in_words).unwrap_or_default(),
                clock: header.clock.map(told_clock),
            },
            seed,
            heading: ended.as_ref().map(ToldMatch::heading).unwrap_or_default(),
            why: ended.as_ref().map(ToldMatch::why).unwrap_or_default(),
            scores: ending.and_then(|ending| ending.scores.clone()),
            amounts: ending.and_then(|ending| {
                let unit = meta.amounts.unwrap_or_default();
                let amounts = ending.amounts.as_ref()?.iter();
                Some(amounts.map(|&amount| amounts_in_words(&[amount], unit)).collect())
            }),
            moment: ending.and_then(|ending| Moment::of(&steps, ending, seating, &names)),
            looks: shown.looks,
            header,
            steps,
            last,
            record: None,
        })
    }

    /// Adds the record itself to the data.
    #[must_use]
    pub fn with_record(mut self, record: &[u8]) -> MatchReplay {
        self.record = PackedRecord::of(record);
        self
    }

    /// The number of moves, those of the opening included.
    pub fn moves(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.n)
    }

    /// The last position, as spectators saw it.
    pub fn last(&self) -> &Scene {
        &self.last
    }

    pub fn options(&self) -> &RawValue {
        &self.header.options
    }

    /// The seed of the match, as hex digits.
    pub fn seed(&self) -> &str {
        &self.seed
    }
}
