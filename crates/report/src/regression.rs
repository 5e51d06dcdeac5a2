//! The verdict of a comparison: as text, JSON, JUnit XML and for GitHub.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use referee_bots::sandbox::Sandbox;
use referee_game::{SettingNames, counted};
use referee_match::{Faults, InfoTotals};
use referee_protocol::referee::Clock;
use referee_results::{Crash, FirstFaults};
use referee_stats::estimates::{Basis, Estimates};
use referee_stats::rating::Estimate;
use referee_stats::regression::{PossibleScores, Regression, SetsPlayedAlike, Shard, Tally, Verdict};
use referee_stats::sprt::{EloModel, Sprt, TestState};
use serde::Serialize;

use crate::answers;
use crate::evidence::evidence_lines;
use crate::github::{annotation, escaped};
use crate::interval::{Population, interval, origin, percent_interval};
use crate::junit::{Case, CaseOutcome, xml};
use crate::table::faults;
use crate::tested_bot::TestedBot;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegressionOutcome {
    Judged(Verdict),
    /// No set was played: both are the same version.
    SameVersion,
    /// The run has no verdict, for this reason.
    Undecided(String),
    Interrupted,
    CouldNotRun(String),
}

impl RegressionOutcome {
    /// The identifier in `--json`.
    fn word(&self) -> &'static str {
        match self {
            RegressionOutcome::Judged(Verdict::Passed | Verdict::PassedAlike)
            | RegressionOutcome::SameVersion => "passed",
            RegressionOutcome::Judged(
                Verdict::Failed | Verdict::OnlyWithoutFaults | Verdict::FailedAlike | Verdict::Crashed,
            ) => "failed",
            RegressionOutcome::Judged(Verdict::AtLimit | Verdict::OnlyRepeats)
            | RegressionOutcome::Undecided(_) => "undecided",
            RegressionOutcome::Judged(Verdict::Measured) => "measured",
            RegressionOutcome::Judged(Verdict::Invalid) => "invalid",
            RegressionOutcome::Interrupted => "interrupted",
            RegressionOutcome::CouldNotRun(_) => "could not run",
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct RegressionFindings<'a> {
    pub regression: &'a Regression,
    /// The shard of the sets; `None`: all.
    pub shard: Option<Shard>,
    /// The faults of `new` and of `base` in the judged sets.
    pub faults: &'a [Faults; 2],
    /// The crash of `new`, if that ended the run.
    pub crash: Option<&'a Crash>,
}

/// The versions and the terms of a comparison.
#[derive(Debug)]
pub struct RegressionSetting {
    pub game: String,
    pub new: TestedBot,
    pub base: TestedBot,
    /// The names among `new` and `base` whose programs changed during the run.
    pub changed: Vec<&'static str>,
    /// The number of sets that each of their versions has played.
    pub versions: SetVersions,
    pub clock: Option<Clock>,
    /// The sandbox of the bots; `None` if they connect.
    pub sandbox: Option<Sandbox>,
    /// The totals of the `info` of `new` and `base`, in all matches.
    pub totals: [InfoTotals; 2],
    pub seed: String,
    /// The duration of the matches, of all parts and shards of the run together.
    pub duration: Duration,
    pub names: SettingNames,
}

/// The number of sets that each version of the two bots has played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SetVersions {
    new: BTreeMap<String, u32>,
    base: BTreeMap<String, u32>,
}

impl SetVersions {
    /// Adds a set that these versions of `new` and `base` have played.
    pub fn add(&mut self, [new, base]: &[String; 2]) {
        *self.new.entry(new.clone()).or_default() += 1;
        *self.base.entry(base.clone()).or_default() += 1;
    }
}

