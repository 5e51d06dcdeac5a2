//! Properties of every game. `battery!(Game)` defines the tests for one game; the list of games invokes it for each.
//!
//! Tests play randomly from fixed keys, with default options, in every seating. They use the typed game, or the
//! object-safe layer to check output bytes.

use std::collections::BTreeSet;

use referee_protocol::limits;
use serde_json::Value;
use serde_json::value::to_raw_value;

use referee_game::chance::{RandomKey, RandomStream};
use referee_game::erased::{ErasedRules, MoveError, MoveMade, OpenDecision, Rules, RulesError, Table};
use referee_game::openings::LINES;
use referee_game::{DrawOf, Drawn, Game, Imagine, Meta, Seat, SeatSet, Seating, Turn, Uniform, Viewer};

mod scenes;
#[cfg(feature = "schema")]
mod schemas;
mod secrets;
mod views;

pub(crate) use scenes::*;
#[cfg(feature = "schema")]
pub(crate) use schemas::*;
pub(crate) use secrets::*;
pub(crate) use views::*;

/// Opens a game with these options through the object-safe layer.
pub(crate) fn open<G: Game>(options: Value) -> Result<Box<dyn Table>, RulesError> {
    let options = to_raw_value(&options).unwrap();
    ErasedRules::<G>::RULES.open(&options, G::META.seatings[0])
}

/// A view as written to bots.
pub(crate) fn view<G: Game>(position: &G, viewer: Viewer) -> String {
    let mut view = Vec::new();
    position.write_view(viewer, &mut view);
    String::from_utf8(view).unwrap()
}

/// A position as text for people.
pub(crate) fn drawn<G: Game>(position: &G, viewer: Viewer) -> String {
    Drawn(position, viewer).to_string()
}

macro_rules! battery {
    ($game:ty) => {
        $crate::battery::battery! { $game:
            options_match_the_documentation,
            only_games_without_hidden_information_and_chance_have_openings,
            openings_survive_a_round_trip_as_lines,
            random_playouts_end,
            reasons_are_described_in_words,
            legal_moves_survive_a_round_trip_and_are_playable,
            legal_lists_are_sorted_and_unique,
            no_legal_move_exceeds_the_recorded_length,
            only_legal_moves_are_accepted,
            decisions_are_valid_in_their_position_alone,
            illegal_moves_leave_the_position_unchanged,
            only_games_with_chance_ask_for_draws,
            the_same_choices_give_the_same_bytes,
            write_view_equals_serialize,
            without_hidden_information_all_viewers_see_the_same,
            sampled_positions_are_consistent_with_their_view,
            changed_views_are_rejected_or_can_be_played,
            positions_that_differ_in_secrets_stay_indistinguishable,
            only_the_mover_sees_a_secret_move,
            open_moves_are_those_that_all_viewers_see,
            events_reveal_no_more_than_the_view,
            scenes_have_unique_ids_and_lie_within_their_bounds,
            scenes_of_a_match_share_size_and_seats,
            scenes_reveal_no_more_than_the_view,
            moves_have_places_of_the_scene_in_order,
        }
        #[cfg(feature = "schema")]
        mod schemas {
            $crate::battery::battery! { $game:
                the_schema_accepts_what_a_match_shows,
                the_schema_rejects_views_with_one_change,
                the_schema_rejects_events_with_one_change,
                the_schema_rejects_moves_that_no_board_has,
                options_that_the_schema_rejects_are_rejected,
            }
        }
    };
    ($game:ty: $($name:ident,)*) => {
        $(#[test]
        fn $name() {
            $crate::battery::$name::<$game>();
        })*
    };
}
pub(crate) use battery;

/// An upper bound for the decisions and draws of a game.
const ENDLESS: usize = 100_000;
/// Random playouts per seating.
const PLAYOUTS: u8 = 4;
/// Positions that are tested in detail per playout.
const SAMPLE: usize = 40;
/// Plies and draws for which two indistinguishable positions are continued.
const STEPS: usize = 12;
/// Positions whose scenes are compared with those of imagined positions.
const SCENES: usize = 1000;
/// Invalid texts tested per seating.
const REFUSALS: usize = 1000;

fn stream(number: u8) -> RandomStream {
    RandomKey([number; 32]).stream()
}

