//! `referee worker check`: expectations of a coordinator of this machine.

use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crate::bot::sandbox::{BotLimits, Layer, Mode, Sandbox, Unavailable};
use crate::cli::bots::{block_on, launch};
use crate::cli::exit::{Exit, Failure};
use crate::cli::json::{ClockCheck, MachineVerdict, SandboxVerdict, SpaceCheck, WorkerCheck};
use crate::cli::output::TolerantStdout;
use crate::cli::screen::Screen;
use crate::game::Chain;
use crate::game::json;
use crate::workers::archive::{Cache, MOST_BYTES};
use crate::workers::calibration::Calibration;
use crate::workers::machine::processor;

/// The number of readings of the clock, and of timers set.
const READINGS: u32 = 10_000;
const TIMERS: u32 = 100;
const TIMER: Duration = Duration::from_millis(1);

/// Measure this machine, and say which matches a coordinator gives it
///
/// Measures the round trip between the referee and a bot for a second, the clock and its timers; tries every layer of the
/// sandboxes; and looks at the space for the bots. Run it while the machine does what it does during the matches. Exit code
/// 1 if there are matches that this machine does not get.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee worker check
  referee worker check --time 10s
  systemd-run --user --scope -p Delegate=yes referee worker check
  referee worker check --json | jq .verdict")]
pub(super) struct Args {
    /// How long round trips are measured
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    time: Duration,
    /// The directory of the archives of bots [default: ~/.cache/referee/bots]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.time.is_zero() {
        return Err(Failure::usage("--time: it takes some time, such as 1s"));
    }
    let folder = args.cache.clone().map_or_else(Cache::usual_folder, Ok).map_err(Failure::usage)?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let calibration = block_on(Calibration::measure(launch()?, args.time))?
        .map_err(|error| Failure::cannot_run(format!("round trips cannot be measured: {}", Chain(&error))))?;
    let space = space(&folder)?;
    let sandboxes = [Mode::Strict, Mode::Basic].map(sandbox).into();
    let mut verdict = MachineVerdict {
        sets: cores,
        timed: !calibration.is_noisy(),
        archives: space.free_bytes >= MOST_BYTES,
        limits: Vec::new(),
    };
    if !verdict.timed {
        verdict.limits.push(format!(
            "no matches with a clock: round trips of more than 5 ms took {:.1}% of the time (1% at most)",
            calibration.disturbed * 100.0
        ));
    }
    let checked = WorkerCheck {
        cores,
        processor: processor(),
        memory_bytes: memory(),
        calibration,
        clock: clock(),
        sandboxes,
        space,
        verdict,
    };
    let checked = with_limits(checked);
    let mut out = Screen(TolerantStdout::new());
    if args.json {
        writeln!(out, "{}", json::text(&checked))?;
    } else {
        show(&mut out, &checked)?;
    }
    out.0.end(if checked.verdict.limits.is_empty() { Exit::Done } else { Exit::No })
}

/// Adds the matches that the sandboxes and the space exclude.
fn with_limits(mut checked: WorkerCheck) -> WorkerCheck {
    for SandboxVerdict { mode, missing, .. } in checked.sandboxes.iter().filter(|row| !row.missing.is_empty())
    {
        let names: Vec<&str> = missing.iter().map(|layer| layer.as_str()).collect();
        checked.verdict.limits.push(format!("no bots in the sandbox `{mode}`: {} missing", names.join(", ")));
    }
    if !checked.verdict.archives {
        checked.verdict.limits.push(format!(
            "no large bots: {} has {} free, and an archive may have {}",
            checked.space.directory.display(),
            gibibytes(checked.space.free_bytes),
            gibibytes(MOST_BYTES)
        ));
    }
    checked
}

/// The memory that is available, where the system reports it.
fn memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let available = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    available.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib << 10)
}

#[expect(clippy::disallowed_methods, reason = "the measurement")]
fn clock() -> ClockCheck {
    let began = Instant::now();
    for _ in 1..READINGS {
        std::hint::black_box(Instant::now());
    }
    let read_ns = began.elapsed().as_nanos() as f64 / f64::from(READINGS);
    let late = || {
        let began = Instant::now();
        thread::sleep(TIMER);
        began.elapsed().saturating_sub(TIMER).as_nanos() as f64 / 1000.0
    };
    let mut late: Vec<f64> = (0..TIMERS).map(|_| late()).collect();
    late.sort_unstable_by(f64::total_cmp);
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(source).ok().map(|name| name.trim().to_owned());
    ClockCheck { source, read_ns, timer_late_us: late[late.len() / 2], timer_latest_us: late[late.len() - 1] }
}

fn sandbox(mode: Mode) -> SandboxVerdict {
    let missing: Vec<Layer> = match Sandbox::new(mode, &[].into(), BotLimits::default()) {
        Err(Unavailable::Layers(_, missing)) => missing.into_keys().collect(),
        _ => Vec::new(),
    };
    SandboxVerdict { mode, complete: missing.is_empty(), missing }
}

/// The free space for the directory, which may not exist yet.
fn space(directory: &std::path::Path) -> Result<SpaceCheck, Failure> {
    let existing = directory.ancestors().find(|folder| folder.is_dir());
    let existing = existing.unwrap_or(std::path::Path::new("."));
    let found = rustix::fs::statvfs(existing)
        .map_err(|error| Failure::cannot_run(format!("{}: {error}", existing.display())))?;
    Ok(SpaceCheck { directory: directory.to_owned(), free_bytes: found.f_bavail * found.f_frsize })
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

fn show(out: &mut impl Write, checked: &WorkerCheck) -> std::io::Result<()> {
    let WorkerCheck { cores, processor, memory_bytes, calibration, clock, sandboxes, space, verdict } =
        checked;
    let unknown = || "unknown".to_owned();
    writeln!(out, "processors   {cores}, {}", processor.clone().unwrap_or_else(unknown))?;
    writeln!(out, "memory       {} available", memory_bytes.map_or_else(unknown, gibibytes))?;
    let Calibration { median_us, p99_us, longest_us, disturbed } = calibration;
    writeln!(
        out,
        "round trip   {median_us:.1} us; 99% within {p99_us:.1} us, the longest {longest_us:.0} us; more than 5 ms: \
         {:.1}% of the time",
        disturbed * 100.0
    )?;
    let source = clock.source.clone().unwrap_or_else(unknown);
    writeln!(
        out,
        "clock        {source}, read in {:.0} ns; timers are {:.0} us late, at most {:.0} us",
        clock.read_ns, clock.timer_late_us, clock.timer_latest_us
    )?;
    for SandboxVerdict { mode, missing, .. } in sandboxes {
        let names: Vec<&str> = missing.iter().map(|layer| layer.as_str()).collect();
        let what =
            if names.is_empty() { "complete".to_owned() } else { format!("lacks {}", names.join(", ")) };
        writeln!(out, "{:<13}{what}", mode.to_string())?;
    }
    writeln!(out, "space        {} free for {}", gibibytes(space.free_bytes), space.directory.display())?;
    let sets = crate::game::counted(verdict.sets, "set", "sets");
    writeln!(out, "\nA coordinator gives this machine {sets} at a time.")?;
    for limit in &verdict.limits {
        writeln!(out, "  {limit}")?;
    }
    if sandboxes.iter().any(|row| !row.complete) {
        writeln!(out, "`referee sandbox check` says what to install for the sandboxes.")?;
    }
    Ok(())
}
