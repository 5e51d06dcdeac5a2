//! Whether a new version is stronger than its base: in words, as JSON, as JUnit XML and for GitHub.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;

use crate::referee::Faults;
use crate::report::github::{annotation, escaped};
use crate::report::table::faults;
use crate::tournament::rating::Estimate;
use crate::tournament::regression::{Regression, Tally, Verdict};
use crate::tournament::sprt::{EloModel, Sprt};

/// How a comparison ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it says.
    Judged(Verdict),
    /// Somebody ended it.
    Interrupted,
    /// It could not go on, and why.
    CouldNotRun(String),
}

impl Outcome {
    /// One word, as `--json` prints it.
    fn word(&self) -> &'static str {
        match self {
            Outcome::Judged(Verdict::Passed) => "passed",
            Outcome::Judged(Verdict::Failed) => "failed",
            Outcome::Judged(Verdict::AtLimit | Verdict::OnlyRepeats) => "undecided",
            Outcome::Judged(Verdict::Measured) => "measured",
            Outcome::Judged(Verdict::Invalid) => "invalid",
            Outcome::Interrupted => "interrupted",
            Outcome::CouldNotRun(_) => "could not run",
        }
    }
}

/// What came of a comparison, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "verdict")]
pub struct TrialReport {
    /// `passed`, `failed`, `undecided`, `measured`, `invalid`, `interrupted` or `could not run`.
    verdict: &'static str,
    /// Why, in words.
    reason: String,
    game: String,
    /// The command of the new version.
    new: String,
    /// The command of its base.
    base: String,
    /// How many sets at most.
    max_sets: u32,
    #[serde(flatten)]
    tally: Tally,
    /// How many sets scored how much, from 0 to 1 in equal steps.
    scores: Vec<u64>,
    score: Option<Estimate>,
    /// In logistic Elo; an end that is infinite is `null`.
    elo: Option<Estimate>,
    normalized_elo: Option<Estimate>,
    /// The probability that the new version is the stronger one.
    superiority: Option<f64>,
    /// None in a run of fixed length.
    test: Option<Sprt>,
    llr: Option<f64>,
    /// What accepts H0 and H1.
    bounds: Option<(f64, f64)>,
    fault_rate: f64,
    max_fault_rate: f64,
    faults: FaultsOfBoth,
    /// The run seed.
    seed: String,
    #[serde(skip)]
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
struct FaultsOfBoth {
    new: Faults,
    base: Faults,
}

impl TrialReport {
    /// Of `game` between the commands of `new` and `base`, with their faults.
    pub fn new(
        outcome: Outcome,
        game: &str,
        [new, base]: [String; 2],
        seed: String,
        regression: &Regression,
        &[of_new, of_base]: &[Faults; 2],
    ) -> TrialReport {
        let (terms, tally) = (regression.terms(), regression.tally());
        let difference = regression.scores().estimate();
        TrialReport {
            verdict: outcome.word(),
            reason: reason(&outcome, regression),
            game: game.to_owned(),
            new,
            base,
            max_sets: terms.max_sets,
            tally,
            scores: regression.scores().counts().to_vec(),
            score: difference.map(|difference| difference.score),
            elo: difference.map(|difference| difference.elo),
            normalized_elo: difference.and_then(|difference| difference.normalized_elo),
            superiority: difference.map(|difference| difference.superiority),
            test: terms.sprt,
            llr: regression.llr(),
            bounds: terms.sprt.map(|sprt| sprt.bounds()),
            fault_rate: tally.fault_rate(),
            max_fault_rate: terms.max_fault_rate,
            faults: FaultsOfBoth { new: of_new, base: of_base },
            seed,
            outcome,
        }
    }

    /// The verdict and why, in one line.
    pub fn headline(&self) -> String {
        format!("{}: {}", self.verdict, self.reason)
    }

