//! The state of the run as spectators see it.

mod access;
mod ended;
mod overview;
mod receive;
mod results;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use axum::body::Bytes;
pub(crate) use ended::MOST_ENDED;
use ended::{EndedEntry, OpenDeal, RecordLocation};
use referee_report::ReportedTable;
use referee_report::story::{LeadChange, Story};
use referee_report::tournament::BracketRound;
use results::Met;
use tokio::sync::watch;

use crate::StandingsSource;
use crate::answers::{RecentAnswers, RecentReplays};
use crate::board::{BoardDelays, LiveBoard};
use crate::entries::{
    self, BoardAccess, BotEntry, EntrantNames, MatchEntry, NamesAndRulings, NextEntry, StandingsRow,
    StandingsView, seat_entries,
};
use crate::ladder::LadderPages;
use crate::metrics::{MatchFigures, Metrics};
use crate::notices::RecentNotices;
use crate::previews::RecentPreviews;
use crate::serve::{Closes, Connections, TrustedProxies};
use crate::stage::{EarlierMatch, Stage};
use crate::visitors::VisitorRoom;
use referee_engine::runner::{
    EndedMatch, LiveEvent, LiveHeader, LiveStep, Unsealed, Visibility, deal_leaks_information,
};
use referee_game::Meta;
use referee_game::seat::Viewer;
use referee_game::{Catalog, SettingNames, json};
use referee_match::record::PublishedInfo;
use referee_match::{Faults, InfoTotals};
use referee_results::FinishedMatch;
use referee_stats::SideResult;
use referee_store::{StoreError, utc};

pub(super) use access::{EndedBoard, MatchAccess, SealedRecord};
pub(super) use overview::publish;
pub(super) use receive::receive;

/// The number of matches, at most, that end while standings are hidden and are kept until the database has
/// them.
const UNSEEN: usize = 256;

#[derive(Debug)]
struct LiveEntry {
    header: Arc<LiveHeader>,
    board: Option<Arc<Mutex<LiveBoard>>>,
}

impl LiveEntry {
    /// Adds a position to the board.
    fn show(&mut self, step: &LiveStep, delays: BoardDelays) {
        match &self.board {
            Some(board) => board.lock().unwrap_or_else(PoisonError::into_inner).add(step),
            None => {
                let board = LiveBoard::new(self.header.clone(), Viewer::Public, delays, step);
                self.board = Some(Arc::new(Mutex::new(board)));
            }
        }
    }

    fn entry(&self, about: &NamesAndRulings) -> MatchEntry {
        let LiveHeader { id, seats, began_at, visibility, .. } = &*self.header;
        let board = self.board.as_ref().map(|board| board.lock().unwrap_or_else(PoisonError::into_inner));
        MatchEntry {
            id: id.clone(),
            began_at: Some(utc(*began_at)),
            number: None,
            seats: seat_entries(seats, about),
            board: match visibility {
                Visibility::Live => BoardAccess::Live,
                Visibility::Held => BoardAccess::Held,
                Visibility::Crowded => BoardAccess::None,
            },
            moves: board.map(|board| board.moves()),
            result: None,
            faults: None,
            ruling: None,
        }
    }
}

/// An ended match that is not shown until its deal is complete.
#[derive(Debug)]
struct Withheld {
    reported: Vec<ReportedSeat>,
    /// `None` for a match of an earlier part of the run.
    figures: Option<MatchFigures>,
}

/// Counts of the bot in a seat: its name, its faults, and the sums of what it reported in `info`.
type ReportedSeat = (String, Faults, InfoTotals);

