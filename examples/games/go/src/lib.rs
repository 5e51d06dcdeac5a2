//! The rules of Go: see rules.md.

mod position;
mod scene;
mod sgf;

use std::borrow::Cow;
use std::error::Error;

use referee_module::{Answer, Reader, Request, push_number};

use crate::position::{Point, Position, points, push_vertex};

referee_module::export!(answer);

fn answer(mut request: Request<'_, Position>) -> Answer {
    let mut position = match request.state.take() {
        Some(position) => position,
        None => match Position::start(request.options)? {
            Ok(position) => position,
            Err(bad) => return Ok(format!(r#"{{"bad_options":"{bad}"}}"#)),
        },
    };
    match &*request.kind {
        "show" => return Ok(scene::shown(&position)),
        "export" => return sgf::exported(position, &request),
        "imagine" => {
            for (index, text) in moves_of(request.view)?.into_iter().enumerate() {
                let is_legal = position.read_vertex(&text).is_ok_and(|vertex| position.play(vertex));
                if !is_legal {
                    return Ok(format!(r#"{{"bad_view":"moves: number {} is not legal"}}"#, index + 1));
                }
            }
            if position.reason().is_some() {
                return Ok(r#"{"bad_view":"moves: the match is over"}"#.to_owned());
            }
        }
        "play" => {
            let made = request.moves.first().ok_or("the request has no move")?;
            let vertex = position.read_vertex(&made.r#move)?;
            if !position.play(vertex) {
                return Err("a move is not legal".into());
            }
        }
        _ => {}
    }
    Ok(answered(&position))
}

/// The moves in a view.
fn moves_of(view: &str) -> Result<Vec<Cow<'_, str>>, Box<dyn Error>> {
    let mut moves = Vec::new();
    Reader::new(view).object(|name, value| {
        if name == "moves" {
            moves = value.list(Reader::string)?;
            Ok(())
        } else {
            value.json().map(drop)
        }
    })?;
    Ok(moves)
}

/// A position, and what comes next.
fn answered(position: &Position) -> String {
    let mut text = String::with_capacity(1 << 14);
    text.push_str("{\"state\":");
    position.push_state(&mut text);
    text.push_str(",\"turns_left\":");
    push_number(&mut text, (position.limit - position.count) as i64);
    text.push_str(",\"turn\":");
    if let Some(reason) = position.reason() {
        let black = position.margin();
        let (first, second) = (1 + u8::from(black < 0), 1 + u8::from(black > 0));
        text += &format!(r#"{{"over":{{"ranks":[{first},{second}],"reason":"{reason}"}}}}}}"#);
        return text;
    }
    text.push_str(match position.to_move() {
        Point::White => "{\"decide\":[{\"seat\":1,\"legal\":[",
        _ => "{\"decide\":[{\"seat\":0,\"legal\":[",
    });
    for at in position.legal() {
        text.push('"');
        push_vertex(&mut text, Some(at));
        text.push_str("\",");
    }
    text.push_str("\"pass\"],\"view\":");
    push_view(&mut text, position);
    text.push_str("}]}}");
    text
}

fn push_view(text: &mut String, position: &Position) {
    text.push_str("{\"size\":");
    push_number(text, position.size as i64);
    text.push_str(",\"komi\":");
    text.push_str(&points(position.komi));
    text.push_str(",\"handicap\":");
    push_number(text, position.handicap as i64);
    for part in [",\"to_move\":\"", position.to_move().name(), "\",\"board\":["] {
        text.push_str(part);
    }
    for row in (0..position.size).rev() {
        text.push('"');
        position.push_row(text, row);
        text.push_str(if row > 0 { "\"," } else { "\"" });
    }
    for part in ["],\"moves\":[", &position.moves, "]}"] {
        text.push_str(part);
    }
}
