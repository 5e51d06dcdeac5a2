//! Chooses the players of the next match.
//!
//! There are no rounds. Whenever there is room for a match, the player that has waited longest is paired, a new one first,
//! and every fourth time the one whose rating is least certain. Opponents are drawn with the weight
//! exp(-(d / w)^2) / (1 + meetings / 2), where d is the difference of the ratings and w is 150 Elo, growing with the wait. So
//! most matches are between players of similar strength, waits are bounded, and pairs do not repeat. (In simulations with
//! w = 100, or with as many opponents from above as from below, the ends of the table meet each other in a third of their
//! matches.)
//!
//! With more than two seats, all but the first are drawn one after the other. A player waits up to 10 s rather than meet the
//! same opponents, all of them, as in its last match.
//!
//! A *return match* is the second match of a mirrored set: the players of the first one keep their places for it.
//!
//! While more players wait than can play, a player that thinks longer than its opponents gives way: it waits until its
//! share of the time of all matches is that of the others. It is paired earlier only if no others can be.
//!
//! A ladder may *even out* the numbers of matches instead: the players with the fewest come first, and those that are ahead
//! wait up to two minutes.

use rustc_hash::FxHashMap;

use super::SECOND;
use crate::rating::Estimate;
use crate::rating::bradley_terry::Anchored;
use crate::{Deals, Entrant, Lineup};
use referee_game::chance::Uniform;
use referee_game::{MAX_SEATS, Seating};

/// Every n-th pairing starts with the player whose rating is least certain.
const WIDEST_EVERY: u64 = 4;
/// The width of the window of ratings without a wait, in Elo.
const WINDOW: f64 = 150.0;
/// The wait that adds the width of the window once more.
const WIDENS: u64 = 60 * SECOND;
/// The time for which the players of a match wait for other opponents.
const REMATCH: u64 = 10 * SECOND;

/// The lead in matches of a player over the one with the fewest, if numbers of matches are evened out.
const AHEAD: u32 = 2;
/// The time for which a player that is further ahead waits at most.
const EVEN_OUT: u64 = 120 * SECOND;

#[derive(Clone, Copy, Debug)]
pub struct Newcomer {
    /// The owner; players of the same owner do not meet.
    pub owner: u32,
    /// The maximum number of matches of all players of the owner a day; `None`: any.
    pub quota: Option<u32>,
}

/// The estimated strength of a player, in Elo.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strength {
    pub rating: f64,
    /// The distance from the rating to the ends of its interval.
    pub margin: f64,
    /// The margin of the player's difference to the field, which does not contain the distance to anchors.
    pub margin_in_field: f64,
}

impl Strength {
    /// Returns the strengths of all players of a ladder.
    pub fn all(fit: &Anchored) -> Vec<Strength> {
        let strength = |(elo, &margin_in_field): (&Estimate, &f64)| Strength {
            rating: elo.value,
            margin: elo.high - elo.value,
            margin_in_field,
        };
        fit.elo.iter().zip(&fit.margins_in_field).map(strength).collect()
    }
}

#[derive(Clone, Debug)]
struct LadderPlayer {
    newcomer: Newcomer,
    strength: Strength,
    /// The number of matches that it can play at once; 0 if it is not there.
    places: usize,
    playing: usize,
    since: u64,
    /// The time until which the player is not paired, because it is excluded.
    out_until: u64,
    /// The time until which the player rests after a match.
    rests_until: u64,
    /// The time after its set in which others are paired first, because it thought longer than its opponents.
    gives_way: u64,
    gives_way_until: u64,
    /// The number of places that it keeps for return matches.
    reserved: usize,
    /// The others in its last match.
    last: Vec<Entrant>,
    /// The number of times that it had each seat.
    seats: [u32; MAX_SEATS],
}

/// Two players, the lower index first.
#[derive(Clone, Copy, Debug, Default)]
struct PairHistory {
    meetings: u32,
    /// The number of times that the first one had the lower seat, less those of the other one.
    lead: i32,
}