fn viewers(seating: Seating) -> impl Iterator<Item = Viewer> {
    seating.all().iter().map(Viewer::Seat).chain([Viewer::Public, Viewer::Omniscient])
}

fn legal<G: Game>(position: &G, seat: Seat) -> Vec<G::Move> {
    let mut moves = Vec::new();
    position.legal_moves(seat, &mut moves);
    assert_eq!(position.count_legal_moves(seat, &mut Vec::new()), moves.len(), "{position:?}");
    moves
}

fn texts<G: Game>(position: &G, seat: Seat) -> BTreeSet<String> {
    legal(position, seat).iter().map(ToString::to_string).collect()
}

fn pick<T: Copy>(list: &[T], rng: &mut impl Uniform) -> T {
    list[rng.uniform(list.len() as u64) as usize]
}

fn deciders<D>(turn: Turn<D>) -> SeatSet {
    match turn {
        Turn::Decide(seats) => seats,
        Turn::Draw(_) | Turn::Over(_) => SeatSet::EMPTY,
    }
}

/// Checks the guarantees of `META` and the trait for a position.
fn check_turn<G: Game>(turn: Turn<G::Draw>, turns_left: Option<u32>, seating: Seating) {
    match turn {
        Turn::Decide(seats) => {
            assert!(
                !seats.is_empty() && seats.iter().all(|seat| seating.all().contains(seat)),
                "{seats:?} decide"
            );
            assert!(G::META.simultaneous || seats.len() == 1, "{seats:?} decide at once");
            assert_ne!(turns_left, Some(0), "a seat decides beyond the turn limit");
        }
        Turn::Draw(draw) => assert!(G::META.chance, "{draw:?} in a game without chance"),
        Turn::Over(outcome) => {
            assert!(
                (0..seating.sides()).any(|side| outcome.standing(side) == 0),
                "no side is best in {outcome:?}"
            );
            assert!(!outcome.turn_limit || turns_left.is_some(), "{outcome:?} without a limit");
        }
    }
}

pub(crate) fn reasons_are_described_in_words<G: Game>() {
    let Meta { rules, reasons, .. } = &G::META;
    for reason in *reasons {
        assert!(rules.contains(&format!("(`{}`", reason.code)), "{reason:?} is on the rules page");
        assert!(reason.sentence.ends_with('.') && !reason.words.contains('_'), "{reason:?}");
    }
    for &seating in G::META.seatings {
        for number in 0..PLAYOUTS {
            let last = playout::<G>(seating, number).pop().map(|position| position.turn());
            let Some(Turn::Over(outcome)) = last else { panic!("a playout ends") };
            assert!(outcome.turn_limit || G::META.reason(outcome.reason).is_some(), "{outcome:?}");
        }
    }
}

pub(crate) fn only_games_without_hidden_information_and_chance_have_openings<G: Game>() {
    let meta = &G::META;
    assert!(meta.openings.is_none() || !(meta.hidden || meta.chance || meta.simultaneous), "{}", meta.id);
}

pub(crate) fn openings_survive_a_round_trip_as_lines<G: Game>() {
    if G::META.openings.is_none() {
        return;
    }
    sample::<G>(is_decision, |_, position| {
        for seat in deciders(position.turn()).iter() {
            let moves: Vec<String> = texts(position, seat).into_iter().collect();
            let read = (LINES.read)(moves.join(", ").as_bytes(), None);
            assert_eq!(read[0].as_ref().map(|opening| &opening.moves), Ok(&moves));
        }
    });
}

/// Returns all positions of a random playout.
fn playout<G: Game>(seating: Seating, number: u8) -> Vec<G> {
    let mut rng = stream(number);
    let mut drawn = Vec::new();
    let mut position = G::start(&G::Options::default(), seating).unwrap();
    let mut passed = Vec::new();
    loop {
        let (turn, turns_left) = (position.turn(), position.turns_left());
        check_turn::<G>(turn, turns_left, seating);
        assert!(passed.len() < ENDLESS, "{} does not end: {position:?}", G::META.id);
        passed.push(position.clone());
        match turn {
            Turn::Draw(draw) => {
                rng.draw(draw.into(), &mut drawn);
                draw.settle(&mut position, &drawn, &mut |_| {});
            }
            Turn::Decide(seats) => {
                let moves: Vec<_> =
                    seats.iter().map(|seat| (seat, pick(&legal(&position, seat), &mut rng))).collect();
                for (seat, mv) in moves {
                    position.play_unchecked(seat, mv, &mut |_| {});
                }
            }
            Turn::Over(_) => return passed,
        }
        assert!(position.turns_left() <= turns_left, "turns are given back");
    }
}