/// The result of a comparison, in the format of `--json`.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "verdict")]
pub struct RegressionReport {
    /// `passed`, `failed`, `undecided`, `measured`, `invalid`, `interrupted` or `could not run`.
    verdict: &'static str,
    reason: String,
    game: String,
    new: TestedBot,
    base: TestedBot,
    /// Whether the two bots have the same program, scripts and named files.
    same_files: bool,
    /// The names among `new` and `base` whose programs changed during the run.
    changed: Vec<&'static str>,
    /// The number of sets by the version that played them: its commit, or a hash of its files.
    versions: SetVersions,
    clock: Option<Clock>,
    /// The duration of the matches, of all parts and shards of the run together.
    duration_ms: u64,
    /// The version of the referee.
    referee: &'static str,
    /// The maximum number of sets.
    max_sets: u32,
    #[serde(flatten)]
    tally: Tally,
    /// The number of sets per score, from 0 to 1 in equal steps.
    scores: Vec<u64>,
    /// The assumption of the estimates about the number of sets.
    estimates: Option<Basis>,
    /// The reason why they are less exact than others.
    estimates_caution: Option<String>,
    score: Option<Estimate>,
    /// The limits of the score with three sides, of which one version has two: its interval ends there.
    possible_scores: Option<PossibleScores>,
    /// In logistic Elo; infinite values are `null`.
    elo: Option<Estimate>,
    /// The openings of which the verdict and the estimates hold: openings like those that were played, or only these.
    population: Population,
    /// The difference in logistic Elo on openings like those that were played, if `elo` is not on those and there is more than
    /// one opening.
    elo_of_openings_like_these: Option<Estimate>,
    normalized_elo: Option<Estimate>,
    /// The reason why there is no normalized Elo.
    normalized_elo_unknown: Option<String>,
    /// The probability that the new version is stronger.
    superiority: Option<f64>,
    /// `None` in a run of fixed length.
    test: Option<Sprt>,
    llr: Option<f64>,
    /// The bounds that accept H0 and H1.
    bounds: Option<(f64, f64)>,
    /// The bounds if all sets were played alike; otherwise `None`.
    played_alike: Option<SetsPlayedAlike>,
    /// If a set was dropped: the counted sets and the dropped ones, as if `base` had won each match with a fault of its own.
    with_dropped: Option<WithDropped>,
    fault_rate: Estimate,
    max_fault_rate: f64,
    faults: FaultsOfBoth,
    /// The totals of the `info` of `new` and `base`, in all matches; omitted if that is nothing.
    #[serde(skip_serializing_if = "InfoTotals::are_empty")]
    totals: [InfoTotals; 2],
    /// The record of the match in which the new version crashed; omitted if it did not, or no record was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    crash_record: Option<PathBuf>,
    /// The sandbox of the bots; omitted if they connect.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<Sandbox>,
    seed: String,
    /// Details of the first faults, for people; the matches have all of them.
    #[serde(skip)]
    evidence: Vec<String>,
    #[serde(skip)]
    names: SettingNames,
}

#[derive(Debug, Serialize)]
struct WithDropped {
    /// The number of sets per score.
    scores: Vec<u64>,
    /// `None` in a run of fixed length.
    llr: Option<f64>,
    /// In logistic Elo, for a fixed number of sets.
    elo: Option<Estimate>,
}

#[derive(Debug, Serialize)]
struct FaultsOfBoth {
    new: Faults,
    base: Faults,
}