/// A return match that has not begun.
#[derive(Clone, Debug)]
struct Return {
    lineup: Lineup,
    /// The number of the first match.
    first: u32,
    /// The time until which the players keep their places for the match.
    until: u64,
    is_reserved: bool,
}

/// Pairs the players of a ladder.
#[derive(Clone, Debug)]
pub struct Matchmaker {
    seating: Seating,
    /// The maximum number of matches at once.
    jobs: usize,
    evens_out: bool,
    players: Vec<LadderPlayer>,
    pairs: FxHashMap<(Entrant, Entrant), PairHistory>,
    returns: Vec<Return>,
    /// The number of pairings so far.
    pairings: u64,
    /// The number of matches that began, without challenges.
    matches: u64,
    day: u64,
    /// The number of matches of each owner that began on this day.
    today: FxHashMap<u32, u32>,
}

fn ordered(one: Entrant, other: Entrant) -> (Entrant, Entrant) {
    if one < other { (one, other) } else { (other, one) }
}

impl Matchmaker {
    /// A ladder without players, which plays this number of matches at once.
    pub fn new(seating: Seating, jobs: usize) -> Matchmaker {
        Matchmaker {
            seating,
            jobs,
            evens_out: false,
            players: Vec::new(),
            pairs: FxHashMap::default(),
            returns: Vec::new(),
            pairings: 0,
            matches: 0,
            day: 0,
            today: FxHashMap::default(),
        }
    }

    /// Sets whether players with the fewest matches are paired first.
    #[must_use]
    pub fn evening_out(self, evens_out: bool) -> Matchmaker {
        Matchmaker { evens_out, ..self }
    }

    /// Adds a player, which is not there yet.
    pub fn join(&mut self, newcomer: Newcomer) -> Entrant {
        self.players.push(LadderPlayer {
            newcomer,
            strength: Strength { rating: 0.0, margin: f64::INFINITY, margin_in_field: f64::INFINITY },
            places: 0,
            playing: 0,
            since: 0,
            out_until: 0,
            rests_until: 0,
            gives_way: 0,
            gives_way_until: 0,
            reserved: 0,
            last: Vec::new(),
            seats: [0; MAX_SEATS],
        });
        Entrant(self.players.len() as u16 - 1)
    }

    /// Sets the number of matches that a player can play at once.
    pub fn set_places(&mut self, player: Entrant, places: usize, now: u64) {
        let player = &mut self.players[player.index()];
        let taken = player.playing + player.reserved;
        if player.places <= taken && places > taken {
            player.since = now;
        }
        player.places = places;
    }

    /// Changes the estimated strength of a player.
    pub fn rate(&mut self, player: Entrant, strength: Strength) {
        self.players[player.index()].strength = strength;
    }

    /// Does not pair a player before this time.
    pub fn exclude(&mut self, player: Entrant, until: u64) {
        self.players[player.index()].out_until = until;
    }

    /// Does not pair a player before this time, because it has just played. It still counts as available.
    pub fn rest(&mut self, player: Entrant, until: u64) {
        self.players[player.index()].rests_until = until;
    }

    /// A player thought longer than its opponents in its last match, by `longer` microseconds.
    pub fn add_think_time(&mut self, player: Entrant, longer: u64, now: u64) {
        let all =
            (0..self.players.len() as u16).map(Entrant).filter(|&player| self.is_available(player, now));
        let places: usize = all.map(|player| self.players[player.index()].places).sum();
        let played = self.jobs.saturating_mul(self.seating.seats());
        // The time that a place is free for each unit of time in which it plays.
        let free = places.saturating_sub(played) as f64 / played.max(1) as f64;
        let player = &mut self.players[player.index()];
        player.gives_way = player.gives_way.saturating_add((longer as f64 * free) as u64);
        player.gives_way_until = now.saturating_add(player.gives_way);
    }

    /// Starts a day: no player has played on it, except for these matches.
    pub fn begin_day(&mut self, day: u64, played: impl IntoIterator<Item = (Entrant, u32)>) {
        self.day = day;
        self.today.clear();
        for (player, matches) in played {
            *self.today_of(player) += matches;
        }
    }

