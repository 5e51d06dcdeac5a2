//! What the steps share: the bot, and how matches with it are played and judged.

use std::time::Duration;

use referee_protocol::bot::{self, Want};
use referee_protocol::limits;
use referee_protocol::referee as message;
use referee_protocol::referee::Clock;
use referee_protocol::words::{ErrorCode, OnFault};
use tokio::time::Instant;

use crate::check::encounter::{Encounter, Refused};
use crate::check::rule::Rule;
use crate::check::steps::Check;
use crate::check::talk::{Came, Talk, ended, hello};
use crate::check::verdict::Stop;
use crate::core::chance::Seed;
use crate::core::erased::Rules;
use crate::core::seat::{Seat, SeatSet, Seating};
use crate::games::GAMES;
use crate::referee::{Leg, Opening, Wants};
use crate::server::incoming::{self, Incoming, Unreadable};
use crate::server::{Plan, PlannedSeat, Run, Terms};

/// How long a bot that sends no `pong` has to say what nobody has asked for.
const QUIET: Duration = Duration::from_millis(100);
/// How a process ends that leaves between two matches, which is no fault.
const LEFT: &str = "status 0";
/// The part of its time for a decision that a bot should not need.
const NEAR: f64 = 0.5;

/// The bot that is checked, and what is known of it.
pub(super) struct Desk<'a> {
    pub(super) check: &'a Check,
    /// None: it has to be started.
    pub(super) talk: Option<Talk>,
    /// What it said first, until it is judged.
    pub(super) first_line: Vec<u8>,
    pub(super) hello: Option<bot::Hello>,
    /// Whether this process has played a match.
    has_played: bool,
    matches: u32,
    /// What is to be said of the step that is being done, and whether it is a warning.
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// Once is enough.
    has_warned_of_info: bool,
    /// The standard error of processes that have ended meanwhile.
    pub(super) stderr: String,
    /// Decisions so far, the time that they took, and the longest.
    pub(super) decisions: u32,
    pub(super) thought: Duration,
    pub(super) longest: Duration,
}

