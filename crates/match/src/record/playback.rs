//! A recorded match step by step, for people.

use referee_game::erased::{MoveError, RulesFailed, Table};
use referee_game::{Catalog, Turn};

use crate::record::replay::find_rules;
use crate::record::{BotsLine, Difference, Moved, RecordEntry, RecordLine, RecordedEvent, Replay};
use crate::{Ending, Setup};

/// Called for each draw, with the position before it and the numbers.
pub(super) type OnDraw<'a> = &'a mut dyn FnMut(&dyn Table, &[u32]) -> Result<(), RulesFailed>;

#[derive(Debug)]
pub enum Note<'a> {
    /// A line of the record: `answer`, `fault`, `fallback`, `resign`, `accept_draw`, `pause`, `abort`, or an `event`
    /// of the referee.
    Line(Box<RecordLine<'a>>),
    /// An event of the game, by its index in [`Table::write_event`].
    Event(usize),
}

/// A position of the match and the steps to it. The first step has no moves; each of the others has the moves
/// of the seats that decided simultaneously, except that what happened after the last move is a step without
/// a move.
#[derive(Debug)]
#[non_exhaustive]
pub struct Step<'a, 's> {
    /// The number of moves so far, including those of the opening.
    pub moves: u32,
    /// The time of the step, in microseconds since the match was opened.
    pub at_us: u64,
    /// The time in the bank of each seat, in milliseconds; `None` without a clock.
    pub banks_ms: &'s [Option<u64>],
    /// The events in order.
    pub notes: &'s [Note<'a>],
    /// The position, with the events of the step.
    pub table: &'s dyn Table,
}

/// Replays a record step by step.
#[derive(Debug)]
pub struct Playback<'a> {
    replay: Replay<'a>,
    table: Box<dyn Table>,
    moves: u32,
    at_us: u64,
    banks_ms: Vec<Option<u64>>,
    /// Events of the current step.
    notes: Vec<Note<'a>>,
    /// The events of the next step.
    ahead: Vec<Note<'a>>,
    /// The moves with which the next step begins.
    ply: Vec<Moved<'a>>,
    /// The time of the last line that has one.
    last_us: u64,
    /// The contents of the line `bots`.
    bots: BotsLine,
    is_over: bool,
    /// Whether the seal is checked.
    is_verified: bool,
}

