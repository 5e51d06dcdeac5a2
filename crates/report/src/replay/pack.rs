//! Matches as the data of a page: the steps in columns, which compress to less than half the size of rows.
//!
//! The changes of each line follow each other, because they resemble each other more than what changes in the same step.
//! Each is stored relative to the one before.

use std::collections::BTreeMap;

use referee_game::Seat;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value;

use super::changes::Changes;
use super::column::{Column, Texts};
use super::layout::layout;
use super::match_replay::{MatchReplay, ReplayStep, SeatOf};
use super::moment::Moment;
use super::names::{self, StepNames, refer, refer_to_lists};
use super::record::PackedRecord;

/// Changed lines of words, one stream after the other: the changes of a line that the same views see.
#[derive(Debug, Default, Serialize)]
struct WordChanges {
    /// By stream: its line.
    line: Column,
    /// By stream: its views.
    mask: Column,
    /// By stream: the number of its changes.
    count: Column,
    /// The steps, each relative to the one before.
    step: Column,
    /// How many words of the previous text of the stream remain at the start, plus one; 0: this line and the following
    /// ones were removed.
    start: Column,
    /// The same at the end, without the plus.
    end: Column,
    /// What is between them, with references to the names of the step.
    text: Texts,
}

/// The words of a text, all but the first with the space before them.
fn split(text: &str) -> Vec<&str> {
    let (mut words, mut start) = (Vec::with_capacity(16), 0);
    for at in memchr::memchr_iter(b' ', text.as_bytes()).filter(|&at| at > 0) {
        words.push(&text[start..at]);
        start = at;
    }
    words.push(&text[start..]);
    words
}

/// The changes of a stream: step and text.
type LineChanges<'a> = Vec<(usize, Option<&'a str>)>;

impl WordChanges {
    fn of(steps: &[ReplayStep], names: &[StepNames<'_>]) -> WordChanges {
        let mut streams: BTreeMap<(usize, u32), LineChanges<'_>> = BTreeMap::new();
        for (number, step) in steps.iter().enumerate() {
            for (mask, line, text) in &step.w {
                streams.entry((*line, *mask)).or_default().push((number, text.as_deref()));
            }
        }
        let mut words = WordChanges::default();
        for ((line, mask), changes) in streams {
            words.line.push(line as u32);
            words.mask.push(mask);
            words.count.push(changes.len() as u32);
            let (mut before, mut said) = (0, split(""));
            for (step, text) in changes {
                words.step.push((step - before) as u32);
                let text = text.map(split);
                words.push(&said, text.as_deref(), &names[step]);
                (before, said) = (step, text.unwrap_or_else(|| split("")));
            }
        }
        words
    }

    /// Adds the words of a text that replaces the one before.
    fn push(&mut self, before: &[&str], text: Option<&[&str]>, names: &[&str]) {
        let Some(text) = text else {
            self.start.push(0);
            return;
        };
        let same =
            |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(a, b)| a == b).count();
        let start = same(&mut before.iter().zip(text));
        let end = same(&mut before[start..].iter().rev().zip(text[start..].iter().rev()));
        self.start.push(start as u32 + 1);
        self.end.push(end as u32);
        self.text.push(&refer(&text[start..text.len() - end].concat(), names));
    }
}

/// Notes by step.
#[derive(Debug, Default, Serialize)]
struct Notes {
    count: Column,
    mask: Column,
    kind: Column,
    /// 0 without a seat, else one more than the seat.
    seat: Column,
    /// By kind, with references to the names of the step; events also refer to lists of the record. A move that is the
    /// next one of the record is empty.
    text: [Texts; KINDS.len()],
}

/// The time that answers took, by step.
#[derive(Debug, Default, Serialize)]
struct AnswerTimes {
    count: Column,
    seat: Column,
    ms: Column,
    lag: Column,
}

/// What bots expected after their moves.
#[derive(Debug, Default, Serialize)]
struct Expectations {
    /// By step: how many.
    count: Column,
    seat: Column,
    points: Column,
}

/// The steps of a match.
#[derive(Debug, Default, Serialize)]
struct StepColumns {
    /// Moves, each relative to the step before.
    n: Column,
    c: Changes,
    w: WordChanges,
    s: Notes,
    k: AnswerTimes,
    #[serde(skip_serializing_if = "Option::is_none")]
    e: Option<Expectations>,
    /// By step; empty if it is as before.
    b: Vec<Vec<Option<u64>>>,
}

/// The kinds of notes, in the order of the player.
const KINDS: [&str; 5] = ["move", "event", "fault", "fallback", "info"];

