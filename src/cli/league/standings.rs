//! `referee league standings`: prints the standings.

use std::collections::BTreeMap;
use std::io::Write;

use crate::cli::json::{LadderStanding, LadderStandings};
use crate::cli::league::config::LadderGame;
use crate::cli::league::verify::recorded_rows;
use crate::cli::league::which::{LeagueSelector, now};
use crate::cli::{Exit, Failure, screen};
use crate::game::{Catalog, json};
use crate::report::table;
use crate::runs::league::{Book, LadderError, LadderRow, LadderRulings, NotCounted, number, plays_sets};
use crate::stats::MatchResult;
use crate::stats::ladder::Name;
use crate::stats::rating::weng_lin;
use crate::store::LeagueMatch;

/// Print the standings of a league, also while it runs
///
/// Ratings are Elo from a Bradley-Terry fit over all rated matches, with 95% intervals; they do not drift with time. The
/// rating of an anchor (marked with `=`) is fixed, and it has no place. `in field` is the margin of the difference to the
/// mean of the players, without the distance to the anchors. A rating is provisional (marked with `?`), and comes after the others, while this margin is
/// above 80 Elo, or after fewer than 30 matches. In games with more than two sides, Weng-Lin ratings and their deviations are beside them.
///
/// Of each bot only the newest version is listed; --all lists the others too, without a place, and players without a match
/// for 30 days. A rating is that of one version: the highest of many versions is too high by luck.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league standings
  referee league standings --ladder checkers --all --json
  referee league standings --from-records")]
pub(super) struct Args {
    /// Only this ladder
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    /// Also list earlier versions and inactive players
    #[arg(long)]
    all: bool,
    /// Compute everything from the records, which are verified, instead of from the database. Only that a match was taken back
    /// (`referee worker void`) is in the database alone
    #[arg(long)]
    from_records: bool,
    /// One JSON object per ladder
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (config, league) = args.which.open()?;
    let bots = league.bots().map_err(Failure::cannot_run)?;
    let displayed: BTreeMap<String, String> =
        bots.iter().filter_map(|bot| Some((bot.name.clone(), bot.display_name.clone()?))).collect();
    let display_name = |row: &LadderRow| displayed.get(&Name::parse(&row.player).bot);
    let anchors: BTreeMap<String, f64> =
        bots.into_iter().filter_map(|bot| Some((bot.name, bot.anchor?))).collect();
    let mut out = screen::stdout();
    let ladders = match &args.ladder {
        Some(name) => vec![config.ladder(Some(name))?],
        None => config.ladders.iter().collect(),
    };
    for ladder in ladders {
        let LadderGame { rules, seating, catalog } = &ladder.game(catalog, &config.folder)?;
        let (rules, seating) = (*rules, *seating);
        let mut book = Book::new(seating, plays_sets(rules, seating), anchors.clone());
        let mut matches = 0;
        let mut results = Vec::new();
        let rulings = league.rulings().map_err(Failure::cannot_run)?;
        let rulings = LadderRulings::of(&rulings, &ladder.name);
        let mut add = |row: LeagueMatch| {
            matches += 1;
            let row = &rulings.apply(row, seating);
            let lineup = book.add(row)?.filter(|_| row.counts() && seating.sides() > 2);
            results.extend(
                lineup.zip(row.ranks.as_ref()).map(|(of, ranks)| MatchResult::played(row.number, of, ranks)),
            );
            Ok::<_, LadderError>(())
        };
        if args.from_records {
            for row in recorded_rows(&config, &league, ladder, catalog)? {
                let row = row.map_err(|(id, what)| Failure::cannot_run(format!("{id}: {what}")))?;
                add(row.row).map_err(Failure::cannot_run)?;
            }
        } else {
            let read = league.for_each_match(&ladder.name, |row| add(row).map_err(NotCounted::from));
            read.map_err(Failure::cannot_run)?;
        }
        // These ratings depend on the order.
        results.sort_unstable_by_key(|result| result.set);
        let strengths = book.rating_inputs().strengths();
        let weng_lin = weng_lin::rate(book.len(), &results).rows;
        let weng_lin = |row: &LadderRow| {
            let rating = book.find(&row.player).filter(|_| seating.sides() > 2);
            rating.map(|player| weng_lin[player.index()])
        };
        let mut rows = book.standings(&strengths);
        let is_inactive = |row: &LadderRow| row.is_inactive(now());
        if !args.all {
            rows.retain(|row| row.is_newest && !is_inactive(row));
            number(&mut rows);
        }
        if args.json {
            let standing = |row: LadderRow| LadderStanding {
                display_name: display_name(&row).cloned(),
                weng_lin: weng_lin(&row),
                inactive: is_inactive(&row),
                row,
            };
            let standings = rows.into_iter().map(standing).collect();
            let game = rules.meta().id;
            let line = LadderStandings { ladder: &ladder.name, game, matches, standings };
            writeln!(out, "{}", json::text(&line))?;
            continue;
        }
        let cells = |row: &LadderRow| {
            let mark = if row.is_anchor {
                " ="
            } else if row.is_provisional {
                " ?"
            } else {
                ""
            };
            let margin = |margin: f64| if row.is_anchor { String::new() } else { format!("{margin:.0}") };
            let mut cells = vec![
                row.place.map(|place| place.to_string()).unwrap_or_default(),
                match display_name(row) {
                    Some(display) => format!("{display} ({})", row.player),
                    None => row.player.clone(),
                },
                format!("{:.0}{mark}", row.rating.value),
                margin(row.rating.high - row.rating.value),
                margin(row.margin_in_field),
                row.matches.to_string(),
                row.wins.to_string(),
                row.draws.to_string(),
                row.losses.to_string(),
                row.faulted.to_string(),
                row.last_seen.clone().unwrap_or_else(|| "never".to_owned()),
            ];
            let second =
                weng_lin(row).map(|row| [format!("{:.1}", row.rating), format!("{:.1}", row.deviation)]);
            cells.splice(5..5, second.into_iter().flatten());
            cells
        };
        let mut headings = vec![
            "",
            "player",
            "Elo",
            "+/-",
            "in field",
            "matches",
            "won",
            "drawn",
            "lost",
            "with faults",
            "last match",
        ];
        if seating.sides() > 2 {
            headings.splice(5..5, ["Weng-Lin", "deviation"]);
        }
        let numbers = 2..headings.len() - 1;
        let table = table(&headings, rows.iter().map(cells).collect(), numbers);
        writeln!(out, "{} ({})\n{table}", ladder.name, rules.meta().id)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
