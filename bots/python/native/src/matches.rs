//! Matches of one game that step together. They draw the random numbers that the referee draws for the same seeds.

use std::sync::Arc;

use referee_game::DrawOf;
use referee_game::chance::Draw;
use referee_game::chance::{RandomKey, RandomStream, Seed};
use referee_game::{Game, Outcome, Seat, SeatSet, Seating, Turn, Uniform, Viewer, Wrong};

use crate::encodings::{Encoding, MoveOf, Word};

/// The arrays of a step, one after the other for each match, all zeros.
pub(crate) struct Arrays<'a> {
    pub(crate) observation: &'a mut [f32],
    pub(crate) action_mask: &'a mut [i8],
    /// The seats that are asked.
    pub(crate) seat: &'a mut [i64],
    /// By match and seat.
    pub(crate) reward: &'a mut [f32],
    pub(crate) terminated: &'a mut [bool],
    pub(crate) truncated: &'a mut [bool],
}

#[derive(Clone, Debug)]
pub(crate) struct End {
    /// The index of the match.
    pub(crate) at: usize,
    pub(crate) ranks: Vec<u8>,
    pub(crate) scores: Vec<f64>,
    pub(crate) outcome: Outcome,
}

/// The positions of all matches at one time, and who is asked.
pub(crate) trait Snapshot: Send + Sync {
    fn size(&self) -> usize;

    /// The view of the seat that is asked, as JSON.
    fn view(&self, at: usize) -> Vec<u8>;

    /// The legal moves, sorted bytewise.
    fn legal(&self, at: usize) -> Vec<String>;

    /// Turns until the turn limit, including this one; `None` without a limit.
    fn turns_left(&self, at: usize) -> Option<u32>;
}

/// Reasons why a batch cannot begin or step.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The action of this match is not possible.
    Impossible { at: usize },
    /// A match is over before any seat is asked.
    NoDecision,
}

pub(crate) trait Matches: Send + Sync {
    fn shape(&self) -> Vec<usize>;
    fn actions(&self) -> usize;
    fn seats(&self) -> usize;

    /// Begins all matches anew: with these seeds, or each with the next deal of its seed.
    fn reset(&mut self, seeds: Option<&[Seed]>) -> Result<(), Refusal>;