/// Samples positions of this kind from all phases of some playouts.
fn sample<G: Game>(kind: fn(Turn<G::Draw>) -> bool, mut look: impl FnMut(Seating, &G)) {
    for &seating in G::META.seatings {
        for number in 0..PLAYOUTS {
            let mut positions = playout::<G>(seating, number);
            positions.retain(|position| kind(position.turn()));
            for position in positions.iter().step_by(positions.len().div_ceil(SAMPLE).max(1)) {
                look(seating, position);
            }
        }
    }
}

fn is_decision<D>(turn: Turn<D>) -> bool {
    matches!(turn, Turn::Decide(_))
}

fn is_draw<D>(turn: Turn<D>) -> bool {
    matches!(turn, Turn::Draw(_))
}

pub(crate) fn options_match_the_documentation<G: Game>() {
    let rules = &ErasedRules::<G>::RULES as &dyn Rules;
    let defaults = rules.default_options();
    let keys: serde_json::Map<_, _> = serde_json::from_str(defaults.get()).unwrap();
    let documented: BTreeSet<&str> = G::META.options.iter().map(|option| option.name).collect();
    assert_eq!(keys.keys().map(String::as_str).collect::<BTreeSet<_>>(), documented);
    for name in documented {
        assert!(G::META.rules.contains(&format!("`{name}`")), "the rules page does not explain `{name}`");
    }
    for &seating in G::META.seatings {
        assert!(rules.open(&defaults, seating).is_ok(), "the defaults are refused");
        let unknown = serde_json::value::to_raw_value(&serde_json::json!({ "no_such_option": 1 })).unwrap();
        assert!(rules.open(&unknown, seating).is_err(), "an unknown option is taken");
    }
}

pub(crate) fn random_playouts_end<G: Game>() {
    for &seating in G::META.seatings {
        for number in 0..4 * PLAYOUTS {
            playout::<G>(seating, number);
        }
    }
}

pub(crate) fn legal_moves_survive_a_round_trip_and_are_playable<G: Game>() {
    sample::<G>(is_decision, |_, position| {
        let seats = deciders(position.turn());
        for seat in seats.iter() {
            let moves = legal(position, seat);
            assert!(!moves.is_empty(), "seat {seat} must decide and cannot: {position:?}");
            assert_eq!(texts(position, seat).len(), moves.len(), "a move is listed twice: {moves:?}");
            for &mv in &moves {
                let text = mv.to_string();
                assert!(text.parse().ok() == Some(mv), "{text} reads as another move or none");
                let mut written = String::new();
                G::write_move(mv, &mut written);
                assert_eq!(written, text, "in lists of legal moves it is spelled otherwise");
                // Move texts are written to JSON without escaping.
                assert!(
                    text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')),
                    "{text}"
                );
                let mut next = position.clone();
                for other in seats.iter() {
                    let mv = if other == seat { mv } else { legal(position, other)[0] };
                    next.play_unchecked(other, mv, &mut |_| {});
                }
                view(&next, Viewer::Omniscient);
            }
        }
    });
}