    /// The day of the last [`Matchmaker::begin_day`].
    pub fn day(&self) -> u64 {
        self.day
    }

    /// Counts a match of the past.
    pub fn note(&mut self, lineup: &Lineup) {
        self.count(lineup, 1);
        self.note_last(lineup);
    }

    /// Returns whether more players than a match needs may be paired, now or after their matches.
    fn has_others(&self, now: u64) -> bool {
        let all = (0..self.players.len() as u16).map(Entrant);
        all.filter(|&player| self.is_available(player, now)).nth(self.seating.seats()).is_some()
    }

    /// Returns whether a player may be paired, now or after its matches.
    fn is_available(&self, player: Entrant, now: u64) -> bool {
        let LadderPlayer { places, out_until, .. } = &self.players[player.index()];
        *places > 0 && *out_until <= now && !self.has_used_up(player)
    }

    /// The number of matches of the owner of a player today.
    fn today_of(&mut self, player: Entrant) -> &mut u32 {
        self.today.entry(self.players[player.index()].newcomer.owner).or_default()
    }

    /// Returns whether the owner of a player has used up the matches of the day.
    pub fn has_used_up(&self, player: Entrant) -> bool {
        let Newcomer { owner, quota } = self.players[player.index()].newcomer;
        let today = self.today.get(&owner).copied().unwrap_or(0);
        quota.is_some_and(|quota| today >= quota)
    }

    /// Draws the next match, and counts it as begun. `None` if no two players can be paired now.
    pub fn next(&mut self, now: u64, rng: &mut impl Uniform) -> Option<Lineup> {
        self.next_of(|_| true, |_| true, now, rng)
    }

    /// Draws the next match of a player that is one of the first with others, and counts it as begun.
    pub fn next_of(
        &mut self,
        is_first: impl Fn(Entrant) -> bool,
        is_other: impl Fn(Entrant) -> bool,
        now: u64,
        rng: &mut impl Uniform,
    ) -> Option<Lineup> {
        let mut free: Vec<Entrant> = (0..self.players.len() as u16).map(Entrant).collect();
        free.retain(|&player| self.is_free(player, now) && (is_first(player) || is_other(player)));
        if free.len() < self.seating.seats() {
            return None;
        }
        if self.evens_out {
            let group = self.even_group(is_first, free, now, rng)?;
            return self.begin_drawn(group, now, rng);
        }
        let order = |player: &Entrant| {
            let LadderPlayer { since, seats, .. } = &self.players[player.index()];
            let has_played = seats.iter().any(|&times| times > 0);
            (has_played, *since)
        };
        free.sort_by_key(order);
        if self.pairings % WIDEST_EVERY == WIDEST_EVERY - 1 {
            let margin = |player: &Entrant| self.players[player.index()].strength.margin_in_field;
            // Stable: of equal margins the longest wait comes first.
            free.sort_by(|one, other| margin(other).total_cmp(&margin(one)));
        }
        let gives_way = |player: &&Entrant| self.players[player.index()].gives_way_until > now;
        let others: Vec<Entrant> = free.iter().filter(|player| !gives_way(player)).copied().collect();
        let group_of = |free: &[Entrant], rng: &mut _| {
            let mut first = free.iter().filter(|&&player| is_first(player));
            first.find_map(|&first| self.group(first, free, now, rng))
        };
        let mut group = group_of(&others, rng);
        if group.is_none() && others.len() < free.len() {
            group = group_of(&free, rng);
        }
        self.begin_drawn(group?, now, rng)
    }

