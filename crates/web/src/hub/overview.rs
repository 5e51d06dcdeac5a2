//! The overview: the standings, who leads and why, and what is played now and next, computed once for each change.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use referee_engine::runner::EndedMatch;
use referee_game::{Chain, Meta, counted, json};
use referee_league::LeadTaken;
use referee_match::{Faults, InfoTotals};
use referee_report::preview::{Preview, drawn};
use referee_report::reported_tables;
use referee_report::story::{LeadChange, Story};
use referee_stats::{MatchCounts, SideResult, Wdl};

use super::results::MOST_LATEST;
use super::{EndedEntry, Hub, LiveEntry, RecordLocation, RunState, reported_in};
use crate::answers::ANSWER_APART;
use crate::entries::{
    self, BotEntry, MatchEntry, NextEntry, RecentResults, ShownName, StandingsOrder, StandingsRow,
    StandingsView,
};
use crate::story::told;

/// The number of matches of each kind in the overview.
const OVERVIEW: usize = 50;
/// The number of latest results that are shown.
const FORM: usize = 5;
/// The number of rows on the picture of the standings.
const PREVIEWED: usize = 4;
/// The number of matches that are announced.
const NEXT: usize = 5;
/// The number of rulings in the overview.
const RULINGS: usize = 10;
/// The time for which the order of a week ago is kept, which is read from the storage of a ladder.
const WEEK_AGO_KEPT: Duration = Duration::from_secs(600);
/// The interval of comparing the standings of a ladder with the published ones.
const COMPARED_APART: Duration = Duration::from_millis(500);

impl Hub {
    /// The whole run as JSON, with its version.
    pub(crate) fn overview(&self) -> (u64, Bytes) {
        let version = self.version.load(Ordering::Relaxed);
        let mut state = self.state();
        if state.overview.0 != version {
            self.look_at_standings(&mut state);
            let RunState { rows, reported, next, story, bracket, about, name, .. } = &*state;
            let running: Vec<MatchEntry> =
                state.running.values().take(OVERVIEW).map(|running| running.entry(about)).collect();
            let ended: Vec<MatchEntry> =
                state.ended.iter().rev().take(OVERVIEW).map(EndedEntry::shown).collect();
            let (running_count, ended_count) = (state.running.len(), state.count);
            let overview = serde_json::json!({
                "referee": referee_match::SERVER,
                "run": self.run,
                "name": name.as_deref().unwrap_or(self.game.title),
                "game": { "id": self.game.id, "title": self.game.title },
                "story": story,
                "bracket": bracket,
                "delay": self.delays.moves,
                "info_delay": self.delays.info,
                "running": running,
                "running_count": running_count,
                "ended": ended,
                "ended_count": ended_count,
                "standings": &rows[..rows.len().min(OVERVIEW)],
                "standings_count": rows.len(),
                "reported": reported,
                "next": next,
                "rulings": about.public().take(RULINGS).collect::<Vec<_>>(),
                "rulings_count": about.rulings.len(),
                "ladder": self.ladder.get().map(|ladder| ladder.ladder().name),
            });
            let text = json::text(&overview);
            state.overview = (version, text.into());
        }
        state.overview.clone()
    }

    /// The rows of the standings of the overview whose names, owners or affiliations contain a text, in this order, from this one on,
    /// and how many there are.
    pub(crate) fn standings(
        &self,
        search: &str,
        order: StandingsOrder,
        offset: usize,
        limit: usize,
    ) -> (Vec<StandingsRow>, usize) {
        self.overview();
        let (state, search) = (self.state(), search.to_lowercase());
        let has = |name: &str| name.to_lowercase().contains(&search);
        let is_found = |row: &&StandingsRow| {
            let ShownName { name, display_name, owner } = &row.player;
            let owner = owner.iter().flat_map(|owner| [Some(&owner.name), owner.affiliation.as_ref()]);
            has(name) || owner.chain([display_name.as_ref()]).flatten().any(|name| has(name))
        };
        let mut found: Vec<&StandingsRow> = state.rows.iter().filter(is_found).collect();
        match order {
            StandingsOrder::Place => {}
            StandingsOrder::Name => found.sort_by_cached_key(|row| row.player.shown().to_lowercase()),
            StandingsOrder::Matches => found.sort_by_key(|row| Reverse(row.counts.matches)),
            StandingsOrder::Faults => found.sort_by_key(|row| Reverse(row.counts.faulted)),
        }
        let count = found.len();
        (found.into_iter().skip(offset).take(limit).cloned().collect(), count)
    }

    /// The heading of the start page, and the text below.
    pub(crate) fn headline(&self) -> (String, String) {
        self.overview();
        let name = self.name();
        let state = self.state();
        let Story { heading, .. } = &state.story;
        let why = Some(state.story.text()).filter(|why| !why.is_empty());
        let why = why.unwrap_or_else(|| "Matches between programs, live and as replays.".to_owned());
        (if heading.is_empty() { name } else { heading.clone() }, why)
    }

