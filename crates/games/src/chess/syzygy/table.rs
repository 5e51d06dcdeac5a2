//! A file of a table: its header, and the values, which are compressed.
//!
//! A table has one part for each side to move, and with pawns for each file of the leading pawn. A part has a value for each number of a
//! position. Values are written as symbols in blocks; a symbol stands for one value, or for the two symbols of which it consists, and has a
//! canonical Huffman code.

use std::io::{ErrorKind, SeekFrom};

use cozy_chess::{Board, Color, Piece};
use referee_game::Wrong;
use referee_game::endgames::TableFile;

use super::LETTERS;
use super::index::{FirstPieces, choose, edge, equal_pieces, pawn_order};

/// The first bytes of a file.
const MAGIC: [u8; 4] = [0x71, 0xe8, 0x23, 0x5d];
const DAMAGED: Wrong = Wrong::new("the file is damaged");
/// The bytes of the checksum at the end.
const CHECKSUM: u64 = 16;
/// The alignment of blocks, in bytes.
const ALIGNMENT: u64 = 64;
/// The second half of a symbol that stands for a value.
const IS_VALUE: u16 = 0xfff;

#[derive(Debug)]
pub(super) struct Table {
    has_pawns: bool,
    /// By file of the leading pawn and side to move; tables of equal sides have White to move.
    parts: Vec<Vec<Part>>,
}

#[derive(Debug)]
struct Part {
    /// The pieces in the order of the table: 1 to 6 for White's pawn, knight, bishop, rook, queen and king, 9 to 14 for Black's.
    pieces: Vec<u8>,
    first: FirstPieces,
    /// The factor of the number of the pieces at the beginning.
    factor: u64,
    /// The numbers of equal pieces after them, and what the number of their squares is multiplied by.
    groups: Vec<(usize, u64)>,
    /// Whether the first group consists of the pawns of the other side.
    has_other_pawns: bool,
    /// The number of positions in the part.
    size: u64,
    values: Values,
}

#[derive(Debug)]
enum Values {
    /// The value that all positions have.
    All(u16),
    Packed(Packed),
}

#[derive(Debug)]
struct Packed {
    /// The size of a block in bytes, and the number of positions for each entry of the index.
    block: u64,
    span: u64,
    blocks: u64,
    /// The number of entries for the numbers of values in blocks.
    lengths: u64,
    /// The length of the shortest codes, and by length the first symbol and its code.
    least: u32,
    codes: Vec<(u16, u64)>,
    /// The two symbols of which a symbol consists, or its value and [`IS_VALUE`].
    symbols: Vec<[u16; 2]>,
    /// The number of values that each symbol stands for.
    counts: Vec<u64>,
    /// The offset of the index in the file; lengths and blocks follow it.
    index_at: u64,
    lengths_at: u64,
    blocks_at: u64,
}

fn code(piece: Piece, color: Color) -> u8 {
    1 + piece as u8 + 8 * color as u8
}

fn fill(file: &mut dyn TableFile, bytes: &mut [u8]) -> Result<(), Wrong> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => Wrong::new("the file is cut off"),
        _ => error.into(),
    })
}

fn read<const N: usize>(file: &mut dyn TableFile) -> Result<[u8; N], Wrong> {
    let mut bytes = [0; N];
    fill(file, &mut bytes)?;
    Ok(bytes)
}

fn read_at<const N: usize>(file: &mut dyn TableFile, at: u64) -> Result<[u8; N], Wrong> {
    file.seek(SeekFrom::Start(at))?;
    read(file)
}

