//! `referee sprt`: the test and the estimates of `referee regress`, from given counts.

use std::io::{self, Write};

use clap::{ArgGroup, Args as ClapArgs};

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::{ExpectedSets, Range, SprtReport};
use crate::cli::options::HypothesisOptions;
use crate::cli::output::TolerantStdout;
use crate::report::{cautioned, interval, model_name, percent_interval};
use crate::stats::estimates::{Basis, Estimates, expected_sets};
use crate::stats::rating::Estimate;
use crate::stats::sprt::{EloModel, SetScores, Sprt, TestState};

/// Compute a sequential test (SPRT) and the difference in strength from counts of results
///
/// Prints the log-likelihood ratio of H1 (a difference of --elo1) to H0 (--elo0) with its bounds, Elo and normalized
/// Elo with 95% intervals, and the average number of sets that the test takes. The estimates are corrected for a test
/// that ends when a bound is reached; --fixed is for a number of sets that was fixed in advance. Counts do not show which
/// sets share an opening: the interval is one for openings like these only if each set has an opening of its own, and
/// else for the openings that were played. No matches are played.
///
/// The exit code is the verdict: 0 passed (H1), 1 failed (H0), 3 undecided.
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("results").required(true).args(["counts", "wdl"]))]
#[command(after_help = "Examples:
  referee sprt --counts 1,5,12,23,11 --elo0 0 --elo1 10
  referee sprt --wdl 1520,2860,1430 --elo0 0 --elo1 5 --elo-model logistic
  referee sprt --counts 3,20,51,33,9 --fixed --json")]
