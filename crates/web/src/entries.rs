//! Matches, bots and standings as the API lists them.

use std::collections::BTreeMap;
use std::sync::Arc;

use referee_protocol::words::EndedBy;
use serde::{Deserialize, Serialize};

use referee_game::Meta;
use referee_league::{LadderRow, LeadTaken, ShownOwner};
use referee_match::{Ending, Faults, InfoTotals};
use referee_report::page::{halves, whole};
use referee_report::preview::{Preview, PreviewRow, drawable, drawn};
use referee_report::story::Story;
use referee_report::tournament::BracketRound;
use referee_report::{PublicRuling, RulingOnMatch, RulingsByMatch, ToldMatch};
use referee_results::FinishedMatch;
use referee_stats::amounts::MeanAmount;
use referee_stats::rating::Estimate;
use referee_stats::schedule::MatchId;
use referee_stats::{MatchCounts, Wdl};
use referee_store::{RulingRow, parse_match_id};

/// A seat in lists of matches.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SeatEntry {
    name: String,
    team: u8,
    /// The entrant to which the bot belongs, if that has a name of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    entrant: Option<String>,
    /// The display name of the entrant or the bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<String>,
}

impl SeatEntry {
    fn entrant(&self) -> &String {
        self.entrant.as_ref().unwrap_or(&self.name)
    }

    fn shown(&self) -> &str {
        self.display_name.as_ref().unwrap_or_else(|| self.entrant())
    }

    /// The display name of the bot: a team has a display name, its bots have none.
    pub(super) fn display_name_of_bot(&self) -> Option<String> {
        self.display_name.clone().filter(|_| self.entrant.is_none())
    }
}

/// The names of entrants by the names of their bots.
pub(super) type EntrantNames = BTreeMap<String, String>;

/// Display names of entrants, bots and players, by name. The version of a player follows.
pub type DisplayNames = BTreeMap<String, String>;

/// Names and rulings of matches' entries. It may change while the run goes on.
#[derive(Debug, Default)]
pub(super) struct NamesAndRulings {
    /// The entrants of bots that have other names.
    pub(super) entrants: EntrantNames,
    pub(super) names: Arc<DisplayNames>,
    /// In the order in which they were made.
    pub(super) rulings: Arc<Vec<RulingRow>>,
    by_match: RulingsByMatch,
}

impl NamesAndRulings {
    /// Takes over other names and rulings. Returns whether they differ from those before.
    pub(super) fn replace(&mut self, view: &StandingsView) -> bool {
        if self.names == view.names && self.rulings == view.rulings {
            return false;
        }
        (self.names, self.rulings) = (view.names.clone(), view.rulings.clone());
        self.by_match = RulingsByMatch::of(&*self.rulings);
        true
    }

    pub(super) fn display_name(&self, name: &str) -> Option<String> {
        self.names.get(name).cloned()
    }

    pub(super) fn shown<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.get(name).map_or(name, String::as_str)
    }

    /// The ruling on a match, given its id and its players.
    pub(super) fn ruling<'a>(&self, id: &str, players: impl Iterator<Item = &'a str>) -> Option<ShownRuling> {
        let of_ladder = || parse_match_id(id).map(|(number, _)| MatchId { number, attempt: 1 });
        let id = id.parse().ok().or_else(of_ladder)?;
        let RulingOnMatch { id, outcome } = self.by_match.on_played(id, players)?;
        let row = self.rulings.iter().find(|row| row.id == *id)?;
        let PublicRuling { at, reason, .. } = PublicRuling::of(row);
        Some(ShownRuling { id: *id, outcome: outcome.clone(), at, reason })
    }

    /// The rulings, the newest first.
    pub(super) fn public(&self) -> impl ExactSizeIterator<Item = PublicRuling> {
        self.rulings.iter().rev().map(PublicRuling::of)
    }
}

/// The ruling in force on a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct ShownRuling {
    pub(super) id: u32,
    /// `void`, `awarded to alice`, `awarded as a draw` or `replayed`.
    pub(super) outcome: String,
    /// In UTC.
    pub(super) at: String,
    /// The reason why it was made; `None` if the reason is private.
    pub(super) reason: Option<String>,
}