    /// Draws a group that evens out the numbers of matches, from those that are free.
    fn even_group(
        &self,
        is_first: impl Fn(Entrant) -> bool,
        mut free: Vec<Entrant>,
        now: u64,
        rng: &mut impl Uniform,
    ) -> Option<Vec<Entrant>> {
        let matches = |player: Entrant| self.players[player.index()].seats.iter().sum::<u32>();
        let all = (0..self.players.len() as u16).map(Entrant);
        let fewest = all.filter(|&player| self.is_available(player, now)).map(matches).min()?;
        let since = |player: Entrant| self.players[player.index()].since;
        let has_waited = |player: Entrant| now >= since(player) + EVEN_OUT;
        let is_due = |player: Entrant| has_waited(player) || matches(player) <= fewest + AHEAD;
        free.sort_by_key(|&player| match has_waited(player) {
            true => (0, since(player)),
            false => (1 + matches(player), since(player)),
        });
        let due: Vec<Entrant> = free.iter().copied().filter(|&player| is_due(player)).collect();
        // Rather than wait, those who are due meet others who are ahead.
        let mut firsts = due.iter().filter(|&&player| is_first(player));
        firsts.find_map(|&first| {
            self.group(first, &due, now, rng).or_else(|| self.group(first, &free, now, rng))
        })
    }

    /// Seats a group that was drawn, and counts its match as begun.
    fn begin_drawn(&mut self, group: Vec<Entrant>, now: u64, rng: &mut impl Uniform) -> Option<Lineup> {
        let lineup = self.seated(group, rng)?;
        self.pairings += 1;
        self.matches += 1;
        self.begin(&lineup, now);
        lineup.seats().iter().for_each(|player| self.players[player.index()].gives_way = 0);
        Some(lineup)
    }

    /// The players of a match, which has ended or will at `from`, play a return match with exchanged sides after that. If
    /// one of them is not available then, they play it when both are again. The oldest is given up if there are more such
    /// matches than players.
    pub fn queue_return(&mut self, first: &Lineup, number: u32, from: u64) {
        let lineup = Deals::Mirrored.leg(*first, 1);
        for player in lineup.seats() {
            self.players[player.index()].reserved += 1;
        }
        let until = from + REMATCH;
        self.returns.push(Return { lineup, first: number, until, is_reserved: true });
        let mut open = self.returns.iter().enumerate().filter(|(_, other)| !other.is_reserved);
        if let Some((oldest, _)) = open.next()
            && 1 + open.count() > self.players.len()
        {
            self.returns.remove(oldest);
        }
    }

    /// The return matches that have not begun, the oldest first, each with the number of the first match of its set.
    pub fn returns(&self) -> impl Iterator<Item = (&Lineup, u32)> {
        self.returns.iter().map(|owed| (&owed.lineup, owed.first))
    }

    /// The next return match, which counts as begun, and the number of the first match of its set.
    pub fn next_return(&mut self, now: u64) -> Option<(Lineup, u32)> {
        for at in 0..self.returns.len() {
            let Return { lineup, first, until, is_reserved } = self.returns[at].clone();
            let mut players = lineup.seats().iter();
            let can_begin = players.all(|&player| {
                let LadderPlayer { places, playing, reserved, rests_until, .. } =
                    &self.players[player.index()];
                let taken = playing + if is_reserved { 0 } else { *reserved };
                self.is_available(player, now) && taken < *places && *rests_until <= now
            });
            if is_reserved && (can_begin || now >= until) {
                self.returns[at].is_reserved = false;
                for player in lineup.seats() {
                    self.players[player.index()].reserved -= 1;
                }
            }
            if can_begin {
                self.returns.remove(at);
                self.matches += 1;
                self.begin(&lineup, now);
                return Some((lineup, first));
            }
        }
        None
    }

    /// Pairs these players, and counts their match as begun; it counts for no quota, since others may have asked for it.
    /// `None` if one of them has no room for it, or if they are not as many as seats.
    pub fn challenge(&mut self, group: &[Entrant], now: u64, rng: &mut impl Uniform) -> Option<Lineup> {
        if !group.iter().all(|&player| self.has_room(player, now)) {
            return None;
        }
        let lineup = self.seated(group.to_vec(), rng)?;
        self.begin_challenge(&lineup, now);
        Some(lineup)
    }

    /// The number of matches that began, without challenges.
    pub fn matches(&self) -> u64 {
        self.matches
    }

