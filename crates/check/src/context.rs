//! The state shared by all steps, and how they play and check matches with the bot.

mod answer;
mod exchange;

use std::time::Duration;

use referee_engine::driver::{MatchPlan, PlannedSeat, Run, Terms};
use referee_game::Wrong;
use referee_game::chance::Seed;
use referee_game::erased::Rules;
use referee_game::seat::{Seat, SeatSet, Seating};
use referee_match::{Detail, Leg, Opening, Wants};
use referee_protocol::bot::{self, Want};
use referee_protocol::limits;
use referee_protocol::referee::Clock;
use referee_protocol::words::OnFault;
use tokio::time::Instant;

use crate::encounter::Encounter;
use crate::rule::Rule;
use crate::setup::Check;
use crate::talk::{BotOutput, Talk, ended, hello};
use crate::verdict::{NO_BOT, Stop};

pub(super) use answer::{Answer, answer_to};
use exchange::{has_no_effect, is_text};

/// Warn if a decision takes more than this fraction of its limit.
const WARN_FRACTION: f64 = 0.5;

/// The bot under test, and the state of the check.
pub(super) struct Context<'a> {
    pub(super) check: &'a Check,
    /// The bot's process; `None`: it has to be started.
    pub(super) talk: Option<Talk>,
    /// The first line, until it is checked.
    pub(super) first_line: Vec<u8>,
    /// The first text that it printed before its `hello`.
    pub(super) banner: Option<Vec<u8>>,
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
    pub(super) think_time: Duration,
    pub(super) longest: Duration,
}

impl<'a> Context<'a> {
    pub(super) fn new(check: &'a Check) -> Context<'a> {
        Context {
            check,
            talk: None,
            first_line: Vec::new(),
            banner: None,
            hello: None,
            has_played: false,
            has_said_bye: false,
            matches: 0,
            notes: Vec::new(),
            warnings: Vec::new(),
            has_warned_of_info: false,
            stderr: String::new(),
            decisions: 0,
            think_time: Duration::ZERO,
            longest: Duration::ZERO,
        }
    }

    /// Starts the bot and sends `hello`. Returns its first line, which should be its `hello`.
    pub(super) async fn start(&mut self) -> Result<Vec<u8>, Stop> {
        let command = &self.check.command;
        let talk = Talk::start(command, self.check.launch.clone())
            .await
            .map_err(|why| Wrong::at("cannot start the bot", why))?;
        self.has_played = false;
        self.has_said_bye = false;
        let talk = self.talk.insert(talk);
        let limit = self.check.hello_limit;
        talk.send(&hello(), limit).await;
        let until = Instant::now() + limit;
        loop {
            return match talk.receive(Some(until)).await {
                BotOutput::Line(line) if has_no_effect(&line) && !talk.is_flooding() => continue,
                BotOutput::Line(line) if is_text(&line) && !talk.is_flooding() => {
                    self.banner.get_or_insert(line);
                    continue;
                }
                BotOutput::Line(line) => Ok(line),
                BotOutput::TooLong => {
                    Err(talk.violation("its first line has more than 65536 bytes", Rule::TOO_LONG).into())
                }
                BotOutput::Ended(how) => {
                    let wrong = format!("{} before it said `hello`", ended(how.as_ref()));
                    Err(talk.violation(wrong, Rule::HELLO).into())
                }
                BotOutput::Timeout => {
                    let received = Some(talk.received());
                    let wrong = Detail::NoHello { limit_ms: limit.as_millis() as u64, received };
                    Err(talk.violation(wrong.to_string(), Rule::HELLO).into())
                }
            };
        }
    }

    /// Continues with a bot that has said `hello`.
    pub(super) fn continue_with(&mut self, talk: Talk) {
        self.has_played = false;
        self.has_said_bye = false;
        self.talk = Some(talk);
    }

    /// Returns the running bot, and starts it if necessary.
    pub(super) async fn talk(&mut self) -> Result<&mut Talk, Stop> {
        if self.talk.is_none() {
            self.start().await?;
        }
        self.talk.as_mut().ok_or_else(|| NO_BOT.into())
    }

    /// The games in which the bot is checked.
    pub(super) fn games(&self) -> Vec<&'static dyn Rules> {
        let says = self.hello.as_ref().and_then(|hello| hello.games.as_ref());
        let plays = |id: &str| {
            says.is_none_or(|games| games.iter().any(|game| game == id))
                && self.check.game.is_none_or(|rules| rules.meta().id == id)
        };
        self.check.catalog.games().filter(|rules| plays(rules.meta().id)).collect()
    }

    /// Returns whether text before its `hello` is all that is wrong with it.
    pub(super) fn has_only_a_banner(&self) -> bool {
        self.banner.is_some() && self.hello.is_some() && !self.games().is_empty()
    }

    /// The game for steps that are independent of the game.
    pub(super) fn any_game(&self) -> Result<&'static dyn Rules, Stop> {
        let first = self.games().first().copied();
        first.ok_or_else(|| Stop::Skipped("the bot plays none of the games".to_owned()))
    }

    fn wants(&self) -> Wants {
        self.hello.as_ref().map(Wants::from).unwrap_or_default()
    }

    /// Returns whether the bot wants this part of messages.
    pub(super) fn is_wanted(&self, want: Want) -> bool {
        let wants = self.wants();
        match want {
            Want::View => wants.view,
            Want::Legal => wants.legal && !self.check.hide_legal,
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
            hide_legal: index == seat.index() && self.check.hide_legal,
            bot: None,
            wants: if index == seat.index() { self.wants() } else { Wants::default() },
        };
        let options = rules.default_options();
        let plan = MatchPlan {
            id: format!("m{}", self.matches),
            deal: None,
            seed: Some(seed),
            salt: None,
            rules,
            options: &options,
            seating,
            seats: (0..seating.seats()).map(planned).collect(),
            opening: Opening::None,
            leg: Leg::Only,
            open_id: None,
            auto_ready: false,
            watched: None,
        };
        let run = Run { seed, terms };
        let chooser = seed.match_key(rules.meta().id, "check", &[""; 0]).fallback();
        Ok(Encounter::open(&run, plan, bots, chooser)?)
    }

    /// Drops the process, so that the next step starts a new one.
    pub(super) fn restart(&mut self) {
        self.stderr = self.take_stderr();
        self.talk = None;
    }

    /// Records the time of a decision.
    fn record_decision(&mut self, took: Duration) {
        self.decisions += 1;
        if let Some(talk) = &mut self.talk {
            talk.answered += 1;
        }
        self.think_time += took;
        self.longest = self.longest.max(took);
    }

    /// Returns the bot's standard error since the last call.
    pub(super) fn take_stderr(&mut self) -> String {
        let now = self.talk.as_ref().map(Talk::stderr).unwrap_or_default();
        std::mem::take(&mut self.stderr) + &now
    }

    /// Reports the decision times.
    pub(super) fn judge_time(&mut self) {
        let (longest, limit) = (self.longest, self.check.move_limit);
        let mean = self.think_time / self.decisions.max(1);
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
