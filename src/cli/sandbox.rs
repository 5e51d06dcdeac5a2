//! The options of sandboxes, and `referee sandbox`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args as ClapArgs, Subcommand};

use crate::bot::sandbox::{BotLimits, Layer, Mode, Sandbox, Size, Unavailable, separate, threats};
use crate::bot::{Command, Launch, Launcher, StartError};
use crate::cli::bots::{block_on, launch};
use crate::cli::exit::{Exit, Failure};
use crate::cli::json::{LayerRow, ModeRow, SandboxCheck, ThreatRow};
use crate::cli::options::option_names;
use crate::cli::output::TolerantStdout;
use crate::cli::screen::Screen;
use crate::cli::screen::stderr_line;
use crate::game::Chain;
use crate::game::json;
use crate::report::table;
use crate::runs::config::{SandboxConfig, change_commands, default_sandbox};
use crate::sources::Source;

/// The sandbox of the bots that the referee starts.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Sandbox of bots that the referee starts")]
pub(super) struct SandboxOptions {
    /// strict: each bot reaches only its own files, processes and limits, and no network; basic: files and network,
    /// but no other process; none. See `referee spec security` [default: basic, if this machine has it]
    #[arg(long, value_name = "MODE")]
    sandbox: Option<Mode>,
    /// Do without this layer if the machine lacks it; may be repeated
    #[arg(long = "sandbox-allow-missing", value_name = "LAYER", requires = "sandbox")]
    allow_missing: Vec<Layer>,
    /// The memory of a bot [default in strict: 2GiB]
    #[arg(long = "sandbox-memory", value_name = "SIZE", requires = "sandbox")]
    memory: Option<Size>,
    /// The number of processes and threads of a bot [default in strict: 256]
    #[arg(long = "sandbox-processes", value_name = "N", requires = "sandbox")]
    processes: Option<u32>,
    /// The processors of a bot, such as 0.5 or 2 [default in strict: 1]
    #[arg(long = "sandbox-cpus", value_name = "N", requires = "sandbox")]
    cpus: Option<f64>,
    /// The size of a bot's temporary directory and of its largest file [default in strict: 256MiB]
    #[arg(long = "sandbox-scratch", value_name = "SIZE", requires = "sandbox")]
    scratch: Option<Size>,
    /// Allow the network in strict
    #[arg(long = "sandbox-network", requires = "sandbox")]
    network: bool,
    /// A further file or directory that bots can read in strict; may be repeated
    #[arg(long = "sandbox-read", value_name = "PATH", requires = "sandbox")]
    read: Vec<PathBuf>,
}

impl SandboxOptions {
    /// The sandbox. Without `--sandbox` it is `basic`, or `none` and a note on standard error if this machine lacks a
    /// layer of `basic`.
    fn sandbox(&self) -> Result<Sandbox, Failure> {
        let Some(config) = self.config() else {
            let mut notices = Vec::new();
            let sandbox = default_sandbox(option_names, &mut notices);
            notices.iter().for_each(stderr_line);
            return Ok(sandbox);
        };
        Ok(config.sandbox(Path::to_owned, option_names)?)
    }

    /// Converts the options into the form of a file; `None` without `--sandbox`.
    fn config(&self) -> Option<SandboxConfig> {
        Some(SandboxConfig {
            mode: self.sandbox?,
            allow_missing: self.allow_missing.iter().copied().collect(),
            limits: BotLimits {
                memory: self.memory,
                processes: self.processes,
                cpus: self.cpus,
                scratch: self.scratch,
                network: self.network.then_some(true),
                read: self.read.clone(),
            },
        })
    }

    /// Returns the settings once this machine has been found to have such a sandbox.
    pub(super) fn checked_config(&self) -> Result<Option<SandboxConfig>, Failure> {
        let config = self.config();
        config.is_some().then(|| self.sandbox()).transpose()?;
        Ok(config)
    }

    /// The sandbox of a bot whose directory is tested: `strict`, with the options that are given. Without any, it does without
    /// the layers that this machine lacks, and says so.
    pub(super) fn strict(&self) -> Result<Sandbox, Failure> {
        match self.sandbox {
            None => {
                let whole = Sandbox::new(Mode::Strict, &BTreeSet::new(), BotLimits::default());
                let missing = match whole {
                    Err(Unavailable::Layers(_, missing)) => missing,
                    _ => BTreeMap::new(),
                };
                for (layer, why) in &missing {
                    stderr_line(format_args!("tested without `{layer}`, which a league has: {}", Chain(why)));
                }
                let (sandbox, allow_missing) = (Some(Mode::Strict), missing.into_keys().collect());
                SandboxOptions { sandbox, allow_missing, ..self.clone() }.sandbox()
            }
            Some(Mode::Strict) => self.sandbox(),
            Some(mode) => Err(Failure::usage(format!(
                "--sandbox {mode}: a directory with a bot.toml is tested in `strict`, as a league does; name the command of \
                 the bot to test it without"
            ))),
        }
    }

