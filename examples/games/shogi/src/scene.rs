//! How a position looks.

use crate::csa::NAMES;
use crate::game::{Game, Over};
use crate::position::{
    EMPTY, KING, Move, PAWN, Position, ROOK, SIZE, WHITE, colour_of, column_of, is_promoted, push_square,
    row_of, square, type_of,
};
use crate::push_view;
use crate::sfen::{LETTERS, push_piece};

const SIGNS: [&str; 16] =
    ["", "歩", "香", "桂", "銀", "金", "角", "飛", "玉", "と", "杏", "圭", "全", "", "馬", "竜"];
const SEATS: [&str; 2] = ["black", "white"];

/// Units of a square, and where the board begins.
const STEP: usize = 40;
const LEFT: usize = 70;
const TOP: usize = 24;

/// The answer to `show`.
pub(crate) fn shown(game: &mut Game) -> String {
    let legal = game.legal();
    let mut text = String::with_capacity(1 << 15);
    text.push_str("{\"view\":");
    push_view(&mut text, game);
    text.push_str(",\"text\":\"");
    push_board(&mut text, &game.position);
    text.push_str("\",\"scene\":");
    push_scene(&mut text, game, legal);
    text.push('}');
    text
}

/// The pieces in a hand, from rooks to pawns, and how many there are.
fn held(position: &Position, seat: usize) -> impl Iterator<Item = (u8, u16)> {
    let hand = position.hands[seat];
    (PAWN..=ROOK).rev().map(move |kind| (kind, hand[usize::from(kind)])).filter(|(_, amount)| *amount > 0)
}

fn hand(position: &Position, seat: usize) -> String {
    let name = |(kind, amount): (u8, u16)| {
        let letter = char::from(LETTERS[usize::from(kind)]);
        if amount > 1 { format!("{letter}{amount}") } else { letter.to_string() }
    };
    let names: Vec<String> = held(position, seat).map(name).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(" ") }
}

fn push_board(text: &mut String, position: &Position) {
    text.push(' ');
    for file in (1..=SIZE).rev() {
        *text += &format!(" {file} ");
    }
    for row in 0..SIZE {
        text.push_str("\\n ");
        for column in 0..SIZE {
            let piece = position.board[square(column, row)];
            if !is_promoted(piece) {
                text.push(' ');
            }
            if piece == EMPTY {
                text.push('.');
            } else {
                push_piece(text, piece);
            }
            text.push(' ');
        }
        text.push(char::from(b'a' + row as u8));
    }
    let [black, white] = [0, 1].map(|seat| hand(position, seat));
    *text += &format!(r"\nblack (capital letters) holds {black}\nwhite (small letters) holds {white}\n");
}

fn push_label(text: &mut String, id: &str, x: usize, y: usize, label: &str) {
    *text += &format!(
        r#",{{"id":"{id}","layer":"label","at":[{x},{y}],"parts":[{{"form":"text","at":[0,0],"size":13,"text":"{label}"}}]}}"#
    );
}

fn push_piece_shape(text: &mut String, id: &str, piece: u8, x: usize, y: usize) {
    let kind = type_of(piece);
    let is_white = piece & WHITE != 0;
    let name = NAMES[usize::from(kind)];
    let turn = if is_white { 180 } else { 0 };
    let sign = if is_white && kind == KING { "王" } else { SIGNS[usize::from(kind)] };
    let fill = if is_promoted(piece) { "red" } else { "black" };
    *text += &format!(
        r#",{{"id":"{id}","kind":"{name}","at":[{x},{y}],"turn":{turn},"parts":[{{"form":"polygon","points":[[0,-18],[12,-13],[15,16],[-15,16],[-12,-13]],"fill":"light","outline":{{"colour":"black","width":1}}}},{{"form":"text","at":[0,1],"size":19,"text":"{sign}","fill":"{fill}"}}]}}"#
    );
}

