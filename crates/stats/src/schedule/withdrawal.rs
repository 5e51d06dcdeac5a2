//! The results of withdrawn entrants.

use super::{Format, Participation, Schedule, Set};
use crate::Entrant;
use crate::standings::{Award, Unplayed, Withdrawn};
use referee_game::Wrong;

impl Schedule {
    /// The schedule if an entrant withdraws now.
    ///
    /// # Errors
    /// If the plan is inconsistent without it.
    pub fn without(&self, entrant: Entrant) -> Result<Schedule, Wrong> {
        let leaves = self.next_round();
        self.changed(entrant, |entry| entry.leaves = Some(leaves))
    }

    /// The schedule if an entrant that has withdrawn returns now.
    ///
    /// # Errors
    /// In a knockout, and if no round is left.
    pub fn with_returned(&self, entrant: Entrant) -> Result<Schedule, Wrong> {
        let next = self.next_round();
        match self.plan.format {
            Format::Knockout { .. } => {
                return Err(Wrong::new("no entrant can return to a knockout: its opponent has advanced"));
            }
            Format::Swiss { rounds, .. } if next > rounds => {
                return Err(Wrong::from(format!(
                    "no entrant can return any more: round {rounds}, the last one, is paired"
                )));
            }
            _ => {}
        }
        let has_rounds = !self.plan.format.is_known();
        self.changed(entrant, |entry| {
            let missed = entry.leaves.take().map(|leaves| leaves..next);
            entry.missed.extend(missed.filter(|missed| has_rounds && !missed.is_empty()));
        })
    }

    /// The schedule after a change of an entrant's participation.
    fn changed(&self, entrant: Entrant, change: impl FnOnce(&mut Participation)) -> Result<Schedule, Wrong> {
        let mut plan = self.plan.clone();
        if let Some(entry) = plan.entrants.get_mut(entrant.index()) {
            change(entry);
        }
        let played = self.played_results().collect::<Vec<_>>();
        Ok(Schedule::resume(plan, played, self.voids.clone())?.0)
    }

    /// By entrant: the treatment of its results if it has withdrawn. In formats that are known in advance they are
    /// annulled if it had played fewer than half of its matches; void ones are ignored.
    pub fn withdrawn(&self) -> Vec<Option<Withdrawn>> {
        let entries = &self.plan.entrants;
        let mut withdrawn: Vec<Option<Withdrawn>> =
            entries.iter().map(|entry| entry.leaves.map(|_| Withdrawn::Counted)).collect();
        if !self.plan.format.is_known() || withdrawn.iter().all(Option::is_none) {
            return withdrawn;
        }
        // Of each entrant's matches: the number played, and all.
        let mut counts = vec![(0u64, 0u64); entries.len()];
        for (at, result) in self.results.iter().enumerate() {
            let (number, set) = (at as u32 + 1, self.set_at(at));
            let seats = set.first.seats();
            for (seat, &entrant) in seats.iter().enumerate() {
                if withdrawn[entrant.index()].is_none() || seats[..seat].contains(&entrant) {
                    continue; // count each entrant once a match
                }
                let (played, all) = &mut counts[entrant.index()];
                *played += u64::from(result.is_some());
                *all +=
                    u64::from(result.is_some() || (!self.is_void(number) && self.had_to_play(entrant, set)));
            }
        }
        for ((withdrawn, entry), (played, all)) in withdrawn.iter_mut().zip(entries).zip(counts) {
            if withdrawn.is_some() && (2 * played < all || entry.is_disqualified) {
                *withdrawn = Some(Withdrawn::Annulled);
            }
        }
        withdrawn
    }

    /// The matches that were awarded without being played.
    pub fn awards(&self) -> Vec<Award> {
        self.awards_after(&self.withdrawn())
    }

    /// The matches that were awarded, given the treatment of results of withdrawn entrants. In a round robin and in a gauntlet
    /// an opponent wins their unplayed matches, unless their results are annulled.
    pub(super) fn awards_after(&self, withdrawn: &[Option<Withdrawn>]) -> Vec<Award> {
        let mut awards = self.awards.clone();
        let is_annulled =
            |entrant: &Entrant| withdrawn.get(entrant.index()) == Some(&Some(Withdrawn::Annulled));
        awards.extend(self.awards_by_rulings(|lineup| !lineup.seats().iter().any(is_annulled)));
        let is_of_two = self.plan.seating.sides() == 2
            && matches!(self.plan.format, Format::RoundRobin { .. } | Format::Gauntlet { .. });
        if !is_of_two || !withdrawn.contains(&Some(Withdrawn::Counted)) {
            return awards;
        }
        let mut won = vec![0; withdrawn.len()];
        for at in (0..self.results.len()).filter(|&at| self.is_open(at)) {
            let set = self.set_at(at);
            let [one, other] = [0, 1].map(|side| set.first.side(side).next().unwrap_or_default());
            for (gone, opponent) in [(one, other), (other, one)] {
                let is_won = withdrawn[gone.index()] == Some(Withdrawn::Counted)
                    && withdrawn[opponent.index()].is_none()
                    && self.had_to_play(gone, set);
                won[opponent.index()] += u32::from(is_won);
            }
        }
        let won = won.into_iter().enumerate().filter(|&(_, matches)| matches > 0);
        awards.extend(won.map(|(index, matches)| Award {
            round: self.round,
            entrant: Entrant(index as u16),
            reason: Unplayed::Withdrawal,
            matches,
            half_points: 2 * matches,
        }));
        awards
    }

    fn set_at(&self, at: usize) -> &Set {
        &self.sets[at / self.legs as usize]
    }

    /// Returns whether all other entrants of a set took part when an entrant withdrew.
    fn had_to_play(&self, entrant: Entrant, set: &Set) -> bool {
        let Some(left) = self.plan.entrants[entrant.index()].leaves else { return true };
        set.first.seats().iter().filter(|&&other| other != entrant).all(|other| {
            let entry = &self.plan.entrants[other.index()];
            entry.joins < left && entry.leaves.is_none_or(|leaves| leaves > left)
        })
    }
}
