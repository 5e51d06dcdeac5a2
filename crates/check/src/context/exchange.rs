//! Plays matches with the bot, and judges its messages.

use std::time::Duration;

use referee_engine::driver::incoming::{self, Incoming, Unreadable};
use referee_engine::driver::route::Rejection;
use referee_game::seat::Seat;
use referee_match::Detail;
use referee_protocol::limits;
use referee_protocol::words::ErrorCode;
use referee_transport::Line;
use tokio::time::Instant;

use super::{Answer, Context, answer_to};
use crate::encounter::{Encounter, LineOutcome, handle_line};
use crate::rule::Rule;
use crate::talk::{BotOutput, Talk, ended};
use crate::verdict::{NO_BOT, Stop};

/// The time to wait for unexpected messages from a bot that does not answer `ping`.
const QUIET: Duration = Duration::from_millis(100);
/// The note on a bot that exits or sends `bye` between two matches.
const LEFT: &str = "it left after a match, as it may";

impl Context<'_> {
    /// Plays a match until it is over. Aborts it after `most` decisions of the bot.
    pub(crate) async fn play(&mut self, encounter: Encounter, seat: Seat, most: u32) -> Result<(), Stop> {
        self.play_all(&mut [(encounter, seat)], most).await
    }

    /// Plays several matches concurrently on one stream, each with the bot in one seat.
    pub(crate) async fn play_all(
        &mut self,
        matches: &mut [(Encounter, Seat)],
        most: u32,
    ) -> Result<(), Stop> {
        self.talk().await?;
        let mut answers = vec![0; matches.len()];
        loop {
            self.exchange(matches).await?;
            if matches.iter().all(|(encounter, _)| encounter.ending().is_some()) {
                return Ok(());
            }
            let index = self.handle_line(matches).await?;
            let (encounter, seat) = &mut matches[index];
            // Between `ready` and the first answer no request is open.
            if encounter.open_request(*seat).is_none() && !encounter.awaits_ready(*seat) {
                answers[index] += 1;
            }
            // If a request is pending, the bot would answer after the end.
            if answers[index] > most && !encounter.is_asking(*seat) {
                encounter.abort();
            }
            self.handle_rest(matches).await?;
        }
    }

    /// Plays until the bot is ready in all matches and has received the next requests.
    pub(crate) async fn begin(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<(), Stop> {
        loop {
            self.exchange(matches).await?;
            if !matches.iter().any(|(encounter, seat)| encounter.awaits_ready(*seat)) {
                return Ok(());
            }
            self.handle_line(matches).await?;
        }
    }

    /// Plays the other seats and sends pending output of the matches to the bot.
    pub(crate) async fn exchange(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<(), Stop> {
        let limit = self.check.move_limit;
        let mut out = Vec::new();
        for (encounter, seat) in matches.iter_mut() {
            encounter.play_others();
            out.append(&mut encounter.take_outbox(*seat));
        }
        if out.is_empty() {
            return Ok(());
        }
        let talk = self.talk().await?;
        let has_taken = talk.send(&out, limit).await;
        self.has_played |= matches.iter().any(|(encounter, _)| encounter.ending().is_some());
        let Some(talk) = self.talk.as_mut().filter(|_| !has_taken) else { return Ok(()) };
        if let BotOutput::Timeout = talk.receive(Some(Instant::now() + QUIET)).await {
            let wrong = format!("it did not read what it was sent within {} ms", limit.as_millis());
            return Err(talk.violation(wrong, Rule::UNREAD).into());
        }
        Ok(())
    }

    /// The time limit for the bot's next message.
    fn limit(&self, encounter: &Encounter, seat: Seat) -> Duration {
        match (encounter.awaits_ready(seat), self.has_played) {
            (true, false) => self.check.ready_limit,
            (true, true) => self.check.later_ready_limit,
            (false, _) => self.check.move_limit + Duration::from_millis(limits::MARGIN_MS),
        }
    }

    /// Receives the next message and checks it. Returns the index of its match.
    pub(crate) async fn handle_line(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<usize, Stop> {
        let waiting = || matches.iter().filter(|(encounter, _)| encounter.ending().is_none());
        let left = |(encounter, seat): &(Encounter, Seat)| {
            self.limit(encounter, *seat).saturating_sub(encounter.asked_for(*seat))
        };
        let until = Instant::now() + waiting().map(left).min().unwrap_or_default();
        let no_ready = match waiting().min_by_key(|waiting| left(waiting)) {
            Some((encounter, seat)) if encounter.awaits_ready(*seat) => Some(self.limit(encounter, *seat)),
            _ => None,
        };
        match self.message(until).await {
            Ok(Some(line)) => self.take_in(matches, &line),
            Ok(None) => {
                let move_limit = self.check.move_limit;
                let talk = self.talk().await?;
                Err(match no_ready {
                    Some(limit) => {
                        let received = Some(talk.received());
                        let wrong = Detail::NotReady { limit_ms: limit.as_millis() as u64, received };
                        talk.violation(wrong.to_string(), Rule::READY).into()
                    }
                    None => no_answer(talk, move_limit),
                })
            }
            Err(Stop::Failed(_)) if self.has_left(matches).await => {
                self.restart();
                for (encounter, seat) in matches {
                    encounter.restart(*seat, self.check.ready_limit);
                }
                Ok(0)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Checks messages that arrived together with the last one: they precede the next output.
    async fn handle_rest(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<(), Stop> {
        while let Some(line) = self.message(Instant::now()).await? {
            self.take_in(matches, &line)?;
        }
        Ok(())
    }

    /// Checks a message. Returns the index of its match.
    fn take_in(&mut self, matches: &mut [(Encounter, Seat)], line: &[u8]) -> Result<usize, Stop> {
        let before: Vec<(bool, Duration)> = matches
            .iter()
            .map(|(encounter, seat)| (encounter.open_request(*seat).is_some(), encounter.asked_for(*seat)))
            .collect();
        let mut receivers: Vec<_> =
            matches.iter_mut().map(|(encounter, seat)| (&mut *encounter, *seat)).collect();
        let index = match handle_line(&mut receivers, Line::Text(line)) {
            LineOutcome::ByMatch(index) => index,
            // `message` passes on neither.
            LineOutcome::Nothing | LineOutcome::Bye => return Ok(0),
            LineOutcome::Rejected(rejection) => return Err(self.rejected(matches, rejection)),
        };
        let (encounter, seat) = &mut matches[index];
        self.judge(encounter, *seat)?;
        let (was_asked, took) = before[index];
        if was_asked {
            self.record_decision(took);
        }
        Ok(index)
    }

    /// The failure for a message that reached no match.
    fn rejected(&self, matches: &[(Encounter, Seat)], rejection: Rejection<usize>) -> Stop {
        let Rejection { refused, message, .. } = rejection;
        let Some(talk) = &self.talk else { return NO_BOT.into() };
        let running = matches.iter().find(|(encounter, _)| encounter.ending().is_none());
        let (wrong, rule) = match (refused.code, running) {
            (ErrorCode::UnknownMatch, Some((encounter, _))) => {
                (format!("{message}; `{}` is played", encounter.id()), Rule::ELSEWHERE)
            }
            (ErrorCode::UnknownSeat, Some((encounter, seat))) => {
                (format!("{message}; seat {seat} of `{}` is", encounter.id()), Rule::ELSEWHERE)
            }
            // Of messages without a match only a second `hello` is one in the wrong state.
            (ErrorCode::OutOfState, _) => (message, Rule::HELLO_ONCE),
            (code, _) => (message, Rule::of(code)),
        };
        talk.violation(wrong, rule).into()
    }

    /// Returns whether the bot exited or said `bye` between two matches, which is allowed.
    async fn has_left(&mut self, matches: &[(Encounter, Seat)]) -> bool {
        let is_before = matches
            .iter()
            .all(|(encounter, seat)| encounter.ending().is_some() || encounter.awaits_ready(*seat));
        let Some(talk) = self.talk.as_mut().filter(|_| is_before && self.has_played) else { return false };
        self.has_said_bye || talk.exited(Duration::ZERO).await.is_some_and(|how| how == Detail::LEFT)
    }

    /// Receives the next message other than `pong`; `None` on timeout.
    async fn message(&mut self, until: Instant) -> Result<Option<Vec<u8>>, Stop> {
        let talk = self.talk().await?;
        loop {
            let came = talk.receive(Some(until)).await;
            if talk.is_flooding() {
                let wrong = "it says more than 64 lines or 128 KiB between two requests";
                return Err(talk.violation(wrong, Rule::FLOOD).into());
            }
            let line = match came {
                BotOutput::Line(line) => line,
                BotOutput::TooLong => {
                    let wrong = "a line has more than 65536 bytes";
                    return Err(talk.violation(wrong, Rule::TOO_LONG).into());
                }
                BotOutput::Ended(how) => {
                    return Err(talk.violation(ended(how.as_ref()), Rule::ENDED).into());
                }
                BotOutput::Timeout => return Ok(None),
            };
            if line.is_empty() {
                continue;
            }
            match incoming::read(&line, false).1 {
                Ok(Incoming::Pong(pong)) if pong.id <= talk.last_ping() || !talk.delivery.has_pings() => {}
                Ok(Incoming::Pong(pong)) => {
                    let wrong = format!("a `pong` has the id {}, which no `ping` had", pong.id);
                    return Err(talk.violation(wrong, Rule::PONG).into());
                }
                Ok(Incoming::Bye(_)) => {
                    let violation = talk.violation("it said `bye` in a match", Rule::ENDED);
                    self.has_said_bye = true;
                    return Err(violation.into());
                }
                Err(Unreadable::Malformed(what)) => {
                    return Err(talk.violation(what.to_string(), Rule::MALFORMED).into());
                }
                Err(Unreadable::MalformedAside { message: what, .. }) => {
                    return Err(talk.violation(what, Rule::MALFORMED).into());
                }
                _ => return Ok(Some(line)),
            }
        }
    }

    /// Receives the answer to a request that was just sent.
    pub(crate) async fn answer(&mut self) -> Result<Vec<u8>, Stop> {
        let (asked, limit) = (Instant::now(), self.check.move_limit);
        match (self.message(asked + limit).await?, &self.talk) {
            (None, Some(talk)) => Err(no_answer(talk, limit)),
            (line, _) => {
                self.record_decision(asked.elapsed());
                Ok(line.unwrap_or_default())
            }
        }
    }

    /// Fails if the match has rejected the last message.
    fn judge(&mut self, encounter: &mut Encounter, seat: Seat) -> Result<(), Stop> {
        let Some(talk) = &self.talk else { return Ok(()) };
        for error in encounter.take_errors() {
            if error.code == ErrorCode::InfoDropped {
                if !std::mem::replace(&mut self.has_warned_of_info, true) {
                    self.warnings.push(format!("{} ({})", error.message, Rule::INFO.section));
                }
                continue;
            }
            let awaits_ready = encounter.awaits_ready(seat);
            let (wrong, rule) = match (error.code, error.turn) {
                (ErrorCode::Malformed, _) if awaits_ready => (error.message, Rule::NONCE),
                (ErrorCode::OutOfState, Some(_)) if awaits_ready => {
                    ("it answers a request before `ready`".to_owned(), Rule::READY)
                }
                (ErrorCode::OutOfState, Some(turn)) => {
                    let open = encounter.open_request(seat);
                    let open = open.map(|open| format!(": request {open} is open"));
                    let open = open.unwrap_or_default();
                    (format!("there is no request {turn} yet{open}"), Rule::TURN)
                }
                // Of messages without a request only a second `ready` is one in the wrong state.
                (ErrorCode::OutOfState, None) => (error.message, Rule::READY),
                (ErrorCode::UnknownType, _) if encounter.open_request(seat).is_some() => {
                    let right = "an answer is a `move`, `accept_draw` or `resign`";
                    (format!("{}: {right}", error.message), Rule::UNKNOWN_TYPE)
                }
                (code, _) => (error.message, Rule::of(code)),
            };
            return Err(talk.violation(wrong, rule).into());
        }
        Ok(())
    }

    /// Fails if the bot sends anything although no request is open.
    pub(crate) async fn quiet(&mut self) -> Result<(), Stop> {
        let Some(talk) = &mut self.talk else { return Ok(()) };
        let id = talk.ping().await;
        let until = Instant::now() + QUIET;
        loop {
            let came = talk.receive(Some(until)).await;
            if talk.is_flooding() {
                let wrong = "it says more than 64 lines or 128 KiB, although it was asked for nothing";
                return Err(talk.violation(wrong, Rule::FLOOD).into());
            }
            match came {
                BotOutput::Timeout => return Ok(()),
                BotOutput::Line(line) if line.is_empty() => {}
                BotOutput::Line(line) => match incoming::read(&line, false).1 {
                    Ok(Incoming::Pong(pong)) if pong.id == id => return Ok(()),
                    Ok(Incoming::Pong(_)) => {}
                    Ok(Incoming::Bye(_)) if self.has_played => {
                        self.notes.push(LEFT.to_owned());
                        self.restart();
                        return Ok(());
                    }
                    answer => {
                        // A bot that logs to standard output before its `hello`: the first line is the mistake.
                        let first = Some(&self.first_line).filter(|line| !line.is_empty());
                        let first = first.and_then(|line| incoming::read(line, false).1.err());
                        if let Some(Unreadable::Malformed(what)) = first {
                            let wrong = format!("its first line is no message: {what}");
                            return Err(talk.violation(wrong, Rule::MALFORMED).into());
                        }
                        let (what, rule) = match answer {
                            Ok(Incoming::Hello(_)) => ("`hello` comes once".to_owned(), Rule::HELLO_ONCE),
                            Ok(Incoming::Bye(_)) => ("it leaves before a match".to_owned(), Rule::LEAVES),
                            Ok(_) if self.has_played => ("no match is open".to_owned(), Rule::AFTER_END),
                            Ok(_) => ("no match is open".to_owned(), Rule::ELSEWHERE),
                            Err(unreadable) => {
                                let (refused, what) = unreadable.refusal();
                                (what, Rule::of(refused.code))
                            }
                        };
                        let wrong = format!("it says something although it was asked for nothing: {what}");
                        return Err(talk.violation(wrong, rule).into());
                    }
                },
                BotOutput::TooLong => {
                    let wrong = "a line has more than 65536 bytes";
                    return Err(talk.violation(wrong, Rule::TOO_LONG).into());
                }
                BotOutput::Ended(Some(how)) if how == Detail::LEFT && self.has_played => {
                    self.notes.push(LEFT.to_owned());
                    self.restart();
                    return Ok(());
                }
                BotOutput::Ended(how) => {
                    let wrong = format!("{} although no `bye` was said", ended(how.as_ref()));
                    return Err(talk.violation(wrong, Rule::LEAVES).into());
                }
            }
        }
    }

    /// Receives the answer to the open request and discards it. Returns false without an open request, or if the bot
    /// resigned.
    pub(crate) async fn discard_answer(
        &mut self,
        encounter: &mut Encounter,
        seat: Seat,
    ) -> Result<bool, Stop> {
        let Some(turn) = encounter.open_request(seat) else { return Ok(false) };
        let line = self.answer().await?;
        match answer_to(&line, encounter.id(), turn) {
            Ok(Answer::Resignation) => {
                handle_line(&mut [(&mut *encounter, seat)], Line::Text(&line));
                self.judge(encounter, seat)?;
                Ok(false)
            }
            Ok(Answer::Move(_)) => Ok(true),
            Err((wrong, rule)) => Err(self.talk().await?.violation(wrong, rule).into()),
        }
    }
}

fn no_answer(talk: &Talk, limit: Duration) -> Stop {
    let wrong = Detail::NoAnswer { limit_ms: limit.as_millis() as u64, received: Some(talk.received()) };
    talk.violation(wrong.to_string(), Rule::ANSWER).into()
}

/// Returns whether a line is text for people and no attempt at a message.
pub(super) fn is_text(line: &[u8]) -> bool {
    !line.trim_ascii_start().starts_with(b"{") && incoming::read(line, false).1.is_err()
}

/// Returns whether the referee ignores a line, whatever the state.
pub(super) fn has_no_effect(line: &[u8]) -> bool {
    line.is_empty() || matches!(incoming::read(line, false).1, Ok(Incoming::Pong(_)))
}
