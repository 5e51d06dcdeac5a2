//! The players of a ladder, and the bots and owners to which they belong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use referee_game::Wrong;
use referee_league::{BotDisplayNames, LeagueBot, LeagueOwner, ShownOwner};
use referee_stats::Entrant;
use referee_stats::ladder::{FaultExclusion, Name, Newcomer};

use super::Ladder;

/// The players of a ladder in progress.
#[derive(Debug, Default)]
pub(super) struct LadderRoster {
    /// By player.
    pub(super) members: Vec<Member>,
    /// The players of the bots of the run.
    pub(super) by_bot: BTreeMap<usize, Entrant>,
    owners: BTreeMap<String, u32>,
    /// The bots that take part, by name.
    pub(super) bots: BTreeMap<String, LeagueBot>,
    /// Display names of bots, also of those that do not take part any more.
    pub(super) names: BotDisplayNames,
    /// Display names of players, by name.
    pub(super) display_names: Arc<BTreeMap<String, String>>,
    /// The owners of bots, as pages show them, by bot.
    pub(super) shown_owners: Arc<BTreeMap<String, ShownOwner>>,
    /// The command lines and directories of the programs that the run has, or is about to have.
    started: BTreeMap<String, Program>,
    /// New versions by bot on the day of the matchmaker.
    pub(super) new_versions: BTreeMap<String, u32>,
}

/// A player of a ladder in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Member {
    /// The index of its bot in the run, once it has one.
    pub(super) bot: Option<usize>,
    pub(super) is_program: bool,
    /// The index of its program among the bots that workers start.
    pub(super) program: Option<usize>,
    pub(super) connections: usize,
    /// The time since which no connection of it is there, if there was one; in UTC.
    pub(super) away_since: Option<String>,
    pub(super) exclusion: FaultExclusion,
}

impl Member {
    /// Returns whether only workers can start it.
    pub(super) fn is_on_workers_only(&self) -> bool {
        self.is_program && self.bot.is_none()
    }
}

/// A command line and its directory.
type Program = (Option<String>, Option<PathBuf>);

impl Ladder {
    /// The player with this name, which is added if it is new.
    pub(super) fn player(&mut self, name: &str) -> Result<Entrant, Wrong> {
        let before = self.results.tally.len();
        let player = self.results.tally.player(name)?;
        if self.results.tally.len() > before {
            let bot = Name::parse(name).bot;
            let owner = self.roster.bots.get(&bot).map_or_else(|| bot.clone(), |bot| bot.owner.clone());
            let fresh = self.roster.owners.len() as u32;
            let owner = *self.roster.owners.entry(owner).or_insert(fresh);
            self.matches.matchmaker.join(Newcomer { owner, quota: self.limits.quota });
            self.roster.members.push(Member::default());
            self.results.is_unrated = true;
            if let Some(display) = self.roster.names.of_player(name) {
                Arc::make_mut(&mut self.roster.display_names).insert(name.to_owned(), display);
            }
        }
        Ok(player)
    }

    /// Sets the bots, whose owners are needed before players are added, and whether the league is paused. Pages have the names
    /// of bots and owners from the first one.
    pub(crate) fn begin(&mut self, bots: &[LeagueBot], owners: &[LeagueOwner], is_paused: bool) {
        self.is_paused = is_paused;
        self.show_owners(bots, owners);
        self.roster.names = BotDisplayNames::of(bots);
        self.roster.bots = bots.iter().map(|bot| (bot.name.clone(), bot.clone())).collect();
    }