impl<'a> Playback<'a> {
    /// Opens a record.
    ///
    /// # Errors
    /// As [`Replay::open`].
    pub fn open(record: &'a [u8], catalog: &Catalog) -> Result<Playback<'a>, Difference> {
        let mut replay = Replay::open(record, catalog, None)?;
        let setup = replay.match_().setup();
        let rules = match find_rules(&setup.header, catalog) {
            Ok(rules) => rules,
            Err(other) => return Err(replay.difference(other)),
        };
        let table = match rules.open(&setup.header.options, setup.seating) {
            Ok(table) => table,
            Err(error) => return Err(Difference { rules_failed: true, ..replay.difference(error) }),
        };
        let mut playback = Playback {
            replay,
            table,
            moves: 0,
            at_us: 0,
            banks_ms: Vec::new(),
            notes: Vec::new(),
            ahead: Vec::new(),
            ply: Vec::new(),
            last_us: 0,
            bots: BotsLine::default(),
            is_over: false,
            is_verified: false,
        };
        playback.banks_ms = playback.banks();
        Ok(playback)
    }

    /// Opens a record and verifies it while it is replayed: a playback without an error is one of a record in which
    /// [`verify`](crate::record::verify) finds no difference.
    ///
    /// # Errors
    /// As [`Playback::open`], and when the record was changed after it was sealed.
    pub fn verified(record: &'a [u8], catalog: &Catalog) -> Result<Playback<'a>, Difference> {
        let playback = Playback { is_verified: true, ..Playback::open(record, catalog)? };
        playback.replay.check_seal().into_iter().next().map_or(Ok(playback), Err)
    }

    pub fn setup(&mut self) -> &Setup {
        self.replay.match_().setup()
    }

    /// `None` before the last step.
    pub fn ending(&mut self) -> Option<&Ending> {
        self.replay.match_().ending().filter(|_| self.is_over)
    }

    /// The contents of the line `bots`; empty before the last step.
    pub fn bots(&self) -> &BotsLine {
        &self.bots
    }

    /// Replays the next step. `None` at the end.
    ///
    /// # Errors
    /// As [`Replay::step`].
    pub fn step(&mut self) -> Result<Option<Step<'a, '_>>, Difference> {
        self.step_with(&mut |_, _| Ok(()))
    }

    /// Replays the next step with a call for each draw, which gets the position before it and the numbers.
    ///
    /// # Errors
    /// As [`Replay::step`], and when the call fails.
    pub(super) fn step_with(&mut self, on_draw: OnDraw<'_>) -> Result<Option<Step<'a, '_>>, Difference> {
        if self.is_over {
            return Ok(None);
        }
        self.begin()?;
        loop {
            let Some(line) = self.replay.step()? else {
                if self.is_verified
                    && let Some(difference) = self.replay.check_reveal()
                {
                    return Err(difference);
                }
                self.is_over = self.ahead.is_empty();
                break;
            };
            if self.add(line, on_draw)? {
                break;
            }
        }
        Ok(Some(Step {
            moves: self.moves,
            at_us: self.at_us,
            banks_ms: &self.banks_ms,
            notes: &self.notes,
            table: &*self.table,
        }))
    }

    fn banks(&mut self) -> Vec<Option<u64>> {
        let play = self.replay.match_();
        play.setup().seating.all().iter().map(|seat| play.bank_ms(seat)).collect()
    }

    /// Begins a step with the moves that ended the last one. The record is verified, so they are legal.
    fn begin(&mut self) -> Result<(), Difference> {
        self.table.forget();
        self.notes = std::mem::take(&mut self.ahead);
        self.at_us = self.last_us;
        self.banks_ms = self.banks();
        let mut ply = std::mem::take(&mut self.ply);
        ply.sort_by_key(|moved| moved.seat);
        if let (Some(first), Turn::Decide(decision)) = (ply.first(), self.table.ask()) {
            let index = |moved: &Moved| match self.table.find(&decision, moved.seat, &moved.text) {
                Ok(index) => Ok(index),
                Err(MoveError::RulesFailed(failed)) => Err(failed),
                // The replay has played the same move.
                Err(_) => Err(RulesFailed::Because("they refuse a move that they have accepted".into())),
            };
            let indices: Result<Vec<usize>, RulesFailed> = ply.iter().map(index).collect();
            let indices = indices.map_err(|failed| self.failure(failed))?;
            let played = match first.opening {
                true => self.table.play_opening(decision, &indices),
                false => self.table.play(decision, &indices),
            };
            played.map_err(|failed| self.failure(failed))?;
        }
        self.moves += ply.len() as u32;
        self.note_events(0);
        Ok(())
    }

    /// The rules, which gave this answer to the replay, did not give it again.
    fn failure(&self, failed: RulesFailed) -> Difference {
        self.replay.difference(failed)
    }

    fn note_events(&mut self, from: usize) {
        self.notes.extend((from..self.table.event_count()).map(Note::Event));
    }

    /// Adds a line. Returns whether it completes the moves of the next step.
    fn add(&mut self, line: RecordLine<'a>, on_draw: OnDraw<'_>) -> Result<bool, Difference> {
        self.last_us = self.last_us.max(line.at_us.0);
        match line.entry {
            RecordEntry::Draw { drawn } => {
                let before = self.table.event_count();
                on_draw(&*self.table, &drawn).map_err(|failed| self.failure(failed))?;
                self.table.settle(&drawn).map_err(|failed| self.failure(failed))?;
                self.note_events(before);
            }
            RecordEntry::Event { event: RecordedEvent::Move(moved), .. } => {
                self.ply.push(moved);
                let seats = self.table.turn().decide();
                return Ok(seats.is_some_and(|seats| self.ply.len() == seats.len()));
            }
            RecordEntry::Event { event: RecordedEvent::OfReferee, .. } => {
                self.notes.push(Note::Line(Box::new(line)));
            }
            RecordEntry::Answer(_)
            | RecordEntry::Fault(_)
            | RecordEntry::Fallback { .. }
            | RecordEntry::Resign { .. }
            | RecordEntry::AcceptDraw(_)
            | RecordEntry::Pause { .. }
            | RecordEntry::Abort { .. } => self.ahead.push(Note::Line(Box::new(line))),
            RecordEntry::Bots(bots) => self.bots = bots,
            // The table reports the events of the game.
            RecordEntry::Event { event: RecordedEvent::OfGame, .. }
            | RecordEntry::Record(_)
            | RecordEntry::Start { .. }
            | RecordEntry::Restart { .. }
            | RecordEntry::Ready { .. }
            | RecordEntry::Request { .. }
            | RecordEntry::Stray { .. }
            | RecordEntry::Result
            | RecordEntry::Seal(_) => {}
        }
        Ok(false)
    }
}
