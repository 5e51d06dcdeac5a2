//! Properties of every game. `battery!(Game)` defines the tests for one game; the list of games invokes it for each.
//!
//! Tests play randomly from fixed keys, with default options, in every seating. They use the typed game, or the
//! object-safe layer to check output bytes.

use std::collections::BTreeSet;

use referee_protocol::limits;
use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::core::chance::{RandomKey, RandomStream};
use crate::core::erased::{MoveError, Of, Rules, Table};
use crate::core::openings::LINES;
use crate::core::scene::{Form, Part};
use crate::core::{Drawn, Game, Known, Scene, Seat, SeatSet, Seating, Turn, Uniform, Viewer};

/// Opens a game with these options through the object-safe layer.
pub(crate) fn open<G: Game>(options: Value) -> Result<Box<dyn Table>, String> {
    let options = to_raw_value(&options).unwrap();
    Of::<G>::RULES.open(&options, G::META.seatings[0]).map_err(|error| error.to_string())
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
        $crate::games::battery::battery! { $game:
            options_match_the_documentation,
            only_games_without_hidden_information_and_chance_have_openings,
            openings_survive_a_round_trip_as_lines,
            random_playouts_end,
            legal_moves_survive_a_round_trip_and_are_playable,
            legal_lists_are_sorted_and_unique,
            no_legal_move_exceeds_the_recorded_length,
            only_legal_moves_are_accepted,
            the_same_choices_give_the_same_bytes,
            write_view_equals_serialize,
            without_hidden_information_all_viewers_see_the_same,
            sampled_positions_are_consistent_with_their_view,
            positions_that_differ_in_secrets_stay_indistinguishable,
            only_the_mover_sees_a_secret_move,
            events_reveal_no_more_than_the_view,
            scenes_have_unique_ids_and_lie_within_their_bounds,
            scenes_of_a_match_share_size_and_seats,
            scenes_reveal_no_more_than_the_view,
        }
    };
    ($game:ty: $($name:ident,)*) => {
        $(#[test]
        fn $name() {
            $crate::games::battery::$name::<$game>();
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
    moves
}

fn texts<G: Game>(position: &G, seat: Seat) -> BTreeSet<String> {
    legal(position, seat).iter().map(ToString::to_string).collect()
}

fn pick<T: Copy>(list: &[T], rng: &mut impl Uniform) -> T {
    list[rng.uniform(list.len() as u64) as usize]
}

fn deciders(turn: Turn) -> SeatSet {
    match turn {
        Turn::Decide(seats) => seats,
        Turn::Draw(_) | Turn::Over(_) => SeatSet::EMPTY,
    }
}

/// Checks the guarantees of `META` and the trait for a position.
fn check_turn<G: Game>(turn: Turn, turns_left: Option<u32>, seating: Seating) {
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
            let read = (LINES.read)(moves.join(", ").as_bytes());
            assert_eq!(read[0].as_ref().map(|opening| &opening.moves), Ok(&moves));
        }
    });
}

/// All positions of a random playout.
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
                rng.draw(draw, &mut drawn);
                position.settle(&drawn, &mut |_| {});
            }
            Turn::Decide(seats) => {
                let moves: Vec<_> =
                    seats.iter().map(|seat| (seat, pick(&legal(&position, seat), &mut rng))).collect();
                for (seat, mv) in moves {
                    position.play(seat, mv, &mut |_| {});
                }
            }
            Turn::Over(_) => return passed,
        }
        assert!(position.turns_left() <= turns_left, "turns are given back");
    }
}

/// Samples positions of this kind from all phases of some playouts.
fn sample<G: Game>(kind: fn(Turn) -> bool, mut look: impl FnMut(Seating, &G)) {
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

fn is_decision(turn: Turn) -> bool {
    matches!(turn, Turn::Decide(_))
}

fn is_draw(turn: Turn) -> bool {
    matches!(turn, Turn::Draw(_))
}

pub(crate) fn options_match_the_documentation<G: Game>() {
    let rules = &Of::<G>::RULES as &dyn Rules;
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
                    next.play(other, mv, &mut |_| {});
                }
                view(&next, Viewer::Omniscient);
            }
        }
    });
}

