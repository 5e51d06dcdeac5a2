//! Several matches in one process.

use referee_game::seat::Seat;

use crate::context::Context;
use crate::verdict::Stop;

/// Maximum number of slots used.
const SLOTS: u64 = 8;
/// The number of answers in each match.
const FEW: u32 = 8;

/// Plays two matches in the same process, in different seats.
pub(super) async fn second_match(context: &mut Context<'_>) -> Result<(), Stop> {
    let rules = context.any_game()?;
    let seating = rules.meta().seatings[0];
    for seat in [Seat(0), Seat(1)] {
        let encounter = context.open(rules, seating, seat)?;
        context.play(encounter, seat, FEW).await?;
    }
    Ok(())
}

/// Aborts a match while a request is open, and starts the next one in the same write.
pub(super) async fn broken_off(context: &mut Context<'_>) -> Result<(), Stop> {
    let rules = context.any_game()?;
    let (seating, seat) = (rules.meta().seatings[0], Seat(0));
    let mut matches = [(context.open(rules, seating, seat)?, seat)];
    context.begin(&mut matches).await?;
    // Read the answer to the open request first, so that it is not attributed to the next match.
    context.discard_answer(&mut matches[0].0, seat).await?;
    matches[0].0.abort();
    let [broken] = matches;
    let next = (context.open(rules, seating, seat)?, seat);
    context.play_all(&mut [broken, next], FEW).await
}

/// Plays as many concurrent matches as the bot allows, up to a maximum.
pub(super) async fn slots(context: &mut Context<'_>) -> Result<(), Stop> {
    let slots = context.hello.as_ref().and_then(|hello| hello.slots).unwrap_or(1).min(SLOTS);
    if slots < 2 {
        return Err(Stop::Skipped("it plays one match at once: it says no `slots`".to_owned()));
    }
    let games = context.games();
    let mut matches = Vec::new();
    for (index, rules) in (0..slots as usize).zip(games.iter().cycle()) {
        let seating = rules.meta().seatings[0];
        let seat = Seat((index % seating.seats()) as u8);
        matches.push((context.open(*rules, seating, seat)?, seat));
    }
    context.notes.push(format!("{slots} at once"));
    context.play_all(&mut matches, FEW).await
}
