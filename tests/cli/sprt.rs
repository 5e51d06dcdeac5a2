//! `referee sprt`: ratios, verdicts as exit codes, estimates from given counts.

use crate::common::referee;
use serde_json::{Value, json};

const PASSED: i32 = 0;
const FAILED: i32 = 1;
const USAGE: i32 = 2;
const UNDECIDED: i32 = 3;

fn number(report: &Value, path: &str) -> f64 {
    let value = report.pointer(path).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("no number {path} in {report}"))
}

fn assert_near(report: &Value, path: &str, expected: f64, tolerance: f64) {
    let found = number(report, path);
    assert!((found - expected).abs() <= tolerance, "{path}: {found}, not {expected}: {report}");
}

#[test]
fn counts_give_ratio_bounds_and_estimates_as_json() {
    let args = ["sprt", "--counts", "1,5,12,23,11", "--elo0", "0", "--elo1", "10", "--json"];
    let ended = referee(args).with_code(UNDECIDED);
    let [report] = &ended.json()[..] else { panic!("{}", ended.stdout) };
    assert_eq!([&report["verdict"], &report["sets"]], [&json!("undecided"), &json!(52)]);
    assert_near(report, "/llr", 1.169, 0.001);
    assert_near(report, "/lower", -2.944, 0.001);
    assert_near(report, "/upper", 2.944, 0.001);
    // 68.3%, and 1/4 of a deviation of a set is 42 normalized Elo at two matches a set.
    assert_near(report, "/elo/estimate", 133.0, 5.0);
    assert_near(report, "/nelo/estimate", 186.4, 5.0);
    for of in ["/elo", "/nelo", "/score"] {
        let [low, estimate, high] =
            ["low", "estimate", "high"].map(|part| number(report, &format!("{of}/{part}")));
        assert!(low < estimate && estimate < high, "{report}");
    }
    // Wald's approximation for nearly normal scores: 2 ln 19 · 0.9 / t².
    let t = 10.0 * 2f64.sqrt() / (800.0 / std::f64::consts::LN_10);
    assert_near(report, "/expected_sets/elo0", 2.0 * 19f64.ln() * 0.9 / (t * t), 60.0);
    assert!(number(report, "/expected_sets/estimate") < 300.0, "{report}");
}

#[test]
fn the_verdict_is_the_exit_code() {
    let verdict = |counts: &str, code| {
        let ended =
            referee(["sprt", "--counts", counts, "--elo0", "0", "--elo1", "60", "--json"]).with_code(code);
        ended.json()[0]["verdict"].clone()
    };
    assert_eq!(verdict("2,12,30,38,18", PASSED), "passed");
    assert_eq!(verdict("22,40,60,36,20", FAILED), "failed");
    assert_eq!(verdict("1,2,3,2,1", UNDECIDED), "undecided");
}

#[test]
fn single_matches_are_counted_by_wins_draws_and_losses() {
    // fastchess, app/tests/sprt_test.cpp: 0.92.
    let args = ["sprt", "--wdl", "36433,68692,36027", "--elo0", "0", "--elo1", "2", "--json"];
    let report = &referee(args).with_code(UNDECIDED).json()[0];
    assert_near(report, "/llr", 0.92, 0.0051);
    assert_eq!(report["counts"], json!([36027, 68692, 36433]));
    let ended = referee(["sprt", "--wdl", "15,30,15", "--elo-model", "logistic"]).with_code(UNDECIDED);
    assert!(ended.stdout.contains("-50 and 0 logistic Elo"), "{}", ended.stdout);
}

#[test]
fn the_output_states_the_assumptions_of_the_estimates() {
    let of =
        |more: &[&str]| referee(["sprt", "--counts", "3,20,51,33,9", "--gain"].iter().chain(more)).stdout;
    assert!(of(&[]).contains("corrected for a test that may end after every set"), "{}", of(&[]));
    let fixed = of(&["--fixed"]);
    assert!(fixed.contains("of a number of sets that was fixed in advance\n"), "{fixed}");
    let beyond = referee(["sprt", "--counts", "10,100,400,700,500"]).with_code(PASSED).stdout;
    assert!(beyond.contains("the test would have ended before the last of these"), "{beyond}");
}

