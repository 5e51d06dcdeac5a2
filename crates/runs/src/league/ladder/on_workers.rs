//! The matches of a ladder that workers play.

use referee_game::Wrong;
use referee_league::Challenge;
use std::collections::{BTreeSet, VecDeque};

use super::Ladder;
use referee_engine::runner::DueSet;
use referee_stats::Entrant;
use referee_stats::ladder::Name;
use referee_store::parse_match_id;

/// The number of matches for each slot of the workers: one in progress and one that is queued.
const MATCHES_PER_SLOT: usize = 2;

/// The matches of a ladder that workers play.
#[derive(Debug, Default)]
pub(super) struct WorkerMatches {
    /// The number of matches that the workers play concurrently; 0 while there are none.
    pub(super) slots: usize,
    /// The matches that they have, or will get.
    matches: BTreeSet<u32>,
    /// Matches of an earlier server, which are handed out first.
    pub(super) earlier: VecDeque<DueSet>,
}

impl WorkerMatches {
    /// Returns whether there are no workers.
    pub(super) fn is_empty(&self) -> bool {
        self.slots == 0
    }

    /// The maximum number of their matches.
    pub(super) fn most(&self) -> usize {
        self.slots * MATCHES_PER_SLOT
    }

    /// Returns whether they need no further matches.
    pub(super) fn is_full(&self) -> bool {
        self.matches.len() >= self.most()
    }

    pub(super) fn add(&mut self, number: u32) {
        self.matches.insert(number);
    }

    /// Returns whether it is one of their matches.
    pub(super) fn contains(&self, number: u32) -> bool {
        self.matches.contains(&number)
    }

    /// Returns whether it was one of their matches.
    pub(super) fn remove(&mut self, number: u32) -> bool {
        self.matches.remove(&number)
    }
}

impl Ladder {
    /// Lets workers start the program of this player, which has this index among their bots. If it is not started here as well,
    /// it plays on workers only: against other programs that they can start.
    ///
    /// # Errors
    /// If there are too many players.
    pub(crate) fn set_program(
        &mut self,
        name: &str,
        program: usize,
        is_started_here: bool,
    ) -> Result<(), Wrong> {
        let player = self.player(name)?;
        let bot = Name::parse(name).bot;
        if !is_started_here {
            self.retire_programs(&bot);
            self.roster.members[player.index()].is_program = true;
        }
        for (at, member) in self.roster.members.iter_mut().enumerate() {
            if Name::parse(self.results.tally.name(Entrant(at as u16))).bot == bot {
                member.program = (at == player.index()).then_some(program);
            }
        }
        self.set_places();
        Ok(())
    }

    /// Continues matches that workers had when an earlier server ended. If one is a challenge, it fulfils one of these.
    ///
    /// # Errors
    /// If it does not fit the seats.
    pub(crate) fn resume_set(
        &mut self,
        due: DueSet,
        players: &[Vec<String>],
        challenges: &[Challenge],
    ) -> Result<(), Wrong> {
        for (fixture, players) in due.fixtures.iter().zip(players) {
            let players: Vec<&str> = players.iter().map(String::as_str).collect();
            self.resume(&fixture.id, None, &players, challenges)?;
            self.on_workers.matches.extend(parse_match_id(&fixture.id).map(|(number, _)| number));
        }
        self.on_workers.earlier.push_back(due);
        Ok(())
    }
}
