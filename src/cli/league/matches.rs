//! `referee league matches`: lists matches.

use std::io::Write;

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::LeagueMatchLine;
use crate::cli::league::which::{LeagueSelector, find_ladder};
use crate::cli::screen;
use crate::game::{Catalog, json};
use crate::league::{LeagueMatch, MatchFilter};
use crate::report::{ending_in_words, table};
use crate::store::{MatchKind, match_id};

/// List the matches of a league, the newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league matches
  referee league matches --player alice --limit 5
  referee league matches --json | jq -r .record")]
pub(super) struct Args {
    /// Only matches of this bot, or of this version of it: NAME or NAME@VERSION
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// The maximum number of matches of each ladder
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Only matches of this ladder
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    /// One JSON object per line and match
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

fn result(row: &LeagueMatch) -> String {
    let Some(ranks) = &row.ranks else { return "none".to_owned() };
    let first = || row.players.iter().zip(ranks).filter(|&(_, &rank)| rank == 1).map(|(name, _)| &**name);
    if first().count() == ranks.len() { "draw".to_owned() } else { first().collect::<Vec<_>>().join(" and ") }
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (config, league) = args.which.open()?;
    let mut out = screen::stdout();
    let ladders = match &args.ladder {
        Some(name) => vec![find_ladder(&config, Some(name))?],
        None => config.ladders.iter().collect(),
    };
    let filter =
        MatchFilter { players: args.player.as_ref().map(std::slice::from_ref), ..MatchFilter::default() };
    for ladder in ladders {
        let matches = league.last_matches(&ladder.name, filter, args.limit);
        let matches = matches.map_err(Failure::cannot_run)?;
        if args.json {
            for row in &matches {
                writeln!(
                    out,
                    "{}",
                    json::text(&LeagueMatchLine { ladder: &ladder.name, id: row.id(), row })
                )?;
            }
            continue;
        }
        // A game that is a program has the words of its codes.
        let game = catalog.find(&ladder.game).ok().map(|rules| rules.meta());
        let cells = |row: &LeagueMatch| {
            let note = match (row.deal, row.is_rated) {
                _ if row.is_void => "void".to_owned(),
                (Some(first), _) => format!("with {}", match_id(first, MatchKind::Pairing)),
                (None, true) => String::new(),
                (None, false) => "unrated".to_owned(),
            };
            let how = ending_in_words(game, row.ended_by.as_str(), &row.reason);
            let players = row.players.join(" - ");
            [row.id(), players, result(row), how, note, row.ended_at.clone()].to_vec()
        };
        let rows = matches.iter().map(cells).collect();
        let headings = ["match", "players by seat", "won by", "ended by", "", "ended at"];
        writeln!(out, "{}\n{}", ladder.name, table(&headings, rows, 0..0))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
