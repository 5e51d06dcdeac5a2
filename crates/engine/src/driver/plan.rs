//! The plan of a match, complete before the match is opened.

use std::sync::Arc;

use referee_game::chance::Seed;
use referee_game::erased::{Rules, RulesError, Table};
use referee_game::seat::{Seating, Viewer};
use referee_game::{Wrong, hex};
use referee_match::{Adjudication, Header, Leg, Limits, Opening, SeatHeader, Setup, Wants, check_policy};
use referee_protocol::limits;
use referee_protocol::referee::Clock;
use referee_protocol::words::OnFault;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The terms of the matches of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// `None`: no limit.
    pub clock: Option<Clock>,
    /// The grace period beyond a limit, in milliseconds; still deducted from the bank.
    pub margin_ms: u64,
    pub on_fault: OnFault,
    /// From start to `hello`, in milliseconds.
    pub hello_ms: u64,
    /// From `start` to `ready` in the first match of a process, in milliseconds.
    pub first_ready_ms: u64,
    /// Timeout for `ready` in later matches, in milliseconds.
    #[serde(default = "later_ready_ms")]
    pub later_ready_ms: u64,
    /// Whether a match is void if a bot says that the chooser of its moves cannot be reached; otherwise that
    /// is a fault.
    #[serde(default)]
    pub trust_outages: bool,
    /// The rules by which the referee ends matches before the rules of the game do.
    #[serde(default, skip_serializing_if = "Adjudication::is_none")]
    pub adjudication: Adjudication,
}

fn later_ready_ms() -> u64 {
    limits::READY_MS
}

impl Default for Terms {
    fn default() -> Self {
        Terms {
            clock: Some(Clock { delay_ms: 5_000, bank_ms: 60_000, increment_ms: 0 }),
            margin_ms: limits::MARGIN_MS,
            on_fault: OnFault::Forfeit,
            hello_ms: limits::HELLO_MS,
            first_ready_ms: limits::FIRST_READY_MS,
            later_ready_ms: limits::READY_MS,
            trust_outages: false,
            adjudication: Adjudication::default(),
        }
    }
}

/// The maximum of each part of a clock, in milliseconds: a day.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1000;

/// Validates a clock.
///
/// # Errors
/// If it gives no time or a part of it exceeds a day.
pub fn check_clock(clock: Clock) -> Result<(), Wrong> {
    let Clock { delay_ms, bank_ms, increment_ms } = clock;
    let invalid = |what: &str| Wrong::from(what.to_owned());
    if delay_ms == 0 && bank_ms == 0 {
        return Err(invalid("a clock with neither delay nor bank leaves no time for an answer"));
    }
    if [delay_ms, bank_ms, increment_ms].iter().any(|&part| part > LONGEST_MS) {
        return Err(invalid("delay, bank and increment of a clock are at most a day each"));
    }
    Ok(())
}

impl Terms {
    /// The time for `ready`, in milliseconds.
    pub fn ready_ms(&self, is_first: bool) -> u64 {
        if is_first { self.first_ready_ms } else { self.later_ready_ms }
    }
}

/// A run: all matches that derive from one seed.
#[derive(Clone, Debug)]
pub struct Run {
    pub seed: Seed,
    /// The terms of its matches.
    pub terms: Terms,
}

/// A match that is to be opened.
#[derive(Debug)]
pub struct MatchPlan<'a> {
    /// The id: m1, m2, ...
    pub id: String,
    /// `None`: the match id.
    pub deal: Option<String>,
    /// `None`: derived from the run seed.
    pub seed: Option<Seed>,
    /// The salt of the commitment; `None`: derived from the run seed.
    pub salt: Option<[u8; 32]>,
    pub rules: &'static dyn Rules,
    /// The options; omitted ones have their defaults.
    pub options: &'a RawValue,
    pub seating: Seating,
    pub seats: Vec<PlannedSeat>,
    pub opening: Opening,
    /// The position in its mirrored set.
    pub leg: Leg,
    /// The `id` of the `open` message that asked for it.
    pub open_id: Option<String>,
    /// Whether `ready` is not needed; then there are no nonces.
    pub auto_ready: bool,
    /// The spectator, if it has one.
    pub watched: Option<Viewer>,
}

