//! Delivers the same messages in different ways.

use referee_game::seat::Seat;

use crate::context::Context;
use crate::delivery::Variation;
use crate::verdict::Stop;

/// Plays some decisions of a match with this kind of delivery.
pub(super) async fn with_delivery(context: &mut Context<'_>, delivery: Variation) -> Result<(), Stop> {
    // Large and slow requests take long, so play only a few.
    let most = if matches!(delivery, Variation::Large | Variation::Slow) { 2 } else { 8 };
    let rules = context.any_game()?;
    let encounter = context.open(rules, rules.meta().seatings[0], Seat(0))?;
    context.talk().await?.delivery = delivery;
    let played = context.play(encounter, Seat(0), most).await;
    if let Some(talk) = &mut context.talk {
        talk.delivery = Variation::Plain;
    }
    match played {
        // Only a warning: the referee itself never sends CR LF.
        Err(Stop::Failed(violation)) if delivery == Variation::Crlf => {
            let wrong = violation.wrong;
            context.warnings.push(format!(
                "it does not bear lines that end with CR LF, as a relay on another system may send them: {wrong}"
            ));
            context.restart();
            Ok(())
        }
        played => played,
    }
}
