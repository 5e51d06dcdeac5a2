//! Opens a ladder before it is played.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use referee_bots::Launch;
use referee_engine::runner::ResumedMatch;
use referee_files::{Folder, Journal, Records, RunningMatches, StorageWait};
use referee_game::chance::Seed;
use referee_game::{Viewer, Wrong, keys};
use referee_league::{LadderRulings, LadderSeason, League};
use referee_store::{Leases, StoreError, now, utc};
use referee_web::{LadderPages, WatchOptions, WatchServer};
use referee_workers::JobBots;

use super::visitors::{self, StartedPrograms};
use crate::Placement;
use crate::RunError;
use crate::config::random_seed;
use crate::league::config::{LadderConfig, LadderGame, LeagueConfig, PreparedLadder};
use crate::league::resume::ResumedSet;
use crate::league::{
    Ladder, LadderMemory, LadderSeed, SharedLadder, deal_of, ladder_folder, note_rules, recover, resume,
    resume_on_workers,
};
use crate::workers::leases;

/// A ladder that is about to be played.
pub(super) struct OpenedLadder {
    pub(super) config: LadderConfig,
    pub(super) prepared: PreparedLadder,
    pub(super) seed: Seed,
    pub(super) ladder: SharedLadder,
    pub(super) records: Records,
    pub(super) journal: Journal,
    pub(super) running: RunningMatches,
    /// The matches of an earlier server that go on.
    pub(super) resumed: Vec<ResumedMatch>,
    /// Waits while the disk is full.
    pub(super) wait: StorageWait,
    pub(super) watch: Option<WatchServer>,
    pub(super) pages: Arc<LadderPages>,
    /// The leases of sets, with workers.
    pub(super) leases: Option<Leases>,
    pub(super) placement: Placement,
    /// The programs as workers start them.
    pub(super) job_bots: JobBots,
    /// The programs that the server starts, for visitors.
    pub(super) programs: StartedPrograms,
}

/// The inputs for opening the ladders of a league.
pub(super) struct LadderOpening<'a> {
    pub(super) config: &'a LeagueConfig,
    pub(super) folder: &'a Folder,
    pub(super) league: &'a mut League,
    pub(super) has_workers: bool,
    pub(super) launch: &'a Launch,
}

impl LadderOpening<'_> {
    /// Opens a ladder, to be played with workers or without them: completes its results after a crash, and counts them.
    pub(super) fn open(
        &mut self,
        config: &LadderConfig,
        prepared: PreparedLadder,
    ) -> Result<OpenedLadder, RunError> {
        let own = ladder_folder(self.folder, &config.name).map(|own| (Journal::open(&own), own));
        let (journal, own) = own.map_err(|why| RunError::of_ladder(&config.name, why))?;
        let played = self.folder.path().display();
        let journal = journal.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => {
                RunError::machine(format!("{played}: another process plays this league"))
            }
            _ => RunError::of_ladder(&config.name, error),
        })?;
        self.open_ladder(config, prepared, &own, journal)
            .map_err(|why| RunError::of_ladder(&config.name, why))
    }

    fn open_ladder(
        &mut self,
        config: &LadderConfig,
        prepared: PreparedLadder,
        own: &Folder,
        journal: Journal,
    ) -> Result<OpenedLadder, RunError> {
        let LadderOpening { config: whole, folder, league, has_workers, launch } = self;
        let (whole, folder, has_workers) = (*whole, *folder, *has_workers);
        let name = &config.name;
        let seats = prepared.game.seats();
        let wait = StorageWait::new();
        let mut journal = journal.durable().waiting(wait.clone());
        let seed = match LadderSeed::read(league, name)? {
            Some(LadderSeed { seed, .. }) => seed,
            None => LadderSeed::draw(league, name)?.seed,
        };
        let records = Records::reopen(own, true)?.waiting(wait.clone());
        let next = recover(league, name, &seed, &records, &mut journal, &prepared.game.catalog)?;
        let leases = leases(own.path(), has_workers)?;
        let leases = leases.map(|leases| leases.waiting(wait.clone()).durable());
        let last_on_workers = leases.as_ref().map_or(Ok(0), Leases::last_set)?;
        let openings = config.openings(&prepared.game, &seed)?;
        // Pairings are drawn from another source than the dice of matches.
        let drawn = random_seed()?;
        let rng = drawn.match_key("league", name, &[""]).stream();
        let mut ladder = Ladder::new(name, seats, openings, prepared.limits, rng, wait.clone());
        let next = next.max(last_on_workers + 1);
        ladder.set_next(next);
        note_rules(league, name, &prepared.game, own.path(), next)?;
        ladder.begin(&league.bots()?, &league.owners()?, league.is_ladder_paused(name)?);
        ladder.set_finals(league.finals(name)?);
        ladder.set_in_force(league.in_force(Some(name))?);
        let rulings = league.rulings()?;
        ladder.show_rulings(&rulings);
        let season = LadderSeason::current(league, name, seats)?;
        let of_season = season.number;
        ladder.begin_season(season, LadderRulings::of(&rulings, name))?;
        let ladder = SharedLadder::new(ladder);
        let programs = StartedPrograms::default();
        let mut pages = pages(whole, config, &prepared, &ladder, own, folder)?;
        let room = |visitors| visitors::room(visitors, config, &prepared.game, launch, &programs);
        pages.visitors = prepared.visitors.as_ref().map(room).map(Arc::new);
        let pages = Arc::new(pages);
        let watch = watch_server(whole, config, &prepared.game)?;
        count_earlier(league, of_season, &ladder, &pages, watch.as_ref())?;
        ladder.lock().remember(LadderMemory::read(league, name)?, now());
        let running = RunningMatches::open(own)?;
        let watched = config.watch.is_some().then_some(Viewer::Public);
        let resumed = resume(&running, league, name, &prepared.game, &seed, watched)?;
        let challenges = league.challenges(name)?;
        for resumed in &resumed {
            let header = resumed.header();
            let players: Vec<&str> = header.seats.iter().map(|seat| &*seat.name).collect();
            ladder.lock().resume(&header.r#match, deal_of(header)?, &players, &challenges)?;
        }
        // Workers play single matches.
        if !has_workers {
            ladder.lock().queue_returns();
        }
        let job_bots = JobBots::default();
        if let Some(leases) = &leases {
            let sets = resume_on_workers(leases, league, name, &prepared.game, &job_bots, has_workers)?;
            for ResumedSet { due, players } in sets {
                ladder.lock().resume_set(due, &players, &challenges)?;
            }
        }
        // Challenges that wait come before other matches, also before the first one.
        ladder.lock().set_challenges(challenges);
        ladder.rate();
        ladder.publish(now());
        if let Some(server) = &watch {
            server.set_ladder(pages.clone());
        }
        Ok(OpenedLadder {
            config: config.clone(),
            prepared,
            seed,
            ladder,
            records,
            journal,
            running,
            resumed,
            wait,
            watch,
            pages,
            leases: leases.filter(|_| has_workers),
            placement: Placement::Here,
            job_bots,
            programs,
        })
    }
}