fn push_scene(text: &mut String, game: &Game, legal: Result<Vec<Move>, Over>) {
    let position = &game.position;
    let side = STEP * SIZE;
    let (width, height) = (side + 2 * LEFT, TOP + side + 6);
    *text += &format!(
        r#"{{"width":{width},"height":{height},"seats":["ink","faint"],"shapes":[{{"id":"board","layer":"board","at":[{LEFT},{TOP}],"parts":[{{"form":"rect","at":[0,0],"width":{side},"height":{side},"fill":"special"}}"#
    );
    for at in (0..=SIZE).map(|line| STEP * line) {
        *text += &format!(r#",{{"form":"rect","at":[{at},0],"width":1,"height":{side},"fill":"black"}}"#);
        *text += &format!(r#",{{"form":"rect","at":[0,{at}],"width":{side},"height":1,"fill":"black"}}"#);
    }
    text.push_str("]}");
    for index in 0..SIZE {
        let (file, rank) = (SIZE - index, char::from(b'a' + index as u8).to_string());
        let middle = STEP * index + STEP / 2;
        push_label(text, &format!("file{file}"), LEFT + middle, TOP - 10, &file.to_string());
        push_label(text, &format!("rank{}", index + 1), LEFT + side + 9, TOP + middle, &rank);
    }
    for at in (0..SIZE).flat_map(|row| (0..SIZE).map(move |column| square(column, row))) {
        let (x, y) = (LEFT + STEP * column_of(at), TOP + STEP * row_of(at));
        let mut name = String::new();
        push_square(&mut name, at);
        *text += &format!(
            r#",{{"id":"square {name}","layer":"board","at":[{x},{y}],"parts":[{{"form":"rect","at":[0,0],"width":{STEP},"height":{STEP}}}]}}"#
        );
        if position.board[at] != EMPTY {
            push_piece_shape(text, &name, position.board[at], x + STEP / 2, y + STEP / 2);
        }
    }
    for (seat, name) in SEATS.into_iter().enumerate() {
        for (place, (kind, amount)) in held(position, seat).enumerate() {
            let (x, y) = if seat == 0 {
                (LEFT + side + 38, TOP + side - 20 - 44 * place)
            } else {
                (22, TOP + 20 + 44 * place)
            };
            let id = format!("hand-{name}-{}", NAMES[usize::from(kind)]);
            push_piece_shape(text, &id, colour_of(seat) | kind, x, y);
            if amount > 1 {
                push_label(text, &format!("{name}{kind}"), x + 24, y, &amount.to_string());
            }
        }
    }
    *text += &format!(
        r#"],"words":["{}","black holds {}","white holds {}"],"places":{{"#,
        words(game, legal.as_ref().err()),
        hand(position, 0),
        hand(position, 1)
    );
    push_places(text, position.to_move, &legal.unwrap_or_default());
    text.push_str("}}");
}

fn words(game: &Game, over: Option<&Over>) -> String {
    match over {
        Some(Over { reason, winner }) => {
            let reason = reason.replace('_', " ");
            winner.map_or_else(|| format!("draw: {reason}"), |seat| format!("{} wins: {reason}", SEATS[seat]))
        }
        None => {
            let check = if game.is_in_check() { ", in check" } else { "" };
            format!("{} to move{check}", SEATS[game.position.to_move])
        }
    }
}

/// What a person clicks for a move: two squares, or a piece in hand and a square.
fn push_places(text: &mut String, to_move: usize, legal: &[Move]) {
    for (index, made) in legal.iter().enumerate() {
        text.push_str(if index == 0 { "\"" } else { ",\"" });
        made.push(text);
        if let Some(from) = made.from {
            text.push_str("\":[\"square ");
            push_square(text, usize::from(from));
        } else {
            *text += &format!("\":[\"hand-{}-{}", SEATS[to_move], NAMES[usize::from(made.dropped)]);
        }
        text.push_str("\",\"square ");
        push_square(text, usize::from(made.to));
        text.push_str("\"]");
    }
}
