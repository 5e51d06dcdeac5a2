//! What a game is to the referee.

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
use crate::core::seat::{Seat, SeatSet, Seating, Viewer};

/// What is known of a game before it is played.
#[derive(Debug)]
pub struct Meta {
    /// The id in messages, records and on the command line.
    pub id: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The version of the rules; it changes when the same moves could lead elsewhere.
    pub rules_version: u32,
    /// The possible set-ups: how many seats, in how many sides. The first is the default.
    pub seatings: &'static [Seating],
    /// Whether a seat knows what others must not know.
    pub hidden: bool,
    /// Whether the referee draws.
    pub chance: bool,
    /// Whether several seats may decide at once.
    pub simultaneous: bool,
    /// Whether the sides may agree on a draw.
    pub draws_by_agreement: bool,
    /// Whether a match may begin with moves from an opening, and with how many random ones it does when two bots are
    /// compared. Only where nothing is hidden or drawn and one seat decides at a time.
    pub openings: Option<u32>,
    /// The options, in the order of their documentation.
    pub options: &'static [OptionMeta],
    /// The rules page, Markdown.
    pub rules: &'static str,
}

/// An option as lists and help texts show it.
#[derive(Debug)]
pub struct OptionMeta {
    /// Its key.
    pub name: &'static str,
    /// What it does, with its range and default.
    pub help: &'static str,
}

/// Who or what a position waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// These seats decide, each without knowing what the others do.
    Decide(SeatSet),
    /// The referee draws.
    Draw(Draw),
    /// Nothing: the game is over.
    Over(Outcome),
}

/// What the referee draws. The numbers go to [`Game::settle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// `count` dice, each 1 to `sides`.
    Dice {
        /// How many dice.
        count: u8,
        /// The faces of each.
        sides: u8,
    },
    /// One number from 0 to `of - 1`.
    Pick {
        /// How many there are.
        of: u16,
    },
    /// 0 to `len - 1` in random order.
    Shuffle {
        /// How many there are.
        len: u16,
    },
}

/// A game cannot start like this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misconfigured(pub String);

/// What a bot may know beside a view.
#[derive(Clone, Debug)]
pub struct Known<'a, O> {
    /// The options.
    pub options: &'a O,
    /// The seating.
    pub seating: Seating,
    /// The seat that looks.
    pub seat: Seat,
    /// From the request.
    pub turns_left: Option<u32>,
}

/// Something that followed from a move or a draw: an event of the game's own.
pub trait Fact: Debug + Send {
    /// The event as this viewer may see it: an object with `kind`. Every viewer gets one, so that its presence tells nothing.
    fn as_seen_by(&self, viewer: Viewer) -> impl Serialize;
}

/// For games in which moves tell everything.
#[derive(Debug)]
pub enum NoFact {}

impl Fact for NoFact {
    fn as_seen_by(&self, _: Viewer) -> impl Serialize {}
}

/// A position for a person, to be printed.
pub struct Drawn<'a, G>(pub &'a G, pub Viewer);

impl<G: Game> Display for Drawn<'_, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.draw_board(self.1, f)
    }
}

/// The rules of a game. The value is a position; it knows no history, clock, random source or bot.
pub trait Game: Clone + Debug + Send + Sized + 'static {
    /// What is known before it is played.
    const META: Meta;
    /// The format that the world has for collections of it, if it has one.
    const NOTATION: Option<&'static dyn Notation> = None;
    /// The formats that files of openings may have, if matches of it may begin with one.
    const OPENING_FILES: &'static [OpeningFile] = &[LINES];
    /// What a set-up may choose. Reading it refuses unknown keys.
    type Options: Clone + Debug + Default + Serialize + DeserializeOwned + Send;
    /// A move, small; `Display` and `FromStr` are the grammar of the game's page.
    type Move: Copy + Eq + Debug + Display + FromStr + Send;
    /// An event of the game's own.
    type Fact: Fact;
    /// A position as somebody may see it.
    type View<'a>: Serialize;
    /// A view read back, for bots.
    type Seen: DeserializeOwned;
    /// The position without counters, for search and tests.
    type Key: Copy + Eq + Hash + Debug;

    /// The position at the beginning.
    ///
    /// # Errors
    /// When the options do not fit each other or the seating.
    fn start(options: &Self::Options, seating: Seating) -> Result<Self, Misconfigured>;

    /// Who or what the position waits for.
    fn turn(&self) -> Turn;

    /// Turns until the turn limit, this one included; none without a limit.
    fn turns_left(&self) -> Option<u32>;

    /// Adds all legal moves of a seat that decides now, each once, in any order.
    fn legal_moves(&self, seat: Seat, out: &mut Vec<Self::Move>);

    /// Plays a legal move. When several seats decide, it is called for each in seat order, and facts come with the last.
    fn play(&mut self, seat: Seat, mv: Self::Move, tell: &mut impl FnMut(Self::Fact));

    /// Takes what [`Turn::Draw`] asked for.
    fn settle(&mut self, drawn: &[u16], tell: &mut impl FnMut(Self::Fact));

    /// The position as the viewer may see it.
    fn view(&self, viewer: Viewer) -> Self::View<'_>;

    /// The position without counters.
    fn key(&self) -> Self::Key;

    /// A position that agrees with everything the seat may know, uniform over what it may not.
    fn imagine(known: &Known<'_, Self::Options>, seen: &Self::Seen, rng: &mut impl Uniform) -> Self;

    /// The position for a person at a terminal, plain text, each line ended.
    ///
    /// # Errors
    /// Only those of the formatter.
    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Appends the text of a move, as its `Display` writes it. A game with many short moves may spare them the formatter.
    fn write_move(mv: Self::Move, out: &mut String) {
        use std::fmt::Write;
        write!(out, "{mv}").unwrap_or_else(|error| unreachable!("writing to memory: {error}"));
    }

    /// Appends a view, as its `Serialize` writes it. A game with many short moves may spare its views the serializer.
    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        json::write_value(out, &self.view(viewer));
    }

    /// Whether `text` is a short form of `mv`. A short form is accepted when it names one legal move.
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
