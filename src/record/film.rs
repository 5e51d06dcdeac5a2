//! A recorded match step by step, for people.

use serde::Deserialize;

use crate::core::erased::Table;
use crate::core::{Seat, Turn};
use crate::games;
use crate::record::{BotLine, Difference, Line, Replay};
use crate::referee::{Ending, Setup};

/// What happened in a step.
#[derive(Debug)]
pub enum Note<'a> {
    /// A line of the record: `answer`, `fault`, `fallback`, `resign`, `accept_draw`, `pause`, `abort`, or an `event`
    /// of the referee.
    Line(Box<Line<'a>>),
    /// An event of the game, by its index in [`Table::write_event`].
    Told(usize),
}

/// A position of the match and what led to it. The first step has no moves; each of the others has the moves of the
/// seats that decided simultaneously, except that what happened after the last move is a step without a move.
#[derive(Debug)]
pub struct Step<'a, 's> {
    /// The number of moves so far, including those of the opening.
    pub moves: u32,
    /// When it happened, in microseconds since the match was opened.
    pub at_us: u64,
    /// The time in the bank of each seat, in milliseconds; `None` without a clock.
    pub banks_ms: &'s [Option<u64>],
    /// In order.
    pub notes: &'s [Note<'a>],
    /// The position, with the events of the step.
    pub table: &'s dyn Table,
}

/// An event as recorded.
#[derive(Debug, Deserialize)]
struct Told {
    kind: String,
    seat: Option<Seat>,
    r#move: Option<String>,
    #[serde(default)]
    opening: bool,
}

/// Replays a record step by step.
#[derive(Debug)]
pub struct Film<'a> {
    replay: Replay<'a>,
    table: Box<dyn Table>,
    moves: u32,
    at_us: u64,
    banks_ms: Vec<Option<u64>>,
    /// What happened in the current step.
    notes: Vec<Note<'a>>,
    /// What belongs to the next step.
    ahead: Vec<Note<'a>>,
    /// The moves with which the next step begins.
    ply: Vec<(Seat, Told)>,
    /// The time of the last line that has one.
    last_us: u64,
    /// What the line `bots` says.
    bots: Vec<BotLine>,
    is_over: bool,
}

impl<'a> Film<'a> {
    /// Opens a record.
    ///
    /// # Errors
    /// As [`Replay::open`].
    pub fn open(record: &'a [u8]) -> Result<Film<'a>, Difference> {
        let mut replay = Replay::open(record, None)?;
        let setup = replay.match_().setup();
        let rules = games::find(&setup.header.game);
        let table = rules.and_then(|rules| rules.open(&setup.header.options, setup.seating).ok());
        let table = table.unwrap_or_else(|| unreachable!("the replay has opened the same game"));
        let mut film = Film {
            replay,
            table,
            moves: 0,
            at_us: 0,
            banks_ms: Vec::new(),
            notes: Vec::new(),
            ahead: Vec::new(),
            ply: Vec::new(),
            last_us: 0,
            bots: Vec::new(),
            is_over: false,
        };
        film.banks_ms = film.banks();
        Ok(film)
    }

    /// The setup of the match.
    pub fn setup(&mut self) -> &Setup {
        self.replay.match_().setup()
    }

    /// How the match ended; `None` before the last step.
    pub fn ending(&mut self) -> Option<&Ending> {
        self.replay.match_().ending().filter(|_| self.is_over)
    }

    /// What the line `bots` says; empty before the last step.
    pub fn bots(&self) -> &[BotLine] {
        &self.bots
    }

    /// Replays the next step. `None` at the end.
    ///
    /// # Errors
    /// As [`Replay::step`].
    pub fn step(&mut self) -> Result<Option<Step<'a, '_>>, Difference> {
        if self.is_over {
            return Ok(None);
        }
        self.begin();
        loop {
            let Some(line) = self.replay.step()? else {
                self.is_over = self.ahead.is_empty();
                break;
            };
            if self.add(line) {
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
    fn begin(&mut self) {
        self.table.forget();
        self.notes = std::mem::take(&mut self.ahead);
        self.at_us = self.last_us;
        self.banks_ms = self.banks();
        let mut ply = std::mem::take(&mut self.ply);
        ply.sort_by_key(|&(seat, _)| seat);
        ply.iter().for_each(|&(seat, _)| self.table.prepare(seat));
        for (seat, told) in &ply {
            let text = told.r#move.as_deref().unwrap_or_default();
            let index = self.table.find(*seat, text);
            let index = index.unwrap_or_else(|_| unreachable!("the replay has played the same move"));
            match told.opening {
                true => self.table.play_opening(*seat, index),
                false => self.table.play(*seat, index),
            }
        }
        self.moves += ply.len() as u32;
        self.note_told(0);
    }

    fn note_told(&mut self, from: usize) {
        self.notes.extend((from..self.table.told()).map(Note::Told));
    }

    /// Adds a line. Returns whether it completes the moves of the next step.
    fn add(&mut self, line: Line<'a>) -> bool {
        self.last_us = self.last_us.max(line.at_us.0);
        match line.kind.as_str() {
            "draw" => {
                let before = self.table.told();
                self.table.settle(&line.drawn);
                self.note_told(before);
            }
            "event" => {
                let told = line.event.and_then(|event| serde_json::from_str::<Told>(event.get()).ok());
                match told {
                    Some(told @ Told { seat: Some(seat), .. }) if told.kind == "move" => {
                        self.ply.push((seat, told));
                        return matches!(self.table.turn(), Turn::Decide(seats) if self.ply.len() == seats.len());
                    }
                    Some(told) if ["draw_offered", "out"].contains(&&*told.kind) => {
                        self.notes.push(Note::Line(Box::new(line)));
                    }
                    // The table tells the events of the game.
                    _ => {}
                }
            }
            "answer" | "fault" | "fallback" | "resign" | "accept_draw" | "pause" | "abort" => {
                self.ahead.push(Note::Line(Box::new(line)));
            }
            "bots" => self.bots = line.bots,
            _ => {}
        }
        false
    }
}
