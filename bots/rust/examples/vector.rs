//! The vector bot, which is used to test all SDKs and reports its input.

use std::collections::HashMap;

use referee_bot::serde_json::{Value, json};
use referee_bot::{Answer, Bot, End, Error, Event, Hello, Inability, Move, Start, Turn, hello, run};
use serde::Deserialize;

/// Messages of a bot for one seat of a match.
struct Seen {
    game: String,
    is_unlisted: bool,
    events: u32,
}

#[derive(Default)]
struct Vector {
    plays: HashMap<(String, u8), Seen>,
    ended: Vec<String>,
}

impl Bot for Vector {
    fn hello(&self) -> Hello {
        let details = [("kind".to_owned(), "test".to_owned())].into();
        Hello { version: Some("1.0".to_owned()), details, slots: Some(64), ..hello("vector") }
    }

    fn start(&mut self, start: &Start<'_>) {
        let seen = Seen { game: start.game.clone(), is_unlisted: start.unlisted, events: 0 };
        self.plays.insert((start.r#match.clone(), start.seat), seen);
    }

    fn nonce(&mut self, _: &Start<'_>) -> Option<String> {
        Some("00ff".to_owned())
    }

    fn event(&mut self, event: &Event<'_>) {
        let Ok(event) = event.read::<Value>() else { return };
        if let Some(seen) = self.plays.get_mut(&(event.r#match.into_owned(), event.seat)) {
            seen.events += 1;
        }
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Answer {
        if turn.draw_offered {
            return Answer::AcceptDraw;
        }
        let seen = self.plays.get_mut(&(turn.r#match.to_string(), turn.seat));
        let Some(seen) = seen.filter(|_| turn.retry.is_none()) else { return Answer::Resign };
        let view: Value = turn.view().unwrap_or_default();
        if let Ok(because) = Inability::deserialize(&view["unable"]["because"]) {
            return Answer::Unable { because, info: view["unable"].get("info").cloned() };
        }
        let mut info = json!({
            "game": seen.game,
            "events": std::mem::take(&mut seen.events),
            "limit_ms": turn.clock.map(|clock| clock.limit_ms),
            "ended": self.ended,
        });
        if let Some(banks) = &turn.banks_ms {
            info["banks_ms"] = json!(banks);
        }
        let first = if seen.is_unlisted { Move::text("unlisted") } else { Move::legal(0) };
        let first = first.with_info(info);
        if turn.turns_left == Some(1) { first.offering_draw().into() } else { first.into() }
    }

    fn end(&mut self, end: &End) {
        self.ended.push(end.ended_by.to_string());
    }
}

fn main() -> Result<(), Error> {
    run(Vector::default())
}
