//! Answers to requests, as steps with raw messages read them.

use referee_engine::driver::incoming::{self, Incoming};
use referee_game::excerpt::excerpt;

use crate::rule::Rule;

/// An answer to a request without a draw offer.
pub(crate) enum Answer {
    Move(String),
    Resignation,
}

/// Reads the answer to this request.
///
/// # Errors
/// What is wrong with the line, and the violated sentence.
pub(crate) fn answer_to(line: &[u8], id: &str, turn: u32) -> Result<Answer, (String, Rule)> {
    let named = |of: &str, named: u64| {
        if of != id {
            Err((
                format!("it answers for the match `{}`: `{id}` is played", excerpt(of, 40)),
                Rule::ELSEWHERE,
            ))
        } else if named != u64::from(turn) {
            let rule = if named < turn.into() { Rule::OLD } else { Rule::TURN };
            Err((format!("it answers request {named}: request {turn} is open"), rule))
        } else {
            Ok(())
        }
    };
    match incoming::read(line, false).1 {
        Ok(Incoming::Move(answer)) => {
            named(&answer.r#match, answer.turn).map(|()| Answer::Move(answer.r#move.to_string()))
        }
        Ok(Incoming::AcceptDraw(answer)) => named(&answer.r#match, answer.turn).and_then(|()| {
            Err((
                "no draw is offered: `accept_draw` answers a request with `draw_offered`".to_owned(),
                Rule::NO_OFFER,
            ))
        }),
        Ok(Incoming::Resign(answer)) => named(&answer.r#match, turn.into()).map(|()| Answer::Resignation),
        Ok(Incoming::Hello(_)) => Err(("`hello` comes once".to_owned(), Rule::HELLO_ONCE)),
        Ok(_) => Err(("`ready` answers `start`, once".to_owned(), Rule::READY)),
        Err(unreadable) => {
            let (refused, what) = unreadable.refusal();
            Err((what, Rule::of(refused.code)))
        }
    }
}