impl Table {
    /// Reads the header of the table with this material.
    pub(super) fn read(material: &str, file: &mut dyn TableFile) -> Result<Table, Wrong> {
        let length = file.seek(SeekFrom::End(0))?;
        if read_at(file, 0)? != MAGIC {
            return Err(Wrong::new("this is no Syzygy table, whose first bytes are 71 e8 23 5d"));
        }
        let (white, black) = material.split_once('v').ok_or(DAMAGED)?;
        let codes = |side: &str, color| {
            let of = |letter| LETTERS.iter().find(|&&(_, known)| known == letter);
            side.chars().filter_map(of).map(|&(piece, _)| code(piece, color)).collect::<Vec<u8>>()
        };
        let mut material = [codes(white, Color::White), codes(black, Color::Black)].concat();
        material.sort_unstable();
        let pawns = [white, black].map(|side| side.contains('P'));
        let (has_pawns, has_other_pawns) = (pawns[0] || pawns[1], pawns[0] && pawns[1]);
        let sides = 1 + usize::from(white != black);
        let [flags] = read(file)?;
        if flags & 3 != sides as u8 - 1 + 2 * u8::from(has_pawns) {
            return Err(DAMAGED);
        }
        let mut parts = Vec::new();
        for of_file in 0..if has_pawns { 4 } else { 1 } {
            let [order] = read(file)?;
            let [other] = if has_other_pawns { read(file)? } else { [0xff] };
            let mut pieces = vec![0; material.len()];
            fill(file, &mut pieces)?;
            let part = |side| {
                let half = |byte: u8| byte >> (4 * side) & 15;
                let pieces: Vec<u8> = pieces.iter().copied().map(half).collect();
                let mut sorted = pieces.clone();
                sorted.sort_unstable();
                let orders = [order, other].map(|order| half(order).into());
                let part = || Part::new(pieces, orders, has_pawns.then_some(of_file), has_other_pawns);
                if sorted == material { part() } else { None }
            };
            parts.push((0..sides).map(part).collect::<Option<Vec<Part>>>().ok_or(DAMAGED)?);
        }
        let at = file.stream_position()?;
        file.seek(SeekFrom::Start(at.next_multiple_of(2)))?;
        for part in parts.iter_mut().flatten() {
            part.values = Values::read(file)?;
        }
        let end = place(parts.iter_mut().flatten(), file.stream_position()?);
        if length != end.next_multiple_of(ALIGNMENT) + CHECKSUM {
            return Err(DAMAGED);
        }
        Ok(Table { has_pawns, parts })
    }

    /// The value of a position for the side to move, from -2 to 2. `is_flipped`: White's pieces are Black's in the table.
    pub(super) fn value(
        &self,
        board: &Board,
        is_flipped: bool,
        file: &mut dyn TableFile,
    ) -> Result<i8, Wrong> {
        let mut pieces = Vec::new();
        for color in Color::ALL {
            let code = |piece| code(piece, if is_flipped { !color } else { color });
            let on =
                |piece| board.colored_pieces(color, piece).into_iter().map(move |square| (piece, square));
            let mirror = if is_flipped { 56 } else { 0 };
            pieces.extend(
                Piece::ALL.into_iter().flat_map(on).map(|(piece, at)| (code(piece), at as usize ^ mirror)),
            );
        }
        let mut of_file = 0;
        if self.has_pawns {
            let pawn = self.parts[0][0].pieces[0];
            // The leading pawn comes first.
            pieces.sort_by_key(|&(piece, at)| if piece == pawn { 47 - pawn_order(at) } else { 48 });
            of_file = edge(pieces[0].1);
        }
        let is_black = (board.side_to_move() == Color::Black) != is_flipped;
        let part = &self.parts[of_file][usize::from(is_black)];
        let value = part.values.get(part.number(pieces).ok_or(DAMAGED)?, file)?;
        i8::try_from(value).ok().filter(|value| (0..=4).contains(value)).map(|value| value - 2).ok_or(DAMAGED)
    }
}

/// Places what follows the headers of parts in the file. Returns where it ends.
fn place<'a>(parts: impl Iterator<Item = &'a mut Part>, mut at: u64) -> u64 {
    let packed = |part: &'a mut Part| match &mut part.values {
        Values::All(_) => None,
        Values::Packed(packed) => Some((packed, part.size)),
    };
    let mut all: Vec<(&mut Packed, u64)> = parts.filter_map(packed).collect();
    for (packed, size) in &mut all {
        packed.index_at = at;
        at += 6 * size.div_ceil(packed.span);
    }
    for (packed, _) in &mut all {
        packed.lengths_at = at;
        at += 2 * packed.lengths;
    }
    for (packed, _) in &mut all {
        packed.blocks_at = at.next_multiple_of(ALIGNMENT);
        at = packed.blocks_at + packed.blocks * packed.block;
    }
    at
}

