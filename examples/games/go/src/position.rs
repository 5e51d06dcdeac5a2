//! Positions of Go, and the rules.

use std::error::Error;

use referee_module::{Reader, State, push_number};

const MOST_SIZE: usize = 19;
const MOST_MOVES: i64 = 2000;
const COLUMNS: &str = "ABCDEFGHJKLMNOPQRST";
/// A point is a number; neighbours are known by it, since points of the rim surround the board.
const ROW: usize = MOST_SIZE + 1;
const POINTS: usize = ROW * (MOST_SIZE + 2) + 1;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub(crate) enum Point {
    Rim,
    Empty,
    Black,
    White,
}

impl Point {
    pub(crate) fn symbol(self) -> char {
        match self {
            Point::Black => 'X',
            Point::White => 'O',
            Point::Rim | Point::Empty => '.',
        }
    }

    pub(crate) fn name(self) -> &'static str {
        if self == Point::Black { "black" } else { "white" }
    }

    pub(crate) fn other(self) -> Point {
        if self == Point::Black { Point::White } else { Point::Black }
    }
}

fn neighbours(at: usize) -> [usize; 4] {
    [at - ROW, at - 1, at + 1, at + ROW]
}

/// A column and a row from the bottom, from 0 on.
pub(crate) fn column_and_row(at: usize) -> (usize, usize) {
    (at % ROW - 1, at / ROW - 1)
}

fn point(column: usize, row: usize) -> usize {
    (row + 1) * ROW + column + 1
}

/// The name of a column.
pub(crate) fn letter(column: usize) -> &'static str {
    &COLUMNS[column..=column]
}

/// Adds a vertex as GTP writes it; `None` is a pass.
pub(crate) fn push_vertex(text: &mut String, vertex: Option<usize>) {
    let Some(at) = vertex else {
        text.push_str("pass");
        return;
    };
    let (column, row) = column_and_row(at);
    text.push_str(letter(column));
    if row >= 9 {
        text.push('1');
    }
    text.push((b'0' + ((row + 1) % 10) as u8) as char);
}

/// Half points as a decimal number.
pub(crate) fn points(half: i64) -> String {
    let mut text = if half < 0 { "-" } else { "" }.to_owned();
    push_number(&mut text, half.abs() / 2);
    text + if half % 2 == 0 { "" } else { ".5" }
}

