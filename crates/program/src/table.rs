//! A game in progress.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use referee_game::chance::Draw;
use referee_game::erased::{
    MoveError, MoveMade, OpenDecision, PositionId, RulesFailed, Table, write_move_event,
};
use referee_game::printable::printable;
use referee_game::seat::{Seat, Seating, Viewer};
use referee_game::{AmountRange, Chain, MAX_SEATS, Meta, Scene, Turn};
use serde_json::value::RawValue;

use crate::position::{DecidingSeat, MoveSecrecy, Position, is_plain};
use crate::request::{RulesRequest, SeatMove};
use crate::rules::SharedProgram;
use crate::shown::Shown;
use crate::{MOST_NEWS, MOST_RECORDED, MOST_STEPS, MOST_UNLISTED_MOVE, MOST_UNLISTED_MOVES};

/// The size of an event beside its form, and of a drawn number, in a line of a record or to a bot, in bytes.
const EVENT_LINE: usize = 100;
const DRAWN: usize = 6;

#[derive(Clone, Debug)]
pub(crate) struct ProgramTable {
    program: Arc<SharedProgram>,
    seating: Seating,
    options: Arc<RawValue>,
    /// The amounts that a side can get, as the initial position says; `None` in an imagined one.
    amounts: Option<AmountRange>,
    position: Arc<Position>,
    id: PositionId,
    /// The moves that the program has accepted, by the rank of the seat; only of decisions without a list.
    checked: [Vec<String>; MAX_SEATS],
    /// The number of decisions and draws so far.
    steps: u32,
    written: Written,
    /// The number of its answers that another process had to give; those of its forks count, too.
    restarts: Arc<AtomicU32>,
    events: Vec<TableEvent>,
    /// The first failure of `show` in the match, which all its positions share: a program that ends would be
    /// started twice for each picture.
    show_failed: Arc<OnceLock<RulesFailed>>,
}

/// The bytes written because of the rules.
#[derive(Clone, Copy, Debug, Default)]
struct Written {
    /// The events, draws and listed moves so far.
    recorded: usize,
    /// The events since the last decision.
    news: usize,
    /// The unlisted moves of each seat.
    unlisted: [usize; MAX_SEATS],
}

#[derive(Clone, Debug)]
enum TableEvent {
    Move {
        seat: Seat,
        text: Box<str>,
        secrecy: MoveSecrecy,
        is_opening: bool,
    },
    /// An event of a position, by its index.
    OfGame(Arc<Position>, usize),
}

impl ProgramTable {
    pub(crate) fn new(
        program: Arc<SharedProgram>,
        seating: Seating,
        options: Arc<RawValue>,
        position: Arc<Position>,
        restarts: Arc<AtomicU32>,
    ) -> ProgramTable {
        ProgramTable {
            program,
            seating,
            options,
            amounts: position.amounts,
            position,
            id: PositionId::first(),
            checked: Default::default(),
            steps: 0,
            written: Written::default(),
            restarts,
            events: Vec::new(),
            show_failed: Arc::default(),
        }
    }

    fn decider(&self, decision: &OpenDecision, seat: Seat) -> &DecidingSeat {
        decision.check(self.id);
        &self.position.deciders[decision.rank(seat)]
    }

    /// The legal moves of a seat, as far as they are listed or were accepted.
    fn legal(&self, decision: &OpenDecision, seat: Seat) -> &[String] {
        let listed = self.decider(decision, seat).legal.as_deref();
        listed.unwrap_or(&self.checked[decision.rank(seat)])
    }