impl StepColumns {
    fn of(replay: &MatchReplay) -> StepColumns {
        let (steps, names) = (&replay.steps, names::of_steps(replay));
        let mut columns = StepColumns {
            c: Changes::of(replay),
            w: WordChanges::of(steps, &names),
            ..StepColumns::default()
        };
        let (mut moves, mut banks): (u32, &[_]) = (0, &[]);
        let played: Vec<&str> = replay.record.iter().flat_map(PackedRecord::moves).collect();
        let mut played = &played[..];
        let mut lists = replay.record.as_ref().map_or(&[][..], PackedRecord::lists);
        for (step, names) in steps.iter().zip(&names) {
            columns.n.push(step.n - moves);
            moves = step.n;
            let used = columns.notes(step, names, &mut played, lists);
            lists = &lists[used..];
            columns.answer_times(step);
            columns.expectations(step, steps);
            columns.b.push(if step.b == banks { Vec::new() } else { step.b.clone() });
            banks = &step.b;
        }
        columns
    }

    /// Adds the notes of a step. `played` and `lists` are the moves and the lists of words in the events of the record
    /// that are still to come. Returns how many lists precede those of the steps after it.
    fn notes(&mut self, step: &ReplayStep, names: &[&str], played: &mut &[&str], lists: &[String]) -> usize {
        let mut used = 0;
        self.s.count.push(step.s.len() as u32);
        for (mask, kind, seat, text) in &step.s {
            self.s.mask.push(*mask);
            let kind = KINDS.iter().position(|known| known == kind);
            let kind = kind.unwrap_or_else(|| unreachable!("all kinds are listed"));
            self.s.kind.push(kind as u32);
            self.s.seat.push(seat.map_or(0, |Seat(seat)| u32::from(seat) + 1));
            let mut stored = match KINDS[kind] {
                "event" => {
                    let (stored, of_text) = refer_to_lists(text, lists, names);
                    used = used.max(of_text);
                    stored
                }
                // The names are words of the moves.
                "move" => refer(text, &[]),
                _ => refer(text, names),
            };
            if let Some((next, rest)) = played.split_first()
                && KINDS[kind] == "move"
                && text.starts_with(*next)
            {
                *played = rest;
                if text == *next {
                    stored.clear();
                }
            }
            self.s.text[kind].push(&stored);
        }
        used
    }

    /// Adds what bots expected, if any of them declared a scale in the match.
    fn expectations(&mut self, step: &ReplayStep, steps: &[ReplayStep]) {
        if self.e.is_none() && steps.iter().all(|step| step.e.is_empty()) {
            return;
        }
        let columns = self.e.get_or_insert_default();
        columns.count.push(step.e.len() as u32);
        for &(Seat(seat), points) in &step.e {
            columns.seat.push(seat.into());
            columns.points.push(points.into());
        }
    }

    fn answer_times(&mut self, step: &ReplayStep) {
        self.k.count.push(step.k.len() as u32);
        for &(Seat(seat), ms, lag) in &step.k {
            self.k.seat.push(seat.into());
            self.k.lag.push(u32::try_from(lag).unwrap_or(u32::MAX));
            self.k.ms.push(u32::try_from(ms).unwrap_or(u32::MAX));
        }
    }
}

/// What shapes look like. Many differ only in a text, such as the numbers of squares.
#[derive(Debug, Default, Serialize)]
struct Looks {
    /// Different looks without their texts.
    kinds: Vec<Vec<Value>>,
    /// By look: the index of its kind.
    kind: Column,
    /// The texts of all looks.
    text: Vec<String>,
}

impl Looks {
    fn of(all: &[Vec<Value>]) -> Looks {
        let (mut looks, mut numbers) = (Looks::default(), FxHashMap::default());
        for look in all {
            let mut kind = look.clone();
            for part in kind.iter_mut().filter_map(Value::as_array_mut).filter(|part| part[0] == "t") {
                if let Some(Value::String(text)) = part.pop() {
                    looks.text.push(text);
                }
            }
            let next = looks.kinds.len() as u32;
            let number = *numbers.entry(kind).or_insert_with_key(|kind| {
                looks.kinds.push(kind.clone());
                next
            });
            looks.kind.push(number);
        }
        looks
    }
}

/// A match as the data of a page.
#[derive(Debug, Serialize)]
pub(super) struct Packed<'a> {
    r#match: &'a str,
    game: &'static str,
    seats: &'a [SeatOf],
    views: &'a [String],
    size: [i16; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<Value>,
    result: &'a str,
    heading: &'a str,
    why: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amounts: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moment: Option<&'a Moment>,
    looks: Looks,
    columns: StepColumns,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a PackedRecord>,
}

impl<'a> Packed<'a> {
    pub(super) fn of(replay: &'a MatchReplay) -> Packed<'a> {
        Packed {
            r#match: &replay.r#match,
            game: replay.game,
            seats: &replay.seats,
            views: &replay.views,
            size: replay.size,
            layout: replay.layout.as_deref().map(|of| layout(of, |row| row.places.len())),
            result: &replay.result,
            heading: &replay.heading,
            why: &replay.why,
            scores: replay.scores.as_deref(),
            amounts: replay.amounts.as_deref(),
            moment: replay.moment.as_ref(),
            looks: Looks::of(&replay.looks),
            columns: StepColumns::of(replay),
            record: replay.record.as_ref(),
        }
    }
}