    /// Puts bots into the sandbox.
    pub(super) fn apply<'a>(&self, bots: impl IntoIterator<Item = &'a mut Command>) -> Result<(), Failure> {
        let sandbox = self.sandbox()?;
        let mut bots: Vec<&mut Command> = bots.into_iter().collect();
        bots.iter_mut().for_each(|bot| bot.sandbox = sandbox.clone());
        separate(&mut bots);
        Ok(())
    }

    /// Puts those of these bots into the sandbox that the referee starts.
    pub(super) fn confine(&self, bots: &mut [Arc<dyn Source>]) -> Result<(), Failure> {
        change_commands(bots, |commands| self.apply(commands))
    }
}

/// Show which sandboxes this machine has
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee sandbox check
  referee sandbox check --json")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Check(CheckArgs),
}

/// Try every layer of the sandboxes, and start a program in each sandbox
///
/// The second table lists what bots may try, and the layers of this machine that stop it. Exit code 1 if the machine
/// lacks a layer of `strict`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee sandbox check
  systemd-run --user --scope -p Delegate=yes referee sandbox check
  referee sandbox check --json")]
struct CheckArgs {
    /// One JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let Action::Check(args) = &args.command;
    let layer = |layer: Layer| {
        let problem = layer.probe().err().map(|problem| Chain(&problem).to_string());
        LayerRow { layer, holds: problem.is_none(), problem }
    };
    let layers: Vec<LayerRow> = Layer::ALL.into_iter().map(layer).collect();
    let missing = layers.iter().filter(|row| !row.holds).map(|row| row.layer).collect();
    let mut modes = Vec::new();
    for mode in [Mode::Strict, Mode::Basic, Mode::None] {
        let is_complete = Sandbox::new(mode, &[].into(), BotLimits::default()).is_ok();
        let sandbox = Sandbox::new(mode, &missing, BotLimits::default()).map_err(Failure::cannot_run)?;
        let (start_ms, problem) = match block_on(start(launch()?, sandbox))? {
            Ok(time) => (Some(time.as_micros() as f64 / 1000.0), None),
            Err(error) => (None, Some(Chain(&error).to_string())),
        };
        modes.push(ModeRow { mode, is_complete, start_ms, problem });
    }
    let here = |layers: &[Layer]| layers.iter().copied().filter(|layer| layer.probe().is_ok()).collect();
    let threats = threats(rustix::process::geteuid().is_root()).map(|threat| ThreatRow {
        threat: threat.what,
        strict: here(threat.strict),
        basic: here(threat.basic),
    });
    let checked = SandboxCheck { layers, modes, threats: threats.collect() };
    let mut out = Screen(TolerantStdout::new());
    if args.json {
        writeln!(out, "{}", json::text(&checked))?;
    } else {
        show(&mut out, &checked)?;
    }
    let is_complete = checked.modes.iter().all(|row| row.is_complete && row.problem.is_none());
    out.0.end(if is_complete { Exit::Done } else { Exit::No })
}

/// Starts a program in a sandbox, and returns how long that takes. The first start, which reads files, does not count.
#[expect(clippy::disallowed_methods, reason = "for display only")]
async fn start(launch: Launch, sandbox: Sandbox) -> Result<Duration, StartError> {
    let launcher = Launcher::open(launch, 1)?;
    let command = Command { argv: vec!["true".to_owned()], sandbox, ..Command::default() };
    let mut took = Duration::ZERO;
    for _ in 0..2 {
        let command = command.clone();
        let began = Instant::now();
        let started = launcher.start(move |starter| starter.start(&command, |_| {})).await;
        took = began.elapsed();
        let (process, wire) = started?;
        drop(wire);
        process.end().await;
    }
    Ok(took)
}

fn show(out: &mut impl Write, checked: &SandboxCheck) -> std::io::Result<()> {
    let row = |row: &LayerRow| {
        let holds = if row.holds { "yes" } else { "no" };
        vec![row.layer.to_string(), holds.to_owned(), row.problem.clone().unwrap_or_default()]
    };
    let rows = checked.layers.iter().map(row).collect();
    writeln!(out, "{}\n", table(&["layer", "holds", ""], rows, 3..3).trim_fmt())?;
    let row = |row: &ThreatRow| {
        let stopped = |layers: &[Layer]| {
            let names: Vec<&str> = layers.iter().map(|layer| layer.as_str()).collect();
            if names.is_empty() { "not stopped".to_owned() } else { names.join(", ") }
        };
        vec![row.threat.to_owned(), stopped(&row.strict), stopped(&row.basic)]
    };
    let rows = checked.threats.iter().map(row).collect();
    writeln!(out, "{}\n", table(&["a bot may", "strict", "basic"], rows, 3..3).trim_fmt())?;
    for ModeRow { mode, is_complete, start_ms, problem } in &checked.modes {
        let what = if *is_complete { "" } else { ", without the missing layers" };
        match (start_ms, problem) {
            (Some(ms), _) => writeln!(out, "{mode}{what}: a program starts in {ms:.1} ms")?,
            (None, problem) => {
                let problem = problem.as_deref().unwrap_or_default();
                writeln!(out, "{mode}{what}: no program starts: {problem}")?;
            }
        }
    }
    Ok(())
}
