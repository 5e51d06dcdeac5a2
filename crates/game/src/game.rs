//! The [`Game`] trait: the rules of a game as the referee uses them.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "schema")]
use crate::Schemas;
use crate::Wrong;
use crate::chance::{Draw, Uniform};
use crate::disguise::Vocabulary;
use crate::endgames::OpenEndgames;
use crate::json;
use crate::notation::Notation;
use crate::openings::{LINES, OpeningFile};
use crate::outcome::{AmountRange, Outcome};
use crate::scene::Scene;
use crate::seat::{Seat, SeatSet, Seating, Viewer};

/// Static description of a game.
#[derive(Debug)]
pub struct Meta {
    /// The id in messages, records and on the command line.
    pub id: &'static str,
    pub title: &'static str,
    /// The version of the rules. It changes when the same moves could lead to a different position.
    pub rules_version: u32,
    /// The supported numbers of seats and sides. The first is the default.
    pub seatings: &'static [Seating],
    /// Whether the game has hidden information.
    pub hidden: bool,
    /// Whether the game has chance: dice, shuffles.
    pub chance: bool,
    /// Whether several seats may have to decide simultaneously.
    pub simultaneous: bool,
    /// Whether the sides may agree on a draw.
    pub draws_by_agreement: bool,
    /// Whether every decision lists its legal moves. If not, the referee can check a move, but choose none.
    pub lists_moves: bool,
    /// The default number of random opening plies when two bots are compared; `None` if matches cannot begin with an
    /// opening. Only games without hidden information, chance and simultaneous decisions have openings.
    pub openings: Option<u32>,
    /// The unit of the amounts that sides get, such as `chips`; `None` if results are ranks alone.
    pub amounts: Option<&'static str>,
    /// The options, in the order of the rules page.
    pub options: &'static [OptionMeta],
    /// The reasons that end a match by the rules, for readers. A missing reason is shown by its code.
    pub reasons: &'static [ReasonMeta],
    /// The rules page, in Markdown.
    pub rules: &'static str,
}

/// The sections of a rules page that players can do without: they speak of files, settings and programs, or of details.
const NOT_FOR_PLAYERS: [&str; 10] = [
    "Rulings",
    "Events",
    "Chance",
    "Options",
    "Example",
    "Openings",
    "On a terminal",
    "Known values",
    "PDN files",
    "PGN files",
];

impl Meta {
    /// The rules page for players: blocks of code, and sections on files, options, rulings and programs.
    pub fn short_rules(&self) -> String {
        let (mut short, mut is_kept, mut is_code) = (String::new(), true, false);
        for line in self.rules.lines() {
            if line.starts_with("```") {
                is_code = !is_code;
            } else if !is_code {
                if let Some(title) = line.strip_prefix("## ") {
                    is_kept = !NOT_FOR_PLAYERS.contains(&title.trim());
                }
                if is_kept && !(line.is_empty() && short.ends_with("\n\n")) {
                    short.push_str(line);
                    short.push('\n');
                }
            }
        }
        short.truncate(short.trim_end().len());
        short.push('\n');
        short
    }

    /// The seating with this number of seats; the default if `None`.
    ///
    /// # Errors
    /// When the game does not support this number of seats.
    pub fn seating(&self, seats: Option<impl Into<u64>>) -> Result<Seating, Wrong> {
        let seats = seats.map(Into::into);
        let fits = |seating: &&Seating| seats.is_none_or(|seats| seating.seats() as u64 == seats);
        self.seatings.iter().find(fits).copied().ok_or_else(|| {
            let counts: Vec<String> =
                self.seatings.iter().map(|seating| seating.seats().to_string()).collect();
            let (id, counts, seats) = (self.id, counts.join(" or "), seats.unwrap_or_default());
            Wrong::from(format!("{id} is played with {counts} seats, not {seats}"))
        })
    }

    /// The description of a reason, if there is one.
    pub fn reason(&self, code: &str) -> Option<&'static ReasonMeta> {
        self.reasons.iter().find(|reason| reason.code == code)
    }

    /// A reason in a few words, those of its code if it has no description.
    pub fn reason_in_words(&self, code: &str) -> String {
        self.reason(code).map_or_else(|| code.replace('_', " "), |reason| reason.words.to_owned())
    }
}

