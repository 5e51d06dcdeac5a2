//! `referee league rule` and `rulings`: decisions of the organiser that replace results.

use std::io::Write;

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::json::RulingLine;
use crate::cli::league::log;
use crate::cli::league::which::{LeagueSelector, find_ladder};
use crate::cli::ruling::{Why, rulings_table};
use crate::cli::user::user;
use crate::cli::{Exit, Failure, screen};
use crate::game::json;
use crate::league::{League, LeagueMatch, OrganiserAct};
use crate::report::ruling_words;
use crate::runs::league::config::LeagueConfig;
use crate::stats::ladder::Name;
use crate::store::{RuledMatch, RulingAct, RulingRow, UndoneRuling, now, parse_match_id};

/// Rule on matches and bots, also while `referee serve` runs
///
/// Rulings replace results; what was played stays stored, and the standings follow within a second. Every ruling has a reason
/// and can be undone.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league rule void m17 --reason 'the network was down'
  referee league rule award m17 alice --reason 'power cut at the other site'
  referee league rule replay m17 --reason 'the network was down'
  referee league rule disqualify bob --from-start --reason 'copied program'
  referee league rule rename bob 'Bob the Second' --reason 'asked for it'
  referee league rule undo 3 --reason 'ruled on the wrong match'
  referee league rulings")]
pub(super) struct RuleArgs {
    #[command(subcommand)]
    decision: LeagueDecision,
}