struct RunState {
    /// Whether the totals of `info` are public.
    has_totals: bool,
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
    /// The standings at the last look.
    compared: StandingsView,
    /// The name of the run; that of the game without one.
    name: Option<String>,
    /// The names and display names of entrants, and rulings.
    about: NamesAndRulings,
    /// The latest results by bot or entrant, the newest first.
    recent: BTreeMap<String, VecDeque<SideResult>>,
    /// On a ladder: the results of players against each other.
    met: HashMap<String, HashMap<String, Met>>,
    /// On a ladder: the matches that ended last, the oldest first, to be counted again when a season begins.
    latest: VecDeque<FinishedMatch>,
    /// The number of next matches that may be of a season that has ended, although their ends are noted after it.
    late: usize,
    /// On a ladder: the players in the order of a week ago.
    order_a_week_ago: Vec<String>,
    /// The leader when the overview was computed last.
    leader: Option<String>,
    last_change_of_lead: Option<LeadChange>,
    /// The standings of the overview.
    rows: Vec<StandingsRow>,
    /// Reports of the first bots in `info`.
    reported: Vec<ReportedTable>,
    /// The next matches, as in the overview.
    next: Vec<NextEntry>,
    story: Story,
    bracket: Option<Vec<BracketRound>>,
    /// Whether events are hidden, because the standings of the ladder are.
    is_hidden: bool,
    /// The last matches that have ended meanwhile: the database may lack them when the others are read again.
    unseen: VecDeque<EndedMatch>,
    /// The overview of a version.
    overview: (u64, Bytes),
}

/// The state of the run as spectators see it.
pub(super) struct Hub {
    /// Identifies the run in the ids of events.
    run: String,
    names: SettingNames,
    pub(super) game: &'static Meta,
    pub(super) catalog: Catalog,
    delays: BoardDelays,
    /// Whether and when the `info` of bots is public.
    info: PublishedInfo,
    state: Mutex<RunState>,
    /// The version of the overview.
    version: AtomicU64,
    /// Whether the overview is out of date.
    has_changed: AtomicBool,
    changed: watch::Sender<()>,
    pub(super) metrics: Metrics,
    pub(super) answers: RecentAnswers,
    pub(super) replays: RecentReplays,
    pub(super) previews: RecentPreviews,
    pub(super) notices: RecentNotices,
    /// Holds matches back before anything here knows of them.
    stage: Option<Arc<Stage>>,
    /// The ladder of a league, if the run is one.
    ladder: OnceLock<Arc<LadderPages>>,
    /// Becomes true when the server closes.
    closes: watch::Sender<bool>,
}

impl Hub {
    pub(super) fn new(
        run: u32,
        game: &'static Meta,
        catalog: Catalog,
        delays: BoardDelays,
        info: PublishedInfo,
        stage: Option<Arc<Stage>>,
        names: SettingNames,
    ) -> Hub {
        let state = RunState {
            has_totals: info != PublishedInfo::Never,
            running: BTreeMap::new(),
            ended: VecDeque::new(),
            numbers: BTreeMap::new(),
            withheld: BTreeMap::new(),
            count: 0,
            kept: 0,
            bots: BTreeMap::new(),
            standings: None,
            compared: StandingsView::default(),
            name: None,
            about: NamesAndRulings::default(),
            recent: BTreeMap::new(),
            met: HashMap::new(),
            latest: VecDeque::new(),
            late: 0,
            order_a_week_ago: Vec::new(),
            leader: None,
            last_change_of_lead: None,
            rows: Vec::new(),
            reported: Vec::new(),
            next: Vec::new(),
            story: Story::default(),
            bracket: None,
            is_hidden: false,
            unseen: VecDeque::new(),
            overview: (u64::MAX, Bytes::new()),
        };
        Hub {
            run: format!("{run:08x}"),
            names,
            game,
            catalog,
            delays,
            info,
            state: Mutex::new(state),
            version: AtomicU64::new(0),
            has_changed: AtomicBool::new(false),
            changed: watch::Sender::new(()),
            metrics: Metrics::default(),
            answers: RecentAnswers::default(),
            replays: RecentReplays::default(),
            previews: RecentPreviews::default(),
            notices: RecentNotices::default(),
            stage,
            ladder: OnceLock::new(),
            closes: watch::Sender::new(false),
        }
    }

