//! A position after some moves from an imagined one.

use referee_protocol::imagine::SeatMove;

use crate::game::chance::Uniform;
use crate::game::erased::{MoveError, OpenDecision, RulesFailed, Table};
use crate::game::excerpt::excerpt;
use crate::game::{MAX_SEATS, Outcome, Seat, Seating, Turn};
use anyhow::{anyhow, bail};

/// The moves of a decision that have been made, by seat, as indices of the legal moves.
type ChosenMoves = [Option<usize>; MAX_SEATS];

/// The position after some moves. Dice and shuffles that come next have not been drawn.
#[derive(Debug)]
pub(super) struct LinePosition {
    table: Box<dyn Table>,
    /// The moves of seats that decide simultaneously with others whose moves are missing.
    chosen: ChosenMoves,
    /// Whether dice or shuffles were drawn on the way.
    pub(super) has_drawn: bool,
}

/// The next step in a position without open draws.
#[derive(Debug)]
pub(super) enum NextStep {
    Decide {
        decision: OpenDecision,
        /// The seats that have not made their moves.
        missing: Vec<Seat>,
    },
    Over(Outcome),
}

impl LinePosition {
    /// Plays moves from a position in a copy.
    ///
    /// # Errors
    /// Says which of the moves cannot be played, and why.
    pub(super) fn play(
        world: &dyn Table,
        moves: &[SeatMove<'_>],
        rng: &mut impl Uniform,
    ) -> anyhow::Result<LinePosition> {
        let mut reached = LinePosition { table: world.fork(), chosen: [None; MAX_SEATS], has_drawn: false };
        let mut drawn = Vec::new();
        let mut moves = (1..).zip(moves).peekable();
        while let Some(&(number, _)) = moves.peek() {
            match reached.table.ask() {
                Turn::Over(_) => bail!("move {number}: the game is over"),
                Turn::Draw(draw) => {
                    rng.draw(draw, &mut drawn);
                    reached.table.settle(&drawn)?;
                    reached.has_drawn = true;
                }
                Turn::Decide(decision) => {
                    let table = &mut *reached.table;
                    let mut chosen = [None; MAX_SEATS];
                    let mut missing = decision.seats();
                    while !missing.is_empty()
                        && let Some((number, mv)) = moves.next()
                    {
                        let seat = Seat(mv.seat);
                        if !missing.contains(seat) {
                            bail!("move {number}: seat {seat} does not decide here");
                        }
                        chosen[seat.index()] =
                            Some(find(table, &decision, mv).map_err(|why| anyhow!("move {number}: {why}"))?);
                        missing.remove(seat);
                    }
                    if missing.is_empty() {
                        let indices: Vec<usize> = chosen.into_iter().flatten().collect();
                        reached.table.play(decision, &indices)?;
                        reached.table.forget();
                    } else {
                        reached.chosen = chosen;
                    }
                }
            }
        }
        Ok(reached)
    }

    /// Plays random moves to the end.
    ///
    /// # Errors
    /// When the rules fail.
    pub(super) fn playout(
        &self,
        seating: Seating,
        rng: &mut impl Uniform,
    ) -> Result<Option<Outcome>, RulesFailed> {
        if self.chosen == [None; MAX_SEATS] {
            return self.table.playout(seating, rng);
        }
        let mut table = self.table.fork();
        let Some(decision) = table.ask().decide() else { return Ok(None) };
        let index = |seat: Seat| {
            let count = table.count(&decision, seat) as u64;
            self.chosen[seat.index()].unwrap_or_else(|| rng.uniform(count) as usize)
        };
        let indices: Vec<usize> = decision.seats().iter().map(index).collect();
        table.play(decision, &indices)?;
        table.playout(seating, rng)
    }

    /// Draws dice and shuffles until seats decide or the game is over.
    ///
    /// # Errors
    /// When the rules fail.
    pub(super) fn settle(self, rng: &mut impl Uniform) -> Result<(Box<dyn Table>, NextStep), RulesFailed> {
        let LinePosition { mut table, chosen, .. } = self;
        let mut drawn = Vec::new();
        loop {
            match table.ask() {
                Turn::Draw(draw) => {
                    rng.draw(draw, &mut drawn);
                    table.settle(&drawn)?;
                }
                Turn::Over(outcome) => return Ok((table, NextStep::Over(outcome))),
                Turn::Decide(decision) => {
                    let is_missing = |seat: &Seat| chosen[seat.index()].is_none();
                    let missing = decision.seats().iter().filter(is_missing).collect();
                    return Ok((table, NextStep::Decide { decision, missing }));
                }
            }
        }
    }
}

/// The index of a move among the legal moves.
fn find(table: &mut dyn Table, decision: &OpenDecision, mv: &SeatMove<'_>) -> anyhow::Result<usize> {
    table.find(decision, Seat(mv.seat), &mv.r#move).map_err(|error| {
        let (seat, text) = (mv.seat, excerpt(&mv.r#move, 40));
        match error {
            MoveError::Illegal => anyhow!("`{text}` is not a legal move of seat {seat}"),
            MoveError::Refused(why) => anyhow!("`{text}` is not a legal move of seat {seat}: {why}"),
            MoveError::RulesFailed(failed) => failed.into(),
            MoveError::Ambiguous(forms) => {
                anyhow!("`{text}` is a short form of {} legal moves of seat {seat}", forms.len())
            }
        }
    })
}