/// Describes a reason that ends a match by the rules, for readers.
#[derive(Debug)]
pub struct ReasonMeta {
    /// The code in outcomes, messages and records: `no_pieces`.
    pub code: &'static str,
    /// A few words: `no pieces left`.
    pub words: &'static str,
    /// A sentence. `{winner}` and `{loser}` stand for names: `{winner} captured all pieces of {loser}.`
    pub sentence: &'static str,
}

/// Describes an option in lists and help texts.
#[derive(Debug)]
pub struct OptionMeta {
    /// The key in `options`.
    pub name: &'static str,
    /// The effect, range and default.
    pub help: &'static str,
}

/// The next thing that has to happen in a position. `D` is [`NoDraw`] in a game without chance, `S` the seats
/// that decide, or a [`OpenDecision`](crate::erased::OpenDecision) of theirs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turn<D = Draw, S = SeatSet> {
    /// These seats decide, each without knowing the decisions of the others.
    Decide(S),
    /// The referee draws random numbers.
    Draw(D),
    Over(Outcome),
}

impl<D, S> Turn<D, S> {
    /// The seats that decide, or their decision; `None` if none has to decide.
    pub fn decide(self) -> Option<S> {
        match self {
            Turn::Decide(seats) => Some(seats),
            Turn::Draw(_) | Turn::Over(_) => None,
        }
    }
}

impl<D: Into<Draw>, S> Turn<D, S> {
    /// Drops the static knowledge whether the game has chance.
    pub fn erased(self) -> Turn<Draw, S> {
        match self {
            Turn::Decide(seats) => Turn::Decide(seats),
            Turn::Draw(draw) => Turn::Draw(draw.into()),
            Turn::Over(outcome) => Turn::Over(outcome),
        }
    }
}

/// The draw of games without chance: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDraw {}

impl From<NoDraw> for Draw {
    fn from(draw: NoDraw) -> Draw {
        match draw {}
    }
}

/// A draw of the game `G`: [`Draw`] if it has chance, otherwise [`NoDraw`].
pub trait DrawOf<G: Game>: Copy + Eq + Debug + Into<Draw> {
    /// Applies the numbers that the position asked for with this draw.
    ///
    /// # Panics
    /// May panic if the numbers are not those that were asked for.
    fn settle(self, position: &mut G, drawn: &[u32], emit: &mut impl FnMut(G::Fact));
}

impl<G: Chance> DrawOf<G> for Draw {
    fn settle(self, position: &mut G, drawn: &[u32], emit: &mut impl FnMut(G::Fact)) {
        position.settle(drawn, emit);
    }
}

impl<G: Game<Draw = NoDraw>> DrawOf<G> for NoDraw {
    fn settle(self, _: &mut G, _: &[u32], _: &mut impl FnMut(G::Fact)) {
        match self {}
    }
}

/// Knowledge of a bot in addition to a view.
#[derive(Clone, Debug)]
pub struct Known<'a, O> {
    pub options: &'a O,
    pub seating: Seating,
    /// The seat whose view it is.
    pub seat: Seat,
    /// `turns_left` of the request.
    pub turns_left: Option<u32>,
}

/// A game-specific event: a consequence of a move or a draw.
pub trait Fact: Debug + Send {
    /// The event as this viewer may see it: an object with `kind`. Every viewer gets an event, so that its mere
    /// presence leaks nothing.
    fn as_seen_by(&self, viewer: Viewer) -> impl Serialize;
}

/// The [`Fact`] type of games whose moves are their only events.
#[derive(Debug)]
pub enum NoFact {}

impl Fact for NoFact {
    fn as_seen_by(&self, _: Viewer) -> impl Serialize {}
}

/// Displays a position as text for people.
#[derive(Debug)]
pub struct Drawn<'a, G>(pub &'a G, pub Viewer);

impl<G: Game> Display for Drawn<'_, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.draw_board(self.1, f)
    }
}

