//! The results of a ladder, counted and rated.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use referee_game::{Seating, Wrong};
use referee_stats::ladder::{Copies, CountedResult, FirstMatch, Name, Strength};
use referee_stats::rating::Estimate;
use referee_stats::rating::bradley_terry::{Anchored, Counts, EarlierRating, FitConstraints, fit_anchored};
use referee_stats::{Deals, Entrant, Lineup, MatchCounts, MatchResult, SideResult};
use referee_store::MatchKind;

use crate::bots::BotDisplayNames;
use crate::ladder_rulings::LadderRulings;
use crate::matches::LeagueMatch;

/// The margin in the field above which a rating is provisional, in Elo.
const PROVISIONAL: f64 = 80.0;

/// The number of matches below which a rating is provisional too.
const LEAST_MATCHES: u32 = 30;

/// The time without a match after which a player is inactive: standings do not show it.
const INACTIVE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The factor by which a season widens the interval of a rating that players start from, and the least margin, in Elo. A bot
/// can have changed without another version.
const WIDENED: f64 = 2.0;
const LEAST_MARGIN: f64 = 100.0;
/// The margin of a bot of which nothing but an earlier version is known is not exceeded, in Elo.
const MOST_MARGIN: f64 = 680.0;

/// The second match of a set belongs to it if its number is greater by at most this number.
const APART: u32 = 20_000;

/// The rows of standings that are shown, without bots that were disqualified from the start. Their places are numbered
/// anew, and compared with the next one by this fit.
pub fn ranking(
    mut rows: Vec<LadderRow>,
    fit: &Anchored,
    is_shown: impl Fn(&LadderRow) -> bool,
) -> Vec<LadderRow> {
    rows.retain(|row| !row.is_annulled && is_shown(row));
    number(&mut rows, fit);
    rows
}

fn number(rows: &mut [LadderRow], fit: &Anchored) {
    let is_ranked =
        |row: &&mut LadderRow| row.standing.is_newest && !row.standing.is_anchor && !row.is_annulled;
    let mut ranked: Vec<&mut LadderRow> = rows.iter_mut().filter(is_ranked).collect();
    let next: Vec<Option<Entrant>> =
        ranked.iter().skip(1).map(|row| Some(row.entrant)).chain([None]).collect();
    for ((row, next), place) in ranked.iter_mut().zip(next).zip(1..) {
        row.standing.place = Some(place);
        row.stronger_than_next =
            next.and_then(|next| fit.difference(row.entrant, next).probability_above_zero());
    }
}

/// The results of a ladder, counted.
#[derive(Debug)]
pub struct LadderTally {
    seating: Seating,
    /// Whether the unit is a mirrored set.
    is_mirrored: bool,
    /// The fixed ratings by bot.
    anchors: BTreeMap<String, f64>,
    players: Vec<PlayerTally>,
    by_name: HashMap<String, Entrant>,
    /// The players of each bot, the newest version last.
    by_bot: HashMap<String, Vec<Entrant>>,
    counts: Arc<Counts>,
    /// Results that have come while the players are rated, each with that of the first match of its set.
    uncounted: Vec<CountedResult>,
    /// The first matches of sets, by number.
    firsts: BTreeMap<u32, FirstMatch>,
    copies: Copies,
    known: FitConstraints,
}

/// The inputs of the ratings of a ladder.
#[derive(Debug)]
pub struct RatingInputs {
    counts: Arc<Counts>,
    known: FitConstraints,
}

impl RatingInputs {
    /// The strengths of all players, in their order.
    pub fn fit(&self) -> Anchored {
        fit_anchored(&self.counts, &self.known)
    }
}

#[derive(Clone, Debug, Default)]
struct PlayerTally {
    name: String,
    counts: MatchCounts,
    /// The end of the last match, in UTC.
    last_seen: Option<String>,
}

/// A row of the standings of a ladder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LadderRow {
    /// `NAME` or `NAME@VERSION`.
    pub player: String,
    /// The index among the players of the ladder.
    #[serde(skip)]
    entrant: Entrant,
    #[serde(flatten)]
    pub standing: Standing,
    /// The probability that it is stronger than the player in the next place; `None` without one. It comes from their
    /// difference in the fit: their intervals share an uncertainty.
    pub stronger_than_next: Option<f64>,
    /// The end of the last match, in UTC.
    pub last_seen: Option<String>,
    /// The name that people see instead of its name.
    pub display_name: Option<String>,
    /// Whether the bot was disqualified from the start.
    #[serde(skip)]
    is_annulled: bool,
}