/// Starts the server for the spectators of a ladder, if it has one.
fn watch_server(
    whole: &LeagueConfig,
    config: &LadderConfig,
    game: &LadderGame,
) -> Result<Option<WatchServer>, RunError> {
    let Some(address) = config.watch else { return Ok(None) };
    let (hosts, delay) = (config.watch_hosts.clone(), config.watch_delay);
    let (url, info) = (config.watch_url.clone(), whole.publish.info);
    let proxies = config.watch_proxies.clone();
    let options = WatchOptions { address, hosts, proxies, url, delay, info, stage: None, names: keys };
    let server = WatchServer::open(options, game.rules.meta(), &game.catalog)
        .map_err(|why| RunError::machine(Wrong::at(format!("watch {address}"), why)))?;
    server.set_name(&whole.about().name_of(&config.name));
    Ok(Some(server))
}

/// Counts the results of a season, and shows them to spectators.
fn count_earlier(
    league: &League,
    season: u32,
    ladder: &SharedLadder,
    pages: &LadderPages,
    watch: Option<&WatchServer>,
) -> Result<(), Wrong> {
    let mut ladder = ladder.lock();
    let (mut today, date) = (BTreeMap::new(), utc(now()));
    let last = league.last_number(&pages.name)?;
    let hidden_since = league.in_force(Some(&pages.name))?.hidden_since;
    league.for_each_match(&pages.name, Some(season), |row| {
        if row.ended_at.get(..10) == date.get(..10) && !row.kind.is_challenge() {
            row.players.iter().for_each(|player| *today.entry(player.clone()).or_default() += 1);
        }
        ladder.add_earlier(&row)?;
        let is_hidden = hidden_since.as_ref().is_some_and(|since| row.ended_at >= *since);
        if let Some(server) = watch.filter(|_| !is_hidden) {
            let is_listed = last.saturating_sub(row.number) as usize <= WatchServer::MOST_LISTED;
            let earlier = pages.finished(row);
            match is_listed {
                true => server.add_earlier(earlier, None, None),
                false => server.count_earlier(&earlier),
            }
        }
        Ok::<_, Wrong>(())
    })?;
    ladder.begin_day(now(), &today);
    Ok(())
}

fn pages(
    whole: &LeagueConfig,
    config: &LadderConfig,
    prepared: &PreparedLadder,
    ladder: &SharedLadder,
    own: &Folder,
    folder: &Folder,
) -> Result<LadderPages, StoreError> {
    let league = League::open(folder)?;
    let rules_changed = league.rules_versions(&config.name)?.pop().filter(|last| !last.changed.is_empty());
    Ok(LadderPages {
        name: config.name.clone(),
        game: prepared.game.rules.meta(),
        seating: prepared.game.seating,
        rules_changed,
        port: OnceLock::new(),
        take_up: OnceLock::new(),
        refusals: Arc::default(),
        has_tls: prepared.listen.as_ref().is_some_and(|listen| listen.certificate.is_some()),
        others: OnceLock::new(),
        ladder: ladder.shown.clone(),
        records: own.path().join("records"),
        visitors: None,
        sending: Arc::default(),
        league: Mutex::new(league),
        about: Mutex::new(whole.about()),
    })
}