    /// Goes on to the position that answers a request, whose moves or draws take this space in a record.
    fn advance(&mut self, request: RulesRequest<'_>, made: usize) -> Result<(), RulesFailed> {
        let failed = |what: String| Err(RulesFailed::Because(what.into()));
        if self.steps == MOST_STEPS {
            return failed(format!("the game has not ended after {MOST_STEPS} decisions and draws"));
        }
        let position = self.program.position(&self.restarts, request, self.seating)?;
        if let Err(what) = position.check_amounts(self.amounts, self.seating) {
            return failed(Chain(&what).to_string());
        }
        let told: usize = position.events.iter().map(|event| EVENT_LINE + event.longest()).sum();
        let news = match self.position.turn {
            Turn::Decide(_) => told,
            _ => self.written.news + told,
        };
        if news > MOST_NEWS {
            return failed(format!(
                "the events between two decisions have more than {} KiB",
                MOST_NEWS >> 10
            ));
        }
        let recorded = self.written.recorded + made + told;
        if recorded > MOST_RECORDED {
            let most = MOST_RECORDED >> 20;
            return failed(format!("the events, draws and moves of the match have more than {most} MiB"));
        }
        (self.written.news, self.written.recorded) = (news, recorded);
        self.position = position;
        self.checked.iter_mut().for_each(Vec::clear);
        self.steps += 1;
        self.id.advance();
        let events = 0..self.position.events.len();
        self.events.extend(events.map(|index| TableEvent::OfGame(self.position.clone(), index)));
        Ok(())
    }