/// The form in which a board is shown, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BoardAccess {
    /// The match is in progress, and its board is shown.
    Live,
    /// The match is not shown until the other matches of its deal have ended.
    Held,
    /// The match has ended, and its replay is available.
    Replay,
    /// Too many matches are in progress, or the record has not been kept.
    None,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct ResultEntry {
    ranks: Option<Vec<u8>>,
    scores: Option<Vec<f64>>,
    /// By seat; omitted without a result, and in games without amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    amounts: Option<Vec<f64>>,
    ended_by: EndedBy,
    reason: String,
    /// The result in words.
    pub(super) text: String,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct MatchEntry {
    pub(super) id: String,
    /// In UTC; `None` if the server does not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) began_at: Option<String>,
    /// The number of the match among those that have ended, from 1; `None` while it is in progress, and for a match of an
    /// earlier run of a ladder.
    pub(super) number: Option<u64>,
    pub(super) seats: Vec<SeatEntry>,
    pub(super) board: BoardAccess,
    /// The number of moves that are shown, without those of the opening; `None` if its board is not shown.
    pub(super) moves: Option<u32>,
    pub(super) result: Option<ResultEntry>,
    /// By seat: code -> count; `None` while it is in progress or held.
    pub(super) faults: Option<Vec<Faults>>,
    /// The ruling that replaces its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ruling: Option<ShownRuling>,
}

/// Results among the latest matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecentResults {
    /// The number of matches, at most 50.
    pub matches: u32,
    #[serde(flatten)]
    pub wdl: Wdl,
}

/// The standings, and remarks on them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandingsView {
    /// The best first.
    pub rows: Vec<StandingsRow>,
    /// The leader and the reasons; `None` derives them from the rows.
    pub story: Option<Story>,
    /// The bracket of a knockout, whose entrants have the names that people see.
    pub bracket: Option<Vec<BracketRound>>,
    pub next: Vec<NextMatch>,
    /// On a ladder: the match after which the first place changed hands for the last time.
    pub last_change_of_lead: Option<LeadTaken>,
    pub names: Arc<DisplayNames>,
    /// The rulings on matches of the run, in the order in which they were made.
    pub rulings: Arc<Vec<RulingRow>>,
    /// On a ladder: the number of matches that are copies of earlier ones and do not count for ratings.
    pub copies: u64,
    /// On a ladder: the number of the season. With another one, matches that have ended are listed no longer.
    pub season: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextMatch {
    /// The id of the match, if it is known.
    pub id: Option<String>,
    /// The names of those who play, by side.
    pub sides: Vec<Vec<String>>,
    /// The reason, in a few words.
    pub why: String,
}

/// A match that is waiting, as the API lists it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct NextEntry {
    pub(super) id: Option<String>,
    /// The names by side.
    sides: Vec<String>,
    /// The display names, by side.
    display_names: Vec<String>,
    why: String,
}

impl NextEntry {
    pub(super) fn of(NextMatch { id, sides, why }: NextMatch, about: &NamesAndRulings) -> NextEntry {
        let joined = |side: &Vec<String>, shown: fn(&NamesAndRulings, &str) -> String| {
            let mut names: Vec<String> = side.iter().map(|name| shown(about, name)).collect();
            names.dedup();
            names.join(" + ")
        };
        NextEntry {
            id,
            sides: sides.iter().map(|side| joined(side, |_, name| name.to_owned())).collect(),
            display_names: sides
                .iter()
                .map(|side| joined(side, |about, name| about.shown(name).to_owned()))
                .collect(),
            why,
        }
    }
}

/// The order of rows in the standings. Equal rows have the order of their places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StandingsOrder {
    #[default]
    Place,
    Name,
    /// The bot with the most matches first.
    Matches,
    /// The bot with the most faults first.
    Faults,
}

/// The names of an entrant, a bot or a player.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShownName {
    /// The name; that of a player is `NAME` or `NAME@VERSION`.
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The owner, on a ladder, if it has another name.
    #[serde(flatten)]
    pub owner: Option<ShownOwner>,
}