/// The rules of a game. The value is a position; it has no access to history, clocks, random sources or bots.
///
/// A game with dice or cards also implements [`Chance`]; one whose positions can be sampled from a view, for search bots
/// and people, implements [`Imagine`]. Methods and constants with a default are optional.
///
/// Search bots copy a position, generate moves into a buffer that they reuse, play them unchecked and hash keys:
///
/// ```
/// use referee_game::{Game, Seating, Turn};
/// use referee_games::jeex::Jeex;
///
/// /// Counts the positions after one move.
/// fn successors<G: Game>(position: &G, moves: &mut Vec<G::Move>) -> usize {
///     let Turn::Decide(seats) = position.turn() else { return 0 };
///     let Some(seat) = seats.iter().next() else { return 0 };
///     moves.clear();
///     position.legal_moves(seat, moves);
///     let keys = moves.iter().map(|&mv| {
///         let mut next = position.clone();
///         next.play_unchecked(seat, mv, &mut |_| {});
///         next.key()
///     });
///     keys.collect::<std::collections::HashSet<G::Key>>().len()
/// }
///
/// let start = Jeex::start(&Default::default(), Seating::new(2, 2))?;
/// assert!(successors(&start, &mut Vec::new()) > 0);
/// # Ok::<(), referee_game::Wrong>(())
/// ```
pub trait Game: Clone + Debug + Send + Sized + 'static {
    /// The static description of the game.
    const META: Meta;
    /// The standard file format for collections of this game, such as PDN, if there is one.
    const NOTATION: Option<&'static dyn Notation> = None;
    /// The formats of opening files, if matches may begin with an opening.
    const OPENING_FILES: &'static [OpeningFile] = &[LINES];
    /// The words that a disguise replaces, if the game can be [disguised](crate::disguise::disguise).
    const VOCABULARY: Option<fn() -> Vocabulary> = None;
    /// Samples a position from a view, if the game implements [`Imagine`].
    const IMAGINATION: Option<Imagination<Self>> = None;
    /// Opens tables of endgames, if there are some for the game.
    const ENDGAMES: Option<OpenEndgames<Self>> = None;
    /// The types from which the JSON Schemas of the game are generated; by default, the schemas only state
    /// the fields of every game.
    #[cfg(feature = "schema")]
    const SCHEMAS: Option<Schemas> = None;
    /// The options of the game. Deserializing them rejects unknown keys.
    type Options: Clone + Debug + Default + Serialize + DeserializeOwned + Send;
    /// A move. `Display` and `FromStr` implement the grammar of the rules page.
    type Move: Copy + Eq + Debug + Display + FromStr + Send;
    /// The game-specific events.
    type Fact: Fact;
    /// A position as one viewer may see it.
    type View<'a>: Serialize;
    /// Identifies a position regardless of its counters, for search and tests.
    type Key: Copy + Eq + Hash + Debug;
    /// [`Draw`] if the game has chance, otherwise [`NoDraw`].
    type Draw: DrawOf<Self>;

    /// Creates the initial position.
    ///
    /// # Errors
    /// When the options contradict each other or the seating.
    fn start(options: &Self::Options, seating: Seating) -> Result<Self, Wrong>;

    /// Returns the next thing that has to happen.
    fn turn(&self) -> Turn<Self::Draw>;

    /// Returns the number of pieces, if tables of endgames may end a match here: their outcome does not depend on earlier moves.
    fn endgame_pieces(&self) -> Option<u32> {
        None
    }

    /// Turns until the turn limit, including this one; `None` without a limit.
    fn turns_left(&self) -> Option<u32>;

    /// Returns the range of a side's amount, with the options of the match; `None` in a game without amounts.
    /// If it is known, every [`Outcome`] has amounts in this range.
    fn amount_range(&self) -> Option<AmountRange> {
        None
    }

    /// Appends all legal moves of a seat that has to decide now, each once, in any order.
    fn legal_moves(&self, seat: Seat, out: &mut Vec<Self::Move>);

    /// Returns the number of legal moves of a seat that has to decide now. By default, it lists them in `buffer`, which it
    /// clears; a game that can count them without a list can override this.
    fn count_legal_moves(&self, seat: Seat, buffer: &mut Vec<Self::Move>) -> usize {
        buffer.clear();
        self.legal_moves(seat, buffer);
        buffer.len()
    }

    /// Plays a move that is known to be legal. When several seats decide simultaneously, call it once for each of them
    /// in seat order; the last call produces the events.
    ///
    /// # Panics
    /// May panic if the move is not legal; otherwise the position is then meaningless.
    fn play_unchecked(&mut self, seat: Seat, mv: Self::Move, emit: &mut impl FnMut(Self::Fact));

    /// Plays a move, as [`Game::play_unchecked`] does, if it is legal.
    ///
    /// # Errors
    /// When the seat does not decide now or the move is not legal. The position is then unchanged.
    fn play(&mut self, seat: Seat, mv: Self::Move, emit: &mut impl FnMut(Self::Fact)) -> Result<(), Wrong> {
        if !self.is_legal(seat, mv) {
            return Err(format!("seat {seat} cannot play `{mv}` in this position").into());
        }
        self.play_unchecked(seat, mv, emit);
        Ok(())
    }

    /// Returns whether a seat decides now and may play this move.
    fn is_legal(&self, seat: Seat, mv: Self::Move) -> bool {
        let decides = matches!(self.turn(), Turn::Decide(seats) if seats.contains(seat));
        decides && {
            let mut moves = Vec::new();
            self.legal_moves(seat, &mut moves);
            moves.contains(&mv)
        }
    }

    /// Returns the position as the viewer may see it.
    fn view(&self, viewer: Viewer) -> Self::View<'_>;

    /// Returns the position without its counters.
    fn key(&self) -> Self::Key;

    /// Writes the position as plain text for a terminal. Every line ends with a line break.
    ///
    /// # Errors
    /// Only errors of the formatter.
    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Returns the position as shapes for pictures and replays. It depends on nothing that the viewer may not see.
    /// By default, it is the text of [`Game::draw_board`].
    fn scene(&self, viewer: Viewer) -> Scene {
        Scene::of_text(&Drawn(self, viewer).to_string())
    }

    /// Returns the places of a legal move on the board: the ids of shapes of the seat's [`Game::scene`], in the order in which a
    /// person points at them, such as the square of a piece and its destination. Moves with the same places are told apart
    /// by their texts. By default a move has none, and is chosen from a list.
    fn places(&self, seat: Seat, mv: Self::Move) -> Vec<String> {
        let _ = (seat, mv);
        Vec::new()
    }

    /// Appends the text of a move, identical to its `Display`. A game with many short moves can override this to
    /// bypass the formatter.
    fn write_move(mv: Self::Move, out: &mut String) {
        use std::fmt::Write;
        write!(out, "{mv}").unwrap_or_else(|error| unreachable!("writing to memory: {error}"));
    }

    /// Appends a view as JSON, identical to its `Serialize`. A game with many short moves can override this to bypass
    /// the serializer.
    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        json::write_value(out, &self.view(viewer));
    }

    /// Returns whether `text` is a short form of `mv`. A short form is accepted if it matches exactly one
    /// legal move.
    fn is_short_form(text: &str, mv: Self::Move) -> bool {
        let _ = (text, mv);
        false
    }

    /// Returns whether only the mover may see which move this is.
    fn is_secret(&self, seat: Seat, mv: Self::Move) -> bool {
        let _ = (seat, mv);
        false
    }
}