    /// What there is to know, a line each.
    fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows =
            vec![("game", self.game.clone()), ("new", self.new.clone()), ("base", self.base.clone())];
        if let (Some(elo), Some(score)) = (self.elo, self.score) {
            rows.push(("Elo", format!("{} at 95%", interval(elo, 1))));
            if let Some(normalized) = self.normalized_elo {
                rows.push(("normalized Elo", format!("{} at 95%", interval(normalized, 1))));
            }
            let score = [score.value, score.low, score.high].map(|part| 100.0 * part.clamp(0.0, 1.0));
            rows.push(("score", format!("{:.1}% ({:.1}% to {:.1}%)", score[0], score[1], score[2])));
        }
        if let Some(superiority) = self.superiority {
            rows.push(("likelihood of superiority", format!("{:.1}%", 100.0 * superiority)));
        }
        if let (Some(llr), Some((lower, upper)), Some(sprt)) = (self.llr, self.bounds, self.test) {
            let (elo0, elo1, model) = (sprt.elo0(), sprt.elo1(), name(sprt.model()));
            let text = format!("{llr:.2}, bounds {lower:.2} and {upper:.2}, H0 {elo0} and H1 {elo1} {model}");
            rows.push(("LLR", text));
        }
        let Tally { sets, counted, dropped, repeated, matches, .. } = self.tally;
        let text = format!(
            "{sets} of at most {}: {counted} counted, {dropped} dropped for a fault of base, {repeated} repeated",
            self.max_sets
        );
        rows.push(("sets", text));
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
                _ => format!("{}, in {with_fault} of {matches} matches", faults(codes)),
            };
            rows.push((who, text));
        }
        rows.push(("run seed", self.seed.clone()));
        rows
    }

    /// For people.
    pub fn text(&self) -> String {
        let lines = self.rows().into_iter().map(|(name, what)| format!("{name:<27}{what}"));
        format!("{}\n\n{}", self.headline(), lines.collect::<Vec<_>>().join("\n"))
    }

    /// For the summary of a job on GitHub.
    pub fn markdown(&self) -> String {
        let mut text = format!("### {} {}\n\n| | |\n|---|---|\n", self.mark(), escaped(&self.headline()));
        for (name, what) in self.rows() {
            // A String takes all that is written to it.
            let _ = writeln!(text, "| {name} | {} |", escaped(&what));
        }
        text.push('\n');
        text
    }

    fn mark(&self) -> &'static str {
        match self.outcome {
            Outcome::Judged(Verdict::Passed | Verdict::Measured) => "✅",
            Outcome::Judged(Verdict::AtLimit | Verdict::OnlyRepeats) => "❔",
            _ => "❌",
        }
    }

    /// The line that has GitHub show the verdict beside the job.
    pub fn annotation(&self) -> String {
        let level = match self.outcome {
            Outcome::Judged(Verdict::Passed | Verdict::Measured) => "notice",
            Outcome::Judged(Verdict::AtLimit | Verdict::OnlyRepeats) => "warning",
            _ => "error",
        };
        let elo = self.elo.map(|elo| format!("; Elo {}", interval(elo, 1))).unwrap_or_default();
        let what = format!("{}{elo}", self.headline());
        annotation(level, &format!("referee regress {}", self.game), &what)
    }

    /// Writes JUnit XML with one test case.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn junit(&self, took: Duration, out: impl io::Write) -> io::Result<()> {
        let mut status = match self.outcome {
            Outcome::Judged(Verdict::Passed | Verdict::Measured) => TestCaseStatus::success(),
            Outcome::Judged(Verdict::Failed | Verdict::AtLimit | Verdict::OnlyRepeats) => {
                TestCaseStatus::non_success(NonSuccessKind::Failure)
            }
            _ => TestCaseStatus::non_success(NonSuccessKind::Error),
        };
        if !matches!(self.outcome, Outcome::Judged(Verdict::Passed | Verdict::Measured)) {
            status.set_type(self.verdict).set_message(self.headline());
        }
        let mut case = TestCase::new(format!("{} against {}", self.new, self.base), status);
        case.set_classname(format!("referee regress {}", self.game))
            .set_time(took)
            .set_system_out(self.text());
        let mut suite = TestSuite::new(&*self.game);
        suite.add_test_case(case);
        let mut report = Report::new("referee regress");
        report.add_test_suite(suite);
        report.serialize(out).map_err(io::Error::other)
    }
}

fn reason(outcome: &Outcome, regression: &Regression) -> String {
    let (terms, tally) = (regression.terms(), regression.tally());
    let of_test = |accepted: &str, rather: fn(&Sprt) -> f64, than: fn(&Sprt) -> f64| {
        terms.sprt.map_or_else(String::new, |sprt| {
            let model = name(sprt.model());
            format!(
                "{accepted} is accepted: a difference of {} rather than {} {model}",
                rather(&sprt),
                than(&sprt)
            )
        })
    };
    match outcome {
        Outcome::Judged(Verdict::Passed) => of_test("H1", Sprt::elo1, Sprt::elo0),
        Outcome::Judged(Verdict::Failed) => of_test("H0", Sprt::elo0, Sprt::elo1),
        Outcome::Judged(Verdict::AtLimit) => format!("{} sets accept neither H0 nor H1", tally.sets),
        Outcome::Judged(Verdict::OnlyRepeats) => format!(
            "the last {} sets repeated the moves of earlier ones; the bots need more openings",
            terms.max_repeats
        ),
        Outcome::Judged(Verdict::Measured) => format!("{} sets are played", tally.sets),
        Outcome::Judged(Verdict::Invalid) => format!(
            "{} of {} matches had a fault, where at most {}% of all may",
            tally.faulty,
            tally.matches,
            rounded(100.0 * terms.max_fault_rate)
        ),
        Outcome::Interrupted => format!("there is no verdict after {} sets", tally.sets),
        Outcome::CouldNotRun(why) => why.clone(),
    }
}

fn name(model: EloModel) -> &'static str {
    match model {
        EloModel::Logistic => "logistic Elo",
        EloModel::Normalized => "normalized Elo",
    }
}

/// A figure with its interval: +12.3 (-4.5 to +29.1).
pub fn interval(Estimate { value, low, high }: Estimate, decimals: usize) -> String {
    format!("{value:+.decimals$} ({low:+.decimals$} to {high:+.decimals$})")
}

/// With at most three decimals.
fn rounded(value: f64) -> f64 {
    (1000.0 * value).round() / 1000.0
}
