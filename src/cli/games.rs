//! `referee games`: lists the games.

use std::io::{self, Write};

use clap::Args as ClapArgs;

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::find_game;
use crate::cli::json::{ListedGame, ListedOption};
use crate::cli::output::stdout;
use crate::game::Catalog;
use crate::game::Meta;
use crate::report::table;

/// List the games with their seats, properties and options
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee games
  referee games --json
  referee games examples/games/connect_four")]
pub(super) struct Args {
    /// Games to list instead of all: ids, or directories of games
    #[arg(value_name = "GAME")]
    games: Vec<String>,
    /// One JSON object per line and game
    #[arg(long)]
    json: bool,
}

fn seats(meta: &Meta) -> Vec<usize> {
    meta.seatings.iter().map(|seating| seating.seats()).collect()
}

fn properties(meta: &Meta) -> Vec<&'static str> {
    let all = [
        (meta.hidden, "hidden information"),
        (!meta.hidden, "perfect information"),
        (meta.chance, "chance"),
        (meta.simultaneous, "simultaneous choices"),
        (meta.draws_by_agreement, "draws by agreement"),
        (meta.openings.is_some(), "openings"),
        (!meta.lists_moves, "moves that are not listed"),
        (meta.amounts.is_some(), "amounts"),
    ];
    all.into_iter().filter(|&(has, _)| has).map(|(_, name)| name).collect()
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let mut out = stdout();
    let games = match args.games.is_empty() {
        true => catalog.games().collect(),
        false => {
            let found = args.games.iter().map(|game| find_game(game, catalog).map(|(rules, _)| rules));
            found.collect::<Result<Vec<_>, Failure>>()?
        }
    };
    for rules in games {
        let meta = rules.meta();
        let defaults = rules.default_options();
        let defaults: serde_json::Value = serde_json::from_str(defaults.get()).map_err(io::Error::from)?;
        if args.json {
            let options = meta
                .options
                .iter()
                .map(|option| ListedOption {
                    name: option.name,
                    default: defaults[option.name].clone(),
                    help: option.help,
                })
                .collect();
            let game = ListedGame {
                id: meta.id,
                title: meta.title,
                rules_version: meta.rules_version,
                seats: seats(meta),
                hidden: meta.hidden,
                chance: meta.chance,
                simultaneous: meta.simultaneous,
                draws_by_agreement: meta.draws_by_agreement,
                openings: meta.openings.is_some(),
                lists_moves: meta.lists_moves,
                amounts: meta.amounts,
                options,
            };
            let game = serde_json::to_string(&game).map_err(io::Error::from)?;
            writeln!(out, "{game}")?;
            continue;
        }
        let counts: Vec<String> = seats(meta).iter().map(ToString::to_string).collect();
        let (id, title, version) = (meta.id, meta.title, meta.rules_version);
        writeln!(out, "{id}: {title}, rules version {version}, {} seats", counts.join(" or "))?;
        writeln!(out, "  {}", properties(meta).join(", "))?;
        if meta.options.is_empty() {
            writeln!(out, "  no options\n")?;
            continue;
        }
        let rows = meta
            .options
            .iter()
            .map(|option| vec![format!("  --set {}=", option.name), option.help.to_owned()])
            .collect();
        writeln!(out, "{}\n", table(&["  options", ""], rows, 0..0).trim_fmt())?;
    }
    Ok(Exit::Done)
}
