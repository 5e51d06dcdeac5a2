//! `referee worker`: plays sets for a coordinator on another machine.

mod check;
#[cfg(feature = "nats")]
mod nats;
mod run;
mod state;
mod void;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::exit::{Exit, Failure};
use crate::game::Catalog;

/// Play sets for a coordinator (`referee tournament run --workers-listen`) on another machine
///
/// The worker connects over TLS, or with a URL such as nats://HOST to a NATS server (`--workers`). It plays as many sets concurrently as it has slots, and sends their records back, which the
/// coordinator verifies. It connects again after a loss of the connection or a restart of the coordinator, and ends when it is
/// interrupted; the sets in progress are then played elsewhere. On a machine with all layers of the sandbox `strict` it also builds
/// and checks programs that were handed in to a league, if the league leaves that to workers (`on` in [submissions]).
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  referee worker --connect host:4711 --token-file workers.token
  referee worker --connect host:4711 --token-file workers.token --slots 2 --until-empty
  referee worker --connect nats://host --credentials worker.creds --trust workers.sign.pub --until-empty
  referee worker check
  referee worker drain cup box7
  referee worker void cup box7

`referee spec workers` explains what the machine needs, limits and security."
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: Option<run::RunArgs>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Drain(state::DrainArgs),
    Aside(state::AsideArgs),
    Activate(state::ActivateArgs),
    Void(void::Args),
}

pub(super) fn run(args: Args, catalog: &Catalog) -> Result<Exit, Failure> {
    match (args.command, args.run) {
        (Some(Command::Check(args)), _) => check::run(&args),
        (Some(Command::Drain(args)), _) => state::drain(&args.of),
        (Some(Command::Aside(args)), _) => state::aside(&args.of),
        (Some(Command::Activate(args)), _) => state::activate(&args.of),
        (Some(Command::Void(args)), _) => void::run(&args, catalog),
        (None, Some(args)) => run::run(&args, catalog),
        (None, None) => Err(Failure::usage("required: --connect")),
    }
}