/// A random playout through the object-safe layer. `look` is called for each open decision, and after each decision and
/// draw, without a decision, to inspect the events. It returns whether to continue.
fn table_playout<G: Game>(
    seating: Seating,
    number: u8,
    mut look: impl FnMut(&mut dyn Table, Option<&OpenDecision>) -> bool,
) {
    let rules = &ErasedRules::<G>::RULES as &dyn Rules;
    let mut table = rules.open(&rules.default_options(), seating).unwrap();
    let mut rng = stream(number);
    let mut drawn = Vec::new();
    loop {
        match table.ask() {
            Turn::Draw(draw) => {
                rng.draw(draw, &mut drawn);
                table.settle(&drawn).unwrap();
            }
            Turn::Decide(decision) => {
                if !look(table.as_mut(), Some(&decision)) {
                    return;
                }
                let choose = |seat| rng.uniform(table.count(&decision, seat) as u64) as usize;
                let indices: Vec<usize> = decision.seats().iter().map(choose).collect();
                table.play(decision, &indices).unwrap();
            }
            Turn::Over(_) => return,
        }
        if !look(table.as_mut(), None) {
            return;
        }
        table.forget();
    }
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

fn shown(table: &dyn Table, viewer: Viewer) -> String {
    written(|out| {
        out.extend(table.view(viewer).unwrap());
        (0..table.event_count()).for_each(|index| table.write_event(index, viewer, out));
    })
}

fn listed(table: &dyn Table, decision: &OpenDecision, seat: Seat) -> Vec<String> {
    serde_json::from_str(&written(|out| table.write_legal(decision, seat, out))).unwrap()
}

/// The sorted legal moves of each seat that decides.
fn all_listed(table: &dyn Table, decision: Option<&OpenDecision>) -> Vec<(Seat, Vec<String>)> {
    let of = |decision: &OpenDecision| -> Vec<(Seat, Vec<String>)> {
        decision.seats().iter().map(|seat| (seat, listed(table, decision, seat))).collect()
    };
    decision.map(of).unwrap_or_default()
}

pub(crate) fn legal_lists_are_sorted_and_unique<G: Game>() {
    for &seating in G::META.seatings {
        table_playout::<G>(seating, 0, |table, decision| {
            for (_, legal) in all_listed(table, decision) {
                assert!(legal.is_sorted_by(|a, b| a.as_bytes() < b.as_bytes()), "{legal:?}");
            }
            true
        });
    }
}

pub(crate) fn no_legal_move_exceeds_the_recorded_length<G: Game>() {
    for &seating in G::META.seatings {
        table_playout::<G>(seating, 0, |table, decision| {
            let long = |text: &String| text.chars().count() > limits::MOVE;
            assert_eq!(all_listed(table, decision).into_iter().flat_map(|(_, legal)| legal).find(long), None);
            true
        });
    }
}

pub(crate) fn illegal_moves_leave_the_position_unchanged<G: Game>() {
    for &seating in G::META.seatings {
        let positions = playout::<G>(seating, 0);
        let moves = positions.iter().flat_map(|position| {
            deciders(position.turn()).iter().flat_map(|seat| legal(position, seat)).collect::<Vec<_>>()
        });
        let moves: Vec<G::Move> = moves.step_by(7).take(SAMPLE).collect();
        let mut refused = 0;
        for position in positions.iter().step_by(positions.len().div_ceil(SAMPLE).max(1)) {
            for seat in seating.all().iter() {
                let decides = deciders(position.turn()).contains(seat);
                let can = if decides { legal(position, seat) } else { Vec::new() };
                for &mv in can.iter().chain(&moves) {
                    let mut next = position.clone();
                    let played = next.play(seat, mv, &mut |_| {});
                    assert_eq!(played.is_ok(), can.contains(&mv), "seat {seat} plays {mv} in {position:?}");
                    if played.is_err() {
                        refused += 1;
                        assert_eq!(next.key(), position.key());
                        assert_eq!(view(&next, Viewer::Omniscient), view(position, Viewer::Omniscient));
                    }
                }
            }
        }
        assert!(refused > SAMPLE, "only {refused} moves were refused");
    }
}

pub(crate) fn only_games_with_chance_ask_for_draws<G: Game>() {
    // `NoDraw` has no values.
    assert_eq!(G::META.chance, size_of::<G::Draw>() > 0);
}

/// The text after one to three edits.
fn mutated(text: &str, alphabet: &[char], rng: &mut impl Uniform) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=rng.uniform(3) {
        let at = rng.uniform(chars.len() as u64 + 1) as usize;
        match rng.uniform(3) {
            0 if at < chars.len() => chars[at] = pick(alphabet, rng),
            1 if at < chars.len() => drop(chars.remove(at)),
            _ => chars.insert(at, pick(alphabet, rng)),
        }
    }
    chars.into_iter().collect()
}

