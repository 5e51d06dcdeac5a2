//! The state of a ladder while it is played.

mod challenges;
mod lead;
mod memory;
mod on_workers;
mod recount;
mod rules_state;
mod scheduler;
mod snapshot;

pub use memory::LadderMemory;

pub(super) use scheduler::LadderScheduler;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use crate::league::ladder::challenges::{Challenges, is_between};
use crate::league::ladder::lead::Lead;
use crate::league::ladder::on_workers::OnWorkers;
use crate::league::ladder::rules_state::RulesState;
use referee_engine::runner::{Fixture, Openings, Wait};
use referee_files::StorageWait;
use referee_game::Seating;
use referee_game::chance::RandomStream;
use referee_league::{
    Book, BotDisplayNames, Challenge, LadderError, LadderRow, LadderRulings, LadderSeason, LadderSeats,
    LadderSnapshot, LeagueBot, LeagueMatch, PublishedLadder,
};
use referee_match::Leg;
use referee_match::record::Times;
use referee_stats::ladder::{FaultExclusion, Matchmaker, Name, Newcomer, Strength};
use referee_stats::rating::bradley_terry::Anchored;
use referee_stats::{Entrant, Lineup};
use referee_store::{MatchKind, RulingRow, match_id, parse_match_id};

/// The seconds of a day.
const DAY: u64 = 24 * 60 * 60;

#[derive(Clone, Copy, Debug)]
pub struct LadderLimits {
    /// The number of matches that are played concurrently.
    pub jobs: usize,
    /// The maximum number of matches of all bots of an owner a day; `None`: any.
    pub quota: Option<u32>,
    /// The maximum number of new versions of a bot a day.
    pub versions: u32,
    /// How long a player rests after a match, in milliseconds.
    pub rest_ms: u64,
    /// Whether challenges between players of different owners are rated.
    pub rated_challenges: bool,
}

/// A player of a ladder in progress.
#[derive(Clone, Debug, Default)]
struct Member {
    /// The index of its bot in the run, once it has one.
    bot: Option<usize>,
    is_program: bool,
    /// The index of its program among the bots that workers start.
    program: Option<usize>,
    connections: usize,
    exclusion: FaultExclusion,
}

impl Member {
    /// Whether only workers can start it.
    fn is_on_workers_only(&self) -> bool {
        self.is_program && self.bot.is_none()
    }
}

/// A command line and its directory.
type Program = (Option<String>, Option<PathBuf>);

/// A match in progress, or whose result is not stored yet.
#[derive(Clone, Debug)]
struct MatchInProgress {
    lineup: Lineup,
    /// The challenge that it fulfils.
    challenge: Option<Challenge>,
    /// The number of the first match of its set, if it is the second one.
    deal: Option<u32>,
}

/// The state of a ladder.
#[derive(Debug)]
pub(super) struct Ladder {
    name: String,
    limits: LadderLimits,
    seating: Seating,
    openings: Openings,
    /// Whether the unit of pairing is a mirrored set, not a match.
    is_mirrored: bool,
    book: Book,
    fit: Arc<Anchored>,
    /// Whether results have come since the players were rated.
    is_unrated: bool,
    matchmaker: Matchmaker,
    rng: RandomStream,
    members: Vec<Member>,
    /// The players of the bots of the run.
    by_bot: BTreeMap<usize, Entrant>,
    owners: BTreeMap<String, u32>,
    /// The bots that take part, by name.
    bots: BTreeMap<String, LeagueBot>,
    /// What people see instead of the names of bots, also of those that do not take part any more.
    bot_display_names: BotDisplayNames,
    /// The command lines and directories of the programs that the run has, or is about to have.
    started: BTreeMap<String, Program>,
    /// New versions by bot on the day of the matchmaker.
    new_versions: BTreeMap<String, u32>,
    running: BTreeMap<u32, MatchInProgress>,
    next: u32,
    is_paused: bool,
    /// No match begins while a result or the journal cannot be written.
    wait: StorageWait,
    rules: RulesState,
    challenges: Challenges,
    /// The number of other matches at the last challenge.
    challenged_at: Option<u64>,
    on_workers: OnWorkers,
    rulings: LadderRulings,
    season: LadderSeason,
    /// The results that were stored since a count of all results began, as they were played, with the numbers of their seasons.
    stored_since: Option<Vec<(u32, LeagueMatch)>>,
    /// When the last match ended, in UTC.
    last_result: Option<String>,
    /// The id of the last match that is stored.
    last_match: Option<String>,
    /// The same when the players were rated last.
    rated_to: Option<String>,
    /// Who leads, and since when.
    lead: Lead,
    /// The last match that was rated when it was noted who leads.
    led_to: Option<String>,
    /// What people see instead of the names of players, by name.
    display_names: Arc<BTreeMap<String, String>>,
    shown_rulings: Arc<Vec<RulingRow>>,
    began: Instant,
    /// The same in milliseconds since 1970.
    opened_ms: u64,
}

