//! The story of a tournament: who won or leads, and which match decided it.

use std::collections::BTreeMap;

use referee_game::counted;
use referee_stats::race::Race;
use referee_stats::rating::bradley_terry::Strengths;
use referee_stats::schedule::{Format, MatchId, RankBy, RoundPair, Schedule};
use referee_stats::standings::{Standings, TableRow};
use referee_stats::{Entrant, Lineup, Wdl};

use super::bracket::stage;
use crate::page::halves;
use crate::story::{LeadChange, Story, several};
use crate::words::amount;

/// The entrants and results that the story is about.
pub(super) struct StoryInputs<'a> {
    pub(super) name: &'a str,
    pub(super) ids: &'a [&'a str],
    /// The display names of the entrants.
    pub(super) names: &'a [&'a str],
    pub(super) schedule: &'a Schedule,
    pub(super) table: &'a Standings,
    /// The strengths, if they are known.
    pub(super) strengths: Option<&'a Strengths>,
    /// By the number of the match, if they are known.
    pub(super) attempts: Option<&'a BTreeMap<u32, MatchId>>,
}

/// The course of the first place.
struct Course {
    /// The entrant that was alone in the first place after each match, by its number.
    leaders: Vec<(u32, Option<usize>)>,
    /// The match after which no other entrant could catch the leader, with the matches that were played in
    /// the end.
    decided: Option<u32>,
}

