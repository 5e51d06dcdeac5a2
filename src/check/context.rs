//! The state shared by all steps, and how they play and check matches with the bot.

use std::time::Duration;

use referee_protocol::bot::{self, Want};
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::referee::Clock;
use referee_protocol::words::{ErrorCode, OnFault};
use tokio::time::Instant;

use crate::check::encounter::{Encounter, RejectedMessage};
use crate::check::rule::Rule;
use crate::check::steps::Check;
use crate::check::talk::{BotOutput, Talk, ended, hello};
use crate::check::verdict::Stop;
use crate::core::chance::Seed;
use crate::core::erased::Rules;
use crate::core::excerpt::excerpt;
use crate::core::seat::{Seat, SeatSet, Seating};
use crate::games::GAMES;
use crate::referee::{Detail, Leg, Opening, Wants};
use crate::server::incoming::{self, Incoming, Unreadable};
use crate::server::{MatchPlan, PlannedSeat, Run, Terms};

/// How long to wait for unexpected messages from a bot that does not answer `ping`.
const QUIET: Duration = Duration::from_millis(100);
/// The note on a bot that exits or says `bye` between two matches.
const LEFT: &str = "it left after a match, as it may";
/// Warn if a decision takes more than this fraction of its limit.
const WARN_FRACTION: f64 = 0.5;

/// The bot under test, and the state of the check.
pub(super) struct Context<'a> {
    pub(super) check: &'a Check,
    /// The bot's process; `None`: it has to be started.
    pub(super) talk: Option<Talk>,
    /// Its first line, until it is checked.
    pub(super) first_line: Vec<u8>,
    pub(super) hello: Option<bot::Hello>,
    /// Whether this process has played a match.
    has_played: bool,
    /// Whether this process has said `bye`.
    has_said_bye: bool,
    matches: u32,
    /// Notes and warnings of the current step.
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// Whether a warning about `info` was issued; it is issued once.
    has_warned_of_info: bool,
    /// The standard error of earlier processes since the last report.
    pub(super) stderr: String,
    /// Number of decisions so far, their total time and the longest time.
    pub(super) decisions: u32,
    pub(super) thought: Duration,
    pub(super) longest: Duration,
}

impl<'a> Context<'a> {
    pub(super) fn new(check: &'a Check) -> Context<'a> {
        Context {
            check,
            talk: None,
            first_line: Vec::new(),
            hello: None,
            has_played: false,
            has_said_bye: false,
            matches: 0,
            notes: Vec::new(),
            warnings: Vec::new(),
            has_warned_of_info: false,
            stderr: String::new(),
            decisions: 0,
            thought: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }

    /// Starts the bot and sends `hello`. Returns its first line, which should be its `hello`.
    pub(super) async fn start(&mut self) -> Result<Vec<u8>, Stop> {
        let command = &self.check.command;
        let talk = Talk::start(command, self.check.launch.clone())
            .await
            .map_err(|error| Stop::CannotRun(format!("cannot start the bot: {error}")))?;
        self.has_played = false;
        self.has_said_bye = false;
        let talk = self.talk.insert(talk);
        let limit = self.check.hello_limit;
        talk.send(&hello(), limit).await;
        let until = Instant::now() + limit;
        loop {
            return match talk.receive(Some(until)).await {
                BotOutput::Line(line) if has_no_effect(&line) && !talk.is_flooding() => continue,
                BotOutput::Line(line) => Ok(line),
                BotOutput::TooLong => {
                    Err(talk.complain("its first line has more than 65536 bytes", Rule::TOO_LONG).into())
                }
                BotOutput::Ended(how) => {
                    let wrong = format!("{} before it said `hello`", ended(how.as_ref()));
                    Err(talk.complain(wrong, Rule::HELLO).into())
                }
                BotOutput::Timeout => {
                    let received = Some(talk.received());
                    let wrong = Detail::NoHello { limit_ms: limit.as_millis() as u64, received };
                    Err(talk.complain(wrong.to_string(), Rule::HELLO).into())
                }
            };
        }
    }

    /// Returns the running bot, and starts it if necessary.
    pub(super) async fn talk(&mut self) -> Result<&mut Talk, Stop> {
        if self.talk.is_none() {
            self.start().await?;
        }
        self.talk.as_mut().ok_or_else(|| Stop::CannotRun("the bot is not there".to_owned()))
    }

    /// The games in which the bot is checked.
    pub(super) fn games(&self) -> Vec<&'static dyn Rules> {
        let says = self.hello.as_ref().and_then(|hello| hello.games.as_ref());
        let plays = |id: &str| {
            says.is_none_or(|games| games.iter().any(|game| game == id))
                && self.check.game.is_none_or(|rules| rules.meta().id == id)
        };
        GAMES.iter().copied().filter(|rules| plays(rules.meta().id)).collect()
    }

    /// The game for steps that are independent of the game.
    pub(super) fn any_game(&self) -> Result<&'static dyn Rules, Stop> {
        let first = self.games().first().copied();
        first.ok_or_else(|| Stop::Skipped("the bot plays none of the games".to_owned()))
    }