/// A ladder that the scheduler and the server share.
#[derive(Clone, Debug)]
pub(super) struct SharedLadder {
    ladder: Arc<Mutex<Ladder>>,
    pub(super) shown: PublishedLadder,
}

impl SharedLadder {
    /// Shares a ladder.
    pub(super) fn new(ladder: Ladder) -> SharedLadder {
        SharedLadder { ladder: Arc::new(Mutex::new(ladder)), shown: PublishedLadder::default() }
    }

    /// Publishes the state of the ladder at this time.
    pub(super) fn publish(&self, at: SystemTime) -> Arc<LadderSnapshot> {
        let snapshot = {
            let mut ladder = self.lock();
            let mut snapshot = ladder.snapshot(at);
            ladder.note_lead(&snapshot.ranking(at));
            snapshot.lead_taken = ladder.lead.taken.clone();
            Arc::new(snapshot)
        };
        self.shown.set(snapshot.clone());
        snapshot
    }

    /// Locks it. Nothing that takes long is done meanwhile.
    pub(super) fn lock(&self) -> MutexGuard<'_, Ladder> {
        self.ladder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rates all players, if results have come since the last time. The ladder is played meanwhile.
    pub(super) fn rate(&self) {
        let (inputs, last_match) = {
            let mut ladder = self.lock();
            if !std::mem::take(&mut ladder.is_unrated) {
                return;
            }
            (ladder.book.rating_inputs(), ladder.last_match.clone())
        };
        let fit = inputs.fit();
        drop(inputs);
        let mut ladder = self.lock();
        for (at, strength) in Strength::all(&fit).into_iter().enumerate() {
            ladder.matchmaker.rate(Entrant(at as u16), strength);
        }
        (ladder.fit, ladder.rated_to) = (Arc::new(fit), last_match);
    }
}

impl Ladder {
    /// A ladder without players. `next` is the number of its next match.
    pub(super) fn new(
        name: &str,
        seats: LadderSeats,
        openings: Openings,
        limits: LadderLimits,
        rng: RandomStream,
        wait: StorageWait,
    ) -> Ladder {
        let LadderSeats { seating, is_mirrored } = seats;
        Ladder {
            name: name.to_owned(),
            limits,
            seating,
            openings,
            is_mirrored,
            book: Book::new(seats, BTreeMap::new()),
            fit: Arc::default(),
            is_unrated: true,
            matchmaker: Matchmaker::new(seating, limits.jobs),
            rng,
            members: Vec::new(),
            by_bot: BTreeMap::new(),
            owners: BTreeMap::new(),
            bots: BTreeMap::new(),
            bot_display_names: BotDisplayNames::default(),
            started: BTreeMap::new(),
            new_versions: BTreeMap::new(),
            running: BTreeMap::new(),
            next: 1,
            is_paused: false,
            wait,
            rules: RulesState::default(),
            challenges: Challenges::default(),
            challenged_at: None,
            on_workers: OnWorkers::default(),
            rulings: LadderRulings::default(),
            season: LadderSeason::default(),
            stored_since: None,
            last_result: None,
            last_match: None,
            rated_to: None,
            lead: Lead::default(),
            led_to: None,
            display_names: Arc::default(),
            shown_rulings: Arc::default(),
            began: Instant::now(),
            opened_ms: 0,
        }
    }

    /// Notes the think time of the players of a match, from its report and record.
    pub(super) fn timed(&mut self, players: &[String], times: &Times) {
        let players: Option<Vec<Entrant>> = players.iter().map(|name| self.book.find(name)).collect();
        let Some(players) = players.filter(|players| players.len() > 1) else { return };
        let mut think_time = vec![0; players.len()];
        for answer in &times.answers {
            if let Some(sum) = think_time.get_mut(answer.seat.index()) {
                *sum += answer.took_us;
            }
        }
        let all: u64 = think_time.iter().sum();
        let now = self.now();
        for (player, own) in players.iter().zip(think_time) {
            let of_others = (all - own) / (players.len() as u64 - 1);
            self.matchmaker.add_think_time(*player, own.saturating_sub(of_others), now);
        }
    }

