//! Matches as CSA, version 2.2.

use referee_module::{Answer, Request, quoted};

use crate::game::Game;
use crate::position::{EMPTY, KING, Move, PAWN, Position, SIZE, WHITE, column_of, row_of, square, type_of};

/// The names of pieces by their types.
pub(crate) const NAMES: [&str; 16] =
    ["", "FU", "KY", "KE", "GI", "KI", "KA", "HI", "OU", "TO", "NY", "NK", "NG", "", "UM", "RY"];

pub(crate) fn exported(mut game: Game, of: &Request<'_, Game>) -> Answer {
    let mut text = "V2.2\n".to_owned();
    let [black, white] = &of.names[..] else { return Err("the match has not two names".into()) };
    let date = of.tag("date").map(|date| date.replace('.', "/"));
    let lines = [
        ("N+", Some(&**black)),
        ("N-", Some(&**white)),
        ("$EVENT:", of.tag("event")),
        ("$SITE:", of.tag("site")),
        ("$START_TIME:", date.as_deref()),
    ];
    for (name, value) in lines {
        text.extend(value.map(|value| format!("{name}{}\n", in_one_line(value))));
    }
    push_position(&mut text, &game.position);
    let sign = |seat| if seat == 0 { "+" } else { "-" };
    text += sign(game.position.to_move);
    text.push('\n');
    for made in of.moves.iter().take_while(|made| made.r#move != "win") {
        let ply = Move::read(&made.r#move).ok_or("a move names no square")?;
        text += sign(game.position.to_move);
        game.play(ply);
        push_square(&mut text, ply.from);
        push_square(&mut text, Some(ply.to));
        text += NAMES[usize::from(type_of(game.position.board[usize::from(ply.to)]))];
        text.push('\n');
        text.extend(made.took_us.map(|took_us| format!("T{}\n", took_us / 1_000_000)));
    }
    text += &format!("{}\n/\n", end(&of.ended, &game));
    Ok(format!(r#"{{"text":{}}}"#, quoted(&text)))
}

fn in_one_line(text: &str) -> String {
    let plain = |character| match character {
        '\n' | '\t' | '\r' | '\u{8}' | '\u{c}' => ' ',
        ..' ' => '?',
        _ => character,
    };
    text.chars().map(plain).collect()
}

fn push_square(text: &mut String, at: Option<u8>) {
    *text += &match at.map(usize::from) {
        Some(at) => format!("{}{}", SIZE - column_of(at), row_of(at) + 1),
        None => "00".to_owned(),
    };
}

fn push_position(text: &mut String, position: &Position) {
    for row in 0..SIZE {
        *text += &format!("P{}", row + 1);
        for column in 0..SIZE {
            let piece = position.board[square(column, row)];
            if piece == EMPTY {
                text.push_str(" * ");
            } else {
                text.push(if piece & WHITE == 0 { '+' } else { '-' });
                text.push_str(NAMES[usize::from(type_of(piece))]);
            }
        }
        text.push('\n');
    }
    for (hand, sign) in position.hands.iter().zip(['+', '-']) {
        for kind in usize::from(PAWN)..usize::from(KING) {
            *text += &format!("P{sign}00{}\n", NAMES[kind]).repeat(usize::from(hand[kind]));
        }
    }
}

fn end(ended: &str, game: &Game) -> &'static str {
    match ended {
        "rules (checkmate)" | "rules (no_moves)" => "%TSUMI",
        "rules (repetition)" => "%SENNICHITE",
        "rules (declaration)" => "%KACHI",
        "rules (perpetual_check)" if game.perpetual() == Some(0) => "%+ILLEGAL_ACTION",
        "rules (perpetual_check)" => "%-ILLEGAL_ACTION",
        "resignation (resignation)" => "%TORYO",
        "fault (timeout)" => "%TIME_UP",
        "fault (illegal_move)" => "%ILLEGAL_MOVE",
        _ if ended.starts_with('f') => "%ERROR",
        _ if ended.starts_with("ab") => "%CHUDAN",
        _ => "%HIKIWAKE",
    }
}