    fn wants(&self) -> Wants {
        self.hello.as_ref().map(Wants::from).unwrap_or_default()
    }

    /// Whether the bot wants this part of messages.
    pub(super) fn is_wanted(&self, want: Want) -> bool {
        let wants = self.wants();
        match want {
            Want::View => wants.view,
            Want::Legal => wants.legal,
            Want::Event => wants.event,
        }
    }

    /// Opens a match with the bot in one seat and random moves in the others.
    pub(super) fn open(
        &mut self,
        rules: &'static dyn Rules,
        seating: Seating,
        seat: Seat,
    ) -> Result<Encounter, Stop> {
        self.open_with(rules, seating, seat, SeatSet::one(seat))
    }

    /// Opens a match with the bot in one seat and inactive other seats, so that it stays at its start.
    pub(super) fn open_still(
        &mut self,
        rules: &'static dyn Rules,
        seating: Seating,
        seat: Seat,
    ) -> Result<Encounter, Stop> {
        self.open_with(rules, seating, seat, seating.all())
    }

    fn open_with(
        &mut self,
        rules: &'static dyn Rules,
        seating: Seating,
        seat: Seat,
        bots: SeatSet,
    ) -> Result<Encounter, Stop> {
        self.matches += 1;
        let mut seed = Seed([7; 32]);
        seed.0[..4].copy_from_slice(&self.matches.to_be_bytes());
        let terms = Terms {
            clock: Some(Clock {
                delay_ms: self.check.move_limit.as_millis() as u64,
                bank_ms: 0,
                increment_ms: 0,
            }),
            on_fault: OnFault::Retry(3),
            ..Terms::default()
        };
        let planned = |index: usize| PlannedSeat {
            name: if index == seat.index() { "bot".to_owned() } else { "random".to_owned() },
            ready_ms: limits::FIRST_READY_MS,
            clock: None,
            bot: None,
            wants: if index == seat.index() { self.wants() } else { Wants::default() },
        };
        let options = rules.default_options();
        let plan = MatchPlan {
            id: format!("m{}", self.matches),
            deal: None,
            seed: Some(seed),
            rules,
            options: &options,
            seating,
            seats: (0..seating.seats()).map(planned).collect(),
            opening: Opening::None,
            leg: Leg::Only,
            open_id: None,
            auto_ready: false,
            watched: false,
        };
        let run = Run { seed, terms };
        let chooser = seed.match_key(rules.meta().id, "check", &[""; 0]).fallback();
        Encounter::open(&run, plan, bots, chooser).map_err(|error| Stop::CannotRun(error.to_string()))
    }

    /// Plays a match until it is over. Aborts it after `most` decisions of the bot.
    pub(super) async fn play(&mut self, encounter: Encounter, seat: Seat, most: u32) -> Result<(), Stop> {
        self.play_all(&mut [(encounter, seat)], most).await
    }