impl<'a> Desk<'a> {
    pub(super) fn new(check: &'a Check) -> Desk<'a> {
        Desk {
            check,
            talk: None,
            first_line: Vec::new(),
            hello: None,
            has_played: false,
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

    /// Starts the bot and greets it; its first line, which should be its `hello`.
    pub(super) async fn start(&mut self) -> Result<Vec<u8>, Stop> {
        let command = &self.check.command;
        let talk = Talk::start(command)
            .map_err(|error| Stop::CannotRun(format!("the bot cannot be started: {error}")))?;
        self.has_played = false;
        let talk = self.talk.insert(talk);
        let limit = self.check.hello_limit;
        talk.say(&hello(), limit).await;
        let until = Instant::now() + limit;
        loop {
            return match talk.come(Some(until)).await {
                Came::Line(line) if line.is_empty() && !talk.is_flooding() => continue,
                Came::Line(line) => Ok(line),
                Came::TooLong => {
                    Err(talk.complain("its first line has more than 65536 bytes", Rule::TOO_LONG).into())
                }
                Came::Ended(how) => {
                    let wrong = format!("{} before it said `hello`", ended(how.as_deref()));
                    Err(talk.complain(wrong, Rule::HELLO).into())
                }
                Came::Nothing => {
                    let wrong = format!("no line came within {} ms; is stdout flushed?", limit.as_millis());
                    Err(talk.complain(wrong, Rule::HELLO).into())
                }
            };
        }
    }

    /// The stream to the bot, which has said `hello`.
    pub(super) async fn talk(&mut self) -> Result<&mut Talk, Stop> {
        if self.talk.is_none() {
            self.start().await?;
        }
        self.talk.as_mut().ok_or_else(|| Stop::CannotRun("the bot is not there".to_owned()))
    }

    /// The games that it is checked in.
    pub(super) fn games(&self) -> Vec<&'static dyn Rules> {
        let says = self.hello.as_ref().and_then(|hello| hello.games.as_ref());
        let plays = |id: &str| {
            says.is_none_or(|games| games.iter().any(|game| game == id))
                && self.check.game.is_none_or(|rules| rules.meta().id == id)
        };
        GAMES.iter().copied().filter(|rules| plays(rules.meta().id)).collect()
    }

    /// The game for the steps in which it does not matter which.
    pub(super) fn any_game(&self) -> Result<&'static dyn Rules, Stop> {
        let first = self.games().first().copied();
        first.ok_or_else(|| Stop::Skipped("the bot plays none of the games".to_owned()))
    }

    fn wants(&self) -> Wants {
        self.hello.as_ref().map(Wants::from).unwrap_or_default()
    }

    /// Whether it wants to get this.
    pub(super) fn is_wanted(&self, want: Want) -> bool {
        let wants = self.wants();
        match want {
            Want::View => wants.view,
            Want::Legal => wants.legal,
            Want::Event => wants.event,
        }
    }

    /// A match with the bot in one seat and random moves in the others.
    pub(super) fn open(
        &mut self,
        rules: &'static dyn Rules,
        seating: Seating,
        seat: Seat,
    ) -> Result<Encounter, Stop> {
        self.open_with(rules, seating, seat, SeatSet::one(seat))
    }

    /// A match with the bot in one seat in which nobody else does anything: it does not get beyond its start.
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
        let plan = Plan {
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

    /// Plays a match until it is over, or the bot has made so many decisions; then it is broken off.
    pub(super) async fn play(&mut self, encounter: Encounter, seat: Seat, most: u32) -> Result<(), Stop> {
        self.play_all(&mut [(encounter, seat)], most).await
    }

    /// Plays matches at once on the one stream, each with the bot in a seat.
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
            // Where it is asked again at once it would answer after the end.
            if answers[index] > most && !encounter.is_asking(*seat) {
                encounter.abort();
            }
            self.hear_rest(matches).await?;
        }
    }

    /// Plays until the bot is ready for all matches and has been asked for what follows.
    pub(super) async fn begin(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<(), Stop> {
        loop {
            self.exchange(matches).await?;
            if !matches.iter().any(|(encounter, seat)| encounter.awaits_ready(*seat)) {
                return Ok(());
            }
            self.hear(matches).await?;
        }
    }

    /// Sends what the matches have to say.
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
        let has_taken = talk.say(&out, limit).await;
        for (encounter, seat) in matches.iter_mut() {
            encounter.sent(*seat);
        }
        self.has_played |= matches.iter().any(|(encounter, _)| encounter.ending().is_some());
        let Some(talk) = self.talk.as_mut().filter(|_| !has_taken) else { return Ok(()) };
        if let Came::Nothing = talk.come(Some(Instant::now() + QUIET)).await {
            let wrong = format!("it did not read what it was sent within {} ms", limit.as_millis());
            return Err(talk.complain(wrong, Rule::ANSWER).into());
        }
        Ok(())
    }

    /// How long the bot has for what it owes.
    fn limit(&self, encounter: &Encounter, seat: Seat) -> Duration {
        let later = Duration::from_millis(limits::READY_MS).min(self.check.ready_limit);
        match (encounter.awaits_ready(seat), self.has_played) {
            (true, false) => self.check.ready_limit,
            (true, true) => later,
            (false, _) => self.check.move_limit + Duration::from_millis(limits::MARGIN_MS),
        }
    }

