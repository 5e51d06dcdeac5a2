//! `referee league organiser` and `announce`: who signs in on the page of organisers, and what they say.

use std::io::{Read, Write};

use clap::{Args as ClapArgs, Subcommand};
use sha2::{Digest, Sha256};

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::OrganiserLine;
use crate::cli::league::log;
use crate::cli::league::which::LeagueSelector;
use crate::cli::options::random_seed;
use crate::cli::screen;
use crate::cli::user::user;
use crate::game::json;
use crate::game::name::check_name;
use crate::league::OrganiserAct;
use crate::store::now;
use crate::web::announce as write_announcement;

/// Let people organise in a browser: add, remove or list those who sign in at `/organiser` of the owners' pages
///
/// What they do there is what the other commands do; `referee league log` has it with their names.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league organiser add jury
  referee league organiser list")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add an organiser and print the token, or replace the token of the one with this name
    #[command(after_help = "Examples:
  referee league organiser add jury
  referee league organiser add jury --json")]
    Add(AddArgs),
    /// Remove an organiser: the token is invalid from now on
    #[command(after_help = "Examples:
  referee league organiser remove jury")]
    Remove(RemoveArgs),
    /// List organisers
    #[command(after_help = "Examples:
  referee league organiser list
  referee league organiser list --json")]
    List(ListArgs),
}

#[derive(Debug, ClapArgs)]
struct AddArgs {
    /// The name, as the log has it
    name: String,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

#[derive(Debug, ClapArgs)]
struct RemoveArgs {
    /// The name
    name: String,
    #[command(flatten)]
    which: LeagueSelector,
}

#[derive(Debug, ClapArgs)]
struct ListArgs {
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn run(args: Args) -> Result<Exit, Failure> {
    let mut out = screen::stdout();
    match args.command {
        Command::Add(AddArgs { name, json: is_json, which }) => {
            check_name(&name).map_err(|what| Failure::usage(format!("`{name}`: {what}")))?;
            let (_, mut league) = which.open()?;
            let token = random_seed()?.to_hex();
            let hash = Sha256::digest(&token).into();
            log::act(&mut league, OrganiserAct::AddOrganiser { name: &name, hash })?;
            if is_json {
                writeln!(out, "{}", json::text(&OrganiserLine { name: &name, token: Some(&token) }))?;
            } else {
                writeln!(out, "{name} signs in with this token, which is not shown again:\n{token}")?;
            }
        }
        Command::Remove(RemoveArgs { name, which }) => {
            let (_, mut league) = which.open()?;
            log::act(&mut league, OrganiserAct::RemoveOrganiser { name: &name })?;
            writeln!(out, "{name} organises no more")?;
        }
        Command::List(ListArgs { json: is_json, which }) => {
            let (_, league) = which.open()?;
            for name in league.organisers().map_err(Failure::cannot_run)? {
                match is_json {
                    true => writeln!(out, "{}", json::text(&OrganiserLine { name: &name, token: None }))?,
                    false => writeln!(out, "{name}")?,
                }
            }
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Announce something on the pages: writes a file to the directory `announcements` of `[pages]`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league announce 'Finals on Friday' --text 'In room **5**, at 18:00.'
  referee league announce 'New rules'")]
pub(super) struct AnnounceArgs {
    /// The title, in one line
    title: String,
    /// What it says, in Markdown [default: standard input]
    #[arg(long)]
    text: Option<String>,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn announce(args: AnnounceArgs) -> Result<Exit, Failure> {
    let AnnounceArgs { title, text, which } = args;
    let (config, mut league) = which.open()?;
    let folder = config
        .announcements()
        .ok_or_else(|| Failure::usage("the file of the league has no `announcements` in `[pages]`"))?;
    let text = match text {
        Some(text) => text,
        None => {
            let mut text = String::new();
            std::io::stdin().take(1 << 20).read_to_string(&mut text).map_err(Failure::usage)?;
            text
        }
    };
    let id = write_announcement(&folder, &title, &text, now()).map_err(Failure::usage)?;
    league.log(&user(), &format!("announce {title}"), now()).map_err(Failure::cannot_run)?;
    writeln!(screen::stdout(), "announced as {id}")?;
    Ok(Exit::Done)
}