/// A game with random events.
pub trait Chance: Game<Draw = Draw> {
    /// Applies the numbers that [`Turn::Draw`] asked for.
    ///
    /// # Panics
    /// May panic if the numbers are not those that were asked for.
    fn settle(&mut self, drawn: &[u32], emit: &mut impl FnMut(Self::Fact));
}

/// A game whose positions can be sampled from a view, for search bots and for people at a terminal.
pub trait Imagine: Game {
    /// A deserialized view. Deserializing it rejects views that are inconsistent.
    type Seen: DeserializeOwned;

    /// Samples a position that is consistent with everything the seat knows, uniformly over the hidden information.
    fn imagine(known: &Known<'_, Self::Options>, seen: &Self::Seen, rng: &mut impl Uniform) -> Self;
}

/// Deserializes a view and samples this many positions.
type SampleFn<G> =
    fn(&Known<'_, <G as Game>::Options>, &str, usize, &mut dyn Uniform) -> serde_json::Result<Vec<G>>;

/// Samples positions of the game `G` from views in JSON.
#[derive(Clone, Copy, Debug)]
pub struct Imagination<G: Game>(SampleFn<G>);

impl<G: Imagine> Imagination<G> {
    pub const OF: Imagination<G> = Imagination(|known, view, count, mut rng| {
        let seen = serde_json::from_str(view)?;
        Ok((0..count).map(|_| G::imagine(known, &seen, &mut rng)).collect())
    });
}

impl<G: Game> Imagination<G> {
    /// Samples `count` positions that are consistent with a seat's knowledge.
    ///
    /// # Errors
    /// When the view cannot be read.
    pub fn positions(
        &self,
        known: &Known<'_, G::Options>,
        view: &str,
        count: usize,
        rng: &mut dyn Uniform,
    ) -> serde_json::Result<Vec<G>> {
        (self.0)(known, view, count, rng)
    }
}