    /// Takes in the next message and judges it. Which match it was for.
    pub(super) async fn hear(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<usize, Stop> {
        let waiting = || matches.iter().filter(|(encounter, _)| encounter.ending().is_none());
        let left = |(encounter, seat): &(Encounter, Seat)| {
            self.limit(encounter, *seat).saturating_sub(encounter.asked_for(*seat))
        };
        let until = Instant::now() + waiting().map(left).min().unwrap_or_default();
        let owed = match waiting().min_by_key(|waiting| left(waiting)) {
            Some((encounter, seat)) if encounter.awaits_ready(*seat) => {
                (format!("no `ready` within {} ms", self.limit(encounter, *seat).as_millis()), Rule::READY)
            }
            _ => (no_answer(self.check.move_limit), Rule::ANSWER),
        };
        match self.message(until).await {
            Ok(Some(line)) => self.take_in(matches, &line),
            Ok(None) => Err(self.talk().await?.complain(owed.0, owed.1).into()),
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

    /// Judges what came together with the last message: it cannot be about what the bot is told next.
    async fn hear_rest(&mut self, matches: &mut [(Encounter, Seat)]) -> Result<(), Stop> {
        while let Some(line) = self.message(Instant::now()).await? {
            self.take_in(matches, &line)?;
        }
        Ok(())
    }

    /// Judges a message. Which match it was for.
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
            self.thought_for(took);
        }
        Ok(index)
    }

    /// Whether the bot has left between two matches, as it may: it is started again.
    async fn has_left(&mut self, matches: &[(Encounter, Seat)]) -> bool {
        let is_before = matches
            .iter()
            .all(|(encounter, seat)| encounter.ending().is_some() || encounter.awaits_ready(*seat));
        let Some(talk) = self.talk.as_mut().filter(|_| is_before && self.has_played) else { return false };
        talk.exited(Duration::ZERO).await.is_some_and(|how| how == LEFT)
    }

    /// The next message that is no `pong`; none if none comes in time.
    async fn message(&mut self, until: Instant) -> Result<Option<Vec<u8>>, Stop> {
        let talk = self.talk().await?;
        loop {
            let came = talk.come(Some(until)).await;
            if talk.is_flooding() {
                let wrong = "it says more than 64 lines or 128 KiB between two requests";
                return Err(talk.complain(wrong, Rule::FLOOD).into());
            }
            let line = match came {
                Came::Line(line) => line,
                Came::TooLong => {
                    let wrong = "a line has more than 65536 bytes";
                    return Err(talk.complain(wrong, Rule::TOO_LONG).into());
                }
                Came::Ended(how) => {
                    return Err(talk.complain(ended(how.as_deref()), Rule::ENDED).into());
                }
                Came::Nothing => return Ok(None),
            };
            if line.is_empty() {
                continue;
            }
            match incoming::read(&line, false).1 {
                Ok(Incoming::Pong(pong)) if pong.id <= talk.last_ping() || !talk.manner.has_pings() => {}
                Ok(Incoming::Pong(pong)) => {
                    let wrong = format!("a `pong` has the id {}, which no `ping` had", pong.id);
                    return Err(talk.complain(wrong, Rule::PONG).into());
                }
                Ok(Incoming::Bye(_)) => {
                    return Err(talk.complain("it said `bye` in a match", Rule::ENDED).into());
                }
                Err(Unreadable::Malformed(what) | Unreadable::MalformedAside(what)) => {
                    return Err(talk.complain(what, Rule::FRAMING).into());
                }
                _ => return Ok(Some(line)),
            }
        }
    }

    /// The next message, an answer to a request that was just put.
    pub(super) async fn answer(&mut self) -> Result<Vec<u8>, Stop> {
        let (asked, limit) = (Instant::now(), self.check.move_limit);
        let line = self.message(asked + limit).await?;
        self.thought_for(asked.elapsed());
        match (line, &self.talk) {
            (None, Some(talk)) => Err(talk.complain(no_answer(limit), Rule::ANSWER).into()),
            (line, _) => Ok(line.unwrap_or_default()),
        }
    }

    /// Whether the referee has anything against what it heard.
    pub(super) fn judge(
        &mut self,
        encounter: &mut Encounter,
        seat: Seat,
        heard: Result<(), Refused>,
    ) -> Result<(), Stop> {
        let Some(talk) = &self.talk else { return Ok(()) };
        if let Err(Refused { code, message }) = heard {
            return Err(talk.complain(message, Rule::of(code)).into());
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
                    let is_nonce = error.code == ErrorCode::Malformed && encounter.awaits_ready(seat);
                    let rule = if is_nonce { Rule::NONCE } else { Rule::of(error.code) };
                    return Err(talk.complain(error.message, rule).into());
                }
            }
        }
        encounter.give_back(seat, others);
        Ok(())
    }

    /// Nothing more may come: the bot owes nothing.
    pub(super) async fn quiet(&mut self) -> Result<(), Stop> {
        let Some(talk) = &mut self.talk else { return Ok(()) };
        let id = talk.ping().await;
        let until = Instant::now() + QUIET;
        loop {
            let came = talk.come(Some(until)).await;
            if talk.is_flooding() {
                let wrong = "it says more than 64 lines or 128 KiB, although it was asked for nothing";
                return Err(talk.complain(wrong, Rule::FLOOD).into());
            }
            match came {
                Came::Nothing => return Ok(()),
                Came::Line(line) if line.is_empty() => {}
                Came::Line(line) => match incoming::read(&line, false).1 {
                    Ok(Incoming::Pong(pong)) if pong.id == id => return Ok(()),
                    Ok(Incoming::Pong(_)) => {}
                    _ => {
                        let wrong = "it says something although it was asked for nothing";
                        return Err(talk.complain(wrong, Rule::COMPLETE).into());
                    }
                },
                Came::TooLong => {
                    let wrong = "a line has more than 65536 bytes";
                    return Err(talk.complain(wrong, Rule::TOO_LONG).into());
                }
                Came::Ended(Some(how)) if how == LEFT && self.has_played => {
                    self.notes.push("it left after a match, as it may".to_owned());
                    self.restart();
                    return Ok(());
                }
                Came::Ended(how) => {
                    let wrong = format!("{} although no `bye` was said", ended(how.as_deref()));
                    return Err(talk.complain(wrong, Rule::ENDED).into());
                }
            }
        }
    }

    /// Drops the process: the next step gets a new one.
    pub(super) fn restart(&mut self) {
        self.stderr = self.take_stderr();
        self.talk = None;
    }

    /// A decision took so long.
    fn thought_for(&mut self, took: Duration) {
        self.decisions += 1;
        self.thought += took;
        self.longest = self.longest.max(took);
    }

    /// Waits for the answer to a request and lets it fall. Whether there was a request, and no resignation instead.
    pub(super) async fn overhear(&mut self, encounter: &mut Encounter, seat: Seat) -> Result<bool, Stop> {
        let Some(turn) = encounter.open_request(seat) else { return Ok(false) };
        let line = self.answer().await?;
        let (address, message) = incoming::read(&line, false);
        if matches!(message, Ok(Incoming::Resign(_))) {
            let heard = encounter.hear(seat, &line);
            self.judge(encounter, seat, heard)?;
            return Ok(false);
        }
        if address.turn == Some(turn.into()) && address.match_id.is_some_and(|id| *id == *encounter.id()) {
            return Ok(true);
        }
        let wrong = format!("it does not answer request {turn} of match `{}`", encounter.id());
        Err(self.talk().await?.complain(wrong, Rule::COMPLETE).into())
    }

    /// What the bot wrote to its standard error since the last call.
    pub(super) fn take_stderr(&mut self) -> String {
        let now = self.talk.as_ref().map(Talk::stderr).unwrap_or_default();
        std::mem::take(&mut self.stderr) + &now
    }

    /// What is to be said of the time that it takes.
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
        if longest.as_secs_f64() > limit.as_secs_f64() * NEAR {
            self.warnings.push(format!("near the limit: {figures}"));
        } else {
            self.notes.push(figures);
        }
    }
}

fn no_answer(limit: Duration) -> String {
    format!("no complete line arrived within {} ms; is stdout flushed?", limit.as_millis())
}
