//! `referee worker check`.

use crate::common::{Folder, referee};
use crate::sandbox::missing;

#[test]
fn a_machine_is_measured_and_judged() {
    let folder = Folder::new();
    let cache = folder.text("bots");
    let ended = referee(["worker", "check", "--json", "--time", "100ms", "--cache", &cache]);
    let checked = ended.one("worker_check");
    let number = |pointer: &str| checked.pointer(pointer).and_then(|value| value.as_f64()).expect(pointer);
    assert!(number("/cores") >= 1.0 && number("/verdict/sets") >= 1.0, "{checked}");
    let (median, p99) = (number("/calibration/median_us"), number("/calibration/p99_us"));
    assert!(0.0 < median && median <= p99 && p99 <= number("/calibration/longest_us"), "{checked}");
    assert!((0.0..=1.0).contains(&number("/calibration/disturbed")), "{checked}");
    assert!(number("/clock/read_ns") > 0.0 && number("/space/free_bytes") > 0.0, "{checked}");
    // A missing layer is listed, and is the exit code.
    let limits = checked["verdict"]["limits"].as_array().expect("a list");
    let of_sandboxes = limits.iter().filter(|limit| limit.as_str().expect("text").contains("sandbox"));
    let lacking = missing().iter().any(|&layer| layer != ::referee::bot::sandbox::Layer::LandlockScope);
    assert!(of_sandboxes.count() > 0 || !lacking, "{checked}");
    ended.with_code(if limits.is_empty() { 0 } else { 1 });
    assert!(!folder.path("bots").exists(), "a check leaves nothing behind");
}

#[test]
fn a_check_reads_as_text() {
    let ended = referee(["worker", "check", "--time", "50ms"]);
    for text in
        ["processors ", "round trip ", "clock ", "strict ", "space ", "A coordinator gives this machine"]
    {
        assert!(ended.stdout.contains(text), "{text}: {ended:#?}");
    }
    referee(["worker", "check", "--time", "0s"]).with_code(2).says(&["--time"]);
}
