//! Complete matches, and every kind of decision.

use std::collections::BTreeSet;

use referee_game::erased::{MoveError, Rules};
use referee_game::excerpt::excerpt;
use referee_game::json;
use referee_game::seat::Seat;
use referee_protocol::Text;
use referee_protocol::bot::Want;
use referee_protocol::referee as message;
use serde_json::value::RawValue;

use crate::context::{Answer, Context, answer_to};
use crate::encounter::Encounter;
use crate::positions::{SamplePosition, positions};
use crate::rule::Rule;
use crate::verdict::Stop;

/// Number of answers after which a match counts as under way.
const FEW: u32 = 8;

/// Plays the beginning of a match.
pub(super) async fn first_match(context: &mut Context<'_>) -> Result<(), Stop> {
    let rules = context.any_game()?;
    let encounter = context.open(rules, rules.meta().seatings[0], Seat(0))?;
    context.notes.push(rules.meta().id.to_owned());
    context.play(encounter, Seat(0), FEW).await
}

/// Plays a complete match against random moves for each number of seats, each in a different seat.
pub(super) async fn whole_matches(context: &mut Context<'_>, rules: &'static dyn Rules) -> Result<(), Stop> {
    for (index, &seating) in rules.meta().seatings.iter().enumerate() {
        let seat = Seat(((index + 1) % seating.seats()) as u8);
        let encounter = context.open(rules, seating, seat)?;
        let before = context.decisions;
        context.play(encounter, seat, u32::MAX).await?;
        context.notes.push(format!("{} seats: {} decisions", seating.seats(), context.decisions - before));
    }
    Ok(())
}

/// Requests a decision in positions from random playouts, which cover every kind of move.
pub(super) async fn decisions(context: &mut Context<'_>, rules: &'static dyn Rules) -> Result<(), Stop> {
    let mut positions = positions(rules);
    let kinds: BTreeSet<&String> = positions.iter().flat_map(|position| &position.kinds).collect();
    context.notes.push(format!("{} kinds in {} positions", kinds.len(), positions.len()));
    for position in &mut positions {
        let mut matches = [(context.open_still(rules, position.seating, position.seat)?, position.seat)];
        context.begin(&mut matches).await?;
        decide(context, &matches[0].0, position).await?;
        matches[0].0.abort();
        context.exchange(&mut matches).await?;
    }
    Ok(())
}

/// Requests one decision in a position without its history.
async fn decide(
    context: &mut Context<'_>,
    encounter: &Encounter,
    position: &mut SamplePosition,
) -> Result<(), Stop> {
    let limit = context.check.move_limit;
    let lines = request(context, encounter.id(), position);
    let talk = context.talk().await?;
    talk.send(&lines, limit).await;
    let line = context.answer().await?;
    let kinds: Vec<&str> = position.kinds.iter().map(String::as_str).collect();
    let talk = context.talk().await?;
    let fail = |wrong: String, rule| {
        Err(talk.violation(format!("{wrong}; in a position with: {}", kinds.join(", ")), rule).into())
    };
    match answer_to(&line, encounter.id(), 0) {
        Ok(Answer::Move(text)) => {
            let shown = excerpt(&text, 80);
            match position.table.find(&position.decision, position.seat, &text) {
                Ok(_) => Ok(()),
                Err(MoveError::Refused(why)) => fail(format!("`{shown}` is not legal: {why}"), Rule::LEGAL),
                // The rules are at fault, not the bot.
                Err(MoveError::RulesFailed(_)) => Ok(()),
                Err(MoveError::Illegal) => fail(format!("`{shown}` is not legal"), Rule::LEGAL),
                Err(MoveError::Ambiguous(forms)) => {
                    fail(format!("`{shown}` could be {}", forms.join(" or ")), Rule::LEGAL)
                }
            }
        }
        Ok(Answer::Resignation) => Ok(()),
        Err((wrong, rule)) => fail(wrong, rule),
    }
}

/// The messages that a seat receives when it has to decide in this position.
fn request(context: &Context<'_>, id: &str, position: &SamplePosition) -> Vec<u8> {
    let SamplePosition { seating, seat, table, decision, events, .. } = position;
    let mut lines = Vec::new();
    let raw =
        |bytes: Vec<u8>| String::from_utf8(bytes).ok().and_then(|text| RawValue::from_string(text).ok());
    if context.is_wanted(Want::Event) {
        for (n, event) in (0..).zip(events) {
            let Some(event) = raw(event.clone()) else { continue };
            let event = message::Event { r#match: id.into(), seat: seat.0, n, event };
            json::write_line(&mut lines, &message::FromReferee::Event(event));
        }
    }
    let mut view = Vec::new();
    table.write_view(decision, *seat, &mut view);
    let count = table.count(decision, *seat);
    let legal = (0..count).map(|index| Text::from(table.text(decision, *seat, index))).collect();
    let limit_ms = context.check.move_limit.as_millis() as u64;
    let turn = message::Turn {
        r#match: id.into(),
        seat: seat.0,
        turn: 0,
        view: raw(view).filter(|_| context.is_wanted(Want::View)),
        legal: Some(legal).filter(|_| context.is_wanted(Want::Legal)),
        clock: Some(message::TurnClock { bank_ms: 0, limit_ms }),
        banks_ms: Some(vec![Some(0); seating.seats()]),
        turns_left: table.turns_left(),
        draw_offered: false,
        retry: None,
        scene: None,
    };
    json::write_line(&mut lines, &message::FromReferee::Turn(turn));
    lines
}
