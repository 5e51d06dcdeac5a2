//! `Referee`: what `referee stdio --clock none` is to its host, in the host's own process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use referee_game::chance::Seed;
use referee_game::{Seat, hex, json};
use referee_match::{
    AbortReason, Adjudication, Event, Header, Leg, Limits, Match, Opening, SeatHeader, Setup, Stamp, Wants,
};
use referee_protocol::Head;
use referee_protocol::bot;
use referee_protocol::referee::{Error, FromReferee};
use referee_protocol::words::{ErrorCode, OnFault};
use serde::de::Error as _;
use serde_json::value::RawValue;

/// A referee without a process: it answers the lines of a host. It has no clock, and matches need `seed`, `deal` and
/// `auto_ready`.
#[pyclass(module = "referee_bot_native", frozen)]
pub(crate) struct Referee(Mutex<Host>);

#[pymethods]
impl Referee {
    #[new]
    fn new() -> Referee {
        Referee(Mutex::new(Host { wants: Wants::default(), opened: 0, matches: BTreeMap::new() }))
    }

    /// Returns the referee's output after these lines. Raises ValueError if one of them is no message.
    fn handle<'py>(&self, py: Python<'py>, lines: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answers = py.detach(|| {
            let mut host = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let mut out = Vec::new();
            let mut lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
            lines.try_for_each(|line| host.handle_line(line, &mut out)).map(|()| out)
        });
        Ok(PyBytes::new(py, &answers.map_err(|error| PyValueError::new_err(error.to_string()))?))
    }
}

/// The state of a host: its hello, and its matches.
struct Host {
    wants: Wants,
    /// The number of matches opened so far.
    opened: u32,
    matches: BTreeMap<String, Match>,
}

impl Host {
    fn handle_line(&mut self, line: &[u8], out: &mut Vec<u8>) -> serde_json::Result<()> {
        let head: Head<'_> = serde_json::from_slice(line)?;
        match &*head.kind {
            "hello" => self.wants = Wants::from(&serde_json::from_slice::<bot::Hello>(line)?),
            "open" => self.open(serde_json::from_slice(line)?, out),
            "move" => {
                let answer: bot::Move<'_, &RawValue> = serde_json::from_slice(line)?;
                let event = |seat| Event::Answer {
                    seat,
                    turn: answer.turn,
                    text: &answer.r#move,
                    offer_draw: answer.offer_draw,
                    info: answer.info.map(RawValue::get),
                };
                self.handle(&answer.r#match, answer.seat, event, out)?;
            }
            "accept_draw" => {
                let answer: bot::AcceptDraw<'_> = serde_json::from_slice(line)?;
                let event = |seat| Event::AcceptDraw { seat, turn: answer.turn };
                self.handle(&answer.r#match, answer.seat, event, out)?;
            }
            "unable" => {
                let answer: bot::Unable<'_, &RawValue> = serde_json::from_slice(line)?;
                let event = |seat| Event::Unable {
                    seat,
                    turn: answer.turn,
                    because: answer.because,
                    info: answer.info.map(RawValue::get),
                };
                self.handle(&answer.r#match, answer.seat, event, out)?;
            }
            "resign" => {
                let answer: bot::Resign<'_> = serde_json::from_slice(line)?;
                self.handle(&answer.r#match, answer.seat, Event::Resign, out)?;
            }
            "abort" => self.abort(&serde_json::from_slice::<bot::Abort<'_>>(line)?.r#match, out),
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, open: bot::Open<Box<RawValue>>, out: &mut Vec<u8>) {
        let id = open.id.clone();
        match self.set_up(open) {
            Ok(play) => {
                let name = play.setup().header.r#match.clone();
                self.opened += 1;
                self.matches.insert(name.clone(), play);
                self.transmit(&name, out);
            }
            Err(why) => {
                let message = why.to_string();
                let code = ErrorCode::BadSetup;
                let error =
                    Error { code, message, id, r#match: None, seat: None, turn: None, legal_forms: None };
                json::write_line(out, &FromReferee::<&RawValue>::Error(error));
            }
        }
    }

    fn set_up(&self, open: bot::Open<Box<RawValue>>) -> Result<Match, Box<dyn std::error::Error>> {
        let rules = referee_games::catalog().find(&open.game)?;
        let seating = rules.meta().seating(open.seats)?;
        let none = rules.default_options();
        let options = open.options.as_deref().unwrap_or(&none);
        let table = rules.open(options, seating)?;
        let seed = open.seed.as_deref().and_then(hex::decode32).map(Seed);
        let seed = seed.ok_or("`seed` must be 64 lower-case hex digits")?;
        // A commitment proves nothing to the host, which has chosen the seed.
        let salt = [0; 32];
        let seat = |seat: Seat| SeatHeader {
            name: format!("env-{}", seat.0 + 1),
            team: seating.side(seat) as u8,
            ready_ms: 0,
            clock: None,
            hide_legal: false,
            bot: None,
        };
        let header = Header {
            format: Header::FORMAT,
            referee: referee_match::SERVER.to_owned(),
            r#match: format!("m{}", self.opened + 1),
            game: open.game,
            rules: rules.meta().rules_version,
            options: table.options().to_owned(),
            seats: seating.all().iter().map(seat).collect(),
            clock: None,
            margin_ms: 0,
            on_fault: OnFault::Forfeit,
            deal: open.deal.ok_or("an `open` needs a `deal`")?,
            commitment: hex::encode(&seed.commitment(&salt)),
            nonce: false,
            auto_ready: true,
            program: None,
            limits: Limits::TODAY,
            adjudication: Adjudication::default(),
            opening: Opening::None,
        };
        let wants = vec![Wants { scenes: open.scenes, ..self.wants }; seating.seats()];
        let header = Arc::new(header);
        let setup = Setup {
            header,
            seating,
            seed,
            salt,
            leg: Leg::Only,
            open_id: open.id,
            wants,
            trust_outages: false,
            watched: None,
            rules_failure: None,
        };
        Ok(Match::open(setup, table))
    }

    /// Passes the event of a seat to a match; to none if it is over.
    fn handle<'e>(
        &mut self,
        name: &str,
        seat: Option<u8>,
        event: impl FnOnce(Seat) -> Event<'e>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let Some(play) = self.matches.get_mut(name) else { return Ok(()) };
        let seat = seat.map(Seat).filter(|&seat| play.setup().seating.all().contains(seat));
        let seat =
            seat.ok_or_else(|| serde_json::Error::custom(format_args!("{name} has no such `seat`")))?;
        play.handle(Stamp::default(), event(seat));
        self.transmit(name, out);
        Ok(())
    }

    /// Aborts a match, if it runs.
    fn abort(&mut self, name: &str, out: &mut Vec<u8>) {
        if let Some(play) = self.matches.get_mut(name) {
            play.handle(Stamp::default(), Event::Abort(&AbortReason::ByHost));
            self.transmit(name, out);
        }
    }

    /// Takes the output of a match for its seats.
    fn transmit(&mut self, name: &str, out: &mut Vec<u8>) {
        let Some(play) = self.matches.get_mut(name) else { return };
        while play.poll_event().is_some() {}
        for seat in play.setup().seating.all().iter() {
            if let Some(transmit) = play.poll_transmit(seat, Stamp::default()) {
                out.extend_from_slice(transmit.bytes);
            }
        }
        // There is no record.
        play.clear_log();
        if play.ending().is_some() {
            self.matches.remove(name);
        }
    }
}
