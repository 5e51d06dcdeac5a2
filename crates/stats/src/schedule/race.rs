//! The rounds of a race.

use super::Schedule;
use crate::Entrant;

impl Schedule {
    /// Counts the sets of the round, and pairs the next one.
    pub(super) fn next_race(&mut self, max_sets: u32) {
        let Some(mut race) = self.race.take() else { return };
        for pair in std::mem::take(&mut self.pairs) {
            let points = self.points(pair.entrants, &pair.sets);
            // A set with a match that is void, or that an entrant left, does not count.
            let all = 2 * pair.sets.len() as u64 * u64::from(self.legs);
            if points[0] + points[1] == all && all > 0 {
                race.add(pair.entrants, points[0] as f64 / all as f64);
            }
        }
        let round = self.round + 1;
        let takes_part = |entrant: Entrant| self.plan.entrants[entrant.index()].takes_part(round);
        let mut pairs = race.next_round(takes_part);
        pairs.truncate((max_sets as usize).saturating_sub(self.sets.len()));
        for (at, out) in self.out.iter_mut().enumerate() {
            let is_out = race.is_out(Entrant(at as u16));
            *out = is_out.then(|| out.unwrap_or(self.round));
        }
        self.race = Some(race);
        if pairs.is_empty() {
            self.is_over = true;
            return;
        }
        self.round = round;
        for pair in pairs {
            self.add_pair(pair, 1);
        }
    }
}