    pub fn begin(&mut self, lineup: &Lineup, now: u64) {
        self.begin_challenge(lineup, now);
        for &player in lineup.seats() {
            *self.today_of(player) += 1;
        }
    }

    /// Counts a match as begun, but not for quotas.
    pub fn begin_challenge(&mut self, lineup: &Lineup, now: u64) {
        self.count(lineup, 1);
        for &player in lineup.seats() {
            let player = &mut self.players[player.index()];
            player.playing += 1;
            player.since = now;
        }
    }

    /// Counts a match as ended. A match without a result does not count as a meeting.
    pub fn ended(&mut self, lineup: &Lineup, has_result: bool, now: u64) {
        for &player in lineup.seats() {
            let player = &mut self.players[player.index()];
            player.playing = player.playing.saturating_sub(1);
            player.since = now;
        }
        if has_result {
            self.note_last(lineup);
        } else {
            self.count(lineup, -1);
        }
    }

    /// Puts back a match that has not begun. The wait of its players counts from when it was to begin.
    pub fn put_back(&mut self, lineup: &Lineup) {
        self.put_back_challenge(lineup);
        for &player in lineup.seats() {
            let today = self.today_of(player);
            *today = today.saturating_sub(1);
        }
    }

    /// Puts back the match of a challenge, which has not begun.
    pub fn put_back_challenge(&mut self, lineup: &Lineup) {
        self.count(lineup, -1);
        for &player in lineup.seats() {
            let player = &mut self.players[player.index()];
            player.playing = player.playing.saturating_sub(1);
        }
    }

    /// The number of players that could be paired now.
    pub fn waiting(&self, now: u64) -> usize {
        (0..self.players.len() as u16).filter(|&player| self.is_free(Entrant(player), now)).count()
    }

    fn is_free(&self, player: Entrant, now: u64) -> bool {
        self.has_room(player, now) && !self.has_used_up(player)
    }

    /// Returns whether a player can play now, its quota aside.
    fn has_room(&self, player: Entrant, now: u64) -> bool {
        let LadderPlayer { places, playing, reserved, out_until, rests_until, .. } =
            &self.players[player.index()];
        playing + reserved < *places && *out_until.max(rests_until) <= now
    }

    /// Draws the others of a match with this player; `None` if there are too few.
    fn group(
        &self,
        first: Entrant,
        free: &[Entrant],
        now: u64,
        rng: &mut impl Uniform,
    ) -> Option<Vec<Entrant>> {
        let mut group = vec![first];
        while group.len() < self.seating.seats() {
            let may_join = |&&other: &&Entrant| self.may_join(&group, other, now);
            let candidates: Vec<Entrant> = free.iter().filter(may_join).copied().collect();
            group.push(self.draw(&group, &candidates, now, rng)?);
        }
        Some(group)
    }

    fn may_join(&self, group: &[Entrant], other: Entrant, now: u64) -> bool {
        let owner = |of: Entrant| self.players[of.index()].newcomer.owner;
        if group.iter().any(|&member| member == other || owner(member) == owner(other)) {
            return false;
        }
        if group.len() + 1 < self.seating.seats() || !self.has_others(now) {
            return true;
        }
        // With more players available than a match needs, those of a player's last match wait for another one, but not for
        // long.
        let all = || group.iter().copied().chain([other]);
        let waits = |player: Entrant| {
            let last = &self.players[player.index()].last;
            all().all(|opponent| opponent == player || last.contains(&opponent))
                && self.has_another(player, all(), now)
        };
        !all().any(waits) || all().all(|player| now >= self.players[player.index()].since + REMATCH)
    }

    /// Returns whether a player may meet others than these, now or after their matches.
    fn has_another(&self, player: Entrant, than: impl Iterator<Item = Entrant> + Clone, now: u64) -> bool {
        let owner = |of: Entrant| self.players[of.index()].newcomer.owner;
        let all = (0..self.players.len() as u16).map(Entrant);
        let mut others = all.filter(|&other| owner(other) != owner(player) && self.is_available(other, now));
        others.any(|other| than.clone().all(|member| member != other))
    }

