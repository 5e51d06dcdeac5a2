//! Draws by agreement.

use crate::check::context::Context;
use crate::check::verdict::Stop;
use crate::core::seat::Seat;

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
    let how = matches[0].0.ending().map_or("", |ending| ending.ended_by.as_str());
    context.notes.push(if how == "agreement" { "it accepted" } else { "it played on" }.to_owned());
    Ok(())
}
