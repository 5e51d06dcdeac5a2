//! The results of bots, entrants and players, counted as matches end.

use referee_game::Seat;
use referee_match::InfoTotals;
use referee_report::{ReportedTable, reported_tables};
use referee_results::FinishedMatch;
use referee_stats::Wdl;

use super::{Hub, ReportedSeat, RunState};
use crate::entries::BotEntry;
use crate::ladder::{Opponent, PlayedMatch};

/// The number of latest results that are counted.
const RECENT: usize = 50;

/// The number of matches that can end between the beginning of a season and the moment when it is known here, at most.
pub(super) const MOST_LATEST: usize = 2_000;

/// The results of a player against another one.
#[derive(Debug, Default)]
pub(super) struct Met {
    wdl: Wdl,
    last: String,
}

impl Hub {
    /// Adds the rulings to matches of a player.
    pub(crate) fn note_rulings(&self, matches: &mut [PlayedMatch]) {
        let state = self.state();
        for played in matches {
            played.ruling = state.about.ruling(&played.id, played.seats.iter().map(String::as_str));
        }
    }

    /// Reports of a player of a ladder in `info`: the sums, and the tables of them.
    pub(crate) fn reported(&self, name: &str) -> (InfoTotals, Vec<ReportedTable>) {
        let state = self.state();
        let Some(bot) = state.bots.get(name) else { return Default::default() };
        (bot.totals, reported_tables("bot", [(state.about.shown(name), &bot.faults, &bot.totals)]))
    }

    /// The results of a player of a ladder against others, the most frequent opponent first.
    pub(crate) fn opponents(&self, name: &str) -> Vec<Opponent> {
        self.overview();
        let state = self.state();
        let rating = |name: &str| {
            let row = state.rows.iter().find(|row| row.player.name == name)?;
            Some(row.rating?.value)
        };
        let own = rating(name);
        let met = state.met.get(name).into_iter().flatten().map(|(other, met)| {
            let Met { wdl, last } = met;
            let matches = wdl.total();
            let points = f64::from(wdl.wins) + f64::from(wdl.draws) / 2.0;
            // Players that the standings do not show any more have no rating here.
            let expected = own.zip(rating(other)).map_or(points, |(own, other)| {
                f64::from(matches) / (1.0 + 10.0_f64.powf((other - own) / 400.0))
            });
            let (name, last_match) = (other.clone(), last.clone());
            Opponent {
                display_name: state.about.display_name(&name),
                name,
                matches,
                wdl: *wdl,
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
}

impl RunState {
    /// Notes a match that has ended last.
    pub(super) fn note_latest(&mut self, finished: &FinishedMatch) {
        self.latest.push_back(finished.clone());
        if self.latest.len() > MOST_LATEST {
            self.latest.pop_front();
        }
    }

    /// Counts the faults and reports of the bots in the seats of a match.
    pub(super) fn note_reported(&mut self, reported: Vec<ReportedSeat>) {
        for (name, faults, totals) in reported {
            let has_totals = self.has_totals;
            let bot = self.bot(&name);
            bot.faults.merge(&faults);
            if has_totals {
                bot.totals.merge(&totals);
            }
        }
    }

    pub(super) fn bot(&mut self, name: &str) -> &mut BotEntry {
        self.bots.entry(name.to_owned()).or_insert_with(|| BotEntry::new(name))
    }

    /// Adds a result to those of players against each other.
    pub(super) fn note_meeting(&mut self, finished: &FinishedMatch) {
        let Some(ranks) = &finished.ending.ranks else { return };
        let side = |seat: usize| finished.seating.side(Seat(seat as u8));
        let ranked = || finished.seats.iter().zip(ranks).enumerate();
        for (seat, (name, rank)) in ranked() {
            for (_, (opponent, other)) in ranked().filter(|&(other, _)| side(other) != side(seat)) {
                // Names are copied once, also if a million matches are read at the start.
                let of_name = match self.met.get_mut(name) {
                    Some(of_name) => of_name,
                    None => self.met.entry(name.clone()).or_default(),
                };
                let met = match of_name.get_mut(opponent) {
                    Some(met) => met,
                    None => of_name.entry(opponent.clone()).or_default(),
                };
                if met.last == finished.id {
                    continue;
                }
                met.wdl.count(rank.cmp(other).into(), 1);
                met.last.clone_from(&finished.id);
            }
        }
    }

    /// Adds a result to the form of its bots or entrants.
    fn note_form(&mut self, finished: &FinishedMatch) {
        let mut noted: Vec<&String> = Vec::new();
        for (seat, bot) in finished.seating.all().iter().zip(&finished.seats) {
            let name = self.about.entrants.get(bot).unwrap_or(bot);
            let Some(result) = finished.result_of(seat).filter(|_| !noted.contains(&name)) else { continue };
            let recent = self.recent.entry(name.clone()).or_default();
            recent.push_front(result);
            recent.truncate(RECENT);
            noted.push(name);
        }
    }

    pub(super) fn tally(&mut self, finished: &FinishedMatch) {
        self.note_form(finished);
        for (seat, name) in finished.seats.iter().enumerate() {
            let bot = self.bot(name);
            bot.playing.retain(|id| *id != finished.id);
            if finished.seats[..seat].contains(name) {
                // The bot has several seats of one side.
                continue;
            }
            bot.faulted += u32::from(finished.faults.get(seat).is_some_and(|faults| !faults.is_empty()));
            let result = finished.result_of(Seat(seat as u8));
            let Some((result, scores)) = result.zip(finished.ending.scores.as_ref()) else { continue };
            bot.matches += 1;
            bot.score += scores[seat];
            bot.wdl.count(result, 1);
        }
    }
}