impl RegressionReport {
    /// The report on a comparison.
    pub fn new(
        outcome: RegressionOutcome,
        setting: RegressionSetting,
        findings: RegressionFindings<'_>,
        first_faults: &FirstFaults,
    ) -> RegressionReport {
        let RegressionSetting {
            game,
            new,
            base,
            changed,
            versions,
            clock,
            sandbox,
            totals,
            seed,
            duration,
            names,
        } = setting;
        let RegressionFindings { regression, faults: &[of_new, of_base], crash, .. } = findings;
        let (terms, tally) = (regression.terms(), regression.tally());
        let estimates = match &terms.sprt {
            Some(sprt) => Estimates::sequential(regression.scores(), sprt),
            None => Estimates::fixed(regression.scores()),
        };
        let estimates = estimates.filter(|_| tally.distinct_sets > 1);
        let possible = regression.possible_scores();
        let difference = estimates.map(|estimates| estimates.difference);
        let normalized_elo = estimates.map(|estimates| estimates.normalized_elo);
        RegressionReport {
            verdict: outcome.word(),
            reason: format!("{}{}", reason(&outcome, findings, names), changed_note(&changed, names)),
            game,
            same_files: new.has_same_files(&base),
            new,
            base,
            changed,
            versions,
            clock,
            duration_ms: duration.as_millis() as u64,
            referee: env!("CARGO_PKG_VERSION"),
            max_sets: terms.max_sets,
            tally,
            scores: regression.scores().counts().to_vec(),
            estimates: estimates.map(|estimates| estimates.basis),
            estimates_caution: estimates
                .and_then(|estimates| estimates.caution)
                .map(|caution| caution.to_string()),
            score: difference.map(|difference| within(difference.score, possible)),
            possible_scores: possible,
            elo: difference.map(|difference| within(difference.elo, possible.map(PossibleScores::elo))),
            population: Population::new(regression.sample().is_of_played_openings()),
            elo_of_openings_like_these: difference
                .and_then(|difference| regression.sample().of_openings_like_these(&difference)),
            normalized_elo: normalized_elo.and_then(Result::ok),
            normalized_elo_unknown: normalized_elo.and_then(Result::err).map(|why| why.to_string()),
            superiority: difference.map(|difference| difference.superiority),
            test: terms.sprt,
            llr: regression.llr(),
            bounds: terms.sprt.map(|sprt| sprt.bounds()),
            played_alike: regression.alike(),
            with_dropped: regression.with_dropped().map(|scores| WithDropped {
                llr: terms.sprt.map(|sprt| sprt.llr(&scores)),
                elo: scores.estimate().map(|difference| difference.elo),
                scores: scores.counts().to_vec(),
            }),
            fault_rate: tally.fault_rate(),
            max_fault_rate: terms.max_fault_rate,
            faults: FaultsOfBoth { new: of_new, base: of_base },
            totals,
            crash_record: crash.and_then(|crash| crash.record.clone()),
            sandbox,
            seed,
            evidence: evidence_lines(first_faults, |_| true),
            names,
        }
    }

    /// The verdict and its reason, in one line.
    pub fn headline(&self) -> String {
        format!("{}: {}", self.verdict, self.reason)
    }