/// The place, the rating and the results of a player.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// From 1; `None` for anchors, earlier versions and bots that were disqualified from the start, which stand outside the
    /// ranking.
    pub place: Option<usize>,
    /// Elo with its 95% interval.
    pub rating: Estimate,
    /// The distance to the ends of the 95% interval of its difference to the field, in Elo.
    pub margin_in_field: f64,
    /// Whether the rating is fixed.
    #[serde(rename = "anchor")]
    pub is_anchor: bool,
    /// Whether the difference to the field is uncertain by more than 80 Elo, or comes from fewer than 30 matches.
    #[serde(rename = "provisional")]
    pub is_provisional: bool,
    /// Whether no later version of the bot has played.
    #[serde(rename = "newest")]
    pub is_newest: bool,
    #[serde(flatten)]
    pub counts: MatchCounts,
}

impl LadderRow {
    /// Returns whether it has had no match for a long time, or none in this season.
    pub fn is_inactive(&self, now: SystemTime) -> bool {
        let seen = self.last_seen.as_deref().and_then(|text| humantime::parse_rfc3339(text).ok());
        seen.is_none_or(|seen| now.duration_since(seen).is_ok_and(|since| since > INACTIVE))
    }
}

/// The seats and sides of a ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LadderSeats {
    pub seating: Seating,
    /// Whether the ladder is played in mirrored sets.
    pub is_mirrored: bool,
}

impl LadderTally {
    /// A ladder without results.
    pub fn new(
        LadderSeats { seating, is_mirrored }: LadderSeats,
        anchors: BTreeMap<String, f64>,
    ) -> LadderTally {
        LadderTally {
            seating,
            is_mirrored,
            anchors,
            players: Vec::new(),
            by_name: HashMap::new(),
            by_bot: HashMap::new(),
            counts: Arc::default(),
            uncounted: Vec::new(),
            firsts: BTreeMap::new(),
            copies: Copies::default(),
            known: FitConstraints::default(),
        }
    }

    /// The same players in the same order, without results.
    ///
    /// # Errors
    /// If there are too many players.
    pub fn without_results(&self) -> Result<LadderTally, Wrong> {
        let mut book = LadderTally::new(
            LadderSeats { seating: self.seating, is_mirrored: self.is_mirrored },
            self.anchors.clone(),
        );
        self.players.iter().try_for_each(|player| book.player(&player.name).map(drop))?;
        Ok(book)
    }

    /// Lets a player start from its rating at the end of a season, with a wider interval.
    ///
    /// # Errors
    /// If there are too many players.
    pub(crate) fn keep(&mut self, row: &LadderRow) -> Result<(), Wrong> {
        let player = self.player(&row.player)?;
        let Standing { is_anchor, rating, margin_in_field, .. } = row.standing;
        if !is_anchor {
            let margin = (WIDENED * margin_in_field).clamp(LEAST_MARGIN, MOST_MARGIN);
            self.known.earlier.insert(player, EarlierRating::within(rating.value, margin));
            // The part of the interval beyond the margin in the field is the distance to the anchors.
            let to_anchors = rating.high - rating.value;
            let of_distance = (to_anchors.powi(2) - margin_in_field.powi(2)).max(0.0).sqrt();
            let distance = EarlierRating::within(0.0, of_distance.max(1.0)).deviation;
            let most = self.known.earlier_distance.get_or_insert(distance);
            *most = most.max(distance);
        }
        Ok(())
    }

    /// Changes the fixed ratings, by bot.
    pub fn set_anchors(&mut self, anchors: BTreeMap<String, f64>) {
        self.anchors = anchors;
        let fixed = |(at, player): (usize, &PlayerTally)| {
            Some((Entrant(at as u16), *self.anchors.get(&Name::parse(&player.name).bot)?))
        };
        self.known.anchors = self.players.iter().enumerate().filter_map(fixed).collect();
    }

    /// The player with this name, which is added if it is new. A new version succeeds the newest one of its bot.
    ///
    /// # Errors
    /// If there are too many players.
    pub fn player(&mut self, name: &str) -> Result<Entrant, Wrong> {
        if let Some(&player) = self.by_name.get(name) {
            return Ok(player);
        }
        let index =
            u16::try_from(self.players.len()).map_err(|_| Wrong::new("the ladder has too many players"))?;
        let (player, bot) = (Entrant(index), Name::parse(name).bot);
        if let Some(&elo) = self.anchors.get(&bot) {
            self.known.anchors.insert(player, elo);
        }
        let versions = self.by_bot.entry(bot).or_default();
        if let Some(&before) = versions.last() {
            self.known.predecessors.insert(player, before);
        }
        versions.push(player);
        self.players.push(PlayerTally { name: name.to_owned(), ..PlayerTally::default() });
        self.by_name.insert(name.to_owned(), player);
        Ok(player)
    }

