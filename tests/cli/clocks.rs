//! Clocks on a busy machine: the referee's own lag costs no bot time, and no bot gains time by causing it.
#![cfg(target_os = "linux")]

use std::process::{Child, Command};
use std::thread::available_parallelism;

use crate::common::{Folder, referee, sample};
use serde_json::Value;

/// Programs that use a processor each until this is dropped.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn start(count: usize) -> BusyLoops {
        let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
        BusyLoops((0..count).map(|_| busy()).collect())
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It runs until then.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A time of a line of a record, in microseconds.
fn us(line: &Value, key: &str) -> u64 {
    line[key].as_u64().unwrap_or_else(|| panic!("{key} in {line}"))
}

/// A bot that in its second turn thinks for 700 ms and does this meanwhile; its processes keep all processors busy.
fn cheat(folder: &Folder, name: &str, every_5_ms: &str, at_last: &str) -> String {
    let script = format!(
        "import time
def turn(t):
    if t['turn'] != 1:
        return first(t)
    parent = os.getpid()
    for _ in range({}):
        if os.fork() == 0:
            until = time.monotonic() + 1.5
            while time.monotonic() < until and os.getppid() == parent:
                pass
            os._exit(0)
    answer = json.dumps({{'type': 'move', 'match': t['match'], 'turn': 1, 'move': t['legal'][0]}}) + '\\n'
    begun, sent = time.monotonic(), 0
    while time.monotonic() < begun + 0.7:
        {every_5_ms}
        time.sleep(0.005)
    {at_last}
play(turn=turn)",
        2 * available_parallelism().map_or(1, usize::from)
    );
    folder.bot(name, &script)
}

#[test]
fn a_bot_gains_no_time_by_keeping_the_processors_busy() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let whole = "os.write(1, answer.encode())";
    let pieces = "sent < 20 and os.write(1, answer[sent:sent + 1].encode()); sent += 1";
    let cheats = [
        cheat(&folder, "silent", "pass", whole),
        cheat(&folder, "lines", "os.write(1, b'\\n') if sent < 40 else None; sent += 1", whole),
        cheat(&folder, "pieces", pieces, "os.write(1, answer[min(sent, 20):].encode())"),
    ];
    for cheat in cheats {
        let ended = referee(["play", "checkers", &plain, &cheat, "--clock", "delay=100ms", "--json"]);
        let played = ended.with_code(0).one("match");
        assert_eq!(played["fault"]["code"], "timeout", "{played}");
        assert_eq!(played["fault"]["seat"], 1, "{played}");
    }
}

/// The long form is run on a machine that does nothing else: there no honest bot has a fault.
#[test]
fn beside_busy_programs_no_bot_is_late_because_of_referee() {
    let is_long = std::env::var_os("LONG_TESTS").is_some();
    let (count, busy) = if is_long { (1_000, 8) } else { (6, 3) };
    let folder = Folder::new();
    let _busy = BusyLoops::start(busy);
    let (bot, records) = (sample("python/random_bot.py"), folder.text("records"));
    let number = count.to_string();
    let options = ["-n", &number, "--clock", "delay=50ms", "--record", &records, "--json"];
    let ended = referee([&["play", "checkers", &bot, &bot][..], &options].concat()).with_code(0);
    let matches = ended.all("match");
    assert_eq!(matches.len(), count);
    for (number, played) in (1..).zip(matches) {
        assert!(!is_long || played["fault"].is_null(), "{played}");
        let record = folder.record(&format!("records/m{number}.jsonl"));
        for line in record.iter().filter(|line| line["code"] == "timeout") {
            // The bot itself took longer than its limit and the margin.
            assert!(us(line, "took_us") - us(line, "lag_us") > 70_000, "{line}");
        }
    }
    referee(["verify".to_owned(), folder.text("records/m1.jsonl")]).with_code(0);
}