    /// Begins the season in progress, with the rulings in force, before its results of earlier runs are added.
    ///
    /// # Errors
    /// If there are too many players.
    pub(super) fn begin_season(
        &mut self,
        season: LadderSeason,
        rulings: LadderRulings,
    ) -> Result<(), LadderError> {
        season.players().try_for_each(|player| self.player(player).map(drop))?;
        season.begin(&mut self.book)?;
        (self.season, self.rulings) = (season, rulings);
        Ok(())
    }

    /// Shows those of these rulings that concern the ladder.
    pub(super) fn show_rulings(&mut self, rulings: &[RulingRow]) {
        let is_own = |row: &&RulingRow| row.ladder.as_ref().is_none_or(|ladder| *ladder == self.name);
        let own: Vec<RulingRow> = rulings.iter().filter(is_own).cloned().collect();
        if own != *self.shown_rulings {
            self.shown_rulings = Arc::new(own);
        }
    }

    /// The number of the season that is counted.
    pub(super) fn season(&self) -> u32 {
        self.season.number
    }

    /// Which seats play together, and whether it is played in mirrored sets.
    pub(super) fn seats(&self) -> LadderSeats {
        LadderSeats { seating: self.seating, is_mirrored: self.is_mirrored }
    }

    /// The number of the next match.
    pub(super) fn set_next(&mut self, next: u32) {
        self.next = next;
    }

    /// Microseconds since the ladder was opened.
    fn now(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }

    /// Adds the result of an earlier run.
    ///
    /// # Errors
    /// If it does not fit the seats.
    pub(super) fn add_earlier(&mut self, row: &LeagueMatch) -> Result<(), LadderError> {
        for name in &row.players {
            self.player(name)?;
        }
        if let Some(lineup) = self.book.add(&self.rulings.apply(row, self.seating))? {
            self.matchmaker.note(&lineup);
        }
        self.note_last(row);
        Ok(())
    }

    /// Notes the last match that is stored.
    fn note_last(&mut self, row: &LeagueMatch) {
        self.last_result = Some(row.ended_at.clone());
        self.last_match = Some(row.id());
    }

    /// Begins the day of this time. `played` has the number of matches of each player on this day so far.
    pub(super) fn begin_day(&mut self, at: SystemTime, played: &BTreeMap<String, u32>) {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let day = since.as_secs() / DAY;
        if day != self.matchmaker.day() {
            let known = played.iter().filter_map(|(name, &count)| Some((self.book.find(name)?, count)));
            let known: Vec<(Entrant, u32)> = known.collect();
            self.matchmaker.begin_day(day, known);
            self.new_versions.clear();
        }
    }

    /// The player with this name, which is added if it is new.
    fn player(&mut self, name: &str) -> Result<Entrant, LadderError> {
        let before = self.book.len();
        let player = self.book.player(name)?;
        if self.book.len() > before {
            let bot = Name::parse(name).bot;
            let owner = self.bots.get(&bot).map_or_else(|| bot.clone(), |bot| bot.owner.clone());
            let fresh = self.owners.len() as u32;
            let owner = *self.owners.entry(owner).or_insert(fresh);
            self.matchmaker.join(Newcomer { owner, quota: self.limits.quota });
            self.members.push(Member::default());
            self.is_unrated = true;
            if let Some(display) = self.bot_display_names.of_player(name) {
                Arc::make_mut(&mut self.display_names).insert(name.to_owned(), display);
            }
        }
        Ok(player)
    }

    /// Sets the bots, whose owners are needed before players are added, and whether the league is paused.
    pub(super) fn begin(&mut self, bots: &[LeagueBot], is_paused: bool) {
        self.is_paused = is_paused;
        self.bots = bots.iter().map(|bot| (bot.name.clone(), bot.clone())).collect();
    }

