//! Positions from random playouts that cover every kind of decision of a game.

use std::collections::BTreeSet;

use referee_game::chance::{Seed, Uniform};
use referee_game::erased::{OpenDecision, Rules, Table};
use referee_game::seat::{MAX_SEATS, Seat, Seating};
use referee_game::{Turn, Viewer};

/// Maximum number of random playouts per seating.
const PLAYOUTS: u64 = 40;

/// The number of playouts without a new kind of decision after which the search ends.
const FRUITLESS: u64 = 10;

/// A position in which a seat decides.
pub(super) struct SamplePosition {
    pub(super) seating: Seating,
    pub(super) seat: Seat,
    pub(super) table: Box<dyn Table>,
    /// The decision of the seat.
    pub(super) decision: OpenDecision,
    /// The events that the seat has received so far, one JSON object each.
    pub(super) events: Vec<Vec<u8>>,
    /// The kinds of decisions that occur here for the first time.
    pub(super) kinds: BTreeSet<String>,
}

/// Finds the positions of a game. The result is deterministic.
pub(super) fn positions(rules: &dyn Rules) -> Vec<SamplePosition> {
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    let options = rules.default_options();
    for &seating in rules.meta().seatings {
        let mut fruitless = 0;
        for playout in 0..PLAYOUTS {
            if fruitless == FRUITLESS {
                break;
            }
            // Default options are always valid.
            let Ok(table) = rules.open(&options, seating) else { continue };
            let mut seed = [0; 32];
            seed[0] = playout as u8;
            let before = found.len();
            walk(table, seating, Seed(seed), &mut known, &mut found);
            fruitless = if found.len() > before { 0 } else { fruitless + 1 };
        }
    }
    found
}

fn walk(
    mut table: Box<dyn Table>,
    seating: Seating,
    seed: Seed,
    known: &mut BTreeSet<String>,
    found: &mut Vec<SamplePosition>,
) {
    let key = seed.match_key(table.meta().id, "check", &[""; 0]);
    let (mut chance, mut choice) = (key.stream(), key.fallback());
    let mut drawn = Vec::new();
    let mut events: [Vec<Vec<u8>>; MAX_SEATS] = Default::default();
    loop {
        match table.ask() {
            Turn::Over(_) => return,
            Turn::Draw(draw) => {
                chance.draw(draw, &mut drawn);
                if table.settle(&drawn).is_err() {
                    return;
                }
            }
            Turn::Decide(decision) => {
                for seat in decision.seats().iter() {
                    let kinds = new_kinds(&*table, &decision, seat, seating, known);
                    if kinds.is_empty() {
                        continue;
                    }
                    let mut table = table.fork();
                    if let Turn::Decide(decision) = table.ask() {
                        known.extend(kinds.iter().cloned());
                        let events = events[seat.index()].clone();
                        found.push(SamplePosition { seating, seat, table, decision, events, kinds });
                    }
                }
                if decision.seats().iter().any(|seat| !table.lists(&decision, seat)) {
                    return;
                }
                let choose = |seat| choice.uniform(table.count(&decision, seat) as u64) as usize;
                let choices: Vec<usize> = decision.seats().iter().map(choose).collect();
                if table.play(decision, &choices).is_err() {
                    return;
                }
            }
        }
        for seat in seating.all().iter() {
            for index in 0..table.event_count() {
                let mut event = Vec::new();
                table.write_event(index, Viewer::Seat(seat), &mut event);
                if !event.is_empty() {
                    events[seat.index()].push(event);
                }
            }
        }
        table.forget();
    }
}

/// The characteristics of a decision that are not known yet: the kinds of its moves, and the deciding seats.
fn new_kinds(
    table: &dyn Table,
    decision: &OpenDecision,
    seat: Seat,
    seating: Seating,
    known: &BTreeSet<String>,
) -> BTreeSet<String> {
    let count = table.count(decision, seat);
    let moves = (0..count).map(|index| kind(table.text(decision, seat, index)));
    let seat = format!("seat {seat} of {}", seating.seats());
    let single = (count == 1).then(|| "a single legal move".to_owned());
    let several = (decision.seats().len() > 1).then(|| "several seats at once".to_owned());
    let kinds = moves.chain([seat]).chain(single).chain(several);
    kinds.filter(|kind| !known.contains(kind)).collect()
}

/// The kind of a move: its text with squares and numbers replaced, such as `place # E` for `place b3 E`, `#x#` for
/// `11x18`.
fn kind(text: &str) -> String {
    let mut kind = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = &rest[..at];
        // A letter at the beginning of a word forms a square with the number after it.
        let is_column = |text: &str| {
            let mut backwards = text.chars().rev();
            backwards.next().is_some_and(|c| c.is_ascii_lowercase())
                && backwards.next().is_none_or(|c| c == ' ')
        };
        let is_column = is_column(before) && (before.len() > 1 || kind.is_empty());
        kind.push_str(if is_column { &before[..before.len() - 1] } else { before });
        kind.push('#');
        rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    kind + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_of_move_is_its_text_without_places_and_numbers() {
        for (text, expected) in [
            ("11-15", "#-#"),
            ("2x11x18", "#x#x#"),
            ("place b3 E", "place # E"),
            ("capture d1 b3", "capture # #"),
            ("turn 2 5", "turn # #"),
            ("choose purple", "choose purple"),
            ("7 h5.0 1 t9 6", "# #.# # # #"),
            ("K enter", "K enter"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn every_game_has_positions_of_each_seat_and_kind() {
        for rules in referee_games::catalog().games() {
            let positions = positions(rules);
            let kinds: BTreeSet<&String> = positions.iter().flat_map(|position| &position.kinds).collect();
            for seating in rules.meta().seatings {
                for seat in seating.all().iter() {
                    let wanted = format!("seat {seat} of {}", seating.seats());
                    assert!(kinds.contains(&wanted), "{} has no {wanted}", rules.meta().id);
                }
            }
            assert!(positions.len() < 100, "{}: {} positions", rules.meta().id, positions.len());
            assert!(kinds.len() > 4, "{}: {kinds:?}", rules.meta().id);
            let simultaneous = kinds.contains(&"several seats at once".to_owned());
            assert_eq!(simultaneous, rules.meta().simultaneous, "{}", rules.meta().id);
        }
    }

    #[test]
    fn every_kind_of_move_in_the_shared_vectors_occurs() {
        let vectors =
            std::fs::read_to_string(format!("{}/../../bots/vectors/moves.jsonl", env!("CARGO_MANIFEST_DIR")));
        let vectors: Vec<serde_json::Value> =
            vectors.unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for rules in referee_games::catalog().games() {
            let id = rules.meta().id;
            let found = positions(rules);
            let moves = vectors.iter().filter(|vector| vector["game"] == id && !vector["read"].is_null());
            for text in moves.map(|vector| vector["move"].as_str().unwrap()) {
                let occurs = found.iter().any(|position| position.kinds.contains(&kind(text)));
                // Three captures in one move are rare, and no other decision than two.
                assert!(occurs || text.matches('x').count() > 2, "{id} has no move like {text}");
            }
        }
    }
}
