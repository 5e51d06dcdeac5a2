//! Positions in SFEN.

use referee_module::push_number;

use crate::position::PROMOTED;
use crate::position::{
    EMPTY, GOLD, KING, PAWN, Position, ROOK, SIZE, WHITE, colour_of, depth, is_promoted, reach, square,
    type_of, unpromoted,
};

/// The letters of black pieces by their types.
pub(crate) const LETTERS: [u8; 9] = *b" PLNSGBRK";
const AMOUNTS: [u16; 9] = [0, 18, 4, 4, 4, 4, 2, 2, 2];

/// Adds the letter of a piece, with + before it if it is promoted.
pub(crate) fn push_piece(text: &mut String, piece: u8) {
    if is_promoted(piece) {
        text.push('+');
    }
    let kind = if type_of(piece) == KING { KING } else { unpromoted(piece) };
    let letter = char::from(LETTERS[usize::from(kind)]);
    text.push(if piece & WHITE == 0 { letter } else { letter.to_ascii_lowercase() });
}

/// Adds a position without the number of the next move.
pub(crate) fn push(text: &mut String, position: &Position) {
    for row in 0..SIZE {
        let mut empty = 0;
        for column in 0..SIZE {
            let piece = position.board[square(column, row)];
            if piece == EMPTY {
                empty += 1;
                continue;
            }
            if empty > 0 {
                push_number(text, empty);
            }
            empty = 0;
            push_piece(text, piece);
        }
        if empty > 0 {
            push_number(text, empty);
        }
        if row < SIZE - 1 {
            text.push('/');
        }
    }
    text.push_str(if position.to_move == 0 { " b " } else { " w " });
    let before = text.len();
    for (seat, hand) in position.hands.iter().enumerate() {
        for kind in (PAWN..=ROOK).rev() {
            let amount = hand[usize::from(kind)];
            if amount > 1 {
                push_number(text, i64::from(amount));
            }
            if amount > 0 {
                push_piece(text, colour_of(seat) | kind);
            }
        }
    }
    if text.len() == before {
        text.push('-');
    }
}

/// The piece of a letter.
fn piece_of(letter: u8) -> Option<u8> {
    let kind = LETTERS.iter().skip(1).position(|&known| known == letter.to_ascii_uppercase())? as u8 + PAWN;
    Some(kind | colour_of(usize::from(letter.is_ascii_lowercase())))
}

/// Reads a position and the number of the next move, or says why it is none.
pub(crate) fn read(text: &str) -> Result<(Position, i64), &'static str> {
    let mut position = Position::empty();
    let (mut pieces, mut kings) = ([0; KING as usize + 1], [0; 2]);
    let (board, rest) = text.split_once(' ').map_or((text, None), |(board, rest)| (board, Some(rest)));
    let mut ranks = board.split('/').peekable();
    for row in 0..SIZE {
        let mut column = 0;
        let mut letters = ranks.next().unwrap_or_default().bytes();
        while let Some(letter) = letters.next() {
            if let b'1'..=b'9' = letter {
                column += usize::from(letter - b'0');
                if column > SIZE {
                    return Err("sfen: a rank has more than nine squares");
                }
                continue;
            }
            let is_promoted = letter == b'+';
            let piece = if is_promoted { letters.next() } else { Some(letter) }.and_then(piece_of);
            let Some(piece) = piece.filter(|&piece| !is_promoted || ![GOLD, KING].contains(&type_of(piece)))
            else {
                return Err(
                    "sfen: expected the letters of pieces, + before promoted ones, and the numbers of empty squares",
                );
            };
            if column == SIZE {
                return Err("sfen: a rank has more than nine squares");
            }
            let (kind, seat, to) = (type_of(piece), usize::from(piece & WHITE != 0), square(column, row));
            column += 1;
            pieces[usize::from(kind)] += 1;
            if kind == KING {
                position.kings[seat] = to;
                kings[seat] += 1;
            }
            if !is_promoted && depth(seat, to) < reach(kind) {
                return Err("sfen: a piece has no square to go to");
            }
            position.board[to] = piece | if is_promoted { PROMOTED } else { 0 };
        }
        if column < SIZE {
            return Err("sfen: a rank has less than nine squares");
        }
        let is_last = ranks.peek().is_none();
        if is_last != (row == SIZE - 1) || (is_last && rest.is_none()) {
            return Err("sfen: expected nine ranks");
        }
    }
    let (side, rest) = rest.and_then(|rest| rest.split_once(' ')).unwrap_or_default();
    position.to_move = match side {
        "b" => 0,
        "w" => 1,
        _ => return Err("sfen: expected b or w after the board"),
    };
    let (held, number) = rest.split_once(' ').map_or((rest, None), |(held, number)| (held, Some(number)));
    let mut amount = 0;
    for letter in held.strip_prefix('-').map_or(held, |_| "").bytes() {
        if letter.is_ascii_digit() && amount < 100 {
            amount = 10 * amount + u16::from(letter - b'0');
            continue;
        }
        let piece = piece_of(letter).filter(|&piece| type_of(piece) != KING);
        let piece = piece.ok_or("sfen: expected the pieces in hand, or -")?;
        let kind = usize::from(type_of(piece));
        amount = amount.max(1);
        if amount > AMOUNTS[kind] {
            return Err("sfen: there are more pieces of a type than in a set");
        }
        position.hands[usize::from(piece & WHITE != 0)][kind] += amount;
        pieces[kind] += amount;
        amount = 0;
    }
    if amount > 0 {
        return Err("sfen: expected the pieces in hand, or -");
    }
    let digits = number.unwrap_or_default().bytes().take_while(u8::is_ascii_digit);
    let number = digits.fold(None, |number: Option<i64>, digit| {
        Some(number.unwrap_or(0).saturating_mul(10).saturating_add(i64::from(digit - b'0')))
    });
    let is_plain = !held.starts_with('-') || held == "-";
    let number =
        number.filter(|_| is_plain).ok_or("sfen: expected the number of the next move at the end")?;
    if kings != [1, 1] {
        return Err("sfen: expected a king of each side");
    }
    if pieces.iter().zip(AMOUNTS).skip(1).any(|(&pieces, most)| pieces > most) {
        return Err("sfen: there are more pieces of a type than in a set");
    }
    for column in 0..SIZE {
        for seat in 0..2 {
            let is_pawn = |row: &usize| position.board[square(column, *row)] == colour_of(seat) | PAWN;
            if (0..SIZE).filter(is_pawn).count() > 1 {
                return Err("sfen: two pawns of a side are on one file");
            }
        }
    }
    if position.is_in_check(1 - position.to_move) {
        return Err("sfen: the side that is not to move is in check");
    }
    Ok((position, number))
}