#[test]
fn estimates_of_a_very_short_test_carry_a_caution() {
    let why = "the estimate may be biased: fewer than 10 sets have few possible scores";
    for (counts, more, is_biased) in
        [("1,2,3,2,1", &[][..], true), ("1,2,3,2,1", &["--fixed"], false), ("1,2,4,2,1", &[], false)]
    {
        let of = |format: &[&str]| referee(["sprt", "--counts", counts].iter().chain(more).chain(format));
        let text = of(&[]).stdout;
        assert_eq!(text.contains(why), is_biased, "{text}");
        let expected = if is_biased { json!(why) } else { Value::Null };
        assert_eq!(of(&["--json"]).json()[0]["estimates_caution"], expected);
    }
}

#[test]
fn one_sided_counts_have_exact_intervals() {
    // 0.025^(1/20) and 0.025^(1/14).
    let report = &referee(["sprt", "--counts", "20,0,0", "--gain", "--json"]).json()[0];
    assert_near(report, "/score/high", 1.0 - 0.8316, 1e-4);
    assert_near(report, "/score/low", 0.0, 0.0);
    let args = ["sprt", "--counts", "0,0,0,0,14", "--elo0", "0", "--elo1", "60", "--json"];
    let report = &referee(args).json()[0];
    assert_near(report, "/score/low", 0.7684, 1e-4);
    assert_near(report, "/elo/low", 208.4, 0.5);
    assert_eq!(report["elo"]["high"], Value::Null);
    // Half of the sets that may differ count: 1 - 0.025^(1/200) are 1.8%.
    let even = &referee(["sprt", "--counts", "0,0,200,0,0", "--fixed", "--json"]).json()[0];
    assert_near(even, "/score/high", 0.5 + 0.0183 / 2.0, 1e-4);
}

#[test]
fn missing_normalized_elo_is_explained() {
    for (counts, why) in [
        ("2399,1,0,0,0", "too few sets differ in score for an interval: 1 of 2400"),
        ("0,0,0,0,40", "too few sets differ in score for an interval: 0 of 40"),
        ("40000,15,0,0,0", "one-sided"),
        ("1,2,3,2,1", "fewer than 20 sets"),
    ] {
        let ended = referee(["sprt", "--counts", counts]);
        let line = ended.stdout.lines().find(|line| line.starts_with("normalized Elo")).expect("a line");
        assert!(line.contains("not shown: ") && line.contains(why), "{line}");
        let report = &referee(["sprt", "--counts", counts, "--json"]).json()[0];
        assert_eq!(report["nelo"], Value::Null);
        assert!(report["nelo_unknown"].as_str().is_some_and(|reason| reason.contains(why)), "{report}");
    }
}

#[test]
fn sets_of_three_sides_have_three_matches_and_thirteen_counts() {
    let args = ["sprt", "--counts", "0,1,2,4,6,8,9,10,8,6,4,2,1", "--json"];
    let llr = |more: &[&str]| number(&referee(args.iter().chain(more)).json()[0], "/llr");
    // Six matches per set by default: the same normalized Elo is a different fraction of a set's deviation.
    assert_ne!(llr(&["--legs", "3"]), llr(&[]));
    assert_eq!(llr(&["--legs", "6"]), llr(&[]));
}

#[test]
fn invalid_arguments_are_rejected() {
    for (args, what) in [
        (&["--counts", "1,2,3,4"][..], "4 counts do not fit sets of 2 matches"),
        (&["--counts", "1,2,3,4,5", "--legs", "3"], "5 counts do not fit sets of 3 matches"),
        (&["--wdl", "1,2"], "--wdl: 2 counts"),
        (&["--wdl", "0,0,0"], "there are no sets"),
        (&["--counts", "1,-2,3"], "invalid digit"),
        (&["--counts", "1,2,18446744073709551615"], "more than 10^15 sets"),
        (&["--wdl", "1,2,3", "--counts", "1,2,3"], "cannot be used with"),
        (&["--wdl", "1,2,3", "--elo0", "5", "--elo1", "5"], "elo0 must be below elo1"),
        (&[], "--counts"),
    ] {
        referee(["sprt"].iter().chain(args)).with_code(USAGE).says(&[what]);
    }
}
