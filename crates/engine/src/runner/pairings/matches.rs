//! The matches of a lane: how they are opened, and what is reported of them.

use std::mem;

use referee_game::Wrong;
use referee_game::printable::printable;
use referee_game::seat::{Seat, Viewer};
use referee_match::{AbortReason, Detail, Wants};
use referee_protocol::words::FaultCode;
use referee_results::{FinishedMatch, SharedFault};

use super::{LanePairings, MOST_UNREPORTED, OpenMatch, Supply};
use crate::driver::{BotFault, Finished, MatchJournal, MatchKey, MatchPlan, PlannedSeat};
use crate::runner::bots::{BotKey, BotState, BotUsage, PairingKey};
use crate::runner::fixture::Fixture;
use crate::runner::lane_messages::EndedOnLane;
use crate::runner::live::Visibility;
use crate::runner::run_event::NoShow;
use crate::runner::run_failure::RunFailure;

impl LanePairings {
    /// Links the matches that lost the same process or connection.
    pub(super) fn note_loss(&mut self, code: FaultCode, lost: &[(MatchKey, Seat)]) {
        let id = |key: &MatchKey| self.open.get(key).map(|open| open.fixture.id.clone());
        let matches: Vec<String> = lost.iter().filter_map(|(key, _)| id(key)).collect();
        let Some(counted_in) = matches.first().filter(|_| matches.len() > 1).cloned() else { return };
        let mut matches = Some(matches);
        for &(key, seat) in lost {
            if let Some(open) = self.open.get_mut(&key) {
                let counted_in = counted_in.clone();
                open.lost.push(SharedFault { seat, code, counted_in, matches: matches.take() });
            }
        }
    }

    pub(super) fn open(&mut self, pairing: PairingKey, fixture: Fixture) -> Result<(), RunFailure> {
        let common = self.common.clone();
        let terms = &common.run.terms;
        // A bot with several seats fills them with its processes in order.
        let mut free = self.pairings[pairing].bots.clone();
        let mut bots = Vec::with_capacity(free.len());
        for &spec in &fixture.bots {
            let fits = free.iter().position(|&key| self.bots[key].spec == spec);
            let index = fits.ok_or(Wrong::new("the schedule confuses the bots of two pairings"))?;
            bots.push(free.remove(index));
        }
        let hello = |key: BotKey| self.bots[key].session().and_then(|session| self.lane.hello(session));
        let said = bots.iter().map(|&key| (self.bots[key].spec, hello(key).map(|hello| hello.name.as_str())));
        common.bots.settle_names(&said.collect());
        let seats = bots.iter().map(|&key| {
            let bot = &self.bots[key];
            let spec = common.bots.get(bot.spec);
            let (session, hello) = (bot.session(), hello(key));
            PlannedSeat {
                name: spec.name.clone(),
                ready_ms: terms.ready_ms(!session.is_some_and(|session| self.lane.has_played(session))),
                clock: terms.clock.and_then(|clock| spec.clock(clock)),
                hide_legal: spec.hide_legal,
                bot: spec.in_header(hello),
                wants: hello.map_or(Wants::default(), |hello| hello.wants),
            }
        });
        let visibility = common.live.as_ref().map(|live| live.visibility(common.rules, &fixture));
        let plan = MatchPlan {
            id: fixture.id.clone(),
            deal: fixture.deal.clone(),
            seed: fixture.secret.map(|secret| secret.seed),
            salt: fixture.secret.map(|secret| secret.salt),
            opening: (*fixture.opening).clone(),
            leg: fixture.leg,
            rules: common.rules,
            options: &fixture.options,
            seating: common.seating,
            seats: seats.collect(),
            open_id: None,
            auto_ready: false,
            watched: match &common.live {
                Some(live) if visibility == Some(Visibility::Live) => Some(live.viewer()),
                _ => self.watched.as_ref().map(|_| Viewer::Public),
            },
        };
        let (setup, table) = common.run.set_up(terms, plan)?;
        let places = bots.iter().map(|&key| match &self.bots[key].state {
            BotState::Ready(session) if self.lane.was_never_ready(*session) => {
                let limit_ms = terms.ready_ms(true);
                Err(BotFault::no_start(Detail::NeverReady { limit_ms }))
            }
            BotState::Ready(session) => Ok(*session),
            BotState::Failed(fault) => Err(fault.clone()),
            BotState::Requested | BotState::Greeting(_) | BotState::Lost(_) | BotState::Absent => {
                Err(BotFault::no_start(Detail::NotHere))
            }
        });
        let places = places.collect();
        // The time of the match begins when it is opened.
        let journal = self.begin_journal(&fixture.id, &bots);
        let key = self.lane.open(setup, table, places);
        if let Some(journal) = journal {
            self.lane.journal(key, journal);
        }
        self.add_open(
            key,
            OpenMatch { pairing, fixture, bots, lost: Vec::new(), live: None, waits: 0 },
            visibility,
        );
        Ok(())
    }