impl ShownName {
    pub fn new(name: impl Into<String>) -> ShownName {
        ShownName { name: name.into(), ..ShownName::default() }
    }

    pub(super) fn of(row: &LadderRow, owner: Option<&ShownOwner>) -> ShownName {
        let LadderRow { player, display_name, .. } = row;
        ShownName { name: player.clone(), display_name: display_name.clone(), owner: owner.cloned() }
    }

    /// The name that people see.
    pub(super) fn shown(&self) -> &str {
        self.display_name.as_deref().unwrap_or(&self.name)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StandingsRow {
    /// The place, from 1; those with equal results share one. Anchors of a ladder have none.
    pub place: Option<usize>,
    /// The display name is filled in by the server.
    #[serde(flatten)]
    pub player: ShownName,
    #[serde(flatten)]
    pub counts: MatchCounts,
    /// The last five results, the newest first: `W`, `D` and `L`.
    pub form: String,
    /// The results of the last 50 matches.
    pub recent: RecentResults,
    /// On a ladder: the place a week ago.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place_a_week_ago: Option<usize>,
    /// The sum of the scores, or the points of the tournament; on a ladder the rating.
    pub points: f64,
    /// In a tournament: the most points that it could have by now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub possible: Option<u32>,
    /// In a tournament of a game with amounts: what it gets a match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<MeanAmount>,
    /// On a ladder: Elo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<Estimate>,
    /// On a ladder: the probability that it is stronger than the player in the next place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stronger_than_next: Option<f64>,
    /// On a ladder: whether it is connected, or a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub online: Option<bool>,
    /// On a ladder: why it is not paired now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// On a ladder: whether its difference to the field is uncertain.
    #[serde(rename = "provisional", skip_serializing_if = "Option::is_none")]
    pub is_provisional: Option<bool>,
    /// The totals of its bots' `info`; filled in by the server, omitted if that is nothing or not public.
    #[serde(skip_serializing_if = "InfoTotals::is_empty")]
    pub totals: InfoTotals,
}

impl StandingsRow {
    pub(super) fn preview(&self) -> PreviewRow {
        let figure = match self.rating {
            Some(Estimate { value, low, high }) if (high - low).is_finite() => {
                format!("{} ± {}", whole(value), ((high - low) / 2.0).round())
            }
            Some(rating) => whole(rating.value),
            None => format!("{} of {}", halves(self.points), self.possible.unwrap_or(self.counts.matches)),
        };
        PreviewRow {
            place: self.place.map(|place| place.to_string()).unwrap_or_default(),
            name: drawn(self.player.shown(), &self.player.name).to_owned(),
            figure,
        }
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct BotEntry {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) display_name: Option<String>,
    /// The ids of its matches in progress.
    pub(super) playing: Vec<String>,
    pub(super) matches: u32,
    #[serde(flatten)]
    pub(super) wdl: Wdl,
    pub(super) score: f64,
    /// Matches in which it made a fault.
    #[serde(skip)]
    pub(super) faulted: u32,
    pub(super) faults: Faults,
    /// The totals of its `info`; omitted if that is nothing or not public.
    #[serde(skip_serializing_if = "InfoTotals::is_empty")]
    pub(super) totals: InfoTotals,
}

impl BotEntry {
    pub(super) fn new(name: &str) -> BotEntry {
        BotEntry { name: name.to_owned(), ..BotEntry::default() }
    }

    pub(super) fn mean(&self) -> f64 {
        self.score / f64::from(self.matches.max(1))
    }
}

fn seat_entry(name: &str, team: u8, about: &NamesAndRulings) -> SeatEntry {
    let entrant = about.entrants.get(name).filter(|entrant| *entrant != name).cloned();
    let display_name = about.display_name(entrant.as_deref().unwrap_or(name));
    SeatEntry { name: name.to_owned(), team, entrant, display_name }
}

/// The seats, given their names and sides.
pub(super) fn seat_entries(seats: &[(String, u8)], about: &NamesAndRulings) -> Vec<SeatEntry> {
    seats.iter().map(|(name, team)| seat_entry(name, *team, about)).collect()
}

impl MatchEntry {
    /// The match in a few words: the result, or who plays.
    pub(super) fn title(&self) -> String {
        let shown: Vec<&str> = self.seats.iter().map(SeatEntry::shown).collect();
        self.result.as_ref().map_or_else(|| self.opponents(&shown), |result| result.text.clone())
    }

    /// The sides, given the names of the seats.
    fn opponents(&self, names: &[&str]) -> String {
        let mut sides: BTreeMap<u8, Vec<&str>> = BTreeMap::new();
        for (seat, name) in self.seats.iter().zip(names) {
            let of_side = sides.entry(seat.team).or_default();
            if !of_side.contains(name) {
                of_side.push(name);
            }
        }
        sides.into_values().map(|names| names.join(" + ")).collect::<Vec<_>>().join(" – ")
    }

    /// The picture of the match.
    pub(super) fn preview(&self, game: &Meta, competition: &str) -> Preview {
        let names: Vec<&str> = self.seats.iter().map(|seat| drawn(seat.shown(), seat.entrant())).collect();
        let (title, text) = match &self.result {
            None => (self.opponents(&names), "In progress".to_owned()),
            Some(result) => {
                let ended_by = result.ended_by.to_string();
                let told = result.told(game, &names, &ended_by);
                (told.result(), told.why())
            }
        };
        let ruling = self.ruling.as_ref().map(|ShownRuling { id, outcome, .. }| {
            let outcome = if drawable(outcome) { outcome } else { "replaced" };
            format!("This match is {outcome} by ruling {id}.")
        });
        Preview {
            over: drawn(competition, "").to_owned(),
            title,
            text: ruling.unwrap_or(text),
            rows: Vec::new(),
            under: format!("{} · match {}", game.title, self.id),
            board: None,
            seats: names.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Replaces the display names, and the ruling.
    pub(super) fn tell(&mut self, game: &Meta, about: &NamesAndRulings) {
        for seat in &mut self.seats {
            seat.display_name = about.display_name(seat.entrant());
        }
        self.ruling = about.ruling(&self.id, self.seats.iter().map(|seat| seat.name.as_str()));
        let names: Vec<&str> = self.seats.iter().map(SeatEntry::shown).collect();
        if let Some(result) = &mut self.result {
            result.text = result.in_words(game, &names);
        }
    }
}

impl ResultEntry {
    /// The result in words, given the names of the seats.
    fn in_words(&self, game: &Meta, names: &[&str]) -> String {
        self.told(game, names, &self.ended_by.to_string()).outcome()
    }

    /// The parts of sentences, given the names of the seats and the word for the ending.
    fn told<'a>(&'a self, game: &'a Meta, names: &'a [&'a str], ended_by: &'a str) -> ToldMatch<'a> {
        ToldMatch {
            game: Some(game),
            names,
            ranks: self.ranks.as_deref(),
            ended_by,
            reason: &self.reason,
            forfeited: &[],
            moves: 0,
        }
    }
}

/// The entry of a match that has ended, with its number among those of the run.
pub(super) fn ended(
    finished: &FinishedMatch,
    number: Option<u64>,
    game: &Meta,
    about: &NamesAndRulings,
) -> MatchEntry {
    let Ending { ended_by, reason, ranks, scores, amounts, .. } = finished.ending.clone();
    let result = ResultEntry { ranks, scores, amounts, ended_by, reason, text: String::new() };
    let teams = finished.seating.all().iter().map(|seat| finished.seating.side(seat) as u8);
    let mut entry = MatchEntry {
        id: finished.id.clone(),
        began_at: None,
        number,
        seats: finished.seats.iter().zip(teams).map(|(name, team)| seat_entry(name, team, about)).collect(),
        board: BoardAccess::Replay,
        moves: Some(finished.decisions),
        result: Some(result),
        faults: Some(finished.faults.clone()),
        ruling: None,
    };
    entry.tell(game, about);
    entry
}
