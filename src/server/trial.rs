//! A new version of a bot against its base, as its matches end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::referee::Faults;
use crate::server::contest::Scoring;
use crate::server::results::MatchReport;
use crate::server::schedule::Fixture;
use crate::tournament::MatchResult;
use crate::tournament::rating::Estimate;
use crate::tournament::regression::{Fate, Judged, Moves, Regression};

/// Collects matches to sets, and has the sets judged.
pub struct Trial {
    /// The judge.
    pub regression: Regression,
    scoring: Scoring,
    /// Whether sets can have the same moves.
    can_repeat: bool,
    /// Sets that are not judged yet.
    open: BTreeMap<u32, Vec<Played>>,
    faults: [Faults; 2],
}

struct Played {
    id: String,
    result: MatchResult,
    /// Those of `new` and of `base`.
    faults: [Faults; 2],
    moves: Moves,
}

/// A set that was judged, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "set")]
pub struct SetOfTrial {
    /// s1, s2, ...
    pub id: String,
    /// Its matches.
    pub matches: Vec<String>,
    /// What became of it.
    pub fate: Fate,
    /// What `new` scored in it, from 0 to 1.
    pub score: f64,
    /// The log-likelihood ratio after it; none in a run of fixed length.
    pub llr: Option<f64>,
    /// What accepts H0 and H1.
    pub bounds: Option<(f64, f64)>,
    /// In Elo; an end that is infinite is `null`.
    pub elo: Option<Estimate>,
}

impl Trial {
    /// Nothing is played. `can_repeat`: whether the moves of a set may be those of an earlier one.
    pub fn new(regression: Regression, scoring: Scoring, can_repeat: bool) -> Trial {
        let faults = <[Faults; 2]>::default();
        Trial { regression, scoring, can_repeat, open: BTreeMap::new(), faults }
    }

    /// The faults of `new` and of `base` in the sets that were judged.
    pub fn faults(&self) -> &[Faults; 2] {
        &self.faults
    }

    /// Takes in a match that has ended. Returns the sets that are judged now.
    pub fn add(&mut self, fixture: &Fixture, report: &MatchReport, record: &[u8]) -> Vec<SetOfTrial> {
        let Some(result) = self.scoring.result(fixture, report) else { return Vec::new() };
        let mut faults = <[Faults; 2]>::default();
        for (seat, &entrant) in fixture.entrants.iter().enumerate() {
            faults[entrant].merge(&report.counted_faults(seat));
        }
        let moves = if self.can_repeat { moves(fixture, record) } else { Moves::default() };
        let set = self.open.entry(result.set).or_default();
        set.push(Played { id: report.id.clone(), result, faults, moves });
        if set.len() < self.scoring.legs as usize {
            return Vec::new();
        }
        let digest = self.can_repeat.then(|| digest(set));
        let results = set.iter().map(|played| played.result).collect();
        let judged = self.regression.add(result.set, results, digest);
        judged.into_iter().map(|judged| self.told(&judged)).collect()
    }

    fn told(&mut self, judged: &Judged) -> SetOfTrial {
        let played = self.open.remove(&judged.set).unwrap_or_default();
        for played in &played {
            for (all, of_match) in self.faults.iter_mut().zip(&played.faults) {
                all.merge(of_match);
            }
        }
        SetOfTrial {
            id: format!("s{}", judged.set),
            matches: played.into_iter().map(|played| played.id).collect(),
            fate: judged.fate,
            score: judged.score,
            llr: judged.llr,
            bounds: self.regression.terms().sprt.map(|sprt| sprt.bounds()),
            elo: judged.difference.map(|difference| difference.elo),
        }
    }
}

/// A line of a record, as far as it matters here.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    event: Event<'a>,
}

#[derive(Deserialize)]
struct Event<'a> {
    kind: &'a str,
    seat: Option<u8>,
    #[serde(rename = "move")]
    text: Option<String>,
}

/// A digest of the moves of a match, and of what it began with.
fn moves(fixture: &Fixture, record: &[u8]) -> Moves {
    let mut hash = Sha256::new();
    hash.update(fixture.options.get());
    for line in record.split(|&byte| byte == b'\n').filter(|line| line.starts_with(br#"{"type":"event""#)) {
        if let Ok(Line { event: Event { kind: "move", seat, text } }) = serde_json::from_slice(line) {
            hash.update(format!("\n{} {}", seat.unwrap_or_default(), text.unwrap_or_default()));
        }
    }
    hash.finalize().into()
}

/// A digest of the moves of a set. Which of its matches came first is no difference.
fn digest(set: &[Played]) -> Moves {
    let mut matches: Vec<&Played> = set.iter().collect();
    matches.sort_by_key(|played| played.result.lineup);
    let all: Vec<u8> = matches.iter().flat_map(|played| played.moves).collect();
    Sha256::digest(all).into()
}
