//! Draws by agreement.

use referee_game::seat::Seat;
use referee_protocol::words::EndedBy;

use crate::context::Context;
use crate::verdict::Stop;

/// Offers a draw with every move. The bot may accept or play on.
pub(super) async fn draw_offers(context: &mut Context<'_>) -> Result<(), Stop> {
    let with_draws = context.games().into_iter().find(|rules| rules.meta().draws_by_agreement);
    let Some(rules) = with_draws else {
        return Err(Stop::Skipped("none of its games has draws by agreement".to_owned()));
    };
    let seat = Seat(1);
    let mut encounter = context.open(rules, rules.meta().seatings[0], seat)?;
    encounter.offers_draws = true;
    let mut matches = [(encounter, seat)];
    context.play_all(&mut matches, 8).await?;
    let has_accepted = matches[0].0.ending().is_some_and(|ending| ending.ended_by == EndedBy::Agreement);
    context.notes.push(if has_accepted { "it accepted" } else { "it played on" }.to_owned());
    Ok(())
}
