//! Secrets of viewers: two positions that differ only in secrets look the same.

use super::*;
use referee_game::Known;

/// Samples a position consistent with the seat's knowledge, from the bytes that a bot receives.
pub(super) fn imagined<G: Imagine>(position: &G, seating: Seating, seat: Seat, rng: &mut impl Uniform) -> G {
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
        World { position: position.clone(), table: ErasedRules::<G>::at(position.clone()) }
    }

    /// Plays the moves of all deciding seats.
    fn play(&mut self, ply: &[(Seat, G::Move)]) {
        self.table.forget();
        let decision = self.table.ask().decide().unwrap();
        let mut find =
            |&(seat, mv): &(Seat, G::Move)| self.table.find(&decision, seat, &mv.to_string()).unwrap();
        let indices: Vec<usize> = ply.iter().map(&mut find).collect();
        self.table.play(decision, &indices).unwrap();
        for &(seat, mv) in ply {
            self.position.play_unchecked(seat, mv, &mut |_| {});
        }
    }

    fn settle(&mut self, drawn: &[u32]) {
        self.table.forget();
        self.table.settle(drawn).unwrap();
        if let Turn::Draw(draw) = self.position.turn() {
            draw.settle(&mut self.position, drawn, &mut |_| {});
        }
    }

    /// The messages that a viewer receives now: view, events, and the request if there is one.
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
pub(super) fn seat_and_public(seat: Seat) -> [Viewer; 2] {
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

pub(crate) fn sampled_positions_are_consistent_with_their_view<G: Imagine>() {
    let mut rng = stream(u8::MAX);
    sample::<G>(is_decision, |seating, position| {
        for seat in seating.all().iter() {
            let worlds = [position, &imagined(position, seating, seat, &mut rng)].map(World::at);
            seat_and_public(seat).into_iter().for_each(|viewer| assert_alike(viewer, &worlds));
            if !G::META.hidden {
                let keys = worlds.map(|world| world.position.key());
                assert_eq!(keys[0], keys[1], "nothing is hidden, yet the view does not show everything");
            }
        }
    });
}

pub(crate) fn positions_that_differ_in_secrets_stay_indistinguishable<G: Imagine>() {
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
                rng.draw(draw.into(), &mut drawn);
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
        // Before a draw or the end, the view may no longer show the facts of events.
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

pub(crate) fn open_moves_are_those_that_all_viewers_see<G: Game>() {
    for &seating in G::META.seatings {
        table_playout::<G>(seating, 0, |table, _| {
            for index in 0..table.event_count() {
                let event = |viewer| written(|out| table.write_event(index, viewer, out));
                let mut events: Vec<String> = viewers(seating).map(event).collect();
                events.dedup();
                let is_open = events.len() == 1 && events[0].starts_with(r#"{"kind":"move","#);
                let open = table.move_made(index).filter(|made| made.is_open);
                let open = open.map(|MoveMade { seat, text, is_opening, .. }| {
                    assert!(!is_opening);
                    format!(r#"{{"kind":"move","seat":{seat},"move":"{text}"}}"#)
                });
                assert_eq!(open, is_open.then(|| events.swap_remove(0)));
            }
            true
        });
    }
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
        rng.draw(draw.into(), &mut drawn);
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
