//! The same messages in other ways.

use crate::check::desk::Desk;
use crate::check::manner::Manner;
use crate::check::verdict::Stop;
use crate::core::seat::Seat;

/// Some decisions of a match in which everything is sent in this manner.
pub(super) async fn in_manner(desk: &mut Desk<'_>, manner: Manner) -> Result<(), Stop> {
    // A large request is a mebibyte, a slow one takes its time.
    let most = if matches!(manner, Manner::Large | Manner::Slow) { 2 } else { 8 };
    let rules = desk.any_game()?;
    let encounter = desk.open(rules, rules.meta().seatings[0], Seat(0))?;
    desk.talk().await?.manner = manner;
    let played = desk.play(encounter, Seat(0), most).await;
    if let Some(talk) = &mut desk.talk {
        talk.manner = Manner::Plain;
    }
    match played {
        // The referee itself never sends it.
        Err(Stop::Failed(complaint)) if manner == Manner::Crlf => {
            let wrong = complaint.wrong;
            desk.warnings.push(format!(
                "it does not bear lines that end with CR LF, as a relay on another system may send them: {wrong}"
            ));
            desk.restart();
            Ok(())
        }
        played => played,
    }
}
