//! Matches as SGF.

use referee_module::{Answer, Request, quoted};

use crate::position::{Point, Position, column_and_row, points};

pub(crate) fn exported(mut position: Position, of: &Request<'_, Position>) -> Answer {
    let Position { size, handicap, .. } = position;
    let point = |at: usize| {
        let (column, row) = column_and_row(at);
        [column, size - 1 - row].map(|line| (b'a' + line as u8) as char)
    };
    let mut nodes = String::new();
    for (index, made) in of.moves.iter().enumerate() {
        let vertex = position.read_vertex(&made.r#move)?;
        let colour = if position.to_move() == Point::Black { 'B' } else { 'W' };
        if !position.play(vertex) {
            return Err("a move is not legal".into());
        }
        nodes.push_str(if index % 10 == 0 { "\n;" } else { ";" });
        nodes.extend([colour, '[']);
        nodes.extend(vertex.into_iter().flat_map(point));
        nodes.push(']');
        if let Some(took_us) = made.took_us {
            let ms = took_us / 1000;
            nodes += &format!("C[{}.{:03}s]", ms / 1000, ms % 1000);
        }
    }
    let komi = points(position.komi);
    let mut text = format!("(;GM[1]FF[4]CA[UTF-8]AP[referee]SZ[{size}]KM[{komi}]RU[Chinese]");
    let [black, white] = &of.names[..] else { return Err("the match has not two names".into()) };
    text += &property("PB", black);
    text += &property("PW", white);
    text += &result(&position, of);
    text.extend(of.tag("event").map(|event| property("EV", event)));
    text.extend(of.tag("site").map(|site| property("PC", site)));
    text += &property("RO", of.tag("round").unwrap_or(&of.r#match));
    // SGF has 2026-11-22.
    text.extend(of.tag("date").map(|date| property("DT", &date.replace('.', "-"))));
    if handicap > 0 {
        text += &format!("HA[{handicap}]AB");
        for at in position.handicap_stones() {
            text.push('[');
            text.extend(point(at));
            text.push(']');
        }
    }
    text += &nodes;
    text.push_str(")\n");
    Ok(format!(r#"{{"text":{}}}"#, quoted(&text)))
}

/// A property whose value is a text in one line.
fn property(name: &str, value: &str) -> String {
    let mut text = format!("{name}[");
    for character in value.chars() {
        match character {
            '\n' | '\t' | '\r' | '\u{8}' | '\u{c}' => text.push(' '),
            ..' ' => text.push('?'),
            ']' | '\\' => text.extend(['\\', character]),
            _ => text.push(character),
        }
    }
    text + "]"
}

fn result(position: &Position, of: &Request<'_, Position>) -> String {
    let [black, white] = of.ranks[..] else { return "RE[Void]".to_owned() };
    if black == white {
        return "RE[Draw]".to_owned();
    }
    let winner = if black < white { 'B' } else { 'W' };
    let by = match &*of.ended {
        ended if ended.starts_with("ru") => points(position.margin().abs()),
        ended if ended.starts_with('r') => "R".to_owned(),
        "fault (timeout)" => "T".to_owned(),
        _ => "F".to_owned(),
    };
    format!("RE[{winner}+{by}]")
}
