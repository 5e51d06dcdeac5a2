//! The chess of `referee-games` as a WebAssembly module, which the bench `program` plays beside the built-in one. A state is the options
//! and the view, which has the whole position.

use std::error::Error;

use referee_game::chance::Uniform;
use referee_game::erased::{ErasedRules, Knowledge, Rules, Table};
use referee_game::{Seat, Seating, Turn, Viewer};
use referee_games::chess::Chess;
use referee_module::{Answer, Reader, Request};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

const SEATING: Seating = Seating::new(2, 2);

referee_module::export!(answer);

#[derive(Serialize, Deserialize)]
struct State {
    options: Box<RawValue>,
    view: Box<RawValue>,
    turns_left: Option<u32>,
}

impl referee_module::State for State {
    fn read(value: &mut Reader<'_>) -> Result<State, Box<dyn Error>> {
        Ok(serde_json::from_str(value.json()?)?)
    }
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

fn answer(request: Request<'_, State>) -> Answer {
    let rules = ErasedRules::<Chess>::RULES;
    let Some(State { options, view, turns_left }) = request.state else {
        let options = RawValue::from_string(request.options.to_owned())?;
        return Ok(position(&mut *rules.open(&options, SEATING).expect("options")));
    };
    if request.kind == "show" {
        return Ok(format!(r#"{{"view":{view}}}"#));
    }
    let made = request.moves.first().ok_or("the request has no move")?;
    let seat = Seat(made.seat as u8);
    let known = Knowledge { options: &options, seating: SEATING, seat, view: &view, turns_left };
    let mut tables = rules.imagine(&known, 1, &mut NoChance).expect("a view").expect("positions");
    let table = &mut *tables[0];
    let Turn::Decide(decision) = table.ask() else { unreachable!("a seat decides") };
    let index = table.find(&decision, seat, &made.r#move).unwrap_or_else(|_| panic!("a legal move"));
    table.play(decision, &[index]).expect("a position");
    Ok(position(table))
}