impl Part {
    /// A part with these pieces. `orders`: when the pieces at the beginning, and the pawns of the other side, are multiplied. `file`: that
    /// of the leading pawn. `None` if it is not valid.
    fn new(pieces: Vec<u8>, orders: [usize; 2], file: Option<usize>, has_other_pawns: bool) -> Option<Part> {
        let run = |from: usize| pieces[from..].iter().take_while(|&&piece| piece == pieces[from]).count();
        let is_pawn = |at: usize| pieces[at] & 7 == code(Piece::Pawn, Color::White);
        let is_king = |piece: u8| piece & 7 == code(Piece::King, Color::White);
        let is_alone = |piece: &u8| pieces.iter().filter(|&other| other == piece).count() == 1;
        let first = match file {
            Some(file) => is_pawn(0).then(|| FirstPieces::Pawns(run(0), file))?,
            None if pieces.iter().any(|piece| !is_king(*piece) && is_alone(piece)) => FirstPieces::Three,
            None => FirstPieces::Kings,
        };
        let (mut groups, mut at) = (Vec::new(), first.len());
        while at < pieces.len() {
            groups.push((run(at), 0));
            at += run(at);
        }
        let mut free = 64 - first.len();
        if has_other_pawns {
            free -= groups.first().filter(|_| is_pawn(first.len()))?.0;
        }
        let (mut size, mut factor, mut next) = (1, None, usize::from(has_other_pawns));
        for step in 0..=groups.len() {
            if step == orders[0] {
                factor = Some(size);
                size *= first.size();
            } else if has_other_pawns && step == orders[1] {
                groups[0].1 = size;
                size *= choose(groups[0].0, 48 - first.len());
            } else {
                let (count, factor) = groups.get_mut(next)?;
                *factor = size;
                size *= choose(*count, free);
                free -= *count;
                next += 1;
            }
        }
        Some(Part { pieces, first, factor: factor?, groups, has_other_pawns, size, values: Values::All(0) })
    }

    /// The number of the position with these pieces, of which a leading pawn is the first; `None` if the header is damaged.
    fn number(&self, mut pieces: Vec<(u8, usize)>) -> Option<u64> {
        let mut take = |piece: &u8| {
            let at = pieces.iter().position(|(other, _)| other == piece)?;
            Some(pieces.remove(at).1)
        };
        let mut squares = self.pieces.iter().map(&mut take).collect::<Option<Vec<usize>>>()?;
        let mut number = self.first.number(&mut squares) * self.factor;
        let mut at = self.first.len();
        for (group, &(count, factor)) in self.groups.iter().enumerate() {
            let (before, rest) = squares.split_at_mut(at);
            let skipped = if group == 0 && self.has_other_pawns { 8 } else { 0 };
            number += equal_pieces(before, &mut rest[..count], skipped) * factor;
            at += count;
        }
        (number < self.size).then_some(number)
    }
}

impl Values {
    fn read(file: &mut dyn TableFile) -> Result<Values, Wrong> {
        let [flags, first] = read(file)?;
        if flags & 0x80 != 0 {
            return Ok(Values::All(first.into()));
        }
        let [span, padding] = read(file)?;
        let blocks = u64::from(u32::from_le_bytes(read(file)?));
        let [most, least] = read(file)?;
        if first > 24 || span > 40 || !(1..=most).contains(&least) || most > 32 {
            return Err(DAMAGED);
        }
        let firsts = (least..=most).map(|_| read(file).map(u16::from_le_bytes));
        let firsts = firsts.collect::<Result<Vec<u16>, Wrong>>()?;
        let count = u16::from_le_bytes(read(file)?);
        let symbol = |[low, middle, high]: [u8; 3]| {
            let [low, middle, high] = [low, middle, high].map(u16::from);
            [low | (middle & 15) << 8, middle >> 4 | high << 4]
        };
        let symbols = (0..count).map(|_| read(file).map(symbol)).collect::<Result<Vec<_>, Wrong>>()?;
        if count % 2 == 1 {
            let [_] = read(file)?;
        }
        let packed = Packed {
            block: 1 << first,
            span: 1 << span,
            blocks,
            lengths: blocks + u64::from(padding),
            least: least.into(),
            codes: codes(&firsts).ok_or(DAMAGED)?,
            counts: counts(&symbols).ok_or(DAMAGED)?,
            symbols,
            index_at: 0,
            lengths_at: 0,
            blocks_at: 0,
        };
        Ok(Values::Packed(packed))
    }

