//! The [`Game`] trait: the rules of a game as the referee uses them.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::core::chance::Uniform;
use crate::core::json;
use crate::core::notation::Notation;
use crate::core::openings::{LINES, OpeningFile};
use crate::core::outcome::Outcome;
use crate::core::scene::Scene;
use crate::core::seat::{Seat, SeatSet, Seating, Viewer};

/// Static description of a game.
#[derive(Debug)]
pub struct Meta {
    /// The id in messages, records and on the command line.
    pub id: &'static str,
    /// The display name.
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
    /// The default number of random opening plies when two bots are compared; `None` if matches cannot begin with an
    /// opening. Only games without hidden information, chance and simultaneous decisions have openings.
    pub openings: Option<u32>,
    /// The options, in the order of the rules page.
    pub options: &'static [OptionMeta],
    /// The rules page, in Markdown.
    pub rules: &'static str,
}

/// Describes an option in lists and help texts.
#[derive(Debug)]
pub struct OptionMeta {
    /// Its key.
    pub name: &'static str,
    /// Its effect, range and default.
    pub help: &'static str,
}

/// What has to happen next in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// These seats decide, each without knowing the decisions of the others.
    Decide(SeatSet),
    /// The referee draws random numbers.
    Draw(Draw),
    /// The game is over.
    Over(Outcome),
}

/// A request for random numbers. The referee passes them to [`Game::settle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// `count` dice, each 1 to `sides`.
    Dice {
        /// Number of dice.
        count: u8,
        /// Number of faces of each die.
        sides: u8,
    },
    /// One number from 0 to `of - 1`, uniformly distributed.
    Pick {
        /// Number of possible values.
        of: u16,
    },
    /// A random permutation of 0 to `len - 1`.
    Shuffle {
        /// Number of elements.
        len: u16,
    },
}

/// The options or the seating of a game are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misconfigured(pub String);

/// What a bot knows in addition to a view.
#[derive(Clone, Debug)]
pub struct Known<'a, O> {
    /// The options.
    pub options: &'a O,
    /// The seating.
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
pub trait Game: Clone + Debug + Send + Sized + 'static {
    /// The static description of the game.
    const META: Meta;
    /// The standard file format for collections of this game, such as PDN, if there is one.
    const NOTATION: Option<&'static dyn Notation> = None;
    /// The formats of opening files, if matches may begin with an opening.
    const OPENING_FILES: &'static [OpeningFile] = &[LINES];
    /// The options of the game. Deserializing them rejects unknown keys.
    type Options: Clone + Debug + Default + Serialize + DeserializeOwned + Send;
    /// A move. `Display` and `FromStr` implement the grammar of the rules page.
    type Move: Copy + Eq + Debug + Display + FromStr + Send;
    /// The game-specific events.
    type Fact: Fact;
    /// A position as one viewer may see it.
    type View<'a>: Serialize;
    /// A deserialized view, for bots.
    type Seen: DeserializeOwned;
    /// Identifies a position regardless of its counters, for search and tests.
    type Key: Copy + Eq + Hash + Debug;

    /// Creates the initial position.
    ///
    /// # Errors
    /// When the options contradict each other or the seating.
    fn start(options: &Self::Options, seating: Seating) -> Result<Self, Misconfigured>;

    /// Returns what has to happen next.
    fn turn(&self) -> Turn;

    /// Turns until the turn limit, including this one; `None` without a limit.
    fn turns_left(&self) -> Option<u32>;

    /// Appends all legal moves of a seat that has to decide now, each once, in any order.
    fn legal_moves(&self, seat: Seat, out: &mut Vec<Self::Move>);

    /// Plays a legal move. When several seats decide simultaneously, call it for each of them in seat order; the last
    /// call produces the events.
    fn play(&mut self, seat: Seat, mv: Self::Move, tell: &mut impl FnMut(Self::Fact));

    /// Applies the numbers that [`Turn::Draw`] asked for.
    fn settle(&mut self, drawn: &[u16], tell: &mut impl FnMut(Self::Fact));

    /// Returns the position as the viewer may see it.
    fn view(&self, viewer: Viewer) -> Self::View<'_>;

    /// Returns the position without its counters.
    fn key(&self) -> Self::Key;

    /// Samples a position that is consistent with everything the seat knows, uniformly over the hidden information.
    fn imagine(known: &Known<'_, Self::Options>, seen: &Self::Seen, rng: &mut impl Uniform) -> Self;

    /// Writes the position as plain text for a terminal. Every line ends with a line break.
    ///
    /// # Errors
    /// Only errors of the formatter.
    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Returns the position as shapes for pictures and replays. It depends on nothing that the viewer may not see.
    fn scene(&self, viewer: Viewer) -> Scene;

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

    /// Whether `text` is a short form of `mv`. A short form is accepted if it matches exactly one legal move.
    fn is_short_form(text: &str, mv: Self::Move) -> bool {
        let _ = (text, mv);
        false
    }

    /// Whether only the mover may see which move this is.
    fn is_secret(&self, seat: Seat, mv: Self::Move) -> bool {
        let _ = (seat, mv);
        false
    }
}
