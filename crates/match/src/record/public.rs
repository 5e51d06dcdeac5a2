//! The public part of a record, and the private part of each seat's owner.

use std::borrow::Cow;
use std::fmt;

use referee_game::Wrong;
use referee_game::seat::Seat;
use referee_protocol::Text;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::record::line::{BotLine, read_header, read_seal};
use crate::record::replay::{CHANGED, CUT_OFF};
use crate::record::{Difference, RecordEntry, RecordLine, Seal, add_bots, digest};

/// The public fields of a bot's seat in the first line.
const OPEN: [&str; 3] = ["name", "version", "details"];
/// Parameters of details that are free text: they may quote what a bot wrote, and name files of the machine.
const FREE_TEXTS: [&str; 3] = ["error", "text", "why"];

/// The fields of `info` that adjudication reads.
const SCORES: [&str; 3] = ["score", "score_scale", "score_side"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PublishedInfo {
    Never,
    /// Once the match has ended.
    #[default]
    After,
    /// Published also while the match is in progress, after this many moves. In games with hidden information it may tell
    /// secrets: there it is published once the match has ended.
    Delayed {
        moves: u32,
    },
}

/// The public form of a record, and its private lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicRecord {
    /// A record of the same match, which verifies by itself.
    pub record: Vec<u8>,
    /// By seat: the lines that only its owner may see, as they are in the whole record. The public form has their SHA-256.
    pub private: Vec<Vec<u8>>,
}