    /// The player with this name, if there is one.
    pub fn find(&self, name: &str) -> Option<Entrant> {
        self.by_name.get(name).copied()
    }

    pub fn name(&self, player: Entrant) -> &str {
        &self.players[player.index()].name
    }

    pub fn len(&self) -> usize {
        self.players.len()
    }

    /// Returns whether there are no players.
    pub fn is_empty(&self) -> bool {
        self.players.is_empty()
    }

    /// The players of a bot, the newest version last.
    pub fn versions(&self, bot: &str) -> &[Entrant] {
        self.by_bot.get(bot).map_or(&[], Vec::as_slice)
    }

    /// Adds a match. Returns its lineup, if it has a result.
    ///
    /// # Errors
    /// If it does not fit the seats of the ladder.
    pub fn add(&mut self, row: &LeagueMatch) -> Result<Option<Lineup>, Wrong> {
        let seats = self.seating.seats();
        let misfit = || Wrong::from(format!("{} does not fit the {seats} seats of its ladder", row.id()));
        if row.players.len() != seats || row.faults.len() != seats {
            return Err(misfit());
        }
        let players: Vec<Entrant> =
            row.players.iter().map(|name| self.player(name)).collect::<Result<_, _>>()?;
        for (&player, faults) in players.iter().zip(&row.faults) {
            let tally = &mut self.players[player.index()];
            tally.counts.faulted += u32::from(!faults.is_empty());
            tally.last_seen = Some(row.ended_at.clone());
        }
        let Some(ranks) = &row.ranks else { return Ok(None) };
        let lineup = Lineup::of_seats(self.seating, &players).filter(|_| ranks.len() == players.len());
        let lineup = lineup.ok_or_else(misfit)?;
        if !row.counts() {
            return Ok(Some(lineup));
        }
        let result = MatchResult::played(row.number, lineup, ranks);
        for (seat, &player) in self.seating.all().iter().zip(&players) {
            let tally = &mut self.players[player.index()];
            tally.counts.matches += 1;
            let own = SideResult::of_seat(seat, ranks, self.seating);
            own.into_iter().for_each(|own| tally.counts.wdl.count(own, 1));
        }
        let first = row.deal.and_then(|deal| self.firsts.remove(&deal)).filter(|first| {
            first.result.set + APART >= row.number && Deals::Mirrored.leg(first.result.lineup, 1) == lineup
        });
        let counted = self.copies.add(first, result, row.moves);
        if self.is_mirrored && row.kind == MatchKind::Pairing && row.deal.is_none() {
            self.firsts.insert(row.number, FirstMatch { result, is_copy: counted.is_empty() });
            // Numbers come nearly in order.
            while self.firsts.first_key_value().is_some_and(|(&first, _)| first + 2 * APART < row.number) {
                self.firsts.pop_first();
            }
        }
        self.uncounted.extend(counted);
        self.count();
        Ok(Some(lineup))
    }

    /// The latest sets without a return match, at most as many as players: the lineup of the first match and its number.
    pub fn incomplete_sets(&self) -> Vec<(Lineup, u32)> {
        let last = self.firsts.iter().rev().take(self.players.len());
        last.map(|(&number, first)| (first.result.lineup, number)).collect()
    }

    /// The number of rated matches that are copies of earlier ones, and do not count for ratings.
    pub fn copies(&self) -> u64 {
        self.copies.copies()
    }

    /// Counts results, unless the players are rated now.
    fn count(&mut self) {
        if let Some(counts) = Arc::get_mut(&mut self.counts) {
            counts.grow(self.players.len());
            for (first, result) in self.uncounted.drain(..) {
                match first {
                    None => counts.add(&result),
                    Some(first) => counts.complete(&first, &result),
                }
            }
        }
    }

