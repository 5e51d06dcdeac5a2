//! `referee spec`: prints the specification of the protocol.

use std::io::Write;

use clap::Args as ClapArgs;
use referee_protocol::spec::{PAGES, Page};

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::stdout;

/// Print a page of the protocol specification, as Markdown
///
/// Without a page: the list of pages.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee spec
  referee spec clocks
  referee spec faults.md#limits")]
pub(super) struct Args {
    /// The page, optionally with a section as cited by `referee check`
    #[arg(value_name = "PAGE[#SECTION]")]
    page: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut out = stdout();
    match &args.page {
        None => {
            for page in PAGES {
                writeln!(out, "{:<12} {}", page.name, page.title())?;
            }
        }
        Some(cited) => out.write_all(find(cited)?.as_bytes())?,
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn find(cited: &str) -> Result<&'static str, Failure> {
    let (file, section) = cited.split_once('#').map_or((cited, None), |(file, anchor)| (file, Some(anchor)));
    let name = file.strip_suffix(".md").unwrap_or(file);
    let page = PAGES.iter().find(|page| page.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<&str> = PAGES.iter().map(|page| page.name).collect();
        Failure::usage(format!("unknown page `{name}`; available: {}", names.join(", ")))
    })?;
    let Some(anchor) = section else { return Ok(page.text) };
    page.section(anchor).ok_or_else(|| unknown_section(page, anchor))
}

fn unknown_section(page: &Page, anchor: &str) -> Failure {
    Failure::usage(format!(
        "unknown section `{anchor}` of `{0}`; `referee spec {0}` prints the page",
        page.name
    ))
}