/// Reads a number of points as half ones.
fn half_points(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let half = match fraction {
        "0" => 0,
        "5" => 1,
        _ => return None,
    };
    let magnitude = whole.parse::<i64>().ok()?.checked_abs()?.checked_mul(2)? + half;
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// Keys of positions have 60 bits, 5 in each of twelve characters from `0` on.
const KEY: usize = 12;
const KEY_MASK: u64 = (1 << (5 * KEY)) - 1;

fn key_of(text: &[u8; KEY]) -> u64 {
    text.iter().rev().fold(0, |bits, &character| bits << 5 | u64::from(character.wrapping_sub(b'0') & 31))
}

/// The number of a stone in keys (Steele's splitmix).
fn stone(at: usize, colour: Point) -> u64 {
    let z = (2 * at as u64 + colour as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) & KEY_MASK
}

/// All positions so far.
struct Earlier {
    /// Their keys, that of the board last.
    keys: String,
    /// One more than the index of a key, at its slot or after it. Few of the keys in a state are read whole.
    table: Vec<u16>,
    last: u64,
}

impl Earlier {
    const TABLE: usize = 4096;

    fn read(keys: &str) -> Earlier {
        let mut earlier = Earlier { keys: String::new(), table: vec![0; Earlier::TABLE], last: 0 };
        earlier.keys.reserve(keys.len() + KEY);
        earlier.keys.push_str(keys);
        let (keys, _) = keys.as_bytes().as_chunks();
        for (index, key) in keys.iter().enumerate() {
            earlier.add(index, key);
        }
        earlier.last = keys.last().map_or(0, key_of);
        earlier
    }

    /// The slot of a key, which its first three characters say.
    fn slot(key: &[u8; KEY]) -> usize {
        let part = |index: usize| usize::from(key[index].wrapping_sub(b'0')) << (5 * index);
        (part(0) | part(1) | part(2)) % Earlier::TABLE
    }

    fn add(&mut self, index: usize, key: &[u8; KEY]) {
        let mut at = Earlier::slot(key);
        while self.table[at] != 0 {
            at = (at + 1) % Earlier::TABLE;
        }
        self.table[at] = index as u16 + 1;
    }

    fn push(&mut self, key: u64) {
        let text: [u8; KEY] = std::array::from_fn(|part| b'0' + (key >> (5 * part) & 31) as u8);
        self.add(self.keys.len() / KEY, &text);
        self.keys.extend(text.map(char::from));
        self.last = key;
    }

    fn contains(&self, key: u64) -> bool {
        let (keys, _) = self.keys.as_bytes().as_chunks();
        let mut at = key as usize % Earlier::TABLE;
        while self.table[at] != 0 {
            if key_of(&keys[usize::from(self.table[at]) - 1]) == key {
                return true;
            }
            at = (at + 1) % Earlier::TABLE;
        }
        false
    }
}

/// The chains of a board, known by one of their stones.
struct Chains {
    of: [u16; POINTS],
    liberties: [u16; POINTS],
    keys: [u64; POINTS],
    /// The chain whose liberty a point was counted as last.
    counted: [u16; POINTS],
    /// The stones of the chain that was found last.
    stones: Vec<u16>,
}

impl Chains {
    fn new() -> Chains {
        Chains {
            of: [0; POINTS],
            liberties: [0; POINTS],
            keys: [0; POINTS],
            counted: [0; POINTS],
            stones: Vec::with_capacity(POINTS),
        }
    }

    fn all(board: &[Point; POINTS]) -> Chains {
        let mut chains = Chains::new();
        for from in 0..POINTS {
            chains.find(board, from);
        }
        chains
    }

    /// Finds the chain of a point that has a stone.
    fn find(&mut self, board: &[Point; POINTS], from: usize) {
        let colour = board[from];
        if colour <= Point::Empty || self.of[from] != 0 {
            return;
        }
        let name = from as u16;
        let (mut next, mut key) = (0, 0);
        self.stones.clear();
        self.stones.push(name);
        self.of[from] = name;
        while let Some(&stone_at) = self.stones.get(next) {
            let at = usize::from(stone_at);
            next += 1;
            key ^= stone(at, colour);
            for &near in &neighbours(at) {
                if board[near] == Point::Empty {
                    self.liberties[from] += u16::from(self.counted[near] != name);
                    self.counted[near] = name;
                } else if board[near] == colour && self.of[near] == 0 {
                    self.of[near] = name;
                    self.stones.push(near as u16);
                }
            }
        }
        self.keys[from] = key;
    }
}

pub(crate) struct Position {
    pub(crate) size: usize,
    /// In half points.
    pub(crate) komi: i64,
    pub(crate) handicap: usize,
    pub(crate) limit: usize,
    board: [Point; POINTS],
    earlier: Earlier,
    /// The moves so far, as they are in a list of JSON, and their number.
    pub(crate) moves: String,
    pub(crate) count: usize,
}

impl Position {
    fn empty(size: usize, komi: i64, handicap: usize, limit: usize, earlier: Earlier) -> Position {
        let mut board = [Point::Rim; POINTS];
        for row in 0..size {
            board[point(0, row)..point(size, row)].fill(Point::Empty);
        }
        Position { size, komi, handicap, limit, board, earlier, moves: String::new(), count: 0 }
    }

    /// The initial position, or why there is none with these options.
    pub(crate) fn start(options: &str) -> Result<Result<Position, &'static str>, Box<dyn Error>> {
        let [mut size, mut handicap, mut moves] = [0; 3];
        let mut komi = "";
        Reader::new(options).object(|name, value| {
            match name {
                "size" => size = value.value()?,
                "komi" => komi = value.json()?,
                "handicap" => handicap = value.value()?,
                "moves" => moves = value.value()?,
                _ => drop(value.json()?),
            }
            Ok(())
        })?;
        Ok(Position::with(size, komi, handicap, moves))
    }

    fn with(size: i64, komi: &str, handicap: i64, moves: i64) -> Result<Position, &'static str> {
        if !(2..=MOST_SIZE as i64).contains(&size) {
            return Err("size: expected 2 to 19");
        }
        let komi = half_points(komi).filter(|komi| (-800..=800).contains(komi));
        let komi = komi.ok_or("komi: expected points or half points from -400 to 400")?;
        let most = match size {
            ..7 => 0,
            7 => 4,
            _ => {
                if size % 2 == 0 {
                    4
                } else {
                    9
                }
            }
        };
        if handicap < 0 || handicap == 1 || handicap > most {
            return Err(
                "handicap: expected 0, or 2 to 9 stones; at most 4 on boards of an even size and of 7, and none on smaller ones",
            );
        }
        if !(0..=MOST_MOVES).contains(&moves) {
            return Err("moves: expected 1 to 2000, or 0 for three for each point");
        }
        let limit = if moves == 0 { 3 * size * size } else { moves };
        let mut position =
            Position::empty(size as usize, komi, handicap as usize, limit as usize, Earlier::read(""));
        let mut key = 0;
        for at in position.handicap_stones() {
            position.board[at] = Point::Black;
            key ^= stone(at, Point::Black);
        }
        position.earlier.push(key);
        Ok(position)
    }

    /// Where GTP's `fixed_handicap` has the stones of the handicap, in the order of points.
    pub(crate) fn handicap_stones(&self) -> Vec<usize> {
        let near = if self.size < 13 { 2 } else { 3 };
        let (far, middle) = (self.size.saturating_sub(1 + near), self.size / 2);
        let places = [
            (near, near),
            (far, far),
            (near, far),
            (far, near),
            (near, middle),
            (far, middle),
            (middle, near),
            (middle, far),
        ];
        let has_centre = self.handicap >= 5 && self.handicap % 2 == 1;
        let around = places.into_iter().take(self.handicap - usize::from(has_centre));
        let mut stones: Vec<usize> =
            around.chain(has_centre.then_some((middle, middle))).map(|(x, y)| point(x, y)).collect();
        stones.sort_unstable();
        stones
    }

    fn read_board(&mut self, symbols: &str) {
        let points = (0..self.size).flat_map(|row| (0..self.size).map(move |column| point(column, row)));
        for (at, symbol) in points.zip(symbols.bytes()) {
            if let Some(on) = self.board.get_mut(at) {
                *on = match symbol {
                    b'X' => Point::Black,
                    b'O' => Point::White,
                    _ => Point::Empty,
                };
            }
        }
    }

    pub(crate) fn push_state(&self, text: &mut String) {
        let fields = [
            ("{\"size\":", self.size as i64),
            (",\"komi\":", self.komi),
            (",\"handicap\":", self.handicap as i64),
            (",\"limit\":", self.limit as i64),
        ];
        for (name, number) in fields {
            text.push_str(name);
            push_number(text, number);
        }
        text.push_str(",\"board\":\"");
        for row in 0..self.size {
            self.push_row(text, row);
        }
        for part in ["\",\"keys\":\"", &self.earlier.keys, "\",\"moves\":[", &self.moves, "]}"] {
            text.push_str(part);
        }
    }

    /// Adds the symbols of a row.
    pub(crate) fn push_row(&self, text: &mut String, row: usize) {
        text.extend((0..self.size).map(|column| self.board[point(column, row)].symbol()));
    }

    /// All points of the board in order, and what is on them.
    pub(crate) fn points(&self) -> impl Iterator<Item = (usize, Point)> {
        self.board.iter().copied().enumerate().filter(|(_, on)| *on != Point::Rim)
    }

    /// With a handicap White begins.
    pub(crate) fn to_move(&self) -> Point {
        if (self.count + usize::from(self.handicap > 0)).is_multiple_of(2) {
            Point::Black
        } else {
            Point::White
        }
    }

    pub(crate) fn last_vertex(&self) -> Option<&str> {
        self.moves
            .rsplit(',')
            .next()
            .map(|vertex| vertex.trim_matches('"'))
            .filter(|vertex| !vertex.is_empty())
    }

    /// Why the match is over.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        if self.moves.ends_with(r#""pass","pass""#) {
            Some("two_passes")
        } else {
            (self.count == self.limit).then_some("move_limit")
        }
    }

    pub(crate) fn read_vertex(&self, text: &str) -> Result<Option<usize>, &'static str> {
        if text == "pass" {
            return Ok(None);
        }
        let column = text.get(..1).and_then(|letter| COLUMNS.find(letter));
        let row = text.get(1..).and_then(|row| row.parse::<usize>().ok());
        match (column, row) {
            (Some(column), Some(row @ 1..)) if column < self.size && row <= self.size => {
                Ok(Some(point(column, row - 1)))
            }
            _ => Err("a move is beyond the board"),
        }
    }

    /// The key after a stone, if it has a liberty then and the position was not there before.
    fn key_after(&self, chains: &Chains, at: usize, colour: Point) -> Option<u64> {
        if self.board[at] != Point::Empty {
            return None;
        }
        let mut key = self.earlier.last ^ stone(at, colour);
        let (mut captured, mut lives) = ([0; 4], false);
        for (index, &near) in neighbours(at).iter().enumerate() {
            let on = self.board[near];
            if on == Point::Empty {
                lives = true;
            } else if on != Point::Rim {
                let of = chains.of[near];
                let has_more = chains.liberties[usize::from(of)] > 1;
                lives |= has_more == (on == colour);
                if !has_more && on != colour && !captured.contains(&of) {
                    captured[index] = of;
                    key ^= chains.keys[usize::from(of)];
                }
            }
        }
        (lives && !self.earlier.contains(key)).then_some(key)
    }

    /// The points where the side to move may put a stone, in order.
    pub(crate) fn legal(&self) -> impl Iterator<Item = usize> {
        let (chains, colour) = (Chains::all(&self.board), self.to_move());
        (0..POINTS).filter(move |&at| self.key_after(&chains, at, colour).is_some())
    }

    /// Plays a move. Returns whether it is legal.
    pub(crate) fn play(&mut self, vertex: Option<usize>) -> bool {
        if self.reason().is_some() {
            return false;
        }
        if let Some(at) = vertex {
            let (mut chains, colour) = (Chains::new(), self.to_move());
            for &near in &neighbours(at) {
                chains.find(&self.board, near);
            }
            let Some(key) = self.key_after(&chains, at, colour) else { return false };
            self.earlier.push(key);
            self.board[at] = colour;
            for &near in &neighbours(at) {
                let of = chains.of[near];
                if self.board[near] == colour.other() && chains.liberties[usize::from(of)] == 1 {
                    for (on, taken) in self.board.iter_mut().zip(chains.of) {
                        if taken == of {
                            *on = Point::Empty;
                        }
                    }
                }
            }
        }
        self.moves.push_str(if self.count == 0 { "\"" } else { ",\"" });
        push_vertex(&mut self.moves, vertex);
        self.moves.push('"');
        self.count += 1;
        true
    }

    /// Half points of Black less those of White.
    pub(crate) fn margin(&self) -> i64 {
        let (mut area, mut seen) = (0, [false; POINTS]);
        for from in 0..POINTS {
            match self.board[from] {
                Point::Black => area += 1,
                Point::White => area -= 1,
                Point::Empty if !seen[from] => {
                    seen[from] = true;
                    let (mut region, mut next) = (vec![from], 0);
                    let [mut reaches_black, mut reaches_white] = [false; 2];
                    while let Some(&at) = region.get(next) {
                        next += 1;
                        for &near in &neighbours(at) {
                            match self.board[near] {
                                Point::Black => reaches_black = true,
                                Point::White => reaches_white = true,
                                Point::Empty if !seen[near] => {
                                    seen[near] = true;
                                    region.push(near);
                                }
                                Point::Empty | Point::Rim => {}
                            }
                        }
                    }
                    area += (i64::from(reaches_black) - i64::from(reaches_white)) * region.len() as i64;
                }
                Point::Empty | Point::Rim => {}
            }
        }
        2 * area - self.komi
    }
}

impl State for Position {
    /// Reads what `push_state` has written.
    fn read(value: &mut Reader<'_>) -> Result<Position, Box<dyn Error>> {
        let mut position = Position::empty(0, 0, 0, 0, Earlier::read(""));
        value.object(|name, value| {
            match name {
                "size" => position.size = value.value()?,
                "komi" => position.komi = value.value()?,
                "handicap" => position.handicap = value.value()?,
                "limit" => position.limit = value.value()?,
                "board" => position.read_board(&value.string()?),
                "keys" => position.earlier = Earlier::read(&value.string()?),
                "moves" => {
                    let (moves, count) = value.items()?;
                    position.moves.reserve(moves.len() + 8);
                    position.moves.push_str(moves);
                    position.count = count;
                }
                _ => drop(value.json()?),
            }
            Ok(())
        })?;
        Ok(position)
    }
}
