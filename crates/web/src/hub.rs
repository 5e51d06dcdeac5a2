//! The state of the run as spectators see it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use std::{io, mem};

use axum::body::Bytes;
use referee_protocol::referee::Reveal;
use referee_report::story::{LeadChange, Story};
use tokio::sync::watch;

use crate::answers::{ANSWER_APART, RecentAnswers, RecentReplays};
use crate::board::LiveBoard;
use crate::entries::{
    self, BoardAccess, BotEntry, EntrantNames, MatchEntry, RecentResults, StandingsRow, StandingsView,
    seat_entries,
};
use crate::ladder::{LadderPast, LadderView, Opponent};
use crate::metrics::{MatchFigures, Metrics};
use crate::story::told;
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

/// The number of latest results that are counted.
const RECENT: usize = 50;
/// The number of latest results that are shown.
const FORM: usize = 5;
/// The number of matches that are announced.
const NEXT: usize = 5;
/// How long what the storage of a ladder knows is kept.
const PAST: Duration = Duration::from_secs(10);
/// How often the standings of a ladder are compared with those that were published.
const COMPARED_APART: Duration = Duration::from_millis(500);

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

    fn entry(&self, names: &EntrantNames) -> MatchEntry {
        let LiveHeader { id, seats, visibility, .. } = &*self.header;
        let board = self.board.as_ref().map(|board| board.lock().unwrap_or_else(PoisonError::into_inner));
        MatchEntry {
            id: id.clone(),
            number: None,
            seats: seat_entries(seats, names),
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

/// The results of a player against another one.
#[derive(Debug, Default)]
struct Met {
    wins: u32,
    draws: u32,
    losses: u32,
    last: String,
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
    /// The rows that it gave at the last look, as JSON.
    compared: String,
    /// The name of the run; that of the game without one.
    name: Option<String>,
    /// The entrants of bots that have other names.
    entrants: EntrantNames,
    /// The latest results by bot or entrant, the newest first: `W`, `D` and `L`.
    recent: BTreeMap<String, VecDeque<char>>,
    /// On a ladder: the results of players against each other.
    met: BTreeMap<String, BTreeMap<String, Met>>,
    /// What only the storage of a ladder knows.
    past: LadderPast,
    /// Who led when the overview was computed last.
    leader: Option<String>,
    last_change_of_lead: Option<LeadChange>,
    /// The standings of the overview.
    shown: StandingsView,
    story: Story,
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
            compared: String::new(),
            name: None,
            entrants: EntrantNames::new(),
            recent: BTreeMap::new(),
            met: BTreeMap::new(),
            past: LadderPast::default(),
            leader: None,
            last_change_of_lead: None,
            shown: StandingsView::default(),
            story: Story::default(),
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
        self.has_changed.store(true, Ordering::Relaxed);
    }

    /// Notes whether the standings have changed without a match: by a ruling, a pause or another rating.
    fn compare_standings(&self) {
        let mut state = self.state();
        if json::text(&state.standings().rows) != state.compared {
            self.has_changed.store(true, Ordering::Relaxed);
        }
    }

    /// Names the run.
    pub(super) fn set_name(&self, name: String) {
        self.state().name = Some(name);
        self.has_changed.store(true, Ordering::Relaxed);
    }

    /// Names the entrants to which bots belong.
    pub(super) fn set_entrants(&self, names: EntrantNames) {
        self.state().entrants = names;
    }

    /// Notes what the storage of the ladder knows.
    fn set_past(&self, past: LadderPast) {
        self.state().past = past;
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
        if self.ladder().is_some() {
            state.note_meeting(&end.report, &end.seats);
        }
        let completes = end.completes_its_deal();
        let deal = end.fixture.deal.take();
        let withheld = Withheld { faults: faults_of(&end.report), figures: Some(figures) };
        let file = end.report.record.take();
        let mut entry =
            entries::ended(&end.report, &end.seats, Some(state.count), (self.game, &state.entrants));
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
        if self.ladder().is_some() {
            state.note_meeting(&report, &seats);
        }
        let withheld = Withheld { faults: faults_of(&report), figures: None };
        let file = report.record.take();
        let mut entry = entries::ended(&report, &seats, Some(state.count), (self.game, &state.entrants));
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
                None => MatchAccess::Nothing(running.entry(&state.entrants).board),
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
        let entry = entries::ended(&report, &seats, None, (self.game, &EntrantNames::new()));
        let record = SealedRecord(report.record.map_or(RecordLocation::Nowhere, RecordLocation::File));
        let result = entry.result.map(|result| result.text).unwrap_or_default();
        Some(MatchAccess::Replay(EndedBoard { record, last: 1, result }))
    }

    /// A match in lists.
    pub(super) fn entry(&self, id: &str) -> Option<MatchEntry> {
        let state = self.state();
        let ended = || Some(state.find(id)?.entry.clone());
        let found = state.running.get(id).map(|running| running.entry(&state.entrants)).or_else(ended);
        drop(state);
        found.or_else(|| {
            let EarlierMatch { report, seats, .. } = self.ladder()?.earlier(id)?;
            Some(entries::ended(&report, &seats, None, (self.game, &EntrantNames::new())))
        })
    }

    /// The matches in progress.
    pub(super) fn running(&self) -> Vec<MatchEntry> {
        let state = self.state();
        state.running.values().map(|running| running.entry(&state.entrants)).collect()
    }

    /// So many ended matches with smaller numbers than this, the newest first.
    pub(super) fn ended(&self, before: u64, limit: usize) -> Vec<MatchEntry> {
        let state = self.state();
        let older =
            state.ended.iter().rev().filter(|ended| ended.entry.number.is_some_and(|own| own < before));
        older.take(limit).map(|ended| ended.entry.clone()).collect()
    }

    /// The rows of the standings of the overview whose names contain a text, from this one on, and how many there are.
    pub(super) fn standings(&self, search: &str, offset: usize, limit: usize) -> (Vec<StandingsRow>, usize) {
        self.overview();
        let (state, search) = (self.state(), search.to_lowercase());
        let found = state.shown.rows.iter().filter(|row| row.name.to_lowercase().contains(&search));
        let count = found.clone().count();
        (found.skip(offset).take(limit).cloned().collect(), count)
    }

    /// The results of a player of a ladder against others, the most frequent opponent first.
    pub(super) fn opponents(&self, name: &str) -> Vec<Opponent> {
        self.overview();
        let state = self.state();
        let rating = |name: &str| {
            let row = state.shown.rows.iter().find(|row| row.name == name)?;
            Some(row.rating?.value)
        };
        let own = rating(name);
        let met = state.met.get(name).into_iter().flatten().map(|(other, met)| {
            let Met { wins, draws, losses, last } = met;
            let matches = wins + draws + losses;
            let points = f64::from(*wins) + f64::from(*draws) / 2.0;
            // Players that the standings do not show any more have no rating here.
            let expected = own.zip(rating(other)).map_or(points, |(own, other)| {
                f64::from(matches) / (1.0 + 10.0_f64.powf((other - own) / 400.0))
            });
            let (name, last_match) = (other.clone(), last.clone());
            Opponent {
                name,
                matches,
                wins: *wins,
                draws: *draws,
                losses: *losses,
                points,
                expected,
                last_match,
            }
        });
        let mut opponents: Vec<Opponent> = met.collect();
        opponents
            .sort_by(|one, other| other.matches.cmp(&one.matches).then_with(|| one.name.cmp(&other.name)));
        opponents
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
            state.look_at_standings(self.game.title);
            let RunState { shown, story, entrants, name, .. } = &*state;
            let running: Vec<MatchEntry> =
                state.running.values().take(OVERVIEW).map(|running| running.entry(entrants)).collect();
            let ended: Vec<&MatchEntry> =
                state.ended.iter().rev().take(OVERVIEW).map(|ended| &ended.entry).collect();
            let (running_count, ended_count) = (state.running.len(), state.count);
            let overview = serde_json::json!({
                "referee": referee_match::SERVER,
                "run": self.run,
                "name": name.as_deref().unwrap_or(self.game.title),
                "game": { "id": self.game.id, "title": self.game.title },
                "story": story,
                "delay": self.delay,
                "running": running,
                "running_count": running_count,
                "ended": ended,
                "ended_count": ended_count,
                "standings": &shown.rows[..shown.rows.len().min(OVERVIEW)],
                "standings_count": shown.rows.len(),
                "next": shown.next,
                "ladder": self.ladder.get().map(|ladder| ladder.ladder().name),
            });
            let text = json::text(&overview);
            state.overview = (version, text.into());
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

    /// Adds a result to those of players against each other.
    fn note_meeting(&mut self, report: &MatchReport, seats: &[(String, u8)]) {
        let Some(ranks) = &report.ranks else { return };
        let side = |seat: usize| seats.get(seat).map_or(seat, |(_, team)| usize::from(*team));
        let names: Vec<&String> = report.seats.iter().take(ranks.len()).collect();
        for (seat, name) in names.iter().enumerate() {
            for (other, opponent) in names.iter().enumerate().filter(|&(other, _)| side(other) != side(seat))
            {
                let met =
                    self.met.entry((*name).clone()).or_default().entry((*opponent).clone()).or_default();
                if met.last == report.id {
                    continue;
                }
                *(match ranks[seat].cmp(&ranks[other]) {
                    std::cmp::Ordering::Less => &mut met.wins,
                    std::cmp::Ordering::Equal => &mut met.draws,
                    std::cmp::Ordering::Greater => &mut met.losses,
                }) += 1;
                met.last.clone_from(&report.id);
            }
        }
    }

    /// Adds a result to the form of its bots or entrants.
    fn note_form(&mut self, report: &MatchReport, side: &impl Fn(usize) -> usize) {
        let Some(ranks) = &report.ranks else { return };
        let mut noted: Vec<&String> = Vec::new();
        for (seat, bot) in report.seats.iter().enumerate().take(ranks.len()) {
            let name = self.entrants.get(bot).unwrap_or(bot);
            if noted.contains(&name) {
                continue;
            }
            let others =
                || (0..ranks.len()).filter(|&other| side(other) != side(seat)).map(|other| ranks[other]);
            let result =
                match (others().all(|rank| rank > ranks[seat]), others().any(|rank| rank < ranks[seat])) {
                    (true, _) => 'W',
                    (_, true) => 'L',
                    _ => 'D',
                };
            let recent = self.recent.entry(name.clone()).or_default();
            recent.push_front(result);
            recent.truncate(RECENT);
            noted.push(name);
        }
    }

    fn tally(&mut self, report: &MatchReport, seats: &[(String, u8)]) {
        let side = |seat: usize| seats.get(seat).map_or(seat, |(_, team)| usize::from(*team));
        self.note_form(report, &side);
        for (seat, name) in report.seats.iter().enumerate() {
            let bot = self.bot(name);
            bot.playing.retain(|id| *id != report.id);
            if report.seats[..seat].contains(name) {
                // It has several seats of one side.
                continue;
            }
            bot.faulted +=
                u32::from(report.faults.get(seat).is_some_and(|faults| faults.iter().next().is_some()));
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

    /// Computes the standings and the story.
    fn look_at_standings(&mut self, game: &str) {
        let mut view = self.standings();
        self.compared = json::text(&view.rows);
        for row in &mut view.rows {
            let recent = self.recent.get(&row.name).into_iter().flatten();
            row.form = recent.clone().take(FORM).collect();
            row.recent = RecentResults::default();
            for &result in recent {
                row.recent.matches += 1;
                *(match result {
                    'W' => &mut row.recent.wins,
                    'D' => &mut row.recent.draws,
                    _ => &mut row.recent.losses,
                }) += 1;
            }
            row.place_a_week_ago = self.past.places.get(&row.name).copied();
        }
        view.next.extend(self.past.next.iter().cloned());
        view.next.retain(|next| next.id.as_ref().is_none_or(|id| !self.running.contains_key(id)));
        view.next.truncate(NEXT);
        let name = self.name.as_deref().unwrap_or(game);
        let mut story = view.story.take().unwrap_or_else(|| told(name, &view.rows));
        // What the tournament knows is better than what was seen from here.
        if story.last_change_of_lead.is_none() {
            if story.leader.is_some() && self.leader.is_some() && story.leader != self.leader {
                let last = self.ended.back().map(|ended| ended.entry.id.clone());
                self.last_change_of_lead =
                    last.map(|id| LeadChange { r#match: id, from: self.leader.clone() });
            }
            story.last_change_of_lead = self.last_change_of_lead.clone();
            if let Some(LeadChange { r#match, from: Some(from) }) = &self.last_change_of_lead {
                story.say(format!(" It overtook {from} with "));
                story.say_of(r#match, format!("match {}", r#match.trim_start_matches('m')));
                story.say(".");
            }
        }
        self.leader = story.leader.clone().or(self.leader.take());
        (self.shown, self.story) = (view, story);
    }

    fn standings(&mut self) -> StandingsView {
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
            faulted: bot.faulted,
            ..StandingsRow::default()
        };
        StandingsView { rows: bots.iter().map(standing).collect(), ..StandingsView::default() }
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
    let mut looked: Option<tokio::time::Instant> = None;
    let mut compared = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(apart).await;
        if hub.ladder().is_some() && compared.elapsed() > COMPARED_APART {
            compared = tokio::time::Instant::now();
            hub.compare_standings();
        }
        if let Some(ladder) = hub.ladder().filter(|_| looked.is_none_or(|at| at.elapsed() > PAST)).cloned() {
            looked = Some(tokio::time::Instant::now());
            if let Ok(Ok(past)) = tokio::task::spawn_blocking(move || ladder.past()).await {
                hub.set_past(past);
            }
        }
        if hub.has_changed.swap(false, Ordering::Relaxed) {
            hub.version.fetch_add(1, Ordering::Relaxed);
            let began = tokio::time::Instant::now();
            hub.overview();
            apart = ANSWER_APART.max(9 * began.elapsed());
            hub.changed.send_replace(());
        }
    }
}