    /// No match begins while the league is paused.
    pub(super) fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Changes which bots take part, and which of them are paused. Returns the programs that are not in the run yet, or
    /// not with this command line; those of an earlier call are expected to join.
    pub(super) fn set_bots(&mut self, bots: &[LeagueBot]) -> Vec<LeagueBot> {
        let plays = |bot: &&LeagueBot| {
            let is_here = bot.ladders.as_ref().is_none_or(|ladders| ladders.contains(&self.name));
            bot.revoked_at.is_none() && is_here
        };
        self.bots = bots.iter().filter(plays).map(|bot| (bot.name.clone(), bot.clone())).collect();
        self.bot_display_names = BotDisplayNames::of(bots);
        self.end_challenges_of_others();
        // An anchor that does not take part any more still pins the scale.
        let anchors = bots.iter().filter_map(|bot| Some((bot.name.clone(), bot.anchor?)));
        self.book.set_anchors(anchors.collect());
        self.is_unrated = true;
        self.set_display_names();
        let mut new = Vec::new();
        for bot in self.bots.values().filter(|bot| bot.command.is_some()) {
            let program = (bot.command.clone(), bot.directory.clone());
            if self.started.get(&bot.name) != Some(&program) {
                self.started.insert(bot.name.clone(), program);
                new.push(bot.clone());
            }
        }
        self.set_places();
        new
    }

    /// Tells the matchmaker who can play how many matches at once.
    fn set_places(&mut self) {
        let now = self.now();
        let is_here = |at: usize| {
            let bot = self.bots.get(&Name::parse(self.book.name(Entrant(at as u16))).bot);
            let member = &self.members[at];
            let can_play =
                member.bot.is_some() || (member.is_on_workers_only() && !self.on_workers.is_empty());
            can_play && bot.is_some_and(|bot| !bot.is_paused)
        };
        let here: BTreeSet<usize> = (0..self.members.len()).filter(|&at| is_here(at)).collect();
        let programs = here.iter().filter(|&&at| self.members[at].is_program).count().max(1);
        // So many copies of each program that all jobs can be filled.
        let jobs = self.limits.jobs + self.on_workers.most();
        let copies = (jobs * self.seating.seats()).div_ceil(programs);
        for (at, member) in self.members.iter().enumerate() {
            let places = match (here.contains(&at), member.is_program) {
                (false, _) => 0,
                (true, true) => copies,
                (true, false) => member.connections,
            };
            self.matchmaker.set_places(Entrant(at as u16), places, now);
        }
    }

    /// The standings, with the ratings of the last time that the players were rated.
    pub(super) fn standings(&self) -> Vec<LadderRow> {
        self.book.standings(&self.fit, &self.rulings, &self.bot_display_names)
    }

    /// The players that are there now: connected, or programs.
    pub(super) fn online(&self) -> Vec<&str> {
        let is_here = |member: &Member| member.is_program || member.connections > 0;
        let here = self.members.iter().enumerate().filter(|(_, member)| is_here(member));
        here.map(|(at, _)| self.book.name(Entrant(at as u16))).collect()
    }

    /// Results are stored, in the season with this number.
    ///
    /// # Errors
    /// If one does not fit the seats.
    pub(super) fn stored(&mut self, season: u32, rows: &[LeagueMatch]) -> Result<(), LadderError> {
        for row in rows {
            let challenge = self.running.remove(&row.number).and_then(|running| running.challenge);
            self.challenges.ended.extend(challenge.map(|challenge| challenge.id));
            // The first results of a season come before it is known here: it is counted when it begins.
            if season == self.season.number {
                self.book.add(&self.rulings.apply(row, self.seating))?;
            }
            if let Some(stored) = &mut self.stored_since {
                stored.push((season, row.clone()));
            }
            self.note_last(row);
            self.is_unrated = true;
        }
        Ok(())
    }

    /// Notes that a match of an earlier run continues: the second one of its set, if it has the number of the first one. If it is a
    /// challenge, it fulfils one of these.
    ///
    /// # Errors
    /// If it does not fit the seats.
    pub(super) fn resume(
        &mut self,
        id: &str,
        deal: Option<u32>,
        players: &[&str],
        challenges: &[Challenge],
    ) -> Result<(), LadderError> {
        let seated: Vec<Entrant> = players.iter().map(|name| self.player(name)).collect::<Result<_, _>>()?;
        let lineup = Lineup::of_seats(self.seating, &seated);
        let ((number, kind), lineup) = parse_match_id(id)
            .zip(lineup)
            .ok_or_else(|| LadderError::Misfit { id: id.to_owned(), seats: self.seating.seats() })?;
        let running = self.running_challenges();
        let mut open = challenges.iter().filter(|challenge| !running.contains(&challenge.id));
        let challenge = open.find(|challenge| kind.is_challenge() && is_between(challenge, players)).cloned();
        let now = self.now();
        match kind.is_challenge() {
            true => self.matchmaker.begin_challenge(&lineup, now),
            false => self.matchmaker.begin(&lineup, now),
        }
        self.running.insert(number, MatchInProgress { lineup, challenge, deal });
        Ok(())
    }