    /// The figures, one per line.
    fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows =
            vec![("game", self.game.clone()), ("new", self.new.to_string()), ("base", self.base.to_string())];
        if self.same_files && self.tally.sets > 0 {
            let what = match self.new.is_same_command(&self.base) {
                true => format!(
                    "both are the same command in the same directory: {} names that of the base",
                    (self.names)("base_dir", None)
                ),
                false => {
                    "both have the same program files: only arguments and other files can make a difference"
                        .into()
                }
            };
            rows.push(("warning", what));
        }
        for (who, versions) in
            [("versions of new", &self.versions.new), ("versions of base", &self.versions.base)]
        {
            if versions.len() > 1 {
                let each = versions
                    .iter()
                    .map(|(version, &sets)| format!("{version}: {}", counted(sets, "set", "sets")));
                rows.push((who, each.collect::<Vec<_>>().join(", ")));
            }
        }
        if let (Some(elo), Some(score)) = (self.elo, self.score) {
            let Tally { distinct_sets, openings, .. } = self.tally;
            let origin = origin(distinct_sets, openings);
            rows.push(("Elo", format!("{} at 95%, {origin}", interval(elo, 1))));
            if self.population == Population::TheseOpenings {
                let known = self.elo_of_openings_like_these.map(|elo| format!("{} at 95%", interval(elo, 1)));
                let text = known.unwrap_or_else(|| "unknown from one opening".to_owned());
                rows.push(("Elo, openings like these", text));
            }
            if let Some(normalized) = self.normalized_elo {
                rows.push(("normalized Elo", format!("{} at 95%", interval(normalized, 1))));
            }
            if let Some(why) = &self.normalized_elo_unknown {
                rows.push(("normalized Elo", format!("not shown: {why}")));
            }
            rows.push(("score", percent_interval(score)));
            if let Some(possible) = self.possible_scores {
                rows.push(("possible", limits(possible)));
            }
        } else if self.tally.counted > 0 {
            rows.push(("Elo", "not shown: there is only one distinct set".to_owned()));
        }
        if let Some(superiority) = self.superiority {
            rows.push(("likelihood of superiority", format!("{:.1}%", 100.0 * superiority)));
        }
        if let Some(basis) = self.estimates {
            let what = match basis {
                Basis::Fixed => "of a number of sets that was fixed in advance",
                Basis::Sequential => "corrected for a test that may end after every set",
            };
            rows.push(("estimates", cautioned(what, self.estimates_caution.as_deref())));
        }
        if let (Some(llr), Some((lower, upper)), Some(sprt)) = (self.llr, self.bounds, self.test) {
            let (elo0, elo1, model) = (sprt.elo0(), sprt.elo1(), model_name(sprt.model()));
            let text = format!("{llr:.2}, bounds {lower:.2} and {upper:.2}, H0 {elo0} and H1 {elo1} {model}");
            rows.push(("LLR", text));
        }
        let Tally { sets, counted, dropped, repeated, void, matches, .. } = self.tally;
        let void = if void > 0 { format!(", {void} with a void match") } else { String::new() };
        let text = format!(
            "{sets} of at most {}: {counted} counted, {dropped} dropped for a fault of base, {repeated} copies{void}",
            self.max_sets
        );
        rows.push(("sets", text));
        if let Some(WithDropped { llr, elo, .. }) = &self.with_dropped {
            let llr = llr.map(|llr| format!("LLR {llr:.2}"));
            let elo = elo.map(|elo| format!("Elo {}", interval(elo, 1)));
            let figures: Vec<String> = llr.into_iter().chain(elo).collect();
            rows.push(("if base had won those", figures.join(", ")));
        }
        if let Some(alike) = self.played_alike {
            rows.push(("played alike", bounds_of_alike(&alike)));
        } else if self.tally.alike > 0 {
            rows.push(("played alike", format!("{} of {counted} sets that count", self.tally.alike)));
        }
        let steps = (self.scores.len() - 1).max(1);
        let each = self.scores.iter().enumerate();
        let each: Vec<String> =
            each.map(|(at, count)| format!("{}: {count}", rounded(at as f64 / steps as f64))).collect();
        rows.push(("sets by score", each.join(", ")));
        for (who, with_fault, codes) in [
            ("faults of new", self.tally.faults_of_new, &self.faults.new),
            ("faults of base", self.tally.faults_of_base, &self.faults.base),
        ] {
            let text = match with_fault {
                0 => "none".to_owned(),
                _ => {
                    let matches = referee_game::counted(matches, "match", "matches");
                    format!("{}, in {with_fault} of {matches}", faults(codes))
                }
            };
            rows.push((who, text));
        }
        let reported = [("reports of new", &self.faults.new), ("reports of base", &self.faults.base)];
        for ((who, codes), totals) in reported.into_iter().zip(&self.totals) {
            rows.extend(answers::in_words(codes, totals).map(|text| (who, text)));
        }
        if let Some(record) = &self.crash_record {
            rows.push(("record of the crash", record.display().to_string()));
        }
        rows.push(("clock", self.clock.map_or("none".to_owned(), clock_text)));
        let duration = Duration::from_secs(self.duration_ms.div_ceil(1000));
        rows.push(("duration", humantime::format_duration(duration).to_string()));
        if let Some(sandbox) = self.sandbox.as_ref().filter(|sandbox| !sandbox.is_default()) {
            rows.push(("sandbox", sandbox.to_string()));
        }
        rows.push(("run seed", self.seed.clone()));
        rows.push(("referee", self.referee.to_owned()));
        rows
    }

    pub fn text(&self) -> String {
        let rows = self.rows().into_iter().map(|(name, what)| format!("{name:<27}{what}"));
        let gap = (!self.evidence.is_empty()).then(String::new);
        let lines: Vec<String> = rows.chain(gap).chain(self.evidence.iter().cloned()).collect();
        format!("{}\n\n{}", self.headline(), lines.join("\n"))
    }

    /// The report as a job summary on GitHub.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {} {}\n\n| | |\n|---|---|\n", self.mark(), escaped(&self.headline()));
        for (name, what) in self.rows() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {name} | {} |", escaped(&what));
        }
        text.push('\n');
        for line in &self.evidence {
            // Indented, it is a block of code.
            let _ = writeln!(text, "    {line}");
        }
        text
    }

    fn mark(&self) -> &'static str {
        match self.verdict {
            "passed" | "measured" => "✅",
            "undecided" => "❔",
            _ => "❌",
        }
    }

    /// The workflow command with which GitHub shows the verdict.
    pub fn annotation(&self) -> String {
        let level = match self.verdict {
            "passed" | "measured" => "notice",
            "undecided" => "warning",
            _ => "error",
        };
        let origin = origin(self.tally.distinct_sets, self.tally.openings);
        let elo = self.elo.map(|elo| format!("; Elo {}, {origin}", interval(elo, 1))).unwrap_or_default();
        let what = format!("{}{elo}", self.headline());
        annotation(level, &format!("referee regress {}", self.game), &what)
    }

    /// Writes JUnit XML with one test case.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn junit(&self, mut out: impl io::Write) -> io::Result<()> {
        let (kind, message) = (self.verdict, self.headline());
        let case = Case {
            name: format!("{} against {}", self.new.command, self.base.command),
            class: format!("referee regress {}", self.game),
            took: Duration::from_millis(self.duration_ms),
            outcome: match kind {
                "passed" | "measured" => CaseOutcome::Passed,
                "failed" | "undecided" => {
                    CaseOutcome::Failed { kind: Some(kind), message, description: String::new() }
                }
                _ => CaseOutcome::Error { kind, message },
            },
            output: self.text(),
            stderr: String::new(),
        };
        out.write_all(xml("referee regress", &self.game, &[case]).as_bytes())
    }
}

