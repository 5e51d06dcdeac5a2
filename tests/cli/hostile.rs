//! Every hostile bot under every fault policy: it gains nothing, and other bots lose nothing.
//!
//! The outcome is the table in bots/hostile/TABLE.md; `UPDATE=1 cargo test --test cli hostile` updates it.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "waiting for processes to end takes real time")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ::referee::game::test_length::long_or;
use serde_json::Value;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/bots/hostile/TABLE.md");
const POLICIES: [&str; 3] = ["forfeit", "retry=2", "random"];
/// The bots of the first table for which a connection differs from a pipe.
const CONNECTING: [&str; 14] = [
    "honest",
    "silent",
    "silent_at_start",
    "half_line",
    "never_reads",
    "reads_slowly",
    "byte_by_byte",
    "floods_stdout",
    "empty_lines",
    "long_line",
    "invalid_json",
    "strays",
    "crash",
    "last_move_and_exit",
];
/// Marks the processes of a row; child processes inherit it.
const MARK: &str = "REFEREE_TEST_ROW";
const MEMORY: u64 = 64 * 1024 * 1024;

/// A bot's way to connect to the referee.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Pipes,
    Tcp,
}

struct Row {
    way: Way,
    cells: [String; 7],
    /// Violations beyond the table.
    complaints: Vec<String>,
}

#[test]
fn hostile_bots_get_listed_results_and_harm_no_other_bot() {
    let (bots, of_tcp) = (bots(""), bots("tcp"));
    assert!(bots.len() > 30, "only {} hostile bots", bots.len());
    let connecting = CONNECTING.into_iter().chain(of_tcp.iter().map(String::as_str));
    let plan: Vec<(&str, &str, Way)> = bots
        .iter()
        .flat_map(|bot| POLICIES.map(|policy| (bot.as_str(), policy, Way::Pipes)))
        .chain(connecting.map(|bot| (bot, POLICIES[0], Way::Tcp)))
        .collect();
    let updates = std::env::var_os("UPDATE").is_some();
    // Every bot meets the first policy in a short run, and every third one the others.
    let is_left_out = |index: usize| {
        let (bot, policy, _) = plan[index];
        let is_third = bots.iter().position(|known| known == bot).is_none_or(|at| at % 3 == 0);
        long_or(false, true) && !updates && policy != POLICIES[0] && !is_third
    };
    let next = AtomicUsize::new(0);
    let rows: Mutex<BTreeMap<usize, Row>> = Mutex::default();
    // Most of a row is waiting for limits to expire.
    thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                while let Some((index, &(bot, policy, way))) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, plan.get(i)?)))
                {
                    if is_left_out(index) {
                        continue;
                    }
                    let row = play(bot, policy, way, index);
                    rows.lock().unwrap().insert(index, row);
                }
            });
        }
    });
    let rows = rows.into_inner().unwrap();
    let complaints: Vec<String> = rows
        .values()
        .flat_map(|row| {
            row.complaints.iter().map(|what| format!("{} under {}: {what}", row.cells[0], row.cells[1]))
        })
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let written = write(&rows);
    if updates {
        fs::write(TABLE, &written).unwrap();
    }
    let kept = fs::read_to_string(TABLE).unwrap_or_default();
    let left_out = (0..plan.len()).filter(|&index| is_left_out(index));
    let left_out: Vec<String> =
        left_out.map(|index| format!("| {} | {} |", plan[index].0, plan[index].1)).collect();
    let kept: String =
        kept.split_inclusive('\n').filter(|line| !left_out.iter().any(|row| line.starts_with(row))).collect();
    let differing: Vec<String> = written
        .lines()
        .filter(|line| !kept.lines().any(|kept| kept == *line))
        .map(|line| format!("now: {line}"))
        .chain(
            kept.lines()
                .filter(|line| !written.lines().any(|written| written == *line))
                .map(|line| format!("was: {line}")),
        )
        .collect();
    assert!(kept == written, "{TABLE} is stale; UPDATE=1 writes it anew:\n{}", differing.join("\n"));
}

fn bots(below: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bots/hostile").join(below);
    let mut bots: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| {
            Some(entry.ok()?.path()).filter(|path| path.extension().is_some_and(|e| e == "py"))
        })
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('_'))
        .collect();
    bots.sort();
    bots
}

/// The script of a hostile bot.
fn script(bot: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/bots/hostile");
    let of_tcp = format!("{folder}/tcp/{bot}.py");
    if Path::new(&of_tcp).exists() { of_tcp } else { format!("{folder}/{bot}.py") }
}