    /// Reads the value of the position with this number.
    fn get(&self, number: u64, file: &mut dyn TableFile) -> Result<u16, Wrong> {
        match self {
            Values::All(value) => Ok(*value),
            Values::Packed(packed) => packed.get(number, file),
        }
    }
}

/// The first code of each length, by the first symbols of each length: longer codes are less, and have the earlier symbols.
fn codes(firsts: &[u16]) -> Option<Vec<(u16, u64)>> {
    let mut codes = vec![(*firsts.last()?, 0)];
    for &first in firsts.iter().rev().skip(1) {
        let &(next, code) = codes.last()?;
        codes.push((first, (code + u64::from(first.checked_sub(next)?)) / 2));
    }
    codes.reverse();
    Some(codes)
}

/// Counts the values that each symbol stands for; `None` if one contains itself.
fn counts(symbols: &[[u16; 2]]) -> Option<Vec<u64>> {
    let mut counts = vec![0_u64; symbols.len()];
    while counts.contains(&0) {
        let mut is_progress = false;
        for (symbol, &[left, right]) in symbols.iter().enumerate() {
            if counts[symbol] == 0 {
                let of = |half: u16| counts.get(usize::from(half)).copied();
                counts[symbol] = match (right, of(left), of(right)) {
                    (IS_VALUE, ..) => 1,
                    (_, left, right) if left? == 0 || right? == 0 => continue,
                    (_, left, right) => left?.checked_add(right?)?,
                };
                is_progress = true;
            }
        }
        if !is_progress {
            return None;
        }
    }
    Some(counts)
}

impl Packed {
    /// The number of values in a block, less 1.
    fn length(&self, block: u64, file: &mut dyn TableFile) -> Result<u64, Wrong> {
        if block >= self.lengths {
            return Err(DAMAGED);
        }
        Ok(u16::from_le_bytes(read_at(file, self.lengths_at + 2 * block)?).into())
    }

    fn get(&self, number: u64, file: &mut dyn TableFile) -> Result<u16, Wrong> {
        // An entry is about the position in the middle of its span.
        let [a, b, c, d, e, f] = read_at(file, self.index_at + 6 * (number / self.span))?;
        let mut block = u64::from(u32::from_le_bytes([a, b, c, d]));
        let mut offset = u64::from(u16::from_le_bytes([e, f])) + number % self.span;
        while offset < self.span / 2 {
            block = block.checked_sub(1).ok_or(DAMAGED)?;
            offset += self.length(block, file)? + 1;
        }
        offset -= self.span / 2;
        loop {
            let length = self.length(block, file)?;
            if offset <= length {
                break;
            }
            offset -= length + 1;
            block += 1;
        }
        if block >= self.blocks {
            return Err(DAMAGED);
        }
        let mut bytes = vec![0; self.block as usize];
        file.seek(SeekFrom::Start(self.blocks_at + block * self.block))?;
        fill(file, &mut bytes)?;
        self.unpack(bytes, offset).ok_or(DAMAGED)
    }

    /// The value at this offset in a block; `None` if it is damaged.
    fn unpack(&self, mut bytes: Vec<u8>, mut offset: u64) -> Option<u16> {
        bytes.extend([0; 16]);
        let mut bit = 0;
        let mut symbol = loop {
            let window = u128::from_be_bytes(bytes.get(bit / 8..bit / 8 + 16)?.try_into().ok()?);
            let window = (window << (bit % 8) >> 64) as u64;
            let shifts = (1..=64 - self.least).rev();
            let mut codes = self.codes.iter().zip(shifts);
            let (&(first, code), shift) = codes.find(|((_, code), shift)| window >> shift >= *code)?;
            let symbol = usize::try_from(u64::from(first) + (window >> shift) - code).ok()?;
            let count = *self.counts.get(symbol)?;
            if offset < count {
                break symbol;
            }
            offset -= count;
            bit += 64 - shift as usize;
        };
        loop {
            let [left, right] = *self.symbols.get(symbol)?;
            if right == IS_VALUE {
                return Some(left);
            }
            let count = *self.counts.get(usize::from(left))?;
            symbol = if offset < count { left } else { right }.into();
            offset -= if offset < count { 0 } else { count };
        }
    }
}