    /// Plays several matches concurrently on one stream, each with the bot in one seat.
    pub(super) async fn play_all(
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
            let index = self.hear(matches).await?;
            let (encounter, seat) = &mut matches[index];
            // Between `ready` and the first answer no request is open.
            if encounter.open_request(*seat).is_none() && !encounter.awaits_ready(*seat) {
                answers[index] += 1;
            }
            // If a request is pending, the bot would answer after the end.
            if answers[index] > most && !encounter.is_asking(*seat) {
                encounter.abort();
            }
            self.hear_rest(matches).await?;
        }
    }

    /// Plays until the bot is ready in all matches and has received the next requests.
    pub(super) async fn begin(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<(), Stop> {
        loop {
            self.exchange(matches).await?;
            if !matches.iter().any(|(encounter, seat)| encounter.awaits_ready(*seat)) {
                return Ok(());
            }
            self.hear(matches).await?;
        }
    }

    /// Plays the other seats and sends pending output of the matches to the bot.
    pub(super) async fn exchange(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<(), Stop> {
        let limit = self.check.move_limit;
        let mut out = Vec::new();
        for (encounter, seat) in matches.iter_mut() {
            encounter.others_act();
            out.append(&mut encounter.take_outbox(*seat));
        }
        if out.is_empty() {
            return Ok(());
        }
        let talk = self.talk().await?;
        let has_taken = talk.send(&out, limit).await;
        for (encounter, seat) in matches.iter_mut() {
            encounter.sent(*seat);
        }
        self.has_played |= matches.iter().any(|(encounter, _)| encounter.ending().is_some());
        let Some(talk) = self.talk.as_mut().filter(|_| !has_taken) else { return Ok(()) };
        if let BotOutput::Timeout = talk.receive(Some(Instant::now() + QUIET)).await {
            let wrong = format!("it did not read what it was sent within {} ms", limit.as_millis());
            return Err(talk.complain(wrong, Rule::UNREAD).into());
        }
        Ok(())
    }

    /// The time limit for the bot's next message.
    fn limit(&self, encounter: &Encounter, seat: Seat) -> Duration {
        let later = Duration::from_millis(limits::READY_MS).min(self.check.ready_limit);
        match (encounter.awaits_ready(seat), self.has_played) {
            (true, false) => self.check.ready_limit,
            (true, true) => later,
            (false, _) => self.check.move_limit + Duration::from_millis(limits::MARGIN_MS),
        }
    }

    /// Receives the next message and checks it. Returns the index of its match.
    pub(super) async fn hear(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<usize, Stop> {
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
                        talk.complain(wrong.to_string(), Rule::READY).into()
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
    async fn hear_rest(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<(), Stop> {
        while let Some(line) = self.message(Instant::now()).await? {
            self.take_in(matches, &line)?;
        }
        Ok(())
    }

    /// Checks a message. Returns the index of its match.
    fn take_in(&mut self, matches: &mut [(Encounter, Seat)], line: &[u8]) -> Result<usize, Stop> {
        let named = incoming::read(line, false).0.match_id.map(|id| id.to_string());
        let by_name = named.and_then(|id| matches.iter().position(|(encounter, _)| encounter.id() == id));
        let first = || matches.iter().position(|(encounter, _)| encounter.ending().is_none());
        let index = by_name.or_else(first).unwrap_or_default();
        let (encounter, seat) = &mut matches[index];
        let (was_asked, took) = (encounter.open_request(*seat).is_some(), encounter.asked_for(*seat));
        let heard = encounter.hear(*seat, line);
        self.judge(encounter, *seat, heard)?;
        if was_asked {
            self.record_decision(took);
        }
        Ok(index)
    }

    /// Whether the bot exited or said `bye` between two matches, which is allowed.
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
                return Err(talk.complain(wrong, Rule::FLOOD).into());
            }
            let line = match came {
                BotOutput::Line(line) => line,
                BotOutput::TooLong => {
                    let wrong = "a line has more than 65536 bytes";
                    return Err(talk.complain(wrong, Rule::TOO_LONG).into());
                }
                BotOutput::Ended(how) => {
                    return Err(talk.complain(ended(how.as_ref()), Rule::ENDED).into());
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
                    return Err(talk.complain(wrong, Rule::PONG).into());
                }
                Ok(Incoming::Bye(_)) => {
                    let complaint = talk.complain("it said `bye` in a match", Rule::ENDED);
                    self.has_said_bye = true;
                    return Err(complaint.into());
                }
                Err(Unreadable::Malformed(what)) => {
                    return Err(talk.complain(what.to_string(), Rule::MALFORMED).into());
                }
                Err(Unreadable::MalformedAside { message: what, .. }) => {
                    return Err(talk.complain(what, Rule::MALFORMED).into());
                }
                _ => return Ok(Some(line)),
            }
        }
    }

    /// Receives the answer to a request that was just sent.
    pub(super) async fn answer(&mut self) -> Result<Vec<u8>, Stop> {
        let (asked, limit) = (Instant::now(), self.check.move_limit);
        let line = self.message(asked + limit).await?;
        self.record_decision(asked.elapsed());
        match (line, &self.talk) {
            (None, Some(talk)) => Err(no_answer(talk, limit)),
            (line, _) => Ok(line.unwrap_or_default()),
        }
    }

    /// Fails if the match has rejected the last message.
    pub(super) fn judge(
        &mut self,
        encounter: &mut Encounter,
        seat: Seat,
        heard: Result<(), RejectedMessage>,
    ) -> Result<(), Stop> {
        let Some(talk) = &self.talk else { return Ok(()) };
        if let Err(RejectedMessage { code, message }) = heard {
            // Of messages without a match only a second `hello` is one in the wrong state.
            let rule = if code == ErrorCode::OutOfState { Rule::HELLO_ONCE } else { Rule::of(code) };
            return Err(talk.complain(message, rule).into());
        }
        let out = encounter.take_outbox(seat);
        let mut others = Vec::new();
        for line in out.split_inclusive(|&byte| byte == b'\n') {
            let refused = line
                .starts_with(br#"{"type":"error""#)
                .then(|| serde_json::from_slice::<message::Error>(line).ok())
                .flatten();
            match refused {
                None => others.extend_from_slice(line),
                Some(error) if error.code == ErrorCode::InfoDropped => {
                    if !std::mem::replace(&mut self.has_warned_of_info, true) {
                        self.warnings.push(format!("{} ({})", error.message, Rule::INFO.section));
                    }
                }
                Some(error) => {
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
                    return Err(talk.complain(wrong, rule).into());
                }
            }
        }
        encounter.give_back(seat, others);
        Ok(())
    }

    /// Fails if the bot sends anything although no request is open.
    pub(super) async fn quiet(&mut self) -> Result<(), Stop> {
        let Some(talk) = &mut self.talk else { return Ok(()) };
        let id = talk.ping().await;
        let until = Instant::now() + QUIET;
        loop {
            let came = talk.receive(Some(until)).await;
            if talk.is_flooding() {
                let wrong = "it says more than 64 lines or 128 KiB, although it was asked for nothing";
                return Err(talk.complain(wrong, Rule::FLOOD).into());
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
                            return Err(talk.complain(wrong, Rule::MALFORMED).into());
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
                        return Err(talk.complain(wrong, rule).into());
                    }
                },
                BotOutput::TooLong => {
                    let wrong = "a line has more than 65536 bytes";
                    return Err(talk.complain(wrong, Rule::TOO_LONG).into());
                }
                BotOutput::Ended(Some(how)) if how == Detail::LEFT && self.has_played => {
                    self.notes.push(LEFT.to_owned());
                    self.restart();
                    return Ok(());
                }
                BotOutput::Ended(how) => {
                    let wrong = format!("{} although no `bye` was said", ended(how.as_ref()));
                    return Err(talk.complain(wrong, Rule::LEAVES).into());
                }
            }
        }
    }

    /// Drops the process, so that the next step starts a new one.
    pub(super) fn restart(&mut self) {
        self.stderr = self.take_stderr();
        self.talk = None;
    }

    /// Records the time of a decision.
    fn record_decision(&mut self, took: Duration) {
        self.decisions += 1;
        self.thought += took;
        self.longest = self.longest.max(took);
    }

    /// Receives the answer to the open request and discards it. Returns false without an open request, or if the bot
    /// resigned.
    pub(super) async fn discard_answer(
        &mut self,
        encounter: &mut Encounter,
        seat: Seat,
    ) -> Result<bool, Stop> {
        let Some(turn) = encounter.open_request(seat) else { return Ok(false) };
        let line = self.answer().await?;
        match answer_to(&line, encounter.id(), turn) {
            Ok(Answer::Resignation) => {
                let heard = encounter.hear(seat, &line);
                self.judge(encounter, seat, heard)?;
                Ok(false)
            }
            Ok(Answer::Move(_)) => Ok(true),
            Err((wrong, rule)) => Err(self.talk().await?.complain(wrong, rule).into()),
        }
    }

    /// Returns what the bot has written to standard error since the last call.
    pub(super) fn take_stderr(&mut self) -> String {
        let now = self.talk.as_ref().map(Talk::stderr).unwrap_or_default();
        std::mem::take(&mut self.stderr) + &now
    }

    /// Reports the decision times.
    pub(super) fn judge_time(&mut self) {
        let (longest, limit) = (self.longest, self.check.move_limit);
        let mean = self.thought / self.decisions.max(1);
        let figures = format!(
            "{} decisions, {:.1} ms on average, {:.1} ms at most of {} ms",
            self.decisions,
            mean.as_secs_f64() * 1e3,
            longest.as_secs_f64() * 1e3,
            limit.as_millis()
        );
        if longest.as_secs_f64() > limit.as_secs_f64() * WARN_FRACTION {
            self.warnings.push(format!("near the limit: {figures}"));
        } else {
            self.notes.push(figures);
        }
    }
}

