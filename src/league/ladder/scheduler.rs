//! The scheduler of the matches of a ladder.

use std::time::Duration;

use super::{Ladder, Running, SharedLadder};
use crate::runner::{Fixture, MatchReport, Next, Scheduler};
use crate::store::{MatchKind, parse_match_id};
use crate::tournament::ladder::Name;

/// Hands out the matches of a ladder.
#[derive(Debug)]
pub struct LadderScheduler(pub SharedLadder);

impl Scheduler for LadderScheduler {
    fn next(&mut self, among: Option<&[usize]>) -> Next {
        let mut ladder = self.0.lock();
        // Each match is between other players.
        if among.is_some() || ladder.is_paused || ladder.wait.is_waiting() {
            return Next::Later;
        }
        if let Some(fixture) = ladder.next_challenge() {
            return Next::Match(fixture);
        }
        let now = ladder.now();
        let Ladder { matchmaker, rng, .. } = &mut *ladder;
        let Some(lineup) = matchmaker.next(now, rng) else { return Next::Later };
        ladder.fixture(lineup, MatchKind::Pairing, None).map_or(Next::Later, Next::Match)
    }

    fn ended(&mut self, fixture: &Fixture, report: &MatchReport) -> bool {
        let mut ladder = self.0.lock();
        let now = ladder.now();
        let Some((number, _)) = parse_match_id(&fixture.id) else { return false };
        let Some(Running { lineup, .. }) = ladder.running.get(&number).cloned() else { return false };
        ladder.matchmaker.ended(&lineup, report.ranks.is_some(), now);
        let rested = now + 1000 * ladder.limits.rest_ms;
        lineup.seats().iter().for_each(|&player| ladder.matchmaker.rest(player, rested));
        for (seat, &player) in lineup.seats().iter().enumerate() {
            let is_its_fault = report.faults[seat].total() > 0;
            let member = &mut ladder.members[player.index()];
            // A program that fails before the first move would fail in the next match too.
            let (exclude, why) = if member.is_program && is_its_fault && report.decisions == 0 {
                (Some(member.conduct.exclude(now)), "it does not start")
            } else {
                (member.conduct.ended(is_its_fault, now), "its last matches ended by its faults")
            };
            if let Some(until) = exclude {
                ladder.matchmaker.exclude(player, until);
                let pause = Duration::from_secs((until - now) / 1_000_000);
                let (name, player) = (&ladder.name, ladder.book.name(player));
                tracing::warn!(
                    "{name} {}: {player} is excluded for {}: {why}",
                    fixture.id,
                    humantime::format_duration(pause)
                );
            }
        }
        true
    }

    fn put_back(&mut self, fixture: &Fixture) {
        let mut ladder = self.0.lock();
        let number = parse_match_id(&fixture.id).map(|(number, _)| number);
        if let Some(Running { lineup, repeats, .. }) =
            number.and_then(|number| ladder.running.remove(&number))
        {
            ladder.matchmaker.put_back(&lineup);
            if let Some((mirrors, opening)) = ladder.mirrors.as_mut().zip(repeats) {
                mirrors.put_back(&lineup, opening);
            }
        }
    }

    fn join(&mut self, bot: usize, name: &str) -> Result<(), String> {
        let mut ladder = self.0.lock();
        let of = Name::parse(name).bot;
        let Some(is_program) = ladder.bots.get(&of).map(|bot| bot.command.is_some()) else {
            return Err(format!("`{of}` does not take part on this ladder"));
        };
        let is_new = ladder.book.find(name).is_none();
        if is_new && ladder.book.versions(&of) > 0 {
            let most = ladder.limits.versions;
            let today = ladder.new_versions.entry(of.clone()).or_default();
            if *today >= most {
                return Err(format!(
                    "new versions of `{of}` today: {most} of {most}; try again tomorrow (UTC)"
                ));
            }
            *today += 1;
        }
        let player = ladder.player(name)?;
        ladder.members[player.index()].bot = Some(bot);
        ladder.members[player.index()].is_program = is_program;
        ladder.by_bot.insert(bot, player);
        ladder.set_places();
        Ok(())
    }

    fn set_connections(&mut self, bot: usize, connections: usize) {
        let mut ladder = self.0.lock();
        if let Some(&player) = ladder.by_bot.get(&bot) {
            ladder.members[player.index()].connections = connections;
            ladder.set_places();
        }
    }
}