/// Makes the public form of a record: without command lines and files of bots, standard error, processor times and free
/// texts of details, and without `info` unless it is public, of which the scores stay if adjudication needs them. The public form of a public record is itself, without private
/// lines.
///
/// # Errors
/// If it is not a sealed record, or was changed after it was sealed. It is not replayed.
pub fn public(record: &[u8], info: PublishedInfo) -> Result<PublicRecord, Difference> {
    let texts: Vec<&[u8]> =
        record.strip_suffix(b"\n").unwrap_or(record).split(|&byte| byte == b'\n').collect();
    let header = read_header(texts[0]).map_err(|error| Difference::at(1, error))?;
    let cut_off = |line| Difference::at(line, CUT_OFF);
    let (last, happened) = texts[1..].split_last().ok_or_else(|| cut_off(1))?;
    let seal = read_seal(last).map_err(|_| cut_off(texts.len()))?;
    if seal.sha256 != digest(&record[..record.len() - last.len() - 1]) {
        return Err(Difference::at(texts.len(), CHANGED));
    }
    let mut public = PublicRecord {
        record: Vec::with_capacity(record.len()),
        private: vec![Vec::new(); header.seats.len()],
    };
    let unreadable = |line| move |error: serde_json::Error| Difference::at(line, Wrong::from(error));
    public.header(texts[0], &header.r#match).map_err(unreadable(1))?;
    let with_scores = header.adjudication.needs_scores();
    let (mut outages, mut kept, mut rules_restarts) = (Vec::new(), Vec::new(), 0);
    // A record that is public already keeps what it says of its private lines.
    let mut known = vec![None; header.seats.len()];
    for (text, number) in happened.iter().zip(2..) {
        let line = RecordLine::read(text).map_err(|error| Difference::at(number, error))?;
        let RecordEntry::Bots(bots) = line.entry else {
            public.line(text, &line, info, with_scores).map_err(unreadable(number))?;
            continue;
        };
        rules_restarts = bots.rules_restarts;
        for bot in bots.bots {
            outages.push(bot.outages.clone());
            kept.push(bot.kept.clone());
            if bot.private.is_some() {
                if let Some(known) = known.get_mut(bot.seat.index()) {
                    *known = bot.private;
                }
                continue;
            }
            if let Some(private) = public.private.get_mut(bot.seat.index()) {
                add_bots(private, &[bot], 0);
            }
        }
    }
    let bots = public.private.iter().enumerate().map(|(at, private)| BotLine {
        seat: Seat(at as u8),
        cpu_ms: None,
        stderr: String::new(),
        stderr_dropped: 0,
        outages: outages.get(at).cloned().unwrap_or_default(),
        kept: kept.get(at).cloned().flatten(),
        private: Some(known.get(at).cloned().flatten().unwrap_or_else(|| digest(private))),
    });
    let bots: Vec<BotLine> = bots.collect();
    add_bots(&mut public.record, &bots, rules_restarts);
    for (private, known) in public.private.iter_mut().zip(&known) {
        if known.is_some() {
            private.clear();
        }
    }
    let seal = Seal { reveal: seal.reveal, sha256: digest(&public.record) };
    seal.write(&mut public.record);
    Ok(public)
}

/// The first line of private lines.
#[derive(Deserialize)]
struct PrivateHead {
    r#match: String,
    seat: Seat,
}

/// The prefix of private lines.
const PRIVATE: &str = r#"{"type":"private","#;

const NOT_PRIVATE: Wrong =
    Wrong::new(r#"private lines begin with one of type `private`: `{"type":"private",...`"#);

/// The match and the seat of private lines.
///
/// # Errors
/// If they do not begin as such lines do.
pub fn private_seat(private: &[u8]) -> Result<(String, Seat), Wrong> {
    let first = private.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let head = first.starts_with(PRIVATE.as_bytes()).then_some(first).ok_or(NOT_PRIVATE)?;
    let PrivateHead { r#match, seat } = serde_json::from_slice(head).map_err(|_| NOT_PRIVATE)?;
    Ok((r#match, seat))
}

/// The match of a public record and the SHA-256 of the private lines of each seat; `None` if it has none.
pub fn private_digests(record: &[u8]) -> Option<(String, Vec<String>)> {
    let mut lines = record.split(|&byte| byte == b'\n');
    let header = read_header(lines.next()?).ok()?;
    let mut last = record.trim_ascii_end().rsplit(|&byte| byte == b'\n').skip(1);
    let RecordEntry::Bots(bots) = RecordLine::read(last.next()?).ok()?.entry else { return None };
    let digests = bots.bots.into_iter().map(|bot| bot.private).collect::<Option<Vec<_>>>()?;
    Some((header.r#match, digests))
}

impl PublicRecord {
    fn push(&mut self, line: &[u8]) {
        self.record.extend_from_slice(line);
        self.record.push(b'\n');
    }

    /// Adds the first line; the descriptions of bots become the first private lines.
    fn header(&mut self, text: &[u8], match_id: &str) -> Result<(), serde_json::Error> {
        let mut described = Vec::new();
        let line = edit(text, |key, value| match key {
            "seats" => {
                let seats: Vec<&RawValue> = serde_json::from_str(value.get())?;
                let shown = seats.into_iter().map(|seat| {
                    let (seat, bot) = public_seat(seat)?;
                    described.push(bot);
                    Ok(seat)
                });
                let shown: Vec<String> = shown.collect::<Result<_, serde_json::Error>>()?;
                Ok(Edit::Replace(format!("[{}]", shown.join(","))))
            }
            _ => Ok(Edit::Keep),
        })?;
        self.push(line.as_bytes());
        for (seat, (private, bot)) in self.private.iter_mut().zip(described).enumerate() {
            let bot = bot.unwrap_or_else(|| "null".to_owned());
            let first =
                format!("{{\"type\":\"private\",\"match\":{match_id:?},\"seat\":{seat},\"bot\":{bot}}}\n");
            private.extend_from_slice(first.as_bytes());
        }
        Ok(())
    }

    /// Adds the public part of a line of the match. `with_scores`: the result rests on the scores of bots.
    fn line(
        &mut self,
        text: &[u8],
        line: &RecordLine<'_>,
        info: PublishedInfo,
        with_scores: bool,
    ) -> Result<(), serde_json::Error> {
        let shown: Cow<'_, [u8]> = match &line.entry {
            RecordEntry::Answer(answer) if answer.info.is_some() && info == PublishedInfo::Never => {
                let is_score = |key: &str| if SCORES.contains(&key) { Edit::Keep } else { Edit::Drop };
                let edited = edit(text, |key, value| match key {
                    "info" if with_scores => {
                        edit(value.get().as_bytes(), |key, _| Ok(is_score(key))).map(Edit::Replace)
                    }
                    "info" => Ok(Edit::Drop),
                    _ => Ok(Edit::Keep),
                });
                edited?.into_bytes().into()
            }
            RecordEntry::Fault(_) | RecordEntry::Abort { .. } | RecordEntry::Result => {
                without_texts(text)?.into_bytes().into()
            }
            _ => text.into(),
        };
        if let Some(private) = line.seat().and_then(|seat| self.private.get_mut(seat.index()))
            && shown != text
        {
            private.extend_from_slice(text);
            private.push(b'\n');
        }
        self.push(&shown);
        Ok(())
    }
}

/// A seat of the first line as the world may see it, and the whole description of its bot, if it has one.
fn public_seat(seat: &RawValue) -> Result<(String, Option<String>), serde_json::Error> {
    let mut described = None;
    let shown = edit(seat.get().as_bytes(), |key, value| {
        if key != "bot" {
            return Ok(Edit::Keep);
        }
        described = Some(value.get().to_owned());
        let is_open = |key: &str| if OPEN.contains(&key) { Edit::Keep } else { Edit::Drop };
        edit(value.get().as_bytes(), |key, _| Ok(is_open(key))).map(Edit::Replace)
    })?;
    Ok((shown, described))
}

/// A JSON object in which free texts of details are empty.
fn without_texts(object: &[u8]) -> Result<String, serde_json::Error> {
    edit(object, |key, value| match key {
        key if FREE_TEXTS.contains(&key) => Ok(Edit::Replace("\"\"".to_owned())),
        "detail" | "reason" | "received" | "fault" if value.get().starts_with('{') => {
            Ok(Edit::Replace(without_texts(value.get().as_bytes())?))
        }
        _ => Ok(Edit::Keep),
    })
}

enum Edit {
    Keep,
    Drop,
    Replace(String),
}

/// The fields of an object in their order.
struct Fields<'a>(Vec<(Text<'a>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ordered;

        impl<'de> Visitor<'de> for Ordered {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(Ordered)
    }
}

/// Changes fields of an object, in the same order.
fn edit(
    object: &[u8],
    mut change: impl FnMut(&str, &RawValue) -> Result<Edit, serde_json::Error>,
) -> Result<String, serde_json::Error> {
    let Fields(fields) = serde_json::from_slice(object)?;
    let mut kept = Vec::with_capacity(fields.len());
    for (key, value) in fields {
        let value = match change(&key, value)? {
            Edit::Keep => Cow::Borrowed(value.get()),
            Edit::Replace(value) => Cow::Owned(value),
            Edit::Drop => continue,
        };
        kept.push(format!("\"{key}\":{value}"));
    }
    Ok(format!("{{{}}}", kept.join(",")))
}