/// The estimate with its interval inside the limits.
fn within(estimate: Estimate, limits: Option<PossibleScores>) -> Estimate {
    let Some(PossibleScores { least, most }) = limits else { return estimate };
    let [value, low, high] = [estimate.value, estimate.low, estimate.high].map(|end| end.clamp(least, most));
    Estimate { value, low, high }
}

/// The limits of the score and of Elo.
fn limits(possible: PossibleScores) -> String {
    let ([least, most], elo) = ([possible.least, possible.most].map(|part| 100.0 * part), possible.elo());
    let elo = Estimate { value: f64::INFINITY, low: elo.least, high: elo.most };
    format!(
        "a score from {least:.1}% to {most:.1}%, Elo {}: of two sides of one version one wins at most",
        interval(elo, 1)
    )
}

fn reason(outcome: &RegressionOutcome, findings: RegressionFindings<'_>, names: SettingNames) -> String {
    let RegressionFindings { regression, shard, crash, .. } = findings;
    let (terms, tally) = (regression.terms(), regression.tally());
    let sets = counted(tally.sets, "set", "sets");
    let place = match regression.sample().is_of_played_openings() {
        true => format!(" on the {} played", counted(tally.openings, "opening", "openings")),
        false => String::new(),
    };
    let alike = || regression.alike().map(|alike| bounds_of_alike(&alike)).unwrap_or_default();
    match outcome {
        RegressionOutcome::SameVersion => {
            "nothing to play: both versions have the same command, program, scripts and other files"
                .to_owned()
        }
        RegressionOutcome::Judged(Verdict::Passed) => accepted(terms.sprt.as_ref(), true, &place),
        RegressionOutcome::Judged(Verdict::Failed) => accepted(terms.sprt.as_ref(), false, &place),
        RegressionOutcome::Judged(Verdict::OnlyWithoutFaults) => format!(
            "H1 is accepted only without the {} with a fault of the base: had it won those matches, H0 would be",
            counted(tally.dropped, "set", "sets")
        ),
        RegressionOutcome::Judged(Verdict::AtLimit) => {
            let is_h1 = |sprt: Sprt| sprt.decide(sprt.llr(regression.scores())) == TestState::AcceptH1;
            let why = match terms.sprt.is_some_and(is_h1) {
                true => format!(
                    "H1 is accepted only without the {} with a fault of the base",
                    counted(tally.dropped, "set", "sets")
                ),
                false => "neither H0 nor H1 is accepted".to_owned(),
            };
            format!("{sets} did not decide ({why})")
        }
        RegressionOutcome::Judged(Verdict::OnlyRepeats) => format!(
            "the bots are deterministic and have nothing more to tell: after {} of {}, the last {} are copies; more openings \
             would tell more",
            counted(tally.distinct_sets, "distinct set", "distinct sets"),
            counted(tally.openings, "opening", "openings"),
            counted(terms.max_repeats, "set", "sets")
        ),
        RegressionOutcome::Judged(Verdict::Measured) => match shard {
            Some(shard) => {
                format!("{sets} of shard {shard} played; `referee regress merge` gives the verdict")
            }
            None => format!("{sets} played"),
        },
        RegressionOutcome::Judged(Verdict::Invalid) => {
            let Estimate { low, high, .. } = tally.fault_rate();
            format!(
                "{} of {} had a fault ({} to {} at 95%), where at most {}% of all may: {}",
                tally.faulty,
                counted(tally.matches, "match", "matches"),
                percent(low),
                percent(high),
                rounded(100.0 * terms.max_fault_rate),
                bots_at_fault(&tally, names)
            )
        }
        RegressionOutcome::Judged(Verdict::PassedAlike) => {
            format!("plays move for move the same as the base ({})", alike())
        }
        RegressionOutcome::Judged(Verdict::FailedAlike) => {
            format!("not stronger, plays move for move the same as the base ({})", alike())
        }
        RegressionOutcome::Judged(Verdict::Crashed) => {
            let crash = crash.map(|crash| format!(" in {}: {}", crash.id, crash.what));
            format!("the new version crashed{}", crash.unwrap_or_default())
        }
        RegressionOutcome::Undecided(why) => why.clone(),
        RegressionOutcome::Interrupted => format!("there is no verdict after {sets}"),
        RegressionOutcome::CouldNotRun(why) => why.clone(),
    }
}