/// Plays one match of the hostile bot in seat 0 against an honest one.
fn play(bot: &str, policy: &str, way: Way, index: usize) -> Row {
    let folder = tempfile::tempdir().unwrap();
    let records = folder.path().join("records");
    let (hostile, options): (String, &[&str]) = match way {
        Way::Pipes => (format!("python3 {}", script(bot)), &[]),
        Way::Tcp => (format!("tcp:{bot}"), &["--listen", "127.0.0.1:0", "--wait", "8s", "-n", "2"]),
    };
    let mark = format!("{}-{index}", std::process::id());
    let mut child = Command::new(env!("CARGO_BIN_EXE_referee"))
        .args(["play", "checkers", &hostile, &format!("python3 {}", script("honest"))])
        // The sandbox hides from some of them the file that the referee waits for.
        .args(["--json", "--on-fault", policy, "--sandbox", "none"])
        .args(options)
        .args(["--clock", "delay=5s", "--set", "turn_limit=14", "--hello-limit", "6s", "--ready-limit", "5s"])
        .args(["--seed", &"07".repeat(32), "--record"])
        .arg(&records)
        .env(MARK, &mark)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let peak = thread::spawn(move || {
        let mut peak = 0;
        while let Some(now) = fs::read_to_string(&status).ok().and_then(|status| allocated(&status)) {
            peak = now.max(peak);
            thread::sleep(Duration::from_millis(10));
        }
        peak
    });
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let connected = (way == Way::Tcp).then(|| connect(bot, &mut stdout, &mark));
    let output = thread::spawn(move || std::io::read_to_string(stdout).unwrap_or_default());
    let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    let exit = child.wait().unwrap().code();
    let output = output.join().unwrap();
    if let Some(mut connected) = connected {
        // Only the test ends a bot that connects.
        let _ = connected.kill();
        connected.wait().unwrap();
    }
    let left = left_behind(&mark);
    let mut complaints = Vec::new();
    if !left.is_empty() {
        complaints.push(format!("left behind after 3 s: {}", left.join(", ")));
    }
    let peak = peak.join().unwrap();
    if peak == 0 || peak >= MEMORY {
        complaints.push(format!("the referee used {peak} bytes"));
    }
    if stderr.contains("panicked") {
        complaints.push(stderr.clone());
    }
    let played: Option<Value> = output
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .find(|line: &Value| line["type"] == "match");
    let Some(played) = played else {
        complaints.push(format!("no match was reported: {output}{stderr}"));
        return Row { way, cells: [bot, policy, "", "", "", "", ""].map(str::to_owned), complaints };
    };
    if played["faults"][1] != serde_json::json!({}) {
        complaints.push(format!("the honest bot has faults: {}", played["faults"][1]));
    }
    let faults = played["faults"][0].as_object().unwrap();
    let record = fs::read_to_string(records.join("m1.jsonl")).unwrap_or_default();
    complaints.extend(complaints_of_the_other(&record, &played));
    let verified = Command::new(env!("CARGO_BIN_EXE_referee")).arg("verify").arg(&records).output().unwrap();
    if !verified.status.success() {
        complaints.push(format!("its record differs: {}", String::from_utf8_lossy(&verified.stdout)));
    }
    if bot == "reads_slowly" && answers(&record, 0).all(|answer| answer["took_us"].as_u64() < Some(300_000)) {
        complaints.push("the time in which it read slowly was not its own".to_owned());
    }
    let of = |key: &str| played[key].as_str().unwrap_or_default().to_owned();
    let each: Vec<String> = faults.iter().map(|(code, count)| format!("{code} {count}")).collect();
    let seat = if each.is_empty() { "" } else { "0" };
    let goes_on = goes_on(&record, &played);
    let result = match (of("ended_by"), of("reason")) {
        (by, why) if by == why => by,
        (by, why) => format!("{by}: {why}"),
    };
    let scores = played["scores"].as_array().map_or("none".to_owned(), |scores| {
        let scores: Vec<String> = scores.iter().map(ToString::to_string).collect();
        scores.join(" - ")
    });
    let exit = match exit {
        // The second match starts either before the flood has closed the connection, or without a bot.
        Some(0 | 5) if way == Way::Tcp && bot == "floods_stdout" => "0 or 5".to_owned(),
        exit => exit.map_or("signal".to_owned(), |code| code.to_string()),
    };
    let result = format!("{result}; exit code {exit}");
    Row {
        way,
        cells: [bot.into(), policy.into(), each.join(", "), seat.into(), goes_on, result, scores],
        complaints,
    }
}