fn no_answer(talk: &Talk, limit: Duration) -> Stop {
    let wrong = Detail::NoAnswer { limit_ms: limit.as_millis() as u64, received: Some(talk.received()) };
    talk.complain(wrong.to_string(), Rule::ANSWER).into()
}

/// Whether the referee ignores a line, whatever the state.
fn has_no_effect(line: &[u8]) -> bool {
    line.is_empty() || matches!(incoming::read(line, false).1, Ok(Incoming::Pong(_)))
}

/// An answer to a request without a draw offer.
pub(super) enum Answer {
    Move(String),
    Resignation,
}

/// Reads the answer to this request.
///
/// # Errors
/// What is wrong with the line, and the violated sentence.
pub(super) fn answer_to(line: &[u8], id: &str, turn: u32) -> Result<Answer, (String, Rule)> {
    let named = |of: &str, named: u64| {
        if of != id {
            Err((
                format!("it answers for the match `{}`: `{id}` is played", excerpt(of, 40)),
                Rule::ELSEWHERE,
            ))
        } else if named != u64::from(turn) {
            let rule = if named < turn.into() { Rule::OLD } else { Rule::TURN };
            Err((format!("it answers request {named}: request {turn} is open"), rule))
        } else {
            Ok(())
        }
    };
    match incoming::read(line, false).1 {
        Ok(Incoming::Move(answer)) => {
            named(&answer.r#match, answer.turn).map(|()| Answer::Move(answer.r#move.to_string()))
        }
        Ok(Incoming::AcceptDraw(answer)) => named(&answer.r#match, answer.turn).and_then(|()| {
            Err((
                "no draw is offered: `accept_draw` answers a request with `draw_offered`".to_owned(),
                Rule::NO_OFFER,
            ))
        }),
        Ok(Incoming::Resign(answer)) => named(&answer.r#match, turn.into()).map(|()| Answer::Resignation),
        Ok(Incoming::Hello(_)) => Err(("`hello` comes once".to_owned(), Rule::HELLO_ONCE)),
        Ok(_) => Err(("`ready` answers `start`, once".to_owned(), Rule::READY)),
        Err(unreadable) => {
            let (refused, what) = unreadable.refusal();
            Err((what, Rule::of(refused.code)))
        }
    }
}
