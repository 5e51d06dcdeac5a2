//! Answers requests about imagined positions.

use fastrand::Rng;
use referee_protocol::Head;
use referee_protocol::imagine::{
    Answer, Code, Decision, Error, Explore, Explored, Imagine, Imagined, LINE, MOVES, Over, PLAYOUTS,
    POSITIONS, Played, Playouts, SeatMove, WORLDS,
};
use serde_json::value::RawValue;

use crate::cli::imagine::line::{LinePosition, NextStep};
use crate::game::chance::Uniform;
use crate::game::erased::{Knowledge, Table};
use crate::game::excerpt::excerpt;
use crate::game::{Catalog, MAX_SEATS, Seat, Seating, Viewer, json};

/// The reason why a request was rejected.
type RejectedRequest = (Code, String);

struct Random(Rng);

impl Random {
    fn new(seed: u64) -> Random {
        Random(Rng::with_seed(seed))
    }
}

impl Uniform for Random {
    fn uniform(&mut self, n: u64) -> u64 {
        self.0.u64(..n)
    }
}

/// An imagined position: the worlds that were sampled.
#[derive(Debug)]
struct ImaginedPosition {
    seating: Seating,
    worlds: Vec<Box<dyn Table>>,
}

impl ImaginedPosition {
    fn world(&self, index: u32) -> Result<&dyn Table, RejectedRequest> {
        self.worlds.get(index as usize).map(|world| &**world).ok_or_else(|| {
            let count = self.worlds.len();
            (Code::UnknownPosition, format!("world {index}: the position has {count}, counted from 0"))
        })
    }

    fn check_seat(&self, seat: u8) -> Result<Seat, RejectedRequest> {
        check_seat(self.seating, seat)
    }
}

fn check_seat(seating: Seating, seat: u8) -> Result<Seat, RejectedRequest> {
    if usize::from(seat) < seating.seats() {
        return Ok(Seat(seat));
    }
    let seats = seating.seats();
    Err((Code::BadSetup, format!("seat {seat}: the match has {seats} seats, counted from 0")))
}

/// The server of one bot: the imagined positions.
#[derive(Debug)]
pub(crate) struct ImagineServer {
    catalog: Catalog,
    positions: [Option<ImaginedPosition>; POSITIONS as usize],
}

impl ImagineServer {
    /// A server without positions.
    pub(crate) fn new(catalog: Catalog) -> ImagineServer {
        ImagineServer { catalog, positions: [const { None }; POSITIONS as usize] }
    }

    /// Appends the answer to a request; nothing for an empty line.
    pub(crate) fn answer(&mut self, line: &[u8], out: &mut Vec<u8>) {
        if line.is_empty() {
            return;
        }
        if let Err(rejection) = self.try_answer(line, out) {
            reject(rejection, out);
        }
    }

    /// Appends the answer to a line that exceeds the limit.
    pub(crate) fn reject_long_line(&self, out: &mut Vec<u8>) {
        reject((Code::LineTooLong, format!("a line has at most {LINE} bytes")), out);
    }

    fn try_answer(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), RejectedRequest> {
        let unreadable =
            |error: serde_json::Error| (Code::Malformed, excerpt(&error.to_string(), 160).into_owned());
        let kind = serde_json::from_slice::<Head<'_>>(line).map_err(unreadable)?.kind;
        match &*kind {
            "imagine" => {
                let worlds = self.imagine(&serde_json::from_slice(line).map_err(unreadable)?)?;
                write(Answer::Imagined(Imagined { worlds }), out);
            }
            "explore" => self.explore(&serde_json::from_slice(line).map_err(unreadable)?, out)?,
            "playouts" => {
                let scores = self.playouts(&serde_json::from_slice(line).map_err(unreadable)?)?;
                write(Answer::Played(Played { scores }), out);
            }
            other => {
                let message =
                    format!("unknown type `{}`; known: imagine, explore, playouts", excerpt(other, 40));
                return Err((Code::UnknownType, message));
            }
        }
        Ok(())
    }

    /// Returns the number of worlds.
    fn imagine(&mut self, request: &Imagine<'_, &RawValue>) -> Result<u32, RejectedRequest> {
        let number = request.position;
        if number >= POSITIONS {
            return Err((
                Code::UnknownPosition,
                format!("position {number}: the numbers are 0 to {}", POSITIONS - 1),
            ));
        }
        if !(1..=WORLDS).contains(&request.worlds) {
            return Err((Code::Malformed, format!("worlds {}: 1 to {WORLDS}", request.worlds)));
        }
        let rules = self.catalog.find(&request.game).map_err(|error| bad_setup(&error))?;
        let meta = rules.meta();
        if let Some(version) = request.rules.filter(|&version| version != meta.rules_version) {
            let (id, known) = (meta.id, meta.rules_version);
            return Err((
                Code::BadSetup,
                format!("{id} has version {known} of its rules here, not {version}"),
            ));
        }
        let seating = meta.seating(request.seats).map_err(|error| bad_setup(&error))?;
        let seat = check_seat(seating, request.seat)?;
        let defaults = rules.default_options();
        let options = request.options.unwrap_or(&defaults);
        rules.open(options, seating).map_err(|error| bad_setup(&error))?;
        let knowledge =
            Knowledge { options, seating, seat, view: request.view, turns_left: request.turns_left };
        let worlds = rules
            .imagine(&knowledge, request.worlds as usize, &mut Random::new(request.seed))
            .map_err(|error| (Code::BadView, excerpt(&error.to_string(), 400).into_owned()))?
            .ok_or_else(|| (Code::BadSetup, format!("{} does not imagine positions", meta.id)))?;
        let count = worlds.len() as u32;
        self.positions[number as usize] = Some(ImaginedPosition { seating, worlds });
        Ok(count)
    }