    /// Takes an action in every match. A match that ends begins the next one. If it fails, nothing was done.
    fn step(&mut self, actions: &[i64], arrays: &mut Arrays<'_>) -> Result<Vec<End>, Refusal>;

    /// Writes the observations and the legal actions of the seats that are asked.
    fn look(&self, arrays: &mut Arrays<'_>);

    /// The positions as they are now.
    fn snapshot(&self) -> Arc<dyn Snapshot>;
}

/// A position in which a seat is asked.
#[derive(Clone)]
struct Asked<G> {
    position: G,
    seat: Seat,
}

/// The course of a match, without its position.
struct Course<E: Encoding> {
    seed: Seed,
    /// The number of the deal among those of the seed.
    deal: u64,
    chance: RandomStream,
    /// The seats that decide simultaneously.
    deciding: SeatSet,
    /// The moves of those that have decided.
    sealed: Vec<(Seat, MoveOf<E>)>,
    /// The legal moves of the seat that is asked, those whose words begin with `chosen`.
    legal: Vec<(Word, MoveOf<E>)>,
    /// The actions of its decision so far.
    chosen: Vec<u16>,
}

/// Matches of the game of an encoding.
pub(crate) struct MatchesOf<E: Encoding> {
    encoding: E,
    seating: Seating,
    start: E::Game,
    size: usize,
    /// Empty before the first `reset`. Shared with the snapshots of earlier steps.
    asked: Arc<Vec<Asked<E::Game>>>,
    courses: Vec<Course<E>>,
    scratch: Scratch<E>,
}

struct Scratch<E: Encoding> {
    moves: Vec<MoveOf<E>>,
    drawn: Vec<u32>,
}

impl<E: Encoding> MatchesOf<E> {
    pub(crate) fn new(
        options: &<E::Game as Game>::Options,
        seating: Seating,
        size: usize,
    ) -> Result<Self, Wrong> {
        Ok(MatchesOf {
            encoding: E::new(seating),
            seating,
            start: E::Game::start(options, seating)?,
            size,
            asked: Arc::default(),
            courses: Vec::new(),
            scratch: Scratch { moves: Vec::new(), drawn: Vec::new() },
        })
    }
}

impl<E: Encoding> Course<E> {
    /// The course of the first deal of a seed, before the match begins.
    fn new(seed: Seed) -> Self {
        Course {
            seed,
            deal: 0,
            chance: RandomKey([0; 32]).stream(),
            deciding: SeatSet::EMPTY,
            sealed: Vec::new(),
            legal: Vec::new(),
            chosen: Vec::new(),
        }
    }

    /// Begins the match of the current deal.
    fn begin(&mut self, seating: Seating) {
        let nonces = vec![""; seating.seats()];
        let key = self.seed.match_key(E::Game::META.id, &format!("e{}", self.deal), &nonces);
        self.chance = key.stream();
        self.chosen.clear();
        self.sealed.clear();
    }

    /// Draws random numbers until a seat is asked, or returns the outcome.
    fn advance(
        &mut self,
        asked: &mut Asked<E::Game>,
        encoding: &E,
        scratch: &mut Scratch<E>,
    ) -> Option<Outcome> {
        loop {
            match asked.position.turn() {
                Turn::Draw(draw) => {
                    let numbers: Draw = draw.into();
                    self.chance.draw(numbers, &mut scratch.drawn);
                    draw.settle(&mut asked.position, &scratch.drawn, &mut |_| {});
                }
                Turn::Decide(seats) => {
                    self.deciding = seats;
                    asked.seat = seats.iter().next().unwrap_or(Seat(0));
                    self.ask(asked, encoding, scratch);
                    return None;
                }
                Turn::Over(outcome) => return Some(outcome),
            }
        }
    }

    /// Lists the legal moves of the seat that is asked.
    fn ask(&mut self, asked: &Asked<E::Game>, encoding: &E, scratch: &mut Scratch<E>) {
        scratch.moves.clear();
        asked.position.legal_moves(asked.seat, &mut scratch.moves);
        self.legal.clear();
        self.legal.extend(scratch.moves.iter().map(|&mv| (encoding.word(asked.seat, mv), mv)));
    }

    /// The actions that are possible now; one may be there more than once.
    fn possible(&self) -> impl Iterator<Item = u16> {
        self.legal.iter().map(|(word, _)| word.actions()[self.chosen.len()])
    }

    /// Takes a possible action. Returns the outcome if it ends the match.
    fn act(
        &mut self,
        action: u16,
        asked: &mut Asked<E::Game>,
        encoding: &E,
        scratch: &mut Scratch<E>,
    ) -> Option<Outcome> {
        let at = self.chosen.len();
        let is_chosen = |word: &Word| word.actions()[at] == action;
        let complete = self.legal.iter().find(|(word, _)| is_chosen(word) && word.actions().len() == at + 1);
        let Some(&(_, mv)) = complete else {
            self.legal.retain(|(word, _)| is_chosen(word));
            self.chosen.push(action);
            return None;
        };
        self.chosen.clear();
        self.sealed.push((asked.seat, mv));
        if let Some(next) = self.deciding.iter().find(|seat| seat.0 > asked.seat.0) {
            asked.seat = next;
            self.ask(asked, encoding, scratch);
            return None;
        }
        for (seat, mv) in self.sealed.drain(..) {
            asked.position.play_unchecked(seat, mv, &mut |_| {});
        }
        self.advance(asked, encoding, scratch)
    }
}

impl<E: Encoding> Matches for MatchesOf<E> {
    fn shape(&self) -> Vec<usize> {
        self.encoding.shape()
    }

    fn actions(&self) -> usize {
        self.encoding.actions()
    }

    fn seats(&self) -> usize {
        self.seating.seats()
    }

    fn reset(&mut self, seeds: Option<&[Seed]>) -> Result<(), Refusal> {
        match seeds {
            Some(seeds) => self.courses = seeds.iter().map(|&seed| Course::new(seed)).collect(),
            None => self.courses.iter_mut().for_each(|course| course.deal += 1),
        }
        let start = Asked { position: self.start.clone(), seat: Seat(0) };
        self.asked = Arc::new(vec![start; self.size]);
        for (course, asked) in self.courses.iter_mut().zip(Arc::make_mut(&mut self.asked)) {
            course.begin(self.seating);
            if course.advance(asked, &self.encoding, &mut self.scratch).is_some() {
                self.courses.clear();
                return Err(Refusal::NoDecision);
            }
        }
        Ok(())
    }

    fn step(&mut self, actions: &[i64], arrays: &mut Arrays<'_>) -> Result<Vec<End>, Refusal> {
        for (at, (course, &action)) in self.courses.iter().zip(actions).enumerate() {
            if !course.possible().any(|possible| i64::from(possible) == action) {
                return Err(Refusal::Impossible { at });
            }
        }
        let mut ends = Vec::new();
        let seats = self.seating.seats();
        let matches = self.courses.iter_mut().zip(Arc::make_mut(&mut self.asked)).zip(actions);
        for (at, ((course, asked), &action)) in matches.enumerate() {
            let outcome = course.act(action as u16, asked, &self.encoding, &mut self.scratch);
            let Some(outcome) = outcome else { continue };
            let (ranks, scores) = outcome.ranks_and_scores(self.seating);
            for (reward, score) in arrays.reward[at * seats..].iter_mut().zip(&scores) {
                *reward = (2.0 * score - 1.0) as f32;
            }
            let ended = if outcome.turn_limit { &mut arrays.truncated } else { &mut arrays.terminated };
            ended[at] = true;
            ends.push(End { at, ranks, scores, outcome });
            course.deal += 1;
            course.begin(self.seating);
            asked.position = self.start.clone();
            // Every match has a decision: the first one had.
            course.advance(asked, &self.encoding, &mut self.scratch);
        }
        self.look(arrays);
        Ok(ends)
    }

    fn look(&self, arrays: &mut Arrays<'_>) {
        let cells = arrays.observation.len() / self.size.max(1);
        let observations = arrays.observation.chunks_exact_mut(cells.max(1));
        let masks = arrays.action_mask.chunks_exact_mut(self.encoding.actions());
        let arrays = observations.zip(masks).zip(&mut *arrays.seat);
        for ((course, asked), ((observation, mask), seat)) in
            self.courses.iter().zip(&*self.asked).zip(arrays)
        {
            self.encoding.write(&asked.position, asked.seat, &course.chosen, observation);
            course.possible().for_each(|action| mask[usize::from(action)] = 1);
            *seat = asked.seat.0.into();
        }
    }

    fn snapshot(&self) -> Arc<dyn Snapshot> {
        Arc::<Vec<Asked<E::Game>>>::clone(&self.asked)
    }
}

impl<G: Game + Sync> Snapshot for Vec<Asked<G>> {
    fn size(&self) -> usize {
        self.len()
    }

    fn view(&self, at: usize) -> Vec<u8> {
        let Asked { position, seat } = &self[at];
        let mut view = Vec::new();
        position.write_view(Viewer::Seat(*seat), &mut view);
        view
    }

    fn legal(&self, at: usize) -> Vec<String> {
        let Asked { position, seat } = &self[at];
        let mut moves = Vec::new();
        position.legal_moves(*seat, &mut moves);
        let mut texts: Vec<String> = moves.into_iter().map(|mv| mv.to_string()).collect();
        texts.sort_unstable();
        texts
    }

    fn turns_left(&self, at: usize) -> Option<u32> {
        self[at].position.turns_left()
    }
}