    /// The picture of the standings.
    pub(crate) fn preview(&self) -> Preview {
        self.overview();
        let name = self.name();
        let state = self.state();
        let ranked = state.rows.iter().filter(|row| row.place.is_some() && row.counts.matches > 0);
        Preview {
            over: "Standings".to_owned(),
            title: drawn(&name, self.game.title).to_owned(),
            text: String::new(),
            rows: ranked.take(PREVIEWED).map(StandingsRow::preview).collect(),
            under: format!("{} · {}", self.game.title, counted(state.count, "match", "matches")),
            board: None,
            seats: Vec::new(),
        }
    }

    /// Notes whether the standings have changed without a match: by a ruling, a pause or another rating.
    fn compare_standings(&self) {
        let mut state = self.state();
        if state.standings() != state.compared {
            self.has_changed.store(true, Ordering::Relaxed);
        }
    }

    /// Computes the standings and the story.
    fn look_at_standings(&self, state: &mut RunState) {
        let view = state.standings();
        if state.compared.season.is_some_and(|before| Some(before) != view.season) {
            let ladder = self.ladder();
            // The first matches of a new season may end before it is known here.
            state.forget_matches(|id| ladder.is_some_and(|ladder| !ladder.is_of_ended_season(id)));
        }
        if state.about.replace(&view) {
            state.tell_again(self.game);
            // The replays contain names.
            self.replays.clear();
        }
        state.take_standings(view, self.game.title, self.ladder().is_some());
    }
}

impl RunState {
    /// Drops the matches that have ended, with their results, except for those of the latest that are to be kept.
    pub(super) fn forget_matches(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.numbers.clear();
        self.bots.clear();
        self.recent.clear();
        self.met.clear();
        (self.count, self.kept, self.late) = (0, 0, MOST_LATEST);
        let mut withheld = mem::take(&mut self.withheld);
        let mut ended: BTreeMap<String, EndedEntry> =
            self.ended.drain(..).map(|ended| (ended.entry.id.clone(), ended)).collect();
        for latest in mem::take(&mut self.latest) {
            let id = &latest.id;
            if !is_kept(id) {
                continue;
            }
            let Some(mut ended) = ended.remove(id) else { continue };
            self.count += 1;
            ended.entry.number = Some(self.count);
            if let RecordLocation::Memory(record) = &ended.record {
                self.kept += record.len();
            }
            self.tally(&latest);
            self.note_meeting(&latest);
            let deal = ended.open_deal.as_ref().map(|open| &open.deal);
            if let Some((deal, of_deal)) = deal.and_then(|deal| withheld.remove_entry(deal)) {
                self.withheld.insert(deal, of_deal);
            }
            if deal.is_none_or(|deal| !self.withheld.contains_key(deal)) {
                self.note_reported(reported_in(&latest));
            }
            self.push(ended);
            self.latest.push_back(latest);
        }
    }

    /// A match of a season that has ended is over: it is not listed, and spectators of its board see its end.
    pub(super) fn end_unlisted(&mut self, end: &EndedMatch, running: Option<LiveEntry>, game: &Meta) {
        for name in &end.finished.seats {
            if let Some(bot) = self.bots.get_mut(name) {
                bot.playing.retain(|id| *id != end.finished.id);
            }
        }
        let entry = entries::ended(&end.finished, None, game, &self.about);
        let result = entry.result.map(|result| result.text).unwrap_or_default();
        if let Some(board) = running.and_then(|running| running.board) {
            board.lock().unwrap_or_else(PoisonError::into_inner).conclude(&result);
        }
    }

    /// Replaces display names and rulings in all matches that have ended.
    pub(super) fn tell_again(&mut self, game: &Meta) {
        for ended in &mut self.ended {
            ended.entry.tell(game, &self.about);
        }
    }

