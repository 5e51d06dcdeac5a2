//! `referee league finals`: a tournament of the first players of a ladder.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueEnum;
use toml::Table;

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::known_games;
use crate::cli::json::{AbsentFinalist, FinalsLine, FinalsPlace};
use crate::cli::league::which::{LeagueSelector, find_ladder};
use crate::cli::league::{log, seasons, standings};
use crate::cli::screen;
use crate::cli::tournament::{PlayOptions, begin};
use crate::game::{Catalog, json};
use crate::league::{FinalStandings, FinalsLink, LadderRow, LeaguePart, OrganiserAct};
use crate::report::page::PublicUrl;
use crate::report::table;
use crate::runs::league::{Absentee, Finalist, FinalsTerms, finalists, write_finals};
use crate::store::now;

/// Play a tournament of the first players of a ladder
///
/// Writes its file to a new directory, with the rules of the ladder, the tokens of its bots (their SHA-256), the commands of its
/// programs, copies of the programs that were handed in, and display names, and plays it there. Players are seeded by their
/// places. Those who cannot play are named, and the next ones move up. A match waits for a bot that is not connected, as in any tournament.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  referee league finals checkers --top 8 --best-of 4 --listen 0.0.0.0:4800 --watch 0.0.0.0:8088 --url https://cup.example/finals/
  referee league finals checkers --season autumn-2026 --format round-robin --cycles 2 --dir finals
  referee league finals checkers --pause --write    # then edit finals-checkers/tournament.toml
  referee tournament run finals-checkers/tournament.toml --dir finals-checkers/results
  referee league resume --ladder checkers
  referee league finals checkers --unlink")]
pub(super) struct Args {
    /// The ladder, if the league has several
    ladder: Option<String>,
    /// How many players take part
    #[arg(long, value_name = "N", default_value_t = 8)]
    top: usize,
    #[arg(long, value_enum, default_value = "knockout")]
    format: Format,
    /// Knockout: the sets of a pairing [default: 1]
    #[arg(long, value_name = "N")]
    best_of: Option<u32>,
    /// Swiss: the number of rounds [default: as a knockout has]
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Round robin: how often all meet
    #[arg(long, value_name = "N")]
    cycles: Option<u32>,
    /// Take the final standings of this season, which has ended
    #[arg(long, value_name = "NAME")]
    season: Option<String>,
    /// The new directory [default: finals-LADDER]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Its name on pages [default: Finals of LADDER]
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Where bots that connect do so for the finals
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Where people watch: the pages of the ladder lead there
    #[arg(long, value_name = "URL")]
    url: Option<PublicUrl>,
    /// The ladder begins no match until `referee league resume --ladder`
    #[arg(long)]
    pause: bool,
    /// Write the files, and do not play
    #[arg(long)]
    write: bool,
    /// The pages of the ladder lead to its finals no longer; nothing else is done
    #[arg(long, conflicts_with_all = ["url", "pause", "write", "season", "dir"])]
    unlink: bool,
    #[command(flatten)]
    options: PlayOptions,
    #[command(flatten)]
    which: LeagueSelector,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Knockout,
    Swiss,
    RoundRobin,
}

