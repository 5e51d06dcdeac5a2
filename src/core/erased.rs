//! The object-safe layer over [`Game`]: [`Rules`] and [`Table`].

use std::fmt::{self, Debug};
use std::marker::PhantomData;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::game::{Fact, Game, Meta, Misconfigured, Turn};
use crate::core::json::write_value;
use crate::core::notation::Notation;
use crate::core::openings::OpeningFile;
use crate::core::perft::{self, NotCountable};
use crate::core::scene::Scene;
use crate::core::seat::{MAX_SEATS, Seat, Seating, Viewer};

/// The rules of a game, type-erased.
pub trait Rules: Debug + Sync {
    /// The static description of the game.
    fn meta(&self) -> &'static Meta;

    /// The standard file format for collections of this game, if there is one.
    fn notation(&self) -> Option<&'static dyn Notation>;

    /// The formats of opening files; empty if the game has no openings.
    fn opening_files(&self) -> &'static [OpeningFile];

    /// The default options, complete.
    fn default_options(&self) -> Box<RawValue>;

    /// Creates the initial position. `options` is a JSON object; missing keys have their defaults.
    ///
    /// # Errors
    /// When an option is unknown or invalid, or the options contradict each other or the seating.
    fn open(&self, options: &RawValue, seating: Seating) -> Result<Box<dyn Table>, Misconfigured>;

    /// Counts the leaves at `depth` from the initial position, per first move.
    ///
    /// # Errors
    /// As [`Rules::open`], and when perft is not defined for the game.
    fn divide(&self, options: &RawValue, depth: u32) -> Result<Vec<(String, u64)>, Misconfigured>;

    /// Counts the leaves at `depth` from the initial position.
    ///
    /// # Errors
    /// As [`Rules::divide`].
    fn perft(&self, options: &RawValue, depth: u32) -> Result<u64, Misconfigured>;
}

/// Implements [`Rules`] for the game `G`.
#[derive(Debug)]
pub struct Of<G>(PhantomData<fn() -> G>);

impl<G: Game> Of<G> {
    /// The only value.
    pub const RULES: Of<G> = Of(PhantomData);

    fn start(options: &RawValue, seating: Seating) -> Result<(G, G::Options), Misconfigured> {
        if !options.get().starts_with('{') {
            return Err(Misconfigured(format!("options of {}: expected a JSON object", G::META.id)));
        }
        let options = G::Options::deserialize(&mut serde_json::Deserializer::from_str(options.get()))
            .map_err(|error| {
                Misconfigured(format!("options of {}: {}", G::META.id, without_place(&error)))
            })?;
        Ok((G::start(&options, seating)?, options))
    }

    /// Creates a table with this position.
    #[cfg(test)]
    pub(crate) fn at(position: G) -> Box<dyn Table> {
        Box::new(Seated::new(position, raw(&G::Options::default())))
    }
}

/// Strips "at line 1 column 8" from the error: options come from the command line or a field, where a position
/// misleads.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value)
        .unwrap_or_else(|error| unreachable!("options have string keys and no hand-made JSON: {error}"))
}

impl From<NotCountable> for Misconfigured {
    fn from(error: NotCountable) -> Self {
        Misconfigured(error.to_string())
    }
}

impl<G: Game> Rules for Of<G> {
    fn meta(&self) -> &'static Meta {
        const { &G::META }
    }

    fn notation(&self) -> Option<&'static dyn Notation> {
        G::NOTATION
    }

    fn opening_files(&self) -> &'static [OpeningFile] {
        if G::META.openings.is_some() { G::OPENING_FILES } else { &[] }
    }

    fn default_options(&self) -> Box<RawValue> {
        raw(&G::Options::default())
    }

    fn open(&self, options: &RawValue, seating: Seating) -> Result<Box<dyn Table>, Misconfigured> {
        let (position, options) = Self::start(options, seating)?;
        Ok(Box::new(Seated::new(position, raw(&options))))
    }

    fn divide(&self, options: &RawValue, depth: u32) -> Result<Vec<(String, u64)>, Misconfigured> {
        let (position, _) = Self::start(options, G::META.seatings[0])?;
        Ok(perft::divide(&position, depth)?
            .into_iter()
            .map(|(mv, leaves)| (mv.to_string(), leaves))
            .collect())
    }

    fn perft(&self, options: &RawValue, depth: u32) -> Result<u64, Misconfigured> {
        let (position, _) = Self::start(options, G::META.seatings[0])?;
        Ok(perft::perft(&position, depth)?)
    }
}