    /// The inputs of the ratings now. Results that come while it exists are counted after it is dropped.
    pub fn rating_inputs(&mut self) -> RatingInputs {
        self.count();
        let mut known = self.known.clone();
        // A version without a rated match tells nothing of later ones, but the one before it may.
        let tells = |player: &Entrant| {
            self.players[player.index()].counts.matches > 0 || self.known.earlier.contains_key(player)
        };
        known.predecessors = (self.known.predecessors.iter())
            .filter_map(|(&player, &before)| {
                let mut versions = std::iter::successors(Some(before), |version| {
                    self.known.predecessors.get(version).copied()
                });
                Some((player, versions.find(tells)?))
            })
            .collect();
        RatingInputs { counts: self.counts.clone(), known }
    }

    /// The standings by this fit, which may be older; the best first. Provisional ratings come after the others,
    /// because a few lucky matches do not make a leader, then players without a rated match, then anchors, then earlier versions of bots, then those of bots that
    /// were disqualified from the start.
    pub fn standings(
        &self,
        fit: &Anchored,
        rulings: &LadderRulings,
        names: &BotDisplayNames,
    ) -> Vec<LadderRow> {
        let strengths = Strength::all(fit);
        let mut seen = BTreeSet::new();
        let row = |(at, tally): (usize, &PlayerTally)| {
            let unknown = Strength { rating: 0.0, margin: f64::INFINITY, margin_in_field: f64::INFINITY };
            let Strength { rating, margin, margin_in_field } = strengths.get(at).copied().unwrap_or(unknown);
            let is_anchor = self.known.anchors.contains_key(&Entrant(at as u16));
            let is_uncertain = margin_in_field > PROVISIONAL || tally.counts.matches < LEAST_MATCHES;
            LadderRow {
                player: tally.name.clone(),
                entrant: Entrant(at as u16),
                standing: Standing {
                    place: None,
                    rating: Estimate { value: rating, low: rating - margin, high: rating + margin },
                    margin_in_field,
                    is_anchor,
                    is_provisional: is_uncertain && !is_anchor,
                    is_newest: seen.insert(Name::parse(&tally.name).bot),
                    counts: tally.counts,
                },
                stronger_than_next: None,
                last_seen: tally.last_seen.clone(),
                display_name: names.of_player(&tally.name),
                is_annulled: rulings.is_annulled(&tally.name),
            }
        };
        // The newest version of a bot is the last one that has come.
        let mut rows: Vec<LadderRow> = self.players.iter().enumerate().rev().map(row).collect();
        let group = |row: &LadderRow| {
            let Standing { is_newest, is_anchor, is_provisional, counts, .. } = row.standing;
            (row.is_annulled, !is_newest, is_anchor, is_provisional, counts.matches == 0)
        };
        rows.sort_by(|one, other| {
            let by_rating = other.standing.rating.value.total_cmp(&one.standing.rating.value);
            group(one).cmp(&group(other)).then(by_rating).then_with(|| one.player.cmp(&other.player))
        });
        number(&mut rows, fit);
        rows
    }
}

#[cfg(test)]
mod tests {
    use referee_match::Faults;
    use referee_protocol::words::EndedBy;

    use super::*;

    fn strengths(book: &mut LadderTally) -> Vec<Strength> {
        Strength::all(&book.rating_inputs().fit())
    }

    fn played(number: u32, players: [&str; 2], ranks: Option<[u8; 2]>, is_rated: bool) -> LeagueMatch {
        LeagueMatch {
            number,
            players: players.map(str::to_owned).to_vec(),
            ranks: ranks.map(Vec::from),
            scores: None,
            amounts: None,
            moves: None,
            faults: vec![Faults::default(); 2],
            totals: Vec::new(),
            ended_by: EndedBy::Rules,
            reason: "no_moves".to_owned(),
            is_rated,
            kind: MatchKind::Pairing,
            deal: None,
            decisions: 9,
            duration_us: 9,
            record: None,
            seal: None,
            ended_at: "2026-11-22T18:30:05Z".to_owned(),
            worker: None,
            is_void: false,
        }
    }

    fn seats(seats: u8, sides: u8, is_mirrored: bool) -> LadderSeats {
        LadderSeats { seating: Seating::new(seats, sides), is_mirrored }
    }

