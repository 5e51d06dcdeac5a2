//! The view of a position for a viewer: JSON and text.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::XeQueo;
use super::log::{CAPACITY, Log, movers};
use super::pawn::{PAWNS, Pawn, Pawns};
use super::position::{GOAL, Phase, Position, other};
use super::round::Round;
use super::square::{SIDE, Square};
use referee_game::{Seat, SeatSet, Uniform, Viewer};

/// The position as a seat, a spectator or the record may see it. Pairs are by seat.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct View<'a> {
    /// The number of the round, from 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 7)))]
    round: u8,
    phase: Phase,
    /// The seats that decide: both in the phase `choose`, none when the game is over.
    #[serde(serialize_with = "write_seats")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Seat>", length(max = 2)))]
    to_move: SeatSet,
    /// The rings won.
    #[cfg_attr(feature = "schema", schemars(inner(range(max = 4))))]
    rings: [u8; 2],
    /// The squares of the pawns; `null` before they are set up, which never occurs in a request.
    pawns: Option<Pawns>,
    /// The square of the ring; `null` in the phase `ring` and after the end.
    ring: Option<Square>,
    /// The viewer's choice in this round; `null` until both players have chosen, and for spectators.
    choice: Option<Pawn>,
    /// The moves of this round: seat, pawn and final square.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<(Seat, Pawn, Square)>", length(max = CAPACITY)))]
    moves: Moves<'a>,
    /// The result of the previous round; `null` in round one.
    last_round: Option<Round>,
    /// The choices of both seats; only in records.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "[Option<Pawn>; 2]"))]
    choices: Option<[Option<Pawn>; 2]>,
}

impl View<'_> {
    pub(super) fn of(game: &XeQueo, viewer: Viewer) -> View<'_> {
        let position = &game.position;
        View {
            round: game.round(),
            phase: position.phase(),
            to_move: game.deciders(),
            rings: position.rings,
            pawns: position.pawns,
            ring: position.ring,
            choice: match viewer {
                Viewer::Seat(seat) => position.choices[seat.index()],
                Viewer::Public | Viewer::Omniscient => None,
            },
            moves: Moves { log: &game.log, to_move: position.to_move },
            last_round: game.last_round,
            choices: (viewer == Viewer::Omniscient).then_some(position.choices),
        }
    }
}

fn write_seats<S: Serializer>(seats: &SeatSet, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(seats.iter())
}

/// The moves of this round, with their seats.
#[derive(Debug)]
struct Moves<'a> {
    log: &'a Log,
    to_move: Seat,
}

impl Serialize for Moves<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.log.by_seat(self.to_move))
    }
}

impl Serialize for Square {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Square {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Square, D::Error> {
        let name = String::deserialize(deserializer)?;
        Square::named(&name)
            .ok_or_else(|| D::Error::custom("a square is a file a to g and a rank 1 to 7 like d4"))
    }
}

impl Serialize for Pawns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Pawns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pawns, D::Error> {
        let squares: BTreeMap<Pawn, Square> = Deserialize::deserialize(deserializer)?;
        let squares: Vec<Square> = squares.into_values().collect();
        let pawns = squares.try_into().ok().map(Pawns::on).filter(Pawns::are_apart);
        pawns.ok_or_else(|| D::Error::custom("the pawns are seven, each on a square of its own"))
    }
}

/// A deserialized and validated view, of a game whose pawns are set up.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Seen {
    pub phase: Phase,
    /// The position, without the choices.
    pub position: Position,
    /// The viewer's choice, once both have chosen.
    pub choice: Option<Pawn>,
    /// The moves of this round: seat, pawn and destination.
    pub moves: Vec<(Seat, Pawn, Square)>,
    /// The outcome of the previous round; `None` in round one.
    pub last_round: Option<Round>,
}

/// The fields of a view before validation. `round` is omitted because it follows from the rings.
#[derive(Deserialize)]
struct Fields {
    phase: Phase,
    to_move: Vec<Seat>,
    rings: [u8; 2],
    pawns: Pawns,
    ring: Option<Square>,
    choice: Option<Pawn>,
    moves: Vec<(Seat, Pawn, Square)>,
    last_round: Option<Round>,
}

