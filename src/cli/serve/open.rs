//! Opens a ladder before it is played.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use crate::cli::Failure;
use crate::cli::league::config::{LadderConfig, LadderGame, LeagueConfig, PreparedLadder};
use crate::cli::league::pages::{AboutLeague, LadderPages};
use crate::cli::league::verify::LadderSeed;
use crate::cli::options::random_seed;
use crate::cli::today::now;
use crate::files::{Folder, Journal, Records, RunningMatches, StorageWait};
use crate::game::Viewer;
use crate::game::chance::Seed;
use crate::runner::ResumedMatch;
use crate::runs::league::ladder_folder;
use crate::runs::league::{
    Ladder, LadderMemory, LadderRow, LadderRulings, LadderSeason, LeadTaken, NotCounted, SharedLadder,
    WaitingMatch, WaitingReason, deal_of, recover, resume, resume_on_workers,
};
use crate::runs::workers::leases;
use crate::store::{League, Leases};
use crate::web::{self, OtherLadder, WatchOptions, WatchServer};
use crate::workers::JobBots;

/// A ladder that is about to be played.
pub(super) struct OpenedLadder<'a> {
    pub(super) config: &'a LadderConfig,
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
    /// What workers have, if there are workers.
    pub(super) leases: Option<Leases>,
    /// The programs as workers start them.
    pub(super) job_bots: JobBots,
}

/// Opens a ladder, to be played with workers or without them: completes its results after a crash, and counts them.
pub(super) fn open<'a>(
    whole: &'a LeagueConfig,
    config: &'a LadderConfig,
    prepared: PreparedLadder,
    has_workers: bool,
    folder: &Folder,
    league: &mut League,
) -> Result<OpenedLadder<'a>, Failure> {
    let name = &config.name;
    let LadderGame { rules, seating, catalog } = &prepared.game;
    let (rules, seating) = (*rules, *seating);
    let wrong = |error: io::Error| Failure::cannot_run(format!("ladder {name}: {error}"));
    let own = ladder_folder(folder, name).map_err(Failure::cannot_run)?;
    let journal = Journal::open(&own).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            Failure::cannot_run(format!("{}: another process plays this league", folder.path().display()))
        }
        _ => wrong(error),
    })?;
    let wait = StorageWait::new();
    let mut journal = journal.durable().waiting(wait.clone());
    let LadderSeed { seed, .. } = match LadderSeed::read(league, name)? {
        Some(seed) => seed,
        None => LadderSeed::draw(league, name)?,
    };
    let records = Records::reopen(&own, true).map_err(wrong)?.waiting(wait.clone());
    let next = recover(league, name, &seed, &records, &mut journal, catalog)
        .map_err(|why| Failure::cannot_run(format!("ladder {name}: {why}")))?;
    let leases = leases(own.path(), has_workers).map_err(wrong)?;
    let leases = leases.map(|leases| leases.waiting(wait.clone()).durable());
    let last_on_workers = leases.as_ref().map_or(Ok(0), Leases::last_set).map_err(wrong)?;
    let openings = config.openings(&prepared.game, &seed)?;
    // Pairings are drawn from another source than the dice of matches.
    let rng = random_seed()?.match_key("league", name, &[""]).stream();
    let mut ladder = Ladder::new(name, prepared.game.seats(), openings, prepared.limits, rng, wait.clone());
    ladder.set_next(next.max(last_on_workers + 1));
    ladder.begin(&league.bots().map_err(wrong)?, is_paused(league).map_err(wrong)?);
    let rulings = league.rulings().map_err(wrong)?;
    ladder.show_rulings(&rulings);
    let not_counted = |error: NotCounted| Failure::cannot_run(format!("ladder {name}: {error}"));
    let season = LadderSeason::current(league, name, prepared.game.seats()).map_err(not_counted)?;
    let of_season = Some(season.number);
    ladder
        .begin_season(season, LadderRulings::of(&rulings, name))
        .map_err(|error| not_counted(error.into()))?;
    let shared = SharedLadder::new(ladder);
    let pages = Arc::new(pages(whole, config, &prepared, &shared, &own, folder).map_err(wrong)?);
    let watch = match config.watch {
        Some(address) => {
            let (hosts, delay) = (config.watch_hosts.clone(), config.watch_delay);
            let (url, info) = (config.watch_url.clone(), whole.publish.info);
            let options = WatchOptions { address, hosts, url, delay, info };
            let server = WatchServer::open(options, rules.meta(), catalog)
                .map_err(|error| Failure::cannot_run(format!("ladder {name}: watch {address}: {error}")))?;
            server.set_name(&AboutLeague::of(whole).name_of(name));
            Some(server)
        }
        None => None,
    };
    let mut ladder = shared.lock();
    let (mut today, date) = (BTreeMap::new(), crate::store::utc(now()));
    let last = league.last_number(name).map_err(wrong)?;
    let read = league.for_each_match(name, of_season, |row| {
        if row.ended_at.get(..10) == date.get(..10) {
            row.players.iter().for_each(|player| *today.entry(player.clone()).or_default() += 1);
        }
        ladder.add_earlier(&row)?;
        if let Some(server) = &watch {
            let is_listed = last.saturating_sub(row.number) as usize <= WatchServer::MOST_LISTED;
            let earlier = pages.finished(row);
            match is_listed {
                true => server.add_earlier(earlier, None),
                false => server.count_earlier(&earlier),
            }
        }
        Ok::<_, NotCounted>(())
    });
    read.map_err(not_counted)?;
    ladder.begin_day(now(), &today);
    ladder.remember(LadderMemory::read(league, name).map_err(wrong)?, now());
    let running = RunningMatches::open(&own).map_err(wrong)?;
    let watched = config.watch.is_some().then_some(Viewer::Public);
    let resumed =
        resume(&running, (league, name), (rules, seating), &seed, watched, catalog).map_err(wrong)?;
    let challenges = league.challenges(name).map_err(wrong)?;
    for resumed in &resumed {
        let header = resumed.header();
        let players: Vec<&str> = header.seats.iter().map(|seat| &*seat.name).collect();
        let deal = deal_of(header).map_err(Failure::cannot_run)?;
        ladder.resume(&header.r#match, deal, &players, &challenges).map_err(Failure::cannot_run)?;
    }
    // Workers play single matches.
    if !has_workers {
        ladder.queue_returns();
    }
    let job_bots = JobBots::default();
    if let Some(leases) = &leases {
        let resumed = resume_on_workers(leases, league, name, rules, seating, &job_bots, has_workers);
        for (due, players) in resumed.map_err(wrong)? {
            ladder.resume_set(due, &players, &challenges).map_err(Failure::cannot_run)?;
        }
    }
    drop(ladder);
    let ladder = shared;
    ladder.rate();
    ladder.publish(now());
    if let Some(server) = &watch {
        server.set_ladder(pages.clone());
        let shown = ladder.clone();
        server.set_standings(Box::new(move || shown_standings(&shown)));
    }
    let leases = leases.filter(|_| has_workers);
    Ok(OpenedLadder {
        config,
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
        leases,
        job_bots,
    })
}

