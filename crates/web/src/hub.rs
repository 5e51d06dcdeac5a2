//! The state of the run as spectators see it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{io, mem};

use axum::body::Bytes;
use referee_protocol::referee::Reveal;
use tokio::sync::watch;

use crate::answers::{ANSWER_APART, RecentAnswers, RecentReplays};
use crate::board::LiveBoard;
use crate::entries::{self, BoardAccess, BotEntry, MatchEntry, StandingsRow, seat_entries};
use crate::ladder::LadderView;
use crate::metrics::{MatchFigures, Metrics};
use crate::{EarlierMatch, StandingsSource};
use referee_engine::runner::{
    LiveEnd, LiveEvent, LiveHeader, LiveReceiver, LiveStep, MatchReport, Unsealed, Visibility,
};
use referee_files::read_regular;
use referee_game::Meta;
use referee_game::seat::Viewer;
use referee_game::{Catalog, json};
use referee_match::Faults;
use referee_match::record;

/// The maximum number of ended matches that are listed.
const MOST_ENDED: usize = 10_000;
/// The maximum size of the records that are kept in memory, in bytes, for runs without records on the disk.
const MOST_KEPT: usize = 64 * 1024 * 1024;
/// The number of matches of each kind in the overview.
const OVERVIEW: usize = 50;

/// Becomes true when the server closes.
pub(super) type Closes = watch::Receiver<bool>;

#[derive(Debug)]
struct LiveEntry {
    header: Arc<LiveHeader>,
    board: Option<Arc<Mutex<LiveBoard>>>,
}

impl LiveEntry {
    /// Adds a position to the board.
    fn show(&mut self, step: &LiveStep, delay: u32) {
        match &self.board {
            Some(board) => board.lock().unwrap_or_else(PoisonError::into_inner).add(step),
            None => self.board = Some(Arc::new(Mutex::new(LiveBoard::new(self.header.clone(), delay, step)))),
        }
    }

    fn entry(&self) -> MatchEntry {
        let LiveHeader { id, seats, visibility, .. } = &*self.header;
        let board = self.board.as_ref().map(|board| board.lock().unwrap_or_else(PoisonError::into_inner));
        MatchEntry {
            id: id.clone(),
            number: None,
            seats: seat_entries(seats),
            board: match visibility {
                Visibility::Live => BoardAccess::Live,
                Visibility::Held => BoardAccess::Held,
                Visibility::Crowded => BoardAccess::None,
            },
            moves: board.map(|board| board.moves()),
            result: None,
            faults: None,
        }
    }
}

/// Where the sealed record of an ended match is.
#[derive(Clone, Debug)]
enum RecordLocation {
    File(PathBuf),
    Memory(Arc<Vec<u8>>),
    Nowhere,
}

#[derive(Debug)]
struct EndedEntry {
    entry: MatchEntry,
    /// What changes when its deal is complete.
    unsealed: Option<UnsealedEntry>,
    record: RecordLocation,
    /// The number of its `end` event.
    last: u64,
}

/// What a match that has ended will be when its deal is complete.
#[derive(Debug)]
struct UnsealedEntry {
    deal: String,
    entry: MatchEntry,
    /// The file that its record will be in, if the run keeps records.
    file: Option<PathBuf>,
}

/// What is known of a match, but is not shown until its deal is complete.
#[derive(Debug)]
struct Withheld {
    /// By bot.
    faults: Vec<(String, Faults)>,
    /// `None` for a match of an earlier part of the run.
    figures: Option<MatchFigures>,
}

struct RunState {
    running: BTreeMap<String, LiveEntry>,
    /// The oldest first. Their numbers are consecutive.
    ended: VecDeque<EndedEntry>,
    /// The numbers of those that are listed, by id.
    numbers: BTreeMap<String, u64>,
    /// By deal.
    withheld: BTreeMap<String, Vec<Withheld>>,
    /// The number of matches that have ended.
    count: u64,
    /// The bytes of records in memory.
    kept: usize,
    bots: BTreeMap<String, BotEntry>,
    standings: Option<StandingsSource>,
    /// The overview of a version.
    overview: (u64, Bytes),
}

/// The state of the run as spectators see it.
pub(super) struct Hub {
    /// Identifies the run in the ids of events.
    run: String,
    game: &'static Meta,
    /// For replays.
    catalog: Catalog,
    delay: u32,
    state: Mutex<RunState>,
    /// The version of the overview.
    version: AtomicU64,
    /// Whether it is out of date.
    has_changed: AtomicBool,
    changed: watch::Sender<()>,
    metrics: Metrics,
    answers: RecentAnswers,
    replays: RecentReplays,
    /// The ladder of a league, if the run is one.
    ladder: OnceLock<Arc<dyn LadderView>>,
    /// Becomes true when the server closes.
    closes: watch::Sender<bool>,
}

