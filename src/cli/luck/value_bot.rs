//! A bot that values positions.

use std::time::Duration;

use referee_protocol::referee as message;
use referee_protocol::words::EndedBy;
use referee_protocol::{Head, bot, info::DeclaredScore, limits};
use serde_json::value::RawValue;
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::bot::Command;
use crate::check::{BotOutput, Talk, hello, read_greeting};
use crate::cli::bots::launch;
use crate::cli::exit::Failure;
use crate::driver::BotHello;
use crate::driver::route::Routed;
use crate::game::erased::{OpenDecision, Table};
use crate::game::excerpt::excerpt;
use crate::game::{Chain, Seat, Seating, json};
use crate::record::{NoLuck, PositionValues};
use crate::referee::Header;
use crate::transport::Line;

/// The time to wait for an answer.
const LIMIT: Duration = Duration::from_secs(60);

/// A running bot that is asked about positions. Each of its matches consists of requests for one seat in positions of one
/// recorded match.
#[derive(Debug)]
pub(super) struct ValueBot<'a> {
    command: &'a Command,
    runtime: Runtime,
    talk: Talk,
    hello: BotHello,
    /// The recorded match, and its seating.
    recorded: Option<(Header, Seating)>,
    /// The id of the bot's match, its seat, and the number of requests in it.
    current: Option<(String, Seat, u32)>,
    matches: u32,
    /// The last request, and the expected score of side 0 by its answer: often several results of a draw look alike.
    last: Option<(Seat, Vec<u8>, f64)>,
}

impl<'a> ValueBot<'a> {
    pub(super) fn start(command: &'a Command) -> Result<ValueBot<'a>, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Failure::cannot_run)?;
        let launch = launch()?;
        let failed = |why: String| Failure::cannot_run(format!("--value-bot `{command}`: {why}"));
        let mut talk = runtime
            .block_on(Talk::start(command, launch))
            .map_err(|error| failed(format!("cannot be started: {}", Chain(&error))))?;
        let within = Duration::from_millis(limits::HELLO_MS);
        let line = exchange(&runtime, &mut talk, &hello(), within).map_err(failed)?;
        let hello = match read_greeting(Line::Text(&line)) {
            Routed::Hello(hello) => BotHello::check(hello).ok(),
            _ => None,
        };
        let hello = hello.ok_or_else(|| failed(format!("expected `hello`, not `{}`", shown(&line))))?;
        if !hello.wants.view {
            return Err(failed("its `wants` omit `view`, from which it has to judge positions".to_owned()));
        }
        Ok(ValueBot { command, runtime, talk, hello, recorded: None, current: None, matches: 0, last: None })
    }

    pub(super) fn end(mut self) {
        let bye = message::Bye { reason: "no more positions".to_owned(), reconnect: false };
        self.send(&message::FromReferee::<()>::Bye(bye));
        self.runtime.block_on(self.talk.finish());
    }

    fn send(&mut self, message: &impl serde::Serialize) {
        let mut line = Vec::new();
        json::write_line(&mut line, message);
        // If it fails, there is no answer either.
        self.runtime.block_on(self.talk.send(&line, LIMIT));
    }

    fn failed(&self, why: impl std::fmt::Display) -> NoLuck {
        NoLuck::NoValue(format!("--value-bot `{}`: {why}", self.command))
    }

    /// Sends a message, and returns the next one of this type.
    fn ask(&mut self, message: &impl serde::Serialize, kind: &str) -> Result<Vec<u8>, NoLuck> {
        let mut line = Vec::new();
        json::write_line(&mut line, message);
        let answer = exchange(&self.runtime, &mut self.talk, &line, LIMIT).map_err(|why| self.failed(why))?;
        match serde_json::from_slice::<Head<'_>>(&answer) {
            Ok(head) if head.kind == kind => Ok(answer),
            _ => Err(self.failed(format!("expected `{kind}`, not `{}`", shown(&answer)))),
        }
    }

    fn leave(&mut self) {
        let Some((id, seat, _)) = self.current.take() else { return };
        self.send(&message::FromReferee::<()>::End(message::End {
            r#match: id,
            seat: seat.0,
            ranks: None,
            scores: None,
            amounts: None,
            ended_by: EndedBy::Aborted,
            reason: "aborted".to_owned(),
            fault: None,
            reveal: None,
            scene: None,
        }));
    }

    /// The id of the bot's match in which it has this seat, and the number of the next request.
    fn seated(&mut self, seat: Seat, table: &dyn Table) -> Result<(String, u32), NoLuck> {
        if self.current.as_ref().is_none_or(|(_, current, _)| *current != seat) {
            self.leave();
            let Some((header, _)) = self.recorded.clone() else { return Err(self.failed("no match")) };
            self.matches += 1;
            let id = format!("v{}", self.matches);
            let seats = header.seats.iter();
            let start = message::Start {
                r#match: id.clone(),
                id: None,
                game: header.game,
                rules: header.rules,
                options: header.options,
                seat: seat.0,
                seats: seats
                    .map(|seat| message::SeatInfo { name: seat.name.clone(), team: seat.team })
                    .collect(),
                clock: None,
                deal: None,
                commitment: header.commitment,
                nonce: false,
                unlisted: !table.meta().lists_moves,
                resumed: false,
            };
            self.ask(&message::FromReferee::Start(start), "ready")?;
            self.current = Some((id, seat, 0));
        }
        let Some((id, _, requests)) = &mut self.current else { return Err(self.failed("no match")) };
        *requests += 1;
        Ok((id.clone(), *requests - 1))
    }

    /// The expected score of side 0 by the view of a seat.
    fn by_view_of(&mut self, table: &dyn Table, decision: &OpenDecision, seat: Seat) -> Result<f64, NoLuck> {
        let (mut view, mut legal) = (Vec::new(), Vec::new());
        table.write_view(decision, seat, &mut view);
        if let Some((_, _, value)) = self.last.as_ref().filter(|(of, last, _)| *of == seat && *last == view) {
            return Ok(*value);
        }
        let (id, number) = self.seated(seat, table)?;
        if self.hello.wants.legal && table.lists(decision, seat) {
            table.write_legal(decision, seat, &mut legal);
        }
        let text: &RawValue = serde_json::from_slice(&view).map_err(|error| self.failed(error))?;
        let legal = (!legal.is_empty()).then(|| serde_json::from_slice(&legal)).transpose();
        let turn = message::Turn {
            r#match: (&*id).into(),
            seat: seat.0,
            turn: number,
            view: Some(text),
            legal: legal.map_err(|error| self.failed(error))?,
            clock: None,
            banks_ms: None,
            turns_left: table.turns_left(),
            draw_offered: false,
            retry: None,
            scene: None,
        };
        let line = self.ask(&message::FromReferee::Turn(turn), "move")?;
        let said =
            serde_json::from_slice::<bot::Move<'_, DeclaredScore>>(&line).ok().and_then(|answer| answer.info);
        let expected = said.and_then(|said| Some((said.expected()?, said.score_side)));
        let own = self.recorded.as_ref().map_or(0, |(_, seating)| seating.side(seat));
        let value = match expected {
            Some((expected, side)) if side.map_or(own, usize::from) == 0 => expected,
            Some((expected, side)) if side.map_or(own, usize::from) == 1 => 1.0 - expected,
            _ => {
                return Err(self.failed(format!(
                    "its move has no `info` with a `score` and its `score_scale`: `{}`",
                    shown(&line)
                )));
            }
        };
        self.last = Some((seat, view, value));
        Ok(value)
    }
}

