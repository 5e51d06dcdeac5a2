//! `referee league standings`: prints the standings.

use std::collections::BTreeMap;
use std::io::Write;

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::cli::json::{LadderOwner, LadderStanding, LadderStandings};
use crate::cli::league::seasons;
use crate::cli::league::which::{LeagueSelector, find_ladder};
use crate::cli::{progress, screen};
use crate::game::{Catalog, Wrong, counted, json};
use crate::league::{
    BotDisplayNames, FinalStandings, LadderRow, LadderRulings, LadderSeason, League, LeagueBot, LeagueMatch,
    LeagueOwner, ranking,
};
use crate::report::{csv_line, table};
use crate::runs::league::config::{LadderConfig, LadderGame, LeagueConfig};
use crate::runs::league::{ChangedRules, LadderRecords};
use crate::stats::MatchResult;
use crate::stats::ladder::Name;
use crate::stats::rating::{Rating, weng_lin};
use crate::store::{StoreError, now};

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
  referee league standings --csv --contacts
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
    /// With how owners can be reached, in --csv and --json: only for the organiser
    #[arg(long)]
    contacts: bool,
    /// Comma-separated values, a line for each player, with its owner
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// One JSON object per ladder
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (config, mut league) = args.which.open()?;
    let ended = args.season.as_ref().map(|name| seasons::find(&league, name)).transpose()?;
    if args.contacts && !args.csv && !args.json {
        return Err(Failure::usage("--contacts: the table has none; add --csv or --json"));
    }
    let games = known_games(catalog)?;
    let owned = Owned::read(&league, args.contacts).map_err(Failure::cannot_run)?;
    let mut out = screen::stdout();
    let mut lines = if args.csv { csv_line(COLUMNS.map(str::to_owned)) } else { String::new() };
    let ladders = match &args.ladder {
        Some(name) => vec![find_ladder(&config, Some(name))?],
        None => config.ladders.iter().collect(),
    };
    for ladder in ladders {
        let game = ladder.game(&games, &config.folder)?;
        let (rows, matches, copies) = match &ended {
            Some(season) => {
                let found = FinalStandings::of(&mut league, &ladder.name, season.number, game.seats());
                let FinalStandings { standings, matches } = found.map_err(Failure::cannot_run)?;
                (standings.into_iter().map(|row| (row, None)).collect(), matches, None)
            }
            None => standings(&mut league, &config, ladder, &game, args.from_records, args.all)?,
        };
        let mut versions: BTreeMap<String, usize> = BTreeMap::new();
        for player in league.players(&ladder.name).map_err(Failure::cannot_run)? {
            *versions.entry(Name::parse(&player.name).bot).or_default() += 1;
        }
        let standing = |(row, weng_lin): RatedRow| {
            let bot = Name::parse(&row.player).bot;
            LadderStanding {
                weng_lin,
                inactive: ended.is_none() && row.is_inactive(now()),
                owner: owned.of(&bot),
                versions: versions.get(&bot).copied().unwrap_or_default(),
                row,
            }
        };
        let listed = rows.into_iter().filter(|(row, _)| args.all || row.standing.is_newest);
        let rows: Vec<LadderStanding> = listed.map(standing).collect();
        let (name, id) = (&*ladder.name, game.rules.meta().id);
        if args.csv {
            for row in &rows {
                lines += &csv_line(cells(name, row));
            }
        } else if args.json {
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
    out.write_all(lines.as_bytes())?;
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
    Ok(standings.into_iter().map(|(row, _)| row).collect())
}

const COLUMNS: [&str; 20] = [
    "ladder",
    "place",
    "player",
    "display_name",
    "owner",
    "owner_name",
    "affiliation",
    "contact",
    "rating",
    "low",
    "high",
    "margin_in_field",
    "anchor",
    "provisional",
    "matches",
    "wins",
    "draws",
    "losses",
    "faulted",
    "versions",
];

/// The cells of a row in CSV. A text that a spreadsheet would take for a formula begins with `'`.
fn cells(ladder: &str, LadderStanding { row, owner, versions, .. }: &LadderStanding) -> [String; 20] {
    let text = |text: Option<&String>| match text {
        Some(text) if text.starts_with(['=', '+', '-', '@']) => format!("'{text}"),
        text => text.cloned().unwrap_or_default(),
    };
    let of_owner = |part: fn(&LadderOwner) -> Option<&String>| text(owner.as_ref().and_then(part));
    let number = |value: f64| if value.is_finite() { format!("{value:.1}") } else { String::new() };
    let standing = &row.standing;
    let wdl = &standing.counts.wdl;
    [
        ladder.to_owned(),
        standing.place.map(|place| place.to_string()).unwrap_or_default(),
        row.player.clone(),
        text(row.display_name.as_ref()),
        of_owner(|owner| Some(&owner.id)),
        of_owner(|owner| owner.display_name.as_ref()),
        of_owner(|owner| owner.affiliation.as_ref()),
        of_owner(|owner| owner.contact.as_ref()),
        number(standing.rating.value),
        number(standing.rating.low),
        number(standing.rating.high),
        number(standing.margin_in_field),
        standing.is_anchor.to_string(),
        standing.is_provisional.to_string(),
        standing.counts.matches.to_string(),
        wdl.wins.to_string(),
        wdl.draws.to_string(),
        wdl.losses.to_string(),
        standing.counts.faulted.to_string(),
        versions.to_string(),
    ]
}

/// The owners of bots, by the name of the bot.
struct Owned(BTreeMap<String, LadderOwner>);

impl Owned {
    fn read(league: &League, has_contacts: bool) -> Result<Owned, StoreError> {
        let owners = league.owners()?.into_iter().map(|owner| (owner.id.clone(), owner));
        let owners: BTreeMap<String, LeagueOwner> = owners.collect();
        let of = |bot: LeagueBot| {
            let known = owners.get(&bot.owner);
            let owner = LadderOwner {
                display_name: known.and_then(|owner| owner.display_name.clone()),
                affiliation: known.and_then(|owner| owner.affiliation.clone()),
                contact: known.filter(|_| has_contacts).and_then(|owner| owner.contact.clone()),
                id: bot.owner,
            };
            (bot.name, owner)
        };
        Ok(Owned(league.bots()?.into_iter().map(of).collect()))
    }

    fn of(&self, bot: &str) -> Option<LadderOwner> {
        self.0.get(bot).cloned()
    }
}

/// A row, and the Weng-Lin rating if the game has more than two sides.
type RatedRow = (LadderRow, Option<Rating>);

/// The standings of the season in progress, the number of its matches, and that of the copies among them.
fn standings(
    league: &mut League,
    config: &LeagueConfig,
    ladder: &LadderConfig,
    game: &LadderGame,
    from_records: bool,
    lists_inactive: bool,
) -> Result<(Vec<RatedRow>, u32, Option<u64>), Failure> {
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
        Ok::<_, Wrong>(())
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
        league.for_each_match(&ladder.name, Some(season.number), add).map_err(Failure::cannot_run)?;
    }
    // Weng-Lin ratings depend on the order.
    results.sort_unstable_by_key(|result| result.set);
    let fit = book.rating_inputs().fit();
    let weng_lin = weng_lin::rate(book.len(), &results).rows;
    // A bot that has not come in this season is in its book only for its rating.
    let is_listed = |row: &LadderRow| row.last_seen.is_some() && (lists_inactive || !row.is_inactive(now()));
    let rows = ranking(book.standings(&fit, &rulings, &names), &fit, is_listed);
    let rated = |row: LadderRow| {
        let player = book.find(&row.player).filter(|_| seating.sides() > 2);
        (row, player.map(|player| weng_lin[player.index()]))
    };
    Ok((rows.into_iter().map(rated).collect(), matches, Some(book.copies())))
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
            row.standing.counts.matches.to_string(),
            row.standing.counts.wdl.wins.to_string(),
            row.standing.counts.wdl.draws.to_string(),
            row.standing.counts.wdl.losses.to_string(),
            row.standing.counts.faulted.to_string(),
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