/// What a match offers to spectators.
pub(super) enum MatchAccess {
    /// A live board.
    Board(Arc<Mutex<LiveBoard>>),
    /// A replay.
    Replay(EndedBoard),
    /// Nothing, for this reason.
    Nothing(BoardAccess),
}

/// A match that has ended.
pub(super) struct EndedBoard {
    pub(super) record: SealedRecord,
    /// The number of its `end` event.
    pub(super) last: u64,
    /// The result in words.
    pub(super) result: String,
}

/// A sealed record.
pub(super) struct SealedRecord(RecordLocation);

impl SealedRecord {
    /// Reads the record. Blocks.
    pub(super) fn read(self) -> io::Result<Vec<u8>> {
        match self.0 {
            RecordLocation::File(path) => read_regular(&path),
            RecordLocation::Memory(record) => Ok(Arc::unwrap_or_clone(record)),
            RecordLocation::Nowhere => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Hub {
    pub(super) fn new(run: u32, (game, catalog): (&'static Meta, Catalog), delay: u32) -> Hub {
        let state = RunState {
            running: BTreeMap::new(),
            ended: VecDeque::new(),
            numbers: BTreeMap::new(),
            withheld: BTreeMap::new(),
            count: 0,
            kept: 0,
            bots: BTreeMap::new(),
            standings: None,
            overview: (u64::MAX, Bytes::new()),
        };
        Hub {
            run: format!("{run:08x}"),
            game,
            catalog,
            delay,
            state: Mutex::new(state),
            version: AtomicU64::new(0),
            has_changed: AtomicBool::new(false),
            changed: watch::Sender::new(()),
            metrics: Metrics::default(),
            answers: RecentAnswers::default(),
            replays: RecentReplays::default(),
            ladder: OnceLock::new(),
            closes: watch::Sender::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, RunState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run in the ids of events.
    pub(super) fn run(&self) -> &str {
        &self.run
    }

    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub(super) fn answers(&self) -> &RecentAnswers {
        &self.answers
    }

    pub(super) fn replays(&self) -> &RecentReplays {
        &self.replays
    }

    pub(super) fn closes(&self) -> Closes {
        self.closes.subscribe()
    }

    /// Ends the streams and the connections.
    pub(super) fn close(&self) {
        self.closes.send_replace(true);
    }

    /// Changes with the overview.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(super) fn set_standings(&self, standings: StandingsSource) {
        self.state().standings = Some(standings);
    }

    /// Shows a ladder. Only the first call has an effect.
    pub(super) fn set_ladder(&self, ladder: Arc<dyn LadderView>) {
        self.ladder.get_or_init(|| ladder);
    }

    pub(super) fn ladder(&self) -> Option<&Arc<dyn LadderView>> {
        self.ladder.get()
    }

    pub(super) fn handle(&self, event: LiveEvent) {
        match event {
            LiveEvent::Moved(header, step) => {
                let mut state = self.state();
                let is_new = !state.running.contains_key(&header.id);
                if is_new {
                    for (name, _) in &header.seats {
                        let bot = state.bots.entry(name.clone()).or_insert_with(|| BotEntry::new(name));
                        if bot.playing.last() != Some(&header.id) {
                            bot.playing.push(header.id.clone());
                        }
                    }
                }
                let id = header.id.clone();
                let running = state.running.entry(id).or_insert(LiveEntry { header, board: None });
                if let Some(step) = step {
                    running.show(&step, self.delay);
                }
            }
            LiveEvent::Ended(end) => self.end(*end),
        }
        self.has_changed.store(true, Ordering::Relaxed);
    }

    fn end(&self, mut end: LiveEnd) {
        self.metrics.count(&end.report);
        let figures = MatchFigures::of(&end);
        let mut state = self.state();
        let running = state.running.remove(&end.report.id);
        state.count += 1;
        state.tally(&end.report, &end.seats);
        let completes = end.completes_its_deal();
        let deal = end.fixture.deal.take();
        let withheld = Withheld { faults: faults_of(&end.report), figures: Some(figures) };
        let file = end.report.record.take();
        let mut entry = entries::ended(&end.report, &end.seats, Some(state.count));
        let result = entry.result.as_ref().map(|result| result.text.clone()).unwrap_or_default();
        // Until the deal is complete, there is no file yet.
        let record = match (&file, end.record) {
            (Some(path), _) if completes || deal.is_none() || end.is_held => {
                RecordLocation::File(path.clone())
            }
            (_, Some(record)) => state.keep(record, end.reveal),
            (_, None) => RecordLocation::Nowhere,
        };
        if matches!(record, RecordLocation::Nowhere) {
            entry.board = BoardAccess::None;
        }
        let mut last = 1;
        if let Some(board) = running.and_then(|running| running.board) {
            let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
            board.conclude(&result);
            last = board.last();
        }
        let open_deal = deal.clone().filter(|_| !completes);
        let shown = match &open_deal {
            Some(deal) if end.is_held => {
                state.withheld.entry(deal.clone()).or_default().push(withheld);
                entry.clone().withheld()
            }
            _ => {
                self.disclose(&mut state, withheld);
                entry.clone()
            }
        };
        let unsealed = open_deal.map(|deal| UnsealedEntry { deal, entry, file });
        state.push(EndedEntry { entry: shown, unsealed, record, last });
        if completes && let Some(deal) = deal {
            for withheld in state.withheld.remove(&deal).into_iter().flatten() {
                self.disclose(&mut state, withheld);
            }
            state.complete(&deal);
        }
    }

    /// Counts what happened in a match.
    fn disclose(&self, state: &mut RunState, Withheld { faults, figures }: Withheld) {
        for (name, faults) in faults {
            state.bot(&name).faults.merge(&faults);
        }
        if let Some(figures) = figures {
            self.metrics.add(&figures);
        }
    }

    /// Lists a match that was played before the server started.
    pub(super) fn add_earlier(&self, EarlierMatch { mut report, seats, unsealed }: EarlierMatch) {
        let is_hidden = self.game.hidden || self.game.chance;
        self.has_changed.store(true, Ordering::Relaxed);
        let mut state = self.state();
        state.count += 1;
        state.tally(&report, &seats);
        let withheld = Withheld { faults: faults_of(&report), figures: None };
        let file = report.record.take();
        let mut entry = entries::ended(&report, &seats, Some(state.count));
        let Some(Unsealed { deal, record, reveal, .. }) = unsealed else {
            if file.is_none() {
                entry.board = BoardAccess::None;
            }
            let record = file.map_or(RecordLocation::Nowhere, RecordLocation::File);
            self.disclose(&mut state, withheld);
            return state.push(EndedEntry { entry, unsealed: None, record, last: 1 });
        };
        let (shown, record) = match is_hidden {
            true => {
                state.withheld.entry(deal.clone()).or_default().push(withheld);
                (entry.clone().withheld(), RecordLocation::Nowhere)
            }
            false => {
                self.disclose(&mut state, withheld);
                (entry.clone(), state.keep(record, reveal))
            }
        };
        state.push(EndedEntry {
            entry: shown,
            unsealed: Some(UnsealedEntry { deal, entry, file }),
            record,
            last: 1,
        });
    }

    /// What a match offers; `None` if it is not known.
    pub(super) fn access(&self, id: &str) -> Option<MatchAccess> {
        let state = self.state();
        if let Some(running) = state.running.get(id) {
            return Some(match &running.board {
                Some(board) => MatchAccess::Board(board.clone()),
                None => MatchAccess::Nothing(running.entry().board),
            });
        }
        let Some(ended) = state.find(id) else {
            drop(state);
            return self.earlier(id);
        };
        Some(match ended.entry.board {
            BoardAccess::Replay => MatchAccess::Replay(EndedBoard {
                record: SealedRecord(ended.record.clone()),
                last: ended.last,
                result: ended.entry.result.as_ref().map(|result| result.text.clone()).unwrap_or_default(),
            }),
            other => MatchAccess::Nothing(other),
        })
    }

    /// The replay of a match of an earlier run of the same ladder.
    fn earlier(&self, id: &str) -> Option<MatchAccess> {
        let EarlierMatch { report, seats, .. } = self.ladder()?.earlier(id)?;
        let entry = entries::ended(&report, &seats, None);
        let record = SealedRecord(report.record.map_or(RecordLocation::Nowhere, RecordLocation::File));
        let result = entry.result.map(|result| result.text).unwrap_or_default();
        Some(MatchAccess::Replay(EndedBoard { record, last: 1, result }))
    }

    /// A match in lists.
    pub(super) fn entry(&self, id: &str) -> Option<MatchEntry> {
        let state = self.state();
        let ended = || Some(state.find(id)?.entry.clone());
        let found = state.running.get(id).map(LiveEntry::entry).or_else(ended);
        drop(state);
        found.or_else(|| {
            let EarlierMatch { report, seats, .. } = self.ladder()?.earlier(id)?;
            Some(entries::ended(&report, &seats, None))
        })
    }

    /// The matches in progress.
    pub(super) fn running(&self) -> Vec<MatchEntry> {
        self.state().running.values().map(LiveEntry::entry).collect()
    }

    /// So many ended matches with smaller numbers than this, the newest first.
    pub(super) fn ended(&self, before: u64, limit: usize) -> Vec<MatchEntry> {
        let state = self.state();
        let older =
            state.ended.iter().rev().filter(|ended| ended.entry.number.is_some_and(|own| own < before));
        older.take(limit).map(|ended| ended.entry.clone()).collect()
    }

    pub(super) fn standings(&self) -> Vec<StandingsRow> {
        self.state().standings()
    }

    /// The bots as JSON.
    pub(super) fn bots(&self) -> String {
        let state = self.state();
        json::text(&serde_json::json!({ "bots": state.bots.values().collect::<Vec<_>>() }))
    }

    pub(super) fn metrics_text(&self) -> String {
        let text = self.metrics.text(self.state().running.len());
        text + &self.ladder().map(|ladder| ladder.health().metrics()).unwrap_or_default()
    }

    /// The whole run as JSON, with its version.
    pub(super) fn overview(&self) -> (u64, Bytes) {
        let version = self.version.load(Ordering::Relaxed);
        let mut state = self.state();
        if state.overview.0 != version {
            let standings = state.standings();
            let running: Vec<MatchEntry> =
                state.running.values().take(OVERVIEW).map(LiveEntry::entry).collect();
            let ended: Vec<&MatchEntry> =
                state.ended.iter().rev().take(OVERVIEW).map(|ended| &ended.entry).collect();
            let (running_count, ended_count) = (state.running.len(), state.count);
            let overview = serde_json::json!({
                "referee": referee_match::SERVER,
                "run": self.run,
                "game": { "id": self.game.id, "title": self.game.title },
                "delay": self.delay,
                "running": running,
                "running_count": running_count,
                "ended": ended,
                "ended_count": ended_count,
                "standings": standings,
                "ladder": self.ladder.get().map(|ladder| ladder.ladder().name),
            });
            state.overview = (version, json::text(&overview).into());
        }
        state.overview.clone()
    }
}

impl RunState {
    fn push(&mut self, ended: EndedEntry) {
        self.numbers.insert(ended.entry.id.clone(), self.count);
        self.ended.push_back(ended);
        self.trim();
    }

    /// A match that has ended.
    fn find(&self, id: &str) -> Option<&EndedEntry> {
        let number = *self.numbers.get(id)?;
        let oldest = self.count + 1 - self.ended.len() as u64;
        self.ended.get(usize::try_from(number.checked_sub(oldest)?).ok()?)
    }

    fn bot(&mut self, name: &str) -> &mut BotEntry {
        self.bots.entry(name.to_owned()).or_insert_with(|| BotEntry::new(name))
    }

    /// Keeps a record in memory.
    fn keep(&mut self, mut record: Vec<u8>, reveal: Reveal) -> RecordLocation {
        record::seal(&mut record, reveal);
        self.kept += record.len();
        RecordLocation::Memory(Arc::new(record))
    }

    /// Shows everything of the matches of a deal that is complete.
    fn complete(&mut self, deal: &str) {
        for ended in &mut self.ended {
            let Some(UnsealedEntry { entry, file, .. }) = ended.unsealed.take_if(|own| own.deal == deal)
            else {
                continue;
            };
            ended.entry = entry;
            if let Some(path) = file
                && let RecordLocation::Memory(record) =
                    mem::replace(&mut ended.record, RecordLocation::File(path))
            {
                self.kept -= record.len();
            }
        }
    }

    fn tally(&mut self, report: &MatchReport, seats: &[(String, u8)]) {
        let side = |seat: usize| seats.get(seat).map_or(seat, |(_, team)| usize::from(*team));
        for (seat, name) in report.seats.iter().enumerate() {
            let bot = self.bot(name);
            bot.playing.retain(|id| *id != report.id);
            if report.seats[..seat].contains(name) {
                // It has several seats of one side.
                continue;
            }
            let (Some(ranks), Some(scores)) = (&report.ranks, &report.scores) else { continue };
            bot.matches += 1;
            bot.score += scores[seat];
            let is_shared = (0..ranks.len()).any(|other| ranks[other] == 1 && side(other) != side(seat));
            match (ranks[seat], is_shared) {
                (1, false) => bot.wins += 1,
                (1, true) => bot.draws += 1,
                _ => bot.losses += 1,
            }
        }
    }

    fn standings(&mut self) -> Vec<StandingsRow> {
        if let Some(standings) = &mut self.standings {
            return standings();
        }
        let mut bots: Vec<&BotEntry> = self.bots.values().collect();
        bots.sort_by(|one, other| other.mean().total_cmp(&one.mean()));
        let standing = |bot: &&BotEntry| StandingsRow {
            place: Some(1 + bots.iter().filter(|other| other.mean() > bot.mean()).count()),
            name: bot.name.clone(),
            matches: bot.matches,
            wins: bot.wins,
            draws: bot.draws,
            losses: bot.losses,
            points: bot.score,
            rating: None,
            online: None,
            state: None,
            is_provisional: None,
        };
        bots.iter().map(standing).collect()
    }

    /// Drops the oldest matches and records beyond the limits.
    fn trim(&mut self) {
        while self.ended.len() > MOST_ENDED
            && let Some(EndedEntry { entry, record, .. }) = self.ended.pop_front()
        {
            // Another attempt at it may have ended since.
            if self.numbers.get(&entry.id).copied() == entry.number {
                self.numbers.remove(&entry.id);
            }
            if let RecordLocation::Memory(record) = record {
                self.kept -= record.len();
            }
        }
        let mut kept = self.kept;
        for ended in &mut self.ended {
            if kept <= MOST_KEPT {
                break;
            }
            if let RecordLocation::Memory(record) = &ended.record {
                kept -= record.len();
                ended.record = RecordLocation::Nowhere;
                ended.entry.board = BoardAccess::None;
                if let Some(unsealed) = &mut ended.unsealed {
                    unsealed.entry.board =
                        if unsealed.file.is_some() { BoardAccess::Replay } else { BoardAccess::None };
                }
            }
        }
        self.kept = kept;
    }
}

/// The faults in a match, by bot.
fn faults_of(report: &MatchReport) -> Vec<(String, Faults)> {
    report.seats.iter().cloned().zip(report.faults.iter().cloned()).collect()
}

/// The number of events that are handled between two turns of the requests.
const EVENTS_AT_ONCE: usize = 4;

/// Receives the events of the run until it is over. Requests are served in between: a run whose events take all of the time
/// of this thread must not lock spectators out.
pub(super) async fn receive(hub: Arc<Hub>, mut events: LiveReceiver) {
    while let Some(events) = events.next().await {
        let events = prepared(events).await;
        for (at, event) in events.into_iter().enumerate() {
            hub.handle(event);
            if at % EVENTS_AT_ONCE == EVENTS_AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
        }
        tokio::task::yield_now().await;
    }
}

/// Lets the programs of games draw the positions, each on a thread that may wait for it. They keep what they have drawn.
async fn prepared(events: Vec<LiveEvent>) -> Vec<LiveEvent> {
    let waits = |event: &LiveEvent| matches!(event, LiveEvent::Moved(_, Some(step)) if step.table.waits());
    let mut prepared = Vec::with_capacity(events.len());
    for event in events {
        prepared.push(match waits(&event) {
            false => Ok(event),
            true => Err(tokio::task::spawn_blocking(move || {
                if let LiveEvent::Moved(_, Some(step)) = &event {
                    step.table.scene(Viewer::Public);
                }
                event
            })),
        });
    }
    let mut events = Vec::with_capacity(prepared.len());
    for event in prepared {
        match event {
            Ok(event) => events.push(event),
            Err(waiting) => events.extend(waiting.await),
        }
    }
    events
}

/// Publishes new versions of the overview.
pub(super) async fn publish(hub: Arc<Hub>) {
    let mut apart = ANSWER_APART;
    loop {
        tokio::time::sleep(apart).await;
        if hub.has_changed.swap(false, Ordering::Relaxed) {
            hub.version.fetch_add(1, Ordering::Relaxed);
            let began = tokio::time::Instant::now();
            hub.overview();
            apart = ANSWER_APART.max(9 * began.elapsed());
            hub.changed.send_replace(());
        }
    }
}