    /// Draws a player to meet the group.
    fn draw(
        &self,
        group: &[Entrant],
        candidates: &[Entrant],
        now: u64,
        rng: &mut impl Uniform,
    ) -> Option<Entrant> {
        let first = &self.players[group[0].index()];
        let waited = now.saturating_sub(first.since);
        let window = WINDOW * (1.0 + waited as f64 / WIDENS as f64);
        let exponent = |other: Entrant| {
            let distance = self.players[other.index()].strength.rating - first.strength.rating;
            -(distance / window).powi(2)
        };
        // Relative to the closest one, so that not all weights are 0 if all are far away.
        let closest = candidates.iter().map(|&other| exponent(other)).fold(f64::NEG_INFINITY, f64::max);
        let weight = |other: Entrant| {
            let meetings: u32 = group.iter().map(|&member| self.pair(member, other).meetings).sum();
            (exponent(other) - closest).exp() / (1.0 + f64::from(meetings) / 2.0)
        };
        let weights: Vec<f64> = candidates.iter().map(|&other| weight(other)).collect();
        let parts = 1 << 53;
        let mut left = weights.iter().sum::<f64>() * (rng.uniform(parts) as f64 / parts as f64);
        for (&other, weight) in candidates.iter().zip(weights) {
            if left < weight {
                return Some(other);
            }
            left -= weight;
        }
        candidates.last().copied()
    }

    fn pair(&self, one: Entrant, other: Entrant) -> PairHistory {
        self.pairs.get(&ordered(one, other)).copied().unwrap_or_default()
    }

    /// Seats a group: for every two players in turns, then such that each has every seat equally often.
    fn seated(&self, mut group: Vec<Entrant>, rng: &mut impl Uniform) -> Option<Lineup> {
        rng.shuffle(&mut group);
        let mut best: Option<((i32, u32), Vec<Entrant>)> = None;
        for_each_order(&mut group, 0, &mut |order| {
            let cost = (self.seat_lead(order), self.times_seated(order));
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, order.to_vec()));
            }
        });
        Lineup::of_seats(self.seating, &best?.1)
    }

    /// The number of times that the players of lower seats had these before, less those of the others, summed
    /// over all pairs.
    fn seat_lead(&self, order: &[Entrant]) -> i32 {
        let mut sum = 0;
        for (seat, &low) in order.iter().enumerate() {
            for &high in &order[seat + 1..] {
                let lead = self.pair(low, high).lead;
                sum += if low < high { lead } else { -lead };
            }
        }
        sum
    }

    /// The number of times that the players had these seats.
    fn times_seated(&self, order: &[Entrant]) -> u32 {
        order.iter().enumerate().map(|(seat, player)| self.players[player.index()].seats[seat]).sum()
    }

    /// Adds a match to the counts, or removes it.
    fn count(&mut self, lineup: &Lineup, by: i32) {
        let order = lineup.seats();
        for (seat, &low) in order.iter().enumerate() {
            let times = &mut self.players[low.index()].seats[seat];
            *times = times.saturating_add_signed(by);
            for &high in &order[seat + 1..] {
                let pair = self.pairs.entry(ordered(low, high)).or_default();
                pair.meetings = pair.meetings.saturating_add_signed(by);
                pair.lead += if low < high { by } else { -by };
            }
        }
    }

    fn note_last(&mut self, lineup: &Lineup) {
        for &player in lineup.seats() {
            let others = lineup.seats().iter().copied().filter(|&other| other != player);
            self.players[player.index()].last = others.collect();
        }
    }
}

/// Calls `each` with every order of the elements from `fixed` on.
fn for_each_order(list: &mut [Entrant], fixed: usize, each: &mut impl FnMut(&[Entrant])) {
    if fixed == list.len() {
        return each(list);
    }
    for at in fixed..list.len() {
        list.swap(fixed, at);
        for_each_order(list, fixed + 1, each);
        list.swap(fixed, at);
    }
}