/// The expected result of [`Table::find`] by the definition of short forms.
fn expected<G: Game>(legal: &[String], text: &str) -> Result<usize, MoveError> {
    if let Some(index) = legal.iter().position(|mv| mv == text) {
        return Ok(index);
    }
    let is_short = |mv: &String| mv.parse().is_ok_and(|mv| G::is_short_form(text, mv));
    let named: Vec<usize> = (0..legal.len()).filter(|&index| is_short(&legal[index])).collect();
    match *named {
        [] => Err(MoveError::Illegal),
        [index] => Ok(index),
        _ => Err(MoveError::Ambiguous(named.into_iter().map(|index| legal[index].clone()).collect())),
    }
}

pub(crate) fn only_legal_moves_are_accepted<G: Game>() {
    let mut rng = stream(u8::MAX);
    for &seating in G::META.seatings {
        let mut refused = 0;
        for number in 0..u8::MAX {
            table_playout::<G>(seating, number, |table, decision| {
                for (seat, legal) in all_listed(table, decision) {
                    let decision = decision.unwrap();
                    let before = shown(table, Viewer::Omniscient);
                    let alphabet: Vec<char> =
                        legal.concat().chars().chain(" -x019aK\"\\\0\u{e9}".chars()).collect();
                    for (index, text) in legal.iter().enumerate() {
                        assert_eq!(table.find(decision, seat, text), Ok(index), "{text}");
                        assert_eq!(table.text(decision, seat, index), text);
                    }
                    for _ in 0..4 {
                        let text =
                            mutated(&legal[rng.uniform(legal.len() as u64) as usize], &alphabet, &mut rng);
                        let expected = expected::<G>(&legal, &text);
                        refused += usize::from(expected.is_err());
                        assert_eq!(table.find(decision, seat, &text), expected, "{text:?} in {before}");
                    }
                    assert_eq!(
                        shown(table, Viewer::Omniscient),
                        before,
                        "looking for a move changed the position"
                    );
                    assert_eq!(
                        listed(table, decision, seat),
                        legal,
                        "looking for a move changed the legal moves"
                    );
                }
                refused < REFUSALS
            });
            if refused >= REFUSALS {
                break;
            }
        }
        assert!(refused >= REFUSALS, "only {refused} texts were refused");
    }
}

fn next_decision(table: &mut dyn Table, rng: &mut RandomStream) -> OpenDecision {
    let mut drawn = Vec::new();
    loop {
        match table.ask() {
            Turn::Decide(decision) => return decision,
            Turn::Draw(draw) => {
                rng.draw(draw, &mut drawn);
                table.settle(&drawn).unwrap();
            }
            Turn::Over(outcome) => panic!("{outcome:?}"),
        }
    }
}

pub(crate) fn decisions_are_valid_in_their_position_alone<G: Game>() {
    let rules = &ErasedRules::<G>::RULES as &dyn Rules;
    let is_valid = |table: &dyn Table, decision: &OpenDecision, seat: Seat| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| table.count(decision, seat))).is_ok()
    };
    for &seating in G::META.seatings {
        let mut table = rules.open(&rules.default_options(), seating).unwrap();
        let mut rng = stream(0);
        let twice = [(); 2].map(|()| next_decision(&mut *table, &mut rng));
        let fork = table.fork();
        for seat in seating.all().iter() {
            for decision in &twice {
                assert_eq!(is_valid(&*table, decision, seat), decision.seats().contains(seat));
                assert!(!is_valid(&*fork, decision, seat), "a decision is valid in a copy of its table");
            }
        }
        let [decision, stale] = twice;
        let indices = vec![0; decision.seats().len()];
        table.play(decision, &indices).unwrap();
        next_decision(&mut *table, &mut rng);
        let seat = stale.seats().iter().next().unwrap();
        assert!(!is_valid(&*table, &stale, seat), "a decision is valid after its position");
    }
}

pub(crate) fn the_same_choices_give_the_same_bytes<G: Game>() {
    for &seating in G::META.seatings {
        let transcript = || {
            let mut all = Vec::new();
            table_playout::<G>(seating, 0, |table, decision| {
                all.extend(viewers(seating).map(|viewer| shown(table, viewer)));
                all.extend(all_listed(table, decision).into_iter().map(|(_, legal)| legal.concat()));
                true
            });
            all
        };
        let (once, again) = (transcript(), transcript());
        assert_eq!(once.len(), again.len());
        once.iter().zip(&again).for_each(|(once, again)| assert_eq!(once, again));
    }
}
