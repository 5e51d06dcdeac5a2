//! `referee league tokens`: new tokens for all.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::LeagueTokens;
use crate::cli::league::log;
use crate::cli::league::owners::new_token;
use crate::cli::league::which::LeagueSelector;
use crate::cli::screen;
use crate::game::json;
use crate::league::{LeagueOwner, OrganiserAct, OwnerState};
use crate::report::csv_line;

/// Replace the tokens of all owners, and of all bots that connect with one of their own, and write them to a file
///
/// For a league that was restored from a backup without tokens, or whose tokens may have been seen. The file is a CSV table with
/// mode 0600: `owner` or `bot`, the name, the token, and how the organiser reaches the owner. Tokens before them are invalid
/// at once; further tokens of owners stay as they are.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league tokens tokens.csv")]
pub(super) struct Args {
    /// A file that does not exist yet
    file: PathBuf,
    /// One JSON object with the numbers of owners and bots
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (_, mut league) = args.which.open()?;
    let owners = league.owners().map_err(Failure::cannot_run)?;
    let is_here = |owner: &&LeagueOwner| owner.state != OwnerState::Left;
    let bots = league.bots().map_err(Failure::cannot_run)?;
    let connects = bots.iter().filter(|bot| bot.command.is_none() && bot.revoked_at.is_none());
    // The bots of owners have the tokens of those.
    let own = connects.filter(|bot| !owners.iter().filter(is_here).any(|owner| owner.id == bot.owner));
    let mut text = csv_line(["kind", "name", "token", "contact"].map(str::to_owned));
    let mut new = |kind: &str, name: &str, contact: Option<&str>| {
        let (token, hash) = new_token()?;
        text += &csv_line([kind, name, &token, contact.unwrap_or_default()].map(str::to_owned));
        Ok::<_, Failure>((name.to_owned(), hash))
    };
    let of_owners =
        owners.iter().filter(is_here).map(|owner| new("owner", &owner.id, owner.contact.as_deref()));
    let of_owners = of_owners.collect::<Result<Vec<_>, _>>()?;
    let of_bots = own.map(|bot| new("bot", &bot.name, None)).collect::<Result<Vec<_>, _>>()?;
    let failed = |error| Failure::cannot_run(format!("{}: {error}", args.file.display()));
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&args.file);
    let write = |mut file: File| file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    made.and_then(write).map_err(failed)?;
    log::act(&mut league, OrganiserAct::ReplaceTokens { owners: &of_owners, bots: &of_bots })?;
    let (owners, bots) = (of_owners.len(), of_bots.len());
    let mut out = screen::stdout();
    match args.json {
        true => {
            let line = LeagueTokens { file: &args.file, owners, bots };
            writeln!(out, "{}", json::text(&line))?;
        }
        false => {
            writeln!(out, "{} has the new tokens of {owners} owners and {bots} bots", args.file.display())?;
        }
    }
    Ok(Exit::Done)
}