pub(super) struct Args {
    /// The number of sets per score, from all lost to all won in equal steps. For two mirrored matches per set: LL,
    /// LD, LW and DD, WD, WW
    #[arg(long, value_name = "N,N,...", value_delimiter = ',')]
    counts: Vec<u64>,
    /// The numbers of single matches that were won, drawn and lost
    #[arg(long, value_name = "W,D,L", value_delimiter = ',')]
    wdl: Vec<u64>,
    /// The number of matches per set; with three sides 3 for 13 counts [default: half the number of steps]
    #[arg(long, value_name = "N", conflicts_with = "wdl", value_parser = clap::value_parser!(u32).range(1..=1000))]
    legs: Option<u32>,
    #[command(flatten)]
    hypotheses: HypothesisOptions,
    /// The number of sets was fixed in advance: do not correct the estimates for a test that ends by its results
    #[arg(long)]
    fixed: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl From<Estimate> for Range {
    fn from(Estimate { value, low, high }: Estimate) -> Range {
        Range { low, estimate: value, high }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let sprt = args.hypotheses.hypotheses().sprt().map_err(Failure::usage)?;
    let scores = args.scores()?;
    let estimates =
        if args.fixed { Estimates::fixed(&scores) } else { Estimates::sequential(&scores, &sprt) };
    let Some(estimates) = estimates else {
        return Err(Failure::usage("there are no sets: all counts are 0"));
    };
    let llr = sprt.llr(&scores);
    let (verdict, exit) = match sprt.decide(llr) {
        TestState::AcceptH1 => ("passed", Exit::Done),
        TestState::AcceptH0 => ("failed", Exit::No),
        TestState::Continue => ("undecided", Exit::Undecided),
    };
    let mut out = TolerantStdout::new();
    if args.json {
        let report = report(verdict, llr, &scores, &sprt, &estimates);
        writeln!(out, "{}", serde_json::to_string(&report).map_err(io::Error::from)?)?;
    } else {
        let is_beyond = !args.fixed && estimates.basis == Basis::Fixed;
        writeln!(out, "{}", text(&report(verdict, llr, &scores, &sprt, &estimates), &estimates, is_beyond))?;
    }
    out.end(exit)
}

impl Args {
    fn scores(&self) -> Result<SetScores, Failure> {
        if !self.wdl.is_empty() {
            let &[won, drawn, lost] = &*self.wdl else {
                let given = self.wdl.len();
                return Err(Failure::usage(format!("--wdl: {given} counts, where W,D,L are three")));
            };
            return SetScores::of(1, vec![lost, drawn, won]).map_err(Failure::usage);
        }
        let legs = self.legs.unwrap_or((self.counts.len() / 2) as u32);
        SetScores::of(legs, self.counts.clone()).map_err(|what| Failure::usage(format!("--counts: {what}")))
    }
}

fn report(
    verdict: &'static str,
    llr: f64,
    scores: &SetScores,
    sprt: &Sprt,
    estimates: &Estimates,
) -> SprtReport {
    let (lower, upper) = sprt.bounds();
    let expected = |elo: f64| expected_sets(scores, sprt, elo).map(|sets| sets.ceil() as u64);
    let estimated = match sprt.model() {
        EloModel::Logistic => Some(estimates.difference.elo.value),
        EloModel::Normalized => estimates.normalized_elo.ok().map(|elo| elo.value),
    };
    SprtReport {
        verdict,
        llr,
        lower,
        upper,
        elo0: sprt.elo0(),
        elo1: sprt.elo1(),
        alpha: sprt.alpha(),
        beta: sprt.beta(),
        elo_model: sprt.model(),
        sets: scores.sets(),
        counts: scores.counts().to_vec(),
        estimates: estimates.basis,
        estimates_caution: estimates.caution.map(|why| why.to_string()),
        score: estimates.difference.score.into(),
        elo: estimates.difference.elo.into(),
        nelo: estimates.normalized_elo.ok().map(Range::from),
        nelo_unknown: estimates.normalized_elo.err().map(|why| why.to_string()),
        superiority: estimates.difference.superiority,
        expected_sets: ExpectedSets {
            elo0: expected(sprt.elo0()),
            elo1: expected(sprt.elo1()),
            estimate: estimated.filter(|elo| elo.abs() <= 1000.0).and_then(expected),
        },
    }
}

fn text(report: &SprtReport, estimates: &Estimates, is_beyond: bool) -> String {
    let SprtReport { verdict, llr, lower, upper, elo0, elo1, .. } = report;
    let basis = match (estimates.basis, is_beyond) {
        (Basis::Sequential, _) => "corrected for a test that may end after every set",
        (Basis::Fixed, false) => "of a number of sets that was fixed in advance",
        (Basis::Fixed, true) => {
            "of a number of sets that was fixed in advance: the test would have ended before the last of these"
        }
    };
    let ExpectedSets { elo0: at_h0, elo1: at_h1, estimate } = &report.expected_sets;
    let sets = |sets: &Option<u64>| sets.map_or_else(|| "unknown".to_owned(), |sets| sets.to_string());
    let counts: Vec<String> = report.counts.iter().map(u64::to_string).collect();
    let rows = [
        ("LLR", format!("{llr:.3}, bounds {lower:.3} and {upper:.3}")),
        ("H0 and H1", format!("{elo0} and {elo1} {}", model_name(report.elo_model))),
        ("sets", format!("{}, by score {}", report.sets, counts.join(" "))),
        ("Elo", format!("{} at 95%", interval(estimates.difference.elo, 1))),
        (
            "normalized Elo",
            match estimates.normalized_elo {
                Ok(elo) => format!("{} at 95%", interval(elo, 1)),
                Err(why) => format!("not shown: {why}"),
            },
        ),
        ("score", percent_interval(estimates.difference.score)),
        ("likelihood of superiority", format!("{:.1}%", 100.0 * report.superiority)),
        ("estimates", cautioned(basis, report.estimates_caution.as_deref())),
        (
            "sets expected",
            format!("{} at H0, {} at H1, {} at the estimate", sets(at_h0), sets(at_h1), sets(estimate)),
        ),
    ];
    let lines = rows.into_iter().map(|(name, what)| format!("{name:<27}{what}"));
    format!("{verdict}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}
