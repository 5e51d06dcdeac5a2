//! `error` messages, and requests that are put again.

use referee_protocol::referee as message;
use referee_protocol::words::ErrorCode;

use crate::check::desk::Desk;
use crate::check::verdict::Stop;
use crate::core::json;
use crate::core::seat::Seat;

/// Errors about messages that do not matter any more, of a kind that it knows and of one that it cannot know.
pub(super) async fn errors(desk: &mut Desk<'_>) -> Result<(), Stop> {
    let rules = desk.any_game()?;
    let encounter = desk.open(rules, rules.meta().seatings[0], Seat(0))?;
    let stale = message::Error {
        code: ErrorCode::Stale,
        message: "request 0 is closed".to_owned(),
        id: None,
        r#match: Some(encounter.id().to_owned()),
        seat: Some(0),
        turn: Some(0),
        legal_forms: None,
    };
    let limit = desk.check.move_limit;
    let mut lines = Vec::new();
    json::write_line(&mut lines, &message::FromReferee::<()>::Error(stale));
    lines.extend(b"{\"type\":\"error\",\"code\":\"bad_weather\",\"message\":\"it rains\"}\n");
    desk.talk().await?.say(&lines, limit).await;
    let mut matches = [(encounter, Seat(0))];
    desk.begin(&mut matches).await?;
    desk.talk().await?.say(&lines, limit).await;
    desk.play_all(&mut matches, 2).await
}

/// An answer arrives damaged: the request is put again, and has to be answered under its new id.
pub(super) async fn retry(desk: &mut Desk<'_>) -> Result<(), Stop> {
    let rules = desk.any_game()?;
    let seat = Seat(0);
    let mut matches = [(desk.open(rules, rules.meta().seatings[0], seat)?, seat)];
    desk.begin(&mut matches).await?;
    for _ in 0..2 {
        desk.exchange(&mut matches).await?;
        let encounter = &mut matches[0].0;
        let turn = encounter.open_request(seat).unwrap_or_default();
        // What it answers is lost on the way.
        if !desk.overhear(encounter, seat).await? {
            desk.notes.push("it resigned".to_owned());
            break;
        }
        encounter.damage(seat, turn);
    }
    desk.play_all(&mut matches, 2).await
}