/// The meaning of a verdict for the new version, with the openings, then how often the test errs.
fn accepted(sprt: Option<&Sprt>, is_passed: bool, place: &str) -> String {
    let Some(sprt) = sprt else { return String::new() };
    let (elo0, elo1) = (sprt.elo0(), sprt.elo1());
    let words = match (is_passed, elo0 < 0.0) {
        (true, true) if elo1 < 0.0 => "not much weaker",
        (true, true) => "not weaker",
        (true, false) => "stronger",
        (false, true) => "weaker",
        (false, false) if elo0 > 0.0 => "not stronger by enough",
        (false, false) => "not stronger",
    };
    format!("{words}{place} ({})", error_rates(sprt, is_passed))
}

/// The error rates of the test, by its bounds: a version 50 normalized Elo weaker passes in 5%, one 20 weaker
/// in 64%.
fn error_rates(sprt: &Sprt, is_passed: bool) -> String {
    let passes = |elo: f64| sprt.acceptance_of_h1(elo);
    let (worst, best) = (sprt.elo0(), sprt.elo1());
    let version = |elo: f64| match direction(elo) {
        None => "an equal version".to_owned(),
        Some(direction) => {
            format!("a version {} {} {direction}", rounded(elo.abs()), model_name(sprt.model()))
        }
    };
    if !is_passed {
        return format!("{} fails in {}", version(best), percent(1.0 - passes(best)));
    }
    let between = best - 0.4 * (best - worst);
    let one = match direction(between) {
        None => "an equal one".to_owned(),
        Some(direction) => format!("one {} {direction}", rounded(between.abs())),
    };
    format!("{} passes in {}, {one} in {}", version(worst), percent(passes(worst)), percent(passes(between)))
}

/// The direction of a version with this difference; `None` if it is equal to the base.
fn direction(elo: f64) -> Option<&'static str> {
    match rounded(elo) {
        0.0 => None,
        elo if elo < 0.0 => Some("weaker"),
        _ => Some("stronger"),
    }
}

/// Writes a share with one decimal below 10%.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let step = if percent < 10.0 { 10.0 } else { 1.0 };
    format!("{}%", (step * percent).round() / step)
}

