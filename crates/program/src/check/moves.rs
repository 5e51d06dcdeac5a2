//! Checks that the program goes on after every legal move, and has an answer to moves that cannot be listed.

use crate::MOST_UNLISTED_MOVE;
use crate::check::Witness;
use referee_game::chance::{RandomStream, Uniform};
use referee_game::erased::{MoveError, OpenDecision, RulesFailed, Table};
use referee_game::seat::{Seat, Seating};
use referee_game::{Turn, Wrong, counted};

/// The maximum number of moves that are played in a position for a seat.
const MOST_PLAYED: usize = 100;
/// The number of altered moves that a program with `check` is asked about.
const ALTERED: usize = 1000;
/// Moves that no bot in its right mind makes.
const ODD: [&str; 7] = [" ", "0", "-1", "a b c", "1 2 3 4 5 6 7 8 9", "[]{}:,", "%n%s"];

/// Any move of a seat: a legal one, or one of the manifest that the program accepts; `None` if it accepts none.
pub(super) fn any_move(
    table: &mut dyn Table,
    decision: &OpenDecision,
    seat: Seat,
    samples: &[String],
    rng: &mut RandomStream,
) -> Result<Option<usize>, RulesFailed> {
    if table.lists(decision, seat) {
        return Ok(Some(rng.uniform(table.count(decision, seat) as u64) as usize));
    }
    let first = rng.uniform(samples.len().max(1) as u64) as usize;
    for text in samples.iter().cycle().skip(first).take(samples.len()) {
        if let Some(index) = accepted(table, decision, seat, text)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Chooses a move like [`any_move`], as text.
pub(super) fn any_text(
    table: &mut dyn Table,
    decision: &OpenDecision,
    seat: Seat,
    samples: &[String],
    rng: &mut RandomStream,
) -> Result<Option<String>, RulesFailed> {
    let index = any_move(table, decision, seat, samples, rng)?;
    Ok(index.map(|index| table.text(decision, seat, index).to_owned()))
}

/// The index of a move, if it is legal.
pub(super) fn accepted(
    table: &mut dyn Table,
    decision: &OpenDecision,
    seat: Seat,
    text: &str,
) -> Result<Option<usize>, RulesFailed> {
    match table.find(decision, seat, text) {
        Ok(index) => Ok(Some(index)),
        Err(MoveError::RulesFailed(failed)) => Err(failed),
        Err(MoveError::Illegal | MoveError::Ambiguous(_) | MoveError::Refused(_)) => Ok(None),
    }
}

/// Plays a move of a seat, and any of the others. Returns false if one of the others has none.
fn is_played(
    table: &dyn Table,
    seat: Seat,
    text: &str,
    samples: &[String],
    rng: &mut RandomStream,
) -> Result<bool, RulesFailed> {
    let mut table = table.fork();
    let Turn::Decide(decision) = table.ask() else { return Ok(false) };
    let mut indices = Vec::new();
    for of in decision.seats().iter() {
        let index = match of == seat {
            true => accepted(&mut *table, &decision, seat, text)?,
            false => any_move(&mut *table, &decision, of, samples, rng)?,
        };
        let Some(index) = index else { return Ok(false) };
        indices.push(index);
    }
    table.play(decision, &indices)?;
    Ok(true)
}

/// Plays every legal move in these positions.
pub(super) fn legal(
    positions: &[(Box<dyn Table>, Seating)],
    samples: &[String],
    rng: &mut RandomStream,
    witness: &Witness,
) -> Result<String, Wrong> {
    let mut played = 0;
    for (table, _) in positions {
        let mut table = table.fork();
        let Turn::Decide(decision) = table.ask() else { continue };
        for seat in decision.seats().iter().filter(|&seat| table.lists(&decision, seat)) {
            for index in 0..table.count(&decision, seat).min(MOST_PLAYED) {
                let text = table.text(&decision, seat, index);
                let went_on =
                    is_played(&*table, seat, text, samples, rng).map_err(|failed| witness.failure(failed))?;
                played += u32::from(went_on);
            }
        }
    }
    Ok(format!("{} of some positions lead to another one", counted(played, "legal move", "legal moves")))
}

/// Asks about odd moves, and about moves of the manifest that were altered. The program has an answer to each, and plays
/// those that it accepts.
pub(super) fn unlisted(
    positions: &[(Box<dyn Table>, Seating)],
    samples: &[String],
    rng: &mut RandomStream,
    witness: &Witness,
) -> Result<String, Wrong> {
    let (mut asked, mut played) = (0_u32, 0_u32);
    let long = "9".repeat(MOST_UNLISTED_MOVE);
    for (table, _) in positions {
        let mut table = table.fork();
        let Turn::Decide(decision) = table.ask() else { continue };
        for seat in decision.seats().iter().filter(|&seat| !table.lists(&decision, seat)) {
            let altered = (0..ALTERED.div_ceil(positions.len())).map(|_| altered(samples, rng));
            let texts: Vec<String> =
                ODD.into_iter().chain([&*long]).map(str::to_owned).chain(altered).collect();
            for text in texts {
                let went_on = is_played(&*table, seat, &text, samples, rng);
                played += u32::from(went_on.map_err(|failed| witness.failure(failed))?);
                asked += 1;
            }
        }
    }
    let asked = counted(asked, "odd or altered move has", "odd or altered moves have");
    Ok(format!("{asked} an answer; {played} of them are legal and lead to another position"))
}

/// A sample in which some characters are replaced, removed or added.
fn altered(samples: &[String], rng: &mut RandomStream) -> String {
    let mut text: Vec<u8> = match samples.len() as u64 {
        0 => ODD[rng.uniform(ODD.len() as u64) as usize].into(),
        count => samples[rng.uniform(count) as usize].as_bytes().to_vec(),
    };
    for _ in 0..=rng.uniform(3) {
        let at = rng.uniform(text.len() as u64 + 1) as usize;
        let others: Vec<u8> = (b' '..=b'~').filter(|byte| !br#""\"#.contains(byte)).collect();
        // Digits are more likely to be legal.
        let byte = match rng.uniform(2) {
            0 => b'0' + rng.uniform(10) as u8,
            _ => others[rng.uniform(others.len() as u64) as usize],
        };
        match rng.uniform(3) {
            0 if at < text.len() => text[at] = byte,
            1 if at < text.len() && text.len() > 1 => drop(text.remove(at)),
            _ => text.insert(at, byte),
        }
    }
    text.truncate(MOST_UNLISTED_MOVE);
    String::from_utf8_lossy(&text).into_owned()
}