impl StoryInputs<'_> {
    fn name_of(&self, entrant: Entrant) -> &str {
        self.names.get(entrant.index()).copied().unwrap_or_default()
    }

    fn id(&self, number: u32) -> String {
        let attempt = self.attempts.and_then(|attempts| attempts.get(&number));
        attempt.map_or_else(|| format!("m{number}"), MatchId::to_string)
    }

    /// Follows the points from match to match. Points without play count from the start.
    fn course(&self, leader: usize) -> Course {
        let entrants = self.names.len();
        let (mut points, mut left) = (vec![0.0; entrants], vec![0_u32; entrants]);
        // The divisors of points: by now, and in the end.
        let is_by_share = self.schedule.plan().ranked_by() == RankBy::Share;
        let (mut possible, mut all) = (vec![1.0; entrants], vec![1.0; entrants]);
        for row in &self.table.rows {
            let at = row.entrant.index();
            points[at] = row.awarded;
            if is_by_share {
                possible[at] = f64::from(row.possible - row.matches);
                all[at] = f64::from(row.possible.max(1));
            }
        }
        let played = |lineup: &Lineup| {
            let mut all = lineup.seats().to_vec();
            all.sort_unstable();
            all.dedup();
            all
        };
        for result in self.schedule.results() {
            played(&result.lineup).into_iter().for_each(|entrant| left[entrant.index()] += 1);
        }
        let mut course = Course { leaders: Vec::new(), decided: None };
        for (number, result) in self.schedule.numbered_results() {
            for entrant in played(&result.lineup) {
                points[entrant.index()] += result.score(entrant).unwrap_or_default();
                left[entrant.index()] -= 1;
                possible[entrant.index()] += if is_by_share { 1.0 } else { 0.0 };
            }
            let by_now: Vec<f64> =
                points.iter().zip(&possible).map(|(own, of)| own / f64::max(*of, 1.0)).collect();
            let alone = leads(&by_now);
            course.leaders.push((number, alone));
            let is_decided = || {
                let others = (0..entrants).filter(|&other| other != leader);
                let most = |at: usize| (points[at] + f64::from(left[at])) / all[at];
                others.into_iter().all(|other| most(other) < points[leader] / all[leader])
            };
            if course.decided.is_none() && alone == Some(leader) && is_decided() {
                course.decided = Some(number);
            }
        }
        course
    }

    pub(super) fn told(&self) -> Story {
        let mut story = Story::default();
        let (name, rows) = (self.name, &self.table.rows);
        let (results, rank_by) = (self.schedule.results().count(), self.schedule.plan().ranked_by());
        let is_over = self.schedule.is_over() && self.schedule.missing().most == 0;
        let is_over = is_over && self.schedule.race().is_none_or(|race| race.pick().is_some());
        if let Some(hero) = self.schedule.plan().format.hero() {
            return self.tell_gauntlet(hero, is_over);
        }
        if results > 0
            && matches!(self.schedule.plan().format, Format::Knockout { .. })
            && self.schedule.champion().is_none()
        {
            return self.tell_knockout();
        }
        let first: Vec<&TableRow> = rows.iter().take_while(|row| row.place == Some(1)).collect();
        let champion = self.schedule.champion();
        let race = self.schedule.race();
        // The one with most points of a race has played most matches.
        let leader = champion.or(race.and_then(Race::anchor));
        let leader = leader.or(first.first().filter(|_| first.len() == 1).map(|row| row.entrant));
        let Some(leader) = leader.filter(|_| results > 0) else {
            let names: Vec<&str> = first.iter().map(|row| self.name_of(row.entrant)).collect();
            story.heading = match (results, is_over) {
                (0, _) => format!("{name} has not begun"),
                (_, true) => format!("{} share the first place", several(&names, "entrants")),
                (_, false) => format!("{} lead together", several(&names, "entrants")),
            };
            if results > 0
                && rank_by != RankBy::Amounts
                && let Some(row) = first.first()
                && first.iter().all(|other| other.possible == row.possible)
            {
                story.say(format!("Each has {} of {} points.", halves(row.points), row.possible));
            }
            return story;
        };
        let Some(row) = rows.iter().find(|row| row.entrant == leader) else { return story };
        let second = rows.iter().find(|row| row.entrant != leader);
        let of_leader = self.name_of(leader).to_owned();
        let has_lead = champion.is_none() && race.is_none() && rank_by == RankBy::Points;
        let lead = second.map(|second| row.points - second.points).filter(|_| has_lead);
        story.lead = lead;
        story.second = second.map(|second| self.ids[second.entrant.index()].to_owned());
        story.heading = match (is_over, lead, second.map(|second| self.name_of(second.entrant))) {
            (true, ..) => format!("{of_leader} won {name}"),
            (false, Some(lead), Some(second)) if lead > 0.0 => {
                let unit = if lead > 1.0 { "points" } else { "point" };
                format!("{of_leader} leads, {} {unit} ahead of {second}", halves(lead))
            }
            _ => format!("{of_leader} leads"),
        };
        let Wdl { wins, losses, .. } = row.by_play + row.by_fault;
        let lost = if losses == 0 { "none".to_owned() } else { losses.to_string() };
        let matches = counted(row.matches, "match", "matches");
        story.say(match row.matches {
            0 => format!("{of_leader} has not played yet: its points are those of a bye."),
            _ => format!("{of_leader} won {wins} of {matches} and lost {lost}."),
        });
        story.leader = Some(self.ids[leader.index()].to_owned());
        if rank_by == RankBy::Amounts {
            let amount = row.amount.map_or_else(String::new, |of| amount(of.mean));
            story.say(format!(" It gets {amount} a match."));
            return story;
        }
        if let (Some(second), Some(strengths)) = (second, self.strengths) {
            story.superiority = strengths.difference(leader, second.entrant).probability_above_zero();
        }
        match champion {
            Some(champion) => self.tell_final(champion, &mut story),
            None if race.is_none() => self.tell_lead(leader, is_over, &mut story),
            None => {}
        }
        let is_tied = rank_by == RankBy::Share
            && second.is_some_and(|second| (row.share() - second.share()).abs() < 1e-6);
        if lead == Some(0.0) || is_tied {
            story.say(" Tie-breaks put it first.");
        }
        if let Some(second) = second {
            story.say_superiority(&of_leader, self.name_of(second.entrant));
        }
        story
    }

    /// A gauntlet: how the entrant that it is about fared, and which of the others did best against it.
    fn tell_gauntlet(&self, hero: Entrant, is_over: bool) -> Story {
        let (mut story, rows) = (Story::default(), &self.table.rows);
        let Some(own) = rows.iter().find(|row| row.entrant == hero).filter(|row| row.matches > 0) else {
            story.heading = format!("{} has not begun", self.name);
            return story;
        };
        let of_points = |row: &TableRow| format!("{} of {} points", halves(row.points), row.possible);
        let name = self.name_of(hero);
        story.heading = match is_over {
            true => format!("{name} scored {} in {}", of_points(own), self.name),
            false => format!("{name} has {} so far", of_points(own)),
        };
        let Wdl { wins, losses, .. } = own.by_play + own.by_fault;
        let matches = counted(own.matches, "match", "matches");
        story.say(format!("{name} won {wins} of {matches} and lost {losses}."));
        let ranked: Vec<&TableRow> =
            rows.iter().filter(|row| row.place.is_some() && row.matches > 0).collect();
        let is_by_amounts = self.schedule.plan().rank_by == RankBy::Amounts;
        let [best, next @ ..] = &ranked[..] else { return story };
        let best_name = self.name_of(best.entrant);
        if next.first().is_some_and(|next| next.place == best.place) {
            return story;
        }
        let best_result = match best.amount.filter(|_| is_by_amounts) {
            Some(of) => format!("{} a match", amount(of.mean)),
            None => of_points(best),
        };
        story.say(format!(" {best_name} did best against it, with {best_result}."));
        story.leader = Some(self.ids[best.entrant.index()].to_owned());
        if let Some(next) = next.first().filter(|_| !is_by_amounts) {
            story.second = Some(self.ids[next.entrant.index()].to_owned());
            story.superiority = self.strengths.and_then(|strengths| {
                strengths.difference(best.entrant, next.entrant).probability_above_zero()
            });
            story.say_superiority(best_name, self.name_of(next.entrant));
        }
        story
    }

    /// A knockout in progress: the finalists, or the round in progress and the entrants that are out. Points
    /// say nothing of it.
    fn tell_knockout(&self) -> Story {
        let rounds = self.schedule.rounds();
        let mut story = Story::default();
        let is_open = |pair: &RoundPair| pair.winner.is_none();
        let Some(current) = rounds.iter().position(|pairs| pairs.iter().any(is_open)) else { return story };
        let finalists =
            rounds.last().and_then(|pairs| pairs.first()).map_or([None, None], |pair| pair.entrants);
        let finalists: Vec<&str> =
            finalists.into_iter().flatten().map(|entrant| self.name_of(entrant)).collect();
        let stage = stage(current + 1, rounds.len()).to_lowercase();
        story.heading = match finalists[..] {
            [one, other] => format!("{one} and {other} are in the final"),
            [one] => format!("{one} is in the final"),
            _ => format!("{}: {stage}", self.name),
        };
        let played: Vec<&RoundPair> = rounds[current].iter().filter(|pair| !pair.is_bye).collect();
        let decided = played.iter().filter(|pair| !is_open(pair)).count();
        if finalists.len() < 2 {
            let of = counted(played.len(), "pairing", "pairings");
            story.say(format!(
                "{decided} of {of} of the {stage} {} decided.",
                if decided == 1 { "is" } else { "are" }
            ));
        }
        let loser = |pair: &&RoundPair| {
            pair.entrants.into_iter().flatten().find(|entrant| Some(*entrant) != pair.winner)
        };
        // Of this round, or of the one before while it has no result.
        let has_losers = |pairs: &&Vec<RoundPair>| pairs.iter().any(|pair| !pair.is_bye && !is_open(pair));
        if let Some(pairs) = rounds[..=current].iter().rev().find(has_losers) {
            let ended = pairs.iter().filter(|pair| !pair.is_bye && !is_open(pair));
            let out: Vec<&str> =
                ended.filter_map(|pair| loser(&pair)).map(|entrant| self.name_of(entrant)).collect();
            story.say(format!(" Out: {}.", out.join(", ")));
        }
        story
    }

    fn tell_final(&self, champion: Entrant, story: &mut Story) {
        let rounds = self.schedule.rounds();
        let Some(pair) = rounds.last().and_then(|pairs| pairs.first()) else { return };
        let place = usize::from(pair.entrants[0] != Some(champion));
        let numbers = self.schedule.numbered_results().filter(|(_, result)| pair.sets.contains(&result.set));
        let Some((last, _)) = numbers.last() else { return };
        let id = self.id(last);
        let Some(loser) = pair.entrants[1 - place] else { return };
        let score = [place, 1 - place].map(|place| halves(pair.points[place])).join(" : ");
        let is_drawn = pair.points[0] == pair.points[1];
        let how = if is_drawn {
            " As the higher seed it won the drawn final against"
        } else {
            " It won the final against"
        };
        story.say(format!("{how} {} ", self.name_of(loser)));
        story.say_of(&id, score);
        story.say(".");
        story.deciding_match = Some(id);
    }

    /// Tells the match with which the leader took the lead, and the one after which no other entrant could catch it.
    fn tell_lead(&self, leader: Entrant, is_over: bool, story: &mut Story) {
        let at = leader.index();
        let Course { leaders, decided } = self.course(at);
        let name_of = |id: &str| format!("match {}", id.trim_start_matches('m'));
        if let Some(number) = decided.filter(|_| is_over) {
            let id = self.id(number);
            story.say(" Nobody could catch it after ");
            story.say_of(&id, name_of(&id));
            story.say(".");
            story.deciding_match = Some(id);
        }
        let taken = leaders.iter().rposition(|(_, leads)| *leads != Some(at)).map_or(0, |before| before + 1);
        let Some(&(number, _)) = leaders.get(taken) else { return };
        let from = taken.checked_sub(1).and_then(|before| leaders[before].1);
        let before = leaders[..taken].iter().rev().filter_map(|(_, leads)| *leads).find(|&other| other != at);
        let id = self.id(number);
        if let Some(before) = before.filter(|_| !is_over) {
            story.say(format!(" It took the lead from {} in ", self.names[before]));
            story.say_of(&id, name_of(&id));
            story.say(".");
        }
        story.last_change_of_lead =
            Some(LeadChange { r#match: id, from: from.map(|other| self.ids[other].to_owned()) });
    }
}

/// The entrant that has more points than all others.
fn leads(points: &[f64]) -> Option<usize> {
    let best = (0..points.len()).max_by(|&one, &other| points[one].total_cmp(&points[other]))?;
    let is_alone = points.iter().enumerate().all(|(at, of)| at == best || *of < points[best]);
    is_alone.then_some(best)
}

/// The story of a tournament in progress, given its name, the names of its entrants, their display names, and
/// the strengths, if they are known.
pub fn live_story(
    name: &str,
    ids: &[&str],
    names: &[&str],
    schedule: &Schedule,
    table: &Standings,
    strengths: Option<&Strengths>,
) -> Story {
    StoryInputs { name, ids, names, schedule, table, strengths, attempts: None }.told()
}