    /// The name of a setting where the organiser gives it.
    pub(super) fn named(&self, setting: &str) -> String {
        (self.names)(setting, None)
    }

    fn state(&self) -> MutexGuard<'_, RunState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_hidden && self.ladder().is_some_and(|ladder| ladder.hidden_since().is_some()) {
            state.hide();
        }
        state
    }

    /// Shows the events from the time when the standings of the ladder were hidden. Blocks.
    fn show_again(&self, ladder: &LadderPages) -> Result<(), StoreError> {
        self.forget_matches();
        ladder.for_each_of_season(|finished, is_listed| match is_listed {
            true => self.show_earlier(EarlierMatch { finished, began_at: None, unsealed: None }),
            false => self.count_earlier(&finished),
        })?;
        let unseen = {
            let mut state = self.state();
            state.is_hidden = false;
            mem::take(&mut state.unseen)
        };
        for end in unseen {
            if self.state().find(&end.finished.id).is_none() {
                self.end(end);
            }
        }
        Ok(())
    }

    /// The run in the ids of events.
    pub(super) fn run(&self) -> &str {
        &self.run
    }

    pub(super) fn stage(&self) -> Option<&Arc<Stage>> {
        self.stage.as_ref()
    }

    pub(super) fn closes(&self) -> Closes {
        self.closes.subscribe()
    }

    /// Resources that spectators' connections share.
    pub(super) fn connections(&self, proxies: TrustedProxies) -> Connections {
        let Metrics { connections, refused, .. } = &self.metrics;
        Connections { closes: self.closes(), open: connections.clone(), refused: refused.clone(), proxies }
    }

    /// Ends the streams and the connections.
    pub(super) fn close(&self) {
        self.closes.send_replace(true);
    }

    /// Returns a channel that changes with the overview.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(super) fn set_standings(&self, mut standings: StandingsSource) {
        let mut state = self.state();
        // Matches that are added next have these names.
        let view = standings();
        if state.about.replace(&view) {
            state.tell_again(self.game);
            self.replays.clear();
        }
        // The season of the matches that are listed.
        state.compared.season = view.season;
        state.standings = Some(standings);
        self.has_changed.store(true, Ordering::Relaxed);
    }

    pub(super) fn name(&self) -> String {
        self.state().name.clone().unwrap_or_else(|| self.game.title.to_owned())
    }

    /// The display name for a name.
    pub(super) fn shown(&self, name: &str) -> String {
        self.state().about.shown(name).to_owned()
    }

    pub(super) fn set_name(&self, name: String) {
        self.state().name = Some(name);
        self.has_changed.store(true, Ordering::Relaxed);
    }

    /// Names the entrants to which bots belong.
    pub(super) fn set_entrants(&self, names: EntrantNames) {
        self.state().about.entrants = names;
    }

    /// Notes the order of the players of the ladder a week ago.
    fn set_order_a_week_ago(&self, order: Vec<String>) {
        self.state().order_a_week_ago = order;
        self.has_changed.store(true, Ordering::Relaxed);
    }

    /// Shows a ladder. Only the first call has an effect.
    pub(super) fn set_ladder(&self, ladder: Arc<LadderPages>) {
        self.ladder.get_or_init(|| ladder);
    }

    pub(super) fn ladder(&self) -> Option<&Arc<LadderPages>> {
        self.ladder.get()
    }

    /// The ladder whose programs visitors play, if they do.
    pub(super) fn visitors(&self) -> Option<(&Arc<LadderPages>, &Arc<VisitorRoom>)> {
        let ladder = self.ladder()?;
        Some((ladder, ladder.visitors.as_ref()?))
    }

    pub(super) fn handle(&self, event: LiveEvent) {
        let mut state = self.state();
        if state.is_hidden {
            if let LiveEvent::Ended(end) = event {
                state.unseen.push_back(*end);
                let more = state.unseen.len().saturating_sub(UNSEEN);
                state.unseen.drain(..more);
            }
            return;
        }
        drop(state);
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
                    running.show(&step, self.delays);
                }
            }
            LiveEvent::Ended(end) => self.end(*end),
        }
        self.has_changed.store(true, Ordering::Relaxed);
    }

    fn end(&self, mut end: EndedMatch) {
        // The database had it already when standings that were hidden were shown.
        if self.ladder().is_some() && self.state().find(&end.finished.id).is_some() {
            return;
        }
        self.metrics.count(&end.finished);
        let figures = MatchFigures::of(&end);
        let mut state = self.state();
        let running = state.running.remove(&end.finished.id);
        state.late = state.late.saturating_sub(1);
        if state.late > 0 && self.ladder().is_some_and(|of| of.is_of_ended_season(&end.finished.id)) {
            return state.end_unlisted(&end, running, self.game);
        }
        state.count += 1;
        state.tally(&end.finished);
        if self.ladder().is_some() {
            state.note_meeting(&end.finished);
            state.note_latest(&end.finished);
        }
        let (completes, is_held) = (end.completes_its_deal(), end.fixture.is_held(self.game));
        let deal = end.fixture.deal.take();
        let withheld = Withheld { reported: reported_in(&end.finished), figures: Some(figures) };
        let file = end.finished.record.take();
        let mut entry = entries::ended(&end.finished, Some(state.count), self.game, &state.about);
        entry.began_at = running.as_ref().map(|running| utc(running.header.began_at));
        let result = entry.result.as_ref().map(|result| result.text.clone()).unwrap_or_default();
        // Until the deal is complete, there is no file yet.
        let record = match (&file, end.record.is_empty()) {
            (Some(path), _) if completes || deal.is_none() || is_held => RecordLocation::File(path.clone()),
            (_, false) => state.keep(end.record, end.reveal),
            (_, true) => RecordLocation::Nowhere,
        };
        let mut last = 1;
        if let Some(board) = running.and_then(|running| running.board) {
            let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
            board.conclude(&result);
            last = board.last();
        }
        let open_deal = deal.clone().filter(|_| !completes).map(|deal| OpenDeal { deal, is_held, file });
        self.disclose_or_withhold(&mut state, open_deal.as_ref(), withheld);
        state.push(EndedEntry { entry, open_deal, record, last });
        if completes && let Some(deal) = deal {
            self.disclose_deal(&mut state, &deal);
        }
    }

    /// Drops all matches that have ended, with their results.
    pub(super) fn forget_matches(&self) {
        self.has_changed.store(true, Ordering::Relaxed);
        self.state().forget_matches(|_| false);
        self.replays.clear();
    }

    /// Shows everything of the matches of a deal that is complete.
    pub(super) fn complete_deal(&self, deal: &str) {
        self.has_changed.store(true, Ordering::Relaxed);
        self.disclose_deal(&mut self.state(), deal);
    }

    fn disclose_deal(&self, state: &mut RunState, deal: &str) {
        for withheld in state.withheld.remove(deal).into_iter().flatten() {
            self.disclose(state, withheld);
        }
        state.complete(deal);
    }

    /// Counts the events of a match, at once or when its deal is complete.
    fn disclose_or_withhold(&self, state: &mut RunState, deal: Option<&OpenDeal>, withheld: Withheld) {
        match deal {
            Some(OpenDeal { deal, is_held: true, .. }) => {
                state.withheld.entry(deal.clone()).or_default().push(withheld);
            }
            _ => self.disclose(state, withheld),
        }
    }

    /// Counts the events of a match.
    fn disclose(&self, state: &mut RunState, Withheld { reported, figures }: Withheld) {
        state.note_reported(reported);
        if let Some(figures) = figures {
            self.metrics.add(&figures);
        }
    }

    /// Counts a match that was played before the server started, without listing it.
    pub(super) fn count_earlier(&self, finished: &FinishedMatch) {
        let mut state = self.state();
        state.count += 1;
        state.tally(finished);
        if self.ladder().is_some() {
            state.note_meeting(finished);
        }
        self.disclose(&mut state, Withheld { reported: reported_in(finished), figures: None });
    }

    /// Lists a match that was played before the server started.
    pub(super) fn add_earlier(&self, earlier: EarlierMatch) {
        match &self.stage {
            None => self.show_earlier(earlier),
            Some(stage) => stage.hold_earlier(earlier, tokio::time::Instant::now()),
        }
    }

    fn show_earlier(&self, earlier: EarlierMatch) {
        let EarlierMatch { mut finished, began_at, unsealed } = earlier;
        self.has_changed.store(true, Ordering::Relaxed);
        let mut state = self.state();
        state.count += 1;
        state.tally(&finished);
        if self.ladder().is_some() {
            state.note_meeting(&finished);
        }
        let withheld = Withheld { reported: reported_in(&finished), figures: None };
        let file = finished.record.take();
        let mut entry = entries::ended(&finished, Some(state.count), self.game, &state.about);
        entry.began_at = began_at.map(utc);
        let is_held = deal_leaks_information(self.game);
        let (record, open_deal) = match unsealed {
            None => (file.map_or(RecordLocation::Nowhere, RecordLocation::File), None),
            Some(Unsealed { deal, record, reveal, .. }) => {
                let record = if is_held { RecordLocation::Nowhere } else { state.keep(record, reveal) };
                (record, Some(OpenDeal { deal, is_held, file }))
            }
        };
        self.disclose_or_withhold(&mut state, open_deal.as_ref(), withheld);
        state.push(EndedEntry { entry, open_deal, record, last: 1 });
    }

    pub(super) fn entry(&self, id: &str) -> Option<MatchEntry> {
        let state = self.state();
        let ended = || Some(state.find(id)?.shown());
        let found = state.running.get(id).map(|running| running.entry(&state.about)).or_else(ended);
        drop(state);
        found.or_else(|| {
            let finished = self.ladder()?.earlier(id)?;
            Some(entries::ended(&finished, None, self.game, &self.state().about))
        })
    }

    pub(super) fn running(&self) -> Vec<MatchEntry> {
        let state = self.state();
        state.running.values().map(|running| running.entry(&state.about)).collect()
    }

    /// Returns at most `limit` ended matches with smaller numbers than this, the newest first.
    pub(super) fn ended(&self, before: u64, limit: usize) -> Vec<MatchEntry> {
        let state = self.state();
        let older =
            state.ended.iter().rev().filter(|ended| ended.entry.number.is_some_and(|own| own < before));
        older.take(limit).map(EndedEntry::shown).collect()
    }

    /// Writes the bots as JSON.
    pub(super) fn bots(&self) -> String {
        let state = self.state();
        if state.is_hidden {
            return json::text(&serde_json::json!({ "bots": [] }));
        }
        let shown =
            |bot: &BotEntry| BotEntry { display_name: state.about.display_name(&bot.name), ..bot.clone() };
        json::text(&serde_json::json!({ "bots": state.bots.values().map(shown).collect::<Vec<_>>() }))
    }

    /// The rulings as JSON, the newest first.
    pub(super) fn rulings(&self) -> String {
        let rulings: Vec<_> = self.state().about.public().collect();
        json::text(&serde_json::json!({ "rulings": rulings }))
    }

    pub(super) fn metrics_text(&self) -> String {
        let text = self.metrics.text(self.state().running.len());
        text + &self.ladder().map(|ladder| ladder.metrics()).unwrap_or_default()
    }
}

/// Counts of each seat of a match.
fn reported_in(finished: &FinishedMatch) -> Vec<ReportedSeat> {
    let totals = |seat: usize| finished.totals.get(seat).copied().unwrap_or_default();
    let seats = finished.seats.iter().zip(&finished.faults).enumerate();
    seats.map(|(seat, (name, &faults))| (name.clone(), faults, totals(seat))).collect()
}
