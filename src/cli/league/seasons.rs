//! `referee league season` and `seasons`: periods with standings of their own.

use std::collections::BTreeMap;
use std::io::Write;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::cli::json::SeasonLine;
use crate::cli::league::log;
use crate::cli::league::which::LeagueSelector;
use crate::cli::screen;
use crate::game::{Catalog, json};
use crate::league::{FinalStandings, League, OrganiserAct, Season};
use crate::report::table;
use crate::runs::league::config::LeagueConfig;

/// End a season: its standings stay as they are, and the next one begins
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league season end autumn-2026
  referee league season end autumn-2026 --ratings anew")]
pub(super) struct SeasonArgs {
    #[command(subcommand)]
    command: SeasonCommand,
}

#[derive(Debug, Subcommand)]
enum SeasonCommand {
    End(EndArgs),
}

/// End the season in progress on all ladders, also while `referee serve` runs
///
/// Its standings stay as they are now, on pages under /seasons/NAME too. Matches in progress belong to the next season, which
/// begins at once. It cannot be taken back: `referee league backup` before it.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league season end autumn-2026
  referee league season end 'WS 2026' --ratings anew
  referee league standings --season autumn-2026")]
struct EndArgs {
    /// What it is called: up to 64 ASCII letters, digits, `.`, `_`, `-` and spaces; a letter, a digit or `_` comes first
    name: String,
    /// What players start the next season from
    #[arg(long, value_enum, default_value = "keep", value_name = "WHAT")]
    ratings: NextRatings,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NextRatings {
    /// Their ratings, with intervals twice as wide and at least 100 Elo to each side
    Keep,
    /// Nothing, like a new bot
    Anew,
}

/// List the seasons that have ended, with their winners
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league seasons
  referee league seasons --json")]
pub(super) struct ListArgs {
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

/// The season of this name, which has ended.
pub(super) fn find(league: &League, name: &str) -> Result<Season, Failure> {
    let all = league.seasons().map_err(Failure::cannot_run)?;
    if let Some(found) = all.iter().find(|season| season.name == name) {
        return Ok(found.clone());
    }
    let names: Vec<&str> = all.iter().map(|season| &*season.name).collect();
    Err(Failure::usage(match &names[..] {
        [] => "no season has ended: `referee league season end NAME` ends one".to_owned(),
        names => format!("no season `{name}` has ended; those that have: {}", names.join(", ")),
    }))
}

pub(super) fn season(args: SeasonArgs, catalog: &Catalog) -> Result<Exit, Failure> {
    let SeasonCommand::End(args) = args.command;
    let (config, mut league) = args.which.open()?;
    // A ladder whose standings cannot be computed stops the end of the season on all of them.
    for ladder in &config.ladders {
        ladder.game(&known_games(catalog)?, &config.folder)?;
    }
    let keeps_ratings = matches!(args.ratings, NextRatings::Keep);
    log::act(&mut league, OrganiserAct::EndSeason { name: &args.name, keeps_ratings })?;
    let ended = find(&league, &args.name)?;
    let winners = winners(&config, &mut league, &ended, catalog)?;
    let mut out = screen::stdout();
    if args.json {
        writeln!(out, "{}", json::text(&SeasonLine { season: &ended, winners }))?;
    } else {
        writeln!(out, "season {} has ended", ended.name)?;
        for (ladder, winner) in &winners {
            let winner = winner.as_deref().unwrap_or("nobody, without a rated match");
            writeln!(out, "{ladder}: won by {winner}")?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The players in the first places of a season, by ladder.
fn winners<'a>(
    config: &'a LeagueConfig,
    league: &mut League,
    season: &Season,
    catalog: &Catalog,
) -> Result<BTreeMap<&'a str, Option<String>>, Failure> {
    let mut winners = BTreeMap::new();
    for ladder in &config.ladders {
        let seats = ladder.game(&known_games(catalog)?, &config.folder)?.seats();
        let found = FinalStandings::of(league, &ladder.name, season.number, seats);
        let found = found.map_err(Failure::cannot_run)?;
        let winner = found.winner().map(|row| row.player.clone());
        winners.insert(&*ladder.name, winner);
    }
    Ok(winners)
}

pub(super) fn list(args: &ListArgs, catalog: &Catalog) -> Result<Exit, Failure> {
    let (config, mut league) = args.which.open()?;
    let mut out = screen::stdout();
    let mut rows = Vec::new();
    for season in league.seasons().map_err(Failure::cannot_run)? {
        let winners = winners(&config, &mut league, &season, catalog)?;
        if args.json {
            writeln!(out, "{}", json::text(&SeasonLine { season: &season, winners }))?;
            continue;
        }
        let winners =
            winners.into_iter().filter_map(|(ladder, winner)| Some(format!("{ladder}: {}", winner?)));
        let winners = winners.collect::<Vec<_>>().join(", ");
        let next = if season.keeps_ratings { "kept" } else { "anew" };
        rows.push(vec![season.name, season.ended_at, season.ended_by, next.to_owned(), winners]);
    }
    if !args.json {
        writeln!(out, "{}", table(&["season", "ended (UTC)", "user", "ratings", "winners"], rows, 0..0))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
