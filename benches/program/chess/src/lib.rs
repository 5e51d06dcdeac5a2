//! The chess of `referee-games` as a WebAssembly module, which the bench `program` plays beside the built-in one. A state is the options
//! and the view, which has the whole position.

use std::sync::{Mutex, MutexGuard, PoisonError};

use referee_game::chance::Uniform;
use referee_game::erased::{ErasedRules, Knowledge, Rules, Table};
use referee_game::{Seat, Seating, Turn, Viewer};
use referee_games::chess::Chess;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

const SEATING: Seating = Seating::new(2, 2);

/// A request; each type of it has some of the fields.
#[derive(Deserialize)]
struct Request {
    r#type: String,
    options: Option<Box<RawValue>>,
    state: Option<State>,
    #[serde(default)]
    moves: Vec<Move>,
}

#[derive(Deserialize)]
struct Move {
    seat: Seat,
    r#move: String,
}

#[derive(Serialize, Deserialize)]
struct State {
    options: Box<RawValue>,
    view: Box<RawValue>,
    turns_left: Option<u32>,
}

/// Chess has no chance, and its views leave nothing to imagine.
struct NoChance;

impl Uniform for NoChance {
    fn uniform(&mut self, _: u64) -> u64 {
        0
    }
}

fn position(table: &mut dyn Table) -> String {
    let view = String::from_utf8(table.view(Viewer::Public).expect("a view")).expect("UTF-8");
    let state = State {
        options: table.options().to_owned(),
        view: RawValue::from_string(view).expect("JSON"),
        turns_left: table.turns_left(),
    };
    let turn = match table.ask() {
        Turn::Decide(decision) => {
            let seat = decision.seats().iter().next().expect("a seat");
            let mut legal = Vec::new();
            table.write_legal(&decision, seat, &mut legal);
            let legal = String::from_utf8(legal).expect("UTF-8");
            format!(r#"{{"decide":[{{"seat":{},"legal":{legal},"view":{}}}]}}"#, seat.0, state.view)
        }
        Turn::Over(outcome) => {
            let (ranks, _) = outcome.ranks_and_scores(SEATING);
            format!(r#"{{"over":{{"ranks":{ranks:?},"reason":"{}"}}}}"#, outcome.reason)
        }
        Turn::Draw(_) => unreachable!("chess has no chance"),
    };
    format!(r#"{{"state":{},"turn":{turn}}}"#, serde_json::to_string(&state).expect("JSON"))
}

fn answer(request: &[u8]) -> String {
    let rules = ErasedRules::<Chess>::RULES;
    let Request { r#type, options, state, moves } = serde_json::from_slice(request).expect("a request");
    let Some(State { options, view, turns_left }) = state else {
        let options = options.expect("`start`");
        return position(&mut *rules.open(&options, SEATING).expect("options"));
    };
    if r#type == "show" {
        return format!(r#"{{"view":{view}}}"#);
    }
    let seat = moves[0].seat;
    let known = Knowledge { options: &options, seating: SEATING, seat, view: &view, turns_left };
    let mut tables = rules.imagine(&known, 1, &mut NoChance).expect("a view").expect("positions");
    let table = &mut *tables[0];
    let Turn::Decide(decision) = table.ask() else { unreachable!("a seat decides") };
    let index = table.find(&decision, seat, &moves[0].r#move).unwrap_or_else(|_| panic!("a legal move"));
    table.play(decision, &[index]).expect("a position");
    position(table)
}

/// The request, then its answer.
static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn text() -> MutexGuard<'static, Vec<u8>> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[unsafe(no_mangle)]
extern "C" fn alloc(length: u32) -> u32 {
    let mut text = text();
    text.resize(length as usize, 0);
    text.as_ptr().addr() as u32
}

#[unsafe(no_mangle)]
extern "C" fn handle(_: u32, _: u32) -> u64 {
    let mut text = text();
    *text = answer(&text).into_bytes();
    (text.as_ptr().addr() as u64) << 32 | text.len() as u64
}
