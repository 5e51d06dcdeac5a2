//! Bots that hold the pipes between them and the referee, and the matches of others on the same lane.
#![cfg(target_os = "linux")]

mod common;

use common::{Folder, ROOT, on_one_processor, the};
use serde_json::{Value, json};

/// The longest that an answer of a seat took, in microseconds.
fn slowest(record: &[Value]) -> u64 {
    record.iter().filter_map(|line| line["took_us"].as_u64()).max().expect("an answer")
}

#[test]
fn a_bot_that_holds_its_pipe_is_ended_and_other_matches_of_its_lane_go_on() {
    let folder = Folder::new();
    let script = format!(
        "sys.path.append('{ROOT}/bots/hostile')
import _splice
def turn(t):
    if t['match'] == 'm4' and t['turn'] == 4:
        # The referee's lane has a processor; who holds the pipe takes another, if there is one.
        os.sched_setaffinity(0, range(os.cpu_count()))
        os.dup2(_splice.into(1), 1)
    first(t)
play(turn=turn)"
    );
    let holder = folder.bot("holder", &script);
    let other = folder.bot("other", "import time\nplay(turn=lambda t: (time.sleep(0.005), first(t)))");
    let records = folder.text("records");
    let args = ["play", "checkers", &holder, &other, "-n", "12", "--jobs", "3", "--set", "turn_limit=40"];
    let args = [&args[..], &["--json", "--clock", "delay=1s", "--record", &records]].concat();
    let ended = on_one_processor(&args).end().done();
    let matches = ended.all("match");
    assert_eq!(matches.len(), 12);
    for played in matches {
        let id = played["id"].as_str().expect("an id");
        let record = folder.record(&format!("records/{id}.jsonl"));
        if id == "m4" {
            let detail = "signal 9: it held its pipe, and the referee had to wait";
            assert_eq!(played["fault"]["code"], "exited");
            assert_eq!(played["fault"]["detail"], detail);
            assert_eq!(the("fault", &record)["detail"], detail);
        } else {
            assert_eq!([&played["ended_by"], &played["faults"]], [&json!("turn_limit"), &json!([{}, {}])]);
            // 150 ms, and what a busy machine adds.
            assert!(slowest(&record) < 500_000, "{id}: {} us", slowest(&record));
        }
    }
}