impl PositionValues for ValueBot<'_> {
    fn begin(&mut self, header: &Header, seating: Seating) -> Result<(), NoLuck> {
        self.leave();
        if seating.sides() != 2 {
            let sides = seating.sides();
            return Err(self.failed(format!("a score compares two sides, and the match has {sides}")));
        }
        if let Err(detail) = self.hello.check_game(&header.game) {
            return Err(self.failed(detail));
        }
        (self.recorded, self.last) = (Some((header.clone(), seating)), None);
        Ok(())
    }

    fn value(&mut self, position: &mut dyn Table) -> Result<f64, NoLuck> {
        let Some(decision) = position.ask().decide() else { return Err(self.failed("no seat decides")) };
        let seats = decision.seats();
        let mut sum = 0.0;
        for seat in seats.iter() {
            sum += self.by_view_of(position, &decision, seat)?;
        }
        Ok(sum / seats.len() as f64)
    }
}

fn shown(line: &[u8]) -> String {
    excerpt(&String::from_utf8_lossy(line), 200).into_owned()
}

/// Sends a line, and returns the next one apart from empty lines and `pong`.
fn exchange(runtime: &Runtime, talk: &mut Talk, line: &[u8], within: Duration) -> Result<Vec<u8>, String> {
    let until = Instant::now() + within;
    runtime.block_on(async {
        talk.send(line, within).await;
        loop {
            match talk.receive(Some(until)).await {
                BotOutput::Line(line) if line.is_empty() => {}
                BotOutput::Line(line) => return Ok(line),
                BotOutput::TooLong => {
                    return Err(format!("a line of more than {} bytes", limits::LINE_FROM_BOT));
                }
                BotOutput::Ended(how) => {
                    let how = how.map(|how| format!(": {how}")).unwrap_or_default();
                    return Err(format!("its output ended{how}{}", said(&talk.stderr())));
                }
                BotOutput::Timeout => {
                    return Err(format!("no answer within {} s{}", within.as_secs(), said(&talk.stderr())));
                }
            }
        }
    })
}

/// The last line on standard error.
fn said(stderr: &str) -> String {
    stderr.trim_end().lines().last().map(|line| format!(" ({})", excerpt(line, 200))).unwrap_or_default()
}