/// The bots with the faults of an invalid run, and the remedy.
fn bots_at_fault(tally: &Tally, names: SettingNames) -> String {
    let &Tally { faults_of_new, faults_of_base, .. } = tally;
    let who = format!("`new` in {faults_of_new}, `base` in {faults_of_base}");
    if faults_of_base > faults_of_new {
        return format!(
            "{who}; a higher {} tolerates the faults of the base and drops the sets that have one",
            names("max_fault_rate", None)
        );
    }
    who
}

/// States that programs changed during a run.
fn changed_note(changed: &[&str], setting: SettingNames) -> String {
    let names: Vec<String> = changed.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "; the program of {} changed during the run ({})",
        names.join(" and of "),
        setting("accept_changed", None)
    )
}

/// A clock as the option `--clock` gives it.
fn clock_text(clock: Clock) -> String {
    let parts = [("delay", clock.delay_ms), ("bank", clock.bank_ms), ("increment", clock.increment_ms)];
    let parts = parts.into_iter().filter(|&(_, ms)| ms > 0);
    let parts = parts.map(|(name, ms)| {
        // Without the spaces of "1m 30s".
        let time = humantime::format_duration(Duration::from_millis(ms)).to_string().replace(' ', "");
        format!("{name}={time}")
    });
    parts.collect::<Vec<_>>().join(",")
}

/// The bounds from sets that were played alike: in all 74 sets; with 95% confidence at most 4.0% of sets differ, ...
fn bounds_of_alike(
    &SetsPlayedAlike { sets, confidence, differing, elo, elo_model, needed_sets }: &SetsPlayedAlike,
) -> String {
    let needed = needed_sets.filter(|&needed| needed > sets);
    let needed = needed.map(|needed| format!("; {needed} such sets decide the test")).unwrap_or_default();
    format!(
        "in all {sets} sets; with {}% confidence at most {:.1}% of sets differ, which is at most {elo:.1} {}{needed}",
        rounded(100.0 * confidence),
        100.0 * differing,
        model_name(elo_model)
    )
}

pub fn model_name(model: EloModel) -> &'static str {
    match model {
        EloModel::Logistic => "logistic Elo",
        EloModel::Normalized => "normalized Elo",
    }
}

/// The assumption of estimates, and the reason if they are less exact than others.
pub fn cautioned(assumption: &str, caution: Option<&str>) -> String {
    caution.map_or_else(|| assumption.to_owned(), |caution| format!("{assumption}; {caution}"))
}

/// Rounds to three decimals.
fn rounded(value: f64) -> f64 {
    (1000.0 * value).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_starts_with_the_meaning_for_the_new_version() {
        for (elo0, elo1, passed, failed) in [
            (-10.0, 0.0, "not weaker", "weaker"),
            (0.0, 10.0, "stronger", "not stronger"),
            (5.0, 10.0, "stronger", "not stronger by enough"),
            (-10.0, -5.0, "not much weaker", "weaker"),
        ] {
            let sprt = Sprt::new(elo0, elo1, 0.05, 0.05, EloModel::Normalized).expect("hypotheses");
            for (is_passed, words) in [(true, passed), (false, failed)] {
                let text = accepted(Some(&sprt), is_passed, "");
                assert!(text.starts_with(&format!("{words} (a")), "{text}");
            }
        }
    }

    #[test]
    fn a_headline_states_the_error_rates_of_the_test() {
        for (elo0, elo1, alpha, is_passed, text) in [
            (
                -50.0,
                0.0,
                0.05,
                true,
                "not weaker (a version 50 normalized Elo weaker passes in 5%, one 20 weaker in 64%)",
            ),
            (-50.0, 0.0, 0.05, false, "weaker (an equal version fails in 5%)"),
            (0.0, 20.0, 0.001, true, "stronger (an equal version passes in 0.1%, one 12 stronger in 52%)"),
            (0.0, 20.0, 0.05, false, "not stronger (a version 20 normalized Elo stronger fails in 5%)"),
        ] {
            let sprt = Sprt::new(elo0, elo1, alpha, 0.05, EloModel::Normalized).expect("hypotheses");
            assert_eq!(accepted(Some(&sprt), is_passed, ""), text);
        }
    }
}