    fn make(
        &mut self,
        decision: &OpenDecision,
        indices: &[usize],
        is_opening: bool,
    ) -> Result<(), RulesFailed> {
        decision.check(self.id);
        assert_eq!(indices.len(), decision.seats().len(), "one move of each seat that decides");
        let before = self.position.clone();
        let chosen = decision.seats().iter().zip(&before.deciders).zip(indices);
        let chosen: Vec<(Seat, Box<str>, MoveSecrecy)> = chosen
            .map(|((seat, of), &index)| (seat, self.legal(decision, seat)[index].as_str().into(), of.secrecy))
            .collect();
        let moves = chosen.iter().map(|(seat, text, _)| SeatMove { seat: seat.0, r#move: text });
        let made = chosen.iter().map(|(seat, text, secrecy)| TableEvent::Move {
            seat: *seat,
            text: text.clone(),
            secrecy: *secrecy,
            is_opening,
        });
        let logged = self.events.len();
        self.events.extend(made);
        let moves: Vec<SeatMove<'_>> = moves.collect();
        // Moves that bots make up have a limit of their own.
        let listed = moves.iter().zip(&before.deciders).filter(|(_, of)| of.legal.is_some());
        let texts = listed.map(|(made, _)| made.r#move.len()).sum();
        let advanced = self.advance(RulesRequest::Play { state: &before.state, moves: &moves }, texts);
        if advanced.is_err() {
            self.events.truncate(logged);
        }
        advanced
    }

    fn shown<T>(&self, viewer: Viewer, of: impl FnOnce(Result<&Shown, RulesFailed>) -> T) -> T {
        let shown = match self.show_failed.get() {
            Some(failed) => Err(failed.clone()),
            None => self.program.shown(&self.position.state, viewer),
        };
        match shown {
            Ok(shown) => of(Ok(&shown)),
            Err(failed) => {
                if matches!(failed, RulesFailed::Because(_)) {
                    self.show_failed.get_or_init(|| failed.clone());
                }
                of(Err(failed))
            }
        }
    }
}

impl Table for ProgramTable {
    fn meta(&self) -> &'static Meta {
        self.program.meta
    }

    fn options(&self) -> &RawValue {
        &self.options
    }

    fn turn(&self) -> Turn {
        self.position.turn
    }

    fn turns_left(&self) -> Option<u32> {
        self.position.turns_left
    }

    fn amount_range(&self) -> Option<AmountRange> {
        self.amounts
    }

    fn ask(&mut self) -> Turn<Draw, OpenDecision> {
        match self.position.turn {
            Turn::Decide(seats) => Turn::Decide(OpenDecision::new(seats, self.id)),
            Turn::Draw(draw) => Turn::Draw(draw),
            Turn::Over(outcome) => Turn::Over(outcome),
        }
    }

    fn lists(&self, decision: &OpenDecision, seat: Seat) -> bool {
        self.decider(decision, seat).legal.is_some()
    }

    fn count(&self, decision: &OpenDecision, seat: Seat) -> usize {
        self.legal(decision, seat).len()
    }

    fn write_legal(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>) {
        out.push(b'[');
        for (index, text) in self.legal(decision, seat).iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"\"" } else { b",\"" });
            out.extend_from_slice(text.as_bytes());
            out.push(b'"');
        }
        out.push(b']');
    }

    fn find(&mut self, decision: &OpenDecision, seat: Seat, text: &str) -> Result<usize, MoveError> {
        if let Some(legal) = &self.decider(decision, seat).legal {
            return legal.binary_search_by(|mv| mv.as_str().cmp(text)).map_err(|_| MoveError::Illegal);
        }
        let rank = decision.rank(seat);
        if let Some(index) = self.checked[rank].iter().position(|mv| mv == text) {
            return Ok(index);
        }
        if !is_plain(text) || text.len() > MOST_UNLISTED_MOVE {
            let what = "a move is printable ASCII without quote and backslash, 1 to";
            return Err(MoveError::Refused(format!("{what} {MOST_UNLISTED_MOVE} bytes")));
        }
        let unlisted = self.written.unlisted[seat.index()] + text.len();
        if unlisted > MOST_UNLISTED_MOVES {
            let most = MOST_UNLISTED_MOVES >> 20;
            return Err(MoveError::Refused(format!("all moves of a seat have at most {most} MiB together")));
        }
        let checked = self.program.check(&self.restarts, &self.position.state, seat, text);
        let checked = checked.map_err(MoveError::RulesFailed)?;
        if let Some(why) = &*checked {
            return Err(MoveError::Refused(why.clone()));
        }
        self.written.unlisted[seat.index()] = unlisted;
        self.checked[rank].push(text.to_owned());
        Ok(self.checked[rank].len() - 1)
    }

    fn text(&self, decision: &OpenDecision, seat: Seat, index: usize) -> &str {
        &self.legal(decision, seat)[index]
    }

    fn play(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed> {
        self.make(&decision, indices, false)
    }

    fn play_opening(&mut self, decision: OpenDecision, indices: &[usize]) -> Result<(), RulesFailed> {
        self.make(&decision, indices, true)
    }

    fn settle(&mut self, drawn: &[u32]) -> Result<(), RulesFailed> {
        if !matches!(self.position.turn, Turn::Draw(_)) {
            return Ok(());
        }
        let before = self.position.clone();
        self.advance(RulesRequest::Settle { state: &before.state, drawn }, DRAWN * drawn.len())
    }

    fn fork(&self) -> Box<dyn Table> {
        Box::new(ProgramTable { id: PositionId::first(), events: Vec::new(), ..self.clone() })
    }

    fn event_count(&self) -> usize {
        self.events.len()
    }

    fn move_made(&self, index: usize) -> Option<MoveMade<'_>> {
        match &self.events[index] {
            &TableEvent::Move { seat, ref text, secrecy, is_opening } => {
                Some(MoveMade { seat, text, is_open: secrecy == MoveSecrecy::Open, is_opening })
            }
            TableEvent::OfGame(..) => None,
        }
    }

    fn write_event(&self, index: usize, viewer: Viewer, out: &mut Vec<u8>) {
        match &self.events[index] {
            TableEvent::Move { seat, text, secrecy, is_opening } => {
                let knows = *secrecy == MoveSecrecy::Open || viewer.shares(*seat);
                if knows || *secrecy == MoveSecrecy::Secret {
                    write_move_event(out, *seat, knows.then_some(&**text), *is_opening);
                }
            }
            TableEvent::OfGame(position, event) => {
                if let Some(form) = position.events[*event].as_seen_by(viewer) {
                    out.extend_from_slice(form.get().as_bytes());
                }
            }
        }
    }

    fn forget(&mut self) {
        self.events.clear();
    }

    fn write_view(&self, decision: &OpenDecision, seat: Seat, out: &mut Vec<u8>) {
        out.extend_from_slice(self.decider(decision, seat).view.get().as_bytes());
    }

    fn view(&self, viewer: Viewer) -> Result<Vec<u8>, RulesFailed> {
        self.shown(viewer, |shown| Ok(shown?.view.as_bytes().to_vec()))
    }

    fn draw_board(&self, viewer: Viewer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown(viewer, |shown| match shown {
            Ok(shown) => f.write_str(&shown.text),
            Err(failed) => writeln!(f, "{}", printable(&failed.to_string())),
        })
    }

    fn waits(&self) -> bool {
        true
    }

    fn restarts(&self) -> u32 {
        self.restarts.load(Ordering::Relaxed)
    }

    fn scene(&self, viewer: Viewer) -> Scene {
        self.shown(viewer, |shown| match shown {
            Ok(shown) => shown.scene.clone(),
            Err(failed) => Scene::of_text(&printable(&failed.to_string())),
        })
    }

    fn places(&self, decision: &OpenDecision, seat: Seat, index: usize) -> Vec<String> {
        let text = &self.legal(decision, seat)[index];
        self.shown(Viewer::Seat(seat), |shown| {
            shown.ok().and_then(|shown| shown.places.get(text)).cloned().unwrap_or_default()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use referee_game::Wrong;
    use referee_game::erased::{Rules, RulesWait};
    use serde_json::Map;

    use super::*;
    use crate::{Carrier, Manifest, ProgramRules, Restarts};

    const MANIFEST: &str = "protocol = 1\nid = \"toy\"\ntitle = \"Toy\"\nversion = 1\ncommand = \"./toy\"\nseats = 2\nreasons = [\"won\"]";

    /// Rules that cannot show a position, and count how often they are asked to.
    #[derive(Clone, Debug, Default)]
    struct Blind(Arc<AtomicU32>);

    impl Carrier for Blind {
        fn wait(&self) -> RulesWait {
            RulesWait::Computing
        }

        fn ask(
            &self,
            request: &[u8],
            accept: &mut dyn FnMut(&[u8]) -> Result<(), Wrong>,
        ) -> Result<Restarts, RulesFailed> {
            if request.starts_with(br#"{"type":"show""#) {
                self.0.fetch_add(1, Ordering::Relaxed);
                return Err(RulesFailed::Because("no picture".into()));
            }
            let answer = format!(
                r#"{{"state":{},"turn":{{"decide":[{{"seat":0,"legal":["a"],"view":{{}}}}]}}}}"#,
                request.len()
            );
            accept(answer.as_bytes())
                .map_err(|what| RulesFailed::Because(Chain(&what).to_string().into()))?;
            Ok(Restarts::default())
        }
    }

    #[test]
    fn rules_that_cannot_show_position_are_asked_once_in_match() {
        let blind = Blind::default();
        let asked = || blind.0.load(Ordering::Relaxed);
        let description = RawValue::from_string("{}".to_owned()).unwrap();
        let manifest = Manifest::read(MANIFEST).unwrap();
        let rules = ProgramRules::new(&manifest, "", Map::new(), description, Box::new(blind.clone()));
        for matches in 1..=2 {
            let mut table = rules.open(&rules.default_options(), Seating::new(2, 2)).unwrap();
            for _ in 0..5 {
                let Turn::Decide(decision) = table.ask() else { panic!("a seat decides") };
                table.play(decision, &[0]).unwrap();
                assert_eq!(table.scene(Viewer::Public).words, ["the rules failed: no picture"]);
                assert!(table.fork().view(Viewer::Omniscient).is_err());
                assert_eq!(asked(), matches);
            }
        }
    }
}
