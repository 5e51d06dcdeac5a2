//! `referee completions`: shell completions.

use std::io::Write;

use clap::{Args as ClapArgs, CommandFactory};
use clap_complete::{Shell, generate};

use crate::cli::output::stdout;
use crate::cli::{Cli, Exit, Failure};

/// Print a shell completion script
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee completions bash > ~/.local/share/bash-completion/completions/referee
  referee completions fish > ~/.config/fish/completions/referee.fish
  referee completions zsh > ~/.zfunc/_referee")]
pub(super) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    // The generator panics if the output fails, so it writes to memory.
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "referee", &mut script);
    let mut out = stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Done)
}
