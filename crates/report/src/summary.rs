//! Results of runs in the format of `--json`.

use referee_bots::sandbox::Sandbox;
use referee_match::{Faults, InfoTotals};
use referee_results::FirstFaults;
use referee_stats::Wdl;
use referee_stats::amounts::MeanAmount;
use referee_stats::rating::Estimate;
use referee_stats::sample::Sample;
use serde::Serialize;

/// A mirrored set, in the format of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "set")]
pub struct SetReport {
    pub id: String,
    pub deal: String,
    /// The matches that have ended.
    pub matches: Vec<String>,
    /// The names of the bots, in the order of the command line.
    pub bots: Vec<String>,
    /// The sum of scores by bot; `None` if a match is missing or was aborted.
    pub scores: Option<Vec<f64>>,
    /// The mean amount a match by bot; omitted if a match is missing or was aborted, and in games without amounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amounts: Option<Vec<f64>>,
}

/// A bot's results, in the format of `--json`.
#[derive(Debug, Serialize)]
pub struct BotSummary {
    pub bot: String,
    pub command: String,
    /// Matches that were not aborted.
    pub matches: u32,
    #[serde(flatten)]
    pub wdl: Wdl,
    /// The sum of the scores of the bot.
    pub score: f64,
    /// The mean amount that it gets a match; omitted in games without amounts, and before its first complete set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<MeanAmount>,
    /// Complete mirrored sets; omitted if each deal is played once. A set is won by the bot with the highest sum of scores,
    /// and drawn by bots that share it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sets: Option<Wdl>,
    /// Code -> count. A lost process or connection counts once, however many matches it played.
    pub faults: Faults,
    /// The totals of its `info`, over all attempts; omitted if that is nothing.
    #[serde(skip_serializing_if = "InfoTotals::is_empty")]
    pub totals: InfoTotals,
    /// Processor time, in milliseconds.
    pub cpu_ms: u64,
    /// The sandbox; omitted for a bot that connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
}

/// The difference in strength between the first and the second of two bots, in the format of `--json`.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// The number of complete mirrored sets, or of matches without mirroring, that count.
    pub sets: u64,
    /// The number of copies of others that do not count.
    pub copies: u64,
    /// The number of sets with different moves.
    pub distinct_sets: u64,
    /// The number of openings or deals; the start position counts as one.
    pub openings: u64,
    /// The number of sets per score of the first bot, from 0 to 1 in equal steps.
    pub counts: Vec<u64>,
    /// The mean score of the first bot; `None` for fewer than two distinct sets.
    pub score: Option<Estimate>,
    /// The difference in logistic Elo; infinite values are `null`.
    pub elo: Option<Estimate>,
    /// The difference in logistic Elo on openings like these, if sets share openings and there is more than one.
    pub elo_of_openings_like_these: Option<Estimate>,
    /// The likelihood of superiority: the probability that the first bot is stronger.
    pub superiority: Option<f64>,
}

impl From<&Sample> for Comparison {
    fn from(sample: &Sample) -> Comparison {
        let scores = sample.scores();
        let difference = scores.estimate().filter(|_| sample.distinct_sets() > 1);
        Comparison {
            sets: scores.sets(),
            copies: sample.copies(),
            distinct_sets: sample.distinct_sets(),
            openings: sample.openings(),
            counts: scores.counts().to_vec(),
            score: difference.map(|difference| difference.score),
            elo: difference.map(|difference| difference.elo),
            elo_of_openings_like_these: difference
                .and_then(|difference| sample.of_openings_like_these(&difference)),
            superiority: difference.map(|difference| difference.superiority),
        }
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The results of a run, in the format of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "summary")]
pub struct RunSummary {
    pub game: String,
    /// The unit of amounts; omitted in games without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amounts: Option<&'static str>,
    /// Matches that ended with a result.
    pub matches: u32,
    /// Attempts at matches that were aborted.
    pub aborted: u32,
    /// Matches that have no result and are not replayed.
    pub void: u32,
    /// Attempts at matches during which the referee was suspended.
    pub paused: u32,
    /// The number of times that the rules had to be asked again; omitted if 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub rules_restarts: u32,
    /// The bots in the order of the command line.
    pub bots: Vec<BotSummary>,
    /// The difference in strength of two bots; omitted for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Comparison>,
    /// The run seed: the same seed and the same answers give the same matches.
    pub seed: String,
    /// Whether the bots were trusted to remember nothing of earlier matches; omitted without mirrored sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_bots: Option<bool>,
    /// Whether the run was interrupted.
    pub interrupted: bool,
    /// The first fault of each bot and code, for people; the matches have all of them.
    #[serde(skip)]
    pub first_faults: FirstFaults,
}
