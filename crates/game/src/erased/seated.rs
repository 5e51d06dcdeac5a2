//! A game of this program in progress.

use std::fmt;

use serde_json::value::RawValue;

use crate::chance::{Draw, Uniform};
use crate::endgames::Endgames;
use crate::erased::{MoveError, MoveMade, OpenDecision, PositionId, RulesFailed, Table, write_move_event};
use crate::game::{DrawOf, Fact, Game, Meta, Turn};
use crate::json::write_value;
use crate::outcome::{AmountRange, Outcome};
use crate::playout::playout;
use crate::scene::Scene;
use crate::seat::{MAX_SEATS, Seat, Seating, Viewer};

/// The legal moves of a seat, sorted by their texts. The texts are stored in one buffer.
#[derive(Debug)]
struct Prepared<M> {
    moves: Vec<(Span, M)>,
    texts: String,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    /// The first eight bytes; they decide nearly every comparison.
    head: u64,
    start: u32,
    end: u32,
}

/// Returns the first eight bytes of a text as a number with the same order, padded with zeros.
fn head(text: &[u8]) -> u64 {
    // A loop is faster than a copy of variable length.
    let bytes = text.iter().map(|&byte| u64::from(byte)).take(8);
    bytes.zip((0..8).rev()).fold(0, |head, (byte, place)| head | byte << (8 * place))
}

impl Span {
    #[inline]
    fn of(texts: &str, start: usize) -> Span {
        Span { head: head(&texts.as_bytes()[start..]), start: start as u32, end: texts.len() as u32 }
    }

    #[inline]
    fn text(self, texts: &str) -> &str {
        &texts[self.start as usize..self.end as usize]
    }

    #[inline]
    fn write(self, texts: &str, out: &mut Vec<u8>) {
        let end = out.len() + (self.end - self.start) as usize;
        if self.end - self.start <= 8 {
            // A copy of constant length is faster.
            out.extend_from_slice(&self.head.to_be_bytes());
            out.truncate(end);
        } else {
            out.extend_from_slice(self.text(texts).as_bytes());
        }
    }
}

impl<M> Prepared<M> {
    fn text(&self, index: usize) -> &str {
        self.moves[index].0.text(&self.texts)
    }
}

#[derive(Debug)]
enum LoggedEvent<F> {
    /// A move, with the extent of its text.
    Move {
        seat: Seat,
        text: (usize, usize),
        secret: bool,
        opening: bool,
    },
    Fact(F),
}

#[derive(Debug)]
pub(super) struct SeatedTable<G: Game> {
    position: G,
    id: PositionId,
    options: Box<RawValue>,
    endgames: Option<&'static dyn Endgames<G>>,
    scratch: Vec<G::Move>,
    /// The legal moves of the seats that were asked last, in order.
    prepared: [Prepared<G::Move>; MAX_SEATS],
    events: Vec<LoggedEvent<G::Fact>>,
    /// The texts of the moves in `events`.
    move_texts: String,
}

impl<G: Game> SeatedTable<G> {
    pub(super) fn new(
        position: G,
        options: Box<RawValue>,
        endgames: Option<&'static dyn Endgames<G>>,
    ) -> Self {
        SeatedTable {
            position,
            id: PositionId::first(),
            options,
            endgames,
            scratch: Vec::new(),
            prepared: std::array::from_fn(|_| Prepared { moves: Vec::new(), texts: String::new() }),
            events: Vec::new(),
            move_texts: String::new(),
        }
    }

    /// Returns the prepared list, empty for a seat that does not decide.
    fn legal(&self, decision: &OpenDecision, seat: Seat) -> &Prepared<G::Move> {
        decision.check(self.id);
        &self.prepared[decision.rank(seat)]
    }

    /// Generates the legal moves of the seat with this rank among those that decide.
    fn prepare(&mut self, rank: usize, seat: Seat) {
        self.scratch.clear();
        self.position.legal_moves(seat, &mut self.scratch);
        let Prepared { moves, texts } = &mut self.prepared[rank];
        moves.clear();
        texts.clear();
        for &mv in &self.scratch {
            let start = texts.len();
            G::write_move(mv, texts);
            moves.push((Span::of(texts, start), mv));
        }
        let text = |span: &Span| span.text(texts);
        moves.sort_unstable_by(|(a, _), (b, _)| a.head.cmp(&b.head).then_with(|| text(a).cmp(text(b))));
    }

    fn make(&mut self, decision: &OpenDecision, indices: &[usize], opening: bool) {
        decision.check(self.id);
        assert_eq!(indices.len(), decision.seats().len(), "one move of each seat that decides");
        for ((seat, &index), prepared) in decision.seats().iter().zip(indices).zip(&self.prepared) {
            let mv = prepared.moves[index].1;
            let start = self.move_texts.len();
            self.move_texts.push_str(prepared.text(index));
            let text = (start, self.move_texts.len());
            self.events.push(LoggedEvent::Move {
                seat,
                text,
                secret: self.position.is_secret(seat, mv),
                opening,
            });
            let events = &mut self.events;
            self.position.play_unchecked(seat, mv, &mut |fact| events.push(LoggedEvent::Fact(fact)));
        }
        self.id.advance();
    }
}