impl Fields {
    /// The seat of [`Position::to_move`]; `None` if the fields are inconsistent.
    fn to_move(&self) -> Option<Seat> {
        let loser = match self.last_round {
            None => Seat(1),
            Some(Round { winner: winner @ Seat(0 | 1), .. }) => other(winner),
            Some(_) => return None,
        };
        let to_move = match (self.phase, &self.to_move[..]) {
            (Phase::Ring | Phase::Play, &[seat @ Seat(0 | 1)]) => seat,
            (Phase::Choose, [Seat(0), Seat(1)]) | (Phase::Over, []) => loser,
            _ => return None,
        };
        let has_ring = matches!(self.phase, Phase::Choose | Phase::Play);
        let is_over = self.rings.contains(&GOAL);
        let seats = self.moves.iter().map(|&(seat, ..)| seat);
        let fits = self.ring.is_some() == has_ring
            && (self.phase == Phase::Over) == is_over
            && self.rings.iter().all(|&rings| rings <= GOAL)
            && (self.phase == Phase::Play || self.choice.is_none() && self.moves.is_empty())
            && self.moves.len() <= CAPACITY
            && seats.eq(movers(self.moves.len(), to_move));
        fits.then_some(to_move)
    }
}

impl TryFrom<Fields> for Seen {
    type Error = &'static str;

    fn try_from(fields: Fields) -> Result<Seen, &'static str> {
        let to_move = fields.to_move().ok_or("the fields of the view are inconsistent")?;
        let Fields { phase, rings, pawns, ring, choice, moves, last_round, .. } = fields;
        let position = Position { pawns: Some(pawns), ring, choices: [None; 2], rings, to_move };
        Ok(Seen { phase, position, choice, moves, last_round })
    }
}

impl Seen {
    /// Samples a game that is consistent with the view. The moves give no information about the opponent's choice: a
    /// move that only one choice allows ends the round.
    pub(super) fn imagine(&self, seat: Seat, rng: &mut impl Uniform) -> XeQueo {
        let mut game = XeQueo { position: self.position, log: Log::EMPTY, last_round: self.last_round };
        self.moves.iter().for_each(|&(_, pawn, to)| game.log.push(pawn, to));
        if self.phase == Phase::Play {
            let mut any = || Pawn::ALL[rng.uniform(PAWNS as u64) as usize];
            game.position.choices[seat.index()] = Some(self.choice.unwrap_or_else(&mut any));
            game.position.choices[other(seat).index()] = Some(any());
        }
        game
    }
}

/// Writes the board with rank 7 at the top and the ring in brackets, the legend, and what comes next.
pub(super) fn draw(game: &XeQueo, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const FILES: &str = "    a  b  c  d  e  f  g";
    let Position { pawns, ring, choices, rings, to_move } = game.position;
    writeln!(f, "{FILES}")?;
    for rank in (0..SIDE).rev() {
        write!(f, "{}  ", rank + 1)?;
        for square in (0..SIDE).map(|file| Square::at(file, rank)) {
            let [left, right] = if ring == Some(square) { ['(', ')'] } else { [' ', ' '] };
            let pawn = pawns.and_then(|pawns| pawns.at(square));
            write!(f, "{left}{}{right}", pawn.map_or('.', Pawn::letter))?;
        }
        writeln!(f, "  {}", rank + 1)?;
    }
    writeln!(f, "{FILES}")?;
    for (at, pawn) in Pawn::ALL.into_iter().enumerate() {
        write!(f, "{}{} {pawn}", if at == 0 { "" } else { ", " }, pawn.letter())?;
    }
    writeln!(f, "\nrings {} : {}", rings[0], rings[1])?;
    write!(f, "round {}: ", game.round())?;
    match game.position.phase() {
        _ if pawns.is_none() => write!(f, "the pawns are being set up")?,
        Phase::Ring => write!(f, "seat {to_move} puts the ring down")?,
        Phase::Choose => write!(f, "both seats choose a pawn")?,
        Phase::Play => write!(f, "seat {to_move} to move")?,
        Phase::Over => write!(f, "over: rings")?,
    }
    for (seat, choice) in [Seat(0), Seat(1)].into_iter().zip(choices) {
        if let Some(pawn) = choice.filter(|_| viewer.shares(seat)) {
            write!(f, "; seat {seat} has chosen {pawn}")?;
        }
    }
    writeln!(f)
}