    /// Queues the return matches of sets that an earlier server did not complete.
    pub(super) fn queue_returns(&mut self) {
        let now = self.now();
        let running: BTreeSet<u32> = self.running.values().filter_map(|running| running.deal).collect();
        for (first, number) in self.book.incomplete_sets() {
            if !running.contains(&number) {
                self.matchmaker.queue_return(&first, number, now);
            }
        }
    }

    /// The next match: on workers, or here. It is between programs if there are workers, and only then.
    fn next_match(&mut self, on_workers: bool) -> Option<Fixture> {
        let may_begin = self.rules.may_begin(self.running.len(), self.now());
        if self.is_paused || self.wait.is_waiting() || !may_begin {
            return None;
        }
        if let Some(fixture) = self.next_challenge(on_workers) {
            return Some(fixture);
        }
        if !on_workers && let Some(fixture) = self.next_return() {
            return Some(fixture);
        }
        let now = self.now();
        let Ladder { matchmaker, rng, members, .. } = self;
        let is_away = |player: Entrant| members[player.index()].program.is_some();
        let lineup = match on_workers {
            true => matchmaker.next_of(is_away, is_away, now, rng),
            false if self.on_workers.is_empty() => matchmaker.next(now, rng),
            false => {
                let is_here = |player: Entrant| members[player.index()].bot.is_some();
                matchmaker.next_of(|player| !is_away(player), is_here, now, rng)
            }
        };
        self.fixture(lineup?, MatchKind::Pairing, on_workers, None, None)
    }

    /// This match, on workers or here; one of a kind other than `Pairing` fulfils a challenge.
    fn fixture(
        &mut self,
        lineup: Lineup,
        kind: MatchKind,
        on_workers: bool,
        challenge: Option<Challenge>,
        deal: Option<u32>,
    ) -> Option<Fixture> {
        let bot = |player: &Entrant| {
            let Member { bot, program, .. } = self.members[player.index()];
            if on_workers { program } else { bot }
        };
        let bots: Option<Vec<usize>> = lineup.seats().iter().map(bot).collect();
        let number = self.next;
        let (options, opening) = self.openings.of(deal.unwrap_or(number));
        let is_in_set = self.is_mirrored && kind == MatchKind::Pairing && !on_workers;
        let fixture = Fixture {
            id: match_id(number, kind),
            deal: deal.map(|first| match_id(first, kind)),
            // The seed of a set determines the opening, and nothing that is secret.
            leg: if is_in_set { Leg::Open } else { Leg::Only },
            options,
            opening,
            bots: bots?,
            wait: Wait::Never,
            secret: None,
        };
        self.next += 1;
        for player in lineup.seats().iter().filter(|&&player| self.matchmaker.has_used_up(player)) {
            let (name, player) = (&self.name, self.book.name(*player));
            let quota = self.limits.quota.unwrap_or(0);
            tracing::info!("{name}: the owner of {player} has used up the quota of {quota} matches today");
        }
        self.running.insert(number, MatchInProgress { lineup, challenge, deal });
        if on_workers {
            self.on_workers.add(number);
        }
        Some(fixture)
    }

    /// The second match of a set that is due, if there is one.
    fn next_return(&mut self) -> Option<Fixture> {
        let now = self.now();
        let (lineup, first) = self.matchmaker.next_return(now)?;
        self.fixture(lineup, MatchKind::Pairing, false, None, Some(first))
    }

    /// Pairs the program of a bot no longer, because another one takes its place.
    fn retire_programs(&mut self, bot: &str) {
        for player in self.book.versions(bot) {
            let member = &mut self.members[player.index()];
            if member.is_program {
                (member.bot, member.is_program) = (None, false);
            }
        }
    }

    /// The player with this name; for a name without a version the newest version that is there.
    fn newest(&self, name: &str) -> Option<Entrant> {
        let is_meant = |player: &&Entrant| {
            let member = &self.members[player.index()];
            member.is_program || member.connections > 0 || self.book.name(**player) == name
        };
        // A name with a version is that of no bot.
        self.book.versions(name).iter().rev().find(is_meant).copied().or_else(|| self.book.find(name))
    }
}
