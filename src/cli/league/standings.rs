//! `referee league standings`: prints the standings.

use std::io::Write;

use crate::cli::find_game::known_games;
use crate::cli::json::{LadderStanding, LadderStandings};
use crate::cli::league::seasons;
use crate::cli::league::which::{LeagueSelector, find_ladder};
use crate::cli::{Exit, Failure, progress, screen};
use crate::game::{Catalog, counted, json};
use crate::league::{
    BotDisplayNames, FinalStandings, LadderError, LadderRow, LadderRulings, LadderSeason, League,
    LeagueMatch, NotCounted, ranking,
};
use crate::report::table;
use crate::runs::league::config::{LadderConfig, LadderGame, LeagueConfig};
use crate::runs::league::{ChangedRules, LadderRecords};
use crate::stats::MatchResult;
use crate::stats::rating::weng_lin;
use crate::store::now;

/// Print the standings of a league, also while it runs
///
/// Ratings are Elo from a Bradley-Terry fit over all rated matches, with 95% intervals; they do not drift with time. The
/// rating of an anchor (marked with `=`) is fixed, and it has no place. `in field` is the margin of the difference to the
/// mean of the players, without the distance to the anchors. `> next` is the probability of being stronger than the player in the next place. A rating is provisional (marked with `?`), and comes after the others, while this margin is
/// above 80 Elo, or after fewer than 30 matches. In games with more than two sides, Weng-Lin ratings and their deviations are beside them.
///
/// Of each bot only the newest version is listed; --all lists the others too, without a place, and players without a match
/// for 30 days or in this season. Copies of matches between deterministic bots count once. A rating is that of one version: the highest of many versions is too high by luck.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league standings
  referee league standings --ladder checkers --all --json
  referee league standings --season autumn
  referee league standings --from-records")]
