//! `referee completions`: shell completions.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Args as ClapArgs, Command};
use clap_complete::{Shell, generate};

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::stdout;
use crate::game::Catalog;

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

/// Writes the script for this command, the whole of it.
pub(super) fn run(args: &Args, command: Command, catalog: &Catalog) -> Result<Exit, Failure> {
    // The generator panics if the output fails, so it writes to memory.
    let mut script = Vec::new();
    generate(args.shell, &mut with_games(command, &catalog.ids()), "referee", &mut script);
    let mut out = stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Gives arguments that name a game the games as their values, which the parser does not know.
fn with_games(command: Command, games: &[&'static str]) -> Command {
    let is_game = |name: &str| name.split(' ').any(|word| matches!(word, "GAME" | "[GAME]"));
    command
        .mut_args(|arg| match arg.get_value_names() {
            Some([name]) if is_game(name) => arg.value_parser(PossibleValuesParser::new(games)),
            _ => arg,
        })
        .mut_subcommands(|subcommand| with_games(subcommand, games))
}
