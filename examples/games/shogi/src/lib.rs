//! The rules of Shogi: see rules.md.

mod csa;
mod game;
mod position;
mod scene;
mod sfen;

use referee_module::{Answer, Reader, Request, push_number};

use crate::game::{Game, Over};
use crate::position::Move;

referee_module::export!(answer);

fn answer(mut request: Request<'_, Game>) -> Answer {
    let mut game = match request.state.take() {
        Some(game) => game,
        None => match Game::start(request.options)? {
            Ok(game) => game,
            Err(bad) => return Ok(format!(r#"{{"bad_options":"{bad}"}}"#)),
        },
    };
    match &*request.kind {
        "show" => return Ok(scene::shown(&mut game)),
        "export" => return csa::exported(game, &request),
        "imagine" => {
            let mut are_legal = true;
            Reader::new(request.view).object(|name, value| {
                if name == "moves" {
                    are_legal = value.list(Reader::string)?.iter().all(|text| plays(&mut game, text));
                } else {
                    value.json()?;
                }
                Ok(())
            })?;
            if !are_legal || game.legal().is_err() {
                return Ok(
                    r#"{"bad_view":"moves: expected legal ones, after which the match goes on"}"#.to_owned()
                );
            }
        }
        "play" => match &*request.moves.first().ok_or("the request has no move")?.r#move {
            "win" => game.declare(),
            text => game.play(Move::read(text).ok_or("a move names no square")?),
        },
        _ => {}
    }
    Ok(answered(&mut game))
}

/// Plays a move if it is legal.
fn plays(game: &mut Game, text: &str) -> bool {
    let legal = game.legal().unwrap_or_default();
    let made = Move::read(text).filter(|made| legal.contains(made));
    made.map(|made| game.play(made)).is_some()
}

/// A position, and what comes next.
fn answered(game: &mut Game) -> String {
    let legal = game.legal();
    let mut text = String::with_capacity(1 << 14);
    text.push_str("{\"state\":");
    game.push_state(&mut text);
    text.push_str(",\"turns_left\":");
    push_number(&mut text, game.turns_left() as i64);
    text.push_str(",\"turn\":");
    let legal = match legal {
        Ok(legal) => legal,
        Err(Over { reason, winner }) => {
            let [first, second] = [Some(1), Some(0)].map(|other| 1 + u8::from(winner == other));
            text += &format!(r#"{{"over":{{"ranks":[{first},{second}],"reason":"{reason}"}}}}}}"#);
            return text;
        }
    };
    text.push_str(
        ["{\"decide\":[{\"seat\":0,\"legal\":[", "{\"decide\":[{\"seat\":1,\"legal\":["]
            [game.position.to_move],
    );
    for (index, made) in legal.iter().enumerate() {
        text.push_str(if index == 0 { "\"" } else { ",\"" });
        made.push(&mut text);
        text.push('"');
    }
    if game.may_declare() {
        text.push_str(if legal.is_empty() { "\"win\"" } else { ",\"win\"" });
    }
    text.push_str("],\"view\":");
    push_view(&mut text, game);
    text.push_str("}]}}");
    text
}

fn push_view(text: &mut String, game: &Game) {
    text.push_str("{\"sfen\":\"");
    game.push_sfen(text);
    let in_check = if game.is_in_check() { "true" } else { "false" };
    for part in ["\",\"start\":", &game.start, ",\"in_check\":", in_check, ",\"repetitions\":"] {
        text.push_str(part);
    }
    push_number(text, game.repetitions() as i64);
    for part in [",\"moves\":[", &game.moves, "]}"] {
        text.push_str(part);
    }
}