#[derive(Debug, Subcommand)]
enum LeagueDecision {
    /// A match is not rated
    #[command(after_help = "Examples:\n  referee league rule void m17 --reason 'the network was down'")]
    Void {
        #[command(flatten)]
        on: MatchOfLadder,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// A match is rated as won by a player, or as drawn
    #[command(after_help = "Examples:
  referee league rule award m17 alice --reason 'power cut at the other site'
  referee league rule award m17 --draw --reason 'power cut at both sites'")]
    Award {
        #[command(flatten)]
        on: MatchOfLadder,
        /// The winner
        #[arg(required_unless_present = "draw", conflicts_with = "draw")]
        winner: Option<String>,
        /// Nobody wins
        #[arg(long)]
        draw: bool,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// A match is not rated, and its players meet again as after `referee league challenge`
    #[command(after_help = "Examples:\n  referee league rule replay m17 --reason 'the network was down'")]
    Replay {
        #[command(flatten)]
        on: MatchOfLadder,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// A bot plays no more, or loses a match
    ///
    /// Its results stand, unless it is disqualified from the start: then none of its matches is rated.
    #[command(after_help = "Examples:
  referee league rule disqualify bob --reason 'does not answer'
  referee league rule disqualify bob --from-start --reason 'copied program'
  referee league rule disqualify bob --from-match m17 --reason 'help from outside'")]
    Disqualify {
        /// The bot
        name: String,
        /// None of its matches is rated
        #[arg(long, conflicts_with = "from_match")]
        from_start: bool,
        /// It only loses this match
        #[arg(long, value_name = "MATCH")]
        from_match: Option<String>,
        /// The ladder of the match, if the league has several
        #[arg(long, value_name = "NAME", requires = "from_match")]
        ladder: Option<String>,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// People see another name of a bot; its id stays
    #[command(after_help = "Examples:
  referee league rule rename bob 'Bob the Second' --reason 'asked for it'
  referee league rule rename bob --reason 'shown by its id again'")]
    Rename {
        /// The bot
        name: String,
        /// What people see: up to 64 characters [default: the id]
        display: Option<String>,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
    /// A ruling holds no longer
    #[command(after_help = "Examples:\n  referee league rule undo 3 --reason 'ruled on the wrong match'")]
    Undo {
        /// Its number, from `referee league rulings`
        ruling: u32,
        #[command(flatten)]
        why: Why,
        #[command(flatten)]
        which: LeagueSelector,
    },
}

#[derive(Debug, ClapArgs)]
struct MatchOfLadder {
    /// The match, e.g. m17
    #[arg(value_name = "MATCH")]
    id: String,
    /// The ladder, if the league has several
    #[arg(long, value_name = "NAME")]
    ladder: Option<String>,
}

/// A match with its ladder.
struct FoundMatch {
    ladder: String,
    row: LeagueMatch,
}

impl FoundMatch {
    fn of(config: &LeagueConfig, league: &League, on: &MatchOfLadder) -> Result<FoundMatch, Failure> {
        let ladder = find_ladder(config, on.ladder.as_deref())?.name.clone();
        let none = || Failure::usage(format!("there is no match {} on {ladder}", on.id));
        let (number, _) = parse_match_id(&on.id).ok_or_else(none)?;
        let row = league.find_match(&ladder, number).map_err(Failure::cannot_run)?;
        let row = row.filter(|row| row.id() == on.id).ok_or_else(none)?;
        Ok(FoundMatch { ladder, row })
    }

    /// A ruling on it.
    fn ruling(self, winner: Option<String>, row: RulingRow) -> RulingRow {
        let ruled = RuledMatch { number: self.row.number, attempt: 1, winner, kind: self.row.kind };
        RulingRow { ladder: Some(self.ladder), matches: vec![ruled], ..row }
    }

    /// The player that a name stands for: with a version, or any version of a bot.
    fn player(&self, name: &str) -> Result<String, Failure> {
        let is_it = |player: &&String| *player == name || Name::parse(player).bot == name;
        self.row.players.iter().find(is_it).cloned().ok_or_else(|| {
            Failure::usage(format!(
                "`{name}` does not play {}: its players are {}",
                self.row.id(),
                self.row.players.join(" and ")
            ))
        })
    }
}

pub(super) fn rule(args: RuleArgs) -> Result<Exit, Failure> {
    let made = |act: RulingAct, why: &Why| -> Result<RulingRow, Failure> {
        Ok(RulingRow::made(now(), act, &user(), why.reason()?, !why.private))
    };
    let (mut league, row) = match args.decision {
        LeagueDecision::Void { on, why, which } => {
            let (config, league) = which.open()?;
            let found = FoundMatch::of(&config, &league, &on)?;
            let row = found.ruling(None, made(RulingAct::Void, &why)?);
            (league, row)
        }
        LeagueDecision::Award { on, winner, draw: _, why, which } => {
            let (config, league) = which.open()?;
            let found = FoundMatch::of(&config, &league, &on)?;
            let winner = winner.map(|name| found.player(&name)).transpose()?;
            (league, found.ruling(winner, made(RulingAct::Award, &why)?))
        }
        LeagueDecision::Replay { on, why, which } => {
            let (config, league) = which.open()?;
            let found = FoundMatch::of(&config, &league, &on)?;
            (league, found.ruling(None, made(RulingAct::Replay, &why)?))
        }
        LeagueDecision::Disqualify { name, from_start, from_match, ladder, why, which } => {
            let (config, league) = which.open()?;
            let row = made(RulingAct::Disqualify, &why)?;
            match from_match {
                Some(id) => {
                    let found = FoundMatch::of(&config, &league, &MatchOfLadder { id, ladder })?;
                    let loser = found.player(&name)?;
                    let others: Vec<&String> =
                        found.row.players.iter().filter(|&player| *player != loser).collect();
                    // With several opponents nobody wins.
                    let winner = if let [only] = others[..] { Some(only.clone()) } else { None };
                    (league, found.ruling(winner, RulingRow { name: Some(name), ..row }))
                }
                None => {
                    let name = Some(Name::parse(&name).bot);
                    (league, RulingRow { name, is_from_start: from_start, ..row })
                }
            }
        }
        LeagueDecision::Rename { name, display, why, which } => {
            let (_, league) = which.open()?;
            let row = made(RulingAct::Rename, &why)?;
            let name = Some(Name::parse(&name).bot);
            (league, RulingRow { name, display: Some([None, display]), ..row })
        }
        LeagueDecision::Undo { ruling, why, which } => {
            let undone = UndoneRuling::made(now(), ruling, 0, &user(), why.reason()?);
            log::act(&mut which.open()?.1, OrganiserAct::Undo(&undone))?;
            writeln!(screen::stdout(), "ruling {ruling} is undone")?;
            return Ok(Exit::Done);
        }
    };
    let words = &ruling_words(&row);
    log::act(&mut league, OrganiserAct::Rule { ruling: &row, words })?;
    writeln!(screen::stdout(), "{words}")?;
    Ok(Exit::Done)
}

/// List the rulings of a league, with who made them and why
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee league rulings
  referee league rulings --json")]
pub(super) struct RulingsArgs {
    /// One JSON object per line and ruling
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    which: LeagueSelector,
}

pub(super) fn list(args: &RulingsArgs) -> Result<Exit, Failure> {
    let (_, league) = args.which.open()?;
    let rulings = league.rulings().map_err(Failure::cannot_run)?;
    let mut out = screen::stdout();
    if args.json {
        for row in &rulings {
            writeln!(out, "{}", json::text(&RulingLine::of(row)))?;
        }
    } else {
        writeln!(out, "{}", rulings_table(&rulings))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