/// A random playout through the object-safe layer. `look` is called for each position in which seats decide, with
/// their moves prepared, and after each decision and draw, with an empty set of seats, to inspect the events. It
/// returns whether to continue.
fn table_playout<G: Game>(seating: Seating, number: u8, mut look: impl FnMut(&dyn Table, SeatSet) -> bool) {
    let rules = &Of::<G>::RULES as &dyn Rules;
    let mut table = rules.open(&rules.default_options(), seating).unwrap();
    let mut rng = stream(number);
    let mut drawn = Vec::new();
    loop {
        match table.turn() {
            Turn::Draw(draw) => {
                rng.draw(draw, &mut drawn);
                table.settle(&drawn);
            }
            Turn::Decide(seats) => {
                seats.iter().for_each(|seat| table.prepare(seat));
                if !look(table.as_ref(), seats) {
                    return;
                }
                for seat in seats.iter() {
                    table.play(seat, rng.uniform(table.count(seat) as u64) as usize);
                }
            }
            Turn::Over(_) => return,
        }
        if !look(table.as_ref(), SeatSet::EMPTY) {
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

/// The view and all events.
fn shown(table: &dyn Table, viewer: Viewer) -> String {
    written(|out| {
        table.write_view(viewer, out);
        (0..table.told()).for_each(|index| table.write_event(index, viewer, out));
    })
}

fn listed(table: &dyn Table, seat: Seat) -> Vec<String> {
    serde_json::from_str(&written(|out| table.write_legal(seat, out))).unwrap()
}

pub(crate) fn legal_lists_are_sorted_and_unique<G: Game>() {
    for &seating in G::META.seatings {
        table_playout::<G>(seating, 0, |table, seats| {
            for seat in seats.iter() {
                let legal = listed(table, seat);
                assert!(legal.is_sorted_by(|a, b| a.as_bytes() < b.as_bytes()), "{legal:?}");
            }
            true
        });
    }
}

pub(crate) fn no_legal_move_exceeds_the_recorded_length<G: Game>() {
    for &seating in G::META.seatings {
        table_playout::<G>(seating, 0, |table, seats| {
            let long = |text: &String| text.chars().count() > limits::MOVE;
            assert_eq!(seats.iter().flat_map(|seat| listed(table, seat)).find(long), None);
            true
        });
    }
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
            table_playout::<G>(seating, number, |table, seats| {
                for seat in seats.iter() {
                    let before = shown(table, Viewer::Omniscient);
                    let legal = listed(table, seat);
                    let alphabet: Vec<char> =
                        legal.concat().chars().chain(" -x019aK\"\\\0\u{e9}".chars()).collect();
                    for (index, text) in legal.iter().enumerate() {
                        assert_eq!(table.find(seat, text), Ok(index), "{text}");
                        assert_eq!(table.text(seat, index), text);
                    }
                    for _ in 0..4 {
                        let text =
                            mutated(&legal[rng.uniform(legal.len() as u64) as usize], &alphabet, &mut rng);
                        let expected = expected::<G>(&legal, &text);
                        refused += usize::from(expected.is_err());
                        assert_eq!(table.find(seat, &text), expected, "{text:?} in {before}");
                    }
                    assert_eq!(
                        shown(table, Viewer::Omniscient),
                        before,
                        "looking for a move changed the position"
                    );
                    assert_eq!(listed(table, seat), legal, "looking for a move changed the legal moves");
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

pub(crate) fn the_same_choices_give_the_same_bytes<G: Game>() {
    for &seating in G::META.seatings {
        let transcript = || {
            let mut all = Vec::new();
            table_playout::<G>(seating, 0, |table, seats| {
                all.extend(viewers(seating).map(|viewer| shown(table, viewer)));
                all.extend(seats.iter().map(|seat| written(|out| table.write_legal(seat, out))));
                true
            });
            all
        };
        let (once, again) = (transcript(), transcript());
        assert_eq!(once.len(), again.len());
        once.iter().zip(&again).for_each(|(once, again)| assert_eq!(once, again));
    }
}

/// Samples a position consistent with the seat's knowledge, from the bytes that a bot receives.
fn imagined<G: Game>(position: &G, seating: Seating, seat: Seat, rng: &mut impl Uniform) -> G {
    let seen = serde_json::from_str(&view(position, Viewer::Seat(seat))).unwrap();
    let known = Known { options: &G::Options::default(), seating, seat, turns_left: position.turns_left() };
    G::imagine(&known, &seen, rng)
}

/// A game played through both layers in parallel, to inspect output bytes.
struct World<G> {
    position: G,
    table: Box<dyn Table>,
}

impl<G: Game> World<G> {
    fn at(position: &G) -> World<G> {
        World { position: position.clone(), table: Of::<G>::at(position.clone()) }
    }

    /// Plays the moves of all deciding seats.
    fn play(&mut self, ply: &[(Seat, G::Move)]) {
        self.table.forget();
        ply.iter().for_each(|&(seat, _)| self.table.prepare(seat));
        for &(seat, mv) in ply {
            let index = self.table.find(seat, &mv.to_string()).unwrap();
            self.table.play(seat, index);
            self.position.play(seat, mv, &mut |_| {});
        }
    }

    fn settle(&mut self, drawn: &[u16]) {
        self.table.forget();
        self.table.settle(drawn);
        self.position.settle(drawn, &mut |_| {});
    }

    /// Everything that a viewer receives now: view, events, and the request if there is one.
    fn sent(&self, viewer: Viewer) -> String {
        let turn = self.position.turn();
        let legal = match viewer {
            Viewer::Seat(seat) if deciders(turn).contains(seat) => texts(&self.position, seat),
            _ => BTreeSet::new(),
        };
        format!("{} {legal:?} {turn:?} {:?}", shown(&*self.table, viewer), self.position.turns_left())
    }
}

fn look_alike<G: Game>(viewer: Viewer, [one, other]: &[World<G>; 2]) -> bool {
    view(&one.position, viewer) == view(&other.position, viewer)
}

fn assert_alike<G: Game>(viewer: Viewer, [one, other]: &[World<G>; 2]) {
    let worlds = [&one.position, &other.position];
    assert_eq!(one.sent(viewer), other.sent(viewer), "{viewer:?} sees which of these it is: {worlds:?}");
}

/// A seat and the spectator.
fn seat_and_public(seat: Seat) -> [Viewer; 2] {
    [Viewer::Seat(seat), Viewer::Public]
}

pub(crate) fn write_view_equals_serialize<G: Game>() {
    sample::<G>(
        |_| true,
        |seating, position| {
            for viewer in viewers(seating) {
                assert_eq!(view(position, viewer), serde_json::to_string(&position.view(viewer)).unwrap());
            }
        },
    );
}

pub(crate) fn without_hidden_information_all_viewers_see_the_same<G: Game>() {
    for &seating in G::META.seatings.iter().filter(|_| !G::META.hidden) {
        table_playout::<G>(seating, 0, |table, _| {
            let everything = shown(table, Viewer::Omniscient);
            viewers(seating).for_each(|viewer| assert_eq!(shown(table, viewer), everything, "to {viewer:?}"));
            true
        });
    }
}

pub(crate) fn sampled_positions_are_consistent_with_their_view<G: Game>() {
    let mut rng = stream(u8::MAX);
    sample::<G>(is_decision, |seating, position| {
        for seat in seating.all().iter() {
            let worlds = [position, &imagined(position, seating, seat, &mut rng)].map(World::at);
            seat_and_public(seat).into_iter().for_each(|viewer| assert_alike(viewer, &worlds));
            if !G::META.hidden {
                let keys = worlds.map(|world| world.position.key());
                assert_eq!(keys[0], keys[1], "nothing is hidden, yet the view does not tell all");
            }
        }
    });
}

pub(crate) fn positions_that_differ_in_secrets_stay_indistinguishable<G: Game>() {
    let mut rng = stream(u8::MAX);
    let mut differed = BTreeSet::new();
    sample::<G>(is_decision, |seating, position| {
        for seat in seating.all().iter() {
            let worlds = [position, &imagined(position, seating, seat, &mut rng)].map(World::at);
            if !look_alike(Viewer::Omniscient, &worlds) {
                differed.insert((seating.seats(), seat));
            }
            go_on_alike(seat, worlds, &mut rng);
        }
    });
    for &seating in G::META.seatings.iter().filter(|_| G::META.hidden) {
        for seat in seating.all().iter() {
            let seats = seating.seats();
            assert!(differed.contains(&(seats, seat)), "to seat {seat} of {seats} nothing was secret");
        }
    }
}

/// Continues two worlds that a seat cannot distinguish: its own and public moves are the same in both, secret moves
/// of others differ. A ply of secret moves must reveal nothing. A public move or a draw may have revealing
/// consequences; if the view does not show them, events and requests must not either.
fn go_on_alike<G: Game>(seat: Seat, mut worlds: [World<G>; 2], rng: &mut impl Uniform) {
    let mut drawn = Vec::new();
    for _ in 0..STEPS {
        let is_secret = match worlds[0].position.turn() {
            Turn::Over(_) => return,
            Turn::Draw(draw) => {
                rng.draw(draw, &mut drawn);
                worlds.iter_mut().for_each(|world| world.settle(&drawn));
                false
            }
            Turn::Decide(_) => {
                let Some((plies, is_secret)) = plies_alike(seat, &worlds, rng) else { return };
                worlds.iter_mut().zip(plies).for_each(|(world, ply)| world.play(&ply));
                is_secret
            }
        };
        if !is_secret && !look_alike(Viewer::Seat(seat), &worlds) {
            return;
        }
        // Before a draw or the end, the view may no longer show what events reported.
        if is_secret || is_decision(worlds[0].position.turn()) {
            seat_and_public(seat).into_iter().for_each(|viewer| assert_alike(viewer, &worlds));
        }
    }
}

type Ply<G> = Vec<(Seat, <G as Game>::Move)>;

/// Chooses a ply for each of two worlds that looks the same to the seat, and returns whether it is entirely secret.
/// `None` if there is no such ply.
fn plies_alike<G: Game>(
    seat: Seat,
    [one, other]: &[World<G>; 2],
    rng: &mut impl Uniform,
) -> Option<([Ply<G>; 2], bool)> {
    let mut plies: [Ply<G>; 2] = Default::default();
    let mut all_secret = true;
    for mover in deciders(one.position.turn()).iter() {
        let mv = pick(&legal(&one.position, mover), rng);
        let is_secret = one.position.is_secret(mover, mv);
        let mut candidates = legal(&other.position, mover);
        candidates.retain(|&candidate| match is_secret && mover != seat {
            true => other.position.is_secret(mover, candidate),
            false => candidate == mv,
        });
        if candidates.is_empty() {
            return None;
        }
        plies[0].push((mover, mv));
        plies[1].push((mover, pick(&candidates, rng)));
        all_secret &= is_secret;
    }
    Some((plies, all_secret))
}

/// Replays a decision with every other move of one seat. `look` gets the seat, its two moves, and the worlds after
/// them.
fn replays<G: Game>(
    position: &G,
    rng: &mut impl Uniform,
    mut look: impl FnMut(Seat, [G::Move; 2], [World<G>; 2]),
) {
    let movers = deciders(position.turn());
    let ply: Ply<G> = movers.iter().map(|mover| (mover, pick(&legal(position, mover), rng))).collect();
    for (at, &(mover, mv)) in ply.iter().enumerate() {
        for another in legal(position, mover).into_iter().filter(|&another| another != mv) {
            let mut worlds = [position, position].map(World::at);
            worlds[0].play(&ply);
            let mut ply = ply.clone();
            ply[at].1 = another;
            worlds[1].play(&ply);
            look(mover, [mv, another], worlds);
        }
    }
}

pub(crate) fn only_the_mover_sees_a_secret_move<G: Game>() {
    let (mut rng, mut rng_of_others) = (stream(u8::MAX - 1), stream(u8::MAX));
    sample::<G>(is_decision, |seating, position| {
        replays(position, &mut rng, |mover, moves, worlds| {
            if !moves.iter().all(|&mv| position.is_secret(mover, mv)) {
                return;
            }
            viewers(seating)
                .filter(|viewer| !viewer.shares(mover))
                .for_each(|viewer| assert_alike(viewer, &worlds));
            let others: Vec<Seat> = seating.all().iter().filter(|&seat| seat != mover).collect();
            go_on_alike(pick(&others, &mut rng_of_others), worlds, &mut rng_of_others);
        });
    });
}

pub(crate) fn events_reveal_no_more_than_the_view<G: Game>() {
    let mut rng = stream(u8::MAX);
    let check = |viewer: Viewer, worlds: &[World<G>; 2]| {
        let are_two = !look_alike(Viewer::Omniscient, worlds);
        if are_two && look_alike(viewer, worlds) && is_decision(worlds[0].position.turn()) {
            assert_alike(viewer, worlds);
        }
    };
    sample::<G>(is_decision, |seating, position| {
        replays(position, &mut rng, |mover, _, worlds| {
            viewers(seating).filter(|viewer| !viewer.shares(mover)).for_each(|viewer| check(viewer, &worlds));
        });
    });
    // The two draws differ by a swap of two numbers, which often affects only other seats.
    sample::<G>(is_draw, |seating, position| {
        let Turn::Draw(draw) = position.turn() else { return };
        let mut drawn = Vec::new();
        rng.draw(draw, &mut drawn);
        for viewer in viewers(seating) {
            let [a, b] = [(); 2].map(|()| rng.uniform(drawn.len() as u64) as usize);
            let mut worlds = [position, position].map(World::at);
            worlds[0].settle(&drawn);
            drawn.swap(a, b);
            worlds[1].settle(&drawn);
            check(viewer, &worlds);
        }
    });
}

/// The extent of a part around the origin of its shape, whatever its rotation: its farthest coordinate.
fn extent(part: &Part) -> i16 {
    let of_rect = |x: i16, y: i16, width: i16, height: i16| {
        [x, y, x + width, y + height].map(i16::abs).into_iter().max().unwrap()
    };
    match &part.form {
        &Form::Rect(x, y, width, height, _) => of_rect(x, y, width, height),
        &Form::Disc(x, y, radius) => x.abs().max(y.abs()) + radius,
        Form::Polygon(points) => points.iter().map(|(x, y)| x.abs().max(y.abs())).max().unwrap(),
        &Form::Text(x, y, size, _) => x.abs().max(y.abs()) + size / 2,
    }
}

fn each_scene<G: Game>(mut look: impl FnMut(Seating, &G, Viewer, Scene)) {
    sample::<G>(
        |_| true,
        |seating, position| {
            viewers(seating).for_each(|viewer| look(seating, position, viewer, position.scene(viewer)));
        },
    );
}

pub(crate) fn scenes_have_unique_ids_and_lie_within_their_bounds<G: Game>() {
    each_scene::<G>(|_, position, _, scene| {
        let (width, height) = (scene.width, scene.height);
        assert!((1..=Scene::MOST_UNITS).contains(&width) && (1..=Scene::MOST_UNITS).contains(&height));
        let ids: BTreeSet<&str> = scene.shapes.iter().map(|shape| &*shape.id).collect();
        assert_eq!(ids.len(), scene.shapes.len(), "an id occurs twice in the scene of {position:?}");
        for shape in &scene.shapes {
            let is_within = (0..=width).contains(&shape.x) && (0..=height).contains(&shape.y);
            assert!(is_within, "{shape:?} is outside of {width}x{height}");
            let largest = shape.parts.iter().map(extent).max();
            assert!(largest.is_some_and(|extent| extent <= width.max(height)), "{shape:?} is too large");
            // What moves is drawn entirely.
            if shape.kind.is_some() {
                let extent = largest.unwrap();
                let inner = |at: i16, size: i16| extent <= at && at + extent <= size;
                assert!(inner(shape.x, width) && inner(shape.y, height), "{shape:?} crosses the edge");
            }
        }
        assert!(!scene.words.is_empty() && scene.words.iter().all(|line| !line.is_empty()));
    });
}

pub(crate) fn scenes_of_a_match_share_size_and_seats<G: Game>() {
    each_scene::<G>(|seating, _, _, scene| {
        let first = G::start(&G::Options::default(), seating).unwrap().scene(Viewer::Public);
        assert_eq!((scene.width, scene.height), (first.width, first.height));
        assert_eq!(scene.seats, first.seats);
        assert_eq!(scene.seats.len(), seating.seats());
        // The board does not change.
        let board = |scene: &Scene| {
            let shapes = scene.shapes.iter().filter(|shape| shape.id == "board");
            shapes.cloned().collect::<Vec<_>>()
        };
        assert_eq!(board(&scene), board(&first));
    });
}

pub(crate) fn scenes_reveal_no_more_than_the_view<G: Game>() {
    let mut rng = stream(u8::MAX);
    let (mut differed, mut count) = (false, 0);
    for number in 0..u8::MAX {
        for &seating in G::META.seatings {
            for position in
                playout::<G>(seating, number).iter().filter(|game| is_decision(game.turn())).take(SAMPLE)
            {
                for seat in seating.all().iter() {
                    let imagined = imagined(position, seating, seat, &mut rng);
                    for viewer in seat_and_public(seat) {
                        assert_eq!(
                            position.scene(viewer),
                            imagined.scene(viewer),
                            "{viewer:?} sees {imagined:?}"
                        );
                    }
                    differed |= position.scene(Viewer::Omniscient) != imagined.scene(Viewer::Omniscient);
                }
                count += 1;
            }
        }
        if count >= SCENES {
            break;
        }
    }
    assert!(count >= SCENES, "only {count} positions");
    assert_eq!(differed, G::META.hidden, "the scene of the omniscient viewer shows the secrets");
}
