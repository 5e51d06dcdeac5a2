//! Matches between the same bots, one after the other or several at once.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::core::erased::Rules;
use crate::core::game::Meta;
use crate::core::seat::{Seat, Seating};
use crate::referee::{Faults, Leg};
use crate::server::entrant::{Entrant, Source};
use crate::server::house::{Happening, House, Stopped};
use crate::server::lobby::Listen;
use crate::server::results::{BotSummary, MatchReport, SetReport, Sets, Summary};
use crate::server::run::Run;
use crate::server::schedule::{Fixture, Next, Schedule};
use crate::server::worker::Watch;
use crate::store::Records;

/// What is to be played.
pub struct Play {
    /// The seed and the terms.
    pub run: Run,
    /// The game.
    pub rules: &'static dyn Rules,
    /// Its options.
    pub options: Box<RawValue>,
    /// How the seats play together.
    pub seating: Seating,
    /// The bots; the first begins in seat 0, and they move on by one seat from match to match.
    pub bots: Vec<Source>,
    /// How many matches.
    pub matches: u32,
    /// How many random moves each match begins with.
    pub opening_plies: u32,
    /// Whether each deal is played from both sides: matches 1 and 2 are a set, 3 and 4, and so on. Only in games that
    /// [`can_mirror`] allows.
    pub mirror: bool,
    /// How many processes or connections of each bot play at once.
    pub jobs: usize,
    /// Whether each lane and the processes of its bots keep to a processor.
    pub is_pinned: bool,
    /// How bots connect, where some do.
    pub listen: Option<Listen>,
    /// Where records go.
    pub records: Option<Records>,
    /// Who looks on.
    pub watch: Option<Watch>,
}

/// How many matches a mirrored set has: two bots, each once in each seat.
pub const SET: u32 = 2;

/// Refuses mirrored sets where they are not possible.
///
/// # Errors
/// Why not.
pub fn can_mirror(meta: &Meta, seating: Seating) -> Result<(), String> {
    let id = meta.id;
    if meta.chance || meta.hidden {
        return Err(format!(
            "{id} has chance or hidden information: in a mirrored set a bot that remembers the first match would know \
             what is to come in the second"
        ));
    }
    if seating.seats() != SET as usize {
        return Err(format!("mirrored sets are for {SET} seats, not {}", seating.seats()));
    }
    Ok(())
}