    /// Changes which bots take part, and which of them are paused. Returns the programs that are not in the run yet, or
    /// not with this command line; those of an earlier call are expected to join.
    pub(crate) fn set_bots(&mut self, bots: &[LeagueBot]) -> Vec<LeagueBot> {
        let plays = |bot: &&LeagueBot| {
            let is_here = bot.ladders.as_ref().is_none_or(|ladders| ladders.contains(&self.name));
            bot.revoked_at.is_none() && is_here
        };
        self.roster.bots = bots.iter().filter(plays).map(|bot| (bot.name.clone(), bot.clone())).collect();
        self.roster.names = BotDisplayNames::of(bots);
        self.end_challenges_of_others();
        // An anchor that does not take part any more still pins the scale.
        let anchors = bots.iter().filter_map(|bot| Some((bot.name.clone(), bot.anchor?)));
        self.results.tally.set_anchors(anchors.collect());
        self.results.is_unrated = true;
        self.set_display_names();
        let mut new = Vec::new();
        for bot in self.roster.bots.values().filter(|bot| bot.command.is_some()) {
            let program = (bot.command.clone(), bot.directory.clone());
            if self.roster.started.get(&bot.name) != Some(&program) {
                self.roster.started.insert(bot.name.clone(), program);
                new.push(bot.clone());
            }
        }
        self.set_places();
        new
    }

    /// Changes who owns the bots.
    pub(crate) fn show_owners(&mut self, bots: &[LeagueBot], owners: &[LeagueOwner]) {
        self.roster.shown_owners = Arc::new(ShownOwner::of(bots, owners));
    }

    /// Tells the matchmaker who can play how many matches at once.
    pub(super) fn set_places(&mut self) {
        let now = self.now();
        let bot =
            |at: usize| self.roster.bots.get(&Name::parse(self.results.tally.name(Entrant(at as u16))).bot);
        let is_submitted = |at| bot(at).is_some_and(|bot| bot.version.is_some());
        let is_here = |at: usize| {
            let member = &self.roster.members[at];
            let can_play =
                member.bot.is_some() || (member.is_on_workers_only() && !self.on_workers.is_empty());
            can_play && bot(at).is_some_and(|bot| !bot.is_paused)
        };
        let here: BTreeSet<usize> = (0..self.roster.members.len()).filter(|&at| is_here(at)).collect();
        let programs = here.iter().filter(|&&at| self.roster.members[at].is_program).count().max(1);
        // The copies of each program suffice to fill all jobs.
        let jobs = self.limits.jobs + self.on_workers.most();
        let copies = (jobs * self.seats.seating.seats()).div_ceil(programs);
        for (at, member) in self.roster.members.iter().enumerate() {
            let places = match (here.contains(&at), member.is_program) {
                (false, _) => 0,
                (true, true) if self.limits.keep.is_some() && is_submitted(at) => 1,
                (true, true) => copies,
                (true, false) => member.connections,
            };
            self.matches.matchmaker.set_places(Entrant(at as u16), places, now);
        }
    }

    /// The players that are there now: connected, or programs.
    pub(super) fn online(&self) -> Vec<&str> {
        let is_here = |member: &Member| member.is_program || member.connections > 0;
        let here = self.roster.members.iter().enumerate().filter(|(_, member)| is_here(member));
        here.map(|(at, _)| self.results.tally.name(Entrant(at as u16))).collect()
    }

    /// Returns the time since which bots that connect are not there, by player.
    pub(super) fn away(&self) -> BTreeMap<String, String> {
        let members = self.roster.members.iter().enumerate();
        let away = members.filter(|(_, member)| !member.is_program && member.connections == 0);
        let since = |(at, member): (usize, &Member)| {
            Some((self.results.tally.name(Entrant(at as u16)).to_owned(), member.away_since.clone()?))
        };
        away.filter_map(since).collect()
    }

    /// Pairs the program of a bot no longer, because another one takes its place.
    pub(super) fn retire_programs(&mut self, bot: &str) {
        for player in self.results.tally.versions(bot) {
            let member = &mut self.roster.members[player.index()];
            if member.is_program {
                (member.bot, member.is_program) = (None, false);
            }
        }
    }

    /// The player with this name; for a name without a version the newest version that is there.
    pub(super) fn newest(&self, name: &str) -> Option<Entrant> {
        let is_meant = |player: &&Entrant| {
            let member = &self.roster.members[player.index()];
            member.is_program || member.connections > 0 || self.results.tally.name(**player) == name
        };
        // A name with a version is that of no bot.
        self.results
            .tally
            .versions(name)
            .iter()
            .rev()
            .find(is_meant)
            .copied()
            .or_else(|| self.results.tally.find(name))
    }
}
