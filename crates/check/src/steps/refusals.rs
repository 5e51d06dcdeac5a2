//! `error` messages and retries.

use referee_game::json;
use referee_game::seat::Seat;
use referee_protocol::referee as message;
use referee_protocol::words::ErrorCode;
use referee_transport::Line;

use crate::context::Context;
use crate::encounter::handle_line;
use crate::verdict::Stop;

/// Sends irrelevant errors, with a known and an unknown code.
pub(super) async fn errors(context: &mut Context<'_>) -> Result<(), Stop> {
    let rules = context.any_game()?;
    let encounter = context.open(rules, rules.meta().seatings[0], Seat(0))?;
    let stale = message::Error {
        code: ErrorCode::Stale,
        message: "request 0 is closed".to_owned(),
        id: None,
        r#match: Some(encounter.id().to_owned()),
        seat: Some(0),
        turn: Some(0),
        legal_forms: None,
    };
    let limit = context.check.move_limit;
    let mut lines = Vec::new();
    json::write_line(&mut lines, &message::FromReferee::<()>::Error(stale));
    lines.extend(b"{\"type\":\"error\",\"code\":\"bad_weather\",\"message\":\"it rains\"}\n");
    context.talk().await?.send(&lines, limit).await;
    let mut matches = [(encounter, Seat(0))];
    context.begin(&mut matches).await?;
    context.talk().await?.send(&lines, limit).await;
    context.play_all(&mut matches, 2).await
}

/// Simulates a malformed answer: the request is repeated and must be answered under its new id.
pub(super) async fn retry(context: &mut Context<'_>) -> Result<(), Stop> {
    let rules = context.any_game()?;
    let seat = Seat(0);
    let mut matches = [(context.open(rules, rules.meta().seatings[0], seat)?, seat)];
    context.begin(&mut matches).await?;
    for _ in 0..2 {
        context.exchange(&mut matches).await?;
        let encounter = &mut matches[0].0;
        // Discard the answer, and process a malformed one instead.
        if !context.discard_answer(encounter, seat).await? {
            context.notes.push("it resigned".to_owned());
            break;
        }
        handle_line(&mut [(encounter, seat)], Line::Text(b"not an object"));
    }
    context.play_all(&mut matches, 2).await
}