    fn position(&self, number: u32) -> Result<&ImaginedPosition, RejectedRequest> {
        let position = self.positions.get(number as usize).and_then(Option::as_ref);
        position.ok_or_else(|| (Code::UnknownPosition, format!("position {number} has not been imagined")))
    }

    fn explore(&self, request: &Explore<'_>, out: &mut Vec<u8>) -> Result<(), RejectedRequest> {
        let position = self.position(request.position)?;
        let world = position.world(request.world)?;
        let viewer = request.view_of.map(|seat| position.check_seat(seat)).transpose()?.map(Viewer::Seat);
        let mut rng = Random::new(request.seed);
        let reached = play(world, &request.moves, &mut rng)?;
        let (table, next) = reached.settle(&mut rng).map_err(|failed| bad_setup(&failed))?;
        let view =
            viewer.map(|viewer| table.view(viewer)).transpose().map_err(|failed| bad_setup(&failed))?;
        let view = view.map(raw);
        let (decisions, over) = match &next {
            NextStep::Over(outcome) => {
                let (ranks, scores) = outcome.ranks_and_scores(position.seating);
                let amounts = outcome.amounts(position.seating);
                (Vec::new(), Some(Over { ranks, scores, amounts, reason: outcome.reason.to_owned() }))
            }
            NextStep::Decide { decision, missing } => {
                let of = |&seat: &Seat| {
                    let text = |index| table.text(decision, seat, index).into();
                    Decision { seat: seat.0, legal: (0..table.count(decision, seat)).map(text).collect() }
                };
                (missing.iter().map(of).collect(), None)
            }
        };
        let turns_left = table.turns_left();
        write(Answer::Explored(Explored { decisions, turns_left, view: view.as_deref(), over }), out);
        Ok(())
    }

    /// Returns the mean score of each seat.
    fn playouts(&self, request: &Playouts<'_>) -> Result<Vec<f64>, RejectedRequest> {
        let position = self.position(request.position)?;
        let ImaginedPosition { seating, ref worlds } = *position;
        if !(1..=PLAYOUTS).contains(&request.count) {
            return Err((Code::Malformed, format!("count {}: 1 to {PLAYOUTS}", request.count)));
        }
        if let Some(world) = request.world {
            position.world(world)?;
        }
        let mut sums = [0.0; MAX_SEATS];
        // The position after the moves, by world, unless it depends on chance.
        let mut reached: Vec<Option<LinePosition>> = worlds.iter().map(|_| None).collect();
        let mut seeds = Rng::with_seed(request.seed);
        for _ in 0..request.count {
            let mut rng = Random(seeds.fork());
            let any = rng.uniform(worlds.len() as u64) as usize;
            let index = request.world.map_or(any, |world| world as usize);
            let kept = &mut reached[index];
            if kept.as_ref().is_none_or(|reached| reached.has_drawn) {
                *kept = Some(play(&*worlds[index], &request.moves, &mut rng)?);
            }
            // A playout without an end counts as a draw.
            let outcome = match kept {
                Some(reached) => reached.playout(seating, &mut rng).map_err(|failed| bad_setup(&failed))?,
                None => None,
            };
            match outcome {
                Some(outcome) => {
                    let (_, scores) = outcome.ranks_and_scores(seating);
                    sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
                }
                None => sums.iter_mut().for_each(|sum| *sum += 0.5),
            }
        }
        Ok(sums[..seating.seats()].iter().map(|sum| sum / f64::from(request.count)).collect())
    }
}

fn bad_setup(error: &dyn std::fmt::Display) -> RejectedRequest {
    (Code::BadSetup, error.to_string())
}

fn play(
    world: &dyn Table,
    moves: &[SeatMove<'_>],
    rng: &mut Random,
) -> Result<LinePosition, RejectedRequest> {
    if moves.len() > MOVES {
        return Err((Code::Malformed, format!("{} moves: at most {MOVES}", moves.len())));
    }
    LinePosition::play(world, moves, rng).map_err(|why| (Code::IllegalMove, why.to_string()))
}

fn raw(view: Vec<u8>) -> Box<RawValue> {
    let text = String::from_utf8(view).unwrap_or_else(|error| unreachable!("JSON is UTF-8: {error}"));
    RawValue::from_string(text).unwrap_or_else(|error| unreachable!("a view is JSON: {error}"))
}

fn write(answer: Answer<'_, &RawValue>, out: &mut Vec<u8>) {
    json::write_line(out, &answer);
}

fn reject((code, message): RejectedRequest, out: &mut Vec<u8>) {
    write(Answer::Error(Error { code, message }), out);
}