impl<'a> MatchPlan<'a> {
    /// The match m1 with its own deal, without an opening and without spectators, in which each seat sends `ready`.
    pub fn new(
        rules: &'static dyn Rules,
        options: &'a RawValue,
        seating: Seating,
        seats: Vec<PlannedSeat>,
    ) -> MatchPlan<'a> {
        MatchPlan {
            id: "m1".to_owned(),
            deal: None,
            seed: None,
            salt: None,
            rules,
            options,
            seating,
            seats,
            opening: Opening::None,
            leg: Leg::Only,
            open_id: None,
            auto_ready: false,
            watched: None,
        }
    }
}

/// A seat of a match that is to be opened.
#[derive(Debug, Clone)]
pub struct PlannedSeat {
    pub name: String,
    /// From `start` to `ready`, in milliseconds.
    pub ready_ms: u64,
    /// The clock, if that is not the one of the terms.
    pub clock: Option<Clock>,
    /// Whether requests to the seat come without the list of legal moves.
    pub hide_legal: bool,
    /// A description of the bot, for people.
    pub bot: Option<Box<RawValue>>,
    /// The optional messages that it wants.
    pub wants: Wants,
}

impl PlannedSeat {
    /// A seat under the terms of the run, which wants all messages.
    pub fn new(name: String, ready_ms: u64) -> PlannedSeat {
        PlannedSeat { name, ready_ms, clock: None, hide_legal: false, bot: None, wants: Wants::default() }
    }
}

impl Run {
    /// Sets up a match.
    ///
    /// # Errors
    /// If the options or the seating are invalid, tables of endgames are missing, or the rules fail.
    pub fn set_up(&self, terms: &Terms, plan: MatchPlan<'_>) -> Result<(Setup, Box<dyn Table>), RulesError> {
        check_policy(plan.rules.meta(), terms.on_fault)?;
        terms.adjudication.check(plan.rules.meta(), plan.seating)?;
        terms.adjudication.check_tables(plan.rules)?;
        let table = plan.rules.open(plan.options, plan.seating)?;
        let deal = plan.deal.unwrap_or_else(|| plan.id.clone());
        let seed = plan.seed.unwrap_or_else(|| self.seed.of_deal(&deal));
        let salt = plan.salt.unwrap_or_else(|| self.seed.salt(&plan.id));
        let side = |seat: usize| plan.seating.side(referee_game::Seat(seat as u8)) as u8;
        let seats = plan.seats.into_iter().enumerate().map(|(seat, planned)| {
            let PlannedSeat { name, ready_ms, clock, hide_legal, bot, wants } = planned;
            (SeatHeader { name, team: side(seat), ready_ms, clock, hide_legal, bot }, wants)
        });
        let (seats, wants) = seats.unzip();
        let header = Header {
            format: Header::FORMAT,
            referee: referee_match::SERVER.to_owned(),
            r#match: plan.id,
            game: plan.rules.meta().id.to_owned(),
            rules: plan.rules.meta().rules_version,
            options: table.options().to_owned(),
            seats,
            clock: terms.clock,
            margin_ms: terms.margin_ms,
            on_fault: terms.on_fault,
            deal,
            commitment: hex::encode(&seed.commitment(&salt)),
            // A nonce would give the later matches of a set another opening.
            nonce: !plan.auto_ready && plan.leg == Leg::Only,
            auto_ready: plan.auto_ready,
            program: plan.rules.program().map(ToOwned::to_owned),
            limits: Limits::of(plan.rules.meta()),
            adjudication: terms.adjudication,
            opening: plan.opening,
        };
        let seating = plan.seating;
        Ok((
            Setup {
                header: Arc::new(header),
                seating,
                seed,
                salt,
                leg: plan.leg,
                open_id: plan.open_id,
                wants,
                trust_outages: terms.trust_outages,
                watched: plan.watched,
                rules_failure: None,
            },
            table,
        ))
    }
}

/// A match of checkers for which no seat has to be ready.
#[cfg(test)]
pub(crate) fn match_of_checkers(clock: Option<Clock>, watched: bool) -> (Setup, Box<dyn Table>) {
    let rules = referee_games::catalog().find("checkers").unwrap();
    let seats = vec![PlannedSeat::new("bot".to_owned(), 5000); 2];
    let options = rules.default_options();
    let plan = MatchPlan::new(rules, &options, Seating::new(2, 2), seats);
    let plan = MatchPlan { auto_ready: true, watched: watched.then_some(Viewer::Public), ..plan };
    let terms = Terms { clock, ..Terms::default() };
    Run { seed: Seed([1; 32]), terms }.set_up(&terms, plan).unwrap()
}