/// What the pages of a ladder show.
fn pages(
    whole: &LeagueConfig,
    config: &LadderConfig,
    prepared: &PreparedLadder,
    ladder: &SharedLadder,
    own: &Folder,
    folder: &Folder,
) -> io::Result<LadderPages> {
    let others = whole.ladders.iter().filter(|other| other.name != config.name);
    let other = |other: &LadderConfig| {
        let (name, url) = (other.name.clone(), other.watch_url.as_ref().map(ToString::to_string));
        Some(OtherLadder { name, port: other.watch?.port(), url })
    };
    Ok(LadderPages {
        name: config.name.clone(),
        game: prepared.game.rules.meta(),
        seating: prepared.game.seating,
        port: OnceLock::new(),
        refusals: Arc::default(),
        has_tls: prepared.listen.as_ref().is_some_and(|(_, certificate, _)| certificate.is_some()),
        others: others.filter_map(other).collect(),
        ladder: ladder.clone(),
        records: own.path().join("records"),
        sending: Arc::default(),
        league: Mutex::new(League::open(folder)?),
        about: Mutex::new(AboutLeague::of(whole)),
    })
}

pub(super) fn is_paused(league: &League) -> io::Result<bool> {
    Ok(league.value("paused")?.is_some_and(|value| value == "1"))
}

/// The standings for spectators.
fn shown_standings(ladder: &SharedLadder) -> web::StandingsView {
    let shown = ladder.shown();
    let standing = |row: LadderRow| web::StandingsRow {
        place: row.place,
        online: Some(shown.online.contains(&row.player)),
        state: shown.states.get(&row.player).map(ToString::to_string),
        is_provisional: Some(row.is_provisional),
        name: row.player,
        matches: row.matches,
        wdl: row.wdl,
        points: row.rating.value.round(),
        faulted: row.faulted,
        rating: Some(row.rating),
        ..web::StandingsRow::default()
    };
    let next = shown.next.iter().map(|WaitingMatch { sides, why }| web::NextMatch {
        id: None,
        sides: sides.clone(),
        why: match why {
            WaitingReason::Challenge => "challenge".to_owned(),
            WaitingReason::Return(first) => format!("return match of {first}"),
        },
    });
    let taken = shown.lead_taken.as_ref();
    web::StandingsView {
        rows: shown.ranking(now()).into_iter().map(standing).collect(),
        next: next.collect(),
        last_change_of_lead: taken.map(|LeadTaken { id, from }| (id.clone(), from.clone())),
        names: shown.display_names.clone(),
        rulings: shown.rulings.clone(),
        season: Some(shown.season),
        ..web::StandingsView::default()
    }
}
