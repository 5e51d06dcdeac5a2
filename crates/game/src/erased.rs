//! The object-safe layer over [`Game`]: [`Rules`], [`Table`] and [`OpenDecision`].

use std::fmt::{self, Debug};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::value::RawValue;

use crate::chance::{Draw, Uniform};
use crate::game::{DrawOf, Fact, Game, Known, Meta, Misconfigured, Turn};
use crate::json::write_value;
use crate::notation::Notation;
use crate::openings::OpeningFile;
use crate::outcome::Outcome;
use crate::perft::{self, NotCountable};
use crate::playout::{playout, playout_table};
use crate::scene::Scene;
use crate::scenes::Scenes;
use crate::seat::{MAX_SEATS, Seat, SeatSet, Seating, Viewer};

/// The rules of a game failed, which only those of a program outside this one do. Names what happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rules failed: {0}")]
pub struct RulesFailed(pub Box<str>);

/// Why a game cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOpened {
    /// The options, the seating or the view are invalid.
    #[error(transparent)]
    Misconfigured(#[from] Misconfigured),
    /// The rules failed.
    #[error(transparent)]
    RulesFailed(#[from] RulesFailed),
}

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

    /// The JSON Schema of views, events, moves and options: one document with a definition for each.
    #[cfg(feature = "schema")]
    fn schema(&self) -> serde_json::Value;

    /// Creates the initial position. `options` is a JSON object; missing keys have their defaults.
    ///
    /// # Errors
    /// When an option is unknown or invalid, or the options contradict each other or the seating; when the rules fail.
    fn open(&self, options: &RawValue, seating: Seating) -> Result<Box<dyn Table>, NotOpened>;

    /// The program that the rules are, as a record describes it; `None` if they are part of this program.
    fn program(&self) -> Option<&RawValue> {
        None
    }

    /// Whether the calls of a table wait for another process. A thread that waits cannot read what bots send.
    fn waits(&self) -> bool {
        false
    }

    /// Samples positions that are consistent with what a seat knows: `count` of them, or one if the game has no hidden
    /// information. `None` if the game does not implement [`Imagine`](crate::Imagine).
    ///
    /// # Errors
    /// When the options or the view cannot be read, or the view contradicts itself; when the rules fail.
    fn imagine(
        &self,
        knowledge: &Knowledge<'_>,
        count: usize,
        rng: &mut dyn Uniform,
    ) -> Result<Option<Vec<Box<dyn Table>>>, NotOpened>;

    /// Counts the leaves at `depth` from the initial position, per first move.
    ///
    /// # Errors
    /// As [`Rules::open`], and when perft is not defined for the game.
    fn divide(&self, options: &RawValue, depth: u32) -> Result<Vec<(String, u64)>, NotOpened> {
        perft::divide_table(&*self.open(options, self.meta().seatings[0])?, depth)
    }

    /// Counts the leaves at `depth` from the initial position.
    ///
    /// # Errors
    /// As [`Rules::divide`].
    fn perft(&self, options: &RawValue, depth: u32) -> Result<u64, NotOpened> {
        perft::perft_table(&*self.open(options, self.meta().seatings[0])?, depth)
    }
}

/// What a seat knows about a position.
#[derive(Clone, Copy, Debug)]
pub struct Knowledge<'a> {
    /// The options of the match, a JSON object.
    pub options: &'a RawValue,
    /// The seating.
    pub seating: Seating,
    /// The seat.
    pub seat: Seat,
    /// Its view.
    pub view: &'a RawValue,
    /// `turns_left` of the request.
    pub turns_left: Option<u32>,
}

/// The first field of a view that differs from that of the position created from it, with its value there.
fn differing<G: Game>(given: &RawValue, position: &G, seat: Seat) -> Option<(String, serde_json::Value)> {
    let mut view = Vec::new();
    position.write_view(Viewer::Seat(seat), &mut view);
    if view == given.get().as_bytes() {
        return None;
    }
    // It may still be the same in another form.
    let given: serde_json::Value = serde_json::from_str(given.get()).ok()?;
    let serde_json::Value::Object(fields) = serde_json::from_slice(&view).ok()? else { return None };
    fields.into_iter().find(|(name, value)| given[name.as_str()] != *value)
}

/// Implements [`Rules`] for the game `G`.
#[derive(Debug)]
pub struct Of<G>(PhantomData<fn() -> G>);

impl<G: Game> Of<G> {
    /// The only value.
    pub const RULES: Of<G> = Of(PhantomData);