    #[test]
    fn only_rated_matches_with_a_result_count() {
        let mut book = LadderTally::new(seats(2, 2, true), [("random".to_owned(), 1000.0)].into());
        for number in 1..=200 {
            // A quarter of the matches in each seat are lost.
            let ranks = if matches!(number % 8, 3 | 4) { [2, 1] } else { [1, 2] };
            let seats = if number % 2 == 0 { ["alice@1", "random"] } else { ["random", "alice@1"] };
            let ranks = if number % 2 == 0 { ranks } else { [ranks[1], ranks[0]] };
            book.add(&played(number, seats, Some(ranks), true)).unwrap();
        }
        book.add(&played(201, ["bob", "random"], Some([1, 2]), false)).unwrap();
        book.add(&played(202, ["bob", "random"], None, true)).unwrap();
        let fit = book.rating_inputs().fit();
        let rows = book.standings(&fit, &LadderRulings::default(), &BotDisplayNames::default());
        let summary: Vec<(Option<usize>, &str, u32, bool)> = rows
            .iter()
            .map(|row| {
                (row.standing.place, &*row.player, row.standing.counts.matches, row.standing.is_provisional)
            })
            .collect();
        let expected =
            [(Some(1), "alice@1", 200, false), (Some(2), "bob", 0, true), (None, "random", 200, false)];
        assert_eq!(summary, expected);
        assert_eq!(
            (
                rows[0].standing.counts.wdl.wins,
                rows[0].standing.counts.wdl.losses,
                rows[2].standing.rating.value
            ),
            (150, 50, 1000.0)
        );
        assert!((1150.0..1230.0).contains(&rows[0].standing.rating.value), "{rows:?}");
    }

    #[test]
    fn standings_state_probability_that_player_is_stronger_than_next_one() {
        let mut book = LadderTally::new(seats(2, 2, true), BTreeMap::new());
        for number in 1..=33 {
            let [winner, loser] = if number <= 20 { ["alice", "bob"] } else { ["bob", "alice"] };
            let (seats, ranks) =
                if number % 2 == 0 { ([winner, loser], [1, 2]) } else { ([loser, winner], [2, 1]) };
            book.add(&played(number, seats, Some(ranks), true)).unwrap();
        }
        let fit = book.rating_inputs().fit();
        let rows = book.standings(&fit, &LadderRulings::default(), &BotDisplayNames::default());
        let alice = rows[0].stronger_than_next.expect("bob is next");
        // By the binomial distribution 88.8%.
        assert!((0.87..0.9).contains(&alice), "{rows:?}");
        assert_eq!((rows[1].standing.place, rows[1].stronger_than_next), (Some(2), None));
    }

    #[test]
    fn a_mirrored_set_is_one_observation() {
        // Alice wins both matches of every other set, and loses both of the others.
        let margin = |is_in_sets: bool| {
            let mut book = LadderTally::new(seats(2, 2, true), [("anchor".to_owned(), 0.0)].into());
            for number in (1..=4000).step_by(2) {
                let ranks = if number % 4 == 1 { [1, 2] } else { [2, 1] };
                let first = played(number, ["alice", "anchor"], Some(ranks), true);
                let [one, other] = ranks;
                let deal = is_in_sets.then_some(number);
                let second = played(number + 1, ["anchor", "alice"], Some([other, one]), true);
                book.add(&first).unwrap();
                book.add(&LeagueMatch { deal, ..second }).unwrap();
            }
            assert!(book.firsts.is_empty() || !is_in_sets);
            strengths(&mut book)[0].margin
        };
        let wider = margin(true) / margin(false);
        assert!((1.3..1.5).contains(&wider), "{wider}, expected the square root of 2");
    }

    #[test]
    fn results_that_come_while_players_are_rated_count_later() {
        let mut book = LadderTally::new(seats(2, 2, true), BTreeMap::new());
        book.add(&played(1, ["alice", "bob"], Some([1, 2]), true)).unwrap();
        let inputs = book.rating_inputs();
        let before = inputs.fit();
        book.add(&LeagueMatch { deal: Some(1), ..played(2, ["bob", "alice"], Some([2, 1]), true) }).unwrap();
        book.player("carol").unwrap();
        assert_eq!(inputs.fit(), before);
        drop(inputs);
        let after = strengths(&mut book);
        assert!(after[0].rating > before.elo[0].value && after.len() == 3, "{after:?}");
    }

    #[test]
    fn a_new_version_takes_over_the_rating() {
        let mut book = LadderTally::new(seats(2, 2, true), [("random".to_owned(), 0.0)].into());
        for number in 1..=100 {
            book.add(&played(number, ["alice@1", "random"], Some([1, 2]), true)).unwrap();
        }
        book.player("alice@2").unwrap();
        book.player("eve").unwrap();
        let strengths = strengths(&mut book);
        assert!((strengths[2].rating - strengths[0].rating).abs() < 5.0 && strengths[2].margin > 500.0);
        // The new bot starts from the level of the field.
        assert!((100.0..strengths[0].rating).contains(&strengths[3].rating));
        assert_eq!(book.versions("alice").len(), 2);
    }