/// Starts a hostile bot that connects to the referee.
fn connect(bot: &str, stdout: &mut impl BufRead, mark: &str) -> Child {
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let listening: Value = serde_json::from_str(&line).unwrap();
    Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/bots/hostile/_connect.py"))
        .args([listening["address"].as_str().unwrap(), &script(bot)])
        .env(MARK, mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The course of the match after the first fault.
fn goes_on(record: &str, played: &Value) -> String {
    let lines: Vec<Value> = record.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let Some(first) = lines.iter().position(|line| line["type"] == "fault") else {
        return "undisturbed".to_owned();
    };
    let of_seat =
        |kind: &str| lines[first..].iter().filter(|line| line["type"] == kind && line["seat"] == 0).count();
    match (of_seat("fallback"), of_seat("request")) {
        _ if played["ended_by"] == "aborted" => "aborted",
        (0, 0) => "ends at once",
        (0, _) => "request repeated",
        (1, _) => "one fallback move",
        (_, _) => "fallback moves",
    }
    .to_owned()
}

/// Complaints about the honest bot, if any.
fn complaints_of_the_other(record: &str, played: &Value) -> Vec<String> {
    let mut complaints = Vec::new();
    // A match that continues ends at its turn limit.
    let due = if matches!(played["ended_by"].as_str(), Some("fault" | "resignation")) { 1.0 } else { 0.5 };
    if played["scores"][1] != due {
        complaints.push(format!("the honest bot has not the points that it is due: {}", played["scores"]));
    }
    for answer in answers(record, 1) {
        // It answers within a millisecond; on a busy machine it also waits for a processor, as it states, and its
        // opponent may run before it is measured.
        let [Some(took), waited] = [&answer["took_us"], &answer["info"]["waited_us"]].map(Value::as_u64)
        else {
            complaints.push(format!("an answer without its time: {answer}"));
            continue;
        };
        if took > 1_000_000 + waited.unwrap_or(0) {
            complaints.push(format!("an answer of the honest bot was billed too much: {answer}"));
        }
    }
    complaints
}

fn answers(record: &str, seat: u8) -> impl Iterator<Item = Value> {
    let lines = record.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(move |line| line["type"] == "answer" && line["seat"] == seat)
}

/// Without the pages of the program itself, of which the kernel maps more or fewer.
fn allocated(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The processes of a row that are alive 3 s after the referee has ended.
fn left_behind(mark: &str) -> Vec<String> {
    let wanted = format!("{MARK}={mark}");
    let until = Instant::now() + Duration::from_secs(3);
    loop {
        let left: Vec<String> = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| is_marked(path, &wanted))
            .map(|path| fs::read_to_string(path.join("cmdline")).unwrap_or_default().replace('\0', " "))
            .collect();
        if left.is_empty() || Instant::now() >= until {
            return left;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn is_marked(process: &Path, wanted: &str) -> bool {
    fs::read(process.join("environ"))
        .is_ok_and(|environ| environ.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes()))
}

fn write(rows: &BTreeMap<usize, Row>) -> String {
    let headings = ["bot", "policy", "faults", "seat", "continuation", "result", "scores"];
    let mut text = "# Results of hostile bots\n\n\
        The test `hostile` generates this page from real matches of checkers: the hostile bot in seat 0 against an honest\n\
        one, 5 s per move, at most 14 moves. In every row the honest bot loses neither time nor points, the referee uses\n\
        less than 64 MiB, the record verifies, and 3 s after the end no process of the bot is left: the referee ends the\n\
        process group and, on Linux, processes that have moved to their own session. `UPDATE=1 cargo test --test cli\n\
        hostile` updates this page.\n\n"
        .to_owned();
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let over_tcp = "\n## Over TCP\n\n\
        Bots for which a connection differs from a pipe. Each row shows the first of two matches. The referee has not started\n\
        these bots, so it does not end them.\n\n";
    for (way, before) in [(Way::Pipes, ""), (Way::Tcp, over_tcp)] {
        text.push_str(before);
        text.push_str(&line(&headings.map(str::to_owned)));
        text.push_str(&line(&headings.map(|_| "---".to_owned())));
        rows.values().filter(|row| row.way == way).for_each(|row| text.push_str(&line(&row.cells)));
    }
    text
}
