//! `referee publish`: what the world may see of matches.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};

use crate::cli::exit::{Exit, Failure};
use crate::cli::files::{expand, read};
use crate::cli::json::PublishedRecord;
use crate::cli::output::TolerantStdout;
use crate::cli::screen::Screen;
use crate::files::Folder;
use crate::game::{Chain, json};
use crate::record::{PublicRecord, PublishedInfo, public};

/// Write records as the world may see them, and what only the owners of the bots may see
///
/// The public form of a record has the moves, draws, times, faults by code and the result, and verifies as the whole record
/// does. It has no command lines and files of bots, no standard error, no processor times and no free texts of details. With
/// --private, these and every `info` go to one file for each seat, whose SHA-256 the public form has: `referee verify
/// --private` compares them.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee publish records --to public
  referee publish records/m1.jsonl --to public --private owners --info never
  referee verify public/m1.jsonl --private owners/m1.seat0.jsonl

`referee spec records` describes both forms.")]
pub(super) struct Args {
    /// Sealed records, or directories of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The directory for public records, which keep their names
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// The directory for private lines: m1.seat0.jsonl for seat 0 of m1.jsonl, readable by this user only
    #[arg(long, value_name = "DIR")]
    private: Option<PathBuf>,
    /// Whether what bots say of their search is public
    #[arg(long, value_name = "WHEN", default_value = "after")]
    info: InfoChoice,
    /// One JSON object per line: each record and its files
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InfoChoice {
    Never,
    After,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let info = match args.info {
        InfoChoice::Never => PublishedInfo::Never,
        InfoChoice::After => PublishedInfo::After,
    };
    let mut out = Screen(TolerantStdout::new());
    let cannot_write =
        |path: &Path, error: &io::Error| Failure::cannot_run(format!("{}: {error}", path.display()));
    let to = Folder::make_public(&args.to).map_err(|error| cannot_write(&args.to, &error))?;
    let owners =
        args.private.as_ref().map(|path| Folder::make(path).map_err(|error| cannot_write(path, &error)));
    let owners = owners.transpose()?;
    for file in expand(&args.files, &["jsonl"])? {
        let wrong = |what: &dyn Display| Failure::usage(format!("{}: {what}", file.display()));
        if file.parent().and_then(|parent| parent.canonicalize().ok()) == to.path().canonicalize().ok() {
            return Err(wrong(
                &"--to is the directory of the record, which would be lost; expected another one",
            ));
        }
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| wrong(&"its name is not UTF-8"))?;
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let PublicRecord { record, private } =
            public(&read(&file)?, info).map_err(|difference| wrong(&Chain(&difference)))?;
        to.replace(name, &record).map_err(|error| cannot_write(&args.to.join(name), &error))?;
        let mut files = Vec::new();
        if let Some(owners) = &owners {
            let stem = name.strip_suffix(".jsonl").unwrap_or(name);
            for (seat, lines) in private.iter().enumerate() {
                let name = format!("{stem}.seat{seat}.jsonl");
                let path = owners.path().join(&name);
                owners.replace(&name, lines).map_err(|error| cannot_write(&path, &error))?;
                files.push(path);
            }
        }
        let published = PublishedRecord { file: &file, public: &args.to.join(name), private: &files };
        match args.json {
            true => writeln!(out, "{}", json::text(&published)),
            false => writeln!(out, "{} -> {}", file.display(), published.public.display()),
        }?;
    }
    out.0.end(Exit::Done)
}
