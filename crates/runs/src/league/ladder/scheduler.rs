//! The scheduler of the matches of a ladder.

use std::time::Duration;

use super::SharedLadder;
use super::matches::MatchInProgress;
use referee_engine::runner::{DueSet, Fixture, Next, NextSet, Scheduler, SetScheduler};
use referee_game::Wrong;
use referee_results::FinishedMatch;
use referee_stats::ladder::Name;
use referee_stats::{Deals, Entrant, Lineup};
use referee_store::{MatchKind, parse_match_id, utc};

/// Hands out the matches of a ladder.
#[derive(Debug)]
pub(crate) struct LadderScheduler(pub SharedLadder);

impl Scheduler for LadderScheduler {
    fn next(&mut self, among: Option<&[usize]>) -> Next {
        // A ladder pairs other players for each match.
        if among.is_some() {
            return Next::Later;
        }
        self.0.lock().next_match(false).map_or(Next::Later, Next::Match)
    }

    fn ended(&mut self, fixture: &Fixture, finished: &FinishedMatch) -> bool {
        let mut ladder = self.0.lock();
        let now = ladder.now();
        if let Some(change) = ladder.rules.ended(finished.cause, finished.rules_restarts, now) {
            tracing::error!("{} {}: {change}", ladder.name, fixture.id);
        }
        let Some((number, kind)) = parse_match_id(&fixture.id) else { return false };
        if let Some(running) = ladder.matches.running.get_mut(&number) {
            running.is_ended = true;
        }
        let was_here = !ladder.on_workers.remove(number);
        let can_be_first = ladder.seats.is_mirrored && kind == MatchKind::Pairing && was_here;
        let is_first =
            can_be_first && ladder.matches.running.get(&number).is_some_and(|running| running.deal.is_none());
        // The result of a match on workers is stored already.
        let players: Option<Vec<Entrant>> =
            finished.seats.iter().map(|name| ladder.results.tally.find(name)).collect();
        let lineup = players.and_then(|players| Lineup::of_seats(ladder.seats.seating, &players));
        let Some(lineup) = lineup else { return false };
        let has_result = finished.ending.ranks.is_some();
        ladder.matches.matchmaker.ended(&lineup, has_result, now);
        let rested = now + 1000 * ladder.limits.rest_ms;
        if is_first && has_result {
            ladder.matches.matchmaker.queue_return(&lineup, number, rested);
        }
        lineup.seats().iter().for_each(|&player| ladder.matches.matchmaker.rest(player, rested));
        for (seat, &player) in lineup.seats().iter().enumerate() {
            let is_its_fault = !finished.faults[seat].is_empty();
            let member = &mut ladder.roster.members[player.index()];
            // A program that fails before the first move would fail in the next match too.
            let (exclude, why) = if member.is_program && is_its_fault && finished.decisions == 0 {
                (Some(member.exclusion.exclude(now)), "it does not start".to_owned())
            } else {
                let code = finished.faults[seat].iter().last().map_or("", |(code, _)| code.as_str());
                let why = format!("its last matches ended by its faults, the last one by `{code}`");
                (member.exclusion.ended(is_its_fault, now), why)
            };
            if let Some(until) = exclude {
                ladder.matches.matchmaker.exclude(player, until);
                let pause = Duration::from_secs((until - now) / 1_000_000);
                let (name, player) = (&ladder.name, ladder.results.tally.name(player));
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
        let number = parse_match_id(&fixture.id);
        if let Some((number, _)) = number {
            ladder.on_workers.remove(number);
        }
        if let Some((number, kind)) = number
            && let Some(MatchInProgress { lineup, challenge, deal, .. }) =
                ladder.matches.running.remove(&number)
        {
            match kind.is_challenge() {
                true => ladder.matches.matchmaker.put_back_challenge(&lineup),
                false => ladder.matches.matchmaker.put_back(&lineup),
            }
            challenge.into_iter().for_each(|challenge| ladder.challenges.put_back(challenge));
            if let Some(first) = deal {
                let now = ladder.now();
                ladder.matches.matchmaker.queue_return(&Deals::Mirrored.leg(lineup, 1), first, now);
            }
        }
    }

    fn join(&mut self, bot: usize, name: &str) -> Result<(), Wrong> {
        let mut ladder = self.0.lock();
        let of = Name::parse(name).bot;
        let Some(is_program) = ladder.roster.bots.get(&of).map(|bot| bot.command.is_some()) else {
            return Err(format!("`{of}` does not take part on this ladder").into());
        };
        let is_new = ladder.results.tally.find(name).is_none();
        if is_new && !is_program && ladder.in_force.is_frozen {
            return Err(format!("`{name}` is new, and the ladder is frozen: the deadline has passed").into());
        }
        if is_new && !is_program && !ladder.results.tally.versions(&of).is_empty() {
            let most = ladder.limits.versions;
            let today = ladder.roster.new_versions.entry(of.clone()).or_default();
            if *today >= most {
                return Err(format!(
                    "new versions of `{of}` today: {most} of {most}; try again tomorrow (UTC)"
                )
                .into());
            }
            *today += 1;
        }
        let player = ladder.player(name).map_err(|_| Wrong::new("the ladder has too many players"))?;
        if is_program {
            ladder.retire_programs(&of);
        }
        ladder.roster.members[player.index()].bot = Some(bot);
        ladder.roster.members[player.index()].is_program = is_program;
        if !is_program {
            ladder.roster.members[player.index()].program = None;
        }
        ladder.roster.by_bot.insert(bot, player);
        ladder.set_places();
        Ok(())
    }

    fn set_connections(&mut self, bot: usize, connections: usize) {
        let mut ladder = self.0.lock();
        if let Some(&player) = ladder.roster.by_bot.get(&bot) {
            let at = utc(ladder.time());
            let member = &mut ladder.roster.members[player.index()];
            member.connections = connections;
            if connections > 0 || member.away_since.is_none() {
                member.away_since = (connections == 0).then_some(at);
            }
            ladder.set_places();
        }
    }
}

/// Hands out matches to workers: each match is a set.
impl SetScheduler for LadderScheduler {
    fn next_set(&mut self) -> NextSet {
        let mut ladder = self.0.lock();
        if let Some(earlier) = ladder.on_workers.earlier.pop_front() {
            return NextSet::Set(earlier);
        }
        if ladder.on_workers.is_full() {
            return NextSet::Later;
        }
        let fixture = ladder.next_match(true);
        let number = fixture.as_ref().and_then(|fixture| parse_match_id(&fixture.id));
        match fixture.zip(number) {
            Some((fixture, (number, _))) => NextSet::Set(DueSet { number, fixtures: vec![fixture] }),
            None => NextSet::Later,
        }
    }

    fn set_slots(&mut self, slots: usize) {
        let mut ladder = self.0.lock();
        ladder.on_workers.slots = slots;
        ladder.set_places();
    }

    fn is_endless(&self) -> bool {
        true
    }

    fn give_up(&mut self, set: &DueSet) {
        for fixture in &set.fixtures {
            let number = parse_match_id(&fixture.id).map(|(number, _)| number);
            let running = number.and_then(|number| self.0.lock().matches.running.get(&number).cloned());
            self.put_back(fixture);
            let mut ladder = self.0.lock();
            let now = ladder.now();
            for &player in running.iter().flat_map(|running| running.lineup.seats()) {
                let until = ladder.roster.members[player.index()].exclusion.exclude(now);
                ladder.matches.matchmaker.exclude(player, until);
                let pause =
                    humantime::format_duration(Duration::from_secs((until - now) / 1_000_000)).to_string();
                let (name, player) = (&ladder.name, ladder.results.tally.name(player));
                tracing::warn!(
                    "{name} {}: {player} is excluded for {pause}: workers are lost with it",
                    fixture.id
                );
            }
        }
    }
}