impl<G: Game> Table for SeatedTable<G> {
    fn meta(&self) -> &'static Meta {
        const { &G::META }
    }

    fn options(&self) -> &RawValue {
        &self.options
    }

    fn turn(&self) -> Turn {
        self.position.turn().erased()
    }

    fn amount_range(&self) -> Option<AmountRange> {
        self.position.amount_range()
    }

    fn turns_left(&self) -> Option<u32> {
        self.position.turns_left()
    }

    fn ask(&mut self) -> Turn<Draw, OpenDecision> {
        match self.position.turn() {
            Turn::Decide(seats) => {
                seats.iter().enumerate().for_each(|(rank, seat)| self.prepare(rank, seat));
                Turn::Decide(OpenDecision::new(seats, self.id))
            }
            Turn::Draw(draw) => Turn::Draw(draw.into()),
            Turn::Over(outcome) => Turn::Over(outcome),
        }
    }

    fn count(&self, decision: &OpenDecision, seat: Seat) -> usize {
        self.legal(decision, seat).moves.len()
    }

    fn write_legal(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>) {
        let prepared = self.legal(decision, seat);
        out.push(b'[');
        for (i, (span, _)) in prepared.moves.iter().enumerate() {
            out.extend_from_slice(if i == 0 { b"\"" } else { b",\"" });
            span.write(&prepared.texts, out);
            out.push(b'"');
        }
        out.push(b']');
    }

    fn find(&mut self, decision: &OpenDecision, seat: Seat, text: &str) -> Result<usize, MoveError> {
        let prepared = self.legal(decision, seat);
        let head = head(text.as_bytes());
        let found = prepared.moves.binary_search_by(|(span, _)| {
            span.head.cmp(&head).then_with(|| span.text(&prepared.texts).cmp(text))
        });
        if let Ok(index) = found {
            return Ok(index);
        }
        let mut candidates =
            (0..prepared.moves.len()).filter(|&index| G::is_short_form(text, prepared.moves[index].1));
        match (candidates.next(), candidates.next()) {
            (None, _) => Err(MoveError::Illegal),
            (Some(index), None) => Ok(index),
            (Some(first), Some(second)) => {
                let all = [first, second].into_iter().chain(candidates);
                Err(MoveError::Ambiguous(all.map(|index| prepared.text(index).to_owned()).collect()))
            }
        }
    }

    fn text(&self, decision: &OpenDecision, seat: Seat, index: usize) -> &str {
        self.legal(decision, seat).text(index)
    }

    fn play(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed> {
        self.make(&decision, indices, false);
        Ok(())
    }

    fn play_opening(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed> {
        self.make(&decision, indices, true);
        Ok(())
    }

    fn settle(&mut self, drawn: &[u32]) -> Result<(), RulesFailed> {
        if let Turn::Draw(draw) = self.position.turn() {
            let events = &mut self.events;
            draw.settle(&mut self.position, drawn, &mut |fact| events.push(LoggedEvent::Fact(fact)));
            self.id.advance();
        }
        Ok(())
    }

    fn fork(&self) -> Box<dyn Table> {
        Box::new(SeatedTable::new(self.position.clone(), self.options.clone(), self.endgames))
    }

    fn playout(&self, seating: Seating, mut rng: &mut dyn Uniform) -> Result<Option<Outcome>, RulesFailed> {
        Ok(playout(self.position.clone(), seating, &mut rng))
    }

    fn event_count(&self) -> usize {
        self.events.len()
    }

    fn move_made(&self, index: usize) -> Option<MoveMade<'_>> {
        match self.events[index] {
            LoggedEvent::Move { seat, text: (start, end), secret, opening } => {
                let text = &self.move_texts[start..end];
                Some(MoveMade { seat, text, is_open: !secret, is_opening: opening })
            }
            LoggedEvent::Fact(_) => None,
        }
    }

    fn write_event(&self, index: usize, viewer: Viewer, out: &mut Vec<u8>) {
        match &self.events[index] {
            LoggedEvent::Fact(fact) => write_value(out, &fact.as_seen_by(viewer)),
            &LoggedEvent::Move { seat, text: (start, end), secret, opening } => {
                let is_visible = !secret || viewer.shares(seat);
                write_move_event(out, seat, is_visible.then(|| &self.move_texts[start..end]), opening);
            }
        }
    }

    fn forget(&mut self) {
        self.events.clear();
        self.move_texts.clear();
    }

    fn write_view(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>) {
        decision.check(self.id);
        self.position.write_view(Viewer::Seat(seat), out);
    }

    fn view(&self, viewer: Viewer) -> Result<Vec<u8>, RulesFailed> {
        let mut view = Vec::new();
        self.position.write_view(viewer, &mut view);
        Ok(view)
    }

    fn endgame_pieces(&self) -> Option<u32> {
        self.position.endgame_pieces()
    }

    fn endgame(&self) -> Option<Option<Outcome>> {
        Some(self.endgames?.outcome(&self.position))
    }

    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.position.draw_board(viewer, f)
    }

    fn scene(&self, viewer: Viewer) -> Scene {
        self.position.scene(viewer)
    }

    fn places(&self, decision: &OpenDecision, seat: Seat, index: usize) -> Vec<String> {
        self.position.places(seat, self.legal(decision, seat).moves[index].1)
    }
}