    /// Journals a match if all its bots can connect again.
    fn begin_journal(&self, id: &str, bots: &[BotKey]) -> Option<MatchJournal> {
        let running = self.common.running.as_ref()?;
        let returns = |&key: &BotKey| {
            let hello = self.bots[key].session().and_then(|session| self.lane.hello(session));
            hello.is_some_and(|hello| hello.instance().is_some())
        };
        if !bots.iter().all(returns) {
            return None;
        }
        let begun = running.begin(id).inspect_err(|error| {
            tracing::warn!("{id}: it cannot be journaled: {error}; it will not continue after a restart");
        });
        Some(MatchJournal::new(Box::new(begun.ok()?)))
    }

    /// Adds a match that the lane already holds.
    pub(super) fn add_open(&mut self, key: MatchKey, mut open: OpenMatch, visibility: Option<Visibility>) {
        let play = self.lane.match_mut(key).map(|play| &*play);
        let live = self.common.live.as_ref().zip(visibility).zip(play);
        open.live = live.map(|((live, visibility), play)| live.open(play, visibility));
        self.pairings[open.pairing].running += 1;
        self.open.insert(key, Box::new(open));
    }

    /// Handles a match that has ended.
    pub(super) fn end(
        &mut self,
        Finished { key, mut play, ending, malformed, mut outages, duration }: Finished,
    ) {
        let Some(open) = self.open.remove(&key) else { return };
        let OpenMatch { pairing, fixture, bots, lost, live, .. } = *open;
        let (news, infos) = (mem::take(play.news()), mem::take(play.infos()));
        if let Some(watched) = &mut self.watched {
            watched.show(&play, &news);
        }
        if let Some(mut live) = live {
            live.show(&play, &news, infos);
        }
        let usages: Vec<BotUsage> = bots
            .iter()
            .enumerate()
            .map(|(seat, &key)| self.bots[key].usage(seat, mem::take(&mut outages[seat])))
            .collect();
        let mut no_show = None;
        for (seat, &key) in bots.iter().enumerate() {
            let bot = &mut self.bots[key];
            let BotState::Failed(fault) = &bot.state else { continue };
            let spec = self.common.bots.get(bot.spec);
            let why = format!("the bot `{}` does not start ({fault}): `{}`", spec.name, spec.source);
            no_show = Some(NoShow { entrant: bot.spec, seat: Seat(seat as u8), why });
            bot.state = BotState::Absent;
        }
        let (record, reveal) = (play.take_log(), play.reveal());
        let source = |&spec: &usize| self.common.bots.get(spec).source.to_string();
        let header = &play.setup().header;
        match play.broken_off() {
            Some(reason @ AbortReason::RulesFailed(_)) => {
                tracing::warn!("{}: {}", header.r#match, printable(&reason.to_string()));
            }
            // The order to stop is on its way.
            Some(AbortReason::RulesInterrupted { .. }) => self.supply = Supply::Stopped,
            _ => {}
        }
        // The reporter adds the evidence: the standard error of the bots is complete there.
        let finished = FinishedMatch {
            commands: fixture.bots.iter().map(source).collect(),
            shared_faults: lost,
            cpu_ms: usages.iter().map(|bot| bot.cpu_ms).collect(),
            record: self.common.records.as_ref().map(|records| records.path(&fixture.id)),
            ..FinishedMatch::of(&play, ending, duration.as_micros() as u64)
        };
        self.schedule.ended(&fixture, &finished, record.len());
        let bots = usages;
        self.ended.push(EndedOnLane { fixture, finished, record, reveal, malformed, bots, no_show });
        if self.ended.len() == MOST_UNREPORTED {
            self.report();
        }
        self.pairings[pairing].running -= 1;
        self.part_from_idle(pairing);
        self.continue_pairing(pairing);
    }
}