/// What is told while playing.
pub enum Step<'a> {
    /// Bots can connect here.
    Listening(SocketAddr),
    /// A match waits for a bot of this name to connect.
    Waiting(&'a str),
    /// A match has ended.
    Ended(&'a MatchReport),
    /// A mirrored set is complete, or the run ends within it.
    SetEnded(&'a SetReport),
}

/// How a run ended.
pub struct Played {
    /// All results.
    pub summary: Summary,
    /// Why it could not go on to its end.
    pub stopped: Option<String>,
}

/// The matches of a run in order. Those of a set follow each other, so that the last one is the last to end.
struct InOrder {
    sets: std::ops::RangeInclusive<u32>,
    /// How many matches a set has.
    size: u32,
    /// Sets of which no match runs and some are left: the set, and the next of its matches, from 0.
    begun: VecDeque<(u32, u32)>,
    /// By id: the set that a match belongs to, and what is next in it.
    running: HashMap<String, (u32, u32)>,
    seats: usize,
    bots: usize,
    options: Arc<RawValue>,
    opening_plies: u32,
}

impl InOrder {
    fn is_mirrored(&self) -> bool {
        self.size > 1
    }
}

impl Schedule for InOrder {
    fn next(&mut self, _: Option<&[usize]>) -> Next {
        let begun = self.begun.pop_front();
        let Some((set, index)) = begun.or_else(|| self.sets.next().map(|set| (set, 0))) else {
            return if self.running.values().any(|&(_, next)| next < self.size) {
                Next::Later
            } else {
                Next::Never
            };
        };
        let number = (set - 1) * self.size + index + 1;
        let id = format!("m{number}");
        self.running.insert(id.clone(), (set, index + 1));
        Next::Match(Fixture {
            id,
            deal: self.is_mirrored().then(|| format!("s{set}")),
            leg: match index + 1 {
                _ if !self.is_mirrored() => Leg::Only,
                last if last == self.size => Leg::Last,
                _ => Leg::Earlier,
            },
            options: self.options.clone(),
            opening_plies: self.opening_plies,
            entrants: (0..self.seats).map(|seat| (seat + number as usize - 1) % self.bots).collect(),
            is_fresh: false,
        })
    }

    fn ended(&mut self, fixture: &Fixture, _: &MatchReport) -> bool {
        let Some((set, next)) = self.running.remove(&fixture.id).filter(|&(_, next)| next < self.size) else {
            return false;
        };
        self.begun.push_back((set, next));
        true
    }
}

impl Play {
    /// Plays. `interrupt` breaks it off; `tell` is told what happens.
    pub async fn run(self, interrupt: impl Future<Output = ()>, mut tell: impl FnMut(Step<'_>)) -> Played {
        let entrants = Entrant::of(self.bots);
        let mut tally = Tally::new(&entrants, self.rules.meta(), self.seating, self.mirror);
        tally.summary.seed = self.run.seed.to_hex();
        let size = if self.mirror { SET } else { 1 };
        let schedule = InOrder {
            sets: 1..=self.matches / size,
            size,
            begun: VecDeque::new(),
            running: HashMap::new(),
            seats: self.seating.seats(),
            bots: entrants.len(),
            options: self.options.into(),
            opening_plies: self.opening_plies,
        };
        let house = House {
            run: self.run,
            rules: self.rules,
            seating: self.seating,
            entrants,
            jobs: self.jobs,
            is_pinned: self.is_pinned,
            listen: self.listen,
            records: self.records,
            watch: self.watch,
        };
        let told = |happening: Happening<'_>| {
            match happening {
                Happening::Listening(address) => tell(Step::Listening(address)),
                Happening::Waiting(name) => tell(Step::Waiting(name)),
                Happening::Ended { fixture, report, never_came } => {
                    tally.count(fixture, report);
                    tell(Step::Ended(report));
                    if let Some(set) = tally.add_to_set(fixture, report) {
                        tell(Step::SetEnded(&set));
                    }
                    return never_came.map_or(Ok(()), Err);
                }
            }
            Ok(())
        };
        let Stopped { is_interrupted, why } = house.play(schedule, interrupt, told).await;
        for set in tally.open_sets() {
            tell(Step::SetEnded(&set));
        }
        tally.summary.interrupted = is_interrupted;
        Played { summary: tally.summary, stopped: why }
    }
}

/// The results of a run.
struct Tally {
    seating: Seating,
    summary: Summary,
    /// Sets of which a match has ended, in that order.
    sets: Vec<SetReport>,
}

impl Tally {
    fn new(entrants: &[Entrant], meta: &Meta, seating: Seating, mirror: bool) -> Tally {
        let bots = entrants.iter().map(|entrant| BotSummary {
            bot: entrant.name.clone(),
            command: entrant.source.to_string(),
            matches: 0,
            wins: 0,
            draws: 0,
            losses: 0,
            score: 0.0,
            sets: mirror.then(Sets::default),
            faults: Faults::default(),
            cpu_ms: 0,
        });
        let summary = Summary {
            game: meta.id.to_owned(),
            matches: 0,
            aborted: 0,
            bots: bots.collect(),
            seed: String::new(),
            interrupted: false,
        };
        Tally { seating, summary, sets: Vec::new() }
    }

    fn count(&mut self, fixture: &Fixture, report: &MatchReport) {
        match (&report.ranks, &report.scores) {
            (Some(_), Some(_)) => self.summary.matches += 1,
            _ => self.summary.aborted += 1,
        }
        for (seat, &bot) in fixture.entrants.iter().enumerate() {
            let summary = &mut self.summary.bots[bot];
            summary.faults.merge(&report.faults[seat]);
            summary.cpu_ms += report.cpu_ms[seat].unwrap_or(0);
            let (Some(ranks), Some(scores)) = (&report.ranks, &report.scores) else { continue };
            let side = |seat: usize| self.seating.side(Seat(seat as u8));
            let shares =
                (0..ranks.len()).any(|other| side(other) != side(seat) && ranks[other] == ranks[seat]);
            summary.matches += 1;
            summary.score += scores[seat];
            match (ranks[seat], shares) {
                (1, false) => summary.wins += 1,
                (1, true) => summary.draws += 1,
                _ => summary.losses += 1,
            }
        }
    }

    /// Adds a match to its set, if it belongs to one. Returns the set when it is complete.
    fn add_to_set(&mut self, fixture: &Fixture, report: &MatchReport) -> Option<SetReport> {
        let deal = fixture.deal.as_ref()?;
        let index = self.sets.iter().position(|set| set.id == *deal).unwrap_or_else(|| {
            self.sets.push(SetReport {
                id: deal.clone(),
                deal: deal.clone(),
                matches: Vec::new(),
                bots: self.summary.bots.iter().map(|bot| bot.bot.clone()).collect(),
                scores: Some(vec![0.0; self.summary.bots.len()]),
            });
            self.sets.len() - 1
        });
        let set = &mut self.sets[index];
        set.matches.push(report.id.clone());
        set.scores = set.scores.take().zip(report.scores.as_ref()).map(|(mut sums, scores)| {
            for (&bot, score) in fixture.entrants.iter().zip(scores) {
                sums[bot] += score;
            }
            sums
        });
        if fixture.leg != Leg::Last {
            return None;
        }
        let set = self.sets.remove(index);
        if let Some(&[first, second]) = set.scores.as_deref() {
            for (bot, own, other) in [(0, first, second), (1, second, first)] {
                let Some(sets) = &mut self.summary.bots[bot].sets else { continue };
                match own.total_cmp(&other) {
                    Ordering::Greater => sets.wins += 1,
                    Ordering::Equal => sets.draws += 1,
                    Ordering::Less => sets.losses += 1,
                }
            }
        }
        Some(set)
    }

    /// The sets that were broken off.
    fn open_sets(&mut self) -> Vec<SetReport> {
        let mut sets = std::mem::take(&mut self.sets);
        for set in &mut sets {
            set.scores = None;
        }
        sets
    }
}