    /// Takes over the standings, and computes the story.
    fn take_standings(&mut self, mut view: StandingsView, game: &str, is_ladder: bool) {
        self.compared = view.clone();
        for row in &mut view.rows {
            row.player.display_name = self.about.display_name(&row.player.name);
            let recent = self.recent.get(&row.player.name).into_iter().flatten().copied();
            row.form = recent.clone().take(FORM).map(SideResult::letter).collect();
            let wdl: Wdl = recent.collect();
            row.recent = RecentResults { matches: wdl.total(), wdl };
        }
        self.take_reported(&mut view.rows);
        self.compare_with_last_week(&mut view.rows);
        view.next.retain(|next| next.id.as_ref().is_none_or(|id| !self.running.contains_key(id)));
        view.next.truncate(NEXT);
        let name = self.name.as_deref().unwrap_or(game);
        let mut story = view.story.take().unwrap_or_else(|| told(name, &view.rows));
        // The tournament or the ladder knows better than the matches seen here.
        if story.last_change_of_lead.is_none() {
            if is_ladder {
                let taken = view.last_change_of_lead.filter(|_| story.leader.is_some());
                self.last_change_of_lead =
                    taken.map(|LeadTaken { id, from }| LeadChange { r#match: id, from: Some(from) });
            } else if story.leader.is_some() && self.leader.is_some() && story.leader != self.leader {
                let last = self.ended.back().map(|ended| ended.entry.id.clone());
                self.last_change_of_lead =
                    last.map(|id| LeadChange { r#match: id, from: self.leader.clone() });
            }
            story.last_change_of_lead = self.last_change_of_lead.clone();
            if let Some(LeadChange { r#match, from: Some(from) }) = &self.last_change_of_lead {
                story.say(format!(" It overtook {} with ", self.about.shown(from)));
                story.say_of(r#match, format!("match {}", r#match.trim_start_matches('m')));
                story.say(".");
            }
        }
        if view.copies > 0 {
            let [one, many] =
                ["match was a copy of an earlier one and does", "matches were copies of earlier ones and do"];
            story.say(format!(" {} not count for ratings.", counted(view.copies, one, many)));
        }
        self.leader = story.leader.clone().or(self.leader.take());
        self.next = view.next.into_iter().map(|next| NextEntry::of(next, &self.about)).collect();
        (self.rows, self.story, self.bracket) = (view.rows, story, view.bracket);
    }

    /// Fills in the reports of their bots, and makes the tables.
    fn take_reported(&mut self, rows: &mut [StandingsRow]) {
        let mut sums: HashMap<&str, (Faults, InfoTotals)> = HashMap::new();
        for bot in self.bots.values() {
            let (faults, totals) =
                sums.entry(self.about.entrants.get(&bot.name).unwrap_or(&bot.name)).or_default();
            faults.merge(&bot.faults);
            totals.merge(&bot.totals);
        }
        let mut first = Vec::new();
        for row in rows {
            let (faults, totals) = sums.get(&*row.player.name).copied().unwrap_or_default();
            row.totals = totals;
            if first.len() < OVERVIEW && !totals.is_empty() {
                first.push((row.player.shown().to_owned(), faults, totals));
            }
        }
        let first = first.iter().map(|(name, faults, totals)| (&**name, faults, totals));
        self.reported = reported_tables("bot", first);
    }

    /// Fills in the places that players had a week ago among those that have a place now.
    fn compare_with_last_week(&self, rows: &mut [StandingsRow]) {
        let placed = rows.iter_mut().filter(|row| row.place.is_some());
        let mut placed: BTreeMap<String, &mut StandingsRow> =
            placed.map(|row| (row.player.name.clone(), row)).collect();
        let then = self.order_a_week_ago.iter().filter_map(|name| placed.remove(name));
        then.zip(1..).for_each(|(row, place)| row.place_a_week_ago = Some(place));
    }

    fn standings(&mut self) -> StandingsView {
        if let Some(standings) = &mut self.standings {
            return standings();
        }
        let mut bots: Vec<&BotEntry> = self.bots.values().collect();
        bots.sort_by(|one, other| other.mean().total_cmp(&one.mean()));
        let standing = |bot: &&BotEntry| StandingsRow {
            place: Some(1 + bots.iter().filter(|other| other.mean() > bot.mean()).count()),
            player: ShownName::new(&bot.name),
            counts: MatchCounts { matches: bot.matches, wdl: bot.wdl, faulted: bot.faulted },
            points: bot.score,
            ..StandingsRow::default()
        };
        StandingsView { rows: bots.iter().map(standing).collect(), ..StandingsView::default() }
    }
}

/// Publishes new versions of the overview.
pub(crate) async fn publish(hub: Arc<Hub>) {
    let mut apart = ANSWER_APART;
    let mut looked: Option<tokio::time::Instant> = None;
    let mut compared = tokio::time::Instant::now();
    loop {
        tokio::time::sleep(apart).await;
        if hub.ladder().is_some() && compared.elapsed() > COMPARED_APART {
            compared = tokio::time::Instant::now();
            hub.compare_standings();
        }
        if let Some(ladder) =
            hub.ladder().filter(|_| looked.is_none_or(|at| at.elapsed() > WEEK_AGO_KEPT)).cloned()
        {
            looked = Some(tokio::time::Instant::now());
            if let Ok(Ok(order)) = tokio::task::spawn_blocking(move || ladder.order_a_week_ago()).await {
                hub.set_order_a_week_ago(order);
            }
        }
        if let Some(ladder) = hub.ladder().filter(|ladder| ladder.hidden_since().is_none()).cloned()
            && hub.state().is_hidden
        {
            let own = hub.clone();
            let shown = tokio::task::spawn_blocking(move || own.show_again(&ladder)).await;
            if let Ok(Err(error)) = shown {
                tracing::warn!("what was hidden is not shown yet: {}", Chain(&error));
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