pub(super) struct Args {
    /// Only this ladder
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
    /// Also list earlier versions and inactive players
    #[arg(long)]
    all: bool,
    /// The final standings of this season, which has ended
    #[arg(long, value_name = "NAME", conflicts_with = "from_records")]
    season: Option<String>,
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
    let (config, mut league) = args.which.open()?;
    let ended = args.season.as_ref().map(|name| seasons::find(&league, name)).transpose()?;
    let games = known_games(catalog)?;
    let mut out = screen::stdout();
    let ladders = match &args.ladder {
        Some(name) => vec![find_ladder(&config, Some(name))?],
        None => config.ladders.iter().collect(),
    };
    for ladder in ladders {
        let game = ladder.game(&games, &config.folder)?;
        let (mut rows, matches, copies) = match &ended {
            Some(season) => {
                let found = FinalStandings::of(&mut league, &ladder.name, season.number, game.seats());
                let FinalStandings { standings, matches } = found.map_err(Failure::cannot_run)?;
                let standing = |row| LadderStanding { row, weng_lin: None, inactive: false };
                (standings.into_iter().map(standing).collect(), matches, None)
            }
            None => standings(&mut league, &config, ladder, &game, args.from_records, args.all)?,
        };
        if !args.all {
            rows.retain(|row| row.row.standing.is_newest);
        }
        let (name, id) = (&*ladder.name, game.rules.meta().id);
        if args.json {
            let season = args.season.as_deref();
            let line = LadderStandings { ladder: name, game: id, season, matches, copies, standings: rows };
            writeln!(out, "{}", json::text(&line))?;
        } else {
            writeln!(out, "{name} ({id})\n{}", printed(&rows, ended.is_none() && game.seating.sides() > 2))?;
            if let Some(copies) = copies.filter(|copies| *copies > 0) {
                let [one, many] = [
                    "match is a copy of an earlier one and does",
                    "matches are copies of earlier ones and do",
                ];
                writeln!(out, "{} not count for ratings", counted(copies, one, many))?;
            }
            let changed = ChangedRules::all(&league, name, &game).map_err(Failure::cannot_run)?;
            if let Some(changed) = changed.last() {
                writeln!(out, "rules: {changed}")?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// The rows of the season in progress.
pub(super) fn in_progress(
    league: &mut League,
    config: &LeagueConfig,
    ladder: &LadderConfig,
    game: &LadderGame,
) -> Result<Vec<LadderRow>, Failure> {
    let (standings, ..) = standings(league, config, ladder, game, false, false)?;
    Ok(standings.into_iter().map(|standing| standing.row).collect())
}

/// The standings of the season in progress, the number of its matches, and that of the copies among them.
fn standings(
    league: &mut League,
    config: &LeagueConfig,
    ladder: &LadderConfig,
    game: &LadderGame,
    from_records: bool,
    lists_inactive: bool,
) -> Result<(Vec<LadderStanding>, u32, Option<u64>), Failure> {
    let bots = league.bots().map_err(Failure::cannot_run)?;
    let names = BotDisplayNames::of(&bots);
    let anchors = bots.into_iter().filter_map(|bot| Some((bot.name, bot.anchor?))).collect();
    let seating = game.seating;
    let season = LadderSeason::current(league, &ladder.name, game.seats()).map_err(Failure::cannot_run)?;
    let mut book = season.book(game.seats(), anchors).map_err(Failure::cannot_run)?;
    let (mut matches, mut results) = (0, Vec::new());
    let rulings = league.rulings().map_err(Failure::cannot_run)?;
    let rulings = LadderRulings::of(&rulings, &ladder.name);
    let mut add = |row: LeagueMatch| {
        matches += 1;
        let row = &rulings.apply(&row, seating);
        let lineup = book.add(row)?.filter(|_| row.counts() && seating.sides() > 2);
        results.extend(
            lineup.zip(row.ranks.as_ref()).map(|(of, ranks)| MatchResult::played(row.number, of, ranks)),
        );
        Ok::<_, LadderError>(())
    };
    if from_records {
        let records = LadderRecords::open(config, league, ladder, game)?;
        let read =
            progress::of_records(|on_record| records.read_all(on_record)).map_err(Failure::cannot_run)?;
        for record in read {
            let found = record.found.map_err(|why| Failure::cannot_run(format!("{}: {why}", record.id)))?;
            let row = found.row;
            let of = league.season_of(&ladder.name, row.number).map_err(Failure::cannot_run)?;
            if of.is_none_or(|of| of == season.number) {
                add(row).map_err(Failure::cannot_run)?;
            }
        }
    } else {
        let each = |row| add(row).map_err(NotCounted::from);
        league.for_each_match(&ladder.name, Some(season.number), each).map_err(Failure::cannot_run)?;
    }
    // These ratings depend on the order.
    results.sort_unstable_by_key(|result| result.set);
    let fit = book.rating_inputs().fit();
    let weng_lin = weng_lin::rate(book.len(), &results).rows;
    // A bot that has not come in this season is in its book only for its rating.
    let is_listed = |row: &LadderRow| row.last_seen.is_some() && (lists_inactive || !row.is_inactive(now()));
    let rows = ranking(book.standings(&fit, &rulings, &names), &fit, is_listed);
    let standing = |row: LadderRow| LadderStanding {
        weng_lin: (book.find(&row.player).filter(|_| seating.sides() > 2))
            .map(|player| weng_lin[player.index()]),
        inactive: row.is_inactive(now()),
        row,
    };
    Ok((rows.into_iter().map(standing).collect(), matches, Some(book.copies())))
}

/// The standings as a table, with Weng-Lin ratings if there are any.
fn printed(rows: &[LadderStanding], has_weng_lin: bool) -> String {
    let cells = |LadderStanding { row, weng_lin, .. }: &LadderStanding| {
        let mark = if row.standing.is_anchor {
            " ="
        } else if row.standing.is_provisional {
            " ?"
        } else {
            ""
        };
        let margin =
            |margin: f64| if row.standing.is_anchor { String::new() } else { format!("{margin:.0}") };
        let mut cells = vec![
            row.standing.place.map(|place| place.to_string()).unwrap_or_default(),
            match &row.display_name {
                Some(display) => format!("{display} ({})", row.player),
                None => row.player.clone(),
            },
            format!("{:.0}{mark}", row.standing.rating.value),
            margin(row.standing.rating.high - row.standing.rating.value),
            margin(row.standing.margin_in_field),
            row.stronger_than_next.map(|share| format!("{:.0}%", 100.0 * share)).unwrap_or_default(),
            row.standing.matches.to_string(),
            row.standing.wdl.wins.to_string(),
            row.standing.wdl.draws.to_string(),
            row.standing.wdl.losses.to_string(),
            row.standing.faulted.to_string(),
            row.last_seen.clone().unwrap_or_else(|| "never".to_owned()),
        ];
        let second = weng_lin.map(|row| [format!("{:.1}", row.rating), format!("{:.1}", row.deviation)]);
        cells.splice(6..6, second.into_iter().flatten());
        cells
    };
    let mut headings = vec![
        "",
        "player",
        "Elo",
        "+/-",
        "in field",
        "> next",
        "matches",
        "won",
        "drawn",
        "lost",
        "with faults",
        "last match",
    ];
    if has_weng_lin {
        headings.splice(6..6, ["Weng-Lin", "deviation"]);
    }
    let numbers = 2..headings.len() - 1;
    table(&headings, rows.iter().map(cells).collect(), numbers).to_string()
}