/// Why a move text was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveError {
    /// It matches no legal move.
    Illegal,
    /// It is a short form of all of these.
    Ambiguous(Vec<String>),
}

/// A game in progress, type-erased.
pub trait Table: Debug + Send {
    /// The static description of the game.
    fn meta(&self) -> &'static Meta;

    /// The options, with defaults filled in.
    fn options(&self) -> &RawValue;

    /// What has to happen next.
    fn turn(&self) -> Turn;

    /// Turns until the turn limit, including this one; `None` without a limit.
    fn turns_left(&self) -> Option<u32>;

    /// Generates the legal moves of a seat that has to decide now. They stay valid until the next call for this seat.
    fn prepare(&mut self, seat: Seat);

    /// The number of prepared moves.
    fn count(&self, seat: Seat) -> usize;

    /// Writes the prepared moves as a JSON array, sorted bytewise.
    fn write_legal(&self, seat: Seat, out: &mut Vec<u8>);

    /// Finds the prepared move that a text denotes.
    ///
    /// # Errors
    /// [`MoveError`]
    fn find(&self, seat: Seat, text: &str) -> Result<usize, MoveError>;

    /// The text of a prepared move.
    fn text(&self, seat: Seat, index: usize) -> &str;

    /// Plays a prepared move.
    fn play(&mut self, seat: Seat, index: usize);

    /// Plays a prepared move as part of the opening: its event is marked `"opening":true`.
    fn play_opening(&mut self, seat: Seat, index: usize);

    /// Applies the numbers drawn.
    fn settle(&mut self, drawn: &[u16]);

    /// Copies the position to a new table, without prepared moves and without events.
    fn fork(&self) -> Box<dyn Table>;

    /// The number of events since the last [`Table::forget`].
    fn told(&self) -> usize;

    /// Writes one of these events as a viewer may see it.
    fn write_event(&self, index: usize, viewer: Viewer, out: &mut Vec<u8>);

    /// Discards the events.
    fn forget(&mut self);

    /// Writes the position as a viewer may see it.
    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>);

    /// Writes the position as plain text for people.
    ///
    /// # Errors
    /// Only errors of the formatter.
    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Returns the position as shapes for pictures and replays, as a viewer may see it.
    fn scene(&self, viewer: Viewer) -> Scene;
}

/// Displays a position as text for people.
#[derive(Debug)]
pub struct BoardText<'a>(pub &'a dyn Table, pub Viewer);

impl fmt::Display for BoardText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.draw_board(self.1, f)
    }
}

/// The legal moves of a seat, sorted by their texts. The texts are stored in one buffer.
#[derive(Debug)]
struct Prepared<M> {
    moves: Vec<(Span, M)>,
    texts: String,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    /// The first eight bytes; they decide nearly every comparison.
    head: u64,
    start: u32,
    end: u32,
}

/// Returns the first eight bytes of a text as a number with the same order, padded with zeros.
fn head(text: &[u8]) -> u64 {
    let mut head = [0; 8];
    let len = text.len().min(8);
    head[..len].copy_from_slice(&text[..len]);
    u64::from_be_bytes(head)
}

impl Span {
    fn of(texts: &str, start: usize) -> Span {
        Span { head: head(&texts.as_bytes()[start..]), start: start as u32, end: texts.len() as u32 }
    }

    fn text(self, texts: &str) -> &str {
        &texts[self.start as usize..self.end as usize]
    }
}

impl<M> Prepared<M> {
    fn text(&self, index: usize) -> &str {
        self.moves[index].0.text(&self.texts)
    }
}

#[derive(Debug)]
enum Told<F> {
    Move { seat: Seat, index: usize, secret: bool, opening: bool },
    Fact(F),
}

#[derive(Debug)]
struct Seated<G: Game> {
    position: G,
    options: Box<RawValue>,
    scratch: Vec<G::Move>,
    prepared: [Prepared<G::Move>; MAX_SEATS],
    told: Vec<Told<G::Fact>>,
}

impl<G: Game> Seated<G> {
    fn new(position: G, options: Box<RawValue>) -> Self {
        Seated {
            position,
            options,
            scratch: Vec::new(),
            prepared: std::array::from_fn(|_| Prepared { moves: Vec::new(), texts: String::new() }),
            told: Vec::new(),
        }
    }