    fn options(options: &RawValue) -> Result<G::Options, Misconfigured> {
        if !options.get().starts_with('{') {
            return Err(Misconfigured(format!("options of {}: expected a JSON object", G::META.id)));
        }
        serde_json::from_str(options.get())
            .map_err(|error| Misconfigured(format!("options of {}: {}", G::META.id, without_place(&error))))
    }

    fn start(options: &RawValue, seating: Seating) -> Result<(G, G::Options), Misconfigured> {
        let options = Self::options(options)?;
        Ok((G::start(&options, seating)?, options))
    }

    /// Creates a table with this position and the default options.
    pub fn at(position: G) -> Box<dyn Table> {
        Box::new(SeatedTable::new(position, raw(&G::Options::default())))
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

impl From<NotCountable> for NotOpened {
    fn from(error: NotCountable) -> Self {
        Misconfigured(error.to_string()).into()
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

    #[cfg(feature = "schema")]
    fn schema(&self) -> serde_json::Value {
        crate::schema::document::<G>()
    }

    fn open(&self, options: &RawValue, seating: Seating) -> Result<Box<dyn Table>, NotOpened> {
        let (position, options) = Self::start(options, seating)?;
        Ok(Box::new(SeatedTable::new(position, raw(&options))))
    }

    fn imagine(
        &self,
        knowledge: &Knowledge<'_>,
        count: usize,
        rng: &mut dyn Uniform,
    ) -> Result<Option<Vec<Box<dyn Table>>>, NotOpened> {
        let Some(imagination) = G::IMAGINATION else { return Ok(None) };
        let &Knowledge { options, seating, seat, view, turns_left } = knowledge;
        let options = Self::options(options)?;
        let known = Known { options: &options, seating, seat, turns_left };
        let wrong = |what: &dyn fmt::Display| Misconfigured(format!("view of {}: {what}", G::META.id));
        let count = if G::META.hidden { count } else { 1 };
        let positions =
            imagination.positions(&known, view.get(), count, rng).map_err(|error| wrong(&error))?;
        if let Some(position) = positions.first()
            && let Some((field, expected)) = differing(view, position, seat)
        {
            return Err(wrong(&format_args!("`{field}` contradicts the rest, which gives {expected}")).into());
        }
        let mut moves = Vec::new();
        for position in &positions {
            let decides = |seat| {
                moves.clear();
                position.legal_moves(seat, &mut moves);
                !moves.is_empty()
            };
            match position.turn() {
                Turn::Decide(seats) if seats.iter().all(decides) => {}
                Turn::Decide(_) => return Err(wrong(&"the seat to move has no legal move").into()),
                Turn::Draw(_) => return Err(wrong(&"no seat is to move, yet the game is not over").into()),
                Turn::Over(_) => {}
            }
        }
        let options = raw(&options);
        let seated = |position| Box::new(SeatedTable::new(position, options.clone())) as Box<dyn Table>;
        Ok(Some(positions.into_iter().map(seated).collect()))
    }

    fn divide(&self, options: &RawValue, depth: u32) -> Result<Vec<(String, u64)>, NotOpened> {
        let (position, _) = Self::start(options, G::META.seatings[0])?;
        Ok(perft::divide(&position, depth)?
            .into_iter()
            .map(|(mv, leaves)| (mv.to_string(), leaves))
            .collect())
    }

    fn perft(&self, options: &RawValue, depth: u32) -> Result<u64, NotOpened> {
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

/// An open decision: the legal moves of the seats that decide in one position of one [`Table`].
///
/// Only [`Table::ask`] creates it, and [`Table::play`] consumes it:
///
/// ```
/// use referee_game::Seat;
///
/// let rules = referee_games::catalog().find("checkers")?;
/// let mut table = rules.open(&rules.default_options(), rules.meta().seatings[0])?;
/// let decision = table.ask().decide().expect("a seat decides");
/// assert_eq!(table.count(&decision, Seat(0)), 7);
/// let choice = table.find(&decision, Seat(0), "11-15").expect("a legal move");
/// table.play(decision, &[choice])?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail
/// # use referee_game::Seat;
/// # let rules = referee_games::catalog().find("checkers").unwrap();
/// # let mut table = rules.open(&rules.default_options(), rules.meta().seatings[0]).unwrap();
/// let decision = table.ask().decide().expect("a seat decides");
/// table.play(decision, &[0]).unwrap();
/// table.play(decision, &[0]).unwrap(); // It is consumed.
/// ```
#[derive(Debug)]
pub struct OpenDecision {
    seats: SeatSet,
    position: PositionId,
}

impl OpenDecision {
    /// An open decision of these seats. Only implementations of [`Table`] call it, in [`Table::ask`].
    pub const fn new(seats: SeatSet, position: PositionId) -> OpenDecision {
        OpenDecision { seats, position }
    }

    /// The seats that decide.
    pub const fn seats(&self) -> SeatSet {
        self.seats
    }

    /// Checks that it belongs to a position.
    ///
    /// # Panics
    /// If it belongs to another one.
    pub fn check(&self, position: PositionId) {
        assert_eq!(self.position, position, "the decision belongs to another position");
    }

    /// The rank of a seat among those that decide.
    ///
    /// # Panics
    /// If the seat does not decide.
    pub fn rank(&self, seat: Seat) -> usize {
        assert!(self.seats.contains(seat), "seat {seat} does not decide");
        self.seats.rank(seat)
    }
}

/// Identifies a position among those of all tables of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionId {
    table: u64,
    /// The number of decisions and draws before it on this table.
    number: u64,
}

impl PositionId {
    /// The first position of a new table.
    pub fn first() -> PositionId {
        static TABLES: AtomicU64 = AtomicU64::new(0);
        PositionId { table: TABLES.fetch_add(1, Ordering::Relaxed), number: 0 }
    }

    /// The number of decisions and draws before it on its table.
    pub const fn number(self) -> u64 {
        self.number
    }

    /// Goes on to the next position.
    pub const fn advance(&mut self) {
        self.number += 1;
    }
}

/// A game in progress, type-erased.
///
/// # Panics
/// The methods that take a [`OpenDecision`] panic if it belongs to another position or another table, if the seat does not
/// decide in it, or if the index is not that of a legal move.
pub trait Table: Debug + Send {
    /// The static description of the game.
    fn meta(&self) -> &'static Meta;

    /// The options, with defaults filled in.
    fn options(&self) -> &RawValue;

    /// What has to happen next.
    fn turn(&self) -> Turn;

    /// Turns until the turn limit, including this one; `None` without a limit.
    fn turns_left(&self) -> Option<u32>;

    /// What has to happen next. If seats decide, generates their legal moves.
    fn ask(&mut self) -> Turn<Draw, OpenDecision>;

    /// The number of legal moves of a seat.
    fn count(&self, decision: &OpenDecision, seat: Seat) -> usize;

    /// Writes the legal moves of a seat as a JSON array, sorted bytewise.
    fn write_legal(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>);

    /// Finds the legal move that a text denotes, as an index in the sorted list.
    ///
    /// # Errors
    /// [`MoveError`]
    fn find(&self, decision: &OpenDecision, seat: Seat, text: &str) -> Result<usize, MoveError>;

    /// The text of a legal move.
    fn text(&self, decision: &OpenDecision, seat: Seat, index: usize) -> &str;

    /// Plays a legal move of each seat that decides, in seat order.
    ///
    /// # Errors
    /// When the rules fail. The position is then unchanged, and has no open decision.
    fn play(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed>;

    /// Plays moves as part of the opening: their events are marked `"opening":true`.
    ///
    /// # Errors
    /// As [`Table::play`].
    fn play_opening(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed>;

    /// Applies the numbers drawn, if [`Table::turn`] is a draw.
    ///
    /// # Errors
    /// When the rules fail. The position is then unchanged.
    fn settle(&mut self, drawn: &[u16]) -> Result<(), RulesFailed>;

    /// Copies the position to a new table, without events.
    fn fork(&self) -> Box<dyn Table>;

    /// Plays random moves in a copy until the game is over: see [`playout`]. By default, no move is avoided.
    ///
    /// # Errors
    /// When the rules fail.
    fn playout(&self, seating: Seating, rng: &mut dyn Uniform) -> Result<Option<Outcome>, RulesFailed> {
        let _ = seating;
        playout_table(self.fork(), rng)
    }

    /// The number of events since the last [`Table::forget`].
    fn event_count(&self) -> usize;

    /// The seat and the text of one of these events, and whether it belongs to the opening, if it is a move that all
    /// viewers may see.
    fn open_move(&self, index: usize) -> Option<(Seat, &str, bool)>;

    /// Writes one of these events as a viewer may see it.
    fn write_event(&self, index: usize, viewer: Viewer, out: &mut Vec<u8>);

    /// Discards the events.
    fn forget(&mut self);

    /// Writes the position as a seat that decides may see it.
    fn write_view(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>);

    /// Returns the position as a viewer may see it, as JSON.
    ///
    /// # Errors
    /// When the rules fail.
    fn view(&self, viewer: Viewer) -> Result<Vec<u8>, RulesFailed>;

    /// Writes the position as plain text for people. If the rules fail, the text says so.
    ///
    /// # Errors
    /// Only errors of the formatter.
    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Returns the position as shapes for pictures and replays, as a viewer may see it. If the rules fail, the scene says
    /// so.
    fn scene(&self, viewer: Viewer) -> Scene;

    /// Returns the scenes of these viewers, at least one and at most 31.
    fn scenes(&self, viewers: &[Viewer]) -> Scenes {
        Scenes::merged(viewers.iter().map(|&viewer| self.scene(viewer)))
    }
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
    // A loop is faster than a copy of variable length.
    let bytes = text.iter().map(|&byte| u64::from(byte)).take(8);
    bytes.zip((0..8).rev()).fold(0, |head, (byte, place)| head | byte << (8 * place))
}

impl Span {
    fn of(texts: &str, start: usize) -> Span {
        Span { head: head(&texts.as_bytes()[start..]), start: start as u32, end: texts.len() as u32 }
    }

    fn text(self, texts: &str) -> &str {
        &texts[self.start as usize..self.end as usize]
    }

    /// Appends the text.
    fn write(self, texts: &str, out: &mut Vec<u8>) {
        let end = out.len() + (self.end - self.start) as usize;
        if self.end - self.start <= 8 {
            // A copy of constant length is faster.
            out.extend_from_slice(&self.head.to_be_bytes());
            out.truncate(end);
        } else {
            out.extend_from_slice(self.text(texts).as_bytes());
        }
    }
}

impl<M> Prepared<M> {
    fn text(&self, index: usize) -> &str {
        self.moves[index].0.text(&self.texts)
    }
}

#[derive(Debug)]
enum LoggedEvent<F> {
    /// A move, with the extent of its text.
    Move {
        seat: Seat,
        text: (usize, usize),
        secret: bool,
        opening: bool,
    },
    Fact(F),
}

#[derive(Debug)]
struct SeatedTable<G: Game> {
    position: G,
    id: PositionId,
    options: Box<RawValue>,
    scratch: Vec<G::Move>,
    /// The legal moves of the seats that were asked last, in order.
    prepared: [Prepared<G::Move>; MAX_SEATS],
    events: Vec<LoggedEvent<G::Fact>>,
    /// The texts of the moves in `events`.
    told_texts: String,
}

impl<G: Game> SeatedTable<G> {
    fn new(position: G, options: Box<RawValue>) -> Self {
        SeatedTable {
            position,
            id: PositionId::first(),
            options,
            scratch: Vec::new(),
            prepared: std::array::from_fn(|_| Prepared { moves: Vec::new(), texts: String::new() }),
            events: Vec::new(),
            told_texts: String::new(),
        }
    }

    /// The legal moves of a seat in an open decision.
    fn legal(&self, decision: &OpenDecision, seat: Seat) -> &Prepared<G::Move> {
        decision.check(self.id);
        &self.prepared[decision.rank(seat)]
    }

    /// Generates the legal moves of the seat with this rank among those that decide.
    fn prepare(&mut self, rank: usize, seat: Seat) {
        self.scratch.clear();
        self.position.legal_moves(seat, &mut self.scratch);
        let Prepared { moves, texts } = &mut self.prepared[rank];
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

    fn make(&mut self, decision: &OpenDecision, indices: &[usize], opening: bool) {
        decision.check(self.id);
        assert_eq!(indices.len(), decision.seats.len(), "one move of each seat that decides");
        for ((seat, &index), prepared) in decision.seats.iter().zip(indices).zip(&self.prepared) {
            let mv = prepared.moves[index].1;
            let start = self.told_texts.len();
            self.told_texts.push_str(prepared.text(index));
            let text = (start, self.told_texts.len());
            self.events.push(LoggedEvent::Move {
                seat,
                text,
                secret: self.position.is_secret(seat, mv),
                opening,
            });
            let events = &mut self.events;
            self.position.play_unchecked(seat, mv, &mut |fact| events.push(LoggedEvent::Fact(fact)));
        }
        self.id.advance();
    }
}

/// Writes the event of a move; without its text if the viewer may not see it. The text needs no escapes.
pub fn write_move_event(out: &mut Vec<u8>, seat: Seat, text: Option<&str>, is_opening: bool) {
    out.extend_from_slice(b"{\"kind\":\"move\",\"seat\":");
    out.push(b'0' + seat.0);
    match text {
        None => out.extend_from_slice(b",\"move\":null"),
        Some(text) => {
            out.extend_from_slice(b",\"move\":\"");
            out.extend_from_slice(text.as_bytes());
            out.push(b'"');
        }
    }
    out.extend_from_slice(if is_opening { b",\"opening\":true}" } else { b"}" });
}

impl<G: Game> Table for SeatedTable<G> {
    fn meta(&self) -> &'static Meta {
        const { &G::META }
    }

    fn options(&self) -> &RawValue {
        &self.options
    }

    fn turn(&self) -> Turn {
        self.position.turn().erased()
    }

    fn turns_left(&self) -> Option<u32> {
        self.position.turns_left()
    }

    fn ask(&mut self) -> Turn<Draw, OpenDecision> {
        match self.position.turn() {
            Turn::Decide(seats) => {
                seats.iter().enumerate().for_each(|(rank, seat)| self.prepare(rank, seat));
                Turn::Decide(OpenDecision::new(seats, self.id))
            }
            Turn::Draw(draw) => Turn::Draw(draw.into()),
            Turn::Over(outcome) => Turn::Over(outcome),
        }
    }

    fn count(&self, decision: &OpenDecision, seat: Seat) -> usize {
        self.legal(decision, seat).moves.len()
    }

    fn write_legal(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>) {
        let prepared = self.legal(decision, seat);
        out.push(b'[');
        for (i, (span, _)) in prepared.moves.iter().enumerate() {
            out.extend_from_slice(if i == 0 { b"\"" } else { b",\"" });
            span.write(&prepared.texts, out);
            out.push(b'"');
        }
        out.push(b']');
    }

    fn find(&self, decision: &OpenDecision, seat: Seat, text: &str) -> Result<usize, MoveError> {
        let prepared = self.legal(decision, seat);
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
                Err(MoveError::Ambiguous(all.map(|index| prepared.text(index).to_owned()).collect()))
            }
        }
    }

    fn text(&self, decision: &OpenDecision, seat: Seat, index: usize) -> &str {
        self.legal(decision, seat).text(index)
    }

    fn play(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed> {
        self.make(&decision, indices, false);
        Ok(())
    }

    fn play_opening(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed> {
        self.make(&decision, indices, true);
        Ok(())
    }

    fn settle(&mut self, drawn: &[u16]) -> Result<(), RulesFailed> {
        if let Turn::Draw(draw) = self.position.turn() {
            let events = &mut self.events;
            draw.settle(&mut self.position, drawn, &mut |fact| events.push(LoggedEvent::Fact(fact)));
            self.id.advance();
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Table> {
        Box::new(SeatedTable::new(self.position.clone(), self.options.clone()))
    }

    fn playout(&self, seating: Seating, mut rng: &mut dyn Uniform) -> Result<Option<Outcome>, RulesFailed> {
        Ok(playout(self.position.clone(), seating, &mut rng))
    }

    fn event_count(&self) -> usize {
        self.events.len()
    }

    fn open_move(&self, index: usize) -> Option<(Seat, &str, bool)> {
        match self.events[index] {
            LoggedEvent::Move { seat, text: (start, end), secret: false, opening } => {
                Some((seat, &self.told_texts[start..end], opening))
            }
            LoggedEvent::Move { .. } | LoggedEvent::Fact(_) => None,
        }
    }

    fn write_event(&self, index: usize, viewer: Viewer, out: &mut Vec<u8>) {
        match &self.events[index] {
            LoggedEvent::Fact(fact) => write_value(out, &fact.as_seen_by(viewer)),
            &LoggedEvent::Move { seat, text: (start, end), secret, opening } => {
                let is_visible = !secret || viewer.shares(seat);
                write_move_event(out, seat, is_visible.then(|| &self.told_texts[start..end]), opening);
            }
        }
    }

    fn forget(&mut self) {
        self.events.clear();
        self.told_texts.clear();
    }

    fn write_view(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>) {
        decision.check(self.id);
        self.position.write_view(Viewer::Seat(seat), out);
    }

    fn view(&self, viewer: Viewer) -> Result<Vec<u8>, RulesFailed> {
        let mut view = Vec::new();
        self.position.write_view(viewer, &mut view);
        Ok(view)
    }

    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.position.draw_board(viewer, f)
    }

    fn scene(&self, viewer: Viewer) -> Scene {
        self.position.scene(viewer)
    }

    fn scenes(&self, viewers: &[Viewer]) -> Scenes {
        self.position.scenes(viewers)
    }
}
