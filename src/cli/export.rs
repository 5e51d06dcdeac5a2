//! `referee export`: records in the notation that others read.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::files::{expand, read, write_out};
use crate::cli::{Exit, Failure};
use crate::games;
use crate::record;

/// Write records in a notation that other programs read: PDN for checkers
///
/// Every record is verified first. One that differs is refused: standard error tells what differs, the exit code is 1,
/// and the others are still written. Results have the meaning that they have in PDN: 1-0 is a win of Black, who is
/// seat 0 and moves first. A capture is written with its first and last square, and with all squares where that could
/// mean several.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee export records --pdn > games.pdn
  referee export records/m1.jsonl records/m2.jsonl --pdn -o games.pdn")]
pub(super) struct Args {
    /// Records, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write PDN, which checkers has
    #[arg(long, required = true)]
    pdn: bool,
    /// A new file to write to instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let files = expand(&args.files, &["jsonl"])?;
    let mut out = io::stdout().lock();
    let mut exit = Exit::Done;
    let mut text = String::new();
    for file in &files {
        match record::sheet(&read(file)?) {
            Ok((game, sheet)) => {
                let rules = games::find(&game).and_then(|rules| rules.notation());
                let pdn = rules.filter(|notation| notation.name() == "PDN");
                let pdn = pdn.ok_or_else(|| format!("{game} is not written in PDN"));
                pdn.and_then(|pdn| pdn.write(&sheet, &mut text))
                    .map_err(|what| Failure::usage(format!("{}: {what}", file.display())))?;
            }
            Err(differences) => {
                exit = Exit::No;
                for difference in differences {
                    eprintln!("{}: {difference}", file.display());
                }
            }
        }
        if args.output.is_none() {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    if args.output.is_some() {
        write_out(args.output.as_deref(), text.as_bytes())?;
    }
    Ok(exit)
}