    fn make(&mut self, seat: Seat, index: usize, opening: bool) {
        let mv = self.prepared[seat.index()].moves[index].1;
        self.told.push(Told::Move { seat, index, secret: self.position.is_secret(seat, mv), opening });
        let told = &mut self.told;
        self.position.play(seat, mv, &mut |fact| told.push(Told::Fact(fact)));
    }
}

impl<G: Game> Table for Seated<G> {
    fn meta(&self) -> &'static Meta {
        const { &G::META }
    }

    fn options(&self) -> &RawValue {
        &self.options
    }

    fn turn(&self) -> Turn {
        self.position.turn()
    }

    fn turns_left(&self) -> Option<u32> {
        self.position.turns_left()
    }

    fn prepare(&mut self, seat: Seat) {
        self.scratch.clear();
        self.position.legal_moves(seat, &mut self.scratch);
        let Prepared { moves, texts } = &mut self.prepared[seat.index()];
        moves.clear();
        texts.clear();
        for &mv in &self.scratch {
            let start = texts.len();
            G::write_move(mv, texts);
            moves.push((Span::of(texts, start), mv));
        }
        let text = |span: &Span| span.text(texts);
        moves.sort_unstable_by(|(a, _), (b, _)| a.head.cmp(&b.head).then_with(|| text(a).cmp(text(b))));
    }

    fn count(&self, seat: Seat) -> usize {
        self.prepared[seat.index()].moves.len()
    }

    fn write_legal(&self, seat: Seat, out: &mut Vec<u8>) {
        let prepared = &self.prepared[seat.index()];
        out.push(b'[');
        for (i, (span, _)) in prepared.moves.iter().enumerate() {
            out.extend_from_slice(if i == 0 { b"\"" } else { b",\"" });
            out.extend_from_slice(span.text(&prepared.texts).as_bytes());
            out.push(b'"');
        }
        out.push(b']');
    }

    fn find(&self, seat: Seat, text: &str) -> Result<usize, MoveError> {
        let prepared = &self.prepared[seat.index()];
        let head = head(text.as_bytes());
        let found = prepared.moves.binary_search_by(|(span, _)| {
            span.head.cmp(&head).then_with(|| span.text(&prepared.texts).cmp(text))
        });
        if let Ok(index) = found {
            return Ok(index);
        }
        let mut candidates =
            (0..prepared.moves.len()).filter(|&index| G::is_short_form(text, prepared.moves[index].1));
        match (candidates.next(), candidates.next()) {
            (None, _) => Err(MoveError::Illegal),
            (Some(index), None) => Ok(index),
            (Some(first), Some(second)) => {
                let all = [first, second].into_iter().chain(candidates);
                Err(MoveError::Ambiguous(all.map(|index| self.text(seat, index).to_owned()).collect()))
            }
        }
    }

    fn text(&self, seat: Seat, index: usize) -> &str {
        self.prepared[seat.index()].text(index)
    }

    fn play(&mut self, seat: Seat, index: usize) {
        self.make(seat, index, false);
    }

    fn play_opening(&mut self, seat: Seat, index: usize) {
        self.make(seat, index, true);
    }

    fn settle(&mut self, drawn: &[u16]) {
        let told = &mut self.told;
        self.position.settle(drawn, &mut |fact| told.push(Told::Fact(fact)));
    }

    fn fork(&self) -> Box<dyn Table> {
        Box::new(Seated::new(self.position.clone(), self.options.clone()))
    }

    fn told(&self) -> usize {
        self.told.len()
    }

    fn write_event(&self, index: usize, viewer: Viewer, out: &mut Vec<u8>) {
        match &self.told[index] {
            Told::Fact(fact) => write_value(out, &fact.as_seen_by(viewer)),
            &Told::Move { seat, index, secret, opening } => {
                out.extend_from_slice(b"{\"kind\":\"move\",\"seat\":");
                out.push(b'0' + seat.0);
                if secret && !viewer.shares(seat) {
                    out.extend_from_slice(b",\"move\":null");
                } else {
                    out.extend_from_slice(b",\"move\":\"");
                    out.extend_from_slice(self.text(seat, index).as_bytes());
                    out.push(b'"');
                }
                out.extend_from_slice(if opening { b",\"opening\":true}" } else { b"}" });
            }
        }
    }

    fn forget(&mut self) {
        self.told.clear();
    }

    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        self.position.write_view(viewer, out);
    }

    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.position.draw_board(viewer, f)
    }

    fn scene(&self, viewer: Viewer) -> Scene {
        self.position.scene(viewer)
    }
}
