//! The state of a race.

use referee_game::counted;
use referee_stats::Entrant;
use referee_stats::race::RaceState;
use referee_stats::schedule::Schedule;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct RaceReport {
    /// The loss of strength that the pick may have compared with the best, in logistic Elo.
    pub within: f64,
    /// The probability that it is weaker.
    pub alpha: f64,
    /// The number of sets that count.
    pub sets: u32,
    /// The version that is picked; `None` if the race is not decided.
    pub pick: Option<String>,
    /// In the order of the tournament file.
    pub versions: Vec<RacerReport>,
}

#[derive(Debug, Serialize)]
pub struct RacerReport {
    pub name: String,
    pub state: RaceState,
    /// The evidence that it need not be picked instead of the anchor; it is out from 1 / `alpha` on.
    pub evidence: f64,
    /// The number of sets after which it was eliminated.
    pub eliminated_after: Option<u32>,
}

impl RaceReport {
    /// The state of the race, if this is one. `names`: those of the entrants.
    pub fn of(schedule: &Schedule, names: impl IntoIterator<Item = String>) -> Option<RaceReport> {
        let race = schedule.race()?;
        let versions = names.into_iter().zip((0..).map(Entrant)).map(|(name, entrant)| RacerReport {
            name,
            state: race.state(entrant),
            evidence: race.evidence(entrant),
            eliminated_after: race.eliminated_after(entrant),
        });
        let versions: Vec<RacerReport> = versions.collect();
        Some(RaceReport {
            within: race.terms().within,
            alpha: race.terms().alpha,
            sets: race.sets(),
            pick: race.pick().map(|pick| versions[pick.index()].name.clone()),
            versions,
        })
    }

    fn names(&self, state: RaceState) -> String {
        let names = self.versions.iter().filter(|version| version.state == state);
        names.map(|version| version.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Names the pick, or the versions that are still in the race.
    pub(super) fn line(&self) -> String {
        let RaceReport { within, alpha, sets, .. } = self;
        let after = counted(*sets, "set", "sets");
        let (anchor, open) = (self.names(RaceState::Anchor), self.names(RaceState::Open));
        match &self.pick {
            Some(pick) => format!(
                "pick after {after}: {pick}, within {within} Elo of the best; a race errs in at most {}%",
                100.0 * alpha
            ),
            None if anchor.is_empty() => format!("no pick after {after}: open are {open}"),
            None => {
                format!("no pick after {after}: more than {within} Elo better than {anchor} may be {open}")
            }
        }
    }

    /// The state of a version in words.
    pub(super) fn state_of(&self, name: &str) -> String {
        let Some(version) = self.versions.iter().find(|version| version.name == name) else {
            return String::new();
        };
        match (version.state, version.eliminated_after) {
            (RaceState::Anchor, _) if self.pick.is_some() => "pick".to_owned(),
            (RaceState::Anchor, _) => "ahead".to_owned(),
            (RaceState::Open, _) => "open".to_owned(),
            (RaceState::NoBetter, _) => "no better".to_owned(),
            (RaceState::Withdrawn, _) => String::new(),
            (RaceState::Eliminated, after) => format!("out after set {}", after.unwrap_or_default()),
        }
    }
}