    #[test]
    fn only_the_newest_version_of_a_bot_has_a_place() {
        let mut book = LadderTally::new(seats(2, 2, true), BTreeMap::new());
        for (number, player) in (1..).zip(["alice@2", "alice@10", "alice"]) {
            book.add(&played(number, [player, "bob"], Some([1, 2]), true)).unwrap();
        }
        let fit = book.rating_inputs().fit();
        let rows = book.standings(&fit, &LadderRulings::default(), &BotDisplayNames::default());
        let places: BTreeMap<&str, Option<usize>> =
            rows.iter().map(|row| (&*row.player, row.standing.place)).collect();
        let expected = [("alice", Some(1)), ("alice@10", None), ("alice@2", None), ("bob", Some(2))];
        assert_eq!(places, expected.into());
        assert!(
            rows[..2].iter().all(|row| row.standing.is_newest && row.standing.is_provisional),
            "{rows:?}"
        );
    }

    #[test]
    fn ladder_with_distant_anchor_ranks_its_players_before_newcomers() {
        let mut book = LadderTally::new(seats(2, 2, true), [("random".to_owned(), 0.0)].into());
        let bots = ["alice", "bob", "carol", "dave"];
        let mut number = 0;
        let mut play = |one: &str, other: &str, first_wins: bool| {
            number += 1;
            let ranks = if first_wins { [1, 2] } else { [2, 1] };
            book.add(&played(number, [one, other], Some(ranks), true)).unwrap();
        };
        for (at, one) in bots.iter().enumerate() {
            (0..30).for_each(|_| play(one, "random", true));
            for other in &bots[at + 1..] {
                (0..200).for_each(|count| play(one, other, count % 2 == 0));
            }
        }
        (0..3).for_each(|_| play("newcomer", "alice", true));
        let fit = book.rating_inputs().fit();
        let rows = book.standings(&fit, &LadderRulings::default(), &BotDisplayNames::default());
        let alice = rows.iter().find(|row| row.player == "alice").unwrap();
        assert!(
            alice.standing.rating.high - alice.standing.rating.value > 80.0
                && alice.standing.margin_in_field < 80.0,
            "{alice:?}"
        );
        assert!(
            rows[..4].iter().all(|row| !row.standing.is_provisional && bots.contains(&&*row.player)),
            "{rows:?}"
        );
        let last: Vec<(&str, Option<usize>)> =
            rows[4..].iter().map(|row| (&*row.player, row.standing.place)).collect();
        assert_eq!(last, [("newcomer", Some(5)), ("random", None)]);
    }

    #[test]
    fn players_without_a_match_have_the_last_places() {
        let mut book = LadderTally::new(seats(2, 2, true), BTreeMap::new());
        for name in ["idle", "newcomer"] {
            book.player(name).unwrap();
        }
        for number in 1..=40 {
            let ranks = if number % 4 == 0 { [2, 1] } else { [1, 2] };
            book.add(&played(number, ["alice", "bob"], Some(ranks), true)).unwrap();
        }
        (41..=43).for_each(|number| drop(book.add(&played(number, ["alice", "cleo"], Some([1, 2]), true))));
        // A challenge tells nothing of its strength.
        book.add(&played(44, ["idle", "cleo"], Some([1, 2]), false)).unwrap();
        let fit = book.rating_inputs().fit();
        let rows = book.standings(&fit, &LadderRulings::default(), &BotDisplayNames::default());
        let places: Vec<(&str, Option<usize>)> =
            rows.iter().map(|row| (&*row.player, row.standing.place)).collect();
        let names = ["alice", "bob", "cleo", "idle", "newcomer"];
        assert_eq!(places, names.into_iter().zip((1..).map(Some)).collect::<Vec<_>>());
        let cleo = rows[2].standing.rating.value;
        assert!(cleo < rows[3].standing.rating.value, "it is rated below the level of the field: {cleo}");
    }

    #[test]
    fn a_match_with_other_seats_is_an_error() {
        let mut book = LadderTally::new(seats(4, 2, false), BTreeMap::new());
        let error = book.add(&played(7, ["alice", "bob"], None, true)).unwrap_err();
        assert_eq!(error.to_string(), "m7 does not fit the 4 seats of its ladder");
    }
}
