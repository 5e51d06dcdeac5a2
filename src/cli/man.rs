//! `referee man`: man pages.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::builder::Resettable;
use clap::{Args as ClapArgs, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::stdout;
use crate::files::Folder;
use crate::store::{now, utc};

/// Write the man pages: referee.1, and one per subcommand, such as referee-play.1
///
/// Without a directory: print referee.1.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee man | man -l -
  referee man ~/.local/share/man/man1")]
pub(super) struct Args {
    /// The directory; created if missing
    dir: Option<PathBuf>,
}

/// Writes the pages of this command, the whole of it.
pub(super) fn run(args: &Args, command: Command) -> Result<Exit, Failure> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(dir) = &args.dir else {
        let mut out = stdout();
        out.write_all(&page(&command)?.1)?;
        out.flush()?;
        return Ok(Exit::Done);
    };
    Folder::make_public(dir).and_then(|folder| write(&folder, &command)).map_err(Failure::cannot_run)?;
    Ok(Exit::Done)
}

/// Writes the pages of a command and its subcommands.
fn write(folder: &Folder, command: &Command) -> io::Result<()> {
    let (name, page) = page(command)?;
    folder.replace(&name, &page)?;
    let mut shown = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    shown.try_for_each(|subcommand| write(folder, subcommand))
}

/// Now, or for reproducible packages what SOURCE_DATE_EPOCH says.
fn built_at() -> SystemTime {
    let epoch = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    epoch.map_or_else(now, |seconds| UNIX_EPOCH + Duration::from_secs(seconds))
}

/// The file name and text of a page. The text after the help keeps its line breaks, so that examples can be copied.
fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    let date = utc(built_at()).split_once('T').map(|(day, _)| day.to_owned()).unwrap_or_default();
    let extra = command.get_after_help().map(ToString::to_string);
    let man = Man::new(command.clone().after_help(Resettable::Reset))
        .source(concat!("referee ", env!("CARGO_PKG_VERSION")))
        .date(date);
    let mut page = Vec::new();
    man.render(&mut page)?;
    if let Some((heading, lines)) = extra.as_deref().and_then(|extra| extra.split_once(":\n")) {
        let mut roff = Roff::new();
        roff.control("SH", [heading.to_uppercase().as_str()]).control("nf", []);
        roff.text([roman(lines)]).control("fi", []).to_writer(&mut page)?;
    }
    Ok((man.get_filename(), page))
}
