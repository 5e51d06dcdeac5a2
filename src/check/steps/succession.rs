//! Several matches on one process.

use crate::check::desk::Desk;
use crate::check::verdict::Stop;
use crate::core::seat::Seat;

/// How many slots are used at most.
const SLOTS: u64 = 8;
/// Answers in each match.
const FEW: u32 = 8;

/// Two matches on the same process, in different seats.
pub(super) async fn second_match(desk: &mut Desk<'_>) -> Result<(), Stop> {
    let rules = desk.any_game()?;
    let seating = rules.meta().seatings[0];
    for seat in [Seat(0), Seat(1)] {
        let encounter = desk.open(rules, seating, seat)?;
        desk.play(encounter, seat, FEW).await?;
    }
    Ok(())
}

/// A match is broken off while a request is open; the next one begins with the same write.
pub(super) async fn broken_off(desk: &mut Desk<'_>) -> Result<(), Stop> {
    let rules = desk.any_game()?;
    let (seating, seat) = (rules.meta().seatings[0], Seat(0));
    let mut matches = [(desk.open(rules, seating, seat)?, seat)];
    desk.begin(&mut matches).await?;
    // The answer to the open request is under way, so that it cannot be taken for one of the next match.
    desk.overhear(&mut matches[0].0, seat).await?;
    matches[0].0.abort();
    let [broken] = matches;
    let next = (desk.open(rules, seating, seat)?, seat);
    desk.play_all(&mut [broken, next], FEW).await
}

/// As many matches at once as it says, or some of them.
pub(super) async fn slots(desk: &mut Desk<'_>) -> Result<(), Stop> {
    let slots = desk.hello.as_ref().and_then(|hello| hello.slots).unwrap_or(1).min(SLOTS);
    if slots < 2 {
        return Err(Stop::Skipped("it plays one match at once: it says no `slots`".to_owned()));
    }
    let games = desk.games();
    let mut matches = Vec::new();
    for (index, rules) in (0..slots as usize).zip(games.iter().cycle()) {
        let seating = rules.meta().seatings[0];
        let seat = Seat((index % seating.seats()) as u8);
        matches.push((desk.open(*rules, seating, seat)?, seat));
    }
    desk.notes.push(format!("{slots} at once"));
    desk.play_all(&mut matches, FEW).await
}
