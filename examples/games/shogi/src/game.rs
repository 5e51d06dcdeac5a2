//! A match so far, and what ends it.

use std::error::Error;

use referee_module::{Reader, State, push_number, quoted};

use crate::position::{Move, Position};
use crate::sfen;

/// Keys of positions have 60 bits, 5 in each of twelve characters from `0` on. After each comes whether the side to move is in check.
const KEY: usize = 12;
const POSITION: usize = KEY + 1;

/// A copy with room for one more part.
fn with_room(text: &str) -> String {
    let mut copy = String::with_capacity(text.len() + 16);
    copy.push_str(text);
    copy
}

pub(crate) struct Game {
    pub(crate) position: Position,
    /// The initial position, as a string of JSON.
    pub(crate) start: String,
    first_number: i64,
    first_to_move: usize,
    has_declaration: bool,
    limit: usize,
    /// The keys of all positions so far.
    keys: String,
    /// The moves so far, as they are in a list of JSON, and their number without a declaration.
    pub(crate) moves: String,
    count: usize,
    is_declared: bool,
}

/// What ends a match, and who wins.
pub(crate) struct Over {
    pub(crate) reason: &'static str,
    pub(crate) winner: Option<usize>,
}

impl Game {
    /// The initial position, or why there is none with these options.
    pub(crate) fn start(options: &str) -> Result<Result<Game, &'static str>, Box<dyn Error>> {
        let (mut sfen, mut has_declaration, mut moves) = Default::default();
        Reader::new(options).object(|name, value| {
            match name {
                "sfen" => sfen = value.string()?,
                "declaration" => has_declaration = value.value()?,
                "moves" => moves = value.value()?,
                _ => drop(value.json()?),
            }
            Ok(())
        })?;
        Ok(Game::with(&sfen, has_declaration, moves))
    }

    fn with(start: &str, has_declaration: bool, moves: i64) -> Result<Game, &'static str> {
        if !(1..=2000).contains(&moves) {
            return Err("moves: expected 1 to 2000");
        }
        let (position, first_number) = sfen::read(start)?;
        let mut game = Game {
            first_number,
            first_to_move: position.to_move,
            position,
            start: quoted(start),
            has_declaration,
            limit: moves as usize,
            keys: String::new(),
            moves: String::new(),
            count: 0,
            is_declared: false,
        };
        game.push_key();
        Ok(game)
    }

    pub(crate) fn push_state(&self, text: &mut String) {
        text.push_str("{\"sfen\":\"");
        self.push_sfen(text);
        let declaration = if self.has_declaration { "true" } else { "false" };
        for part in ["\",\"start\":", &self.start, ",\"declaration\":", declaration, ",\"limit\":"] {
            text.push_str(part);
        }
        push_number(text, self.limit as i64);
        text.push_str(",\"keys\":\"");
        for part in [&self.keys, "\",\"moves\":[", &self.moves, "]}"] {
            text.push_str(part);
        }
    }

    pub(crate) fn push_sfen(&self, text: &mut String) {
        sfen::push(text, &self.position);
        text.push(' ');
        push_number(text, self.first_number + self.count as i64);
    }

    fn push_key(&mut self) {
        let key = self.position.key();
        self.keys.extend((0..KEY).map(|part| char::from(b'0' + (key >> (5 * part) & 31) as u8)));
        self.keys.push(if self.position.is_in_check(self.position.to_move) { '1' } else { '0' });
    }

    /// Plays a legal move.
    pub(crate) fn play(&mut self, made: Move) {
        self.position.make(made);
        self.push_move(|text| made.push(text));
        self.count += 1;
        self.push_key();
    }

    pub(crate) fn declare(&mut self) {
        self.push_move(|text| text.push_str("win"));
        self.is_declared = true;
    }

    fn push_move(&mut self, push: impl Fn(&mut String)) {
        self.moves.push_str(if self.moves.is_empty() { "\"" } else { ",\"" });
        push(&mut self.moves);
        self.moves.push('"');
    }

    pub(crate) fn turns_left(&self) -> usize {
        self.limit - self.count
    }

    pub(crate) fn is_in_check(&self) -> bool {
        self.keys.ends_with('1')
    }

    /// The texts of all positions so far in `keys`.
    fn positions(&self) -> &[[u8; POSITION]] {
        self.keys.as_bytes().as_chunks().0
    }

    /// How often the position was there, with this time.
    pub(crate) fn repetitions(&self) -> usize {
        let Some(last) = self.positions().last() else { return 0 };
        self.positions().iter().filter(|position| position[..KEY] == last[..KEY]).count()
    }

    /// The seat that has given check with every move since the position was there first.
    pub(crate) fn perpetual(&self) -> Option<usize> {
        let positions = self.positions();
        let last = positions.last()?;
        let since = positions.iter().position(|position| position[..KEY] == last[..KEY])?;
        (0..2).find(|seat| {
            // After its moves the other side is to move.
            let after = |&(at, _): &(usize, _)| (self.first_to_move + at) % 2 != *seat;
            positions
                .iter()
                .enumerate()
                .skip(since + 1)
                .filter(after)
                .all(|(_, position)| position[KEY] == b'1')
        })
    }

    pub(crate) fn may_declare(&self) -> bool {
        self.has_declaration && self.position.may_declare()
    }

    /// The legal moves, or what ends the match.
    pub(crate) fn legal(&mut self) -> Result<Vec<Move>, Over> {
        let to_move = self.position.to_move;
        let over = |reason, winner| Err(Over { reason, winner });
        if self.is_declared {
            return over("declaration", Some(to_move));
        }
        if self.repetitions() >= 4 {
            return match self.perpetual() {
                Some(checking) => over("perpetual_check", Some(1 - checking)),
                None => over("repetition", None),
            };
        }
        let legal = self.position.legal();
        if legal.is_empty() && !self.may_declare() {
            return over(if self.is_in_check() { "checkmate" } else { "no_moves" }, Some(1 - to_move));
        }
        if self.count == self.limit { over("turn_limit", None) } else { Ok(legal) }
    }
}

impl State for Game {
    /// Reads what `push_state` has written.
    fn read(value: &mut Reader<'_>) -> Result<Game, Box<dyn Error>> {
        let (mut sfen, mut start, mut keys, mut moves) = Default::default();
        let (mut has_declaration, mut limit) = Default::default();
        value.object(|name, value| {
            match name {
                "sfen" => sfen = value.string()?,
                "start" => start = value.json()?,
                "declaration" => has_declaration = value.value()?,
                "limit" => limit = value.value()?,
                "keys" => keys = value.string()?,
                "moves" => (moves, _) = value.items()?,
                _ => drop(value.json()?),
            }
            Ok(())
        })?;
        let (position, number) = sfen::read(&sfen)?;
        let count = (keys.len() / POSITION).saturating_sub(1);
        Ok(Game {
            first_number: number - count as i64,
            first_to_move: (position.to_move + count) % 2,
            position,
            start: start.to_owned(),
            has_declaration,
            limit,
            keys: with_room(&keys),
            moves: with_room(moves),
            count,
            is_declared: moves.ends_with(r#""win""#),
        })
    }
}