impl Args {
    /// The table `format` of the tournament file.
    fn format(&self) -> Result<Table, Failure> {
        let rounds = self.top.max(2).next_power_of_two().ilog2();
        let (kind, key, number) = match self.format {
            Format::Knockout => ("knockout", "best_of", self.best_of),
            Format::Swiss => ("swiss", "rounds", self.rounds.or(Some(rounds))),
            Format::RoundRobin => ("round_robin", "cycles", self.cycles),
        };
        let given = [("best_of", self.best_of), ("rounds", self.rounds), ("cycles", self.cycles)];
        if let Some((other, _)) = given.into_iter().find(|(name, given)| *name != key && given.is_some()) {
            let option = other.replace('_', "-");
            return Err(Failure::usage(format!("--{option}: not with --format {}", kind.replace('_', "-"))));
        }
        let mut format = Table::from_iter([("kind".to_owned(), kind.into())]);
        format.extend(number.map(|number| (key.to_owned(), number.into())));
        Ok(format)
    }
}

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (config, mut league) = args.which.open()?;
    let ladder = find_ladder(&config, args.ladder.as_deref())?;
    let mut out = screen::stdout();
    if args.unlink {
        log::act(&mut league, OrganiserAct::LinkFinals { ladder: &ladder.name, finals: None })?;
        writeln!(out, "the pages of {} lead to no finals", ladder.name)?;
        return Ok(Exit::Done);
    }
    if args.top < 2 {
        return Err(Failure::usage("--top: finals have 2 players or more"));
    }
    let format = args.format()?;
    let games = known_games(catalog)?;
    let game = ladder.game(&games, &config.folder)?;
    let rows = match &args.season {
        Some(name) => {
            let season = seasons::find(&league, name)?;
            let found = FinalStandings::of(&mut league, &ladder.name, season.number, game.seats());
            found.map_err(Failure::cannot_run)?.standings
        }
        None => standings::in_progress(&mut league, &config, ladder, &game)?,
    };
    let bots = league.bots().map_err(Failure::cannot_run)?;
    let owners = league.owners().map_err(Failure::cannot_run)?;
    let (players, absent) = finalists(rows, &bots, &owners, args.top, now());
    if players.len() < 2 {
        return Err(Failure::usage(format!("{}: fewer than two of its players can play", ladder.name)));
    }
    let dir = args.dir.clone().unwrap_or_else(|| format!("finals-{}", ladder.name).into());
    let name = args.name.clone().unwrap_or_else(|| format!("Finals of {}", ladder.name));
    let terms = FinalsTerms { name: &name, format, listen: args.listen };
    let tournament = write_finals(&config, &ladder.name, &players, terms, &dir)?;
    if let Some(url) = &args.url {
        let link = FinalsLink { name: name.clone(), url: url.to_string() };
        log::act(&mut league, OrganiserAct::LinkFinals { ladder: &ladder.name, finals: Some(&link) })?;
    }
    if args.pause {
        let part = LeaguePart::Ladder(&ladder.name);
        log::act(&mut league, OrganiserAct::Pause { part, is_paused: true })?;
    }
    let file = dir.join("tournament.toml");
    if args.options.json {
        let line = FinalsLine {
            ladder: &ladder.name,
            name: &name,
            file: &file,
            players: players.iter().map(FinalsPlace::of).collect(),
            absent: absent
                .iter()
                .map(|Absentee { row, why }| AbsentFinalist {
                    place: row.standing.place,
                    player: &row.player,
                    why,
                })
                .collect(),
            paused: args.pause,
        };
        writeln!(out, "{}", json::text(&line))?;
    } else {
        print(&mut out, &players, &absent, args.top)?;
        writeln!(out, "wrote {}", file.display())?;
        if args.pause {
            let name = &ladder.name;
            writeln!(out, "{name} begins no match until `referee league resume --ladder {name}`")?;
        }
    }
    out.flush()?;
    if args.write {
        return Ok(Exit::Done);
    }
    begin(&dir.join("results"), tournament, &games, &args.options)
}

/// The players with their seeds, and what is uncertain about them.
fn print(out: &mut impl Write, players: &[Finalist], absent: &[Absentee], top: usize) -> std::io::Result<()> {
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let shown = |row: &LadderRow| match &row.display_name {
        Some(display) => format!("{display} ({})", row.player),
        None => row.player.clone(),
    };
    let rows = players.iter().enumerate().map(|(at, Finalist { row, .. })| {
        vec![
            (at + 1).to_string(),
            row.standing.place.map(|place| place.to_string()).unwrap_or_default(),
            shown(row),
            format!("{:.0}", row.standing.rating.value),
            row.stronger_than_next.map(percent).unwrap_or_default(),
            if players[at].connects() { "connects" } else { "program" }.to_owned(),
        ]
    });
    let headings = ["seed", "place", "player", "Elo", "> next", "how"];
    writeln!(out, "{}", table(&headings, rows.collect(), 3..5))?;
    for Absentee { row, why } in absent {
        let place = row.standing.place.unwrap_or_default();
        writeln!(out, "{} in place {place} {why}: the next one moves up", shown(row))?;
    }
    if players.len() < top {
        writeln!(out, "{} players can play, not {top}", players.len())?;
    } else if let Some(last) = players.last()
        && let Some(share) = last.row.stronger_than_next.filter(|share| *share < 0.95)
    {
        let share = percent(share);
        writeln!(
            out,
            "the last place is close: {} is stronger than the next one with a probability of {share}",
            shown(&last.row)
        )?;
    }
    Ok(())
}
